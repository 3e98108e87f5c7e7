//! Values for eyes: ⎕SHOW hands data of a kind to whoever looks, ⎕PLOT draws numbers.
//!
//! Both are output, like ⎕←: a front end that knows the kind shows it, any other says what it was.

use super::{Args, Options, Row, function, misused, optional, texts};
use crate::eval::host::Page;
use crate::eval::run::Eval;
use aplomb_ground::calendar::{days, is_date};
use aplomb_ground::chart::{Chart, KINDS, Kind, Series, THEMES};
use aplomb_ground::error::{Result, count, domain, length, limit, nonce, rank};
use aplomb_ground::limits::Budget;
use aplomb_values::array::Array;
use aplomb_values::prim::scalar::near_integer;

pub static ROWS: &[Row] = &[
    optional(
        "SHOW",
        "Shows data of the kind X, a media type such as 'text/html' 'image/svg+xml' 'image/png', \
         on a page that knows it; elsewhere it says so. Y is text, or bytes of a picture; to \
         several kinds belong as many data. ⍠ takes Id, whose page the next of that name \
         replaces, and Clear, which takes away what the cell showed. The Id.",
        ("'text/html'⎕SHOW'<b>3</b>'", "(text/html, 8 bytes: a page shows it)"),
        &["Id", "Clear"],
        show,
    ),
    function(
        "SE.UCMD",
        "Runs a command that sets how results show, such as 'box on -style=mid' or 'rows on': what \
         it tells.",
        ("{16::'no such setting' ⋄ ⎕SE.UCMD'nosuch'}0", "no such setting"),
        |ev, a| {
            let text = a.y.word().ok_or_else(|| domain("a command is text"))?;
            let command = text.trim().trim_start_matches(']');
            ev.cx.unframed("a command")?;
            match ev.cx.host.setting(command, &mut ev.cx.sys.screen.view)? {
                Some(told) => ev.cx.text(&told).map(Some),
                None => {
                    let name: String = command.chars().take_while(|c| !c.is_whitespace()).collect();
                    let error = nonce(format!("]{name} by ⎕SE.UCMD"));
                    Err(error.hint(format!("]{name} at the begin of a line runs it")))
                }
            }
        },
    ),
    optional(
        "PLOT",
        "Draws numbers: a vector, the rows of a matrix, or a vector for each series; X is a file \
         for it, .svg or .png. ⍠ takes Kind (lines points bars histogram boxes heat contour), \
         Title, X (also dates as texts, '2024-02-29'), Names, Axes, Log (x y xy), Size, Theme \
         (page light dark print). The SVG.",
        ("≢⍴⎕PLOT 3 1 2", "1"),
        &["Kind", "Title", "X", "Names", "Axes", "Log", "Size", "Theme"],
        plot,
    ),
];

/// Whether a text has the form of a media type.
fn is_kind(text: &str) -> bool {
    let word = |w: &str| {
        !w.is_empty() && w.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    text.split_once('/').is_some_and(|(a, b)| word(a) && word(b)) && text.len() <= 100
}

fn show(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let left = a.left("a media type")?;
    let one = left.is_simple();
    let kinds = match one {
        true => left.word().map(|kind| vec![kind]),
        false => left.in_turn().map(|kind| kind.word()).collect(),
    };
    let kinds = kinds.filter(|all| all.iter().all(|kind| is_kind(kind)));
    let kinds =
        kinds.ok_or_else(|| misused("SHOW", "a media type, as 'text/html', on its left"))?;
    let data = match one {
        true => vec![a.y.clone()],
        false => a.y.in_turn().map(|data| data.disclosed()).collect(),
    };
    if kinds.len() != data.len() {
        let (m, n) = (count(kinds.len(), "kind"), count(data.len(), "datum"));
        return Err(length(format!("⎕SHOW has {m} on its left and {n} on its right")));
    }
    let forms = kinds.into_iter().zip(&data).map(|(kind, data)| {
        let data = of_kind(&kind, data, ev.cx.budget())?;
        Ok((kind, data))
    });
    let id = a.options.text("Id")?.filter(|id| !id.is_empty());
    let clears = a.options.flag("Clear", false)?;
    let page = Page { forms: forms.collect::<Result<_>>()?, id, clears };
    ev.cx.world("output")?.display(&page)?;
    let name = ev.cx.text(page.id.as_deref().map_or("", |id| id))?;
    ev.shy(name)
}

/// The bytes of data of a kind. Errors: DOMAIN for what that kind cannot be.
fn of_kind(kind: &str, data: &Array, budget: &Budget) -> Result<Vec<u8>> {
    let data = match bytes(data, budget)? {
        Some(bytes) => bytes,
        None => budget.joined(&texts(data, "what ⎕SHOW shows", budget)?, "\n")?.into_bytes(),
    };
    let is_json = kind == "application/json" || kind.ends_with("+json");
    if is_json && serde_json::from_slice::<serde_json::Value>(&data).is_err() {
        return Err(domain("this is no JSON").hint("⎕JSON writes it"));
    }
    let begins = BEGINNINGS.iter().filter(|b| b.0 == kind).map(|b| b.1);
    if begins.clone().count() > 0 && !begins.into_iter().any(|begin| data.starts_with(begin)) {
        return Err(domain(format!("these bytes are no {kind}")).hint("⎕NGET with 80 reads a file"));
    }
    Ok(data)
}

/// The bytes with which pictures begin.
const BEGINNINGS: &[(&str, &[u8])] =
    &[("image/png", b"\x89PNG\r\n\x1a\n"), ("image/jpeg", b"\xff\xd8\xff"), ("image/gif", b"GIF8")];

/// Numbers from 0 to 255. None: it is something else.
/// Errors: WS FULL.
fn bytes(a: &Array, budget: &Budget) -> Result<Option<Vec<u8>>> {
    if a.is_char() {
        return Ok(None);
    }
    let byte = |x: &f64| near_integer(*x, 1e-14).and_then(|n| u8::try_from(n).ok());
    let Some(all) = a.to_numbers(budget)? else { return Ok(None) };
    match all.iter().all(|x| byte(x).is_some()) {
        true => budget.each(all.iter().filter_map(byte)).map(Some),
        false => Ok(None),
    }
}

/// Series that a legend and six colours can still tell apart are far fewer.
const MOST: usize = 100;

fn plot(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let is_file = |name: &String| name.ends_with(".svg") || name.ends_with(".png");
    let file = match a.x {
        None => None,
        Some(x) => {
            let says = "a file on its left, as 'p.svg' or 'p.png', or nothing";
            Some(x.word().filter(is_file).ok_or_else(|| misused("PLOT", says))?)
        }
    };
    let kind = a.options.choice("Kind", KINDS)?;
    let theme = a.options.choice("Theme", THEMES)?;
    let rows = rows(a.y, kind, ev.cx.budget())?;
    let first = ev.cx.sys.settings.io;
    let given = a.options.get("X");
    let dates = given.is_some_and(|x| !x.is_simple());
    let along = |x| {
        if dates { moments(x, ev.cx.budget()) } else { numbers(x, "option 'X'", ev.cx.budget()) }
    };
    let x = given.map(along).transpose()?;
    let names = named(a.options, "Names", rows.len(), ev.cx.budget())?;
    let budget = ev.cx.budget();
    let series = rows.into_iter().enumerate().map(|(k, y)| {
        let x = match &x {
            Some(x) if x.len() == y.len() => x.clone(),
            Some(x) => {
                let says = count(x.len(), "number");
                return Err(length(format!("option 'X' has {says} and a series {}", y.len())));
            }
            None => {
                let (mut x, mut ticks) = (budget.room(y.len())?, budget.ticks());
                for k in 0..y.len() {
                    ticks.tick()?;
                    x.push(k as f64 + first);
                }
                x
            }
        };
        Ok(Series { name: names.get(k).map_or(String::new(), String::clone), x, y })
    });
    let axes = named(a.options, "Axes", 2, ev.cx.budget())?;
    let axis = |k: usize| axes.get(k).map_or(String::new(), String::clone);
    let log = a.options.word("Log", &["", "x", "y", "xy"])?;
    let chart = Chart {
        kind,
        title: a.options.text("Title")?.map_or(String::new(), |t| t),
        names: [axis(0), axis(1)],
        logs: [log.contains('x'), log.contains('y')],
        dates,
        series: series.collect::<Result<_>>()?,
        size: size(a.options, ev.cx.budget())?,
        theme,
    };
    let columns = ev.cx.sys.settings.pw;
    let svg = ev.cx.world("output")?.plot(&chart, columns, file.as_deref())?;
    let svg = ev.cx.text(&svg)?;
    ev.shy(svg)
}

/// The numbers of each series. Errors: RANK, DOMAIN, LIMIT.
fn rows(y: &Array, kind: Kind, budget: &Budget) -> Result<Vec<Vec<f64>>> {
    let numbers = |a: &Array, what: &str| numbers(a, what, budget);
    let rows: Vec<Vec<f64>> = match (y.is_simple(), y.shape()) {
        (true, [] | [_]) => vec![numbers(y, "what ⎕PLOT draws")?],
        (true, [_, columns]) => {
            let all = numbers(y, "what ⎕PLOT draws")?;
            all.chunks((*columns).max(1)).map(<[f64]>::to_vec).collect()
        }
        (false, [_]) => y.in_turn().map(|i| numbers(&i, "a series")).collect::<Result<_>>()?,
        _ => return Err(rank("⎕PLOT draws vectors and matrices")),
    };
    match rows.len() {
        n if n > MOST && !matches!(kind, Kind::Heat | Kind::Contour) => {
            let error = limit(format!("⎕PLOT draws {MOST} series, and these are {n}"));
            Err(error.hint("⍠'Kind' 'heat' shows a matrix; ⍉ makes its columns the series"))
        }
        _ => Ok(rows),
    }
}

fn numbers(a: &Array, what: &str, budget: &Budget) -> Result<Vec<f64>> {
    let found = a.to_numbers(budget)?.filter(|_| !a.is_char() && !a.is_complex());
    found.ok_or_else(|| domain(format!("{what} is real numbers")))
}

/// Seconds since 1970 of texts: `2024-02-29`, with `12:30` or `12:30:15` behind it or not. Errors:
/// DOMAIN, with the first that is no date.
fn moments(x: &Array, budget: &Budget) -> Result<Vec<f64>> {
    let texts = texts(x, "option 'X'", budget)?;
    let one = |text: &String| {
        let wrong = || domain(format!("'{text}' in option 'X' is no date, as '2024-02-29 12:30'"));
        moment(text.trim()).ok_or_else(wrong)
    };
    texts.iter().map(one).collect()
}

fn moment(text: &str) -> Option<f64> {
    let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, "00:00"));
    let whole = |text: &str, digits: usize| {
        let fits = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
        fits.then(|| text.parse::<i64>().ok()).flatten()
    };
    let mut parts = date.split('-');
    let (year, month) = (whole(parts.next()?, 4)?, whole(parts.next()?, 2)?);
    let day = parts.next().map_or(Some(1), |day| whole(day, 2))?;
    let mut clock = time.trim_end_matches('Z').split(':');
    let (hour, minute) = (whole(clock.next()?, 2)?, whole(clock.next()?, 2)?);
    let second = clock.next().map_or(Some(0), |s| whole(s.split('.').next()?, 2))?;
    let fits = is_date(year, month, day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second)
        && parts.next().is_none()
        && clock.next().is_none();
    let days = days(year, month, day);
    fits.then(|| (days * 86_400 + hour * 3_600 + minute * 60 + second) as f64)
}

/// The texts of an option, as many as there are things to name. Errors: DOMAIN, LENGTH.
fn named(options: &Options, name: &str, n: usize, budget: &Budget) -> Result<Vec<String>> {
    let Some(given) = options.get(name) else { return Ok(Vec::new()) };
    let found = texts(given, &format!("option '{name}'"), budget)?;
    match found.len() == n {
        true => Ok(found),
        false => {
            let says = count(found.len(), "text");
            Err(length(format!("option '{name}' has {says} for {n}")))
        }
    }
}

/// Points across and down.
fn size(options: &Options, budget: &Budget) -> Result<[u32; 2]> {
    let Some(given) = options.get("Size") else { return Ok([640, 400]) };
    let whole = |x: &f64| near_integer(*x, 1e-14).filter(|n| (100..=4_000).contains(n));
    let found: Option<Vec<u32>> = numbers(given, "option 'Size'", budget)?
        .iter()
        .map(|x| whole(x).map(|n| n as u32))
        .collect();
    match found.as_deref() {
        Some([across, down]) => Ok([*across, *down]),
        _ => Err(domain("option 'Size' is two whole numbers from 100 to 4000")),
    }
}

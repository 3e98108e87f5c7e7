//! Values for eyes: ⎕SHOW hands data of a kind to whoever looks, ⎕PLOT draws numbers.
//!
//! Both are output, like ⎕←: a front end that knows the kind shows it, any other says what it was.

use super::{Args, Options, Row, function, misused, optional, texts};
use crate::eval::run::Eval;
use aplomb_ground::chart::{Chart, KINDS, Kind, Series};
use aplomb_ground::error::{Result, domain, length, limit, rank};
use aplomb_ground::limits::Budget;
use aplomb_values::array::Array;
use aplomb_values::prim::scalar::near_integer;

pub static ROWS: &[Row] = &[
    function(
        "SHOW",
        "Shows data of the kind X, a media type such as 'text/html' 'image/svg+xml' 'image/png', \
         on a page that knows it; elsewhere it says so. Y is text, or bytes of a picture.",
        ("'text/html'⎕SHOW'<b>3</b>'", "(text/html, 8 bytes: a page shows it)"),
        show,
    ),
    optional(
        "PLOT",
        "Draws numbers: a vector, the rows of a matrix, or a vector for each series. ⍠ takes Kind \
         (lines points bars histogram boxes heat), Title, X, Names, Axes, Log (x y xy), Size. The \
         SVG.",
        ("≢⍴⎕PLOT 3 1 2", "1"),
        &["Kind", "Title", "X", "Names", "Axes", "Log", "Size"],
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
    let kind = a.left("a media type")?.to_text().filter(|t| is_kind(t));
    let kind = kind.ok_or_else(|| misused("SHOW", "a media type, as 'text/html', on its left"))?;
    let data = match bytes(a.y) {
        Some(bytes) => bytes,
        None => texts(a.y, "what ⎕SHOW shows")?.join("\n").into_bytes(),
    };
    let is_json = kind == "application/json" || kind.ends_with("+json");
    if is_json && serde_json::from_slice::<serde_json::Value>(&data).is_err() {
        return Err(domain("this is no JSON").hint("⎕JSON writes it"));
    }
    ev.cx.world("output")?.display(&kind, &data)?;
    Ok(None)
}

/// Numbers from 0 to 255. None: it is something else.
fn bytes(a: &Array) -> Option<Vec<u8>> {
    if a.is_char() {
        return None;
    }
    let byte = |x: &f64| near_integer(*x, 1e-14).and_then(|n| u8::try_from(n).ok());
    a.to_numbers()?.iter().map(byte).collect()
}

/// Series that a legend and six colours can still tell apart are far fewer.
const MOST: usize = 100;

fn plot(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    if a.x.is_some() {
        let says = "numbers on its right and nothing on its left; ]plot EXPR p.svg writes a file";
        return Err(misused("PLOT", says));
    }
    let kind = KINDS.iter().map(|k| k.0).collect::<Vec<_>>();
    let kind = a.options.word("Kind", &kind)?;
    let kind = KINDS.iter().find(|k| k.0 == kind).map_or(Kind::Lines, |k| k.1);
    let rows = rows(a.y, kind, ev.cx.budget())?;
    let first = ev.cx.sys.settings.io;
    let x = a.options.get("X").map(|x| numbers(x, "option 'X'", ev.cx.budget())).transpose()?;
    let names = named(a.options, "Names", rows.len())?;
    let series = rows.into_iter().enumerate().map(|(k, y)| {
        let x = match &x {
            Some(x) if x.len() == y.len() => x.clone(),
            Some(x) => {
                let says = format!("option 'X' has {} numbers and a series {}", x.len(), y.len());
                return Err(length(says));
            }
            None => (0..y.len()).map(|k| k as f64 + first).collect(),
        };
        Ok(Series { name: names.get(k).map_or(String::new(), String::clone), x, y })
    });
    let axes = named(a.options, "Axes", 2)?;
    let axis = |k: usize| axes.get(k).map_or(String::new(), String::clone);
    let log = a.options.word("Log", &["", "x", "y", "xy"])?;
    let chart = Chart {
        kind,
        title: a.options.text("Title")?.map_or(String::new(), |t| t),
        names: [axis(0), axis(1)],
        logs: [log.contains('x'), log.contains('y')],
        series: series.collect::<Result<_>>()?,
        size: size(a.options, ev.cx.budget())?,
    };
    let columns = ev.cx.sys.settings.pw;
    let svg = ev.cx.world("output")?.plot(&chart, columns)?;
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
        n if n > MOST && kind != Kind::Heat => {
            let error = limit(format!("⎕PLOT draws {MOST} series, and these are {n}"));
            Err(error.hint("⍠'Kind' 'heat' shows a matrix; ⍉ makes its columns the series"))
        }
        _ => Ok(rows),
    }
}

fn numbers(a: &Array, what: &str, budget: &Budget) -> Result<Vec<f64>> {
    let found = a.numbers_within(budget)?.filter(|_| !a.is_char() && !a.is_complex());
    found.ok_or_else(|| domain(format!("{what} is real numbers")))
}

/// The texts of an option, as many as there are things to name. Errors: DOMAIN, LENGTH.
fn named(options: &Options, name: &str, n: usize) -> Result<Vec<String>> {
    let Some(given) = options.get(name) else { return Ok(Vec::new()) };
    let found = texts(given, &format!("option '{name}'"))?;
    match found.len() == n {
        true => Ok(found),
        false => Err(length(format!("option '{name}' has {} texts for {n}", found.len()))),
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

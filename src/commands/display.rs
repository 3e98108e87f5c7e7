//! `]box ]rows ]display ]disp`: how results show. What sets something tells what was set before, in
//! the way that was asked for, as Dyalog does.

use super::Call;
use aplomb_ground::error::{Error, domain, nonce, syntax, value};
use aplomb_language::eval::cx::{Trains, View};
use aplomb_values::array::Array;
use aplomb_values::array::format::{self, Boxes, Long, Style};

const STYLES: &[(&str, Boxes)] =
    &[("min", Boxes::Min), ("mid", Boxes::Mid), ("max", Boxes::Max), ("non", Boxes::Off)];
const TRAINS: &[(&str, Trains)] = &[
    ("def", Trains::Def),
    ("parens", Trains::Parens),
    ("box", Trains::Box),
    ("tree", Trains::Tree),
];
const LONG: &[(&str, Long)] = &[("long", Long::Whole), ("cut", Long::Cut), ("wrap", Long::Fold)];

fn one_of<T: Copy>(table: &[(&str, T)], option: &str, word: &str) -> Result<T, Error> {
    let found = table.iter().find(|(name, _)| *name == word);
    found.map(|(_, v)| *v).ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        domain(format!("-{option} is one of {}", names.join(" ")))
    })
}

fn on_off(option: &str, word: &str) -> Result<bool, Error> {
    one_of(&[("on", true), ("off", false)], option, word)
}

/// The commands that set how results show, and what each does to the view: it tells what was set,
/// or is.
pub static SETTINGS: &[(&str, Setting)] =
    &[("box", box_view), ("boxing", box_view), ("rows", rows_view)];

/// The effect of the words behind a command on the view.
type Setting = fn(&[String], &mut View) -> Result<String, Error>;

pub fn boxes(call: &mut Call<'_>) -> Result<(), Error> {
    set(call, box_view)
}

pub fn rows(call: &mut Call<'_>) -> Result<(), Error> {
    set(call, rows_view)
}

/// Sets, and shows what it told as the values that it set the form of.
fn set(call: &mut Call<'_>, setting: Setting) -> Result<(), Error> {
    let words = call.words();
    let text = setting(&words, call.session.interp().view())?;
    if is_asked(&words) {
        call.show(&text);
        return Ok(());
    }
    let budget = call.session.core().budget.clone();
    let text = Array::text(&text, &budget)?;
    let shown = format::display(&text, &call.session.style(), &budget)?;
    call.show(&shown);
    Ok(())
}

/// Whether words ask what is set.
fn is_asked(words: &[String]) -> bool {
    words.is_empty() || words == ["?"]
}

fn box_view(words: &[String], held: &mut View) -> Result<String, Error> {
    let (before, mut view) = (*held, *held);
    if is_asked(words) {
        return Ok(format!("Is {}", boxes_of(&view)));
    }
    let mut style = if view.boxes == Boxes::Off { Boxes::Min } else { view.boxes };
    let mut on = None;
    for word in words {
        match word.split_once('=') {
            Some(("-style" | "-s", w)) => {
                style = one_of(STYLES, "style", w)?;
                on.get_or_insert(true);
            }
            Some(("-trains" | "-t", w)) => view.trains = one_of(TRAINS, "trains", w)?,
            Some(("-fns" | "-f", w)) => view.inside = on_off("fns", w)?,
            None if word == "on" => on = Some(true),
            None if word == "off" => on = Some(false),
            None if word == "reset" => {
                view = View { long: view.long, unread: view.unread, ..View::default() };
                on = Some(false);
            }
            _ => {
                let error = syntax(format!("]box has no {word}"));
                return Err(error.hint("]box on -style=mid -fns=on"));
            }
        }
    }
    match on {
        Some(true) => view.boxes = style,
        Some(false) => view.boxes = Boxes::Off,
        None => {}
    }
    *held = view;
    Ok(told(words, before.boxes != Boxes::Off, &options_of_boxes(&before)))
}

/// The setting before: on or off, and each of the options that were given.
fn told(words: &[String], was_on: bool, options: &[(&str, &str)]) -> String {
    let is_given = |name: &str| {
        let given =
            words.iter().filter_map(|w| w.strip_prefix('-')).filter_map(|w| w.split_once('='));
        let mut given = given.map(|(flag, _)| flag);
        given.any(|flag| name.starts_with(flag))
    };
    let mut text = format!("Was {}", if was_on { "ON" } else { "OFF" });
    for (name, value) in options.iter().filter(|(name, _)| is_given(name)) {
        text += &format!(" -{name}={value}");
    }
    text
}

/// The options of `]box` as they are set; the style is the one that `on` would take.
fn options_of_boxes(view: &View) -> [(&'static str, &'static str); 3] {
    let style = STYLES.iter().find(|s| s.1 == view.boxes && view.boxes != Boxes::Off);
    let trains = TRAINS.iter().find(|t| t.1 == view.trains);
    [
        ("style", style.map_or("min", |s| s.0)),
        ("trains", trains.map_or("def", |t| t.0)),
        ("fns", if view.inside { "on" } else { "off" }),
    ]
}

/// The settings of `]box`.
fn boxes_of(view: &View) -> String {
    let [(_, style), (_, trains), (_, fns)] = options_of_boxes(view);
    let set = if view.boxes == Boxes::Off { "OFF".into() } else { format!("ON -style={style}") };
    format!("{set} -trains={trains} -fns={fns}")
}

/// The settings of `]rows`.
fn rows_of(view: &View) -> String {
    match view.rows() {
        Long::Fold => "OFF".into(),
        Long::Whole | Long::Cut => format!("ON -style={}", style_of_rows(view)),
    }
}

fn style_of_rows(view: &View) -> &'static str {
    LONG.iter().find(|s| s.1 == view.rows()).map_or("wrap", |s| s.0)
}

fn rows_view(words: &[String], held: &mut View) -> Result<String, Error> {
    let (before, mut view) = (*held, *held);
    if is_asked(words) {
        return Ok(format!("Is {}", rows_of(&view)));
    }
    let mut style = if view.rows() == Long::Fold { Long::Whole } else { view.rows() };
    let mut on = true;
    for word in words {
        match word.split_once('=') {
            Some(("-style" | "-s", w)) => style = one_of(LONG, "style", w)?,
            Some(("-fns" | "-f", w)) => view.inside = on_off("fns", w)?,
            Some(("-fold", _)) => {
                let error = nonce(format!("]rows {word}"));
                return Err(error.hint(")limits lines=40 leaves out the middle"));
            }
            None if word == "on" => on = true,
            None if word == "off" || word == "reset" => on = false,
            _ => return Err(syntax(format!("]rows has no {word}")).hint("]rows on -style=cut")),
        }
    }
    view.long = if on { style } else { Long::Fold };
    view.unread = false;
    *held = view;
    let fns = if before.inside { "on" } else { "off" };
    let options = [("style", style_of_rows(&before)), ("fns", fns)];
    Ok(told(words, before.rows() != Long::Fold, &options))
}

pub fn display(call: &mut Call<'_>) -> Result<(), Error> {
    boxed(call, "]display", Boxes::Max)
}

pub fn disp(call: &mut Call<'_>) -> Result<(), Error> {
    boxed(call, "]disp", Boxes::Mid)
}

fn boxed(call: &mut Call<'_>, name: &str, boxes: Boxes) -> Result<(), Error> {
    let Some(expr) = call.expr() else {
        let hint = format!("{name} (1 2)'ab'");
        return Err(syntax(format!("{name} needs an expression")).hint(hint));
    };
    let shown =
        call.session.value_run(&expr, call.sink)?.ok_or_else(|| value("this gives no value"))?;
    let style = Style { boxes, ..call.session.style() };
    let text = format::display(&shown, &style, &call.session.core().budget)?;
    call.show(&text);
    Ok(())
}

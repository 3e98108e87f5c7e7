//! Times as text by a pattern, `1200⌶`: 'YYYY-MM-DD hh:mm:ss'.

use super::time::{Moment, of_number};
use crate::eval::run::Eval;
use aplomb_ground::calendar::{date, days};
use aplomb_ground::error::{Result, domain};
use aplomb_values::array::Array;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// The parts of a time.
struct Parts {
    year: i64,
    month: i64,
    day: i64,
    /// 1 to 7, from Monday on.
    weekday: i64,
    hour: i64,
    minute: i64,
    second: i64,
    nano: i64,
}

impl Parts {
    fn of(t: Moment) -> Parts {
        let ((year, month, day), [hour, minute, second, nano]) = (date(t.day()), t.clock());
        // 1 January of the year 1 was a Monday.
        let weekday = (t.day() - days(1, 1, 1)).rem_euclid(7) + 1;
        Parts { year, month, day, weekday, hour, minute, second, nano }
    }
}

/// A word in the case in which the pattern writes its letter.
fn cased(word: &str, like: &[char]) -> String {
    match like {
        [a, b, ..] if a.is_uppercase() && b.is_uppercase() => word.to_uppercase(),
        [a, ..] if a.is_uppercase() => word.into(),
        _ => word.to_lowercase(),
    }
}

/// A number with so many letters: two of them mean a leading 0, `_` a leading blank.
fn padded(n: i64, letters: usize, blank: bool) -> String {
    match (letters, blank) {
        (_, true) => format!("{n:2}"),
        (1, _) => n.to_string(),
        _ => format!("{n:02}"),
    }
}

fn ordinal(n: i64) -> &'static str {
    match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

/// The text for a run of letters. None: they mean nothing.
fn element(p: &Parts, run: &[char], blank: bool) -> Option<String> {
    let name =
        |all: &[&str], k: i64| all.get(usize::try_from(k - 1).ok()?).map(|s| (*s).to_string());
    let short = |word: String| word.chars().take(3).collect::<String>();
    let twelve = (p.hour + 11) % 12 + 1;
    let lower: String = run.iter().map(|c| c.to_ascii_lowercase()).collect();
    let upper = run[0].is_uppercase();
    Some(match (lower.as_str(), upper) {
        ("yyyy", true) => format!("{:04}", p.year),
        ("yy", true) => format!("{:02}", p.year.rem_euclid(100)),
        ("mmmm", _) => cased(&name(&MONTHS, p.month)?, run),
        ("mmm", _) => cased(&short(name(&MONTHS, p.month)?), run),
        ("mm" | "m", true) => padded(p.month, run.len(), blank),
        ("mm" | "m", false) => padded(p.minute, run.len(), blank),
        ("dddd", _) => cased(&name(&WEEKDAYS, p.weekday)?, run),
        ("ddd", _) => cased(&short(name(&WEEKDAYS, p.weekday)?), run),
        ("dd" | "d", true) => padded(p.day, run.len(), blank),
        ("d", false) => p.weekday.to_string(),
        ("hh" | "h", false) => padded(p.hour, run.len(), blank),
        ("tt" | "t", false) => padded(twelve, run.len(), blank),
        ("ss" | "s", false) => padded(p.second, run.len(), blank),
        ("pp", _) => cased(if p.hour < 12 { "Am" } else { "Pm" }, run),
        ("p", _) => cased(if p.hour < 12 { "a" } else { "p" }, &[run[0], run[0]]),
        (f, false) if f.chars().all(|c| c == 'f') => {
            format!("{:09}", p.nano).chars().take(f.len()).collect()
        }
        _ => return None,
    })
}

/// A time by a pattern. Errors: DOMAIN for letters that mean nothing.
fn written(pattern: &[char], p: &Parts) -> Result<String> {
    let (mut out, mut at) = (String::new(), 0);
    while let Some(&c) = pattern.get(at) {
        let blank = c == '_' && pattern.get(at + 1).is_some_and(char::is_ascii_alphabetic);
        let from = at + usize::from(blank);
        let c = pattern[from];
        if c == '"' || c == '\'' {
            let text: String = pattern[from + 1..].iter().take_while(|d| **d != c).collect();
            at = from + text.chars().count() + 2;
            out += &text;
            continue;
        }
        if !c.is_ascii_alphabetic() {
            out.push(c);
            at = from + 1;
            continue;
        }
        let n = pattern[from..].iter().take_while(|d| d.eq_ignore_ascii_case(&c)).count();
        let run = &pattern[from..from + n];
        let behind: String = pattern[from + n..].iter().take(2).collect();
        at = from + n;
        if run == ['D'] && behind.eq_ignore_ascii_case("oo") {
            let suffix = ordinal(p.day);
            out += &p.day.to_string();
            out += &if behind.starts_with(char::is_uppercase) {
                suffix.to_uppercase()
            } else {
                suffix.into()
            };
            at += 2;
            continue;
        }
        let text = element(p, run, blank);
        out += &text.ok_or_else(|| {
            let run: String = run.iter().collect();
            domain(format!("{run} means nothing in a pattern of times"))
                .hint("YYYY MM DD hh mm ss fff Mmmm Dddd tt P; text stands in quotes")
        })?;
    }
    Ok(out)
}

/// `X(1200⌶)Y`: the times Y, days as ⎕DT's form 1 counts them, by the pattern X.
pub fn formatted(ev: &mut Eval<'_>, x: &Array, y: &Array) -> Result<Array> {
    let pattern = x.word().ok_or_else(|| domain("a pattern of times is text"))?;
    let pattern = match pattern.as_str() {
        "%ISO%" => "YYYY-MM-DD\"T\"hh:mm:ss".to_string(),
        _ => pattern,
    };
    let pattern: Vec<char> = pattern.chars().collect();
    let mut out = ev.cx.budget().room(y.len())?;
    for day in ev.cx.numbers(y, "a time")? {
        let t = of_number(1, day).ok_or_else(|| domain("this is no time"))?;
        out.push(ev.cx.text(&written(&pattern, &Parts::of(t))?)?);
    }
    Ok(Array::items(y.shape(), out, Some(ev.cx.text("")?)))
}

//! Checks of rows as data: `acl-reads.txt`, `acl-breaks.txt`, `acc.txt`, `bar.txt`.
//!
//! Lines before the first row are run before every case; names they display are inputs.
//! `# ACL-17 …` begins a row. A case is its typed lines (six blanks), the last of which is traced,
//! and below them what must be so:
//!
//! * `launches 2`, `kept 0…3`, `bytes 0…100`: a figure of the trace is this, or in this range;
//! * `reads A B`: these names and no others are the inputs of what was compiled;
//! * `some PATH TEXT`, `every PATH TEXT`, `no PATH TEXT`: of what the path finds in the trace's
//!   JSON, `⋯` in the text standing for anything; `[]` goes through a list, `[name=emit]` through
//!   its items of that name;
//! * `is EXPR`: the value is EXPR's, computed at once in the same workspace, bit for bit;
//! * `fails NAME`: the last line ends in this error;
//! * `--off fusion --limit inputs=16 : CHECK`: so with these options, as the command line spells
//!   them.
//!
//! Of every case besides: computed at once, without fusion, and with each of its options, its value
//! is the same. Where nothing was compiled, only `launches 0` and `is` hold.

use crate::support::{Heard, bits, session};
use aplomb_ground::protocol::{Event, Request};
use aplomb_ground::trace::Trace;
use aplomb_kernel::session::Session;
use aplomb_viz::figures;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub const PAGES: [(&str, &str); 4] = [
    ("acl-reads", include_str!("acl-reads.txt")),
    ("acl-breaks", include_str!("acl-breaks.txt")),
    ("acc", include_str!("acc.txt")),
    ("bar", include_str!("bar.txt")),
];

pub struct Case<'a> {
    pub row: &'a str,
    /// Its first line, from 1.
    pub at: usize,
    pub input: Vec<&'a str>,
    pub checks: Vec<&'a str>,
}

#[derive(Default)]
pub struct Page<'a> {
    pub setup: Vec<&'a str>,
    pub cases: Vec<Case<'a>>,
}

impl<'a> Page<'a> {
    /// All that is typed up to the line that is traced.
    pub fn lines(&self, case: &Case<'a>) -> Vec<&'a str> {
        self.setup.iter().chain(&case.input).copied().collect()
    }
}

pub fn read(text: &str) -> Page<'_> {
    let (mut page, mut row, mut open) = (Page::default(), "", false);
    for (k, line) in text.lines().enumerate() {
        if let Some(title) = line.strip_prefix("# ") {
            row = title.split(' ').next().unwrap_or("");
        }
        let typed = line.strip_prefix("      ");
        match typed {
            Some(typed) if row.is_empty() => page.setup.push(typed),
            Some(typed) if open => page.cases.last_mut().expect("a case").input.push(typed),
            Some(typed) => {
                page.cases.push(Case { row, at: k + 1, input: vec![typed], checks: Vec::new() })
            }
            None => {
                if let Some(check) = line.strip_prefix("  ") {
                    page.cases.last_mut().expect("a case").checks.push(check);
                }
            }
        }
        open = typed.is_some();
    }
    page
}

/// Sets what a command line would set. Errors: a sentence.
pub fn choose(s: &mut Session, options: &str) -> Result<(), String> {
    let mut words = options.split_whitespace();
    while let Some(word) = words.next() {
        match word.split_once('=').unwrap_or((word, "")) {
            ("--off", _) => s.options().switch(words.next().unwrap_or(""), false)?,
            ("--passes", name) => s.options().take(name)?,
            ("--strict-2006", _) => s.options().strict = true,
            ("--dup", "cost") => s.options().dup_by_cost = true,
            ("--limit", _) => {
                let (name, value) =
                    words.next().and_then(|w| w.split_once('=')).ok_or("--limit NAME=VALUE")?;
                let value = value.parse().map_err(|_| format!("{value} is no number"))?;
                s.core().limits.set(name, value)?;
            }
            (other, _) => return Err(format!("{other} is no option")),
        }
    }
    Ok(())
}

/// A session after some lines. Errors: the first line's that ends in one.
pub fn prepared(lines: &[&str], options: &str, recording: bool) -> Result<Session, String> {
    let mut s = session();
    choose(&mut s, options)?;
    s.core().set_tracing(recording);
    lines.iter().try_for_each(|line| run(&mut s, line))?;
    s.interp().set_record_all(recording);
    Ok(s)
}

pub fn run(s: &mut Session, line: &str) -> Result<(), String> {
    let mut heard = Heard::default();
    s.handle(Request::Execute { code: line.into(), name: "line".into(), silent: true }, &mut heard);
    let failed =
        heard.0.into_iter().find_map(|e| if let Event::Error(f) = e { Some(f) } else { None });
    failed.map_or(Ok(()), |f| Err(format!("{}: {} in {line}", f.name, f.says)))
}

/// The trace of the last line.
pub fn traced(lines: &[&str], options: &str) -> Result<Trace, String> {
    let mut s = prepared(lines, options, true)?;
    s.core().take_traces().pop().ok_or_else(|| "the last line gave no value".into())
}

type Found = (Vec<usize>, Vec<u64>);

/// The last line's value: shape and bits.
pub fn value(lines: &[&str], options: &str, recording: bool) -> Result<Found, String> {
    let (last, before) = lines.split_last().ok_or("no line")?;
    let value = prepared(before, options, recording)?.value_of(last).map_err(|e| e.name())?;
    value.as_ref().map(bits).ok_or_else(|| "no value".into())
}

/// The trace of the last line, whose value is the same however it is computed.
pub fn agreed(lines: &[&str], options: &[&str]) -> Trace {
    let wanted = value(lines, "", false);
    for options in ["", "--off fusion"].iter().chain(options) {
        assert_eq!(value(lines, options, true), wanted, "{options} {lines:?}");
    }
    traced(lines, "").unwrap_or_else(|e| panic!("{e}"))
}

/// Whether a text is the pattern, `⋯` standing for anything.
pub fn fits(pattern: &str, text: &str) -> bool {
    let parts: Vec<&str> = pattern.split('⋯').collect();
    let [first, middle @ .., last] = parts.as_slice() else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(*first) else { return false };
    for part in middle {
        let Some(at) = rest.find(*part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(*last)
}

/// The values that a path finds: `nodes[kind=map].attr.oob`. Words as they are, all else as JSON.
pub fn found(json: &Value, path: &str) -> Vec<String> {
    let mut at = vec![json];
    for step in path.split('.') {
        let (key, pick) =
            step.split_once('[').map_or((step, None), |(key, pick)| (key, Some(pick)));
        at = at.into_iter().filter_map(|v| v.get(key)).collect();
        let Some(pick) = pick else { continue };
        let pick = pick.trim_end_matches(']').split_once('=');
        let picked = |v: &&Value| {
            pick.is_none_or(|(key, word)| v.get(key).and_then(Value::as_str) == Some(word))
        };
        at = at.into_iter().filter_map(Value::as_array).flatten().filter(picked).collect();
    }
    at.into_iter().map(|v| v.as_str().map_or_else(|| v.to_string(), String::from)).collect()
}

fn in_range(text: &str, n: u64) -> Result<bool, String> {
    let number = |t: &str| t.parse::<u64>().map_err(|_| format!("{t} is no number"));
    let (least, most) = text.split_once('…').unwrap_or((text, text));
    Ok((number(least)?..=number(most)?).contains(&n))
}

/// Errors: what is so instead.
fn holds(check: &str, lines: &[&str], trace: &Trace) -> Result<(), String> {
    let (word, rest) = check.split_once(' ').unwrap_or((check, ""));
    let (_, before) = lines.split_last().ok_or("no line")?;
    if word == "is" {
        let (is, wanted) =
            (value(lines, "", true)?, value(&[before, &[rest]].concat(), "", false)?);
        return if is == wanted { Ok(()) } else { Err("another value".into()) };
    }
    if trace.segments.is_empty() && check != "launches 0" {
        return Err("nothing was compiled".into());
    }
    let (ok, is) = match word {
        "some" | "every" | "no" => {
            let (path, pattern) = rest.split_once(' ').ok_or("a path and a text")?;
            let found = found(&serde_json::to_value(trace).map_err(|e| e.to_string())?, path);
            let ok = match word {
                "some" => found.iter().any(|t| fits(pattern, t)),
                "every" => !found.is_empty() && found.iter().all(|t| fits(pattern, t)),
                _ => !found.iter().any(|t| fits(pattern, t)),
            };
            (ok, found.join(" · "))
        }
        "reads" => {
            let inputs = trace.nodes.iter().filter(|n| n.kind == "input");
            let names: BTreeSet<&str> =
                inputs.map(|n| n.name.as_deref().unwrap_or("(no name)")).collect();
            let wanted: BTreeSet<&str> = rest.split_whitespace().collect();
            (names == wanted, names.into_iter().collect::<Vec<_>>().join(" "))
        }
        figure => {
            let is = (figures::find(figure)?.of)(trace);
            (in_range(rest, is)?, is.to_string())
        }
    };
    if ok { Ok(()) } else { Err(format!("found {is}")) }
}

/// The sentences on what is not so of a case.
fn wrong(page: &Page<'_>, case: &Case<'_>) -> Vec<String> {
    let lines = page.lines(case);
    if let Some(name) = case.checks.iter().find_map(|c| c.strip_prefix("fails ")) {
        let sides = [("at once", value(&lines, "", false)), ("recorded", value(&lines, "", true))];
        let other = sides
            .into_iter()
            .filter(|(_, v)| v.as_ref().err().is_none_or(|e| !e.starts_with(name)));
        return other.map(|(side, v)| format!("{side} it gives {v:?}")).collect();
    }
    let mut out = Vec::new();
    let mut traces: BTreeMap<&str, Result<Trace, String>> = BTreeMap::new();
    traces.insert("--off fusion", traced(&lines, "--off fusion"));
    for check in &case.checks {
        let (options, what) =
            check.split_once(" : ").filter(|(o, _)| o.starts_with("--")).unwrap_or(("", check));
        let trace = traces.entry(options).or_insert_with(|| traced(&lines, options));
        let held = trace.as_ref().map_err(String::clone).and_then(|t| holds(what, &lines, t));
        out.extend(held.err().map(|is| format!("{check}: {is}")));
    }
    let wanted = value(&lines, "", false);
    let known = traces.iter().filter(|(_, t)| t.is_ok()).map(|(options, _)| *options);
    for options in known.chain([""]).collect::<BTreeSet<_>>() {
        let is = value(&lines, options, true);
        if is != wanted {
            out.push(format!("recorded {options} it is {is:?}, at once {wanted:?}"));
        }
    }
    out
}

/// Every case of a row holds.
pub fn row(id: &str) {
    let (mut count, mut all) = (0, Vec::new());
    for (name, text) in PAGES {
        let page = read(text);
        for case in page.cases.iter().filter(|c| c.row == id) {
            count += 1;
            let line = case.input.last().copied().unwrap_or("");
            all.extend(
                wrong(&page, case)
                    .into_iter()
                    .map(|w| format!("{name}.txt:{}: {line}\n    {w}", case.at)),
            );
        }
    }
    assert!(count > 0, "{id} has no case");
    assert!(all.is_empty(), "{id}: {} are not so\n{}", all.len(), all.join("\n"));
}

#[test]
fn paths_and_patterns_find_what_they_say() {
    let json = serde_json::json!({ "nodes": [{ "kind": "map", "in": [1, 2] }, { "kind": "cat",
        "in": null }] });
    assert_eq!(found(&json, "nodes[].kind"), ["map", "cat"]);
    assert_eq!(found(&json, "nodes[kind=map].in"), ["[1,2]"]);
    assert_eq!(found(&json, "nodes[].in"), ["[1,2]", "null"]);
    assert_eq!(found(&json, "nodes[].name"), [""; 0]);
    assert!(fits("a⋯c⋯", "abcd") && fits("⋯", "") && !fits("a⋯a", "a") && !fits("ab", "abc"));
    assert_eq!((in_range("1…3", 3), in_range("2", 3)), (Ok(true), Ok(false)));
    assert!(in_range("x", 3).is_err());
}

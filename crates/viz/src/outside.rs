//! Work outside of launches: the evaluator's functions that gave their value at once, and long
//! texts of values that are shown.

use aplomb_ground::error::time;
use aplomb_ground::span::first_line;
use aplomb_ground::trace::{Diagnostic, Trace};

/// A place where the evaluator worked itself.
pub struct Place {
    /// Its text, shortened, with line and column: `∪ at 1:8`; `elsewhere` for the places that are
    /// too many to tell.
    pub name: String,
    /// Milliseconds, without what ran inside of it and is told itself.
    pub ms: f64,
}

/// The places whose time is known, the longest first; none in a canonical trace.
pub fn places(trace: &Trace) -> Vec<Place> {
    let of = |d: &Diagnostic| {
        let name = match d.span {
            Some(span) if d.code == "W-display" => format!("display of {}", name(trace, span)?),
            Some(span) => name(trace, span)?,
            None => "elsewhere".into(),
        };
        Some(Place { name, ms: d.ms? })
    };
    let mut all: Vec<Place> = trace.diagnostics.iter().filter_map(of).collect();
    all.sort_by(|a, b| b.ms.total_cmp(&a.ms));
    all
}

/// The labels of the grey nodes that stand below a picture's last evaluation: places that worked
/// outside of launches, with their time, the longest first, and the number of those left out.
pub fn nodes(trace: &Trace, segment: u32) -> Vec<String> {
    if segment as usize + 1 != trace.segments.len() {
        return Vec::new();
    }
    let all = places(trace);
    let mut out: Vec<String> =
        all.iter().take(MOST).map(|p| format!("{} · {}", p.name, time(p.ms * 1e3))).collect();
    if all.len() > MOST {
        out.push(format!("{} more", all.len() - MOST));
    }
    out
}

/// The line that says of a small line's figures that they are another run's; nothing where they are
/// its own.
pub fn again(trace: &Trace) -> String {
    let told = trace.diagnostics.iter().filter(|d| d.code == "W-again");
    told.map(|d| format!("{}\n", d.text)).collect()
}

/// The number of grey nodes, at most.
const MOST: usize = 6;

fn name(trace: &Trace, span: [u32; 3]) -> Option<String> {
    let [source, start, end] = span.map(|x| x as usize);
    let text = &trace.sources.get(source)?.text;
    let own: String = text.chars().take(end).skip(start).collect();
    let own: String = first_line(&own).chars().take(40).collect();
    Some(format!("{own} at {}", at(text, start)))
}

/// Line and column of a code point, both from 1: `1:8`.
pub fn at(text: &str, start: usize) -> String {
    let before: Vec<char> = text.chars().take(start).collect();
    let line = 1 + before.iter().filter(|c| **c == '\n').count();
    let column = 1 + before.iter().rev().take_while(|c| **c != '\n').count();
    format!("{line}:{column}")
}

//! Errors as pictures: ariadne's drawing of source line, marks and hint, in our words.

use crate::error::Error;
use crate::span::{Place, Source, Span};
use ariadne::{Color, Config, Label, Report, ReportKind, sources};

/// A span that fits its text: ariadne needs start < end ≤ length, in characters.
fn clipped(span: Span, source: &Source) -> std::ops::Range<usize> {
    let n = source.text.chars().count();
    let start = (span.start as usize).min(n.saturating_sub(1));
    let end = (span.end as usize).clamp(start, n);
    start..end.max((start + 1).min(n))
}

/// The whole report: kind and sentence, line with marks, where it was needed, the calls that led
/// here, hint.
pub fn render(e: &Error, colour: bool) -> String {
    let parts = e.parts();
    let mut text = format!("{}: {}", e.name(), parts.says);
    let Some(place) = &parts.place else {
        if let Some(hint) = &parts.hint {
            text += &format!("\nHelp: {hint}");
        }
        return text;
    };
    if line_around(place).chars().count() > WIDEST {
        // A picture would show all of it.
        text += &format!("\n   at {}: {}", named(place), near(place));
        text += &parts.hint.as_ref().map_or(String::new(), |hint| format!("\nHelp: {hint}"));
    } else if let Some(picture) = picture(e, place, colour) {
        // The first line is ariadne's title; ours stands there.
        for line in picture.lines().skip(1) {
            text.push('\n');
            text.push_str(line.trim_end());
        }
    }
    // The picture's own line says nothing new, nor does one line twice running.
    let told = |place: &Place, line: &Option<String>| match line {
        Some(line) => format!("{line}, {}: {}", named(place), line_of(place)),
        None => format!("{}: {}", named(place), line_of(place)),
    };
    if let Some(line) = &parts.line {
        text += &format!("\n   in {line}");
    }
    let mut calls: Vec<String> = parts.calls.iter().map(|c| told(&c.place, &c.line)).collect();
    calls.dedup();
    if calls.first() == Some(&format!("{}: {}", named(place), line_of(place))) {
        calls.remove(0);
    }
    for call in calls.iter().take(8) {
        text += &format!("\n   called from {call}");
    }
    if calls.len() > 8 {
        text += &format!("\n   … {} more calls", calls.len() - 8);
    }
    text
}

/// The source, and the line in it where there are several.
fn named(place: &Place) -> String {
    let before =
        place.source.text.chars().take(place.span.start as usize).filter(|c| *c == '\n').count();
    match place.source.text.contains('\n') {
        true => format!("{}:{}", place.source.name, before + 1),
        false => place.source.name.clone(),
    }
}

/// Characters of a line that is drawn.
const WIDEST: usize = 400;
/// The characters of a longer one that are told, before the place and behind its begin.
const NEAR: [usize; 2] = [20, 50];

/// The part of a line where the place is.
fn near(place: &Place) -> String {
    let line: Vec<char> = line_around(place).chars().collect();
    let before = place.source.text.chars().take(place.span.start as usize);
    let at = before.collect::<Vec<_>>().iter().rev().take_while(|c| **c != '\n').count();
    let (from, to) = (at.saturating_sub(NEAR[0]), (at + NEAR[1]).min(line.len()));
    let begin = (from > 0).then_some('…');
    let end = (to < line.len()).then_some('…');
    begin.into_iter().chain(line[from.min(to)..to].iter().copied()).chain(end).collect()
}

fn line_of(place: &Place) -> String {
    let line = line_around(place).trim();
    match line.chars().nth(70) {
        Some(_) => line.chars().take(69).chain(['…']).collect(),
        None => line.into(),
    }
}

/// The line where the place begins.
fn line_around(place: &Place) -> &str {
    let at = place.span.start as usize;
    let mut seen = 0;
    for line in place.source.text.split('\n') {
        seen += line.chars().count() + 1;
        if at < seen {
            return line;
        }
    }
    ""
}

fn picture(e: &Error, place: &Place, colour: bool) -> Option<String> {
    let parts = e.parts();
    let texts = |p: &Place| (p.source.name.clone(), p.source.text.clone());
    let mut files = vec![texts(place)];
    let own = clipped(place.span, &place.source);
    if own.is_empty() {
        return None;
    }
    let config = Config::new().with_color(colour).with_compact(true);
    let name = place.source.name.clone();
    let mut report =
        Report::build(ReportKind::Error, (name.clone(), own.clone())).with_config(config);
    let label = |name: &String, at: std::ops::Range<usize>, says: &str, c: Color| {
        let label = Label::new((name.clone(), at)).with_message(says);
        if colour { label.with_color(c) } else { label }
    };
    if parts.marks.is_empty() {
        report = report.with_label(label(&name, own, "here", Color::Red));
    }
    for (at, says) in parts.marks.iter().take(8) {
        let at = clipped(*at, &place.source);
        if !at.is_empty() {
            report = report.with_label(label(&name, at, says, Color::Cyan));
        }
    }
    // On the line of the error itself, where it was needed says nothing new.
    let elsewhere = |n: &&Place| n.source != place.source || line_of(n) != line_of(place);
    if let Some(needed) = parts.needed.as_ref().filter(elsewhere) {
        let at = clipped(needed.span, &needed.source);
        let mut other = needed.source.name.clone();
        if needed.source != place.source && other == name {
            other = format!("{other} (needed)");
        }
        if !at.is_empty() {
            if needed.source != place.source {
                files.push((other.clone(), needed.source.text.clone()));
            }
            report = report.with_label(label(&other, at, "needed here", Color::Yellow));
        }
    }
    if let Some(hint) = &parts.hint {
        report = report.with_help(hint);
    }
    let mut out = Vec::new();
    report.finish().write(sources(files), &mut out).ok()?;
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// The same, for an error of a text that has not run.
pub fn render_all(errors: &[Error], colour: bool) -> String {
    errors.iter().map(|e| render(e, colour)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::length;

    #[test]
    fn marks_stand_under_their_text() {
        let source = Source::new("line 3", "x+1 2");
        let e = length("X and Y differ in length")
            .at(&Place::new(&source, Span::new(1, 2)))
            .mark(Span::new(0, 1), "shape 5")
            .mark(Span::new(2, 5), "shape 2")
            .hint("∘. makes all pairs, ↑ cuts or fills");
        let text = render(&e, false);
        assert!(text.starts_with("LENGTH ERROR: X and Y differ in length\n"), "{text}");
        assert!(
            text.contains("shape 5") && text.contains("line 3") && text.contains("Help"),
            "{text}"
        );
    }

    /// An error in a long line is told with what stands around its place.
    #[test]
    fn of_a_long_line_the_part_around_the_place_is_told() {
        for n in [500, 4_000, 100_000] {
            let source =
                Source::new("long", format!("x←1\n{}÷0{}", "1+".repeat(n), "+2".repeat(n)));
            let at = 4 + 2 * n as u32;
            let text = render(&length("x").at(&Place::new(&source, Span::new(at, at + 1))), false);
            assert!(text.chars().count() < 200 && text.contains("+÷0+"), "{text}");
        }
    }

    #[test]
    fn odd_spans_are_clipped() {
        for text in ["", "⍳", "a\nb", "\n\n"] {
            let source = Source::new("odd", text);
            for (a, b) in [(0, 0), (5, 9), (1, 0), (0, 100), (2, 3)] {
                let span = Span { start: a, end: b };
                let e = length("x")
                    .at(&Place::new(&source, span))
                    .mark(span, "y")
                    .needed(&Place::new(&source, span));
                assert!(!render(&e, true).is_empty());
            }
        }
    }
}

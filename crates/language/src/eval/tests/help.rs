//! The help as a program: examples print what they say, errors come where a row names them.

use super::{run, with_stack};
use crate::table::{Meaning, Prim, prims};
use aplomb_ground::error::Kind;
use aplomb_ground::help::{errors, topics};

fn meanings() -> impl Iterator<Item = (&'static Prim, &'static Meaning)> {
    prims().flat_map(|p| {
        [&p.monadic, &p.dyadic, &p.operator].into_iter().flatten().map(move |m| (p, m))
    })
}

/// Lines that print something else than they should, eagerly and with everything recorded.
fn wrong(lines: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let both = lines.flat_map(|l| [(l.clone(), false), (l, true)]);
    let run = both.filter_map(|((line, says), all)| {
        let got = run(&line, all);
        (got != says).then(|| format!("{line} → {got:?}, not {says:?} (recorded: {all})"))
    });
    run.collect()
}

#[test]
fn every_example_in_the_table_prints_what_it_says() {
    let wrong = wrong(meanings().map(|(_, m)| (m.example.0.into(), m.example.1.into())));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_error_in_the_table_comes_where_it_says() {
    let lines = meanings().flat_map(|(p, m)| m.errors.iter().map(move |e| (p.glyph, e)));
    let wrong = wrong(lines.map(|(glyph, (kind, _, line))| {
        (line.replace('f', &glyph.to_string()), kind.name().into())
    }));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_topic_prints_what_it_says() {
    let wrong = wrong(topics().map(|t| (t.example.0.into(), t.example.1.into())));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let cut: Vec<_> = topics().map(|t| t.help).filter(|h| !h.ends_with('.')).collect();
    assert!(cut.is_empty(), "{cut:?}");
}

#[test]
fn every_error_is_explained_and_comes() {
    let lines = || {
        errors::ROWS
            .iter()
            .filter_map(|(kind, _, line)| Some((line.as_ref()?.to_string(), kind.name().into())))
    };
    let wrong = with_stack(move || wrong(lines()));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let without: Vec<Kind> = errors::ROWS.iter().filter(|e| e.2.is_none()).map(|e| e.0).collect();
    assert_eq!(without, [Kind::Interrupt, Kind::Internal]);
    let explained =
        |event| Kind::of_event(event).is_none_or(|kind| errors::ROWS.iter().any(|e| e.0 == kind));
    assert!((1..100).all(explained));
}

#[test]
fn every_meaning_tells_its_shape() {
    for (p, m) in meanings() {
        assert!(!m.shape.is_empty() && m.help.ends_with('.'), "{} {}", p.glyph, m.name);
    }
}

//! Barracuda: Larsen, 2010.

use super::page::{prepared, row, run, traced};
use crate::support::Heard;
use aplomb::commands::Table;
use aplomb_ground::limits::Limits;
use aplomb_ground::protocol::{Event, Failure, Request};
use aplomb_kernel::session::Session;
use std::rc::Rc;

#[test]
fn bar_01_one_set_of_functions_for_vectors_and_matrices() {
    row("BAR-01");
}

/// Both of the thesis' spellings of saxpy, by one function of two and by a map of a map: one text.
#[test]
fn bar_01_spellings_of_saxpy_are_one_text() {
    let text = |line: &str| {
        let lines = ["x←0.5×⍳2000 ⋄ y←⌽x ⋄ k←2.5", "x y k", line];
        let t = traced(&lines, "").unwrap_or_else(|e| panic!("{e}"));
        let [launch] = &t.kernels[..] else { panic!("{line}: {:?}", t.kernels.len()) };
        launch.cuda.as_ref().map(|c| {
            let own = c.text.lines().map(|l| l.split("  // n").next().unwrap_or(l));
            own.collect::<Vec<_>>().join("\n")
        })
    };
    let first = text("y+2.5×x");
    for line in ["x{⍵+2.5×⍺}¨y", "y{⍺+⍵}¨{2.5×⍵}¨x", "y{⍺+⍵}2.5×x"] {
        assert_eq!(text(line), first, "{line}");
    }
}

#[test]
fn bar_02_scalar_functions() {
    row("BAR-02");
}

#[test]
fn bar_03_a_name_is_computed_once() {
    row("BAR-03");
}

#[test]
fn bar_04_algebra_that_changes_no_value() {
    row("BAR-04");
    // A line for each rule: the trace counts it.
    let witnesses = [
        ("add-zero", "B+0"),
        ("zero-add", "0+B"),
        ("conjugate", "+⍟A"),
        ("sub-zero", "A-0"),
        ("mul-one", "A×1"),
        ("one-mul", "1×A"),
        ("div-one", "A÷1"),
        ("pow-half", "A*0.5"),
        ("pow-two", "A*2"),
        ("floor-whole", "⌊⌊A"),
        ("abs-abs", "||A-2"),
        ("not-not", "~~A>2"),
        ("neg-neg", "--A"),
        ("compose", "⌽2⌽A"),
        ("identity", "0⌽1+A"),
    ];
    for (rule, line) in witnesses {
        let trace =
            traced(&["A←0.5×⍳9 ⋄ B←9-⍳9", "A B", line], "").unwrap_or_else(|e| panic!("{e}"));
        assert!(trace.rules.contains_key(rule), "{line}: {:?}", trace.rules);
    }
}

#[test]
fn bar_05_slices_are_reads() {
    row("BAR-05");
}

#[test]
fn bar_08_numbers_alone_run_nothing() {
    row("BAR-08");
}

#[test]
fn bar_11_what_is_closed_over_is_a_parameter() {
    row("BAR-11");
    let mut s = prepared(&["A←0.5×⍳20000", "A", "x←÷8", "{x+⍵}¨A"], "", false).expect("a value");
    let was = s.core().plans().tally();
    run(&mut s, "x←÷3 ⋄ {x+⍵}¨A").expect("a value");
    let now = s.core().plans().tally();
    assert_eq!((now.hits - was.hits, now.misses - was.misses), (1, 0));
}

/// The failures that a line ends in, of a session with commands.
pub fn failures(s: &mut Session, code: &str) -> Vec<Failure> {
    let mut heard = Heard::default();
    s.handle(Request::Execute { code: code.into(), name: "line".into(), silent: true }, &mut heard);
    heard
        .0
        .into_iter()
        .filter_map(|e| if let Event::Error(f) = e { Some(f) } else { None })
        .collect()
}

#[test]
fn bar_12_a_promise_fails_with_reason_and_place() {
    let mut s = Session::new(Rc::new(Table::default()), Limits::default(), 2);
    assert!(failures(&mut s, "x←0.5×⍳100000 ⋄ x").is_empty());
    for kept in ["launches 1: +/x×x", "fused: 1+⌽x", "no-break: x+1⌽x"] {
        assert!(failures(&mut s, &format!("]assert {kept}")).is_empty(), "{kept}");
    }
    for (broken, why) in [
        ("fused: {⍵-(+/⍵)÷≢⍵}x", "2 launches"),
        ("launches 1: {⍵-(+/⍵)÷≢⍵}x", "2 launches"),
        ("no-break: x×+/x", "is written to memory"),
    ] {
        let failed = failures(&mut s, &format!("]assert {broken}"));
        let [f] = failed.as_slice() else { panic!("{broken}: {failed:?}") };
        assert!(
            f.says.contains("does not hold") && f.says.contains(why) && f.report.contains("Help: "),
            "{}",
            f.report
        );
        assert!(f.span.is_some(), "{f:?}");
    }
}

#[test]
fn bar_13_a_root_of_a_mean_square_is_one_launch() {
    row("BAR-13");
}

#[test]
fn bar_16_what_does_not_depend_on_the_element_is_hoisted() {
    row("BAR-16");
}

#[test]
fn bar_17_what_does_is_a_loop_in_the_thread() {
    row("BAR-17");
}

#[test]
fn bar_18_the_papers_pipelines_by_name() {
    row("BAR-18");
}

#[test]
fn bar_20_that_a_function_is_not_associative_is_said() {
    row("BAR-20");
}

/// BAR-22: a trace counts the lines of the statement, and those of the texts that they became.
#[test]
fn bar_22_a_trace_counts_lines_of_code() {
    let of = |line: &str| {
        traced(&["x←0.5×⍳9000 ⋄ y←⌽x", "x y", line], "").unwrap_or_else(|e| panic!("{e}"))
    };
    let t = of("x{((+/(⍺-⍵)*2)÷≢⍺)*.5}y");
    let loc = t.loc.expect("a launch");
    let text = &t.kernels[0].cuda.as_ref().expect("a text").text;
    let own = text.lines().filter(|l| !l.trim().is_empty() && !l.trim().starts_with("//")).count();
    assert_eq!((loc.source, loc.cuda as usize), (1, own));
    assert!(own > 20, "{text}");
    // Two launches have the lines of both; no launch has none.
    assert!(of("x-⌈/y").loc.is_some_and(|loc| loc.source == 1 && loc.cuda > 20));
    assert_eq!(of("2+3").loc, None);
}

//! Reflexes: lines as people type them who come from other languages, and what the error says of
//! them. Of forty such lines at least thirty-five must get the way out that stands beside them.

use aplomb::commands::Table;
use aplomb_ground::limits::Limits;
use aplomb_ground::protocol::{Event, Request, Sink};
use aplomb_kernel::session::Session;
use std::rc::Rc;

/// Lines before it, the line, and a part of its hint.
const ROWS: &[(&str, &str)] = &[
    ("sum x", "sum is +/ here: ]help sum"),
    ("x←1 2 3 ⋄ x[0]", "indices begin at 1"),
    ("x <- 3", "← gives a name its value"),
    ("x := 3", "← gives a name its value"),
    ("x = 3", "← gives a name its value"),
    ("[1,2]", "a vector is written 1 2"),
    ("for i in x", ":For i :In v"),
    ("while x", ":While c"),
    ("if x", ":If c"),
    ("exit", ")off leaves"),
    ("quit", ")off leaves"),
    ("help", "]help"),
    ("len(x)", "len is ≢ here"),
    ("print(1)", "prints"),
    ("x == 3", "= compares"),
    ("1 != 2", "≠ is not equal"),
    ("1 >= 2", "≥"),
    ("1 <= 2", "≤"),
    ("x**2", "* is the power"),
    ("1 && 0", "∧ is and"),
    ("x || y", "∨ is or"),
    ("x += 1", "x+←1"),
    ("i++", "x+←1"),
    ("7 % 2", "2|7"),
    ("# a comment", "⍝ begins a comment"),
    ("// a comment", "⍝ begins a comment"),
    ("\"abc\"", "single quotes"),
    ("import numpy", "]load FILE"),
    ("def f(x)", "f←{⍵+1}"),
    ("lambda x: x", "f←{⍵+1}"),
    ("x => x", "{⍵+1}"),
    ("return 1", "result"),
    ("let x = 1", "nothing is declared"),
    ("const x = 1", "nothing is declared"),
    ("True", "1 is true"),
    ("null", "⍬"),
    ("x←⍳9 ⋄ x[1:3]", "3↑1↓v"),
    ("range(5)", "range is ⍳ here"),
    ("sqrt 4", "sqrt is"),
    ("max(1,2)", "one argument on each side"),
    ("1e-3", "1E¯5"),
    ("mean 1 2 3", "mean is (+/÷≢) here"),
    ("sort 3 1 2", "sort is"),
    ("x; y", "⋄"),
    ("ls", ")vars"),
];

#[derive(Default)]
struct Heard(String);

impl Sink for Heard {
    fn event(&mut self, event: Event) {
        if let Event::Error(failure) = event {
            self.0 += &failure.report;
        }
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

#[test]
fn lines_of_other_languages_get_a_way_out() {
    let commands = Table { ascii: false, prints: false };
    let mut session = Session::new(Rc::new(commands), Limits::default(), 1);
    let mut without = Vec::new();
    for (line, hint) in ROWS {
        let mut heard = Heard::default();
        session.handle(Request::Restart, &mut heard);
        let request = Request::Execute { code: (*line).into(), name: "l".into(), silent: false };
        session.handle(request, &mut heard);
        if !heard.0.contains(hint) {
            without.push(format!("{line}\n   wants {hint}\n{}", heard.0));
        }
    }
    assert!(ROWS.len() >= 40 && ROWS.len() - without.len() >= 35, "{}", without.join("\n"));
    assert!(without.is_empty(), "{}", without.join("\n"));
}

/// A line of APL that fails keeps its own error: a name that has a value is no word of help.
#[test]
fn an_error_of_apl_gets_no_hint_from_another_language() {
    let commands = Table { ascii: false, prints: false };
    let mut session = Session::new(Rc::new(commands), Limits::default(), 1);
    for line in ["sum←{+/⍵} ⋄ sum 1 2+1 2 3", "1 2 3+⍳4 ⍝ x := 3", "'a := b'+1"] {
        let mut heard = Heard::default();
        session.handle(Request::Restart, &mut heard);
        let request = Request::Execute { code: line.into(), name: "l".into(), silent: false };
        session.handle(request, &mut heard);
        assert!(heard.0.contains("ERROR"), "{line}: {}", heard.0);
        assert!(!heard.0.contains("]help") && !heard.0.contains("← gives"), "{line}: {}", heard.0);
    }
}

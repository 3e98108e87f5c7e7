//! Selections that begin with a pick, `(S p⊃x)←v`, against the item taken out, selected from, and
//! put back: the same value, or the same kind of error.

use crate::support::{Dice, deep_bits, scaled, session};
use aplomb_kernel::session::Session;

/// Names with items of many kinds, some large.
const VALUES: [&str; 6] = [
    "x←(1 2 3)'abcd'(2 3⍴⍳6)",
    "x←(4 5 6)(7 8)⍬(1 2(3 4))",
    "x←2 3⍴(1 2)'ab' 5 (⍳4)(2 2⍴'wxyz')((1 2)(3 4 5))",
    "x←3⍴⊂2000⍴0.5×⍳7",
    "x←(0J1 2 3J4)(1 0 1)('ab' 'cde')",
    "x←1 2 3 4",
];

const PATHS: [&str; 7] = ["1", "2", "3", "(2 1)", "(⊂1 2)", "k", "(4 2)"];

/// Selections from `□`; the item's name takes its place, or the pick.
const SELECTIONS: [&str; 17] = [
    "(□)[1]",
    "(□)[2 1]",
    "(□)[k]",
    "⌽□",
    "2↑□",
    "1↓□",
    "⊃□",
    ",□",
    "⊃⌽□",
    "(□)[1;]",
    "2⊃□",
    "∊□",
    "1⌷□",
    "(⌽□)[1 2]",
    "(1⊃⌽□)[1]",
    "(2⊃1⊃□)[1]",
    "1⊃2⊃□",
];

const NEW: [&str; 7] = ["9", "'z'", "8 9", "'yz'", "(⊂7 7)", "0J5", "⍬"];

fn outcome(s: &mut Session, line: &str) -> Result<(Vec<usize>, Vec<u64>), String> {
    match s.value_of(line) {
        Ok(value) => Ok(deep_bits(&value.expect(line))),
        Err(e) => Err(e.name().to_string()),
    }
}

#[test]
fn a_selection_from_a_pick_is_the_selection_from_the_item() {
    let (mut dice, mut s) = (Dice(20_061), session());
    let (mut wrong, mut values) = (Vec::new(), 0);
    for _ in 0..scaled(3_000) {
        let (value, path) = (*dice.pick(&VALUES), *dice.pick(&PATHS));
        let (selection, new) = (*dice.pick(&SELECTIONS), *dice.pick(&NEW));
        let f = *dice.pick(&["", "", "+", ",", "⊣", "{⍺⍵}"]);
        let put = |of: &str| format!("({}){f}←{new}", selection.replace('□', of));
        let at_once = format!("{{k←2 ⋄ {value} ⋄ {} ⋄ x}}0", put(&format!("{path}⊃x")));
        let by_steps = format!("{{k←2 ⋄ {value} ⋄ h←{path}⊃x ⋄ {} ⋄ ({path}⊃x)←h ⋄ x}}0", put("h"));
        let (got, wanted) = (outcome(&mut s, &at_once), outcome(&mut s, &by_steps));
        values += usize::from(wanted.is_ok());
        if got != wanted {
            wrong.push(format!("{at_once}\n   {got:.200?}\n   {wanted:.200?}"));
        }
    }
    assert!(values > scaled(600), "{values}");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

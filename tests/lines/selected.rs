//! Selections that begin with a pick, `(S p⊃x)←v`, which run on the item alone, against the same
//! ones that run on all of x, and picks of picks against the item taken out, changed, and put back.

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

const PATHS: [&str; 9] = ["1", "2", "3", "(2 1)", "(⊂1 2)", "k", "(4 2)", "(?2)", "(⍎'1')"];

/// Selections from `□`.
const SELECTIONS: [&str; 24] = [
    "(□)[1]",
    "(□)[2 1]",
    "(□)[k]",
    "(□)[1;]",
    "(□)[⊂1]",
    "⌽□",
    "2↑□",
    "(k↑□)",
    "1↓□",
    "⊃□",
    ",□",
    "⊃⌽□",
    "⊂□",
    "2 2⍴□",
    "∊□",
    "⊃¨□",
    "1⊃¨□",
    "2↑¨□",
    "1⌷□",
    "(⌽□)[1 2]",
    "(1⊃⌽□)[1]",
    "(2⊃1⊃□)[1]",
    "2⊃□",
    "1⊃2⊃□",
];
/// The last so many of them are picks.
const PICKS: usize = 2;

const NEW: [&str; 7] = ["9", "'z'", "8 9", "'yz'", "(⊂7 7)", "0J5", "⍬"];

fn outcome(s: &mut Session, line: &str) -> Result<(Vec<usize>, Vec<u64>), String> {
    match s.value_of(line) {
        Ok(value) => Ok(deep_bits(&value.expect(line))),
        Err(e) => Err(e.name().to_string()),
    }
}

#[test]
fn a_selection_from_a_pick_runs_on_the_item_alone_and_gives_the_same() {
    let (mut dice, mut s) = (Dice(20_061), session());
    let (mut wrong, mut values) = (Vec::new(), 0);
    for _ in 0..scaled(3_000) {
        let (value, path) = (*dice.pick(&VALUES), *dice.pick(&PATHS));
        let (at, new) = (dice.roll(SELECTIONS.len()), *dice.pick(&NEW));
        let f = *dice.pick(&["", "", "+", ",", "⊣", "{⍺⍵}"]);
        let put = |of: &str| format!("({}){f}←{new}", SELECTIONS[at].replace('□', of));
        let line = |put: String| format!("{{⎕RL←7 ⋄ k←2 ⋄ {value} ⋄ {put} ⋄ x(?1000)}}0");
        let at_once = line(put(&format!("{path}⊃x")));
        let other = line(match at < SELECTIONS.len() - PICKS {
            // The places of what ⊢ gives are those of all.
            true => put(&format!("{path}⊃⊢x")),
            false => format!("p←{path} ⋄ h←p⊃x ⋄ {} ⋄ (p⊃x)←h", put("h")),
        });
        let (got, wanted) = (outcome(&mut s, &at_once), outcome(&mut s, &other));
        values += usize::from(wanted.is_ok());
        if got != wanted {
            wrong.push(format!("{at_once}\n   {got:.200?}\n   {wanted:.200?}"));
        }
    }
    assert!(values > scaled(600), "{values}");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

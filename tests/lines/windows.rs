//! Folds of windows: those that overlap have parts in common, each of which is folded once.

use crate::support::told;

const SETUP: &str =
    "m←60 70⍴⍳97 ⋄ f←140 150⍴÷⍳97 ⋄ b←2|m ⋄ c←14 15 16⍴⍳97 ⋄ v←9000⍴⍳97 ⋄ _←⎕DR¨m f b c v";

/// A line, and the most folded elements of it for one in windows that are whole: the fewest of so
/// many, or 1 where windows stay whole, by their order of additions or since there is nothing to
/// save.
const LINES: &[(&str, u64)] = &[
    ("{+/,⍵}⌺31 30⊢m", 10),
    ("{⌈/,⍵}⌺31 30⊢m", 10),
    ("{⌊/,⍵}⌺31 30⊢m", 10),
    ("{∨/,⍵}⌺31 30⊢b", 10),
    ("{∧/,⍵}⌺31 30⊢b", 10),
    ("{(+/,⍵)÷≢,⍵}⌺31 30⊢m", 10),
    ("{⌈/,3+2×⍵}⌺31 30⊢m", 10),
    ("{⌈/⌈/⍵}⌺65 66⊢f", 20),
    ("{+/+/⍵}⌺65 66⊢f", 20),
    ("{⌈/,⍵}⌺(2 2⍴31 30 2 3)⊢m", 3),
    ("{+/,⍵}⌺7 8 9⊢c", 4),
    ("{+/,⍵}⌺31 30⊢60 70⍴⍳7", 10),
    // Sums of floats have an order, and so has the sign of a greatest zero.
    ("{+/,⍵}⌺31 30⊢60 70↑f", 1),
    ("{⌈/,⍵}⌺31 30⊢60 70↑f", 1),
    // Products are not exact.
    ("{×/,⍵}⌺31 30⊢1+0×m", 1),
    ("{+/,⍵}⌺5 5⊢m", 1),
    ("+/m", 1),
];

#[test]
fn windows_that_overlap_share_the_folds_of_their_parts() {
    let run = |how: &[&str], line: &str| {
        let t = told(how, &[SETUP, line]);
        let work = |s: &aplomb_ground::trace::Segment| t.passes[s.passes[1] as usize - 1].flops;
        let says = t.decisions.iter().any(|d| d.reason == "parts");
        (t.result.clone().map(|r| r.sha), t.segments.iter().map(work).sum::<u64>(), says)
    };
    for &(line, least) in LINES {
        let (value, few, says) = run(&[], line);
        let (same, all, _) = run(&["off=hoist"], line);
        assert_eq!(value, same, "{line} has another value in parts");
        assert_eq!(says, least > 1, "{line}");
        assert!(few * least <= all, "{line}: {few} operations, {all} whole");
    }
}

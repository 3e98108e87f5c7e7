//! Shapes that fit nothing: extents of 0, of 1 and primes, ranks to six, reads that leave their
//! array on all sides, and boxes that would want more shared memory than there is. Values are the
//! CPU's.

use crate::devices::Both;
use crate::standin;

const SHAPES: [&str; 12] = [
    "0",
    "1",
    "997",
    "0 5",
    "1 1",
    "31 67",
    "257 3",
    "2 3 5",
    "0 2 3",
    "1 7 1 13",
    "2 3 5 7 2",
    "2 3 2 5 3 7",
];

/// Lines over an array of any rank from 1.
const LINES: &[&str] = &[
    "1+A",
    "+/A",
    "+⌿A",
    "⌈/,A",
    "+\\A",
    "+⍀A",
    "1+⍉A",
    "⌽⍉1⊖A",
    "(1⌽A)+¯1⌽A",
    "(1⊖A)+(¯1⊖A)+(1⌽A)+¯1⌽A",
    "(1(⌽⍠0)A)+(¯2(⌽⍠3)A)+2(⊖⍠0)A",
    "2(⌽⍠7)A+⌽A",
    "(2(⌽⍠'clamp')A)-¯1(⊖⍠'clamp')A",
    "(2↑,A)+¯2↑,A",
    "5↑(,A),1+,A",
    "(,A>0.5)/,A",
    "(,A)[⍋,A]",
];

#[test]
fn shapes_that_divide_by_nothing_have_the_same_values() {
    if !standin::is_child("shapes_that_divide_by_nothing_have_the_same_values", &[]) {
        return;
    }
    let mut both = Both::after(&[]);
    for shape in SHAPES {
        both.set(&format!("A←{shape}⍴0.25×7|3×⍳1+×/{shape}"));
        both.each(LINES);
    }
    let (tally, _) = both.told();
    assert!(tally.lines >= SHAPES.len() * LINES.len() - 60, "{tally:?}");
    assert_eq!(tally.bits_differ, 0, "sums of quarters are exact");
}

/// Products and all pairs whose sides are primes, 1 and 0.
#[test]
fn products_that_divide_by_nothing_have_the_same_values() {
    if !standin::is_child("products_that_divide_by_nothing_have_the_same_values", &[]) {
        return;
    }
    let mut both = Both::after(&[]);
    for (rows, deep, columns) in [(67, 131, 71), (1, 997, 1), (257, 1, 65), (0, 7, 3), (5, 0, 9)] {
        both.set(&format!(
            "A←{rows} {deep}⍴0.25×7|⍳1+{rows}×{deep} ⋄ B←{deep} {columns}⍴0.5×5|⍳1+{deep}×{columns}"
        ));
        both.each(&["A+.×B", "(A+.×B)(A+.×1+B)", "A⌈.+B", "(⍉B)+.×⍉A", "1+A+.×B"]);
    }
    for n in [0, 1, 1021] {
        both.set(&format!("A←0.5×7|⍳{n} ⋄ B←0.25×5|⍳{n}"));
        both.each(&["+/|A∘.-B", "(+/A∘.×B)(⌈/A∘.+B)"]);
    }
    let (tally, _) = both.told();
    assert!(tally.lines >= 20, "{tally:?}");
    assert_eq!(tally.bits_differ, 0, "sums of quarters are exact");
}

/// Six arrays with six reads each, which are 51 apart: their copies would need 61 kB.
#[test]
fn copies_over_the_limit_have_the_same_values() {
    if !standin::is_child("copies_over_the_limit_have_the_same_values", &[]) {
        return;
    }
    let names = ["a", "b", "c", "d", "e", "f"];
    let taps = |name: &str| {
        let tap = |k: usize| format!("({}↓¯{}↓{name})", 51 * k, 51 * (5 - k));
        (0..6).map(tap).collect::<Vec<_>>().join("+")
    };
    let line = names.map(taps).join("+");
    let mut both = Both::after(&[]);
    for n in [256, 1279, 3001] {
        let of = |(k, name): (usize, &&str)| format!("{name}←0.25×{}|⍳{n}", 5 + k);
        let setup: Vec<String> = names.iter().enumerate().map(of).collect();
        both.set(&setup.join(" ⋄ "));
        both.each(&[&line]);
    }
    let (tally, _) = both.told();
    assert_eq!((tally.lines, tally.bits_differ), (3, 0));
}

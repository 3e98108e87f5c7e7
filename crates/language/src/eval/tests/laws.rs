//! Operators on the functions of `PRIMS`, held against what they mean: a derived function of a
//! primitive has ways of its own (folds, frames, moves, searches), and one of a dfn that calls the
//! primitive goes another way. Both print the same, small and recorded.
//!
//! A law that fails prints its line and what each side gave; shrink it by hand to a case of its
//! own.

use super::{run, with_stack};
use crate::table::{self, Prim, Role};

/// The lines that are tried. Whoever wants more multiplies here.
const LINES: usize = 2_500;

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n as u64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

/// A law: two lines in `f` and `g` (primitives with two arguments), `F` and `G` (dfns that call
/// them), `h` (one that is no operator, too), `m` and `M` (those with one argument), `x` and `y`
/// (values), `k` (ranks), `i` (places), `n` (a width), `s` (a window). The second one says what the
/// first one means.
struct Law {
    line: &'static str,
    means: &'static str,
    /// Whether it holds for empty arrays: a dfn has no identity and no prototype.
    of_empties: bool,
}

const fn law(line: &'static str, means: &'static str) -> Law {
    Law { line, means, of_empties: true }
}

const fn full(line: &'static str, means: &'static str) -> Law {
    Law { line, means, of_empties: false }
}

const LAWS: &[Law] = &[
    full("f/y", "F/y"),
    full("f⌿y", "F⌿y"),
    law("f/[1]y", "f⌿y"),
    full("f\\y", "F\\y"),
    full("f⍀y", "F⍀y"),
    full("n f/y", "n F/y"),
    full("n f⌿y", "n F⌿y"),
    full("x f.g y", "x F.G y"),
    full("x∘.g y", "x∘.G y"),
    full("x f¨y", "x F¨y"),
    full("m¨y", "M¨y"),
    full("x(f⍤k)y", "x(F⍤k)y"),
    full("(m⍤k)y", "(M⍤k)y"),
    law("x(f⍥m)y", "(m x)f(m y)"),
    law("x(m⍤f)y", "m x f y"),
    law("x(f∘m)y", "x f m y"),
    law("x(m⍛f)y", "(m x)f y"),
    law("x f⍨y", "y f x"),
    law("f⍨y", "y f y"),
    law("x(f h f)y", "(x f y)h(x f y)"),
    full("(m@i)y", "(M@i)y"),
    full("x(f@i)y", "x(F@i)y"),
    law("(x@i)y", "({x}@i)y"),
    full("({m ⍵}⌺s)y", "(M⌺s)y"),
    full("({+/,⍵}⌺s)y", "({q←,⍵ ⋄ +/q}⌺s)y"),
    law("{⍺ f ⍵}⌸y", "F⌸y"),
    full("(,x){m ⍵}⌸,y", "(,x)M⌸,y"),
    law("(m⍣2)y", "m m y"),
    law("x(f⍣2)y", "x f x f y"),
    law("x((m h)⍤k)y", "x({q←⍵ ⋄ m ⍺ h q}⍤k)y"),
];

/// A value, with axes of any length from 0 on or none of 0.
fn value(dice: &mut Dice, empties: bool, nested: bool) -> String {
    let rank = [0, 1, 1, 1, 2, 2, 3, 4][dice.below(8)];
    let lengths: &[usize] = if empties { &[0, 1, 2, 3] } else { &[1, 1, 2, 3] };
    let shape: Vec<usize> = (0..rank).map(|_| lengths[dice.below(4)]).collect();
    let n = shape.iter().product::<usize>().max(1);
    let mut items = |all: &[&'static str]| -> String {
        (0..n).map(|_| dice.of(all)).collect::<Vec<_>>().join(" ")
    };
    let kind = n % 2 + usize::from(shape.iter().sum::<usize>() % 3 == 0);
    let listed = match (kind, nested) {
        (0, _) => items(&["0", "1", "1", "2", "3", "¯1", "5"]),
        (1, _) => items(&["0.5", "2", "¯1", "0", "'a'"]),
        (_, true) => items(&["(1 2)", "'ab'", "3", "(2 2⍴⍳4)", "(0⍴⊂1 2)"]),
        _ => items(&["'a'", "'b'", "' '"]),
    };
    match shape.is_empty() {
        true => format!("(⊃{listed})"),
        false => {
            let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("({}⍴{listed})", axes.join(" "))
        }
    }
}

/// A law with its letters replaced.
fn filled(text: &str, with: &[(char, String)]) -> String {
    let one = |c: char| with.iter().find(|(name, _)| *name == c).map(|(_, s)| s.clone());
    text.chars().map(|c| one(c).unwrap_or_else(|| c.to_string())).collect()
}

/// The functions of the table: all but those that draw, print, run or count in floats.
fn functions(has: impl Fn(&Prim) -> bool) -> Vec<String> {
    let fits = |p: &&Prim| {
        matches!(p.role, Role::Function | Role::Hybrid) && !"?⍎⌹⍕⍟*○!".contains(p.glyph) && has(p)
    };
    table::prims().filter(fits).map(|p| p.glyph.to_string()).collect()
}

/// Shape, depth, value and prototype of what a line gives.
fn told(line: &str, x: &str, y: &str, recorded: bool) -> String {
    let show = "{⎕←⍴⍵ ⋄ ⎕←≡⍵ ⋄ ⎕←⍵ ⋄ ⎕←⊃0⍴⊂⍵}";
    run(&format!("x←{x} ⋄ y←{y} ⋄ {show}({line})"), recorded)
}

#[test]
fn operators_on_primitives_do_what_they_do_on_dfns_that_call_these() {
    let (wrong, held) = with_stack(|| {
        let dyadic = functions(|p| p.dyadic.is_some());
        let plain = functions(|p| p.dyadic.is_some() && p.role == Role::Function);
        let monadic = functions(|p| p.monadic.is_some());
        let (mut wrong, mut held) = (Vec::new(), 0);
        for k in 0..LINES {
            let mut dice = Dice(0x9E37_79B9 + 7_919 * k as u64);
            dice.below(2);
            let law = &LAWS[dice.below(LAWS.len())];
            let empties = law.of_empties && dice.below(3) == 0;
            let (f, g) = (&dyadic[dice.below(dyadic.len())], &dyadic[dice.below(dyadic.len())]);
            let m = &monadic[dice.below(monadic.len())];
            let (x, y) = (value(&mut dice, empties, true), value(&mut dice, empties, true));
            let with = [
                ('f', f.clone()),
                ('g', g.clone()),
                ('h', plain[dice.below(plain.len())].clone()),
                ('m', m.clone()),
                ('F', format!("{{q←⍵ ⋄ ⍺ {f} q}}")),
                ('G', format!("{{q←⍵ ⋄ ⍺ {g} q}}")),
                ('M', format!("{{q←⍵ ⋄ {m} q}}")),
                ('k', dice.of(&["0", "1", "2", "¯1", "1 0", "0 1", "1 2", "0 99"]).into()),
                ('i', dice.of(&["1", "1 2", "⍬", "(⊂1 1)", "(2 1)"]).into()),
                ('n', dice.of(&["1", "2", "3", "¯2", "¯3"]).into()),
                ('s', dice.of(&["1", "2", "3", "(3 2)", "(2⍴3)", "(2 2⍴3 3 1 2)"]).into()),
            ];
            let (line, means) = (filled(law.line, &with), filled(law.means, &with));
            let meant = told(&means, &x, &y, false);
            let fails = |said: &str| said.lines().any(|l| l.ends_with(" ERROR"));
            for recorded in [false, true] {
                let got = told(&line, &x, &y, recorded);
                // Which of two errors comes first is not the law's.
                if got != meant && !(fails(&got) && fails(&meant)) {
                    wrong.push(format!(
                        "x←{x} ⋄ y←{y} ⋄ {line}   [{recorded}]\n{got}\n{means}\n{meant}"
                    ));
                }
            }
            held += usize::from(!fails(&meant));
        }
        (wrong, held)
    });
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(9)].join("\n"));
    // A generator that mostly fails would test little.
    assert!(held * 3 > LINES, "{held} of {LINES} lines gave a value");
}

/// A fold of nothing gives what changes no argument, also where the function is not scalar.
#[test]
fn identities_are_what_the_functions_leave_as_it_is() {
    const LEFT: &[&str] = &["+", "×", "∨", "∧", "=", "≤", "⌽", "⊖", "⊤", "/", "⌿", "∪"];
    const RIGHT: &[&str] = &["-", "÷", "*", "≥"];
    let left = LEFT.iter().map(|f| format!("y≡(⊃({f}/⍬)){f} y"));
    let right = RIGHT.iter().map(|f| format!("y≡y{f}⊃({f}/⍬)"));
    let nested = ["+", "×", "∨", "∧"].iter().map(|f| format!("(⊂y)≡({f}/0⍴⊂y){f}⊂y"));
    let lines: Vec<String> = left.chain(right).chain(nested).collect();
    let wrong = with_stack(move || {
        let said = |line: &String| run(&format!("y←0 1 1 ⋄ {line}"), false);
        lines.into_iter().filter(|l| said(l) != "1").collect::<Vec<_>>()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Inverses undo what was done, of bound functions too.
#[test]
fn inverses_undo() {
    const ROWS: &[(&str, &str)] = &[
        ("+ - × ÷", "(x∘f)⍣¯1⊢x f y"),
        ("+ - × ÷ * ⍟", "(f∘x)⍣¯1⊢y f x"),
        ("- ÷ * ⍟ ⌽ ⊖ ⍉ ~", "f⍣¯1⊢f y"),
        ("+ ×", "f\\⍣¯1⊢f\\y"),
        ("⌽ ⊖", "(x∘f)⍣¯1⊢x f y"),
    ];
    let wrong = with_stack(|| {
        let mut wrong = Vec::new();
        for (fs, law) in ROWS {
            for f in fs.split(' ') {
                for y in ["1", "1 0 1", "2 3⍴1", "0⍴1", "2 0⍴1", "(1 0)(1 1 1)"] {
                    // ~ takes truth values; the others are undone but for rounding.
                    // A scan of items of two lengths has no value.
                    if law.contains('\\') && y.contains(')') {
                        continue;
                    }
                    let y = if f == "~" { y.to_string() } else { format!("{y}+2") };
                    let line = format!("x←2 ⋄ y←{y} ⋄ y≡{}", law.replace('f', f));
                    for recorded in [false, true] {
                        let said = run(&line, recorded);
                        if said != "1" {
                            wrong.push(format!("{line}   [{recorded}]: {said}"));
                        }
                    }
                }
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

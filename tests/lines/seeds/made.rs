//! Graphs too large to write down: sums of many arrays, random trees, random straight-line code.

use crate::support::Dice;

/// `A0 … A(n-1)` of nine numbers each, none of them equal, displayed so that they are inputs.
pub fn arrays(n: usize) -> Vec<String> {
    let each: Vec<String> = (0..n).map(|k| format!("A{k}←{k}.5+0.25×⍳9")).collect();
    let names: Vec<String> = (0..n).map(|k| format!("A{k}")).collect();
    vec![each.join(" ⋄ "), names.join(" ")]
}

/// A sum of terms, each in brackets with what is right of it.
pub fn chain(terms: &[String]) -> String {
    terms.join("+")
}

/// A sum of terms as a balanced tree; the left half has the term more.
pub fn halves(terms: &[String]) -> String {
    match terms {
        [one] => one.clone(),
        _ => {
            let (a, b) = terms.split_at(terms.len().div_ceil(2));
            format!("({}+{})", halves(a), halves(b))
        }
    }
}

/// A dfn of `steps` element-wise functions over `A0 … A(arrays-1)`; a step reads two of all that is
/// there.
pub fn straight(dice: &mut Dice, arrays: usize, steps: usize) -> String {
    let mut names: Vec<String> = (0..arrays).map(|k| format!("A{k}")).collect();
    let mut body = Vec::new();
    for k in 0..steps {
        // The last step is always read, so that the whole chain is alive.
        let x = names.last().filter(|_| k > 0).unwrap_or(&names[0]).clone();
        let y = dice.pick(&names).clone();
        let step = match dice.roll(8) {
            0 => format!("{x}+{y}"),
            1 => format!("{x}-{y}"),
            2 => format!("{x}⌈{y}"),
            3 => format!("{y}⌊{x}"),
            4 => format!("{y}-0.5×{x}"),
            5 => format!("|{x}-{y}"),
            6 => format!("{y}+{x}<{y}"),
            _ => format!("{y}+⌊{x}÷2"),
        };
        body.push(format!("t{k}←{step}"));
        names.push(format!("t{k}"));
    }
    format!("{{{} ⋄ t{}}}0", body.join(" ⋄ "), steps - 1)
}

/// A tree of two-argument functions with `leaves` different arrays, and how few values must be
/// alive at once: Sethi and Ullman's number.
pub fn tree(dice: &mut Dice, leaves: usize) -> (String, u32) {
    let mut next = 0;
    grow(dice, leaves, &mut next)
}

fn grow(dice: &mut Dice, leaves: usize, next: &mut usize) -> (String, u32) {
    if leaves == 1 {
        *next += 1;
        return (format!("A{}", *next - 1), 1);
    }
    let left = 1 + dice.roll(leaves - 1);
    let ((x, a), (y, b)) = (grow(dice, left, next), grow(dice, leaves - left, next));
    let op = ["+", "-", "×", "⌈"][dice.roll(4)];
    (format!("({x}{op}{y})"), if a == b { a + 1 } else { a.max(b) })
}

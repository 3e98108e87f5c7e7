//! Dfns that are a primitive: `{⍺⌈⍵}` is `⌈`, `{⍵}` is `⊢`.
//!
//! Told from the text, so that it holds for arrays of every size: what a fold, a window or a scan
//! of the primitive does, that of the dfn does, in the same order and with the same bits. An empty
//! axis is not meant: a dfn has no identity.

use super::{prim, scalar_op};
use crate::eval::value::{Closure, Func, Operand};
use crate::syntax::ast::{Guard, ItemId, What};
use crate::syntax::token::Word;
use crate::table::{self, Prim};
use aplomb_values::array::Array;
use std::rc::Rc;

/// Functions that are no scalar ones, of which folds and scans know more than that they call them.
const JOINS: &str = ",⊢⊣∪";

/// The primitive that a dfn of two arguments is: a scalar one, or one that joins or unites. None
/// for what is no such dfn.
pub fn primitive(f: &Operand) -> Option<Operand> {
    let Operand::F(f) = f else { return None };
    let Func::Dfn(c) = &**f else { return None };
    let row = dyadic(c)?;
    let made = Operand::F(Rc::new(Func::Prim(row)));
    (scalar_op(&made).is_some() || JOINS.contains(row.glyph)).then_some(made)
}

/// The primitive that a dfn is of what it is called with: `{⊂⍵}`, `{⍺⍳⍵}`. A text that runs or a
/// random number is one of the dfn's, which nobody may ask for twice.
pub fn called(f: &Func, dyadic: bool) -> Option<&'static Prim> {
    let Func::Dfn(c) = f else { return None };
    let own = if dyadic { self::dyadic(c)? } else { monadic(c)? };
    let meaning = if dyadic { &own.dyadic } else { &own.monadic };
    (meaning.is_some() && !"⍎?".contains(own.glyph)).then_some(own)
}

fn monadic(c: &Closure) -> Option<&'static Prim> {
    let [stmt] = c.ast.dfn(c.dfn).stmts.as_slice() else { return None };
    let [f, y] = c.ast.phrase(stmt.phrase).items.as_slice() else { return None };
    match (&c.ast.item(*f).what, &c.ast.item(*y).what, stmt.guard) {
        (What::Glyph(glyph), What::Word(Word::Omega), Guard::None) => table::find(*glyph),
        _ => None,
    }
}

/// The scalar primitive that a dfn of two arguments is on the items of a simple array: `{⍺≢⍵}` of
/// scalars is `≠`, and `{⍺>⍵:⍺ ⋄ ⍵}` of whole numbers, of which no two that differ are equal, is
/// `⌈`. None for what is no such dfn.
pub fn on_scalars(f: &Operand, y: &Array) -> Option<Operand> {
    let Operand::F(f) = f else { return None };
    let Func::Dfn(c) = &**f else { return None };
    if !y.is_uniform() || y.frame().is_some() {
        return None;
    }
    let glyph = match dyadic(c).map(|row| row.glyph) {
        Some('≢') => '≠',
        Some('≡') => '=',
        Some(_) => return None,
        None if y.dtype().is_integer() => greater_or_less(c)?,
        None => return None,
    };
    table::find(glyph).map(|row| Operand::F(Rc::new(Func::Prim(row))))
}

/// `⍺>⍵:⍺ ⋄ ⍵` and its kin: which of the two it takes.
fn greater_or_less(c: &Closure) -> Option<char> {
    let [first, second] = c.ast.dfn(c.dfn).stmts.as_slice() else { return None };
    let (Guard::Test(cond), Guard::None) = (first.guard, second.guard) else { return None };
    let items = |phrase| c.ast.phrase(phrase).items.as_slice();
    let side = |items: &[ItemId]| match items {
        [one] => match c.ast.item(*one).what {
            What::Word(Word::Alpha) => Some(true),
            What::Word(Word::Omega) => Some(false),
            _ => None,
        },
        _ => None,
    };
    let (yes, no) = (side(items(first.phrase))?, side(items(second.phrase))?);
    let [x, test, y] = items(cond) else { return None };
    let (x, y) = (side(&[*x])?, side(&[*y])?);
    let What::Glyph(test) = c.ast.item(*test).what else { return None };
    let greater = match test {
        '>' | '≥' => true,
        '<' | '≤' => false,
        _ => return None,
    };
    // The left side of the comparison is taken where it holds, or the right one.
    (x != y && yes != no).then_some(if greater == (x == yes) { '⌈' } else { '⌊' })
}

/// The array that a dfn puts between its arguments, which it joins: `{⍺,',',⍵}`. None for what is
/// no such dfn.
pub fn between(f: &Operand) -> Option<Array> {
    let Operand::F(f) = f else { return None };
    let Func::Dfn(c) = &**f else { return None };
    let [stmt] = c.ast.dfn(c.dfn).stmts.as_slice() else { return None };
    let what = |id: &ItemId| &c.ast.item(*id).what;
    let [x, first, put, second, y] = c.ast.phrase(stmt.phrase).items.as_slice() else {
        return None;
    };
    let joins = |id| matches!(what(id), What::Glyph(','));
    let sides = (what(x), what(y));
    let own = matches!(sides, (What::Word(Word::Alpha), What::Word(Word::Omega)));
    if !own || !joins(first) || !joins(second) || stmt.guard != Guard::None {
        return None;
    }
    match what(put) {
        What::Number(x) => Some(Array::num(*x)),
        What::Literal(a) => Some(a.clone()),
        _ => None,
    }
}

/// `⍺ f ⍵`; where the sides may be swapped also `⍵ f ⍺`; one side alone.
fn dyadic(c: &Closure) -> Option<&'static Prim> {
    let [stmt] = c.ast.dfn(c.dfn).stmts.as_slice() else { return None };
    let what = |id| &c.ast.item(id).what;
    let items = c.ast.phrase(stmt.phrase).items.as_slice();
    if let ([side], Guard::None) = (items, stmt.guard) {
        return match what(*side) {
            What::Word(Word::Alpha) => table::find('⊣'),
            What::Word(Word::Omega) => table::find('⊢'),
            _ => None,
        };
    }
    let [x, f, y] = items else { return None };
    let (What::Word(x), What::Glyph(glyph), What::Word(y), Guard::None) =
        (what(*x), what(*f), what(*y), stmt.guard)
    else {
        return None;
    };
    let row = table::find(*glyph)?;
    let own = Operand::F(Rc::new(Func::Prim(row)));
    match (x, y) {
        (Word::Alpha, Word::Omega) => Some(row),
        (Word::Omega, Word::Alpha) if scalar_op(&own).is_some_and(|op| op.is_associative()) => {
            prim(&own)
        }
        _ => None,
    }
}

//! Two functions in a row that mean one node: `f/B/A` and `f/¨B⊂A`.
//!
//! Rows: ACC-21, ACC-27. `syntax::resolve` finds them by `PHRASES`, once a phrase; each either
//! gives the result or None, and then its two functions run one after the other. Add one by adding
//! a row.

use super::cx::Cx;
use super::operators::scalar_op;
use super::value::{Func, Oper, Operand};
use crate::functions::parts;
use crate::table::Prim;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, DType};
use aplomb_values::prim::op::Op;

/// Two functions in a row that mean one node.
pub struct Phrase {
    /// The glyphs of the dyadic function that runs first, and the operation of the monadic one that
    /// follows.
    first: &'static [char],
    then: fn(&Func) -> Option<Op>,
    run: fn(&mut Cx<'_>, &'static Prim, Op, &Array, &Array) -> Result<Option<Array>>,
}

/// `f/B/A`; `f/¨B⊂A` and `f/¨B⊆A`.
pub static PHRASES: &[Phrase] = &[
    Phrase { first: &['/', '⌿'], then: folds, run: filtered },
    Phrase { first: &['⊂', '⊆'], then: folds_each, run: segments },
];

impl Phrase {
    /// The phrase that these two are.
    pub fn of(first: &Prim, then: &Func) -> Option<(&'static Phrase, Op)> {
        PHRASES
            .iter()
            .filter(|p| p.first.contains(&first.glyph))
            .find_map(|p| Some((p, (p.then)(then)?)))
    }

    /// Both functions as one. None: as they stand, one after the other. Errors: as the two.
    pub fn run(
        &self,
        cx: &mut Cx<'_>,
        first: &'static Prim,
        op: Op,
        x: &Array,
        y: &Array,
    ) -> Result<Option<Array>> {
        (self.run)(cx, first, op, x, y)
    }
}

/// The operand of a primitive operator, of these glyphs.
fn operand<'a>(f: &'a Func, glyphs: &[char]) -> Option<&'a Operand> {
    match f {
        Func::Op1(Oper::Prim(p), g) if glyphs.contains(&p.glyph) => Some(g),
        _ => None,
    }
}

/// `f/` of an operation that any order serves and that has a value for nothing.
pub fn folds(f: &Func) -> Option<Op> {
    scalar_op(operand(f, &['/', '⌿'])?).filter(|op| op.is_associative() && op.identity().is_some())
}

/// `f\` of a scalar function.
pub fn scans(f: &Func) -> Option<Op> {
    scalar_op(operand(f, &['\\', '⍀'])?)
}

fn folds_each(f: &Func) -> Option<Op> {
    match operand(f, &['¨'])? {
        Operand::F(f) => folds(f),
        Operand::A(_) => None,
    }
}

/// The fold of what a mask keeps: of all, with the identity at the other places. So the extent
/// needs not be known.
fn filtered(
    cx: &mut Cx<'_>,
    _: &'static Prim,
    op: Op,
    x: &Array,
    y: &Array,
) -> Result<Option<Array>> {
    let (Some(unit), true) =
        (op.identity(), x.rank() == 1 && y.rank() == 1 && x.dtype() == DType::Bool)
    else {
        return Ok(None);
    };
    if x.shape() != y.shape() || y.len() < 2 || y.is_char() {
        return Ok(None);
    }
    // What may still turn out to be complex is looked at: the order must not depend on whether it
    // was pending.
    let known =
        |cx: &mut Cx<'_>, a: &Array| if a.is_open() { cx.ready(a, "fold") } else { Ok(a.clone()) };
    let (x, y) = (&known(cx, x)?, &known(cx, y)?);
    if !cx.recordable(x) || !cx.recordable(y) {
        return Ok(None);
    }
    let kept = if cx.records(&[x, y], y.len()) {
        cx.select(x, y, &Array::num(unit), y.shape())?
    } else {
        // The same at once: one meaning, and one order.
        let (mask, mut items) =
            (cx.numbers(x, "a mask")?, cx.numbers(y, "the argument of a fold")?);
        items.iter_mut().zip(&mask).filter(|(_, m)| **m == 0.0).for_each(|(item, _)| *item = unit);
        Array::numbers(y.shape(), items, cx.budget())?
    };
    cx.reduce(op, &kept, 0).map(Some)
}

/// The fold of each piece of a vector.
fn segments(
    cx: &mut Cx<'_>,
    first: &'static Prim,
    op: Op,
    x: &Array,
    y: &Array,
) -> Result<Option<Array>> {
    if y.rank() != 1 || !cx.records(&[y], y.len()) || !cx.recordable(y) {
        return Ok(None);
    }
    let parts = match first.glyph {
        '⊂' => parts::dividers(cx, x, y.len())?,
        _ => parts::runs(cx, x, y.len())?,
    };
    if parts.is_empty() {
        return Ok(None);
    }
    cx.record_segments(op, &parts, y)
}

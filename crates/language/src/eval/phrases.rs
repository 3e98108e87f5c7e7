//! Two functions in a row that mean one thing: `f/B/A`, `f/¨B⊂A` and `f\¨B⊂A` one node, `≢¨B⊂A` the
//! lengths of parts that nobody copies.
//!
//! Rows: ACC-05, ACC-21, ACC-27. `syntax::resolve` finds them by `PHRASES`, once a phrase; each
//! either gives the result or None, and then its two functions run one after the other. Add one by
//! adding a row.

use super::cx::Cx;
use super::lower::stand_in;
use super::operators::scalar_op;
use super::value::{Func, Oper, Operand};
use crate::functions::parts;
use crate::table::Prim;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, DType, Ragged};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::single::has_room;

/// Two functions in a row that mean one thing.
pub struct Phrase {
    /// The glyphs of the dyadic function that runs first, and what the monadic one that follows is.
    first: &'static [char],
    then: fn(&Func) -> Option<Then>,
    run: fn(&mut Cx<'_>, &'static Prim, Then, &Array, &Array) -> Result<Option<Array>>,
}

/// The second function of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The fold by an operation, of all or of each part.
    Fold(Op),
    /// The scan by an operation, of each part.
    Scan(Op),
    /// The length of each part.
    Lengths,
}

/// `f/B/A`; `f/¨B⊂A` and `f/¨B⊆A`; `f\¨B⊂A` and `f\¨B⊆A`; `≢¨B⊂A` and `≢¨B⊆A`.
pub static PHRASES: &[Phrase] = &[
    Phrase { first: &['/', '⌿'], then: |f| folds(f).map(Then::Fold), run: filtered },
    Phrase { first: &['⊂', '⊆'], then: of_each, run: parted },
];

impl Phrase {
    /// The phrase that these two are.
    pub fn of(first: &Prim, then: &Func) -> Option<(&'static Phrase, Then)> {
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
        then: Then,
        x: &Array,
        y: &Array,
    ) -> Result<Option<Array>> {
        (self.run)(cx, first, then, x, y)
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

fn of_each(f: &Func) -> Option<Then> {
    match operand(f, &['¨'])? {
        Operand::F(f) => match &**f {
            Func::Prim(p) if p.glyph == '≢' => Some(Then::Lengths),
            f => folds(f).map(Then::Fold).or_else(|| scans(f).map(Then::Scan)),
        },
        Operand::A(_) => None,
    }
}

/// The fold of what a mask keeps: of all, with the identity at the other places. So the extent
/// needs not be known.
fn filtered(
    cx: &mut Cx<'_>,
    _: &'static Prim,
    then: Then,
    x: &Array,
    y: &Array,
) -> Result<Option<Array>> {
    let Then::Fold(op) = then else { return Ok(None) };
    let (Some(unit), true) =
        (op.identity(), x.rank() == 1 && y.rank() == 1 && x.dtype() == DType::Bool)
    else {
        return Ok(None);
    };
    if x.shape() != y.shape() || y.len() < 2 || y.is_char() {
        return Ok(None);
    }
    if x.frame().is_some() || y.frame().is_some() {
        return filtered_cells(cx, (op, unit), x, y);
    }
    // What may still turn out to be complex is looked at: the order must not depend on whether it
    // was pending.
    let known =
        |cx: &mut Cx<'_>, a: &Array| if a.is_open() { cx.ready(a, "fold") } else { Ok(a.clone()) };
    let (x, y) = (&known(cx, x)?, &known(cx, y)?);
    if !cx.recordable(x) || !cx.recordable(y) {
        return Ok(None);
    }
    let single = y.dtype() == DType::F32;
    if single && !has_room(unit) {
        return Ok(None);
    }
    let kept = if cx.records(&[x, y], y.len()) {
        cx.select(x, y, &stand_in(unit, y), y.shape())?
    } else {
        // The same at once: one meaning, and one order.
        let (mask, mut items) =
            (cx.numbers(x, "a mask")?, cx.numbers(y, "the argument of a fold")?);
        items.iter_mut().zip(&mask).filter(|(_, m)| **m == 0.0).for_each(|(item, _)| *item = unit);
        match single {
            true => Array::singles(y.shape(), &items, cx.budget())?,
            false => Array::numbers(y.shape(), items, cx.budget())?,
        }
    };
    cx.reduce(op, &kept, 0).map(Some)
}

/// The same in cells of a frame, of which each is such a vector: the order is that of one alone.
fn filtered_cells(
    cx: &mut Cx<'_>,
    (op, unit): (Op, f64),
    x: &Array,
    y: &Array,
) -> Result<Option<Array>> {
    let fits = |a: &Array| a.is_uniform() && !a.is_complex() && !a.is_open();
    if !fits(x) || !fits(y) || y.dtype() == DType::F32 && !has_room(unit) {
        return Ok(None);
    }
    let none = crate::functions::shape::fill(cx, &stand_in(unit, y), y.shape())?;
    let kept = cx.either(x, y, &none)?;
    cx.reduce(op, &kept, 0).map(Some)
}

/// The fold, the scan, or the length, of each piece of a vector.
fn parted(
    cx: &mut Cx<'_>,
    first: &'static Prim,
    then: Then,
    x: &Array,
    y: &Array,
) -> Result<Option<Array>> {
    if y.rank() != 1 || y.frame().is_some() || x.frame().is_some() {
        return Ok(None);
    }
    if then != Then::Lengths && !(cx.records(&[y], y.len()) && cx.recordable(y)) {
        return Ok(None);
    }
    let work = cx.begin_work(y.len());
    let parts = match first.glyph {
        '⊂' => parts::dividers(cx, x, y.len())?,
        _ => parts::runs(cx, x, y.len())?,
    };
    if parts.is_empty() {
        return Ok(None);
    }
    match then {
        Then::Fold(op) => cx.record_segments(op, &parts, y),
        Then::Scan(op) => {
            let Some(all) = cx.scan_segments(op, &parts, y)? else { return Ok(None) };
            let pieces = Ragged::of(&all, &parts, cx.budget())?;
            Ok(pieces.map(|pieces| pieces.items(&[parts.len()])))
        }
        Then::Lengths => {
            let lengths = cx.budget().each(parts.iter().map(|part| part.len() as f64))?;
            let lengths = Array::numbers([parts.len()].as_slice(), lengths, cx.budget())?;
            cx.tell_work(work);
            Ok(Some(lengths))
        }
    }
}

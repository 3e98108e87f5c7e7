//! Dfns that are a primitive: `{⍺⌈⍵}` is `⌈`.
//!
//! Told from the text, so that it holds for arrays of every size: what a fold, a window or a scan
//! of the primitive does, that of the dfn does, in the same order and with the same bits. An empty
//! axis is not meant: a dfn has no identity.

use super::{prim, scalar_op};
use crate::eval::value::{Closure, Func, Operand};
use crate::syntax::ast::{Guard, What};
use crate::syntax::token::Word;
use crate::table::{self, Prim};
use std::rc::Rc;

/// The scalar primitive that a dfn of two arguments is. None for what is no such dfn.
pub fn primitive(f: &Operand) -> Option<Operand> {
    let Operand::F(f) = f else { return None };
    let Func::Dfn(c) = &**f else { return None };
    let made = Operand::F(Rc::new(Func::Prim(dyadic(c)?)));
    scalar_op(&made).map(|_| made)
}

/// `⍺ f ⍵`; where the sides may be swapped also `⍵ f ⍺`.
fn dyadic(c: &Closure) -> Option<&'static Prim> {
    let [stmt] = c.ast.dfn(c.dfn).stmts.as_slice() else { return None };
    let [x, f, y] = c.ast.phrase(stmt.phrase).items.as_slice() else { return None };
    let what = |id| &c.ast.item(id).what;
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

//! Functions of a few floats at hand, the everyday case of a loop on small arrays.
//!
//! `map1` and `map2` ask what an argument may be: pending, nested, a frame, complex, characters, of
//! f32, of another shape. Floats that lie there, with others of their shape or with a number, are
//! none of that; what is left is to run the operation, where it runs at once anyway. Whatever its
//! loop finds suspect is left to the long way, which takes the scalar meaning.

use super::known;
use crate::eval::cx::{Cx, SMALL};
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, Data, View};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::Src;

/// A number, or a few floats.
fn few(a: &Array) -> Option<Src<'_>> {
    match a.data() {
        Data::Num(x) => Some(Src::One(*x)),
        Data::Dense(held) if held.len() <= SMALL => match held.view() {
            View::F64(items) if !items.is_empty() => Some(Src::Many(items)),
            _ => None,
        },
        _ => None,
    }
}

impl Cx<'_> {
    /// The value of a function of one argument or two. None: it is for the long way. Errors: WS
    /// FULL, INTERRUPT.
    pub(super) fn at_hand(
        &mut self,
        op: Op,
        x: &Array,
        y: Option<&Array>,
    ) -> Result<Option<Array>> {
        let (Some(a), Some(b)) = (few(x), y.map_or(Some(Src::One(0.0)), few)) else {
            return Ok(None);
        };
        let of = match (a, b, y) {
            (Src::Many(_), Src::Many(_), Some(y)) if x.shape() == y.shape() => x,
            (Src::Many(_), Src::One(_), _) => x,
            (Src::One(_), Src::Many(_), Some(y)) => y,
            _ => return Ok(None),
        };
        if self.sys.records_all() || self.sys.settings.single || op == Op::CircleBy {
            return Ok(None);
        }
        let facts = [known(x), y.map_or_else(|| known(x), known)];
        let dtype = op.result(&facts[..op.arity()]).0;
        let mut out = self.budget().filled(0.0, of.len())?;
        if !self.host.apply(op, self.sys.settings.ct, a, b, &mut out) {
            return Ok(None);
        }
        self.stored(op, of.shape().into(), out, dtype).map(Some)
    }
}

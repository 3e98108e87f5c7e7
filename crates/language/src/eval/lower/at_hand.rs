//! Functions of a few floats at hand, the everyday case of a loop on small arrays.
//!
//! `map1` and `map2` ask what an argument may be: pending, nested, a frame, complex, characters, of
//! f32, of another shape. Floats that lie there, with others of their shape or with a number, are
//! none of that; what is left is to run the operation, where it runs at once anyway. Whatever its
//! loop finds suspect is left to the long way, which takes the scalar meaning.

use super::known;
use crate::eval::cx::Cx;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, DType, Data, Digits, Shape, storage};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::Src;

/// A number, or a few floats.
fn few(a: &Array, most: usize) -> Option<Src<'_>> {
    match a.data() {
        Data::Num(x, _) => Some(Src::One(*x)),
        _ => {
            let items = a.floats_there()?;
            (1..=most).contains(&items.len()).then_some(Src::Many(items))
        }
    }
}

/// The argument that has the shape of what two give, or one alone. None: it is for the long way.
fn like<'a>((a, b): (Src<'_>, Src<'_>), x: &'a Array, y: Option<&'a Array>) -> Option<&'a Array> {
    match (a, b, y) {
        (Src::Many(_), Src::Many(_), Some(y)) if x.shape() == y.shape() => Some(x),
        (Src::Many(_), Src::One(_), _) => Some(x),
        (Src::One(_), Src::Many(_), Some(y)) => Some(y),
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
        let Some((a, b)) = self.operands(x, y) else {
            return y.map_or(Ok(None), |y| self.typed(op, x, y));
        };
        let Some(of) = like((a, b), x, y) else { return Ok(None) };
        if !self.takes_few(op) {
            return Ok(None);
        }
        let dtype = result(op, x, y);
        if dtype != DType::F64 {
            return self.host.by_parts((op, dtype), self.sys.settings.ct, x, y);
        }
        let mut out = self.budget().filled(0.0, of.len())?;
        if !self.host.apply((op, dtype), self.sys.settings.ct, a, b, &mut out) {
            return Ok(None);
        }
        self.stored(op, Shape::from_slice(of.shape()), out, dtype).map(Some)
    }

    /// The same of arithmetic on a few whole numbers or f32. None: it is for the long way. Errors:
    /// WS FULL.
    fn typed(&mut self, op: Op, x: &Array, y: &Array) -> Result<Option<Array>> {
        let arithmetic =
            matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Max | Op::Min | Op::Residue);
        // A number of f32 widens whole ones.
        let single = |a: &Array| matches!(a.data(), Data::Num(_, Digits::Single));
        let is_number = |a: &Array| matches!(a.data(), Data::Num(_, _));
        if is_number(x) && is_number(y) || (single(x) || single(y)) && !is_single(x, y) {
            return Ok(None);
        }
        let there = |a: &Array| is_number(a) || storage(a).is_some_and(|_| a.rank() > 0);
        let of = if is_number(x) { y } else { x };
        let alike = is_number(x) || is_number(y) || x.shape() == y.shape();
        let few = alike && there(x) && there(y) && (1..=self.hand()).contains(&of.len());
        if !arithmetic || !few || !self.takes_few(op) {
            return Ok(None);
        }
        self.host.typed(op, x, y)
    }

    /// The same where the value takes the place of an argument that nobody else holds: no memory
    /// is asked for and none given back. What is suspect leaves both as they were.
    pub fn in_place(
        &mut self,
        op: Op,
        x: &mut Array,
        mut y: Option<&mut Array>,
    ) -> Result<Option<Array>> {
        let is_free = |a: &mut Array| a.rank() > 0 && a.own_floats().is_some();
        let into_y = y.as_deref_mut().is_some_and(is_free);
        if !into_y && !is_free(x) || !self.takes_few(op) {
            return Ok(None);
        }
        let second = y.as_deref();
        let Some((a, b)) = self.operands(x, second) else { return Ok(None) };
        let place = if into_y { second } else { Some(&*x) };
        let fits = like((a, b), x, second).map(Array::shape) == place.map(Array::shape);
        if !fits || result(op, x, second) != DType::F64 {
            return Ok(None);
        }
        self.host.interrupt().check()?;
        let mut room = std::mem::take(&mut self.sys.room.0);
        let n = place.map_or(0, Array::len);
        if room.len() != n {
            room = self.budget().filled(0.0, n)?;
        }
        let done = self.host.apply((op, DType::F64), self.sys.settings.ct, a, b, &mut room);
        let place = if into_y { y } else { Some(x) };
        let place = place.filter(|_| done);
        let made = place.and_then(|place| {
            std::mem::swap(place.own_floats()?, &mut room);
            Some(std::mem::replace(place, Array::num(0.0)))
        });
        self.sys.room.0 = room;
        Ok(made)
    }

    /// Both operands, the second one 0 where there is none. None: one is no number and no few
    /// floats.
    fn operands<'a>(&self, x: &'a Array, y: Option<&'a Array>) -> Option<(Src<'a>, Src<'a>)> {
        let of = |a| few(a, self.hand());
        of(x).zip(y.map_or(Some(Src::One(0.0)), of))
    }

    /// The choice of functions of few floats that run here: true of those.
    fn takes_few(&self, op: Op) -> bool {
        let settings = &self.sys.settings;
        let other = op == Op::CircleBy || settings.single || settings.div;
        !other && !self.sys.records_all()
    }
}

/// Whether both are of f32.
fn is_single(x: &Array, y: &Array) -> bool {
    x.dtype() == DType::F32 && y.dtype() == DType::F32
}

/// The type of what a function gives.
fn result(op: Op, x: &Array, y: Option<&Array>) -> DType {
    let facts = [known(x), y.map_or_else(|| known(x), known)];
    op.result(&facts[..op.arity()]).0
}

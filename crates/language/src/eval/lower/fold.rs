//! `f/` with a scalar function: recorded as Reduce where it is associative, folded on the host
//! else.

use super::Fact;
use crate::eval::cx::{Cx, SMALL};
use aplomb_ground::error::{Error, Result, bug, domain};
use aplomb_values::array::{Array, DType, Data, Shape};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Node, Read, Role, kinds};
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::{self, LANES, ordered};
use aplomb_values::prim::scalar::single::has_room;
use aplomb_values::prim::scalar::{Fail, Src};
use std::cell::RefCell;

/// A window's axis of at most so many places is folded by shifted reads.
const TAPS: usize = 64;
/// The number of nodes that are looked through for the windows below them.
const LOOKED: usize = 16;
/// Sums of products that are taken together.
const BUNCH: usize = 64;

/// Whether a read takes an item for several places, one step apart along two axes: so do the
/// windows that `n,/V` makes.
fn overlaps(node: &Node<Array>, rank: usize) -> bool {
    let facts = node.facts();
    let Some((read, _)) = facts.place() else { return false };
    let steps = |ix: &Ix| (0..rank).filter(|k| ix.coefficient(*k).abs() == 1).count();
    read.ix.iter().any(|ix| ix.is_affine() && steps(ix) > 1)
}

/// Whether an array is made of windows, read and computed with at their own places.
fn is_window(y: &Array) -> bool {
    let mut stack = vec![y.clone()];
    for _ in 0..LOOKED {
        let Some(a) = stack.pop() else { return false };
        let Some(node) = a.pending().and_then(|c| c.node().map(|n| n.clone())) else { continue };
        if node.makes_windows() || overlaps(&node, a.rank()) {
            return true;
        }
        if matches!(node.role(), Role::Elementwise | Role::Move) {
            stack.extend(node.inputs().iter().cloned());
        }
    }
    false
}

/// Whether an array is as many parts side by side as the axis has places, few of them: its fold is
/// the operation between the parts.
fn is_joint(y: &Array, axis: usize) -> bool {
    /// The most parts.
    const FEW: usize = 4;
    let n = y.shape()[axis];
    let node = y.pending().filter(|_| n <= FEW).and_then(|cell| cell.node());
    node.is_some_and(|node| {
        let facts = node.facts();
        facts.joins() && facts.axis() == Some(axis as u8) && facts.inputs().len() == n
    })
}

impl Cx<'_> {
    /// `op/` along an axis of a uniform array.
    pub fn reduce(&mut self, op: Op, y: &Array, axis: usize) -> Result<Array> {
        if y.rank() == 0 {
            return Ok(y.clone());
        }
        let n = y.shape()[axis];
        let mut shape: Shape = y.shape().into();
        shape.remove(axis);
        if n == 0 {
            let unit = op.identity().ok_or_else(|| {
                domain(format!("{}/ of nothing: {} has no identity", op.glyph(), op.glyph()))
            })?;
            return self.apply_move(&Array::num(unit), Move::spread(&[], &shape));
        }
        if n == 1 {
            return self.apply_move(y, Move::drop_axis(y.shape(), axis));
        }
        if y.frame().is_some() {
            return self.framed_reduce(op, y, axis);
        }
        if y.is_char() {
            if op == Op::Eq || op == Op::Ne {
                return self.fold_host(op, y, axis, shape);
            }
            return Err(domain(format!("{}/ takes numbers, not characters", op.glyph())));
        }
        let singles;
        let y = match self.adds_singles(op, y) {
            // A sum of f32 is of f32.
            true => {
                singles = self.map1(Op::Conj, y)?;
                &singles
            }
            false => y,
        };
        let record = self.leaves_hand(&[y], y.len());
        if op == Op::Sub && (record || n > 2) {
            // -/ is +/ of alternating signs.
            let signed = self.alternating(y, axis)?;
            return self.reduce(Op::Add, &signed, axis);
        }
        if record && op.is_associative() && n <= TAPS && (is_window(y) || is_joint(y, axis)) {
            return self.taps(op, y, axis, shape);
        }
        if record && op.is_associative() {
            let (dtype, range) = self.reduced(op, y.dtype(), super::known(y).1, n);
            let node = Node::Reduce(kinds::Reduce { op, axis: axis as u8, src: y.settled() });
            return self.cell(node, shape, (dtype, range));
        }
        if record {
            return self.record_ordered(op, y, axis, shape);
        }
        self.fold_host(op, y, axis, shape)
    }

    /// `+/x×y` along the last axis of arrays of one shape, of which one may be a number: an inner
    /// product, whose sum takes its products unrounded where there are many, by `op`
    /// (`prim::reduce`).
    pub fn dot(&mut self, op: Op, x: &Array, y: &Array) -> Result<Array> {
        let whole = if x.rank() == 0 { y } else { x };
        let axis = whole.rank() - 1;
        if !self.fuses(op, x, y, whole.shape()[axis]) {
            let products = self.map2(Op::Mul, x, y)?;
            return self.reduce(Op::Add, &products, axis);
        }
        if x.frame().is_some() || y.frame().is_some() {
            return self.framed_dot(op, x, y);
        }
        if self.leaves_hand(&[x, y], whole.len()) {
            let products = self.map2(op, x, y)?;
            return self.reduce(Op::Add, &products, axis);
        }
        let (dtype, range) = self.result(op, &[super::known(x), super::known(y)]);
        let (dtype, _) = self.reduced(Op::Add, dtype, range, whole.shape()[axis]);
        self.dot_host(op, x, y, dtype)
    }

    /// True of a sum of n products that takes them unrounded: of at most `LANES` that are not in
    /// order it has none to take, and complex numbers have no such product. A product of f32 is one
    /// of numbers that f32 holds.
    fn fuses(&self, op: Op, x: &Array, y: &Array, n: usize) -> bool {
        let real = |a: &Array| !a.is_complex() && !a.is_char();
        let facts = [x, y].map(|a| (super::known(a).0, a.rank() == 0));
        let single = facts.iter().any(|(dtype, _)| *dtype == DType::F32);
        let double = facts.contains(&(DType::F64, false));
        let short = facts.iter().all(|(dtype, number)| {
            *number || matches!(dtype, DType::F32 | DType::Bool | DType::I8 | DType::I16)
        });
        n > if op == Op::Mac { 0 } else { LANES }
            && real(x)
            && real(y)
            // Under ⎕FR a product of f64 is rounded before it is added.
            && (!self.sys.settings.single || single && !double)
            && (!single || double || short)
    }

    /// `dot` on the host, to a sum of that type.
    pub(in crate::eval) fn dot_host(
        &mut self,
        op: Op,
        x: &Array,
        y: &Array,
        dtype: DType,
    ) -> Result<Array> {
        let (x, y) = (self.ready(x, "product")?, self.ready(y, "product")?);
        let whole = if x.rank() == 0 { &y } else { &x };
        let (n, mut shape) = (whole.shape()[whole.rank() - 1], Shape::from(whole.shape()));
        shape.pop();
        let mut out = self.budget().filled(0.0, whole.len() / n)?;
        let (xs, ys) = (super::lanes(&x, self.budget())?, super::lanes(&y, self.budget())?);
        let (xs, ys) = (xs.src()?, ys.src()?);
        let mut ticks = self.budget().ticks();
        for (bunch, out) in out.chunks_mut(BUNCH).enumerate() {
            ticks.spend(n * out.len())?;
            let part = |of, row: usize, rows: usize| match of {
                Src::One(x) => Src::One(x),
                Src::Many(items) => Src::Many(&items[row * n..][..rows * n]),
            };
            let first = bunch * BUNCH;
            let (x, y) = (part(xs, first, out.len()), part(ys, first, out.len()));
            if self.host.dot((op, dtype), (x, y), n, out) {
                continue;
            }
            for (row, out) in out.iter_mut().enumerate() {
                let (x, y) = (part(x, row, 1), part(y, row, 1));
                let pair = |k| (super::item(x, k), super::item(y, k));
                let sum = reduce::dot(op, pair, n, dtype);
                *out = sum.map_err(|(_, fail)| super::failed(fail))?;
            }
        }
        self.stored(Op::Add, shape, out, dtype)
    }

    /// A fold of a window's axis as operations between the windows' places: each is a shifted read
    /// of the array, so neighbours share what they load. In the fold's own order.
    fn taps(&mut self, op: Op, y: &Array, axis: usize, shape: Shape) -> Result<Array> {
        let numbers: Vec<usize> = (0..y.shape()[axis]).collect();
        let mut items = Vec::with_capacity(2 * numbers.len());
        for k in &numbers {
            let mut read = Read::identity(shape.len());
            read.ix.insert(axis, Ix::constant(*k as i64));
            (axis + 1..=shape.len()).for_each(|a| read.ix[a] = Ix::axis(a - 1));
            let m = Move { name: "⌷", shape: shape.clone(), read, onto: numbers.len() == 1 };
            items.push(self.apply_move(y, m)?);
        }
        let made = RefCell::new((self, items));
        let sum = ordered(op, &numbers, axis + 1 == y.rank(), |x, y| {
            let (cx, items) = &mut *made.borrow_mut();
            let sum = cx.map2(op, &items[x], &items[y])?;
            items.push(sum);
            Ok::<_, Error>(items.len() - 1)
        })?;
        let at = sum.ok_or_else(|| bug!("a window of nothing"))?;
        Ok(made.into_inner().1.swap_remove(at))
    }

    /// Every other place of an axis negated: + of that is - in turn.
    pub fn alternating(&mut self, y: &Array, axis: usize) -> Result<Array> {
        let signs = self.signs(y.shape()[axis])?;
        let signs = self.apply_move(&signs, Move::along(y.shape()[axis], y.shape(), axis))?;
        self.map2(Op::Mul, y, &signs)
    }

    /// 1 ¯1 1 ¯1 …, where it is long as `1-2×2|⍳n`.
    fn signs(&mut self, n: usize) -> Result<Array> {
        if n <= SMALL && !self.sys.records_all() {
            return self.vector((0..n).map(|k| if k % 2 == 0 { 1.0 } else { -1.0 }).collect());
        }
        let iota = self.iota(n, 0.0)?;
        let odd = self.map2(Op::Residue, &Array::num(2.0), &iota)?;
        let twice = self.map2(Op::Mul, &Array::num(2.0), &odd)?;
        self.map2(Op::Sub, &Array::num(1.0), &twice)
    }

    pub(in crate::eval) fn fold_host(
        &mut self,
        op: Op,
        y: &Array,
        axis: usize,
        shape: Shape,
    ) -> Result<Array> {
        let y = self.ready(y, "reduction")?;
        let Data::Dense(buffer) = y.data() else { return Ok(y) };
        let n = y.shape()[axis];
        // A recorded fold of an associative operation has no tolerance either.
        let exact = op.is_associative() || y.is_char() || y.dtype() == DType::F32;
        let ct = if exact { 0.0 } else { self.sys.settings.ct };
        if y.is_complex() {
            return self.fold_complex(op, ct, &y, axis, shape);
        }
        let (dtype, _) = self.reduced(op, y.dtype(), y.dtype().range(), n);
        let taken;
        let items = match y.floats_there() {
            Some(items) => items,
            None => {
                taken = buffer.view().numbers(self.budget())?;
                &taken
            }
        };
        let few = y.len() <= self.hand() && axis + 1 == y.rank();
        // Of truths.
        let least_or_most = match op {
            Op::Lcm if y.dtype() == DType::Bool => Op::Min,
            Op::Gcd if y.dtype() == DType::Bool => Op::Max,
            _ => op,
        };
        if few && let Some(out) = self.folds_of_few((least_or_most, dtype), items, n)? {
            return self.stored(op, shape, out, dtype);
        }
        let out = match reduce::along(op, ct, items, y.shape(), axis, dtype) {
            Err((_, Fail::Complex)) => return self.fold_complex(op, ct, &y, axis, shape),
            out => out.map_err(|(_, f)| super::failed(f))?,
        };
        self.stored(op, shape, out, dtype)
    }

    /// The folds of rows of n numbers by the device's loops. None: they are for the long way.
    fn folds_of_few(
        &mut self,
        op: (Op, DType),
        items: &[f64],
        n: usize,
    ) -> Result<Option<Vec<f64>>> {
        let mut out = self.budget().filled(0.0, items.len() / n)?;
        Ok(self.host.fold(op, items, n, &mut out).then_some(out))
    }
}

/// The dtype and the interval of `op/` over n items. An i32 without an interval may turn out to be
/// beyond i32.
pub(super) fn reduced(
    op: Op,
    dtype: DType,
    range: Option<(f64, f64)>,
    n: usize,
) -> (DType, Option<(f64, f64)>) {
    match op {
        Op::Max | Op::Min => (dtype, range),
        Op::Lcm | Op::Gcd if dtype == DType::Bool => (dtype, range),
        Op::Add if dtype.is_integer() => {
            let sum = range.map(|(lo, hi)| ((lo * n as f64).min(lo), (hi * n as f64).max(hi)));
            match sum.and_then(|(lo, hi)| DType::of_range(lo, hi)) {
                Some(dtype) => (dtype, sum),
                None => (DType::I32, None),
            }
        }
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Ge | Op::Gt | Op::Nand | Op::Nor => {
            (DType::Bool, Some((0.0, 1.0)))
        }
        _ if dtype == DType::F32 => (DType::F32, None),
        Op::Sub | Op::Residue | Op::Lcm | Op::Gcd if dtype.is_integer() => (DType::I32, None),
        _ => (DType::F64, None),
    }
}

/// The same of folds of which some are of no items: what they give is among the results.
pub(super) fn with_identity(op: Op, (dtype, range): Fact) -> Fact {
    let Some(nothing) = op.identity() else { return (dtype, range) };
    let holds = |own: DType| own.range().is_some_and(|(lo, hi)| lo <= nothing && nothing <= hi);
    match (dtype, range) {
        (DType::F32, _) if has_room(nothing) => (dtype, range),
        (own, None) if holds(own) => (dtype, range),
        (own, Some((lo, hi))) if own.is_integer() => {
            let (lo, hi) = (lo.min(nothing), hi.max(nothing));
            DType::of_range(lo, hi).map_or((DType::F64, None), |dtype| (dtype, Some((lo, hi))))
        }
        _ => (DType::F64, None),
    }
}

//! Reductions: in which order a fold takes its elements. The result depends on the extent and on
//! whether the axis is the last one, never on threads, instruction set or fusion.
//!
//! Associative operations (`Op::is_associative`):
//! * Last axis: blocks of `BLOCK` elements. In a block, element i goes into partial i mod `LANES`,
//!   a partial starting as its first element; then partials are halved: i op i+32, i op i+16, …, i
//!   op i+1, where both exist. The blocks' results are folded left to right. So an extent of 3 is
//!   (a0 op a2) op a1.
//! * Any other axis: blocks of `ROWS` places along the axis, each folded left to right, then the
//!   blocks left to right.
//! * Sums of f32 (`is_single`) have blocks of `SINGLES` elements, or of `ROWS` places. In a block
//!   they are added in f32, in partials and from row to row; partials are halved, and blocks added
//!   up, in f64, and the sum is rounded once. So at most 64 elements, or 256 rows, are added in f32
//!   before f64 takes over (`sums_of_singles_are_near`).
//!
//! Sums of products, `X+.×Y` of more than `LANES` places where one is a vector (`Op::Dot`): element
//! i of a block goes into partial i mod `DOTS`, which starts as its first product and takes every
//! other one unrounded, by a fused multiply-add of f64, or of f32 where f32 is added. Processors
//! and GPUs do twice as much so as by a product and a sum, and a sum is nearer. A product of
//! matrices keeps the partials of many results in registers. Of at most `LANES` places the products
//! are rounded, one in each of so many partials, and there is nothing to fuse.
//!
//! Where X and Y are matrices, or arrays of more axes (`Op::Mac`), sums are taken as along any axis
//! but the last, of few places as of many: blocks of `ROWS`, each from left to right, unrounded. A
//! result is then one number of a register and not two registers, and a product of matrices goes on
//! for 8 × 24 results with as many numbers loaded as make 3 × 4 of partials.
//!
//! All others are folded right to left, as APL says. Of an extent of 1 the item itself, of 0 the
//! identity.

use super::op::Op;
use super::scalar::complex::blocks::{self, Bare};
use super::scalar::{Fail, complex, eval, eval_as};
use crate::array::DType;
use aplomb_ground::error;
use aplomb_ground::limits::Ticks;
use num_complex::Complex64;
use std::convert::Infallible;

/// Elements of a block along the last axis.
pub const BLOCK: usize = 65_536;
/// The same where sums are of f32.
pub const SINGLES: usize = 4_096;
/// Partial results of a block along the last axis.
pub const LANES: usize = 64;
/// The same of a sum that takes products unrounded.
pub const DOTS: usize = 16;
/// Places of a block along any other axis.
pub const ROWS: usize = 256;

const NO_IDENTITY: Fail = Fail::Domain("this function has no identity for an empty axis");

/// Halves partials `0..n` (at most `LANES`) into the first. Always inlined: a caller's step on
/// registers has that caller's instructions only where it is part of it.
#[inline(always)]
pub fn halve<T: Copy, E>(
    part: &mut [T],
    mut op: impl FnMut(T, T) -> Result<T, E>,
) -> Result<(), E> {
    let mut n = part.len().min(LANES);
    // Wider steps find no pair.
    let mut half = n.next_power_of_two() / 2;
    while half > 0 {
        let (low, high) = part[..n].split_at_mut(half);
        for (x, y) in low.iter_mut().zip(&*high) {
            *x = op(*x, *y)?;
        }
        n = half;
        half /= 2;
    }
    Ok(())
}

/// Whether a fold adds f32 in f32; `dtype` is that of its result.
pub fn is_single(op: Op, dtype: DType) -> bool {
    op == Op::Add && dtype == DType::F32
}

/// Elements of a block along the last axis of a fold.
pub fn block_of(op: Op, dtype: DType) -> usize {
    if is_single(op, dtype) { SINGLES } else { BLOCK }
}

/// One block of the last axis: `op` takes elements into partials, `end` halves these.
pub fn block<T: Copy + Default, E>(
    items: &[T],
    mut op: impl FnMut(T, T) -> Result<T, E>,
    end: impl FnMut(T, T) -> Result<T, E>,
) -> Result<T, E> {
    let mut part = [T::default(); LANES];
    let n = items.len().min(LANES);
    part[..n].copy_from_slice(&items[..n]);
    for row in items[n..].chunks(LANES) {
        for (sum, &x) in part.iter_mut().zip(row) {
            *sum = op(*sum, x)?;
        }
    }
    halve(&mut part[..n], end)?;
    Ok(part[0])
}

/// Left to right; at least one.
pub fn chain<T, E>(
    items: impl IntoIterator<Item = T>,
    mut op: impl FnMut(T, T) -> Result<T, E>,
) -> Result<Option<T>, E> {
    let mut out = None;
    for x in items {
        out = Some(match out {
            None => x,
            Some(sum) => op(sum, x)?,
        });
    }
    Ok(out)
}

/// The fold of `items` along an axis, to a result of that type, which is not yet rounded to it;
/// `last`: the axis is the last of its array.
pub fn fold(op: Op, ct: f64, items: &[f64], last: bool, dtype: DType) -> Result<f64, Fail> {
    if is_single(op, dtype) {
        let bare = |x, y| Ok::<_, Infallible>(added(x, y));
        let Ok(sum) = tree(items, last, SINGLES, bare, |x, y| Ok(x + y));
        if let Some(x) = sum.filter(|x| x.is_finite()) {
            return Ok(x);
        }
        let (short, long) =
            (|x, y| eval_as(DType::F32, Op::Add, 0.0, x, y), |x, y| eval(Op::Add, 0.0, x, y));
        let sum = tree(items, last, SINGLES, short, long)?;
        return sum.or_else(|| op.identity()).ok_or(NO_IDENTITY);
    }
    if let Some(x) = plain(op, items, last).filter(|x| x.is_finite()) {
        return Ok(x);
    }
    ordered(op, items, last, |x, y| eval(op, ct, x, y))?
        .or_else(|| op.identity())
        .ok_or(NO_IDENTITY)
}

/// The folds of the beginnings of a list along the last axis: each is what `fold` gives of these
/// items, from the partials of the one before.
pub struct Beginnings<'a> {
    op: Op,
    ct: f64,
    items: &'a [f64],
    /// The items that are taken.
    taken: usize,
    /// The fold of the blocks that are full.
    before: Option<f64>,
    part: [f64; LANES],
}

impl<'a> Beginnings<'a> {
    /// None: the folds are no partials of f64.
    pub fn new(op: Op, ct: f64, items: &'a [f64], dtype: DType) -> Option<Beginnings<'a>> {
        let fits = op.is_associative() && !is_single(op, dtype) && op.identity().is_some();
        let part = [0.0; LANES];
        fits.then_some(Beginnings { op, ct, items, taken: 0, before: None, part })
    }

    /// The fold of the first items, as many as those of the call before or more; of fewer they are
    /// taken anew. None: a step fails. Errors: INTERRUPT.
    pub fn fold(&mut self, count: usize, ticks: &mut Ticks) -> error::Result<Option<f64>> {
        if count < self.taken {
            (self.taken, self.before) = (0, None);
        }
        ticks.spend(1 + LANES + count - self.taken)?;
        let (op, ct) = (self.op, self.ct);
        let sum = match op {
            // What overflows is not finite, which whoever asks looks at.
            Op::Add => self.taken_to(count, |x, y| Ok(x + y)),
            op => self.taken_to(count, |x, y| eval(op, ct, x, y)),
        };
        Ok(sum.ok().flatten())
    }

    fn taken_to(
        &mut self,
        count: usize,
        step: impl Fn(f64, f64) -> Result<f64, Fail> + Copy,
    ) -> Result<Option<f64>, Fail> {
        for &x in &self.items[self.taken..count] {
            let at = self.taken % BLOCK;
            let own = &mut self.part[at % LANES];
            *own = if at < LANES { x } else { step(*own, x)? };
            self.taken += 1;
            if at + 1 == BLOCK {
                let block = halved(self.part, LANES, step)?;
                self.before = Some(self.before.map_or(Ok(block), |sum| step(sum, block))?);
            }
        }
        let open = self.taken % BLOCK;
        let last = match open {
            0 => None,
            _ => Some(halved(self.part, open.min(LANES), step)?),
        };
        match (self.before, last) {
            (Some(sum), Some(last)) => step(sum, last).map(Some),
            (sum, last) => Ok(sum.or(last).or_else(|| self.op.identity())),
        }
    }
}

/// The fold of the first partials.
fn halved(
    mut part: [f64; LANES],
    n: usize,
    step: impl FnMut(f64, f64) -> Result<f64, Fail>,
) -> Result<f64, Fail> {
    halve(&mut part[..n], step)?;
    Ok(part[0])
}

/// Partials of a block of a sum along the last axis of what `op` gives, of more than `LANES`
/// elements where it takes products unrounded.
pub fn partials(op: Op) -> usize {
    match op {
        Op::Mac => 1,
        Op::Dot => DOTS,
        _ => LANES,
    }
}

/// The sum of the products of n pairs along the last axis, which `op` takes unrounded, to a result
/// of that type, which is not yet rounded to it. Errors: the failure, and whether it is a
/// product's, by its place.
pub fn dot(
    op: Op,
    pair: impl Fn(usize) -> (f64, f64),
    n: usize,
    dtype: DType,
) -> Result<f64, (Option<usize>, Fail)> {
    let single = dtype == DType::F32;
    let short = if single { DType::F32 } else { DType::F64 };
    let end = |x, y| eval(Op::Add, 0.0, x, y).map_err(|fail| (None, fail));
    let (size, lanes) = match op {
        Op::Dot if n <= LANES => (block_of(Op::Add, dtype), LANES),
        Op::Mac => (ROWS, partials(op)),
        _ => (block_of(Op::Add, dtype), partials(op)),
    };
    if n == 0 {
        return Ok(0.0);
    }
    let of_block = |first: usize| {
        let places = first..n.min(first + size);
        let (mut part, wide) = ([-0.0; LANES], places.len().min(lanes));
        for i in places {
            let ((x, y), sum) = (pair(i), &mut part[(i - first) % lanes]);
            let fused = fused(single, x, y, *sum);
            *sum = match fused.is_finite() {
                true => fused,
                false => {
                    let product =
                        eval_as(short, Op::Mul, 0.0, x, y).map_err(|fail| (Some(i), fail))?;
                    eval_as(short, Op::Add, 0.0, *sum, product).map_err(|fail| (None, fail))?
                }
            };
        }
        halve(&mut part[..wide], end)?;
        Ok(part[0])
    };
    let mut sum = of_block(0)?;
    for first in (size..n).step_by(size) {
        sum = end(sum, of_block(first)?)?;
    }
    Ok(sum)
}

/// `x×y+sum`, rounded once: to f32, as these are, or to f64.
#[inline]
pub fn fused(single: bool, x: f64, y: f64, sum: f64) -> f64 {
    match single {
        true => f64::from((x as f32).mul_add(y as f32, sum as f32)),
        false => x.mul_add(y, sum),
    }
}

/// The same of complex items: one order for both.
pub fn fold_complex(op: Op, ct: f64, items: &[Complex64], last: bool) -> Result<Complex64, Fail> {
    if op.is_associative() {
        let bare = blocks::visit(op, Complexes { items, last }).flatten();
        if let Some(z) = bare.filter(|z| z.is_finite()) {
            return Ok(z);
        }
    }
    let folded = ordered(op, items, last, |x, y| complex::eval(op, ct, x, y))?;
    folded.or_else(|| op.identity().map(Complex64::from)).ok_or(NO_IDENTITY)
}

/// The tree of complex items with the bare operation.
struct Complexes<'a> {
    items: &'a [Complex64],
    last: bool,
}

impl Bare for Complexes<'_> {
    type Out = Option<Complex64>;

    fn by(self, f: impl Fn(Complex64, Complex64) -> Complex64 + Copy) -> Option<Complex64> {
        let op = |x, y| Ok::<_, Infallible>(f(x, y));
        let Ok(z) = tree(self.items, self.last, BLOCK, op, op);
        z
    }
}

/// The fold of a row in the order that gives its bits: right to left, or from block to block where
/// `op` is associative. None of no items. Its step is the caller's, so that recorded, complex and
/// real folds have one order.
pub fn ordered<T, E>(
    op: Op,
    items: &[T],
    last: bool,
    f: impl Fn(T, T) -> Result<T, E> + Copy,
) -> Result<Option<T>, E>
where
    T: Copy + Default,
{
    if op.is_associative() {
        tree(items, last, BLOCK, f, f)
    } else {
        chain(items.iter().rev().copied(), |right, left| f(left, right))
    }
}

/// Blocks of so many elements by `op`, all else by `end`.
fn tree<T, E>(
    items: &[T],
    last: bool,
    size: usize,
    op: impl Fn(T, T) -> Result<T, E> + Copy,
    end: impl Fn(T, T) -> Result<T, E> + Copy,
) -> Result<Option<T>, E>
where
    T: Copy + Default,
{
    if last && (1..=size).contains(&items.len()) {
        return block(items, op, end).map(Some);
    }
    if last {
        let blocks = items.chunks(size).map(|b| block(b, op, end));
        return chain(blocks.collect::<Result<Vec<_>, _>>()?, end);
    }
    let blocks = items.chunks(ROWS).filter_map(|b| chain(b.iter().copied(), op).transpose());
    chain(blocks.collect::<Result<Vec<_>, _>>()?, end)
}

/// A sum of f32 in f32; what overflows is not finite, and stays so.
fn added(x: f64, y: f64) -> f64 {
    f64::from(x as f32 + y as f32)
}

/// The same tree with the bare operation, for those whose failures show in the result.
fn plain(op: Op, items: &[f64], last: bool) -> Option<f64> {
    fn sure(items: &[f64], last: bool, op: impl Fn(f64, f64) -> f64 + Copy) -> Option<f64> {
        let op = |x, y| Ok::<_, Infallible>(op(x, y));
        let Ok(x) = tree(items, last, BLOCK, op, op);
        x
    }
    match op {
        Op::Add => sure(items, last, |x, y| x + y),
        Op::Mul => sure(items, last, |x, y| x * y),
        Op::Max => sure(items, last, |x, y| if x > y { x } else { y }),
        Op::Min => sure(items, last, |x, y| if x < y { x } else { y }),
        _ => None,
    }
}

/// `items` of `shape` folded along `axis`. Errors: the failure with the place in the result, the
/// first one.
pub fn along(
    op: Op,
    ct: f64,
    items: &[f64],
    shape: &[usize],
    axis: usize,
    dtype: DType,
) -> Result<Vec<f64>, (usize, Fail)> {
    let inner: usize = shape[axis + 1..].iter().product();
    if inner > 1
        && shape[axis] > 0
        && let Some(out) = rows_folded((op, dtype), items, shape[axis] * inner, inner)
    {
        return Ok(out);
    }
    lines(items, shape, axis, |line, last| fold(op, ct, line, last, dtype))
}

/// The rows of each `size` items, of `inner` items each, folded block after block, each first to
/// last (`tree`). None: the operation is another, or its failure may show in a result.
fn rows_folded(
    (op, dtype): (Op, DType),
    items: &[f64],
    size: usize,
    inner: usize,
) -> Option<Vec<f64>> {
    fn all(
        (items, size, inner): (&[f64], usize, usize),
        op: impl Fn(f64, f64) -> f64,
        end: impl Fn(f64, f64) -> f64,
    ) -> Option<Vec<f64>> {
        let (mut out, mut own) = (Vec::new(), Vec::new());
        for rows in items.chunks_exact(size) {
            let from = out.len();
            for (k, block) in rows.chunks(ROWS * inner).enumerate() {
                own.clear();
                own.extend_from_slice(&block[..inner]);
                for row in block[inner..].chunks_exact(inner) {
                    own.iter_mut().zip(row).for_each(|(sum, x)| *sum = op(*sum, *x));
                }
                match k {
                    0 => out.extend_from_slice(&own),
                    _ => out[from..].iter_mut().zip(&own).for_each(|(sum, x)| *sum = end(*sum, *x)),
                }
            }
        }
        out.iter().fold(true, |all, x| all & x.is_finite()).then_some(out)
    }
    let of = (items, size, inner);
    match op {
        Op::Add if is_single(op, dtype) => all(of, added, |x, y| x + y),
        Op::Add => all(of, |x, y| x + y, |x, y| x + y),
        Op::Mul => all(of, |x, y| x * y, |x, y| x * y),
        Op::Max => {
            let most = |x, y| if x > y { x } else { y };
            all(of, most, most)
        }
        Op::Min => {
            let least = |x, y| if x < y { x } else { y };
            all(of, least, least)
        }
        _ => None,
    }
}

/// `along` of complex items.
pub fn along_complex(
    op: Op,
    ct: f64,
    items: &[Complex64],
    shape: &[usize],
    axis: usize,
) -> Result<Vec<Complex64>, (usize, Fail)> {
    lines(items, shape, axis, |line, last| fold_complex(op, ct, line, last))
}

fn lines<T: Copy + Default>(
    items: &[T],
    shape: &[usize],
    axis: usize,
    fold: impl Fn(&[T], bool) -> Result<T, Fail>,
) -> Result<Vec<T>, (usize, Fail)> {
    let extent = shape[axis];
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let last = axis + 1 == shape.len();
    // There may be very long lines, and none of them.
    if outer * inner == 0 {
        return Ok(Vec::new());
    }
    let mut out = Vec::with_capacity(outer * inner);
    if inner == 1 && extent > 0 {
        for (at, line) in items.chunks_exact(extent).enumerate() {
            out.push(fold(line, last).map_err(|fail| (at, fail))?);
        }
        return Ok(out);
    }
    let mut line = vec![T::default(); extent];
    for at in 0..outer * inner {
        let (a, b) = (at / inner, at % inner);
        for (k, x) in line.iter_mut().enumerate() {
            *x = items[(a * extent + k) * inner + b];
        }
        out.push(fold(&line, last).map_err(|fail| (at, fail))?);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_ground::limits::Budget;

    #[test]
    fn beginnings_are_the_folds_of_what_they_hold() {
        let items: Vec<f64> = (0..BLOCK + 200).map(|k| 0.1 * (k % 97) as f64 - 3.0).collect();
        let some = [0, 1, 2, 63, 64, 65, 128, 1_000, 7, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 130];
        for op in [Op::Add, Op::Max, Op::Min] {
            let mut ticks = Budget::new(u64::MAX).ticks();
            let mut all = Beginnings::new(op, 0.0, &items, DType::F64).expect("partials");
            for count in some {
                let whole = fold(op, 0.0, &items[..count], true, DType::F64).ok();
                let got = all.fold(count, &mut ticks).expect("no interrupt");
                assert_eq!(got.map(f64::to_bits), whole.map(f64::to_bits), "{op:?} {count}");
            }
        }
    }

    #[test]
    fn short_extents_follow_the_stated_tree() {
        let x = [0.1, 0.2, 0.3];
        assert_eq!(fold(Op::Add, 0.0, &x, true, DType::F64), Ok((0.1 + 0.3) + 0.2));
        assert_eq!(fold(Op::Add, 0.0, &x, false, DType::F64), Ok((0.1 + 0.2) + 0.3));
        assert_eq!(fold(Op::Sub, 0.0, &x, true, DType::F64), Ok(0.1 - (0.2 - 0.3)));
        assert_eq!(
            fold(Op::Add, 0.0, &[-0.0], true, DType::F64).map(f64::to_bits),
            Ok((-0.0f64).to_bits())
        );
        assert_eq!(fold(Op::Max, 0.0, &[], true, DType::F64), Ok(f64::MIN));
        assert!(fold(Op::Log, 0.0, &[], true, DType::F64).is_err());
    }

    #[test]
    fn sums_of_whole_numbers_are_exact_at_every_extent() {
        for n in
            [1, 2, 31, 32, 33, 63, 64, 65, 127, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7]
        {
            let items: Vec<f64> = (0..n).map(|k| k as f64).collect();
            let sum = (n * (n - 1) / 2) as f64;
            assert_eq!(fold(Op::Add, 0.0, &items, true, DType::F64), Ok(sum), "{n}");
            assert_eq!(fold(Op::Add, 0.0, &items, false, DType::F64), Ok(sum), "{n}");
            assert_eq!(fold(Op::Max, 0.0, &items, true, DType::F64), Ok(n as f64 - 1.0), "{n}");
        }
    }

    /// The part of a product that rounding takes away is in the sum.
    #[test]
    fn products_are_taken_unrounded() {
        let tiny = f64::EPSILON / 2.0;
        let pairs = |k: usize| match k {
            0 => (1.0 + 2.0 * tiny, 1.0 + 2.0 * tiny),
            DOTS => (-1.0, 1.0 + 4.0 * tiny),
            _ => (0.0, 1.0),
        };
        // The first product is rounded, as it starts a partial.
        assert_eq!(dot(Op::Dot, pairs, LANES + 1, DType::F64), Ok(0.0));
        let turned = |k: usize| pairs(if k == 0 || k == DOTS { DOTS - k } else { k });
        assert_eq!(dot(Op::Dot, turned, LANES + 1, DType::F64), Ok(4.0 * tiny * tiny));
        let few = |k: usize| (f64::from(k as u32) / 3.0, 0.1);
        let items: Vec<f64> = (0..LANES).map(|k| few(k).0 * few(k).1).collect();
        assert_eq!(
            dot(Op::Dot, few, LANES, DType::F64),
            fold(Op::Add, 0.0, &items, true, DType::F64).map_err(|f| (None, f))
        );
        let minus = dot(Op::Dot, |_| (-0.0, 1.0), 200, DType::F64).map(f64::to_bits);
        assert_eq!(minus, Ok((-0.0f64).to_bits()));
        let beyond = dot(Op::Dot, |k| (if k == 99 { 1e300 } else { 1.0 }, 1e300), 200, DType::F64);
        assert_eq!(beyond, Err((Some(99), Fail::Overflow)));
        // In order the second product finds the first; the next block begins with its own.
        let pairs = |k: usize| match k {
            0 => (-1.0, 1.0 + 4.0 * tiny),
            1 => (1.0 + 2.0 * tiny, 1.0 + 2.0 * tiny),
            _ => (0.0, 1.0),
        };
        assert_eq!(dot(Op::Mac, pairs, LANES + 1, DType::F64), Ok(4.0 * tiny * tiny));
        let apart = |k: usize| match k {
            0 => pairs(1),
            ROWS => pairs(0),
            _ => (0.0, 1.0),
        };
        assert_eq!(dot(Op::Mac, apart, 2 * ROWS, DType::F64), Ok(0.0));
    }

    #[test]
    fn along_any_axis() {
        let items: Vec<f64> = (0..24).map(f64::from).collect();
        assert_eq!(
            along(Op::Add, 0.0, &items, &[2, 3, 4], 1, DType::F64).unwrap()[..4],
            [12.0, 15.0, 18.0, 21.0]
        );
        assert_eq!(
            along(Op::Add, 0.0, &items, &[2, 3, 4], 2, DType::F64).unwrap()[..2],
            [6.0, 22.0]
        );
        assert_eq!(along(Op::Mul, 0.0, &[], &[0, 2], 0, DType::F64), Ok(vec![1.0, 1.0]));
        assert_eq!(
            along(Op::Add, 0.0, &[1.0, f64::MAX, 1.0, f64::MAX], &[2, 2], 0, DType::F64),
            Err((1, Fail::Overflow))
        );
    }

    /// Of a million signed numbers, and of positive ones: in units of the rounding of f32, of the
    /// sum of the sizes.
    #[test]
    fn sums_of_singles_are_near() {
        let mut seed = 7u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f64::from((seed >> 40) as f32 / 16_777_216.0)
        };
        let positive: Vec<f64> = (0..1 << 20).map(|_| next()).collect();
        let signed: Vec<f64> = positive.iter().map(|x| f64::from((x - 0.5) as f32)).collect();
        for items in [&positive, &signed] {
            for last in [true, false] {
                let exact: f64 = items.iter().sum();
                let size: f64 = items.iter().map(|x| x.abs()).sum();
                let sum = fold(Op::Add, 0.0, items, last, DType::F32).unwrap();
                let error = (sum - exact).abs() / size;
                assert!(error < 2.0 * f64::from(f32::EPSILON) / 64.0, "{error}");
                assert_ne!(sum, exact);
            }
        }
    }
}

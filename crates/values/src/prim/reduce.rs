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
//!
//! All others are folded right to left, as APL says. Of an extent of 1 the item itself, of 0 the
//! identity.

use super::op::Op;
use super::scalar::{Fail, complex, eval};
use num_complex::Complex64;
use std::convert::Infallible;

/// Elements of a block along the last axis.
pub const BLOCK: usize = 65_536;
/// Partial results of a block along the last axis.
pub const LANES: usize = 64;
/// Places of a block along any other axis.
pub const ROWS: usize = 256;

const NO_IDENTITY: Fail = Fail::Domain("this function has no identity for an empty axis");

/// Halves partials `0..n` (at most `LANES`) into the first.
pub fn halve<T: Copy, E>(
    part: &mut [T],
    mut op: impl FnMut(T, T) -> Result<T, E>,
) -> Result<(), E> {
    let mut n = part.len().min(LANES);
    // Wider steps find no pair.
    let mut half = n.next_power_of_two() / 2;
    while half > 0 {
        for k in 0..n.saturating_sub(half).min(half) {
            part[k] = op(part[k], part[k + half])?;
        }
        n = n.min(half);
        half /= 2;
    }
    Ok(())
}

/// One block of the last axis, 1 to `BLOCK` elements.
pub fn block<T: Copy + Default, E>(
    items: &[T],
    mut op: impl FnMut(T, T) -> Result<T, E>,
) -> Result<T, E> {
    let mut part = [T::default(); LANES];
    let n = items.len().min(LANES);
    part[..n].copy_from_slice(&items[..n]);
    for row in items[n..].chunks(LANES) {
        for (sum, &x) in part.iter_mut().zip(row) {
            *sum = op(*sum, x)?;
        }
    }
    halve(&mut part[..n], op)?;
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

/// The fold of `items` along an axis; `last`: the axis is the last of its array.
pub fn fold(op: Op, ct: f64, items: &[f64], last: bool) -> Result<f64, Fail> {
    if let Some(x) = plain(op, items, last).filter(|x| x.is_finite()) {
        return Ok(x);
    }
    ordered(op, items, last, |x, y| eval(op, ct, x, y))?
        .or_else(|| op.identity())
        .ok_or(NO_IDENTITY)
}

/// The same of complex items: one order for both.
pub fn fold_complex(op: Op, ct: f64, items: &[Complex64], last: bool) -> Result<Complex64, Fail> {
    let folded = ordered(op, items, last, |x, y| complex::eval(op, ct, x, y))?;
    folded.or_else(|| op.identity().map(Complex64::from)).ok_or(NO_IDENTITY)
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
        tree(items, last, f)
    } else {
        chain(items.iter().rev().copied(), |right, left| f(left, right))
    }
}

fn tree<T, E>(
    items: &[T],
    last: bool,
    op: impl Fn(T, T) -> Result<T, E> + Copy,
) -> Result<Option<T>, E>
where
    T: Copy + Default,
{
    if last && (1..=BLOCK).contains(&items.len()) {
        return block(items, op).map(Some);
    }
    if last {
        return chain(
            items.chunks(BLOCK).map(|b| block(b, op)).collect::<Result<Vec<_>, _>>()?,
            op,
        );
    }
    let blocks = items.chunks(ROWS).filter_map(|b| chain(b.iter().copied(), op).transpose());
    chain(blocks.collect::<Result<Vec<_>, _>>()?, op)
}

/// The same tree with the bare operation, for those whose failures show in the result.
fn plain(op: Op, items: &[f64], last: bool) -> Option<f64> {
    fn sure(items: &[f64], last: bool, op: impl Fn(f64, f64) -> f64 + Copy) -> Option<f64> {
        let Ok(x) = tree(items, last, |x, y| Ok::<_, Infallible>(op(x, y)));
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
) -> Result<Vec<f64>, (usize, Fail)> {
    lines(items, shape, axis, |line, last| fold(op, ct, line, last))
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
    let mut line = vec![T::default(); extent];
    let mut out = Vec::with_capacity(outer * inner);
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

    #[test]
    fn short_extents_follow_the_stated_tree() {
        let x = [0.1, 0.2, 0.3];
        assert_eq!(fold(Op::Add, 0.0, &x, true), Ok((0.1 + 0.3) + 0.2));
        assert_eq!(fold(Op::Add, 0.0, &x, false), Ok((0.1 + 0.2) + 0.3));
        assert_eq!(fold(Op::Sub, 0.0, &x, true), Ok(0.1 - (0.2 - 0.3)));
        assert_eq!(fold(Op::Add, 0.0, &[-0.0], true).map(f64::to_bits), Ok((-0.0f64).to_bits()));
        assert_eq!(fold(Op::Max, 0.0, &[], true), Ok(f64::MIN));
        assert!(fold(Op::Log, 0.0, &[], true).is_err());
    }

    #[test]
    fn sums_of_whole_numbers_are_exact_at_every_extent() {
        for n in
            [1, 2, 31, 32, 33, 63, 64, 65, 127, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7]
        {
            let items: Vec<f64> = (0..n).map(|k| k as f64).collect();
            let sum = (n * (n - 1) / 2) as f64;
            assert_eq!(fold(Op::Add, 0.0, &items, true), Ok(sum), "{n}");
            assert_eq!(fold(Op::Add, 0.0, &items, false), Ok(sum), "{n}");
            assert_eq!(fold(Op::Max, 0.0, &items, true), Ok(n as f64 - 1.0), "{n}");
        }
    }

    #[test]
    fn along_any_axis() {
        let items: Vec<f64> = (0..24).map(f64::from).collect();
        assert_eq!(
            along(Op::Add, 0.0, &items, &[2, 3, 4], 1).unwrap()[..4],
            [12.0, 15.0, 18.0, 21.0]
        );
        assert_eq!(along(Op::Add, 0.0, &items, &[2, 3, 4], 2).unwrap()[..2], [6.0, 22.0]);
        assert_eq!(along(Op::Mul, 0.0, &[], &[0, 2], 0), Ok(vec![1.0, 1.0]));
        assert_eq!(
            along(Op::Add, 0.0, &[1.0, f64::MAX, 1.0, f64::MAX], &[2, 2], 0),
            Err((1, Fail::Overflow))
        );
    }
}

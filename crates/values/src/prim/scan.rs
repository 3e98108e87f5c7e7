//! Scans: in which order a running fold takes its elements. The result depends on the extent alone.
//!
//! Blocks of `BLOCK` places along the axis, each folded left to right from its first item; what
//! stands before a block, the blocks' totals folded left to right, is then put in front of each of
//! its items. So short scans are the plain running fold, and long ones can be run by several
//! threads with the same bits.

use super::op::Op;
use super::scalar::{Fail, eval};
use super::short::two;
use crate::array::around;

/// Places of a block along the axis.
pub const BLOCK: usize = 4_096;

/// Whether prefixes of `op` are a running fold. The last two are on booleans only.
pub fn runs(op: Op, bools: bool) -> bool {
    op.is_associative() || bools && matches!(op, Op::Ne | Op::Eq)
}

/// `x op y` as every scan does it. Folds have no ⎕CT.
#[inline(always)]
pub fn step(op: Op, x: f64, y: f64) -> Result<f64, Fail> {
    let value = match op {
        Op::Add => x + y,
        Op::Mul => x * y,
        Op::Max if !x.is_nan() && !y.is_nan() => return Ok(if x > y { x } else { y }),
        Op::Min if !x.is_nan() && !y.is_nan() => return Ok(if x < y { x } else { y }),
        // By the short way, which leaves what fails to the long one.
        op => return two(op, 0.0, x, y).map_or_else(|| eval(op, 0.0, x, y), Ok),
    };
    if value.is_finite() || !x.is_finite() || !y.is_finite() {
        Ok(value)
    } else {
        Err(Fail::Overflow)
    }
}

/// Items that `quick` takes at a time, so that what has to be done again is short.
const SOME: usize = 64;

/// Items behind a sum made running folds, without a look at each; the last of them. None, and
/// nothing is changed: it is another operation, or one of the steps may be more than arithmetic.
///
/// Why a look at the end is enough: a sum or product that is once no number is none ever after, and
/// a choice of numbers without a NaN is one of them.
fn quick(op: Op, items: &mut [f64; SOME], sum: f64) -> Option<f64> {
    #[inline(always)]
    fn run(items: &mut [f64; SOME], mut sum: f64, f: impl Fn(f64, f64) -> f64) -> [f64; SOME] {
        items.map(|x| {
            sum = f(sum, x);
            sum
        })
    }
    let numbers = |all: &[f64; SOME]| !all.iter().fold(sum.is_nan(), |no, x| no | x.is_nan());
    let done = match op {
        Op::Add => run(items, sum, |x, y| x + y),
        Op::Mul => run(items, sum, |x, y| x * y),
        Op::Max if numbers(items) => run(items, sum, |x, y| if x > y { x } else { y }),
        Op::Min if numbers(items) => run(items, sum, |x, y| if x < y { x } else { y }),
        _ => return None,
    };
    let last = done[SOME - 1];
    let fine = last.is_finite() || matches!(op, Op::Max | Op::Min);
    fine.then(|| *items = done)?;
    Some(last)
}

/// The scan along an axis, in place. A failure is told with its element and goes on as 0.
pub fn along(
    op: Op,
    items: &mut [f64],
    shape: &[usize],
    axis: usize,
    fail: &mut dyn FnMut(usize, Fail),
) {
    let (outer, n, inner) = around(shape, axis);
    for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
        let place = |k: usize| (o * n + k) * inner + i;
        let mut before: Option<f64> = None;
        for first in (0..n).step_by(BLOCK) {
            let end = (first + BLOCK).min(n);
            let mut sum = items[place(first)];
            let mut last = sum;
            let mut quickly = first + 1;
            while inner == 1
                && quickly < end
                && let Some(some) = items[place(quickly)..place(end)].first_chunk_mut()
                && let Some(now) = quick(op, some, sum)
            {
                (sum, last, quickly) = (now, now, quickly + SOME);
            }
            for k in first..end {
                let mut put = |x: Result<f64, Fail>| {
                    x.unwrap_or_else(|f| {
                        fail(place(k), f);
                        0.0
                    })
                };
                let own = match k < quickly {
                    true if before.is_none() => continue,
                    true => items[place(k)],
                    false => {
                        sum = put(step(op, sum, items[place(k)]));
                        sum
                    }
                };
                last = match before {
                    None => own,
                    Some(x) => put(step(op, x, own)),
                };
                items[place(k)] = last;
            }
            before = Some(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_is_the_fold_of_each_prefix_whatever_its_blocks() {
        let n = 2 * BLOCK + 17;
        let items: Vec<f64> = (0..2 * n).map(|k| ((k * 7919) % 1013) as f64 - 500.0).collect();
        for (shape, axis) in [(vec![2 * n], 0), (vec![2, n], 1), (vec![n, 2], 0)] {
            for op in [Op::Add, Op::Max, Op::Min] {
                let mut out = items.clone();
                along(op, &mut out, &shape, axis, &mut |_, _| panic!("nothing fails"));
                let (outer, n, inner) = around(&shape, axis);
                for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
                    let at = |k: usize| (o * n + k) * inner + i;
                    let mut sum = items[at(0)];
                    for k in 0..n {
                        if k > 0 {
                            sum = step(op, sum, items[at(k)]).expect("finite");
                        }
                        assert_eq!(out[at(k)], sum);
                    }
                }
            }
        }
    }

    /// Two columns are scanned item by item, one in stretches.
    #[test]
    fn stretches_are_what_their_items_are_one_by_one() {
        let odd = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e308, -1e308, 0.0, -0.0];
        let mut seed = 7_u64;
        let mut roll = |n: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n
        };
        for _ in 0..400 {
            let long = roll(20) == 0;
            let n = 1 + roll(if long { 2 * BLOCK + 200 } else { 300 });
            let rare = 1 + roll(200);
            let one = |roll: &mut dyn FnMut(usize) -> usize| match roll(rare) {
                0 => odd[roll(odd.len())],
                _ => roll(9) as f64 - 4.0,
            };
            let items: Vec<f64> = (0..n).map(|_| one(&mut roll)).collect();
            for op in [Op::Add, Op::Mul, Op::Max, Op::Min, Op::Ne, Op::Gcd] {
                let mut twice: Vec<f64> = items.iter().flat_map(|x| [*x, *x]).collect();
                let (mut out, mut failed, mut failed_there) = (items.clone(), vec![], vec![]);
                along(op, &mut out, &[n], 0, &mut |k, f| failed.push((k, f)));
                along(op, &mut twice, &[n, 2], 0, &mut |k, f| failed_there.push((k, f)));
                failed_there.retain(|(k, _)| k % 2 == 0);
                failed_there.iter_mut().for_each(|(k, _)| *k /= 2);
                assert_eq!(failed, failed_there, "{op:?} {items:?}");
                let same =
                    out.iter().zip(twice.chunks(2)).all(|(x, y)| x.to_bits() == y[0].to_bits());
                assert!(same, "{op:?} {items:?}");
            }
        }
    }

    #[test]
    fn what_overflows_is_told_with_its_element() {
        let mut failed = Vec::new();
        let mut items = [1e308, 1e308, -1.0];
        along(Op::Add, &mut items, &[3], 0, &mut |k, f| failed.push((k, f)));
        assert_eq!(failed, [(1, Fail::Overflow)]);
    }
}

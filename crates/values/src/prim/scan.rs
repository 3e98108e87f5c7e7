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
            let (mut sum, mut last) = (items[place(first)], 0.0);
            for k in first..(first + BLOCK).min(n) {
                let mut put = |x: Result<f64, Fail>| {
                    x.unwrap_or_else(|f| {
                        fail(place(k), f);
                        0.0
                    })
                };
                if k > first {
                    sum = put(step(op, sum, items[place(k)]));
                }
                last = match before {
                    None => sum,
                    Some(x) => put(step(op, x, sum)),
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

    #[test]
    fn what_overflows_is_told_with_its_element() {
        let mut failed = Vec::new();
        let mut items = [1e308, 1e308, -1.0];
        along(Op::Add, &mut items, &[3], 0, &mut |k, f| failed.push((k, f)));
        assert_eq!(failed, [(1, Fail::Overflow)]);
    }
}

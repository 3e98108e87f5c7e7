//! A number that changes by one item after the other: what it comes to, or all that it was.
//!
//! The steps are `short::two`'s in the order of the items. Whole numbers of 32 bits are added up
//! exactly whatever the order is, and what is greatest or least of them is so in any; sums and
//! products of floats stay in theirs, without a look at each: no step gives a finite number of one
//! that is not.

use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::short::two;

/// Items between two looks at the interrupt.
const LOOK: usize = 1 << 16;
/// Sums side by side.
const LANES: usize = 8;

/// True where a sum of `LOOK` items, whole numbers of 32 bits or not, is exact from there on.
fn is_exact((start, whole): (f64, bool)) -> bool {
    whole && start.fract() == 0.0 && start.abs() <= 2f64.powi(51)
}

/// True where the greatest of items and where they start from is so in any order: neither has a
/// zero with a sign.
fn is_ordered((start, whole): (f64, bool)) -> bool {
    whole && start.is_finite() && start.to_bits() != (-0.0f64).to_bits()
}

/// The last value, from a start and items that are whole numbers of 32 bits or not. None: a step
/// fails. Errors: INTERRUPT.
pub(super) fn fold(
    op: Op,
    ct: f64,
    (mut now, whole): (f64, bool),
    items: &[f64],
    budget: &Budget,
) -> Result<Option<f64>> {
    for some in items.chunks(LOOK) {
        budget.check()?;
        let Some(next) = fold_some(op, ct, (now, whole), some) else { return Ok(None) };
        now = next;
    }
    Ok(Some(now))
}

fn fold_some(op: Op, ct: f64, from: (f64, bool), items: &[f64]) -> Option<f64> {
    let (start, whole) = (from.0, is_ordered(from));
    let quick = match op {
        _ if items.is_empty() => Some(start),
        Op::Add if is_exact(from) => Some(start + lanes(items, 0.0, |x, y| x + y)),
        Op::Max if whole => Some(start.max(lanes(items, items[0], f64::max))),
        Op::Min if whole => Some(start.min(lanes(items, items[0], f64::min))),
        Op::Add => Some(items.iter().fold(start, |x, y| x + y)),
        Op::Sub => Some(items.iter().fold(start, |x, y| x - y)),
        Op::Mul => Some(items.iter().fold(start, |x, y| x * y)),
        _ => None,
    };
    let each = || items.iter().try_fold(start, |x, y| two(op, ct, x, *y));
    quick.filter(|x| x.is_finite()).or_else(each)
}

/// Items by a function whose order does not matter.
fn lanes(items: &[f64], unit: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
    let (chunks, rest) = items.as_chunks::<LANES>();
    let mut all = [unit; LANES];
    for chunk in chunks {
        for (x, y) in all.iter_mut().zip(chunk) {
            *x = f(*x, *y);
        }
    }
    all.iter().chain(rest).fold(unit, |x, y| f(x, *y))
}

/// Each item becomes the value behind it, from a start as for `fold`. None: a step fails, and items
/// are anything. Errors: INTERRUPT.
pub(super) fn scan(
    op: Op,
    ct: f64,
    (mut now, whole): (f64, bool),
    items: &mut [f64],
    budget: &Budget,
) -> Result<Option<()>> {
    for some in items.chunks_mut(LOOK) {
        budget.check()?;
        if scan_some(op, ct, (now, whole), some).is_none() {
            return Ok(None);
        }
        now = some[some.len() - 1];
    }
    Ok(Some(()))
}

fn scan_some(op: Op, ct: f64, from: (f64, bool), items: &mut [f64]) -> Option<()> {
    let (mut now, whole) = (from.0, is_ordered(from));
    match op {
        Op::Add if is_exact(from) => {
            let mut sum = now as i64;
            for x in items {
                sum += *x as i64;
                *x = sum as f64;
            }
        }
        Op::Max if whole => items.iter_mut().for_each(|x| {
            now = if *x > now { *x } else { now };
            *x = now;
        }),
        Op::Min if whole => items.iter_mut().for_each(|x| {
            now = if *x < now { *x } else { now };
            *x = now;
        }),
        _ => {
            for x in items {
                now = two(op, ct, now, *x)?;
                *x = now;
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{LOOK, fold, scan};
    use aplomb_ground::limits::Budget;
    use aplomb_values::prim::op::Op;
    use aplomb_values::prim::short::two;

    #[test]
    fn quick_ways_are_step_after_step() {
        let budget = Budget::new(u64::MAX);
        let n = LOOK as u32 + 37;
        let whole: Vec<f64> = (0..n).map(|k| f64::from((k % 9_973) * 7919 % 101) - 50.0).collect();
        let floats: Vec<f64> = whole.iter().map(|x| x * 0.1 + 1e-3).collect();
        let large = vec![1e308; 5];
        for op in [Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min, Op::Div, Op::Residue] {
            for (items, is_whole) in [(&whole, true), (&whole, false), (&floats, false)] {
                for start in [0.0, -0.0, 3.0, -2.5, 1e9, f64::NAN] {
                    let mut now = Some(start);
                    let mut wanted = Vec::new();
                    for x in items {
                        now = now.and_then(|now| two(op, 1e-14, now, *x));
                        wanted.extend(now.map(f64::to_bits));
                    }
                    let from = (start, is_whole);
                    let made = fold(op, 1e-14, from, items, &budget).expect("no interrupt");
                    assert_eq!(made.map(f64::to_bits), now.map(f64::to_bits), "{op:?} {start}");
                    let mut all = items.clone();
                    let made = scan(op, 1e-14, from, &mut all, &budget).expect("no interrupt");
                    if made.is_some() {
                        let all: Vec<u64> = all.iter().map(|x| x.to_bits()).collect();
                        assert_eq!(all, wanted, "{op:?} {start}");
                    } else {
                        assert!(now.is_none(), "{op:?} {start}");
                    }
                }
            }
            let step = large.iter().try_fold(1.0, |x, y| two(op, 1e-14, x, *y));
            let made = fold(op, 1e-14, (1.0, false), &large, &budget).expect("no interrupt");
            assert_eq!(made, step, "{op:?}");
        }
    }
}

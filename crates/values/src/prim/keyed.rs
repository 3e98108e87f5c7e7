//! Folds of groups whose items come mixed, in one walk: each group has its partials at hand.
//!
//! The order is that of a row as long as the group (`reduce`): the group's k-th item goes into its
//! partial k mod `LANES`, and at the end of a block partials are halved and added to the blocks
//! before. A partial begins as what changes nothing instead of as its first item, which gives the
//! same bits.

use super::op::Op;
use super::reduce::{BLOCK, LANES, halve};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use std::convert::Infallible;

/// An operation of two numbers.
type Step = fn(f64, f64) -> f64;

/// The partials of groups.
pub struct Keyed {
    op: Op,
    start: f64,
    parts: Vec<f64>,
    counts: Vec<u32>,
    /// The folds of the blocks before; of a group with none nobody reads it.
    blocks: Vec<f64>,
}

/// The groups whose partials stay in the second cache.
pub const MOST: usize = 1024;

/// The bytes for so many groups.
pub const fn bytes(groups: usize) -> usize {
    groups * (LANES + 3) * size_of::<f64>()
}

impl Keyed {
    /// So many groups, each of nothing yet. None: the operation shows its failures elsewhere than
    /// in its result. Errors: WS FULL.
    pub fn new(op: Op, groups: usize, budget: &Budget) -> Result<Option<Keyed>> {
        let start = match op {
            Op::Add => -0.0,
            Op::Mul => 1.0,
            Op::Max => f64::NEG_INFINITY,
            Op::Min => f64::INFINITY,
            _ => return Ok(None),
        };
        let (parts, counts) = (budget.filled(start, groups * LANES)?, budget.filled(0, groups)?);
        let blocks = budget.filled(0.0, groups)?;
        Ok(Some(Keyed { op, start, parts, counts, blocks }))
    }

    /// The next items, each with its group.
    pub fn take<T: Copy + Into<f64>>(&mut self, items: &[T], of: &[u32]) {
        match self.op {
            Op::Add => self.walk(items, of, |x, y| x + y),
            Op::Mul => self.walk(items, of, |x, y| x * y),
            Op::Max => self.walk(items, of, |x, y| if x > y { x } else { y }),
            _ => self.walk(items, of, |x, y| if x < y { x } else { y }),
        }
    }

    fn walk<T: Copy + Into<f64>>(
        &mut self,
        items: &[T],
        of: &[u32],
        op: impl Fn(f64, f64) -> f64 + Copy,
    ) {
        for (x, &group) in items.iter().zip(of) {
            let group = group as usize;
            let count = self.counts[group] as usize;
            if count.is_multiple_of(BLOCK) && count > 0 {
                self.end(group, BLOCK, op);
            }
            let part = &mut self.parts[group * LANES + count % LANES];
            *part = op(*part, (*x).into());
            self.counts[group] = count as u32 + 1;
        }
    }

    /// The end of a block of so many items.
    fn end(&mut self, group: usize, items: usize, op: impl Fn(f64, f64) -> f64) {
        let parts = &mut self.parts[group * LANES..(group + 1) * LANES];
        let Ok(()) = halve(&mut parts[..items.min(LANES)], |x, y| Ok::<_, Infallible>(op(x, y)));
        let block = parts[0];
        parts.fill(self.start);
        let first = self.counts[group] as usize <= BLOCK;
        self.blocks[group] = if first { block } else { op(self.blocks[group], block) };
    }

    /// The fold of each group, of which each has items. None: one is no finite number, and who
    /// knows where it failed.
    pub fn ends(mut self) -> Option<Vec<f64>> {
        let op: Step = match self.op {
            Op::Add => |x, y| x + y,
            Op::Mul => |x, y| x * y,
            Op::Max => |x, y| if x > y { x } else { y },
            _ => |x, y| if x < y { x } else { y },
        };
        for group in 0..self.counts.len() {
            let left = (self.counts[group] as usize).checked_sub(1)? % BLOCK + 1;
            self.end(group, left, op);
        }
        self.blocks.iter().all(|x| x.is_finite()).then_some(self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::super::reduce::fold;
    use super::*;
    use crate::array::DType;

    fn keyed(op: Op, groups: usize) -> Option<Keyed> {
        Keyed::new(op, groups, &Budget::new(1 << 20)).unwrap()
    }

    #[test]
    fn mixed_groups_fold_as_rows_do() {
        let mut seed = 5u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f64::from((seed >> 40) as u32) / 7e6 - 1.0
        };
        // One group of more than two blocks, others of a few items, of one, of a row's lanes.
        let sizes = [2 * BLOCK + 77, 1, 3, LANES, LANES + 1, BLOCK, BLOCK + 1];
        let groups: Vec<Vec<f64>> =
            sizes.iter().map(|n| (0..*n).map(|_| next()).collect()).collect();
        let (mut items, mut of) = (Vec::new(), Vec::new());
        for k in 0..sizes[0] {
            for (group, own) in groups.iter().enumerate() {
                if let Some(x) = own.get(k) {
                    items.push(*x);
                    of.push(group as u32);
                }
            }
        }
        for op in [Op::Add, Op::Max, Op::Min] {
            let mut keyed = keyed(op, groups.len()).unwrap();
            // In pieces of any length.
            for (items, of) in items.chunks(999).zip(of.chunks(999)) {
                keyed.take(items, of);
            }
            for (own, group) in keyed.ends().unwrap().into_iter().zip(&groups) {
                let row = fold(op, 0.0, group, true, DType::F64).unwrap();
                assert_eq!(own.to_bits(), row.to_bits(), "{op:?} of {}", group.len());
            }
        }
    }

    #[test]
    fn a_sum_that_is_too_large_has_no_ends() {
        let mut keyed = keyed(Op::Add, 1).unwrap();
        keyed.take(&[f64::MAX, f64::MAX], &[0, 0]);
        assert!(keyed.ends().is_none());
        assert!(self::keyed(Op::Gcd, 1).is_none());
    }
}

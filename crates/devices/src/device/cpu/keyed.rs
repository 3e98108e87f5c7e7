//! Folds of groups whose items come mixed, for `⌸`: a group's items are brought together and folded
//! while they are near, and stand nowhere side by side for all groups.
//!
//! | items | strategy | measured |
//! |---|---|---|
//! | those of a part that stays near, or all of few | counted by groups, put side by side as f64, and each group folded where it lies | – |
//! | more | to parts first, each of groups that follow each other (`grouped`), by all threads; then a thread takes a part | sums of 4 million by 250 000 groups: 49 ms for the line, 60 by a launch of segments |
//!
//! The order is that of a row as long as the group (`reduce`), whatever part it is in: items of a
//! group keep theirs on the way.

use super::convert::{Source, with_type};
use super::grouped::{LOOK, Parts, Sorted};
use super::share::{Apart, each_unit};
use super::{Cpu, DeviceError, RunCtx};
use crate::pool::lock;
use aplomb_ground::limits::Budget;
use aplomb_values::array::{DType, View};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::{LANES, fold, halve};
use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Items that are near together with their groups: they need no parts.
const NEAR: usize = 1 << 15;
/// Items of a part: as many as are near while they are put side by side.
const PART: usize = 1 << 16;

/// A thread's own: items side by side, and of each group where its next one goes.
struct Desk {
    items: Vec<f64>,
    next: Vec<u32>,
}

impl Desk {
    /// For so many items and groups. Errors: WS FULL.
    fn new(items: usize, groups: usize, budget: &Budget) -> aplomb_ground::error::Result<Desk> {
        Ok(Desk { items: budget.filled(0.0, items)?, next: budget.filled(0, groups)? })
    }

    /// The fold of each group; `of` numbers them from `first` on, and none is without an item.
    /// False: a group is none of these, its fold is no finite number, or somebody interrupts.
    fn folded<T: Copy + Into<f64>>(
        &mut self,
        op: Op,
        items: &[T],
        (of, first): (&[u32], usize),
        out: &mut [f64],
        stopped: impl Fn() -> bool,
    ) -> bool {
        let Some(next) = self.next.get_mut(..out.len()) else { return false };
        next.fill(0);
        for of in of.chunks(LOOK) {
            for &group in of {
                match next.get_mut((group as usize).wrapping_sub(first)) {
                    Some(count) => *count += 1,
                    None => return false,
                }
            }
            if stopped() {
                return false;
            }
        }
        let mut place = 0;
        for next in &mut *next {
            place += std::mem::replace(next, place);
        }
        let to = &mut self.items[..items.len()];
        for (items, of) in items.chunks(LOOK).zip(of.chunks(LOOK)) {
            for (&x, &group) in items.iter().zip(of) {
                let next = &mut next[group as usize - first];
                let place = std::mem::replace(next, *next + 1);
                to[place as usize] = x.into();
            }
            if stopped() {
                return false;
            }
        }
        // What was the place of the next item is the end now.
        let rows = Rows { items: &mut self.items, ends: next, out };
        match op {
            Op::Add => rows.folded(op, |x, y| x + y),
            Op::Mul => rows.folded(op, |x, y| x * y),
            Op::Max => rows.folded(op, |x, y| if x > y { x } else { y }),
            Op::Min => rows.folded(op, |x, y| if x < y { x } else { y }),
            _ => false,
        }
    }
}

/// Rows side by side, which end where it says.
struct Rows<'a> {
    items: &'a mut [f64],
    ends: &'a [u32],
    out: &'a mut [f64],
}

impl Rows<'_> {
    /// False: a row is empty, or its fold is no finite number.
    fn folded(self, op: Op, step: impl Fn(f64, f64) -> f64 + Copy) -> bool {
        let (mut from, mut good) = (0, true);
        for (&end, out) in self.ends.iter().zip(self.out) {
            let row = &mut self.items[from..end as usize];
            from = end as usize;
            *out = match row.len() {
                0 => return false,
                1..=LANES => {
                    let Ok(()) = halve(row, |x, y| Ok::<_, Infallible>(step(x, y)));
                    row[0]
                }
                _ => match fold(op, 0.0, row, true, DType::F64) {
                    Ok(x) => x,
                    Err(_) => return false,
                },
            };
            good &= out.is_finite();
        }
        good
    }
}

impl Cpu {
    /// The fold of each of so many groups, in f64: `of` is the group of each item, and each has
    /// one. None: the operation is none that folds so, a fold is no finite number, these are
    /// complex numbers, or groups and items do not belong together. Errors: no room, an interrupt.
    pub fn keyed(
        &mut self,
        op: Op,
        items: View<'_>,
        (of, groups): (&[u32], usize),
        ctx: &RunCtx,
    ) -> Result<Option<Vec<f64>>, DeviceError> {
        let n = of.len();
        let source = Source::of(items).filter(|s| s.len == n && s.dtype != DType::Char);
        let Some(Source { at: from, dtype, .. }) = source else { return Ok(None) };
        if !matches!(op, Op::Add | Op::Mul | Op::Max | Op::Min) || groups > n {
            return Ok(None);
        }
        let mut out = ctx.budget.filled(0.0, groups).map_err(DeviceError::Oom)?;
        let stopped = || ctx.interrupt.is_set();
        if n <= NEAR {
            let mut desk = Desk::new(n, groups, ctx.budget).map_err(DeviceError::Oom)?;
            let good = with_type!(dtype, T => {
                // SAFETY: the view's items, which are as many as have a group.
                let items = unsafe { std::slice::from_raw_parts(from.cast::<T>(), n) };
                desk.folded(op, items, (of, 0), &mut out, stopped)
            });
            return Ok(good.then_some(out));
        }
        let runs = self.threads.count();
        let Some(parts) = Parts::among(groups, n / PART + 2 * runs) else { return Ok(None) };
        let Some(sorted) = self.sorted((from, dtype), of, parts, ctx)? else { return Ok(None) };
        let Sorted { items: mut sorted, groups: mut own, starts } = sorted;
        let part = |k: usize| starts[k] as usize..starts[k + 1] as usize;
        let most = (0..parts.count).map(|k| part(k).len()).fold(0, usize::max);
        let desks =
            (0..runs).map(|_| Desk::new(most, 1 << parts.shift, ctx.budget).map(Mutex::new));
        let desks: Vec<_> = desks.collect::<Result<_, _>>().map_err(DeviceError::Oom)?;
        let (sorted, own) = (Apart(sorted.as_mut_ptr()), Apart(own.as_mut_ptr()));
        let to = Apart(out.as_mut_ptr().cast());
        let failed = AtomicBool::new(false);
        each_unit(&mut self.threads, parts.count, true, ctx, &|k, worker| {
            let (part, groups) = (part(k), parts.groups(k, groups));
            let first = groups.start;
            // SAFETY: all runs have come; what is written is this part's alone.
            let good = with_type!(dtype, T => unsafe {
                let items = std::slice::from_raw_parts(sorted.at::<T>(part.start), part.len());
                let of = std::slice::from_raw_parts(own.at::<u32>(part.start), part.len());
                let out = std::slice::from_raw_parts_mut(to.at::<f64>(first), groups.len());
                lock(&desks[worker]).folded(op, items, (of, first), out, stopped)
            });
            if !good {
                failed.store(true, Ordering::Relaxed);
            }
        })?;
        Ok((!failed.into_inner()).then_some(out))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Dice;
    use super::*;
    use aplomb_ground::limits::Interrupt;

    #[test]
    fn groups_fold_as_rows_do_however_they_are_mixed() {
        let (budget, interrupt) = (Budget::new(1 << 30), Interrupt::default());
        let ctx = RunCtx {
            interrupt: &interrupt,
            budget: &budget,
            timed: false,
            libraries: true,
            abreast: true,
        };
        let mut dice = Dice(7);
        for (n, groups) in [(1, 1), (900, 60), (NEAR, 300), (NEAR + 9, 300), (5 * NEAR, 9_000)] {
            // One group has half of the items, so that some have a few and one has thousands.
            let mut of: Vec<u32> = (0..n)
                .map(|_| if dice.roll(2) == 0 { 0 } else { dice.roll(groups) as u32 })
                .collect();
            (0..groups.min(n)).for_each(|g| of[n - 1 - g] = g as u32);
            let items: Vec<f64> = (0..n).map(|_| dice.roll(2_000_001) as f64 / 7e6 - 0.1).collect();
            let mut rows = vec![Vec::new(); groups];
            of.iter().zip(&items).for_each(|(&g, &x)| rows[g as usize].push(x));
            for op in [Op::Add, Op::Max, Op::Min] {
                let want: Vec<u64> = rows
                    .iter()
                    .map(|row| fold(op, 0.0, row, true, DType::F64).unwrap().to_bits())
                    .collect();
                for threads in [1, 2, 3] {
                    let made = Cpu::new(threads).keyed(op, View::F64(&items), (&of, groups), &ctx);
                    let made: Vec<u64> =
                        made.unwrap().unwrap().into_iter().map(f64::to_bits).collect();
                    assert!(made == want, "{op:?} {n} {groups} {threads}");
                }
            }
            // A group that is none, one more item than groups say, and a sum that is too large.
            let mut wrong = of.clone();
            wrong[n / 2] = groups as u32;
            let large = vec![f64::MAX; n];
            for (of, items) in [(&wrong, &items[..]), (&of, &items[1..]), (&of, &large)] {
                let made = Cpu::new(2).keyed(Op::Add, View::F64(items), (of, groups), &ctx);
                assert!(made.unwrap().is_none() || n == 1 && items[0] == f64::MAX);
            }
        }
    }
}

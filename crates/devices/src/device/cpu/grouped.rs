//! Items brought together by groups, for `⌸`: a group's items side by side, in their order.
//!
//! | items | strategy | measured |
//! |---|---|---|
//! | many | each thread has a run of the items: it counts them by groups, knows then where its first of each group goes, and puts them there | means of 1000 groups of 1 million: 4.5 ms for the line, 6.1 by one thread |
//! | more than stay near, of many groups | by way of parts, each of groups that follow each other: items go behind the last of their part first, and then, a part at a time, to their places | sums of 4 million by 250 000 groups: 58 ms for the line, 67 without parts |
//!
//! The place of an item hangs on its group and on how many of that group stand before it, so the
//! runs may be cut anywhere, and several threads write at once. In a part the items are in their
//! order, as runs are put there one behind the other, so its groups are filled in that order, too.
//! Why parts: with many groups nearly each item goes to a line of memory of its own, and the
//! machine waits for it. Parts are so few that the ends of all stay in the first cache, and one is
//! no more of the result than the second one holds.

use super::convert::{Source, with_type};
use super::share::{Apart, each_unit};
use super::{Cpu, DeviceError, RunCtx};
use crate::pool::{PoolBuffer, lock};
use aplomb_values::array::{DType, View};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Items from which on threads share.
const MANY: usize = 1 << 16;

/// Items between two looks at the interrupt.
pub(super) const LOOK: usize = 1 << 14;

/// Bytes of a result that are not near.
const FAR: usize = 4 << 20;

/// Parts of a result: the ends of all are near.
const PARTS: usize = 128;

/// Items, their groups, and where the next of each group goes.
struct Run<'a> {
    from: &'a Apart,
    of: &'a [u32],
    range: Range<usize>,
    next: &'a mut [u32],
}

impl Run<'_> {
    /// # Safety
    /// `from` points to as many items of this type as `of` has, and `to` to as many places; each
    /// group is one of `next`, which are places in the result that are this run's alone.
    unsafe fn put<T: Copy>(self, to: &Apart, stopped: impl Fn() -> bool) {
        for start in self.range.clone().step_by(LOOK) {
            if stopped() {
                return;
            }
            for k in start..self.range.end.min(start + LOOK) {
                // SAFETY: as above.
                unsafe {
                    let next = self.next.get_unchecked_mut(*self.of.get_unchecked(k) as usize);
                    let place = std::mem::replace(next, *next + 1);
                    *to.at::<T>(place as usize) = *self.from.at::<T>(k);
                }
            }
        }
    }
}

/// Parts of a result: of each group the part, by a shift, and how many there are.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub shift: u32,
    pub count: usize,
}

impl Parts {
    /// The parts of a result of so many bytes, in groups; None: it is near, or has no more groups
    /// than parts.
    fn of(bytes: usize, groups: usize) -> Option<Parts> {
        if bytes >= FAR { Parts::among(groups, PARTS) } else { None }
    }

    /// So many parts of groups, or up to twice as many. None: there are no more groups than parts.
    pub fn among(groups: usize, parts: usize) -> Option<Parts> {
        let shift = (groups / parts).checked_ilog2()?;
        Some(Parts { shift, count: groups.div_ceil(1 << shift) })
    }

    /// The groups of a part.
    pub fn groups(self, part: usize, groups: usize) -> Range<usize> {
        part << self.shift..groups.min((part + 1) << self.shift)
    }
}

/// Items on their way by parts, each with its group.
struct Way<'a> {
    items: &'a Apart,
    groups: &'a Apart,
    parts: Parts,
}

/// Items by parts, each part's in their order, with the group of each; and where parts begin, and
/// the last one ends.
pub(super) struct Sorted {
    pub items: PoolBuffer,
    pub groups: PoolBuffer,
    pub starts: Vec<u32>,
}

impl Way<'_> {
    /// A run's items behind the last of their parts, where `ends` says.
    ///
    /// # Safety
    /// `from` has as many items as `of`, both sides are of that length, each group has a part, and
    /// the ends of a part have room for the run's items of it.
    unsafe fn sort<T: Copy>(&self, run: Run, stopped: impl Fn() -> bool) {
        // What is written could be a pointer, for all that is known where these are read.
        // SAFETY: the first places.
        let (items, groups) = unsafe { (self.items.at::<T>(0), self.groups.at::<u32>(0)) };
        let (from, shift, next) = (unsafe { run.from.at::<T>(0) }, self.parts.shift, run.next);
        for start in run.range.clone().step_by(LOOK) {
            if stopped() {
                return;
            }
            for k in start..run.range.end.min(start + LOOK) {
                // SAFETY: the caller says so.
                unsafe {
                    let group = *run.of.get_unchecked(k);
                    let end = next.get_unchecked_mut((group >> shift) as usize);
                    let place = std::mem::replace(end, *end + 1) as usize;
                    *items.add(place) = *from.add(k);
                    *groups.add(place) = group;
                }
            }
        }
    }

    /// A part's items to their places, where it begins and its groups end. False: they are not
    /// those that these ends speak of.
    ///
    /// # Safety
    /// All of the part's items have come, which are of its groups; `to` has places up to the last
    /// end, and these are the part's alone.
    unsafe fn put<T: Copy>(&self, to: &Apart, groups: Range<usize>, ends: &[u32]) -> bool {
        let before = groups.start.checked_sub(1).map_or(0, |g| ends[g]);
        let own = &ends[groups.clone()];
        let Some((&last, inner)) = own.split_last() else { return true };
        let mut next: Vec<u32> = std::iter::once(before).chain(inner.iter().copied()).collect();
        for k in before..last {
            // SAFETY: the caller says so.
            unsafe {
                let group = *self.groups.at::<u32>(k as usize) as usize - groups.start;
                let next = next.get_unchecked_mut(group);
                if *next >= last {
                    return false;
                }
                *to.at::<T>(*next as usize) = *self.items.at::<T>(k as usize);
                *next += 1;
            }
        }
        next == own
    }
}

impl Cpu {
    /// Items group after group: `of` is the group of each, `ends` the end of each group in the
    /// result. None: threads gain nothing, these are complex numbers, or groups and items do not
    /// belong together. Errors: no room, an interrupt.
    pub fn grouped(
        &mut self,
        items: View<'_>,
        of: &[u32],
        ends: &[u32],
        ctx: &RunCtx,
    ) -> Result<Option<PoolBuffer>, DeviceError> {
        let (n, groups) = (items.len(), ends.len());
        let Some(Source { at: from, dtype, .. }) = Source::of(items) else { return Ok(None) };
        if of.len() == n
            && let Some(parts) = Parts::of(n * dtype.size(), groups)
        {
            return self.by_parts((from, dtype), of, ends, parts, ctx);
        }
        // Tables of counts that are as large as the items cost more than threads gain.
        let runs = self.threads.count();
        if runs < 2 || n < MANY || groups.saturating_mul(4) > n || of.len() != n {
            return Ok(None);
        }
        let room = (runs * groups * size_of::<u32>()) as u64;
        let _held = ctx.budget.charge(room).map_err(DeviceError::Oom)?;
        let tables = self.counted(of, Parts { shift: 0, count: groups }, ctx)?;
        let range = |run: usize| n * run / runs..n * (run + 1) / runs;
        // Of counts, where each run's first of a group goes.
        let mut held: Vec<_> = tables.iter().map(lock).collect();
        let mut place = 0;
        for (g, &end) in ends.iter().enumerate() {
            for table in &mut held {
                place += std::mem::replace(&mut table[g], place);
            }
            if place != end {
                return Ok(None);
            }
        }
        drop(held);
        // An item of no group was not counted.
        if place as usize != n {
            return Ok(None);
        }
        let mut made = self.pool.buffer(dtype, n, ctx.budget).map_err(DeviceError::Oom)?;
        let (to, from) = (Apart(made.as_mut_ptr()), Apart(from.cast_mut()));
        each_unit(&mut self.threads, runs, true, ctx, &|run, _| {
            let next = &mut **lock(&tables[run]);
            let run = Run { from: &from, of, range: range(run), next };
            let stopped = || ctx.interrupt.is_set();
            // SAFETY: every group was looked at; the places of a run's groups end where the next
            // run's begin, and the last where the group ends.
            with_type!(dtype, T => unsafe { run.put::<T>(&to, stopped) });
        })?;
        Ok(Some(made))
    }

    /// The items of each part in the run of each thread; those of no part are not counted.
    fn counted(
        &mut self,
        of: &[u32],
        parts: Parts,
        ctx: &RunCtx,
    ) -> Result<Vec<Mutex<Vec<u32>>>, DeviceError> {
        let (n, runs) = (of.len(), self.threads.count());
        let table = |_| ctx.budget.filled(0u32, parts.count).map(Mutex::new);
        let tables: Vec<_> =
            (0..runs).map(table).collect::<Result<_, _>>().map_err(DeviceError::Oom)?;
        each_unit(&mut self.threads, runs, true, ctx, &|run, _| {
            let counts = &mut *lock(&tables[run]);
            let own = &of[n * run / runs..n * (run + 1) / runs];
            for some in own.chunks(LOOK).take_while(|_| !ctx.interrupt.is_set()) {
                for &g in some {
                    if let Some(count) = counts.get_mut((g >> parts.shift) as usize) {
                        *count += 1;
                    }
                }
            }
        })?;
        Ok(tables)
    }

    /// Items by parts, by all threads. None: an item is of no group, and so maybe of no part.
    pub(super) fn sorted(
        &mut self,
        (from, dtype): (*const u8, DType),
        of: &[u32],
        parts: Parts,
        ctx: &RunCtx,
    ) -> Result<Option<Sorted>, DeviceError> {
        let (n, runs, stopped) = (of.len(), self.threads.count(), || ctx.interrupt.is_set());
        let tables = self.counted(of, parts, ctx)?;
        // Of counts, where each run's first of a part goes.
        let (mut place, mut starts) = (0, vec![0]);
        for part in 0..parts.count {
            for table in &tables {
                place += std::mem::replace(&mut lock(table)[part], place);
            }
            starts.push(place);
        }
        if place as usize != n {
            return Ok(None);
        }
        let buffer =
            |cpu: &Cpu, dtype| cpu.pool.buffer(dtype, n, ctx.budget).map_err(DeviceError::Oom);
        let (mut items, mut groups) = (buffer(self, dtype)?, buffer(self, DType::I32)?);
        let from = Apart(from.cast_mut());
        let (to, own) = (Apart(items.as_mut_ptr()), Apart(groups.as_mut_ptr()));
        let way = Way { items: &to, groups: &own, parts };
        each_unit(&mut self.threads, runs, true, ctx, &|run, _| {
            let next = &mut **lock(&tables[run]);
            let range = n * run / runs..n * (run + 1) / runs;
            // SAFETY: every group's part was looked at, and a run's items of a part were counted.
            with_type!(dtype, T => unsafe {
                way.sort::<T>(Run { from: &from, of, range, next }, stopped);
            });
        })?;
        Ok(Some(Sorted { items, groups, starts }))
    }

    /// The same by way of parts.
    fn by_parts(
        &mut self,
        (from, dtype): (*const u8, DType),
        of: &[u32],
        ends: &[u32],
        parts: Parts,
        ctx: &RunCtx,
    ) -> Result<Option<PoolBuffer>, DeviceError> {
        let Some(mut sorted) = self.sorted((from, dtype), of, parts, ctx)? else {
            return Ok(None);
        };
        let ends_there = |part: usize| {
            let last = parts.groups(part, ends.len()).end.checked_sub(1);
            last.is_none_or(|g| ends[g] == sorted.starts[part + 1])
        };
        if !(0..parts.count).all(ends_there) {
            return Ok(None);
        }
        let made = self.pool.buffer(dtype, of.len(), ctx.budget);
        let mut made = made.map_err(DeviceError::Oom)?;
        let to = Apart(made.as_mut_ptr());
        let (items, groups) = (Apart(sorted.items.as_mut_ptr()), Apart(sorted.groups.as_mut_ptr()));
        let way = Way { items: &items, groups: &groups, parts };
        let other = AtomicBool::new(false);
        each_unit(&mut self.threads, parts.count, true, ctx, &|part, _| {
            let own = parts.groups(part, ends.len());
            // SAFETY: all runs have come, and parts end where their last group does.
            if !with_type!(dtype, T => unsafe { way.put::<T>(&to, own, ends) }) {
                other.store(true, Ordering::Relaxed);
            }
        })?;
        Ok((!other.into_inner()).then_some(made))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Dice;
    use super::*;
    use aplomb_ground::limits::{Budget, Interrupt};
    use aplomb_values::array::Storage;

    #[test]
    fn items_stand_by_groups_in_their_order_however_many_threads_there_are() {
        let (budget, interrupt) = (Budget::new(1 << 30), Interrupt::default());
        let ctx = RunCtx {
            interrupt: &interrupt,
            budget: &budget,
            timed: false,
            libraries: true,
            abreast: true,
        };
        let mut dice = Dice(5);
        for (n, groups) in [(MANY, 3), (MANY + 11, 5_000), (FAR / 4 + 7, 5_000)] {
            let of: Vec<u32> = (0..n).map(|_| dice.roll(groups) as u32).collect();
            let items: Vec<i32> = (0..n as i32).collect();
            let mut want: Vec<(u32, i32)> = of.iter().copied().zip(items.clone()).collect();
            want.sort();
            let ends: Vec<u32> =
                (0..groups as u32).map(|g| of.iter().filter(|o| **o <= g).count() as u32).collect();
            for threads in [2, 3] {
                let made = Cpu::new(threads).grouped(View::I32(&items), &of, &ends, &ctx);
                let made = made.unwrap().unwrap();
                let View::I32(made) = made.view() else { panic!("integers") };
                assert!(made.iter().zip(&want).all(|(x, (_, y))| x == y), "{n} {threads}");
            }
            let mut wrong = of.clone();
            wrong[n / 2] = groups as u32;
            for (of, items) in [(&wrong, &items[..]), (&of, &items[1..])] {
                let made = Cpu::new(2).grouped(View::I32(items), of, &ends, &ctx).unwrap();
                assert!(made.is_none());
            }
            let alone = Cpu::new(1).grouped(View::I32(&items), &of, &ends, &ctx).unwrap();
            assert_eq!(alone.is_none(), n * 4 < FAR, "one thread gains nothing where all is near");
        }
    }
}

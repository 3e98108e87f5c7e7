//! Some neighbours in the order of many keys, without an order of all.
//!
//! | step | shared out by |
//! |---|---|
//! | two bounds, from a sample of the keys | – |
//! | keys below, at and between the bounds are counted, those between are copied | stretches |
//! | among them it is looked for where the others stand before and behind | – |
//!
//! Why it is right: the counts tell which places of the order the keys at and between the bounds
//! have, whatever the sample was; if a place that is wanted is none of these, the answer is that
//! nothing was found. The sample only makes it likely that few keys lie between: its own order
//! tells the place of a key to some parts in a hundred. A key that many items have may be a bound,
//! whose copies are counted, not sorted.

use super::isa::Work;
use super::share::{STRETCH, each_unit, stretch};
use super::sorting::{Arranges, Bits};
use super::{Cpu, DeviceError, Isa, RunCtx};
use crate::pool::lock;
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Mutex;

/// Keys below which all are sorted, and keys for one that is wanted.
const LEAST: usize = 4 * STRETCH;
const FEW: usize = 16;
/// Keys of the sample, and how many of them lie between a bound and the place that is looked for:
/// three times what chance moves it by.
const SAMPLE: usize = 4096;
const ASIDE: usize = 3 * 32;

/// The keys of some items beside the bounds.
#[derive(Clone, Copy, Default)]
struct Counts {
    below: usize,
    low: usize,
    between: usize,
    high: usize,
}

/// Keys that are made, then compared one way after the other, so that no comparison is a branch,
/// which nothing could predict.
const ABREAST: usize = 512;

/// The keys of some items block by block, each given to somebody who is part of the loop.
struct Blocks<'a, T, A, F> {
    items: Range<usize>,
    of: &'a A,
    each: F,
    _keys: PhantomData<T>,
}

impl<T: Bits, A: Arranges<T>, F: FnMut(&[T])> Work for Blocks<'_, T, A, F> {
    /// False: the keys do not tell all of each item.
    type Out = bool;

    #[inline(always)]
    fn run(mut self) -> bool {
        let (mut some, mut told) = ([T::LEAST; ABREAST], true);
        for first in self.items.clone().step_by(ABREAST) {
            let some = &mut some[..ABREAST.min(self.items.end - first)];
            told &= self.of.keys(first, some);
            (self.each)(some);
        }
        told
    }
}

/// `Blocks`, by the instructions of a machine.
fn blocks<T: Bits>(
    isa: Isa,
    items: Range<usize>,
    of: &impl Arranges<T>,
    each: impl FnMut(&[T]),
) -> bool {
    isa.run(Blocks { items, of, each, _keys: PhantomData })
}

#[inline(always)]
fn count<T>(keys: &[T], is: impl Fn(&T) -> bool) -> usize {
    keys.iter().map(|key| usize::from(is(key))).sum()
}

impl Counts {
    /// The counts of some keys. None: some do not tell all of their items.
    fn of<T: Bits>(
        isa: Isa,
        keys: Range<usize>,
        of: &impl Arranges<T>,
        (low, high): (T, T),
    ) -> Option<Counts> {
        let (mut below, mut to_low, mut to_high, mut all_high) = (0, 0, 0, 0);
        let told = blocks(isa, keys, of, |some| {
            below += count(some, |key| *key < low);
            to_low += count(some, |key| *key <= low);
            to_high += count(some, |key| *key < high);
            all_high += count(some, |key| *key <= high);
        });
        // One bound is both.
        let to_high = to_high.max(to_low);
        let (low, between, high) = (to_low - below, to_high - to_low, all_high - to_high);
        told.then_some(Counts { below, low, between, high })
    }
}

/// The items of n whose places in their order are wanted, each put at its place among these.
/// None: they are too many for that, or were not found, or some are others than their keys say.
pub fn few<T: Bits>(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (n, wanted): (usize, &Range<usize>),
    of: &impl Arranges<T>,
) -> std::result::Result<Option<usize>, DeviceError> {
    if n < LEAST || wanted.len() * FEW > n || wanted.is_empty() {
        return Ok(None);
    }
    let ((low, high), isa) = (bounds((n, wanted), of), cpu.isa);
    let found = Mutex::new(Ok(Found::default()));
    let threads = each_unit(&mut cpu.threads, n.div_ceil(STRETCH), true, ctx, &|k, _| {
        let keys = stretch(k, n);
        let counts = Counts::of(isa, keys.clone(), of, (low, high));
        // The keys are still near.
        let between = counts.filter(|counts| counts.between > 0);
        let copied = between.map(|c| copied(isa, (keys, c.between), of, (low, high), ctx.budget));
        let mut found = lock(&found);
        let added = match &mut *found {
            Ok(found) => found.add(counts, copied.transpose(), n, ctx.budget),
            Err(_) => return,
        };
        if let Err(full) = added {
            *found = Err(full);
        }
    })?;
    let found = std::mem::replace(&mut *lock(&found), Ok(Found::default()));
    let Found { counts: Some(counts), between: mut some } = found.map_err(DeviceError::Oom)? else {
        return Ok(None);
    };
    // The places in the order at which each kind begins.
    let lows = counts.below;
    let betweens = lows + counts.low;
    let highs = betweens + counts.between;
    let end = highs + counts.high;
    if wanted.start < lows || wanted.end > end || some.len() != counts.between {
        return Ok(None);
    }
    for k in wanted.clone().filter(|k| !(betweens..highs).contains(k)) {
        of.put(k, &[if k < betweens { low } else { high }]);
    }
    let (first, end) = (wanted.start.max(betweens), wanted.end.min(highs));
    if first >= end {
        return Ok(Some(threads));
    }
    of.put(first, chosen(&mut some, first - betweens..end - betweens));
    Ok(Some(threads))
}

/// The items that have such places in the order of some, in order; the places have to be there.
pub fn chosen<T: Ord>(some: &mut [T], wanted: Range<usize>) -> &[T] {
    if wanted.is_empty() {
        return &[];
    }
    // Those before the first that is wanted, then those behind the last, go out of the way.
    some.select_nth_unstable(wanted.start);
    let some = &mut some[wanted.start..];
    if wanted.len() < some.len() {
        some.select_nth_unstable(wanted.len());
    }
    let some = &mut some[..wanted.len()];
    some.sort_unstable();
    some
}

/// The keys of a stretch between the bounds, of which there are so many.
fn copied<T: Bits>(
    isa: Isa,
    (keys, many): (Range<usize>, usize),
    of: &impl Arranges<T>,
    (low, high): (T, T),
    budget: &Budget,
) -> Result<Vec<T>> {
    let mut copied = budget.room(many)?;
    blocks(isa, keys, of, |some| {
        // Each is written, and stays if it lies between: nothing could predict whether it does.
        let (mut own, mut at) = ([T::LEAST; ABREAST], 0);
        for key in some {
            own[at] = *key;
            at += usize::from((low < *key) & (*key < high));
        }
        copied.extend_from_slice(&own[..at]);
    });
    Ok(copied)
}

/// The keys of all stretches beside two bounds.
struct Found<T> {
    /// None: some keys do not tell all of their items.
    counts: Option<Counts>,
    /// The keys between, while they are at most half of all.
    between: Vec<T>,
}

impl<T> Default for Found<T> {
    fn default() -> Self {
        Found { counts: Some(Counts::default()), between: Vec::new() }
    }
}

impl<T: Bits> Found<T> {
    /// Adds those of a stretch of n keys. Errors: WS FULL.
    fn add(
        &mut self,
        counts: Option<Counts>,
        copied: Result<Option<Vec<T>>>,
        n: usize,
        budget: &Budget,
    ) -> Result<()> {
        self.counts = self.counts.zip(counts).map(|(all, own)| Counts {
            below: all.below + own.below,
            low: all.low + own.low,
            between: all.between + own.between,
            high: all.high + own.high,
        });
        let copied = copied?.filter(|own| 2 * (self.between.len() + own.len()) <= n);
        if let Some(copied) = copied {
            budget.widen(&mut self.between, copied.len())?;
            self.between.extend(copied);
        }
        Ok(())
    }
}

/// Two keys between which those that are wanted are likely to be.
fn bounds<T: Bits>((n, wanted): (usize, &Range<usize>), of: &impl Arranges<T>) -> (T, T) {
    let mut sample = [T::LEAST; SAMPLE];
    for (k, key) in sample.iter_mut().enumerate() {
        of.keys(k * n / SAMPLE, std::slice::from_mut(key));
    }
    sample.sort_unstable();
    let place = |k: usize| k * SAMPLE / n;
    let low = place(wanted.start).saturating_sub(ASIDE);
    let high = (place(wanted.end) + ASIDE).min(SAMPLE - 1);
    // The least and the greatest of a sample are not those of all.
    let low = if low == 0 { T::LEAST } else { sample[low] };
    (low, if high == SAMPLE - 1 { T::MOST } else { sample[high] })
}

#[cfg(test)]
mod tests {
    use super::super::tests::Dice;
    use super::*;
    use aplomb_ground::limits::Interrupt;

    /// The keys at those places, or that they were not found.
    fn found(keys: &[u64], wanted: &Range<usize>) -> Option<Vec<u64>> {
        let ctx = RunCtx {
            interrupt: &Interrupt::default(),
            budget: &Budget::new(1 << 30),
            timed: false,
            libraries: false,
            abreast: true,
        };
        let own = Own { keys, out: Mutex::new(vec![None; keys.len()]) };
        let mut cpu = Cpu::with(Isa::best(), 2);
        let ran = few(&mut cpu, &ctx, (keys.len(), wanted), &own).unwrap();
        assert_eq!(ctx.budget.used(), 0);
        let out = own.out.into_inner().unwrap();
        let wanted = || out[wanted.clone()].iter();
        ran.map(|_| wanted().map(|key| key.expect("every place that is wanted")).collect())
    }

    /// Items that are their keys, but for one that hides something.
    struct Own<'a> {
        keys: &'a [u64],
        out: Mutex<Vec<Option<u64>>>,
    }

    const HIDES: u64 = u64::MAX - 1;

    impl Arranges<u64> for Own<'_> {
        fn keys(&self, first: usize, keys: &mut [u64]) -> bool {
            keys.copy_from_slice(&self.keys[first..first + keys.len()]);
            !keys.contains(&HIDES)
        }

        fn put(&self, first: usize, keys: &[u64]) {
            for (out, key) in lock(&self.out)[first..].iter_mut().zip(keys) {
                *out = Some(*key);
            }
        }
    }

    #[test]
    fn a_few_places_of_an_order_are_those_of_the_whole_order() {
        let mut dice = Dice(11);
        let n = LEAST + 777;
        for values in [1, 2, 40, 5_000, 1 << 40] {
            let mut keys: Vec<u64> = (0..n).map(|_| dice.roll(values) as u64).collect();
            keys[77] = u64::MAX;
            keys[n - 1] = 0;
            let mut all = keys.clone();
            all.sort_unstable();
            for first in [0, 1, n / 4, n / 2, n - 9] {
                for many in [1, 2, 9, n / 16] {
                    let wanted = first..(first + many).min(n);
                    let own = found(&keys, &wanted).expect("a fair sample finds them");
                    assert!(own == all[wanted.clone()], "{wanted:?} of {values}");
                }
            }
        }
    }

    #[test]
    fn a_sample_that_misleads_finds_nothing_and_never_something_else() {
        // What the sample sees is far below all that it does not.
        let n = SAMPLE * 32;
        let keys: Vec<u64> =
            (0..n).map(|k| if k % 32 == 0 { k as u64 } else { (n + k) as u64 }).collect();
        assert_eq!(found(&keys, &(n / 2..n / 2 + 1)), None);
        assert_eq!(found(&keys, &(0..n / 15)), None, "as many as are sorted soon");
        assert_eq!(found(&keys[..LEAST - 1], &(5..6)), None, "few keys");
        let mut keys: Vec<u64> = (0..n as u64).collect();
        assert!(found(&keys, &(5..6)).is_some());
        keys[n - 3] = HIDES;
        assert_eq!(found(&keys, &(5..6)), None, "a key that does not tell all of its item");
    }
}

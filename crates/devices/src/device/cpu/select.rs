//! Some neighbours in the order of many keys, without an order of all.
//!
//! | step | shared out by |
//! |---|---|
//! | two bounds, from a sample of the keys | – |
//! | keys below, at and between the bounds are counted | stretches |
//! | those between are copied | stretches |
//! | among them it is looked for where the others stand before and behind | – |
//!
//! Why it is right: the counts tell which places of the order the keys at and between the bounds
//! have, whatever the sample was; if a place that is wanted is none of these, the answer is that
//! nothing was found. The sample only makes it likely that few keys lie between: its own order
//! tells the place of a key to some parts in a hundred. A key that many items have may be a bound,
//! whose copies are counted, not sorted.

use super::share::{STRETCH, each_unit, stretch};
use super::sorting::{Bits, Room};
use super::{Cpu, DeviceError, Isa, RunCtx};
use crate::pool::lock;
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

#[inline(always)]
fn blocks<T: Bits>(keys: Range<usize>, key: impl Fn(usize) -> T, mut each: impl FnMut(&[T])) {
    let mut some = [T::LEAST; ABREAST];
    for first in keys.clone().step_by(ABREAST) {
        let some = &mut some[..ABREAST.min(keys.end - first)];
        some.iter_mut().enumerate().for_each(|(k, own)| *own = key(first + k));
        each(some);
    }
}

/// The same for an instruction set: what is called within is part of each, and so is compiled for
/// it.
macro_rules! blocks {
    ($name:ident, $feature:literal) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $feature)]
        unsafe fn $name<T: Bits>(
            keys: Range<usize>,
            key: impl Fn(usize) -> T,
            each: impl FnMut(&[T]),
        ) {
            blocks(keys, key, each)
        }
    };
}
blocks!(blocks_avx2, "avx2");
blocks!(blocks_avx512, "avx512f,avx512dq,avx512vl,avx512bw");

/// Keys block by block, by the instructions of a machine.
fn blocks_on<T: Bits>(
    isa: Isa,
    keys: Range<usize>,
    key: impl Fn(usize) -> T,
    each: impl FnMut(&[T]),
) {
    match isa {
        // SAFETY: it is the machine's instruction set.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { blocks_avx512(keys, key, each) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { blocks_avx2(keys, key, each) },
        _ => blocks(keys, key, each),
    }
}

#[inline(always)]
fn count<T>(keys: &[T], is: impl Fn(&T) -> bool) -> usize {
    keys.iter().map(|key| usize::from(is(key))).sum()
}

impl Counts {
    fn of<T: Bits>(
        isa: Isa,
        keys: Range<usize>,
        key: impl Fn(usize) -> T,
        (low, high): (T, T),
    ) -> Counts {
        let (mut below, mut to_low, mut to_high, mut all_high) = (0, 0, 0, 0);
        blocks_on(isa, keys, key, |some| {
            below += count(some, |key| *key < low);
            to_low += count(some, |key| *key <= low);
            to_high += count(some, |key| *key < high);
            all_high += count(some, |key| *key <= high);
        });
        // One bound is both.
        let to_high = to_high.max(to_low);
        Counts { below, low: to_low - below, between: to_high - to_low, high: all_high - to_high }
    }
}

/// The keys of n at the places of their order that are wanted: `put` gets each with its place
/// among them. None: they are too many for that, or were not found.
pub fn few<T: Bits>(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (n, wanted): (usize, &Range<usize>),
    key: &(impl Fn(usize) -> T + Sync),
    put: &(impl Fn(usize, &T) + Sync),
) -> Result<Option<usize>, DeviceError> {
    if n < LEAST || wanted.len() * FEW > n || wanted.is_empty() {
        return Ok(None);
    }
    let ((low, high), isa) = (bounds((n, wanted), key), cpu.isa);
    let stretches = n.div_ceil(STRETCH);
    let counts = ctx.budget.filled(Counts::default(), stretches).map_err(DeviceError::Oom)?;
    let counts = Mutex::new(counts);
    let threads = each_unit(&mut cpu.threads, stretches, true, ctx, &|k, _| {
        let own = Counts::of(isa, stretch(k, n), key, (low, high));
        lock(&counts)[k] = own;
    })?;
    let counts = lock(&counts);
    let sum = |of: fn(&Counts) -> usize| counts.iter().map(of).sum::<usize>();
    // The places in the order at which each kind begins.
    let lows = sum(|c| c.below);
    let betweens = lows + sum(|c| c.low);
    let highs = betweens + sum(|c| c.between);
    let end = highs + sum(|c| c.high);
    if wanted.start < lows || wanted.end > end || (highs - betweens) * 2 > n {
        return Ok(None);
    }
    for k in wanted.clone().filter(|k| !(betweens..highs).contains(k)) {
        put(k - wanted.start, if k < betweens { &low } else { &high });
    }
    let (first, end) = (wanted.start.max(betweens), wanted.end.min(highs));
    if first >= end {
        return Ok(Some(threads));
    }
    let some = Room::new(cpu, highs - betweens, ctx)?;
    let next = |sum: &mut usize, c: &Counts| {
        *sum += c.between;
        Some(*sum - c.between)
    };
    let places: Vec<usize> = counts.iter().scan(0, next).collect();
    each_unit(&mut cpu.threads, stretches, true, ctx, &|k, _| {
        // SAFETY: each stretch has places of its own.
        let to = unsafe { some.part(places[k]..places[k] + counts[k].between) };
        let mut at = 0;
        blocks_on(isa, stretch(k, n), key, |some| {
            // Both at once: nothing could predict on which side of a bound a key lies.
            for key in some.iter().filter(|key| (low < **key) & (**key < high)) {
                to[at] = *key;
                at += 1;
            }
        });
    })?;
    // SAFETY: nobody else reads or writes it any more.
    let some = unsafe { some.part(0..highs - betweens) };
    // Those before the first that is wanted, then those behind the last, go out of the way.
    let (first, end) = (first - betweens, end - betweens);
    some.select_nth_unstable(first);
    let some = &mut some[first..];
    if end - first < some.len() {
        some.select_nth_unstable(end - first);
    }
    let some = &mut some[..end - first];
    some.sort_unstable();
    let at = betweens + first - wanted.start;
    some.iter().enumerate().for_each(|(k, key)| put(at + k, key));
    Ok(Some(threads))
}

/// Two keys between which those that are wanted are likely to be.
fn bounds<T: Bits>((n, wanted): (usize, &Range<usize>), key: &impl Fn(usize) -> T) -> (T, T) {
    let mut sample: Vec<T> = (0..SAMPLE).map(|k| key(k * n / SAMPLE)).collect();
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
    use aplomb_ground::limits::{Budget, Interrupt};

    /// The keys at those places, or that they were not found.
    fn found(keys: &[u64], wanted: &Range<usize>) -> Option<Vec<u64>> {
        let ctx = RunCtx {
            interrupt: &Interrupt::default(),
            budget: &Budget::new(1 << 30),
            timed: false,
            libraries: false,
        };
        let out = Mutex::new(vec![None; wanted.len()]);
        let mut cpu = Cpu::with(Isa::best(), 2);
        let put = |k: usize, key: &u64| lock(&out)[k] = Some(*key);
        let ran = few(&mut cpu, &ctx, (keys.len(), wanted), &|k| keys[k], &put).unwrap();
        assert_eq!(ctx.budget.used(), 0);
        let out = out.into_inner().unwrap();
        ran.map(|_| out.into_iter().map(|key| key.expect("every place that is wanted")).collect())
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
    }
}

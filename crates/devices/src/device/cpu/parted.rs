//! Bare keys in order on all cores: parts of the order that fit a core's second cache, each sorted
//! by itself.
//!
//! | step | shared out by |
//! |---|---|
//! | keys are made, and taken apart by splitters | stretches |
//! | what belongs to a part is brought together | stretches |
//! | a part is sorted and given out | parts |
//!
//! Splitters come from a sample, so parts are about as long. A key that many items have may make
//! one part long: it is sorted soon, as equal keys are.

use super::share::{STRETCH, each_unit, stretch};
use super::sorting::{Arranges, Bits, Keys, Put, Room};
use super::{Cpu, DeviceError, Isa, RunCtx};
use aplomb_ground::limits::Budget;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Keys of a part, about.
const PART: usize = 2 * STRETCH;
/// Parts at least for each thread, so that none waits long for the last, and at most in all: a
/// stretch is taken apart in its own cache, to pieces that are worth a copy.
const EACH: usize = 4;
const MOST: usize = 128;
/// Keys of the sample for each part.
const SAMPLE: usize = 64;

/// The n items in order; on how many threads. None: some are others than their keys say.
pub fn in_order<T: Bits>(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    n: usize,
    of: &impl Arranges<T>,
) -> Result<Option<usize>, DeviceError> {
    let (isa, stretches, together) = (cpu.isa, n.div_ceil(STRETCH), n > STRETCH);
    let many = (n / PART).min(MOST).max(EACH * cpu.threads.count());
    let parts = if together { many.next_power_of_two() } else { 1 };
    let splitters = splitters(isa, (n, parts), of, ctx.budget).map_err(DeviceError::Oom)?;
    let told = AtomicBool::new(true);
    let (from, to) = (Room::new(cpu, n, ctx)?, Room::new(cpu, n, ctx)?);
    let counts = Room::<usize>::new(cpu, stretches * parts, ctx)?;
    let row = |k: usize| k * parts..(k + 1) * parts;
    each_unit(&mut cpu.threads, stretches, together, ctx, &|k, _| {
        let own = stretch(k, n);
        // SAFETY: stretches are disjoint, and so are their counts.
        let (keys, other, counts) =
            unsafe { (from.part(own.clone()), to.part(own.clone()), counts.part(row(k))) };
        // Each splitter's level changes sides.
        let even = parts.ilog2().is_multiple_of(2);
        let (keys, other) = if even { (keys, other) } else { (other, keys) };
        if isa.run(Keys(of, own.start, &mut *keys)) {
            apart(isa, keys, other, &splitters, counts);
        } else {
            told.store(false, Relaxed);
        }
    })?;
    if !told.into_inner() {
        return Ok(None);
    }
    // SAFETY: nobody writes them any more.
    let counts = unsafe { counts.all(0..stretches * parts) };
    // Where each stretch's keys of each part go, and where the parts end.
    let mut places = ctx.budget.filled(0, counts.len()).map_err(DeviceError::Oom)?;
    let mut ends = ctx.budget.room(parts).map_err(DeviceError::Oom)?;
    let mut next = 0;
    for part in 0..parts {
        for k in (part..counts.len()).step_by(parts) {
            places[k] = next;
            next += counts[k];
        }
        ends.push(next);
    }
    each_unit(&mut cpu.threads, stretches, together, ctx, &|k, _| {
        let mut first = stretch(k, n).start;
        for (&place, &count) in places[row(k)].iter().zip(&counts[row(k)]) {
            // SAFETY: nobody writes `from` meanwhile, and these places are this stretch's alone.
            unsafe {
                to.part(place..place + count).copy_from_slice(from.all(first..first + count));
            }
            first += count;
        }
    })?;
    let threads = each_unit(&mut cpu.threads, parts, together, ctx, &|part, _| {
        let own = part.checked_sub(1).map_or(0, |before| ends[before])..ends[part];
        // SAFETY: parts are disjoint, and nobody reads `from` any more.
        let (keys, spare) = unsafe { (to.part(own.clone()), from.part(own.clone())) };
        let stops = || ctx.interrupt.is_set();
        T::in_order(isa, keys, spare, &stops);
        for (k, keys) in keys.chunks(STRETCH).enumerate().take_while(|_| !stops()) {
            isa.run(Put(of, own.start + k * STRETCH, keys));
        }
    })?;
    Ok(Some(threads))
}

/// The least keys of all parts but the first. Errors: WS FULL.
fn splitters<T: Bits>(
    isa: Isa,
    (n, parts): (usize, usize),
    of: &impl Arranges<T>,
    budget: &Budget,
) -> aplomb_ground::error::Result<Vec<T>> {
    if parts == 1 {
        return Ok(Vec::new());
    }
    let mut sample = budget.filled(T::LEAST, SAMPLE * parts)?;
    let many = sample.len();
    for (k, key) in sample.iter_mut().enumerate() {
        of.keys(k * n / many, std::slice::from_mut(key));
    }
    let mut spare = sample.clone();
    T::in_order(isa, &mut sample, &mut spare, &|| false);
    Ok(sample.into_iter().step_by(SAMPLE).skip(1).collect())
}

/// Keys taken apart by splitters, of which there is one less than a power of two: halves by the
/// middle one, then each half in the same way. How many each part has; on which side they end, the
/// number of levels tells.
fn apart<T: Bits>(
    isa: Isa,
    keys: &mut [T],
    other: &mut [T],
    splitters: &[T],
    counts: &mut [usize],
) {
    let half = splitters.len() / 2;
    let Some(&splitter) = splitters.get(half) else {
        counts[0] = keys.len();
        return;
    };
    let low = T::part(isa, keys, other, splitter);
    let ((front, back), (low_keys, high_keys)) = (other.split_at_mut(low), keys.split_at_mut(low));
    let (low_counts, high_counts) = counts.split_at_mut(half + 1);
    apart(isa, front, low_keys, &splitters[..half], low_counts);
    apart(isa, back, high_keys, &splitters[half + 1..], high_counts);
}

#[cfg(test)]
mod tests {
    use super::super::tests::Dice;
    use super::*;
    use aplomb_ground::limits::Interrupt;
    use std::sync::atomic::AtomicU64;

    /// Items that are their keys; 7 tells nothing.
    struct Own<'a> {
        keys: &'a [u64],
        out: &'a [AtomicU64],
    }

    impl Arranges<u64> for Own<'_> {
        fn keys(&self, first: usize, keys: &mut [u64]) -> bool {
            keys.copy_from_slice(&self.keys[first..first + keys.len()]);
            !keys.contains(&7)
        }

        fn put(&self, first: usize, keys: &[u64]) {
            keys.iter().zip(&self.out[first..]).for_each(|(key, out)| out.store(*key, Relaxed));
        }
    }

    fn is_in_order(isa: Isa, threads: usize, keys: &[u64]) {
        let ctx = RunCtx {
            interrupt: &Interrupt::default(),
            budget: &Budget::new(1 << 30),
            timed: false,
            libraries: false,
            abreast: true,
        };
        let out: Vec<AtomicU64> = keys.iter().map(|_| AtomicU64::new(u64::MAX)).collect();
        let mut cpu = Cpu::with(isa, threads);
        in_order(&mut cpu, &ctx, keys.len(), &Own { keys, out: &out }).unwrap();
        assert_eq!(ctx.budget.used(), 0);
        let mut sorted = keys.to_vec();
        sorted.sort_unstable();
        assert!(out.into_iter().map(AtomicU64::into_inner).eq(sorted), "{isa:?} {threads}");
    }

    #[test]
    fn parts_of_any_number_of_threads_are_the_whole_order() {
        let mut dice = Dice(5);
        for isa in Isa::available() {
            for threads in [1, 2, 3, 8] {
                for n in [0, 1, 1000, STRETCH, STRETCH + 1, 3 * STRETCH + 77] {
                    for values in [1, 3, 1 << 40] {
                        let keys: Vec<u64> = (0..n).map(|_| dice.roll(values) as u64).collect();
                        is_in_order(isa, threads, &keys);
                    }
                }
            }
        }
    }
}

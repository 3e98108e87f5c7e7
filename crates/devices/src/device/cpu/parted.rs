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

use super::share::{Ran, STRETCH, each_unit, stretch};
use super::sorting::{Bits, Room};
use super::{Cpu, DeviceError, Isa, RunCtx};

/// Keys of a part, about.
const PART: usize = 2 * STRETCH;
/// Parts at least for each thread, so that none waits long for the last, and at most in all: a
/// stretch is taken apart in its own cache, to pieces that are worth a copy.
const EACH: usize = 4;
const MOST: usize = 128;
/// Keys of the sample for each part.
const SAMPLE: usize = 64;

/// The keys 0…n in order, each given to `put` with its place.
pub fn in_order<T: Bits>(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    n: usize,
    key: &(impl Fn(usize) -> T + Sync),
    put: &(impl Fn(usize, &T) + Sync),
) -> Ran {
    let (isa, stretches, together) = (cpu.isa, n.div_ceil(STRETCH), n > STRETCH);
    let many = (n / PART).min(MOST).max(EACH * cpu.threads.count());
    let parts = if together { many.next_power_of_two() } else { 1 };
    let splitters = splitters(isa, (n, parts), key);
    let (from, to) = (Room::new(cpu, n, ctx)?, Room::new(cpu, n, ctx)?);
    let counts = Room::<usize>::new(cpu, stretches * parts, ctx)?;
    let of = |k: usize| k * parts..(k + 1) * parts;
    each_unit(&mut cpu.threads, stretches, together, ctx, &|k, _| {
        let own = stretch(k, n);
        // SAFETY: stretches are disjoint, and so are their counts.
        let (keys, other, counts) =
            unsafe { (from.part(own.clone()), to.part(own.clone()), counts.part(of(k))) };
        // Each splitter's level changes sides.
        let even = parts.ilog2().is_multiple_of(2);
        let (keys, other) = if even { (keys, other) } else { (other, keys) };
        keys.iter_mut().zip(own).for_each(|(to, k)| *to = key(k));
        apart(isa, keys, other, &splitters, counts);
    })?;
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
        for (&place, &count) in places[of(k)].iter().zip(&counts[of(k)]) {
            // SAFETY: nobody writes `from` meanwhile, and these places are this stretch's alone.
            unsafe {
                to.part(place..place + count).copy_from_slice(from.all(first..first + count));
            }
            first += count;
        }
    })?;
    each_unit(&mut cpu.threads, parts, together, ctx, &|part, _| {
        let own = part.checked_sub(1).map_or(0, |before| ends[before])..ends[part];
        // SAFETY: parts are disjoint, and nobody reads `from` any more.
        let (keys, spare) = unsafe { (to.part(own.clone()), from.part(own.clone())) };
        let stops = || ctx.interrupt.is_set();
        T::in_order(isa, keys, spare, &stops);
        for (k, keys) in keys.chunks(STRETCH).enumerate().take_while(|_| !stops()) {
            let first = own.start + k * STRETCH;
            keys.iter().enumerate().for_each(|(k, key)| put(first + k, key));
        }
    })
}

/// The least keys of all parts but the first.
fn splitters<T: Bits>(isa: Isa, (n, parts): (usize, usize), key: &impl Fn(usize) -> T) -> Vec<T> {
    if parts == 1 {
        return Vec::new();
    }
    let many = SAMPLE * parts;
    let mut sample: Vec<T> = (0..many).map(|k| key(k * n / many)).collect();
    let mut spare = sample.clone();
    T::in_order(isa, &mut sample, &mut spare, &|| false);
    sample.into_iter().step_by(SAMPLE).skip(1).collect()
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
    use aplomb_ground::limits::{Budget, Interrupt};
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;

    fn is_in_order(isa: Isa, threads: usize, keys: &[u64]) {
        let ctx = RunCtx {
            interrupt: &Interrupt::default(),
            budget: &Budget::new(1 << 30),
            timed: false,
            libraries: false,
        };
        let out: Vec<AtomicU64> = keys.iter().map(|_| AtomicU64::new(u64::MAX)).collect();
        let mut cpu = Cpu::with(isa, threads);
        let put = |k: usize, key: &u64| out[k].store(*key, Relaxed);
        in_order(&mut cpu, &ctx, keys.len(), &|k| keys[k], &put).unwrap();
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

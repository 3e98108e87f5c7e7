//! Searches for first places (`⍳ ∊`) on all cores; what they mean is `prim::library`.
//!
//! | list and numbers | way | 4 million lookups, two threads |
//! |---|---|---|
//! | few numbers | the list is gone through for each, in its own type | 80 MB at the rate of memory |
//! | whole numbers or characters in a range that is not much wider than they are many | a table by value | 2 ns a lookup |
//! | others | a table by hash, in shares | 20 ns a lookup |

use super::convert::{Source, with_type};
use super::share::{Ran, STRETCH, each_unit, stretch};
use super::{Cpu, DeviceError, RunCtx};
use crate::pool::lock;
use aplomb_values::array::DType;
use aplomb_values::prim::library::{Places, first_of};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A function that is given a lookup's number and, from it on, the first place of each of some.
pub type Found<'a> = &'a (dyn Fn(usize, &[usize]) + Sync);

/// The first place of what is not there.
pub const NOWHERE: usize = usize::MAX;
/// Lookups whose places are given at once, so that the call is nothing.
const AT_ONCE: usize = 512;

/// Some lookups' first places, one by one, given to a function.
#[inline(always)]
fn each(range: Range<usize>, found: Found, first: impl Fn(usize) -> usize) {
    let mut firsts = [NOWHERE; AT_ONCE];
    for from in range.clone().step_by(AT_ONCE) {
        let firsts = &mut firsts[..AT_ONCE.min(range.end - from)];
        firsts.iter_mut().enumerate().for_each(|(k, own)| *own = first(from + k));
        found(from, firsts);
    }
}

/// A list is gone through for so many numbers; for more a table is made.
const FEW: usize = 8;
/// Places in a table by value: at most so many for each item and lookup, and always some.
const PLACES: (usize, usize) = (4, 1 << 16);

/// Whether a list is gone through rather than looked up in.
fn is_short(have: usize, want: usize) -> bool {
    want <= FEW && have > 0
}

/// The ways that need no copies of the operands as f64. None: it is none of them.
pub fn narrow(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (have, want): (Source, Source),
    ct: f64,
    found: Found,
) -> Option<Ran> {
    if is_short(have.len, want.len) {
        return Some(each_by_itself(cpu, ctx, have, want, ct, found));
    }
    let plain = |s: Source| s.dtype.is_integer() || s.dtype == DType::Char;
    if !plain(have) || !plain(want) || have.len == 0 || u32::try_from(have.len).is_err() {
        return None;
    }
    // SAFETY: the source holds so many of its type.
    let (low, high) = with_type!(have.dtype, T => unsafe {
        range(std::slice::from_raw_parts(have.at.cast::<T>(), have.len))
    });
    let places = usize::try_from(high.checked_sub(low)?).ok()?.checked_add(1)?;
    (places <= PLACES.0 * (have.len + want.len) + PLACES.1)
        .then(|| by_value(cpu, ctx, (have, want), (low, places), found))
}

/// The least and the greatest, of whole numbers.
#[allow(clippy::unnecessary_cast)]
fn range<T: Copy + PartialOrd + Into<f64>>(items: &[T]) -> (i64, i64) {
    let ends = (items[0], items[0]);
    let (low, high) = items.iter().fold(ends, |(low, high), &x| {
        (if x < low { x } else { low }, if x > high { x } else { high })
    });
    (low.into() as i64, high.into() as i64)
}

/// A place for each value of a range: of its first item there, `u32::MAX` where it is none. Last
/// items are written first, so no store has to ask.
fn by_value(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (have, want): (Source, Source),
    (low, places): (i64, usize),
    found: Found,
) -> Ran {
    let mut room = cpu.pool.buffer(DType::I32, places, ctx.budget).map_err(DeviceError::Oom)?;
    // SAFETY: it holds as many of four bytes, and nobody else has it.
    let table = unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast::<u32>(), places) };
    table.fill(u32::MAX);
    for k in (0..have.len.div_ceil(STRETCH)).rev() {
        if ctx.interrupt.is_set() {
            return Err(DeviceError::Interrupted);
        }
        let range = stretch(k, have.len);
        with_type!(have.dtype, T => for k in range.rev() {
            // SAFETY: k is below its length.
            let x = unsafe { *have.at.cast::<T>().add(k) };
            table[(x as i64 - low) as usize] = k as u32;
        });
    }
    let (units, table) = (want.len.div_ceil(STRETCH), &*table);
    let want = Shared(want);
    each_unit(&mut cpu.threads, units, want.len() > STRETCH, ctx, &|k, _| {
        let want = want.source();
        with_type!(want.dtype, T => each(stretch(k, want.len), found, |k| {
            // SAFETY: k is below its length.
            let x = unsafe { *want.at.cast::<T>().add(k) };
            match table.get((x as i64).wrapping_sub(low) as usize) {
                Some(&place) if place != u32::MAX => place as usize,
                _ => NOWHERE,
            }
        }))
    })
}

/// A source that threads read.
struct Shared(Source);

// SAFETY: nobody writes it while a launch holds it.
unsafe impl Sync for Shared {}

impl Shared {
    fn source(&self) -> Source {
        self.0
    }

    fn len(&self) -> usize {
        self.0.len
    }
}

fn number(x: impl Into<f64>) -> f64 {
    x.into()
}

/// The first place of each of a few numbers, one after the other.
fn each_by_itself(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    have: Source,
    want: Source,
    ct: f64,
    found: Found,
) -> Ran {
    let (units, have, mut ran) = (have.len.div_ceil(STRETCH), Shared(have), 1);
    for k in 0..want.len {
        // SAFETY: k is below its length.
        let x = with_type!(want.dtype, T => unsafe { number(*want.at.cast::<T>().add(k)) });
        let first = AtomicUsize::new(NOWHERE);
        let together = have.len() > 4 * STRETCH;
        ran = each_unit(&mut cpu.threads, units, together, ctx, &|unit, _| {
            let (range, have) = (stretch(unit, have.len()), have.source());
            // What lies behind a place that was found is nobody's first.
            if range.start < first.load(Ordering::Relaxed) {
                // SAFETY: the range lies in it.
                let at = with_type!(have.dtype, T => unsafe {
                    let from = have.at.cast::<T>().add(range.start);
                    first_of(std::slice::from_raw_parts(from, range.len()), x, ct)
                });
                first.fetch_min(at.map_or(NOWHERE, |at| range.start + at), Ordering::Relaxed);
            }
        })?;
        found(k, &[first.into_inner()]);
    }
    Ok(ran)
}

/// The first place of each number that is wanted, by a table of all that are there.
pub fn by_hash(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    have: &[f64],
    want: &[f64],
    ct: f64,
    found: Found,
) -> Ran {
    let _held = ctx.budget.charge((have.len() * Places::BYTES) as u64).map_err(DeviceError::Oom)?;
    let count = if have.len() > STRETCH { cpu.threads.count() } else { 1 };
    let shares: Vec<_> = (0..count).map(|k| Mutex::new(Places::new(have, ct, k, count))).collect();
    let built = each_unit(&mut cpu.threads, count, count > 1, ctx, &|k, _| {
        let mut share = lock(&shares[k]);
        let stretches = (0..have.len().div_ceil(STRETCH)).take_while(|_| !ctx.interrupt.is_set());
        stretches.for_each(|k| share.add(stretch(k, have.len())));
    })?;
    let shares: Vec<_> =
        shares.into_iter().map(|s| s.into_inner().unwrap_or_else(|e| e.into_inner())).collect();
    let units = want.len().div_ceil(STRETCH);
    let looked = each_unit(&mut cpu.threads, units, want.len() > STRETCH, ctx, &|k, _| {
        each(stretch(k, want.len()), found, |k| {
            Places::first(&shares, want[k]).map_or(NOWHERE, |place| place)
        });
    })?;
    Ok(built.max(looked))
}

#[cfg(test)]
mod tests {
    use super::super::Isa;
    use super::super::tests::Dice;
    use super::*;
    use aplomb_ground::limits::{Budget, Interrupt};

    /// The numbers in memory as items of a type.
    fn stored(dtype: DType, items: &[f64]) -> Vec<u8> {
        with_type!(dtype, T => items.iter().flat_map(|x| (*x as T).to_ne_bytes()).collect())
    }

    /// First places as the narrow ways find them; NaN for what nobody put. None: they do not.
    fn narrowly(threads: usize, have: Source, want: Source, ct: f64) -> Option<Vec<Option<usize>>> {
        let budget = Budget::new(1 << 30);
        let interrupt = Interrupt::default();
        let ctx = RunCtx {
            interrupt: &interrupt,
            budget: &budget,
            timed: false,
            libraries: false,
            abreast: true,
        };
        let out: Vec<Mutex<Option<usize>>> =
            (0..want.len).map(|_| Mutex::new(Some(usize::MAX))).collect();
        let mut cpu = Cpu::with(Isa::best(), threads);
        let found = |from: usize, firsts: &[usize]| {
            for (own, first) in out[from..].iter().zip(firsts) {
                *own.lock().unwrap() = Some(*first).filter(|at| *at != NOWHERE);
            }
        };
        narrow(&mut cpu, &ctx, (have, want), ct, &found)?.unwrap();
        assert_eq!(budget.used(), 0);
        Some(out.into_iter().map(|x| x.into_inner().unwrap()).collect())
    }

    #[test]
    fn each_way_finds_the_same_first_places() {
        use DType::{Bool, Char, F32, F64, I8, I16, I32};
        let mut dice = Dice(11);
        let sizes = [(1, 1), (3, 40), (257, FEW), (3 * STRETCH + 5, 2), (5 * STRETCH, 9)];
        for (n, m) in sizes.into_iter().chain([(700, STRETCH + 3)]) {
            for (a, b) in [(I8, I8), (I16, I32), (I32, Bool), (Char, Char), (F32, F64), (I32, F64)]
            {
                for (values, ct) in [(2, 0.0), (100, 1e-14), (1 << 20, 0.0)] {
                    let holds = |t: DType| t.range().map_or(values, |r| r.1 as usize + 1);
                    let most = values.min(holds(a)).min(holds(b));
                    let low = if a == Char { 40.0 } else { 0.0 };
                    let mut numbers = |n: usize| -> Vec<f64> {
                        (0..n).map(|_| low + dice.roll(most) as f64).collect()
                    };
                    let (have, mut want) = (numbers(n), numbers(m));
                    if b == F64 {
                        want[0] = f64::INFINITY;
                        want[m - 1] += 1e-15;
                    }
                    let source = |dtype, of: &[u8]| Source {
                        at: of.as_ptr(),
                        dtype,
                        len: of.len() / dtype.size(),
                    };
                    let (x, y) = (stored(a, &have), stored(b, &want));
                    let place = |w: &f64| {
                        have.iter().position(|h| aplomb_values::prim::library::same(*h, *w, ct))
                    };
                    let expected: Vec<_> = want.iter().map(place).collect();
                    for threads in [1, 3] {
                        match narrowly(threads, source(a, &x), source(b, &y), ct) {
                            Some(got) => assert!(got == expected, "{n} {m} {a:?} {b:?} {values}"),
                            None => assert!(m > FEW && (a == F32 || b == F64 || values > 1 << 16)),
                        }
                    }
                }
            }
        }
    }
}

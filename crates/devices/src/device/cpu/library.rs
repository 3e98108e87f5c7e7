//! Grades, sorts and searches (`dag::Lib`) on all cores; what they mean is `prim::library`.
//!
//! | what | way | 4 million, two threads |
//! |---|---|---|
//! | grade of whole numbers and characters | 4 bytes of key and 4 of place: as a sort of 8 bytes with AVX-512, else by the digits of the key | 20 ms |
//! | grade of other numbers | 8 bytes of key and 8 of place, the same way | 75 ms |
//! | grade of cells of several numbers | 8 bytes of the first number's key and 8 of place, compared | – |
//! | sort of whole numbers and characters | keys of 4 bytes, in parts (`parted`) | 14 ms |
//! | sort of other numbers | keys of 8 bytes, in parts; with NaN or ¯0, whose keys tell less than they do, by grade | 30 ms |
//! | a few neighbours of a sort | see `select`; else as all | 5 ms |
//! | search | see `lookup` | |

use super::convert::{Source, with_type};
use super::lookup::NOWHERE;
use super::share::{Ran, STRETCH, each_unit, stretch};
use super::sorting::{Bits, COMPARED, Keyed, RUN, by_digits, sorted};
use super::{Cpu, DeviceError, Isa, RunCtx, lookup, parted, select};
use crate::pool::PoolBuffer;
use aplomb_values::array::{DType, elements};
use aplomb_values::dag::Lib;
use aplomb_values::prim::library::{Cell, Grading, found_place, order_key, ordered, shares_key};
use aplomb_values::prim::whole::Given;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// A function that puts a number at a place of the result.
type Put<'a> = &'a (dyn Fn(usize, f64) + Sync);

/// A function that gives `put`, of all items in order, those at the places that are wanted.
fn among<T>(wanted: &Range<usize>, put: &(impl Fn(usize, &T) + Sync)) -> impl Fn(usize, &T) + Sync {
    |k, item| {
        if wanted.contains(&k) {
            put(k - wanted.start, item);
        }
    }
}

/// The results of a search for the first places in a list, in a type that holds them.
pub struct Places {
    of: Lib,
    /// Items of the list.
    among: usize,
    origin: usize,
    dtype: DType,
    at: *mut u8,
}

// SAFETY: each result is written by the thread that has found it.
unsafe impl Sync for Places {}

impl Places {
    /// A buffer for so many results, and what writes them there.
    pub fn new(
        cpu: &Cpu,
        ctx: &RunCtx,
        (of, origin): (Lib, f64),
        (among, n): (usize, usize),
    ) -> Result<(Places, PoolBuffer), DeviceError> {
        let most = if of == Lib::Member { 1.0 } else { among as f64 + origin };
        let dtype = DType::holding(0.0, most);
        let mut room = cpu.pool.buffer(dtype, n, ctx.budget).map_err(DeviceError::Oom)?;
        let (origin, at) = (origin as usize, room.as_mut_ptr());
        Ok((Places { of, among, origin, dtype, at }, room))
    }

    /// The results from one on. Safety: there is room for them, and nobody else writes them.
    pub unsafe fn put(&self, from: usize, firsts: &[usize]) {
        with_type!(self.dtype, T => {
            // SAFETY: the caller's.
            let out = unsafe {
                std::slice::from_raw_parts_mut(self.at.cast::<T>().add(from), firsts.len())
            };
            match self.of {
                Lib::Member => out.iter_mut().zip(firsts).for_each(|(out, first)| {
                    *out = u8::from(*first != NOWHERE) as T;
                }),
                _ => out.iter_mut().zip(firsts).for_each(|(out, first)| {
                    let place = if *first == NOWHERE { self.among } else { *first };
                    *out = (place + self.origin) as T;
                }),
            }
        });
    }
}

/// Keys in order at the places that are wanted: few of them are looked for, else all are sorted.
fn keys_at<T: Bits>(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (n, wanted): (usize, &Range<usize>),
    key: &(impl Fn(usize) -> T + Sync),
    put: &(impl Fn(usize, &T) + Sync),
) -> Ran {
    match select::few(cpu, ctx, (n, wanted), key, put)? {
        Some(threads) => Ok(threads),
        None => parted::in_order(cpu, ctx, n, key, &among(wanted, put)),
    }
}

/// Grades and sorts of operands as they lie in memory, a sort's items at the places that are wanted
/// of it. None: it takes numbers.
pub fn narrow(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    of: Lib,
    given: &[Source],
    wanted: Range<usize>,
    put: Put,
) -> Option<Ran> {
    let n = wanted.len();
    match (of, given) {
        (Lib::GradeUp | Lib::GradeDown | Lib::SortUp | Lib::SortDown, &[all])
            if (all.len == n || of.is_sort() && wanted.end <= all.len)
                && u32::try_from(all.len).is_ok()
                && (all.dtype.is_integer() || all.dtype == DType::Char) =>
        {
            let n = all.len;
            let (all, flip) = (Whole(all), if of.is_down() { u32::MAX } else { 0 });
            let key = |k: usize| all.key(k) ^ flip;
            Some(if of.is_sort() {
                let put = |k, key: &u32| put(k, f64::from((key ^ flip ^ SIGN) as i32));
                keys_at(cpu, ctx, (n, &wanted), &key, &put)
            } else {
                let cell = |k: usize| u64::from(key(k)) << 32 | k as u64;
                let put = |k, cell: &u64| put(k, f64::from(*cell as u32));
                if cpu.isa == Isa::Avx512 {
                    parted::in_order(cpu, ctx, n, &cell, &put)
                } else {
                    let (cell, put) = (|k| Placed(cell(k)), |k, cell: &Placed| put(k, &cell.0));
                    sorted(cpu, ctx, (n, RUN), &cell, &by_digits, &Placed::cmp, &put)
                }
            })
        }
        _ => None,
    }
}

/// The bit that makes an order of unsigned numbers one of signed ones.
const SIGN: u32 = 1 << 31;

/// Whole numbers or characters in memory.
struct Whole(Source);

// SAFETY: nobody writes it while a launch holds it.
unsafe impl Sync for Whole {}

impl Whole {
    /// An unsigned number in the order of the items.
    #[inline]
    fn key(&self, k: usize) -> u32 {
        let Source { at, dtype, len } = self.0;
        assert!(k < len);
        // SAFETY: k is below its length.
        let item = with_type!(dtype, T => unsafe { *at.cast::<T>().add(k) } as i64);
        item as u32 ^ SIGN
    }
}

/// A key above, a place below.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Placed(u64);

impl Keyed for Placed {
    const BYTES: usize = 4;

    #[inline]
    fn digit(&self, byte: usize) -> usize {
        usize::from((self.0 >> (32 + 8 * byte)) as u8)
    }
}

impl Keyed for Cell {
    const BYTES: usize = 8;

    #[inline]
    fn digit(&self, byte: usize) -> usize {
        usize::from((self.key() >> (8 * byte)) as u8)
    }
}

/// Numbers in order whose keys tell all of them.
fn sort(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (items, wanted): (&[f64], &Range<usize>),
    down: bool,
    put: Put,
) -> Ran {
    let flip = if down { u64::MAX } else { 0 };
    let key = |k: usize| order_key(items[k]) ^ flip;
    let put = |k, key: &u64| put(k, ordered(key ^ flip));
    keys_at(cpu, ctx, (items.len(), wanted), &key, &put)
}

/// True where a number is another than its key says.
fn some_share_a_key(cpu: &mut Cpu, ctx: &RunCtx, items: &[f64]) -> Result<bool, DeviceError> {
    let (n, some) = (items.len(), AtomicBool::new(false));
    each_unit(&mut cpu.threads, n.div_ceil(STRETCH), n > STRETCH, ctx, &|k, _| {
        if items[stretch(k, n)].iter().fold(false, |some, x| some | shares_key(x)) {
            some.store(true, Relaxed);
        }
    })?;
    Ok(some.into_inner())
}

/// The results at the places that are wanted: all, or some of a sort.
pub fn run(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    of: Lib,
    ct: f64,
    given: &[Given],
    wanted: Range<usize>,
    put: Put,
) -> Ran {
    let n = wanted.len();
    if given.iter().any(|g| g.items.len() != elements(g.shape)) {
        return Err(DeviceError::Broken(
            "a function of the library has an operand of another size".into(),
        ));
    }
    match (of, given) {
        (Lib::GradeUp | Lib::GradeDown, [all]) if all.shape.first() == Some(&n) => {
            let grading = Grading::new(*all, of.is_down());
            let cell = |k: usize| grading.cell(k);
            let put = |k, cell: &Cell| put(k, cell.at() as f64);
            if grading.by_cell() {
                sorted(cpu, ctx, (n, RUN), &cell, &by_digits, &Cell::cmp, &put)
            } else {
                let order = |a: &Cell, b: &Cell| grading.order(a, b);
                let sort = |run: &mut [Cell], _: &mut [Cell], _: &dyn Fn() -> bool| {
                    run.sort_unstable_by(order)
                };
                sorted(cpu, ctx, (n, COMPARED), &cell, &sort, &order, &put)
            }
        }
        (Lib::SortUp | Lib::SortDown, [all]) if wanted.end <= all.items.len() => {
            if !some_share_a_key(cpu, ctx, all.items)? {
                return sort(cpu, ctx, (all.items, &wanted), of.is_down(), put);
            }
            let grading = Grading::new(*all, of.is_down());
            let put = |k, cell: &Cell| put(k, all.items[cell.at()]);
            let (of, cell) = ((all.items.len(), RUN), |k| grading.cell(k));
            sorted(cpu, ctx, of, &cell, &by_digits, &Cell::cmp, &among(&wanted, &put))
        }
        (Lib::IndexOf | Lib::Member, [have, want]) if want.items.len() == n => {
            lookup::by_hash(cpu, ctx, have.items, want.items, ct, &|from, firsts| {
                for (k, first) in firsts.iter().enumerate() {
                    let first = Some(*first).filter(|first| *first != NOWHERE);
                    put(from + k, found_place(of, first, have.items.len()));
                }
            })
        }
        _ => Err(DeviceError::Broken("operands of a function of the library do not fit".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Isa;
    use super::super::share::STRETCH;
    use super::super::sorting::RUN;
    use super::super::tests::Dice;
    use super::*;
    use aplomb_ground::limits::{Budget, Interrupt};
    use aplomb_values::dag::Whole;
    use aplomb_values::prim::whole;
    use std::sync::Mutex;

    const ALL: [Lib; 5] = [Lib::GradeUp, Lib::GradeDown, Lib::SortUp, Lib::IndexOf, Lib::Member];

    /// On so many threads; what is never put is NaN.
    fn on(
        threads: usize,
        of: Lib,
        ct: f64,
        given: &[Given],
        n: usize,
        ctx: &RunCtx,
    ) -> Result<Vec<f64>, DeviceError> {
        let out: Vec<Mutex<f64>> = (0..n).map(|_| Mutex::new(f64::NAN)).collect();
        let mut cpu = Cpu::with(Isa::best(), threads);
        run(&mut cpu, ctx, of, ct, given, 0..n, &|k, x| *out[k].lock().unwrap() = x)?;
        Ok(out.into_iter().map(|x| x.into_inner().unwrap()).collect())
    }

    fn check(of: Lib, ct: f64, given: &[Given]) {
        let shape = match of {
            Lib::GradeUp | Lib::GradeDown | Lib::SortUp | Lib::SortDown => &given[0].shape[..1],
            Lib::IndexOf | Lib::Member => given[1].shape,
        };
        let wanted = whole::run(
            &Whole::Lib { of, origin: 0.0, ct, rows: false, first: 0 },
            given,
            shape,
            DType::I32,
            &mut |_, _| (),
        );
        let ctx = RunCtx {
            interrupt: &Interrupt::default(),
            budget: &Budget::new(1 << 32),
            timed: false,
            libraries: false,
        };
        for threads in [1, 2, 3, 8] {
            let got = on(threads, of, ct, given, elements(shape), &ctx).unwrap();
            let bits = |of: &[f64]| of.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert!(
                bits(&got) == bits(&wanted),
                "{of:?} of {:?} on {threads} threads",
                given[0].shape
            );
        }
        assert_eq!(ctx.budget.used(), 0);
    }

    /// Few values, many, signs of zero, ends of the numbers; `step`: how far neighbours are apart.
    fn items(dice: &mut Dice, n: usize, values: usize, step: f64) -> Vec<f64> {
        let ends = [0.0, -0.0, f64::MAX, f64::MIN, 5e-324, f64::INFINITY, f64::NEG_INFINITY];
        let one = |dice: &mut Dice| match dice.roll(50) {
            0 => ends[dice.roll(ends.len())],
            _ => 1.5 + step * (dice.roll(values) as f64 - values as f64 / 2.0),
        };
        (0..n).map(|_| one(dice)).collect()
    }

    #[test]
    fn every_thread_count_gives_the_same_grades_around_each_cut() {
        let mut dice = Dice(7);
        let sizes = [
            0,
            1,
            2,
            STRETCH - 1,
            STRETCH,
            STRETCH + 1,
            2 * STRETCH,
            3 * STRETCH + 1,
            8 * STRETCH - 1,
        ];
        for n in sizes.into_iter().chain([9 * STRETCH + 77, RUN - 1, RUN + 1]) {
            for values in [1, 5, 1 << 30] {
                let items = items(&mut dice, n, values, 1e-9);
                let given = Given { items: &items, shape: &[n] };
                check([Lib::GradeUp, Lib::GradeDown][dice.roll(2)], 1e-14, &[given]);
                check([Lib::SortUp, Lib::SortDown][dice.roll(2)], 1e-14, &[given]);
            }
        }
    }

    #[test]
    fn rows_are_graded_by_all_their_items_and_then_by_place() {
        let mut dice = Dice(8);
        for (n, width, values) in [
            (5, 3, 2),
            (STRETCH + 3, 2, 3),
            (3 * STRETCH, 4, 2),
            (STRETCH * 2 + 1, 0, 1),
            (40_000, 1, 9),
        ] {
            let items = items(&mut dice, n * width, values, 1.0);
            let shape = [n, width];
            for of in [Lib::GradeUp, Lib::GradeDown] {
                check(of, 0.0, &[Given { items: &items, shape: &shape }]);
            }
        }
    }

    #[test]
    fn every_thread_count_finds_the_same_first_places() {
        let mut dice = Dice(9);
        for (have, want) in
            [(0, 3), (3, 0), (10, STRETCH + 1), (STRETCH + 1, 10), (3 * STRETCH + 7, 2 * STRETCH)]
        {
            for (ct, step) in [(0.0, 1.0), (1e-14, 5e-15), (2f64.powi(-32), 1e-10)] {
                let values = if step < 1.0 { 200 } else { 50_000 };
                let (x, y) =
                    (items(&mut dice, have, values, step), items(&mut dice, want, values, step));
                let given =
                    [Given { items: &x, shape: &[have] }, Given { items: &y, shape: &[want] }];
                check(Lib::IndexOf, ct, &given);
                check(Lib::Member, ct, &given);
            }
        }
    }

    #[test]
    fn an_interrupt_ends_each_and_a_small_budget_is_an_error() {
        let items = vec![1.0; 3 * STRETCH];
        let given = [Given { items: &items, shape: &[3 * STRETCH] }; 2];
        let interrupt = Interrupt::default();
        for of in ALL {
            let args = &given[..if matches!(of, Lib::IndexOf | Lib::Member) { 2 } else { 1 }];
            let small = Budget::new(100_000);
            let mut ctx =
                RunCtx { interrupt: &interrupt, budget: &small, timed: false, libraries: false };
            interrupt.clear();
            assert!(
                matches!(on(2, of, 0.0, args, items.len(), &ctx), Err(DeviceError::Oom(_))),
                "{of:?}"
            );
            let large = Budget::new(1 << 30);
            ctx.budget = &large;
            interrupt.set();
            assert_eq!(on(2, of, 0.0, args, items.len(), &ctx), Err(DeviceError::Interrupted));
            interrupt.clear();
            assert!(matches!(
                on(2, of, 0.0, args, items.len() + 1, &ctx),
                Err(DeviceError::Broken(_))
            ));
            assert_eq!((small.used(), large.used()), (0, 0));
        }
    }
}

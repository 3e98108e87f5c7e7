//! Grades, sorts and searches (`dag::Lib`) on all cores; what they mean is `prim::library`.
//!
//! | what | way | 4 million, two threads |
//! |---|---|---|
//! | grade of a vector | keys and places in 8 bytes (`graded`) | 20–30 ms |
//! | the same of numbers that these do not tell apart | 8 bytes of key and 8 of place, by digits | 75 ms |
//! | grade of cells of several numbers | 8 bytes of the first number's key and 8 of place, compared | – |
//! | sort of whole numbers, characters and f32 | keys of 4 bytes, in parts (`parted`) | 12 ms |
//! | the same of a narrow range | counted (`counted`) | 2 ms |
//! | sort of f64 | keys of 8 bytes, in parts | 24 ms |
//! | sort with NaN or ¯0, whose keys tell less than they do | by grade | – |
//! | a few neighbours of a sort | see `select`; else as all | 4 ms |
//! | some neighbours of a grade | see `neighbours` | 2–6 ms |
//! | search | see `lookup` | |

use super::convert::{Source, with_type};
use super::lookup::NOWHERE;
use super::ordered::{Ordered, Places};
use super::share::Ran;
use super::sorting::{Arranges, Bits, COMPARED, Keyed, RUN, by_digits, sorted};
use super::{Cpu, DeviceError, RunCtx, counted, graded, lookup, neighbours, parted, select};
use crate::pool::PoolBuffer;
use aplomb_values::array::{DType, View, elements};
use aplomb_values::dag::Lib;
use aplomb_values::prim::library::{Cell, Grading, found_place};
use aplomb_values::prim::whole::Given;
use std::ops::Range;

/// A function that puts a number at a place of the result.
type Put<'a> = &'a (dyn Fn(usize, f64) + Sync);

/// A sort of items where they lie; the results at the places that are wanted go to `to`.
/// Descending, all keys are turned around.
struct Sorting<'a, X> {
    items: &'a [X],
    down: bool,
    wanted: Range<usize>,
    to: *mut X,
}

// SAFETY: each result is written by the thread that has found it.
unsafe impl<X: Sync> Sync for Sorting<'_, X> {}

impl<X: Ordered> Sorting<'_, X> {
    /// The bits of a key that are turned around.
    #[inline(always)]
    fn flip(&self) -> X::Key {
        if self.down { X::Key::MOST } else { X::Key::LEAST }
    }
}

impl<X: Ordered> Arranges<X::Key> for Sorting<'_, X> {
    #[inline(always)]
    fn keys(&self, first: usize, keys: &mut [X::Key]) -> bool {
        let flip = self.flip();
        let items = &self.items[first..first + keys.len()];
        keys.iter_mut().zip(items).for_each(|(key, x)| *key = x.key() ^ flip);
        !items.iter().fold(false, |some, x| some | x.hides())
    }

    #[inline(always)]
    fn put(&self, first: usize, keys: &[X::Key]) {
        let flip = self.flip();
        let (from, end) = (self.wanted.start.max(first), self.wanted.end.min(first + keys.len()));
        for k in from..end {
            // SAFETY: there is room for what is wanted.
            unsafe { *self.to.add(k - self.wanted.start) = X::of(keys[k - first] ^ flip) };
        }
    }
}

/// Grades and sorts of items as they lie in memory, those at the places that are wanted: the
/// results in a type of their own, and the threads that took part. None: keys do not tell all
/// of the items, or these are graded as f64.
pub fn by_keys(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (of, origin): (Lib, f64),
    all: Source,
    wanted: Range<usize>,
) -> Result<Option<(PoolBuffer, usize)>, DeviceError> {
    let whole = all.dtype.is_integer() || all.dtype == DType::Char;
    if of.is_sort() {
        if wanted.end > all.len || (whole && u32::try_from(all.len).is_err()) {
            return Ok(None);
        }
        if wanted.len() == all.len
            && let Some(done) = counted::sort(cpu, ctx, all, of.is_down())?
        {
            return Ok(Some(done));
        }
        let mut room =
            cpu.pool.buffer(all.dtype, wanted.len(), ctx.budget).map_err(DeviceError::Oom)?;
        let ran = with_type!(all.dtype, X => {
            // SAFETY: nobody writes the source while a launch holds it.
            let items = unsafe { std::slice::from_raw_parts(all.at.cast::<X>(), all.len) };
            let to = room.as_mut_ptr().cast::<X>();
            let sorting = Sorting { items, down: of.is_down(), wanted: wanted.clone(), to };
            match select::few(cpu, ctx, (all.len, &wanted), &sorting)? {
                None => parted::in_order(cpu, ctx, all.len, &sorting)?,
                found => found,
            }
        });
        return Ok(ran.map(|threads| (room, threads)));
    }
    if wanted.len() < all.len && wanted.end <= all.len {
        return neighbours::places(cpu, ctx, (of, origin), all, wanted).map(Some);
    }
    if wanted.len() != all.len || u32::try_from(all.len).is_err() {
        return Ok(None);
    }
    let (to, room) = Places::new(cpu, ctx, (of, origin), (all.len, all.len))?;
    macro_rules! graded {
        ($($dtype:ident: $t:ty, $way:ident;)*) => {
            match all.dtype {
                $(DType::$dtype => {
                    // SAFETY: nobody writes the source while a launch holds it.
                    let items = unsafe { std::slice::from_raw_parts(all.at.cast::<$t>(), all.len) };
                    graded::$way(cpu, ctx, (items, of.is_down()), &to)?
                })*
                _ => return Ok(None),
            }
        };
    }
    let ran = graded! {
        Bool: u8, short;
        I8: i8, short;
        I16: i16, short;
        I32: i32, short;
        Char: u32, short;
        F32: f32, short;
        F64: f64, long;
    };
    Ok(ran.map(|ran| (room, ran)))
}

impl Keyed for Cell {
    const BYTES: usize = 8;

    #[inline]
    fn digit(&self, byte: usize) -> usize {
        usize::from((self.key() >> (8 * byte)) as u8)
    }
}

impl Cpu {
    /// The places that put a vector's items in order. None: these are complex numbers, or too many
    /// are too near to each other. Errors: no room, an interrupt.
    pub fn ordered(
        &mut self,
        items: View<'_>,
        (of, origin): (Lib, f64),
        ctx: &RunCtx,
    ) -> Result<Option<PoolBuffer>, DeviceError> {
        let Some(all) = Source::of(items) else { return Ok(None) };
        let made = by_keys(self, ctx, (of, origin), all, 0..all.len)?;
        Ok(made.map(|(room, _)| room))
    }
}

/// The results at the places of an order that are wanted, of items that keys do not tell whole, or
/// of a search.
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
        (Lib::GradeUp | Lib::GradeDown, [all]) if all.shape.first() >= Some(&wanted.end) => {
            let grading = Grading::new(*all, of.is_down());
            let (n, cell) = (grading.count(), |k: usize| grading.cell(k));
            let put = |k: usize, cell: &Cell| {
                if wanted.contains(&k) {
                    put(k - wanted.start, cell.at() as f64);
                }
            };
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
            let grading = Grading::new(*all, of.is_down());
            let put = |k: usize, cell: &Cell| {
                if wanted.contains(&k) {
                    put(k - wanted.start, all.items[cell.at()]);
                }
            };
            let (of, cell) = ((all.items.len(), RUN), |k| grading.cell(k));
            sorted(cpu, ctx, of, &cell, &by_digits, &Cell::cmp, &put)
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
        if let [all] = given
            && all.shape == [all.items.len()]
        {
            let (at, len) = (all.items.as_ptr().cast(), all.items.len());
            let all = Source { at, dtype: DType::F64, len };
            if let Some((room, _)) = by_keys(&mut cpu, ctx, (of, 0.0), all, 0..n)? {
                return Ok(numbers(&room));
            }
        }
        run(&mut cpu, ctx, of, ct, given, 0..n, &|k, x| *out[k].lock().unwrap() = x)?;
        Ok(out.into_iter().map(|x| x.into_inner().unwrap()).collect())
    }

    fn numbers(room: &PoolBuffer) -> Vec<f64> {
        let of = |k| super::super::program::one(Source::own(room), k as i64).unwrap();
        (0..Source::own(room).len).map(of).collect()
    }

    #[test]
    fn every_type_is_sorted_and_graded_as_its_numbers_are() {
        use DType::{Bool, Char, F32, F64, I8, I16, I32};
        let interrupt = Interrupt::default();
        let budget = Budget::new(1 << 32);
        let (libraries, timed) = (false, false);
        let ctx =
            RunCtx { interrupt: &interrupt, budget: &budget, timed, libraries, abreast: true };
        let mut dice = Dice(13);
        let ends = [f64::MIN_POSITIVE, -1e300, f64::INFINITY, f64::NEG_INFINITY];
        for (dtype, least, values) in [
            (Bool, 0, 2),
            (I8, -128, 256),
            (I16, -32_768, 65_536),
            (I32, i64::from(i32::MIN), 1 << 32),
            // Narrow enough to be counted.
            (I16, -900, 1_500),
            (I32, -70_000, 3_000),
            (Char, 0, 0x11_0000),
            (F32, -700, 1400),
            (F64, -1 << 50, 1 << 51),
        ] {
            for n in [0, 1, 127, 128, STRETCH + 3, 5 * STRETCH, 8 * STRETCH + 1] {
                let mut items: Vec<f64> =
                    (0..n).map(|_| (least + dice.roll(values) as i64) as f64).collect();
                if matches!(dtype, F32 | F64) {
                    items.iter_mut().for_each(|x| *x = f64::from((*x / 7.0) as f32));
                    items.iter_mut().zip(ends).for_each(|(x, end)| *x = f64::from(end as f32));
                    // What a key hides is another's work.
                    items.iter_mut().for_each(|x| *x += 0.0);
                }
                let isa = dice.roll(9) % Isa::available().count();
                let mut cpu = Cpu::with(Isa::available().nth(isa).unwrap(), 2);
                let mut source = cpu.pool.buffer(dtype, n, &budget).unwrap();
                with_type!(dtype, T => {
                    let to = source.as_mut_ptr().cast::<T>();
                    // SAFETY: there is room for n.
                    items.iter().enumerate().for_each(|(k, x)| unsafe { *to.add(k) = *x as T });
                });
                let shape = [n];
                let given = [Given { items: &items, shape: &shape }];
                for of in [Lib::SortUp, Lib::SortDown, Lib::GradeUp, Lib::GradeDown] {
                    let what = Whole::Lib { of, origin: 1.0, ct: 0.0, rows: false, first: 0 };
                    let all = whole::run(&what, &given, &shape, F64, &mut |_, _| ());
                    let parts = [0..n, 0..n.min(1), 0..n / 40, n / 2..n / 2 + n.min(2), n..n];
                    for wanted in parts {
                        let own = Source::own(&source);
                        let own = by_keys(&mut cpu, &ctx, (of, 1.0), own, wanted.clone()).unwrap();
                        let Some((room, _)) = own else {
                            assert!(matches!(dtype, F32 | F64) && !of.is_sort(), "{dtype:?}");
                            continue;
                        };
                        assert!(numbers(&room) == all[wanted.clone()], "{of:?} {dtype:?} {n}");
                    }
                }
            }
        }
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
            abreast: true,
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
            let mut ctx = RunCtx {
                interrupt: &interrupt,
                budget: &small,
                timed: false,
                libraries: false,
                abreast: true,
            };
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

//! Grades and searches (`dag::Lib`) on all cores; what they mean is `prim::library`.
//!
//! | what | shared out by |
//! |---|---|
//! | grade: cells made and sorted | runs of them |
//! | grade: pairs of runs merged until one is left | stretches of what comes out |
//! | search | see `lookup` |
//!
//! Cells that are numbers are sorted by digits: a pass for each byte of their keys that is not the
//! same in all of a run, the least first. A pass leaves cells of one digit in their order, and they
//! come in the order of their places, so those of one key end in that order too.

use super::convert::Source;
use super::share::{Ran, STRETCH, each_unit, stretch};
use super::{Cpu, DeviceError, RunCtx, lookup};
use crate::pool::PoolBuffer;
use aplomb_values::array::{DType, elements};
use aplomb_values::dag::Lib;
use aplomb_values::prim::library::{Cell, Grading, found_place};
use aplomb_values::prim::whole::Given;
use std::cmp::Ordering;
use std::ops::Range;

/// Cells of a run, so that sorting one takes 30 ms.
const RUN: usize = 64 * STRETCH;
/// Cells whose digits are counted; fewer are compared.
const DIGITS: usize = 512;

/// A function that puts a number at a place of the result.
type Put<'a> = &'a (dyn Fn(usize, f64) + Sync);

/// A result of n from operands as they lie in memory. None: it takes numbers.
pub fn narrow(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (of, ct): (Lib, f64),
    given: &[Source],
    n: usize,
    put: Put,
) -> Option<Ran> {
    match (of, given) {
        (Lib::IndexOf | Lib::Member, &[have, want]) if want.len == n => {
            let found = |k, first| put(k, found_place(of, first, have.len));
            lookup::narrow(cpu, ctx, (have, want), ct, &found)
        }
        _ => None,
    }
}

/// A result of n.
pub fn run(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    of: Lib,
    ct: f64,
    given: &[Given],
    n: usize,
    put: Put,
) -> Ran {
    if given.iter().any(|g| g.items.len() != elements(g.shape)) {
        return Err(DeviceError::Broken(
            "a function of the library has an operand of another size".into(),
        ));
    }
    match (of, given) {
        (Lib::GradeUp | Lib::GradeDown, [all]) if all.shape.first() == Some(&n) => {
            let grading = Grading::new(*all, of == Lib::GradeDown);
            if grading.by_cell() {
                grade(cpu, ctx, &grading, &by_digits, &Cell::cmp, put)
            } else {
                let order = |a: &Cell, b: &Cell| grading.order(a, b);
                let sort = |run: &mut [Cell], _: &mut [Cell]| run.sort_unstable_by(order);
                grade(cpu, ctx, &grading, &sort, &order, put)
            }
        }
        (Lib::IndexOf | Lib::Member, [have, want]) if want.items.len() == n => {
            lookup::by_hash(cpu, ctx, have.items, want.items, ct, &|k, first| {
                put(k, found_place(of, first, have.items.len()))
            })
        }
        _ => Err(DeviceError::Broken("operands of a function of the library do not fit".into())),
    }
}

/// A run of cells in ascending order of their places, by key; `spare` is as long.
fn by_digits(run: &mut [Cell], spare: &mut [Cell]) {
    const BYTES: usize = size_of::<u64>();
    if run.len() < DIGITS {
        return run.sort_unstable();
    }
    let digit = |cell: &Cell, byte: usize| usize::from(cell.key().to_le_bytes()[byte]);
    let mut counts = [[0_usize; 256]; BYTES];
    for cell in &*run {
        (0..BYTES).for_each(|byte| counts[byte][digit(cell, byte)] += 1);
    }
    let (mut from, mut to) = (&mut *run, spare);
    let mut passes = 0;
    for (byte, count) in counts.iter_mut().enumerate() {
        if count[digit(&from[0], byte)] == from.len() {
            continue;
        }
        let mut next = 0;
        // The number of cells with a digit becomes the place of the first of them.
        for many in &mut *count {
            next += std::mem::replace(many, next);
        }
        for cell in &*from {
            let place = &mut count[digit(cell, byte)];
            to[*place] = *cell;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
        passes += 1;
    }
    if passes % 2 == 1 {
        to.copy_from_slice(from);
    }
}

fn grade<S, O>(cpu: &mut Cpu, ctx: &RunCtx, grading: &Grading, sort: &S, order: &O, put: Put) -> Ran
where
    S: Fn(&mut [Cell], &mut [Cell]) + Sync,
    O: Fn(&Cell, &Cell) -> Ordering + Sync,
{
    let n = grading.count();
    let (stretches, together) = (n.div_ceil(STRETCH), n > STRETCH);
    let mut run = n
        .div_ceil(cpu.threads.count().next_power_of_two())
        .next_multiple_of(STRETCH)
        .clamp(STRETCH, RUN);
    let (mut from, mut to) = (Room::new(cpu, n, ctx)?, Room::new(cpu, n, ctx)?);
    each_unit(&mut cpu.threads, n.div_ceil(run), together, ctx, &|k, _| {
        let first = k * run;
        // SAFETY: runs are disjoint.
        let range = first..(first + run).min(n);
        let (own, spare) = unsafe { (from.part(range.clone()), to.part(range)) };
        own.iter_mut().enumerate().for_each(|(k, cell)| *cell = grading.cell(first + k));
        sort(own, spare);
    })?;
    while run < n {
        each_unit(&mut cpu.threads, stretches, together, ctx, &|k, _| {
            let out = stretch(k, n);
            let first = out.start / (2 * run) * (2 * run);
            let (middle, end) = ((first + run).min(n), (first + 2 * run).min(n));
            // SAFETY: nobody writes `from` meanwhile, and stretches of `to` are disjoint.
            let (a, b, to) =
                unsafe { (from.all(first..middle), from.all(middle..end), to.part(out.clone())) };
            let (i, j) =
                (ahead(a, b, out.start - first, order), ahead(a, b, out.end - first, order));
            merge(&a[i..j], &b[out.start - first - i..out.end - first - j], to, order);
        })?;
        std::mem::swap(&mut from, &mut to);
        run *= 2;
    }
    each_unit(&mut cpu.threads, stretches, together, ctx, &|k, _| {
        let own = stretch(k, n);
        // SAFETY: nobody writes it any more.
        let cells = unsafe { from.all(own.clone()) };
        own.zip(cells).for_each(|(k, cell)| put(k, cell.at() as f64));
    })
}

/// The number of the `count` least cells of both runs that are in the first.
fn ahead(a: &[Cell], b: &[Cell], count: usize, order: &impl Fn(&Cell, &Cell) -> Ordering) -> usize {
    let (mut least, mut most) = (count.saturating_sub(b.len()), count.min(a.len()));
    while least < most {
        let k = least.midpoint(most);
        if order(&a[k], &b[count - 1 - k]).is_lt() { least = k + 1 } else { most = k }
    }
    least
}

/// Two runs into one of both lengths. The loop has no branch on what is compared.
fn merge(a: &[Cell], b: &[Cell], to: &mut [Cell], order: &impl Fn(&Cell, &Cell) -> Ordering) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        let second = order(&y, &x).is_lt();
        to[i + j] = if second { y } else { x };
        i += usize::from(!second);
        j += usize::from(second);
    }
    let (own, rest) = to[i + j..].split_at_mut(a.len() - i);
    own.copy_from_slice(&a[i..]);
    rest.copy_from_slice(&b[j..]);
}

/// Cells in memory of the pool, which is aligned for them and always holds something.
struct Room {
    at: *mut Cell,
    _of: PoolBuffer,
}

// SAFETY: who asks for a part says that it is nobody else's.
unsafe impl Sync for Room {}

impl Room {
    fn new(cpu: &Cpu, n: usize, ctx: &RunCtx) -> Result<Room, DeviceError> {
        let words = n.saturating_mul(size_of::<Cell>() / size_of::<f64>());
        let mut of = cpu.pool.buffer(DType::F64, words, ctx.budget).map_err(DeviceError::Oom)?;
        Ok(Room { at: of.as_mut_ptr().cast(), _of: of })
    }

    /// Safety: the range lies in it, and nobody else reads or writes it meanwhile.
    #[allow(clippy::mut_from_ref)]
    unsafe fn part(&self, range: Range<usize>) -> &mut [Cell] {
        // SAFETY: as the function's.
        unsafe { std::slice::from_raw_parts_mut(self.at.add(range.start), range.len()) }
    }

    /// Safety: the range lies in it, and nobody writes it meanwhile.
    unsafe fn all(&self, range: Range<usize>) -> &[Cell] {
        // SAFETY: as the function's.
        unsafe { std::slice::from_raw_parts(self.at.add(range.start), range.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Isa;
    use super::super::tests::Dice;
    use super::*;
    use aplomb_ground::limits::{Budget, Interrupt};
    use aplomb_values::dag::Whole;
    use aplomb_values::prim::whole;
    use std::sync::Mutex;

    const ALL: [Lib; 4] = [Lib::GradeUp, Lib::GradeDown, Lib::IndexOf, Lib::Member];

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
        run(&mut cpu, ctx, of, ct, given, n, &|k, x| *out[k].lock().unwrap() = x)?;
        Ok(out.into_iter().map(|x| x.into_inner().unwrap()).collect())
    }

    fn check(of: Lib, ct: f64, given: &[Given]) {
        let shape = match of {
            Lib::GradeUp | Lib::GradeDown => &given[0].shape[..1],
            Lib::IndexOf | Lib::Member => given[1].shape,
        };
        let wanted = whole::run(&Whole::Lib { of, origin: 0.0, ct }, given, shape, &mut |_, _| ());
        let ctx = RunCtx {
            interrupt: &Interrupt::default(),
            budget: &Budget::new(1 << 32),
            timed: false,
            libraries: false,
        };
        for threads in [1, 2, 3, 8] {
            let got = on(threads, of, ct, given, elements(shape), &ctx).unwrap();
            assert!(got == wanted, "{of:?} of {:?} on {threads} threads", given[0].shape);
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
            let args = &given[..if of == Lib::GradeUp || of == Lib::GradeDown { 1 } else { 2 }];
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
                on(2, of, 0.0, args, items.len() - 1, &ctx),
                Err(DeviceError::Broken(_))
            ));
            assert_eq!((small.used(), large.used()), (0, 0));
        }
    }
}

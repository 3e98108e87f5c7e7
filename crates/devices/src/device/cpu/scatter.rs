//! Assignments by places: `x[i]←v` and `x[i]f←v`, each value after the one before.
//!
//! | part | strategy | measured |
//! |---|---|---|
//! | places | a block at a time, as whole numbers in L1; a block with one outside of its axis is looked at one by one | some 2.5 ns, both |
//! | values | the operation's fast rule; where it is suspect or not finite the scalar meaning | |
//! | a vector's items that are replaced, by whole numbers | in their own type, each thread a part of the vector (`typed`) | 400 000 of 4 million: 5 ms, 14 before |
//! | one whole number that is added | how often each place occurs, a table a thread | 128 places of 10 million: 4.3 ms, 139 before |
//!
//! Whole numbers that are read in order and of which nothing else is wanted are counted where they
//! lie (`tally`), a register's worth of tables at a time, so that equal neighbours do not wait for
//! each other.
//!
//! A base that stays in a cache is one thread's. Of a larger one each thread has a part: it goes
//! over all places and writes those of its part. Not here: places straight from where they are
//! computed, without a buffer.

use super::convert::{Source, with_type};
use super::share::{Apart, each_unit};
use super::walk::{Piece, Walk};
use super::{Cpu, DeviceError, RunCtx};
use crate::pool::{PoolBuffer, lock};
use aplomb_values::array::{DType, elements, strides};
use aplomb_values::dag::Whole;
use aplomb_values::dag::ix::linear;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::Fail;
use aplomb_values::prim::scalar::rules::{Rule, Visit, visit};
use aplomb_values::prim::whole::{Given, Scatter};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Places at a time.
const BLOCK: usize = 2048;
/// A base of so many elements is in a core's own cache.
const NEAR: usize = 1 << 16;
/// Values to a unit, where they are counted.
const SHARE: usize = 64 * BLOCK;
/// Sums of two whole numbers up to this are exact.
const EXACT: f64 = (1_u64 << 52) as f64;
/// The place of a value that has none.
const NOWHERE: i64 = -1;

/// Tables of counts side by side.
const SIDE: usize = 4;

/// Counts by place, in `sides` tables a thread, of `n` places each, that `unit` fills for the k-th
/// unit; and on how many threads.
fn counts(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (units, n, sides): (usize, usize, usize),
    unit: &(dyn Fn(usize, &mut [u32]) + Sync),
) -> Result<(Vec<u64>, usize), DeviceError> {
    let threads = cpu.threads.count();
    let bytes = (threads * sides * n * size_of::<u32>()) as u64;
    let _held = ctx.budget.charge(bytes).map_err(DeviceError::Oom)?;
    let table = |_| ctx.budget.filled(0u32, sides * n).map(Mutex::new).map_err(DeviceError::Oom);
    let tables = (0..threads).map(table).collect::<Result<Vec<_>, _>>()?;
    let mut counts = ctx.budget.filled(0, n).map_err(DeviceError::Oom)?;
    let ran = each_unit(&mut cpu.threads, units, units > 1, ctx, &|k, worker| {
        unit(k, &mut lock(&tables[worker]));
    })?;
    for table in &tables {
        for side in lock(table).chunks(n) {
            counts.iter_mut().zip(side).for_each(|(sum, count)| *sum += u64::from(*count));
        }
    }
    Ok((counts, ran))
}

/// The number of times that each of `origin` to `origin`+n-1 occurs among items of a type of whole
/// numbers. None: some item is none of these.
pub fn tally(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    source: Source,
    origin: i64,
    n: usize,
) -> Result<Option<(Vec<u64>, usize)>, DeviceError> {
    // SAFETY: a source holds so many of its type, and is not written while a launch runs.
    unsafe {
        match source.dtype {
            DType::I8 => tally_of(cpu, ctx, items::<i8>(source), origin, n),
            DType::I16 => tally_of(cpu, ctx, items::<i16>(source), origin, n),
            _ => tally_of(cpu, ctx, items::<i32>(source), origin, n),
        }
    }
}

/// The items of a unit that counts.
fn share_of(unit: usize, n: usize) -> std::ops::Range<usize> {
    unit * SHARE..((unit + 1) * SHARE).min(n)
}

/// A source's items. Safety: it holds items of the type, and nobody writes them.
unsafe fn items<'a, T>(source: Source) -> &'a [T] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(source.at.cast(), source.len) }
}

fn tally_of<T: Copy + Sync + std::convert::Into<i64>>(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    items: &[T],
    origin: i64,
    n: usize,
) -> Result<Option<(Vec<u64>, usize)>, DeviceError> {
    let fine = AtomicBool::new(true);
    let units = items.len().div_ceil(SHARE);
    let found = counts(cpu, ctx, (units, n, SIDE), &|unit, table| {
        let mut inside = true;
        let mut sides = table.chunks_exact_mut(n);
        let [Some(a), Some(b), Some(c), Some(d)] = std::array::from_fn(|_| sides.next()) else {
            return;
        };
        let mut one =
            |side: &mut [u32], x: T| match side.get_mut(x.into().wrapping_sub(origin) as usize) {
                Some(count) => *count += 1,
                None => inside = false,
            };
        let (some, rest) = items[share_of(unit, items.len())].as_chunks::<SIDE>();
        for [p, q, r, s] in some {
            one(a, *p);
            one(b, *q);
            one(c, *r);
            one(d, *s);
        }
        rest.iter().for_each(|x| one(a, *x));
        if !inside {
            fine.store(false, Ordering::Relaxed);
        }
    })?;
    Ok(fine.into_inner().then_some(found))
}

/// The items of a vector as they lie in memory with values, or one, at places that are whole
/// numbers from `origin` on, and the threads that took part. None: a place is outside, or a value
/// is none of the type.
pub fn typed(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    base: Source,
    (values, places): (&[f64], &[f64]),
    origin: f64,
) -> Result<Option<(PoolBuffer, usize)>, DeviceError> {
    let n = base.len;
    let inside = |place: &f64| *place >= origin && *place < origin + n as f64;
    let fit = (values.len() == 1 || values.len() == places.len()) && all_fit(base.dtype, values);
    if !fit || !places.iter().fold(true, |all, place| all & inside(place)) {
        return Ok(None);
    }
    let mut room = cpu.pool.buffer(base.dtype, n, ctx.budget).map_err(DeviceError::Oom)?;
    let parts = if n <= NEAR { 1 } else { cpu.threads.count() };
    let own = |k: usize| k * n / parts..(k + 1) * n / parts;
    let threads = with_type!(base.dtype, T => {
        let to = Apart(room.as_mut_ptr());
        // SAFETY: a source holds so many of its type, and is not written while a launch runs.
        let from = unsafe { items::<T>(base) };
        each_unit(&mut cpu.threads, parts, parts > 1, ctx, &|k, _| {
            let range = own(k);
            // SAFETY: the room holds n, and parts are disjoint.
            let to =
                unsafe { std::slice::from_raw_parts_mut(to.at::<T>(range.start), range.len()) };
            to.copy_from_slice(&from[range.clone()]);
            for first in (0..places.len()).step_by(SHARE) {
                if ctx.interrupt.is_set() {
                    return;
                }
                for k in first..places.len().min(first + SHARE) {
                    let at = ((places[k] - origin) as usize).wrapping_sub(range.start);
                    if let Some(to) = to.get_mut(at) {
                        *to = values[if values.len() == 1 { 0 } else { k }] as T;
                    }
                }
            }
        })?
    });
    Ok(Some((room, threads)))
}

/// True where all numbers are of a type; f32 are rounded.
fn all_fit(dtype: DType, values: &[f64]) -> bool {
    let Some((low, high)) = dtype.range() else { return true };
    let fits = |x: &f64| {
        let inside = (*x >= low) & (*x <= high) & (x.trunc() == *x);
        inside & !(*x == 0.0 && x.is_sign_negative())
    };
    values.iter().fold(true, |all, x| all & fits(x))
}

/// A scatter of `fed` (values and places) into `to`, which has `shape` and holds the base.
pub struct Into<'a> {
    pub what: &'a Whole,
    pub fed: &'a [Given<'a>],
    pub shape: &'a [usize],
    pub to: *mut f64,
    pub fail: &'a (dyn Fn(usize, Fail) + Sync),
}

// SAFETY: each element of `to` is one unit's.
unsafe impl Sync for Into<'_> {}

/// One axis moved by values: these, how far a step of one goes in the base, and how many there are.
struct Moved<'a> {
    by: Given<'a>,
    step: i64,
    extent: f64,
    origin: f64,
}

/// Whether a number that is added at many places of a base may be added as often as each place
/// occurs: these are whole numbers, so that any order of the sums is exact, and the base is small.
pub fn is_counted(combine: Option<(Op, f64)>, values: usize, base: &[f64], each: f64) -> bool {
    let n = base.len();
    let fits = n <= NEAR && values >= 4 * n && (BLOCK..u32::MAX as usize).contains(&values);
    let is_small = |x: &f64| x.abs() <= EXACT && x.fract() == 0.0 && !is_negative_zero(*x);
    fits && matches!(combine, Some((Op::Add, _)))
        && [each, each * values as f64].iter().chain(base).all(is_small)
}

/// A sum with it is another zero, so how often it is added to matters.
fn is_negative_zero(x: f64) -> bool {
    x == 0.0 && x.is_sign_negative()
}

/// A block of values for `Visit`: their first, their places, and which elements of the base are
/// ours.
struct Values<'a> {
    of: &'a Into<'a>,
    scatter: &'a Scatter<'a>,
    places: &'a [i64],
    first: usize,
    own: (i64, i64),
    ct: f64,
}

impl Into<'_> {
    /// On how many threads. `to` must hold `shape`'s elements.
    pub fn run(&self, cpu: &mut Cpu, ctx: &RunCtx) -> Result<usize, DeviceError> {
        let n = elements(self.shape);
        let scatter = Scatter::new(self.what, self.fed, self.shape);
        let (Some(scatter), Whole::Scatter { read, along, origin, combine }) = (scatter, self.what)
        else {
            return Err(DeviceError::Broken("what is no assignment by places runs as one".into()));
        };
        // Values that are all scalars have no axes.
        let domain = self.fed.iter().map(|g| g.shape).find(|s| !s.is_empty()).unwrap_or(&[]);
        let base = strides(self.shape);
        let moved: Vec<Moved> = along
            .iter()
            .zip(&self.fed[1..])
            .map(|(a, by)| Moved {
                by: Given { items: by.items, shape: by.shape },
                step: base[a.axis as usize] as i64 * a.times,
                extent: a.extent as f64,
                origin: *origin,
            })
            .collect();
        let walk = Walk::of_ix(&linear(&read.ix, self.shape, domain), domain);
        let place = |places: &mut [i64], point: &mut Vec<usize>, first: usize, tells: bool| {
            walk.pieces(first, places.len(), point, |k, piece| {
                if let Piece::From { at, step, len } = piece {
                    (0..len).for_each(|j| places[k + j] = at + step * j as i64);
                }
            });
            if !moved.iter().all(|m| m.add(places, first)) {
                self.one_by_one(&scatter, places, first, tells);
            }
        };
        if let Some(each) = self.counted(*combine, scatter.len(), n) {
            return self.count(cpu, ctx, (scatter.len(), n), each, &place);
        }
        let threads = if n > NEAR { cpu.threads.count() } else { 1 };
        let share = n.div_ceil(threads).max(1);
        each_unit(&mut cpu.threads, threads, threads > 1, ctx, &|unit, _| {
            let own = ((unit * share) as i64, ((unit + 1) * share).min(n) as i64);
            let (mut places, mut point) = (vec![NOWHERE; BLOCK], Vec::new());
            for first in (0..scatter.len()).step_by(BLOCK) {
                // A unit is long: more of them would go over all places as often.
                if ctx.interrupt.is_set() {
                    return;
                }
                let places = &mut places[..BLOCK.min(scatter.len() - first)];
                place(places, &mut point, first, unit == 0);
                let of = |ct| Values { of: self, scatter: &scatter, places, first, own, ct };
                match *combine {
                    None => of(0.0).put(),
                    // None: the operation has no fast rule.
                    Some((op, ct)) => visit(op, ct, &of(ct)).unwrap_or_else(|| of(ct).with_care()),
                }
            }
        })
    }

    /// The whole number that is added, if it may be counted.
    fn counted(&self, combine: Option<(Op, f64)>, values: usize, n: usize) -> Option<f64> {
        let each = self.fed[0];
        // SAFETY: it holds as many, and nobody writes it yet.
        let base = unsafe { std::slice::from_raw_parts(self.to, n) };
        let one = each.shape.is_empty().then(|| each.at(0))?;
        is_counted(combine, values, base, one).then_some(one)
    }

    /// Adds a whole number as often as each place occurs.
    fn count(
        &self,
        cpu: &mut Cpu,
        ctx: &RunCtx,
        (values, n): (usize, usize),
        each: f64,
        place: &(dyn Fn(&mut [i64], &mut Vec<usize>, usize, bool) + Sync),
    ) -> Result<usize, DeviceError> {
        let units = values.div_ceil(SHARE);
        let (counts, ran) = counts(cpu, ctx, (units, n, 1), &|unit, table| {
            let (mut room, mut point) = ([NOWHERE; BLOCK], Vec::new());
            let end = ((unit + 1) * SHARE).min(values);
            for first in (unit * SHARE..end).step_by(BLOCK) {
                let places = &mut room[..BLOCK.min(end - first)];
                place(places, &mut point, first, true);
                for at in places {
                    // What is nowhere is no place of the table.
                    if let Some(count) = table.get_mut(*at as usize) {
                        *count += 1;
                    }
                }
            }
        })?;
        for (k, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            // SAFETY: k is below the base's elements; the threads are done.
            unsafe { *self.to.add(k) += *count as f64 * each };
        }
        Ok(ran)
    }

    /// A block in which some value is no place.
    fn one_by_one(&self, scatter: &Scatter, places: &mut [i64], first: usize, tells: bool) {
        for (k, at) in places.iter_mut().enumerate() {
            *at = scatter.place(first + k).map_or_else(
                |fail| {
                    if tells {
                        (self.fail)(first + k, fail);
                    }
                    NOWHERE
                },
                |at| at as i64,
            );
        }
    }
}

impl Moved<'_> {
    /// Moves each place of a block; false: some value is no place, and the block is of no use.
    fn add(&self, places: &mut [i64], first: usize) -> bool {
        let whole = |x: f64| {
            let place = x - self.origin;
            // A value outside moves nothing here.
            let good = (0.0..self.extent).contains(&place);
            // An extent fits an i64, so does a place in it.
            (if good { place as i64 * self.step } else { 0 }, good)
        };
        let mut inside = true;
        match self.by.items.get(first..first + places.len()) {
            Some(items) if !self.by.shape.is_empty() => {
                for (at, &x) in places.iter_mut().zip(items) {
                    let (step, good) = whole(x);
                    *at += step;
                    inside &= good;
                }
            }
            _ => {
                let (step, good) = whole(self.by.at(first));
                places.iter_mut().for_each(|at| *at += step);
                inside = good;
            }
        }
        inside
    }
}

impl Values<'_> {
    /// A pass over the values: what stands at each place of ours becomes `f` of its value's number
    /// and of what stood there. Which places are ours no branch can foresee where threads share the
    /// base, so their numbers are written down first.
    fn each(&self, mut f: impl FnMut(usize, f64) -> f64) {
        let (from, to) = self.own;
        let (mut ours, mut count) = ([0u16; BLOCK], 0);
        for (k, &at) in self.places.iter().enumerate() {
            ours[count] = k as u16;
            count += usize::from(from <= at && at < to);
        }
        for &k in &ours[..count] {
            let k = usize::from(k);
            // SAFETY: 0 ≤ from ≤ at < to ≤ the base's elements, and these are this unit's.
            unsafe {
                let there = self.of.to.add(self.places[k] as usize);
                *there = f(self.first + k, *there);
            }
        }
    }

    /// The values themselves, which nothing is done to.
    fn put(&self) {
        let new = &self.of.fed[0];
        match new.items.get(self.first..self.first + self.places.len()) {
            Some(items) if !new.shape.is_empty() => self.each(|k, _| items[k - self.first]),
            _ => {
                let one = new.at(self.first);
                self.each(|_, _| one);
            }
        }
    }

    fn meaning(&self, k: usize, there: f64) -> f64 {
        self.scatter.value(there, k, &mut |k, fail| (self.of.fail)(k, fail))
    }

    fn with_care(&self) {
        self.each(|k, there| self.meaning(k, there));
    }
}

impl Visit for &Values<'_> {
    type Out = ();
    fn rule<R: Rule>(self) {
        let new = &self.of.fed[0];
        self.each(|k, there| {
            let (value, suspect) = R::lanes(there, new.at(k), self.ct);
            if suspect || !value.is_finite() { self.meaning(k, there) } else { value }
        });
    }
}

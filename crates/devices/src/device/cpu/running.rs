//! Scans of whole numbers along the last axis, where any order gives the same: sums, products of
//! truths, the greater, the lesser, parity. Anything else is `scan`.
//!
//! | what | strategy |
//! |---|---|
//! | a value that is only read | from its source, in the source's type |
//! | any other | its launch's loop first, into the output where its type has all values, else into i32; what does not fit is left to `scan` |
//! | rows up to a block | a running result a row |
//! | longer | every block's result, then those one after another, then each block from what stands before it |
//!
//! Results go straight into the launch's outputs where nothing follows them, else into f64. The
//! numbers are i64 on the way; before a sum could leave what an f64 holds exactly it is left to
//! `scan`, so the values are those of `prim::scan`.

use super::convert::{Sink, Source};
use super::fold::{Finals, Results};
use super::map::{Outputs, body_into};
use super::program::Input;
use super::share::{Tally, each_unit};
use super::{Cpu, DeviceError, RunCtx};
use aplomb_plans::plan::{Launch, Reduction, What};
use aplomb_values::array::{DType, around};
use aplomb_values::prim::op::Op;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// Elements of a block.
const BLOCK: usize = 16_384;
/// Elements whose running results are made before they are stored.
const PIECE: usize = 512;
/// The most that may stand before a block of i32 so that all sums in it are exact.
const MOST: i64 = 1 << 52;

/// All scans of a launch; None: some is none of these, or not with these values.
pub fn run(
    cpu: &mut Cpu,
    launch: &Launch,
    inputs: Vec<Input>,
    body: &Outputs,
    after: &Outputs,
    ctx: &RunCtx,
) -> Result<Option<Results>, DeviceError> {
    let Some(axis) = launch.axis else { return Ok(None) };
    let (outer, n, inner) = around(&launch.domain, axis);
    let all = outer * n;
    let ways: Option<Vec<Step>> = launch.reductions.iter().map(|r| way(launch, r)).collect();
    let (Some(ways), 1, 1..) = (ways, inner, all) else { return Ok(None) };
    let mut values = Vec::new();
    let outputs = after.of_reduced(&launch.after, ways.len());
    let sinks = match &outputs {
        Some(sinks) => sinks.clone(),
        None => {
            for _ in &ways {
                values
                    .push(cpu.pool.buffer(DType::F64, all, ctx.budget).map_err(DeviceError::Oom)?);
            }
            values.iter_mut().map(Sink::own).enumerate().collect()
        }
    };
    if sinks.iter().any(|(_, to)| to.dtype == DType::F32) {
        return Ok(None);
    }
    // What does not lie anywhere is made by the body, in its output where that can hold it.
    let (mut own, mut more, mut sources) = (Vec::new(), Vec::new(), Vec::new());
    for (r, (_, to)) in launch.reductions.iter().zip(&sinks) {
        let step = &launch.body[r.value as usize];
        if let Some(source) = plain(&step.what, &inputs, all) {
            sources.push(source);
            continue;
        }
        let truths = step.dtype == DType::Bool;
        let sink = if to.dtype == DType::I32 || truths && to.dtype.is_integer() {
            Sink { checked: !truths, stream: false, ..*to }
        } else {
            let mut made =
                cpu.pool.buffer(DType::I32, all, ctx.budget).map_err(DeviceError::Oom)?;
            let at = made.as_mut_ptr();
            own.push(made);
            Sink { at, dtype: DType::I32, checked: true, stream: false }
        };
        sources.push(Source { at: sink.at, dtype: sink.dtype, len: all });
        more.push((r.value, sink));
    }
    let (mut found, mut done) = (Tally::default(), Tally::default());
    if !launch.stores.is_empty() || !more.is_empty() {
        let (tally, misfits) = body_into(cpu, launch, inputs, body, &more, ctx)?;
        if misfits != 0 {
            return Ok(None);
        }
        found = tally;
    }
    for ((source, op), (number, to)) in sources.into_iter().zip(ways).zip(sinks) {
        let running = Running { source, to, op, outer, n, misfit: AtomicBool::new(false) };
        let Some(threads) = running.all(cpu, ctx)? else { return Ok(None) };
        let misfits = u64::from(running.misfit.into_inner()) << number;
        done.add(&Tally { fault: None, misfits, threads });
    }
    if outputs.is_some() {
        return Ok(Some(Results::Stored(found, done)));
    }
    found.add(&done);
    Ok(Some(Results::Finals(Finals { values, tally: found })))
}

/// The operation of a scan of whole numbers; None: it is none of these.
fn way(launch: &Launch, r: &Reduction) -> Option<Step> {
    let dtype = launch.body[r.value as usize].dtype;
    let op = of(r.op, dtype == DType::Bool)?;
    (dtype.is_integer() && r.dtype != DType::F32).then_some(op)
}

/// An operation of whole numbers that may be grouped in any way.
fn of(op: Op, truths: bool) -> Option<Step> {
    Some(match op {
        Op::Add => Step::Add,
        Op::Max => Step::Max,
        Op::Min => Step::Min,
        Op::Gcd if truths => Step::Max,
        Op::Lcm | Op::Mul if truths => Step::Min,
        Op::Ne if truths => Step::Differ,
        _ => return None,
    })
}

#[derive(Clone, Copy)]
enum Step {
    Add,
    Max,
    Min,
    Differ,
}

/// A value that is read in the domain's order, as whole numbers of its own type.
fn plain(what: &What, inputs: &[Input], all: usize) -> Option<Source> {
    let What::Load(k) = what else { return None };
    inputs.get(*k as usize)?.straight(all).filter(|source| source.dtype.is_integer())
}

/// One scan over outer × n.
struct Running {
    source: Source,
    /// Its output.
    to: Sink,
    op: Step,
    outer: usize,
    n: usize,
    misfit: AtomicBool,
}

// SAFETY: the source is only read, or it is the sink; each place of that is written by the thread
// that has its unit, when what lies there has been read.
unsafe impl Sync for Running {}

impl Running {
    /// None: some sum might not be exact. Else how many threads took part.
    fn all(&self, cpu: &mut Cpu, ctx: &RunCtx) -> Result<Option<usize>, DeviceError> {
        let together = self.outer * self.n > BLOCK;
        if self.n <= BLOCK {
            let rows = BLOCK / self.n;
            let units = self.outer.div_ceil(rows);
            let threads = each_unit(&mut cpu.threads, units, together, ctx, &|k, _| {
                for row in k * rows..((k + 1) * rows).min(self.outer) {
                    self.block(row * self.n, self.n, None);
                }
            })?;
            return Ok(Some(threads));
        }
        let blocks = self.n.div_ceil(BLOCK);
        let at = |k: usize| {
            let (row, part) = (k / blocks, k % blocks);
            (row * self.n + part * BLOCK, BLOCK.min(self.n - part * BLOCK))
        };
        let totals: Vec<AtomicI64> = (0..self.outer * blocks).map(|_| AtomicI64::new(0)).collect();
        each_unit(&mut cpu.threads, totals.len(), together, ctx, &|k, _| {
            let (from, len) = at(k);
            totals[k].store(self.total(from, len), Ordering::Relaxed);
        })?;
        let mut before: Vec<Option<i64>> = Vec::new();
        let mut sum = None;
        for (k, total) in totals.iter().enumerate() {
            if k % blocks == 0 {
                sum = None;
            }
            before.push(sum);
            let total = total.load(Ordering::Relaxed);
            let next = match sum {
                Some(sum) => self.op.of(sum, total),
                None => total,
            };
            if next.abs() > MOST {
                return Ok(None);
            }
            if self.to.checked && !self.fits(next) {
                // It is made again in a wider type, so nobody reads what this one would hold.
                self.misfit.store(true, Ordering::Relaxed);
                return Ok(Some(1));
            }
            sum = Some(next);
        }
        let work = |k: usize, _: usize| {
            let (from, len) = at(k);
            self.block(from, len, before[k]);
        };
        each_unit(&mut cpu.threads, before.len(), together, ctx, &work).map(Some)
    }

    /// The result of a block.
    fn total(&self, from: usize, len: usize) -> i64 {
        // SAFETY: the block is inside.
        unsafe {
            match self.source.dtype {
                DType::Bool => self.total_of::<u8>(from, len),
                DType::I8 => self.total_of::<i8>(from, len),
                DType::I16 => self.total_of::<i16>(from, len),
                _ => self.total_of::<i32>(from, len),
            }
        }
    }

    /// Safety: as `items`.
    unsafe fn total_of<T: Copy + Into<i64>>(&self, from: usize, len: usize) -> i64 {
        // SAFETY: the caller's.
        let items = unsafe { self.items::<T>(from, len) };
        let all = items.iter().map(|x| (*x).into());
        match self.op {
            Step::Add => all.sum(),
            Step::Max => all.fold(i64::MIN, i64::max),
            Step::Min => all.fold(i64::MAX, i64::min),
            Step::Differ => all.fold(0, |a, b| a ^ b),
        }
    }

    /// Safety: the source holds T from `from` on.
    unsafe fn items<T>(&self, from: usize, len: usize) -> &[T] {
        // SAFETY: the caller's.
        unsafe { std::slice::from_raw_parts(self.source.at.cast::<T>().add(from), len) }
    }

    /// The running results of a block, into the sink.
    fn block(&self, from: usize, len: usize, before: Option<i64>) {
        // SAFETY: the block is inside.
        unsafe {
            match self.source.dtype {
                DType::Bool => self.block_of::<u8>(from, len, before),
                DType::I8 => self.block_of::<i8>(from, len, before),
                DType::I16 => self.block_of::<i16>(from, len, before),
                _ => self.block_of::<i32>(from, len, before),
            }
        }
    }

    /// Safety: as `items`.
    unsafe fn block_of<T: Copy + Into<i64>>(&self, from: usize, len: usize, before: Option<i64>) {
        let mut sum = before;
        let mut made = [0i64; PIECE];
        for at in (from..from + len).step_by(PIECE) {
            // SAFETY: the caller's. Nobody holds a piece any more when results take its place.
            let piece = unsafe { self.items::<T>(at, PIECE.min(from + len - at)) };
            let mut last = match sum {
                Some(sum) => sum,
                None => self.op.neutral(),
            };
            let to = &mut made[..piece.len()];
            last = match self.op {
                Step::Add => prefixes(piece, to, last, |a, b| a + b),
                Step::Max => prefixes(piece, to, last, i64::max),
                Step::Min => prefixes(piece, to, last, i64::min),
                Step::Differ => prefixes(piece, to, last, |a, b| a ^ b),
            };
            sum = Some(last);
            let count = piece.len();
            self.store(at, &made[..count]);
        }
    }

    /// The sink's type has the number.
    fn fits(&self, x: i64) -> bool {
        let (least, most) = self.range();
        least <= x && x <= most
    }

    fn range(&self) -> (i64, i64) {
        match self.to.dtype.range() {
            Some((least, most)) => (least as i64, most as i64),
            None => (-2 * MOST, 2 * MOST),
        }
    }

    fn store(&self, at: usize, made: &[i64]) {
        // SAFETY: the sink holds the whole result, and these places are this thread's.
        let fine = unsafe {
            match self.to.dtype {
                DType::F64 => self.put(at, made, |x| x as f64),
                DType::I32 => self.put(at, made, |x| x as i32),
                DType::I16 => self.put(at, made, |x| x as i16),
                DType::I8 => self.put(at, made, |x| x as i8),
                _ => self.put(at, made, |x| u8::from(x != 0)),
            }
        };
        if !fine && self.to.checked {
            self.misfit.store(true, Ordering::Relaxed);
        }
    }

    /// False: some number does not fit. Safety: the sink holds T at these places.
    unsafe fn put<T>(&self, at: usize, made: &[i64], one: impl Fn(i64) -> T) -> bool {
        let (least, most) = self.range();
        let mut fits = true;
        // SAFETY: the caller's.
        let to =
            unsafe { std::slice::from_raw_parts_mut(self.to.at.cast::<T>().add(at), made.len()) };
        for (to, x) in to.iter_mut().zip(made) {
            fits &= least <= *x && *x <= most;
            *to = one(*x);
        }
        fits
    }
}

/// The running results of a piece from what stands before it; the last one.
#[inline(always)]
fn prefixes<T: Copy + Into<i64>>(
    piece: &[T],
    made: &mut [i64],
    mut last: i64,
    op: impl Fn(i64, i64) -> i64,
) -> i64 {
    for (to, x) in made.iter_mut().zip(piece) {
        last = op(last, (*x).into());
        *to = last;
    }
    last
}

impl Step {
    fn of(self, a: i64, b: i64) -> i64 {
        match self {
            Step::Add => a + b,
            Step::Max => a.max(b),
            Step::Min => a.min(b),
            Step::Differ => a ^ b,
        }
    }

    /// The number that changes nothing.
    fn neutral(self) -> i64 {
        match self {
            Step::Add | Step::Differ => 0,
            Step::Max => i64::MIN,
            Step::Min => i64::MAX,
        }
    }
}

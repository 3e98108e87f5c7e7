//! Scans along one axis, in the order of `prim::scan`.
//!
//! | axis | item | strategy |
//! |---|---|---|
//! | last, extent ≤ 4 096 | a row | one running fold |
//! | last, longer | a block of 4 096 | running folds in all blocks, then the totals one after another, then each block lifted |
//! | other | a tile of up to 1 024 columns | rows from the first to the last, blocks as above |
//!
//! The body runs first, as a map into one f64 buffer a scan, which is then scanned in place; the
//! part after reads it. Not here: body and scan in one pass over memory.

use super::convert::Sink;
use super::fold::Finals;
use super::map::{Outputs, body_into};
use super::program::Input;
use super::share::each_unit;
use super::{Cpu, DeviceError, Fault, RunCtx};
use crate::pool::lock;
use aplomb_plans::plan::{Launch, Reduction};
use aplomb_values::array::{DType, around, elements};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::Fail;
use aplomb_values::prim::scalar::single::rounded;
use aplomb_values::prim::scan::{BLOCK, step};
use std::sync::Mutex;

/// Columns in one item.
const TILE: usize = 1_024;
/// Elements below which a hand-off is not worth it.
const ALONE: usize = 16_384;

pub fn run(
    cpu: &mut Cpu,
    launch: &Launch,
    inputs: Vec<Input>,
    outputs: &Outputs,
    ctx: &RunCtx,
) -> Result<Finals, DeviceError> {
    let axis = launch.axis.filter(|a| *a < launch.domain.len());
    let axis =
        axis.ok_or_else(|| DeviceError::Broken("a launch scans an axis that it has not".into()))?;
    let n = elements(&launch.domain);
    let mut values = Vec::with_capacity(launch.reductions.len());
    for _ in &launch.reductions {
        values.push(cpu.pool.buffer(DType::F64, n, ctx.budget).map_err(DeviceError::Oom)?);
    }
    let more: Vec<_> =
        launch.reductions.iter().map(|r| r.value).zip(values.iter_mut().map(Sink::own)).collect();
    let (mut tally, _) = body_into(cpu, launch, inputs, outputs, &more, ctx)?;
    for (r, buffer) in launch.reductions.iter().zip(&mut values) {
        let whole =
            Line { at: buffer.as_mut_ptr().cast(), of: r, shape: around(&launch.domain, axis) };
        if let Some(fault) = whole.run(cpu, ctx)? {
            fault.keep_least(&mut tally.fault);
        }
    }
    Ok(Finals { values, tally })
}

/// The first failure that any thread met.
type Faults = Mutex<Option<Fault>>;

/// One scan, in place over outer × extent × inner.
struct Line<'a> {
    at: *mut f64,
    of: &'a Reduction,
    shape: (usize, usize, usize),
}

// SAFETY: items are disjoint, and each is worked on by one thread at a time.
unsafe impl Sync for Line<'_> {}

impl Line<'_> {
    fn run(&self, cpu: &mut Cpu, ctx: &RunCtx) -> Result<Option<Fault>, DeviceError> {
        let (outer, n, inner) = self.shape;
        let first = Faults::default();
        if n > BLOCK && inner == 1 {
            let blocks = n.div_ceil(BLOCK);
            let of =
                |k: usize| (k / blocks * n + k % blocks * BLOCK, BLOCK.min(n - k % blocks * BLOCK));
            self.each(cpu, ctx, outer * blocks, &|k| self.block(of(k), &first))?;
            let mut before = vec![None; outer * blocks];
            for k in 0..outer * blocks {
                if k % blocks > 0 {
                    let (at, len) = of(k - 1);
                    // SAFETY: a block of the buffer, which no thread works on now.
                    let total = unsafe { *self.at.add(at + len - 1) };
                    let sum: Option<f64> = before[k - 1];
                    before[k] =
                        Some(sum.map_or(total, |sum| self.step(sum, total, at + len - 1, &first)));
                }
            }
            self.each(cpu, ctx, outer * blocks, &|k| self.lift(of(k), before[k], &first))?;
        } else {
            let tiles = inner.div_ceil(TILE);
            self.each(cpu, ctx, outer * tiles, &|k| {
                let column = k % tiles * TILE;
                self.columns(k / tiles * n * inner + column, TILE.min(inner - column), &first);
            })?;
        }
        Ok(first.into_inner().unwrap_or_else(|e| e.into_inner()))
    }

    fn each(
        &self,
        cpu: &mut Cpu,
        ctx: &RunCtx,
        items: usize,
        work: &(dyn Fn(usize) + Sync),
    ) -> Result<(), DeviceError> {
        let (outer, n, inner) = self.shape;
        each_unit(&mut cpu.threads, items, outer * n * inner > ALONE, ctx, &|k, _| work(k))
            .map(drop)
    }

    fn step(&self, x: f64, y: f64, at: usize, first: &Faults) -> f64 {
        self.sure(step(self.of.op, x, y), at, first)
    }

    fn sure(&self, value: Result<f64, Fail>, at: usize, first: &Faults) -> f64 {
        value.unwrap_or_else(|fail| {
            let mut first = lock(first);
            Fault { site: self.of.site, index: at as u64, fail, node: self.of.node }
                .keep_least(&mut first);
            0.0
        })
    }

    fn round(&self, x: f64, at: usize, first: &Faults) -> f64 {
        if self.of.dtype == DType::F32 { self.sure(rounded(Ok(x)), at, first) } else { x }
    }

    /// `work` with the operation itself, inlined, where there is one; what it gives is looked at by
    /// `stepped`.
    fn with(&self, work: impl Work) {
        match self.of.op {
            Op::Add => work.run(|x, y| x + y),
            Op::Mul => work.run(|x, y| x * y),
            Op::Max => work.run(|x, y| if x > y { x } else { y }),
            Op::Min => work.run(|x, y| if x < y { x } else { y }),
            // NaN is never taken for a result: `stepped` asks the operation itself.
            _ => work.run(|_, _| f64::NAN),
        }
    }

    /// `step`, by `fast` where numbers are finite.
    #[inline(always)]
    fn stepped(
        &self,
        fast: &impl Fn(f64, f64) -> f64,
        (x, y): (f64, f64),
        at: usize,
        first: &Faults,
    ) -> f64 {
        let value = fast(x, y);
        // Of numbers beside NaN the greater is no number, whatever a comparison says.
        if value.is_finite() && x.is_finite() && y.is_finite() {
            value
        } else {
            self.step(x, y, at, first)
        }
    }

    fn block(&self, (at, len): (usize, usize), first: &Faults) {
        // SAFETY: the block is this thread's.
        let items = unsafe { std::slice::from_raw_parts_mut(self.at.add(at), len) };
        self.with(Running { line: self, items, at, first });
    }

    fn lift(&self, (at, len): (usize, usize), before: Option<f64>, first: &Faults) {
        // SAFETY: the block is this thread's.
        let items = unsafe { std::slice::from_raw_parts_mut(self.at.add(at), len) };
        if let Some(before) = before {
            self.with(Lifted { line: self, items, before, at, first });
        }
        if self.of.dtype == DType::F32 {
            items.iter_mut().enumerate().for_each(|(k, x)| *x = self.round(*x, at + k, first));
        }
    }

    /// Columns side by side, from the first row down.
    fn columns(&self, base: usize, width: usize, first: &Faults) {
        let (_, n, inner) = self.shape;
        let (mut sum, mut before) = (vec![0.0; width], vec![None; width]);
        for k in 0..n {
            let at = base + k * inner;
            // SAFETY: these columns are this thread's.
            let row = unsafe { std::slice::from_raw_parts_mut(self.at.add(at), width) };
            for (c, x) in row.iter_mut().enumerate() {
                sum[c] = if k % BLOCK == 0 { *x } else { self.step(sum[c], *x, at + c, first) };
                let whole = before[c].map_or(sum[c], |b| self.step(b, sum[c], at + c, first));
                if (k + 1) % BLOCK == 0 {
                    before[c] = Some(whole);
                }
                *x = self.round(whole, at + c, first);
            }
        }
    }
}

/// A loop over items, generic in the operation.
trait Work {
    fn run(self, fast: impl Fn(f64, f64) -> f64);
}

/// The running fold of a block.
struct Running<'a> {
    line: &'a Line<'a>,
    items: &'a mut [f64],
    at: usize,
    first: &'a Faults,
}

impl Work for Running<'_> {
    #[inline(always)]
    fn run(self, fast: impl Fn(f64, f64) -> f64) {
        let mut sum = self.items[0];
        for (k, x) in self.items.iter_mut().enumerate().skip(1) {
            sum = self.line.stepped(&fast, (sum, *x), self.at + k, self.first);
            *x = sum;
        }
    }
}

/// The total that stands before a block, in front of each of its items.
struct Lifted<'a> {
    line: &'a Line<'a>,
    items: &'a mut [f64],
    before: f64,
    at: usize,
    first: &'a Faults,
}

impl Work for Lifted<'_> {
    #[inline(always)]
    fn run(self, fast: impl Fn(f64, f64) -> f64) {
        for (k, x) in self.items.iter_mut().enumerate() {
            *x = self.line.stepped(&fast, (self.before, *x), self.at + k, self.first);
        }
    }
}

//! Scans along one axis, in the order of `prim::scan`. Those of whole numbers are `running`.
//!
//! | axis | item | strategy |
//! |---|---|---|
//! | last, extent ≤ 4 096 | rows | running folds, several rows side by side |
//! | last, longer | blocks of 4 096 | in waves that a cache holds: the blocks' totals, these one after another, then running folds from what stands before each; several blocks side by side |
//! | other | a tile of up to 1 024 columns | rows from the first to the last, blocks as above |
//!
//! Along the last axis floats that are only read are taken from where they lie, and results go
//! straight into the launch's output where nothing follows; any other body runs first, as a map
//! into a buffer a scan. `prefixes` has the loops; what is not finite to them goes item by item.

use super::convert::{Sink, Source, converts};
use super::fold::{Finals, Results};
use super::isa::Isa;
use super::map::{Outputs, body_into};
use super::prefixes::{Fold, LINES, Lines, Prefixes, is_float, prefixes};
use super::program::Input;
use super::running;
use super::share::{Tally, each_unit};
use super::{Cpu, DeviceError, Fault, RunCtx};
use crate::pool::{PoolBuffer, lock};
use aplomb_plans::plan::{Launch, Reduction, What};
use aplomb_values::array::{DType, around, elements};
use aplomb_values::prim::scalar::Fail;
use aplomb_values::prim::scalar::single::rounded;
use aplomb_values::prim::scan::{BLOCK, step};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Columns in one item.
const TILE: usize = 1_024;
/// Elements below which a hand-off is not worth it.
const ALONE: usize = 16_384;
/// Elements of a unit of rows.
const UNIT: usize = LINES * BLOCK;
/// Units of a wave, a thread: what is read twice is in a cache the second time.
const WAVE: usize = 8;

pub fn run(
    cpu: &mut Cpu,
    launch: &Launch,
    inputs: &dyn Fn() -> Result<Vec<Input>, DeviceError>,
    body: &Outputs,
    after: &Outputs,
    ctx: &RunCtx,
) -> Result<Results, DeviceError> {
    let axis = launch.axis.filter(|a| *a < launch.domain.len());
    let axis =
        axis.ok_or_else(|| DeviceError::Broken("a launch scans an axis that it has not".into()))?;
    if let Some((body, after)) = running::run(cpu, launch, inputs()?, body, after, ctx)? {
        return Ok(Results::Stored(body, after));
    }
    let n = elements(&launch.domain);
    let inputs = inputs()?;
    let make = |cpu: &Cpu, dtype| cpu.pool.buffer(dtype, n, ctx.budget).map_err(DeviceError::Oom);
    let shape = around(&launch.domain, axis);
    let along = shape.2 == 1;
    let mut sources: Vec<(Source, Option<PoolBuffer>)> = Vec::new();
    for r in &launch.reductions {
        sources.push(match lies(launch, r, &inputs).filter(|_| along) {
            Some(source) => (source, None),
            None => {
                let single = along && launch.body[r.value as usize].dtype == DType::F32;
                let own = make(cpu, if single { DType::F32 } else { DType::F64 })?;
                (Source::own(&own), Some(own))
            }
        });
    }
    let mut tally = Tally::default();
    if !launch.stores.is_empty() || sources.iter().any(|(_, own)| own.is_some()) {
        let values = launch.reductions.iter().zip(&mut sources);
        let more: Vec<_> =
            values.filter_map(|(r, (_, own))| Some((r.value, Sink::own(own.as_mut()?)))).collect();
        (tally, _) = body_into(cpu, launch, inputs, body, &more, ctx)?;
    }
    let mut values = Vec::new();
    for (r, (source, own)) in launch.reductions.iter().zip(sources) {
        if !along {
            let tiles = Tiles { at: source.at.cast_mut().cast(), of: r, shape };
            keep(tiles.run(cpu, ctx)?, &mut tally);
            values.extend(own);
            continue;
        }
        let (loops, isa) = (prefixes(cpu.isa, r.op), cpu.isa);
        let whole = |to| Along { source, to, of: r, shape, loops, isa };
        let only = after.of_reduced(&launch.after).filter(|_| launch.reductions.len() == 1);
        if let Some(to) = only.filter(|to| to.dtype == float(r.dtype)) {
            let (fault, threads) = whole(to).run(cpu, ctx)?;
            return Ok(Results::Stored(tally, Tally { fault, misfits: 0, threads }));
        }
        let mut to = make(cpu, float(r.dtype))?;
        keep(whole(Sink::own(&mut to)).run(cpu, ctx)?, &mut tally);
        values.push(to);
    }
    Ok(Results::Finals(Finals { values, tally }))
}

fn keep((fault, threads): (Option<Fault>, usize), tally: &mut Tally) {
    tally.add(&Tally { fault, misfits: 0, threads });
}

/// The floats in which values of a type are scanned.
fn float(dtype: DType) -> DType {
    if dtype == DType::F32 { DType::F32 } else { DType::F64 }
}

/// The floats that a scan is of, if they are read in the domain's order.
fn lies(launch: &Launch, of: &Reduction, inputs: &[Input]) -> Option<Source> {
    let What::Load(k) = launch.body[of.value as usize].what else { return None };
    inputs.get(k as usize)?.straight(elements(&launch.domain)).filter(|s| is_float(s.dtype))
}

/// The first failure that any thread met.
type Faults = Mutex<Option<Fault>>;

fn first(faults: Faults) -> Option<Fault> {
    faults.into_inner().unwrap_or_else(|e| e.into_inner())
}

/// The value, or 0 with its failure noted.
fn sure(of: &Reduction, value: Result<f64, Fail>, at: usize, faults: &Faults) -> f64 {
    value.unwrap_or_else(|fail| {
        let mut first = lock(faults);
        Fault { site: of.site, index: at as u64, fail, node: of.node }.keep_least(&mut first);
        0.0
    })
}

fn round(of: &Reduction, x: f64, at: usize, faults: &Faults) -> f64 {
    if of.dtype == DType::F32 { sure(of, rounded(Ok(x)), at, faults) } else { x }
}

/// One scan along outer rows.
struct Along<'a> {
    source: Source,
    to: Sink,
    of: &'a Reduction,
    shape: (usize, usize, usize),
    loops: Option<Prefixes>,
    isa: Isa,
}

// SAFETY: the source is only read, and each place of the sink is written by the thread that has its
// unit.
unsafe impl Sync for Along<'_> {}

/// Lines of a scan: `count` of them, `n` items each, `pitch` apart.
#[derive(Clone, Copy)]
struct Part {
    at: usize,
    pitch: usize,
    count: usize,
    n: usize,
}

/// Numbers of lines, if there are some.
type Each = [Option<f64>; LINES];

impl Along<'_> {
    fn run(&self, cpu: &mut Cpu, ctx: &RunCtx) -> Result<(Option<Fault>, usize), DeviceError> {
        let (outer, n, _) = self.shape;
        let (faults, together) = (Faults::default(), outer * n > ALONE);
        if outer * n == 0 {
            return Ok((None, 1));
        }
        let threads = if n <= BLOCK {
            let each = (UNIT / n).next_multiple_of(LINES);
            each_unit(&mut cpu.threads, outer.div_ceil(each), together, ctx, &|k, _| {
                let end = ((k + 1) * each).min(outer);
                for row in (k * each..end).step_by(LINES) {
                    let part = Part { at: row * n, pitch: n, count: LINES.min(end - row), n };
                    self.part(part, &[None; LINES], &faults);
                }
            })?
        } else {
            self.waves(cpu, ctx, together, &faults)?
        };
        Ok((first(faults), threads))
    }

    /// The k-th unit of long rows: whole blocks, and the last one of a row, which may be short.
    fn unit(&self, k: usize) -> (Part, Option<Part>) {
        let n = self.shape.1;
        let units = n.div_ceil(UNIT);
        let (row, from) = (k / units, k % units * UNIT);
        let whole = (n - from).min(UNIT) / BLOCK;
        let rest = (n - from).min(UNIT) % BLOCK;
        let at = row * n + from;
        let blocks = Part { at, pitch: BLOCK, count: whole, n: BLOCK };
        let last = Part { at: at + whole * BLOCK, pitch: BLOCK, count: 1, n: rest };
        (blocks, (rest > 0).then_some(last))
    }

    /// Rows of several blocks. A block's items need what stands before it, which is known when the
    /// totals of all before it are.
    fn waves(
        &self,
        cpu: &mut Cpu,
        ctx: &RunCtx,
        together: bool,
        faults: &Faults,
    ) -> Result<usize, DeviceError> {
        let units = self.shape.1.div_ceil(UNIT);
        let all = self.shape.0 * units;
        let wave = WAVE * cpu.threads.count();
        let totals: Vec<[AtomicU64; LINES]> = (0..wave).map(|_| Default::default()).collect();
        let mut befores: Vec<Each> = Vec::new();
        let (mut before, mut threads) = (None, 1);
        for start in (0..all).step_by(wave) {
            let count = wave.min(all - start);
            each_unit(&mut cpu.threads, count, together, ctx, &|k, _| {
                let (blocks, last) = self.unit(start + k);
                let mut found = self.totals(blocks, faults);
                if let Some(last) = last {
                    found[blocks.count] = self.totals(last, faults)[0];
                }
                for (to, total) in totals[k].iter().zip(found) {
                    to.store(total.to_bits(), Ordering::Relaxed);
                }
            })?;
            befores.clear();
            for (k, totals) in totals.iter().enumerate().take(count) {
                if (start + k).is_multiple_of(units) {
                    before = None;
                }
                let (blocks, last) = self.unit(start + k);
                let mut each = [None; LINES];
                for (j, to) in each.iter_mut().take(blocks.count + last.iter().len()).enumerate() {
                    *to = before;
                    let total = f64::from_bits(totals[j].load(Ordering::Relaxed));
                    let n = last.filter(|_| j == blocks.count).map_or(BLOCK, |last| last.n);
                    let end = blocks.at + j * BLOCK + n - 1;
                    before = Some(match before {
                        Some(sum) => self.step(sum, total, end, faults),
                        None => total,
                    });
                }
                befores.push(each);
            }
            threads = each_unit(&mut cpu.threads, count, together, ctx, &|k, _| {
                let (blocks, last) = self.unit(start + k);
                self.part(blocks, &befores[k], faults);
                if let Some(last) = last {
                    let mut own = [None; LINES];
                    own[0] = befores[k][blocks.count];
                    self.part(last, &own, faults);
                }
            })?;
        }
        Ok(threads)
    }

    /// The part's lines, for the loops; None: they have none.
    fn lines(&self, part: Part) -> Option<(Prefixes, Lines)> {
        let Part { at, pitch, count, n } = part;
        let loops = self.loops?;
        let fits = count > 0 && at + (count - 1) * pitch + n <= self.source.len;
        let at = self.source.at.wrapping_add(at * self.source.dtype.size());
        fits.then_some((
            loops,
            Lines { at, single: self.source.dtype == DType::F32, pitch, count, n },
        ))
    }

    /// The folds of lines, each by itself.
    fn totals(&self, part: Part, faults: &Faults) -> [f64; LINES] {
        let mut fold = Fold { before: [0.0; LINES], total: [0.0; LINES] };
        if let Some((loops, lines)) = self.lines(part) {
            fold.before = [loops.neutral; LINES];
            // SAFETY: the lines lie in the source.
            if unsafe { (loops.total)(lines, &mut fold) } {
                return fold.total;
            }
        }
        for (k, total) in fold.total.iter_mut().enumerate().take(part.count) {
            *total = self.one((part.at + k * part.pitch, part.n), None, false, faults);
        }
        fold.total
    }

    /// The running folds of lines into the sink.
    fn part(&self, part: Part, before: &Each, faults: &Faults) {
        let Part { at, pitch, count, n } = part;
        let size = self.to.dtype.size();
        if let Some((loops, lines)) = self.lines(part) {
            let before = before.map(|x| match x {
                Some(x) => x,
                None => loops.neutral,
            });
            let mut fold = Fold { before, total: [0.0; LINES] };
            let single = self.to.dtype == DType::F32;
            // SAFETY: the lines lie in the source, and the sink holds as many items.
            if unsafe { (loops.run)(lines, &mut fold, self.to.at.add(at * size), single) } {
                return;
            }
        }
        for (k, before) in before.iter().enumerate().take(count) {
            self.one((at + k * pitch, n), *before, true, faults);
        }
    }

    /// The running fold of a line by the scalar meaning, into the sink if it is wanted; its total.
    fn one(
        &self,
        (at, n): (usize, usize),
        before: Option<f64>,
        wanted: bool,
        faults: &Faults,
    ) -> f64 {
        let mut room = [0.0; BLOCK];
        let items = &mut room[..n];
        let converts = converts(self.isa);
        // SAFETY: the line lies in the source.
        unsafe { (converts.load)(self.source, at as i64, 1, n, items.as_mut_ptr()) };
        let mut sum = items[0];
        for (k, item) in items.iter_mut().enumerate() {
            if k > 0 {
                sum = self.step(sum, *item, at + k, faults);
            }
            if wanted {
                let whole = before.map_or(sum, |x| self.step(x, sum, at + k, faults));
                *item = round(self.of, whole, at + k, faults);
            }
        }
        if wanted {
            let (dtype, size) = (self.to.dtype, self.to.dtype.size());
            // SAFETY: the sink holds the whole result, and this line is this thread's.
            unsafe { (converts.store)(dtype, false, self.to.at.add(at * size), items.as_ptr(), n) };
        }
        sum
    }

    fn step(&self, x: f64, y: f64, at: usize, faults: &Faults) -> f64 {
        sure(self.of, step(self.of.op, x, y), at, faults)
    }
}

/// One scan, in place over outer × extent × inner, by tiles of columns.
struct Tiles<'a> {
    at: *mut f64,
    of: &'a Reduction,
    shape: (usize, usize, usize),
}

// SAFETY: items are disjoint, and each is worked on by one thread at a time.
unsafe impl Sync for Tiles<'_> {}

impl Tiles<'_> {
    fn run(&self, cpu: &mut Cpu, ctx: &RunCtx) -> Result<(Option<Fault>, usize), DeviceError> {
        let (outer, n, inner) = self.shape;
        let (faults, tiles) = (Faults::default(), inner.div_ceil(TILE));
        let together = outer * n * inner > ALONE;
        let threads = each_unit(&mut cpu.threads, outer * tiles, together, ctx, &|k, _| {
            let column = k % tiles * TILE;
            self.columns(k / tiles * n * inner + column, TILE.min(inner - column), &faults);
        })?;
        Ok((first(faults), threads))
    }

    fn step(&self, x: f64, y: f64, at: usize, faults: &Faults) -> f64 {
        sure(self.of, step(self.of.op, x, y), at, faults)
    }

    /// Columns side by side, from the first row down.
    fn columns(&self, base: usize, width: usize, faults: &Faults) {
        let (_, n, inner) = self.shape;
        let (mut sum, mut before) = ([0.0; TILE], [None; TILE]);
        for k in 0..n {
            let at = base + k * inner;
            // SAFETY: these columns are this thread's.
            let row = unsafe { std::slice::from_raw_parts_mut(self.at.add(at), width) };
            for (c, x) in row.iter_mut().enumerate() {
                sum[c] = if k % BLOCK == 0 { *x } else { self.step(sum[c], *x, at + c, faults) };
                let whole = before[c].map_or(sum[c], |b| self.step(b, sum[c], at + c, faults));
                if (k + 1) % BLOCK == 0 {
                    before[c] = Some(whole);
                }
                *x = round(self.of, whole, at + c, faults);
            }
        }
    }
}

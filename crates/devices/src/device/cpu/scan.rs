//! Scans along one axis, in the order of `prim::scan`. Those of whole numbers are `running`.
//!
//! | axis | item | strategy |
//! |---|---|---|
//! | last, extent ≤ 4 096 | rows | running folds, several rows side by side |
//! | last, longer | blocks of 4 096 | in waves that a cache holds: the blocks' totals, these one after another, then running folds from what stands before each; several blocks side by side |
//! | other | a tile of up to 1 024 columns | rows from the first to the last, blocks as above |
//!
//! Along the last axis floats that are only read are taken from where they lie. Any other body runs
//! wave by wave, into a buffer of a wave for each scan: so it is read again while a cache has it,
//! and there is no array of it. Along other axes it runs first, and is scanned where it stands.
//! Results go straight into the launch's outputs where nothing follows them. `prefixes` has the
//! loops; what is not finite to them goes item by item.

use super::convert::{Sink, Source, converts};
use super::fold::{Finals, Results};
use super::isa::Isa;
use super::map::{self, Outputs, body_into};
use super::prefixes::{Fold, LINES, Lines, Prefixes, is_float, prefixes};
use super::program::Input;
use super::running;
use super::share::{Tally, each_unit};
use super::{Cpu, DeviceError, Fault, RunCtx};
use crate::pool::{PoolBuffer, lock};
use aplomb_plans::plan::{Launch, Reduction, ValueId, What};
use aplomb_values::array::{DType, around, elements};
use aplomb_values::prim::scalar::Fail;
use aplomb_values::prim::scalar::single::rounded;
use aplomb_values::prim::scan::{BLOCK, step};
use std::ops::Range;
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
/// The same where the body fills a buffer of a wave, which is to be little beside the arrays.
const FILLED: usize = 4;

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
    if let Some(found) = running::run(cpu, launch, inputs()?, body, after, ctx)? {
        return Ok(found);
    }
    let (outer, n, inner) = around(&launch.domain, axis);
    let dtype = |r: &Reduction| if inner == 1 { float(r.dtype) } else { DType::F64 };
    // The outputs of all scans, where these are all that there is; else buffers for what follows.
    let count = launch.reductions.len();
    let outputs = after.of_reduced(&launch.after, count).filter(|sinks| {
        let mut each = sinks.iter().zip(&launch.reductions);
        each.all(|((_, to), r)| to.dtype == dtype(r))
    });
    let (mut values, stored) = (Vec::new(), outputs.is_some());
    let sinks: Vec<Sink> = match outputs {
        Some(sinks) => sinks.into_iter().map(|(_, to)| to).collect(),
        None => {
            for r in &launch.reductions {
                let made = make(cpu, dtype(r), outer * n * inner, ctx)?;
                values.push(made);
            }
            values.iter_mut().map(Sink::own).collect()
        }
    };
    let sinks: Vec<Sink> = sinks.into_iter().map(|to| Sink { stream: false, ..to }).collect();
    let inputs = inputs()?;
    let [of_body, mut of_scans] = match inner {
        1 => rows(cpu, launch, inputs, body, &sinks, (Rows { outer, n }, ctx))?,
        _ => {
            let values = launch.reductions.iter().map(|r| r.value);
            let more: Vec<_> = values.zip(sinks.iter().copied()).collect();
            let (found, _) = body_into(cpu, launch, inputs, body, &more, ctx)?;
            let mut tally = Tally::default();
            for (r, to) in launch.reductions.iter().zip(&sinks) {
                let tiles = Tiles { at: to.at.cast(), of: r, shape: (outer, n, inner) };
                keep(tiles.run(cpu, ctx)?, &mut tally);
            }
            [found, tally]
        }
    };
    if stored {
        return Ok(Results::Stored(of_body, of_scans));
    }
    of_scans.add(&of_body);
    Ok(Results::Finals(Finals { values, tally: of_scans }))
}

fn make(cpu: &Cpu, dtype: DType, n: usize, ctx: &RunCtx) -> Result<PoolBuffer, DeviceError> {
    cpu.pool.buffer(dtype, n, ctx.budget).map_err(DeviceError::Oom)
}

/// All scans of a launch along its last axis into these sinks, wave by wave. What the body found,
/// and what the scans did.
fn rows(
    cpu: &mut Cpu,
    launch: &Launch,
    inputs: Vec<Input>,
    outputs: &Outputs,
    sinks: &[Sink],
    (shape, ctx): (Rows, &RunCtx),
) -> Result<[Tally; 2], DeviceError> {
    let lying: Vec<Option<Source>> =
        launch.reductions.iter().map(|r| lies(launch, r, &inputs)).collect();
    let runs = !launch.stores.is_empty() || lying.iter().any(Option::is_none);
    let (units, all) = (shape.units(), shape.start(shape.units()));
    let wave = match () {
        () if runs => FILLED * cpu.threads.count(),
        () if shape.n > BLOCK => WAVE * cpu.threads.count(),
        () => units.max(1),
    };
    // A wave of what does not lie anywhere.
    let mut own: Vec<PoolBuffer> = Vec::new();
    let mut more: Vec<(ValueId, Sink)> = Vec::new();
    for (r, _) in launch.reductions.iter().zip(&lying).filter(|(_, lies)| lies.is_none()) {
        let dtype = float(launch.body[r.value as usize].dtype);
        let mut made = make(cpu, dtype, all.min(wave.saturating_mul(shape.most())), ctx)?;
        more.push((r.value, Sink::own(&mut made)));
        own.push(made);
    }
    let (body, mut filled) = map::body(cpu, launch, inputs, outputs, &more);
    let mut befores: Vec<Option<f64>> = sinks.iter().map(|_| None).collect();
    let totals: Vec<[AtomicU64; LINES]> =
        (0..wave.min(units)).map(|_| Default::default()).collect();
    let (mut found, mut done) = (Tally::default(), Tally::default());
    for first in (0..units.max(1)).step_by(wave) {
        let last = (first + wave).min(units);
        let points = shape.start(first)..shape.start(last);
        if runs {
            // Its first item is that of the wave.
            let to = &mut filled[outputs.sinks.len()..];
            for (to, (_, own)) in to.iter_mut().zip(&more) {
                to.at = own.at.wrapping_sub(points.start * own.dtype.size());
            }
            found.add(&body.run(cpu, &filled, points, ctx)?);
        }
        let mut made = filled[outputs.sinks.len()..].iter();
        for (k, of) in launch.reductions.iter().enumerate() {
            let here = || made.next().map(|s| Source { at: s.at, dtype: s.dtype, len: all });
            let source = lying[k].or_else(here);
            let source = source.ok_or_else(|| DeviceError::Broken("a scan of nothing".into()))?;
            let (loops, isa) = (prefixes(cpu.isa, of.op), cpu.isa);
            let along = Along { source, to: sinks[k], of, shape, loops, isa };
            keep(along.run(cpu, ctx, first..last, &mut befores[k], &totals)?, &mut done);
        }
    }
    let stores = (1 << outputs.sinks.len()) - 1;
    Ok([Tally { misfits: found.misfits & stores, ..found }, done])
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

/// Rows of n items, cut into units: some rows where they are short, else blocks of one.
#[derive(Clone, Copy)]
struct Rows {
    outer: usize,
    n: usize,
}

impl Rows {
    /// The rows of a unit, where rows are short.
    fn each(self) -> usize {
        (UNIT / self.n.max(1)).next_multiple_of(LINES)
    }

    /// The units of a row, where rows are long.
    fn cut(self) -> usize {
        self.n.div_ceil(UNIT)
    }

    fn units(self) -> usize {
        match self.n {
            0 => 0,
            1..=BLOCK => self.outer.div_ceil(self.each()),
            _ => self.outer * self.cut(),
        }
    }

    /// The first item of a unit; the number of all, of the unit behind the last.
    fn start(self, k: usize) -> usize {
        match self.n {
            0 => 0,
            1..=BLOCK => (k * self.each()).min(self.outer) * self.n,
            n => k / self.cut() * n + k % self.cut() * UNIT,
        }
    }

    /// The most items of a unit.
    fn most(self) -> usize {
        if self.n <= BLOCK { self.each() * self.n } else { UNIT }
    }

    /// A unit of a long row: whole blocks, and the last one of the row, which may be short.
    fn unit(self, k: usize) -> (Part, Option<Part>) {
        let (at, from) = (self.start(k), k % self.cut() * UNIT);
        let whole = (self.n - from).min(UNIT) / BLOCK;
        let rest = (self.n - from).min(UNIT) % BLOCK;
        let blocks = Part { at, pitch: BLOCK, count: whole, n: BLOCK };
        let last = Part { at: at + whole * BLOCK, pitch: BLOCK, count: 1, n: rest };
        (blocks, (rest > 0).then_some(last))
    }
}

/// One scan along outer rows.
struct Along<'a> {
    /// The items that are scanned; of a wave, those of that alone.
    source: Source,
    to: Sink,
    of: &'a Reduction,
    shape: Rows,
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
    /// The units of a wave, which goes on from what stands before it.
    fn run(
        &self,
        cpu: &mut Cpu,
        ctx: &RunCtx,
        units: Range<usize>,
        before: &mut Option<f64>,
        totals: &[[AtomicU64; LINES]],
    ) -> Result<(Option<Fault>, usize), DeviceError> {
        let Rows { outer, n } = self.shape;
        let (faults, together) = (Faults::default(), outer * n > ALONE);
        if units.is_empty() {
            return Ok((None, 1));
        }
        let threads = if n <= BLOCK {
            each_unit(&mut cpu.threads, units.len(), together, ctx, &|k, _| {
                let from = self.shape.start(units.start + k) / n;
                let end = self.shape.start(units.start + k + 1) / n;
                for row in (from..end).step_by(LINES) {
                    let part = Part { at: row * n, pitch: n, count: LINES.min(end - row), n };
                    self.part(part, &[None; LINES], &faults);
                }
            })?
        } else {
            self.blocks(cpu, ctx, (units, together), before, totals, &faults)?
        };
        Ok((first(faults), threads))
    }

    /// Blocks of long rows. A block's items need what stands before it, which is known when the
    /// totals of all before it are.
    fn blocks(
        &self,
        cpu: &mut Cpu,
        ctx: &RunCtx,
        (units, together): (Range<usize>, bool),
        before: &mut Option<f64>,
        totals: &[[AtomicU64; LINES]],
        faults: &Faults,
    ) -> Result<usize, DeviceError> {
        each_unit(&mut cpu.threads, units.len(), together, ctx, &|k, _| {
            let (blocks, last) = self.shape.unit(units.start + k);
            let mut found = self.totals(blocks, faults);
            if let Some(last) = last {
                found[blocks.count] = self.totals(last, faults)[0];
            }
            for (to, total) in totals[k].iter().zip(found) {
                to.store(total.to_bits(), Ordering::Relaxed);
            }
        })?;
        let mut befores: Vec<Each> = Vec::new();
        for (unit, totals) in units.clone().zip(totals) {
            if unit.is_multiple_of(self.shape.cut()) {
                *before = None;
            }
            let (blocks, last) = self.shape.unit(unit);
            let mut each = [None; LINES];
            for (j, to) in each.iter_mut().take(blocks.count + last.iter().len()).enumerate() {
                *to = *before;
                let total = f64::from_bits(totals[j].load(Ordering::Relaxed));
                let n = last.filter(|_| j == blocks.count).map_or(BLOCK, |last| last.n);
                let end = blocks.at + j * BLOCK + n - 1;
                *before = Some(match *before {
                    Some(sum) => self.step(sum, total, end, faults),
                    None => total,
                });
            }
            befores.push(each);
        }
        each_unit(&mut cpu.threads, units.len(), together, ctx, &|k, _| {
            let (blocks, last) = self.shape.unit(units.start + k);
            self.part(blocks, &befores[k], faults);
            if let Some(last) = last {
                let mut own = [None; LINES];
                own[0] = befores[k][blocks.count];
                self.part(last, &own, faults);
            }
        })
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
        let size = self.source.dtype.size();
        let line = Source { at: self.source.at.wrapping_add(at * size), ..self.source };
        // SAFETY: the line lies in the source.
        unsafe { (converts.load)(line, 0, 1, n, items.as_mut_ptr()) };
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

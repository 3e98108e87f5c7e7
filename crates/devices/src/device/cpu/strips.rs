//! Strips: launches that go row by row, all of them on some rows before any of them on the next.
//!
//! | launches, one behind the other | strategy |
//! |---|---|
//! | maps, and folds along the last axis, over as many rows | a strip of rows that fits the second cache goes through all of them |
//! | anything else | each launch over its whole domain |
//!
//! `X÷⍤1 0⊢(+/X×X)*0.5` has two launches, both of which read X, and softmax has three. Over whole
//! domains each of them brings from memory what the one before it has just read or written; a strip
//! is still in the cache.
//!
//! Why it is right: a row of a later launch reads of what earlier ones in the strip write that row
//! alone (`goes_by_rows` looks at every read), and the same thread has written it. Each row is made
//! by the same programs in the same order as without strips, so the bits are the same. Where
//! anything fails or does not fit its type nothing is kept, and the launches run one after the
//! other, which tells of it.

use super::batch::Batch;
use super::chunk::{Env, Frame};
use super::convert::Sink;
use super::cut::{ALONE_NS, Cut, Fold};
use super::emit::{self, Parts};
use super::fold::Pass;
use super::map::{Outputs, in_order, inputs_of, part, through};
use super::program::{Input, Program, Work, lower};
use super::share::{each_unit, past_the_caches};
use super::turned::Turned;
use super::typed::Typed;
use super::{Cpu, DeviceError, Held, Isa, LaunchStats, RunCtx, product};
use crate::pool::{PoolBuffer, lock};
use aplomb_plans::plan::{BufId, Kind, Launch, Pass as Folds, Plan, Step, Store, What};
use aplomb_values::array::{DType, elements};
use aplomb_values::body::finite::hides;
use aplomb_values::dag::ix::Ix;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// The sizes that strips hang on.
pub struct Sizes {
    /// Bytes of a strip.
    pub strip: usize,
    /// Bytes that all launches read and write, below which they stay in the caches anyway.
    pub least: usize,
}

impl Default for Sizes {
    /// A strip takes half of a common second cache.
    fn default() -> Sizes {
        Sizes { strip: 256 << 10, least: 4 << 20 }
    }
}

/// Launches that ran strip by strip, or that were tried so.
pub struct Strips {
    /// The launch behind them.
    pub end: usize,
    /// Their results are there.
    pub done: bool,
}

/// The buffers that a launch reads, by its loads.
fn reads(launch: &Launch) -> impl Iterator<Item = BufId> + '_ {
    launch.loads.iter().map(|load| load.buf)
}

fn stores(launch: &Launch) -> impl Iterator<Item = &Store> {
    launch.stores.iter().chain(&launch.after_stores)
}

/// Whether a launch makes each of so many rows from itself alone, as far as it reads what is made
/// before it in a strip.
fn goes_by_rows(plan: &Plan, launch: &Launch, rows: usize, made: &[BufId]) -> bool {
    let rank = launch.domain.len();
    let shape = match launch.kind {
        Kind::Map => launch.axis.is_none(),
        Kind::Reduce => {
            let fits = |of: &Folds| of.block.is_some_and(|b| launch.domain[rank - 1] <= b);
            rank > 1
                && launch.axis == Some(rank - 1)
                && matches!(launch.passes().as_slice(), [of] if fits(of) && !of.folds.is_empty())
        }
        Kind::Scan | Kind::Compact | Kind::Whole => false,
    };
    let own_row = |(k, load): (usize, &aplomb_plans::plan::Load)| {
        let mut users = launch.body.iter().chain(&launch.after);
        let only_read =
            |step: &Step| step.what.load() != Some(k as u32) || matches!(step.what, What::Load(_));
        !made.contains(&load.buf)
            || plan.buffer(load.buf).shape.first() == Some(&rows)
                && load.read.ix.first() == Some(&Ix::axis(0))
                && users.all(only_read)
    };
    shape
        && launch.domain.first() == Some(&rows)
        && elements(&launch.domain) > 0
        && launch.loads.iter().enumerate().all(own_row)
        && stores(launch).all(|store| plan.buffer(store.buf).shape.first() == Some(&rows))
}

/// The launches from one on that go by rows, and bring from memory again what an earlier one of
/// them has had. None: there are not two, or they are small.
pub fn group(cpu: &Cpu, plan: &Plan, first: usize) -> Option<Range<usize>> {
    let launches = &plan.launches[first..];
    let &rows = launches.first()?.domain.first()?;
    let (mut made, mut read): (Vec<BufId>, Vec<BufId>) = (Vec::new(), Vec::new());
    let mut count = 0;
    for launch in launches {
        let again = |buf: BufId| made.contains(&buf) || read.contains(&buf);
        let joins = count == 0 || reads(launch).any(again);
        let other = product::factors(launch, cpu.isa).is_some();
        if !joins || other || !goes_by_rows(plan, launch, rows, &made) {
            break;
        }
        made.extend(stores(launch).map(|store| store.buf));
        read.extend(reads(launch));
        count += 1;
    }
    let range = first..first + count;
    let moved: usize = range.clone().map(|k| bytes(plan, &plan.launches[k])).sum();
    (count > 1 && moved >= cpu.sizes.least && rows > 1).then_some(range)
}

/// The bytes of what a launch reads and writes, each buffer once.
fn bytes(plan: &Plan, launch: &Launch) -> usize {
    let mut all: Vec<BufId> = reads(launch).chain(stores(launch).map(|s| s.buf)).collect();
    all.sort_unstable_by_key(|buf| buf.0);
    all.dedup();
    let size = |buf: &BufId| {
        let buffer = plan.buffer(*buf);
        elements(&buffer.shape).saturating_mul(buffer.dtype.size())
    };
    all.iter().map(size).fold(0, usize::saturating_add)
}

/// One part of a launch: its body, or what follows its folds.
struct Stage<'a> {
    /// The launch, by its number among those of the strips.
    launch: usize,
    steps: &'a [Step],
    sinks: Vec<Sink>,
    program: Program,
    emitted: Option<Parts>,
    /// Elements of a row; of a fold the items of one.
    each: usize,
    does: Does<'a>,
}

enum Does<'a> {
    /// A chunk ends at multiples of so many elements.
    Map(usize),
    Fold(Folding<'a>),
}

/// Folds along rows.
struct Folding<'a> {
    pass: Pass<'a>,
    folds: Vec<Fold<'a>>,
    typed: Option<Typed>,
    /// Folds whose results are rounded to f32, into these.
    short: Vec<(usize, Sink)>,
}

// SAFETY: each row of a sink is written by the thread that has its strip.
unsafe impl Sync for Stage<'_> {}

impl Stage<'_> {
    /// Rows of the strip. False: a result is not finite.
    fn rows(&self, isa: Isa, frame: &mut Frame, env: &Env, rows: Range<usize>) -> bool {
        let range = rows.start * self.each..rows.end * self.each;
        let Does::Fold(own) = &self.does else {
            let Does::Map(row) = self.does else { return false };
            through(frame, env, row, range);
            return true;
        };
        own.pass.items(isa, own.typed.as_ref(), (frame, env), &own.folds, range.clone());
        own.short.iter().all(|(k, sink)| {
            // SAFETY: both hold a result for each item, and this strip's are this thread's.
            unsafe {
                let (from, n) = (own.folds[*k].out.add(range.start), range.len());
                let to = sink.at.cast::<f32>().add(range.start);
                (env.converts.store)(DType::F32, false, to.cast(), from, n);
                std::slice::from_raw_parts(to, n).iter().fold(true, |all, x| all & x.is_finite())
            }
        })
    }
}

/// What is made for the launches of strips: it lives until they are over.
struct Made<'a> {
    stages: Vec<Stage<'a>>,
    /// Results of folds, which what follows reads.
    results: Vec<PoolBuffer>,
}

/// Runs launches strip by strip, from one on. None: there are none of that kind. Errors: those of
/// `launch::run`, but no fault.
pub fn run(
    cpu: &mut Cpu,
    plan: &Plan,
    first: usize,
    held: &mut [Option<Held>],
    ctx: &RunCtx,
) -> Result<Option<Strips>, DeviceError> {
    let Some(range) = group(cpu, plan, first) else { return Ok(None) };
    let launches = &plan.launches[range.clone()];
    let passes: Vec<Vec<Folds>> = launches.iter().map(Launch::passes).collect();
    let mut made = Made { stages: Vec::new(), results: Vec::new() };
    let mut fits = true;
    for (k, launch) in launches.iter().enumerate() {
        fits = fits && prepare(cpu, plan, (k, launch, &passes[k]), &range, held, ctx, &mut made)?;
    }
    let done = fits && go(cpu, &made.stages, &range, plan, ctx)?;
    if !done {
        for store in launches.iter().flat_map(stores) {
            held[store.buf.0 as usize] = None;
        }
    }
    Ok(Some(Strips { end: range.end, done }))
}

/// Makes the stages of a launch, and its outputs. False: it has a better way of its own.
fn prepare<'a>(
    cpu: &mut Cpu,
    plan: &'a Plan,
    (k, launch, passes): (usize, &'a Launch, &'a [Folds]),
    range: &Range<usize>,
    held: &mut [Option<Held>],
    ctx: &RunCtx,
    made: &mut Made<'a>,
) -> Result<bool, DeviceError> {
    let mut body = Outputs::new(cpu, plan, &launch.stores, &[], ctx)?;
    let mut after = Outputs::new(cpu, plan, &launch.after_stores, &[], ctx)?;
    // What is read in the strip again stays in the caches.
    for out in [&mut body, &mut after] {
        out.stay(|store| {
            plan.buffer(store.buf).last_use.is_some_and(|last| range.contains(&(last as usize)))
        });
    }
    let inputs = inputs_of(plan, held, &launch.loads, &launch.body, &launch.domain)?;
    let rows = launch.domain[0];
    let work = part(cpu, launch, &launch.body, &launch.domain, &body);
    if launch.axis.is_none() {
        made.stages.push(map_stage(cpu, k, work, inputs, body.sinks.clone(), rows));
        body.keep(held);
        return Ok(true);
    }
    if Batch::of(launch, &inputs).is_some() || Turned::of(launch, &inputs).is_some() {
        return Ok(false);
    }
    let [of] = passes else { return Ok(false) };
    let cut = Cut::new(&launch.domain, launch.domain.len() - 1, of.block);
    let pass = Pass { launch, cut, folds: &of.folds, stores: true };
    // The domain without the axis that is folded, which is the last.
    let outer = &launch.domain[..launch.domain.len() - 1];
    let items = elements(outer);
    let (mut folds, mut short, mut reduced) = (Vec::new(), Vec::new(), Vec::new());
    for (at, &r) in of.folds.iter().enumerate() {
        let own = |dtype| cpu.pool.buffer(dtype, items, ctx.budget).map_err(DeviceError::Oom);
        let mut results = own(DType::F64)?;
        folds.push(pass.fold(cpu, &launch.reductions[r], &mut results));
        if launch.reductions[r].dtype == DType::F32 {
            let mut rounded = own(DType::F32)?;
            short.push((at, Sink::own(&mut rounded)));
            made.results.push(std::mem::replace(&mut results, rounded));
        }
        reduced.push(in_order(&results, outer));
        made.results.push(results);
    }
    let keep = folds.iter().map(|f| (f.of.value, hides(f.of.op))).collect();
    let program = lower(Work { keep, ..work }, inputs.clone());
    let sinks = body.sinks.clone();
    let typed = Typed::of((launch, cut), &folds, &inputs, &program, &cpu.loops);
    let emitted = match &typed {
        None => emit::parts(&cpu.loops, &program, &launch.body, &sinks, (&launch.domain, false)),
        Some(_) => None,
    };
    made.stages.push(Stage {
        launch: k,
        steps: &launch.body,
        sinks,
        program,
        emitted,
        each: items / rows,
        does: Does::Fold(Folding { pass, folds, typed, short }),
    });
    if !launch.after.is_empty() {
        let own = inputs_of(plan, held, &launch.loads, &launch.after, outer)?;
        let work = Work { reduced, ..part(cpu, launch, &launch.after, outer, &after) };
        made.stages.push(map_stage(cpu, k, work, own, after.sinks.clone(), rows));
    }
    body.keep(held);
    after.keep(held);
    Ok(true)
}

/// A part that is a map over a domain of so many rows.
fn map_stage<'a>(
    cpu: &Cpu,
    launch: usize,
    work: Work<'a>,
    inputs: Vec<Input>,
    sinks: Vec<Sink>,
    rows: usize,
) -> Stage<'a> {
    let (steps, domain) = (work.steps, work.domain);
    let program = lower(work, inputs);
    let emitted = emit::parts(&cpu.loops, &program, steps, &sinks, (domain, true));
    let does = Does::Map(program.row(domain));
    Stage { launch, steps, sinks, program, emitted, each: elements(domain) / rows, does }
}

/// All stages on one strip after another. False: something failed, or did not fit.
fn go(
    cpu: &mut Cpu,
    stages: &[Stage<'_>],
    launches: &Range<usize>,
    plan: &Plan,
    ctx: &RunCtx,
) -> Result<bool, DeviceError> {
    let all = &plan.launches[launches.clone()];
    let rows = all[0].domain[0];
    let strip = (cpu.sizes.strip.saturating_mul(rows)
        / all.iter().map(|l| bytes(plan, l)).sum::<usize>().max(1))
    .max(1);
    let ns: f64 = stages.iter().map(|s| s.program.ns * (s.each * rows) as f64).sum();
    let envs: Vec<Env> = stages
        .iter()
        .map(|s| Env::new(cpu.isa, &s.program, s.steps, &s.sinks, ctx.interrupt).with(&s.emitted))
        .collect();
    for frames in &cpu.strips {
        let mut frames = lock(frames);
        let count = stages.len().max(frames.len());
        frames.resize_with(count, Frame::default);
        frames.iter_mut().zip(&envs).for_each(|(frame, env)| frame.reset(env));
    }
    let (isa, frames, whole) = (cpu.isa, &cpu.strips, AtomicBool::new(true));
    let spent: Vec<AtomicU64> = all.iter().map(|_| AtomicU64::new(0)).collect();
    let (units, together) = (rows.div_ceil(strip), ns > ALONE_NS);
    let threads = each_unit(&mut cpu.threads, units, together, ctx, &|unit, worker| {
        let mut frames = lock(&frames[worker]);
        let range = unit * strip..((unit + 1) * strip).min(rows);
        for ((stage, env), frame) in stages.iter().zip(&envs).zip(frames.iter_mut()) {
            let begun = Instant::now();
            if !stage.rows(isa, frame, env, range.clone()) {
                whole.store(false, Ordering::Relaxed);
            }
            let ns = begun.elapsed().as_nanos() as u64;
            spent[stage.launch].fetch_add(ns, Ordering::Relaxed);
        }
        past_the_caches();
    })?;
    let mut fine = whole.into_inner() && stages.iter().all(|s| s.program.fault.is_none());
    let mut broken = stages.iter().any(|s| s.program.broken);
    for frames in frames {
        for frame in lock(frames).iter().take(stages.len()) {
            fine &= frame.fault.is_none() && frame.misfits == 0;
            broken |= frame.broken;
        }
    }
    if broken {
        return Err(DeviceError::Broken("a read goes beyond its source".into()));
    }
    if !fine {
        return Ok(false);
    }
    for (launch, spent) in launches.clone().zip(spent) {
        let micros = spent.into_inner() as f64 / 1e3 / threads as f64;
        let (clock, why) = ("monotonic", String::new());
        cpu.stats.push(LaunchStats { launch, micros, clock, threads, runs: 1, gpu: None, why });
    }
    Ok(true)
}

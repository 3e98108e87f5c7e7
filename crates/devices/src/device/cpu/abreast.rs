//! Launches that go through the same rows: all of them on a few rows, then on the next ones.
//!
//! | stored, and read by a later one of them | place | measured: softmax of 4096 rows of 512 f64 |
//! |---|---|---|
//! | nobody else wants it | the thread's own room for the rows it is at, which stays in the second cache | 3.1 ms, 3.6 one after the other; the first run, whose memory is new, 5 ms and 18 |
//! | others do, too | its buffer; its rows are near when they are read | – |
//!
//! Why it is right: the rows are the points of the axes that all of these launches begin with, and
//! a read of what one of them stores is in its reader's own row, by its index along these axes. So
//! a row needs nothing of another, each launch finds what it would find if the ones before were
//! over, and the results are the same to the bit. Launches whose integers may leave their type are
//! not taken, for these run again.

use super::super::Together;
use super::batch::Batch;
use super::chunk::{Env, Frame};
use super::convert::{Sink, Source, converts};
use super::cut::{Cut, Fold};
use super::fold::{Known, Pass, Ready as Folding};
use super::launch::Done;
use super::map::{Outputs, Ready, in_order, inputs_of, part, some};
use super::product;
use super::program::Work;
use super::rounded::Singles;
use super::share::{each_unit, past_the_caches};
use super::turned::Turned;
use super::{Cpu, DeviceError, Fault, Held, RunCtx};
use crate::pool::{PoolBuffer, lock};
use aplomb_plans::plan::{BufId, Kind, Launch, Load, Pass as Order, Plan, Store, What};
use aplomb_values::array::{DType, Shape, Storage, elements};
use aplomb_values::dag::ix::Ix;
use aplomb_values::prim::op::Op;
use std::ops::Range;
use std::sync::Mutex;
use std::time::Instant;

/// The least points of a launch for which it pays: fewer are near as it is.
const MANY: usize = if cfg!(test) { 64 } else { 1 << 16 };
/// The least number of rows.
const ROWS: usize = 16;
/// Bytes of some rows that stay near, of what a launch reads and stores.
const NEAR: usize = 512 << 10;
/// The most points of a row: of more than that not one would be near.
const WIDE: usize = NEAR / 8;
/// Bytes of a point of a launch, with what it reads.
const POINT: usize = 24;
/// Some place, of what has none until a thread is at a row.
const NOWHERE: usize = 4096;

/// Launches of a plan, and how many axes the rows are of.
struct Abreast {
    launches: Range<usize>,
    lead: usize,
}

/// Something that is stored for a later one of the launches alone.
struct Near {
    buf: BufId,
    dtype: DType,
    len: usize,
    /// Bytes of a row.
    row: usize,
    /// The bytes before it in a thread's room.
    at: usize,
}

/// The one order of a launch's folds, and its axes around rows. None: it has no rows of its own.
fn rows_of(plan: &Plan, launch: &Launch) -> Option<(Option<Order>, usize)> {
    let sure = |store: &Store| {
        let buffer = plan.buffer(store.buf);
        !(buffer.checked && buffer.dtype.is_integer())
    };
    if !launch.stores.iter().chain(&launch.after_stores).all(sure) {
        return None;
    }
    match (launch.kind, launch.axis) {
        (Kind::Map, None) => Some((None, launch.domain.len())),
        (Kind::Reduce, Some(axis)) if axis + 1 == launch.domain.len() => {
            let mac = |of: u32| match &launch.body[of as usize].what {
                What::Op { op, .. } => *op == Op::Mac,
                _ => false,
            };
            let extent = launch.domain[axis];
            let [order] = <[Order; 1]>::try_from(launch.passes()).ok()?;
            let whole = extent > 0 && order.block.is_some_and(|block| extent <= block);
            let others = launch.reductions.iter().any(|of| mac(of.value));
            (whole && !others).then_some((Some(order), axis))
        }
        _ => None,
    }
}

/// Whether a read of a source is in its reader's own row. Nor may it go from row to row of the
/// source within that, which is read ahead (`ahead`).
fn is_in_row(load: &Load, shape: &[usize], rows: &[usize], last: usize) -> bool {
    let ix = &load.read.ix;
    let lead = rows.len();
    ix.len() >= lead
        && ix.len() == shape.len()
        && shape[..lead] == *rows
        && (0..lead).all(|axis| ix[axis] == Ix::axis(axis))
        && ix.iter().all(Ix::is_affine)
        && ix.split_last().is_some_and(|(_, others)| !others.iter().any(|ix| ix.mentions(last)))
}

impl Abreast {
    fn of(plan: &Plan, first: usize) -> Option<Abreast> {
        let launches = &plan.launches;
        let start = launches.get(first)?;
        if first + 1 == launches.len() || elements(&start.domain) < MANY {
            return None;
        }
        let (mut lead, mut end) = (rows_of(plan, start)?.1, first + 1);
        while let Some(next) = launches.get(end) {
            let Some((_, own)) = rows_of(plan, next) else { break };
            let same = start.domain.iter().zip(&next.domain).take_while(|(x, y)| x == y).count();
            let common = lead.min(own).min(same);
            let rows = &start.domain[..common];
            let made = |buf: BufId| {
                let stores = |l: &Launch| {
                    l.stores.iter().chain(&l.after_stores).any(|store| store.buf == buf)
                };
                launches[first..end].iter().any(stores)
            };
            let reads = |(_, load): &(usize, &Load)| made(load.buf);
            let mut reads = next.loads.iter().enumerate().filter(reads).peekable();
            let fits = |(k, load): (usize, &Load)| {
                // What follows folds has an axis less.
                let after = next.after.iter().any(|step| step.what.load() == Some(k as u32));
                let last = next.domain.len() - if after { 2 } else { 1 };
                is_in_row(load, &plan.buffer(load.buf).shape, rows, last)
            };
            let count = elements(rows);
            let wide = [start, next].iter().any(|l| elements(&l.domain) / count.max(1) > WIDE);
            if common == 0 || count < ROWS || wide || reads.peek().is_none() || !reads.all(fits) {
                break;
            }
            (lead, end) = (common, end + 1);
        }
        (end > first + 1).then_some(Abreast { launches: first..end, lead })
    }

    /// The arrays that are stored for these launches alone.
    fn near(&self, plan: &Plan, rows: usize) -> Vec<Near> {
        let own = |buf: BufId| {
            let last = plan.buffer(buf).last_use?;
            ((last as usize) < self.launches.end).then_some(buf)
        };
        let stores = plan.launches[self.launches.clone()].iter().flat_map(|l| &l.stores);
        let near = |buf: BufId| {
            let buffer = plan.buffer(buf);
            let dtype = if buffer.dtype == DType::Nested { DType::F64 } else { buffer.dtype };
            let len = elements(&buffer.shape);
            Near { buf, dtype, len, row: len / rows * dtype.size(), at: 0 }
        };
        stores.filter_map(|store| own(store.buf)).map(near).collect()
    }
}

/// A launch's steps, or those that follow its folds, with all that they are made of.
struct Part<'a> {
    stores: &'a [Store],
    loads: &'a [Load],
    sinks: Vec<Sink>,
    /// Points or items of a row.
    each: usize,
    way: Way<'a>,
}

enum Way<'a> {
    Map(Ready<'a>),
    Folds { pass: Pass<'a>, ready: Folding, folds: Vec<Fold<'a>>, singles: Vec<Singles<'a>> },
}

/// A part as threads see it.
struct Seen<'a> {
    part: (&'a [Store], &'a [Load], usize),
    env: Env<'a>,
    way: Does<'a>,
}

enum Does<'a> {
    Map(usize),
    Folds {
        pass: &'a Pass<'a>,
        known: Known<'a>,
        folds: &'a [Fold<'a>],
        singles: &'a [Singles<'a>],
    },
}

/// A thread's own.
struct Desk {
    room: PoolBuffer,
    /// The time that each part took, seconds.
    spent: Vec<f64>,
    fault: Option<Fault>,
    broken: bool,
}

/// Launches that are done, each with its time, µs; and how they ran together.
type All = (Vec<(Done, f64)>, Option<Together>);

/// Runs launches of a plan from one on together, where there are such.
pub fn run(
    cpu: &mut Cpu,
    plan: &Plan,
    first: usize,
    held: &mut [Option<Held>],
    ctx: &RunCtx,
) -> Result<Option<All>, DeviceError> {
    let begun = Instant::now();
    let of = if ctx.abreast { Abreast::of(plan, first) } else { None };
    let Some(of) = of else { return Ok(None) };
    let launches = &plan.launches[of.launches.clone()];
    let rows = elements(&launches[0].domain[..of.lead]);
    let wide = launches.iter().map(|l| elements(&l.domain) / rows).fold(1, usize::max);
    let step = (NEAR / (POINT * wide)).clamp(1, rows.div_ceil(4 * cpu.threads.count()));
    let mut near = of.near(plan, rows);
    if near.is_empty() {
        return Ok(None);
    }
    let mut room = 0;
    for own in &mut near {
        own.at = room;
        // Loops may read a register beyond the end.
        room += (own.row * step).next_multiple_of(64) + 64;
    }
    let outers: Vec<Shape> = launches.iter().map(Launch::outer).collect();
    let (mut parts, mut whose, mut rooms) = (Vec::new(), Vec::new(), Vec::new());
    let kept = cpu.kept.clone();
    for ((k, launch), outer) in of.launches.clone().zip(launches).zip(&outers) {
        kept.launch(k);
        let is_near = |buf: BufId| near.iter().find(|own| own.buf == buf);
        let place = |buf| is_near(buf).map(|_| std::ptr::without_provenance_mut(NOWHERE));
        let mut body = Outputs::but(cpu, plan, &launch.stores, &[], &place, ctx)?;
        let mut after = Outputs::new(cpu, plan, &launch.after_stores, &[], ctx)?;
        // What is read again stays near.
        for (store, sink) in body.stores().iter().zip(&mut body.sinks) {
            let read = |l: &Launch| l.loads.iter().any(|load| load.buf == store.buf);
            let folded = launch.reductions.iter().any(|of| of.value == store.value);
            sink.stream &= !folded && !launches.iter().any(read);
        }
        let lies = |buf: BufId| match is_near(buf) {
            Some(own) => {
                let at = std::ptr::without_provenance(NOWHERE);
                Some(Source { at, dtype: own.dtype, len: own.len })
            }
            None => Some(held.get(buf.0 as usize)?.as_ref()?.source()),
        };
        let reads = |of| inputs_of(&kept, plan, &lies, &launch.loads, of);
        let inputs = reads((&launch.body, &launch.domain))?;
        let each = elements(&launch.domain) / rows;
        let (stores, loads) = (&*launch.stores, &*launch.loads);
        let Some((order, _)) = rows_of(plan, launch) else { return Ok(None) };
        whose.push(k - first);
        let Some(order) = order else {
            let work = part(cpu, launch, &launch.body, &launch.domain, &body);
            let way = Way::Map(Ready::new(cpu, work, inputs, &body.sinks));
            parts.push(Part { stores, loads, sinks: body.sinks.clone(), each, way });
            body.keep(held);
            continue;
        };
        let others = Batch::of(launch, &inputs).is_some() || Turned::of(launch, &inputs).is_some();
        if others || product::is_one(launch, cpu.isa) {
            return Ok(None);
        }
        let (axis, extent) = (launch.domain.len() - 1, launch.domain[launch.domain.len() - 1]);
        let cut = Cut::new(&launch.domain, axis, order.block);
        let pass = Pass { launch, cut, number: 1, folds: order.folds };
        let mut partials = pass.parts(cpu, ctx)?;
        let (folds, work) = pass.folds(cpu, &mut partials, &body);
        let ready = pass.ready(cpu, &folds, (work, inputs), true, &body.sinks);
        let (mut values, mut singles) = (Vec::new(), Vec::new());
        for (own, partial) in launch.reductions.iter().zip(partials) {
            if own.dtype != DType::F32 {
                values.push(partial);
                continue;
            }
            let made = cpu.pool.buffer(DType::F32, partial.len(), ctx.budget);
            let mut made = made.map_err(DeviceError::Oom)?;
            let (from, to) = (partial.as_ptr().cast(), Sink::own(&mut made));
            singles.push(Singles { of: own, from, to, converts: converts(cpu.isa) });
            values.push(made);
            rooms.push(partial);
        }
        let way = Way::Folds { pass, ready, folds, singles };
        parts.push(Part { stores, loads, sinks: body.sinks.clone(), each: each / extent, way });
        if !after.takes(&launch.after, &mut values) {
            let reduced = values.iter().map(|b| in_order(b, outer)).collect();
            let inputs = reads((&launch.after, outer))?;
            let work = Work { reduced, ..part(cpu, launch, &launch.after, outer, &after) };
            let way = Way::Map(Ready::new(cpu, work, inputs, &after.sinks));
            let (stores, sinks) = (&*launch.after_stores, after.sinks.clone());
            parts.push(Part { stores, loads, sinks, each: each / extent, way });
            whose.push(k - first);
        }
        rooms.extend(values);
        body.keep(held);
        after.keep(held);
    }
    let seen: Vec<Seen> = parts.iter().map(|part| part.seen(cpu, ctx)).collect();
    let desk = |_| {
        let room = cpu.pool.buffer(DType::I8, room, ctx.budget).map_err(DeviceError::Oom)?;
        let fault = seen.iter().filter_map(|own| own.env.program.fault).min_by_key(|f| f.site);
        let broken = seen.iter().any(|own| own.env.program.broken);
        Ok(Mutex::new(Desk { room, spent: seen.iter().map(|_| 0.0).collect(), fault, broken }))
    };
    let desks: Vec<_> = (0..cpu.threads.count()).map(desk).collect::<Result<_, DeviceError>>()?;
    let frames = &cpu.frames;
    let units = rows.div_ceil(step);
    let threads = each_unit(&mut cpu.threads, units, true, ctx, &|unit, worker| {
        let own = unit * step..rows.min((unit + 1) * step);
        let (mut frame, mut desk) = (lock(&frames[worker]), lock(&desks[worker]));
        let desk = &mut *desk;
        let base = desk.room.as_mut_ptr();
        let lies = |buf: BufId| {
            let near = near.iter().find(|near| near.buf == buf)?;
            Some(base.wrapping_add(near.at).wrapping_sub(own.start * near.row))
        };
        let mut last = Instant::now();
        for (seen, spent) in seen.iter().zip(&mut desk.spent) {
            seen.run(&mut frame, &own, &lies, &mut desk.fault);
            desk.broken |= frame.broken;
            let now = Instant::now();
            *spent += (now - last).as_secs_f64();
            last = now;
        }
        past_the_caches();
    })?;
    drop(seen);
    drop(parts);
    let mut spent: Vec<f64> = launches.iter().map(|_| 0.0).collect();
    let mut fault: Option<Fault> = None;
    for desk in &desks {
        let desk = lock(desk);
        if desk.broken {
            return Err(DeviceError::Broken("a read goes beyond its source".into()));
        }
        if let Some(own) = desk.fault {
            own.keep_least(&mut fault);
        }
        whose.iter().zip(&desk.spent).for_each(|(k, own)| spent[*k] += own);
    }
    let all = spent.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let micros = begun.elapsed().as_secs_f64() * 1e6;
    let done = |own: f64| (Done { fault, threads, runs: 1 }, micros * own / all);
    let bytes = |own: &Near| (own.len * own.dtype.size()) as u64;
    let together = Together { launches: launches.len(), near: near.iter().map(bytes).sum() };
    Ok(Some((spent.into_iter().map(done).collect(), Some(together))))
}

impl<'a> Part<'a> {
    fn seen<'b>(&'b self, cpu: &Cpu, ctx: &'b RunCtx) -> Seen<'b>
    where
        'a: 'b,
    {
        let (env, way) = match &self.way {
            Way::Map(ready) => (ready.env(&self.sinks, ctx), Does::Map(ready.row())),
            Way::Folds { pass, ready, folds, singles } => {
                let known = ready.known();
                (
                    pass.env(ready, cpu.isa, &self.sinks, ctx),
                    Does::Folds { pass, known, folds, singles },
                )
            }
        };
        Seen { part: (self.stores, self.loads, self.each), env, way }
    }
}

impl Seen<'_> {
    /// Some rows by one thread; `lies` tells where that has what is near.
    fn run(
        &self,
        frame: &mut Frame,
        rows: &Range<usize>,
        lies: &dyn Fn(BufId) -> Option<*mut u8>,
        fault: &mut Option<Fault>,
    ) {
        let (stores, loads, each) = self.part;
        let own = rows.start * each..rows.end * each;
        let sink = |(sink, store): (&Sink, &Store)| match lies(store.buf) {
            Some(at) => Sink { at, ..*sink },
            None => *sink,
        };
        let sinks: Vec<Sink> = self.env.sinks.iter().zip(stores).map(sink).collect();
        let source = |(k, input): (usize, &super::program::Input)| match loads
            .get(k)
            .and_then(|load| lies(load.buf))
        {
            Some(at) => Source { at, ..input.source },
            None => input.source,
        };
        let inputs = &self.env.program.inputs;
        let sources: Vec<Source> = inputs.iter().enumerate().map(source).collect();
        let env = Env { sinks: &sinks, sources: Some(&sources), ..self.env };
        frame.reset(&env);
        match &self.way {
            Does::Map(row) => some(frame, &env, *row, own),
            Does::Folds { pass, known, folds, singles } => {
                let mut moved = folds.to_vec();
                for fold in moved.iter_mut().filter(|fold| fold.stored.is_some()) {
                    let at = stores.iter().position(|store| store.value == fold.of.value);
                    fold.stored = at.map(|at| sinks[at].at.cast_const().cast());
                }
                pass.items(*known, (frame, &env), &moved, own.clone());
                for own_type in *singles {
                    // SAFETY: these items are this thread's.
                    unsafe { own_type.range(own.clone(), &mut frame.fault) };
                }
            }
        }
        if let Some(own) = frame.fault {
            own.keep_least(fault);
        }
    }
}

//! A launch's steps at each point of a domain: the inputs that they read, the outputs that they
//! fill, and the plain map, which is a launch of its own or the body of another shape.

use super::chunk::{Env, Frame};
use super::convert::Sink;
use super::convert::Source;
use super::emit::{self, Parts};
use super::isa::Isa;
use super::kept::{Kept, Made};
use super::program::{Input, Work, lower};
use super::share::{Tally, share, unit};
use super::strides::Strides;
use super::walk::Walk;
use super::{Cpu, DeviceError, Held, RunCtx};
use crate::pool::PoolBuffer;
use aplomb_plans::plan::{BufId, Launch, Load, Plan, Step, Store, ValueId, What};
use aplomb_values::array::{DType, Storage, elements};
use aplomb_values::dag::ix::Ix;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// From here on an output goes past the caches (triad 1.3–1.4× faster).
const STREAM_BYTES: usize = 16 << 20;
/// Work below this is not worth a hand-off.
const ALONE_NS: f64 = 20_000.0;
/// The buffers that a list of stores fills.
pub struct Outputs<'a> {
    stores: &'a [Store],
    /// None: what is stored goes where its reader says (`abreast`).
    buffers: Vec<Option<PoolBuffer>>,
    pub sinks: Vec<Sink>,
}

impl<'a> Outputs<'a> {
    pub fn new(
        cpu: &Cpu,
        plan: &Plan,
        stores: &'a [Store],
        wide: &[BufId],
        ctx: &RunCtx,
    ) -> Result<Outputs<'a>, DeviceError> {
        Outputs::but(cpu, plan, stores, wide, &|_| None, ctx)
    }

    /// The same but for those whose place is known.
    pub fn but(
        cpu: &Cpu,
        plan: &Plan,
        stores: &'a [Store],
        wide: &[BufId],
        place: &dyn Fn(BufId) -> Option<*mut u8>,
        ctx: &RunCtx,
    ) -> Result<Outputs<'a>, DeviceError> {
        if stores.len() > 64 {
            return Err(DeviceError::Broken(format!(
                "a launch stores {} buffers; 64 are the most",
                stores.len()
            )));
        }
        let mut out = Outputs { stores, buffers: Vec::new(), sinks: Vec::new() };
        for store in stores {
            let buffer = plan.buffer(store.buf);
            let (dtype, checked) = match (wide.contains(&store.buf), buffer.dtype) {
                (true, _) | (_, DType::Nested) => (DType::F64, false),
                (false, dtype) => (dtype, buffer.checked && dtype.is_integer()),
            };
            if let Some(at) = place(store.buf) {
                out.buffers.push(None);
                out.sinks.push(Sink { at, dtype, checked, stream: false });
                continue;
            }
            let mut made = cpu
                .pool
                .buffer(dtype, elements(&buffer.shape), ctx.budget)
                .map_err(DeviceError::Oom)?;
            let stream = made.len() * dtype.size() >= STREAM_BYTES;
            out.sinks.push(Sink { at: made.as_mut_ptr(), dtype, checked, stream });
            out.buffers.push(Some(made));
        }
        Ok(out)
    }

    pub fn stores(&self) -> &'a [Store] {
        self.stores
    }

    /// Value and whether its sink finds ∞ by itself, for `Work`.
    pub fn for_work(&self) -> Vec<(u32, bool)> {
        self.stores
            .iter()
            .zip(&self.sinks)
            .map(|(store, sink)| (store.value, sink.checked))
            .collect()
    }

    /// The output of each of so many reductions, and its number, where they are all of a launch's
    /// results, as they are.
    pub fn of_reduced(&self, after: &[Step], count: usize) -> Option<Vec<(usize, Sink)>> {
        let one = |k: usize| {
            let value = after.iter().position(|step| step.what == What::Reduced(k as u32))?;
            let at = self.stores.iter().position(|store| store.value as usize == value)?;
            Some((at, *self.sinks.get(at)?))
        };
        let all = after.len() == count && self.stores.len() == count;
        (0..count).map(one).collect::<Option<Vec<_>>>().filter(|_| all)
    }

    /// Takes a launch's result as it is, where nothing follows it and it is stored as it is.
    pub fn takes(&mut self, after: &[Step], values: &mut Vec<PoolBuffer>) -> bool {
        let ([step], [sink], [Some(buffer)]) =
            (after, self.sinks.as_slice(), self.buffers.as_mut_slice())
        else {
            return false;
        };
        let What::Reduced(k) = step.what else { return false };
        let own = (buffer.dtype(), buffer.len());
        let fits = sink.dtype == buffer.dtype()
            && values.get(k as usize).is_some_and(|v| (v.dtype(), v.len()) == own);
        if fits {
            *buffer = values.swap_remove(k as usize);
        }
        fits
    }

    pub fn note(&self, tally: &Tally, wide: &mut Vec<BufId>) {
        let misfit = |k: &usize| tally.misfits >> k & 1 == 1;
        wide.extend((0..self.stores.len()).filter(misfit).map(|k| self.stores[k].buf));
    }

    pub fn keep(self, held: &mut [Option<Held>]) {
        for (store, buffer) in self.stores.iter().zip(self.buffers) {
            held[store.buf.0 as usize] = buffer.map(|made| Held::Made(Arc::new(made)));
        }
    }
}

/// Loads as inputs of the program of `steps` over `domain`; `lies` tells where a buffer is.
pub fn inputs_of(
    kept: &Kept,
    plan: &Plan,
    lies: &dyn Fn(BufId) -> Option<Source>,
    loads: &[Load],
    (steps, domain): (&[Step], &[usize]),
) -> Result<Vec<Input>, DeviceError> {
    let source = |k: usize| {
        let early = || {
            let buffer = loads[k].buf.0;
            DeviceError::Broken(format!("buffer {buffer} is read before it is written"))
        };
        lies(loads[k].buf).ok_or_else(early)
    };
    let used = |k: usize| steps.iter().any(|s| s.what.load() == Some(k as u32));
    let one = |(k, load): (usize, &Load)| {
        // The read of a load that the other part uses speaks of other axes.
        let walk = match used(k) {
            true => Walk::of_read(&load.read, &plan.buffer(load.buf).shape, domain),
            false => Walk::of_ix(&Ix::constant(0), domain),
        };
        let shape = plan.buffer(load.buf).shape.clone();
        Ok(Input { source: source(k)?, shape, flat: walk.flat(), walk: Arc::new(walk) })
    };
    kept.inputs(steps, source, || loads.iter().enumerate().map(one).collect())
}

/// A buffer over the whole domain.
pub fn in_order(buffer: &PoolBuffer, domain: &[usize]) -> Input {
    let source = Source::own(buffer);
    let walk = Walk::of_read(&aplomb_values::dag::Read::identity(domain.len()), domain, domain);
    Input { source, shape: domain.into(), flat: walk.flat(), walk: Arc::new(walk) }
}

pub fn part<'a>(
    cpu: &Cpu,
    launch: &'a Launch,
    steps: &'a [Step],
    domain: &'a [usize],
    outputs: &Outputs,
) -> Work<'a> {
    let stores = outputs.for_work();
    Work {
        isa: cpu.isa,
        domain,
        steps,
        guards: &launch.guards,
        loads: &launch.loads,
        stores,
        keep: Vec::new(),
        reduced: Vec::new(),
    }
}

/// Steps that are ready to run at any points of a domain.
pub struct Ready<'a> {
    made: Rc<Made>,
    steps: &'a [Step],
    isa: Isa,
}

impl<'a> Ready<'a> {
    /// Steps whose results go into sinks of these types.
    pub fn new(cpu: &Cpu, work: Work<'a>, inputs: Vec<Input>, sinks: &[Sink]) -> Ready<'a> {
        let (steps, domain, isa, loads) = (work.steps, work.domain, work.isa, work.loads);
        let make = |work, inputs| {
            let program = lower(work, inputs);
            let emitted = emit::parts(&cpu.loops, &program, steps, sinks, (domain, true));
            let row = program.row(domain);
            let strides = match emitted.as_ref().and_then(Parts::alone) {
                Some(segment) if row < usize::MAX => {
                    Strides::of((loads, domain), &program, segment)
                }
                _ => None,
            };
            Made { program, emitted, typed: None, row, strides }
        };
        let made = cpu.kept.made(&cpu.loops, 0, (work, inputs), sinks, make);
        Ready { made, steps, isa }
    }

    /// Some points, by their numbers, through the steps into sinks: each to its place there.
    pub fn run(
        &self,
        cpu: &mut Cpu,
        sinks: &[Sink],
        points: Range<usize>,
        ctx: &RunCtx,
    ) -> Result<Tally, DeviceError> {
        let program = &self.made.program;
        let (env, row) = (self.env(sinks, ctx), self.row());
        let together = program.ns * points.len() as f64 > ALONE_NS;
        let mut unit = unit(cpu, points.len(), together);
        // Rows that are read together are one thread's.
        if together
            && let Some(rows) = program.together()
            && points.len() / rows >= 2 * cpu.threads.count()
        {
            unit = unit.next_multiple_of(rows);
        }
        share(cpu, &env, points.len().div_ceil(unit), together, ctx, &|frame, k| {
            let at = points.start + k * unit;
            some(frame, &env, row, at..(at + unit).min(points.end));
        })
    }

    /// The data that its threads share, with the sinks that they fill.
    pub fn env<'b>(&'b self, sinks: &'b [Sink], ctx: &'b RunCtx) -> Env<'b> {
        let Made { program, emitted, strides, .. } = &*self.made;
        let env = Env::new(self.isa, program, self.steps, sinks, ctx.interrupt).with(emitted);
        Env { strides: strides.as_ref(), ..env }
    }

    /// The length at whose multiples runs end.
    pub fn row(&self) -> usize {
        self.made.row
    }
}

/// Some points by one thread, in runs that end at multiples of a row.
pub fn some(frame: &mut Frame, env: &Env, row: usize, points: Range<usize>) {
    let mut at = points.start;
    while at < points.end && !env.stop.is_set() {
        let n = env.stride().min(points.end - at).min(row - at % row);
        frame.run(env, at, n);
        at += n;
    }
}

/// Every element of the domain through the steps, into the outputs.
pub fn map(
    cpu: &mut Cpu,
    work: Work,
    inputs: Vec<Input>,
    sinks: &[Sink],
    ctx: &RunCtx,
) -> Result<Tally, DeviceError> {
    let total = elements(work.domain);
    Ready::new(cpu, work, inputs, sinks).run(cpu, sinks, 0..total, ctx)
}

/// A launch's body: its own stores into `outputs`, and more values into more sinks. With the sinks
/// of all, in that order.
pub fn body<'a>(
    cpu: &Cpu,
    launch: &'a Launch,
    inputs: Vec<Input>,
    outputs: &Outputs,
    more: &[(ValueId, Sink)],
) -> (Ready<'a>, Vec<Sink>) {
    let (mut sinks, mut stores) = (outputs.sinks.clone(), outputs.for_work());
    sinks.extend(more.iter().map(|m| m.1));
    stores.extend(more.iter().map(|(value, sink)| (*value, sink.checked)));
    let work = Work { stores, ..part(cpu, launch, &launch.body, &launch.domain, outputs) };
    (Ready::new(cpu, work, inputs, &sinks), sinks)
}

/// The body at every point. What was found, and apart from it which of `more` some value did not
/// fit.
pub fn body_into(
    cpu: &mut Cpu,
    launch: &Launch,
    inputs: Vec<Input>,
    outputs: &Outputs,
    more: &[(ValueId, Sink)],
    ctx: &RunCtx,
) -> Result<(Tally, u64), DeviceError> {
    let (ready, sinks) = body(cpu, launch, inputs, outputs, more);
    let found = ready.run(cpu, &sinks, 0..elements(&launch.domain), ctx)?;
    let own = outputs.sinks.len();
    Ok((Tally { misfits: found.misfits & ((1 << own) - 1), ..found }, found.misfits >> own))
}

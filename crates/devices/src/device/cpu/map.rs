//! A launch's steps at each point of a domain: the inputs that they read, the outputs that they
//! fill, and the plain map, which is a launch of its own or the body of another shape.

use super::chunk::Env;
use super::convert::Sink;
use super::convert::Source;
use super::emit;
use super::program::{Input, Work, lower};
use super::share::{Tally, share, unit};
use super::walk::Walk;
use super::{Cpu, DeviceError, Held, RunCtx};
use crate::pool::PoolBuffer;
use aplomb_plans::plan::{BufId, Launch, Load, Plan, Step, Store, ValueId, What};
use aplomb_values::array::{DType, Storage, elements};
use aplomb_values::dag::ix::Ix;
use std::sync::Arc;

/// From here on an output goes past the caches (triad 1.3–1.4× faster).
const STREAM_BYTES: usize = 16 << 20;
/// Work below this is not worth a hand-off.
const ALONE_NS: f64 = 20_000.0;
/// The buffers that a list of stores fills.
pub struct Outputs<'a> {
    stores: &'a [Store],
    buffers: Vec<PoolBuffer>,
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
            let made = cpu
                .pool
                .buffer(dtype, elements(&buffer.shape), ctx.budget)
                .map_err(DeviceError::Oom)?;
            out.buffers.push(made);
            if let Some(made) = out.buffers.last_mut() {
                let stream = made.len() * dtype.size() >= STREAM_BYTES;
                out.sinks.push(Sink { at: made.as_mut_ptr(), dtype, checked, stream });
            }
        }
        Ok(out)
    }

    /// Value and whether its sink finds ∞ by itself, for `Work`.
    pub fn for_work(&self) -> Vec<(u32, bool)> {
        self.stores
            .iter()
            .zip(&self.sinks)
            .map(|(store, sink)| (store.value, sink.checked))
            .collect()
    }

    /// The output of a launch whose only result is its reduction, as it is.
    pub fn of_reduced(&self, after: &[Step]) -> Option<Sink> {
        let ([step], [sink], [store]) = (after, self.sinks.as_slice(), self.stores) else {
            return None;
        };
        (step.what == What::Reduced(0) && store.value == 0).then_some(*sink)
    }

    /// Takes a launch's result as it is, where nothing follows it and it is stored as it is.
    pub fn takes(&mut self, after: &[Step], values: &mut Vec<PoolBuffer>) -> bool {
        let ([step], [sink], [buffer]) =
            (after, self.sinks.as_slice(), self.buffers.as_mut_slice())
        else {
            return false;
        };
        let What::Reduced(k) = step.what else { return false };
        let own = (buffer.dtype(), buffer.len());
        let fits = matches!(sink.dtype, DType::F32 | DType::F64)
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
            held[store.buf.0 as usize] = Some(Held::Made(Arc::new(buffer)));
        }
    }
}

/// Loads as inputs of the program of `steps` over `domain`.
pub fn inputs_of(
    plan: &Plan,
    held: &[Option<Held>],
    loads: &[Load],
    steps: &[Step],
    domain: &[usize],
) -> Result<Vec<Input>, DeviceError> {
    let used = |k: usize| steps.iter().any(|s| s.what.load() == Some(k as u32));
    let one = |(k, load): (usize, &Load)| {
        let Some(Some(held)) = held.get(load.buf.0 as usize) else {
            return Err(DeviceError::Broken(format!(
                "buffer {} is read before it is written",
                load.buf.0
            )));
        };
        // The read of a load that the other part uses speaks of other axes.
        let walk = match used(k) {
            true => Walk::of_read(&load.read, &plan.buffer(load.buf).shape, domain),
            false => Walk::of_ix(&Ix::constant(0), domain),
        };
        let shape = plan.buffer(load.buf).shape.clone();
        Ok(Input { source: held.source(), shape, flat: walk.flat(), walk })
    };
    loads.iter().enumerate().map(one).collect()
}

/// A buffer over the whole domain.
pub fn in_order(buffer: &PoolBuffer, domain: &[usize]) -> Input {
    let source = Source::own(buffer);
    let walk = Walk::of_read(&aplomb_values::dag::Read::identity(domain.len()), domain, domain);
    Input { source, shape: domain.into(), flat: walk.flat(), walk }
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
        stores,
        keep: Vec::new(),
        reduced: Vec::new(),
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
    let (steps, domain) = (work.steps, work.domain);
    let program = lower(work, inputs);
    let total = elements(domain);
    let emitted = emit::parts(&cpu.loops, &program, steps, sinks, (domain, true));
    let env = Env::new(cpu.isa, &program, steps, sinks, ctx.interrupt).with(&emitted);
    let together = program.ns * total as f64 > ALONE_NS;
    let unit = unit(cpu, total, together);
    let row = program.row(domain);
    share(cpu, &env, total.div_ceil(unit), together, ctx, &|frame, k| {
        let mut at = k * unit;
        let end = (at + unit).min(total);
        while at < end {
            let n = env.stride().min(end - at).min(row - at % row);
            frame.run(&env, at, n);
            at += n;
        }
    })
}

/// The body at every point: its own stores into `outputs`, and more values into more sinks. What
/// was found, and apart from it which of the latter some value did not fit.
pub fn body_into(
    cpu: &mut Cpu,
    launch: &Launch,
    inputs: Vec<Input>,
    outputs: &Outputs,
    more: &[(ValueId, Sink)],
    ctx: &RunCtx,
) -> Result<(Tally, u64), DeviceError> {
    let (mut sinks, mut stores) = (outputs.sinks.clone(), outputs.for_work());
    sinks.extend(more.iter().map(|m| m.1));
    stores.extend(more.iter().map(|(value, sink)| (*value, sink.checked)));
    let work = Work { stores, ..part(cpu, launch, &launch.body, &launch.domain, outputs) };
    let found = map(cpu, work, inputs, &sinks, ctx)?;
    let own = outputs.sinks.len();
    Ok((Tally { misfits: found.misfits & ((1 << own) - 1), ..found }, found.misfits >> own))
}

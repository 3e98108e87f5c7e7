//! Consumers of whole arrays (`dag::Whole`): the body runs as a map into f64 buffers, then the
//! operation on all of them.
//!
//! | what | shared out by |
//! |---|---|
//! | ordered fold | lines |
//! | segments | segments |
//! | scatter | see there |
//! | library | see there |
//!
//! Not here: body and operation in one pass over memory.

use super::convert::Sink;
use super::convert::converts;
use super::fold::Finals;
use super::map::{Outputs, body_into};
use super::program::{Input, one};
use super::share::{Tally, each_unit};
use super::{Cpu, DeviceError, Fault, Held, Isa, RunCtx, library, scatter};
use crate::pool::{PoolBuffer, lock};
use aplomb_plans::plan::{Finish, Launch, Plan, ValueId, What};
use aplomb_values::array::{DType, Storage, View, around, elements};
use aplomb_values::dag::Whole;
use aplomb_values::prim::reduce;
use aplomb_values::prim::scalar::Fail;
use aplomb_values::prim::whole::{Given, Line, segment};
use std::sync::Mutex;

/// Elements below which a hand-off is not worth it, and results to a unit.
const ALONE: usize = 16_384;
const UNIT: usize = 256;

pub fn run(
    cpu: &mut Cpu,
    plan: &Plan,
    launch: &Launch,
    held: &[Option<Held>],
    inputs: Vec<Input>,
    outputs: &Outputs,
    ctx: &RunCtx,
) -> Result<Finals, DeviceError> {
    let broken = |what: &str| DeviceError::Broken(format!("an operation on whole arrays {what}"));
    let finish = launch.finish.as_ref().ok_or_else(|| broken("is missing"))?;
    let make = |cpu: &Cpu, n| cpu.pool.buffer(DType::F64, n, ctx.budget).map_err(DeviceError::Oom);
    let mut operands: Vec<(PoolBuffer, Vec<usize>)> = Vec::new();
    for &load in &finish.held {
        let buf = launch.loads.get(load as usize).ok_or_else(|| broken("has no operand"))?.buf;
        let Some(Some(from)) = held.get(buf.0 as usize) else {
            return Err(broken("is there before its operand"));
        };
        let (source, shape) = (from.source(), plan.buffer(buf).shape.to_vec());
        let mut buffer = make(cpu, source.len)?;
        // SAFETY: the source and the buffer hold so many.
        unsafe {
            (converts(Isa::Portable).load)(source, 0, 1, source.len, buffer.as_mut_ptr().cast())
        };
        operands.push((buffer, shape));
    }
    let mut tally = Tally::default();
    if !finish.fed.is_empty() {
        let mut more = Vec::with_capacity(finish.fed.len());
        // The places tell the domain's shape, so the values of a scatter need not.
        let spread = matches!(finish.what, Whole::Scatter { .. }) && finish.fed.len() > 1;
        for (k, &value) in finish.fed.iter().enumerate() {
            if let (true, Some(x)) = (spread && k == 0, uniform(launch, &inputs, value)) {
                let mut buffer = make(cpu, 1)?;
                // SAFETY: it holds one.
                unsafe { *buffer.as_mut_ptr().cast::<f64>() = x };
                operands.push((buffer, Vec::new()));
                continue;
            }
            let mut buffer = make(cpu, elements(&launch.domain))?;
            more.push((value, Sink::own(&mut buffer)));
            operands.push((buffer, launch.domain.to_vec()));
        }
        (tally, _) = body_into(cpu, launch, inputs, outputs, &more, ctx)?;
    }
    let given = operands.iter().map(|(buffer, shape)| match buffer.view() {
        View::F64(items) => Ok(Given { items, shape }),
        _ => Err(broken("has an operand that is no buffer of f64")),
    });
    let given: Vec<Given> = given.collect::<Result<_, _>>()?;
    let mut result = make(cpu, elements(&finish.shape))?;
    let whole =
        Parts { finish, given: &given, to: result.as_mut_ptr().cast(), first: Mutex::default() };
    tally.threads = whole.run(cpu, ctx)?.max(tally.threads);
    if let Some(fault) = whole.first.into_inner().unwrap_or_else(|e| e.into_inner()) {
        fault.keep_least(&mut tally.fault);
    }
    Ok(Finals { values: vec![result], tally })
}

/// A value that is plainly the same everywhere, which a scatter need not have written out.
fn uniform(launch: &Launch, inputs: &[Input], value: ValueId) -> Option<f64> {
    match launch.body.get(value as usize)?.what {
        What::Const(x) => Some(x),
        What::Load(k) => {
            inputs.get(k as usize).and_then(|input| one(input.source, input.walk.constant()?))
        }
        _ => None,
    }
}

struct Parts<'a> {
    finish: &'a Finish,
    given: &'a [Given<'a>],
    to: *mut f64,
    first: Mutex<Option<Fault>>,
}

// SAFETY: units write disjoint places.
unsafe impl Sync for Parts<'_> {}

impl Parts<'_> {
    fn fail(&self, index: usize, fail: Fail) {
        let mut first = lock(&self.first);
        let Finish { site, node, .. } = *self.finish;
        Fault { site, index: index as u64, fail, node }.keep_least(&mut first);
    }

    /// On how many threads.
    fn run(&self, cpu: &mut Cpu, ctx: &RunCtx) -> Result<usize, DeviceError> {
        let (given, shape) = (self.given, &self.finish.shape);
        let n = elements(shape);
        // SAFETY: the result holds n, and each is written by one unit alone.
        let put = |k: usize, x: f64| unsafe { *self.to.add(k) = x };
        match &self.finish.what {
            Whole::Fold { axis, body, given: numbers } => {
                let (_, extent, inner) = around(given[0].shape, *axis as usize);
                self.each(cpu, ctx, n, n * extent, &|range| {
                    let mut line = Line::new(body, numbers);
                    for k in range {
                        let first = k / inner * extent * inner + k % inner;
                        put(
                            k,
                            line.fold(&given[0].items[first..], extent, inner, &mut |fail| {
                                self.fail(k, fail)
                            }),
                        );
                    }
                })
            }
            Whole::Segmented { op } => self.each(cpu, ctx, n, given[1].items.len(), &|range| {
                for k in range {
                    let (from, to) = segment(given[0].items, k);
                    let sum = reduce::fold(*op, 0.0, &given[1].items[from..to], true);
                    put(
                        k,
                        sum.unwrap_or_else(|fail| {
                            self.fail(k, fail);
                            0.0
                        }),
                    );
                }
            }),
            what @ Whole::Scatter { .. } => {
                given[0].items.iter().enumerate().for_each(|(k, x)| put(k, *x));
                let fail = |k, fail| self.fail(k, fail);
                scatter::Into { what, fed: &given[1..], shape, to: self.to, fail: &fail }
                    .run(cpu, ctx)
            }
            Whole::Lib { of, origin, ct } => {
                library::run(cpu, ctx, *of, *ct, given, n, &|k, x| put(k, x + origin))
            }
        }
    }

    /// Ranges of results, so that each is some work; `size` is how much there is in all.
    fn each(
        &self,
        cpu: &mut Cpu,
        ctx: &RunCtx,
        n: usize,
        size: usize,
        work: &(dyn Fn(std::ops::Range<usize>) + Sync),
    ) -> Result<usize, DeviceError> {
        let unit = UNIT.min(n.div_ceil(cpu.threads.count() * 4)).max(1);
        each_unit(&mut cpu.threads, n.div_ceil(unit), size > ALONE, ctx, &|k, _| {
            work(k * unit..((k + 1) * unit).min(n))
        })
    }
}

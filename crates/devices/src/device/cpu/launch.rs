//! One launch: outputs made, body run (as a map or as folds), then the part after the reduction.
//!
//! An integer output that some value does not fit is made again as f64 and the launch runs once
//! more.

use super::fold::Results;
use super::map::{Outputs, in_order, inputs_of, map, part};
use super::program::Work;
use super::share::Tally;
use super::{Cpu, DeviceError, Fault, Held, RunCtx, compact, fold, scan, whole};
use aplomb_plans::plan::{BufId, Kind, Launch, Plan};

pub struct Done {
    pub fault: Option<Fault>,
    pub threads: usize,
    pub runs: u32,
}

pub fn run(
    cpu: &mut Cpu,
    plan: &Plan,
    launch: &Launch,
    held: &mut [Option<Held>],
    ctx: &RunCtx,
) -> Result<Done, DeviceError> {
    let mut wide: Vec<BufId> = Vec::new();
    let (mut runs, kept) = (0, cpu.kept.clone());
    loop {
        runs += 1;
        let before = wide.len();
        let mut tally = Tally::default();
        let body = Outputs::new(cpu, plan, &launch.stores, &wide, ctx)?;
        let mut after = Outputs::new(cpu, plan, &launch.after_stores, &wide, ctx)?;
        let reads = |held: &[Option<Held>], of| {
            let lies = |buf: BufId| Some(held.get(buf.0 as usize)?.as_ref()?.source());
            inputs_of(&kept, plan, &lies, &launch.loads, of)
        };
        let inputs = || reads(held, (&launch.body, &launch.domain));
        let results = match launch.kind {
            Kind::Compact => {
                let found = compact::run(cpu, plan, launch, held, inputs()?, &body, &after, ctx)?;
                Results::Stored(found.0, found.1)
            }
            Kind::Scan => scan::run(cpu, launch, &inputs, &body, &after, ctx)?,
            _ if launch.axis.is_none() => {
                let work = part(cpu, launch, &launch.body, &launch.domain, &body);
                let found = map(cpu, work, inputs()?, &body.sinks, ctx)?;
                Results::Stored(found, Tally::default())
            }
            Kind::Whole => {
                Results::Finals(whole::run(cpu, plan, launch, held, inputs()?, &body, ctx)?)
            }
            _ => Results::Finals(fold::run(cpu, launch, &inputs, &body, ctx)?),
        };
        let (of_body, of_after) = match results {
            Results::Stored(of_body, of_after) => (of_body, of_after),
            Results::Finals(mut finals) => {
                let taken = after.takes(&launch.after, &mut finals.values);
                let outer = launch.outer();
                let follow = |cpu: &mut Cpu| {
                    let reduced = finals.values.iter().map(|b| in_order(b, &outer)).collect();
                    let own = reads(held, (&launch.after, &outer))?;
                    let work = Work { reduced, ..part(cpu, launch, &launch.after, &outer, &after) };
                    map(cpu, work, own, &after.sinks, ctx)
                };
                let found = if taken { Tally::default() } else { follow(cpu)? };
                (finals.tally, found)
            }
        };
        body.note(&of_body, &mut wide);
        after.note(&of_after, &mut wide);
        tally.add(&of_body);
        tally.add(&of_after);
        if wide.len() == before {
            body.keep(held);
            after.keep(held);
            return Ok(Done { fault: tally.fault, threads: tally.threads, runs });
        }
    }
}

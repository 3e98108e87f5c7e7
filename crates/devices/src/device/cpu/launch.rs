//! One launch: outputs made, body run (as a map or as folds), then the part after the reduction.
//!
//! An integer output that some value does not fit is made again as f64 and the launch runs once
//! more.

use super::map::{Outputs, in_order, inputs_of, map, part};
use super::program::Work;
use super::share::Tally;
use super::{Cpu, DeviceError, Fault, Held, RunCtx, compact, fold, running, scan, whole};
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
    let mut runs = 0;
    loop {
        runs += 1;
        let before = wide.len();
        let mut tally = Tally::default();
        let body = Outputs::new(cpu, plan, &launch.stores, &wide, ctx)?;
        let mut after = Outputs::new(cpu, plan, &launch.after_stores, &wide, ctx)?;
        let inputs = || inputs_of(plan, held, &launch.loads, &launch.body, &launch.domain);
        if launch.kind == Kind::Compact {
            let found = compact::run(cpu, plan, launch, held, inputs()?, &body, &after, ctx)?;
            body.note(&found.0, &mut wide);
            after.note(&found.1, &mut wide);
            tally.add(&found.0);
            tally.add(&found.1);
        } else if let Kind::Scan = launch.kind
            && let Some(found) = running::run(cpu, launch, inputs()?, &body, &after, ctx)?
        {
            body.note(&found.0, &mut wide);
            after.note(&found.1, &mut wide);
            tally.add(&found.0);
            tally.add(&found.1);
        } else if launch.axis.is_some() {
            let mut finals = match launch.kind {
                Kind::Scan => scan::run(cpu, launch, inputs()?, &body, ctx)?,
                Kind::Whole => whole::run(cpu, plan, launch, held, inputs()?, &body, ctx)?,
                _ => fold::run(cpu, launch, &inputs, &body, ctx)?,
            };
            body.note(&finals.tally, &mut wide);
            tally.add(&finals.tally);
            if !after.takes(&launch.after, &mut finals.values) {
                let outer = launch.outer();
                let reduced = finals.values.iter().map(|b| in_order(b, &outer)).collect();
                let own = inputs_of(plan, held, &launch.loads, &launch.after, &outer)?;
                let work = Work { reduced, ..part(cpu, launch, &launch.after, &outer, &after) };
                let found = map(cpu, work, own, &after.sinks, ctx)?;
                after.note(&found, &mut wide);
                tally.add(&found);
            }
        } else {
            let work = part(cpu, launch, &launch.body, &launch.domain, &body);
            let found = map(cpu, work, inputs()?, &body.sinks, ctx)?;
            body.note(&found, &mut wide);
            tally.add(&found);
        }
        if wide.len() == before {
            body.keep(held);
            after.keep(held);
            return Ok(Done { fault: tally.fault, threads: tally.threads, runs });
        }
    }
}

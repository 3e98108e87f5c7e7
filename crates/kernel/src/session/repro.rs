//! One launch of the last line with what it reads and what it should give, for a program of its
//! own.

use super::Session;
use super::again::LET_GO;
use super::kept::Forced;
use super::record::Clock;
use aplomb_devices::device::cpu::Cpu;
use aplomb_devices::device::{Device, DeviceError, RunCtx};
use aplomb_ground::error::{Error, Result, count, domain, internal, value};
use aplomb_plans::kir::{self, Code};
use aplomb_plans::plan::{BufId, From, Plan};
use aplomb_values::array::{Array, elements};
use aplomb_values::dag::Recorded;
use std::rc::Rc;

/// A launch, lowered, and its arrays by buffer.
pub struct Reproduction {
    /// The statement that the launch is of.
    pub statement: String,
    /// The launch's kernels.
    pub code: Code,
    /// With the helpers that it calls.
    pub text: String,
    /// Of its largest result.
    pub elements: usize,
    /// The arrays that it reads.
    pub inputs: Vec<(u32, Array)>,
    /// The arrays that the CPU gives; None where an element fails there.
    pub outputs: Option<Vec<(u32, Array)>>,
}

impl Session {
    /// Launch `number` of the last line, as traces count them. Errors: there is none, or it has no
    /// CUDA text.
    pub fn reproduction(&mut self, number: usize) -> Result<Reproduction> {
        let last = self.last.as_ref().ok_or_else(|| value("no line has done any work yet"))?;
        if !last.is_whole() {
            return Err(domain(LET_GO).hint("a line of the statement alone keeps them"));
        }
        let (forced, statement) = (last.forced.clone(), last.said.clone());
        let mut before = 0;
        for Forced { recorded, .. } in forced {
            let core = &mut self.core;
            let options = core.options().clone();
            let mut clock = Clock::new(&core.interrupt);
            let compiled = core.plans().plan(&recorded, &options, &mut clock)?;
            let launches = compiled.plan.launches.len();
            if number < before + launches {
                let ctx = RunCtx {
                    interrupt: &core.interrupt,
                    budget: &core.budget,
                    timed: false,
                    libraries: false,
                    abreast: true,
                };
                let mut cpu = Cpu::new(1);
                let mut found =
                    of_plan(&mut cpu, &compiled.plan, &recorded, number - before, &ctx)?;
                // Launches count through the whole line, not each evaluation.
                found.text = found.text.replacen(" k(", &format!(" k{number}("), 1);
                found.statement = statement;
                return Ok(found);
            }
            before += launches;
        }
        let says = count(before, "launch");
        Err(domain(format!("the line has {says}, counted from k0")))
    }
}

fn of_plan(
    cpu: &mut Cpu,
    plan: &Plan,
    recorded: &Recorded,
    k: usize,
    ctx: &RunCtx,
) -> Result<Reproduction> {
    let code = kir::code(plan, &plan.launches[k], k)?;
    let texts: Vec<String> =
        code.kernels.iter().map(|one| kir::named(&kir::canonical(one), &one.name)).collect();
    let all: Vec<&str> = texts.iter().map(String::as_str).collect();
    let text = format!("{}\n{}", kir::helpers(&all), texts.join("\n"));
    let launch = &plan.launches[k];
    let mut read: Vec<BufId> = launch.loads.iter().map(|l| l.buf).collect();
    read.sort();
    read.dedup();
    let written: Vec<BufId> =
        launch.stores.iter().chain(&launch.after_stores).map(|s| s.buf).collect();
    let mut values = |wanted: &[BufId], launches: usize| -> Result<Option<Vec<(u32, Array)>>> {
        let mut part = plan.part(plan.launches[..launches].to_vec(), wanted.to_vec());
        part.buffers.iter_mut().for_each(|b| b.last_use = None);
        match cpu.run(&Rc::new(part), &recorded.inputs, ctx) {
            Ok(all) => Ok(Some(wanted.iter().map(|b| b.0).zip(all).collect())),
            Err(DeviceError::Fault(_)) => Ok(None),
            Err(DeviceError::Oom(e)) => Err(e),
            Err(e) => Err(internal(format!("{e:?}"))),
        }
    };
    let failed = || domain("a launch before it fails, so it has nothing to read");
    let inputs: Vec<(u32, Array)> = values(&read, k)?.ok_or_else(failed)?;
    let outputs = values(&written, k + 1)?;
    // Inputs whose storage the plan does not know as it is would need another text.
    let same = |(b, a): &(u32, Array)| {
        let buffer = plan.buffer(BufId(*b));
        a.rank() == 0 || a.dtype() == buffer.dtype || matches!(buffer.from, From::Launch(_))
    };
    if !inputs.iter().all(same) {
        return Err::<_, Error>(domain("an input changed its storage since the plan was made"));
    }
    let elements = written.iter().map(|b| elements(&plan.buffer(*b).shape)).max().unwrap_or(0);
    Ok(Reproduction { statement: String::new(), code, text, elements, inputs, outputs })
}

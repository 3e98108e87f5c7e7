//! The CUDA device: the printed texts, compiled by NVRTC and run through the driver.
//!
//! Start at `Cuda::run`. Files stand on those before them:
//!
//! | what | files |
//! |---|---|
//! | calls of libraries, and what they answer | `driver`, `compile`, `stop`; `probe` finds a device or says what is missing |
//! | memory | `buffer`, `transfer`, `away` (large results stay there), `memory` |
//! | from text to function | `cache`, `choice`, `text`, `kernels`; `choices`, what was measured |
//! | what is known of a plan | `step`, `graph`, `repeats`, `known` |
//! | a library that multiplies | `blas` |
//! | the device | `engine`, and `place`, which decides |
//! | its memory, measured | `micro` |
//! | one evaluation | `held`, its buffers; `launch`, one launch; `multiply` by a library, `tune` by each of its texts, `repeat` all as one graph; `run`, all of them in order |
//!
//! Always: the host has every value or can compute it again, so nothing is lost with the device; a
//! trouble of the device is no trouble of the user's: the CPU computes, and a notice says so once.
//! Only here is cudarc named.

mod away;
mod blas;
mod buffer;
mod cache;
mod choice;
mod choices;
mod compile;
mod driver;
mod engine;
mod graph;
mod held;
mod kernels;
mod known;
mod launch;
mod memory;
mod micro;
mod multiply;
mod place;
mod probe;
mod repeat;
mod repeats;
mod run;
mod step;
mod stop;
mod text;
mod transfer;
mod tune;

use super::cpu::Cpu;
use super::{Device, DeviceError, LaunchStats, RunCtx, Tune};
use aplomb_plans::plan::Plan;
use aplomb_values::array::{Array, Data};
use away::Away;
use held::Run;
use place::Where;
use run::Task;
use std::rc::Rc;
use stop::Stop;

pub use compile::{Usage, cubin, measured, ptx};
pub use engine::Cuda;
pub use place::ASK_US;

const ASKED_FOR: &str = "on the GPU, as asked for";

impl Cuda {
    /// Runs a plan here, or with `by_cost` where it is thought to be faster. `cpu` does what this
    /// device cannot.
    pub fn run(
        &mut self,
        cpu: &mut Cpu,
        plan: &Rc<Plan>,
        inputs: &[Array],
        ctx: &RunCtx,
        by_cost: bool,
    ) -> Result<Vec<Array>, DeviceError> {
        self.stats.clear();
        self.trials.clear();
        self.known.heed(self.tune == Tune::Known);
        let mut done = self.try_twice(cpu, plan, inputs, ctx, by_cost);
        if let Some(Err(Stop::Large)) = done {
            self.blas.paused = Some(blas::too_large(plan.math));
            done = self.try_twice(cpu, plan, inputs, ctx, by_cost);
            self.blas.paused = None;
        }
        let stop = match done {
            Some(Ok(values)) => {
                self.refused = 0;
                return Ok(values);
            }
            Some(Err(stop)) => stop,
            None => Stop::Cpu("the driver lacks a function".into()),
        };
        let why = match stop {
            Stop::Interrupted => return Err(DeviceError::Interrupted),
            Stop::Budget(e) => return Err(DeviceError::Oom(e)),
            Stop::Fault | Stop::Large => {
                "an element failed on the GPU: the CPU, which ran it again, says which".into()
            }
            Stop::Memory => {
                self.memory.forget();
                "the GPU's memory is too small for it".into()
            }
            Stop::Cpu(says) => {
                self.refused += 1;
                self.tell(format!("the GPU did not take this, the CPU computed it: {says}"));
                says
            }
            Stop::Lost(name) => {
                self.driver.lose();
                self.tell(format!(
                    "the GPU is lost ({name}): the CPU goes on; ]device cuda tries it again"
                ));
                format!("the GPU is lost: {name}")
            }
        };
        let values = cpu.run(plan, inputs, ctx);
        self.note_cpu(cpu, &format!("on the CPU: {why}"));
        values
    }

    /// Graphs give way to what runs now. None: the driver lacks a function.
    fn try_twice(
        &mut self,
        cpu: &mut Cpu,
        plan: &Rc<Plan>,
        inputs: &[Array],
        ctx: &RunCtx,
        by_cost: bool,
    ) -> Option<Result<Vec<Array>, Stop>> {
        driver::guarded(|| match self.attempt(cpu, plan, inputs, ctx, by_cost) {
            Err(Stop::Memory) if self.known.drop_graphs() => {
                self.attempt(cpu, plan, inputs, ctx, by_cost)
            }
            done => done,
        })
    }

    /// The note of the CPU's time for a plan that it ran instead.
    fn note_cpu(&mut self, cpu: &Cpu, why: &str) {
        self.stats =
            cpu.stats().iter().map(|s| LaunchStats { why: why.into(), ..s.clone() }).collect();
    }

    fn attempt(
        &mut self,
        cpu: &mut Cpu,
        plan: &Rc<Plan>,
        inputs: &[Array],
        ctx: &RunCtx,
        by_cost: bool,
    ) -> Result<Vec<Array>, Stop> {
        self.driver.enter()?;
        let costs = place::costs(plan, cpu.threads(), |k| self.lies(inputs.get(k)));
        if by_cost && costs.cpu_us <= costs.gpu_us {
            return self.all_on_cpu(
                cpu,
                plan,
                inputs,
                ctx,
                format!("on the CPU: {}", costs.sentence()),
            );
        }
        let (whole, plan) = (plan, run::as_given(plan, inputs)?);
        let mut texts: Vec<Option<Task>> = Vec::new();
        let mut whys = Vec::new();
        for (k, launch) in plan.launches.iter().enumerate() {
            let (text, why) = if run::is_empty(launch) {
                (None, "on the CPU: it has no elements".into())
            } else {
                match self.known.text(whole, &plan, k) {
                    Ok(text) => {
                        let mut why = if by_cost {
                            format!("on the GPU: {}", costs.sentence())
                        } else {
                            ASKED_FOR.into()
                        };
                        let choice = self.blas.choose(&plan, launch, ctx.libraries);
                        if choice.as_ref().is_none_or(|c| c.call.is_none())
                            && text.code.fast.is_any()
                        {
                            why += &format!("; {}", text.code.fast.says());
                        }
                        if text.code.unordered {
                            why += "; its sums are added as threads come, so their last bits \
                                    differ from run to run";
                        }
                        why.extend(text.choice.iter().map(|c| format!("; {}", c.sentence())));
                        why.extend(choice.iter().map(|c| format!("; {}", c.says)));
                        (Some(Task { text, call: choice.and_then(|c| c.call) }), why)
                    }
                    Err(says) => (None, run::no_text(&says)),
                }
            };
            texts.push(text);
            whys.push(why);
        }
        if texts.iter().all(Option::is_none) {
            // A plan without launches has no reason either.
            let why = whys.first().cloned().unwrap_or_default();
            return self.all_on_cpu(cpu, &plan, inputs, ctx, why);
        }
        if by_cost && let Some(why) = self.too_early(&texts, costs) {
            return self.all_on_cpu(cpu, &plan, inputs, ctx, why);
        }
        let (values, stats) = Run::new(self, cpu, ctx, whole, plan, inputs)?.all(texts, &whys)?;
        self.stats = stats;
        Ok(values)
    }

    /// A text is compiled once the CPU has lost as much time on it as compiling takes: never worse
    /// than twice the best.
    fn too_early(&mut self, texts: &[Option<Task>], costs: place::Costs) -> Option<String> {
        let calls = texts.iter().flatten().any(|t| t.call.is_some());
        let texts = texts.iter().flatten().flat_map(Task::wanted);
        let unknown: Vec<&str> = texts.filter(|t| !self.kernels.knows(t)).collect();
        let needs =
            place::compile_us(unknown.len()) + if calls { self.blas.open_us() } else { 0.0 };
        let first = unknown.first()?;
        if self.lost_time.len() > 10_000 {
            self.lost_time.clear();
        }
        let lost = self.lost_time.entry(first.to_string()).or_default();
        *lost += costs.cpu_us - costs.gpu_us;
        let time = aplomb_ground::error::time;
        (*lost < needs).then(|| {
            let (needs, lost) = (time(needs), time(*lost));
            format!(
                "on the CPU: {}; compiling takes {needs}, {lost} were lost by not doing it",
                costs.sentence()
            )
        })
    }

    fn all_on_cpu(
        &mut self,
        cpu: &mut Cpu,
        plan: &Rc<Plan>,
        inputs: &[Array],
        ctx: &RunCtx,
        why: String,
    ) -> Result<Vec<Array>, Stop> {
        let values = cpu.run(plan, inputs, ctx).map_err(|e| match e {
            DeviceError::Interrupted => Stop::Interrupted,
            DeviceError::Oom(e) => Stop::Budget(e),
            // Run once more by the caller, who tells it.
            _ => Stop::Fault,
        })?;
        self.note_cpu(cpu, &why);
        Ok(values)
    }

    fn lies(&self, input: Option<&Array>) -> Where {
        match input.map(Array::settled).as_ref().map(Array::data) {
            Some(Data::Dense(b)) if !self.memory.has(b) => Where::Host,
            Some(Data::Dense(b)) if Away::of(b).is_some() => Where::Device,
            // A number is nothing to move.
            _ => Where::Both,
        }
    }
}

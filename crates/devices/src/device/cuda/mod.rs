//! The CUDA device: the printed texts, compiled by NVRTC and run through the driver.
//!
//! Rows: CUDA §1–§6; RELIABILITY 15–19. Start at `Cuda::run`. `probe` finds a device or says what
//! is missing; `driver` and `memory` are the calls, `compile`, `cache` and `kernels` come from text
//! to function, `place` decides, `run` does one evaluation, `launch` one launch of it, `repeat` all
//! again as one `graph`, `known` keeps what was made for a plan, `tune` which text of a launch is
//! fastest. Large results stay there (`away`). Always: the host has every value or can compute it
//! again, so nothing is lost with the device; a trouble of the device is no trouble of the user's:
//! the CPU computes, and a notice says so once. Only here is cudarc named.

mod away;
mod blas;
mod cache;
mod compile;
mod driver;
mod graph;
mod kernels;
mod known;
mod launch;
mod memory;
mod place;
mod probe;
mod repeat;
mod run;
mod transfer;
mod tune;

use super::cpu::Cpu;
use super::{Compiling, Device, DeviceError, LaunchStats, RunCtx, Trial, Tune};
use aplomb_ground::error::Error;
use aplomb_plans::kir::Tuning;
use aplomb_plans::plan::Plan;
use aplomb_values::array::{Array, Data};
use away::Away;
use blas::Blas;
use cache::Disk;
use driver::Driver;
use kernels::Kernels;
use known::Known;
use memory::Memory;
use place::Where;
use run::{Run, Task};
use std::collections::HashMap;
use std::rc::Rc;
use tune::Choices;

pub use compile::{Usage, cubin, measured, ptx};
pub use place::{ASK_US, all_on_cpu};

/// The reasons for which an evaluation on the device did not come to its end.
#[derive(Clone, Debug)]
pub enum Stop {
    /// An element failed.
    Fault,
    /// An operand of a product that a library did is so large that sums may overflow.
    Large,
    /// Somebody asked to stop.
    Interrupted,
    /// The host's memory is short.
    Budget(Error),
    /// The device's is.
    Memory,
    /// The device took something badly: the CPU does it.
    Cpu(String),
    /// The device is gone, as the driver says in these words.
    Lost(String),
}

/// Failures of one kind in a row, after which the device is left alone.
const PATIENCE: u32 = 3;

const ASKED_FOR: &str = "on the GPU, as asked for";

/// A GPU with its context, its memory, its compiled texts and what is known of plans that ran.
pub struct Cuda {
    driver: Driver,
    memory: Memory,
    kernels: Kernels,
    known: Known,
    blas: Blas,
    /// Which texts launches get.
    tune: Tune,
    /// The trials of the last run.
    trials: Vec<Trial>,
    /// Runs that were one graph.
    graphs: u32,
    /// The factor by which launches are slower than the model says; never below 1.
    pace: f64,
    /// The time that the CPU lost on texts that are not compiled yet, µs.
    lost_time: HashMap<String, f64>,
    refused: u32,
    notices: Vec<String>,
    /// The number of them that the user has heard.
    heard: usize,
    stats: Vec<LaunchStats>,
}

impl Cuda {
    /// Device 0; `again` after it was lost. Errors: what is missing.
    pub fn find(again: bool) -> Result<Cuda, String> {
        let driver = probe::probe(again)?;
        let memory = Memory::new(&driver)
            .map_err(|e| format!("the device's memory cannot be asked for: {e:?}"))?;
        let (kernels, blas) = (Kernels::new(&driver), Blas::new(&driver));
        let (lost_time, notices, stats) = (HashMap::new(), Vec::new(), Vec::new());
        let known = Known::new(Choices::new(Disk::of_user(), &kernels::made_by(&driver)));
        Ok(Cuda {
            driver,
            memory,
            kernels,
            known,
            blas,
            tune: Tune::default(),
            trials: Vec::new(),
            graphs: 0,
            pace: 1.0,
            lost_time,
            refused: 0,
            notices,
            heard: 0,
            stats,
        })
    }

    /// How texts are made from now on, whatever was found; None: as found.
    pub fn set(&mut self, tuning: Option<Tuning>) {
        self.known.set(tuning);
    }

    /// Which texts launches get from now on.
    pub fn set_tune(&mut self, tune: Tune) {
        self.tune = tune;
    }

    /// What was tuned goes, on the disk too. How many launches that were.
    pub fn forget_choices(&mut self) -> usize {
        self.known.forget_choices()
    }

    /// Launches that were measured may be measured again.
    pub fn begin_tuning(&mut self) {
        self.known.choices.begin();
    }

    /// What the last run measured.
    pub fn take_trials(&mut self) -> Vec<Trial> {
        std::mem::take(&mut self.trials)
    }

    /// For people: name, architecture, memory, versions, what is compiled and kept.
    pub fn facts(&self) -> Vec<(String, String)> {
        let f = self.driver.facts();
        let bytes = aplomb_ground::error::bytes;
        let (made, t) = (self.kernels.spent, self.memory.traffic());
        let folder =
            self.kernels.disk().folder().map_or("none".into(), |p| p.display().to_string());
        let free = self.driver.memory().map_or("unknown".into(), |(free, _)| bytes(free));
        let rows = [
            ("device", format!("{} ({}, {} multiprocessors)", f.name, f.arch, f.processors)),
            (
                "memory",
                format!(
                    "{}, {free} free, {} in copies of values",
                    bytes(f.memory),
                    bytes(self.memory.held())
                ),
            ),
            (
                "CUDA",
                format!("driver {}, NVRTC {}", probe::dotted(f.driver), probe::dotted(f.nvrtc)),
            ),
            (
                "kernels",
                format!(
                    "{} loaded: {} compiled, {} from the disk",
                    self.kernels.count(),
                    made.compiled,
                    made.disk_hits
                ),
            ),
            (
                "tuned",
                match self.known.choices.count() {
                    1 => "1 launch".into(),
                    n => format!("{n} launches"),
                },
            ),
            ("graphs", format!("{} kept, {} runs", self.known.graphs(), self.graphs)),
            ("NVRTC", aplomb_ground::error::time(made.nvrtc_ms * 1e3)),
            ("cuBLAS", self.blas.says()),
            (
                "moved",
                format!(
                    "{} there, {} back, {} was there",
                    bytes(t.up),
                    bytes(t.down),
                    bytes(t.kept)
                ),
            ),
            ("cache", folder),
        ];
        rows.into_iter().map(|(k, v)| (k.to_string(), v)).collect()
    }

    /// The device's name, as the driver gives it.
    pub fn name(&self) -> String {
        let f = self.driver.facts();
        format!("cuda ({}, {})", f.name, f.arch)
    }

    /// What compiling and transfers took since this device was opened.
    pub fn compiling(&self) -> Compiling {
        let t = self.memory.traffic();
        let (lowered, made) = (self.known.lowered, self.kernels.spent);
        let graphs = self.graphs;
        Compiling {
            lowered,
            graphs,
            up: t.up,
            down: t.down,
            kept: t.kept,
            up_ms: t.up_ms,
            down_ms: t.down_ms,
            ..made
        }
    }

    /// Sentences for the user that nobody has taken yet.
    pub fn take_notices(&mut self) -> Vec<String> {
        let mut new = std::mem::take(&mut self.kernels.notices);
        new.append(&mut self.known.choices.notices);
        new.append(&mut self.memory.transfers.borrow_mut().notices);
        new.into_iter().for_each(|n| self.tell(n));
        let new = self.notices[self.heard..].to_vec();
        self.heard = self.notices.len();
        new
    }

    /// What each launch of the last run took.
    pub fn stats(&self) -> &[LaunchStats] {
        &self.stats
    }

    /// Nothing is asked of it any more: what can come home does so first.
    pub fn leave(&mut self) {
        if !self.driver.is_lost() {
            self.memory.forget();
        }
        self.driver.lose();
    }

    /// Whether it still answers.
    pub fn is_lost(&self) -> bool {
        self.driver.is_lost() || self.refused >= PATIENCE
    }

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

    /// What the CPU took for a plan that it ran instead.
    fn note_cpu(&mut self, cpu: &Cpu, why: &str) {
        self.stats =
            cpu.stats().iter().map(|s| LaunchStats { why: why.into(), ..s.clone() }).collect();
    }

    /// Each sentence once; no more than a user reads.
    fn tell(&mut self, notice: String) {
        if !self.notices.contains(&notice) && self.notices.len() < 100 {
            self.notices.push(notice);
        }
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

    fn lies(&self, input: Option<&Array>) -> Where {
        match input.map(Array::settled).as_ref().map(Array::data) {
            Some(Data::Dense(b)) if !self.memory.has(b) => Where::Host,
            Some(Data::Dense(b)) if Away::of(b).is_some() => Where::Device,
            // A number is nothing to move.
            _ => Where::Both,
        }
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

    /// A launch took `us` where the model said `predicted`.
    fn learn(&mut self, us: f64, predicted: f64) {
        self.pace = (us / predicted.max(1.0)).max(self.pace * 0.8).max(1.0);
    }
}

//! The choice of the device that runs an evaluation: the CPU always can, a GPU is looked for when
//! somebody wants one.
//!
//! A machine without CUDA starts as fast as one built without it: nothing is loaded before an
//! evaluation is large enough, or before `--device cuda`.

use super::cpu::{self, Cpu};
use super::cuda::{self, Cuda};
use super::{Compiling, Device, DeviceError, LaunchStats, RunCtx, Trial, Tune};
use aplomb_plans::plan::Plan;
use aplomb_values::array::Array;
use std::rc::Rc;

/// `--device`, `]device`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// The device on which an evaluation is thought to be fastest.
    #[default]
    Auto,
    /// The CPU for all.
    Cpu,
    /// The GPU for all that it can do.
    Cuda,
}

impl Wanted {
    /// All, in the order in which help lists them.
    pub const ALL: [Wanted; 3] = [Wanted::Auto, Wanted::Cpu, Wanted::Cuda];

    /// The name that `--device` takes.
    pub fn name(self) -> &'static str {
        match self {
            Wanted::Auto => "auto",
            Wanted::Cpu => "cpu",
            Wanted::Cuda => "cuda",
        }
    }

    /// The wish of that name.
    pub fn named(name: &str) -> Option<Wanted> {
        Wanted::ALL.into_iter().find(|w| w.name() == name)
    }
}

enum Found {
    NotAsked,
    /// It was lost, and somebody asks for it again.
    Again,
    Yes(Box<Cuda>),
    /// There is none, for want of this.
    No(String),
}

/// The devices of a session, and the choice between them.
pub struct Devices {
    /// The CPU, which can run every plan.
    pub cpu: Cpu,
    wanted: Wanted,
    cuda: Found,
    notices: Vec<String>,
    /// The policy by which launches get their texts.
    tune: Tune,
    /// The trials since somebody took them, and of how many launches.
    trials: Vec<Trial>,
    measured: usize,
    /// The last run was the GPU's to tell.
    by_gpu: bool,
}

impl Devices {
    /// The CPU with so many threads (0: one for each processor); no GPU is looked for yet.
    pub fn new(threads: usize) -> Devices {
        let (wanted, cuda, notices) = (Wanted::default(), Found::NotAsked, Vec::new());
        let trials = Vec::new();
        Devices {
            cpu: Cpu::new(threads),
            wanted,
            cuda,
            notices,
            tune: Tune::default(),
            trials,
            measured: 0,
            by_gpu: false,
        }
    }

    /// Microseconds that a plan takes on the CPU, as the choice of a device has it.
    pub fn estimate(&self, plan: &Plan) -> f64 {
        cpu::estimate(plan, self.cpu.threads())
    }

    /// The user's wish.
    pub fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// From now on. A GPU that was lost, or not there, is looked for again.
    pub fn want(&mut self, wanted: Wanted) {
        self.wanted = wanted;
        self.cuda = match (std::mem::replace(&mut self.cuda, Found::NotAsked), wanted) {
            (Found::Yes(mut cuda), Wanted::Cuda) if cuda.is_lost() => {
                // Its context begins anew, and its memory with it.
                cuda.leave();
                Found::Again
            }
            (Found::No(_), Wanted::Cuda) => Found::NotAsked,
            (known, _) => known,
        };
    }

    /// Looks for a GPU now. Errors: what is missing.
    pub fn find(&mut self) -> Result<&mut Cuda, &str> {
        if let Found::NotAsked | Found::Again = self.cuda {
            let again = matches!(self.cuda, Found::Again);
            self.cuda = match Cuda::find(again) {
                Ok(cuda) => Found::Yes(Box::new(cuda)),
                Err(says) => Found::No(says),
            };
        }
        match &mut self.cuda {
            Found::Yes(cuda) => Ok(cuda),
            Found::No(says) => Err(says),
            Found::NotAsked | Found::Again => Err("it was not looked for"),
        }
    }

    /// The times of compiling and of transfers so far.
    pub fn compiling(&self) -> Compiling {
        match &self.cuda {
            Found::Yes(cuda) => cuda.compiling(),
            _ => Compiling::default(),
        }
    }

    /// The policy by which launches get their texts from now on.
    pub fn set_tune(&mut self, tune: Tune) {
        self.tune = tune;
    }

    /// The trials since the last call; each launch is measured once between calls.
    pub fn take_trials(&mut self) -> Vec<Trial> {
        self.measured = 0;
        if let Found::Yes(cuda) = &mut self.cuda {
            cuda.begin_tuning();
        }
        std::mem::take(&mut self.trials)
    }

    /// The sentences that the user should hear, each once.
    pub fn take_notices(&mut self) -> Vec<String> {
        if let Found::Yes(cuda) = &mut self.cuda {
            self.notices.append(&mut cuda.take_notices());
        }
        std::mem::take(&mut self.notices)
    }
}

impl Device for Devices {
    fn name(&self) -> String {
        match (&self.cuda, self.wanted) {
            (Found::Yes(cuda), Wanted::Auto | Wanted::Cuda) if !cuda.is_lost() => cuda.name(),
            _ => self.cpu.name(),
        }
    }

    fn run(
        &mut self,
        plan: &Rc<Plan>,
        inputs: &[Array],
        ctx: &RunCtx,
    ) -> Result<Vec<Array>, DeviceError> {
        self.by_gpu = false;
        let large = || self.estimate(plan) > cuda::ASK_US;
        let measures = self.tune == Tune::Measure;
        if self.wanted == Wanted::Cpu || self.wanted == Wanted::Auto && !measures && !large() {
            return self.cpu.run(plan, inputs, ctx);
        }
        let first = matches!(self.cuda, Found::NotAsked);
        let by_cost = self.wanted == Wanted::Auto && !measures;
        if let Err(says) = self.find() {
            if first && !by_cost {
                let notice = format!("no GPU: {says}; the CPU computes");
                self.notices.push(notice);
            }
            return self.cpu.run(plan, inputs, ctx);
        }
        match &mut self.cuda {
            Found::Yes(cuda) if !cuda.is_lost() => {
                self.by_gpu = true;
                cuda.set_tune(self.tune);
                let values = cuda.run(&mut self.cpu, plan, inputs, ctx, by_cost);
                let first = self.measured;
                self.trials.extend(
                    cuda.take_trials().into_iter().map(|t| Trial { launch: first + t.launch, ..t }),
                );
                self.measured += if measures { plan.launches.len() } else { 0 };
                values
            }
            _ => self.cpu.run(plan, inputs, ctx),
        }
    }

    fn stats(&self) -> &[LaunchStats] {
        match &self.cuda {
            Found::Yes(cuda) if self.by_gpu => cuda.stats(),
            _ => self.cpu.stats(),
        }
    }
}

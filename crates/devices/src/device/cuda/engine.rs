//! The device and all that is known of it: its driver, memory, texts, and what users are told.

use super::blas::Blas;
use super::cache::Disk;
use super::choices::Choices;
use super::driver::Driver;
use super::kernels::{Kernels, made_by};
use super::known::Known;
use super::memory::Memory;
use super::probe;
use crate::device::{Compiling, LaunchStats, Trial, Tune};
use aplomb_plans::kir::Tuning;
use std::collections::HashMap;

/// Failures of one kind in a row, after which the device is left alone.
const PATIENCE: u32 = 3;

/// A GPU with its context, its memory, its compiled texts and what is known of plans that ran.
pub struct Cuda {
    pub(super) driver: Driver,
    pub(super) memory: Memory,
    pub(super) kernels: Kernels,
    pub(super) known: Known,
    pub(super) blas: Blas,
    /// The policy by which launches get their texts.
    pub(super) tune: Tune,
    /// The trials of the last run.
    pub(super) trials: Vec<Trial>,
    /// Runs that were one graph.
    pub(super) graphs: u32,
    /// The factor by which launches are slower than the model says; never below 1.
    pub(super) pace: f64,
    /// The time that the CPU lost on texts that are not compiled yet, µs.
    pub(super) lost_time: HashMap<String, f64>,
    pub(super) refused: u32,
    pub(super) notices: Vec<String>,
    /// The number of them that the user has heard.
    heard: usize,
    pub(super) stats: Vec<LaunchStats>,
}

impl Cuda {
    /// Device 0; `again` after it was lost. Errors: what is missing.
    pub fn find(again: bool) -> Result<Cuda, String> {
        let driver = probe::probe(again)?;
        let memory = Memory::new(&driver)
            .map_err(|e| format!("the device's memory cannot be asked for: {e:?}"))?;
        let (kernels, blas) = (Kernels::new(&driver), Blas::new(&driver));
        let (lost_time, notices, stats) = (HashMap::new(), Vec::new(), Vec::new());
        let known = Known::new(Choices::new(Disk::of_user(), &made_by(&driver)));
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

    /// The tuning of all texts from now on, whatever was found; None: as found.
    pub fn set(&mut self, tuning: Option<Tuning>) {
        self.known.set(tuning);
    }

    /// The policy by which launches get their texts from now on.
    pub fn set_tune(&mut self, tune: Tune) {
        self.tune = tune;
    }

    /// Forgets what was tuned, on the disk too; gives the number of launches.
    pub fn forget_choices(&mut self) -> usize {
        self.known.forget_choices()
    }

    /// Launches that were measured may be measured again.
    pub fn begin_tuning(&mut self) {
        self.known.choices.begin();
    }

    /// The trials of the last run, taken out.
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

    /// The times of compiling and of transfers since this device was opened.
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

    /// The times of each launch of the last run.
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

    /// Each sentence once; no more than a user reads.
    pub(super) fn tell(&mut self, notice: String) {
        if !self.notices.contains(&notice) && self.notices.len() < 100 {
            self.notices.push(notice);
        }
    }

    /// A launch took `us` where the model said `predicted`.
    pub(super) fn learn(&mut self, us: f64, predicted: f64) {
        self.pace = (us / predicted.max(1.0)).max(self.pace * 0.8).max(1.0);
    }
}

//! The micro-benchmarks of `plans::micro`, measured.
//!
//! Rows: BAS-02, BAS-03, BAS-04. In: points. Out: of each the least of some runs, by the device's
//! events.

use super::driver::{Function, Module, Trouble};
use super::engine::Cuda;
use super::{compile, driver};
use aplomb_ground::limits::Interrupt;
use aplomb_plans::kir;
use aplomb_plans::micro::{Amount, GLOBAL, Global, ITEM, Point, Reads, SHARED, SHARED_THREADS};
use std::time::Instant;

impl Cuda {
    /// The figures of `points`, in the unit of `micro::Fit::expected`; None where an
    /// interrupt came first. Errors: what the device says.
    pub fn microbench(
        &mut self,
        points: &[Point],
        amount: Amount,
        interrupt: &Interrupt,
    ) -> Result<Option<Vec<f64>>, String> {
        let measured = driver::guarded(|| self.all_points(points, amount, interrupt))
            .unwrap_or_else(|| Err(Trouble::Refused("the driver lacks a function".into())));
        match measured {
            Ok(found) => Ok(Some(found)),
            Err(Trouble::Interrupted) => Ok(None),
            Err(Trouble::Memory) => Err("the GPU's memory is too small for it".into()),
            Err(Trouble::Lost(says) | Trouble::Refused(says)) => Err(says),
        }
    }

    fn all_points(
        &mut self,
        points: &[Point],
        amount: Amount,
        interrupt: &Interrupt,
    ) -> Result<Vec<f64>, Trouble> {
        self.driver.enter()?;
        let [global, shared] = [GLOBAL, SHARED].map(|text| {
            let threads = kir::threads(text)
                .ok_or_else(|| Trouble::Refused("a text without its bounds".into()))?;
            let made = compile::compile(&kir::named(text, "k"), &self.driver.facts().arch)
                .map_err(Trouble::Refused)?;
            Module::load(&self.driver, &made.cubin)?.function("k", threads)
        });
        let (global, shared) = (global?, shared?);
        let processors = self.driver.facts().processors;
        let data = self.memory.take(amount.bytes as usize)?;
        self.memory.fill(&data, 0)?;
        // A sum for each thread that may be there at once, of either text.
        let threads = u64::from(processors) * 2048 * 2;
        let sums = self.memory.take((threads * ITEM) as usize)?;
        points
            .iter()
            .map(|point| match point.reads() {
                Reads::Global(reads) => {
                    let blocks = (threads / 512).min(u64::from(processors) * 2048 / reads.threads);
                    let (regions, slots) = slots((data.at(), amount.bytes), sums.at(), reads)?;
                    let blocks = blocks.min(regions) as u32;
                    let grid = (blocks, reads.threads as u32);
                    let us = self.least(&global, grid, &slots, (amount.runs, interrupt))?;
                    Ok((regions * reads.threads * reads.each * ITEM) as f64 / (us * 1e3))
                }
                Reads::Shared { stride } => {
                    let slots = [data.at(), sums.at(), stride, amount.rounds];
                    let grid = (processors * amount.blocks, SHARED_THREADS as u32);
                    let us = self.least(&shared, grid, &slots, (amount.runs, interrupt))?;
                    let warps = u64::from(amount.blocks) * SHARED_THREADS / 32;
                    Ok(us * 1e3 / (warps * amount.rounds) as f64)
                }
            })
            .collect()
    }

    /// The least microseconds of some runs of a function.
    fn least(
        &self,
        function: &Function,
        (blocks, threads): (u32, u32),
        slots: &[u64],
        (runs, interrupt): (usize, &Interrupt),
    ) -> Result<f64, Trouble> {
        let mut least = f64::INFINITY;
        for run in 0..=runs {
            let begun = Instant::now();
            self.driver.mark_time(0)?;
            function.launch(blocks, threads, &mut slots.to_vec())?;
            self.driver.mark_time(1)?;
            self.driver.wait(interrupt)?;
            let waited = begun.elapsed().as_secs_f64() * 1e6;
            let us = self.driver.time_between()?.unwrap_or(waited);
            // The first finds no instruction in a cache.
            if run > 0 {
                least = least.min(us);
            }
        }
        Ok(least.max(1e-3))
    }
}

/// The number of regions that the data hold, and the arguments of the text. Errors: they hold none.
fn slots((data, bytes): (u64, u64), sums: u64, reads: Global) -> Result<(u64, [u64; 7]), Trouble> {
    let regions = bytes / ITEM / reads.region();
    if regions == 0 {
        return Err(Trouble::Refused("a region is longer than the data".into()));
    }
    Ok((regions, [data, sums, regions, reads.region(), reads.lane, reads.step, reads.each]))
}

//! The micro-benchmarks of `plans::micro`, measured.
//!
//! Rows: BAS-02, BAS-03, BAS-04. In: points. Out: of each the least of some runs, by the device's
//! events. Data are more than its second cache holds, so global memory itself is read.

use super::driver::{Function, Module, Trouble};
use super::engine::Cuda;
use super::{compile, driver};
use aplomb_ground::limits::Interrupt;
use aplomb_plans::kir;
use aplomb_plans::micro::{GLOBAL, Global, ITEM, Point, Reads, SHARED, SHARED_THREADS};
use std::time::Instant;

/// Bytes that are read, more than any cache holds.
const BYTES: u64 = 256 << 20;
/// Runs of a point, of which the fastest counts.
const RUNS: usize = 5;
/// Reads of a thread from shared memory.
const ROUNDS: u64 = 4096;
/// Blocks of a multiprocessor that read shared memory: enough warps to hide what one read waits.
const BLOCKS: u32 = 8;

impl Cuda {
    /// The figures of `points`, in the unit of `micro::Fit::expected`; None where an
    /// interrupt came first. Errors: what the device says.
    pub fn microbench(
        &mut self,
        points: &[Point],
        interrupt: &Interrupt,
    ) -> Result<Option<Vec<f64>>, String> {
        let measured = driver::guarded(|| self.all_points(points, interrupt))
            .unwrap_or_else(|| Err(Trouble::Refused("the driver lacks a function".into())));
        match measured {
            Ok(found) => Ok(Some(found)),
            Err(Trouble::Interrupted) => Ok(None),
            Err(Trouble::Memory) => Err("the GPU's memory is too small for it".into()),
            Err(Trouble::Lost(says) | Trouble::Refused(says)) => Err(says),
        }
    }

    fn all_points(&mut self, points: &[Point], interrupt: &Interrupt) -> Result<Vec<f64>, Trouble> {
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
        let data = self.memory.take(BYTES as usize)?;
        self.memory.fill(&data, 0)?;
        // A sum for each thread that may be there at once, of either text.
        let threads = u64::from(processors) * 2048 * 2;
        let sums = self.memory.take((threads * ITEM) as usize)?;
        points
            .iter()
            .map(|point| match point.reads() {
                Reads::Global(reads) => {
                    let blocks = (threads / 512).min(u64::from(processors) * 2048 / reads.threads);
                    let (regions, slots) = slots(data.at(), sums.at(), reads);
                    let us = self.least(
                        &global,
                        blocks.min(regions) as u32,
                        reads.threads as u32,
                        &slots,
                        interrupt,
                    )?;
                    Ok((regions * reads.threads * reads.each * ITEM) as f64 / (us * 1e3))
                }
                Reads::Shared { stride } => {
                    let slots = [data.at(), sums.at(), stride, ROUNDS];
                    let blocks = processors * BLOCKS;
                    let us =
                        self.least(&shared, blocks, SHARED_THREADS as u32, &slots, interrupt)?;
                    let warps = u64::from(BLOCKS) * SHARED_THREADS / 32;
                    Ok(us * 1e3 / (warps * ROUNDS) as f64)
                }
            })
            .collect()
    }

    /// The least microseconds of some runs of a function.
    fn least(
        &self,
        function: &Function,
        blocks: u32,
        threads: u32,
        slots: &[u64],
        interrupt: &Interrupt,
    ) -> Result<f64, Trouble> {
        let mut least = f64::INFINITY;
        for run in 0..=RUNS {
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

/// The number of regions that the data hold, and the arguments of the text.
fn slots(data: u64, sums: u64, reads: Global) -> (u64, [u64; 7]) {
    let regions = (BYTES / ITEM / reads.region()).max(1);
    (regions, [data, sums, regions, reads.region(), reads.lane, reads.step, reads.each])
}

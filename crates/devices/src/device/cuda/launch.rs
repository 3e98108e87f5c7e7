//! One launch on the device: its memory, its kernels' arguments, and handing them over.
//!
//! Everything that a launch needs is there before its first kernel is handed over, so what events
//! measure between its first and last kernel is the device's work. Not here: loops that a single
//! slice does not finish in 50 ms.

use super::buffer::DevBuf;
use super::driver::Done;
use super::held::{Held, Run};
use super::place;
use super::step::{Cut, Prepared, SLICE_US, Step};
use super::stop::Stop;
use super::text::{Lowered, Ready};
use aplomb_plans::kir::{Kernel, ParamKind, Type};
use aplomb_plans::plan::BufId;
use aplomb_values::array::elements;
use std::rc::Rc;
use std::time::Instant;

impl Run<'_> {
    /// Memory for what launch `k` stores and reads, and its kernels' arguments. Its results are in
    /// `held` after it.
    pub fn prepare(
        &mut self,
        k: usize,
        text: &Lowered,
        ready: &[Rc<Ready>],
    ) -> Result<Prepared, Stop> {
        let code = &text.code;
        if ready.len() != code.kernels.len() {
            return Err(Stop::Cpu("a kernel is missing".into()));
        }
        let plan = self.plan.clone();
        let launch = &plan.launches[k];
        for buffer in launch.stores.iter().chain(&launch.after_stores).map(|s| s.buf) {
            let (shape, dtype) = (&plan.buffer(buffer).shape, plan.buffer(buffer).dtype);
            let copy = self.cuda.memory.take(elements(shape).saturating_mul(dtype.size()))?;
            self.held[buffer.0 as usize] = Held { host: None, copy: Some(copy) };
        }
        let mut shared: Vec<(&str, Rc<DevBuf>)> = Vec::new();
        for scratch in &code.scratch {
            let bytes = usize::try_from(scratch.bytes).map_err(|_| Stop::Memory)?;
            shared.push((&scratch.name, self.cuda.memory.take(bytes)?));
        }
        let predicted = place::gpu_us(&plan)[k] / code.kernels.len().max(1) as f64;
        let mut all = Prepared { tuning: text.tuning, ..Prepared::default() };
        for (kernel, ready) in code.kernels.iter().zip(ready) {
            self.step(k, kernel, ready, predicted, &shared, &mut all)?;
        }
        all.scratch.extend(shared.into_iter().map(|(_, scratch)| scratch));
        Ok(all)
    }

    fn step(
        &mut self,
        k: usize,
        kernel: &Kernel,
        ready: &Rc<Ready>,
        predicted: f64,
        shared: &[(&str, Rc<DevBuf>)],
        all: &mut Prepared,
    ) -> Result<(), Stop> {
        let full = self.cuda.driver.facts().processors.saturating_mul(ready.function.resident);
        let per_block = kernel.per_block();
        let wave = u64::from(full) * per_block;
        let predicted = predicted * self.cuda.pace;
        // A slice is at least what fills the device once.
        let slices =
            ((predicted / SLICE_US).ceil() as u64).clamp(1, kernel.points.div_ceil(wave).max(1));
        let size = kernel.points.div_ceil(slices).max(1).next_multiple_of(per_block);
        let cuts: Vec<Cut> = (0..kernel.points.div_ceil(size))
            .map(|s| (s * size, size.min(kernel.points - s * size)))
            .map(|(lo, points)| Cut { lo, points, blocks: kernel.blocks(points, u64::from(full)) })
            .collect();
        let parts: u32 = cuts.iter().map(|c| c.blocks).sum();
        let named = |name: &str| shared.iter().find(|s| s.0 == name).map(|s| s.1.clone());
        let mut clears: Vec<(Rc<DevBuf>, u8)> =
            kernel.clears.iter().filter_map(|(name, byte)| Some((named(name)?, *byte))).collect();
        let mut slots = Vec::with_capacity(kernel.params.len());
        for param in &kernel.params {
            slots.push(match (&param.what, param.name.as_str()) {
                (ParamKind::In(_, b) | ParamKind::Out(_, b), _) => {
                    all.kept.push(self.on_device(BufId(*b))?);
                    self.address(BufId(*b))?
                }
                (ParamKind::Number(Type::F64, x), _) => x.to_bits(),
                (ParamKind::Number(_, x), _) => *x as i64 as u64,
                (ParamKind::Launch(_), "parts") => u64::from(parts),
                (ParamKind::Launch(_), _) => 0,
                (ParamKind::Scratch(_), "err") => self.word(k),
                (ParamKind::Scratch(_), name) => match named(name) {
                    Some(scratch) => scratch.at(),
                    None => {
                        let (bytes, zeros) = kernel.scratch(name, u64::from(parts));
                        let scratch = self.cuda.memory.take(bytes as usize)?;
                        let at = scratch.at();
                        if zeros {
                            clears.push((scratch.clone(), 0));
                        }
                        all.scratch.push(scratch);
                        at
                    }
                },
            });
        }
        let place = |name: &str| kernel.params.iter().position(|p| p.name == name);
        let places = ["lo", "n", "first"].map(place);
        let (ready, threads) = (ready.clone(), kernel.threads);
        all.steps.push(Step { clears, ready, threads, cuts, predicted, slots, places });
        Ok(())
    }

    /// Before what is timed is handed over.
    pub fn start_clock(&self) -> Done<()> {
        if self.ctx.timed { self.cuda.driver.mark_time(0) } else { Ok(()) }
    }

    /// Waits for it: what the device took, µs, where that is asked for and known.
    pub fn stop_clock(&self) -> Done<Option<f64>> {
        if !self.ctx.timed {
            return Ok(None);
        }
        self.cuda.driver.mark_time(1)?;
        self.cuda.driver.wait(self.ctx.interrupt)?;
        self.cuda.driver.time_between()
    }

    /// The launch's kernels, one after the other. What the device took for them, µs, where that is
    /// asked for.
    pub fn hand_over(&mut self, mut all: Prepared) -> Result<Option<f64>, Stop> {
        self.start_clock()?;
        let mut learnt = false;
        for step in &mut all.steps {
            for (scratch, byte) in &step.clears {
                self.cuda.memory.fill(scratch, *byte)?;
            }
            learnt |= self.run_step(step)?;
        }
        let took = self.stop_clock()?;
        if let Some(us) = took.filter(|_| !learnt) {
            let predicted: f64 = all.steps.iter().map(|s| s.predicted).sum();
            self.cuda.learn(us, predicted / self.cuda.pace);
        }
        Ok(took)
    }

    /// Slice by slice; whether it was waited for, and learnt from.
    fn run_step(&mut self, step: &mut Step) -> Result<bool, Stop> {
        let interrupt = self.ctx.interrupt;
        let (begun, mut done) = (Instant::now(), 0u32);
        let cuts = step.cuts.clone();
        for (s, cut) in cuts.iter().enumerate() {
            if interrupt.is_set() {
                self.cuda.driver.finish()?;
                return Err(Stop::Interrupted);
            }
            if s >= 2 {
                self.cuda.driver.reached(s, interrupt)?;
            }
            let ready = step.ready.clone();
            ready.function.launch(cut.blocks, step.threads, step.arguments(*cut, done))?;
            done += cut.blocks;
            if cuts.len() > 1 {
                self.cuda.driver.mark(s)?;
            }
        }
        let long = cuts.len() > 1 || step.predicted > SLICE_US / 10.0;
        if long {
            self.cuda.driver.wait(interrupt)?;
            self.cuda.learn(begun.elapsed().as_secs_f64() * 1e6, step.predicted / self.cuda.pace);
        }
        Ok(long)
    }
}

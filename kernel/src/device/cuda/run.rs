//! One evaluation on the device: buffers, launches in order, answers.
//!
//! Rows: CUDA §2, §6; RELIABILITY 5, 15–17. What has no text, or no elements, runs on the CPU in between. Always: values
//! come back whole or not at all; an element that failed is told by the CPU, which runs the plan again, so errors are
//! the same on both; an integer result that did not fit is made again as f64, as there. Not here: loops that a single
//! slice does not finish in 50 ms.

use super::blas::Call;
use super::driver::{Done, Trouble};
use super::kernels::Ready;
use super::memory::{DevBuf, are_items};
use super::place::{self};
use super::{Cuda, Stop};
use crate::device::cpu::Cpu;
use crate::device::{Device, DeviceError, LaunchStats, OnGpu, RunCtx};
use aplomb_lang::array::{Array, DType, Data, Storage, elements};
use aplomb_lang::error::Error;
use aplomb_lang::kir::{self, Code, Kernel, ParamKind, Tuning, Type};
use aplomb_lang::plan::{BufId, From, Launch, Plan};
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// A slice is predicted to take so long at most: an interrupt waits for two.
pub(super) const SLICE_US: f64 = 50e3;
/// The words of a launch: its least failure, and the results that did not fit.
const WORDS: usize = 2;
const FINE: u64 = u64::MAX;

/// A plan's buffer while it is alive.
#[derive(Clone, Default)]
pub(super) struct Held {
    pub host: Option<Array>,
    pub copy: Option<Rc<DevBuf>>,
}

/// A launch with its texts, one a kernel.
pub struct Lowered {
    pub code: Code,
    pub texts: Vec<String>,
    /// A library does it instead.
    pub call: Option<Call>,
}

impl Lowered {
    /// The texts that are to be compiled before it runs.
    pub fn wanted(&self) -> Vec<&str> {
        if self.call.is_some() { vec![kir::RANGE] } else { self.texts.iter().map(String::as_str).collect() }
    }
}

pub fn lowered(plan: &Plan, k: usize, tuning: Tuning) -> Result<Lowered, Error> {
    let code = kir::tuned(plan, &plan.launches[k], k, tuning)?;
    let texts = code.kernels.iter().map(kir::canonical).collect();
    Ok(Lowered { code, texts, call: None })
}

/// Device memory of one launch.
#[derive(Default)]
struct Own {
    /// What its kernels share, by name.
    scratch: Vec<(String, Rc<DevBuf>)>,
    /// What else must stay alive until the launch is in the stream.
    others: Vec<Rc<DevBuf>>,
}

/// Launches without elements have no text worth running.
pub fn is_empty(launch: &Launch) -> bool {
    launch.domain.contains(&0)
}

/// The plan with its inputs' dtypes as they are now.
pub fn as_given<'a>(plan: &'a Plan, inputs: &[Array]) -> Result<Cow<'a, Plan>, Stop> {
    let mut own = Cow::Borrowed(plan);
    for (at, buffer) in plan.buffers.iter().enumerate() {
        let From::Input(k) = buffer.from else { continue };
        let array = inputs.get(k as usize).map(Array::settled);
        let dtype = match array.as_ref().map(Array::data) {
            Some(Data::Num(_)) => DType::F64,
            Some(Data::Char(_)) => DType::Char,
            Some(Data::Dense(b)) if b.dtype() != DType::Complex => b.dtype(),
            _ => return Err(Stop::Cpu("an input is no array of reals".into())),
        };
        if dtype != buffer.dtype {
            own.to_mut().buffers[at].dtype = dtype;
        }
    }
    Ok(own)
}

pub struct Run<'a> {
    pub cuda: &'a mut Cuda,
    pub cpu: &'a mut Cpu,
    pub ctx: &'a RunCtx<'a>,
    plan: Cow<'a, Plan>,
    pub(super) held: Vec<Held>,
    words: Rc<DevBuf>,
    /// The launches that a library did.
    pub(super) multiplied: Vec<usize>,
    pub stats: Vec<LaunchStats>,
}

impl<'a> Run<'a> {
    pub fn new(
        cuda: &'a mut Cuda,
        cpu: &'a mut Cpu,
        ctx: &'a RunCtx<'a>,
        plan: Cow<'a, Plan>,
        inputs: &[Array],
    ) -> Done<Run<'a>> {
        let mut held = vec![Held::default(); plan.buffers.len()];
        for (slot, buffer) in held.iter_mut().zip(&plan.buffers) {
            if let From::Input(k) = buffer.from {
                slot.host = inputs.get(k as usize).map(Array::settled);
            }
        }
        let words = cuda.memory.take(plan.launches.len() * WORDS * 8)?;
        cuda.memory.fill(&words, 0xff)?;
        Ok(Run { cuda, cpu, ctx, plan, held, words, multiplied: Vec::new(), stats: Vec::new() })
    }

    /// The values of the roots. `texts`: None where a launch runs on the CPU; `whys` says why each runs where it does.
    pub fn all(mut self, texts: Vec<Option<Lowered>>, whys: &[String]) -> Result<(Vec<Array>, Vec<LaunchStats>), Stop> {
        let wanted: Vec<&str> = texts.iter().flatten().flat_map(Lowered::wanted).collect();
        let mut ready = self.cuda.kernels.get(&wanted)?.into_iter();
        for (k, text) in texts.into_iter().enumerate() {
            let begun = Instant::now();
            let mut why = whys.get(k).cloned().unwrap_or_default();
            let stats = match text {
                Some(text) => {
                    let ready = ready.by_ref().take(text.wanted().len()).collect();
                    let (runs, gpu) = self.launch(k, text, ready, &mut why)?;
                    if self.ctx.timed {
                        self.cuda.driver.wait(self.ctx.interrupt)?;
                    }
                    let micros = begun.elapsed().as_secs_f64() * 1e6;
                    LaunchStats { launch: k, micros, threads: 0, runs, gpu: Some(gpu), why }
                }
                None => self.on_cpu(k, why)?,
            };
            self.stats.push(stats);
            for at in 0..self.held.len() {
                if self.plan.buffers[at].last_use == Some(k as u32) {
                    self.held[at] = Held::default();
                }
            }
        }
        let words = self.read_words(self.plan.launches.len())?;
        self.look_at(&words)?;
        let roots = self.plan.roots.clone();
        let values = roots.iter().map(|b| self.value(*b)).collect::<Result<_, _>>()?;
        Ok((values, self.stats))
    }

    /// The error words of the first so many launches.
    fn read_words(&mut self, launches: usize) -> Done<Vec<u64>> {
        let mut bytes = vec![0u8; launches * WORDS * 8];
        let words = self.words.clone();
        self.cuda.memory.download(&words, &mut bytes, self.ctx.interrupt)?;
        Ok(bytes.chunks_exact(8).map(|b| b.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))).collect())
    }

    /// Where a launch keeps its error words.
    pub(super) fn word(&self, k: usize) -> u64 {
        self.words.at() + (k * WORDS * 8) as u64
    }

    /// Errors: some launch failed.
    fn look_at(&self, words: &[u64]) -> Result<(), Stop> {
        let failed = |k: &usize| words.get(k * WORDS).is_some_and(|w| *w != FINE);
        match (0..words.len() / WORDS).any(|k| failed(&k)) {
            true if self.multiplied.iter().any(failed) => Err(Stop::Large),
            true => Err(Stop::Fault),
            false => Ok(()),
        }
    }

    /// A launch on the device; how often it ran. Results are in `held` after it.
    fn launch(
        &mut self,
        k: usize,
        mut lowered: Lowered,
        mut ready: Vec<Rc<Ready>>,
        why: &mut String,
    ) -> Result<(u32, OnGpu), Stop> {
        if let (Some(call), Some(range)) = (lowered.call.take(), ready.first()) {
            match self.multiply(k, &call, range)? {
                Ok(gpu) => return Ok((1, gpu)),
                Err(says) => *why += &format!("; but {says}, so our text did"),
            }
            ready = self.cuda.kernels.get(&lowered.wanted())?;
        }
        let mut runs = 0;
        loop {
            runs += 1;
            let gpu = self.hand_over(k, &lowered.code, &ready)?;
            if lowered.code.checked.is_empty() {
                return Ok((runs, gpu));
            }
            let words = self.read_words(k + 1)?;
            self.look_at(&words)?;
            let fits = words[k * WORDS + 1];
            let misfit = |(bit, _): &(usize, &BufId)| fits >> bit & 1 == 0;
            let wide: Vec<BufId> = lowered.code.checked.iter().enumerate().filter(misfit).map(|(_, b)| *b).collect();
            if wide.is_empty() {
                return Ok((runs, gpu));
            }
            for at in wide {
                let buffer = &mut self.plan.to_mut().buffers[at.0 as usize];
                (buffer.dtype, buffer.checked) = (DType::F64, false);
            }
            let tuning = self.cuda.tuning;
            lowered = self::lowered(&self.plan, k, tuning).map_err(|e| Stop::Cpu(e.parts().says.clone()))?;
            ready = self.cuda.kernels.get(&lowered.wanted())?;
            self.cuda.memory.fill(&self.words.clone(), 0xff)?;
        }
    }

    /// The launch's kernels, one after the other.
    fn hand_over(&mut self, k: usize, code: &Code, ready: &[Rc<Ready>]) -> Result<OnGpu, Stop> {
        if ready.len() != code.kernels.len() {
            return Err(Stop::Cpu("a kernel is missing".into()));
        }
        let mut own = Own::default();
        for buffer in self.plan.launches[k].stores.iter().chain(&self.plan.launches[k].after_stores).map(|s| s.buf) {
            let (shape, dtype) = (&self.plan.buffer(buffer).shape, self.plan.buffer(buffer).dtype);
            let copy = self.cuda.memory.take(elements(shape).saturating_mul(dtype.size()))?;
            self.held[buffer.0 as usize] = Held { host: None, copy: Some(copy) };
        }
        for scratch in &code.scratch {
            let bytes = usize::try_from(scratch.bytes).map_err(|_| Stop::Memory)?;
            own.scratch.push((scratch.name.clone(), self.cuda.memory.take(bytes)?));
        }
        let predicted = place::gpu_us(&self.plan, &self.plan.launches[k]) / code.kernels.len().max(1) as f64;
        let mut all: Option<OnGpu> = None;
        for (kernel, ready) in code.kernels.iter().zip(ready) {
            for (name, byte) in &kernel.clears {
                if let Some((_, scratch)) = own.scratch.iter().find(|s| s.0 == *name) {
                    self.cuda.memory.fill(scratch, *byte)?;
                }
            }
            let gpu = self.run_kernel(k, kernel, ready, predicted, &mut own)?;
            all = Some(all.map_or(gpu, |before| before.and(gpu)));
        }
        all.ok_or_else(|| Stop::Cpu("a launch without a kernel".into()))
    }

    fn run_kernel(
        &mut self,
        k: usize,
        kernel: &Kernel,
        ready: &Ready,
        predicted: f64,
        own: &mut Own,
    ) -> Result<OnGpu, Stop> {
        let interrupt = self.ctx.interrupt;
        let threads = kernel.threads;
        let full = self.cuda.driver.facts().processors.saturating_mul(ready.function.resident);
        let per_block = kernel.per_block();
        let wave = u64::from(full) * per_block;
        let predicted = predicted * self.cuda.pace;
        // A slice is at least what fills the device once.
        let slices = ((predicted / SLICE_US).ceil() as u64).clamp(1, kernel.points.div_ceil(wave).max(1));
        let size = kernel.points.div_ceil(slices).max(1).next_multiple_of(per_block);
        let cuts: Vec<(u64, u64, u32)> = (0..kernel.points.div_ceil(size))
            .map(|s| (s * size, size.min(kernel.points - s * size)))
            .map(|(lo, n)| (lo, n, kernel.blocks(n, u64::from(full))))
            .collect();
        let parts: u32 = cuts.iter().map(|c| c.2).sum();
        let mut slots = self.slots(k, kernel, parts, own)?;
        let place = |name: &str| kernel.params.iter().position(|p| p.name == name);
        let (lo, n, first) = (place("lo"), place("n"), place("first"));
        let set = |at: Option<usize>, value: u64, slots: &mut Vec<u64>| {
            if let Some(at) = at {
                slots[at] = value;
            }
        };
        let (begun, mut done) = (Instant::now(), 0u32);
        for (s, (from, count, blocks)) in cuts.iter().enumerate() {
            if interrupt.is_set() {
                self.cuda.driver.finish()?;
                return Err(Stop::Interrupted);
            }
            if s >= 2 {
                self.cuda.driver.reached(s, interrupt)?;
            }
            set(lo, *from, &mut slots);
            set(n, *count, &mut slots);
            set(first, u64::from(done), &mut slots);
            ready.function.launch(*blocks, threads, &mut slots)?;
            done += blocks;
            if cuts.len() > 1 {
                self.cuda.driver.mark(s)?;
            }
        }
        if self.ctx.timed || cuts.len() > 1 || predicted > SLICE_US / 10.0 {
            self.cuda.driver.wait(interrupt)?;
            self.cuda.learn(begun.elapsed().as_secs_f64() * 1e6, predicted / self.cuda.pace);
        }
        let (usage, resident) = (ready.usage, ready.function.resident);
        let occupancy = (resident * threads).min(2048) as f32 / 2048.0;
        let grid = cuts.iter().map(|c| c.2).max().unwrap_or(0);
        let slices = cuts.len() as u32;
        let (registers, spills, shared) = (usage.registers, usage.spills, usage.shared);
        Ok(OnGpu { grid, block: threads, slices, registers, spills, shared, occupancy, library: None })
    }

    /// One word an argument; `own` keeps alive what they point to.
    fn slots(&mut self, k: usize, kernel: &Kernel, parts: u32, own: &mut Own) -> Result<Vec<u64>, Stop> {
        let mut slots = Vec::with_capacity(kernel.params.len());
        for param in &kernel.params {
            slots.push(match (&param.what, param.name.as_str()) {
                (ParamKind::In(_, b), _) => {
                    let copy = self.on_device(BufId(*b))?;
                    let at = copy.at();
                    // Texts read vectors of so many bytes.
                    if !at.is_multiple_of(16) {
                        return Err(Stop::Cpu("an array does not begin at a multiple of 16 bytes".into()));
                    }
                    own.others.push(copy);
                    at
                }
                (ParamKind::Out(_, b), _) => {
                    let copy = self.held[*b as usize].copy.as_ref();
                    copy.ok_or_else(|| Stop::Cpu(format!("buffer {b} has no place")))?.at()
                }
                (ParamKind::Number(Type::F64, x), _) => x.to_bits(),
                (ParamKind::Number(_, x), _) => *x as i64 as u64,
                (ParamKind::Launch(_), "parts") => u64::from(parts),
                (ParamKind::Launch(_), _) => 0,
                (ParamKind::Scratch(_), "err") => self.word(k),
                (ParamKind::Scratch(_), name) => match own.scratch.iter().find(|s| s.0 == name) {
                    Some((_, scratch)) => scratch.at(),
                    None => {
                        let (bytes, zeros) = kernel.scratch(name, u64::from(parts));
                        let scratch = self.cuda.memory.take(bytes as usize)?;
                        if zeros {
                            self.cuda.memory.fill(&scratch, 0)?;
                        }
                        let at = scratch.at();
                        own.others.push(scratch);
                        at
                    }
                },
            });
        }
        Ok(slots)
    }

    pub(super) fn on_device(&mut self, at: BufId) -> Result<Rc<DevBuf>, Stop> {
        let held = &self.held[at.0 as usize];
        if let Some(copy) = &held.copy {
            return Ok(copy.clone());
        }
        let Some(host) = held.host.clone() else { return Err(Stop::Cpu(format!("buffer {} is not there", at.0))) };
        let copy = match host.data() {
            Data::Num(x) => self.cuda.memory.upload(&x.to_le_bytes(), self.ctx.interrupt)?,
            Data::Char(c) => self.cuda.memory.upload(&u32::from(*c).to_le_bytes(), self.ctx.interrupt)?,
            Data::Dense(b) => self.cuda.memory.copy_of(b, self.ctx.interrupt)?,
            _ => return Err(Stop::Cpu("an input is no array of reals".into())),
        };
        self.held[at.0 as usize].copy = Some(copy.clone());
        Ok(copy)
    }

    /// A buffer as an array of the host.
    fn value(&mut self, at: BufId) -> Result<Array, Stop> {
        let held = self.held[at.0 as usize].clone();
        if let Some(host) = held.host {
            return Ok(host);
        }
        let Some(copy) = held.copy else { return Err(Stop::Cpu(format!("buffer {} was never computed", at.0))) };
        let (dtype, shape) = (self.plan.buffer(at).dtype, self.plan.buffer(at).shape.clone());
        let len = elements(&shape);
        let mut buffer = self.cpu.pool().buffer(dtype, len, self.ctx.budget).map_err(Stop::Budget)?;
        // SAFETY: a new buffer that holds `len` items of `dtype`, and only this slice refers to it; what comes in is
        // looked at before anybody sees it as characters.
        let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr(), len * dtype.size()) };
        self.cuda.memory.download(&copy, bytes, self.ctx.interrupt)?;
        if !are_items(dtype, bytes) {
            return Err(Stop::Cpu(format!("the device gave no {} items", dtype.name())));
        }
        let host: Arc<dyn Storage> = Arc::new(buffer);
        self.cuda.memory.keep(&host, &copy);
        let array = Array::dense(shape, host);
        self.held[at.0 as usize].host = Some(array.clone());
        Ok(array)
    }

    /// One launch on the CPU, as a plan of its own.
    fn on_cpu(&mut self, k: usize, why: String) -> Result<LaunchStats, Stop> {
        let launch = self.plan.launches[k].clone();
        let mut plan = Plan { buffers: self.plan.buffers.clone(), launches: vec![launch], roots: Vec::new() };
        let mut inputs = Vec::new();
        let launch = &plan.launches[0];
        let mut read: Vec<BufId> = launch.loads.iter().map(|l| l.buf).collect();
        read.sort();
        read.dedup();
        plan.roots = launch.stores.iter().chain(&launch.after_stores).map(|s| s.buf).collect();
        for at in &read {
            inputs.push(self.value(*at)?);
        }
        for (at, buffer) in plan.buffers.iter_mut().enumerate() {
            let input = read.iter().position(|b| b.0 as usize == at);
            buffer.from = input.map_or(From::Launch(0), |j| From::Input(j as u32));
            buffer.last_use = None;
        }
        let values = self.cpu.run(&plan, &inputs, self.ctx).map_err(|e| match e {
            DeviceError::Fault(_) => Stop::Fault,
            DeviceError::Interrupted => Stop::Interrupted,
            DeviceError::Oom(e) => Stop::Budget(e),
            DeviceError::Lost => Stop::Cpu("the CPU is lost".into()),
            DeviceError::Broken(says) => Stop::Cpu(says),
        })?;
        for (at, value) in plan.roots.iter().zip(values) {
            let dtype = value.dtype();
            if self.plan.buffer(*at).dtype != dtype {
                self.plan.to_mut().buffers[at.0 as usize].dtype = dtype;
            }
            self.held[at.0 as usize] = Held { host: Some(value), copy: None };
        }
        let done = self.cpu.stats().first().cloned();
        let done =
            done.unwrap_or(LaunchStats { launch: k, micros: 0.0, threads: 1, runs: 1, gpu: None, why: String::new() });
        Ok(LaunchStats { launch: k, why, ..done })
    }
}

impl std::convert::From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Stop {
        match trouble {
            Trouble::Memory => Stop::Memory,
            Trouble::Lost(name) => Stop::Lost(name),
            Trouble::Refused(says) => Stop::Cpu(says),
            Trouble::Interrupted => Stop::Interrupted,
        }
    }
}

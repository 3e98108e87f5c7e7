//! One evaluation on the device: buffers, launches in order, answers.
//!
//! What has no text, or no elements, runs on the CPU in between. Always: values come back whole or
//! not at all; an element that failed is told by the CPU, which runs the plan again, so errors are
//! the same on both; an integer result that did not fit is made again as f64, as there. `launch`
//! does one launch.

use super::blas::Call;
use super::held::{Held, Run, WORDS};
use super::stop::Stop;
use super::text::{Lowered, Ready, Text};
use crate::device::{Device, DeviceError, LaunchStats, OnGpu};
use aplomb_plans::plan::{BufId, From, Launch, Plan};
use aplomb_values::array::{Array, DType, Data};
use std::rc::Rc;
use std::time::Instant;

/// Launches without elements have no text worth running.
pub fn is_empty(launch: &Launch) -> bool {
    launch.domain.contains(&0)
}

/// The plan with its inputs' dtypes as they are now.
pub fn as_given(plan: &Rc<Plan>, inputs: &[Array]) -> Result<Rc<Plan>, Stop> {
    let mut own = plan.clone();
    for (at, buffer) in plan.buffers.iter().enumerate() {
        let From::Input(k) = buffer.from else { continue };
        let array = inputs.get(k as usize).map(Array::settled);
        let dtype = match array.as_ref().map(Array::data) {
            Some(Data::Num(_, _)) => DType::F64,
            Some(Data::Char(_)) => DType::Char,
            Some(Data::Dense(b)) if b.dtype() != DType::Complex => b.dtype(),
            _ => return Err(Stop::Cpu("an input is no array of reals".into())),
        };
        if dtype != buffer.dtype {
            Rc::make_mut(&mut own).buffers[at].dtype = dtype;
        }
    }
    Ok(own)
}

/// One run of a launch, by the device's clock where that is known.
fn ran(gpu: OnGpu, begun: Instant, by_events: Option<f64>) -> LaunchStats {
    let (micros, clock) = match by_events {
        Some(us) => (us, "events"),
        None => (begun.elapsed().as_secs_f64() * 1e6, "monotonic"),
    };
    LaunchStats {
        launch: 0,
        micros,
        clock,
        threads: 0,
        runs: 1,
        gpu: Some(gpu),
        why: String::new(),
        sent: Vec::new(),
        timed: Vec::new(),
        together: None,
    }
}

/// Why a launch without a text runs where it does.
pub fn no_text(says: &str) -> String {
    format!("on the CPU: there is no CUDA text: {says}")
}

/// A launch for the device.
pub struct Task {
    pub text: Rc<Lowered>,
    /// A library does it instead.
    pub call: Option<Call>,
}

impl Task {
    /// The texts that are to be compiled before it runs.
    pub fn wanted(&self) -> Vec<&str> {
        match &self.call {
            Some(call) => vec![call.range()],
            None => self.text.texts.iter().map(String::as_str).collect(),
        }
    }
}

impl Run<'_> {
    /// The values of the roots. `texts`: None where a launch runs on the CPU; `whys` says why each
    /// runs where it does.
    pub fn all(
        mut self,
        texts: Vec<Option<Task>>,
        whys: &[String],
    ) -> Result<(Vec<Array>, Vec<LaunchStats>), Stop> {
        let tasks = || texts.iter().flatten();
        let wanted: Vec<Rc<Lowered>> =
            tasks().filter(|t| t.call.is_none()).map(|t| t.text.clone()).collect();
        let mut others: Vec<&str> =
            tasks().filter_map(|t| Some(t.call.as_ref()?.range())).collect();
        others.sort();
        others.dedup();
        // All in one program, which stays as long as the run.
        let functions = self.cuda.kernels.of(&wanted, &others)?;
        let ranges = &functions[functions.len() - others.len()..];
        let range = |call: &Call| ranges.get(others.iter().position(|text| *text == call.range())?);
        if wanted.len() == texts.len()
            && let Some(values) = self.again(&wanted, whys)?
        {
            return Ok((values, self.stats));
        }
        self.words = self.cuda.memory.take(self.plan.launches.len() * WORDS * 8)?;
        self.cuda.memory.fill(&self.words, 0xff)?;
        let first = self.plan.clone();
        for (k, text) in texts.into_iter().enumerate() {
            let mut why = whys[k].clone();
            let text = match text {
                // A launch before it stored another type.
                Some(_) if !Rc::ptr_eq(&first, &self.plan) => match self.text(k) {
                    Ok(text) => Some(Task { text, call: None }),
                    Err(says) => {
                        why = no_text(&says);
                        None
                    }
                },
                known => known,
            };
            let stats = match text {
                Some(Task { text, call: Some(call) }) => {
                    self.product(k, text, &call, range(&call), why)?
                }
                Some(Task { text, call: None }) => self.launch(k, text, why)?,
                None => {
                    self.untuned(k, &why);
                    self.on_cpu(k, why)?
                }
            };
            let sent = std::mem::take(&mut self.sent);
            self.stats.push(LaunchStats { sent, ..stats });
            for at in 0..self.held.len() {
                if self.plan.buffers[at].last_use == Some(k as u32) {
                    self.held[at] = Held::default();
                }
            }
        }
        let words = self.read_words(self.plan.launches.len())?;
        self.look_at(&words)?;
        let values = self.roots()?;
        Ok((values, self.stats))
    }

    /// A launch by a library, or where that does not take it by its text. `range`: what looks at
    /// its operands.
    fn product(
        &mut self,
        k: usize,
        text: Rc<Lowered>,
        call: &Call,
        range: Option<&Rc<Ready>>,
        mut why: String,
    ) -> Result<LaunchStats, Stop> {
        let begun = Instant::now();
        let Some(range) = range else { return self.launch(k, text, why) };
        match self.multiply(k, call, range)? {
            Ok((gpu, took)) => {
                self.untuned(k, "nothing to choose: cuBLAS does it");
                Ok(LaunchStats { launch: k, runs: 1, why, ..ran(gpu, begun, took) })
            }
            Err(says) => {
                why += &format!("; but {says}, so our text did");
                self.launch(k, text, why)
            }
        }
    }

    /// Launch `k` with the storage types of now.
    fn text(&mut self, k: usize) -> Text {
        self.cuda.known.text(self.whole, &self.plan, k)
    }

    /// A launch on the device, once more where a result did not fit its type. Results are in `held`
    /// after it.
    fn launch(
        &mut self,
        k: usize,
        mut lowered: Rc<Lowered>,
        why: String,
    ) -> Result<LaunchStats, Stop> {
        let (begun, mut by_events) = (Instant::now(), Some(0.0));
        let mut runs = 0;
        loop {
            runs += 1;
            let ready = self.functions(&lowered)?;
            let prepared = self.prepare(k, &lowered, &ready)?;
            let gpu = prepared.on_gpu()?;
            let took = self.hand_over(prepared)?;
            by_events = by_events.zip(took).map(|(before, us)| before + us);
            let wide = self.misfits(k, &lowered)?;
            if wide.is_empty() {
                self.tune(k, &lowered)?;
                let (timed, own) = (lowered.timed(), ran(gpu, begun, by_events));
                return Ok(LaunchStats { launch: k, runs, why, timed, ..own });
            }
            for at in wide {
                let buffer = &mut Rc::make_mut(&mut self.plan).buffers[at.0 as usize];
                (buffer.dtype, buffer.checked) = (DType::F64, false);
            }
            lowered = self.text(k).map_err(Stop::Cpu)?;
            self.cuda.memory.fill(&self.words.clone(), 0xff)?;
        }
    }

    /// The results of launch `k` that do not fit their types.
    fn misfits(&mut self, k: usize, lowered: &Lowered) -> Result<Vec<BufId>, Stop> {
        if lowered.code.checked.is_empty() {
            return Ok(Vec::new());
        }
        let words = self.read_words(k + 1)?;
        self.look_at(&words)?;
        let fits = words[k * WORDS + 1];
        let misfit = |(bit, _): &(usize, &BufId)| fits >> bit & 1 == 0;
        Ok(lowered.code.checked.iter().enumerate().filter(misfit).map(|(_, b)| *b).collect())
    }

    /// One launch on the CPU, as a plan of its own.
    fn on_cpu(&mut self, k: usize, why: String) -> Result<LaunchStats, Stop> {
        let launch = self.plan.launches[k].clone();
        let mut plan = self.plan.part(vec![launch], Vec::new());
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
        let plan = Rc::new(plan);
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
                Rc::make_mut(&mut self.plan).buffers[at.0 as usize].dtype = dtype;
            }
            self.held[at.0 as usize] = Held { host: Some(value), copy: None };
        }
        let done = self.cpu.stats().first().cloned();
        let done = done.ok_or_else(|| Stop::Cpu("the CPU tells nothing of a launch".into()))?;
        Ok(LaunchStats { launch: k, why, ..done })
    }
}

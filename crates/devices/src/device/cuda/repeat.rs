//! A plan that runs again: all its kernels as one graph.
//!
//! The graph owns what a plan needs only while it runs: the words of failures, scratch, and buffers
//! between launches. Inputs are where they are, results are new each time: of the kernels that name
//! them the arguments are changed where an address is another one. So values are those of plain
//! launches, and whatever goes wrong with a graph, plain launches follow. Not in a graph: runs that
//! are timed launch by launch, plans that the CPU or a library does a part of, launches in slices,
//! results that may not fit their type and are read by a later launch. What graphs keep is bounded:
//! a sixteenth of the memory.

use super::graph::{Call, Graph};
use super::held::{Held, Run, WORDS};
use super::repeats::{GraphKernel, Repeat, Repeats};
use super::step::{SLICE_US, Step};
use super::stop::Stop;
use super::text::Lowered;
use crate::device::LaunchStats;
use aplomb_plans::kir::ParamKind;
use aplomb_plans::plan::{BufId, From};
use aplomb_values::array::{Array, elements};
use std::rc::Rc;
use std::time::Instant;

/// Fewer kernels are launched as fast one by one.
const LEAST: usize = 3;
/// All graphs together keep this part of the device's memory.
const SHARE: u64 = 16;

impl Run<'_> {
    /// All launches as one graph, where that is possible: the values of the roots. None: they have
    /// to be launched one by one. `texts`: of every launch.
    pub fn again(
        &mut self,
        texts: &[Rc<Lowered>],
        whys: &[String],
    ) -> Result<Option<Vec<Array>>, Stop> {
        let kernels: usize = texts.iter().map(|t| t.texts.len()).sum();
        if self.ctx.timed || texts.len() != self.plan.launches.len() || kernels < LEAST {
            return Ok(None);
        }
        let known = std::mem::take(self.cuda.known.repeats(self.whole, &self.plan));
        let begun = Instant::now();
        let (next, values) = match known {
            Repeats::New => (Repeats::Ran, Ok(None)),
            Repeats::Never => (Repeats::Never, Ok(None)),
            Repeats::Ran => match self.build(texts) {
                Ok(Some(repeat)) => self.replay(Box::new(repeat), texts),
                Ok(None) => (Repeats::Never, Ok(None)),
                Err(stop) => (Repeats::Never, plainly(stop)),
            },
            Repeats::Graph(repeat) => self.replay(repeat, texts),
        };
        if let (Repeats::Graph(repeat), Ok(Some(_))) = (&next, &values) {
            let micros = begun.elapsed().as_secs_f64() * 1e6 / repeat.on_gpu.len().max(1) as f64;
            // One graph, and all that it needed.
            let mut sent = std::mem::take(&mut self.sent);
            self.stats.extend(repeat.on_gpu.iter().enumerate().map(|(launch, gpu)| LaunchStats {
                launch,
                micros,
                clock: "monotonic",
                threads: 0,
                runs: 1,
                gpu: Some(*gpu),
                why: whys[launch].clone(),
                sent: std::mem::take(&mut sent),
                timed: texts[launch].timed(),
                together: None,
            }));
            self.cuda.graphs += 1;
        }
        *self.cuda.known.repeats(self.whole, &self.plan) = next;
        values
    }

    /// Whether a graph would give the same, and is not too large.
    fn may_repeat(&self, texts: &[Rc<Lowered>]) -> bool {
        let launches = &self.plan.launches;
        let read_later = |k: usize, b: BufId| {
            launches.iter().skip(k + 1).any(|l| l.loads.iter().any(|x| x.buf == b))
        };
        let sure = texts
            .iter()
            .enumerate()
            .all(|(k, t)| t.code.checked.iter().all(|b| !read_later(k, *b)));
        let scratch: u64 = texts.iter().flat_map(|t| &t.code.scratch).map(|s| s.bytes).sum();
        let between = self.plan.buffers.iter().enumerate().filter(|(at, b)| {
            matches!(b.from, From::Launch(_)) && !self.plan.roots.contains(&BufId(*at as u32))
        });
        let bytes = between.map(|(_, b)| b.bytes()).fold(scratch, u64::saturating_add);
        sure && bytes.saturating_add(self.cuda.known.set_aside()) <= self.cuda.memory.most / SHARE
    }

    /// None where launches are cut into slices, or where a graph would not do.
    fn build(&mut self, texts: &[Rc<Lowered>]) -> Result<Option<Repeat>, Stop> {
        if !self.may_repeat(texts) {
            return Ok(None);
        }
        let words = self.cuda.memory.take(texts.len() * WORDS * 8)?;
        self.words = words.clone();
        let mut steps: Vec<(Step, Vec<(usize, BufId)>)> = Vec::new();
        let (mut own, mut on_gpu, mut predicted) = (Vec::new(), Vec::new(), 0.0);
        for (k, text) in texts.iter().enumerate() {
            let ready = self.functions(text)?;
            let prepared = self.prepare(k, text, &ready)?;
            on_gpu.push(prepared.on_gpu()?);
            own.extend(prepared.scratch);
            for (step, kernel) in prepared.steps.into_iter().zip(&text.code.kernels) {
                predicted += step.predicted;
                if step.cuts.len() != 1 || predicted > SLICE_US {
                    return Ok(None);
                }
                let moves = kernel.params.iter().enumerate().filter_map(|(at, p)| match p.what {
                    ParamKind::In(_, b) | ParamKind::Out(_, b) => Some((at, BufId(b))),
                    _ => None,
                });
                let moves = moves.filter(|(_, b)| self.is_elsewhere(*b)).collect();
                steps.push((step, moves));
            }
        }
        for (at, buffer) in self.plan.buffers.iter().enumerate() {
            if matches!(buffer.from, From::Launch(_)) && !self.is_elsewhere(BufId(at as u32)) {
                own.extend(self.held[at].copy.clone());
            }
        }
        let mut graph = Graph::new(&self.cuda.driver)?;
        graph.fill(&words, 0xff)?;
        let mut kernels = Vec::with_capacity(steps.len());
        for (mut step, moves) in steps {
            for (scratch, byte) in &step.clears {
                graph.fill(scratch, *byte)?;
            }
            let node = graph.kernel(call(&mut step))?;
            kernels.push(GraphKernel { step, node, moves });
        }
        graph.finish()?;
        Ok(Some(Repeat::new(graph, kernels, words, own, on_gpu)))
    }

    /// Whether a buffer may be somewhere else in another run.
    fn is_elsewhere(&self, at: BufId) -> bool {
        matches!(self.plan.buffer(at).from, From::Input(_)) || self.plan.roots.contains(&at)
    }

    /// A run of the graph: what is known afterwards, and the values.
    fn replay(
        &mut self,
        mut repeat: Box<Repeat>,
        texts: &[Rc<Lowered>],
    ) -> (Repeats, Result<Option<Vec<Array>>, Stop>) {
        match self.try_replay(&mut repeat, texts) {
            Ok(Some(values)) => (Repeats::Graph(repeat), Ok(Some(values))),
            Ok(None) => (Repeats::Never, Ok(None)),
            // Its own memory goes, and it may be tried again.
            Err(Stop::Memory) => (Repeats::New, Ok(None)),
            Err(stop @ (Stop::Fault | Stop::Interrupted)) => (Repeats::Graph(repeat), Err(stop)),
            Err(stop) => (Repeats::Never, plainly(stop)),
        }
    }

    /// None: a result did not fit its type.
    fn try_replay(
        &mut self,
        repeat: &mut Repeat,
        texts: &[Rc<Lowered>],
    ) -> Result<Option<Vec<Array>>, Stop> {
        let plan = self.plan.clone();
        for root in &plan.roots {
            // A graph that was built just now knows where they are.
            if matches!(plan.buffer(*root).from, From::Launch(_))
                && self.held[root.0 as usize].copy.is_none()
            {
                let bytes = elements(&plan.buffer(*root).shape)
                    .saturating_mul(plan.buffer(*root).dtype.size());
                let copy = Some(self.cuda.memory.take(bytes)?);
                self.held[root.0 as usize] = Held { host: None, copy };
            }
        }
        for GraphKernel { step, node, moves } in &mut repeat.kernels {
            let mut other = false;
            for (slot, buffer) in moves.iter() {
                let at = self.address(*buffer)?;
                other |= std::mem::replace(&mut step.slots[*slot], at) != at;
            }
            if other {
                repeat.graph.change(*node, call(step))?;
            }
        }
        if self.ctx.interrupt.is_set() {
            return Err(Stop::Interrupted);
        }
        repeat.graph.launch()?;
        self.words = repeat.words.clone();
        let words = self.read_words(texts.len())?;
        self.look_at(&words)?;
        let fits = |(k, text): (usize, &Rc<Lowered>)| {
            (0..text.code.checked.len()).all(|bit| words[k * WORDS + 1] >> bit & 1 == 1)
        };
        if !texts.iter().enumerate().all(fits) {
            return Ok(None);
        }
        self.roots().map(Some)
    }
}

fn call(step: &mut Step) -> Call<'_> {
    let (ready, cut, threads) = (step.ready.clone(), step.cuts[0], step.threads);
    Call { ready, blocks: cut.blocks, threads, slots: step.arguments(cut, 0) }
}

/// None where only the graph ends, so that the plan may run without it; Err: what ends the
/// evaluation.
fn plainly(stop: Stop) -> Result<Option<Vec<Array>>, Stop> {
    match stop {
        Stop::Memory | Stop::Cpu(_) => Ok(None),
        other => Err(other),
    }
}

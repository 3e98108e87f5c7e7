//! The buffers that a run holds: where each of its plan is, on the host, on the device or on both,
//! and the words in which launches tell what failed.

use super::away::{self, Away, Recall, Recipe, Weight};
use super::buffer::DevBuf;
use super::driver::Done;
use super::engine::Cuda;
use super::stop::Stop;
use super::text::{Lowered, Ready};
use crate::device::cpu::Cpu;
use crate::device::{LaunchStats, RunCtx, Sent};
use crate::pool::PoolBuffer;
use aplomb_plans::plan::{BufId, From, Plan};
use aplomb_values::array::{Array, Data, Storage, elements};
use std::rc::Rc;
use std::sync::Arc;

/// The words of a launch: its least failure, and the results that did not fit.
pub const WORDS: usize = 2;
const FINE: u64 = u64::MAX;

/// A plan's buffer while it is alive.
#[derive(Clone, Default)]
pub struct Held {
    pub host: Option<Array>,
    pub copy: Option<Rc<DevBuf>>,
}

pub struct Run<'a> {
    pub cuda: &'a mut Cuda,
    pub cpu: &'a mut Cpu,
    pub ctx: &'a RunCtx<'a>,
    /// As it is known, and with the storage types that its buffers turned out to have.
    pub whole: &'a Rc<Plan>,
    pub plan: Rc<Plan>,
    pub inputs: Vec<Array>,
    pub held: Vec<Held>,
    pub words: Rc<DevBuf>,
    /// The launches that a library did.
    pub multiplied: Vec<usize>,
    pub stats: Vec<LaunchStats>,
    /// Arrays that went to the device since the last launch.
    pub sent: Vec<Sent>,
}

impl<'a> Run<'a> {
    pub fn new(
        cuda: &'a mut Cuda,
        cpu: &'a mut Cpu,
        ctx: &'a RunCtx<'a>,
        whole: &'a Rc<Plan>,
        plan: Rc<Plan>,
        inputs: &[Array],
    ) -> Done<Run<'a>> {
        let mut held = vec![Held::default(); plan.buffers.len()];
        let inputs: Vec<Array> = inputs.iter().map(Array::settled).collect();
        for (slot, buffer) in held.iter_mut().zip(&plan.buffers) {
            if let From::Input(k) = buffer.from {
                slot.host = inputs.get(k as usize).cloned();
            }
        }
        // None yet.
        let words = cuda.memory.take(0)?;
        Ok(Run {
            cuda,
            cpu,
            ctx,
            whole,
            plan,
            inputs,
            held,
            words,
            multiplied: Vec::new(),
            stats: Vec::new(),
            sent: Vec::new(),
        })
    }

    /// The values of the roots. Large ones stay where they are until somebody looks.
    pub fn roots(&mut self) -> Result<Vec<Array>, Stop> {
        (0..self.plan.roots.len()).map(|k| self.root(k)).collect()
    }

    fn root(&mut self, k: usize) -> Result<Array, Stop> {
        let at = self.plan.roots[k];
        let bytes = self.plan.buffer(at).bytes();
        let Held { host: None, copy: Some(copy) } = self.held[at.0 as usize].clone() else {
            return self.value(at);
        };
        if bytes < away::LEAST {
            return self.value(at);
        }
        let weight = Weight::new(bytes, &self.inputs);
        if !weight.fits(self.ctx.budget.free()) {
            return self.value(at);
        }
        let to = self.room(at)?;
        let recipe = Recipe {
            plan: self.whole.clone(),
            inputs: self.inputs.clone(),
            root: k,
            threads: self.cpu.threads(),
        };
        let transfers = self.cuda.memory.transfers.clone();
        let host: Arc<dyn Storage> =
            Arc::new(Away::new(Recall { to, copy: copy.clone(), transfers, recipe }, weight));
        Ok(self.as_host(at, host, &copy))
    }

    /// Memory of the host for a buffer.
    fn room(&self, at: BufId) -> Result<PoolBuffer, Stop> {
        let of = self.plan.buffer(at);
        self.cpu.pool().buffer(of.dtype, elements(&of.shape), self.ctx.budget).map_err(Stop::Budget)
    }

    /// A buffer's array, which is on the device as `copy`.
    fn as_host(&mut self, at: BufId, host: Arc<dyn Storage>, copy: &Rc<DevBuf>) -> Array {
        self.cuda.memory.keep(&host, copy);
        let array = Array::dense(self.plan.buffer(at).shape.clone(), host);
        self.held[at.0 as usize].host = Some(array.clone());
        array
    }

    /// The error words of the first so many launches.
    pub fn read_words(&mut self, launches: usize) -> Done<Vec<u64>> {
        let mut bytes = vec![0u8; launches * WORDS * 8];
        let words = self.words.clone();
        self.cuda.memory.download(&words, &mut bytes, self.ctx.interrupt)?;
        Ok(bytes
            .chunks_exact(8)
            .map(|b| b.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
            .collect())
    }

    /// The address of a launch's error words.
    pub fn word(&self, k: usize) -> u64 {
        self.words.at() + (k * WORDS * 8) as u64
    }

    /// Errors: some launch failed.
    pub fn look_at(&self, words: &[u64]) -> Result<(), Stop> {
        let failed = |k: &usize| words.get(k * WORDS).is_some_and(|w| *w != FINE);
        match (0..words.len() / WORDS).any(|k| failed(&k)) {
            true if self.multiplied.iter().any(failed) => Err(Stop::Large),
            true => Err(Stop::Fault),
            false => Ok(()),
        }
    }

    /// A buffer's copy on the device, made where there is none.
    pub fn on_device(&mut self, at: BufId) -> Result<Rc<DevBuf>, Stop> {
        let held = &self.held[at.0 as usize];
        if let Some(copy) = &held.copy {
            return Ok(copy.clone());
        }
        let Some(host) = held.host.clone() else {
            return Err(Stop::Cpu(format!("buffer {} is not there", at.0)));
        };
        let before = self.cuda.memory.transfers.borrow().traffic;
        let copy = match host.data() {
            Data::Num(x, _) => self.cuda.memory.upload(&x.to_le_bytes(), self.ctx.interrupt)?,
            Data::Char(c) => {
                self.cuda.memory.upload(&u32::from(*c).to_le_bytes(), self.ctx.interrupt)?
            }
            Data::Dense(b) => self.cuda.memory.copy_of(b, self.ctx.interrupt)?,
            _ => return Err(Stop::Cpu("an input is no array of reals".into())),
        };
        let now = self.cuda.memory.transfers.borrow().traffic;
        if now.up > before.up {
            let (bytes, micros) = (now.up - before.up, (now.up_ms - before.up_ms) * 1e3);
            self.sent.push(Sent { buf: at.0, bytes, micros });
        }
        self.held[at.0 as usize].copy = Some(copy.clone());
        Ok(copy)
    }

    /// The address of a buffer that kernels read or write.
    pub fn address(&mut self, at: BufId) -> Result<u64, Stop> {
        let at = self.on_device(at)?.at();
        // Texts read vectors of so many bytes.
        if at.is_multiple_of(16) {
            return Ok(at);
        }
        Err(Stop::Cpu("an array does not begin at a multiple of 16 bytes".into()))
    }

    /// A buffer as an array of the host.
    pub fn value(&mut self, at: BufId) -> Result<Array, Stop> {
        let held = self.held[at.0 as usize].clone();
        if let Some(host) = held.host {
            return Ok(host);
        }
        let Some(copy) = held.copy else {
            return Err(Stop::Cpu(format!("buffer {} was never computed", at.0)));
        };
        let mut to = self.room(at)?;
        self.cuda.memory.transfers.borrow_mut().bring(&copy, &mut to, self.ctx.interrupt)?;
        Ok(self.as_host(at, Arc::new(to), &copy))
    }

    pub fn functions(&mut self, lowered: &Rc<Lowered>) -> Done<Vec<Rc<Ready>>> {
        match lowered.functions() {
            Some(all) => Ok(all),
            None => self.cuda.kernels.of(std::slice::from_ref(lowered), &[]),
        }
    }
}

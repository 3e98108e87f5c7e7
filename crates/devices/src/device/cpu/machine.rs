//! The machine that launches run on: its instruction set, threads and memory; and a plan's buffers
//! while they are alive.

use super::chunk::Frame;
use super::convert::Source;
use super::emit::{self, Registry, When};
use super::isa::Isa;
use super::kept::Kept;
use super::threads::Threads;
use super::{DeviceError, LaunchStats};
use crate::pool::{Pool, PoolBuffer};
use aplomb_values::array::{Array, DType, Data, Storage, View};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// The CPU device: loops of one instruction set, a pool of threads, a pool of buffers.
pub struct Cpu {
    pub(super) isa: Isa,
    pub(super) threads: Threads,
    pub(super) frames: Vec<Mutex<Frame>>,
    pub(super) pool: Pool,
    pub(super) loops: Registry,
    pub(super) kept: Rc<Kept>,
    pub(super) stats: Vec<LaunchStats>,
}

/// A plan's buffer while it is alive.
pub enum Held {
    /// An input and its items.
    Input(Array, Arc<dyn Storage>),
    /// A rank-0 input and its number.
    Number(Array, f64),
    Made(Arc<PoolBuffer>),
}

impl Held {
    pub fn input(array: &Array) -> Result<Held, DeviceError> {
        let array = array.settled();
        match array.data() {
            Data::Num(x, _) => Ok(Held::Number(array.clone(), *x)),
            Data::Char(c) => Ok(Held::Number(array.clone(), f64::from(u32::from(*c)))),
            Data::Dense(b) if b.dtype() != DType::Complex => {
                // What is on a GPU comes home on this thread, before others read it.
                b.view();
                Ok(Held::Input(array.clone(), b.clone()))
            }
            Data::Dense(_) | Data::Complex(_) => {
                Err(DeviceError::Broken("an input of a plan is complex".into()))
            }
            Data::Items(_) | Data::Ref(_) | Data::Lazy(_) | Data::Framed(_) => {
                Err(DeviceError::Broken("an input of a plan is not dense".into()))
            }
        }
    }

    /// The items in memory, as long as this is held.
    pub fn source(&self) -> Source {
        let of = |s: &dyn Storage| {
            let at = match s.view() {
                View::Bool(v) => v.as_ptr().cast(),
                View::I8(v) => v.as_ptr().cast(),
                View::I16(v) => v.as_ptr().cast(),
                View::I32(v) => v.as_ptr().cast(),
                View::F32(v) => v.as_ptr().cast(),
                View::F64(v) => v.as_ptr().cast(),
                View::Complex(v) => v.as_ptr().cast(),
                View::Char(v) => v.as_ptr().cast(),
            };
            Source { at, dtype: s.dtype(), len: s.len() }
        };
        match self {
            Held::Made(buffer) => of(buffer.as_ref()),
            Held::Number(_, x) => of_number(x),
            Held::Input(_, storage) => of(storage.as_ref()),
        }
    }
}

fn of_number(x: &f64) -> Source {
    Source { at: std::ptr::from_ref(x).cast(), dtype: DType::F64, len: 1 }
}

impl Cpu {
    /// `threads` in all; 0: one for each processor.
    pub fn new(threads: usize) -> Cpu {
        Cpu::with(Isa::chosen(), threads)
    }

    /// `isa` is lowered to what the machine has.
    pub fn with(isa: Isa, threads: usize) -> Cpu {
        Cpu::emitting(isa, threads, When::chosen())
    }

    pub(super) fn emitting(isa: Isa, threads: usize, when: When) -> Cpu {
        let all = std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = if threads == 0 { all } else { threads };
        let threads = Threads::new(threads, emit::ready);
        let frames = (0..threads.count()).map(|_| Mutex::default()).collect();
        let isa = isa.min(Isa::best());
        let loops = Registry::new(isa, when);
        let (pool, kept) = (Pool::default(), Rc::default());
        Cpu { isa, threads, frames, pool, loops, kept, stats: Vec::new() }
    }

    /// The instruction set of its loops.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// The number of threads that compute, the caller among them.
    pub fn threads(&self) -> usize {
        self.threads.count()
    }

    /// The pool that its results come from, for files to be read into.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }
}

//! The CPU device: a chunk VM.
//!
//! A launch becomes a straight program over chunks of 1 024 f64 that stay in L1 (`program`), one
//! loop per operation and operand kind (`loops`), reads by straight pieces (`walk`), units of some
//! 10 000 elements shared out to threads (`threads`). Whatever is suspect is computed again with
//! the scalar meaning (`chunk`), so results and failures depend neither on the instruction set nor
//! on the number of threads. Folds take the order of `prim::reduce` (`fold`).

mod apply;
mod chunk;
mod compact;
mod convert;
mod fold;
mod isa;
mod lanes;
mod launch;
mod library;
mod loops;
mod product;
mod program;
mod scan;
mod scatter;
#[cfg(test)]
mod tests;
mod threads;
mod tiles;
mod walk;
mod whole;

pub use apply::apply;
pub use isa::Isa;
pub use product::estimate;

use super::{Device, DeviceError, Fault, LaunchStats, RunCtx};
use crate::pool::{Pool, PoolBuffer};
use aplomb_plans::plan::{From, Launch, Plan};
use aplomb_values::array::{Array, DType, Data, Storage};
use chunk::Frame;
use convert::Source;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use threads::Threads;

/// The CPU device: loops of one instruction set, a pool of threads, a pool of buffers.
pub struct Cpu {
    isa: Isa,
    threads: Threads,
    frames: Vec<Mutex<Frame>>,
    pool: Pool,
    stats: Vec<LaunchStats>,
}

/// A plan's buffer while it is alive.
enum Held {
    /// An input and its items.
    Input(Array, Arc<dyn Storage>),
    /// A rank-0 input and its number.
    Number(Array, f64),
    Made(Arc<PoolBuffer>),
}

impl Held {
    fn input(array: &Array) -> Result<Held, DeviceError> {
        let array = array.settled();
        match array.data() {
            Data::Num(x) => Ok(Held::Number(array.clone(), *x)),
            Data::Char(c) => Ok(Held::Number(array.clone(), f64::from(u32::from(*c)))),
            Data::Dense(b) if b.dtype() != DType::Complex => {
                // What is on a GPU comes home on this thread, before others read it.
                b.view();
                Ok(Held::Input(array.clone(), b.clone()))
            }
            Data::Dense(_) | Data::Complex(_) => {
                Err(DeviceError::Broken("an input of a plan is complex".into()))
            }
            Data::Items(_) | Data::Lazy(_) | Data::Framed(_) => {
                Err(DeviceError::Broken("an input of a plan is not dense".into()))
            }
        }
    }

    /// The items in memory, as long as this is held.
    fn source(&self) -> Source {
        let of = |s: &dyn Storage| {
            use aplomb_values::array::View;
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
        let all = std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = Threads::new(if threads == 0 { all } else { threads });
        let frames = (0..threads.count()).map(|_| Mutex::default()).collect();
        Cpu { isa: isa.min(Isa::best()), threads, frames, pool: Pool::default(), stats: Vec::new() }
    }

    /// The instruction set of its loops.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// The number of threads that compute, the caller among them.
    pub fn threads(&self) -> usize {
        self.threads.count()
    }

    /// Where its results come from, for files to be read into.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }
}

/// The least site whose failure a launch could find.
fn least_site(launch: &Launch) -> u32 {
    launch.sites().min().unwrap_or(u32::MAX)
}

impl Device for Cpu {
    fn name(&self) -> String {
        let n = self.threads.count();
        format!("cpu ({}, {n} thread{})", self.isa.name(), if n == 1 { "" } else { "s" })
    }

    fn run(
        &mut self,
        plan: &Rc<Plan>,
        inputs: &[Array],
        ctx: &RunCtx,
    ) -> Result<Vec<Array>, DeviceError> {
        self.stats.clear();
        let mut held: Vec<Option<Held>> = Vec::with_capacity(plan.buffers.len());
        for buffer in &plan.buffers {
            held.push(match buffer.from {
                From::Input(k) => match inputs.get(k as usize) {
                    Some(array) => Some(Held::input(array)?),
                    None => return Err(DeviceError::Broken(format!("the plan has no input {k}"))),
                },
                From::Launch(_) => None,
            });
        }
        let mut fault: Option<Fault> = None;
        for (k, launch) in plan.launches.iter().enumerate() {
            // After a failure only earlier sites matter; all that they may read runs as well.
            if fault.is_some_and(|f| plan.launches[k..].iter().all(|l| least_site(l) >= f.site)) {
                break;
            }
            let start = Instant::now();
            let done = launch::run(self, plan, launch, &mut held, ctx)?;
            if let Some(f) = done.fault {
                f.keep_least(&mut fault);
            }
            let micros = start.elapsed().as_secs_f64() * 1e6;
            let (threads, runs) = (done.threads, done.runs);
            self.stats.push(LaunchStats {
                launch: k,
                micros,
                clock: "monotonic",
                threads,
                runs,
                gpu: None,
                why: String::new(),
            });
            for (slot, buffer) in held.iter_mut().zip(&plan.buffers) {
                if buffer.last_use == Some(k as u32) {
                    *slot = None;
                }
            }
        }
        if let Some(fault) = fault {
            return Err(DeviceError::Fault(fault));
        }
        let root = |id: &aplomb_plans::plan::BufId| match held.get(id.0 as usize) {
            Some(Some(Held::Input(array, _) | Held::Number(array, _))) => Ok(array.clone()),
            Some(Some(Held::Made(buffer))) => {
                Ok(Array::dense(plan.buffer(*id).shape.clone(), buffer.clone()))
            }
            _ => Err(DeviceError::Broken(format!("root {} was never computed", id.0))),
        };
        plan.roots.iter().map(root).collect()
    }

    fn stats(&self) -> &[LaunchStats] {
        &self.stats
    }
}

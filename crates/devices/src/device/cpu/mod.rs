//! The CPU device: a chunk VM.
//!
//! A launch becomes a straight program over chunks of 1 024 f64 that stay in L1 (`program`), one
//! loop per operation and operand kind (`loops`), reads by straight pieces (`walk`), units of some
//! 10 000 elements shared out to threads (`threads`). Whatever is suspect is computed again with
//! the scalar meaning (`chunk`), so results and failures depend neither on the instruction set nor
//! on the number of threads. Folds take the order of `prim::reduce` (`fold`).

mod abreast;
mod across;
mod ahead;
pub mod apply;
pub mod at_once;
mod batch;
mod chunk;
mod compact;
mod convert;
mod counted;
mod cut;
mod draws;
mod emit;
mod emitted;
mod estimate;
mod fold;
mod gather;
mod graded;
mod grouped;
#[cfg(target_arch = "x86_64")]
mod halves;
mod isa;
mod kept;
mod keyed;
mod lanes;
mod launch;
mod library;
mod lines;
mod lookup;
mod loops;
mod machine;
mod map;
mod narrow;
mod neighbours;
mod operand;
mod ordered;
mod outer;
mod packing;
mod panels;
mod parted;
#[cfg(target_arch = "x86_64")]
mod partition;
mod pattern;
mod prefixes;
mod product;
mod program;
pub mod registers;
mod rounded;
mod rounds;
mod rows;
mod running;
mod scan;
mod scatter;
mod select;
mod share;
mod singles;
mod sorting;
mod strides;
#[cfg(test)]
mod tests;
mod threads;
mod tiles;
mod trees;
mod turned;
mod typed;
mod walk;
mod whole;

pub use estimate::estimate;
pub use isa::Isa;
pub use machine::Cpu;

use super::{Device, DeviceError, Fault, LaunchStats, RunCtx};
use aplomb_plans::plan::{From, Launch, Plan};
use aplomb_values::array::Array;
use machine::Held;
use std::rc::Rc;
use std::time::Instant;

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
        self.kept.begin(plan);
        let mut next = 0;
        while next < plan.launches.len() {
            let k = next;
            // After a failure only earlier sites matter; all that they may read runs as well.
            if fault.is_some_and(|f| plan.launches[k..].iter().all(|l| least_site(l) >= f.site)) {
                break;
            }
            let start = Instant::now();
            self.kept.launch(k);
            let done = match abreast::run(self, plan, k, &mut held, ctx) {
                Ok(None) => {
                    self.kept.launch(k);
                    let done = launch::run(self, plan, &plan.launches[k], &mut held, ctx);
                    let micros = || start.elapsed().as_secs_f64() * 1e6;
                    done.map(|done| (vec![(done, micros())], None))
                }
                Ok(Some(done)) => Ok(done),
                Err(e) => Err(e),
            };
            let (done, mut together) = done.inspect_err(|_| self.kept.end())?;
            next += done.len();
            for (launch, (done, micros)) in (k..).zip(done) {
                if let Some(f) = done.fault {
                    f.keep_least(&mut fault);
                }
                self.stats.push(LaunchStats {
                    launch,
                    micros,
                    clock: "monotonic",
                    threads: done.threads,
                    runs: done.runs,
                    gpu: None,
                    why: String::new(),
                    sent: Vec::new(),
                    timed: Vec::new(),
                    together: together.take(),
                });
            }
            for (slot, buffer) in held.iter_mut().zip(&plan.buffers) {
                if buffer.last_use.is_some_and(|last| (k..next).contains(&(last as usize))) {
                    *slot = None;
                }
            }
        }
        self.kept.end();
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

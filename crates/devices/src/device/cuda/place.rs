//! The place where a launch should run: what each device is thought to take, and the sentence that
//! says so.
//!
//! Microseconds on the GPU are those of the launch's form and kernels (`kir::figures`), plus 10 for
//! the answer, and the transfers of what is not there. On the CPU: `cpu::estimate`. Compiling costs
//! once: a text is compiled when the CPU has lost as much time on it.

use crate::device::cpu;
use aplomb_plans::kir;
pub use aplomb_plans::plan::cpu::ASK_US;
use aplomb_plans::plan::{From, Launch, Plan};

const ANSWER_US: f64 = 10.0;
/// Through pinned memory, the copy into it included.
const TRANSFER_PER_US: f64 = 1.2e4;
/// Compiling: a program, and each kernel in it.
const PROGRAM_US: f64 = 20e3;
const KERNEL_US: f64 = 15e3;

/// Each launch on the GPU, its data there.
pub fn gpu_us(plan: &Plan) -> &[f64] {
    plan.gpu_us.or_make(|| plan.launches.iter().map(|l| launch_us(plan, l)).collect())
}

fn launch_us(plan: &Plan, launch: &Launch) -> f64 {
    kir::figures(plan, launch).time()
}

/// The place of an input's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    Host,
    Both,
    Device,
}

/// The times that both devices are thought to take for a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    pub cpu_us: f64,
    pub gpu_us: f64,
    /// Bytes that have to be moved to the GPU and back; part of `gpu_us`.
    pub moved: f64,
    /// Bytes that have to come home for the CPU; part of `cpu_us`.
    pub fetched: f64,
}

/// `lies`: where the k-th input is. A large result stays on the GPU; who looks at it pays for that.
pub fn costs(plan: &Plan, threads: usize, lies: impl Fn(usize) -> Where) -> Costs {
    let inputs = |wanted: Where| -> f64 {
        let is = |b: &&aplomb_plans::plan::Buffer| match b.from {
            From::Input(k) => lies(k as usize) == wanted,
            _ => false,
        };
        plan.buffers.iter().filter(is).map(|b| b.bytes() as f64).sum()
    };
    let made = |b: &&aplomb_plans::plan::BufId| matches!(plan.buffer(**b).from, From::Launch(_));
    let back = plan
        .roots
        .iter()
        .filter(made)
        .map(|b| plan.buffer(*b).bytes())
        .filter(|n| *n < super::away::LEAST);
    let launches: f64 = gpu_us(plan).iter().sum();
    let (moved, fetched) = (inputs(Where::Host) + back.sum::<u64>() as f64, inputs(Where::Device));
    let cpu_us = cpu::estimate(plan, threads) + fetched / TRANSFER_PER_US;
    Costs { cpu_us, gpu_us: launches + ANSWER_US + moved / TRANSFER_PER_US, moved, fetched }
}

/// The time that compiling so many kernels is thought to take, µs.
pub fn compile_us(kernels: usize) -> f64 {
    if kernels == 0 { 0.0 } else { PROGRAM_US + KERNEL_US * kernels as f64 }
}

impl Costs {
    /// The part of the reason that has the numbers.
    pub fn sentence(&self) -> String {
        let time = aplomb_ground::error::time;
        let moving = |bytes: f64| match bytes {
            bytes if bytes > 0.0 => {
                let by = time(bytes / TRANSFER_PER_US);
                format!(", {by} of it to move {}", aplomb_ground::error::bytes(bytes as u64))
            }
            _ => String::new(),
        };
        let (home, there) = (moving(self.fetched), moving(self.moved));
        format!(
            "estimated {} on the CPU{home}, {} on the GPU{there}",
            time(self.cpu_us),
            time(self.gpu_us)
        )
    }
}

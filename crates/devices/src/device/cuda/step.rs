//! A launch that is ready to be handed over: kernels in slices, arguments, the memory behind them.

use super::buffer::DevBuf;
use super::stop::Stop;
use super::text::Ready;
use crate::device::OnGpu;
use aplomb_plans::kir::Tuning;
use std::rc::Rc;

/// A slice is predicted to take so long at most: an interrupt waits for two.
pub const SLICE_US: f64 = 50e3;

/// One slice: its points from `lo`, and the blocks that take them.
#[derive(Clone, Copy)]
pub struct Cut {
    pub lo: u64,
    pub points: u64,
    pub blocks: u32,
}

/// A kernel with everything that it needs.
pub struct Step {
    /// Memory that is set before it, each byte to that one.
    pub clears: Vec<(Rc<DevBuf>, u8)>,
    pub ready: Rc<Ready>,
    pub threads: u32,
    pub cuts: Vec<Cut>,
    /// The time that it is thought to take, µs.
    pub predicted: f64,
    /// One word an argument; those of a slice are written by `arguments`.
    pub slots: Vec<u64>,
    /// The places of `lo`, `n` and `first` among the arguments.
    pub places: [Option<usize>; 3],
}

impl Step {
    /// The arguments of a slice that so many blocks came before.
    pub fn arguments(&mut self, cut: Cut, first: u32) -> &mut [u64] {
        for (at, value) in self.places.into_iter().zip([cut.lo, cut.points, u64::from(first)]) {
            if let Some(slot) = at.and_then(|at| self.slots.get_mut(at)) {
                *slot = value;
            }
        }
        &mut self.slots
    }

    fn on_gpu(&self) -> OnGpu {
        let (usage, resident) = (self.ready.usage, self.ready.function.resident);
        OnGpu {
            grid: self.cuts.iter().map(|c| c.blocks).max().unwrap_or(0),
            block: self.threads,
            slices: self.cuts.len() as u32,
            registers: usage.registers,
            spills: usage.spills,
            shared: usage.shared,
            occupancy: (resident * self.threads).min(2048) as f32 / 2048.0,
            library: None,
            tuning: None,
        }
    }
}

/// A launch with everything that it needs.
#[derive(Default)]
pub struct Prepared {
    pub steps: Vec<Step>,
    pub scratch: Vec<Rc<DevBuf>>,
    /// The other buffers that must stay alive until the launch is in the stream.
    pub kept: Vec<Rc<DevBuf>>,
    pub tuning: Option<Tuning>,
}

impl Prepared {
    /// The record of its kernels. Errors: there is none.
    pub fn on_gpu(&self) -> Result<OnGpu, Stop> {
        let all = self.steps.iter().map(Step::on_gpu).reduce(OnGpu::and);
        let all = all.map(|gpu| OnGpu { tuning: self.tuning, ..gpu });
        all.ok_or_else(|| Stop::Cpu("a launch without a kernel".into()))
    }
}

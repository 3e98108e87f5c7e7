//! Devices: what runs a plan.
//!
//! `cpu` runs everywhere; `cuda` where there is a GPU; `devices` chooses. Start at `Device`.
//! Always: a run gives one array a root or nothing at all; the error does not depend on threads or
//! instruction set. Never here: how a plan came to be.

pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(not(feature = "cuda"))]
#[path = "cuda_absent.rs"]
pub mod cuda;
mod devices;
mod tuning;

pub use devices::{Devices, Wanted};
pub use tuning::{Trial, Tune};

use aplomb_ground::error::Error;
use aplomb_ground::limits::{Budget, Interrupt};
use aplomb_plans::kir::Tuning;
use aplomb_plans::plan::Plan;
use aplomb_values::array::Array;
use aplomb_values::dag::NodeId;
use aplomb_values::prim::scalar::Fail;
use std::rc::Rc;

/// The means of a run, and what may stop it.
#[derive(Clone, Copy)]
pub struct RunCtx<'a> {
    /// The request that ends the run.
    pub interrupt: &'a Interrupt,
    /// The memory that results may take.
    pub budget: &'a Budget,
    /// Each launch is waited for, so that its time is its own.
    pub timed: bool,
    /// A device may leave launches to libraries (`--off cublas` forbids it).
    pub libraries: bool,
    /// Launches that go through the same rows may run together, some rows at a time.
    pub abreast: bool,
}

/// A failing element: the smallest site, then the smallest index in the site's domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// The operation's place in the order of evaluation.
    pub site: u32,
    /// The element's place in the operation's domain.
    pub index: u64,
    /// The reason.
    pub fail: Fail,
    /// The node.
    pub node: NodeId,
}

impl Fault {
    /// `slot` becomes the lesser of the two.
    pub(crate) fn keep_least(self, slot: &mut Option<Fault>) {
        if slot.is_none_or(|old| (self.site, self.index) < (old.site, old.index)) {
            *slot = Some(self);
        }
    }
}

/// The reasons for which a run gives no values.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceError {
    /// WS FULL, as the budget says it.
    Oom(Error),
    /// The device is gone.
    Lost,
    /// An element failed.
    Fault(Fault),
    /// Somebody asked to stop.
    Interrupted,
    /// A defect of the plan or of the device.
    Broken(String),
}

/// The cost of one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchStats {
    /// The launch's place in the plan.
    pub launch: usize,
    /// The time, µs; where runs are not timed, what handing it over took.
    pub micros: f64,
    /// Whose time that is: `monotonic`, the host's, or `events`, the GPU's between the launch's
    /// first kernel and its last.
    pub clock: &'static str,
    /// Threads of the CPU that took part.
    pub threads: usize,
    /// The number of times that it ran: once more for each integer result that needed f64.
    pub runs: u32,
    /// None: the CPU ran it.
    pub gpu: Option<OnGpu>,
    /// The reason for which it ran there, as a sentence; empty where nobody had a choice.
    pub why: String,
    /// The arrays that went to the device for it.
    pub sent: Vec<Sent>,
    /// The texts that a tuner ran, with their times, µs; empty where none did.
    pub timed: Vec<(Tuning, f64)>,
    /// It is the first of launches that ran together.
    pub together: Option<Together>,
}

/// Launches of a plan that went through the same rows together, some rows at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Together {
    /// The number of launches.
    pub launches: usize,
    /// The bytes of what only they need, which was never whole in memory.
    pub near: u64,
}

/// An array's way to a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// The plan's buffer.
    pub buf: u32,
    /// Its size.
    pub bytes: u64,
    /// The time, µs, by the host's clock.
    pub micros: f64,
}

/// A launch as a GPU ran it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OnGpu {
    /// Blocks of the largest slice, threads of each.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// Parts into which the launch was cut.
    pub slices: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes that a thread spills.
    pub spills: u32,
    /// Bytes of shared memory that a block takes.
    pub shared: u32,
    /// Threads that are resident, as a share of what a multiprocessor holds.
    pub occupancy: f32,
    /// The library's call that ran instead of our text; then grid, registers and occupancy are not
    /// known and 0.
    pub library: Option<&'static str>,
    /// The way in which its text was made; None: as it comes.
    pub tuning: Option<Tuning>,
}

impl OnGpu {
    /// Two kernels of one launch: the most of what each takes, the slices of both.
    pub fn and(self, other: OnGpu) -> OnGpu {
        OnGpu {
            grid: self.grid.max(other.grid),
            block: self.block.max(other.block),
            slices: self.slices.max(other.slices),
            registers: self.registers.max(other.registers),
            spills: self.spills + other.spills,
            shared: self.shared.max(other.shared),
            occupancy: self.occupancy.min(other.occupancy),
            library: self.library.or(other.library),
            tuning: self.tuning.or(other.tuning),
        }
    }
}

/// The cost on a GPU beside launches: compiling, apart from our own time, and transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compiling {
    /// Milliseconds in NVRTC.
    pub nvrtc_ms: f64,
    /// Kernels that NVRTC compiled.
    pub compiled: u32,
    /// Kernels that this process had.
    pub memory_hits: u32,
    /// Kernels that the cache on disk had.
    pub disk_hits: u32,
    /// Launches that were lowered to texts.
    pub lowered: u32,
    /// Runs that were one graph.
    pub graphs: u32,
    /// Bytes to the GPU and back, and those that were there already.
    pub up: u64,
    /// Bytes from the GPU.
    pub down: u64,
    /// Bytes that were there already.
    pub kept: u64,
    /// The time of moving them, by the host's clock.
    pub up_ms: f64,
    /// Milliseconds of transfers from the GPU.
    pub down_ms: f64,
}

impl Compiling {
    /// The part since an earlier reading.
    pub fn since(&self, before: &Compiling) -> Compiling {
        Compiling {
            up: self.up - before.up,
            down: self.down - before.down,
            kept: self.kept - before.kept,
            up_ms: self.up_ms - before.up_ms,
            down_ms: self.down_ms - before.down_ms,
            lowered: self.lowered - before.lowered,
            graphs: self.graphs - before.graphs,
            nvrtc_ms: self.nvrtc_ms - before.nvrtc_ms,
            compiled: self.compiled - before.compiled,
            memory_hits: self.memory_hits - before.memory_hits,
            disk_hits: self.disk_hits - before.disk_hits,
        }
    }
}

/// A runner of plans: inputs in, the values of the roots out.
pub trait Device {
    /// For people: `cpu (avx512, 2 threads)`.
    fn name(&self) -> String;

    /// `Plan`'s input k is `inputs[k]`. One array a root, in order. The plan is shared, so a device
    /// may know it again.
    fn run(
        &mut self,
        plan: &Rc<Plan>,
        inputs: &[Array],
        ctx: &RunCtx,
    ) -> Result<Vec<Array>, DeviceError>;

    /// Of the last run.
    fn stats(&self) -> &[LaunchStats];
}

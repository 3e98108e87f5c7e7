//! The driver: one device, one context, one stream. Every call of libcuda stands here or in
//! `memory`.
//!
//! Always: a call gives `Trouble` and never panics past `guarded`; after a sticky error nothing
//! more is asked of the context, not even to free. Never here: what a launch computes.

use aplomb_ground::limits::Interrupt;
use cudarc::driver::result::{self, DriverError, event, function, module, occupancy, stream};
use cudarc::driver::sys::{self, CUevent, CUfunction, CUmodule, CUresult, CUstream};
use std::cell::Cell;
use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

/// The reasons for which the device did not do what it was asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// Device memory is short.
    Memory,
    /// The context is gone: its name for the error.
    Lost(String),
    /// This call alone failed.
    Refused(String),
    Interrupted,
}

pub type Done<T> = Result<T, Trouble>;

/// Errors after which a context answers every call with the same error.
const STICKY: &[CUresult] = &[
    CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    CUresult::CUDA_ERROR_LAUNCH_FAILED,
    CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
    CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
    CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUresult::CUDA_ERROR_ASSERT,
    CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
    CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUresult::CUDA_ERROR_INVALID_PC,
    CUresult::CUDA_ERROR_DEINITIALIZED,
    CUresult::CUDA_ERROR_UNKNOWN,
];

/// The error's name as NVIDIA's manual has it.
pub fn name_of(error: CUresult) -> String {
    format!("{error:?}")
}

impl From<DriverError> for Trouble {
    fn from(error: DriverError) -> Trouble {
        match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Trouble::Memory,
            sticky if STICKY.contains(&sticky) => Trouble::Lost(name_of(sticky)),
            other => Trouble::Refused(name_of(other)),
        }
    }
}

/// cudarc panics where a library lacks a symbol.
pub fn guarded<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).ok()
}

/// The facts that stay true of the device as long as the program runs.
#[derive(Clone, Debug)]
pub struct Facts {
    pub name: String,
    /// `sm_90`.
    pub arch: String,
    pub processors: u32,
    pub memory: u64,
    /// CUDA that the driver knows, and NVRTC's version.
    pub driver: (i32, i32),
    pub nvrtc: (i32, i32),
}

/// The context and stream of one device. Clones share it.
#[derive(Clone)]
pub struct Driver(Rc<Inner>);

struct Inner {
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: CUstream,
    /// Of two slices in flight, the end of each.
    ends: [CUevent; 2],
    /// Before and after a launch whose time is asked for.
    times: [CUevent; 2],
    /// They are of no use.
    untimed: Cell<bool>,
    pool: sys::CUmemoryPool,
    facts: Facts,
    lost: Cell<bool>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.lost.get() {
            return;
        }
        guarded(|| {
            // SAFETY: made in `open`, used by nobody else, and every buffer holds this one.
            unsafe {
                let _ = stream::synchronize(self.stream);
                for end in self.ends.into_iter().chain(self.times) {
                    let _ = event::destroy(end);
                }
                let _ = stream::destroy(self.stream);
                let _ = result::primary_ctx::release(self.device);
            }
        });
    }
}

impl Driver {
    /// Device 0, found and described by `probe`.
    pub(super) fn open(device: sys::CUdevice, facts: Facts) -> Done<Driver> {
        // SAFETY: the driver is initialised and the device is one of its own; handles go into
        // `Inner` at once.
        unsafe {
            let context = result::primary_ctx::retain(device)?;
            result::ctx::set_current(context)?;
            let pool = result::device::get_default_mem_pool(device)?;
            // Freed memory waits for the next buffer instead of going back to the system.
            let mut keep = u64::MAX;
            let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
            result::mem_pool::set_attribute(pool, attribute, std::ptr::from_mut(&mut keep).cast())?;
            let stream = stream::create(stream::StreamKind::NonBlocking)?;
            let quiet = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING;
            let ends = [event::create(quiet)?, event::create(quiet)?];
            let timed = sys::CUevent_flags::CU_EVENT_DEFAULT;
            let times = [event::create(timed)?, event::create(timed)?];
            let (lost, untimed) = (Cell::new(false), Cell::new(false));
            Ok(Driver(Rc::new(Inner {
                device,
                context,
                stream,
                ends,
                times,
                untimed,
                pool,
                facts,
                lost,
            })))
        }
    }

    pub fn facts(&self) -> &Facts {
        &self.0.facts
    }

    pub(super) fn stream(&self) -> CUstream {
        self.0.stream
    }

    pub(super) fn context(&self) -> sys::CUcontext {
        self.0.context
    }

    /// The context for this thread. Errors: the device was lost before.
    pub fn enter(&self) -> Done<()> {
        self.alive()?;
        // SAFETY: the context is retained as long as `Inner` lives.
        self.note(unsafe { result::ctx::set_current(self.0.context) })
    }

    pub fn is_lost(&self) -> bool {
        self.0.lost.get()
    }

    pub fn lose(&self) {
        self.0.lost.set(true);
    }

    fn alive(&self) -> Done<()> {
        if self.is_lost() { Err(Trouble::Lost("the device was lost".into())) } else { Ok(()) }
    }

    /// A sticky error is remembered.
    pub(super) fn note<T>(&self, done: Result<T, DriverError>) -> Done<T> {
        done.map_err(|e| {
            let trouble = Trouble::from(e);
            if matches!(trouble, Trouble::Lost(_)) {
                self.lose();
            }
            trouble
        })
    }

    /// Free and whole device memory, bytes.
    pub fn memory(&self) -> Done<(u64, u64)> {
        self.note(result::mem_get_info()).map(|(free, all)| (free as u64, all as u64))
    }

    /// Gives back to the system the memory of the pool that nobody uses.
    pub fn trim(&self) -> Done<()> {
        self.finish()?;
        // SAFETY: the device's own pool.
        self.note(unsafe { result::mem_pool::trim_to(self.0.pool, 0) })
    }

    /// Waits until the stream is empty.
    pub fn finish(&self) -> Done<()> {
        self.alive()?;
        // SAFETY: the stream lives as long as `Inner`.
        self.note(unsafe { stream::synchronize(self.0.stream) })
    }

    /// The same, while looking at the interrupt.
    pub fn wait(&self, interrupt: &Interrupt) -> Done<()> {
        self.alive()?;
        let mut looks = 0u32;
        loop {
            // SAFETY: as above.
            let state = unsafe { sys::cuStreamQuery(self.0.stream) };
            if state != CUresult::CUDA_ERROR_NOT_READY {
                return self.note(state.result());
            }
            if interrupt.is_set() {
                // What runs is at most two slices; memory that it writes must not be given away
                // before.
                self.finish()?;
                return Err(Trouble::Interrupted);
            }
            looks += 1;
            match looks {
                ..200 => std::hint::spin_loop(),
                200..2000 => std::thread::yield_now(),
                _ => std::thread::sleep(Duration::from_micros(50)),
            }
        }
    }

    /// Slice `k` has been handed over: marks its end.
    pub fn mark(&self, k: usize) -> Done<()> {
        // SAFETY: event and stream live as long as `Inner`.
        self.note(unsafe { event::record(self.0.ends[k % 2], self.0.stream) })
    }

    /// The stream's time there: 0 before a launch, 1 after it.
    pub fn mark_time(&self, which: usize) -> Done<()> {
        // SAFETY: as above.
        self.note(unsafe { event::record(self.0.times[which % 2], self.0.stream) })
    }

    /// Microseconds between the two marks of time, which were reached. None: the driver is from
    /// before CUDA 12.8 and has no such call.
    pub fn time_between(&self) -> Done<Option<f64>> {
        let [from, to] = self.0.times;
        if self.0.untimed.get() {
            return Ok(None);
        }
        // SAFETY: both were recorded on the same stream.
        let Some(told) = guarded(|| unsafe { event::elapsed(from, to) }) else {
            self.0.untimed.set(true);
            return Ok(None);
        };
        self.note(told).map(|ms| Some(f64::from(ms) * 1e3))
    }

    /// Waits for the end of slice `k`, which was marked before.
    pub fn reached(&self, k: usize, interrupt: &Interrupt) -> Done<()> {
        loop {
            // SAFETY: as above.
            match unsafe { event::query(self.0.ends[k % 2]) } {
                Err(DriverError(CUresult::CUDA_ERROR_NOT_READY)) if interrupt.is_set() => {
                    self.finish()?;
                    return Err(Trouble::Interrupted);
                }
                Err(DriverError(CUresult::CUDA_ERROR_NOT_READY)) => std::thread::yield_now(),
                done => return self.note(done),
            }
        }
    }
}

/// A loaded binary. Its functions stay valid as long as it lives.
pub struct Module {
    at: CUmodule,
    driver: Driver,
}

impl Module {
    /// Errors: `Refused` for what is no binary for this device.
    pub fn load(driver: &Driver, binary: &[u8]) -> Done<Rc<Module>> {
        driver.enter()?;
        // SAFETY: a whole image as NVRTC gave it, its checksum compared where it came from a file.
        let at = driver.note(unsafe { module::load_data(binary.as_ptr().cast::<c_void>()) })?;
        Ok(Rc::new(Module { at, driver: driver.clone() }))
    }

    pub fn function(self: &Rc<Self>, name: &str, threads: u32) -> Done<Function> {
        let name = CString::new(name).map_err(|_| Trouble::Refused("a name with a NUL".into()))?;
        // SAFETY: the module is loaded, and the function keeps it so.
        let at = self.driver.note(unsafe { module::get_function(self.at, name) })?;
        let blocks = resident_blocks(at, threads);
        let resident = self.driver.note(blocks)?.max(1) as u32;
        // SAFETY: as above.
        let registers = unsafe { function::get_function_attribute(at, REGISTERS) };
        let registers = self.driver.note(registers)?.max(0) as u32;
        Ok(Function { at, resident, registers, module: self.clone() })
    }
}

const REGISTERS: sys::CUfunction_attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;

/// Blocks of so many threads that one multiprocessor holds at once.
fn resident_blocks(at: CUfunction, threads: u32) -> Result<i32, DriverError> {
    // SAFETY: a function of a loaded module.
    unsafe { occupancy::max_active_block_per_multiprocessor(at, threads as i32, 0) }
}

impl Drop for Module {
    fn drop(&mut self) {
        if !self.driver.is_lost() {
            // SAFETY: loaded in `load`; no function of it is left, and what was launched is waited
            // for.
            guarded(|| unsafe {
                let _ = stream::synchronize(self.driver.stream());
                let _ = module::unload(self.at);
            });
        }
    }
}

#[derive(Clone)]
pub struct Function {
    at: CUfunction,
    /// Blocks that a multiprocessor holds at once.
    pub resident: u32,
    pub registers: u32,
    module: Rc<Module>,
}

impl Function {
    pub(super) fn handle(&self) -> CUfunction {
        self.at
    }

    /// Hands a launch to the stream. Each argument is one slot of eight bytes, 4-byte ones in the
    /// low half.
    ///
    /// Errors also for a number of slots that is not the text's: the caller counts them from the
    /// same parameters.
    pub fn launch(&self, blocks: u32, threads: u32, slots: &mut [u64]) -> Done<()> {
        let driver = &self.module.driver;
        driver.alive()?;
        let mut places: Vec<*mut c_void> =
            slots.iter_mut().map(|s| std::ptr::from_mut(s).cast()).collect();
        // SAFETY: one slot a parameter of the printed head, in its order; buffers are alive on this
        // stream; the driver copies the slots before it returns.
        driver.note(unsafe {
            result::launch_kernel(
                self.at,
                (blocks, 1, 1),
                (threads, 1, 1),
                0,
                driver.stream(),
                &mut places,
            )
        })
    }
}

//! Work shared out to the pool's threads: in units that an interrupt may stop, and what all
//! threads found, as one.

use super::chunk::{CHUNK, Env, Frame};
use super::threads::Threads;
use super::{Cpu, DeviceError, Fault, RunCtx};
use crate::pool::lock;
use std::ops::Range;

/// Elements between two looks at the interrupt, where work is no chunks; what is shared out is cut
/// at its multiples.
pub const STRETCH: usize = 16_384;

/// The number of threads that took part.
pub type Ran = Result<usize, DeviceError>;

/// The k-th stretch of n.
pub fn stretch(k: usize, n: usize) -> Range<usize> {
    k * STRETCH..((k + 1) * STRETCH).min(n)
}

/// The findings of all threads.
#[derive(Default)]
pub struct Tally {
    pub fault: Option<Fault>,
    /// Bit k: a value did not fit sink k.
    pub misfits: u64,
    pub threads: usize,
}

impl Tally {
    pub fn add(&mut self, other: &Tally) {
        if let Some(fault) = other.fault {
            fault.keep_least(&mut self.fault);
        }
        self.misfits |= other.misfits;
        self.threads = self.threads.max(other.threads);
    }
}

/// The elements of a unit, of so many in all: eight units a thread, so that none waits long for
/// the last, of a few chunks, so that an interrupt is heard. Alone, the latter is all that counts.
pub fn unit(cpu: &Cpu, total: usize, together: bool) -> usize {
    let even = total.div_ceil(cpu.threads.count() * 8).next_multiple_of(CHUNK);
    if together { even.clamp(CHUNK, 32 * CHUNK) } else { 64 * CHUNK }
}

/// Runs `work` for units 0…count on the pool's threads, together if that pays.
pub fn share(
    cpu: &mut Cpu,
    env: &Env,
    units: usize,
    together: bool,
    ctx: &RunCtx,
    work: &(dyn Fn(&mut Frame, usize) + Sync),
) -> Result<Tally, DeviceError> {
    let frames = &cpu.frames;
    frames.iter().for_each(|f| lock(f).reset(env));
    let threads = each_unit(&mut cpu.threads, units, together, ctx, &|unit, worker| {
        work(&mut lock(&frames[worker]), unit);
        past_the_caches();
    })?;
    let mut tally = Tally { fault: env.program.fault, misfits: 0, threads };
    for frame in frames {
        let frame = lock(frame);
        if frame.broken || env.program.broken {
            return Err(DeviceError::Broken("a read goes beyond its source".into()));
        }
        tally.add(&Tally { fault: frame.fault, misfits: frame.misfits, threads });
    }
    Ok(tally)
}

/// The first byte of a buffer that threads read and write at different places.
pub struct Apart(pub *mut u8);

// SAFETY: who asks for a place says that it is nobody else's.
unsafe impl Sync for Apart {}

impl Apart {
    /// # Safety
    /// The place is inside of the buffer, whose items are of this type.
    pub unsafe fn at<T>(&self, place: usize) -> *mut T {
        unsafe { self.0.cast::<T>().add(place) }
    }
}

/// Units of a launch that tells how far it is: one of fewer is over before somebody looks.
const MANY: usize = 256;

/// Units 0…count on the pool's threads, each with the number of its thread, until somebody
/// interrupts. How many threads these are at most.
pub fn each_unit(
    threads: &mut Threads,
    count: usize,
    together: bool,
    ctx: &RunCtx,
    work: &(dyn Fn(usize, usize) + Sync),
) -> Result<usize, DeviceError> {
    // What is short has no way to tell of.
    let way = ctx.interrupt.rounds(if count > MANY { count as u64 } else { 0 });
    let ran = threads.run(count, together, &|unit, worker| {
        if worker == 0 {
            way.done(unit as u64);
        }
        let goes_on = !ctx.interrupt.is_set();
        if goes_on {
            work(unit, worker);
        }
        goes_on
    });
    match ran {
        Err(_) => Err(DeviceError::Broken("a part of a launch panicked".into())),
        Ok(_) if ctx.interrupt.is_set() => Err(DeviceError::Interrupted),
        Ok(_) => Ok(if together { threads.count().min(count.max(1)) } else { 1 }),
    }
}

/// Streamed stores become visible to other threads.
pub(super) fn past_the_caches() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of every x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

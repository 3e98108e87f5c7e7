//! Bytes on their way to the device and back, through two pinned buffers.
//!
//! Shared by the memory and by the values that are still on the device (`away`).

use super::buffer::DevBuf;
use super::cache::Sum;
use super::driver::{Done, Driver, Trouble};
use crate::pool::PoolBuffer;
use aplomb_ground::limits::Interrupt;
use aplomb_values::array::{DType, Storage, View};
use cudarc::driver::result;
use std::time::Instant;

/// One of two pinned buffers that transfers go through.
const STAGE: usize = 8 << 20;

struct Pinned {
    at: *mut u8,
    bytes: usize,
    driver: Driver,
}

impl Pinned {
    fn new(driver: &Driver, bytes: usize) -> Done<Pinned> {
        // SAFETY: plain pinned memory; `Drop` gives it back.
        let at = driver.note(unsafe { result::malloc_host(bytes, 0) })?;
        Ok(Pinned { at: at.cast(), bytes, driver: driver.clone() })
    }

    fn slice(&mut self) -> &mut [u8] {
        // SAFETY: `bytes` bytes that nobody else refers to; the stream is done with them (callers
        // wait).
        unsafe { std::slice::from_raw_parts_mut(self.at, self.bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if !self.driver.is_lost() {
            super::driver::guarded(|| {
                let _ = self.driver.finish();
                // SAFETY: from `malloc_host`, and the stream is done with it.
                let _ = unsafe { result::free_host(self.at.cast()) };
            });
        }
    }
}

/// The uses of the device's memory, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    pub up: u64,
    pub down: u64,
    /// Bytes that were there already.
    pub kept: u64,
    pub evicted: u64,
    /// The host's clock while bytes were under way.
    pub up_ms: f64,
    pub down_ms: f64,
}

pub struct Transfers {
    driver: Driver,
    stages: Vec<Pinned>,
    pub traffic: Traffic,
    /// The sentences that the user should hear.
    pub notices: Vec<String>,
}

impl Transfers {
    pub fn new(driver: &Driver) -> Transfers {
        Transfers {
            driver: driver.clone(),
            stages: Vec::new(),
            traffic: Traffic::default(),
            notices: Vec::new(),
        }
    }

    fn stage(&mut self, k: usize) -> Done<&mut Pinned> {
        while self.stages.len() < 2 {
            let pinned = Pinned::new(&self.driver, STAGE)?;
            self.stages.push(pinned);
        }
        Ok(&mut self.stages[k % 2])
    }

    /// To the beginning of a buffer that has room, one half filled while the other is on its way.
    pub fn send(&mut self, bytes: &[u8], to: &DevBuf, interrupt: &Interrupt) -> Done<()> {
        let driver = self.driver.clone();
        let mut begun = Instant::now();
        for (k, part) in bytes.chunks(STAGE).enumerate() {
            if k >= 2 {
                driver.reached(k, interrupt)?;
            } else {
                // An earlier transfer may still read this half.
                driver.wait(interrupt)?;
                if k == 0 {
                    begun = Instant::now();
                }
            }
            let half = &mut self.stage(k)?.slice()[..part.len()];
            half.copy_from_slice(part);
            // SAFETY: inside `to`; the half is not touched before its mark is reached.
            driver.note(unsafe {
                result::memcpy_htod_async(to.at() + (k * STAGE) as u64, half, driver.stream())
            })?;
            driver.mark(k)?;
        }
        self.traffic.up += bytes.len() as u64;
        self.traffic.up_ms += begun.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    /// The first bytes of a buffer, after everything before in the stream.
    pub fn fetch(&mut self, from: &DevBuf, to: &mut [u8], interrupt: &Interrupt) -> Done<()> {
        if to.len() > from.bytes() {
            return Err(Trouble::Refused("more bytes were asked for than there are".into()));
        }
        self.read(from, to.len(), interrupt, |at, part| {
            to[at..at + part.len()].copy_from_slice(part)
        })
    }

    /// All items of a buffer into memory of the host. Errors: also where the bytes are no such
    /// items.
    pub fn bring(&mut self, from: &DevBuf, to: &mut PoolBuffer, interrupt: &Interrupt) -> Done<()> {
        let (dtype, len) = (to.dtype(), to.len());
        // SAFETY: a buffer of so many items of `dtype` that is borrowed for changing; what comes in
        // is looked at before anybody sees it as characters.
        let bytes = unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr(), len * dtype.size()) };
        self.fetch(from, bytes, interrupt)?;
        if are_items(dtype, bytes) {
            return Ok(());
        }
        Err(Trouble::Refused(format!("the device gave no {} items", dtype.name())))
    }

    /// A hash of all of it.
    pub fn digest(&mut self, of: &DevBuf, interrupt: &Interrupt) -> Done<[u8; 32]> {
        let mut sum = Sum::default();
        self.read(of, of.bytes(), interrupt, |_, part| sum.add(part))?;
        Ok(sum.end())
    }

    /// Shows the first bytes of a buffer, part by part in order.
    fn read(
        &mut self,
        from: &DevBuf,
        bytes: usize,
        interrupt: &Interrupt,
        mut show: impl FnMut(usize, &[u8]),
    ) -> Done<()> {
        let driver = self.driver.clone();
        let copy = |half: &mut [u8], at: usize| {
            // SAFETY: inside `from`; the half is read after the mark behind it is reached.
            driver.note(unsafe {
                result::memcpy_dtoh_async(half, from.at() + at as u64, driver.stream())
            })
        };
        driver.wait(interrupt)?;
        let begun = Instant::now();
        let parts = bytes.div_ceil(STAGE);
        for k in 0..=parts {
            if k < parts {
                let len = STAGE.min(bytes - k * STAGE);
                copy(&mut self.stage(k)?.slice()[..len], k * STAGE)?;
                driver.mark(k)?;
            }
            if let Some(before) = k.checked_sub(1) {
                driver.reached(before, interrupt)?;
                let len = STAGE.min(bytes - before * STAGE);
                show(before * STAGE, &self.stage(before)?.slice()[..len]);
            }
        }
        self.traffic.down += bytes as u64;
        self.traffic.down_ms += begun.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }
}

/// The items of a buffer as the device has them.
pub fn bytes_of(view: View<'_>) -> &[u8] {
    fn raw<T>(items: &[T]) -> &[u8] {
        // SAFETY: plain numbers or characters, without padding.
        unsafe { std::slice::from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
    }
    match view {
        View::Bool(v) => v,
        View::I8(v) => raw(v),
        View::I16(v) => raw(v),
        View::I32(v) => raw(v),
        View::F32(v) => raw(v),
        View::F64(v) => raw(v),
        View::Complex(v) => raw(v),
        View::Char(v) => raw(v),
    }
}

/// Whether downloaded bytes are items of `dtype`.
fn are_items(dtype: DType, bytes: &[u8]) -> bool {
    let point = |b: &[u8]| char::from_u32(u32::from_le_bytes([b[0], b[1], b[2], b[3]])).is_some();
    match dtype {
        DType::Char => bytes.chunks_exact(4).all(point),
        DType::Bool => bytes.iter().all(|b| *b <= 1),
        _ => true,
    }
}

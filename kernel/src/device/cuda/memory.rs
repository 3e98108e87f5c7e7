//! Device memory: buffers of the stream's pool, copies through pinned memory, and which host buffers are there already.
//!
//! Rows: CUDA §6; RELIABILITY 16, 17. Always: a buffer is freed in the stream's order, so launches before it may still
//! use it; of what is resident the host keeps its own copy, so dropping it loses nothing.

use super::cache::Sum;
use super::driver::{Done, Driver, Trouble};
use aplomb_lang::array::{DType, Storage, View};
use aplomb_lang::limits::Interrupt;
use cudarc::driver::result;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Weak};
use std::time::Instant;

/// Bytes on the device. Zero bytes have no address and need none.
pub struct DevBuf {
    at: u64,
    bytes: usize,
    driver: Driver,
}

impl DevBuf {
    pub fn at(&self) -> u64 {
        self.at
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for DevBuf {
    fn drop(&mut self) {
        if self.at != 0 && !self.driver.is_lost() {
            // SAFETY: allocated on this stream, freed once.
            super::driver::guarded(|| unsafe { result::free_async(self.at, self.driver.stream()) });
        }
    }
}

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
        // SAFETY: `bytes` bytes that nobody else refers to; the stream is done with them (callers wait).
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

/// A host buffer's copy on the device.
struct Resident {
    host: Weak<dyn Storage>,
    copy: Rc<DevBuf>,
    used: u64,
}

/// What the device's memory is used for, counted.
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

pub struct Memory {
    driver: Driver,
    stages: Vec<Pinned>,
    resident: HashMap<usize, Resident>,
    now: u64,
    /// 0.9 of what was free at the start.
    pub most: u64,
    pub traffic: Traffic,
}

fn key(host: &Arc<dyn Storage>) -> usize {
    Arc::as_ptr(host).cast::<()>() as usize
}

impl Memory {
    pub fn new(driver: &Driver) -> Done<Memory> {
        let (free, _) = driver.memory()?;
        let most = free / 10 * 9;
        let (resident, traffic) = (HashMap::new(), Traffic::default());
        Ok(Memory { driver: driver.clone(), stages: Vec::new(), resident, now: 0, most, traffic })
    }

    /// Bytes that copies of host buffers take.
    pub fn held(&self) -> u64 {
        self.resident.values().map(|r| r.copy.bytes as u64).sum()
    }

    /// Fresh memory, its contents unknown. Out of memory: what waits in the pool goes, then copies of host buffers, the
    /// longest unused first. Errors: `Memory` when all that did not help.
    pub fn take(&mut self, bytes: usize) -> Done<Rc<DevBuf>> {
        if bytes == 0 {
            return Ok(Rc::new(DevBuf { at: 0, bytes, driver: self.driver.clone() }));
        }
        self.forget_dead();
        while self.held() + bytes as u64 > self.most && self.evict()? {}
        loop {
            match self.try_take(bytes) {
                Err(Trouble::Memory) => {
                    self.driver.trim()?;
                    if let Ok(buffer) = self.try_take(bytes) {
                        return Ok(buffer);
                    }
                    if !self.evict()? {
                        return Err(Trouble::Memory);
                    }
                }
                done => return done,
            }
        }
    }

    fn try_take(&self, bytes: usize) -> Done<Rc<DevBuf>> {
        // SAFETY: the stream is alive; every use of the memory is on it.
        let at = self.driver.note(unsafe { result::malloc_async(self.driver.stream(), bytes) })?;
        Ok(Rc::new(DevBuf { at, bytes, driver: self.driver.clone() }))
    }

    /// Sets every byte of a buffer.
    pub fn fill(&self, buffer: &DevBuf, byte: u8) -> Done<()> {
        if buffer.bytes == 0 {
            return Ok(());
        }
        // SAFETY: the whole buffer, on its stream.
        self.driver.note(unsafe { result::memset_d8_async(buffer.at, byte, buffer.bytes, self.driver.stream()) })
    }

    /// The device's copy of a host buffer, made where there is none. It stays as long as the host's does.
    pub fn copy_of(&mut self, host: &Arc<dyn Storage>, interrupt: &Interrupt) -> Done<Rc<DevBuf>> {
        self.now += 1;
        if let Some(found) = self.resident.get_mut(&key(host)).filter(|r| r.host.strong_count() > 0) {
            found.used = self.now;
            self.traffic.kept += found.copy.bytes as u64;
            return Ok(found.copy.clone());
        }
        let copy = self.upload(bytes_of(host.view()), interrupt)?;
        self.keep(host, &copy);
        Ok(copy)
    }

    /// `copy` holds what `host` holds.
    pub fn keep(&mut self, host: &Arc<dyn Storage>, copy: &Rc<DevBuf>) {
        self.now += 1;
        let entry = Resident { host: Arc::downgrade(host), copy: copy.clone(), used: self.now };
        self.resident.insert(key(host), entry);
    }

    pub fn has(&self, host: &Arc<dyn Storage>) -> bool {
        self.resident.get(&key(host)).is_some_and(|r| r.host.strong_count() > 0)
    }

    fn forget_dead(&mut self) {
        self.resident.retain(|_, r| r.host.strong_count() > 0);
    }

    /// Lets the longest unused copy go that no launch holds.
    fn evict(&mut self) -> Done<bool> {
        let idle = self.resident.iter().filter(|(_, r)| Rc::strong_count(&r.copy) == 1);
        let Some(oldest) = idle.min_by_key(|(_, r)| r.used).map(|(k, _)| *k) else { return Ok(false) };
        if let Some(gone) = self.resident.remove(&oldest) {
            self.traffic.evicted += gone.copy.bytes as u64;
        }
        self.driver.finish()?;
        Ok(true)
    }

    /// All copies of host buffers go.
    pub fn forget(&mut self) {
        self.resident.clear();
    }

    fn stage(&mut self, k: usize) -> Done<&mut Pinned> {
        while self.stages.len() < 2 {
            let pinned = Pinned::new(&self.driver, STAGE)?;
            self.stages.push(pinned);
        }
        Ok(&mut self.stages[k % 2])
    }

    /// Through pinned memory, one half filled while the other is on its way.
    pub fn upload(&mut self, bytes: &[u8], interrupt: &Interrupt) -> Done<Rc<DevBuf>> {
        let to = self.take(bytes.len())?;
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
            driver.note(unsafe { result::memcpy_htod_async(to.at + (k * STAGE) as u64, half, driver.stream()) })?;
            driver.mark(k)?;
        }
        self.traffic.up += bytes.len() as u64;
        self.traffic.up_ms += begun.elapsed().as_secs_f64() * 1e3;
        Ok(to)
    }

    /// The first bytes of a buffer, after everything before in the stream.
    pub fn download(&mut self, from: &DevBuf, to: &mut [u8], interrupt: &Interrupt) -> Done<()> {
        if to.len() > from.bytes {
            return Err(Trouble::Refused("more bytes were asked for than there are".into()));
        }
        self.read(from, to.len(), interrupt, |at, part| to[at..at + part.len()].copy_from_slice(part))
    }

    /// A hash of all of it.
    pub fn digest(&mut self, of: &DevBuf, interrupt: &Interrupt) -> Done<[u8; 32]> {
        let mut sum = Sum::default();
        self.read(of, of.bytes, interrupt, |_, part| sum.add(part))?;
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
            driver.note(unsafe { result::memcpy_dtoh_async(half, from.at + at as u64, driver.stream()) })
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
pub fn are_items(dtype: DType, bytes: &[u8]) -> bool {
    let point = |b: &[u8]| char::from_u32(u32::from_le_bytes([b[0], b[1], b[2], b[3]])).is_some();
    match dtype {
        DType::Char => bytes.chunks_exact(4).all(point),
        DType::Bool => bytes.iter().all(|b| *b <= 1),
        _ => true,
    }
}

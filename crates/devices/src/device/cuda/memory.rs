//! Device memory: buffers of the stream's pool, and which host buffers are there already.
//!
//! Always: a buffer is freed in the stream's order, so launches before it may still use it; of what
//! is resident the host keeps its own copy or can recall it (`away`), so dropping it loses nothing.

use super::away::Away;
use super::buffer::DevBuf;
use super::driver::{Done, Driver, Trouble};
use super::transfer::{Traffic, Transfers, bytes_of};
use aplomb_ground::limits::Interrupt;
use aplomb_values::array::Storage;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Weak};

/// A host buffer's copy on the device.
struct Resident {
    host: Weak<dyn Storage>,
    copy: Rc<DevBuf>,
    used: u64,
}

impl Resident {
    /// The host has no copy of its own yet.
    fn is_away(&self) -> bool {
        self.host.upgrade().is_some_and(|host| Away::of(&host).is_some())
    }

    /// The host gets its own copy.
    fn bring_home(&self) {
        if let Some(host) = self.host.upgrade() {
            host.view();
        }
    }
}

pub struct Memory {
    driver: Driver,
    pub transfers: Rc<RefCell<Transfers>>,
    resident: HashMap<usize, Resident>,
    now: u64,
    /// 0.9 of what was free at the start.
    pub most: u64,
}

fn key(host: &Arc<dyn Storage>) -> usize {
    Arc::as_ptr(host).cast::<()>() as usize
}

impl Memory {
    pub fn new(driver: &Driver) -> Done<Memory> {
        let (free, _) = driver.memory()?;
        let most = free / 10 * 9;
        let transfers = Rc::new(RefCell::new(Transfers::new(driver)));
        Ok(Memory { driver: driver.clone(), transfers, resident: HashMap::new(), now: 0, most })
    }

    /// The bytes and times of all moves so far.
    pub fn traffic(&self) -> Traffic {
        self.transfers.borrow().traffic
    }

    /// Bytes that copies of host buffers take.
    pub fn held(&self) -> u64 {
        self.resident.values().map(|r| r.copy.bytes() as u64).sum()
    }

    /// Fresh memory, its contents unknown. Out of memory: what waits in the pool goes, then copies
    /// of host buffers, the longest unused first. Errors: `Memory` when all that did not help.
    pub fn take(&mut self, bytes: usize) -> Done<Rc<DevBuf>> {
        if bytes == 0 {
            return self.try_take(0);
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
        DevBuf::fresh(&self.driver, bytes).map(Rc::new)
    }

    /// Sets every byte of a buffer.
    pub fn fill(&self, buffer: &DevBuf, byte: u8) -> Done<()> {
        buffer.fill(byte)
    }

    /// The device's copy of a host buffer, made where there is none. It stays as long as the host's
    /// does.
    pub fn copy_of(&mut self, host: &Arc<dyn Storage>, interrupt: &Interrupt) -> Done<Rc<DevBuf>> {
        self.now += 1;
        if let Some(found) = self.resident.get_mut(&key(host)).filter(|r| r.host.strong_count() > 0)
        {
            found.used = self.now;
            self.transfers.borrow_mut().traffic.kept += found.copy.bytes() as u64;
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

    /// Lets the longest unused copy go that no launch holds; what the host has to fetch first goes
    /// last.
    fn evict(&mut self) -> Done<bool> {
        let held = |r: &Resident| (Rc::strong_count(&r.copy), r.is_away());
        // Beside this table only what it would be recalled from.
        let idle =
            self.resident.iter().filter(|(_, r)| matches!(held(r), (1, false) | (..=2, true)));
        let Some(oldest) = idle.min_by_key(|(_, r)| (r.is_away(), r.used)).map(|(k, _)| *k) else {
            return Ok(false);
        };
        if let Some(gone) = self.resident.remove(&oldest) {
            gone.bring_home();
            self.transfers.borrow_mut().traffic.evicted += gone.copy.bytes() as u64;
        }
        self.driver.finish()?;
        Ok(true)
    }

    /// All copies of host buffers go.
    pub fn forget(&mut self) {
        self.resident.drain().for_each(|(_, gone)| gone.bring_home());
    }

    /// Bytes of the host on the device.
    pub fn upload(&mut self, bytes: &[u8], interrupt: &Interrupt) -> Done<Rc<DevBuf>> {
        let to = self.take(bytes.len())?;
        self.transfers.borrow_mut().send(bytes, &to, interrupt)?;
        Ok(to)
    }

    /// The first bytes of a buffer, after everything before in the stream.
    pub fn download(&mut self, from: &DevBuf, to: &mut [u8], interrupt: &Interrupt) -> Done<()> {
        self.transfers.borrow_mut().fetch(from, to, interrupt)
    }

    /// A hash of all of it.
    pub fn digest(&mut self, of: &DevBuf, interrupt: &Interrupt) -> Done<[u8; 32]> {
        self.transfers.borrow_mut().digest(of, interrupt)
    }
}

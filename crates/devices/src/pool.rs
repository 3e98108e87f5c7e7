//! Array memory: blocks by size class, kept when they are freed.
//!
//! Fresh pages dominate everything: a result of 160 MB costs 10 ms in a used block, 12.7 in fresh
//! huge pages, 71–91 in fresh small ones. So blocks of 4 MiB and more are mapped at 2 MiB with huge
//! pages advised, and freed blocks wait for the next buffers, up to a quarter of the budget with
//! what the allocator keeps (`warm.rs`): small ones for one of their class, mapped ones for any
//! that fits. Every buffer is charged before memory is touched. Blocks are 64-byte aligned and have
//! 64 bytes to spare.
//!
//! A mapped block that waits is cut to what is asked for, the least that is large enough first, and
//! joins its neighbours when it comes back: so a line of another size finds pages that are there,
//! and large blocks do not crumble for good. That is sound because a block is a run of whole pages
//! at a multiple of 2 MiB with one owner: both parts of a cut are such, so are two that touch, and
//! the system takes pages back by the run, whatever calls they came from.
//!
//! Fresh pages are touched ahead where nobody waits (`Pool::rest`): a session that has nothing to
//! do makes as much ready as the last request had to ask the system for, so that the next array
//! of that size finds pages that are there.

use crate::warm::WARM;
use aplomb_ground::error::{Result, ws_full};
use aplomb_ground::heap;
use aplomb_ground::limits::{Budget, Charge, Spare};
use aplomb_values::array::{DType, Storage, View};
use std::alloc::Layout;
use std::any::Any;
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard};

const SPARE: usize = 64;
const HUGE: usize = 2 << 20;
/// Bytes of the least page.
const PAGE: usize = 4 << 10;
/// From here on blocks are mapped.
const MAPPED: usize = 4 << 20;

/// Memory of so many bytes, by the system's call or the allocator's.
struct Block {
    at: NonNull<u8>,
    bytes: usize,
    mapped: bool,
}

// SAFETY: a block is plain memory with one owner.
unsafe impl Send for Block {}

/// Four classes to each power of two, from 64 bytes; mapped ones in whole huge pages. None: beyond
/// the address space.
fn class(bytes: usize) -> Option<usize> {
    let bytes = bytes.max(64);
    let step = (bytes.checked_next_power_of_two()? / 8).max(64);
    let rounded = bytes.checked_next_multiple_of(step)?;
    if rounded >= MAPPED { rounded.checked_next_multiple_of(HUGE) } else { Some(rounded) }
}

impl Block {
    fn new(bytes: usize) -> Option<Block> {
        let mapped = bytes >= MAPPED;
        let at = if mapped { map(bytes) } else { NonNull::new(allocate(bytes)) };
        let at = at?;
        if mapped {
            heap::mapped(bytes);
        }
        Some(Block { at, bytes, mapped })
    }
}

impl Block {
    fn address(&self) -> usize {
        self.at.as_ptr() as usize
    }

    /// So many bytes of a mapped block, and what is left of it.
    fn cut(self, bytes: usize) -> (Block, Option<Block>) {
        let rest = self.bytes - bytes;
        if rest == 0 {
            return (self, None);
        }
        let whole = ManuallyDrop::new(self);
        // SAFETY: inside of the block.
        let behind = unsafe { whole.at.add(bytes) };
        let part = |at, bytes| Block { at, bytes, mapped: true };
        (part(whole.at, bytes), Some(part(behind, rest)))
    }

    /// A mapped block and the one that begins where it ends.
    fn joined(self, next: Block) -> Block {
        debug_assert_eq!(self.address() + self.bytes, next.address());
        let (own, next) = (ManuallyDrop::new(self), ManuallyDrop::new(next));
        Block { at: own.at, bytes: own.bytes + next.bytes, mapped: true }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: `at` came from the matching branch of `new` with these bytes.
        unsafe {
            if self.mapped {
                libc::munmap(self.at.as_ptr().cast(), self.bytes);
                heap::unmapped(self.bytes);
            } else if let Ok(layout) = Layout::from_size_align(self.bytes, 64) {
                std::alloc::dealloc(self.at.as_ptr(), layout);
            }
        }
    }
}

fn allocate(bytes: usize) -> *mut u8 {
    match Layout::from_size_align(bytes, 64) {
        // SAFETY: a class is never 0.
        Ok(layout) => unsafe { std::alloc::alloc_zeroed(layout) },
        Err(_) => std::ptr::null_mut(),
    }
}

/// Fresh zero pages at a multiple of 2 MiB; what the alignment costs is given back.
fn map(bytes: usize) -> Option<NonNull<u8>> {
    let whole = bytes.checked_add(HUGE)?;
    let (rights, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: an anonymous mapping; the parts cut off lie inside it and nobody knows them yet.
    unsafe {
        let raw = libc::mmap(std::ptr::null_mut(), whole, rights, kind, -1, 0);
        if raw == libc::MAP_FAILED {
            return None;
        }
        let before = raw.align_offset(HUGE);
        let at = raw.cast::<u8>().add(before);
        if before > 0 {
            libc::munmap(raw, before);
        }
        if HUGE > before {
            libc::munmap(at.add(bytes).cast(), HUGE - before);
        }
        #[cfg(target_os = "linux")]
        libc::madvise(at.cast(), bytes, libc::MADV_HUGEPAGE);
        NonNull::new(at)
    }
}

/// Something that is used by one thread at a time, and is whole between two uses: what a thread
/// leaves that panics is no worse.
pub fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(|e| e.into_inner())
}

#[derive(Default)]
struct Shelves {
    /// By class.
    small: BTreeMap<usize, Vec<Block>>,
    /// By address; no two of them touch.
    mapped: BTreeMap<usize, Block>,
    kept: usize,
    most: usize,
    /// The number of blocks that the system gave.
    fresh: u64,
    /// The bytes of the mapped blocks that were asked of the system since somebody rested.
    wanted: Option<usize>,
    /// A block that is made ready, and how many of its bytes were touched.
    ahead: Option<(Block, usize)>,
}

/// Bytes that are made ready before anybody has asked for some.
const FIRST: usize = 16 << 20;

impl Shelves {
    /// As much as may wait, a quarter of the budget, shared with the allocator's.
    fn bound(&mut self, budget: &Budget) {
        let most = ((budget.free() + budget.used()) / 4) as usize;
        self.most = most - most / 4;
        WARM.may_keep(most / 4);
    }

    /// A block of a class, if one waits.
    fn take(&mut self, bytes: usize) -> Option<Block> {
        self.stop();
        let block = if bytes >= MAPPED {
            let fits = self.mapped.values().filter(|block| block.bytes >= bytes);
            let at = fits.min_by_key(|block| block.bytes)?.address();
            let (block, rest) = self.mapped.remove(&at)?.cut(bytes);
            self.mapped.extend(rest.map(|rest| (rest.address(), rest)));
            block
        } else {
            self.small.get_mut(&bytes)?.pop()?
        };
        self.kept -= block.bytes;
        Some(block)
    }

    /// The block that is made ready is one of those that wait, whatever of it was touched.
    fn stop(&mut self) {
        if let Some((block, _)) = self.ahead.take() {
            self.keep(block);
        }
    }

    /// Touches another huge page of a block that is made ready, or begins one. False: there is
    /// nothing to do.
    fn step(&mut self) -> bool {
        let (block, done) = match self.ahead.take() {
            Some(under_way) => under_way,
            None => {
                // A line has several results now and then, and they are cut from one block.
                let wanted = self.wanted.replace(0).map_or(FIRST, |all| all.min(self.most / 2));
                let waits = |bytes: &usize| self.mapped.values().any(|b| b.bytes >= *bytes);
                let wanted = class(wanted).filter(|b| *b >= MAPPED && !waits(b));
                match wanted.filter(|b| self.kept + b <= self.most).and_then(Block::new) {
                    Some(block) => (block, 0),
                    None => return false,
                }
            }
        };
        for at in (done..done + HUGE).step_by(PAGE) {
            // SAFETY: inside of the block, of whole huge pages, that nobody else knows.
            unsafe { block.at.add(at).write_volatile(0) };
        }
        let done = done + HUGE;
        let more = done < block.bytes;
        self.ahead = Some((block, done));
        if !more {
            self.stop();
        }
        more
    }

    /// Keeps a block, if there is room.
    fn keep(&mut self, mut block: Block) {
        if self.kept + block.bytes > self.most {
            return;
        }
        self.kept += block.bytes;
        if !block.mapped {
            return self.small.entry(block.bytes).or_default().push(block);
        }
        if let Some(next) = self.mapped.remove(&(block.address() + block.bytes)) {
            block = block.joined(next);
        }
        let before = self.mapped.range(..block.address()).next_back();
        let touches = before.filter(|(at, before)| **at + before.bytes == block.address());
        if let Some(before) = touches.map(|(at, _)| *at).and_then(|at| self.mapped.remove(&at)) {
            block = before.joined(block);
        }
        self.mapped.insert(block.address(), block);
    }
}

/// The shelves where freed blocks wait. Clones share it.
#[derive(Clone, Default)]
pub struct Pool(Arc<Mutex<Shelves>>);

impl Pool {
    fn lock(&self) -> MutexGuard<'_, Shelves> {
        lock(&self.0)
    }

    /// The budget's spare memory from now on, as much of it as may wait: of vectors beside arrays
    /// also before there is any buffer.
    pub fn serve(&self, budget: &Budget) {
        budget.has_spare(|| Box::new(self.clone()));
        self.lock().bound(budget);
    }

    /// A buffer of `len` items. Errors: WS FULL, before memory is touched.
    pub fn buffer(&self, dtype: DType, len: usize, budget: &Budget) -> Result<PoolBuffer> {
        let full = || ws_full((len as u64).saturating_mul(dtype.size() as u64), budget.free());
        let bytes = len
            .checked_mul(dtype.size())
            .and_then(|n| n.checked_add(SPARE))
            .and_then(class)
            .ok_or_else(full)?;
        budget.has_spare(|| Box::new(self.clone()));
        let charge = budget.charge(bytes as u64)?;
        let taken = {
            let mut shelves = self.lock();
            shelves.bound(budget);
            let taken = shelves.take(bytes);
            if taken.is_none() {
                shelves.fresh += 1;
                let wanted = shelves.wanted.get_or_insert(0);
                if bytes >= MAPPED {
                    *wanted = wanted.saturating_add(bytes);
                }
            }
            taken
        };
        let block = taken.or_else(|| Block::new(bytes)).ok_or_else(full)?;
        Ok(PoolBuffer { block: Some(block), dtype, len, home: self.clone(), _charge: charge })
    }

    /// Makes a huge page ready for the next buffer, while nobody waits. False: there is nothing to
    /// do.
    pub fn rest(&self) -> bool {
        self.lock().step()
    }

    fn take_back(&self, block: Block) {
        self.lock().keep(block);
    }

    /// The number of blocks that the system was asked for.
    pub fn fresh(&self) -> u64 {
        self.lock().fresh
    }
}

impl Spare for Pool {
    fn kept(&self) -> u64 {
        let shelves = self.lock();
        let ahead = shelves.ahead.as_ref().map_or(0, |(block, _)| block.bytes);
        (shelves.kept + ahead + WARM.kept()) as u64
    }

    fn shed(&self) {
        WARM.shed();
        let mut shelves = self.lock();
        shelves.ahead = None;
        shelves.kept = 0;
        shelves.small.clear();
        shelves.mapped.clear();
    }
}

/// A buffer of the pool. Its block goes back when it is dropped.
pub struct PoolBuffer {
    block: Option<Block>,
    dtype: DType,
    len: usize,
    home: Pool,
    _charge: Charge,
}

// SAFETY: shared references only read; writing takes `&mut` or the device's promise that nobody
// reads yet.
unsafe impl Sync for PoolBuffer {}

impl PoolBuffer {
    /// The first byte; of an empty buffer an address that nobody may read.
    pub fn as_ptr(&self) -> *const u8 {
        self.block.as_ref().map_or(NonNull::dangling().as_ptr(), |b| b.at.as_ptr())
    }

    /// The first byte, to write; of an empty buffer an address that nobody may use.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.block.as_ref().map_or(NonNull::dangling().as_ptr(), |b| b.at.as_ptr())
    }

    /// All its bytes, for files to read into. Characters and booleans have patterns to keep: not
    /// through here.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        if matches!(self.dtype, DType::Bool | DType::Char) {
            return None;
        }
        let n = self.len * self.dtype.size();
        // SAFETY: the block has n bytes and more, all initialised (zeroed when it was new), and any
        // pattern is a number.
        Some(unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr(), n) })
    }

    fn slice<T>(&self) -> &[T] {
        // SAFETY: the block is 64-byte aligned, holds `len` items of `dtype`, and `view` asks for
        // that type.
        unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), self.len) }
    }
}

impl Drop for PoolBuffer {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            self.home.take_back(block);
        }
    }
}

impl Storage for PoolBuffer {
    fn view(&self) -> View<'_> {
        match self.dtype {
            DType::Bool => View::Bool(self.slice()),
            DType::I8 => View::I8(self.slice()),
            DType::I16 => View::I16(self.slice()),
            DType::I32 => View::I32(self.slice()),
            DType::F32 => View::F32(self.slice()),
            DType::Char => View::Char(self.slice()),
            DType::Complex => View::Complex(self.slice()),
            DType::F64 | DType::Nested => View::F64(self.slice()),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn dtype(&self) -> DType {
        self.dtype
    }

    fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_ground::error::Kind;

    #[test]
    fn a_freed_block_is_used_again_and_the_charge_given_back() {
        let (pool, budget) = (Pool::default(), Budget::new(1 << 30));
        for len in [0, 1, 1000, 700_000, 3_000_000] {
            let first = pool.buffer(DType::F64, len, &budget).unwrap();
            assert!(budget.used() >= 8 * len as u64);
            assert_eq!(first.as_ptr() as usize % 64, 0);
            assert!(first.view().each().all(|x| x == 0.0));
            let at = first.as_ptr();
            drop(first);
            assert_eq!(budget.used(), 0);
            let again = pool.buffer(DType::F64, len, &budget).unwrap();
            assert_eq!(again.as_ptr(), at, "{len}");
        }
    }

    #[test]
    fn a_pool_at_rest_makes_ready_what_was_asked_for_last() {
        let (pool, budget) = (Pool::default(), Budget::new(1 << 30));
        pool.serve(&budget);
        let waits = || pool.lock().mapped.values().map(|b| b.bytes).collect::<Vec<_>>();
        let rest = || while pool.rest() {};
        rest();
        assert_eq!(waits(), [FIRST]);
        let large = pool.buffer(DType::I8, 40 << 20, &budget).unwrap();
        assert_eq!(pool.fresh(), 1);
        rest();
        let bytes = large.block.as_ref().unwrap().bytes;
        assert!(waits().contains(&bytes), "as much again");
        let again = pool.buffer(DType::I8, 40 << 20, &budget).unwrap();
        assert_eq!(pool.fresh(), 1, "it was there");
        rest();
        assert!(!waits().contains(&bytes), "nothing was asked of the system since");
        // Half ready is as good as any block.
        let whole = pool.buffer(DType::I8, 30 << 20, &budget).unwrap();
        assert!(pool.rest() && pool.lock().ahead.is_some());
        assert!(pool.kept() >= 30 << 20);
        let half = pool.buffer(DType::I8, 30 << 20, &budget).unwrap();
        assert!(pool.lock().ahead.is_none() && pool.fresh() == 2, "it took that one");
        rest();
        drop((again, half, whole, large));
        // Two results of a line are cut from what was made ready for both.
        pool.shed();
        let pair = || [5, 6].map(|mb| pool.buffer(DType::I8, mb << 20, &budget).unwrap());
        let (first, fresh) = (pair(), pool.fresh());
        rest();
        let second = pair();
        assert_eq!(pool.fresh(), fresh, "both were there");
        drop((first, second));
        pool.shed();
        assert!(pool.lock().mapped.is_empty());
    }

    #[test]
    fn what_does_not_fit_is_ws_full_before_any_memory() {
        let (pool, budget) = (Pool::default(), Budget::new(1 << 20));
        for len in [1 << 17, 1 << 40, usize::MAX / 8, usize::MAX] {
            assert_eq!(pool.buffer(DType::F64, len, &budget).err().unwrap().kind(), Kind::WsFull);
        }
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn the_pool_keeps_a_quarter_of_the_budget_at_most() {
        let (pool, budget) = (Pool::default(), Budget::new(1 << 24));
        let held: Vec<_> =
            (0..12).map(|_| pool.buffer(DType::F64, 100_000, &budget).unwrap()).collect();
        drop(held);
        // Its own: what waits beside it is the whole process's, other tests' too.
        let kept = pool.lock().kept;
        assert!(kept <= 1 << 22 && kept > 0);
    }

    /// Buffers of many sizes in any order: each has its own bytes, a block that waits is cut and
    /// joined, and nothing new is mapped where enough waits.
    #[test]
    fn a_mapped_block_serves_other_sizes_and_is_whole_again() {
        let (pool, budget) = (Pool::default(), Budget::new(1 << 31));
        let whole = pool.buffer(DType::I8, 64 << 20, &budget).unwrap();
        let (at, bytes) = (whole.as_ptr() as usize, whole.block.as_ref().unwrap().bytes);
        drop(whole);
        let inside = |buffer: &PoolBuffer| {
            let own = buffer.as_ptr() as usize;
            own >= at && own + buffer.len() <= at + bytes
        };
        let most = bytes - SPARE;
        for (order, sizes) in [
            ([0, 1, 2], [5 << 20, 30 << 20, 20 << 20]),
            ([2, 1, 0], [5 << 20, 30 << 20, 20 << 20]),
            ([1, 2, 0], [30 << 20, 5 << 20, 5 << 20]),
            // What is left is less than is ever mapped.
            ([1, 0, 2], [(64 << 20) - SPARE, (14 << 20) - SPARE, 1]),
            ([0, 1, 2], [most, 1, 1]),
        ] {
            let mut parts: Vec<Option<PoolBuffer>> =
                sizes.map(|size| Some(pool.buffer(DType::I8, size, &budget).unwrap())).into();
            for (k, part) in parts.iter_mut().flatten().enumerate() {
                assert!(inside(part) || part.len() == 1, "{k}");
                let own = part.bytes_mut().unwrap();
                let last = own.len() - 1;
                (own[0], own[last]) = (k as u8 + 1, k as u8 + 1);
            }
            for (k, part) in parts.iter().flatten().enumerate() {
                let View::I8(own) = part.view() else { panic!("bytes") };
                assert_eq!((own[0], own[own.len() - 1]), (k as i8 + 1, k as i8 + 1));
            }
            for k in order {
                parts[k] = None;
            }
            let shelves = pool.lock();
            assert_eq!(shelves.mapped.values().map(|b| b.bytes).collect::<Vec<_>>(), [bytes]);
        }
        let again = pool.buffer(DType::I8, 64 << 20, &budget).unwrap();
        assert_eq!(again.as_ptr() as usize, at);
        drop(again);
        pool.shed();
        assert_eq!(pool.kept(), 0);
    }
}

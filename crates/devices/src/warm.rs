//! Large blocks of the program's allocator that were given back and wait for the next request.
//!
//! A block's pages are there only once they are touched, and fresh ones cost more than most of what
//! is computed in them: where a machine is a guest whose free pages its host takes back, 2 MiB took
//! 0.9 ms. The pool (`pool.rs`) keeps arrays' memory for this reason; vectors that are made beside
//! arrays (tables of keys, groups, what a file held) come from the allocator, which unmaps what is
//! large. Here it waits: at most `Warm::may_keep` bytes, the last that came is the first that goes
//! out again, the oldest leaves where there is no room.
//!
//! A block is as large as the system's allocator says, and a request takes one that is an eighth
//! larger at most. What waits counts as mapped (`ground::heap`).

use aplomb_ground::heap;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

/// Bytes from which on a block waits.
pub const LEAST: usize = 128 << 10;

/// The alignment of the system's blocks.
const ALIGN: usize = 16;

/// Blocks that wait at most.
const MANY: usize = 64;

/// The program's.
pub static WARM: Warm = Warm::new();

/// Blocks that wait.
pub struct Warm {
    /// Bytes that may wait. Nothing does before somebody says so.
    bound: AtomicUsize,
    waiting: Mutex<Waiting>,
}

/// The blocks that wait, in the order in which they came. No heap: it is the heap's own.
struct Waiting {
    blocks: [(*mut u8, usize); MANY],
    count: usize,
    bytes: usize,
}

// SAFETY: a block that waits is plain memory that nobody else knows.
unsafe impl Send for Waiting {}

impl Waiting {
    fn remove(&mut self, k: usize) -> (*mut u8, usize) {
        let block = self.blocks[k];
        self.blocks.copy_within(k + 1..self.count, k);
        self.count -= 1;
        self.bytes -= block.1;
        heap::unmapped(block.1);
        block
    }

    /// The oldest goes back to the system.
    fn let_go(&mut self) {
        let (at, bytes) = self.remove(0);
        // SAFETY: it came from there, and nobody knows it. glibc takes no notice of the layout.
        unsafe { System.dealloc(at, Layout::from_size_align_unchecked(bytes, ALIGN)) };
    }
}

/// Bytes that a block has room for; 0 where the allocator does not tell: such blocks do not wait.
fn room(at: *mut u8) -> usize {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the caller's block is the system's.
    return unsafe { libc::malloc_usable_size(at.cast()) };
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    {
        let _ = at;
        0
    }
}

impl Warm {
    const fn new() -> Warm {
        let waiting = Waiting { blocks: [(std::ptr::null_mut(), 0); MANY], count: 0, bytes: 0 };
        Warm { bound: AtomicUsize::new(0), waiting: Mutex::new(waiting) }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        match self.waiting.lock() {
            Ok(waiting) => waiting,
            // Blocks that a panic left waiting are whole.
            Err(broken) => broken.into_inner(),
        }
    }

    /// So many bytes may wait from now on.
    pub fn may_keep(&self, bytes: usize) {
        self.bound.store(bytes, Relaxed);
    }

    /// Bytes that wait.
    pub fn kept(&self) -> usize {
        self.lock().bytes
    }

    /// All that waits goes back to the system.
    pub fn shed(&self) {
        let mut waiting = self.lock();
        while waiting.count > 0 {
            waiting.let_go();
        }
    }

    /// A block that waited and is as large as this, or hardly larger.
    pub fn take(&self, layout: Layout) -> Option<*mut u8> {
        let bytes = layout.size();
        if bytes < LEAST || layout.align() > ALIGN {
            return None;
        }
        let mut waiting = self.lock();
        let fits = |block: &(*mut u8, usize)| (bytes..=bytes + bytes / 8).contains(&block.1);
        let k = waiting.blocks[..waiting.count].iter().rposition(fits)?;
        Some(waiting.remove(k).0)
    }

    /// Keeps a block that nobody needs. False: it does not wait, and is the caller's to give back.
    ///
    /// # Safety
    /// The block is the system's, and nobody uses it any more.
    pub unsafe fn keep(&self, at: *mut u8) -> bool {
        let (bytes, most) = (room(at), self.bound.load(Relaxed));
        if bytes < LEAST || bytes > most {
            return false;
        }
        let mut waiting = self.lock();
        while waiting.count == MANY || waiting.bytes + bytes > most {
            waiting.let_go();
        }
        let k = waiting.count;
        waiting.blocks[k] = (at, bytes);
        waiting.count += 1;
        waiting.bytes += bytes;
        heap::mapped(bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn a_block_that_was_given_back_serves_the_next_request_of_its_size() {
        let warm = Warm::new();
        let layout = Layout::from_size_align(LEAST * 3, 8).unwrap();
        let half = Layout::from_size_align(LEAST, 8).unwrap();
        // SAFETY: blocks of one layout; each is given back once.
        unsafe {
            let [a, b, c] = [0; 3].map(|_| System.alloc(layout));
            assert!(!warm.keep(a), "nothing may wait yet");
            warm.may_keep(LEAST * 7);
            assert!(warm.keep(a));
            assert_eq!(warm.take(half), None, "it is far too large for that");
            assert_eq!(warm.take(layout), Some(a));
            // The third has no room beside both others.
            assert!(warm.keep(a) && warm.keep(b) && warm.keep(c));
            assert_eq!(warm.kept() / layout.size(), 2);
            assert_eq!(warm.take(layout), Some(c), "the last is the first");
            warm.shed();
            assert_eq!((warm.kept(), warm.take(layout)), (0, None));
            System.dealloc(c, layout);
        }
    }
}

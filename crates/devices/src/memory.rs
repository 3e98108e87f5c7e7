//! The memory that arrays may take, unless the user says: 0.8 of what the machine, the cgroup and
//! the shell allow.

use crate::warm::{self, WARM};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::sync::atomic::AtomicIsize;
use std::sync::atomic::Ordering::Relaxed;

const SHARE: f64 = 0.8;
/// The bytes that are taken for granted when nothing can be found out.
const GUESS: u64 = 4 << 30;

/// Bytes for `Budget::new`.
pub fn default_budget() -> u64 {
    let known = [available(), cgroup(), address_space()];
    let least = known.into_iter().flatten().min().unwrap_or(GUESS);
    (least as f64 * SHARE) as u64
}

/// `MemAvailable` in `/proc/meminfo`.
fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The least limit of the groups this process is in, version 2 and 1.
fn cgroup() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let paths = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, kind, path) = (parts.next()?, parts.next()?, parts.next()?);
        match kind {
            "" => Some(("/sys/fs/cgroup", path, "memory.max")),
            "memory" => Some(("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes")),
            _ => None,
        }
    });
    // Inside a container the group is mounted as the root.
    let files = paths
        .flat_map(|(root, path, file)| [format!("{root}{path}/{file}"), format!("{root}/{file}")]);
    files.filter_map(|f| fs::read_to_string(f).ok()?.trim().parse().ok()).min()
}

/// An allocator that counts what it takes from the system's, and asks for huge pages where a block
/// is large: a hundred small items are more than their bytes. (Crates that count add up what was
/// asked for, which is a fifth less.)
pub struct Counting(AtomicIsize);

thread_local! {
    /// Bytes that a thread has taken, or given back, since it told all of them: adding up where
    /// others add up, too, would cost a call of a dfn a twentieth of its time.
    static OWN: Cell<isize> = const { Cell::new(0) };
}

/// Bytes from which on a block's pages are to be huge, and those of a small page.
const LARGE: usize = 4 << 20;
const PAGE: usize = 4 << 10;
/// Bytes that the program's allocator has taken, and the most of them since its pages were last
/// given back.
static NOW: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

/// Bytes that the allocator may keep for the next request.
const KEPT: isize = 32 << 20;

/// Bytes of a thread's heap that may be touched from its beginning on. What is not touched is no
/// memory.
const BEGUN: i32 = 4 << 20;

/// Bytes from which on a thread tells what it took.
const TOLD: isize = 1 << 16;

impl Counting {
    /// One that has taken nothing yet.
    pub const fn new() -> Counting {
        Counting(AtomicIsize::new(0))
    }

    /// Bytes that are taken now, but for what threads have not told yet.
    pub fn taken(&self) -> usize {
        self.0.load(Relaxed).max(0) as usize
    }

    #[inline]
    fn add(&self, bytes: isize) {
        OWN.with(|own| {
            let sum = own.get() + bytes;
            match sum.abs() < TOLD {
                true => own.set(sum),
                false => {
                    own.set(0);
                    let now = self.0.fetch_add(sum, Relaxed) + sum;
                    NOW.store(now, Relaxed);
                    MOST.fetch_max(now, Relaxed);
                }
            }
        });
    }

    /// A new block of so many bytes. One that is large is mapped by itself, and its pages are not
    /// there yet: as huge ones they come in an eighth of the time. All pages of it are advised, its
    /// head's too, so that it stays one mapping, which the system can make longer without a copy.
    fn fresh(at: *mut u8, bytes: usize) -> *mut u8 {
        #[cfg(target_os = "linux")]
        if bytes >= LARGE && !at.is_null() {
            let before = at as usize % PAGE;
            let whole = (before + bytes).next_multiple_of(PAGE);
            // SAFETY: these pages are there, for each holds some byte of the block, and the advice
            // changes nothing that is in them.
            unsafe { libc::madvise(at.wrapping_sub(before).cast(), whole, libc::MADV_HUGEPAGE) };
        }
        at
    }

    /// Bytes of a block in glibc's heap: 8 before it, in steps of 16, and 32 at least.
    const fn block(bytes: usize) -> isize {
        let whole = (bytes + 8).next_multiple_of(16) as isize;
        if whole < 32 { 32 } else { whole }
    }
}

impl Default for Counting {
    fn default() -> Self {
        Counting::new()
    }
}

// SAFETY: the system's allocator does all of it; numbers are added up beside.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.add(Counting::block(layout.size()));
        match WARM.take(layout) {
            Some(at) => at,
            None => Counting::fresh(unsafe { System.alloc(layout) }, layout.size()),
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.add(Counting::block(layout.size()));
        match WARM.take(layout) {
            Some(at) => {
                unsafe { at.write_bytes(0, layout.size()) };
                at
            }
            None => Counting::fresh(unsafe { System.alloc_zeroed(layout) }, layout.size()),
        }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        self.add(-Counting::block(layout.size()));
        if layout.size() < warm::LEAST || !unsafe { WARM.keep(at) } {
            unsafe { System.dealloc(at, layout) }
        }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        self.add(Counting::block(bytes) - Counting::block(layout.size()));
        Counting::fresh(unsafe { System.realloc(at, layout, bytes) }, bytes)
    }
}

/// Bytes of memory that this process has now.
pub fn resident() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    // SAFETY: a number about the machine is asked for, nothing else.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.checked_mul(u64::try_from(size).ok()?)
}

/// The same after what was given back to the allocator is given back to the machine.
pub fn trimmed() -> u64 {
    WARM.shed();
    trim();
    resident().unwrap_or(0)
}

/// The end of a request: pages that the allocator keeps go back to the machine where the request
/// gave back much. A request that took little pays two loads.
pub fn give_back() {
    let now = NOW.load(Relaxed);
    if MOST.load(Relaxed) - now > KEPT {
        MOST.store(now, Relaxed);
        trim();
    }
}

/// Keeps the free end of each thread's heap, up to the bytes that `give_back` leaves: glibc gives
/// it back from 128 kB on, and a line that takes and frees as much pays for it with two calls of
/// the system each time. Blocks up to that size come from the heap too: as glibc learns no more
/// how large they are once one of both numbers is set, it would map each from 128 kB on anew, and
/// the system would clear its pages. A heap begins with so many bytes that may be touched, for
/// glibc asks for each further page of a thread's heap by itself.
pub fn keep_ends() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: three numbers are set, nothing else.
    unsafe {
        libc::mallopt(libc::M_TOP_PAD, BEGUN);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT as libc::c_int);
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT as libc::c_int);
    }
}

fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: glibc's allocator looks for free pages under its own locks.
    unsafe {
        libc::malloc_trim(0);
    }
}

fn address_space() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a whole rlimit that the call may fill.
    let done = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    (done == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let heap = Counting::new();
        for bytes in [100_000, 200_000, 1 << 20] {
            let layout = Layout::from_size_align(bytes, 8).unwrap();
            // SAFETY: blocks of known layouts, each freed once.
            unsafe {
                let at = heap.alloc(layout);
                assert!(heap.taken() >= bytes);
                let at = heap.realloc(at, layout, 2 * bytes);
                heap.dealloc(at, Layout::from_size_align(2 * bytes, 8).unwrap());
            }
            assert_eq!(heap.taken(), 0);
        }
    }

    #[test]
    fn the_default_is_something_sensible() {
        let bytes = default_budget();
        assert!(bytes > 1 << 20 && bytes < 1 << 50, "{bytes}");
    }
}

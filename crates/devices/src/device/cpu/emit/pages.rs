//! Memory that holds instructions: written first, executed then, never both at once.

use std::ptr::NonNull;

/// A function in memory of its own, which is given back with it.
#[derive(Debug)]
pub struct Pages {
    at: NonNull<u8>,
    bytes: usize,
}

// SAFETY: nobody writes the pages after `Pages::new`.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

/// An emitted loop: a table of words in, what was suspect out.
#[cfg(target_arch = "x86_64")]
pub type Entry = unsafe extern "sysv64" fn(*const u64) -> u64;
/// Never called: nothing is emitted on other machines.
#[cfg(not(target_arch = "x86_64"))]
pub type Entry = unsafe extern "C" fn(*const u64) -> u64;

impl Pages {
    /// The instructions in pages that are executable and read-only; None: the machine gives none.
    pub fn new(code: &[u8]) -> Option<Pages> {
        let bytes = code.len();
        let (rights, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: an anonymous mapping of `bytes`, which nobody else knows; it is filled before
        // its rights change, and only looked at from then on.
        unsafe {
            let raw = libc::mmap(std::ptr::null_mut(), bytes, rights, kind, -1, 0);
            if raw == libc::MAP_FAILED {
                return None;
            }
            let pages = Pages { at: NonNull::new(raw.cast())?, bytes };
            std::ptr::copy_nonoverlapping(code.as_ptr(), pages.at.as_ptr(), bytes);
            let ready = libc::mprotect(raw, bytes, libc::PROT_READ | libc::PROT_EXEC) == 0;
            ready.then_some(pages)
        }
    }

    /// The function that begins with the first byte. Safety of a call: as its maker says.
    pub fn entry(&self) -> Entry {
        // SAFETY: the pages hold whole instructions, made for this calling convention.
        unsafe { std::mem::transmute::<*mut u8, Entry>(self.at.as_ptr()) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, which nobody runs any more.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.bytes) };
    }
}

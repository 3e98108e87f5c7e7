//! The memory that the program has taken: arrays, and all that is made beside them.
//!
//! The budget counts arrays as they are made. Texts, tables, lists of small items are not asked for
//! one by one; a program whose allocator counts says so here (`count_by`), and whoever looks at the
//! interrupt finds out that a request has outgrown its bound (`Interrupt::bound`). Memory that does
//! not come from the allocator is told by `mapped`.
//!
//! A test's allocator sees every block that is taken, and by `heard_by` what a budget was asked for
//! before; so memory whose size data decide and that nobody asked for is found
//! (tests/lines/asked.rs).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

static ALLOCATED: OnceLock<fn() -> usize> = OnceLock::new();
static HEARD: OnceLock<fn(u64)> = OnceLock::new();
static MAPPED: AtomicU64 = AtomicU64::new(0);

/// The program's allocator counts: this gives the bytes that it has taken. The first word stands.
pub fn count_by(allocated: fn() -> usize) {
    let _ = ALLOCATED.set(allocated);
}

/// Bytes below which nobody is told what a budget was asked for.
pub const MUCH: u64 = 1 << 18;

/// From now on `heard` is told of each `MUCH` bytes and more that a budget gives, in the thread
/// that asks and before they are taken. The first word stands.
pub fn heard_by(heard: fn(u64)) {
    let _ = HEARD.set(heard);
}

/// A budget gave so many bytes.
#[inline]
pub(crate) fn asked(bytes: u64) {
    if bytes >= MUCH
        && let Some(heard) = HEARD.get()
    {
        heard(bytes);
    }
}

/// Bytes that were mapped beside the allocator.
pub fn mapped(bytes: usize) {
    MAPPED.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// Bytes that were mapped and are given back.
pub fn unmapped(bytes: usize) {
    MAPPED.fetch_sub(bytes as u64, Ordering::Relaxed);
}

/// Bytes that are taken now; None: nobody counts.
pub fn taken() -> Option<u64> {
    ALLOCATED.get().map(|allocated| allocated() as u64 + MAPPED.load(Ordering::Relaxed))
}

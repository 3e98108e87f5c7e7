//! The memory that the program has taken: arrays, and all that is made beside them.
//!
//! The budget counts arrays as they are made. Texts, tables, lists of small items are not asked for
//! one by one; a program whose allocator counts says so here (`count_by`), and whoever looks at the
//! interrupt finds out that a request has outgrown its bound (`Interrupt::bound`). Memory that does
//! not come from the allocator is told by `mapped`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

static ALLOCATED: OnceLock<fn() -> usize> = OnceLock::new();
static MAPPED: AtomicU64 = AtomicU64::new(0);

/// The program's allocator counts: this gives the bytes that it has taken. The first word stands.
pub fn count_by(allocated: fn() -> usize) {
    let _ = ALLOCATED.set(allocated);
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

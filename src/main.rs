//! The program `aplomb`: the command line over the library of the same name.

#![forbid(unsafe_code)]

use aplomb_devices::memory::{self, Counting};
use std::process::ExitCode;

/// The allocator of the program counts: a request is bounded in all that it makes.
#[global_allocator]
static HEAP: Counting = Counting::new();

fn main() -> ExitCode {
    memory::keep_ends();
    aplomb::cli::main(|| HEAP.taken())
}

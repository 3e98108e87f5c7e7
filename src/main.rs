//! The program `aplomb`: the command line over the library of the same name.

#![forbid(unsafe_code)]

use cap::Cap;
use std::alloc::System;
use std::process::ExitCode;

/// The allocator of the program counts: a request is bounded in all that it makes.
#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

fn main() -> ExitCode {
    aplomb::cli::main(|| HEAP.allocated())
}

//! The program `aplomb`: the command line over the library of the same name.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    aplomb::cli::main()
}

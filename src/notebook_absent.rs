//! The notebook of a program that was built without it (`--no-default-features`): one line says so.

use crate::args::{BenchArgs, KernelCommand};
use crate::front::{Settings, USAGE};

pub fn run(_settings: Settings, _what: KernelCommand, _said: &[String]) -> i32 {
    eprintln!("aplomb: this program was built without the notebook (feature jupyter)");
    USAGE
}

pub fn bench(_args: &BenchArgs) -> i32 {
    eprintln!("aplomb: this program was built without the notebook (feature jupyter)");
    USAGE
}

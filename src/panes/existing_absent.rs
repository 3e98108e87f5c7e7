//! The panes over a notebook, in a program that was built without one.

use crate::front::{Settings, USAGE};
use std::path::Path;

pub fn run(_settings: &Settings, _connection: &Path) -> i32 {
    eprintln!("aplomb: this program was built without Jupyter (feature jupyter)");
    USAGE
}

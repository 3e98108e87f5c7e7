//! Arrow IPC in a build without it: nothing is read or written.

use aplomb_ground::error::{Result, nonce};
use aplomb_ground::limits::{Budget, Interrupt};
use aplomb_language::eval::host::Arrays;
use std::path::Path;

/// Errors: NONCE.
pub fn read_arrow(_path: &Path, _budget: &Budget) -> Result<Arrays> {
    Err(absent())
}

/// Errors: NONCE.
pub fn write_arrow(
    _path: &Path,
    _arrays: &Arrays,
    _how: Option<&str>,
    _budget: &Budget,
    _stop: &Interrupt,
) -> Result<()> {
    Err(absent())
}

fn absent() -> aplomb_ground::error::Error {
    nonce("Arrow, of which this build was made without,")
}

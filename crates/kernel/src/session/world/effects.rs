//! The world outside, as far as a run may touch it: a line that is only told again reads and writes
//! aside, and says what it would have done.

use super::World;
use aplomb_ground::error::Result;
use aplomb_ground::protocol::Event;
use std::path::{Path, PathBuf};

impl World<'_> {
    /// True where files are touched and time passes. A line that is only told again does neither.
    pub(in crate::session) fn has_effects(&self) -> bool {
        self.sink.is_some() && !self.core.mode.holding
    }

    pub(super) fn withhold(&mut self, what: String) {
        if let Some(sink) = &mut self.sink {
            sink.event(Event::Withheld(what));
        }
    }

    /// The path at which a file is read.
    pub(super) fn source(&self, path: &str) -> PathBuf {
        if self.has_effects() { path.into() } else { self.core.aside.place(Path::new(path)) }
    }

    /// The path at which a file is written: under its name, or aside.
    pub(super) fn target(&mut self, path: &str) -> Result<PathBuf> {
        self.core.reach.check(Path::new(path))?;
        if self.has_effects() {
            return Ok(path.into());
        }
        self.withhold(format!("write {path}"));
        self.core.aside.target(Path::new(path))
    }
}

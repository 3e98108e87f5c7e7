//! The run of a line in which all of it was recorded, for a line that was small: its own run had
//! nothing to launch.
//!
//! It runs once, when the first view asks; all others are told of that run, so they agree on what
//! it took.

use super::kept::{Kept, Warning};
use super::{Last, Session};
use aplomb_compiler::pass::Options;
use aplomb_devices::device::Wanted;
use aplomb_ground::error::Result;
use aplomb_ground::trace::{Diagnostic, Trace};

/// The part of a sentence on a line of which no run is kept, since it had nothing to launch.
const AGAIN: &str = "all of this line was small and computed at once, without launches";
/// The part of a sentence on a line whose launches would have to run again, and cannot by
/// themselves.
pub(super) const LET_GO: &str =
    "the arrays of this line are gone, since statements followed that may have changed them";

/// A run with everything recorded, and how it ran.
pub(super) struct Whole {
    kept: Kept,
    options: Options,
    device: Wanted,
    /// It was compiled and did not run.
    planned: bool,
}

impl Session {
    /// The story of a line under the switches of now.
    pub(super) fn trace_line(&mut self, line: &Last) -> Result<Trace> {
        // Work that the evaluator told of is a story without launches.
        let worked = line.warnings.iter().any(Warning::is_work) || !line.forced.is_empty();
        let is_there = line.is_whole()
            || self.core.mode().planning
            || line.forced.iter().all(|forced| forced.run.is_some()) && self.ran_so(line);
        if worked && is_there {
            return self.story_forced(line, false).map(|told| told.0.tell());
        }
        let (mode, options) = (self.core.mode(), self.core.options().clone());
        let device = self.core.devices().wanted();
        let is_now = |whole: &Whole| {
            let ran = !whole.planned || mode.planning;
            ran && !mode.measuring && whole.options == options && whole.device == device
        };
        let mut whole = match line.whole.take().filter(is_now) {
            Some(whole) => whole,
            None => {
                let kept = self.runs_again(line.text.clone(), Some(line.before.clone()))?;
                Whole { kept, options, device, planned: mode.planning }
            }
        };
        whole.kept.set_priced(mode.pricing);
        let mut trace = whole.kept.tell();
        // Large arrays of a line that worked are not held for its story.
        line.whole.replace(Some(whole).filter(|_| !worked));
        if !trace.segments.is_empty() {
            let why = if worked { LET_GO } else { AGAIN };
            // One sentence says it of all.
            trace.diagnostics.retain(|d| worked || d.code != "W-at-once");
            let text = format!("{why}: what is told is another run, with all of it recorded");
            let code = "W-again".into();
            trace.diagnostics.push(Diagnostic { code, text, ..Diagnostic::default() });
        }
        Ok(trace)
    }
}

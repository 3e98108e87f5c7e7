//! Texts of another front end: its cells come, are shown where the last one was, and can be turned
//! back to.

use super::App;
use crate::panes::run::{Run, spelled};
use aplomb_ground::protocol::{Client, Request, Switches};

/// Rows of the ledger.
pub(super) const ROWS: usize = 400;
/// Nodes and decisions of the runs that are kept.
const KEPT: usize = 1 << 18;
impl<C: Client> App<C> {
    /// The last text of the other front end under the switches of now; its values are known there,
    /// so nothing else runs.
    pub(super) fn ask_again(&mut self) {
        let last = self
            .kept
            .iter()
            .chain([&self.run])
            .filter(|r| r.stories() > 0)
            .max_by_key(|r| r.number);
        let Some(last) = last else {
            self.note = "no cell has run yet".into();
            return;
        };
        if (&last.name, &last.text) != (&self.run.name, &self.run.text) {
            self.note = format!("switches are for the last cell, {}: > goes there", last.name);
            self.switches = self.run.switches.clone();
            return;
        }
        self.client.send(Request::Again { switches: Some(self.switches.clone()) });
        self.note = format!("asked for {} under {}", last.name, spelled(&self.switches));
    }

    /// Another front end's text runs, or is told; twice of the same, where more is known of it by
    /// then.
    pub(super) fn begun(&mut self, name: String, text: String, switches: Switches) {
        self.stale = true;
        match &mut self.coming {
            Some(run) if text.is_empty() => (run.name, run.switches) = (name, switches),
            _ => {
                self.runs += 1;
                self.coming =
                    Some(Run { number: self.runs, name, text, switches, ..Run::default() });
            }
        }
    }

    /// A run of another front end: shown, if the one before it was, and if it compiled something.
    pub(super) fn come(&mut self, run: Run) {
        let is_last = self.kept.iter().all(|r| r.number < self.run.number || r.stories() == 0);
        let has_story = run.stories() > 0 || run.failure.is_some();
        if self.run.number == 0 || is_last && has_story {
            let before = self.take_up(run);
            self.keep(before);
        } else {
            let says = if has_story { "has run; > goes there" } else { "compiled nothing" };
            self.note = format!("{} {says}", run.name);
            self.keep(run);
        }
    }

    /// Shows a run; what was shown before.
    fn take_up(&mut self, run: Run) -> Run {
        (self.text, self.name, self.switches) =
            (run.text.clone(), run.name.clone(), run.switches.clone());
        self.adopt(run)
    }

    /// The youngest runs, as many as there is room for.
    fn keep(&mut self, run: Run) {
        if run.number > 0 {
            self.kept.push(run);
            self.kept.sort_by_key(|r| r.number);
        }
        let size =
            |r: &Run| 1 + r.traces.iter().map(|t| t.nodes.len() + t.decisions.len()).sum::<usize>();
        let mut room = KEPT;
        let young = self.kept.iter().rev().take_while(|r| {
            let fits = size(r) <= room;
            room = room.saturating_sub(size(r));
            fits
        });
        let drop = self.kept.len() - young.count();
        self.kept.drain(..drop);
    }

    /// Shows a run that is kept.
    pub(super) fn turn_to(&mut self, number: u64) {
        match self.kept.iter().position(|r| r.number == number) {
            Some(k) => {
                let run = self.kept.remove(k);
                let before = self.take_up(run);
                self.keep(before);
            }
            None if number == self.run.number => {}
            None => self.note = "the traces of that run are no longer kept".into(),
        }
    }

    /// The evaluation before this one, of the run before if this is the first.
    pub(super) fn tell_before(&mut self) {
        let earlier = self.kept.iter().filter(|r| r.number < self.run.number && r.stories() > 0);
        match earlier.map(|r| r.number).max().filter(|_| self.story == 0) {
            Some(number) => {
                self.turn_to(number);
                self.tell(self.run.stories().max(1) - 1);
            }
            None => self.tell(self.story.saturating_sub(1)),
        }
    }

    pub(super) fn tell_after(&mut self) {
        let later = self.kept.iter().filter(|r| r.number > self.run.number && r.stories() > 0);
        match later.map(|r| r.number).min().filter(|_| self.story + 1 >= self.run.stories()) {
            Some(number) => {
                self.turn_to(number);
                self.tell(0);
            }
            None => self.tell(self.story + 1),
        }
    }
}

//! The stories that a session keeps: which statements have one, and which of them is told.

use super::compare::Side;
use super::core::Core;
use super::kept::{self, Kept, Story};
use aplomb_compiler::pass::Options;
use aplomb_ground::span::Span;
use aplomb_ground::trace::{ResultRecord, Trace};
use aplomb_values::dag::Recorded;
use std::rc::Rc;

/// A statement of a text: its place, and how often it had run.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    span: Span,
    round: usize,
}

/// A statement whose arrays stay, and where its story is.
pub(super) struct Sought {
    spot: Spot,
    met: usize,
    at: Option<usize>,
}

impl Core {
    /// The statement under way is over. A story that gave no value is one too, for those who look
    /// on.
    pub(super) fn close_current(&mut self) {
        // Most statements have nothing to tell, and a record is long to move.
        if self.current.is_blank() && self.warnings.is_empty() && self.interpreted.is_empty() {
            self.current.name(None);
            return self.let_go();
        }
        let looks_on = self.mode.tracing && (!self.mode.whole || self.mode.each);
        let mut current = std::mem::take(&mut self.current);
        // What no evaluation told; a story that gave its value has it.
        if current.is_some() {
            current.warnings.append(&mut self.warnings);
            current.warnings.extend(self.interpreted.drain(..).map(|i| i.warning()));
        }
        if looks_on && !(current.parts.is_empty() && current.warnings.is_empty()) {
            self.keep(current);
        }
        self.let_go();
    }

    /// Keeps the story of a statement that is over.
    pub(super) fn keep(&mut self, told: Kept) {
        if let Some(sought) = self.sought.as_mut().filter(|s| told.span() == Some(s.spot.span)) {
            sought.met += 1;
            let here = sought.met == sought.spot.round;
            sought.at = sought.at.or(here.then_some(self.kept.len()));
        }
        self.kept.push(told);
    }

    /// Arrays that only stories would hold are let go; where each statement is told, those of the
    /// one that is sought stay, or else of the one with most to do, so that it can be run again.
    fn let_go(&mut self) {
        let Some(last) = self.kept.len().checked_sub(1) else { return };
        let held = self.held.min(last);
        let rank = |k: usize| (self.sought() == Some(k), self.kept[k].work_ns());
        let (gone, stays) = match rank(last) < rank(held) {
            true => (last, held),
            false => (held, last),
        };
        if !self.mode.each || gone != stays {
            self.kept[gone].let_go();
        }
        if !self.mode.each {
            self.kept[last].let_go();
        }
        self.held = stays;
    }

    /// The stories since the last call, that of a statement that failed among them.
    pub fn take_stories(&mut self) -> Vec<Trace> {
        self.close_current();
        self.take_traces()
    }

    /// The evaluations of those stories instead, as they were recorded and switched, so that they
    /// can be planned otherwise.
    pub fn take_evaluations(&mut self) -> Vec<(Rc<Recorded>, Options)> {
        self.close_current();
        let kept = std::mem::take(&mut self.kept);
        let parts = kept.iter().flat_map(|kept| &kept.parts);
        parts.map(|part| part.log.evaluation()).collect()
    }

    /// The statements that have stories, in figures; that under way is over.
    pub fn stories(&mut self) -> Vec<Story> {
        self.close_current();
        self.kept.iter().map(Kept::story).collect()
    }

    /// A trace with the registers of its launches and what follows of them, where there is an
    /// NVRTC.
    pub fn fill(&mut self, trace: &mut Trace) {
        self.registers.fill(trace);
    }

    /// The story of one of them. None: there are not so many.
    pub fn story(&self, at: usize) -> Option<Trace> {
        self.kept.get(at).map(Kept::tell)
    }

    /// The statement of a story, for another run of the same text.
    pub fn spot(&self, at: usize) -> Option<Spot> {
        let span = self.kept.get(at)?.span()?;
        let round = self.kept[..=at].iter().filter(|k| k.span() == Some(span)).count();
        Some(Spot { span, round })
    }

    /// From now on the arrays of that statement stay, whatever others have to do.
    pub fn seek(&mut self, spot: Option<Spot>) {
        self.sought = spot.map(|spot| Sought { spot, met: 0, at: None });
    }

    /// The story of the statement that is sought, once it ran.
    pub fn sought(&self) -> Option<usize> {
        self.sought.as_ref().and_then(|sought| sought.at)
    }

    /// The same, as a side of a comparison; arrays are there of one statement only, the one that is
    /// sought or has most to do.
    pub fn side(&self, at: usize) -> Option<Side> {
        self.kept.get(at).map(Kept::side)
    }

    /// The result of the last statement, if stories are kept.
    pub(super) fn last_result(&self) -> Option<ResultRecord> {
        self.kept.last().and_then(|kept| kept.result.clone())
    }

    /// The traces of the statements that gave a value since the last call.
    pub fn take_traces(&mut self) -> Vec<Trace> {
        kept::told(std::mem::take(&mut self.kept))
    }

    /// The stories so far, while an expression in between is told.
    pub(super) fn set_kept_aside(&mut self) -> Vec<Kept> {
        std::mem::take(&mut self.kept)
    }

    pub(super) fn set_kept(&mut self, kept: Vec<Kept>) {
        self.kept = kept;
    }

    /// Stories that nobody asked for.
    pub(super) fn forget_stories(&mut self) {
        self.kept.clear();
        self.current = Kept::default();
    }
}

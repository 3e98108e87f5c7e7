//! Work that is no launch, told where it stands: how many elements or calls it had, and how long it
//! took.
//!
//! A function that gives its value at once, for many elements, tells of itself. What is left of a
//! statement then, a recursion on single numbers, the turns of a `:For`, a text that `⍎` reads a
//! thousand times, is the statement's own: it counts the calls and turns that no other work had.

use super::cx::{Cx, SMALL};
use super::host::Much;
use aplomb_ground::span::Place;

/// Work that has begun.
#[derive(Clone)]
pub struct Work {
    place: Place,
    /// None: the calls and turns since it began.
    elements: Option<usize>,
    /// The calls and turns before it.
    calls: usize,
    /// By the host's `untold`.
    begun: f64,
}

impl Cx<'_> {
    /// Begins work on so many elements; None: nobody tells of so few. A story wants everything.
    pub fn begin_work(&self, elements: usize) -> Option<Work> {
        let least = if self.sys.records_all() { 0 } else { SMALL };
        let place = self.place().filter(|_| elements > least)?;
        let (calls, elements) = (self.sys.calls, Some(elements));
        Some(Work { place, elements, calls, begun: self.host.untold() })
    }

    /// Tells of work that is done. Its own time is what no launch, and no work within it, took.
    pub fn tell_work(&mut self, work: Option<Work>) {
        let Some(Work { place, elements, calls, begun }) = work else { return };
        let own = (self.host.untold() - begun).max(0.0);
        let much = match elements {
            Some(n) => Much::Elements(n),
            None => Much::Calls(self.sys.calls - calls),
        };
        // Who tells of the calls within does not want them told by those around.
        self.sys.calls = calls;
        if much.is_telling() {
            self.host.interpreted(&place, much, own);
        }
    }

    /// Begins a statement's work; it is told if calls and turns enough are left to it.
    pub fn begin_statement(&self, place: Place) -> Work {
        Work { place, elements: None, calls: self.sys.calls, begun: self.host.untold() }
    }

    /// Counts a call, or a turn of a loop.
    pub fn count_call(&mut self) {
        self.sys.calls = self.sys.calls.saturating_add(1);
    }
}

impl Much {
    /// Whether a story has room for it. Elements were counted before they were worked on.
    fn is_telling(self) -> bool {
        !matches!(self, Much::Calls(n) if n < SMALL)
    }
}

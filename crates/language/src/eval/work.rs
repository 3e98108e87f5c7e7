//! Work that is no launch, told where it stands: how many elements it had, and how long it took.

use super::cx::{Cx, SMALL};
use aplomb_ground::span::Place;

/// Work that has begun.
#[derive(Clone)]
pub struct Work {
    place: Place,
    elements: usize,
    /// By the host's `untold`.
    begun: f64,
}

impl Cx<'_> {
    /// Begins work on so many elements; None: nobody tells of so few. A story wants everything.
    pub fn begin_work(&self, elements: usize) -> Option<Work> {
        let least = if self.sys.records_all() { 0 } else { SMALL };
        let place = self.place().filter(|_| elements > least)?;
        Some(Work { place, elements, begun: self.host.untold() })
    }

    /// Tells of work that is done. Its own time is what no launch, and no work within it, took.
    pub fn tell_work(&mut self, work: Option<Work>) {
        if let Some(Work { place, elements, begun }) = work {
            let own = (self.host.untold() - begun).max(0.0);
            self.host.interpreted(&place, elements, own);
        }
    }
}

//! The orders of a launch's loops in sentences.

use crate::names::arrays;
use aplomb_ground::trace::{LaunchRecord, OrderRecord, ReadRecord, Trace};

/// The orders of a launch's loops in which neighbouring threads meet neighbours in memory (BAS-14).
pub(crate) fn orders(trace: &Trace, k: &LaunchRecord) -> Vec<String> {
    let one = |o: &OrderRecord| {
        let space = o.space.as_deref()?;
        let time = o.time.as_ref().map_or(String::new(), |t| format!(", step by step along {t}"));
        let staged = arrays(trace, &o.staged);
        if o.global.is_empty() {
            // Threads that share a row are an order that the paper has not.
            let beside = |r: &ReadRecord| r.adj.as_ref().is_some_and(|adj| adj.space == "ok");
            let mut reads = k.reads.iter().filter(|r| o.staged.contains(&r.buf)).peekable();
            let met = match reads.peek().is_some() && reads.all(beside) {
                true => "; here threads share a row and meet them, so nothing is copied",
                false => "",
            };
            return Some(format!(
                "threads along {space}{time}: neighbours of {staged} are met by no neighbouring \
                 threads in any order of the loops, so a thread a result would want a copy{met}"
            ));
        }
        let beside = match staged.as_str() {
            "" => String::new(),
            staged => format!("; {staged} lies across"),
        };
        let global = arrays(trace, &o.global);
        Some(format!("threads along {space}{time} meet neighbours of {global}{beside}"))
    };
    // What all loops do is not worth a sentence.
    k.candidates
        .iter()
        .filter(|o| k.domain.len() > 1 || !o.staged.is_empty())
        .filter_map(one)
        .collect()
}

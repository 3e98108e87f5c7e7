//! settle: choices that make the whole plan faster the other way are made the other way.
//!
//! Row: own:settle. Each choice of the planner looks at one node; what it does to the plan shows
//! when the plan is made again with it reversed (`price`). Here that is done before the plan is
//! used: one flip after the other, in the order in which decisions are told, and one that saves a
//! hundredth of the plan's time stays. How many plans are tried follows from the plan's own time by
//! the model, so that trying takes no longer than half of one run: it is counted, never clocked,
//! and the same plan comes whoever asks. Small plans are not worth a try.

use super::price;
use super::schedule::flips::{Flip, Flips};
use super::{Compiled, Observer, Options, once};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Interrupt;
use aplomb_values::dag::Recorded;
use std::collections::BTreeSet;

/// The switch.
pub const NAME: &str = "settle";
/// Microseconds in which the passes go through a node, once; with a record about twice as long.
const NODE_US: f64 = 5.0;
/// Plans for which a record counts.
const TOLD: f64 = 3.0;
/// Most plans that are tried.
const MOST: f64 = 64.0;
/// A flip stays if the plan's time falls below this part.
const LESS: f64 = 0.99;

/// Passes that nobody times.
struct Quiet(Interrupt);

impl Observer for Quiet {
    fn begin(&mut self, _pass: &'static str) {}

    fn end(&mut self, _pass: &'static str) -> f64 {
        0.0
    }

    fn interrupt(&self) -> Interrupt {
        self.0.clone()
    }
}

/// The flips that make a plan faster. `own` is the plan without any. Errors: those of `compile`.
pub fn flips(
    recorded: &Recorded,
    options: &Options,
    own: &Compiled,
    interrupt: Interrupt,
) -> Result<Flips> {
    let mut found = Flips::default();
    if options.is_off(NAME) || !options.flips.is_empty() {
        return Ok(found);
    }
    let mut us = price::of(&own.plan).us;
    let room = us / (2.0 * NODE_US * recorded.dag.len().max(1) as f64) - TOLD;
    let room = room.min(MOST) as usize;
    if room == 0 {
        return Ok(found);
    }
    let mut quiet = Quiet(interrupt);
    let told: Vec<Flip> = if options.trace {
        own.flips.iter().map(|(_, flip)| *flip).collect()
    } else {
        let options = Options { trace: true, ..options.clone() };
        once(recorded, &options, &mut quiet)?.flips.into_iter().map(|(_, flip)| flip).collect()
    };
    let mut tried: BTreeSet<Flip> = BTreeSet::new();
    for flip in told.into_iter().filter(|flip| tried.insert(*flip)).take(room) {
        let Some(flips) = found.and(flip) else { break };
        let options = Options { flips, trace: false, ..options.clone() };
        let other = price::of(&once(recorded, &options, &mut quiet)?.plan).us;
        if other < us * LESS {
            (found, us) = (flips, other);
        }
    }
    Ok(found)
}

//! Whether a node, evaluated in these places, must be kept: the work rule and its kin, E1, the
//! rules of 2006.
//!
//! Rows: ACL-17, ACL-38…40, ACC-17. A node is computed where it is read unless that costs more than
//! storing it; what costs mean is the pipeline's (`Recompute`). Before cost comes what must be: a
//! value that can fail is computed whole (E1).

use super::contexts::{self, Context};
use super::cost::{Cost, LAUNCH_NS};
use super::fault::Fault;
use super::find::{self, Body};
use super::schedule::flips::Way;
use super::schedule::legal::{self, Illegal};
use super::schedule::policy::{Policies, Policy, Recompute};
use super::schedule::{Keep, Why};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Dag, NodeId};

/// A light node is computed again in up to so many places.
const LIGHT_PLACES: usize = 12;
/// Such a part of a launch's start is nothing.
const NOTHING: f64 = 0.005;

pub struct Judge<'a> {
    dag: &'a Dag,
    policies: Policies,
    /// Uses in the graph; empty where they do not count.
    uses: Vec<u32>,
}

impl<'a> Judge<'a> {
    pub fn new(dag: &'a Dag, roots: &[NodeId], policies: Policies) -> Judge<'a> {
        let uses =
            if policies.recompute() == Recompute::Unshared { dag.uses(roots) } else { Vec::new() };
        Judge { dag, policies, uses }
    }

    pub fn why(&self, keep: &Keep, at: NodeId, places: &[Context]) -> Option<Why> {
        let dag = self.dag;
        match legal::inline(dag, self.policies.strict, at, places) {
            Err(Illegal::Must(Why::MayFail)) if self.policies.has(Fault::PartOfWhatFails) => {}
            Err(Illegal::Must(why)) => return Some(why),
            _ => {}
        }
        if dag.shape(at).is_empty() || self.policies.flips.has(at, Way::Inline) {
            return None;
        }
        if !dag.node(at).computes() {
            return None;
        }
        let elements = dag.elements(at);
        // A use of the shape alone is one more place, unless shape-uses has seen to it.
        let counts = !self.policies.asks(Policy::Shapes) || self.policies.flips.has(at, Way::Used);
        let asked = counts && dag.info(at).asked;
        let own = if asked { elements } else { 0 };
        let sum = |of: fn(&Context) -> u64| places.iter().fold(own, |n, c| n.saturating_add(of(c)));
        let points = sum(|c| c.points);
        let uses = places.len() + usize::from(asked);
        if self.policies.recompute() == Recompute::Unshared && places.len() + usize::from(asked) > 1
        {
            let (inline, store) = self.costs(at, (points, places), &find::body(dag, keep, at));
            return Some(Why::Shared {
                uses: u64::from(self.uses[at.index()]) + u64::from(asked),
                inline,
                store,
            });
        }
        if points <= elements {
            return None;
        }
        let body = find::body(dag, keep, at);
        let (inline, store) = self.costs(at, (points, places), &body);
        let by_cost = inline.ns <= store.ns;
        let inlined = match self.policies.recompute() {
            Recompute::Never => false,
            Recompute::Always | Recompute::Words | Recompute::Unshared if uses == 1 => by_cost,
            Recompute::Always | Recompute::Unshared => true,
            Recompute::Words if words_break(uses as u64, body.reads) => {
                return Some(Why::Shared { uses: uses as u64, inline, store });
            }
            Recompute::Words => true,
            Recompute::Cost => by_cost,
            Recompute::Light if uses == 1 => by_cost,
            Recompute::Light if inline.ns < NOTHING * LAUNCH_NS => true,
            // Of so few elements a launch of their own would be most of it.
            Recompute::Light if body.is_small && store.ns < 2.0 * LAUNCH_NS => by_cost,
            // What is made of its place is light where that is a sum of steps.
            Recompute::Light if body.reads == 0 && !places.iter().all(is_straight) => false,
            Recompute::Light => body.is_light && uses <= LIGHT_PLACES,
        };
        (!inlined).then(|| {
            let points = sum(|c| c.runs);
            let (inline, store) = self.costs(at, (points, places), &body);
            Why::Work { points, inline, store }
        })
    }

    /// The costs of computing a node again, and of storing it.
    fn costs(&self, at: NodeId, (points, places): (u64, &[Context]), body: &Body) -> (Cost, Cost) {
        let (elements, size) = (self.dag.elements(at), self.dag.dtype(at).size() as u64);
        let again = points.saturating_sub(elements);
        let launches = contexts::launches(places);
        let all = elements.saturating_mul(size);
        (
            Cost::compute(again, body.ns, body.flops, body.reads, size)
                .moving(body.bytes.saturating_mul(launches.saturating_sub(1))),
            Cost::store(elements, points, size).moving(all.saturating_mul(1 + launches)),
        )
    }
}

/// True of a place that finds its index without a division or a bound.
fn is_straight(place: &Context) -> bool {
    place.read.ix.iter().all(Ix::is_affine)
}

/// ACL-40 in words an element: each of u uses reads r operands and writes once; stored, r operands
/// are read and one array written, which u uses read. A tie is not worth a launch.
pub fn words_break(uses: u64, reads: u64) -> bool {
    let (inline, stored) = (
        uses.saturating_mul(reads).saturating_add(1),
        reads.saturating_add(uses).saturating_add(2),
    );
    inline > stored
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acl_40_equal_terms_are_stored_when_that_moves_fewer_words() {
        let table = [
            ((2, 2), false),
            ((2, 3), false),
            ((3, 2), false),
            ((2, 4), true),
            ((3, 3), true),
            ((5, 6), true),
            ((5, 1), false),
        ];
        for ((uses, reads), breaks) in table {
            assert_eq!(words_break(uses, reads), breaks, "{uses} uses of {reads} operands");
        }
    }
}

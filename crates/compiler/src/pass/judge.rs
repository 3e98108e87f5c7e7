//! Whether a node, evaluated in these places, must be kept: the work rule and its kin, E1, the
//! rules of 2006.
//!
//! Rows: ACL-17, ACL-38…40, ACC-17; LOWERING §7. A node is computed where it is read unless that
//! costs more than storing it; what costs mean is the pipeline's (`Again`). Before cost comes what
//! must be: a value that can fail is computed whole (E1).

use super::contexts::Context;
use super::cost::Cost;
use super::fault::Fault;
use super::find::{self, Body};
use super::schedule::{Again, Allow, Why};
use super::strict;
use aplomb_values::dag::{Dag, Node, NodeId, Read};
use std::collections::BTreeMap;

/// More places than this are not worth the text (LOWERING §7).
const PLACES: usize = 64;
/// A light node is computed again in up to so many places.
const LIGHT_PLACES: usize = 12;

pub struct Judge<'a> {
    dag: &'a Dag,
    allow: Allow,
    /// Uses in the graph; empty where they do not count.
    uses: Vec<u32>,
}

impl<'a> Judge<'a> {
    pub fn new(dag: &'a Dag, roots: &[NodeId], allow: Allow) -> Judge<'a> {
        let uses = if allow.again == Again::Unshared { dag.uses(roots) } else { Vec::new() };
        Judge { dag, allow, uses }
    }

    pub fn why(&self, keep: &BTreeMap<NodeId, Why>, at: NodeId, places: &[Context]) -> Option<Why> {
        let dag = self.dag;
        let map = if let Node::Map { op, .. } = dag.node(at) { Some(*op) } else { None };
        let hard = dag.fails_hard(at);
        if hard && !places.iter().any(|c| c.onto) && !self.allow.has(Fault::PartOfWhatFails) {
            return Some(Why::MayFail);
        }
        let illegal = places.iter().find(|c| !strict::allows(dag, at, &c.read));
        if let (true, Some(place)) = (self.allow.strict, illegal) {
            let fill = map.and(place.read.tests.first()).map(|t| t.fill);
            return Some(Why::Outside { code: strict::code(dag, at), fill });
        }
        if dag.shape(at).is_empty() {
            return None;
        }
        // Moves and catenations too: each of their users is one more place of all that is below,
        // and what several of them read of themselves would double at every step.
        if places.len() > PLACES {
            return Some(Why::Places(places.len()));
        }
        if let Some(heavy) = places.iter().map(|c| c.read.weight()).find(|w| *w > Read::HEAVIEST) {
            return Some(Why::Steps(heavy));
        }
        if !dag.node(at).computes() {
            return None;
        }
        let elements = dag.elements(at);
        // A use of the shape alone is one more place, unless shape-uses has seen to it.
        let asked = !self.allow.shapes && dag.info(at).asked;
        let own = if asked { elements } else { 0 };
        let points = places.iter().fold(own, |n, c| n.saturating_add(c.points));
        let uses = places.len() + usize::from(asked);
        if self.allow.again == Again::Unshared && places.len() + usize::from(asked) > 1 {
            let (inline, store) = self.costs(at, points, &find::body(dag, keep, at));
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
        let (inline, store) = self.costs(at, points, &body);
        let by_cost = inline.ns <= store.ns;
        let inlined = match self.allow.again {
            Again::Never => false,
            Again::Always | Again::Words | Again::Unshared if uses == 1 => by_cost,
            Again::Always | Again::Unshared => true,
            Again::Words if words_break(uses as u64, body.reads) => {
                return Some(Why::Shared { uses: uses as u64, inline, store });
            }
            Again::Words => true,
            Again::Cost => by_cost,
            Again::Light if uses == 1 => by_cost,
            Again::Light => body.is_light && uses <= LIGHT_PLACES,
        };
        (!inlined).then_some(Why::Work { points, inline, store })
    }

    /// What computing it again costs, and what storing it does.
    fn costs(&self, at: NodeId, points: u64, body: &Body) -> (Cost, Cost) {
        let (elements, size) = (self.dag.elements(at), self.dag.dtype(at).size() as u64);
        let again = points.saturating_sub(elements);
        (
            Cost::compute(again, body.ns, body.flops, body.reads, size),
            Cost::store(elements, points, size),
        )
    }
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

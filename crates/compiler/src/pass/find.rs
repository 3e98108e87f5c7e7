//! Questions about what a kept node's inlined body holds.

use super::contexts::argument;
use super::hash::Set;
use super::schedule::Why;
use aplomb_values::dag::{Dag, NodeId, Read};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The kept nodes that the body of `at` reads, each with whether every read of it is at the body's
/// own point.
pub fn kept_reads(dag: &Dag, keep: &BTreeMap<NodeId, Why>, at: NodeId) -> Vec<(NodeId, bool)> {
    let extents = dag.domain(at);
    let mut found: BTreeMap<NodeId, bool> = BTreeMap::new();
    let mut seen: Set<(NodeId, Rc<Read>)> = Set::default();
    let mut stack = vec![(at, Rc::new(Read::identity(extents.len())), true)];
    while let Some((node, read, first)) = stack.pop() {
        if !first && keep.contains_key(&node) {
            let own = read.is_identity() && dag.shape(node) == extents;
            found.entry(node).and_modify(|all| *all &= own).or_insert(own);
            continue;
        }
        if !seen.insert((node, read.clone())) {
            continue;
        }
        for (k, a) in dag.node(node).inputs().iter().enumerate() {
            let (read, _) = argument(dag, node, k, &read, extents);
            stack.push((*a, read, false));
        }
    }
    found.into_iter().collect()
}

/// The arrays that the body of `at` loads, each with its read, at the points of the loop; scalars
/// not.
pub fn loads(dag: &Dag, keep: &BTreeMap<NodeId, Why>, at: NodeId) -> Vec<(NodeId, Read)> {
    let extents = dag.domain(at);
    let mut found = Vec::new();
    let mut seen: Set<(NodeId, Rc<Read>)> = Set::default();
    let mut stack = vec![(at, Rc::new(Read::identity(extents.len())), true)];
    while let Some((node, read, first)) = stack.pop() {
        if !seen.insert((node, read.clone())) {
            continue;
        }
        if !first && keep.contains_key(&node) || dag.node(node).is_input() {
            if !dag.shape(node).is_empty() {
                found.push((node, (*read).clone()));
            }
            continue;
        }
        for k in (0..dag.node(node).inputs().len()).rev() {
            stack.push((
                dag.node(node).inputs()[k],
                argument(dag, node, k, &read, extents).0,
                false,
            ));
        }
    }
    found
}

/// What one evaluation of a node costs when its operands are computed with it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Body {
    pub ns: f64,
    pub flops: u64,
    /// Buffers read.
    pub reads: u64,
    /// One cheap operation on one read of a buffer, the rest scalars (LOWERING §7).
    pub is_light: bool,
}

/// Slower operations are not cheap.
const CHEAP_NS: f64 = 0.25;

/// A body is looked at up to so many nodes: what is that large is dear already.
const LARGE: usize = 256;

pub fn body(dag: &Dag, keep: &BTreeMap<NodeId, Why>, at: NodeId) -> Body {
    let mut sum = Body::default();
    // A buffer that two transforms read is read twice.
    let room = LARGE.min(at.index() + 1);
    let mut seen: Set<(NodeId, Option<NodeId>)> =
        Set::with_capacity_and_hasher(room, Default::default());
    seen.insert((at, None));
    let mut counted: Set<NodeId> = Set::with_capacity_and_hasher(room, Default::default());
    let mut stack = vec![(at, None)];
    let mut operations = 0;
    while let Some((node, via)) = stack.pop() {
        let is_buffer = node != at && keep.contains_key(&node) || dag.node(node).is_input();
        if is_buffer {
            sum.reads += u64::from(!dag.shape(node).is_empty());
            continue;
        }
        // A scalar is computed once, not at every point.
        if dag.shape(node).is_empty() && node != at {
            continue;
        }
        let is_move = dag.node(node).read().is_some();
        if counted.insert(node) {
            let own = dag.node(node).cost();
            sum.ns += own.ns;
            sum.flops += own.flops;
            operations += usize::from(!is_move);
        }
        let via = if is_move { Some(node) } else { via };
        for a in dag.node(node).inputs() {
            if seen.len() < LARGE && seen.insert((*a, via)) {
                stack.push((*a, via));
            }
        }
    }
    sum.is_light = operations == 1 && sum.reads == 1 && sum.ns <= CHEAP_NS;
    sum
}

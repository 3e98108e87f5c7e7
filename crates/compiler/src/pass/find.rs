//! Questions about what a kept node's inlined body holds.

use super::contexts::argument;
use super::hash::Set;
use super::schedule::legal;
use super::schedule::{Keep, Why};
use aplomb_plans::plan::product;
use aplomb_values::dag::{Dag, NodeId, Read};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The kept nodes that the body of `at` reads, each with whether every read of it is at the body's
/// own point.
pub fn kept_reads(dag: &Dag, keep: &Keep, at: NodeId) -> Vec<(NodeId, bool)> {
    body_reads(dag, keep, at, usize::MAX).0
}

/// Reads of one node in one body, above which it is kept whatever else is decided: no launch may
/// have it in so many places. Else a chain that reads itself several times at each step would have
/// places without end before a user of it is judged.
pub const CROWDED: usize = 4 * legal::PLACES;
/// Steps of a read, above which what it reads is kept for the same reason.
const HEAVY: usize = 2 * Read::HEAVIEST;

/// The kept nodes that a body reads, and the nodes that it reads in more than `most` places. Users
/// first, so that all reads of a node are known when it is looked at, and none is looked through
/// more than `most` times.
pub fn body_reads(dag: &Dag, keep: &Keep, at: NodeId, most: usize) -> (Vec<(NodeId, bool)>, Keep) {
    let extents = dag.domain(at);
    let (mut found, mut crowded) = (Vec::new(), Keep::new());
    let own = Rc::new(Read::identity(extents.len()));
    let mut waiting: BTreeMap<NodeId, Reads> = BTreeMap::from([(at, smallvec![own])]);
    while let Some((node, mut reads)) = waiting.pop_last() {
        if node != at && keep.contains_key(&node) {
            let own = dag.shape(node) == extents && reads.iter().all(|r| r.is_identity());
            found.push((node, own));
            continue;
        }
        make_distinct(&mut reads);
        let inputs = dag.node(node).inputs();
        if !inputs.is_empty() && !dag.shape(node).is_empty() && most < usize::MAX {
            let heaviest = reads.iter().map(|r| r.weight()).max().unwrap_or(0);
            let why = match () {
                () if reads.len() > most => Some(Why::Places(reads.len())),
                () if heaviest > HEAVY => Some(Why::Steps(heaviest)),
                () => None,
            };
            if let Some(why) = why {
                crowded.insert(node, why);
                continue;
            }
        }
        for (k, a) in inputs.iter().enumerate() {
            let theirs = waiting.entry(*a).or_default();
            theirs.extend(reads.iter().map(|read| argument(dag, node, k, read, extents).0));
        }
    }
    found.reverse();
    (found, crowded)
}

/// The reads of one node, mostly one.
type Reads = SmallVec<[Rc<Read>; 2]>;

/// Each read once.
fn make_distinct(reads: &mut Reads) {
    if reads.len() > 1 {
        let mut seen: Set<Rc<Read>> = Set::default();
        reads.retain(|read| seen.insert(read.clone()));
    }
}

/// The arrays that the body of `at` loads, each with its read, at the points of the loop; scalars
/// not.
pub fn loads(dag: &Dag, keep: &Keep, at: NodeId) -> Vec<(NodeId, Read)> {
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

/// The cost of one evaluation of a node whose operands are computed with it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Body {
    pub ns: f64,
    pub flops: u64,
    /// Buffers read.
    pub reads: u64,
    /// Bytes of them that a launch of all elements reads from memory.
    pub bytes: u64,
    /// One cheap operation on one read of a buffer, or on its place, the rest scalars.
    pub is_light: bool,
    /// No more than two of either.
    pub is_small: bool,
}

/// Slower operations are not cheap.
const CHEAP_NS: f64 = 0.25;

/// A body is looked at up to so many nodes: what is that large is dear already.
const LARGE: usize = 256;

pub fn body(dag: &Dag, keep: &Keep, at: NodeId) -> Body {
    let mut sum = Body::default();
    // A buffer that two transforms read is read twice.
    let room = LARGE.min(at.index() + 1);
    let mut seen: Set<(NodeId, Option<NodeId>)> =
        Set::with_capacity_and_hasher(room, Default::default());
    seen.insert((at, None));
    let mut counted: Set<NodeId> = Set::with_capacity_and_hasher(room, Default::default());
    // What two transforms read lies in memory once.
    let mut met: Set<NodeId> = Set::default();
    let mut stack = vec![(at, None)];
    let mut operations = 0;
    let points = product(dag.domain(at));
    while let Some((node, via)) = stack.pop() {
        let is_buffer = node != at && keep.contains_key(&node) || dag.node(node).is_input();
        if is_buffer {
            sum.reads += u64::from(!dag.shape(node).is_empty());
            if !dag.shape(node).is_empty() && met.insert(node) {
                let (n, size) = (dag.elements(node).min(points), dag.dtype(node).size() as u64);
                sum.bytes = sum.bytes.saturating_add(n.saturating_mul(size));
            }
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
    // A place is a node, too, and no read.
    let one = operations == 1 && sum.reads == 1 || operations <= 2 && sum.reads == 0;
    sum.is_light = one && sum.ns <= CHEAP_NS;
    sum.is_small = operations <= 2 && sum.reads <= 2 && sum.ns <= 2.0 * CHEAP_NS;
    sum
}

//! The order of launches: by stages, unless another one holds less memory at once.
//!
//! Rows: ACL-36, ACL-41. A buffer is there from the launch that writes it to the last one that
//! reads it. By stages a hundred chains of launches have a hundred arrays alive; one chain after
//! the other has one. So the next launch is the one after which least is alive, of those that have
//! all they read. Of equals it is the one that comes first where chains are followed from the
//! results back, the part of the most memory first (Sethi and Ullman 1970, for trees). In: launches
//! by stages, and what their nodes read. Out: the same, in an order that keeps to that.

use super::{Group, Keep, Why};
use crate::pass::hash::Map;
use aplomb_values::dag::{Dag, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// Launches change places where that holds so many tenths of the memory at most.
const TENTHS: u64 = 9;

/// The kept nodes that the body of each kept node reads.
pub type Reads = BTreeMap<NodeId, Vec<NodeId>>;

/// Launches that are in order by stages, in the order in which they run.
pub fn ordered(dag: &Dag, keep: &Keep, groups: Vec<Group>, reads: &Reads) -> Vec<Group> {
    if groups.len() < 3 {
        return groups;
    }
    let flow = Flow::new(dag, keep, &groups, reads);
    let stages: Vec<usize> = (0..groups.len()).collect();
    let order = flow.by_memory();
    // Launches that read each other in a ring are left to the verifier.
    let all = order.len() == groups.len();
    if !all || flow.most(&order) > flow.most(&stages) / 10 * TENTHS {
        return groups;
    }
    let mut all: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
    order.into_iter().filter_map(|k| all[k].take()).collect()
}

/// A buffer: the launch that writes it, and those that read it.
struct Held {
    bytes: u64,
    writer: usize,
    readers: Vec<usize>,
    /// Somebody wants it in the end.
    stays: bool,
}

/// Buffers between launches: who writes them, who reads them.
struct Flow {
    buffers: Vec<Held>,
    /// By launch, the buffers that it writes and that it reads.
    writes: Vec<Vec<usize>>,
    reads: Vec<Vec<usize>>,
}

impl Flow {
    fn new(dag: &Dag, keep: &Keep, groups: &[Group], reads: &Reads) -> Flow {
        let nodes = |(k, g): (usize, &Group)| g.nodes().into_iter().map(move |at| (at, k));
        let home: Map<NodeId, usize> = groups.iter().enumerate().flat_map(nodes).collect();
        let mut readers: BTreeMap<NodeId, BTreeSet<usize>> = BTreeMap::new();
        let at_home = |(at, read)| home.get(at).map(|own| (own, read));
        for (own, read) in reads.iter().filter_map(at_home) {
            for src in read.iter().filter(|src| home.get(*src) != Some(own)) {
                readers.entry(*src).or_default().insert(*own);
            }
        }
        let mut flow = Flow {
            buffers: Vec::new(),
            writes: groups.iter().map(|_| Vec::new()).collect(),
            reads: groups.iter().map(|_| Vec::new()).collect(),
        };
        let written = keep.iter().filter_map(|(at, why)| Some((at, why, *home.get(at)?)));
        for (at, why, writer) in written {
            let readers: Vec<usize> = readers.remove(at).into_iter().flatten().collect();
            // A fold that only its own launch reads has no buffer.
            if *why == Why::Consumer && readers.is_empty() {
                continue;
            }
            let k = flow.buffers.len();
            flow.writes[writer].push(k);
            readers.iter().for_each(|r| flow.reads[*r].push(k));
            let bytes = dag.elements(*at).saturating_mul(dag.dtype(*at).size() as u64);
            let stays = *why == Why::Root || readers.is_empty();
            flow.buffers.push(Held { bytes, writer, readers, stays });
        }
        flow
    }

    fn sum(&self, buffers: &[usize]) -> u64 {
        buffers.iter().fold(0, |sum, k| sum.saturating_add(self.buffers[*k].bytes))
    }

    /// The most bytes that are there at once.
    fn most(&self, order: &[usize]) -> u64 {
        let mut left: Vec<usize> = self.buffers.iter().map(|b| b.readers.len()).collect();
        let (mut now, mut most) = (0u64, 0);
        for &k in order {
            now = now.saturating_add(self.sum(&self.writes[k]));
            most = most.max(now);
            for &b in &self.reads[k] {
                left[b] -= 1;
                if left[b] == 0 && !self.buffers[b].stays {
                    now = now.saturating_sub(self.buffers[b].bytes);
                }
            }
        }
        most
    }

    /// The place of each launch when chains are followed from the results back.
    fn places(&self) -> Vec<usize> {
        let count = self.writes.len();
        // The memory that the way to each launch's results takes, as if nothing were shared.
        let (mut need, mut below): (Vec<u64>, Vec<Vec<usize>>) = Default::default();
        for k in 0..count {
            let mut parts: Vec<usize> =
                self.reads[k].iter().map(|b| self.buffers[*b].writer).filter(|w| *w < k).collect();
            parts.sort_unstable();
            parts.dedup();
            let rests = |k: &usize| need[*k].saturating_sub(self.sum(&self.writes[*k]));
            parts.sort_by_key(|k| std::cmp::Reverse(rests(k)));
            let (mut held, mut most) = (0u64, 0u64);
            for part in &parts {
                most = most.max(held.saturating_add(need[*part]));
                held = held.saturating_add(self.sum(&self.writes[*part]));
            }
            need.push(most.max(held.saturating_add(self.sum(&self.writes[k]))));
            below.push(parts);
        }
        let mut place: Vec<usize> = (0..count).map(|_| usize::MAX).collect();
        let mut next = 0;
        for last in 0..count {
            let is_result = self.writes[last].iter().any(|b| self.buffers[*b].stays);
            let mut way = if is_result { vec![(last, 0)] } else { Vec::new() };
            while let Some((k, part)) = way.pop() {
                match below[k].get(part) {
                    _ if place[k] < usize::MAX => (),
                    Some(&first) => way.extend([(k, part + 1), (first, 0)]),
                    None => {
                        place[k] = next;
                        next += 1;
                    }
                }
            }
        }
        place
    }

    /// Launches one by one: of those that have all they read, the one after which least is alive.
    fn by_memory(&self) -> Vec<usize> {
        let place = self.places();
        let mut left: Vec<usize> = self.buffers.iter().map(|b| b.readers.len()).collect();
        let mut waits: Vec<usize> = self.reads.iter().map(Vec::len).collect();
        let key = |k: usize, left: &[usize]| {
            let ends = |b: &&usize| left[**b] == 1 && !self.buffers[**b].stays;
            let freed = self.reads[k].iter().filter(ends).map(|b| self.buffers[*b].bytes);
            let freed = freed.fold(0u64, u64::saturating_add);
            (i128::from(self.sum(&self.writes[k])) - i128::from(freed), place[k], k)
        };
        let mut ready: BTreeSet<(i128, usize, usize)> =
            (0..waits.len()).filter(|k| waits[*k] == 0).map(|k| key(k, &left)).collect();
        let mut order = Vec::new();
        let mut done: Vec<bool> = waits.iter().map(|_| false).collect();
        while let Some((_, _, k)) = ready.pop_first() {
            order.push(k);
            done[k] = true;
            for &b in &self.reads[k] {
                let mut others = self.buffers[b].readers.iter().filter(|r| !done[**r]);
                // The last reader will free it.
                let last = (left[b] == 2).then(|| others.next()).flatten();
                let was = last.map(|r| key(*r, &left));
                left[b] -= 1;
                if let (Some(r), Some(was)) = (last, was)
                    && ready.remove(&was)
                {
                    ready.insert(key(*r, &left));
                }
            }
            for &b in &self.writes[k] {
                for &r in &self.buffers[b].readers {
                    waits[r] -= 1;
                    if waits[r] == 0 {
                        ready.insert(key(r, &left));
                    }
                }
            }
        }
        order
    }
}

//! The resources that a launch of some nodes needs of a device, and whether they are within limits.
//!
//! Rows: ACL-33, ACL-34. Registers are counted by the exact allocation in the order in which the
//! text will have its steps, as the last step of 2006 does: a value takes its place at its
//! definition and gives it back after its last use.

use super::hash::{Map, Set};
use super::schedule::Why;
use aplomb_ground::limits::LaunchLimits;
use aplomb_values::dag::{Dag, NodeId, Role};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// A value is a double: two registers. Indices and addresses take some too.
pub const OWN_REGISTERS: usize = 16;
const REGISTERS: usize = 2;
/// Bytes of a number or an address among the parameters.
pub const WORD: usize = 8;

/// Registers where so many values are alive.
pub fn registers(alive: usize) -> usize {
    OWN_REGISTERS + REGISTERS * alive
}

/// A resource, how much is needed and how much there is.
pub type Over = (&'static str, u64, u64);

/// The resources that do not grow with the order of steps.
#[derive(Clone, Debug, Default)]
pub struct Need {
    /// Arrays read.
    pub inputs: BTreeSet<NodeId>,
    /// Steps of the text.
    pub code: usize,
    /// Bytes.
    pub parameters: usize,
}

impl Need {
    /// The resources that a node computed in place adds, its operands left out.
    pub fn of_step(dag: &Dag, at: NodeId) -> Need {
        let mut need = Need::default();
        need.step(dag, at);
        need
    }

    fn step(&mut self, dag: &Dag, at: NodeId) {
        let node = dag.node(at);
        let is_param = node.param().is_some();
        let own = usize::from(is_param || node.role() == Role::Index);
        let words = node.read().map_or(own, |read| read.tests.len());
        let inner = node.rounds().map_or(0, |r| r.work().count());
        self.code += usize::from(!is_param) + inner;
        self.parameters += words * WORD;
    }

    /// The resources that a node read from memory adds: an address, extents and strides.
    pub fn of_load(dag: &Dag, at: NodeId) -> Need {
        let mut need = Need::default();
        need.load(dag, at);
        need
    }

    fn load(&mut self, dag: &Dag, at: NodeId) {
        let rank = dag.shape(at).len();
        if rank > 0 {
            self.inputs.insert(at);
        }
        self.code += 1;
        self.parameters += WORD * (1 + 2 * rank);
    }

    pub fn take(&mut self, other: &Need) {
        self.inputs.extend(&other.inputs);
        self.code += other.code;
        self.parameters += other.parameters;
    }

    /// The resource that is short when operands are still to come that will be loads at best.
    pub fn over(&self, limits: &LaunchLimits, waiting: &Need) -> Option<Over> {
        let all = [
            ("inputs", self.inputs.len() + waiting.inputs.len(), limits.inputs),
            ("code", self.code + waiting.code, limits.code),
            ("parameters", self.parameters + waiting.parameters, limits.parameters),
        ];
        all.into_iter()
            .find(|(_, need, have)| need > have)
            .map(|(name, need, have)| (name, need as u64, have as u64))
    }
}

/// Whether what computes these kept nodes together reads a node from memory.
pub fn is_read(dag: &Dag, keep: &BTreeMap<NodeId, Why>, at: NodeId) -> bool {
    keep.contains_key(&at) || dag.node(at).is_input()
}

/// The resource that one launch of all these kept nodes is short of.
pub fn over(
    dag: &Dag,
    keep: &BTreeMap<NodeId, Why>,
    nodes: &[NodeId],
    limits: &LaunchLimits,
) -> Option<Over> {
    let (need, inside) = whole(dag, keep, nodes);
    need.over(limits, &Need::default()).or_else(|| {
        let need = registers(Alive::crowded(dag, keep, nodes, inside, limits)?.most());
        (need > limits.registers).then_some(("registers", need as u64, limits.registers as u64))
    })
}

/// The need of these kept nodes together, and every node of their bodies, loads too, in post-order.
pub fn whole(dag: &Dag, keep: &BTreeMap<NodeId, Why>, nodes: &[NodeId]) -> (Need, Vec<NodeId>) {
    let mut need = Need { parameters: nodes.len() * WORD, ..Need::default() };
    let mut seen: Set<NodeId> = nodes.iter().copied().collect();
    let mut stack: Vec<NodeId> = nodes.to_vec();
    while let Some(at) = stack.pop() {
        if is_read(dag, keep, at) && !nodes.contains(&at) {
            need.load(dag, at);
            continue;
        }
        need.step(dag, at);
        stack.extend(dag.node(at).inputs().iter().filter(|a| seen.insert(**a)));
    }
    let mut inside: Vec<NodeId> =
        seen.into_iter().filter(|at| dag.node(*at).param().is_none()).collect();
    inside.sort();
    (need, inside)
}

/// Sethi and Ullman's numbers (1970) of nodes in the order of their ids, as if nothing were shared:
/// a leaf takes one, the operand that takes most goes first.
pub fn waiting(
    dag: &Dag,
    keep: &BTreeMap<NodeId, Why>,
    of: impl Iterator<Item = NodeId>,
) -> Vec<u32> {
    let mut need: Vec<u32> = vec![0; dag.len()];
    for at in of {
        let mut below: Vec<u32> = dag
            .node(at)
            .inputs()
            .iter()
            .map(|a| if keep.contains_key(a) { 1 } else { need[a.index()] })
            .collect();
        below.sort_by_key(|n| std::cmp::Reverse(*n));
        let most = below.iter().enumerate().map(|(k, n)| n + k as u32 * u32::from(*n > 0)).max();
        let is_scalar = dag.node(at).param().is_some();
        need[at.index()] = if is_scalar { 0 } else { most.unwrap_or(1).max(1) };
    }
    need
}

/// The nodes of some bodies, `inside`, in the order in which a text has their steps: operands
/// first, of these what needs most values.
fn in_order(
    dag: &Dag,
    keep: &BTreeMap<NodeId, Why>,
    nodes: &[NodeId],
    inside: &[NodeId],
) -> Vec<NodeId> {
    let needs = waiting(dag, keep, inside.iter().copied());
    let mut left: Set<NodeId> = inside.iter().copied().collect();
    let mut out = Vec::new();
    let mut stack: Vec<(NodeId, bool)> = nodes.iter().rev().map(|at| (*at, false)).collect();
    while let Some((at, ready)) = stack.pop() {
        if ready {
            out.push(at);
            continue;
        }
        if !left.remove(&at) {
            continue;
        }
        stack.push((at, true));
        if is_read(dag, keep, at) && !nodes.contains(&at) {
            continue;
        }
        let mut below: SmallVec<[NodeId; 4]> = dag.node(at).inputs().iter().copied().collect();
        below.sort_by_key(|a| std::cmp::Reverse(needs[a.index()]));
        stack.extend(below.into_iter().rev().map(|a| (a, false)));
    }
    out
}

/// Values in the order of their definitions, and where each is used.
pub struct Alive {
    pub order: Vec<NodeId>,
    /// By place in `order`: the places that use it, ascending.
    pub uses: Vec<Vec<usize>>,
    /// Values that a step has beside its result, while it runs.
    inner: Vec<usize>,
}

impl Alive {
    /// The values of a launch of `nodes` with these bodies. None: registers hold all there are,
    /// however many are alive.
    pub fn crowded(
        dag: &Dag,
        keep: &BTreeMap<NodeId, Why>,
        nodes: &[NodeId],
        inside: Vec<NodeId>,
        limits: &LaunchLimits,
    ) -> Option<Alive> {
        if registers(inside.len()) <= limits.registers {
            return None;
        }
        let inside = in_order(dag, keep, nodes, &inside);
        let place: Map<NodeId, usize> = inside.iter().enumerate().map(|(k, at)| (*at, k)).collect();
        let mut uses = vec![Vec::new(); inside.len()];
        for (k, &at) in inside.iter().enumerate() {
            if is_read(dag, keep, at) && !nodes.contains(&at) {
                continue;
            }
            let mut args: Vec<usize> =
                dag.node(at).inputs().iter().filter_map(|a| place.get(a).copied()).collect();
            args.sort();
            args.dedup();
            args.into_iter().for_each(|a| uses[a].push(k));
        }
        let inner = inside
            .iter()
            .map(|at| dag.node(*at).rounds().map_or(0, |r| 2 * r.next.len()))
            .collect();
        Some(Alive { order: inside, uses, inner })
    }

    /// The number of values that are alive at once, at most.
    pub fn most(&self) -> usize {
        let mut most = 0;
        self.walk(|_, alive, inner| {
            most = most.max(alive.len() + inner);
        });
        most
    }

    /// Calls `each` at every definition with what is alive there; what it takes out is no longer
    /// alive.
    pub fn walk(&self, mut each: impl FnMut(usize, &mut BTreeSet<usize>, usize)) {
        let mut alive: BTreeSet<usize> = BTreeSet::new();
        let mut ends: Vec<Vec<usize>> = vec![Vec::new(); self.order.len()];
        for (k, uses) in self.uses.iter().enumerate() {
            // What nobody uses ends where it is made.
            ends[uses.last().copied().unwrap_or(k)].push(k);
        }
        for (k, ends) in ends.iter().enumerate() {
            alive.insert(k);
            each(k, &mut alive, self.inner[k]);
            for gone in ends {
                alive.remove(gone);
            }
        }
    }
}

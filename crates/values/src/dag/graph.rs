//! The recorded graph: an append-only arena.

use super::cell::Meta;
use super::facts::Known;
use super::kinds::{Node, Scalar};
use crate::array::DType;
use crate::prim::op::Fails;
use std::cell::RefCell;
use std::rc::Rc;

/// Only `Dag::add` makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// The place among the graph's nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node's facts. `site` orders value errors: the smaller one was written to run earlier.
#[derive(Clone, Debug)]
pub struct Info {
    /// Shape, type, interval and place in the source.
    pub meta: Meta,
    /// The place in the order of evaluation, for errors.
    pub site: u32,
    /// The variable that first held the value.
    pub name: Option<Rc<str>>,
    /// Its shape was asked for while it was pending.
    pub asked: bool,
    /// The nodes this one replaced.
    pub from: Vec<NodeId>,
    /// The place in `PIPELINE` of the pass that made it.
    pub born: usize,
}

/// The graph of one evaluation: nodes, each behind its operands, with their facts.
#[derive(Clone, Debug, Default)]
pub struct Dag {
    nodes: Vec<Node<NodeId>>,
    infos: Vec<Info>,
    fails: Vec<Fails>,
    assumptions: RefCell<Vec<Assumption>>,
}

/// A question about a scalar's value, and the answer: a plan made after it holds only where the
/// answer is the same.
#[derive(Clone, Copy, Debug)]
pub enum Assumption {
    /// Whether it is this number.
    Is(NodeId, f64, bool),
    /// The number that it is.
    Number(NodeId, f64),
}

impl Assumption {
    /// The scalar that was asked about.
    pub fn at(self) -> NodeId {
        match self {
            Assumption::Is(at, ..) | Assumption::Number(at, _) => at,
        }
    }

    /// Whether another graph of the same form gives the same answer.
    pub fn holds(self, dag: &Dag) -> bool {
        match self {
            Assumption::Is(at, x, answer) => dag.holds(at, x) == answer,
            Assumption::Number(at, x) => dag.holds(at, x),
        }
    }
}

impl Dag {
    /// A new node behind all others; its operands are there already.
    pub fn add(&mut self, node: Node<NodeId>, info: Info) -> NodeId {
        debug_assert!(node.inputs().iter().all(|a| a.index() < self.nodes.len()));
        // A look at a number that needs no note: a known plan is known by the answer.
        let nonzero = |a: NodeId| matches!(self.scalar(a), Some(Scalar::Num(x)) if x != 0.0);
        let fails = node.facts().fails(&info.meta, &|&a| Known {
            dtype: self.dtype(a),
            nonzero: nonzero(a),
            range: self.infos[a.index()].meta.range,
        });
        self.nodes.push(node);
        self.infos.push(info);
        self.fails.push(fails);
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// The number of nodes, dead ones among them.
    #[inline]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All nodes, operands before their users.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The operation of a node and its operands.
    #[inline]
    pub fn node(&self, at: NodeId) -> &Node<NodeId> {
        &self.nodes[at.index()]
    }

    /// The facts of a node.
    #[inline]
    pub fn info(&self, at: NodeId) -> &Info {
        &self.infos[at.index()]
    }

    /// The facts of a node, to be changed.
    pub fn info_mut(&mut self, at: NodeId) -> &mut Info {
        &mut self.infos[at.index()]
    }

    /// The extents of a node's axes.
    #[inline]
    pub fn shape(&self, at: NodeId) -> &[usize] {
        &self.infos[at.index()].meta.shape
    }

    /// The element type of a node.
    #[inline]
    pub fn dtype(&self, at: NodeId) -> DType {
        self.infos[at.index()].meta.dtype
    }

    /// The number of elements of a node; the greatest number where it overflows.
    #[inline]
    pub fn elements(&self, at: NodeId) -> u64 {
        self.shape(at).iter().fold(1u64, |n, &d| n.saturating_mul(d as u64))
    }

    /// The shape over which a node is computed: its own, or that of what it consumes.
    pub fn domain(&self, at: NodeId) -> &[usize] {
        self.node(at).consumes().map_or_else(|| self.shape(at), |(src, _)| self.shape(*src))
    }

    /// A scalar, looked at without a note.
    fn scalar(&self, at: NodeId) -> Option<Scalar> {
        self.node(at).param().map(|p| p.at_run_time())
    }

    fn holds(&self, at: NodeId, x: f64) -> bool {
        matches!(self.scalar(at), Some(Scalar::Num(c)) if c.to_bits() == x.to_bits())
    }

    /// Whether a node is a scalar number of the graph. It asks no value, so that it needs no note.
    pub fn is_number(&self, at: NodeId) -> bool {
        self.node(at).param().is_some_and(|p| p.is_number())
    }

    /// When a node can fail.
    pub fn fails(&self, at: NodeId) -> Fails {
        self.fails[at.index()]
    }

    /// Whether some values have no result, so that the node is evaluated on its whole domain (E1).
    pub fn fails_hard(&self, at: NodeId) -> bool {
        self.fails(at) == Fails::Hard
    }

    /// Whether it is this number. Passes learn of scalars by this and `number` alone: the plan
    /// cache must know.
    pub fn is_const(&self, at: NodeId, x: f64) -> bool {
        let answer = self.holds(at, x);
        if self.is_number(at) {
            self.assumptions.borrow_mut().push(Assumption::Is(at, x, answer));
        }
        answer
    }

    /// The number at a constant. Whoever asks fixes it for the plan.
    pub fn number(&self, at: NodeId) -> Option<f64> {
        let Some(Scalar::Num(x)) = self.scalar(at) else { return None };
        self.assumptions.borrow_mut().push(Assumption::Number(at, x));
        Some(x)
    }

    /// A number that the text of a graph tells of a node, such as an axis.
    pub(super) fn literal(&self, at: NodeId) -> Option<f64> {
        if let Some(Scalar::Num(x)) = self.scalar(at) { Some(x) } else { None }
    }

    /// All that was asked about scalars.
    pub fn assumptions(&self) -> Vec<Assumption> {
        self.assumptions.borrow().clone()
    }

    /// The nodes that the roots reach, as a mask by id.
    pub fn live(&self, roots: &[NodeId]) -> Vec<bool> {
        let mut live = vec![false; self.len()];
        roots.iter().for_each(|r| live[r.index()] = true);
        for at in self.ids().rev() {
            if live[at.index()] {
                self.node(at).inputs().iter().for_each(|a| live[a.index()] = true);
            }
        }
        live
    }

    /// For each node the live edges into it, a root counting one.
    pub fn uses(&self, roots: &[NodeId]) -> Vec<u32> {
        let live = self.live(roots);
        let mut uses = vec![0; self.len()];
        roots.iter().for_each(|r| uses[r.index()] += 1);
        for at in self.ids().filter(|a| live[a.index()]) {
            self.node(at).inputs().iter().for_each(|a| uses[a.index()] += 1);
        }
        uses
    }
}

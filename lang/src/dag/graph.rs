//! The recorded graph: an append-only arena.

use super::cell::Meta;
use super::node::{Node, Scalar};
use crate::array::DType;
use std::rc::Rc;

/// Only `Dag::add` makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node's facts. `site` orders value errors: the smaller one was written to run earlier.
#[derive(Clone, Debug)]
pub struct Info {
    pub meta: Meta,
    pub site: u32,
    pub name: Option<Rc<str>>,
    /// The nodes this one replaced.
    pub from: Vec<NodeId>,
    /// The place in `PIPELINE` of the pass that made it.
    pub born: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Dag {
    nodes: Vec<Node<NodeId>>,
    infos: Vec<Info>,
}

impl Dag {
    pub fn add(&mut self, node: Node<NodeId>, info: Info) -> NodeId {
        debug_assert!(node.inputs().iter().all(|a| a.index() < self.nodes.len()));
        self.nodes.push(node);
        self.infos.push(info);
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    pub fn node(&self, at: NodeId) -> &Node<NodeId> {
        &self.nodes[at.index()]
    }

    pub fn info(&self, at: NodeId) -> &Info {
        &self.infos[at.index()]
    }

    pub fn info_mut(&mut self, at: NodeId) -> &mut Info {
        &mut self.infos[at.index()]
    }

    pub fn shape(&self, at: NodeId) -> &[usize] {
        &self.infos[at.index()].meta.shape
    }

    pub fn dtype(&self, at: NodeId) -> DType {
        self.infos[at.index()].meta.dtype
    }

    pub fn elements(&self, at: NodeId) -> u64 {
        self.shape(at).iter().fold(1u64, |n, &d| n.saturating_mul(d as u64))
    }

    pub fn is_const(&self, at: NodeId, x: f64) -> bool {
        matches!(self.node(at), Node::Const(Scalar::Num(c)) if c.to_bits() == x.to_bits())
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

//! Arrays one after another along an axis.

use super::{Args, InDag, Kind, Node, along, each, holds};
use crate::array::elements;
use crate::body::{Effort, PART};
use crate::dag::facts::Role;
use crate::dag::ix::Ix;
use crate::dag::{Dag, NodeId, Read, Test};
use crate::reference::Oracle;
use aplomb_ground::error::Result;
use std::hash::{Hash, Hasher};

/// The operands one behind the other along an axis; else their shapes agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Cat<A> {
    /// The axis.
    pub axis: u8,
    /// The parts, in order.
    pub args: Args<A>,
}

impl<A> Kind<A> for Cat<A> {
    fn name(&self) -> &'static str {
        "cat"
    }

    fn role(&self) -> Role {
        Role::Move
    }

    fn inputs(&self) -> &[A] {
        &self.args
    }

    fn with<B, E>(&self, to: impl FnMut(&A) -> Result<B, E>) -> Result<Node<B>, E> {
        Ok(Node::Cat(Cat { axis: self.axis, args: each(&self.args, to)? }))
    }

    fn cost(&self) -> Effort {
        PART.times(self.args.len() as u32)
    }

    fn joins(&self) -> bool {
        true
    }

    fn axis(&self) -> Option<u8> {
        Some(self.axis)
    }

    fn hash(&self, mut to: &mut dyn Hasher) {
        self.axis.hash(&mut to);
    }
}

impl InDag for Cat<NodeId> {
    fn check(&self, dag: &Dag, at: NodeId) -> Result<(), String> {
        let (axis, shape) = (self.axis as usize, dag.shape(at));
        let same = |a: &[usize]| (0..shape.len()).all(|k| k == axis || a[k] == shape[k]);
        let fits = |a: &NodeId| dag.shape(*a).len() == shape.len() && same(dag.shape(*a));
        holds(axis < shape.len() && !self.args.is_empty() && self.args.iter().all(fits), || {
            format!("a cat on axis {axis} of arrays that do not fit {shape:?}")
        })?;
        let sum: usize = self.args.iter().map(|a| dag.shape(*a)[axis]).sum();
        holds(sum == shape[axis], || format!("a cat of {sum} on an axis of {}", shape[axis]))
    }

    fn read_of(&self, dag: &Dag, at: NodeId, k: usize) -> Option<(Read, bool)> {
        let (axis, rank) = (self.axis as usize, dag.shape(at).len());
        let extent = |a: &NodeId| dag.shape(*a)[axis] as i64;
        let from: i64 = self.args[..k].iter().map(extent).sum();
        let n = extent(&self.args[k]);
        let mut read = Read::identity(rank);
        read.ix[axis] = Ix::axis(axis).offset(-from);
        if n < dag.shape(at)[axis] as i64 {
            read.tests.push(Test { ix: Ix::axis(axis), lo: from, hi: from + n, fill: 0.0 });
        }
        Some((read, true))
    }

    fn glyph(&self, dag: &Dag, at: NodeId) -> String {
        along(dag, at, self.axis, ",", "⍪")
    }

    fn word(&self, _dag: &Dag, _at: NodeId) -> String {
        format!("cat {}", self.axis)
    }

    fn value(&self, oracle: &mut Oracle) -> Result<Vec<f64>> {
        let axis = self.axis as usize;
        let mut out = Vec::with_capacity(oracle.len());
        for o in 0..elements(&oracle.shape()[..axis]) {
            for a in &self.args {
                let piece = elements(&oracle.dag.shape(*a)[axis..]);
                out.extend_from_slice(&oracle.items(*a)[o * piece..(o + 1) * piece]);
            }
        }
        Ok(out)
    }
}

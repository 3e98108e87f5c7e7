//! The fold of each prefix along an axis, by the blocks of `prim::scan`.

use super::{InDag, Kind, Node, along, holds};
use crate::body::Effort;
use crate::dag::facts::{Known, Role, operation_fails};
use crate::dag::{Dag, Meta, NodeId};
use crate::prim::op::{Fails, Op};
use crate::prim::scan;
use crate::reference::Oracle;
use aplomb_ground::error::Result;
use std::hash::{Hash, Hasher};

/// The folds of all prefixes of each line along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan<A> {
    /// The operation.
    pub op: Op,
    /// The axis.
    pub axis: u8,
    /// The array.
    pub src: A,
}

impl<A> Kind<A> for Scan<A> {
    fn name(&self) -> &'static str {
        "scan"
    }

    fn role(&self) -> Role {
        Role::Consumer
    }

    fn inputs(&self) -> &[A] {
        std::slice::from_ref(&self.src)
    }

    fn with<B, E>(&self, mut to: impl FnMut(&A) -> Result<B, E>) -> Result<Node<B>, E> {
        Ok(Node::Scan(Scan { op: self.op, axis: self.axis, src: to(&self.src)? }))
    }

    fn cost(&self) -> Effort {
        Effort::of(self.op)
    }

    fn fails(&self, own: &Meta, of: &dyn Fn(&A) -> Known) -> Fails {
        operation_fails(self.op, own.is_ranged(), std::iter::once(of(&self.src)))
    }

    fn operation(&self) -> Option<Op> {
        Some(self.op)
    }

    fn consumes(&self) -> Option<(&A, usize)> {
        Some((&self.src, self.axis as usize))
    }

    fn axis(&self) -> Option<u8> {
        Some(self.axis)
    }

    fn hash(&self, mut to: &mut dyn Hasher) {
        (self.op, self.axis).hash(&mut to);
    }
}

impl InDag for Scan<NodeId> {
    fn check(&self, dag: &Dag, at: NodeId) -> Result<(), String> {
        let (from, shape) = (dag.shape(self.src), dag.shape(at));
        holds(from == shape && (self.axis as usize) < shape.len(), || {
            format!("scans axis {} of {from:?} to {shape:?}", self.axis)
        })
    }

    fn glyph(&self, dag: &Dag, _at: NodeId) -> String {
        self.op.glyph() + &along(dag, self.src, self.axis, "\\", "⍀")
    }

    fn word(&self, _dag: &Dag, _at: NodeId) -> String {
        format!("scan-{} {}", self.op.name(), self.axis)
    }

    fn value(&self, oracle: &mut Oracle) -> Result<Vec<f64>> {
        let mut items = oracle.items(self.src).to_vec();
        scan::along(self.op, &mut items, oracle.shape(), self.axis as usize, &mut |index, fail| {
            oracle.note(index, fail);
        });
        Ok(items.into_iter().map(|x| oracle.rounded(x)).collect())
    }
}

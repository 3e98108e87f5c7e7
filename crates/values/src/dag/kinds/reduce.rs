//! A fold along an axis, right to left; by the fixed tree of `prim::reduce` where the operation is
//! associative.

use super::{InDag, Kind, Node, along, holds};
use crate::array::DType;
use crate::body::Effort;
use crate::dag::facts::{Known, Role, operation_fails};
use crate::dag::{Dag, Meta, NodeId};
use crate::prim::op::{Fails, OPS, Op};
use crate::prim::reduce;
use crate::reference::Oracle;
use aplomb_ground::error::{Result, bug};
use std::hash::{Hash, Hasher};

/// The fold of each line along an axis, in the order that `prim::reduce` states.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduce<A> {
    /// The operation.
    pub op: Op,
    /// The axis, which the result lacks.
    pub axis: u8,
    /// The array.
    pub src: A,
}

impl<A> Kind<A> for Reduce<A> {
    fn name(&self) -> &'static str {
        "reduce"
    }

    fn role(&self) -> Role {
        Role::Consumer
    }

    fn inputs(&self) -> &[A] {
        std::slice::from_ref(&self.src)
    }

    fn with<B, E>(&self, mut to: impl FnMut(&A) -> Result<B, E>) -> Result<Node<B>, E> {
        Ok(Node::Reduce(Reduce { op: self.op, axis: self.axis, src: to(&self.src)? }))
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

    fn demand(&self, wanted: f64, own: f64, below: f64) -> f64 {
        below * wanted / own.max(1.0)
    }

    fn axis(&self) -> Option<u8> {
        Some(self.axis)
    }

    fn hash(&self, mut to: &mut dyn Hasher) {
        (self.op, self.axis).hash(&mut to);
    }
}

impl Reduce<NodeId> {
    /// The sums of products that are not rounded before.
    fn sums_of_products(&self, oracle: &mut Oracle) -> Result<Vec<f64>> {
        let (dag, budget) = (oracle.dag, oracle.budget);
        let node = dag.node(self.src);
        let (&[x, y], Some(&n), Some(op)) =
            (node.inputs(), dag.shape(self.src).last(), node.facts().operation())
        else {
            return Err(bug!("a sum of products of two arrays along their last axis"));
        };
        let mut out = budget.room(oracle.len())?;
        for row in 0..oracle.len() {
            let own = |a: NodeId, k: usize| oracle.item(a, row * n + k);
            let sum = reduce::dot(op, |k| (own(x, k), own(y, k)), n, oracle.dtype());
            out.push(match sum {
                Ok(sum) => oracle.rounded(sum),
                Err((None, fail)) => oracle.note(row, fail),
                Err((Some(k), fail)) => oracle.note_of(self.src, row * n + k, fail),
            });
        }
        Ok(out)
    }
}

/// True of products that a sum takes unrounded.
fn is_unrounded(dag: &Dag, at: NodeId) -> bool {
    dag.node(at).facts().operation().is_some_and(Op::is_unrounded)
}

impl InDag for Reduce<NodeId> {
    fn check(&self, dag: &Dag, at: NodeId) -> Result<(), String> {
        let (axis, shape) = (self.axis as usize, dag.shape(at));
        let mut from = dag.shape(self.src).to_vec();
        holds(axis < from.len(), || format!("axis {axis} of {from:?}"))?;
        let dots = is_unrounded(dag, self.src);
        let sums = self.op == Op::Add && axis + 1 == from.len();
        holds(!dots || sums, || "products that no sum along the last axis takes".into())?;
        from.remove(axis);
        holds(from == shape, || format!("reduces to {shape:?}, not {from:?}"))
    }

    fn glyph(&self, dag: &Dag, _at: NodeId) -> String {
        self.op.glyph() + &along(dag, self.src, self.axis, "/", "⌿")
    }

    fn word(&self, _dag: &Dag, _at: NodeId) -> String {
        format!("reduce-{} {}", self.op.name(), self.axis)
    }

    fn read(dag: &mut Dag, word: &str, args: &[NodeId]) -> Option<NodeId> {
        let word = word.strip_prefix("reduce-")?;
        let op = OPS.iter().find(|r| r.name == word)?.op;
        let &[axis, src] = args else { return None };
        let axis = dag.literal(axis)? as usize;
        let mut meta = dag.info(src).meta.clone();
        meta.shape.remove(axis);
        (meta.dtype, meta.range) =
            if meta.dtype.is_integer() { (DType::I32, None) } else { (meta.dtype, None) };
        Some(dag.made(Node::Reduce(Reduce { op, axis: axis as u8, src }), meta))
    }

    fn value(&self, oracle: &mut Oracle) -> Result<Vec<f64>> {
        if is_unrounded(oracle.dag, self.src) {
            return self.sums_of_products(oracle);
        }
        let (items, from) = (oracle.items(self.src), oracle.dag.shape(self.src));
        Ok(match reduce::along(self.op, 0.0, items, from, self.axis as usize, oracle.dtype()) {
            Ok(items) => items.into_iter().map(|x| oracle.rounded(x)).collect(),
            Err((index, fail)) => {
                oracle.note(index, fail);
                vec![0.0; oracle.len()]
            }
        })
    }
}

//! A scalar operation, element by element.

use super::{Args, InDag, Kind, Node, conform, each, holds};
use crate::array::DType;
use crate::body::{Effort, ValueId, What};
use crate::dag::facts::{Known, Role, operation_fails};
use crate::dag::{Dag, Meta, NodeId};
use crate::prim::op::{Fails, OPS, Op};
use crate::prim::scalar;
use crate::reference::Oracle;
use aplomb_ground::error::Result;
use std::hash::{Hash, Hasher};

/// The arguments have the node's shape, or rank 0: scalar extension is no node.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<A> {
    /// The scalar operation.
    pub op: Op,
    /// 0 unless the operation is tolerant: see `Node::map`.
    pub ct: f64,
    /// The operands.
    pub args: Args<A>,
}

impl<A> Node<A> {
    /// A scalar operation; of ⎕CT it keeps what it uses.
    pub fn map(op: Op, ct: f64, args: impl IntoIterator<Item = A>) -> Node<A> {
        Node::Map(Map { op, ct: op.tolerance(ct), args: args.into_iter().collect() })
    }
}

impl<A> Kind<A> for Map<A> {
    fn name(&self) -> &'static str {
        "map"
    }

    fn role(&self) -> Role {
        Role::Elementwise
    }

    fn inputs(&self) -> &[A] {
        &self.args
    }

    fn with<B, E>(&self, to: impl FnMut(&A) -> Result<B, E>) -> Result<Node<B>, E> {
        Ok(Node::Map(Map { op: self.op, ct: self.ct, args: each(&self.args, to)? }))
    }

    fn cost(&self) -> Effort {
        Effort::of(self.op)
    }

    fn fails(&self, own: &Meta, of: &dyn Fn(&A) -> Known) -> Fails {
        operation_fails(self.op, own.is_ranged(), self.args.iter().map(of))
    }

    fn operation(&self) -> Option<Op> {
        Some(self.op)
    }

    fn step(&self, args: &[ValueId]) -> Option<What> {
        Some(What::op(self.op, self.ct, args.iter().copied()))
    }

    fn hash(&self, mut to: &mut dyn Hasher) {
        (self.op, self.ct.to_bits()).hash(&mut to);
    }
}

impl InDag for Map<NodeId> {
    fn check(&self, dag: &Dag, at: NodeId) -> Result<(), String> {
        let (op, shape) = (self.op, dag.shape(at));
        holds(self.args.len() == op.arity(), || {
            format!("{} has {} arguments", op.name(), self.args.len())
        })?;
        if let Some(a) = self.args.iter().find(|a| !conform(dag, at, &[**a])) {
            return Err(format!(
                "argument {} has shape {:?}, not {shape:?}",
                a.index(),
                dag.shape(*a)
            ));
        }
        let text = self.args.iter().any(|a| dag.dtype(*a) == DType::Char);
        holds(!text || op.takes_characters(), || format!("{} of characters", op.name()))
    }

    fn glyph(&self, _dag: &Dag, _at: NodeId) -> String {
        self.op.glyph()
    }

    fn word(&self, _dag: &Dag, _at: NodeId) -> String {
        self.op.name()
    }

    fn read(dag: &mut Dag, word: &str, args: &[NodeId]) -> Option<NodeId> {
        let op = OPS.iter().find(|r| r.name == word && r.arity as usize == args.len())?.op;
        let shape = args.iter().map(|a| dag.shape(*a)).max_by_key(|s| s.len())?;
        let shape = shape.into();
        let types: Vec<_> = args.iter().map(|a| (dag.dtype(*a), dag.info(*a).meta.range)).collect();
        let (dtype, range) = op.result(&types);
        let node = Node::map(op, 1e-14, args.iter().copied());
        Some(dag.made(node, Meta { shape, dtype, range, place: None }))
    }

    fn value(&self, oracle: &mut Oracle) -> Result<Vec<f64>> {
        let Map { op, ct, args } = self;
        let (n, budget) = (oracle.len(), oracle.budget);
        let element = |i| {
            let y = args.get(1).map_or(0.0, |b| oracle.item(*b, i));
            match scalar::eval_as(oracle.dtype(), *op, *ct, oracle.item(args[0], i), y) {
                Ok(x) => x,
                // It may be none of the sum's, which tells.
                Err(_) if op.is_unrounded() => 0.0,
                Err(fail) => oracle.note(i, fail),
            }
        };
        budget.each((0..n).map(element))
    }
}

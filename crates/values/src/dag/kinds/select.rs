//! A choice, element by element.

use super::{Args, InDag, Kind, Node, conform, each, holds};
use crate::body::{Effort, SELECT, ValueId, What};
use crate::dag::facts::Role;
use crate::dag::{Dag, Meta, NodeId};
use crate::reference::Oracle;
use aplomb_ground::error::Result;
use std::hash::Hasher;

/// The second argument where the first is not 0, else the third. All three have the node's shape or
/// rank 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Select<A> {
    /// The condition, the values where it is not 0, and those where it is.
    pub args: Args<A>,
}

impl<A> Kind<A> for Select<A> {
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
        Ok(Node::Select(Select { args: each(&self.args, to)? }))
    }

    fn cost(&self) -> Effort {
        SELECT
    }

    fn step(&self, args: &[ValueId]) -> Option<What> {
        let &[cond, yes, no] = args else { return None };
        Some(What::Select { cond, yes, no })
    }

    fn hash(&self, _to: &mut dyn Hasher) {}
}

impl InDag for Select<NodeId> {
    fn check(&self, dag: &Dag, at: NodeId) -> Result<(), String> {
        holds(self.args.len() == 3 && conform(dag, at, &self.args), || {
            "a select of other than three arrays of its shape".into()
        })
    }

    fn glyph(&self, _dag: &Dag, _at: NodeId) -> String {
        "?:".into()
    }

    fn word(&self, _dag: &Dag, _at: NodeId) -> String {
        "select".into()
    }

    fn read(dag: &mut Dag, word: &str, args: &[NodeId]) -> Option<NodeId> {
        let ("select", [_, yes, no]) = (word, args) else { return None };
        let shape = args.iter().map(|a| dag.shape(*a)).max_by_key(|s| s.len())?;
        let (yes, no) = (&dag.info(*yes).meta, &dag.info(*no).meta);
        let meta = Meta { shape: shape.into(), ..yes.clone() };
        let alike = yes.dtype == no.dtype;
        alike.then(|| {
            dag.made(Node::Select(Select { args: args.into() }), Meta { range: None, ..meta })
        })
    }

    fn value(&self, oracle: &mut Oracle) -> Result<Vec<f64>> {
        let [cond, yes, no] = [0, 1, 2].map(|k| self.args[k]);
        let choose = |i| oracle.item(if oracle.item(cond, i) != 0.0 { yes } else { no }, i);
        oracle.budget.each((0..oracle.len()).map(choose))
    }
}

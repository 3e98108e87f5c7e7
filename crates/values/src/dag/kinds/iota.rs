//! The index along axis 0 plus the origin.

use super::{InDag, Kind, Node, holds};
use crate::array::DType;
use crate::body::{Effort, INDEX};
use crate::dag::facts::Role;
use crate::dag::{Dag, Meta, NodeId};
use crate::reference::Oracle;
use aplomb_ground::error::Result;
use std::hash::{Hash, Hasher};

/// The whole numbers from `origin` on, a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iota {
    /// The first number (⎕IO).
    pub origin: f64,
}

impl<A> Kind<A> for Iota {
    fn name(&self) -> &'static str {
        "iota"
    }

    fn role(&self) -> Role {
        Role::Index
    }

    fn inputs(&self) -> &[A] {
        &[]
    }

    fn with<B, E>(&self, _to: impl FnMut(&A) -> Result<B, E>) -> Result<Node<B>, E> {
        Ok(Node::Iota(*self))
    }

    fn cost(&self) -> Effort {
        INDEX
    }

    fn counts_from(&self) -> Option<f64> {
        Some(self.origin)
    }

    fn hash(&self, mut to: &mut dyn Hasher) {
        self.origin.to_bits().hash(&mut to);
    }
}

impl InDag for Iota {
    fn check(&self, dag: &Dag, at: NodeId) -> Result<(), String> {
        holds(dag.shape(at).len() == 1, || "an iota has one axis".into())
    }

    fn glyph(&self, _dag: &Dag, _at: NodeId) -> String {
        "⍳".into()
    }

    fn word(&self, dag: &Dag, at: NodeId) -> String {
        format!("iota {}", dag.shape(at)[0])
    }

    /// `iota n`, from 1.
    fn read(dag: &mut Dag, word: &str, args: &[NodeId]) -> Option<NodeId> {
        let ("iota", [n]) = (word, args) else { return None };
        let n = dag.literal(*n)?;
        let dtype = DType::of_range(1.0, n)?;
        let meta = Meta {
            shape: [n as usize].as_slice().into(),
            dtype,
            range: Some((1.0, n)),
            place: None,
        };
        Some(dag.made(Node::Iota(Iota { origin: 1.0 }), meta))
    }

    fn value(&self, oracle: &mut Oracle) -> Result<Vec<f64>> {
        oracle.budget.each((0..oracle.len()).map(|i| i as f64 + self.origin))
    }
}

//! A selection by a mask.

use super::{Args, InDag, Kind, Node, along, each, holds};
use crate::array::around;
use crate::body::Effort;
use crate::dag::facts::Role;
use crate::dag::{Dag, NodeId};
use crate::reference::Oracle;
use aplomb_ground::error::Result;
use std::hash::{Hash, Hasher};

/// The cells of the second argument along an axis where the first, a mask over the whole of it, is
/// not 0. How many was known when it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Compact<A> {
    /// The axis along which cells are kept or left out.
    pub axis: u8,
    /// The mask, and the array.
    pub args: Args<A>,
}

impl<A> Kind<A> for Compact<A> {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn role(&self) -> Role {
        Role::Consumer
    }

    fn inputs(&self) -> &[A] {
        &self.args
    }

    fn with<B, E>(&self, to: impl FnMut(&A) -> Result<B, E>) -> Result<Node<B>, E> {
        Ok(Node::Compact(Compact { axis: self.axis, args: each(&self.args, to)? }))
    }

    fn cost(&self) -> Effort {
        Effort { ns: 0.5, flops: 0 }
    }

    fn consumes(&self) -> Option<(&A, usize)> {
        self.args.get(1).map(|src| (src, self.axis as usize))
    }

    fn held(&self) -> usize {
        1
    }

    fn axis(&self) -> Option<u8> {
        Some(self.axis)
    }

    fn hash(&self, mut to: &mut dyn Hasher) {
        self.axis.hash(&mut to);
    }
}

impl InDag for Compact<NodeId> {
    fn check(&self, dag: &Dag, at: NodeId) -> Result<(), String> {
        let (axis, shape) = (self.axis as usize, dag.shape(at));
        let [mask, src] = self.args.as_slice() else {
            return Err("a compact of other than two".into());
        };
        let from = dag.shape(*src);
        let same =
            from.len() == shape.len() && (0..from.len()).all(|k| k == axis || from[k] == shape[k]);
        let fits = same
            && axis < from.len()
            && dag.shape(*mask) == [from[axis]]
            && shape[axis] <= from[axis];
        holds(fits, || format!("a mask of {:?} over axis {axis} of {from:?}", dag.shape(*mask)))
    }

    fn glyph(&self, dag: &Dag, _at: NodeId) -> String {
        along(dag, self.args[1], self.axis, "/", "⌿")
    }

    fn word(&self, _dag: &Dag, _at: NodeId) -> String {
        format!("compact {}", self.axis)
    }

    fn value(&self, oracle: &mut Oracle) -> Result<Vec<f64>> {
        let [mask, src] = [0, 1].map(|k| self.args[k]);
        let (outer, extent, inner) = around(oracle.dag.shape(src), self.axis as usize);
        let (mask, items) = (oracle.items(mask), oracle.items(src));
        let kept = |o: usize| {
            (0..extent).filter(|k| mask[*k] != 0.0).map(move |k| (o * extent + k) * inner)
        };
        let cells = (0..outer).flat_map(kept).flat_map(|from| from..from + inner);
        Ok(cells.map(|at| items[at]).collect())
    }
}

//! The operation of a node, whatever its operands: nodes are alike that differ in these alone.
//!
//! Launches of the turns of a loop are alike, and so are the choices about their nodes.

use super::hash::Mix;
use aplomb_values::array::{DType, Shape};
use aplomb_values::dag::{Dag, NodeId};
use std::hash::Hasher;

/// A node but for its operands.
#[derive(PartialEq)]
pub struct Operation {
    name: &'static str,
    /// The hash of what tells it from others of its kind.
    hash: u64,
    shape: Shape,
    dtype: DType,
}

impl Operation {
    pub fn of(dag: &Dag, at: NodeId) -> Operation {
        let (facts, mut hash) = (dag.node(at).facts(), Mix::default());
        facts.hash(&mut hash);
        let (name, hash, shape) = (facts.name(), hash.finish(), dag.shape(at).into());
        Operation { name, hash, shape, dtype: dag.dtype(at) }
    }
}

//! The graph that the language hands over to be computed.

use super::{Dag, NodeId};
use crate::array::Array;
use aplomb_ground::span::Place;

/// One evaluation: a recorded graph, the arrays it starts from, the nodes whose values are wanted.
#[derive(Clone)]
pub struct Recorded {
    /// The graph.
    pub dag: Dag,
    /// The nodes whose values are wanted.
    pub roots: Vec<NodeId>,
    /// The number of roots that are nobody's, those before what `kept_ns` tells of: they were
    /// written before and may fail, and no effect is seen before they do.
    pub checked: usize,
    /// Of the last roots, that nobody asked for now: what computing each again would take, ns. They
    /// are stored because one evaluation after the other asks.
    pub kept_ns: Vec<f64>,
    /// The numbers of the cells that it was recorded from, in the order in which they were written;
    /// empty for a graph that no session recorded.
    pub written: Vec<u64>,
    /// `Node::Input(k)` is `inputs[k]`; each is dense.
    pub inputs: Vec<Array>,
    /// The need for the values: a display, a guard, an argument that fixes a shape.
    pub why: &'static str,
    /// The place in the source that needed the values.
    pub needed: Option<Place>,
}

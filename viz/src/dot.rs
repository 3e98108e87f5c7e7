//! DOT: the graph for Graphviz.

use crate::Graph;
use aplomb_lang::trace::Trace;

/// A pass: nodes, breaks as octagons, launches as clusters, a legend.
pub fn graph(_graph: &Graph) -> String {
    String::new()
}

/// One node a launch, one a buffer.
pub fn kernels(_trace: &Trace) -> String {
    String::new()
}

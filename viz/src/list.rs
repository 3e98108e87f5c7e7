//! The graph as a list: a line a node.

use crate::Graph;

/// Numbers, operations, operands, types, launches, names.
pub fn list(_graph: &Graph) -> String {
    String::new()
}

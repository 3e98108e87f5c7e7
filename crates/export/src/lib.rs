//! Functions as programs of other languages: their graphs, recorded at a few sizes, become one
//! text.
//!
//! Rows: BAR-09, BAR-10. `declared` reads what arguments are, `python` writes one graph, and `fit`
//! makes one text of those that graphs of several sizes gave.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod declared;
mod fit;
mod python;

pub use declared::{Argument, Declaration, Leaf};
pub use python::module;

use aplomb_values::dag::Recorded;
use std::rc::Rc;

/// A function that was applied to arguments without values: what it would compute.
pub struct Applied {
    /// The graph of its results.
    pub recorded: Rc<Recorded>,
    /// For each leaf of the arguments the number of its input; None: it is not used.
    pub leaves: Vec<Option<usize>>,
    /// For each result the root that it is.
    pub results: Vec<usize>,
    /// Whether the result is a vector of arrays and not one array.
    pub several: bool,
    /// The function as it is written.
    pub source: String,
}

/// A function to be written: a name, what it takes, and its graphs at the declaration's sizes.
pub struct Function {
    /// The name in APL.
    pub name: String,
    /// The arguments.
    pub takes: Declaration,
    /// The graphs, in the order of `Declaration::samples`.
    pub samples: Vec<Applied>,
}

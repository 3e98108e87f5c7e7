//! Functions as programs of other languages: their graphs or plans, recorded at a few sizes, become
//! one text.
//!
//! Rows: BAR-09, BAR-10, ACL-45. `declared` reads what arguments are, `python` writes one graph,
//! `c` and `cuda` one plan, and `fit` makes one text of those that several sizes gave.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod c;
mod cuda;
mod declared;
mod fit;
mod names;
mod python;

pub use c::{Files, c};
pub use cuda::{CudaFiles, cuda};
pub use declared::{Argument, Declaration, Leaf};
pub use python::module;

use aplomb_ground::trace::Trace;
use aplomb_plans::plan::{BufId, From, Plan};
use aplomb_values::array::{Array, DType};
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
pub struct Function<T = Applied> {
    /// The name in APL.
    pub name: String,
    /// The arguments.
    pub takes: Declaration,
    /// The graphs, in the order of `Declaration::samples`.
    pub samples: Vec<T>,
}

/// The origin of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given {
    /// A buffer of the plan.
    Buffer(BufId),
    /// The input of that number, as it came.
    Input(usize),
    /// A number.
    Number(f64),
}

impl Given {
    /// The type of its items.
    pub fn dtype(&self, of: &Planned) -> DType {
        match self {
            Given::Buffer(b) => of.plan.buffer(*b).dtype,
            Given::Input(k) => of.inputs[*k].dtype(),
            Given::Number(_) => DType::F64,
        }
    }

    /// Its extents.
    pub fn shape<'a>(&self, plan: &'a Plan) -> &'a [usize] {
        let input = |k: usize| plan.buffers.iter().find(|b| b.from == From::Input(k as u32));
        match self {
            Given::Buffer(b) => &plan.buffer(*b).shape,
            Given::Input(k) => input(*k).map_or(&[], |b| &b.shape[..]),
            Given::Number(_) => &[],
        }
    }
}

/// The launches of what a function would compute.
pub struct Planned {
    /// The launches; whole numbers that they store are f64.
    pub plan: Plan,
    /// For each leaf of the arguments the number of its input; None: it is not used.
    pub leaves: Vec<Option<usize>>,
    /// The arrays of all inputs; a leaf's is no more than its type.
    pub inputs: Vec<Array>,
    /// The results.
    pub results: Vec<Given>,
    /// The function as it is written.
    pub source: String,
    /// The nodes and the decisions.
    pub trace: Trace,
}

//! Functions as programs of other languages: their graphs or plans, recorded at a few sizes, become
//! one text.
//!
//! Rows: BAR-09, BAR-10, ACL-45. `declared` reads what arguments are, `example` takes it from a
//! call, `python` writes one graph, `c` and `cuda` one plan, and `fit` makes one text of those that
//! several sizes gave.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod c;
mod cuda;
mod declared;
mod example;
mod extents;
mod fit;
mod names;
mod polynomial;
mod python;

pub use c::{Files, c};
pub use cuda::{CudaFiles, cuda};
pub use declared::{Argument, Declaration, Leaf};
pub use example::of_example;
pub use python::module;

use aplomb_ground::error::{Error, domain};
use aplomb_ground::span::{Place, Source, Span};
use aplomb_ground::trace::Trace;
use aplomb_plans::plan::{BufId, From, Launch, Plan};
use aplomb_values::array::{Array, DType};
use aplomb_values::dag::Recorded;
use std::rc::Rc;
use std::sync::Arc;

/// The definition of a function, and the call of it that nobody wrote.
#[derive(Clone)]
pub struct Home {
    /// The name in APL.
    pub name: String,
    /// The function as it is written.
    pub text: String,
    /// The place where it is, or else what was asked for.
    pub place: Place,
    /// The call that recorded it.
    pub call: Arc<Source>,
}

impl Home {
    /// The error that says why it cannot be exported.
    pub fn refused(&self, says: &str) -> Error {
        domain(format!("{} cannot be exported: {says}", self.name))
    }

    /// An error with a place that somebody wrote.
    pub fn placed(&self, error: Error) -> Error {
        error.instead_of(&self.call, &self.place).at(&self.place)
    }
}

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
    pub home: Home,
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

impl Planned {
    /// The error of a launch that has no text in a language, at what it computes.
    pub fn refused(&self, launch: &Launch, why: &Error) -> Error {
        let error = self.home.refused(&why.parts().says);
        let last = launch.finish.as_ref().map(|f| f.node).or(launch.nodes.last().copied());
        let node = last.and_then(|n| self.trace.nodes.get(n.index()));
        let place = node.and_then(|n| n.span.first()).and_then(|[id, start, end]| {
            let source = self.trace.sources.iter().find(|s| s.id == *id)?;
            let own = source.name == self.home.call.name;
            let source = Source::new(&source.name, source.text.as_str());
            (!own).then(|| Place::new(&source, Span::new(*start, *end)))
        });
        self.home.placed(match place {
            Some(place) => error.at(&place),
            None => error,
        })
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
    pub home: Home,
    /// The nodes and the decisions.
    pub trace: Trace,
}

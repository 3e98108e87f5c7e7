//! A scalar computation: one list of typed steps, each made of earlier ones.
//!
//! Loops and folds in order (`Rounds`) hold such a list, and so does a launch. The oracle executes
//! it, the CPU's machine and the CUDA text are lowered from it, step by step, by the same functions
//! for a launch and for the loop inside. So what one of them can do, all can.
//!
//! | instruction | a launch | a loop, a fold |
//! |---|---|---|
//! | `Arg` | – | states, numbers, items |
//! | `Load`, `Index`, `Gather`, `Guard`, `Part`, `Loop`, `State`, `Reduced` (behind a fold) | yes | – |
//! | `Const`, `Op`, `Select` | yes | yes |
//!
//! Always (the verifier looks): arguments are earlier steps; an operation has as many as it takes;
//! a step that nobody uses may still fail.

pub mod finite;
mod rounds;

pub use rounds::Rounds;

use crate::array::DType;
use crate::dag::Along;
use crate::dag::ix::Ix;
use crate::prim::op::Op;
use crate::prim::scalar::{Fail, eval};
use smallvec::SmallVec;
use std::sync::Arc;

/// A step's place in its list, which is its value's name.
pub type ValueId = u32;

/// Nanoseconds of a choice between two values.
pub const SELECT_NS: f64 = 0.15;

/// One step: an instruction and the type of its value. `F` is what a place knows of where the step
/// came from: nothing in a loop, which fails as one; in a launch the node, the site and the guard.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<F = ()> {
    pub what: What,
    pub dtype: DType,
    pub from: F,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The k-th argument of a loop or fold.
    Arg(u32),
    /// The k-th of the launch's loads.
    Load(u32),
    /// An index plus an origin (iota).
    Index {
        ix: Ix,
        origin: f64,
    },
    Const(f64),
    Op {
        op: Op,
        /// 0 unless the operation is tolerant: see `What::op`.
        ct: f64,
        args: SmallVec<[ValueId; 2]>,
    },
    /// Behind a fold: the k-th reduction.
    Reduced(u32),
    /// The value where all tests of the launch's guard hold, else the fill of the first that fails.
    Guard {
        tests: u32,
        value: ValueId,
    },
    /// `yes` where all tests of the launch's guard hold, else `no` (a part of a cat, the others).
    Part {
        tests: u32,
        yes: ValueId,
        no: ValueId,
    },
    /// `yes` where `cond` is not 0, else `no`. Both are computed; what is not taken is not looked
    /// at.
    Select {
        cond: ValueId,
        yes: ValueId,
        no: ValueId,
    },
    /// The state `result` after all rounds.
    Loop {
        args: SmallVec<[ValueId; 4]>,
        body: Arc<Rounds>,
        result: u8,
    },
    /// Another state after all rounds of an earlier loop.
    State {
        of: ValueId,
        result: u8,
    },
    /// The k-th load, moved along axes by the values in `places` less `origin`.
    Gather {
        load: u32,
        along: SmallVec<[Along; 2]>,
        places: SmallVec<[ValueId; 2]>,
        origin: f64,
    },
}

impl What {
    /// An operation; of ⎕CT it keeps what it uses, so that equal operations are equal.
    pub fn op(op: Op, ct: f64, args: impl IntoIterator<Item = ValueId>) -> What {
        What::Op { op, ct: op.tolerance(ct), args: args.into_iter().collect() }
    }

    /// The values that it is made of.
    pub fn args(&self) -> SmallVec<[ValueId; 3]> {
        match self {
            What::Arg(_)
            | What::Load(_)
            | What::Index { .. }
            | What::Const(_)
            | What::Reduced(_) => SmallVec::new(),
            What::Op { args, .. } => args.iter().copied().collect(),
            What::Guard { value, .. } | What::State { of: value, .. } => {
                [*value].into_iter().collect()
            }
            What::Part { yes, no, .. } => [*yes, *no].into_iter().collect(),
            What::Select { cond, yes, no } => [*cond, *yes, *no].into_iter().collect(),
            What::Gather { places, .. } => places.iter().copied().collect(),
            What::Loop { args, .. } => args.iter().copied().collect(),
        }
    }

    /// Each value that it is made of by its new number.
    pub fn renumber(&mut self, new: impl Fn(ValueId) -> ValueId) {
        let args: &mut [ValueId] = match self {
            What::Arg(_)
            | What::Load(_)
            | What::Index { .. }
            | What::Const(_)
            | What::Reduced(_) => &mut [],
            What::Op { args, .. } => args,
            What::Guard { value, .. } | What::State { of: value, .. } => {
                std::slice::from_mut(value)
            }
            What::Part { yes, no, .. } => {
                (*yes, *no) = (new(*yes), new(*no));
                &mut []
            }
            What::Select { cond, yes, no } => {
                (*cond, *yes, *no) = (new(*cond), new(*yes), new(*no));
                &mut []
            }
            What::Gather { places, .. } => places,
            What::Loop { args, .. } => args,
        };
        args.iter_mut().for_each(|v| *v = new(*v));
    }

    /// The load that it reads.
    pub fn load(&self) -> Option<u32> {
        match self {
            What::Load(k) => Some(*k),
            What::Gather { load, .. } => Some(*load),
            _ => None,
        }
    }

    /// The scalar operation, if it is one.
    pub fn operation(&self) -> Option<Op> {
        if let What::Op { op, .. } = self { Some(*op) } else { None }
    }

    /// Nanoseconds and operations of one value (f64 in L1 on the CPU of the estimates).
    pub fn cost(&self) -> (f64, u64) {
        match self {
            What::Arg(_) | What::Const(_) | What::Reduced(_) | What::State { .. } => (0.0, 0),
            What::Op { op, .. } => (op.row().ns, 1),
            What::Select { .. } => (SELECT_NS, 1),
            What::Loop { body, .. } => body.cost(),
            What::Load(_) => (0.25, 0),
            What::Gather { .. } => (1.5, 1),
            What::Index { .. } | What::Guard { .. } | What::Part { .. } => (0.15, 0),
        }
    }

    /// The value on numbers, made of earlier ones, for the instructions that loops have. Errors:
    /// the operation has no result.
    fn value(&self, values: &[f64]) -> Result<f64, Fail> {
        let at = |v: ValueId| values[v as usize];
        match self {
            What::Op { op, ct, args } => {
                eval(*op, *ct, at(args[0]), args.get(1).map_or(0.0, |v| at(*v)))
            }
            What::Select { cond, yes, no } => Ok(at(if at(*cond) != 0.0 { *yes } else { *no })),
            What::Const(x) => Ok(*x),
            _ => Err(Fail::Bug("an instruction of launches stands in a loop")),
        }
    }
}

impl<F> Step<F> {
    pub fn new(what: What, dtype: DType, from: F) -> Step<F> {
        Step { what, dtype, from }
    }
}

/// The steps behind the arguments, whose values stand in `values` already, one after the other by
/// `make`: from a step and the values before it to its own. This is the one order in which a body
/// is executed, whatever values are.
pub fn walk<F, V, E>(
    steps: &[Step<F>],
    values: &mut Vec<V>,
    mut make: impl FnMut(&Step<F>, &[V]) -> Result<V, E>,
) -> Result<(), E> {
    for step in &steps[values.len()..] {
        let value = make(step, values)?;
        values.push(value);
    }
    Ok(())
}

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

mod affine;
mod clamped;
pub mod finite;
mod prefixes;
mod rounds;

pub use prefixes::{Ends, LANES, Prefixes};
pub use rounds::{Rounds, operations_fail};

use crate::array::DType;
use crate::dag::Along;
use crate::dag::ix::Ix;
use crate::prim::op::Op;
use crate::prim::scalar::{Fail, eval, small_exponent};
use smallvec::SmallVec;
use std::iter::Sum;
use std::sync::Arc;

/// A step's place in its list, which is its value's name.
pub type ValueId = u32;

/// Nanoseconds of a read of a buffer's element.
pub const READ_NS: f64 = 0.25;
/// Nanoseconds of a write of a buffer's element.
pub const WRITE_NS: f64 = 0.25;
/// Nanoseconds to start a launch on the CPU.
pub const LAUNCH_NS: f64 = 2_000.0;

/// The work for one value: nanoseconds (f64 in L1 on the CPU of the estimates) and scalar
/// operations. An operation's stands in its row (`OPS`), all others are here; nodes, steps, passes
/// and devices ask.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Nanoseconds of one f64 in L1 on the CPU of the estimates.
    pub ns: f64,
    /// Scalar operations.
    pub flops: u64,
}

/// An index that becomes a number.
pub const INDEX: Effort = Effort { ns: 0.1, flops: 0 };
/// A choice between two values.
pub const SELECT: Effort = Effort { ns: 0.15, flops: 1 };
/// A look at which part of a concatenation an element is in, or whether it is outside.
pub const PART: Effort = Effort { ns: 0.15, flops: 0 };
/// A load at a computed place.
pub const GATHER: Effort = Effort { ns: 1.5, flops: 1 };
/// A load at the place that a map tells.
pub const LOAD: Effort = Effort { ns: READ_NS, flops: 0 };

impl Effort {
    /// No work.
    pub const NONE: Effort = Effort { ns: 0.0, flops: 0 };

    /// A scalar operation's.
    pub fn of(op: Op) -> Effort {
        Effort { ns: op.row().ns, flops: 1 }
    }

    /// The work of a power by a number that is known: that of the root or the products as which it
    /// runs (`small_power`).
    fn of_power(exponent: f64) -> Effort {
        let ns = |op: Op| op.row().ns;
        let flops = Effort::of(Op::Pow).flops;
        match small_exponent(exponent).map(|n| (n.unsigned_abs(), n < 0)) {
            Some((n, below)) => {
                // By squares, with a product for each bit.
                let products = n.checked_ilog2().map_or(0, |squares| squares + n.count_ones() - 1);
                let whole = f64::from(products.max(1)) * ns(Op::Mul);
                Effort { ns: whole + if below { ns(Op::Recip) } else { 0.0 }, flops }
            }
            None if exponent == 0.5 => Effort::of(Op::Sqrt),
            None => Effort::of(Op::Pow),
        }
    }

    /// The work for `n` values.
    pub fn times(self, n: u32) -> Effort {
        Effort { ns: self.ns * f64::from(n), flops: self.flops * u64::from(n) }
    }
}

impl Sum for Effort {
    fn sum<I: Iterator<Item = Effort>>(all: I) -> Effort {
        all.fold(Effort::NONE, |a, b| Effort { ns: a.ns + b.ns, flops: a.flops + b.flops })
    }
}

/// One step: an instruction and the type of its value. `F` is what a place knows of where the step
/// came from: nothing in a loop, which fails as one; in a launch the node, the site and the guard.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<F = ()> {
    /// The instruction.
    pub what: What,
    /// The type of its value.
    pub dtype: DType,
    /// The facts that a place knows of where it came from.
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
        /// The index.
        ix: Ix,
        /// The number of the first place.
        origin: f64,
    },
    /// A number.
    Const(f64),
    /// A scalar operation.
    Op {
        /// The operation.
        op: Op,
        /// 0 unless the operation is tolerant: see `What::op`.
        ct: f64,
        /// Its operands, by name.
        args: SmallVec<[ValueId; 2]>,
    },
    /// Behind a fold: the k-th reduction.
    Reduced(u32),
    /// The value where all tests of the launch's guard hold, else the fill of the first that fails.
    Guard {
        /// The launch's guard, by number.
        tests: u32,
        /// The value inside.
        value: ValueId,
    },
    /// `yes` where all tests of the launch's guard hold, else `no` (a part of a cat, the others).
    Part {
        /// The launch's guard, by number.
        tests: u32,
        /// The value where the tests hold.
        yes: ValueId,
        /// The value elsewhere.
        no: ValueId,
    },
    /// `yes` where `cond` is not 0, else `no`. Both are computed; what is not taken is not looked
    /// at.
    Select {
        /// The choosing value.
        cond: ValueId,
        /// The value where it is not 0.
        yes: ValueId,
        /// The value where it is 0.
        no: ValueId,
    },
    /// The state `result` after all rounds.
    Loop {
        /// The states before the first round, then what is the same in every round.
        args: SmallVec<[ValueId; 4]>,
        /// The loop.
        body: Arc<Rounds>,
        /// The state whose last value this is.
        result: u8,
    },
    /// Another state after all rounds of an earlier loop.
    State {
        /// The step of the earlier loop.
        of: ValueId,
        /// The state of it.
        result: u8,
    },
    /// The k-th load, moved along axes by the values in `places` less `origin`.
    Gather {
        /// The launch's load, by number.
        load: u32,
        /// The axes along which values move it, a value each.
        along: SmallVec<[Along; 2]>,
        /// The values.
        places: SmallVec<[ValueId; 2]>,
        /// The number of the first place.
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

    /// The launch's guard whose tests it looks at.
    pub fn tests(&self) -> Option<u32> {
        match self {
            What::Guard { tests, .. } | What::Part { tests, .. } => Some(*tests),
            _ => None,
        }
    }

    /// The index that it is.
    pub fn index(&self) -> Option<&Ix> {
        if let What::Index { ix, .. } = self { Some(ix) } else { None }
    }

    /// A sentence of a listing, given how a value and a load are written.
    pub fn text(&self, arg: &dyn Fn(&ValueId) -> String, load: &dyn Fn(u32) -> String) -> String {
        let all = |args: &[ValueId]| args.iter().map(arg).collect::<Vec<_>>().join(" ");
        match self {
            What::Load(k) => load(*k),
            What::Index { ix, origin } => format!("{origin}+{}", ix.text()),
            What::Const(x) => x.to_string(),
            What::Op { op, args, .. } => format!("{} {}", op.name(), all(args)),
            What::Arg(k) => format!("argument {k}"),
            What::Reduced(k) => format!("reduction {k}"),
            What::Guard { tests, value } => format!("{} where guard {tests} holds", arg(value)),
            What::Part { tests, yes, no } => {
                format!("{} where guard {tests} holds, else {}", arg(yes), arg(no))
            }
            What::Select { cond, yes, no } => {
                format!("{} where {}, else {}", arg(yes), arg(cond), arg(no))
            }
            What::Loop { args, body, result } => {
                let until =
                    body.until.map_or(String::new(), |v| format!("at most, until value {v}, "));
                format!(
                    "state {result} after {} rounds {until}of {} operations on {}",
                    body.count,
                    body.work().count(),
                    all(args)
                )
            }
            What::State { of, result } => format!("state {result} of {}", arg(of)),
            What::Gather { load: k, along, places, .. } => {
                let by = along
                    .iter()
                    .zip(places)
                    .map(|(a, v)| format!("axis {} by {}×{}", a.axis + 1, a.times, arg(v)));
                format!("{}, {}", load(*k), by.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The scalar operation, if it is one.
    pub fn operation(&self) -> Option<Op> {
        if let What::Op { op, .. } = self { Some(*op) } else { None }
    }

    /// The work for one value.
    pub fn cost(&self) -> Effort {
        match self {
            What::Arg(_) | What::Const(_) | What::Reduced(_) | What::State { .. } => Effort::NONE,
            What::Op { op, .. } => Effort::of(*op),
            What::Select { .. } => SELECT,
            What::Loop { body, .. } => body.cost(),
            What::Load(_) => LOAD,
            What::Gather { .. } => GATHER,
            What::Index { .. } => INDEX,
            What::Guard { .. } | What::Part { .. } => PART,
        }
    }

    /// The work for one value that is made of these steps. What is known of numbers says more than
    /// the operation: a power by 2 runs as a product.
    pub fn cost_among<F>(&self, steps: &[Step<F>]) -> Effort {
        self.cost_given(steps, &|_| None)
    }

    /// The same where some arguments are numbers that are known.
    fn cost_given<F>(&self, steps: &[Step<F>], given: &dyn Fn(u32) -> Option<f64>) -> Effort {
        let number = |v: &ValueId| match &steps.get(*v as usize)?.what {
            What::Const(x) => Some(*x),
            What::Arg(k) => given(*k),
            _ => None,
        };
        match self {
            What::Op { op: Op::Pow, args, .. } => {
                args.get(1).and_then(number).map_or(self.cost(), Effort::of_power)
            }
            What::Loop { args, body, .. } => {
                body.cost_given(&|k| args.get(k as usize).and_then(number))
            }
            _ => self.cost(),
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
    /// A step of an instruction.
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

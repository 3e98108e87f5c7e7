//! When a node can fail: one row for each kind, computed when the node is made, and read by all who
//! ask.
//!
//! Rows: LOWERING §2 (E1, E2). The recorder makes a check of what fails hard, guards give it
//! arguments that it has a result for, passes compute it on its whole domain, rules drop only what
//! never fails. The answer depends on kinds, types, on whether intervals are known, and on whether
//! a divisor is a number other than 0; so it is part of what a known plan is known by.

use super::cell::Meta;
use super::node::Node;
use super::whole::Whole;
use crate::array::DType;
use crate::body::Rounds;
use crate::prim::op::{Fails, On, Op};

/// What is known of an operand without computing it.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub dtype: DType,
    /// It is one number, and not 0.
    pub nonzero: bool,
}

impl<A> Node<A> {
    /// When this node, whose value is `own`, can fail on finite operands.
    pub fn fails(&self, own: &Meta, of: impl Fn(&A) -> Known) -> Fails {
        // An integer whose interval is known cannot overflow.
        let ranged = own.dtype.is_integer() && own.range.is_some();
        let on = |op: Op, args: &[A]| {
            let bools = args.iter().all(|a| of(a).dtype == DType::Bool);
            op.fails_on(On { bools, ranged, nonzero: args.get(1).is_some_and(|a| of(a).nonzero) })
        };
        match self {
            Node::Map { op, args, .. } => on(*op, args),
            Node::Reduce { op, src, .. } | Node::Scan { op, src, .. } => {
                on(*op, std::slice::from_ref(src))
            }
            // A place may lie beyond its axis.
            Node::Gather { .. } => Fails::Hard,
            Node::Loop { body, .. } => of_rounds(body),
            Node::Whole { what, args } => match what {
                Whole::Fold { body, .. } => of_rounds(body),
                // Behind the bounds, which are held, the vector.
                Whole::Segmented { op } => on(*op, &args[what.held()..]),
                // Places are looked at when it is recorded.
                Whole::Scatter { combine, .. } => {
                    combine.map_or(Fails::Never, |(op, _)| op.row().fails)
                }
                Whole::Lib { .. } => Fails::Never,
            },
            Node::Input(_)
            | Node::Const(_)
            | Node::Iota { .. }
            | Node::Transform { .. }
            | Node::Select { .. }
            | Node::Cat { .. }
            | Node::Compact { .. } => Fails::Never,
        }
    }
}

/// A loop fails as the worst of its steps does, and where its own end may not come.
fn of_rounds(body: &Rounds) -> Fails {
    if body.until.is_some() {
        return Fails::Hard;
    }
    let dtype = |v: &u32| body.steps.get(*v as usize).map_or(DType::F64, |s| s.dtype);
    let of = |step: &crate::body::Step| {
        let op = step.what.operation()?;
        let bools = step.what.args().iter().all(|v| dtype(v) == DType::Bool);
        Some(op.fails_on(On { bools, ranged: step.dtype.is_integer(), nonzero: false }))
    };
    body.steps.iter().filter_map(of).max().unwrap_or(Fails::Never)
}

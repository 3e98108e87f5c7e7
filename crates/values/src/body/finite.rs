//! The places at which ∞ and NaN that operations made of finite numbers are looked for: one
//! analysis for all devices.
//!
//! A value is *pending* while it may be such a number and nobody has looked. The look waits along
//! operations that keep ∞ and NaN visible and comes before whatever could hide them: the others, a
//! choice (all three of its values), a loop's entry, the end of a round, a fold, a store. Which
//! operations look at their own results, and whether a value is looked at once or by each who takes
//! it, is a device's.

use super::{Rounds, Step, ValueId, What};
use crate::array::DType;
use crate::prim::op::Op;
use smallvec::SmallVec;

/// Whether an operation's result may be a usual number where an argument is ∞ or NaN.
pub fn hides(op: Op) -> bool {
    !op.row().keeps
}

impl What {
    /// The values that are looked at before it.
    pub fn looked_at(&self) -> SmallVec<[ValueId; 3]> {
        match self {
            What::Op { op, .. } if hides(*op) => self.args(),
            What::Select { .. } | What::Loop { .. } => self.args(),
            _ => SmallVec::new(),
        }
    }
}

impl<F> Step<F> {
    /// Whether its value is pending: its operation makes ∞ or NaN of finite numbers and does not
    /// look (`makes`), or it passes on a value that is, by `pending`. What is finite in f64 may be
    /// beyond f32. An argument and a fold before are not asked here: who gives them knows.
    pub fn is_pending(
        &self,
        makes: impl FnOnce(Op) -> bool,
        pending: impl Fn(ValueId) -> bool,
    ) -> bool {
        match &self.what {
            What::Op { op, args, .. } => {
                self.dtype == DType::F32
                    || makes(*op)
                    || !hides(*op) && args.iter().any(|v| pending(*v))
            }
            What::Guard { value, .. } => pending(*value),
            What::Part { yes, no, .. } => pending(*yes) || pending(*no),
            _ => false,
        }
    }
}

impl Rounds {
    /// The values that are looked at when a round ends: what the next one takes, and the end.
    pub fn ends(&self) -> impl Iterator<Item = ValueId> {
        self.next.iter().chain(&self.until).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prim::op::Fails;

    fn op(op: Op, args: &[ValueId]) -> What {
        What::op(op, 0.0, args.iter().copied())
    }

    #[test]
    fn a_value_is_pending_until_what_would_hide_it() {
        let choice = What::Select { cond: 3, yes: 2, no: 0 };
        // (instruction, type, whether it is pending, what is looked at before)
        let steps: &[(What, DType, bool, &[ValueId])] = &[
            (What::Load(0), DType::F64, false, &[]),
            (op(Op::Mul, &[0, 0]), DType::F64, true, &[]),
            (op(Op::Neg, &[1]), DType::F64, true, &[]),
            (op(Op::Lt, &[2, 0]), DType::Bool, false, &[2, 0]),
            (choice, DType::F64, false, &[3, 2, 0]),
            (op(Op::Neg, &[4]), DType::F64, false, &[]),
            (op(Op::Neg, &[4]), DType::F32, true, &[]),
            (What::Guard { tests: 0, value: 6 }, DType::F32, true, &[]),
            (What::Part { tests: 0, yes: 0, no: 7 }, DType::F32, true, &[]),
            (op(Op::Max, &[8, 0]), DType::F64, false, &[8, 0]),
        ];
        let mut pending = Vec::new();
        for (k, (what, dtype, is, before)) in steps.iter().enumerate() {
            let step = Step::new(what.clone(), *dtype, ());
            let makes = |op: Op| op.row().fails == Fails::Overflow;
            let found = step.is_pending(makes, |v| pending[v as usize]);
            assert_eq!((found, &what.looked_at()[..]), (*is, *before), "step {k}: {what:?}");
            pending.push(found);
        }
    }

    #[test]
    fn a_round_ends_with_its_states_and_its_end() {
        let once = Rounds { until: Some(1), ..Rounds::once(Op::Add, 0.0, DType::F64) };
        assert_eq!(once.ends().collect::<Vec<_>>(), [2, 1]);
    }
}

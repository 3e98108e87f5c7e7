//! The body of a loop, or of a fold in order: steps whose last values are the arguments of the next
//! round.

use super::{Effort, Step, ValueId, What};
use crate::array::DType;
use crate::prim::op::{Fails, On, Op};
use crate::prim::scalar::Fail;
use smallvec::SmallVec;
use std::convert::Infallible;

/// Rounds that a loop with an end of its own is thought to take.
const EXPECTED: u32 = 32;

/// The body of a loop. Its first steps are its arguments: the states, then what is the same in
/// every round.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    /// The number of rounds; with `until` the most there may be, and where they do not suffice the
    /// host goes on.
    pub count: u32,
    /// The value that ends the loop after the round in which it is not 0.
    pub until: Option<ValueId>,
    /// The arguments, then the instructions, each behind those whose values it takes.
    pub steps: Vec<Step>,
    /// For each state its value after a round.
    pub next: Vec<ValueId>,
}

impl Rounds {
    /// One operation on two arguments: the step of a fold, or of a scatter that combines.
    pub fn once(op: Op, ct: f64, dtype: DType) -> Rounds {
        let arg = |k| Step::new(What::Arg(k), dtype, ());
        let steps = vec![arg(0), arg(1), Step::new(What::op(op, ct, [0, 1]), dtype, ())];
        Rounds { count: 1, until: None, steps, next: vec![2] }
    }

    /// The number of its arguments.
    pub fn arguments(&self) -> usize {
        self.steps.iter().take_while(|s| matches!(s.what, What::Arg(_))).count()
    }

    /// The instructions of one round, arguments left out.
    pub fn work(&self) -> impl Iterator<Item = &What> {
        self.steps.iter().map(|s| &s.what).filter(|w| !matches!(w, What::Arg(_)))
    }

    /// Whether a step compares values, which complex ones have no order for.
    pub fn needs_order(&self) -> bool {
        self.work().filter_map(What::operation).any(|op| op.needs_order())
    }

    /// Whether the steps are in order, are instructions of loops, and give what the next round
    /// takes. Errors: a sentence.
    pub fn verify(&self) -> Result<(), String> {
        let arguments = self.arguments();
        for (k, step) in self.steps.iter().enumerate() {
            let fits = match &step.what {
                What::Arg(n) => *n as usize == k,
                What::Op { op, args, .. } => args.len() == op.arity(),
                What::Select { .. } | What::Const(_) => true,
                _ => false,
            };
            if !fits || step.what.args().iter().any(|v| *v as usize >= k) {
                return Err(format!("step {k} of a loop is {:?}", step.what));
            }
        }
        let ends = self.next.iter().chain(&self.until).all(|v| (*v as usize) < self.steps.len());
        let fits = ends && self.next.len() <= arguments;
        if fits { Ok(()) } else { Err("a loop whose values are not in order".into()) }
    }

    /// The only operation of a body that is one.
    pub fn single(&self) -> Option<Op> {
        let mut work = self.work();
        let first = work.next()?.operation();
        if work.next().is_none() { first } else { None }
    }

    /// One element through all rounds: what all arguments are after them, the states first. `fail`
    /// is told of an operation without a result, which goes on as 0, and of an end that does not
    /// come.
    pub fn run(&self, args: &[f64], fail: &mut dyn FnMut(Fail)) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.steps.len());
        values.extend_from_slice(args);
        for _ in 0..self.count {
            if self.round(&mut values, fail) {
                return values;
            }
        }
        if self.until.is_some() {
            fail(Fail::Unending);
        }
        values
    }

    /// One round on the values of the arguments, of which the states are what they are after it;
    /// whether it was the last.
    pub fn round(&self, values: &mut Vec<f64>, fail: &mut dyn FnMut(Fail)) -> bool {
        let arguments = values.len();
        self.steps_into(values, fail);
        let done = self.until.is_some_and(|v| values[v as usize] != 0.0);
        let states: SmallVec<[f64; 8]> = self.next.iter().map(|v| values[*v as usize]).collect();
        values[..states.len()].copy_from_slice(&states);
        values.truncate(arguments);
        done
    }

    /// The values of one round's steps, behind those of the arguments.
    pub fn steps_into(&self, values: &mut Vec<f64>, fail: &mut dyn FnMut(Fail)) {
        let Ok(()) = super::walk(&self.steps, values, |step, values| {
            Ok::<f64, Infallible>(step.what.value(values).unwrap_or_else(|f| {
                fail(f);
                0.0
            }))
        });
    }

    /// Rounds that an estimate counts with.
    pub fn expected(&self) -> u32 {
        if self.until.is_some() { EXPECTED.min(self.count) } else { self.count }
    }

    /// The work for one element through all expected rounds.
    pub fn cost(&self) -> Effort {
        self.cost_given(&|_| None)
    }

    /// The same where some arguments are numbers that are known: those that are the same in every
    /// round.
    pub(super) fn cost_given(&self, given: &dyn Fn(u32) -> Option<f64>) -> Effort {
        let same = |k: u32| if (k as usize) < self.next.len() { None } else { given(k) };
        let round = self.work().map(|what| what.cost_given(&self.steps, &same));
        round.sum::<Effort>().times(self.expected())
    }

    /// When it can fail: as the worst of its steps does, and where its own end may not come.
    pub fn fails(&self) -> Fails {
        if self.until.is_some() {
            return Fails::Hard;
        }
        operations_fail(&self.steps)
    }
}

/// When the operations of some steps can fail: as the worst of them does.
pub fn operations_fail<F>(steps: &[Step<F>]) -> Fails {
    let dtype = |v: &ValueId| steps.get(*v as usize).map_or(DType::F64, |s| s.dtype);
    let of = |step: &Step<F>| {
        let op = step.what.operation()?;
        let bools = step.what.args().iter().all(|v| dtype(v) == DType::Bool);
        Some(op.fails_on(On { bools, ranged: step.dtype.is_integer(), nonzero: false }))
    };
    steps.iter().filter_map(of).max().unwrap_or(Fails::Never)
}

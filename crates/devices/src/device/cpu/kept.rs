//! Programs of plans that ran before: each launch's reads, and its steps lowered and emitted, as
//! they were the last time.
//!
//! Lowering and cutting take as long as a loop over some thousand elements, and a line that runs
//! again has the plan that it had. A plan is known by where it is, as on a GPU: a weak pointer
//! keeps the place from being used again. What a program was made from is compared, item by item:
//! steps, domain, stores, types and lengths of sources, ways through them, and each number that
//! lowering read from memory and wrote into the program. Where all are equal it is the program that
//! would be made again, but for addresses, which are put in. A first run keeps nothing, for most
//! plans have no second.

use super::convert::{Sink, Source};
use super::emit::{Parts, Registry};
use super::program::{Input, Program, Work, one};
use super::strides::Strides;
use super::typed::Typed;
use super::walk::Walk;
use aplomb_plans::plan::{Plan, Step, ValueId};
use aplomb_values::array::DType;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// Plans of which programs are kept.
const PLANS: usize = 256;
/// Programs of one launch.
const PROGRAMS: usize = 4;

/// Steps as they run.
pub struct Made {
    pub program: Program,
    pub emitted: Option<Parts>,
    /// The loop of a pass of folds whose values have a type of their own.
    pub typed: Option<Typed>,
    /// The length at whose multiples runs end.
    pub row: usize,
    /// The steps by which its one emitted loop finds the items of a row, if they all lie straight.
    pub strides: Option<Strides>,
}

/// An input's type, length and walk.
type Form = (DType, usize, Arc<Walk>);

/// All that a program is made from, but for addresses.
struct Signature {
    steps: *const Step,
    pass: usize,
    domain: Vec<usize>,
    stores: Vec<(ValueId, bool)>,
    keep: Vec<(ValueId, bool)>,
    sinks: Vec<(DType, bool, bool)>,
    inputs: Vec<Form>,
    reduced: Vec<Form>,
}

fn form(input: &Input) -> Form {
    (input.source.dtype, input.source.len, input.walk.clone())
}

fn are(inputs: &[Input], forms: &[Form]) -> bool {
    let is = |(input, (dtype, len, walk)): (&Input, &Form)| {
        let Source { dtype: own, len: items, .. } = input.source;
        let ways = || Arc::ptr_eq(&input.walk, walk) || input.walk == *walk;
        own == *dtype && items == *len && ways()
    };
    inputs.len() == forms.len() && inputs.iter().zip(forms).all(is)
}

fn sunk(sink: &Sink) -> (DType, bool, bool) {
    (sink.dtype, sink.checked, sink.stream)
}

impl Signature {
    fn of(pass: usize, work: &Work, inputs: &[Input], sinks: &[Sink]) -> Signature {
        Signature {
            steps: work.steps.as_ptr(),
            pass,
            domain: work.domain.to_vec(),
            stores: work.stores.clone(),
            keep: work.keep.clone(),
            sinks: sinks.iter().map(sunk).collect(),
            inputs: inputs.iter().map(form).collect(),
            reduced: work.reduced.iter().map(form).collect(),
        }
    }

    fn is(&self, pass: usize, work: &Work, inputs: &[Input], sinks: &[Sink]) -> bool {
        self.steps == work.steps.as_ptr()
            && self.pass == pass
            && self.domain == work.domain
            && self.stores == work.stores
            && self.keep == work.keep
            && self.sinks.iter().copied().eq(sinks.iter().map(sunk))
            && are(inputs, &self.inputs)
            && are(&work.reduced, &self.reduced)
    }
}

/// The reads and programs of a launch.
#[derive(Default)]
struct Launched {
    /// The inputs of the body and of what follows it, with addresses that are no longer true.
    reads: [Option<Vec<Input>>; 2],
    made: Vec<(Signature, Rc<Made>)>,
}

struct Entry {
    plan: Weak<Plan>,
    /// Empty in the first run.
    launches: Vec<Launched>,
}

#[derive(Default)]
struct State {
    plans: HashMap<*const Plan, Entry>,
    /// The plan that runs, and its launch.
    now: Option<(*const Plan, usize)>,
}

impl State {
    /// The launch that runs, if these are its steps and it is not its plan's first time; and
    /// whether they are those that follow the body.
    fn launched(&mut self, steps: &[Step]) -> Option<(&mut Launched, bool)> {
        let (plan, k) = self.now?;
        let entry = self.plans.get_mut(&plan)?;
        let launched = entry.launches.get_mut(k)?;
        let plan = entry.plan.upgrade()?;
        let own = &plan.launches[k];
        let is = |its: &[Step]| !its.is_empty() && std::ptr::eq(its.as_ptr(), steps.as_ptr());
        match (is(&own.body), is(&own.after)) {
            (true, _) => Some((launched, false)),
            (_, true) => Some((launched, true)),
            _ => None,
        }
    }
}

/// The programs of plans that ran before.
#[derive(Default)]
pub struct Kept(RefCell<State>);

impl Kept {
    /// A plan begins to run.
    pub fn begin(&self, plan: &Rc<Plan>) {
        let mut state = self.0.borrow_mut();
        let at = Rc::as_ptr(plan);
        if let Some(entry) = state.plans.get_mut(&at) {
            if entry.launches.is_empty() {
                entry.launches.resize_with(plan.launches.len(), Launched::default);
            }
        } else {
            if state.plans.len() >= PLANS {
                state.plans.retain(|_, entry| entry.plan.strong_count() > 0);
            }
            if state.plans.len() >= PLANS {
                state.plans.clear();
            }
            let entry = Entry { plan: Rc::downgrade(plan), launches: Vec::new() };
            state.plans.insert(at, entry);
        }
        state.now = Some((at, 0));
    }

    /// The launch of this number of the plan that runs has its turn.
    pub fn launch(&self, number: usize) {
        if let Some((_, k)) = &mut self.0.borrow_mut().now {
            *k = number;
        }
    }

    /// No plan runs.
    pub fn end(&self) {
        self.0.borrow_mut().now = None;
    }

    /// The inputs of steps, as they were or as `make` finds them: `source` tells where each lies
    /// now.
    pub fn inputs<E>(
        &self,
        steps: &[Step],
        source: impl Fn(usize) -> Result<Source, E>,
        make: impl FnOnce() -> Result<Vec<Input>, E>,
    ) -> Result<Vec<Input>, E> {
        let mut state = self.0.borrow_mut();
        let Some((launched, after)) = state.launched(steps) else { return make() };
        let slot = &mut launched.reads[usize::from(after)];
        let Some(inputs) = slot else {
            let made = make()?;
            *slot = Some(made.clone());
            return Ok(made);
        };
        let now = |(k, input): (usize, &Input)| Ok(Input { source: source(k)?, ..input.clone() });
        inputs.iter().enumerate().map(now).collect()
    }

    /// Steps as they run: those of a plan's earlier run with the addresses of now, or made.
    pub fn made<'a>(
        &self,
        registry: &Registry,
        pass: usize,
        (work, inputs): (Work<'a>, Vec<Input>),
        sinks: &[Sink],
        make: impl FnOnce(Work<'a>, Vec<Input>) -> Made,
    ) -> Rc<Made> {
        let mut state = self.0.borrow_mut();
        let Some((launched, _)) = state.launched(work.steps) else {
            return Rc::new(make(work, inputs));
        };
        let found = launched.made.iter().position(|(s, _)| s.is(pass, &work, &inputs, sinks));
        if let Some(k) = found {
            let made = &mut launched.made[k].1;
            let moves = |made: &mut Made| made.program.moves(&inputs, &work.reduced);
            if Rc::get_mut(made).is_some_and(moves) {
                return made.clone();
            }
        }
        let (signature, waiting) = (Signature::of(pass, &work, &inputs, sinks), registry.waiting());
        let made = Rc::new(make(work, inputs));
        // A loop that waits for its next run to be compiled is none yet.
        if registry.waiting() == waiting {
            match found {
                Some(k) => launched.made[k] = (signature, made.clone()),
                None => {
                    if launched.made.len() >= PROGRAMS {
                        launched.made.remove(0);
                    }
                    launched.made.push((signature, made.clone()));
                }
            }
        }
        made
    }
}

impl Program {
    /// Addresses of now for the sources; false: a number that the program holds is another there.
    fn moves(&mut self, inputs: &[Input], reduced: &[Input]) -> bool {
        let of = |k: usize| match k.checked_sub(inputs.len()) {
            None => inputs[k].source,
            Some(k) => reduced[self.reduced[k]].source,
        };
        let same = |(k, at, x): &(usize, i64, f64)| {
            one(of(*k), *at).is_some_and(|now| now.to_bits() == x.to_bits())
        };
        let all = self.ones.iter().all(same);
        let sources: Vec<Source> = (0..self.inputs.len()).map(of).collect();
        self.inputs.iter_mut().zip(sources).for_each(|(input, source)| input.source = source);
        all
    }
}

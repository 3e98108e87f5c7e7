//! The compiler: passes over one recorded graph, then a plan.
//!
//! Start at `PIPELINE`, then `compile`. A pass is a file and a line in the list; its name is what
//! the trace and `--off` use. Always: the verifier runs after every pass (tests and debug builds);
//! a pass may change launches, bytes and time, never a value. Never: clocks and devices; an
//! `Observer` owns the clock.

mod again;
mod alike;
mod break_random;
mod cache;
mod contexts;
mod cost;
mod cse;
mod decide;
mod delayed;
mod emit;
mod export;
mod fault;
mod find;
mod float_lets;
mod formula;
mod fuse;
mod gathers;
mod hash;
mod hoist;
mod inverse;
mod judge;
mod lets;
mod log;
mod meaning;
mod need;
mod options;
mod pad;
mod phrase;
mod place;
mod price;
mod product;
mod push_down;
mod record;
mod reversal;
mod rules;
mod schedule;
mod sentences;
mod settle;
mod shape_uses;
mod sharing;
mod simplify;
mod sizes;
mod sketch;
mod split;
mod strict;
mod tile;
mod unshare;
pub mod verify;
mod windows;
mod work;

pub use cache::{PlanCache, Tally};
pub use cost::{Cost, Model};
pub use export::{tell_occupancy, tell_text};
#[doc(hidden)]
pub use fault::Fault;
pub use log::{Log, Timed, let_go};
pub use options::{
    DEVICES, GROUPS, Options, PRESETS, Preset, RECORDER, SWITCHES, Switch, switch_says, switches,
};
pub use price::{Prices, of as price};
pub use rules::{RULES, Rule};
pub use schedule::Why;
pub use sizes::{tell_registers, tell_times};

use aplomb_ground::error::{Error, Result, internal};
use aplomb_ground::limits::Interrupt;
use aplomb_ground::trace::Trace;
use aplomb_plans::plan::Plan;
use aplomb_values::array::Array;
use aplomb_values::dag::Recorded;
use aplomb_values::dag::{Assumption, NodeId, Scalar};
use schedule::policy::Policy;
use std::rc::Rc;
use work::Work;

/// One pass: its name, what it does in a sentence, the row it comes from.
pub struct Pass {
    /// The name that `--off` takes.
    pub name: &'static str,
    /// A sentence for help.
    pub says: &'static str,
    /// The row of the literature behind it, if there is one.
    pub row: &'static str,
    /// The policy that it adds to those of the planner before it runs.
    asks: Option<Policy>,
    run: fn(&mut Work) -> Result<()>,
}

/// All passes, in the order they run.
pub static PIPELINE: &[Pass] = &[
    Pass {
        name: "record",
        says: "numbers the pending cells into a graph",
        row: "ACC-10",
        asks: None,
        run: record::run,
    },
    Pass {
        name: "prune",
        says: "counts uses; a second visit becomes a placeholder",
        row: "ACC-07",
        asks: None,
        run: sharing::prune,
    },
    Pass {
        name: "float",
        says: "moves a shared term to just above all its uses",
        row: "ACC-08",
        asks: None,
        run: sharing::float,
    },
    Pass {
        name: "bind",
        says: "makes each shared term a let",
        row: "ACC-09",
        asks: None,
        run: sharing::bind,
    },
    Pass {
        name: "simplify",
        says: "rewrites by rules",
        row: "BAR-04",
        asks: None,
        run: simplify::run,
    },
    Pass {
        name: "shape-uses",
        says: "drops uses of an array that only ask for its shape",
        row: "ACC-18",
        asks: Some(Policy::Shapes),
        run: shape_uses::run,
    },
    Pass {
        name: "float-lets",
        says: "moves lets out of what producers read",
        row: "ACC-19",
        asks: Some(Policy::Lets),
        run: float_lets::run,
    },
    Pass {
        name: "break-random",
        says: "breaks between random access and what it reads",
        row: "ACL-32",
        asks: Some(Policy::Breaks),
        run: break_random::run,
    },
    Pass {
        name: "push-down",
        says: "reads index transforms at the leaves",
        row: "ACL-37",
        asks: Some(Policy::Moves),
        run: push_down::run,
    },
    Pass {
        name: "cse",
        says: "merges equal nodes",
        row: "ACL-36",
        asks: Some(Policy::Words),
        run: cse::run,
    },
    Pass {
        name: "fuse-producers",
        says: "computes producers where they are read",
        row: "ACC-12",
        asks: Some(Policy::Producers),
        run: fuse::producers,
    },
    Pass {
        name: "embed-consumers",
        says: "computes producers inside reductions",
        row: "ACC-16",
        asks: Some(Policy::Consumers),
        run: fuse::consumers,
    },
    Pass {
        name: "horizontal",
        says: "merges launches of one domain",
        row: "ACC-30",
        asks: Some(Policy::Domains),
        run: fuse::horizontal,
    },
    Pass {
        name: "hoist",
        says: "computes folds outside of what does not change them",
        row: "BAR-16",
        asks: None,
        run: hoist::run,
    },
    Pass {
        name: "split",
        says: "cuts launches that need too much of a device",
        row: "ACL-33",
        asks: Some(Policy::Limits),
        run: split::run,
    },
    Pass {
        name: "settle",
        says: "makes choices the other way, and lays arrays out otherwise, where the whole plan is \
               cheaper so",
        row: "own:settle",
        asks: None,
        run: settle::run,
    },
    Pass {
        name: "place",
        says: "finds what launches read again",
        row: "BAR-14",
        asks: None,
        run: place::run,
    },
    Pass {
        name: "tile",
        says: "cuts launches into boxes that shared memory serves",
        row: "BAS-22",
        asks: None,
        run: tile::run,
    },
    Pass {
        name: "pad",
        says: "spreads rows of tiles over the banks",
        row: "BAS-21",
        asks: None,
        run: pad::run,
    },
    Pass { name: "emit", says: "writes the launches", row: "ACC-06", asks: None, run: emit::run },
];

/// Passes without which there is no plan.
const NEEDED: &[&str] = &["record", "emit"];

/// Told of each pass; owns the clock.
pub trait Observer {
    /// The beginning of a pass.
    fn begin(&mut self, pass: &'static str);
    /// The milliseconds since `begin`.
    fn end(&mut self, pass: &'static str) -> f64;

    /// The flag that ends a compilation that takes long; one that nobody sets, unless said
    /// otherwise.
    fn interrupt(&self) -> Interrupt {
        Interrupt::default()
    }
}

/// For those who do not ask for time.
pub struct NoClock;

impl Observer for NoClock {
    fn begin(&mut self, _pass: &'static str) {}

    fn end(&mut self, _pass: &'static str) -> f64 {
        0.0
    }
}

/// The origin of each root of the evaluation.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// The k-th of `Plan::roots`.
    Computed(usize),
    /// It was there already: the k-th input.
    Input(usize),
    /// A scalar of the graph: no launch computes it.
    Scalar(NodeId, Scalar),
}

/// The outcome of a compilation.
pub struct Compiled {
    /// Shared with the plan cache.
    pub plan: Rc<Plan>,
    /// The origin of each root, in their order.
    pub answers: Vec<Answer>,
    /// `Plan::moved`, summed up once.
    pub moved: u64,
    /// Equal for evaluations of one plan of a cache; None: it is no cache's.
    pub number: Option<u64>,
    /// Empty unless `Options::trace`.
    pub trace: Trace,
    /// The same: decisions that can be made the other way.
    reversals: Vec<(usize, reversal::Reversal)>,
    /// The choices that were made the other way, and the plans that were tried for it.
    settled: (schedule::flips::Flips, usize),
    /// The answers about the graph's scalars that the plan rests on.
    assumptions: Vec<Assumption>,
}

impl Compiled {
    /// The values of all roots, given the evaluation's inputs and what a device computed.
    pub fn values(&self, inputs: &[Array], computed: &[Array]) -> Result<Vec<Array>> {
        let value = |answer: &Answer| match *answer {
            Answer::Computed(k) => {
                computed.get(k).cloned().ok_or_else(|| internal("a root was not computed"))
            }
            Answer::Input(k) => {
                inputs.get(k).cloned().ok_or_else(|| internal("an input is missing"))
            }
            Answer::Scalar(_, Scalar::Num(x)) => Ok(Array::num(x)),
            Answer::Scalar(_, Scalar::Char(c)) => Ok(Array::char(c)),
        };
        self.answers.iter().map(value).collect()
    }
}

/// The error of a check that a pass does not pass. One that was stopped has found nothing.
fn wrong(work: &Work, pass: &str, says: String) -> Error {
    match work.stop.check() {
        Err(stopped) => stopped,
        Ok(()) => internal(format!("after {pass}: {says}")),
    }
}

/// From a recorded graph to a plan. Errors: LIMIT ERROR for a graph beyond limits; INTERRUPT;
/// INTERNAL ERROR where a pass broke an invariant (debug builds).
pub fn compile(
    recorded: &Recorded,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Compiled> {
    let mut work = Work::new(recorded, options, observer.interrupt());
    let mut meaning = cfg!(debug_assertions).then(|| meaning::Meaning::of(&work));
    for (k, pass) in PIPELINE.iter().enumerate() {
        observer.begin(pass.name);
        work.begin(k);
        if !options.is_off(pass.name) {
            pass.asks.map_or(Ok(()), |policy| work.ask(policy))?;
            (pass.run)(&mut work)?;
        }
        work.stop.check()?;
        let ms = observer.end(pass.name);
        if cfg!(debug_assertions) {
            verify::check(&work.dag, &work.roots).map_err(|e| wrong(&work, pass.name, e))?;
            if !options.is_off(pass.name) {
                let held = verify::check_pass(&mut work, pass.name);
                held.map_err(|e| wrong(&work, pass.name, e))?;
            }
            let held = meaning.as_mut().map_or(Ok(()), |m| m.check(&work));
            held.map_err(|e| wrong(&work, pass.name, e))?;
        }
        if options.trace {
            work.snapshot(ms)?;
        }
        if cfg!(debug_assertions) && (options.trace || pass.name == "emit") {
            let held = verify::check_schedule(&mut work);
            held.map_err(|e| wrong(&work, pass.name, e))?;
        }
    }
    let (plan, answers) = work.finish()?;
    if cfg!(debug_assertions) {
        verify::check_plan(&plan).map_err(|e| internal(format!("the plan: {e}")))?;
    }
    let (trace, reversals) =
        if options.trace { export::trace(&mut work, &plan)? } else { Default::default() };
    if cfg!(debug_assertions) && options.trace {
        verify::check_trace(&trace).map_err(|e| internal(format!("the story: {e}")))?;
    }
    let (assumptions, settled) = (assumptions(&work), (work.policies.flips, work.tried));
    let (moved, plan) = (plan.moved(), Rc::new(plan));
    Ok(Compiled { plan, answers, moved, number: None, trace, reversals, settled, assumptions })
}

/// The questions that passes asked about the graph's own scalars, with their answers. One that a
/// rule made of others is known where those are; for it may have met an equal one by chance, all
/// count as looked at.
fn assumptions(work: &Work) -> Vec<Assumption> {
    let own = work.recorded.dag.len();
    let dag = &work.dag;
    if dag.ids().skip(own).any(|at| dag.is_number(at)) {
        return work
            .recorded
            .dag
            .ids()
            .filter_map(|at| dag.number(at).map(|x| Assumption::Number(at, x)))
            .collect();
    }
    dag.assumptions().into_iter().filter(|known| known.at().index() < own).collect()
}

#[cfg(test)]
pub(crate) mod tests;

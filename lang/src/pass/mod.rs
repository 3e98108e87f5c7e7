//! The compiler: passes over one recorded graph, then a plan.
//!
//! Start at `PIPELINE`, then `compile`. A pass is a file and a line in the list; its name is what the trace and `--off`
//! use. Always: the verifier runs after every pass (tests and debug builds); a pass may change launches, bytes and time,
//! never a value. Never: clocks and devices; an `Observer` owns the clock.

mod cache;
mod contexts;
mod cost;
mod cse;
mod decide;
mod emit;
mod export;
mod find;
mod fuse;
mod hash;
mod lets;
mod push_down;
mod record;
mod rules;
mod schedule;
mod sharing;
mod simplify;
pub mod verify;
mod work;

pub use cache::{PlanCache, Tally};
pub use cost::{Cost, Model};
pub use rules::{RULES, Rule};
pub use schedule::Why;

use crate::array::Array;
use crate::dag::{Look, NodeId, Scalar};
use crate::error::{Result, internal};
use crate::eval::host::Recorded;
use crate::plan::Plan;
use crate::trace::Trace;
use std::collections::BTreeSet;
use std::rc::Rc;
use work::Work;

/// One pass: its name, what it does in a sentence, the row it comes from.
pub struct Pass {
    pub name: &'static str,
    pub says: &'static str,
    pub row: &'static str,
    run: fn(&mut Work) -> Result<()>,
}

/// In the order they run.
pub static PIPELINE: &[Pass] = &[
    Pass { name: "record", says: "numbers the pending cells into a graph", row: "ACC-10", run: record::run },
    Pass {
        name: "prune",
        says: "counts uses; a second visit becomes a placeholder",
        row: "ACC-07",
        run: sharing::prune,
    },
    Pass { name: "float", says: "moves a shared term to just above all its uses", row: "ACC-08", run: sharing::float },
    Pass { name: "bind", says: "makes each shared term a let", row: "ACC-09", run: sharing::bind },
    Pass { name: "simplify", says: "rewrites by rules", row: "BAR-04", run: simplify::run },
    Pass { name: "push-down", says: "reads index transforms at the leaves", row: "ACL-37", run: push_down::run },
    Pass { name: "cse", says: "merges equal nodes", row: "ACL-36", run: cse::run },
    Pass {
        name: "fuse-producers",
        says: "computes producers where they are read",
        row: "ACC-12",
        run: fuse::producers,
    },
    Pass { name: "embed-consumers", says: "computes producers inside reductions", row: "ACC-16", run: fuse::consumers },
    Pass { name: "horizontal", says: "merges launches of one domain", row: "ACC-30", run: fuse::horizontal },
    Pass { name: "emit", says: "writes the launches", row: "ACC-06", run: emit::run },
];

/// Names that stand for several passes.
pub static GROUPS: &[(&str, &[&str])] =
    &[("sharing", &["bind", "cse"]), ("fusion", &["push-down", "fuse-producers", "embed-consumers", "horizontal"])];

/// What the recorder does before any pass: runs operands once for all cells.
pub static RECORDER: &[&str] = &["frames"];

/// Passes without which there is no plan.
const NEEDED: &[&str] = &["record", "emit"];

/// What the user chose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    off: BTreeSet<&'static str>,
    /// Keep the whole record, not only the plan.
    pub trace: bool,
}

impl Options {
    /// Switches a pass or a group off or on. Errors: a sentence with the names there are.
    pub fn switch(&mut self, name: &str, on: bool) -> Result<(), String> {
        let group = GROUPS.iter().find(|g| g.0 == name).map(|g| g.1);
        let one = PIPELINE.iter().map(|p| p.name).chain(RECORDER.iter().copied()).find(|known| *known == name);
        let names: Vec<&'static str> = match (group, one) {
            (Some(names), _) => names.to_vec(),
            (None, Some(name)) if NEEDED.contains(&name) => return Err(format!("{name} cannot be switched off")),
            (None, Some(name)) => vec![name],
            (None, None) => return Err(format!("no switch is called {name}; there are {}", switches().join(" "))),
        };
        for name in names {
            if on {
                self.off.remove(name)
            } else {
                self.off.insert(name)
            };
        }
        Ok(())
    }

    pub fn is_off(&self, name: &str) -> bool {
        self.off.contains(name)
    }

    /// Whether nodes stay the graph's own: without sharing recovery `record` hands on a tree.
    pub fn keeps_sharing(&self) -> bool {
        !self.is_off("bind") && !self.is_off("prune")
    }

    pub fn off(&self) -> Vec<&'static str> {
        self.off.iter().copied().collect()
    }
}

/// All that `--off` knows, groups last.
pub fn switches() -> Vec<&'static str> {
    let passes = PIPELINE.iter().map(|p| p.name).filter(|name| !NEEDED.contains(name));
    passes.chain(RECORDER.iter().copied()).chain(GROUPS.iter().map(|g| g.0)).collect()
}

/// Told of each pass; owns the clock.
pub trait Observer {
    fn begin(&mut self, pass: &'static str);
    /// The milliseconds since `begin`.
    fn end(&mut self, pass: &'static str) -> f64;
}

/// For those who do not ask for time.
pub struct NoClock;

impl Observer for NoClock {
    fn begin(&mut self, _pass: &'static str) {}

    fn end(&mut self, _pass: &'static str) -> f64 {
        0.0
    }
}

/// Where each root of the evaluation comes from.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// The k-th of `Plan::roots`.
    Computed(usize),
    /// It was there already: the k-th input.
    Input(usize),
    Scalar(NodeId, Scalar),
}

pub struct Compiled {
    /// Shared with the plan cache.
    pub plan: Rc<Plan>,
    pub answers: Vec<Answer>,
    /// Empty unless `Options::trace`.
    pub trace: Trace,
    /// What the plan took for granted about the graph's scalars.
    looks: Vec<Look>,
}

impl Compiled {
    /// The values of all roots, given the evaluation's inputs and what a device computed.
    pub fn values(&self, inputs: &[Array], computed: &[Array]) -> Result<Vec<Array>> {
        let value = |answer: &Answer| match *answer {
            Answer::Computed(k) => computed.get(k).cloned().ok_or_else(|| internal("a root was not computed")),
            Answer::Input(k) => inputs.get(k).cloned().ok_or_else(|| internal("an input is missing")),
            Answer::Scalar(_, Scalar::Num(x)) => Ok(Array::num(x)),
            Answer::Scalar(_, Scalar::Char(c)) => Ok(Array::char(c)),
        };
        self.answers.iter().map(value).collect()
    }
}

/// From a recorded graph to a plan. Errors: LIMIT ERROR for a graph beyond limits; INTERNAL ERROR where a pass broke an
/// invariant (debug builds).
pub fn compile(recorded: &Recorded, options: &Options, observer: &mut dyn Observer) -> Result<Compiled> {
    let mut work = Work::new(recorded, options);
    for (k, pass) in PIPELINE.iter().enumerate() {
        observer.begin(pass.name);
        work.begin(k);
        if !options.is_off(pass.name) {
            (pass.run)(&mut work)?;
        }
        let ms = observer.end(pass.name);
        if cfg!(debug_assertions) {
            verify::check(&work.dag, &work.roots).map_err(|e| internal(format!("after {}: {e}", pass.name)))?;
        }
        if options.trace {
            work.snapshot(ms);
        }
    }
    let (plan, answers) = work.finish()?;
    if cfg!(debug_assertions) {
        verify::check_plan(&plan).map_err(|e| internal(format!("the plan: {e}")))?;
    }
    let trace = if options.trace { export::trace(&work, &plan) } else { Trace::default() };
    let looks = looks(&work);
    Ok(Compiled { plan: Rc::new(plan), answers, trace, looks })
}

/// What passes asked about the graph's own scalars. One that a rule made of others is known where those are; for it may
/// have met an equal one by chance, all count as looked at.
fn looks(work: &Work) -> Vec<Look> {
    let own = work.recorded.dag.len();
    let dag = &work.dag;
    if dag.ids().skip(own).any(|at| dag.is_number(at)) {
        return work.recorded.dag.ids().filter_map(|at| dag.number(at).map(|x| Look::Number(at, x))).collect();
    }
    dag.looks().into_iter().filter(|look| look.at().index() < own).collect()
}

#[cfg(test)]
pub(crate) mod tests;

//! The state that passes work on: the graph, its roots, what is allowed so far, and the log.

use super::decide::Decision;
use super::emit::Emitted;
use super::lets::Let;
use super::place::SharedReads;
use super::schedule::edit::Change;
use super::schedule::flips::Flips;
use super::schedule::policy::{Policies, Policy};
use super::schedule::{Schedule, draft};
use super::settle::Layouts;
use super::{Answer, Options, float_lets};
use aplomb_ground::error::{Result, bug};
use aplomb_ground::limits::Interrupt;
use aplomb_ground::span::Place;
use aplomb_plans::plan::Plan;
use aplomb_plans::plan::tiling::Tiling;
use aplomb_values::array::Array;
use aplomb_values::dag::Recorded;
use aplomb_values::dag::{Dag, Info, NodeId, Read};
use std::collections::BTreeMap;
use std::rc::Rc;

/// One application of a rule.
#[derive(Clone, Debug)]
pub struct Event {
    pub rule: &'static str,
    pub at: NodeId,
    pub into: NodeId,
    pub pre: &'static str,
}

/// The state after a pass, as the trace keeps it.
pub struct Snapshot {
    pub ms: f64,
    pub roots: Vec<NodeId>,
    pub lets: Rc<[Let]>,
    pub view: Option<String>,
    /// Shared with the pass before where that was the same.
    pub schedule: Rc<Schedule>,
    pub events: Vec<Event>,
}

/// Something a user should know that is no decision.
pub struct Warning {
    pub code: &'static str,
    pub place: Option<Place>,
    pub text: String,
}

/// A graph to go back to, from one that was tried.
pub struct Saved {
    dag: Dag,
    roots: Vec<NodeId>,
    lets: Rc<[Let]>,
    flips: Flips,
    delayed: BTreeMap<NodeId, String>,
    events: usize,
    schedule: Option<Rc<Schedule>>,
}

pub struct Work<'a> {
    pub recorded: &'a Recorded,
    pub options: &'a Options,
    /// Looked at wherever a pass walks the graph.
    pub stop: Interrupt,
    pub dag: Dag,
    pub roots: Vec<NodeId>,
    /// The policies of the passes so far.
    pub policies: Policies,
    pub lets: Rc<[Let]>,
    pub view: Option<String>,
    pub decisions: Vec<(usize, Decision)>,
    pub snapshots: Vec<Snapshot>,
    pub warnings: Vec<Warning>,
    /// The form of each node's array in the launch that computes it (ACC-13).
    pub delayed: BTreeMap<NodeId, String>,
    /// The orders of axes in which arrays are written, where these are others than their nodes'.
    pub layouts: Layouts,
    /// The reads through shared memory that place, tile and pad chose for the final schedule's
    /// launches.
    pub shared_reads: Vec<SharedReads>,
    pub tilings: BTreeMap<usize, Tiling<(NodeId, Read)>>,
    pub emitted: Option<Emitted>,
    /// Plans that `settle` tried.
    pub tried: usize,
    pass: usize,
    events: Vec<Event>,
    /// The schedule of this pass, once asked for; a pass that changes what it is made of drops it.
    schedule: Option<Rc<Schedule>>,
    /// The schedule before the policy of this pass was asked for; none without a trace.
    pub(super) before: Option<Rc<Schedule>>,
}

impl<'a> Work<'a> {
    pub fn new(recorded: &'a Recorded, options: &'a Options, stop: Interrupt) -> Self {
        Work {
            recorded,
            options,
            stop,
            dag: recorded.dag.clone(),
            roots: recorded.roots.clone(),
            policies: options.policies(),
            lets: Rc::default(),
            view: None,
            decisions: Vec::new(),
            snapshots: Vec::new(),
            warnings: Vec::new(),
            delayed: BTreeMap::new(),
            layouts: Layouts::default(),
            shared_reads: Vec::new(),
            tilings: BTreeMap::new(),
            emitted: None,
            tried: 0,
            pass: 0,
            events: Vec::new(),
            schedule: None,
            before: None,
        }
    }

    pub fn begin(&mut self, pass: usize) {
        self.pass = pass;
        self.view = None;
    }

    /// The place in `PIPELINE` of the pass that runs.
    pub fn pass_now(&self) -> usize {
        self.pass
    }

    /// The schedule that the passes so far allow. Errors: INTERRUPT.
    pub fn schedule(&mut self) -> Result<Rc<Schedule>> {
        if let Some(known) = &self.schedule {
            return Ok(known.clone());
        }
        let made = Rc::new(draft(&self.dag, &self.roots, &self.lets, self.policies, &self.stop)?);
        self.schedule = Some(made.clone());
        Ok(made)
    }

    /// Asks for one thing more from here on. Errors: INTERRUPT.
    pub fn ask(&mut self, policy: Policy) -> Result<()> {
        self.before = if self.options.trace { Some(self.schedule()?) } else { None };
        let (was, dag) = (self.policies, &self.dag);
        let same = |s: &Rc<Schedule>| !was.concerns(policy, dag, &self.roots, &self.lets, s);
        self.schedule = self.schedule.take().filter(same);
        self.policies = was.and(policy);
        Ok(())
    }

    /// Makes these choices the other way from here on.
    pub fn flip(&mut self, flips: Flips) {
        self.policies.flips = flips;
        self.schedule = None;
    }

    /// The same, where the schedule that they lead to is known.
    pub fn flip_to(&mut self, flips: Flips, schedule: Rc<Schedule>) {
        self.policies.flips = flips;
        self.schedule = Some(schedule);
    }

    /// The change that the policy of this pass makes; None where nobody is to be told. Errors:
    /// INTERRUPT.
    pub fn change(&mut self) -> Result<Option<Change>> {
        let Some(before) = self.before.take() else { return Ok(None) };
        let after = self.schedule()?;
        let edits = before.difference(&self.dag, &after);
        Ok(Some(Change { before, after, edits }))
    }

    /// Binds shared terms, from here on, at these places.
    pub fn bind(&mut self, lets: Vec<Let>) {
        let live = self.dag.live(&self.roots);
        let hold = |lets: &[Let]| !float_lets::held(&self.dag, lets, &live).is_empty();
        if !self.policies.asks(Policy::Lets) && (hold(&self.lets) || hold(&lets)) {
            self.schedule = None;
        }
        self.lets = lets.into();
    }

    pub fn decide(&mut self, decision: Decision) {
        self.decisions.push((self.pass, decision));
    }

    pub fn snapshot(&mut self, ms: f64) -> Result<()> {
        let schedule = self.schedule()?;
        self.snapshots.push(Snapshot {
            ms,
            roots: self.roots.clone(),
            lets: self.lets.clone(),
            view: self.view.take(),
            schedule,
            events: std::mem::take(&mut self.events),
        });
        Ok(())
    }

    /// Walks the live nodes in id order, operands before users, and puts what `rule` gives in a
    /// node's place until it gives nothing. The only way one node replaces another.
    pub fn rewrite(
        &mut self,
        mut rule: impl FnMut(&mut Dag, NodeId) -> Option<(&'static str, &'static str, NodeId)>,
    ) {
        let live = self.dag.live(&self.roots);
        let mut now: Vec<NodeId> = self.dag.ids().collect();
        let mut changed = false;
        for at in self.dag.ids().filter(|at| live[at.index()]) {
            // What is left of the graph then, nobody sees: the pass is the last.
            if self.stop.is_set() {
                return;
            }
            let moved = self.dag.node(at).inputs().iter().any(|a| now[a.index()] != *a);
            let mut new = at;
            if moved {
                let node = self.dag.node(at).map_inputs(|a| now[a.index()]);
                new = self.dag.add(node, self.successor(at));
            }
            // A rule never makes a graph grow, so this ends; the bound only holds a defect in
            // check.
            for _ in 0..64 {
                let Some((name, pre, to)) = rule(&mut self.dag, new) else { break };
                self.events.push(Event { rule: name, at: new, into: to, pre });
                self.inherit(new, to);
                new = to;
            }
            changed |= new != at;
            now[at.index()] = new;
        }
        if changed {
            self.moved(&now);
        }
    }

    /// Roots and lets follow what took their nodes' places.
    pub fn moved(&mut self, now: &[NodeId]) {
        let new = |at: NodeId| now[at.index()];
        self.roots.iter_mut().for_each(|r| *r = new(*r));
        let moved = |l: &Let| Let { node: new(l.node), at: l.at.map(new) };
        self.lets = self.lets.iter().map(moved).collect();
        self.schedule = None;
    }

    /// Something a pass did that is no rewrite.
    pub fn note(&mut self, rule: &'static str, at: NodeId, into: NodeId, pre: &'static str) {
        if self.options.trace {
            self.events.push(Event { rule, at, into, pre });
        }
    }

    /// The facts of a node that takes the place of `at`.
    pub fn successor(&self, at: NodeId) -> Info {
        let old = self.dag.info(at);
        Info { from: vec![at], born: self.pass, ..old.clone() }
    }

    /// A name that the source gave survives; so does the line from new to old.
    fn inherit(&mut self, old: NodeId, to: NodeId) {
        let name = self.dag.info(old).name.clone();
        let born = self.pass;
        let info = self.dag.info_mut(to);
        info.name = info.name.take().or(name);
        if to > old {
            info.born = born;
            if !info.from.contains(&old) {
                info.from.push(old);
            }
        }
    }

    /// The graph as it is, with what follows it: to be taken back to.
    pub fn saved(&self) -> Saved {
        Saved {
            dag: self.dag.clone(),
            roots: self.roots.clone(),
            lets: self.lets.clone(),
            flips: self.policies.flips,
            delayed: self.delayed.clone(),
            events: self.events.len(),
            schedule: self.schedule.clone(),
        }
    }

    /// Takes the graph back to what it was.
    pub fn restore(&mut self, was: Saved) {
        (self.dag, self.roots, self.lets) = (was.dag, was.roots, was.lets);
        (self.policies.flips, self.delayed) = (was.flips, was.delayed);
        self.events.truncate(was.events);
        self.schedule = was.schedule;
    }

    pub fn finish(&mut self) -> Result<(Plan, Vec<Answer>)> {
        let emitted = self.emitted.take().ok_or_else(|| bug!("no plan was written"))?;
        Ok((emitted.plan, emitted.answers))
    }

    /// The array behind an input node.
    pub fn input(&self, at: NodeId) -> Option<&Array> {
        self.dag.node(at).input().and_then(|k| self.recorded.inputs.get(k as usize))
    }
}

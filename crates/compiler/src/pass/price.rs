//! Prices of alternatives: the whole plan as it is, and as it would be with one choice reversed.
//!
//! A choice by itself has its own figures, which look at one node. What it does to the plan is
//! known when the plan is made again with it reversed, which takes as long as the plan took; so it
//! is done where somebody asks. In: a story. Out: the same, with `plan` at its decisions.

use super::decide::{BY_ITSELF, Decision};
use super::reversal::Reversal;
use super::schedule::flips::{Flip, Way};
use super::schedule::{Schedule, Why};
use super::sentences::Says;
use super::{Compiled, Observer, Options, compile, settle};
use aplomb_ground::error::time;
use aplomb_ground::trace::{DecisionRecord, PlanCost};
use aplomb_plans::kir;
use aplomb_plans::plan::cpu::{ASK_US, Machine};
use aplomb_plans::plan::{Launch, Plan};
use aplomb_values::dag::{Dag, NodeId, Recorded};
use std::collections::BTreeMap;

/// The room for the plans of one story, and what did not fit in it. A story has many evaluations,
/// and who asks for it waits for all of them.
#[derive(Clone, Copy, Debug)]
pub struct Prices {
    /// The room of all plans that may still be made.
    left: usize,
    /// Decisions that have no price for want of room.
    pub missing: usize,
}

/// The room that a plan of so many nodes takes, about 15 µs a node: one of none takes as long as
/// 64 nodes of a large one.
pub fn room(nodes: usize) -> usize {
    nodes + 64
}

/// The room of a plan like this one: what its launches read is looked at once more by each pass
/// that asks what they take.
fn room_like(nodes: usize, plan: &Plan) -> usize {
    let reads: usize = plan.launches.iter().map(|l| l.loads.len()).sum();
    room(nodes).saturating_add(reads.saturating_mul(READ))
}

/// The nodes that take as long as a read.
const READ: usize = 6;

impl Prices {
    /// The prices that so much room is for.
    pub fn of(left: usize) -> Prices {
        Prices { left, missing: 0 }
    }
}

/// The reversal of a decision that the final plan bears out, where the plan can be made without it:
/// the pass's own, or one that the planner has. `last` are the nodes that took others' places.
pub fn other(dag: &Dag, plan: &Schedule, last: &[NodeId], d: &Decision) -> Option<Reversal> {
    let at = last[d.at().index()];
    let (at, way) = match (d.what(), d.reason()) {
        _ if d.other().is_some() => return d.other(),
        ("inline", _) | ("push", "composes") => (at, Way::Store),
        ("shape", _) => (at, Way::Used),
        ("keep", "work" | "shared" | "settled") => (at, Way::Inline),
        ("embed", _) | ("horizontal", _) => (at, Way::Apart),
        ("launch", "boundary") => (at, Way::Together),
        ("float", _) if let Says::LetOutOf(body) = d.says() => (last[body.index()], Way::Store),
        ("push", "grows") => {
            let below = *dag.node(at).inputs().first()?;
            match plan.keep.get(&below) {
                None if dag.node(below).computes() => (below, Way::Store),
                Some(Why::Work { .. } | Why::Shared { .. }) => (below, Way::Inline),
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(Reversal::Flip(Flip { at, way }))
}

/// Microseconds of a launch on a GPU, with its start, by the model.
pub fn on_gpu(plan: &Plan, l: &Launch) -> f64 {
    kir::figures(plan, l).time()
}

/// Nanoseconds of a launch on a CPU, with its start, by the model.
pub fn on_cpu(plan: &Plan, l: &Launch) -> f64 {
    Machine::REFERENCE.time(plan, l).on(1)
}

/// A plan in figures, by the models: the one cost that choices are held against.
pub fn of(plan: &Plan) -> PlanCost {
    let mut cost = PlanCost { launches: plan.launches.len() as u32, ..PlanCost::default() };
    let (mut ns, mut gpu_us) = (0.0, 0.0);
    for l in &plan.launches {
        for effort in l.effort() {
            cost.flops = cost.flops.saturating_add(effort.flops);
        }
        ns += on_cpu(plan, l);
        gpu_us += on_gpu(plan, l);
    }
    cost.bytes = plan.moved();
    cost.us = (ns / 10.0).round() / 100.0;
    cost.gpu_us = (gpu_us * 100.0).round() / 100.0;
    cost
}

/// Prices the decisions of one evaluation that can be made the other way: for each the plan as it
/// is and the one that the other way makes. None of the second: it costs the same; none of either:
/// there was no room, or no such plan.
pub fn all(
    (recorded, options, made): (&Recorded, &Options, &Compiled),
    decisions: &mut [DecisionRecord],
    prices: &mut Prices,
    observer: &mut dyn Observer,
) {
    let own = of(&made.plan);
    let settles = options.settles() && !options.is_off("settle");
    let (settled, tried) = made.settled;
    let mut known: BTreeMap<Reversal, Option<PlanCost>> = BTreeMap::new();
    for (k, reversal) in &made.reversals {
        let d = &mut decisions[*k];
        let Some(other) = options.reversed(*reversal, settled) else { continue };
        if !known.contains_key(reversal) {
            // One that is settled anew tries as many as the first did.
            let plans = if other.flips.is_some() { 1 } else { 1 + tried };
            let room = room_like(recorded.dag.len(), &made.plan).saturating_mul(plans);
            let Some(left) = prices.left.checked_sub(room) else {
                prices.missing += 1;
                continue;
            };
            prices.left = left;
        }
        let mut priced = || Some(of(&compile(recorded, &other, observer).ok()?.plan));
        if let Some(other) = known.entry(*reversal).or_insert_with(&mut priced).clone() {
            d.plan = Some(own.clone());
            let alternative = &mut d.alt[0];
            let is_same = other == own;
            alternative.why_not = judged(&own, &other, &alternative.why_not, settles);
            alternative.plan = Some(other).filter(|_| !is_same);
        }
    }
}

/// The reason for which an alternative lost, now that both plans are known.
fn judged(own: &PlanCost, other: &PlanCost, said: &str, settles: bool) -> String {
    let by_cost = said == BY_ITSELF || said.starts_with("rule: ");
    // What only a GPU's text does changes its time alone.
    let is_cheaper = match other.us == own.us {
        true => other.gpu_us < own.gpu_us,
        false => other.us < own.us,
    };
    match is_cheaper {
        _ if !by_cost => said.into(),
        _ if other == own => "rule: the whole plan costs the same with it".into(),
        false => "dearer".into(),
        true if said != BY_ITSELF => said.into(),
        true if other.us == own.us && own.us < ASK_US => {
            "rule: no GPU is asked to run a plan as short as this".into()
        }
        true if settle::is_cheaper(other, own) => {
            let compared = match settles {
                true => "whole plans are compared no longer than they are worth",
                false => "this pipeline compares no whole plans",
            };
            format!("rule: each choice is made for its node, and {compared}")
        }
        true if other.gpu_us > own.gpu_us => format!(
            "rule: on a GPU the whole plan would take {}, not {}, and one plan serves both",
            time(other.gpu_us),
            time(own.gpu_us)
        ),
        true => "rule: a plan is taken for another when it saves a fiftieth".into(),
    }
}

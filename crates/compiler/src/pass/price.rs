//! Prices of alternatives: the whole plan as it is, and as it would be with one choice reversed.
//!
//! A choice by itself has its own figures, which look at one node. What it does to the plan is
//! known when the plan is made again with it reversed, which takes as long as the plan took; so it
//! is done where somebody asks. In: a story. Out: the same, with `plan` at its decisions.

use super::decide::Decision;
use super::schedule::flips::{Flip, Flips, Way};
use super::{Observer, Options, compile, settle};
use aplomb_ground::error::time;
use aplomb_ground::trace::{DecisionRecord, PlanCost};
use aplomb_plans::kir::{self, TileSize};
use aplomb_plans::plan::cpu::Machine;
use aplomb_plans::plan::{Launch, Plan};
use aplomb_values::dag::{NodeId, Recorded};
use std::collections::BTreeMap;

/// The room for the plans of one story, and what did not fit in it. A story has many evaluations,
/// and who asks for it waits for all of them.
#[derive(Clone, Copy, Debug)]
pub struct Prices {
    /// Nodes of all plans that may still be made; each plan is so many more (`PLAN`).
    left: usize,
    /// Decisions that have no price for want of room.
    pub missing: usize,
}

/// A plan of no nodes takes as long as so many nodes of a large one: `explain examples/queens.apl`
/// has thousands of plans of six nodes.
const PLAN: usize = 64;

impl Default for Prices {
    /// About half a second.
    fn default() -> Prices {
        Prices { left: 30_000, missing: 0 }
    }
}

/// The other way of a decision about a node that the final plan has, where the planner has one.
pub fn flip(at: NodeId, d: &Decision) -> Option<Flip> {
    let way = match (d.what(), d.reason()) {
        ("inline", _) | ("push", "composes") => Way::Store,
        ("keep", "work" | "shared" | "settled") => Way::Inline,
        ("embed", _) | ("horizontal", _) => Way::Apart,
        ("launch", "boundary") => Way::Together,
        _ => return None,
    };
    Some(Flip { at, way })
}

/// Microseconds of a launch on a GPU, with its start, by the model.
pub fn on_gpu(plan: &Plan, l: &Launch) -> f64 {
    kir::figures(plan, l, TileSize::USUAL).time()
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

/// Prices the decisions of one evaluation whose `flips` are known: for each the plan as it is and
/// the one that the other way makes. None of the second: it makes the same; none of either: there
/// was no room, or no such plan.
pub fn all(
    recorded: &Recorded,
    options: &Options,
    (own, settled): (&Plan, Flips),
    flips: &[(usize, Flip)],
    decisions: &mut [DecisionRecord],
    (prices, observer): (&mut Prices, &mut dyn Observer),
) {
    let own = of(own);
    let settles = options.settles() && !options.is_off("settle");
    let mut known: BTreeMap<Flip, Option<PlanCost>> = BTreeMap::new();
    for (k, flip) in flips {
        let d = &mut decisions[*k];
        let nodes = recorded.dag.len() + PLAN;
        if !known.contains_key(flip) {
            let Some(left) = prices.left.checked_sub(nodes) else {
                prices.missing += 1;
                continue;
            };
            prices.left = left;
        }
        let mut priced = || {
            let flips = Some(settled.with(*flip)?);
            let options = Options { flips, trace: false, ..options.clone() };
            Some(of(&compile(recorded, &options, observer).ok()?.plan))
        };
        let other = known.entry(*flip).or_insert_with(&mut priced).clone();
        if let Some(other) = other {
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
    let by_cost = said == "dearer" || said.starts_with("rule: ");
    match other.us < own.us {
        _ if !by_cost => said.into(),
        _ if other == own => "rule: the plan is the same with it".into(),
        false => "dearer".into(),
        true if said != "dearer" => said.into(),
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

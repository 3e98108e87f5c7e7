//! settle: choices made the other way, and arrays laid out in another order of axes, where the
//! whole plan is cheaper for it.
//!
//! Rows: ACC-17, ACL-40. Each pass before decides node by node, by what it knows then. Here plans
//! are whole: a choice is made the other way, all launches are written, and both plans are asked
//! the one cost (`price`). What is at least `GAIN` cheaper is taken. So many plans are tried as are
//! worth their time: what trying takes is a part of what the plan itself takes, by the model, never
//! by a clock. Pipelines whose rules say what is stored keep to them; how arrays lie is no rule of
//! any. In: the schedule. Out: one whose plan is no dearer, and `Layouts`.
//!
//! Layouts: `⍉A` is a read, so what is made of it can be written across and read across ever after,
//! though the source turned it. A map that writes arrays which later loops read across writes them
//! in the order of those loops.

use super::cost::{Cost, LAUNCH_NS};
use super::decide::{About, Choice, Decision, WhyNot};
use super::fault::Fault;
use super::reversal::Reversal;
use super::schedule::flips::{Flip, Way};
use super::schedule::{Group, Schedule, Why, legal};
use super::sentences::Says;
use super::work::Work;
use super::{again, find, price, sketch};
use aplomb_ground::error::Result;
use aplomb_ground::trace::PlanCost;
use aplomb_plans::kir::LAUNCH_US;
use aplomb_plans::plan::cpu::{ASK_US, CACHED, INSTRUCTION};
use aplomb_plans::plan::layout::{axes, laid};
use aplomb_plans::plan::{Plan, product};
use aplomb_values::array::Shape;
use aplomb_values::dag::{Dag, NodeId, Read};
use std::collections::BTreeMap;

/// A plan is taken for another if its time falls by such a part.
const GAIN: f64 = 0.02;
/// The times as long, or longer by a launch of a GPU, that a plan may take on one device where it
/// takes less on the other: a price holds of both, and of the one of the two that is there.
const WORST: f64 = 1.25;
/// The part of a plan's own time that trying others may take.
const SHARE: f64 = 0.25;
/// Nanoseconds that a node of a plan takes to be planned again, and what any plan takes.
const NODE_NS: f64 = 5_000.0;
const PLAN_NODES: usize = 8;
/// Plans that are tried, at most.
const MOST: usize = 64;
/// Points of a map whose arrays are worth another order.
const LARGE: u64 = 1024;

/// The orders of axes in which maps run, by the numbers of their launches, and in which their
/// arrays lie. Axis k is the node's `order[k]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layouts {
    launches: BTreeMap<usize, Vec<usize>>,
    arrays: BTreeMap<NodeId, Vec<usize>>,
}

impl Layouts {
    /// Writes the launches of a plan in their orders.
    pub fn apply(&self, plan: &mut Plan) {
        self.launches.iter().for_each(|(k, order)| plan.turn(*k, order));
    }

    /// The check that arrays lie in the order in which their launches run. Errors: a sentence.
    pub fn check(&self, schedule: &Schedule) -> Result<(), String> {
        for (k, order) in &self.launches {
            let nodes = schedule.groups[*k].nodes();
            if nodes.iter().any(|at| self.arrays.get(at) != Some(order)) {
                return Err(format!("k{k} writes arrays in another order than they lie in"));
            }
        }
        Ok(())
    }

    /// A launch as it runs.
    pub fn group(&self, k: usize, group: &Group) -> Group {
        let mut own = group.clone();
        if let Some(order) = self.launches.get(&k) {
            own.domain = turned(&group.domain, order);
            own.outer = own.domain.clone();
        }
        own
    }

    /// The extents of a node's array as it lies in memory.
    pub fn shape(&self, dag: &Dag, at: NodeId) -> Shape {
        match self.arrays.get(&at) {
            Some(order) => turned(dag.shape(at), order),
            None => dag.shape(at).into(),
        }
    }

    /// A read of a node over the domain of launch k, as the launch makes it.
    pub fn seen(&self, k: usize, at: NodeId, read: Read, domain: &[usize]) -> Read {
        let read = match self.launches.get(&k) {
            Some(order) => read.after(&axes(order), &turned(domain, order)),
            None => read,
        };
        match self.arrays.get(&at) {
            Some(order) => laid(&read, order),
            None => read,
        }
    }
}

fn turned(extents: &[usize], order: &[usize]) -> Shape {
    order.iter().map(|axis| extents[*axis]).collect()
}

pub fn run(work: &mut Work) -> Result<()> {
    if work.options.settles() {
        again::run(work)?;
    }
    match (work.options.flips, work.options.dice) {
        (_, Some(seed)) => return by_dice(work, seed),
        (Some(given), None) => work.flip(given),
        (None, None) if work.options.settles() => choices(work)?,
        (None, None) => {}
    }
    lay(work)
}

/// Makes choices and lays arrays out by dice: tests see that none of it changes a value.
fn by_dice(work: &mut Work, seed: u64) -> Result<()> {
    let mut state = seed | 1;
    let mut roll = |sides: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % sides
    };
    let schedule = work.schedule()?;
    for (flip, _) in candidates(work, &schedule) {
        if roll(2) == 0
            && let Some(more) = work.policies.flips.and(flip)
        {
            work.flip(more);
        }
    }
    let schedule = work.schedule()?;
    let plan = sketch::whole(&work.dag, &work.roots, &schedule)?;
    for (k, group) in schedule.groups.iter().enumerate().filter(|(k, _)| plan.may_turn(*k)) {
        let mut order: Vec<usize> = (0..group.domain.len()).collect();
        let by = roll(order.len() as u64) as usize;
        order.rotate_left(by);
        if roll(2) == 0 {
            order.reverse();
        }
        work.layouts.arrays.extend(group.nodes().into_iter().map(|at| (at, order.clone())));
        work.layouts.launches.insert(k, order);
    }
    Ok(())
}

/// The cost of a schedule: of all its launches.
fn cost(work: &Work, schedule: &Schedule) -> Result<PlanCost> {
    Ok(price::of(&sketch::whole(&work.dag, &work.roots, schedule)?))
}

/// True of a plan that is cheaper on both devices together, by the mean of the ratios, and not much
/// dearer on either. One plan serves both; a small one asks for no GPU.
pub(super) fn is_cheaper(new: &PlanCost, own: &PlanCost) -> bool {
    if own.us < ASK_US {
        return new.us < own.us * (1.0 - GAIN);
    }
    let by = |new: f64, own: f64| new / own.max(f64::MIN_POSITIVE);
    let (cpu, gpu) = (by(new.us, own.us), by(new.gpu_us, own.gpu_us));
    let bearable = |ratio: f64, more: f64, launch: f64| ratio <= WORST || more <= launch;
    cpu * gpu < 1.0 - GAIN
        && bearable(cpu, new.us - own.us, LAUNCH_NS / 1e3)
        && bearable(gpu, new.gpu_us - own.gpu_us, LAUNCH_US)
}

/// Tries choices the other way, those that may save most first.
fn choices(work: &mut Work) -> Result<()> {
    let schedule = work.schedule()?;
    let mut all = candidates(work, &schedule);
    all.retain(|(_, saved)| *saved > 0.0);
    let groups = schedule.groups.len();
    // What no launch computes twice, and no launch alone writes, has no other way.
    if all.is_empty() || groups == 0 {
        return Ok(());
    }
    let (bytes, flops) = (schedule.facts.bytes as f64, schedule.facts.flops as f64);
    let about = (bytes / CACHED).max(flops * INSTRUCTION) + groups as f64 * LAUNCH_NS;
    let plan = NODE_NS * (work.dag.len() + PLAN_NODES) as f64;
    let mut room = ((about * SHARE / plan) as usize).min(MOST);
    if room < 2 {
        return Ok(());
    }
    let mut own = cost(work, &schedule)?;
    let (mut flips, mut best) = (work.policies.flips, schedule);
    let mut taken: Vec<Flip> = Vec::new();
    for (flip, _) in all {
        if room == 0 {
            break;
        }
        (room, work.tried) = (room - 1, work.tried + 1);
        work.stop.check()?;
        let Some(other) = flips.and(flip) else { break };
        work.flip(other);
        let changed = work.schedule()?;
        let new = cost(work, &changed)?;
        if is_cheaper(&new, &own) != work.options.has(Fault::Dearer) {
            taken.push(flip);
            (own, flips, best) = (new, other, changed);
        }
    }
    // One that paid may no longer pay where others followed.
    let mut k = taken.len().saturating_sub(1);
    while k > 0 && room > 0 && !work.options.has(Fault::Dearer) {
        (k, room, work.tried) = (k - 1, room - 1, work.tried + 1);
        work.stop.check()?;
        let other = flips.without(taken[k]);
        work.flip(other);
        let changed = work.schedule()?;
        let new = cost(work, &changed)?;
        if is_cheaper(&new, &own) {
            taken.remove(k);
            (own, flips, best) = (new, other, changed);
        }
    }
    if work.options.trace {
        for flip in taken {
            work.flip(flips.without(flip));
            let changed = work.schedule()?;
            let other = cost(work, &changed)?;
            let decision = chosen(flip, &own, &other);
            work.decide(decision);
        }
    }
    work.flip_to(flips, best);
    Ok(())
}

/// The choices that have another way, with nanoseconds that it may save at most, the most first.
fn candidates(work: &Work, schedule: &Schedule) -> Vec<(Flip, f64)> {
    let dag = &work.dag;
    let mut all: Vec<(Flip, f64)> = Vec::new();
    for (at, why) in &schedule.keep {
        if matches!(why, Why::Work { .. } | Why::Shared { .. }) {
            let saved = 2.0 * dag.elements(*at) as f64 + LAUNCH_NS;
            all.push((Flip { at: *at, way: Way::Inline }, saved));
        }
    }
    for (at, places) in &schedule.facts.evaluated {
        let elements = dag.elements(*at);
        if dag.node(*at).computes() && !dag.shape(*at).is_empty() && places.points > elements {
            let again = (places.points - elements) as f64;
            let body = find::body(dag, &schedule.keep, *at);
            let saved = again * body.ns - LAUNCH_NS;
            all.push((Flip { at: *at, way: Way::Store }, saved));
        }
    }
    for (k, group) in schedule.groups.iter().enumerate() {
        let meets =
            |other: &&Group| other.stage == group.stage && legal::beside(other, group).is_ok();
        let first = group.nodes().first().copied();
        if let (Some(at), Some(_)) = (first, schedule.groups[..k].iter().find(meets)) {
            all.push((Flip { at, way: Way::Together }, LAUNCH_NS));
        }
    }
    all.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
    all
}

/// The cost of a whole plan, as that of a choice.
fn whole(cost: &PlanCost) -> Cost {
    Cost { flops: cost.flops, bytes: cost.bytes, ns: cost.us * 1e3 }
}

/// A choice that stands in the plan, beside the plan with it undone.
fn chosen(flip: Flip, own: &PlanCost, other: &PlanCost) -> Decision {
    let (what, names) = match flip.way {
        Way::Store => ("keep", ["materialise", "inline"]),
        Way::Inline => ("inline", ["inline", "materialise"]),
        Way::Together => ("horizontal", ["merge", "apart"]),
        Way::Apart => ("launch", ["apart", "merge"]),
        Way::Used => ("shape", ["use", "drop"]),
    };
    let because = match () {
        () if own.us <= other.us => WhyNot::Dearer,
        () if own.gpu_us <= other.gpu_us => {
            WhyNot::Rule("it takes longer on a GPU, and one plan serves both")
        }
        () => WhyNot::Rule("whole plans are compared no longer than they are worth"),
    };
    let about = About { at: flip.at, what, reason: "settled", row: "ACC-17", switch: "settle" };
    let [own_name, undone] = names;
    let (a, b) =
        (Choice { name: own_name, cost: whole(own) }, Choice { name: undone, cost: whole(other) });
    let says = Says::Settled { way: flip.way, gpu_us: [own.gpu_us, other.gpu_us] };
    Decision::forced(about, a, b, because, says)
}

/// Lays arrays out in the order in which they are read.
fn lay(work: &mut Work) -> Result<()> {
    if !crosses(&work.dag) {
        return Ok(());
    }
    let schedule = work.schedule()?;
    let worth = |g: &Group| g.axis.is_none() && g.domain.len() > 1 && product(&g.domain) >= LARGE;
    if schedule.groups.len() < 2 || !schedule.groups.iter().any(worth) {
        return Ok(());
    }
    let mut plan = sketch::whole(&work.dag, &work.roots, &schedule)?;
    let mut own = price::of(&plan);
    // Those that are read last come first: what a map reads is laid out as it runs by then.
    for k in (0..schedule.groups.len()).rev().filter(|k| worth(&schedule.groups[*k])) {
        work.stop.check()?;
        let Some(order) = plan.may_turn(k).then(|| plan.wanted_order(k)).flatten() else {
            continue;
        };
        let mut other = plan.clone();
        other.turn(k, &order);
        let new = price::of(&other);
        if !is_cheaper(&new, &own) || work.options.reverses(Reversal::Unturned(k)) {
            continue;
        }
        let nodes = &schedule.groups[k].nodes();
        if work.options.trace {
            let decision = laid_out(nodes, &order, (&new, &own));
            work.decide(decision.or(Reversal::Unturned(k)));
        }
        if !work.options.has(Fault::OtherLayout) {
            work.layouts.arrays.extend(nodes.iter().map(|at| (*at, order.clone())));
        }
        work.layouts.launches.insert(k, order);
        (plan, own) = (other, new);
    }
    Ok(())
}

/// True where something is read with its axes in another order: else every array lies as its
/// readers go.
fn crosses(dag: &Dag) -> bool {
    dag.ids().any(|at| {
        let Some(read) = dag.node(at).read() else { return false };
        let by = read.ix.iter().map(|ix| (0..dag.shape(at).len()).rev().find(|k| ix.mentions(*k)));
        !by.is_sorted()
    })
}

fn laid_out(nodes: &[NodeId], order: &[usize], (new, own): (&PlanCost, &PlanCost)) -> Decision {
    let about =
        About { at: nodes[0], what: "place", reason: "order", row: "own:settle", switch: "settle" };
    let (a, b) = (
        Choice { name: "as-read", cost: whole(new) },
        Choice { name: "as-written", cost: whole(own) },
    );
    let says = Says::LaidOut(order.into());
    Decision::forced(about, a, b, WhyNot::Dearer, says).of(nodes.into())
}

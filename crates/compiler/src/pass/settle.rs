//! settle: choices made the other way, and arrays laid out in another order of axes, where the
//! whole plan is cheaper for it.
//!
//! Rows: ACC-17, ACL-40. Each pass before decides node by node, by what it knows then. Here plans
//! are whole: a choice is made the other way, all launches are written, and both plans are asked
//! the one cost (`price`). What is at least `GAIN` cheaper than each plan that was taken is taken.
//! Choices that do not pay singly may pay at once: about nodes that are alike, or to store what
//! another computes again. So many plans are tried as are worth their time: what trying takes is a
//! part of what the plan itself takes, by the model, never by a clock. Pipelines whose rules say
//! what is stored keep to them; how arrays lie is no rule of any. In: the schedule. Out: one whose
//! plan is no dearer, and `Layouts`.
//!
//! Layouts: `⍉A` is a read, so what is made of it can be written across and read across ever after,
//! though the source turned it. A map that writes arrays which later loops read across writes them
//! in the order of those loops.

use super::alike::Operation;
use super::cost::{Cost, LAUNCH_NS};
use super::decide::{About, Choice, Decision, WhyNot};
use super::fault::Fault;
use super::reversal::Reversal;
use super::schedule::beside::FAR;
use super::schedule::flips::{Flip, Flips, Way};
use super::schedule::{Group, Schedule, Why, is_move, legal};
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
use std::rc::Rc;

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
/// Nanoseconds of a step to a place that is no sum, as `i mod 7`: in windows of 50 by 50 those of
/// `220 220⍴⍳7` took four times what reading it takes.
const STEP_NS: f64 = 1.0;
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

/// The plans that were taken, each for the one before, and what may still be tried.
struct Taken<'a, 'w> {
    work: &'a mut Work<'w>,
    room: usize,
    /// The costs of the first plan and of all that were taken. The last is the least.
    costs: Vec<PlanCost>,
    flips: Flips,
    schedule: Rc<Schedule>,
    /// Choices that did not pay by themselves: they are not tried again but with others.
    refused: Vec<Flip>,
}

impl Taken<'_, '_> {
    /// Tries choices, and takes their plan if it is cheaper than each that was taken: what is not
    /// much dearer on one device, again and again, would be so in the end. False: it is not taken.
    fn tries(&mut self, flips: Flips) -> Result<bool> {
        (self.room, self.work.tried) = (self.room - 1, self.work.tried + 1);
        self.work.stop.check()?;
        self.work.flip(flips);
        let schedule = self.work.schedule()?;
        let new = cost(self.work, &schedule)?;
        let is_least = self.costs.iter().all(|own| is_cheaper(&new, own));
        let takes = is_least != self.work.options.has(Fault::Dearer);
        if takes {
            self.costs.push(new);
            (self.flips, self.schedule) = (flips, schedule);
        }
        Ok(takes)
    }

    /// Tries choices the other way, one after the other; then at once those about nodes that are
    /// alike, and two that may go together, of which none paid by itself. True: some were taken,
    /// and there is room for more.
    fn round(&mut self, all: Vec<Flip>) -> Result<bool> {
        let first = self.flips;
        let (before, mut left) = (self.costs.len(), Vec::new());
        for flip in all.into_iter().filter(|flip| !first.has(flip.at, flip.way)) {
            let Some(flips) = self.flips.with(flip).filter(|_| self.room > 0) else { break };
            if self.refused.contains(&flip) || !self.tries(flips)? {
                left.push(flip);
            }
        }
        self.refused.extend(&left);
        let dag = &self.work.dag;
        let several: Vec<Vec<Flip>> =
            classes(dag, &left).into_iter().chain(pairs(dag, &left)).collect();
        for together in several {
            let mut flips = self.flips;
            let is_new = |flip: &&Flip| !self.flips.has(flip.at, flip.way);
            let fitting = together.iter().filter(is_new).map_while(|flip| {
                flips = flips.with(*flip)?;
                Some(())
            });
            if fitting.count() > 1 && self.room > 0 {
                self.tries(flips)?;
            }
        }
        Ok(self.costs.len() > before && self.room > 0)
    }
}

/// Tries choices the other way, those that may save most first.
fn choices(work: &mut Work) -> Result<()> {
    let schedule = work.schedule()?;
    let all = worth(work, &schedule);
    let groups = schedule.groups.len();
    // What no launch computes twice, and no launch alone writes, has no other way.
    if all.is_empty() || groups == 0 {
        return Ok(());
    }
    let (bytes, flops) = (schedule.facts.bytes as f64, schedule.facts.flops as f64);
    let about = (bytes / CACHED).max(flops * INSTRUCTION) + groups as f64 * LAUNCH_NS;
    let live = work.dag.live(&work.roots).iter().filter(|live| **live).count();
    let plan = NODE_NS * (live + PLAN_NODES) as f64;
    let room = |ns: f64| ((ns * SHARE / plan) as usize).min(MOST);
    if room(about) < 2 {
        return Ok(());
    }
    let (own, first) = (cost(work, &schedule)?, work.policies.flips);
    let (room, costs) = (room(about.max(own.us * 1e3)), vec![own]);
    let refused = Vec::new();
    let mut taken = Taken { room, costs, flips: first, schedule, refused, work };
    if taken.round(all)? {
        // What was taken gives others a reason: what is computed again more often may be stored.
        let all = worth(taken.work, &taken.schedule);
        taken.round(all)?;
    }
    let made = |flips: &Flips| -> Vec<Flip> {
        flips.iter().filter(|flip| !first.has(flip.at, flip.way)).collect()
    };
    // One that paid may no longer pay where others followed.
    for flip in made(&taken.flips).into_iter().rev().skip(1) {
        if taken.room > 0 && !taken.work.options.has(Fault::Dearer) {
            taken.tries(taken.flips.without(flip))?;
        }
    }
    let Taken { work, costs, flips, schedule, .. } = taken;
    if let (true, Some(own)) = (work.options.trace, costs.last()) {
        for flip in made(&flips) {
            work.flip(flips.without(flip));
            let changed = work.schedule()?;
            let other = cost(work, &changed)?;
            let decision = chosen(flip, own, &other);
            work.decide(decision);
        }
    }
    work.flip_to(flips, schedule);
    Ok(())
}

/// Choices of one way about nodes that are alike, in the order in which they stand. Launches that
/// become one save the start of one each, together no more than singly.
fn classes(dag: &Dag, flips: &[Flip]) -> Vec<Vec<Flip>> {
    let mut classes: Vec<((Way, Operation), Vec<Flip>)> = Vec::new();
    for flip in flips.iter().filter(|f| matches!(f.way, Way::Store | Way::Inline)) {
        let class = (flip.way, Operation::of(dag, flip.at));
        match classes.iter_mut().find(|(own, _)| *own == class) {
            Some((_, members)) => members.push(*flip),
            None => classes.push((class, vec![*flip])),
        }
    }
    classes.into_iter().map(|(_, members)| members).collect()
}

/// The choices to compute something again, each with one to store what that is made of: it would be
/// computed again, too, at more places then.
fn pairs(dag: &Dag, flips: &[Flip]) -> Vec<Vec<Flip>> {
    let of = |way: Way| flips.iter().filter(move |flip| flip.way == way);
    let mut pairs = Vec::new();
    for inline in of(Way::Inline) {
        let below = dag.live(&[inline.at]);
        let stored = of(Way::Store).filter(|store| below[store.at.index()]);
        pairs.extend(stored.map(|store| vec![*store, *inline]));
    }
    pairs
}

/// The choices of which the other way may save something, the most first.
fn worth(work: &Work, schedule: &Schedule) -> Vec<Flip> {
    let all = candidates(work, schedule).into_iter();
    all.filter(|(_, saved)| *saved > 0.0).map(|(flip, _)| flip).collect()
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
        let (elements, node) = (dag.elements(*at), dag.node(*at));
        let (computes, moves) = (node.computes(), is_move(node));
        if !(computes || moves) || dag.shape(*at).is_empty() || places.points <= elements {
            continue;
        }
        let body = find::body(dag, &schedule.keep, *at);
        // What moves places alone has no array to read: to find them is its work.
        let ns = match computes {
            true => body.ns,
            false if body.reads > 0 => continue,
            false => body.ns + STEP_NS * node.read().map_or(0, Read::weight) as f64,
        };
        let saved = (places.points - elements) as f64 * ns - LAUNCH_NS;
        all.push((Flip { at: *at, way: Way::Store }, saved));
    }
    for (k, group) in schedule.groups.iter().enumerate() {
        let meets =
            |other: &&Group| other.stage == group.stage && legal::beside(other, group).is_ok();
        let first = group.nodes().first().copied();
        if let (Some(at), Some(_)) =
            (first, schedule.groups[k.saturating_sub(FAR)..k].iter().find(meets))
        {
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

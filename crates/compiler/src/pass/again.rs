//! again: a small value that was asked for is computed once more where others read it, for they
//! would wait for it.
//!
//! Rows: ACC-17. A root is written, whoever reads it. What reads it at other places than its own is
//! a launch behind the one that writes it, and of few elements starting that takes longer than
//! computing them. In: the schedule. Out: where there is a launch less for it, a graph in which a
//! *twin* of the root stands for it with its readers; the root is written as before, and so it is
//! still whole where it fails (E1). Large arrays are never computed again for this.

use super::cost::{Cost, LAUNCH_NS};
use super::decide::{About, Choice, Decision, WhyNot};
use super::find;
use super::lets;
use super::reversal::Reversal;
use super::schedule::flips::{Flip, Way};
use super::schedule::{Group, Keep, Schedule, Why, is_small, legal};
use super::sentences::Says;
use super::work::Work;
use aplomb_ground::error::Result;
use aplomb_plans::plan::product;
use aplomb_values::dag::{Dag, Info, NodeId, Role};
use std::collections::{BTreeMap, BTreeSet};

/// Launches that are saved in one graph, at most.
const MOST: usize = 8;
/// The part of a launch's start that computing again may take.
const PART: f64 = 0.5;
/// Nodes that a twin copies, at most.
const BODY: usize = 32;

/// A launch that waits for roots which it could compute itself.
struct Waiting {
    /// The roots, with what computing each again takes.
    roots: Vec<(NodeId, Cost)>,
    /// Nodes without a buffer of which each root is made, itself at the end.
    bodies: BTreeMap<NodeId, Vec<NodeId>>,
    /// The nodes that the launch writes.
    readers: Vec<NodeId>,
}

pub fn run(work: &mut Work) -> Result<()> {
    let mut refused: BTreeSet<NodeId> = BTreeSet::new();
    for _ in 0..MOST {
        let schedule = work.schedule()?;
        let Some(found) = waiting(work, &schedule, &refused) else { return Ok(()) };
        let was = work.saved();
        if !take(work, &found) || work.schedule()?.groups.len() >= schedule.groups.len() {
            work.restore(was);
            refused.extend(found.roots.iter().map(|(at, _)| *at));
            continue;
        }
        for (at, again) in found.roots.iter().filter(|_| work.options.trace) {
            let decision = decided(*at, *again, &found.readers);
            work.decide(decision.or(Reversal::Waits(*at)));
        }
    }
    Ok(())
}

/// The first launch that waits for nothing but small roots of one other, beside which it could run.
fn waiting(work: &Work, plan: &Schedule, refused: &BTreeSet<NodeId>) -> Option<Waiting> {
    if plan.groups.len() < 2 || plan.groups.iter().all(|g| !is_small(&g.domain)) {
        return None;
    }
    let homes = plan.homes();
    let groups = plan.groups.iter().enumerate();
    groups.filter(|(_, g)| is_small(&g.domain)).find_map(|(k, g)| {
        let made = plan.facts.reads[k].iter().filter_map(|(at, _)| Some((*at, *homes.get(at)?)));
        let last: Vec<(NodeId, usize)> =
            made.filter(|(_, home)| plan.groups[*home].stage + 1 == g.stage).collect();
        let (_, home) = *last.first()?;
        let first = &plan.groups[home];
        let beside = Group { stage: first.stage, ..g.clone() };
        if last.iter().any(|(_, own)| *own != home) || legal::beside(first, &beside).is_err() {
            return None;
        }
        let readers = g.nodes();
        let roots: Option<Vec<(NodeId, Cost)>> = last
            .into_iter()
            .map(|(at, _)| Some((at, again(work, plan, at, (&readers, refused))?)))
            .collect();
        let roots = roots?;
        let bodies: Option<BTreeMap<NodeId, Vec<NodeId>>> =
            roots.iter().map(|(at, _)| Some((*at, body_of(&work.dag, &plan.keep, *at)?))).collect();
        let bodies = bodies?;
        let ns: f64 = roots.iter().map(|(_, cost)| cost.ns).sum();
        let apart = roots.iter().all(|(at, _)| {
            let below = work.dag.live(&[*at]);
            roots.iter().all(|(other, _)| other == at || !below[other.index()])
        });
        (apart && ns < PART * LAUNCH_NS).then_some(Waiting { roots, bodies, readers })
    })
}

/// The cost of computing a root again in a launch; None: it stays as it is.
fn again(
    work: &Work,
    plan: &Schedule,
    at: NodeId,
    (readers, refused): (&[NodeId], &BTreeSet<NodeId>),
) -> Option<Cost> {
    let (dag, node) = (&work.dag, work.dag.node(at));
    let may = plan.keep.get(&at) == Some(&Why::Root)
        && (node.computes() || node.role() == Role::Move)
        && node.consumes().is_none()
        && !dag.shape(at).is_empty()
        && is_small(dag.shape(at))
        && !refused.contains(&at)
        && !work.options.reverses(Reversal::Waits(at));
    if !may {
        return None;
    }
    let places = |user: &NodeId| {
        let loads = find::loads(dag, &plan.keep, *user).into_iter();
        loads.filter(|(array, read)| *array == at && !read.is_identity()).count() as u64
    };
    let points = readers.iter().map(|user| places(user) * product(dag.domain(*user))).sum();
    let (body, size) = (find::body(dag, &plan.keep, at), dag.dtype(at).size() as u64);
    Some(Cost::compute(points, body.ns, body.flops, body.reads, size).moving(0))
}

/// The nodes of which a root is made in its launch, operands first. None: they are many.
fn body_of(dag: &Dag, keep: &Keep, root: NodeId) -> Option<Vec<NodeId>> {
    let (mut met, mut stack) = (BTreeSet::new(), vec![root]);
    while let Some(at) = stack.pop() {
        let is_there = dag.node(at).is_given() || at != root && keep.contains_key(&at);
        if !is_there && met.insert(at) {
            stack.extend(dag.node(at).inputs());
        }
        if met.len() > BODY {
            return None;
        }
    }
    Some(met.into_iter().collect())
}

/// A copy of a body, whose nodes nobody else reads: what each of them costs there is the twin's.
fn copied(dag: &mut Dag, body: &[NodeId]) -> Option<NodeId> {
    let mut now: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for at in body {
        let own = Info { from: Vec::new(), ..dag.info(*at).clone() };
        let node = dag.node(*at).map_inputs(|a| match now.get(a) {
            Some(new) => *new,
            None => *a,
        });
        now.insert(*at, dag.add(node, own));
    }
    body.last().and_then(|at| now.get(at)).copied()
}

/// Puts twins in the places of roots with their readers. False: there is no room for so many
/// choices.
fn take(work: &mut Work, found: &Waiting) -> bool {
    let mut twins: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    let forms = work.delayed.clone();
    work.rewrite(|dag, user| {
        let node = dag.node(user).clone();
        if !node.inputs().iter().any(|a| found.bodies.contains_key(a)) {
            return None;
        }
        for a in node.inputs() {
            if let (Some(body), false) = (found.bodies.get(a), twins.contains_key(a)) {
                twins.insert(*a, copied(dag, body)?);
            }
        }
        let node = node.map_inputs(|a| match twins.get(a) {
            Some(twin) => *twin,
            None => *a,
        });
        let info = Info { from: vec![user], ..dag.info(user).clone() };
        Some(("again", "its readers compute it again", dag.add(node, info)))
    });
    for at in work.dag.ids().skip(work.recorded.dag.len()) {
        if let Some(form) = work.dag.info(at).from.first().and_then(|was| forms.get(was)) {
            work.delayed.entry(at).or_insert_with(|| form.clone());
        }
    }
    if !work.lets.is_empty() {
        work.bind(lets::float(&work.dag, &work.roots));
    }
    let mut flips = work.policies.flips;
    for twin in twins.into_values() {
        let Some(more) = flips.and(Flip { at: twin, way: Way::Inline }) else { return false };
        flips = more;
    }
    work.flip(flips);
    true
}

fn decided(at: NodeId, again: Cost, readers: &[NodeId]) -> Decision {
    let about = About { at, what: "share", reason: "asked-for", row: "ACC-17", switch: "settle" };
    let wait = Cost { ns: LAUNCH_NS, ..Cost::default() };
    let (a, b) =
        (Choice { name: "compute-again", cost: again }, Choice { name: "wait", cost: wait });
    Decision::forced(about, a, b, WhyNot::Dearer, Says::NotWaitedFor).of(readers.into())
}

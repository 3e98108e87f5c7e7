//! The planner: the schedule that the policies so far ask for.
//!
//! Rows: ACL-17, ACL-39, ACC-17, BAR-08. In: a graph, its roots, the policies. Out: kept nodes with
//! reasons, launches as groups of kept nodes, and figures. Deterministic: walks are in id order.
//! Nodes are only ever added to those that are kept, so the loop ends. Cost: linear in distinct
//! contexts.

use super::edit::How;
use super::flips::Way;
use super::legal::Illegal;
use super::policy::{Policies, Policy};
use super::{
    Evaluated, Facts, Group, Keep, Schedule, Why, beside, is_move, legal, order, together,
};
use crate::pass::break_random::is_random;
use crate::pass::contexts::{Context, Contexts, extents, launches};
use crate::pass::decide::label;
use crate::pass::fault::Fault;
use crate::pass::judge::Judge;
use crate::pass::lets::Let;
use crate::pass::{find, float_lets, need, split};
use aplomb_ground::error::{Result, bug};
use aplomb_ground::limits::Interrupt;
use aplomb_plans::plan::{Asking, met, product};
use aplomb_values::dag::{Dag, NodeId, Read};
use aplomb_values::prim::op::Op;
use std::collections::{BTreeMap, BTreeSet};

/// The launches of a graph. Errors: INTERRUPT.
pub fn draft(
    dag: &Dag,
    roots: &[NodeId],
    lets: &[Let],
    policies: Policies,
    stop: &Interrupt,
) -> Result<Schedule> {
    let live = dag.live(roots);
    let mut keep = first_kept(dag, roots, lets, policies, &live);
    let own = Judge::new(dag, roots, policies);
    let judge = |keep: &Keep, at: NodeId, places: &[Context]| own.why(keep, at, places);
    // What must be kept wherever launches begin is found first: grouping looks through all that
    // is not kept.
    let alone: Vec<Group> = keep.keys().map(|at| Group::alone(dag, &keep, *at, 1)).collect();
    keep.extend(Contexts::walk(dag, &keep, &alone, 0, &judge, stop)?.new);
    loop {
        let groups = match groups(dag, &keep, policies, stop)? {
            Grouped::All(groups) => groups,
            Grouped::Crowded(more) => {
                keep.extend(more);
                continue;
            }
        };
        let mut walk = Contexts::walk(dag, &keep, &groups, groups.len(), &judge, stop)?;
        if let (true, Some(limits)) = (walk.new.is_empty(), policies.limits()) {
            walk.new = split::cut(dag, &keep, &limits);
        }
        if walk.new.is_empty() {
            return Ok(finished(dag, keep, groups, &walk.contexts, policies));
        }
        keep.extend(walk.new);
    }
}

/// A root that is a buffer or a constant seen through nothing costs no launch.
pub fn is_free_root(dag: &Dag, at: NodeId) -> bool {
    let node = dag.node(at);
    let same = |src: &NodeId| dag.shape(*src) == dag.shape(at) && is_free_root(dag, *src);
    node.is_given() || node.read().is_some_and(Read::is_identity) && node.inputs().iter().all(same)
}

/// Nodes that must have a buffer wherever launches begin, or until some policy is asked for.
fn first_kept(
    dag: &Dag,
    roots: &[NodeId],
    lets: &[Let],
    policies: Policies,
    live: &[bool],
) -> Keep {
    let mut keep = BTreeMap::new();
    for &r in roots.iter().filter(|r| !is_free_root(dag, **r)) {
        keep.insert(r, Why::Root);
    }
    let unwritten = policies.has(Fault::ReadUnwritten) && policies.asks(Policy::Breaks);
    let nothing_fuses =
        [Policy::Moves, Policy::Producers, Policy::Consumers].iter().all(|p| !policies.asks(*p));
    for at in dag.ids().filter(|at| live[at.index()]) {
        for (k, a) in
            dag.node(at).inputs().iter().enumerate().filter(|(_, a)| !dag.node(**a).is_input())
        {
            if dag.node(at).reads_anywhere(k) && !unwritten {
                keep.entry(*a).or_insert(Why::Anywhere);
            }
        }
        let why = match dag.node(at) {
            node if node.computes()
                && !policies.asks(Policy::Producers)
                && !dag.shape(at).is_empty() =>
            {
                Some(Why::NotYet("fuse-producers"))
            }
            node if is_move(node) && !policies.asks(Policy::Moves) => {
                // The break is below: the transform is applied when what was written is read.
                for src in node.inputs().iter().filter(|src| !is_leaf(dag, **src)) {
                    keep.entry(*src).or_insert(Why::NotYet("push-down"));
                }
                nothing_fuses.then_some(Why::NotYet("push-down"))
            }
            node if is_random(node) => {
                let breaks = policies.asks(Policy::Breaks) && !policies.asks(Policy::Consumers);
                let broken = |a: &&NodeId| !is_leaf(dag, **a) && dag.elements(**a) > 0;
                for a in node.inputs().iter().filter(|_| breaks).filter(broken) {
                    keep.entry(*a).or_insert(Why::Random);
                }
                node.consumes().is_some().then_some(Why::Consumer)
            }
            _ => None,
        };
        if let Some(why) = why {
            keep.entry(at).or_insert(why);
        }
    }
    if !policies.asks(Policy::Lets) {
        for at in float_lets::held(dag, lets, live) {
            keep.entry(at).or_insert(Why::NotYet("float-lets"));
        }
    }
    for at in policies.flips.stored().filter(|at| live.get(at.index()) == Some(&true)) {
        if !dag.shape(at).is_empty() {
            keep.entry(at).or_insert(Why::Flipped);
        }
    }
    // An iota or a constant is never worth a buffer unless it is a root; a product that its sum
    // takes unrounded has none whatever is off.
    let unrounded = |at: &NodeId| dag.node(*at).facts().operation().is_some_and(Op::is_unrounded);
    keep.retain(|at, why| *why == Why::Root || !dag.node(*at).is_given() && !unrounded(at));
    keep
}

fn is_leaf(dag: &Dag, at: NodeId) -> bool {
    dag.node(at).inputs().is_empty()
}

/// Launches of all kept nodes; or nodes that must be kept, too, before there can be any.
enum Grouped {
    All(Vec<Group>),
    Crowded(Keep),
}

/// Schedules the kept nodes, children first.
fn groups(dag: &Dag, keep: &Keep, policies: Policies, stop: &Interrupt) -> Result<Grouped> {
    let mut groups: Vec<Option<Group>> = Vec::new();
    let mut of: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut all_reads = order::Reads::new();
    for &at in keep.keys() {
        stop.check()?;
        let (reads, crowded) = find::body_reads(dag, keep, at, find::CROWDED);
        if !crowded.is_empty() {
            return Ok(Grouped::Crowded(crowded));
        }
        let stage_of = |(t, _): &(NodeId, bool)| {
            let group = of.get(t).and_then(|k| groups[*k].as_ref());
            group
                .map(|g| g.stage)
                .ok_or_else(|| bug!("{} is read before it has a launch", label(dag, *t)))
        };
        let stages: Vec<u32> = reads.iter().map(stage_of).collect::<Result<_>>()?;
        // What reads nothing that is kept may run first.
        let stage = stages.iter().copied().max().unwrap_or(0);
        let top: Vec<_> = reads
            .iter()
            .zip(&stages)
            .filter(|(_, own)| **own == stage)
            .map(|(read, _)| read)
            .collect();
        let mut joined = None;
        let read: Vec<NodeId> = top.iter().map(|(t, _)| *t).collect();
        let may = policies.asks(Policy::Consumers) || policies.outputs;
        let may = may && !policies.flips.has(at, Way::Apart);
        if stage > 0 && may && top.iter().all(|(_, identity)| *identity) {
            let homes: Vec<usize> = read.iter().map(|t| of[t]).collect();
            let theirs = homes.iter().filter_map(|h| groups[*h].as_ref()).flat_map(Group::nodes);
            if fits(dag, keep, || theirs.chain([at]).collect(), policies) {
                let join = |g: &mut Group| joins(dag, g, at, &read, policies);
                joined = one_home(dag, keep, &mut groups, &mut of, &homes, join, policies)?;
            }
        }
        let home = joined.unwrap_or_else(|| {
            groups.push(Some(Group::alone(dag, keep, at, stage + 1)));
            groups.len() - 1
        });
        of.insert(at, home);
        all_reads.insert(at, reads.into_iter().map(|(read, _)| read).collect());
    }
    if policies.asks(Policy::Domains) || policies.tuples && policies.asks(Policy::Consumers) {
        beside::merged(dag, keep, &mut groups, &mut of, policies, stop)?;
    }
    let mut groups: Vec<Group> = groups.into_iter().flatten().collect();
    for g in &mut groups {
        [&mut g.body, &mut g.reduces, &mut g.after].into_iter().for_each(|part| part.sort());
    }
    groups.sort_by_cached_key(|g| (g.stage, g.nodes()));
    let mut groups = order::ordered(dag, keep, groups, &all_reads);
    if policies.has(Fault::LateWrite) && policies.asks(Policy::Limits) {
        groups.reverse();
    }
    Ok(Grouped::All(groups))
}

/// Whether the nodes of one launch are within limits.
pub(super) fn fits(
    dag: &Dag,
    keep: &Keep,
    nodes: impl FnOnce() -> Vec<NodeId>,
    policies: Policies,
) -> bool {
    policies.limits().is_none_or(|limits| need::over(dag, keep, &nodes(), &limits).is_none())
}

/// One launch for all of them, which a node joins: the one they are in, or theirs merged where
/// domain, stage and axis agree and nothing is lost by it. None, and nothing changes: they are in
/// several, or it does not join.
fn one_home(
    dag: &Dag,
    keep: &Keep,
    groups: &mut [Option<Group>],
    of: &mut BTreeMap<NodeId, usize>,
    homes: &[usize],
    joins: impl Fn(&mut Group) -> bool,
    policies: Policies,
) -> Result<Option<usize>> {
    let Some(&first) = homes.first() else { return Ok(None) };
    let mut others: Vec<usize> = homes.iter().copied().filter(|h| *h != first).collect();
    others.sort();
    others.dedup();
    if others.is_empty() {
        return Ok(groups[first].as_mut().is_some_and(joins).then_some(first));
    }
    let Some(mut whole) = groups[first].clone() else { return Ok(None) };
    let mut parts = vec![first];
    for h in &others {
        let may = |other: &&Group| {
            policies.fuse(How::SamePass, false) && legal::beside(&whole, other).is_ok()
        };
        let Some(other) = groups[*h].as_ref().filter(may) else { return Ok(None) };
        whole.take(other.clone());
        parts.push(*h);
    }
    // All at once: to ask of one after the other is to write ever longer launches.
    let parts: Vec<&Group> = parts.iter().filter_map(|h| groups[*h].as_ref()).collect();
    if together::loss(dag, keep, &parts)?.is_some() {
        return Ok(None);
    }
    if !joins(&mut whole) {
        return Ok(None);
    }
    for h in others {
        merge(groups, of, first, h);
    }
    groups[first] = Some(whole);
    Ok(Some(first))
}

/// One launch takes another.
pub(super) fn merge(
    groups: &mut [Option<Group>],
    of: &mut BTreeMap<NodeId, usize>,
    into: usize,
    gone: usize,
) {
    let Some(other) = groups[gone].take() else { return };
    for at in other.nodes() {
        of.insert(at, into);
    }
    if let Some(g) = &mut groups[into] {
        g.take(other);
    }
}

/// Joins a kept node to the launch whose values it reads at their own place, where that is legal
/// and asked for.
fn joins(dag: &Dag, g: &mut Group, at: NodeId, read: &[NodeId], policies: Policies) -> bool {
    let how = match legal::follows(dag, g, at, read) {
        Err(Illegal::Axis) if policies.has(Fault::OtherAxis) => How::Embed,
        Ok(how) => how,
        Err(_) => return false,
    };
    let last = read.iter().any(|t| g.body.last() == Some(t));
    let fuses = policies.fuse(how, last);
    if fuses {
        g.push(dag, at, how);
    }
    fuses
}

/// A schedule with its figures.
fn finished(
    dag: &Dag,
    keep: Keep,
    groups: Vec<Group>,
    contexts: &Contexts,
    policies: Policies,
) -> Schedule {
    let mut facts = Facts::default();
    for (at, places) in contexts.iter(dag).filter(|(at, _)| !keep.contains_key(at)) {
        let sum =
            |of: fn(&Context) -> u64| places.iter().fold(0u64, |n, c| n.saturating_add(of(c)));
        let (points, runs) = (sum(|c| c.points), sum(|c| c.runs));
        let (leaf, launches) = (dag.node(at).is_given(), launches(places));
        let must = match legal::inline(dag, policies.strict, at, places) {
            Err(Illegal::Must(why)) if !leaf => Some(why),
            _ => None,
        };
        let places = places.len();
        facts.evaluated.insert(at, Evaluated { places, launches, points, runs, must });
        let flops = runs.saturating_mul(dag.node(at).cost().flops);
        facts.flops = facts.flops.saturating_add(flops);
    }
    // What a launch meets of a buffer comes from memory once, however often its points load it.
    let mut asked: Vec<BTreeMap<NodeId, (bool, Vec<Asking<'_>>)>> =
        vec![BTreeMap::new(); groups.len()];
    for load in contexts.loads() {
        let (whole, all) = asked[load.group].entry(load.at).or_default();
        *whole |= load.whole;
        all.push((&*load.read, extents(&groups, load.group, load.after)));
    }
    let count = |(at, (whole, all)): (NodeId, (bool, Vec<Asking<'_>>))| {
        (at, if whole { dag.elements(at) } else { met(dag.shape(at), &all) })
    };
    let reads: Vec<BTreeMap<NodeId, u64>> =
        asked.into_iter().map(|of| of.into_iter().map(count).collect()).collect();
    let mut moved = |at: &NodeId, n: u64| {
        let bytes = n.saturating_mul(dag.dtype(*at).size() as u64);
        facts.bytes = facts.bytes.saturating_add(bytes);
    };
    reads.iter().flatten().for_each(|(at, met)| moved(at, *met));
    let loaded: BTreeSet<NodeId> = contexts.loads().iter().map(|l| l.at).collect();
    for (at, why) in &keep {
        if *why != Why::Consumer || loaded.contains(at) {
            moved(at, dag.elements(*at));
        }
        let flops = product(dag.domain(*at)).saturating_mul(dag.node(*at).cost().flops);
        facts.flops = facts.flops.saturating_add(flops);
    }
    facts.reads = reads.into_iter().map(|r| r.into_iter().collect()).collect();
    Schedule { keep, groups, facts }
}

//! push-down: index transforms are read at the leaves, so that what stands above them fuses.
//!
//! Rows: ACL-37, ACL-39 (one that grows may stay). In: transforms anywhere. Out: every transform is
//! part of a read, except where the node below it is kept. `--off push-down`: a transform of
//! anything but an input is a launch of its own.

use super::decide::{About, Choice, Decision, WhyNot};
use super::fault::{self, Fault};
use super::schedule::edit::Change;
use super::schedule::policy::Policy;
use super::schedule::{Keep, Schedule, Why, draft};
use super::sentences::Says;
use super::work::Work;
use super::{cost, find, gathers};
use aplomb_ground::error::Result;
use aplomb_values::dag::{Node, NodeId, kinds};
use std::collections::BTreeSet;

pub fn run(work: &mut Work) -> Result<()> {
    if work.options.has(Fault::OffByOne) {
        fault::off_by_one(work);
    }
    gathers::run(work);
    let Some(change) = work.change()? else { return Ok(()) };
    grown(work)?;
    for at in moved(work, &change) {
        let told = composed(work, &change.after.keep, at);
        told.into_iter().for_each(|d| work.decide(d));
    }
    Ok(())
}

/// The decision on a transform that is read where it is needed, as it is where these nodes are
/// kept. None: it is no transform.
pub fn composed(work: &Work, keep: &Keep, at: NodeId) -> Option<Decision> {
    let Node::Transform(kinds::Transform { src, .. }) = work.dag.node(at) else { return None };
    let (grown, size) = (work.dag.elements(at), work.dag.dtype(at).size() as u64);
    let below = work.dag.elements(*src);
    let body = find::body(&work.dag, keep, *src);
    let push = cost::Cost::compute(grown, body.ns, body.flops, body.reads, size);
    let launch = cost::Cost::compute(below, body.ns, body.flops, body.reads, size)
        .plus(cost::Cost::store(grown, grown, size));
    let about = About { at, what: "push", reason: "composes", row: "ACL-37", switch: "push-down" };
    let chosen = Choice { name: "push", cost: push };
    let over = Choice { name: "launch", cost: launch };
    Some(Decision::forced(about, chosen, over, WhyNot::Dearer, Says::PartOfReads))
}

/// Transforms that are no launch of their own any more, and those whose operand need not be
/// written.
fn moved(work: &Work, change: &Change) -> Vec<NodeId> {
    let gone: BTreeSet<NodeId> = change.inlined().collect();
    let waited = |src: &NodeId| change.before.keep.get(src) == Some(&Why::NotYet("push-down"));
    let live = work.dag.live(&work.roots);
    let moved = |at: &NodeId| match work.dag.node(*at) {
        Node::Transform(kinds::Transform { src, .. }) => {
            gone.contains(at) || gone.contains(src) && waited(src)
        }
        _ => false,
    };
    work.dag.ids().filter(|at| live[at.index()]).filter(moved).collect()
}

/// ACL-39: transforms that read elements more than once. What stands below is computed for each
/// time, or once and kept.
fn grown(work: &mut Work) -> Result<()> {
    let live = work.dag.live(&work.roots);
    let grows = |at: &NodeId| match work.dag.node(*at) {
        Node::Transform(kinds::Transform { src, .. }) => {
            work.dag.elements(*at) > work.dag.elements(*src) && !work.dag.shape(*src).is_empty()
        }
        _ => false,
    };
    let all: Vec<NodeId> = work.dag.ids().filter(|at| live[at.index()]).filter(grows).collect();
    if all.is_empty() {
        return Ok(());
    }
    // Whether it is kept is for the whole plan to say.
    let consumers = !work.options.is_off("embed-consumers");
    let like = work.policies.and(Policy::Moves).and(Policy::Producers);
    let policies = if consumers { like.and(Policy::Consumers) } else { like };
    let plan = draft(&work.dag, &work.roots, &work.lets, policies, &work.stop)?;
    for at in all {
        let decision = grow(work, &plan, at);
        work.decide(decision);
    }
    Ok(())
}

/// The decision on one of them, as it is in a plan.
pub fn grow(work: &Work, plan: &Schedule, at: NodeId) -> Decision {
    let src = work.dag.node(at).inputs()[0];
    let (few, many) = (work.dag.elements(src), work.dag.elements(at));
    let size = work.dag.dtype(src).size() as u64;
    let body = find::body(&work.dag, &plan.keep, src);
    let leaf = work.dag.node(src).inputs().is_empty();
    let push =
        cost::Cost::compute(many, body.ns, body.flops, body.reads.max(u64::from(leaf)), size);
    let once = cost::Cost::compute(few, body.ns, body.flops, body.reads.max(u64::from(leaf)), size);
    let keep = once.plus(cost::Cost::store(few, many, size));
    let (reads, flops) = (body.reads.max(u64::from(leaf)), body.flops);
    let kept = plan.keep.contains_key(&src);
    let about = About {
        at,
        what: "push",
        reason: "grows",
        row: "ACL-39",
        // What is there before is not computed again.
        switch: if kept || leaf { "" } else { "recompute" },
    };
    let (keep, push) = (Choice { name: "keep", cost: keep }, Choice { name: "push", cost: push });
    let (chosen, over) = if kept { (keep, push) } else { (push, keep) };
    let because = match plan.keep.get(&src) {
        None | Some(Why::Work { .. } | Why::Shared { .. }) => WhyNot::Dearer,
        Some(_) => WhyNot::Rule("what it reads is written anyway"),
    };
    Decision::forced(about, chosen, over, because, Says::Grows { reads, flops })
}

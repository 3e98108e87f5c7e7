//! push-down: index transforms are read at the leaves, so that what stands above them fuses.
//!
//! Rows: ACL-37, ACL-39 (one that grows may stay). In: transforms anywhere. Out: every transform is part of a read, except
//! where the node below it is kept. `--off push-down`: a transform of anything but an input is a launch of its own.

use super::decide::{About, Choice, Decision, WhyNot, label};
use super::schedule::Schedule;
use super::work::Work;
use super::{cost, find};
use crate::dag::{Node, NodeId};
use crate::error::Result;

pub fn run(work: &mut Work) -> Result<()> {
    let Some(before) = work.permit(|allow| allow.push = true) else { return Ok(()) };
    let after = work.schedule().clone();
    for at in pushed(&before, &after) {
        let Node::Transform { src, read, .. } = work.dag.node(at) else { continue };
        let rank = work.dag.shape(at).len();
        let (grown, size) = (work.dag.elements(at), work.dag.dtype(at).size() as u64);
        let below = work.dag.elements(*src);
        let body = find::body(&work.dag, &after.keep, *src);
        let push = cost::Cost::compute(grown, body.ns, body.flops, body.reads, size);
        let keep = cost::Cost::compute(below, body.ns, body.flops, body.reads, size)
            .plus(cost::Cost::store(grown, grown, size));
        let text = format!(
            "{} becomes part of the reads below it, {}; as a launch of its own it would read and write {} more",
            label(&work.dag, at),
            read.text(rank),
            crate::error::bytes(2 * grown * size),
        );
        let about = About { at, what: "push", reason: "composes", row: "ACL-37", switch: "push-down" };
        let chosen = Choice { name: "push", cost: push };
        let over = Choice { name: "launch", cost: keep };
        work.decide(Decision::forced(about, chosen, over, WhyNot::Dearer, text));
    }
    Ok(())
}

/// Nodes kept before and not after.
pub fn pushed(before: &Schedule, after: &Schedule) -> Vec<NodeId> {
    before.keep.keys().filter(|at| !after.keep.contains_key(at)).copied().collect()
}

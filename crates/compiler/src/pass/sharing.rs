//! prune, float, bind: Accelerate's sharing recovery in its three steps.
//!
//! Rows: ACC-07, ACC-08, ACC-09, ACC-10. In: the recorded graph, whose sharing is exactly the
//! source's. Out: the same graph, with the lets written out; each step leaves a view. `--off float`
//! binds every shared term at the root; `--off bind` (or prune) loses the sharing: `record` then
//! hands on a tree.

use super::decide::{About, Choice, Decision, WhyNot};
use super::fault::{self, Fault};
use super::lets::{self, Let};
use super::reversal::Reversal;
use super::sentences::Says;
use super::work::Work;
use super::{cost, find};
use aplomb_ground::error::Result;

pub fn prune(work: &mut Work) -> Result<()> {
    let mut shared = lets::shared(&work.dag, &work.roots);
    if work.options.has(Fault::MissTerm) {
        shared.pop();
    }
    work.bind(shared.into_iter().map(|node| Let { node, at: None }).collect());
    if work.options.trace {
        work.view = lets::pruned(&work.dag, &work.roots);
    }
    Ok(())
}

pub fn float(work: &mut Work) -> Result<()> {
    if !work.lets.is_empty() {
        work.bind(lets::float(&work.dag, &work.roots));
    }
    if work.options.has(Fault::BesideUse) {
        fault::beside_use(work);
    }
    if work.options.trace {
        work.view = lets::floats(&work.dag, &work.lets);
    }
    Ok(())
}

pub fn bind(work: &mut Work) -> Result<()> {
    if work.options.has(Fault::TurnLets) {
        work.bind(work.lets.iter().rev().cloned().collect());
    }
    if !work.options.trace {
        return Ok(());
    }
    work.view = lets::bound(&work.dag, &work.roots, &work.lets);
    let uses = work.dag.uses(&work.roots);
    for l in work.lets.clone().iter() {
        let n = u64::from(uses[l.node.index()]);
        let points = work.dag.elements(l.node);
        let size = work.dag.dtype(l.node).size() as u64;
        let body = find::body(&work.dag, &Default::default(), l.node);
        let once = cost::Cost::compute(points, body.ns, body.flops, body.reads, size);
        let each = cost::Cost::compute(points * n, body.ns, body.flops, body.reads, size);
        let decision = Decision::forced(
            About {
                at: l.node,
                what: "share",
                reason: "shared-in-source",
                row: "ACC-09",
                switch: "sharing",
            },
            Choice { name: "let", cost: once },
            Choice { name: "recompute", cost: each },
            WhyNot::Dearer,
            Says::BoundOnce(n),
        );
        work.decide(decision.or(Reversal::Unbound(l.node)));
    }
    Ok(())
}

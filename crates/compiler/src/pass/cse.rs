//! cse: equal nodes become one.
//!
//! Rows: ACL-36. In: any graph. Out: no two live nodes with equal operation and operands. What the
//! source shared was one node already; what meets here was written twice, and is a let marked
//! `cse`. Linear. Where all is computed again for nothing, its policy breaks at the terms that are
//! dearer so (ACL-40).

use super::decide::{About, Choice, Decision, WhyNot};
use super::fault::{self, Fault};
use super::hash::{Map, Mix};
use super::reversal::{self, Reversal};
use super::sentences::Says;
use super::work::Work;
use super::{cost, find};
use aplomb_ground::error::Result;
use aplomb_values::dag::{Dag, NodeId};
use std::hash::{Hash, Hasher};

pub fn run(work: &mut Work) -> Result<()> {
    if work.options.has(Fault::MergeUnlike) {
        fault::merge_unlike(work);
    }
    let mut first: Map<u64, Vec<NodeId>> = Map::default();
    let mut met: Vec<(NodeId, NodeId)> = Vec::new();
    let reversed = work.options.reversal;
    let stays = |dag: &Dag, at: NodeId| match reversed {
        Some(Reversal::Unmerged(own)) => at == own,
        Some(Reversal::Unbound(term)) => reversal::is_of(dag, at, term),
        _ => false,
    };
    work.rewrite(|dag, at| {
        let same = first.entry(term(dag, at)).or_default();
        if same.contains(&at) {
            return None;
        }
        let known = same.iter().find(|k| alike(dag, **k, at) && !stays(dag, at)).copied();
        match known {
            Some(k) => {
                // Whichever was to run first is the one that fails.
                let site = dag.info(at).site.min(dag.info(k).site);
                dag.info_mut(k).site = site;
                met.push((at, k));
                Some(("cse", "equal operation and operands", k))
            }
            None => {
                same.push(at);
                None
            }
        }
    });
    if work.options.trace {
        met.retain(|(_, k)| !work.dag.node(*k).inputs().is_empty());
        for (at, into) in met {
            let body = find::body(&work.dag, &Default::default(), into);
            let (n, size) = (work.dag.elements(into), work.dag.dtype(into).size() as u64);
            let once = cost::Cost::compute(n, body.ns, body.flops, body.reads, size);
            let decision = Decision::forced(
                About {
                    at: into,
                    what: "share",
                    reason: "written-twice",
                    row: "ACL-36",
                    switch: "cse",
                },
                Choice { name: "merge", cost: once },
                Choice { name: "compute-twice", cost: once.plus(once) },
                WhyNot::Dearer,
                Says::WrittenAgain(at),
            );
            work.decide(decision.or(Reversal::Unmerged(at)));
        }
    }
    Ok(())
}

/// A hash of all that makes two nodes alike: values that differ in their extents alone, as those of
/// `⍳¨⍳1E5`, are many.
fn term(dag: &Dag, at: NodeId) -> u64 {
    let mut h = Mix::default();
    dag.node(at).hash_into(&mut h);
    (dag.dtype(at), dag.shape(at)).hash(&mut h);
    h.finish()
}

fn alike(dag: &Dag, a: NodeId, b: NodeId) -> bool {
    dag.node(a) == dag.node(b) && dag.dtype(a) == dag.dtype(b) && dag.shape(a) == dag.shape(b)
}

//! break-random: a break between a random access and each operand that is no leaf.
//!
//! Rows: ACL-27, ACL-32, ACL-37 (the first of two passes). In: any graph. Out: what a reduction
//! reads is written to memory, until embed-consumers takes that back; without push-down, what a
//! transform reads as well, which is the whole of the first version of 2006. Decisions are in
//! pre-order. `--off break-random`: random accesses compute what they read.

use super::cost::Cost;
use super::decide::{About, Choice, Decision, WhyNot};
use super::find;
use super::schedule::policy::Policy;
use super::sentences::Says;
use super::work::Work;
use aplomb_ground::error::Result;
use aplomb_values::dag::{Node, NodeId};

pub fn run(work: &mut Work) -> Result<()> {
    if !work.options.trace {
        return Ok(());
    }
    let moves_too = work.options.is_off("push-down") && !work.policies.asks(Policy::Moves);
    let switch =
        if work.options.is_off("embed-consumers") { "break-random" } else { "embed-consumers" };
    for (parent, child) in breaks(work, moves_too) {
        let (n, size) = (work.dag.elements(child), work.dag.dtype(child).size() as u64);
        let body = find::body(&work.dag, &Default::default(), child);
        let compute = Cost::compute(n, body.ns, body.flops, body.reads, size);
        let store = compute.plus(Cost::store(n, n, size));
        let about =
            About { at: child, what: "break", reason: "random-access", row: "ACL-32", switch };
        let (a, b) =
            (Choice { name: "break", cost: store }, Choice { name: "inline", cost: compute });
        let why = WhyNot::Illegal("a pass of 2006 has one output, read at its own place");
        work.decide(Decision::forced(about, a, b, why, Says::ReadAtRandom(parent)));
        work.note("break", parent, child, "a random access reads what is no leaf");
    }
    Ok(())
}

/// Pairs of a random access and an operand that is no leaf, in pre-order, each operand once.
fn breaks(work: &Work, moves_too: bool) -> Vec<(NodeId, NodeId)> {
    let (mut found, mut seen, mut broken) =
        (Vec::new(), vec![false; work.dag.len()], vec![false; work.dag.len()]);
    let mut stack: Vec<NodeId> = work.roots.iter().rev().copied().collect();
    while let Some(at) = stack.pop() {
        if std::mem::replace(&mut seen[at.index()], true) {
            continue;
        }
        let node = work.dag.node(at);
        let random = match node {
            Node::Transform(_) => moves_too && !node.is_broadcast(),
            node => is_random(node),
        };
        for &a in node.inputs().iter().filter(|_| random) {
            let leaf = work.dag.node(a).inputs().is_empty();
            if !leaf && !std::mem::replace(&mut broken[a.index()], true) {
                found.push((at, a));
            }
        }
        stack.extend(node.inputs().iter().rev());
    }
    found
}

/// Whether a node reads its operands neither at its own place nor at one that a map tells.
pub fn is_random(node: &Node<NodeId>) -> bool {
    node.role().is_random()
}

//! float-lets: a let inside of what a producer reads moves out, so that the producers meet.
//!
//! Rows: ACC-19. `map g (let y = … in zipWith f y y)` is one loop only once the let stands outside
//! of the map. In: lets where `float` put them. Out: the same lets, none of which holds a node
//! back. `--off float-lets`: the body of such a let is written to memory.

use super::cost::Cost;
use super::decide::{About, Choice, Decision, WhyNot};
use super::fault::{self, Fault};
use super::find;
use super::lets::Let;
use super::sentences::Says;
use super::work::Work;
use aplomb_ground::error::Result;
use aplomb_values::dag::{Dag, Node, NodeId, Role};
use std::collections::BTreeSet;

pub fn run(work: &mut Work) -> Result<()> {
    if work.options.has(Fault::BelowTerm) {
        fault::below_term(work);
    }
    if !work.options.trace {
        return Ok(());
    }
    let live = work.dag.live(&work.roots);
    let held = held(&work.dag, &work.lets, &live);
    for l in work.lets.clone().iter() {
        let Some(body) = l.at.filter(|at| held.contains(at)) else { continue };
        let (n, size) = (work.dag.elements(body), work.dag.dtype(body).size() as u64);
        let own = find::body(&work.dag, &Default::default(), body);
        let here = Cost::compute(n, own.ns, own.flops, own.reads, size);
        let about = About {
            at: l.node,
            what: "float",
            reason: "let-floats",
            row: "ACC-19",
            switch: "float-lets",
        };
        let (a, b) = (
            Choice { name: "outside", cost: here },
            Choice { name: "inside", cost: here.plus(Cost::store(n, n, size)) },
        );
        work.decide(Decision::forced(about, a, b, WhyNot::Dearer, Says::LetOutOf(body)));
        work.note("let/float", l.node, body, "the let stands inside of what a producer reads");
    }
    Ok(())
}

/// The bodies of lets that stand inside of what a producer reads.
pub fn held(dag: &Dag, lets: &[Let], live: &[bool]) -> Vec<NodeId> {
    if lets.iter().all(|l| l.at.is_none()) {
        return Vec::new();
    }
    let producer = |at: NodeId| matches!(dag.node(at), Node::Map(_) | Node::Transform(_));
    let mut read = vec![false; dag.len()];
    for user in dag.ids().filter(|at| live[at.index()] && producer(*at)) {
        dag.node(user).inputs().iter().for_each(|a| read[a.index()] = true);
    }
    let bodies = lets.iter().filter_map(|l| l.at.filter(|body| !is_scalar(dag, l.node, *body)));
    bodies
        .filter(|at| {
            live[at.index()] && read[at.index()] && producer(*at) && !dag.shape(*at).is_empty()
        })
        .collect()
}

/// Whether a let's body reads the term at its own place alone, through scalar functions: then the
/// term is a scalar of the body's loop and no array that stands in its way (what ACC-01 calls a let
/// of expressions, not of arrays).
fn is_scalar(dag: &Dag, term: NodeId, body: NodeId) -> bool {
    let mut seen = BTreeSet::new();
    let mut stack = vec![(body, true)];
    while let Some((at, own)) = stack.pop() {
        if at == term && !own {
            return false;
        }
        if at <= term || !seen.insert((at, own)) {
            continue;
        }
        let element = dag.node(at).role() == Role::Elementwise;
        stack.extend(
            dag.node(at)
                .inputs()
                .iter()
                .map(|a| (*a, own && element && dag.shape(*a) == dag.shape(at))),
        );
    }
    true
}

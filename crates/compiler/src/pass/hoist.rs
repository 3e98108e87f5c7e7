//! hoist: a fold that does not depend on the element is computed once, outside of the loop that
//! reads it.
//!
//! Rows: BAR-16, BAR-17. `{(+/A)+⍵}¨B`: the recorder already keeps +/A out of the frame; this pass
//! says so, with what it saves, and warns where a fold does depend on the element and so runs in
//! full for each (W-seqloop). A fold that depends on two loops by the sum of their places alone is
//! outside of both (`pass/windows.rs`). `--off hoist`: the graph is written out as the text reads,
//! every fold inside of the map that uses it (`nested`, done by record).

use super::cost::Cost;
use super::decide::{About, Choice, Decision, WhyNot, label};
use super::fault::Fault;
use super::find;
use super::hash::Map;
use super::reversal::Reversal;
use super::schedule::BROADCAST;
use super::sentences::Says;
use super::windows;
use super::work::Work;
use aplomb_ground::error::Result;
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Dag, Info, Node, NodeId, Read, kinds};

pub fn run(work: &mut Work) -> Result<()> {
    windows::run(work);
    if let Some(Reversal::Nested { fold, map }) = work.options.reversal {
        nest(work, u64::MAX, |at, a| at == map && a == fold);
    }
    if !work.options.trace {
        return Ok(());
    }
    let live = work.dag.live(&work.roots);
    let folds = scalars_of_folds(&work.dag);
    for at in work.dag.ids().filter(|at| live[at.index()]) {
        if work.dag.shape(at).is_empty() || !matches!(work.dag.node(at), Node::Map(_)) {
            continue;
        }
        for a in work.dag.node(at).inputs().to_vec() {
            if folds[a.index()] > 0 {
                let decision = hoisted(work, at, a, folds[a.index()]);
                let nested = Reversal::Nested { fold: a, map: at };
                let has_room = work.dag.shape(at).len() < RANKS;
                work.decide(if has_room { decision.or(nested) } else { decision });
                work.note("hoisted", a, at, "it does not depend on the element");
            }
        }
    }
    warn(work, &live);
    Ok(())
}

fn hoisted(work: &Work, at: NodeId, fold: NodeId, points: u64) -> Decision {
    let cells = work.dag.elements(at);
    let body = find::body(&work.dag, &Default::default(), fold);
    let size = work.dag.dtype(fold).size() as u64;
    let once = Cost::compute(points, body.ns.max(0.12), 1, 1, size);
    let each = Cost::compute(points.saturating_mul(cells), body.ns.max(0.12), 1, 1, size);
    let about =
        About { at: fold, what: "hoist", reason: "hoisted", row: "BAR-16", switch: "hoist" };
    let (a, b) = (Choice { name: "outside", cost: once }, Choice { name: "inside", cost: each });
    Decision::forced(about, a, b, WhyNot::Dearer, Says::Hoisted(at))
}

/// For each scalar that folds make, how many elements they fold; 0 for all others.
fn scalars_of_folds(dag: &Dag) -> Vec<u64> {
    let mut folds = vec![0u64; dag.len()];
    for at in dag.ids().filter(|at| dag.shape(*at).is_empty()) {
        folds[at.index()] = match dag.node(at) {
            Node::Reduce(kinds::Reduce { src, .. }) => dag.elements(*src),
            Node::Map(kinds::Map { args, .. }) => {
                args.iter().fold(0, |n, a| n.saturating_add(folds[a.index()]))
            }
            _ => 0,
        };
    }
    folds
}

/// BAR-17: folds that run in full for every element of something else.
fn warn(work: &mut Work, live: &[bool]) {
    for at in work.dag.ids().filter(|at| live[at.index()]) {
        let Node::Reduce(kinds::Reduce { src, axis, .. }) = work.dag.node(at) else { continue };
        let shape = work.dag.shape(*src);
        let trips = shape[*axis as usize] as u64;
        let (rows, axis) = (work.dag.elements(at), *axis as usize);
        if rows <= 1 || trips <= 1 || !mixes(&work.dag, *src, axis) {
            continue;
        }
        let text = format!(
            "W-seqloop: {} depends on the element, so each of {rows} results is a loop of {trips} \
             of its own, {} steps in all; a fold that does not depend on it is computed once, and \
             tiles of both operands read each less often",
            label(&work.dag, at),
            rows.saturating_mul(trips)
        );
        let place = work.dag.info(at).meta.place.clone();
        work.warnings.push(super::work::Warning { code: "W-seqloop", place, text });
    }
}

/// Whether the body of a fold joins what is the same for all elements with what is the same along
/// the axis.
fn mixes(dag: &Dag, src: NodeId, axis: usize) -> bool {
    let Node::Map(kinds::Map { args, .. }) = dag.node(src) else { return false };
    let rank = dag.shape(src).len();
    let axes = |a: &NodeId| -> Option<Vec<bool>> {
        let mut at = *a;
        while let Node::Map(kinds::Map { args, .. }) = dag.node(at) {
            at = *args.iter().find(|a| !dag.shape(**a).is_empty())?;
        }
        match dag.node(at) {
            Node::Transform(kinds::Transform { read, .. }) => {
                Some((0..rank).map(|k| read.ix.iter().any(|ix| ix.mentions(k))).collect())
            }
            _ => None,
        }
    };
    let used: Vec<Vec<bool>> = args.iter().filter_map(axes).collect();
    let outer = |u: &Vec<bool>| (0..rank).any(|k| k != axis && u[k]);
    used.iter().any(|u| u[axis] && !outer(u)) && used.iter().any(|u| !u[axis] && outer(u))
}

/// Beyond so many steps a nested fold stays outside: it would not end.
const MOST: u64 = 1 << 28;

/// Ranks that arrays have: a nested fold takes one more.
const RANKS: usize = 15;

/// `--off hoist`: each scalar that a fold makes is folded again in every cell of the map that reads
/// it.
pub fn nested(work: &mut Work) {
    nest(work, MOST, |_, _| true);
}

/// Folds again in every cell of a map what a fold makes that it reads: where these are `chosen`,
/// and at most so many steps.
fn nest(work: &mut Work, most: u64, chosen: impl Fn(NodeId, NodeId) -> bool) {
    let folds = scalars_of_folds(&work.dag);
    let (fault, known) = (work.options.has(Fault::FoldTheFrame), folds.len());
    let mut widened: Map<(NodeId, NodeId), NodeId> = Map::default();
    work.rewrite(|dag, at| {
        let Node::Map(kinds::Map { op, ct, args }) = dag.node(at).clone() else { return None };
        let shape = dag.shape(at).to_vec();
        let worth = |a: &NodeId| a.index() < known && folds[a.index()] > 0 && chosen(at, *a);
        let steps = dag
            .elements(at)
            .saturating_mul(args.iter().filter(|a| worth(a)).map(|a| folds[a.index()]).sum());
        if shape.is_empty() || shape.len() >= RANKS || steps == 0 || steps > most {
            return None;
        }
        let args = args
            .iter()
            .map(|a| if worth(a) { widen(dag, *a, at, &shape, &mut widened, fault) } else { *a });
        let node = Node::Map(kinds::Map { op, ct, args: args.collect() });
        let info = Info { from: vec![at], ..dag.info(at).clone() };
        Some(("nested", "as the text reads", dag.add(node, info)))
    });
}

/// A scalar as an array of the cells' shape, each item computed by itself. Scalars are few and
/// shallow: bodies of folds.
fn widen(
    dag: &mut Dag,
    at: NodeId,
    cell: NodeId,
    shape: &[usize],
    known: &mut Map<(NodeId, NodeId), NodeId>,
    fault: bool,
) -> NodeId {
    if let Some(done) = known.get(&(at, cell)) {
        return *done;
    }
    let mut info = Info { from: vec![at], name: None, ..dag.info(at).clone() };
    info.meta.shape = shape.into();
    let wide = match dag.node(at).clone() {
        Node::Reduce(kinds::Reduce { op, src, .. }) => {
            let n = dag.shape(src)[0];
            let mut below = Info { from: vec![], name: None, ..dag.info(src).clone() };
            below.meta.shape = shape.iter().copied().chain([n]).collect();
            let read = Read::new([Ix::axis(shape.len())]);
            let spread = dag.add(
                Node::Transform(kinds::Transform { name: BROADCAST, src, read, onto: true }),
                below,
            );
            let axis = if fault && shape[0] == n { 0 } else { shape.len() };
            dag.add(Node::Reduce(kinds::Reduce { op, axis: axis as u8, src: spread }), info)
        }
        Node::Map(kinds::Map { op, ct, args }) => {
            let wide = args.iter().map(|a| match dag.node(*a) {
                Node::Reduce(_) | Node::Map(_) => widen(dag, *a, cell, shape, known, fault),
                _ => *a,
            });
            let args = wide.collect();
            dag.add(Node::Map(kinds::Map { op, ct, args }), info)
        }
        _ => return at,
    };
    known.insert((at, cell), wide);
    wide
}

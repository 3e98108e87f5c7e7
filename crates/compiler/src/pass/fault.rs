//! Defects that tests plant, one in each pass that can have one, to see that they are caught
//! (ACC-31).
//!
//! `Options::fault` chooses one; builds without debug assertions know none.

use super::work::Work;
use aplomb_plans::plan::{Plan, What};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Args, Node, NodeId, Read, kinds};
use aplomb_values::prim::op::Op;

/// A planted defect, by the pass that it spoils.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// record: the operands of - and ÷ change places.
    SwapOperands,
    /// simplify: 0-x becomes x.
    WrongSide,
    /// simplify: reads forget their tests.
    DropTests,
    /// cse: maps of equal operands meet, whatever their operation.
    MergeUnlike,
    /// push-down: a read is one place off.
    OffByOne,
    /// fuse-producers: E1 is forgotten.
    PartOfWhatFails,
    /// embed-consumers: a fold joins a launch along another axis.
    OtherAxis,
    /// horizontal: launches of other domains merge.
    OtherDomain,
    /// hoist, where it is off: a nested fold folds the frame.
    FoldTheFrame,
    /// split: what is cut off is read before it is written.
    LateWrite,
    /// tile: a copy ends a place early.
    ShortHalo,
    /// pad: rows are longer than memory.
    LongRows,
    /// emit: a step reads the next one.
    NextStep,
    /// emit: a step forgets its guard.
    DropGuard,
}

impl Fault {
    /// All of them, for tests that plant each.
    pub const ALL: [Fault; 14] = [
        Fault::SwapOperands,
        Fault::WrongSide,
        Fault::DropTests,
        Fault::MergeUnlike,
        Fault::OffByOne,
        Fault::PartOfWhatFails,
        Fault::OtherAxis,
        Fault::OtherDomain,
        Fault::FoldTheFrame,
        Fault::LateWrite,
        Fault::ShortHalo,
        Fault::LongRows,
        Fault::NextStep,
        Fault::DropGuard,
    ];
}

/// Replaces the first node that `make` has something for.
fn once(work: &mut Work, make: impl Fn(&Node<NodeId>) -> Option<Node<NodeId>>) {
    let mut done = false;
    work.rewrite(|dag, at| {
        let node = if done { None } else { make(dag.node(at)) };
        done |= node.is_some();
        let info = dag.info(at).clone();
        node.map(|node| ("fault", "planted", dag.add(node, info)))
    });
}

pub fn swap_operands(work: &mut Work) {
    once(work, |node| match node {
        Node::Map(kinds::Map { op: op @ (Op::Sub | Op::Div), ct, args }) if args[0] != args[1] => {
            Some(Node::Map(kinds::Map {
                op: *op,
                ct: *ct,
                args: Args::from_iter([args[1], args[0]]),
            }))
        }
        _ => None,
    });
}

pub fn wrong_side(work: &mut Work) {
    work.rewrite(|dag, at| match dag.node(at) {
        Node::Map(kinds::Map { op: Op::Neg, args, .. }) if dag.dtype(args[0]) == dag.dtype(at) => {
            Some(("fault", "planted", args[0]))
        }
        _ => None,
    });
}

pub fn drop_tests(work: &mut Work) {
    once(work, |node| match node {
        Node::Transform(kinds::Transform { name, src, read, onto }) if !read.tests.is_empty() => {
            let read = Read { ix: read.ix.clone(), tests: Vec::new() };
            Some(Node::Transform(kinds::Transform { name, src: *src, read, onto: *onto }))
        }
        _ => None,
    });
}

pub fn merge_unlike(work: &mut Work) {
    let mut seen: Vec<NodeId> = Vec::new();
    work.rewrite(|dag, at| {
        let Node::Map(kinds::Map { args, .. }) = dag.node(at) else { return None };
        let alike = |k: &&NodeId| match dag.node(**k) {
            Node::Map(theirs) => theirs.args == *args,
            _ => false,
        };
        match seen.iter().find(alike).copied() {
            Some(k)
                if k != at && dag.dtype(k) == dag.dtype(at) && dag.shape(k) == dag.shape(at) =>
            {
                Some(("fault", "planted", k))
            }
            _ => {
                seen.push(at);
                None
            }
        }
    });
}

pub fn off_by_one(work: &mut Work) {
    once(work, |node| match node {
        Node::Transform(kinds::Transform { name, src, read, onto }) if !read.ix.is_empty() => {
            let mut read = read.clone();
            read.ix[0] = read.ix[0].add(&Ix::constant(1));
            Some(Node::Transform(kinds::Transform { name, src: *src, read, onto: *onto }))
        }
        _ => None,
    });
}

pub fn in_plan(fault: Fault, plan: &mut Plan) {
    for step in plan.launches.iter_mut().flat_map(|l| l.body.iter_mut()) {
        match (fault, &mut step.what) {
            (Fault::NextStep, What::Op { args, .. }) => return args[0] += 1_000,
            (Fault::DropGuard, _) => step.from.guard = None,
            _ => {}
        }
    }
}

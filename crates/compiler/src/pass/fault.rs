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
    /// prune: a term that is shared is not counted.
    MissTerm,
    /// float: a let stands above one of several uses.
    BesideUse,
    /// bind: lets are bound in the reverse order.
    TurnLets,
    /// simplify: 0-x becomes x.
    WrongSide,
    /// simplify: reads forget their tests.
    DropTests,
    /// shape-uses: what was asked for its shape loses its values.
    DropValues,
    /// float-lets: a let moves to below its term.
    BelowTerm,
    /// break-random: what is read at places that values tell is not written first.
    ReadUnwritten,
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
    /// settle: choices that make the plan dearer.
    Dearer,
    /// settle: a launch runs in another order than its arrays lie in.
    OtherLayout,
    /// place: what is kept near is another part than is read.
    OtherRead,
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
    pub const ALL: [Fault; 23] = [
        Fault::SwapOperands,
        Fault::MissTerm,
        Fault::BesideUse,
        Fault::TurnLets,
        Fault::WrongSide,
        Fault::DropTests,
        Fault::DropValues,
        Fault::BelowTerm,
        Fault::ReadUnwritten,
        Fault::MergeUnlike,
        Fault::OffByOne,
        Fault::PartOfWhatFails,
        Fault::OtherAxis,
        Fault::OtherDomain,
        Fault::FoldTheFrame,
        Fault::LateWrite,
        Fault::Dearer,
        Fault::OtherLayout,
        Fault::OtherRead,
        Fault::ShortHalo,
        Fault::LongRows,
        Fault::NextStep,
        Fault::DropGuard,
    ];

    /// The pass that it spoils.
    pub fn pass(self) -> &'static str {
        match self {
            Fault::SwapOperands => "record",
            Fault::MissTerm => "prune",
            Fault::BesideUse => "float",
            Fault::TurnLets => "bind",
            Fault::WrongSide | Fault::DropTests => "simplify",
            Fault::DropValues => "shape-uses",
            Fault::BelowTerm => "float-lets",
            Fault::ReadUnwritten => "break-random",
            Fault::MergeUnlike => "cse",
            Fault::OffByOne => "push-down",
            Fault::PartOfWhatFails => "fuse-producers",
            Fault::OtherAxis => "embed-consumers",
            Fault::OtherDomain => "horizontal",
            Fault::FoldTheFrame => "hoist",
            Fault::LateWrite => "split",
            Fault::Dearer | Fault::OtherLayout => "settle",
            Fault::OtherRead => "place",
            Fault::ShortHalo => "tile",
            Fault::LongRows => "pad",
            Fault::NextStep | Fault::DropGuard => "emit",
        }
    }
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

/// The first term of several users gets its let above the first of them.
pub fn beside_use(work: &mut Work) {
    let mut lets = work.lets.to_vec();
    let live = work.dag.live(&work.roots);
    let users = |of: NodeId| -> Vec<NodeId> {
        let uses = |at: &NodeId| work.dag.node(*at).inputs().contains(&of);
        work.dag.ids().filter(|at| live[at.index()]).filter(uses).collect()
    };
    if let Some((own, users)) =
        lets.iter_mut().map(|l| (users(l.node), l)).find(|u| u.0.len() > 1).map(|(u, l)| (l, u))
    {
        own.at = users.first().copied();
        work.bind(lets);
    }
}

pub fn below_term(work: &mut Work) {
    let mut lets = work.lets.to_vec();
    if let Some(own) = lets.first_mut() {
        own.at = work.dag.node(own.node).inputs().first().copied();
        work.bind(lets);
    }
}

pub fn drop_values(work: &mut Work) {
    work.rewrite(|dag, at| match dag.node(at) {
        Node::Map(kinds::Map { args, .. })
            if dag.info(at).asked
                && dag.dtype(args[0]) == dag.dtype(at)
                && dag.shape(args[0]) == dag.shape(at) =>
        {
            Some(("fault", "planted", args[0]))
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

//! Reversals: choices of any pass made the other way, so that what each is worth is the difference
//! of two whole plans.
//!
//! A pass that decides says how it would be asked for the other way (`Decision::or`), and makes it
//! so where the options ask (`Options::reversed`). Legality goes first: none asks for a plan that
//! computes something else.

use super::schedule::flips::Flip;
use aplomb_values::dag::{Dag, Info, NodeId};
use std::collections::BTreeSet;

/// A choice made the other way. Launches are those of the plan as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reversal {
    /// The planner's.
    Flip(Flip),
    /// bind: each use of a term evaluates it.
    Unbound(NodeId),
    /// cse: a node that was written again stays beside the one that is like it.
    Unmerged(NodeId),
    /// hoist: a fold runs for each element of a map that reads it.
    Nested { fold: NodeId, map: NodeId },
    /// hoist: a fold of windows folds each whole.
    Whole(NodeId),
    /// settle: the arrays of a launch lie as they are written.
    Unturned(usize),
    /// settle: who reads a value that was asked for waits for it.
    Waits(NodeId),
    /// place: another memory serves the reads of an array by a launch.
    Placed { launch: usize, array: NodeId },
    /// tile: a launch is cut into the next best boxes, or not at all where no others fit.
    Boxes(usize),
    /// pad: rows of an array's copy by a launch are padded where they are not, and the reverse.
    Pad { launch: usize, array: NodeId },
    /// A fold of a launch goes by tiles of its operands where it does not, and the reverse.
    Tiles(usize),
    /// split: a launch may need any amount of this.
    Unlimited(&'static str),
}

impl Reversal {
    /// True of one by which nodes get other numbers, so that it stands beside no other choice that
    /// names one.
    pub fn renumbers(self) -> bool {
        match self {
            Reversal::Unbound(_)
            | Reversal::Unmerged(_)
            | Reversal::Nested { .. }
            | Reversal::Whole(_)
            | Reversal::Waits(_) => true,
            Reversal::Flip(_)
            | Reversal::Unturned(_)
            | Reversal::Placed { .. }
            | Reversal::Boxes(_)
            | Reversal::Pad { .. }
            | Reversal::Tiles(_)
            | Reversal::Unlimited(_) => false,
        }
    }
}

/// The copies of a term by which each use after the first evaluates it anew, whose first is that of
/// a root where it `is_root`: a rule for `Work::rewrite`.
pub fn unbound(
    term: NodeId,
    is_root: bool,
) -> impl FnMut(&mut Dag, NodeId) -> Option<(&'static str, &'static str, NodeId)> {
    let (mut is_used, mut done) = (is_root, BTreeSet::new());
    move |dag, user| {
        let node = dag.node(user).clone();
        if !node.inputs().contains(&term) || !done.insert(user) {
            return None;
        }
        let own = Info { from: vec![term], ..dag.info(term).clone() };
        let again = dag.node(term).clone();
        let node = node.map_inputs(|a| match *a == term && std::mem::replace(&mut is_used, true) {
            true => dag.add(again.clone(), own.clone()),
            false => *a,
        });
        let info = Info { from: vec![user], ..dag.info(user).clone() };
        let new = dag.add(node, info);
        done.insert(new);
        Some(("unbound", "each use evaluates it", new))
    }
}

/// True of a node that took a term's place, or the place of one that did; of the term, too.
pub fn is_of(dag: &Dag, at: NodeId, term: NodeId) -> bool {
    let (mut met, mut stack) = (BTreeSet::new(), vec![at]);
    while let Some(at) = stack.pop() {
        if at == term {
            return true;
        }
        if met.insert(at) {
            stack.extend(&dag.info(at).from);
        }
    }
    false
}

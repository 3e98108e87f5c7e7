//! Edits: the steps from one schedule to another.
//!
//! In: two schedules of one graph. Out: the edits that lead from the first to the second, and back:
//! `difference` and `apply` undo each other, which the verifier holds after each pass. A launch is
//! named by one of its nodes, so that edits mean the same wherever other launches stand.

use super::{Facts, Group, Keep, Schedule, Why, is_broadcast, is_free_root, order};
use crate::pass::find;
use aplomb_values::dag::{Dag, NodeId};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// The node has a buffer, and this is why.
    Keep(NodeId, Why),
    /// The node has no buffer any more: whoever reads it computes it there.
    Inline(NodeId),
    /// The node leaves its launch for one of its own.
    Split(NodeId),
    /// The launches of two nodes become one.
    Fuse { into: NodeId, with: NodeId, how: How },
}

/// The place of a launch's nodes in the launch that they join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// One more array that a map writes.
    Output,
    /// A pass over the same domain that reads nothing of the other.
    SamePass,
    /// A fold runs in the pass that computes what it folds.
    Embed,
    /// Elements over what a fold leaves follow it.
    Epilogue,
}

impl How {
    pub fn name(self) -> &'static str {
        match self {
            How::Output => "output",
            How::SamePass => "same-pass",
            How::Embed => "embed",
            How::Epilogue => "epilogue",
        }
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edit::Keep(at, why) => write!(f, "keep n{} {}", at.index(), why.code()),
            Edit::Inline(at) => write!(f, "inline n{}", at.index()),
            Edit::Split(at) => write!(f, "split n{}", at.index()),
            Edit::Fuse { into, with, how } => {
                write!(f, "fuse n{} n{} {}", into.index(), with.index(), how.name())
            }
        }
    }
}

/// The schedule before a pass and after it, and what it changed.
pub struct Change {
    pub before: Rc<Schedule>,
    pub after: Rc<Schedule>,
    pub edits: Vec<Edit>,
}

impl Change {
    /// Nodes that lost their buffer, by id.
    pub fn inlined(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.edits.iter().filter_map(|e| if let Edit::Inline(at) = e { Some(*at) } else { None })
    }

    /// Nodes that have a buffer, or have it for another reason, by id.
    pub fn kept(&self) -> impl Iterator<Item = (NodeId, &Why)> {
        self.edits
            .iter()
            .filter_map(|e| if let Edit::Keep(at, why) = e { Some((*at, why)) } else { None })
    }
}

impl Schedule {
    /// The schedule that nobody has edited: every node that is computed has a buffer and a launch
    /// of its own.
    pub fn start(dag: &Dag, roots: &[NodeId]) -> Schedule {
        let live = dag.live(roots);
        let node = |at: NodeId| dag.node(at);
        let computed = |at: &NodeId| match roots.contains(at) {
            true => !is_free_root(dag, *at),
            false => live[at.index()] && !node(*at).inputs().is_empty() && !is_broadcast(node(*at)),
        };
        let why = |at: NodeId| if roots.contains(&at) { Why::Root } else { Why::NotYet("start") };
        let keep: Keep = dag.ids().filter(computed).map(|at| (at, why(at))).collect();
        let sets = keep.keys().map(|at| vec![*at]).collect();
        let groups = arranged(dag, &keep, sets);
        Schedule { keep, groups, facts: Facts::default() }
    }

    /// The edits that lead from here to `to`: buffers first, by id, then launches that part, then
    /// those that meet, in the order of `to`.
    pub fn difference(&self, dag: &Dag, to: &Schedule) -> Vec<Edit> {
        let gone = self.keep.keys().filter(|at| !to.keep.contains_key(at));
        let new = to.keep.iter().filter(|(at, why)| self.keep.get(at) != Some(why));
        let mut edits: Vec<Edit> = gone.map(|at| Edit::Inline(*at)).collect();
        edits.extend(new.map(|(at, why)| Edit::Keep(*at, why.clone())));
        let (was, is) = (self.homes(), to.homes());
        // Of the nodes of one launch that go different ways, those of the first stay.
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        let mut parts: BTreeMap<(Option<usize>, usize), Vec<NodeId>> = BTreeMap::new();
        for (at, goes) in to.keep.keys().filter_map(|at| Some((*at, *is.get(at)?))) {
            let from = was.get(&at).copied();
            let stays = from.is_some_and(|from| *first.entry(from).or_insert(goes) == goes);
            if from.is_some() && !stays {
                edits.push(Edit::Split(at));
            }
            // What was split off, or has no launch yet, is alone.
            let alone = parts.len() + self.groups.len();
            let key = (from.filter(|_| stays).or(Some(alone)), goes);
            parts.entry(key).or_default().push(at);
        }
        for (k, group) in to.groups.iter().enumerate() {
            let mut met: Vec<&Vec<NodeId>> =
                parts.iter().filter(|((_, goes), _)| *goes == k).map(|(_, part)| part).collect();
            met.sort();
            for with in met.iter().skip(1) {
                let how = how(dag, &to.keep, group, with);
                edits.push(Edit::Fuse { into: met[0][0], with: with[0], how });
            }
        }
        edits
    }

    /// The schedule that edits make of this one; figures are to be found anew. Edits of nodes and
    /// launches that are not there change nothing.
    pub fn apply(&self, dag: &Dag, edits: &[Edit]) -> Schedule {
        let mut keep = self.keep.clone();
        let mut sets: Vec<Vec<NodeId>> = self.groups.iter().map(Group::nodes).collect();
        let leave = |sets: &mut Vec<Vec<NodeId>>, at: NodeId| {
            sets.iter_mut().for_each(|set| set.retain(|n| *n != at));
        };
        for edit in edits {
            match edit {
                Edit::Keep(at, why) => {
                    if keep.insert(*at, why.clone()).is_none() {
                        sets.push(vec![*at]);
                    }
                }
                Edit::Inline(at) => {
                    keep.remove(at);
                    leave(&mut sets, *at);
                }
                Edit::Split(at) => {
                    leave(&mut sets, *at);
                    sets.push(vec![*at]);
                }
                Edit::Fuse { into, with, .. } => {
                    let home = |at| sets.iter().position(|set| set.contains(at));
                    if let (Some(a), Some(b)) = (home(into), home(with))
                        && a != b
                    {
                        let theirs = std::mem::take(&mut sets[b]);
                        sets[a].extend(theirs);
                    }
                }
            }
        }
        sets.retain(|set| !set.is_empty());
        let groups = arranged(dag, &keep, sets);
        Schedule { keep, groups, facts: Facts::default() }
    }
}

/// The way in which some nodes are part of a launch.
fn how(dag: &Dag, keep: &Keep, group: &Group, part: &[NodeId]) -> How {
    let first = part[0];
    let reads = || find::kept_reads(dag, keep, first);
    match () {
        () if group.after.contains(&first) => How::Epilogue,
        () if group.reduces.contains(&first) && !group.body.is_empty() => How::Embed,
        () if reads().iter().any(|(read, _)| group.body.contains(read)) => How::Output,
        () => How::SamePass,
    }
}

/// Launches of these sets of nodes: where each node stands in its launch, and the stage of each
/// launch, follow from what reads what.
fn arranged(dag: &Dag, keep: &Keep, sets: Vec<Vec<NodeId>>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut home: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (k, mut set) in sets.into_iter().enumerate() {
        set.sort();
        home.extend(set.iter().map(|at| (*at, k)));
        let mut group = Group::alone(dag, keep, set[0], 0);
        for &at in &set[1..] {
            let follows = |(read, _): &(NodeId, bool)| {
                group.reduces.contains(read) || group.after.contains(read)
            };
            if dag.node(at).consumes().is_some() {
                group.push(dag, at, How::Embed);
            } else if find::kept_reads(dag, keep, at).iter().any(follows) {
                group.push(dag, at, How::Epilogue);
            } else {
                group.push(dag, at, How::Output);
            }
        }
        groups.push(group);
    }
    // Ids rise along reads, so one walk settles the stages of nodes that stand alone; a launch
    // waits for the latest of its own, so the walk is repeated while one moves. Stages only grow,
    // and none beyond the number of launches unless launches read each other in a ring, which no
    // schedule has: then the walk ends as well, and the verifier finds the ring.
    let reads: order::Reads = keep
        .keys()
        .map(|at| (*at, find::kept_reads(dag, keep, *at).into_iter().map(|(r, _)| r).collect()))
        .collect();
    for _ in 0..=groups.len() {
        let mut moved = false;
        for (at, read) in &reads {
            let own = home[at];
            let others = read.iter().map(|r| home[r]).filter(|k| *k != own);
            let after = others.map(|k| groups[k].stage).max();
            let stage = after.unwrap_or(0) + 1;
            if stage > groups[own].stage {
                groups[own].stage = stage;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    groups.sort_by_cached_key(|g| (g.stage, g.nodes()));
    order::ordered(dag, keep, groups, &reads)
}

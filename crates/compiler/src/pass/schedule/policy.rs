//! Policies: what the passes of a pipeline ask of the planner.
//!
//! Rows: ACC-12…20, ACC-30, ACL-32…40. A policy is a row of `PIPELINE`; while its pass has not run,
//! or is off, the schedule has none of what it asks for. Nothing asked: every node but implicit
//! broadcasts is its own launch.

use super::edit::How;
use super::flips::Flips;
use super::{Schedule, is_move};
use crate::pass::break_random::is_random;
use crate::pass::fault::Fault;
use crate::pass::lets::Let;
use crate::pass::{float_lets, need};
use aplomb_ground::limits::LaunchLimits;
use aplomb_values::dag::{Dag, NodeId};
use std::collections::BTreeSet;

/// One thing more that a pass asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Uses of a shape alone do not count.
    Shapes,
    /// Lets do not stand between producers.
    Lets,
    /// The arrays that a random access reads are written first, until `Consumers` takes that back.
    Breaks,
    /// Transforms of anything are read through.
    Moves,
    /// Maps are computed where they are read.
    Producers,
    /// Reductions compute what they read.
    Consumers,
    /// Launches of one domain merge.
    Domains,
    /// Terms that move fewer words stored are kept, where all is computed again for nothing.
    Words,
    /// No launch needs more than the limits.
    Limits,
}

/// The rule by which a node is computed again instead of being stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recompute {
    Never,
    /// In several places if it is light, or so short that a launch would be most of it; in one
    /// that has more points by cost.
    #[default]
    Light,
    /// Always by cost (`--dup=cost`).
    Cost,
    /// Unless the source shares it (ACC-17).
    Unshared,
    /// By words moved, of which there are so many for each use (ACL-40).
    Words,
    Always,
}

/// A set of policies: a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked(u16);

/// The policies so far, with the rules that hold in all passes of a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policies {
    pub asked: Asked,
    pub recompute: Recompute,
    /// Elements that follow a fold or feed it may be computed in its launch (rule).
    pub epilogue: bool,
    /// A launch may write several arrays (rule).
    pub outputs: bool,
    /// Folds of one domain that compute a common term are one, of tuples, and so are results.
    pub tuples: bool,
    /// The legality rules of 2006.
    pub strict: bool,
    /// The most that a launch may need, once `Limits` is asked.
    pub limits: LaunchLimits,
    /// Choices that are made the other way.
    pub flips: Flips,
    /// A defect that a test planted.
    pub fault: Option<Fault>,
}

impl Policies {
    pub fn asks(&self, policy: Policy) -> bool {
        self.asked.0 >> policy as u16 & 1 == 1
    }

    #[must_use]
    pub fn and(self, policy: Policy) -> Policies {
        Policies { asked: Asked(self.asked.0 | 1 << policy as u16), ..self }
    }

    /// The rule by which nodes are computed again now.
    pub fn recompute(&self) -> Recompute {
        match self.recompute {
            Recompute::Always if self.asks(Policy::Words) => Recompute::Words,
            rule => rule,
        }
    }

    /// The limits that hold now.
    pub fn limits(&self) -> Option<LaunchLimits> {
        self.asks(Policy::Limits).then_some(self.limits)
    }

    /// Whether the pipeline wants what is legal: two launches become one in this way. One more
    /// output of a map is fusion of producers where it reads the `last` node of the map; beside
    /// others it is horizontal fusion too.
    pub fn fuse(&self, how: How, last: bool) -> bool {
        match how {
            How::Embed | How::Epilogue => self.asks(Policy::Consumers) && self.epilogue,
            How::Output => {
                let beside = last || self.asks(Policy::Domains);
                self.asks(Policy::Producers) && self.outputs && beside
            }
            How::SamePass => self.outputs,
        }
    }

    pub fn has(&self, fault: Fault) -> bool {
        cfg!(debug_assertions) && self.fault == Some(fault)
    }

    /// Whether a policy that is asked for now may change this schedule. No: the graph has nothing
    /// of what it is about. Cheap and careful: yes also means that nobody knows yet. The verifier
    /// compares.
    pub fn concerns(
        &self,
        policy: Policy,
        dag: &Dag,
        roots: &[NodeId],
        lets: &[Let],
        now: &Schedule,
    ) -> bool {
        let live = dag.live(roots);
        let some = |is: &dyn Fn(NodeId) -> bool| dag.ids().any(|at| live[at.index()] && is(at));
        let random = |at| is_random(dag.node(at));
        let moves = |at| is_move(dag.node(at));
        match policy {
            _ if self.asks(policy) => false,
            Policy::Shapes => some(&|at| dag.info(at).asked),
            Policy::Lets => !float_lets::held(dag, lets, &live).is_empty(),
            Policy::Breaks => some(&random),
            Policy::Moves => some(&moves),
            Policy::Producers => true,
            Policy::Consumers => {
                let met = self.asks(Policy::Moves) || !some(&moves);
                !(self.outputs && self.asks(Policy::Producers) && met && !some(&random))
            }
            // Nothing that could have merged before more was kept.
            Policy::Domains => {
                let mut met = BTreeSet::new();
                !now.keep.keys().all(|at| met.insert(dag.domain(*at)))
            }
            Policy::Words => self.recompute == Recompute::Always,
            // Whatever a launch was put together from needs no more than it does.
            Policy::Limits => now
                .groups
                .iter()
                .any(|g| need::over(dag, &now.keep, &g.nodes(), &self.limits).is_some()),
        }
    }
}

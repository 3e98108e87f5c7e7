//! Legality: which edits of a schedule keep the meaning of the graph, whatever they cost.
//!
//! Rows: ACL-17, ACL-38. The planner asks here before it joins launches and before it leaves a node
//! without a buffer; the verifier asks again of each edit that a pass made. Cost and taste are the
//! policies'.

use super::edit::{Edit, How};
use super::{Evaluated, Group, Keep, Schedule, Why, is_free_root, kind};
use crate::pass::contexts::Context;
use crate::pass::{find, strict};
use aplomb_values::dag::{Dag, NodeId, Read, Role};

/// Most kept nodes of one launch: each may be a buffer that it writes, and devices take no more.
pub const STORES: usize = 64;

/// More places than this are not worth the text.
pub const PLACES: usize = 64;

/// The reason why an edit would change the meaning, or make a launch that no device runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Illegal {
    /// The node must have a buffer.
    Must(Why),
    /// A number or an input needs no launch.
    Leaf,
    /// The node is in no launch.
    Nowhere,
    /// The launches run over different domains.
    Domain,
    /// One reads what the other writes, at other places than its own.
    Place,
    /// They fold or scan along different axes, or in different ways.
    Axis,
    /// A selection, a fold of whole arrays and a product of all pairs run alone.
    Alone,
    /// The launch would write more arrays than a device takes.
    Stores,
}

impl Illegal {
    /// The reason in words.
    pub fn says(&self) -> &'static str {
        match self {
            Illegal::Must(_) => "its value is needed whole",
            Illegal::Leaf => "it is there without a launch",
            Illegal::Nowhere => "it is computed nowhere",
            Illegal::Domain => "it goes over another domain than the launch before it",
            Illegal::Place => {
                "it reads what an earlier launch writes, and begins when that has ended"
            }
            Illegal::Axis => "the two fold different axes",
            Illegal::Alone => {
                "one of the two is a selection, a product of all pairs or an operation on whole \
                 arrays, and runs alone"
            }
            Illegal::Stores => "together they would write too many arrays",
        }
    }
}

/// Whether a node that these places read may be computed there instead of being stored.
///
/// What can fail is computed whole in one place at least, so that the error does not depend on
/// fusion (E1). Moves and catenations count, too: each of their users is one more place of all that
/// is below, and what several of them read of themselves would double at every step.
pub fn inline(dag: &Dag, strictly: bool, at: NodeId, places: &[Context]) -> Result<(), Illegal> {
    let must = |why| Err(Illegal::Must(why));
    if dag.fails_hard(at) && !places.iter().any(|c| c.onto) {
        return must(Why::MayFail);
    }
    if strictly && let Some(place) = places.iter().find(|c| !strict::allows(dag, at, &c.read)) {
        let is_map = dag.node(at).role() == Role::Elementwise;
        let fill = place.read.tests.first().filter(|_| is_map).map(|t| t.fill);
        return must(Why::Outside { code: strict::code(dag, at), fill });
    }
    if dag.shape(at).is_empty() {
        return Ok(());
    }
    if places.len() > PLACES {
        return must(Why::Places(places.len()));
    }
    match places.iter().map(|c| c.read.weight()).find(|w| *w > Read::HEAVIEST) {
        Some(heavy) => must(Why::Steps(heavy)),
        None => Ok(()),
    }
}

/// Whether two launches may be one pass over their domain.
pub fn beside(a: &Group, b: &Group) -> Result<(), Illegal> {
    let alike = a.axis.is_none() || b.axis.is_none() || (a.kind, a.axis) == (b.kind, b.axis);
    match () {
        () if a.domain != b.domain => Err(Illegal::Domain),
        () if a.stage != b.stage => Err(Illegal::Place),
        () if !alike => Err(Illegal::Axis),
        () if a.kind.is_alone() || b.kind.is_alone() => Err(Illegal::Alone),
        () if a.product || b.product => Err(Illegal::Alone),
        () if a.len() + b.len() > STORES => Err(Illegal::Stores),
        () => Ok(()),
    }
}

/// The way in which a kept node may run in the launch whose values it reads at their own place:
/// `read` are those values.
pub fn follows(dag: &Dag, g: &Group, at: NodeId, read: &[NodeId]) -> Result<How, Illegal> {
    if g.kind == aplomb_plans::plan::Kind::Compact {
        return Err(Illegal::Alone);
    }
    if g.len() >= STORES {
        return Err(Illegal::Stores);
    }
    let Some(shape) = read.first().map(|t| dag.shape(*t)) else { return Err(Illegal::Place) };
    if read.iter().any(|t| dag.shape(*t) != shape) {
        return Err(Illegal::Domain);
    }
    let in_body = read.iter().all(|t| g.body.contains(t));
    let in_after = read.iter().all(|t| g.reduces.contains(t) || g.after.contains(t));
    match (dag.node(at).consumes(), kind(dag.node(at))) {
        (Some(_), kind) if kind.is_alone() => Err(Illegal::Alone),
        (Some((src, _)), _) if !in_body || dag.shape(*src) != shape => Err(Illegal::Place),
        (Some((_, axis)), kind) if g.axis.is_some_and(|a| (g.kind, a) != (kind, axis)) => {
            Err(Illegal::Axis)
        }
        (Some(_), _) => Ok(How::Embed),
        _ if dag.shape(at) != shape => Err(Illegal::Domain),
        _ if in_body => Ok(How::Output),
        _ if in_after => Ok(How::Epilogue),
        _ => Err(Illegal::Place),
    }
}

/// Whether an edit that a pass made is legal in the schedule that it led to.
pub fn check(dag: &Dag, roots: &[NodeId], after: &Schedule, edit: &Edit) -> Result<(), Illegal> {
    let home = |at: NodeId| after.groups.iter().position(|g| g.nodes().contains(&at));
    match edit {
        Edit::Keep(at, Why::Root) => home(*at).map(|_| ()).ok_or(Illegal::Nowhere),
        Edit::Keep(at, _) if dag.node(*at).is_given() => Err(Illegal::Leaf),
        Edit::Keep(at, _) => home(*at).map(|_| ()).ok_or(Illegal::Nowhere),
        Edit::Inline(at) if dag.node(*at).consumes().is_some() => Err(Illegal::Must(Why::Consumer)),
        Edit::Inline(at) if roots.contains(at) && !is_free_root(dag, *at) => {
            Err(Illegal::Must(Why::Root))
        }
        Edit::Inline(at) => match after.facts.evaluated.get(at) {
            Some(Evaluated { must: Some(why), .. }) => Err(Illegal::Must(why.clone())),
            _ if after.keep.contains_key(at) => Err(Illegal::Must(after.keep[at].clone())),
            _ => Ok(()),
        },
        Edit::Split(at) => home(*at).map(|_| ()).ok_or(Illegal::Nowhere),
        Edit::Fuse { into, with, .. } => match (home(*into), home(*with)) {
            (Some(a), Some(b)) if a == b => launch(dag, &after.keep, &after.groups[a]),
            _ => Err(Illegal::Nowhere),
        },
    }
}

/// Whether a launch is one that devices run: its nodes run over its domain or what its consumers
/// leave of it, along its axis, and read each other at their own place only.
pub fn launch(dag: &Dag, keep: &Keep, g: &Group) -> Result<(), Illegal> {
    let nodes = g.nodes();
    if nodes.len() > STORES {
        return Err(Illegal::Stores);
    }
    for &at in &nodes {
        let fits = match dag.node(at).consumes() {
            Some((src, axis)) => {
                if g.axis != Some(axis) {
                    return Err(Illegal::Axis);
                }
                dag.shape(*src) == &*g.domain
            }
            None if g.after.contains(&at) => dag.shape(at) == &*g.outer,
            None => dag.shape(at) == &*g.domain,
        };
        if !fits {
            return Err(Illegal::Domain);
        }
        let elsewhere = |(read, own): &(NodeId, bool)| !own && nodes.contains(read);
        if find::kept_reads(dag, keep, at).iter().any(elsewhere) {
            return Err(Illegal::Place);
        }
    }
    Ok(())
}

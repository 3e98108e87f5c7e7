//! Contexts: the places where each node is evaluated.
//!
//! A context is a launch, the loop inside it (body or after), and the read through which that
//! loop's point becomes the node's own. Equal contexts are one: sharing inside a launch is free.
//! One walk, users first.

use super::hash::Map;
use super::schedule::{Group, Why};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Interrupt;
use aplomb_plans::plan::product;
use aplomb_values::dag::{Dag, NodeId, Read, Role};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Clone, Debug)]
pub struct Context {
    pub group: usize,
    pub after: bool,
    pub read: Rc<Read>,
    /// Every element of the node is evaluated here.
    pub onto: bool,
    /// Points of the loop where all tests hold.
    pub points: u64,
    /// All points of the loop: its step runs at each, whether its value is wanted there or not.
    pub runs: u64,
    /// A consumer holds all of it.
    pub whole: bool,
}

/// The number of launches that these places are in.
pub fn launches(places: &[Context]) -> u64 {
    places.iter().map(|c| c.group).collect::<BTreeSet<_>>().len() as u64
}

/// The contexts of each node, by its index, and the loads.
pub struct Contexts(Vec<Vec<Context>>, Vec<Load>);

/// A buffer that a launch reads, and where.
pub struct Load {
    pub at: NodeId,
    pub group: usize,
    pub after: bool,
    pub read: Rc<Read>,
    /// All of it, whatever the points: an operand that is held.
    pub whole: bool,
}

/// The outcome of a walk: contexts, and what must be kept beside what was. While something must,
/// they are not the last.
pub struct Walk {
    pub contexts: Contexts,
    pub new: BTreeMap<NodeId, Why>,
}

impl Contexts {
    /// Users first. The first `settled` groups are launches, others may still join them. `judge`
    /// says whether a node in these places must be kept; it then stands in a launch of its own,
    /// numbered behind the others, until the next schedule finds it a home. So a chain of a
    /// thousand such nodes is one walk, and contexts do not multiply through them. Errors:
    /// INTERRUPT.
    pub fn walk(
        dag: &Dag,
        keep: &BTreeMap<NodeId, Why>,
        groups: &[Group],
        settled: usize,
        judge: &dyn Fn(&BTreeMap<NodeId, Why>, NodeId, &[Context]) -> Option<Why>,
        stop: &Interrupt,
    ) -> Result<Walk> {
        let mut home: Vec<Option<(usize, bool)>> = vec![None; dag.len()];
        for (g, group) in groups.iter().enumerate() {
            group.body.iter().for_each(|at| home[at.index()] = Some((g, false)));
            let after = group.reduces.iter().chain(&group.after);
            after.for_each(|at| home[at.index()] = Some((g, true)));
        }
        let mut all = Contexts(vec![Vec::new(); dag.len()], Vec::new());
        let (mut kept, mut new) = (keep.clone(), BTreeMap::new());
        let mut own: Vec<Own<'_>> = Vec::new();
        // Nodes whose contexts may still change, and so those of all below them: a later walk looks
        // at them. There is one, for while a node is unsure another is new.
        let mut unsure = vec![false; dag.len()];
        for at in dag.ids().rev() {
            stop.check()?;
            if let (true, Some((group, after))) = (keep.contains_key(&at), home[at.index()]) {
                // What a consumer consumes is evaluated in the body, whatever the consumer's own
                // place.
                let after = after && dag.node(at).consumes().is_none();
                let extents = extents(groups, group, after);
                let seed = Context {
                    group,
                    after,
                    read: Rc::new(Read::identity(extents.len())),
                    onto: true,
                    points: product(extents),
                    runs: product(extents),
                    whole: false,
                };
                all.pass_on(dag, at, &seed, extents);
                all.note_loads(dag, at, home[at.index()]);
                for c in &all.0[at.index()] {
                    let reader = c.group.checked_sub(groups.len()).and_then(|k| own.get_mut(k));
                    let later =
                        |o: &&mut Own<'_>| !c.read.is_identity() || o.extents != dag.shape(at);
                    if let Some(reader) = reader.filter(later) {
                        remember(&mut reader.below, group);
                    }
                }
            } else if unsure[at.index()] {
                dag.node(at).inputs().iter().for_each(|a| unsure[a.index()] = true);
            } else if !all.0[at.index()].is_empty() {
                if dag.node(at).is_input() {
                    all.note_loads(dag, at, home[at.index()]);
                }
                // No node is its own operand: its list stands still while it is passed on.
                let places = std::mem::take(&mut all.0[at.index()]);
                let domain = |c: &Context| match c.group.checked_sub(groups.len()) {
                    Some(k) => own[k].extents,
                    None => extents(groups, c.group, c.after),
                };
                let apart = |a: usize, b: usize| {
                    let under = |x: usize, y| {
                        let own = x.checked_sub(groups.len()).map(|k| &own[k]);
                        own.is_some_and(|own| own.above.contains(&y) || own.below.contains(&y))
                    };
                    under(a, b) || under(b, a)
                };
                let leaf = dag.node(at).is_given();
                if may_meet(&places, settled, &domain, &apart) {
                    dag.node(at).inputs().iter().for_each(|a| unsure[a.index()] = true);
                } else if let Some(why) = (!leaf).then(|| judge(&kept, at, &places)).flatten() {
                    kept.insert(at, why.clone());
                    new.insert(at, why);
                    let above = above(&places, &own, groups.len(), |c| {
                        !c.read.is_identity() || domain(c) != dag.shape(at)
                    });
                    let extents = dag.shape(at);
                    let seed = Context {
                        group: groups.len() + own.len(),
                        after: false,
                        read: Rc::new(Read::identity(extents.len())),
                        onto: true,
                        points: product(extents),
                        runs: product(extents),
                        whole: false,
                    };
                    own.push(Own { extents, above, below: SmallVec::new() });
                    all.pass_on(dag, at, &seed, extents);
                } else {
                    for place in &places {
                        all.pass_on(dag, at, place, domain(place));
                    }
                }
                all.0[at.index()] = places;
            }
        }
        Ok(Walk { contexts: all, new })
    }

    /// Nodes that are evaluated somewhere, operands first.
    pub fn iter<'a>(&'a self, dag: &'a Dag) -> impl Iterator<Item = (NodeId, &'a [Context])> {
        dag.ids().zip(&self.0).map(|(at, c)| (at, c.as_slice())).filter(|(_, c)| !c.is_empty())
    }

    /// Buffers read.
    pub fn loads(&self) -> &[Load] {
        &self.1
    }

    /// A buffer's contexts are loads, unless the value is at hand in the same loop.
    fn note_loads(&mut self, dag: &Dag, at: NodeId, home: Option<(usize, bool)>) {
        for c in &self.0[at.index()] {
            let here = home == Some((c.group, c.after)) && c.read.is_identity();
            if !here || dag.node(at).is_input() {
                let (after, read, whole) = (c.after, c.read.clone(), c.whole);
                self.1.push(Load { at, group: c.group, after, read, whole });
            }
        }
    }

    fn pass_on(&mut self, dag: &Dag, at: NodeId, place: &Context, extents: &[usize]) {
        for (k, arg) in dag.node(at).inputs().iter().enumerate() {
            let (read, onto) = argument(dag, at, k, &place.read, extents);
            let onto = place.onto && onto;
            let runs = product(extents);
            let points = if read.tests.is_empty() { runs } else { read.points(extents) };
            let whole = dag.node(at).reads_anywhere(k) && dag.node(at).role() != Role::AtPlaces;
            let list = &mut self.0[arg.index()];
            let same = |c: &&mut Context| {
                (c.group, c.after) == (place.group, place.after) && c.read == read
            };
            match list.iter_mut().find(same) {
                Some(known) => {
                    known.onto |= onto;
                    known.whole |= whole;
                }
                None => list.push(Context {
                    group: place.group,
                    after: place.after,
                    read,
                    onto,
                    points,
                    runs,
                    whole,
                }),
            }
        }
    }
}

/// A node that this walk keeps: a launch to come.
struct Own<'a> {
    extents: &'a [usize],
    /// Launches that surely come later, the nearest first: they can never be this one.
    above: SmallVec<[usize; 8]>,
    /// Launches that surely come earlier: it reads what they keep at another place than its own.
    below: SmallVec<[usize; 8]>,
}

/// So many are remembered; not to know one only puts a judgement off.
const ABOVE: usize = 32;

/// Who reads a node at another place than its own comes a stage later; who reads it at its own
/// place is no earlier.
fn above(
    places: &[Context],
    own: &[Own<'_>],
    first: usize,
    other: impl Fn(&Context) -> bool,
) -> SmallVec<[usize; 8]> {
    let mut all = SmallVec::new();
    let direct = places.iter().filter(|c| other(c)).map(|c| c.group);
    let theirs = places
        .iter()
        .filter_map(|c| own.get(c.group.checked_sub(first)?))
        .flat_map(|o| &o.above)
        .copied();
    for group in direct.chain(theirs) {
        remember(&mut all, group);
    }
    all
}

fn remember(all: &mut SmallVec<[usize; 8]>, group: usize) {
    if all.len() < ABOVE && !all.contains(&group) {
        all.push(group);
    }
}

/// Whether two contexts would be one if a launch that is only now known found its home in
/// another's.
fn may_meet<'a>(
    places: &[Context],
    settled: usize,
    domain: &dyn Fn(&Context) -> &'a [usize],
    apart: &dyn Fn(usize, usize) -> bool,
) -> bool {
    let meets = |c: &Context, d: &Context| {
        d.group != c.group && d.read == c.read && domain(d) == domain(c) && !apart(c.group, d.group)
    };
    let mut late = places.iter().filter(|c| c.group >= settled);
    if places.len() <= FEW {
        return late.any(|c| places.iter().any(|d| meets(c, d)));
    }
    // An array that thousands of launches read, each elsewhere.
    let mut alike: Map<&Read, Vec<&Context>> = Map::default();
    for place in places {
        alike.entry(&place.read).or_default().push(place);
    }
    late.any(|c| alike[&*c.read].iter().any(|d| meets(c, d)))
}

/// Contexts of one node that are compared each with each.
const FEW: usize = 32;

/// The read of a node's k-th argument, given the node's, and whether it passes over all of it: the
/// same read, or the node's own after it, or nothing to index where the argument is a scalar. A
/// scalar that is at hand needs no test.
pub fn argument(
    dag: &Dag,
    at: NodeId,
    k: usize,
    read: &Rc<Read>,
    extents: &[usize],
) -> (Rc<Read>, bool) {
    let node = dag.node(at);
    let arg = node.inputs()[k];
    match node.read_of(dag, at, k) {
        _ if node.reads_anywhere(k) => (Rc::new(Read::anywhere(dag.shape(arg).len())), false),
        Some((inner, onto)) => (Rc::new(inner.after(read, extents)), onto),
        None if dag.shape(arg).is_empty() && !dag.domain(at).is_empty() => {
            (Rc::new(Read::new([])), true)
        }
        None => (read.clone(), true),
    }
}

/// The extents of a group's loop.
pub fn extents(groups: &[Group], group: usize, after: bool) -> &[usize] {
    if after { &groups[group].outer } else { &groups[group].domain }
}

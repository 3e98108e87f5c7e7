//! horizontal: launches side by side that become one.
//!
//! Rows: ACL-18, BAR-08. In: the launches so far. Out: the same, where those of equal stage and
//! domain that read a common buffer or compute a common term, or are both too small to be worth
//! two, and lose nothing by it (`together`) are one; others that gain by it as well. Without that
//! pass, where tuples are, what computes a common term: folds, as Accelerate's fold of an array of
//! tuples is one, and maps of which all that is written is a result, as its map to a tuple is one.
//!
//! A loop of a hundred turns leaves a hundred launches of each kind that are alike but for what
//! they read, and to ask of each whether one launch more would lose something is to write ever
//! longer launches: a hundred turns took 200 ms. The first of a kind is asked about by itself, and
//! is taken or refused for all that are like it. Those of kinds that were taken are asked about in
//! *bunches*, which double as long as nothing is lost and are halved where something is, so what
//! is written in all is a few times what is merged. A launch refuses so many kinds and looks so
//! far along the others: what that takes grows with the launches, not with their square.

use super::draft::{fits, merge};
use super::flips::Way;
use super::policy::{Policies, Policy};
use super::{Group, Keep, Why, is_small, legal, together};
use crate::pass::alike::Operation;
use crate::pass::fault::Fault;
use crate::pass::hash::Map;
use crate::pass::need;
use aplomb_ground::error::Result;
use aplomb_ground::limits::Interrupt;
use aplomb_plans::plan::Kind;
use aplomb_values::array::Shape;
use aplomb_values::dag::{Dag, NodeId, Role};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

/// Launches that share nothing with another and gain nothing by it, after which no more are asked.
const REFUSED: usize = 4;
/// The kinds of launches that one refuses, after which it asks about no other.
const KINDS: usize = 16;
/// The launches in a row that one looks at without taking any, after which it looks no further.
pub const FAR: usize = 512;

/// The nodes of a launch: what it reads from memory, and what it computes.
#[derive(Clone, Default)]
struct Parts {
    inputs: BTreeSet<NodeId>,
    terms: BTreeSet<NodeId>,
    /// The nodes that take nothing to compute again: places as numbers, and moves of them.
    free: BTreeSet<NodeId>,
    /// The number of what tells it from others but for the arrays that it reads.
    own: usize,
}

impl Parts {
    fn of(dag: &Dag, keep: &Keep, g: &Group, kinds: &mut Map<Vec<Operation>, usize>) -> Parts {
        let (need, inside) = need::whole(dag, keep, &g.nodes());
        let nodes = g.nodes();
        let all = nodes.iter().chain(&inside).filter(|at| !dag.node(**at).is_given());
        let next = kinds.len();
        let own = all.map(|at| Operation::of(dag, *at)).collect();
        let own = *kinds.entry(own).or_insert(next);
        let (mut terms, mut free) = (BTreeSet::new(), BTreeSet::new());
        for at in inside.into_iter().filter(|at| !dag.shape(*at).is_empty()) {
            match dag.node(at).role() {
                Role::Elementwise | Role::AtPlaces => terms.insert(at),
                Role::Index | Role::Move if !need::is_read(dag, keep, at) => free.insert(at),
                _ => false,
            };
        }
        Parts { inputs: need.inputs, terms, free, own }
    }

    fn take(&mut self, other: &Parts) {
        self.inputs.extend(&other.inputs);
        self.terms.extend(&other.terms);
        self.free.extend(&other.free);
    }
}

/// The likeness of a launch beside a first: launches of one likeness are answered alike.
#[derive(Clone, Copy, PartialEq)]
struct Likeness {
    own: usize,
    axis: Option<usize>,
    /// The numbers of nodes that it has in common with the first.
    inputs: usize,
    terms: usize,
    free: usize,
    shares: bool,
    /// A flip asks for it, so nothing is lost.
    asked: bool,
}

struct Merging<'a> {
    dag: &'a Dag,
    keep: &'a Keep,
    groups: &'a mut [Option<Group>],
    of: &'a mut BTreeMap<NodeId, usize>,
    policies: Policies,
    stop: &'a Interrupt,
    parts: Vec<Parts>,
    /// Launches that were written, apart and as one, to be asked about.
    written: usize,
}

/// Merges launches side by side; the number of launches that were written for it. Errors: a bug;
/// INTERRUPT.
pub fn merged(
    dag: &Dag,
    keep: &Keep,
    groups: &mut [Option<Group>],
    of: &mut BTreeMap<NodeId, usize>,
    policies: Policies,
    stop: &Interrupt,
) -> Result<usize> {
    // A group that another took reads nothing.
    let mut kinds = Map::default();
    let mut parts = Vec::new();
    for g in groups.iter() {
        stop.check()?;
        let of = g.as_ref().map(|g| Parts::of(dag, keep, g, &mut kinds));
        parts.push(of.unwrap_or_default());
    }
    // Only these can merge.
    let mut alike: BTreeMap<(u32, Shape), Vec<usize>> = BTreeMap::new();
    for (k, g) in groups.iter().enumerate() {
        if let Some(g) = g {
            let domain =
                if policies.has(Fault::OtherDomain) { Shape::new() } else { g.domain.clone() };
            alike.entry((g.stage, domain)).or_default().push(k);
        }
    }
    let mut merging = Merging { dag, keep, groups, of, policies, stop, parts, written: 0 };
    for same in alike.values() {
        for (k, &a) in same.iter().enumerate() {
            merging.take_others(a, &same[k + 1..])?;
        }
    }
    Ok(merging.written)
}

impl Merging<'_> {
    /// Launch `a` takes those of the others that it may and that pay, in their order.
    fn take_others(&mut self, a: usize, others: &[usize]) -> Result<()> {
        let (mut taken, mut lost): (Vec<Likeness>, Vec<Likeness>) = Default::default();
        let (mut at, mut size, mut refused, mut passed) = (0, 1, 0, 0);
        // With a full one nothing merges, and there may be ten thousand others.
        let is_full = |g: &Group| g.len() >= legal::STORES;
        while let (Some(&b), Some(first)) = (others.get(at), &self.groups[a])
            && !is_full(first)
            && passed < FAR
        {
            self.stop.check()?;
            if self.groups[b].is_none() {
                at += 1;
                continue;
            }
            let like = self.likeness(&self.parts[a], a, b);
            let many = lost.len() == KINDS && !taken.contains(&like);
            if many || !like.shares && refused == REFUSED || lost.contains(&like) {
                (at, passed) = (at + 1, passed + 1);
                continue;
            }
            let bunch = self.bunch(a, &others[at..], size, &taken);
            if bunch.is_empty() {
                (at, passed) = (at + 1, passed + 1);
                continue;
            }
            let pays = self.pays(a, &bunch, like)?;
            if pays && fits(self.dag, self.keep, || self.nodes(a, &bunch), self.policies) {
                bunch.iter().for_each(|&b| self.merge(a, b));
                at += bunch.len();
                (size, passed) = (2 * size, 0);
                if !taken.contains(&like) {
                    taken.push(like);
                }
            } else if bunch.len() > 1 {
                size = bunch.len() / 2;
            } else {
                refused += usize::from(!pays && !like.shares);
                taken.retain(|own| *own != like);
                lost.push(like);
                (at, passed) = (at + 1, passed + 1);
                size = 1;
            }
        }
        Ok(())
    }

    /// The first of some launches, if it may be one with `a`; if it is like one that was taken,
    /// with others that follow it and are, at most so many.
    fn bunch(&self, a: usize, others: &[usize], size: usize, taken: &[Likeness]) -> Vec<usize> {
        let mut bunch = Vec::new();
        let Some(first) = &self.groups[a] else { return bunch };
        // What those before it bring, one of them shares as well.
        let (mut whole, mut all) = (first.clone(), self.parts[a].clone());
        let most = self.policies.limits().map_or(usize::MAX, |limits| limits.inputs);
        let mut shares = None;
        for &b in others.iter().take(size) {
            let Some(own) = &self.groups[b] else { break };
            let like = self.likeness(&all, a, b);
            let may_be_one_of = !like.asked && taken.contains(&like);
            let alone = bunch.is_empty();
            if !alone && (!may_be_one_of || shares != Some(like.shares)) {
                break;
            }
            let other_domain = self.policies.has(Fault::OtherDomain) && whole.axis == own.axis;
            let may = legal::beside(&whole, own).is_ok() || other_domain;
            let apart = self.is_flipped(&whole, own, Way::Apart);
            all.take(&self.parts[b]);
            if !may || apart || all.inputs.len() > most {
                break;
            }
            whole.take(own.clone());
            bunch.push(b);
            shares = Some(like.shares);
            if !may_be_one_of {
                break;
            }
        }
        bunch
    }

    /// The likeness of a launch beside `a`, which is made of these parts.
    fn likeness(&self, x: &Parts, a: usize, b: usize) -> Likeness {
        let y = &self.parts[b];
        let inputs = x.inputs.intersection(&y.inputs).count();
        let terms = x.terms.intersection(&y.terms).count();
        let free = x.free.intersection(&y.free).count();
        let (mut shares, mut asked, mut axis) = (false, false, None);
        if let (Some(first), Some(own)) = (&self.groups[a], &self.groups[b]) {
            shares = match self.policies.asks(Policy::Domains) {
                true => {
                    let small = is_small(&first.domain) && is_small(&own.domain);
                    small || inputs + terms > 0 || free > 0 && leave_little(first, own)
                }
                false => terms > 0 && is_tuple(self.dag, self.keep, first, own),
            };
            asked = self.is_flipped(first, own, Way::Together);
            axis = own.axis;
        }
        Likeness { own: y.own, axis, inputs, terms, free, shares, asked }
    }

    fn is_flipped(&self, a: &Group, b: &Group, way: Way) -> bool {
        let flips = &self.policies.flips;
        !flips.is_empty() && [a, b].iter().any(|g| flips.any(&g.nodes(), way))
    }

    fn pays(&mut self, a: usize, bunch: &[usize], like: Likeness) -> Result<bool> {
        // The first is of no kind: it may have taken others.
        let kinds = [(usize::MAX, a)].into_iter();
        let kinds = kinds.chain(bunch.iter().map(|b| (self.parts[*b].own, *b)));
        let group = |(kind, k): (usize, usize)| self.groups[k].as_ref().map(|g| (kind, g));
        let parts: Vec<(usize, &Group)> = kinds.filter_map(group).collect();
        self.written += 2 * parts.iter().map(|(_, g)| g.len()).sum::<usize>();
        match like.shares {
            _ if like.asked => Ok(true),
            true => {
                let loss = together::loss_of(self.dag, self.keep, &parts)?;
                Ok(loss.is_none())
            }
            false if self.policies.asks(Policy::Domains) => {
                together::gains(self.dag, self.keep, &parts)
            }
            false => Ok(false),
        }
    }

    fn nodes(&self, a: usize, bunch: &[usize]) -> Vec<NodeId> {
        let groups = [a].into_iter().chain(bunch.iter().copied());
        groups.filter_map(|k| self.groups[k].as_ref()).flat_map(Group::nodes).collect()
    }

    fn merge(&mut self, a: usize, b: usize) {
        merge(self.groups, self.of, a, b);
        let gone = take(&mut self.parts[b]);
        self.parts[a].take(&gone);
    }
}

/// True of two folds that leave little behind. What takes nothing to compute again is reason enough
/// for one of both then: no array waits in memory for it.
fn leave_little(x: &Group, y: &Group) -> bool {
    [x, y].iter().all(|g| g.kind == Kind::Reduce && g.body.is_empty() && is_small(&g.outer))
}

/// True of two launches that are parts of one array of tuples: both fold, or both are maps to
/// results.
fn is_tuple(dag: &Dag, keep: &Keep, x: &Group, y: &Group) -> bool {
    let results = |g: &Group| {
        let result = |at: &NodeId| keep.get(at) == Some(&Why::Root) && dag.node(*at).computes();
        g.nodes().iter().all(result)
    };
    match (x.kind, y.kind) {
        (Kind::Reduce, Kind::Reduce) => true,
        (Kind::Map, Kind::Map) => results(x) && results(y),
        _ => false,
    }
}

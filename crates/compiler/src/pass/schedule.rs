//! From a graph to launches: which nodes are kept, where each is evaluated, what runs together.
//!
//! Rows: LOWERING §7; ACL-17, ACL-39, ACC-17, BAR-08. In: a graph, its roots, what is allowed
//! (`Allow`). Out: kept nodes with reasons, launches as groups of kept nodes, and each node's
//! contexts. Deterministic: walks are in id order. `keep` only grows, so the loop ends. Cost:
//! linear in distinct contexts.

use super::break_random::is_random;
use super::contexts::{Context, Contexts, extents};
use super::cost::{self, Cost, LAUNCH_NS};
use super::decide::label;
use super::fault::Fault;
use super::hash::Map;
use super::judge::Judge;
use super::lets::Let;
use super::{find, float_lets, need, product, split};
use aplomb_ground::error::{Result, bug};
use aplomb_ground::limits::{Interrupt, LaunchLimits};
use aplomb_plans::plan::Kind;
use aplomb_values::array::Shape;
use aplomb_values::dag::{Dag, Node, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// What the passes so far have made possible. Nothing: every node but implicit broadcasts is its
/// own launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Allow {
    /// Uses of a shape alone do not count (shape-uses).
    pub shapes: bool,
    /// Lets do not stand between producers (float-lets).
    pub floats: bool,
    /// What a random access reads is written first (break-random), until embed-consumers takes that
    /// back.
    pub breaks: bool,
    /// Transforms of anything are read through (pass push-down).
    pub push: bool,
    /// Maps are computed where they are read (fuse-producers).
    pub fuse: bool,
    /// Reductions compute what they read (embed-consumers).
    pub embed: bool,
    /// Launches of one domain merge (horizontal).
    pub horizontal: bool,
    /// What follows a fold or feeds it may run in its launch (rule).
    pub epilogue: bool,
    /// A launch may write several arrays (rule).
    pub outputs: bool,
    pub again: Again,
    /// The legality rules of 2006.
    pub strict: bool,
    /// What a launch may need (split).
    pub limits: Option<LaunchLimits>,
    /// A defect that a test planted.
    pub fault: Option<Fault>,
}

impl Allow {
    pub fn has(&self, fault: Fault) -> bool {
        cfg!(debug_assertions) && self.fault == Some(fault)
    }

    /// Whether this graph has nothing of what is allowed now and was not before, so that its
    /// schedule stays what it is. Cheap and careful: no means that nobody knows yet. The verifier
    /// compares.
    pub fn says_nothing_new(
        self,
        was: Allow,
        dag: &Dag,
        roots: &[NodeId],
        lets: &[Let],
        now: &Schedule,
    ) -> bool {
        let like = Allow {
            shapes: self.shapes,
            floats: self.floats,
            breaks: self.breaks,
            push: self.push,
            ..was
        };
        if self
            != (Allow {
                embed: self.embed,
                horizontal: self.horizontal,
                limits: self.limits,
                ..like
            })
        {
            return false;
        }
        let live = dag.live(roots);
        let none = |is: &dyn Fn(NodeId) -> bool| !dag.ids().any(|at| live[at.index()] && is(at));
        let moves = |at| {
            matches!(dag.node(at), Node::Transform { .. } | Node::Cat { .. })
                && !is_broadcast(dag.node(at))
        };
        let random = |at| is_random(dag.node(at));
        // Whatever a launch was put together from needs no more than it does.
        let fits = |limits| {
            now.groups.iter().all(|g| need::over(dag, &now.keep, &g.nodes(), &limits).is_none())
        };
        // Nor did anything that could have merged before more was kept.
        let mut met = BTreeSet::new();
        let mut apart = || now.keep.keys().all(|at| met.insert(dag.domain(*at)));
        (self.shapes == was.shapes || none(&|at| dag.info(at).asked))
            && (self.floats == was.floats || float_lets::held(dag, lets, &live).is_empty())
            && (self.breaks == was.breaks || none(&random))
            && (self.push == was.push || none(&moves))
            && (self.embed == was.embed
                || was.outputs && was.fuse && none(&random) && (was.push || none(&moves)))
            && (self.horizontal == was.horizontal || apart())
            && (self.limits == was.limits || self.limits.is_none_or(fits))
    }
}

/// When a node may be computed again instead of being stored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Again {
    Never,
    /// In several places if it is light; in one that has more points by cost.
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

/// Why a node has a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// Its value is wanted.
    Root,
    /// A reduction, a scan, a selection: its result is used by others.
    Consumer,
    /// It is read at places that only values tell.
    Anywhere,
    /// Computing it where it is read costs more than storing it.
    Work { points: u64, inline: Cost, store: Cost },
    /// It is used more than once, and what is shared is stored.
    Shared { uses: u64, inline: Cost, store: Cost },
    /// It can fail, and no reader sees all of it (E1).
    MayFail,
    /// Read in more places than are worth the text.
    Places(usize),
    /// Read through more index arithmetic than is worth the text.
    Steps(usize),
    /// A launch would read too much.
    Limit { name: &'static str, need: u64, have: u64 },
    /// A random access of this glyph reads it.
    Random,
    /// What is found outside cannot be told further down (2006): a constant, unless two reads do
    /// not compose.
    Outside { code: &'static str, fill: Option<f64> },
    /// A pass that would have fused it is off, or has not run yet.
    NotYet(&'static str),
}

impl Why {
    /// The reason as the trace writes it.
    pub fn code(&self) -> String {
        match self {
            Why::Root => "root".into(),
            Why::Consumer => "consumer".into(),
            Why::Work { .. } => "work".into(),
            Why::Shared { uses, .. } => format!("shared(uses={uses})"),
            Why::MayFail => "may-fail".into(),
            Why::Places(n) => format!("places({n})"),
            Why::Steps(n) => format!("steps({n})"),
            Why::Limit { name, need, have } => format!("limit:{name}({need}>{have})"),
            Why::Random | Why::Anywhere => "random-access".into(),
            Why::Outside { code, .. } => (*code).into(),
            Why::NotYet(pass) => format!("off:{pass}"),
        }
    }
}

/// Kept nodes that run together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub stage: u32,
    pub domain: Shape,
    pub kind: Kind,
    /// What reductions, scans or a selection run along.
    pub axis: Option<usize>,
    /// What is left of the domain behind the consumers.
    pub outer: Shape,
    /// Kept nodes over the domain (maps), consumers along the axis, and kept nodes over what those
    /// leave.
    pub body: Vec<NodeId>,
    pub reduces: Vec<NodeId>,
    pub after: Vec<NodeId>,
    /// Whether devices compute it block by block, if nothing is merged with it.
    pub product: bool,
}

/// Most kept nodes of one launch: each may be a buffer that it writes, and devices take no more.
pub const STORES: usize = 64;

impl Group {
    fn len(&self) -> usize {
        self.body.len() + self.reduces.len() + self.after.len()
    }

    fn take(&mut self, other: Group) {
        if self.axis.is_none() {
            (self.axis, self.kind, self.outer) = (other.axis, other.kind, other.outer);
        }
        self.body.extend(other.body);
        self.reduces.extend(other.reduces);
        self.after.extend(other.after);
    }

    pub fn nodes(&self) -> Vec<NodeId> {
        let mut all: Vec<_> =
            self.body.iter().chain(&self.reduces).chain(&self.after).copied().collect();
        all.sort();
        all
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    pub keep: BTreeMap<NodeId, Why>,
    pub groups: Vec<Group>,
    /// For nodes that are not kept: in how many places, and how often in all, each is evaluated.
    pub evaluated: BTreeMap<NodeId, (usize, u64)>,
    /// The buffers each group reads, with how many of its elements: each once.
    pub reads: Vec<Vec<(NodeId, u64)>>,
    /// From memory and to it.
    pub bytes: u64,
    pub flops: u64,
}

impl Schedule {
    /// The launches of a graph. Errors: INTERRUPT.
    pub fn new(
        dag: &Dag,
        roots: &[NodeId],
        lets: &[Let],
        allow: Allow,
        stop: &Interrupt,
    ) -> Result<Schedule> {
        let live = dag.live(roots);
        let mut keep = first_kept(dag, roots, lets, allow, &live);
        let own = Judge::new(dag, roots, allow);
        let judge = |keep: &BTreeMap<NodeId, Why>, at: NodeId, places: &[Context]| {
            own.why(keep, at, places)
        };
        // What must be kept wherever launches begin is found first: grouping looks through all that
        // is not kept.
        let alone: Vec<Group> = keep.keys().map(|at| alone(dag, &keep, *at, 1)).collect();
        keep.extend(Contexts::walk(dag, &keep, &alone, 0, &judge, stop)?.new);
        loop {
            let groups = groups(dag, &keep, allow, stop)?;
            let mut walk = Contexts::walk(dag, &keep, &groups, groups.len(), &judge, stop)?;
            if let (true, Some(limits)) = (walk.new.is_empty(), allow.limits) {
                walk.new = split::cut(dag, &keep, &limits);
            }
            if walk.new.is_empty() {
                return Ok(finished(dag, keep, groups, &walk.contexts));
            }
            keep.extend(walk.new);
        }
    }

    /// Whether a kept node has a buffer: a reduction that only its own launch's epilogue reads
    /// needs none.
    pub fn is_stored(&self, at: NodeId) -> bool {
        self.keep.get(&at) != Some(&Why::Consumer)
            || self.reads.iter().any(|r| r.iter().any(|(n, _)| *n == at))
    }

    /// The group that computes each kept node.
    pub fn homes(&self) -> Map<NodeId, usize> {
        let nodes = |g: &Group| {
            g.body.iter().chain(&g.reduces).chain(&g.after).copied().collect::<Vec<_>>()
        };
        self.groups
            .iter()
            .enumerate()
            .flat_map(|(k, g)| nodes(g).into_iter().map(move |at| (at, k)))
            .collect()
    }
}

/// A root that is a buffer or a constant seen through nothing costs no launch.
pub fn is_free_root(dag: &Dag, at: NodeId) -> bool {
    match dag.node(at) {
        Node::Input(_) | Node::Const(_) => true,
        Node::Transform { src, read, .. } => {
            read.is_identity() && dag.shape(*src) == dag.shape(at) && is_free_root(dag, *src)
        }
        _ => false,
    }
}

fn first_kept(
    dag: &Dag,
    roots: &[NodeId],
    lets: &[Let],
    allow: Allow,
    live: &[bool],
) -> BTreeMap<NodeId, Why> {
    let mut keep = BTreeMap::new();
    for &r in roots.iter().filter(|r| !is_free_root(dag, **r)) {
        keep.insert(r, Why::Root);
    }
    let nothing_fuses = !allow.push && !allow.fuse && !allow.embed;
    for at in dag.ids().filter(|at| live[at.index()]) {
        for (k, a) in dag
            .node(at)
            .inputs()
            .iter()
            .enumerate()
            .filter(|(_, a)| !matches!(dag.node(**a), Node::Input(_)))
        {
            if dag.node(at).reads_anywhere(k) {
                keep.entry(*a).or_insert(Why::Anywhere);
            }
        }
        let why = match dag.node(at) {
            node if node.computes() && !allow.fuse && !dag.shape(at).is_empty() => {
                Some(Why::NotYet("fuse-producers"))
            }
            node @ (Node::Transform { .. } | Node::Cat { .. })
                if !allow.push && !is_broadcast(node) =>
            {
                // The break is below: the transform is applied when what was written is read.
                for src in node.inputs().iter().filter(|src| !is_leaf(dag, **src)) {
                    keep.entry(*src).or_insert(Why::NotYet("push-down"));
                }
                nothing_fuses.then_some(Why::NotYet("push-down"))
            }
            node if is_random(node) => {
                let breaks = |a: &&NodeId| !is_leaf(dag, **a) && dag.elements(**a) > 0;
                for a in
                    node.inputs().iter().filter(breaks).filter(|_| allow.breaks && !allow.embed)
                {
                    keep.entry(*a).or_insert(Why::Random);
                }
                node.consumes().is_some().then_some(Why::Consumer)
            }
            _ => None,
        };
        if let Some(why) = why {
            keep.entry(at).or_insert(why);
        }
    }
    if !allow.floats {
        for at in float_lets::held(dag, lets, live) {
            keep.entry(at).or_insert(Why::NotYet("float-lets"));
        }
    }
    // An iota or a constant is never worth a buffer unless it is a root.
    keep.retain(|at, why| {
        *why == Why::Root || !matches!(dag.node(*at), Node::Input(_) | Node::Const(_))
    });
    keep
}

/// The name of transforms that scalar extension, frames and outer products make.
pub const BROADCAST: &str = "broadcast";

fn is_broadcast(node: &Node<NodeId>) -> bool {
    matches!(node, Node::Transform { name, .. } if *name == BROADCAST)
}

fn is_leaf(dag: &Dag, at: NodeId) -> bool {
    dag.node(at).inputs().is_empty()
}

/// Schedules the kept nodes, children first.
fn groups(
    dag: &Dag,
    keep: &BTreeMap<NodeId, Why>,
    allow: Allow,
    stop: &Interrupt,
) -> Result<Vec<Group>> {
    let mut groups: Vec<Option<Group>> = Vec::new();
    let mut of: BTreeMap<NodeId, usize> = BTreeMap::new();
    for &at in keep.keys() {
        stop.check()?;
        let reads = find::kept_reads(dag, keep, at);
        let stage_of = |(t, _): &(NodeId, bool)| {
            let group = of.get(t).and_then(|k| groups[*k].as_ref());
            group
                .map(|g| g.stage)
                .ok_or_else(|| bug!("{} is read before it has a launch", label(dag, *t)))
        };
        let stages: Vec<u32> = reads.iter().map(stage_of).collect::<Result<_>>()?;
        // What reads nothing that is kept may run first.
        let stage = stages.iter().copied().max().unwrap_or(0);
        let top: Vec<_> = reads
            .iter()
            .zip(&stages)
            .filter(|(_, own)| **own == stage)
            .map(|(read, _)| read)
            .collect();
        let mut joined = None;
        if stage > 0 && (allow.embed || allow.outputs) && top.iter().all(|(_, identity)| *identity)
        {
            let homes: Vec<usize> = top.iter().map(|(t, _)| of[t]).collect();
            let all = || {
                homes
                    .iter()
                    .filter_map(|h| groups[*h].as_ref())
                    .flat_map(Group::nodes)
                    .chain([at])
                    .collect()
            };
            if fits(dag, keep, all, allow) {
                joined = one_home(
                    &mut groups,
                    &mut of,
                    &homes,
                    |g| joins(dag, g, at, &top, allow),
                    allow,
                );
            }
        }
        let home = joined.unwrap_or_else(|| {
            groups.push(Some(alone(dag, keep, at, stage + 1)));
            groups.len() - 1
        });
        of.insert(at, home);
    }
    if allow.horizontal {
        merge_equals(dag, keep, &mut groups, &mut of, allow);
    }
    let mut groups: Vec<Group> = groups.into_iter().flatten().collect();
    groups.sort_by_cached_key(|g| (g.stage, g.nodes()));
    if allow.has(Fault::LateWrite) && allow.limits.is_some() {
        groups.reverse();
    }
    Ok(groups)
}

/// Whether the nodes of one launch are within limits.
fn fits(
    dag: &Dag,
    keep: &BTreeMap<NodeId, Why>,
    nodes: impl FnOnce() -> Vec<NodeId>,
    allow: Allow,
) -> bool {
    allow.limits.is_none_or(|limits| need::over(dag, keep, &nodes(), &limits).is_none())
}

fn alone(dag: &Dag, keep: &BTreeMap<NodeId, Why>, at: NodeId, stage: u32) -> Group {
    let (axis, kind) = (dag.node(at).consumes().map(|c| c.1), kind(dag.node(at)));
    let (body, reduces) = if axis.is_some() { (vec![], vec![at]) } else { (vec![at], vec![]) };
    let (outer, domain) = (outer(dag, at), Shape::from(dag.domain(at)));
    let product = !is_small(&domain) && product::is_product(dag, keep, at);
    Group { stage, domain, kind, axis, outer, body, reduces, after: Vec::new(), product }
}

/// The shape over which what follows a consumer runs.
fn outer(dag: &Dag, at: NodeId) -> Shape {
    let is_compact = matches!(dag.node(at), Node::Compact { .. });
    if is_compact { dag.domain(at).into() } else { dag.shape(at).into() }
}

fn kind(node: &Node<NodeId>) -> Kind {
    match node {
        Node::Reduce { .. } => Kind::Reduce,
        Node::Scan { .. } => Kind::Scan,
        Node::Compact { .. } => Kind::Compact,
        Node::Whole { .. } => Kind::Whole,
        _ => Kind::Map,
    }
}

/// One launch for all of them, which a node joins: the one they are in, or theirs merged where
/// domain, stage and axis agree. None, and nothing changes: they are in several, or it does not
/// join.
fn one_home(
    groups: &mut [Option<Group>],
    of: &mut BTreeMap<NodeId, usize>,
    homes: &[usize],
    joins: impl Fn(&mut Group) -> bool,
    allow: Allow,
) -> Option<usize> {
    let first = *homes.first()?;
    let mut others: Vec<usize> = homes.iter().copied().filter(|h| *h != first).collect();
    others.sort();
    others.dedup();
    if others.is_empty() {
        return groups[first].as_mut().is_some_and(joins).then_some(first);
    }
    let mut whole = groups[first].clone()?;
    for h in &others {
        let other =
            groups[*h].as_ref().filter(|other| allow.outputs && mergeable(&whole, other))?;
        whole.take(other.clone());
    }
    if !joins(&mut whole) {
        return None;
    }
    for h in others {
        merge(groups, of, first, h);
    }
    groups[first] = Some(whole);
    Some(first)
}

fn mergeable(a: &Group, b: &Group) -> bool {
    let alike = a.axis.is_none() || b.axis.is_none() || (a.kind, a.axis) == (b.kind, b.axis);
    let alone = a.kind.is_alone() || b.kind.is_alone() || a.len() + b.len() > STORES;
    a.stage == b.stage && a.domain == b.domain && alike && !alone && !a.product && !b.product
}

/// Not worth a launch of its own.
fn is_small(domain: &[usize]) -> bool {
    domain.iter().map(|&d| d as f64).product::<f64>() * cost::READ_NS * 4.0 < LAUNCH_NS
}

fn merge(groups: &mut [Option<Group>], of: &mut BTreeMap<NodeId, usize>, into: usize, gone: usize) {
    let Some(other) = groups[gone].take() else { return };
    for at in other.nodes() {
        of.insert(at, into);
    }
    if let Some(g) = &mut groups[into] {
        g.take(other);
    }
}

/// LOWERING §7 (a) and (b): whether a kept node may run in the launch whose values it reads at
/// their own place.
fn joins(dag: &Dag, g: &mut Group, at: NodeId, top: &[&(NodeId, bool)], allow: Allow) -> bool {
    if g.kind == Kind::Compact {
        return false;
    }
    let shape = dag.shape(top[0].0);
    if g.len() >= STORES || top.iter().any(|(t, _)| dag.shape(*t) != shape) {
        return false;
    }
    let in_body = top.iter().all(|(t, _)| g.body.contains(t));
    let in_after = top.iter().all(|(t, _)| g.reduces.contains(t) || g.after.contains(t));
    match (dag.node(at).consumes(), kind(dag.node(at))) {
        (Some(_), kind) if kind.is_alone() => false,
        (Some((src, axis)), kind) => {
            let one =
                g.axis.is_none_or(|a| (g.kind, a) == (kind, axis)) || allow.has(Fault::OtherAxis);
            let fits = allow.embed && allow.epilogue && in_body && dag.shape(*src) == shape && one;
            if fits {
                (g.axis, g.kind, g.outer) = (Some(axis), kind, outer(dag, at));
                g.reduces.push(at);
            }
            fits
        }
        _ if dag.shape(at) != shape => false,
        _ if in_body => {
            // One more output of a map is fusion of producers; beside others it is horizontal
            // fusion too.
            let last = top.iter().any(|(t, _)| g.body.last() == Some(t));
            if !allow.fuse || !allow.outputs || !(allow.horizontal || last) {
                return false;
            }
            g.body.push(at);
            true
        }
        _ if in_after && allow.embed && allow.epilogue => {
            g.after.push(at);
            true
        }
        _ => false,
    }
}

/// horizontal: launches of equal stage and domain that read a common buffer or compute a common
/// term, or are both too small to be worth two.
fn merge_equals(
    dag: &Dag,
    keep: &BTreeMap<NodeId, Why>,
    groups: &mut [Option<Group>],
    of: &mut BTreeMap<NodeId, usize>,
    allow: Allow,
) {
    // What both read from memory, and what both would compute.
    let reads = |g: &Group| {
        let (need, inside) = need::whole(dag, keep, &g.nodes());
        let computed =
            inside.into_iter().filter(|at| dag.node(*at).computes() && !dag.shape(*at).is_empty());
        (need.inputs, computed.collect())
    };
    let mut of_all: Vec<(BTreeSet<NodeId>, BTreeSet<NodeId>)> =
        groups.iter().map(|g| g.as_ref().map(reads).unwrap_or_default()).collect();
    let most = allow.limits.map_or(usize::MAX, |limits| limits.inputs);
    // Only these can merge.
    let mut alike: BTreeMap<(u32, Shape), Vec<usize>> = BTreeMap::new();
    for (k, g) in groups.iter().enumerate() {
        if let Some(g) = g {
            let domain =
                if allow.has(Fault::OtherDomain) { Shape::new() } else { g.domain.clone() };
            alike.entry((g.stage, domain)).or_default().push(k);
        }
    }
    for (k, a, same) in
        alike.values().flat_map(|same| same.iter().enumerate().map(move |(k, a)| (k, *a, same)))
    {
        for &b in &same[k + 1..] {
            // With a full one nothing merges, and there may be ten thousand others.
            if groups[a].as_ref().is_none_or(|g| g.len() >= STORES) {
                break;
            }
            let more = of_all[b].0.difference(&of_all[a].0).count();
            if of_all[a].0.len() + more > most {
                continue;
            }
            let fits = match (&groups[a], &groups[b]) {
                (Some(x), Some(y))
                    if mergeable(x, y) || allow.has(Fault::OtherDomain) && x.axis == y.axis =>
                {
                    let (a, b) = (&of_all[a], &of_all[b]);
                    is_small(&x.domain) && is_small(&y.domain)
                        || !a.0.is_disjoint(&b.0)
                        || !a.1.is_disjoint(&b.1)
                }
                _ => false,
            };
            let both = || {
                [a, b].iter().filter_map(|g| groups[*g].as_ref()).flat_map(Group::nodes).collect()
            };
            if fits && self::fits(dag, keep, both, allow) {
                merge(groups, of, a, b);
                let (inputs, terms) = std::mem::take(&mut of_all[b]);
                of_all[a].0.extend(inputs);
                of_all[a].1.extend(terms);
            }
        }
    }
}

fn finished(
    dag: &Dag,
    keep: BTreeMap<NodeId, Why>,
    groups: Vec<Group>,
    contexts: &Contexts,
) -> Schedule {
    let mut evaluated = BTreeMap::new();
    let (mut flops, mut bytes) = (0u64, 0u64);
    for (at, places) in contexts.iter() {
        let points = places.iter().fold(0u64, |n, c| n.saturating_add(c.points));
        if !keep.contains_key(at) {
            evaluated.insert(*at, (places.len(), points));
            flops = flops.saturating_add(points.saturating_mul(dag.node(*at).cost().1));
        }
    }
    // What a launch meets of a buffer comes from memory once, however often its points load it.
    let mut reads: Vec<BTreeMap<NodeId, u64>> = vec![BTreeMap::new(); groups.len()];
    for load in contexts.loads() {
        let (shape, of) = (dag.shape(load.at), extents(&groups, load.group, load.after));
        let distinct =
            if load.whole { dag.elements(load.at) } else { load.read.distinct(shape, &of) };
        let met = reads[load.group].entry(load.at).or_default();
        *met = met.saturating_add(distinct).min(dag.elements(load.at));
    }
    for (at, met) in reads.iter().flatten() {
        bytes = bytes.saturating_add(met.saturating_mul(dag.dtype(*at).size() as u64));
    }
    let loaded: BTreeSet<NodeId> = contexts.loads().iter().map(|l| l.at).collect();
    for (at, why) in &keep {
        let domain = aplomb_plans::plan::product(dag.domain(*at));
        flops = flops.saturating_add(domain.saturating_mul(dag.node(*at).cost().1));
        if *why != Why::Consumer || loaded.contains(at) {
            bytes = bytes
                .saturating_add(dag.elements(*at).saturating_mul(dag.dtype(*at).size() as u64));
        }
    }
    let reads = reads.into_iter().map(|r| r.into_iter().collect()).collect();
    Schedule { keep, groups, evaluated, reads, bytes, flops }
}

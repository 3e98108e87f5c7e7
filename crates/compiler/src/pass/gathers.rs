//! The step that computes what a gather reads where it is read: `(2×A)[I]` gathers from A.
//!
//! A gather by the grade of what it reads is a sort, which moves no places: `X[⍋X]`, and row by row
//! `{⍵[⍋⍵]}⍤1⊢M`. Of a sort, and of a grade, only what is read is looked for: `⊃⍋X`, `3↑⍋X`.
//!
//! Row: ACL-19. A gather is inlined while it reads no more than there is. Part of push-down. A map
//! that only the gather reads, and that has a value for all values, changes places with it; what is
//! below is then an input or kept.

use super::lets;
use super::work::Work;
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Along, Dag, Info, Lib, Meta, Node, NodeId, Whole, kinds};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Maps above each other that are gone through; more are stored.
const DEEP: usize = 64;

/// A grade or a sort this many times as long as what is read of it is cut down.
const FEW: i64 = 16;

/// The places that readers of an order take: from and to, both included. None: all, or who knows.
type Window = Option<(i64, i64)>;

pub fn run(work: &mut Work) {
    let uses = work.dag.uses(&work.roots);
    let (born, before) = (work.pass_now(), work.dag.len());
    work.rewrite(|dag, at| {
        let Node::Gather(kinds::Gather { args, .. }) = dag.node(at) else { return None };
        let src = args[0];
        if let Some(to) = of_own_grade(dag, at, &uses, born) {
            return Some(("sort", "numbers at the places of their own order are in order", to));
        }
        if let Some(to) = of_transform(dag, at, src, born) {
            return Some((
                "gather-transform",
                "a place in what is moved is a place in what it is moved from",
                to,
            ));
        }
        if !goes_through(dag, at, src, &uses) {
            return None;
        }
        let mut below = Below { at, born, uses: &uses, known: BTreeMap::new() };
        let to = below.through(dag, src, 0)?;
        Some(("gather-map", "only the gather reads it, and not more of it than there is", to))
    });
    // What stood around a let may be gone.
    if work.dag.len() > before && !work.lets.is_empty() {
        work.bind(lets::float(&work.dag, &work.roots));
    }
    select(work);
}

/// Grades and sorts whose readers take places near each other, a median, the ten greatest or where
/// the least one is, are cut down to these: what is left out nobody reads, and a device finds a few
/// places of an order in one look at all numbers or two. Rows are cut down alike, each for itself.
fn select(work: &mut Work) {
    let windows = windows(&work.dag, &work.roots);
    if windows.is_empty() {
        return;
    }
    let (mut made, born) = (BTreeMap::new(), work.pass_now());
    work.rewrite(|dag, at| {
        let Node::Transform(kinds::Transform { name, src, read, .. }) = dag.node(at) else {
            return None;
        };
        let (from, to) = *windows.get(src)?;
        let (name, src, mut read) = (*name, *src, read.clone());
        let few = *made.entry(src).or_insert_with(|| cut(dag, src, (from, to), born));
        let axis = read.ix.len() - 1;
        read.ix[axis] = read.ix[axis].offset(-from);
        let node = Node::Transform(kinds::Transform { name, src: few, read, onto: false });
        let info = Info { from: vec![at], born, ..dag.info(at).clone() };
        let to = dag.add(node, info);
        Some(("select", "only these places of the order are read", to))
    });
}

/// The grades and sorts of which some neighbours alone are read. What they order stands along their
/// last axis, which of the order of a vector is the only one.
fn windows(dag: &Dag, roots: &[NodeId]) -> BTreeMap<NodeId, (i64, i64)> {
    let mut all: BTreeMap<NodeId, Window> = BTreeMap::new();
    let live = dag.live(roots);
    let order = |at: &NodeId| match dag.node(*at) {
        Node::Whole(kinds::WholeArrays { what: Whole::Lib { of, .. }, .. }) => !of.is_search(),
        _ => false,
    };
    let mut reads = |of: NodeId, window: Window| {
        let own = all.entry(of).or_insert(window);
        *own = own.zip(window).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
    };
    roots.iter().filter(|at| order(at)).for_each(|at| reads(*at, None));
    for at in dag.ids().filter(|at| live[at.index()]) {
        let node = dag.node(at);
        for of in node.inputs().iter().filter(|of| order(of)) {
            reads(
                *of,
                match node {
                    Node::Transform(kinds::Transform { read, .. })
                        if read.tests.is_empty() && dag.elements(at) > 0 =>
                    {
                        read.ix.last().map(|ix| ix.range(dag.shape(at)))
                    }
                    _ => None,
                },
            );
        }
    }
    let few = |(of, window): (NodeId, Window)| {
        let (from, to) = window?;
        let all = *dag.shape(of).last()? as i64;
        ((to - from + 1) * FEW <= all).then_some((of, (from, to)))
    };
    all.into_iter().filter_map(few).collect()
}

/// The part of a grade or a sort from one place to another.
fn cut(dag: &mut Dag, order: NodeId, (from, to): (i64, i64), born: usize) -> NodeId {
    let mut node = dag.node(order).clone();
    if let Node::Whole(kinds::WholeArrays { what: Whole::Lib { first, .. }, .. }) = &mut node {
        *first += from as usize;
    }
    let info = dag.info(order).clone();
    let mut shape = info.meta.shape.clone();
    if let Some(own) = shape.last_mut() {
        *own = (to - from + 1) as usize;
    }
    let meta = Meta { shape, ..info.meta };
    dag.add(node, Info { meta, from: vec![order], born, ..info })
}

/// The numbers of a vector, or of each row, in order, where a gather takes them by a grade that
/// nobody else reads.
fn of_own_grade(dag: &mut Dag, at: NodeId, uses: &[u32], born: usize) -> Option<NodeId> {
    let Node::Gather(kinds::Gather { args, read, along, origin }) = dag.node(at) else {
        return None;
    };
    let (&[src, places], &[axis]) = (args.as_slice(), along.as_slice()) else { return None };
    let Node::Whole(kinds::WholeArrays {
        what: Whole::Lib { of, origin: first, rows, .. },
        args: graded,
    }) = dag.node(places)
    else {
        return None;
    };
    let to = match of {
        Lib::GradeUp => Lib::SortUp,
        Lib::GradeDown => Lib::SortDown,
        _ => return None,
    };
    let n = dag.shape(src);
    let last = n.len().checked_sub(1)?;
    let whole = (last == 0 || *rows) && dag.shape(at) == n && dag.dtype(at) == dag.dtype(src);
    let each = usize::from(axis.axis) == last
        && axis.times == 1
        && axis.extent == n[last]
        && first == origin;
    let alone = uses.get(places.index()).is_some_and(|n| *n == 1);
    // From the first place of its own row.
    let own = |(k, ix): (usize, &Ix)| *ix == if k == last { Ix::constant(0) } else { Ix::axis(k) };
    let from_first =
        read.ix.len() == n.len() && read.ix.iter().enumerate().all(own) && read.tests.is_empty();
    if graded.as_slice() != [src] || !whole || !each || !alone || !from_first {
        return None;
    }
    let node = Node::whole(Whole::sort(to, *rows), [src]);
    let info = Info { from: vec![at], born, ..dag.info(at).clone() };
    Some(dag.add(node, info))
}

/// The gather from what a transform reads, where a place there goes straight with a place here and
/// is never outside.
fn of_transform(dag: &mut Dag, at: NodeId, src: NodeId, born: usize) -> Option<NodeId> {
    let (
        Node::Gather(kinds::Gather { args, read, along, origin }),
        Node::Transform(kinds::Transform { src: below, read: by, .. }),
    ) = (dag.node(at), dag.node(src))
    else {
        return None;
    };
    if !by.tests.is_empty()
        || !by.ix.iter().all(|ix| ix.is_affine())
        || dag.dtype(src) != dag.dtype(*below)
    {
        return None;
    }
    let mut moved = SmallVec::new();
    let mut args = args.clone();
    args[0] = *below;
    let places: Vec<NodeId> = args.drain(1..).collect();
    for (a, place) in along.iter().zip(places) {
        for (axis, ix) in
            by.ix.iter().enumerate().filter(|(_, ix)| ix.coefficient(a.axis as usize) != 0)
        {
            let times = a.times * ix.coefficient(a.axis as usize);
            moved.push(Along { axis: axis as u8, times, extent: a.extent });
            args.push(place);
        }
    }
    // A place that nothing reads by would not be looked at.
    if along.iter().any(|a| by.ix.iter().all(|ix| ix.coefficient(a.axis as usize) == 0)) {
        return None;
    }
    let node = Node::Gather(kinds::Gather {
        args,
        read: by.after(read, dag.shape(at)),
        along: moved,
        origin: *origin,
    });
    let info = Info { from: vec![at], born, ..dag.info(at).clone() };
    Some(dag.add(node, info))
}

fn goes_through(dag: &Dag, gather: NodeId, src: NodeId, uses: &[u32]) -> bool {
    let map = matches!(dag.node(src), Node::Map(_) | Node::Select(_)) && !dag.fails_hard(src);
    let alone = uses.get(src.index()).is_some_and(|n| *n == 1);
    map && alone && dag.elements(gather) <= dag.elements(src)
}

struct Below<'a> {
    at: NodeId,
    born: usize,
    uses: &'a [u32],
    known: BTreeMap<NodeId, NodeId>,
}

impl Below<'_> {
    /// A node's elements at the gather's places.
    fn through(&mut self, dag: &mut Dag, src: NodeId, depth: usize) -> Option<NodeId> {
        if dag.shape(src).is_empty() {
            return Some(src);
        }
        if let Some(made) = self.known.get(&src) {
            return Some(*made);
        }
        let mut meta = dag.info(src).meta.clone();
        meta.shape = dag.shape(self.at).into();
        let gather = dag.info(self.at).clone();
        let made = if depth < DEEP && goes_through(dag, self.at, src, self.uses) {
            let own = dag.node(src).clone();
            let node = own.try_map_inputs(|a| self.through(dag, *a, depth + 1).ok_or(())).ok()?;
            let info = Info { meta, from: vec![src], born: self.born, ..dag.info(src).clone() };
            dag.add(node, info)
        } else {
            let mut first = true;
            let node = dag
                .node(self.at)
                .map_inputs(|old| if std::mem::take(&mut first) { src } else { *old });
            dag.add(node, Info { meta, from: vec![self.at], born: self.born, ..gather })
        };
        self.known.insert(src, made);
        Some(made)
    }
}

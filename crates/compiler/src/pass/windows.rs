//! windows: a fold of windows that overlap is taken in parts, and what several windows have in
//! common is folded once.
//!
//! Rows: BAR-16. Part of `hoist`: a fold that depends on two loops only by a sum of their places,
//! `i+a`, is computed once for each sum, outside of both. So `{⌈⌿⌈/⍵}⌺200 200` folds a row of each
//! window once, and not once for each of the 200 windows that have it. `{⌈/,⍵}⌺200 200` folds
//! 40 000 numbers as one axis: where the order of a fold changes no bit (`is_exact`), it is a fold
//! of folds of rows first. In: a fold whose body is operations on reads of arrays. Out: the same
//! fold, or one of folds that take a quarter of the time or less (`FEWER`), stored in between.

use super::cost::Cost;
use super::decide::{About, Choice, Decision, WhyNot};
use super::find;
use super::reversal::Reversal;
use super::sentences::Says;
use super::work::Work;
use aplomb_plans::plan::product;
use aplomb_values::array::DType;
use aplomb_values::dag::ix::{Atom, Ix, gcd};
use aplomb_values::dag::kinds::{Map, Reduce, Transform, WINDOWS};
use aplomb_values::dag::{Dag, Info, Node, NodeId, Read, Test};
use aplomb_values::prim::op::Op;

/// The times as long as its parts that a fold takes which is taken in parts: a store and a launch
/// more are paid with certainty, what they save is estimated.
const FEWER: f64 = 4.0;
/// Nodes of a body, at most.
const BODY: usize = 32;
/// Elements of an exact sum of whole numbers, each of at most 32 bits: the sum has 53.
const SUMMED: usize = 1 << 22;

/// A fold that was taken in parts.
struct Taken {
    /// The fold as it was, and of the parts.
    fold: NodeId,
    part: NodeId,
    /// Steps and costs as it was, and in parts.
    steps: [u64; 2],
    costs: [Cost; 2],
}

pub fn run(work: &mut Work) {
    let whole = match work.options.reversal {
        Some(Reversal::Whole(fold)) => Some(fold),
        _ => None,
    };
    let mut taken = Vec::new();
    work.rewrite(|dag, at| {
        let to = if whole == Some(at) { None } else { in_parts(dag, at, &mut taken) };
        to.map(|to| ("parts", "windows that overlap have them in common", to))
    });
    for Taken { fold, part, steps, costs: [whole, parts] } in taken {
        let about =
            About { at: part, what: "hoist", reason: "parts", row: "BAR-16", switch: "hoist" };
        let (parts, whole) =
            (Choice { name: "parts", cost: parts }, Choice { name: "whole", cost: whole });
        let says = Says::InParts { steps };
        let decision = Decision::forced(about, parts, whole, WhyNot::Dearer, says);
        work.decide(decision.or(Reversal::Whole(fold)));
    }
}

/// The node that stands for a fold that is taken in parts. None: it is taken whole.
fn in_parts(dag: &mut Dag, at: NodeId, taken: &mut Vec<Taken>) -> Option<NodeId> {
    let &Node::Reduce(Reduce { op, axis, src }) = dag.node(at) else { return None };
    let (axis, extents) = (axis as usize, Vec::from(dag.shape(src)));
    // Most folds are of one line. Of what may fail it is told which element does.
    if extents.len() < 2 || extents[axis] < 2 || dag.fails_hard(at) {
        return None;
    }
    let back = Read::identity(extents.len());
    let mut body = Body { dag, extents: &extents, steps: vec![], reads: vec![], met: vec![] };
    body.step(src, back.clone(), 0)?;
    let Body { steps: made, reads, .. } = body;
    let own = Loops { back: back.ix, axis, reads, extents: extents.clone() };
    let split = own.lines().into_iter().filter(|_| is_exact(dag, op, src, own.extents[axis]));
    let split: Vec<Loops> = split.map(|line| own.split(line)).collect();
    // Each with the loops whose sums of places are one loop, and the points of what folds the
    // parts.
    let ways = split.iter().chain([&own]).filter_map(|all| {
        let few = all.joined();
        let same_bits = is_exact(dag, op, src, 1) || all.is_last() == few.is_last();
        (few.extents.len() < all.extents.len() && same_bits).then_some((all, few))
    });
    let steps = |all: &Loops, few: &Loops| product(&few.extents).saturating_add(all.results());
    let (all, few) = ways.min_by_key(|(all, few)| steps(all, few))?;
    let body = find::body(dag, &Default::default(), src);
    let (fold, size) = (dag.node(at).cost(), dag.dtype(at).size() as u64);
    let over = |points: u64, flops: u64, ns: f64, reads: u64| {
        Cost::compute(points, fold.ns + ns, fold.flops + flops, reads, size)
    };
    let whole = over(product(&own.extents), body.flops, body.ns, body.reads);
    let parts = over(product(&few.extents), body.flops, body.ns, body.reads)
        .plus(over(all.results(), 0, 0.0, 0))
        .plus(Cost::store(few.results(), all.results(), size));
    if parts.ns * FEWER > whole.ns {
        return None;
    }
    let part = few.fold(dag, at, (op, &made))?;
    // A part that is a window of several axes has parts of its own.
    let part = match in_parts(dag, part, taken) {
        Some(in_parts) => in_parts,
        None => part,
    };
    let steps = [product(&own.extents), steps(all, &few)];
    taken.push(Taken { fold: at, part, steps, costs: [whole, parts] });
    let windows = few.windows(dag, part, all);
    if all.extents.len() == own.extents.len() {
        return Some(windows);
    }
    let node = Node::Reduce(Reduce { op, axis: all.axis as u8 - 1, src: windows });
    let info = Info { from: vec![at], ..dag.info(at).clone() };
    Some(dag.add(node, info))
}

/// The test whether a fold of so many numbers has the same bits in any order: of whole numbers,
/// which have no ¯0.
fn is_exact(dag: &Dag, op: Op, src: NodeId, n: usize) -> bool {
    let meta = &dag.info(src).meta;
    let bools = meta.dtype == DType::Bool;
    match op {
        Op::Add => meta.is_ranged() && n <= SUMMED,
        Op::Max | Op::Min | Op::Gcd => meta.is_ranged(),
        Op::Lcm => bools,
        _ => false,
    }
}

/// A step of a fold's body.
enum Step {
    /// An operation on earlier steps, or on scalars: None.
    Map { node: NodeId, args: Vec<Option<usize>> },
    /// A read of an array, with the type of this node.
    Read { of: NodeId, like: NodeId, name: &'static str },
}

/// A fold's body, operands first, and where each step reads at the points of the loops.
struct Body<'a> {
    dag: &'a Dag,
    extents: &'a [usize],
    steps: Vec<Step>,
    /// None: it is an operation.
    reads: Vec<Option<Read>>,
    /// The steps that are there already: a node, by this read.
    met: Vec<(NodeId, Read)>,
}

impl Body<'_> {
    /// The step of a node as a read sees it, below so many others. None: there is something else in
    /// it than reads and operations that have a result for all values, or there is much.
    fn step(&mut self, at: NodeId, read: Read, deep: usize) -> Option<usize> {
        if deep > BODY {
            return None;
        }
        if let Some(known) = self.met.iter().position(|(n, r)| *n == at && *r == read) {
            return Some(known);
        }
        let dag = self.dag;
        let (step, own) = match dag.node(at) {
            Node::Map(Map { op, args, .. }) if !dag.fails_hard(at) && !op.is_unrounded() => {
                let arg = |a: &NodeId| match dag.shape(*a).is_empty() {
                    true => Some(None),
                    false => self.step(*a, read.clone(), deep + 1).map(Some),
                };
                let args = args.iter().map(arg).collect::<Option<_>>()?;
                (Step::Map { node: at, args }, None)
            }
            Node::Transform(Transform { name, src, read: below, .. }) => {
                let joined = below.after(&read, self.extents);
                // Computed at no more places than it has, as under `,` of windows, it is a step.
                let is_body = matches!(dag.node(*src), Node::Map(_)) && joined.tests.is_empty();
                if is_body && dag.elements(*src) >= product(self.extents) {
                    return self.step(*src, joined, deep + 1);
                }
                (Step::Read { of: *src, like: at, name }, Some(joined))
            }
            Node::Map(_) => return None,
            _ => (Step::Read { of: at, like: at, name: WINDOWS }, Some(read.clone())),
        };
        if self.steps.len() == BODY {
            return None;
        }
        self.steps.push(step);
        self.reads.push(own);
        self.met.push((at, read));
        Some(self.steps.len() - 1)
    }
}

/// The loops of a fold, and where its body reads.
#[derive(Clone)]
struct Loops {
    extents: Vec<usize>,
    /// The one that is folded.
    axis: usize,
    /// The read of each step of the body.
    reads: Vec<Option<Read>>,
    /// The place along each of these loops by those that they were made of.
    back: Vec<Ix>,
}

impl Loops {
    /// The number of folds.
    fn results(&self) -> u64 {
        product(&self.extents) / self.extents[self.axis].max(1) as u64
    }

    fn is_last(&self) -> bool {
        self.axis + 1 == self.extents.len()
    }

    fn indices(&self) -> impl Iterator<Item = &Ix> {
        let reads = self.reads.iter().flatten();
        reads.flat_map(|read| read.ix.iter().chain(read.tests.iter().map(|test| &test.ix)))
    }

    /// The lengths of lines of which the folded axis is made, by the places that are read.
    fn lines(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.indices().for_each(|ix| {
            each(ix, &mut |ix| {
                for (_, atom) in &ix.terms {
                    if let Atom::Div(x, line) | Atom::Mod(x, line) = atom
                        && x.is_axis(self.axis)
                        && self.extents[self.axis].is_multiple_of(*line as usize)
                        && !found.contains(&(*line as usize))
                    {
                        found.push(*line as usize);
                    }
                }
            })
        });
        found
    }

    /// The same with the folded axis as lines of so many, of which the places in a line are folded.
    fn split(&self, line: usize) -> Loops {
        let mut extents = self.extents.clone();
        extents.splice(self.axis..=self.axis, [self.extents[self.axis] / line, line]);
        let own = |k: usize| match k {
            k if k < self.axis => Ix::axis(k),
            k if k > self.axis => Ix::axis(k + 1),
            k => Ix::axis(k).times(line as i64).add(&Ix::axis(k + 1)),
        };
        let outer = Read::new((0..self.extents.len()).map(own));
        let seen = |read: &Option<Read>| read.as_ref().map(|read| read.after(&outer, &extents));
        let reads = self.reads.iter().map(seen).collect();
        Loops { back: Read::identity(extents.len()).ix, axis: self.axis + 1, reads, extents }
    }

    /// The same with loops joined on whose places the body depends by a sum alone.
    fn joined(&self) -> Loops {
        let mut loops = self.clone();
        'again: loop {
            let free = (0..loops.extents.len()).filter(|k| *k != loops.axis);
            let free: Vec<usize> = free.collect();
            for (n, first) in free.iter().enumerate() {
                for second in &free[n + 1..] {
                    if let Some(fewer) = loops.join(*first, *second) {
                        loops = fewer;
                        continue 'again;
                    }
                }
            }
            return loops;
        }
    }

    /// The same with two loops as one, over the sums of their places. None: places depend on the
    /// two otherwise.
    fn join(&self, first: usize, second: usize) -> Option<Loops> {
        let mut steps = None;
        self.indices().for_each(|ix| {
            each(ix, &mut |ix| {
                let both = (ix.coefficient(first), ix.coefficient(second));
                if steps.is_none() && both != (0, 0) {
                    steps = Some(both);
                }
            })
        });
        let (a, b) = steps?;
        let by = gcd(a.unsigned_abs(), b.unsigned_abs()) as i64 * if a < 0 { -1 } else { 1 };
        let (a, b) = (a / by, b / by);
        let (n, m) = (self.extents[first] as i64, self.extents[second] as i64);
        // Every sum between the least and the greatest is one of two places.
        if !(a == 1 && (1..=n).contains(&b) || b == 1 && (1..=m).contains(&a)) {
            return None;
        }
        let mut extents = self.extents.clone();
        extents[first] = usize::try_from(a * (n - 1) + b * (m - 1) + 1).ok()?;
        extents.remove(second);
        let pair = Pair { first, second, steps: (a, b), extents: &extents };
        let read = |read: &Option<Read>| match read {
            Some(read) => pair.read(read).map(Some),
            None => Some(None),
        };
        let reads = self.reads.iter().map(read).collect::<Option<_>>()?;
        let mut back = self.back.clone();
        back[first] = back[first].times(a).plus(&back[second], b);
        back.remove(second);
        let axis = self.axis - usize::from(second < self.axis);
        Some(Loops { reads, axis, back, extents })
    }

    /// The fold over these loops of the body of another one.
    fn fold(&self, dag: &mut Dag, of: NodeId, (op, body): (Op, &[Step])) -> Option<NodeId> {
        let made = |dag: &Dag, at: NodeId, extents: &[usize]| {
            let mut info = Info { from: vec![at], name: None, ..dag.info(at).clone() };
            info.meta.shape = extents.into();
            info
        };
        let mut now: Vec<NodeId> = Vec::new();
        for (step, read) in body.iter().zip(&self.reads) {
            let (node, like) = match step {
                Step::Map { node: at, args } => {
                    let mut args = args.iter();
                    let own = |a: &NodeId| args.next().copied().flatten().map_or(*a, |k| now[k]);
                    (dag.node(*at).map_inputs(own), *at)
                }
                Step::Read { of, like, name } => {
                    let read = read.clone()?;
                    (Node::Transform(Transform { name, src: *of, read, onto: false }), *like)
                }
            };
            let info = made(dag, like, &self.extents);
            now.push(dag.add(node, info));
        }
        let src = now[now.len() - 1];
        let mut shape = self.extents.clone();
        let n = shape.remove(self.axis) as f64;
        let mut info = made(dag, of, &shape);
        // Known where that of the whole fold is: no part of a sum has a type of more bits.
        let range = info.meta.range.and(dag.info(src).meta.range);
        info.meta.range = range.map(|(lo, hi)| match op {
            Op::Add => (lo * n, hi * n),
            _ => (lo, hi),
        });
        Some(dag.add(Node::Reduce(Reduce { op, axis: self.axis as u8, src }), info))
    }

    /// The folds of all parts, each where the loops that these were made of want it.
    fn windows(&self, dag: &mut Dag, part: NodeId, all: &Loops) -> NodeId {
        let mut shape = all.extents.clone();
        shape.remove(all.axis);
        // The folded axis is no axis of the parts, nor of what reads them.
        let without = Read::new((0..all.extents.len()).map(|k| match k {
            k if k <= all.axis => Ix::axis(k),
            k => Ix::axis(k - 1),
        }));
        let own = self.back.iter().enumerate().filter(|(k, _)| *k != self.axis);
        let read = Read::new(own.map(|(_, ix)| ix.substitute(&without.ix, &shape)));
        let mut info = Info { from: vec![part], name: None, ..dag.info(part).clone() };
        info.meta.shape = shape.as_slice().into();
        dag.add(Node::Transform(Transform { name: WINDOWS, src: part, read, onto: true }), info)
    }
}

/// Two loops that are one over the sums of their places, each times its step.
struct Pair<'a> {
    first: usize,
    second: usize,
    steps: (i64, i64),
    /// The extents of all loops then.
    extents: &'a [usize],
}

impl Pair<'_> {
    fn read(&self, read: &Read) -> Option<Read> {
        let ix: Option<Vec<Ix>> = read.ix.iter().map(|ix| self.index(ix)).collect();
        let mut out = Read::new(ix?);
        for test in &read.tests {
            let ix = self.index(&test.ix)?;
            let (lo, hi) = ix.range(self.extents);
            if lo < test.lo || hi >= test.hi {
                out.tests.push(Test { ix, ..*test });
            }
        }
        Some(out)
    }

    /// An index by the loops as they are then. None: it depends on the two otherwise than by their
    /// sum.
    fn index(&self, ix: &Ix) -> Option<Ix> {
        let (a, b) = (ix.coefficient(self.first), ix.coefficient(self.second));
        if a * self.steps.1 != b * self.steps.0 {
            return None;
        }
        let mut out = Ix::constant(ix.c).plus(&Ix::axis(self.first), a / self.steps.0);
        for (k, atom) in &ix.terms {
            let part = match atom {
                Atom::Axis(axis) if [self.first, self.second].contains(&(*axis as usize)) => {
                    continue;
                }
                Atom::Axis(axis) => {
                    let axis = *axis as usize;
                    Ix::axis(axis - usize::from(axis > self.second))
                }
                Atom::Div(x, d) => self.index(x)?.div(*d, self.extents),
                Atom::Mod(x, d) => self.index(x)?.modulo(*d, self.extents),
                Atom::Clamp(x, lo, hi) => self.index(x)?.clamped(*lo, *hi, self.extents),
            };
            out = out.plus(&part, *k);
        }
        Some(out.rejoined(self.extents))
    }
}

/// An index and those inside of it.
fn each(ix: &Ix, look: &mut impl FnMut(&Ix)) {
    look(ix);
    for (_, atom) in &ix.terms {
        if let Atom::Div(x, _) | Atom::Mod(x, _) | Atom::Clamp(x, ..) = atom {
            each(x, look);
        }
    }
}

//! The inside of a map: the box of points at which no read is tested and none wraps or is clamped.
//!
//! Rows: ACC-25, ACL-17. Tests and wraps of reads cut each axis of a domain into parts: a stencil
//! on a matrix into nine boxes. In the largest of them all is known, so that a thread tests once
//! whether its point is there, not once a read; the text has the body twice. Where all that is
//! tested is one and the same, the other text needs no test either.

use super::form::Form;
use super::lower::{At, Body, Lowering, Part};
use super::{Expr, Stmt, Type, index, tidy};
use crate::plan::{Kind, Launch, Plan, Step, What, product};
use aplomb_ground::error::Result;
use aplomb_values::array::DType;
use aplomb_values::dag::Test;
use aplomb_values::dag::ix::{Atom, Ix, linear};
use std::collections::BTreeSet;

/// So many tests and wraps a point are worth a second text.
const LEAST: usize = 2;
/// A body of more steps is not written twice.
const LONGEST: usize = 256;
/// Bytes of parameters that both texts may take for their places: a kernel has 4 kB.
const ROOM: usize = 2048;
/// An index that wraps more often has no inside.
const WRAPS: i64 = 4;

/// The inside of a launch, and the launch as it is there.
pub struct Inside {
    /// Its points, from and to on each axis of the domain.
    pub bounds: Vec<(i64, i64)>,
    /// The boxes into which tests and wraps cut the domain.
    pub regions: u32,
    /// The launch at those points.
    pub(super) launch: Launch,
    /// The launch at all others, where less is to test there.
    pub(super) outside: Option<Launch>,
}

/// The inside of a launch whose text has one. None: it has no tests, or its inside is the smaller
/// part.
pub fn inside(plan: &Plan, launch: &Launch) -> Option<Inside> {
    let is_loop = |s: &Step| matches!(s.what, What::Loop { .. });
    let of_points = launch.kind == Kind::Map
        && matches!(Form::of(plan, launch), Form::Map | Form::Boxes)
        && !launch.domain.contains(&0)
        && launch.body.len() <= LONGEST
        && !launch.body.iter().any(is_loop);
    if !of_points {
        return None;
    }
    let domain = &launch.domain;
    let asked = Asked::of(plan, launch);
    let cuts = asked.cuts(domain);
    let parts: Vec<Vec<(i64, i64)>> = cuts.iter().zip(domain).map(|(c, n)| parts(c, *n)).collect();
    let regions = parts.iter().fold(1u32, |n, p| n.saturating_mul(p.len() as u32));
    let longest = |p: &Vec<(i64, i64)>| p.iter().copied().rev().max_by_key(|(lo, hi)| hi - lo);
    let bounds: Vec<(i64, i64)> = parts.iter().filter_map(longest).collect();
    let sides: Vec<usize> = bounds.iter().map(|(lo, hi)| (hi - lo) as usize).collect();
    if regions < 2 || product(&sides).saturating_mul(2) < product(domain) {
        return None;
    }
    let moved = |by: i64| -> Vec<Ix> {
        bounds.iter().enumerate().map(|(k, (lo, _))| Ix::axis(k).offset(by * lo)).collect()
    };
    let (there, back) = (moved(1), moved(-1));
    let known = |t: &Test| {
        let (lo, hi) = t.ix.substitute(&there, &sides).range(&sides);
        match () {
            () if lo >= t.lo && hi < t.hi => Verdict::Holds,
            () if hi < t.lo || lo >= t.hi => Verdict::Fails,
            () => Verdict::Open,
        }
    };
    let place = |ix: &Ix| ix.substitute(&there, &sides).substitute(&back, domain);
    let own = made(launch, &known, &place);
    let left = Asked::of(plan, &own);
    let wide = index::is_narrow(plan, launch) && !index::is_narrow(plan, &own);
    if asked.count < left.count + LEAST || wide || asked.bytes() + left.bytes() > ROOM {
        return None;
    }
    // One test alone, which holds here: elsewhere nothing that it guards is asked for.
    let holds = asked.tests.first().is_some_and(|t| known(t) == Verdict::Holds);
    let one = holds && asked.wraps == 0 && left.count == 0 && same(&asked.tests);
    let outside = (one && cuts.iter().filter(|c| !c.is_empty()).count() == 1)
        .then(|| made(launch, &|_| Verdict::Fails, &Ix::clone));
    Some(Inside { bounds, regions, launch: own, outside })
}

impl<'a> Lowering<'a> {
    /// `inner`, which is 1 where all of some points are in the launch's inside: on each axis the
    /// first and the last are. None: there is no inside.
    pub(super) fn is_inside(&mut self, ends: impl Fn(usize) -> (Expr, Expr)) -> Option<Stmt> {
        let (inside, launch) = (self.inside?, self.launch);
        let mut tests: Vec<Expr> = Vec::new();
        for (k, (lo, hi)) in inside.bounds.iter().enumerate() {
            let (first, last) = ends(k);
            if *lo > 0 {
                tests.push(format!("{first} >= {}", self.integer(*lo)));
            }
            if *hi < launch.domain[k] as i64 {
                tests.push(format!("{last} < {}", self.integer(*hi)));
            }
        }
        let is = format!("{} ? 1 : 0", tests.join(" && "));
        Some(Stmt::Let { name: "inner".into(), of: Type::U32, is, node: None })
    }

    /// The statements at the point `i`, whose axes have these names: where it is `inner` others
    /// than elsewhere.
    pub(super) fn by_region(&mut self, axes: &[String]) -> Result<Vec<Stmt>> {
        let (whole, checked) = (self.launch, self.checked.clone());
        let Some(inside) = self.inside else { return self.point_of(whole, axes) };
        let mut inner = self.point_of(&inside.launch, axes)?;
        // The same stores again.
        self.checked = checked;
        let elsewhere = match &inside.outside {
            Some(outside) => outside,
            None => whole,
        };
        let mut others = self.point_of(elsewhere, axes)?;
        tidy::drop_values(&mut inner);
        tidy::drop_values(&mut others);
        Ok(vec![Stmt::If("inner != 0".into(), inner), Stmt::If("inner == 0".into(), others)])
    }

    fn point_of(&mut self, launch: &'a Launch, axes: &[String]) -> Result<Vec<Stmt>> {
        let (whole, mut body) = (std::mem::replace(&mut self.launch, launch), Body::new("i"));
        let at = At::point(axes, &launch.domain);
        let done = self.steps(&launch.body, at, &mut body);
        let done = done.and_then(|()| self.stores(Part::Body, "i", &mut body));
        self.launch = whole;
        done.map(|()| body.out)
    }
}

fn same(tests: &[Test]) -> bool {
    let key = |t: &Test| (t.ix.clone(), t.lo, t.hi);
    tests.windows(2).all(|pair| key(&pair[0]) == key(&pair[1]))
}

/// The parts of an axis between places where it is cut.
fn parts(cuts: &BTreeSet<i64>, extent: usize) -> Vec<(i64, i64)> {
    let inner = cuts.iter().copied();
    let ends = inner.clone().chain([extent as i64]);
    std::iter::once(0).chain(inner).zip(ends).collect()
}

/// The tests of a launch's points, and the indices that they compute.
struct Asked {
    tests: Vec<Test>,
    places: Vec<Ix>,
    /// Wraps, clamps and divisions in the places.
    wraps: usize,
    /// Of all.
    count: usize,
}

impl Asked {
    fn of(plan: &Plan, launch: &Launch) -> Asked {
        let tiles = launch.tiling.iter().flat_map(|t| &t.tiles);
        let copied: BTreeSet<u32> = tiles.flat_map(|t| t.loads.iter().map(|(k, _)| *k)).collect();
        let (mut tests, mut places): (Vec<Test>, Vec<Ix>) = Default::default();
        for step in &launch.body {
            match &step.what {
                What::Load(k) | What::Gather { load: k, .. } => {
                    let load = &launch.loads[*k as usize];
                    tests.extend(load.read.tests.iter().cloned());
                    let shape = &plan.buffer(load.buf).shape;
                    let place = linear(&load.read.ix, shape, &launch.domain);
                    places.extend(Some(place).filter(|_| !copied.contains(k)));
                }
                What::Index { ix, .. } => places.push(ix.clone()),
                What::Guard { tests: of, .. } | What::Part { tests: of, .. } => {
                    tests.extend(launch.guards[*of as usize].iter().cloned());
                }
                _ => {}
            }
        }
        let wraps = places.iter().map(wraps).sum();
        let count = tests.len() + wraps;
        Asked { tests, places, wraps, count }
    }

    /// Bytes of parameters, about: of a test two bounds and a fill, of a wrap a reciprocal and an
    /// extent, of a place two strides.
    fn bytes(&self) -> usize {
        16 * self.count + 8 * self.places.len()
    }

    /// By axis, the points at which some test or wrap becomes another.
    fn cuts(&self, domain: &[usize]) -> Vec<BTreeSet<i64>> {
        let mut cuts: Vec<BTreeSet<i64>> = domain.iter().map(|_| BTreeSet::new()).collect();
        for t in &self.tests {
            [t.lo, t.hi].into_iter().for_each(|v| cut(&t.ix, v, domain, &mut cuts));
        }
        self.places.iter().for_each(|ix| around(ix, domain, &mut cuts));
        cuts
    }
}

fn wraps(ix: &Ix) -> usize {
    let of = |atom: &Atom| match atom {
        Atom::Axis(_) => 0,
        Atom::Div(x, _) | Atom::Mod(x, _) | Atom::Clamp(x, ..) => 1 + wraps(x),
    };
    ix.terms.iter().map(|(_, atom)| of(atom)).sum()
}

/// The point of an axis from which on an index is `value` or more, or less.
fn cut(ix: &Ix, value: i64, domain: &[usize], cuts: &mut [BTreeSet<i64>]) {
    let [(k, atom)] = ix.terms.as_slice() else { return };
    let value = value.saturating_sub(ix.c);
    // The least x for which k×x is `value`; downwards, the least for which it is less.
    let at = match *k {
        0 => return,
        k if k > 0 => -(-value).div_euclid(k),
        k => (-value).div_euclid(-k) + 1,
    };
    match atom {
        Atom::Axis(axis) => {
            let axis = *axis as usize;
            if at > 0 && at < domain[axis] as i64 {
                cuts[axis].insert(at);
            }
        }
        Atom::Div(x, d) => cut(x, at.saturating_mul(*d), domain, cuts),
        Atom::Mod(..) | Atom::Clamp(..) => {}
    }
}

/// The points at which an index wraps or reaches an end.
fn around(ix: &Ix, domain: &[usize], cuts: &mut [BTreeSet<i64>]) {
    for (_, atom) in &ix.terms {
        match atom {
            Atom::Axis(_) => {}
            Atom::Div(x, _) => around(x, domain, cuts),
            Atom::Mod(x, d) => {
                around(x, domain, cuts);
                let (lo, hi) = x.range(domain);
                let (first, last) = (lo.div_euclid(*d) + 1, hi.div_euclid(*d));
                if last - first < WRAPS {
                    (first..=last).for_each(|n| cut(x, n * d, domain, cuts));
                }
            }
            Atom::Clamp(x, l, h) => {
                around(x, domain, cuts);
                [*l, h + 1].into_iter().for_each(|v| cut(x, v, domain, cuts));
            }
        }
    }
}

/// The answer of a test, so far as it is known.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Holds,
    Fails,
    Open,
}

/// Tests of which some are known.
enum Left {
    Tests(Vec<Test>),
    /// One fails, and those before it hold: its fill.
    Never(f64),
}

/// A launch without the tests that are known; its loads keep their numbers.
fn made(launch: &Launch, known: &dyn Fn(&Test) -> Verdict, place: &dyn Fn(&Ix) -> Ix) -> Launch {
    let left = |tests: &[Test]| -> Left {
        let mut open: Vec<Test> = Vec::new();
        for t in tests {
            match known(t) {
                Verdict::Holds => {}
                Verdict::Fails if open.is_empty() => return Left::Never(t.fill),
                _ => open.push(Test { ix: place(&t.ix), ..t.clone() }),
            }
        }
        Left::Tests(open)
    };
    let mut out = launch.clone();
    let loads: Vec<Left> = launch.loads.iter().map(|l| left(&l.read.tests)).collect();
    for (load, left) in out.loads.iter_mut().zip(&loads) {
        if let Left::Tests(open) = left {
            load.read.tests = open.clone();
            load.read.ix = load.read.ix.iter().map(place).collect();
        }
    }
    let guards: Vec<Left> = launch.guards.iter().map(|g| left(g)).collect();
    for (own, left) in out.guards.iter_mut().zip(&guards) {
        if let Left::Tests(open) = left {
            own.clone_from(open);
        }
    }
    let none = out.guards.len() as u32;
    out.guards.push(Vec::new());
    for step in &mut out.body {
        let is_f32 = step.dtype == DType::F32;
        let fill = |left: &Left| match left {
            // A number of the text has 64 bits.
            Left::Never(fill) if !is_f32 => Some(What::Const(*fill)),
            _ => None,
        };
        let of = |tests: &u32| &guards[*tests as usize];
        let other = match &step.what {
            What::Load(k) | What::Gather { load: k, .. } => fill(&loads[*k as usize]),
            What::Index { ix, origin } => Some(What::Index { ix: place(ix), origin: *origin }),
            What::Guard { tests, .. } => fill(of(tests)),
            What::Part { tests, yes, no } => match of(tests) {
                Left::Never(_) => Some(What::Guard { tests: none, value: *no }),
                Left::Tests(open) if open.is_empty() => {
                    Some(What::Guard { tests: none, value: *yes })
                }
                Left::Tests(_) => None,
            },
            _ => None,
        };
        if let Some(other) = other {
            step.what = other;
        }
        match step.from.guard.map(|g| &guards[g as usize]) {
            Some(Left::Tests(open)) if open.is_empty() => step.from.guard = None,
            // It is wanted nowhere, and so gives anything.
            Some(Left::Never(_)) => {
                (step.what, step.from.guard) = (What::Const(0.0), None);
            }
            _ => {}
        }
    }
    out
}

//! Bytes between a launch and memory: the distinct elements of each buffer that it reads, once, and
//! what it writes.
//!
//! What points of a loop read again is a cache's or a block's to serve, so it is no traffic; those
//! loads are counted apart. Of a read by values at most as many elements are met as there are
//! points, or as the buffer has. Every figure of bytes that a finished launch is told with comes
//! from here.

use super::met::{Asking, met, met_exactly};
use super::{BufId, Launch, Load, Plan, What};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::pieces::{Piece, Pieces};
use aplomb_values::dag::{Read, Test};
use std::collections::BTreeMap;

/// The bytes that one launch moves and loads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Bytes from memory, and to it.
    pub read: u64,
    /// Bytes that it writes.
    pub written: u64,
    /// Bytes that its points load, each load for itself.
    pub loads: u64,
}

/// The reads of one buffer by a launch.
#[derive(Default)]
struct Asked<'a> {
    /// Reads that loops tell, each with the extents of its loop.
    reads: Vec<Asking<'a>>,
    /// Elements that only values tell, at most.
    by_values: u64,
    /// Elements that points ask for, each for itself.
    loads: u64,
}

impl Plan {
    /// The traffic of one of the plan's launches.
    pub fn traffic(&self, l: &Launch) -> Traffic {
        let (domain, outer) = (&l.domain[..], &l.outer()[..]);
        let mut of_all: BTreeMap<BufId, Asked<'_>> = BTreeMap::new();
        let mut known: Vec<(u32, bool)> = Vec::new();
        let steps = l.body.iter().map(|s| (s, false)).chain(l.after.iter().map(|s| (s, true)));
        for (step, after) in steps {
            let Some(load) = step.what.load().filter(|k| !known.contains(&(*k, after))) else {
                continue;
            };
            let extents = if after { outer } else { domain };
            let Load { buf, read } = &l.loads[load as usize];
            let (own, points) = (of_all.entry(*buf).or_default(), asking(read, extents));
            own.loads = own.loads.saturating_add(points);
            match step.what {
                // The next one may be by other values.
                What::Gather { .. } => own.by_values = own.by_values.saturating_add(points),
                _ => {
                    known.push((load, after));
                    own.reads.push((read, extents));
                }
            }
        }
        let held = l.finish.iter().flat_map(|f| &f.held).copied();
        for load in held.chain(l.compaction.iter().map(|c| c.mask)) {
            let buf = l.loads[load as usize].buf;
            let whole = product(&self.buffer(buf).shape);
            let own = of_all.entry(buf).or_default();
            own.loads = own.loads.saturating_add(whole);
            own.by_values = own.by_values.saturating_add(whole);
        }
        let mut out = Traffic::default();
        for (buf, own) in of_all {
            let buffer = self.buffer(buf);
            let (size, whole) = (buffer.dtype.size() as u64, product(&buffer.shape));
            let elements = met(&buffer.shape, &own.reads).saturating_add(own.by_values).min(whole);
            out.read = out.read.saturating_add(elements.saturating_mul(size));
            out.loads = out.loads.saturating_add(own.loads.saturating_mul(size));
        }
        let written = l.stores.iter().chain(&l.after_stores).map(|s| self.buffer(s.buf).bytes());
        out.written = written.fold(0, u64::saturating_add);
        out
    }

    /// The elements that all points of a launch ask for by one of its loads, and how many of them
    /// are different; None where only values tell, or nobody counts them.
    pub fn asked(&self, l: &Launch, load: usize) -> (u64, Option<u64>) {
        let steps = l.body.iter().map(|s| (s, false)).chain(l.after.iter().map(|s| (s, true)));
        let mut own = steps.filter(|(s, _)| s.what.load() == Some(load as u32));
        let (of, shape) = (&l.loads[load], &self.buffer(l.loads[load].buf).shape);
        let whole = product(shape);
        let Some((step, after)) = own.next() else { return (whole, Some(whole)) };
        let extents = if after { &l.outer()[..] } else { &l.domain[..] };
        let points = asking(&of.read, extents);
        match step.what {
            What::Gather { .. } => (points, None),
            _ => (points, met_exactly(shape, &[(&of.read, extents)])),
        }
    }

    /// Whether values say what some launch reads, so that its traffic is a bound.
    pub fn is_bounded(&self) -> bool {
        let mut steps = self.launches.iter().flat_map(|l| l.body.iter().chain(&l.after));
        steps.any(|s| matches!(s.what, What::Gather { .. }))
    }

    /// Bytes that its launches read from memory and write to it.
    pub fn moved(&self) -> u64 {
        let all = self.launches.iter().map(|l| self.traffic(l));
        all.fold(0, |n, t| n.saturating_add(t.read).saturating_add(t.written))
    }
}

/// Points of loops that are walked where no box holds those that pass a read's tests.
const WALKED: u64 = 1 << 14;
/// The same, piece by piece.
const POINTS: u64 = 1 << 16;

/// The points of a loop that ask for an element: those that pass the tests, exactly where these are
/// linear or the loop is short; one where it is the same number for all.
pub fn asking(read: &Read, extents: &[usize]) -> u64 {
    if read.ix.is_empty() {
        return 1;
    }
    if read.held(extents).1 {
        return read.points(extents);
    }
    if let Some(points) = passing(&read.tests, extents) {
        return points;
    }
    let all = product(extents);
    if all > POINTS {
        return read.points(extents);
    }
    let (offset, mut place, mut passed) = (Ix::constant(0), Vec::new(), 0);
    let pieces = Pieces { offset: &offset, tests: &read.tests };
    pieces.each(extents, 0..all as usize, &mut place, &mut |_, piece| {
        if let Piece::From { len, .. } = piece {
            passed += len as u64;
        }
    });
    passed
}

/// The uses of an element of an array of this shape by some reads, on average.
pub fn uses(shape: &[usize], reads: &[Asking<'_>]) -> f64 {
    let all = reads.iter().fold(0u64, |n, (read, extents)| n.saturating_add(asking(read, extents)));
    all as f64 / met(shape, reads).max(1) as f64
}

/// The points that pass tests. Axes that no test joins are counted apart, place by place where a
/// test is not linear; of those that some join all but the longest are walked, along which what
/// passes is a range. None: a test that joins axes is not linear, or there are too many.
fn passing(tests: &[Test], extents: &[usize]) -> Option<u64> {
    let mut parts: Vec<usize> = (0..extents.len()).collect();
    for test in tests {
        let axes: Vec<usize> = (0..extents.len()).filter(|k| test.ix.mentions(*k)).collect();
        let into = parts[*axes.first()?];
        for axis in axes {
            let gone = parts[axis];
            parts.iter_mut().filter(|p| **p == gone).for_each(|p| *p = into);
        }
    }
    let mut all = 1u64;
    for part in 0..extents.len() {
        let mut axes: Vec<usize> = (0..extents.len()).filter(|k| parts[*k] == part).collect();
        let own = |test: &&Test| axes.iter().any(|k| test.ix.mentions(*k));
        let own: Vec<&Test> = tests.iter().filter(own).collect();
        let is_linear = own.iter().all(|test| test.ix.is_affine());
        axes.sort_by_key(|k| extents[*k]);
        let points = match (is_linear, axes.split_last()) {
            (_, None) => continue,
            (true, Some((longest, others))) => walked(&own, extents, (*longest, others)),
            (false, Some((axis, []))) => along(&own, extents, *axis),
            (false, Some(_)) => None,
        };
        all = all.saturating_mul(points?);
    }
    Some(all)
}

/// The places along an axis at which tests of it alone hold. None: there are too many.
fn along(tests: &[&Test], extents: &[usize], axis: usize) -> Option<u64> {
    let mut place: Vec<usize> = extents.iter().map(|_| 0).collect();
    let mut passes = |k: &usize| {
        place[axis] = *k;
        tests.iter().all(|test| (test.lo..test.hi).contains(&test.ix.at(&place)))
    };
    let is_short = extents[axis] as u64 <= WALKED;
    is_short.then(|| (0..extents[axis]).filter(|k| passes(k)).count() as u64)
}

/// The points of some axes that pass linear tests: all but the longest are walked. None: there are
/// too many.
fn walked(tests: &[&Test], extents: &[usize], (longest, others): (usize, &[usize])) -> Option<u64> {
    let all = others.iter().fold(1u64, |n, k| n.saturating_mul(extents[*k] as u64));
    if all > WALKED {
        return None;
    }
    let mut place: Vec<usize> = extents.iter().map(|_| 0).collect();
    let mut points = 0u64;
    for n in 0..all {
        let mut rest = n as usize;
        for k in others {
            (place[*k], rest) = (rest % extents[*k], rest / extents[*k]);
        }
        points = points.saturating_add(range(tests, &place, (longest, extents[longest])));
    }
    Some(points)
}

/// The places along an axis at which linear tests hold, the other axes being at theirs.
fn range(tests: &[&Test], place: &[usize], (axis, extent): (usize, usize)) -> u64 {
    let (mut from, mut to) = (0i64, extent as i64);
    for test in tests {
        let (at, by) = (test.ix.at(place), test.ix.coefficient(axis));
        // The first place at which what grows by a step has passed a bound.
        let passed = |bound: i64, by: i64| -(-bound).div_euclid(by);
        let (lo, hi) = match by {
            0 if (test.lo..test.hi).contains(&at) => continue,
            0 => return 0,
            by if by > 0 => (passed(test.lo - at, by), passed(test.hi - at, by)),
            by => (passed(at - test.hi + 1, -by), passed(at - test.lo + 1, -by)),
        };
        (from, to) = (from.max(lo), to.min(hi));
    }
    (to - from).max(0) as u64
}

/// The points of a loop with these extents, as many as 64 bits can tell.
pub fn product(shape: &[usize]) -> u64 {
    shape.iter().fold(1u64, |n, &d| n.saturating_mul(d as u64))
}

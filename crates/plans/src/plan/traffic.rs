//! Bytes between a launch and memory: the distinct elements of each buffer that it reads, once, and
//! what it writes.
//!
//! What points of a loop read again is a cache's or a block's to serve, so it is no traffic; those
//! loads are counted apart. Of a read by values at most as many elements are met as there are
//! points, or as the buffer has. Every figure of bytes that a finished launch is told with comes
//! from here.

use super::{Launch, Plan, What};
use aplomb_values::dag::Read;
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

impl Plan {
    /// The traffic of one of the plan's launches.
    pub fn traffic(&self, l: &Launch) -> Traffic {
        let (domain, outer) = (&l.domain[..], &l.outer()[..]);
        // For each buffer the elements that its reads meet and load.
        let mut met: BTreeMap<_, (u64, u64)> = BTreeMap::new();
        let mut add = |load: u32, distinct: &dyn Fn(&[usize]) -> u64, points: u64| {
            let load = &l.loads[load as usize];
            let (elements, loads) = met.entry(load.buf).or_default();
            let shape = &self.buffer(load.buf).shape;
            // There are no more: two hundred shifts of an array are counted once.
            if *elements < product(shape) {
                *elements = elements.saturating_add(distinct(shape));
            }
            *loads = loads.saturating_add(points);
        };
        let mut read: Vec<(u32, bool)> = Vec::new();
        let steps = l.body.iter().map(|s| (s, false)).chain(l.after.iter().map(|s| (s, true)));
        for (step, after) in steps {
            let Some(load) = step.what.load().filter(|k| !read.contains(&(*k, after))) else {
                continue;
            };
            let extents = if after { outer } else { domain };
            let own = &l.loads[load as usize].read;
            let points = asking(own, extents);
            match step.what {
                // The next one may be by other values.
                What::Gather { .. } => add(load, &|shape| product(shape).min(points), points),
                _ => {
                    read.push((load, after));
                    add(load, &|shape| own.distinct(shape, extents), points);
                }
            }
        }
        let held = l.finish.iter().flat_map(|f| &f.held).copied();
        for load in held.chain(l.compaction.iter().map(|c| c.mask)) {
            let points = product(&self.buffer(l.loads[load as usize].buf).shape);
            add(load, &|shape| product(shape), points);
        }
        let mut out = Traffic::default();
        for (buf, (elements, loads)) in met {
            let (size, buffer) = (self.buffer(buf).dtype.size() as u64, self.buffer(buf));
            out.read = out.read.saturating_add(elements.saturating_mul(size).min(buffer.bytes()));
            out.loads = out.loads.saturating_add(loads.saturating_mul(size));
        }
        let written = l.stores.iter().chain(&l.after_stores).map(|s| self.buffer(s.buf).bytes());
        out.written = written.fold(0, u64::saturating_add);
        out
    }

    /// The elements that all points of a launch ask for by one of its loads, and how many of them
    /// are different; None where only values tell.
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
            _ => (points, Some(of.read.distinct(shape, extents))),
        }
    }

    /// Bytes that its launches read from memory and write to it.
    pub fn moved(&self) -> u64 {
        let all = self.launches.iter().map(|l| self.traffic(l));
        all.fold(0, |n, t| n.saturating_add(t.read).saturating_add(t.written))
    }
}

/// Points of loops that are walked where no box holds those that pass a read's tests.
const WALKED: u64 = 1 << 14;

/// The points of a loop that ask for an element: those that pass the tests, of long loops at most
/// so many; one where it is the same number for all.
fn asking(read: &Read, extents: &[usize]) -> u64 {
    if read.ix.is_empty() {
        return 1;
    }
    let all = product(extents);
    if all > WALKED || read.held(extents).1 {
        return read.points(extents);
    }
    let passes = |n: &u64| {
        let mut rest = *n as usize;
        let mut place = extents.to_vec();
        for (at, extent) in place.iter_mut().zip(extents).rev() {
            (*at, rest) = (rest % extent, rest / extent);
        }
        read.tests.iter().all(|t| (t.lo..t.hi).contains(&t.ix.at(&place)))
    };
    (0..all).filter(passes).count() as u64
}

/// The points of a loop with these extents, as many as 64 bits can tell.
pub fn product(shape: &[usize]) -> u64 {
    shape.iter().fold(1u64, |n, &d| n.saturating_mul(d as u64))
}

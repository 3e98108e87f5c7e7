//! The traffic of one block: the elements that the points of a box ask for, each counted once, and
//! those that they write.
//!
//! Row: BAS-18. Counted exactly: the places that a read meets along an axis of its array are a set,
//! the reads of an array are a union of boxes of such sets, and that union is counted row by row.
//! The box lies in the middle of the domain, where no edge cuts it short. Memory between blocks and
//! arrays carries so much for each block, as a cache or a copy of the block serves the rest.

use super::{BufId, Kind, Launch, Plan, What};
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::Ix;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Places along an axis, and rows, that are looked at; longer boxes are not counted.
const LONGEST: usize = 1 << 14;

/// The elements of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Different elements that its points read.
    pub loads: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// Results that it has: of a fold one for each place of the other axes. What is only a part of
    /// a fold reads them, too, before it writes them.
    pub results: u64,
}

/// The places that a read meets along each axis of its array, ascending.
type Sets = SmallVec<[Vec<i64>; 4]>;
/// A box of points: from, and how many, on each axis.
type Points = SmallVec<[(usize, usize); 4]>;

impl Plan {
    /// The elements that a box of points in the middle of a launch has to do with. None: values say
    /// where, or it is not counted axis by axis.
    pub fn block(&self, l: &Launch, block: &[usize]) -> Option<Block> {
        let middle = |(all, own): (&usize, &usize)| {
            let from = all / (*own).max(1) / 2 * own;
            from.min(all - (*own).min(*all))
        };
        let from: Vec<usize> = l.domain.iter().zip(block).map(middle).collect();
        self.block_at(l, &from, block)
    }

    /// The same for the box that begins at a point.
    pub fn block_at(&self, l: &Launch, from: &[usize], block: &[usize]) -> Option<Block> {
        let points: Points = from
            .iter()
            .zip(block)
            .zip(&l.domain)
            .map(|((from, own), all)| (*from, (*own).min(all - (*from).min(*all))))
            .collect();
        let mut arrays: BTreeMap<BufId, Vec<&Read>> = BTreeMap::new();
        let mut seen: Vec<u32> = Vec::new();
        for (step, k) in l.body.iter().filter_map(|s| Some((s, s.what.load()?))) {
            if seen.contains(&k) {
                continue;
            }
            if !matches!(step.what, What::Load(_)) {
                return None;
            }
            seen.push(k);
            let load = &l.loads[k as usize];
            arrays.entry(load.buf).or_default().push(&load.read);
        }
        let mut out = Block::default();
        for (buf, reads) in &arrays {
            let loads = match reads.as_slice() {
                [read] => alone(read, &self.buffer(*buf).shape, &l.domain, &points)?,
                reads => {
                    let all = reads.iter().map(|read| sets(read, &l.domain, &points));
                    let all: Vec<Sets> =
                        all.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
                    union(&all.iter().map(|sets| &sets[..]).collect::<Vec<_>>())
                }
            };
            out.loads += loads;
            out.bytes += loads * self.buffer(*buf).dtype.size() as u64;
        }
        let folded = l.axis.filter(|_| l.kind == Kind::Reduce);
        let of = |skip: Option<usize>| {
            let own = points.iter().enumerate().filter(|(axis, _)| Some(*axis) != skip);
            own.map(|(_, (_, n))| *n as u64).product::<u64>()
        };
        let after = of(folded).saturating_mul(l.after_stores.len() as u64);
        out.results = of(None).saturating_mul(l.stores.len() as u64).saturating_add(after);
        Some(out)
    }
}

/// The part of a box whose points pass a read's tests: from, and how many, on each axis. None: no
/// box holds them.
fn passing(read: &Read, domain: &[usize], points: &[(usize, usize)]) -> Option<Points> {
    let (held, exact) = read.held(domain);
    let clipped = held.iter().zip(points).map(|((lo, hi), (from, n))| {
        let (from, to) = ((*lo).max(*from as i64), (*hi).min((from + n) as i64));
        (from as usize, (to - from).max(0) as usize)
    });
    exact.then(|| clipped.collect())
}

/// Whether no axis of the loops moves two axes of the array.
fn is_apart(read: &Read, points: &[(usize, usize)]) -> bool {
    let moved = |axis: usize| read.ix.iter().filter(|ix| ix.mentions(axis)).count();
    (0..points.len()).all(|axis| points[axis].1 == 1 || moved(axis) < 2)
}

/// The elements of an array that one read meets. None: no axis by itself tells them.
fn alone(read: &Read, shape: &[usize], domain: &[usize], points: &[(usize, usize)]) -> Option<u64> {
    let points = passing(read, domain, points).filter(|points| is_apart(read, points))?;
    if points.iter().any(|(_, n)| *n == 0) {
        return Some(0);
    }
    let inner: SmallVec<[usize; 4]> = points.iter().map(|(_, n)| *n).collect();
    let from = points.iter().enumerate().map(|(k, (from, _))| Ix::axis(k).offset(*from as i64));
    let from: SmallVec<[Ix; 4]> = from.collect();
    let axes = read.ix.iter().zip(shape);
    let places = axes.map(|(ix, n)| ix.substitute(&from, &inner).values(&inner, *n));
    Some(places.fold(1, u64::saturating_mul))
}

/// The places of a read, or of nothing where no point passes its tests. None: an axis of the loops
/// moves two of the array, or there are too many.
fn sets(read: &Read, domain: &[usize], points: &[(usize, usize)]) -> Option<Option<Sets>> {
    let points = passing(read, domain, points).filter(|points| is_apart(read, points))?;
    if points.iter().any(|(_, n)| *n == 0) {
        return Some(None);
    }
    let mut out = Sets::new();
    for ix in &read.ix {
        let axes: Vec<usize> = (0..domain.len()).filter(|axis| ix.mentions(*axis)).collect();
        let places = axes.iter().fold(1usize, |n, axis| n.saturating_mul(points[*axis].1));
        if places > LONGEST {
            return None;
        }
        let mut place: Vec<usize> = points.iter().map(|(from, _)| *from).collect();
        let mut met: Vec<i64> = Vec::new();
        for k in 0..places {
            let mut rest = k;
            for axis in &axes {
                let (from, n) = points[*axis];
                place[*axis] = from + rest % n;
                rest /= n;
            }
            met.push(ix.at(&place));
        }
        met.sort_unstable();
        met.dedup();
        out.push(met);
    }
    Some(Some(out))
}

/// The elements that are in one of some boxes, each of which is a set of places by axis.
fn union(boxes: &[&[Vec<i64>]]) -> u64 {
    let Some(axes) = boxes.iter().map(|b| b.len()).max() else { return 0 };
    if let [one] = boxes {
        return one.iter().fold(1, |n, set| n.saturating_mul(set.len() as u64));
    }
    if axes == 0 {
        return 1;
    }
    let mut places: Vec<i64> = boxes.iter().flat_map(|b| b[0].iter().copied()).collect();
    places.sort_unstable();
    places.dedup();
    if axes == 1 {
        return places.len() as u64;
    }
    // Rows that the same boxes meet are alike.
    let (mut known, mut all): (Vec<(Vec<usize>, u64)>, u64) = (Vec::new(), 0);
    for place in places {
        let met = |k: &usize| boxes[*k][0].binary_search(&place).is_ok();
        let row: Vec<usize> = (0..boxes.len()).filter(met).collect();
        let count = match known.iter().find(|(own, _)| *own == row) {
            Some((_, count)) => *count,
            None => {
                let rest: Vec<&[Vec<i64>]> = row.iter().map(|k| &boxes[*k][1..]).collect();
                let count = union(&rest);
                known.push((row, count));
                count
            }
        };
        all = all.saturating_add(count);
    }
    all
}

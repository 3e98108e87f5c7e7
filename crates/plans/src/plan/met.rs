//! The elements of an array that reads meet, each counted once.
//!
//! Row: BAS-18. The places that a read meets along an axis of its array are runs, evenly spaced;
//! the reads of an array are a union of boxes of such runs. That union is counted stretch by
//! stretch along the first axis: between two ends of runs the same boxes are met all the way, and
//! those are counted along the other axes. So a figure is as soon there for long arrays as for
//! short ones.

use super::product;
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::{Atom, Ix, linear};
use aplomb_values::dag::pieces::{Piece, Pieces};
use smallvec::{SmallVec, smallvec};
use std::collections::{BTreeMap, HashSet};

/// Places along an axis that are walked where no run tells them.
const WALKED: usize = 1 << 14;
/// Boxes of one array that are counted as a union.
const BOXES: usize = 48;
/// Runs further apart are not counted together.
const APART: i64 = 256;

/// Evenly spaced places, ascending.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    from: i64,
    step: i64,
    n: i64,
}

/// Places along an axis: runs that share none.
pub(super) type Runs = SmallVec<[Run; 2]>;
/// The places that a read meets along each axis of its array.
pub(super) type Places = SmallVec<[Runs; 4]>;
/// A box of points: from, and how many, on each axis.
pub(super) type Points = SmallVec<[(usize, usize); 4]>;

/// A read with the extents of the loop that asks by it.
pub type Asking<'a> = (&'a Read, &'a [usize]);

/// The number of elements of an array of this shape that some reads meet: exactly where runs tell
/// the places of all, or few points have them, else no fewer. Of one by values it is as many as its
/// points, and not those of another.
pub fn met(shape: &[usize], reads: &[Asking<'_>]) -> u64 {
    elements(shape, reads).0
}

/// The same where it is exact. None: it is not.
pub fn met_exactly(shape: &[usize], reads: &[Asking<'_>]) -> Option<u64> {
    let (met, exact) = elements(shape, reads);
    exact.then_some(met)
}

/// The number, and whether it is exact.
fn elements(shape: &[usize], reads: &[Asking<'_>]) -> (u64, bool) {
    let whole = product(shape);
    let mut different: SmallVec<[Asking<'_>; 4]> = SmallVec::new();
    // Each compared with each, thousands of them would take most of the time of a plan.
    let mut known = (reads.len() > BOXES).then(HashSet::new);
    let (mut sum, mut by_values) = (0u64, 0u64);
    for &(read, extents) in reads {
        let own = read.distinct(shape, extents);
        let mut is_new = |different: &[Asking<'_>]| match &mut known {
            Some(known) => known.insert((read, extents)),
            None => !different.contains(&(read, extents)),
        };
        if read.is_anywhere() {
            by_values = by_values.saturating_add(own);
        } else if is_new(&different) {
            sum = sum.saturating_add(own);
            different.push((read, extents));
        }
    }
    let (told, exact) = match counted(&different).or_else(|| marked(shape, &different)) {
        Some(exact) => (exact.min(sum), true),
        None => (sum, false),
    };
    (told.saturating_add(by_values).min(whole), exact && by_values == 0)
}

/// The elements that the points of some reads meet, marked one by one. None: the loops have many
/// points, or the array many elements.
fn marked(shape: &[usize], reads: &[Asking<'_>]) -> Option<u64> {
    /// The points of all loops, and the elements of the array, at most.
    const MOST: (u64, u64) = (1 << 15, 1 << 20);
    let (whole, points) = (product(shape), reads.iter().map(|(_, extents)| product(extents)));
    if whole > MOST.1 || points.fold(0, u64::saturating_add) > MOST.0 {
        return None;
    }
    let (mut seen, mut place, mut inside) = (Vec::new(), Vec::new(), true);
    seen.resize(whole as usize, false);
    for (read, extents) in reads {
        let offset = linear(&read.ix, shape, extents);
        let pieces = Pieces { offset: &offset, tests: &read.tests };
        let all = product(extents) as usize;
        pieces.each(extents, 0..all, &mut place, &mut |_, piece| {
            let Piece::From { at, step, len } = piece else { return };
            for k in 0..len as i64 {
                match usize::try_from(at + k * step).ok().and_then(|at| seen.get_mut(at)) {
                    Some(seen) => *seen = true,
                    None => inside = false,
                }
            }
        });
    }
    inside.then(|| seen.iter().filter(|seen| **seen).count() as u64)
}

fn counted(reads: &[Asking<'_>]) -> Option<u64> {
    if reads.len() > BOXES {
        return None;
    }
    let boxed = |(read, extents): &Asking<'_>| {
        let all: Points = extents.iter().map(|n| (0, *n)).collect();
        places(read, extents, &all)
    };
    let all: Vec<Option<Places>> = reads.iter().map(boxed).collect::<Option<_>>()?;
    union(&all.iter().flatten().map(|places| &places[..]).collect::<Vec<_>>())
}

/// The places of a read from a box of points, or of nothing where no point passes its tests. None:
/// an axis of the loops moves two of the array, or there are too many.
pub(super) fn places(
    read: &Read,
    domain: &[usize],
    points: &[(usize, usize)],
) -> Option<Option<Places>> {
    let points = passing(read, domain, points).filter(|points| is_apart(read, points))?;
    if points.iter().any(|(_, n)| *n == 0) {
        return Some(None);
    }
    let runs = |ix: &Ix| runs(ix, &points).or_else(|| walked(ix, &points));
    read.ix.iter().map(runs).collect::<Option<Places>>().map(Some)
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

/// True where no axis of the loops moves two axes of the array.
fn is_apart(read: &Read, points: &[(usize, usize)]) -> bool {
    let moved = |axis: usize| read.ix.iter().filter(|ix| ix.mentions(axis)).count();
    (0..points.len()).all(|axis| points[axis].1 == 1 || moved(axis) < 2)
}

impl Run {
    fn one(from: i64) -> Run {
        Run { from, step: 1, n: 1 }
    }

    fn last(&self) -> i64 {
        self.from + self.step * (self.n - 1)
    }

    /// The run of each place times `k`, which is not 0.
    fn times(self, k: i64) -> Run {
        let from = if k > 0 { self.from } else { self.last() };
        let step = if self.n == 1 { 1 } else { self.step * k.abs() };
        Run { from: from * k, step, n: self.n }
    }

    /// Every sum of a place of one with a place of the other, where they are a run.
    fn plus(self, other: Run) -> Option<Run> {
        let (fine, wide) = if self.step <= other.step { (self, other) } else { (other, self) };
        let (fine, wide) = if fine.n == 1 { (wide, fine) } else { (fine, wide) };
        let from = fine.from + wide.from;
        if wide.n == 1 {
            return Some(Run { from, ..fine });
        }
        let meets = wide.step % fine.step == 0 && fine.step * fine.n >= wide.step;
        meets.then(|| Run {
            from,
            step: fine.step,
            n: fine.n + (wide.n - 1) * wide.step / fine.step,
        })
    }
}

/// The values of an index over a box of points. None: they are no runs.
fn runs(ix: &Ix, points: &[(usize, usize)]) -> Option<Runs> {
    let alone = |axis: usize| ix.terms.iter().filter(|(_, a)| a.mentions(axis)).count() < 2;
    if !(0..points.len()).all(alone) {
        return None;
    }
    let mut parts: Vec<Runs> = Vec::new();
    for (k, atom) in &ix.terms {
        parts.push(of_atom(atom, points)?.iter().map(|run| run.times(*k)).collect());
    }
    parts.sort_by_key(|runs| runs.iter().map(|run| run.step).max());
    let mut out: Runs = smallvec![Run::one(ix.c)];
    for part in parts {
        out = match (&out[..], &part[..]) {
            ([a], [b]) => smallvec![a.plus(*b)?],
            ([a], many) if a.n == 1 => many.iter().filter_map(|b| a.plus(*b)).collect(),
            _ => return None,
        };
    }
    Some(out)
}

fn of_atom(atom: &Atom, points: &[(usize, usize)]) -> Option<Runs> {
    let only = |x: &Ix| match &runs(x, points)?[..] {
        [run] => Some(*run),
        _ => None,
    };
    Some(match atom {
        Atom::Axis(axis) => {
            let (from, n) = points[*axis as usize];
            smallvec![Run { from: from as i64, step: 1, n: n as i64 }]
        }
        Atom::Div(x, d) => {
            let run = only(x).filter(|run| run.step <= *d)?;
            let (from, last) = (run.from.div_euclid(*d), run.last().div_euclid(*d));
            smallvec![Run { from, step: 1, n: last - from + 1 }]
        }
        Atom::Clamp(x, lo, hi) => {
            let run = only(x).filter(|run| run.step == 1)?;
            let (from, last) = (run.from.clamp(*lo, *hi), run.last().clamp(*lo, *hi));
            smallvec![Run { from, step: 1, n: last - from + 1 }]
        }
        Atom::Mod(x, d) => {
            let run = only(x).filter(|run| d % run.step == 0)?;
            let (from, around) = (run.from.rem_euclid(*d), d / run.step);
            let before = (d - 1 - from) / run.step + 1;
            match run.n {
                n if n >= around => smallvec![Run { from: from % run.step, n: around, ..run }],
                n if n <= before => smallvec![Run { from, ..run }],
                n => smallvec![
                    Run { from: from % run.step, n: n - before, ..run },
                    Run { from, n: before, ..run },
                ],
            }
        }
    })
}

/// The values of an index, point by point of the axes that move it. None: there are too many.
fn walked(ix: &Ix, points: &[(usize, usize)]) -> Option<Runs> {
    let axes: Vec<usize> = (0..points.len()).filter(|axis| ix.mentions(*axis)).collect();
    let all = axes.iter().fold(1usize, |n, axis| n.saturating_mul(points[*axis].1));
    if all > WALKED {
        return None;
    }
    let mut place: Vec<usize> = points.iter().map(|(from, _)| *from).collect();
    let mut values: Vec<i64> = Vec::new();
    for k in 0..all {
        let mut rest = k;
        for axis in &axes {
            let (from, n) = points[*axis];
            (place[*axis], rest) = (from + rest % n, rest / n);
        }
        values.push(ix.at(&place));
    }
    values.sort_unstable();
    values.dedup();
    let mut out = Runs::new();
    for value in values {
        match out.last_mut().filter(|run| run.from + run.n == value) {
            Some(run) => run.n += 1,
            None => out.push(Run::one(value)),
        }
    }
    Some(out)
}

/// The elements that are in one of some boxes. None: their runs are not counted together.
pub(super) fn union(boxes: &[&[Runs]]) -> Option<u64> {
    let Some(first) = boxes.first() else { return Some(0) };
    if boxes.len() == 1 {
        let each = first.iter().map(|runs| runs.iter().map(|run| run.n as u64).sum());
        return Some(each.fold(1, u64::saturating_mul));
    }
    if first.is_empty() {
        return Some(1);
    }
    let steps = || boxes.iter().flat_map(|b| &b[0]).map(|run| run.step);
    let step = steps().fold(1, i64::max);
    if step > APART || steps().any(|own| step % own != 0) {
        return None;
    }
    let (mut known, mut all): (BTreeMap<Vec<usize>, u64>, u64) = (BTreeMap::new(), 0);
    // Places with one remainder lie side by side once they are divided.
    for rest in 0..step {
        let stretches: Vec<(i64, i64, usize)> = stretches(boxes, step, rest);
        let mut ends: Vec<i64> = stretches.iter().flat_map(|(lo, hi, _)| [*lo, *hi]).collect();
        ends.sort_unstable();
        ends.dedup();
        for pair in ends.windows(2) {
            let here = stretches.iter().filter(|(lo, hi, _)| *lo <= pair[0] && pair[1] <= *hi);
            let here: Vec<usize> = here.map(|(_, _, k)| *k).collect();
            if here.is_empty() {
                continue;
            }
            let count = match known.get(&here) {
                Some(count) => *count,
                None => {
                    let rest: Vec<&[Runs]> = here.iter().map(|k| &boxes[*k][1..]).collect();
                    let count = union(&rest)?;
                    known.insert(here, count);
                    count
                }
            };
            all = all.saturating_add(count.saturating_mul((pair[1] - pair[0]) as u64));
        }
    }
    Some(all)
}

/// The stretches of boxes along their first axis whose places leave that remainder: from, to, and
/// the box.
fn stretches(boxes: &[&[Runs]], step: i64, rest: i64) -> Vec<(i64, i64, usize)> {
    let mut out = Vec::new();
    for (k, of) in boxes.iter().enumerate() {
        for run in &of[0] {
            let ahead = (rest - run.from).rem_euclid(step);
            let first = ahead / run.step;
            if ahead % run.step != 0 || first >= run.n {
                continue;
            }
            let n = (run.n - 1 - first) / (step / run.step) + 1;
            let lo = (run.from + ahead).div_euclid(step);
            out.push((lo, lo + n, k));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::traffic::asking;
    use aplomb_values::dag::Test;
    use std::collections::BTreeSet;

    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, n: i64) -> i64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            ((self.0 >> 33) % n as u64) as i64
        }

        /// An index that axis k moves, of each form that there is.
        fn index(&mut self, k: usize, extents: &[usize]) -> Ix {
            let by = [1, 1, 1, -1, 2, 3][self.roll(6) as usize];
            let ix = Ix::axis(k).times(by).offset(self.roll(5));
            match self.roll(6) {
                0 => ix.modulo(1 + self.roll(7), extents),
                1 => ix.div(1 + self.roll(4), extents),
                2 => ix.clamped(1, 2 + self.roll(5), extents),
                _ => ix,
            }
        }

        fn read(&mut self, extents: &[usize], rank: usize) -> Read {
            let own = |dice: &mut Dice, axis: usize| match dice.roll(8) {
                0 => Ix::constant(dice.roll(4)),
                1 => {
                    let other = dice.index((axis + 1) % extents.len(), extents);
                    dice.index(axis % extents.len(), extents).add(&other)
                }
                _ => dice.index(axis % extents.len(), extents),
            };
            let mut read = Read::new((0..rank).map(|axis| own(self, axis)));
            if self.roll(3) == 0 {
                let ix = read.ix[0].clone();
                let lo = self.roll(3);
                read.tests.push(Test { ix, lo, hi: lo + 1 + self.roll(6), fill: 0.0 });
            }
            read
        }
    }

    /// The elements that a read meets, one for each point that passes its tests.
    fn walk(read: &Read, extents: &[usize]) -> Vec<Vec<i64>> {
        let all: usize = extents.iter().product();
        let place = |mut k: usize| {
            let mut place = extents.to_vec();
            for (at, n) in place.iter_mut().zip(extents).rev() {
                (*at, k) = (k % n, k / n);
            }
            place
        };
        let passes =
            |at: &Vec<usize>| read.tests.iter().all(|t| (t.lo..t.hi).contains(&t.ix.at(at)));
        let met = |at: Vec<usize>| read.ix.iter().map(|ix| ix.at(&at)).collect();
        (0..all).map(place).filter(passes).map(met).collect()
    }

    #[test]
    fn what_some_reads_meet_is_their_union() {
        let (mut known, mut all) = (0, 0);
        for seed in 0..6000 {
            let mut dice = Dice(seed);
            let extents: Vec<usize> =
                (0..1 + dice.roll(3)).map(|_| 1 + dice.roll(6) as usize).collect();
            let rank = 1 + dice.roll(2) as usize;
            let reads: Vec<Read> =
                (0..1 + dice.roll(4)).map(|_| dice.read(&extents, rank)).collect();
            let asks: Vec<Asking<'_>> = reads.iter().map(|read| (read, &extents[..])).collect();
            let elements: BTreeSet<Vec<i64>> =
                reads.iter().flat_map(|read| walk(read, &extents)).collect();
            let says = || reads.iter().map(|r| r.text(extents.len())).collect::<Vec<_>>();
            if let Some(told) = counted(&asks) {
                known += 1;
                assert_eq!(told, elements.len() as u64, "seed {seed}: {extents:?} {:?}", says());
            }
            // As a matrix or a vector that holds all of its places.
            let shape: Vec<usize> = (0..rank).map(|_| 100).collect();
            let lies = elements.iter().flatten().all(|at| (0..100).contains(at));
            if lies {
                let told = met_exactly(&shape, &asks);
                let wanted = Some(elements.len() as u64);
                assert_eq!(told, wanted, "seed {seed}: {extents:?} {:?}", says());
            }
            for read in &reads {
                let points = walk(read, &extents).len() as u64;
                assert_eq!(asking(read, &extents), points, "seed {seed}: {extents:?} {:?}", says());
            }
            all += 1;
        }
        // The others have tests that leave no box, or a loop that moves two axes.
        assert!(known * 10 > all * 6, "{known} of {all}");
    }

    /// Long loops take as long as short ones; neighbours of a matrix meet it once, and the parts
    /// of an array that reads share count once.
    #[test]
    fn long_loops_are_counted_by_their_ends() {
        let n = 1 << 30;
        let at = |k: usize, c: i64| Ix::axis(k).offset(c);
        let own = |reads: &[Read], shape: &[usize], extents: &[usize]| {
            met(shape, &reads.iter().map(|read| (read, extents)).collect::<Vec<_>>())
        };
        let two = [Read::new([at(0, 0)]), Read::new([at(0, 3)])];
        assert_eq!(own(&two, &[4 * n], &[n]), n as u64 + 3);
        let apart =
            [Read::new([Ix::axis(0).times(2)]), Read::new([Ix::axis(0).times(2).offset(1)])];
        assert_eq!(own(&apart, &[4 * n], &[n]), 2 * n as u64);
        let side = 1 << 14;
        let four = [[0, 1], [2, 1], [1, 0], [1, 2]].map(|[i, j]| Read::new([at(0, i), at(1, j)]));
        let whole = (side + 2) * (side + 2) - 4;
        assert_eq!(own(&four, &[side + 9, side + 9], &[side, side]), whole as u64);
        // Windows of 200 by 200, of which those at the edges have fewer.
        let test = |k: usize, w: usize| Test {
            ix: Ix::axis(k).add(&Ix::axis(w)).offset(-100),
            lo: 0,
            hi: side as i64,
            fill: 0.0,
        };
        let mut windows = Read::new([(0, 2), (1, 3)].map(|(k, w)| test(k, w).ix));
        windows.tests = vec![test(0, 2), test(1, 3)];
        let line: u64 = (0..side as i64)
            .map(|i| (i + 100).min(side as i64) - (i - 100).max(0))
            .sum::<i64>() as u64;
        assert_eq!(asking(&windows, &[side, side, 200, 200]), line * line);
    }
}

//! Reads over short rows, or that repeat after a few elements: where a block of them lies is
//! written down once, and each block is picked from its first place on.
//!
//! A straight piece costs some nanoseconds however short it is; rows of four elements, a number for
//! each row, parts side by side in a row, or a short vector over and over are a piece every few
//! elements. Where the places of a block of rows less the place of its first are those of every
//! other, they are known beforehand, and so is what tests say of them.
//!
//! Why it is right: a block is so many rows along one axis. `shift` says by how much an index grows
//! with a block, or with one step of an axis around, if it is by the same everywhere. What does not
//! grow so and hangs on the axes around alone is the same all over a block, and is looked at anew
//! for each. Only such reads are patterns. Tests that no block changes are part of the block; those
//! that are lines cut it where they turn.

use super::convert::{Source, bits, with_type};
use aplomb_values::array::DType;
use aplomb_values::dag::Test;
use aplomb_values::dag::ix::{Atom, Ix};
use aplomb_values::dag::pieces::Pieces;
use aplomb_values::reference::unravel;
use std::iter::repeat_n;
use std::ops::Range;

/// Places that a block has at most, and one that is not affine: each is computed by itself.
const MOST: usize = 1024;
const FEW: usize = 512;
/// Longer rows are pieces, unless they repeat.
const SHORT: usize = 32;
/// Shorter runs are as quick one by one.
const LEAST_RUN: usize = 4;
/// A smaller domain is not worth a block.
const LEAST: usize = 512;
/// The place of what a test fills.
const FILL: i64 = i64::MIN;

/// The places of a block of rows, less its first.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    places: Vec<i64>,
    /// The numbers that stand where a place is `FILL`; empty: none is.
    fills: Vec<f64>,
    /// The least and the greatest place.
    ends: (i64, i64),
    /// Runs of so many places that are one place, or that follow each other (`true`); none: places
    /// go anywhere.
    runs: Option<(usize, bool)>,
    /// The outermost axis that a block has more than one of, and how many.
    axis: usize,
    of_axis: usize,
    /// Elements of the axes behind it.
    inner: usize,
    /// The growth of a place with one step along each axis around, and with a block.
    steps: Vec<i64>,
    /// The part of a place that hangs on the axes around and does not grow so: 0 in the first
    /// block.
    uneven: Ix,
    cuts: Option<Cuts>,
}

/// Tests that turn somewhere along an axis.
#[derive(Clone, Debug, PartialEq)]
struct Cuts {
    tests: Vec<Test>,
    /// The innermost axis that they hang on, and the elements of the axes behind it.
    along: usize,
    inner: usize,
    /// As many places as a block has, all filled, and for each test its fill as often.
    filled: Vec<i64>,
    fills: Vec<Vec<f64>>,
}

impl Cuts {
    /// None: some test is no line along axes.
    fn of(tests: Vec<Test>, extents: &[usize]) -> Option<Cuts> {
        let mentioned = |k: &usize| tests.iter().any(|t| t.ix.mentions(*k));
        let along = (0..extents.len()).rev().find(mentioned)?;
        let inner = extents[along + 1..].iter().product();
        tests.iter().all(|t| t.ix.is_affine()).then_some(Cuts {
            tests,
            along,
            inner,
            filled: Vec::new(),
            fills: Vec::new(),
        })
    }

    fn for_blocks_of(self, places: usize) -> Cuts {
        let fills = self.tests.iter().map(|t| repeat_n(t.fill, places).collect()).collect();
        Cuts { filled: repeat_n(FILL, places).collect(), fills, ..self }
    }

    /// From a flat index on: the test that fails, and for how many elements that is so.
    fn at(&self, extents: &[usize], start: usize, place: &mut [usize]) -> (Option<usize>, usize) {
        unravel(start, extents, place);
        let (fails, good) = Pieces::first_failing(&self.tests, place, self.along);
        let most = extents[self.along] - place[self.along];
        let steps = usize::try_from(good).map_or(most, |good| good.clamp(1, most));
        (fails, steps * self.inner - start % self.inner)
    }
}

/// A part of a block.
pub struct Part<'a> {
    /// The place in the source from which the others are counted.
    pub base: i64,
    pub places: &'a [i64],
    fills: &'a [f64],
    /// The places up to the end of the first run, those of each run behind it, and whether they
    /// follow each other.
    runs: Option<(usize, usize, bool)>,
}

/// The growth of an index with so many more along an axis; None: it differs from place to place.
fn shift(ix: &Ix, axis: usize, by: i64) -> Option<i64> {
    ix.terms.iter().try_fold(0i64, |sum, (times, atom)| {
        let own = match atom {
            Atom::Axis(k) => by * i64::from(usize::from(*k) == axis),
            Atom::Div(x, d) => shift(x, axis, by).filter(|s| s % d == 0)? / d,
            Atom::Mod(x, d) => shift(x, axis, by).filter(|s| s % d == 0).map(|_| 0)?,
            Atom::Clamp(x, ..) => shift(x, axis, by).filter(|s| *s == 0)?,
        };
        Some(sum + times * own)
    })
}

/// The divisors in an index of what grows with an axis, as their least common multiple. None: it
/// is large.
fn period(ix: &Ix, axis: usize, of: usize) -> Option<usize> {
    ix.terms.iter().try_fold(of, |of, (_, atom)| match atom {
        Atom::Axis(_) => Some(of),
        Atom::Clamp(x, ..) => period(x, axis, of),
        Atom::Div(x, d) | Atom::Mod(x, d) => {
            let of = period(x, axis, of)?;
            if !x.mentions(axis) {
                return Some(of);
            }
            let (d, mut a, mut b) = (usize::try_from(*d).ok()?, of, usize::try_from(*d).ok()?);
            while b > 0 {
                (a, b) = (b, a % b);
            }
            (of / a).checked_mul(d).filter(|all| *all <= FEW)
        }
    })
}

/// Runs of so many places, each of which is one place or goes on by one: what a row has of a number
/// for all of it, or of a vector.
fn runs(places: &[i64], run: usize) -> Option<(usize, bool)> {
    let by = |step: i64| {
        let mut rows = places.chunks(run);
        rows.all(|row| row.windows(2).all(|two| two[1].wrapping_sub(two[0]) == step))
    };
    match () {
        () if run < LEAST_RUN => None,
        () if by(0) => Some((run, false)),
        () => by(1).then_some((run, true)),
    }
}

impl Pattern {
    /// None: rows are long and do not repeat soon, the domain is small, or blocks differ.
    pub fn new(offset: &Ix, tests: &[Test], extents: &[usize]) -> Option<Pattern> {
        let last = *extents.last()?;
        let all = extents.iter().fold(1usize, |all, n| all.saturating_mul(*n));
        if last == 0 || all < LEAST {
            return None;
        }
        let straight = offset.is_affine();
        let most = if tests.is_empty() && straight { MOST } else { FEW };
        let (mut axis, mut inner) = (extents.len() - 1, 1);
        while axis > 0 && inner * extents[axis] <= most {
            inner *= extents[axis];
            axis -= 1;
        }
        let mut of_axis = extents[axis].min(most / inner);
        let several = of_axis < extents[axis];
        let moves = |ix: &Ix| {
            let ways = |k: usize| if k < axis { extents[k] > 1 } else { several };
            (0..=axis).any(|k| ways(k) && shift(ix, k, 1) != Some(0))
        };
        // A test that is a line cuts blocks; any other is the same in all of them. Cuts are looked
        // at first, and the first that fails counts.
        let all = tests;
        let (cuts, tests): (Vec<Test>, Vec<Test>) =
            tests.iter().cloned().partition(|t| t.ix.is_affine() && moves(&t.ix));
        let ordered = || all.iter().map(|t| &t.ix).eq(cuts.iter().chain(&tests).map(|t| &t.ix));
        if all.iter().any(|t| t.fill.to_bits() != all[0].fill.to_bits()) && !ordered() {
            return None;
        }
        let indices = || std::iter::once(offset).chain(tests.iter().map(|t| &t.ix));
        let plain = tests.is_empty() && straight;
        if of_axis < extents[axis] {
            let period = indices().try_fold(1, |of, ix| period(ix, axis, of))?;
            if last > SHORT && !(2..=SHORT).contains(&period) {
                return None;
            }
            of_axis -= of_axis % period;
        }
        if of_axis == 0 || last > SHORT && plain {
            return None;
        }
        // The blocks around, and those along the axis where it has several.
        let around = (0..axis).map(|k| (k, 1, extents[k] > 1));
        let moved: Vec<_> = around.chain([(axis, of_axis as i64, several)]).collect();
        let grows = |ix: &Ix| {
            let mut steps = moved.iter().map(|&(k, by, moves)| match moves {
                true => shift(ix, k, by),
                false => Some(0),
            });
            steps.by_ref().collect::<Option<Vec<i64>>>()
        };
        let is_around = |ix: &Ix| (axis..extents.len()).all(|k| !ix.mentions(k));
        let mut steps: Vec<i64> = moved.iter().map(|_| 0).collect();
        let mut uneven = Ix::constant(0);
        for (times, atom) in &offset.terms {
            let term = Ix { c: 0, terms: vec![(*times, atom.clone())].into() };
            match grows(&term) {
                Some(own) => steps.iter_mut().zip(own).for_each(|(all, own)| *all += own),
                None if is_around(&term) => uneven = uneven.add(&term),
                None => return None,
            }
        }
        if tests.iter().any(|t| grows(&t.ix).is_none_or(|own| own.iter().any(|by| *by != 0))) {
            return None;
        }
        let cuts = match cuts.is_empty() {
            true => None,
            false => Some(Cuts::of(cuts, extents)?),
        };
        let mut place: Vec<usize> = extents.iter().map(|_| 0).collect();
        uneven.c -= uneven.at(&place);
        let (mut places, mut fills) = (vec![offset.c], Vec::new());
        if plain {
            for (k, &n) in extents.iter().enumerate().skip(axis) {
                let n = if k == axis { of_axis } else { n };
                let step = offset.coefficient(k);
                places =
                    places.iter().flat_map(|p| (0..n as i64).map(move |j| p + step * j)).collect();
            }
        } else {
            places.clear();
            for _ in 0..of_axis * inner {
                let outside = tests.iter().find(|t| !(t.lo..t.hi).contains(&t.ix.at(&place)));
                places.push(outside.map_or_else(|| offset.at(&place), |_| FILL));
                fills.push(outside.map_or(0.0, |t| t.fill));
                aplomb_values::array::advance(&mut place, extents);
            }
            if !places.contains(&FILL) {
                fills.clear();
            }
        }
        let real = places.iter().copied().filter(|p| *p != FILL);
        let wider = |(lo, hi): (i64, i64), p: i64| (lo.min(p), hi.max(p));
        let ends = real.fold((i64::MAX, i64::MIN), wider);
        let worth = places.len() > last || last > SHORT;
        let runs = runs(&places, last).filter(|_| fills.is_empty());
        let cuts = cuts.map(|cuts| cuts.for_blocks_of(places.len()));
        worth.then_some(Pattern {
            places,
            fills,
            ends,
            runs,
            axis,
            of_axis,
            inner,
            steps,
            uneven,
            cuts,
        })
    }

    /// The parts of `len` elements from flat index `start` on, with where they begin in the range.
    pub fn parts(
        &self,
        extents: &[usize],
        (start, len): (usize, usize),
        mut each: impl FnMut(usize, Part),
    ) {
        let mut done = 0;
        let looks = self.cuts.is_some() || !self.uneven.terms.is_empty();
        let mut place: Vec<usize> = extents.iter().filter(|_| looks).map(|_| 0).collect();
        while done < len {
            let mut rest = (start + done) / self.inner;
            let at = rest % extents[self.axis];
            let first = at - at % self.of_axis;
            let mut base = self.steps[self.axis] * (first / self.of_axis) as i64;
            rest /= extents[self.axis];
            for k in (0..self.axis).rev() {
                base += self.steps[k] * (rest % extents[k]) as i64;
                rest /= extents[k];
            }
            let from = (at - first) * self.inner + (start + done) % self.inner;
            let ends = (extents[self.axis] - first).min(self.of_axis) * self.inner;
            let mut part: Range<usize> = from..ends.min(from + len - done);
            if let Some(cuts) = &self.cuts {
                let (fails, good) = cuts.at(extents, start + done, &mut place);
                part.end = part.end.min(part.start + good);
                if let Some(test) = fails {
                    let (places, fills) = (&cuts.filled[part.clone()], &cuts.fills[test][part]);
                    each(done, Part { base: 0, places, fills, runs: None });
                    done += places.len();
                    continue;
                }
            }
            if !self.uneven.terms.is_empty() {
                unravel(start + done, extents, &mut place);
                base += self.uneven.at(&place);
            }
            let fills = if self.fills.is_empty() { &[] } else { &self.fills[part.clone()] };
            let runs = self.runs.map(|(run, follow)| (run - part.start % run, run, follow));
            let places = &self.places[part];
            each(done, Part { base, places, fills, runs });
            done += places.len();
        }
    }

    /// The same, of places that lie in a source; false: one leaves it.
    pub fn parts_of(
        &self,
        extents: &[usize],
        source: Source,
        range: (usize, usize),
        mut each: impl FnMut(usize, Part),
    ) -> bool {
        let mut fits = true;
        self.parts(extents, range, |at, part| {
            let inside = |p: i64| p >= 0 && p < source.len as i64;
            // A block may have more places than are wanted of it.
            let (lo, hi) = self.ends;
            let all = lo <= hi && inside(part.base + lo) && inside(part.base + hi);
            fits &= all || part.places.iter().all(|p| *p == FILL || inside(part.base + p));
            if fits {
                each(at, part);
            }
        });
        fits
    }
}

impl Part<'_> {
    /// Items as they are seen through `as_it`, run after run. False: there are no runs. Safety: the
    /// places lie in the source, of whose type `from` is and from whose `base` it counts, and `out`
    /// holds as many.
    #[inline(always)]
    unsafe fn by_runs<T: Copy, U: Copy>(
        &self,
        from: *const T,
        out: *mut U,
        as_it: impl Fn(T) -> U,
    ) -> bool {
        let Some((first, run, follow)) = self.runs else { return false };
        let (mut at, mut n) = (0, first.min(self.places.len()));
        while at < self.places.len() {
            let place = self.places[at] as isize;
            let from = from.wrapping_offset(place);
            // SAFETY: the function's contract; the run's places are these, and nobody else knows
            // what is written.
            unsafe {
                let out = std::slice::from_raw_parts_mut(out.add(at), n);
                if follow {
                    let items = std::slice::from_raw_parts(from, n);
                    out.iter_mut().zip(items).for_each(|(out, item)| *out = as_it(*item));
                } else {
                    out.fill(as_it(*from));
                }
            }
            at += n;
            n = run.min(self.places.len() - at);
        }
        true
    }

    /// The fill that stands for the k-th place, if one does.
    #[inline]
    pub fn fill(&self, k: usize) -> Option<f64> {
        (self.places[k] == FILL).then(|| self.fills[k])
    }

    /// The items as f64. Safety: they lie in the source, and `out` holds as many.
    #[allow(clippy::useless_conversion)]
    #[inline]
    pub unsafe fn numbers(&self, source: Source, out: *mut f64) {
        with_type!(source.dtype, T => {
            let from = source.at.cast::<T>().wrapping_offset(self.base as isize);
            // SAFETY: the function's contract.
            if unsafe { self.by_runs(from, out, f64::from) } {
                return;
            }
            for (k, &place) in self.places.iter().enumerate() {
                // SAFETY: the function's contract; a fill is no place.
                unsafe {
                    *out.add(k) = match place {
                        FILL => self.fills[k],
                        place => f64::from(*from.wrapping_offset(place as isize)),
                    }
                };
            }
        });
    }

    /// The items as they are. Safety: as `numbers`.
    #[inline]
    pub unsafe fn items(&self, source: Source, out: *mut u8) {
        macro_rules! by_size {
            ($t:ty) => {{
                let from = source.at.cast::<$t>().wrapping_offset(self.base as isize);
                // SAFETY: as in `numbers`.
                if unsafe { self.by_runs(from, out.cast::<$t>(), |x| x) } {
                    return;
                }
                for (k, &place) in self.places.iter().enumerate() {
                    // SAFETY: as in `numbers`.
                    unsafe {
                        *out.cast::<$t>().add(k) = match place {
                            FILL => bits(source.dtype, self.fills[k]) as $t,
                            place => *from.wrapping_offset(place as isize),
                        }
                    };
                }
            }};
        }
        match source.dtype.size() {
            1 => by_size!(u8),
            2 => by_size!(u16),
            4 => by_size!(u32),
            _ => by_size!(u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Dice;
    use super::*;

    /// A number for all of a row, a vector for each row, and neither: items by runs are the items
    /// one by one, wherever a range begins.
    #[test]
    fn items_by_runs_are_the_items() {
        let held: Vec<i16> = (0..9_000).map(|k| (k * 7 % 30_011) as i16).collect();
        let source = Source { at: held.as_ptr().cast(), dtype: DType::I16, len: held.len() };
        let (mut dice, mut runs) = (Dice(3), 0);
        for (row, column) in [(1, 0), (0, 1), (2, 1), (3, 2)] {
            for width in [3, 4, 7, 16, 32] {
                let extents = [2_000, width];
                let at = Ix::constant(5).plus(&Ix::axis(0), row).plus(&Ix::axis(1), column);
                let Some(pattern) = Pattern::new(&at, &[], &extents) else { continue };
                runs += usize::from(pattern.runs.is_some());
                for _ in 0..20 {
                    let (start, len) = (dice.roll(1_000 * width), 1 + dice.roll(900));
                    let (mut wide, mut own) = (vec![0.0; len], vec![0i16; len]);
                    // SAFETY: a part is inside of the source, and of the range.
                    assert!(pattern.parts_of(&extents, source, (start, len), |k, part| unsafe {
                        part.numbers(source, wide[k..].as_mut_ptr());
                        part.items(source, own[k..].as_mut_ptr().cast());
                    }));
                    for k in 0..len {
                        let (i, j) = ((start + k) / width, (start + k) % width);
                        let item = held[5 + i * row as usize + j * column as usize];
                        assert_eq!((wide[k], own[k]), (f64::from(item), item), "{width} {k}");
                    }
                }
            }
        }
        assert!(runs >= 8, "{runs}");
    }

    /// An index of the axes, with divisions, remainders and clamps of short ones.
    fn random(dice: &mut Dice, extents: &[usize]) -> Ix {
        let mut out = Ix::constant(40_000);
        for k in 0..extents.len() {
            let axis = Ix::axis(k).offset(dice.roll(3) as i64);
            let by = dice.roll(7) as i64 - 3;
            out = match dice.roll(6) {
                0 => out.plus(&axis.modulo(1 + dice.roll(6) as i64, extents), by),
                1 => out.plus(&axis.div(1 + dice.roll(4) as i64, extents), by),
                2 => out.plus(&axis.clamped(1, 4, extents), by),
                _ => out.plus(&Ix::axis(k), by),
            };
        }
        out
    }

    #[test]
    fn parts_have_the_places_of_the_index_expression() {
        let mut dice = Dice(5);
        let (mut seen, mut filled, mut long, mut cut, mut uneven) = (0, 0, 0, 0, 0);
        for _ in 0..2_000 {
            let rank = 1 + dice.roll(4);
            let large = dice.roll(2).min(rank - 1);
            let extents: Vec<usize> = (0..rank)
                .map(|k| if k == large { 300 + dice.roll(5000) } else { 1 + dice.roll(9) })
                .collect();
            let offset = random(&mut dice, &extents);
            let tests: Vec<Test> = (0..dice.roll(3))
                .map(|k| {
                    let own = dice.roll(rank);
                    let ix = match dice.roll(3) {
                        0 => Ix::axis(own).modulo(2 + dice.roll(5) as i64, &extents),
                        _ => Ix::axis(own),
                    };
                    let lo = dice.roll(4) as i64 - 1;
                    Test { ix, lo, hi: lo + 1 + dice.roll(6) as i64, fill: k as f64 + 0.5 }
                })
                .collect();
            let Some(pattern) = Pattern::new(&offset, &tests, &extents) else { continue };
            let all: usize = extents.iter().product();
            let (start, len) = (dice.roll(all), 1 + dice.roll(4000));
            let len = len.min(all - start);
            let mut got = vec![Err(f64::NAN); len];
            let source = Source { at: std::ptr::null(), dtype: DType::I8, len: 80_000 };
            let fits = pattern.parts_of(&extents, source, (start, len), |at, part| {
                for (k, place) in part.places.iter().enumerate() {
                    got[at + k] = part.fill(k).map_or_else(|| Ok(part.base + place), Err);
                }
            });
            assert!(fits);
            for (k, got) in got.iter().enumerate() {
                let mut place = vec![0; rank];
                unravel(start + k, &extents, &mut place);
                let outside = tests.iter().find(|t| !(t.lo..t.hi).contains(&t.ix.at(&place)));
                let wanted = outside.map_or_else(|| Ok(offset.at(&place)), |t| Err(t.fill));
                assert_eq!(*got, wanted, "{extents:?} {offset:?} {tests:?} {k}");
            }
            let most = got.iter().filter_map(|p| p.ok()).max();
            if let Some(most) = most {
                let short = Source { len: most as usize, ..source };
                assert!(!pattern.parts_of(&extents, short, (start, len), |_, _| ()));
            }
            seen += 1;
            filled += usize::from(!pattern.fills.is_empty());
            cut += usize::from(pattern.cuts.is_some());
            uneven += usize::from(!pattern.uneven.terms.is_empty());
            long += usize::from(*extents.last().unwrap() > SHORT);
        }
        let counts = [seen, filled, long, cut, uneven];
        let least = [300, 50, 10, 50, 10];
        assert!(counts.iter().zip(least).all(|(n, least)| *n > least), "{counts:?}");
    }
}

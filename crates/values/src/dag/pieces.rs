//! Straight pieces of reads: along the last axis of a domain every `Ix` is piecewise a line, which
//! ends where a div or mod steps, a clamp holds or a test turns.

use super::Test;
use super::ix::{Atom, Ix};
use crate::reference::unravel;
use std::ops::Range;

/// An Ix from one place on: its value there, its step, and for how many elements that holds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    at: i64,
    step: i64,
    good: i64,
}

const EVER: i64 = i64::MAX / 4;

fn line(ix: &Ix, place: &[usize], last: usize) -> Line {
    let mut out = Line { at: ix.c, step: 0, good: EVER };
    for (k, atom) in &ix.terms {
        let part = piece(atom, place, last);
        out.at += k * part.at;
        out.step += k * part.step;
        out.good = out.good.min(part.good);
    }
    out
}

/// For how many elements a line from `at` by `step` stays in [lo, hi); it is inside.
fn stays(at: i64, step: i64, lo: i64, hi: i64) -> i64 {
    match step {
        0 => EVER,
        s if s > 0 => (hi - at + s - 1) / s,
        s => (at - lo) / -s + 1,
    }
}

fn piece(atom: &Atom, place: &[usize], last: usize) -> Line {
    match atom {
        Atom::Axis(k) => {
            let k = *k as usize;
            Line { at: place[k] as i64, step: i64::from(k == last), good: EVER }
        }
        Atom::Div(x, d) => {
            let x = line(x, place, last);
            let (at, low) = (x.at.div_euclid(*d), x.at.rem_euclid(*d));
            if x.step % d == 0 {
                return Line { at, step: x.step / d, good: x.good };
            }
            Line { at, step: 0, good: x.good.min(stays(low, x.step, 0, *d)) }
        }
        Atom::Mod(x, d) => {
            let x = line(x, place, last);
            let low = x.at.rem_euclid(*d);
            if x.step % d == 0 {
                return Line { at: low, step: 0, good: x.good };
            }
            Line { at: low, step: x.step, good: x.good.min(stays(low, x.step, 0, *d)) }
        }
        Atom::Clamp(x, lo, hi) => {
            let x = line(x, place, last);
            match () {
                () if x.at < *lo => Line {
                    at: *lo,
                    step: 0,
                    good: x.good.min(stays(x.at, x.step, i64::MIN / 4, *lo)),
                },
                () if x.at > *hi => Line {
                    at: *hi,
                    step: 0,
                    good: x.good.min(stays(x.at, x.step, hi + 1, i64::MAX / 4)),
                },
                () => Line { good: x.good.min(stays(x.at, x.step, *lo, hi + 1)), ..x },
            }
        }
    }
}

/// A straight piece of a read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece {
    /// Source elements at, at+step, ….
    From {
        /// The place of the first.
        at: i64,
        /// The way from each to the next.
        step: i64,
        /// The number of them.
        len: usize,
    },
    /// A number for each.
    Fill {
        /// The number.
        with: f64,
        /// The number of elements.
        len: usize,
    },
}

impl Piece {
    /// The number of its elements, at least 1.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        match self {
            Piece::From { len, .. } | Piece::Fill { len, .. } => *len,
        }
    }
}

/// An index of items in memory, and tests that tell where they are fills.
#[derive(Clone, Copy)]
pub struct Pieces<'a> {
    /// The item's place, where all tests hold.
    pub offset: &'a Ix,
    /// The tests.
    pub tests: &'a [Test],
}

impl Pieces<'_> {
    /// The first test that fails from `place` on, or None while all hold; and for how many elements
    /// along the axis `last` that is so.
    pub fn first_failing(tests: &[Test], place: &[usize], last: usize) -> (Option<usize>, i64) {
        let mut good = EVER;
        for (k, test) in tests.iter().enumerate() {
            let x = line(&test.ix, place, last);
            good = good.min(x.good);
            if x.at >= test.lo && x.at < test.hi {
                good = good.min(stays(x.at, x.step, test.lo, test.hi));
                continue;
            }
            let (lo, hi) =
                if x.at < test.lo { (i64::MIN / 4, test.lo) } else { (test.hi, i64::MAX / 4) };
            return (Some(k), good.min(stays(x.at, x.step, lo, hi)));
        }
        (None, good)
    }

    /// Calls `each(from the start of the range, piece)` for the pieces of a range of a domain's
    /// flat indices. `place` is room to work in.
    pub fn each(
        self,
        extents: &[usize],
        range: Range<usize>,
        place: &mut Vec<usize>,
        each: &mut impl FnMut(usize, Piece),
    ) {
        set(place, extents, range.start);
        let len = range.len();
        let Some(last) = extents.len().checked_sub(1) else {
            if len > 0 {
                each(0, self.at(place, usize::MAX, 1));
            }
            return;
        };
        let mut done = 0;
        while done < len {
            let left = (extents[last] - place[last]).min(len - done);
            let piece = self.at(place, last, left);
            each(done, piece);
            done += piece.len();
            place[last] += piece.len();
            let mut k = last;
            while place[k] >= extents[k] && k > 0 {
                place[k] = 0;
                k -= 1;
                place[k] += 1;
            }
        }
    }

    /// The first piece of a range.
    pub fn first(self, extents: &[usize], range: Range<usize>, place: &mut Vec<usize>) -> Piece {
        set(place, extents, range.start);
        match extents.len().checked_sub(1) {
            None => self.at(place, usize::MAX, 1),
            Some(last) => self.at(place, last, (extents[last] - place[last]).min(range.len())),
        }
    }

    fn at(self, place: &[usize], last: usize, most: usize) -> Piece {
        let (fails, good) = Self::first_failing(self.tests, place, last);
        let within = |good: i64| usize::try_from(good).map_or(most, |g| g.clamp(1, most));
        match fails {
            Some(k) => Piece::Fill { with: self.tests[k].fill, len: within(good) },
            None => {
                let x = line(self.offset, place, last);
                Piece::From { at: x.at, step: x.step, len: within(good.min(x.good)) }
            }
        }
    }
}

fn set(place: &mut Vec<usize>, extents: &[usize], start: usize) {
    place.clear();
    place.resize(extents.len(), 0);
    if start > 0 {
        unravel(start, extents, place);
    }
}

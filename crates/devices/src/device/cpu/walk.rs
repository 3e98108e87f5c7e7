//! Reads as runs: along the last axis of a domain every `Ix` is piecewise a straight line.
//!
//! | read | strategy |
//! |---|---|
//! | the domain's own order, shifted | `flat`: one run over everything, an f64 source is used in place |
//! | short rows, and what repeats after a few elements | picked by the places of a block (`pattern`) |
//! | anything else | `Walk`: the longest straight piece from a place on: div, mod, clamp and tests end pieces |
//!
//! Not here: tiles for transposes.

use super::convert::Source;
use super::pattern::{Part, Pattern};
use aplomb_values::dag::ix::{Atom, Ix, linear};
use aplomb_values::dag::{Read, Test};

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
        at: i64,
        step: i64,
        len: usize,
    },
    Fill {
        with: f64,
        len: usize,
    },
}

impl Piece {
    pub fn len(&self) -> usize {
        match self {
            Piece::From { len, .. } | Piece::Fill { len, .. } => *len,
        }
    }
}

/// The first failing test's fill from `place` on, or None while all hold; and for how many elements
/// that is so.
fn tested(tests: &[Test], place: &[usize], last: usize) -> (Option<f64>, i64) {
    let mut good = EVER;
    for test in tests {
        let x = line(&test.ix, place, last);
        good = good.min(x.good);
        if x.at >= test.lo && x.at < test.hi {
            good = good.min(stays(x.at, x.step, test.lo, test.hi));
            continue;
        }
        let (lo, hi) =
            if x.at < test.lo { (i64::MIN / 4, test.lo) } else { (test.hi, i64::MAX / 4) };
        return (Some(test.fill), good.min(stays(x.at, x.step, lo, hi)));
    }
    (None, good)
}

/// A read (or a list of tests, or an Ix) over a domain, ready to be walked.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    offset: Ix,
    tests: Vec<Test>,
    extents: Vec<usize>,
    /// The places of a block of short rows.
    pattern: Option<Pattern>,
}

impl Walk {
    pub fn of_read(read: &Read, source: &[usize], domain: &[usize]) -> Walk {
        Walk::new(linear(&read.ix, source, domain), &read.tests, domain)
    }

    pub fn of_tests(tests: &[Test], domain: &[usize]) -> Walk {
        Walk::new(Ix::constant(0), tests, domain)
    }

    pub fn of_ix(ix: &Ix, domain: &[usize]) -> Walk {
        Walk::new(ix.clone(), &[], domain)
    }

    fn new(offset: Ix, tests: &[Test], domain: &[usize]) -> Walk {
        let mut walk =
            Walk { offset, tests: tests.to_vec(), extents: domain.to_vec(), pattern: None };
        if walk.flat().is_none() && walk.constant().is_none() {
            walk.pattern = Pattern::new(&walk.offset, tests, domain);
        }
        walk
    }

    /// The element read at every place of the domain, if it is one and untested.
    pub fn constant(&self) -> Option<i64> {
        let axes = (0..self.extents.len()).filter(|&k| self.extents[k] > 1);
        let moves = axes.into_iter().any(|k| self.offset.mentions(k));
        let start = vec![0; self.extents.len()];
        (self.tests.is_empty() && !moves).then(|| self.offset.at(&start))
    }

    /// The place of the first element, if the rest follow in the domain's own order.
    pub fn flat(&self) -> Option<i64> {
        if !self.tests.is_empty() || !self.offset.is_affine() {
            return None;
        }
        let mut stride = 1i64;
        for (k, &n) in self.extents.iter().enumerate().rev() {
            if n > 1 && self.offset.coefficient(k) != stride {
                return None;
            }
            stride = stride.saturating_mul(n as i64);
        }
        Some(self.offset.c)
    }

    /// Along a row it is the same element.
    pub fn is_alike(&self) -> bool {
        let last = self.extents.len().checked_sub(1);
        self.tests.is_empty() && last.is_none_or(|last| !self.offset.mentions(last))
    }

    /// Along a row each element is the next one of the source.
    pub fn is_straight(&self) -> bool {
        let last = self.extents.len().checked_sub(1);
        let one = |last| self.offset.is_affine() && self.offset.coefficient(last) == 1;
        self.tests.is_empty() && self.pattern.is_none() && last.is_some_and(one)
    }

    /// The one fill of all tests, if it is one.
    pub fn fill(&self) -> Option<f64> {
        let first = self.tests.first()?.fill;
        self.tests.iter().all(|t| t.fill.to_bits() == first.to_bits()).then_some(first)
    }

    /// Calls `each` for the parts of `len` elements from flat index `start` on, with where they
    /// begin in the range. None: the read is no pattern; false: it leaves the source.
    pub fn picked(
        &self,
        source: Source,
        range: (usize, usize),
        each: impl FnMut(usize, Part),
    ) -> Option<bool> {
        let pattern = self.pattern.as_ref()?;
        Some(pattern.parts_of(&self.extents, source, range, each))
    }

    /// Whether the read is a pattern.
    pub fn repeats_soon(&self) -> bool {
        self.pattern.is_some()
    }

    /// The same of places that lie in no source. False: the read is no pattern.
    pub fn repeats(&self, range: (usize, usize), each: impl FnMut(usize, Part)) -> bool {
        self.pattern.as_ref().map(|pattern| pattern.parts(&self.extents, range, each)).is_some()
    }

    /// Calls `each(from the start of the range, piece)` for the pieces of `len` elements from flat
    /// index `start` on.
    pub fn pieces(
        &self,
        start: usize,
        len: usize,
        place: &mut Vec<usize>,
        mut each: impl FnMut(usize, Piece),
    ) {
        self.place(start, place);
        let Some(last) = self.extents.len().checked_sub(1) else {
            if len > 0 {
                each(0, self.piece(place, usize::MAX, 1));
            }
            return;
        };
        let mut done = 0;
        while done < len {
            let left = (self.extents[last] - place[last]).min(len - done);
            let piece = self.piece(place, last, left);
            each(done, piece);
            done += piece.len();
            place[last] += piece.len();
            let mut k = last;
            while place[k] >= self.extents[k] && k > 0 {
                place[k] = 0;
                k -= 1;
                place[k] += 1;
            }
        }
    }

    /// The first piece of `len` elements from flat index `start` on.
    pub fn first(&self, start: usize, len: usize, place: &mut Vec<usize>) -> Piece {
        self.place(start, place);
        match self.extents.len().checked_sub(1) {
            None => self.piece(place, usize::MAX, 1),
            Some(last) => self.piece(place, last, (self.extents[last] - place[last]).min(len)),
        }
    }

    fn place(&self, start: usize, place: &mut Vec<usize>) {
        place.clear();
        place.resize(self.extents.len(), 0);
        let mut rest = start;
        for (k, &n) in self.extents.iter().enumerate().rev() {
            place[k] = rest % n.max(1);
            rest /= n.max(1);
        }
    }

    fn piece(&self, place: &[usize], last: usize, most: usize) -> Piece {
        let (fill, good) = tested(&self.tests, place, last);
        let within = |good: i64| usize::try_from(good).map_or(most, |g| g.clamp(1, most));
        match fill {
            Some(with) => Piece::Fill { with, len: within(good) },
            None => {
                let x = line(&self.offset, place, last);
                Piece::From { at: x.at, step: x.step, len: within(good.min(x.good)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic small numbers.
    struct Dice(u64);
    impl Dice {
        fn roll(&mut self, n: i64) -> i64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((self.0 >> 33) as i64).rem_euclid(n)
        }

        fn ix(&mut self, domain: &[usize], depth: i64) -> Ix {
            let mut out = Ix::constant(self.roll(9) - 4);
            for k in 0..domain.len() {
                if self.roll(3) > 0 {
                    out = out.plus(&Ix::axis(k), self.roll(7) - 3);
                }
            }
            for _ in 0..self.roll(depth) {
                let d = self.roll(5) + 1;
                out = match self.roll(3) {
                    0 => out.div(d, domain),
                    1 => out.modulo(d, domain),
                    _ => out.clamped(-d, d, domain),
                };
                out =
                    out.plus(&Ix::axis(self.roll(domain.len() as i64) as usize), self.roll(3) - 1);
            }
            out
        }
    }

    #[test]
    fn pieces_agree_with_the_index_expression_everywhere() {
        let mut dice = Dice(3);
        for _ in 0..3_000 {
            let rank = 1 + dice.roll(3) as usize;
            let domain: Vec<usize> = (0..rank).map(|_| 1 + dice.roll(9) as usize).collect();
            let total: usize = domain.iter().product();
            let offset = dice.ix(&domain, 4);
            let test = |dice: &mut Dice| {
                let lo = dice.roll(9) - 4;
                Test {
                    ix: dice.ix(&domain, 3),
                    lo,
                    hi: lo + dice.roll(9),
                    fill: dice.roll(3) as f64,
                }
            };
            let tests: Vec<Test> = (0..dice.roll(3)).map(|_| test(&mut dice)).collect();
            let walk = Walk { offset, tests, extents: domain.clone(), pattern: None };
            let start = dice.roll(total as i64) as usize;
            let len = dice.roll((total - start) as i64 + 1) as usize;
            let mut seen = 0;
            let mut place = Vec::new();
            walk.pieces(start, len, &mut Vec::new(), |from, piece| {
                assert_eq!(from, seen);
                for k in 0..piece.len() {
                    walk.place(start + from + k, &mut place);
                    let wanted =
                        walk.tests.iter().find(|t| !(t.lo..t.hi).contains(&t.ix.at(&place)));
                    match piece {
                        Piece::Fill { with, .. } => assert_eq!(wanted.map(|t| t.fill), Some(with)),
                        Piece::From { at, step, .. } => {
                            assert!(wanted.is_none());
                            assert_eq!(at + step * k as i64, walk.offset.at(&place));
                        }
                    }
                }
                seen += piece.len();
            });
            assert_eq!(seen, len);
            if let Some(c) = walk.flat() {
                walk.place(start, &mut place);
                assert_eq!(walk.offset.at(&place), c + start as i64);
            }
        }
    }
}

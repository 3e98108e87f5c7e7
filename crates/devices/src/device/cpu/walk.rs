//! Reads as runs: along the last axis of a domain every `Ix` is piecewise a straight line.
//!
//! | read | strategy |
//! |---|---|
//! | the domain's own order, shifted | `flat`: one run over everything, an f64 source is used in place |
//! | short rows, and what repeats after a few elements | picked by the places of a block (`pattern`) |
//! | anything else | `Walk`: the longest straight piece from a place on: div, mod, clamp and tests end pieces |
//!
//! Rows that are columns of the source are read several at a time (`ahead`).

use super::ahead::Across;
use super::convert::Source;
use super::pattern::{Part, Pattern};
use aplomb_values::dag::ix::{Atom, Ix, linear};
pub use aplomb_values::dag::pieces::Piece;
use aplomb_values::dag::pieces::Pieces;
use aplomb_values::dag::{Read, Test};

/// A read (or a list of tests, or an Ix) over a domain, ready to be walked.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    offset: Ix,
    tests: Vec<Test>,
    extents: Vec<usize>,
    /// The same over the last axis as two, where the places hang on its quotient and remainder.
    parted: Option<Box<Parted>>,
    /// The places of a block of short rows.
    pattern: Option<Pattern>,
    /// The rows as columns of the source, where they are some.
    across: Option<Across>,
}

/// A walk over a domain whose last axis is two axes: `,` of the windows of a matrix is one axis,
/// whose quotient is the row and whose remainder the column. Flat indices are the same, and what
/// was a division is a place along an axis.
#[derive(Clone, Debug, PartialEq)]
struct Parted {
    offset: Ix,
    tests: Vec<Test>,
    extents: Vec<usize>,
}

impl Parted {
    /// None: nothing is divided by what divides the axis.
    fn of(offset: &Ix, tests: &[Test], extents: &[usize]) -> Option<Parted> {
        let (&n, around) = extents.split_last()?;
        let last = around.len();
        let divisor = |atom: &Atom| match atom {
            Atom::Div(x, d) | Atom::Mod(x, d) if x.is_axis(last) => usize::try_from(*d).ok(),
            _ => None,
        };
        let all = std::iter::once(offset).chain(tests.iter().map(|t| &t.ix));
        let d = all.flat_map(|ix| &ix.terms).find_map(|(_, atom)| divisor(atom))?;
        if d < 2 || n % d != 0 || n == d {
            return None;
        }
        let extents: Vec<usize> = around.iter().copied().chain([n / d, d]).collect();
        let mut axes: Vec<Ix> = (0..last).map(Ix::axis).collect();
        axes.push(Ix::axis(last).times(d as i64).add(&Ix::axis(last + 1)));
        let offset = offset.substitute(&axes, &extents);
        let own = |t: &Test| Test { ix: t.ix.substitute(&axes, &extents), ..t.clone() };
        Some(Parted { offset, tests: tests.iter().map(own).collect(), extents })
    }
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
        let (tests, extents) = (tests.to_vec(), domain.to_vec());
        let mut walk = Walk { offset, tests, extents, parted: None, pattern: None, across: None };
        if walk.flat().is_none() && walk.constant().is_none() {
            let parted = Parted::of(&walk.offset, &walk.tests, domain);
            walk.parted = parted.map(Box::new);
            let (Pieces { offset, tests }, extents) = walk.read();
            walk.pattern = Pattern::new(offset, tests, extents);
            walk.across = walk.columns();
        }
        walk
    }

    /// The rows as columns of the source. None: they are none.
    fn columns(&self) -> Option<Across> {
        let (&row, around) = self.extents.split_last()?;
        let before = around.iter().rposition(|n| *n > 1)?;
        let plain = self.tests.is_empty() && self.parted.is_none() && self.pattern.is_none();
        if !plain || !self.offset.is_affine() || self.offset.coefficient(before) != 1 {
            return None;
        }
        let step = self.offset.coefficient(around.len());
        Some(Across { row, beside: around[before], step })
    }

    /// As `columns`.
    pub fn across(&self) -> Option<&Across> {
        self.across.as_ref()
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
        Some(pattern.parts_of(self.read().1, source, range, each))
    }

    /// Whether the read is a pattern.
    pub fn repeats_soon(&self) -> bool {
        self.pattern.is_some()
    }

    /// The same of places that lie in no source. False: the read is no pattern.
    pub fn repeats(&self, range: (usize, usize), each: impl FnMut(usize, Part)) -> bool {
        let extents = self.read().1;
        self.pattern.as_ref().map(|pattern| pattern.parts(extents, range, each)).is_some()
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
        let (pieces, extents) = self.read();
        pieces.each(extents, start..start + len, place, &mut each);
    }

    /// The first piece of `len` elements from flat index `start` on.
    pub fn first(&self, start: usize, len: usize, place: &mut Vec<usize>) -> Piece {
        let (pieces, extents) = self.read();
        pieces.first(extents, start..start + len, place)
    }

    /// The places and the domain as they are walked.
    fn read(&self) -> (Pieces<'_>, &[usize]) {
        match &self.parted {
            Some(parted) => {
                let Parted { offset, tests, extents } = &**parted;
                (Pieces { offset, tests }, extents)
            }
            None => (Pieces { offset: &self.offset, tests: &self.tests }, &self.extents),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_values::reference::unravel;

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
        let (mut dice, mut in_two) = (Dice(3), 0);
        for _ in 0..3_000 {
            let rank = 1 + dice.roll(3) as usize;
            let mut domain: Vec<usize> = (0..rank).map(|_| 1 + dice.roll(9) as usize).collect();
            let (d, rows) = (2 + dice.roll(3), 2 + dice.roll(3));
            let raveled = dice.roll(4) == 0;
            if raveled {
                domain[rank - 1] = (d * rows) as usize;
            }
            let total: usize = domain.iter().product();
            let mut offset = dice.ix(&domain, 4);
            if raveled {
                let axis = Ix::axis(rank - 1);
                offset = offset.plus(&axis.div(d, &domain), dice.roll(7) - 3);
                offset = offset.plus(&axis.modulo(d, &domain), dice.roll(7) - 3);
            }
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
            // As it is, or with the last axis in two where it is divided.
            let (extents, pattern) = (domain.clone(), None);
            let parted = Parted::of(&offset, &tests, &domain).map(Box::new);
            let parts = usize::from(parted.is_some());
            let walk = Walk { offset, tests, extents, parted, pattern, across: None };
            let start = dice.roll(total as i64) as usize;
            let len = dice.roll((total - start) as i64 + 1) as usize;
            let mut seen = 0;
            let mut place = vec![0; rank];
            walk.pieces(start, len, &mut Vec::new(), |from, piece| {
                assert_eq!(from, seen);
                for k in 0..piece.len() {
                    unravel(start + from + k, &walk.extents, &mut place);
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
            in_two += parts;
            if let Some(c) = walk.flat() {
                unravel(start, &walk.extents, &mut place);
                assert_eq!(walk.offset.at(&place), c + start as i64);
            }
        }
        assert!(in_two > 100, "{in_two} axes are two");
    }
}

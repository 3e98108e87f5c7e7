//! Grades and searches of numbers (`dag::Lib`) in the parts that a device shares out; characters
//! are code points.
//!
//! Row: ACC-27. A grade is a sort of `Cell`s by a strict order, so its result is one and the same
//! however it is sorted. A search is a table of all that is there, in one share or several, each
//! made from the whole list; lookups are independent of each other.

pub use super::places::Places;
use super::whole::Given;
use crate::array::{View, elements};
use crate::dag::Lib;
use std::cmp::Ordering;

/// Whether two numbers are equal under the tolerance `ct`; ∞ and NaN are equal to nothing but, for
/// ∞, itself.
pub fn same(x: f64, y: f64, ct: f64) -> bool {
    x == y || (x - y).abs() <= ct * x.abs().max(y.abs()) && x.is_finite() && y.is_finite()
}

/// Items that are compared before anybody asks whether one was equal.
const BLOCK: usize = 256;

/// The first place of a number that equals x. Blocks are compared whole, so that the compiler makes
/// the loop wide; then one is gone through.
pub fn first_of<T: Copy + Into<f64>>(items: &[T], x: f64, ct: f64) -> Option<usize> {
    // All that is equal lies there: |y-x| is at most ct of the greater of both, which is no more
    // than 1÷1-ct of x. An infinity is near nothing.
    let most = if x.is_finite() { 2.0 * ct * x.abs() } else { 0.0 };
    let (low, high) = (x - most, x + most);
    let near = |item: &T| {
        let y: f64 = (*item).into();
        (y >= low) & (y <= high)
    };
    let mut blocks = items.chunks(BLOCK).enumerate();
    let any = |block: &[T]| block.iter().fold(false, |any, item| any | near(item));
    let (k, block) = blocks.find(|(_, block)| any(block))?;
    block.iter().position(|item| same((*item).into(), x, ct)).map(|at| k * BLOCK + at).or_else(
        || {
            // What was near is not equal: on behind this block.
            let next = (k + 1) * BLOCK;
            items.get(next..).and_then(|rest| first_of(rest, x, ct)).map(|at| next + at)
        },
    )
}

/// The first place in a buffer of a number that equals x, which may be a character's code point.
pub fn first_in(view: View<'_>, x: f64, ct: f64) -> Option<usize> {
    match view {
        View::Bool(v) => first_of(v, x, ct),
        View::I8(v) => first_of(v, x, ct),
        View::I16(v) => first_of(v, x, ct),
        View::I32(v) => first_of(v, x, ct),
        View::F32(v) => first_of(v, x, ct),
        View::F64(v) => first_of(v, x, ct),
        View::Complex(_) | View::Char(_) => view.each().position(|y| same(y, x, ct)),
    }
}

/// A major cell: the key of its first number above, its place below. Where cells are numbers these
/// alone are the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Cell(u128);

impl Cell {
    /// The key of its first number, without a sign.
    pub fn key(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// The place of the cell, from 0 on.
    pub fn at(self) -> usize {
        self.0 as u64 as usize
    }
}

/// The order of an array's major cells.
#[derive(Clone, Copy)]
pub struct Grading<'a> {
    items: &'a [f64],
    count: usize,
    width: usize,
    /// Descending: all keys are turned around, places are not.
    flip: u64,
}

impl<'a> Grading<'a> {
    /// Of a shape with at least one axis.
    pub fn new(of: Given<'a>, down: bool) -> Grading<'a> {
        let (count, width) =
            (of.shape.first().copied().unwrap_or(1), elements(of.shape.get(1..).unwrap_or(&[])));
        Grading { items: of.items, count, width, flip: if down { u64::MAX } else { 0 } }
    }

    /// The number of cells.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether cells are in order as they compare themselves; else `order` has to look at what else
    /// is in them.
    pub fn by_cell(&self) -> bool {
        self.width < 2
    }

    /// The cell at a place.
    pub fn cell(&self, at: usize) -> Cell {
        let first = if self.width == 0 { 0 } else { self.key(self.items[at * self.width]) };
        Cell(u128::from(first) << 64 | at as u128)
    }

    /// By all their numbers, then by their places: never `Equal` for two cells.
    pub fn order(&self, a: &Cell, b: &Cell) -> Ordering {
        let of = |c: &Cell| &self.items[c.at() * self.width..(c.at() + 1) * self.width];
        let rest = || of(a).iter().map(|x| self.key(*x)).cmp(of(b).iter().map(|x| self.key(*x)));
        (a.0 >> 64).cmp(&(b.0 >> 64)).then_with(rest).then(a.at().cmp(&b.at()))
    }

    fn key(&self, x: f64) -> u64 {
        order_key(x) ^ self.flip
    }
}

/// An unsigned number for each number, in the total order: from −∞ to ∞, then NaN. −0 is 0, and
/// NaN is one value, for which of them an operation gives depends on how it was compiled.
#[inline]
pub fn order_key(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits();
    // All bits of a negative number are turned around, of others the sign alone.
    let turned = (bits as i64 >> 63) as u64 | 1 << 63;
    if x.is_nan() { u64::MAX } else { bits ^ turned }
}

/// Whether a number is another than its key says: ¯0 and each NaN share theirs. Without a branch,
/// for loops over many.
#[inline]
pub fn shares_key(x: &f64) -> bool {
    x.is_nan() | (x.to_bits() == 1 << 63)
}

/// The number of a key; of those that have one key, 0 and a NaN.
#[inline]
pub fn ordered(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key ^ 1 << 63 } else { !key })
}

/// The answer of a search for the first place among so many.
pub fn found_place(of: Lib, first: Option<usize>, among: usize) -> f64 {
    match of {
        Lib::Member => f64::from(u8::from(first.is_some())),
        _ => first.unwrap_or(among) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) as usize % n
        }
    }

    #[test]
    fn the_total_order_has_one_zero_and_one_nan() {
        let numbers = [f64::NEG_INFINITY, -1.0, 0.0, 5e-324, 1.0, f64::INFINITY, f64::NAN];
        assert!(numbers.is_sorted_by(|x, y| order_key(*x) < order_key(*y)));
        for x in [0.0, f64::NAN] {
            assert_eq!(order_key(x.copysign(-1.0)), order_key(x.copysign(1.0)), "{x}");
        }
    }

    const LARGEST: f64 = 1.0 / (1u64 << 32) as f64;

    #[test]
    fn a_search_finds_the_first_that_is_equal_and_no_other() {
        let mut dice = Dice(3);
        let bases = [
            1.0,
            2.0,
            -1.999_999_999,
            3e-310,
            -5e-324,
            1e300,
            f64::MAX,
            0.1,
            4096.0,
            f64::INFINITY,
            -0.0,
        ];
        for round in 0..3_000 {
            let ct = [0.0, LARGEST, 1e-14, 1e-10, 1e-16, 1e-300][dice.roll(6)];
            let base = bases[dice.roll(bases.len())];
            // A few tolerances around the base, where some are equal and some are not; whole
            // numbers, and no numbers.
            let one = |dice: &mut Dice| match dice.roll(10) {
                0 => dice.roll(5) as f64 - 2.0,
                1 => [0.0, -0.0, f64::NAN, f64::NEG_INFINITY, f64::MIN][dice.roll(5)],
                _ => base * (1.0 + (dice.roll(4_001) as f64 - 2_000.0) / 1_000.0 * ct.max(1e-16)),
            };
            let have: Vec<f64> = (0..dice.roll(30)).map(|_| one(&mut dice)).collect();
            let count = 1 + round % 4;
            let mut shares: Vec<_> = (0..count).map(|k| Places::new(&have, ct, k, count)).collect();
            let middle = dice.roll(have.len() + 1);
            for share in &mut shares {
                share.add(0..middle);
                share.add(middle..have.len());
            }
            for _ in 0..20 {
                let x = one(&mut dice);
                let first = have.iter().position(|y| same(*y, x, ct));
                assert_eq!(
                    Places::first(&shares, x),
                    first,
                    "{x:e} in {have:?} under {ct:e}, {count} shares"
                );
            }
        }
    }

    #[test]
    fn numbers_that_differ_by_the_largest_tolerance_are_found() {
        let (x, y) = (2.0 - 1e-12, (2.0 - 1e-12) * (1.0 - LARGEST * 0.999));
        assert!(same(x, y, LARGEST));
        let have = [7.0, y];
        let mut all = [Places::new(&have, LARGEST, 0, 1)];
        all[0].add(0..2);
        assert_eq!(Places::first(&all, x), Some(1));
    }

    #[test]
    fn a_grade_is_the_stable_order_of_the_numbers() {
        let mut dice = Dice(4);
        let some = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            5e-324,
            -5e-324,
        ];
        for _ in 0..500 {
            let (n, width) = (dice.roll(40), dice.roll(4));
            let items: Vec<f64> = (0..n * width).map(|_| some[dice.roll(some.len())]).collect();
            let row = |k: usize| &items[k * width..(k + 1) * width];
            let order = |a: usize, b: usize| row(a).partial_cmp(row(b)).unwrap();
            for down in [false, true] {
                let mut wanted: Vec<usize> = (0..n).collect();
                wanted.sort_by(|&a, &b| if down { order(b, a) } else { order(a, b) });
                let of = Given { items: &items, shape: &[n, width] };
                assert_eq!(super::super::whole::grade(of, down), wanted, "{items:?}");
            }
        }
    }
}

//! Reads: source element = one Ix per source axis, guarded by tests.
//!
//! Rows: ACL-08…16, ACL-38. The first test that fails gives its fill and nothing is loaded. The
//! four out-of-bounds modes are how a read prints: none, wrap (mod), clamp, default (tests).

use super::ix::{Atom, Extents, Ix};
use std::hash::{Hash, Hasher};

/// A condition on the reader's place, with the value that stands where it fails.
#[derive(Clone, Debug)]
pub struct Test {
    /// The index that is tested.
    pub ix: Ix,
    /// The element exists while lo ≤ ix < hi.
    pub lo: i64,
    /// The first index that is too large.
    pub hi: i64,
    /// A number or a character's code point.
    pub fill: f64,
}

/// A place in a source for each place of its reader: an index for each axis of the source, and
/// tests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Read {
    /// The index of each axis.
    pub ix: Vec<Ix>,
    /// The tests, in the order they are made.
    pub tests: Vec<Test>,
}

impl PartialEq for Test {
    fn eq(&self, o: &Test) -> bool {
        (&self.ix, self.lo, self.hi, self.fill.to_bits()) == (&o.ix, o.lo, o.hi, o.fill.to_bits())
    }
}

impl Eq for Test {}

impl Hash for Test {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.ix, self.lo, self.hi, self.fill.to_bits()).hash(state);
    }
}

impl Read {
    /// A composed read that weighs more is two reads, with a buffer between them: a chain of moves
    /// has no greatest length, its text has. (No plan of the seeds and examples has a read of more
    /// than 24.)
    pub const HEAVIEST: usize = 24;

    /// A read without tests.
    pub fn new(ix: impl IntoIterator<Item = Ix>) -> Read {
        Read { ix: ix.into_iter().collect(), tests: Vec::new() }
    }

    /// The read of the element at the reader's own place.
    pub fn identity(rank: usize) -> Read {
        Read::new((0..rank).map(Ix::axis))
    }

    /// Steps that a point takes to find its place: atoms, those inside of others included, and
    /// tests.
    pub fn weight(&self) -> usize {
        self.ix.iter().chain(self.tests.iter().map(|t| &t.ix)).map(Ix::weight).sum::<usize>()
            + self.tests.len()
    }

    /// Of a source that is read where only values tell: no point of a loop says where.
    pub fn anywhere(rank: usize) -> Read {
        Read::new((0..rank).map(|_| Ix::constant(-1)))
    }

    /// Whether it reads the element at the reader's own place, always.
    pub fn is_identity(&self) -> bool {
        self.tests.is_empty() && self.ix.iter().enumerate().all(|(k, ix)| ix.is_axis(k))
    }

    /// This read (over `mid`-shaped results) seen through an outer one whose results have
    /// `extents`: the outer tests come first; tests that the range proves vanish.
    pub fn after(&self, outer: &Read, extents: Extents) -> Read {
        let mut tests = outer.tests.clone();
        for t in &self.tests {
            let ix = t.ix.substitute(&outer.ix, extents);
            let (lo, hi) = ix.range(extents);
            if lo < t.lo || hi >= t.hi {
                tests.push(Test { ix, ..*t });
            }
        }
        Read { ix: self.ix.iter().map(|ix| ix.substitute(&outer.ix, extents)).collect(), tests }
    }

    /// The box of points, from and to on each axis, outside of which some test fails; and whether
    /// inside all hold.
    pub fn held(&self, extents: Extents) -> (Vec<(i64, i64)>, bool) {
        let mut boxed: Vec<(i64, i64)> = extents.iter().map(|&n| (0, n as i64)).collect();
        let mut exact = true;
        self.tests.iter().for_each(|t| exact &= clip(&t.ix, t.lo, t.hi, &mut boxed));
        (boxed, exact)
    }

    /// The number of points of a loop that pass the tests: exactly where they leave a box, else all
    /// of the box.
    pub fn points(&self, extents: Extents) -> u64 {
        let (boxed, _) = self.held(extents);
        boxed.iter().fold(1, |n, (lo, hi)| n.saturating_mul((hi - lo).max(0) as u64))
    }

    /// The number of elements of a source of this shape that the points of a loop meet, each
    /// counted once: at most so many, and exactly so many where each axis of the source is moved
    /// evenly by axes of the loop that no other moves with.
    pub fn distinct(&self, shape: &[usize], extents: Extents) -> u64 {
        let all = |extents: &[usize]| extents.iter().fold(1u64, |n, &e| n.saturating_mul(e as u64));
        if self.is_identity() && shape == extents {
            return all(extents);
        }
        if self.is_anywhere() {
            return all(extents).min(all(shape));
        }
        let (boxed, _) = self.held(extents);
        let inner: Vec<usize> = boxed.iter().map(|(lo, hi)| (hi - lo).max(0) as usize).collect();
        if inner.contains(&0) {
            return 0;
        }
        let from: Vec<Ix> =
            boxed.iter().enumerate().map(|(k, (lo, _))| Ix::axis(k).offset(*lo)).collect();
        let axes = self
            .ix
            .iter()
            .zip(shape)
            .map(|(ix, n)| ix.substitute(&from, &inner).values(&inner, *n));
        let moved = (0..inner.len()).filter(|k| self.ix.iter().any(|ix| ix.mentions(*k)));
        axes.fold(1, u64::saturating_mul)
            .min(moved.fold(1, |n, k| n.saturating_mul(inner[k] as u64)))
    }

    /// Whether only values tell where.
    pub fn is_anywhere(&self) -> bool {
        !self.ix.is_empty() && self.ix.iter().all(|ix| ix.is_constant() && ix.c == -1)
    }

    /// Whether each Ix stays inside its axis wherever all tests hold.
    pub fn in_bounds(&self, from: &[usize], extents: &[usize]) -> Result<(), String> {
        if self.ix.len() != from.len() {
            return Err(format!("{} indices for {} axes", self.ix.len(), from.len()));
        }
        if extents.contains(&0) {
            return Ok(());
        }
        let (boxed, exact) = self.held(extents);
        if boxed.iter().any(|(lo, hi)| lo >= hi) {
            return Ok(());
        }
        let sides: Vec<usize> = boxed.iter().map(|(lo, hi)| (hi - lo) as usize).collect();
        let shifted: Vec<Ix> =
            boxed.iter().enumerate().map(|(k, (lo, _))| Ix::axis(k).offset(*lo)).collect();
        for (ix, &n) in self.ix.iter().zip(from) {
            let (lo, hi) = ix.substitute(&shifted, &sides).range(&sides);
            // What tests of other forms leave is no box; that is left to the device's own checks.
            let provable = exact && (self.tests.is_empty() || ix.is_affine());
            if provable && (lo < 0 || hi >= n as i64) {
                return Err(format!(
                    "reads {lo}…{hi} of an axis of {n} by {}",
                    self.text(extents.len())
                ));
            }
        }
        Ok(())
    }

    /// The out-of-bounds mode as it prints (ACL-16).
    pub fn oob(&self) -> Option<String> {
        let has =
            |what: fn(&Atom) -> bool| self.ix.iter().any(|ix| ix.terms.iter().any(|t| what(&t.1)));
        match () {
            () if !self.tests.is_empty() => {
                let mut fills: Vec<String> = Vec::new();
                for t in &self.tests {
                    let fill = crate::array::format::number(t.fill);
                    if !fills.contains(&fill) {
                        fills.push(fill);
                    }
                }
                Some(format!("default({})", fills.join(",")))
            }
            () if has(|a| matches!(a, Atom::Clamp(..))) => Some("clamp".into()),
            () if has(|a| matches!(a, Atom::Mod(..))) => Some("wrap".into()),
            () => None,
        }
    }

    /// `(i,j)→(j,i)`, tests behind a bar.
    pub fn text(&self, rank: usize) -> String {
        let from: Vec<_> = (0..rank).map(super::ix::axis_name).collect();
        let to: Vec<_> = self.ix.iter().map(Ix::text).collect();
        let mut out = format!("({})→({})", from.join(","), to.join(","));
        for t in &self.tests {
            out += &format!(" | {}≤{}<{} else {}", t.lo, t.ix.text(), t.hi, t.fill);
        }
        out
    }
}

/// Clips a box to the points where lo ≤ ix < hi. False: it could not, for they are no box.
fn clip(ix: &Ix, lo: i64, hi: i64, boxed: &mut [(i64, i64)]) -> bool {
    let (lo, hi) = (lo.saturating_sub(ix.c), hi.saturating_sub(ix.c));
    let [(k, atom)] = ix.terms.as_slice() else { return ix.terms.is_empty() && lo <= 0 && 0 < hi };
    // Of multiples, those within are from the first at or above the bound on.
    let above = |bound: i64, k: i64| -(bound.saturating_neg().div_euclid(k));
    let (lo, hi) = match *k {
        0 => return false,
        k if k > 0 => (above(lo, k), above(hi, k)),
        k => (above(1i64.saturating_sub(hi), -k), above(1i64.saturating_sub(lo), -k)),
    };
    match atom {
        Atom::Axis(axis) => {
            let Some(range) = boxed.get_mut(*axis as usize) else { return false };
            *range = (range.0.max(lo), range.1.min(hi));
            true
        }
        Atom::Div(x, d) => clip(x, lo.saturating_mul(*d), hi.saturating_mul(*d), boxed),
        Atom::Mod(..) | Atom::Clamp(..) => false,
    }
}

//! Index expressions: where in a source a result element is read.
//!
//! `Ix = c + sum k*atom`, atom = a result axis, `div`, `mod` or `clamp` of an Ix; floor semantics,
//! divisors positive. The constructors keep a normal form by the rules that stand beside them,
//! given the extents of the result's axes, so that a chain of transforms becomes one read and equal
//! reads compare equal. Each Ix has a range by interval arithmetic.

use smallvec::SmallVec;

/// A linear function of atoms with whole coefficients: the place along one axis of a source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ix {
    /// The constant term.
    pub c: i64,
    /// Sorted by atom, no zero coefficient, no atom twice.
    pub terms: SmallVec<[(i64, Atom); 2]>,
}

/// A term of an index: an axis, or a function of an index that is not linear.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// The place along the k-th axis of the result.
    Axis(u8),
    /// The quotient by a positive number, rounded down.
    Div(Box<Ix>, i64),
    /// The remainder of a division by a positive number, not negative.
    Mod(Box<Ix>, i64),
    /// The index, but at least the first number and at most the second.
    Clamp(Box<Ix>, i64, i64),
}

impl Atom {
    /// Whether it depends on an axis.
    pub fn mentions(&self, axis: usize) -> bool {
        match self {
            Atom::Axis(k) => *k as usize == axis,
            Atom::Div(x, _) | Atom::Mod(x, _) | Atom::Clamp(x, _, _) => x.mentions(axis),
        }
    }
}

/// Extents of the axes an Ix speaks of.
pub type Extents<'a> = &'a [usize];

impl Ix {
    /// The index that is this number everywhere.
    pub fn constant(c: i64) -> Ix {
        Ix { c, terms: SmallVec::new() }
    }

    /// The place along the k-th axis.
    pub fn axis(k: usize) -> Ix {
        Ix::atom(Atom::Axis(k as u8))
    }

    fn atom(atom: Atom) -> Ix {
        Ix { c: 0, terms: SmallVec::from_iter([(1, atom)]) }
    }

    /// Atoms in it, those inside of others included.
    pub fn weight(&self) -> usize {
        let own = |a: &Atom| match a {
            Atom::Axis(_) => 1,
            Atom::Div(x, _) | Atom::Mod(x, _) | Atom::Clamp(x, ..) => 1 + x.weight(),
        };
        self.terms.iter().map(|t| own(&t.1)).sum()
    }

    /// Whether it is the same everywhere.
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether it is the place along the k-th axis, no more.
    pub fn is_axis(&self, k: usize) -> bool {
        self.c == 0 && matches!(self.terms.as_slice(), [(1, Atom::Axis(a))] if *a as usize == k)
    }

    /// Only axes, no div, mod or clamp.
    pub fn is_affine(&self) -> bool {
        self.terms.iter().all(|(_, a)| matches!(a, Atom::Axis(_)))
    }

    /// The coefficient of an axis outside of any div, mod, clamp.
    pub fn coefficient(&self, axis: usize) -> i64 {
        let own = |(k, a): &(i64, Atom)| if *a == Atom::Axis(axis as u8) { *k } else { 0 };
        self.terms.iter().map(own).sum()
    }

    /// Whether it depends on an axis.
    pub fn mentions(&self, axis: usize) -> bool {
        self.terms.iter().any(|(_, a)| a.mentions(axis))
    }

    /// The sum of two indices.
    pub fn add(&self, other: &Ix) -> Ix {
        self.plus(other, 1)
    }

    /// The index moved by `c`.
    pub fn offset(&self, c: i64) -> Ix {
        Ix { c: self.c + c, terms: self.terms.clone() }
    }

    /// `self + k*other`.
    pub fn plus(&self, other: &Ix, k: i64) -> Ix {
        let mut terms = self.terms.clone();
        for (m, atom) in &other.terms {
            match terms.iter_mut().find(|(_, a)| a == atom) {
                Some(term) => term.0 += k * m,
                None => terms.push((k * m, atom.clone())),
            }
        }
        terms.retain(|(m, _)| *m != 0);
        terms.sort_by(|a, b| a.1.cmp(&b.1));
        Ix { c: self.c + k * other.c, terms }
    }

    /// The index times `k`.
    pub fn times(&self, k: i64) -> Ix {
        if k == 0 {
            return Ix::constant(0);
        }
        Ix { c: self.c * k, terms: self.terms.iter().map(|(m, a)| (m * k, a.clone())).collect() }
    }

    /// Least and greatest value over the box of `extents`; meaningless (and harmless) when an
    /// extent is 0.
    pub fn range(&self, extents: Extents) -> (i64, i64) {
        let (mut lo, mut hi) = (self.c, self.c);
        for (k, atom) in &self.terms {
            let (a, b) = match atom {
                Atom::Axis(x) => {
                    (0, extents.get(*x as usize).map_or(0, |&n| (n as i64 - 1).max(0)))
                }
                Atom::Div(x, d) => {
                    let (a, b) = x.range(extents);
                    (a.div_euclid(*d), b.div_euclid(*d))
                }
                Atom::Mod(x, d) => {
                    let (a, b) = x.range(extents);
                    if a.div_euclid(*d) == b.div_euclid(*d) {
                        (a.rem_euclid(*d), b.rem_euclid(*d))
                    } else {
                        (0, d - 1)
                    }
                }
                Atom::Clamp(x, l, h) => {
                    let (a, b) = x.range(extents);
                    (a.clamp(*l, *h), b.clamp(*l, *h))
                }
            };
            lo += if *k >= 0 { k * a } else { k * b };
            hi += if *k >= 0 { k * b } else { k * a };
        }
        (lo, hi)
    }

    /// The number of values below `end` that it has over the box of `extents`, none of which is 0:
    /// at most so many, and exactly so many where it moves evenly.
    pub fn values(&self, extents: Extents, end: usize) -> u64 {
        let (lo, hi) = self.range(extents);
        let (lo, hi) = (lo.max(0), hi.min(end as i64 - 1));
        // All of them are as far from c as a multiple of what divides every step.
        let step = self.terms.iter().fold(0, |d, (k, _)| gcd(d, k.unsigned_abs())).max(1);
        let apart =
            hi.checked_sub(lo).and_then(|n| u64::try_from(n).ok()).map_or(0, |n| n / step + 1);
        let moved = extents.iter().enumerate().filter(|(k, _)| self.mentions(*k));
        apart.min(moved.fold(1, |n, (_, &e)| n.saturating_mul(e as u64)))
    }

    /// Rule 1: `self = d*Q + R` with the terms and constant that d divides in Q, and R shifted
    /// towards [0,d).
    fn split(&self, d: i64, extents: Extents) -> (Ix, Ix) {
        let whole = |k: i64| k.rem_euclid(d) == 0;
        let mut q = Ix::constant(self.c.div_euclid(d));
        let mut r = Ix::constant(self.c.rem_euclid(d));
        for (k, atom) in &self.terms {
            if whole(*k) {
                q.terms.push((k / d, atom.clone()));
            } else {
                r.terms.push((*k, atom.clone()));
            }
        }
        let low = r.range(extents).0.div_euclid(d);
        if low != 0 {
            r.c -= low * d;
            q.c += low;
        }
        (q, r)
    }

    /// `self div d`, floor.
    pub fn div(&self, d: i64, extents: Extents) -> Ix {
        if d == 1 {
            return self.clone();
        }
        let (q, r) = self.split(d, extents);
        let (lo, hi) = r.range(extents);
        if lo >= 0 && hi < d {
            return q;
        }
        // Rule 2: (X div a) div b = X div ab, when nothing else stands beside it.
        if let (0, [(1, Atom::Div(x, a))]) = (r.c, r.terms.as_slice()) {
            return q.add(&x.div(a * d, extents));
        }
        // Rule 6: (X mod m·d) div d = (X div d) mod m.
        if let (0, [(1, Atom::Mod(x, md))]) = (r.c, r.terms.as_slice())
            && md % d == 0
        {
            return q.add(&x.div(d, extents).modulo(md / d, extents));
        }
        q.add(&Ix::atom(Atom::Div(Box::new(r), d)))
    }

    /// `self mod d`, in [0,d).
    pub fn modulo(&self, d: i64, extents: Extents) -> Ix {
        if d == 1 {
            return Ix::constant(0);
        }
        let (_, r) = self.split(d, extents);
        let (lo, hi) = r.range(extents);
        if lo >= 0 && hi < d {
            return r;
        }
        // Rule 3: k*(X mod a) inside mod d is k*X iff d divides k*a.
        let opened = r
            .terms
            .iter()
            .position(|(k, a)| matches!(a, Atom::Mod(_, a) if (k * a).rem_euclid(d) == 0));
        if let Some(at) = opened {
            let mut rest = r.clone();
            let (k, atom) = rest.terms.remove(at);
            if let Atom::Mod(x, _) = atom {
                return rest.plus(&x, k).modulo(d, extents);
            }
        }
        Ix::atom(Atom::Mod(Box::new(r), d))
    }

    /// The index, but at least `lo` and at most `hi`, each of which it may be.
    pub fn clamped(&self, lo: i64, hi: i64, extents: Extents) -> Ix {
        let (a, b) = self.range(extents);
        if a >= lo && b <= hi {
            return self.clone();
        }
        if a >= hi {
            return Ix::constant(hi);
        }
        if b <= lo {
            return Ix::constant(lo);
        }
        Ix::atom(Atom::Clamp(Box::new(self.clone()), lo, hi))
    }

    /// Every axis replaced by an Ix over other axes, whose extents are given, normal form kept.
    pub fn substitute(&self, with: &[Ix], extents: Extents) -> Ix {
        let mut out = Ix::constant(self.c);
        for (k, atom) in &self.terms {
            let part = match atom {
                Atom::Axis(a) => with[*a as usize].clone(),
                Atom::Div(x, d) => x.substitute(with, extents).div(*d, extents),
                Atom::Mod(x, d) => x.substitute(with, extents).modulo(*d, extents),
                Atom::Clamp(x, l, h) => x.substitute(with, extents).clamped(*l, *h, extents),
            };
            out = out.plus(&part, *k);
        }
        out.rejoined(extents)
    }

    /// Rule 5: `k*d*(E div d) + k*(E mod d)` = `k*E`, also with `E = F div a`:
    /// `k*m*(F div a*m) + k*((F div a) mod m)`.
    pub fn rejoined(mut self, extents: Extents) -> Ix {
        'again: loop {
            for at in 0..self.terms.len() {
                let (k, Atom::Mod(e, d)) = &self.terms[at] else { continue };
                let partner = e.div(*d, extents);
                let [(1, wanted)] = partner.terms.as_slice() else { continue };
                let found = self.terms.iter().position(|(m, a)| a == wanted && *m == k * d);
                if let Some(other) = found {
                    let (k, d, e, c) = (*k, *d, e.clone(), partner.c);
                    let mut terms = self.terms.clone();
                    terms.remove(at.max(other));
                    terms.remove(at.min(other));
                    // partner = wanted + c, so k*d*wanted = k*d*(E div d) - k*d*c.
                    self = Ix { c: self.c - k * d * c, terms }.plus(&e, k);
                    continue 'again;
                }
            }
            return self;
        }
    }

    /// The value at one place.
    pub fn at(&self, place: &[usize]) -> i64 {
        let value = |atom: &Atom| match atom {
            Atom::Axis(k) => place[*k as usize] as i64,
            Atom::Div(x, d) => x.at(place).div_euclid(*d),
            Atom::Mod(x, d) => x.at(place).rem_euclid(*d),
            Atom::Clamp(x, l, h) => x.at(place).clamp(*l, *h),
        };
        self.terms.iter().fold(self.c, |sum, (k, atom)| sum + k * value(atom))
    }

    /// For people: `3-i`, `(2×i+j) mod 10`, axes named i j k l m n, then x6 ….
    pub fn text(&self) -> String {
        let inner = |x: &Ix| match x.terms.as_slice() {
            [(1, _)] if x.c == 0 => x.text(),
            _ => format!("({})", x.text()),
        };
        let mut out = String::new();
        for (k, atom) in &self.terms {
            let body = match atom {
                Atom::Axis(a) => axis_name(*a as usize),
                Atom::Div(x, d) => format!("({} div {d})", inner(x)),
                Atom::Mod(x, d) => format!("({} mod {d})", inner(x)),
                Atom::Clamp(x, l, h) => format!("clamp({}, {l}, {h})", x.text()),
            };
            let sign = if *k < 0 {
                "-"
            } else if out.is_empty() {
                ""
            } else {
                "+"
            };
            let size = if k.abs() == 1 { String::new() } else { format!("{}·", k.abs()) };
            out += &format!("{sign}{size}{body}");
        }
        match (self.c, out.is_empty()) {
            (c, true) => c.to_string(),
            (0, _) => out,
            // "4-i" reads better than "-i+4".
            (c, _) if out.starts_with('-') => format!("{c}{out}"),
            (c, _) if c < 0 => format!("{out}{c}"),
            (c, _) => format!("{out}+{c}"),
        }
    }
}

/// The greatest common divisor; of 0 and a number, that number.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The letter of an axis: i j k l m n, then x6 ….
pub fn axis_name(k: usize) -> String {
    match ["i", "j", "k", "l", "m", "n"].get(k) {
        Some(name) => (*name).into(),
        None => format!("x{k}"),
    }
}

/// The row-major offset of one Ix per axis of `shape`, rejoined: a read through a ravel becomes
/// linear (rule 5).
pub fn linear(ix: &[Ix], shape: &[usize], extents: Extents) -> Ix {
    let mut out = Ix::constant(0);
    let mut stride = 1i64;
    for (x, &n) in ix.iter().zip(shape).rev() {
        out = out.plus(x, stride);
        stride = stride.saturating_mul(n as i64);
    }
    out.rejoined(extents)
}

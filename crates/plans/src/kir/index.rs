//! Index arithmetic as code: coordinates of a point, places in buffers, tests of reads.
//!
//! A text has one index type: i32 where no product that it forms reaches 2*31, which nearly all
//! launches are, else i64. In i32 a division by an extent is a multiplication by its reciprocal, a
//! parameter.

use super::lower::Lowering;
use super::{Expr, Stmt, Type};
use crate::plan::{Launch, Plan, Step, What};
use aplomb_ground::error::{Result, bug};
use aplomb_values::dag::ix::{Atom, Ix, linear};
use aplomb_values::dag::{Read, Test};

/// No value of an i32 text reaches this.
const FAR: u64 = 1 << 31;

/// Whether every index of a launch is an i32.
pub(super) fn is_narrow(plan: &Plan, launch: &Launch) -> bool {
    let count = |shape: &[usize]| shape.iter().fold(1u64, |n, &d| n.saturating_mul(d as u64));
    let outer = launch.outer();
    let longest = |axis: usize| {
        [launch.domain.get(axis), outer.get(axis)].into_iter().flatten().max().copied()
    };
    let extents: Vec<usize> =
        (0..launch.domain.len().max(outer.len())).map(|k| longest(k).unwrap_or(1)).collect();
    let near = |ix: &Ix| reach(ix, &extents) < FAR;
    let tests = |list: &[Test]| {
        list.iter().all(|t| near(&t.ix) && t.lo.unsigned_abs().max(t.hi.unsigned_abs()) < FAR)
    };
    let read = |l: &crate::plan::Load| {
        let shape = &plan.buffer(l.buf).shape;
        count(shape) < FAR && near(&linear(&l.read.ix, shape, &extents)) && tests(&l.read.tests)
    };
    let step = |s: &Step| !matches!(&s.what, What::Index { ix, .. } if !near(ix));
    let written = launch
        .stores
        .iter()
        .chain(&launch.after_stores)
        .all(|s| count(&plan.buffer(s.buf).shape) < FAR);
    count(&launch.domain) < FAR
        && count(&outer) < FAR
        && written
        && launch.loads.iter().all(read)
        && launch.guards.iter().all(|g| tests(g))
        && launch.body.iter().chain(&launch.after).all(step)
}

/// A bound of everything that is computed for an index.
fn reach(ix: &Ix, extents: &[usize]) -> u64 {
    let atom = |a: &Atom| match a {
        Atom::Axis(k) => extents[*k as usize] as u64,
        Atom::Div(x, d) | Atom::Mod(x, d) => reach(x, extents).max(d.unsigned_abs()),
        Atom::Clamp(x, l, h) => reach(x, extents).max(l.unsigned_abs()).max(h.unsigned_abs()),
    };
    let terms = ix.terms.iter().map(|(k, a)| k.unsigned_abs().saturating_mul(atom(a)));
    terms.fold(ix.c.unsigned_abs(), u64::saturating_add)
}

impl Lowering<'_> {
    pub(super) fn int(&self) -> Type {
        if self.narrow { Type::I32 } else { Type::I64 }
    }

    pub(super) fn integer(&mut self, value: i64) -> Expr {
        match value {
            -1..=1 => value.to_string(),
            // 0, 1 and ¯1 shape the text (they fold away); all others are parameters.
            _ => self.number('c', self.int(), value as f64),
        }
    }

    /// ⌊x÷d for d of at least 2, and d.
    pub(super) fn divided(&mut self, x: &str, d: i64) -> (Expr, Expr) {
        let by = self.integer(d);
        if !self.narrow {
            return (format!("div_floor({x}, {by})"), by);
        }
        let shift = 64 - (d as u64 - 1).leading_zeros();
        let magic = ((1u128 << (32 + shift)) / d as u128 + 1 - (1 << 32)) as f64;
        let (m, s) =
            (self.number('g', Type::U32, magic), self.number('s', Type::U32, f64::from(shift)));
        (format!("div_floor({x}, {m}, {s})"), by)
    }

    /// The coordinates of point `flat`, outermost first; none where nothing asks for them.
    pub(super) fn axes(&mut self, shape: &[usize], flat: &str, out: &mut Vec<Stmt>) -> Vec<String> {
        self.coordinates(shape, flat, ('x', 'y'), out)
    }

    /// The same by other names: of coordinates, and of what is left to divide.
    pub(super) fn coordinates(
        &mut self,
        shape: &[usize],
        flat: &str,
        (own, left): (char, char),
        out: &mut Vec<Stmt>,
    ) -> Vec<String> {
        let names: Vec<String> = (0..shape.len()).map(|k| format!("{own}{k}")).collect();
        let (of, mut rest) = (self.int(), format!("({}){flat}", self.int().cuda()));
        let let_ = |name: &str, is: String| Stmt::Let { name: name.into(), of, is, node: None };
        for k in (1..shape.len()).rev() {
            if shape[k] < 2 {
                out.push(let_(&names[k], "0".into()));
                continue;
            }
            let whole = if k > 1 { format!("{left}{k}") } else { names[0].clone() };
            let (quotient, extent) = self.divided(&rest, shape[k] as i64);
            out.push(let_(&whole, quotient));
            out.push(let_(&names[k], format!("{rest} - {whole} * {extent}")));
            rest = whole;
        }
        // Where axis 1 was divided by, its quotient is axis 0 already.
        if !shape.is_empty() && rest != names[0] {
            out.push(let_(&names[0], rest));
        }
        names
    }

    /// The domain's row-major index from its coordinates.
    pub(super) fn flat(&mut self, axes: &[String]) -> Result<Expr> {
        let mut text = axes.first().cloned().ok_or_else(|| bug!("a fold without axes"))?;
        for (k, axis) in axes.iter().enumerate().skip(1) {
            let extent = self.integer(self.launch.domain[k] as i64);
            text = if k == 1 {
                format!("{text} * {extent} + {axis}")
            } else {
                format!("({text}) * {extent} + {axis}")
            };
        }
        Ok(format!("(u64)({text})"))
    }

    pub(super) fn offset(
        &mut self,
        read: &Read,
        shape: &[usize],
        axes: &[String],
        extents: &[usize],
    ) -> Result<Expr> {
        self.index(&linear(&read.ix, shape, extents), axes)
    }

    /// The value where every test holds, else the fill of the first that fails.
    pub(super) fn guarded(&mut self, tests: &[Test], value: Expr, axes: &[String]) -> Result<Expr> {
        tests.iter().rev().try_fold(value, |inner, t| {
            let ix = self.index(&t.ix, axes)?;
            let (lo, hi) = (self.integer(t.lo), self.integer(t.hi));
            let fill = self.number('p', Type::F64, t.fill);
            Ok(format!("({ix} >= {lo} && {ix} < {hi} ? {inner} : {fill})"))
        })
    }

    pub(super) fn holds(&mut self, tests: &[Test], axes: &[String]) -> Result<Expr> {
        let one = |t: &Test| {
            let ix = self.index(&t.ix, axes)?;
            let (lo, hi) = (self.integer(t.lo), self.integer(t.hi));
            Ok(format!("{ix} >= {lo} && {ix} < {hi}"))
        };
        Ok(tests.iter().map(one).collect::<Result<Vec<_>>>()?.join(" && "))
    }

    pub(super) fn index(&mut self, ix: &Ix, axes: &[String]) -> Result<Expr> {
        let mut parts: Vec<String> = Vec::new();
        for (k, atom) in &ix.terms {
            let atom = match atom {
                Atom::Axis(a) => {
                    let known = axes.get(*a as usize).cloned();
                    known.ok_or_else(|| bug!("an index on axis {a} of {}", axes.len()))?
                }
                Atom::Div(x, 1) => self.index(x, axes)?,
                Atom::Mod(_, 1) => "0".into(),
                Atom::Div(x, d) => {
                    let x = self.index(x, axes)?;
                    self.divided(&x, *d).0
                }
                Atom::Mod(x, d) => {
                    let x = self.index(x, axes)?;
                    let (quotient, by) = self.divided(&x, *d);
                    format!("({x} - {quotient} * {by})")
                }
                Atom::Clamp(x, l, h) => {
                    let clamp = if self.narrow { "clamp" } else { "clamp64" };
                    format!(
                        "{clamp}({}, {}, {})",
                        self.index(x, axes)?,
                        self.integer(*l),
                        self.integer(*h)
                    )
                }
            };
            parts.push(match k {
                1 => atom,
                -1 => format!("-{atom}"),
                k => format!("{} * {atom}", self.integer(*k)),
            });
        }
        if ix.c != 0 || parts.is_empty() {
            parts.push(self.integer(ix.c));
        }
        Ok(match parts.as_slice() {
            [one] => one.clone(),
            many => format!("({})", many.join(" + ")),
        })
    }
}

#[cfg(test)]
mod tests {
    /// The parameters of a division as the prelude uses them.
    #[test]
    fn a_reciprocal_divides_exactly() {
        for d in (2..70u64).chain([255, 256, 257, 1000, 65_535, 65_536, 65_537, (1 << 31) - 1]) {
            let shift = 64 - (d - 1).leading_zeros();
            let magic = ((1u128 << (32 + shift)) / d as u128 + 1 - (1 << 32)) as u64;
            let around = |n: u64| [n.saturating_sub(1), n, n + 1];
            for n in [0, 1, d, 2 * d, 7 * d, 1 << 30, (1 << 31) - 2]
                .into_iter()
                .flat_map(around)
                .filter(|n| *n < 1 << 32)
            {
                let t = (n * magic) >> 32;
                assert_eq!((((n - t) >> 1) + t) >> (shift - 1), n / d, "{n} ÷ {d}");
            }
        }
    }
}

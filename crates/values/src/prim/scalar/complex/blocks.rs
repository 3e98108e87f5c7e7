//! Loops over complex numbers, of the operations whose failures show in their results: what is not
//! finite then is for `eval` to say.
//!
//! Each gives the bits of `eval`, whose way by the reals is the same arithmetic: an imaginary part
//! of 0 adds a 0 to sums and products of finite numbers, and quotients by a real divide both parts.

use super::{magnitude, quotient};
use crate::prim::op::Op;
use num_complex::Complex64;

/// Arguments of a block: one number for all places, or an item for each.
#[derive(Clone, Copy)]
pub enum Items<'a> {
    /// For all places.
    One(Complex64),
    /// One for each place.
    Many(&'a [Complex64]),
}

impl Items<'_> {
    /// The k-th.
    #[inline]
    pub fn at(&self, k: usize) -> Complex64 {
        match self {
            Items::One(z) => *z,
            Items::Many(items) => items[k],
        }
    }

    /// Arguments of some of the places.
    pub fn part(&self, places: std::ops::Range<usize>) -> Self {
        match *self {
            Items::One(z) => Items::One(z),
            Items::Many(items) => Items::Many(&items[places]),
        }
    }
}

/// Does something with the bare arithmetic of an operation.
pub trait Bare {
    /// The result of doing it.
    type Out;
    /// Does it.
    fn by(self, f: impl Fn(Complex64, Complex64) -> Complex64 + Copy) -> Self::Out;
}

/// None: the operation's failures do not show in its result, or it is long in any case.
pub fn visit<B: Bare>(op: Op, bare: B) -> Option<B::Out> {
    let signless = super::signless;
    Some(match op {
        Op::Add => bare.by(move |x, y| signless(x + y)),
        Op::Sub => bare.by(move |x, y| signless(x - y)),
        Op::Mul => bare.by(move |x, y| signless(x * y)),
        Op::Div => bare.by(move |x, y| signless(quotient(x, y))),
        // A real 0 has no sign.
        Op::Neg => bare.by(move |x, _| {
            let re = if x.im == 0.0 { 0.0 - x.re } else { -x.re };
            signless(Complex64::new(re, -x.im))
        }),
        Op::Conj => bare.by(move |x, _| signless(x.conj())),
        _ => return None,
    })
}

struct Block<'a, 'b> {
    x: Items<'a>,
    y: Items<'a>,
    n: usize,
    out: &'b mut Vec<Complex64>,
}

impl Bare for Block<'_, '_> {
    type Out = bool;

    fn by(self, f: impl Fn(Complex64, Complex64) -> Complex64 + Copy) -> bool {
        let mut fine = true;
        let mut sure = |x, y| {
            let z = f(x, y);
            fine &= z.is_finite();
            z
        };
        match (self.x, self.y) {
            (Items::Many(x), Items::Many(y)) => {
                self.out.extend(x.iter().zip(y).map(|(&x, &y)| sure(x, y)));
            }
            (Items::Many(x), Items::One(y)) => self.out.extend(x.iter().map(|&x| sure(x, y))),
            (Items::One(x), Items::Many(y)) => self.out.extend(y.iter().map(|&y| sure(x, y))),
            (Items::One(x), Items::One(y)) => {
                let z = sure(x, y);
                self.out.extend(std::iter::repeat_n(z, self.n));
            }
        }
        fine
    }
}

/// Adds the n results `x op y` to `out`, which has room for them; a monadic operation leaves `y`
/// alone. Not true: some is for `eval`, or all are since the operation has no such loop.
pub fn block(op: Op, x: Items, y: Items, n: usize, out: &mut Vec<Complex64>) -> bool {
    visit(op, Block { x, y, n, out }) == Some(true)
}

/// The same of operations whose results are real.
pub fn reals(op: Op, x: &[Complex64], out: &mut Vec<f64>) -> bool {
    let first = out.len();
    match op {
        Op::Abs | Op::Circle(10) => out.extend(x.iter().map(|&z| magnitude(z))),
        Op::Circle(9) => out.extend(x.iter().map(|z| z.re)),
        Op::Circle(11) => out.extend(x.iter().map(|z| z.im)),
        _ => return false,
    }
    out[first..].iter().all(|x| x.is_finite())
}

//! The one meaning of every scalar operation.
//!
//! `eval` is the meaning. Its fast part (`rules`, over `Lane`) is what the kernel's vector loops
//! instantiate; elements that a rule suspects take `slow`, here as there, so every device agrees
//! bit for bit (NaN as a class). Start at `eval`. Always: a result that is no finite number from
//! finite arguments is a `Fail`; ∞ and NaN that came in from files flow on as IEEE has it. Never: a
//! tolerance that is not ⎕CT.

mod circles;
pub mod complex;
pub(super) mod gamma;
pub mod lane;
pub mod math;
pub mod rules;
pub mod single;
pub(super) mod slow;

use crate::prim::op::Op;
use aplomb_ground::error::{Error, beyond_reals, bug, domain, index, unending};
use lane::Lane;
use rules::{Rule, Visit};

pub use single::eval_as;
pub use slow::near_bool;

/// The reasons for which an element has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fail {
    /// The sentence of the DOMAIN ERROR.
    Domain(&'static str),
    /// Beyond the largest f64.
    Overflow,
    /// The result leaves the reals.
    Complex,
    /// There is no such place on an axis of `extent`; as it was written, ⎕IO included.
    Index {
        /// The index, ⎕IO included.
        place: i64,
        /// The number of places.
        extent: u32,
    },
    /// An index that is no whole number, or too large to count with: the bits of what was written.
    NoPlace {
        /// The bits of the f64.
        bits: u64,
    },
    /// More rounds than a launch may take.
    Unending,
    /// Something that cannot be, if Aplomb is right.
    Bug(&'static str),
}

impl Fail {
    /// APL's error, without its place.
    pub fn error(self) -> Error {
        match self {
            Fail::Domain(says) => domain(says),
            Fail::Overflow => domain("the result is beyond the largest number"),
            Fail::Complex => beyond_reals(),
            Fail::Index { place, extent } => no_such_place(place, extent as usize),
            Fail::NoPlace { bits } => not_whole("an index", f64::from_bits(bits)),
            Fail::Unending => unending(),
            Fail::Bug(says) => bug!("{says}"),
        }
    }
}

/// Whole numbers below this are counted with.
const COUNTED: f64 = 9.1e15;

/// The whole number that a number stands for, within ⎕CT. None: there is none, or it is too large
/// to count with.
pub fn near_integer(x: f64, ct: f64) -> Option<i64> {
    let r = x.round();
    let near = x == r || (x - r).abs() <= ct.max(1e-14) * x.abs().max(1.0);
    (near && r.abs() < COUNTED).then_some(r as i64)
}

/// The error where `near_integer` has no value, by the name of what should have been one.
pub fn not_whole(what: &str, x: f64) -> Error {
    let number = crate::array::format::number(x);
    match x.is_finite() && x.abs() >= COUNTED {
        true => {
            domain(format!("{what} must lie between ¯9.1E15 and 9.1E15, and {number} does not"))
        }
        false => domain(format!("{what} must be a whole number, not {number}")),
    }
}

/// An index, ⎕IO included, as a place from 0 on. The host and every device ask here, so what a file
/// brings (∞, NaN) means one thing everywhere. `ct` is 0 where the index is whole if it is a number
/// at all. Errors: INDEX, DOMAIN.
#[inline]
pub fn place(x: f64, origin: f64, extent: usize, ct: f64) -> Result<usize, Fail> {
    let at = x - origin;
    // By way of i64, which is an instruction; a rounding would be a call.
    let whole = at as i64;
    match whole as f64 == at && (0..extent as i64).contains(&whole) {
        true => Ok(whole as usize),
        false => near_place(x, origin, extent, ct),
    }
}

#[cold]
fn near_place(x: f64, origin: f64, extent: usize, ct: f64) -> Result<usize, Fail> {
    let Some(whole) = near_integer(x, ct) else { return Err(Fail::NoPlace { bits: x.to_bits() }) };
    let at = usize::try_from(whole - origin as i64).ok().filter(|&at| at < extent);
    at.ok_or(Fail::Index { place: whole, extent: extent as u32 })
}

/// `V[place]` of an axis that has no such place.
fn no_such_place(place: i64, extent: usize) -> Error {
    let says = format!(
        "index {} is outside: the axis has {extent}",
        crate::array::format::number(place as f64)
    );
    match place {
        ..0 => {
            index(says).hint("indices count from ⎕IO; ⊢/x is the last item, ¯1↑x a vector of it")
        }
        _ => index(says),
    }
}

/// One argument of an element-wise operation on ready values.
#[derive(Clone, Copy, Debug)]
pub enum Src<'a> {
    /// A scalar, extended.
    One(f64),
    /// An item for each place.
    Many(&'a [f64]),
}

struct One {
    x: f64,
    y: f64,
    ct: f64,
}

impl Visit for One {
    type Out = (f64, bool);

    #[inline(always)]
    fn rule<R: Rule>(self) -> (f64, bool) {
        R::lanes::<f64>(self.x, self.y, self.ct)
    }
}

/// `x op y` under the tolerance `ct`; a monadic operation takes `x` and leaves `y` alone.
pub fn eval(op: Op, ct: f64, x: f64, y: f64) -> Result<f64, Fail> {
    // A power that is a few products needs no logarithm.
    let few = op == Op::Pow && small_exponent(y).is_some();
    let fast = if few { None } else { rules::visit(op, ct, One { x, y, ct }) };
    let value = match fast {
        Some((value, false)) => value,
        _ => slow::eval(op, ct, x, y)?,
    };
    if value.is_finite() || !x.is_finite() || (op.arity() == 2 && !y.is_finite()) {
        return Ok(value);
    }
    Err(Fail::Overflow)
}

/// The exponent of a power that has a loop of its own: whole, |y| ≤ 64.
pub fn small_exponent(y: f64) -> Option<i32> {
    (y == y.trunc() && y.abs() <= 64.0).then_some(y as i32)
}

/// `x*n` for a small exponent, and whether an element must take the scalar meaning: a power that
/// left the normal numbers, of which a reciprocal would be wrong, or a base of 0.
#[inline(always)]
pub fn small_power<L: Lane>(x: L, n: i32) -> (L, L::Mask) {
    let p = math::power(x, n.unsigned_abs());
    if n >= 0 {
        return (p, L::none());
    }
    let size = p.abs();
    let fine = L::both(L::splat(L::LEAST).le(size), size.le(L::splat(L::MOST)));
    (L::splat(1.0).div(p), L::not(fine))
}

#[cfg(test)]
mod tests;

//! Operations on two numbers by the way that most numbers take: recursions and loops on numbers go
//! without a look at the table of operations.

use super::op::Op;
use super::scalar;

/// A tolerance in which quotients of small numbers that are not whole are not near a whole number.
pub const SMALL_CT: f64 = 1e-10;

/// Whether a number is whole, and of some billions at most.
#[inline]
fn is_small(x: f64) -> bool {
    x.abs() <= 4_294_967_296.0 && x as i64 as f64 == x
}

/// Whether a number is 0, without a sign, or 1.
#[inline]
fn is_boolean(x: f64) -> bool {
    x.to_bits() == 0 || x == 1.0
}

/// Whether no whole number is near enough to one to be the same within a small ⎕CT.
#[inline]
fn is_between(y: f64, ct: f64) -> bool {
    ct <= SMALL_CT && y.abs() < 1e6 && (y - y.round()).abs() > 1e-3
}

/// `op y`. None: it fails.
#[inline]
pub fn one(op: Op, ct: f64, y: f64) -> Option<f64> {
    let short = match op {
        Op::Neg if y != 0.0 => Some(-y),
        Op::Abs if y != 0.0 => Some(y.abs()),
        Op::Not if y == 0.0 => Some(1.0),
        Op::Not if y == 1.0 => Some(0.0),
        Op::Sign if is_small(y) && y != 0.0 => Some(y.signum()),
        Op::Floor | Op::Ceil if is_small(y) && y != 0.0 => Some(y),
        Op::Floor if is_between(y, ct) => Some(y.floor()),
        // What is above ¯1 and below 0 has a zero with no sign.
        Op::Ceil if is_between(y, ct) && !(-1.0..0.0).contains(&y) => Some(y.ceil()),
        _ => None,
    };
    short.filter(|z| z.is_finite()).or_else(|| scalar::eval(op, ct, y, 0.0).ok())
}

/// `x op y`. None: it fails. What is the most of all recursions goes without a way through the
/// table of operations; `each_short_way_is_the_long_one` holds it to it.
#[inline]
pub fn two(op: Op, ct: f64, x: f64, y: f64) -> Option<f64> {
    let short = match op {
        Op::Add => Some(x + y),
        Op::Sub => Some(x - y),
        Op::Mul => Some(x * y),
        Op::Eq | Op::Le | Op::Ge if x == y => Some(1.0),
        Op::Ne | Op::Lt | Op::Gt if x == y => Some(0.0),
        // So far from each other that no tolerance makes them equal.
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge
            if (x - y).abs() > 2.0 * ct * x.abs().max(y.abs()) =>
        {
            let holds = match op {
                Op::Eq => false,
                Op::Ne => true,
                Op::Lt | Op::Le => x < y,
                _ => x > y,
            };
            Some(f64::from(u8::from(holds)))
        }
        Op::Max if x > y => Some(x),
        Op::Max if x < y => Some(y),
        Op::Min if x > y => Some(y),
        Op::Min if x < y => Some(x),
        Op::Max | Op::Min if x == y && x != 0.0 => Some(x),
        Op::Residue if x >= 1.0 && is_small(x) && is_small(y) && ct <= SMALL_CT && y != 0.0 => {
            Some((y as i64).rem_euclid(x as i64) as f64)
        }
        Op::Div if x != 0.0 && y != 0.0 => Some(x / y),
        Op::Lcm | Op::Gcd if is_boolean(x) && is_boolean(y) => {
            let holds = if op == Op::Lcm { x + y == 2.0 } else { x + y != 0.0 };
            Some(f64::from(u8::from(holds)))
        }
        _ => None,
    };
    // What is no number by the short way may be one, or an error, by the long one.
    short.filter(|z| z.is_finite()).or_else(|| scalar::eval(op, ct, x, y).ok())
}

#[cfg(test)]
mod tests {
    use super::{one, two};
    use crate::prim::op::Op;
    use crate::prim::scalar;

    #[test]
    fn each_short_way_is_the_long_one() {
        let numbers = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.1,
            1.0 + 1e-15,
            3.0,
            -2.5,
            9.007_199_254_740_993e15,
            3.0 + 5e-14,
            65_521.0,
            4_294_967_295.0,
            4_294_967_296.0,
            4_294_967_297.0,
            2_147_483_647.0,
            f64::MAX,
            -0.3,
            -7.0,
            123_456.7,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        let compares = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Ge, Op::Gt];
        let computes =
            [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max, Op::Min, Op::Residue, Op::Lcm, Op::Gcd];
        for op in [Op::Neg, Op::Abs, Op::Not, Op::Sign, Op::Floor, Op::Ceil] {
            for y in numbers {
                for ct in [0.0, 1e-14] {
                    let long = scalar::eval(op, ct, y, 0.0).ok().map(f64::to_bits);
                    assert_eq!(one(op, ct, y).map(f64::to_bits), long, "{op:?} {y}");
                }
            }
        }
        let all = compares.into_iter().chain(computes);
        for op in all {
            for (x, y) in numbers.iter().flat_map(|x| numbers.iter().map(move |y| (*x, *y))) {
                for ct in [0.0, 1e-14] {
                    let long = scalar::eval(op, ct, x, y).ok().map(f64::to_bits);
                    assert_eq!(two(op, ct, x, y).map(f64::to_bits), long, "{x} {op:?} {y}");
                }
            }
        }
    }
}

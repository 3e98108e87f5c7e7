//! The elements that the fast rules leave over: failing elements, poles, huge arguments, and the
//! operations nobody hurries for.

use super::{Fail, small_exponent, small_power};
use crate::prim::op::Op;

type Outcome = Result<f64, Fail>;

const DIVISION: Fail = Fail::Domain("division by zero");
const LN_ZERO: Fail = Fail::Domain("the logarithm of zero");

/// The row's meaning; `k○` has one for each k.
pub(super) fn eval(op: Op, ct: f64, x: f64, y: f64) -> Outcome {
    if let Op::Circle(k) = op { circle(k, x) } else { (op.row().real)(ct, x, y) }
}

/// Of an operation whose rule suspects nothing.
pub fn sure(_ct: f64, _x: f64, _y: f64) -> Outcome {
    Err(Fail::Bug("an operation without a slow part was suspect"))
}

pub fn not(ct: f64, x: f64) -> Outcome {
    Ok(1.0 - bit(ct, x, "~ needs 0 or 1")?)
}

pub fn nand(ct: f64, x: f64, y: f64) -> Outcome {
    Ok(1.0 - bit(ct, x, "⍲ needs 0 or 1")? * bit(ct, y, "⍲ needs 0 or 1")?)
}

pub fn nor(ct: f64, x: f64, y: f64) -> Outcome {
    Ok(1.0 - bit(ct, x, "⍱ needs 0 or 1")?.max(bit(ct, y, "⍱ needs 0 or 1")?))
}

/// `X○Y`.
pub fn circle_by(ct: f64, x: f64, y: f64) -> Outcome {
    let k = x.round();
    if (x - k).abs() > ct || k.abs() > 12.0 || x.is_nan() {
        return Err(Fail::Domain("the left argument of ○ must be ¯12…12"));
    }
    super::eval(Op::Circle(k as i8), ct, y, 0.0)
}

/// 0 or 1 within ⎕CT.
pub fn near_bool(ct: f64, x: f64) -> Option<bool> {
    match () {
        () if x.abs() <= ct => Some(false),
        () if (x - 1.0).abs() <= ct => Some(true),
        () => None,
    }
}

fn bit(ct: f64, x: f64, says: &'static str) -> Outcome {
    near_bool(ct, x).map(|b| f64::from(u8::from(b))).ok_or(Fail::Domain(says))
}

pub fn divide(x: f64, y: f64) -> Outcome {
    match () {
        () if y != 0.0 || x.is_nan() => Ok(x / y),
        () if x == 0.0 => Ok(1.0),
        () => Err(DIVISION),
    }
}

pub fn ln(x: f64) -> Outcome {
    match () {
        () if x == 0.0 => Err(LN_ZERO),
        () if x < 0.0 => Err(Fail::Complex),
        () => Ok(if x.is_nan() { x } else { super::math::ln(x) }),
    }
}

pub fn log(x: f64, y: f64) -> Outcome {
    if x == 0.0 || y == 0.0 {
        return Err(LN_ZERO);
    }
    let base = ln(x)?;
    if base == 0.0 && y != 1.0 {
        return Err(Fail::Domain("a logarithm to base 1"));
    }
    divide(ln(y)?, base)
}

pub fn root(x: f64) -> Outcome {
    if x < 0.0 { Err(Fail::Complex) } else { Ok(x.sqrt()) }
}

pub fn pow(x: f64, y: f64) -> Outcome {
    if x == 0.0 && y < 0.0 {
        return Err(DIVISION);
    }
    if y == 0.5 {
        return root(x);
    }
    if let Some((value, false)) = small_exponent(y).map(|n| small_power(x, n)) {
        return Ok(value);
    }
    if x < 0.0 && y != y.trunc() {
        return Err(Fail::Complex);
    }
    Ok(x.powf(y))
}

/// y÷x is huge or not finite, x is not 0.
pub fn residue(x: f64, y: f64) -> f64 {
    if x.is_infinite() && y.is_finite() {
        return if y == 0.0 || (y < 0.0) == (x < 0.0) { y } else { x };
    }
    let whole = x == x.trunc() && y == y.trunc();
    let r = y % x;
    match () {
        () if r.is_nan() => r,
        // A quotient of 2*52 and more is whole as far as it is known.
        () if !whole || r == 0.0 => 0.0,
        () if (r < 0.0) != (x < 0.0) => r + x,
        () => r,
    }
}

/// The distance of decimal fractions from what they are meant to be, at least: folds have no ⎕CT.
pub const FRACTION: f64 = 1e-14;

/// Every whole number below is an f64.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The greatest common divisor of whole numbers, by halves (Stein 1967): of two odd numbers the
/// difference is even and has their divisor, so what is halved away is at least one bit a step, and
/// no step divides.
fn of_whole(a: u64, b: u64) -> u64 {
    if a == 0 || b == 0 {
        return a | b;
    }
    let twos = (a | b).trailing_zeros();
    let (mut a, mut b) = (a >> a.trailing_zeros(), b >> b.trailing_zeros());
    while a != b {
        let apart = a.abs_diff(b);
        a = a.min(b);
        b = apart >> apart.trailing_zeros();
    }
    a << twos
}

/// Euclid. Fractions are not known exactly, and a remainder is `sb` times x less `tb` times y, or
/// the other way round: one within ⎕CT of what these are is 0. Then x is `tb` times the divisor and
/// y `sb` times, so it is found by one division, and the noise of the steps is not in it.
pub fn gcd(ct: f64, x: f64, y: f64) -> f64 {
    if !x.is_finite() || !y.is_finite() {
        return f64::NAN;
    }
    let (x, y) = (x.abs(), y.abs());
    let (mut a, mut b) = (x, y);
    let (whole_x, whole_y) = (x == x.trunc(), y == y.trunc());
    if whole_x && whole_y {
        // A remainder is exact at any size, and one step leaves both as small as the smaller was:
        // `30∧/⍳1E5` has numbers of 1E174 and small ones, and took a dozen steps for each pair.
        while b > 0.0 && a.max(b) >= EXACT {
            (a, b) = (b, a % b);
        }
        return if b > 0.0 { of_whole(a as u64, b as u64) as f64 } else { a };
    }
    let noise = ct.max(FRACTION);
    let (mut sa, mut sb, mut ta, mut tb) = (1.0, 0.0, 0.0, 1.0);
    while b > noise * (sb * x + tb * y) {
        let r = a % b;
        // a÷b could be rounded up to the next whole number.
        let q = ((a - r) / b).round_ties_even();
        (a, b) = (b, r);
        (sa, sb) = (sb, sa + q * sb);
        (ta, tb) = (tb, ta + q * tb);
    }
    // What is whole is known best, then what is the least multiple.
    let by_x = if whole_x || whole_y { whole_x } else { x < y };
    let (all, times) = if by_x && x > 0.0 || y == 0.0 { (x, tb) } else { (y, sb) };
    if times.is_finite() { all / times } else { a }
}

/// The least common multiple: what y holds of the divisor is a whole number.
pub fn lcm(ct: f64, x: f64, y: f64) -> f64 {
    if x == 0.0 || y == 0.0 { 0.0 } else { x * (y / gcd(ct, x, y)).round_ties_even() }
}

/// `k○x`. Where no real result exists, `Complex`.
fn circle(k: i8, x: f64) -> Outcome {
    let real = |is: bool, value: f64| if is { Ok(value) } else { Err(Fail::Complex) };
    let nan = x.is_nan();
    match k {
        0 => real(x.abs() <= 1.0 || nan, ((1.0 - x) * (1.0 + x)).sqrt()),
        1 => Ok(x.sin()),
        2 => Ok(x.cos()),
        3 => Ok(x.tan()),
        4 => Ok(x.hypot(1.0)),
        5 => Ok(x.sinh()),
        6 => Ok(x.cosh()),
        7 => Ok(x.tanh()),
        9 | -9 | -10 => Ok(x),
        10 => Ok(x.abs()),
        11 => Ok(0.0),
        12 => Ok(if x < 0.0 { std::f64::consts::PI } else { 0.0 }),
        -1 => real(x.abs() <= 1.0 || nan, x.asin()),
        -2 => real(x.abs() <= 1.0 || nan, x.acos()),
        -3 => Ok(x.atan()),
        // (x+1)×√(x-1)÷(x+1): the sign of x, 0 at ¯1.
        -4 => real(
            x.abs() >= 1.0 || nan,
            ((x.abs() - 1.0).sqrt() * (x.abs() + 1.0).sqrt()).copysign(x),
        ),
        -5 => Ok(x.asinh()),
        // Near 1 by what is above it, all of whose digits are there.
        -6 if (1.0..2.0).contains(&x) => {
            let above = x - 1.0;
            Ok((above + (above * (2.0 + above)).sqrt()).ln_1p())
        }
        -6 => real(x >= 1.0 || nan, x.acosh()),
        -7 if x.abs() == 1.0 => Err(Fail::Domain("¯7○ has a pole at 1 and ¯1")),
        // Of a number below 0 the library's has fewer digits.
        -7 => real(x.abs() < 1.0 || nan, x.abs().atanh().copysign(x)),
        -11 => real(x == 0.0, 0.0),
        -12 => real(x == 0.0, 1.0),
        8 | -8 => real(nan, x),
        _ => Err(Fail::Domain("the left argument of ○ must be ¯12…12")),
    }
}

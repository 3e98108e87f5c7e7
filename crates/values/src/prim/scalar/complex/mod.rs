//! The meaning of every scalar operation on complex numbers; on reals it is the real meaning
//! wherever that has a value.
//!
//! Start at `eval`. Always: an imaginary part is never ¯0, so a branch cut belongs to one side: the
//! logarithm's and the square root's to the upper one, the others follow from them (Penfield,
//! Principal Values and Branch Cuts in Complex APL, 1981). Gaussian integers in + - × * ∨ ∧ | are
//! exact while their parts are.

pub mod blocks;
mod circles;
pub(in crate::prim) mod gauss;
#[cfg(test)]
mod tests;

use super::gamma::{G, LANCZOS};
use super::{Fail, near_bool};
use crate::prim::op::Op;
use num_complex::Complex64;

type Outcome = Result<Complex64, Fail>;

const I: Complex64 = Complex64::new(0.0, 1.0);
pub(in crate::prim) const ONE: Complex64 = Complex64::new(1.0, 0.0);

const DIVISION: Fail = Fail::Domain("division by zero");
const LN_ZERO: Fail = Fail::Domain("the logarithm of zero");
const NOT_BOOL: Fail = Fail::Domain("this needs 0 or 1, not a complex number");
const NO_ORDER: Fail =
    Fail::Domain("complex numbers have no order: < ≤ ≥ > ⌊ ⌈ compare real numbers only");

/// `x op y`; a monadic operation takes `x` and leaves `y` alone.
pub fn eval(op: Op, ct: f64, x: Complex64, y: Complex64) -> Outcome {
    let two = op.arity() == 2;
    if x.im == 0.0 && (!two || y.im == 0.0) {
        match super::eval(op, ct, x.re, y.re) {
            Err(Fail::Complex) => {}
            real => return real.map(Complex64::from),
        }
    }
    let value = beyond(op, ct, x, y)?;
    if value.is_finite() || !x.is_finite() || (two && !y.is_finite()) {
        return Ok(signless(value));
    }
    Err(Fail::Overflow)
}

/// No ¯0 in the imaginary part.
#[inline]
fn signless(z: Complex64) -> Complex64 {
    Complex64::new(z.re, z.im + 0.0)
}

fn beyond(op: Op, ct: f64, x: Complex64, y: Complex64) -> Outcome {
    if let Op::Circle(k) = op { circles::circle(k, x) } else { (op.row().complex)(ct, x, y) }
}

/// Of `k○`, which has a meaning for each k.
pub fn of_family(_ct: f64, _x: Complex64, _y: Complex64) -> Outcome {
    Err(Fail::Bug("a family of operations is not one"))
}

/// Of what compares.
pub fn unordered(_ct: f64, _x: Complex64, _y: Complex64) -> Outcome {
    Err(NO_ORDER)
}

/// 1 where something holds, else 0.
pub fn truth(holds: bool) -> Complex64 {
    f64::from(u8::from(holds)).into()
}

/// `~x` of a number near 0 or 1. Errors: DOMAIN, of others.
pub fn not(ct: f64, x: Complex64) -> Outcome {
    Ok((1.0 - bit(ct, x)?).into())
}

/// `x⍲y` of numbers near 0 and 1. Errors: DOMAIN, of others.
pub fn nand(ct: f64, x: Complex64, y: Complex64) -> Outcome {
    Ok((1.0 - bit(ct, x)? * bit(ct, y)?).into())
}

/// `x⍱y` of numbers near 0 and 1. Errors: DOMAIN, of others.
pub fn nor(ct: f64, x: Complex64, y: Complex64) -> Outcome {
    Ok((1.0 - bit(ct, x)?.max(bit(ct, y)?)).into())
}

/// `X○Y`.
pub fn circle_by(ct: f64, x: Complex64, y: Complex64) -> Outcome {
    let k = near_real(x, ct).map(f64::round).filter(|k| k.abs() <= 12.0 && (x.re - k).abs() <= ct);
    let k = k.ok_or(Fail::Domain("the left argument of ○ must be ¯12…12"))?;
    eval(Op::Circle(k as i8), ct, y, ONE)
}

/// `x⍟y`. Errors: DOMAIN, where a logarithm has no value or that of x is 0.
pub fn log(x: Complex64, y: Complex64) -> Outcome {
    divide(ln(y)?, ln(x)?)
}

/// The real part where the imaginary one is nothing beside it.
pub fn near_real(z: Complex64, ct: f64) -> Option<f64> {
    (z.im.abs() <= ct * z.re.abs().max(1.0)).then_some(z.re)
}

/// `x=y`: their distance is at most ct times the greater magnitude.
pub fn same(x: Complex64, y: Complex64, ct: f64) -> bool {
    x == y
        || (x.is_finite()
            && y.is_finite()
            && magnitude(x - y) <= ct * magnitude(x).max(magnitude(y)))
}

fn bit(ct: f64, x: Complex64) -> Result<f64, Fail> {
    let near = near_real(x, ct).and_then(|x| near_bool(ct, x));
    near.map(|b| f64::from(u8::from(b))).ok_or(NOT_BOOL)
}

/// `|z`: of a square that is a normal number its root, which is exact where the magnitude is whole
/// or the number real.
#[inline]
pub fn magnitude(z: Complex64) -> f64 {
    let square = z.re * z.re + z.im * z.im;
    if (TINY..HUGE).contains(&square) { square.sqrt() } else { z.re.hypot(z.im) }
}

/// In (¯π, π].
fn phase(z: Complex64) -> f64 {
    (z.im + 0.0).atan2(z.re)
}

/// `x÷y`, scaled so that no step overflows; `0÷0` is 1. Errors: DOMAIN, by 0.
pub fn divide(x: Complex64, y: Complex64) -> Outcome {
    if y == Complex64::ZERO {
        return if x == Complex64::ZERO { Ok(ONE) } else { Err(DIVISION) };
    }
    Ok(quotient(x, y))
}

/// `x÷y` where y is not 0; by 0 it is not finite.
#[inline]
fn quotient(x: Complex64, y: Complex64) -> Complex64 {
    if y.im == 0.0 {
        return x.unscale(y.re);
    }
    // Scaled by a power of two, so that the square of the divisor is a normal number and whole
    // parts stay exact.
    let most = y.re.abs().max(y.im.abs());
    if (TINY..HUGE).contains(&most) {
        return over_square(x, y);
    }
    let down = (-most.log2().round().clamp(-1022.0, 1022.0)).exp2();
    over_square(x.scale(down), y.scale(down))
}

/// 2*¯300 and 2*300: a number between them is a square, or has one, that lost no digits.
const TINY: f64 = f64::from_bits((1023 - 300) << 52);
const HUGE: f64 = f64::from_bits((1023 + 300) << 52);

#[inline]
fn over_square(x: Complex64, y: Complex64) -> Complex64 {
    let square = y.re * y.re + y.im * y.im;
    Complex64::new((x.re * y.re + x.im * y.im) / square, (x.im * y.re - x.re * y.im) / square)
}

/// `*z`.
pub fn exp(z: Complex64) -> Complex64 {
    if z.im == 0.0 {
        return z.re.exp().into();
    }
    let (sin, cos) = turn(z.im);
    // Half of it twice: e*x alone may overflow where the product does not.
    let half = (z.re / 2.0).exp();
    Complex64::new(half * cos * half, half * sin * half)
}

/// Sine and cosine of an angle. It is known to one part in 2*52, so what is below that is nothing.
fn turn(angle: f64) -> (f64, f64) {
    let noise = f64::EPSILON * angle.abs();
    let (sin, cos) = angle.sin_cos();
    let known = |x: f64| if x.abs() < noise { 0.0 } else { x };
    (known(sin), known(cos))
}

/// `⍟z`: the principal logarithm. Errors: DOMAIN, of 0.
pub fn ln(z: Complex64) -> Outcome {
    if z == Complex64::ZERO {
        return Err(LN_ZERO);
    }
    Ok(Complex64::new(magnitude(z).ln(), phase(z)))
}

/// The root with a real part of at least 0; of a negative number the upper one.
pub fn sqrt(z: Complex64) -> Complex64 {
    let t = ((z.re.abs() + magnitude(z)) / 2.0).sqrt();
    match () {
        () if t == 0.0 => Complex64::ZERO,
        () if z.re >= 0.0 => Complex64::new(t, z.im / (2.0 * t)),
        () => Complex64::new(z.im.abs() / (2.0 * t), if z.im < 0.0 { -t } else { t }),
    }
}

/// `x*y`: the principal value. Errors: DOMAIN, for a power of 0 that has none.
pub fn pow(x: Complex64, y: Complex64) -> Outcome {
    if x == Complex64::ZERO {
        return match () {
            () if y == Complex64::ZERO => Ok(ONE),
            () if y.re > 0.0 => Ok(Complex64::ZERO),
            () => Err(DIVISION),
        };
    }
    if y.im == 0.0 && y.re == y.re.trunc() && y.re.abs() < 9e15 {
        return whole_power(x, y.re);
    }
    // A half more than whole: exact where the root is.
    if y.im == 0.0 && 2.0 * y.re == (2.0 * y.re).trunc() && y.re.abs() < 64.0 {
        return whole_power(sqrt(x), 2.0 * y.re);
    }
    Ok(exp(y * ln(x)?))
}

/// By squaring, so that powers of Gaussian integers are exact.
fn whole_power(x: Complex64, n: f64) -> Outcome {
    let (mut square, mut left, mut out) = (x, n.abs() as u64, ONE);
    while left > 0 {
        if left & 1 == 1 {
            out *= square;
        }
        left >>= 1;
        if left > 0 {
            square *= square;
        }
    }
    if n < 0.0 { divide(ONE, out) } else { Ok(out) }
}

/// ln Γ(1+z), up to multiples of 2πi, for a real part of at least ¯½ (Lanczos).
fn ln_gamma_next(z: Complex64) -> Complex64 {
    let series = LANCZOS.iter().enumerate().skip(1);
    let sum = series.fold(Complex64::from(LANCZOS[0]), |sum, (k, &c)| {
        sum + Complex64::from(c) / (z + k as f64)
    });
    let t = z + (G + 0.5);
    let ln = |z: Complex64| Complex64::new(magnitude(z).ln(), phase(z));
    ln(t) * (z + 0.5) - t + ln(sum) + (2.0 * std::f64::consts::PI).ln() / 2.0
}

/// Γ(1+z), z not real. Left of ¯½ by reflection: Γ(1+z) × Γ(¯z) = π ÷ sin π×1+z.
pub fn factorial(z: Complex64) -> Complex64 {
    exp(ln_factorial(z))
}

fn ln_factorial(z: Complex64) -> Complex64 {
    if z.re >= -0.5 {
        return ln_gamma_next(z);
    }
    let pi = std::f64::consts::PI;
    // ln sin πw by its greater exponential, which alone may be beyond f64.
    let w = (z + 1.0).scale(pi);
    let up = w.im < 0.0;
    let (far, near) = if up { (I * w, -I * w) } else { (-I * w, I * w) };
    let rest = ONE - exp(near - far);
    let sine = far + Complex64::new(magnitude(rest).ln(), phase(rest)) - std::f64::consts::LN_2
        + Complex64::new(0.0, if up { -pi / 2.0 } else { pi / 2.0 });
    Complex64::from(pi.ln()) - sine - ln_gamma_next(-z - 1.0)
}

/// `x!y` = !y ÷ (!x)×!y-x.
pub fn binomial(x: Complex64, y: Complex64) -> Complex64 {
    let rest = y - x;
    let pole = |z: Complex64| z.im == 0.0 && z.re < 0.0 && z.re == z.re.trunc();
    if pole(x) || pole(rest) {
        return Complex64::ZERO;
    }
    exp(ln_factorial(y) - ln_factorial(x) - ln_factorial(rest))
}

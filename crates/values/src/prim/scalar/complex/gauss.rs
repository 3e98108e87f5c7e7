//! Complex floor, residue, GCD and LCM (McDonnell, Complex Floor, 1973).
//!
//! A unit square that has a Gaussian integer b at its corner is cut by the line x+y = 1: below it
//! the floor is b, above it b+1 or b+0J1, whichever axis is nearer. So the fraction is always
//! shorter than 1.

use super::{Fail, ONE, Outcome, divide, magnitude};
use crate::prim::scalar::slow::FRACTION;
use num_complex::Complex64;

/// A part within ⎕CT of the next integer has reached it; so has a fraction on the line.
pub fn floor(z: Complex64, ct: f64) -> Complex64 {
    let slack = ct * magnitude(z).max(1.0);
    let low = Complex64::new(near_floor(z.re, slack), near_floor(z.im, slack));
    let (x, y) = ((z.re - low.re).max(0.0), (z.im - low.im).max(0.0));
    match () {
        () if x + y < 1.0 - slack => low,
        () if x >= y - slack => low + 1.0,
        () => low + Complex64::new(0.0, 1.0),
    }
}

fn near_floor(x: f64, slack: f64) -> f64 {
    let low = x.floor();
    if low != x && low + 1.0 - x <= slack { low + 1.0 } else { low }
}

/// `x|y`, not both real: y-x×⌊y÷x, 0 where y÷x is tolerantly a Gaussian integer.
pub fn residue(x: Complex64, y: Complex64, ct: f64) -> Complex64 {
    let Ok(q) = divide(y, x) else { return y };
    if x == Complex64::ZERO {
        return y;
    }
    let whole = floor(q, ct);
    if magnitude(q - whole) <= ct * magnitude(q).max(1.0) && !(is_whole(x) && is_whole(y)) {
        return Complex64::ZERO;
    }
    y - x * whole
}

fn is_whole(z: Complex64) -> bool {
    z.re == z.re.trunc() && z.im == z.im.trunc()
}

/// Euclid with the nearest quotient, which at least halves the square each time; the one of the
/// four associates with a positive real part and no negative imaginary one.
pub fn gcd(x: Complex64, y: Complex64, ct: f64) -> Outcome {
    if !x.is_finite() || !y.is_finite() {
        return Ok(Complex64::new(f64::NAN, 0.0));
    }
    let (mut a, mut b) = (x, y);
    let whole = is_whole(a) && is_whole(b);
    // As for real numbers (`slow::gcd`): the remainder is s times x and t times y.
    let noise = if whole { 0.0 } else { ct.max(FRACTION) };
    let (mut s, mut t) = ([ONE, Complex64::ZERO], [Complex64::ZERO, ONE]);
    // The square halves: no f64 has more than some 2 100 halvings in it.
    for _ in 0..4_200 {
        if magnitude(b) <= noise * (magnitude(s[1]) * magnitude(x) + magnitude(t[1]) * magnitude(y))
        {
            let (all, times) = if is_whole(x) && x != Complex64::ZERO || y == Complex64::ZERO {
                (x, t[1])
            } else {
                (y, s[1])
            };
            return Ok(first_quadrant(if whole || !times.is_finite() {
                a
            } else {
                divide(all, times)?
            }));
        }
        let q = rounded(divide(a, b)?);
        (a, b) = (b, a - b * q);
        (s, t) = ([s[1], s[0] - q * s[1]], [t[1], t[0] - q * t[1]]);
    }
    Err(Fail::Domain("∨ found no common divisor of these numbers"))
}

fn rounded(z: Complex64) -> Complex64 {
    Complex64::new(z.re.round(), z.im.round())
}

fn first_quadrant(z: Complex64) -> Complex64 {
    let mut z = z;
    for _ in 0..4 {
        if (z.re > 0.0 && z.im >= 0.0) || z == Complex64::ZERO {
            break;
        }
        z = Complex64::new(-z.im, z.re);
    }
    z
}

pub fn lcm(x: Complex64, y: Complex64, ct: f64) -> Outcome {
    if x == Complex64::ZERO || y == Complex64::ZERO {
        return Ok(Complex64::ZERO);
    }
    Ok(x * rounded(divide(y, gcd(x, y, ct)?)?))
}

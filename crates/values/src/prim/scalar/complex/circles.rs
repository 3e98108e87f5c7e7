//! `k○z` for complex z. The inverses are Kahan's sequences, which lose no digits near their branch
//! points (Branch Cuts for Complex Elementary Functions, 1987), on the sides of the cuts that
//! Penfield chose.

use super::{Fail, ONE, Outcome, exp, magnitude, phase, sqrt};
use num_complex::Complex64;

const ARCTAN_POLE: Fail = Fail::Domain("¯3○ has a pole at 0J1 and 0J¯1");
const ARTANH_POLE: Fail = Fail::Domain("¯7○ has a pole at 1 and ¯1");

pub(super) fn circle(k: i8, z: Complex64) -> Outcome {
    Ok(match k {
        0 => root_of(less(ONE, z), ONE + z),
        1 => sin(z),
        2 => cos(z),
        3 => turned_back(tanh(turned(z))),
        4 => root_of(ONE + turned(z), less(ONE, turned(z))),
        5 => turned_back(sin(turned(z))),
        6 => cos(turned(z)),
        7 => tanh(z),
        8 => sqrt(less(Complex64::new(-1.0, 0.0), z * z)),
        -8 => -sqrt(less(Complex64::new(-1.0, 0.0), z * z)),
        9 => z.re.into(),
        10 => magnitude(z).into(),
        11 => z.im.into(),
        12 => phase(z).into(),
        -1 => arcsin(z),
        -2 => arccos(z),
        -3 => turned_back(artanh(turned(z), ARCTAN_POLE)?),
        -4 => on_the_side_of(z, root_of(z - ONE, z + ONE)),
        -5 => turned_back(arcsin(turned(z))),
        -6 => arcosh(z),
        -7 => artanh(z, ARTANH_POLE)?,
        -9 => z,
        -10 => z.conj(),
        -11 => turned(z),
        -12 => exp(turned(z)),
        _ => return Err(Fail::Domain("the left argument of ○ must be ¯12…12")),
    })
}

/// `x-y` without a ¯0.
fn less(x: Complex64, y: Complex64) -> Complex64 {
    Complex64::new(x.re - y.re, x.im - y.im + 0.0)
}

/// The principal root of a product.
fn root_of(x: Complex64, y: Complex64) -> Complex64 {
    let product = x * y;
    if product.is_finite() { sqrt(less(product, Complex64::ZERO)) } else { sqrt(x) * sqrt(y) }
}

/// Of the two roots, which differ in sign, the one less than a right angle from z:
/// (z+1)×√(z-1)÷z+1.
fn on_the_side_of(z: Complex64, root: Complex64) -> Complex64 {
    if root.re * z.re + root.im * z.im < 0.0 { -root } else { root }
}

/// 0J1×z
fn turned(z: Complex64) -> Complex64 {
    Complex64::new(0.0 - z.im, z.re)
}

/// 0J¯1×z
fn turned_back(z: Complex64) -> Complex64 {
    Complex64::new(z.im, 0.0 - z.re)
}

fn sin(z: Complex64) -> Complex64 {
    let (sin, cos) = z.re.sin_cos();
    Complex64::new(sin * z.im.cosh(), cos * z.im.sinh())
}

fn cos(z: Complex64) -> Complex64 {
    let (sin, cos) = z.re.sin_cos();
    Complex64::new(cos * z.im.cosh(), 0.0 - sin * z.im.sinh())
}

fn tanh(z: Complex64) -> Complex64 {
    // Beyond this the real part is 1 to the last digit.
    if z.re.abs() > 20.0 {
        let (sin, cos) = z.im.sin_cos();
        return Complex64::new(1f64.copysign(z.re), 4.0 * sin * cos * (-2.0 * z.re.abs()).exp());
    }
    let (tan, sinh) = (z.im.tan(), z.re.sinh());
    let (beta, rho) = (1.0 + tan * tan, (1.0 + sinh * sinh).sqrt());
    let below = 1.0 + beta * sinh * sinh;
    Complex64::new(beta * rho * sinh / below, tan / below)
}

fn arcsin(z: Complex64) -> Complex64 {
    let (low, high) = (sqrt(less(ONE, z)), sqrt(ONE + z));
    Complex64::new(z.re.atan2((low * high).re), (low.conj() * high).im.asinh())
}

fn arccos(z: Complex64) -> Complex64 {
    let (low, high) = (sqrt(less(ONE, z)), sqrt(ONE + z));
    Complex64::new(2.0 * low.re.atan2(high.re), (high.conj() * low).im.asinh())
}

fn arcosh(z: Complex64) -> Complex64 {
    let (low, high) = (sqrt(z - ONE), sqrt(z + ONE));
    Complex64::new((low.conj() * high).re.asinh(), 2.0 * low.im.atan2(high.re))
}

/// ½×(⍟1+z)-⍟1-z
fn artanh(z: Complex64, pole: Fail) -> Outcome {
    let (x, y) = (z.re.abs(), z.im);
    let square = (1.0 - x) * (1.0 - x) + y * y;
    if square == 0.0 {
        return Err(pole);
    }
    let re = (4.0 * x / square).ln_1p() / 4.0;
    let angle = phase(ONE + z) - phase(less(ONE, z));
    Ok(Complex64::new(re.copysign(z.re), angle / 2.0))
}

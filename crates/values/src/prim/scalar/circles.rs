//! The sequences of hyperbolic functions and of inverse circular ones, over `Lane` as those in
//! `math`.
//!
//! The coefficients of arctan and arcsin are those of fdlibm (see `math` for its notice). All are
//! odd or even, so they are computed for |x| and take x's sign at the end.

// The digits are the published ones; rounding them shorter would hide where they come from.
#![allow(clippy::excessive_precision)]

use super::lane::Lane;
use super::math::{self, poly};

/// Beyond this `*x` is near its end: sinh and cosh of more must not be used.
pub const HYPERBOLIC_MOST: f64 = 708.0;
/// From here on the hyperbolic tangent is 1.
const TANGENT_MOST: f64 = 22.0;
/// Below this it is had by series.
const TANGENT_NEAR: f64 = 0.55;

const HALF_PI: f64 = std::f64::consts::FRAC_PI_2;
/// The part of half of π that `HALF_PI` has lost.
const HALF_PI_LOW: f64 = 6.123_233_995_736_766_035_87e-17;

/// y with the sign of x; y is not negative.
#[inline(always)]
fn signed<L: Lane>(y: L, x: L) -> L {
    y.bits_xor(x.bits_and(1 << 63))
}

/// (((sinh x)÷x)-1)÷x² of x² from 0 to 1, by its series.
#[inline(always)]
fn sinh_behind<L: Lane>(z: L) -> L {
    poly(
        z,
        [
            1.0 / 355_687_428_096_000.0,
            1.0 / 1_307_674_368_000.0,
            1.0 / 6_227_020_800.0,
            1.0 / 39_916_800.0,
            1.0 / 362_880.0,
            1.0 / 5_040.0,
            1.0 / 120.0,
            1.0 / 6.0,
        ],
    )
}

/// ((cosh x)-1)÷x² of x² from 0 to 1, by its series.
#[inline(always)]
fn cosh_behind<L: Lane>(z: L) -> L {
    poly(
        z,
        [
            1.0 / 20_922_789_888_000.0,
            1.0 / 87_178_291_200.0,
            1.0 / 479_001_600.0,
            1.0 / 3_628_800.0,
            1.0 / 40_320.0,
            1.0 / 720.0,
            1.0 / 24.0,
            0.5,
        ],
    )
}

/// The hyperbolic sine of |x| ≤ `HYPERBOLIC_MOST`.
#[inline(always)]
pub fn sinh<L: Lane>(x: L) -> L {
    let (a, one) = (x.abs(), L::splat(1.0));
    let t = math::exp(a);
    let far = t.sub(one.div(t)).mul(L::splat(0.5));
    let z = a.mul(a);
    let near = a.mul(z).fma(sinh_behind(z), a);
    signed(L::select(a.lt(one), near, far), x)
}

/// The hyperbolic cosine of |x| ≤ `HYPERBOLIC_MOST`.
#[inline(always)]
pub fn cosh<L: Lane>(x: L) -> L {
    let t = math::exp(x.abs());
    t.add(L::splat(1.0).div(t)).mul(L::splat(0.5))
}

/// The hyperbolic tangent; NaN of NaN.
#[inline(always)]
pub fn tanh<L: Lane>(x: L) -> L {
    let a = x.abs();
    // NaN is no less than anything: it stays.
    let held = L::select(L::splat(TANGENT_MOST).lt(a), L::splat(TANGENT_MOST), a);
    let (one, t) = (L::splat(1.0), math::exp(held.add(held)));
    // 1 less twice what is left of e*2x and 1.
    let far = one.sub(L::splat(2.0).div(t.add(one)));
    // x, and what is little beside it: x³ times the difference of the series by the cosine.
    let z = held.mul(held);
    let behind = cosh_behind(z);
    let part = sinh_behind(z).sub(behind).div(z.fma(behind, one));
    let near = held.mul(z).fma(part, held);
    signed(L::select(held.lt(L::splat(TANGENT_NEAR)), near, far), x)
}

/// The arctangent, in radians.
///
/// |x| is brought near 0 by the angle of ½, 1, 1½ or ∞, whichever is near: arctan of
/// (|x|-c)÷1+c×|x| is what is left.
#[inline(always)]
pub fn atan<L: Lane>(x: L) -> L {
    /// From here on: c, its angle, and what that has lost.
    const PARTS: [(f64, f64, f64, f64); 3] = [
        (0.4375, 0.5, 4.636_476_090_008_060_935_15e-01, 2.269_877_745_296_168_709_24e-17),
        (0.6875, 1.0, std::f64::consts::FRAC_PI_4, 3.061_616_997_868_383_017_93e-17),
        (1.1875, 1.5, 9.827_937_232_473_290_540_82e-01, 1.390_331_103_123_099_845_16e-17),
    ];
    const FAR: f64 = 2.4375;
    let (a, one) = (x.abs(), L::splat(1.0));
    let (mut above, mut below) = (a, one);
    let (mut high, mut low) = (L::splat(0.0), L::splat(0.0));
    for (from, c, angle, lost) in PARTS {
        let here = L::splat(from).le(a);
        let c = L::splat(c);
        above = L::select(here, a.sub(c), above);
        below = L::select(here, c.mul(a).add(one), below);
        high = L::select(here, L::splat(angle), high);
        low = L::select(here, L::splat(lost), low);
    }
    let far = L::splat(FAR).le(a);
    above = L::select(far, L::splat(-1.0), above);
    below = L::select(far, a, below);
    high = L::select(far, L::splat(HALF_PI), high);
    low = L::select(far, L::splat(HALF_PI_LOW), low);
    let r = above.div(below);
    let z = r.mul(r);
    let w = z.mul(z);
    let odd = z.mul(poly(
        w,
        [
            1.62858201153657823623e-02,
            4.97687799461593236017e-02,
            6.66107313738753120669e-02,
            9.09088713343650656196e-02,
            1.42857142725034663711e-01,
            3.33333333333329318027e-01,
        ],
    ));
    let even = w.mul(poly(
        w,
        [
            -3.65315727442169155270e-02,
            -5.83357013379057348645e-02,
            -7.69187620504482999495e-02,
            -1.11111104054623557880e-01,
            -1.99999999998764832476e-01,
        ],
    ));
    let rest = r.mul(odd.add(even)).sub(low).sub(r);
    signed(high.sub(rest), x)
}

/// (arcsin √z)÷√z, less 1, of z from 0 to ¼.
#[inline(always)]
fn sine_behind<L: Lane>(z: L) -> L {
    let above = poly(
        z,
        [
            3.47933107596021167570e-05,
            7.91534994289814532176e-04,
            -4.00555345006794114027e-02,
            2.01212532134862925881e-01,
            -3.25565818622400915405e-01,
            1.66666666666666657415e-01,
        ],
    );
    let below = poly(
        z,
        [
            7.70381505559019352791e-02,
            -6.88283971605453293030e-01,
            2.02094576023350569471e+00,
            -2.40339491173441421878e+00,
            1.0,
        ],
    );
    z.mul(above).div(below)
}

/// The root of (1-a)÷2 for a from ½ to 1, with what it has lost, and its arcsine's `sine_behind`.
#[inline(always)]
fn halved<L: Lane>(a: L) -> (L, L, L) {
    let z = L::splat(1.0).sub(a).mul(L::splat(0.5));
    let root = z.sqrt();
    let lost = root.fma(L::splat(0.0).sub(root), z).div(root.add(root));
    // Nothing is lost of 0.
    let lost = L::select(L::splat(0.0).lt(z), lost, L::splat(0.0));
    (root, lost, sine_behind(z))
}

/// The arcsine of |x| ≤ 1, in radians.
#[inline(always)]
pub fn asin<L: Lane>(x: L) -> L {
    let a = x.abs();
    let near = a.fma(sine_behind(a.mul(a)), a);
    // Beyond ½ it is a right angle less twice the arcsine of √(1-a)÷2.
    let (root, lost, behind) = halved(a);
    let low = root.fma(behind, lost);
    let (root, low) = (root.add(root), low.add(low));
    let high = L::splat(HALF_PI).sub(root);
    let cut = L::splat(HALF_PI).sub(high).sub(root);
    let far = high.add(cut.sub(low).add(L::splat(HALF_PI_LOW)));
    signed(L::select(a.lt(L::splat(0.5)), near, far), x)
}

/// The arccosine of |x| ≤ 1, in radians.
#[inline(always)]
pub fn acos<L: Lane>(x: L) -> L {
    let a = x.abs();
    let (half, right, low) = (L::splat(0.5), L::splat(HALF_PI), L::splat(HALF_PI_LOW));
    let near = right.sub(x.sub(low.sub(x.mul(sine_behind(x.mul(x))))));
    // Beyond ½ it is twice the arcsine of √(1-a)÷2, or two right angles less that.
    let (root, lost, behind) = halved(a);
    let angle = root.add(root.fma(behind, lost));
    let angle = angle.add(angle);
    let other = L::splat(2.0 * HALF_PI).sub(angle.sub(L::splat(2.0 * HALF_PI_LOW)));
    let far = L::select(x.lt(L::splat(0.0)), other, angle);
    L::select(a.lt(half), near, far)
}

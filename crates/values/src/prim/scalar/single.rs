//! The meaning of an operation whose result is f32, and the sequences of f32: exp, ln, sin, cos.
//!
//! An operation on f32 is done in f32. For + - × ÷ and roots that is the f64 operation, rounded
//! (the double rounding changes nothing: f64 has more than twice the digits), for the functions of
//! `has_own` a sequence of f32's length, and for all others again the f64 operation, rounded: they
//! are rare, and what is rounded once is nearest.
//!
//! A sequence is written over `Lane` like those of `math`, for lanes of f32. The polynomials were
//! fitted here for the least largest error over the reduced argument. Measured against f64 on all
//! f32 of the interval, in units of the last place (`the_functions_are_near`): exp 1.03, ln
//! 0.76, sin and cos 1.52 where |x| ≤ 100.

use super::lane::Lane;
use super::math::poly;
use super::rules::{self, Rule, Visit};
use super::{Fail, eval, small_exponent, small_power};
use crate::array::DType;
use crate::prim::op::Op;

/// 1.5 × 2*23: adding it leaves the nearest integer in the low bits.
const ROUND: f64 = 12_582_912.0;
/// Beyond this the three-part reduction of sin and cos loses digits.
pub const TRIG_MOST: f64 = 8192.0;

/// Whether an operation has a sequence of its own for f32: of all others the result is that of f64,
/// rounded.
#[inline]
pub fn has_own(op: Op) -> bool {
    matches!(op, Op::Exp | Op::Ln | Op::Log | Op::Circle(1..=3))
}

/// Whether an operation is one of f32's own, which is that of f64 rounded: its rule in lanes of f32
/// is its meaning there, if all operands are f32.
pub fn is_exact(op: Op, ct: f64) -> bool {
    use Op::{
        Abs, Add, Ceil, Circle, Conj, Div, Dot, Floor, Mac, Max, Min, Mul, Neg, Recip, Sqrt, Sub,
    };
    match op {
        Conj | Neg | Recip | Abs | Circle(10) | Sqrt | Add | Sub | Mul | Dot | Mac | Div | Max
        | Min => true,
        Floor | Ceil => ct == 0.0,
        _ => false,
    }
}

struct One {
    x: f32,
    y: f32,
    ct: f32,
}

impl Visit for One {
    type Out = (f32, bool);

    #[inline(always)]
    fn rule<R: Rule>(self) -> (f32, bool) {
        R::singles::<f32>(self.x, self.y, self.ct)
    }
}

/// Whether f32 has room for a number: it may be rounded, but not to ∞ or away.
#[inline]
pub fn has_room(x: f64) -> bool {
    let short = x as f32;
    x == 0.0 || !x.is_finite() || short.is_finite() && short != 0.0
}

/// `eval` of a result of this type. Of f32 that is its own meaning, of operands as f32 has them if
/// it has room for them, and beyond f32 it is a failure.
#[inline]
pub fn eval_as(dtype: DType, op: Op, ct: f64, x: f64, y: f64) -> Result<f64, Fail> {
    if dtype != DType::F32 {
        return eval(op, ct, x, y);
    }
    let (short, other) = (x as f32, y as f32);
    let own = match op {
        _ if !has_room(x) || !has_room(y) => None,
        Op::Pow => small_exponent(y).map(|n| small_power(short, n)),
        _ if has_own(op) => rules::visit(op, ct, One { x: short, y: other, ct: ct as f32 }),
        _ => None,
    };
    match own {
        Some((value, false)) if value.is_finite() => Ok(f64::from(value)),
        _ => rounded(eval(op, ct, x, y)),
    }
}

/// A result as f32 has it; beyond f32 a failure.
#[inline]
pub fn rounded(value: Result<f64, Fail>) -> Result<f64, Fail> {
    let value = value?;
    let short = f64::from(value as f32);
    if value.is_finite() && !short.is_finite() { Err(Fail::Overflow) } else { Ok(short) }
}

/// 2*k for a whole k in ¯127…127, and 0 for ¯127.
#[inline(always)]
fn two_to<L: Lane>(k: L) -> L {
    k.add(L::splat(ROUND)).bits_plus(127).bits_left(23)
}

/// e*x; ∞ above 88.72 and 0 below ¯103.97, as scaling rounds what is beyond, subnormal results
/// right. NaN goes through both bounds, which give their second operand then.
#[inline(always)]
pub fn exp<L: Lane>(x: L) -> L {
    let round = L::splat(ROUND);
    let held = L::splat(88.8).min(L::splat(-104.0).max(x));
    let k = held.fma(L::splat(std::f64::consts::LOG2_E), round).sub(round);
    // ln 2 in two parts, of which the first has 9 digits: its products are exact.
    let r = k.fma(L::splat(-0.693_359_375), held);
    let r = k.fma(L::splat(2.121_944_400_546_905_8e-4), r);
    let q = poly(
        r,
        [
            0.0013950987963497236,
            0.008369176142057325,
            0.04166619834328251,
            0.16666516446902335,
            0.5000000097504672,
        ],
    );
    let p = r.mul(r).fma(q, r);
    p.add(L::splat(1.0)).scaled(k, two_to)
}

/// The natural logarithm of x > 0, ∞ of ∞. What it gives for other x must not be used.
#[inline(always)]
pub fn ln<L: Lane>(x: L) -> L {
    const FROM: u64 = 0x3f35_04f3; // the mantissa is brought to √½ … √2
    let tiny = x.lt(L::splat(f64::from(f32::MIN_POSITIVE)));
    let whole = L::select(tiny, x.mul(L::splat(8_388_608.0)), x);
    let bias = L::select(tiny, L::splat(8_388_608.0 + 127.0 + 23.0), L::splat(8_388_608.0 + 127.0));
    let bits = whole.bits_plus(0x3f80_0000 - FROM);
    let k = bits.bits_right(23).bits_or(0x4b00_0000).sub(bias);
    let f = bits.bits_and(0x007f_ffff).bits_plus(FROM).sub(L::splat(1.0));
    let z = f.mul(f);
    let p = poly(
        f,
        [
            0.06746643175822914,
            -0.11675656835285149,
            0.11888163823930092,
            -0.12405588259057508,
            0.14219552079791395,
            -0.16667995878098568,
            0.20002118672310684,
            -0.25000009599189543,
            0.3333331260388525,
        ],
    );
    let low = k.mul(L::splat(-2.121_944_400_546_905_8e-4));
    let rest = z.mul(L::splat(-0.5)).add(f.mul(z).fma(p, low));
    let y = k.fma(L::splat(0.693_359_375), f.add(rest));
    L::select(x.eq(L::splat(f64::INFINITY)), x, y)
}

/// The sine of x + `quarters` right angles, |x| ≤ `TRIG_MOST`.
#[inline(always)]
fn sine<L: Lane>(x: L, quarters: u64) -> L {
    let t = x.fma(L::splat(std::f64::consts::FRAC_2_PI), L::splat(ROUND));
    let k = t.sub(L::splat(ROUND));
    let q = t.bits_plus(quarters);
    // A right angle in three parts, each rounded to f32 from what is left of it. The first
    // difference is exact: both of its terms are multiples of a unit that it holds 2*24 of.
    let r = k.fma(L::splat(-1.570_796_370_506_286_6), x);
    let r = k.fma(L::splat(4.371_138_828_673_793e-8), r);
    let r = k.fma(L::splat(1.715_124_511_806_917_4e-15), r);
    let z = r.mul(r);
    let s = poly(z, [-0.00019516655399636244, 0.008332173540145057, -0.16666654873428646]);
    let s = z.mul(r).fma(s, r);
    let c = poly(z, [2.4437729674536328e-05, -0.0013887361446516778, 0.04166664674770102]);
    let c = z.mul(z).fma(c, z.fma(L::splat(-0.5), L::splat(1.0)));
    L::select(q.bit_set(1), c, s).bits_xor(q.bits_and(2).bits_left(30))
}

/// The sine of an angle that is not huge, in radians.
#[inline(always)]
pub fn sin<L: Lane>(x: L) -> L {
    sine(x, 0)
}

/// The cosine of an angle that is not huge, in radians.
#[inline(always)]
pub fn cos<L: Lane>(x: L) -> L {
    sine(x, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units in the last place of f32 between a result and the f64 value.
    fn ulps(y: f32, want: f64) -> f64 {
        let near = (want as f32).abs().max(f32::MIN_POSITIVE);
        let unit = f64::from(f32::from_bits(near.to_bits() + 1)) - f64::from(near);
        (f64::from(y) - want).abs() / unit
    }

    /// Every f32 of an interval, each `step`-th of them.
    fn worst(lo: f32, hi: f32, step: usize, f: fn(f32) -> f32, want: fn(f64) -> f64) -> f64 {
        let positive = |lo: f32, hi: f32| (lo.to_bits()..hi.to_bits()).step_by(step);
        let up = positive(lo.max(0.0), hi).map(f32::from_bits);
        let down = positive((-hi).max(0.0), (-lo).max(0.0)).map(|b| -f32::from_bits(b));
        up.chain(down).map(|x| ulps(f(x), want(x.into()))).fold(0.0, f64::max)
    }

    #[test]
    fn the_functions_are_near() {
        let table = [
            ("exp", worst(-87.3, 88.7, 97, exp, f64::exp), 1.05),
            ("exp of what is subnormal", worst(-103.9, -87.3, 97, exp, f64::exp), 1.05),
            ("ln", worst(f32::MIN_POSITIVE, 3e38, 397, ln, f64::ln), 0.9),
            ("ln of what is subnormal", worst(1e-44, f32::MIN_POSITIVE, 97, ln, f64::ln), 0.9),
            ("sin", worst(-100.0, 100.0, 197, sin, f64::sin), 1.7),
            ("cos", worst(-100.0, 100.0, 197, cos, f64::cos), 1.7),
        ];
        for (name, found, most) in table {
            assert!(found <= most, "{name}: {found} units");
        }
    }

    #[test]
    fn edges_are_those_of_f64() {
        let single = |op, x| eval_as(DType::F32, op, 0.0, x, 0.0);
        assert_eq!(single(Op::Exp, 0.0), Ok(1.0));
        assert_eq!(single(Op::Exp, -1000.0), Ok(0.0));
        assert_eq!(single(Op::Exp, 89.0), Err(Fail::Overflow));
        assert_eq!(single(Op::Ln, 1.0), Ok(0.0));
        assert_eq!(single(Op::Ln, 0.0), eval(Op::Ln, 0.0, 0.0, 0.0));
        assert_eq!(single(Op::Ln, -1.0), Err(Fail::Complex));
        assert_eq!(single(Op::Circle(1), 1e6), Ok(f64::from(1e6f64.sin() as f32)));
        assert_eq!(eval_as(DType::F32, Op::Mul, 0.0, 3e38, 10.0), Err(Fail::Overflow));
        assert_eq!(eval_as(DType::F32, Op::Pow, 0.0, f64::from(1.1f32), 3.0), {
            Ok(f64::from(1.1f32 * (1.1f32 * 1.1f32)))
        });
    }
}

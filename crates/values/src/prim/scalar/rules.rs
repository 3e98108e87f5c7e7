//! The fast part of each operation: value and suspicion, over `Lane`. A suspect element takes the
//! meaning in `slow`.
//!
//! ∞ and NaN made by a rule are no suspicion here: `eval` tests its result, the kernel tests when
//! it must.

use super::lane::Lane;
use super::{circles, math, single};
use crate::prim::op::Op;

/// The fast part of one operation.
pub trait Rule {
    /// The value where not suspect. A monadic rule leaves `y` alone.
    fn lanes<L: Lane>(x: L, y: L, ct: L) -> (L, L::Mask);

    /// The same in lanes of f32, where that is another sequence (`single::has_own`).
    #[inline(always)]
    fn singles<L: Lane>(x: L, y: L, ct: L) -> (L, L::Mask) {
        Self::lanes(x, y, ct)
    }
}

/// Does something with a rule chosen at run time.
pub trait Visit {
    /// The result of the visit.
    type Out;
    /// Goes on with the rule that was chosen.
    fn rule<R: Rule>(self) -> Self::Out;
    /// Goes on with a rule of one argument: what is compiled for each rule saves a case or two.
    #[inline(always)]
    fn alone<R: Rule>(self) -> Self::Out
    where
        Self: Sized,
    {
        self.rule::<R>()
    }
}

/// None: the operation has no fast part, every element takes `slow`.
#[inline]
pub fn visit<V: Visit>(op: Op, ct: f64, v: V) -> Option<V::Out> {
    Some(match (op, ct > 0.0) {
        (Op::Conj, _) => v.alone::<Conj>(),
        (Op::Neg, _) => v.alone::<Neg>(),
        (Op::Sign, _) => v.alone::<Sign>(),
        (Op::Recip, _) => v.alone::<Recip>(),
        (Op::Exp, _) => v.alone::<Exp>(),
        (Op::Ln, _) => v.alone::<Ln>(),
        (Op::Floor, true) => v.alone::<Floor<true>>(),
        (Op::Floor, false) => v.alone::<Floor<false>>(),
        (Op::Ceil, true) => v.alone::<Ceil<true>>(),
        (Op::Ceil, false) => v.alone::<Ceil<false>>(),
        (Op::Abs | Op::Circle(10), _) => v.alone::<Abs>(),
        (Op::Pi, _) => v.alone::<Pi>(),
        (Op::Not, _) => v.alone::<Not>(),
        (Op::Sqrt, _) => v.alone::<Sqrt>(),
        (Op::Circle(1), _) => v.alone::<Sin>(),
        (Op::Circle(2), _) => v.alone::<Cos>(),
        (Op::Circle(3), _) => v.alone::<Tan>(),
        (Op::Circle(5), _) => v.alone::<Sinh>(),
        (Op::Circle(6), _) => v.alone::<Cosh>(),
        (Op::Circle(7), _) => v.alone::<Tanh>(),
        (Op::Circle(-1), _) => v.alone::<Asin>(),
        (Op::Circle(-2), _) => v.alone::<Acos>(),
        (Op::Circle(-3), _) => v.alone::<Atan>(),
        (Op::Add, _) => v.rule::<Add>(),
        (Op::Sub, _) => v.rule::<Sub>(),
        (Op::Mul | Op::Dot | Op::Mac, _) => v.rule::<Mul>(),
        (Op::Div, _) => v.rule::<Div>(),
        (Op::Pow, _) => v.rule::<Pow>(),
        (Op::Log, _) => v.rule::<Log>(),
        (Op::Max, _) => v.rule::<Max>(),
        (Op::Min, _) => v.rule::<Min>(),
        (Op::Residue, _) => v.rule::<Residue>(),
        (Op::Lcm, _) => v.rule::<And>(),
        (Op::Gcd, _) => v.rule::<Or>(),
        (Op::Nand, _) => v.rule::<Nand>(),
        (Op::Nor, _) => v.rule::<Nor>(),
        (Op::Eq, true) => v.rule::<Eq<true>>(),
        (Op::Eq, false) => v.rule::<Eq<false>>(),
        (Op::Ne, true) => v.rule::<Ne<true>>(),
        (Op::Ne, false) => v.rule::<Ne<false>>(),
        (Op::Lt, true) => v.rule::<Lt<true>>(),
        (Op::Lt, false) => v.rule::<Lt<false>>(),
        (Op::Le, true) => v.rule::<Le<true>>(),
        (Op::Le, false) => v.rule::<Le<false>>(),
        (Op::Ge, true) => v.rule::<Ge<true>>(),
        (Op::Ge, false) => v.rule::<Ge<false>>(),
        (Op::Gt, true) => v.rule::<Gt<true>>(),
        (Op::Gt, false) => v.rule::<Gt<false>>(),
        _ => return None,
    })
}

/// The rules whose folds are trees of registers; None: the operation's are not.
#[inline]
pub fn visit_fold<V: Visit>(op: Op, v: V) -> Option<V::Out> {
    Some(match op {
        Op::Add => v.rule::<Add>(),
        Op::Mul => v.rule::<Mul>(),
        Op::Max => v.rule::<Max>(),
        Op::Min => v.rule::<Min>(),
        Op::Lcm => v.rule::<And>(),
        Op::Gcd => v.rule::<Or>(),
        _ => return None,
    })
}

/// The rules that gain by lanes of f32: sequences of their own (`single::has_own`), and those whose
/// instruction is quicker there; None: the operation is no such thing.
#[inline]
pub fn visit_short<V: Visit>(op: Op, v: V) -> Option<V::Out> {
    Some(match op {
        Op::Exp => v.alone::<Exp>(),
        Op::Ln => v.alone::<Ln>(),
        Op::Circle(1) => v.alone::<Sin>(),
        Op::Circle(2) => v.alone::<Cos>(),
        Op::Circle(3) => v.alone::<Tan>(),
        Op::Log => v.rule::<Log>(),
        Op::Div => v.rule::<Div>(),
        Op::Recip => v.alone::<Recip>(),
        Op::Sqrt => v.alone::<Sqrt>(),
        _ => return None,
    })
}

#[inline(always)]
fn sure<L: Lane>(x: L) -> (L, L::Mask) {
    (x, L::none())
}

#[inline(always)]
fn zero<L: Lane>() -> L {
    L::splat(0.0)
}

#[inline(always)]
fn one<L: Lane>() -> L {
    L::splat(1.0)
}

/// Neither 0 nor 1.
#[inline(always)]
fn odd<L: Lane>(x: L) -> L::Mask {
    L::not(L::either(x.eq(zero()), x.eq(one())))
}

/// `+Y` of real numbers.
pub struct Conj;
impl Rule for Conj {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        sure(x)
    }
}

/// `-Y`.
pub struct Neg;
impl Rule for Neg {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        sure(zero::<L>().sub(x))
    }
}

/// `×Y`.
pub struct Sign;
impl Rule for Sign {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        let down = L::select(x.lt(zero()), L::splat(-1.0), zero());
        sure(L::select(zero::<L>().lt(x), one(), down))
    }
}

/// `÷Y`; suspect: 0.
pub struct Recip;
impl Rule for Recip {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (one::<L>().div(x), x.eq(zero()))
    }
}

/// `*Y`.
pub struct Exp;
impl Rule for Exp {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        sure(math::exp(x))
    }
    #[inline(always)]
    fn singles<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        sure(single::exp(x))
    }
}

/// `⍟Y`; suspect: all but positive numbers.
pub struct Ln;
impl Rule for Ln {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (math::ln(x), L::not(zero::<L>().lt(x)))
    }
    #[inline(always)]
    fn singles<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (single::ln(x), L::not(zero::<L>().lt(x)))
    }
}

/// `⌊Y`.
pub struct Floor<const TOLERANT: bool>;
impl<const TOLERANT: bool> Rule for Floor<TOLERANT> {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, ct: L) -> (L, L::Mask) {
        sure(if TOLERANT { math::floor(x, ct) } else { x.floor() })
    }
}

/// `⌈Y`.
pub struct Ceil<const TOLERANT: bool>;
impl<const TOLERANT: bool> Rule for Ceil<TOLERANT> {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, ct: L) -> (L, L::Mask) {
        let under = zero::<L>().sub(x);
        let low = if TOLERANT { math::floor(under, ct) } else { under.floor() };
        sure(zero::<L>().sub(low))
    }
}

/// `|Y`.
pub struct Abs;
impl Rule for Abs {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        sure(x.abs())
    }
}

/// `○Y`.
pub struct Pi;
impl Rule for Pi {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        sure(L::splat(std::f64::consts::PI).mul(x))
    }
}

/// `~Y`; suspect: all but 0 and 1.
pub struct Not;
impl Rule for Not {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (one::<L>().sub(x), odd(x))
    }
}

/// The square root; suspect: negative numbers.
pub struct Sqrt;
impl Rule for Sqrt {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (x.sqrt(), x.lt(zero()))
    }
}

#[inline(always)]
fn far<L: Lane>(x: L, most: f64) -> L::Mask {
    L::not(x.abs().le(L::splat(most)))
}

/// `1○Y`; suspect: huge angles.
pub struct Sin;
impl Rule for Sin {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (math::sin(x), far(x, math::TRIG_MOST))
    }
    #[inline(always)]
    fn singles<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (single::sin(x), far(x, single::TRIG_MOST))
    }
}

/// `2○Y`; suspect: huge angles.
pub struct Cos;
impl Rule for Cos {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (math::cos(x), far(x, math::TRIG_MOST))
    }
    #[inline(always)]
    fn singles<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (single::cos(x), far(x, single::TRIG_MOST))
    }
}

/// `3○Y`; suspect: huge angles.
pub struct Tan;
impl Rule for Tan {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (math::sin(x).div(math::cos(x)), far(x, math::TRIG_MOST))
    }
    #[inline(always)]
    fn singles<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (single::sin(x).div(single::cos(x)), far(x, single::TRIG_MOST))
    }
}

/// `5○Y`; suspect: what is near the greatest number, or beyond.
pub struct Sinh;
impl Rule for Sinh {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (circles::sinh(x), far(x, circles::HYPERBOLIC_MOST))
    }
}

/// `6○Y`; suspect: what is near the greatest number, or beyond.
pub struct Cosh;
impl Rule for Cosh {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (circles::cosh(x), far(x, circles::HYPERBOLIC_MOST))
    }
}

/// `7○Y`.
pub struct Tanh;
impl Rule for Tanh {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        sure(circles::tanh(x))
    }
}

/// `¯1○Y`; suspect: numbers beyond 1.
pub struct Asin;
impl Rule for Asin {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (circles::asin(x), far(x, 1.0))
    }
}

/// `¯2○Y`; suspect: numbers beyond 1.
pub struct Acos;
impl Rule for Acos {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        (circles::acos(x), far(x, 1.0))
    }
}

/// `¯3○Y`.
pub struct Atan;
impl Rule for Atan {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, _: L, _: L) -> (L, L::Mask) {
        sure(circles::atan(x))
    }
}

/// `X+Y`.
pub struct Add;
impl Rule for Add {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, _: L) -> (L, L::Mask) {
        sure(x.add(y))
    }
}

/// `X-Y`.
pub struct Sub;
impl Rule for Sub {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, _: L) -> (L, L::Mask) {
        sure(x.sub(y))
    }
}

/// `X×Y`.
pub struct Mul;
impl Rule for Mul {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, _: L) -> (L, L::Mask) {
        sure(x.mul(y))
    }
}

/// `X÷Y`; suspect: a Y of 0.
pub struct Div;
impl Rule for Div {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, _: L) -> (L, L::Mask) {
        (x.div(y), y.eq(zero()))
    }
}

/// All but positive numbers, and base 1.
#[inline(always)]
fn no_logarithm<L: Lane>(x: L, y: L) -> L::Mask {
    let positive = L::both(zero::<L>().lt(x), zero::<L>().lt(y));
    L::not(L::both(positive, L::not(x.eq(one()))))
}

/// `X*Y`; small whole exponents and ½ have a sequence of their own. Suspect of others: all but
/// normal positive X, and results far from 1.
pub struct Pow;
impl Rule for Pow {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, _: L) -> (L, L::Mask) {
        let (value, power) = math::raised(x, y);
        let normal = L::both(L::splat(L::LEAST).le(x), x.le(L::splat(L::MOST)));
        let near = power.abs().lt(L::splat(700.0));
        let small = L::both(y.abs().le(L::splat(64.0)), y.floor().eq(y));
        let (whole, odd) = math::small_powers(x, y);
        let half = y.eq(L::splat(0.5));
        let value = L::select(half, x.sqrt(), L::select(small, whole, value));
        let by_ln = L::both(normal, L::either(near, half));
        (value, L::not(L::either(L::both(small, L::not(odd)), L::both(by_ln, L::not(small)))))
    }
}

/// `X⍟Y`; suspect: all but positive numbers, and base 1.
pub struct Log;
impl Rule for Log {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, _: L) -> (L, L::Mask) {
        (math::ln(y).div(math::ln(x)), no_logarithm(x, y))
    }
    #[inline(always)]
    fn singles<L: Lane>(x: L, y: L, _: L) -> (L, L::Mask) {
        (single::ln(y).div(single::ln(x)), no_logarithm(x, y))
    }
}

/// `X⌈Y`.
pub struct Max;
impl Rule for Max {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, _: L) -> (L, L::Mask) {
        sure(x.max(y))
    }
}

/// `X⌊Y`.
pub struct Min;
impl Rule for Min {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, _: L) -> (L, L::Mask) {
        sure(x.min(y))
    }
}

/// `X|Y`; suspect: quotients of 2*52 and more, ∞, NaN.
pub struct Residue;
impl Rule for Residue {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, ct: L) -> (L, L::Mask) {
        math::residue(x, y, ct)
    }
}

/// LCM of 0 and 1.
pub struct And;
impl Rule for And {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, _: L) -> (L, L::Mask) {
        (x.mul(y), L::either(odd(x), odd(y)))
    }
}

/// GCD of 0 and 1.
pub struct Or;
impl Rule for Or {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, _: L) -> (L, L::Mask) {
        (x.abs().max(y.abs()), L::either(odd(x), odd(y)))
    }
}

/// `X⍲Y`; suspect: all but 0 and 1.
pub struct Nand;
impl Rule for Nand {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, _: L) -> (L, L::Mask) {
        (one::<L>().sub(x.mul(y)), L::either(odd(x), odd(y)))
    }
}

/// `X⍱Y`; suspect: all but 0 and 1.
pub struct Nor;
impl Rule for Nor {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, _: L) -> (L, L::Mask) {
        (one::<L>().sub(x.max(y)), L::either(odd(x), odd(y)))
    }
}

#[inline(always)]
fn equal<const TOLERANT: bool, L: Lane>(x: L, y: L, ct: L) -> L::Mask {
    if TOLERANT { math::same(x, y, ct) } else { x.eq(y) }
}

#[inline(always)]
fn less<const TOLERANT: bool, L: Lane>(x: L, y: L, ct: L) -> L::Mask {
    if TOLERANT { L::both(x.lt(y), L::not(math::same(x, y, ct))) } else { x.lt(y) }
}

#[inline(always)]
fn less_or_equal<const TOLERANT: bool, L: Lane>(x: L, y: L, ct: L) -> L::Mask {
    if TOLERANT { L::either(x.lt(y), math::same(x, y, ct)) } else { x.le(y) }
}

/// `X=Y`.
pub struct Eq<const TOLERANT: bool>;
impl<const TOLERANT: bool> Rule for Eq<TOLERANT> {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, ct: L) -> (L, L::Mask) {
        sure(math::truth(equal::<TOLERANT, L>(x, y, ct)))
    }
}

/// `X≠Y`.
pub struct Ne<const TOLERANT: bool>;
impl<const TOLERANT: bool> Rule for Ne<TOLERANT> {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, ct: L) -> (L, L::Mask) {
        sure(math::truth(L::not(equal::<TOLERANT, L>(x, y, ct))))
    }
}

/// `X<Y`.
pub struct Lt<const TOLERANT: bool>;
impl<const TOLERANT: bool> Rule for Lt<TOLERANT> {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, ct: L) -> (L, L::Mask) {
        sure(math::truth(less::<TOLERANT, L>(x, y, ct)))
    }
}

/// `X≤Y`.
pub struct Le<const TOLERANT: bool>;
impl<const TOLERANT: bool> Rule for Le<TOLERANT> {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, ct: L) -> (L, L::Mask) {
        sure(math::truth(less_or_equal::<TOLERANT, L>(x, y, ct)))
    }
}

/// `X≥Y`.
pub struct Ge<const TOLERANT: bool>;
impl<const TOLERANT: bool> Rule for Ge<TOLERANT> {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, ct: L) -> (L, L::Mask) {
        sure(math::truth(less_or_equal::<TOLERANT, L>(y, x, ct)))
    }
}

/// `X>Y`.
pub struct Gt<const TOLERANT: bool>;
impl<const TOLERANT: bool> Rule for Gt<TOLERANT> {
    #[inline(always)]
    fn lanes<L: Lane>(x: L, y: L, ct: L) -> (L, L::Mask) {
        sure(math::truth(less::<TOLERANT, L>(y, x, ct)))
    }
}

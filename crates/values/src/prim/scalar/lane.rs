//! `Lane`: one or several f64 treated alike. A sequence written over it means the same on every
//! instruction set.
//!
//! f64 implements it here; the kernel implements it for vector registers. Every method is one IEEE
//! operation or a pure move of bits, so an implementation has no freedom: results agree bit for bit
//! (NaN as a class).

pub trait Lane: Copy {
    type Mask: Copy;

    fn splat(x: f64) -> Self;
    fn add(self, y: Self) -> Self;
    fn sub(self, y: Self) -> Self;
    fn mul(self, y: Self) -> Self;
    fn div(self, y: Self) -> Self;
    /// `self*y + z`, rounded once.
    fn fma(self, y: Self, z: Self) -> Self;
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    fn floor(self) -> Self;
    /// `self > y ? self : y`, as the x86 instruction does it.
    fn max(self, y: Self) -> Self;
    /// `self < y ? self : y`.
    fn min(self, y: Self) -> Self;

    fn eq(self, y: Self) -> Self::Mask;
    fn lt(self, y: Self) -> Self::Mask;
    fn le(self, y: Self) -> Self::Mask;

    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn either(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn not(a: Self::Mask) -> Self::Mask;
    fn none() -> Self::Mask;
    fn any(a: Self::Mask) -> bool;
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// The 64-bit patterns: sum, and, or, exclusive or, shifts, test of one bit.
    fn bits_plus(self, k: u64) -> Self;
    fn bits_and(self, k: u64) -> Self;
    fn bits_or(self, k: u64) -> Self;
    fn bits_xor(self, y: Self) -> Self;
    fn bits_left(self, by: u32) -> Self;
    fn bits_right(self, by: u32) -> Self;
    fn bit_set(self, k: u64) -> Self::Mask;
}

impl Lane for f64 {
    type Mask = bool;

    #[inline(always)]
    fn splat(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn add(self, y: f64) -> f64 {
        self + y
    }
    #[inline(always)]
    fn sub(self, y: f64) -> f64 {
        self - y
    }
    #[inline(always)]
    fn mul(self, y: f64) -> f64 {
        self * y
    }
    #[inline(always)]
    fn div(self, y: f64) -> f64 {
        self / y
    }
    #[inline(always)]
    fn fma(self, y: f64, z: f64) -> f64 {
        self.mul_add(y, z)
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    #[inline(always)]
    fn floor(self) -> f64 {
        f64::floor(self)
    }
    #[inline(always)]
    fn max(self, y: f64) -> f64 {
        if self > y { self } else { y }
    }
    #[inline(always)]
    fn min(self, y: f64) -> f64 {
        if self < y { self } else { y }
    }
    #[inline(always)]
    fn eq(self, y: f64) -> bool {
        self == y
    }
    #[inline(always)]
    fn lt(self, y: f64) -> bool {
        self < y
    }
    #[inline(always)]
    fn le(self, y: f64) -> bool {
        self <= y
    }
    #[inline(always)]
    fn both(a: bool, b: bool) -> bool {
        a & b
    }
    #[inline(always)]
    fn either(a: bool, b: bool) -> bool {
        a | b
    }
    #[inline(always)]
    fn not(a: bool) -> bool {
        !a
    }
    #[inline(always)]
    fn none() -> bool {
        false
    }
    #[inline(always)]
    fn any(a: bool) -> bool {
        a
    }
    #[inline(always)]
    fn select(mask: bool, yes: f64, no: f64) -> f64 {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn bits_plus(self, k: u64) -> f64 {
        f64::from_bits(self.to_bits().wrapping_add(k))
    }
    #[inline(always)]
    fn bits_and(self, k: u64) -> f64 {
        f64::from_bits(self.to_bits() & k)
    }
    #[inline(always)]
    fn bits_or(self, k: u64) -> f64 {
        f64::from_bits(self.to_bits() | k)
    }
    #[inline(always)]
    fn bits_xor(self, y: f64) -> f64 {
        f64::from_bits(self.to_bits() ^ y.to_bits())
    }
    #[inline(always)]
    fn bits_left(self, by: u32) -> f64 {
        f64::from_bits(self.to_bits() << by)
    }
    #[inline(always)]
    fn bits_right(self, by: u32) -> f64 {
        f64::from_bits(self.to_bits() >> by)
    }
    #[inline(always)]
    fn bit_set(self, k: u64) -> bool {
        self.to_bits() & k != 0
    }
}

//! `Lane`: one or several f64 treated alike. A sequence written over it means the same on every
//! instruction set.
//!
//! f64 implements it here; the kernel implements it for vector registers. Every method is one IEEE
//! operation or a pure move of bits, so an implementation has no freedom: results agree bit for bit
//! (NaN as a class).

/// One or several f64 on which each operation works alike.
pub trait Lane: Copy {
    /// A truth for each number.
    type Mask: Copy;

    /// The same number in all.
    fn splat(x: f64) -> Self;
    /// `self + y`.
    fn add(self, y: Self) -> Self;
    /// `self - y`.
    fn sub(self, y: Self) -> Self;
    /// `self × y`.
    fn mul(self, y: Self) -> Self;
    /// `self ÷ y`.
    fn div(self, y: Self) -> Self;
    /// `self*y + z`, rounded once.
    fn fma(self, y: Self, z: Self) -> Self;
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// The magnitude; the sign bit cleared.
    fn abs(self) -> Self;
    /// The greatest whole number that is not above it.
    fn floor(self) -> Self;
    /// `self > y ? self : y`, as the x86 instruction does it.
    fn max(self, y: Self) -> Self;
    /// `self < y ? self : y`.
    fn min(self, y: Self) -> Self;

    /// `self = y`, exactly.
    fn eq(self, y: Self) -> Self::Mask;
    /// `self < y`, exactly.
    fn lt(self, y: Self) -> Self::Mask;
    /// `self ≤ y`, exactly.
    fn le(self, y: Self) -> Self::Mask;

    /// The lanes in which both hold.
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// The lanes in which either holds.
    fn either(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// The lanes in which it does not hold.
    fn not(a: Self::Mask) -> Self::Mask;
    /// Nowhere.
    fn none() -> Self::Mask;
    /// Whether it holds anywhere.
    fn any(a: Self::Mask) -> bool;
    /// `yes` where the mask holds, `no` elsewhere.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// The 64-bit patterns: sum, and, or, exclusive or, shifts, test of one bit.
    fn bits_plus(self, k: u64) -> Self;
    /// The pattern and `k`.
    fn bits_and(self, k: u64) -> Self;
    /// The pattern or `k`.
    fn bits_or(self, k: u64) -> Self;
    /// The pattern, flipped where `y` has ones.
    fn bits_xor(self, y: Self) -> Self;
    /// The pattern, so many bits to the left.
    fn bits_left(self, by: u32) -> Self;
    /// The pattern, so many bits to the right; zeros come in.
    fn bits_right(self, by: u32) -> Self;
    /// The lanes whose k-th bit is 1.
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

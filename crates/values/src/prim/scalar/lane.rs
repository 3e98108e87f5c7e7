//! `Lane`: one or several floats of one type treated alike. A sequence written over it means the
//! same on every instruction set.
//!
//! f64 and f32 implement it here; the kernel implements it for vector registers of both. Every
//! method is one IEEE operation or a pure move of bits, so an implementation has no freedom:
//! results agree bit for bit (NaN as a class).

/// One or several f64, or f32, on which each operation works alike.
pub trait Lane: Copy {
    /// A truth for each number.
    type Mask: Copy;
    /// The least normal number of the type.
    const LEAST: f64;
    /// The greatest number of the type.
    const MOST: f64;

    /// The same number in all, rounded to their type.
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

    /// The patterns of 64 bits, or 32, of which a `k` gives as many: sum, and, or, exclusive or,
    /// shifts, test of one bit.
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

    /// `self × 2*k` of a number near 1 and a whole k up to twice what an exponent may be, rounded
    /// once; `two` gives the powers that there are. In two steps, of which the first is exact, or
    /// in the one that a processor has.
    #[inline(always)]
    fn scaled(self, k: Self, two: impl Fn(Self) -> Self) -> Self {
        let half = k.mul(Self::splat(0.5)).floor();
        self.mul(two(half)).mul(two(k.sub(half)))
    }
}

/// The methods of one number of a type, whose patterns have a type of their own.
macro_rules! one_number {
    ($float:ident, $bits:ident) => {
        impl Lane for $float {
            type Mask = bool;
            const LEAST: f64 = $float::MIN_POSITIVE as f64;
            const MOST: f64 = $float::MAX as f64;

            #[inline(always)]
            fn splat(x: f64) -> $float {
                x as $float
            }
            #[inline(always)]
            fn add(self, y: $float) -> $float {
                self + y
            }
            #[inline(always)]
            fn sub(self, y: $float) -> $float {
                self - y
            }
            #[inline(always)]
            fn mul(self, y: $float) -> $float {
                self * y
            }
            #[inline(always)]
            fn div(self, y: $float) -> $float {
                self / y
            }
            #[inline(always)]
            fn fma(self, y: $float, z: $float) -> $float {
                self.mul_add(y, z)
            }
            #[inline(always)]
            fn sqrt(self) -> $float {
                $float::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> $float {
                $float::abs(self)
            }
            #[inline(always)]
            fn floor(self) -> $float {
                $float::floor(self)
            }
            #[inline(always)]
            fn max(self, y: $float) -> $float {
                if self > y { self } else { y }
            }
            #[inline(always)]
            fn min(self, y: $float) -> $float {
                if self < y { self } else { y }
            }
            #[inline(always)]
            fn eq(self, y: $float) -> bool {
                self == y
            }
            #[inline(always)]
            fn lt(self, y: $float) -> bool {
                self < y
            }
            #[inline(always)]
            fn le(self, y: $float) -> bool {
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
            fn select(mask: bool, yes: $float, no: $float) -> $float {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn bits_plus(self, k: u64) -> $float {
                $float::from_bits(self.to_bits().wrapping_add(k as $bits))
            }
            #[inline(always)]
            fn bits_and(self, k: u64) -> $float {
                $float::from_bits(self.to_bits() & k as $bits)
            }
            #[inline(always)]
            fn bits_or(self, k: u64) -> $float {
                $float::from_bits(self.to_bits() | k as $bits)
            }
            #[inline(always)]
            fn bits_xor(self, y: $float) -> $float {
                $float::from_bits(self.to_bits() ^ y.to_bits())
            }
            #[inline(always)]
            fn bits_left(self, by: u32) -> $float {
                $float::from_bits(self.to_bits() << by)
            }
            #[inline(always)]
            fn bits_right(self, by: u32) -> $float {
                $float::from_bits(self.to_bits() >> by)
            }
            #[inline(always)]
            fn bit_set(self, k: u64) -> bool {
                self.to_bits() & k as $bits != 0
            }
        }
    };
}

one_number!(f64, u64);
one_number!(f32, u32);

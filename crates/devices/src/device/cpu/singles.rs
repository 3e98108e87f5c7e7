//! `Lane` for vector registers, by the names of their instructions; those of f32: half of those in
//! `lanes`, as many numbers, and a whole one; and `Cells`: lanes that are loaded and stored as they
//! are.
//!
//! SAFETY of every block here: as in `lanes`; an `S8` or `S4` is made from a `V8` or `V4`.

use aplomb_values::prim::scalar::lane::Lane;

/// # Safety
/// `take` and `put` touch `COUNT` items at the pointer, aligned or not.
pub unsafe trait Cells: Lane {
    type Item;
    const COUNT: usize;
    /// # Safety
    /// `COUNT` items are readable at `at`.
    unsafe fn take(at: *const Self::Item) -> Self;
    /// # Safety
    /// `COUNT` items are writable at `at`.
    unsafe fn put(self, at: *mut Self::Item);
}

/// A register whose lanes are as the instructions say, and what is the same of all: arithmetic and
/// patterns. What gives truths is `$truths`: whole methods, and the type of these.
#[cfg(target_arch = "x86_64")]
macro_rules! lanes {
    ($(#[$doc:meta])* $name:ident($register:ty) of $float:ident, $int:ident:
        $set:ident $add:ident $sub:ident $mul:ident $div:ident $fma:ident $sqrt:ident $max:ident
        $min:ident, |$x:ident| $floor:expr;
        $bits:ident $from:ident $set_bits:ident $plus:ident $and:ident $or:ident $xor:ident
        $left:ident $right:ident; $($truths:tt)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name(pub $register);

        // SAFETY (all of the block): see the module.
        impl Lane for $name {
            const LEAST: f64 = $float::LEAST;
            const MOST: f64 = $float::MOST;

            #[inline(always)]
            fn splat(x: f64) -> Self {
                Self(unsafe { $set(x as $float) })
            }
            #[inline(always)]
            fn add(self, y: Self) -> Self {
                Self(unsafe { $add(self.0, y.0) })
            }
            #[inline(always)]
            fn sub(self, y: Self) -> Self {
                Self(unsafe { $sub(self.0, y.0) })
            }
            #[inline(always)]
            fn mul(self, y: Self) -> Self {
                Self(unsafe { $mul(self.0, y.0) })
            }
            #[inline(always)]
            fn div(self, y: Self) -> Self {
                Self(unsafe { $div(self.0, y.0) })
            }
            #[inline(always)]
            fn fma(self, y: Self, z: Self) -> Self {
                Self(unsafe { $fma(self.0, y.0, z.0) })
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self(unsafe { $sqrt(self.0) })
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.bits_and($int::MAX as u64)
            }
            #[inline(always)]
            fn floor(self) -> Self {
                let $x = self.0;
                Self(unsafe { $floor })
            }
            #[inline(always)]
            fn max(self, y: Self) -> Self {
                Self(unsafe { $max(self.0, y.0) })
            }
            #[inline(always)]
            fn min(self, y: Self) -> Self {
                Self(unsafe { $min(self.0, y.0) })
            }
            #[inline(always)]
            fn bits_plus(self, k: u64) -> Self {
                Self(unsafe { $from($plus($bits(self.0), $set_bits(k as $int))) })
            }
            #[inline(always)]
            fn bits_and(self, k: u64) -> Self {
                Self(unsafe { $from($and($bits(self.0), $set_bits(k as $int))) })
            }
            #[inline(always)]
            fn bits_or(self, k: u64) -> Self {
                Self(unsafe { $from($or($bits(self.0), $set_bits(k as $int))) })
            }
            #[inline(always)]
            fn bits_xor(self, y: Self) -> Self {
                Self(unsafe { $from($xor($bits(self.0), $bits(y.0))) })
            }
            #[inline(always)]
            fn bits_left(self, by: u32) -> Self {
                Self(unsafe { $from($left($bits(self.0), _mm_cvtsi64_si128(i64::from(by)))) })
            }
            #[inline(always)]
            fn bits_right(self, by: u32) -> Self {
                Self(unsafe { $from($right($bits(self.0), _mm_cvtsi64_si128(i64::from(by)))) })
            }
            $($truths)*
        }
    };
}

/// Truths in a mask register, a bit a lane; and the power of two that goes with such registers.
#[cfg(target_arch = "x86_64")]
macro_rules! in_mask {
    ($mask:ty: $cmp:ident $blend:ident $test:ident $scale:ident;
        $bits:ident $set_bits:ident $int:ident) => {
        type Mask = $mask;

        #[inline(always)]
        fn scaled(self, k: Self, _: impl Fn(Self) -> Self) -> Self {
            Self(unsafe { $scale(self.0, k.0) })
        }

        #[inline(always)]
        fn eq(self, y: Self) -> $mask {
            unsafe { $cmp::<_CMP_EQ_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn lt(self, y: Self) -> $mask {
            unsafe { $cmp::<_CMP_LT_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn le(self, y: Self) -> $mask {
            unsafe { $cmp::<_CMP_LE_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn both(a: $mask, b: $mask) -> $mask {
            a & b
        }
        #[inline(always)]
        fn either(a: $mask, b: $mask) -> $mask {
            a | b
        }
        #[inline(always)]
        fn not(a: $mask) -> $mask {
            !a
        }
        #[inline(always)]
        fn none() -> $mask {
            0
        }
        #[inline(always)]
        fn any(a: $mask) -> bool {
            a != 0
        }
        #[inline(always)]
        fn select(mask: $mask, yes: Self, no: Self) -> Self {
            Self(unsafe { $blend(mask, no.0, yes.0) })
        }
        #[inline(always)]
        fn bit_set(self, k: u64) -> $mask {
            unsafe { $test($bits(self.0), $set_bits(k as $int)) }
        }
    };
}

/// Truths in a register of the same size, all bits of a lane.
#[cfg(target_arch = "x86_64")]
macro_rules! in_lanes {
    ($mask:ty: $cmp:ident $and:ident $or:ident $xor:ident $zero:ident $signs:ident $blend:ident;
        $bits:ident $from:ident $set_bits:ident $and_bits:ident $equal:ident $none:ident
        $int:ident) => {
        type Mask = $mask;

        #[inline(always)]
        fn eq(self, y: Self) -> $mask {
            unsafe { $cmp::<_CMP_EQ_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn lt(self, y: Self) -> $mask {
            unsafe { $cmp::<_CMP_LT_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn le(self, y: Self) -> $mask {
            unsafe { $cmp::<_CMP_LE_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn both(a: $mask, b: $mask) -> $mask {
            unsafe { $and(a, b) }
        }
        #[inline(always)]
        fn either(a: $mask, b: $mask) -> $mask {
            unsafe { $or(a, b) }
        }
        #[inline(always)]
        fn not(a: $mask) -> $mask {
            unsafe { $xor(a, $from($set_bits(-1))) }
        }
        #[inline(always)]
        fn none() -> $mask {
            unsafe { $zero() }
        }
        #[inline(always)]
        fn any(a: $mask) -> bool {
            unsafe { $signs(a) != 0 }
        }
        #[inline(always)]
        fn select(mask: $mask, yes: Self, no: Self) -> Self {
            Self(unsafe { $blend(no.0, yes.0, mask) })
        }
        #[inline(always)]
        fn bit_set(self, k: u64) -> $mask {
            // Patterns are compared as whole numbers: one that is NaN equals nothing.
            let bit = unsafe { $and_bits($bits(self.0), $set_bits(k as $int)) };
            Self::not(unsafe { $from($equal(bit, $none())) })
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(super) use {in_lanes, in_mask, lanes};

/// The cells of some lanes, by what loads and stores them.
macro_rules! cells {
    ($lane:ty, $item:ty, $count:literal,
        |$from:ident| $take:expr, |$own:ident, $to:ident| $put:expr) => {
        // SAFETY: so many items.
        unsafe impl Cells for $lane {
            type Item = $item;
            const COUNT: usize = $count;
            #[inline(always)]
            unsafe fn take($from: *const $item) -> Self {
                unsafe { $take }
            }
            #[inline(always)]
            unsafe fn put(self, $to: *mut $item) {
                let $own = self;
                unsafe { $put }
            }
        }
    };
}

pub(super) use cells;

cells!(f64, f64, 1, |at| *at, |x, at| *at = x);
cells!(f32, f32, 1, |at| *at, |x, at| *at = x);

#[cfg(target_arch = "x86_64")]
pub use x86::{S4, S8, S16};

/// Every intrinsic below is safe to run where its feature is there, which is the module's
/// condition.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::device::cpu::singles::Cells;
    use aplomb_values::prim::scalar::lane::Lane;
    use std::arch::x86_64::*;

    cells!(S16, f32, 16, |at| S16(_mm512_loadu_ps(at)), |x, at| _mm512_storeu_ps(at, x.0));
    cells!(S8, f32, 8, |at| S8(_mm256_loadu_ps(at)), |x, at| _mm256_storeu_ps(at, x.0));
    cells!(S4, f32, 4, |at| S4(_mm_loadu_ps(at)), |x, at| _mm_storeu_ps(at, x.0));

    lanes! {
        /// Sixteen f32.
        S16(__m512) of f32, i32:
            _mm512_set1_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps _mm512_fmadd_ps
            _mm512_sqrt_ps _mm512_max_ps _mm512_min_ps,
            |x| _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(x);
            _mm512_castps_si512 _mm512_castsi512_ps _mm512_set1_epi32 _mm512_add_epi32
            _mm512_and_si512 _mm512_or_si512
            _mm512_xor_si512 _mm512_sll_epi32 _mm512_srl_epi32;
        in_mask!(__mmask16: _mm512_cmp_ps_mask _mm512_mask_blend_ps _mm512_test_epi32_mask
            _mm512_scalef_ps; _mm512_castps_si512 _mm512_set1_epi32 i32);
    }

    lanes! {
        /// Eight f32.
        S8(__m256) of f32, i32:
            _mm256_set1_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_fmadd_ps
            _mm256_sqrt_ps _mm256_max_ps _mm256_min_ps,
            |x| _mm256_floor_ps(x);
            _mm256_castps_si256 _mm256_castsi256_ps _mm256_set1_epi32 _mm256_add_epi32
            _mm256_and_si256 _mm256_or_si256
            _mm256_xor_si256 _mm256_sll_epi32 _mm256_srl_epi32;
        in_mask!(__mmask8: _mm256_cmp_ps_mask _mm256_mask_blend_ps _mm256_test_epi32_mask
            _mm256_scalef_ps; _mm256_castps_si256 _mm256_set1_epi32 i32);
    }

    lanes! {
        /// Four f32.
        S4(__m128) of f32, i32:
            _mm_set1_ps _mm_add_ps _mm_sub_ps _mm_mul_ps _mm_div_ps _mm_fmadd_ps
            _mm_sqrt_ps _mm_max_ps _mm_min_ps, |x| _mm_floor_ps(x);
            _mm_castps_si128 _mm_castsi128_ps _mm_set1_epi32 _mm_add_epi32 _mm_and_si128
            _mm_or_si128
            _mm_xor_si128 _mm_sll_epi32 _mm_srl_epi32;
        in_lanes!(__m128: _mm_cmp_ps _mm_and_ps _mm_or_ps _mm_xor_ps _mm_setzero_ps
            _mm_movemask_ps _mm_blendv_ps;
            _mm_castps_si128 _mm_castsi128_ps _mm_set1_epi32 _mm_and_si128 _mm_cmpeq_epi32
            _mm_setzero_si128 i32);
    }
}

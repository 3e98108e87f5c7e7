//! `Lane` for vector registers of f32: half of those in `lanes`, as many numbers, and a whole one;
//! and `Cells`: lanes that are loaded and stored as they are.
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

    /// Sixteen f32.
    #[derive(Clone, Copy)]
    pub struct S16(pub __m512);

    // SAFETY (all of the block): see the module.
    impl Lane for S16 {
        type Mask = __mmask16;
        const LEAST: f64 = f32::LEAST;
        const MOST: f64 = f32::MOST;

        #[inline(always)]
        fn splat(x: f64) -> S16 {
            S16(unsafe { _mm512_set1_ps(x as f32) })
        }
        #[inline(always)]
        fn add(self, y: S16) -> S16 {
            S16(unsafe { _mm512_add_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn sub(self, y: S16) -> S16 {
            S16(unsafe { _mm512_sub_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn mul(self, y: S16) -> S16 {
            S16(unsafe { _mm512_mul_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn div(self, y: S16) -> S16 {
            S16(unsafe { _mm512_div_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn fma(self, y: S16, z: S16) -> S16 {
            S16(unsafe { _mm512_fmadd_ps(self.0, y.0, z.0) })
        }
        #[inline(always)]
        fn sqrt(self) -> S16 {
            S16(unsafe { _mm512_sqrt_ps(self.0) })
        }
        #[inline(always)]
        fn abs(self) -> S16 {
            self.bits_and(!(1 << 31))
        }
        #[inline(always)]
        fn floor(self) -> S16 {
            S16(unsafe {
                _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(self.0)
            })
        }
        #[inline(always)]
        fn max(self, y: S16) -> S16 {
            S16(unsafe { _mm512_max_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn min(self, y: S16) -> S16 {
            S16(unsafe { _mm512_min_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn eq(self, y: S16) -> __mmask16 {
            unsafe { _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn lt(self, y: S16) -> __mmask16 {
            unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn le(self, y: S16) -> __mmask16 {
            unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn both(a: __mmask16, b: __mmask16) -> __mmask16 {
            a & b
        }
        #[inline(always)]
        fn either(a: __mmask16, b: __mmask16) -> __mmask16 {
            a | b
        }
        #[inline(always)]
        fn not(a: __mmask16) -> __mmask16 {
            !a
        }
        #[inline(always)]
        fn none() -> __mmask16 {
            0
        }
        #[inline(always)]
        fn any(a: __mmask16) -> bool {
            a != 0
        }
        #[inline(always)]
        fn select(mask: __mmask16, yes: S16, no: S16) -> S16 {
            S16(unsafe { _mm512_mask_blend_ps(mask, no.0, yes.0) })
        }
        #[inline(always)]
        fn bits_plus(self, k: u64) -> S16 {
            S16(unsafe {
                _mm512_castsi512_ps(_mm512_add_epi32(
                    _mm512_castps_si512(self.0),
                    _mm512_set1_epi32(k as i32),
                ))
            })
        }
        #[inline(always)]
        fn bits_and(self, k: u64) -> S16 {
            S16(unsafe {
                _mm512_castsi512_ps(_mm512_and_si512(
                    _mm512_castps_si512(self.0),
                    _mm512_set1_epi32(k as i32),
                ))
            })
        }
        #[inline(always)]
        fn bits_or(self, k: u64) -> S16 {
            S16(unsafe {
                _mm512_castsi512_ps(_mm512_or_si512(
                    _mm512_castps_si512(self.0),
                    _mm512_set1_epi32(k as i32),
                ))
            })
        }
        #[inline(always)]
        fn bits_xor(self, y: S16) -> S16 {
            S16(unsafe {
                _mm512_castsi512_ps(_mm512_xor_si512(
                    _mm512_castps_si512(self.0),
                    _mm512_castps_si512(y.0),
                ))
            })
        }
        #[inline(always)]
        fn bits_left(self, by: u32) -> S16 {
            S16(unsafe {
                _mm512_castsi512_ps(_mm512_sll_epi32(
                    _mm512_castps_si512(self.0),
                    _mm_cvtsi32_si128(by as i32),
                ))
            })
        }
        #[inline(always)]
        fn bits_right(self, by: u32) -> S16 {
            S16(unsafe {
                _mm512_castsi512_ps(_mm512_srl_epi32(
                    _mm512_castps_si512(self.0),
                    _mm_cvtsi32_si128(by as i32),
                ))
            })
        }
        #[inline(always)]
        fn bit_set(self, k: u64) -> __mmask16 {
            unsafe {
                _mm512_test_epi32_mask(_mm512_castps_si512(self.0), _mm512_set1_epi32(k as i32))
            }
        }
    }

    /// Eight f32.
    #[derive(Clone, Copy)]
    pub struct S8(pub __m256);

    // SAFETY (all of the block): see the module.
    impl Lane for S8 {
        type Mask = __mmask8;
        const LEAST: f64 = f32::LEAST;
        const MOST: f64 = f32::MOST;

        #[inline(always)]
        fn splat(x: f64) -> S8 {
            S8(unsafe { _mm256_set1_ps(x as f32) })
        }
        #[inline(always)]
        fn add(self, y: S8) -> S8 {
            S8(unsafe { _mm256_add_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn sub(self, y: S8) -> S8 {
            S8(unsafe { _mm256_sub_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn mul(self, y: S8) -> S8 {
            S8(unsafe { _mm256_mul_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn div(self, y: S8) -> S8 {
            S8(unsafe { _mm256_div_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn fma(self, y: S8, z: S8) -> S8 {
            S8(unsafe { _mm256_fmadd_ps(self.0, y.0, z.0) })
        }
        #[inline(always)]
        fn sqrt(self) -> S8 {
            S8(unsafe { _mm256_sqrt_ps(self.0) })
        }
        #[inline(always)]
        fn abs(self) -> S8 {
            self.bits_and(!(1 << 31))
        }
        #[inline(always)]
        fn floor(self) -> S8 {
            S8(unsafe { _mm256_floor_ps(self.0) })
        }
        #[inline(always)]
        fn max(self, y: S8) -> S8 {
            S8(unsafe { _mm256_max_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn min(self, y: S8) -> S8 {
            S8(unsafe { _mm256_min_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn eq(self, y: S8) -> __mmask8 {
            unsafe { _mm256_cmp_ps_mask::<_CMP_EQ_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn lt(self, y: S8) -> __mmask8 {
            unsafe { _mm256_cmp_ps_mask::<_CMP_LT_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn le(self, y: S8) -> __mmask8 {
            unsafe { _mm256_cmp_ps_mask::<_CMP_LE_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn both(a: __mmask8, b: __mmask8) -> __mmask8 {
            a & b
        }
        #[inline(always)]
        fn either(a: __mmask8, b: __mmask8) -> __mmask8 {
            a | b
        }
        #[inline(always)]
        fn not(a: __mmask8) -> __mmask8 {
            !a
        }
        #[inline(always)]
        fn none() -> __mmask8 {
            0
        }
        #[inline(always)]
        fn any(a: __mmask8) -> bool {
            a != 0
        }
        #[inline(always)]
        fn select(mask: __mmask8, yes: S8, no: S8) -> S8 {
            S8(unsafe { _mm256_mask_blend_ps(mask, no.0, yes.0) })
        }
        #[inline(always)]
        fn bits_plus(self, k: u64) -> S8 {
            S8(unsafe {
                _mm256_castsi256_ps(_mm256_add_epi32(
                    _mm256_castps_si256(self.0),
                    _mm256_set1_epi32(k as i32),
                ))
            })
        }
        #[inline(always)]
        fn bits_and(self, k: u64) -> S8 {
            S8(unsafe {
                _mm256_castsi256_ps(_mm256_and_si256(
                    _mm256_castps_si256(self.0),
                    _mm256_set1_epi32(k as i32),
                ))
            })
        }
        #[inline(always)]
        fn bits_or(self, k: u64) -> S8 {
            S8(unsafe {
                _mm256_castsi256_ps(_mm256_or_si256(
                    _mm256_castps_si256(self.0),
                    _mm256_set1_epi32(k as i32),
                ))
            })
        }
        #[inline(always)]
        fn bits_xor(self, y: S8) -> S8 {
            S8(unsafe {
                _mm256_castsi256_ps(_mm256_xor_si256(
                    _mm256_castps_si256(self.0),
                    _mm256_castps_si256(y.0),
                ))
            })
        }
        #[inline(always)]
        fn bits_left(self, by: u32) -> S8 {
            S8(unsafe {
                _mm256_castsi256_ps(_mm256_sll_epi32(
                    _mm256_castps_si256(self.0),
                    _mm_cvtsi32_si128(by as i32),
                ))
            })
        }
        #[inline(always)]
        fn bits_right(self, by: u32) -> S8 {
            S8(unsafe {
                _mm256_castsi256_ps(_mm256_srl_epi32(
                    _mm256_castps_si256(self.0),
                    _mm_cvtsi32_si128(by as i32),
                ))
            })
        }
        #[inline(always)]
        fn bit_set(self, k: u64) -> __mmask8 {
            unsafe {
                _mm256_test_epi32_mask(_mm256_castps_si256(self.0), _mm256_set1_epi32(k as i32))
            }
        }
    }

    /// Four f32.
    #[derive(Clone, Copy)]
    pub struct S4(pub __m128);

    // SAFETY (all of the block): see the module.
    impl Lane for S4 {
        type Mask = __m128;
        const LEAST: f64 = f32::LEAST;
        const MOST: f64 = f32::MOST;

        #[inline(always)]
        fn splat(x: f64) -> S4 {
            S4(unsafe { _mm_set1_ps(x as f32) })
        }
        #[inline(always)]
        fn add(self, y: S4) -> S4 {
            S4(unsafe { _mm_add_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn sub(self, y: S4) -> S4 {
            S4(unsafe { _mm_sub_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn mul(self, y: S4) -> S4 {
            S4(unsafe { _mm_mul_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn div(self, y: S4) -> S4 {
            S4(unsafe { _mm_div_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn fma(self, y: S4, z: S4) -> S4 {
            S4(unsafe { _mm_fmadd_ps(self.0, y.0, z.0) })
        }
        #[inline(always)]
        fn sqrt(self) -> S4 {
            S4(unsafe { _mm_sqrt_ps(self.0) })
        }
        #[inline(always)]
        fn abs(self) -> S4 {
            self.bits_and(!(1 << 31))
        }
        #[inline(always)]
        fn floor(self) -> S4 {
            S4(unsafe { _mm_floor_ps(self.0) })
        }
        #[inline(always)]
        fn max(self, y: S4) -> S4 {
            S4(unsafe { _mm_max_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn min(self, y: S4) -> S4 {
            S4(unsafe { _mm_min_ps(self.0, y.0) })
        }
        #[inline(always)]
        fn eq(self, y: S4) -> __m128 {
            unsafe { _mm_cmp_ps::<_CMP_EQ_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn lt(self, y: S4) -> __m128 {
            unsafe { _mm_cmp_ps::<_CMP_LT_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn le(self, y: S4) -> __m128 {
            unsafe { _mm_cmp_ps::<_CMP_LE_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn both(a: __m128, b: __m128) -> __m128 {
            unsafe { _mm_and_ps(a, b) }
        }
        #[inline(always)]
        fn either(a: __m128, b: __m128) -> __m128 {
            unsafe { _mm_or_ps(a, b) }
        }
        #[inline(always)]
        fn not(a: __m128) -> __m128 {
            unsafe { _mm_xor_ps(a, _mm_castsi128_ps(_mm_set1_epi32(-1))) }
        }
        #[inline(always)]
        fn none() -> __m128 {
            unsafe { _mm_setzero_ps() }
        }
        #[inline(always)]
        fn any(a: __m128) -> bool {
            unsafe { _mm_movemask_ps(a) != 0 }
        }
        #[inline(always)]
        fn select(mask: __m128, yes: S4, no: S4) -> S4 {
            S4(unsafe { _mm_blendv_ps(no.0, yes.0, mask) })
        }
        #[inline(always)]
        fn bits_plus(self, k: u64) -> S4 {
            S4(unsafe {
                _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(self.0), _mm_set1_epi32(k as i32)))
            })
        }
        #[inline(always)]
        fn bits_and(self, k: u64) -> S4 {
            S4(unsafe {
                _mm_castsi128_ps(_mm_and_si128(_mm_castps_si128(self.0), _mm_set1_epi32(k as i32)))
            })
        }
        #[inline(always)]
        fn bits_or(self, k: u64) -> S4 {
            S4(unsafe {
                _mm_castsi128_ps(_mm_or_si128(_mm_castps_si128(self.0), _mm_set1_epi32(k as i32)))
            })
        }
        #[inline(always)]
        fn bits_xor(self, y: S4) -> S4 {
            S4(unsafe {
                _mm_castsi128_ps(_mm_xor_si128(_mm_castps_si128(self.0), _mm_castps_si128(y.0)))
            })
        }
        #[inline(always)]
        fn bits_left(self, by: u32) -> S4 {
            S4(unsafe {
                _mm_castsi128_ps(_mm_sll_epi32(
                    _mm_castps_si128(self.0),
                    _mm_cvtsi32_si128(by as i32),
                ))
            })
        }
        #[inline(always)]
        fn bits_right(self, by: u32) -> S4 {
            S4(unsafe {
                _mm_castsi128_ps(_mm_srl_epi32(
                    _mm_castps_si128(self.0),
                    _mm_cvtsi32_si128(by as i32),
                ))
            })
        }
        #[inline(always)]
        fn bit_set(self, k: u64) -> __m128 {
            // SAFETY: see the module. Patterns are compared as whole numbers.
            let clear = unsafe {
                let bit = _mm_and_si128(_mm_castps_si128(self.0), _mm_set1_epi32(k as i32));
                _mm_castsi128_ps(_mm_cmpeq_epi32(bit, _mm_setzero_si128()))
            };
            S4::not(clear)
        }
    }
}

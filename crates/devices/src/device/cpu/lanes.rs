//! `Lane` for vector registers, and `Wide`: lanes that are loaded and stored.
//!
//! Only functions compiled with the matching `target_feature` may instantiate these (`loops.rs`
//! does, by its macro); everything here is inlined into them.
//!
//! SAFETY of every block here: a `V8` or `V4` is made only inside a function that has its target
//! features (`loops`), which the dispatcher picks only where the machine has them; pointers come
//! from callers who promise a vector's room.

use aplomb_values::prim::scalar::lane::Lane;

/// # Safety
/// `load` and `store` touch `N` elements at the pointer, aligned or not.
pub unsafe trait Wide: Lane {
    const N: usize;
    /// # Safety
    /// `N` elements are readable at `at`.
    unsafe fn load(at: *const f64) -> Self;
    /// # Safety
    /// `N` elements are writable at `at`.
    unsafe fn store(self, at: *mut f64);
    /// As many f32.
    type Short: Lane;
    /// Each as f32.
    fn short(self) -> Self::Short;
    /// Each as f64.
    fn long(x: Self::Short) -> Self;
    /// Truths of as many f32.
    fn long_mask(mask: <Self::Short as Lane>::Mask) -> Self::Mask;
    /// Rows become columns, of the first `N` registers.
    fn turn(block: &mut [Self; 8]);
    /// Past the caches. # Safety: as `store`, and `at` is aligned to the register.
    #[inline(always)]
    unsafe fn stream(self, at: *mut f64) {
        unsafe { self.store(at) }
    }
}

// SAFETY: one element.
unsafe impl Wide for f64 {
    const N: usize = 1;
    #[inline(always)]
    unsafe fn load(at: *const f64) -> f64 {
        unsafe { *at }
    }
    #[inline(always)]
    unsafe fn store(self, at: *mut f64) {
        unsafe { *at = self }
    }
    type Short = f32;
    #[inline(always)]
    fn short(self) -> f32 {
        self as f32
    }
    #[inline(always)]
    fn long(x: f32) -> f64 {
        x.into()
    }
    #[inline(always)]
    fn long_mask(mask: bool) -> bool {
        mask
    }
    #[inline(always)]
    fn turn(_: &mut [f64; 8]) {}
}

#[cfg(target_arch = "x86_64")]
pub use x86::{V4, V8};

/// Every intrinsic below is safe to run where its feature is there, which is the module's
/// condition.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Lane, Wide};
    use crate::device::cpu::singles::{Cells, S4, S8, cells};
    use std::arch::x86_64::*;

    cells!(V8, f64, 8, |at| V8::load(at), |x, at| x.store(at));
    cells!(V4, f64, 4, |at| V4::load(at), |x, at| x.store(at));

    #[derive(Clone, Copy)]
    pub struct V8(__m512d);

    #[inline(always)]
    fn bits8(x: V8) -> __m512i {
        // SAFETY: see the module.
        unsafe { _mm512_castpd_si512(x.0) }
    }

    #[inline(always)]
    fn from8(x: __m512i) -> V8 {
        // SAFETY: see the module.
        V8(unsafe { _mm512_castsi512_pd(x) })
    }

    // SAFETY (all of the block): see the module.
    impl Lane for V8 {
        type Mask = __mmask8;
        const LEAST: f64 = f64::LEAST;
        const MOST: f64 = f64::MOST;

        #[inline(always)]
        fn splat(x: f64) -> V8 {
            V8(unsafe { _mm512_set1_pd(x) })
        }
        #[inline(always)]
        fn add(self, y: V8) -> V8 {
            V8(unsafe { _mm512_add_pd(self.0, y.0) })
        }
        #[inline(always)]
        fn sub(self, y: V8) -> V8 {
            V8(unsafe { _mm512_sub_pd(self.0, y.0) })
        }
        #[inline(always)]
        fn mul(self, y: V8) -> V8 {
            V8(unsafe { _mm512_mul_pd(self.0, y.0) })
        }
        #[inline(always)]
        fn div(self, y: V8) -> V8 {
            V8(unsafe { _mm512_div_pd(self.0, y.0) })
        }
        #[inline(always)]
        fn fma(self, y: V8, z: V8) -> V8 {
            V8(unsafe { _mm512_fmadd_pd(self.0, y.0, z.0) })
        }
        #[inline(always)]
        fn sqrt(self) -> V8 {
            V8(unsafe { _mm512_sqrt_pd(self.0) })
        }
        #[inline(always)]
        fn abs(self) -> V8 {
            self.bits_and(!(1 << 63))
        }
        #[inline(always)]
        fn floor(self) -> V8 {
            V8(unsafe {
                _mm512_roundscale_pd::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(self.0)
            })
        }
        #[inline(always)]
        fn max(self, y: V8) -> V8 {
            V8(unsafe { _mm512_max_pd(self.0, y.0) })
        }
        #[inline(always)]
        fn min(self, y: V8) -> V8 {
            V8(unsafe { _mm512_min_pd(self.0, y.0) })
        }
        #[inline(always)]
        fn eq(self, y: V8) -> __mmask8 {
            unsafe { _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn lt(self, y: V8) -> __mmask8 {
            unsafe { _mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn le(self, y: V8) -> __mmask8 {
            unsafe { _mm512_cmp_pd_mask::<_CMP_LE_OQ>(self.0, y.0) }
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
        fn select(mask: __mmask8, yes: V8, no: V8) -> V8 {
            V8(unsafe { _mm512_mask_blend_pd(mask, no.0, yes.0) })
        }
        #[inline(always)]
        fn bits_plus(self, k: u64) -> V8 {
            from8(unsafe { _mm512_add_epi64(bits8(self), _mm512_set1_epi64(k as i64)) })
        }
        #[inline(always)]
        fn bits_and(self, k: u64) -> V8 {
            from8(unsafe { _mm512_and_si512(bits8(self), _mm512_set1_epi64(k as i64)) })
        }
        #[inline(always)]
        fn bits_or(self, k: u64) -> V8 {
            from8(unsafe { _mm512_or_si512(bits8(self), _mm512_set1_epi64(k as i64)) })
        }
        #[inline(always)]
        fn bits_xor(self, y: V8) -> V8 {
            from8(unsafe { _mm512_xor_si512(bits8(self), bits8(y)) })
        }
        #[inline(always)]
        fn bits_left(self, by: u32) -> V8 {
            from8(unsafe { _mm512_sll_epi64(bits8(self), _mm_cvtsi64_si128(i64::from(by))) })
        }
        #[inline(always)]
        fn bits_right(self, by: u32) -> V8 {
            from8(unsafe { _mm512_srl_epi64(bits8(self), _mm_cvtsi64_si128(i64::from(by))) })
        }
        #[inline(always)]
        fn bit_set(self, k: u64) -> __mmask8 {
            unsafe { _mm512_test_epi64_mask(bits8(self), _mm512_set1_epi64(k as i64)) }
        }
    }

    // SAFETY: eight elements.
    unsafe impl Wide for V8 {
        const N: usize = 8;
        #[inline(always)]
        unsafe fn load(at: *const f64) -> V8 {
            V8(unsafe { _mm512_loadu_pd(at) })
        }
        #[inline(always)]
        unsafe fn store(self, at: *mut f64) {
            unsafe { _mm512_storeu_pd(at, self.0) }
        }
        #[inline(always)]
        fn turn(block: &mut [V8; 8]) {
            unsafe {
                // Pairs of rows, then pairs of those, each in pairs of elements.
                let low = |k: usize| _mm512_unpacklo_pd(block[k].0, block[k + 1].0);
                let high = |k: usize| _mm512_unpackhi_pd(block[k].0, block[k + 1].0);
                let halves =
                    [[low(0), low(2), low(4), low(6)], [high(0), high(2), high(4), high(6)]];
                for (odd, [a, b, c, d]) in halves.into_iter().enumerate() {
                    let (p, q) =
                        (_mm512_shuffle_f64x2::<0x88>(a, b), _mm512_shuffle_f64x2::<0x88>(c, d));
                    let (r, s) =
                        (_mm512_shuffle_f64x2::<0xdd>(a, b), _mm512_shuffle_f64x2::<0xdd>(c, d));
                    block[odd] = V8(_mm512_shuffle_f64x2::<0x88>(p, q));
                    block[odd + 2] = V8(_mm512_shuffle_f64x2::<0x88>(r, s));
                    block[odd + 4] = V8(_mm512_shuffle_f64x2::<0xdd>(p, q));
                    block[odd + 6] = V8(_mm512_shuffle_f64x2::<0xdd>(r, s));
                }
            }
        }
        type Short = S8;
        #[inline(always)]
        fn short(self) -> S8 {
            S8(unsafe { _mm512_cvtpd_ps(self.0) })
        }
        #[inline(always)]
        fn long(x: S8) -> V8 {
            V8(unsafe { _mm512_cvtps_pd(x.0) })
        }
        #[inline(always)]
        fn long_mask(mask: __mmask8) -> __mmask8 {
            mask
        }
        #[inline(always)]
        unsafe fn stream(self, at: *mut f64) {
            unsafe { _mm512_stream_pd(at, self.0) }
        }
    }

    #[derive(Clone, Copy)]
    pub struct V4(__m256d);

    #[inline(always)]
    fn bits4(x: V4) -> __m256i {
        // SAFETY: see the module.
        unsafe { _mm256_castpd_si256(x.0) }
    }

    #[inline(always)]
    fn from4(x: __m256i) -> V4 {
        // SAFETY: see the module.
        V4(unsafe { _mm256_castsi256_pd(x) })
    }

    // SAFETY (all of the block): see the module.
    impl Lane for V4 {
        type Mask = __m256d;
        const LEAST: f64 = f64::LEAST;
        const MOST: f64 = f64::MOST;

        #[inline(always)]
        fn splat(x: f64) -> V4 {
            V4(unsafe { _mm256_set1_pd(x) })
        }
        #[inline(always)]
        fn add(self, y: V4) -> V4 {
            V4(unsafe { _mm256_add_pd(self.0, y.0) })
        }
        #[inline(always)]
        fn sub(self, y: V4) -> V4 {
            V4(unsafe { _mm256_sub_pd(self.0, y.0) })
        }
        #[inline(always)]
        fn mul(self, y: V4) -> V4 {
            V4(unsafe { _mm256_mul_pd(self.0, y.0) })
        }
        #[inline(always)]
        fn div(self, y: V4) -> V4 {
            V4(unsafe { _mm256_div_pd(self.0, y.0) })
        }
        #[inline(always)]
        fn fma(self, y: V4, z: V4) -> V4 {
            V4(unsafe { _mm256_fmadd_pd(self.0, y.0, z.0) })
        }
        #[inline(always)]
        fn sqrt(self) -> V4 {
            V4(unsafe { _mm256_sqrt_pd(self.0) })
        }
        #[inline(always)]
        fn abs(self) -> V4 {
            self.bits_and(!(1 << 63))
        }
        #[inline(always)]
        fn floor(self) -> V4 {
            V4(unsafe { _mm256_floor_pd(self.0) })
        }
        #[inline(always)]
        fn max(self, y: V4) -> V4 {
            V4(unsafe { _mm256_max_pd(self.0, y.0) })
        }
        #[inline(always)]
        fn min(self, y: V4) -> V4 {
            V4(unsafe { _mm256_min_pd(self.0, y.0) })
        }
        #[inline(always)]
        fn eq(self, y: V4) -> __m256d {
            unsafe { _mm256_cmp_pd::<_CMP_EQ_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn lt(self, y: V4) -> __m256d {
            unsafe { _mm256_cmp_pd::<_CMP_LT_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn le(self, y: V4) -> __m256d {
            unsafe { _mm256_cmp_pd::<_CMP_LE_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn both(a: __m256d, b: __m256d) -> __m256d {
            unsafe { _mm256_and_pd(a, b) }
        }
        #[inline(always)]
        fn either(a: __m256d, b: __m256d) -> __m256d {
            unsafe { _mm256_or_pd(a, b) }
        }
        #[inline(always)]
        fn not(a: __m256d) -> __m256d {
            unsafe { _mm256_xor_pd(a, _mm256_castsi256_pd(_mm256_set1_epi64x(-1))) }
        }
        #[inline(always)]
        fn none() -> __m256d {
            unsafe { _mm256_setzero_pd() }
        }
        #[inline(always)]
        fn any(a: __m256d) -> bool {
            unsafe { _mm256_movemask_pd(a) != 0 }
        }
        #[inline(always)]
        fn select(mask: __m256d, yes: V4, no: V4) -> V4 {
            V4(unsafe { _mm256_blendv_pd(no.0, yes.0, mask) })
        }
        #[inline(always)]
        fn bits_plus(self, k: u64) -> V4 {
            from4(unsafe { _mm256_add_epi64(bits4(self), _mm256_set1_epi64x(k as i64)) })
        }
        #[inline(always)]
        fn bits_and(self, k: u64) -> V4 {
            from4(unsafe { _mm256_and_si256(bits4(self), _mm256_set1_epi64x(k as i64)) })
        }
        #[inline(always)]
        fn bits_or(self, k: u64) -> V4 {
            from4(unsafe { _mm256_or_si256(bits4(self), _mm256_set1_epi64x(k as i64)) })
        }
        #[inline(always)]
        fn bits_xor(self, y: V4) -> V4 {
            from4(unsafe { _mm256_xor_si256(bits4(self), bits4(y)) })
        }
        #[inline(always)]
        fn bits_left(self, by: u32) -> V4 {
            from4(unsafe { _mm256_sll_epi64(bits4(self), _mm_cvtsi64_si128(i64::from(by))) })
        }
        #[inline(always)]
        fn bits_right(self, by: u32) -> V4 {
            from4(unsafe { _mm256_srl_epi64(bits4(self), _mm_cvtsi64_si128(i64::from(by))) })
        }
        #[inline(always)]
        fn bit_set(self, k: u64) -> __m256d {
            let bit = self.bits_and(k);
            // Never equal to zero where the bit is set: NaN patterns are compared as integers.
            let clear = unsafe { _mm256_cmpeq_epi64(bits4(bit), _mm256_setzero_si256()) };
            V4::not(unsafe { _mm256_castsi256_pd(clear) })
        }
    }

    // SAFETY: four elements.
    unsafe impl Wide for V4 {
        const N: usize = 4;
        #[inline(always)]
        unsafe fn load(at: *const f64) -> V4 {
            V4(unsafe { _mm256_loadu_pd(at) })
        }
        #[inline(always)]
        unsafe fn store(self, at: *mut f64) {
            unsafe { _mm256_storeu_pd(at, self.0) }
        }
        #[inline(always)]
        fn turn(block: &mut [V4; 8]) {
            unsafe {
                let [a, b, c, d] = [block[0].0, block[1].0, block[2].0, block[3].0];
                let even = (_mm256_unpacklo_pd(a, b), _mm256_unpacklo_pd(c, d));
                let odd = (_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d));
                block[0] = V4(_mm256_permute2f128_pd::<0x20>(even.0, even.1));
                block[1] = V4(_mm256_permute2f128_pd::<0x20>(odd.0, odd.1));
                block[2] = V4(_mm256_permute2f128_pd::<0x31>(even.0, even.1));
                block[3] = V4(_mm256_permute2f128_pd::<0x31>(odd.0, odd.1));
            }
        }
        type Short = S4;
        #[inline(always)]
        fn short(self) -> S4 {
            S4(unsafe { _mm256_cvtpd_ps(self.0) })
        }
        #[inline(always)]
        fn long(x: S4) -> V4 {
            V4(unsafe { _mm256_cvtps_pd(x.0) })
        }
        #[inline(always)]
        fn long_mask(mask: __m128) -> __m256d {
            unsafe { _mm256_castsi256_pd(_mm256_cvtepi32_epi64(_mm_castps_si128(mask))) }
        }
        #[inline(always)]
        unsafe fn stream(self, at: *mut f64) {
            unsafe { _mm256_stream_pd(at, self.0) }
        }
    }
}

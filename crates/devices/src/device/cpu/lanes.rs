//! `Lane` for vector registers, and `Wide`: lanes that are loaded and stored.
//!
//! Only functions compiled with the matching `target_feature` may instantiate these (`loops.rs`
//! does, by its macro); everything here is inlined into them.
//!
//! SAFETY of every block here: a `V8` or `V4` is made only inside a function that has its target
//! features (`loops`), which the dispatcher picks only where the machine has them; pointers come
//! from callers who promise a vector's room.

use super::singles::Cells;
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
    type Short: Cells<Item = f32>;
    /// Each as f32.
    fn short(self) -> Self::Short;
    /// Each as f64.
    fn long(x: Self::Short) -> Self;
    /// Truths of as many f32.
    fn long_mask(mask: <Self::Short as Lane>::Mask) -> Self::Mask;
    /// Rows become columns, of the first `N` registers.
    fn turn(block: &mut [Self; 8]);
    /// The lanes of each of the first `N` registers halved as `prim::reduce::halve` does, all side
    /// by side: two registers become one at each step, so that fewer are moved than by `turn`.
    fn ends(block: [Self; 8], join: impl Fn(Self, Self) -> Self) -> Self;
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
    #[inline(always)]
    fn ends(block: [f64; 8], _: impl Fn(f64, f64) -> f64) -> f64 {
        block[0]
    }
}

#[cfg(target_arch = "x86_64")]
pub use x86::{V4, V8};

/// Every intrinsic below is safe to run where its feature is there, which is the module's
/// condition.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Lane, Wide};
    use crate::device::cpu::singles::{Cells, S4, S8, cells, in_lanes, in_mask, lanes};
    use std::arch::x86_64::*;

    cells!(V8, f64, 8, |at| V8::load(at), |x, at| x.store(at));
    cells!(V4, f64, 4, |at| V4::load(at), |x, at| x.store(at));

    lanes! {
        /// Eight f64.
        V8(__m512d) of f64, i64:
            _mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_fmadd_pd
            _mm512_sqrt_pd _mm512_max_pd _mm512_min_pd,
            |x| _mm512_roundscale_pd::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(x);
            _mm512_castpd_si512 _mm512_castsi512_pd _mm512_set1_epi64 _mm512_add_epi64
            _mm512_and_si512 _mm512_or_si512
            _mm512_xor_si512 _mm512_sll_epi64 _mm512_srl_epi64;
        in_mask!(__mmask8: _mm512_cmp_pd_mask _mm512_mask_blend_pd _mm512_test_epi64_mask
            _mm512_scalef_pd; _mm512_castpd_si512 _mm512_set1_epi64 i64);
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
        #[inline(always)]
        fn ends(block: [V8; 8], join: impl Fn(V8, V8) -> V8) -> V8 {
            // The order in which the last step leaves them as they were.
            let [a, e, b, f, c, g, d, h] = block;
            unsafe {
                let by_4 = |x: V8, y: V8| {
                    let low = V8(_mm512_shuffle_f64x2::<0x44>(x.0, y.0));
                    join(low, V8(_mm512_shuffle_f64x2::<0xee>(x.0, y.0)))
                };
                let by_2 = |x: V8, y: V8| {
                    let low = V8(_mm512_shuffle_f64x2::<0x88>(x.0, y.0));
                    join(low, V8(_mm512_shuffle_f64x2::<0xdd>(x.0, y.0)))
                };
                let (x, y) = (by_2(by_4(a, b), by_4(c, d)), by_2(by_4(e, f), by_4(g, h)));
                let low = V8(_mm512_unpacklo_pd(x.0, y.0));
                join(low, V8(_mm512_unpackhi_pd(x.0, y.0)))
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

    lanes! {
        /// Four f64.
        V4(__m256d) of f64, i64:
            _mm256_set1_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_fmadd_pd
            _mm256_sqrt_pd _mm256_max_pd _mm256_min_pd, |x| _mm256_floor_pd(x);
            _mm256_castpd_si256 _mm256_castsi256_pd _mm256_set1_epi64x _mm256_add_epi64
            _mm256_and_si256 _mm256_or_si256
            _mm256_xor_si256 _mm256_sll_epi64 _mm256_srl_epi64;
        in_lanes!(__m256d: _mm256_cmp_pd _mm256_and_pd _mm256_or_pd _mm256_xor_pd _mm256_setzero_pd
            _mm256_movemask_pd _mm256_blendv_pd;
            _mm256_castpd_si256 _mm256_castsi256_pd _mm256_set1_epi64x _mm256_and_si256
            _mm256_cmpeq_epi64
            _mm256_setzero_si256 i64);
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
        #[inline(always)]
        fn ends(block: [V4; 8], join: impl Fn(V4, V4) -> V4) -> V4 {
            let [a, c, b, d, ..] = block;
            unsafe {
                let by_2 = |x: V4, y: V4| {
                    let low = V4(_mm256_permute2f128_pd::<0x20>(x.0, y.0));
                    join(low, V4(_mm256_permute2f128_pd::<0x31>(x.0, y.0)))
                };
                let (x, y) = (by_2(a, b), by_2(c, d));
                let low = V4(_mm256_unpacklo_pd(x.0, y.0));
                join(low, V4(_mm256_unpackhi_pd(x.0, y.0)))
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

//! Keys in the registers of AVX2, two of them for one of AVX-512: the same partitions and networks
//! (`partition`) on machines without that.
//!
//! AVX2 lacks some steps, which are made of those that it has: lanes are put side by side by a
//! permutation that a table gives for their mask, and unsigned keys of 8 bytes are compared as
//! signed ones with the top bit turned.

use super::partition::{APART, Lanes};
use std::arch::x86_64::*;
use std::ops::BitXor;

/// A key whose lanes lie in two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Halved<T>(pub T);

impl<T: BitXor<Output = T>> BitXor for Halved<T> {
    type Output = Halved<T>;

    fn bitxor(self, other: Halved<T>) -> Halved<T> {
        Halved(self.0 ^ other.0)
    }
}

impl<T> Halved<T> {
    /// The same keys.
    pub fn all(keys: &mut [T]) -> &mut [Halved<T>] {
        // SAFETY: a key is what it holds (`repr(transparent)`).
        unsafe { &mut *(std::ptr::from_mut(keys) as *mut [Halved<T>]) }
    }

    /// The same to read.
    pub fn each(keys: &[T]) -> &[Halved<T>] {
        // SAFETY: as above.
        unsafe { &*(std::ptr::from_ref(keys) as *const [Halved<T>]) }
    }

    /// The keys themselves again.
    pub fn keys(halved: &mut [Halved<T>]) -> &mut [T] {
        // SAFETY: as above.
        unsafe { &mut *(std::ptr::from_mut(halved) as *mut [T]) }
    }
}

/// Lanes in two registers, those of the first in front.
#[derive(Clone, Copy)]
pub struct Two(__m256i, __m256i);

impl Two {
    #[inline(always)]
    fn each(self, other: Two, f: impl Fn(__m256i, __m256i) -> __m256i) -> Two {
        Two(f(self.0, other.0), f(self.1, other.1))
    }
}

/// For each mask of four lanes of 8 bytes, `APART` in lanes of 4.
const APART_OF_FOUR: [[u8; 8]; 16] = {
    let (mut table, mut mask) = ([[0; 8]; 16], 0);
    while mask < 16 {
        let (mut next, mut k) = (0, 0);
        while k < 8 {
            let (lane, others) = (k % 4, k / 4);
            if mask >> lane & 1 != others {
                table[mask][2 * next] = 2 * lane as u8;
                table[mask][2 * next + 1] = 2 * lane as u8 + 1;
                next += 1;
            }
            k += 1;
        }
        mask += 1;
    }
    table
};

/// A permutation of a table for lanes of 4 bytes.
#[inline(always)]
unsafe fn permuted(x: __m256i, lanes: &[u8; 8]) -> __m256i {
    // SAFETY: `Lanes`.
    unsafe {
        let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(lanes.as_ptr().cast()));
        _mm256_permutevar8x32_epi32(x, lanes)
    }
}

/// Lanes of 8 bytes that are less, unsigned; all bits of each are the answer.
#[inline(always)]
unsafe fn less_of_8(x: __m256i, y: __m256i) -> __m256i {
    // SAFETY: `Lanes`.
    unsafe {
        let top = _mm256_set1_epi64x(i64::MIN);
        _mm256_cmpgt_epi64(_mm256_xor_si256(y, top), _mm256_xor_si256(x, top))
    }
}

/// The same of 4 bytes.
#[inline(always)]
unsafe fn less_of_4(x: __m256i, y: __m256i) -> __m256i {
    // SAFETY: `Lanes`.
    unsafe {
        let top = _mm256_set1_epi32(i32::MIN);
        _mm256_cmpgt_epi32(_mm256_xor_si256(y, top), _mm256_xor_si256(x, top))
    }
}

/// The bits of an answer in lanes of 8 bytes.
#[inline(always)]
unsafe fn bits_of_8(x: __m256i) -> u16 {
    // SAFETY: `Lanes`.
    unsafe { _mm256_movemask_pd(_mm256_castsi256_pd(x)) as u16 }
}

/// The same of 4 bytes.
#[inline(always)]
unsafe fn bits_of_4(x: __m256i) -> u16 {
    // SAFETY: `Lanes`.
    unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(x)) as u16 }
}

/// The lanes of a mask as registers of all bits or none: lanes of 8 bytes from bit `first` on.
#[inline(always)]
unsafe fn lanes_of_8(mask: u16, first: u32) -> __m256i {
    // SAFETY: `Lanes`.
    unsafe {
        let bits = _mm256_setr_epi64x(1, 2, 4, 8);
        let mask = _mm256_set1_epi64x(i64::from(mask >> first));
        _mm256_cmpeq_epi64(_mm256_and_si256(mask, bits), bits)
    }
}

/// The same of 4 bytes.
#[inline(always)]
unsafe fn lanes_of_4(mask: u16, first: u32) -> __m256i {
    // SAFETY: `Lanes`.
    unsafe {
        let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        let mask = _mm256_set1_epi32(i32::from(mask >> first & 0xff));
        _mm256_cmpeq_epi32(_mm256_and_si256(mask, bits), bits)
    }
}

macro_rules! in_halves {
    ($half:literal: $signed:ty, $set:ident $load:ident $store:ident $mask:ident
        $less:ident $bits:ident) => {
        #[inline(always)]
        fn after(self) -> Self {
            Halved(self.0 + 1)
        }
        #[inline(always)]
        unsafe fn below(x: Two, y: Two) -> u16 {
            // SAFETY: `Lanes`.
            let less = x.each(y, |x, y| unsafe { $less(x, y) });
            // SAFETY: the same.
            unsafe { $bits(less.0) | $bits(less.1) << $half }
        }
        #[inline(always)]
        unsafe fn splat(self) -> Two {
            // SAFETY: `Lanes`.
            let x = unsafe { $set(self.0 as $signed) };
            Two(x, x)
        }
        #[inline(always)]
        unsafe fn load_some(mask: u16, at: *const Self) -> Two {
            // SAFETY: `Lanes`; lanes that the mask leaves out are not read.
            unsafe {
                let at: *const $signed = at.cast();
                let some = |first: u32| {
                    let lanes = $mask(mask, first);
                    let x = $load(at.wrapping_add(first as usize), lanes);
                    _mm256_or_si256(x, _mm256_xor_si256(lanes, _mm256_set1_epi8(-1)))
                };
                Two(some(0), some($half))
            }
        }
        #[inline(always)]
        unsafe fn store_some(mask: u16, x: Two, at: *mut Self) {
            // SAFETY: `Lanes`; lanes that the mask leaves out are not written.
            unsafe {
                let at: *mut $signed = at.cast();
                $store(at, $mask(mask, 0), x.0);
                $store(at.wrapping_add($half), $mask(mask, $half), x.1);
            }
        }
        #[inline(always)]
        unsafe fn to_front(mask: u16, x: Two) -> Two {
            // Of the few keys at the end of a partition.
            let (mut from, mut to) = ([Self::MOST; 2 * $half], [Self::MOST; 2 * $half]);
            // SAFETY: `Lanes`; both have room for all lanes.
            unsafe {
                Self::store_some(u16::MAX, x, from.as_mut_ptr());
                let mut next = 0;
                for (k, key) in from.into_iter().enumerate() {
                    to[next] = key;
                    next += usize::from(mask >> k & 1);
                    next = next.min(2 * $half - 1);
                }
                Self::load_some(u16::MAX, to.as_ptr())
            }
        }
        #[inline(always)]
        unsafe fn choose(mask: u16, x: Two, y: Two) -> Two {
            // SAFETY: `Lanes`.
            unsafe {
                Two(
                    _mm256_blendv_epi8(x.0, y.0, $mask(mask, 0)),
                    _mm256_blendv_epi8(x.1, y.1, $mask(mask, $half)),
                )
            }
        }
    };
}

impl Lanes for Halved<u64> {
    type Reg = Two;
    const LEAST: Self = Halved(0);
    const MOST: Self = Halved(u64::MAX);
    const COUNT: usize = 8;
    const REGISTERS: usize = 4;

    in_halves!(4: i64, _mm256_set1_epi64x _mm256_maskload_epi64 _mm256_maskstore_epi64 lanes_of_8
        less_of_8 bits_of_8);

    #[inline(always)]
    unsafe fn eight(from: *const Self, pivot: Two, to: [*mut Self; 2]) -> usize {
        // SAFETY: `Lanes`. Of each half the keys below come first. To the front the second half is
        // put over what of the first is not below; to the back the first over what of the second
        // is below.
        unsafe {
            let half = |k: usize| {
                let x = _mm256_loadu_si256(from.add(k).cast());
                let below = usize::from(bits_of_8(less_of_8(x, pivot.0)));
                (permuted(x, &APART_OF_FOUR[below]), below.count_ones() as usize)
            };
            let ((a, few), (b, more)) = (half(0), half(4));
            _mm256_storeu_si256(to[0].cast(), a);
            _mm256_storeu_si256(to[0].add(few).cast(), b);
            _mm256_storeu_si256(to[1].add(4).cast(), b);
            _mm256_storeu_si256(to[1].add(more).cast(), a);
            few + more
        }
    }
    #[inline(always)]
    unsafe fn least(x: Two, y: Two) -> Two {
        // SAFETY: `Lanes`.
        x.each(y, |x, y| unsafe { _mm256_blendv_epi8(y, x, less_of_8(x, y)) })
    }
    #[inline(always)]
    unsafe fn most(x: Two, y: Two) -> Two {
        // SAFETY: `Lanes`.
        x.each(y, |x, y| unsafe { _mm256_blendv_epi8(x, y, less_of_8(x, y)) })
    }
    #[inline(always)]
    unsafe fn cross<const D: usize>(x: Two) -> Two {
        // SAFETY: `Lanes`.
        let lanes = |x| unsafe {
            match D % 4 {
                0 => x,
                1 => _mm256_permute4x64_epi64::<0b10_11_00_01>(x),
                2 => _mm256_permute4x64_epi64::<0b01_00_11_10>(x),
                _ => _mm256_permute4x64_epi64::<0b00_01_10_11>(x),
            }
        };
        if D & 4 == 0 { Two(lanes(x.0), lanes(x.1)) } else { Two(lanes(x.1), lanes(x.0)) }
    }
}

impl Lanes for Halved<u32> {
    type Reg = Two;
    const LEAST: Self = Halved(0);
    const MOST: Self = Halved(u32::MAX);
    const COUNT: usize = 16;
    const REGISTERS: usize = 4;

    in_halves!(8: i32, _mm256_set1_epi32 _mm256_maskload_epi32 _mm256_maskstore_epi32 lanes_of_4
        less_of_4 bits_of_4);

    #[inline(always)]
    unsafe fn eight(from: *const Self, pivot: Two, to: [*mut Self; 2]) -> usize {
        // SAFETY: `Lanes`.
        unsafe {
            let x = _mm256_loadu_si256(from.cast());
            let below = usize::from(bits_of_4(less_of_4(x, pivot.0)));
            let x = permuted(x, &APART[below]);
            to.into_iter().for_each(|to| _mm256_storeu_si256(to.cast(), x));
            below.count_ones() as usize
        }
    }
    #[inline(always)]
    unsafe fn least(x: Two, y: Two) -> Two {
        // SAFETY: `Lanes`.
        x.each(y, |x, y| unsafe { _mm256_min_epu32(x, y) })
    }
    #[inline(always)]
    unsafe fn most(x: Two, y: Two) -> Two {
        // SAFETY: `Lanes`.
        x.each(y, |x, y| unsafe { _mm256_max_epu32(x, y) })
    }
    #[inline(always)]
    unsafe fn cross<const D: usize>(x: Two) -> Two {
        // SAFETY: `Lanes`.
        let lanes = |x| unsafe {
            let d = (D % 8) as i32;
            let places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            match d {
                0 => x,
                1 => _mm256_shuffle_epi32::<0b10_11_00_01>(x),
                2 => _mm256_shuffle_epi32::<0b01_00_11_10>(x),
                3 => _mm256_shuffle_epi32::<0b00_01_10_11>(x),
                4 => _mm256_permute4x64_epi64::<0b01_00_11_10>(x),
                _ => {
                    let places = _mm256_xor_si256(places, _mm256_set1_epi32(d));
                    _mm256_permutevar8x32_epi32(x, places)
                }
            }
        };
        if D & 8 == 0 { Two(lanes(x.0), lanes(x.1)) } else { Two(lanes(x.1), lanes(x.0)) }
    }
}

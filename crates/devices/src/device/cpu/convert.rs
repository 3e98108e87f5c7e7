//! Between storage and f64 chunks.
//!
//! | storage | load | store |
//! |---|---|---|
//! | f64 in order | in place, or a register copy | register copy; past the caches for large results |
//! | others in order | a plain loop that the compiler makes wide | the same, after a test where `checked` |
//! | by a step | one element at a time | – (stores are always in order) |

use super::isa::by_isa;
use crate::pool::PoolBuffer;
use aplomb_values::array::{DType, Storage, View};
use aplomb_values::dag::ix::Ix;

/// Items somewhere in memory, to be read.
#[derive(Clone, Copy, PartialEq)]
pub struct Source {
    pub at: *const u8,
    pub dtype: DType,
    pub len: usize,
}

impl Source {
    /// A whole buffer.
    pub fn own(buffer: &PoolBuffer) -> Source {
        Source { at: buffer.as_ptr(), dtype: buffer.dtype(), len: buffer.len() }
    }

    /// Items where they lie. None: complex numbers.
    pub fn of(items: View<'_>) -> Option<Source> {
        let (at, dtype) = match items {
            View::Bool(v) => (v.as_ptr(), DType::Bool),
            View::I8(v) => (v.as_ptr().cast(), DType::I8),
            View::I16(v) => (v.as_ptr().cast(), DType::I16),
            View::I32(v) => (v.as_ptr().cast(), DType::I32),
            View::F32(v) => (v.as_ptr().cast(), DType::F32),
            View::F64(v) => (v.as_ptr().cast(), DType::F64),
            View::Char(v) => (v.as_ptr().cast(), DType::Char),
            View::Complex(_) => return None,
        };
        Some(Source { at, dtype, len: items.len() })
    }

    /// Whether all places of an affine index over a domain that is not empty lie in it: those at
    /// its corners do.
    pub fn holds(&self, at: &Ix, extents: &[usize]) -> bool {
        let ends = extents.iter().enumerate().map(|(k, n)| at.coefficient(k) * (*n as i64 - 1));
        let [low, high] =
            ends.fold([at.c; 2], |[low, high], end| [low + end.min(0), high + end.max(0)]);
        at.is_affine() && low >= 0 && high < self.len as i64
    }
}

/// The destination of a store.
#[derive(Clone, Copy)]
pub struct Sink {
    pub at: *mut u8,
    pub dtype: DType,
    pub checked: bool,
    /// Large enough to go past the caches.
    pub stream: bool,
}

impl Sink {
    /// A whole buffer of floats that only this launch looks at.
    pub fn own(buffer: &mut PoolBuffer) -> Sink {
        let dtype = buffer.dtype();
        Sink { at: buffer.as_mut_ptr(), dtype, checked: false, stream: false }
    }
}

/// `out[k] = source[at + k*step]` for k < n. Safety: all of them lie in the source, `out` holds n.
pub type LoadRun = unsafe fn(source: Source, at: i64, step: i64, n: usize, out: *mut f64);
/// n numbers into items at `out`. True: some number does not fit an integer type (only looked at
/// when `checked`).
pub type StoreRun =
    unsafe fn(dtype: DType, checked: bool, out: *mut u8, x: *const f64, n: usize) -> bool;
/// Rounds n numbers to f32 where they stand.
pub type RoundRun = unsafe fn(x: *mut f64, n: usize);

#[derive(Clone, Copy)]
pub struct Converts {
    pub load: LoadRun,
    pub store: StoreRun,
    pub round: RoundRun,
}

/// The item type of a dtype in memory; a character is its code point.
macro_rules! with_type {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            DType::Bool => {
                type $t = u8;
                $body
            }
            DType::I8 => {
                type $t = i8;
                $body
            }
            DType::I16 => {
                type $t = i16;
                $body
            }
            DType::I32 => {
                type $t = i32;
                $body
            }
            DType::Char => {
                type $t = u32;
                $body
            }
            DType::F32 => {
                type $t = f32;
                $body
            }
            // Complex buffers are turned away where a plan takes its inputs.
            DType::F64 | DType::Complex | DType::Nested => {
                type $t = f64;
                $body
            }
        }
    };
}

pub(super) use with_type;

// f64 from f64 is one of the instances.
#[allow(clippy::useless_conversion)]
#[inline(always)]
unsafe fn load(source: Source, at: i64, step: i64, n: usize, out: *mut f64) {
    with_type!(source.dtype, T => {
        // SAFETY: the caller checked both ends.
        unsafe {
            let from = source.at.cast::<T>().offset(at as isize);
            match step {
                0 => std::slice::from_raw_parts_mut(out, n).fill(f64::from(*from)),
                1 => {
                    for k in 0..n {
                        *out.add(k) = f64::from(*from.add(k));
                    }
                }
                _ => {
                    for k in 0..n {
                        *out.add(k) = f64::from(*from.offset(k as isize * step as isize));
                    }
                }
            }
        }
    })
}

#[inline(always)]
unsafe fn whole_within(x: *const f64, n: usize, (lo, hi): (f64, f64)) -> bool {
    let mut fits = true;
    for k in 0..n {
        // SAFETY: n elements.
        let x = unsafe { *x.add(k) };
        fits &= x >= lo && x <= hi && x == x.floor();
    }
    fits
}

#[inline(always)]
unsafe fn store(dtype: DType, checked: bool, out: *mut u8, x: *const f64, n: usize) -> bool {
    // SAFETY: n elements at both pointers.
    unsafe {
        if let Some(range) = dtype.range().filter(|_| checked)
            && !whole_within(x, n, range)
        {
            return true;
        }
        if dtype == DType::Char {
            for k in 0..n {
                let c = char::from_u32(*x.add(k) as u32);
                debug_assert!(c.is_some(), "{} is no character", *x.add(k));
                *out.cast::<char>().add(k) = c.unwrap_or(char::REPLACEMENT_CHARACTER);
            }
            return false;
        }
        if dtype == DType::Bool {
            // 0 and 1 only, whatever a wrong plan says.
            for k in 0..n {
                *out.add(k) = u8::from(*x.add(k) != 0.0);
            }
            return false;
        }
        with_type!(dtype, T => {
            let out = out.cast::<T>();
            for k in 0..n {
                *out.add(k) = *x.add(k) as T;
            }
        });
        false
    }
}

#[inline(always)]
unsafe fn round(x: *mut f64, n: usize) {
    for k in 0..n {
        // SAFETY: n elements.
        unsafe { *x.add(k) = f64::from(*x.add(k) as f32) };
    }
}

macro_rules! instances {
    ($name:ident $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn load(source: Source, at: i64, step: i64, n: usize, out: *mut f64) {
                unsafe { super::load(source, at, step, n, out) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn store(
                dtype: DType,
                checked: bool,
                out: *mut u8,
                x: *const f64,
                n: usize,
            ) -> bool {
                unsafe { super::store(dtype, checked, out, x, n) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn round(x: *mut f64, n: usize) {
                unsafe { super::round(x, n) }
            }

            pub const ALL: Converts = Converts { load, store, round };
        }
    };
}

by_isa!(
    instances,
    /// The conversions for an instruction set.
    converts,
    Converts
);

/// The bits of a number as an item of a type.
pub fn bits(dtype: DType, x: f64) -> u64 {
    match dtype {
        DType::F64 => x.to_bits(),
        DType::F32 => u64::from((x as f32).to_bits()),
        _ => x as i64 as u64,
    }
}

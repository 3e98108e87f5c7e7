//! Reads at computed places.
//!
//! | what | strategy | measured |
//! |---|---|---|
//! | places of a block | whole numbers within the axis, tested together | 0.5 ns each |
//! | items at them | asked of the memory before they are used | 5 million of 40 MB in any order: 35 ms, 110 one by one |
//! | a block of one place, as a row of a matrix | what the source has from there on, as any read of it | 100 of 1000 rows of 8 kB: 0.24 ms element by element, 0.05 so |
//! | a block where some place is none | element by element (`chunk`), for the failure's own words | |

use super::convert::{Source, with_type};
use super::isa::by_isa;
use aplomb_values::array::DType;

/// Elements whose places are known before the first is read.
pub const BLOCK: usize = 256;
/// An item is asked for so many before it is read.
const AHEAD: usize = 32;

/// An axis that values move along.
#[derive(Clone, Copy)]
pub struct Axis {
    /// The value of the k-th element is at `k * each`.
    pub values: *const f64,
    pub each: usize,
    pub origin: f64,
    pub extent: i64,
    /// Elements of the source that a place is wide.
    pub stride: i64,
}

/// Adds what the values of an axis lead to; false: some value is no place. Safety: an axis holds as
/// many values as there are places.
pub type Move = unsafe fn(places: &mut [i64], axis: Axis) -> bool;
/// `out[k] = source[places[k]]`. Safety: they lie in it, and `out` holds as many.
pub type Fetch = unsafe fn(source: Source, places: &[i64], out: *mut f64);

/// The loops of a gather.
#[derive(Clone, Copy)]
pub struct Gathers {
    pub along: Move,
    pub fetch: Fetch,
}

#[inline(always)]
unsafe fn along(places: &mut [i64], axis: Axis) -> bool {
    let mut fine = true;
    for (k, place) in places.iter_mut().enumerate() {
        // SAFETY: the function's contract.
        let at = unsafe { *axis.values.add(k * axis.each) } - axis.origin;
        let whole = at as i64;
        fine &= (whole as f64 == at) & (whole >= 0) & (whole < axis.extent);
        *place = place.wrapping_add(whole.wrapping_mul(axis.stride));
    }
    fine
}

#[allow(clippy::useless_conversion)]
#[inline(always)]
unsafe fn fetch(source: Source, places: &[i64], out: *mut f64) {
    with_type!(source.dtype, T => {
        let from = source.at.cast::<T>();
        for (k, &place) in places.iter().enumerate() {
            soon(from.wrapping_offset(places[(k + AHEAD).min(places.len() - 1)] as isize));
            // SAFETY: the function's contract.
            unsafe { *out.add(k) = f64::from(*from.offset(place as isize)) };
        }
    });
}

/// The test whether n values are all the same. Safety: there are so many.
#[inline]
pub unsafe fn is_one(values: *const f64, n: usize) -> bool {
    // SAFETY: the function's contract.
    let values = unsafe { std::slice::from_raw_parts(values, n) };
    let same = |x: &f64| x.to_bits() == values[0].to_bits();
    n < 2 || same(&values[1]) && values.iter().fold(true, |all, x| all & same(x))
}

/// Tells the memory that an item is read soon.
#[inline(always)]
pub fn soon<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

macro_rules! instances {
    ($name:ident $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn along(places: &mut [i64], axis: Axis) -> bool {
                unsafe { super::along(places, axis) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn fetch(source: Source, places: &[i64], out: *mut f64) {
                unsafe { super::fetch(source, places, out) }
            }

            pub const ALL: Gathers = Gathers { along, fetch };
        }
    };
}

by_isa!(
    instances,
    /// The loops for an instruction set.
    gathers,
    Gathers
);

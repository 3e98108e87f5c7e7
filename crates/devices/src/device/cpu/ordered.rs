//! The keys by which items stand in order, and the places that are results, each in a type of its
//! own.

use super::convert::with_type;
use super::lookup::NOWHERE;
use super::sorting::Bits;
use super::{Cpu, DeviceError, RunCtx};
use crate::pool::PoolBuffer;
use aplomb_values::array::DType;
use aplomb_values::dag::Lib;
use aplomb_values::prim::library::{order_key, ordered, shares_key};

/// The results of a grade, or of a search for the first places in a list, in a type that holds
/// them.
pub struct Places {
    of: Lib,
    /// Items of the list.
    among: usize,
    /// The number of the first place (⎕IO).
    pub origin: usize,
    /// The type of a result.
    pub dtype: DType,
    at: *mut u8,
}

// SAFETY: each result is written by the thread that has found it.
unsafe impl Sync for Places {}

impl Places {
    /// A buffer for so many results, and what writes them there.
    pub fn new(
        cpu: &Cpu,
        ctx: &RunCtx,
        (of, origin): (Lib, f64),
        (among, n): (usize, usize),
    ) -> Result<(Places, PoolBuffer), DeviceError> {
        let most = if of == Lib::Member { 1.0 } else { among as f64 + origin };
        let dtype = DType::holding(0.0, most);
        let mut room = cpu.pool.buffer(dtype, n, ctx.budget).map_err(DeviceError::Oom)?;
        let (origin, at) = (origin as usize, room.as_mut_ptr());
        Ok((Places { of, among, origin, dtype, at }, room))
    }

    /// The room of so many results from one on. Safety: they are of this type, there is room for
    /// them, and nobody else has them.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn room<T>(&self, from: usize, many: usize) -> &mut [T] {
        // SAFETY: the caller's.
        unsafe { std::slice::from_raw_parts_mut(self.at.cast::<T>().add(from), many) }
    }

    /// The results from one on. Safety: there is room for them, and nobody else writes them.
    pub unsafe fn put(&self, from: usize, firsts: &[usize]) {
        with_type!(self.dtype, T => {
            // SAFETY: the caller's.
            let out = unsafe { self.room::<T>(from, firsts.len()) };
            match self.of {
                Lib::Member => out.iter_mut().zip(firsts).for_each(|(out, first)| {
                    *out = u8::from(*first != NOWHERE) as T;
                }),
                _ => out.iter_mut().zip(firsts).for_each(|(out, first)| {
                    let place = if *first == NOWHERE { self.among } else { *first };
                    *out = (place + self.origin) as T;
                }),
            }
        });
    }
}

/// A number, or a character, whose place in an order a key tells.
pub trait Ordered: Copy + Send + Sync {
    type Key: Bits;

    fn key(self) -> Self::Key;
    /// The item of a key; of those that have one key, 0 and a NaN.
    fn of(key: Self::Key) -> Self;
    /// True of one that is another than its key says.
    fn hides(self) -> bool;
}

/// The bit that makes an order of unsigned numbers one of signed ones.
const SIGN: u32 = 1 << 31;

macro_rules! whole {
    ($($t:ty),*) => {
        $(impl Ordered for $t {
            type Key = u32;

            #[inline(always)]
            fn key(self) -> u32 {
                self as u32 ^ SIGN
            }
            #[inline(always)]
            fn of(key: u32) -> $t {
                (key ^ SIGN) as $t
            }
            #[inline(always)]
            fn hides(self) -> bool {
                false
            }
        })*
    };
}
whole!(u8, i8, i16, i32, u32);

impl Ordered for f64 {
    type Key = u64;

    #[inline(always)]
    fn key(self) -> u64 {
        order_key(self)
    }
    #[inline(always)]
    fn of(key: u64) -> f64 {
        ordered(key)
    }
    #[inline(always)]
    fn hides(self) -> bool {
        shares_key(&self)
    }
}

/// As f64 have them, in half as many bits.
impl Ordered for f32 {
    type Key = u32;

    #[inline(always)]
    fn key(self) -> u32 {
        let bits = (self + 0.0).to_bits();
        let turned = (bits as i32 >> 31) as u32 | SIGN;
        if self.is_nan() { u32::MAX } else { bits ^ turned }
    }
    #[inline(always)]
    fn of(key: u32) -> f32 {
        f32::from_bits(if key & SIGN != 0 { key ^ SIGN } else { !key })
    }
    #[inline(always)]
    fn hides(self) -> bool {
        self.is_nan() | (self.to_bits() == SIGN)
    }
}

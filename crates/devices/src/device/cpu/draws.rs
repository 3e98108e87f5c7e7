//! Random numbers of a call (`prim::draws`), each thread those of its stretches.
//!
//! | kind | strategy | measured, 1 million, two threads, the whole line |
//! |---|---|---|
//! | between 0 and 1 | the hash of a place in lanes, the mantissa of a number from 1 on | 0.27 ms, 3.0 one by one |
//! | whole, up to 32 bits | the hash, two products of 32 bits each, stored in the narrowest type | 0.40 ms, 4.9 one by one |
//! | whole, beyond | the hash in lanes, then a product of 128 bits one by one | – |

use super::convert::with_type;
use super::isa::Work;
use super::share::{Apart, each_unit, stretch};
use super::{Cpu, DeviceError, RunCtx};
use crate::pool::PoolBuffer;
use aplomb_values::array::DType;
use aplomb_values::prim::draws::{Drawn, Draws};

/// Some of a call's numbers, and where they are to stand.
struct Part<'a, T> {
    draws: &'a Draws,
    from: u64,
    out: &'a mut [T],
}

impl<T: Drawn> Work for Part<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        self.draws.each(self.from, self.out);
    }
}

impl Cpu {
    /// The `n` numbers of a call. Errors: no room, an interrupt.
    pub fn drawn(
        &mut self,
        draws: &Draws,
        n: usize,
        ctx: &RunCtx,
    ) -> Result<PoolBuffer, DeviceError> {
        let (isa, dtype) = (self.isa, draws.dtype());
        let mut made = self.pool.buffer(dtype, n, ctx.budget).map_err(DeviceError::Oom)?;
        let to = Apart(made.as_mut_ptr());
        let units = n.div_ceil(stretch(0, usize::MAX).len());
        each_unit(&mut self.threads, units, units > 1, ctx, &|k, _| {
            let range = stretch(k, n);
            let (from, len) = (range.start, range.len());
            // SAFETY: stretches are apart, and the buffer has n items of `dtype`.
            with_type!(dtype, T => {
                let out = unsafe { std::slice::from_raw_parts_mut(to.at::<T>(from), len) };
                isa.run(Part { draws, from: from as u64, out });
            });
        })?;
        Ok(made)
    }
}

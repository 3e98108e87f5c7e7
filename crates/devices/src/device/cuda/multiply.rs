//! A launch that a library does, in slices of rows.

use super::blas::{Call, item, range};
use super::held::{Held, Run};
use super::step::SLICE_US;
use super::stop::Stop;
use super::text::Ready;
use crate::device::OnGpu;
use aplomb_plans::kir;
use std::time::Instant;

/// A launch and the device's time for it, µs.
type Timed = (OnGpu, Option<f64>);

impl Run<'_> {
    /// Launch `k`, a product, by cuBLAS, in slices of rows, and its time where that is asked for.
    /// `ready`: the text that looks at the operands. The inner error: what cuBLAS says; then
    /// nothing has been computed, and our text is to do it.
    pub(super) fn multiply(
        &mut self,
        k: usize,
        call: &Call,
        ready: &Ready,
    ) -> Result<Result<Timed, String>, Stop> {
        let p = &call.product;
        let operands = [self.on_device(p.left.buf)?, self.on_device(p.right.buf)?];
        let bytes = usize::try_from(item(p) * p.rows * p.columns).map_err(|_| Stop::Memory)?;
        let result = self.cuda.memory.take(bytes)?;
        let interrupt = self.ctx.interrupt;
        let begun = Instant::now();

        let [left, right] = operands.each_ref().map(|copy| copy.at());
        let full =
            u64::from(self.cuda.driver.facts().processors.saturating_mul(ready.function.resident));
        let blocks =
            ((p.rows.max(p.columns) * p.deep).div_ceil(u64::from(kir::THREADS))).min(full) as u32;
        self.start_clock()?;
        ready.function.launch(blocks, kir::THREADS, &mut range(p, [left, right], self.word(k)))?;

        let predicted = call.us * self.cuda.pace;
        let slices = (predicted / SLICE_US).ceil().clamp(1.0, p.rows as f64) as u64;
        let rows = p.rows.div_ceil(slices);
        let slices = p.rows.div_ceil(rows) as usize;
        for s in 0..slices {
            if interrupt.is_set() {
                self.cuda.driver.finish()?;
                return Err(Stop::Interrupted);
            }
            if s >= 2 {
                self.cuda.driver.reached(s, interrupt)?;
            }
            let first = s as u64 * rows;
            let done = self.cuda.blas.multiply(
                p,
                first..(first + rows).min(p.rows),
                [left, right, result.at()],
            );
            if let Err(says) = done {
                self.cuda.tell(format!("cuBLAS is left alone, our text multiplies: {says}"));
                return Ok(Err(says));
            }
            if slices > 1 {
                self.cuda.driver.mark(s)?;
            }
        }
        if self.ctx.timed || slices > 1 || predicted > SLICE_US / 10.0 {
            self.cuda.driver.wait(interrupt)?;
            self.cuda.learn(begun.elapsed().as_secs_f64() * 1e6, call.us);
        }
        let took = self.stop_clock()?;
        self.held[p.result.0 as usize] = Held { host: None, copy: Some(result) };
        self.multiplied.push(k);
        Ok(Ok((
            OnGpu { slices: slices as u32, library: Some(call.name()), ..OnGpu::default() },
            took,
        )))
    }
}

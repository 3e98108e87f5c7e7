//! Results of folds in f32: computed in f64, and rounded once, at their end.

use super::convert::converts;
use super::convert::{Converts, Sink};
use super::share::{STRETCH, each_unit, stretch};
use super::{Cpu, DeviceError, Fault, RunCtx};
use crate::pool::{PoolBuffer, lock};
use aplomb_plans::plan::Reduction;
use aplomb_values::array::{DType, Storage, View};
use aplomb_values::prim::scalar::single::rounded;
use std::ops::Range;
use std::sync::Mutex;

/// The results of a fold of dtype f32, which are rounded once, at their end.
pub struct Singles<'a> {
    pub of: &'a Reduction,
    pub from: *const f64,
    pub to: Sink,
    pub converts: Converts,
}

// SAFETY: each result is written by the thread that has its range.
unsafe impl Sync for Singles<'_> {}

impl Singles<'_> {
    /// # Safety
    /// Both sides have these places, and nobody else has them now.
    pub unsafe fn range(&self, range: Range<usize>, fault: &mut Option<Fault>) {
        // SAFETY: the caller says so.
        let (items, singles) = unsafe {
            let items = std::slice::from_raw_parts(self.from.add(range.start), range.len());
            let out = self.to.at.cast::<f32>().add(range.start);
            (self.converts.store)(DType::F32, false, out.cast(), items.as_ptr(), items.len());
            (items, std::slice::from_raw_parts_mut(out, items.len()))
        };
        if singles.iter().fold(true, |all, x| all & x.is_finite()) {
            return;
        }
        for (at, (x, single)) in range.zip(items.iter().zip(singles)) {
            if let Err(fail) = rounded(Ok(*x)) {
                Fault { site: self.of.site, index: at as u64, fail, node: self.of.node }
                    .keep_least(fault);
                *single = 0.0;
            }
        }
    }
}

/// The results of a fold of f32 in their own type.
pub fn singles_of(
    cpu: &mut Cpu,
    of: &Reduction,
    done: &PoolBuffer,
    fault: &mut Option<Fault>,
    ctx: &RunCtx,
) -> Result<PoolBuffer, DeviceError> {
    let n = done.len();
    let mut out = cpu.pool.buffer(DType::F32, n, ctx.budget).map_err(DeviceError::Oom)?;
    let View::F64(from) = done.view() else {
        return Err(DeviceError::Broken("the results of a fold are no floats".into()));
    };
    let (from, to) = (from.as_ptr(), Sink::own(&mut out));
    let all = Singles { of, from, to, converts: converts(cpu.isa) };
    let first = Mutex::new(*fault);
    let units = n.div_ceil(STRETCH);
    each_unit(&mut cpu.threads, units, units > 1, ctx, &|k, _| {
        let mut own = None;
        // SAFETY: both are n long, and a stretch is one thread's.
        unsafe { all.range(stretch(k, n), &mut own) };
        if let Some(fault) = own {
            fault.keep_least(&mut lock(&first));
        }
    })?;
    *fault = first.into_inner().unwrap_or_else(|e| e.into_inner());
    Ok(out)
}

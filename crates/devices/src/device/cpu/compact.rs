//! Selection along one axis by a mask: the body runs as a map, then the cells that are kept move
//! together.
//!
//! The mask is looked at once, in order, for the places that it keeps; copying is shared out by
//! result rows. Not here: counting by blocks on several threads, and a body that runs for kept
//! cells only.

use super::convert::Sink;
use super::map::{Outputs, body_into};
use super::program::Input;
use super::share::{Tally, each_unit};
use super::{Cpu, DeviceError, Held, RunCtx};
use aplomb_plans::plan::{Launch, Plan};
use aplomb_values::array::{around, elements};

/// Result cells to a unit.
const UNIT: usize = 8_192;

/// The failures that the body met, its stores in `misfits`; and those of the selection's own store.
#[allow(clippy::too_many_arguments)]
pub fn run(
    cpu: &mut Cpu,
    plan: &Plan,
    launch: &Launch,
    held: &[Option<Held>],
    inputs: Vec<Input>,
    body: &Outputs,
    after: &Outputs,
    ctx: &RunCtx,
) -> Result<(Tally, Tally), DeviceError> {
    let broken = |what: &str| DeviceError::Broken(format!("a selection {what}"));
    let (Some(c), Some(axis), Some(to)) =
        (launch.compaction, launch.axis, after.sinks.first().copied())
    else {
        return Err(broken("without a mask"));
    };
    let (outer, n, inner) = around(&launch.domain, axis);
    let picks = places(plan, launch, held, c.mask as usize, n)
        .ok_or_else(|| broken("whose mask is not there"))?;
    let kept = plan.buffer(launch.after_stores[0].buf).shape[axis];
    if picks.len() != kept {
        return Err(broken("keeps another number than was counted"));
    }
    let size = to.dtype.size();
    let bytes = elements(&launch.domain).saturating_mul(size);
    let mut whole = cpu
        .pool
        .buffer(to.dtype, elements(&launch.domain), ctx.budget)
        .map_err(DeviceError::Oom)?;
    let all = Sink { at: whole.as_mut_ptr(), stream: false, ..to };
    let (found, misfits) = body_into(cpu, launch, inputs, body, &[(c.value, all)], ctx)?;
    let copy = Copy { from: whole.as_ptr(), to: to.at, row: inner * size };
    let units = kept.div_ceil(UNIT);
    each_unit(&mut cpu.threads, outer * units, bytes > 1 << 16, ctx, &|k, _| {
        let (o, first) = (k / units, k % units * UNIT);
        let last = (first + UNIT).min(kept);
        // SAFETY: rows of the domain and of the result, each result row in one unit.
        unsafe { copy.rows(&picks[first..last], o * n, o * kept + first) };
    })?;
    let selected = Tally { misfits, threads: found.threads, fault: None };
    Ok((found, selected))
}

/// The places of the axis where the mask is not 0.
fn places(
    plan: &Plan,
    launch: &Launch,
    held: &[Option<Held>],
    load: usize,
    n: usize,
) -> Option<Vec<u32>> {
    let mask = held.get(launch.loads.get(load)?.buf.0 as usize)?.as_ref()?.source();
    let shape = &plan.buffer(launch.loads[load].buf).shape;
    if mask.len != n || shape.len() != 1 || u32::try_from(n).is_err() {
        return None;
    }
    let mut items = vec![0.0; n];
    // SAFETY: the source holds n.
    unsafe {
        (super::convert::converts(super::Isa::Portable).load)(mask, 0, 1, n, items.as_mut_ptr())
    };
    Some((0..n as u32).filter(|k| items[*k as usize] != 0.0).collect())
}

struct Copy {
    from: *const u8,
    to: *mut u8,
    /// Bytes.
    row: usize,
}

// SAFETY: units write disjoint rows.
unsafe impl Sync for Copy {}

impl Copy {
    /// Safety: the rows lie in both, and nobody else writes them.
    unsafe fn rows(&self, picks: &[u32], base: usize, first: usize) {
        macro_rules! items {
            ($t:ty) => {
                for (j, &k) in picks.iter().enumerate() {
                    // SAFETY: as the function's.
                    unsafe {
                        *self.to.cast::<$t>().add(first + j) =
                            *self.from.cast::<$t>().add(base + k as usize)
                    };
                }
            };
        }
        match self.row {
            1 => items!(u8),
            2 => items!(u16),
            4 => items!(u32),
            8 => items!(u64),
            row => {
                for (j, &k) in picks.iter().enumerate() {
                    let from = (base + k as usize) * row;
                    // SAFETY: as the function's.
                    unsafe {
                        std::ptr::copy_nonoverlapping(
                            self.from.add(from),
                            self.to.add((first + j) * row),
                            row,
                        )
                    };
                }
            }
        }
    }
}

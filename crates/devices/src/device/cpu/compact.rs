//! Selection along one axis by a mask: the body runs as a map, then the cells that are kept move
//! together.
//!
//! | what | shared out by |
//! |---|---|
//! | the body, where it is more than a read of what lies in order | as any map |
//! | how many each stretch of the mask keeps | stretches |
//! | items of a vector | stretches, each to where those before it end; eight at a time by `vcompress` |
//! | rows | the places that are kept are listed once; result rows |
//!
//! Not here: a body that runs for kept cells only.

use super::convert::{Sink, Source, with_type};
use super::isa::Isa;
use super::map::{Outputs, body_into};
use super::program::Input;
use super::share::{STRETCH, Tally, each_unit, stretch};
use super::{Cpu, DeviceError, Held, RunCtx};
use aplomb_plans::plan::{Launch, Plan, What};
use aplomb_values::array::{DType, around, elements};
use std::sync::atomic::{AtomicUsize, Ordering};

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
    let mask = mask_of(plan, launch, held, c.mask as usize, n)
        .ok_or_else(|| broken("whose mask is not there"))?;
    let kept = plan.buffer(launch.after_stores[0].buf).shape[axis];
    let starts = starts(cpu, &mask, ctx)?;
    if starts.last().is_none_or(|all| *all != kept) {
        return Err(broken("keeps another number than was counted"));
    }
    let size = to.dtype.size();
    let bytes = elements(&launch.domain).saturating_mul(size);
    let given = in_order(launch, &inputs, c.value, to.dtype).filter(|_| body.sinks.is_empty());
    let mut whole = None;
    let (from, found) = match given {
        Some(from) => (from, Tally { threads: 1, ..Tally::default() }),
        None => {
            let mut buffer = cpu
                .pool
                .buffer(to.dtype, elements(&launch.domain), ctx.budget)
                .map_err(DeviceError::Oom)?;
            let all = Sink { at: buffer.as_mut_ptr(), stream: false, ..to };
            let (found, misfits) = body_into(cpu, launch, inputs, body, &[(c.value, all)], ctx)?;
            if misfits != 0 {
                let selected = Tally { misfits, threads: found.threads, fault: None };
                return Ok((found, selected));
            }
            (whole.insert(buffer).as_ptr(), found)
        }
    };
    let copy = Copy { from, to: to.at, row: inner * size, isa: cpu.isa };
    if outer == 1 && inner == 1 {
        each_unit(&mut cpu.threads, n.div_ceil(STRETCH), bytes > 1 << 16, ctx, &|k, _| {
            let range = stretch(k, n);
            // SAFETY: the stretch lies in the domain, and its part of the result is nobody else's.
            unsafe { copy.items(&mask.at(range.clone()), range.start, starts[k]..starts[k + 1]) }
        })?;
    } else {
        let picks = mask.places(kept, ctx)?;
        let units = kept.div_ceil(UNIT);
        each_unit(&mut cpu.threads, outer * units, bytes > 1 << 16, ctx, &|k, _| {
            let (o, first) = (k / units, k % units * UNIT);
            let last = (first + UNIT).min(kept);
            // SAFETY: rows of the domain and of the result, each result row in one unit.
            unsafe { copy.rows(&picks[first..last], o * n, o * kept + first) };
        })?;
    }
    Ok((found, Tally { misfits: 0, threads: 1, fault: None }))
}

/// The place of the items that the body only reads, one after the other and in that type.
fn in_order(launch: &Launch, inputs: &[Input], value: u32, dtype: DType) -> Option<*const u8> {
    let What::Load(k) = launch.body.get(value as usize)?.what else { return None };
    let input = inputs.get(k as usize)?;
    let Source { at, dtype: own, len } = input.source;
    (input.flat == Some(0) && own == dtype && len == elements(&launch.domain)).then_some(at)
}

/// A mask in memory.
struct Mask(Source);

// SAFETY: nobody writes it while the launch runs.
unsafe impl Sync for Mask {}

fn mask_of(
    plan: &Plan,
    launch: &Launch,
    held: &[Option<Held>],
    load: usize,
    n: usize,
) -> Option<Mask> {
    let mask = held.get(launch.loads.get(load)?.buf.0 as usize)?.as_ref()?.source();
    let shape = &plan.buffer(launch.loads[load].buf).shape;
    (mask.len == n && shape.len() == 1 && u32::try_from(n).is_ok()).then_some(Mask(mask))
}

impl Mask {
    /// A byte for each item of a stretch: whether it is kept.
    fn at(&self, range: std::ops::Range<usize>) -> [u8; STRETCH] {
        let mut out = [0; STRETCH];
        let Source { at, dtype, len } = self.0;
        assert!(range.end <= len);
        with_type!(dtype, T => for (k, one) in range.zip(&mut out) {
            // SAFETY: k is below its length.
            *one = u8::from(unsafe { *at.cast::<T>().add(k) } != T::default());
        });
        out
    }

    /// The places that are kept.
    fn places(&self, kept: usize, ctx: &RunCtx) -> Result<Vec<u32>, DeviceError> {
        let _held = ctx.budget.charge_elements(kept, size_of::<u32>()).map_err(DeviceError::Oom)?;
        let mut out = Vec::new();
        for k in 0..self.0.len.div_ceil(STRETCH) {
            if ctx.interrupt.is_set() {
                return Err(DeviceError::Interrupted);
            }
            let range = stretch(k, self.0.len);
            let bytes = self.at(range.clone());
            out.extend(range.zip(bytes).filter(|(_, one)| *one != 0).map(|(k, _)| k as u32));
        }
        Ok(out)
    }
}

/// The number of items that are kept before each stretch, and of all.
fn starts(cpu: &mut Cpu, mask: &Mask, ctx: &RunCtx) -> Result<Vec<usize>, DeviceError> {
    let n = mask.0.len;
    let counts: Vec<AtomicUsize> =
        (0..n.div_ceil(STRETCH)).map(|_| AtomicUsize::default()).collect();
    each_unit(&mut cpu.threads, counts.len(), n > 4 * STRETCH, ctx, &|k, _| {
        let range = stretch(k, n);
        let bytes = &mask.at(range.clone())[..range.len()];
        // In bytes first, which the compiler makes wide; 255 ones fit one.
        let ones = bytes.chunks(255).map(|c| usize::from(c.iter().sum::<u8>()));
        counts[k].store(ones.sum(), Ordering::Relaxed);
    })?;
    let ends = counts.into_iter().scan(0, |sum, count| {
        *sum += count.into_inner();
        Some(*sum)
    });
    Ok(std::iter::once(0).chain(ends).collect())
}

struct Copy {
    from: *const u8,
    to: *mut u8,
    /// Bytes.
    row: usize,
    isa: Isa,
}

// SAFETY: units write disjoint rows.
unsafe impl Sync for Copy {}

impl Copy {
    /// The items of a stretch that are kept, one behind the other. Safety: the stretch lies in the
    /// source from `first` on, and its part of the result is nobody else's.
    #[allow(unused_mut)]
    unsafe fn items(&self, mask: &[u8; STRETCH], first: usize, part: std::ops::Range<usize>) {
        let mut done = (0, 0);
        #[cfg(target_arch = "x86_64")]
        if self.isa == Isa::Avx512 && matches!(self.row, 4 | 8) {
            // SAFETY: as the function's; the machine has these instructions.
            done = unsafe { wide::compress(self, mask, first, part.clone()) };
        }
        macro_rules! items {
            ($t:ty) => {{
                // SAFETY: as the function's.
                let (from, to) = unsafe {
                    (self.from.cast::<$t>().add(first), self.to.cast::<$t>().add(part.start))
                };
                let ((mut k, mut j), count) = (done, part.len());
                // No branch on what the mask says; the end is where all are there.
                while j < count {
                    // SAFETY: j is below the part's length, k below the last item that is kept.
                    unsafe { *to.add(j) = *from.add(k) };
                    j += usize::from(mask[k]);
                    k += 1;
                }
            }};
        }
        match self.row {
            1 => items!(u8),
            2 => items!(u16),
            4 => items!(u32),
            _ => items!(u64),
        }
    }

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

/// Eight items at a time.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Copy, STRETCH};
    use std::arch::x86_64::{
        __m256i, __m512i, _mm_loadl_epi64, _mm_test_epi8_mask, _mm256_loadu_si256,
        _mm256_mask_storeu_epi32, _mm256_maskz_compress_epi32, _mm512_loadu_si512,
        _mm512_mask_storeu_epi64, _mm512_maskz_compress_epi64,
    };

    const LANES: usize = 8;

    /// All but the last; how many of the mask were looked at, and how many items moved. Safety: as
    /// `Copy::items`, and items have 4 or 8 bytes.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
    pub unsafe fn compress(
        copy: &Copy,
        mask: &[u8; STRETCH],
        first: usize,
        part: std::ops::Range<usize>,
    ) -> (usize, usize) {
        let (size, mut done, count) = (copy.row, 0, part.len());
        for (k, eight) in mask.chunks_exact(LANES).enumerate() {
            // Behind the last that is kept there may be no items.
            if done + LANES > count {
                return (k * LANES, done);
            }
            // SAFETY: eight bytes of the mask; eight items of which some are kept lie in the source
            // where more than seven are still to come, and so much of the result is this part's.
            unsafe {
                let bytes = _mm_loadl_epi64(eight.as_ptr().cast());
                let keep = _mm_test_epi8_mask(bytes, bytes) as u8;
                let from = copy.from.add((first + k * LANES) * size);
                let to = copy.to.add((part.start + done) * size);
                if size == 8 {
                    let all: __m512i = _mm512_loadu_si512(from.cast());
                    let all = _mm512_maskz_compress_epi64(keep, all);
                    _mm512_mask_storeu_epi64(to.cast(), 0xff, all);
                } else {
                    let all: __m256i = _mm256_loadu_si256(from.cast());
                    let all = _mm256_maskz_compress_epi32(keep, all);
                    _mm256_mask_storeu_epi32(to.cast(), 0xff, all);
                }
                done += keep.count_ones() as usize;
            }
        }
        (STRETCH, done)
    }
}

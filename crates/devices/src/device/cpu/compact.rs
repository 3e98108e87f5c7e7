//! Selection along one axis by a mask: the body runs as a map, then the cells that are kept move
//! together.
//!
//! | what | shared out by |
//! |---|---|
//! | the body, where it is more than a read of what lies in order | as any map; of a vector wave by wave |
//! | how many each stretch of the mask keeps | stretches |
//! | items of a vector | stretches, each to where those before it end; a register's worth at a time by `vcompress` |
//! | places (`⍸B`) | the same, made where they are kept |
//! | rows | the places that are kept are listed once; result rows |
//!
//! Not here: a body that runs for kept cells only.

use super::convert::{Sink, Source, with_type};
use super::isa::Isa;
use super::map::{self, Outputs, body_into};
use super::program::Input;
use super::share::{STRETCH, Tally, each_unit, stretch};
use super::{Cpu, DeviceError, Held, RunCtx};
use aplomb_plans::plan::{Launch, Plan, ValueId, What};
use aplomb_values::array::{DType, around, elements};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Result cells to a unit.
const UNIT: usize = 8_192;
/// Bytes up to which a hand-off is not worth it.
const ALONE_BYTES: usize = 1 << 16;
/// Stretches of a wave, a thread: what the body makes is in a cache when it is moved.
const WAVE: usize = 16;

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
    let made = places(launch, c.value, to.dtype).map(Origin::Places);
    let given = made
        .or_else(|| in_order(launch, &inputs, c.value, to.dtype).map(Origin::Items))
        .filter(|_| body.sinks.is_empty());
    let line = outer == 1 && inner == 1;
    let mut whole = None;
    let (from, found) = match given {
        Some(from) => (from, Tally { threads: 1, ..Tally::default() }),
        None if line => {
            let of = (c.value, to);
            return in_waves(cpu, launch, inputs, body, of, (&mask, &starts), ctx);
        }
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
            (Origin::Items(whole.insert(buffer).as_ptr()), found)
        }
    };
    let copy = Copy { from, to: to.at, row: inner * size, isa: cpu.isa };
    if line {
        copy.line(cpu, (&mask, &starts), 0..n, ctx)?;
    } else {
        let picks = mask.places(kept, ctx)?;
        // Parts of one plane, or several planes.
        let units = kept.div_ceil(UNIT).max(1);
        let planes = (UNIT / kept.max(1)).max(1);
        let count = outer.div_ceil(planes) * units;
        each_unit(&mut cpu.threads, count, bytes > ALONE_BYTES, ctx, &|k, _| {
            let (o, first) = (k / units * planes, k % units * UNIT);
            let last = (first + UNIT).min(kept);
            for o in o..(o + planes).min(outer) {
                // SAFETY: rows of the domain and of the result, each result row in one unit.
                unsafe { copy.rows(&picks[first..last], o * n, o * kept + first) };
            }
        })?;
    }
    Ok((found, Tally { misfits: 0, threads: 1, fault: None }))
}

/// Items of a vector that the body makes, wave by wave: they are moved while a cache has them, and
/// there is no array of them all.
fn in_waves(
    cpu: &mut Cpu,
    launch: &Launch,
    inputs: Vec<Input>,
    outputs: &Outputs,
    (value, to): (ValueId, Sink),
    (mask, starts): (&Mask, &[usize]),
    ctx: &RunCtx,
) -> Result<(Tally, Tally), DeviceError> {
    let (n, row) = (mask.0.len, to.dtype.size());
    let wave = WAVE * cpu.threads.count() * STRETCH;
    let made = cpu.pool.buffer(to.dtype, n.min(wave), ctx.budget);
    let mut made = made.map_err(DeviceError::Oom)?;
    let own = Sink { at: made.as_mut_ptr(), stream: false, ..to };
    let (body, mut sinks) = map::body(cpu, launch, inputs, outputs, &[(value, own)]);
    let last = outputs.sinks.len();
    let mut found = Tally::default();
    let mut misfits = 0;
    for start in (0..n.max(1)).step_by(wave) {
        let points = start..(start + wave).min(n);
        // The first item of the wave is the buffer's.
        let at = own.at.wrapping_sub(start * row);
        sinks[last].at = at;
        found.add(&body.run(cpu, &sinks, points.clone(), ctx)?);
        misfits = found.misfits >> last;
        if misfits != 0 {
            break;
        }
        let copy = Copy { from: Origin::Items(at), to: to.at, row, isa: cpu.isa };
        copy.line(cpu, (mask, starts), points, ctx)?;
    }
    let (threads, own) = (found.threads, (1 << last) - 1);
    let selected = Tally { misfits, threads, fault: None };
    Ok((Tally { misfits: found.misfits & own, ..found }, selected))
}

/// The place of the items that the body only reads, one after the other and in that type.
fn in_order(launch: &Launch, inputs: &[Input], value: u32, dtype: DType) -> Option<*const u8> {
    let What::Load(k) = launch.body.get(value as usize)?.what else { return None };
    let input = inputs.get(k as usize)?;
    let Source { at, dtype: own, len } = input.source;
    (input.flat == Some(0) && own == dtype && len == elements(&launch.domain)).then_some(at)
}

/// The first place of a vector of places that follow each other, as whole numbers of that type.
fn places(launch: &Launch, value: u32, dtype: DType) -> Option<i32> {
    let (What::Index { ix, origin }, [n]) =
        (&launch.body.get(value as usize)?.what, &*launch.domain)
    else {
        return None;
    };
    let straight = dtype == DType::I32 && ix.is_affine() && ix.coefficient(0) == 1;
    let first = ix.c as f64 + origin;
    let fits = |x: f64| x.fract() == 0.0 && x.abs() < f64::from(i32::MAX);
    (straight && fits(first) && fits(first + *n as f64)).then_some(first as i32)
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
    /// A byte for each item of a stretch, 1 where it is kept: as it lies there, or put into `room`.
    fn at<'a>(&'a self, range: Range<usize>, room: &'a mut [u8; STRETCH]) -> &'a [u8] {
        let Source { at, dtype, len } = self.0;
        assert!(range.end <= len);
        let n = range.len();
        if dtype == DType::Bool {
            // SAFETY: the source holds so many bytes from the first on.
            return unsafe { std::slice::from_raw_parts(at.add(range.start), n) };
        }
        with_type!(dtype, T => for (k, one) in range.zip(&mut *room) {
            // SAFETY: k is below its length.
            *one = u8::from(unsafe { *at.cast::<T>().add(k) } != T::default());
        });
        &room[..n]
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
            let mut room = [0; STRETCH];
            let bytes = self.at(range.clone(), &mut room);
            out.extend(range.zip(bytes).filter(|(_, one)| **one != 0).map(|(k, _)| k as u32));
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
        let mut room = [0; STRETCH];
        let bytes = mask.at(stretch(k, n), &mut room);
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

/// The origin of what is selected.
#[derive(Clone, Copy)]
enum Origin {
    Items(*const u8),
    /// They are places: their own, from this one on.
    Places(i32),
}

struct Copy {
    from: Origin,
    to: *mut u8,
    /// Bytes.
    row: usize,
    isa: Isa,
}

// SAFETY: units write disjoint rows.
unsafe impl Sync for Copy {}

impl Copy {
    /// The items of a vector that are kept, of these places, which begin with a stretch.
    fn line(
        &self,
        cpu: &mut Cpu,
        (mask, starts): (&Mask, &[usize]),
        points: Range<usize>,
        ctx: &RunCtx,
    ) -> Result<(), DeviceError> {
        let first = points.start / STRETCH;
        let (count, together) =
            (points.len().div_ceil(STRETCH), points.len() * self.row > ALONE_BYTES);
        each_unit(&mut cpu.threads, count, together, ctx, &|k, _| {
            let k = first + k;
            let (range, part, mut room) =
                (stretch(k, points.end), starts[k]..starts[k + 1], [0; STRETCH]);
            // SAFETY: the stretch lies in the source, and its part of the result is nobody else's.
            unsafe { self.items(mask.at(range.clone(), &mut room), range.start, part) }
        })?;
        Ok(())
    }

    /// The items of a stretch that are kept, one behind the other. Safety: the stretch lies in the
    /// source from `first` on, and its part of the result is nobody else's.
    unsafe fn items(&self, mask: &[u8], first: usize, part: Range<usize>) {
        #[cfg(target_arch = "x86_64")]
        if self.isa == Isa::Avx512 && matches!(self.row, 4 | 8) {
            // SAFETY: as the function's; the machine has these instructions.
            return unsafe { wide::compress(self, mask, first, part) };
        }
        macro_rules! items {
            ($t:ty, $item:expr) => {{
                // SAFETY: as the function's.
                let to = unsafe { self.to.cast::<$t>().add(part.start) };
                let (mut k, mut j, count) = (0, 0, part.len());
                // No branch on what the mask says; the end is where all are there.
                while j < count {
                    // SAFETY: j is below the part's length, k below the last item that is kept.
                    unsafe { *to.add(j) = $item(first + k) };
                    j += usize::from(mask[k]);
                    k += 1;
                }
            }};
        }
        macro_rules! copied {
            ($t:ty, $from:ident) => {
                items!($t, |k: usize| *$from.cast::<$t>().wrapping_add(k))
            };
        }
        match (self.from, self.row) {
            (Origin::Places(least), _) => items!(i32, |k: usize| least.wrapping_add(k as i32)),
            (Origin::Items(from), 1) => copied!(u8, from),
            (Origin::Items(from), 2) => copied!(u16, from),
            (Origin::Items(from), 4) => copied!(u32, from),
            (Origin::Items(from), _) => copied!(u64, from),
        }
    }

    /// Safety: the rows lie in both, and nobody else writes them.
    unsafe fn rows(&self, picks: &[u32], base: usize, first: usize) {
        let Origin::Items(from) = self.from else { return };
        macro_rules! items {
            ($t:ty) => {
                for (j, &k) in picks.iter().enumerate() {
                    // SAFETY: as the function's.
                    unsafe {
                        *self.to.cast::<$t>().add(first + j) =
                            *from.cast::<$t>().add(base + k as usize)
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
                    let far = (base + k as usize) * row;
                    // SAFETY: as the function's.
                    unsafe {
                        std::ptr::copy_nonoverlapping(
                            from.add(far),
                            self.to.add((first + j) * row),
                            row,
                        )
                    };
                }
            }
        }
    }
}

/// As many items at a time as a register has.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Copy, Origin};
    use std::arch::x86_64::{
        __m512i, _mm_loadu_si64, _mm_loadu_si128, _mm_test_epi8_mask, _mm512_add_epi32,
        _mm512_mask_storeu_epi32, _mm512_mask_storeu_epi64, _mm512_maskz_compress_epi32,
        _mm512_maskz_compress_epi64, _mm512_maskz_loadu_epi32, _mm512_maskz_loadu_epi64,
        _mm512_set1_epi32, _mm512_setr_epi32,
    };

    /// A loop over what a mask says of so many lanes at a time, whose rest is filled up with zeros.
    macro_rules! each {
        ($mask:ident, $lanes:literal, |$k:ident, $room:ident| $body:expr) => {
            for ($k, part) in $mask.chunks($lanes).enumerate() {
                let mut filled = [0u8; $lanes];
                let $room = if part.len() == $lanes {
                    part.as_ptr()
                } else {
                    filled[..part.len()].copy_from_slice(part);
                    filled.as_ptr()
                };
                $body
            }
        };
    }

    /// All items of a stretch. Safety: as `Copy::items`, and items have 4 or 8 bytes.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
    pub unsafe fn compress(copy: &Copy, mask: &[u8], first: usize, part: std::ops::Range<usize>) {
        let (mut at, end) = (part.start, part.end);
        // SAFETY: what is loaded are items that are kept, and so are those that are stored, which
        // a register's worth of room is there for, or which are counted.
        unsafe {
            if copy.row == 8 {
                let Origin::Items(from) = copy.from else { return };
                let (from, to) = (from.cast::<i64>(), copy.to.cast::<i64>());
                each!(mask, 8, |k, room| {
                    let bytes = _mm_loadu_si64(room);
                    let keep = _mm_test_epi8_mask(bytes, bytes) as u8;
                    let all = _mm512_maskz_loadu_epi64(keep, from.wrapping_add(first + k * 8));
                    let all: __m512i = _mm512_maskz_compress_epi64(keep, all);
                    let n = keep.count_ones();
                    let some = if at + 8 <= end { 0xff } else { (1u32 << n) as u8 - 1 };
                    _mm512_mask_storeu_epi64(to.add(at), some, all);
                    at += n as usize;
                });
                return;
            }
            let to = copy.to.cast::<i32>();
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            each!(mask, 16, |k, room| {
                let bytes = _mm_loadu_si128(room.cast());
                let keep = _mm_test_epi8_mask(bytes, bytes);
                let k = first + k * 16;
                let all = match copy.from {
                    Origin::Items(from) => {
                        _mm512_maskz_loadu_epi32(keep, from.cast::<i32>().wrapping_add(k))
                    }
                    Origin::Places(least) => {
                        _mm512_add_epi32(lanes, _mm512_set1_epi32(least.wrapping_add(k as i32)))
                    }
                };
                let all: __m512i = _mm512_maskz_compress_epi32(keep, all);
                let n = keep.count_ones();
                let some = if at + 16 <= end { 0xffff } else { ((1u32 << n) - 1) as u16 };
                _mm512_mask_storeu_epi32(to.add(at), some, all);
                at += n as usize;
            });
        }
    }
}

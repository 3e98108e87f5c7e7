//! Grades of vectors by cells of 8 bytes, a key above and a place below, sorted as bare keys are.
//!
//! | items | what stands above the place | 4 million, two threads |
//! |---|---|---|
//! | whole numbers, characters, f32 | the key, which has 4 bytes | 20 ms |
//! | f64 | how far the key is from the least, as many bits of it as places leave | 30 ms |
//!
//! Keys that lost bits may be alike where items differ. Then their cells lie side by side, in the
//! order of their places, and all that is left to do is to order such a run by the keys themselves:
//! what was given out of it is written again. Runs are looked for where a part of the order is
//! given out, and at the borders of such parts, so a grade whose keys lost nothing that matters
//! pays one look at each cell. A long run is left to `library::run`, whose cells hold whole keys.

use super::convert::with_type;
use super::ordered::{Ordered, Places};
use super::parted;
use super::share::{STRETCH, each_unit, stretch};
use super::sorting::{Arranges, Keyed, RUN, by_digits, sorted};
use super::{Cpu, DeviceError, Isa, RunCtx};
use crate::pool::lock;
use aplomb_values::array::DType;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A run of cells that are alike above their places, across borders of parts; longer ones are
/// another's work.
const LONGEST: usize = STRETCH;

/// The parts of a cell: how far the key is from the least, cut by `shift` bits, above so many bits
/// of place. Descending, keys are turned around, places are not.
struct Cells<'a, X: Ordered> {
    items: &'a [X],
    flip: X::Key,
    least: u64,
    shift: u32,
    bits: u32,
    to: &'a Places,
    /// The parts that were given out, where bits were lost.
    parts: Mutex<Vec<Range<usize>>>,
}

impl<X: Ordered> Cells<'_, X>
where
    u64: From<X::Key>,
{
    /// The whole key of an item.
    #[inline(always)]
    fn key(&self, k: usize) -> u64 {
        u64::from(self.items[k].key() ^ self.flip)
    }

    /// The number above the place of an item.
    #[inline(always)]
    fn above(&self, k: usize) -> u64 {
        self.key(k).wrapping_sub(self.least) >> self.shift
    }

    #[inline(always)]
    fn cell(&self, k: usize) -> u64 {
        self.above(k) << self.bits | k as u64
    }

    #[inline(always)]
    fn place(&self, cell: u64) -> usize {
        (cell & ((1 << self.bits) - 1)) as usize
    }

    /// Places to the results from one on.
    #[inline(always)]
    fn write(&self, first: usize, places: impl ExactSizeIterator<Item = usize>) {
        with_type!(self.to.dtype, T => {
            // SAFETY: there is room for as many as there are items, and a part has one writer.
            let to = unsafe { self.to.room::<T>(first, places.len()) };
            to.iter_mut().zip(places).for_each(|(to, at)| *to = (at + self.to.origin) as T);
        });
    }

    /// The place that was given out. Only where nobody writes.
    fn given(&self, k: usize) -> usize {
        with_type!(self.to.dtype, T => {
            // SAFETY: there is room for as many as there are items.
            let at = unsafe { self.to.room::<T>(k, 1) };
            at[0] as usize - self.to.origin
        })
    }

    /// Whether places stand in the order of the items.
    fn are_ordered(&self, places: &[usize]) -> bool {
        places.is_sorted_by_key(|&at| (self.key(at), at))
    }

    /// The runs of a part whose items may stand in another order than their cells.
    #[cold]
    fn settle(&self, first: usize, cells: &[u64]) {
        let mut at = first;
        for run in cells.chunk_by(|a, b| a >> self.bits == b >> self.bits) {
            if run.len() > 1 {
                let mut places: Vec<usize> = run.iter().map(|&cell| self.place(cell)).collect();
                if !self.are_ordered(&places) {
                    places.sort_unstable_by_key(|&at| (self.key(at), at));
                    self.write(at, places.into_iter());
                }
            }
            at += run.len();
        }
    }

    /// The same of runs that lie across borders of parts. False: one is longer than `LONGEST`.
    fn settle_borders(&self) -> bool {
        let mut parts = lock(&self.parts);
        parts.sort_unstable_by_key(|part| part.start);
        let n = self.items.len();
        for border in parts.iter().skip(1).map(|part| part.start) {
            let [before, behind] = [border - 1, border].map(|k| self.given(k));
            let above = self.above(before);
            if above != self.above(behind) || self.are_ordered(&[before, behind]) {
                continue;
            }
            let is_of = |k: &usize| self.above(self.given(*k)) == above;
            let from = border - (0..border).rev().take(LONGEST).take_while(is_of).count();
            let to = border + (border..n).take(LONGEST).take_while(is_of).count();
            if border - from == LONGEST || to - border == LONGEST {
                return false;
            }
            let mut places: Vec<usize> = (from..to).map(|k| self.given(k)).collect();
            places.sort_unstable_by_key(|&at| (self.key(at), at));
            self.write(from, places.into_iter());
        }
        true
    }
}

impl<X: Ordered> Arranges<u64> for Cells<'_, X>
where
    u64: From<X::Key>,
{
    #[inline(always)]
    fn keys(&self, first: usize, keys: &mut [u64]) -> bool {
        keys.iter_mut().enumerate().for_each(|(k, key)| *key = self.cell(first + k));
        true
    }

    #[inline(always)]
    fn put(&self, first: usize, keys: &[u64]) {
        self.write(first, keys.iter().map(|&cell| self.place(cell)));
        if self.shift > 0 {
            let alike = |pair: &[u64]| pair[0] >> self.bits == pair[1] >> self.bits;
            if keys.windows(2).fold(false, |some, pair| some | alike(pair)) {
                self.settle(first, keys);
            }
            if !keys.is_empty() {
                lock(&self.parts).push(first..first + keys.len());
            }
        }
    }
}

/// The grade of items whose keys have 4 bytes, on how many threads; it is there always.
pub fn short<X: Ordered<Key = u32>>(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (items, down): (&[X], bool),
    to: &Places,
) -> Result<Option<usize>, DeviceError> {
    let flip = if down { u32::MAX } else { 0 };
    let of = Cells { items, flip, least: 0, shift: 0, bits: 32, to, parts: Mutex::default() };
    if cpu.isa == Isa::Avx512 {
        return parted::in_order(cpu, ctx, items.len(), &of);
    }
    let (cell, put) = (|k| Placed(of.cell(k)), |k, cell: &Placed| of.put(k, &[cell.0]));
    sorted(cpu, ctx, (items.len(), RUN), &cell, &by_digits, &Placed::cmp, &put).map(Some)
}

/// The grade of f64, on how many threads. None: too many are so near to each other that the cells
/// do not tell them apart.
pub fn long(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (items, down): (&[f64], bool),
    to: &Places,
) -> Result<Option<usize>, DeviceError> {
    let n = items.len();
    let flip = if down { u64::MAX } else { 0 };
    let (least, most) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
    each_unit(&mut cpu.threads, n.div_ceil(STRETCH), n > STRETCH, ctx, &|k, _| {
        let (low, high) = items[stretch(k, n)].iter().fold((u64::MAX, 0), |(low, high), x| {
            let key = x.key() ^ flip;
            (low.min(key), high.max(key))
        });
        least.fetch_min(low, Relaxed);
        most.fetch_max(high, Relaxed);
    })?;
    let least = least.into_inner();
    let width = u64::BITS - most.into_inner().saturating_sub(least).leading_zeros();
    let bits = usize::BITS - n.leading_zeros();
    let shift = (width + bits).saturating_sub(u64::BITS);
    let of = Cells { items, flip, least, shift, bits, to, parts: Mutex::default() };
    let ran = parted::in_order(cpu, ctx, n, &of)?;
    Ok(ran.filter(|_| of.settle_borders()))
}

/// A key above, a place below.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Placed(u64);

impl Keyed for Placed {
    const BYTES: usize = 4;

    #[inline]
    fn digit(&self, byte: usize) -> usize {
        usize::from((self.0 >> (32 + 8 * byte)) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Dice;
    use super::*;
    use aplomb_ground::limits::{Budget, Interrupt};
    use aplomb_values::array::View;
    use aplomb_values::dag::Lib;
    use aplomb_values::prim::whole::{Given, grade};

    /// Numbers that differ in their last bits beside others that are far from them: cells do not
    /// tell them apart.
    fn near(dice: &mut Dice, n: usize, values: usize) -> Vec<f64> {
        let one = |dice: &mut Dice| match dice.roll(40) {
            0 => [1e300, -1e-300, f64::NAN, -0.0, 0.0, f64::INFINITY][dice.roll(6)],
            k => f64::from_bits((1.5 + (k % 3) as f64).to_bits() + dice.roll(values) as u64),
        };
        (0..n).map(|_| one(dice)).collect()
    }

    #[test]
    fn numbers_that_cells_do_not_tell_apart_are_in_order_too() {
        let ctx = RunCtx {
            interrupt: &Interrupt::default(),
            budget: &Budget::new(1 << 32),
            timed: false,
            libraries: false,
            abreast: true,
        };
        let (mut dice, mut told) = (Dice(21), 0);
        for isa in Isa::available() {
            for n in [1, 2, 100, 1_000, STRETCH + 1, 5 * STRETCH + 3] {
                for values in [1, 2, 50, 1 << 20] {
                    let items = near(&mut dice, n, values);
                    let down = dice.roll(2) == 0;
                    let of = if down { Lib::GradeDown } else { Lib::GradeUp };
                    let mut cpu = Cpu::with(isa, 2);
                    let made = cpu.ordered(View::F64(&items), (of, 0.0), &ctx).unwrap();
                    let Some(made) = made else { continue };
                    told += 1;
                    let wanted = grade(Given { items: &items, shape: &[n] }, down);
                    let made = aplomb_values::array::Storage::view(&made);
                    let made = made.numbers(ctx.budget).unwrap();
                    assert!(made.iter().zip(&wanted).all(|(a, b)| *a == *b as f64), "{n} {values}");
                }
            }
        }
        assert!(told >= 20 * Isa::available().count(), "{told}");
        assert_eq!(ctx.budget.used(), 0);
    }
}

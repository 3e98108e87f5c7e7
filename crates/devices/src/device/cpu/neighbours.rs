//! Some neighbours in a grade, without an order of all: where the least number stands, the three
//! nearest, the place of the median.
//!
//! | which, of how many | way |
//! |---|---|
//! | the first | the least key of a stretch, then the first item that has it, while it is near |
//! | some, of few numbers or of a row | keys beside their places, of which these are chosen |
//! | some, of many | their keys by `select`; of the items that have such keys these are chosen |
//!
//! Why the last way is right: items of other keys than those from the first to the last that is
//! wanted stand before all of them or behind, and those before are counted.

use super::convert::{Source, with_type};
use super::isa::{Isa, Work};
use super::ordered::{Ordered, Places};
use super::select::{self, chosen};
use super::share::{STRETCH, each_unit, stretch};
use super::sorting::{Arranges, Bits};
use super::{Cpu, DeviceError, RunCtx};
use crate::pool::{PoolBuffer, lock};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use aplomb_values::array::DType;
use aplomb_values::dag::Lib;
use std::ops::Range;
use std::sync::Mutex;

/// Items whose keys are compared before anybody asks which of them has the least.
const ABREAST: usize = 512;

/// The least key of some items, and the first place that has it.
struct Least<'a, X: Ordered> {
    items: &'a [X],
    /// The bits of a key that are turned around.
    flip: X::Key,
}

impl<X: Ordered> Work for Least<'_, X> {
    type Out = (X::Key, usize);

    #[inline(always)]
    fn run(self) -> (X::Key, usize) {
        let (mut least, mut at) = (X::Key::MOST, 0);
        for (k, block) in self.items.chunks(ABREAST).enumerate() {
            let keys = || block.iter().map(|x| x.key() ^ self.flip);
            let own = keys().fold(X::Key::MOST, |a, b| if b < a { b } else { a });
            if own < least {
                least = own;
                at = k * ABREAST + keys().take_while(|key| *key != own).count();
            }
        }
        (least, at)
    }
}

/// The place of the least item, or of the greatest, in a row; the first of several.
pub fn first(isa: Isa, items: &[f64], down: bool) -> usize {
    isa.run(Least { items, flip: flip::<f64>(down) }).1
}

fn flip<X: Ordered>(down: bool) -> X::Key {
    if down { X::Key::MOST } else { X::Key::LEAST }
}

/// The places of some neighbours in the order of a vector as it lies in memory, and the threads
/// that took part.
pub fn places(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (of, origin): (Lib, f64),
    all: Source,
    wanted: Range<usize>,
) -> std::result::Result<(PoolBuffer, usize), DeviceError> {
    let (to, room) = Places::new(cpu, ctx, (of, origin), (all.len, wanted.len()))?;
    let threads = with_type!(all.dtype, X => {
        // SAFETY: nobody writes the source while a launch holds it.
        let items = unsafe { std::slice::from_raw_parts(all.at.cast::<X>(), all.len) };
        let ranking = Ranking { items, flip: flip::<X>(of.is_down()), wanted };
        let (found, threads) = ranking.found(cpu, ctx)?;
        // SAFETY: there is room for as many as are wanted.
        unsafe { to.put(0, &found) };
        threads
    });
    Ok((room, threads))
}

/// A key and the place of the item that it is of.
type Placed<X> = (<X as Ordered>::Key, usize);

/// A vector of whose order some neighbours are wanted.
struct Ranking<'a, X: Ordered> {
    items: &'a [X],
    flip: X::Key,
    wanted: Range<usize>,
}

impl<X: Ordered> Ranking<'_, X> {
    fn found(
        &self,
        cpu: &mut Cpu,
        ctx: &RunCtx,
    ) -> std::result::Result<(Vec<usize>, usize), DeviceError> {
        if self.wanted == (0..1) {
            let (place, threads) = self.first(cpu, ctx)?;
            return Ok((vec![place], threads));
        }
        let (mut cells, below, threads) = match self.near(cpu, ctx)? {
            Some(found) => found,
            None => {
                let cells = ctx.budget.each((0..self.items.len()).map(|k| (self.key(k), k)));
                (cells.map_err(DeviceError::Oom)?, 0, 1)
            }
        };
        let own = self.wanted.start - below..self.wanted.end - below;
        let places = chosen(&mut cells, own).iter().map(|cell| cell.1);
        Ok((ctx.budget.each(places).map_err(DeviceError::Oom)?, threads))
    }

    #[inline(always)]
    fn key(&self, place: usize) -> X::Key {
        self.items[place].key() ^ self.flip
    }

    /// The place of the first in the order.
    fn first(
        &self,
        cpu: &mut Cpu,
        ctx: &RunCtx,
    ) -> std::result::Result<(usize, usize), DeviceError> {
        let (isa, n) = (cpu.isa, self.items.len());
        let least = Mutex::new((X::Key::MOST, usize::MAX));
        let count = n.div_ceil(STRETCH);
        let threads = each_unit(&mut cpu.threads, count, true, ctx, &|k, _| {
            let range = stretch(k, n);
            let items = &self.items[range.clone()];
            let (key, place) = isa.run(Least { items, flip: self.flip });
            let mut least = lock(&least);
            *least = (*least).min((key, range.start + place));
        })?;
        let place = lock(&least).1;
        // Interrupted before anybody looked, it stays what it was.
        Ok((place.min(n.saturating_sub(1)), threads))
    }

    /// The items whose keys are those from the first to the last that is wanted, the number of all
    /// that stand before them, and the threads. None: these keys were not found.
    fn near(
        &self,
        cpu: &mut Cpu,
        ctx: &RunCtx,
    ) -> std::result::Result<Option<(Vec<Placed<X>>, usize, usize)>, DeviceError> {
        let (isa, n) = (cpu.isa, self.items.len());
        let mut keys = ctx
            .budget
            .each(self.wanted.clone().map(|_| X::Key::LEAST))
            .map_err(DeviceError::Oom)?;
        let by_key = ByKey { of: self, to: keys.as_mut_ptr() };
        let Some(threads) = select::few(cpu, ctx, (n, &self.wanted), &by_key)? else {
            return Ok(None);
        };
        let Some(bounds) = keys.first().copied().zip(keys.last().copied()) else {
            return Ok(None);
        };
        let found = Mutex::new(Ok((Vec::new(), 0)));
        let also = each_unit(&mut cpu.threads, n.div_ceil(STRETCH), true, ctx, &|k, _| {
            let own = Between { of: self, range: stretch(k, n), bounds };
            let (own, below) = isa.run(own);
            let mut found = lock(&found);
            if let Ok((cells, all_below)) = &mut *found {
                *all_below += below;
                if let Err(full) = add(cells, &own, ctx.budget) {
                    *found = Err(full);
                }
            }
        })?;
        let (cells, below) =
            std::mem::replace(&mut *lock(&found), Ok((Vec::new(), 0))).map_err(DeviceError::Oom)?;
        let there = below <= self.wanted.start && self.wanted.end <= below + cells.len();
        Ok(there.then_some((cells, below, threads.max(also))))
    }
}

/// Some cells behind others. Errors: WS FULL.
fn add<T: Copy>(cells: &mut Vec<T>, own: &[T], budget: &Budget) -> Result<()> {
    budget.widen(cells, own.len())?;
    cells.extend_from_slice(own);
    Ok(())
}

/// The items of a stretch whose keys are not below the one bound nor above the other, and how many
/// are below.
struct Between<'a, 'b, X: Ordered> {
    of: &'a Ranking<'b, X>,
    range: Range<usize>,
    bounds: (X::Key, X::Key),
}

impl<X: Ordered> Work for Between<'_, '_, X> {
    type Out = (Vec<Placed<X>>, usize);

    #[inline(always)]
    fn run(self) -> Self::Out {
        let (low, high) = self.bounds;
        let (mut own, mut below) = (Vec::new(), 0);
        let mut first = self.range.start;
        for block in self.of.items[self.range].chunks(ABREAST) {
            let keys = || block.iter().map(|x| x.key() ^ self.of.flip);
            below += keys().map(|key| usize::from(key < low)).sum::<usize>();
            let any = keys().fold(false, |any, key| any | (key >= low) & (key <= high));
            if any {
                let near = keys().zip(first..).filter(|(key, _)| *key >= low && *key <= high);
                own.extend(near);
            }
            first += block.len();
        }
        (own, below)
    }
}

/// Keys alone, those at the places that are wanted being written; other items may have them, too.
struct ByKey<'a, 'b, X: Ordered> {
    of: &'a Ranking<'b, X>,
    to: *mut X::Key,
}

// SAFETY: each result is written by the thread that has found it.
unsafe impl<X: Ordered> Sync for ByKey<'_, '_, X> {}

impl<X: Ordered> Arranges<X::Key> for ByKey<'_, '_, X> {
    #[inline(always)]
    fn keys(&self, first: usize, keys: &mut [X::Key]) -> bool {
        let items = &self.of.items[first..first + keys.len()];
        keys.iter_mut().zip(items).for_each(|(key, x)| *key = x.key() ^ self.of.flip);
        true
    }

    #[inline(always)]
    fn put(&self, first: usize, keys: &[X::Key]) {
        let wanted = &self.of.wanted;
        for k in wanted.start.max(first)..wanted.end.min(first + keys.len()) {
            // SAFETY: there is room for what is wanted.
            unsafe { *self.to.add(k - wanted.start) = keys[k - first] };
        }
    }
}

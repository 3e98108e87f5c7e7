//! Vectors that are made block by block, so that an interrupt is heard however long they are.

use aplomb_ground::error::{Error, Result, ws_full};
use aplomb_ground::limits::{Budget, Charge};
use std::convert::Infallible;
use std::ops::Range;

/// Items between two looks at the interrupt: memory comes as it is first written.
pub(super) const BLOCK: usize = 1 << 18;

/// Items that are copied while a short round of a loop takes place.
pub(super) const COPIED: usize = 1 << 6;

/// Items behind those of a vector, which has room for them. Errors: INTERRUPT.
pub(super) fn extend<T: Copy>(out: &mut Vec<T>, items: &[T], budget: &Budget) -> Result<()> {
    items.chunks(BLOCK).try_for_each(|block| {
        budget.check()?;
        out.extend_from_slice(block);
        Ok(())
    })
}

/// A copy. Errors: WS FULL, INTERRUPT.
pub(super) fn copied<T: Copy>(items: &[T], budget: &Budget) -> Result<Vec<T>> {
    let mut out = budget.room(items.len())?;
    extend(&mut out, items, budget)?;
    Ok(out)
}

/// The characters of code points. None: some point is none. Errors: WS FULL, INTERRUPT.
pub(super) fn of_points<T: Copy>(
    items: &[T],
    budget: &Budget,
    point: impl Fn(T) -> u32,
) -> Result<Option<Vec<char>>> {
    let mut out = budget.room(items.len())?;
    for block in items.chunks(BLOCK) {
        budget.check()?;
        // Whether one was wrong is asked once a block, so that the loop is wide.
        let mut right = true;
        out.extend(block.iter().map(|&x| match char::from_u32(point(x)) {
            Some(c) => c,
            None => {
                right = false;
                char::REPLACEMENT_CHARACTER
            }
        }));
        if !right {
            return Ok(None);
        }
    }
    Ok(Some(out))
}

/// Fills behind the items of a vector, which has room for them, until it holds n. Errors:
/// INTERRUPT.
fn pad<T: Copy>(out: &mut Vec<T>, n: usize, fill: T, budget: &Budget) -> Result<()> {
    while out.len() < n {
        budget.check()?;
        out.resize(n.min(out.len() + BLOCK), fill);
    }
    Ok(())
}

/// A stretch of items, forwards or from its end, between fills.
pub(super) struct Line {
    pub stretch: Range<usize>,
    pub step: i64,
    pub before: usize,
    pub n: usize,
}

impl Line {
    pub fn of<T: Copy>(&self, items: &[T], fill: T, budget: &Budget) -> Result<Vec<T>> {
        let (mut out, stretch) = (budget.room(self.n)?, &items[self.stretch.clone()]);
        pad(&mut out, self.before, fill, budget)?;
        match self.step {
            1 => extend(&mut out, stretch, budget)?,
            _ => {
                for block in stretch.rchunks(BLOCK) {
                    budget.check()?;
                    out.extend(block.iter().rev());
                }
            }
        }
        pad(&mut out, self.n, fill, budget)?;
        Ok(out)
    }
}

/// The way in which items become a vector: all at once, or in blocks that ask a budget.
pub(super) trait Taking {
    type Error;

    fn taken<T>(&self, items: impl Iterator<Item = T>) -> Result<Vec<T>, Self::Error>;
}

/// Few items, which nobody counts.
pub(super) struct AtOnce;

impl Taking for AtOnce {
    type Error = Infallible;

    fn taken<T>(&self, items: impl Iterator<Item = T>) -> Result<Vec<T>, Infallible> {
        Ok(items.collect())
    }
}

impl Taking for Budget {
    type Error = Error;

    fn taken<T>(&self, items: impl Iterator<Item = T>) -> Result<Vec<T>, Error> {
        self.each(items)
    }
}

/// Items behind others, in room that is charged when it is taken. Errors: WS FULL.
pub(super) fn grow<T>(
    own: &mut Vec<T>,
    more: impl Iterator<Item = T>,
    n: usize,
    charge: &mut Option<Charge>,
    budget: &Budget,
) -> Result<()> {
    let needed = own.len() + n;
    if needed > own.capacity() {
        let room = needed.max(own.len() + own.len() / 2);
        let taken = budget.charge_elements(room, size_of::<T>())?;
        let full = |_| ws_full(room as u64, budget.free());
        own.try_reserve_exact(room - own.len()).map_err(full)?;
        *charge = Some(taken);
    }
    own.extend(more);
    Ok(())
}

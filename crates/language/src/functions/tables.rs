//! Groups of whole numbers and characters: a table of places where they lie in a narrow range, else
//! a hash. Of several questions (which group each item is in, where each begins, how many it has)
//! each has a loop that writes down no more than is asked.

use super::groups::{Groups, Hashed, Sizes, in_order, mixed};
use super::search::IN_TABLE;
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, View, storage};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Keys whose places make a table: at most so many for each item, and always some.
const PLACES: (i64, i64) = (4, 1 << 16);

/// Items between two looks at the interrupt.
const LOOK: usize = 1 << 14;

/// Items whose new places are written down at a time.
const BLOCK: usize = 1 << 10;

/// Items of which one look tells whether all were there before.
const RUN: usize = 32;

/// A function of the items of a vector of whole numbers or characters, in their own type. None:
/// these are others, or cells.
macro_rules! of_whole {
    ($y:expr, $budget:expr, $f:ident) => {
        match storage($y).filter(|_| $y.rank() == 1).map(|s| s.view()) {
            Some(View::Bool(v)) => $f(v, $budget),
            Some(View::I8(v)) => $f(v, $budget),
            Some(View::I16(v)) => $f(v, $budget),
            Some(View::I32(v)) => $f(v, $budget),
            Some(View::Char(v)) => {
                // A character is its code point, which no type of the library widens to i64.
                let points: Vec<u32> = $budget.each(v.iter().map(|&c| u32::from(c)))?;
                $f(&points, $budget)
            }
            _ => Ok(None),
        }
    };
}

/// The least and the greatest of some items, compared in their own type, which goes by registers.
pub(super) fn span<T: Copy + Ord + Into<i64>>(items: &[T]) -> (i64, i64) {
    let Some(first) = items.first() else { return (i64::MAX, i64::MIN) };
    let both = |(lo, hi): (T, T), x: &T| (lo.min(*x), hi.max(*x));
    let (lo, hi) = items.iter().fold((*first, *first), both);
    (lo.into(), hi.into())
}

/// True of places that make a table for so many items.
pub(super) fn is_table((lo, hi): (i64, i64), n: usize) -> bool {
    hi - lo < (n as i64 * PLACES.0).max(PLACES.1)
}

/// Groups of whole numbers: by a table of places where they lie in a narrow range, else by hash.
/// None: there is none.
pub(super) fn placed<T: Copy + Ord + Into<i64>>(
    items: &[T],
    budget: &Budget,
) -> Result<Option<Groups>> {
    if items.is_empty() {
        return Ok(None);
    }
    let (lo, hi) = span(items);
    if !is_table((lo, hi), items.len()) {
        let mut table: HashMap<u64, u32, BuildHasherDefault<Hashed>> = HashMap::default();
        let _held = budget.charge_elements(items.len(), IN_TABLE)?;
        let group = |k: usize, next: u32| *table.entry(mixed(items[k].into())).or_insert(next);
        return in_order(budget, items.len(), group).map(Some);
    }
    let size = (hi - lo + 1) as usize;
    let _held = budget.charge_elements(size, 4)?;
    let mut table = budget.filled(u32::MAX, size)?;
    let mut out = Groups { firsts: Vec::new(), of: budget.room(items.len())? };
    // New groups are written down without a branch, which nothing could predict.
    let (mut new, mut next) = ([0; BLOCK], 0);
    for (block, part) in items.chunks(BLOCK).enumerate() {
        if block % (LOOK / BLOCK) == 0 {
            budget.check()?;
        }
        let mut count = 0;
        out.of.extend(part.iter().enumerate().map(|(k, x)| {
            let own = &mut table[((*x).into() - lo) as usize];
            let is_new = *own == u32::MAX;
            let group = if is_new { next } else { *own };
            *own = group;
            new[count % BLOCK] = block * BLOCK + k;
            count += usize::from(is_new);
            next += u32::from(is_new);
            group
        }));
        out.firsts.extend_from_slice(&new[..count]);
    }
    Ok(Some(out))
}

/// The first item of each group and how many it has, where the groups would be those of a table of
/// places: nobody needs to know which group an item belongs to.
pub(super) fn sizes_of_whole(y: &Array, budget: &Budget) -> Result<Option<Sizes>> {
    fn sizes<T: Copy + Ord + Into<i64>>(items: &[T], budget: &Budget) -> Result<Option<Sizes>> {
        let (lo, hi) = span(items);
        if items.is_empty() || !is_table((lo, hi), items.len()) {
            return Ok(None);
        }
        let size = (hi - lo + 1) as usize;
        let _held = budget.charge_elements(size, size_of::<u32>())?;
        let mut table = budget.filled(0u32, size)?;
        let (mut firsts, mut keys) = (Vec::new(), Vec::new());
        for (block, part) in items.chunks(LOOK).enumerate() {
            budget.check()?;
            for (k, x) in part.iter().enumerate() {
                let place = ((*x).into() - lo) as usize;
                let own = &mut table[place];
                if *own == 0 {
                    firsts.push(block * LOOK + k);
                    keys.push(place);
                }
                *own += 1;
            }
        }
        let sizes = budget.each(keys.iter().map(|&place| table[place]))?;
        Ok(Some(Sizes { firsts, sizes }))
    }
    of_whole!(y, budget, sizes)
}

/// Groups of whole numbers or characters. None: these are others, or cells.
pub(super) fn groups_of_whole(y: &Array, budget: &Budget) -> Result<Option<Groups>> {
    of_whole!(y, budget, placed)
}

/// The first item of each group, where the groups would be those of a table of places: nobody
/// needs to know which group the others belong to.
pub(super) fn firsts_of_whole(y: &Array, budget: &Budget) -> Result<Option<Vec<usize>>> {
    fn seen<T: Copy + Ord + Into<i64>>(items: &[T], budget: &Budget) -> Result<Option<Vec<usize>>> {
        let (lo, hi) = span(items);
        if items.is_empty() || !is_table((lo, hi), items.len()) {
            return Ok(None);
        }
        let (mut seen, mut out) = (budget.filled(false, (hi - lo + 1) as usize)?, Vec::new());
        let _held = budget.charge_elements(seen.len().min(items.len()), size_of::<usize>())?;
        // New places are written down without a branch, which nothing could predict.
        let mut new = [0; BLOCK];
        for (block, part) in items.chunks(BLOCK).enumerate() {
            if block % (LOOK / BLOCK) == 0 {
                budget.check()?;
            }
            let mut count = 0;
            for (run, some) in part.chunks(RUN).enumerate() {
                let place = |x: &T| ((*x).into() - lo) as usize;
                // Where values come again and again there is nothing to write.
                if some.iter().fold(true, |all, x| all & seen[place(x)]) {
                    continue;
                }
                for (k, x) in some.iter().enumerate() {
                    let seen = &mut seen[place(x)];
                    new[count % BLOCK] = block * BLOCK + run * RUN + k;
                    count += usize::from(!*seen);
                    *seen = true;
                }
            }
            out.extend_from_slice(&new[..count]);
        }
        Ok(Some(out))
    }
    of_whole!(y, budget, seen)
}

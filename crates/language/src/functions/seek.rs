//! One item sought in an array: a walk that ends where it is found.

use aplomb_ground::error::Result;
use aplomb_ground::limits::{Budget, Ticks};
use aplomb_values::array::{Array, Data, View};
use aplomb_values::prim::library::same;

/// Items that are looked at together for whether one of them might be it.
const BLOCK: usize = 1024;

/// The place of the first of an array's items that is the one sought, or their number. None: these
/// are not numbers, or not characters, that lie in memory.
pub fn place_of_one(
    list: &Array,
    sought: &Array,
    ct: f64,
    budget: &Budget,
) -> Result<Option<usize>> {
    let Data::Dense(held) = list.data() else { return Ok(None) };
    if sought.len() != 1 || sought.frame().is_some() || list.is_char() != sought.is_char() {
        return Ok(None);
    }
    let (view, ticks) = (held.view(), &mut budget.ticks());
    let Some(one) = sought.settled().number_at(0) else { return Ok(None) };
    match view {
        View::Char(items) => {
            place(items, ticks, |c| u32::from(*c) == one as u32, |_| true).map(Some)
        }
        View::Bool(items) => number(items, one, ct, ticks),
        View::I8(items) => number(items, one, ct, ticks),
        View::I16(items) => number(items, one, ct, ticks),
        View::I32(items) => number(items, one, ct, ticks),
        View::F32(items) => number(items, one, ct, ticks),
        View::F64(items) => number(items, one, ct, ticks),
        View::Complex(_) => Ok(None),
    }
}

/// The first of numbers that is one within ct. Whatever is so lies no further off than four times
/// ct of it, for it is no more than twice as great.
fn number<T: Copy + Into<f64>>(
    items: &[T],
    one: f64,
    ct: f64,
    ticks: &mut Ticks,
) -> Result<Option<usize>> {
    let off = if one.is_finite() { 4.0 * ct * one.abs() } else { 0.0 };
    let (least, most) = (one - off, one + off);
    let near = |x: &T| {
        let x: f64 = (*x).into();
        x >= least && x <= most
    };
    place(items, ticks, near, |x| same((*x).into(), one, ct)).map(Some)
}

/// The first item that is near and sure. Whether some is near is asked of a block at a time, without
/// a branch for each.
fn place<T>(
    items: &[T],
    ticks: &mut Ticks,
    near: impl Fn(&T) -> bool,
    sure: impl Fn(&T) -> bool,
) -> Result<usize> {
    for (k, block) in items.chunks(BLOCK).enumerate() {
        ticks.spend(block.len())?;
        if block.iter().fold(false, |some, x| some | near(x))
            && let Some(at) = block.iter().position(|x| near(x) && sure(x))
        {
            return Ok(k * BLOCK + at);
        }
    }
    Ok(items.len())
}

//! Items at chosen places become others: what `x[i]←`, `(sel x)←` and `@` share.

use super::cells;
use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, length};
use aplomb_values::array::{Array, Changing};

/// A value fits places of a shape if it is one item, or has the same shape but for axes of length
/// 1. Errors: LENGTH.
pub fn fits(v: &Array, shape: &[usize]) -> Result<()> {
    let units = |s: &[usize]| s.iter().copied().filter(|&n| n != 1).collect::<Vec<_>>();
    if v.len() == 1 || v.rank() == 0 || units(v.shape()) == units(shape) {
        return Ok(());
    }
    Err(length("the value and the places differ in shape"))
}

/// `old` with the items of `v` (or its only one) at ravel places, in turn, so that the last of
/// equal places stays. `shape` is the shape the places were given in. Ready arrays. Errors: LENGTH,
/// WS FULL.
pub fn amend(
    cx: &Cx<'_>,
    old: &Array,
    shape: &[usize],
    places: &[usize],
    v: &Array,
) -> Result<Array> {
    fits(v, shape)?;
    let mut to = Changing::of(old.clone(), cx.budget()).map_err(|(_, e)| e)?;
    let mut ticks = cx.budget().ticks();
    for (k, &p) in places.iter().enumerate() {
        ticks.tick()?;
        let item =
            if v.rank() == 0 { v.disclosed() } else { v.item(if v.len() == 1 { 0 } else { k }) };
        to.put(p, &item, cx.budget())?;
    }
    to.finish(old.prototype(), cx.budget())
}

/// The items at ravel places under the shape the places were given in. A ready array.
pub fn picked(cx: &Cx<'_>, a: &Array, shape: &[usize], places: &[usize]) -> Result<Array> {
    if places.is_empty() {
        return cells::empty(cx, shape, a.prototype());
    }
    if shape.is_empty() {
        return a.item(places[0]).enclosed();
    }
    let mut picked = cx.budget().room(places.len())?;
    picked.extend(places.iter().map(|&p| Ok(p)));
    aplomb_values::prim::moves::gather(a, shape, &picked, cx.budget())
}

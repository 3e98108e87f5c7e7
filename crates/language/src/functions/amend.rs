//! Items at chosen places become others: what `x[i]←`, `(sel x)←` and `@` share.

use super::cells;
use super::pieces::{Lain, Side};
use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, length};
use aplomb_values::array::{Array, Buf, Changing, DType, Ragged, storage};
use std::sync::Arc;

/// Items that are put between two looks at the interrupt.
const BLOCK: usize = 1 << 16;

/// A value fits places of a shape if it is one item, or has the same shape but for axes of length
/// 1. Errors: LENGTH.
pub fn fits(v: &Array, shape: &[usize]) -> Result<()> {
    let units = |s: &[usize]| s.iter().copied().filter(|&n| n != 1).collect::<Vec<_>>();
    if v.len() == 1 || v.rank() == 0 || units(v.shape()) == units(shape) {
        return Ok(());
    }
    Err(length("the value and the places differ in shape"))
}

/// The item of a value that fits for the k-th place: its only one, or that of the place.
pub fn item_for(v: &Array, k: usize) -> Array {
    if v.rank() == 0 { v.disclosed() } else { v.item(if v.len() == 1 { 0 } else { k }) }
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
    // As they lie, in blocks; from one on that is of another kind, one by one.
    let mut done = 0;
    for block in places.chunks(BLOCK) {
        cx.budget().check()?;
        if !to.put_all(block, (v, done), cx.budget())? {
            break;
        }
        done += block.len();
    }
    let mut ticks = cx.budget().ticks();
    for (k, &p) in places.iter().enumerate().skip(done) {
        ticks.tick()?;
        to.put(p, &item_for(v, k), cx.budget())?;
    }
    to.finish(cx.budget())
}

/// The items at ravel places under the shape the places were given in. A ready array.
pub fn picked(cx: &Cx<'_>, a: &Array, shape: &[usize], places: &[usize]) -> Result<Array> {
    if places.is_empty() {
        return cells::empty(cx, shape, a.prototype());
    }
    if shape.is_empty() {
        return a.item(places[0]).enclosed();
    }
    let picked = cx.budget().each(places.iter().map(|&p| Ok(p)))?;
    aplomb_values::prim::moves::gather(a, shape, &picked, cx.budget())
}

/// Pieces with other items at places of their own: `x[i]←v` of each. None: an item is of another
/// kind, or a place is not there, which is told where it stands. Errors: WS FULL, INTERRUPT.
pub fn amended_each(
    cx: &mut Cx<'_>,
    base: &Ragged,
    at: &Side<'_>,
    new: &Side<'_>,
) -> Result<Option<Ragged>> {
    let (Some(at), Some(new)) = (Lain::of(cx, at)?, Lain::of(cx, new)?) else { return Ok(None) };
    let (Some(held), Some(by)) = (storage(base.flat()), storage(at.flat())) else {
        return Ok(None);
    };
    let Some(values) = storage(new.flat()) else { return Ok(None) };
    let is_char = base.flat().is_char();
    let fits = |dtype: DType| dtype.is_integer() || dtype == DType::F64;
    let plain = match is_char {
        true => new.flat().is_char(),
        false => fits(held.dtype()) && fits(values.dtype()),
    };
    if !plain || !by.dtype().is_integer() {
        return Ok(None);
    }
    let (by, values, io) = (by.view(), values.view(), cx.sys.settings.io);
    let mut items = held.view().numbers(cx.budget())?;
    let mut ticks = cx.budget().ticks();
    for k in 0..base.count() {
        let (own, places, from) = (base.range(k), at.range(k), new.range(k));
        if from.len() != 1 && from.len() != places.len() {
            return Ok(None);
        }
        for (j, place) in places.enumerate() {
            ticks.tick()?;
            let place = by.number(place) - io;
            if place < 0.0 || place >= own.len() as f64 {
                return Ok(None);
            }
            let from = from.start + if from.len() == 1 { 0 } else { j };
            items[own.start + place as usize] = values.number(from);
        }
    }
    let shape = [items.len()];
    let flat = match is_char {
        true => {
            let made = Buf::stored(&items, DType::Char, cx.budget())?;
            Array::dense(shape.as_slice(), Arc::new(made))
        }
        false => Array::numbers(shape.as_slice(), items, cx.budget())?,
    };
    Ok(base.with(flat))
}

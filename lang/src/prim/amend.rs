//! Items at chosen places become others: what `x[i]←`, `(sel x)←` and `@` share.

use super::cells;
use crate::array::{Array, DType};
use crate::error::{Result, length, rank};
use crate::eval::cx::Cx;

/// A value fits places of a shape if it is one item, or has the same shape but for axes of length 1.
/// Errors: LENGTH, RANK.
pub fn fits(v: &Array, shape: &[usize]) -> Result<()> {
    let units = |s: &[usize]| s.iter().copied().filter(|&n| n != 1).collect::<Vec<_>>();
    if v.len() == 1 || v.rank() == 0 || units(v.shape()) == units(shape) {
        return Ok(());
    }
    Err(if v.rank() == shape.len() {
        length("the value and the places differ in length")
    } else {
        rank("the value and the places differ in rank")
    })
}

/// `old` with the items of `v` (or its only one) at ravel places, in turn, so that the last of equal places stays.
/// `shape` is the shape the places were given in. Ready arrays. Errors: LENGTH, RANK, WS FULL.
pub fn amend(cx: &Cx<'_>, old: &Array, shape: &[usize], places: &[usize], v: &Array) -> Result<Array> {
    fits(v, shape)?;
    let one = v.len() == 1;
    let from = |k: usize| if one { 0 } else { k };
    // Numbers into numbers, characters into characters, at once.
    if old.is_uniform() && v.is_uniform() && old.is_char() == v.is_char() && old.rank() > 0 {
        if old.is_char() {
            let (mut items, with) = (old.to_chars().unwrap_or_default(), v.to_chars().unwrap_or_default());
            places.iter().enumerate().for_each(|(k, &p)| items[p] = with[from(k)]);
            return Array::chars(old.shape(), items, cx.budget());
        }
        let (mut items, with) = (old.to_numbers().unwrap_or_default(), v.to_numbers().unwrap_or_default());
        places.iter().enumerate().for_each(|(k, &p)| items[p] = with[from(k)]);
        return match old.dtype() {
            DType::F64 => Array::floats(old.shape(), items, cx.budget()),
            _ => Array::numbers(old.shape(), items, cx.budget()),
        };
    }
    let item = |k: usize| if v.rank() == 0 { v.disclosed() } else { v.item(from(k)) };
    let mut items = if old.rank() == 0 { vec![old.disclosed()] } else { old.to_items() };
    places.iter().enumerate().for_each(|(k, &p)| items[p] = item(k));
    let items = items.into_iter().map(|a| a.settled()).collect();
    cx.collect(old.shape(), items, Some(old.prototype()))
}

/// The items at ravel places under the shape the places were given in. A ready array.
pub fn picked(cx: &Cx<'_>, a: &Array, shape: &[usize], places: &[usize]) -> Result<Array> {
    if places.is_empty() {
        return cells::empty(cx, shape, a.prototype());
    }
    if shape.is_empty() {
        return a.item(places[0]).enclosed();
    }
    let places: Vec<_> = places.iter().map(|&p| Ok(p)).collect();
    super::moves::gather(a, shape, &places, cx.budget())
}

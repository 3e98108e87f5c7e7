//! `f¨` of items of which few differ: f runs once for each that does.
//!
//! Categories, counts, letters and words stand many times in what is mapped. Where no frame takes
//! f, each call costs more than to look whether the item was there before. So the items are grouped
//! by what they are, bit for bit; f runs on the first of each group, and every item gets what its
//! group's came to.
//!
//! Why the result is the same: f runs where whatever would happen once a cell is refused, so a call
//! gives the same for the same. Groups stand in the order of first sight, so the first item that
//! fails is the first of its group; and what fails here is dropped, and told by the cells one by
//! one.

use super::each::each_item;
use crate::eval::flattened::{Steps, always_changes};
use crate::eval::numbers::Which;
use crate::eval::run::Eval;
use crate::eval::scope::TOGETHER;
use crate::eval::value::Func;
use crate::functions::groups::{Groups, few_groups};
use crate::functions::shape::reshaped;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, elements};
use std::rc::Rc;

/// Fewer items are called one by one.
const LEAST: usize = 64;

/// Items that may differ where only the interpreter takes f, each with that many others on average.
const ONE_BY_ONE: (usize, usize) = (256, 16);

/// `f¨` where one argument is the same for all, or is none, and few items of the other differ.
/// None: it is another call, or f is refused for some item.
pub fn each_that_differs(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    x: Option<&Array>,
    y: &Array,
    shape: &[usize],
    joins: bool,
) -> Result<Option<Array>> {
    let n = elements(shape);
    let many = |a: &Array| a.len() == n && a.frame().is_none();
    let left = match x {
        None if many(y) => false,
        Some(x) if x.len() == 1 && many(y) => false,
        Some(x) if y.len() == 1 && many(x) => true,
        _ => return Ok(None),
    };
    let least = if joins { TOGETHER } else { LEAST };
    if n < least || !ev.runs_together(n) || f.closure().is_none() || always_changes(f) {
        return Ok(None);
    }
    let items = match (left, x) {
        (true, Some(x)) => x,
        _ => y,
    };
    let items = reshaped(&mut ev.cx, items, &[n])?;
    let Some(Groups { firsts, mut of }) = few_groups(&mut ev.cx, &items)? else {
        return Ok(None);
    };
    let _held = ev.cx.budget().charge_elements(of.len(), size_of::<u32>())?;
    let m = firsts.len();
    let picks: Vec<_> = firsts.into_iter().map(Some).collect();
    let differ = crate::functions::cells::along(&mut ev.cx, &items, 0, &picks)?;
    let (x, y) = match left {
        true => (Some(&differ), y),
        false => (x, &differ),
    };
    let Some(made) = of_each(ev, f, x, y, (m, n), joins)? else { return Ok(None) };
    let made = reshaped(&mut ev.cx, &made, &[m])?;
    if let Some(pieces) = made.pieces()
        && let Some(all) = pieces.taken(&of, ev.cx.budget())?
    {
        return Ok(Some(all.items(shape)));
    }
    let io = ev.cx.sys.settings.io as u32;
    of.iter_mut().for_each(|k| *k += io);
    let places = Array::up_to(shape, of, m as u32, ev.cx.budget())?;
    crate::functions::select::bracket(&mut ev.cx, &made, &[Some(places)]).map(Some)
}

/// f of m items that differ of n, by the way that is quick for so many. None: nothing has happened.
fn of_each(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    x: Option<&Array>,
    y: &Array,
    (m, n): (usize, usize),
    joins: bool,
) -> Result<Option<Array>> {
    if !joins && let Some(made) = ev.each_by_numbers(f, x, y, &[m], Which::Still)? {
        return Ok(Some(made));
    }
    if let Some(made) = ev.flattened_few(f, x, y, &[m], Steps::All)? {
        return Ok(Some(made));
    }
    if joins || m > ONE_BY_ONE.0 || m.saturating_mul(ONE_BY_ONE.1) > n {
        return Ok(None);
    }
    let refused = ev.cx.sys.refused.take();
    let made = ev.attempt_together(|ev| each_item(ev, f, x, y))?;
    ev.cx.sys.refused = refused;
    let Ok(made) = made else { return Ok(None) };
    ev.warn_refused_as("cell by cell, once for each that differs");
    Ok(Some(made))
}

//! `f¨` in each cell: the items of all cells are cells, and f is called once on these.
//!
//! A tree that a function walks by `∇¨` is walked level by level, and a function that sees names of
//! the call around sees in each item what its cell has. (Blelloch and Sabot 1990: a nested call in
//! parallel is a call on the concatenation, whose result is cut where the arguments were.)

use super::{Cells, Flat, list};
use crate::eval::operators::reduce::finished;
use crate::eval::value::Func;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, Ragged, Shape};
use aplomb_values::prim::moves::Move;
use std::rc::Rc;

/// The items of all cells one behind the other, and where those of each end.
struct Inside {
    items: Array,
    ends: Vec<u32>,
}

impl Flat<'_, '_> {
    /// `x f¨y` in each cell, of vectors with at least one item. None: they are something else.
    pub(super) fn each_inside(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Cells>,
        y: &Cells,
    ) -> Result<Option<Cells>> {
        // The left argument is a number for all items of a cell.
        let x = match x {
            None => None,
            Some(x) => match self.here(x)? {
                Cells::Same(a) if a.is_simple_scalar() => Some(Cells::Same(a)),
                Cells::Each(a, level) if a.is_uniform() => Some(Cells::Each(a, level)),
                _ => return Ok(None),
            },
        };
        // Items of one shape are worked with as one array.
        let Some((items, ends)) = self.items_inside(y)? else { return Ok(None) };
        let (n, m) = (ends.len(), items.len());
        let budget = self.ev.cx.budget();
        let mut from = budget.room(m)?;
        let mut start = 0;
        for (k, &end) in ends.iter().enumerate() {
            from.extend(std::iter::repeat_n(k as u32, (end - start) as usize));
            start = end;
        }
        let made = self.among(from.into(), |flat| {
            let x = x.map(|x| flat.here(&x)).transpose()?;
            let y = flat.each_of(items);
            let made = flat.call(f, x, y)?;
            flat.array(&made)
        })?;
        let made = self.ev.cx.ready(&made, "each")?;
        if made.rank() == 1
            && (made.is_plain() || made.pieces().is_some())
            && let Some(pieces) = Ragged::new(made.clone(), ends.clone())
        {
            return Ok(Some(self.each_of(pieces.items(&[n]))));
        }
        let mut out = self.ev.cx.budget().room(n)?;
        let mut ticks = self.ev.cx.budget().ticks();
        let mut start = 0;
        for end in ends {
            ticks.tick()?;
            let m = (end - start) as usize;
            let cut = match made.pieces() {
                Some(all) => {
                    let places = self.ev.cx.budget().each(start..end)?;
                    all.taken(&places, self.ev.cx.budget())?.map(|some| some.items(&[m]))
                }
                None => None,
            };
            out.push(match cut {
                Some(cut) => cut,
                None => {
                    let own = (start..end).map(|k| made.item(k as usize)).collect();
                    self.ev.cx.collect(&[m], own, None)?
                }
            });
            start = end;
        }
        finished(self.ev, &list(n), out, Array::num(0.0)).map(|a| Some(self.each_of(a)))
    }

    /// The items of all cells one behind the other, and where those of each end. None: they are
    /// something else, or a cell has none.
    pub(super) fn items_inside(&mut self, y: &Cells) -> Result<Option<(Array, Vec<u32>)>> {
        let Some(Inside { items, ends }) = self.all_items(y)? else { return Ok(None) };
        let items = match self.ev.cx.as_rows(&items)?.filter(|rows| rows.at == 1) {
            Some(rows) => Array::rows(rows.node, 1),
            None => items,
        };
        Ok(Some((items, ends)))
    }

    fn all_items(&mut self, y: &Cells) -> Result<Option<Inside>> {
        let n = self.count();
        let a = match self.here(y)? {
            // The same items in each cell.
            Cells::Same(a) => {
                let a = self.ev.cx.ready_outer(&a)?;
                if a.rank() != 1 || a.is_empty() || a.len().saturating_mul(n) > u32::MAX as usize {
                    return Ok(None);
                }
                let m = a.len();
                // Items of one shape are one array, which is repeated.
                let rows = self.ev.cx.as_rows(&a)?.filter(|rows| rows.at == 1);
                let node = rows.as_ref().map_or(&a, |rows| &rows.node);
                let mut shape: Shape = node.shape().into();
                shape[0] = n * m;
                let again = Move::reshape("⍴", node.shape(), &shape);
                let items = self.ev.cx.apply_move(node, again)?;
                let items = match rows {
                    Some(_) => Array::rows(items, 1),
                    None => self.ev.cx.ready_outer(&items)?,
                };
                let ends = (1..=n).map(|k| (k * m) as u32).collect();
                return Ok(Some(Inside { items, ends }));
            }
            Cells::Each(a, _) => self.ev.cx.ready_outer(&a)?,
        };
        if let Some(pieces) = a.pieces() {
            let some = (0..n).all(|k| !pieces.range(k).is_empty());
            let (items, mut ends) = (pieces.flat().clone(), self.ev.cx.budget().room(n)?);
            ends.extend(pieces.ends());
            return Ok(some.then_some(Inside { items, ends }));
        }
        if a.is_uniform() {
            return Ok(None);
        }
        if let Some(rows) = a.split() {
            if rows.cell().len() != 1 || a.rank() != 1 {
                return Ok(None);
            }
            let m = rows.cell()[0];
            let node = rows.node.clone();
            let items = crate::functions::shape::reshaped(&mut self.ev.cx, &node, &[n * m])?;
            let ends = (1..=n).map(|k| (k * m) as u32).collect();
            return Ok(Some(Inside { items, ends }));
        }
        if let Some(inside) = self.pieces_inside(&a)? {
            return Ok(Some(inside));
        }
        let (mut out, mut ends) = (Vec::new(), self.ev.cx.budget().room(n)?);
        let mut ticks = self.ev.cx.budget().ticks();
        for cell in a.in_turn() {
            // A value inside may wait, or be of a frame around.
            if cell.frame().is_some() {
                return Ok(None);
            }
            let cell = self.ev.cx.ready_outer(&cell)?;
            if cell.rank() != 1 || cell.is_empty() {
                return Ok(None);
            }
            for item in cell.in_turn() {
                ticks.tick()?;
                out.push(item);
            }
            ends.push(out.len() as u32);
        }
        let m = out.len();
        let items = finished(self.ev, &list(m), out, Array::num(0.0))?;
        Ok(Some(Inside { items, ends }))
    }

    /// The same where each cell has pieces. None: some have others.
    fn pieces_inside(&mut self, a: &Array) -> Result<Option<Inside>> {
        let (budget, n) = (self.ev.cx.budget(), a.len());
        let mut cells = budget.room(n)?;
        cells.extend(a.in_turn().take_while(|cell| cell.pieces().is_some()));
        if cells.len() < n {
            return Ok(None);
        }
        let (mut all, mut ends) = (budget.room(n)?, budget.room(n)?);
        let mut end = 0;
        for pieces in cells.iter().filter_map(Array::pieces) {
            end += pieces.count() as u32;
            ends.push(end);
            all.push(pieces);
        }
        let Some(all) = Ragged::joined(&all, budget)? else { return Ok(None) };
        let m = all.count();
        Ok(Some(Inside { items: all.items(&[m]), ends }))
    }
}

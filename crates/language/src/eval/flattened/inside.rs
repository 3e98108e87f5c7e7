//! `f¨` in each cell: the items of all cells are cells, and f is called once on these.
//!
//! A tree that a function walks by `∇¨` is walked level by level, and a function that sees names of
//! the call around sees in each item what its cell has. (Blelloch and Sabot 1990: a nested call in
//! parallel is a call on the concatenation, whose result is cut where the arguments were.)

use super::{Cells, Flat, list, refuse};
use crate::eval::operators::reduce::finished;
use crate::eval::value::Func;
use crate::functions::groups;
use aplomb_ground::error::{Result, bug};
use aplomb_values::array::{Array, Ragged, Shape};
use aplomb_values::prim::moves::Move;
use smallvec::SmallVec;
use std::rc::Rc;

/// The items of all cells one behind the other, and where those of each end.
struct Inside {
    items: Array,
    ends: Vec<u32>,
}

/// The cells that may have no items: some, or none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Empty {
    Some,
    None,
}

fn has_empty(ends: &[u32]) -> bool {
    ends.first() == Some(&0) || ends.windows(2).any(|pair| pair[0] == pair[1])
}

/// An argument of `f¨` in each cell.
enum Given {
    /// One value for all items of a cell.
    One(Cells),
    /// The items of all cells.
    Items(Array),
}

/// The arguments, the right one last.
type Sides = SmallVec<[Given; 2]>;

impl Given {
    fn items(&self) -> Option<&Array> {
        match self {
            Given::One(_) => None,
            Given::Items(items) => Some(items),
        }
    }
}

impl Flat<'_, '_> {
    /// `x f¨y` in each cell, of vectors: an argument may also be a scalar in each cell, which goes
    /// with all items of the other. None: they are something else, or no cell has an item.
    pub(super) fn each_inside(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Cells>,
        y: &Cells,
    ) -> Result<Option<Cells>> {
        let (mut sides, mut all) = (Sides::new(), None::<Vec<u32>>);
        for v in x.into_iter().chain([y]) {
            let here = self.here(v)?;
            if let Some(one) = self.content(here.clone())? {
                sides.push(Given::One(one));
                continue;
            }
            // Items of one shape are worked with as one array.
            let Some((items, ends)) = self.items_inside(&here, Empty::Some)? else {
                return Ok(None);
            };
            if *all.get_or_insert_with(|| ends.clone()) != ends {
                return Ok(None);
            }
            sides.push(Given::Items(items));
        }
        match all {
            Some(ends) => self.each_of_all(f, sides, ends).map(Some),
            None => Ok(None),
        }
    }

    /// `v∘f¨y` in each cell, or `f∘v¨y`, with a value v of the cell. None: y is something else.
    pub(super) fn each_with(
        &mut self,
        f: &Rc<Func>,
        v: &Cells,
        right: bool,
        y: &Cells,
    ) -> Result<Option<Cells>> {
        let Some((items, ends)) = self.items_inside(y, Empty::Some)? else { return Ok(None) };
        let mut sides = Sides::from_vec(vec![Given::One(self.here(v)?), Given::Items(items)]);
        if right {
            sides.reverse();
        }
        self.each_of_all(f, sides, ends).map(Some)
    }

    /// f of the items of all cells, whose ends are given; the results of a cell are its value.
    fn each_of_all(&mut self, f: &Rc<Func>, sides: Sides, ends: Vec<u32>) -> Result<Cells> {
        let items = sides.iter().find_map(Given::items);
        let m = items.ok_or_else(|| bug!("f¨ of no items"))?.len();
        let n = ends.len();
        let budget = self.ev.cx.budget();
        let mut from = budget.room(m)?;
        let mut start = 0;
        for (k, &end) in ends.iter().enumerate() {
            from.extend(std::iter::repeat_n(k as u32, (end - start) as usize));
            start = end;
        }
        let made = self.among(from.into(), |flat| {
            let mut given = SmallVec::<[Cells; 2]>::new();
            for side in sides {
                given.push(match side {
                    Given::One(one) => flat.here(&one)?,
                    Given::Items(items) => flat.each_of(items),
                });
            }
            let Some(y) = given.pop() else { return refuse("it has no argument") };
            let made = flat.call(f, given.pop(), y)?;
            flat.array(&made)
        })?;
        let made = self.ev.cx.ready(&made, "each")?;
        // A vector of nothing remembers numbers; of other results it would be of their kind.
        let numbers = made.is_plain() && !made.is_char();
        if !numbers && has_empty(&ends) {
            return refuse("a cell has no items");
        }
        let made = match made.split().filter(|rows| rows.cell().len() == 1) {
            Some(rows) if made.rank() == 1 => {
                let cut = groups::cut_up(&mut self.ev.cx, &rows.node, rows.cell()[0], "each")?;
                cut.map_or(made.clone(), |pieces| pieces.items(&[m]))
            }
            _ => made,
        };
        if made.rank() == 1
            && (made.is_plain() || made.pieces().is_some())
            && let Some(pieces) = Ragged::new(made.clone(), ends.clone())
        {
            return Ok(self.each_of(pieces.items(&[n])));
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
        finished(self.ev, &list(n), out, Array::num(0.0)).map(|a| self.each_of(a))
    }

    /// The items of all cells one behind the other, and where those of each end. None: they are
    /// something else, or none.
    pub(super) fn items_inside(
        &mut self,
        y: &Cells,
        empty: Empty,
    ) -> Result<Option<(Array, Vec<u32>)>> {
        let Some(Inside { items, ends }) = self.all_items(y)? else { return Ok(None) };
        if items.is_empty() || empty == Empty::None && has_empty(&ends) {
            return Ok(None);
        }
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
            let (items, mut ends) = (pieces.flat().clone(), self.ev.cx.budget().room(n)?);
            ends.extend(pieces.ends());
            return Ok(Some(Inside { items, ends }));
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

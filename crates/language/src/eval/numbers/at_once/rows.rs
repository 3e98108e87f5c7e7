//! Vectors that turns make: rows and columns of matrices, parts of lists, functions of their items.
//!
//! A vector of all turns is an array with one axis behind those of the loops, so it has as many
//! items in each turn; a part whose length is another each time is refused. A row of a matrix is a
//! read of it, `r[i;]←y` sets items at places that all turns have apart, and `r,←y` puts so many
//! items behind a list for each turn that comes to it.

use super::{Place, State, Turns, Val, What, refuse, refused};
use crate::functions::cells::join;
use crate::functions::select::bracket;
use crate::functions::shape::rotate_last;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, Shape, elements};
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::Ix;
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, Do, Many, OnAll, OnList};

/// Items of a vector in all turns, at most.
const WIDEST: usize = 1 << 24;

/// The list of the program that a step fills in each turn.
pub(super) fn fills(step: &Do) -> Option<u16> {
    match step {
        Do::All(
            OnAll::Map { into, .. }
            | OnAll::Copy { into, .. }
            | OnAll::Take { into, .. }
            | OnAll::Line { into, .. },
        ) => Some(*into),
        Do::List(OnList::Name { slot, .. }, _) => Some(*slot),
        _ => None,
    }
}

/// An argument of a function of items.
enum Side {
    One(Array),
    All(Array),
}

impl Turns<'_, '_> {
    /// A step where vectors of so many items have an axis behind those of the loops.
    pub(super) fn beside<T>(
        &mut self,
        wide: Option<usize>,
        what: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let Some(n) = wide else { return what(self) };
        let all = elements(&self.extents).saturating_mul(n);
        if n == 0 || all > WIDEST {
            return refuse("vectors of no items, or of too many");
        }
        self.widest = self.widest.max(all);
        self.extents.push(n);
        let made = what(self);
        self.extents.pop();
        made
    }

    /// The number of items of a vector.
    pub(super) fn items_in(&self, row: &Array) -> usize {
        match row.shape() {
            [.., n] => *n,
            [] => 0,
        }
    }

    /// A vector of the turns of loops around, for each turn of those within.
    fn for_each(&mut self, row: &Array) -> Result<Array> {
        let Some((&n, turns)) = row.shape().split_last() else { return refuse("no vector") };
        let depth = self.extents.len();
        if self.extents.get(..turns.len()) != Some(turns) {
            return refuse("a vector of another loop");
        }
        if turns.len() == depth {
            return Ok(row.clone());
        }
        let axes = (0..turns.len()).map(Some).chain([Some(depth)]);
        self.beside(Some(n), |all| {
            let shape = all.extents.as_slice().into();
            all.ev.cx.apply_move(row, Move::axes("⍴", shape, axes))
        })
    }

    /// The items of a list of the program: those that this turn gave it, or of one that no turn
    /// fills all.
    pub(super) fn row(&mut self, state: &State, of: u16) -> Result<Array> {
        if let Some(row) = &state.filled[of as usize] {
            return self.for_each(row);
        }
        let list = self.list(of)?;
        self.others.push(of);
        match list.rank() {
            1 => self.for_each(&list),
            _ => refuse("all items of a matrix"),
        }
    }

    /// The items of a list of the turn's own.
    fn own(&mut self, state: &State, of: u16) -> Result<Array> {
        let row = state.own[of as usize].as_ref();
        self.for_each(row.ok_or_else(|| refused("a list has no value in some turns"))?)
    }

    fn side(&mut self, state: &State, many: Many, own: bool) -> Result<Side> {
        Ok(match many {
            Many::One(y) => Side::One(self.value(state, y)?),
            Many::All(of) if own => Side::All(self.own(state, of)?),
            Many::All(of) => Side::All(self.row(state, of)?),
        })
    }

    /// A scalar function of all items.
    fn mapped(&mut self, op: Op, x: Option<Side>, y: Side) -> Result<Array> {
        let count = |side: &Side| match side {
            Side::One(_) => None,
            Side::All(row) => row.shape().last().copied(),
        };
        let n = match (x.as_ref().and_then(count), count(&y)) {
            (Some(n), Some(m)) if n != m => return refuse("vectors of several lengths"),
            (n, m) => n.or(m),
        };
        let array = |side: Side| match side {
            Side::One(a) | Side::All(a) => a,
        };
        let y = array(y);
        self.beside(n, |all| match x {
            Some(x) => all.two(op, &array(x), &y),
            None if y.is_char() => refuse("a function of characters"),
            None => all.ev.cx.map1(op, &y),
        })
        .and_then(|z| match z.is_complex() {
            true => refuse("a value is not real"),
            false => Ok(z),
        })
    }

    /// Items of a vector by a read along its axis.
    fn read_row(&mut self, row: &Array, n: usize, at: impl Fn(&Ix) -> Ix) -> Result<Array> {
        let depth = self.extents.len();
        self.beside(Some(n), |all| {
            let axes = (0..depth).map(Ix::axis).chain([at(&Ix::axis(depth))]);
            let shape = all.extents.as_slice().into();
            let m = Move { name: "[]", shape, read: Read::new(axes), onto: false };
            all.ev.cx.apply_move(row, m)
        })
    }

    /// So many items of a vector from a place on.
    fn stretch(&mut self, row: &Array, from: usize, n: usize) -> Result<Array> {
        match from + n <= self.items_in(row) {
            true => self.read_row(row, n, |ix| ix.offset(from as i64)),
            false => refuse("items that are not there"),
        }
    }

    /// An item of a vector, at the same place in each turn.
    pub(super) fn item_of_row(&mut self, state: &State, row: &Array, at: Arg) -> Result<Array> {
        match self.place(state, at)? {
            Some(Place::One(k)) if (0..self.items_in(row) as i64).contains(&k) => {
                self.item_at(row, k)
            }
            _ => refuse("items of a vector at several places"),
        }
    }

    fn item_at(&mut self, row: &Array, k: i64) -> Result<Array> {
        let depth = self.extents.len();
        let read = Read::new((0..depth).map(Ix::axis).chain([Ix::constant(k)]));
        let shape = self.extents.as_slice().into();
        self.ev.cx.apply_move(row, Move { name: "[]", shape, read, onto: false })
    }

    /// A vector as the last turn of the loops from a level on gave it.
    pub(super) fn last_of(&mut self, row: &Array, level: usize) -> Result<Array> {
        let Some((n, turns)) = row.shape().split_last() else { return refuse("no vector") };
        let shape: Shape = turns[..level].iter().copied().chain([*n]).collect();
        let last = turns[level..].iter().map(|n| Ix::constant(*n as i64 - 1));
        let read = Read::new((0..level).map(Ix::axis).chain(last).chain([Ix::axis(level)]));
        self.ev.cx.apply_move(row, Move { name: "[]", shape, read, onto: false })
    }

    /// A vector by a condition. None: it has a value on one way alone.
    pub(super) fn chosen_row(
        &mut self,
        cond: &Array,
        a: Option<Array>,
        b: Option<Array>,
    ) -> Result<Option<Array>> {
        let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
        if a.is_one_with(&b) {
            return Ok(Some(a));
        }
        let n = self.items_in(&a);
        if n != self.items_in(&b) {
            return Ok(None);
        }
        let (a, b) = (self.for_each(&a)?, self.for_each(&b)?);
        self.beside(Some(n), |all| all.select(cond, &a, &b)).map(Some)
    }

    /// The places of a row of a matrix, or of a column. None: no loop counts them.
    fn line(
        &self,
        state: &State,
        of: u16,
        at: Arg,
        column: bool,
    ) -> Result<(Option<[Place; 2]>, usize)> {
        let list = self.list(of)?;
        let &[rows, columns] = list.shape() else { return refuse("a line of no matrix") };
        let places = self.place(state, at)?.map(|at| match column {
            true => [Place::All, at],
            false => [at, Place::All],
        });
        Ok((places, if column { rows } else { columns }))
    }

    /// A step on all items of lists of the program.
    pub(super) fn on_all(&mut self, state: &mut State, on: OnAll) -> Result<()> {
        let (into, row) = match on {
            OnAll::Map { op, into, x, y } => {
                let x = x.map(|x| self.side(state, x, false)).transpose()?;
                let y = self.side(state, y, false)?;
                (into, self.mapped(op, x, y)?)
            }
            OnAll::Copy { into, of } | OnAll::Take { into, of } => (into, self.row(state, of)?),
            OnAll::Line { into, of, at, column } => match self.line(state, of, at, column)? {
                (Some(places), n) => {
                    (into, self.beside(Some(n), |all| all.read(state, of, &places))?)
                }
                (None, _) if !column => {
                    let (at, list) = (self.value(state, at)?, self.list(of)?);
                    self.others.push(of);
                    let rows = bracket(&mut self.ev.cx, &list, &[Some(at), None])?;
                    (into, self.for_each(&rows)?)
                }
                _ => return refuse("columns that no loop counts"),
            },
            OnAll::SetLine { of, at, column, op, y } => {
                let (Some(places), n) = self.line(state, of, at, column)? else {
                    return refuse("lines anywhere");
                };
                let (Side::One(y) | Side::All(y)) = self.side(state, y, false)?;
                let depth = self.extents.len();
                if y.rank() > depth && self.items_in(&y) != n {
                    return refuse("a vector of another length");
                }
                return self.sets_to(state, (of, places.into()), op, y, Some(n));
            }
            OnAll::Fold { op, into, of } => {
                let row = self.row(state, of)?;
                return self.fold_row(state, op, into, &row);
            }
            OnAll::Dot { into, x, y } => {
                let (x, y) = (self.row(state, x)?, self.row(state, y)?);
                if x.shape() != y.shape() {
                    return refuse("vectors of several lengths");
                }
                let z = self.ev.cx.dot(Op::Dot, &x, &y)?;
                state.registers[into as usize] = Some(Val::Is(z));
                return Ok(());
            }
        };
        state.filled[into as usize] = Some(row);
        Ok(())
    }

    fn fold_row(&mut self, state: &mut State, op: Op, into: u16, row: &Array) -> Result<()> {
        let z = self.ev.cx.reduce(op, row, self.extents.len())?;
        state.registers[into as usize] = Some(Val::Is(z));
        Ok(())
    }

    /// The whole number that is the same in all turns.
    fn count(&self, state: &State, n: Arg) -> Result<i64> {
        match self.place_from(state, n, 0.0)? {
            Some(Place::One(n)) => Ok(n),
            _ => refuse("vectors whose lengths differ"),
        }
    }

    /// A step on lists of the turn's own.
    pub(super) fn on_items(&mut self, state: &mut State, on: OnList) -> Result<()> {
        let (into, row) = match on {
            OnList::Fixed { into, of: Some(of) } => (into, self.row(state, of)?),
            OnList::Fixed { into, of: None } => {
                (into, Array::numbers([0].as_slice(), Vec::new(), self.ev.cx.budget())?)
            }
            OnList::Map { op, into, x, y } => {
                let x = x.map(|x| self.side(state, x, true)).transpose()?;
                let y = self.side(state, y, true)?;
                (into, self.mapped(op, x, y)?)
            }
            OnList::Scan { op, into, of } => {
                let row = self.own(state, of)?;
                let made = self.ev.cx.scan(op, &row, self.extents.len())?;
                (into, made.ok_or_else(|| refused("a scan of few items"))?)
            }
            OnList::Pairs { op, into, of, turned } => {
                let row = self.own(state, of)?;
                let n = self.items_in(&row).checked_sub(1);
                let n = n.ok_or_else(|| refused("pairs of no items"))?;
                let (x, y) = (self.stretch(&row, 0, n)?, self.stretch(&row, 1, n)?);
                let (x, y) = if turned { (y, x) } else { (x, y) };
                (into, self.mapped(op, Some(Side::All(x)), Side::All(y))?)
            }
            OnList::Part { into, of, from, take: Some(take), .. } => {
                let n = usize::try_from(self.count(state, take)?);
                let n = n.map_err(|_| refused("a part from the end"))?;
                let from = self.place_from(state, from, 0.0)?;
                let from = from.ok_or_else(|| refused("a part that no loop counts"))?;
                (into, self.part(state, of, from, n)?)
            }
            OnList::Part { into, of, from, take: None, .. } => {
                let from = self.count(state, from)?;
                let row = self.row(state, of)?;
                (into, self.dropped(&row, from)?)
            }
            OnList::Drop { into, of, n } => {
                let (n, row) = (self.count(state, n)?, self.own(state, of)?);
                (into, self.dropped(&row, n)?)
            }
            OnList::Take { into, of, n, .. } => {
                let (n, row) = (self.count(state, n)?, self.own(state, of)?);
                let (size, have) = (n.unsigned_abs() as usize, self.items_in(&row));
                let from = if n < 0 { have.saturating_sub(size) } else { 0 };
                (into, self.stretch(&row, from, size)?)
            }
            OnList::Turn { into, of, n } => {
                let (n, row) = (self.count(state, n)?, self.own(state, of)?);
                (into, rotate_last(&mut self.ev.cx, &Array::num(n as f64), &row, None)?)
            }
            OnList::Reverse { into, of } => {
                let row = self.own(state, of)?;
                let n = self.items_in(&row);
                (into, self.read_row(&row, n, |ix| ix.times(-1).offset(n as i64 - 1))?)
            }
            OnList::Iota { into, n } => {
                let n = usize::try_from(self.count(state, n)?);
                let n = n.map_err(|_| refused("no count"))?;
                let places = self.ev.cx.iota(n, self.io)?;
                (into, self.for_each(&places)?)
            }
            OnList::At { into, of, at, program: true } if state.filled[of as usize].is_none() => {
                let (at, list) = (self.own(state, at)?, self.list(of)?);
                self.others.push(of);
                if list.rank() != 1 || at.is_char() {
                    return refuse("no index of a vector");
                }
                (into, bracket(&mut self.ev.cx, &list, &[Some(at)])?)
            }
            OnList::Both { into, of, with } => {
                let (x, y) = (self.own(state, of)?, self.own(state, with)?);
                (into, self.both(&x, &y)?)
            }
            OnList::Join { into, of, y, front } => {
                let y = self.value(state, y)?;
                let one = self.beside(Some(1), |all| all.whole(&y, all.extents.len()))?;
                let is_empty = |row: &Array| row.is_empty();
                if state.own[of as usize].as_ref().is_some_and(is_empty) {
                    (into, one)
                } else {
                    let row = self.own(state, of)?;
                    let (x, y) = if front { (one, row) } else { (row, one) };
                    (into, self.both(&x, &y)?)
                }
            }
            OnList::Fold { op, into, of } => {
                let row = self.own(state, of)?;
                return self.fold_row(state, op, into, &row);
            }
            OnList::Name { slot, of } => {
                let row = self.own(state, of)?;
                state.filled[slot as usize] = Some(row);
                return Ok(());
            }
            OnList::Append { slot, of } | OnList::AddRow { slot, of } => {
                let row = self.own(state, of)?;
                let n = self.items_in(&row);
                let row = self.classes[slot as usize].own(row);
                let what = match on {
                    OnList::Append { .. } => What::Append(slot),
                    _ => What::AddRow(slot),
                };
                self.happens(state, what, row, Some(n));
                return Ok(());
            }
            OnList::Tally { into, of } => {
                let row = self.own(state, of)?;
                let n = Array::num(self.items_in(&row) as f64);
                state.registers[into as usize] = Some(Val::Is(n));
                return Ok(());
            }
            OnList::Item { into, of, at } => {
                let row = self.own(state, of)?;
                let item = self.item_of_row(state, &row, at)?;
                state.registers[into as usize] = Some(Val::Is(item));
                return Ok(());
            }
            OnList::End { into, of, last, .. } => {
                let row = self.own(state, of)?;
                let k = if last { self.items_in(&row) as i64 - 1 } else { 0 };
                let item = self.item_at(&row, k)?;
                state.registers[into as usize] = Some(Val::Is(item));
                return Ok(());
            }
            _ => return refuse("a step on lists that differ in length"),
        };
        state.own[into as usize] = Some(row);
        Ok(())
    }

    /// A vector without so many items at its front, or at its end.
    fn dropped(&mut self, row: &Array, n: i64) -> Result<Array> {
        let have = self.items_in(row);
        let left = have.saturating_sub(n.unsigned_abs() as usize);
        self.stretch(row, if n < 0 { 0 } else { have - left }, left)
    }

    fn both(&mut self, x: &Array, y: &Array) -> Result<Array> {
        if x.is_char() != y.is_char() {
            return refuse("items of two kinds");
        }
        let n = self.items_in(x) + self.items_in(y);
        let axis = self.extents.len();
        let made = join(&mut self.ev.cx, &[x.clone(), y.clone()], axis)?;
        self.beside(Some(n), |_| Ok(made))
    }

    /// So many items of a list of the program from a place on, which all are there.
    fn part(&mut self, state: &State, of: u16, from: Place, n: usize) -> Result<Array> {
        if state.filled[of as usize].is_some() {
            let Place::One(from) = from else { return refuse("parts of a vector anywhere") };
            let from = usize::try_from(from).map_err(|_| refused("a part from the end"))?;
            let row = self.row(state, of)?;
            return self.stretch(&row, from, n);
        }
        let (list, from) = match self.walk_of(of) {
            None => {
                self.others.push(of);
                (self.list(of)?, from)
            }
            Some(walk) => (self.source(of)?, self.place_in_walk(state, walk, from, n)?),
        };
        let depth = self.extents.len();
        let (ix, first, last) = match from {
            Place::Turn { level, from, by } => {
                let last = from + by * (self.extents[level] as i64 - 1);
                (Ix::axis(level).times(by).offset(from), from.min(last), from.max(last))
            }
            Place::One(k) => (Ix::constant(k), k, k),
            Place::All => return refuse("no place"),
        };
        if list.rank() != 1 || first < 0 || last + n as i64 > list.len() as i64 {
            return refuse("a part beyond its list");
        }
        self.beside(Some(n), |all| {
            let shape = all.extents.as_slice().into();
            let read = Read::new([ix.add(&Ix::axis(depth))]);
            all.ev.cx.apply_move(&list, Move { name: "[]", shape, read, onto: false })
        })
    }
}

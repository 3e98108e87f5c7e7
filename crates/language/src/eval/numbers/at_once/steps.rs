//! The steps of a turn for all turns: operations, items of lists, what is done to names.

use super::{EXACT, Event, Place, State, Turns, Val, What, refuse, refused};
use crate::functions::search::index_of;
use crate::functions::select::bracket;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, Data};
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::Ix;
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, Do};

impl Turns<'_, '_> {
    /// The place that a number is, from 0 on.
    pub(super) fn place(&self, state: &State, at: Arg) -> Result<Option<Place>> {
        self.place_from(state, at, self.io)
    }

    /// The same where the first place has another number.
    pub(super) fn place_from(&self, state: &State, at: Arg, first: f64) -> Result<Option<Place>> {
        Ok(match self.get(state, at)? {
            Val::Count { level, from, by } if level < self.extents.len() => {
                Some(Place::Turn { level, from: (from - first) as i64, by: by as i64 })
            }
            Val::Is(a) => match a.data() {
                Data::Num(x, _) if x.fract() == 0.0 && x.abs() < EXACT => {
                    Some(Place::One((x - first) as i64))
                }
                _ => None,
            },
            _ => None,
        })
    }

    pub(super) fn list(&self, of: u16) -> Result<Array> {
        match self.walk_of(of) {
            Some(_) => refuse("all of a list that is cut"),
            None => self.source(of),
        }
    }

    /// The same before any turn.
    pub(super) fn source(&self, of: u16) -> Result<Array> {
        let known = self.lists.get(of as usize).cloned().flatten();
        let known = known.filter(|_| !self.written.contains(&of));
        known.ok_or_else(|| refused("a list of the loop's own"))
    }

    /// The items of a list at places of turns.
    pub(super) fn read(&mut self, state: &State, of: u16, at: &[Place]) -> Result<Array> {
        let a = self.source(of)?;
        let changed = |e: &Event| matches!(&e.what, What::Set { of: own, .. } if *own == of);
        if state.events.iter().any(changed) || a.rank() != at.len() {
            return refuse("an item is read behind its change");
        }
        let mut rank = 0;
        let mut ix = Vec::new();
        for (place, &n) in at.iter().zip(a.shape()) {
            let (first, last) = match *place {
                Place::Turn { level, from, by } => {
                    rank = rank.max(level + 1);
                    ix.push(Ix::axis(level).times(by).offset(from));
                    let last = from + by * (self.extents[level] as i64 - 1);
                    (from.min(last), from.max(last))
                }
                Place::One(k) => {
                    ix.push(Ix::constant(k));
                    (k, k)
                }
                // It is the axis behind those of the loops.
                Place::All => {
                    rank = self.extents.len();
                    ix.push(Ix::axis(rank - 1));
                    (0, self.extents[rank - 1] as i64 - 1)
                }
            };
            if first < 0 || last >= n as i64 {
                return refuse("an index is beyond its list");
            }
        }
        self.reads.push((of, Vec::from(at)));
        let m = Move {
            name: "[]",
            shape: self.extents[..rank].into(),
            read: Read::new(ix),
            onto: false,
        };
        self.ev.cx.apply_move(&a, m)
    }

    /// A step that is no jump.
    pub(super) fn step(&mut self, state: &mut State, step: &Do) -> Result<()> {
        let (into, v) = match *step {
            Do::One { op, into, y } => {
                let y = self.value(state, y)?;
                let z = self.ev.cx.map1(op, &y)?;
                if z.is_complex() || y.is_char() {
                    return refuse("a value is not real");
                }
                (into, Val::Is(z))
            }
            Do::Two { op, into, x, y } => (into, self.operation(state, op, x, y)?),
            Do::Copy { into, y } => (into, self.get(state, y)?),
            Do::Item { into, of, at } if state.filled[of as usize].is_some() => {
                let row = self.row(state, of)?;
                (into, Val::Is(self.item_of_row(state, &row, at)?))
            }
            Do::Item { into, of, at } if self.walk_of(of).is_some() => {
                let (Some(walk), Some(at)) = (self.walk_of(of), self.place(state, at)?) else {
                    return refuse("items anywhere in a list that is cut");
                };
                let place = self.place_in_walk(state, walk, at, 1)?;
                (into, Val::Is(self.read(state, of, &[place])?))
            }
            Do::Item { into, of, at } => match self.place(state, at)? {
                Some(place) => (into, Val::Is(self.read(state, of, &[place])?)),
                None => {
                    let (at, list) = (self.value(state, at)?, self.list(of)?);
                    self.others.push(of);
                    if list.rank() != 1 || at.is_char() {
                        return refuse("no index of a vector");
                    }
                    (into, Val::Is(bracket(&mut self.ev.cx, &list, &[Some(at)])?))
                }
            },
            Do::Place { into, of, row, column } => {
                let (row, column) = (self.place(state, row)?, self.place(state, column)?);
                let (Some(row), Some(column)) = (row, column) else {
                    return refuse("places in a matrix that no loop counts");
                };
                (into, Val::Cell { of, at: [row, column] })
            }
            Do::Known { into, of, at } => match self.get(state, Arg::Register(at))? {
                Val::Cell { of: own, at } if own == of => {
                    (into, Val::Is(self.read(state, of, &at)?))
                }
                _ => return refuse("a place of another matrix"),
            },
            Do::Tally { into, of } if state.filled[of as usize].is_some() => {
                let row = self.row(state, of)?;
                (into, Val::Is(Array::num(self.items_in(&row) as f64)))
            }
            Do::Tally { into, of } if self.walk_of(of).is_some() => {
                let walk = self.walk_of(of).ok_or_else(|| refused("no list that is cut"))?;
                (into, self.tally_of_walk(state, walk)?)
            }
            Do::Tally { into, of } => {
                self.tallied.push(of);
                (into, Val::Is(Array::num(self.list(of)?.shape()[0] as f64)))
            }
            Do::Columns { into, of } => {
                let list = self.list(of)?;
                let columns = list.shape().get(1).ok_or_else(|| refused("no matrix"))?;
                (into, Val::Is(Array::num(*columns as f64)))
            }
            Do::Find { into, of, y } => {
                self.others.push(of);
                let (y, list) = (self.value(state, y)?, self.list(of)?);
                let (_, y) = Turns::alike(list.clone(), y);
                let k = index_of(&mut self.ev.cx, &list, &y, None)?;
                (into, Val::Is(self.two(Op::Sub, &k, &Array::num(self.io))?))
            }
            Do::Set { slot, y } => {
                match self.get(state, y)? {
                    Val::Folded { slot: own, op, y } if own == slot => {
                        let whole = y.dtype().is_integer();
                        let what = What::Fold { slot, op, whole };
                        self.happens(state, what, y, None);
                        state.fixed[slot as usize] = Some(Val::Carried(slot));
                    }
                    Val::Carried(own) if own == slot => {}
                    v @ (Val::Is(_) | Val::Count { .. }) => {
                        state.fixed[slot as usize] = Some(v);
                    }
                    _ => return refuse("a name gets what another turn gave"),
                }
                return Ok(());
            }
            Do::Append { of, y } => {
                let y = self.value(state, y)?;
                let y = self.classes[of as usize].own(y);
                self.happens(state, What::Append(of), y, None);
                return Ok(());
            }
            Do::SetItem { of, at, op, y } => match self.place(state, at)? {
                Some(at @ Place::Turn { .. }) => return self.sets(state, of, vec![at], op, y),
                _ => {
                    let (at, y) = (self.value(state, at)?, self.value(state, y)?);
                    if at.is_char() || self.list(of)?.rank() != 1 {
                        return refuse("no index of a vector");
                    }
                    let y = self.classes[of as usize].own(y);
                    self.happens(state, What::Put { of, op }, y, None);
                    if let Some(event) = state.events.last_mut() {
                        event.at = Some(at);
                    }
                    return Ok(());
                }
            },
            Do::SetKnown { of, at, op, y } => match self.get(state, Arg::Register(at))? {
                Val::Cell { of: own, at } if own == of => {
                    return self.sets(state, of, at.into(), op, y);
                }
                _ => return refuse("a place of another matrix"),
            },
            Do::Cut { of, .. } => return self.cut(state, of),
            Do::All(on) => return self.on_all(state, on),
            Do::List(on, _) => return self.on_items(state, on),
            _ => return refuse("a step of it happens once a turn"),
        };
        state.registers[into as usize] = Some(v);
        Ok(())
    }

    pub(super) fn sets(
        &mut self,
        state: &mut State,
        of: u16,
        at: Vec<Place>,
        op: Option<Op>,
        y: Arg,
    ) -> Result<()> {
        let y = self.value(state, y)?;
        self.sets_to(state, (of, at), op, y, None)
    }

    /// The same of a value.
    pub(super) fn sets_to(
        &mut self,
        state: &mut State,
        (of, at): (u16, Vec<Place>),
        op: Option<Op>,
        y: Array,
        wide: Option<usize>,
    ) -> Result<()> {
        // Each turn of all loops has a place of its own.
        let mut own: Vec<usize> = Vec::new();
        for place in &at {
            match place {
                Place::Turn { level, .. } => own.push(*level),
                Place::All => {}
                Place::One(_) => return refuse("an item that all turns set"),
            }
        }
        own.sort_unstable();
        if !own.iter().copied().eq(0..self.extents.len()) {
            return refuse("an item that several turns set");
        }
        self.happens(state, What::Set { of, at, op }, y, wide);
        Ok(())
    }

    pub(super) fn happens(&self, state: &mut State, what: What, y: Array, wide: Option<usize>) {
        let (path, depth) = (state.path.clone(), self.extents.len());
        state.events.push(Event { what, path, y, depth, wide, at: None });
    }

    pub(super) fn operation(&mut self, state: &State, op: Op, x: Arg, y: Arg) -> Result<Val> {
        let (a, b) = (self.get(state, x)?, self.get(state, y)?);
        let step = |v: &Val| match v {
            Val::Is(a) => match a.data() {
                Data::Num(x, _) if x.fract() == 0.0 && x.abs() < f64::from(i32::MAX) => Some(*x),
                _ => None,
            },
            _ => None,
        };
        let counted = match (&a, op, &b) {
            (Val::Count { level, from, by }, Op::Add | Op::Sub | Op::Mul, other) => step(other)
                .map(|y| match op {
                    Op::Add => (*level, from + y, *by),
                    Op::Sub => (*level, from - y, *by),
                    _ => (*level, from * y, by * y),
                }),
            (other, Op::Add | Op::Sub | Op::Mul, Val::Count { level, from, by }) => step(other)
                .map(|x| match op {
                    Op::Add => (*level, x + from, *by),
                    Op::Sub => (*level, x - from, -by),
                    _ => (*level, x * from, x * by),
                }),
            _ => None,
        };
        let near = |x: f64| x.abs() < f64::from(i32::MAX);
        if let Some((level, from, by)) = counted.filter(|(_, from, by)| near(*from) && near(*by))
            && by != 0.0
        {
            return Ok(Val::Count { level, from, by });
        }
        match (&a, op, &b) {
            (Val::Carried(slot), Op::Add | Op::Sub | Op::Mul | Op::Max | Op::Min, other) => {
                let y = self.array(other)?;
                return Ok(Val::Folded { slot: *slot, op, y });
            }
            (other, Op::Add | Op::Mul | Op::Max | Op::Min, Val::Carried(slot)) => {
                let y = self.array(other)?;
                return Ok(Val::Folded { slot: *slot, op, y });
            }
            _ => {}
        }
        let (a, b) = (self.array(&a)?, self.array(&b)?);
        self.two(op, &a, &b).map(Val::Is)
    }
}

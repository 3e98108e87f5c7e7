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
        Ok(match self.get(state, at)? {
            Val::Count { level, from } if level < self.extents.len() => {
                Some(Place::Turn { level, from: (from - self.io) as i64 })
            }
            Val::Is(a) => match a.data() {
                Data::Num(x) if x.fract() == 0.0 && x.abs() < EXACT => {
                    Some(Place::One((x - self.io) as i64))
                }
                _ => None,
            },
            _ => None,
        })
    }

    pub(super) fn list(&self, of: u16) -> Result<Array> {
        let known = self.lists.get(of as usize).cloned().flatten();
        known.ok_or_else(|| refused("a list of the loop's own"))
    }

    /// The items of a list at places of turns.
    pub(super) fn read(&mut self, state: &State, of: u16, at: &[Place]) -> Result<Array> {
        let a = self.list(of)?;
        let changed = |e: &Event| matches!(&e.what, What::Set { of: own, .. } if *own == of);
        if state.events.iter().any(changed) || a.rank() != at.len() {
            return refuse("an item is read behind its change");
        }
        let mut rank = 0;
        let mut ix = Vec::new();
        for (place, &n) in at.iter().zip(a.shape()) {
            let (first, last) = match *place {
                Place::Turn { level, from } => {
                    rank = rank.max(level + 1);
                    ix.push(Ix::axis(level).offset(from));
                    (from, from + self.extents[level] as i64 - 1)
                }
                Place::One(k) => {
                    ix.push(Ix::constant(k));
                    (k, k)
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
            Do::Tally { into, of } => {
                self.others.push(of);
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
                        self.happens(state, what, y);
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
                self.happens(state, What::Append(of), y);
                return Ok(());
            }
            Do::SetItem { of, at, op, y } => {
                let at = self.place(state, at)?.ok_or_else(|| refused("items anywhere"))?;
                return self.sets(state, of, vec![at], op, y);
            }
            Do::SetKnown { of, at, op, y } => match self.get(state, Arg::Register(at))? {
                Val::Cell { of: own, at } if own == of => {
                    return self.sets(state, of, at.into(), op, y);
                }
                _ => return refuse("a place of another matrix"),
            },
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
        // Each turn of all loops has a place of its own.
        let mut own: Vec<usize> = Vec::new();
        for place in &at {
            match place {
                Place::Turn { level, .. } => own.push(*level),
                Place::One(_) => return refuse("an item that all turns set"),
            }
        }
        own.sort_unstable();
        if !own.iter().copied().eq(0..self.extents.len()) {
            return refuse("an item that several turns set");
        }
        let y = self.value(state, y)?;
        self.happens(state, What::Set { of, at, op }, y);
        Ok(())
    }

    pub(super) fn happens(&self, state: &mut State, what: What, y: Array) {
        let (path, depth) = (state.path.clone(), self.extents.len());
        state.events.push(Event { what, path, y, depth });
    }

    pub(super) fn operation(&mut self, state: &State, op: Op, x: Arg, y: Arg) -> Result<Val> {
        let (a, b) = (self.get(state, x)?, self.get(state, y)?);
        let step = |v: &Val| match v {
            Val::Is(a) => match a.data() {
                Data::Num(x) if x.fract() == 0.0 && x.abs() < f64::from(i32::MAX) => Some(*x),
                _ => None,
            },
            _ => None,
        };
        match (&a, op, &b) {
            (Val::Count { level, from }, Op::Add | Op::Sub, other) => {
                if let Some(by) = step(other) {
                    let from = if op == Op::Add { from + by } else { from - by };
                    return Ok(Val::Count { level: *level, from });
                }
            }
            (other, Op::Add, Val::Count { level, from }) => {
                if let Some(by) = step(other) {
                    return Ok(Val::Count { level: *level, from: from + by });
                }
            }
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

//! Values of all turns: as arrays with the axes of the loops, together, and by conditions.

use super::super::form::Class;
use super::{State, Turns, Val, Way, counts, last_jump, refuse, refused};
use crate::functions::straight::counted;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, Shape};
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;
use aplomb_values::registers::Arg;

impl Turns<'_, '_> {
    pub(super) fn end_of(&self, head: usize) -> Result<usize> {
        last_jump(self.steps, head).ok_or_else(|| refused("a loop without an end"))
    }

    /// The items of the innermost loop.
    pub(super) fn items(&mut self, of: &Array, n: usize) -> Result<Val> {
        if of.rank() != 1 || Class::of(of).is_none() {
            return refuse("a loop over no numbers");
        }
        let level = self.extents.len() - 1;
        if let Some(from) = counted(of) {
            return Ok(Val::Count { level, from, by: 1.0 });
        }
        let of = &self.ev.cx.ready(of, "loop")?;
        if let Some(first) = counts(of) {
            return Ok(Val::Count { level, from: first, by: 1.0 });
        }
        let shape = &self.extents;
        self.ev.cx.apply_move(of, Move::along(n, shape, level)).map(Val::Is)
    }

    pub(super) fn get(&self, state: &State, arg: Arg) -> Result<Val> {
        let all = match arg {
            Arg::Register(_) => &state.registers,
            Arg::Fixed(_) => &state.fixed,
        };
        let (Arg::Register(k) | Arg::Fixed(k)) = arg;
        let known = all.get(k as usize).cloned().flatten();
        known.ok_or_else(|| refused("a name has no value in some turns"))
    }

    /// A value as an array.
    pub(super) fn value(&mut self, state: &State, arg: Arg) -> Result<Array> {
        let v = self.get(state, arg)?;
        self.array(&v)
    }

    pub(super) fn array(&mut self, v: &Val) -> Result<Array> {
        match v {
            Val::Is(a) if a.rank() <= self.extents.len() => Ok(a.clone()),
            Val::Count { level, from, by } if *level < self.extents.len() => {
                let n = self.extents[*level];
                let a = match *by == 1.0 {
                    true => self.ev.cx.iota(n, *from)?,
                    false => {
                        let a = self.ev.cx.iota(n, 0.0)?;
                        let a = self.ev.cx.map2(Op::Mul, &a, &Array::num(*by))?;
                        self.ev.cx.map2(Op::Add, &a, &Array::num(*from))?
                    }
                };
                match level {
                    0 => Ok(a),
                    _ => {
                        let shape = &self.extents[..=*level];
                        self.ev.cx.apply_move(&a, Move::along(n, shape, *level))
                    }
                }
            }
            _ => refuse("a turn reads what others gave"),
        }
    }

    /// An array with so many axes, or a number for all.
    pub(super) fn lifted(&mut self, a: &Array, rank: usize) -> Result<Array> {
        if self.extents.get(..a.rank()) != Some(a.shape()) {
            return refuse("a value of another loop");
        }
        if a.rank() == 0 || a.rank() == rank {
            return Ok(a.clone());
        }
        let shape = self.extents[..rank].into();
        self.ev.cx.apply_move(a, Move::axes("⍴", shape, (0..a.rank()).map(Some)))
    }

    /// An array with so many axes.
    pub(super) fn whole(&mut self, a: &Array, rank: usize) -> Result<Array> {
        match a.rank() {
            0 => self.ev.cx.apply_move(a, Move::spread(&[], &self.extents[..rank])),
            _ => self.lifted(a, rank),
        }
    }

    /// A number beside characters is one of them.
    pub(super) fn alike(x: Array, y: Array) -> (Array, Array) {
        match (x.is_char(), y.is_char()) {
            (true, false) => (x, Class::Char.own(y)),
            (false, true) => (Class::Char.own(x), y),
            _ => (x, y),
        }
    }

    pub(super) fn two(&mut self, op: Op, x: &Array, y: &Array) -> Result<Array> {
        let rank = x.rank().max(y.rank());
        let (x, y) = (self.lifted(x, rank)?, self.lifted(y, rank)?);
        let (x, y) = Turns::alike(x, y);
        let z = self.ev.cx.map2(op, &x, &y)?;
        match z.is_complex() {
            true => refuse("a value is not real"),
            false => Ok(z),
        }
    }

    pub(super) fn select(&mut self, cond: &Array, yes: &Array, no: &Array) -> Result<Array> {
        let rank = cond.rank().max(yes.rank()).max(no.rank());
        let (yes, no) = (self.lifted(yes, rank)?, self.lifted(no, rank)?);
        let (yes, no) = Turns::alike(yes, no);
        let cond = self.whole(cond, rank)?;
        let shape = Shape::from_slice(&self.extents[..rank]);
        self.ev.cx.select(&cond, &yes, &no, &shape)
    }

    /// The turns that come along a path. None: all.
    pub(super) fn mask(&mut self, path: &[Way]) -> Result<Option<Array>> {
        let mut all: Option<Array> = None;
        for way in path {
            let own = match way.holds {
                true => way.cond.clone(),
                false => self.ev.cx.map1(Op::Not, &way.cond)?,
            };
            all = Some(match all {
                None => own,
                Some(all) => self.two(Op::Min, &all, &own)?,
            });
        }
        Ok(all)
    }
}

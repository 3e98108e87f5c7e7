//! Loops in each other, and the ways of turns through conditions.

use super::rows::fills;
use super::{DEEP, Event, MOST, Plan, State, Turns, Val, Way, refuse, refused};
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, DType, Data, elements};
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::Ix;
use aplomb_values::prim::moves::Move;
use aplomb_values::registers::Do;
use std::collections::BTreeMap;

impl Turns<'_, '_> {
    /// The turns of a loop, `own` names of its own and their values.
    pub(super) fn block(
        &mut self,
        Plan { head, first: body, end }: Plan,
        own: Vec<(u16, Val)>,
        mut state: State,
    ) -> Result<State> {
        let (ways, first) = (state.path.len(), state.events.len());
        let before = state.fixed.clone();
        let mut changed: Vec<u16> = Vec::new();
        for step in &self.steps[head..end] {
            if let Do::Set { slot, .. } | Do::Next { slot, .. } | Do::CountOn { slot, .. } = *step {
                changed.push(slot);
            }
        }
        for &slot in &changed {
            state.fixed[slot as usize] = Some(Val::Carried(slot));
        }
        for (slot, v) in own {
            state.fixed[slot as usize] = Some(v);
        }
        for list in self.steps[head..end].iter().filter_map(fills) {
            state.filled[list as usize] = None;
        }
        let mut waiting: BTreeMap<usize, Vec<State>> = BTreeMap::new();
        let (mut now, mut k) = (Some(state), body);
        loop {
            self.ev.cx.host.interrupt().check()?;
            if let Some(mut all) = waiting.remove(&k) {
                all.extend(now.take());
                now = Some(self.met(all)?);
            }
            if k >= end {
                break;
            }
            let Some(mut at) = now.take() else {
                k += 1;
                continue;
            };
            let target = |to: u32| match to as usize {
                to if to == head => Ok(end),
                to if to > k && to <= end => Ok(to),
                _ => refuse("a turn ends the loop"),
            };
            match self.steps[k] {
                Do::Jump(to) => waiting.entry(target(to)?).or_default().push(at),
                Do::Unless { y, then } => {
                    let y = self.value(&at, y)?;
                    match y.data() {
                        Data::Num(1.0, _) => now = Some(at),
                        Data::Num(0.0, _) => waiting.entry(target(then)?).or_default().push(at),
                        _ if y.dtype() == DType::Bool => {
                            let mut other = at.clone();
                            let events = at.events.len();
                            at.path.push(Way { cond: y.clone(), holds: true, events });
                            other.path.push(Way { cond: y, holds: false, events });
                            waiting.entry(target(then)?).or_default().push(other);
                            now = Some(at);
                        }
                        _ => return refuse("a condition that is none"),
                    }
                }
                Do::Count { .. } | Do::Over { .. } => {
                    let (state, done) = self.inner(k, at)?;
                    (now, k) = (Some(state), done);
                    continue;
                }
                step => {
                    self.step(&mut at, &step)?;
                    now = Some(at);
                }
            }
            k += 1;
        }
        let Some(state) = now else { return refuse("a loop without an end") };
        self.folded(state, &before, (ways, first))
    }

    /// A loop within, which begins at a step, and the step behind it.
    pub(super) fn inner(&mut self, k: usize, state: State) -> Result<(State, usize)> {
        let head = k + 1;
        let level = self.extents.len();
        let (n, over) = match (self.steps[k], self.steps.get(head)) {
            (Do::Count { y, .. }, Some(Do::CountOn { .. })) => {
                let n = self.value(&state, y)?;
                match n.data() {
                    Data::Num(n, _) if n.fract() == 0.0 && (1.0..MOST as f64).contains(n) => {
                        (*n as usize, None)
                    }
                    _ => return refuse("a loop within has no turns, or others each time"),
                }
            }
            (Do::Over { .. }, Some(Do::Next { of, .. })) => {
                self.others.push(*of);
                let list = self.list(*of)?;
                (list.len(), Some(list))
            }
            _ => return refuse("a loop without a beginning"),
        };
        self.extents.push(n);
        if n == 0 || level >= DEEP || elements(&self.extents) > MOST {
            return refuse("loops within have too many turns");
        }
        self.seen.truncate(level);
        self.seen.push(n);
        let Some(&(Do::CountOn { slot, done, .. } | Do::Next { slot, done, .. })) =
            self.steps.get(head)
        else {
            return refuse("a loop without a beginning");
        };
        let items = match over {
            None => Val::Count { level, from: self.io, by: 1.0 },
            Some(list) => self.items(&list, n)?,
        };
        let end = self.end_of(head)?;
        let mut state =
            self.block(Plan { head, first: head + 1, end }, vec![(slot, items)], state)?;
        self.extents.pop();
        if done as usize != end + 1 {
            return refuse("a loop that is left otherwise");
        }
        // Behind the loop a name has what its last turn gave it.
        state.registers.fill(None);
        for v in state.fixed.iter_mut() {
            *v = match v.take() {
                Some(Val::Count { level: own, from, by }) if own == level => {
                    Some(Val::Is(Array::num(from + by * (n - 1) as f64)))
                }
                Some(Val::Is(a)) if a.rank() > level => {
                    let last = Ix::constant(n as i64 - 1);
                    let read = Read::new((0..level).map(Ix::axis).chain([last]));
                    let shape = self.extents.as_slice().into();
                    let m = Move { name: "[]", shape, read, onto: false };
                    Some(Val::Is(self.ev.cx.apply_move(&a, m)?))
                }
                v => v,
            };
        }
        state.own.fill(None);
        for row in state.filled.iter_mut().flatten().filter(|row| row.rank() > level + 1) {
            *row = self.last_of(row, level)?;
        }
        Ok((state, done as usize))
    }

    /// The turns that come to a step by several ways.
    pub(super) fn met(&mut self, mut all: Vec<State>) -> Result<State> {
        let same = |a: &Way, b: &Way| a.cond.is_one_with(&b.cond);
        while all.len() > 1 {
            let deepest = all.iter().map(|s| s.path.len()).max().filter(|n| *n > 0);
            let Some(deepest) = deepest else { return refuse("ways that meet otherwise") };
            let Some(i) = all.iter().position(|s| s.path.len() == deepest) else {
                return refuse("ways that meet otherwise");
            };
            let a = all.swap_remove(i);
            let other = |b: &State| {
                b.path.len() == deepest
                    && a.path.iter().zip(&b.path).all(|(a, b)| same(a, b))
                    && a.path.iter().zip(&b.path).filter(|(a, b)| a.holds != b.holds).count() == 1
                    && a.path[deepest - 1].holds != b.path[deepest - 1].holds
            };
            let Some(j) = all.iter().position(other) else {
                return refuse("ways that meet otherwise");
            };
            let b = all.swap_remove(j);
            let (yes, no) = if a.path[deepest - 1].holds { (a, b) } else { (b, a) };
            let one = self.either(yes, no)?;
            all.push(one);
        }
        all.pop().ok_or_else(|| refused("nobody comes"))
    }

    /// Both ways of a condition.
    pub(super) fn either(&mut self, mut yes: State, mut no: State) -> Result<State> {
        // Lists of their own are those of a statement.
        yes.own.fill(None);
        let Some(way) = yes.path.pop() else { return refuse("ways that meet otherwise") };
        let mut out = State {
            path: yes.path.clone(),
            registers: Vec::new(),
            fixed: Vec::new(),
            own: yes.own,
            filled: Vec::new(),
            cut: yes.cut,
            events: yes.events.iter().take(way.events).cloned().collect(),
        };
        for (a, b) in yes.registers.into_iter().zip(no.registers) {
            let one = self.chosen(&way.cond, a, b)?;
            out.registers.push(one);
        }
        for (a, b) in yes.fixed.into_iter().zip(no.fixed) {
            let one = self.chosen(&way.cond, a, b)?;
            out.fixed.push(one);
        }
        for (a, b) in yes.filled.into_iter().zip(no.filled) {
            let one = self.chosen_row(&way.cond, a, b)?;
            out.filled.push(one);
        }
        let (a, b) = (yes.events.split_off(way.events), no.events.split_off(way.events));
        let depth = out.path.len() + 1;
        match (a.as_slice(), b.as_slice()) {
            ([a], [b])
                if a.what == b.what
                    && (a.depth, a.wide) == (b.depth, b.wide)
                    && a.depth == self.extents.len()
                    && a.path.len() == depth
                    && b.path.len() == depth =>
            {
                let y = self.beside(a.wide, |all| all.select(&way.cond, &a.y, &b.y))?;
                let at = match (&a.at, &b.at) {
                    (Some(a), Some(b)) => Some(self.select(&way.cond, a, b)?),
                    _ => None,
                };
                let (what, path) = (a.what.clone(), out.path.clone());
                out.events.push(Event { what, path, y, depth: a.depth, wide: a.wide, at });
            }
            _ => out.events.extend(a.into_iter().chain(b)),
        }
        Ok(out)
    }

    pub(super) fn chosen(
        &mut self,
        cond: &Array,
        a: Option<Val>,
        b: Option<Val>,
    ) -> Result<Option<Val>> {
        let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
        let is_same = match (&a, &b) {
            (Val::Is(a), Val::Is(b)) => match (a.data(), b.data()) {
                (Data::Num(a, m), Data::Num(b, n)) => a.to_bits() == b.to_bits() && m == n,
                _ => a.is_one_with(b),
            },
            (
                Val::Count { level, from, by },
                Val::Count { level: other, from: first, by: step },
            ) => (level, from, by) == (other, first, step),
            (Val::Carried(a), Val::Carried(b)) => a == b,
            _ => false,
        };
        if is_same {
            return Ok(Some(a));
        }
        let (Ok(a), Ok(b)) = (self.array(&a), self.array(&b)) else { return Ok(None) };
        self.select(cond, &a, &b).map(|z| Some(Val::Is(z)))
    }
}

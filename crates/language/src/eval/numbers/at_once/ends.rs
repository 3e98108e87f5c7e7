//! The end of a loop: what its turns have folded, put behind lists and set in them.

use super::super::loops::Loop;
use super::{DEEP, EXACT, Event, LEAST, Place, State, Turns, Val, What, refuse, refused};
use crate::eval::cx::Cx;
use crate::functions::cells::join;
use crate::functions::join::{catenate_first, catenate_last};
use crate::functions::repeat::replicate_first;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, Data, elements};
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::Ix;
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;
use smallvec::SmallVec;

impl Turns<'_, '_> {
    /// The numbers that the innermost loop has folded: of a name that it got a value before in each
    /// turn around, that; of another the same fold of the loop around.
    pub(super) fn folded(
        &mut self,
        mut state: State,
        before: &[Option<Val>],
        (ways, first): (usize, usize),
    ) -> Result<State> {
        let level = self.extents.len() - 1;
        let own = state.events.split_off(first);
        let mut slots: Vec<u16> = Vec::new();
        for event in &own {
            match event.what {
                What::Fold { slot, .. } if !slots.contains(&slot) => slots.push(slot),
                _ => {}
            }
        }
        let is_fold = |e: &Event| matches!(e.what, What::Fold { .. });
        let (folds, others): (Vec<Event>, Vec<Event>) = own.into_iter().partition(is_fold);
        state.events.extend(others);
        for slot in slots {
            let own = |e: &&Event| matches!(e.what, What::Fold { slot: s, .. } if s == slot);
            let all: Vec<Event> = folds.iter().filter(own).cloned().collect();
            let is_carried =
                matches!(state.fixed[slot as usize], Some(Val::Carried(s)) if s == slot);
            if !is_carried {
                return refuse("a name is folded and set");
            }
            match before[slot as usize].clone() {
                Some(Val::Carried(_)) => {
                    for event in all {
                        let What::Fold { op, whole: true, .. } = event.what else {
                            return refuse("floats are added in the order of all turns");
                        };
                        let y = self.total(&event, op, level, 0)?;
                        let what = What::Fold { slot, op, whole: true };
                        let path = state.path.clone();
                        let (depth, wide, at) = (level, None, None);
                        state.events.push(Event { what, path, y, depth, wide, at });
                    }
                }
                Some(v) => {
                    let start = self.array(&v)?;
                    if start.rank() > level {
                        return refuse("a fold that begins within");
                    }
                    let z = self.fold(start, &all, level, ways)?;
                    state.fixed[slot as usize] = Some(Val::Is(z));
                }
                None => return refuse("a fold of nothing"),
            }
        }
        Ok(state)
    }

    /// The whole number that an event adds in all turns of the innermost loop.
    pub(super) fn total(
        &mut self,
        event: &Event,
        op: Op,
        level: usize,
        ways: usize,
    ) -> Result<Array> {
        let by = if op == Op::Sub { Op::Add } else { op };
        let mask = self.mask(&event.path[ways..])?;
        let y = match (mask, by) {
            (None, _) => event.y.clone(),
            (Some(mask), Op::Add) => match event.y.data() {
                Data::Num(1.0, _) => mask,
                _ => self.select(&mask, &event.y, &Array::num(0.0))?,
            },
            _ => return refuse("a fold of some turns"),
        };
        let y = self.whole(&y, level + 1)?;
        self.ev.cx.reduce(by, &y, level)
    }

    /// A fold from a number on, or from one each.
    pub(super) fn fold(
        &mut self,
        start: Array,
        all: &[Event],
        level: usize,
        ways: usize,
    ) -> Result<Array> {
        let ops: Vec<(Op, bool)> = all
            .iter()
            .filter_map(|e| match e.what {
                What::Fold { op, whole, .. } => Some((op, whole)),
                _ => None,
            })
            .collect();
        let Some(&(op, _)) = ops.first() else { return Ok(start) };
        let begins_whole = match start.data() {
            Data::Num(x, _) => x.fract() == 0.0 && x.abs() < EXACT,
            _ => start.dtype().is_integer(),
        };
        let one = ops.iter().all(|(own, _)| *own == op);
        let whole = begins_whole && ops.iter().all(|(_, whole)| *whole);
        if whole && one && matches!(op, Op::Add | Op::Sub | Op::Max | Op::Min) {
            let mut z = start;
            for event in all {
                let total = self.total(event, op, level, ways)?;
                z = self.two(op, &z, &total)?;
            }
            return Ok(z);
        }
        if !ops.iter().all(|(op, _)| matches!(op, Op::Add | Op::Sub | Op::Mul)) {
            return refuse("a fold of floats");
        }
        // One after the other.
        let mut ready: Vec<(Op, Vec<f64>, Option<Vec<f64>>)> = Vec::new();
        let mut wanted = Vec::new();
        for (event, (op, _)) in all.iter().zip(&ops) {
            let y = self.whole(&event.y, level + 1)?;
            let mask = match self.mask(&event.path[ways..])? {
                None => None,
                Some(mask) => Some(self.whole(&mask, level + 1)?),
            };
            wanted.push((*op, y, mask));
        }
        let arrays: Vec<&Array> =
            wanted.iter().flat_map(|(_, y, mask)| [Some(y), mask.as_ref()]).flatten().collect();
        self.ev.cx.force(&arrays, "loop")?;
        for (op, y, mask) in &wanted {
            let y = self.ev.cx.numbers(y, "a fold")?;
            let mask = mask.as_ref().map(|mask| self.ev.cx.numbers(mask, "a fold")).transpose()?;
            ready.push((*op, y, mask));
        }
        let start = self.whole(&start, level)?;
        let mut out = self.ev.cx.numbers(&start, "a fold")?;
        let n = self.extents[level];
        let mut ticks = self.ev.cx.budget().ticks();
        for (row, z) in out.iter_mut().enumerate() {
            ticks.spend(n)?;
            if let [(Op::Add, y, None)] = ready.as_slice() {
                *z = y[row * n..(row + 1) * n].iter().fold(*z, |z, y| z + y);
                continue;
            }
            for k in row * n..(row + 1) * n {
                for (op, y, mask) in &ready {
                    if mask.as_ref().is_some_and(|mask| mask[k] == 0.0) {
                        continue;
                    }
                    *z = match op {
                        Op::Add => *z + y[k],
                        Op::Sub => *z - y[k],
                        _ => *z * y[k],
                    };
                }
            }
        }
        if !out.iter().all(|z| z.is_finite()) {
            return refuse("a number beyond all others");
        }
        match level {
            0 => Ok(Array::num(out.first().copied().ok_or_else(|| refused("a fold of nothing"))?)),
            _ => Array::numbers(&self.extents[..level], out, self.ev.cx.budget()),
        }
    }

    /// The names that the loop changes, by their numbers, and what they come to.
    pub(super) fn changes(&mut self, made: &Loop, state: &State) -> Result<Vec<(usize, Array)>> {
        if self.widest.max(elements(&self.seen)) < LEAST {
            return refuse("too few turns");
        }
        let mut out = Vec::new();
        for (k, name) in made.program.names.iter().enumerate().filter(|(_, n)| n.changes) {
            if name.rank > 0 {
                if let Some(a) = self.changed(state, name.slot)? {
                    out.push((k, a));
                }
                continue;
            }
            let a = match state.fixed[name.slot as usize].clone() {
                Some(Val::Carried(_)) => continue,
                Some(Val::Count { level, from, by }) => {
                    Array::num(from + by * (self.seen[level] - 1) as f64)
                }
                Some(Val::Is(a)) if a.rank() == 0 => a,
                Some(Val::Is(a)) => {
                    let read = Read::new(a.shape().iter().map(|&n| Ix::constant(n as i64 - 1)));
                    let m = Move { name: "[]", shape: [].as_slice().into(), read, onto: false };
                    self.ev.cx.apply_move(&a, m)?
                }
                _ => return refuse("some turns give a name no value"),
            };
            out.push((k, a));
        }
        Ok(out)
    }

    /// A list with what the turns did to it. None: nothing.
    pub(super) fn changed(&mut self, state: &State, of: u16) -> Result<Option<Array>> {
        let adds = |e: &&Event| matches!(e.what, What::Append(a) | What::AddRow(a) if a == of);
        let appends: Vec<&Event> = state.events.iter().filter(adds).collect();
        let sets: Vec<&Event> = state
            .events
            .iter()
            .filter(|e| matches!(&e.what, What::Set { of: own, .. } if *own == of))
            .collect();
        let is_put = |e: &&Event| matches!(&e.what, What::Put { of: own, .. } if *own == of);
        let puts: Vec<&Event> = state.events.iter().filter(is_put).collect();
        if !puts.is_empty() {
            let read = self.others.contains(&of) || self.reads.iter().any(|(own, _)| *own == of);
            let alone = appends.is_empty() && sets.is_empty() && !self.written.contains(&of);
            if read || !alone || self.walk_of(of).is_some() {
                return refuse("a list that changes anywhere is read");
            }
            return self.put(of, &puts).map(Some);
        }
        if let Some(walk) = self.walk_of(of) {
            if !appends.is_empty() || !sets.is_empty() {
                return refuse("a list that is cut is changed");
            }
            return self.left_of_walk(walk).map(Some);
        }
        if self.written.contains(&of) {
            if !appends.is_empty() || !sets.is_empty() {
                return refuse("a list of each turn is changed");
            }
            let row = state.filled[of as usize].clone();
            let row = row.ok_or_else(|| refused("some turns give a name no value"))?;
            return self.last_of(&row, 0).map(Some);
        }
        let old = match (appends.is_empty(), sets.is_empty()) {
            (true, true) => return Ok(None),
            (false, false) => return refuse("a list is changed and gets longer"),
            _ => self.list(of)?,
        };
        if self.others.contains(&of) {
            return refuse("a list that changes is read");
        }
        let Some(depth) = appends.iter().chain(&sets).map(|e| e.depth).max() else {
            return Ok(None);
        };
        let own = appends.iter().chain(&sets).all(|e| e.depth == depth);
        if !own || depth > self.seen.len() || depth > 1 && appends.len() > 1 {
            return refuse("loops of several depths change a list");
        }
        self.extents = self.seen.iter().take(depth).copied().collect();
        if !appends.is_empty() {
            let tallied = self.tallied.contains(&of);
            if tallied || self.reads.iter().any(|(own, _)| *own == of) {
                return refuse("a list that gets longer is read");
            }
            let columns = old.shape().get(1).copied();
            if columns.is_some() && appends.iter().any(|e| e.wide != columns) {
                return refuse("a row of another length");
            }
            let more = self.appended(&appends, columns)?;
            return Ok(Some(match old.is_empty() {
                true => more,
                false => catenate_first(&mut self.ev.cx, &old, &more, None)?,
            }));
        }
        let Some(What::Set { at, .. }) = sets.first().map(|e| &e.what) else { return Ok(None) };
        let is_at = |e: &&Event| matches!(&e.what, What::Set { at: own, .. } if own == at);
        let apart = self.reads.iter().any(|(own, places)| *own == of && places != at);
        if apart || !sets.iter().all(is_at) {
            return refuse("a turn reads an item that another sets");
        }
        self.set(&old, at, &sets).map(Some)
    }

    /// The items that turns put behind a list, in the order of the turns; behind a matrix of so
    /// many columns they are rows.
    fn appended(&mut self, all: &[&Event], columns: Option<usize>) -> Result<Array> {
        let (mut items, mut masks) = (Vec::new(), Vec::new());
        let masked = all.iter().any(|event| !event.path.is_empty());
        for event in all {
            let path = match self.mask(&event.path)? {
                Some(mask) => mask,
                None => Array::num(1.0),
            };
            let all = |turns: &mut Self, a: &Array| turns.whole(a, turns.extents.len());
            items.push(self.beside(event.wide, |turns| all(turns, &event.y))?);
            // Each of a row's items, or the row.
            let wide = event.wide.filter(|_| columns.is_none());
            masks.push(self.beside(wide, |turns| all(turns, &path))?);
        }
        let mut items = self.in_turn(items)?;
        if let Some(n) = columns {
            let shape = [items.len() / n, n];
            let m = Move::reshape("⍴", items.shape(), &shape);
            items = self.ev.cx.apply_move(&items, m)?;
        }
        match masked {
            true => {
                let masks = self.in_turn(masks)?;
                replicate_first(&mut self.ev.cx, &masks, &items, None)
            }
            false => Ok(items),
        }
    }

    /// A list with items put at any places, in the order of the turns.
    fn put(&mut self, of: u16, puts: &[&Event]) -> Result<Array> {
        let mut made = self.list(of)?;
        for event in puts {
            let What::Put { op, .. } = event.what else { return refuse("no item that is put") };
            // Several in a turn are each done for all turns: sums of whole numbers are the same.
            let whole = made.dtype().is_integer() && event.y.dtype().is_integer();
            if puts.len() > 1 && !(whole && matches!(op, Some(Op::Add | Op::Sub))) {
                return refuse("a turn puts several items");
            }
            let at = event.at.as_ref().ok_or_else(|| refused("no place"))?;
            self.extents = self.seen.iter().take(event.depth).copied().collect();
            if self.extents.len() != event.depth {
                return refuse("another loop");
            }
            let (at, y) = (self.whole(at, event.depth)?, self.whole(&event.y, event.depth)?);
            let (mut at, mut y) = (self.in_turn(vec![at])?, self.in_turn(vec![y])?);
            if let Some(mask) = self.mask(&event.path)? {
                let mask = self.whole(&mask, event.depth)?;
                let mask = self.in_turn(vec![mask])?;
                at = replicate_first(&mut self.ev.cx, &mask, &at, None)?;
                y = replicate_first(&mut self.ev.cx, &mask, &y, None)?;
            }
            let new = self.ev.cx.record_scatter(&made, &[Some(at)], op, &y)?;
            made = new.ok_or_else(|| refused("few items that are put"))?;
        }
        Ok(made)
    }

    /// Arrays of all turns as a vector: what they have in the first turn, then in the next.
    pub(super) fn in_turn(&mut self, all: Vec<Array>) -> Result<Array> {
        let turns = elements(&self.extents);
        let ravel = |cx: &mut Cx<'_>, a: &Array, to: &[usize]| {
            cx.apply_move(a, Move::reshape("⍴", a.shape(), to))
        };
        if let [one] = all.as_slice() {
            return match one.rank() {
                1 => Ok(one.clone()),
                _ => ravel(&mut self.ev.cx, one, &[one.len()]),
            };
        }
        let mut columns = Vec::new();
        for a in &all {
            columns.push(ravel(&mut self.ev.cx, a, &[turns, a.len() / turns])?);
        }
        let made = join(&mut self.ev.cx, &columns, 1)?;
        ravel(&mut self.ev.cx, &made, &[made.len()])
    }

    /// A list with items set at the places of turns.
    pub(super) fn set(&mut self, old: &Array, at: &[Place], sets: &[&Event]) -> Result<Array> {
        let line = at.iter().position(|place| *place == Place::All);
        self.beside(line.map(|axis| old.shape()[axis]), |all| all.set_items(old, at, sets))
    }

    /// The same where a line has an axis of its own.
    fn set_items(&mut self, old: &Array, at: &[Place], sets: &[&Event]) -> Result<Array> {
        let rank = self.extents.len();
        let mut all = Vec::new();
        for (place, &n) in at.iter().zip(old.shape()) {
            let (level, from) = match *place {
                Place::Turn { level, from, by: 1 } => (level, from),
                Place::All => (rank - 1, 0),
                _ => return refuse("items anywhere"),
            };
            if from < 0 || from + self.extents[level] as i64 > n as i64 {
                return refuse("an index is beyond its list");
            }
            all.push((level, from, n));
        }
        if rank > 1 && all.iter().any(|(level, _, n)| self.extents[*level] != *n) {
            return refuse("a part of a matrix");
        }
        // The items as the turns see them.
        let read = Read::new(all.iter().map(|(level, from, _)| Ix::axis(*level).offset(*from)));
        let shape = self.extents.as_slice().into();
        let mut now = self.ev.cx.apply_move(old, Move { name: "[]", shape, read, onto: false })?;
        for event in sets {
            let What::Set { op, .. } = event.what else { return refuse("no item that is set") };
            let y = match op {
                None => event.y.clone(),
                Some(op) => self.two(op, &now, &event.y)?,
            };
            now = match self.mask(&event.path)? {
                None => self.whole(&y, rank)?,
                Some(mask) => {
                    let mask = self.whole(&mask, rank)?;
                    self.select(&mask, &y, &now)?
                }
            };
        }
        if let [(_, from, n)] = all[..] {
            let (from, m) = (from as usize, self.extents[0]);
            let part = |from: usize, n: usize| {
                let read = Read::new([Ix::axis(0).offset(from as i64)]);
                Move { name: "↓", shape: [n].as_slice().into(), read, onto: false }
            };
            if from > 0 {
                let head = self.ev.cx.apply_move(old, part(0, from))?;
                now = catenate_last(&mut self.ev.cx, &head, &now, None)?;
            }
            if from + m < n {
                let tail = self.ev.cx.apply_move(old, part(from + m, n - from - m))?;
                now = catenate_last(&mut self.ev.cx, &now, &tail, None)?;
            }
            return Ok(now);
        }
        // Its own axes are those of the loops, in some order.
        let mut axes: SmallVec<[Option<usize>; DEEP]> = SmallVec::from_elem(None, rank);
        for (own, (level, ..)) in all.iter().enumerate() {
            axes[*level] = Some(own);
        }
        let shape = old.shape().into();
        self.ev.cx.apply_move(&now, Move::axes("⍉", shape, axes))
    }
}

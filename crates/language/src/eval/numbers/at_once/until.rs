//! Loops of `:While` whose end is counted: what their conditions ask changes by the same each turn.
//!
//! `:While i≤≢v … i+←1` and `:While 0<≢q … q←1↓q` say by themselves how often they go round. A name
//! to which each turn adds the same number *counts*, and a list that each turn cuts by as many
//! items is *walked*: its items are those of the whole list, further on by turns. So the condition
//! is computed for many turns first; those before the first that it ends are all that there are,
//! and they go at once as those over items do.

use super::super::loops::Loop;
use super::{MOST, Place, Plan, State, TRIES, Turns, Val, refuse, refused};
use crate::eval::run::Eval;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, DType, Data};
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::Ix;
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, Do};

/// Turns whose conditions are computed first, and how many times more next.
const FIRST: usize = 1 << 13;
const MORE: usize = 16;

/// A list that each turn cuts.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    pub of: u16,
    pub n: usize,
    pub end: bool,
}

impl Eval<'_> {
    /// All turns that are left of a loop until its condition ends it, as operations on arrays: the
    /// step that comes then. None: they are no such turns, and nothing has happened. Errors:
    /// INTERRUPT.
    pub(in crate::eval) fn turns_until_at_once(&mut self, made: &Loop) -> Result<Option<usize>> {
        let program = &made.program;
        let fits = program.native.borrow().is_some() && made.refusals.get() < TRIES;
        let Some(function) = program.code.first().filter(|_| fits && made.items.is_none()) else {
            return Ok(None);
        };
        let exit = function.steps.iter().find_map(|step| match *step {
            Do::Unless { then, .. } => Some(then),
            _ => None,
        });
        let Some(Do::Leave(to)) = exit.and_then(|k| function.steps.get(k as usize)) else {
            return Ok(None);
        };
        let done = self.at_once(made, None, |turns, state| turns.until(state))?;
        Ok(done.then_some(*to))
    }
}

impl Turns<'_, '_> {
    /// All turns of a loop whose end is counted.
    fn until(&mut self, state: State) -> Result<State> {
        let end = self.end_of(0)?;
        let exit = self.steps.iter().position(|step| matches!(step, Do::Unless { .. }));
        let exit = exit.filter(|exit| *exit < end).ok_or_else(|| refused("no condition"))?;
        let Do::Unless { y: cond, .. } = self.steps[exit] else { return refuse("no condition") };
        let asks = |step: &Do| {
            use Do::{Columns, Copy, Find, Item, One, Tally, Two};
            matches!(
                step,
                One { .. }
                    | Two { .. }
                    | Copy { .. }
                    | Item { .. }
                    | Tally { .. }
                    | Columns { .. }
                    | Find { .. }
            )
        };
        if !self.steps[..exit].iter().all(asks) {
            return refuse("a condition that does something");
        }
        let own = self.counting(&state, exit, end);
        self.walks = self.walked(exit, end)?;
        let n = self.turns_before_end(&state, &own, exit, cond)?;
        (self.extents, self.seen) = (vec![n], vec![n]);
        self.block(Plan { head: 0, first: exit + 1, end }, own, state)
    }

    /// True of a step that each turn comes to once.
    fn is_in_each_turn(&self, exit: usize, k: usize) -> bool {
        let goes_by = |step: &Do| match *step {
            Do::Jump(to)
            | Do::Unless { then: to, .. }
            | Do::Next { done: to, .. }
            | Do::CountOn { done: to, .. } => to as usize > k || to as usize <= exit,
            _ => false,
        };
        !self.steps[exit + 1..k].iter().any(goes_by)
    }

    /// Names to which each turn adds the same whole number, with what they are.
    fn counting(&self, state: &State, exit: usize, end: usize) -> Vec<(u16, Val)> {
        let set = |step: &Do| match *step {
            Do::Set { slot, .. } | Do::Next { slot, .. } | Do::CountOn { slot, .. } => Some(slot),
            _ => None,
        };
        let changed: Vec<u16> = self.steps[..end].iter().filter_map(set).collect();
        let sets = (exit + 1..end).filter(|k| self.is_in_each_turn(exit, *k));
        sets.filter_map(|k| self.counts(state, k, &changed)).collect()
    }

    /// The name that a step counts on, and its values.
    fn counts(&self, state: &State, k: usize, changed: &[u16]) -> Option<(u16, Val)> {
        let Do::Set { slot, y: Arg::Register(r) } = self.steps[k] else { return None };
        let Do::Two { op, into, x, y } = self.steps[k - 1] else { return None };
        let once = changed.iter().filter(|own| **own == slot).count() == 1;
        (into == r && once).then_some(())?;
        // `i+1` reads a copy of the name.
        let is_name = |arg: Arg| match (arg, k.checked_sub(2).map(|k| self.steps[k])) {
            (Arg::Register(r), Some(Do::Copy { into, y })) => r == into && y == Arg::Fixed(slot),
            (arg, _) => arg == Arg::Fixed(slot),
        };
        let known = |arg: Arg| match self.get(state, arg) {
            Ok(Val::Is(a)) => whole(&a),
            _ => None,
        };
        let by = |arg: Arg| match arg {
            Arg::Fixed(k) if !changed.contains(&k) => known(arg),
            _ => None,
        };
        let by = match op {
            Op::Add if is_name(x) => by(y),
            Op::Add if is_name(y) => by(x),
            Op::Sub if is_name(x) => by(y).map(|by| -by),
            _ => None,
        };
        let by = by.filter(|by| *by != 0.0)?;
        Some((slot, Val::Count { level: 0, from: known(Arg::Fixed(slot))?, by }))
    }

    /// Lists that each turn cuts once by the same number of items.
    fn walked(&self, exit: usize, end: usize) -> Result<Vec<Walk>> {
        let mut out: Vec<Walk> = Vec::new();
        for k in exit + 1..end {
            if let Do::Cut { of, n, end } = self.steps[k] {
                if n == 0 || !self.is_in_each_turn(exit, k) || out.iter().any(|walk| walk.of == of)
                {
                    return refuse("a list that is cut otherwise");
                }
                out.push(Walk { of, n: n.into(), end });
            }
        }
        Ok(out)
    }

    /// The number of turns before the first whose condition does not hold.
    fn turns_before_end(
        &mut self,
        state: &State,
        own: &[(u16, Val)],
        exit: usize,
        cond: Arg,
    ) -> Result<usize> {
        let mut most = MOST;
        for walk in self.walks.clone() {
            most = most.min(self.source(walk.of)?.len() / walk.n + 1);
        }
        let mut n = FIRST.min(most);
        loop {
            self.extents = vec![n];
            let mut at = state.clone();
            for (slot, v) in own {
                at.fixed[*slot as usize] = Some(v.clone());
            }
            for step in &self.steps[..exit] {
                self.step(&mut at, step)?;
            }
            let y = self.value(&at, cond)?;
            if y.rank() != 1 || y.dtype() != DType::Bool {
                return refuse("a condition that no turn changes");
            }
            let y = self.ev.cx.ready(&y, "loop")?;
            let holds = self.ev.cx.numbers(&y, "a condition")?;
            match holds.iter().position(|y| *y == 0.0) {
                Some(0) => return refuse("no turn"),
                Some(end) => return Ok(end),
                None if n == most => return refuse("a loop without an end"),
                None => n = n.saturating_mul(MORE).min(most),
            }
        }
    }

    pub(super) fn walk_of(&self, of: u16) -> Option<Walk> {
        self.walks.iter().find(|walk| walk.of == of).copied()
    }

    /// The items that this turn's list no longer has, in the first turn.
    fn gone(&self, state: &State, walk: Walk) -> usize {
        if state.cut.contains(&walk.of) { walk.n } else { 0 }
    }

    /// The number of items that a walked list has.
    pub(super) fn tally_of_walk(&self, state: &State, walk: Walk) -> Result<Val> {
        let from = (self.source(walk.of)?.len() as f64) - self.gone(state, walk) as f64;
        Ok(Val::Count { level: 0, from, by: -(walk.n as f64) })
    }

    /// A place in a walked list as one in the whole list; so many items from there on are there.
    pub(super) fn place_in_walk(
        &self,
        state: &State,
        walk: Walk,
        at: Place,
        items: usize,
    ) -> Result<Place> {
        let (from, by) = match at {
            Place::Turn { level: 0, from, by } => (from, by),
            Place::One(k) => (k, 0),
            _ => return refuse("places in a list that is cut"),
        };
        let (len, turns) = (self.source(walk.of)?.len() as i64, self.extents[0] as i64);
        let (gone, n) = (self.gone(state, walk) as i64, walk.n as i64);
        for turn in [0, turns - 1] {
            let (at, left) = (from + by * turn, len - gone - n * turn);
            if at < 0 || at + items as i64 > left {
                return refuse("an index is beyond its list");
            }
        }
        Ok(match walk.end {
            true => at,
            false => Place::Turn { level: 0, from: from + gone, by: by + n },
        })
    }

    /// A turn cuts its list.
    pub(super) fn cut(&self, state: &mut State, of: u16) -> Result<()> {
        match self.walk_of(of) {
            Some(_) if !state.cut.contains(&of) => {
                state.cut.push(of);
                Ok(())
            }
            _ => refuse("a list is cut otherwise"),
        }
    }

    /// The items that all turns leave of a list that each of them cuts.
    pub(super) fn left_of_walk(&mut self, walk: Walk) -> Result<Array> {
        let list = self.source(walk.of)?;
        let gone = walk.n.saturating_mul(self.seen[0]);
        let Some(left) = list.len().checked_sub(gone) else {
            return refuse("more is cut than there is");
        };
        let from = if walk.end { 0 } else { gone };
        let read = Read::new([Ix::axis(0).offset(from as i64)]);
        let m = Move { name: "↓", shape: [left].as_slice().into(), read, onto: false };
        self.ev.cx.apply_move(&list, m)
    }
}

/// A whole number that is known.
fn whole(a: &Array) -> Option<f64> {
    match a.data() {
        Data::Num(x, _) if x.fract() == 0.0 && x.abs() < f64::from(i32::MAX) => Some(*x),
        _ => None,
    }
}

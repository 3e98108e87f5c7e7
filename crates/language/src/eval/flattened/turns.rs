//! The turns of a `:For` together: each step of the loop for all turns that are left.
//!
//! Values that a turn gives a name are mostly read in it alone, and what the loop is for it puts
//! behind a name (`r,←w`), adds to one (`s+←≢w`), or puts at places (`r[i]←+/x[i;]`). Such turns do
//! not see each other: they are the cells of a flattened run, a condition parts them, and a name
//! has in each the value that the turn gave it. An inner loop over items has a cell for each of its
//! turns in each of those around. What is sent to the names that the loop is for is put there at
//! the end, in the order of the turns (`sent`).
//!
//! Why the result is the same: a name that some turn changes is read only where this turn has given
//! it a value before, and whoever would see another's is refused; that is asked of the run, not of
//! the text. A run that is refused or fails has changed nothing: names get their values when all
//! turns have ended well. Else the turns go on one by one.

use super::body::{Call, Flow};
use super::inside::Empty;
use super::sent::{Event, changed_by};
use super::turn_plans::{Plan, names_of};
use super::{Cells, Flat, Steps as Ways, bytes, refuse};
use crate::eval::numbers::LoopAt;
use crate::eval::operators::reduce::stretch;
use crate::eval::run::{At, Eval};
use crate::eval::steps::Slot;
use crate::eval::value::{Closure, Func, Value};
use crate::syntax::ast::{DfnId, Sym};
use crate::syntax::resolve::{Do, Ins, Pattern};
use crate::syntax::steps::{Act, Steps};
use aplomb_ground::error::{Result, bug};
use aplomb_ground::span::Place;
use aplomb_values::array::Array;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Fewer turns go one by one.
const LEAST: usize = 64;
/// Loops in each other.
const DEEP: usize = 3;
/// Turns of inner loops in all, at most.
const MOST: usize = 1 << 22;
/// Turns that run together for each that the loop has behind it, and at most: a turn that fails
/// takes those around it with it. A loop whose turns ran together before has as many at once.
const AHEAD: (usize, usize) = (8, 1 << 14);
/// Bytes that turns together may take beside what is there: so many, and so many times the arrays
/// that the loop reads. A turn that needs more has the machine to itself.
const ROOM: (u64, u64) = (2 << 20, 2);

/// A run of turns under way.
pub(super) struct Turns {
    /// All names that turns change: none is read but as the turn gave it.
    written: Vec<Sym>,
    sent: Vec<Sym>,
    pub events: Vec<Event>,
    /// The loops under way, the innermost last.
    blocks: Vec<Block>,
    /// The values that names have at the end, and where they got them.
    ends: Vec<(Sym, Vec<(u32, usize)>, Array)>,
}

/// A loop under way, for all of its turns.
struct Block {
    /// The first step of it, by which what it sends is told from what others do.
    first: usize,
    /// The number of levels in which its turns are the cells.
    level: usize,
    versions: Vec<(Sym, Vec<Version>)>,
    /// None: it is the outermost.
    around: Option<Around>,
}

/// The turns around those of an inner loop.
struct Around {
    /// The step where it stands.
    step: usize,
    /// The turns around that come to it; None: all.
    here: Option<Rc<[u32]>>,
    /// The one of these that each of its turns is in.
    of: Rc<[u32]>,
    /// Names that it does not change, as they are there.
    names: Vec<(Sym, Cells)>,
}

/// A value that some turns gave a name.
struct Version {
    /// The turns; None: all.
    turns: Option<Rc<[u32]>>,
    /// None: an inner loop gave it, so it is another's.
    value: Option<Cells>,
    /// The step that gave it.
    step: usize,
}

impl Version {
    /// The place of a turn among those that it is of.
    fn place(&self, turn: u32) -> Option<u32> {
        match &self.turns {
            None => Some(turn),
            Some(turns) => turns.binary_search(&turn).ok().map(|k| k as u32),
        }
    }
}

impl Turns {
    /// True of a name that some turn changes: only what this turn gave it may be read.
    pub(super) fn changes(&self, sym: Sym) -> bool {
        self.written.contains(&sym)
    }

    pub(super) fn sends_to(&self, sym: Sym) -> bool {
        self.sent.contains(&sym)
    }

    /// The names that turns change.
    pub(super) fn written(&self) -> &[Sym] {
        &self.written
    }

    /// The first step of the loop that is under way.
    pub(super) fn block(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.first)
    }

    /// True where no loop is under way within the outermost.
    pub(super) fn is_outermost(&self) -> bool {
        self.blocks.len() == 1
    }
}

impl Eval<'_> {
    /// The next turns of a loop over items, by steps for all of them; `from` is the step that takes
    /// the next item. False: they depend on each other, or do more, and nothing has happened.
    /// Errors: INTERRUPT.
    pub(in crate::eval) fn turns_together(
        &mut self,
        at: At<'_>,
        steps: &Steps,
        from: usize,
        slots: &mut [Slot],
    ) -> Result<bool> {
        let Some(Act::Next { slot, done: to }) = steps.steps.get(from).map(|s| &s.act) else {
            return Ok(false);
        };
        let to = *to;
        let (done, all) = slots[*slot].turns();
        let own = LoopAt::new(at.ast, steps, from);
        let most = match self.st.programs.runs_together(own) {
            Some(true) => AHEAD.1,
            _ => (AHEAD.0 * done).clamp(4 * LEAST, AHEAD.1),
        };
        let n = all.saturating_sub(done).min(most);
        let scope = self.cx.sys.scope.is_once_a_cell();
        if n < LEAST || scope || at.frame.is_some() || !self.runs_together(n) {
            return Ok(false);
        }
        let Some(plan) = self.plan_of_turns(at, steps, (from, to)) else {
            self.st.programs.keep_together(own, false);
            return Ok(false);
        };
        let lists = match &slots[*slot] {
            Slot::Items { of, .. } => vec![of.clone()],
            Slot::Each { of, .. } => of.clone(),
            Slot::None | Slot::Selected(_) => return Ok(false),
        };
        let (ast, home) = (at.ast.clone(), self.st.here.clone());
        let closure = Rc::new(Closure { ast, dfn: DfnId(0), env: None, home, lines: None });
        let this = Rc::new(Func::Dfn(closure.clone()));
        let lowered = self.cx.budget().lowered(self.room_of_turns(at, &plan, &lists, n));
        let (refused, depth) = (self.cx.sys.refused.take(), self.st.depth);
        let mut changes = Vec::new();
        let head = steps.steps[from - 1].place(at.ast);
        let work = self.cx.begin_turns(head.clone(), n);
        let made = self.attempt_together(|ev| {
            let mut flat = Flat::new(ev, n, Ways::All);
            let written = plan.given.iter().chain(&plan.sent).copied().collect();
            let (sent, events) = (plan.sent.clone(), Vec::new());
            let (blocks, ends) = (Vec::new(), Vec::new());
            flat.turns = Some(Turns { written, sent, events, blocks, ends });
            let frame = flat.ev.frame_to_read(&this, &closure, false);
            plan.given.iter().for_each(|sym| {
                frame.set(*sym, Value::Array(Array::num(0.0)));
            });
            let (alpha, names) = (RefCell::new(None), RefCell::default());
            let omega = Some(Cells::Same(Array::num(0.0)));
            let call = Rc::new(Call { frame, alpha, omega, names });
            flat.calls.push(call.clone());
            let mut items = Vec::new();
            for list in &lists {
                items.push(flat.left(list, done, n)?);
            }
            flat.block(&call, &plan, (from, to), items, None)?;
            flat.ev.stands_at(&head);
            changes = flat.changes_of_turns()?;
            call.frame.clone().leave();
            Ok(Array::num(0.0))
        });
        drop(lowered);
        self.stands_at(&head);
        self.st.depth = depth;
        self.cx.sys.refused = refused;
        let made = made?;
        self.st.programs.keep_together(own, made.is_ok());
        if made.is_err() {
            return Ok(false);
        }
        for (sym, a) in changes {
            self.cx.close()?;
            self.change(at, sym, a)?;
        }
        self.cx.tell_work(Some(work));
        match &mut slots[*slot] {
            Slot::Items { next, .. } | Slot::Each { next, .. } => *next = done + n,
            Slot::None | Slot::Selected(_) => {}
        }
        Ok(true)
    }

    /// The bytes that so many turns together may take: an array that they make each, and those of
    /// the lists that they make longer, stand one by one.
    fn room_of_turns(&self, at: At<'_>, plan: &Plan, lists: &[Array], n: usize) -> u64 {
        let mut read: Vec<Sym> = plan.codes.values().flat_map(|(_, syms)| syms.clone()).collect();
        read.sort_unstable();
        read.dedup();
        let own = read.iter().filter_map(|sym| match self.lookup(at, *sym) {
            Some(Value::Array(a)) => Some(bytes(&a)),
            _ => None,
        });
        let longer = plan.sent.iter().filter_map(|sym| match self.lookup(at, *sym) {
            Some(Value::Array(a)) if !a.is_uniform() => Some(a.len()),
            _ => None,
        });
        let arrays = ((longer.sum::<usize>() + n) * size_of::<Array>()) as u64;
        ROOM.0 + ROOM.1 * (own.sum::<u64>() + arrays + lists.iter().map(bytes).sum::<u64>())
    }
}

/// Puts ascending turns among others, which ascend as well and are none of them.
fn put_among(there: &mut Vec<u32>, turns: &[u32]) {
    let (mut i, mut j) = (there.len(), turns.len());
    there.extend_from_slice(turns);
    // From the end on: each goes where nothing is that is still to move.
    for k in (0..there.len()).rev() {
        if j == 0 {
            break;
        }
        if i > 0 && there[i - 1] > turns[j - 1] {
            i -= 1;
            there[k] = there[i];
        } else {
            j -= 1;
            there[k] = turns[j];
        }
    }
}

impl Eval<'_> {
    /// Goes on at the place of a step of turns, whose time and launches are told there.
    fn stands_at(&mut self, place: &Place) {
        (self.cx.sys.source, self.cx.sys.span) = (Some(place.source.clone()), place.span);
        if self.cx.host.follows() {
            self.cx.host.begins(place);
        }
    }
}

impl Flat<'_, '_> {
    /// The items that a loop has left.
    fn left(&mut self, list: &Array, done: usize, n: usize) -> Result<Cells> {
        if list.rank() == 0 {
            return Ok(Cells::Same(list.disclosed()));
        }
        let list = crate::functions::shape::reshaped(&mut self.ev.cx, list, &[list.len()])?;
        let left = match done {
            0 if n == list.len() => list,
            _ => match list.is_uniform() || list.pieces().is_some() || list.split().is_some() {
                true => stretch(self.ev, &list, done, n)?,
                false => {
                    let out = self.ev.cx.budget().each((done..done + n).map(|k| list.item(k)))?;
                    self.ev.cx.collect(&[n], out, None)?
                }
            },
        };
        self.given(&left)
    }

    /// A loop, all of its turns: each step for those that come to it. Jumps but the last one go
    /// forward, so a step is done when all that may come have come.
    fn block(
        &mut self,
        call: &Rc<Call>,
        plan: &Plan<'_>,
        (from, to): (usize, usize),
        items: Vec<Cells>,
        around: Option<Around>,
    ) -> Result<()> {
        let Act::For { names, each, .. } = &plan.steps.steps[from - 1].act else {
            return Err(bug!("a turn of no loop"));
        };
        let level = self.levels.len();
        let block = Block { first: from, level, versions: Vec::new(), around };
        self.turns_mut()?.blocks.push(block);
        match (names, each) {
            (Pattern::All(names), true) => {
                for (name, items) in names.iter().zip(items) {
                    self.items_to(name, items, from - 1)?;
                }
            }
            (names, _) => {
                let Some(items) = items.into_iter().next() else { return refuse("a loop of none") };
                self.items_to(names, items, from - 1)?;
            }
        }
        let n = self.count();
        let mut waiting: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        let first = self.ev.cx.budget().each(0..n as u32)?;
        waiting.insert(from + 1, first);
        while let Some((k, turns)) = waiting.pop_first() {
            self.ev.cx.host.interrupt().check()?;
            if k + 1 == to || k == from {
                continue;
            }
            let mut goes = |to_step: usize, turns: Vec<u32>| {
                if !(from..to).contains(&to_step) || to_step <= k && to_step != from {
                    return refuse("a turn ends the loop");
                }
                let next = plan.beyond_jumps(to_step, to);
                if turns.is_empty() || to_step == from || next + 1 == to {
                    return Ok(());
                }
                put_among(waiting.entry(next).or_default(), &turns);
                Ok(())
            };
            let here: Option<Rc<[u32]>> = match turns.len() == n {
                true => None,
                false => Some(self.places(turns.iter().copied())?),
            };
            let step = &plan.steps.steps[k];
            self.ev.stands_at(&step.place(&call.frame.closure.ast));
            match &step.act {
                Act::Run(_) => {
                    self.some(&here, |flat| flat.statement_of_turns(call, plan, k, &here))?;
                    goes(k + 1, turns)?;
                }
                Act::Test { holds, to, .. } => {
                    let (yes, no) = self.some(&here, |flat| {
                        let v = flat.value_of_turns(call, plan, k, &here)?;
                        flat.parted(&v)
                    })?;
                    let of = |own: Vec<u32>| match here {
                        None => own,
                        Some(_) => own.into_iter().map(|k| turns[k as usize]).collect(),
                    };
                    let (jumps, stays) = if *holds { (yes, no) } else { (no, yes) };
                    goes(*to, of(jumps))?;
                    goes(k + 1, of(stays))?;
                }
                Act::Jump(to) => goes(*to, turns)?,
                Act::For { .. } => {
                    let Some(Act::Next { done, .. }) = plan.steps.steps.get(k + 1).map(|s| &s.act)
                    else {
                        return Err(bug!("a loop without turns"));
                    };
                    self.some(&here, |flat| flat.inner(call, plan, (k, *done), &here))?;
                    goes(*done, turns)?;
                }
                _ => return refuse("a step of it happens once a turn"),
            }
        }
        self.end_of_block()
    }

    /// Runs among some of the turns of a loop.
    fn some<T>(
        &mut self,
        turns: &Option<Rc<[u32]>>,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        match turns {
            None => run(self),
            Some(turns) => self.among(turns.clone(), run),
        }
    }

    /// An inner loop, the turns of all those of now.
    fn inner(
        &mut self,
        call: &Rc<Call>,
        plan: &Plan<'_>,
        (k, done): (usize, usize),
        here: &Option<Rc<[u32]>>,
    ) -> Result<()> {
        let Act::For { names: Pattern::Name(_), each: false, .. } = &plan.steps.steps[k].act else {
            return refuse("an inner loop is over several arrays");
        };
        let depth = self.turns_mut()?.blocks.len();
        if depth >= DEEP {
            return refuse("loops stand too deep");
        }
        let of = self.value_of_turns(call, plan, k, here)?;
        let Some((items, ends)) = self.items_inside(&of, Empty::None)? else {
            return refuse("the items of an inner loop are not at hand");
        };
        if items.len() > MOST {
            return refuse("an inner loop has too many turns");
        }
        let mut from = self.ev.cx.budget().room(items.len())?;
        let mut start = 0;
        for (cell, &end) in ends.iter().enumerate() {
            from.extend(std::iter::repeat_n(cell as u32, (end - start) as usize));
            start = end;
        }
        // Whatever the inner loop gives a name is not what these turns gave it.
        let (mut given, mut names) = (Vec::new(), Vec::new());
        for step in k..done {
            if let Act::For { names: own, .. } = &plan.steps.steps[step].act {
                names_of(own, &mut given);
            }
            if let Some((resolved, _)) = plan.codes.get(&step) {
                given_by(&resolved.code.ins, &mut given);
            }
        }
        for (_, mentions) in plan.codes.range(k..done).map(|(_, known)| known) {
            for sym in mentions {
                let known = names.iter().any(|(s, _)| s == sym) || given.contains(sym);
                if !known && self.turns_mut()?.changes(*sym) {
                    names.extend(self.visible(*sym, here)?.map(|v| (*sym, v)));
                }
            }
        }
        let of: Rc<[u32]> = from.into();
        let around = Around { step: k, here: here.clone(), of: of.clone(), names };
        self.among(of, |flat| {
            let items = flat.each_of(items);
            flat.block(call, plan, (k + 1, done), vec![items], Some(around))
        })?;
        for sym in given {
            if !self.turns_mut()?.sends_to(sym) {
                self.new_version(sym, Version { turns: here.clone(), value: None, step: k })?;
            }
        }
        Ok(())
    }

    /// Items to the names of a loop.
    fn items_to(&mut self, names: &Pattern, items: Cells, step: usize) -> Result<()> {
        match names {
            Pattern::Name(sym) => {
                self.new_version(*sym, Version { turns: None, value: Some(items), step })
            }
            Pattern::All(all) => {
                let each = self.items_of(&items, all.len())?;
                let mut pairs = all.iter().zip(each);
                pairs.try_for_each(|(name, items)| self.items_to(name, items, step))
            }
            Pattern::System(_) | Pattern::Member(_) => refuse("a loop has other names"),
        }
    }

    fn turns_mut(&mut self) -> Result<&mut Turns> {
        self.turns.as_mut().ok_or_else(|| bug!("no turns are under way"))
    }

    fn new_version(&mut self, sym: Sym, version: Version) -> Result<()> {
        let Some(block) = self.turns_mut()?.blocks.last_mut() else {
            return Err(bug!("a turn of no loop"));
        };
        let k = match block.versions.iter().position(|(s, _)| *s == sym) {
            Some(k) => k,
            None => {
                block.versions.push((sym, Vec::new()));
                block.versions.len() - 1
            }
        };
        let all = &mut block.versions[k].1;
        if version.turns.is_none() {
            all.clear();
        }
        all.push(version);
        Ok(())
    }

    /// The value that a name has in the turns of now, if each has given it one.
    fn visible(&mut self, sym: Sym, here: &Option<Rc<[u32]>>) -> Result<Option<Cells>> {
        let (n, now) = (self.count(), self.levels.len());
        let blocks = &self.turns_mut()?.blocks;
        let own = |block: &Block| block.versions.iter().position(|(s, _)| *s == sym);
        let Some(block) = blocks.last() else { return Ok(None) };
        let Some(k) = own(block) else {
            let around = block.around.as_ref().map_or(&[][..], |around| &around.names);
            return Ok(around.iter().find(|(s, _)| *s == sym).map(|(_, v)| v.clone()));
        };
        let versions = &block.versions[k].1;
        let level = block.level;
        let Some(latest) = versions.last() else { return Ok(None) };
        let at = |v: &Cells, level: usize| match v {
            Cells::Each(a, _) => Cells::Each(a.clone(), level),
            same => same.clone(),
        };
        let same = match (&latest.turns, here) {
            (None, _) => return Ok(latest.value.as_ref().map(|v| at(v, level))),
            (Some(own), Some(here)) => own == here,
            (Some(_), None) => false,
        };
        if same {
            return Ok(latest.value.as_ref().map(|v| at(v, now)));
        }
        // Each turn has that of the latest version which is its own.
        let mut parts: Vec<(usize, Vec<u32>, Vec<u32>)> = Vec::new();
        for k in 0..n as u32 {
            let turn = here.as_ref().map_or(k, |here| here[k as usize]);
            let mut own = versions.iter().enumerate().rev();
            let Some((v, place)) = own.find_map(|(v, own)| Some((v, own.place(turn)?))) else {
                return Ok(None);
            };
            match parts.iter_mut().find(|part| part.0 == v) {
                Some(part) => {
                    part.1.push(k);
                    part.2.push(place);
                }
                None => parts.push((v, vec![k], vec![place])),
            }
        }
        let mut known = Vec::new();
        for (v, cells, places) in parts {
            let Some(value) = versions[v].value.clone() else { return Ok(None) };
            known.push((cells, places, value));
        }
        let mut all = Vec::new();
        for (cells, places, value) in known {
            let value = match value {
                Cells::Each(a, _) => Cells::Each(self.taken(&a, &places)?, now),
                same => same,
            };
            all.push((Rc::from(cells), value));
        }
        let made = self.together(n, all)?;
        Ok(Some(at(&made, now)))
    }

    /// The names that a phrase mentions, as the turns of now have them.
    fn names_for(
        &mut self,
        call: &Rc<Call>,
        plan: &Plan<'_>,
        (step, mentions): (usize, &[Sym]),
        here: &Option<Rc<[u32]>>,
    ) -> Result<()> {
        let mut names: Vec<(Sym, Cells)> = Vec::new();
        for sym in mentions {
            let changes = self.turns_mut()?.changes(*sym);
            if changes && !names.iter().any(|(s, _)| s == sym) {
                let mut known = self.visible(*sym, here)?;
                // What every turn before it has sent is known: the name has a running value.
                if known.is_none()
                    && plan.is_sent_before(*sym, step)
                    && let Some(value) = self.running_value(*sym)?
                {
                    let version = Version { turns: None, value: Some(value), step };
                    self.new_version(*sym, version)?;
                    known = self.visible(*sym, here)?;
                }
                names.extend(known.map(|v| (*sym, v)));
            }
        }
        *call.names.borrow_mut() = names;
        Ok(())
    }

    /// The value of a condition, or of what an inner loop is over.
    fn value_of_turns(
        &mut self,
        call: &Rc<Call>,
        plan: &Plan<'_>,
        k: usize,
        here: &Option<Rc<[u32]>>,
    ) -> Result<Cells> {
        let Some((resolved, mentions)) = plan.codes.get(&k) else {
            return Err(bug!("a step without code"));
        };
        self.names_for(call, plan, (k, mentions), here)?;
        let flow = self.code(call, &resolved.code, false)?;
        self.keep(call, &resolved.code.ins, (k, here))?;
        match flow {
            Flow::Value(v) => Ok(v),
            Flow::Tail(..) | Flow::Nothing => refuse("a condition has no value"),
        }
    }

    /// A statement for the turns of now.
    fn statement_of_turns(
        &mut self,
        call: &Rc<Call>,
        plan: &Plan<'_>,
        k: usize,
        here: &Option<Rc<[u32]>>,
    ) -> Result<()> {
        let Some((resolved, mentions)) = plan.codes.get(&k) else {
            return Err(bug!("a step without code"));
        };
        self.names_for(call, plan, (k, mentions), here)?;
        if let Some(sym) = changed_by(&resolved.code.ins)
            && plan.sent.contains(&sym)
        {
            return self.send(call, &resolved.code.ins, sym, (k, here));
        }
        self.code(call, &resolved.code, false)?;
        self.keep(call, &resolved.code.ins, (k, here))
    }

    /// Values that a phrase gave names are those of the turns of now.
    pub(super) fn keep(
        &mut self,
        call: &Rc<Call>,
        ins: &[Ins],
        (step, here): (usize, &Option<Rc<[u32]>>),
    ) -> Result<()> {
        let mut names = Vec::new();
        given_by(ins, &mut names);
        for sym in names {
            let found = call.names.borrow().iter().find(|(s, _)| *s == sym).map(|(_, v)| v.clone());
            let Some(v) = found else { return Err(bug!("a name that got a value has none")) };
            let value = Some(self.here(&v)?);
            self.new_version(sym, Version { turns: here.clone(), value, step })?;
        }
        Ok(())
    }

    /// The last values of names, as a loop leaves them.
    fn end_of_block(&mut self) -> Result<()> {
        let n = self.count();
        let turns = self.turns_mut()?;
        let Some(mut block) = turns.blocks.pop() else { return Err(bug!("a turn of no loop")) };
        // What is sent to a name says what it comes to.
        block.versions.retain(|(sym, _)| !turns.sends_to(*sym));
        let last = |v: &Version| match &v.turns {
            None => Some(n as u32 - 1),
            Some(turns) => turns.last().copied(),
        };
        let end = |(sym, versions): &(Sym, Vec<Version>)| {
            let own = versions.iter().filter(|v| v.value.is_some());
            let v = own.max_by_key(|v| (last(v), v.step))?;
            Some((*sym, last(v)?, v.step, v.value.clone()?))
        };
        let ends: Vec<_> = block.versions.iter().filter_map(end).collect();
        for (sym, turn, step, value) in ends {
            let a = match value {
                Cells::Same(a) => a,
                Cells::Each(a, _) => {
                    let a = self.ev.cx.ready_outer(&a)?;
                    a.item(a.len() - 1)
                }
            };
            // The order of values is that of the turns, from the outermost loop in.
            let (mut path, mut at, mut of) = (vec![(turn, step)], turn, &block.around);
            let turns = self.turns_mut()?;
            let mut blocks = turns.blocks.iter().rev();
            while let Some(around) = of {
                let k = around.of[at as usize];
                at = around.here.as_ref().map_or(k, |here| here[k as usize]);
                path.insert(0, (at, around.step));
                of = blocks.next().map_or(&None, |block| &block.around);
            }
            match turns.ends.iter_mut().find(|(s, ..)| *s == sym) {
                Some(end) if end.1 < path => (end.1, end.2) = (path, a),
                Some(_) => {}
                None => turns.ends.push((sym, path, a)),
            }
        }
        Ok(())
    }

    /// The names that the turns change, and what they hold behind them.
    fn changes_of_turns(&mut self) -> Result<Vec<(Sym, Array)>> {
        let mut out = Vec::new();
        let turns = self.turns_mut()?;
        let (ends, events) = (std::mem::take(&mut turns.ends), std::mem::take(&mut turns.events));
        for (sym, _, a) in ends {
            out.push((sym, self.ev.cx.ready(&a, "loop")?));
        }
        for sym in self.turns_mut()?.sent.clone() {
            let own: Vec<&Event> = events.iter().filter(|e| e.sym == sym).collect();
            if !own.is_empty() {
                out.push((sym, self.after(sym, &own)?));
            }
        }
        Ok(out)
    }
}

/// The names that a phrase gives values, but for those that it sends something to.
fn given_by(ins: &[Ins], out: &mut Vec<Sym>) {
    for ins in ins {
        match &ins.what {
            Do::Assign(sym) | Do::Modify(sym, _) | Do::Append(sym, _) => out.push(*sym),
            Do::AssignIndex { sym, .. } => out.push(*sym),
            Do::AssignPattern(names, _) => drop(names_of(names, out)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::put_among;

    #[test]
    fn turns_that_meet_again_ascend() {
        for (a, b) in [(vec![], vec![1]), (vec![1], vec![]), (vec![0, 3, 4], vec![1, 2, 9])] {
            let mut there: Vec<u32> = a.clone();
            put_among(&mut there, &b);
            let mut wanted = [a, b].concat();
            wanted.sort_unstable();
            assert_eq!(there, wanted);
        }
    }
}

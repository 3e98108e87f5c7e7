//! Steps: statements with jumps, as functions of lines and texts with control words have them.
//!
//! `Walk` is where a run of steps stands: the next step, the loops, what is selected, the traps. A
//! step is done by `Eval::act`; who walks (a call of a function, a text at the top) decides what an
//! error ends.

use super::numbers::{COPIES, LoopAt, Outermost};
use super::run::{At, Eval, Holds, Outcome};
use super::space::Space;
use super::value::{Func, Oper, Trad, Value};
use crate::functions::search::matches;
use crate::syntax::ast::{PhraseId, TradId};
use crate::syntax::resolve::Pattern;
use crate::syntax::steps::{Act, Region, Steps};
use crate::syntax::{Ast, Sym};
use aplomb_ground::error::{
    Error, Kind, Result, bug, domain, leaving, length, rank, syntax, untraced, value,
};
use aplomb_ground::limits::{Interrupt, Rounds, UNKNOWN};
use aplomb_values::array::Array;
use std::rc::Rc;

/// The place where a run of steps stands.
#[derive(Default)]
pub struct Walk {
    /// The next step.
    pub at: usize,
    slots: Vec<Slot>,
    /// Loops that went round, and how often all of them did.
    turns: Vec<Turns>,
    all: usize,
    /// Items that loops in registers may copy.
    allowance: usize,
    /// The events of each trap, once it began.
    events: Vec<Vec<i64>>,
    /// The numbers of the error that a trap caught last.
    caught: Option<Rc<Error>>,
    /// The namespaces that were entered.
    inside: Vec<Inside>,
    /// The outermost `:For` under way, by its slot.
    way: Option<(Loop, Rounds)>,
}

/// A loop whose way is told.
enum Loop {
    /// Over the items of a slot.
    Items(usize),
    /// From a step to the one that jumps back: it ends when it ends.
    Until(std::ops::RangeInclusive<usize>),
}

/// A namespace that was entered.
struct Inside {
    space: Rc<Space>,
    /// The one around it, and the one that a `:With` around had entered.
    outer: Rc<Space>,
    before: Option<Rc<Space>>,
    /// The steps that run in it, however they are left.
    steps: std::ops::Range<usize>,
}

/// Turns of a loop before it is tried in registers.
const HOT: usize = 32;
/// The same of a loop over items that has at least so many before it: they pay for the reading.
const EARLY: (usize, usize) = (8, 64);

/// Turns of a loop over items that are tried together before such registers as are no machine code.
const MANY: usize = 200;

/// The turns of a loop.
struct Turns {
    /// The step that jumps back.
    jump: usize,
    done: usize,
    /// Its turns and those of loops within it, and the turns of the run when it took the last.
    work: usize,
    seen: usize,
    /// The work after which it is tried in registers.
    tried_at: usize,
}

/// The state of a loop or a selection.
#[derive(Clone, Default)]
pub(super) enum Slot {
    #[default]
    None,
    /// Items of an array, one a turn.
    Items {
        of: Array,
        next: usize,
    },
    /// Items of as many arrays as names, side by side.
    Each {
        of: Vec<Array>,
        turns: usize,
        next: usize,
    },
    Selected(Array),
}

impl Slot {
    /// The turns of a loop that are over, and those that it has in all.
    pub(super) fn turns(&self) -> (usize, usize) {
        match self {
            Slot::Items { of, next } => (*next, of.len()),
            Slot::Each { turns, next, .. } => (*next, *turns),
            Slot::None | Slot::Selected(_) => (0, 0),
        }
    }
}

impl Walk {
    /// A run that begins.
    pub fn new(steps: &Steps) -> Walk {
        let slots = std::iter::repeat_n(Slot::None, steps.slots).collect();
        let events = std::iter::repeat_n(Vec::new(), steps.traps.len()).collect();
        Walk { slots, events, allowance: COPIES.0, ..Walk::default() }
    }

    /// The namespace that the next step runs in; None: the one where the walk began.
    pub fn space(&self) -> Option<&Rc<Space>> {
        self.inside.last().map(|inside| &inside.space)
    }

    /// The innermost trap around a step that catches an error.
    fn trap(&self, steps: &Steps, step: usize, e: &Error) -> Option<usize> {
        let around = |k: &usize| (steps.traps[*k].from..steps.traps[*k].to).contains(&step);
        let catches = |k: &usize| catches(&self.events[*k], e);
        (0..steps.traps.len()).rev().filter(around).find(catches)
    }

    /// Whether the way from a step to another leaves a trap.
    pub fn leaves_trap(&self, steps: &Steps, from: usize, to: usize) -> bool {
        let around = |t: &Region, step: usize| (t.from..t.to).contains(&step);
        steps.traps.iter().any(|t| around(t, from) && !around(t, to))
    }

    /// Whether a trap stands around a step.
    pub fn is_trapped(&self, steps: &Steps, step: usize) -> bool {
        steps.traps.iter().any(|t| (t.from..t.to).contains(&step))
    }

    /// Goes a jump that is no more than that: forward, or back in a loop that is not tried in
    /// registers in this turn. False: the next step is another one.
    pub fn jumps(&mut self, steps: &Steps, interrupt: &Interrupt) -> bool {
        let now = self.at;
        let Some(Act::Jump(to)) = steps.steps.get(now).map(|step| &step.act) else { return false };
        if *to < now {
            let tried = |t: &Turns| t.jump == now && t.work + 1 >= t.tried_at;
            if self.turns.iter().any(tried) {
                return false;
            }
        }
        self.at = *to;
        if *to < now {
            self.turn(steps, now, interrupt);
        }
        true
    }

    /// A loop goes round again, by the jump that stands there: it is counted, and its way is told.
    /// The place of its turns.
    fn turn(&mut self, steps: &Steps, jump: usize, interrupt: &Interrupt) -> usize {
        let k = match self.turns.iter().position(|t| t.jump == jump) {
            Some(known) => known,
            None => {
                self.turns.push(Turns { jump, done: 0, work: 0, seen: 0, tried_at: HOT });
                self.turns.len() - 1
            }
        };
        self.all += 1;
        let turns = &mut self.turns[k];
        turns.done += 1;
        turns.work += self.all - turns.seen;
        turns.seen = self.all;
        match &self.way {
            None if !matches!(steps.steps[self.at].act, Act::Next { .. }) => {
                self.way = Some((Loop::Until(self.at..=jump), interrupt.rounds(UNKNOWN)));
            }
            Some((Loop::Until(own), way)) if *own.end() == jump => {
                way.done(self.turns[k].done as u64);
            }
            _ => {}
        }
        self.allowance = self.allowance.saturating_add(COPIES.1);
        k
    }

    /// A loop goes on, or is over, for whoever shows how far it is.
    fn tell(&mut self, slot: usize, goes: bool) {
        match &self.way {
            Some((Loop::Items(own), way)) if *own == slot && goes => {
                way.done(self.slots[slot].turns().0.saturating_sub(1) as u64);
            }
            Some((Loop::Items(own), _)) if *own == slot => self.way = None,
            _ => {}
        }
    }

    /// Goes on where the trap around a step sends an error to. Err: none catches it.
    pub fn catch(&mut self, steps: &Steps, step: usize, e: Error) -> Result<Rc<Error>> {
        let Some(trap) = self.trap(steps, step, &e) else { return Err(e) };
        self.at = steps.traps[trap].handler;
        let e = Rc::new(e);
        self.caught = Some(e.clone());
        Ok(e)
    }
}

/// Whether an error is one of some events: 0 is any error, 1000 an interrupt.
pub fn catches(events: &[i64], e: &Error) -> bool {
    match e.kind() {
        Kind::Interrupt => events.contains(&1000) || events.contains(&1003),
        Kind::Internal | Kind::Untraced | Kind::Exit => false,
        _ => events.contains(&0) || events.contains(&i64::from(e.number())),
    }
}

impl Eval<'_> {
    /// Does the next step of a walk. A statement's value is shown, or kept and given back.
    pub fn act(
        &mut self,
        at: At<'_>,
        steps: &Steps,
        walk: &mut Walk,
        keep: bool,
    ) -> Result<Option<Array>> {
        let now = walk.at;
        walk.at += 1;
        let is_left = |own: &Loop| matches!(own, Loop::Until(steps) if !steps.contains(&now));
        walk.way.take_if(|(own, _)| is_left(own));
        while let Some(left) = walk.inside.pop_if(|inside| !inside.steps.contains(&now)) {
            self.goes_out(left);
        }
        if self.cx.host.follows() {
            self.cx.host.begins(&steps.steps[now].place(at.ast));
        }
        match &steps.steps[now].act {
            Act::Run(phrase) => return self.top(at, *phrase, keep),
            Act::Jump(to) => {
                walk.at = *to;
                if *to < now {
                    self.again(at, steps, walk, now)?;
                }
            }
            Act::Test { cond, holds, to } => {
                let truth = match self.holds(at, *cond, "a condition")? {
                    Holds::Yes => true,
                    Holds::No => false,
                    Holds::Cells(_) => {
                        return Err(untraced("a control word's condition is each cell's own"));
                    }
                };
                if truth == *holds {
                    walk.at = *to;
                }
            }
            Act::Next { slot, done } => {
                let Act::For { names, .. } = &steps.steps[now - 1].act else {
                    return Err(bug!("a turn of no loop"));
                };
                let goes = self.turn_of(at, names, &mut walk.slots[*slot])?;
                if !goes {
                    walk.at = *done;
                }
                walk.tell(*slot, goes);
            }
            Act::For { slot, names, each, of } => {
                let of = self.worth(at, *of)?;
                let own = LoopAt::new(at.ast, steps, walk.at);
                if !each && self.turns_at_once(at, own, &of)? {
                    let next = of.len();
                    walk.slots[*slot] = Slot::Items { of, next };
                    return Ok(None);
                }
                // Cells of a pending array would be computed one by one, a launch for each.
                let of = match of.split() {
                    Some(rows) if rows.node.frame().is_none() => {
                        Array::rows(self.cx.ready(&rows.node, "loop")?, rows.at)
                    }
                    _ => self.cx.ready_outer(&of)?,
                };
                walk.slots[*slot] = match each {
                    false => Slot::Items { of, next: 0 },
                    true => self.side_by_side(names, &of)?,
                };
                let turns = walk.slots[*slot].turns().1;
                if walk.way.is_none() {
                    let rounds = self.cx.host.interrupt().rounds(turns as u64);
                    walk.way = Some((Loop::Items(*slot), rounds));
                }
                if turns >= MANY && self.st.programs.runs_together(own) == Some(true) {
                    self.turns_together(at, steps, walk.at, &mut walk.slots)?;
                }
            }
            Act::Branch(to) => self.branch(at, steps, walk, *to)?,
            Act::Define(id) => {
                let made = self.tradfn(at.ast, *id);
                self.define(at, at.ast.tradfn(*id).name, made)?;
            }
            Act::Select { slot, of } => {
                let of = self.worth(at, *of)?;
                walk.slots[*slot] = Slot::Selected(self.cx.ready(&of, "select")?);
            }
            Act::Case { slot, of, list, otherwise } => {
                let of = self.worth(at, *of)?;
                let of = self.cx.ready(&of, "select")?;
                let Slot::Selected(selected) = &walk.slots[*slot] else {
                    return Err(syntax("this case belongs to no selection that began"));
                };
                let values = if *list { of.in_turn().collect() } else { vec![of] };
                let mut found = false;
                for value in values {
                    let same = matches(&mut self.cx, selected, &value.disclosed(), None)?;
                    found |= same.number_scalar() == Some(1.0);
                }
                if !found {
                    walk.at = *otherwise;
                }
            }
            Act::Trap { trap, events } => {
                self.cx.unframed("a trap")?;
                let events = self.events(at, *events)?;
                // What was written before the trap fails outside of it.
                self.cx.settle(&[], "trap")?;
                walk.events[*trap] = events;
            }
            Act::Caught { events, otherwise } => {
                let events = self.events(at, *events)?;
                if !walk.caught.as_ref().is_some_and(|e| catches(&events, e)) {
                    walk.at = *otherwise;
                }
            }
            Act::Enter(sym) => {
                self.cx.unframed("a namespace is made")?;
                let name = sym.map_or("[Namespace]".into(), |sym| self.st.symbols.name(sym));
                let outer = self.st.here.clone();
                // Its lines make it anew.
                let space = self.new_space(&name);
                match sym {
                    Some(sym) => self.set(at, *sym, Value::Array(space.value()))?,
                    None => self.st.unnamed = Some(space.clone()),
                }
                self.go_to(&space);
                let before = self.enters(None);
                walk.inside.push(Inside { space, outer, before, steps: 0..usize::MAX });
            }
            Act::Leave => {
                if let Some(left) = walk.inside.pop() {
                    self.goes_out(left);
                }
            }
            Act::With { of, end } => {
                let of = self.worth(at, *of)?;
                let space = self.space_of(&of)?;
                self.cx.unframed("another namespace")?;
                let outer = self.go_to(&space);
                let before = self.enters(Some(&space));
                walk.inside.push(Inside { space, outer, before, steps: walk.at..*end });
            }
            Act::Evaluate(phrase) => {
                self.worth(at, *phrase)?;
            }
            Act::Misplaced(says) => return Err(syntax(*says)),
        }
        Ok(None)
    }

    /// Notes the space that the running function's `:With` enters; the one before.
    fn enters(&mut self, space: Option<&Rc<Space>>) -> Option<Rc<Space>> {
        let call = self.st.calls.last_mut()?;
        std::mem::replace(&mut call.within, space.cloned())
    }

    /// Back to the space around one that was entered.
    fn goes_out(&mut self, left: Inside) {
        self.go_to(&left.outer);
        self.enters(left.before.as_ref());
    }

    /// A loop goes round again, by the jump that stands there. One that does so often is tried in
    /// registers; after as many turns in vain, again after eight times as many.
    fn again(&mut self, at: At<'_>, steps: &Steps, walk: &mut Walk, jump: usize) -> Result<()> {
        let k = walk.turn(steps, jump, self.cx.host.interrupt());
        let (first, turns) = (walk.at, &walk.turns[k]);
        let left = match steps.steps[first].act {
            Act::Next { slot, .. } => walk.slots[slot].turns(),
            _ => (0, 0),
        };
        let left = left.1.saturating_sub(left.0);
        let own = LoopAt::new(at.ast, steps, first);
        let early = turns.tried_at == HOT
            && match turns.done {
                1 => self.st.programs.knows_loop(own, jump + 1),
                _ => turns.work == EARLY.0 && left >= EARLY.1,
            };
        if turns.work < turns.tried_at && !early {
            return Ok(());
        }
        let way = walk.way.as_ref().and_then(|(own, rounds)| match own {
            Loop::Items(slot) => Some((Outermost::Items(*slot), rounds)),
            Loop::Until(own) if *own.end() == jump => {
                Some((Outermost::Turns(walk.turns[k].done), rounds))
            }
            Loop::Until(_) => None,
        });
        // What a few turns left would copy serves the loop around better, which comes to its own.
        let most = match steps.steps[first].act {
            Act::Next { .. } => COPIES.0.saturating_add(COPIES.1.saturating_mul(left)),
            _ => usize::MAX,
        };
        let mut allowance = walk.allowance.min(most);
        let kept = walk.allowance - allowance;
        // A loop on items alone is machine code; what works on rows and texts takes less by steps
        // for many turns, unless a loop within has turns of its own.
        let within = &steps.steps[first + 1..jump];
        let alone = within.iter().all(|step| !matches!(step.act, Act::Next { .. }));
        let turns_within = turns.work / turns.done.max(1);
        let known = self.st.programs.runs_together(own);
        let only = known.is_none() && alone && left >= MANY;
        let mut together = known == Some(true);
        let mut runs = together && self.turns_together(at, steps, first, &mut walk.slots)?;
        for only in [only, false] {
            if !runs {
                let (steps_of, ends) = ((first, jump + 1), (&mut walk.slots[..], &mut walk.at));
                let copies = (&mut allowance, turns_within, only);
                runs = self.loop_by_numbers(at, steps, steps_of, ends, copies, way)?;
            }
            if !runs && !together {
                together = true;
                runs = self.turns_together(at, steps, first, &mut walk.slots)?;
            }
            if !only {
                break;
            }
        }
        walk.allowance = kept.saturating_add(allowance);
        if !runs {
            let tried_at = &mut walk.turns[k].tried_at;
            *tried_at = if early { *tried_at } else { tried_at.saturating_mul(8) };
            return Ok(());
        }
        // An inner loop that begins again is known to fit.
        let seen = walk.all;
        walk.turns[k] = Turns { jump, done: HOT - 1, work: HOT - 1, seen, tried_at: HOT };
        for step in &steps.steps[first..=jump] {
            if let Act::Next { slot, .. } = step.act {
                let (done, all) = walk.slots[slot].turns();
                walk.tell(slot, done < all);
            }
        }
        Ok(())
    }

    /// The value of a phrase that must have one.
    fn worth(&mut self, at: At<'_>, phrase: PhraseId) -> Result<Array> {
        match self.phrase(at, phrase, false)?.0 {
            Outcome::Array(a) => Ok(a),
            Outcome::Nothing => Err(value("a value is needed here")),
            _ => Err(syntax("a value is needed here, not a function")),
        }
    }

    fn events(&mut self, at: At<'_>, phrase: PhraseId) -> Result<Vec<i64>> {
        let events = self.worth(at, phrase)?;
        self.cx.integers(&events, "an event number")
    }

    /// The arrays of `:InEach`, one a name.
    fn side_by_side(&mut self, names: &Pattern, of: &Array) -> Result<Slot> {
        let count = match names {
            Pattern::All(names) => names.len(),
            _ => 1,
        };
        if of.rank() > 1 {
            return Err(rank(":InEach takes a vector of arrays, one for each name"));
        }
        if of.len() != count {
            return Err(length(format!("{count} names for {} arrays", of.len())));
        }
        let items = (0..count).map(|k| self.cx.ready_outer(&of.item(k)));
        let of: Vec<Array> = items.collect::<Result<_>>()?;
        let turns = of.iter().filter(|a| a.rank() > 0).map(Array::len).max();
        if of.iter().any(|a| a.rank() > 0 && Some(a.len()) != turns) {
            return Err(length("the arrays of :InEach differ in length"));
        }
        Ok(Slot::Each { of, turns: turns.map_or(1, |n| n), next: 0 })
    }

    /// The names of a loop get their next items. False: there are none.
    fn turn_of(&mut self, at: At<'_>, names: &Pattern, slot: &mut Slot) -> Result<bool> {
        match slot {
            Slot::Items { of, next } => {
                if *next >= of.len() {
                    return Ok(false);
                }
                let item = if of.rank() == 0 { of.disclosed() } else { of.item(*next) };
                *next += 1;
                self.spread(at, names, None, &item)?;
            }
            Slot::Each { of, turns, next } => {
                if next >= turns {
                    return Ok(false);
                }
                for (k, a) in of.iter().enumerate() {
                    let item = if a.rank() == 0 { a.disclosed() } else { a.item(*next) };
                    let name = match names {
                        Pattern::All(names) => &names[k],
                        one => one,
                    };
                    self.spread(at, name, None, &item)?;
                }
                *next += 1;
            }
            _ => return Err(syntax("this loop was entered by a branch: it has no items")),
        }
        Ok(true)
    }

    /// `→`: to the line that is the first item; nothing where there is none.
    pub fn branch(
        &mut self,
        at: At<'_>,
        steps: &Steps,
        walk: &mut Walk,
        to: PhraseId,
    ) -> Result<()> {
        let phrase = at.ast.phrase(to);
        if self.st.calls.is_empty() {
            return match phrase.items.is_empty() {
                true => Err(leaving()),
                false => Err(syntax("→ goes to a line of a ∇ function, and none runs here")),
            };
        }
        if phrase.items.is_empty() {
            return Err(leaving());
        }
        let to = match self.phrase(at, to, false)?.0 {
            Outcome::Array(a) => a,
            Outcome::Nothing => return Ok(()),
            _ => return Err(domain("a branch goes to the number of a line")),
        };
        if to.rank() > 1 {
            return Err(rank("a branch goes to the number of a line"));
        }
        let to = self.cx.ready_outer(&to)?;
        if to.is_empty() {
            return Ok(());
        }
        let first = if to.rank() == 0 { to.clone() } else { to.item(0) };
        let line = self.cx.one_integer(&first, "the number of a line")?;
        let known = u32::try_from(line).ok().filter(|line| *line > 0);
        walk.at = match known {
            Some(line) => steps.steps.partition_point(|s| s.line < line),
            None => steps.steps.len(),
        };
        Ok(())
    }

    /// Gives a name a function of lines. Names that held the function which it was until now hold
    /// the new one, too.
    pub fn define(&mut self, at: At<'_>, sym: Sym, made: Value) -> Result<()> {
        let lines = |v: &Value| match v {
            Value::Func(f) => match &**f {
                Func::Trad(t) => Some(t.clone()),
                _ => None,
            },
            Value::Oper(Oper::Trad(t)) => Some(t.clone()),
            _ => None,
        };
        if let Some(old) = self.st.globals.get(sym).and_then(lines) {
            let is_old = |v: &Value| lines(v).is_some_and(|t| Rc::ptr_eq(&t, &old));
            let names = self.st.globals.iter().filter(|(other, v)| *other != sym && is_old(v));
            let names: Vec<Sym> = names.map(|(other, _)| other).collect();
            for other in names {
                self.set_global(other, Some(made.clone()));
            }
        }
        self.set(at, sym, made)
    }

    /// A function of lines as a value.
    pub fn tradfn(&mut self, ast: &Rc<Ast>, id: TradId) -> Value {
        let home = self.st.here.clone();
        let made = Rc::new(Trad { ast: ast.clone(), id, home });
        match made.tradfn().operands.is_empty() {
            true => Value::Func(Rc::new(Func::Trad(made))),
            false => Value::Oper(Oper::Trad(made)),
        }
    }
}

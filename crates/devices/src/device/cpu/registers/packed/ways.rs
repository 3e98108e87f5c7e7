//! Loops on numbers whose turns may go four at a time: which steps each lane takes by itself, what
//! is carried from turn to turn, and where four turns must go one by one after all.
//!
//! A number that a turn gives before it reads it is the lane's own. One that is only added to,
//! multiplied or raised is a *fold*: its four values follow from the four items. Anything else that
//! is carried makes the four turns go one by one where a lane would give it another value, which is
//! the rare way of `:If x>most ⋄ most←x ⋄ :EndIf`. Items that are set stand where no other lane
//! reads, or are only added to.

use super::super::words::Kind;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::short::SMALL_CT;
use aplomb_values::registers::{Arg, Do, Function, List};

/// Longer turns have no such code.
const LONG: usize = 40;

/// The way of a step of a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// For each lane that comes to it.
    Each,
    /// The four turns go one by one if a lane comes to it.
    Single,
    /// A number that is folded: `slot ← slot op y`. `again`: another step of a turn folds it too;
    /// `running`: the turn reads it afterwards.
    Fold { op: Op, slot: u16, y: Arg, again: bool, running: bool },
    /// The step before has done it.
    Done,
}

/// A loop whose turns may go four at a time.
#[derive(Clone, Debug)]
pub struct Pack {
    /// The step that takes the next item, and the jump back.
    pub head: usize,
    pub end: usize,
    /// The steps between, without copies, and the way of each.
    pub steps: Vec<Do>,
    pub ways: Vec<Way>,
    /// The items of the loop are places one after the other, as in its first turns.
    pub counted: bool,
    /// Lists of which items are set that the turn reads before.
    pub met: Vec<u16>,
}

impl Pack {
    /// The step of the turn that a jump goes to, its end included; None: it leaves the loop.
    pub fn inside(&self, to: u32) -> Option<usize> {
        inside((self.head, self.end), to)
    }

    /// The name of the loop, which holds its item.
    pub fn name(step: &Do) -> Option<u16> {
        match step {
            Do::Next { slot, .. } | Do::CountOn { slot, .. } => Some(*slot),
            _ => None,
        }
    }
}

/// The loops of a function that may go so.
pub fn packs(of: &Function, lists: &[List<'_>], (ct, io): (f64, f64)) -> Vec<Pack> {
    let steps = &of.steps[..];
    if ct > SMALL_CT {
        return Vec::new();
    }
    let back = |(at, step): (usize, &Do)| match step {
        Do::Jump(to) if (*to as usize) < at => Some((*to as usize, at)),
        _ => None,
    };
    let mut loops: Vec<(usize, usize)> = Vec::new();
    for (head, end) in steps.iter().enumerate().filter_map(back) {
        loops.retain(|(known, _)| *known != head);
        loops.push((head, end));
    }
    let kinds: Vec<Kind> = lists.iter().map(Kind::of).collect();
    let of = |&(head, end): &(usize, usize)| {
        let counted = match steps[head] {
            Do::Next { of, .. } => counts(&lists[of as usize], io),
            _ => true,
        };
        let body = Vec::from(steps.get(head + 1..end)?);
        let mut reader = Reader { steps, body, kinds: &kinds, head, end, counted, kept: of.kept };
        reader.fits()?;
        reader.simplify();
        reader.pack()
    };
    loops.iter().filter_map(of).collect()
}

/// True of a list that begins with places one after the other.
fn counts(list: &List<'_>, io: f64) -> bool {
    const LOOKED_AT: usize = 8;
    match list {
        List::Shared(view, None) if view.len() >= LOOKED_AT => {
            (0..LOOKED_AT).all(|k| view.number(k) == view.number(0) + k as f64)
                && view.number(0) >= io
        }
        _ => false,
    }
}

/// True of operations that have a form for four lanes.
pub fn is_packed(op: Op) -> bool {
    use Op::*;
    match op.arity() {
        1 => matches!(op, Neg | Abs | Not | Floor | Ceil),
        _ => matches!(
            op,
            Add | Sub
                | Mul
                | Div
                | Eq
                | Ne
                | Lt
                | Le
                | Ge
                | Gt
                | Max
                | Min
                | Residue
                | Lcm
                | Gcd
                | Pow
        ),
    }
}

fn inside((head, end): (usize, usize), to: u32) -> Option<usize> {
    let to = to as usize;
    match to {
        _ if to == head => Some(end),
        _ if (head + 1..=end).contains(&to) => Some(to),
        _ => None,
    }
}

/// The numbers that a step reads.
fn reads(step: &Do) -> Vec<Arg> {
    match *step {
        Do::One { y, .. }
        | Do::Copy { y, .. }
        | Do::Set { y, .. }
        | Do::Unless { y, .. }
        | Do::Append { y, .. }
        | Do::Find { y, .. } => vec![y],
        Do::Two { x, y, .. } => vec![x, y],
        Do::Item { at, .. } => vec![at],
        Do::Known { at, .. } => vec![Arg::Register(at)],
        Do::Place { row, column, .. } => vec![row, column],
        Do::SetItem { at, y, .. } => vec![at, y],
        Do::SetKnown { at, y, .. } => vec![Arg::Register(at), y],
        _ => Vec::new(),
    }
}

/// The register that a step writes.
fn written(step: &Do) -> Option<u16> {
    match *step {
        Do::One { into, .. }
        | Do::Two { into, .. }
        | Do::Copy { into, .. }
        | Do::Item { into, .. }
        | Do::Known { into, .. }
        | Do::Place { into, .. }
        | Do::Tally { into, .. }
        | Do::Columns { into, .. }
        | Do::Find { into, .. }
        | Do::Pick { into, .. }
        | Do::Call { into, .. } => Some(into),
        _ => None,
    }
}

/// The list that a step changes.
fn changed(step: &Do) -> Option<u16> {
    match step {
        Do::SetItem { of, .. } | Do::SetKnown { of, .. } | Do::Append { of, .. } => Some(*of),
        _ => None,
    }
}

/// A step with other numbers in the place of those that it reads.
fn with_reads(step: Do, to: impl Fn(Arg) -> Arg) -> Do {
    let register = |k: u16| match to(Arg::Register(k)) {
        Arg::Register(other) => other,
        Arg::Fixed(_) => k,
    };
    match step {
        Do::One { op, into, y } => Do::One { op, into, y: to(y) },
        Do::Two { op, into, x, y } => Do::Two { op, into, x: to(x), y: to(y) },
        Do::Copy { into, y } => Do::Copy { into, y: to(y) },
        Do::Set { slot, y } => Do::Set { slot, y: to(y) },
        Do::Unless { y, then } => Do::Unless { y: to(y), then },
        Do::Append { of, y } => Do::Append { of, y: to(y) },
        Do::Find { into, of, y } => Do::Find { into, of, y: to(y) },
        Do::Item { into, of, at } => Do::Item { into, of, at: to(at) },
        Do::Known { into, of, at } => Do::Known { into, of, at: register(at) },
        Do::Place { into, of, row, column } => {
            Do::Place { into, of, row: to(row), column: to(column) }
        }
        Do::SetItem { of, at, op, y } => Do::SetItem { of, at: to(at), op, y: to(y) },
        Do::SetKnown { of, at, op, y } => Do::SetKnown { of, at: register(at), op, y: to(y) },
        other => other,
    }
}

/// A step that reads a list, with another register for what it reads.
fn with_into(step: Do, into: u16) -> Do {
    match step {
        Do::Item { of, at, .. } => Do::Item { into, of, at },
        Do::Known { of, at, .. } => Do::Known { into, of, at },
        Do::Place { of, row, column, .. } => Do::Place { into, of, row, column },
        other => other,
    }
}

struct Reader<'a> {
    steps: &'a [Do],
    /// The steps between head and end.
    body: Vec<Do>,
    kinds: &'a [Kind],
    head: usize,
    end: usize,
    counted: bool,
    /// Registers that are read behind the loop.
    kept: usize,
}

impl Reader<'_> {
    /// None: there is a loop within, or what no turn of numbers does, or a register is given that
    /// somebody reads when all turns are done: those of four turns are in lanes.
    fn fits(&self) -> Option<()> {
        let (head, end) = (self.head, self.end);
        Pack::name(&self.steps[head])?;
        if let Do::Next { of, .. } = self.steps[head] {
            (self.kinds[of as usize] != Kind::Other).then_some(())?;
        }
        let on = |k: usize, to: u32| to as usize > k || to as usize == head;
        let fits = |(k, step): (usize, &Do)| match step {
            Do::Jump(to) | Do::Unless { then: to, .. } => on(k, *to),
            Do::Next { .. } | Do::CountOn { .. } | Do::Over { .. } | Do::Count { .. } => false,
            Do::List(..) | Do::All(_) | Do::Again { .. } | Do::Give(_) | Do::CallOn { .. } => false,
            Do::Cut { .. } | Do::Pass(_) | Do::PassList(..) | Do::Taken { .. } => false,
            _ => true,
        };
        let n = self.body.len();
        let inner = |step: &Do| written(step).is_none_or(|k| usize::from(k) >= self.kept);
        let all = (head + 1..end).zip(&self.body).all(fits) && self.body.iter().all(inner);
        ((1..=LONG).contains(&n) && all).then_some(())
    }

    fn pack(mut self) -> Option<Pack> {
        let own = Pack::name(&self.steps[self.head])?;
        self.drop_copies(own);
        let (all, until) = self.activity();
        let mut ways: Vec<Way> = self.body.iter().map(|step| self.plain(step)).collect();
        self.registers()?;
        self.numbers(own, &until, &mut ways)?;
        let met = self.lists(own, &mut ways)?;
        for (way, step) in ways.iter_mut().zip(&self.body) {
            // Nobody reads what is copied.
            if let Do::Copy { into, .. } = *step
                && !self.body.iter().any(|step| reads(step).contains(&Arg::Register(into)))
            {
                *way = Way::Done;
            }
        }
        // Where every turn comes to such a step, there is nothing to gain.
        if ways.iter().zip(&all).any(|(way, all)| *way == Way::Single && *all) {
            return None;
        }
        let Reader { head, end, body: steps, counted, .. } = self;
        Some(Pack { head, end, steps, ways, met, counted })
    }

    /// Copies that nobody reads are such of the loop's name, which nothing here asks about.
    fn drop_copies(&mut self, own: u16) {
        for k in 0..self.body.len() {
            if let Do::Copy { into, .. } = self.body[k]
                && !self.body.iter().any(|step| reads(step).contains(&Arg::Register(into)))
            {
                self.body[k] = Do::Copy { into, y: Arg::Fixed(own) };
            }
        }
    }

    /// Reads what copies were made of, and what was read before, and adds to items where a sum with
    /// them is put in their place.
    fn simplify(&mut self) {
        let (_, until) = self.activity();
        // What was copied or read on one way says nothing where lanes of another come.
        let mut copies: Vec<(u16, Arg, usize)> = Vec::new();
        // What is read of lists that nothing changes.
        let mut known: Vec<(Do, u16, usize)> = Vec::new();
        let changed: Vec<u16> = self.body.iter().filter_map(changed).collect();
        for k in 0..self.body.len() {
            let at = self.head + 1 + k;
            copies.retain(|(.., until)| at < *until);
            let of = |arg: Arg| match arg {
                Arg::Register(r) => match copies.iter().find(|(own, ..)| *own == r) {
                    Some((_, y, _)) => *y,
                    None => arg,
                },
                fixed => fixed,
            };
            let mut step = with_reads(self.body[k], of);
            let into = written(&step);
            if let Some(into) = into {
                let reads_only = match step {
                    Do::Item { of, .. } | Do::Known { of, .. } => !changed.contains(&of),
                    Do::Place { .. } => true,
                    _ => false,
                };
                let blank = with_into(step, 0);
                let before = known.iter().find(|(own, _, until)| *own == blank && at < *until);
                if let (true, Some((_, register, _))) = (reads_only, before) {
                    step = Do::Copy { into, y: Arg::Register(*register) };
                }
                copies.retain(|(own, y, _)| *own != into && *y != Arg::Register(into));
                let mentions = |step: &Do| reads(step).contains(&Arg::Register(into));
                known.retain(|(own, register, _)| *register != into && !mentions(own));
                match step {
                    Do::Copy { into, y } => copies.push((into, y, until[k])),
                    _ if reads_only => known.push((with_into(step, 0), into, until[k])),
                    _ => {}
                }
            }
            if let Do::Set { slot, .. } = step {
                copies.retain(|(_, y, _)| *y != Arg::Fixed(slot));
                known.retain(|(own, ..)| !reads(own).contains(&Arg::Fixed(slot)));
            }
            self.body[k] = step;
        }
        self.added();
    }

    /// `list[at] ← list[at] + y` as `list[at] +← y`; what made the sum is a copy that nobody reads.
    fn added(&mut self) {
        for k in 2..self.body.len() {
            if let Some((step, at, made)) = self.sum_at(k) {
                self.body[k] = step;
                for (place, into) in made {
                    self.body[place] = Do::Copy { into, y: at };
                }
            }
        }
    }

    /// The step that adds to an item, where a step puts its sum there, the item's place, and the
    /// steps that read it and add, with their registers. None: it does something else.
    fn sum_at(&self, k: usize) -> Option<(Do, Arg, [(usize, u16); 2])> {
        let Do::SetItem { of, at, op: None, y: Arg::Register(sum) } = self.body[k] else {
            return None;
        };
        let last = |register: u16, before: usize| {
            (0..before).rev().find(|&j| written(&self.body[j]) == Some(register))
        };
        let j = last(sum, k)?;
        let Do::Two { op: op @ (Op::Add | Op::Sub), x, y, .. } = self.body[j] else { return None };
        let is_item = |arg: Arg| match arg {
            Arg::Register(r) => last(r, j).filter(|&i| {
                matches!(self.body[i], Do::Item { of: own, at: place, .. }
                    if own == of && place == at)
            }),
            Arg::Fixed(_) => None,
        };
        let (item, other) = match (is_item(x), is_item(y)) {
            (Some(i), None) => (i, y),
            (None, Some(i)) if op == Op::Add => (i, x),
            _ => return None,
        };
        let it = written(&self.body[item])?;
        let once = |register: u16| {
            let reads = self.body.iter().flat_map(reads);
            reads.filter(|arg| *arg == Arg::Register(register)).count() == 1
        };
        let straight = self.body[item..k]
            .iter()
            .all(|s| !matches!(s, Do::Jump(_) | Do::Unless { .. } | Do::Set { .. }));
        let lands = |step: &Do| match step {
            Do::Jump(to) | Do::Unless { then: to, .. } => {
                (self.head + 2 + item..=self.head + 1 + k).contains(&(*to as usize))
            }
            _ => false,
        };
        let fits = once(sum) && once(it) && straight && !self.body.iter().any(lands);
        let step = Do::SetItem { of, at, op: Some(op), y: other };
        fits.then_some((step, at, [(item, it), (j, sum)]))
    }

    /// Marks of the steps to which every turn comes, and for each step the one at which the lanes
    /// that come to it are met by others.
    fn activity(&self) -> (Vec<bool>, Vec<usize>) {
        let mut waiting: Vec<usize> = Vec::new();
        let mut out = (Vec::new(), Vec::new());
        for k in self.head + 1..self.end {
            waiting.retain(|to| *to > k);
            out.0.push(waiting.is_empty());
            out.1.push(waiting.iter().copied().fold(self.end, usize::min));
            match self.body[k - self.head - 1] {
                Do::Jump(to) | Do::Unless { then: to, .. } => {
                    waiting.extend(inside((self.head, self.end), to));
                }
                _ => {}
            }
        }
        out
    }

    /// The way of a step, whatever the others do.
    fn plain(&self, step: &Do) -> Way {
        let known = |of: u16| self.kinds[of as usize] != Kind::Other;
        let changes = |of: u16| self.kinds[of as usize].changes();
        let fits = match *step {
            Do::One { op, .. } | Do::Two { op, .. } => is_packed(op),
            Do::Copy { .. } | Do::Set { .. } | Do::Unless { .. } | Do::Jump(_) => true,
            Do::Item { of, .. } | Do::Known { of, .. } | Do::Place { of, .. } => known(of),
            Do::Tally { of, .. } | Do::Columns { of, .. } => known(of),
            Do::Find { of, .. } => self.kinds[of as usize].is_whole(),
            Do::SetItem { of, op, .. } | Do::SetKnown { of, op, .. } => {
                changes(of) && matches!(op, None | Some(Op::Add | Op::Sub))
            }
            Do::Append { of, .. } => self.kinds[of as usize] == Kind::Grows,
            _ => false,
        };
        if fits { Way::Each } else { Way::Single }
    }

    /// None: a register is read that an earlier turn wrote, on whatever way to that step. It is
    /// known at a step where every way there writes it; jumps go forward alone, so one walk finds
    /// that, with what is known on each way that waits for a step.
    fn registers(&self) -> Option<()> {
        let mut known: Option<Vec<u16>> = Some(Vec::new());
        let mut waiting: Vec<(usize, Vec<u16>)> = Vec::new();
        for (at, step) in (self.head + 1..).zip(&self.body) {
            for (_, other) in waiting.iter().filter(|(to, _)| *to == at) {
                known = Some(match known {
                    Some(own) => own.into_iter().filter(|k| other.contains(k)).collect(),
                    None => other.clone(),
                });
            }
            // None: no way comes here.
            if let Some(now) = &mut known {
                let carried = |arg: &Arg| match arg {
                    Arg::Register(k) => {
                        !now.contains(k) && self.body.iter().any(|s| written(s) == Some(*k))
                    }
                    Arg::Fixed(_) => false,
                };
                if reads(step).iter().any(carried) {
                    return None;
                }
                now.extend(written(step));
                if let Do::Jump(to) | Do::Unless { then: to, .. } = *step {
                    let way = inside((self.head, self.end), to).map(|to| (to, now.clone()));
                    waiting.extend(way);
                }
            }
            if matches!(step, Do::Jump(_)) {
                known = None;
            }
        }
        Some(())
    }

    /// The ways of the steps that give names numbers.
    fn numbers(&self, own: u16, until: &[usize], ways: &mut [Way]) -> Option<()> {
        let body = 0..self.body.len();
        let mut slots: Vec<u16> = Vec::new();
        for k in body.clone() {
            if let Do::Set { slot, .. } = self.body[k]
                && !slots.contains(&slot)
            {
                slots.push(slot);
            }
        }
        // The loop's own numbers are its head's.
        let (next, end) = match self.steps[self.head] {
            Do::Next { next, .. } => (next, next),
            Do::CountOn { next, end, .. } => (next, end),
            _ => return None,
        };
        if slots.iter().any(|slot| [own, next, end].contains(slot)) {
            return None;
        }
        for slot in slots {
            let sets: Vec<usize> = body
                .clone()
                .filter(|&k| matches!(self.body[k], Do::Set { slot: s, .. } if s == slot))
                .collect();
            let read: Vec<usize> = body
                .clone()
                .filter(|&k| reads(&self.body[k]).contains(&Arg::Fixed(slot)))
                .collect();
            let first = sets[0];
            let until = until[first] - self.head - 1;
            // What each lane has given itself before it reads it.
            if read.iter().all(|&k| first < k && k < until) {
                continue;
            }
            if !self.folds(slot, &sets, &read, ways) {
                sets.iter().for_each(|&k| ways[k] = Way::Single);
            }
        }
        Some(())
    }

    /// True of a number that a turn only folds; then its steps' ways say so.
    fn folds(&self, slot: u16, sets: &[usize], read: &[usize], ways: &mut [Way]) -> bool {
        let own = Arg::Fixed(slot);
        let mut folds = Vec::new();
        for &k in sets {
            let Do::Set { y: Arg::Register(q), .. } = self.body[k] else { return false };
            let before = k.checked_sub(1).map(|k| self.body[k]);
            let Some(Do::Two { op, into, x, y }) = before else { return false };
            let comes_between = |step: &Do| match step {
                Do::Jump(to) | Do::Unless { then: to, .. } => *to as usize == self.head + 1 + k,
                _ => false,
            };
            if into != q || self.body.iter().any(comes_between) {
                return false;
            }
            let turns = matches!(op, Op::Add | Op::Mul | Op::Max | Op::Min);
            let y = match (x == own, y == own) {
                (true, false) if turns || op == Op::Sub => y,
                (false, true) if turns => x,
                _ => return false,
            };
            folds.push((k, op, y, q));
        }
        // Another step of the turn may read what a single fold came to, by the name or not.
        let first = folds[0];
        let by_register = |k: usize, q: u16| reads(&self.body[k]).contains(&Arg::Register(q));
        let beyond = |k: &usize, set: usize| *k != set && *k != set - 1;
        let others: Vec<usize> = (0..self.body.len())
            .filter(|k| folds.iter().all(|(set, ..)| beyond(k, *set)))
            .filter(|k| read.contains(k) || folds.iter().any(|(.., q)| by_register(*k, *q)))
            .collect();
        let running = !others.is_empty();
        if running && (folds.len() > 1 || others.iter().any(|&k| k < first.0)) {
            return false;
        }
        let one_op = folds.iter().all(|(_, op, ..)| *op == first.1);
        if folds.len() > 1 && !(one_op && matches!(first.1, Op::Add | Op::Max | Op::Min)) {
            return false;
        }
        for &(k, op, y, _) in &folds {
            let again = folds.len() > 1;
            ways[k - 1] = Way::Fold { op, slot, y, again, running };
            ways[k] = Way::Done;
        }
        true
    }

    /// The lists whose changed items the turn reads. None: what is changed is read otherwise.
    fn lists(&self, own: u16, ways: &mut [Way]) -> Option<Vec<u16>> {
        let body = 0..self.body.len();
        let mut met = Vec::new();
        for k in body.clone() {
            let (of, op, grows) = match self.body[k] {
                Do::SetItem { of, op, .. } | Do::SetKnown { of, op, .. } => (of, op, false),
                Do::Append { of, .. } => (of, None, true),
                _ => continue,
            };
            if ways[k] == Way::Single {
                continue;
            }
            let sets_own =
                |k: usize| matches!(self.body[k], Do::SetItem { at, .. } if at == Arg::Fixed(own));
            // The loop goes over nothing that it changes.
            if matches!(self.steps[self.head], Do::Next { of: over, .. } if over == of) {
                return None;
            }
            for other in body.clone().filter(|&other| other != k && self.body[other].mentions(of)) {
                match self.body[other] {
                    Do::Append { .. } if grows => {}
                    Do::Place { .. } | Do::Columns { .. } | Do::Tally { .. } if !grows => {}
                    Do::Item { .. } | Do::Known { .. } if !grows && op.is_none() && other < k => {
                        if !met.contains(&of) {
                            met.push(of);
                        }
                    }
                    // Two ways of one turn that set the same item.
                    Do::SetItem { at, op: None, .. }
                        if op.is_none() && self.counted && at == Arg::Fixed(own) && sets_own(k) => {
                    }
                    _ => return None,
                }
            }
        }
        Some(met)
    }
}

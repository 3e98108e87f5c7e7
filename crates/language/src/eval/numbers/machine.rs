//! The machine that runs programs on numbers: registers, a stack of calls, the contents of outer
//! names. Those that change are copies; others are read where they lie.

use super::Name;
use super::found::Index;
use super::loops::Items;
use super::native::Native;
use super::program::{Catch, List, Program};
use super::stretches::Stretch;
use super::whole::{MOST, Memory};
use crate::eval::cx::Settings;
use crate::eval::host::Host;
use crate::eval::steps::catches;
use aplomb_ground::error::{Error, Kind, Result};
use aplomb_ground::limits::{Budget, Rounds};
use aplomb_values::array::Array;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::{self, Fail, near_integer};
use aplomb_values::prim::short::{one, two};
use aplomb_values::registers::{Arg, Do, OnList};

/// Calls between two looks at the interrupt, each of which tells how far the run is.
pub(super) const LOOK: usize = 1 << 12;

/// Bytes of a list without items.
const LISTS: usize = 64;

/// The contents of a name.
pub enum Held {
    Number(f64),
    List(List),
}

/// Numbers and lists: arguments, a value, many values one behind the other.
#[derive(Default)]
pub struct Values {
    pub numbers: Vec<f64>,
    pub lists: Vec<Stretch>,
}

/// The end of a run.
pub enum End {
    /// A value.
    Value(f64),
    /// A value of several registers, which are what was passed.
    Passed,
    /// A step of the evaluator.
    Step(usize),
}

/// A call that waits for another.
pub(super) struct Waits {
    /// The instruction that is next, in this function.
    function: u32,
    next: u32,
    /// Its first register, and its first list.
    base: usize,
    first: usize,
    /// The register of the value that it waits for.
    into: u16,
}

/// The way of a run, for whoever shows it, and what of the machine it is.
pub struct Way<'a> {
    pub rounds: &'a Rounds,
    pub is: Told,
}

#[derive(Clone, Copy)]
pub enum Told {
    /// The items of a loop that have begun.
    Items(Items),
    /// Turns of the outermost loop, behind so many.
    Turns(usize),
    /// Calls.
    Calls,
}

pub struct Machine {
    pub(super) ct: f64,
    pub(super) io: f64,
    /// ⎕PP.
    pub(super) pp: usize,
    /// Constants, then numbers of names.
    pub(super) fixed: Vec<f64>,
    pub(super) lists: Vec<List>,
    pub(super) registers: Vec<f64>,
    pub(super) own: Vec<Stretch>,
    /// Arguments of the next call, or a value that was given.
    pub passed: Values,
    pub(super) waiting: Vec<Waits>,
    pub(super) calls: usize,
    pub(super) next_look: usize,
    /// Turns of the loop whose steps the program is.
    pub(super) turns: usize,
    pub(super) native: Native,
    /// The indices of long lists, by the list.
    pub(super) found: Vec<(u16, Option<Index>)>,
    pub(super) memory: Memory,
    /// Items that are gone from the front of lists, where they still lie.
    pub(super) cuts: Vec<(u16, usize)>,
    /// The seed of the generator and the numbers that it gave, where the program draws some.
    pub(super) generator: Option<(u64, u64)>,
}

impl Machine {
    pub fn new(program: &Program, settings: &Settings) -> Machine {
        Machine {
            ct: settings.ct,
            io: settings.io,
            pp: settings.pp,
            fixed: program.constants.clone(),
            lists: program.lists.clone(),
            registers: Vec::new(),
            own: Vec::new(),
            passed: Values::default(),
            waiting: Vec::new(),
            calls: 0,
            next_look: LOOK,
            turns: 0,
            native: Native::of(program),
            found: Vec::new(),
            memory: Memory::default(),
            cuts: Vec::new(),
            generator: None,
        }
    }

    /// A name's contents.
    pub fn takes(&mut self, name: &Name, held: Held) {
        match held {
            Held::Number(x) => self.fixed[name.slot as usize] = x,
            Held::List(list) => self.lists[name.slot as usize] = list,
        }
    }

    /// The items of a loop under way, and the place of the next.
    pub fn goes_over(&mut self, items: Items, of: Array, next: usize) {
        self.lists[items.list as usize] = List::Shared(of);
        self.fixed[items.next as usize] = next as f64;
    }

    /// The place of a loop's next item.
    pub fn next_of(&self, items: Items) -> usize {
        self.fixed[items.next as usize] as usize
    }

    /// The names that the program may have changed, with what they are now.
    pub fn changed(mut self, program: &Program) -> impl Iterator<Item = (&Name, Held)> {
        program.names.iter().filter(|name| name.changes).map(move |name| {
            let slot = name.slot as usize;
            let held = match name.rank {
                0 => Held::Number(self.fixed[slot]),
                _ => Held::List(std::mem::replace(&mut self.lists[slot], List::EMPTY)),
            };
            (name, held)
        })
    }

    /// The calls that were made.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// The value of the program's first function, on numbers. None: only the evaluator goes on from
    /// here. Errors: INTERRUPT, WS FULL.
    pub fn call(
        &mut self,
        program: &Program,
        arguments: (Option<f64>, f64),
        depth: usize,
        (host, way): (&dyn Host, Option<&Way<'_>>),
    ) -> Result<Option<End>> {
        self.enter(program, 0, (0, 0), arguments, host.budget())?;
        self.run(program, depth, (host, way))
    }

    /// As `call`, on what was passed.
    pub fn call_on(
        &mut self,
        program: &Program,
        depth: usize,
        (host, way): (&dyn Host, Option<&Way<'_>>),
    ) -> Result<Option<End>> {
        self.enter_on(program, 0, (0, 0), host.budget())?;
        self.run(program, depth, (host, way))
    }

    fn run(
        &mut self,
        program: &Program,
        depth: usize,
        about: (&dyn Host, Option<&Way<'_>>),
    ) -> Result<Option<End>> {
        let ended = self.steps(program, depth, about);
        self.lets_go(None);
        match ended {
            // A guard may catch it.
            Err(e) if program.is_guarded && e.kind() == Kind::WsFull => Ok(None),
            end => end,
        }
    }

    fn steps(
        &mut self,
        program: &Program,
        depth: usize,
        (host, way): (&dyn Host, Option<&Way<'_>>),
    ) -> Result<Option<End>> {
        let budget = host.budget();
        let (mut function, mut base, mut first) = (0usize, 0usize, 0usize);
        self.waiting.clear();
        let mut at = self.begins(program, depth, (host, way))?;
        let mut steps = &program.code[function].steps[..];
        loop {
            'run: {
                loop {
                    let Some(step) = steps.get(at) else { break 'run };
                    at += 1;
                    self.lets_go(Some(step));
                    match *step {
                        Do::One { op, into, y } => {
                            let y = self.read(base, y);
                            let Some(z) = one(op, self.ct, y) else { break 'run };
                            self.registers[base + into as usize] = z;
                        }
                        Do::Two { op, into, x, y } => {
                            let (x, y) = (self.read(base, x), self.read(base, y));
                            let Some(z) = two(op, self.ct, x, y) else { break 'run };
                            self.registers[base + into as usize] = z;
                        }
                        Do::Copy { into, y } => {
                            self.registers[base + into as usize] = self.read(base, y);
                        }
                        Do::Pick { into, from, n, at: place } => {
                            let place = self.read(base, place);
                            let Ok(k) = scalar::place(place, self.io, n as usize, self.ct) else {
                                break 'run;
                            };
                            self.registers[base + into as usize] =
                                self.registers[base + from as usize + k];
                        }
                        Do::Unless { y, then } => {
                            let y = self.read(base, y);
                            let holds = match y {
                                0.0 => Some(0),
                                1.0 => Some(1),
                                y => near_integer(y, self.ct),
                            };
                            match holds {
                                Some(1) => {}
                                Some(0) => at = then as usize,
                                _ => break 'run,
                            }
                        }
                        Do::Call { .. }
                            if self.native.is_due_by_calls() && program.may_begin_again() =>
                        {
                            at = self.begins_again(program, depth, (host, way))?;
                            (function, base, first) = (0, 0, 0);
                            steps = &program.code[0].steps;
                        }
                        Do::Call { of, into, x, y } => {
                            let (x, y) = (x.map(|x| self.read(base, x)), self.read(base, y));
                            let (function_now, next) = (function as u32, at as u32);
                            let waits = Waits { function: function_now, next, base, first, into };
                            if !self.goes_in(waits, depth, (budget, way))? {
                                break 'run;
                            }
                            base += program.code[function].registers;
                            first += program.code[function].lists;
                            (function, at) = (of as usize, 0);
                            steps = &program.code[function].steps;
                            self.enter(program, function, (base, first), (x, y), budget)?;
                        }
                        Do::CallOn { of, into } => {
                            let (function_now, next) = (function as u32, at as u32);
                            let waits = Waits { function: function_now, next, base, first, into };
                            if !self.goes_in(waits, depth, (budget, way))? {
                                break 'run;
                            }
                            base += program.code[function].registers;
                            first += program.code[function].lists;
                            (function, at) = (of as usize, 0);
                            steps = &program.code[function].steps;
                            self.enter_on(program, function, (base, first), budget)?;
                        }
                        Do::AgainOn { of } => {
                            self.count(budget, way)?;
                            (function, at) = (of as usize, 0);
                            steps = &program.code[function].steps;
                            self.enter_on(program, function, (base, first), budget)?;
                        }
                        Do::Pass(y) => {
                            let y = self.read(base, y);
                            self.passed.numbers.push(y);
                        }
                        Do::PassList(of, last) => {
                            let list = self.list(first, of, last);
                            self.passed.lists.push(list);
                        }
                        Do::GivePassed => {
                            let Some(waits) = self.waiting.pop() else {
                                return Ok(Some(End::Passed));
                            };
                            (function, at) = (waits.function as usize, waits.next as usize);
                            steps = &program.code[function].steps;
                            (base, first) = (waits.base, waits.first);
                        }
                        Do::Taken { into, numbers, list, lists } => {
                            let from = base + into as usize;
                            self.registers[from..from + numbers as usize]
                                .copy_from_slice(&self.passed.numbers);
                            self.passed.numbers.clear();
                            let from = first + list as usize;
                            for (k, list) in self.passed.lists.drain(..lists as usize).enumerate() {
                                self.own[from + k] = list;
                            }
                        }
                        Do::List(on, last) => {
                            if self.on_list(on, last, (base, first), (host, program)).is_none() {
                                break 'run;
                            }
                        }
                        Do::Find { into, of, y } => {
                            let (y, ct) = (self.read(base, y), self.ct);
                            let near = self.lists[of as usize].place_of(y, ct);
                            let Some(k) =
                                near.or_else(|| self.place_in_long(program, of, y, budget))
                            else {
                                break 'run;
                            };
                            self.registers[base + into as usize] = k as f64;
                        }
                        Do::Cut { of, n, end } => {
                            if self.cut(of, n.into(), end).is_none() {
                                break 'run;
                            }
                        }
                        Do::Again { of, x, y } => {
                            let (x, y) = (x.map(|x| self.read(base, x)), self.read(base, y));
                            self.count(budget, way)?;
                            (function, at) = (of as usize, 0);
                            steps = &program.code[function].steps;
                            self.enter(program, function, (base, first), (x, y), budget)?;
                        }
                        Do::Give(y) => {
                            let z = self.read(base, y);
                            let Some(waits) = self.waiting.pop() else {
                                return Ok(Some(End::Value(z)));
                            };
                            (function, at) = (waits.function as usize, waits.next as usize);
                            steps = &program.code[function].steps;
                            (base, first) = (waits.base, waits.first);
                            self.registers[base + waits.into as usize] = z;
                        }
                        Do::Item { into, of, at: place } => {
                            let place = self.read(base, place);
                            let (list, gone) = (&self.lists[of as usize], self.cut_off(of));
                            let k = scalar::place(place, self.io, list.len() - gone, self.ct).ok();
                            let Some(item) = k.and_then(|k| list.item(gone + k)) else {
                                break 'run;
                            };
                            self.registers[base + into as usize] = item;
                        }
                        Do::Set { slot, y } => self.fixed[slot as usize] = self.read(base, y),
                        Do::SetItem { of, at: place, op, y } => {
                            let (place, y) = (self.read(base, place), self.read(base, y));
                            let extent = self.lists[of as usize].len();
                            let Ok(k) = scalar::place(place, self.io, extent, self.ct) else {
                                break 'run;
                            };
                            if !self.change(of, k, op, y) {
                                break 'run;
                            }
                        }
                        Do::Tally { into, of } => {
                            let list = &self.lists[of as usize];
                            let n = list.tally() - self.cut_off(of);
                            self.registers[base + into as usize] = n as f64;
                        }
                        Do::Columns { into, of } => {
                            let Some(columns) = self.lists[of as usize].columns() else {
                                break 'run;
                            };
                            self.registers[base + into as usize] = columns as f64;
                        }
                        Do::Append { of, y } => {
                            let y = self.read(base, y);
                            let List::Own(items, _) = &mut self.lists[of as usize] else {
                                break 'run;
                            };
                            // Without room the evaluator says so.
                            if budget.widen(items, 1).is_err() {
                                break 'run;
                            }
                            items.push(y);
                        }
                        Do::Place { into, of, row, column } => {
                            let (row, column) = (self.read(base, row), self.read(base, column));
                            let list = &self.lists[of as usize];
                            let Some(columns) = list.columns() else { break 'run };
                            let row = scalar::place(row, self.io, list.tally(), self.ct);
                            let column = scalar::place(column, self.io, columns, self.ct);
                            let (Ok(row), Ok(column)) = (row, column) else { break 'run };
                            self.registers[base + into as usize] = (row * columns + column) as f64;
                        }
                        Do::Known { into, of, at: place } => {
                            let k = self.registers[base + place as usize] as usize;
                            let Some(item) = self.lists[of as usize].item(k) else { break 'run };
                            self.registers[base + into as usize] = item;
                        }
                        Do::SetKnown { of, at: place, op, y } => {
                            let (k, y) = (
                                self.registers[base + place as usize] as usize,
                                self.read(base, y),
                            );
                            if !self.change(of, k, op, y) {
                                break 'run;
                            }
                        }
                        Do::Jump(to) => {
                            let back = (to as usize) < at;
                            at = to as usize;
                            if back {
                                self.turns += usize::from(to == 0);
                                self.count(budget, way)?;
                                if function == 0 && base == 0 && self.native.is_due() {
                                    at = self.natively(program, at, depth, (host, way))?;
                                }
                            }
                        }
                        Do::Over { next } => self.fixed[next as usize] = 0.0,
                        Do::Count { y, next, end } => {
                            let y = self.read(base, y);
                            let Some(n) = near_integer(y, self.ct).filter(|n| *n >= 0) else {
                                break 'run;
                            };
                            (self.fixed[next as usize], self.fixed[end as usize]) = (0.0, n as f64);
                        }
                        Do::Next { of, next, slot, done } => {
                            let (k, list) =
                                (self.fixed[next as usize] as usize, &self.lists[of as usize]);
                            if k >= list.len() {
                                at = done as usize;
                                continue;
                            }
                            let Some(item) = list.item(k) else { break 'run };
                            self.fixed[slot as usize] = item;
                            self.fixed[next as usize] += 1.0;
                        }
                        Do::CountOn { next, end, slot, done } => {
                            let k = self.fixed[next as usize];
                            if k >= self.fixed[end as usize] {
                                at = done as usize;
                                continue;
                            }
                            self.fixed[slot as usize] = k + self.io;
                            self.fixed[next as usize] = k + 1.0;
                        }
                        Do::All(on) => {
                            if self.on_all(on, base, host).is_none() {
                                break 'run;
                            }
                        }
                        Do::Leave(step) => return Ok(Some(End::Step(step))),
                    }
                }
            }
            let failed = (function, at.wrapping_sub(1));
            let Some(to) = self.catches(program, failed, (base, first)) else { return Ok(None) };
            ((function, at), (base, first)) = to;
            steps = &program.code[function].steps;
        }
    }

    /// The place of the expression of the error guard that catches what a step fails with, and the
    /// first register and list of its call. None: none does.
    fn catches(
        &mut self,
        program: &Program,
        (mut function, mut at): (usize, usize),
        (mut base, mut first): (usize, usize),
    ) -> Option<((usize, usize), (usize, usize))> {
        if program.catches.is_empty() {
            return None;
        }
        let step = program.code[function].steps.get(at)?;
        let is_fill = matches!(*step, Do::Item { at, .. } if program.is_front(at));
        let error = self.error_of(step, base).filter(|_| !is_fill)?;
        loop {
            let is_there = |c: &&Catch| c.function == function && c.steps.contains(&(at as u32));
            let all = program.catches.iter().filter(is_there);
            let latest = all.filter(|c| catches(&c.events, &error)).max_by_key(|c| c.place());
            if let Some(catch) = latest {
                self.passed = Values::default();
                return Some(((function, catch.then as usize), (base, first)));
            }
            let waits = self.waiting.pop()?;
            (function, at) = (waits.function as usize, waits.next as usize - 1);
            (base, first) = (waits.base, waits.first);
        }
    }

    /// The error that a step fails with. None: only the evaluator knows.
    fn error_of(&self, step: &Do, base: usize) -> Option<Error> {
        let fail = match *step {
            Do::One { op, y, .. } => scalar::eval(op, self.ct, self.read(base, y), 0.0).err()?,
            Do::Two { op, x, y, .. } => {
                scalar::eval(op, self.ct, self.read(base, x), self.read(base, y)).err()?
            }
            Do::Item { of, at, .. } => {
                let n = self.lists[of as usize].len() - self.cut_off(of);
                scalar::place(self.read(base, at), self.io, n, self.ct).err()?
            }
            Do::Pick { n, at, .. } => {
                scalar::place(self.read(base, at), self.io, n as usize, self.ct).err()?
            }
            _ => return None,
        };
        (!matches!(fail, Fail::Complex | Fail::Unending | Fail::Bug(_))).then(|| fail.error())
    }

    /// `list[k] ← y`, or `op← y`. False: it fails.
    fn change(&mut self, of: u16, k: usize, op: Option<Op>, y: f64) -> bool {
        let List::Own(items, _) = &mut self.lists[of as usize] else { return false };
        let new = match op {
            Some(op) => two(op, self.ct, items[k], y),
            None => Some(y),
        };
        new.inspect(|new| items[k] = *new).is_some()
    }

    /// Room for a call's registers, of which the first two are its arguments.
    fn enter(
        &mut self,
        program: &Program,
        function: usize,
        (base, first): (usize, usize),
        (x, y): (Option<f64>, f64),
        budget: &Budget,
    ) -> Result<()> {
        self.room(base + program.code[function].registers, budget)?;
        self.room_for_lists(first + program.code[function].lists, budget)?;
        self.registers[base] = y;
        if let Some(x) = x {
            self.registers[base + 1] = x;
        }
        Ok(())
    }

    /// Room for the registers and lists of a call, of which the first are what was passed.
    fn enter_on(
        &mut self,
        program: &Program,
        function: usize,
        (base, first): (usize, usize),
        budget: &Budget,
    ) -> Result<()> {
        self.room(base + program.code[function].registers, budget)?;
        let n = self.passed.numbers.len();
        self.registers[base..base + n].copy_from_slice(&self.passed.numbers);
        self.passed.numbers.clear();
        self.room_for_lists(first + program.code[function].lists, budget)?;
        for (k, list) in self.passed.lists.drain(..).enumerate() {
            self.own[first + k] = list;
        }
        Ok(())
    }

    fn room(&mut self, end: usize, budget: &Budget) -> Result<()> {
        let now = self.registers.len();
        if now < end {
            let mut more = budget.filled(0.0, end.max(2 * now))?;
            more[..now].copy_from_slice(&self.registers);
            self.registers = more;
        }
        Ok(())
    }

    fn room_for_lists(&mut self, end: usize, budget: &Budget) -> Result<()> {
        if self.own.len() < end {
            budget.has_room((end * LISTS) as u64)?;
            self.own.resize_with(end, Stretch::default);
        }
        Ok(())
    }

    /// A list of the call's own, which is taken away where nothing reads it again.
    fn list(&mut self, first: usize, of: u16, last: bool) -> Stretch {
        let list = &mut self.own[first + of as usize];
        if last { std::mem::take(list) } else { list.clone() }
    }

    /// A list to change, or to put so many items at an end of. None: there is no room to copy it,
    /// or it is too long for that.
    fn list_to_change(
        &mut self,
        (first, of, last): (usize, u16, bool),
        (more, front): (usize, bool),
        budget: &Budget,
    ) -> Option<Stretch> {
        let mut list = self.list(first, of, last);
        let copies = list.copies(more, front);
        if copies > 0 {
            // What is moved at once hears no interrupt.
            (list.len() + more <= MOST.0).then_some(())?;
            self.asks(copies * size_of::<f64>(), budget).ok()?;
            self.calls += copies / LOOK;
        }
        Some(list)
    }

    /// A step on lists of the call's own. None: it fails.
    fn on_list(
        &mut self,
        on: OnList,
        last: bool,
        (base, first): (usize, usize),
        (host, program): (&dyn Host, &Program),
    ) -> Option<()> {
        let budget = host.budget();
        let own = |machine: &Self, of: u16| machine.own[first + of as usize].clone();
        match on {
            OnList::Item { into, of, at } => {
                let at = self.read(base, at);
                let list = self.own[first + of as usize].items();
                let k = scalar::place(at, self.io, list.len(), self.ct).ok()?;
                self.registers[base + into as usize] = *list.get(k)?;
            }
            OnList::End { into, of, last, fill } => {
                let list = self.own[first + of as usize].items();
                let item = if last { list.last() } else { list.first() };
                self.registers[base + into as usize] = item.map_or(fill, |item| *item);
            }
            OnList::Tally { into, of } => {
                let n = self.own[first + of as usize].len();
                self.registers[base + into as usize] = n as f64;
            }
            OnList::Join { into, of, y, front } => {
                let y = self.read(base, y);
                let mut list = self.list_to_change((first, of, last), (1, front), budget)?;
                match front {
                    true => list.put_before(y)?,
                    false => list.put_behind(&[y])?,
                }
                self.own[first + into as usize] = list;
            }
            OnList::Both { into, of, with } => {
                let with = own(self, with);
                let mut list = self.list(first, of, last);
                if !list.joins(&with) {
                    self.own[first + of as usize] = list;
                    let more = (with.len(), false);
                    list = self.list_to_change((first, of, last), more, budget)?;
                    list.put_behind(with.items())?;
                    self.calls += with.len() / LOOK;
                }
                self.own[first + into as usize] = list;
            }
            OnList::Drop { into, of, n } => {
                let n = near_integer(self.read(base, n), self.ct)?;
                let mut list = self.list(first, of, last);
                let gone = (n.unsigned_abs() as usize).min(list.len());
                if n < 0 {
                    list.cut(0, list.len() - gone)
                } else {
                    list.cut(gone, list.len())
                }
                self.own[first + into as usize] = list;
            }
            OnList::Turn { into, of, n } => {
                let n = near_integer(self.read(base, n), self.ct)?;
                let mut list = self.list_to_change((first, of, last), (0, false), budget)?;
                if list.len() > 0 {
                    let n = n.rem_euclid(list.len() as i64) as usize;
                    list.changed()?.rotate_left(n);
                }
                self.own[first + into as usize] = list;
            }
            OnList::Reverse { into, of } => {
                let mut list = self.list_to_change((first, of, last), (0, false), budget)?;
                list.changed()?.reverse();
                self.own[first + into as usize] = list;
            }
            OnList::Set { into, of, at, op, y } => {
                let (at, y) = (self.read(base, at), self.read(base, y));
                let mut list = self.list_to_change((first, of, last), (0, false), budget)?;
                let k = scalar::place(at, self.io, list.len(), self.ct).ok()?;
                let slot = list.changed()?.get_mut(k)?;
                *slot = match op {
                    Some(op) => two(op, self.ct, *slot, y)?,
                    None => y,
                };
                self.own[first + into as usize] = list;
            }
            on => self.on_items(on, (base, first), (host, program))?,
        }
        Some(())
    }

    /// A call inside of another, which waits. False: as many stand in each other as may.
    #[inline]
    fn goes_in(
        &mut self,
        waits: Waits,
        depth: usize,
        (budget, way): (&Budget, Option<&Way<'_>>),
    ) -> Result<bool> {
        if self.waiting.len() + 1 >= depth {
            return Ok(false);
        }
        self.count(budget, way)?;
        self.waiting.push(waits);
        Ok(true)
    }

    fn count(&mut self, budget: &Budget, way: Option<&Way<'_>>) -> Result<()> {
        self.calls += 1;
        if self.calls >= self.next_look {
            self.next_look = self.calls + LOOK;
            if let Some(way) = way {
                way.rounds.done(self.gone(way.is) as u64);
            }
            budget.check()?;
        }
        Ok(())
    }

    /// The part of what is told that is over.
    fn gone(&self, is: Told) -> usize {
        match is {
            Told::Items(items) => self.next_of(items).saturating_sub(1),
            Told::Turns(before) => before + self.turns,
            Told::Calls => self.calls,
        }
    }

    #[inline]
    pub(super) fn read(&self, base: usize, arg: Arg) -> f64 {
        match arg {
            Arg::Register(k) => self.registers[base + k as usize],
            Arg::Fixed(k) => self.fixed[k as usize],
        }
    }
}

//! Many calls of one function as a loop of one program: on each of some items, or each on what the
//! one before gave.
//!
//! A call from outside takes some fifty nanoseconds, most of it for passing a few numbers. So the
//! function's instructions become the turn of a loop, which takes its arguments from lists where
//! they lie one behind the other and leaves its value in a list or for the next turn; the loop may
//! then be compiled. What the instructions are about stays where it was, and what the loop needs
//! comes behind it. A turn that fails ends the run as a call does, and nothing has happened.
//!
//! A state that is a vector stays one list of the loop where each turn puts items behind it (or
//! before it: then it lies from its end), changes some, or leaves it: `⊃{⍵,⍺×2}/`, `{⍵,f ⍵}⍣n`.

use super::form::{Form, Items};
use super::machine::{End, Machine, Told, Values, Way};
use super::program::{Catch, List, Program};
use super::runs::Left;
use super::stretches::Stretch;
use super::{COPIES, Forms};
use crate::eval::run::Eval;
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use aplomb_values::array::Array;
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, Do, Function, OnList};
use std::rc::Rc;

/// Fewer calls are not worth a loop.
const MANY: usize = 64;

/// The values of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// All, one behind the other.
    Each,
    /// The last one; each call is on the value before, from the last item on.
    Last,
}

/// An argument of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The value before.
    State,
    /// The same numbers each time.
    Same,
    /// Numbers of a list, as many each time.
    Items,
}

/// The calls of a loop: their values, and where the right argument and the left one come from.
pub type Calls = (Gives, From, Option<From>);

/// A function's calls as a loop, and where it finds and leaves numbers.
pub struct CallLoop {
    program: Program,
    /// The number of calls, and the place of the last.
    end: u16,
    last: u16,
    right: Place,
    left: Option<Place>,
    /// The list of values, and the numbers of one.
    out: u16,
    numbers: usize,
    /// The state where that is a list.
    grown: Option<Grown>,
}

/// A state that is a list.
#[derive(Clone)]
struct Grown {
    /// The list of the loop.
    list: u16,
    /// It lies from its end: items are put before it.
    turned: bool,
    /// The lists of a call's own that it is, each after the step that makes it.
    own: Vec<u16>,
}

/// The place of an argument's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    from: From,
    /// A list, or the first of so many fixed places.
    at: u16,
    size: u16,
}

/// Longer loops are not made.
const LONG: usize = 2_000;

/// The steps of a turn as they are made.
struct Maker<'a> {
    program: &'a mut Program,
    steps: Vec<Do>,
    registers: u16,
    next: u16,
    one: Arg,
    origin: Arg,
    /// The list that values go to; None: they are the next turn's argument.
    out: Option<u16>,
    /// The functions whose steps are under way, the innermost last.
    within: Vec<usize>,
    /// The numbers that the last call gave, where its steps stand here.
    given: Option<Vec<u16>>,
    /// The error guards among the steps.
    catches: Vec<Catch>,
    grown: Option<Grown>,
}

/// The place that a function's value goes to.
enum To {
    /// The value is that of the turn.
    Turn,
    /// A register gets it if it is a number, and these if numbers are passed; the step behind the
    /// call is next, to which these steps jump.
    Behind { into: u16, several: Vec<u16>, jumps: Vec<usize> },
}

/// A function's value.
#[derive(Clone, Copy)]
enum Value<'a> {
    /// A number.
    Number(Arg),
    /// Those of a vector or of items, which may be one: whoever called takes them from where they
    /// were passed to.
    Passed(&'a [u16]),
}

impl Value<'_> {
    fn numbers(&self) -> Vec<Arg> {
        match self {
            Value::Number(y) => vec![*y],
            Value::Passed(registers) => registers.iter().map(|k| Arg::Register(*k)).collect(),
        }
    }
}

/// The loop of a program's first function. None: its arguments or its value are more than numbers,
/// or it calls in ways that a turn cannot.
fn call_loop(
    program: &Program,
    gives: Gives,
    right: (&Form, From),
    left: Option<(&Form, From)>,
) -> Option<CallLoop> {
    let own = &program.code[0];
    let value = program.gives.as_ref()?;
    let only_numbers = |form: &Form| !form.has_lists();
    let grows = (gives, right.1) == (Gives::Last, From::State)
        && matches!(value, Form::List(_))
        && value == right.0;
    let all = grows || only_numbers(value) && only_numbers(right.0) && own.lists == 0;
    (all && left.is_none_or(|l| only_numbers(l.0))).then_some(())?;
    let mut program = program.clone();
    (program.native, program.begins_again, program.loops) = Default::default();
    let end = program.number(0.0)?;
    let (next, item, last) = (program.number(0.0)?, program.number(0.0)?, program.number(0.0)?);
    let (one, origin) = (program.number(1.0)?, program.number(program.io)?);
    let out = program.list(List::EMPTY)?;
    let place = |program: &mut Program, (form, from): (&Form, From)| {
        let size = u16::try_from(form.registers().0).ok()?;
        let at = match from {
            From::State => 0,
            From::Items => program.list(List::EMPTY)?,
            From::Same => (0..size).try_fold(None, |first: Option<u16>, _| {
                let at = program.number(0.0)?;
                Some(first.or(Some(at)))
            })??,
        };
        Some(Place { from, at, size })
    };
    let right = place(&mut program, right)?;
    let left = match left {
        Some(left) => Some(place(&mut program, left)?),
        None => None,
    };
    let registers = u16::try_from(own.registers).ok()?;
    let grown = match grows {
        false => None,
        true => Some(Grown { list: out, turned: puts_before(&own.steps)?, own: vec![0] }),
    };
    let mut maker = Maker {
        program: &mut program,
        steps: Vec::new(),
        registers,
        next,
        one: Arg::Fixed(one),
        origin: Arg::Fixed(origin),
        out: (gives == Gives::Each).then_some(out),
        within: Vec::new(),
        given: None,
        catches: Vec::new(),
        grown,
    };
    maker.turn((gives, end, item, last), right, left)?;
    let (steps, registers) = (maker.steps, maker.registers as usize);
    let (catches, grown) = (maker.catches, maker.grown);
    // A call within of the first function is one of the function that it was.
    program.code.push(own.clone());
    let behind = u16::try_from(program.code.len() - 1).ok()?;
    for step in program.code.iter_mut().skip(1).flat_map(|f| &mut f.steps) {
        if let Do::Call { of, .. }
        | Do::CallOn { of, .. }
        | Do::Again { of, .. }
        | Do::AgainOn { of, .. } = step
            && *of == 0
        {
            *of = behind;
        }
    }
    for catch in program.catches.iter_mut().filter(|c| c.function == 0) {
        catch.function = behind.into();
    }
    program.catches.extend(catches);
    let numbers = value.registers().0;
    let kept = if gives == Gives::Last { numbers } else { 0 };
    program.code[0] = Function { steps, registers, lists: 0, kept };
    Some(CallLoop { program, end, last, right, left, out, numbers, grown })
}

/// Whether steps put items before a list. None: some before it and some behind it.
fn puts_before(steps: &[Do]) -> Option<bool> {
    let mut fronts = steps.iter().filter_map(|step| match step {
        Do::List(OnList::Join { front, .. }, _) => Some(*front),
        _ => None,
    });
    let first = fronts.next().is_some_and(|front| front);
    fronts.all(|front| front == first).then_some(first)
}

impl Maker<'_> {
    fn register(&mut self) -> Option<u16> {
        self.registers = self.registers.checked_add(1)?;
        Some(self.registers - 1)
    }

    fn two(&mut self, op: Op, x: Arg, y: Arg) -> Option<u16> {
        let into = self.register()?;
        self.steps.push(Do::Two { op, into, x, y });
        Some(into)
    }

    /// All steps of the loop.
    fn turn(
        &mut self,
        (gives, end, item, last): (Gives, u16, u16, u16),
        right: Place,
        left: Option<Place>,
    ) -> Option<()> {
        self.steps.push(Do::CountOn { next: self.next, end, slot: item, done: 0 });
        let item = match gives {
            Gives::Each => Arg::Fixed(item),
            Gives::Last => Arg::Register(self.two(Op::Sub, Arg::Fixed(last), Arg::Fixed(item))?),
        };
        self.takes(right, 0, item)?;
        if let Some(left) = left {
            self.takes(left, right.size, item)?;
        }
        self.function(0, 0, &mut To::Turn)?;
        let behind = self.steps.len() as u32;
        if let Do::CountOn { done, .. } = &mut self.steps[0] {
            *done = behind;
        }
        self.steps.push(Do::Leave(0));
        Some(())
    }

    /// An argument's numbers go into registers from one on.
    fn takes(&mut self, place: Place, into: u16, item: Arg) -> Option<()> {
        match place.from {
            From::State => {}
            From::Same => {
                let copy = |k| Do::Copy { into: into + k, y: Arg::Fixed(place.at + k) };
                self.steps.extend((0..place.size).map(copy));
            }
            From::Items if place.size == 1 => {
                self.steps.push(Do::Item { into, of: place.at, at: item });
            }
            From::Items => {
                let size = Arg::Fixed(self.program.number(f64::from(place.size))?);
                let k = Arg::Register(self.two(Op::Sub, item, self.origin)?);
                let mut at = self.two(Op::Mul, k, size)?;
                for k in 0..place.size {
                    self.steps.push(Do::Known { into: into + k, of: place.at, at });
                    at = self.two(Op::Add, Arg::Register(at), self.one)?;
                }
            }
        }
        Some(())
    }

    /// A function's steps, with its arguments in registers from one on.
    fn function(&mut self, of: usize, base: u16, to: &mut To) -> Option<()> {
        let own = self.program.code[of].clone();
        let has_state = self.grown.is_some() && self.within.is_empty();
        let fits = own.lists == 0 || has_state;
        (fits && self.steps.len() + own.steps.len() < LONG).then_some(())?;
        self.within.push(of);
        let first = self.steps.len() as u32;
        let passes = own.steps.iter().filter(|step| matches!(step, Do::Pass(_))).count();
        let passed: Vec<u16> = (0..passes).map(|_| self.register()).collect::<Option<_>>()?;
        let (mut starts, mut jumps, mut n) = (Vec::new(), Vec::new(), 0);
        for (at, step) in own.steps.iter().map(|step| step.shifted(base)).enumerate() {
            starts.push(self.steps.len() as u32);
            match step {
                Do::Jump(to) if to as usize <= at => return None,
                Do::Unless { .. } | Do::Jump(_) => {
                    jumps.push(self.steps.len());
                    self.steps.push(step);
                }
                Do::Pass(y) => {
                    self.steps.push(Do::Copy { into: *passed.get(n)?, y });
                    n += 1;
                }
                Do::Give(y) => self.gives(to, Value::Number(y))?,
                Do::GivePassed => {
                    self.gives(to, Value::Passed(&passed[..n]))?;
                    n = 0;
                }
                Do::Again { of: next, x, y } => {
                    let all: Vec<Arg> = [Some(y), x].into_iter().flatten().collect();
                    self.goes_on((of, next as usize), (base, first), &all, to)?;
                }
                Do::AgainOn { of: next } => {
                    let all: Vec<Arg> = passed[..n].iter().map(|k| Arg::Register(*k)).collect();
                    self.goes_on((of, next as usize), (base, first), &all, to)?;
                    n = 0;
                }
                Do::Call { of: next, into, x, y } => {
                    let all: Vec<Arg> = [Some(y), x].into_iter().flatten().collect();
                    if self.call(next as usize, into, &all).is_none() {
                        let of = self.other(next);
                        self.steps.push(Do::Call { of, into, x, y });
                        self.given = None;
                    }
                }
                Do::CallOn { of: next, into } => {
                    let all: Vec<Arg> = passed[..n].iter().map(|k| Arg::Register(*k)).collect();
                    if self.call(next as usize, into, &all).is_none() {
                        let of = self.other(next);
                        self.steps.extend(all.iter().map(|y| Do::Pass(*y)));
                        self.steps.push(Do::CallOn { of, into });
                        self.given = None;
                    }
                    n = 0;
                }
                Do::Taken { lists: 0, into, numbers, .. } => match self.given.take() {
                    Some(given) => {
                        let each = (into..into + numbers).zip(given);
                        let copy = |(into, k)| Do::Copy { into, y: Arg::Register(k) };
                        self.steps.extend(each.map(copy));
                    }
                    None => self.steps.push(step),
                },
                Do::PassList(list, _) if has_state && self.is_state(list) => {}
                Do::List(on, last) if has_state => self.on_state(on, last)?,
                Do::PassList(..) | Do::Taken { .. } | Do::List(..) | Do::Leave(_) => return None,
                step => self.steps.push(step),
            }
        }
        starts.push(self.steps.len() as u32);
        for at in jumps {
            if let Do::Unless { then, .. } | Do::Jump(then) = &mut self.steps[at] {
                *then = *starts.get(*then as usize)?;
            }
        }
        for catch in self.program.catches.iter().filter(|c| c.function == of) {
            let at = |k: u32| starts.get(k as usize).copied();
            self.catches.push(Catch {
                function: 0,
                steps: at(catch.steps.start)?..at(catch.steps.end)?,
                then: at(catch.then)?,
                events: catch.events.clone(),
            });
        }
        self.within.pop();
        Some(())
    }

    /// Whether a list of a call's own is the state now.
    fn is_state(&self, list: u16) -> bool {
        self.grown.as_ref().is_some_and(|grown| grown.own.contains(&list))
    }

    /// A step on the state. None: it makes another list of it, or needs what it was before.
    fn on_state(&mut self, on: OnList, last: bool) -> Option<()> {
        let Grown { list, turned, .. } = *self.grown.as_ref()?;
        match on {
            OnList::Join { into, of, y, .. } if self.is_state(of) && last => {
                self.steps.push(Do::Append { of: list, y });
                self.grown.as_mut()?.own.push(into);
            }
            OnList::Set { into, of, at, op, y } if self.is_state(of) && last => {
                let at = self.place_of(list, turned, at)?;
                self.steps.push(Do::SetItem { of: list, at, op, y });
                self.grown.as_mut()?.own.push(into);
            }
            OnList::Item { into, of, at } if self.is_state(of) => {
                let at = self.place_of(list, turned, at)?;
                self.steps.push(Do::Item { into, of: list, at });
            }
            OnList::Tally { into, of } if self.is_state(of) => {
                self.steps.push(Do::Tally { into, of: list });
            }
            OnList::Place { into, of, y } if self.is_state(of) && !turned => {
                self.steps.push(Do::Find { into, of: list, y });
            }
            OnList::End { into, of, last, fill } if self.is_state(of) => {
                let fill = Arg::Fixed(self.program.number(fill)?);
                let n = self.register()?;
                self.steps.push(Do::Tally { into: n, of: list });
                let zero = Arg::Fixed(self.program.number(0.0)?);
                let some = Arg::Register(self.two(Op::Lt, zero, Arg::Register(n))?);
                self.steps.push(Do::Copy { into, y: fill });
                let jump = self.steps.len();
                self.steps.push(Do::Unless { y: some, then: 0 });
                let at = match last != turned {
                    true => {
                        let before = Arg::Fixed(self.program.number(self.program.io - 1.0)?);
                        Arg::Register(self.two(Op::Add, Arg::Register(n), before)?)
                    }
                    false => self.origin,
                };
                self.steps.push(Do::Item { into, of: list, at });
                self.steps[jump] = Do::Unless { y: some, then: self.steps.len() as u32 };
            }
            _ => return None,
        }
        Some(())
    }

    /// An index of the state, ⎕IO included, as one of the list that it lies in.
    fn place_of(&mut self, list: u16, turned: bool, at: Arg) -> Option<Arg> {
        if !turned {
            return Some(at);
        }
        let n = self.register()?;
        self.steps.push(Do::Tally { into: n, of: list });
        let ends = Arg::Fixed(self.program.number(2.0 * self.program.io - 1.0)?);
        let sum = self.two(Op::Add, Arg::Register(n), ends)?;
        self.two(Op::Sub, Arg::Register(sum), at).map(Arg::Register)
    }

    /// A value goes where it is wanted.
    fn gives(&mut self, to: &mut To, value: Value) -> Option<()> {
        match to {
            To::Turn => {
                for (k, y) in (0..).zip(value.numbers()) {
                    self.steps.push(match self.out {
                        Some(of) => Do::Append { of, y },
                        None => Do::Copy { into: k, y },
                    });
                }
                self.steps.push(Do::Jump(0));
            }
            To::Behind { into, several, jumps } => {
                match value {
                    Value::Number(y) => self.steps.push(Do::Copy { into: *into, y }),
                    Value::Passed(values) => {
                        while several.len() < values.len() {
                            several.push(self.register()?);
                        }
                        let each = several.iter().zip(value.numbers());
                        self.steps.extend(each.map(|(into, y)| Do::Copy { into: *into, y }));
                    }
                }
                jumps.push(self.steps.len());
                self.steps.push(Do::Jump(0));
            }
        }
        Some(())
    }

    /// The last call of a function: of itself, whose steps begin again, or of one that gives its
    /// value where this one would.
    fn goes_on(
        &mut self,
        (now, next): (usize, usize),
        (base, first): (u16, u32),
        all: &[Arg],
        to: &mut To,
    ) -> Option<()> {
        if now == next {
            // No argument is lost before it is read.
            let kept: Vec<u16> = all.iter().map(|_| self.register()).collect::<Option<_>>()?;
            let keep = kept.iter().zip(all).map(|(into, y)| Do::Copy { into: *into, y: *y });
            self.steps.extend(keep);
            let back = (base..).zip(&kept);
            self.steps.extend(back.map(|(into, k)| Do::Copy { into, y: Arg::Register(*k) }));
            self.steps.push(Do::Jump(first));
            return Some(());
        }
        if self.within.contains(&next) {
            return None;
        }
        let base = self.room(next, all)?;
        self.function(next, base, to)
    }

    /// A call's steps instead of the call. None: it is under way, or more than numbers, and
    /// nothing is changed.
    fn call(&mut self, of: usize, into: u16, all: &[Arg]) -> Option<()> {
        if self.within.contains(&of) {
            return None;
        }
        let (steps, registers, within) = (self.steps.len(), self.registers, self.within.len());
        let catches = self.catches.len();
        let mut to = To::Behind { into, several: Vec::new(), jumps: Vec::new() };
        let done = self.room(of, all).and_then(|base| self.function(of, base, &mut to));
        let (Some(()), To::Behind { several, jumps, .. }) = (done, to) else {
            self.steps.truncate(steps);
            self.registers = registers;
            self.within.truncate(within);
            self.catches.truncate(catches);
            return None;
        };
        let behind = self.steps.len() as u32;
        for at in jumps {
            self.steps[at] = Do::Jump(behind);
        }
        self.given = Some(several);
        Some(())
    }

    /// Registers for a function, with its arguments in the first of them.
    fn room(&mut self, of: usize, all: &[Arg]) -> Option<u16> {
        let base = self.registers;
        let size = u16::try_from(self.program.code.get(of)?.registers).ok()?;
        self.registers = base.checked_add(size)?;
        let each = (base..).zip(all);
        self.steps.extend(each.map(|(into, y)| Do::Copy { into, y: *y }));
        Some(base)
    }

    /// The place of a function that is called: the first one's is behind all.
    fn other(&self, of: u16) -> u16 {
        if of == 0 { self.program.code.len() as u16 } else { of }
    }
}

impl Grown {
    /// The items of the state as the list has them, or the other way.
    fn laid(&self, mut items: Vec<f64>) -> Vec<f64> {
        if self.turned {
            items.reverse();
        }
        items
    }
}

impl Place {
    /// The machine gets an argument's numbers for n calls. False: they lie otherwise. Errors: WS
    /// FULL, INTERRUPT.
    fn fill(self, machine: &mut Machine, from: &Items, n: usize, budget: &Budget) -> Result<bool> {
        match self.from {
            From::State => {}
            From::Items => {
                let Some(all) = from.numbers(n, budget)? else { return Ok(false) };
                machine.lists[self.at as usize] = all;
            }
            From::Same => return Ok(self.same(machine, from.form(), &from.item(0)).is_some()),
        }
        Ok(true)
    }

    /// The same for all calls. None: it has another form.
    fn same(self, machine: &mut Machine, form: &Form, of: &Array) -> Option<()> {
        let mut same = Values::default();
        form.take(of, &mut same)?;
        let at = self.at as usize;
        machine.fixed[at..at + same.numbers.len()].copy_from_slice(&same.numbers);
        Some(())
    }
}

/// The source of the items of an argument of many calls.
fn from_items(items: &Items) -> From {
    if items.is_one() { From::Same } else { From::Items }
}

/// The loop of a program's calls, made once.
fn known_loop(
    program: &Program,
    gives: Gives,
    right: (&Form, From),
    left: Option<(&Form, From)>,
) -> Option<Rc<CallLoop>> {
    let calls = (gives, right.1, left.map(|(_, from)| from));
    let known = program.loops.borrow().iter().find(|(known, _)| *known == calls).cloned();
    if let Some((_, made)) = known {
        return made;
    }
    let made = call_loop(program, gives, right, left).map(Rc::new);
    program.loops.borrow_mut().push((calls, made.clone()));
    made
}

impl Eval<'_> {
    /// The values of a program on each of n items. None: there is no loop for that, or it failed,
    /// and nothing has happened. Errors: INTERRUPT, WS FULL.
    pub(super) fn each_as_loop(
        &mut self,
        program: &Program,
        x: Option<&Items>,
        y: &Items,
        n: usize,
    ) -> Result<Option<Array>> {
        if n < MANY {
            return Ok(None);
        }
        let (right, left) = (from_items(y), x.map(|x| (x.form(), from_items(x))));
        let made = known_loop(program, Gives::Each, (y.form(), right), left);
        let (Some(made), Some(gives)) = (made, &program.gives) else { return Ok(None) };
        let work = self.cx.begin_work(n);
        let Some(mut machine) = self.machine_of(&made, n)? else { return Ok(None) };
        let values = self.cx.budget().room(n * made.numbers)?;
        machine.lists[made.out as usize] = List::Own(values, None);
        if !made.right.fill(&mut machine, y, n, self.cx.budget())? {
            return Ok(None);
        }
        if let Some((left, x)) = made.left.zip(x)
            && !left.fill(&mut machine, x, n, self.cx.budget())?
        {
            return Ok(None);
        }
        if !self.runs_loop(&made, &mut machine)? {
            return Ok(None);
        }
        let out = std::mem::replace(&mut machine.lists[made.out as usize], List::EMPTY);
        let List::Own(numbers, _) = out else { return Ok(None) };
        let all = gives.arrays(&Values { numbers, lists: Vec::new() }, n, self.cx.budget())?;
        self.give_back(&made.program, machine)?;
        self.cx.tell_work(work);
        self.st.shy = false;
        Ok(Some(all))
    }

    /// The value of a call that calls itself last, on a list that it makes longer. None: it is no
    /// such function, or it failed, and nothing has happened. Errors: INTERRUPT, WS FULL.
    pub(super) fn recursion_as_loop(
        &mut self,
        program: &Program,
        (x, y): (Option<&Array>, &Array),
        (fx, fy): &Forms,
    ) -> Result<Option<Array>> {
        let goes_on = |step: &Do| matches!(step, Do::AgainOn { of: 0 });
        let fits = matches!(fy, Form::List(_))
            && program.gives.as_ref() == Some(fy)
            && !program.names.iter().any(|name| name.changes)
            && program.code[0].steps.iter().any(goes_on);
        let left = match (x, fx) {
            (Some(x), Some(form)) => Left::Same { of: x.clone(), form: form.clone() },
            _ => Left::Nothing,
        };
        match fits {
            true => self.goes_by_loop(program, &left, (y, fy), 1),
            false => Ok(None),
        }
    }

    /// The value of the last of n calls, each on what the one before gave. None: as above.
    pub(super) fn last_as_loop(
        &mut self,
        program: &Program,
        left: &Left,
        (state, form): (&Array, &Form),
        n: usize,
    ) -> Result<Option<Array>> {
        if n < MANY {
            return Ok(None);
        }
        self.goes_by_loop(program, left, (state, form), n)
    }

    fn goes_by_loop(
        &mut self,
        program: &Program,
        left: &Left,
        (state, form): (&Array, &Form),
        n: usize,
    ) -> Result<Option<Array>> {
        let from = match left {
            Left::Nothing => None,
            Left::Same { form, .. } => Some((form, From::Same)),
            Left::Items(items) => Some((items.form(), From::Items)),
        };
        let made = known_loop(program, Gives::Last, (form, From::State), from);
        let Some(made) = made else { return Ok(None) };
        let work = self.cx.begin_work(n);
        let Some(mut machine) = self.machine_of(&made, n)? else { return Ok(None) };
        let filled = match (left, made.left) {
            (Left::Items(items), Some(place)) => {
                place.fill(&mut machine, items, n, self.cx.budget())?
            }
            (Left::Same { of, form }, Some(place)) => place.same(&mut machine, form, of).is_some(),
            _ => true,
        };
        let filled = filled && form.take(state, &mut machine.passed).is_some();
        if let (Some(grown), true) = (&made.grown, filled) {
            let held = machine.passed.lists.pop();
            let items = grown.laid(held.map_or(Vec::new(), Stretch::into_items));
            machine.lists[grown.list as usize] = List::Own(items, None);
        }
        if !filled || !self.runs_loop(&made, &mut machine)? {
            return Ok(None);
        }
        if let Some(grown) = &made.grown {
            let list = &mut machine.lists[grown.list as usize];
            let List::Own(items, _) = std::mem::replace(list, List::EMPTY) else {
                return Ok(None);
            };
            machine.passed.lists.push(grown.laid(items).into());
        }
        machine.passed.numbers.extend_from_slice(&machine.registers[..made.numbers]);
        let last = self.value_of_call(program, &mut machine, Some(End::Passed))?;
        self.give_back(&made.program, machine)?;
        self.cx.tell_work(work);
        self.st.shy = false;
        Ok(last)
    }

    /// A machine for n turns.
    fn machine_of(&mut self, made: &CallLoop, n: usize) -> Result<Option<Machine>> {
        let mut allowance = COPIES.0 + COPIES.1.saturating_mul(n);
        let mut machine = self.machine(&made.program, &mut allowance)?;
        if let Some(machine) = &mut machine {
            machine.fixed[made.end as usize] = n as f64;
            machine.fixed[made.last as usize] = n as f64 - 1.0 + 2.0 * made.program.io;
        }
        Ok(machine)
    }

    /// Takes all turns. False: one failed.
    fn runs_loop(&mut self, made: &CallLoop, machine: &mut Machine) -> Result<bool> {
        let told = self.cx.host.interrupt().rounds(machine.fixed[made.end as usize] as u64);
        let way = Way { rounds: &told, is: Told::Turns(0) };
        let depth = self.room_for_calls();
        let end = machine.call_on(&made.program, depth, (&*self.cx.host, Some(&way)))?;
        Ok(matches!(end, Some(End::Step(_))))
    }
}

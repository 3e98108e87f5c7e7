//! Calls of dfns on single numbers, by a machine of registers.
//!
//! A recursion on numbers, or a dfn that changes an outer name item by item, is no launch: one call
//! waits for the next. The evaluator takes a third of a microsecond for each step of it, most of
//! which goes into values that might be anything. Where the arguments are real numbers and a body
//! has nothing but scalar functions, guards, names and calls of such bodies, everything in it is a
//! number again, and `code` makes instructions over registers of it once, which `machine` runs in
//! nanoseconds each. A character is a register as well, a pair is two (`form`), and a vector that
//! grows is a list. So folds and powers whose state is any of these run here (`runs`), and loops
//! whose names hold them, or small vectors and matrices (`vectors`).
//!
//! Why the result is the same: each instruction is `scalar::eval`, which is what the evaluator
//! calls for two numbers, in the same order. Whatever is not a real number within a number's rules
//! (an error, a complex result, a guard that is no boolean, calls too deep) ends the run, and
//! nothing has happened: outer names are copies in the machine until it ends well. The evaluator
//! then does it all its own way, and tells the error where it stands. So the machine knows no error
//! but the interrupt.

mod ahead;
mod at_once;
mod call_loop;
mod calls;
mod code;
mod counted;
mod cuts;
mod form;
mod found;
mod guarded;
mod lists;
mod loops;
mod machine;
mod names;
mod native;
mod program;
mod runs;
mod sought;
mod stretches;
mod texts;
mod values;
mod vectors;
mod whole;

pub use ahead::Part;
pub use runs::Which;

use super::env::Frame;
use super::run::{At, Eval};
use super::scope::is_final;
use super::steps::Slot;
use super::value::{Func, Value};
use crate::syntax::Ast;
use crate::syntax::ast::Sym;
use crate::syntax::steps::{Act, Steps};
use aplomb_ground::error::Result;
use aplomb_ground::limits::{Budget, Rounds};
use aplomb_ground::span::Span;
use aplomb_values::array::{Array, DType, Data, Digits};
use form::{Class, Form};
use machine::{End, Held, Machine, Told, Way};
use program::{List, Program};
use std::rc::Rc;

/// The number of programs that are kept.
const KEPT: usize = 32;
/// A dfn that was refused so often on values of one form, or of any, is not tried again.
const TRIES: (u8, u8) = (4, 12);
/// Calls that stand so deep may be a recursion by name.
const DEEP: usize = 3;
/// A longer argument of a recursion is not copied into a list.
const LONG: usize = 1 << 16;
/// Fewer items are called one by one.
const FEW: usize = 16;
/// A loop over fewer texts is not worth giving them numbers.
const TEXTS: usize = 32;

/// The forms of a left argument, and of a right one.
type Forms = (Option<Form>, Form);

/// A program by the dfn that it is of.
struct Made {
    f: Rc<Func>,
    forms: Forms,
    effects: bool,
    /// None: it is refused, for the time being.
    program: Option<Rc<Program>>,
    refusals: u8,
}

/// A loop that ran in registers: the next run of its steps begins there. One that did not, because
/// its names hold too much to be copied, may still be operations on arrays.
struct KnownLoop {
    at: KeptAt,
    /// The step behind the jump back.
    end: usize,
    made: Rc<loops::Loop>,
    ran: bool,
}

impl KnownLoop {
    fn is(&self, at: LoopAt<'_>, end: usize) -> bool {
        self.end == end && self.at.is(at)
    }
}

/// The loop that begins at a step. A text may have many functions, whose steps are all counted from
/// 0, so its place in the text is what tells it from others.
#[derive(Clone, Copy)]
pub struct LoopAt<'a> {
    ast: &'a Rc<Ast>,
    first: usize,
    span: Span,
}

impl<'a> LoopAt<'a> {
    /// The one that takes its next item, or begins a turn, by that step.
    pub fn new(ast: &'a Rc<Ast>, steps: &Steps, first: usize) -> LoopAt<'a> {
        LoopAt { ast, first, span: steps.steps[first].span }
    }

    fn kept(self) -> KeptAt {
        KeptAt { ast: self.ast.clone(), first: self.first, span: self.span }
    }
}

/// The same, kept.
struct KeptAt {
    ast: Rc<Ast>,
    first: usize,
    span: Span,
}

impl KeptAt {
    fn is(&self, at: LoopAt<'_>) -> bool {
        (self.first, self.span) == (at.first, at.span) && Rc::ptr_eq(&self.ast, at.ast)
    }
}

/// The programs that were made last.
#[derive(Default)]
pub struct Programs {
    made: Vec<Made>,
    loops: Vec<KnownLoop>,
    /// Loops whose turns ran together, and those whose turns did not.
    together: Vec<(KeptAt, bool)>,
    /// The number of calls around a run that ended early: those within it are the evaluator's.
    ended: Option<usize>,
}

impl Programs {
    /// A statement ends: calls that it made are let go.
    pub fn let_go(&mut self) {
        self.ended = None;
        self.made.retain(|made| made.f.closure().is_some_and(|c| c.env.is_none()));
    }

    /// The program of a loop that was read, and whether it ran in registers.
    fn loop_at(&self, at: LoopAt<'_>) -> Option<(Rc<loops::Loop>, bool)> {
        let known = self.loops.iter().find(|known| known.at.is(at));
        known.map(|known| (known.made.clone(), known.ran))
    }

    /// The program of a loop that ran, up to a step.
    fn loop_to(&self, at: LoopAt<'_>, end: usize) -> Option<&Rc<loops::Loop>> {
        let known = self.loops.iter().find(|known| known.is(at, end) && known.ran);
        known.map(|known| &known.made)
    }

    /// Keeps the program of a loop up to a step, whether it ran or not.
    fn keep_loop(&mut self, (at, end): (LoopAt<'_>, usize), made: &Rc<loops::Loop>, ran: bool) {
        if !made.stands_alone() || self.loop_to(at, end).is_some() {
            return;
        }
        self.loops.retain(|known| !known.is(at, end));
        if self.loops.len() >= KEPT {
            self.loops.remove(0);
        }
        self.loops.push(KnownLoop { at: at.kept(), end, made: made.clone(), ran });
    }

    /// True of a loop up to a step that ran in registers before, or whose turns ran together.
    pub fn knows_loop(&self, at: LoopAt<'_>, end: usize) -> bool {
        self.loop_to(at, end).is_some() || self.runs_together(at) == Some(true)
    }

    /// True where the turns of a loop ran together when it went round last. None: they were not
    /// tried so.
    pub fn runs_together(&self, at: LoopAt<'_>) -> Option<bool> {
        self.together.iter().find(|(own, _)| own.is(at)).map(|(_, runs)| *runs)
    }

    /// Keeps whether the turns of a loop run together.
    pub fn keep_together(&mut self, at: LoopAt<'_>, runs: bool) {
        if self.runs_together(at) == Some(runs) {
            return;
        }
        self.together.retain(|(own, _)| !own.is(at));
        if self.together.len() >= KEPT {
            self.together.remove(0);
        }
        self.together.push((at.kept(), runs));
    }

    fn of(&mut self, f: &Rc<Func>, forms: &Forms, effects: bool) -> Option<&mut Made> {
        let same = |m: &Made| m.effects == effects && m.forms == *forms && is_same_text(&m.f, f);
        self.made.iter_mut().find(|m| same(m))
    }

    /// The number of times that a dfn was refused, whatever its arguments were.
    fn refusals(&self, f: &Rc<Func>) -> u8 {
        let own = self.made.iter().filter(|m| is_same_text(&m.f, f));
        own.fold(0, |sum, m| sum.saturating_add(m.refusals))
    }
}

/// Whether two functions are made of one dfn of one text.
fn is_same_text(a: &Rc<Func>, b: &Rc<Func>) -> bool {
    match (&**a, &**b) {
        (Func::Dfn(a), Func::Dfn(b)) => Rc::ptr_eq(&a.ast, &b.ast) && a.dfn == b.dfn,
        _ => false,
    }
}

/// Whether two functions of one dfn see the same names.
fn is_same_place(a: &Rc<Func>, b: &Rc<Func>) -> bool {
    let at = |f: &Rc<Func>| {
        let closure = f.closure()?;
        Some((closure.env.as_ref().map(Rc::as_ptr), Rc::as_ptr(&closure.home)))
    };
    at(a) == at(b)
}

impl Eval<'_> {
    /// The value of a call of a dfn that calls itself, on numbers. None: it is no such thing, or
    /// ended where only the evaluator goes on. Errors: INTERRUPT.
    pub fn by_numbers(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        y: &Array,
    ) -> Result<Option<Array>> {
        let Func::Dfn(closure) = &**f else { return Ok(None) };
        // A dfn that is made anew in each call is not worth being read in each.
        let by_name = || self.st.depth >= DEEP && closure.env.is_none();
        let recurs = closure.ast.dfn(closure.dfn).recurs || by_name();
        if !recurs || !self.runs_numbers() {
            return Ok(None);
        }
        // Each call of a recursion that fails at its end would come to that end again.
        let depth = self.st.depth;
        match self.st.programs.ended {
            Some(ended) if depth > ended => return Ok(None),
            _ => self.st.programs.ended = None,
        }
        let form = |a: &Array| match a.data() {
            Data::Num(_, Digits::Any) => Some(Form::NUMBER),
            _ if a.pending().is_some() || a.len() > LONG => None,
            _ => Form::of(a),
        };
        let Some(fy) = form(y) else { return Ok(None) };
        let fx = match x.map(form) {
            Some(None) => return Ok(None),
            fx => fx.flatten(),
        };
        let Some((program, forms)) = self.program_on(f, (fx, fy)) else { return Ok(None) };
        if let Some(made) = self.recursion_as_loop(&program, (x, y), &forms)? {
            self.cx.sys.calls = self.cx.sys.calls.saturating_add(1);
            return Ok(Some(made));
        }
        let Some(mut machine) = self.machine(&program, &mut 0)? else { return Ok(None) };
        let made = self.called(&program, &mut machine, (x, y), &forms)?;
        if made.is_some() {
            // The first call is one, too.
            self.cx.sys.calls = self.cx.sys.calls.saturating_add(1 + machine.calls());
            self.drew(&machine);
        } else {
            self.st.programs.ended = Some(depth);
        }
        Ok(made)
    }

    /// The program of a recursion on values of these forms, or on lists where they are vectors: the
    /// lists where it is known on them.
    fn program_on(&mut self, f: &Rc<Func>, given: Forms) -> Option<(Rc<Program>, Forms)> {
        let list = |form: &Form| match form.as_list() {
            Some(list) => list,
            None => form.clone(),
        };
        let listed: Forms = (given.0.as_ref().map(list), list(&given.1));
        let is_known = |made: &mut Made| made.program.is_some();
        let mut forms = vec![given, listed];
        if self.st.programs.of(f, &forms[1], false).is_some_and(is_known) {
            forms.swap(0, 1);
        }
        forms.dedup();
        forms.into_iter().find_map(|forms| Some((self.program(f, forms.clone(), false)?, forms)))
    }

    /// The numbers that a run drew are drawn.
    fn drew(&mut self, machine: &Machine) {
        if let Some((_, drawn)) = machine.generator {
            self.cx.sys.settings.drawn = drawn;
        }
    }

    /// Whether anything runs in registers here: neither where names hold what differs from cell to
    /// cell, nor where ÷ has a meaning of its own or floats are of 32 bits.
    fn runs_numbers(&self) -> bool {
        let sys = &self.cx.sys;
        !sys.settings.div
            && !sys.settings.single
            && !sys.scope.is_once_a_cell()
            && self.cx.host.is_on("numbers")
    }

    /// The calls that may still stand within each other.
    fn room_for_calls(&self) -> usize {
        self.cx.host.limits().depth.saturating_sub(self.st.depth)
    }

    /// The program of a dfn as the names that it reads are now. None: it is refused.
    fn program(&mut self, f: &Rc<Func>, forms: Forms, effects: bool) -> Option<Rc<Program>> {
        self.is_at_home(f).then_some(())?;
        let all = self.st.programs.refusals(f);
        let known = self.st.programs.of(f, &forms, effects);
        let refusals = known.as_ref().map_or(0, |made| made.refusals);
        let program =
            known.filter(|made| is_same_place(&made.f, f)).and_then(|m| m.program.clone());
        if let Some(program) = program.filter(|p| self.is_current(p)) {
            return Some(program);
        }
        if refusals >= TRIES.0 || all >= TRIES.1 {
            return None;
        }
        let program = code::program(self, f, forms.clone(), effects, None).map(Rc::new);
        let refusals = if program.is_none() { refusals + 1 } else { 0 };
        let (f, kept) = (f.clone(), program.clone());
        let made = Made { f, forms, effects, program: kept, refusals };
        match self.st.programs.of(&made.f, &made.forms, effects) {
            Some(old) => *old = made,
            None => {
                let all = &mut self.st.programs.made;
                if all.len() >= KEPT {
                    all.remove(0);
                }
                all.push(made);
            }
        }
        program
    }

    /// The steps of a loop that goes round, until it is left. `allowance`: the items that may be
    /// copied; `within`: the turns that each of its turns was with those of loops within; `only`:
    /// none but steps on items; `way`: the outermost loop's. False: they are more than that, and
    /// nothing has happened. Errors: INTERRUPT, WS FULL.
    pub(super) fn loop_by_numbers(
        &mut self,
        here: At<'_>,
        steps: &Steps,
        (from, to): (usize, usize),
        (slots, next): (&mut [Slot], &mut usize),
        (allowance, within, only): (&mut usize, usize, bool),
        way: Option<(Outermost, &Rounds)>,
    ) -> Result<bool> {
        if !self.runs_numbers() {
            return Ok(false);
        }
        let at = LoopAt::new(here.ast, steps, from);
        let known = self.st.programs.loop_to(at, to).cloned();
        let known = known.filter(|made| here.frame.is_none() && self.is_current(&made.program));
        if only && known.as_ref().is_some_and(|made| !made.program.is_on_items()) {
            return Ok(false);
        }
        if let Some(made) = &known
            && let Some(step) = self.turns_until_at_once(made)?
        {
            *next = step;
            return Ok(true);
        }
        if let Some(made) = known
            && self.goes_by(&made, (&mut *slots, &mut *next), (allowance, within), way)?
        {
            return Ok(true);
        }
        self.st.programs.loops.retain(|known| !known.is(at, to));
        let slot = match &steps.steps[from].act {
            Act::Next { slot, .. } => Some(*slot),
            _ => None,
        };
        // Whether they are texts takes a look at all.
        let texts = slot.filter(|slot| match &slots[*slot] {
            Slot::Items { of, next } => of.len() - next >= TEXTS && texts::are_texts(of),
            _ => false,
        });
        let made = loops::read(self, here, steps, (from, to), texts);
        let Some(made) = made.map(Rc::new) else { return Ok(false) };
        if only && !made.program.is_on_items() {
            // When it begins again its turns may be operations on arrays. Those of few steps on
            // numbers are quicker as they are.
            if at_once::has_long_turns(&made.program) {
                self.st.programs.keep_loop((at, to), &made, false);
            }
            return Ok(false);
        }
        let ran = self.goes_by(&made, (slots, next), (allowance, within), way)?;
        self.st.programs.keep_loop((at, to), &made, ran);
        Ok(ran)
    }

    /// The turns of a loop by its program. False: names hold something else, and nothing has
    /// happened. Errors: as `loop_by_numbers`.
    fn goes_by(
        &mut self,
        made: &loops::Loop,
        (slots, next): (&mut [Slot], &mut usize),
        (allowance, within): (&mut usize, usize),
        way: Option<(Outermost, &Rounds)>,
    ) -> Result<bool> {
        let items = match made.items.map(|items| (items, &slots[items.slot])) {
            None => None,
            Some((items, Slot::Items { of, next })) => {
                let of = self.cx.ready(of, "argument")?;
                let numbers = match items.class {
                    Class::Text => {
                        let mut texts = made.program.texts.borrow_mut();
                        texts.numbers(&of, self.cx.budget())?
                    }
                    class => (Class::of(&of) == Some(class)).then(|| of.clone()),
                };
                match numbers.filter(|of| of.rank() == 1) {
                    Some(of) => Some((items, of, *next)),
                    None => return Ok(false),
                }
            }
            Some(_) => return Ok(false),
        };
        // A loop over items will go round for each, unless it is left.
        let ahead = items.as_ref().map_or(0, |(_, of, next)| of.len().saturating_sub(*next));
        let ahead = ahead.saturating_mul(within.max(1));
        let before = allowance.saturating_add(ahead.saturating_mul(AHEAD));
        let mut left = before;
        let machine = self.machine(&made.program, &mut left)?;
        *allowance = allowance.saturating_sub(before - left);
        let Some(mut machine) = machine else { return Ok(false) };
        if let Some((items, of, next)) = items {
            machine.goes_over(items, of, next);
        }
        let depth = self.room_for_calls();
        let way = way.and_then(|(loop_, rounds)| {
            let is = match loop_ {
                Outermost::Items(slot) => {
                    Told::Items(made.items.filter(|items| items.slot == slot)?)
                }
                Outermost::Turns(before) => Told::Turns(before),
            };
            Some(Way { rounds, is })
        });
        let way = (&*self.cx.host, way.as_ref());
        let end = machine.call(&made.program, (None, 0.0), depth, way)?;
        let Some(End::Step(step)) = end else { return Ok(false) };
        // The turn that begins here is one, too.
        self.cx.sys.calls = self.cx.sys.calls.saturating_add(1 + machine.calls());
        *allowance = allowance.saturating_add(machine.calls().saturating_mul(COPIES.1));
        if let Some(items) = made.items
            && let Slot::Items { next, .. } = &mut slots[items.slot]
        {
            *next = machine.next_of(items);
        }
        *next = step;
        self.give_back(&made.program, machine)?;
        Ok(true)
    }

    /// Whether the functions that a program was made of still have their names.
    fn is_current(&self, program: &Program) -> bool {
        let same_io = program.io == self.cx.sys.settings.io;
        same_io
            && program.functions.iter().all(|(scope, sym, f)| {
                let now = self.lookup(scope.at(), *sym);
                matches!(now, Some(Value::Func(now)) if Rc::ptr_eq(&now, f))
            })
    }

    /// A machine with what a program's names hold now. None: they hold something else, or what is
    /// changed has more items than may be copied, of which those that are copied are taken off.
    fn machine(&mut self, program: &Program, allowance: &mut usize) -> Result<Option<Machine>> {
        let mut machine = Machine::new(program, &self.cx.sys.settings);
        if program.draws {
            let (seed, next) = self.cx.generator();
            machine.generator = Some((seed, next - 1));
        }
        for name in &program.names {
            let Some(Value::Array(a)) = self.lookup(name.scope.at(), name.sym) else {
                return Ok(None);
            };
            // What fails is told by who reads it, and that may be nobody.
            let a = match a.pending() {
                Some(_) if a.frame().is_none() => match self.cx.ready(&a, "argument") {
                    Err(e) if !is_final(&e) => return Ok(None),
                    ready => ready?,
                },
                _ => a.settled(),
            };
            let held = match name.rank {
                0 if name.class == Class::Text => {
                    program.texts.borrow_mut().number(&a).map(Held::Number)
                }
                1 if name.class == Class::Text => {
                    let Some(left) = allowance.checked_sub(a.len()) else { return Ok(None) };
                    *allowance = left;
                    let numbers = program.texts.borrow_mut().numbers(&a, self.cx.budget())?;
                    let Some(numbers) = numbers else { return Ok(None) };
                    let items = numbers_of(&numbers, self.cx.budget())?;
                    Some(Held::List(List::Own(items, None)))
                }
                _ if Class::of(&a) != Some(name.class) || a.rank() != name.rank => None,
                0 => a.number_at(0).map(Held::Number),
                _ if !(name.changes || name.whole && a.dtype() != DType::F64) => {
                    Some(Held::List(List::Shared(a)))
                }
                _ => {
                    let Some(left) = allowance.checked_sub(a.len()) else { return Ok(None) };
                    *allowance = left;
                    let mut items = numbers_of(&a, self.cx.budget())?;
                    if name.turned {
                        items.reverse();
                    }
                    let shape = a.shape().try_into().ok();
                    Some(Held::List(List::Own(items, shape)))
                }
            };
            let Some(held) = held else { return Ok(None) };
            machine.takes(name, held);
        }
        if let Some(of) = program.lengths {
            let lengths = program.texts.borrow().lengths(self.cx.budget())?;
            machine.lists[of as usize] = List::Own(lengths, None);
        }
        Ok(Some(machine))
    }

    /// Outer names get what they came to.
    fn give_back(&mut self, program: &Program, machine: Machine) -> Result<()> {
        self.drew(&machine);
        for (name, held) in machine.changed(program) {
            self.cx.close()?;
            let texts = program.texts.borrow();
            let a = match held {
                held if name.class == Class::Text => match texts.array(&held, self.cx.budget())? {
                    Some(a) => a,
                    // It had none, and has none.
                    None => continue,
                },
                Held::Number(x) => name.class.scalar(x),
                Held::List(List::Shared(a)) => a,
                Held::List(List::Own(mut items, shape)) => {
                    if name.turned {
                        items.reverse();
                    }
                    let n = [items.len()];
                    let shape = shape.as_ref().map_or(&n[..], |shape| &shape[..]);
                    name.class.array(shape, items, self.cx.budget())?
                }
            };
            drop(texts);
            self.change(name.scope.at(), name.sym, a)?;
        }
        Ok(())
    }
}

/// The outermost loop, whose way is told: over the items of a slot, or until it ends, after so many
/// turns.
#[derive(Clone, Copy)]
pub(super) enum Outermost {
    Items(usize),
    Turns(usize),
}

/// Items that may be copied at first, and for each turn that a loop took: copying one takes less
/// than a nanosecond, a turn of the evaluator some hundred.
pub const COPIES: (usize, usize) = (1 << 12, 64);

/// Items that may be copied for each turn that a loop over items has before it, and those within.
const AHEAD: usize = 8;

/// The numbers that an array's items are, or its characters.
fn numbers_of(a: &Array, budget: &Budget) -> Result<Vec<f64>> {
    if let Some(numbers) = a.to_numbers(budget)? {
        return Ok(numbers);
    }
    let mut items = budget.room(a.len())?;
    items.extend((0..a.len()).map_while(|k| a.number_at(k)));
    Ok(items)
}

/// The place where a program looks names up.
#[derive(Clone)]
pub(super) struct Scope {
    ast: Rc<Ast>,
    /// A call that never runs; None: of a function of lines, or the workspace.
    frame: Option<Rc<Frame>>,
    /// The call around, which is none of those that never run.
    around: Option<*const Frame>,
}

impl Scope {
    fn at(&self) -> At<'_> {
        At { ast: &self.ast, frame: self.frame.as_ref() }
    }

    /// Whether it is that of a loop.
    fn is_loop(&self) -> bool {
        self.frame.is_none()
    }
}

/// A name outside of a program that it reads.
#[derive(Clone)]
pub(super) struct Name {
    scope: Scope,
    sym: Sym,
    /// 0 of a number, 1 of a vector, 2 of a matrix.
    rank: usize,
    class: Class,
    /// Its number among the constants, or the lists.
    slot: u16,
    /// The program gives it another value.
    changes: bool,
    /// All of its items are taken at once, as floats.
    whole: bool,
    /// Items are put before its own, and nothing else is done with it: they lie from its end.
    turned: bool,
}

#[cfg(test)]
mod tests {
    use crate::eval::cx::{Cx, Sys};
    use crate::eval::run::{At, Eval, Outcome, Store};
    use crate::testing::Host;
    use aplomb_values::array::Array;

    /// The outcome of a dfn's call in registers; None: it is refused, or ended early.
    fn called(f: &str, x: Option<f64>, y: f64) -> Option<f64> {
        let (mut host, mut sys, mut st) = (Host::default(), Sys::default(), Store::default());
        let nothing = st.nothing.clone();
        let at = At { ast: &nothing, frame: None };
        let mut ev = Eval { cx: Cx { host: &mut host, sys: &mut sys }, st: &mut st };
        let text = |t: &str| Array::few_chars(t.chars().collect());
        ev.execute_text(at, &text("a←0.5 ⋄ v←3 1 4 ⋄ half←{⍵÷2}")).ok()?;
        let Ok(Outcome::Func(f)) = ev.execute_text(at, &text(f)) else { panic!("no function") };
        let made = ev.by_numbers(&f, x.map(Array::num).as_ref(), &Array::num(y));
        made.unwrap_or_else(|e| panic!("{e}")).and_then(|a| a.number_scalar())
    }

    #[test]
    fn recursions_on_numbers_run_in_registers() {
        for (f, x, y, wanted) in [
            ("{⍵≤1:⍵ ⋄ (∇⍵-1)+∇⍵-2}", None, 20.0, 6_765.0),
            ("{⍺=0:⍵+1 ⋄ ⍵=0:(⍺-1)∇1 ⋄ (⍺-1)∇⍺∇⍵-1}", Some(2.0), 3.0, 9.0),
            ("{⍵=0:0 ⋄ 1+∇⍵-1}", None, 11_000.0, 11_000.0),
            ("{⍵=0:0 ⋄ ∇⍵-1}", None, 1e5, 0.0),
            ("{⍺←3 ⋄ ⍵=0:⍺ ⋄ (⍺+1)∇⍵-1}", None, 4.0, 7.0),
            ("{⍵=0:0 ⋄ n←∇⍵-1 ⋄ n+1}", None, 4.0, 4.0),
            ("{⍵<2:v[2+⍵]+2⊃v ⋄ n←half ⍵ ⋄ n+a+(×⍨n)-∇⊢n}", None, 4.0, 9.0),
        ] {
            assert_eq!(called(f, x, y), Some(wanted), "{f}");
        }
    }

    #[test]
    fn what_is_more_than_numbers_is_refused() {
        for f in [
            "{⍵=0:÷0 ⋄ ∇⍵-1}",
            "{⍵=0:¯1*0.5 ⋄ ∇⍵-1}",
            "{⍵=0:'a' ⋄ 1+∇⍵-1}",
            "{⍵=0:1 2 ⋄ ⍵=1:3 ⋄ ∇⍵-1}",
            "{0.5:1 ⋄ ∇⍵-1}",
            "{1+∇⍵}",
            "{⍵=0:1 ⋄ ⎕←⍵ ⋄ ∇⍵-1}",
            "{⍵=0:1 ⋄ a+←1 ⋄ ∇⍵-1}",
            "{⍵=0:?0 ⋄ ∇⍵-1}",
            "{⍵=0:nobody ⋄ ∇⍵-1}",
            "{0::1 ⋄ ∇⍵-1}",
            // Its value does not print.
            "{⍵=0:0 ⋄ n←∇⍵-1}",
        ] {
            assert_eq!(called(f, None, 3.0), None, "{f}");
        }
    }
}

//! Instructions over registers, made of the bodies of dfns whose values are all numbers.
//!
//! A body is read once, statement by statement, with a stack that holds what the evaluator's would:
//! here the place of each value, registers or constants, and there nothing is computed. A name of
//! the body's own is the place of its value; a guard is a jump over what it guards. Whatever has no
//! such reading refuses the whole program: there is no half.

use super::Scope;
use super::ahead::Ahead;
use super::calls::Known;
use super::form::{Class, Form, SHORT};
use super::program::{Catch, List, Program};
use crate::eval::env::{Frame, Names};
use crate::eval::run::Eval;
use crate::eval::value::{Func, Value};
use crate::syntax::ast::{Guard, PhraseId, Stmt, Sym};
use crate::syntax::resolve::{self, Code, FExpr, Gives, Ins, Pattern};
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, Do, Function, OnList};

use aplomb_values::array::Array;
use std::rc::Rc;

/// Instructions of one function, at most.
const MOST: usize = 4_096;

/// A value on the stack.
#[derive(Clone)]
pub(super) enum Place {
    Number(Arg),
    Char(Arg),
    /// A short vector of these.
    Tuple(Rc<[Place]>),
    /// A list of the call's own.
    List(u16, Class),
    /// The same from its end.
    Turned(u16, Class),
    /// A list of the program: a constant, or an outer name's.
    Vector(u16),
    /// The same from its end.
    TurnedVector(u16),
    Matrix(u16),
    /// The same with its axes exchanged.
    TurnedMatrix(u16),
    /// A text, by its number.
    Text(Arg),
    /// The same enclosed.
    Enclosed(Arg),
    /// Two numbers, enclosed: the place of an item of a matrix.
    Cell([Arg; 2]),
    /// A list of the program with a number before it or behind it.
    WithOne {
        of: u16,
        x: Arg,
        front: bool,
        turned: bool,
    },
}

/// The outcome of a step.
pub(super) enum Step {
    /// A value for the stack.
    Gives(Place),
    /// The stack is as it is.
    Stays,
    /// A last call, whose value is that of all.
    Ends,
}

/// The reading of one function, or of a loop.
pub(super) struct Body {
    /// Of a function a call that never runs: it has the classes of the names.
    pub scope: Scope,
    pub of: Function,
    pub alpha: Option<Place>,
    /// None: of a loop.
    pub omega: Option<Place>,
    pub names: Vec<(Sym, Place)>,
    /// Names of the call around.
    pub seen: Vec<(Sym, Place)>,
    /// The function that it is of; None: a loop.
    pub function: Option<usize>,
    /// The phrase that is read gives names values.
    pub assigns: bool,
    /// An error guard stands: a last call waits below it, as any other does.
    pub is_guarded: bool,
}

/// An error guard whose statements are being read, and the names as they are where it stands.
struct Guarded<'f> {
    from: u32,
    events: Rc<[i64]>,
    phrase: PhraseId,
    alpha: Option<Place>,
    names: Vec<(Sym, Place)>,
    classes: Names<'f>,
}

pub(super) struct Maker<'e, 'h> {
    pub ev: &'e mut Eval<'h>,
    pub program: Program,
    /// The functions that there are.
    pub known: Vec<Known>,
    /// The calls that stand for them.
    pub frames: Vec<Rc<Frame>>,
    /// Constants that no name has.
    literals: Vec<u16>,
    /// The classes of the program's lists.
    pub classes: Vec<Class>,
    /// The parts that the first function gets instead of an argument, and their places.
    pub ahead: Option<(Ahead, Rc<[Place]>)>,
    pub effects: bool,
    /// Whatever may be a list is one where functions are called and give values.
    lists: bool,
    /// A function is called with vectors of several lengths, or gives some.
    pub is_uneven: bool,
    /// Lists that functions of whole lists fill: nothing else reads them.
    pub made: Vec<u16>,
    /// Lists that are on the stack where a name may get another value: whoever takes one of them
    /// from there takes the one that it was.
    pub held: Vec<u16>,
}

/// The program of a dfn on values of these forms, or on those of parts of its body. None: something
/// in it is more.
pub fn program(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    (x, y): (Option<Form>, Form),
    effects: bool,
    ahead: Option<Ahead>,
) -> Option<Program> {
    let outer = f.closure()?.env.as_ref().map(Rc::as_ptr);
    let mut ahead = ahead.map(|ahead| (ahead, [].into()));
    for lists in [false, true] {
        let mut maker = Maker::new(ev, effects);
        (maker.ahead, maker.lists) = (ahead, lists);
        maker.function(f, x.clone(), y.clone(), Vec::new(), outer)?;
        if let Some(program) = maker.functions() {
            return Some(program);
        }
        maker.is_uneven.then_some(())?;
        ahead = maker.ahead;
    }
    None
}

impl<'e, 'h> Maker<'e, 'h> {
    pub fn new(ev: &'e mut Eval<'h>, effects: bool) -> Self {
        let program = Program { io: ev.cx.sys.settings.io, ..Program::default() };
        let (known, frames) = (Vec::new(), Vec::new());
        let (literals, classes) = (Vec::new(), Vec::new());
        let (made, held, ahead) = (Vec::new(), Vec::new(), None);
        let (lists, is_uneven) = (false, false);
        Maker {
            ev,
            program,
            known,
            frames,
            literals,
            classes,
            ahead,
            effects,
            lists,
            is_uneven,
            made,
            held,
        }
    }

    /// The program, once all of its functions are read.
    pub fn functions(&mut self) -> Option<Program> {
        self.finish()?;
        if !self.known.is_empty() {
            self.program.gives = Some(self.form_of(0)?);
        }
        Some(std::mem::take(&mut self.program))
    }

    /// The statements of a body, and behind them the expressions of its error guards, the last
    /// guard's first: what fails in one goes to a guard before it.
    pub fn statements(&mut self, body: &mut Body, frame: &Rc<Frame>, stmts: &[Stmt]) -> Option<()> {
        let mut guards = Vec::new();
        self.statements_of(body, frame, stmts, &mut guards)?;
        while let Some(Guarded { from, events, phrase, alpha, names, classes }) = guards.pop() {
            let then = body.of.steps.len() as u32;
            (body.alpha, body.names) = (alpha, names);
            drop(classes);
            let code = self.resolved(body, phrase)?;
            self.gives(body, &code.code)?;
            // A list that the steps before have taken is not there to be read.
            let lists = |step: &Do| matches!(step, Do::List(..) | Do::PassList(..));
            (!body.of.steps[then as usize..].iter().any(lists)).then_some(())?;
            let function = self.code_of(body.function?).into();
            self.program.catches.push(Catch { function, steps: from..then, then, events });
        }
        Some(())
    }

    fn statements_of<'f>(
        &mut self,
        body: &mut Body,
        frame: &'f Rc<Frame>,
        stmts: &[Stmt],
        guards: &mut Vec<Guarded<'f>>,
    ) -> Option<()> {
        let ast = body.scope.ast.clone();
        let mut last = None;
        for stmt in stmts {
            let empty = ast.phrase(stmt.phrase).items.is_empty();
            match stmt.guard {
                Guard::None if empty => {}
                Guard::None => {
                    let code = self.resolved(body, stmt.phrase)?;
                    if code.code.is_default() && body.alpha.is_some() {
                        continue;
                    }
                    let ahead = self.ahead.as_ref().and_then(|(all, _)| all.names(&code.code.ins));
                    if let Some(names) = ahead {
                        last = None;
                        for sym in names {
                            frame.set(sym, Value::Array(Array::num(0.0)));
                        }
                        continue;
                    }
                    match code.code.assigns {
                        true => last = self.code(body, &code.code, false)?,
                        false => return self.gives(body, &code.code),
                    }
                }
                Guard::Test(_) if empty => return None,
                Guard::Test(cond) => {
                    let cond = self.resolved(body, cond)?;
                    let y = self.code(body, &cond.code, false)??.number()?;
                    let jump = body.of.steps.len();
                    body.of.steps.push(Do::Unless { y, then: 0 });
                    let (alpha, names) = (body.alpha.clone(), body.names.clone());
                    let classes = frame.names();
                    let code = self.resolved(body, stmt.phrase)?;
                    self.gives(body, &code.code)?;
                    drop(classes);
                    (body.alpha, body.names) = (alpha, names);
                    let then = body.of.steps.len() as u32;
                    body.of.steps[jump] = Do::Unless { y, then };
                }
                Guard::Error(_) if empty => return None,
                Guard::Error(codes) => {
                    let codes = self.resolved(body, codes)?;
                    let mut events = Vec::new();
                    for one in &codes.code.ins {
                        match &one.what {
                            resolve::Do::Const(a) => {
                                let whole = |k| a.number_at(k).filter(|x| x.fract() == 0.0);
                                let all = (0..a.len()).map(|k| whole(k).map(|x| x as i64));
                                events.extend(all.collect::<Option<Vec<i64>>>()?);
                            }
                            resolve::Do::Strand(_) => {}
                            _ => return None,
                        }
                    }
                    (self.program.is_guarded, body.is_guarded) = (true, true);
                    guards.push(Guarded {
                        from: body.of.steps.len() as u32,
                        events: events.into(),
                        phrase: stmt.phrase,
                        alpha: body.alpha.clone(),
                        names: body.names.clone(),
                        classes: frame.names(),
                    });
                }
            }
        }
        // A body that ends with an assignment has its value, which does not print: who calls it for
        // an item does not mind.
        let last = last.filter(|_| self.effects)?;
        self.give(body, last)
    }

    pub fn resolved(
        &mut self,
        body: &Body,
        id: crate::syntax::ast::PhraseId,
    ) -> Option<Rc<resolve::Resolved>> {
        self.ev.resolved(body.scope.at(), id).ok()
    }

    /// Code whose value is that of the call.
    fn gives(&mut self, body: &mut Body, code: &Code) -> Option<()> {
        match self.code(body, code, true)? {
            Some(value) => self.give(body, value),
            // The last call gives it.
            None => Some(()),
        }
    }

    /// A value is that of the call.
    fn give(&mut self, body: &mut Body, value: Place) -> Option<()> {
        let value = self.whole(body, value)?;
        let value = self.even(body, value)?;
        self.gave(body.function?, &value.form()?)?;
        match value {
            Place::Number(z) | Place::Char(z) => body.push(Do::Give(z)),
            value => {
                value.pass(body)?;
                body.push(Do::GivePassed)
            }
        }
    }

    /// An argument or a value of a function: where those are uneven, vectors are lists.
    pub fn even(&mut self, body: &mut Body, y: Place) -> Option<Place> {
        match self.lists && y.form()?.as_list().is_some() {
            true => self.as_list(body, &y).map(|(of, class)| Place::List(of, class)),
            false => Some(y),
        }
    }

    /// The value of code; within: there is none, because a last call has it.
    pub fn code(&mut self, body: &mut Body, code: &Code, tail: bool) -> Option<Option<Place>> {
        if !matches!(code.gives, Gives::Array) {
            return None;
        }
        self.steps(body, &code.ins, tail)
    }

    /// The value that steps leave; within: there is none, because a last call has it.
    pub fn steps(&mut self, body: &mut Body, ins: &[Ins], tail: bool) -> Option<Option<Place>> {
        let mut stack = Vec::new();
        body.assigns = ins.iter().any(|ins| ins.what.may_assign());
        let mut done = 0;
        for (k, one) in ins.iter().enumerate() {
            if k < done {
                continue;
            }
            if let Some((all, places)) = &self.ahead
                && let Some((part, length)) = all.part(one)
            {
                stack.push(places.get(part)?.clone());
                done = k + length;
                continue;
            }
            let last = tail && k + 1 == ins.len() && !body.is_guarded;
            match self.step(body, &one.what, &mut stack, last)? {
                Step::Gives(place) => stack.push(place),
                Step::Stays => {}
                Step::Ends => return Some(None),
            }
            if k + 1 < ins.len() && one.what.may_assign() {
                self.held.extend(stack.iter().filter_map(Place::outer_list));
            }
        }
        stack.pop().map(Some)
    }

    /// One step of the evaluator, which takes what it needs from the stack.
    fn step(
        &mut self,
        body: &mut Body,
        what: &resolve::Do,
        stack: &mut Vec<Place>,
        last: bool,
    ) -> Option<Step> {
        use resolve::Do as Of;
        let place = match what {
            Of::Const(a) => self.constant(a)?,
            Of::Omega => body.omega.clone()?,
            Of::Alpha => body.alpha.clone()?,
            Of::Name(sym) => self.named(body, *sym)?,
            Of::Strand(n) => {
                let mut items = Vec::new();
                for _ in 0..*n {
                    let item = stack.pop()?;
                    items.push(self.whole(body, item)?);
                }
                (items.len() <= SHORT).then(|| Place::Tuple(items.into()))?
            }
            Of::Monad(f) => {
                let y = stack.pop()?;
                return self.call(body, f, None, y, last);
            }
            Of::Dyad(f) => {
                let (x, y) = (stack.pop()?, stack.pop()?);
                return self.call(body, f, Some(x), y, last);
            }
            Of::Phrase(joint) => {
                let (x, y) = (stack.pop()?, stack.pop()?);
                let resolve::Do::Monad(then) = &joint.then.what else { return None };
                let first = self.apply(body, joint.prim, Some(x), y)?;
                return self.call(body, then, None, first, false);
            }
            Of::Index(present) => match (stack.pop()?, &**present) {
                (Place::Matrix(of), [true, true]) => {
                    let cell = [number(stack)?, number(stack)?];
                    self.item_in(body, of, cell)?
                }
                (Place::Matrix(of), [true]) => {
                    let Place::Cell(cell) = stack.pop()? else { return None };
                    self.item_in(body, of, cell)?
                }
                (Place::Matrix(of), [true, false]) => self.line(body, of, number(stack)?, false)?,
                (Place::Matrix(of), [false, true]) => self.line(body, of, number(stack)?, true)?,
                (base, [true]) => {
                    let at = stack.pop()?;
                    if let (Some(places), Place::Vector(_)) = (at.items(), &base) {
                        let mut items = Vec::new();
                        for at in places {
                            items.push(self.item(body, base.clone(), at.number()?)?);
                        }
                        return Some(Step::Gives(Place::Tuple(items.into())));
                    }
                    let Some(at) = at.number() else {
                        return self.items_at(body, &base, &at).map(Step::Gives);
                    };
                    // What is no simple scalar stands in one, which has no form.
                    let item = self.item(body, base, at)?;
                    let scalar = |p: &Place| {
                        matches!(p, Place::Number(_) | Place::Char(_) | Place::Enclosed(_))
                    };
                    scalar(&item).then_some(item)?
                }
                _ => return None,
            },
            Of::Assign(sym) => {
                let y = stack.last()?.clone();
                match body.scope.frame {
                    Some(_) => {
                        let y = self.whole(body, y)?;
                        *stack.last_mut()? = y.clone();
                        body.name(*sym, y);
                    }
                    None => {
                        if self.set(body, *sym, &y)? {
                            *stack.last_mut()? = self.outer(body, *sym, true)?;
                        }
                    }
                }
                return Some(Step::Stays);
            }
            Of::AssignFunc(sym, f) => {
                let f = self.known(body, f)?;
                body.scope.frame.as_ref()?.set(*sym, Value::Func(f));
                return Some(Step::Stays);
            }
            Of::AssignPattern(names, None) => {
                let y = stack.last()?.clone();
                let y = self.whole(body, y)?;
                match body.scope.frame {
                    Some(_) => body.spread(names, &y)?,
                    None => self.spread(body, names, &y)?,
                }
                return Some(Step::Stays);
            }
            Of::AssignAlpha => {
                let y = stack.last()?.clone();
                body.alpha = Some(self.whole(body, y)?);
                let frame = body.scope.frame.as_ref()?;
                *frame.alpha.borrow_mut() = Some(Value::Array(Array::num(0.0)));
                return Some(Step::Stays);
            }
            Of::Modify(sym, f) => {
                let y = stack.last()?.clone();
                self.modify(body, *sym, f, y)?;
                return Some(Step::Stays);
            }
            Of::Append(sym, joins) if body.is_loop() => {
                let (y, of) = (stack.pop()?, self.outer(body, *sym, true)?);
                match (&of, joins.glyph) {
                    (Place::Matrix(matrix), '⍪') => self.add_row(body, *matrix, &y)?,
                    (Place::Vector(list), _) => {
                        self.change_list(body, *list, &FExpr::Prim(joins), &y)?;
                    }
                    _ => return None,
                }
                of
            }
            Of::Append(sym, joins) => {
                let (y, old) = (stack.pop()?, body.own(*sym)?);
                let new = self.apply(body, joins, Some(old), y)?;
                body.name(*sym, new.clone());
                new
            }
            Of::AssignIndex { sym, present, f } => {
                let op = match f {
                    None => None,
                    Some(f) => Some(self.primitive(body, f)?.scalar(true)?),
                };
                if let Some(own) = body.own(*sym) {
                    let at = number(stack).filter(|_| **present == [true])?;
                    let y = stack.last()?.clone();
                    let new = self.with_item(body, own, at, op, y)?;
                    body.name(*sym, new);
                    return Some(Step::Stays);
                }
                let of = self.outer(body, *sym, true)?;
                let class = self.classes[of.outer_list()? as usize];
                (op.is_none() || class == Class::Number).then_some(())?;
                if let (Place::Matrix(of), [true, false] | [false, true]) = (&of, &**present) {
                    let at = number(stack)?;
                    let y = stack.last()?.clone();
                    self.set_line(body, (*of, at, present[1]), op, &y)?;
                    return Some(Step::Stays);
                }
                if let (Place::Vector(list), [true]) = (&of, &**present)
                    && let Some(places) = stack.last()?.items().map(<[Place]>::to_vec)
                {
                    stack.pop();
                    let y = stack.last()?.clone();
                    self.set_items(body, (*list, class), &places, op, &y)?;
                    return Some(Step::Stays);
                }
                let at = match (&of, &**present) {
                    (Place::Vector(_), [true]) => number(stack)?,
                    (Place::Matrix(of), [true, true]) => {
                        let cell = [number(stack)?, number(stack)?];
                        Arg::Register(body.place_in(*of, cell)?)
                    }
                    (Place::Matrix(of), [true]) => {
                        let Place::Cell(cell) = stack.pop()? else { return None };
                        Arg::Register(body.place_in(*of, cell)?)
                    }
                    _ => return None,
                };
                let y = stack.last()?.scalar(class)?;
                body.push(match (of, at) {
                    (Place::Matrix(of), Arg::Register(at)) => Do::SetKnown { of, at, op, y },
                    (of, at) => Do::SetItem { of: of.outer_list()?, at, op, y },
                })?;
                return Some(Step::Stays);
            }
            _ => return None,
        };
        Some(Step::Gives(place))
    }

    /// `of[a b …]←y`, `of[a b …]op←y`: all items are read, and what becomes of them is computed,
    /// before one is set, so places are there and nothing fails; one that is named twice is changed
    /// twice.
    fn set_items(
        &mut self,
        body: &mut Body,
        (of, class): (u16, Class),
        places: &[Place],
        op: Option<Op>,
        y: &Place,
    ) -> Option<()> {
        let mut new = Vec::new();
        for (k, at) in places.iter().enumerate() {
            let y = match y.items() {
                Some(items) if items.len() == places.len() => &items[k],
                Some([one]) => one,
                Some(_) => return None,
                None => y,
            };
            let at = at.number()?;
            let old = self.item(body, Place::Vector(of), at)?;
            if let Some(op) = op {
                self.two(body, op, &old, y)?.scalar(class)?;
            }
            new.push((at, y.scalar(class)?));
        }
        for (at, y) in new {
            body.push(Do::SetItem { of, at, op, y })?;
        }
        Some(())
    }

    /// An item of a matrix, by its row and column.
    pub fn item_in(&mut self, body: &mut Body, of: u16, cell: [Arg; 2]) -> Option<Place> {
        let at = body.place_in(of, cell)?;
        let class = self.classes[of as usize];
        body.made(class, |into| Do::Known { into, of, at })
    }

    fn constant(&mut self, a: &Array) -> Option<Place> {
        match (a.rank(), Class::of(a)) {
            (0, Some(class)) => Some(Place::one(class, self.literal(a.number_at(0)?)?)),
            (1, Some(class)) => self.list(List::Shared(a.clone()), class).map(Place::Vector),
            _ => None,
        }
    }

    /// A constant.
    pub fn literal(&mut self, x: f64) -> Option<Arg> {
        let slot = self.program.number(x)?;
        self.literals.push(slot);
        Some(Arg::Fixed(slot))
    }

    /// The constant that a value is.
    pub fn known_number(&self, y: &Place) -> Option<f64> {
        match y {
            Place::Number(Arg::Fixed(k)) if self.literals.contains(k) => {
                self.program.constants.get(*k as usize).copied()
            }
            _ => None,
        }
    }

    /// A list of the program.
    pub fn list(&mut self, list: List, class: Class) -> Option<u16> {
        self.classes.push(class);
        self.program.list(list)
    }

    /// The constant vector that a list is.
    pub fn constant_list(&self, of: u16) -> Option<&Array> {
        let named = self.program.names.iter().any(|n| n.rank > 0 && n.slot == of);
        match &self.program.lists[of as usize] {
            List::Shared(a) if !named => Some(a),
            _ => None,
        }
    }

    /// The value of a name.
    fn named(&mut self, body: &mut Body, sym: Sym) -> Option<Place> {
        if let Some(own) = body.own(sym) {
            return Some(own);
        }
        if let Some((_, seen)) = body.seen.iter().find(|(s, _)| *s == sym) {
            return Some(seen.clone());
        }
        match self.outer(body, sym, false)? {
            // Another step may change it before this value is used.
            Place::Number(y) if self.effects && body.assigns => {
                body.made(Class::Number, |into| Do::Copy { into, y })
            }
            Place::Char(y) if self.effects && body.assigns => {
                body.made(Class::Char, |into| Do::Copy { into, y })
            }
            Place::Text(y) if self.effects && body.assigns => {
                let into = body.register()?;
                body.push(Do::Copy { into, y })?;
                Some(Place::Text(Arg::Register(into)))
            }
            place => Some(place),
        }
    }
}

impl Body {
    /// The reading of a loop, which runs where its names are.
    pub fn of_loop(scope: Scope) -> Body {
        let of = Function { steps: Vec::new(), registers: 2, lists: 0, kept: 0 };
        Body {
            scope,
            of,
            alpha: None,
            omega: None,
            names: Vec::new(),
            seen: Vec::new(),
            function: None,
            assigns: false,
            is_guarded: false,
        }
    }

    pub fn is_loop(&self) -> bool {
        self.function.is_none()
    }

    pub fn push(&mut self, step: Do) -> Option<()> {
        self.of.steps.push(step);
        (self.of.steps.len() < MOST).then_some(())
    }

    /// A register of its own.
    fn register(&mut self) -> Option<u16> {
        self.registers(1)
    }

    /// So many registers, one behind the other.
    pub fn registers(&mut self, n: usize) -> Option<u16> {
        let first = u16::try_from(self.of.registers).ok()?;
        self.of.registers += n;
        Some(first)
    }

    /// The register of a place in a matrix, by its row and column.
    fn place_in(&mut self, of: u16, [row, column]: [Arg; 2]) -> Option<u16> {
        let into = self.register()?;
        self.push(Do::Place { into, of, row, column })?;
        Some(into)
    }

    /// A step with a register for its value.
    pub fn made(&mut self, class: Class, step: impl FnOnce(u16) -> Do) -> Option<Place> {
        let into = self.register()?;
        self.push(step(into))?;
        Some(Place::one(class, Arg::Register(into)))
    }

    /// A step on lists with a list for its value.
    pub fn listed(&mut self, class: Class, step: impl FnOnce(u16) -> OnList) -> Option<Place> {
        let into = u16::try_from(self.of.lists).ok()?;
        self.of.lists += 1;
        self.push(Do::List(step(into), false))?;
        Some(Place::List(into, class))
    }

    /// The value of the body's own name.
    pub fn own(&self, sym: Sym) -> Option<Place> {
        self.names.iter().find(|(s, _)| *s == sym).map(|(_, y)| y.clone())
    }

    /// `a b←`: an item to each name, or all of a scalar.
    fn spread(&mut self, names: &Pattern, y: &Place) -> Option<()> {
        match (names, y) {
            (Pattern::Name(sym), y) => self.name(*sym, y.clone()),
            (Pattern::All(names), Place::Tuple(items)) if names.len() == items.len() => {
                for (name, item) in names.iter().zip(items.iter()) {
                    self.spread(name, item)?;
                }
            }
            (Pattern::All(names), Place::Number(_) | Place::Char(_)) => {
                names.iter().try_for_each(|name| self.spread(name, y))?
            }
            _ => return None,
        }
        Some(())
    }

    pub fn name(&mut self, sym: Sym, y: Place) {
        if let Some(frame) = &self.scope.frame {
            frame.set(sym, Value::Array(Array::num(0.0)));
        }
        match self.names.iter_mut().find(|(s, _)| *s == sym) {
            Some(slot) => slot.1 = y,
            None => self.names.push((sym, y)),
        }
    }
}

fn number(stack: &mut Vec<Place>) -> Option<Arg> {
    stack.pop()?.number()
}

//! Functions of a program: each with the forms of its arguments, its value's form, and the names of
//! a call around that it sees, which are arguments more.

use super::Scope;
use super::ahead::Side;
use super::code::{Body, Maker, Place, Step};
use super::form::{Class, Form};
use crate::eval::env::Frame;
use crate::eval::value::{self, Func, Oper};
use crate::syntax::ast::Sym;
use crate::syntax::resolve::{FExpr, OpExpr, Operand};
use crate::syntax::token::Word;
use crate::table::Prim;
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, Do, Function, OnList};
use std::rc::Rc;

/// Functions of one program, at most.
const MOST: usize = 32;

/// A function with one argument or two.
pub(super) struct Known {
    f: Rc<Func>,
    x: Option<Form>,
    y: Form,
    /// The names of the call around, with their forms there.
    around: Vec<(Sym, Form)>,
    /// The call that they all stand in.
    outer: Option<*const Frame>,
    state: State,
    /// Its value's form, where it is known.
    gives: Option<Form>,
    /// The functions that its last calls are of.
    last: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Waits,
    UnderWay,
    Read,
}

impl Maker<'_, '_> {
    /// The number of a function of the program; it is read later.
    pub fn function(
        &mut self,
        f: &Rc<Func>,
        x: Option<Form>,
        y: Form,
        around: Vec<(Sym, Form)>,
        outer: Option<*const Frame>,
    ) -> Option<usize> {
        let same = |k: &Known| Rc::ptr_eq(&k.f, f) && k.x == x && k.y == y && k.around == around;
        if let Some(k) = self.known.iter().position(same) {
            return Some(k);
        }
        if !matches!(&**f, Func::Dfn(_)) || self.known.len() >= MOST {
            return None;
        }
        let (state, gives, last) = (State::Waits, None, Vec::new());
        self.known.push(Known { f: f.clone(), x, y, around, outer, state, gives, last });
        self.program.code.push(Function::default());
        Some(self.known.len() - 1)
    }

    /// The place of a function's code.
    pub(super) fn code_of(&self, k: usize) -> u16 {
        (self.program.code.len() - self.known.len() + k) as u16
    }

    pub(super) fn read_function(&mut self, k: usize) -> Option<()> {
        if self.known[k].state != State::Waits {
            return Some(());
        }
        self.known[k].state = State::UnderWay;
        let at = self.code_of(k) as usize;
        self.program.code[at] = self.body(k)?;
        self.known[k].state = State::Read;
        Some(())
    }

    /// Reads what waits, and holds that last calls give what their callers give.
    pub(super) fn finish(&mut self) -> Option<()> {
        let mut k = 0;
        while k < self.known.len() {
            self.read_function(k)?;
            k += 1;
        }
        for k in 0..self.known.len() {
            let form = self.form_of(k)?;
            for of in self.known[k].last.clone() {
                (self.form_of(of)? == form).then_some(())?;
            }
        }
        Some(())
    }

    /// The form of a function's value: what it gives first says it, for all.
    pub(super) fn form_of(&mut self, k: usize) -> Option<Form> {
        self.read_function(k)?;
        let (mut seen, mut at) = (vec![k], 0);
        let mut form = None;
        while let (None, Some(&of)) = (&form, seen.get(at)) {
            self.read_function(of)?;
            form = self.known[of].gives.clone();
            for next in self.known[of].last.clone() {
                if !seen.contains(&next) {
                    seen.push(next);
                }
            }
            at += 1;
        }
        // One that never gives a value gives any.
        let form = form.map_or(Form::NUMBER, |form| form);
        self.gave(k, &form)?;
        Some(form)
    }

    /// A function gives a value of this form. None: it gave another one.
    pub(super) fn gave(&mut self, k: usize, form: &Form) -> Option<()> {
        match &self.known[k].gives {
            Some(known) => {
                self.is_uneven |= known != form && known.as_list() == form.as_list();
                (self.known[k].gives.as_ref() == Some(form)).then_some(())
            }
            None => {
                self.known[k].gives = Some(form.clone());
                Some(())
            }
        }
    }

    fn body(&mut self, k: usize) -> Option<Function> {
        let Known { f, x, y, around, outer, .. } = &self.known[k];
        let (f, x, y, around, outer) = (f.clone(), x.clone(), y.clone(), around.clone(), *outer);
        let closure = f.closure()?.clone();
        self.ev.is_at_home(&f).then_some(())?;
        let frame = self.ev.frame_to_read(&f, &closure, x.is_some());
        self.frames.push(frame.clone());
        let scope = Scope { ast: closure.ast.clone(), frame: Some(frame.clone()), around: outer };
        // ⍵, ⍺ and the names around are the first registers.
        let mut next = (0, 0);
        let omega = Place::of_form(&y, &mut next);
        let alpha = x.as_ref().map(|x| Place::of_form(x, &mut next));
        let seen = around.iter().map(|(sym, form)| (*sym, Place::of_form(form, &mut next)));
        let seen = seen.collect();
        let (mut alpha, mut omega) = (alpha, Some(omega));
        if let Some((ahead, places)) = self.ahead.as_mut().filter(|_| k == 0) {
            let item = match ahead.side {
                Side::Left => alpha.take(),
                Side::Right => omega.take(),
            };
            let Some(Place::Tuple(parts)) = item else { return None };
            *places = parts;
        }
        let of = Function {
            steps: Vec::new(),
            registers: usize::from(next.0).max(2),
            lists: usize::from(next.1),
            kept: 0,
        };
        let mut body = Body {
            scope,
            of,
            alpha,
            omega,
            names: Vec::new(),
            seen,
            function: Some(k),
            assigns: false,
            is_guarded: false,
        };
        self.statements(&mut body, &frame, &closure.ast.dfn(closure.dfn).stmts)?;
        // Whoever looks outer names up by it finds none of its own.
        frame.locals.borrow_mut().clear();
        let function = self.code_of(k).into();
        self.program.tests_before_failures(function, &mut body.of)?;
        body.of.mark_last();
        Some(body.of)
    }

    /// `x f y`, or `f y`.
    pub(super) fn call(
        &mut self,
        body: &mut Body,
        f: &FExpr,
        x: Option<Place>,
        y: Place,
        last: bool,
    ) -> Option<Step> {
        match f {
            FExpr::Op1(OpExpr::Prim(p), g) if p.glyph == '⍨' => {
                let Operand::F(g) = &**g else { return None };
                let right = either(x, &y);
                return self.call(body, g, Some(y), right, last);
            }
            FExpr::Op1(OpExpr::Prim(p), g) if matches!(p.glyph, '/' | '⌿') && x.is_none() => {
                let Operand::F(g) = &**g else { return None };
                let g = self.primitive(body, g)?;
                return self.fold(body, g, y).map(Step::Gives);
            }
            FExpr::Op1(OpExpr::Prim(p), g) if matches!(p.glyph, '\\' | '⍀') && x.is_none() => {
                let Operand::F(g) = &**g else { return None };
                let op = self.primitive(body, g)?.scalar(true)?;
                return self.scan_items(body, op, &y).map(Step::Gives);
            }
            _ => {}
        }
        if let (FExpr::System(row), Place::Char(c)) = (f, &y)
            && row.name == "C"
        {
            return self.case(body, x.as_ref(), *c).map(Step::Gives);
        }
        let f = self.known(body, f)?;
        self.call_known(body, &f, x, y, last)
    }

    /// `x⎕C c` of a character.
    fn case(&mut self, body: &mut Body, x: Option<&Place>, y: Arg) -> Option<Place> {
        let to = match x {
            None => -3,
            Some(x) => match self.known_number(x)? {
                1.0 => 1,
                -1.0 => -1,
                -3.0 => -3,
                _ => return None,
            },
        };
        body.made(Class::Char, |into| Do::List(OnList::Case { into, y, to }, false))
    }

    /// The function that an expression is now.
    pub(super) fn known(&mut self, body: &Body, f: &FExpr) -> Option<Rc<Func>> {
        match f {
            FExpr::Prim(_)
            | FExpr::Known(_)
            | FExpr::Name(_)
            | FExpr::Dfn(_)
            | FExpr::Word(Word::Del) => {}
            _ => return None,
        }
        let made = self.ev.function(body.scope.at(), f).ok()?;
        if let FExpr::Name(sym) = f {
            let own = body.scope.frame.as_ref().and_then(|frame| frame.local(*sym));
            if own.is_none() {
                self.program.functions.push((body.scope.clone(), *sym, made.clone()));
            }
        }
        Some(made)
    }

    fn call_known(
        &mut self,
        body: &mut Body,
        f: &Rc<Func>,
        x: Option<Place>,
        y: Place,
        last: bool,
    ) -> Option<Step> {
        match &**f {
            Func::Prim(p) => self.apply(body, p, x, y).map(Step::Gives),
            Func::Op1(Oper::Prim(p), value::Operand::F(g)) if p.glyph == '⍨' => {
                let right = either(x, &y);
                self.call_known(body, g, Some(y), right, last)
            }
            Func::Op1(Oper::Prim(p), value::Operand::F(g))
                if matches!(p.glyph, '/' | '⌿') && x.is_none() =>
            {
                let Func::Prim(g) = &**g else { return None };
                self.fold(body, g, y).map(Step::Gives)
            }
            Func::Op1(Oper::Prim(p), value::Operand::F(g)) if matches!(p.glyph, '/' | '⌿') => {
                let (g, turned) = match &**g {
                    Func::Op1(Oper::Prim(p), value::Operand::F(g)) if p.glyph == '⍨' => (g, true),
                    _ => (g, false),
                };
                let Func::Prim(g) = &**g else { return None };
                let op = g.scalar(true)?;
                self.pairs_of_items(body, (op, turned), &x?, &y).map(Step::Gives)
            }
            Func::Op1(Oper::Prim(p), value::Operand::F(g))
                if matches!(p.glyph, '\\' | '⍀') && x.is_none() =>
            {
                let Func::Prim(g) = &**g else { return None };
                self.scan_items(body, g.scalar(true)?, &y).map(Step::Gives)
            }
            Func::Op2(Oper::Prim(p), value::Operand::F(f), value::Operand::F(g))
                if p.glyph == '.' =>
            {
                let (Func::Prim(f), Func::Prim(g)) = (&**f, &**g) else { return None };
                let ops = (f.scalar(true)?, g.scalar(true)?);
                let (x, begun) = (x?, body.of.steps.len());
                let made = self.product(body, ops, &x, &y).or_else(|| {
                    body.of.steps.truncate(begun);
                    let all = self.map_items(body, ops.1, Some(&x), &y)?;
                    let sum = self.fold_items(body, ops.0, &all)?;
                    // A sum of many products does not round them: of lists nobody knows how many.
                    let many = |step: &Do| matches!(step, Do::List(OnList::Fold { .. }, _));
                    let dot = ops == (Op::Add, Op::Mul);
                    let rounds = dot && body.of.steps[begun..].iter().any(many);
                    (!rounds).then_some(sum)
                });
                made.map(Step::Gives)
            }
            _ => self.call_dfn(body, f, x, y, last),
        }
    }

    fn call_dfn(
        &mut self,
        body: &mut Body,
        f: &Rc<Func>,
        x: Option<Place>,
        y: Place,
        last: bool,
    ) -> Option<Step> {
        let y = self.whole(body, y)?;
        let y = self.even(body, y)?;
        let x = match x {
            Some(x) => {
                let x = self.whole(body, x)?;
                Some(self.even(body, x)?)
            }
            None => None,
        };
        let seen = self.seen_by(body, f)?;
        let form = |p: &Place| p.form();
        let around: Option<Vec<(Sym, Form)>> =
            seen.iter().map(|(sym, place)| Some((*sym, form(place)?))).collect();
        let around = around?;
        let (fx, fy) = (x.as_ref().map(form), form(&y)?);
        let fx = match fx {
            Some(fx) => Some(fx?),
            None => None,
        };
        // A vector that is another length in each call has no form.
        let grows = |k: &Known| Rc::ptr_eq(&k.f, f) && k.y != fy && k.y.as_list() == fy.as_list();
        if fy.as_list().is_some() && self.known.iter().any(grows) {
            self.is_uneven = true;
            return None;
        }
        let env = f.closure()?.env.as_ref();
        let outer = match env.is_some_and(|env| self.is_read(env)) {
            true => body.scope.around,
            false => env.map(Rc::as_ptr),
        };
        let simple = seen.is_empty()
            && fy == Form::NUMBER
            && fx.as_ref().is_none_or(|fx| *fx == Form::NUMBER);
        let k = self.function(f, fx, fy, around, outer)?;
        let of = self.code_of(k);
        if last && let Some(here) = body.function {
            self.known[here].last.push(k);
        }
        let last = last && body.function.is_some();
        if let (true, Place::Number(y)) = (simple, &y) {
            let (x, y) = (x.as_ref().and_then(Place::number), *y);
            if last {
                return body.push(Do::Again { of, x, y }).map(|()| Step::Ends);
            }
            return match self.form_of(k)? {
                Form::One(class) => body.made(class, |into| Do::Call { of, into, x, y }),
                form => {
                    body.push(Do::Call { of, into: 0, x, y })?;
                    body.taken(&form)
                }
            }
            .map(Step::Gives);
        }
        // The value's form first: reading a function passes nothing here.
        let form = if last { None } else { Some(self.form_of(k)?) };
        y.pass(body)?;
        if let Some(x) = &x {
            x.pass(body)?;
        }
        for (_, place) in &seen {
            place.pass(body)?;
        }
        match form {
            None => body.push(Do::AgainOn { of }).map(|()| Step::Ends),
            Some(Form::One(class)) => {
                body.made(class, |into| Do::CallOn { of, into }).map(Step::Gives)
            }
            Some(form) => {
                body.push(Do::CallOn { of, into: 0 })?;
                body.taken(&form).map(Step::Gives)
            }
        }
    }

    /// The names that a function sees of the call where it is called: those of the call that it was
    /// written in, or that it sees itself where it calls itself.
    fn seen_by(&self, body: &Body, f: &Rc<Func>) -> Option<Vec<(Sym, Place)>> {
        let frame = body.scope.frame.as_ref()?;
        let env = f.closure()?.env.as_ref();
        if env.is_some_and(|env| Rc::ptr_eq(env, frame)) {
            let own = |sym: &Sym| body.names.iter().any(|(s, _)| s == sym);
            let outer = body.seen.iter().filter(|(sym, _)| !own(sym));
            return Some(body.names.iter().chain(outer).cloned().collect());
        }
        if Rc::ptr_eq(f, &frame.this) {
            return Some(body.seen.clone());
        }
        // Written in another call of the program: its names are not at hand.
        (!env.is_some_and(|env| self.is_read(env))).then(Vec::new)
    }

    /// Whether a frame stands for the calls of a function of the program.
    fn is_read(&self, frame: &Rc<Frame>) -> bool {
        self.frames.iter().any(|f| Rc::ptr_eq(f, frame))
    }

    /// The primitive that an expression is.
    pub(super) fn primitive(&mut self, body: &Body, f: &FExpr) -> Option<&'static Prim> {
        match &*self.known(body, f)? {
            Func::Prim(p) => Some(p),
            _ => None,
        }
    }
}

/// The right side of `f⍨`: the left argument, or the only one.
fn either(x: Option<Place>, y: &Place) -> Place {
    match x {
        Some(x) => x,
        None => y.clone(),
    }
}

impl Place {
    /// The registers of a value of a form, from the next ones on.
    pub fn of_form(form: &Form, next: &mut (u16, u16)) -> Place {
        match form {
            Form::One(class) => {
                next.0 += 1;
                Place::one(*class, Arg::Register(next.0 - 1))
            }
            Form::List(class) => {
                next.1 += 1;
                Place::List(next.1 - 1, *class)
            }
            Form::Tuple(items) => {
                Place::Tuple(items.iter().map(|item| Place::of_form(item, next)).collect())
            }
        }
    }

    /// Its registers are arguments, or a value.
    pub fn pass(&self, body: &mut Body) -> Option<()> {
        match self {
            Place::Number(y) | Place::Char(y) => body.push(Do::Pass(*y)),
            Place::List(of, _) => body.push(Do::PassList(*of, false)),
            Place::Tuple(items) => items.iter().try_for_each(|item| item.pass(body)),
            _ => None,
        }
    }
}

impl Body {
    /// The value of the call before, of several registers.
    fn taken(&mut self, form: &Form) -> Option<Place> {
        let (numbers, lists) = form.registers();
        let first = (self.of.registers, self.of.lists);
        let first = (u16::try_from(first.0).ok()?, u16::try_from(first.1).ok()?);
        self.of.registers += numbers;
        self.of.lists += lists;
        let (numbers, lists) = (numbers as u16, lists as u16);
        self.push(Do::Taken { into: first.0, numbers, list: first.1, lists })?;
        let mut next = first;
        Some(Place::of_form(form, &mut next))
    }
}

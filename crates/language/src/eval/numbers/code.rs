//! Instructions over registers, made of the bodies of dfns whose values are all numbers.
//!
//! A body is read once, statement by statement, with a stack that holds what the evaluator's would:
//! here the place of each value, a register or a constant, and there nothing is computed. A name of
//! the body's own is the place of its value; a guard is a jump over what it guards. Whatever has no
//! such reading refuses the whole program: there is no half.

use super::program::{Arg, Do, Function, Program};
use super::{Name, Scope};
use crate::eval::env::Frame;
use crate::eval::run::Eval;
use crate::eval::value::{self, Func, Oper, Value};
use crate::syntax::ast::{Guard, Stmt, Sym};
use crate::syntax::resolve::{self, Code, FExpr, Gives, OpExpr, Operand};
use crate::syntax::token::Word;
use crate::table::{self, Prim};
use aplomb_values::array::{Array, Data};
use aplomb_values::prim::op::Op;
use std::cell::RefCell;
use std::rc::Rc;

/// Functions of one program, and instructions of one function, at most.
const MOST: (usize, usize) = (32, 4_096);

/// A value on the stack.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Number(Arg),
    Vector(u16),
    Matrix(u16),
}

/// The reading of one function, or of a loop.
pub(super) struct Body {
    /// Of a function a call that never runs: it has the classes of the names.
    scope: Scope,
    pub of: Function,
    alpha: Option<Arg>,
    names: Vec<(Sym, Arg)>,
    /// The phrase that is read gives names values.
    assigns: bool,
}

pub(super) struct Maker<'e, 'h> {
    pub ev: &'e mut Eval<'h>,
    pub program: Program,
    /// The functions that there are, each with one argument or two.
    known: Vec<(Rc<Func>, bool)>,
    effects: bool,
}

/// The program of a dfn. None: something in it is more than numbers.
pub fn program(ev: &mut Eval<'_>, f: &Rc<Func>, dyadic: bool, effects: bool) -> Option<Program> {
    let mut maker = Maker::new(ev, effects);
    maker.function(f, dyadic)?;
    maker.functions(0)
}

impl<'e, 'h> Maker<'e, 'h> {
    pub fn new(ev: &'e mut Eval<'h>, effects: bool) -> Self {
        Maker { ev, program: Program::default(), known: Vec::new(), effects }
    }

    /// The program, once its functions from one on are read.
    pub fn functions(mut self, first: usize) -> Option<Program> {
        for read in 0.. {
            let Some((f, dyadic)) = self.known.get(read).cloned() else { break };
            self.program.code[first + read] = self.body(&f, dyadic)?;
        }
        Some(self.program)
    }

    /// The number of a function of the program; it is read later.
    fn function(&mut self, f: &Rc<Func>, dyadic: bool) -> Option<u16> {
        let same = |k: &(Rc<Func>, bool)| Rc::ptr_eq(&k.0, f) && k.1 == dyadic;
        if let Some(k) = self.known.iter().position(same) {
            return Some((self.program.code.len() - self.known.len() + k) as u16);
        }
        if !matches!(&**f, Func::Dfn(_)) || self.known.len() >= MOST.0 {
            return None;
        }
        self.known.push((f.clone(), dyadic));
        self.program.code.push(Function::default());
        Some(self.program.code.len() as u16 - 1)
    }

    fn body(&mut self, f: &Rc<Func>, dyadic: bool) -> Option<Function> {
        let closure = f.closure()?.clone();
        let class = || Value::Array(Array::num(0.0));
        let frame = Rc::new(Frame {
            this: f.clone(),
            closure: closure.clone(),
            alpha: RefCell::new(dyadic.then(class)),
            omega: Array::num(0.0),
            locals: RefCell::default(),
            framing: self.ev.cx.sys.scope.frames(),
            saved: RefCell::default(),
        });
        // ⍵ and ⍺ are the first registers.
        let of = Function { steps: Vec::new(), registers: 2 };
        let alpha = dyadic.then_some(Arg::Register(1));
        let scope = Scope { ast: closure.ast.clone(), frame: Some(frame.clone()) };
        let mut body = Body { scope, of, alpha, names: Vec::new(), assigns: false };
        self.statements(&mut body, &frame, &closure.ast.dfn(closure.dfn).stmts)?;
        // Whoever looks outer names up by it finds none of its own.
        frame.locals.borrow_mut().clear();
        Some(body.of)
    }

    fn statements(&mut self, body: &mut Body, frame: &Rc<Frame>, stmts: &[Stmt]) -> Option<()> {
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
                    match code.code.assigns {
                        true => last = self.code(body, &code.code, false)?,
                        false => return self.gives(body, &code.code),
                    }
                }
                Guard::Test(_) if empty => return None,
                Guard::Test(cond) => {
                    let cond = self.resolved(body, cond)?;
                    let Some(Place::Number(y)) = self.code(body, &cond.code, false)? else {
                        return None;
                    };
                    let jump = body.of.steps.len();
                    body.of.steps.push(Do::Unless { y, then: 0 });
                    let (alpha, names) = (body.alpha, body.names.clone());
                    let classes = frame.names();
                    let code = self.resolved(body, stmt.phrase)?;
                    self.gives(body, &code.code)?;
                    drop(classes);
                    (body.alpha, body.names) = (alpha, names);
                    let then = body.of.steps.len() as u32;
                    body.of.steps[jump] = Do::Unless { y, then };
                }
                Guard::Error(_) => return None,
            }
        }
        // A body that ends with an assignment has its value, which does not print: who calls it for
        // an item does not mind.
        let Some(Place::Number(z)) = last.filter(|_| self.effects) else { return None };
        body.push(Do::Give(z))
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
        let value = self.code(body, code, true)?;
        match value {
            Some(Place::Number(z)) => body.push(Do::Give(z)),
            Some(Place::Vector(_) | Place::Matrix(_)) => None,
            // The last call gives it.
            None => Some(()),
        }
    }

    /// The value of code; within: there is none, because a last call has it.
    pub fn code(&mut self, body: &mut Body, code: &Code, tail: bool) -> Option<Option<Place>> {
        if !matches!(code.gives, Gives::Array) {
            return None;
        }
        let mut stack = Vec::new();
        body.assigns = code.ins.iter().any(|ins| ins.what.may_assign());
        for (k, ins) in code.ins.iter().enumerate() {
            let last = tail && k + 1 == code.ins.len();
            if self.step(body, &ins.what, &mut stack, last)? {
                return Some(None);
            }
        }
        stack.pop().map(Some)
    }

    /// One step of the evaluator. True: it was a last call.
    fn step(
        &mut self,
        body: &mut Body,
        what: &resolve::Do,
        stack: &mut Vec<Place>,
        last: bool,
    ) -> Option<bool> {
        use resolve::Do as Of;
        match what {
            Of::Const(a) => stack.push(self.constant(a)?),
            Of::Omega => stack.push(Place::Number(Arg::Register(0))),
            Of::Alpha => stack.push(Place::Number(body.alpha?)),
            Of::Name(sym) => {
                let place = self.named(body, *sym)?;
                stack.push(place);
            }
            Of::Monad(FExpr::Prim(p))
                if p.glyph == '≢' && !matches!(stack.last(), Some(Place::Number(_))) =>
            {
                let (Place::Vector(of) | Place::Matrix(of)) = stack.pop()? else { return None };
                stack.push(body.made(|into| Do::Tally { into, of })?);
            }
            Of::Monad(f) => {
                let y = number(stack)?;
                return self.call(body, f, None, y, stack, last);
            }
            Of::Dyad(f) => {
                let x = stack.pop()?;
                if let (Place::Number(x), FExpr::Prim(p)) = (x, f)
                    && p.glyph == '⊃'
                {
                    let Place::Vector(of) = stack.pop()? else { return None };
                    stack.push(body.made(|into| Do::Item { into, of, at: x })?);
                    return Some(false);
                }
                let Place::Number(x) = x else { return None };
                let y = number(stack)?;
                return self.call(body, f, Some(x), y, stack, last);
            }
            Of::Index(present) => {
                let place = stack.pop()?;
                let step = match (place, &**present) {
                    (Place::Vector(of), [true]) => {
                        let at = number(stack)?;
                        body.made(|into| Do::Item { into, of, at })
                    }
                    (Place::Matrix(of), [true, true]) => {
                        let (row, column) = (number(stack)?, number(stack)?);
                        let at = body.register()?;
                        body.push(Do::Place { into: at, of, row, column })?;
                        body.made(|into| Do::Known { into, of, at })
                    }
                    _ => None,
                };
                stack.push(step?);
            }
            Of::Assign(sym) => {
                let Place::Number(y) = *stack.last()? else { return None };
                match body.scope.frame {
                    Some(_) => body.name(*sym, y),
                    None => self.set(body, *sym, y)?,
                }
            }
            Of::AssignAlpha => {
                let Place::Number(y) = *stack.last()? else { return None };
                body.alpha = Some(y);
                let frame = body.scope.frame.as_ref()?;
                *frame.alpha.borrow_mut() = Some(Value::Array(Array::num(0.0)));
            }
            Of::Modify(sym, f) => {
                let Place::Number(y) = *stack.last()? else { return None };
                match body.own(*sym) {
                    Some(old) => {
                        let mut made = Vec::new();
                        self.call(body, f, Some(old), y, &mut made, false)?;
                        body.name(*sym, number(&mut made)?);
                    }
                    None => self.modify(body, *sym, f, y)?,
                }
            }
            Of::AssignIndex { sym, present, f } => {
                let op = match f {
                    None => None,
                    Some(f) => Some(scalar(self.primitive(body, f)?, true)?),
                };
                match (self.outer(body, *sym, true)?, &**present) {
                    (Place::Vector(of), [true]) => {
                        let at = number(stack)?;
                        let Place::Number(y) = *stack.last()? else { return None };
                        body.push(Do::SetItem { of, at, op, y })?;
                    }
                    (Place::Matrix(of), [true, true]) => {
                        let (row, column) = (number(stack)?, number(stack)?);
                        let Place::Number(y) = *stack.last()? else { return None };
                        let at = body.register()?;
                        body.push(Do::Place { into: at, of, row, column })?;
                        body.push(Do::SetKnown { of, at, op, y })?;
                    }
                    _ => return None,
                }
            }
            _ => return None,
        }
        Some(false)
    }

    /// `x f y`, or `f y`, pushed. True: it was a last call.
    fn call(
        &mut self,
        body: &mut Body,
        f: &FExpr,
        x: Option<Arg>,
        y: Arg,
        stack: &mut Vec<Place>,
        last: bool,
    ) -> Option<bool> {
        let made = match f {
            FExpr::Op1(OpExpr::Prim(p), g) if p.glyph == '⍨' => {
                let Operand::F(g) = &**g else { return None };
                return self.call(body, g, Some(y), either(x, y), stack, last);
            }
            FExpr::Word(Word::Del) => {
                let this = body.scope.frame.as_ref()?.this.clone();
                return self.call_dfn(body, &this, x, y, stack, last);
            }
            FExpr::Name(sym) => {
                let f = self.ev.function(body.scope.at(), f).ok()?;
                self.program.functions.push((body.scope.clone(), *sym, f.clone()));
                return self.call_known(body, &f, x, y, stack, last);
            }
            FExpr::Known(f) => return self.call_known(body, f, x, y, stack, last),
            f => {
                let p = self.primitive(body, f)?;
                self.apply(body, p, x, y)?
            }
        };
        stack.push(made);
        Some(false)
    }

    /// The same of a function that is there.
    fn call_known(
        &mut self,
        body: &mut Body,
        f: &Rc<Func>,
        x: Option<Arg>,
        y: Arg,
        stack: &mut Vec<Place>,
        last: bool,
    ) -> Option<bool> {
        match &**f {
            Func::Prim(p) => {
                let made = self.apply(body, p, x, y)?;
                stack.push(made);
                Some(false)
            }
            Func::Op1(Oper::Prim(p), value::Operand::F(g)) if p.glyph == '⍨' => {
                self.call_known(body, g, Some(y), either(x, y), stack, last)
            }
            _ => self.call_dfn(body, f, x, y, stack, last),
        }
    }

    fn call_dfn(
        &mut self,
        body: &mut Body,
        f: &Rc<Func>,
        x: Option<Arg>,
        y: Arg,
        stack: &mut Vec<Place>,
        last: bool,
    ) -> Option<bool> {
        let of = self.function(f, x.is_some())?;
        let x = either(x, y);
        if last {
            body.push(Do::Again { of, x, y })?;
            return Some(true);
        }
        stack.push(body.made(|into| Do::Call { of, into, x, y })?);
        Some(false)
    }

    /// The primitive that an expression is.
    fn primitive(&mut self, body: &Body, f: &FExpr) -> Option<&'static Prim> {
        match f {
            FExpr::Prim(p) => Some(p),
            FExpr::Known(f) => match &**f {
                Func::Prim(p) => Some(p),
                _ => None,
            },
            FExpr::Name(sym) => {
                let f = self.ev.function(body.scope.at(), f).ok()?;
                let Func::Prim(p) = &*f else { return None };
                self.program.functions.push((body.scope.clone(), *sym, f.clone()));
                Some(p)
            }
            _ => None,
        }
    }

    fn apply(&mut self, body: &mut Body, p: &Prim, x: Option<Arg>, y: Arg) -> Option<Place> {
        match (p.glyph, x) {
            ('⊢', _) | ('⊣' | '⊃', None) => return Some(Place::Number(y)),
            ('⊣', Some(x)) => return Some(Place::Number(x)),
            _ => {}
        }
        let op = scalar(p, x.is_some())?;
        match x {
            Some(x) => body.made(|into| Do::Two { op, into, x, y }),
            None => body.made(|into| Do::One { op, into, y }),
        }
    }

    pub fn constant(&mut self, a: &Array) -> Option<Place> {
        if let Data::Num(x) = a.data() {
            let known = self.program.constants.iter().position(|c| c.to_bits() == x.to_bits());
            // The places of names are no constants.
            let named = |k: &usize| self.program.names.iter().any(|n| n.rank == 0 && n.slot == *k);
            let k = match known.filter(|k| !named(k)) {
                Some(k) => k,
                None => {
                    self.program.constants.push(*x);
                    self.program.constants.len() - 1
                }
            };
            return u16::try_from(k).ok().map(|k| Place::Number(Arg::Fixed(k)));
        }
        let plain = a.rank() == 1 && a.is_uniform() && !a.is_char() && !a.is_complex();
        let items: Option<Vec<f64>> =
            (0..a.len()).map(|k| a.number_at(k).filter(|_| plain)).collect();
        self.program.lists.push(items.filter(|_| plain)?);
        u16::try_from(self.program.lists.len() - 1).ok().map(Place::Vector)
    }

    /// The value of a name.
    fn named(&mut self, body: &mut Body, sym: Sym) -> Option<Place> {
        if let Some(own) = body.own(sym) {
            return Some(Place::Number(own));
        }
        match self.outer(body, sym, false)? {
            // Another step may change it before this value is used.
            Place::Number(y) if self.effects && body.assigns => {
                body.made(|into| Do::Copy { into, y })
            }
            place => Some(place),
        }
    }

    /// The place of an outer name.
    pub fn outer(&mut self, body: &Body, sym: Sym, changes: bool) -> Option<Place> {
        if changes && !self.effects {
            return None;
        }
        let Some(Value::Array(a)) = self.ev.lookup(body.scope.at(), sym) else { return None };
        let rank = a.rank();
        // One name is one place, from wherever it is seen: calls see the same outer scope only if
        // they were written in it. A loop sees the names of dfns below its function, too.
        let below = self.ev.below(sym).is_some();
        if let Some(name) = self.program.names.iter_mut().find(|n| n.sym == sym) {
            let (its, here) = (&name.scope, &body.scope);
            let same = its.around() == here.around() && !(below && its.is_loop() != here.is_loop());
            if !same || name.rank != rank {
                return None;
            }
            name.changes |= changes;
            return name.place();
        }
        let slot = match rank {
            0 => {
                self.program.constants.push(f64::NAN);
                self.program.constants.len() - 1
            }
            _ => {
                self.program.lists.push(Vec::new());
                self.program.lists.len() - 1
            }
        };
        u16::try_from(slot).ok()?;
        let name = Name { scope: body.scope.clone(), sym, rank, slot, changes };
        let place = name.place()?;
        self.program.names.push(name);
        Some(place)
    }

    /// An outer name becomes a number.
    pub fn set(&mut self, body: &mut Body, sym: Sym, y: Arg) -> Option<()> {
        let Place::Number(Arg::Fixed(slot)) = self.outer(body, sym, true)? else { return None };
        body.push(Do::Set { slot, y })
    }

    /// `x f←y` of an outer name.
    fn modify(&mut self, body: &mut Body, sym: Sym, f: &FExpr, y: Arg) -> Option<()> {
        let place = self.outer(body, sym, true)?;
        match place {
            Place::Matrix(_) => None,
            Place::Vector(of) => match self.primitive(body, f)?.glyph {
                ',' => body.push(Do::Append { of, y }),
                _ => None,
            },
            Place::Number(old) => {
                let mut made = Vec::new();
                self.call(body, f, Some(old), y, &mut made, false)?;
                let (Arg::Fixed(slot), new) = (old, number(&mut made)?) else { return None };
                body.push(Do::Set { slot, y: new })
            }
        }
    }
}

impl Body {
    /// The reading of a loop, which runs where its names are.
    pub fn of_loop(scope: Scope) -> Body {
        let of = Function { steps: Vec::new(), registers: 2 };
        Body { scope, of, alpha: None, names: Vec::new(), assigns: false }
    }

    pub fn push(&mut self, step: Do) -> Option<()> {
        self.of.steps.push(step);
        (self.of.steps.len() < MOST.1).then_some(())
    }

    /// A register of its own.
    fn register(&mut self) -> Option<u16> {
        let into = u16::try_from(self.of.registers).ok()?;
        self.of.registers += 1;
        Some(into)
    }

    /// A step with a register for its value.
    fn made(&mut self, step: impl FnOnce(u16) -> Do) -> Option<Place> {
        let into = self.register()?;
        self.push(step(into))?;
        Some(Place::Number(Arg::Register(into)))
    }

    /// The value of the body's own name.
    fn own(&self, sym: Sym) -> Option<Arg> {
        self.names.iter().find(|(s, _)| *s == sym).map(|(_, y)| *y)
    }

    fn name(&mut self, sym: Sym, y: Arg) {
        if let Some(frame) = &self.scope.frame {
            frame.set(sym, Value::Array(Array::num(0.0)));
        }
        match self.names.iter_mut().find(|(s, _)| *s == sym) {
            Some(slot) => slot.1 = y,
            None => self.names.push((sym, y)),
        }
    }
}

impl Name {
    fn place(&self) -> Option<Place> {
        match self.rank {
            0 => Some(Place::Number(Arg::Fixed(self.slot as u16))),
            1 => Some(Place::Vector(self.slot as u16)),
            2 => Some(Place::Matrix(self.slot as u16)),
            _ => None,
        }
    }
}

/// The left argument, or the only one.
fn either(x: Option<Arg>, y: Arg) -> Arg {
    match x {
        Some(x) => x,
        None => y,
    }
}

pub(super) fn number(stack: &mut Vec<Place>) -> Option<Arg> {
    match stack.pop()? {
        Place::Number(y) => Some(y),
        Place::Vector(_) | Place::Matrix(_) => None,
    }
}

/// The operation of a scalar function.
fn scalar(p: &Prim, dyadic: bool) -> Option<Op> {
    let meaning = if dyadic { &p.dyadic } else { &p.monadic };
    match meaning.as_ref()?.does {
        table::Does::Scalar(op) => Some(op),
        _ => None,
    }
}

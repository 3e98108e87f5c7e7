//! Instructions over registers, made of the bodies of dfns whose values are all numbers.
//!
//! A body is read once, statement by statement, with a stack that holds what the evaluator's would:
//! here the place of each value, a register or a constant, and there nothing is computed. A name of
//! the body's own is the place of its value; a guard is a jump over what it guards. Whatever has no
//! such reading refuses the whole program: there is no half.

use super::program::{Arg, Do, Function, List, Program};
use super::{Name, Scope, is_list};
use crate::eval::env::Frame;
use crate::eval::run::Eval;
use crate::eval::value::{self, Func, Oper, Value};
use crate::syntax::ast::{Guard, Stmt, Sym};
use crate::syntax::resolve::{self, Code, FExpr, Gives, Ins, OpExpr, Operand};
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

/// The outcome of a step.
enum Step {
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
        self.steps(body, &code.ins, tail)
    }

    /// The value that steps leave; within: there is none, because a last call has it.
    pub fn steps(&mut self, body: &mut Body, ins: &[Ins], tail: bool) -> Option<Option<Place>> {
        let mut stack = Vec::new();
        body.assigns = ins.iter().any(|ins| ins.what.may_assign());
        for (k, one) in ins.iter().enumerate() {
            let last = tail && k + 1 == ins.len();
            match self.step(body, &one.what, &mut stack, last)? {
                Step::Gives(place) => stack.push(place),
                Step::Stays => {}
                Step::Ends => return Some(None),
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
            Of::Omega => Place::Number(Arg::Register(0)),
            Of::Alpha => Place::Number(body.alpha?),
            Of::Name(sym) => self.named(body, *sym)?,
            Of::Monad(f) => match (stack.pop()?, f) {
                (Place::Number(y), f) => return self.call(body, f, None, y, last),
                (Place::Vector(of) | Place::Matrix(of), FExpr::Prim(p)) if p.glyph == '≢' => {
                    body.made(|into| Do::Tally { into, of })?
                }
                _ => return None,
            },
            Of::Dyad(f) => {
                let at = number(stack)?;
                match (stack.pop()?, f) {
                    (Place::Number(y), f) => return self.call(body, f, Some(at), y, last),
                    (Place::Vector(of), FExpr::Prim(p)) if p.glyph == '⊃' => {
                        body.made(|into| Do::Item { into, of, at })?
                    }
                    _ => return None,
                }
            }
            Of::Index(present) => match (stack.pop()?, &**present) {
                (Place::Vector(of), [true]) => {
                    let at = number(stack)?;
                    body.made(|into| Do::Item { into, of, at })?
                }
                (Place::Matrix(of), [true, true]) => {
                    let at = body.place_in(of, stack)?;
                    body.made(|into| Do::Known { into, of, at })?
                }
                _ => return None,
            },
            Of::Assign(sym) => {
                let Place::Number(y) = *stack.last()? else { return None };
                match body.scope.frame {
                    Some(_) => body.name(*sym, y),
                    None => self.set(body, *sym, y)?,
                }
                return Some(Step::Stays);
            }
            Of::AssignAlpha => {
                let Place::Number(y) = *stack.last()? else { return None };
                body.alpha = Some(y);
                let frame = body.scope.frame.as_ref()?;
                *frame.alpha.borrow_mut() = Some(Value::Array(Array::num(0.0)));
                return Some(Step::Stays);
            }
            Of::Modify(sym, f) => {
                let Place::Number(y) = *stack.last()? else { return None };
                self.modify(body, *sym, f, y)?;
                return Some(Step::Stays);
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
                        let at = body.place_in(of, stack)?;
                        let Place::Number(y) = *stack.last()? else { return None };
                        body.push(Do::SetKnown { of, at, op, y })?;
                    }
                    _ => return None,
                }
                return Some(Step::Stays);
            }
            _ => return None,
        };
        Some(Step::Gives(place))
    }

    /// `x f y`, or `f y`.
    fn call(
        &mut self,
        body: &mut Body,
        f: &FExpr,
        x: Option<Arg>,
        y: Arg,
        last: bool,
    ) -> Option<Step> {
        if let FExpr::Op1(OpExpr::Prim(p), g) = f
            && p.glyph == '⍨'
        {
            let Operand::F(g) = &**g else { return None };
            return self.call(body, g, Some(y), either(x, y), last);
        }
        let f = self.known(body, f)?;
        self.call_known(body, &f, x, y, last)
    }

    /// The function that an expression is now.
    fn known(&mut self, body: &Body, f: &FExpr) -> Option<Rc<Func>> {
        if !matches!(f, FExpr::Prim(_) | FExpr::Known(_) | FExpr::Name(_) | FExpr::Word(Word::Del))
        {
            return None;
        }
        let made = self.ev.function(body.scope.at(), f).ok()?;
        if let FExpr::Name(sym) = f {
            self.program.functions.push((body.scope.clone(), *sym, made.clone()));
        }
        Some(made)
    }

    fn call_known(
        &mut self,
        body: &mut Body,
        f: &Rc<Func>,
        x: Option<Arg>,
        y: Arg,
        last: bool,
    ) -> Option<Step> {
        match &**f {
            Func::Prim(p) => self.apply(body, p, x, y).map(Step::Gives),
            Func::Op1(Oper::Prim(p), value::Operand::F(g)) if p.glyph == '⍨' => {
                self.call_known(body, g, Some(y), either(x, y), last)
            }
            _ => {
                let of = self.function(f, x.is_some())?;
                match last {
                    true => body.push(Do::Again { of, x, y }).map(|()| Step::Ends),
                    false => body.made(|into| Do::Call { of, into, x, y }).map(Step::Gives),
                }
            }
        }
    }

    /// The primitive that an expression is.
    fn primitive(&mut self, body: &Body, f: &FExpr) -> Option<&'static Prim> {
        match &*self.known(body, f)? {
            Func::Prim(p) => Some(p),
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

    fn constant(&mut self, a: &Array) -> Option<Place> {
        match a.data() {
            Data::Num(x) => self.program.number(*x).map(|k| Place::Number(Arg::Fixed(k))),
            _ if is_list(a, 1) => self.program.list(List::Shared(a.clone())).map(Place::Vector),
            _ => None,
        }
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
        // What it holds is told before each run.
        let slot = match rank {
            0 => self.program.number(0.0)?,
            _ => self.program.list(List::EMPTY)?,
        };
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

    /// `x f←y`
    fn modify(&mut self, body: &mut Body, sym: Sym, f: &FExpr, y: Arg) -> Option<()> {
        let own = body.own(sym);
        let old = match own {
            Some(old) => old,
            None => match self.outer(body, sym, true)? {
                Place::Number(old) => old,
                Place::Vector(of) if self.primitive(body, f)?.glyph == ',' => {
                    return body.push(Do::Append { of, y });
                }
                Place::Vector(_) | Place::Matrix(_) => return None,
            },
        };
        let Step::Gives(Place::Number(new)) = self.call(body, f, Some(old), y, false)? else {
            return None;
        };
        match own {
            Some(_) => body.name(sym, new),
            None => self.set(body, sym, new)?,
        }
        Some(())
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

    /// The register of a place in a matrix, whose row and column are on the stack.
    fn place_in(&mut self, of: u16, stack: &mut Vec<Place>) -> Option<u16> {
        let (row, column) = (number(stack)?, number(stack)?);
        let into = self.register()?;
        self.push(Do::Place { into, of, row, column })?;
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
            0 => Some(Place::Number(Arg::Fixed(self.slot))),
            1 => Some(Place::Vector(self.slot)),
            2 => Some(Place::Matrix(self.slot)),
            _ => None,
        }
    }
}

/// The right side of `f⍨`: the left argument, or the only one.
fn either(x: Option<Arg>, y: Arg) -> Arg {
    match x {
        Some(x) => x,
        None => y,
    }
}

fn number(stack: &mut Vec<Place>) -> Option<Arg> {
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

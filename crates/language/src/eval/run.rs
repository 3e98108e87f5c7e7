//! The machine: runs a phrase's code on a stack, right to left; dfn bodies, guards, tail calls.
//!
//! A tail call reuses the caller's turn of the loop; other calls are counted.

use super::cx::Cx;
use super::env::{Frame, Globals};
use super::guard::Handler;
use super::space::Space;
use super::spends::spent_by;
use super::system::Row;
use super::system::modules::Module;
use super::tradfn::Call;
use super::trees::Trees;
use super::value::{Closure, Func, Oper, Operand, Value};
use super::ways::Ways;
use crate::syntax::ast::{Guard, PhraseId, Stmt};
use crate::syntax::resolve::{Code, Do, FExpr, Gives, Ins, Joint};
use crate::syntax::spent::{KEPT, Reads};
use crate::syntax::token::Word;
use crate::syntax::{Ast, Sym, Symbols};
use crate::table::Prim;
use aplomb_ground::error::{Error, Kind, Result, domain, limit, syntax, untraced, value};
use aplomb_ground::span::Span;
use aplomb_values::array::{Array, DType, Data};
use aplomb_values::prim::op::Op;
use std::rc::{Rc, Weak};

/// The store of names and stacks, which lasts from statement to statement.
pub struct Store {
    /// Names by number.
    pub symbols: Symbols,
    /// Names of the current space.
    pub globals: Globals,
    /// The current space.
    pub here: Rc<Space>,
    /// The root of all spaces: the workspace.
    pub root: Rc<Space>,
    /// All other spaces that there are.
    pub spaces: Vec<Weak<Space>>,
    /// The spaces that the statement under way went to.
    pub touched: Vec<Rc<Space>>,
    /// The statements that began.
    pub statement: u64,
    /// Files and folders that were imported.
    pub modules: Vec<Module>,
    /// The tree of an empty text, for what looks names up without one.
    pub nothing: Rc<Ast>,
    /// Values that the code under way has left.
    pub stack: Vec<Array>,
    /// The steps to what each selection under way is from: none, if it is from all of a name.
    pub selecting: Vec<Vec<Array>>,
    /// Calls under way that are no tail calls.
    pub depth: usize,
    /// Error guards that are active, the latest last.
    pub handlers: Vec<Handler>,
    /// The last call ended with an assignment, so its value does not print.
    pub shy: bool,
    /// The dfn that runs, for what looks names up by text.
    pub frame: Option<Rc<Frame>>,
    /// Calls of functions of lines that are under way, the latest last.
    pub calls: Vec<Call>,
    /// Traps that are active.
    pub traps: usize,
    /// System variables that a call which ended in a tail call had changed, as they were before:
    /// the next call sets them back.
    pub carried: Vec<(&'static Row, Array)>,
    /// Texts under way that are asked what they mean.
    pub asked: usize,
    /// The last namespace without a name that a script made: ⎕FIX gives it.
    pub unnamed: Option<Rc<Space>>,
    /// Trees of short texts.
    pub trees: Trees,
    /// Programs on single numbers, made of dfns.
    pub programs: super::numbers::Programs,
}

impl Default for Store {
    fn default() -> Self {
        let root = Space::root();
        Store {
            symbols: Symbols::default(),
            globals: Globals::default(),
            here: root.clone(),
            root,
            spaces: Vec::new(),
            touched: Vec::new(),
            statement: 0,
            modules: Vec::new(),
            nothing: Rc::new(Ast::empty()),
            stack: Vec::new(),
            selecting: Vec::new(),
            depth: 0,
            handlers: Vec::new(),
            shy: false,
            frame: None,
            calls: Vec::new(),
            traps: 0,
            carried: Vec::new(),
            asked: 0,
            unnamed: None,
            trees: Trees::default(),
            programs: Default::default(),
        }
    }
}

impl Store {
    /// The reset of what holds within a statement alone, but for the journal.
    pub fn reset(&mut self) {
        self.stack.clear();
        self.selecting.clear();
        self.handlers.clear();
        self.calls.clear();
        self.carried.clear();
        (self.asked, self.unnamed) = (0, None);
        self.programs.let_go();
        (self.depth, self.shy, self.frame, self.traps) = (0, false, None, 0);
    }
}

/// The machine that runs code.
pub struct Eval<'h> {
    /// The world, and what the evaluator knows beside names.
    pub cx: Cx<'h>,
    /// Names and stacks.
    pub st: &'h mut Store,
}

/// The place where code runs.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// The text's tree.
    pub ast: &'a Rc<Ast>,
    /// The call of a dfn; None: at the top.
    pub frame: Option<&'a Rc<Frame>>,
}

/// The outcome of code.
pub enum Outcome {
    /// No value.
    Nothing,
    /// A value.
    Array(Array),
    /// A function.
    Func(Rc<Func>),
    /// An operator.
    Oper(Oper),
    /// The caller's loop goes on with this call.
    Tail(Box<(Rc<Func>, Option<Array>, Array)>),
    /// A call whose last calls are of itself, on cells of which some are done.
    Ways(Box<Ways>),
}

impl<'h> Eval<'h> {
    /// The value of a name, from the innermost scope out.
    pub fn lookup(&self, at: At<'_>, sym: Sym) -> Option<Value> {
        let mut frame = at.frame;
        while let Some(f) = frame {
            if let Some(v) = f.local(sym) {
                return Some(v);
            }
            frame = f.closure.env.as_ref();
        }
        if at.frame.is_none()
            && let Some((_, v)) = self.below(sym)
        {
            return Some(v);
        }
        match self.elsewhere(sym) {
            Some(home) => self.st.member(&home, sym),
            None => self.st.globals.get(sym).cloned(),
        }
    }

    /// Runs a phrase: its outcome, and whether it ended with an assignment.
    pub fn phrase(&mut self, at: At<'_>, id: PhraseId, tail: bool) -> Result<(Outcome, bool)> {
        let r = self.resolved(at, id)?;
        Ok((self.code(at, &r.code, tail)?, r.code.assigns))
    }

    /// Runs code; what it leaves on the stack on an error is dropped.
    pub fn code(&mut self, at: At<'_>, code: &Code, tail: bool) -> Result<Outcome> {
        self.code_spending(at, code, tail, KEPT)
    }

    /// The same of a statement after which nobody reads an argument that it reads so often.
    fn code_spending(&mut self, at: At<'_>, code: &Code, tail: bool, r: Reads) -> Result<Outcome> {
        let (base, selecting) = (self.st.stack.len(), self.st.selecting.len());
        self.st.shy = false;
        let outcome = self.steps(at, code, tail, r);
        self.st.stack.truncate(base);
        self.st.selecting.truncate(selecting);
        outcome
    }

    /// Code that must give an array.
    pub fn array(&mut self, at: At<'_>, code: &Code) -> Result<Array> {
        match self.code(at, code, false)? {
            Outcome::Array(a) => Ok(a),
            _ => Err(value("a value is needed here")),
        }
    }

    /// The top value of the stack.
    pub fn pop(&mut self) -> Result<Array> {
        self.st
            .stack
            .pop()
            .ok_or_else(|| aplomb_ground::error::internal("the value stack is empty"))
    }

    pub(super) fn enter(&mut self, at: At<'_>, span: Span) {
        self.st.shy = false;
        self.cx.sys.span = span;
        if self.cx.sys.source.as_ref().is_none_or(|s| !std::sync::Arc::ptr_eq(s, &at.ast.source)) {
            self.cx.sys.source = Some(at.ast.source.clone());
        }
    }

    fn steps(&mut self, at: At<'_>, code: &Code, tail: bool, reads: Reads) -> Result<Outcome> {
        let last = code.ins.len().wrapping_sub(1);
        for (k, ins) in code.ins.iter().enumerate() {
            match &ins.what {
                Do::Const(a) => {
                    let a = self.cx.floats(a)?;
                    self.st.stack.push(a);
                }
                Do::Dyad(FExpr::Prim(p)) if p.glyph != '⍎' => {
                    self.two(at, ins, p, code.ins.get(k + 1))?
                }
                Do::Monad(FExpr::Prim(p)) if p.glyph != '⍎' => {
                    self.one(at, ins, p, code.ins.get(k + 1))?
                }
                Do::Phrase(joint) => self.phrase_step(at, joint)?,
                Do::Alpha | Do::Omega if reads != KEPT && self.spends(at, code, k, reads) => {}
                Do::Monad(f) | Do::Dyad(f) => {
                    let x = if matches!(ins.what, Do::Dyad(_)) { Some(self.pop()?) } else { None };
                    let y = self.pop()?;
                    let f = self.function(at, f).map_err(|e| e.at(&at.ast.place(ins.at)))?;
                    if tail && k == last && f.closure().is_some() {
                        self.enter(at, ins.at);
                        return Ok(Outcome::Tail(Box::new((f, x, y))));
                    }
                    self.enter(at, ins.at);
                    let z = match (&*f, &x) {
                        (Func::Prim(p), None) if p.glyph == '⍎' => self.execute_text(at, &y),
                        (Func::Prim(p), Some(x)) if p.glyph == '⍎' => self.execute_in(x, &y),
                        _ => self.call(&f, x.as_ref(), &y),
                    };
                    // A function or an operator may be all that a phrase gives, or names.
                    let gives = matches!(z, Ok(Outcome::Func(_) | Outcome::Oper(_)));
                    if gives && f.closure().is_none() {
                        let rest = &code.ins[k + 1..];
                        let named = self.made_function(at, z?, rest);
                        return named.map_err(|e| e.at(&at.ast.place(ins.at)));
                    }
                    let z = z.and_then(|o| self.valued(o));
                    let z = z.map_err(|e| located(e, at, ins, x.as_ref(), Some(&y)))?;
                    match z {
                        Some(z) => self.st.stack.push(z),
                        None if k == last => return Ok(Outcome::Nothing),
                        None => {
                            return Err(
                                value("this function gave no value").at(&at.ast.place(ins.at))
                            );
                        }
                    }
                }
                Do::Name(sym) => {
                    let a = self.name(at, *sym).map_err(|e| located(e, at, ins, None, None))?;
                    match a {
                        Some(a) => self.st.stack.push(a),
                        None if last == 0 => return Ok(Outcome::Nothing),
                        None => {
                            return Err(
                                value("this function gave no value").at(&at.ast.place(ins.at))
                            );
                        }
                    }
                }
                _ => self.step(at, ins).map_err(|e| e.at(&at.ast.place(ins.at)))?,
            }
        }
        match &code.gives {
            Gives::Nothing => Ok(Outcome::Nothing),
            Gives::Array => self.pop().map(Outcome::Array),
            Gives::Func(f) => self.function(at, f).map(Outcome::Func),
            Gives::Oper(op) => self.operator(at, op).map(Outcome::Oper),
        }
    }

    /// A primitive of two arguments. Apart from `steps`, of which as many wait as calls stand.
    #[inline(never)]
    fn two(&mut self, at: At<'_>, ins: &Ins, p: &'static Prim, next: Option<&Ins>) -> Result<()> {
        let (mut x, mut y) = (self.pop()?, self.pop()?);
        self.enter(at, ins.at);
        let made = match self.in_place(p, &mut x, Some(&mut y))? {
            None => self.regrown(at, p, (&mut x, &mut y), next)?,
            made => made,
        };
        let z = match made {
            Some(z) => z,
            None => {
                self.dyadic(p, &x, &y, None).map_err(|e| located(e, at, ins, Some(&x), Some(&y)))?
            }
        };
        self.st.stack.push(z);
        Ok(())
    }

    /// A primitive of one argument, as `two`.
    #[inline(never)]
    fn one(&mut self, at: At<'_>, ins: &Ins, p: &'static Prim, next: Option<&Ins>) -> Result<()> {
        let mut y = self.pop()?;
        self.enter(at, ins.at);
        let made = match self.in_place(p, &mut y, None)? {
            None => self.last_alone(p, &y, next)?,
            made => made,
        };
        let z = match made {
            Some(z) => z,
            None => self.monadic(p, &y, None).map_err(|e| located(e, at, ins, None, Some(&y)))?,
        };
        self.st.stack.push(z);
        Ok(())
    }

    /// A call's outcome as a value, if it gave one.
    pub fn valued(&mut self, o: Outcome) -> Result<Option<Array>> {
        match o {
            Outcome::Array(a) => Ok(Some(a)),
            Outcome::Nothing => Ok(None),
            Outcome::Tail(call) => {
                let (f, x, y) = *call;
                let o = self.call(&f, x.as_ref(), &y)?;
                self.valued(o)
            }
            Outcome::Ways(ways) => self.looped_calls(*ways).map(Some),
            Outcome::Func(_) | Outcome::Oper(_) => {
                Err(syntax("a call gives a value, not a function"))
            }
        }
    }

    /// Both functions as one, or one after the other.
    fn phrase_step(&mut self, at: At<'_>, joint: &Joint) -> Result<()> {
        let (x, y) = (self.pop()?, self.pop()?);
        let (first, then) = (&joint.first, &joint.then);
        // What is one is the value of the last.
        self.enter(at, then.at);
        let one = joint.row.run(&mut self.cx, joint.prim, joint.second, &x, &y);
        let z = match one.map_err(|e| located(e, at, first, Some(&x), Some(&y)))? {
            Some(z) => z,
            None => {
                self.enter(at, first.at);
                let z = self
                    .dyadic(joint.prim, &x, &y, None)
                    .map_err(|e| located(e, at, first, Some(&x), Some(&y)))?;
                let Do::Monad(f) = &then.what else {
                    return Err(aplomb_ground::error::internal("a phrase without an end"));
                };
                let f = self.function(at, f)?;
                self.enter(at, then.at);
                self.apply(&f, None, &z).map_err(|e| located(e, at, then, None, Some(&z)))?
            }
        };
        self.st.stack.push(z);
        Ok(())
    }

    /// The outcome of a call of a function without arguments: it may be a function.
    pub(super) fn result_of(&mut self, f: &Rc<Func>) -> Result<Outcome> {
        let Func::Trad(trad) = &**f else {
            return Err(syntax("a function stands where a value is needed"));
        };
        self.call_trad(trad, &[], None, None)
    }

    /// The value of a call of a function without arguments.
    pub fn niladic(&mut self, f: &Rc<Func>) -> Result<Option<Array>> {
        let done = self.result_of(f)?;
        self.valued(done)
    }

    /// The value of a name, or of the call of a function without arguments.
    fn name(&mut self, at: At<'_>, sym: Sym) -> Result<Option<Array>> {
        match self.lookup(at, sym) {
            Some(Value::Array(a)) => {
                // Were it left pending, each of many cells would record what it does with it.
                let now = self.cx.sys.scope.many_cells()
                    && a.pending().is_some()
                    && a.frame().is_none()
                    && self.cx.is_small(&a);
                Ok(Some(if now { self.cx.ready(&a, "each")? } else { a }))
            }
            Some(Value::Func(f)) if f.is_niladic() => self.niladic(&f),
            Some(Value::Func(_)) => Err(syntax("a function stands where a value is needed")),
            Some(_) => Err(syntax("an operator stands where a value is needed")),
            None => Err(value(format!("{} has no value", self.st.symbols.name(sym)))),
        }
    }

    fn step(&mut self, at: At<'_>, ins: &Ins) -> Result<()> {
        match &ins.what {
            Do::Omega => match at.frame {
                Some(f) => self.st.stack.push(f.omega()),
                None => return Err(syntax("⍵ stands only inside { }")),
            },
            Do::Alpha => match at.frame.map(|f| f.alpha.borrow().clone()) {
                Some(Some(Value::Array(a))) => self.st.stack.push(a),
                Some(_) => {
                    return Err(value("⍺ has no value: the dfn was called with one argument")
                        .hint("⍺←d gives it a default"));
                }
                None => return Err(syntax("⍺ stands only inside { }")),
            },
            Do::Word(w) => {
                let which = usize::from(*w == Word::OmegaOmega);
                match at.frame.and_then(|f| f.operand(which).cloned()) {
                    Some(Operand::A(a)) => self.st.stack.push(a),
                    _ => return Err(syntax("this stands only inside an operator or a dfn")),
                }
            }
            Do::System(row) => {
                self.enter(at, ins.at);
                let a = self.system_value(row)?;
                self.st.stack.push(a);
            }
            Do::Input { evaluated } => {
                self.enter(at, ins.at);
                let a = if *evaluated { self.evaluated_input(at)? } else { self.typed_line()? };
                self.st.stack.push(a);
            }
            Do::Place(_)
            | Do::Member(_)
            | Do::Around
            | Do::MemberSystem(_)
            | Do::Inside(_)
            | Do::Space(_) => {
                self.enter(at, ins.at);
                self.namespace_step(at, &ins.what)?;
            }
            Do::Strand(n) => {
                let mut items = Vec::with_capacity(*n);
                for _ in 0..*n {
                    items.push(self.pop()?);
                }
                let a = self.strand(items)?;
                self.st.stack.push(a);
            }
            Do::Notation { n, mix } => {
                let from = self.st.stack.len().saturating_sub(*n);
                let items = self.st.stack.split_off(from);
                let count = items.len();
                let a = if *mix {
                    // [a ⋄ b] has rows: a scalar is a row of one.
                    let mut rows = Vec::with_capacity(count);
                    for a in items {
                        let row = if a.rank() == 0 {
                            crate::functions::shape::reshaped(&mut self.cx, &a, &[1])?
                        } else {
                            a
                        };
                        rows.push(row);
                    }
                    crate::functions::cells::mixed(&mut self.cx, &[count], &rows, false)?
                } else {
                    self.strand(items)?
                };
                self.st.stack.push(a);
            }
            Do::Index(present) => {
                self.enter(at, ins.at);
                let base = self.pop()?;
                let mut indices = Vec::with_capacity(present.len());
                for &p in present {
                    indices.push(if p { Some(self.pop()?) } else { None });
                }
                let a = crate::functions::select::bracket(&mut self.cx, &base, &indices)?;
                self.st.stack.push(a);
            }
            _ => self.assignment(at, ins)?,
        }
        Ok(())
    }

    /// A vector of items; pending scalars stay pending as items, those of a frame's cells make a
    /// vector a cell.
    pub(super) fn strand(&mut self, items: Vec<Array>) -> Result<Array> {
        if items.iter().any(|a| a.frame().is_some()) {
            return self.cx.framed_strand(&items);
        }
        let items: Vec<Array> = items.into_iter().map(|a| a.settled()).collect();
        self.cx.collect(&[items.len()], items, None)
    }

    /// A dfn, or an operator with its operands: tail calls go round, other calls go down.
    pub fn call_dfn(&mut self, f: &Rc<Func>, x: Option<Array>, y: Array) -> Result<Outcome> {
        if let Func::Dfn(c) = &**f
            && let Some(lines) = &c.lines
            && !self.cx.sys.scope.is_once_a_cell()
        {
            return self.call_trad(lines, &[], x.as_ref(), Some(&y));
        }
        self.st.depth += 1;
        let most = self.cx.host.limits().depth;
        if self.st.depth > most {
            self.st.depth -= 1;
            return Err(limit(format!("calls stand more than {most} deep"))
                .hint("a call that is the last thing a dfn does takes no depth"));
        }
        let (source, span) = (self.cx.sys.source.clone(), self.cx.sys.span);
        self.st.shy = false;
        let here = self.st.here.clone();
        if let Func::Dfn(closure) = &**f {
            self.go_to(&closure.home);
        }
        if let Some(made) = self.by_numbers(f, x.as_ref(), &y).transpose() {
            self.go_to(&here);
            self.st.depth -= 1;
            return made.map(Outcome::Array);
        }
        self.cx.host.calls();
        let outcome = self.turns(f.clone(), x, y);
        self.cx.host.returns();
        self.go_to(&here);
        self.st.depth -= 1;
        (self.cx.sys.source, self.cx.sys.span) = (source, span);
        outcome.map_err(Error::left_function)
    }

    /// One call of a dfn.
    pub(super) fn turn(
        &mut self,
        f: Rc<Func>,
        x: Option<Array>,
        y: Array,
        guards: usize,
    ) -> Result<Outcome> {
        /// Calls that stand in each other before arguments are cut where they lie.
        const DEEP: usize = 16;
        self.cx.host.interrupt().check()?;
        self.cx.count_call();
        if self.st.depth > DEEP {
            self.cx.cut_at_hand(&y)?;
        }
        let Some(closure) = f.closure().cloned() else {
            return self.call(&f, x.as_ref(), &y);
        };
        let frame = Rc::new(Frame {
            this: f,
            closure,
            alpha: std::cell::RefCell::new(x.map(Value::Array)),
            omega: std::cell::RefCell::new(y),
            locals: Default::default(),
            framing: self.cx.sys.scope.frames(),
            saved: std::cell::RefCell::new(std::mem::take(&mut self.st.carried)),
        });
        let outcome = self.within(&frame, guards, |ev, at| {
            let closure = &frame.closure;
            let outcome = ev.body(at, &closure.ast.dfn(closure.dfn).stmts, true);
            ev.carry(&frame, &outcome);
            outcome
        });
        frame.leave();
        outcome
    }

    /// A frame in which the classes of names are looked up by who reads a dfn and does not run it.
    pub(super) fn frame_to_read(
        &self,
        f: &Rc<Func>,
        closure: &Rc<Closure>,
        dyadic: bool,
    ) -> Rc<Frame> {
        let class = || Value::Array(Array::num(0.0));
        Rc::new(Frame {
            this: f.clone(),
            closure: closure.clone(),
            alpha: std::cell::RefCell::new(dyadic.then(class)),
            omega: std::cell::RefCell::new(Array::num(0.0)),
            locals: Default::default(),
            framing: self.cx.sys.scope.frames(),
            saved: Default::default(),
        })
    }

    /// A call that ends in a tail call leaves its system variables to that.
    pub(super) fn carry(&mut self, frame: &Frame, outcome: &Result<Outcome>) {
        if matches!(outcome, Ok(Outcome::Tail(_))) {
            self.st.carried = std::mem::take(&mut *frame.saved.borrow_mut());
        }
    }

    fn body(&mut self, at: At<'_>, stmts: &[Stmt], tail: bool) -> Result<Outcome> {
        let mut last = Outcome::Nothing;
        let follows = self.cx.host.follows();
        for (k, stmt) in stmts.iter().enumerate() {
            if follows {
                let first = match stmt.guard {
                    Guard::None => stmt.phrase,
                    Guard::Test(first) | Guard::Error(first) => first,
                };
                self.cx.host.begins(&at.told(first));
            }
            match stmt.guard {
                Guard::None => {
                    if at.ast.phrase(stmt.phrase).items.is_empty() {
                        continue;
                    }
                    let r = self.resolved(at, stmt.phrase)?;
                    if r.code.is_default() && at.frame.is_some_and(|f| f.alpha.borrow().is_some()) {
                        continue;
                    }
                    // What the name before has is no result of the call.
                    drop(last);
                    let reads = match spent_by(at, stmts, k) {
                        Some(own) if r.code.assigns => own.before_others(),
                        own => own.map_or(KEPT, |own| own.reads),
                    };
                    let goes_on = tail && !r.code.assigns;
                    let outcome = self.code_spending(at, &r.code, goes_on, reads)?;
                    self.checked()?;
                    if !r.code.assigns {
                        return Ok(outcome);
                    }
                    last = outcome;
                }
                Guard::Test(cond) => {
                    let holds = match self.holds(at, cond, "a guard's condition")? {
                        Holds::Cells(cond) => {
                            return self.either_way(at, &cond, stmt, &stmts[k + 1..], tail);
                        }
                        holds => matches!(holds, Holds::Yes),
                    };
                    if holds {
                        if at.ast.phrase(stmt.phrase).items.is_empty() {
                            return Ok(Outcome::Nothing);
                        }
                        let r = self.resolved(at, stmt.phrase)?;
                        let reads = spent_by(at, stmts, k).map_or(KEPT, |own| own.reads);
                        let o = self.code_spending(at, &r.code, tail, reads)?;
                        self.checked()?;
                        return Ok(o);
                    }
                }
                Guard::Error(events) => {
                    let (o, _) = self.phrase(at, events, false)?;
                    let Outcome::Array(events) = o else {
                        return Err(domain("an error guard needs event numbers"));
                    };
                    let events = self.cx.integers(&events, "an event number")?;
                    let frame = at.frame.ok_or_else(|| syntax("a guard stands only inside { }"))?;
                    self.guard(frame, events, stmt.phrase)?;
                }
            }
        }
        self.st.shy = true;
        Ok(last)
    }

    /// A guard that each cell decides: what it guards and the rest of the body are both recorded.
    /// Names that one way sets are not there in the other.
    fn either_way(
        &mut self,
        at: At<'_>,
        cond: &Array,
        guarded: &Stmt,
        rest: &[Stmt],
        tail: bool,
    ) -> Result<Outcome> {
        /// Both ways of a guard in a function that calls itself, so deep: beyond, cells end each by
        /// itself, and no depth is enough.
        const RECURS: usize = 3;
        let Some(frame) = at.frame else { return Err(untraced("a guard outside of a function")) };
        let deep = self.cx.sys.scope.conditions().len();
        if deep >= RECURS && frame.closure.ast.dfn(frame.closure.dfn).recurs {
            return Err(untraced("its cells call it as often as each needs"));
        }
        let changed = frame.saved.borrow().len();
        let names = frame.names();
        let x = frame.alpha.borrow().clone().and_then(Value::into_array);
        let f = &frame.this;
        let branch = self.cx.branch(cond, true)?;
        let yes = self.inside(branch, |ev| {
            let (yes, _) = ev.phrase(at, guarded.phrase, tail)?;
            ev.way(yes, f, x.as_ref())
        })?;
        drop(names);
        let branch = self.cx.branch(cond, false)?;
        let no = self.inside(branch, |ev| {
            let no = ev.body(at, rest, tail)?;
            ev.way(no, f, x.as_ref())
        })?;
        let same = frame.saved.borrow().len() == changed;
        match (yes, no) {
            (Some(yes), Some(no)) if same => self.ways(cond, (yes, no), f, (x, &frame.omega())),
            _ => Err(untraced("a way of a guard has no value, or changes a system variable")),
        }
    }

    /// While an error guard is active, what may fail is computed before the statement ends (E4).
    pub fn checked(&mut self) -> Result<()> {
        let guarded = !self.st.handlers.is_empty()
            || self.st.traps > 0
            || !self.cx.sys.settings.traps.is_empty();
        self.cx.sys.tape.guard(guarded);
        if guarded && !self.cx.sys.tape.checks().is_empty() {
            let cells = self.cx.sys.tape.take_checks();
            self.cx.force_cells(cells, "guard")?;
        }
        Ok(())
    }

    /// The truth of a condition; `what` names it.
    pub(super) fn holds(&mut self, at: At<'_>, cond: PhraseId, what: &str) -> Result<Holds> {
        let (o, _) = self.phrase(at, cond, false)?;
        let wrong =
            || domain(format!("{what} is 0 or 1")).at(&at.ast.place(at.ast.phrase(cond).span));
        let Outcome::Array(a) = o else { return Err(wrong()) };
        match a.data() {
            Data::Num(0.0, _) => return Ok(Holds::No),
            Data::Num(1.0, _) => return Ok(Holds::Yes),
            Data::Framed(_) if a.rank() == 0 && a.dtype() == DType::Bool => {
                return Ok(Holds::Cells(a));
            }
            Data::Framed(_) if a.rank() == 0 && a.is_of_f64() => {
                // Not of a number that is no boolean is an error of its cell.
                let not = self.cx.map1(Op::Not, &a)?;
                return self.cx.map1(Op::Not, &not).map(Holds::Cells);
            }
            _ => {}
        }
        if a.len() != 1 {
            return Err(wrong());
        }
        self.enter(at, at.ast.phrase(cond).span);
        let a = self.cx.ready(&a, "guard")?;
        let x = if a.is_char() { None } else { a.number_at(0) };
        match x.and_then(|x| aplomb_values::prim::scalar::near_integer(x, self.cx.sys.settings.ct))
        {
            Some(0) => Ok(Holds::No),
            Some(1) => Ok(Holds::Yes),
            _ => Err(wrong()),
        }
    }
}

/// The verdict of a condition.
pub(super) enum Holds {
    Yes,
    No,
    /// Each cell its own.
    Cells(Array),
}

/// An error with its place, and its arguments' shapes as marks. Errors from inside a dfn get the
/// call.
pub(super) fn located(
    e: Error,
    at: At<'_>,
    ins: &Ins,
    x: Option<&Array>,
    y: Option<&Array>,
) -> Error {
    let place = at.ast.place(ins.at);
    if e.has_place() {
        let deep = e.parts().calls.len() >= 20 || matches!(e.kind(), Kind::Interrupt);
        let own =
            [&e.parts().place, &e.parts().needed].into_iter().any(|p| p.as_ref() == Some(&place));
        return if deep || own { e } else { e.called_from(place) };
    }
    let mut e = e.at(&place);
    if matches!(e.kind(), Kind::Rank | Kind::Length | Kind::Index | Kind::Domain) {
        for (a, span) in [(x, ins.x), (y, ins.y)] {
            if let Some(a) = a {
                e = e.mark(span, described(a));
            }
        }
    }
    e
}

fn described(a: &Array) -> String {
    match a.data() {
        aplomb_values::array::Data::Num(x, _) => aplomb_values::array::format::number(*x),
        aplomb_values::array::Data::Complex(z) => aplomb_values::array::format::complex(*z, 10),
        aplomb_values::array::Data::Char(c) => format!("'{c}'"),
        _ if a.rank() == 0 => "a scalar".into(),
        _ => format!("shape {}", aplomb_values::array::format::shape_text(a.shape())),
    }
}

//! The body of a dfn on flattened cells: its statements, its guards, the code of a phrase.

use super::calls::{End, Ends};
use super::{Cells, Flat, refuse};
use crate::eval::env::Frame;
use crate::eval::run::At;
use crate::eval::value::{Closure, Func, Operand, Value};
use crate::syntax::ast::{Guard, Stmt, Sym};
use crate::syntax::resolve::{self, Code, Do, FExpr, Gives, Ins, Joint, Pattern};
use crate::syntax::token::Word;
use aplomb_ground::error::{Result, bug, domain, value};
use aplomb_values::array::{Array, View};
use std::cell::RefCell;
use std::rc::Rc;

/// One call of a dfn for all cells of a level.
pub(super) struct Call {
    /// The scope that functions written in it close over. Its arrays stand for their class alone.
    pub frame: Rc<Frame>,
    /// The left argument.
    pub alpha: RefCell<Option<Cells>>,
    /// The right argument; None where it is groups that nobody has put together.
    pub omega: Option<Cells>,
    /// The arrays that it gave names.
    pub names: RefCell<Vec<(Sym, Cells)>>,
}

/// The outcome of code.
pub(super) enum Flow {
    Value(Cells),
    Tail(Rc<Func>, Option<Cells>, Cells),
    Nothing,
}

impl Flat<'_, '_> {
    /// The body of a call; where its cells end.
    pub(super) fn run(&mut self, call: &Rc<Call>, ends: &mut Vec<End>) -> Result<()> {
        let closure = call.frame.closure.clone();
        let all = self.places(0..self.count() as u32)?;
        self.statements(call, &closure, &closure.ast.dfn(closure.dfn).stmts, &all, ends)
    }

    /// Statements on the cells of now, whose places in the call are given.
    fn statements(
        &mut self,
        call: &Rc<Call>,
        closure: &Closure,
        stmts: &[Stmt],
        cells: &Rc<[u32]>,
        ends: &mut Vec<End>,
    ) -> Result<()> {
        let (ast, mut last) = (&closure.ast, Flow::Nothing);
        for (k, stmt) in stmts.iter().enumerate() {
            let empty = ast.phrase(stmt.phrase).items.is_empty();
            match stmt.guard {
                Guard::None if empty => {}
                Guard::None => {
                    let at = At { ast, frame: Some(&call.frame) };
                    let r = self.ev.resolved(at, stmt.phrase)?;
                    if r.code.is_default() && call.alpha.borrow().is_some() {
                        continue;
                    }
                    let flow = self.code(call, &r.code, !r.code.assigns)?;
                    if !r.code.assigns {
                        return self.ended(flow, cells, ends);
                    }
                    last = flow;
                }
                Guard::Test(cond) => {
                    let at = At { ast, frame: Some(&call.frame) };
                    let cond = self.ev.resolved(at, cond)?;
                    let Flow::Value(cond) = self.code(call, &cond.code, false)? else {
                        return refuse("a guard's condition has no value");
                    };
                    let (yes, no) = self.parted(&cond)?;
                    let rest = &stmts[k + 1..];
                    if no.is_empty() {
                        return self.guarded(call, closure, stmt, cells, ends);
                    }
                    if yes.is_empty() {
                        continue;
                    }
                    let of = |own: &[u32], flat: &Self| {
                        flat.places(own.iter().map(|&k| cells[k as usize]))
                    };
                    let (alpha, names) = (call.alpha.borrow().clone(), call.names.borrow().clone());
                    let own = of(&yes, self)?;
                    self.among(yes.into(), |flat| flat.guarded(call, closure, stmt, &own, ends))?;
                    *call.alpha.borrow_mut() = alpha;
                    *call.names.borrow_mut() = names;
                    let own = of(&no, self)?;
                    return self
                        .among(no.into(), |flat| flat.statements(call, closure, rest, &own, ends));
                }
                Guard::Error(_) => return refuse("an error guard stands in it"),
            }
        }
        // What was assigned last is the value.
        self.ended(last, cells, ends)
    }

    /// The statement that a guard lets through.
    fn guarded(
        &mut self,
        call: &Rc<Call>,
        closure: &Closure,
        stmt: &Stmt,
        cells: &Rc<[u32]>,
        ends: &mut Vec<End>,
    ) -> Result<()> {
        let at = At { ast: &closure.ast, frame: Some(&call.frame) };
        if closure.ast.phrase(stmt.phrase).items.is_empty() {
            return refuse("a call has no value");
        }
        let r = self.ev.resolved(at, stmt.phrase)?;
        let flow = self.code(call, &r.code, true)?;
        self.ended(flow, cells, ends)
    }

    /// The end of these cells.
    fn ended(&mut self, flow: Flow, cells: &Rc<[u32]>, ends: &mut Vec<End>) -> Result<()> {
        let what = match flow {
            Flow::Value(v) => Ends::Value(self.here(&v)?),
            Flow::Tail(f, x, y) => {
                let x = x.map(|x| self.here(&x)).transpose()?;
                Ends::Again(f, x, self.here(&y)?)
            }
            Flow::Nothing => return refuse("a call has no value"),
        };
        ends.push(End { cells: cells.clone(), what });
        Ok(())
    }

    /// The cells in which a condition holds, and the others. Errors: DOMAIN where it is neither 0
    /// nor 1.
    pub(super) fn parted(&mut self, cond: &Cells) -> Result<(Vec<u32>, Vec<u32>)> {
        let n = self.count();
        let cond = match self.here(cond)? {
            Cells::Same(a) => self.array_of_one(a)?,
            Cells::Each(a, _) => a,
        };
        if !cond.is_uniform() || cond.is_char() {
            return refuse("a guard's condition is no number in each cell");
        }
        let cond = self.ev.cx.ready(&cond, "guard")?;
        let budget = self.ev.cx.budget();
        if let Some(View::Bool(truths)) = cond.view_there()
            && truths.len() == n
        {
            let (mut yes, mut no) = (budget.filled(0u32, n)?, budget.filled(0u32, n)?);
            let (mut a, mut b) = (0, 0);
            // Each cell is written in both lists: no branch hangs on a truth.
            for (k, &truth) in truths.iter().enumerate() {
                (yes[a], no[b]) = (k as u32, k as u32);
                a += usize::from(truth != 0);
                b += usize::from(truth == 0);
            }
            yes.truncate(a);
            no.truncate(b);
            return Ok((yes, no));
        }
        let (mut yes, mut no) = (budget.room(n)?, budget.room(n)?);
        let ct = self.ev.cx.sys.settings.ct;
        for k in 0..n {
            let x = cond.number_at(if cond.rank() == 0 { 0 } else { k });
            match x.and_then(|x| aplomb_values::prim::scalar::near_integer(x, ct)) {
                Some(1) => yes.push(k as u32),
                Some(0) => no.push(k as u32),
                _ => return Err(domain("a guard's condition is 0 or 1")),
            }
        }
        Ok((yes, no))
    }

    /// The one number of a condition that all cells share, as a scalar.
    fn array_of_one(&mut self, a: Array) -> Result<Array> {
        match (a.rank(), a.len()) {
            (0, _) => Ok(a),
            (_, 1) => Ok(a.item(0)),
            _ => refuse("a guard's condition is no number"),
        }
    }

    /// Code on a stack, right to left.
    pub(super) fn code(&mut self, call: &Rc<Call>, code: &Code, tail: bool) -> Result<Flow> {
        let mut stack = match self.stacked(call, &code.ins, tail)? {
            Ok(stack) => stack,
            Err(flow) => return Ok(flow),
        };
        match &code.gives {
            Gives::Array => popped(&mut stack).map(Flow::Value),
            Gives::Nothing => Ok(Flow::Nothing),
            // A statement that names a function has done so.
            Gives::Func(_) | Gives::Oper(_) if code.assigns => Ok(Flow::Nothing),
            Gives::Func(_) | Gives::Oper(_) => refuse("a function is the value of a call"),
        }
    }

    /// The values that steps leave on a stack, or a call that is the last thing they do.
    pub(super) fn stacked(
        &mut self,
        call: &Rc<Call>,
        ins: &[Ins],
        tail: bool,
    ) -> Result<Result<Vec<Cells>, Flow>> {
        let mut stack: Vec<Cells> = Vec::new();
        let last = ins.len().wrapping_sub(1);
        let mut done = 0;
        for (k, one) in ins.iter().enumerate() {
            if k < done {
                continue;
            }
            let behind = &ins[k + 1..];
            let several = match self.verified(one, &mut stack, behind)? {
                None => self.enclosed(call, one, &mut stack, behind)?,
                several => several,
            };
            let several = match several {
                None => self.masked(call, one, &mut stack, behind)?,
                several => several,
            };
            let several = match several {
                None => self.aggregated(call, one, &mut stack, behind)?,
                several => several,
            };
            if let Some((z, steps)) = several {
                stack.push(z);
                done = k + 1 + steps;
                continue;
            }
            match &one.what {
                Do::Monad(f) | Do::Dyad(f) => {
                    let x = matches!(one.what, Do::Dyad(_)).then(|| popped(&mut stack));
                    let (x, y) = (x.transpose()?, popped(&mut stack)?);
                    if let Some(x) = &x
                        && let Some((z, steps)) =
                            self.join(call, f, (x, &y), &mut stack, &ins[k + 1..])?
                    {
                        stack.push(z);
                        done = k + 1 + steps;
                        continue;
                    }
                    if let Some(z) = self.bound_call(call, f, x.as_ref(), &y)? {
                        stack.push(z);
                        continue;
                    }
                    let f = self.function(call, f)?;
                    // What sees names of this call runs while it is under way.
                    if tail && k == last && f.closure().is_some() && self.is_closed(&f) {
                        return Ok(Err(Flow::Tail(f, x, y)));
                    }
                    let z = self.call(&f, x, y)?;
                    stack.push(z);
                }
                Do::Phrase(joint) => {
                    let (x, y) = (popped(&mut stack)?, popped(&mut stack)?);
                    let z = self.call(&Rc::new(Func::Prim(joint.prim)), Some(x), y)?;
                    let z = self.folded(call, joint, z)?;
                    stack.push(z);
                }
                what => self.step(call, what, &mut stack)?,
            }
        }
        Ok(Ok(stack))
    }

    /// The second function of a phrase, of what the first one gave.
    pub(super) fn folded(&mut self, call: &Rc<Call>, joint: &Joint, z: Cells) -> Result<Cells> {
        let Do::Monad(f) = &joint.then.what else {
            return Err(bug!("a phrase without an end"));
        };
        let f = self.function(call, f)?;
        self.call(&f, None, z)
    }

    pub(super) fn step(
        &mut self,
        call: &Rc<Call>,
        what: &Do,
        stack: &mut Vec<Cells>,
    ) -> Result<()> {
        let top = |stack: &[Cells]| stack.last().cloned().ok_or_else(|| value("nothing to assign"));
        match what {
            Do::Const(a) => stack.push(Cells::Same(a.clone())),
            Do::Omega => {
                let Some(v) = &call.omega else { return refuse("⍵ itself is needed") };
                let v = self.here(v)?;
                stack.push(v);
            }
            Do::Alpha => {
                let Some(v) = call.alpha.borrow().clone() else {
                    return Err(value("⍺ has no value: the dfn was called with one argument"));
                };
                let v = self.here(&v)?;
                *call.alpha.borrow_mut() = Some(v.clone());
                stack.push(v);
            }
            Do::Name(sym) => {
                let v = self.named(call, *sym)?;
                stack.push(v);
            }
            Do::Word(w) => {
                let which = usize::from(*w == Word::OmegaOmega);
                match call.frame.operand(which) {
                    Some(Operand::A(a)) => stack.push(Cells::Same(a.clone())),
                    _ => return refuse("an operand is no array"),
                }
            }
            Do::System(row) => stack.push(Cells::Same(self.ev.system_value(row)?)),
            Do::Strand(n) => {
                let items = (0..*n).map(|_| popped(stack)).collect::<Result<Vec<_>>>()?;
                let v = self.strand(&items)?;
                stack.push(v);
            }
            Do::Index(present) => {
                let base = popped(stack)?;
                let index = |p: &bool| p.then(|| popped(stack)).transpose();
                let indices = present.iter().map(index).collect::<Result<Vec<_>>>()?;
                let v = self.indexed(&base, &indices)?;
                stack.push(v);
            }
            Do::Assign(sym) => {
                let v = top(stack)?;
                self.name(call, *sym, v);
            }
            Do::AssignAlpha => {
                *call.alpha.borrow_mut() = Some(top(stack)?);
                *call.frame.alpha.borrow_mut() = Some(Value::Array(Array::num(0.0)));
            }
            Do::AssignFunc(sym, f) => {
                let f = self.function(call, f)?;
                call.frame.set(*sym, Value::Func(f));
            }
            Do::AssignAlphaOper(op) => {
                let at = At { ast: &call.frame.closure.ast, frame: Some(&call.frame) };
                let op = self.ev.operator(at, op)?;
                *call.frame.alpha.borrow_mut() = Some(Value::Oper(op));
            }
            Do::AssignOper(sym, op) => {
                let at = At { ast: &call.frame.closure.ast, frame: Some(&call.frame) };
                let op = self.ev.operator(at, op)?;
                call.frame.set(*sym, Value::Oper(op));
            }
            Do::AssignPattern(Pattern::All(names), None) => {
                let v = top(stack)?;
                self.spread(call, names, &v)?;
            }
            Do::Modify(sym, f) => {
                let (v, f) = (top(stack)?, self.function(call, f)?);
                if !self.owns(call, *sym) {
                    return self.modified(call, *sym, &f, &v);
                }
                let old = self.own(call, *sym)?;
                let new = self.call(&f, Some(old), v)?;
                self.name(call, *sym, new);
            }
            Do::AssignIndex { sym, present, f } if !self.owns(call, *sym) => {
                let index = |p: &bool| p.then(|| popped(stack)).transpose();
                let at = present.iter().map(index).collect::<Result<Vec<_>>>()?;
                let v = top(stack)?;
                self.sent_to(call, (*sym, f.as_ref()), at, &v)?;
            }
            Do::AssignIndex { sym, present, f: None } if present[..] == [true] => {
                let (at, v) = (popped(stack)?, top(stack)?);
                let old = self.own(call, *sym)?;
                match self.amended(&old, &at, &v)? {
                    Some(new) => self.name(call, *sym, new),
                    None => return refuse("items of a name are assigned once a cell"),
                }
            }
            Do::Append(sym, joins) => {
                let v = popped(stack)?;
                let old = self.named(call, *sym)?;
                let new = self.call(&Rc::new(Func::Prim(joins)), Some(old), v)?;
                self.name(call, *sym, new.clone());
                stack.push(new);
            }
            _ => return refuse("a step of it happens once a cell"),
        }
        Ok(())
    }

    /// A name of a call gets a value.
    pub(super) fn name(&mut self, call: &Call, sym: Sym, v: Cells) {
        call.frame.set(sym, Value::Array(Array::num(0.0)));
        let mut names = call.names.borrow_mut();
        match names.iter_mut().find(|(s, _)| *s == sym) {
            Some(slot) => slot.1 = v,
            None => names.push((sym, v)),
        }
    }

    /// Whether a name is the call's own, which what it took from outside is not.
    pub(super) fn owns(&self, call: &Call, sym: Sym) -> bool {
        call.names.borrow().iter().any(|(s, _)| *s == sym) && !self.has_changed(sym)
    }

    /// The value of the call's own name. Errors: where it has none, it is another's.
    pub(super) fn own(&mut self, call: &Call, sym: Sym) -> Result<Cells> {
        let own = call.names.borrow().iter().find(|(s, _)| *s == sym).map(|(_, v)| v.clone());
        match own {
            Some(v) => self.here(&v),
            None => refuse("an outer name is assigned"),
        }
    }

    /// True of a name that turns of a loop change: it has only what a turn gave it.
    fn bars(&self, sym: Sym) -> bool {
        self.turns.as_ref().is_some_and(|turns| turns.changes(sym))
    }

    /// The value of a name, from the innermost scope out.
    pub(super) fn named(&mut self, call: &Call, sym: Sym) -> Result<Cells> {
        let of = |call: &Call| {
            call.names.borrow().iter().find(|(s, _)| *s == sym).map(|(_, v)| v.clone())
        };
        if let Some(v) = of(call) {
            let v = self.here(&v)?;
            // It is taken once for these cells; where they meet others again, names are as before.
            if let Some(slot) = call.names.borrow_mut().iter_mut().find(|(s, _)| *s == sym) {
                slot.1 = v.clone();
            }
            return Ok(v);
        }
        let mut env = call.frame.closure.env.as_ref();
        while let Some(frame) = env {
            let outer = self.calls.iter().find(|c| Rc::ptr_eq(&c.frame, frame)).cloned();
            let is_under_way = outer.is_some();
            if let Some(v) = outer.and_then(|outer| of(&outer)) {
                return self.here(&v);
            }
            if is_under_way && self.bars(sym) {
                return refuse("a turn reads what another one gives");
            }
            match frame.local(sym) {
                Some(Value::Array(a)) => return Ok(Cells::Same(a)),
                Some(_) => return refuse("a function stands where a value is needed"),
                None => env = frame.closure.env.as_ref(),
            }
        }
        if self.bars(sym) {
            return refuse("a turn reads what another one gives");
        }
        match self.ev.st.globals.get(sym) {
            Some(Value::Array(a)) => Ok(Cells::Same(a.clone())),
            Some(_) => refuse("a function stands where a value is needed"),
            None => Err(value(format!("{} has no value", self.ev.st.symbols.name(sym)))),
        }
    }

    /// The function that an expression is now; what its operands compute is the same in all cells.
    pub(super) fn function(&mut self, call: &Rc<Call>, f: &FExpr) -> Result<Rc<Func>> {
        let at = At { ast: &call.frame.closure.ast, frame: Some(&call.frame) };
        let made = match f {
            FExpr::Op1(op, g) => {
                Func::derived(self.ev.operator(at, op)?, self.operand_of(call, g)?)
            }
            FExpr::Op2(op, g, h) => {
                let h = self.operand_of(call, h)?;
                Func::Op2(self.ev.operator(at, op)?, self.operand_of(call, g)?, h)
            }
            FExpr::Outer(g) => Func::Outer(Operand::F(self.function(call, g)?)),
            FExpr::Axis(g, code) => {
                let axis = self.constant(call, code)?;
                Func::Axis(Operand::F(self.function(call, g)?), axis)
            }
            FExpr::Fork(g, h, k) => {
                let k = Operand::F(self.function(call, k)?);
                let h = Operand::F(self.function(call, h)?);
                Func::Fork(self.operand_of(call, g)?, h, k)
            }
            FExpr::Atop(g, h) => {
                let h = Operand::F(self.function(call, h)?);
                Func::Atop(Operand::F(self.function(call, g)?), h)
            }
            FExpr::Known(_)
            | FExpr::Inside(..)
            | FExpr::Prim(_)
            | FExpr::Name(_)
            | FExpr::Word(_)
            | FExpr::Dfn(_)
            | FExpr::Member(_)
            | FExpr::System(_) => return self.ev.function(at, f),
            FExpr::Code(_) => return refuse("a function is named within a line"),
        };
        Ok(Rc::new(made))
    }

    fn operand_of(&mut self, call: &Rc<Call>, o: &resolve::Operand) -> Result<Operand> {
        match o {
            resolve::Operand::F(f) => self.function(call, f).map(Operand::F),
            resolve::Operand::A(code) => self.constant(call, code).map(Operand::A),
        }
    }

    /// The value of code that is the same in all cells.
    fn constant(&mut self, call: &Rc<Call>, code: &Code) -> Result<Array> {
        match self.code(call, code, false)? {
            Flow::Value(Cells::Same(a)) => Ok(a),
            _ => refuse("an operand differs from cell to cell"),
        }
    }

    /// `a b←`: an item to each name, or all of a scalar.
    fn spread(&mut self, call: &Rc<Call>, names: &[Pattern], v: &Cells) -> Result<()> {
        let mut syms = Vec::with_capacity(names.len());
        for name in names {
            let Pattern::Name(sym) = name else { return refuse("a pattern stands in a pattern") };
            syms.push(*sym);
        }
        let items = self.items_of(v, syms.len())?;
        for (sym, item) in syms.into_iter().zip(items) {
            self.name(call, sym, item);
        }
        Ok(())
    }
}

pub(super) fn popped(stack: &mut Vec<Cells>) -> Result<Cells> {
    stack.pop().ok_or_else(|| bug!("the value stack is empty"))
}

//! Calls of functions of lines.
//!
//! Their names are dynamic: a call hides what its local names meant, and all that it calls sees its
//! own; at its end they mean what they did. So a local name stands where a name of the workspace
//! stands, and costs as much. What a dfn below has as its own is looked for only where one called.

use super::cx::Trap;
use super::run::{At, Eval, Outcome};
use super::space::Space;
use super::steps::Walk;
use super::system::{Does, Row};
use super::value::{Operand, Trad, Value};
use crate::eval::env::Frame;
use crate::syntax::Sym;
use crate::syntax::resolve::Pattern;
use crate::syntax::tradfn::Tradfn;
use aplomb_ground::error::{Error, Result, limit, syntax, value};
use aplomb_values::array::Array;
use std::rc::Rc;

/// A call of a function of lines that is under way.
pub struct Call {
    /// The function.
    pub trad: Rc<Trad>,
    /// The line that runs.
    pub line: u32,
    /// Whether it has a left argument.
    pub dyadic: bool,
    /// The call of a dfn that called it.
    pub caller: Option<Rc<Frame>>,
    /// A dfn stands below, whose names it sees.
    dfns_below: bool,
    /// The number of frames of cells that stood around when the call began.
    framing: u32,
    /// Traps that stand around what runs in it.
    traps: usize,
    /// The space that its `:With` has entered, in which it sees its own names as well. None: no
    /// `:With` is under way, and wherever else it goes, names are those of the place.
    pub within: Option<Rc<Space>>,
}

/// The state that a call hides: names and ⎕ variables.
struct Hidden {
    names: Vec<Option<Value>>,
    settings: Vec<(&'static Row, Array)>,
    traps: Rc<[Trap]>,
}

impl Eval<'_> {
    /// A call with the arguments that there are. Errors: SYNTAX where they are too many or too few.
    pub fn call_trad(
        &mut self,
        trad: &Rc<Trad>,
        operands: &[Operand],
        x: Option<&Array>,
        y: Option<&Array>,
    ) -> Result<Outcome> {
        let own = trad.tradfn();
        let name = || self.st.symbols.name(own.name);
        match (&own.left, x) {
            (None, Some(_)) => return Err(syntax(format!("{} takes no left argument", name()))),
            (Some(_), None) if !own.optional && y.is_some() => {
                return Err(syntax(format!("{} needs a left argument", name())));
            }
            _ => {}
        }
        if y.is_none() != own.right.is_none() {
            let says = if y.is_none() { "needs arguments" } else { "takes no arguments" };
            return Err(syntax(format!("{} {says}", name())));
        }
        let steps = own.steps.as_ref().map_err(Error::clone)?;
        let most = self.cx.host.limits().depth;
        if self.st.depth >= most {
            return Err(limit(format!("calls stand more than {most} deep")));
        }
        self.st.depth += 1;
        let (source, span) = (self.cx.sys.source.clone(), self.cx.sys.span);
        let caller = self.st.frame.take();
        let dfns_below = caller.is_some() || self.st.calls.last().is_some_and(|c| c.dfns_below);
        self.st.calls.push(Call {
            trad: trad.clone(),
            line: 0,
            dyadic: x.is_some(),
            caller,
            dfns_below,
            framing: self.cx.sys.scope.frames(),
            traps: 0,
            within: None,
        });
        let here = self.go_to(&trad.home);
        let hidden = self.hide(own)?;
        self.cx.host.calls();
        self.cx.count_call();
        let done = self.arguments(trad, operands, x, y).and_then(|()| {
            let mut walk = Walk::new(steps);
            self.walk(trad, &mut walk)?;
            self.go_to(&trad.home);
            self.result(own)
        });
        self.cx.host.returns();
        // A `:With` that a `:Return` or an error left is over.
        self.go_to(&trad.home);
        self.unhide(own, hidden)?;
        self.go_to(&here);
        if let Some(call) = self.st.calls.pop() {
            self.st.frame = call.caller;
            self.st.traps -= call.traps;
        }
        self.st.depth -= 1;
        (self.cx.sys.source, self.cx.sys.span) = (source, span);
        self.st.shy = own.shy;
        done.map_err(Error::left_function)
    }

    /// The local names get no value, the local ⎕ variables keep theirs.
    fn hide(&mut self, own: &Tradfn) -> Result<Hidden> {
        let settings = own.settings.iter().map(|row| Ok((*row, self.system_value(row)?)));
        let settings = settings.collect::<Result<Vec<_>>>()?;
        let names = own.locals.iter().map(|sym| self.st.globals.change(*sym, None)).collect();
        let traps = self.cx.sys.settings.traps.clone();
        Ok(Hidden { names, settings, traps })
    }

    fn unhide(&mut self, own: &Tradfn, hidden: Hidden) -> Result<()> {
        for (sym, was) in own.locals.iter().zip(hidden.names) {
            self.st.globals.set(*sym, was);
        }
        for (row, was) in hidden.settings {
            match row.does {
                Does::Traps => self.cx.sys.settings.traps = hidden.traps.clone(),
                _ => row.set(&mut self.cx, &was)?,
            }
        }
        Ok(())
    }

    fn arguments(
        &mut self,
        trad: &Rc<Trad>,
        operands: &[Operand],
        x: Option<&Array>,
        y: Option<&Array>,
    ) -> Result<()> {
        let own = trad.tradfn();
        for (sym, operand) in own.operands.iter().zip(operands) {
            let value = match operand {
                Operand::F(f) => Value::Func(f.clone()),
                Operand::A(a) => Value::Array(a.clone()),
            };
            self.st.globals.change(*sym, Some(value));
        }
        for (sym, line) in &own.labels {
            let line = Value::Array(Array::num(f64::from(*line)));
            self.st.globals.change(*sym, Some(line));
        }
        for (names, given) in [(&own.right, y), (&own.left, x)] {
            match (names, given) {
                (Some(Pattern::Name(sym)), Some(a)) => {
                    self.st.globals.change(*sym, Some(Value::Array(a.clone())));
                }
                (Some(names), Some(a)) => {
                    self.spread(At { ast: &trad.ast, frame: None }, names, None, a)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The steps, one after the other, until there is none.
    fn walk(&mut self, trad: &Rc<Trad>, walk: &mut Walk) -> Result<()> {
        let own = trad.tradfn();
        let Ok(steps) = &own.steps else { return Ok(()) };
        let at = At { ast: &trad.ast, frame: None };
        let (depth, stack, guards) = (self.st.depth, self.st.stack.len(), self.st.handlers.len());
        // The step before, while it stands in a trap.
        let mut before = None;
        loop {
            let left = before.take().filter(|before| walk.leaves_trap(steps, *before, walk.at));
            // What a trap has left open is asked while it catches.
            let closed = left.and_then(|at| self.cx.close().err().map(|e| (at, e)));
            let now = closed.as_ref().map_or(walk.at, |(at, _)| *at);
            let Some(step) = steps.steps.get(now) else { return Ok(()) };
            self.cx.host.interrupt().check()?;
            let trapped = !steps.traps.is_empty() && walk.is_trapped(steps, now);
            before = trapped.then_some(now);
            if let Some(call) = self.st.calls.last_mut() {
                call.line = step.line;
                if trapped != (call.traps > 0) {
                    call.traps = usize::from(trapped);
                    match trapped {
                        true => self.st.traps += 1,
                        false => self.st.traps -= 1,
                    }
                }
            }
            let done = match closed {
                Some((_, e)) => Err(e),
                None => {
                    self.cx.sys.tape.guard(trapped || self.cx.sys.tape.is_guarded());
                    self.act(at, steps, walk, false).and_then(|_| self.checked())
                }
            };
            let Err(e) = done else {
                if walk.at <= now {
                    self.cx.count_call();
                }
                continue;
            };
            let e = e.at(&step.place(&trad.ast));
            let e = if trapped { self.earliest(e) } else { e };
            let label = format!("{}[{}]", self.st.symbols.name(own.name), step.line);
            let e = e.in_line(label);
            let caught = match trapped && !e.is_signal() {
                true => walk.catch(steps, now, e),
                false => Err(e),
            };
            let set_back = |ev: &mut Self| {
                ev.st.depth = depth;
                ev.st.stack.truncate(stack);
                ev.unguarded(guards);
                ev.cx.sys.tape.take_checks();
            };
            match caught {
                Ok(e) => {
                    set_back(self);
                    self.cx.sys.error = Some(e);
                }
                Err(e) if self.cx.sys.settings.traps.is_empty() || e.is_signal() => return Err(e),
                Err(e) => {
                    let e = self.earliest(e);
                    set_back(self);
                    match self.sprung(steps, walk, &e) {
                        None => return Err(e),
                        Some(done) => done?,
                    }
                }
            }
        }
    }

    /// The value of the names that are the result.
    fn result(&mut self, own: &Tradfn) -> Result<Outcome> {
        let one = |ev: &Self, p: &Pattern| match p {
            Pattern::Name(sym) => ev.st.globals.get(*sym).cloned(),
            _ => None,
        };
        match &own.result {
            None => Ok(Outcome::Nothing),
            Some(Pattern::All(names)) => {
                let mut items = Vec::new();
                for name in names {
                    let Some(Value::Array(a)) = one(self, name) else {
                        return Err(value("a name of the result has no value"));
                    };
                    items.push(a);
                }
                self.strand(items).map(Outcome::Array)
            }
            Some(name) => Ok(match one(self, name) {
                None => Outcome::Nothing,
                Some(Value::Array(a)) => Outcome::Array(a),
                Some(Value::Func(f)) => Outcome::Func(f),
                Some(Value::Oper(op)) => Outcome::Oper(op),
            }),
        }
    }

    /// Whether a name is that of a call of a function of lines which began within the frames of
    /// cells that stand around now.
    pub fn is_own_of_call(&self, sym: Sym) -> bool {
        let frames = self.cx.sys.scope.frames();
        let call = self.st.calls.iter().rev().find(|c| c.trad.tradfn().locals.contains(&sym));
        call.is_some_and(|c| c.framing >= frames)
    }

    /// The value that a name has in the call of a dfn which stands below the functions of lines
    /// that run. None: none has it, or a function of lines above has it as its own.
    pub fn below(&self, sym: Sym) -> Option<(Rc<Frame>, Value)> {
        if !self.st.calls.last().is_some_and(|c| c.dfns_below) {
            return None;
        }
        for call in self.st.calls.iter().rev() {
            if call.trad.tradfn().locals.contains(&sym) {
                return None;
            }
            let mut frame = call.caller.as_ref();
            while let Some(f) = frame {
                if let Some(v) = f.local(sym) {
                    return Some((f.clone(), v));
                }
                frame = f.closure.env.as_ref();
            }
        }
        None
    }
}

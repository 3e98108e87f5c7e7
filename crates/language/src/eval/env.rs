//! Scopes: frames of dfn calls over the workspace's names.

use super::system::Row;
use super::value::{Closure, Func, Operand, Value};
use crate::syntax::ast::Sym;
use aplomb_values::array::Array;
use std::cell::RefCell;
use std::rc::Rc;

/// One call of a dfn. Names live in a short list: a dfn has few.
pub struct Frame {
    /// The function that ∇ calls: the dfn, or the operator with its operands.
    pub this: Rc<Func>,
    /// The dfn and the scope it was written in.
    pub closure: Rc<Closure>,
    /// The left argument; None: there is none, or `⍺←` has not run yet.
    pub alpha: RefCell<Option<Value>>,
    /// The right argument.
    pub omega: Array,
    /// Names that the call gave values.
    pub locals: RefCell<Vec<(Sym, Value)>>,
    /// The number of frames of cells that stood around when the call began.
    pub framing: u32,
    /// System variables as they were before this call changed them.
    pub saved: RefCell<Vec<(&'static Row, Array)>>,
}

impl Frame {
    /// ⍺⍺ (0) and ⍵⍵ (1).
    pub fn operand(&self, k: usize) -> Option<&Operand> {
        match (&*self.this, k) {
            (Func::Op1(_, f) | Func::Op2(_, f, _), 0) => Some(f),
            (Func::Op2(_, _, g), 1) => Some(g),
            _ => None,
        }
    }

    /// The value of a name of this call.
    pub fn local(&self, sym: Sym) -> Option<Value> {
        self.locals.borrow().iter().find(|(s, _)| *s == sym).map(|(_, v)| v.clone())
    }

    /// Whether a name is this call's own.
    pub fn has_local(&self, sym: Sym) -> bool {
        self.locals.borrow().iter().any(|(s, _)| *s == sym)
    }

    /// A change of a name of this call, where it stands; None: it has no such name.
    pub fn with_local<T>(&self, sym: Sym, change: impl FnOnce(&mut Value) -> T) -> Option<T> {
        let mut locals = self.locals.borrow_mut();
        locals.iter_mut().find(|(s, _)| *s == sym).map(|(_, held)| change(held))
    }

    /// Gives a name of this call a value; the one that it had.
    pub fn set(&self, sym: Sym, value: Value) -> Option<Value> {
        let mut locals = self.locals.borrow_mut();
        match locals.iter_mut().find(|(s, _)| *s == sym) {
            Some(slot) => Some(std::mem::replace(&mut slot.1, value)),
            None => {
                locals.push((sym, value));
                None
            }
        }
    }

    /// Takes a name away; the value that it had.
    pub fn remove(&self, sym: Sym) -> Option<Value> {
        let mut locals = self.locals.borrow_mut();
        let at = locals.iter().position(|(s, _)| *s == sym)?;
        Some(locals.remove(at).1)
    }

    /// The names of this call as they are now.
    pub fn names(&self) -> Names<'_> {
        let (alpha, locals) = (self.alpha.borrow().clone(), self.locals.borrow().clone());
        Names { frame: self, alpha, locals }
    }

    /// At the end of a call: local functions hold this frame, which holds them. If nothing else
    /// does, let go.
    pub fn leave(self: Rc<Frame>) {
        let mine = |v: &Value| match v {
            Value::Func(f) => {
                let Func::Dfn(c) = &**f else { return false };
                let own = c.env.as_ref().is_some_and(|e| Rc::ptr_eq(e, &self));
                own && Rc::strong_count(f) == 1
            }
            _ => false,
        };
        let own = self.locals.borrow().iter().filter(|(_, v)| mine(v)).count();
        if own > 0 && Rc::strong_count(&self) == own + 1 {
            let locals = std::mem::take(&mut *self.locals.borrow_mut());
            drop(locals);
        }
    }
}

/// The names of a call as they were once. Dropped, it gives them back to the call: one way of a
/// guard that cells decide sets none that the other sees.
pub struct Names<'a> {
    frame: &'a Frame,
    alpha: Option<Value>,
    locals: Vec<(Sym, Value)>,
}

impl Drop for Names<'_> {
    fn drop(&mut self) {
        *self.frame.alpha.borrow_mut() = self.alpha.take();
        *self.frame.locals.borrow_mut() = std::mem::take(&mut self.locals);
    }
}

/// The workspace's names, and what they were before the statement under way.
#[derive(Clone, Default)]
pub struct Globals {
    slots: Vec<Slot>,
    /// The statement under way, by number.
    statement: u64,
    /// The values that names had before it, each once.
    journal: Vec<(Sym, Option<Value>)>,
}

#[derive(Clone, Default)]
struct Slot {
    value: Option<Value>,
    /// The last statement that changed it: the journal has what it was before that.
    changed: u64,
}

impl Globals {
    /// The value of a name.
    pub fn get(&self, sym: Sym) -> Option<&Value> {
        self.slots.get(sym.0 as usize).and_then(|slot| slot.value.as_ref())
    }

    /// The value of a name, to be changed where it stands; undone with the statement.
    pub fn change_in_place(&mut self, sym: Sym) -> Option<&mut Value> {
        if !self.is_changed(sym) {
            let now = self.get(sym).cloned();
            self.change(sym, now);
        }
        self.slot(sym).value.as_mut()
    }

    /// Gives a name a value, or none, for good; the one that it had.
    pub fn set(&mut self, sym: Sym, value: Option<Value>) -> Option<Value> {
        std::mem::replace(&mut self.slot(sym).value, value)
    }

    /// Gives a name a value, or none, until the statement is undone; the one that it had. Nobody
    /// needs that any more if the journal has an earlier one.
    pub fn change(&mut self, sym: Sym, value: Option<Value>) -> Option<Value> {
        let now = self.statement;
        let slot = self.slot(sym);
        let first = std::mem::replace(&mut slot.changed, now) != now;
        let old = std::mem::replace(&mut slot.value, value);
        if first {
            self.journal.push((sym, old.clone()));
        }
        old
    }

    /// Whether this statement has changed the name already.
    pub fn is_changed(&self, sym: Sym) -> bool {
        self.slots.get(sym.0 as usize).is_some_and(|slot| slot.changed == self.statement)
    }

    /// A statement begins.
    pub fn begin(&mut self) {
        self.statement += 1;
        self.journal.clear();
    }

    /// The statement has ended well.
    pub fn commit(&mut self) {
        self.journal.clear();
    }

    /// Every name is as it was before the statement.
    pub fn undo(&mut self) {
        for (sym, old) in std::mem::take(&mut self.journal).into_iter().rev() {
            self.set(sym, old);
        }
    }

    fn slot(&mut self, sym: Sym) -> &mut Slot {
        let at = sym.0 as usize;
        if at >= self.slots.len() {
            self.slots.resize(at + 1, Slot::default());
        }
        &mut self.slots[at]
    }

    /// Names that have a value.
    pub fn iter(&self) -> impl Iterator<Item = (Sym, &Value)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(k, slot)| slot.value.as_ref().map(|v| (Sym(k as u32), v)))
    }
}

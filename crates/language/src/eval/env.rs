//! Scopes: frames of dfn calls over the workspace's names.

use super::cx::Own;
use super::edits::{Edit, Was};
use super::system::Row;
use super::value::{Closure, Func, Operand, Value};
use crate::syntax::ast::Sym;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, End};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// One call of a dfn. Names live in a short list: a dfn has few.
pub struct Frame {
    /// The function that ∇ calls: the dfn, or the operator with its operands.
    pub this: Rc<Func>,
    /// The dfn and the scope it was written in.
    pub closure: Rc<Closure>,
    /// The left argument; None: there is none, or `⍺←` has not run yet.
    pub alpha: RefCell<Option<Value>>,
    /// The right argument; who reads it last may take it (`syntax::spent`).
    pub omega: RefCell<Array>,
    /// Names that the call gave values.
    pub locals: RefCell<Vec<(Sym, Value)>>,
    /// The number of frames of cells that stood around when the call began.
    pub framing: u32,
    /// System variables as they were before this call changed them.
    pub saved: RefCell<Vec<(&'static Row, Array)>>,
}

impl Frame {
    /// The right argument.
    pub fn omega(&self) -> Array {
        self.omega.borrow().clone()
    }

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

/// The names of a space, and what they were before the statement under way. A copy shares them
/// until one of the two changes.
#[derive(Clone, Default)]
pub struct Globals {
    slots: Rc<Slots>,
    /// The statement under way, by number.
    statement: u64,
    /// The values that names had before it, each once.
    journal: Vec<(Sym, Option<Value>)>,
    /// The arrays that were changed at their ends alone, and how.
    edits: Vec<(Sym, Edit)>,
    /// The ⎕ variables of the space, while it is not the current one; None: it has none yet.
    own: Option<Own>,
    own_before: Option<Own>,
}

/// A slot for every name there is, by its number, or for those that a space has. The former lie in
/// pages, so that a change beside a copy of all, which every line leaves for those who ask about it
/// later, copies the slots of one page.
#[derive(Clone)]
enum Slots {
    All(Vec<Rc<Page>>),
    Few(HashMap<Sym, Slot>),
}

type Page = [Slot; PAGE];
const PAGE: usize = 8;

impl Default for Slots {
    fn default() -> Self {
        Slots::All(Vec::new())
    }
}

#[derive(Clone, Default)]
struct Slot {
    value: Option<Value>,
    /// The last statement that changed it: the journal has what it was before that.
    changed: u64,
}

impl Globals {
    /// Names for a space that has few.
    pub fn few() -> Globals {
        Globals { slots: Rc::new(Slots::Few(HashMap::new())), ..Globals::default() }
    }

    fn slot(&self, sym: Sym) -> Option<&Slot> {
        match &*self.slots {
            Slots::All(pages) => {
                let at = sym.0 as usize;
                pages.get(at / PAGE).map(|page| &page[at % PAGE])
            }
            Slots::Few(slots) => slots.get(&sym),
        }
    }

    /// The ⎕ variables that the space was left with.
    pub fn own(&self) -> Option<Own> {
        self.own
    }

    /// Keeps the ⎕ variables of a space that is left.
    pub fn set_own(&mut self, own: Own) {
        self.own = Some(own);
    }

    /// The value of a name.
    pub fn get(&self, sym: Sym) -> Option<&Value> {
        self.slot(sym).and_then(|slot| slot.value.as_ref())
    }

    /// The value of a name, to be changed where it stands; undone with the statement.
    pub fn change_in_place(&mut self, sym: Sym) -> Option<&mut Value> {
        if !self.is_changed(sym) {
            let now = self.get(sym).cloned();
            self.journaled(sym, now);
        }
        self.slot_mut(sym).value.as_mut()
    }

    /// Changes an array at an end where it stands: what is not kept goes, and more comes there;
    /// undone with the statement. Of an array that nobody else holds the edit alone is noted, so
    /// each turn of a loop of statements copies nothing. Errors: those of the change, which changes
    /// nothing then, nor where it gives None.
    pub fn edit<T>(
        &mut self,
        sym: Sym,
        keep: Option<&Range<usize>>,
        end: End,
        change: impl FnOnce(&mut Value) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let known = self.edits.iter().position(|(own, _)| *own == sym);
        let puts = known.is_some_and(|k| self.edits[k].1.has_put());
        if puts || self.is_changed(sym) || self.get(sym).is_none() {
            return self.change_in_place(sym).map_or(Ok(None), change);
        }
        let edited = match self.slot_mut(sym).value.as_mut() {
            Some(Value::Array(a)) => Edit::suits(a).then(|| a.clone()),
            _ => None,
        };
        let Some(a) = edited else {
            return self.change_in_place(sym).map_or(Ok(None), change);
        };
        let n = a.first_extent();
        let fresh = Edit::of(n);
        let now = known.map_or(&fresh, |k| &self.edits[k].1);
        let cut = keep.map(|keep| now.cut(&a, keep));
        drop(a);
        let Some(held) = self.slot_mut(sym).value.as_mut() else { return Ok(None) };
        let done = change(held)?;
        if let (Some(_), Value::Array(a)) = (&done, &*held) {
            let left = keep.map_or(n, ExactSizeIterator::len);
            let came = a.first_extent().saturating_sub(left);
            let k = match known {
                Some(k) => k,
                None => {
                    self.edits.push((sym, fresh));
                    self.edits.len() - 1
                }
            };
            let now = &mut self.edits[k].1;
            cut.into_iter().for_each(|cut| now.lost(cut));
            now.came(came, end);
        }
        Ok(done)
    }

    /// Changes an item of an array where it stands; undone with the statement, which knows by
    /// `was` how the item was. Whether it did; None, and nothing changed: the array has its old
    /// value in the journal, or many of its items were changed. Errors: those of the change.
    pub fn edit_item(
        &mut self,
        sym: Sym,
        place: usize,
        was: fn(Array) -> Was,
        change: impl FnOnce(&mut Value) -> Result<bool>,
    ) -> Result<Option<bool>> {
        if self.is_changed(sym) {
            return Ok(None);
        }
        let known = self.edits.iter().position(|(own, _)| *own == sym);
        if known.is_some_and(|k| !self.edits[k].1.may_put()) || self.get(sym).is_none() {
            return Ok(None);
        }
        let Some(value) = self.slot_mut(sym).value.as_mut() else { return Ok(None) };
        let Value::Array(held) = &*value else { return Ok(None) };
        if held.pending().is_some() || held.rank() == 0 {
            return Ok(None);
        }
        let (was, n) = (was(held.item(place)), held.first_extent());
        let done = change(value)?;
        if done {
            if known.is_none() {
                self.edits.push((sym, Edit::of(n)));
            }
            if let Some((_, edit)) = self.edits.iter_mut().find(|(own, _)| *own == sym) {
                edit.put(place, was);
            }
        }
        Ok(Some(done))
    }

    /// A value of a name, an array that was edited as it was before.
    fn as_before(&mut self, sym: Sym, value: Option<Value>) -> Option<Value> {
        let Some(k) = self.edits.iter().position(|(own, _)| *own == sym) else { return value };
        let (_, edit) = self.edits.swap_remove(k);
        match value {
            Some(Value::Array(a)) => Some(Value::Array(edit.undone(a))),
            value => value,
        }
    }

    /// True where a name is given the very array that it holds, after an edit.
    fn is_edited_to(&self, sym: Sym, value: &Option<Value>) -> bool {
        let (Some(Value::Array(new)), Some(Value::Array(now))) = (value, self.get(sym)) else {
            return false;
        };
        self.edits.iter().any(|(own, _)| *own == sym) && new.is_one_with(now)
    }

    /// Gives a name a value, or none, for good; the one that it had.
    pub fn set(&mut self, sym: Sym, value: Option<Value>) -> Option<Value> {
        std::mem::replace(&mut self.slot_mut(sym).value, value)
    }

    /// Gives a name a value, or none, until the statement is undone; the one that it had. Nobody
    /// needs that any more if the journal has an earlier one.
    pub fn change(&mut self, sym: Sym, value: Option<Value>) -> Option<Value> {
        if self.is_edited_to(sym, &value) {
            return value;
        }
        self.journaled(sym, value)
    }

    fn journaled(&mut self, sym: Sym, value: Option<Value>) -> Option<Value> {
        let now = self.statement;
        let slot = self.slot_mut(sym);
        let first = std::mem::replace(&mut slot.changed, now) != now;
        let old = std::mem::replace(&mut slot.value, value);
        if first {
            let before = self.as_before(sym, old.clone());
            self.journal.push((sym, before));
        }
        old
    }

    /// Whether this statement has changed the name already.
    pub fn is_changed(&self, sym: Sym) -> bool {
        self.slot(sym).is_some_and(|slot| slot.changed == self.statement)
    }

    /// A statement begins, by its number. False: it had begun here.
    pub fn begin(&mut self, statement: u64) -> bool {
        let is_new = self.statement != statement;
        if is_new {
            self.statement = statement;
            self.own_before = self.own;
            self.commit();
        }
        is_new
    }

    /// The statement has ended well.
    pub fn commit(&mut self) {
        self.journal.clear();
        self.edits.clear();
    }

    /// Every name is as it was before the statement.
    pub fn undo(&mut self) {
        self.own = self.own_before;
        for (sym, old) in std::mem::take(&mut self.journal).into_iter().rev() {
            self.set(sym, old);
        }
        while let Some(sym) = self.edits.last().map(|(sym, _)| *sym) {
            let now = self.set(sym, None);
            let before = self.as_before(sym, now);
            self.set(sym, before);
        }
    }

    fn slot_mut(&mut self, sym: Sym) -> &mut Slot {
        match Rc::make_mut(&mut self.slots) {
            Slots::All(pages) => {
                let at = sym.0 as usize;
                while at / PAGE >= pages.len() {
                    pages.push(Rc::default());
                }
                &mut Rc::make_mut(&mut pages[at / PAGE])[at % PAGE]
            }
            Slots::Few(slots) => slots.entry(sym).or_default(),
        }
    }

    /// Names that have a value.
    pub fn iter(&self) -> Box<dyn Iterator<Item = (Sym, &Value)> + '_> {
        match &*self.slots {
            Slots::All(pages) => Box::new(
                pages
                    .iter()
                    .flat_map(|page| page.iter())
                    .enumerate()
                    .filter_map(|(k, slot)| slot.value.as_ref().map(|v| (Sym(k as u32), v))),
            ),
            // In the order in which names came up, as of all.
            Slots::Few(slots) => {
                let own =
                    slots.iter().filter_map(|(sym, slot)| slot.value.as_ref().map(|v| (*sym, v)));
                let mut all: Vec<(Sym, &Value)> = own.collect();
                all.sort_unstable_by_key(|(sym, _)| *sym);
                Box::new(all.into_iter())
            }
        }
    }
}

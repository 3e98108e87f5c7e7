//! Assignments: names, patterns, indexed, modified, selective, system variables, `⎕←`.

use super::edits::Was;
use super::env::{Frame, Globals};
use super::operators::scalar_op;
use super::run::{At, Eval, located};
use super::value::{Func, Operand, Value};
use crate::functions::amend::{fits, item_for};
use crate::functions::select::{fits_axes, path_to, pick, places_by_items, places_of, select};
use crate::syntax::Sym;
use crate::syntax::resolve::{Do, Ins, Path, Pattern};
use crate::table::Prim;
use aplomb_ground::error::{Error, Result, bug, length, rank, syntax, untraced, value};
use aplomb_ground::limits::Budget;
use aplomb_values::array::format::display;
use aplomb_values::array::{Array, Changing, End};
use std::rc::Rc;

/// Places of one assignment whose items are put one by one where they lie.
const PUT_ALONE: usize = 16;

impl Eval<'_> {
    /// One instruction that assigns; the value stays on the stack.
    pub fn assignment(&mut self, at: At<'_>, ins: &Ins) -> Result<()> {
        // An effect is told where it stands, and so is what new items of an array are made by.
        if self.cx.sys.recorder.ahead || matches!(ins.what, Do::AssignIndex { .. }) {
            self.enter(at, ins.at);
        }
        if self.cx.sys.tape.is_guarded() && self.is_seen_by_guards(at, &ins.what) {
            self.cx.close()?;
        }
        let top = |e: &Self| e.st.stack.last().cloned().ok_or_else(|| value("nothing to assign"));
        match &ins.what {
            Do::Assign(sym) => {
                let v = top(self)?;
                self.name_value(at, *sym, v)?;
            }
            Do::AssignAlpha => {
                let v = top(self)?;
                match at.frame {
                    Some(f) => *f.alpha.borrow_mut() = Some(Value::Array(v)),
                    None => return Err(syntax("⍺ stands only inside { }")),
                }
            }
            Do::AssignAlphaFunc(f) => {
                let v = self.function(at, f)?;
                match at.frame {
                    Some(f) => *f.alpha.borrow_mut() = Some(Value::Func(v)),
                    None => return Err(syntax("⍺ stands only inside { }")),
                }
            }
            Do::AssignAlphaOper(op) => {
                let v = self.operator(at, op)?;
                match at.frame {
                    Some(f) => *f.alpha.borrow_mut() = Some(Value::Oper(v)),
                    None => return Err(syntax("⍺ stands only inside { }")),
                }
            }
            Do::AssignFunc(sym, f) => {
                let v = self.function(at, f)?;
                self.set(at, *sym, Value::Func(v))?;
            }
            Do::AssignOper(sym, op) => {
                let v = self.operator(at, op)?;
                self.set(at, *sym, Value::Oper(v))?;
            }
            Do::AssignPattern(p, f) => {
                let v = top(self)?;
                let f = f.as_ref().map(|f| self.function(at, f)).transpose()?;
                self.spread(at, p, f.as_ref(), &v)?;
            }
            Do::AssignSystem(row) => {
                let v = top(self)?;
                self.set_system(at, row, &v)?;
            }
            Do::Print { line } => {
                let v = top(self)?;
                self.cx.unframed("printing")?;
                self.cx.effect("output");
                let v = self.cx.ready_to_show(&v)?;
                let style = self.style();
                let place = || at.ast.place(ins.at);
                let text = self.cx.worded(place, |cx| display(&v, &style, cx.budget()))?;
                match line {
                    true => {
                        self.cx.sys.screen.prompt.clear();
                        self.cx.host.print(&v, &text, &style);
                    }
                    false => self.print(&text, false),
                }
            }
            Do::PrintFunc { f, line } => {
                let f = self.function(at, f)?;
                self.cx.unframed("printing")?;
                self.cx.effect("output");
                let text = self.function_text(&f)?;
                self.print(&text, *line);
            }
            Do::PrintOper { op, line } => {
                let op = self.operator(at, op)?;
                self.cx.unframed("printing")?;
                self.cx.effect("output");
                let text = self.operator_text(&op)?;
                self.print(&text, *line);
            }
            Do::Modify(sym, f) => {
                let v = top(self)?;
                let f = self.function(at, f)?;
                self.modify(at, *sym, &f, &v)?;
            }
            Do::Append(sym, joins) => {
                let v = self.pop()?;
                // What the code names is its own: an outer array is read, and a local one made.
                let own = at.frame.is_none_or(|f| f.has_local(*sym));
                if !(own && self.append(at, *sym, joins, &v)?) {
                    let old = self.visible(at, *sym)?;
                    let new = self
                        .apply(&Rc::new(Func::Prim(joins)), Some(&old), &v)
                        .map_err(|e| located(e, at, ins, Some(&old), Some(&v)))?;
                    self.name_value(at, *sym, new)?;
                }
                let new = self.visible(at, *sym)?;
                self.st.stack.push(new);
            }
            Do::AssignIndex { sym, present, f } => {
                let mut indices = Vec::with_capacity(present.len());
                for &p in present {
                    indices.push(if p { self.st.stack.pop() } else { None });
                }
                let v = top(self)?;
                let f = f.as_ref().map(|f| self.function(at, f)).transpose()?;
                self.set_indexed(at, *sym, &indices, f, &v)?;
            }
            Do::Within(inner) => self.assign_within(at, inner)?,
            Do::Positions { sym, within } => self.positions(at, *sym, within)?,
            Do::AssignSelected { sym, f, reach } => {
                self.assign_selected(at, *sym, f.as_ref(), *reach)?
            }
            _ => {
                return Err(aplomb_ground::error::internal(
                    "a step that the evaluator does not know",
                ));
            }
        }
        Ok(())
    }

    /// Whether an instruction changes what whoever catches an error may look at, so that what was
    /// written before it is asked whether it overflows: names that are not the running function's
    /// own. A dfn's are set back when its guard catches; those of a function of lines last as long
    /// as its turns, which are not computed apart.
    fn is_seen_by_guards(&self, at: At<'_>, what: &Do) -> bool {
        let own = |sym: &Sym| match at.frame {
            Some(frame) => frame.has_local(*sym),
            None => self.is_own_of_call(*sym),
        };
        let outside = at.frame.is_none();
        match what {
            // In a dfn these make a name of its own.
            Do::Assign(sym) | Do::AssignFunc(sym, _) | Do::AssignOper(sym, _) => {
                outside && !own(sym)
            }
            Do::Append(sym, _) => outside && !own(sym),
            Do::Modify(sym, _) => !own(sym),
            Do::AssignIndex { sym, .. } | Do::AssignSelected { sym, .. } => !own(sym),
            Do::AssignPattern(_, f) => outside || f.is_some(),
            Do::AssignSystem(_) => outside,
            Do::Within(_) => true,
            _ => false,
        }
    }

    /// `⎕←` with its line end, `⍞←` without.
    fn print(&mut self, text: &str, line: bool) {
        if line {
            self.cx.sys.screen.prompt.clear();
            self.cx.host.output(text);
        } else {
            self.prompt(text.trim_end_matches('\n'));
        }
    }

    fn name_value(&mut self, at: At<'_>, sym: Sym, v: Array) -> Result<()> {
        if let Some(cell) = v.pending() {
            cell.set_name(&self.st.symbols.name(sym));
        }
        self.set(at, sym, Value::Array(v))
    }

    /// Gives a name its value where the code runs: a local inside a dfn, else a name of the
    /// workspace or of the functions of lines that run. Errors: untraced, where it would happen
    /// once a cell.
    pub fn set(&mut self, at: At<'_>, sym: Sym, v: Value) -> Result<()> {
        match at.frame {
            Some(f) => {
                let old = f.set(sym, v.clone());
                if let Some(old) = old.filter(|old| !old.may_become(&v)) {
                    let e = self.other_class(sym, &old);
                    f.set(sym, old);
                    return Err(e);
                }
            }
            None => match self.below(sym) {
                Some((frame, _)) => {
                    self.cx.unframed("an outer assignment")?;
                    frame.set(sym, v);
                }
                None => self.set_outer(sym, v)?,
            },
        }
        Ok(())
    }

    /// The error of a value that is a function where the name holds an array, or the reverse.
    fn other_class(&self, sym: Sym, old: &Value) -> Error {
        let name = self.st.symbols.name(sym);
        let is = if matches!(old, Value::Array(_)) { "an array" } else { "a function" };
        syntax(format!("{name} is {is}, and cannot become something else"))
            .hint(format!("⎕EX'{name}' frees the name"))
    }

    /// Gives a name that no dfn has a value. Errors: untraced, where that would happen once a cell.
    fn set_outer(&mut self, sym: Sym, v: Value) -> Result<()> {
        if let Some(old) = self.st.globals.get(sym).filter(|old| !old.may_become(&v)) {
            return Err(self.other_class(sym, old));
        }
        self.may_change_outer(sym)?;
        self.set_global(sym, Some(v));
        Ok(())
    }

    /// Gives a name of the workspace a value, or none; the journal has what it was.
    pub fn set_global(&mut self, sym: Sym, v: Option<Value>) {
        self.changes_outer(sym);
        match self.elsewhere(sym) {
            Some(home) => self.st.change_in(&home, sym, v),
            None => drop(self.st.globals.change(sym, v)),
        }
    }

    /// A name of the current space changes: an effect, unless a call has it or made the space.
    pub(super) fn changes_outer(&mut self, sym: Sym) {
        let ahead = self.cx.sys.recorder.ahead;
        if ahead && self.st.here.born() != self.st.statement && !self.is_own_of_call(sym) {
            self.cx.effect("a name outside of it");
        }
    }

    /// The nearest visible array of that name.
    pub fn visible(&mut self, at: At<'_>, sym: Sym) -> Result<Array> {
        match self.lookup(at, sym) {
            Some(Value::Array(a)) => Ok(a.settled()),
            Some(_) => Err(syntax(format!("{} is a function", self.st.symbols.name(sym)))),
            None => Err(value(format!("{} has no value", self.st.symbols.name(sym)))),
        }
    }

    /// Whether names of a call may change now. Errors: untraced, of one whose caller runs cells
    /// together, for which that would be once a cell.
    fn may_change(&self, call: &Frame) -> Result<()> {
        match call.framing < self.cx.sys.scope.frames() {
            true => self.cx.unframed("an outer assignment"),
            false => Ok(()),
        }
    }

    /// The same of a name that no dfn has.
    fn may_change_outer(&self, sym: Sym) -> Result<()> {
        match self.cx.sys.scope.is_once_a_cell() && !self.is_own_of_call(sym) {
            true => self.cx.unframed("an outer assignment"),
            false => Ok(()),
        }
    }

    /// Changes the nearest visible name.
    pub fn change(&mut self, at: At<'_>, sym: Sym, v: Array) -> Result<()> {
        let mut frame = at.frame;
        while let Some(f) = frame {
            if f.local(sym).is_some() {
                self.may_change(f)?;
                f.set(sym, Value::Array(v));
                return Ok(());
            }
            frame = f.closure.env.as_ref();
        }
        if at.frame.is_none()
            && let Some((frame, _)) = self.below(sym)
        {
            self.cx.unframed("an outer assignment")?;
            frame.set(sym, Value::Array(v));
            return Ok(());
        }
        if let Some(cell) = v.pending() {
            cell.set_name(&self.st.symbols.name(sym));
        }
        self.set_outer(sym, Value::Array(v))
    }

    /// `r,←v` and `r⍪←v` in r's own room, where nobody else holds it, so that a loop of appends is
    /// linear. False, and nothing changed: it is made anew. Errors: WS FULL.
    fn append(&mut self, at: At<'_>, sym: Sym, joins: &Prim, v: &Array) -> Result<bool> {
        let vectors = match joins.glyph {
            ',' => true,
            '⍪' => false,
            _ => return Ok(false),
        };
        if self.cx.sys.scope.is_once_a_cell() || self.elsewhere(sym).is_some() {
            return Ok(false);
        }
        let v = v.settled();
        let grow = |held: &mut Value, budget: &Budget| match held {
            Value::Array(a) if a.rank() == 1 || !vectors => {
                if a.pending().is_some() {
                    *a = a.settled();
                }
                a.grow(&v, budget)
            }
            _ => Ok(false),
        };
        self.changed_by(at, sym, grow, |globals, sym, grow| {
            let grow = |held: &mut Value| Ok(grow(held)?.then_some(()));
            Ok(globals.edit(sym, None, End::Back, grow)?.is_some())
        })
    }

    /// A change of an item of a name's nested vector in its slot, which makes the item longer.
    pub(super) fn item_grown_where_it_is(
        &mut self,
        at: At<'_>,
        (sym, place): (Sym, usize),
        change: impl Fn(&mut Value, &Budget) -> Result<bool>,
    ) -> Result<bool> {
        self.changed_by(at, sym, change, |globals, sym, change| {
            let was = |item: Array| Was::Shorter(item.first_extent());
            match globals.edit_item(sym, place, was, change)? {
                Some(done) => Ok(done),
                None => globals.change_in_place(sym).map_or(Ok(false), change),
            }
        })
    }

    /// A change of a name's value in its slot: that of the innermost function that has one, or the
    /// workspace's, where `of_all` makes it.
    fn changed_by(
        &mut self,
        at: At<'_>,
        sym: Sym,
        change: impl Fn(&mut Value, &Budget) -> Result<bool>,
        of_all: impl FnOnce(&mut Globals, Sym, &dyn Fn(&mut Value) -> Result<bool>) -> Result<bool>,
    ) -> Result<bool> {
        let budget = self.cx.budget();
        let change = |held: &mut Value| change(held, budget);
        let mut frame = at.frame;
        while let Some(scope) = frame {
            if let Some(done) = scope.with_local(sym, change) {
                return done;
            }
            frame = scope.closure.env.as_ref();
        }
        let changed = of_all(&mut self.st.globals, sym, &change);
        self.changes_outer(sym);
        changed
    }

    /// The array of that name to be changed: out of its slot, if nobody can look there meanwhile
    /// and nobody needs the value it had when the statement began.
    fn take(&mut self, at: At<'_>, sym: Sym, f: Option<&Func>) -> Result<Array> {
        let taken = |was: Option<Value>| {
            was.and_then(Value::into_array)
                .ok_or_else(|| bug!("a name whose array changes holds none"))
        };
        if matches!(f, None | Some(Func::Prim(_))) {
            let mut frame = at.frame;
            while let Some(scope) = frame {
                if scope.local(sym).is_some() {
                    // Nothing is taken that could not be put back.
                    self.may_change(scope)?;
                    return taken(scope.set(sym, Value::Array(Array::num(0.0))));
                }
                frame = scope.closure.env.as_ref();
            }
            if self.elsewhere(sym).is_some() {
                return self.visible(at, sym);
            }
            if self.st.globals.is_changed(sym) && (at.frame.is_some() || self.below(sym).is_none())
            {
                self.may_change_outer(sym)?;
                self.changes_outer(sym);
                return taken(self.st.globals.set(sym, Some(Value::Array(Array::num(0.0)))));
            }
        }
        self.visible(at, sym)
    }

    /// `x f←v`: the nearest visible x becomes `x f v`.
    fn modify(&mut self, at: At<'_>, sym: Sym, f: &Rc<Func>, v: &Array) -> Result<()> {
        if let Func::Prim(joins) = &**f
            && self.append(at, sym, joins, v)?
        {
            return Ok(());
        }
        let old = self.visible(at, sym)?;
        let new = self.apply(f, Some(&old), v)?;
        self.change(at, sym, new)
    }

    /// Items of a value to the names of a pattern; with a function each name is modified by its
    /// item.
    pub(super) fn spread(
        &mut self,
        at: At<'_>,
        p: &Pattern,
        f: Option<&Rc<Func>>,
        v: &Array,
    ) -> Result<()> {
        let names = match (p, f) {
            (Pattern::Name(sym), None) => {
                return self.name_value(at, *sym, v.clone());
            }
            (Pattern::Name(sym), Some(f)) => return self.modify(at, *sym, f, v),
            (Pattern::System(row), None) => return self.set_system(at, row, v),
            (Pattern::System(row), Some(f)) => {
                let old = self.system_value(row)?;
                let new = self.apply(f, Some(&old), v)?;
                return self.set_system(at, row, &new);
            }
            (Pattern::Member(path), f) => {
                let Some((sym, before)) = path.names.split_last() else {
                    return Err(bug!("a path without a name"));
                };
                let owner = Path { head: path.head, names: before.into() };
                let to = match self.at_path(at, &owner) {
                    Some(Value::Array(to)) => to,
                    _ => return Err(value("the namespace of this name has no value")),
                };
                let new = match f {
                    None => v.clone(),
                    Some(f) => {
                        let old = self.member_of(&to, *sym)?;
                        self.apply(f, Some(&old), v)?
                    }
                };
                return self.set_member(&to, *sym, Value::Array(new));
            }
            (Pattern::All(names), _) => names,
        };
        if v.rank() > 1 {
            return Err(rank("names are given a vector or a scalar"));
        }
        if v.rank() == 1 && v.len() != names.len() {
            return Err(length(format!("{} names for {} items", names.len(), v.len()))
                .hint("one scalar goes to all names"));
        }
        let (scalar, cells) = (v.rank() == 0, v.frame().is_some());
        let ahead = self.cx.is_ahead(v);
        let v = if cells || ahead { v.clone() } else { self.cx.ready_outer(v)? };
        for (k, name) in names.iter().enumerate() {
            let item = match () {
                () if ahead => self.cx.item_ahead(&v, k)?,
                () if scalar => v.disclosed(),
                () if cells => self.cx.framed_item(&v, k)?,
                () => v.item(k),
            };
            self.spread(at, name, f, &item)?;
        }
        Ok(())
    }

    fn set_indexed(
        &mut self,
        at: At<'_>,
        sym: Sym,
        indices: &[Option<Array>],
        f: Option<Rc<Func>>,
        v: &Array,
    ) -> Result<()> {
        if let ([Some(i)], Some(f)) = (indices, &f)
            && i.rank() == 0
            && (v.rank() == 0 || v.len() == 1 && v.pending().is_none())
        {
            let item = if v.rank() == 0 { v.disclosed() } else { v.item(0) };
            if self.grow_item(at, sym, Some(f), (i, &item))? {
                return Ok(());
            }
        }
        let mut old = self.visible(at, sym)?;
        let simple = indices.iter().flatten().all(Array::is_uniform);
        let op = f.as_ref().map(|f| scalar_op(&Operand::F(f.clone())));
        if indices.iter().flatten().chain([&old, v]).any(|a| a.frame().is_some()) {
            if op == Some(None) {
                return Err(untraced("a function of one's own assigns items of cells"));
            }
            let new = self.cx.framed_amend(&old, indices, op.flatten(), v)?;
            return self.change(at, sym, new);
        }
        if simple
            && op != Some(None)
            && indices.len() == old.rank()
            && let Some(new) = self.cx.record_scatter(&old, indices, op.flatten(), v)?
        {
            return self.change(at, sym, new);
        }
        old = self.cx.ready_outer(&old)?;
        if let [Some(i)] = indices
            && !i.is_simple()
        {
            // v[⊂i j]: one place of any rank for each item, or a path into the items.
            if let Some(places) = places_by_items(&mut self.cx, old.shape(), i)? {
                return self.replace(at, sym, old, i.shape(), places, f, v);
            }
            return self.replace_reached(at, sym, old, i, f, v);
        }
        fits_axes(&mut self.cx, &old, indices)?;
        let mut sels = Vec::with_capacity(indices.len());
        for (k, i) in indices.iter().enumerate() {
            sels.push(select(&mut self.cx, i.as_ref(), old.shape()[k])?);
        }
        let (shape, places) = places_of(old.shape(), &sels, self.cx.budget())?;
        self.replace(at, sym, old, &shape, places, f, v)
    }

    /// The ends of the paths of i become the items of v, or `old f v`, one after the other.
    fn replace_reached(
        &mut self,
        at: At<'_>,
        sym: Sym,
        old: Array,
        i: &Array,
        f: Option<Rc<Func>>,
        v: &Array,
    ) -> Result<()> {
        let v = self.cx.ready(v, "value")?;
        fits(&v, i.shape())?;
        let (axes, mut now) = (old.rank(), self.cx.ready(&old, "selection")?);
        for (k, item) in self.cx.ready(i, "index")?.in_turn().enumerate() {
            let path = path_to(axes, &item)?;
            let item = item_for(&v, k);
            let new = match &f {
                None => item,
                Some(f) => {
                    let held = pick(&mut self.cx, &path, &now, None)?;
                    let new = self.apply(f, Some(&held), &item)?;
                    self.cx.ready(&new, "value")?.disclosed()
                }
            };
            let steps = path.to_items(self.cx.budget())?;
            now = super::operators::at::reached(&mut self.cx, &now, &steps, &new)?;
        }
        self.change(at, sym, now)
    }

    /// An item of a name of the workspace, where it lies. False, and nothing changed: it is another
    /// name, or its old value is kept for this statement. Errors: WS FULL, INTERRUPT.
    fn put_in_workspace(
        &mut self,
        at: At<'_>,
        sym: Sym,
        place: usize,
        new: &Array,
    ) -> Result<bool> {
        let mut scope = at.frame;
        while let Some(frame) = scope.filter(|frame| !frame.has_local(sym)) {
            scope = frame.closure.env.as_ref();
        }
        let elsewhere = scope.is_some() || self.elsewhere(sym).is_some();
        let below = at.frame.is_none() && self.below(sym).is_some();
        if elsewhere || below || self.cx.sys.scope.is_once_a_cell() {
            return Ok(false);
        }
        self.changes_outer(sym);
        let budget = self.cx.budget();
        let put = |held: &mut Value| match held {
            Value::Array(held) if held.pending().is_none() => {
                let now = held.settled();
                *held = now;
                held.put_item(place, new, budget)
            }
            _ => Ok(false),
        };
        Ok(self.st.globals.edit_item(sym, place, Was::Item, put)? == Some(true))
    }

    /// Items at ravel places become the items of v, or `old f v` item by item.
    #[allow(clippy::too_many_arguments)]
    pub fn replace(
        &mut self,
        at: At<'_>,
        sym: Sym,
        mut old: Array,
        shape: &[usize],
        places: Vec<usize>,
        f: Option<Rc<Func>>,
        v: &Array,
    ) -> Result<()> {
        old = self.cx.ready_outer(&old)?;
        let v = self.cx.ready_outer(v)?;
        fits(&v, shape)?;
        let item = |k: usize| item_for(&v, k);
        // What `⊢` gives of both is the new item.
        let f = f.filter(|f| !matches!(&**f, Func::Prim(p) if p.glyph == '⊢'));
        let primitive = f.as_ref().filter(|f| matches!(***f, Func::Prim(_)));
        if let (Some(f), [place]) = (primitive, &places[..]) {
            // What a primitive makes of one item is an item like another.
            let new = self.apply(f, Some(&old.item(*place)), &item(0))?;
            let new = self.cx.ready(&new, "value")?.disclosed().enclosed()?;
            return self.replace(at, sym, old, &[], places, None, &new);
        }
        // Every item of `old` that goes is kept until nothing can fail any more.
        let mut undo = Vec::new();
        drop(old);
        // Some are put where they lie; what is left then goes into a copy, if need be.
        let some = if f.is_none() && places.len() <= PUT_ALONE { &places[..] } else { &[] };
        let mut put = 0;
        for place in some {
            if !self.put_in_workspace(at, sym, *place, &item(put))? {
                break;
            }
            put += 1;
        }
        if put > 0 && put == places.len() {
            return Ok(());
        }
        let places = &places[put..];
        let item = |k: usize| item(put + k);
        let mut to = match Changing::of(self.take(at, sym, f.as_deref())?, self.cx.budget()) {
            Ok(to) => to,
            Err((was, e)) => {
                self.change(at, sym, was)?;
                return Err(e);
            }
        };
        let together = match f {
            None => {
                let first = if v.len() == 1 { 0 } else { put };
                to.put_all(places, (&v, first), self.cx.budget())
            }
            Some(_) => Ok(false),
        };
        let one_by_one: &[usize] = match together {
            Ok(true) => &[],
            Ok(false) => places,
            Err(e) => {
                let was = to.finish(self.cx.budget())?;
                self.change(at, sym, was)?;
                return Err(e);
            }
        };
        for (k, &p) in one_by_one.iter().enumerate() {
            let new = match &f {
                None => Ok(item(k)),
                Some(f) => {
                    undo.push((p, to.item(p)));
                    self.apply(f, Some(&to.item(p)), &item(k)).map(|new| new.disclosed())
                }
            };
            let done = new.and_then(|new| to.put(p, &new, self.cx.budget()));
            if let Err(e) = done {
                for (p, was) in undo.iter().rev() {
                    to.put(*p, was, self.cx.budget())?;
                }
                let was = to.finish(self.cx.budget())?;
                self.change(at, sym, was)?;
                return Err(e);
            }
        }
        let new = to.finish(self.cx.budget())?;
        self.change(at, sym, new)
    }
}

//! Namespaces: spaces with names of their own.
//!
//! One space is current: its names stand in `Store::globals`, those of the others in the spaces
//! themselves. To run in another one, the two change places. Values hold references to spaces
//! (`Data::Ref`); a function has the space that it was made in as its home and runs there.

use super::cx::{Settings, Sys};
use super::env::Globals;
use super::run::{At, Eval, Outcome, Store};
use super::value::{Closure, Func, Oper, Operand, Trad, Value};
use crate::syntax::resolve::{Do, Head, Inner, Ins, Path};
use crate::syntax::token::Word;
use crate::syntax::{Spelled, Sym};
use aplomb_ground::error::{Result, domain, syntax, value};
use aplomb_values::array::{Array, Data, Reference, Referent};
use std::any::Any;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// A space of names.
pub struct Space {
    label: RefCell<String>,
    /// The text that ⎕DF has it shown as; None: its name.
    form: RefCell<Option<String>>,
    parent: RefCell<Option<Rc<Space>>>,
    /// Its names, while it is not the current one.
    names: RefCell<Globals>,
    /// The number of the statement that made it.
    born: u64,
    /// The texts of names, for who shows its own; the root has too many.
    spelled: Option<Spelled>,
}

impl Referent for Space {
    fn name(&self) -> String {
        match &*self.form.borrow() {
            Some(form) => form.clone(),
            None => self.path(),
        }
    }

    fn arrays(&self) -> Vec<(String, Array)> {
        let Some(spelled) = &self.spelled else { return Vec::new() };
        let names = self.names.borrow();
        let own = names.iter().filter_map(|(sym, value)| match value {
            Value::Array(array) => Some((spelled.name(sym).to_string(), array.clone())),
            _ => None,
        });
        own.collect()
    }

    fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}

impl Space {
    /// The root, `#`.
    pub fn root() -> Rc<Space> {
        let names = RefCell::default();
        Rc::new(Space {
            label: RefCell::new("#".into()),
            form: RefCell::default(),
            parent: RefCell::new(None),
            names,
            born: 0,
            spelled: None,
        })
    }

    /// Its name behind those of the spaces that it is a part of.
    pub fn path(&self) -> String {
        self.label.borrow().clone()
    }

    /// Has it shown as a text; None: by its name.
    pub fn show_as(&self, form: Option<String>) {
        self.form.replace(form);
    }

    /// The number of the statement that made it.
    pub fn born(&self) -> u64 {
        self.born
    }

    /// The space that it is a part of; the root is its own.
    pub fn parent(self: &Rc<Space>) -> Rc<Space> {
        self.parent.borrow().as_ref().map_or_else(|| self.clone(), Rc::clone)
    }

    /// A reference to it.
    pub fn value(self: &Rc<Space>) -> Array {
        Array::reference(Reference::new(self.clone()))
    }

    /// The space that a scalar refers to.
    pub fn of(a: &Array) -> Option<Rc<Space>> {
        a.to_reference().and_then(Reference::to)
    }
}

/// All spaces there are, and their names as they were.
#[derive(Clone, Default)]
pub struct Spaces(Vec<(Weak<Space>, Globals)>);

impl Store {
    /// A new space, shown as a part of the current one: with a name, or as what it is.
    pub fn new_space(&mut self, name: &str) -> Rc<Space> {
        let parent = self.here.clone();
        let label = format!("{}.{name}", parent.path());
        let names = RefCell::new(Globals::few());
        let born = self.statement;
        let label = RefCell::new(label);
        let (parent, spelled) = (RefCell::new(Some(parent)), Some(self.symbols.spelled()));
        let form = RefCell::default();
        let space = Rc::new(Space { label, form, parent, names, born, spelled });
        self.spaces.push(Rc::downgrade(&space));
        if self.spaces.len() > 64 && self.spaces.len().is_power_of_two() {
            self.spaces.retain(|s| s.strong_count() > 0);
        }
        space
    }

    /// A space without a name yet, for what is read before it is told what it is.
    pub fn blank_space(&mut self) -> Rc<Space> {
        self.new_space("")
    }

    /// Gives a space that was read the name that it shows by, and what it is a part of.
    pub fn describe(&mut self, space: &Rc<Space>, label: &str, parent: &Rc<Space>) {
        space.label.replace(label.into());
        space.parent.replace(Some(parent.clone()));
    }

    /// Gives a name of a space a value, for good.
    pub fn give(&mut self, space: &Rc<Space>, sym: Sym, value: Value) {
        match Rc::ptr_eq(space, &self.here) {
            true => drop(self.globals.set(sym, Some(value))),
            false => drop(space.names.borrow_mut().set(sym, Some(value))),
        }
    }

    /// Gives a name of a space that is not the current one a value, or none, until the statement is
    /// undone.
    pub fn change_in(&mut self, space: &Rc<Space>, sym: Sym, value: Option<Value>) {
        let mut names = space.names.borrow_mut();
        if names.begin(self.statement) {
            self.touched.push(space.clone());
        }
        names.change(sym, value);
    }

    /// Makes a space the current one; the one that was.
    pub fn enter(&mut self, to: &Rc<Space>) -> Rc<Space> {
        if Rc::ptr_eq(to, &self.here) {
            return self.here.clone();
        }
        let outer = std::mem::replace(&mut self.here, to.clone());
        let names = to.names.take();
        outer.names.replace(std::mem::replace(&mut self.globals, names));
        if self.globals.begin(self.statement) {
            self.touched.push(to.clone());
        }
        outer
    }

    /// The value of a name of a space.
    pub fn member(&self, space: &Rc<Space>, sym: Sym) -> Option<Value> {
        match Rc::ptr_eq(space, &self.here) {
            true => self.globals.get(sym).cloned(),
            false => space.names.borrow().get(sym).cloned(),
        }
    }

    /// The names of a space and their values.
    pub fn members(&self, space: &Rc<Space>) -> Vec<(Sym, Value)> {
        let all = |names: &Globals| names.iter().map(|(s, v)| (s, v.clone())).collect();
        match Rc::ptr_eq(space, &self.here) {
            true => all(&self.globals),
            false => all(&space.names.borrow()),
        }
    }

    /// A statement begins in the root.
    pub fn begin_statement(&mut self) {
        let root = self.root.clone();
        self.enter(&root);
        self.touched.clear();
        self.statement += 1;
        self.globals.begin(self.statement);
    }

    /// The statement has ended: what it changed stays, or every name is as it was.
    pub fn end_statement(&mut self, stays: bool) {
        let root = self.root.clone();
        self.enter(&root);
        let end = |names: &mut Globals| if stays { names.commit() } else { names.undo() };
        end(&mut self.globals);
        for space in std::mem::take(&mut self.touched) {
            if !Rc::ptr_eq(&space, &root) {
                end(&mut space.names.borrow_mut());
            }
        }
    }

    /// All spaces but the root as they are.
    pub fn all_spaces(&self) -> Spaces {
        let one = |space: &Weak<Space>| {
            space.upgrade().map(|s| (space.clone(), s.names.borrow().clone()))
        };
        Spaces(self.spaces.iter().filter_map(one).collect())
    }

    /// Makes spaces what they were.
    pub fn restore_spaces(&mut self, to: &Spaces) {
        for (space, names) in &to.0 {
            if let Some(space) = space.upgrade() {
                space.names.replace(names.clone());
            }
        }
    }
}

impl Value {
    /// The value with a home: a function written elsewhere runs in the space that it is put in.
    fn at_home(self, home: &Rc<Space>) -> Value {
        let closure = |c: &Rc<Closure>| {
            let env = c.env.clone();
            let (ast, lines, home) = (c.ast.clone(), c.lines.clone(), home.clone());
            Rc::new(Closure { ast, dfn: c.dfn, env, home, lines })
        };
        let trad =
            |t: &Rc<Trad>| Rc::new(Trad { ast: t.ast.clone(), id: t.id, home: home.clone() });
        match &self {
            Value::Func(f) => match &**f {
                Func::Dfn(c) => Value::Func(Rc::new(Func::Dfn(closure(c)))),
                Func::Trad(t) => Value::Func(Rc::new(Func::Trad(trad(t)))),
                _ => self,
            },
            Value::Oper(Oper::Dfn(c)) => Value::Oper(Oper::Dfn(closure(c))),
            Value::Oper(Oper::Trad(t)) => Value::Oper(Oper::Trad(trad(t))),
            _ => self,
        }
    }
}

/// Makes a space the one that runs, with ⎕ variables of its own; the one that was.
pub fn go_to(st: &mut Store, sys: &mut Sys, to: &Rc<Space>) -> Rc<Space> {
    if Rc::ptr_eq(to, &st.here) {
        return st.here.clone();
    }
    st.globals.set_own(sys.settings.own());
    let outer = st.enter(to);
    if let Some(own) = st.globals.own() {
        sys.settings.set_own(own);
    }
    outer
}

impl Eval<'_> {
    /// As `go_to`.
    pub fn go_to(&mut self, to: &Rc<Space>) -> Rc<Space> {
        go_to(self.st, self.cx.sys, to)
    }

    /// The home of the function of lines that runs, where the name is its own and its `:With` has
    /// entered the current space. What is called there, and what is named by its space (`q.b←`),
    /// has the names of that space alone.
    pub(super) fn elsewhere(&self, sym: Sym) -> Option<Rc<Space>> {
        let now = self.st.calls.last()?;
        let (home, within) = (&now.trad.home, now.within.as_ref()?);
        if Rc::ptr_eq(home, &self.st.here) || !Rc::ptr_eq(within, &self.st.here) {
            return None;
        }
        let calls = self.st.calls.iter().rev();
        let call = calls.take_while(|call| Rc::ptr_eq(&call.trad.home, home));
        let mut own = call.filter(|call| call.trad.tradfn().locals.contains(&sym));
        own.next().map(|call| call.trad.home.clone())
    }

    /// Whether a dfn was made in the space where it would run now: its names and its ⎕ variables
    /// are those that stand here. True of what is no dfn.
    pub fn is_at_home(&self, f: &Func) -> bool {
        f.closure().is_none_or(|closure| Rc::ptr_eq(&closure.home, &self.st.here))
    }

    /// The space in which a function that an operator applies was made, where that is another one.
    /// None also: it applies several, of which not all were made there.
    pub fn home_of(&self, operands: &[Operand]) -> Option<Rc<Space>> {
        let home = |of: &Operand| match of {
            Operand::F(f) => Some(f.closure().map(|closure| closure.home.clone())),
            Operand::A(_) => None,
        };
        let mut homes = operands.iter().filter_map(home);
        let first = homes.next()??;
        let same = |own: Option<Rc<Space>>| own.is_some_and(|own| Rc::ptr_eq(&own, &first));
        let other = !Rc::ptr_eq(&first, &self.st.here);
        (other && homes.all(same)).then_some(first)
    }

    /// A new space, with the ⎕ variables that hold now.
    pub fn new_space(&mut self, name: &str) -> Rc<Space> {
        let space = self.st.new_space(name);
        space.names.borrow_mut().set_own(self.cx.sys.settings.own());
        space
    }

    /// A space of the root for what is imported, with ⎕ variables as at the begin of a session.
    pub fn module_space(&mut self, name: &str) -> Rc<Space> {
        let root = self.st.root.clone();
        let outer = self.st.enter(&root);
        let space = self.st.new_space(name);
        self.st.enter(&outer);
        space.names.borrow_mut().set_own(Settings::default().own());
        space
    }

    /// Runs in a space: names are its own, no dfn's around it.
    pub fn in_space<T>(
        &mut self,
        space: &Rc<Space>,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.cx.unframed("another namespace")?;
        let (outer, frame) = (self.go_to(space), self.st.frame.take());
        let done = run(self);
        self.st.frame = frame;
        self.go_to(&outer);
        done
    }

    /// The space that a value refers to. Errors: VALUE, DOMAIN.
    pub fn space_of(&self, a: &Array) -> Result<Rc<Space>> {
        Space::of(a).ok_or_else(|| syntax("what stands left of . is no namespace"))
    }

    /// The value of a name in the space, or in each of the spaces, that an array refers to.
    pub fn member_of(&mut self, a: &Array, sym: Sym) -> Result<Array> {
        self.in_each(a, &mut |ev, space| match ev.st.member(space, sym) {
            Some(Value::Array(a)) => Ok(a),
            Some(Value::Func(f)) if f.is_niladic() => {
                let at_home = ev.niladic(&f)?;
                at_home.ok_or_else(|| value("this function gave no value"))
            }
            Some(_) => {
                Err(syntax(format!("{}.{} is a function", space.name(), ev.st.symbols.name(sym))))
            }
            None => {
                Err(value(format!("{}.{} has no value", space.name(), ev.st.symbols.name(sym))))
            }
        })
    }

    /// The values that a function gives for each space that an array refers to, in an array of its
    /// shape.
    pub fn in_each(
        &mut self,
        a: &Array,
        each: &mut dyn FnMut(&mut Self, &Rc<Space>) -> Result<Array>,
    ) -> Result<Array> {
        let a = self.cx.ready_outer(a)?;
        if let Some(space) = Space::of(&a) {
            return each(self, &space);
        }
        if !matches!(a.data(), Data::Items(_)) || a.is_empty() {
            return Err(syntax("what stands left of . is no namespace"));
        }
        let items = a.in_turn().map(|item| self.in_each(&item, each));
        let items = items.collect::<Result<Vec<_>>>()?;
        let items = items.into_iter().map(|a| a.settled()).collect();
        self.cx.collect(a.shape(), items, None)
    }

    /// Gives a name of a space a value; in each of several spaces its item.
    pub fn set_member(&mut self, to: &Array, sym: Sym, v: Value) -> Result<()> {
        let to = self.cx.ready_outer(to)?;
        if let Some(space) = Space::of(&to) {
            self.cx.unframed("an assignment in a namespace")?;
            let outer = self.st.enter(&space);
            let v = v.at_home(&space);
            let fits = self.st.globals.get(sym).is_none_or(|old| old.may_become(&v));
            if fits {
                self.set_global(sym, Some(v));
            }
            self.st.enter(&outer);
            return match fits {
                true => Ok(()),
                false => Err(syntax("an array's name cannot become a function's")),
            };
        }
        if !matches!(to.data(), Data::Items(_)) {
            return Err(syntax("what stands left of . is no namespace"));
        }
        for (k, space) in to.in_turn().enumerate() {
            let own = match &v {
                Value::Array(a) => Value::Array(self.share(a, k, to.len())?),
                v => v.clone(),
            };
            self.set_member(&space, sym, own)?;
        }
        Ok(())
    }

    /// The item of a value that the k-th of so many namespaces gets. Errors: LENGTH.
    fn share(&mut self, v: &Array, k: usize, spaces: usize) -> Result<Array> {
        match v.rank() {
            0 => Ok(v.disclosed()),
            _ if v.len() == 1 => Ok(self.cx.ready_outer(v)?.item(0)),
            _ if v.len() == spaces => Ok(self.cx.ready_outer(v)?.item(k)),
            _ => {
                let says = format!("{} values for {spaces} namespaces", v.len());
                Err(aplomb_ground::error::length(says))
            }
        }
    }

    /// The space of a dotted path from the current one, made where it is missing.
    pub fn space_at(&mut self, path: &[&str]) -> Result<Rc<Space>> {
        let mut at = self.st.here.clone();
        for name in path {
            if *name == "#" {
                at = self.st.root.clone();
                continue;
            }
            let sym = self.st.symbols.intern(name);
            at = match self.st.member(&at, sym) {
                Some(Value::Array(a)) => Space::of(&a)
                    .ok_or_else(|| domain(format!("{name} holds a value, no namespace")))?,
                Some(_) => return Err(domain(format!("{name} is a function"))),
                None => {
                    let outer = self.st.enter(&at);
                    let made = self.new_space(name);
                    self.st.globals.change(sym, Some(Value::Array(made.value())));
                    self.st.enter(&outer);
                    made
                }
            };
        }
        Ok(at)
    }

    /// The value at the end of a dotted path. Of several spaces the first is meant.
    pub fn at_path(&self, at: At<'_>, path: &Path) -> Option<Value> {
        let mut value = match path.head {
            Head::Name(sym) => self.lookup(at, sym)?,
            Head::Word(Word::Alpha) => at.frame?.alpha.borrow().clone()?,
            Head::Word(_) => Value::Array(at.frame?.omega()),
            head => Value::Array(self.place(head)),
        };
        for sym in path.names.iter() {
            let a = value.into_array()?.settled();
            let space = match a.rank() {
                0 => Space::of(&a)?,
                _ if a.is_empty() => return None,
                _ => Space::of(&a.item(0))?,
            };
            value = self.st.member(&space, *sym)?;
        }
        Some(value)
    }

    /// The namespaces that own the name at the end of a path, where they are several.
    pub fn owners(&self, at: At<'_>, path: &Path) -> Option<Array> {
        let (_, before) = path.names.split_last()?;
        let owner = Path { head: path.head, names: before.into() };
        let several = self.at_path(at, &owner)?.into_array()?.settled();
        (several.rank() > 0).then_some(several)
    }

    /// The function of a namespace; of several, all of theirs. Errors: SYNTAX, where one is none.
    pub fn function_inside(
        &mut self,
        at: At<'_>,
        owner: &Array,
        inner: &Inner,
    ) -> Result<Rc<Func>> {
        let owner = self.cx.ready_outer(owner)?;
        if let Some(space) = Space::of(&owner) {
            return Ok(match inner {
                Inner::System(row) => Rc::new(Func::Within(space, row)),
                Inner::Dfn(dfn) => {
                    let (ast, env) = (at.ast.clone(), at.frame.cloned());
                    Rc::new(Func::Dfn(Rc::new(Closure {
                        ast,
                        dfn: *dfn,
                        env,
                        home: space,
                        lines: None,
                    })))
                }
                Inner::Name(sym) => match self.st.member(&space, *sym) {
                    Some(Value::Func(f)) => f,
                    _ => {
                        let name = self.st.symbols.name(*sym);
                        return Err(syntax(format!("{}.{name} is no function", space.name())));
                    }
                },
            });
        }
        if !matches!(owner.data(), Data::Items(_)) || owner.is_empty() {
            return Err(syntax("what stands left of . is no namespace"));
        }
        let all = owner.in_turn().map(|one| self.function_inside(at, &one.disclosed(), inner));
        let all = all.collect::<Result<Vec<_>>>()?;
        Ok(Rc::new(Func::Shared(owner.shape().into(), all.into())))
    }

    /// Functions in a shape on their items of the arguments, as scalar functions share them out.
    pub fn shared(
        &mut self,
        shape: &[usize],
        all: &[Rc<Func>],
        x: Option<&Array>,
        y: &Array,
    ) -> Result<Array> {
        self.cx.unframed("functions of several namespaces")?;
        let x = x.map(|x| self.cx.ready_outer(x)).transpose()?;
        let y = self.cx.ready_outer(y)?;
        for a in x.iter().chain([&y]) {
            if a.rank() > 0 && a.len() != 1 && a.shape() != shape {
                let says = format!("{} items for {} namespaces", a.len(), all.len());
                return Err(aplomb_ground::error::length(says));
            }
        }
        let own = |a: &Array, k: usize| match a.rank() {
            0 => a.disclosed(),
            _ => a.item(if a.len() == 1 { 0 } else { k }),
        };
        let mut out = Vec::new();
        for (k, f) in all.iter().enumerate() {
            let left = x.as_ref().map(|x| own(x, k));
            out.push(self.apply(f, left.as_ref(), &own(&y, k))?.settled());
        }
        self.cx.collect(shape, out, None)
    }

    /// A reference to the space that a word names.
    fn place(&self, head: Head) -> Array {
        match head {
            Head::Root => self.st.root.value(),
            Head::Parent => self.st.here.parent().value(),
            Head::This | Head::Word(_) | Head::Name(_) => self.st.here.value(),
        }
    }

    /// A step that reads a namespace, or makes one.
    pub fn namespace_step(&mut self, at: At<'_>, what: &Do) -> Result<()> {
        let made = match what {
            Do::Place(head) => self.place(*head),
            Do::Member(sym) => {
                let of = self.pop()?;
                self.member_of(&of, *sym)?
            }
            Do::Around => {
                let of = self.pop()?;
                self.in_each(&of, &mut |_, space| Ok(space.parent().value()))?
            }
            Do::MemberSystem(row) => {
                let of = self.pop()?;
                self.in_each(&of, &mut |ev, space| ev.in_space(space, |ev| ev.system_value(row)))?
            }
            Do::Inside(phrase) => {
                let (of, mut shy) = (self.pop()?, false);
                let made = self.in_each(&of, &mut |ev, space| {
                    ev.in_space(space, |ev| {
                        let inner = At { ast: at.ast, frame: None };
                        let (done, assigns) = ev.phrase(inner, *phrase, false)?;
                        shy = assigns;
                        match done {
                            // A function got its name.
                            Outcome::Func(_) | Outcome::Oper(_) if assigns => ev.cx.vector(vec![]),
                            done => ev
                                .valued(done)?
                                .ok_or_else(|| value("what runs in a namespace gives no value")),
                        }
                    })
                })?;
                self.st.shy = shy;
                made
            }
            Do::Space(names) => {
                self.cx.unframed("a namespace is made")?;
                let from = self.st.stack.len().saturating_sub(names.len());
                let values = self.st.stack.split_off(from);
                let space = self.new_space("[Namespace]");
                let outer = self.st.enter(&space);
                for (sym, v) in names.iter().zip(values) {
                    self.st.globals.change(*sym, Some(Value::Array(v)));
                }
                self.st.enter(&outer);
                space.value()
            }
            _ => return Err(aplomb_ground::error::internal("this is no step of a namespace")),
        };
        self.st.stack.push(made);
        Ok(())
    }

    /// `a.x←` and its kin: the assignment runs in the space that stands on top of the stack.
    pub fn assign_within(&mut self, at: At<'_>, ins: &Ins) -> Result<()> {
        let to = self.pop()?;
        match &ins.what {
            Do::Assign(sym) => {
                let v = self.pop()?;
                self.set_member(&to, *sym, Value::Array(v.clone()))?;
                self.st.stack.push(v);
                Ok(())
            }
            Do::AssignFunc(sym, f) => {
                let f = self.function(at, f)?;
                self.set_member(&to, *sym, Value::Func(f))
            }
            Do::AssignOper(sym, op) => {
                let op = self.operator(at, op)?;
                self.set_member(&to, *sym, Value::Oper(op))
            }
            _ => {
                let to = self.cx.ready_outer(&to)?;
                let inner = At { ast: at.ast, frame: None };
                match Space::of(&to) {
                    Some(space) => self.in_space(&space, |ev| ev.assignment(inner, ins)),
                    None if let Do::Positions { sym, .. } | Do::AssignSelected { sym, .. } =
                        &ins.what =>
                    {
                        // The selection is one from the values of all: they stand in a space of
                        // the moment as one array.
                        let all = self.member_of(&to, *sym)?;
                        let moment = self.new_space("[Namespace]");
                        self.st.give(&moment, *sym, Value::Array(all));
                        self.in_space(&moment, |ev| ev.assignment(inner, ins))?;
                        match (&ins.what, self.st.member(&moment, *sym)) {
                            (Do::AssignSelected { .. }, Some(new)) => {
                                self.set_member(&to, *sym, new)
                            }
                            _ => Ok(()),
                        }
                    }
                    None => {
                        // Each gets its item of the value, which lies below what else there is.
                        let spaces = to.to_items(self.cx.budget())?;
                        let above = self.st.stack.len().saturating_sub(ins.takes() + 1);
                        let held = self.st.stack.split_off(above);
                        for (k, space) in spaces.iter().enumerate() {
                            let space = self.space_of(&space.disclosed())?;
                            let base = self.st.stack.len();
                            let mut own = held.clone();
                            if let Some(v) = own.first_mut() {
                                *v = self.share(v, k, spaces.len())?;
                            }
                            self.st.stack.extend(own);
                            self.in_space(&space, |ev| ev.assignment(inner, ins))?;
                            self.st.stack.truncate(base);
                        }
                        self.st.stack.extend(held.into_iter().next());
                        Ok(())
                    }
                }
            }
        }
    }
}

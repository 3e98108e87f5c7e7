//! The groups of `⌸` whose items nobody puts side by side: what a function folds of each is folded
//! while the items are gone through once, each into its own group.
//!
//! `{(+/⍵)÷≢⍵}`, `{⍺(⌈/⍵)(⌊/⍵)}`, `{m←(+/⍵)÷≢⍵ ⋄ (+/(⍵-m)*2)÷≢⍵}` read ⍵ only under folds, counts
//! and functions of its items. Such a function of all items is the function of each group's: so it
//! is taken where the items stand, and a value that a group has is spread to its items for that. To
//! put the items side by side takes several times what one fold does.

use super::body::{Call, popped};
use super::running::always_changes;
use super::{Cells, Flat, Steps, refuse, room};
use crate::eval::operators::key;
use crate::eval::phrases;
use crate::eval::run::Eval;
use crate::eval::scope::TOGETHER;
use crate::eval::value::{Func, Oper, Operand};
use crate::functions::{of_its_type, select};
use crate::syntax::resolve::{Do, Ins};
use crate::table::Does as Means;
use aplomb_ground::error::{Result, bug};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, storage};
use aplomb_values::prim::op::Op;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The groups of a vector's items, and what was folded of the items themselves.
pub struct Scattered {
    values: Array,
    /// The group of each item.
    of: Rc<Vec<u32>>,
    /// The place of the first item of each group.
    firsts: Rc<Vec<usize>>,
    known: RefCell<Vec<(Op, Array)>>,
}

impl Scattered {
    /// Of items the group of each, and where each group begins.
    pub fn new(values: &Array, of: &Rc<Vec<u32>>, firsts: &Rc<Vec<usize>>) -> Rc<Scattered> {
        let (values, of, firsts) = (values.clone(), of.clone(), firsts.clone());
        Rc::new(Scattered { values, of, firsts, known: RefCell::default() })
    }
}

/// A value on the way from ⍵ to its folds.
enum Under {
    /// An item for each item of ⍵.
    Items(Array),
    /// A value of each group.
    Group(Cells),
}

/// The test for a function that goes to each item by itself.
fn is_scalar(f: &Func, dyadic: bool) -> bool {
    let Func::Prim(p) = f else { return false };
    let meaning = if dyadic { &p.dyadic } else { &p.monadic };
    meaning.as_ref().is_some_and(|m| matches!(m.does, Means::Scalar(_)))
}

impl Eval<'_> {
    /// `f⌸` of groups that f only folds: a vector of what it gives for each. None, and nothing has
    /// happened: it is another function, or is refused.
    pub fn folded_groups(
        &mut self,
        f: &Rc<Func>,
        heads: &Array,
        groups: Rc<Scattered>,
    ) -> Result<Option<Array>> {
        let (n, values) = (groups.firsts.len(), &groups.values);
        // A story has the folds of few items, too.
        let told = if self.cx.sys.records_all() { TOGETHER } else { 0 };
        let runs = self.runs_together(values.len().max(told)) && n > 0 && values.rank() == 1;
        let closure = f.closure().filter(|_| runs && values.is_plain() && !always_changes(f));
        let Some(closure) = closure.cloned() else { return Ok(None) };
        let lowered = self.cx.budget().lowered(room(None, values));
        let refused = self.cx.sys.refused.take();
        let depth = self.st.depth;
        let made = self.attempt_together(|ev| {
            let mut flat = Flat::new(ev, n, Steps::Flat);
            flat.groups = Some(groups);
            let alpha = RefCell::new(Some(flat.given(heads)?));
            let frame = flat.ev.frame_to_read(f, &closure, true);
            let call = Rc::new(Call { frame, alpha, omega: None, names: RefCell::default() });
            flat.calls.push(call.clone());
            let mut ends = Vec::new();
            let ran = flat.run(&call, &mut ends);
            flat.calls.pop();
            call.frame.clone().leave();
            ran?;
            let made = flat.ended_together(n, ends)?;
            flat.array(&made)
        });
        drop(lowered);
        self.st.depth = depth;
        self.cx.sys.refused = refused;
        Ok(made?.ok())
    }
}

impl Flat<'_, '_> {
    /// Steps that begin with ⍵ of groups and end with a value of each group: it, and the number of
    /// steps behind the first. None: the step is another. Errors: refused, where they end with the
    /// items.
    pub(super) fn aggregated(
        &mut self,
        call: &Rc<Call>,
        ins: &Ins,
        stack: &mut Vec<Cells>,
        behind: &[Ins],
    ) -> Result<Option<(Cells, usize)>> {
        let (Do::Omega, None) = (&ins.what, &call.omega) else { return Ok(None) };
        let groups = self.groups.clone().ok_or_else(|| bug!("a call without ⍵ has no groups"))?;
        let mut own = vec![Under::Items(groups.values.clone())];
        for (k, step) in behind.iter().enumerate() {
            match &step.what {
                Do::Omega => own.push(Under::Items(groups.values.clone())),
                Do::Const(a) => own.push(Under::Group(Cells::Same(a.clone()))),
                Do::Name(sym) => own.push(Under::Group(self.named(call, *sym)?)),
                Do::Monad(f) => {
                    let f = self.function(call, f)?;
                    let made = match own.pop() {
                        Some(Under::Items(a)) => self.under(&groups, &f, a)?,
                        Some(Under::Group(v)) => Under::Group(self.call(&f, None, v)?),
                        None => return refuse("a step has no argument"),
                    };
                    own.push(made);
                }
                Do::Dyad(f) => {
                    let f = self.function(call, f)?;
                    let mut next = || match own.pop() {
                        Some(v) => Ok(v),
                        None => popped(stack).map(Under::Group),
                    };
                    let (x, y) = (next()?, next()?);
                    let made = match (x, y) {
                        (Under::Group(x), Under::Group(y)) => {
                            Under::Group(self.call(&f, Some(x), y)?)
                        }
                        _ if !is_scalar(&f, true) => return refuse("⍵ itself is needed"),
                        (x, y) => {
                            let (x, y) = (self.for_items(&groups, x)?, self.for_items(&groups, y)?);
                            let z = self.ev.apply(&f, Some(&x), &y)?;
                            Under::Items(self.ev.cx.ready(&z, "key")?)
                        }
                    };
                    own.push(made);
                }
                _ => return refuse("⍵ itself is needed"),
            }
            if let [Under::Group(v)] = own.as_slice() {
                return Ok(Some((v.clone(), k + 1)));
            }
        }
        refuse("⍵ itself is needed")
    }

    /// A function of what each group has.
    fn under(&mut self, groups: &Scattered, f: &Rc<Func>, a: Array) -> Result<Under> {
        if is_scalar(f, false) {
            let z = self.ev.apply(f, None, &a)?;
            return self.ev.cx.ready(&z, "key").map(Under::Items);
        }
        self.of_groups(groups, f, &a).map(Under::Group)
    }

    /// A function that folds or counts each group, or is made of such.
    fn of_groups(&mut self, groups: &Scattered, f: &Rc<Func>, a: &Array) -> Result<Cells> {
        let (n, io) = (groups.firsts.len(), self.ev.cx.sys.settings.io as u32);
        match &**f {
            Func::Prim(p) if p.glyph == '≢' => {
                let sizes = key::ends_of(&self.ev.cx, &groups.of, n)?;
                let mut before = 0;
                let each = sizes.iter().map(|&end| end - std::mem::replace(&mut before, end));
                let counts = self.ev.cx.budget().each(each)?;
                let most = groups.of.len() as u32;
                let counts = Array::up_to([n].as_slice(), counts, most, self.ev.cx.budget())?;
                return self.among_groups(counts);
            }
            Func::Prim(p) if p.glyph == '⊃' => {
                let places = groups.firsts.iter().map(|&k| k as u32 + io);
                let places = self.ev.cx.budget().each(places)?;
                let most = groups.of.len() as u32 + io;
                let places = Array::up_to([n].as_slice(), places, most, self.ev.cx.budget())?;
                let made = select::bracket(&mut self.ev.cx, a, &[Some(places)])?;
                return self.among_groups(made);
            }
            Func::Fork(x, g, h) => {
                let (Operand::F(g), Operand::F(h)) = (g, h) else {
                    return refuse("a train has an array for a function");
                };
                let y = self.of_groups(groups, h, a)?;
                let x = match x {
                    Operand::A(x) => Cells::Same(x.clone()),
                    Operand::F(x) => self.of_groups(groups, x, a)?,
                };
                return self.call(g, Some(x), y);
            }
            Func::Atop(Operand::F(g), Operand::F(h)) => {
                let y = self.of_groups(groups, h, a)?;
                return self.call(g, None, y);
            }
            Func::Op1(Oper::Prim(_), _) => {}
            _ => return refuse("⍵ itself is needed"),
        }
        let Some(op) = phrases::folds(f) else { return refuse("⍵ itself is needed") };
        let of_all = a.is_one_with(&groups.values);
        let known = groups.known.borrow().iter().find(|(o, _)| *o == op).map(|(_, z)| z.clone());
        if let Some(z) = known.filter(|_| of_all) {
            return self.among_groups(z);
        }
        let Some(z) = key::folds(&mut self.ev.cx, op, a, &groups.of, n)? else {
            return refuse("groups are folded one by one");
        };
        if of_all {
            groups.known.borrow_mut().push((op, z.clone()));
        }
        self.among_groups(z)
    }

    /// A vector with a value for each group as that of the groups of now.
    fn among_groups(&mut self, a: Array) -> Result<Cells> {
        self.here(&Cells::Each(a, 0))
    }

    /// The value that a group has, for each of its items.
    fn for_items(&mut self, groups: &Scattered, v: Under) -> Result<Array> {
        match v {
            Under::Items(a) => Ok(a),
            Under::Group(Cells::Same(a)) if a.is_simple_scalar() => Ok(a),
            Under::Group(Cells::Each(a, 0)) => {
                let a = self.ev.cx.ready_outer(&a)?;
                match taken(&a, &groups.of, self.ev.cx.budget())? {
                    Some(made) => Ok(made),
                    None => refuse("a value of each group is no scalar"),
                }
            }
            Under::Group(_) => refuse("a value of each group is no scalar"),
        }
    }
}

/// The item of a vector for each of these places. None: it is no vector of real numbers or
/// characters.
fn taken(a: &Array, of: &[u32], budget: &Budget) -> Result<Option<Array>> {
    let Some(held) = storage(a).filter(|_| a.rank() == 1) else { return Ok(None) };
    let made =
        of_its_type!(held, budget, |v, _fill| { budget.each(of.iter().map(|&g| v[g as usize])) });
    Ok(Some(Array::dense([of.len()].as_slice(), Arc::new(made))))
}

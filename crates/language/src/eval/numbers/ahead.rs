//! Work that a body does on its item alone, done for all items before the first call.
//!
//! A body that changes an outer name, and one that folds, run call after call, in registers. But a
//! text that is looked up, a row that is taken apart, is no matter of registers. A *part* is a
//! stretch of a body's code that reads the item, constants, and names that nothing in the body
//! changes. Parts are computed for all items at once, flattened, and the calls get their values
//! instead of the item: `{c[U⍳⊂⍵]+←1}¨W` is one search for all words, then a loop over numbers.
//!
//! Why the result is the same: what a part reads is the same before the first call and in any, so
//! is its value, and a flattened run has no effect. A part behind a guard is computed for items
//! whose calls would not come to it; one that fails there, or has a value that registers do not
//! hold, ends all of it, and nothing has happened.

use super::form::{Form, Items};
use crate::eval::run::{At, Eval};
use crate::eval::value::{self, Func, Value};
use crate::syntax::ast::{Guard, PhraseId, Sym};
use crate::syntax::resolve::{Do, FExpr, Gives, Ins, Operand, Pattern, Resolved};
use aplomb_ground::error::Result;
use aplomb_values::array::Array;
use std::ops::Range;
use std::rc::Rc;

/// Functions that call each other are followed so far.
const DEEP: usize = 3;

/// The argument that is an item.
#[derive(Clone, Copy, PartialEq)]
pub enum Side {
    Left,
    Right,
}

/// A stretch of a statement's code.
pub struct Part {
    pub code: Rc<Resolved>,
    pub range: Range<usize>,
    /// It is a statement that names what it makes of the item, for other parts alone.
    pub names: bool,
}

/// The parts of a body whose values are there: those that are no names, in this order, are the
/// items of an argument.
pub struct Ahead {
    pub side: Side,
    parts: Vec<Part>,
}

impl Ahead {
    /// The number of the part that begins with a step, and its length.
    pub fn part(&self, step: &Ins) -> Option<(usize, usize)> {
        let mut values = self.parts.iter().filter(|part| !part.names);
        let k = values.position(|part| part.begins_with(step))?;
        let range = &self.parts.iter().filter(|part| !part.names).nth(k)?.range;
        Some((k, range.len()))
    }

    /// The names that a statement gives, for parts alone. None: it is no such statement.
    pub fn names(&self, ins: &[Ins]) -> Option<Vec<Sym>> {
        let (first, last) = (ins.first()?, ins.last()?);
        let is = |part: &Part| part.names && part.begins_with(first);
        let mut syms = Vec::new();
        self.parts.iter().find(|part| is(part))?;
        written(&last.what, &mut syms).map(|()| syms)
    }
}

impl Part {
    fn begins_with(&self, step: &Ins) -> bool {
        self.code.code.ins.get(self.range.start).is_some_and(|own| std::ptr::eq(own, step))
    }
}

/// A value, seen from all calls.
#[derive(Clone, Copy, PartialEq)]
enum Tag {
    /// The same in each.
    Same,
    /// Known from the item.
    Item,
    /// Whatever else.
    Other,
}

/// A value on the stack, and the code that it comes from.
type Entry = (Range<usize>, Tag);

/// The reading of a body.
struct Reader<'a, 'h> {
    ev: &'a Eval<'h>,
    at: At<'a>,
    side: Side,
    /// Names that some step changes, but for those that one statement gives a value.
    changed: Vec<Sym>,
    /// Names of what depends on the item alone.
    of_item: Vec<Sym>,
}

/// The names that a step changes.
fn written(what: &Do, out: &mut Vec<Sym>) -> Option<()> {
    fn names(pattern: &Pattern, out: &mut Vec<Sym>) -> Option<()> {
        match pattern {
            Pattern::Name(sym) => out.push(*sym),
            Pattern::All(all) => all.iter().try_for_each(|one| names(one, out))?,
            Pattern::System(_) | Pattern::Member(_) => return None,
        }
        Some(())
    }
    match what {
        Do::Assign(sym)
        | Do::Modify(sym, _)
        | Do::Append(sym, _)
        | Do::AssignIndex { sym, .. }
        | Do::AssignFunc(sym, _) => out.push(*sym),
        Do::AssignPattern(pattern, _) => names(pattern, out)?,
        _ => {}
    }
    Some(())
}

impl Reader<'_, '_> {
    /// The parts of a statement, and whether all of it is one that gives names.
    fn parts(&mut self, ins: &[Ins], assigns: bool) -> Option<(Vec<Range<usize>>, bool)> {
        let (mut stack, mut found): (Vec<Entry>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
        for (k, step) in ins.iter().enumerate() {
            let alone = |tag| (k..k + 1, tag);
            match &step.what {
                Do::Const(_) => stack.push(alone(Tag::Same)),
                Do::Omega => stack.push(alone(self.argument(Side::Right))),
                Do::Alpha => stack.push(alone(self.argument(Side::Left))),
                Do::Name(sym) => {
                    let tag = match self.of_item.contains(sym) {
                        true => Tag::Item,
                        false if self.changed.contains(sym) => Tag::Other,
                        false => Tag::Same,
                    };
                    stack.push(alone(tag));
                }
                Do::Monad(f) => self.taken(&mut stack, &mut found, (1, k), self.is_pure(f))?,
                Do::Dyad(f) => self.taken(&mut stack, &mut found, (2, k), self.is_pure(f))?,
                Do::Phrase(_) => self.taken(&mut stack, &mut found, (2, k), true)?,
                Do::Strand(n) => self.taken(&mut stack, &mut found, (*n, k), true)?,
                Do::Index(present) => {
                    let n = 1 + present.iter().filter(|p| **p).count();
                    self.taken(&mut stack, &mut found, (n, k), true)?;
                }
                Do::Assign(_) | Do::AssignPattern(..) => {
                    let mut syms = Vec::new();
                    written(&step.what, &mut syms)?;
                    let once = !syms.iter().any(|sym| self.changed.contains(sym));
                    if assigns
                        && once
                        && k + 1 == ins.len()
                        && found.is_empty()
                        && matches!(stack.as_slice(), [(_, Tag::Item)])
                        && !matches!(step.what, Do::AssignPattern(_, Some(_)))
                    {
                        self.of_item.extend(syms);
                        return Some((Vec::new(), true));
                    }
                    self.changed.extend(syms);
                    used(stack.last_mut()?, &mut found);
                }
                Do::AssignIndex { present, f, .. } => {
                    if f.as_ref().is_some_and(|f| !self.is_pure(f)) {
                        return None;
                    }
                    for _ in 0..present.iter().filter(|p| **p).count() {
                        used(&mut stack.pop()?, &mut found);
                    }
                    used(stack.last_mut()?, &mut found);
                }
                Do::Modify(..) => used(stack.last_mut()?, &mut found),
                Do::Append(..) => {
                    self.taken(&mut stack, &mut found, (1, k), false)?;
                }
                _ => return None,
            }
        }
        for mut entry in stack {
            used(&mut entry, &mut found);
        }
        Some((found, false))
    }

    fn argument(&self, side: Side) -> Tag {
        if side == self.side { Tag::Item } else { Tag::Other }
    }

    /// A step that makes one value of n.
    fn taken(
        &self,
        stack: &mut Vec<Entry>,
        found: &mut Vec<Range<usize>>,
        (n, k): (usize, usize),
        pure: bool,
    ) -> Option<()> {
        let mut all = stack.split_off(stack.len().checked_sub(n)?);
        let has = |tag: Tag| all.iter().any(|(_, own)| *own == tag);
        let tag = match () {
            () if !pure || has(Tag::Other) => Tag::Other,
            () if has(Tag::Item) => Tag::Item,
            () => Tag::Same,
        };
        let from = all.first().map_or(k, |(range, _)| range.start);
        if tag == Tag::Other {
            all.iter_mut().for_each(|entry| used(entry, found));
        }
        stack.push((from..k + 1, tag));
        Some(())
    }

    /// Whether a function reads nothing that the body changes.
    fn is_pure(&self, f: &FExpr) -> bool {
        let operand = |o: &Operand| match o {
            Operand::F(f) => self.is_pure(f),
            Operand::A(code) => {
                code.ins.iter().all(|step| matches!(step.what, Do::Const(_) | Do::Strand(_)))
            }
        };
        match f {
            FExpr::Prim(_) => true,
            FExpr::Known(f) => self.is_pure_value(f, DEEP),
            FExpr::Dfn(id) => {
                self.is_pure_text(&self.at.ast.source.slice(self.at.ast.dfn(*id).span), DEEP)
            }
            FExpr::Name(sym) if !self.changed.contains(sym) => {
                matches!(self.ev.lookup(self.at, *sym),
                    Some(Value::Func(f)) if self.is_pure_value(&f, DEEP))
            }
            FExpr::Op1(_, f) => operand(f),
            FExpr::Op2(_, f, g) => operand(f) && operand(g),
            FExpr::Outer(f) => self.is_pure(f),
            FExpr::Fork(f, g, h) => operand(f) && self.is_pure(g) && self.is_pure(h),
            FExpr::Atop(g, h) => self.is_pure(g) && self.is_pure(h),
            _ => false,
        }
    }

    fn is_pure_value(&self, f: &Func, deep: usize) -> bool {
        let operand = |o: &value::Operand| match o {
            value::Operand::F(f) => self.is_pure_value(f, deep),
            value::Operand::A(_) => true,
        };
        match f {
            Func::Prim(_) | Func::System(_) => true,
            Func::Dfn(c) => deep > 0 && c.env.is_none() && self.is_pure_text(&c.text(), deep - 1),
            Func::Op1(value::Oper::Prim(_), f) => operand(f),
            Func::Op2(value::Oper::Prim(_), f, g) => operand(f) && operand(g),
            Func::Outer(f) | Func::Axis(f, _) => operand(f),
            Func::Fork(f, g, h) => operand(f) && operand(g) && operand(h),
            Func::Atop(g, h) => operand(g) && operand(h),
            _ => false,
        }
    }

    /// Whether none of the names that stand in a text, in any way, is changed, or is that of a
    /// function which is not pure.
    fn is_pure_text(&self, text: &str, deep: usize) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || "_∆⍙".contains(c);
        text.split(|c| !is_part(c)).filter(|word| !word.is_empty()).all(|word| {
            let Some(sym) = self.ev.st.symbols.find(word) else { return true };
            !self.changed.contains(&sym)
                && match self.ev.lookup(self.at, sym) {
                    Some(Value::Func(f)) => self.is_pure_value(&f, deep),
                    Some(Value::Oper(_)) => false,
                    _ => true,
                }
        })
    }
}

/// A value is used by what is no part: what is known of the item is one.
fn used(entry: &mut Entry, found: &mut Vec<Range<usize>>) {
    if entry.1 == Tag::Item {
        found.push(entry.0.clone());
    }
    entry.1 = Tag::Other;
}

impl Eval<'_> {
    /// The parts of a dfn's body, and their values for the items of a vector. None: there is no
    /// part that is worth it, its calls do not see each other, or the values are none that
    /// registers hold. Errors: INTERRUPT.
    pub(super) fn ahead(
        &mut self,
        f: &Rc<Func>,
        items: &Array,
        side: Side,
    ) -> Result<Option<(Ahead, Items)>> {
        let Some((parts, changes)) = self.parts_of(f, side) else { return Ok(None) };
        if side == Side::Right && !changes {
            return Ok(None);
        }
        let dyadic = side == Side::Left;
        let Some(values) = self.parts_of_all(f, items, dyadic, &parts)? else { return Ok(None) };
        let mut all = self.cx.budget().room(values.len())?;
        for a in values {
            let Some(form) = Form::of_items(&a) else { return Ok(None) };
            all.push(Items::new(a, form));
        }
        Ok(Some((Ahead { side, parts }, Items::together(items.clone(), all))))
    }

    /// The parts of a body, and whether it changes a name that is none of its own. None: a step of
    /// it is none that is known here, or no part does more than read the item.
    fn parts_of(&mut self, f: &Rc<Func>, side: Side) -> Option<(Vec<Part>, bool)> {
        let Func::Dfn(closure) = &**f else { return None };
        let dfn = closure.ast.dfn(closure.dfn);
        if dfn.recurs {
            return None;
        }
        let frame = self.frame_to_read(f, closure, side == Side::Left);
        let phrases: Vec<PhraseId> = dfn
            .stmts
            .iter()
            .flat_map(|stmt| match stmt.guard {
                Guard::Test(cond) => [Some(cond), Some(stmt.phrase)],
                _ => [None, Some(stmt.phrase)],
            })
            .flatten()
            .collect();
        let is_plain = |guard: &Guard| matches!(guard, Guard::None | Guard::Test(_));
        if !dfn.stmts.iter().all(|stmt| is_plain(&stmt.guard)) {
            return None;
        }
        let (mut codes, mut all) = (Vec::new(), Vec::new());
        for id in phrases {
            let at = At { ast: &closure.ast, frame: Some(&frame) };
            if at.ast.phrase(id).items.is_empty() {
                continue;
            }
            let code = self.resolved(at, id).ok()?;
            let before = all.len();
            code.code.ins.iter().try_for_each(|step| written(&step.what, &mut all))?;
            for sym in &all[before..] {
                frame.set(*sym, Value::Array(Array::num(0.0)));
            }
            matches!(code.code.gives, Gives::Array).then(|| codes.push(code))?;
        }
        // What one step alone gives a value, a statement may.
        let once = |sym: &Sym| all.iter().filter(|other| *other == sym).count() == 1;
        let assigned = |sym: &Sym| {
            codes.iter().flat_map(|c| &c.code.ins).any(|step| {
                let mut own = Vec::new();
                matches!(step.what, Do::Assign(_) | Do::AssignPattern(..))
                    && written(&step.what, &mut own).is_some()
                    && own.contains(sym)
            })
        };
        let changes = all.iter().any(|sym| !assigned(sym));
        let changed = all.iter().filter(|sym| !(once(sym) && assigned(sym))).copied().collect();
        let at = At { ast: &closure.ast, frame: Some(&frame) };
        let mut reader = Reader { ev: self, at, side, changed, of_item: Vec::new() };
        let mut parts = Vec::new();
        for code in codes {
            let (ranges, names) = reader.parts(&code.code.ins, code.code.assigns)?;
            if names {
                let range = 0..code.code.ins.len();
                parts.push(Part { code: code.clone(), range, names });
            }
            for range in ranges {
                parts.push(Part { code: code.clone(), range, names: false });
            }
        }
        frame.clone().leave();
        parts.iter().any(|part| part.range.len() > 1).then_some((parts, changes))
    }
}

//! `d+←e` of an outer name in each cell: a running value.
//!
//! A body that changes an outer name in one place, where nothing has seen it before, gives the name
//! one value after the other: a scan of what the cells bring, in their order. So the step is one
//! pass over numbers, whose results are what the rest of the body sees. `r,←e` puts what the cells
//! bring behind r, `c[i]+←e` sends it to its places; these names are not seen again.
//!
//! Why the result is the same: the text says that no other step writes the name, and that none
//! reads it before; what the body calls cannot see it, as it calls no function by a name, no
//! operand and no text. Names get their values when the run has ended well.

use super::body::Call;
use super::one_by_one::{fold, scan};
use super::{Cells, Flat, refuse};
use crate::eval::run::{At, Eval};
use crate::eval::value::{Closure, Func, Value};
use crate::syntax::ast::Sym;
use crate::syntax::resolve::FExpr;
use crate::syntax::token::{Kind, Token, Word, lex};
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, storage};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::short::two;
use std::rc::Rc;

/// An outer name that a body changes in one place.
#[derive(Clone)]
pub(super) struct Outer {
    sym: Sym,
    /// Nothing else in the body names it.
    is_alone: bool,
}

/// The value that an outer name gets when the run has ended well.
pub(super) struct Change {
    closure: Rc<Closure>,
    sym: Sym,
    value: Array,
}

/// The place where a name is changed: `d+←`, or `c[i]+←`.
fn changes_at(tokens: &[Token], at: usize) -> bool {
    let kind = |k: usize| tokens.get(k).map(|t| &t.kind);
    match (kind(at + 1), kind(at + 2)) {
        (Some(Kind::Glyph(_)), Some(Kind::Assign)) => true,
        (Some(Kind::Open('[')), _) => {
            let mut open = 0usize;
            let mut ends = tokens.iter().enumerate().skip(at + 1).find_map(|(k, t)| {
                match t.kind {
                    Kind::Open(_) => open += 1,
                    Kind::Close(_) => open -= 1,
                    _ => {}
                }
                (open == 0).then_some(k + 1)
            });
            if let Some(end) = &mut ends {
                *end += usize::from(matches!(kind(*end), Some(Kind::Glyph(_))));
            }
            matches!(ends.and_then(kind), Some(Kind::Assign))
        }
        _ => false,
    }
}

/// The statements of a dfn, by its tokens with their braces.
fn statements_of(tokens: &[Token]) -> Vec<&[Token]> {
    let Some(inner) = tokens.get(1..tokens.len().max(2) - 1) else { return Vec::new() };
    let mut open = 0usize;
    let ends = |t: &Token| {
        match t.kind {
            Kind::Open(_) => open += 1,
            Kind::Close(_) => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0 && t.kind == Kind::Separator
    };
    inner.split(ends).collect()
}

/// True of a dfn each call of which changes an outer name, before a guard of its own may end it.
pub fn always_changes(f: &Func) -> bool {
    let Func::Dfn(closure) = f else { return false };
    let text = closure.text();
    if !text.contains('←') {
        return false;
    }
    let tokens = lex(&text);
    let name = |k: usize, all: &[Token]| match all.get(k).map(|t| &t.kind) {
        Some(Kind::Name(name)) => Some(name.clone()),
        _ => None,
    };
    let is_set = |k: usize| tokens.get(k + 1).is_some_and(|t| t.kind == Kind::Assign);
    if (0..tokens.len()).any(|k| tokens[k].kind == Kind::Close(')') && is_set(k)) {
        return false;
    }
    let own: Vec<_> =
        (0..tokens.len()).filter(|k| is_set(*k)).filter_map(|k| name(k, &tokens)).collect();
    let statements = statements_of(&tokens);
    let sure = statements.iter().take_while(|all| all.iter().all(|t| t.kind != Kind::Colon));
    sure.into_iter().any(|all| {
        let mut open = 0usize;
        (0..all.len()).any(|k| {
            match all[k].kind {
                Kind::Open(_) => open += 1,
                Kind::Close(_) => open = open.saturating_sub(1),
                _ => {}
            }
            let outer = name(k, all).is_some_and(|name| !own.contains(&name));
            open == 0 && outer && changes_at(all, k)
        })
    })
}

impl Eval<'_> {
    /// The outer names that a dfn changes, each in one place and before anything sees it. None: it
    /// changes none, or in another way, or calls what might see one.
    pub(super) fn outer_changes(&mut self, f: &Func) -> Option<Vec<Outer>> {
        let Func::Dfn(closure) = f else { return None };
        let dfn = closure.ast.dfn(closure.dfn);
        let text = closure.text();
        if dfn.recurs || dfn.operands != 0 || !text.contains('←') {
            return None;
        }
        let tokens = lex(&text);
        let statements = statements_of(&tokens);
        let at = At { ast: &closure.ast, frame: closure.env.as_ref() };
        let mut out: Vec<Outer> = Vec::new();
        let mut own: Vec<&str> = Vec::new();
        for (s, statement) in statements.iter().enumerate() {
            for (k, token) in statement.iter().enumerate() {
                let name = match &token.kind {
                    Kind::Name(name) => name.as_str(),
                    Kind::Word(Word::Alpha | Word::Omega) => continue,
                    Kind::Word(_) | Kind::Control(_) | Kind::Bad(_) | Kind::Glyph('⍎') => {
                        return None;
                    }
                    _ => continue,
                };
                if own.contains(&name) {
                    continue;
                }
                let sym = self.st.symbols.intern(name);
                if out.iter().any(|o| o.sym == sym) {
                    continue;
                }
                if matches!(statement.get(k + 1), Some(t) if t.kind == Kind::Assign) {
                    own.push(name);
                    continue;
                }
                if !changes_at(statement, k) {
                    match self.lookup(at, sym) {
                        Some(Value::Array(_)) | None => continue,
                        Some(_) => return None,
                    }
                }
                let named = |tokens: &[Token]| {
                    tokens.iter().filter(|t| matches!(&t.kind, Kind::Name(n) if n == name)).count()
                };
                let (before, here) = (&statements[..s], named(statement));
                let behind = statements[s + 1..].iter().any(|all| named(all) > 0);
                let guarded = statement.iter().any(|t| t.kind == Kind::Colon);
                if before.iter().any(|all| named(all) > 0) || here != 1 || guarded && behind {
                    return None;
                }
                out.push(Outer { sym, is_alone: !behind });
            }
        }
        (!out.is_empty()).then_some(out)
    }

    /// Outer names get what a run came to, where nothing written before it fails.
    pub(super) fn make_changes(&mut self, changes: Vec<Change>) -> Result<()> {
        for Change { closure, sym, value } in changes {
            self.cx.close()?;
            let at = At { ast: &closure.ast, frame: closure.env.as_ref() };
            self.change(at, sym, value)?;
        }
        Ok(())
    }
}

impl Flat<'_, '_> {
    /// An outer name of the body, which it may change here, and the array that it holds.
    fn outer(&mut self, call: &Rc<Call>, sym: Sym) -> Result<(Outer, Array)> {
        let first = self.calls.len() == 1 && !self.later;
        let known = self.outer.iter().find(|o| o.sym == sym && first).cloned();
        let known = known.filter(|_| !self.has_changed(sym));
        let Some(known) = known else { return refuse("an outer name is assigned") };
        let closure = &call.frame.closure;
        let at = At { ast: &closure.ast, frame: closure.env.as_ref() };
        match self.ev.lookup(at, sym) {
            Some(Value::Array(a)) if a.frame().is_none() => Ok((known, a)),
            _ => refuse("an outer name is assigned"),
        }
    }

    /// Whether an outer name has been changed.
    pub(super) fn has_changed(&self, sym: Sym) -> bool {
        self.changes.iter().any(|c| c.sym == sym)
    }

    fn changed(&mut self, call: &Call, sym: Sym, value: Array) {
        let closure = call.frame.closure.clone();
        self.changes.push(Change { closure, sym, value });
    }

    /// `d f←v` of an outer name.
    pub(super) fn modified(
        &mut self,
        call: &Rc<Call>,
        sym: Sym,
        f: &Func,
        v: &Cells,
    ) -> Result<()> {
        let (outer, old) = self.outer(call, sym)?;
        let Func::Prim(p) = f else { return refuse("an outer name is assigned") };
        let v = self.array(v)?;
        let n = v.len();
        match p.glyph {
            '⊢' => {
                let last = self.taken(&v, &[n as u32 - 1])?;
                let last = self.ev.cx.ready_outer(&last)?.item(0);
                self.changed(call, sym, last);
                if !outer.is_alone {
                    let v = self.each_of(v);
                    self.name(call, sym, v);
                }
            }
            ',' if outer.is_alone && old.rank() == 1 => {
                let v = self.ev.cx.ready_outer(&v)?;
                let flat = if v.is_plain() { v } else { self.items_in_all(&v)? };
                let old = self.ev.cx.ready_outer(&old)?;
                let new = self.put_behind(&old, &flat)?;
                self.changed(call, sym, new);
            }
            _ => {
                let Some(op) = Self::scalar_of(f) else {
                    return refuse("an outer name is assigned");
                };
                let old = self.ev.cx.ready(&old, "assignment")?;
                let (Some(start), true) = (old.number_scalar(), old.rank() == 0) else {
                    return refuse("an outer name that is no number is changed");
                };
                let ct = self.ev.cx.sys.settings.ct;
                let v = self.ev.cx.ready_outer(&v)?;
                let from = (start, v.dtype().is_integer());
                let mut all = self.numbers(&v)?;
                let budget = self.ev.cx.budget();
                let sum = match outer.is_alone {
                    true => fold(op, ct, from, &all, budget)?,
                    false => {
                        let made = scan(op, ct, from, &mut all, budget)?;
                        made.and_then(|()| all.last().copied())
                    }
                };
                let Some(sum) = sum else {
                    return refuse("a change of an outer name fails");
                };
                self.changed(call, sym, Array::num(sum));
                if !outer.is_alone {
                    let all = Array::numbers([n].as_slice(), all, self.ev.cx.budget())?;
                    let all = self.each_of(all);
                    self.name(call, sym, all);
                }
            }
        }
        Ok(())
    }

    /// `c[i;j]←v` and `c[i;j]f←v` of an outer array of numbers, an item in each cell.
    pub(super) fn sent_to(
        &mut self,
        call: &Rc<Call>,
        (sym, f): (Sym, Option<&FExpr>),
        indices: Vec<Option<Cells>>,
        v: &Cells,
    ) -> Result<()> {
        let op = match f {
            None => None,
            Some(f) => match Self::scalar_of(&*self.function(call, f)?) {
                None => return refuse("an outer name is assigned"),
                op => op,
            },
        };
        let (outer, old) = self.outer(call, sym)?;
        let old = self.ev.cx.ready(&old, "assignment")?;
        if !outer.is_alone || !old.is_of_f64() || storage(&old).is_none() {
            return refuse("items of an outer name are assigned");
        }
        let mut at = Vec::new();
        for i in indices {
            at.push(match i {
                None => None,
                Some(i) => {
                    let i = self.here(&i)?;
                    Some(self.one_or_list(i)?)
                }
            });
        }
        let v = self.array(v)?;
        let v = self.numbers(&v)?;
        let places = match self.chosen(old.shape(), &at, v.len())? {
            Some((places, cell)) if cell.is_empty() => places,
            _ => return refuse("items of an outer name are chosen in another way"),
        };
        let ct = self.ev.cx.sys.settings.ct;
        let mut items = self.ev.cx.numbers(&old, "an outer name")?;
        let mut ticks = self.ev.cx.budget().ticks();
        for (at, v) in places.into_iter().zip(v) {
            ticks.tick()?;
            let slot = &mut items[at as usize];
            let new = op.map_or(Some(v), |op| two(op, ct, *slot, v));
            let Some(new) = new else { return refuse("a change of an outer name fails") };
            *slot = new;
        }
        let new = Array::numbers(old.shape(), items, self.ev.cx.budget())?;
        self.changed(call, sym, new);
        Ok(())
    }

    /// The real numbers that cells have, one each.
    fn numbers(&mut self, v: &Array) -> Result<Vec<f64>> {
        let v = self.ev.cx.ready_outer(v)?;
        let settings = &self.ev.cx.sys.settings;
        if !v.is_of_f64() || v.rank() != 1 || settings.div || settings.single {
            return refuse("a change of an outer name takes no number");
        }
        self.ev.cx.numbers(&v, "a value")
    }

    /// The scalar function of a change; None: it is none.
    pub(super) fn scalar_of(f: &Func) -> Option<Op> {
        match f {
            Func::Prim(p) => p.scalar(true),
            _ => None,
        }
    }
}

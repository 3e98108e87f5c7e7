//! `V⍳⊂⍵`, `(⊂⍵)∊V` and `Q[⊂⍵]`, V and Q the same in all cells: one search, one choice for all; and
//! `(⊂⍵)⌷V`, which is `V[⍵]`.
//!
//! What ⊂ makes of each cell would be a scalar that holds an array, only for the function behind it
//! to open it again.

use super::body::{Call, popped};
use super::{Cells, Flat};
use crate::eval::value::{self, Func, Oper};
use crate::functions::shape::reshaped;
use crate::functions::{search, select};
use crate::syntax::resolve::{Do, FExpr, Ins, OpExpr, Operand};
use aplomb_ground::error::Result;
use aplomb_values::array::Array;
use std::rc::Rc;

/// The glyph of a primitive that a step calls.
pub(super) fn called(ins: &Ins, dyadic: bool) -> Option<char> {
    match (&ins.what, dyadic) {
        (Do::Monad(FExpr::Prim(p)), false) | (Do::Dyad(FExpr::Prim(p)), true) => Some(p.glyph),
        _ => None,
    }
}

/// True of a step that is `⌷⍨`.
fn is_turned_choice(ins: &Ins) -> bool {
    let Do::Dyad(f) = &ins.what else { return false };
    match f {
        FExpr::Op1(OpExpr::Prim(p), g) if p.glyph == '⍨' => {
            matches!(&**g, Operand::F(FExpr::Prim(p)) if p.glyph == '⌷')
        }
        FExpr::Known(f) => match &**f {
            Func::Op1(Oper::Prim(p), value::Operand::F(g)) if p.glyph == '⍨' => {
                matches!(&**g, Func::Prim(p) if p.glyph == '⌷')
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether a value is a vector in each cell.
fn is_vectors(v: &Cells) -> bool {
    match v {
        Cells::Same(a) => a.rank() == 1,
        Cells::Each(a, _) => {
            a.pieces().is_some() || a.split().is_some_and(|rows| rows.cell().len() == 1)
        }
    }
}

impl Flat<'_, '_> {
    /// A step that encloses what each cell has, and the steps behind it: their value, and their
    /// number. None: they are no such steps.
    pub(super) fn enclosed(
        &mut self,
        call: &Rc<Call>,
        ins: &Ins,
        stack: &mut Vec<Cells>,
        behind: &[Ins],
    ) -> Result<Option<(Cells, usize)>> {
        if called(ins, false) != Some('⊂') {
            return Ok(None);
        }
        let Some(keys @ Cells::Each(..)) = stack.last().cloned() else { return Ok(None) };
        if let Some((made, steps)) = self.join_whole(call, &keys, behind)? {
            stack.pop();
            return Ok(Some((made, steps)));
        }
        if let [Ins { what: Do::AssignIndex { sym, present, f }, .. }, ..] = behind
            && present[..] == [true]
            && !self.owns(call, *sym)
            && let Some(at) = self.columns(&keys)?
        {
            stack.pop();
            let v = popped(stack)?;
            self.sent_to(call, (*sym, f.as_ref()), at, &v)?;
            return Ok(Some((v, 1)));
        }
        if let [next, ..] = behind
            && called(next, true) == Some('⊃')
            && let [.., Cells::Same(base), Cells::Each(items, _)] = stack.as_slice()
            && base.is_uniform()
            && items.split().is_some_and(|rows| rows.cell() == [base.rank()])
        {
            let (base, items) = (base.clone(), self.top(stack)?);
            stack.truncate(stack.len() - 2);
            let z = select::bracket(&mut self.ev.cx, &base, &[items])?;
            return Ok(Some((self.each_of(z), 1)));
        }
        if let [next, ..] = behind
            && called(next, true) == Some('∊')
            && let [.., Cells::Same(list), _] = stack.as_slice()
            && list.rank() == 1
        {
            let list = list.clone();
            let Some(items) = self.top(stack)? else { return Ok(None) };
            stack.truncate(stack.len() - 2);
            let z = search::found(&mut self.ev.cx, &items, &list)?;
            return Ok(Some((self.each_of(z), 1)));
        }
        if let [next, ..] = behind
            && called(next, true) == Some('⌷')
            && let [.., base, Cells::Each(items, _)] = stack.as_slice()
            && is_vectors(base)
            && (items.is_uniform() || items.pieces().is_some() || items.split().is_some())
        {
            let base = base.clone();
            let Some(items) = stack.pop() else { return Ok(None) };
            stack.pop();
            return self.indexed(&base, &[Some(items)]).map(|z| Some((z, 1)));
        }
        if let [pushes, next, ..] = behind
            && is_turned_choice(next)
            && matches!(pushes.what, Do::Omega | Do::Alpha | Do::Name(_) | Do::Const(_))
            && let Some(Cells::Each(items, _)) = stack.last()
            && (items.is_uniform() || items.pieces().is_some() || items.split().is_some())
        {
            let (base, items) = (self.pushed(call, pushes)?, stack.last().cloned());
            return match is_vectors(&base) {
                false => Ok(None),
                true => {
                    stack.pop();
                    self.indexed(&base, &[items]).map(|z| Some((z, 2)))
                }
            };
        }
        let [whole, next, ..] = behind else { return Ok(None) };
        let is_index = matches!(&next.what, Do::Index(present) if present[..] == [true]);
        if called(next, true) != Some('⍳') && !is_index {
            return Ok(None);
        }
        let whole = match &whole.what {
            Do::Const(a) => a.clone(),
            Do::Name(sym) => match self.named(call, *sym)? {
                Cells::Same(a) => a,
                Cells::Each(..) => return Ok(None),
            },
            _ => return Ok(None),
        };
        let fits = if is_index { whole.is_uniform() } else { whole.rank() == 1 };
        let Some(items) = self.top(stack)?.filter(|_| fits) else { return Ok(None) };
        stack.pop();
        let z = match is_index {
            true => select::bracket(&mut self.ev.cx, &whole, &[Some(items)])?,
            false => search::first_places(&mut self.ev.cx, &whole, &items)?,
        };
        Ok(Some((self.each_of(z), 2)))
    }

    /// The index of each axis, where each cell has as many numbers as there are axes. None: cells
    /// differ in that, or have other items.
    pub(super) fn columns(&mut self, v: &Cells) -> Result<Option<Vec<Option<Cells>>>> {
        let Cells::Each(..) = v else { return Ok(None) };
        let a = self.array(v)?;
        let node = match (a.split(), a.pieces()) {
            (Some(rows), _) if rows.cell().len() == 1 => rows.node.settled(),
            (None, Some(all)) if all.count() > 0 => {
                let m = all.range(0).len();
                if (0..all.count()).any(|k| all.range(k).len() != m) {
                    return Ok(None);
                }
                reshaped(&mut self.ev.cx, all.flat(), &[all.count(), m])?
            }
            _ => return Ok(None),
        };
        let node = self.ev.cx.ready(&node, "index")?;
        if !node.is_of_f64() || node.is_empty() {
            return Ok(None);
        }
        let io = self.ev.cx.sys.settings.io;
        let mut out = Vec::new();
        for k in 0..node.shape()[1] {
            let at = Array::num(k as f64 + io);
            let column = select::bracket(&mut self.ev.cx, &node, &[None, Some(at)])?;
            let column = self.ev.cx.ready(&column, "index")?;
            out.push(Some(self.each_of(column)));
        }
        Ok(Some(out))
    }

    /// The cells on top of the stack as a ready vector. None: they are the same in all.
    pub(super) fn top(&mut self, stack: &[Cells]) -> Result<Option<Array>> {
        let Some(top @ Cells::Each(..)) = stack.last() else { return Ok(None) };
        let Cells::Each(a, _) = self.here(top)? else { return Ok(None) };
        self.ev.cx.ready_outer(&a).map(Some)
    }
}

//! Operands that are values of the cells: `A∘f` and `f∘A` with an A of each cell, `f⍣N` with a
//! number of each.
//!
//! A function made of such an operand is another one in each cell, so no step could be taken with
//! it for all. But `A∘f` of y is `A f y`, an A for each as arguments are; of each item of y it is
//! the same with one A for the items of a cell. `f⍣N` is f in rounds: each round is a call for the
//! cells whose number it has not reached, as a guard before a last call of itself would send them.

use super::body::{Call, Flow};
use super::{Cells, Flat, refuse};
use crate::eval::value::{self, Func, Oper};
use crate::syntax::resolve::{Code, FExpr, OpExpr, Operand};
use crate::table::{self, Prim};
use aplomb_ground::error::{Result, bug};
use std::rc::Rc;

/// The primitive operator of an expression.
fn glyph(op: &OpExpr) -> Option<char> {
    match op {
        OpExpr::Prim(p) => Some(p.glyph),
        _ => None,
    }
}

/// A function with a value of the cells bound to it.
struct Bound {
    f: Rc<Func>,
    value: Cells,
    /// The value stands on the right of what the function gets.
    right: bool,
}

impl Flat<'_, '_> {
    /// A function on arguments where an operand of it is a value of the cells. None: it is no such
    /// function, and nothing has happened.
    pub(super) fn bound_call(
        &mut self,
        call: &Rc<Call>,
        f: &FExpr,
        x: Option<&Cells>,
        y: &Cells,
    ) -> Result<Option<Cells>> {
        match f {
            FExpr::Op2(op, g, n) if glyph(op) == Some('⍣') => match (&**g, &**n) {
                (Operand::F(g), Operand::A(n)) => {
                    let n = self.operand_value(call, n)?;
                    let g = self.function(call, g)?;
                    self.powered(&g, n, x, y).map(Some)
                }
                _ => Ok(None),
            },
            FExpr::Op1(op, g) if glyph(op) == Some('¨') && x.is_none() => match &**g {
                Operand::F(g) => match self.bound(call, g)? {
                    Some(bound) => self.bound_each(&bound, y).map(Some),
                    None => Ok(None),
                },
                Operand::A(_) => Ok(None),
            },
            f if x.is_none() => match self.bound(call, f)? {
                Some(Bound { f, value, right: false }) => {
                    self.call(&f, Some(value), y.clone()).map(Some)
                }
                Some(Bound { f, value, right: true }) => {
                    self.call(&f, Some(y.clone()), value).map(Some)
                }
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The value of an operand, and its function: `A∘f`, `f∘A`. None: it is no such thing.
    fn bound(&mut self, call: &Rc<Call>, f: &FExpr) -> Result<Option<Bound>> {
        let FExpr::Op2(op, a, b) = f else { return Ok(None) };
        if glyph(op) != Some('∘') {
            return Ok(None);
        }
        let (f, value, right) = match (&**a, &**b) {
            (Operand::A(value), Operand::F(f)) => (f, value, false),
            (Operand::F(f), Operand::A(value)) => (f, value, true),
            _ => return Ok(None),
        };
        let value = self.operand_value(call, value)?;
        Ok(Some(Bound { f: self.function(call, f)?, value, right }))
    }

    /// The same with each item of y in each cell.
    fn bound_each(&mut self, bound: &Bound, y: &Cells) -> Result<Cells> {
        if let Cells::Same(value) = &bound.value {
            let (f, value) = (value::Operand::F(bound.f.clone()), value::Operand::A(value.clone()));
            let own = if bound.right { (f, value) } else { (value, f) };
            let f = Func::Op2(Oper::Prim(prim('∘')?), own.0, own.1);
            let each = Func::Op1(Oper::Prim(prim('¨')?), value::Operand::F(Rc::new(f)));
            return self.call(&Rc::new(each), None, y.clone());
        }
        match self.each_with(&bound.f, &bound.value, bound.right, y)? {
            Some(made) => Ok(made),
            None => refuse("the items of its cells are not at hand"),
        }
    }

    /// `x f⍣n⊢y` in each cell.
    fn powered(&mut self, f: &Rc<Func>, n: Cells, x: Option<&Cells>, y: &Cells) -> Result<Cells> {
        let counts = match self.here(&n)? {
            Cells::Same(n) => {
                let (f, n) = (value::Operand::F(f.clone()), value::Operand::A(n));
                let f = Func::Op2(Oper::Prim(prim('⍣')?), f, n);
                return self.call(&Rc::new(f), x.cloned(), y.clone());
            }
            Cells::Each(n, _) => self.ev.cx.ready(&n, "power")?,
        };
        let times = |k: usize| counts.number_at(k).filter(|n| *n >= 0.0 && n.fract() == 0.0);
        let all = self.count();
        if !counts.is_uniform() || counts.is_char() || (0..all).any(|k| times(k).is_none()) {
            return refuse("⍣ takes a number that differs from cell to cell, and is no count");
        }
        let x = x.map(|x| self.here(x)).transpose()?;
        let (mut done, mut values) = (Vec::new(), self.array(y)?);
        let mut cells = self.places(0..all as u32)?;
        for round in 0u64.. {
            self.ev.cx.host.interrupt().check()?;
            let (mut on, mut off) =
                (self.ev.cx.budget().room(cells.len())?, self.ev.cx.budget().room(cells.len())?);
            for (at, &cell) in cells.iter().enumerate() {
                let goes = times(cell as usize).is_some_and(|n| n > round as f64);
                if goes { on.push(at as u32) } else { off.push(at as u32) }
            }
            if !off.is_empty() {
                let ended = match on.is_empty() {
                    true => values.clone(),
                    false => self.taken(&values, &off)?,
                };
                done.push((
                    self.places(off.iter().map(|&at| cells[at as usize]))?,
                    self.each_of(ended),
                ));
                if on.is_empty() {
                    break;
                }
                values = self.taken(&values, &on)?;
                cells = self.places(on.iter().map(|&at| cells[at as usize]))?;
            }
            values = self.among(cells.clone(), |flat| {
                let y = flat.each_of(values);
                let made = flat.call(f, x.clone(), y)?;
                flat.array(&made)
            })?;
        }
        self.together(all, done)
    }

    /// The value of an operand's code in all cells.
    fn operand_value(&mut self, call: &Rc<Call>, code: &Code) -> Result<Cells> {
        match self.code(call, code, false)? {
            Flow::Value(v) => self.here(&v),
            _ => refuse("an operand has no value"),
        }
    }
}

fn prim(glyph: char) -> Result<&'static Prim> {
    table::find(glyph).ok_or_else(|| bug!("there is no {glyph}"))
}

//! `x[i]←v` in each cell, x a name of the call that holds a vector: one pass over all of them.

use super::body::Call;
use super::enclosed::called;
use super::{Cells, Flat};
use crate::functions::amend::amended_each;
use crate::functions::pieces::Side;
use crate::syntax::resolve::{Do, Ins};
use aplomb_ground::error::Result;
use aplomb_values::array::{DType, Ragged, storage};
use std::rc::Rc;

impl Flat<'_, '_> {
    /// The vector of each cell with other items at places of it. None: it is no vector of real
    /// numbers or characters, or some place is not there.
    pub(super) fn amended(
        &mut self,
        old: &Cells,
        at: &Cells,
        new: &Cells,
    ) -> Result<Option<Cells>> {
        let (Some(at), Some(new)) = (self.side(at)?, self.side(new)?) else { return Ok(None) };
        let n = self.count();
        let base = match self.here(old)? {
            // A scalar has no places.
            Cells::Each(a, _) => {
                let a = self.ev.cx.ready_outer(&a)?;
                match self.vectors(&a)? {
                    Some(pieces) => pieces,
                    None => return Ok(None),
                }
            }
            Cells::Same(a) if a.rank() == 1 => {
                let a = self.ev.cx.ready_outer(&a)?;
                let Some(held) = storage(&a).filter(|_| a.is_plain()) else { return Ok(None) };
                let runs = self.ev.cx.budget().each(std::iter::repeat_n((held, 0..a.len()), n))?;
                match Ragged::of_runs(&runs, self.ev.cx.budget())? {
                    Some(pieces) => pieces,
                    None => return Ok(None),
                }
            }
            Cells::Same(_) => return Ok(None),
        };
        let made = amended_each(&mut self.ev.cx, &base, &at, &new)?;
        Ok(made.map(|made| self.each_of(made.items(&[n]))))
    }

    /// `x[⍸B]←v` of one value for all cells, from the ⍸ on: a choice in each item by itself, for
    /// which the places are not computed. None: it is something else, or short.
    pub(super) fn masked(
        &mut self,
        call: &Rc<Call>,
        ins: &Ins,
        stack: &mut Vec<Cells>,
        behind: &[Ins],
    ) -> Result<Option<(Cells, usize)>> {
        let ([Ins { what: Do::AssignIndex { sym, present, f: None }, .. }, ..], Some('⍸')) =
            (behind, called(ins, false))
        else {
            return Ok(None);
        };
        let [.., Cells::Same(v), _] = stack.as_slice() else { return Ok(None) };
        if present[..] != [true] || !self.owns(call, *sym) || !v.is_simple_scalar() {
            return Ok(None);
        }
        let (v, Some(mask)) = (v.clone(), self.top(stack)?) else { return Ok(None) };
        let Cells::Each(old, _) = self.own(call, *sym)? else { return Ok(None) };
        let old = self.ev.cx.ready_outer(&old)?;
        let (Some(mask), Some(old)) = (self.vectors(&mask)?, self.vectors(&old)?) else {
            return Ok(None);
        };
        let (marks, items) = (mask.flat().clone(), old.flat().clone());
        let kinds = v.is_char() == items.is_char() && marks.dtype() == DType::Bool;
        let cx = &mut self.ev.cx;
        let fits = kinds && mask.is_cut_as(&old) && v.is_plain() && cx.recordable(&items);
        if !fits || !cx.records(&[&items], items.len()) {
            return Ok(None);
        }
        let made = cx.select(&marks, &v, &items, items.shape())?;
        let made = cx.ready(&made, "assignment")?;
        let Some(made) = old.with(made) else { return Ok(None) };
        let n = made.count();
        let new = self.each_of(made.items(&[n]));
        self.name(call, *sym, new);
        stack.truncate(stack.len() - 2);
        Ok(Some((Cells::Same(v), 1)))
    }

    /// A value as the argument of a pass: numbers that each stand alone are pieces of one. None: it
    /// is no real number, no character, and no vector of such.
    fn side(&mut self, v: &Cells) -> Result<Option<Side<'static>>> {
        let a = match self.here(v)? {
            Cells::Same(a) => {
                let a = self.ev.cx.ready_outer(&a)?;
                return Ok(a.is_plain().then_some(Side::One(a)));
            }
            Cells::Each(a, _) => self.ev.cx.ready_outer(&a)?,
        };
        if !a.is_uniform() {
            return Ok(self.vectors(&a)?.map(Side::Pieces));
        }
        let n = a.len();
        let ends = self.ev.cx.budget().each(1..=n as u32)?;
        Ok(Ragged::new(a, ends).map(Side::Pieces))
    }
}

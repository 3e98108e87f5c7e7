//! `x[i]←v` in each cell, x a name of the call that holds a vector: one pass over all of them.

use super::{Cells, Flat};
use crate::functions::amend::amended_each;
use crate::functions::pieces::Side;
use aplomb_ground::error::Result;
use aplomb_values::array::{Ragged, storage};

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

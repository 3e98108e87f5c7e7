//! `2⊃⎕VFI ⍵`, `⊃⌽⎕VFI ⍵`, `⊃⎕VFI ⍵`: of the pair that ⎕VFI makes in each cell one is taken, so no
//! pair is made.

use super::Flat;
use super::{Cells, enclosed::called};
use crate::functions::{groups, made};
use crate::syntax::resolve::{Do, FExpr, Ins};
use aplomb_ground::error::Result;

/// The one of two that the steps behind take, and the number of these steps.
fn taken(behind: &[Ins], io: f64) -> Option<(usize, usize)> {
    match behind {
        [first, ..] if called(first, false) == Some('⊃') => Some((0, 1)),
        [turn, first, ..]
            if (called(turn, false), called(first, false)) == (Some('⌽'), Some('⊃')) =>
        {
            Some((1, 2))
        }
        [Ins { what: Do::Const(a), .. }, pick, ..] if called(pick, true) == Some('⊃') => {
            let k = a.number_scalar().filter(|_| a.rank() == 0)? - io;
            (k == 0.0 || k == 1.0).then_some((k as usize, 2))
        }
        _ => None,
    }
}

impl Flat<'_, '_> {
    /// A step that is ⎕VFI, and steps behind it that take one of the two: their value, and their
    /// number. None: they are no such steps, or the cells are no texts.
    pub(super) fn verified(
        &mut self,
        ins: &Ins,
        stack: &mut Vec<Cells>,
        behind: &[Ins],
    ) -> Result<Option<(Cells, usize)>> {
        let Do::Monad(FExpr::System(row)) = &ins.what else { return Ok(None) };
        let io = self.ev.cx.sys.settings.io;
        let Some((which, steps)) = taken(behind, io).filter(|_| row.name == "VFI") else {
            return Ok(None);
        };
        let Some(texts) = self.top(stack)? else { return Ok(None) };
        let Some(all) = groups::runs(&mut self.ev.cx, &texts, 0)?.filter(|a| a.flat().is_char())
        else {
            return Ok(None);
        };
        let Some(numbers) = made::verified(&mut self.ev.cx, &all, which == 0)? else {
            return Ok(None);
        };
        stack.pop();
        let n = numbers.count();
        Ok(Some((self.each_of(numbers.items(&[n])), steps)))
    }
}

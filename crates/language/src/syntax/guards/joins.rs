//! The ways that a condition sends a function of lines, in braces: a guard, one for the other way,
//! or a value of both where they come together again.
//!
//! A guard ends its block, so both ways have all that follows; a block that goes round a loop ends
//! in one other way at most. `:Repeat` … `:If` … `:Until` has both behind its `:If`: there the
//! names that the two ways change are the value of a dfn, and the block goes on.

use super::{Block, Known, Loop, Maker, Open, Stmt, Sym, joined, strand};
use crate::syntax::steps::Act;

impl Maker<'_> {
    /// The rest of a block behind a condition: the steps where it holds, and where not. `forks`:
    /// the first are those behind it.
    pub(super) fn ways(
        &mut self,
        cond: String,
        (yes, no): (usize, usize),
        forks: bool,
        mut known: Known,
        around: &mut Vec<Loop>,
        mut open: Open,
    ) -> Option<Block> {
        let (written, free) = (self.written, self.free.len());
        for (cond, way, on) in [(cond.clone(), yes, no), (format!("~{cond}"), no, yes)] {
            let mut here = open.clone();
            let made = match self.guard(cond, way, &known, around, &mut here) {
                Some(()) => self.rest(on, known.clone(), around, here),
                None => None,
            };
            if made.is_some() {
                return made;
            }
            self.written = written;
            self.free.truncate(free);
        }
        let on = forks.then(|| self.join(&cond, (yes, no), &mut known, &mut open.out))??;
        self.rest(on, known, around, open)
    }

    /// Both ways as a statement, and the step where they come together. None: they do not, or give
    /// no name a value that both do.
    fn join(
        &mut self,
        cond: &str,
        (yes, no): (usize, usize),
        known: &mut Known,
        out: &mut Block,
    ) -> Option<usize> {
        let stop = match self.steps.steps.get(no.checked_sub(1)?)?.act {
            Act::Jump(to) if to >= no => to,
            _ => no,
        };
        let (mut first, one) = self.region(yes, stop, known)?;
        let (mut second, other) = self.region(no, stop, known)?;
        let mut names: Vec<Sym> = Vec::new();
        for sym in one.here.iter().chain(&other.here) {
            let both = one.all.contains(sym) && other.all.contains(sym);
            if both && !names.contains(sym) {
                names.push(*sym);
            }
        }
        if names.is_empty() {
            return None;
        }
        for way in [&mut first, &mut second] {
            let text = self.value(way, &names);
            way.stmts.push(Stmt { text, gives: None });
        }
        let value = format!("{{{cond}:{} ⋄ {}}}0", first.text(), joined(&second.stmts));
        let text = format!("{}←{value}", strand(self.symbols, &names, true));
        let gives = (names.len() == 1).then(|| (names[0], value));
        out.stmts.push(Stmt { text, gives });
        names.into_iter().try_for_each(|sym| self.gives(sym, known))?;
        Some(stop)
    }

    /// The statements from one step to another, and the names that they know by then; `here` are
    /// those that got values. None: they go elsewhere, or round.
    fn region(&mut self, mut at: usize, stop: usize, known: &Known) -> Option<(Block, Known)> {
        let mut known = Known { all: known.all.clone(), here: Vec::new() };
        let mut out = Block { stmts: Vec::new(), end: None };
        while at != stop {
            self.writes()?;
            if at > stop || self.loops.iter().any(|known| known.0 == at) {
                return None;
            }
            let step = self.steps.steps.get(at)?;
            at += 1;
            match &step.act {
                Act::Jump(to) if *to >= at => at = *to,
                Act::Test { holds: false, to: other, .. } | Act::Case { otherwise: other, .. } => {
                    let cond = self.condition(&step.act, &known)?;
                    at = self.join(&cond, (at, *other), &mut known, &mut out)?;
                }
                Act::For { .. } => return None,
                act => self.plain(act, &mut known, &mut out)?,
            }
        }
        Some((out, known))
    }
}

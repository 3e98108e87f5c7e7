//! Values that are not shown: those of a dfn that ends with an assignment.
//!
//! An operator may run many calls together, and of a function with several ends nobody knows then
//! which was the last. So nothing depends on it, however few calls there are: an operator's value
//! is not shown where each end of its function is an assignment or a call of such a function, and
//! else it is. What a guard gives is shown, as it is of one call; an error's end is none of them.

use super::run::{At, Eval};
use super::value::{Closure, Func, Oper, Operand, Value};
use crate::syntax::ast::{Ast, Guard, PhraseId, What};
use crate::syntax::resolve::{self, Code, Do, FExpr, OpExpr};
use crate::syntax::token::Word;
use aplomb_values::array::Array;
use std::rc::Rc;

/// Functions that are read for one answer, at most: behind that a value is shown.
const READ: usize = 64;

impl Eval<'_> {
    /// Says whether the value that an operator made with these operands is shown; what applies a
    /// function without a text leaves it as the last call did.
    pub fn shows_or_hides(&mut self, operands: &[Operand], dyadic: bool) {
        let applied = operands.iter().find_map(|of| match of {
            Operand::F(f) => Some(f),
            Operand::A(_) => None,
        });
        let mut left = READ;
        if let Some(hides) = applied.and_then(|f| self.hides(f, dyadic, &mut left)) {
            self.st.shy = hides;
        }
    }

    /// Whether a function's value is not shown, whatever it is called with. None: it has no text
    /// that tells.
    fn hides(&mut self, f: &Rc<Func>, dyadic: bool, left: &mut usize) -> Option<bool> {
        match &**f {
            Func::Prim(p) => (p.glyph != '⍎').then_some(false),
            Func::Trad(lines) => Some(lines.tradfn().shy),
            Func::Dfn(closure) => match &closure.lines {
                Some(lines) => Some(lines.tradfn().shy),
                None => self.hides_dfn(f, closure, dyadic, left),
            },
            Func::Op1(Oper::Prim(_), Operand::F(g))
            | Func::Op2(Oper::Prim(_), Operand::F(g), _)
            | Func::Op2(Oper::Prim(_), _, Operand::F(g))
            | Func::Outer(Operand::F(g))
            | Func::Fork(_, Operand::F(g), _)
            | Func::Atop(Operand::F(g), _) => self.hides(g, dyadic, left),
            _ => None,
        }
    }

    fn hides_dfn(
        &mut self,
        f: &Rc<Func>,
        closure: &Rc<Closure>,
        dyadic: bool,
        left: &mut usize,
    ) -> Option<bool> {
        let dfn = closure.ast.dfn(closure.dfn);
        if let Some(known) = dfn.shy.get() {
            return Some(*known);
        }
        *left = left.checked_sub(1)?;
        let ends = self.ends(f, closure, dyadic, left)?;
        match dfn.stmts.iter().all(|s| told_by_text(&closure.ast, s.phrase)) {
            true => Some(*dfn.shy.get_or_init(|| ends)),
            false => Some(ends),
        }
    }

    /// The same of a dfn, read. None: a statement cannot be read now.
    fn ends(
        &mut self,
        f: &Rc<Func>,
        closure: &Rc<Closure>,
        dyadic: bool,
        left: &mut usize,
    ) -> Option<bool> {
        let frame = self.frame_to_read(f, closure, dyadic);
        let at = At { ast: &closure.ast, frame: Some(&frame) };
        // Some end hides its value, where not all are calls of the function itself.
        let (mut hides, mut hidden, mut assigned) = (Some(true), false, false);
        for stmt in &closure.ast.dfn(closure.dfn).stmts {
            let is_empty = closure.ast.phrase(stmt.phrase).items.is_empty();
            if is_empty || matches!(stmt.guard, Guard::Error(_)) {
                continue;
            }
            let Ok(made) = self.resolved(at, stmt.phrase) else {
                hides = None;
                break;
            };
            let (assigns, guarded) = (made.code.assigns, stmt.guard != Guard::None);
            if assigns && !guarded {
                assigned = true;
                for ins in &made.code.ins {
                    if let Do::Assign(sym) = ins.what {
                        frame.set(sym, Value::Array(Array::num(0.0)));
                    }
                }
                continue;
            }
            let called =
                if assigns { Some(false) } else { self.calls_hiding(at, &made.code, left) };
            if called == Some(false) {
                hides = Some(false);
                break;
            }
            hidden |= called == Some(true);
            if !guarded {
                // What was assigned before is no end.
                assigned = false;
                break;
            }
        }
        frame.clone().leave();
        hides.map(|hides| hides && (hidden || assigned))
    }

    /// Whether the value of code that is no assignment is that of a function which hides it. None:
    /// of this function itself, which ends where it does not call itself.
    fn calls_hiding(&mut self, at: At<'_>, code: &Code, left: &mut usize) -> Option<bool> {
        let (mut f, dyadic) = match code.ins.last().map(|ins| &ins.what) {
            Some(Do::Monad(f)) => (f, false),
            Some(Do::Dyad(f)) => (f, true),
            _ => return Some(false),
        };
        let applied = loop {
            f = match f {
                FExpr::Word(Word::Del) => return None,
                FExpr::Known(known) => break known.clone(),
                FExpr::Dfn(_) => match self.function(at, f) {
                    Ok(dfn) => break dfn,
                    Err(_) => return Some(false),
                },
                FExpr::Name(sym) => match self.lookup(at, *sym) {
                    Some(Value::Func(named)) => break named,
                    _ => return Some(false),
                },
                FExpr::Op1(OpExpr::Prim(_), of) | FExpr::Op2(OpExpr::Prim(_), of, _) => {
                    let resolve::Operand::F(inner) = &**of else { return Some(false) };
                    inner
                }
                FExpr::Outer(of) | FExpr::Atop(of, _) | FExpr::Fork(_, of, _) => of,
                _ => return Some(false),
            };
        };
        Some(self.hides(&applied, dyadic, left) == Some(true))
    }
}

/// Whether it is plain from the text, whatever names stand for, that a phrase is an assignment
/// (`f x←3` is one if `f` is an array, and none if `f` is a function), or that a primitive has the
/// last word.
fn told_by_text(ast: &Ast, phrase: PhraseId) -> bool {
    let items = &ast.phrase(phrase).items;
    let what = |k: usize| items.get(k).map(|k| &ast.item(*k).what);
    if let Some(first) = items.iter().position(|k| matches!(ast.item(*k).what, What::Assign)) {
        return first <= 1;
    }
    let is_value = |k: usize| {
        matches!(
            what(k),
            Some(What::Number(_) | What::Literal(_) | What::Word(Word::Alpha | Word::Omega))
        )
    };
    let is_function = |k: usize| matches!(what(k), Some(What::Glyph(glyph)) if *glyph != '∘');
    let first = (0..items.len()).find(|k| !is_value(*k));
    first.is_none_or(is_function)
}

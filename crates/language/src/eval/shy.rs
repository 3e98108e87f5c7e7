//! Values that are not shown: those of a dfn that ends with an assignment.
//!
//! An operator's value is shown if that of the last call is. Who runs many calls together makes no
//! last one, so the text of the function says it, where all its ends are alike.

use super::run::{At, Eval};
use super::value::{Closure, Func, Operand, Value};
use crate::syntax::ast::{Ast, Guard, PhraseId, What};
use crate::syntax::resolve::Do;
use aplomb_values::array::Array;
use std::rc::Rc;

impl Eval<'_> {
    /// Whether every call of the function that an operator applies ends with an assignment, or none
    /// does. None: it is no dfn that assigns, or some of its ends are one and some the other.
    pub fn ends_shy(&mut self, operands: &[Operand], dyadic: bool) -> Option<bool> {
        let [Operand::F(f), others @ ..] = operands else { return None };
        if others.iter().any(|of| matches!(of, Operand::F(f) if f.closure().is_some())) {
            return None;
        }
        let Func::Dfn(closure) = &**f else { return None };
        let dfn = closure.ast.dfn(closure.dfn);
        if let Some(known) = dfn.shy.get() {
            return *known;
        }
        let ends = match closure.text().contains('←') {
            true => self.ends(f, closure, dyadic)?,
            false => None,
        };
        let told = dfn.stmts.iter().all(|s| told_by_text(&closure.ast, s.phrase));
        match told {
            true => *dfn.shy.get_or_init(|| ends),
            false => ends,
        }
    }

    /// The same of a dfn that assigns, read. None: a statement cannot be read now.
    fn ends(&mut self, f: &Rc<Func>, closure: &Rc<Closure>, dyadic: bool) -> Option<Option<bool>> {
        let frame = self.frame_to_read(f, closure, dyadic);
        let at = At { ast: &closure.ast, frame: Some(&frame) };
        let stmts = &closure.ast.dfn(closure.dfn).stmts;
        let mut found = Some(None);
        for (k, stmt) in stmts.iter().enumerate() {
            let Ok(made) = self.resolved(at, stmt.phrase) else {
                found = None;
                break;
            };
            let (assigns, guarded) = (made.code.assigns, !matches!(stmt.guard, Guard::None));
            if assigns && !guarded && k + 1 < stmts.len() {
                for ins in &made.code.ins {
                    if let Do::Assign(sym) = ins.what {
                        frame.set(sym, Value::Array(Array::num(0.0)));
                    }
                }
                continue;
            }
            if found.flatten().is_some_and(|found| found != assigns) {
                found = Some(None);
                break;
            }
            found = Some(Some(assigns));
            if !guarded {
                break;
            }
        }
        frame.clone().leave();
        found
    }
}

/// Whether it is plain from the text that a phrase is an assignment, or that it is none, whatever
/// its names stand for: `f x←3` is one if `f` is an array, and none if `f` is a function.
fn told_by_text(ast: &Ast, phrase: PhraseId) -> bool {
    let items = &ast.phrase(phrase).items;
    let first = items.iter().position(|k| matches!(ast.item(*k).what, What::Assign));
    first.is_none_or(|k| k <= 1)
}

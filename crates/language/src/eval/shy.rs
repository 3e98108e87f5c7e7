//! Values that are not shown: those of a dfn that ends with an assignment.
//!
//! An operator's value is shown if that of the last call is. Who runs many calls together makes no
//! last one, so the text of the function says it, where all its ends are alike.

use super::run::{At, Eval};
use super::value::{Func, Operand, Value};
use crate::syntax::ast::Guard;
use crate::syntax::resolve::Do;
use aplomb_values::array::Array;

impl Eval<'_> {
    /// Whether every call of the function that an operator applies ends with an assignment, or none
    /// does. None: it is no dfn that assigns, or some of its ends are one and some the other.
    pub fn ends_shy(&mut self, operands: &[Operand], dyadic: bool) -> Option<bool> {
        let [Operand::F(f), others @ ..] = operands else { return None };
        if others.iter().any(|of| matches!(of, Operand::F(f) if f.closure().is_some())) {
            return None;
        }
        let Func::Dfn(closure) = &**f else { return None };
        if !closure.text().contains('←') {
            return None;
        }
        let frame = self.frame_to_read(f, closure, dyadic);
        let at = At { ast: &closure.ast, frame: Some(&frame) };
        let stmts = &closure.ast.dfn(closure.dfn).stmts;
        let mut found = None;
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
            if found.is_some_and(|found| found != assigns) {
                found = None;
                break;
            }
            found = Some(assigns);
            if !guarded {
                break;
            }
        }
        frame.clone().leave();
        found
    }
}

//! Steps that take an argument out of its call, because nobody reads it any more.

use super::run::{At, Eval};
use super::value::Value;
use crate::syntax::ast::Stmt;
use crate::syntax::resolve::{Code, Do};
use crate::syntax::spent::{Reads, Spent};
use aplomb_values::array::Array;

/// The reads of a statement of the dfn that runs: the k-th of its last ones.
pub(super) fn spent_by<'a>(at: At<'a>, last: &[Stmt], k: usize) -> Option<&'a Spent> {
    let all = at.frame?.closure.spent();
    all.get(all.len() - last.len() + k)
}

impl Eval<'_> {
    /// The step that reads an argument last takes it out of the call, so that what comes next may
    /// change it where it lies. False: it is not the last, or there is nothing to take.
    pub(super) fn spends(&mut self, at: At<'_>, code: &Code, step: usize, reads: Reads) -> bool {
        let Some(frame) = at.frame else { return false };
        if self.cx.sys.scope.is_once_a_cell() || self.cx.sys.recorder.ahead {
            return false;
        }
        let is_held = |a: &Array| a.rank() > 0 && a.pending().is_none() && a.frame().is_none();
        let is_alpha = matches!(code.ins[step].what, Do::Alpha);
        let (mut alpha, mut omega) = (frame.alpha.borrow_mut(), frame.omega.borrow_mut());
        let (given, reads) = match (is_alpha, &mut *alpha) {
            (true, Some(Value::Array(a))) => (a, reads[0]),
            (true, _) => return false,
            (false, _) => (&mut *omega, reads[1]),
        };
        let last = is_held(given) && code.reads_last(step, reads);
        if last {
            self.st.stack.push(std::mem::replace(given, Array::num(0.0)));
        }
        last
    }
}

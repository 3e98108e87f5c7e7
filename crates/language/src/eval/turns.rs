//! Last calls: a call of a dfn that goes on with another one takes no depth.

use super::run::{Eval, Outcome};
use super::value::Func;
use aplomb_ground::error::{Error, Kind, Result, bug};
use aplomb_ground::span::{Place, Source, Span};
use aplomb_values::array::Array;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

/// The call at which registers are tried again.
const AGAIN: u64 = 32;

impl Eval<'_> {
    /// A call of a dfn, and those that it goes on with.
    pub(super) fn turns(&mut self, f: Rc<Func>, x: Option<Array>, y: Array) -> Result<Outcome> {
        let (guards, mut told) = (self.st.handlers.len(), None);
        let outcome = self.go_round(f, x, y, guards, &mut told);
        self.unguarded(guards);
        if let Some(before) = told {
            self.cx.sys.error = before;
        }
        outcome
    }

    fn go_round(
        &mut self,
        mut f: Rc<Func>,
        mut x: Option<Array>,
        mut y: Array,
        guards: usize,
        told: &mut Option<Option<Rc<Error>>>,
    ) -> Result<Outcome> {
        let (depth, stack) = (self.st.depth, self.st.stack.len());
        let mut passed = Passed::default();
        for round in 0u64.. {
            // An argument that grew with each call is a list by now.
            if round == AGAIN
                && self.st.carried.is_empty()
                && let Some(made) = self.by_numbers(&f, x.as_ref(), &y)?
            {
                return Ok(Outcome::Array(made));
            }
            let mut outcome = self.turn(f, x, y, guards);
            let call = loop {
                match outcome {
                    Ok(Outcome::Tail(call)) => break call,
                    Err(e) if self.st.handlers.len() > guards => {
                        self.st.depth = depth;
                        self.st.stack.truncate(stack);
                        outcome = self.caught(guards, e, told);
                    }
                    done => return done.map_err(|e| passed.told(e)),
                }
            };
            passed.pass(self.cx.sys.source.as_ref(), self.cx.sys.span);
            (f, x, y) = *call;
        }
        Err(bug!("a call goes round without end"))
    }
}

/// The places of the last calls that a call of a dfn went on with: they take no depth, and an error
/// tells of them as of others.
#[derive(Default)]
struct Passed(VecDeque<Place>);

impl Passed {
    /// Places that are kept.
    const MOST: usize = 20;

    /// A call goes on with another, which stands here.
    fn pass(&mut self, source: Option<&Arc<Source>>, span: Span) {
        let Some(source) = source else { return };
        let again = |p: &Place| p.span == span && Arc::ptr_eq(&p.source, source);
        if self.0.back().is_some_and(again) {
            return;
        }
        if self.0.len() == Passed::MOST {
            self.0.pop_front();
        }
        self.0.push_back(Place::new(source, span));
    }

    fn told(&self, e: Error) -> Error {
        let quiet = !e.has_place() || matches!(e.kind(), Kind::Interrupt);
        let places = self.0.iter().rev().filter(|_| !quiet).cloned();
        places.take(Passed::MOST.saturating_sub(e.parts().calls.len())).fold(e, Error::called_from)
    }
}

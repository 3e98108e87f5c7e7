//! Error guards: `n::expr`, and what a call leaves behind when a tail call ends it under one.
//!
//! A guard is a record on a list, not a call: the statements after it run where they stood. An
//! error takes the record that catches it, the names of its dfn become what they were at the
//! guard's line, and its expression runs as if it stood there. So a tail call takes no stack below
//! any guard; one out of a dfn that has guards of its own takes the memory of their records.

use super::env::Frame;
use super::run::{At, Eval, Outcome};
use super::steps::catches;
use super::system::Row;
use super::value::Value;
use crate::syntax::Sym;
use crate::syntax::ast::PhraseId;
use aplomb_ground::error::{Error, Result};
use aplomb_ground::limits::Charge;
use aplomb_values::array::Array;
use std::rc::Rc;

/// A guard that is active, and its dfn's environment at the guard's line.
pub struct Handler {
    frame: Rc<Frame>,
    events: Vec<i64>,
    phrase: PhraseId,
    alpha: Option<Value>,
    locals: Vec<(Sym, Value)>,
    /// The values of the system variables that the dfn has changed.
    system: Vec<(&'static Row, Array)>,
    /// A chain of them is bounded by memory alone.
    _held: Charge,
}

impl Handler {
    /// The call is over; what the record held of its names must not keep them.
    fn leave(self) {
        let frame = self.frame.clone();
        drop(self);
        frame.leave();
    }
}

impl Eval<'_> {
    /// The rest of the dfn stands under a guard.
    pub fn guard(&mut self, frame: &Rc<Frame>, events: Vec<i64>, phrase: PhraseId) -> Result<()> {
        self.cx.unframed("an error guard")?;
        // What was written before the guard fails outside of it.
        self.cx.settle(&[], "guard")?;
        let (alpha, locals) = (frame.alpha.borrow().clone(), frame.locals.borrow().clone());
        let rows: Vec<_> = frame.saved.borrow().iter().map(|(row, _)| *row).collect();
        let system = rows
            .into_iter()
            .map(|row| Ok((row, self.system_value(row)?)))
            .collect::<Result<Vec<_>>>()?;
        self.cx.sys.tape.guard(true);
        let slots = events.len() + locals.len() + system.len();
        let bytes = size_of::<Handler>() + size_of::<Frame>() + slots * size_of::<(Sym, Value)>();
        let held = self.cx.budget().charge(bytes as u64)?;
        self.st.handlers.push(Handler {
            frame: frame.clone(),
            events,
            phrase,
            alpha,
            locals,
            system,
            _held: held,
        });
        Ok(())
    }

    fn next_handler(&mut self, base: usize) -> Option<Handler> {
        if self.st.handlers.len() <= base {
            return None;
        }
        self.st.handlers.pop()
    }

    /// Takes guards away until so many are left.
    pub fn unguarded(&mut self, base: usize) {
        while let Some(h) = self.next_handler(base) {
            h.leave();
        }
    }

    /// The latest guard above `base` that catches an error, taken away with all after it.
    fn catcher(&mut self, base: usize, e: &Error) -> Option<Handler> {
        while let Some(h) = self.next_handler(base) {
            if catches(&h.events, e) {
                return Some(h);
            }
            h.leave();
        }
        None
    }

    /// The outcome that a guard above `base` makes of an error; `told` gets what ⎕DMX told before,
    /// to be set back when the call ends.
    pub fn caught(
        &mut self,
        base: usize,
        e: Error,
        told: &mut Option<Option<Rc<Error>>>,
    ) -> Result<Outcome> {
        let Some(h) = self.catcher(base, &e) else { return Err(e) };
        self.cx.sys.tape.take_checks();
        let before = self.cx.sys.error.replace(Rc::new(e));
        told.get_or_insert(before);
        let outcome = self.within(&h.frame, base, |ev, at| {
            *h.frame.alpha.borrow_mut() = h.alpha;
            *h.frame.locals.borrow_mut() = h.locals;
            for (row, value) in &h.system {
                ev.set_system(at, row, value)?;
            }
            let (outcome, _) = ev.phrase(at, h.phrase, true)?;
            ev.checked()?;
            let outcome = Ok(outcome);
            ev.carry(&h.frame, &outcome);
            outcome
        });
        h.frame.leave();
        outcome
    }

    /// Runs in a dfn's scope; guards above `base` are the call's own. System variables it changes
    /// get their values back.
    pub fn within<T>(
        &mut self,
        frame: &Rc<Frame>,
        base: usize,
        run: impl FnOnce(&mut Self, At<'_>) -> Result<T>,
    ) -> Result<T> {
        let outer = self.st.frame.replace(frame.clone());
        self.go_to(&frame.closure.home);
        let mut done = run(self, At { ast: &frame.closure.ast, frame: Some(frame) });
        if self.st.handlers.len() > base {
            if done.is_ok()
                && let Err(e) = self.cx.close()
            {
                done = Err(e);
            }
            // While ⎕IO is still what the cells were recorded with.
            done = done.map_err(|e| self.earliest(e));
        }
        self.st.frame = outer;
        for (row, old) in frame.saved.borrow_mut().drain(..).rev() {
            row.set(&mut self.cx, &old)?;
        }
        done
    }
}

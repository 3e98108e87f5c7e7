//! Expressions that commands speak of: they are statements of the session, so their names, effects
//! and output stay.

use super::Session;
use super::mode::Spent;
use super::world::World;
use aplomb_ground::error::{Error, value};
use aplomb_ground::protocol::Sink;
use aplomb_ground::span::{Place, Source, Span};
use aplomb_ground::trace::Trace;
use aplomb_language::eval::Interp;
use aplomb_language::eval::host::Host;
use aplomb_values::array::{Array, format};
use std::sync::Arc;
use std::time::Instant;

/// All that is read of a text.
fn whole(source: &Source) -> Span {
    let (own, first) = source.own();
    Span::new(first, first + own.chars().count() as u32)
}

/// Runs a text whose last value is wanted, also where a name keeps it.
pub(super) fn computed(
    interp: &mut Interp,
    source: &Arc<Source>,
    world: &mut World<'_>,
) -> Result<(), Error> {
    if let Some(value) = interp.eval_value(source, world)? {
        let value = interp.ready(&value, "display", world)?;
        let style = interp.style(world.limits().lines);
        world.show(&value, "", &style);
    }
    Ok(())
}

impl Session {
    /// The text of an expression, with its place in the command that was typed.
    pub(super) fn source_of(&self, text: &str) -> Arc<Source> {
        let typed = self.typed.as_ref();
        let found = typed.and_then(|(name, place)| Some(place.within(text)?.of(name)));
        match found {
            Some(found) => found,
            None => Source::new("line", text),
        }
    }

    /// The trace of a text that runs with everything recorded. Its values are shown where `shows`.
    pub fn trace_run(
        &mut self,
        text: &str,
        shows: bool,
        sink: &mut dyn Sink,
    ) -> Result<Trace, Error> {
        let source = self.source_of(text);
        self.telling(|session| {
            session.apart(|session| {
                match shows {
                    true => session.run_text(source, false, sink)?,
                    false => session.run_as(source, true, sink, computed)?,
                }
                Ok(World::new(&mut session.core, None, true).take_trace(&session.interp))
            })
        })
    }

    /// Runs a text as a statement whose value is not shown: names, effects and output stay, and a
    /// name may go on waiting for its value.
    pub fn quiet_run(&mut self, text: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        self.core.begin();
        self.run_text(self.source_of(text), true, sink)
    }

    /// The last value of a text, computed. None: it gives none.
    pub fn value_run(&mut self, text: &str, sink: &mut dyn Sink) -> Result<Option<Array>, Error> {
        self.core.begin();
        let source = self.source_of(text);
        self.interp.set_record_all(false);
        let mut world = World::new(&mut self.core, Some(sink), true);
        let value = self.interp.eval_value(&source, &mut world)?;
        let value = value.map(|a| self.interp.ready(&a, "display", &mut world)).transpose();
        if let Some(code) = self.interp.exit() {
            self.leave(code, sink);
        }
        value
    }

    /// A system function with options, on the value of a text: what it shows is shown. Errors: also
    /// VALUE, where the text gives none; where the text stands.
    pub fn apply_run(
        &mut self,
        function: &str,
        options: &[(&'static str, Array)],
        left: Option<&str>,
        text: &str,
        sink: &mut dyn Sink,
    ) -> Result<Option<Array>, Error> {
        let found = self.value_run(text, sink)?;
        let place = self.source_of(text);
        let place = Place::new(&place, whole(&place));
        let value = found.ok_or_else(|| value("this gives no value").at(&place))?;
        let mut world = World::new(&mut self.core, Some(sink), true);
        let left = left.map(|left| self.interp.text(left, &mut world)).transpose()?;
        let done = self.interp.call_system(function, options, left.as_ref(), &value, &mut world);
        done.map_err(|e| e.at(&place))
    }

    /// Shows a value as a statement does. Errors: WS FULL, INTERRUPT.
    pub fn show_value(&mut self, value: &Array, sink: &mut dyn Sink) -> Result<(), Error> {
        let style = self.style();
        let text = format::display(value, &style, &self.core.budget)?;
        World::new(&mut self.core, Some(sink), false).print(value, &text, &style);
        Ok(())
    }

    /// The cost of a whole text, its last value computed, also where a name keeps it.
    pub fn time_run(
        &mut self,
        text: &str,
        shows: bool,
        sink: &mut dyn Sink,
    ) -> Result<Spent, Error> {
        self.core.begin();
        self.core.sum = Spent::default();
        let begun = Instant::now();
        match shows {
            true => self.run_text(self.source_of(text), false, sink)?,
            // It is the last line then, so that `]why` speaks of the same run.
            false => {
                self.interp.set_record_all(false);
                self.run_as(self.source_of(text), true, sink, computed)?;
            }
        }
        let all = self.core.sum.and(&self.core.spent);
        Ok(Spent { wall_ms: begun.elapsed().as_secs_f64() * 1e3, ..all })
    }
}

//! Expressions that commands speak of: they are statements of the session, so their names, effects
//! and output stay.

use super::Session;
use super::mode::Spent;
use super::world::World;
use aplomb_ground::error::Error;
use aplomb_ground::protocol::Sink;
use aplomb_ground::span::Source;
use aplomb_ground::trace::Trace;
use aplomb_language::eval::Interp;
use aplomb_language::eval::host::Host;
use aplomb_values::array::Array;
use std::sync::Arc;
use std::time::Instant;

/// Runs a text whose last value is wanted, also where a name keeps it.
fn computed(interp: &mut Interp, source: &Arc<Source>, world: &mut World<'_>) -> Result<(), Error> {
    if let Some(value) = interp.eval_value(source, world)? {
        let value = interp.ready(&value, "display", world)?;
        let style = interp.style(world.limits().lines);
        world.show(&value, "", &style);
    }
    Ok(())
}

impl Session {
    /// The trace of a text that runs with everything recorded. Its values are shown where `shows`.
    pub fn trace_run(
        &mut self,
        text: &str,
        shows: bool,
        sink: &mut dyn Sink,
    ) -> Result<Trace, Error> {
        let source = Source::new("line", text);
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

    /// The last value of a text, computed. None: it gives none.
    pub fn value_run(&mut self, text: &str, sink: &mut dyn Sink) -> Result<Option<Array>, Error> {
        self.core.begin();
        let source = Source::new("line", text);
        self.interp.set_record_all(false);
        let mut world = World::new(&mut self.core, Some(sink), true);
        let value = self.interp.eval_value(&source, &mut world)?;
        let value = value.map(|a| self.interp.ready(&a, "display", &mut world)).transpose();
        if let Some(code) = self.interp.exit() {
            self.leave(code, sink);
        }
        value
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
            true => self.run_text(Source::new("line", text), false, sink)?,
            // It is the last line then, so that `]why` speaks of the same run.
            false => {
                self.interp.set_record_all(false);
                self.run_as(Source::new("line", text), true, sink, computed)?;
            }
        }
        let all = self.core.sum.and(&self.core.spent);
        Ok(Spent { wall_ms: begun.elapsed().as_secs_f64() * 1e3, ..all })
    }
}

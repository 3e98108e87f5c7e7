//! A text told as traces: it runs as if for the first time, and nothing of the session is changed by it.

use super::world::World;
use super::{Session, failure};
use aplomb_lang::error::{Result, domain};
use aplomb_lang::pass::Options;
use aplomb_lang::protocol::{Event, Sink, Switches};

impl Session {
    /// The last text that gave a value.
    pub fn last_text(&self) -> Option<String> {
        self.last.as_ref().map(|l| l.text.text.to_string())
    }

    /// Runs a text under these switches with everything recorded, and tells a trace for each statement that gave a value.
    /// Names, system variables, switches and the line that `]why` speaks of are then as they were; files and what was
    /// printed are not.
    pub(super) fn tell(&mut self, code: &str, name: &str, switches: Option<Switches>, sink: &mut dyn Sink) {
        let (names, options) = (self.interp.snapshot(), self.core.options().clone());
        let (last, earlier, spent) = (self.last.take(), self.earlier.take(), self.spent);
        let was = self.core.set_tracing(true);
        self.core.begin();
        self.core.take_traces();
        World::new(&mut self.core, None, true).take_trace();
        self.loading = 0;
        let chosen = switches.map_or(Ok(()), |s| choose(self.core.options(), &s));
        let done = chosen.and_then(|()| self.run_pieces(code, name, false, sink));
        let mut traces = self.core.take_traces();
        if let Err(error) = done {
            sink.event(Event::Error(failure(&self.core.settle(error))));
            // What was compiled before it failed is a story too.
            let begun = World::new(&mut self.core, None, true).take_trace();
            traces.extend(Some(begun).filter(|t| !t.segments.is_empty()));
        }
        for trace in traces {
            sink.event(Event::Trace(Box::new(trace)));
        }
        self.interp.restore(&names);
        (self.last, self.earlier, self.spent) = (last, earlier, spent);
        // A text that leaves ends itself only.
        self.exit = None;
        *self.core.options() = options;
        self.core.set_tracing(was);
    }
}

/// Errors: no pipeline or switch of that name.
fn choose(options: &mut Options, wanted: &Switches) -> Result<()> {
    let mut set = || {
        for name in options.off() {
            options.switch(name, true)?;
        }
        options.take(if wanted.preset.is_empty() { "all" } else { &wanted.preset })?;
        wanted.off.iter().try_for_each(|name| options.switch(name, false))
    };
    set().map_err(|says: String| domain(says))
}

//! A text told as traces: it runs as if for the first time, and nothing of the session is changed
//! by it.

use super::mode::Mode;
use super::world::World;
use super::{Class, Last, OLDER, Older, Session, failure};
use aplomb_compiler::pass::Options;
use aplomb_ground::error::{Result, domain, value};
use aplomb_ground::protocol::{Event, Sink, Switches};
use aplomb_ground::trace::{Diagnostic, ResultRecord, Trace};

impl Session {
    /// The last text that gave a value.
    pub fn last_text(&self) -> Option<String> {
        self.last.as_ref().map(|l| l.text.alone())
    }

    /// Name and text of the last line that gave a value.
    pub fn last_source(&self) -> Option<(String, String)> {
        self.last.as_ref().map(|l| (l.text.name.clone(), l.text.alone()))
    }

    /// The last line that gave a value: its plan, or, under other switches, what it forced run
    /// again; if all of it was small, the line runs. The trace's result is the line's own if all
    /// values are equal.
    pub(super) fn again(&mut self, switches: Option<&Switches>) -> Result<Trace> {
        let mut last = self.last.take().ok_or_else(|| value("no line has done any work yet"))?;
        let told = self.telling(|session| session.tell_again(&mut last, switches));
        self.last = Some(last);
        told
    }

    /// The story of the last line that worked; it says whose it is where the last line of all had
    /// none. Errors: VALUE, where no line has.
    pub(super) fn trace_last(&mut self) -> Result<Trace> {
        match self.last.take() {
            None => Err(value("no line has done any work yet")
                .hint("]dag 2×⍳5 (a name that waits for its value is told by ]why name)")),
            Some(last) => {
                let trace = self.trace_line(&last);
                let text = last.text.own().0.trim().to_string();
                self.last = Some(last);
                let idle = self.idle;
                trace.map(|mut trace| {
                    if idle {
                        let text =
                            format!("the line after it had nothing to tell: this is of {text}");
                        let code = "W-earlier".into();
                        trace.diagnostics.push(Diagnostic { code, text, ..Diagnostic::default() });
                    }
                    trace
                })
            }
        }
    }

    /// Keeps a line that another has displaced, where there is room for what it stood on.
    pub(super) fn remember(&mut self, line: Option<Last>, roomy: bool) {
        if !roomy || !self.core.remembers {
            self.older.clear();
            return;
        }
        let older =
            |Last { text, said, before, options, .. }| Older { text, said, before, options };
        self.older.extend(line.map(older));
        if self.older.len() > OLDER {
            self.older.pop_front();
        }
    }

    /// Tells a line that ran under a name once more, under other switches: the last of that name
    /// that gave `said`, or else the last of that name. False: it is not kept any more.
    pub fn story_of(
        &mut self,
        name: &str,
        said: &str,
        switches: Option<&Switches>,
        sink: &mut dyn Sink,
    ) -> bool {
        let Some(place) = self.place_of(name, said) else { return false };
        self.protected(sink, |session, sink| match session.again_at(place, switches) {
            Ok(trace) => sink.event(Event::Trace(Box::new(trace))),
            Err(error) => sink.event(Event::Error(failure(&session.core.settle(error)))),
        });
        true
    }

    /// The place of a line, 0 for the last.
    fn place_of(&self, name: &str, said: &str) -> Option<usize> {
        let near = [&self.last, &self.earlier].into_iter();
        let near = near.map(|line| line.as_ref().map(|l| (&l.text.name, &l.said)));
        let older = self.older.iter().rev().map(|l| Some((&l.text.name, &l.said)));
        let all: Vec<_> = near.chain(older).collect();
        let named = |line: &Option<(&String, &String)>| line.is_some_and(|l| l.0 == name);
        let exact =
            |line: &Option<(&String, &String)>| named(line) && line.is_some_and(|l| l.1 == said);
        all.iter().position(exact).or_else(|| all.iter().position(named))
    }

    fn again_at(&mut self, place: usize, switches: Option<&Switches>) -> Result<Trace> {
        match place {
            0 => self.again(switches),
            1 => {
                std::mem::swap(&mut self.last, &mut self.earlier);
                let told = self.again(switches);
                std::mem::swap(&mut self.last, &mut self.earlier);
                told
            }
            _ => {
                let line = self.older.iter().rev().nth(place - 2);
                let line = line.ok_or_else(|| value("that line is not kept any more"))?;
                let (text, before) = (line.text.clone(), line.before.clone());
                let options = line.options.clone();
                self.telling(|session| {
                    *session.core.options() = options;
                    session.core.options().trace = true;
                    switches.map_or(Ok(()), |wanted| choose(session.core.options(), wanted))?;
                    Ok(session.runs_again(text, Some(before))?.tell())
                })
            }
        }
    }

    fn tell_again(&mut self, last: &mut Last, switches: Option<&Switches>) -> Result<Trace> {
        *self.core.options() = last.options.clone();
        self.core.options().trace = true;
        let Some(wanted) = switches else {
            let mode = Mode { planning: true, ..self.core.mode() };
            return self
                .looking(mode, |session| session.trace_line(last))
                .map(|trace| Trace { result: trace.result.or(last.result.clone()), ..trace });
        };
        if last.forced.is_empty() || !last.is_whole() {
            choose(self.core.options(), wanted)?;
            let kept = self.runs_again(last.text.clone(), Some(last.before.clone()))?;
            return Ok(kept.tell());
        }
        let own = match last.values {
            Some(own) => own,
            None => *last.values.insert(self.story_forced(last, true)?.1),
        };
        choose(self.core.options(), wanted)?;
        let (story, values) = self.story_forced(last, true)?;
        let differs = |own: ResultRecord| ResultRecord { sha: format!("fnv:{values:016x}"), ..own };
        let result =
            last.result.clone().map(|result| if own == values { result } else { differs(result) });
        Ok(Trace { result, ..story.tell() })
    }

    /// Runs a text under these switches with everything recorded, and tells a trace for each
    /// statement that gave a value or had work done. Names, system variables, switches and the line
    /// that `]why` speaks of are then as they were; files and what was printed are not.
    pub(super) fn tell(
        &mut self,
        code: &str,
        name: &str,
        switches: Option<Switches>,
        sink: &mut dyn Sink,
    ) {
        self.aside(|session| session.tell_here(code, name, switches, sink));
    }

    /// Tells a text that runs aside and without effects, and gives the arrays that its names hold
    /// behind it, however it ended: names, each with shape and type.
    pub fn names_after(
        &mut self,
        code: &str,
        name: &str,
        sink: &mut dyn Sink,
    ) -> Vec<(String, String)> {
        let mut found = Vec::new();
        self.protected(sink, |session, sink| {
            let mode = Mode { holding: true, each: true, ..session.core.mode() };
            let own = |session: &mut Session| {
                session.tell_here(code, name, None, sink);
                let arrays = session.interp.names().into_iter().filter(|n| n.class == Class::Array);
                found.extend(arrays.map(|n| (n.name, n.says)));
            };
            session.looking(mode, |session| session.aside(own));
        });
        found
    }

    fn tell_here(
        &mut self,
        code: &str,
        name: &str,
        switches: Option<Switches>,
        sink: &mut dyn Sink,
    ) {
        let (last, earlier, spent) = (self.last.take(), self.earlier.take(), self.spent);
        self.telling(|session| session.tell_pieces(code, name, switches, sink));
        (self.last, self.earlier, self.spent) = (last, earlier, spent);
        // A text that leaves ends itself only.
        self.exit = None;
    }

    fn tell_pieces(
        &mut self,
        code: &str,
        name: &str,
        switches: Option<Switches>,
        sink: &mut dyn Sink,
    ) {
        self.core.begin();
        self.core.forget_stories();
        self.loading = 0;
        let chosen = switches.map_or(Ok(()), |s| choose(self.core.options(), &s));
        let done = chosen.and_then(|()| self.run_pieces(code, name, false, sink));
        let mut traces = match &done {
            Ok(()) => self.core.take_stories(),
            Err(_) => self.core.take_traces(),
        };
        if let Err(error) = done {
            sink.event(Event::Error(failure(&self.core.settle(error))));
            // What was compiled before it failed is a story too.
            let begun = World::new(&mut self.core, None, true).take_trace(&self.interp);
            traces.extend(Some(begun).filter(|t| !t.segments.is_empty()));
        }
        for mut trace in traces {
            self.core.registers.fill(&mut trace);
            sink.event(Event::Trace(Box::new(trace)));
        }
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

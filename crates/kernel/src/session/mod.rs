//! A session: one workspace, one device, requests in, events out.
//!
//! Start at `Session::handle`. Always: every request ends with an idle status, also after a panic;
//! a statement commits or leaves no trace; the interrupt is cleared only here. Not `Send`: a front
//! end keeps it on one thread with a large stack and talks to it through channels (`Worker`).

mod about;
mod again;
mod applied;
mod client;
mod compare;
mod core;
mod example;
mod failed;
mod kept;
mod lines;
mod mode;
mod naming;
mod pages;
mod profile;
mod record;
mod reflexes;
mod registers;
mod repro;
mod shown;
mod stories;
mod story;
mod watchdog;
mod workspace;
mod world;

pub use self::core::Core;
pub use client::{STACK, Worker};
pub use compare::Side;
pub use kept::Story;
pub use mode::{Mode, Spent};
pub use record::result_of;
pub use repro::Reproduction;
pub use stories::Spot;

use aplomb_compiler::pass::Options;
use aplomb_devices::device::{Trial, Wanted};
use aplomb_ground::error::{Error, Kind, internal};
use aplomb_ground::limits::{Interrupt, Limits};
use aplomb_ground::profile::Profile;
use aplomb_ground::protocol::{
    Completion, Event, Failure, MimeBundle, Request, Sink, Status, TEXT,
};
use aplomb_ground::report;
use aplomb_ground::span::Source;
use aplomb_ground::trace::{ResultRecord, Trace};
use aplomb_language::eval::cx::View;
use aplomb_language::eval::value::Value;
use aplomb_language::eval::{Interp, Snapshot, system};
use aplomb_language::syntax;
use aplomb_language::syntax::resolve::Class;
use aplomb_values::array::Array;
use aplomb_values::array::format::Style;
use aplomb_values::dag::Recorded;
use kept::{Forced, Kept, Warning};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use world::World;

/// The `)` and `]` commands of a program. They meet the session here, so that REPL, batch, panes
/// and notebook run the same table.
pub trait Commands {
    /// Runs a line that begins with `)` or `]`. Errors: a sentence.
    fn run(&self, line: &str, session: &mut Session, sink: &mut dyn Sink) -> Result<(), Error>;
    /// The test of a line that begins with `)` or `]`: a command, with words that it knows. Errors:
    /// a sentence.
    fn check(&self, _line: &str) -> Result<(), Error> {
        Ok(())
    }
    /// Commands that begin so; behind a name, the words that may follow it and begin as the last.
    fn complete(&self, start: &str) -> Vec<Completion>;
    /// The help page of a glyph, name, command or word.
    fn help(&self, topic: &str) -> Option<String>;
    /// A command, without its bracket, that sets how results show: what it tells. None: it is no
    /// such command. Errors: a sentence.
    fn setting(&self, _command: &str, _view: &mut View) -> Result<Option<String>, Error> {
        Ok(None)
    }
}

/// The last line that worked or gave a value, and the workspace it ran in.
struct Last {
    text: Arc<Source>,
    /// The last statement of it that had work done, or else that gave a value.
    said: String,
    before: Snapshot,
    /// The evaluations that it forced; empty where its values were ready or small.
    forced: Vec<Forced>,
    /// The device that it wanted.
    device: Wanted,
    /// The warnings that it got.
    warnings: Vec<Warning>,
    /// The switches it ran under.
    options: Options,
    /// The value that it gave, where somebody kept account.
    result: Option<ResultRecord>,
    /// A hash of all values that it forced, once they were compared.
    values: Option<u64>,
    /// The run in which all of it was recorded, once one was told.
    whole: RefCell<Option<again::Whole>>,
}

/// A line that ran some time ago, without what it computed.
struct Older {
    text: Arc<Source>,
    said: String,
    before: Snapshot,
    options: Options,
}

impl Last {
    /// True where all that it forced can run again by itself.
    fn is_whole(&self) -> bool {
        self.forced.iter().all(|forced| forced.is_whole)
    }
}

/// The number of older lines that are kept.
const OLDER: usize = 16;
/// Names whose comments are kept.
const COMMENTED: usize = 10_000;

/// A workspace, its device, and the line that ran last.
pub struct Session {
    interp: Interp,
    core: Core,
    commands: Rc<dyn Commands>,
    last: Option<Last>,
    /// The line before that, to compare.
    earlier: Option<Last>,
    /// Lines before both, to be told again.
    older: VecDeque<Older>,
    /// The comments above definitions, by name.
    comments: HashMap<String, String>,
    spent: Spent,
    /// The line that ran last had no story: `last` is an earlier one.
    idle: bool,
    /// The last request ran into a limit or an interrupt: what it left is not tried once more.
    stopped: bool,
    exit: Option<i32>,
    /// Scripts that run inside each other.
    loading: usize,
    /// The names of the texts that run inside each other.
    running: Vec<String>,
    /// The command that runs, as it was typed: the name of its text, and its place there.
    typed: Option<(String, lines::Part)>,
}

/// Scripts that may load each other.
const DEEPEST: usize = 50;

impl Session {
    /// An empty workspace. `threads`: of the CPU; 0: one for each processor.
    pub fn new(commands: Rc<dyn Commands>, limits: Limits, threads: usize) -> Session {
        let mut core = Core::new(limits, threads);
        core.commands = Some(commands.clone());
        let (last, earlier, spent) = (None, None, Spent::default());
        Session {
            interp: Interp::new(),
            core,
            commands,
            last,
            earlier,
            older: VecDeque::new(),
            comments: HashMap::new(),
            spent,
            idle: false,
            stopped: false,
            exit: None,
            loading: 0,
            running: Vec::new(),
            typed: None,
        }
    }

    /// The flag that another thread or a signal handler may set.
    pub fn interrupt(&self) -> Interrupt {
        self.core.interrupt.clone()
    }

    /// The device, the limits and the records of the session.
    pub fn core(&mut self) -> &mut Core {
        &mut self.core
    }

    /// The workspace.
    pub fn interp(&mut self) -> &mut Interp {
        &mut self.interp
    }

    /// The style in which its values print.
    pub fn style(&self) -> Style {
        self.interp.style(self.core.limits.lines)
    }

    /// The table of commands.
    pub fn commands(&self) -> Rc<dyn Commands> {
        self.commands.clone()
    }

    /// The cost of the last text that ran.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// The exit code once the program asked to leave.
    pub fn exit(&self) -> Option<i32> {
        self.exit
    }

    /// A step of what can be made ready while nobody asks for anything (`Pool::rest`). False: there
    /// is nothing to do.
    pub fn rest(&self) -> bool {
        self.core.device.cpu.pool().rest()
    }

    /// A clear workspace; device, limits and switches stay.
    pub fn restart(&mut self) {
        self.interp.clear();
        self.core.plans().clear();
        self.last = None;
        self.earlier = None;
        self.older.clear();
    }

    /// Leaves: the front end ends with this code.
    pub fn leave(&mut self, code: i32, sink: &mut dyn Sink) {
        self.exit = Some(code);
        sink.event(Event::Exit(code));
    }

    /// One request. A panic in it becomes INTERNAL ERROR; the next request works.
    pub fn handle(&mut self, request: Request, sink: &mut dyn Sink) {
        self.protected(sink, |session, sink| session.answer(request, sink));
    }

    /// A program is over: what it wrote that may fail, and that nobody has looked at, is computed.
    pub fn finish(&mut self, sink: &mut dyn Sink) {
        if self.exit.is_some() || self.stopped {
            return;
        }
        self.protected(sink, |session, sink| {
            session.core.begin();
            if let Err(error) = session.look_back(sink) {
                sink.event(Event::Error(failure(&session.core.settle(error))));
            }
        });
    }

    /// Runs with the workspace, and leaves it as it is, also where a defect ends it.
    fn aside<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let now = self.interp.snapshot();
        let done = catch_unwind(AssertUnwindSafe(|| run(self)));
        self.interp.restore(&now);
        done.unwrap_or_else(|bug| resume_unwind(bug))
    }

    /// Computes what was written and may fail, and nobody has looked at. Errors: the first that
    /// does.
    pub fn look_back(&mut self, sink: &mut dyn Sink) -> Result<(), Error> {
        self.interp.finish(&mut World::new(&mut self.core, Some(sink), true))
    }

    fn protected(&mut self, sink: &mut dyn Sink, work: impl FnOnce(&mut Self, &mut dyn Sink)) {
        self.core.interrupt.clear();
        sink.event(Event::Status(Status::Busy));
        let (mode, options) = (self.core.mode(), self.core.options().clone());
        let done = catch_unwind(AssertUnwindSafe(|| work(self, &mut *sink)));
        if let Err(bug) = done {
            *self.core.options() = options;
            self.core.set_mode(mode);
            self.core.profile = None;
            let error = internal(format!("a defect of Aplomb ended this line: {}", message(&*bug)));
            sink.event(Event::Error(failure(&error)));
        }
        self.core.end();
        sink.event(Event::Status(Status::Idle));
    }

    fn answer(&mut self, request: Request, sink: &mut dyn Sink) {
        match request {
            Request::Execute { code, name, silent } => self.execute(&code, &name, silent, sink),
            Request::Complete { code, cursor } => sink.event(self.complete(&code, cursor)),
            Request::Inspect { code, cursor } => {
                let (word, _, _) = lines::word_at(&code, cursor);
                sink.event(Event::Inspection(self.inspect(&word)));
            }
            Request::IsComplete { code } => {
                sink.event(Event::IsComplete(lines::completeness(&code)))
            }
            Request::Trace { code, name, switches, effects } => {
                let mode = Mode { holding: !effects, each: true, ..self.core.mode() };
                self.looking(mode, |session| session.tell(&code, &name, switches, sink));
            }
            Request::Again { switches } => match self.again(switches.as_ref()) {
                Ok(trace) => sink.event(Event::Trace(Box::new(trace))),
                Err(error) => sink.event(Event::Error(failure(&self.core.settle(error)))),
            },
            Request::Restart => self.restart(),
            Request::Info => {
                let pairs = [
                    ("version", env!("CARGO_PKG_VERSION").into()),
                    ("device", self.core.device_name()),
                ];
                sink.event(Event::Info(
                    pairs.into_iter().map(|(k, v)| (k.to_string(), v)).collect(),
                ));
            }
        }
    }

    /// The lines of a file, commands among them, in this workspace. Errors: the first.
    pub fn run_script(&mut self, text: &str, name: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        self.loading += 1;
        let done = if self.loading > DEEPEST {
            Err(aplomb_ground::error::limit(format!(
                "scripts load each other more than {DEEPEST} deep"
            )))
        } else {
            self.run_pieces(text, name, false, sink).and_then(|()| self.look_back(sink))
        };
        self.loading -= 1;
        done
    }

    fn run_pieces(
        &mut self,
        code: &str,
        name: &str,
        silent: bool,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        self.running.push(name.into());
        let done = self.each_piece(code, name, silent, sink);
        self.running.pop();
        done
    }

    fn each_piece(
        &mut self,
        code: &str,
        name: &str,
        silent: bool,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        for piece in lines::pieces(&code.into()) {
            match piece {
                lines::Piece::Command(line, place) => {
                    let commands = self.commands.clone();
                    if let Some(profile) = &mut self.core.profile {
                        profile.commands(&place.place(name));
                    }
                    let around = self.typed.replace((name.into(), place));
                    let done = commands.run(&line, self, sink);
                    self.typed = around;
                    done?;
                }
                lines::Piece::Code(part) => self.run_text(part.of(name), silent, sink)?,
            }
            if self.exit.is_some() {
                break;
            }
        }
        Ok(())
    }

    fn execute(&mut self, code: &str, name: &str, silent: bool, sink: &mut dyn Sink) {
        self.core.begin();
        // Traces that nobody took do not pile up.
        self.core.forget_stories();
        self.loading = 0;
        self.running.clear();
        self.stopped = false;
        if let Err(error) = self.run_pieces(code, name, silent, sink) {
            let error = self.core.settle(error);
            self.stopped = matches!(error.kind(), Kind::Interrupt | Kind::Limit);
            let error = reflexes::hinted(error, |name| self.interp.get(name).is_none());
            sink.event(Event::Error(failure(&error)));
        }
    }

    fn run_text(
        &mut self,
        source: Arc<Source>,
        silent: bool,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        self.run_as(source, silent, sink, |interp, source, world| interp.execute(source, world))
    }

    /// Runs a text by `run`, and keeps what it gave as the last line.
    fn run_as(
        &mut self,
        source: Arc<Source>,
        silent: bool,
        sink: &mut dyn Sink,
        run: impl FnOnce(&mut Interp, &Arc<Source>, &mut World<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let before = self.interp.snapshot();
        if self.comments.len() < COMMENTED {
            self.comments.extend(lines::comments(source.own().0));
        }
        self.interp.set_record_all(self.core.mode().whole);
        let begun = Instant::now();
        (self.core.sum, self.core.spent) = Default::default();
        let mut world = World::new(&mut self.core, Some(sink), silent);
        let done = run(&mut self.interp, &source, &mut world);
        let has_story = world.has_story();
        self.idle = !has_story;
        // Whatever ran last is what took the time, also what failed.
        let wall_ms = begun.elapsed().as_secs_f64() * 1e3;
        self.spent = Spent { wall_ms, ..self.core.sum.and(&self.core.spent) };
        if has_story {
            let (forced, warnings) = (self.core.take_forced(), self.core.warned());
            self.core.name_inputs(&self.interp);
            let options = self.core.options().clone();
            // What two lines hold is held twice: not where memory is short.
            let roomy = self.core.budget.free() > self.core.budget.used();
            let displaced = std::mem::replace(&mut self.earlier, self.last.take());
            self.earlier.take_if(|_| !roomy);
            self.remember(displaced, roomy);
            let (said, result) = (self.core.said.clone(), self.core.last_result());
            let device = self.core.devices().wanted();
            let (values, whole) = Default::default();
            self.last = Some(Last {
                text: source,
                said,
                before,
                forced,
                device,
                warnings,
                options,
                result,
                values,
                whole,
            });
        }
        if let Some(code) = self.interp.exit() {
            self.leave(code, sink);
        }
        done
    }

    /// The trace of an expression, or of the last line that gave a value. What that line forced is
    /// told from the record of its run, and runs again only under other switches or on another
    /// device; if all of it was small, the line itself runs, with everything recorded. The
    /// workspace is left alone, and so are files.
    pub fn trace_of(&mut self, text: Option<&str>) -> Result<Trace, Error> {
        self.telling(|session| match text {
            Some(text) => {
                let kept = session.runs_again(session.source_of(text), None)?;
                Ok(kept.tell())
            }
            None => session.trace_last(),
        })
    }

    /// Runs in another way; then mode and options are again what they were.
    fn looking<T>(&mut self, mode: Mode, run: impl FnOnce(&mut Self) -> T) -> T {
        let (before, options) = (self.core.mode(), self.core.options().clone());
        self.core.set_mode(mode);
        let done = run(self);
        *self.core.options() = options;
        self.core.set_mode(before);
        done
    }

    /// Runs with everything recorded and told.
    fn telling<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.looking(self.core.mode().telling(), run)
    }

    /// A run whose stories are its own, one for each statement that worked: those told so far wait,
    /// and are there again afterwards.
    fn apart<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.core.begin();
        let earlier = self.core.set_kept_aside();
        let each = Mode { each: true, ..self.core.mode() };
        let done = self.looking(each, run);
        self.core.take_forced();
        self.core.set_kept(earlier);
        done
    }

    /// The story of what a line forced, and a hash of the values if they are `compared`.
    fn story_forced(&mut self, line: &Last, compared: bool) -> Result<(Kept, u64), Error> {
        self.core.begin();
        let runs = !self.core.mode().planning;
        let known = runs && !compared && self.ran_so(line);
        let mut world = World::new(&mut self.core, None, true);
        world.start(&line.said);
        world.warn_again(&line.warnings);
        let mut values = record::Sum::default();
        for Forced { recorded, run, .. } in &line.forced {
            if let Some(run) = run.as_ref().filter(|_| known) {
                world.note(recorded, run.clone());
                continue;
            }
            match world.tell(recorded, runs) {
                // What a device had no result for was computed on the host; the plan that found it
                // is the story.
                Err(e) if e.on_host().is_some() => {}
                told => told?.iter().filter(|_| compared).for_each(|value| values.add(value)),
            }
        }
        Ok((world.take_story(&self.interp), values.0))
    }

    /// Whether a line ran as it would run now.
    fn ran_so(&mut self, line: &Last) -> bool {
        let (mut now, mut was) = (self.core.options().clone(), line.options.clone());
        (now.limits, was.trace) = (self.core.limits.launch, now.trace);
        was == now && line.device == self.core.devices().wanted() && !self.core.mode().measuring
    }

    /// The trace of an expression, or of the last line, for its plan alone: what need not run does
    /// not.
    pub fn plan_of(&mut self, text: Option<&str>) -> Result<Trace, Error> {
        let mode = Mode { planning: true, ..self.core.mode() };
        self.looking(mode, |session| session.trace_of(text))
    }

    /// Tunes the launches of an expression, or of the last line: what was tried, and its trace. The
    /// workspace is left alone. None was tried where launches run on the CPU, or tuning is off.
    pub fn tune(&mut self, text: Option<&str>) -> Result<(Vec<Trial>, Trace), Error> {
        self.core.devices().take_trials();
        let mode = Mode { measuring: true, ..self.core.mode() };
        let trace = self.looking(mode, |session| session.trace_of(text));
        let trials = self.core.devices().take_trials();
        trace.map(|trace| (trials, trace))
    }

    /// Runs a text whose launches are tuned as they come; each is measured once.
    pub fn tune_program(&mut self, request: Request, sink: &mut dyn Sink) -> Vec<Trial> {
        self.core.devices().take_trials();
        let mode = Mode { measuring: true, ..self.core.mode() };
        self.looking(mode, |session| session.handle(request, sink));
        self.core.devices().take_trials()
    }

    /// Runs a text aside, with all of it recorded.
    fn runs_again(&mut self, source: Arc<Source>, before: Option<Snapshot>) -> Result<Kept, Error> {
        self.aside(|session| {
            if let Some(before) = &before {
                session.interp.restore(before);
            }
            session.interp.set_record_all(true);
            session.apart(|session| {
                let named = before.is_none();
                let mut world = World::new(&mut session.core, None, true);
                match named {
                    // What is asked about is computed, also where a name keeps it.
                    true => about::computed(&mut session.interp, &source, &mut world)?,
                    false => session.interp.execute(&source, &mut world)?,
                }
                Ok(world.take_story(&session.interp))
            })
        })
    }

    /// The trace of a text whose last value is compiled and not computed (`--no-run`): `meas` is
    /// null there. What fixes shapes and decides guards on the way is computed. The workspace is
    /// left alone. Errors: the text's own; VALUE ERROR where no statement gives a value at the end.
    pub fn trace_unrun(&mut self, source: Arc<Source>) -> Result<Trace, Error> {
        self.telling(|session| {
            let trace = session.aside(|session| {
                session.core.begin();
                session.interp.set_record_all(true);
                session.unrun(source)
            });
            session.core.take_forced();
            trace
        })
    }

    fn unrun(&mut self, source: Arc<Source>) -> Result<Trace, Error> {
        let mut world = World::new(&mut self.core, None, true);
        let value = self.interp.eval_value(&source, &mut world)?;
        let none = || {
            aplomb_ground::error::value(
                "the last statement gives no value, so there is nothing to compile",
            )
        };
        let value = value.ok_or_else(none)?;
        let mut world = world.dry();
        // Nothing is computed, but what would be is known then.
        let _ = self.interp.ready(&value, "display", &mut world);
        if let Some(forced) = self.core.take_forced().pop() {
            World::new(&mut self.core, None, true).tell(&forced.recorded, false)?;
        }
        Ok(World::new(&mut self.core, None, true).take_trace(&self.interp))
    }

    /// An expression's value, computed, the workspace left alone.
    pub fn value_of(&mut self, text: &str) -> Result<Option<Array>, Error> {
        self.aside(|session| {
            let source = session.source_of(text);
            let mut world = World::new(&mut session.core, None, true);
            match session.interp.eval_value(&source, &mut world) {
                Ok(Some(a)) => session.interp.ready(&a, "display", &mut world).map(Some),
                other => other,
            }
        })
    }

    /// Runs a text, then computes some of its names in one evaluation; the workspace is left alone.
    /// For benchmarks.
    pub fn values_of(&mut self, text: &str, names: &[&str]) -> Result<Vec<Array>, Error> {
        self.run_for(text, names, false)
    }

    /// The graph that `values_of` would compile; where all is so small that nothing would wait, the
    /// one that a story has of it. The text must not need values before its end.
    pub fn graph_of(&mut self, text: &str, names: &[&str]) -> Result<Rc<Recorded>, Error> {
        let done = self.run_for(text, names, true);
        if let Some(graph) = self.core.take_forced().pop() {
            return Ok(graph.recorded);
        }
        done?;
        self.interp.set_record_all(true);
        let done = self.run_for(text, names, true);
        self.interp.set_record_all(false);
        let graph = self.core.take_forced().pop().map(|graph| graph.recorded);
        graph.ok_or_else(|| done.err().unwrap_or_else(|| internal("nothing was pending")))
    }

    fn run_for(&mut self, text: &str, names: &[&str], dry: bool) -> Result<Vec<Array>, Error> {
        self.aside(|session| {
            session.core.begin();
            let world = World::new(&mut session.core, None, true);
            let mut world = if dry { world.dry() } else { world };
            session.interp.execute(&Source::new("line", text), &mut world)?;
            let found = names.iter().map(|name| match session.interp.get(name) {
                Some(Value::Array(a)) => Ok(a.clone()),
                _ => Err(aplomb_ground::error::value(format!("{name} is no array"))),
            });
            let found: Vec<Array> = found.collect::<Result<_, _>>()?;
            session.interp.force(&found.iter().collect::<Vec<_>>(), "display", &mut world)?;
            Ok(found.iter().map(Array::settled).collect())
        })
    }

    /// Runs something and tells where its time went, line by line. None: a defect ended it.
    pub fn profiled<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Option<Profile>) {
        self.core.profile = Some(profile::Recorder::new());
        let done = run(self);
        (done, self.core.profile.take().map(profile::Recorder::told))
    }

    /// Switches and options that the compiler sees from now on.
    pub fn options(&mut self) -> &mut Options {
        self.core.options()
    }

    fn complete(&self, code: &str, cursor: usize) -> Event {
        let (word, start, end) = lines::word_at(code, cursor);
        let mut items = Vec::new();
        let before: String = code.chars().take(cursor).collect();
        // What is typed with a backtick is asked for wherever it stands.
        let keyed = word.starts_with('`');
        match lines::within(&before) {
            lines::Within::Comment if !keyed => {
                return Event::Completions { start: cursor, end: cursor, items };
            }
            lines::Within::Text(path) if !keyed => {
                let start = before.chars().count() - path.chars().count();
                items = crate::files::beginning(&path, &self.core.reach);
                return Event::Completions { start, end: before.chars().count(), items };
            }
            lines::Within::Command(line) => {
                items = self.commands.complete(&line);
                let last = before.trim_start().rsplit(char::is_whitespace).next();
                let start = before.chars().count() - last.map_or(0, |word| word.chars().count());
                if before.trim_start().starts_with("%%") && !line.contains(char::is_whitespace) {
                    let magic = |c: &mut Completion| c.text = c.text.replacen(']', "%%", 1);
                    items.iter_mut().for_each(magic);
                }
                if !items.is_empty() {
                    return Event::Completions { start, end: end.max(cursor), items };
                }
            }
            _ => {}
        }
        if !word.is_empty() {
            let names = self.interp.names();
            let own = names.into_iter().filter(|n| n.name.starts_with(&word));
            items.extend(own.map(|n| Completion {
                text: n.name,
                kind: kind_of(n.class),
                says: n.says,
            }));
            let capitals = word.to_uppercase();
            let system = system::rows()
                .filter(|r| word.starts_with('⎕') && format!("⎕{}", r.name).starts_with(&capitals));
            items.extend(system.map(|r| Completion {
                text: format!("⎕{}", r.name),
                kind: "system",
                says: r.help.into(),
            }));
            let (glyphs, exact) = lines::glyphs(&word);
            // Glyphs that only begin so would hide that one name completes the word.
            if exact || items.is_empty() {
                items.extend(glyphs);
            }
        }
        Event::Completions { start, end, items }
    }

    fn inspect(&self, word: &str) -> Option<String> {
        let own = self.interp.names().into_iter().find(|n| n.name == word);
        let told = own.map(|n| {
            let comment = self.comments.get(&n.name).filter(|_| n.class != Class::Array);
            let above = comment.map_or(String::new(), |comment| format!("{comment}\n"));
            format!("{above}{} {}", n.name, n.says)
        });
        told.or_else(|| self.commands.help(word))
    }

    /// All syntax errors of a text; nothing is run. Lines of commands are left out.
    pub fn check(&self, source: &Arc<Source>) -> Vec<Error> {
        let check = |piece| match piece {
            lines::Piece::Command(..) => Vec::new(),
            lines::Piece::Code(part) => syntax::check(&part.of(&source.name), &self.core.limits),
        };
        lines::pieces(&source.text).into_iter().flat_map(check).collect()
    }
}

/// The word for a name of this class, as completion has it.
pub fn kind_of(class: Class) -> &'static str {
    match class {
        Class::Array => "variable",
        Class::Func => "function",
        _ => "operator",
    }
}

/// An error as front ends get it.
pub fn failure(error: &Error) -> Failure {
    let parts = error.parts();
    Failure {
        name: error.name(),
        number: error.number(),
        says: parts.says.clone(),
        span: parts.place.as_ref().map(|p| (p.span.start, p.span.end)),
        source: parts.place.as_ref().map_or(String::new(), |p| p.source.name.clone()),
        report: report::render(error, false),
        coloured: report::render(error, true),
    }
}

/// A plain text bundle.
pub fn text(text: impl Into<String>) -> MimeBundle {
    [(TEXT.to_string(), text.into())].into()
}

/// Data of a kind as a bundle. Errors: DOMAIN.
pub fn page(kind: &str, data: &[u8]) -> Result<MimeBundle, Error> {
    shown::of(kind, data)
}

/// Data of a kind as a bundle; `says` for those who see text alone. Errors: DOMAIN.
pub fn shown(kind: &str, data: &[u8], says: &str) -> Result<MimeBundle, Error> {
    let mut bundle = shown::of(kind, data)?;
    bundle.insert(TEXT.to_string(), says.into());
    Ok(bundle)
}

fn message(bug: &(dyn std::any::Any + Send)) -> String {
    let words = bug.downcast_ref::<&str>().map(|s| s.to_string());
    words.or_else(|| bug.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}

//! The parts that every form of the program shares: settings, sessions on a large stack, printing.

use crate::commands::Table;
use aplomb_compiler::pass::Options;
use aplomb_devices::device::Wanted;
use aplomb_ground::limits::{Interrupt, Limits};
use aplomb_ground::protocol::{Event, MimeBundle, Sink, TEXT};
use aplomb_kernel::files::Reach;
use aplomb_kernel::session::{STACK, Session};
use aplomb_plans::plan::{Math, Order};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{BufRead, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::OnceLock;
use std::thread;

/// Exit codes.
pub const FAILED: i32 = 1;
pub const USAGE: i32 = 2;
pub const INTERRUPTED: i32 = 130;

/// Lines of a value that print where nobody scrolls: a mebibyte holds no more.
pub const ALL_LINES: usize = 1 << 19;

/// The settings of the command line for all sessions.
#[derive(Clone)]
pub struct Settings {
    pub threads: usize,
    pub limits: Limits,
    pub off: Vec<String>,
    pub pipeline: Pipeline,
    pub ascii: bool,
    pub reach: Reach,
    pub runs: bool,
    /// The profile is left out.
    pub bare: bool,
    pub device: Wanted,
    /// The math of a GPU.
    pub math: Math,
    pub order: Order,
    /// Numbers are drawn from one seed, so that a run gives what the one before gave.
    pub repeats: bool,
}

/// The choice of passes that run, and of the rules they run by.
#[derive(Clone, Default)]
pub struct Pipeline {
    /// A preset's name; empty: all passes.
    pub preset: String,
    pub strict: bool,
    pub dup_by_cost: bool,
}

impl Pipeline {
    fn set(&self, options: &mut Options) -> Result<(), String> {
        (options.strict, options.dup_by_cost) = (self.strict, self.dup_by_cost);
        if self.preset.is_empty() { Ok(()) } else { options.take(&self.preset) }
    }
}

impl Settings {
    /// Errors: an unknown limit or switch, with the names there are.
    pub fn new(
        threads: Option<usize>,
        limits: &[(String, f64)],
        off: Vec<String>,
        pipeline: Pipeline,
        ascii: bool,
    ) -> Result<Self, String> {
        let mut own =
            Limits { bytes: aplomb_devices::memory::default_budget(), ..Limits::default() };
        if !std::io::stdout().is_terminal() {
            own.lines = ALL_LINES;
        }
        for (name, value) in limits {
            own.set(name, *value)?;
        }
        let mut options = Options::default();
        pipeline.set(&mut options)?;
        off.iter().try_for_each(|name| options.switch(name, false))?;
        let all = || thread::available_parallelism().map_or(1, usize::from);
        Ok(Settings {
            threads: threads.unwrap_or_else(all),
            limits: own,
            off,
            pipeline,
            ascii,
            reach: Reach::All,
            runs: false,
            bare: false,
            device: Wanted::Auto,
            math: Math::default(),
            order: Order::default(),
            repeats: false,
        })
    }

    /// The switches that are off, groups as their members.
    pub fn members(&self) -> Vec<String> {
        let mut options = Options::default();
        self.off.iter().for_each(|name| drop(options.switch(name, false)));
        options.off().into_iter().map(String::from).collect()
    }

    pub fn commands(&self) -> Table {
        Table { ascii: self.ascii, prints: true }
    }

    /// Switches, checked in `new`, that a session starts with.
    pub fn prepare(&self, session: &mut Session) {
        let _ = self.pipeline.set(session.options());
        for name in &self.off {
            let _ = session.options().switch(name, false);
        }
        (session.options().math, session.options().order) = (self.math, self.order);
        session.core().reach = self.reach.clone();
        session.core().runs = self.runs;
        session.core().repeats = self.repeats;
        session.core().devices().want(self.device);
    }

    pub fn session(&self) -> Session {
        let mut session = Session::new(Rc::new(self.commands()), self.limits.clone(), self.threads);
        self.prepare(&mut session);
        session.interp().view().unread = !std::io::stdout().is_terminal();
        session
    }
}

/// Works with a session on a thread that has the stack for it. A thread that cannot be had, or a
/// defect, is exit code 1.
pub fn on_session(
    settings: Settings,
    work: impl FnOnce(&mut Session) -> i32 + Send + 'static,
) -> i32 {
    let run = move || {
        let mut session = settings.session();
        let _ = STOP.set(session.interrupt());
        crate::signals::interrupt_twice_ends(session.interrupt());
        work(&mut session)
    };
    let thread = thread::Builder::new().name("session".into()).stack_size(STACK).spawn(run);
    let done = thread
        .map_err(|e| format!("no thread can be had: {e}"))
        .and_then(|t| t.join().map_err(|_| DEFECT.into()));
    done.unwrap_or_else(|says| {
        eprintln!("aplomb: {says}");
        FAILED
    })
}

const DEFECT: &str = "INTERNAL ERROR: a defect of Aplomb ended the program";

/// The interrupt of the program under way, for those who wait for a reader.
static STOP: OnceLock<Interrupt> = OnceLock::new();

/// Bytes that a pipe takes at once where it takes any (`PIPE_BUF`).
const PART: usize = 4096;

/// Prints and, where the reader is gone, leaves quietly.
pub fn print(text: &str) {
    printed(text);
}

/// The same. False: nobody reads, and an interrupt or the time limit came meanwhile, so the rest is
/// not printed.
fn printed(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    let mut done = out.flush();
    for part in text.as_bytes().chunks(PART) {
        if done.is_err() {
            break;
        }
        if !is_read(&out) {
            return false;
        }
        done = out.write_all(part).and_then(|()| out.flush());
    }
    if let Err(e) = done {
        if e.kind() == ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        eprintln!("aplomb: standard output: {e}");
        std::process::exit(FAILED);
    }
    true
}

/// Waits until standard output takes something. False: somebody stopped the program meanwhile.
fn is_read(out: &impl std::os::fd::AsFd) -> bool {
    const EACH: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    loop {
        let mut fds = [PollFd::new(out, PollFlags::OUT)];
        match poll(&mut fds, Some(&EACH)) {
            Ok(0) | Err(Errno::INTR) => {}
            // What is wrong with it, writing tells.
            _ => return true,
        }
        if STOP.get().is_some_and(Interrupt::is_set) {
            return false;
        }
    }
}

/// On standard error; where nobody reads that, it is lost.
pub fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The plain form of a bundle, ended by a newline.
pub fn plain(bundle: &MimeBundle) -> String {
    let text = bundle.get(TEXT).map_or("", String::as_str);
    if text.is_empty() || text.ends_with('\n') { text.into() } else { format!("{text}\n") }
}

/// A file of what the program remembers from run to run.
pub fn state(file: &str) -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let state =
        set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("aplomb").join(file))
}

/// The terminal's width; None where output is no terminal.
pub fn columns() -> Option<usize> {
    let out = std::io::stdout();
    let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(&out).ok()).flatten()?;
    Some(size.ws_col as usize).filter(|n| *n > 0)
}

/// The columns that sentences may fill.
pub fn width() -> usize {
    columns().unwrap_or(aplomb_viz::why::WIDTH)
}

/// Colours only where a terminal shows them and nobody asked for none.
pub fn colours(to: &impl IsTerminal) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    to.is_terminal() && !set("NO_COLOR") && std::env::var_os("TERM").is_some_and(|t| t != "dumb")
}

/// Prints events: values on standard output, errors on standard error; knows the exit code.
#[derive(Default)]
pub struct Printer {
    code: i32,
    exit: Option<i32>,
    /// Standard output belongs to a document about the program: what that prints goes to standard
    /// error.
    aside: bool,
    /// Somebody stopped the program while nobody read what it printed.
    cut: bool,
}

impl Printer {
    /// For a program of which something else is printed.
    pub fn aside() -> Printer {
        Printer { aside: true, ..Printer::default() }
    }

    fn print(&mut self, text: &str) {
        if self.aside {
            say(text);
        } else if !self.cut && !printed(text) {
            self.cut = true;
            self.code = self.code.max(FAILED);
            say("aplomb: standard output: stopped while nobody read it; the rest is not printed\n");
        }
    }

    /// Of the first error, or what the program asked for.
    pub fn code(&self) -> i32 {
        self.exit.unwrap_or(self.code)
    }

    pub fn is_over(&self) -> bool {
        self.exit.is_some() || self.cut || self.code == INTERRUPTED
    }
}

impl Sink for Printer {
    fn event(&mut self, event: Event) {
        match event {
            Event::Stream(text) => self.print(&text),
            Event::Aside(text) => say(&text),
            Event::Notice(text) => say(&format!("aplomb: {text}\n")),
            Event::Result(bundle) | Event::Display(bundle) | Event::Named { page: bundle, .. } => {
                self.print(&plain(&bundle));
            }
            Event::Error(failure) => {
                let report =
                    if colours(&std::io::stderr()) { &failure.coloured } else { &failure.report };
                say(&format!("{report}\n"));
                let interrupted = failure.number == aplomb_ground::error::Kind::Interrupt.number();
                self.code = if interrupted { INTERRUPTED } else { self.code.max(FAILED) };
            }
            Event::Exit(code) => self.exit = Some(code),
            _ => {}
        }
    }

    /// A line of standard input; what asks for it has printed its prompt.
    fn input(&mut self, _prompt: &str) -> Option<String> {
        let mut line = Vec::new();
        let read = std::io::stdin().lock().read_until(b'\n', &mut line).ok()?;
        let text = String::from_utf8_lossy(&line);
        (read > 0).then(|| text.trim_end_matches(['\n', '\r']).to_string())
    }

    /// Only who types sees it, and a file or a program that reads the values does not.
    fn prompt(&mut self, text: &str) {
        match std::io::stdin().is_terminal() {
            true if std::io::stdout().is_terminal() => self.print(text),
            true => say(text),
            false => {}
        }
    }
}

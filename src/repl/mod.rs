//! The prompt. The only room that knows the line editor; the session runs on its own thread behind
//! two channels.
//!
//! `edit` completes and colours, `keys` are the glyphs behind a backtick, `history` is the file.
//! Always: the terminal is as it was, whatever ends the program; Ctrl-C stops a line and keeps the
//! names.

mod colour;
mod edit;
mod history;
mod keys;
mod terminal;

use crate::front::{FAILED, Settings, colours, plain, print, say};
use crate::script::is_command;
use crate::signals;
use aplomb_ground::error::Kind;
use aplomb_ground::limits::Interrupt;
use aplomb_ground::progress::Looker;
use aplomb_ground::protocol::{Client, Event, Gone, MimeBundle, PANES, PNG, Request, Status};
use aplomb_kernel::session::Worker;
use edit::Edit;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{ColorMode, CompletionType, Config, Editor};
use std::cell::RefCell;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};
use terminal::{draws, kitty};

/// Six blanks, as APL has it.
const PROMPT: &str = "      ";

type Reader = Editor<Edit, FileHistory>;

/// Runs until Ctrl-D, `)off` or a signal; the exit code.
pub fn run(settings: Settings) -> i32 {
    prompt(settings).unwrap_or_else(|says| {
        eprintln!("aplomb: {says}");
        FAILED
    })
}

fn prompt(settings: Settings) -> Result<i32, String> {
    let commands = settings.commands();
    let own = settings.clone();
    let bare = settings.bare;
    let worker = Worker::start(
        move || Rc::new(commands),
        settings.limits,
        settings.threads,
        move |s| {
            own.prepare(s);
            (s.core().coloured, s.core().pictures) = (colours(&std::io::stdout()), draws());
        },
    );
    let worker = worker.map_err(|e| format!("no thread can be had: {e}"))?;
    signals::interrupt_keeps(worker.interrupt(), restorer());
    let worker = Rc::new(RefCell::new(worker));
    let mut reader = reader(&worker).map_err(|e| e.to_string())?;
    let kept = history::load(&mut reader);
    print(&banner(&mut worker.borrow_mut()));
    if !bare && let Some(code) = profile(&mut reader, &mut worker.borrow_mut()) {
        return Ok(code);
    }
    Ok(read_lines(&mut reader, &worker, kept.as_deref()))
}

/// Runs the user's own lines, `aplomb/profile.apl` in the folder of configurations, where there are
/// some; the exit code if they end the session.
fn profile(reader: &mut Reader, worker: &mut Worker) -> Option<i32> {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    let path = folder.join("aplomb").join("profile.apl");
    if !path.exists() {
        return None;
    }
    match crate::script::read(&path) {
        Ok(code) => told(reader, worker, code, path.display().to_string()),
        Err(says) => {
            eprintln!("aplomb: {says}");
            None
        }
    }
}

/// Puts the terminal back as it is now.
fn restorer() -> impl Fn() + Send + 'static {
    let before = rustix::termios::tcgetattr(std::io::stdin()).ok();
    move || {
        aplomb_viz::panes::leave();
        if let Some(before) = &before {
            let _ = rustix::termios::tcsetattr(
                std::io::stdin(),
                rustix::termios::OptionalActions::Now,
                before,
            );
        }
        // Bracketed paste off.
        let mut out = std::io::stdout();
        let _ = out.write_all(b"\x1b[?2004l\r\n").and_then(|()| out.flush());
    }
}

fn reader(worker: &Rc<RefCell<Worker>>) -> rustyline::Result<Reader> {
    let coloured = colours(&std::io::stdout());
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .color_mode(if coloured { ColorMode::Enabled } else { ColorMode::Disabled })
        .max_history_size(5_000)?
        .tab_stop(8)
        .auto_add_history(false)
        .build();
    let mut reader = Editor::with_config(config)?;
    let pending = keys::Pending::default();
    reader.set_helper(Some(Edit::new(worker.clone(), pending.clone())));
    keys::bind(&mut reader, &pending);
    Ok(reader)
}

/// One line: version, device, where help is, how a glyph is typed.
fn banner(worker: &mut Worker) -> String {
    let mut found = Default::default();
    ask(worker, Request::Info, |event| {
        if let Event::Info(pairs) = event {
            found = pairs;
        }
    });
    let get = |name| found.get(name).map_or("", String::as_str);
    format!(
        "Aplomb {} · {} · ]help · glyphs: `r or rho<Tab> gives ⍴\n",
        get("version"),
        get("device")
    )
}

/// Between two looks at how far a loop is.
const LOOK: Duration = Duration::from_millis(250);

/// A line that says how far a loop is, where a terminal shows it.
#[derive(Default)]
struct Bar {
    begun: Option<Instant>,
    looker: Looker,
    shown: bool,
}

impl Bar {
    fn draw(&mut self, stop: &Interrupt) {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let step = self.looker.look(begun.elapsed().as_secs_f64(), stop.way());
        match step.filter(|_| std::io::stderr().is_terminal()) {
            Some(step) => {
                say(&format!("\r\x1b[K{}", step.line()));
                self.shown = true;
            }
            None => self.clear(),
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            say("\r\x1b[K");
        }
    }
}

/// Sends, and hands every event to `each` until the session is idle. False: the session is gone.
fn ask(worker: &mut Worker, request: Request, each: impl FnMut(Event)) -> bool {
    ask_and_answer(worker, request, each, |_| None)
}

/// As `ask`, and `type_` gives the lines that the program asks for.
fn ask_and_answer(
    worker: &mut Worker,
    request: Request,
    mut each: impl FnMut(Event),
    mut type_: impl FnMut(&str) -> Option<String>,
) -> bool {
    worker.send(request);
    let mut bar = Bar::default();
    loop {
        let event = match worker.wait(LOOK) {
            Ok(Some(event)) => event,
            Ok(None) => {
                bar.draw(&worker.interrupt());
                continue;
            }
            Err(Gone) => return false,
        };
        bar.clear();
        match event {
            Event::Status(Status::Idle) => return true,
            Event::Input(prompt) => worker.answer(type_(&prompt)),
            event => each(event),
        }
    }
}

fn read_lines(reader: &mut Reader, worker: &Rc<RefCell<Worker>>, kept: Option<&Path>) -> i32 {
    let mut count = 0;
    loop {
        let line = match reader.readline(PROMPT) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return 0,
            // A byte that is no UTF-8 was typed or pasted: the line is gone, the session stays.
            Err(ReadlineError::Io(e)) if e.kind() == ErrorKind::InvalidData => {
                eprintln!("{NO_TEXT}");
                continue;
            }
            Err(e) => {
                eprintln!("aplomb: the terminal: {e}");
                return FAILED;
            }
        };
        if line.trim().is_empty() {
            continue;
        }
        count += 1;
        // A history that cannot take a line still reads the next.
        let _ = reader.add_history_entry(line.as_str());
        if let Some(path) = kept {
            history::save(reader, path);
        }
        if let Some(code) = execute(reader, &mut worker.borrow_mut(), unindented(&line), count) {
            return code;
        }
    }
}

/// Without the blanks that stand for the prompt on later lines.
fn unindented(text: &str) -> String {
    let strip = |line: &str| line.strip_prefix(PROMPT).unwrap_or(line).to_string();
    let lines: Vec<String> = text.lines().map(strip).collect();
    let text = lines.join("\n");
    if is_command(&text) { text.trim().into() } else { text }
}

/// Runs a line and prints what it tells; the exit code if the session is over.
fn execute(reader: &mut Reader, worker: &mut Worker, code: String, count: usize) -> Option<i32> {
    told(reader, worker, code, format!("line {count}"))
}

/// Runs a text under a name and prints what it tells; the exit code if the session is over.
fn told(reader: &mut Reader, worker: &mut Worker, code: String, name: String) -> Option<i32> {
    let mut exit = None;
    let coloured = colours(&std::io::stdout());
    let request = Request::Execute { code, name, silent: false };
    let interrupt = worker.interrupt();
    let typed = |prompt: &str| typed(reader, prompt, &interrupt);
    let mut panes = None;
    let show = |event| match event {
        Event::Display(bundle) if bundle.contains_key(PANES) => panes = bundle.get(PANES).cloned(),
        Event::Stream(text) => print(&text),
        Event::Aside(text) => say(&text),
        Event::Notice(text) => print(&format!("{text}\n")),
        Event::Result(bundle) | Event::Display(bundle) | Event::Named { page: bundle, .. } => {
            print(&pictured(&bundle));
        }
        Event::Error(failure) => {
            // Behind the ^C that the terminal shows.
            let gap = if failure.number == Kind::Interrupt.number() { "\n" } else { "" };
            print(&format!("{gap}{}\n", if coloured { failure.coloured } else { failure.report }));
        }
        Event::Exit(code) => exit = Some(code),
        _ => {}
    };
    let alive = ask_and_answer(worker, request, show, typed);
    if let Some(panes) = panes {
        crate::panes::open(worker, worker.interrupt(), &panes);
    }
    exit.or((!alive).then_some(FAILED))
}

/// A bundle as the terminal shows it: its picture, where it has one and the terminal draws it.
fn pictured(bundle: &MimeBundle) -> String {
    match bundle.get(PNG).filter(|_| draws()) {
        Some(png) => format!("{}\n", kitty(png)),
        None => plain(bundle),
    }
}

const NO_TEXT: &str = "\r\nSYNTAX ERROR: what was typed is no UTF-8 text; the line is left out";

/// A line for the program that runs; Ctrl-C interrupts it, Ctrl-D says that there is none.
fn typed(reader: &mut Reader, prompt: &str, interrupt: &Interrupt) -> Option<String> {
    let typed = loop {
        match reader.readline(prompt) {
            Err(ReadlineError::Io(e)) if e.kind() == ErrorKind::InvalidData => {
                eprintln!("{NO_TEXT}")
            }
            typed => break typed,
        }
    };
    match typed {
        Ok(line) => Some(line),
        Err(ReadlineError::Interrupted) => {
            interrupt.set();
            None
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_lines_lose_the_blanks_of_the_prompt() {
        assert_eq!(unindented("      f←{\n      ⍵\n        +1}"), "f←{\n⍵\n  +1}");
        assert_eq!(unindented(" ]dag x "), "]dag x");
    }
}

//! `aplomb tui` and `]tui`: a session for the panes, the signals, the terminal. What is drawn is
//! viz's.

pub mod bench;
#[cfg(feature = "jupyter")]
mod existing;
#[cfg(not(feature = "jupyter"))]
#[path = "existing_absent.rs"]
mod existing;

use crate::args::TuiArgs;
use crate::front::{FAILED, Settings, USAGE, colours};
use crate::{script, signals};
use aplomb_compiler::pass::{GROUPS, PRESETS, switch_says, switches};
use aplomb_ground::limits::Interrupt;
use aplomb_ground::protocol::{Client, Switches};
use aplomb_kernel::session::Worker;
use aplomb_language::table;
use aplomb_viz::panes::{self, App, Hooks, Look, Menu, Start};
use serde_json::Value;
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// The program that stands in the panes when no file is named.
pub const EXAMPLE: &str = include_str!("example.apl");

const HOOKS: Hooks = Hooks { suspend };

/// Stops this process as Ctrl-Z does; the shell's `fg` brings it back.
fn suspend() {
    let _ = signal_hook::low_level::raise(signal_hook::consts::SIGTSTP);
}

/// Whether panes can be shown. Errors: a sentence.
fn usable() -> Result<(), &'static str> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err("the panes need a terminal; aplomb trace and aplomb explain print");
    }
    match std::env::var("TERM").as_deref() {
        Ok("dumb") | Err(_) => {
            Err("the panes need a terminal that can place text; this one says it cannot (TERM)")
        }
        _ => Ok(()),
    }
}

/// `aplomb tui`: exit code 2 where there is no terminal or no such file.
pub fn run(settings: Settings, args: TuiArgs) -> i32 {
    if let Some(connection) = &args.existing {
        return existing::run(&settings, connection);
    }
    let text = args.file.as_deref().map_or(Ok(EXAMPLE.to_string()), script::written);
    let text = match (usable(), text) {
        (Ok(()), Ok(text)) => text,
        (Err(says), _) => {
            eprintln!("aplomb: {says}");
            return USAGE;
        }
        (_, Err(says)) => {
            eprintln!("aplomb: {says}");
            return USAGE;
        }
    };
    let name = args.file.map_or("example".into(), |f| f.display().to_string());
    let switches = Switches { preset: settings.pipeline.preset.clone(), off: settings.members() };
    let look = look(settings.ascii);
    let commands = settings.commands();
    let own = settings.clone();
    let worker = Worker::start(
        move || Rc::new(commands),
        settings.limits,
        settings.threads,
        move |s| own.prepare(s),
    );
    let worker = match worker {
        Ok(worker) => worker,
        Err(e) => {
            eprintln!("aplomb: no thread can be had: {e}");
            return FAILED;
        }
    };
    let interrupt = worker.interrupt();
    signals::interrupt_keeps(interrupt.clone(), restore);
    match show(
        worker,
        interrupt,
        Start { text, name, switches, look, effects: true, follows: false },
    ) {
        Ok(_) => 0,
        Err(says) => {
            eprintln!("aplomb: {says}");
            FAILED
        }
    }
}

/// Colours as the terminal has them, and ASCII if that is asked for.
pub fn look(ascii: bool) -> Look {
    Look { ascii, colour: colours(&std::io::stdout()) }
}

/// The terminal as it was, and nothing printed behind that: the lock is never given back.
fn restore() {
    panes::leave();
    std::mem::forget(std::io::stdout().lock());
}

/// `]tui` at the prompt: the panes over the prompt's own session. `opened` is the command's
/// `PANES`.
pub fn open(client: &mut impl Client, interrupt: Interrupt, opened: &str) {
    let opened: Value = match serde_json::from_str(opened) {
        Ok(opened) => opened,
        Err(e) => return eprintln!("aplomb: what the panes open with is no JSON: {e}"),
    };
    let text = |name: &str| opened[name].as_str().unwrap_or_default().to_string();
    let off = opened["off"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|v| Some(v.as_str()?.to_string()))
        .collect();
    let start = Start {
        text: text("text"),
        name: "panes".into(),
        switches: Switches { preset: text("preset"), off },
        look: look(opened["ascii"] == true),
        // The line has run already.
        effects: false,
        follows: false,
    };
    let shown =
        usable().map_err(String::from).and_then(|()| show(client, interrupt, start).map(drop));
    if let Err(says) = shown {
        eprintln!("aplomb: {says}");
    }
}

/// The names that the panes offer: the compiler's pipelines and switches, the language's keys.
pub fn menu() -> Menu {
    Menu {
        presets: PRESETS.iter().map(|p| (p.name, p.says)).collect(),
        switches: switches().into_iter().map(|name| (name, switch_says(name))).collect(),
        groups: GROUPS,
        keys: table::keys().collect(),
    }
}

/// The panes over a session, until `q`; the session again. Errors: the terminal is gone, or a
/// defect ended the panes.
pub fn show<C: Client>(client: C, interrupt: Interrupt, start: Start) -> Result<C, String> {
    let mut app = App::new(client, interrupt, menu(), start);
    match catch_unwind(AssertUnwindSafe(|| panes::run(&mut app, &HOOKS))) {
        Ok(Ok(())) => Ok(app.into_client()),
        Ok(Err(e)) => Err(format!("the terminal: {e}")),
        Err(_) => Err("INTERNAL ERROR: a defect of Aplomb ended the panes".into()),
    }
}

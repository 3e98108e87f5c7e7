//! The terminal: into raw mode and out of it, and the loop between keys, session and screen.
//!
//! The loop sleeps until a key comes; only while a program runs does it look for events meanwhile.

use super::app::{App, Step};
use aplomb_ground::protocol::Client;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The services that only the program around the panes has.
pub struct Hooks {
    /// Stops the process until the shell brings it back.
    pub suspend: fn(),
}

/// Whether the terminal is ours.
static INSIDE: AtomicBool = AtomicBool::new(false);

/// Raw mode and a screen of one's own. Errors: no terminal.
pub fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    INSIDE.store(true, Ordering::SeqCst);
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)
}

/// The terminal as it was; also from a thread that hears a signal. Twice does no harm.
pub fn leave() {
    if !INSIDE.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout().lock();
    let _ = execute!(out, DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// Leaves when it goes out of scope, also in a panic.
struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        leave();
    }
}

type Screen = Terminal<CrosstermBackend<io::BufWriter<io::Stdout>>>;

/// An empty screen. `Terminal::clear` would ask for the cursor and wait for a terminal that does
/// not tell.
fn fresh() -> io::Result<Screen> {
    execute!(io::stdout(), Clear(ClearType::All))?;
    Terminal::new(CrosstermBackend::new(io::BufWriter::new(io::stdout())))
}

/// Runs until `q`. Errors: the terminal is gone.
pub fn run<C: Client>(app: &mut App<C>, hooks: &Hooks) -> io::Result<()> {
    let _inside = Inside;
    enter()?;
    let mut terminal = fresh()?;
    loop {
        app.advance();
        if app.take_stale() {
            terminal.draw(|frame| app.draw(frame.area(), frame.buffer_mut()))?;
        }
        let mut wait = app.patience();
        // All that has come is heard before the next picture.
        while event::poll(wait)? {
            wait = Duration::ZERO;
            let step = match event::read()? {
                Event::Key(key) => app.key(key),
                Event::Paste(text) => app.paste(&text),
                Event::Resize(..) => app.resized(),
                _ => Step::Go,
            };
            match step {
                Step::Go => {}
                Step::Redraw => terminal = fresh()?,
                Step::Leave => return Ok(()),
                Step::Suspend => {
                    leave();
                    (hooks.suspend)();
                    enter()?;
                    app.resized();
                    terminal = fresh()?;
                }
            }
        }
    }
}

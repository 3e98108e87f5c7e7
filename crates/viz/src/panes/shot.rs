//! A picture of the panes without a terminal: as text, as SVG, and how long keys take to be on a
//! screen.

use super::app::{App, Step};
use crate::svg::{Shown, screen};
use aplomb_ground::protocol::Client;
use ratatui::backend::{CrosstermBackend, TestBackend};
use ratatui::buffer::{Buffer, Cell};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::time::{Duration, Instant};

/// Keys as they are written: `j`, `<Tab>`, `<C-l>`, `<lt>`.
pub fn keys(text: &str) -> Vec<KeyEvent> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let named = (c == '<').then(|| rest[1..].split_once('>')).flatten();
        let (key, left) = match named.and_then(|(name, left)| Some((named_key(name)?, left))) {
            Some(found) => found,
            None => (KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), &rest[c.len_utf8()..]),
        };
        out.push(key);
        rest = left;
    }
    out
}

const NAMES: &[(&str, KeyCode)] = &[
    ("Tab", KeyCode::Tab),
    ("BackTab", KeyCode::BackTab),
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PageUp", KeyCode::PageUp),
    ("PageDown", KeyCode::PageDown),
    ("Backspace", KeyCode::Backspace),
    ("Delete", KeyCode::Delete),
    ("lt", KeyCode::Char('<')),
];

fn named_key(name: &str) -> Option<KeyEvent> {
    if let Some(c) = name.strip_prefix("C-").and_then(|c| c.chars().next()) {
        return Some(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
    }
    let code = NAMES.iter().find(|n| n.0 == name)?.1;
    Some(KeyEvent::new(code, KeyModifiers::NONE))
}

impl<C: Client> App<C> {
    /// Presses keys as `keys` reads them; whether one of them leaves.
    pub fn press(&mut self, text: &str) -> bool {
        keys(text).into_iter().any(|key| self.key(key) == Step::Leave)
    }

    /// The screen as lines of text.
    pub fn text(&mut self, width: u16, height: u16) -> String {
        let buffer = self.shot(width, height);
        let rows = buffer.content().chunks(usize::from(width).max(1));
        rows.map(|row| {
            row.iter().map(Cell::symbol).collect::<String>().trim_end().to_string() + "\n"
        })
        .collect()
    }

    /// The screen as a picture.
    pub fn svg(&mut self, width: u16, height: u16) -> String {
        let buffer = self.shot(width, height);
        let rows = buffer.content().chunks(usize::from(width).max(1));
        screen(
            &rows.map(|row| row.iter().map(shown).collect()).collect::<Vec<Vec<Shown>>>(),
            "The panes of Aplomb",
        )
    }

    fn shot(&mut self, width: u16, height: u16) -> Buffer {
        let Ok(mut terminal) = Terminal::new(TestBackend::new(width, height));
        let _ = terminal.draw(|frame| self.draw(frame.area(), frame.buffer_mut()));
        terminal.backend().buffer().clone()
    }

    /// From each key to the bytes of the screen that shows it. Errors: the bytes cannot be written.
    pub fn frames(
        &mut self,
        text: &str,
        width: u16,
        height: u16,
    ) -> std::io::Result<Vec<Duration>> {
        let viewport = Viewport::Fixed(Rect::new(0, 0, width, height));
        let backend = CrosstermBackend::new(std::io::sink());
        let mut terminal = Terminal::with_options(backend, TerminalOptions { viewport })?;
        terminal.draw(|frame| self.draw(frame.area(), frame.buffer_mut()))?;
        let mut out = Vec::new();
        for key in keys(text) {
            let begun = Instant::now();
            self.key(key);
            self.advance();
            terminal.draw(|frame| self.draw(frame.area(), frame.buffer_mut()))?;
            out.push(begun.elapsed());
        }
        Ok(out)
    }
}

fn colour(c: Color) -> &'static str {
    match c {
        Color::Yellow => "#e5c07b",
        Color::Red => "#e06c75",
        Color::Cyan => "#56b6c2",
        Color::DarkGray => "#8a919e",
        _ => "#d8dee9",
    }
}

fn shown(cell: &Cell) -> Shown {
    Shown {
        sign: cell.symbol().chars().next().unwrap_or(' '),
        colour: colour(cell.fg),
        reversed: cell.modifier.contains(Modifier::REVERSED),
        bold: cell.modifier.contains(Modifier::BOLD),
        underlined: cell.modifier.contains(Modifier::UNDERLINED),
    }
}

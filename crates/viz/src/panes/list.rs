//! Lines with a cursor, of which some are in sight.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;

#[derive(Default)]
pub struct List {
    /// The cursor's line.
    pub at: usize,
    /// The first line and column in sight.
    top: usize,
    left: usize,
    /// Of the last picture.
    pub width: usize,
    pub height: usize,
}

/// Columns that a key shifts.
const STEP: usize = 8;

impl List {
    /// Moves through `count` lines; whether the key was one that moves.
    pub fn key(&mut self, key: KeyEvent, count: usize) -> bool {
        let page = self.height.max(2) - 1;
        let last = count.max(1) - 1;
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let at = match key.code {
            KeyCode::Char('d') if control => self.at + page / 2,
            KeyCode::Char('u') if control => self.at.saturating_sub(page / 2),
            _ if control => return false,
            KeyCode::Up | KeyCode::Char('k') => self.at.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.at + 1,
            KeyCode::PageUp => self.at.saturating_sub(page),
            KeyCode::PageDown => self.at + page,
            KeyCode::Home | KeyCode::Char('g') => 0,
            KeyCode::End | KeyCode::Char('G') => last,
            KeyCode::Left | KeyCode::Char('h') => {
                self.left = self.left.saturating_sub(STEP);
                return false;
            }
            KeyCode::Right | KeyCode::Char('l') => {
                self.left = (self.left + STEP).min(4_096);
                return false;
            }
            _ => return false,
        };
        self.at = at.min(last);
        true
    }

    /// Shifts so that a column is in sight.
    pub fn sight(&mut self, column: usize, width: usize) {
        if column < self.left || column >= self.left + width {
            self.left = column.saturating_sub(width / 2);
        }
    }

    /// Draws what fits; the cursor's line is in sight and, where the pane has the keys, stands out.
    pub fn draw(&mut self, lines: Vec<Line<'static>>, focused: bool, area: Rect, buf: &mut Buffer) {
        (self.width, self.height) = (usize::from(area.width), usize::from(area.height));
        self.at = self.at.min(lines.len().max(1) - 1);
        self.top = window(self.top, self.at, self.height, lines.len());
        let widest =
            lines.iter().skip(self.top).take(self.height).map(Line::width).max().unwrap_or(0);
        self.left = self.left.min(widest.saturating_sub(self.width));
        let at = self.at;
        for (row, (k, line)) in
            lines.into_iter().enumerate().skip(self.top).take(self.height).enumerate()
        {
            let y = area.y + row as u16;
            buf.set_line(area.x, y, &shifted(line, self.left), area.width);
            if focused && k == at {
                let here = Rect { y, height: 1, ..area };
                buf.set_style(here, ratatui::style::Style::new().add_modifier(Modifier::REVERSED));
            }
        }
    }
}

/// The first line in sight so that line `at` is.
pub fn window(top: usize, at: usize, height: usize, count: usize) -> usize {
    let height = height.max(1);
    let top = if at < top { at } else { top.max((at + 1).saturating_sub(height)) };
    top.min(count.saturating_sub(height))
}

/// A line without its first columns. All glyphs are one column wide.
fn shifted(line: Line<'static>, left: usize) -> Line<'static> {
    if left == 0 {
        return line;
    }
    let mut skip = left;
    let mut out = Line::default().style(line.style);
    for span in line.spans {
        let count = span.content.chars().count();
        if skip < count {
            let rest: String = span.content.chars().skip(skip).collect();
            out.push_span(ratatui::text::Span::styled(rest, span.style));
        }
        skip = skip.saturating_sub(count);
    }
    out
}

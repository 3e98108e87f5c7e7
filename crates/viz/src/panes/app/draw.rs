//! The places of the panes, and the lines around them.

use super::{App, index};
use crate::panes::look::Look;
use crate::panes::run::spelled;
use crate::panes::view::View;
use crate::panes::{ALL, Kind, SCREENS, help};
use aplomb_ground::protocol::Client;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Widget};

/// Narrower or lower terminals show one pane at a time.
const WIDE: (u16, u16) = (110, 26);
/// The text of the last line.
const OWN: &str = "Tab pane  [ ] pass  / search  i write  t switches  ? help  q leave";
const FOLLOWING: &str = "Tab pane  [ ] pass  < > cell  / search  t switches  ? help  q leave";

/// Parts of a length by shares; the last takes what is left.
fn parts(length: u16, shares: &[u16]) -> Vec<u16> {
    let total: u32 = shares.iter().map(|s| u32::from(*s)).sum::<u32>().max(1);
    let mut out: Vec<u16> =
        shares.iter().map(|s| (u32::from(length) * u32::from(*s) / total) as u16).collect();
    let rest = length - out.iter().sum::<u16>();
    if let Some(last) = out.last_mut() {
        *last += rest;
    }
    out
}

impl<C: Client> App<C> {
    /// Draws everything into the area.
    pub fn draw(&mut self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        self.narrow = area.width < WIDE.0 || area.height < WIDE.1;
        if area.height >= 4 {
            let y = area.bottom() - 1;
            self.status(Rect { y, height: 1, ..area }, buf);
        }
        let mut rest =
            if area.height >= 4 { Rect { height: area.height - 1, ..area } } else { area };
        if self.shows_one() && rest.height >= 6 {
            self.tabs(Rect { height: 1, ..rest }, buf);
            rest = Rect { y: rest.y + 1, height: rest.height - 1, ..rest };
        }
        for (k, place) in self.places(rest) {
            self.draw_pane(k, place, buf);
        }
        if let Some(top) = self.help {
            self.help = Some(draw_help(top, self.look, rest, buf));
        }
    }

    /// Whether one pane is shown at a time.
    pub(super) fn shows_one(&self) -> bool {
        self.alone || self.narrow
    }

    fn places(&self, area: Rect) -> Vec<(usize, Rect)> {
        if self.shows_one() {
            return vec![(self.focus, area)];
        }
        let mut out = Vec::new();
        let columns = SCREENS[self.screen].columns;
        let widths = parts(area.width, &columns.iter().map(|c| c.0).collect::<Vec<_>>());
        let mut x = area.x;
        for ((_, panes), width) in columns.iter().zip(widths) {
            let heights = parts(area.height, &panes.iter().map(|p| p.1).collect::<Vec<_>>());
            let mut y = area.y;
            for ((name, _), height) in panes.iter().zip(heights) {
                out.push((index(name), Rect { x, y, width, height }));
                y += height;
            }
            x += width;
        }
        out
    }

    fn draw_pane(&mut self, k: usize, area: Rect, buf: &mut Buffer) {
        let (focus, look) = (self.focus, self.look);
        self.with_panes(|panes, view| {
            let Some(pane) = panes.get_mut(k) else { return };
            let view = View { focused: k == focus, ..*view };
            if area.width < 4 || area.height < 3 {
                return pane.draw(&view, area, buf);
            }
            let detail = pane.title(&view);
            let detail = if detail.is_empty() { detail } else { format!("· {detail} ") };
            let style = if k == focus { look.head() } else { look.quiet() };
            let title = Line::from(vec![
                Span::styled(format!(" {} ", ALL[k].name), look.head()),
                Span::styled(detail, style),
            ]);
            let block = Block::bordered()
                .border_set(look.frame(k == focus))
                .border_style(style)
                .title(title);
            let inner = block.inner(area);
            block.render(area, buf);
            pane.draw(&view, inner, buf);
        });
    }

    fn tabs(&self, area: Rect, buf: &mut Buffer) {
        let full: usize = ALL.iter().map(|k| k.name.chars().count() + 2).sum();
        let line = if full <= usize::from(area.width) {
            let tab = |(k, kind): (usize, &Kind)| {
                let style = if k == self.focus {
                    Style::new().add_modifier(Modifier::REVERSED)
                } else {
                    self.look.quiet()
                };
                let (open, close) = if k == self.focus { self.look.sides() } else { (" ", " ") };
                Span::styled(format!("{open}{}{close}", kind.name), style)
            };
            Line::from(ALL.iter().enumerate().map(tab).collect::<Vec<_>>())
        } else {
            Line::raw(format!("{}/{} {} (Tab)", self.focus + 1, ALL.len(), ALL[self.focus].name))
        };
        buf.set_line(area.x, area.y, &line, area.width);
    }

    fn status(&self, area: Rect, buf: &mut Buffer) {
        let text = match &self.searching {
            Some(words) => format!("/{words}_"),
            None if !self.note.is_empty() => self.note.clone(),
            None => {
                let state = match (&self.coming, &self.run.failure) {
                    _ if !self.link.is_empty() => self.link.clone(),
                    (Some(run), _) if self.follows => format!("{} runs …", run.name),
                    (Some(_), _) => format!("running {} … (Ctrl-C)", spelled(&self.switches)),
                    (None, Some(f)) => f.name.clone(),
                    (None, None) => spelled(&self.switches),
                };
                let keys = if self.follows { FOLLOWING } else { OWN };
                if usize::from(area.width) >= 100 {
                    format!("{keys}     {state}")
                } else {
                    format!("{state}  ? help  q leave")
                }
            }
        };
        let wrong = self.coming.is_none()
            && self.note.is_empty()
            && self.searching.is_none()
            && self.run.failure.is_some();
        let style = if wrong { self.look.error() } else { self.look.quiet() };
        buf.set_stringn(area.x, area.y, text, usize::from(area.width), style);
    }
}

/// The page of help over the panes; the line it begins with.
fn draw_help(top: usize, look: Look, area: Rect, buf: &mut Buffer) -> usize {
    let width = area.width.min(84);
    let lines = help::lines(usize::from(width.saturating_sub(2)));
    let height = area.height.min(lines.len() as u16 + 2);
    let title = match usize::from(height) < lines.len() + 2 {
        true => " help · ↑ ↓ more · other keys close ",
        false => " help · any key closes ",
    };
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    ratatui::widgets::Clear.render(place, buf);
    let block = Block::bordered().border_set(look.frame(true)).title(title);
    let inner = block.inner(place);
    block.render(place, buf);
    let top = top.min(lines.len().saturating_sub(usize::from(inner.height)));
    for (row, line) in lines.iter().skip(top).take(usize::from(inner.height)).enumerate() {
        buf.set_line(inner.x, inner.y + row as u16, line, inner.width);
    }
    top
}

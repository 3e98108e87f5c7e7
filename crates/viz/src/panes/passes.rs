//! Time travel: a row a pass; the graph is the one after it, and keeps its places.

use super::Pane;
use super::list::List;
use super::view::{Ask, View};
use crate::tables;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::Line;

/// Passes that changed nothing are hidden until `u`.
#[derive(Default)]
pub struct Passes {
    list: List,
    all: bool,
}

impl Passes {
    /// Passes that have a row.
    fn shown(&self, view: &View) -> Vec<usize> {
        let passes = view.passes();
        (0..passes.len())
            .filter(|k| self.all || passes[*k].changed || *k == view.pass || *k + 1 == passes.len())
            .collect()
    }
}

impl Pane for Passes {
    fn title(&self, view: &View) -> String {
        let hidden = view.passes().len() - self.shown(view).len();
        if hidden == 0 { String::new() } else { format!("{hidden} unchanged (u)") }
    }

    fn lines(&self, view: &View, _width: usize) -> Vec<Line<'static>> {
        let shown = self.shown(view);
        if shown.is_empty() {
            return vec![Line::raw("nothing was compiled")];
        }
        let (head, rows) = tables::pass_rows(view.passes(), &shown);
        let mut lines = vec![Line::styled(format!("  {head}"), view.look.head())];
        for (k, row) in shown.iter().zip(rows) {
            let here = *k == view.pass;
            let style = if here { view.look.underlined() } else { Default::default() };
            lines.push(Line::styled(format!("{} {row}", view.look.mark(here)), style));
        }
        lines
    }

    fn list(&mut self) -> &mut List {
        &mut self.list
    }

    fn key(&mut self, key: KeyEvent, view: &View) -> Option<Ask> {
        if key.code == KeyCode::Char('u') && key.modifiers.is_empty() {
            self.all = !self.all;
            self.follow(view);
            return Some(Ask::Nothing);
        }
        let count = self.lines(view, 0).len();
        if !self.list.key(key, count) {
            return None;
        }
        self.list.at = self.list.at.max(1);
        self.moved(view)
    }

    fn moved(&self, view: &View) -> Option<Ask> {
        self.shown(view).get(self.list.at.max(1) - 1).map(|k| Ask::Pass(*k))
    }

    fn follow(&mut self, view: &View) {
        if let Some(row) = self.shown(view).iter().position(|k| *k == view.pass) {
            self.list.at = row + 1;
        }
    }
}

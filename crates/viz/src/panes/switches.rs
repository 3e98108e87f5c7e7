//! Pipelines and switches; Enter or the space bar takes one, and the program runs again in the
//! background.

use super::Pane;
use super::list::List;
use super::menu::Menu;
use super::view::{Ask, View};
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::{Line, Span};

#[derive(Default)]
pub struct Board(List);

enum Entry<'a> {
    Head(&'static str),
    Preset(&'static str, &'static str),
    Switch(&'static str, &'a str),
}

fn entries(menu: &Menu) -> Vec<Entry<'_>> {
    let mut out = vec![Entry::Head("pipelines")];
    out.extend(menu.presets.iter().map(|p| Entry::Preset(p.0, p.1)));
    out.push(Entry::Head("switches"));
    out.extend(menu.switches.iter().map(|s| Entry::Switch(s.0, &s.1)));
    out
}

impl Pane for Board {
    fn title(&self, view: &View) -> String {
        let off = &view.switches.off;
        if off.is_empty() { String::new() } else { format!("off: {}", off.join(" ")) }
    }

    fn lines(&self, view: &View, _width: usize) -> Vec<Line<'static>> {
        let preset = if view.switches.preset.is_empty() { "all" } else { &view.switches.preset };
        let row = |sign: &str, name: &str, says: &str| {
            Line::from(vec![
                Span::raw(format!(" {sign} {name:17}")),
                Span::styled(says.to_string(), view.look.quiet()),
            ])
        };
        let line = |entry: &Entry| match entry {
            Entry::Head(text) => Line::styled(text.to_string(), view.look.head()),
            Entry::Preset(name, says) => {
                row(if *name == preset { "(x)" } else { "( )" }, name, says)
            }
            Entry::Switch(name, says) => row(
                if view.menu.is_on(&view.switches.off, name) { "[x]" } else { "[ ]" },
                name,
                says,
            ),
        };
        entries(view.menu).iter().map(line).collect()
    }

    fn list(&mut self) -> &mut List {
        &mut self.0
    }

    fn key(&mut self, key: KeyEvent, view: &View) -> Option<Ask> {
        let entries = entries(view.menu);
        if matches!(key.code, KeyCode::Enter | KeyCode::Char(' ')) {
            return match entries.get(self.0.at)? {
                Entry::Head(_) => None,
                Entry::Preset(name, _) => Some(Ask::Preset(name)),
                Entry::Switch(name, _) => Some(Ask::Toggle(name)),
            };
        }
        self.0.key(key, entries.len()).then_some(Ask::Nothing)
    }
}

//! Pipelines and switches; Enter or the space bar takes one, and the program runs again in the background.

use super::Pane;
use super::list::List;
use super::view::{Ask, View};
use aplomb_lang::pass::{GROUPS, PRESETS, switch_says, switches};
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::{Line, Span};

#[derive(Default)]
pub struct Board(List);

enum Entry {
    Head(&'static str),
    Preset(&'static str, &'static str),
    Switch(&'static str),
}

fn entries() -> Vec<Entry> {
    let mut out = vec![Entry::Head("pipelines")];
    out.extend(PRESETS.iter().map(|p| Entry::Preset(p.name, p.says)));
    out.push(Entry::Head("switches"));
    out.extend(switches().into_iter().map(Entry::Switch));
    out
}

/// Whether a switch, or all of a group, is on.
pub fn is_on(off: &[String], name: &str) -> bool {
    let members = GROUPS.iter().find(|g| g.0 == name).map(|g| g.1);
    match members {
        Some(members) => members.iter().all(|m| !off.iter().any(|o| o == m)),
        None => !off.iter().any(|o| o == name),
    }
}

impl Pane for Board {
    fn title(&self, view: &View) -> String {
        let off = &view.switches.off;
        if off.is_empty() { String::new() } else { format!("off: {}", off.join(" ")) }
    }

    fn lines(&self, view: &View, _width: usize) -> Vec<Line<'static>> {
        let preset = if view.switches.preset.is_empty() { "all" } else { &view.switches.preset };
        let row = |sign: &str, name: &str, says: &str| {
            Line::from(vec![Span::raw(format!(" {sign} {name:17}")), Span::styled(says.to_string(), view.look.quiet())])
        };
        let line = |entry: &Entry| match entry {
            Entry::Head(text) => Line::styled(text.to_string(), view.look.head()),
            Entry::Preset(name, says) => row(if *name == preset { "(x)" } else { "( )" }, name, says),
            Entry::Switch(name) => {
                row(if is_on(&view.switches.off, name) { "[x]" } else { "[ ]" }, name, &switch_says(name))
            }
        };
        entries().iter().map(line).collect()
    }

    fn list(&mut self) -> &mut List {
        &mut self.0
    }

    fn key(&mut self, key: KeyEvent, view: &View) -> Option<Ask> {
        let entries = entries();
        if matches!(key.code, KeyCode::Enter | KeyCode::Char(' ')) {
            return match entries.get(self.0.at)? {
                Entry::Head(_) => None,
                Entry::Preset(name, _) => Some(Ask::Preset(name)),
                Entry::Switch(name) => Some(Ask::Toggle(name)),
            };
        }
        let _ = view;
        self.0.key(key, entries.len()).then_some(Ask::Nothing)
    }
}

//! The page behind `?`.

use super::{ALL, SCREENS};
use ratatui::text::Line;

/// Keys that every pane leaves to the app.
pub const KEYS: &[(&str, &str)] = &[
    ("arrows, hjkl", "move; in the graph along its edges, with Shift or capitals scroll"),
    ("Tab, Shift-Tab", "the next pane, the one before"),
    ("1 2 3", "screens; t is the switches and back"),
    ("i, Enter", "write in the source; `r gives a glyph, Esc ends; it runs as you write"),
    ("[ ]", "the graph a pass earlier, later"),
    ("< >", "the evaluation before, after; in a notebook also the cell"),
    ("/ n N", "search in the pane, next, previous"),
    ("f", "fold repeats and chains of the graph"),
    ("u", "show passes that changed nothing"),
    ("Space, Enter", "take a switch, a pipeline or a run of the ledger"),
    ("z", "the pane alone, and back"),
    ("r", "run again and write files; other re-runs leave files alone"),
    ("Esc", "select nothing"),
    ("Ctrl-C", "interrupt the program that runs"),
    ("Ctrl-L Ctrl-Z", "draw again; suspend"),
    ("q", "leave"),
];

pub fn lines() -> Vec<Line<'static>> {
    let mut out: Vec<Line> =
        KEYS.iter().map(|(key, says)| Line::raw(format!("{key:15} {says}"))).collect();
    out.push(Line::raw(""));
    let screens =
        SCREENS.iter().map(|s| format!("{} {}", s.key, s.name)).collect::<Vec<_>>().join(" · ");
    out.push(Line::raw(format!("screens: {screens}")));
    out.extend(ALL.iter().map(|k| Line::raw(format!("{:15} {}", k.name, k.says))));
    out
}

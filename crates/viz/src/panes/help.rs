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
    ("< >", "the statement that is told: the one before, after; in a notebook also the cell"),
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

/// Lines by which a page goes on.
pub const PAGE: usize = 8;
/// Columns of a key or a pane's name.
const NAMES: usize = 15;

/// The page in so many columns.
pub fn lines(width: usize) -> Vec<Line<'static>> {
    let screens =
        SCREENS.iter().map(|s| format!("{} {}", s.key, s.name)).collect::<Vec<_>>().join(" · ");
    let keys = KEYS.iter().flat_map(|(key, says)| row(key, says, width));
    let panes = ALL.iter().flat_map(|k| row(k.name, k.says, width));
    let between =
        std::iter::once(String::new()).chain(folded(&format!("screens: {screens}"), width));
    keys.chain(between).chain(panes).map(Line::raw).collect()
}

/// A name and what it stands for beside it, in as many lines as that takes.
fn row(name: &str, says: &str, width: usize) -> Vec<String> {
    let beside = folded(says, width.saturating_sub(NAMES + 1));
    let names = std::iter::once(name).chain(std::iter::repeat(""));
    names.zip(beside).map(|(name, says)| format!("{name:NAMES$} {says}")).collect()
}

/// A text in lines of so many columns, broken between words.
fn folded(text: &str, width: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let more = word.chars().count() + 1;
        match out.last_mut().filter(|line| line.chars().count() + more <= width) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => out.push(word.into()),
        }
    }
    out
}

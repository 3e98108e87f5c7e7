//! Panes: a trace in a terminal, every picture lit by one selection. The only room that names
//! ratatui and crossterm.
//!
//! Start at `Pane` and `ALL`, then `App`. The app alone owns traces, selection and text, and speaks
//! to a session through any `Client`; a pane draws and asks (`Ask`). `terminal` is the loop.
//! Always: what colour says a mark says too; no key, size or trace panics; the terminal is as it
//! was, whatever ends it.

mod app;
mod cuda;
mod dag;
mod facts;
mod help;
mod list;
mod look;
mod menu;
mod output;
mod passes;
mod reasons;
mod run;
mod shot;
mod source;
mod switches;
mod terminal;
mod view;

pub use app::{App, Step};
pub use look::Look;
pub use menu::Menu;
pub use run::{Row, Start};
pub use shot::keys;
pub use terminal::{Hooks, enter, leave, run};
pub use view::{Ask, View};

use list::List;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// Draws and asks; the app alone owns trace and selection.
pub trait Pane {
    /// Behind the pane's name.
    fn title(&self, _view: &View) -> String {
        String::new()
    }

    /// All its lines, for a width.
    fn lines(&self, view: &View, width: usize) -> Vec<Line<'static>>;

    /// Its cursor and what of the lines is in sight.
    fn list(&mut self) -> &mut List;

    /// The question that the line at the cursor stands for, once the cursor has moved there.
    fn moved(&self, _view: &View) -> Option<Ask> {
        None
    }

    /// Takes a key that the app leaves to the pane. None: the pane has no use for it either.
    fn key(&mut self, key: KeyEvent, view: &View) -> Option<Ask> {
        let width = self.list().width;
        let count = self.lines(view, width).len();
        if self.list().key(key, count) { self.moved(view) } else { None }
    }

    /// The selection has changed elsewhere: its image comes in sight.
    fn follow(&mut self, _view: &View) {}

    /// Whether keys are text.
    fn is_typing(&self) -> bool {
        false
    }

    /// The next place that holds the words, as small letters.
    fn find(&mut self, words: &str, view: &View, forward: bool) -> Option<Ask> {
        let width = self.list().width;
        let lines = self.lines(view, width);
        let holds = |k: usize| lines[k].to_string().to_lowercase().contains(words);
        let n = lines.len();
        let at = self.list().at.min(n.max(1) - 1);
        let mut order = (1..=n).map(|d| if forward { (at + d) % n } else { (at + n - d) % n });
        match order.find(|k| holds(*k)) {
            Some(k) => {
                self.list().at = k;
                Some(self.moved(view).unwrap_or(Ask::Nothing))
            }
            None => None,
        }
    }

    /// Draws the lines in sight into an area.
    fn draw(&mut self, view: &View, area: Rect, buf: &mut Buffer) {
        let lines = self.lines(view, usize::from(area.width));
        let focused = view.focused;
        self.list().draw(lines, focused, area, buf);
    }
}

/// A pane of the list: its name, and how one is made.
pub struct Kind {
    /// The name, as the screen's bar shows it.
    pub name: &'static str,
    /// A sentence for the page of help.
    pub says: &'static str,
    new: fn() -> Box<dyn Pane>,
}

/// All panes; screens name them.
pub static ALL: &[Kind] = &[
    Kind {
        name: "source",
        says: "the program; i writes, Esc ends it",
        new: || Box::<source::Source>::default(),
    },
    Kind {
        name: "graph",
        says: "nodes after a pass; arrows go along the edges",
        new: || Box::<dag::Dag>::default(),
    },
    Kind { name: "CUDA", says: "the text of the launch", new: || Box::<cuda::Cuda>::default() },
    Kind {
        name: "why",
        says: "the reasons for what is selected",
        new: || Box::<reasons::Reasons>::default(),
    },
    Kind {
        name: "launches",
        says: "what each costs and took",
        new: || Box::<facts::Facts>::default(),
    },
    Kind { name: "passes", says: "the graph after each", new: || Box::<passes::Passes>::default() },
    Kind {
        name: "switches",
        says: "pipelines, passes, rules",
        new: || Box::<switches::Board>::default(),
    },
    Kind { name: "ledger", says: "what each run came to", new: || Box::<run::Ledger>::default() },
    Kind {
        name: "output",
        says: "what the program printed",
        new: || Box::<output::Output>::default(),
    },
];

/// Panes side by side: columns with their share of the width, in them panes with their share of the
/// height.
struct Screen {
    key: char,
    name: &'static str,
    columns: &'static [(u16, &'static [(&'static str, u16)])],
}

static SCREENS: &[Screen] = &[
    Screen {
        key: '1',
        name: "main",
        columns: &[
            (30, &[("source", 60), ("why", 40)]),
            (38, &[("graph", 80), ("output", 20)]),
            (32, &[("CUDA", 60), ("launches", 40)]),
        ],
    },
    Screen {
        key: '2',
        name: "passes",
        columns: &[(52, &[("passes", 60), ("why", 40)]), (48, &[("graph", 75), ("source", 25)])],
    },
    Screen {
        key: '3',
        name: "switches",
        columns: &[
            (38, &[("switches", 100)]),
            (62, &[("ledger", 35), ("launches", 30), ("source", 35)]),
        ],
    },
];

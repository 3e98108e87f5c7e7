//! The look of things: one place for colours, marks and frames, so that `--ascii` and NO_COLOR are
//! two switches.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

/// The abilities of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Whether frames and marks are ASCII.
    pub ascii: bool,
    /// Whether there are colours.
    pub colour: bool,
}

const ASCII: border::Set = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};
const ASCII_FOCUS: border::Set =
    border::Set { horizontal_top: "=", horizontal_bottom: "=", ..ASCII };

impl Look {
    fn coloured(self, style: Style, colour: Color) -> Style {
        if self.colour { style.fg(colour) } else { style }
    }

    /// The style of what is selected, or of its image.
    pub fn lit(self) -> Style {
        self.coloured(Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED), Color::Yellow)
    }

    /// A wire of what is selected.
    pub fn wire(self) -> Style {
        self.coloured(Style::new().add_modifier(Modifier::BOLD), Color::Yellow)
    }

    /// Text under which a mark stands.
    pub fn underlined(self) -> Style {
        self.coloured(
            Style::new().add_modifier(Modifier::UNDERLINED | Modifier::BOLD),
            Color::Yellow,
        )
    }

    /// Written to memory.
    pub fn kept(self) -> Style {
        self.coloured(Style::new().add_modifier(Modifier::BOLD), Color::Red)
    }

    /// There before.
    pub fn input(self) -> Style {
        self.coloured(Style::new(), Color::Cyan)
    }

    /// The style of what stands back.
    pub fn quiet(self) -> Style {
        self.coloured(Style::new(), Color::DarkGray)
    }

    /// The style of errors.
    pub fn error(self) -> Style {
        self.coloured(Style::new().add_modifier(Modifier::BOLD), Color::Red)
    }

    /// The style of headings.
    pub fn head(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The lines around a pane; other ones where the keys go.
    pub fn frame(self, focused: bool) -> border::Set<'static> {
        match (self.ascii, focused) {
            (true, false) => ASCII,
            (true, true) => ASCII_FOCUS,
            (false, false) => border::PLAIN,
            (false, true) => border::DOUBLE,
        }
    }

    /// One of two spellings.
    pub fn pick(self, rich: &'static str, plain: &'static str) -> &'static str {
        if self.ascii { plain } else { rich }
    }

    /// Around a box that is lit.
    pub fn sides(self) -> (&'static str, &'static str) {
        if self.ascii { (">", "<") } else { ("▐", "▌") }
    }

    /// Before a line that is lit.
    pub fn mark(self, lit: bool) -> &'static str {
        match (lit, self.ascii) {
            (false, _) => " ",
            (true, false) => "▸",
            (true, true) => ">",
        }
    }
}

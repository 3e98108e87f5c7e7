//! The rows of docs/FROM-NUMPY.md, by the names that NumPy has for them: `]help percentile`.
//!
//! The page is the one table of them: people read it, a test runs it, and help finds in it what has
//! no other page.

/// The page, whose rows are lines of tables.
pub const PAGE: &str = include_str!("../../docs/FROM-NUMPY.md");

/// A line of NumPy and what it is here.
pub struct Phrase {
    /// Its line on the page, from 1.
    pub at: usize,
    /// As Python has it.
    pub python: String,
    /// The expression here, over the names of the page.
    pub expression: String,
    /// Its value, as it can be typed.
    pub value: String,
    /// A remark; often empty.
    pub note: String,
}

/// The cells of a table's line, with what stands before its first bar and behind its last; `\|` is
/// a bar inside a cell.
fn cells(line: &str) -> Vec<String> {
    let marked = line.trim().replace("\\|", "\u{1}");
    marked.split('|').map(|c| c.trim().trim_matches('`').replace('\u{1}', "|")).collect()
}

/// All rows of the page.
pub fn phrases() -> impl Iterator<Item = Phrase> {
    let lines = PAGE.lines().enumerate().filter(|(_, line)| line.starts_with("| `"));
    lines.filter_map(|(k, line)| {
        let [_, python, expression, value, note, _]: [String; 6] = cells(line).try_into().ok()?;
        Some(Phrase { at: k + 1, python, expression, value, note })
    })
}

impl Phrase {
    /// The names that NumPy has for what it does: `linalg.det`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let is_of = |c: char| c.is_ascii_alphanumeric() || "._".contains(c);
        let own = self.python.split("np.").skip(1);
        own.filter_map(move |rest| rest.split(|c| !is_of(c)).next())
            .map(|n| n.trim_end_matches('.'))
    }

    /// Whether a word is one of them, or the last part of one: `det`.
    pub fn is_called(&self, word: &str) -> bool {
        self.names().any(|name| name == word || name.rsplit('.').next() == Some(word))
    }
}

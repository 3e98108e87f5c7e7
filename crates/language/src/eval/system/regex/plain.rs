//! One character for another: `('a'⎕R'b')` of a text, or of texts that are pieces of one.
//!
//! Nothing is searched for then: each character is looked at once, and the pieces stay as they are.

use super::template::{Part, Template};
use super::{Rule, Search, is_end};
use crate::eval::cx::Cx;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, Ragged, View};

/// Characters between two looks at the interrupt.
const BLOCK: usize = 1 << 16;

/// A character, and what stands for it.
pub struct Plain(char, char);

impl Plain {
    /// A search that is no more than this. None: it is another, or asks for an option.
    pub fn of(search: &Search<'_>) -> Option<Plain> {
        let ([pattern], Rule::Texts(templates)) = (&search.patterns[..], &search.rule) else {
            return None;
        };
        let [Template(parts)] = &templates[..] else { return None };
        let [Part::Plain(text)] = &parts[..] else { return None };
        let (from, to) = (character(pattern.regex.as_str())?, only(text)?);
        let fits = search.replace && search.options.is_empty() && !is_end(from) && !is_end(to);
        fits.then_some(Plain(from, to))
    }

    /// The text with the character replaced. None: it is no vector of characters that is there.
    pub fn text(&self, cx: &Cx<'_>, y: &Array) -> Result<Option<Array>> {
        let Some(View::Char(all)) = y.view_there().filter(|_| y.rank() == 1) else {
            return Ok(None);
        };
        let (mut out, &Plain(from, to)) = (cx.budget().room(all.len())?, self);
        for block in all.chunks(BLOCK) {
            cx.budget().check()?;
            out.extend(block.iter().map(|&c| if c == from { to } else { c }));
        }
        Array::chars(y.shape(), out, cx.budget()).map(Some)
    }

    /// The same of each piece.
    pub fn pieces(&self, cx: &Cx<'_>, all: &Ragged) -> Result<Option<Ragged>> {
        Ok(self.text(cx, all.flat())?.and_then(|flat| all.with(flat)))
    }

    /// The same of a vector of texts, of which each is a line.
    pub fn lines(&self, cx: &Cx<'_>, y: &Array) -> Result<Option<Array>> {
        let Some(all) = y.pieces().filter(|_| y.rank() == 1) else { return Ok(None) };
        match all.flat().view_there() {
            Some(View::Char(chars)) if !chars.iter().any(|c| is_end(*c)) => {}
            _ => return Ok(None),
        }
        Ok(self.pieces(cx, all)?.map(|made| made.items(y.shape())))
    }
}

/// The character that is all of a text.
fn only(text: &str) -> Option<char> {
    let mut all = text.chars();
    all.next().filter(|_| all.next().is_none())
}

/// The character that is all that a pattern finds: it means itself, or a backslash says so.
fn character(pattern: &str) -> Option<char> {
    let means_itself = |c: &char| !"\\.+*?()|[]{}^$".contains(*c);
    match pattern.strip_prefix('\\') {
        None => only(pattern).filter(means_itself),
        Some(behind) => only(behind).filter(|c| c.is_ascii_punctuation() && !"<>".contains(*c)),
    }
}

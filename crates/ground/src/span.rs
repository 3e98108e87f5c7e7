//! Places in a user's text. Offsets count code points everywhere: inside, in JSON, in messages.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A half-open range of code points in one source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The first code point.
    pub start: u32,
    /// The code point behind the last.
    pub end: u32,
}

impl Span {
    /// The range from `start` up to, without, `end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// The least span that holds both.
    pub fn join(self, other: Span) -> Self {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The same, so many code points further on.
    pub fn moved(self, by: u32) -> Self {
        Span { start: self.start.saturating_add(by), end: self.end.saturating_add(by) }
    }

    /// The number of code points.
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether it holds no code point.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// One text as the user gave it, under the name that messages use (`line 3`, `prices.apl`), or the
/// part of it that is code between two commands. Offsets are the whole text's.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The name that messages use.
    pub name: String,
    /// All of it; parts share it.
    pub text: Arc<str>,
    /// Bytes of the part that is read.
    own: Range<usize>,
    /// Code points before the part.
    first: u32,
    marks: Marks,
}

/// The bytes at which every `MARK`th code point of a part begins, found when they are first asked
/// for: a script of many lines asks for the text of each.
#[derive(Debug, Default)]
struct Marks(OnceLock<Vec<usize>>);

const MARK: usize = 1024;

/// They are made of the part, and tell no two apart.
impl PartialEq for Marks {
    fn eq(&self, _: &Marks) -> bool {
        true
    }
}

impl Eq for Marks {}

impl Source {
    /// A whole text under its name.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Arc<Self> {
        let text = text.into();
        let marks = Marks::default();
        Arc::new(Source { name: name.into(), own: 0..text.len(), text, first: 0, marks })
    }

    /// A part of a text, with so many code points before it. One that does not fit is empty.
    pub fn part(
        name: impl Into<String>,
        text: &Arc<str>,
        own: Range<usize>,
        first: u32,
    ) -> Arc<Self> {
        let own = if text.get(own.clone()).is_some() { own } else { 0..0 };
        let marks = Marks::default();
        Arc::new(Source { name: name.into(), text: text.clone(), own, first, marks })
    }

    /// The part that is read, and the offset of its first code point.
    pub fn own(&self) -> (&str, u32) {
        (&self.text[self.own.clone()], self.first)
    }

    /// The part as a text of its own with the same offsets: what stands before it is blank.
    pub fn alone(&self) -> String {
        self.text[..self.own.start]
            .chars()
            .map(|c| if c == '\n' { c } else { ' ' })
            .chain(self.own().0.chars())
            .collect()
    }

    /// The text of a span; empty where the span does not fit.
    pub fn slice(&self, span: Span) -> String {
        let (own, first) = self.own();
        let Some(start) = span.start.checked_sub(first) else {
            return self.text.chars().skip(span.start as usize).take(span.len()).collect();
        };
        let marks = self
            .marks
            .0
            .get_or_init(|| own.char_indices().step_by(MARK).map(|(byte, _)| byte).collect());
        let start = start as usize;
        let mark = (start / MARK).min(marks.len().saturating_sub(1));
        let byte = self.own.start + marks.get(mark).map_or(0, |byte| *byte);
        self.text[byte..].chars().skip(start - mark * MARK).take(span.len()).collect()
    }
}

/// The first line of a text, as a title has it; empty where there is none.
pub fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A span together with the text it belongs to: a dfn's error points into the line that defined the
/// dfn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The text.
    pub source: Arc<Source>,
    /// The range in it.
    pub span: Span,
}

impl Place {
    /// A range of this text.
    pub fn new(source: &Arc<Source>, span: Span) -> Self {
        Place { source: source.clone(), span }
    }

    /// The text that stands there.
    pub fn text(&self) -> String {
        self.source.slice(self.span)
    }

    /// The first line that it stands on, from 1, and the last.
    pub fn lines(&self) -> [usize; 2] {
        let breaks = |points: usize| {
            self.source.text.chars().take(points).filter(|c| *c == '\n').count() + 1
        };
        let first = breaks(self.span.start as usize);
        [first, first + self.text().trim_end().matches('\n').count()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks are where characters begin, whatever their lengths, in a part as in a whole text.
    #[test]
    fn a_slice_is_the_characters_of_its_span() {
        let text: String = (0..5000).map(|k| ['a', '⍳', 'é', '𝛼'][k % 4]).collect();
        let whole = Source::new("t", text.as_str());
        let before = text.chars().take(1500).map(char::len_utf8).sum::<usize>();
        let part = Source::part("t", &whole.text, before..text.len(), 1500);
        for (start, end) in
            [(0, 3), (1023, 1025), (2048, 2050), (4998, 5000), (4999, 9000), (7000, 7001)]
        {
            let wanted: String = text.chars().take(end).skip(start).collect();
            let span = Span::new(start as u32, end as u32);
            assert_eq!(whole.slice(span), wanted, "{start}");
            assert_eq!(part.slice(span), wanted, "{start} in a part");
        }
    }
}

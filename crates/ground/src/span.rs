//! Places in a user's text. Offsets count code points everywhere: inside, in JSON, in messages.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

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
}

impl Source {
    /// A whole text under its name.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Arc<Self> {
        let text = text.into();
        Arc::new(Source { name: name.into(), own: 0..text.len(), text, first: 0 })
    }

    /// A part of a text, with so many code points before it. One that does not fit is empty.
    pub fn part(
        name: impl Into<String>,
        text: &Arc<str>,
        own: Range<usize>,
        first: u32,
    ) -> Arc<Self> {
        let own = if text.get(own.clone()).is_some() { own } else { 0..0 };
        Arc::new(Source { name: name.into(), text: text.clone(), own, first })
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
        self.text.chars().skip(span.start as usize).take(span.len()).collect()
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
}

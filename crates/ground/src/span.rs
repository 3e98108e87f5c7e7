//! Where something stands in a user's text. Offsets count code points everywhere: inside, in JSON, in messages.

use std::fmt;
use std::sync::Arc;

/// A half-open range of code points in one source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub const fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// The least span that holds both.
    pub fn join(self, other: Span) -> Self {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// One text as the user gave it, under the name that messages use (`line 3`, `prices.apl`).
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    pub text: String,
}

impl Source {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Source { name: name.into(), text: text.into() })
    }

    /// The text of a span; empty where the span does not fit.
    pub fn slice(&self, span: Span) -> String {
        self.text.chars().skip(span.start as usize).take(span.len()).collect()
    }
}

/// A span together with the text it belongs to: a dfn's error points into the line that defined the dfn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub source: Arc<Source>,
    pub span: Span,
}

impl Place {
    pub fn new(source: &Arc<Source>, span: Span) -> Self {
        Place { source: source.clone(), span }
    }

    pub fn text(&self) -> String {
        self.source.slice(self.span)
    }
}

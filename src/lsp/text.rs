//! A document as an editor has it: lines and columns of UTF-16, names and where they get a value.

use aplomb_ground::span::Span;
use aplomb_language::syntax::token::{Kind, Token, lex};
use lsp_types::{Position, Range};

/// A text, and the code points at which its lines begin.
pub struct Document {
    pub text: String,
    chars: Vec<char>,
    lines: Vec<usize>,
    tokens: Vec<Token>,
}

impl Document {
    pub fn new(text: String) -> Document {
        let chars: Vec<char> = text.chars().collect();
        let behind = |(k, c): (usize, &char)| (*c == '\n').then_some(k + 1);
        let lines = [0].into_iter().chain(chars.iter().enumerate().filter_map(behind)).collect();
        let tokens = lex(&text);
        Document { text, chars, lines, tokens }
    }

    /// The code point of a position; one beyond a line is at its end.
    pub fn at(&self, position: Position) -> usize {
        let line = (position.line as usize).min(self.lines.len() - 1);
        let end = self.lines.get(line + 1).map_or(self.chars.len(), |next| next - 1);
        let (mut at, mut units) = (self.lines[line], position.character as usize);
        while at < end && units > 0 {
            units = units.saturating_sub(self.chars[at].len_utf16());
            at += 1;
        }
        at
    }

    fn position(&self, at: usize) -> Position {
        let at = at.min(self.chars.len());
        let line = self.lines.partition_point(|begin| *begin <= at) - 1;
        let before = &self.chars[self.lines[line]..at];
        let units: usize = before.iter().map(|c| c.len_utf16()).sum();
        Position { line: line as u32, character: units as u32 }
    }

    pub fn range(&self, span: Span) -> Range {
        let [start, end] = [span.start, span.end.max(span.start)].map(|at| at as usize);
        Range { start: self.position(start), end: self.position(end) }
    }

    /// The name at a place.
    pub fn name(&self, at: usize) -> Option<&str> {
        let inside = |t: &&Token| (t.span.start as usize..=t.span.end as usize).contains(&at);
        self.tokens.iter().filter(inside).find_map(|t| match &t.kind {
            Kind::Name(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The places where a name gets a value: before `←`, or in the head of a function of lines.
    pub fn definitions(&self, wanted: &str) -> Vec<Span> {
        self.defined().filter(|(name, _)| *name == wanted).map(|(_, span)| span).collect()
    }

    /// All names that get a value, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.defined().map(|(name, _)| name).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn defined(&self) -> impl Iterator<Item = (&str, Span)> {
        self.tokens.iter().enumerate().filter_map(|(k, token)| {
            let Kind::Name(name) = &token.kind else { return None };
            let is_next = |kind: &Kind| self.tokens.get(k + 1).is_some_and(|t| t.kind == *kind);
            (is_next(&Kind::Assign) || self.is_head(token)).then_some((name.as_str(), token.span))
        })
    }

    /// Whether a name is that of a function of lines: it stands behind `∇` that begins a line, and
    /// behind `←` where the head has one.
    fn is_head(&self, token: &Token) -> bool {
        let line = self.lines.partition_point(|begin| *begin <= token.span.start as usize) - 1;
        let end = self.lines.get(line + 1).map_or(self.chars.len(), |next| *next);
        let head: String = self.chars[self.lines[line]..end].iter().collect();
        let Some(head) = head.trim_start().strip_prefix('∇') else { return false };
        let head = head.rsplit('←').next().map_or("", |head| head);
        let words: Vec<&str> =
            head.split(';').next().map_or("", |h| h).split_whitespace().collect();
        let name = match words.as_slice() {
            [name] | [name, _] => name,
            [_, name, _] => name,
            _ => return false,
        };
        matches!(&token.kind, Kind::Name(own) if own == name)
    }

    /// The line of a place, with the comments right above it.
    pub fn told(&self, span: Span) -> String {
        let lines: Vec<&str> = self.text.lines().collect();
        let own = self.lines.partition_point(|begin| *begin <= span.start as usize) - 1;
        let is_comment = |line: &&&str| line.trim_start().starts_with('⍝');
        let above = lines[..own.min(lines.len())].iter().rev().take_while(is_comment).count();
        lines.get(own - above..=own).map_or(String::new(), |lines| lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_columns_of_utf_16_undo_each_other() {
        let of = Document::new("x←'😀'\n⍝ b\ny←x".into());
        for at in 0..=of.chars.len() {
            assert_eq!(of.at(of.position(at)), at);
        }
        assert_eq!(of.position(4), Position { line: 0, character: 5 });
        assert_eq!(of.at(Position { line: 0, character: 99 }), 5);
        assert_eq!(of.at(Position { line: 99, character: 0 }), 10);
    }

    #[test]
    fn names_are_found_where_they_get_a_value() {
        let of = Document::new("⍝ The mean.\navg←{(+/⍵)÷≢⍵}\navg 3\n∇ r←f x;y\nr←x\n∇\n".into());
        assert_eq!(of.names(), ["avg", "f", "r"]);
        assert_eq!(of.name(30), Some("avg"));
        let [span] = of.definitions("avg")[..] else { panic!("one place") };
        assert_eq!(of.told(span), "⍝ The mean.\navg←{(+/⍵)÷≢⍵}");
        assert_eq!(of.range(span).start, Position { line: 1, character: 0 });
        assert!(of.definitions("x").is_empty() && of.name(0).is_none());
    }
}

//! Colours of a line while it is typed, and the bracket that matches the one at the cursor. They
//! only help the eye.

use aplomb_language::syntax::words::Control;
use aplomb_language::syntax::{Kind, Token, lex};

const RESET: &str = "\x1b[0m";
const MATCHED: &str = "\x1b[1;4m";

/// Terminal colours by kind of token; the terminal's own palette keeps them readable.
fn style(kind: &Kind) -> &'static str {
    match kind {
        Kind::Bad(_) | Kind::Control(Control::Absent) => "\x1b[31;4m",
        Kind::Control(_) => "\x1b[35m",
        Kind::Number(_) | Kind::Complex(_) | Kind::Zilde => "\x1b[36m",
        Kind::Text(_) => "\x1b[32m",
        Kind::Glyph(_) | Kind::Assign => "\x1b[34m",
        Kind::System(_) | Kind::Quad | Kind::QuoteQuad | Kind::Word(_) => "\x1b[35m",
        Kind::Comment => "\x1b[2m",
        _ => "",
    }
}

/// The line with colours; its width stays.
pub fn coloured(line: &str, cursor: usize) -> String {
    let chars: Vec<char> = line.chars().collect();
    let cursor = line.get(..cursor).map_or(0, |s| s.chars().count());
    let tokens = lex(line);
    let pair = matching(&tokens, cursor);
    let mut out = String::with_capacity(line.len() * 2);
    let mut at = 0;
    for (k, token) in tokens.iter().enumerate() {
        let (start, end) = (token.span.start as usize, (token.span.end as usize).min(chars.len()));
        if start < at || end < start {
            continue;
        }
        out.extend(&chars[at..start]);
        let style =
            if pair.is_some_and(|(a, b)| k == a || k == b) { MATCHED } else { style(&token.kind) };
        // A newline stays outside of colours.
        let plain = style.is_empty() || token.kind == Kind::Separator;
        if plain {
            out.extend(&chars[start..end]);
        } else {
            out.push_str(style);
            out.extend(&chars[start..end]);
            out.push_str(RESET);
        }
        at = end;
    }
    out.extend(&chars[at.min(chars.len())..]);
    out
}

/// The bracket at or just before the cursor and its partner, as places in `tokens`.
pub fn matching(tokens: &[Token], cursor: usize) -> Option<(usize, usize)> {
    let mut open = Vec::new();
    let mut pairs = Vec::new();
    for (k, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open(_) => open.push(k),
            Kind::Close(_) => pairs.extend(open.pop().map(|from| (from, k))),
            _ => {}
        }
    }
    let at = |k: usize| tokens[k].span.start as usize;
    let touches =
        |place: usize| pairs.iter().find(|(a, b)| at(*a) == place || at(*b) == place).copied();
    touches(cursor).or_else(|| touches(cursor.checked_sub(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(text: &str) -> String {
        let mut out = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c == '\x1b' {
                chars.find(|c| *c == 'm');
            } else {
                out.push(c);
            }
        }
        out
    }

    #[test]
    fn colours_change_no_character() {
        for line in ["x←1 2+'it''s' ⍝ end", "f←{\n      ⍵×(2)}", "'open", "", "⎕IO ⋄ \"bad", "🙂 é"]
        {
            for cursor in 0..=line.len() + 1 {
                assert_eq!(bare(&coloured(line, cursor)), line);
            }
        }
    }

    #[test]
    fn a_bracket_in_quotes_matches_nothing() {
        let tokens = lex("(')'+1)");
        assert_eq!(matching(&tokens, 0), Some((0, 4)));
        assert_eq!(matching(&tokens, 7), Some((0, 4)));
        assert_eq!(matching(&tokens, 3), None);
    }
}

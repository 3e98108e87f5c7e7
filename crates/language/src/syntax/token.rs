//! The lexer: text to tokens with code-point spans. It never fails: what is no token is `Bad`.

use super::words::{self, Block, Control};
use crate::table;
use aplomb_ground::limits::Interrupt;
use aplomb_ground::span::Span;
use aplomb_values::array::Complex64;

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A real number.
    Number(f64),
    /// A literal with an imaginary part that is not 0.
    Complex(Complex64),
    /// Text in quotes, without them.
    Text(String),
    /// A name.
    Name(String),
    /// `⎕IO`, in capitals, without the quad.
    System(String),
    /// A primitive, in its one code point.
    Glyph(char),
    /// `⍺ ⍵ ∇`, and `⍶ ⍹ ⍒`-like doubles as `AlphaAlpha` …
    Word(Word),
    /// `⍬`.
    Zilde,
    /// `⎕` alone.
    Quad,
    /// `⍞`.
    QuoteQuad,
    /// `←`.
    Assign,
    /// An opening bracket.
    Open(char),
    /// A closing bracket.
    Close(char),
    /// `⋄` or the end of a line.
    Separator,
    /// `;`.
    Semicolon,
    /// `:`.
    Colon,
    /// `::`.
    ColonColon,
    /// `⍝` and the rest of its line.
    Comment,
    /// `:If` and its like, where a statement begins; `:In` behind `:For`.
    Control(Control),
    /// No token, with the sentence that says why.
    Bad(&'static str),
}

/// The names of arguments and operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// `⍺`.
    Alpha,
    /// `⍵`.
    Omega,
    /// `⍺⍺`.
    AlphaAlpha,
    /// `⍵⍵`.
    OmegaOmega,
    /// `∇`.
    Del,
    /// `∇∇`.
    DelDel,
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// The kind, and what is in it.
    pub kind: Kind,
    /// The place in the text.
    pub span: Span,
}

/// Whether a name may begin so.
pub fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '∆' | '⍙')
}

/// Whether a name may go on so.
pub fn is_name_part(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit()
}

/// Glyphs with one meaning and several code points.
pub fn canonical(c: char) -> char {
    match c {
        '⋆' => '*',
        '∣' => '|',
        '∼' => '~',
        '^' => '∧',
        '◊' => '⋄',
        c => c,
    }
}

/// Tokens between two looks at the interrupt.
const LOOK: usize = 1 << 12;

/// All tokens of a text. It never fails: what is no token is `Bad`.
pub fn lex(text: &str) -> Vec<Token> {
    lex_within(text, usize::MAX, usize::MAX, &Interrupt::default())
}

/// As `lex`, but stops where more than `nest` brackets are open, or a statement has more than
/// `most` tokens: what follows cannot be read anyway. And where somebody asks to stop.
pub fn lex_within(text: &str, nest: usize, most: usize, stop: &Interrupt) -> Vec<Token> {
    let (mut open, mut count) = (0usize, 0usize);
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    let mut out = Vec::with_capacity((chars.len() / 2).min(1 << 12) + 1);
    while at < chars.len() {
        if matches!(chars[at], ' ' | '\t' | '\r' | '\u{a0}' | '\u{feff}') {
            at += 1;
            continue;
        }
        let (kind, end) = match chars[at] {
            ':' => colon(&chars, at, &out),
            _ => token(&chars, at),
        };
        match kind {
            Kind::Open(_) => open += 1,
            Kind::Close(_) => open = open.saturating_sub(1),
            _ => {}
        }
        count = if open == 0 && kind == Kind::Separator { 0 } else { count + 1 };
        out.push(Token { kind, span: Span::new(at as u32, end as u32) });
        at = end;
        let looks = out.len().is_multiple_of(LOOK);
        if open > nest || count > most || looks && stop.check().is_err() {
            break;
        }
    }
    out
}

fn token(chars: &[char], at: usize) -> (Kind, usize) {
    let c = canonical(chars[at]);
    let next = chars.get(at + 1).copied().unwrap_or('\n');
    let doubled = |one: Word, two: Word| {
        if next == chars[at] { (Kind::Word(two), at + 2) } else { (Kind::Word(one), at + 1) }
    };
    let run = |from: usize, part: fn(char) -> bool| {
        chars[from..].iter().position(|&c| !part(c)).map_or(chars.len(), |n| from + n)
    };
    match c {
        '\n' | '⋄' => (Kind::Separator, at + 1),
        '⍝' => (Kind::Comment, run(at, |c| c != '\n')),
        '\'' => quoted(chars, at),
        '0'..='9' | '¯' => number(chars, at),
        '.' if next.is_ascii_digit() => number(chars, at),
        '⍺' => doubled(Word::Alpha, Word::AlphaAlpha),
        '⍵' => doubled(Word::Omega, Word::OmegaOmega),
        '∇' => doubled(Word::Del, Word::DelDel),
        '⎕' if is_name_start(next) => {
            let mut end = run(at + 1, is_name_part);
            let mut name = chars[at + 1..end].iter().collect::<String>().to_uppercase();
            // ⎕DMX and ⎕SE are the only spaces of names there are: a name of theirs is one name.
            if matches!(name.as_str(), "DMX" | "SE")
                && chars.get(end) == Some(&'.')
                && chars.get(end + 1).is_some_and(|c| is_name_start(*c))
            {
                let from = end;
                end = run(end + 1, is_name_part);
                name.extend(&chars[from..end]);
            }
            (Kind::System(name), end)
        }
        '⎕' => (Kind::Quad, at + 1),
        '⍞' => (Kind::QuoteQuad, at + 1),
        '⍬' => (Kind::Zilde, at + 1),
        '←' => (Kind::Assign, at + 1),
        '(' | '[' | '{' => (Kind::Open(c), at + 1),
        ')' | ']' | '}' => (Kind::Close(c), at + 1),
        ';' => (Kind::Semicolon, at + 1),
        c if table::is_glyph(c) => (Kind::Glyph(c), at + 1),
        c if is_name_start(c) => {
            let end = run(at, is_name_part);
            (Kind::Name(chars[at..end].iter().collect()), end)
        }
        '→' | '⌶' | '&' | '⍠' | '#' | '⌺' | '⌸' => (Kind::Glyph(c), at + 1),
        '"' => (Kind::Bad("text stands in single quotes: 'text'"), at + 1),
        _ => (Kind::Bad("this character means nothing in APL"), at + 1),
    }
}

/// A colon behind these tokens: of a guard, of a label, or of a control word.
fn colon(chars: &[char], at: usize, before: &[Token]) -> (Kind, usize) {
    if chars.get(at + 1) == Some(&':') {
        return (Kind::ColonColon, at + 2);
    }
    let letters = |c: &&char| c.is_ascii_alphabetic();
    let word: String = chars[at + 1..].iter().take_while(letters).collect();
    let end = at + 1 + word.len();
    let found = words::find(&word);
    match found {
        _ if word.is_empty() => (Kind::Colon, at + 1),
        Some(control @ Control::In { .. }) if heads_loop(before) => (Kind::Control(control), end),
        Some(control) if begins(before) => (Kind::Control(control), end),
        None if begins(before) => {
            (Kind::Bad("there is no such control word: ]help :If lists them"), end)
        }
        _ => (Kind::Colon, at + 1),
    }
}

/// Whether a statement begins behind these tokens, or its label stands there.
fn begins(before: &[Token]) -> bool {
    let kinds = before.iter().rev().map(|t| &t.kind).take(3).collect::<Vec<_>>();
    let ends = |k: Option<&&Kind>| matches!(k, None | Some(Kind::Separator));
    match kinds.as_slice() {
        [Kind::Colon, Kind::Name(_), ..] => ends(kinds.get(2)),
        _ => ends(kinds.first()),
    }
}

/// Whether the statement that these tokens end with is a `:For`.
fn heads_loop(before: &[Token]) -> bool {
    let is_loop = |t: &Token| t.kind == Kind::Control(Control::Open(Block::For));
    before.iter().rev().take_while(|t| t.kind != Kind::Separator).any(is_loop)
}

fn quoted(chars: &[char], at: usize) -> (Kind, usize) {
    let mut text = String::new();
    let mut k = at + 1;
    loop {
        match chars.get(k) {
            None | Some('\n') => return (Kind::Bad("this quote is not closed on its line"), k),
            Some('\'') if chars.get(k + 1) == Some(&'\'') => {
                text.push('\'');
                k += 2;
            }
            Some('\'') => return (Kind::Text(text), k + 1),
            Some(&c) => {
                text.push(c);
                k += 1;
            }
        }
    }
}

/// One real number from `at`: `¯`, digits, point, exponent. None: not a number.
fn real(chars: &[char], at: usize) -> Option<(f64, usize)> {
    let mut k = at;
    let mut text = String::new();
    let is = |k: usize, c: char| chars.get(k) == Some(&c);
    let digits = |k: &mut usize, text: &mut String| {
        let from = *k;
        while let Some(c) = chars.get(*k).filter(|c| c.is_ascii_digit()) {
            text.push(*c);
            *k += 1;
        }
        *k - from
    };
    if is(k, '¯') {
        text.push('-');
        k += 1;
    }
    let mut some = digits(&mut k, &mut text);
    if is(k, '.') && (some > 0 || chars.get(k + 1).is_some_and(char::is_ascii_digit)) {
        text.push('.');
        k += 1;
        some += digits(&mut k, &mut text);
    }
    if some == 0 {
        return None;
    }
    if is(k, 'E') || is(k, 'e') {
        text.push('e');
        k += 1;
        if is(k, '¯') {
            text.push('-');
            k += 1;
        }
        if digits(&mut k, &mut text) == 0 {
            return None;
        }
    }
    text.parse().ok().map(|x| (x, k))
}

/// A whole number of a few digits from `at` that a blank or the end follows.
fn short(chars: &[char], at: usize) -> Option<(f64, usize)> {
    let below = chars[at] == '¯';
    let from = at + usize::from(below);
    let digits = chars[from..].iter().take(10).take_while(|c| c.is_ascii_digit()).count();
    let end = from + digits;
    if digits == 0 || digits == 10 || chars.get(end).is_some_and(|c| *c != ' ') {
        return None;
    }
    let add = |n: u32, c: &char| n * 10 + (u32::from(*c) - u32::from('0'));
    let size = f64::from(chars[from..end].iter().fold(0, add));
    Some((if below { 0.0 - size } else { size }, end))
}

/// The numbers of a text that is nothing but real numbers between blanks, given one by one. False:
/// it is something else, and some may have been given.
pub fn numerals(text: &[char], mut each: impl FnMut(f64)) -> bool {
    let mut at = 0;
    while let Some(&c) = text.get(at) {
        if c == ' ' {
            at += 1;
            continue;
        }
        match short(text, at).or_else(|| real(text, at)) {
            Some((x, end)) if x.is_finite() && text.get(end).is_none_or(|c| *c == ' ') => {
                each(x + 0.0);
                at = end;
            }
            _ => return false,
        }
    }
    true
}

fn number(chars: &[char], at: usize) -> (Kind, usize) {
    let bad = |says| {
        let end = chars[at + 1..]
            .iter()
            .position(|&c| !(is_name_part(c) || matches!(c, '¯' | '.')))
            .map_or(chars.len(), |n| at + 1 + n);
        (Kind::Bad(says), end)
    };
    let Some((x, end)) = real(chars, at) else {
        let digits =
            chars[at..].iter().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '¯')).count();
        if digits > 0
            && matches!(chars.get(at + digits), Some('E' | 'e'))
            && chars[at + digits - 1] != '¯'
        {
            return bad("this number's exponent has no digits: 1E5 or 1E¯5");
        }
        return bad("this is no number: ¯ belongs to a number, as in ¯3 or 1E¯5");
    };
    if !x.is_finite() {
        return bad("this number is beyond what an f64 holds");
    }
    if matches!(chars.get(end), Some('J' | 'j')) {
        return match real(chars, end + 1) {
            Some((_, end)) if matches!(chars.get(end), Some('J' | 'j')) => {
                bad("a complex number has two parts: 3J4")
            }
            Some((0.0, end)) => (Kind::Number(x + 0.0), end),
            Some((im, end)) if im.is_finite() => (Kind::Complex(Complex64::new(x + 0.0, im)), end),
            Some(_) => bad("this number is beyond what an f64 holds"),
            None => bad("a complex number is written 3J4"),
        };
    }
    if chars.get(end) == Some(&'.') {
        return bad("a number has one point");
    }
    (Kind::Number(if x == 0.0 { 0.0 } else { x }), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        lex(text).into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn numbers_names_and_text() {
        let n = Kind::Number;
        assert_eq!(kinds("¯3 1E¯5 .5 5."), vec![n(-3.0), n(1e-5), n(0.5), n(5.0)]);
        assert_eq!(kinds("'it''s'"), vec![Kind::Text("it's".into())]);
        assert_eq!(kinds("∆x_1 ⎕io"), vec![Kind::Name("∆x_1".into()), Kind::System("IO".into())]);
        let z = |re, im| Kind::Complex(Complex64::new(re, im));
        assert_eq!(
            kinds("3J¯4 1e3j.5 ¯.5J2E¯3 7J0"),
            vec![z(3.0, -4.0), z(1e3, 0.5), z(-0.5, 2e-3), n(7.0)]
        );
        assert!(matches!(kinds("3J 1J1E999")[..], [Kind::Bad(_), Kind::Bad(_)]));
        assert!(matches!(kinds("3J4 ¯ 'a")[..], [Kind::Complex(_), Kind::Bad(_), Kind::Bad(_)]));
    }

    #[test]
    fn spans_count_code_points() {
        let tokens = lex("⍳10⋄+/x ⍝ end");
        let spans: Vec<_> = tokens.iter().map(|t| (t.span.start, t.span.end)).collect();
        assert_eq!(spans, vec![(0, 1), (1, 3), (3, 4), (4, 5), (5, 6), (6, 7), (8, 13)]);
    }
}

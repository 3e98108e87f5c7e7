//! Lines and words of what a front end sends: commands apart from code, the word under a cursor.

use aplomb_ground::help::idioms;
use aplomb_ground::protocol::{Completeness, Completion};
use aplomb_ground::span::{Place, Source, Span};
use aplomb_language::syntax;
use aplomb_language::syntax::token::is_name_part;
use aplomb_language::table::{OTHER_KEYS, other_kind, prims};
use std::ops::Range;
use std::sync::Arc;

pub enum Piece {
    /// A `)` or `]` line, and where it stands.
    Command(String, Part),
    Code(Part),
}

/// Code between commands, or a command: bytes of the whole text, and the code points before them.
/// Many of them share a text that is kept once, and read once.
pub struct Part {
    text: Arc<str>,
    own: Range<usize>,
    first: u32,
}

impl Part {
    /// To be read under a name.
    pub fn of(&self, name: &str) -> Arc<Source> {
        Source::part(name, &self.text, self.own.clone(), self.first)
    }

    /// The place of a line in the text that it is a part of.
    pub fn place(&self, name: &str) -> Place {
        let own = self.text.get(self.own.clone()).map_or(0, |own| own.chars().count() as u32);
        Place::new(&self.of(name), Span::new(self.first, self.first + own))
    }

    /// The place of a text within, which blanks or ends of lines part from what else stands there.
    /// None: it does not stand there.
    pub fn within(&self, text: &str) -> Option<Part> {
        let own = self.text.get(self.own.clone()).filter(|_| !text.is_empty())?;
        let is_apart = |at: &usize| {
            let before = own[..*at].chars().next_back();
            let behind = own[at + text.len()..].chars().next();
            [before, behind].into_iter().flatten().all(|c| c.is_whitespace() || c == ':')
        };
        let at = own.match_indices(text).map(|found| found.0).find(is_apart)?;
        let from = self.own.start + at;
        let before = own[..at].chars().count() as u32;
        let (text, own) = (self.text.clone(), from..from + text.len());
        Some(Part { text, own, first: self.first + before })
    }
}

fn is_command(line: &str) -> bool {
    line.trim_start().starts_with([')', ']'])
}

/// `%%why` on the first line: the lines below are the argument of `]why`. Notebooks know it as a
/// cell magic.
fn magic(code: &str) -> Option<String> {
    code.trim().strip_prefix("%%").map(|rest| format!("]{}", rest.trim_start()))
}

/// Commands stand on their own lines, outside brackets.
pub fn pieces(code: &Arc<str>) -> Vec<Piece> {
    if let Some(command) = magic(code) {
        let whole = Part { text: code.clone(), own: 0..code.len(), first: 0 };
        return vec![Piece::Command(command, whole)];
    }
    // The system's line, where a script is put into a cell.
    let above = code.starts_with("#!").then(|| code.split_inclusive('\n').next()).flatten();
    let (from, first) = above.map_or((0, 0), |l| (l.len(), l.chars().count() as u32));
    if !code.lines().any(is_command) {
        return vec![Piece::Code(Part { text: code.clone(), own: from..code.len(), first })];
    }
    let mut out = Vec::new();
    let mut own = Part { text: code.clone(), own: from..from, first };
    let (mut read, mut points) = (syntax::Lines::default(), first);
    for line in code[from..].split_inclusive('\n') {
        points = points.saturating_add(line.chars().count() as u32);
        let end = own.own.end + line.len();
        if is_command(line) && read.completeness() != Completeness::More {
            flush(&mut out, own);
            read = syntax::Lines::default();
            let from = end - line.len();
            let first = points.saturating_sub(line.chars().count() as u32);
            let place = Part { text: code.clone(), own: from..end, first };
            out.push(Piece::Command(line.trim().into(), place));
            own = Part { text: code.clone(), own: end..end, first: points };
        } else {
            own.own.end = end;
            read.add(line);
        }
    }
    flush(&mut out, own);
    out
}

fn flush(out: &mut Vec<Piece>, own: Part) {
    if own.text.get(own.own.clone()).is_some_and(|text| !text.trim().is_empty()) {
        out.push(Piece::Code(own));
    }
}

pub fn completeness(code: &str) -> Completeness {
    let is_whole = !code.contains('\n') && is_command(code) || magic(code).is_some();
    if is_whole { Completeness::Complete } else { syntax::completeness(code) }
}

/// The word that ends at or holds the cursor, with its place in code points: a name, a command, a
/// glyph, `` `rho ``.
pub fn word_at(code: &str, cursor: usize) -> (String, usize, usize) {
    let chars: Vec<char> = code.chars().collect();
    let cursor = cursor.min(chars.len());
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '∆' | '⍙' | '⎕');
    let mut start = cursor;
    while start > 0 && is_part(chars[start - 1]) {
        start -= 1;
    }
    // A name begins with no digit: `2 1rho`.
    while start < cursor && chars[start].is_ascii_digit() {
        start += 1;
    }
    let mut end = cursor;
    while end < chars.len() && is_part(chars[end]) {
        end += 1;
    }
    if start > 0 && matches!(chars[start - 1], ']' | ')' | '`') {
        start -= 1;
        // What stands behind the key was there before.
        end = if chars[start] == '`' { cursor } else { end };
    }
    if start == cursor && cursor > 1 && chars[cursor - 2] == '`' {
        // A key: `[ is ←.
        (start, end) = (cursor - 2, cursor);
    } else if start == end && cursor < chars.len() {
        end = cursor + 1;
    } else if start == end && cursor > 0 {
        (start, end) = (cursor - 1, cursor);
    }
    (chars[start..end].iter().collect(), start, end)
}

/// The part of a line that a cursor stands in.
#[derive(Debug, PartialEq)]
pub enum Within {
    Code,
    /// A text that is open, and what it holds so far.
    Text(String),
    Comment,
    /// A command, with what follows its name; `%%why` is `]why`.
    Command(String),
}

/// The part that a cursor stands in, by the text before it.
pub fn within(before: &str) -> Within {
    let line = before.rsplit('\n').next().map_or("", |line| line);
    if let Some(command) = magic(before).filter(|_| !before.trim_start().contains('\n')) {
        return Within::Command(command);
    }
    let mut text: Option<(char, usize)> = None;
    for (at, c) in line.char_indices() {
        match (c, text) {
            ('\'' | '"', None) => text = Some((c, at + 1)),
            (_, Some((quote, _))) if c == quote => text = None,
            ('⍝', None) => return Within::Comment,
            _ => {}
        }
    }
    match text {
        Some((_, from)) => Within::Text(line[from..].into()),
        None if is_command(line) => Within::Command(line.trim_start().into()),
        None => Within::Code,
    }
}

/// The comments right above lines that begin with a definition, by the name that is defined.
pub fn comments(text: &str) -> Vec<(String, String)> {
    if !text.contains('⍝') {
        return Vec::new();
    }
    let (mut out, mut above) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with('⍝') {
            above.push(line);
            continue;
        }
        let head = line.trim_start_matches('∇').trim_start();
        let name: String = head.chars().take_while(|c| is_name_part(*c)).collect();
        let defines = line.starts_with('∇') || head[name.len()..].trim_start().starts_with('←');
        if defines && !name.is_empty() && !above.is_empty() {
            out.push((name, above.join("\n")));
        }
        above.clear();
    }
    out
}

/// Something that can be typed by name, and by a key behind a backtick.
struct Sign {
    completion: Completion,
    key: Option<char>,
    names: &'static [&'static str],
}

fn signs() -> Vec<Sign> {
    let sign = |text: String, kind, key, names: &'static [&'static str]| {
        let completion = Completion { text, kind, says: names.join(", ") };
        Sign { completion, key, names }
    };
    let prims = prims().map(|p| sign(p.glyph.to_string(), p.kind(), p.key, p.names));
    let others = OTHER_KEYS
        .iter()
        .map(|(glyph, key, names)| sign(glyph.to_string(), other_kind(*glyph), Some(*key), names));
    let idioms = idioms::ROWS.iter().map(|i| sign(i.form.to_string(), "idiom", None, i.names));
    prims.chain(others).chain(idioms).collect()
}

/// Glyphs and idioms of a name and true; without such, those whose names begin so. Behind a leading
/// backtick the glyph of that key comes first.
pub fn glyphs(word: &str) -> (Vec<Completion>, bool) {
    let (name, signs) = (word.trim_start_matches('`'), signs());
    let pick = |wanted: &dyn Fn(&Sign) -> bool| -> Vec<Completion> {
        signs.iter().filter(|s| wanted(s)).map(|s| s.completion.clone()).collect()
    };
    let mut exact = pick(&|s| s.names.contains(&name));
    let mut chars = name.chars();
    if let (true, Some(key), None) = (word.starts_with('`'), chars.next(), chars.next()) {
        let mut keyed = pick(&|s| s.key == Some(key));
        keyed.extend(exact);
        let begin = pick(&|s| key.is_alphanumeric() && s.names.iter().any(|n| n.starts_with(key)));
        for more in begin.into_iter().take(if keyed.is_empty() { 0 } else { usize::MAX }) {
            if !keyed.contains(&more) {
                keyed.push(more);
            }
        }
        exact = keyed;
    }
    match exact.is_empty() && !name.is_empty() {
        true => (pick(&|s| s.names.iter().any(|n| n.starts_with(name))), false),
        false => (exact, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_ground::span::{Place, Span};

    #[test]
    fn commands_stand_between_code_and_offsets_are_kept() {
        let found = pieces(&"x←1\n]dag x\n+x".into());
        let [Piece::Code(a), Piece::Command(b, _), Piece::Code(c)] = found.as_slice() else {
            panic!("three pieces")
        };
        let (a, c) = (a.of("a"), c.of("c"));
        assert_eq!((a.own(), b.as_str(), c.own()), (("x←1\n", 0), "]dag x", ("+x", 11)));
        assert_eq!((a.alone().as_str(), c.alone().as_str()), ("x←1\n", "   \n      \n+x"));
    }

    /// Each piece was the whole text up to it, so a text of n commands was written and read n
    /// times.
    #[test]
    fn a_text_of_many_commands_is_kept_once_and_each_part_read_once() {
        let text: Arc<str> = "]off cse\nx←⍳3\n".repeat(20_000).into();
        let parts: Vec<_> = pieces(&text)
            .iter()
            .filter_map(|p| if let Piece::Code(p) = p { Some(p.of("t")) } else { None })
            .collect();
        assert_eq!(parts.len(), 20_000);
        assert!(parts.iter().all(|p| Arc::ptr_eq(&p.text, &text)));
        assert!(parts.iter().map(|p| p.own().0.len()).sum::<usize>() < text.len());
        let at = |k: usize| {
            Place::new(&parts[k], Span::new(parts[k].own().1, parts[k].own().1 + 4)).text()
        };
        assert_eq!((at(0).as_str(), at(19_999).as_str()), ("x←⍳3", "x←⍳3"));
    }

    #[test]
    fn the_systems_line_above_a_script_is_no_code() {
        for text in ["#!/usr/bin/aplomb\n1+1\n", "#!/usr/bin/aplomb\n1+1\n]dag\n"] {
            let found = pieces(&text.into());
            let Some(Piece::Code(part)) = found.first() else { panic!("code") };
            assert_eq!(part.of("t").own(), ("1+1\n", 18), "{text}");
        }
    }

    #[test]
    fn a_magic_takes_the_whole_cell() {
        let found = pieces(&"%%why\nx←⍳5\n+/x".into());
        let [Piece::Command(line, _)] = found.as_slice() else { panic!("one command") };
        assert_eq!(line, "]why\nx←⍳5\n+/x");
        assert_eq!(completeness("%%why\n{"), Completeness::Complete);
    }

    #[test]
    fn a_bracket_at_the_start_of_a_line_inside_a_dfn_is_code() {
        assert_eq!(pieces(&"f←{\n(⍵\n)+1}\n".into()).len(), 1);
        assert_eq!(pieces(&"f←{\n(⍵\n)+1}\n)vars".into()).len(), 2);
    }

    #[test]
    fn comments_and_texts_are_no_code() {
        let text = |t: &str| Within::Text(t.into());
        let command = |t: &str| Within::Command(t.into());
        for (before, place) in [
            ("1+rho", Within::Code),
            ("x←1 ⍝ rho", Within::Comment),
            ("'⍝' rho", Within::Code),
            ("⎕CSV'exa", text("exa")),
            ("'it''s' \"a'b", text("a'b")),
            ("⍝ 'a\nrho", Within::Code),
            ("x←1\n  ]plot -k", command("]plot -k")),
            ("%%ti", command("]ti")),
            ("%%time\nrho", Within::Code),
        ] {
            assert_eq!(within(before), place, "{before}");
        }
    }

    #[test]
    fn an_exact_name_wins_over_longer_ones() {
        let texts = |word| glyphs(word).0.into_iter().map(|c| c.text).collect::<String>();
        assert_eq!(
            (texts("iota").as_str(), texts("`rho").as_str(), texts("omega").as_str()),
            ("⍳", "⍴", "⍵")
        );
        assert_eq!((texts("sum").as_str(), texts("mean").as_str()), ("+/", "(+/÷≢)"));
        let first = |word| glyphs(word).0.first().map_or(String::new(), |c| c.text.clone());
        assert_eq!(["`w", "`r", "`[", "`-", "`=", "`D", "`a"].map(first).concat(), "⍵⍴←×÷⋄⍺");
        assert!(texts("re").chars().count() > 1 && texts("").is_empty());
    }

    #[test]
    fn words_are_found_around_the_cursor() {
        assert_eq!(word_at("1+rho", 5), ("rho".into(), 2, 5));
        assert_eq!(word_at("2 1rho", 6), ("rho".into(), 3, 6));
        assert_eq!(word_at("]da", 3), ("]da".into(), 0, 3));
        assert_eq!(
            (word_at("x`[2", 3), word_at("`2", 2)),
            (("`[".into(), 1, 3), ("`2".into(), 0, 2))
        );
        assert_eq!(word_at("⍉m", 0).0, "⍉m".chars().take(1).collect::<String>());
    }
}

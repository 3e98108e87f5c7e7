//! Patterns as Dyalog's users write them (PCRE), for the `regex` crate.

use ::regex::{Regex, RegexBuilder};
use aplomb_ground::error::{Result, domain, limit, nonce};
use std::rc::Rc;

/// A copy shares the memory that searches work in, which a copied `Regex` makes anew.
#[derive(Clone)]
pub struct Pattern {
    pub regex: Rc<Regex>,
}

/// The patterns that were compiled last: a call for each of many texts compiles one once.
#[derive(Clone, Default)]
pub struct Patterns(Vec<(String, How, Pattern)>);

impl Patterns {
    /// A pattern, compiled if it is none of these. Errors: those of `compile`.
    pub fn of(&mut self, pattern: &str, how: &How) -> Result<Pattern> {
        const KEPT: usize = 8;
        let is = |known: &&(String, How, Pattern)| known.0 == pattern && known.1 == *how;
        if let Some((.., known)) = self.0.iter().find(is) {
            return Ok(known.clone());
        }
        let made = compile(pattern, how)?;
        if self.0.len() == KEPT {
            self.0.remove(0);
        }
        self.0.push((pattern.to_string(), *how, made.clone()));
        Ok(made)
    }
}

/// The way in which patterns are read.
#[derive(Clone, Copy, PartialEq)]
pub struct How {
    pub regex: bool,
    pub ignore_case: bool,
    /// ^ and $ stand at every line.
    pub lines: bool,
    pub dot_all: bool,
    pub greedy: bool,
    /// \w \d \s \b know more than ASCII.
    pub unicode: bool,
}

/// Errors: NONCE for what looks around or back, DOMAIN for what is no pattern, LIMIT for one that
/// is too large.
fn compile(pattern: &str, how: &How) -> Result<Pattern> {
    let text = if how.regex { translated(pattern, how.unicode) } else { ::regex::escape(pattern) };
    let built = RegexBuilder::new(&text)
        .case_insensitive(how.ignore_case)
        .multi_line(how.lines)
        .dot_matches_new_line(how.dot_all)
        .swap_greed(!how.greedy)
        .crlf(true)
        .build();
    built.map(|regex| Pattern { regex: Rc::new(regex) }).map_err(|e| {
        let says = e.to_string();
        let last = says.lines().last().unwrap_or("").trim_start_matches("error: ").to_string();
        match e {
            ::regex::Error::CompiledTooBig(_) => {
                limit(format!("the pattern {pattern} is too large"))
            }
            _ if last.contains("look-around") || last.contains("backreferences") => nonce(format!(
                "a pattern with {}",
                if last.contains("back") { "backreferences" } else { "look-around" }
            )),
            _ => domain(format!("the pattern {pattern} cannot be read: {last}")),
        }
    })
}

/// Classes of escapes, as PCRE has them without its Unicode option.
const ASCII: &[(char, &str)] = &[
    ('d', "[0-9]"),
    ('D', "[^0-9]"),
    ('w', "[0-9A-Za-z_]"),
    ('W', "[^0-9A-Za-z_]"),
    ('s', "[ \\t\\n\\x0B\\x0C\\r]"),
    ('S', "[^ \\t\\n\\x0B\\x0C\\r]"),
];

/// The escapes that both dialects have under other names, outside brackets.
const OTHERS: &[(char, &str)] = &[
    ('h', "[ \\t\\x{A0}]"),
    ('R', "(?:\\r\\n|[\\n\\x0B\\x0C\\r\\x{85}\\x{2028}\\x{2029}])"),
    ('Z', "\\n?\\z"),
    ('N', "[^\\n]"),
    ('e', "\\x1B"),
    ('<', "<"),
    ('>', ">"),
];

fn translated(pattern: &str, unicode: bool) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    // Inside brackets, and whether a ] there would still be a plain character.
    let mut class: Option<bool> = None;
    while let Some(c) = chars.next() {
        let first = class == Some(true);
        if class.is_some() {
            class = Some(first && c == '^');
        }
        match c {
            '\\' => {
                let Some(next) = chars.next() else {
                    out.push('\\');
                    break;
                };
                let ascii = ASCII.iter().find(|(k, _)| *k == next).filter(|_| !unicode);
                let other = OTHERS.iter().find(|(k, _)| *k == next);
                match (next, ascii, other) {
                    (_, Some((_, text)), _) => out.push_str(text),
                    ('b' | 'B', ..) if class.is_none() && !unicode => {
                        out.push_str(&format!("(?-u:\\{next})"))
                    }
                    ('b', ..) if class.is_some() => out.push_str("\\x08"),
                    (_, _, Some((_, text))) => out.push_str(text),
                    _ => {
                        out.push('\\');
                        out.push(next);
                    }
                }
            }
            '[' if class.is_none() => {
                class = Some(true);
                out.push('[');
            }
            // In brackets these mean themselves, but for [:alpha:].
            '[' if chars.peek() == Some(&':') => {
                out.push('[');
                for c in chars.by_ref() {
                    out.push(c);
                    if c == ']' {
                        break;
                    }
                }
            }
            '[' | '&' | '~' if class.is_some() => {
                out.push('\\');
                out.push(c);
            }
            ']' if first => out.push_str("\\]"),
            ']' => {
                class = None;
                out.push(']');
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::translated;

    #[test]
    fn classes_are_those_of_pcre() {
        let cases = [
            (r"\d+", r"[0-9]+"),
            (r"[\w.]", r"[[0-9A-Za-z_].]"),
            (r"[]a]", r"[\]a]"),
            (r"[^]a]", r"[^\]a]"),
            (r"[a[&]", r"[a\[\&]"),
            (r"[[:alpha:]_]", r"[[:alpha:]_]"),
            (r"\bx", r"(?-u:\b)x"),
            (r"\\d", r"\\d"),
        ];
        for (from, to) in cases {
            assert_eq!(translated(from, false), to);
        }
        assert_eq!(translated(r"\d\b", true), r"\d\b");
    }
}

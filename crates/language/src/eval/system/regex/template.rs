//! Transformations that are text: `&`, `%`, `\1`, `\<name>`, `\u&` …

use aplomb_ground::error::{Result, domain};

pub struct Template(pub Vec<Part>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Same,
    Upper,
    Lower,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Plain(String),
    /// `%`: the line or document.
    Line(Case),
    /// The match is group 0.
    Group(usize, Case),
    Named(String, Case),
}

/// Errors: DOMAIN for a backslash that means nothing.
pub fn parse(text: &str, special: bool) -> Result<Template> {
    if !special {
        return Ok(Template(vec![Part::Plain(text.into())]));
    }
    let chars: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    let mut plain = String::new();
    let mut at = 0;
    while at < chars.len() {
        let (part, next) = match chars[at] {
            '&' => (Ok(Part::Group(0, Case::Same)), at + 1),
            '%' => (Ok(Part::Line(Case::Same)), at + 1),
            '\\' => escape(&chars, at + 1).ok_or_else(|| unknown(&chars[at..]))?,
            c => (Err(c), at + 1),
        };
        at = next;
        match part {
            Err(c) => plain.push(c),
            Ok(part) => {
                if !plain.is_empty() {
                    out.push(Part::Plain(std::mem::take(&mut plain)));
                }
                out.push(part);
            }
        }
    }
    if !plain.is_empty() {
        out.push(Part::Plain(plain));
    }
    Ok(Template(out))
}

fn unknown(from: &[char]) -> aplomb_ground::error::Error {
    let text: String = from.iter().take(4).collect();
    domain(format!("{text} means nothing in a transformation"))
        .hint("& \\0 \\1 \\(12) \\<name> % \\n \\r \\\\ \\& \\% \\x{41}, and \\u \\l \\f before")
}

/// The meaning of a backslash at `at`: a part or a character, and where it ends.
fn escape(chars: &[char], at: usize) -> Option<(Result<Part, char>, usize)> {
    let c = *chars.get(at)?;
    let plain = match c {
        'n' => Some('\n'),
        'r' => Some('\r'),
        '\\' | '%' | '&' => Some(c),
        _ => None,
    };
    if let Some(c) = plain {
        return Some((Err(c), at + 1));
    }
    let case = match c {
        'u' => Case::Upper,
        'l' | 'f' => Case::Lower,
        'x' => {
            let (digits, end) = until(chars, at + 1, '{', '}')?;
            return Some((
                Err(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)?),
                end,
            ));
        }
        _ => return reference(chars, at, Case::Same).map(|(p, end)| (Ok(p), end)),
    };
    reference(chars, at + 1, case).map(|(p, end)| (Ok(p), end))
}

fn reference(chars: &[char], at: usize, case: Case) -> Option<(Part, usize)> {
    match *chars.get(at)? {
        '&' if case != Case::Same => Some((Part::Group(0, case), at + 1)),
        '%' if case != Case::Same => Some((Part::Line(case), at + 1)),
        c if c.is_ascii_digit() => Some((Part::Group(c.to_digit(10)? as usize, case), at + 1)),
        '(' => {
            let (digits, end) = until(chars, at, '(', ')')?;
            Some((Part::Group(digits.parse().ok().filter(|k| *k < 64)?, case), end))
        }
        '<' => until(chars, at, '<', '>').map(|(name, end)| (Part::Named(name, case), end)),
        _ => None,
    }
}

/// The text between two marks, the first of which stands at `at`.
fn until(chars: &[char], at: usize, open: char, close: char) -> Option<(String, usize)> {
    if chars.get(at) != Some(&open) {
        return None;
    }
    let long = chars[at + 1..].iter().position(|c| *c == close)?;
    Some((chars[at + 1..at + 1 + long].iter().collect(), at + long + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_parts() {
        let Template(parts) = parse("a&b\\u1\\<day>\\n%", true).unwrap();
        let expected = [
            Part::Plain("a".into()),
            Part::Group(0, Case::Same),
            Part::Plain("b".into()),
            Part::Group(1, Case::Upper),
            Part::Named("day".into(), Case::Same),
            Part::Plain("\n".into()),
            Part::Line(Case::Same),
        ];
        assert_eq!(parts, expected);
        assert!(
            parse("\\q", true).is_err()
                && parse("\\", true).is_err()
                && parse("\\(99)", true).is_err()
        );
    }
}

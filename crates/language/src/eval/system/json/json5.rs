//! JSON5 to JSON: comments, names without quotes, single quotes, commas at the end, numbers as
//! JavaScript writes them.
//!
//! Source: https://spec.json5.org. What is no JSON5 comes out as no JSON, and the reader of JSON
//! says so.

use std::iter::Peekable;
use std::str::Chars;

/// The same text as JSON has it.
pub fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' | '\'' => quoted(c, &mut chars, &mut out),
            '/' => match chars.peek() {
                Some('/') => while chars.next_if(|c| *c != '\n').is_some() {},
                Some('*') => {
                    chars.next();
                    let mut last = ' ';
                    for c in chars.by_ref() {
                        if last == '*' && c == '/' {
                            break;
                        }
                        last = c;
                    }
                }
                _ => out.push(c),
            },
            '}' | ']' => {
                let kept = out.trim_end().len();
                if out[..kept].ends_with(',') {
                    out.truncate(kept - 1);
                }
                out.push(c);
            }
            c if c.is_ascii_digit() || matches!(c, '.' | '+' | '-') => {
                let mut word = String::from(c);
                let part = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '+' | '-');
                while let Some(c) = chars.next_if(part) {
                    word.push(c);
                }
                out += &number(&word);
            }
            c if c.is_alphabetic() || matches!(c, '_' | '$') => {
                let mut word = String::from(c);
                let part = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '$');
                while let Some(c) = chars.next_if(part) {
                    word.push(c);
                }
                let mut rest = chars.clone();
                let next = rest.find(|c| !c.is_whitespace());
                match next {
                    Some(':') => out += &format!("\"{word}\""),
                    _ => out += &word,
                }
            }
            c => out.push(c),
        }
    }
    out
}

/// A text up to its closing quote, in double quotes.
fn quoted(quote: char, chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('"');
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => break,
            '"' => out.push_str("\\\""),
            '\\' => match chars.next() {
                // A line end that is escaped is none.
                Some('\n') | None => {}
                Some('\r') => drop(chars.next_if_eq(&'\n')),
                Some('v') => out.push_str("\\u000b"),
                Some('0') => out.push_str("\\u0000"),
                Some('x') => {
                    let code: String = chars.by_ref().take(2).collect();
                    *out += &format!("\\u00{code}");
                }
                Some(c @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u')) => {
                    out.push('\\');
                    out.push(c);
                }
                Some(c) => out.push(c),
            },
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A number without a sign +, with digits on either side of its point, hexadecimal ones as decimal.
fn number(word: &str) -> String {
    let (sign, rest) = match word.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", word.trim_start_matches('+')),
    };
    let hex = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
    if let Some(whole) = hex.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        return format!("{sign}{whole}");
    }
    let (digits, exponent) = match rest.find(['e', 'E']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let digits = match digits.split_once('.') {
        None => digits.to_string(),
        Some((whole, part)) => {
            let filled = |s: &str| if s.is_empty() { "0".to_string() } else { s.to_string() };
            format!("{}.{}", filled(whole), filled(part))
        }
    };
    format!("{sign}{digits}{exponent}")
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn json5_becomes_json() {
        let rows = [
            ("{a: 1, 'b': .5, c: 5., }", r#"{"a": 1, "b": 0.5, "c": 5.0}"#),
            ("[1, 2, 3,]", "[1, 2, 3]"),
            ("// one\n[/* two */ +1, 0xFF, -0x10]", "\n[ 1, 255, -16]"),
            (r#"'it\'s "so"'"#, r#""it's \"so\"""#),
            ("{\"x\": true, $y_1 : null}", r#"{"x": true, "$y_1" : null}"#),
            ("'a\\\nb'", "\"ab\""),
        ];
        for (given, wanted) in rows {
            assert_eq!(plain(given), wanted);
        }
    }
}

//! Names of APL as names of other languages.

use crate::Declaration;

/// An APL name as one of letters, digits and `_`; one that a language has already gets `f_` in
/// front.
pub fn identifier(name: &str, taken: &dyn Fn(&str) -> bool) -> String {
    let plain: String = name
        .chars()
        .map(|c| match c {
            '∆' => 'd',
            '⍙' => 'D',
            c if c.is_ascii_alphanumeric() || c == '_' => c,
            _ => '_',
        })
        .collect();
    let begins = plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    match begins && !plain.trim_matches('_').is_empty() && !taken(&plain) {
        true => plain,
        false => format!("f_{plain}"),
    }
}

/// The names of the parameters: letters that are neither extents nor taken.
pub fn parameters(
    takes: &Declaration,
    free: &[String],
    taken: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let letters = ('a'..='z').map(String::from);
    let more = (1..).map(|n| format!("a{n}"));
    let usable = letters.chain(more).filter(|l| !free.contains(l) && !taken(l));
    usable.take(takes.leaves().len()).collect()
}

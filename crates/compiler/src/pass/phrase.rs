//! The source text of what a launch writes: `P+.×⍉C`, by which people know it.
//!
//! A node's place is its function's. Its value is what APL's rule makes of that: the one operand
//! left of the function and all that is right of it. Nothing here knows what names mean but for
//! functions that the text itself defines.

use super::decide::glyph;
use aplomb_ground::span::{Place, Source, Span};
use aplomb_values::dag::{Dag, NodeId};
use std::ops::Range;
use std::sync::Arc;

/// A name is at most so long; of several arrays together at most so.
const LONGEST: usize = 24;
const TOGETHER: usize = 40;

/// The text of these nodes' values: of the one that has all others in it, of all where they stand
/// in one short statement, else of the last.
pub fn name(dag: &Dag, written: &[NodeId]) -> Option<String> {
    let places: Vec<_> = written.iter().filter_map(|at| dag.info(*at).meta.place.clone()).collect();
    let last = places.last()?;
    let text: Vec<char> = last.source.text.chars().collect();
    let same = |s: &Arc<Source>| Arc::ptr_eq(&s.text, &last.source.text);
    let own = places.iter().filter(|p| same(&p.source));
    let phrases: Vec<Range<usize>> =
        own.map(|p| phrase(&text, p.span.start as usize..p.span.end as usize)).collect();
    let of_last = phrases.last()?.clone();
    let hull = phrases.iter().fold(of_last.clone(), |a, b| a.start.min(b.start)..a.end.max(b.end));
    let hull = balanced(&text, hull);
    let whole = phrases.contains(&hull);
    let one = !text[hull.clone()].iter().any(|c| matches!(c, '\n' | '⋄' | '{' | '}'));
    let told = if whole || one && hull.len() <= TOGETHER { hull } else { of_last };
    let told = assigned(&text, told);
    Some(cut(&in_a_line(&text[told])))
}

/// Characters on both sides of a function within which the text of a reader is looked at.
const NEAR: u32 = 400;

/// The text of the value that the function at a place has, as far as it stands near that.
pub fn text(place: &Place) -> String {
    let Span { start, end } = place.span;
    let from = start.saturating_sub(NEAR);
    let near = place.source.slice(Span { start: from, end: end.saturating_add(NEAR) });
    let text: Vec<char> = near.chars().collect();
    let own = phrase(&text, (start - from) as usize..(end - from) as usize);
    text[own].iter().collect()
}

/// A text as it is written, in one line: where that ends stands one blank. Blanks may be part of a
/// quoted text.
fn in_a_line(text: &[char]) -> String {
    let lines: String = text.iter().collect();
    let lines: Vec<&str> = lines.trim().split('\n').collect();
    let last = lines.len() - 1;
    let inner = |(k, line): (usize, &&str)| match (k == 0, k == last) {
        (true, true) => line.to_string(),
        (true, false) => line.trim_end().to_string(),
        (false, true) => line.trim_start().to_string(),
        (false, false) => line.trim().to_string(),
    };
    let parts = lines.iter().enumerate().map(inner).filter(|line| !line.is_empty());
    parts.collect::<Vec<_>>().join(" ").replace('\t', " ")
}

/// A node without a place: its glyph and what it is of.
pub fn made(dag: &Dag, at: NodeId) -> String {
    let operand = |a: &NodeId| match &dag.info(*a).name {
        Some(name) => name.to_string(),
        None => format!("n{}", a.index()),
    };
    let operands: Vec<String> = dag.node(at).inputs().iter().map(operand).collect();
    match operands.as_slice() {
        [x, y] => cut(&format!("{x}{}{y}", glyph(dag, at))),
        all => cut(&format!("{}{}", glyph(dag, at), all.join(" "))),
    }
}

/// The middle is left out of what is long.
fn cut(text: &str) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= LONGEST {
        return text.to_string();
    }
    let half = LONGEST / 2;
    let (begin, end) = (&all[..half], &all[all.len() - (LONGEST - half - 1)..]);
    begin.iter().chain(&['…']).chain(end).collect()
}

/// The function at a span, with its operands.
fn phrase(text: &[char], at: Range<usize>) -> Range<usize> {
    let end = at.end.min(text.len());
    let start = at.start.min(end);
    let indexes = text.get(start) == Some(&'[');
    let left = operand_left(text, start).max(behind_command(text, start));
    left..if indexes { end } else { right(text, end) }
}

/// The place behind a command's word and options, where the line of a place begins with one.
fn behind_command(text: &[char], at: usize) -> usize {
    let line = text[..at].iter().rposition(|c| *c == '\n').map_or(0, |k| k + 1);
    if text.get(line) != Some(&']') {
        return line;
    }
    let blank = |from: usize| text[from..at].iter().position(|c| *c == ' ').map(|k| from + k);
    let Some(mut word) = blank(line) else { return at };
    loop {
        let end = word + text[word..at].iter().take_while(|c| **c == ' ').count();
        let letter = || text.get(end + 1).is_some_and(char::is_ascii_alphabetic);
        // An option ends with a blank; `-x` of an expression need not.
        match blank(end).filter(|_| text.get(end) == Some(&'-') && letter()) {
            Some(next) => word = next,
            None => return end,
        }
    }
}

fn opens(c: char) -> bool {
    matches!(c, '(' | '[' | '{')
}

fn closes(c: char) -> bool {
    matches!(c, ')' | ']' | '}')
}

/// The end of the expression that goes on from here.
fn right(text: &[char], from: usize) -> usize {
    let (mut depth, mut at) = (0usize, from);
    while let Some(c) = text.get(at) {
        match c {
            '\'' => at = quote(text, at),
            c if opens(*c) => depth += 1,
            c if closes(*c) && depth == 0 => break,
            c if closes(*c) => depth -= 1,
            '⋄' | '\n' | ';' | ':' if depth == 0 => break,
            '⍝' if depth == 0 => break,
            _ => {}
        }
        at += 1;
    }
    let all = &text[from..at.min(text.len())];
    from + all.iter().rposition(|c| !c.is_whitespace()).map_or(0, |k| k + 1)
}

/// The place of the quote that ends a text.
fn quote(text: &[char], from: usize) -> usize {
    let rest = text.iter().skip(from + 1).position(|c| matches!(c, '\'' | '\n'));
    rest.map_or(text.len(), |k| from + 1 + k)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '∆' | '⍙' | '⍺' | '⍵' | '⎕' | '¯' | '.')
}

/// The beginning of the array that stands left of a function; the place itself where none does.
fn operand_left(text: &[char], from: usize) -> usize {
    let mut begin = from;
    loop {
        let mut at = begin;
        while at > 0 && text[at - 1] == ' ' {
            at -= 1;
        }
        let Some(&last) = at.checked_sub(1).and_then(|k| text.get(k)) else { return begin };
        let start = match last {
            ')' | ']' => opening(text, at - 1),
            '\'' => text[..at - 1].iter().rposition(|c| *c == '\''),
            c if is_word(c) => {
                let word = text[..at].iter().rposition(|c| !is_word(*c)).map_or(0, |k| k + 1);
                let is_array = !is_function(text, &text[word..at]) && !is_control(text, word..at);
                is_array.then_some(word)
            }
            _ => None,
        };
        match start {
            // An index belongs to what is left of it.
            Some(start) if last == ']' => begin = operand_left(text, start).min(start),
            Some(start) => begin = start,
            None => return begin,
        }
        // A strand goes on only behind a blank.
        if begin == 0 || text[begin - 1] != ' ' {
            return begin;
        }
    }
}

/// True of words of control: `:If`, where a statement begins, and `:In` behind a blank.
fn is_control(text: &[char], word: Range<usize>) -> bool {
    let colon = word.start.checked_sub(1).filter(|k| text[*k] == ':');
    let begins = |k: usize| k == 0 || matches!(text[k - 1], ' ' | '\n' | '⋄');
    let capital = text[word.start].is_ascii_uppercase();
    colon.is_some_and(begins) && capital && text[word].iter().all(char::is_ascii_alphabetic)
}

/// The bracket that the one at a place closes.
fn opening(text: &[char], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for k in (0..=at).rev() {
        match text[k] {
            c if closes(c) => depth += 1,
            c if opens(c) && depth == 1 => return Some(k),
            c if opens(c) => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// Operands of operators, and names that the text sets to a function.
fn is_function(text: &[char], word: &[char]) -> bool {
    if matches!(word, ['⍺', '⍺'] | ['⍵', '⍵']) {
        return true;
    }
    let set: Vec<char> = word.iter().copied().chain(['←', '{']).collect();
    text.windows(set.len()).any(|w| w == set)
}

/// A range with the brackets that it begins or ends inside of.
fn balanced(text: &[char], range: Range<usize>) -> Range<usize> {
    let (mut open, mut missing) = (0i64, 0i64);
    for c in &text[range.clone()] {
        match c {
            c if opens(*c) => open += 1,
            c if closes(*c) => {
                open -= 1;
                missing = missing.max(-open);
            }
            _ => {}
        }
    }
    let (mut start, mut end) = (range.start, range.end);
    for _ in 0..missing {
        match text[..start].iter().rposition(|c| opens(*c)) {
            Some(k) => start = k,
            None => return range,
        }
    }
    for _ in 0..open + missing {
        match text[end..].iter().position(|c| closes(*c)) {
            Some(k) => end += k + 1,
            None => return range,
        }
    }
    start..end
}

/// With the name that the value is given, where it directly is.
fn assigned(text: &[char], range: Range<usize>) -> Range<usize> {
    let before = &text[..range.start];
    let Some(arrow) = before.iter().rposition(|c| *c != ' ').filter(|k| before[*k] == '←') else {
        return range;
    };
    let name = before[..arrow].iter().rposition(|c| !is_word(*c)).map_or(0, |k| k + 1);
    if name < arrow { name..range.end } else { range }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of the value that the function at the mark has.
    fn of(marked: &str) -> String {
        let from = marked.chars().position(|c| c == '«').expect("a mark");
        let to = marked.chars().position(|c| c == '»').expect("a mark");
        let text: Vec<char> = marked.chars().filter(|c| !matches!(c, '«' | '»')).collect();
        let range = assigned(&text, phrase(&text, from..to - 1));
        cut(&text[range].iter().collect::<String>())
    }

    #[test]
    fn a_value_is_the_operand_left_of_its_function_and_all_right_of_it() {
        let table = [
            ("P«+.×»⍉C", "P+.×⍉C"),
            ("e÷«+/»e←*x-⌈/x", "+/e←*x-⌈/x"),
            ("e←*x-«⌈/»x ⋄ 3", "⌈/x"),
            ("r←«⌈/»x ⍝ most", "r←⌈/x"),
            ("1 2 x«∘.×»y", "1 2 x∘.×y"),
            ("(a+b)«×»c[i;]+2", "(a+b)×c[i;]+2"),
            ("q←m[2 1;]«-»3", "q←m[2 1;]-3"),
            ("x«[⍋x]»+1", "x[⍋x]"),
            ("f←{⍵+1} ⋄ f «+/»x", "+/x"),
            ("{⍺⍺ «+/»⍵}x", "+/⍵"),
            ("{0=«+/»⍵:⍵ ⋄ 2}", "+/⍵"),
            ("'a)b'«=»t,')'", "'a)b'=t,')'"),
            ("(«+/»y)(⌈/y)", "+/y"),
            ("]cpu «+\\»3×V", "+\\3×V"),
            ("]diff -off=cse x«+»y", "x+y"),
            ("]why\n1 2«+»x", "1 2+x"),
            ("]why «-»x", "-x"),
            ("]why -x«+»1", "x+1"),
            ("]diff -off=cse -x«+»1", "x+1"),
            (":For i :In «⍳»200", "⍳200"),
            ("r←2\n:If «∧/»x", "∧/x"),
            ("{0=⍵:X «+»⍵}", "X +⍵"),
            ("a←aaaaaaaaaaaaaaa«+»bbbbbbbbbbbb", "a←aaaaaaaaaa…bbbbbbbbbbb"),
        ];
        for (text, wanted) in table {
            assert_eq!(of(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_name_has_the_blanks_of_its_text() {
        for (text, wanted) in [
            ("t='a  b'", "t='a  b'"),
            ("x  +  y", "x  +  y"),
            ("{a←⍵\n   a+1  \n }x", "{a←⍵ a+1 }x"),
            (" x\t+y ", "x +y"),
        ] {
            assert_eq!(in_a_line(&text.chars().collect::<Vec<_>>()), wanted);
        }
    }

    #[test]
    fn brackets_that_a_range_cuts_are_taken_along() {
        let text: Vec<char> = "2×(+/y)(⌈/y)".chars().collect();
        assert_eq!(balanced(&text, 3..11), 2..12);
        assert_eq!(balanced(&text, 8..9), 8..9);
        assert_eq!(balanced(&['a', ')'], 0..2), 0..2);
    }
}

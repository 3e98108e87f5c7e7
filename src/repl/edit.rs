//! Completion at the prompt: what the session knows, and glyphs whose prefix became a glyph.

use super::keys::Pending;
use super::{ask, colour, keys};
use aplomb_ground::protocol::{Completion, Event, Request};
use aplomb_ground::span::first_line;
use aplomb_kernel::session::Worker;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

pub struct Edit {
    worker: Rc<RefCell<Worker>>,
    pending: Pending,
}

impl Edit {
    pub fn new(worker: Rc<RefCell<Worker>>, pending: Pending) -> Edit {
        Edit { worker, pending }
    }

    /// The completions that the session knows at a place: start in bytes, candidates.
    fn known(&self, line: &str, cursor: usize) -> (usize, Vec<Completion>) {
        let cursor = line[..cursor].chars().count();
        let mut found = (0, Vec::new());
        // While a program runs and asks for a line, the session cannot be asked.
        let Ok(mut worker) = self.worker.try_borrow_mut() else { return (line.len(), Vec::new()) };
        ask(&mut worker, Request::Complete { code: line.into(), cursor }, |event| {
            if let Event::Completions { start, items, .. } = event {
                found = (start, items);
            }
        });
        let start = line.char_indices().nth(found.0).map_or(line.len(), |(at, _)| at);
        (start, found.1)
    }
}

/// `` `rho `` was typed as ⍴ and `ho`: the word with the key in the glyph's place, and where it
/// begins.
fn unprefixed(before: &str) -> Option<(usize, String)> {
    let letters = before.len() - before.trim_end_matches(|c: char| c.is_ascii_lowercase()).len();
    let head = &before[..before.len() - letters];
    let glyph = head.chars().next_back().filter(|_| letters > 0)?;
    let (key, _) = aplomb_language::table::keys().find(|(_, g)| *g == glyph)?;
    Some((head.len() - glyph.len_utf8(), format!("{key}{}", &before[head.len()..])))
}

fn pair(c: Completion) -> Pair {
    let says = first_line(&c.says).to_string();
    let display = if says.is_empty() { c.text.clone() } else { format!("{}  {says}", c.text) };
    Pair { display, replacement: c.text }
}

impl Completer for Edit {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..at];
        if let (Some(glyph), Some(head)) = (self.pending.take(), before.strip_suffix('`')) {
            let one = Completion { text: glyph.to_string(), kind: "symbol", says: String::new() };
            return Ok((head.len(), vec![pair(one)]));
        }
        let (start, items) = self.known(before, at);
        if !items.is_empty() {
            return Ok((start, items.into_iter().map(pair).collect()));
        }
        if let Some((start, word)) = unprefixed(before) {
            let (_, items) = self.known(&format!("`{word}"), word.len() + 1);
            return Ok((start, items.into_iter().map(pair).collect()));
        }
        Ok((at, Vec::new()))
    }
}

impl Highlighter for Edit {
    fn highlight<'l>(&self, line: &'l str, cursor: usize) -> Cow<'l, str> {
        Cow::Owned(colour::coloured(line, cursor))
    }

    fn highlight_char(&self, _line: &str, _cursor: usize, _kind: CmdKind) -> bool {
        true
    }
}

impl Hinter for Edit {
    type Hint = String;
}

/// For terminals without editing, where no key is bound.
impl Validator for Edit {
    fn validate(&self, cx: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let more = keys::goes_on(cx.input());
        Ok(if more { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Helper for Edit {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_that_became_a_glyph_is_still_a_name() {
        assert_eq!(unprefixed("1+⍴ho"), Some((2, "rho".into())));
        assert_eq!(unprefixed("⍴"), None);
        assert_eq!(unprefixed("rho"), None);
    }
}

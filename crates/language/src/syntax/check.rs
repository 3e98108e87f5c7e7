//! Before parsing: brackets, nesting, token count, each in one linear walk.

use super::token::{Kind, Token, Word};
use super::words::Control;
use aplomb_ground::error::{Error, limit, nonce, syntax};
use aplomb_ground::limits::Limits;
use aplomb_ground::protocol::Completeness;
use aplomb_ground::span::{Place, Source};
use std::sync::Arc;

/// Every error of tokens and brackets, in the order of the text; at most a hundred.
pub fn check(tokens: &[Token], source: &Arc<Source>, limits: &Limits) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut open: Vec<(char, usize)> = Vec::new();
    let mut count = 0;
    let mut too_deep = false;
    for (k, t) in tokens.iter().enumerate() {
        if errors.len() >= 100 {
            break;
        }
        let at = || Place::new(source, t.span);
        count += 1;
        match &t.kind {
            Kind::Control(Control::Absent) => {
                let says = format!("the control word {}", at().text());
                errors.push(nonce(says).at(&at()));
            }
            Kind::Control(_) if open.iter().any(|(c, _)| *c == '{') => {
                let says = format!("the control word {} stands inside {{ }}", at().text());
                errors.push(syntax(says).at(&at()).hint(
                    "a dfn has guards, {cond:expr ⋄ expr}; control words stand in ∇ functions",
                ));
            }
            Kind::Bad(says) => errors.push(syntax(*says).at(&at())),
            Kind::Open(c) => {
                open.push((*c, k));
                if open.len() > limits.nest && !too_deep {
                    too_deep = true;
                    let says = format!("brackets stand more than {} deep", limits.nest);
                    errors.push(limit(says).at(&at()).hint("--limit nest=N changes the limit"));
                }
            }
            Kind::Close(c) => match open.pop() {
                Some((o, _)) if closing(o) == *c => {}
                Some((o, from)) => {
                    let says = format!("{o} is closed by {c}");
                    errors.push(
                        syntax(says)
                            .at(&at())
                            .mark(tokens[from].span, format!("this {o}"))
                            .mark(t.span, format!("this {c}")),
                    );
                }
                None => errors.push(syntax(format!("{c} without its {}", opening(*c))).at(&at())),
            },
            Kind::Separator if open.is_empty() => count = 0,
            _ => {}
        }
        if count == limits.tokens + 1 {
            let says = format!("a statement has at most {} tokens", limits.tokens);
            let hint = "⎕VFI reads the numbers of a text, ⎕CSV those of a file";
            errors.push(limit(says).hint(hint).at(&at()));
        }
    }
    for (c, k) in open.iter().rev().take(3) {
        errors
            .push(syntax(format!("{c} is never closed")).at(&Place::new(source, tokens[*k].span)));
    }
    errors
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

fn opening(close: char) -> char {
    match close {
        ')' => '(',
        ']' => '[',
        _ => '{',
    }
}

/// Whether a prompt should read on.
pub fn completeness(text: &str) -> Completeness {
    let mut lines = Lines::default();
    lines.add(text);
    lines.completeness()
}

/// A text that comes line by line: each is looked at once. No token goes over a line's end.
#[derive(Default)]
pub struct Lines {
    open: Vec<char>,
    /// A ∇ function has begun.
    function: bool,
    /// Control words that no `:End` has closed, outside of functions.
    blocks: usize,
    wrong: bool,
}

impl Lines {
    /// One line, or several.
    pub fn add(&mut self, text: &str) {
        let mut starts = self.open.is_empty();
        for t in super::lex(text) {
            match t.kind {
                _ if self.wrong => return,
                Kind::Bad(_) => self.wrong = true,
                Kind::Open(c) => self.open.push(closing(c)),
                Kind::Close(c) if self.open.pop() != Some(c) => self.wrong = true,
                Kind::Word(Word::Del) if starts => self.function = !self.function,
                Kind::Control(Control::Open(_)) if !self.function => self.blocks += 1,
                Kind::Control(Control::Close(_) | Control::Until) if !self.function => {
                    self.blocks = self.blocks.saturating_sub(1);
                }
                _ => {}
            }
            starts = t.kind == Kind::Separator && self.open.is_empty();
        }
    }

    /// Whether the text so far can run as it stands.
    pub fn completeness(&self) -> Completeness {
        match (self.wrong, self.open.is_empty() && !self.function && self.blocks == 0) {
            (true, _) => Completeness::Never,
            (_, true) => Completeness::Complete,
            _ => Completeness::More,
        }
    }
}

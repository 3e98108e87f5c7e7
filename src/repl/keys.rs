//! Glyphs behind a backtick, at once; Enter that goes on where a bracket is open.

use super::{PROMPT, Reader};
use crate::script::is_command;
use aplomb_ground::protocol::Completeness;
use aplomb_language::syntax;
use aplomb_language::table;
use rustyline::{
    Cmd, ConditionalEventHandler, Event, EventContext, EventHandler, KeyCode, KeyEvent, Modifiers,
    RepeatCount,
};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// A glyph on its way from its key to the completer. No editor command takes a character's place
/// and stands behind the new one, but a completion does, so the key asks for a completion that has
/// this one answer.
#[derive(Clone, Default)]
pub struct Pending(Arc<AtomicU32>);

/// The line up to a backtick that stands for itself, because it was typed twice.
type Literal = Arc<Mutex<String>>;

impl Pending {
    fn set(&self, glyph: char) {
        self.0.store(u32::from(glyph), Ordering::Relaxed);
    }

    pub fn take(&self) -> Option<char> {
        char::from_u32(self.0.swap(0, Ordering::Relaxed)).filter(|c| *c != '\0')
    }
}

pub fn bind(reader: &mut Reader, pending: &Pending) {
    let literal = Literal::default();
    for (key, glyph) in table::keys() {
        let event = KeyEvent(KeyCode::Char(key), Modifiers::NONE);
        reader.bind_sequence(
            event,
            EventHandler::Conditional(Box::new(Prefixed(glyph, pending.clone(), literal.clone()))),
        );
    }
    let tick = KeyEvent(KeyCode::Char('`'), Modifiers::NONE);
    reader.bind_sequence(tick, EventHandler::Conditional(Box::new(Tick(literal.clone()))));
    let enter = KeyEvent(KeyCode::Enter, Modifiers::NONE);
    reader.bind_sequence(enter, EventHandler::Conditional(Box::new(Enter(literal))));
}

/// This glyph takes the place of a backtick before the cursor; elsewhere the key means itself.
struct Prefixed(char, Pending, Literal);

/// Whether the cursor stands behind a backtick that takes a key.
fn is_prefix(before: &str, literal: &Literal) -> bool {
    before.ends_with('`') && literal.lock().is_ok_and(|own| *own != before)
}

impl ConditionalEventHandler for Prefixed {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, cx: &EventContext) -> Option<Cmd> {
        let before = cx.line().get(..cx.pos())?;
        if !is_prefix(before, &self.2) {
            return None;
        }
        self.1.set(self.0);
        Some(Cmd::Complete)
    }
}

/// A second backtick makes the first one stand for itself.
struct Tick(Literal);

impl ConditionalEventHandler for Tick {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, cx: &EventContext) -> Option<Cmd> {
        let before = cx.line().get(..cx.pos())?;
        if !is_prefix(before, &self.0) {
            return None;
        }
        *self.0.lock().ok()? = before.into();
        Some(Cmd::Noop)
    }
}

/// Whether a bracket is open.
pub fn goes_on(text: &str) -> bool {
    !is_command(text) && syntax::completeness(text) == Completeness::More
}

/// Ends the line, or begins the next one of an unfinished text.
struct Enter(Literal);

impl ConditionalEventHandler for Enter {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, cx: &EventContext) -> Option<Cmd> {
        if let Ok(mut own) = self.0.lock() {
            own.clear();
        }
        Some(if goes_on(cx.line()) {
            Cmd::Insert(1, format!("\n{PROMPT}"))
        } else {
            Cmd::AcceptLine
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_gives_one_glyph() {
        let all: Vec<(char, char)> = table::keys().collect();
        for (k, (key, glyph)) in all.iter().enumerate() {
            assert!(
                all[..k].iter().all(|(other, _)| other != key),
                "`{key} gives {glyph} and another"
            );
        }
        assert!(all.contains(&('r', '⍴')) && all.contains(&('[', '←')));
    }
}

//! Glyphs behind a backtick, at once; Enter that goes on where a bracket is open.

use super::{PROMPT, Reader};
use crate::script::is_command;
use aplomb_lang::prim::table::{OTHER_KEYS, prims};
use aplomb_lang::protocol::Completeness;
use aplomb_lang::syntax;
use rustyline::{
    Cmd, ConditionalEventHandler, Event, EventContext, EventHandler, KeyCode, KeyEvent, Modifiers, Movement,
    RepeatCount,
};

/// Keys and glyphs, from the tables.
pub fn glyph_keys() -> impl Iterator<Item = (char, char)> {
    prims().filter_map(|p| p.key.map(|k| (k, p.glyph))).chain(OTHER_KEYS.iter().map(|(glyph, key, _)| (*key, *glyph)))
}

pub fn bind(reader: &mut Reader) {
    for (key, glyph) in glyph_keys() {
        let event = KeyEvent(KeyCode::Char(key), Modifiers::NONE);
        reader.bind_sequence(event, EventHandler::Conditional(Box::new(Prefixed(glyph))));
    }
    let enter = KeyEvent(KeyCode::Enter, Modifiers::NONE);
    reader.bind_sequence(enter, EventHandler::Conditional(Box::new(Enter)));
}

/// This glyph takes the place of a backtick before the cursor; elsewhere the key means itself.
struct Prefixed(char);

impl ConditionalEventHandler for Prefixed {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, cx: &EventContext) -> Option<Cmd> {
        let before = cx.line().get(..cx.pos())?;
        before.ends_with('`').then(|| Cmd::Replace(Movement::BackwardChar(1), Some(self.0.to_string())))
    }
}

/// Ends the line, or begins the next one of an unfinished text.
struct Enter;

impl ConditionalEventHandler for Enter {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, cx: &EventContext) -> Option<Cmd> {
        let more = !is_command(cx.line()) && syntax::completeness(cx.line()) == Completeness::More;
        Some(if more { Cmd::Insert(1, format!("\n{PROMPT}")) } else { Cmd::AcceptLine })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_gives_one_glyph() {
        let all: Vec<(char, char)> = glyph_keys().collect();
        for (k, (key, glyph)) in all.iter().enumerate() {
            assert!(all[..k].iter().all(|(other, _)| other != key), "`{key} gives {glyph} and another");
        }
        assert!(all.contains(&('r', '⍴')) && all.contains(&('[', '←')));
    }
}

//! Phrases that bind for no classes of their names: `aplomb check` tells of them what a run would
//! tell when it gets there.
//!
//! Only those are looked at that end in a primitive: `y←1÷` has nothing right of it.

use super::ast::{Ast, Phrase, What};
use super::resolve::{Class, Key, resolve};
use aplomb_ground::error::{Error, syntax};

/// The classes that a name may have.
const CLASSES: [Class; 4] = [Class::Array, Class::Func, Class::Monadic, Class::Dyadic];
/// The names of a phrase that are tried, at most.
const NAMES: u32 = 3;

/// The errors of phrases that can never run, each place once.
pub fn bound(ast: &Ast) -> Vec<Error> {
    let ends = |phrase: &&Phrase| {
        let last = phrase.items.last().map(|i| &ast.item(*i).what);
        phrase.items.len() > 1 && matches!(last, Some(What::Glyph(_)))
    };
    let all = ast.phrases.iter().filter(ends).filter_map(|phrase| always(ast, phrase));
    let mut out: Vec<Error> = Vec::new();
    for error in all {
        if out.iter().all(|e| e.parts().place != error.parts().place) {
            out.push(error);
        }
    }
    out
}

/// The SYNTAX ERROR of a phrase, if there is one whatever its names are.
fn always(ast: &Ast, phrase: &Phrase) -> Option<Error> {
    let mut names: Vec<Key> = Vec::new();
    let (mut turn, mut first) = (0, None);
    let turns = |names: &[Key]| CLASSES.len().pow(names.len() as u32);
    while turn < turns(&names) {
        let bound = resolve(ast, phrase, &mut |key| {
            let known = names.iter().position(|k| *k == key);
            let at = known.map_or(names.len(), |at| at);
            if known.is_none() {
                names.push(key);
            }
            let before = CLASSES.len().saturating_pow(at as u32);
            CLASSES[turn / before % CLASSES.len()]
        });
        let error = bound.err().filter(|e| e.name() == syntax("").name())?;
        if names.len() as u32 > NAMES {
            return None;
        }
        first = first.or(Some(error));
        turn += 1;
    }
    first
}

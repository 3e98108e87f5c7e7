//! The names of a statement's inputs: those of its source text, where arrays share their items.
//!
//! `y←x`, `,M` and `1000 1000⍴x` are other names and shapes of one storage, so the address of an
//! input's items does not say which of them a reader means. The text of what reads it does; else
//! the statement's, as that of a call `f x` whose function says `⍵`; else the shape.

use super::kept::Part;
use aplomb_language::syntax::token::{is_name_part, is_name_start};
use aplomb_values::array::{Array, Data, Shape};
use aplomb_values::dag::NodeId;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// A name that holds an array now, and its shape.
struct Held {
    name: Rc<str>,
    shape: Shape,
}

/// Gives the inputs of a statement's evaluations the names that its text has for them, of those
/// that hold arrays. One whose items no name holds keeps its own.
pub fn name_inputs(parts: &mut [Part], statement: &str, arrays: &[(Rc<str>, Array)]) {
    let mut held: BTreeMap<usize, Vec<Held>> = BTreeMap::new();
    for (name, a) in arrays {
        if let Some(place) = items(a) {
            let own = Held { name: name.clone(), shape: a.shape().into() };
            held.entry(place).or_default().push(own);
        }
    }
    for part in parts {
        let recorded = part.log.recorded();
        let is_held = |a: &Array| items(a).is_some_and(|place| held.contains_key(&place));
        if !recorded.inputs.iter().any(is_held) {
            continue;
        }
        let name = |(at, readers): (NodeId, Vec<String>)| {
            let k = recorded.dag.node(at).input()?;
            let all = held.get(&items(recorded.inputs.get(k as usize)?)?)?;
            let texts = readers.iter().map(String::as_str).chain([statement]);
            let (name, is_told) = chosen(all, recorded.dag.shape(at), texts)?;
            // A name that no text has is no better than the one that the graph knows.
            let known = recorded.dag.info(at).name.is_some();
            (is_told || !known).then_some((at, name))
        };
        let names: Vec<_> = part.log.readers().into_iter().filter_map(name).collect();
        if !names.is_empty() {
            part.log.set_names(names);
        }
    }
}

/// The name of an array among those that hold its items, and whether a text has it: the first word
/// of the first text that is one of them, one of the array's own shape before others.
fn chosen<'a>(
    all: &[Held],
    shape: &[usize],
    texts: impl Iterator<Item = &'a str>,
) -> Option<(Rc<str>, bool)> {
    // The one of the array's own shape, if there is one, else the first.
    let best = |found: &[&Held]| {
        let alike = found.iter().position(|h| *h.shape == *shape);
        found.get(alike.map_or(0, |k| k)).map(|h| h.name.clone())
    };
    for text in texts {
        let found = words(text).filter_map(|word| all.iter().find(|h| *h.name == *word));
        if let Some(name) = best(&found.collect::<Vec<_>>()) {
            return Some((name, true));
        }
    }
    best(&all.iter().collect::<Vec<_>>()).map(|name| (name, false))
}

/// The names of a text, in their order.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let apart = text.split(|c| !is_name_part(c));
    apart.map(|word| word.trim_start_matches(|c| !is_name_start(c))).filter(|w| !w.is_empty())
}

/// The address of an array's items, to know them again.
pub fn items(a: &Array) -> Option<usize> {
    match a.settled().data() {
        Data::Dense(b) => Some(Arc::as_ptr(b).addr()),
        _ => None,
    }
}

/// The test whether nobody else holds an array's items: they were made with it.
pub fn is_alone(a: &Array) -> bool {
    matches!(a.data(), Data::Dense(b) if Arc::strong_count(b) == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_named_by_the_text_that_reads_it() {
        let held = |name: &str, shape: &[usize]| Held { name: name.into(), shape: shape.into() };
        let all = [held("M", &[2, 3]), held("x", &[6]), held("y", &[6])];
        let table: [(&[&str], &[usize], (&str, bool)); 8] = [
            (&["+/x×x"], &[6], ("x", true)),
            (&["+/2×y"], &[6], ("y", true)),
            (&["+/M×x"], &[2, 3], ("M", true)),
            (&["+/M×x"], &[6], ("x", true)),
            // The words of a name in a name are none of its own.
            (&["xs+x1+sx+y"], &[6], ("y", true)),
            (&["+/⍵", "f y"], &[6], ("y", true)),
            (&["+/⍵", "f 3"], &[6], ("x", false)),
            (&["2x", "M"], &[6], ("x", true)),
        ];
        for (texts, shape, (name, is_told)) in table {
            let found = chosen(&all, shape, texts.iter().copied());
            assert_eq!(found, Some((name.into(), is_told)), "{texts:?}");
        }
    }
}

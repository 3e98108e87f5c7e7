//! Searches in long lists of whole numbers: an index of first places.
//!
//! A loop that looks into a list and makes it longer would compare each item with all of them.
//! The index holds the items up to where it was last asked, and those behind are added when it is
//! asked again: so only a list that nothing but `,←` changes has one. Whole numbers of 31 bits that
//! differ are further apart than ⎕CT reaches.

use super::machine::Machine;
use super::program::Program;
use aplomb_ground::limits::Budget;
use aplomb_values::registers::{Do, OnAll, OnList};
use std::collections::HashMap;

/// The first places of the items of a list.
pub struct Index {
    /// The number of items that are in it.
    upto: usize,
    places: HashMap<i64, u32>,
}

/// Bytes of an item in it, about.
const ITEM: usize = 32;

/// A whole number that no other one is near to.
fn whole(x: f64) -> Option<i64> {
    let k = x as i64;
    (k as f64 == x && k.unsigned_abs() < 1 << 31).then_some(k)
}

/// True of an instruction that changes items of a list that are there.
fn rewrites(step: &Do, list: u16) -> bool {
    match step {
        Do::SetItem { of, .. } | Do::SetKnown { of, .. } | Do::Cut { of, .. } => *of == list,
        Do::List(OnList::Name { slot, .. } | OnList::Prepend { slot, .. }, _) => *slot == list,
        Do::All(on) => match on {
            OnAll::Map { into, .. } | OnAll::Copy { into, .. } | OnAll::Line { into, .. } => {
                *into == list
            }
            OnAll::Take { into, of } => *into == list || *of == list,
            OnAll::SetLine { of, .. } => *of == list,
            OnAll::Fold { .. } | OnAll::Dot { .. } => false,
        },
        _ => false,
    }
}

impl Machine {
    /// The place of a whole number in a long list of such, or the length where it is not there.
    /// None: they are others, or the list changes in other ways than by getting longer.
    pub(super) fn place_in_long(
        &mut self,
        program: &Program,
        of: u16,
        y: f64,
        budget: &Budget,
    ) -> Option<usize> {
        let y = whole(y)?;
        let known = self.found.iter().position(|(list, _)| *list == of);
        let at = match known {
            Some(at) => at,
            None => {
                let mut steps = program.code.iter().flat_map(|f| &f.steps);
                let grows = !steps.any(|step| rewrites(step, of));
                let index = grows.then(|| Index { upto: 0, places: HashMap::new() });
                self.found.push((of, index));
                self.found.len() - 1
            }
        };
        let (list, slot) = (&self.lists[of as usize], &mut self.found[at].1);
        let index = slot.as_mut()?;
        let n = list.len();
        if n > index.places.capacity() {
            budget.has_room((2 * n * ITEM) as u64).ok()?;
        }
        for k in index.upto..n {
            let Some(item) = list.item(k).and_then(whole) else {
                *slot = None;
                return None;
            };
            index.places.entry(item).or_insert(k as u32);
        }
        index.upto = n;
        Some(index.places.get(&y).map_or(n, |k| *k as usize))
    }
}

//! Edits: what a statement did to a vector at its ends, so that it can be undone.
//!
//! A name's vector that nobody else holds grows and shrinks where it lies. Were its old value kept
//! for a statement that may fail, somebody else would hold it, and each turn of a loop of
//! statements would copy it. An edit has what went, and counts what came.

use aplomb_values::array::{Array, Data, End};
use std::ops::Range;

/// The changes of a statement at the ends of an array's first axis.
#[derive(Clone, Default)]
pub struct Edit {
    /// Cells that came before those that were there.
    before: usize,
    /// Cells that were there, and still are.
    kept: usize,
    /// Cells that were there before these, and those behind them, the last first.
    gone: (Vec<Array>, Vec<Array>),
    /// Items that others were put in the place of, or that grew, where nothing else changed.
    put: Vec<(usize, Was)>,
}

/// An item as it was.
#[derive(Clone)]
pub enum Was {
    /// The item.
    Item(Array),
    /// The first cells of what is there now, so many: more came behind them.
    Shorter(usize),
}

/// The cells that an edit is about to lose, and what is left of it then.
pub struct Cut {
    gone: (Vec<Array>, Vec<Array>),
    before: usize,
    kept: usize,
}

/// Items that are put before the whole array is kept instead.
const PUTS: usize = 64;

impl Edit {
    /// None yet, to so many cells.
    pub fn of(cells: usize) -> Edit {
        Edit { kept: cells, ..Edit::default() }
    }

    /// True of an array whose edits can be undone: a vector of arrays, or a table, in a list that
    /// nobody else holds, or an array of numbers or characters.
    pub fn suits(a: &mut Array) -> bool {
        let plain = a.rank() > 0 && matches!(a.data(), Data::Dense(_));
        plain || a.is_list_of_arrays() || a.is_own_table()
    }

    /// The cut that leaves of the array, as it is now, what is to be kept.
    pub fn cut(&self, a: &Array, keep: &Range<usize>) -> Cut {
        let (first, last) = (self.before, self.before + self.kept);
        let own = keep.start.clamp(first, last)..keep.end.clamp(first, last);
        let items = |range: Range<usize>| range.map(|k| a.item(k));
        Cut {
            gone: (
                items(first..own.start).collect(),
                items(own.end.max(own.start)..last).rev().collect(),
            ),
            before: keep.end.min(first).saturating_sub(keep.start),
            kept: own.len(),
        }
    }

    /// A cut that was made.
    pub fn lost(&mut self, cut: Cut) {
        self.gone.0.extend(cut.gone.0);
        self.gone.1.extend(cut.gone.1);
        (self.before, self.kept) = (cut.before, cut.kept);
    }

    /// Cells that came at an end, so many.
    pub fn came(&mut self, cells: usize, end: End) {
        if end == End::Front {
            self.before += cells;
        }
    }

    /// True once items were put.
    pub fn has_put(&self) -> bool {
        !self.put.is_empty()
    }

    /// True while another item may be put: some were, and no end has changed.
    pub fn may_put(&self) -> bool {
        self.has_put() && self.put.len() < PUTS
    }

    /// An item went, and another is in its place.
    pub fn put(&mut self, place: usize, was: Was) {
        self.put.push((place, was));
    }

    /// The array as it was.
    pub fn undone(self, a: Array) -> Array {
        let Edit { before, kept, gone, put } = self;
        if !put.is_empty() {
            return put.into_iter().rev().fold(a, |a, (place, was)| match was {
                Was::Item(was) => a.with_item(place, &was),
                Was::Shorter(cells) => {
                    let item = a.item(place).only(0..cells);
                    a.with_item(place, &item)
                }
            });
        }
        let own = before..before + kept;
        if gone.0.is_empty() && gone.1.is_empty() {
            return a.only(own);
        }
        let items: Vec<Array> = gone
            .0
            .into_iter()
            .chain(own.map(|k| a.item(k)))
            .chain(gone.1.into_iter().rev())
            .collect();
        Array::items([items.len()].as_slice(), items, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_ground::limits::Budget;

    fn pair(k: usize) -> Array {
        Array::few_numbers(&[k as f64, 0.5])
    }

    fn list(n: usize) -> Array {
        Array::items([n].as_slice(), (0..n).map(pair).collect(), None)
    }

    /// Edits of all kinds, one after the other, are undone at each point.
    #[test]
    fn what_a_statement_did_at_both_ends_is_undone() {
        let budget = Budget::new(1 << 20);
        let first = list(12);
        let (mut a, mut edit) = (list(12), Edit::of(12));
        let enclosed = |k: usize| Array::items([].as_slice(), vec![pair(k)], None);
        let steps = [(0, 12, End::Front), (0, 13, End::Back), (2, 14, End::Back)];
        let more = [(0, 11, End::Front), (1, 5, End::Front), (4, 5, End::Back)];
        for (k, (from, to, end)) in steps.into_iter().chain(more).enumerate() {
            let n = a.len();
            let cut = edit.cut(&a, &(from..to));
            edit.lost(cut);
            assert!(a.regrow(from..to, &enclosed(100 + k), end, &budget).expect("room"), "{n}");
            edit.came(1, end);
            let was = edit.clone().undone(a.clone());
            assert_eq!(was.len(), 12, "after {k} steps");
            let same = |k: usize| was.item(k).number_at(0) == first.item(k).number_at(0);
            assert!((0..12).all(same), "after {k} steps");
        }
    }
}

//! A nested matrix that is held as its columns: a table, each column of which is of one kind.
//!
//! A table of texts and numbers would be a box an item. Here a column is the vector that it was
//! made of (numbers, characters, pieces of a text), which whoever asks for the column has back, and
//! whatever chooses rows and columns chooses in these.

use super::{Array, Data, Held, Items, Shape, elements};
use crate::prim::moves::gather;
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use std::rc::Rc;

/// The least number of rows that are worth it.
const ROWS: usize = 64;

/// The columns of a matrix. Always: vectors of equally many items, none of which waits, and one of
/// them holds arrays.
pub struct Columns(Vec<Array>);

impl Columns {
    /// The vectors.
    pub fn all(&self) -> &[Array] {
        &self.0
    }

    /// The vectors, for dropping them.
    pub fn take(&mut self) -> Vec<Array> {
        std::mem::take(&mut self.0)
    }

    /// The number of items of all columns.
    pub fn count(&self) -> usize {
        self.0.iter().map(Array::len).sum()
    }

    /// The k-th item, row by row.
    pub fn at(&self, k: usize) -> Array {
        self.0[k % self.0.len()].item(k / self.0.len())
    }
}

/// Whether a vector may be a column.
fn fits(a: &Array, rows: usize) -> bool {
    let open = |a: &Array| matches!(a.data, Data::Complex(_) | Data::Ref(_) | Data::Framed(_));
    let plain = |all: &[Array]| !all.iter().any(open);
    a.rank() == 1
        && a.len() == rows
        && match &a.data {
            Data::Items(items) => !items.lazy && items.listed().is_none_or(plain),
            Data::Dense(_) => !a.is_complex(),
            _ => false,
        }
}

/// Whether a vector holds an array.
fn holds_arrays(a: &Array) -> bool {
    match &a.data {
        Data::Items(items) => {
            let nested = |all: &[Array]| all.iter().any(|item| !item.is_simple_scalar());
            items.listed().is_none_or(nested)
        }
        _ => false,
    }
}

impl Array {
    /// Vectors of as many items each as the columns of a matrix. None: they are few, wait, or hold
    /// no array. Errors: LIMIT, WS FULL.
    pub fn of_columns(columns: &[Array], budget: &Budget) -> Result<Option<Array>> {
        let Some(rows) = columns.first().map(Array::len).filter(|rows| *rows >= ROWS) else {
            return Ok(None);
        };
        if !columns.iter().all(|a| fits(a, rows)) || !columns.iter().any(holds_arrays) {
            return Ok(None);
        }
        let inside = |a: &Array| match &a.data {
            Data::Items(items) => (items.depth, items.nodes.saturating_sub(1)),
            _ => (1, rows as u64),
        };
        let (depth, nodes) = columns
            .iter()
            .map(inside)
            .fold((1, 1u64), |(depth, nodes), own| (depth.max(own.0), nodes.saturating_add(own.1)));
        let held = Held::Columns(Columns(budget.each(columns.iter().cloned())?));
        let items = Items { held, proto: None, depth, nodes, lazy: false };
        let shape = Shape::from_slice(&[rows, columns.len()]);
        Array { shape, data: Data::Items(Rc::new(items)) }.within_limits(budget).map(Some)
    }

    /// The columns that this matrix is held as.
    pub fn columns(&self) -> Option<&[Array]> {
        let Data::Items(items) = &self.data else { return None };
        let Held::Columns(columns) = &items.held else { return None };
        let is_matrix = self.rank() == 2 && self.shape()[1] == columns.0.len();
        is_matrix.then_some(columns.all())
    }
}

/// Places of a table that are those of some rows in some columns, or of some rows in one: chosen
/// column by column. None: they are others. Errors: WS FULL, INTERRUPT.
pub fn chosen(
    columns: &[Array],
    shape: &[usize],
    places: &[std::result::Result<usize, f64>],
    budget: &Budget,
) -> Result<Option<Array>> {
    let m = columns.len();
    let width = match shape {
        [_] => 1,
        [_, k] => *k,
        _ => return Ok(None),
    };
    if width == 0 || places.len() < ROWS * width || elements(shape) != places.len() {
        return Ok(None);
    }
    let column = |place: &std::result::Result<usize, f64>| place.ok().map(|at| at % m);
    let Some(wanted) = places[..width].iter().map(column).collect::<Option<Vec<usize>>>() else {
        return Ok(None);
    };
    let mut rows = budget.room(places.len() / width)?;
    let mut ticks = budget.ticks();
    for line in places.chunks(width) {
        ticks.spend(width)?;
        let Ok(first) = line[0] else { return Ok(None) };
        let row = first / m;
        if !line.iter().zip(&wanted).all(|(place, at)| *place == Ok(row * m + at)) {
            return Ok(None);
        }
        rows.push(Ok(row));
    }
    let whole =
        rows.len() == columns[0].len() && rows.iter().enumerate().all(|(k, row)| *row == Ok(k));
    let list = [rows.len()];
    let one = |at: &usize| match whole {
        true => Ok(columns[*at].clone()),
        false => gather(&columns[*at], &list, &rows, budget),
    };
    let mut made = budget.room(width)?;
    for at in &wanted {
        made.push(one(at)?);
    }
    match shape.len() {
        1 => Ok(made.pop()),
        _ => Array::of_columns(&made, budget),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize) -> Array {
        let budget = Budget::new(1 << 20);
        let texts = (0..rows).map(|k| Array::few_chars(vec!['a'; 1 + k % 3])).collect();
        let names = Array::items([rows].as_slice(), texts, None);
        let numbers: Vec<f64> = (0..rows).map(|k| k as f64).collect();
        let numbers = Array::numbers([rows].as_slice(), numbers, &budget).expect("room");
        Array::of_columns(&[names, numbers], &budget).expect("room").expect("a table")
    }

    #[test]
    fn rows_and_columns_are_chosen_in_the_columns() {
        let (budget, all) = (Budget::new(1 << 20), table(100));
        assert_eq!((all.shape(), all.depth(), all.len()), ([100, 2].as_slice(), 1, 200));
        assert_eq!(all.item(7).number_scalar(), Some(3.0));
        let turned: Vec<_> = (0..100).rev().flat_map(|k| [Ok(2 * k), Ok(2 * k + 1)]).collect();
        let turned = gather(&all, &[100, 2], &turned, &budget).expect("room");
        let columns = turned.columns().expect("a table again");
        assert_eq!(columns[1].number_at(0), Some(99.0));
        let second: Vec<_> = (0..100).map(|k| Ok(2 * k + 1)).collect();
        let second = gather(&all, &[100], &second, &budget).expect("room");
        assert!(second.is_one_with(&all.columns().expect("a table")[1]));
        // Neither all of one column, nor a row each.
        let mixed: Vec<_> = (0..100).map(Ok).collect();
        assert!(
            chosen(all.columns().expect("a table"), &[100], &mixed, &budget)
                .is_ok_and(|z| z.is_none())
        );
    }

    #[test]
    fn what_is_short_or_simple_is_no_table() {
        let budget = Budget::new(1 << 20);
        let numbers =
            |n: usize| Array::numbers([n].as_slice(), vec![0.5; n], &budget).expect("room");
        let of = |all: &[Array]| Array::of_columns(all, &budget).expect("room").is_some();
        assert!(!of(&[numbers(100), numbers(100)]));
        assert!(!of(&[numbers(ROWS - 1), numbers(ROWS - 1)]));
        let names = table(100).columns().expect("a table")[0].clone();
        assert!(of(&[names.clone(), numbers(100)]) && !of(&[names, numbers(99)]));
    }
}

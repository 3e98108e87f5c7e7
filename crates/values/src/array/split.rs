//! One uniform array seen as a frame of cells: the first axes are the frame, the rest is the cell.
//!
//! Two kinds of value are made of it. A *rows* value shows the frame: a nested array whose items
//! are the cells, not taken apart before somebody looks at one. A *framed* value shows the cell:
//! what a function sees that is run once for all cells.

use super::columns::Columns;
use super::listed::{List, Stretch};
use super::{Array, Buf, DType, Data, Ragged, Shape, View, elements};
use crate::dag::ix::Ix;
use crate::dag::{Cell, Meta, Node, Read, kinds};
use crate::prim::moves::Move;
use std::sync::Arc;

/// A uniform array seen as a frame of cells.
#[derive(Clone)]
pub struct Split {
    /// Uniform: a buffer or a cell.
    pub node: Array,
    /// The number of axes that the frame has.
    pub at: usize,
}

impl Split {
    /// The extents of the frame.
    pub fn frame(&self) -> &[usize] {
        &self.node.shape()[..self.at]
    }

    /// The extents of a cell.
    pub fn cell(&self) -> &[usize] {
        &self.node.shape()[self.at..]
    }

    /// The same cells in another frame of as many.
    pub fn reframed(&self, frame: &[usize]) -> Split {
        let node = self.node.settled();
        let shape: Shape = frame.iter().chain(self.cell()).copied().collect();
        let at = frame.len();
        let Some(cell) = node.pending() else { return Split { node: node.reshaped(shape), at } };
        let Move { name, shape, read, onto } = Move::reshape("⍴", node.shape(), &shape);
        let meta = Meta { shape, ..cell.meta().clone() };
        let moved = Node::Transform(kinds::Transform { name, src: node.clone(), read, onto });
        Split { node: Array::lazy(Cell::new(moved, meta, cell.seq())), at }
    }

    /// Cell `k` in row-major order of the frame: a read of a pending node, a copy out of a buffer.
    pub fn item(&self, k: usize) -> Array {
        let node = self.node.settled();
        let shape: Shape = self.cell().into();
        let size = elements(&shape);
        if let Some(cell) = node.pending() {
            let mut rest = k;
            let mut read = Read::new((0..shape.len()).map(Ix::axis));
            for &n in self.frame().iter().rev() {
                read.ix.insert(0, Ix::constant((rest % n) as i64));
                rest /= n;
            }
            let meta = Meta {
                shape,
                dtype: cell.dtype(),
                range: cell.meta().range,
                place: cell.meta().place.clone(),
            };
            let row = Node::Transform(kinds::Transform {
                name: "[]",
                src: node.clone(),
                read,
                onto: self.frame() == [1],
            });
            return Array::lazy(Cell::new(row, meta, cell.seq()));
        }
        match node.data() {
            Data::Dense(b) if let View::Complex(v) = b.view() => {
                let items = &v[k * size..(k + 1) * size];
                let real: Vec<f64> = items.iter().map(|z| z.re).collect();
                let buffer = match items.iter().all(|z| z.im == 0.0) {
                    true => Buf::uncounted(&real, DType::of_numbers(&real)),
                    false => Buf::uncounted_complexes(items.to_vec()),
                };
                Array::dense(shape, Arc::new(buffer))
            }
            Data::Dense(b) => {
                Array::dense(shape, Arc::new(Buf::part(b.view(), k * size..(k + 1) * size)))
            }
            _ => node,
        }
    }
}

impl Split {
    /// The k-th cell of a nested array.
    pub fn line(&self, k: usize) -> Array {
        let size = elements(self.cell());
        let items = (k * size..(k + 1) * size).map(|at| self.node.item(at));
        let items: Vec<Array> = items.collect();
        let numbers: Option<Vec<f64>> = items.iter().map(Array::number_scalar).collect();
        if let Some(numbers) = numbers {
            return Array::few_numbers(&numbers).reshaped(self.cell());
        }
        let chars = items.iter().map(|a| match a.data() {
            Data::Char(c) => Some(*c),
            _ => None,
        });
        match chars.collect::<Option<Vec<char>>>() {
            Some(chars) => Array::few_chars(chars).reshaped(self.cell()),
            None => Array::items(self.cell(), items, None),
        }
    }
}

/// Rounds that an item counts as in a loop that takes it out of what holds it: after so few the
/// memory of all is looked at that were.
pub const TAKEN_OUT: usize = 16;

/// The items of a nested array. Those of one array are taken out as somebody looks at them, one
/// by one: who keeps them asks for the memory.
pub enum Held {
    /// As they stand.
    Items(List),
    /// Some of those that another one holds as they stand.
    Stretch(Stretch),
    /// The cells of one array.
    Rows(Split),
    /// The pieces of a flat one.
    Ragged(Ragged),
    /// The cells of a nested array.
    Lines(Split),
    /// The items of a matrix, column by column.
    Columns(Columns),
    /// Scalars, each of which holds an item of another array.
    Enclosed(Array),
    /// The items of a simple vector, and one array behind them.
    Ended(Array, Array),
}

impl Held {
    /// The number of items.
    pub fn count(&self) -> usize {
        match self {
            Held::Items(list) => list.items().len(),
            Held::Stretch(part) => part.count(),
            Held::Rows(rows) | Held::Lines(rows) => elements(rows.frame()),
            Held::Ragged(r) => r.count(),
            Held::Columns(columns) => columns.count(),
            Held::Enclosed(inside) => inside.len(),
            Held::Ended(front, _) => front.len() + 1,
        }
    }

    /// The k-th, row by row.
    pub fn at(&self, k: usize) -> Array {
        match self {
            Held::Items(list) => list.items()[k].clone(),
            Held::Stretch(part) => part.items()[k].clone(),
            Held::Rows(rows) => rows.item(k),
            Held::Ragged(r) => r.item(k),
            Held::Lines(lines) => lines.line(k),
            Held::Columns(columns) => columns.at(k),
            Held::Enclosed(inside) => Array::items([].as_slice(), vec![inside.item(k)], None),
            Held::Ended(front, _) if k < front.len() => front.item(k),
            Held::Ended(_, last) => last.clone(),
        }
    }

    /// The one array whose cells these are.
    pub fn split(&self) -> Option<&Split> {
        match self {
            Held::Rows(rows) => Some(rows),
            _ => None,
        }
    }

    /// The nested array whose cells these are.
    pub fn lines(&self) -> Option<&Split> {
        match self {
            Held::Lines(lines) => Some(lines),
            _ => None,
        }
    }

    /// The flat array whose pieces these are.
    pub fn pieces(&self) -> Option<&Ragged> {
        match self {
            Held::Ragged(r) => Some(r),
            _ => None,
        }
    }

    /// The items, for dropping them: none where they are parts of one array.
    pub fn take(&mut self) -> Vec<Array> {
        match self {
            Held::Items(list) => list.take(),
            Held::Lines(lines) => vec![std::mem::replace(&mut lines.node, Array::num(0.0))],
            Held::Columns(columns) => columns.take(),
            Held::Enclosed(last) | Held::Ended(_, last) => {
                vec![std::mem::replace(last, Array::num(0.0))]
            }
            // The list that it is of is taken apart by who holds it last.
            Held::Stretch(_) | Held::Rows(_) | Held::Ragged(_) => Vec::new(),
        }
    }
}

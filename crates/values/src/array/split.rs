//! One uniform array seen as a frame of cells: the first axes are the frame, the rest is the cell.
//!
//! Rows: LOWERING §3, §4. Two kinds of value are made of it. A *rows* value shows the frame: a
//! nested array whose items are the cells, not taken apart before somebody looks at one. A *framed*
//! value shows the cell: what a function sees that is run once for all cells.

use super::{Array, Buf, DType, Data, Ragged, Shape, View, elements};
use crate::dag::ix::Ix;
use crate::dag::{Cell, Meta, Node, Read, kinds};
use aplomb_ground::limits::Budget;
use std::cell::OnceCell;
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
                let items = v[k * size..(k + 1) * size].to_vec();
                Array::complexes(shape, items, &Budget::new(u64::MAX)).unwrap_or(node)
            }
            Data::Dense(b) => {
                Array::dense(shape, Arc::new(cut(b.view(), b.dtype(), k * size, size)))
            }
            _ => node,
        }
    }
}

/// A piece of a buffer. The whole is charged; its pieces are looked at one by one.
pub(super) fn cut(view: View<'_>, dtype: DType, from: usize, n: usize) -> Buf {
    match view {
        View::Char(v) => Buf::uncounted_chars(v[from..from + n].to_vec()),
        View::F64(v) => Buf::uncounted(&v[from..from + n], dtype),
        view => {
            let items: Vec<f64> = (from..from + n).map(|k| view.number(k)).collect();
            Buf::uncounted(&items, dtype)
        }
    }
}

/// The items of a nested array: as they stand, or parts of one array until somebody looks.
pub struct Held {
    items: OnceCell<Vec<Array>>,
    parts: Option<Parts>,
}

/// One array that holds all items.
enum Parts {
    /// Its cells.
    Rows(Split),
    /// Its pieces.
    Ragged(Ragged),
}

impl Held {
    /// Items as they stand.
    pub fn items(items: Vec<Array>) -> Held {
        Held { items: OnceCell::from(items), parts: None }
    }

    /// The cells of one array, as items.
    pub fn rows(rows: Split) -> Held {
        Held { items: OnceCell::new(), parts: Some(Parts::Rows(rows)) }
    }

    /// The pieces of a flat one, as items.
    pub fn ragged(pieces: Ragged) -> Held {
        Held { items: OnceCell::new(), parts: Some(Parts::Ragged(pieces)) }
    }

    /// All of them, row by row; parts are taken out once.
    pub fn all(&self) -> &[Array] {
        self.items.get_or_init(|| match &self.parts {
            Some(Parts::Rows(rows)) => (0..elements(rows.frame())).map(|k| rows.item(k)).collect(),
            Some(Parts::Ragged(r)) => (0..r.count()).map(|k| r.item(k)).collect(),
            None => Vec::new(),
        })
    }

    /// The k-th, row by row; 0 where there is none at all.
    pub fn at(&self, k: usize) -> Array {
        match (self.items.get(), &self.parts) {
            (Some(items), _) => items[k].clone(),
            (None, Some(Parts::Rows(rows))) => rows.item(k),
            (None, Some(Parts::Ragged(r))) => r.item(k),
            (None, None) => Array::num(0.0),
        }
    }

    /// The one array whose cells these are.
    pub fn split(&self) -> Option<&Split> {
        match &self.parts {
            Some(Parts::Rows(rows)) => Some(rows),
            _ => None,
        }
    }

    /// The flat array whose pieces these are.
    pub fn pieces(&self) -> Option<&Ragged> {
        match &self.parts {
            Some(Parts::Ragged(r)) => Some(r),
            _ => None,
        }
    }

    /// The items if they were taken apart, for dropping them.
    pub fn take(&mut self) -> Vec<Array> {
        self.items.take().unwrap_or_default()
    }

    /// Nobody has looked at the items yet.
    pub fn whole(&self) -> Option<&Split> {
        self.split().filter(|_| self.items.get().is_none())
    }
}

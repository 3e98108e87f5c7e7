//! Items of one shape: what is done to their places is done to the first axes of the one array that
//! holds them, so that no item is taken out.

use crate::eval::cx::Cx;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, DType, Split, elements};
use aplomb_values::dag::ix::Ix;
use aplomb_values::prim::moves::Move;

/// No array has more axes.
const AXES: usize = 15;

impl Cx<'_> {
    /// A change of places among the items of rows, or a choice of them, done to the array that
    /// holds them along the same axes. None: these are no rows, or what is left is no frame.
    pub fn on_rows(
        &mut self,
        a: &Array,
        run: impl FnOnce(&mut Self, &Array) -> Result<Array>,
    ) -> Result<Option<Array>> {
        let rows = a.split().filter(|rows| rows.node.frame().is_none()).or(a.lines());
        let Some(Split { node, at }) = rows else { return Ok(None) };
        let cell = node.rank() - at;
        let made = run(self, node)?;
        let lead = made.rank() - cell;
        if lead == 0 || made.is_empty() {
            return Ok(None);
        }
        Ok(match made.is_uniform() {
            true => Some(Array::rows(made, lead)),
            false => Array::lines_of(&made, lead),
        })
    }

    /// A move of the items of rows. None: as for `on_rows`.
    pub fn move_rows(&mut self, a: &Array, m: &Move) -> Result<Option<Array>> {
        let Some(rows) = a.split().or(a.lines()) else { return Ok(None) };
        let (lead, cell) = (m.shape.len(), rows.cell().to_vec());
        if lead == 0 || lead + cell.len() > AXES || elements(&m.shape) == 0 {
            return Ok(None);
        }
        let mut read = m.read.clone();
        read.ix.extend((0..cell.len()).map(|k| Ix::axis(lead + k)));
        let shape = m.shape.iter().copied().chain(cell).collect();
        let whole = Move { name: m.name, shape, read, onto: m.onto };
        self.on_rows(a, |cx, node| cx.apply_move(node, whole))
    }

    /// The one array that holds the items of an array, which are arrays of one shape: as rows do,
    /// put together where they stand one by one. None: they are not of one shape and kind, or
    /// simple scalars. Errors: WS FULL, INTERRUPT.
    pub fn as_rows(&mut self, a: &Array) -> Result<Option<Split>> {
        if a.rank() == 0 || a.is_empty() || a.is_uniform() || a.frame().is_some() {
            return Ok(None);
        }
        if let Some(rows) = a.split() {
            return Ok((rows.node.frame().is_none()).then(|| rows.clone()));
        }
        let same = match a.pieces() {
            Some(all) => {
                let size = all.range(0).len();
                !all.is_of_pieces()
                    && size > 0
                    && (1..all.count()).all(|k| all.range(k).len() == size)
            }
            None => {
                let first = a.item(0);
                let alike = |b: &Array| {
                    b.is_plain()
                        && b.shape() == first.shape()
                        && b.is_char() == first.is_char()
                        && (b.dtype() == DType::F32) == (first.dtype() == DType::F32)
                };
                first.rank() > 0 && !first.is_empty() && a.in_turn().all(|b| alike(&b))
            }
        };
        if !same {
            return Ok(None);
        }
        let node = crate::functions::cells::mix(self, a, None)?;
        Ok(Some(Split { node, at: a.rank() }))
    }

    /// Rows with cells of one shape and kind one after another along an axis of their frames; items
    /// of that shape are rows as well. None: none is rows, or their cells differ.
    pub fn join_rows(&mut self, parts: &[Array], axis: usize) -> Result<Option<Array>> {
        if !parts.iter().any(|part| part.split().is_some()) {
            return Ok(None);
        }
        let mut nodes = self.budget().room(parts.len())?;
        for part in parts {
            let Some(rows) = self.as_rows(part)? else { return Ok(None) };
            nodes.push(rows);
        }
        let Some((first, others)) = nodes.split_first() else { return Ok(None) };
        let alike = |rows: &Split| {
            rows.cell() == first.cell() && rows.node.is_char() == first.node.is_char()
        };
        if !others.iter().all(alike) {
            return Ok(None);
        }
        let (at, nodes) = (first.at, nodes.iter().map(|r| r.node.clone()).collect::<Vec<_>>());
        crate::functions::cells::join(self, &nodes, axis).map(|made| Some(Array::rows(made, at)))
    }
}

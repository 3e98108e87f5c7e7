//! Recording on framed values: one node for all cells of a frame.
//!
//! Rows: LOWERING §3. A framed value's shape is its cell's, so shapes, conformity and moves are decided on cells; then
//! the nodes are lined up along the longer frame and the operation is applied to them as to any arrays. A value with a
//! shorter frame is spread along the missing inner axes. What cannot be said once for all cells is refused with
//! `Kind::Untraced`, and the cells are interpreted one by one.

use crate::array::{Array, Shape};
use crate::dag::Read;
use crate::dag::ix::Ix;
use crate::error::{Result, untraced};
use crate::eval::cx::Cx;
use crate::prim::moves::Move;
use crate::prim::op::Op;

impl Cx<'_> {
    /// A scalar function on conforming cells (equal shapes, or one of rank 0).
    pub fn framed2(&mut self, op: Op, cell: &[usize], x: &Array, y: &Array) -> Result<Array> {
        if !x.is_uniform() || !y.is_uniform() {
            return Err(untraced("a nested value meets a cell"));
        }
        let frame = self.frame_under(&[x, y]);
        let full: Shape = frame.iter().chain(cell).copied().collect();
        let args = vec![self.lined_up(x, &frame, &full)?, self.lined_up(y, &frame, &full)?];
        let z = self.under(op, &frame, args, |cx, a| cx.map2(op, &a[0], &a[1]))?;
        Ok(Array::framed(z, frame.len()))
    }

    /// A monadic one, of the node behind `at` axes of frame.
    pub fn framed1(&mut self, op: Op, y: &Array, node: &Array, at: usize) -> Result<Array> {
        if self.sys.under.is_empty() {
            return Ok(Array::framed(self.map1(op, node)?, at));
        }
        let frame = self.frame_under(&[y]);
        let full: Shape = frame.iter().chain(y.shape()).copied().collect();
        let args = vec![self.lined_up(y, &frame, &full)?];
        let z = self.under(op, &frame, args, |cx, a| cx.map1(op, &a[0]))?;
        Ok(Array::framed(z, frame.len()))
    }

    /// A value's node over the whole frame; a scalar that no frame holds stays one.
    pub fn lined_up(&mut self, a: &Array, frame: &[usize], full: &[usize]) -> Result<Array> {
        let (node, at) = match a.frame() {
            Some(split) => (split.node.clone(), split.at),
            None if a.rank() == 0 => return Ok(a.clone()),
            None => (a.clone(), 0),
        };
        if node.shape() == full {
            return Ok(node);
        }
        let cells = (0..node.rank() - at).map(|k| Some(frame.len() + k));
        self.apply_move(&node, Move::axes("⍴", full.into(), (0..at).map(Some).chain(cells)))
    }

    /// A move of every cell.
    pub fn framed_move(&mut self, a: &Array, m: &Move) -> Result<Array> {
        let Some(split) = a.frame() else { return Err(untraced("a move of no frame")) };
        let (node, at) = (split.node.clone(), split.at);
        let shape: Shape = split.frame().iter().chain(&m.shape).copied().collect();
        crate::array::checked_elements(&shape)?;
        let shifted: Vec<Ix> = (0..m.shape.len()).map(|k| Ix::axis(at + k)).collect();
        let mut read = Read::new((0..at).map(Ix::axis));
        read.ix.extend(m.read.ix.iter().map(|ix| ix.substitute(&shifted, &shape)));
        for t in &m.read.tests {
            let mut t = t.clone();
            t.ix = t.ix.substitute(&shifted, &shape);
            read.tests.push(t);
        }
        let z = self.apply_move(&node, Move { name: m.name, shape, read, onto: m.onto })?;
        Ok(Array::framed(z, at))
    }

    /// `op/` along an axis of every cell.
    pub fn framed_reduce(&mut self, op: Op, y: &Array, axis: usize) -> Result<Array> {
        let Some(split) = y.frame() else { return Err(untraced("a reduction of no frame")) };
        if self.sys.under.is_empty() {
            let (node, at) = (split.node.clone(), split.at);
            return Ok(Array::framed(self.reduce(op, &node, at + axis)?, at));
        }
        let frame = self.frame_under(&[y]);
        let full: Shape = frame.iter().chain(y.shape()).copied().collect();
        let node = self.lined_up(y, &frame, &full)?;
        let at = frame.len();
        let z = self.under(op, &frame, vec![node], |cx, a| cx.reduce(op, &a[0], at + axis))?;
        Ok(Array::framed(z, at))
    }

    /// Something would happen, or be asked, once for each cell.
    pub fn unframed(&self, what: &str) -> Result<()> {
        if self.sys.framing > 0 { Err(untraced(format!("{what} happens once a cell"))) } else { Ok(()) }
    }
}

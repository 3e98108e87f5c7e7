//! Recording on framed values: one node for all cells of a frame.
//!
//! A framed value's shape is its cell's, so shapes, conformity and moves are decided on cells; then
//! the nodes are lined up along the longer frame and the operation is applied to them as to any
//! arrays. A value with a shorter frame is spread along the missing inner axes. What cannot be said
//! once for all cells is refused with `Kind::Untraced`, and the cells are interpreted one by one.

use super::chain::part_read;
use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, untraced};
use aplomb_values::array::{Array, Shape};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Node, Read, kinds};
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;

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

    /// The sums of products of conforming cells along their last axis (`Cx::dot`).
    pub fn framed_dot(&mut self, op: Op, x: &Array, y: &Array) -> Result<Array> {
        if !x.is_uniform() || !y.is_uniform() {
            return Err(untraced("a nested value meets a cell"));
        }
        let (frame, cell) = (self.frame_under(&[x, y]), if x.rank() == 0 { y } else { x });
        let full: Shape = frame.iter().chain(cell.shape()).copied().collect();
        let args = vec![self.lined_up(x, &frame, &full)?, self.lined_up(y, &frame, &full)?];
        let z = self.under(Op::Mul, &frame, args, |cx, a| cx.dot(op, &a[0], &a[1]))?;
        Ok(Array::framed(z, frame.len()))
    }

    /// A monadic one, of the node behind `at` axes of frame.
    pub fn framed1(&mut self, op: Op, y: &Array, node: &Array, at: usize) -> Result<Array> {
        if !self.sys.scope.is_conditional() {
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
        aplomb_values::array::checked_elements(&shape)?;
        let shifted: Vec<Ix> = (0..m.shape.len()).map(|k| Ix::axis(at + k)).collect();
        let mut read = Read::new((0..at).map(Ix::axis));
        read.ix.extend(m.read.ix.iter().map(|ix| ix.substitute(&shifted, &shape)));
        for t in &m.read.tests {
            let mut t = t.clone();
            t.ix = t.ix.substitute(&shifted, &shape);
            read.tests.push(t);
        }
        let (node, read, onto) = match part_of(&node, at, &read, &shape) {
            Some((part, read)) => (part, read, false),
            None => (node, read, m.onto),
        };
        let z = self.apply_move(&node, Move { name: m.name, shape, read, onto })?;
        Ok(Array::framed(z, at))
    }

    /// `op/` along an axis of every cell.
    pub fn framed_reduce(&mut self, op: Op, y: &Array, axis: usize) -> Result<Array> {
        let Some(split) = y.frame() else { return Err(untraced("a reduction of no frame")) };
        if !self.sys.scope.is_conditional() {
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

    /// Scalars side by side in every cell.
    pub fn framed_strand(&mut self, items: &[Array]) -> Result<Array> {
        if items.iter().any(|a| a.rank() > 0 || !a.is_uniform()) {
            return Err(untraced("cells become items"));
        }
        let one: Shape = [1].as_slice().into();
        let ones = items
            .iter()
            .map(|a| self.apply_move(a, Move::spread(&[], &one)))
            .collect::<Result<Vec<_>>>()?;
        let made = self.record_cat(&ones, 0, &[items.len()].as_slice().into())?;
        made.ok_or_else(|| untraced("cells become items"))
    }

    /// The item at one ravel place in every cell.
    pub fn framed_item(&mut self, a: &Array, place: usize) -> Result<Array> {
        let (onto, steps) = (a.len() == 1, aplomb_values::array::strides(a.shape()));
        let at = |(n, step): (&usize, usize)| Ix::constant((place / step % n) as i64);
        let read = Read::new(a.shape().iter().zip(steps).map(at));
        self.apply_move(a, Move { name: "[]", shape: Shape::new(), read, onto })
    }

    /// Whether two cells of the same shape have the same items.
    pub fn framed_match(&mut self, x: &Array, y: &Array) -> Result<Array> {
        if !x.is_uniform() || !y.is_uniform() || x.is_empty() {
            return Err(untraced("≡ looks at values"));
        }
        let same = self.map2(Op::Eq, x, y)?;
        if same.rank() == 0 {
            return Ok(same);
        }
        let flat: Shape = [same.len()].as_slice().into();
        let flat = self.apply_move(&same, Move::reshape("⍴", same.shape(), &flat))?;
        self.reduce(Op::Min, &flat, 0)
    }

    /// Something would happen, or be asked, once for each cell.
    pub fn unframed(&self, what: &str) -> Result<()> {
        if self.sys.scope.is_once_a_cell() {
            Err(untraced(format!("{what} happens once a cell")))
        } else {
            Ok(())
        }
    }
}

/// The part of catenated cells that a read stays in, and its read: a cell that is a record of
/// numbers is never made.
fn part_of(node: &Array, lead: usize, read: &Read, shape: &[usize]) -> Option<(Array, Read)> {
    let (mut node, mut read) = (node.clone(), read.clone());
    loop {
        let made = node.pending()?.node().map(|n| n.clone())?;
        match made {
            Node::Transform(kinds::Transform { src, read: inner, .. }) => {
                (node, read) = (src, inner.after(&read, shape))
            }
            Node::Cat(kinds::Cat { axis, args })
                if axis as usize >= lead && read.tests.is_empty() =>
            {
                return part_read(axis as usize, &args, &read, shape);
            }
            _ => return None,
        }
    }
}

//! Chains of moves: pending arrays between which and arrays at hand nothing stands but moves and
//! catenations.
//!
//! A loop that takes from an array and appends to it has a longer one each turn, of another length,
//! for which a launch would be compiled. So a few items are looked up through the chain, and one
//! that has become long is copied together.

use crate::eval::cx::{Cx, SMALL};
use crate::eval::scope::is_final;
use aplomb_ground::error::{Kind, Result};
use aplomb_values::array::{Array, DType, Data, Ragged, Shape, advance, elements, storage};
use aplomb_values::dag::{Cell, Node, Read};
use aplomb_values::prim::moves::Move;
use std::ops::Range;
use std::rc::Rc;

/// Links of a chain that is looked through.
const LINKS: usize = 16;

impl Cx<'_> {
    /// A few items of an array at hand, which a chain of moves alone stands before: they are looked
    /// up through these. A launch would take longer, and a loop in which the array's length changes
    /// would have one to compile for every length. An array that is read in many small parts is
    /// evaluated for them: a recursion on halves would have a launch for each.
    pub(super) fn few_at_hand(&mut self, a: &Array, m: &Move, n: usize) -> Result<Option<Array>> {
        const FEW: usize = 8;
        const PARTS: usize = 64;
        if n > SMALL || a.pending().is_none() || self.sys.recorder.ahead || self.sys.records_all() {
            return Ok(None);
        }
        let (mut src, mut read) = (a.clone(), m.read.clone());
        for _ in 0..=LINKS {
            let Some(cell) = src.pending().cloned() else {
                let plain = src.is_uniform() && !src.is_complex() && src.frame().is_none();
                return (plain && n <= FEW).then(|| self.looked_up(&src, m, read)).transpose();
            };
            let Some(below) = link(&cell, &read, &m.shape) else {
                if let Some(first) = cell.node().and_then(|n| n.facts().counts_from())
                    && n <= FEW
                    && read.tests.is_empty()
                {
                    return self.counted(m, &read, first).map(Some);
                }
                let many = self.sys.tape.part_of(&cell).is_multiple_of(PARTS);
                let whole = if many { self.evaluated(&src)? } else { None };
                return whole.map(|whole| self.looked_up(&whole, m, read)).transpose();
            };
            (src, read) = below;
        }
        Ok(None)
    }

    /// A move of an array at hand, by the read that the moves between make of its own.
    fn looked_up(&self, of: &Array, m: &Move, read: Read) -> Result<Array> {
        Move { name: m.name, shape: m.shape.clone(), read, onto: false }.run(of, self.budget())
    }

    /// A few items of whole numbers that are counted from one on.
    fn counted(&self, m: &Move, read: &Read, first: f64) -> Result<Array> {
        let mut place: Shape = m.shape.iter().map(|_| 0).collect();
        let places = (0..elements(&m.shape)).map(|_| {
            let item = read.ix[0].at(&place) as f64 + first;
            advance(&mut place, &m.shape);
            item
        });
        Array::numbers(m.shape.clone(), places.collect(), self.budget())
    }

    /// A pending array's value ahead of those who may ask for it. None: it has none here, or it
    /// fails, which whoever needs it is told. Errors: INTERRUPT, WS FULL.
    pub fn evaluated(&mut self, a: &Array) -> Result<Option<Array>> {
        if self.sys.scope.in_round() || self.sys.scope.is_conditional() {
            return Ok(None);
        }
        let suspects = self.sys.tape.take_suspects();
        match self.ready(a, "pending limit") {
            Err(e) if is_final(&e) || e.kind() == Kind::WsFull => Err(e),
            Ok(whole) => Ok(Some(whole)),
            Err(_) => {
                self.sys.tape.set_suspects(suspects);
                Ok(None)
            }
        }
    }

    /// Gives a cell its value, if it ends a long chain of moves of rows. Errors: INTERRUPT.
    pub(super) fn shorten(&mut self, cell: &Rc<Cell>) -> Result<()> {
        let free = !self.sys.recorder.ahead && !self.sys.records_all();
        if (cell.weight() as usize) < LINKS || !free || !is_long(cell) {
            return Ok(());
        }
        match self.put_together(cell, &mut (4 * LINKS)) {
            Ok(Some(value)) => cell.settle(value),
            Err(e) if e.kind() != Kind::WsFull => return Err(e),
            // It is recorded as ever.
            Ok(None) | Err(_) => {}
        }
        Ok(())
    }

    /// Gives an argument of a deep call its value, if that is a part of an array: a stretch of it.
    /// Each call below would look through one link more. Apart from the call, of which as many wait
    /// as stand in each other. Errors: INTERRUPT, WS FULL.
    #[inline(never)]
    pub fn cut_at_hand(&mut self, a: &Array) -> Result<()> {
        let free = !self.sys.recorder.ahead && !self.sys.records_all();
        let scope = &self.sys.scope;
        if let Some(rows) = a.split().filter(|rows| rows.node.frame().is_none()) {
            return self.cut_at_hand(&rows.node.settled());
        }
        let Some(cell) = a.pending().filter(|_| free && !scope.is_once_a_cell()) else {
            return Ok(());
        };
        let Some(node) = cell.node().map(|n| n.clone()) else { return Ok(()) };
        let Some((read, [])) = node.facts().place() else { return Ok(()) };
        let whole = node.inputs()[0].settled();
        let Some(first) = first_row(read, cell.shape(), whole.shape()) else { return Ok(()) };
        let at_hand = match whole.pending() {
            Some(_) => self.evaluated(&whole)?,
            None => Some(whole),
        };
        let Some(whole) = at_hand.filter(|a| a.is_plain()) else { return Ok(()) };
        let part = match whole.buffer_stretch(first..first + a.first_extent()) {
            Some(part) => part,
            None => {
                let shape = a.shape().into();
                let m = Move { name: "↓", shape, read: read.clone(), onto: false };
                m.run(&whole, self.budget())?
            }
        };
        cell.settle(part);
        Ok(())
    }

    /// The value of a chain: stretches of arrays at hand, one after another. None: it does more
    /// than that.
    fn put_together(&mut self, cell: &Rc<Cell>, links: &mut usize) -> Result<Option<Array>> {
        let Some(&rows) = cell.shape().first() else { return Ok(None) };
        let (mut runs, whole) = (Vec::new(), Array::lazy(cell.clone()));
        if !self.stretches(&whole, 0..rows, &mut runs, links)? {
            return Ok(None);
        }
        let mut held = self.budget().room(runs.len())?;
        held.extend(runs.iter().filter_map(|(a, range)| Some((storage(a)?, range.clone()))));
        if held.len() < runs.len() {
            return Ok(None);
        }
        if let ([(a, range)], [n]) = (runs.as_slice(), cell.shape())
            && let Some(part) = a.buffer_stretch(range.clone()).filter(|part| part.len() == *n)
        {
            return Ok(Some(part));
        }
        let Some(made) = Ragged::of_runs(&held, self.budget())? else { return Ok(None) };
        made.flat().with_shape(cell.shape(), self.budget()).map(Some)
    }

    /// The stretches of storage that rows of an array are. False: they are more than that, or stand
    /// behind more links.
    fn stretches(
        &mut self,
        a: &Array,
        rows: Range<usize>,
        runs: &mut Vec<(Array, Range<usize>)>,
        links: &mut usize,
    ) -> Result<bool> {
        let a = a.settled();
        let Some(cell) = a.pending() else {
            let row = a.shape().get(1..).map_or(0, elements);
            runs.push((a.clone(), rows.start * row..rows.end * row));
            return Ok(a.is_plain() && a.rank() > 0 && a.dtype() != DType::F32);
        };
        let (Some(left), Some(node)) = (links.checked_sub(1), cell.node().map(|n| n.clone()))
        else {
            return Ok(false);
        };
        *links = left;
        let facts = node.facts();
        match facts.place() {
            Some((read, [])) => {
                let src = &node.inputs()[0];
                match first_row(read, cell.shape(), src.shape()) {
                    Some(k) => self.stretches(src, rows.start + k..rows.end + k, runs, links),
                    None => {
                        let moved = self.moved(cell, src, read, links)?;
                        Ok(moved && self.stretches(&a, rows, runs, links)?)
                    }
                }
            }
            None if facts.joins() && facts.axis() == Some(0) => {
                let mut from = 0;
                for part in node.inputs() {
                    let to = from + part.shape()[0];
                    let own = rows.start.max(from)..rows.end.min(to);
                    if !own.is_empty()
                        && !self.stretches(part, own.start - from..own.end - from, runs, links)?
                    {
                        return Ok(false);
                    }
                    from = to;
                }
                Ok(true)
            }
            _ => {
                let Some(first) = facts.counts_from() else { return Ok(false) };
                let n = elements(cell.shape());
                let places = self.budget().each((0..n).map(|k| k as f64 + first))?;
                cell.settle(self.vector(places)?);
                self.stretches(&a, rows, runs, links)
            }
        }
    }

    /// Gives a short cell that moves what it reads about, not row by row, its value. False: that
    /// has none here.
    fn moved(&mut self, cell: &Cell, src: &Array, read: &Read, links: &mut usize) -> Result<bool> {
        const SHORT: usize = 64 * SMALL;
        if elements(cell.shape()) > SHORT || src.len() > SHORT {
            return Ok(false);
        }
        let src = match src.pending() {
            Some(below) => self.put_together(&below.clone(), links)?,
            None => Some(src.settled()).filter(|a| a.is_plain() && a.dtype() != DType::F32),
        };
        let Some(src) = src else { return Ok(false) };
        let m = Move { name: "⍴", shape: cell.shape().into(), read: read.clone(), onto: false };
        cell.settle(m.run(&src, self.budget())?);
        Ok(true)
    }
}

/// The array behind one link, and the read of it that a read of the cell is. None: the cell is no
/// link, or the read is of more than one part of it.
fn link(cell: &Cell, read: &Read, shape: &[usize]) -> Option<(Array, Read)> {
    let node = cell.node()?;
    let facts = node.facts();
    match facts.place() {
        Some((own, [])) => Some((node.inputs()[0].settled(), own.after(read, shape))),
        None if facts.joins() && read.tests.is_empty() => {
            part_read(facts.axis()?.into(), node.inputs(), read, shape)
        }
        _ => None,
    }
}

/// The part of catenated arrays that a read stays in, and its read.
pub(super) fn part_read(
    axis: usize,
    parts: &[Array],
    read: &Read,
    shape: &[usize],
) -> Option<(Array, Read)> {
    let (low, high) = read.ix[axis].range(shape);
    let mut from = 0;
    for part in parts {
        let n = part.shape()[axis] as i64;
        if from <= low && high < from + n {
            let mut read = read.clone();
            read.ix[axis] = read.ix[axis].offset(-from);
            return Some((part.settled(), read));
        }
        from += n;
    }
    None
}

/// True of a cell with so many links one behind another, down the side that weighs most.
fn is_long(cell: &Rc<Cell>) -> bool {
    let mut at = cell.clone();
    for _ in 1..LINKS {
        let heaviest = |node: &Node<Array>| {
            let facts = node.facts();
            let moves = facts.joins() || matches!(facts.place(), Some((_, [])));
            let below = node.inputs().iter().filter_map(Array::pending);
            below.max_by_key(|c| c.weight()).filter(|_| moves).cloned()
        };
        let below = at.node().as_deref().and_then(heaviest);
        match below {
            Some(below) => at = below,
            None => return false,
        }
    }
    true
}

/// A move of a nested array whose cells are a stretch of its own, which copies nothing. None: it is
/// another move, or as for `Array::stretch`.
pub(super) fn stretched(a: &Array, m: &Move) -> Option<Array> {
    if !matches!(a.data(), Data::Items(_)) || m.shape.first() == a.shape().first() {
        return None;
    }
    let first = first_row(&m.read, &m.shape, a.shape())?;
    a.stretch(first..first + m.shape.first()?)
}

/// The first row of a read of whole rows, one after another. None: it is another read.
pub(super) fn first_row(read: &Read, shape: &[usize], from: &[usize]) -> Option<usize> {
    let (first, others) = read.ix.split_first()?;
    let rows =
        first.offset(-first.c).is_axis(0) || first.is_constant() && shape.first() == Some(&1);
    let own = |k: usize| {
        let ix = &others[k - 1];
        ix.is_axis(k) || shape[k] == 1 && ix.is_constant() && ix.c == 0
    };
    let whole = shape.len() == from.len() && shape.get(1..) == from.get(1..);
    let fits = read.tests.is_empty() && rows && whole && (1..shape.len()).all(own);
    usize::try_from(first.c).ok().filter(|_| fits)
}

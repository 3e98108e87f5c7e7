//! Functions that look at values, on all cells of a frame in one call.
//!
//! A primitive of the class `Cells` (a search, a format, ⌹) gives each cell a result that depends
//! on its items. The cells are computed, the function runs on one after the other without the
//! interpreter, and the results, all of one shape, are one array behind the frame. Under a guard it
//! runs on the cells alone for which that holds. Where results differ in shape or kind the operator
//! goes cell by cell, and so it does where one fails: then the error is APL's.

use crate::eval::cx::Cx;
use crate::eval::scope::Inside;
use crate::functions::amend::fits;
use crate::functions::select::{bracket, places_of, select, whole_places};
use crate::functions::shape::reshaped;
use crate::functions::straight::{Plane, plane};
use crate::functions::{made, pieces};
use aplomb_ground::error::{Result, untraced};
use aplomb_values::array::{Array, DType, Data, Shape, Split, View, elements};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Along, Read};
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;
use smallvec::SmallVec;

use super::places::{Chosen, Spots};

/// An argument whose cells are taken out one by one: its own frame may be a leading part of the
/// longest, or none at all.
struct Apart {
    split: Split,
    /// So many cells of the longest frame see the same one.
    times: usize,
}

impl Apart {
    fn cell(&self, k: usize) -> Array {
        match self.split.at {
            0 => self.split.node.clone(),
            at if at == self.split.node.rank() => self.split.node.item(k / self.times),
            _ => self.split.item(k / self.times),
        }
    }
}

/// Results of one shape and one kind, one behind the other.
#[derive(Default)]
struct Behind {
    cell: Option<Shape>,
    /// The kind of the items: of results without any nothing else tells.
    is_char: bool,
    /// All that came is of f32.
    is_single: bool,
    numbers: Vec<f64>,
    chars: Vec<char>,
}

impl Behind {
    /// Errors: untraced for a result unlike those before.
    fn push(&mut self, a: &Array, cells: usize, cx: &Cx<'_>) -> Result<()> {
        if !a.is_uniform() || a.is_complex() {
            return Err(untraced("cells have results that are no simple reals or texts"));
        }
        match &self.cell {
            None => {
                match a.is_char() {
                    true => self.chars = cx.budget().room(cells.saturating_mul(a.len()))?,
                    false => self.numbers = cx.budget().room(cells.saturating_mul(a.len()))?,
                }
                (self.cell, self.is_char) = (Some(a.shape().into()), a.is_char());
                self.is_single = true;
            }
            Some(_) if a.is_char() != self.is_char => {
                return Err(untraced("results differ in kind from cell to cell"));
            }
            Some(cell) if cell.as_slice() == a.shape() => {}
            Some(_) => return Err(untraced("results differ in shape from cell to cell")),
        }
        self.is_single &= a.dtype() == DType::F32;
        match a.data() {
            Data::Num(x, _) => self.numbers.push(*x),
            Data::Char(c) => self.chars.push(*c),
            Data::Dense(b) => match b.view() {
                View::Char(v) => self.chars.extend_from_slice(v),
                View::F64(v) => self.numbers.extend_from_slice(v),
                view => self.numbers.extend((0..view.len()).map(|k| view.number(k))),
            },
            Data::Complex(_) | Data::Ref(_) | Data::Items(_) | Data::Lazy(_) | Data::Framed(_) => {
                return Err(untraced("cells have results that are not computed"));
            }
        }
        Ok(())
    }

    /// The results behind the frame; where no cell ran, as `ran` says, stand fills.
    fn finish(self, frame: &[usize], ran: Option<&[bool]>, cx: &Cx<'_>) -> Result<Array> {
        let Some(cell) = self.cell else { return Err(untraced("no cell runs")) };
        let shape: Shape = frame.iter().chain(&cell).copied().collect();
        let (n, m) = (aplomb_values::array::checked_elements(&shape)?, elements(&cell));
        let numbers = |all: Vec<f64>| match self.is_single && m > 0 {
            false => Array::numbers(shape.clone(), all, cx.budget()),
            true => Array::singles(shape.clone(), &all, cx.budget()),
        };
        match (self.is_char, ran) {
            (false, None) => numbers(self.numbers),
            (false, Some(ran)) => {
                numbers(spread(&self.numbers, m, ran, cx.budget().filled(0.0, n)?))
            }
            (true, None) => Array::chars(shape, self.chars, cx.budget()),
            (true, Some(ran)) => {
                let all = spread(&self.chars, m, ran, cx.budget().filled(' ', n)?);
                Array::chars(shape, all, cx.budget())
            }
        }
    }
}

/// The items of those cells that ran, each at its place among all.
fn spread<T: Copy>(items: &[T], size: usize, ran: &[bool], mut all: Vec<T>) -> Vec<T> {
    let places = ran.iter().enumerate().filter(|(_, ran)| **ran).map(|(at, _)| at);
    for (k, at) in places.enumerate() {
        all[at * size..(at + 1) * size].copy_from_slice(&items[k * size..(k + 1) * size]);
    }
    all
}

impl Cx<'_> {
    /// A function of the host on every cell of the arguments' frames. Errors: untraced where the
    /// cells must go one by one, or the function's own.
    pub fn over_cells(
        &mut self,
        what: char,
        args: &[&Array],
        mut run: impl FnMut(&mut Self, &[Array]) -> Result<Array>,
    ) -> Result<Array> {
        if self.sys.scope.in_round() {
            return Err(untraced(format!("{what} looks at values")));
        }
        let frame = self.frame_under(args);
        let standing = self.standing(&frame)?;
        let nodes: Vec<&Array> = args.iter().map(|a| a.frame().map_or(*a, |s| &s.node)).collect();
        self.force(&nodes, "cells")?;
        let n = elements(&frame);
        let mut apart = Vec::with_capacity(2);
        for a in args {
            let (node, at) = a.frame().map_or((*a, 0), |s| (&s.node, s.at));
            let node = self.ready(node, "cells")?;
            let times = n / elements(&node.shape()[..at]).max(1);
            apart.push(Apart { split: Split { node, at }, times });
        }
        if standing.is_none()
            && let Some(made) = self.in_a_pass(what, &apart, &frame)?
        {
            return Ok(made);
        }
        let elements = apart.iter().map(|a| a.split.node.len()).fold(0, usize::max);
        let work = self.begin_work(elements);
        let ran: Option<Vec<bool>> = match &standing {
            Some(mask) => Some(self.numbers(mask, "a guard")?.iter().map(|m| *m != 0.0).collect()),
            None => None,
        };
        let many = ran.as_ref().map_or(n, |ran| ran.iter().filter(|r| **r).count());
        let made = self.within(Inside::OneCell, |cx| {
            let (mut out, mut ticks) = (Behind::default(), cx.budget().ticks());
            for k in (0..n).filter(|k| ran.as_ref().is_none_or(|ran| ran[*k])) {
                ticks.tick()?;
                let given: SmallVec<[Array; 2]> = apart.iter().map(|a| a.cell(k)).collect();
                let z = run(cx, &given)?;
                out.push(&cx.ready(&z, "cells")?, many, cx)?;
            }
            Ok(out)
        });
        let made = made?.finish(&frame, ran.as_deref(), self)?;
        self.tell_work(work);
        Ok(Array::framed(made, frame.len()))
    }

    /// The same where cells are scalars or vectors and a pass makes a piece of each. None: there is
    /// none, or the pieces differ in length.
    fn in_a_pass(&mut self, what: char, args: &[Apart], frame: &[usize]) -> Result<Option<Array>> {
        let Some(prim) = crate::table::find(what) else { return Ok(None) };
        let n = elements(frame);
        let mut lists = SmallVec::<[Array; 2]>::new();
        for Apart { split: Split { node, at }, times } in args {
            lists.push(match &node.shape()[*at..] {
                _ if node.is_empty() => return Ok(None),
                [] if *at > 0 && *times == 1 => reshaped(self, node, &[n])?,
                [len] if *at > 0 && *times == 1 => {
                    Array::rows(reshaped(self, node, &[n, *len])?, 1)
                }
                [] | [_] if *at == 0 => node.settled().enclosed()?,
                _ => return Ok(None),
            });
        }
        let Some(y) = lists.pop() else { return Ok(None) };
        let x = lists.pop();
        let made = match made::each(self, prim, x.as_ref(), &y)? {
            None => pieces::each(self, prim, x.as_ref(), &y)?,
            made => made,
        };
        let Some(made) = made else { return Ok(None) };
        let (flat, length) = match (made.pieces(), made.split()) {
            (Some(pieces), _) if !pieces.is_of_pieces() => {
                let length = pieces.range(0).len();
                if (0..n).any(|k| pieces.range(k).len() != length) {
                    return Ok(None);
                }
                (pieces.flat(), length)
            }
            (None, Some(rows)) if rows.cell().len() == 1 => (&rows.node, rows.cell()[0]),
            _ => return Ok(None),
        };
        let full: Shape = frame.iter().copied().chain([length]).collect();
        let flat = reshaped(self, flat, &full)?;
        Ok(Some(Array::framed(flat, frame.len())))
    }

    /// `A[…]` where the array or an index is a cell of some frame: one gather for all cells.
    pub fn framed_gather(&mut self, a: &Array, chosen: &[Chosen]) -> Result<Array> {
        let indices =
            chosen.iter().filter_map(|c| if let Chosen::Array(i) = c { Some(i) } else { None });
        let args: Vec<&Array> = std::iter::once(a).chain(indices).collect();
        let frame = self.frame_under(&args);
        let (mut node, own) = a.frame().map_or((a.settled(), 0), |s| (s.node.settled(), s.at));
        if node.is_open() {
            node = self.ready(&node, "index")?;
        }
        let shapes = chosen.iter().zip(a.shape()).map(|(c, &n)| c.shape(n));
        let cell: Shape = shapes.flatten().collect();
        let full: Shape = frame.iter().chain(&cell).copied().collect();
        let n = aplomb_values::array::checked_elements(&full)?;
        if n == 0 || node.is_empty() || !self.recordable(&node) {
            return Err(untraced("[] looks at values"));
        }
        let mut read = Read::new((0..own).map(Ix::axis));
        let (mut along, mut places) = (SmallVec::new(), Vec::new());
        let mut at = frame.len();
        for (k, (c, &extent)) in chosen.iter().zip(a.shape()).enumerate() {
            read.ix.push(match c {
                Chosen::All => Ix::axis(at),
                Chosen::Line { plane, .. } => plane.read(|k| at + k),
                Chosen::Array(i) if let Some((plane, around)) = self.plane_of_cells(i, extent) => {
                    plane.read(|k| if k < around { k } else { at + k - around })
                }
                Chosen::Array(i) => {
                    along.push(Along { axis: (own + k) as u8, times: 1, extent });
                    places.push(self.places_over(i, &frame, &full, at)?);
                    Ix::constant(0)
                }
            });
            at += c.shape(extent).len();
        }
        if places.is_empty() {
            let onto = false;
            let made = self.within(Inside::Unconditional, |cx| {
                cx.apply_move(&node, Move { name: "[]", shape: full, read, onto })
            })?;
            return Ok(Array::framed(made, frame.len()));
        }
        let origin = self.sys.settings.io;
        // A cell that no guard lets through is read at the first place.
        let standing = self.sys.scope.conditions().to_vec();
        let made = self.within(Inside::Unconditional, |cx| {
            if let Some(mask) = cx.holding(&standing, &frame, &full)? {
                for place in &mut places {
                    *place = cx.select(&mask, place, &Array::num(origin), &full)?;
                }
            }
            cx.gathered(&node, Spots { shape: full, read, along, places })
        })?;
        Ok(Array::framed(made, frame.len()))
    }

    /// The places of an index of every cell, where they are told without looking at them and are
    /// all there, and the number of axes of the cells: then it is no index but a read.
    fn plane_of_cells(&self, i: &Array, extent: usize) -> Option<(Plane, usize)> {
        let cells = i.frame()?;
        Some((plane(self, &cells.node, extent)?, cells.at))
    }

    /// An index over a whole frame and the cells of a result; its own axes stand at `at`.
    fn places_over(
        &mut self,
        i: &Array,
        frame: &[usize],
        full: &Shape,
        at: usize,
    ) -> Result<Array> {
        let (node, own) = i.frame().map_or((i.settled(), 0), |s| (s.node.settled(), s.at));
        let node = whole_places(self, &node)?;
        if !self.recordable(&node) {
            return Err(untraced("an index of several kinds"));
        }
        if node.shape() == full.as_slice() && own == frame.len() {
            return Ok(node);
        }
        let axes = (0..own).chain((0..node.rank() - own).map(|k| at + k)).map(Some);
        self.apply_move(&node, Move::axes("⍴", full.clone(), axes))
    }

    /// `A[…]←v` and `A[…]f←v` in every cell: where an item is meant, what is assigned, else what
    /// was there. Errors: untraced for places that are told only by values, or twice.
    pub fn framed_amend(
        &mut self,
        old: &Array,
        indices: &[Option<Array>],
        combine: Option<Op>,
        v: &Array,
    ) -> Result<Array> {
        if indices.len() != old.rank() || !old.is_uniform() || !v.is_uniform() || v.is_empty() {
            return Err(untraced("items of cells are assigned by paths"));
        }
        let (cell, by_cell): (Shape, _) =
            (old.shape().into(), indices.iter().flatten().any(|i| i.frame().is_some()));
        let mut new = v.clone();
        if let Some(op) = combine {
            // The items alone, so that nothing fails elsewhere.
            let there = bracket(self, old, indices)?;
            new = self.map2(op, &there, &new)?;
        }
        if by_cell {
            let mask = self.mask_by_cell(&cell, indices, old)?;
            return self.either_item(&mask, &new, old);
        }
        let mut sels = Vec::with_capacity(indices.len());
        for (i, &n) in indices.iter().zip(old.shape()) {
            sels.push(select(self, i.as_ref(), n)?);
        }
        let (shape, places) = places_of(old.shape(), &sels, self.budget())?;
        self.framed_put(old, &shape, &places, &new)
    }

    /// The items of every cell at ravel places, under the shape in which those were given.
    pub fn framed_picked(&mut self, y: &Array, shape: &[usize], places: &[usize]) -> Result<Array> {
        let flat = self.apply_move(y, Move::reshape(",", y.shape(), &[y.len()]))?;
        let io = self.sys.settings.io;
        let places = places.iter().map(|&k| k as f64 + io).collect();
        let places = Array::numbers(shape, places, self.budget())?;
        bracket(self, &flat, &[Some(places)])
    }

    /// Every cell with those items changed. Errors: untraced for a place twice, LENGTH, RANK.
    pub fn framed_put(
        &mut self,
        old: &Array,
        shape: &[usize],
        places: &[usize],
        new: &Array,
    ) -> Result<Array> {
        if !new.is_uniform() || new.is_empty() {
            return Err(untraced("items of cells become arrays"));
        }
        fits(new, shape)?;
        let budget = self.budget();
        let (mut mask, mut from) = (budget.filled(0.0, old.len())?, budget.filled(0, old.len())?);
        for (k, &place) in places.iter().enumerate() {
            if mask[place] == 1.0 {
                return Err(untraced("a place is assigned twice"));
            }
            (mask[place], from[place]) = (1.0, k);
        }
        let mask = Array::numbers(old.shape(), mask, self.budget())?;
        if new.len() == 1 {
            return self.either_item(&mask, new, old);
        }
        let values = self.framed_picked(new, old.shape(), &from)?;
        self.either(&mask, &values, old)
    }

    /// One item where a mask holds, else what is there.
    fn either_item(&mut self, mask: &Array, one: &Array, old: &Array) -> Result<Array> {
        let one = self.apply_move(one, Move::first(one.shape()))?;
        let values = self.apply_move(&one, Move::spread(&[], old.shape()))?;
        self.either(mask, &values, old)
    }

    /// The one place that the indices of every cell name, as a mask. That there is such a place is
    /// looked at as where it is read.
    fn mask_by_cell(
        &mut self,
        cell: &Shape,
        indices: &[Option<Array>],
        old: &Array,
    ) -> Result<Array> {
        if indices.iter().any(|i| i.as_ref().is_none_or(|i| i.rank() > 0)) {
            return Err(untraced("several items are assigned at places of every cell"));
        }
        bracket(self, old, indices)?;
        let mut mask: Option<Array> = None;
        for (k, i) in indices.iter().flatten().enumerate() {
            let io = self.sys.settings.io;
            let all = (0..cell[k]).map(|at| at as f64 + io).collect();
            let all = Array::numbers([cell[k]].as_slice(), all, self.budget())?;
            let own = self.apply_move(&all, Move::along(cell[k], cell, k))?;
            let here = self.map2(Op::Eq, &own, i)?;
            mask = Some(match mask {
                None => here,
                Some(before) => self.map2(Op::Mul, &before, &here)?,
            });
        }
        mask.ok_or_else(|| untraced("a scalar has no items to assign"))
    }
}

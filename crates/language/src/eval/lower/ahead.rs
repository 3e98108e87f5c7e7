//! Functions that are applied ahead of their arguments' values: what looks at arrays where that is
//! cheaper than recording them is recorded here.
//!
//! A program never runs so. A session does it to learn what a function would compute
//! (`Session::applied`), so no plan, value or trace of a program changes by these rules.

use crate::eval::cx::{Cx, Effect};
use crate::functions::shape::reshaped;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, Data, Shape};
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::Ix;
use aplomb_values::prim::moves::Move;

impl Cx<'_> {
    /// Whether this array's values are not there, and will not be.
    pub fn is_ahead(&self, a: &Array) -> bool {
        self.sys.recorder.ahead && a.pending().is_some() && a.frame().is_none()
    }

    /// An effect, or a look at those of others, begins here. A function that is applied ahead of
    /// its arguments has none: its first is noted for whoever refuses it.
    pub fn effect(&mut self, what: &'static str) {
        if self.sys.recorder.ahead && self.sys.recorder.effect.is_none() {
            self.sys.recorder.effect = Some(Effect { what, place: self.place() });
        }
    }

    /// Each cell of an axis so many times, one behind the other.
    pub fn repeated_by(&mut self, y: &Array, axis: usize, times: usize) -> Result<Array> {
        let mut shape: Shape = y.shape().into();
        shape[axis] = shape[axis].saturating_mul(times);
        aplomb_values::array::checked_elements(&shape)?;
        let mut read = Read::identity(y.rank());
        read.ix[axis] = Ix::axis(axis).div(times as i64, &shape);
        self.apply_move(y, Move { name: "⌿", shape, read, onto: true })
    }

    /// The k-th item of a value: of an array whose values are not there a place in it.
    pub fn item_ahead(&mut self, a: &Array, k: usize) -> Result<Array> {
        if !self.is_ahead(a) {
            return Ok(if a.rank() == 0 { a.disclosed() } else { a.item(k) });
        }
        if a.rank() == 0 {
            return Ok(a.clone());
        }
        let mut rest = k;
        let mut place: Vec<usize> =
            a.shape().iter().rev().map(|n| (rest % n, rest /= n).0).collect();
        place.reverse();
        let read = Read::new(place.into_iter().map(|x| Ix::constant(x as i64)));
        self.apply_move(a, Move { name: "⊃", shape: Shape::new(), read, onto: false })
    }

    /// An index: whole numbers that are not there stay so, all else is computed.
    pub fn index_ahead(&mut self, i: &Array) -> Result<Array> {
        match self.is_ahead(i) && i.dtype().is_integer() {
            true => Ok(i.clone()),
            false => self.ready(i, "index"),
        }
    }

    /// One place as a vector of one along its last axis: what is recorded has axes.
    pub fn one_place_ahead(&mut self, indices: &mut [Option<Array>]) -> Result<()> {
        if indices.iter().all(|i| i.as_ref().is_some_and(|i| i.rank() == 0))
            && let Some(Some(last)) = indices.last_mut()
        {
            *last = reshaped(self, last, &[1])?;
        }
        Ok(())
    }

    /// Items of one shape, some of whose values are not there, one behind the other in a frame.
    /// None: there are no such, or they differ.
    pub fn mixed_ahead(&mut self, frame: &[usize], items: &[Array]) -> Result<Option<Array>> {
        let Some(first) = items.first() else { return Ok(None) };
        let alike = |a: &Array| {
            a.shape() == first.shape() && a.is_uniform() && !a.is_char() && a.frame().is_none()
        };
        if !items.iter().all(alike) || !items.iter().any(|a| self.is_ahead(a)) {
            return Ok(None);
        }
        let cell: Vec<usize> = std::iter::once(1).chain(first.shape().iter().copied()).collect();
        let mut parts = Vec::new();
        for item in items {
            let dense = match item.data() {
                Data::Num(..) => item.reshaped([1].as_slice()),
                _ => item.clone(),
            };
            parts.push(reshaped(self, &dense, &cell)?);
        }
        let mut whole: Shape = cell.as_slice().into();
        whole[0] = items.len();
        let Some(all) = self.record_cat(&parts, 0, &whole)? else { return Ok(None) };
        let shape: Vec<usize> = frame.iter().chain(first.shape()).copied().collect();
        reshaped(self, &all, &shape).map(Some)
    }
}

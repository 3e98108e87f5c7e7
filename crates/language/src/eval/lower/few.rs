//! Searches for one item, and in a few items, as comparisons.
//!
//! | search | as | why it is the same |
//! |---|---|---|
//! | `V⍳y` of each cell | `(n+⎕IO)-0⌈⌈/(V=y)×n-0 1 …` | the first place has the greatest weight, none 0 |
//! | `y∊V` of one item | `⌈/V=y` | |
//! | `A∊few` | `(A=k₁)⌈(A=k₂)⌈…` | |
//! | `few⍳A` | the place of the first that is equal, by choices | |
//!
//! Each is fused with what makes its arguments and with what reads it. One item in one vector is
//! the library's, which ends where it finds it. A library's search compares as `=` does, but for
//! f32, whose items are floats to it and whose numbers are of f32 to `=`: those are left to it.

use crate::eval::cx::{Cx, SMALL};
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, DType, Data};
use aplomb_values::dag::Lib;
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;

/// Items of a list in which each item is looked up by so many comparisons.
const FEW: usize = 16;

/// Real numbers that are compared as they are.
fn is_compared(a: &Array) -> bool {
    a.is_uniform() && !a.is_complex() && !a.is_open() && a.dtype() != DType::F32
}

impl Cx<'_> {
    /// True of a search for one item in an array that is not huge, both at hand: that is had for
    /// less than a launch, for it ends where the item is found, and a loop that looks into an array
    /// it makes longer would have one to compile for every length.
    pub(super) fn is_found_by_hand(&self, list: &Array, one: &Array) -> bool {
        const SHORT: usize = 4096 * SMALL;
        let here = |a: &Array| a.pending().is_none() && a.frame().is_none();
        let free = !self.sys.records_all() && !self.sys.recorder.ahead;
        free && one.rank() == 0 && list.len() <= SHORT && here(list) && here(one)
    }

    /// The search for one item in a vector, of all cells of a frame where they are cells. None: it
    /// is not recorded so.
    pub fn record_search_of_one(
        &mut self,
        of: Lib,
        list: &Array,
        one: &Array,
    ) -> Result<Option<Array>> {
        let n = list.len();
        let framed = list.frame().is_some() || one.frame().is_some();
        if of == Lib::Member && list.rank() > 1 && self.recordable(list) {
            let flat = self.apply_move(list, Move::reshape(",", list.shape(), &[n]))?;
            return self.record_search_of_one(of, &flat, one);
        }
        let single = [list, one].iter().any(|a| a.dtype() == DType::F32);
        if !framed && (of == Lib::IndexOf || single) {
            return self.library_of_one(of, list, one);
        }
        let fits = list.rank() == 1 && one.rank() == 0 && (1..1 << 31).contains(&n);
        let numbers = |a: &Array| is_compared(a) && !a.is_char();
        if !fits || !numbers(list) || !numbers(one) || !(framed || self.records(&[list, one], n)) {
            return Ok(None);
        }
        let equal = self.map2(Op::Eq, list, one)?;
        // Of nothing, which an export for vectors of any length may meet, the greatest is below 0.
        let zero = Array::num(0.0);
        if of == Lib::Member {
            let some = self.reduce(Op::Max, &equal, 0)?;
            return self.map2(Op::Max, &zero, &some).map(Some);
        }
        let (length, places) = (Array::num(n as f64), self.iota(n, 0.0)?);
        let weights = self.map2(Op::Sub, &length, &places)?;
        let weighed = self.map2(Op::Mul, &equal, &weights)?;
        let first = self.reduce(Op::Max, &weighed, 0)?;
        let first = self.map2(Op::Max, &zero, &first)?;
        let behind = Array::num(n as f64 + self.sys.settings.io);
        self.map2(Op::Sub, &behind, &first).map(Some)
    }

    /// The same by the library, to which one item is a vector of one.
    fn library_of_one(&mut self, of: Lib, list: &Array, one: &Array) -> Result<Option<Array>> {
        if !self.records(&[list, one], list.len()) || !self.recordable(one) {
            return Ok(None);
        }
        let vector = match one.data() {
            Data::Num(..) => one.reshaped([1].as_slice()),
            Data::Char(_) => return Ok(None),
            _ => self.apply_move(one, Move::reshape("⍴", &[], &[1]))?,
        };
        let Some(made) = self.record_lib(of, &[list, &vector])? else { return Ok(None) };
        self.apply_move(&made, Move::reshape("⍴", &[1], &[])).map(Some)
    }

    /// `X⍳y`, `y∊X` of each cell's own vector and item. None: these are other cells.
    pub fn one_in_each(&mut self, glyph: char, x: &Array, y: &Array) -> Result<Option<Array>> {
        let (of, list, one) = match glyph {
            '⍳' => (Lib::IndexOf, x, y),
            '∊' => (Lib::Member, y, x),
            _ => return Ok(None),
        };
        match list.frame().is_some() {
            true => self.record_search_of_one(of, list, one),
            false => Ok(None),
        }
    }

    /// The search for many items in a list of few, which is at hand. None: it is not recorded so.
    pub(super) fn record_few(
        &mut self,
        of: Lib,
        list: &Array,
        sought: &Array,
    ) -> Result<Option<Array>> {
        let known = matches!(list.data(), Data::Dense(_) | Data::Num(_, _) | Data::Char(_));
        let alike = list.is_char() == sought.is_char();
        let fits = known && alike && (1..=FEW).contains(&list.len());
        let search = matches!(of, Lib::Member | Lib::IndexOf) && self.recordable(sought);
        if !fits || !search || !is_compared(list) || !is_compared(sought) {
            return Ok(None);
        }
        if sought.is_empty() || !self.records(&[sought], sought.len()) {
            return Ok(None);
        }
        if of == Lib::IndexOf && list.rank() != 1 {
            return Ok(None);
        }
        let items = list.to_items(self.budget())?;
        let mut equal = self.budget().room(items.len())?;
        for item in &items {
            equal.push(self.map2(Op::Eq, sought, item)?);
        }
        let io = self.sys.settings.io;
        if of == Lib::IndexOf {
            let mut place = Array::num(items.len() as f64 + io);
            for (k, equal) in equal.iter().enumerate().rev() {
                place = self.select(equal, &Array::num(k as f64 + io), &place, sought.shape())?;
            }
            return Ok(Some(place));
        }
        let mut equal = equal.into_iter();
        let Some(mut some) = equal.next() else { return Ok(None) };
        for next in equal {
            some = self.map2(Op::Max, &some, &next)?;
        }
        Ok(Some(some))
    }
}

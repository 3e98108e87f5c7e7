//! Recording the consumers of whole arrays: ordered folds, scatters, folds of segments, functions
//! of the library.
//!
//! Rows: ACC-05, ACC-27, ACC-28, ACL-27. Each function says None where the host should do it.

use super::body::in_rounds;
use super::fold::with_identity;
use super::known;
use super::places::{Chosen, Spots, joined, mask_of_places, moved};
use crate::eval::cx::{Cx, SMALL};
use crate::eval::scope::is_final;
use crate::functions::select::choices;
use crate::functions::{order, search};
use aplomb_ground::error::{Kind, Result, internal};
use aplomb_values::array::{Array, DType, Shape, elements};
use aplomb_values::body::{self, Rounds, What};
use aplomb_values::dag::{Lib, Node, Whole};
use aplomb_values::prim::moves::{Move, gather};
use aplomb_values::prim::op::{Fails, Op};
use aplomb_values::prim::scan;
use aplomb_values::prim::whole::segments;
use std::ops::Range;
use std::sync::Arc;

/// An array with so many times as many items as are assigned is changed in place.
const FEW: usize = 8;

impl Cx<'_> {
    /// `op/` from the right, one step after the other.
    pub(super) fn record_ordered(
        &mut self,
        op: Op,
        y: &Array,
        axis: usize,
        shape: Shape,
    ) -> Result<Array> {
        let ct = if y.dtype() == DType::F32 { 0.0 } else { self.sys.settings.ct };
        let (dtype, range) = self.reduced(op, y.dtype(), known(y).1, y.shape()[axis]);
        // What is folded first is an item: the sum has a type only where it is the items'.
        let own = if y.dtype() == dtype { in_rounds(dtype) } else { DType::F64 };
        let body = Arc::new(Rounds::once(op, ct, own));
        let what = Whole::Fold { axis: axis as u8, body, given: Vec::new() };
        self.cell(Node::whole(what, [y.settled()]), shape, (dtype, range))
    }

    /// `x[…]←v`, `x[…]f←v`: the array with those items changed. What may fail is computed at once,
    /// so that a name keeps its value if it does. Errors: INDEX, LENGTH, RANK.
    pub fn record_scatter(
        &mut self,
        old: &Array,
        indices: &[Option<Array>],
        combine: Option<Op>,
        v: &Array,
    ) -> Result<Option<Array>> {
        // `h[1+X]+←1` goes by X, from another origin; what has no place there is told of `1+X`.
        if let ([Some(i)], false) = (indices, self.sys.recorder.ahead)
            && let Some(of) = moved(i)
        {
            match self.scatter(old, indices, (combine, Some(of)), v) {
                Err(e) if e.kind() == Kind::Index => {}
                done => return done,
            }
        }
        self.scatter(old, indices, (combine, None), v)
    }

    /// As `record_scatter`; the only index may be whole numbers in memory and a number that is
    /// added to them.
    fn scatter(
        &mut self,
        old: &Array,
        indices: &[Option<Array>],
        (combine, moved): (Option<Op>, Option<(Array, f64)>),
        v: &Array,
    ) -> Result<Option<Array>> {
        let mut origin = self.sys.settings.io;
        let count = indices
            .iter()
            .zip(old.shape())
            .map(|(i, &n)| i.as_ref().map_or(n, Array::len))
            .product::<usize>();
        let worth = count.saturating_mul(FEW) >= old.len() || old.pending().is_some();
        let some = count > SMALL
            || self.sys.records_all()
            || old.pending().is_some()
            || v.pending().is_some();
        let mixed = old.is_char() != v.is_char() || combine.is_some() && old.is_char();
        let simple = self.recordable(old) && self.recordable(v);
        if let ([Some(i)], None, [n]) = (indices, combine, old.shape())
            && let Some(mask) = mask_of_places(i, *n, origin)
            && let Some(new) = self.record_masked(old, &mask, count, v)?
        {
            return Ok(Some(new));
        }
        if !(worth && some && simple) || mixed || old.is_empty() || v.is_empty() {
            return Ok(None);
        }
        let chosen = match moved {
            Some((base, by)) => {
                origin -= by;
                vec![Chosen::Array(base)]
            }
            None => {
                let ready = |i: &Option<Array>| i.as_ref().map(|i| self.index_ahead(i)).transpose();
                let mut indices = indices.iter().map(ready).collect::<Result<Vec<_>>>()?;
                if self.sys.recorder.ahead {
                    self.one_place_ahead(&mut indices)?;
                }
                choices(self, old.shape(), &indices)?.1
            }
        };
        let Some(Spots { shape, read, along, places }) = self.spots(old, &chosen)? else {
            return Ok(None);
        };
        if shape.is_empty() {
            return Ok(None);
        }
        crate::functions::amend::fits(v, &shape)?;
        let v = if v.len() == 1 { self.as_scalar(v)? } else { v.clone() };
        let values = match v.rank() {
            0 => self.apply_move(&v, Move::spread(&[], &shape))?,
            _ if v.shape() == shape.as_slice() => v.settled(),
            _ => self.apply_move(&v, Move::reshape("⍴", v.shape(), &shape))?,
        };
        let facts = [known(old), known(&values)];
        let (dtype, range) = match combine.map(|op| op.result(&facts)) {
            None => joined(&facts),
            Some((dtype, _)) if dtype.is_integer() => (DType::I32, None),
            Some(_) if facts.iter().all(|f| f.0 == DType::F32) => (DType::F32, None),
            Some(_) => (DType::F64, None),
        };
        let exact = facts.iter().any(|f| f.0 == DType::F32) || old.is_char();
        let ct = if exact { 0.0 } else { self.sys.settings.ct };
        let combine = combine.map(|op: Op| (op, op.tolerance(ct)));
        let what = Whole::Scatter { read, along, origin, combine };
        let args = [old.settled(), values].into_iter().chain(places);
        let new = self.cell(Node::whole(what, args), old.shape().into(), (dtype, range))?;
        self.sure(&[old, &v], &new)?;
        Ok(Some(new))
    }

    /// A value that a name is to get, computed where it may fail: the name keeps its own then.
    fn sure(&mut self, made_of: &[&Array], new: &Array) -> Result<()> {
        let sure = self.sys.recorder.ahead
            || made_of.iter().all(|a| a.pending().is_none())
                && new.pending().is_none_or(|cell| cell.fails() == Fails::Never);
        if sure { Ok(()) } else { self.force(&[new], "assignment") }
    }

    /// `x[⍸B]←v` of one value, `kept` places in all: a choice in each item by itself, for which the
    /// places are not computed. None: they are few, or values of several kinds.
    pub fn record_masked(
        &mut self,
        old: &Array,
        mask: &Array,
        kept: usize,
        v: &Array,
    ) -> Result<Option<Array>> {
        /// An array with more items for each place is changed where the places are.
        const FEW: usize = 64;
        let worth = kept.saturating_mul(FEW) >= old.len() || old.pending().is_some();
        let fits = self.recordable(old) && self.recordable(v) && self.recordable(mask);
        if !worth || !fits || v.len() != 1 || old.is_char() != v.is_char() {
            return Ok(None);
        }
        let v = self.as_scalar(v)?;
        let new = self.select(mask, &v, old, old.shape())?;
        self.sure(&[old, &v], &new)?;
        Ok(Some(new))
    }

    /// `op/¨` of parts of a vector.
    pub fn record_segments(
        &mut self,
        op: Op,
        parts: &[Range<usize>],
        y: &Array,
    ) -> Result<Option<Array>> {
        let fits = op.is_associative() && self.records(&[y], y.len());
        if y.rank() != 1 || y.is_char() || !self.recordable(y) || !fits {
            return Ok(None);
        }
        let mut fact = self.reduced(op, y.dtype(), known(y).1, y.len());
        if parts.iter().any(Range::is_empty) {
            fact = with_identity(op, fact);
        }
        let what = Whole::Segmented { op, scan: false };
        let args = [self.bounds_of(parts)?, y.settled()];
        self.cell(Node::whole(what, args), [parts.len()].as_slice().into(), fact).map(Some)
    }

    /// From and to of each part, a row each.
    fn bounds_of(&self, parts: &[Range<usize>]) -> Result<Array> {
        let mut bounds = self.budget().room(parts.len().saturating_mul(2))?;
        bounds.extend(parts.iter().flat_map(|p| [p.start as f64, p.end as f64]));
        Array::floats([parts.len(), 2].as_slice(), bounds, self.budget())
    }

    /// `op\¨` of parts of a vector, which do not overlap: their scans where they lie in it,
    /// computed. None: the host does it, or some prefix fails, which is told where its part is.
    pub fn scan_segments(
        &mut self,
        op: Op,
        parts: &[Range<usize>],
        y: &Array,
    ) -> Result<Option<Array>> {
        let running = op != Op::Sub && scan::runs(op, y.dtype() == DType::Bool);
        let fits = running && self.records(&[y], y.len());
        if y.rank() != 1 || y.is_char() || parts.is_empty() || !self.recordable(y) || !fits {
            return Ok(None);
        }
        let longest = parts.iter().map(ExactSizeIterator::len).fold(0, usize::max);
        // What lies in no part is 0.
        let fact = match self.reduced(op, y.dtype(), known(y).1, longest) {
            (dtype, Some((lo, hi))) => (dtype, Some((lo.min(0.0), hi.max(0.0)))),
            fact => fact,
        };
        let what = Whole::Segmented { op, scan: true };
        let args = [self.bounds_of(parts)?, y.settled()];
        let mark = self.sys.tape.mark();
        let made = self.cell(Node::whole(what, args), y.shape().into(), fact)?;
        match self.ready(&made, "each") {
            Ok(made) => Ok(Some(made)),
            Err(e) if is_final(&e) => Err(e),
            Err(_) => {
                self.sys.tape.roll_back(mark);
                Ok(None)
            }
        }
    }

    /// A grade or a search whose arguments are part of a graph.
    pub fn record_lib(&mut self, of: Lib, args: &[&Array]) -> Result<Option<Array>> {
        if let [list, sought] = args {
            if self.is_found_by_hand(list, sought) {
                return Ok(None);
            }
            if sought.rank() == 0 {
                return self.record_search_of_one(of, list, sought);
            }
            if let Some(made) = self.record_few(of, list, sought)? {
                return Ok(Some(made));
            }
        }
        let large = args.iter().map(|a| a.len()).max().unwrap_or(0);
        let chars = args.iter().filter(|a| a.is_char()).count();
        let fits = args.iter().all(|a| self.recordable(a) && !a.is_empty());
        if !fits
            || chars != 0 && chars != args.len()
            || !self.records(args, large)
            || args[0].rank() == 0
        {
            return Ok(None);
        }
        let most = args[0].shape()[0] as f64;
        let (shape, (dtype, range)): (Shape, _) = match of {
            Lib::GradeUp | Lib::GradeDown => {
                ([args[0].shape()[0]].as_slice().into(), self.places_of(most - 1.0))
            }
            Lib::IndexOf if args[0].rank() == 1 => (args[1].shape().into(), self.places_of(most)),
            Lib::Member => (args[1].shape().into(), (DType::Bool, Some((0.0, 1.0)))),
            Lib::IndexOf | Lib::SortUp | Lib::SortDown => return Ok(None),
        };
        let exact = chars > 0 || args.iter().all(|a| a.dtype().is_integer());
        let ct = if exact { 0.0 } else { of.tolerance(self.sys.settings.ct) };
        let origin = if of == Lib::Member { 0.0 } else { self.sys.settings.io };
        let mut own = Vec::with_capacity(args.len());
        for (k, a) in args.iter().enumerate() {
            let list = of == Lib::Member && k == 0 && a.rank() != 1;
            own.push(if list {
                self.apply_move(a, Move::reshape(",", a.shape(), &[a.len()]))?
            } else {
                a.settled()
            });
        }
        let what = Whole::Lib { of, origin, ct, rows: false, first: 0 };
        self.cell(Node::whole(what, own), shape, (dtype, range)).map(Some)
    }

    /// The places in each row of an array that put it in order, for cells of rank 1 (`split`).
    pub fn record_grades(&mut self, node: &Array, of: Lib) -> Result<Option<Array>> {
        let Some(&last) = node.shape().last().filter(|n| **n > 0) else { return Ok(None) };
        if !self.recordable(node) || !self.records(&[node], node.len()) {
            return Ok(None);
        }
        let origin = self.sys.settings.io;
        let what = Whole::Lib { of, origin, ct: 0.0, rows: true, first: 0 };
        let (shape, of) = (node.shape().into(), self.places_of(last as f64 - 1.0));
        self.cell(Node::whole(what, [node.settled()]), shape, of).map(Some)
    }

    /// The type of places up to that one.
    fn places_of(&self, last: f64) -> (DType, Option<(f64, f64)>) {
        let (lo, hi) = (self.sys.settings.io, self.sys.settings.io + last);
        (DType::holding(lo, hi), Some((lo, hi)))
    }

    /// Such a node done again with the host's functions (`replay`), for what leaves the reals.
    pub fn whole_again(&mut self, what: &Whole, args: &[Array], shape: &Shape) -> Result<Array> {
        let args = args.iter().map(|a| self.ready(a, "argument")).collect::<Result<Vec<_>>>()?;
        match what {
            Whole::Fold { axis, body, given } => {
                let (_, n, inner) = aplomb_values::array::around(args[0].shape(), *axis as usize);
                let mut out = self.budget().room(elements(shape))?;
                let mut ticks = self.budget().ticks();
                for k in 0..elements(shape) {
                    let item = |j: usize| args[0].item((k / inner * n + j) * inner + k % inner);
                    let mut sum = item(n - 1);
                    for j in (0..n - 1).rev() {
                        ticks.tick()?;
                        let mut values = vec![item(j), sum];
                        values.extend(given.iter().map(|x| Array::num(*x)));
                        sum = self.steps_again(body, values)?;
                    }
                    out.push(sum);
                }
                if shape.is_empty() {
                    return Ok(out.swap_remove(0));
                }
                self.collect(shape, out, None)
            }
            Whole::Segmented { op, scan } => {
                let bounds = self.numbers(&args[0], "segments")?;
                let mut out = self.budget().room(elements(shape))?;
                for (from, to) in segments(&bounds) {
                    let places = self.budget().each((from..to).map(Ok))?;
                    let part = gather(&args[1], &[to - from], &places, self.budget())?;
                    if *scan {
                        let done = out.len();
                        out.extend((done..from).map(|_| Array::num(0.0)));
                        let made = self.scan_host(*op, &part, 0)?;
                        out.extend((0..to - from).map(|k| made.item(k)));
                    } else {
                        out.push(self.fold_host(*op, &part, 0, Shape::new())?);
                    }
                }
                let done = out.len();
                out.extend((done..elements(shape)).map(|_| Array::num(0.0)));
                self.collect(shape, out, None)
            }
            Whole::Scatter { combine, .. } => {
                // The numbers, and the items that are changed.
                let all = args.iter().map(Array::len).fold(0, usize::saturating_add);
                let _held = self.budget().charge_elements(all, 8)?;
                let lists = args.iter().map(|a| match a.to_numbers(self.budget())? {
                    Some(numbers) => Ok(numbers),
                    None => self.budget().filled(0.0, a.len()),
                });
                let lists = lists.collect::<Result<Vec<Vec<f64>>>>()?;
                let given = |k: usize| aplomb_values::prim::whole::Given {
                    items: &lists[k],
                    shape: args[k].shape(),
                };
                let fed: Vec<_> = (1..args.len()).map(given).collect();
                let Some(scatter) = aplomb_values::prim::whole::Scatter::new(what, &fed, shape)
                else {
                    return Ok(args[0].clone());
                };
                let _items = self.budget().charge_elements(args[0].len(), size_of::<Array>())?;
                let (mut items, mut ticks) =
                    (args[0].to_items(self.budget())?, self.budget().ticks());
                for k in 0..scatter.len() {
                    ticks.tick()?;
                    let at = scatter.place(k).map_err(|f| f.error())?;
                    let new = if args[1].rank() == 0 { args[1].clone() } else { args[1].item(k) };
                    items[at] = match combine {
                        Some((op, _)) => self.map2(*op, &items[at].clone(), &new)?,
                        None => new,
                    };
                }
                self.collect(shape, items, None)
            }
            Whole::Lib { of, rows: true, .. } if !of.is_sort() => {
                order::graded_rows(self, &args[0], of.is_down())
            }
            Whole::Lib { of, .. } => match of {
                Lib::GradeUp => order::graded_places(self, &args[0], false),
                Lib::GradeDown => order::graded_places(self, &args[0], true),
                // Only a rewrite makes these, of what was recorded as two steps.
                Lib::SortUp | Lib::SortDown => Err(internal("a sort is not what was recorded")),
                Lib::IndexOf => search::first_places(self, &args[0], &args[1]),
                Lib::Member => search::found(self, &args[1], &args[0]),
            },
        }
    }

    /// One round of scalars with the host's functions.
    fn steps_again(&mut self, body: &Rounds, mut values: Vec<Array>) -> Result<Array> {
        body::walk(&body.steps, &mut values, |step, values| {
            let at = |v: &body::ValueId| &values[*v as usize];
            match &step.what {
                What::Op { op, args, .. } => match args.as_slice() {
                    [y] => self.map1(*op, at(y)),
                    [x, y] => self.map2(*op, at(x), at(y)),
                    _ => Err(internal("an operation of one or two values")),
                },
                What::Select { cond, yes, no } => {
                    Ok(at(if at(cond).number_at(0) != Some(0.0) { yes } else { no }).clone())
                }
                What::Const(x) => Ok(Array::num(*x)),
                _ => Err(internal("an instruction of launches stands in a fold")),
            }
        })?;
        Ok(values[body.next[0] as usize].clone())
    }
}

//! The meaning of the consumers of whole arrays (`dag::whole`), on numbers; characters are code
//! points.
//!
//! `run` is the oracle's. Devices share out its parts: a line of a fold, a segment, a slice of a
//! scatter's base.

use super::library::{Grading, Places, found_place};
use super::op::Op;
use super::reduce;
use super::scalar::{Fail, eval};
use super::scan;
use crate::array::{DType, around, elements};
use crate::body::Rounds;
use crate::dag::{Along, Lib, Read, Whole};

/// An operand: its items and its shape.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// The items, row by row.
    pub items: &'a [f64],
    /// The extents of its axes; empty: one number for all points.
    pub shape: &'a [usize],
}

impl<'a> Given<'a> {
    /// Its rows along the last axis, one after the other.
    pub fn rows(self) -> impl Iterator<Item = Given<'a>> {
        let shape = &self.shape[self.shape.len().saturating_sub(1)..];
        let width = shape.first().map_or(1, |n| *n).max(1);
        self.items.chunks_exact(width).map(move |items| Given { items, shape })
    }

    /// The item at a point of the domain; a scalar is the same at all.
    pub fn at(&self, k: usize) -> f64 {
        if self.shape.is_empty() { self.items[0] } else { self.items[k] }
    }
}

/// The result of that shape and type. `note` is told of failures with the element of the result (of
/// a scatter: of the places).
pub fn run(
    what: &Whole,
    args: &[Given],
    shape: &[usize],
    dtype: DType,
    note: &mut dyn FnMut(usize, Fail),
) -> Vec<f64> {
    match what {
        Whole::Fold { axis, body, given } => {
            let (_, n, inner) = around(args[0].shape, *axis as usize);
            let mut line = Line::new(body, given);
            let one = |k: usize| {
                let first = k / inner * n * inner + k % inner;
                line.fold(&args[0].items[first..], n, inner, &mut |fail| note(k, fail))
            };
            (0..elements(shape)).map(one).collect()
        }
        Whole::Segmented { op, scan: true } => {
            let mut out: Vec<f64> = args[1].items.iter().map(|_| 0.0).collect();
            for (from, to) in segments(args[0].items) {
                let own = &mut out[from..to];
                own.copy_from_slice(&args[1].items[from..to]);
                scan::along(*op, own, &[to - from], 0, &mut |k, fail| note(from + k, fail));
            }
            out
        }
        Whole::Segmented { op, scan: false } => (0..elements(shape))
            .map(|k| {
                let (from, to) = segment(args[0].items, k);
                reduce::fold(*op, 0.0, &args[1].items[from..to], true, dtype).unwrap_or_else(
                    |fail| {
                        note(k, fail);
                        0.0
                    },
                )
            })
            .collect(),
        Whole::Scatter { .. } => {
            let mut out = args[0].items.to_vec();
            let Some(scatter) = Scatter::new(what, &args[1..], shape) else { return out };
            for k in 0..scatter.len() {
                match scatter.place(k) {
                    Err(fail) => note(k, fail),
                    Ok(at) => out[at] = scatter.value(out[at], k, note),
                }
            }
            out
        }
        Whole::Lib { of, origin, ct, rows, first } => {
            // Only some neighbours in an order may be wanted.
            let some = |all: Vec<f64>| match of.is_search() {
                true => all,
                false => {
                    let wanted = shape.last().map_or(0, |n| *n);
                    all.into_iter().skip(*first).take(wanted).collect()
                }
            };
            let mut out: Vec<f64> = if *rows {
                args[0].rows().flat_map(|row| some(library(*of, &[row], *ct))).collect()
            } else {
                some(library(*of, args, *ct))
            };
            // Numbers in order are no places.
            if !of.is_sort() {
                out.iter_mut().for_each(|k| *k += origin);
            }
            out
        }
    }
}

/// From and to of the k-th segment.
pub fn segment(bounds: &[f64], k: usize) -> (usize, usize) {
    (bounds[2 * k] as usize, bounds[2 * k + 1] as usize)
}

/// From and to of each segment.
pub fn segments(bounds: &[f64]) -> impl Iterator<Item = (usize, usize)> {
    (0..bounds.len() / 2).map(|k| segment(bounds, k))
}

/// One line of an ordered fold after another.
pub struct Line<'a> {
    body: &'a Rounds,
    values: Vec<f64>,
    arguments: usize,
}

impl<'a> Line<'a> {
    /// A fold whose body is given these numbers beside the two that it combines.
    pub fn new(body: &'a Rounds, given: &[f64]) -> Line<'a> {
        let mut values = Vec::with_capacity(body.steps.len());
        values.extend([0.0; 2]);
        values.extend_from_slice(given);
        Line { body, arguments: values.len(), values }
    }

    /// `items` begins at the line's first; the next is `step` further.
    pub fn fold(
        &mut self,
        items: &[f64],
        n: usize,
        step: usize,
        fail: &mut dyn FnMut(Fail),
    ) -> f64 {
        let mut sum = items[(n - 1) * step];
        for k in (0..n - 1).rev() {
            (self.values[0], self.values[1]) = (items[k * step], sum);
            self.values.truncate(self.arguments);
            self.body.steps_into(&mut self.values, fail);
            sum = self.values[self.body.next[0] as usize];
        }
        sum
    }
}

/// A scatter's places and values.
pub struct Scatter<'a> {
    read: &'a Read,
    along: &'a [Along],
    origin: f64,
    combine: Option<(Op, f64)>,
    fed: &'a [Given<'a>],
    base: &'a [usize],
    /// The shape of the places.
    domain: &'a [usize],
}

impl<'a> Scatter<'a> {
    /// `fed`: values and places. None: it is no scatter.
    pub fn new(what: &'a Whole, fed: &'a [Given<'a>], base: &'a [usize]) -> Option<Scatter<'a>> {
        let Whole::Scatter { read, along, origin, combine } = what else { return None };
        let domain = fed.iter().map(|g| g.shape).find(|s| !s.is_empty())?;
        Some(Scatter { read, along, origin: *origin, combine: *combine, fed, base, domain })
    }

    /// The number of values that are written.
    pub fn len(&self) -> usize {
        elements(self.domain)
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place that the k-th value goes to.
    pub fn place(&self, k: usize) -> Result<usize, Fail> {
        let mut point = smallvec::SmallVec::<[usize; 4]>::from_elem(0, self.domain.len());
        crate::reference::unravel(k, self.domain, &mut point);
        let mut at = 0;
        for (axis, (&extent, ix)) in self.base.iter().zip(&self.read.ix).enumerate() {
            let mut place = ix.at(&point);
            for (a, by) in
                self.along.iter().zip(&self.fed[1..]).filter(|(a, _)| a.axis as usize == axis)
            {
                place += a.step(by.at(k), self.origin)?;
            }
            at = at * extent + place as usize;
        }
        Ok(at)
    }

    /// The value at a place after the k-th one came to it.
    pub fn value(&self, there: f64, k: usize, note: &mut dyn FnMut(usize, Fail)) -> f64 {
        let new = self.fed[0].at(k);
        match self.combine {
            None => new,
            Some((op, ct)) => eval(op, ct, there, new).unwrap_or_else(|fail| {
                note(k, fail);
                0.0
            }),
        }
    }
}

fn library(of: Lib, args: &[Given], ct: f64) -> Vec<f64> {
    match of {
        Lib::GradeUp | Lib::GradeDown => {
            grade(args[0], of.is_down()).into_iter().map(|k| k as f64).collect()
        }
        Lib::SortUp | Lib::SortDown => {
            grade(args[0], of.is_down()).into_iter().map(|k| args[0].items[k]).collect()
        }
        Lib::IndexOf | Lib::Member => {
            let n = args[0].items.len();
            let mut all = [Places::new(args[0].items, ct, 0, 1)];
            all[0].add(0..n);
            args[1].items.iter().map(|x| found_place(of, Places::first(&all, *x), n)).collect()
        }
    }
}

/// The order of the major cells, stable.
pub fn grade(of: Given, down: bool) -> Vec<usize> {
    let grading = Grading::new(of, down);
    let mut cells: Vec<_> = (0..grading.count()).map(|k| grading.cell(k)).collect();
    if grading.by_cell() {
        cells.sort_unstable()
    } else {
        cells.sort_unstable_by(|a, b| grading.order(a, b))
    }
    cells.into_iter().map(|c| c.at()).collect()
}

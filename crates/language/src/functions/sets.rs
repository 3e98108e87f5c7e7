//! Searches between two vectors in each of many cells: `⍳ ∊ ~ ∩ ∪` of pieces.
//!
//! One pass finds for every item of a piece the first place in the other piece where it stands, and
//! all five functions are read off these places. A short piece is gone through, under ⎕CT; in a
//! long one characters and whole numbers are looked up in a table.

use super::groups::{Hashed, mixed};
use super::pieces::{Lain, Side};
use super::search::IN_TABLE;
use crate::eval::cx::Cx;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, DType, Ragged, Storage, storage};
use aplomb_values::prim::library::same;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

/// The functions that search.
pub const SEARCHES: &str = "⍳∊~∩∪";

/// Comparisons of two pieces that are made one by one.
const SHORT: usize = 256;

/// One side of a search: its items as numbers.
struct Cells<'a> {
    lain: Lain<'a>,
    numbers: Vec<f64>,
}

impl<'a> Cells<'a> {
    /// None: these are neither real numbers nor characters, or there is none.
    fn of(cx: &mut Cx<'_>, side: &'a Side<'_>) -> Result<Option<Cells<'a>>> {
        let Some(lain) = Lain::of(cx, side)? else { return Ok(None) };
        match storage(lain.flat()).filter(|s| s.dtype() != DType::Complex) {
            Some(held) => {
                let numbers = held.view().numbers(cx.budget())?;
                Ok(Some(Cells { lain, numbers }))
            }
            None => Ok(None),
        }
    }

    /// The items of the k-th cell.
    fn items(&self, k: usize) -> &[f64] {
        &self.numbers[self.lain.range(k)]
    }

    /// Whether no two of its items are equal within ⎕CT without being the same.
    fn is_exact(&self) -> bool {
        self.lain.flat().is_char() || self.lain.flat().dtype().is_integer()
    }
}

/// The first places, from 0 on, of the items of a piece in another one, or its length.
struct Search {
    ct: f64,
    table: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
}

impl Search {
    /// False: the pieces are long, and their numbers equal under ⎕CT.
    fn places(&mut self, have: &[f64], want: &[f64], exact: bool, out: &mut Vec<u32>) -> bool {
        out.clear();
        if have.len().saturating_mul(want.len()) <= SHORT {
            let place = |x: &f64| have.iter().position(|h| same(*h, *x, self.ct));
            out.extend(want.iter().map(|x| place(x).map_or(have.len(), |at| at) as u32));
            return true;
        }
        if !exact {
            return false;
        }
        // Whole numbers: there is one zero.
        let key = |x: f64| mixed((x + 0.0).to_bits() as i64);
        self.table.clear();
        for (k, x) in have.iter().enumerate() {
            self.table.entry(key(*x)).or_insert(k as u32);
        }
        let place = |x: &f64| self.table.get(&key(*x)).map_or(have.len() as u32, |at| *at);
        out.extend(want.iter().map(place));
        true
    }
}

/// `x f¨y` of n cells with a function that searches. None: it goes another way. Errors: WS FULL,
/// INTERRUPT.
pub fn searched(
    cx: &mut Cx<'_>,
    glyph: char,
    (x, y): (&Side<'_>, &Side<'_>),
    shape: &[usize],
    n: usize,
) -> Result<Option<Array>> {
    // What is searched in by ⍳ is a vector.
    let scalar = |side: &Side<'_>| match side {
        Side::One(a) => a.rank() == 0,
        Side::Numbers(_) => true,
        Side::Pieces(_) => false,
    };
    if glyph == '⍳' && scalar(x) {
        return Ok(None);
    }
    let alone = scalar(if glyph == '⍳' { y } else { x });
    let (Some(x), Some(y)) = (Cells::of(cx, x)?, Cells::of(cx, y)?) else { return Ok(None) };
    if x.lain.flat().is_char() != y.lain.flat().is_char() {
        return Ok(None);
    }
    let exact = x.is_exact() && y.is_exact();
    let ct = if exact { 0.0 } else { cx.sys.settings.ct };
    let mut search = Search { ct, table: HashMap::default() };
    let (have, want) = if matches!(glyph, '⍳' | '∪') { (&x, &y) } else { (&y, &x) };
    let (mut at, mut ticks) = (Vec::new(), cx.budget().ticks());
    let total = (0..n).fold(0usize, |sum, k| sum.saturating_add(want.items(k).len()));
    if u32::try_from(total).is_err() {
        return Ok(None);
    }
    let longer = |most: usize, k: usize| most.max(have.items(k).len()).max(want.items(k).len());
    let _held = cx.budget().charge_elements((0..n).fold(0, longer), IN_TABLE)?;
    if matches!(glyph, '⍳' | '∊') {
        let io = cx.sys.settings.io;
        let mut out = cx.budget().room(total)?;
        for k in 0..n {
            let (have, want) = (have.items(k), want.items(k));
            (0..=have.len() / SHORT).try_for_each(|_| ticks.tick())?;
            if !search.places(have, want, exact, &mut at) {
                return Ok(None);
            }
            out.extend(at.iter().map(|&k| match glyph {
                '⍳' => f64::from(k) + io,
                _ => f64::from(u8::from((k as usize) < have.len())),
            }));
        }
        return numbers_of(cx, want, out, shape, alone);
    }
    let (Some(left), Some(right)) = (storage(x.lain.flat()), storage(y.lain.flat())) else {
        return Ok(None);
    };
    let mut runs: Vec<(&dyn Storage, Range<usize>)> = cx.budget().room(n)?;
    let mut last: Vec<usize> = cx.budget().room(n)?;
    let kept = |there: bool| match glyph {
        '∩' => there,
        _ => !there,
    };
    for k in 0..n {
        let (of, range) = (have.items(k), want.lain.range(k));
        (0..=of.len() / SHORT).try_for_each(|_| ticks.tick())?;
        if !search.places(of, &want.numbers[range.clone()], exact, &mut at) {
            return Ok(None);
        }
        cx.budget().widen(&mut runs, 1 + at.len())?;
        let from = if glyph == '∪' { right } else { left };
        runs.push(if glyph == '∪' { (left, x.lain.range(k)) } else { (left, 0..0) });
        for (place, _) in range.zip(&at).filter(|(_, at)| kept((**at as usize) < of.len())) {
            runs.push((from, place..place + 1));
        }
        last.push(runs.len() - 1);
    }
    let Some(made) = Ragged::of_runs(&runs, cx.budget())? else { return Ok(None) };
    let ends = cx.budget().each(last.iter().map(|&k| made.end(k)))?;
    Ok(Ragged::new(made.flat().clone(), ends).map(|made| made.items(shape)))
}

/// A number for each item that was looked for, in the shape of its cell.
fn numbers_of(
    cx: &mut Cx<'_>,
    want: &Cells<'_>,
    out: Vec<f64>,
    shape: &[usize],
    alone: bool,
) -> Result<Option<Array>> {
    if let Some(r) = want.lain.pieces() {
        let flat = cx.vector(out)?;
        return Ok(r.with(flat).map(|made| made.items(shape)));
    }
    if alone {
        return Array::numbers(shape, out, cx.budget()).map(Some);
    }
    let full: Vec<usize> = shape.iter().copied().chain([want.numbers.len()]).collect();
    let all = Array::numbers(full.as_slice(), out, cx.budget())?;
    Ok((!all.is_empty() && !shape.is_empty()).then(|| Array::rows(all, shape.len())))
}

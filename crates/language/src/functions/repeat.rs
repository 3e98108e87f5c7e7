//! Cells as often as counts say, `/ ⌿`, and spread out between fills, `\ ⍀`.

use super::shape::{Axis, axis_of, reshaped};
use super::{cells, of_its_type};
use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, length, rank};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, DType, Data, Shape, View, around, checked_elements, storage};
use std::sync::Arc;

/// `X/Y`: each cell along the last axis as often as X says.
pub fn replicate_last(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    replicate(cx, x, y, axis, y.rank().max(1) - 1)
}

/// `X⌿Y`: each cell along the first axis as often as X says.
pub fn replicate_first(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    replicate(cx, x, y, axis, 0)
}

fn replicate(
    cx: &mut Cx<'_>,
    x: &Array,
    y: &Array,
    axis: Axis<'_>,
    default: usize,
) -> Result<Array> {
    if x.rank() > 1 {
        return Err(rank("the left argument of / is a vector"));
    }
    let y = if y.rank() == 0 { reshaped(cx, y, &[1])? } else { y.clone() };
    let axis = axis_of(cx, axis, y.rank(), default)?;
    let n = y.shape()[axis];
    if x.frame().is_none()
        && let Some(made) = cx.on_rows(&y, |cx, node| replicate(cx, x, node, None, axis))?
    {
        return Ok(made);
    }
    if let Some(made) = filtered(cx, x, &y, axis)? {
        return Ok(made);
    }
    if let Some(made) = kept(cx, x, &y)? {
        return Ok(made);
    }
    let counts = cx.integers(x, "the left argument of /")?;
    if counts == [1] {
        return Ok(y);
    }
    if let [times] = counts[..]
        && times > 0
        && (cx.is_ahead(&y) || cx.recordable(&y) && cx.records(&[&y], y.len()))
    {
        return cx.repeated_by(&y, axis, times as usize);
    }
    let _room = cx.budget().charge_elements(n, 8)?;
    let counts = if counts.len() == 1 { cx.budget().filled(counts[0], n)? } else { counts };
    if counts.len() != n && n != 1 {
        return Err(length(format!("{} counts for {n} cells", counts.len())));
    }
    let total = counts
        .iter()
        .try_fold(0usize, |t, c| t.checked_add(c.unsigned_abs() as usize))
        .unwrap_or(usize::MAX);
    let (outer, _, inner) = around(y.shape(), axis);
    let y = if y.frame().is_some() { y } else { cx.ready_outer(&y)? };
    if total > 0
        && let Some(made) = repeated(cx.budget(), &y, axis, &counts, total)?
    {
        return Ok(made);
    }
    // The places on the axis, and those in the result: what is there while the result is made.
    let size = size_of::<Option<usize>>();
    drop(cx.budget().charge_elements(total.saturating_mul(1 + outer.saturating_mul(inner)), size)?);
    let mut picks = cx.budget().room(total)?;
    let _held = cx.budget().charge_elements(total, size)?;
    let mut ticks = cx.budget().ticks();
    for (k, &c) in counts.iter().enumerate() {
        ticks.tick()?;
        let from = if c < 0 { None } else { Some(if n == 1 { 0 } else { k }) };
        picks.resize(picks.len() + c.unsigned_abs() as usize, from);
    }
    cells::along(cx, &y, axis, &picks)
}

/// Each cell of an axis as often as its count says. None: these are items, or some place is a fill.
fn repeated(
    budget: &Budget,
    y: &Array,
    axis: usize,
    counts: &[i64],
    total: usize,
) -> Result<Option<Array>> {
    let Data::Dense(held) = y.data() else { return Ok(None) };
    if y.is_empty() || counts.iter().any(|&c| c < 0) {
        return Ok(None);
    }
    let (outer, n, inner) = around(y.shape(), axis);
    let mut shape: Shape = y.shape().into();
    shape[axis] = total;
    let size = checked_elements(&shape)?;
    let runs = || {
        (0..outer).flat_map(|o| {
            counts.iter().enumerate().map(move |(k, &c)| (o * n + k.min(n - 1), c as usize))
        })
    };
    let buffer = of_its_type!(held, budget, |v, _| copies(budget, v, inner, runs(), size));
    Ok(Some(Array::dense(shape, Arc::new(buffer))))
}

/// Items written between two looks at the interrupt.
const RUN: usize = 1 << 20;

/// Cells of `inner` items, each as often as it is asked for.
fn copies<T: Copy>(
    budget: &Budget,
    items: &[T],
    inner: usize,
    runs: impl Iterator<Item = (usize, usize)>,
    size: usize,
) -> Result<Vec<T>> {
    if let (1, Some(&first)) = (inner, items.first()) {
        return repeats(budget, first, runs.map(|(cell, count)| (items[cell], count)), size);
    }
    let mut out = budget.room(size)?;
    let mut ticks = budget.ticks();
    for (cell, count) in runs {
        let cell = &items[cell * inner..(cell + 1) * inner];
        ticks.tick()?;
        (0..count).try_for_each(|_| ticks.tick().map(|()| out.extend_from_slice(cell)))?;
    }
    Ok(out)
}

/// Items that are written together, whether so many are asked for or not.
const FEW: usize = 4;

/// Items, each as often as it is asked for. Up to `FEW` are written whatever their count is, and
/// what is too much is written over: no branch hangs on it.
fn repeats<T: Copy>(
    budget: &Budget,
    any: T,
    runs: impl Iterator<Item = (T, usize)>,
    size: usize,
) -> Result<Vec<T>> {
    let mut out = budget.filled(any, size + FEW)?;
    let (mut at, mut ticks) = (0, budget.ticks());
    for (item, count) in runs {
        ticks.tick()?;
        out[at..at + FEW].fill(item);
        let end = at + count;
        while at + FEW < end {
            let many = (end - at).min(RUN);
            out[at..at + many].fill(item);
            at += many;
            if many == RUN {
                budget.check()?;
            }
        }
        at = end;
    }
    out.truncate(size);
    Ok(out)
}

/// The items of a vector that a mask of booleans keeps, here and now. None: these are others.
fn kept(cx: &Cx<'_>, x: &Array, y: &Array) -> Result<Option<Array>> {
    let (Some(View::Bool(mask)), Some(held)) = (x.view_there(), storage(y)) else {
        return Ok(None);
    };
    let n = ones(mask);
    if x.rank() != 1 || y.rank() != 1 || x.len() != y.len() || n == 0 {
        return Ok(None);
    }
    let (budget, runs) = (cx.budget(), || mask.iter().map(|&m| usize::from(m)).enumerate());
    let buffer = of_its_type!(held, budget, |v, _| copies(budget, v, 1, runs(), n));
    Ok(Some(Array::dense([n].as_slice(), Arc::new(buffer))))
}

/// The number of ones.
fn ones(mask: &[u8]) -> usize {
    // A byte holds the sum of so many, and bytes are added many at a time.
    mask.chunks(255).map(|part| usize::from(part.iter().sum::<u8>())).sum()
}

/// A mask of booleans over an axis of as many places, where that is worth recording. Only the mask
/// is forced.
pub fn filtered(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: usize) -> Result<Option<Array>> {
    let n = y.shape()[axis];
    let may =
        x.rank() == 1 && x.len() == n && n > 0 && y.frame().is_none() && cx.records(&[y], y.len());
    if !may || x.dtype() != DType::Bool {
        return Ok(None);
    }
    let mask = cx.ready(x, "how many are selected")?;
    let kept = match mask.data() {
        Data::Dense(b) => match b.view() {
            View::Bool(v) => ones(v),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    if kept == 0 {
        let mut shape: Shape = y.shape().into();
        shape[axis] = 0;
        return cells::empty(cx, &shape, y.prototype()).map(Some);
    }
    cx.record_compact(&mask, y, axis, kept)
}

/// `X\Y`: a fill for each 0 of X, the cells along the last axis for the others.
pub fn expand_last(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    expand(cx, x, y, axis, y.rank().max(1) - 1)
}

/// `X⍀Y`: a fill for each 0 of X, the cells along the first axis for the others.
pub fn expand_first(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    expand(cx, x, y, axis, 0)
}

fn expand(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>, default: usize) -> Result<Array> {
    if x.rank() > 1 {
        return Err(rank("the left argument of \\ is a vector"));
    }
    let y = if y.rank() == 0 { reshaped(cx, y, &[1])? } else { y.clone() };
    let axis = axis_of(cx, axis, y.rank(), default)?;
    let n = y.shape()[axis];
    if let Some(made) = spread_out(cx, x, &y)? {
        return Ok(made);
    }
    let counts = cx.integers(x, "the left argument of \\")?;
    let wanted = counts.iter().filter(|&&c| c > 0).count();
    if wanted != n && n != 1 {
        return Err(length(format!("{wanted} positive numbers for {n} cells")));
    }
    let total = counts
        .iter()
        .try_fold(0usize, |t, c| t.checked_add(c.unsigned_abs() as usize + 1))
        .unwrap_or(usize::MAX);
    let mut picks = cx.budget().room(total)?;
    let _held = cx.budget().charge_elements(total, 16)?;
    let (mut next, mut ticks) = (0, cx.budget().ticks());
    for &c in &counts {
        ticks.tick()?;
        if c > 0 {
            picks.resize(picks.len() + c as usize, Some(if n == 1 { 0 } else { next }));
            next += 1;
        } else {
            picks.resize(picks.len() + c.unsigned_abs().max(1) as usize, None);
        }
    }
    cells::along(cx, &y, axis, &picks)
}

/// `X\Y` of a vector by booleans, an item each 1. None: these are others, or do not fit.
fn spread_out(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Option<Array>> {
    fn all<T: Copy>(budget: &Budget, mask: &[u8], items: &[T], fill: T) -> Result<Vec<T>> {
        let (mut out, mut next) = (budget.filled(fill, mask.len())?, 0);
        for (out, mask) in out.chunks_mut(RUN).zip(mask.chunks(RUN)) {
            budget.check()?;
            // An item is read whether it is wanted or not: no branch hangs on the mask.
            for (out, &mask) in out.iter_mut().zip(mask) {
                let item = items[next.min(items.len() - 1)];
                *out = if mask != 0 { item } else { fill };
                next += usize::from(mask != 0);
            }
        }
        Ok(out)
    }
    if x.rank() != 1 || x.dtype() != DType::Bool || y.rank() != 1 || y.frame().is_some() {
        return Ok(None);
    }
    let (x, y) = (cx.ready(x, "where there are items")?, cx.ready_outer(y)?);
    let (Data::Dense(mask), Data::Dense(held)) = (x.data(), y.data()) else { return Ok(None) };
    let View::Bool(mask) = mask.view() else { return Ok(None) };
    if y.is_empty() || ones(mask) != y.len() {
        return Ok(None);
    }
    let budget = cx.budget();
    let buffer = of_its_type!(held, budget, |v, fill| all(budget, mask, v, fill));
    Ok(Some(Array::dense([mask.len()].as_slice(), Arc::new(buffer))))
}

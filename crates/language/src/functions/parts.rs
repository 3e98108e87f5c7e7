//! Arrays as items: `⊂ ⊆` with and without dividers, along any axes.

use super::cells;
use super::shape::{Axis, axes_of, axis_of, reshaped};
use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, domain, length, rank};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Ragged, Shape, View, around, elements, storage};
use std::ops::Range;

/// `⊂Y`, `⊂[k]Y`: the cells along axes k, in the order k names them, as items of what is left.
pub fn enclose(cx: &mut Cx<'_>, y: &Array, axis: Axis<'_>) -> Result<Array> {
    let Some(k) = axis else { return y.clone().enclosed() };
    let inner = axes_of(cx, k, y.rank())?;
    let outer: Vec<usize> = (0..y.rank()).filter(|k| !inner.contains(k)).collect();
    // The cells' axes go last; then a cell is a run of items.
    let mut to = vec![0.0; y.rank()];
    outer
        .iter()
        .chain(&inner)
        .enumerate()
        .for_each(|(at, &k)| to[k] = at as f64 + cx.sys.settings.io);
    let to = cx.vector(to)?;
    let turned = super::shape::transpose_by(cx, &to, y, None)?;
    let frame: Shape = outer.iter().map(|&k| y.shape()[k]).collect();
    let cell: Shape = inner.iter().map(|&k| y.shape()[k]).collect();
    let (n, size) = (elements(&frame), elements(&cell));
    let _held = cx.budget().charge_elements(n, std::mem::size_of::<Array>())?;
    if n * size > 0 && !frame.is_empty() && !cell.is_empty() && turned.frame().is_none() {
        // Nothing is taken apart before somebody looks.
        let rows = match turned.is_uniform() {
            true => Some(Array::rows(turned.settled(), frame.len())),
            false => Array::lines_of(&turned, frame.len()),
        };
        if let Some(rows) = rows {
            return Ok(rows);
        }
    }
    let turned = cx.ready_outer(&turned)?;
    if n == 0 {
        let proto = y.prototype();
        let proto = if size == 0 {
            cells::empty(cx, &cell, proto)?
        } else {
            super::shape::fill(cx, &proto, &cell)?
        };
        return cells::empty(cx, &frame, proto);
    }
    let mut out = cx.budget().room(n)?;
    for k in 0..n {
        out.push(if cell.is_empty() {
            turned.item(k)
        } else {
            cells::cell(cx, &turned, &cell, k * size)?
        });
    }
    if frame.is_empty() {
        return out.swap_remove(0).enclosed();
    }
    cx.collect(&frame, out, None)
}

/// `⊆Y`: a simple array enclosed, any other as it is.
pub fn nest(_: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    if y.is_simple() { y.clone().enclosed() } else { Ok(y.clone()) }
}

/// A scalar as a vector of one item; any other array is itself.
fn as_vector(cx: &mut Cx<'_>, y: &Array) -> Result<Array> {
    if y.rank() == 0 { reshaped(cx, y, &[1]) } else { Ok(y.clone()) }
}

/// `X⊂Y`: dividers before each cell of the last axis.
pub fn partitioned_enclose(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    if x.rank() > 1 {
        return Err(rank("⊂ needs a vector on its left"));
    }
    let y = &as_vector(cx, y)?;
    let axis = axis_of(cx, axis, y.rank(), y.rank() - 1)?;
    let parts = dividers(cx, x, y.shape()[axis])?;
    let y = cx.ready_outer(y)?;
    if let Some(pieces) = Ragged::of(&y, &parts, cx.budget())? {
        return Ok(pieces.items(&[parts.len()]));
    }
    let mut out = cx.budget().room(parts.len())?;
    for part in parts {
        let part: Vec<_> = part.map(Some).collect();
        out.push(cells::along(cx, &y, axis, &part)?);
    }
    let proto = cells::along(cx, &y, axis, &[])?;
    cx.collect(&[out.len()], out, Some(proto))
}

/// The parts of an axis of n that `X⊂` makes: as many begin before a cell as X says. Errors:
/// DOMAIN, LENGTH.
pub fn dividers(cx: &mut Cx<'_>, x: &Array, n: usize) -> Result<Vec<Range<usize>>> {
    let x = cx.ready(x, "parts")?;
    if let Some(View::Bool(marks)) = storage(&x).map(|s| s.view()).filter(|m| m.len() == n) {
        // A part from each 1 to the next.
        let ones = marks.iter().filter(|m| **m != 0).count();
        let mut parts: Vec<Range<usize>> = cx.budget().room(ones)?;
        for (k, _) in marks.iter().enumerate().filter(|(_, m)| **m != 0) {
            if let Some(last) = parts.last_mut() {
                last.end = k;
            }
            parts.push(k..n);
        }
        return Ok(parts);
    }
    let x = &x;
    let mut marks = cx.integers(x, "the left argument of ⊂")?;
    if x.rank() == 0 {
        let _held = cx.budget().charge_elements(n, 8)?;
        marks = cx.budget().filled(marks[0], n)?;
    }
    if marks.iter().any(|&m| m < 0) {
        return Err(domain("the left argument of ⊂ has no negative numbers"));
    }
    if marks.len() > n + 1 {
        return Err(length(format!("{} dividers for {n} cells", marks.len())));
    }
    let total = marks.iter().fold(0usize, |sum, &m| sum.saturating_add(m as usize));
    // A part is an array of its own.
    drop(cx.budget().charge_elements(total, 2 * size_of::<Array>() + size_of::<Range<usize>>())?);
    let mut parts: Vec<Range<usize>> = cx.budget().room(total)?;
    let mut ticks = cx.budget().ticks();
    for (k, &many) in marks.iter().enumerate().filter(|(_, many)| **many > 0) {
        if let Some(last) = parts.last_mut() {
            last.end = k;
        }
        ticks.spend(many as usize)?;
        parts.extend((0..many).map(|_| k..k));
    }
    if let Some(last) = parts.last_mut() {
        last.end = n;
    }
    Ok(parts)
}

/// `X⊆Y`: a new part where X rises, 0 drops. Each vector along the axis is cut by itself, so a
/// matrix gives a matrix.
pub fn partition(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    if x.rank() > 1 {
        return Err(rank("⊆ needs a vector on its left"));
    }
    let y = &as_vector(cx, y)?;
    let axis = axis_of(cx, axis, y.rank(), y.rank() - 1)?;
    let parts = runs(cx, x, y.shape()[axis])?;
    let y = cx.ready_outer(y)?;
    if let Some(pieces) = Ragged::of(&y, &parts, cx.budget())? {
        return Ok(pieces.items(&[parts.len()]));
    }
    let (outer, n, inner) = around(y.shape(), axis);
    let mut shape: Shape = y.shape().into();
    shape[axis] = parts.len();
    let total = elements(&shape);
    let mut out = cx.budget().room(total)?;
    let _held = cx.budget().charge_elements(total, std::mem::size_of::<Array>())?;
    for o in 0..outer {
        for part in &parts {
            for i in 0..inner {
                let places: Vec<_> = part.clone().map(|k| Ok((o * n + k) * inner + i)).collect();
                out.push(aplomb_values::prim::moves::gather(
                    &y,
                    &[places.len()],
                    &places,
                    cx.budget(),
                )?);
            }
        }
    }
    let proto = cells::empty(cx, &[0], y.prototype())?;
    cx.collect(&shape, out, Some(proto))
}

/// The places at which truths change, the first of them changing from 0: for each 64 of them their
/// first place, and a bit for each that differs from the one before.
fn edges(marks: &[u8], budget: &Budget, mut each: impl FnMut(usize, u64)) -> Result<()> {
    let mut before = 0;
    for (k, part) in marks.chunks(64).enumerate() {
        if k % 1024 == 0 {
            budget.check()?;
        }
        let mut bits = 0;
        for (j, eight) in part.chunks(8).enumerate() {
            let mut bytes = [0; 8];
            bytes[..eight.len()].copy_from_slice(eight);
            // The lowest bit of each byte, put together in the highest byte.
            let own = u64::from_le_bytes(bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            bits |= own << (8 * j);
        }
        // What lies behind the last is as it is.
        let there = u64::MAX >> (64 - part.len());
        each(64 * k, (bits ^ (bits << 1 | before)) & there);
        before = bits >> 63;
    }
    Ok(())
}

/// The parts of an axis of n that `X⊆` makes: one begins where X rises, 0 belongs to none. Errors:
/// DOMAIN, LENGTH.
pub fn runs(cx: &mut Cx<'_>, x: &Array, n: usize) -> Result<Vec<Range<usize>>> {
    let x = cx.ready(x, "parts")?;
    if let Some(View::Bool(marks)) = storage(&x).map(|s| s.view()).filter(|m| m.len() == n && n > 1)
    {
        let mut count = 0;
        edges(marks, cx.budget(), |_, edges| count += edges.count_ones() as usize)?;
        let mut parts: Vec<Range<usize>> = cx.budget().room(count.div_ceil(2))?;
        let mut start = None;
        edges(marks, cx.budget(), |first, mut edges| {
            while edges != 0 {
                let at = first + edges.trailing_zeros() as usize;
                match start.take() {
                    Some(from) => parts.push(from..at),
                    None => start = Some(at),
                }
                edges &= edges - 1;
            }
        })?;
        parts.extend(start.map(|from| from..n));
        return Ok(parts);
    }
    let x = &x;
    let mut marks = cx.integers(x, "the left argument of ⊆")?;
    if marks.len() == 1 {
        let _held = cx.budget().charge_elements(n, 8)?;
        marks = cx.budget().filled(marks[0], n)?;
    }
    if marks.len() != n {
        return Err(length("X and Y differ in length"));
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut last = 0;
    for (k, &m) in marks.iter().enumerate() {
        if m < 0 {
            return Err(domain("the left argument of ⊆ has no negative numbers"));
        }
        if m > last {
            cx.budget().widen(&mut parts, 1)?;
            parts.push(k..k);
        }
        if let Some(part) = parts.last_mut().filter(|_| m > 0) {
            part.end = k + 1;
        }
        last = m;
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_where_truths_change() {
        let budget = Budget::new(1 << 20);
        for n in 1..300usize {
            for step in [1, 2, 3, 7, 64, 65] {
                let marks: Vec<u8> =
                    (0..n).map(|k| u8::from((k * k + k / step) % 3 == 0)).collect();
                let mut found = Vec::new();
                let each = |first: usize, edges: u64| {
                    found.extend((0..64).filter(|k| edges >> k & 1 == 1).map(|k| first + k));
                };
                edges(&marks, &budget, each).unwrap();
                let before = |k: usize| if k == 0 { 0 } else { marks[k - 1] };
                let wanted: Vec<usize> = (0..n).filter(|&k| marks[k] != before(k)).collect();
                assert_eq!(found, wanted, "{n} {step}");
            }
        }
    }
}

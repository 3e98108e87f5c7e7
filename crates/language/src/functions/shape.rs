//! Shape and order of axes: `⍴ , ⍪ ⌽ ⊖ ⍉ ↑ ↓ ≢ ≡ ⊣ ⊢`, as moves.

use super::{cells, of_its_type};
use crate::eval::cx::{Cx, SMALL};
use aplomb_ground::error::{Result, domain, index, length, rank};
use aplomb_ground::limits::{Budget, Ticks};
use aplomb_values::array::{
    Array, Data, Shape, around, checked_elements, elements, storage, too_long,
};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Read, Test};
use aplomb_values::prim::moves::{Move, within};
use aplomb_values::prim::op::Op;
use std::sync::Arc;

/// The axis in brackets behind a function, as it was given.
pub type Axis<'a> = Option<&'a Array>;

/// The axis asked for, or the default. Errors: RANK, INDEX, DOMAIN.
pub fn axis_of(cx: &mut Cx<'_>, axis: Axis<'_>, of: usize, default: usize) -> Result<usize> {
    let Some(k) = axis else { return Ok(default) };
    let k = cx.one_integer(k, "an axis")? - cx.sys.settings.io as i64;
    usize::try_from(k)
        .ok()
        .filter(|&k| k < of)
        .ok_or_else(|| index(format!("there is no such axis: the argument has {of}")))
}

/// Several different axes. Errors: RANK, INDEX, DOMAIN.
pub fn axes_of(cx: &mut Cx<'_>, k: &Array, of: usize) -> Result<Vec<usize>> {
    if k.rank() > 1 {
        return Err(rank("axes are a vector"));
    }
    let mut out = Vec::new();
    for k in cx.integers(k, "an axis")? {
        let k = usize::try_from(k - cx.sys.settings.io as i64).ok().filter(|&k| k < of);
        let k = k.ok_or_else(|| index(format!("there is no such axis: the argument has {of}")))?;
        if out.contains(&k) {
            return Err(domain("an axis is named twice"));
        }
        out.push(k);
    }
    Ok(out)
}

/// `⊢Y`, `⊣Y`: Y itself.
pub fn same(_: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    Ok(y.clone())
}

/// `X⊣Y`: X itself.
pub fn left(_: &mut Cx<'_>, x: &Array, _: &Array, _: Axis<'_>) -> Result<Array> {
    Ok(x.clone())
}

/// `X⊢Y`: Y itself.
pub fn right(_: &mut Cx<'_>, _: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    Ok(y.clone())
}

/// A pending array remembers that it was asked (ACC-18).
fn ask(y: &Array) {
    if let Some(cell) = y.pending().or_else(|| y.frame().and_then(|rows| rows.node.pending())) {
        cell.ask();
    }
}

/// `⍴Y`: the extents of the axes.
pub fn shape_of(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    ask(y);
    cx.vector(y.shape().iter().map(|&n| n as f64).collect())
}

/// `≢Y`: the number of major cells.
pub fn tally(_: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    ask(y);
    Ok(Array::num(y.first_extent() as f64))
}

/// A shape given as an argument; `what` is what errors call its numbers. Errors: DOMAIN, RANK,
/// LIMIT, WS FULL.
pub fn given_shape(cx: &mut Cx<'_>, x: &Array, what: &str) -> Result<Shape> {
    if x.rank() > 1 {
        return Err(rank("a shape is a vector"));
    }
    cx.budget().has_room((x.len() * size_of::<usize>()) as u64)?;
    let mut out = Shape::with_capacity(x.len());
    for n in cx.numbers(x, what)? {
        if n > 9e15 && n.is_finite() {
            return Err(too_long());
        }
        let n = cx.integer(n, what)?;
        out.push(usize::try_from(n).map_err(|_| domain(format!("{what} must not be negative")))?);
    }
    checked_elements(&out)?;
    Ok(out)
}

/// `X⍴Y`: the items of Y, again and again, in the shape X.
pub fn reshape(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    let shape = given_shape(cx, x, "a length of a shape")?;
    if y.is_empty() {
        let proto = y.prototype();
        return if elements(&shape) == 0 {
            cells::empty(cx, &shape, proto)
        } else {
            fill(cx, &proto, &shape)
        };
    }
    if elements(&shape) == 0 {
        return cells::empty(cx, &shape, y.prototype());
    }
    if let Some(made) = cycled(cx, y, &shape)? {
        return Ok(made);
    }
    cx.apply_move(y, Move::reshape("⍴", y.shape(), &shape))
}

/// A few items at hand again and again, not place by place. None: they are others.
fn cycled(cx: &Cx<'_>, y: &Array, shape: &[usize]) -> Result<Option<Array>> {
    let (n, few) = (elements(shape), y.len());
    if few >= n || n > SMALL || cx.sys.records_all() {
        return Ok(None);
    }
    let (Some(held), budget) = (storage(y), cx.budget()) else { return Ok(None) };
    let made = of_its_type!(held, budget, |items, _fill| {
        budget.room(n).map(|mut out| {
            while out.len() < n {
                out.extend_from_slice(&items[..few.min(n - out.len())]);
            }
            out
        })
    });
    Ok(Some(Array::dense(shape, Arc::new(made))))
}

/// One item everywhere.
pub fn fill(cx: &mut Cx<'_>, item: &Array, shape: &[usize]) -> Result<Array> {
    let one = item.clone().enclosed()?;
    cx.apply_move(&one, Move::spread(&[], shape))
}

/// `,Y`: all items in a vector; with axes, these become one.
pub fn ravel(cx: &mut Cx<'_>, y: &Array, axis: Axis<'_>) -> Result<Array> {
    let mut shape: Shape = y.shape().into();
    match axis {
        None => shape = Shape::from_slice(&[y.len()]),
        Some(k) if k.len() == 1 && cx.numbers(k, "an axis")?[0].fract() != 0.0 => {
            let at = cx.numbers(k, "an axis")?[0] - cx.sys.settings.io;
            if !(-1.0..=y.rank() as f64).contains(&at) {
                return Err(index("there is no place for such an axis"));
            }
            shape.insert(at.ceil().max(0.0) as usize, 1);
        }
        Some(k) => {
            let mut ks = Vec::new();
            for k in cx.integers(k, "an axis")? {
                let k =
                    usize::try_from(k - cx.sys.settings.io as i64).ok().filter(|&k| k < y.rank());
                ks.push(k.ok_or_else(|| index("there is no such axis"))?);
            }
            let (Some(&first), Some(&last)) = (ks.first(), ks.last()) else {
                shape.push(1);
                return reshaped(cx, y, &shape);
            };
            if ks.windows(2).any(|w| w[1] != w[0] + 1) {
                return Err(domain("the axes of , must follow each other"));
            }
            let n = elements(&shape[first..=last]);
            shape.drain(first..=last);
            shape.insert(first, n);
        }
    }
    checked_elements(&shape)?;
    reshaped(cx, y, &shape)
}

/// The same items, another shape of the same product.
pub fn reshaped(cx: &mut Cx<'_>, y: &Array, shape: &[usize]) -> Result<Array> {
    if y.pending().is_none() && y.frame().is_none() {
        return y.with_shape(shape, cx.budget());
    }
    if elements(shape) == 0 {
        return cells::empty(cx, shape, y.prototype());
    }
    cx.apply_move(y, Move::reshape(",", y.shape(), shape))
}

/// `⍪Y`: the major cells as rows of a matrix.
pub fn table(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    let n = y.first_extent();
    let m = y.shape().get(1..).map_or(1, elements);
    reshaped(cx, y, &[n, m])
}

/// `⌽Y`: turned around along the last axis.
pub fn reverse_last(cx: &mut Cx<'_>, y: &Array, axis: Axis<'_>) -> Result<Array> {
    reverse(cx, "⌽", y, axis, y.rank().wrapping_sub(1))
}

/// `⊖Y`: turned around along the first axis.
pub fn reverse_first(cx: &mut Cx<'_>, y: &Array, axis: Axis<'_>) -> Result<Array> {
    reverse(cx, "⊖", y, axis, 0)
}

fn reverse(
    cx: &mut Cx<'_>,
    name: &'static str,
    y: &Array,
    axis: Axis<'_>,
    default: usize,
) -> Result<Array> {
    if y.rank() == 0 {
        return Ok(y.clone());
    }
    let axis = axis_of(cx, axis, y.rank(), default)?;
    if y.is_empty() {
        return Ok(y.clone());
    }
    let mut read = Read::identity(y.rank());
    read.ix[axis] = Ix::axis(axis).times(-1).offset(y.shape()[axis] as i64 - 1);
    cx.apply_move(y, Move { name, shape: y.shape().into(), read, onto: true })
}

/// `X⌽Y`: shifted by X around the last axis.
pub fn rotate_last(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    rotate(cx, "⌽", x, y, axis, y.rank().wrapping_sub(1))
}

/// `X⊖Y`: shifted by X around the first axis.
pub fn rotate_first(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    rotate(cx, "⊖", x, y, axis, 0)
}

fn rotate(
    cx: &mut Cx<'_>,
    name: &'static str,
    x: &Array,
    y: &Array,
    axis: Axis<'_>,
    default: usize,
) -> Result<Array> {
    if y.rank() == 0 {
        cx.integers(x, "a rotation")?;
        return if x.len() == 1 {
            Ok(y.clone())
        } else {
            Err(rank("the rotation needs the shape of Y without its axis"))
        };
    }
    let axis = axis_of(cx, axis, y.rank(), default)?;
    // Of one array each cell's number is a move, which fuses; of cells it is a choice of places.
    let both = x.frame().is_some() && y.frame().is_some();
    if both && x.rank() == 0 && x.dtype().is_integer() && !y.is_empty() {
        return turned_by_cells(cx, x, y, axis);
    }
    let by = cx.integers(x, "a rotation")?;
    let n = y.shape()[axis];
    if x.len() == 1 {
        if y.is_empty() {
            return Ok(y.clone());
        }
        let mut read = Read::identity(y.rank());
        let by = by[0].rem_euclid(n as i64);
        read.ix[axis] = Ix::axis(axis).offset(by).modulo(n as i64, y.shape());
        return cx.apply_move(y, Move { name, shape: y.shape().into(), read, onto: true });
    }
    let mut rest: Shape = y.shape().into();
    rest.remove(axis);
    if x.rank() != rest.len() {
        return Err(rank("the rotation needs the shape of Y without its axis"));
    }
    if x.shape() != rest.as_slice() {
        return Err(length("the rotation needs the shape of Y without its axis"));
    }
    let y = cx.ready_outer(y)?;
    let (outer, n, inner) = around(y.shape(), axis);
    if inner == 1
        && let Some(made) = turned_lines(cx.budget(), &y, n, &by)?
    {
        return Ok(made);
    }
    let mut places = cx.budget().room(y.len())?;
    let mut ticks = cx.budget().ticks();
    for o in 0..outer {
        for k in 0..n {
            ticks.tick()?;
            for i in 0..inner {
                let from = (k as i64 + by[o * inner + i]).rem_euclid(n as i64) as usize;
                places.push(Ok((o * n + from) * inner + i));
            }
        }
    }
    aplomb_values::prim::moves::gather(&y, y.shape(), &places, cx.budget())
}

/// Lines of n items, each turned by a number of its own. None: of other than real numbers and
/// characters.
fn turned_lines(budget: &Budget, y: &Array, n: usize, by: &[i64]) -> Result<Option<Array>> {
    let Some(held) = storage(y).filter(|_| !y.is_empty()) else { return Ok(None) };
    let made = of_its_type!(held, budget, |v, _| turned(budget, v, n, by));
    Ok(Some(Array::dense(y.shape(), Arc::new(made))))
}

fn turned<T: Copy>(budget: &Budget, items: &[T], n: usize, by: &[i64]) -> Result<Vec<T>> {
    let (mut out, mut ticks) = (budget.room(items.len())?, budget.ticks());
    for (line, by) in items.chunks_exact(n).zip(by) {
        ticks.spend(n)?;
        let from = by.rem_euclid(n as i64) as usize;
        out.extend_from_slice(&line[from..]);
        out.extend_from_slice(&line[..from]);
    }
    Ok(out)
}

/// A rotation by a number of each cell of a frame, which is a choice of places along the axis.
fn turned_by_cells(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: usize) -> Result<Array> {
    let (n, io) = (y.shape()[axis], cx.sys.settings.io);
    let places = cx.budget().each((0..n).map(|k| k as f64))?;
    let places = cx.vector(places)?;
    let moved = cx.map2(Op::Add, x, &places)?;
    let around = cx.map2(Op::Residue, &Array::num(n as f64), &moved)?;
    let places = cx.map2(Op::Add, &around, &Array::num(io))?;
    let along = |k: usize| (k == axis).then(|| places.clone());
    let index: Vec<_> = (0..y.rank()).map(along).collect();
    super::select::bracket(cx, y, &index)
}

/// `⍉Y`: the axes in reverse order.
pub fn transpose(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    let r = y.rank();
    if r < 2 {
        return Ok(y.clone());
    }
    let shape: Shape = y.shape().iter().rev().copied().collect();
    cx.apply_move(y, Move::axes("⍉", shape, (0..r).map(|k| Some(r - 1 - k))))
}

/// `X⍉Y`: axis `k` of Y becomes axis `X[k]`; equal ones are a diagonal.
pub fn transpose_by(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    if x.rank() > 1 {
        return Err(rank("the left argument of ⍉ is a vector of axes"));
    }
    if x.len() != y.rank() {
        return Err(length(format!(
            "⍉ needs one axis number for each of the {} axes of Y",
            y.rank()
        )));
    }
    let io = cx.sys.settings.io as i64;
    let mut to = Vec::new();
    for k in cx.integers(x, "an axis")? {
        let k = usize::try_from(k - io).ok().filter(|&k| k < y.rank());
        to.push(k.ok_or_else(|| rank("⍉ names an axis that is not there"))?);
    }
    let r = to.iter().map(|k| k + 1).max().unwrap_or(0);
    let mut shape = Shape::new();
    for k in 0..r {
        let lengths = to.iter().zip(y.shape()).filter(|(t, _)| **t == k).map(|(_, n)| *n);
        shape.push(
            lengths
                .min()
                .ok_or_else(|| domain("the axes of ⍉ must be all from the first to the largest"))?,
        );
    }
    let onto = r == y.rank();
    let mut m = Move::axes("⍉", shape, to.into_iter().map(Some));
    m.onto = onto;
    if elements(&m.shape) == 0 {
        return cells::empty(cx, &m.shape, y.prototype());
    }
    cx.apply_move(y, m)
}

/// The item outside of Y, as a read's fill: host items take their prototype instead.
fn fill_of(y: &Array) -> f64 {
    if y.is_char() { f64::from(u32::from(' ')) } else { 0.0 }
}

/// Axes and amounts of ↑ and ↓: one for each axis that X speaks of.
fn amounts(
    cx: &mut Cx<'_>,
    x: &Array,
    y: &Array,
    axis: Axis<'_>,
    what: &str,
) -> Result<(Array, Vec<(usize, i64)>)> {
    if x.rank() > 1 {
        return Err(rank(format!("the left argument of {what} is a vector")));
    }
    if what == "↑" && cx.numbers(x, what)?.iter().any(|n| n.abs() > 9e15 && n.is_finite()) {
        return Err(too_long());
    }
    let by = cx.integers(x, &format!("the left argument of {what}"))?;
    let y = if y.rank() == 0 && axis.is_none() {
        let shape = Shape::from_elem(1, by.len());
        checked_elements(&shape)?;
        reshaped(cx, y, &shape)?
    } else {
        y.clone()
    };
    let axes: Vec<usize> = match axis {
        None => (0..by.len().min(y.rank())).collect(),
        Some(k) => axes_of(cx, k, y.rank())?,
    };
    if axes.len() != by.len() || by.len() > y.rank() {
        return Err(length(format!("{what} has {} numbers for {} axes", by.len(), y.rank())));
    }
    Ok((y, axes.into_iter().zip(by).collect()))
}

/// `X↑Y`: the first cells, or the last for negative X; fills beyond.
pub fn take(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    let (y, by) = amounts(cx, x, y, axis, "↑")?;
    let mut shape: Shape = y.shape().into();
    let mut read = Read::identity(y.rank());
    let mut onto = true;
    for &(k, n) in &by {
        let have = y.shape()[k];
        let want = n.unsigned_abs() as usize;
        shape[k] = want;
        let off = if n < 0 { have as i64 - want as i64 } else { 0 };
        read.ix[k] = Ix::axis(k).offset(off);
        onto &= want >= have;
        if want > have {
            read.tests.push(within(k, off, have, fill_of(&y)));
        }
    }
    let n = checked_elements(&shape)?;
    if n == 0 {
        return cells::empty(cx, &shape, y.prototype());
    }
    if y.is_empty() {
        return fill(cx, &y.prototype(), &shape);
    }
    cx.apply_move(&y, Move { name: "↑", shape, read, onto })
}

/// `X↓Y`: without the first cells, or without the last for negative X.
pub fn drop(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    let (y, by) = amounts(cx, x, y, axis, "↓")?;
    let mut shape: Shape = y.shape().into();
    let mut read = Read::identity(y.rank());
    for &(k, n) in &by {
        let have = y.shape()[k];
        shape[k] = have.saturating_sub(n.unsigned_abs() as usize);
        read.ix[k] = Ix::axis(k).offset(n.max(0));
    }
    if elements(&shape) == 0 {
        return cells::empty(cx, &shape, y.prototype());
    }
    let onto = shape.as_slice() == y.shape();
    cx.apply_move(&y, Move { name: "↓", shape, read, onto })
}

/// `≡Y`: the levels of nesting, negative where items differ in theirs.
pub fn depth(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    ask(y);
    let (n, even) = levels(y, &mut cx.budget().ticks())?;
    Ok(Array::num(if even { f64::from(n) } else { -f64::from(n) }))
}

/// Levels of nesting, and whether all items are equally deep. Errors: INTERRUPT.
fn levels(y: &Array, ticks: &mut Ticks) -> Result<(u32, bool)> {
    let Data::Items(items) = y.data() else { return Ok((u32::from(y.rank() > 0), true)) };
    let proto = items.proto.iter().take(usize::from(items.is_empty()));
    let mut all: Option<(u32, bool)> = None;
    for item in items.iter().chain(proto.cloned()) {
        ticks.tick()?;
        let (own, even) = levels(&item, ticks)?;
        all = Some(match all {
            None => (own, even),
            Some((most, same)) => (most.max(own), same && even && most == own),
        });
    }
    let (most, even) = all.map_or((0, true), |all| all);
    Ok((most + 1, even))
}

/// A test that is always outside, for reads of nothing.
pub fn never(fill: f64) -> Test {
    Test { ix: Ix::constant(0), lo: 1, hi: 1, fill }
}

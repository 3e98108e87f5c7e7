//! `/ ⌿ \ ⍀` with functions: reduce, windowed reduce, scan.

use super::{from_right, function, own, prim, scalar_op};
use crate::eval::cx::Cx;
use crate::eval::run::Eval;
use crate::eval::value::{Func, Operand};
use crate::functions::shape::{Axis, axis_of, fill};
use crate::functions::{cells, search};
use aplomb_ground::error::{Error, Result, domain, length, untraced};
use aplomb_values::array::{Array, Buf, DType, Data, Ragged, Shape, around, elements, storage};
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::Ix;
use aplomb_values::prim::moves::{Move, gather};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::ordered;
use aplomb_values::prim::scan;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Items of a row from which on its fold goes in registers, whatever a launch would do.
const LONG_ROW: usize = 1_000;

/// `f/`: a fold along the last axis; with X, of windows.
pub fn last(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    axis: Axis<'_>,
) -> Result<Array> {
    reduce(ev, &f[0], x, y, axis, y.rank().max(1) - 1)
}

/// `f⌿`: a fold along the first axis; with X, of windows.
pub fn first(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    axis: Axis<'_>,
) -> Result<Array> {
    reduce(ev, &f[0], x, y, axis, 0)
}

fn reduce(
    ev: &mut Eval<'_>,
    f: &Operand,
    x: Option<&Array>,
    y: &Array,
    axis: Axis<'_>,
    default: usize,
) -> Result<Array> {
    function(f)?;
    if y.rank() == 0 && x.is_none() {
        return Ok(y.clone());
    }
    let y = if y.rank() == 0 {
        crate::functions::shape::reshaped(&mut ev.cx, y, &[1])?
    } else {
        y.clone()
    };
    let axis = axis_of(&mut ev.cx, axis, y.rank(), default)?;
    if let Some(x) = x {
        // A window of nothing has the identity of what is written.
        let some = ev.cx.one_integer(x, "the width of a window")? != 0;
        if !some {
            return windows(ev, f, x, &y, axis);
        }
        let (x, own) = (x.clone(), own_or_on_scalars(f, &y));
        return as_primitive(ev, f, own, &y, move |ev, f, y| windows(ev, f, &x, y, axis));
    }
    as_primitive(ev, f, own_or_on_scalars(f, &y), &y, move |ev, f, y| match scalar_op(f) {
        Some(op) if y.is_uniform() && ev.cx.folds(op) => ev.cx.reduce(op, y, axis),
        _ => fold_items(ev, f, y, axis),
    })
}

/// The primitive that an operand is on an array, if it is one.
fn own_or_on_scalars(f: &Operand, y: &Array) -> Option<Operand> {
    own::primitive(f).or_else(|| own::on_scalars(f, y))
}

/// Runs an operator with the primitive that its operand is, `own`, if it is one, or those that its
/// operands are. An error is that of what was written, inside of its braces, whether it comes at
/// once or of a value that is pending yet.
pub fn as_primitive<F: Clone + 'static>(
    ev: &mut Eval<'_>,
    f: &F,
    own: Option<F>,
    y: &Array,
    run: impl Fn(&mut Eval<'_>, &F, &Array) -> Result<Array> + 'static,
) -> Result<Array> {
    let from = ev.cx.sys.tape.mark();
    if let Some(own) = own.filter(|_| !y.is_empty())
        && let Ok(made) = ev.attempt(|ev| run(ev, &own, y))?
    {
        let (f, y) = (f.clone(), y.clone());
        ev.watch(&made, from, Rc::new(move |ev| run(ev, &f, &y)));
        return Ok(made);
    }
    run(ev, f, y)
}

/// Nothing says that a function of one's own is associative, so its folds run one step after the
/// other.
fn in_order(ev: &mut Eval<'_>, f: &Operand) {
    if let (Some(place), Ok(f)) = (ev.cx.place(), function(f)) {
        let text = format!(
            "{} may not be associative, so its fold runs from the right, one step after the other: \
             only rows run side \
             by side (a scalar primitive, as in +/, folds by a tree)",
            f.text()
        );
        ev.cx.host.warn("W-assoc", &place, text);
    }
}

/// Any function between items, from the right.
fn fold_items(ev: &mut Eval<'_>, f: &Operand, y: &Array, axis: usize) -> Result<Array> {
    let func = function(f)?;
    let n = y.shape()[axis];
    let mut shape: Shape = y.shape().into();
    shape.remove(axis);
    if n == 0 || elements(&shape) == 0 {
        let y = ev.cx.ready_outer(y)?;
        return identity(ev, f, &y, &shape);
    }
    if n == 1 {
        return ev.cx.apply_move(y, Move::drop_axis(y.shape(), axis));
    }
    let glyph = prim(f).map(|p| p.glyph);
    if let Some(side @ ('⊣' | '⊢')) = glyph {
        let mut read = Read::new((0..shape.len()).map(Ix::axis));
        read.ix.insert(axis, Ix::constant(if side == '⊣' { 0 } else { n as i64 - 1 }));
        return ev.cx.apply_move(y, Move { name: "[]", shape, read, onto: false });
    }
    // An operation that goes one by one here has its items there.
    let y = &match scalar_op(f) {
        Some(_) => ev.cx.ready_outer(y)?,
        None => y.clone(),
    };
    // Parts of one array one behind the other: that array.
    match (y.split(), y.pieces()) {
        (Some(rows), _)
            if rows.at == 1
                && (glyph == Some('⍪') || glyph == Some(',') && rows.cell().len() == 1) =>
        {
            let all = rows.node.clone();
            let shape: Shape =
                [n * rows.cell()[0]].into_iter().chain(rows.cell()[1..].iter().copied()).collect();
            return crate::functions::shape::reshaped(&mut ev.cx, &all, &shape)?.enclosed();
        }
        (_, Some(pieces)) if matches!(glyph, Some(',' | '⍪')) && y.rank() == 1 => {
            return pieces.flat().clone().enclosed();
        }
        _ => {}
    }
    // Items of one shape are folded as the array that holds them, where no order gives other bits:
    // items that are pending one by one are folded from the right.
    if let Some(op) = scalar_op(f)
        && in_any_order(op, &y.item(0), n)
        && let Some(rows) = ev.cx.as_rows(y)?.filter(|rows| in_any_order(op, &rows.node, n))
    {
        let made = reduce(ev, f, None, &rows.node, None, axis)?;
        return if shape.is_empty() { made.enclosed() } else { Ok(Array::rows(made, shape.len())) };
    }
    if let Some(put) = own::between(f)
        && y.rank() == 1
        && let Some(made) = joined_by(ev, &put, y)?
    {
        return Ok(made);
    }
    if prim(f).is_none() && y.frame().is_some() && y.rank() == 1 && n <= WRITTEN_OUT {
        return written_out(ev, func, y);
    }
    if prim(f).is_none()
        && let Some(made) = super::adds::added(ev, func, y, false)?
    {
        return made.enclosed();
    }
    if prim(f).is_none() && n > 2 {
        in_order(ev, f);
    }
    // Of one row each step waits for the one before: registers take less for it than a launch.
    let there = !ev.cx.is_ahead(y) && !ev.cx.sys.scope.is_framed();
    let is_row = shape.is_empty() && n >= LONG_ROW && y.is_uniform() && there;
    if prim(f).is_none()
        && is_row
        && let Some(made) = ev.fold_by_numbers(func, y)?
    {
        return made.enclosed();
    }
    if prim(f).is_none()
        && let Some(made) = ev.fold_recorded(func, y, axis, &shape)?
    {
        return Ok(made);
    }
    if prim(f).is_none()
        && !is_row
        && let Some(made) = ev.fold_by_numbers(func, y)?
    {
        return made.enclosed();
    }
    if prim(f).is_none()
        && let Some(made) = super::adds::added(ev, func, y, true)?
    {
        return made.enclosed();
    }
    if prim(f).is_none()
        && let Some(made) = ev.fold_ahead(func, y)?
    {
        return made.enclosed();
    }
    let y = ev.cx.ready_outer(y)?;
    if let Some(glyph @ (',' | '⍪')) = glyph
        && y.rank() == 1
        && let Some(made) = all_joined(ev, glyph, &y)?
    {
        return made.enclosed();
    }
    if glyph == Some('∪')
        && y.rank() == 1
        && let Some(made) = search::united(&mut ev.cx, &y)?
    {
        return made.enclosed();
    }
    match scalar_op(f) {
        // Numbers that are pending one by one are numbers: their fold has the order of any.
        Some(op) if op.is_associative() && items_are(&y, |a| a.rank() == 0 && a.is_uniform()) => {
            fold_tree(ev, op, &y, axis)
        }
        Some(op) => match from_right::folded(ev, op, &y)? {
            Some(made) => made.enclosed(),
            None => fold_each(ev, func, &y, axis),
        },
        None => fold_each(ev, func, &y, axis),
    }
}

/// Items of a cell whose fold is written out, call by call.
const WRITTEN_OUT: usize = 4;

/// The fold of a few items of each cell of a frame: a call for each of them. Errors: untraced,
/// where a call gives an array.
fn written_out(ev: &mut Eval<'_>, f: &Rc<Func>, y: &Array) -> Result<Array> {
    let item = |ev: &mut Eval<'_>, k: usize| {
        let (shape, read) = (Shape::new(), Read::new([Ix::constant(k as i64)]));
        ev.cx.apply_move(y, Move { name: "[]", shape, read, onto: false })
    };
    let mut sum = item(ev, y.len() - 1)?;
    for k in (0..y.len() - 1).rev() {
        let next = item(ev, k)?;
        sum = ev.apply(f, Some(&next), &sum)?;
        if sum.rank() > 0 {
            return Err(untraced("a fold of a cell gives an array"));
        }
    }
    Ok(sum)
}

/// A fold of the last axis by a function of one's own, as one launch. None: it cannot be recorded.
pub fn recorded(ev: &mut Eval<'_>, f: &Operand, y: &Array) -> Result<Option<Array>> {
    let (Some((n, shape)), None) = (y.shape().split_last(), prim(f)) else { return Ok(None) };
    if *n < 2 {
        return Ok(None);
    }
    let made = ev.fold_recorded(function(f)?, y, shape.len(), &Shape::from_slice(shape))?;
    if made.is_some() && *n > 2 {
        in_order(ev, f);
    }
    Ok(made)
}

/// Whether a fold of so many items gives the same bits from either end: the greatest and the least,
/// and sums of whole numbers, which no f64 rounds.
fn in_any_order(op: Op, items: &Array, n: usize) -> bool {
    /// That many numbers of 32 bits have a sum of 53.
    const SUMS: usize = 1 << 21;
    match op {
        Op::Max | Op::Min => true,
        Op::Add => items.dtype().is_integer() && n <= SUMS,
        _ => false,
    }
}

/// Items one behind the other with an array between each two, as one item. None: one of them is no
/// scalar or vector.
fn joined_by(ev: &mut Eval<'_>, put: &Array, y: &Array) -> Result<Option<Array>> {
    let n = y.len();
    let y = ev.cx.ready_outer(y)?;
    if let Some(pieces) = y.pieces()
        && let (Some(held), 0..=1) = (storage(pieces.flat()), put.rank())
        && let put = crate::functions::shape::reshaped(&mut ev.cx, put, &[put.len()])?
        && let put = ev.cx.ready(&put, "reduction")?
        && let Some(between) = storage(&put)
    {
        let mut runs = ev.cx.budget().room(2 * n)?;
        for k in 0..n {
            runs.extend([(between, 0..put.len()), (held, pieces.range(k))]);
        }
        if let Some(made) = Ragged::of_runs(&runs[1..], ev.cx.budget())? {
            return made.flat().clone().enclosed().map(Some);
        }
    }
    let _items = ev.cx.budget().charge_elements(n, 4 * size_of::<Array>())?;
    let (mut parts, mut ticks) = (ev.cx.budget().room(2 * n - 1)?, ev.cx.budget().ticks());
    for a in y.in_turn() {
        ticks.tick()?;
        for part in [put, &a].into_iter().skip(usize::from(parts.is_empty())) {
            if part.rank() > 1 {
                return Ok(None);
            }
            parts.push(crate::functions::shape::reshaped(&mut ev.cx, part, &[part.len()])?);
        }
    }
    cells::join(&mut ev.cx, &parts, 0)?.enclosed().map(Some)
}

/// Items one behind the other: scalars and vectors, or arrays that differ along the axis alone on
/// which `,` or `⍪` puts them. None: they are others.
fn all_joined(ev: &mut Eval<'_>, glyph: char, y: &Array) -> Result<Option<Array>> {
    let n = y.len();
    if let Data::Items(items) = y.data()
        && let Some(all) = items.listed()
    {
        let all = ev.cx.budget().each(all.iter())?;
        if let Some(made) = Array::lists_joined(&all, ev.cx.budget())? {
            return Ok(Some(made));
        }
    }
    let _items = ev.cx.budget().charge_elements(n, 2 * size_of::<Array>())?;
    let first = y.item(0);
    let axis = if glyph == ',' { first.rank().saturating_sub(1) } else { 0 };
    let along =
        |a: &Array| a.shape().iter().enumerate().all(|(k, d)| k == axis || *d == first.shape()[k]);
    let (mut parts, mut ticks) = (ev.cx.budget().room(n)?, ev.cx.budget().ticks());
    for a in y.in_turn() {
        ticks.tick()?;
        parts.push(match (first.rank(), a.rank()) {
            (0 | 1, 0 | 1) => crate::functions::shape::reshaped(&mut ev.cx, &a, &[a.len()])?,
            (own, rank) if own == rank && along(&a) => a,
            _ => return Ok(None),
        });
    }
    cells::join(&mut ev.cx, &parts, axis).map(Some)
}

fn items_are(y: &Array, is: impl Fn(&Array) -> bool) -> bool {
    matches!(y.data(), Data::Items(items) if items.iter().all(|a| is(&a)))
}

/// A scalar function between scalars, in the order of a simple array's fold.
fn fold_tree(ev: &mut Eval<'_>, op: Op, y: &Array, axis: usize) -> Result<Array> {
    let (outer, n, inner) = around(y.shape(), axis);
    let mut shape: Shape = y.shape().into();
    shape.remove(axis);
    let mut out = ev.cx.budget().room(outer * inner)?;
    for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
        ev.cx.host.interrupt().check()?;
        let items: Vec<Array> = (0..n).map(|k| y.item((o * n + k) * inner + i)).collect();
        let numbers: Vec<usize> = (0..n).collect();
        let made = RefCell::new((&mut *ev, items));
        let sum = ordered(op, &numbers, axis + 1 == y.rank(), |x, y| {
            let (ev, items) = &mut *made.borrow_mut();
            let sum = ev.cx.map2(op, &items[x], &items[y])?;
            items.push(sum);
            Ok::<_, Error>(items.len() - 1)
        })?;
        out.extend(sum.map(|k| made.borrow().1[k].clone()));
    }
    finished(ev, &shape, out, y.prototype())
}

/// One call after the other.
pub fn fold_each(ev: &mut Eval<'_>, func: &Rc<Func>, y: &Array, axis: usize) -> Result<Array> {
    let y = super::each::taken_apart(ev, y)?;
    let (outer, n, inner) = around(y.shape(), axis);
    let mut shape: Shape = y.shape().into();
    shape.remove(axis);
    let mut out = ev.cx.budget().room(outer * inner)?;
    ev.one_by_one(outer * inner * (n - 1), |ev| {
        for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
            ev.cx.host.interrupt().check()?;
            let mut sum = y.item((o * n + n - 1) * inner + i);
            for k in (0..n - 1).rev() {
                sum = ev.apply_to(func, Some(&y.item((o * n + k) * inner + i)), sum)?;
            }
            out.push(sum);
        }
        Ok(())
    })?;
    finished(ev, &shape, out, y.prototype())
}

/// Results as items of a shape; a single one is enclosed.
pub fn finished(
    ev: &Eval<'_>,
    shape: &[usize],
    mut out: Vec<Array>,
    proto: Array,
) -> Result<Array> {
    if shape.is_empty() && out.len() == 1 {
        return out.swap_remove(0).settled().enclosed();
    }
    let out = out.into_iter().map(|a| a.settled()).collect();
    ev.cx.collect(shape, out, Some(proto))
}

fn identity(ev: &mut Eval<'_>, f: &Operand, y: &Array, shape: &[usize]) -> Result<Array> {
    if elements(shape) == 0 {
        return cells::empty(&ev.cx, shape, y.prototype());
    }
    let unit = match (scalar_op(f), prim(f).map(|p| p.glyph)) {
        (Some(op), _) => op.identity(),
        (_, Some('⊤' | '⌽' | '⊖')) => Some(0.0),
        (_, Some('/' | '⌿' | '\\' | '⍀')) => Some(1.0),
        _ => None,
    };
    match (unit, prim(f).map(|p| p.glyph)) {
        (Some(unit), _) => {
            // A nested prototype has the identity at each of its leaves.
            let item = leaves(&ev.cx, &y.prototype(), unit)?;
            fill(&mut ev.cx, &item, shape)
        }
        (None, Some('∪')) => {
            let none = ev.cx.vector(vec![])?;
            fill(&mut ev.cx, &none, shape)
        }
        (None, Some(glyph @ (',' | '⍪'))) => {
            // None of the prototype along the axis that is joined.
            let proto = y.prototype();
            let mut none: Shape = proto.shape().into();
            match if glyph == ',' { none.last_mut() } else { none.first_mut() } {
                Some(n) => *n = 0,
                None => none.push(0),
            }
            let none = cells::empty(&ev.cx, &none, proto.prototype())?;
            fill(&mut ev.cx, &none, shape)
        }
        _ => Err(domain("this function has no identity for an empty axis")),
    }
}

/// An array with the same number at every leaf.
fn leaves(cx: &Cx<'_>, a: &Array, x: f64) -> Result<Array> {
    match a.data() {
        Data::Items(i) => {
            let items = i.iter().map(|a| leaves(cx, &a, x)).collect::<Result<Vec<_>>>()?;
            cx.collect(a.shape(), items, i.proto.clone())
        }
        _ if a.rank() == 0 => Ok(Array::num(x)),
        _ => {
            let _held = cx.budget().charge_elements(a.len(), 8)?;
            Array::numbers(a.shape(), cx.budget().filled(x, a.len())?, cx.budget())
        }
    }
}

/// `n f/Y` of a vector: f between the items of all windows at once, as `f¨` of two stretches
/// of Y. None: few windows, or they are called one by one.
fn windows_of_items(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    y: &Array,
    width: usize,
    back: bool,
) -> Result<Option<Array>> {
    let n = (y.len() + 1).saturating_sub(width);
    if y.rank() != 1 || y.frame().is_some() || !ev.runs_together(n) {
        return Ok(None);
    }
    let made = ev.attempt_together(|ev| {
        let place = |k: usize| if back { k } else { width - 1 - k };
        let mut sum = stretch(ev, y, place(0), n)?;
        for k in (1..width).map(place) {
            let left = stretch(ev, y, k, n)?;
            sum = super::each::each(ev, &[Operand::F(f.clone())], Some(&left), &sum, None)?;
        }
        Ok(sum)
    })?;
    Ok(made.ok())
}

/// The items of a vector from a place on, so many.
pub fn stretch(ev: &mut Eval<'_>, y: &Array, from: usize, n: usize) -> Result<Array> {
    if let Some(pieces) = y.pieces() {
        let places: Vec<u32> = ev.cx.budget().each(from as u32..(from + n) as u32)?;
        if let Some(some) = pieces.taken(&places, ev.cx.budget())? {
            return Ok(some.items(&[n]));
        }
    }
    let node = y.split().filter(|rows| rows.at == 1).map_or(y, |rows| &rows.node);
    let mut shape: Shape = node.shape().into();
    shape[0] = n;
    let mut read = Read::identity(node.rank());
    read.ix[0] = Ix::axis(0).offset(from as i64);
    let part = ev.cx.apply_move(node, Move { name: "↓", shape, read, onto: n == y.len() })?;
    Ok(if node.rank() > 1 { Array::rows(part, 1) } else { part })
}

/// `n f/Y`
fn windows(ev: &mut Eval<'_>, f: &Operand, x: &Array, y: &Array, axis: usize) -> Result<Array> {
    let by = ev.cx.one_integer(x, "the width of a window")?;
    let n = y.shape()[axis];
    let width = by.unsigned_abs() as usize;
    if width > n + 1 {
        return Err(length(format!("windows of {width} on an axis of {n}")));
    }
    let mut shape: Shape = y.shape().into();
    shape[axis] = n + 1 - width;
    if width == 0 {
        return identity(ev, f, y, &shape);
    }
    if elements(&shape) == 0 {
        return cells::empty(&ev.cx, &shape, y.prototype());
    }
    let at = |ev: &mut Eval<'_>, k: usize| {
        let mut read = Read::identity(y.rank());
        read.ix[axis] = Ix::axis(axis).offset(k as i64);
        ev.cx.apply_move(y, Move { name: "↓", shape: shape.clone(), read, onto: width == 1 })
    };
    if !y.is_uniform()
        && let Some(made) = windows_of_items(ev, function(f)?, y, width, by < 0)?
    {
        return Ok(made);
    }
    if let Some(op) = scalar_op(f) {
        // Each place of the window is a step that is recorded.
        let _held = ev.cx.budget().charge_elements(width, size_of::<usize>())?;
        let place = |k: usize| if by < 0 { k } else { width - 1 - k };
        let mut sum = at(ev, place(0))?;
        for k in (1..width).map(place) {
            ev.cx.budget().check()?;
            let left = at(ev, k)?;
            sum = ev.cx.map2(op, &left, &sum)?;
        }
        return Ok(sum);
    }
    if prim(f).is_some_and(|p| p.glyph == ',') && y.is_uniform() && width > 1 {
        // Each window is a row.
        let full: Shape = shape.iter().copied().chain([width]).collect();
        aplomb_values::array::checked_elements(&full)?;
        let mut read = Read::identity(y.rank());
        let along = Ix::axis(y.rank()).times(if by < 0 { -1 } else { 1 });
        let first = if by < 0 { width as i64 - 1 } else { 0 };
        read.ix[axis] = Ix::axis(axis).add(&along).offset(first);
        let onto = y.rank() > 0;
        let rows = ev.cx.apply_move(y, Move { name: "⍴", shape: full, read, onto })?;
        return match y.frame() {
            None => Ok(Array::rows(rows, shape.len())),
            Some(_) => Err(untraced("cells become items")),
        };
    }
    let func = function(f)?;
    if let Some(made) = ev.windows_recorded(func, &shape, width, by < 0, at)? {
        return Ok(made);
    }
    if y.is_uniform()
        && let Some(made) = windows_of_items(ev, func, y, width, by < 0)?
    {
        return Ok(made);
    }
    let y = super::each::taken_apart(ev, y)?;
    let (outer, n, inner) = around(y.shape(), axis);
    let mut out = ev.cx.budget().room(elements(&shape))?;
    let _held = ev.cx.budget().charge_elements(elements(&shape), std::mem::size_of::<Array>())?;
    for o in 0..outer {
        for w in 0..n + 1 - width {
            ev.cx.host.interrupt().check()?;
            for i in 0..inner {
                let item = |k: usize| {
                    y.item((o * n + w + if by < 0 { width - 1 - k } else { k }) * inner + i)
                };
                let mut sum = item(width - 1);
                for k in (0..width - 1).rev() {
                    sum = ev.apply(func, Some(&item(k)), &sum)?;
                }
                out.push(sum);
            }
        }
    }
    finished(ev, &shape, out, y.prototype())
}

/// `f\`: a scan along the last axis.
pub fn scan_last(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    axis: Axis<'_>,
) -> Result<Array> {
    scan(ev, &f[0], x, y, axis, y.rank().max(1) - 1)
}

/// `f⍀`: a scan along the first axis.
pub fn scan_first(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    axis: Axis<'_>,
) -> Result<Array> {
    scan(ev, &f[0], x, y, axis, 0)
}

fn scan(
    ev: &mut Eval<'_>,
    f: &Operand,
    x: Option<&Array>,
    y: &Array,
    axis: Axis<'_>,
    default: usize,
) -> Result<Array> {
    function(f)?;
    if x.is_some() {
        return Err(aplomb_ground::error::syntax("a scan takes one argument"));
    }
    if y.rank() == 0 {
        return Ok(y.clone());
    }
    let axis = axis_of(&mut ev.cx, axis, y.rank(), default)?;
    as_primitive(ev, f, own_or_on_scalars(f, y), y, move |ev, f, y| scanned(ev, f, y, axis))
}

/// `f\Y` along an axis.
fn scanned(ev: &mut Eval<'_>, f: &Operand, y: &Array, axis: usize) -> Result<Array> {
    let func = function(f)?;
    if prim(f).is_some_and(|p| p.glyph == '⊢') {
        return Ok(y.clone());
    }
    let op = scalar_op(f);
    if let Some(op) = op.filter(|op| ev.cx.folds(*op))
        && let Some(made) = ev.cx.scan(op, y, axis)?
    {
        return Ok(made);
    }
    let mut y = ev.cx.ready_outer(y)?;
    if y.is_empty() {
        return Ok(y);
    }
    if op.is_some() && items_are(&y, |a| a.rank() == 0 && a.is_uniform()) {
        // Pending numbers are scanned as numbers are, in the same order.
        y = ev.cx.ready(&y, "scan")?;
    }
    let (outer, n, inner) = around(y.shape(), axis);
    if let Some(op) = op.filter(|op| y.is_complex() && matches!(op, Op::Add | Op::Sub | Op::Mul)) {
        return ev.cx.scan_complex(op, &y, (outer, n, inner));
    }
    // A common multiple of complex numbers is one but for a unit: which, the order says.
    let by_folds = op.filter(|op| *op == Op::Lcm && y.is_complex());
    if let Some(op) = op.filter(|_| y.is_uniform() && !y.is_char() && by_folds.is_none()) {
        if scan::runs(op, y.dtype() == DType::Bool) {
            return ev.cx.scan_host(op, &y, axis);
        }
        if op == Op::Sub {
            let signed = ev.cx.alternating(&y, axis)?;
            let signed = ev.cx.ready(&signed, "scan")?;
            return ev.cx.scan_host(Op::Add, &signed, axis);
        }
        if let Some(made) = ev.cx.scan_by_steps(op, &y, axis)? {
            return Ok(made);
        }
    }
    if prim(f).is_none() {
        if let Some(made) = ev.scan_recorded(func, &y, axis)? {
            return Ok(made);
        }
        if n > 2 {
            in_order(ev, f);
        }
    }
    let _held = ev.cx.budget().charge_elements(y.len(), std::mem::size_of::<Array>())?;
    if prim(f).is_some_and(|p| ",⍪".contains(p.glyph))
        && let Some(made) = prefixes(ev, &y)?
    {
        return Ok(made);
    }
    let running = op.is_some_and(Op::is_associative) || prim(f).is_some_and(|p| joins(p.glyph, &y));
    let mut out = ev.cx.budget().filled(Array::num(0.0), y.len())?;
    for o in 0..outer {
        for i in 0..inner {
            let at = |k: usize| (o * n + k) * inner + i;
            for k in 0..n {
                ev.cx.host.interrupt().check()?;
                let mut sum = y.item(at(k));
                if let Some(op) = by_folds {
                    let prefix = ev.cx.budget().each((0..=k).map(|j| y.item(at(j))))?;
                    let prefix = ev.cx.collect(&[k + 1], prefix, None)?;
                    out[at(k)] = ev.cx.reduce(op, &prefix, 0)?.settled();
                    continue;
                }
                if running && k > 0 {
                    let before = out[at(k - 1)].clone();
                    out[at(k)] = ev.apply(func, Some(&before), &sum)?.settled();
                    continue;
                }
                for j in (0..k).rev() {
                    sum = ev.apply(func, Some(&y.item(at(j))), &sum)?;
                }
                out[at(k)] = sum.settled();
            }
        }
    }
    ev.cx.collect(y.shape(), out, Some(y.prototype()))
}

/// `,\` of a simple vector at hand: stretches of its buffer, and copies of the few that are far
/// shorter. None: it is something else. Errors: WS FULL, INTERRUPT.
fn prefixes(ev: &mut Eval<'_>, y: &Array) -> Result<Option<Array>> {
    let Some(held) = storage(y).filter(|_| y.rank() == 1) else { return Ok(None) };
    let n = y.len();
    let (mut out, mut ticks) = (ev.cx.budget().room(n)?, ev.cx.budget().ticks());
    out.push(y.item(0));
    for k in 2..=n {
        ticks.tick()?;
        out.push(match y.buffer_stretch(0..k) {
            Some(stretch) => stretch,
            None if k == n => y.clone(),
            None => match Buf::stretches(&[(held, 0..k)], ev.cx.budget())? {
                Some(copy) => Array::dense([k].as_slice(), Arc::new(copy)),
                None => return Ok(None),
            },
        });
    }
    ev.cx.collect(y.shape(), out, None).map(Some)
}

/// Whether a structural function is associative on these items.
fn joins(glyph: char, y: &Array) -> bool {
    match glyph {
        '⊣' | '⊢' => true,
        ',' => match y.data() {
            Data::Items(i) => i.iter().all(|a| a.rank() < 2),
            _ => true,
        },
        _ => false,
    }
}

/// Cells of one rank as rows for other operators.
pub fn rows(ev: &mut Eval<'_>, a: &Array, rank: usize) -> Result<(Shape, Vec<Array>)> {
    let a = ev.cx.ready_outer(a)?;
    let lead = a.rank() - rank;
    let frame: Shape = a.shape()[..lead].into();
    let cell: Shape = a.shape()[lead..].into();
    let size = elements(&cell);
    if lead == 0 {
        return Ok((frame, vec![a]));
    }
    let mut out = ev.cx.budget().room(elements(&frame))?;
    let _held = ev.cx.budget().charge_elements(elements(&frame), std::mem::size_of::<Array>())?;
    let mut ticks = ev.cx.budget().ticks();
    for k in 0..elements(&frame) {
        ticks.tick()?;
        out.push(if cell.is_empty() {
            a.item(k).enclosed()?
        } else if size == 0 {
            cells::empty(&ev.cx, &cell, a.prototype())?
        } else {
            let places = ev.cx.budget().each((k * size..(k + 1) * size).map(Ok))?;
            gather(&a, &cell, &places, ev.cx.budget())?
        });
    }
    Ok((frame, out))
}

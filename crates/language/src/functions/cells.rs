//! Pieces of arrays on the host: joining, slicing along an axis, mixing and splitting.

use super::shape::{Axis, axis_of};
use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, index, length, untraced};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{
    Array, Buf, Complex64, DType, Data, Shape, Storage, TAKEN_OUT, View, around, checked_elements,
    elements, storage,
};
use aplomb_values::dag::Node;
use aplomb_values::dag::kinds;
use aplomb_values::prim::moves::{Move, gather};
use std::sync::Arc;

/// No items, remembering what they would have been.
pub fn empty(cx: &Cx<'_>, shape: &[usize], proto: Array) -> Result<Array> {
    Array::collect(shape, vec![], Some(proto), cx.budget())
}

/// Parts of a catenation that are worth a launch, at most.
const MANY: usize = 16;

/// Arrays of one rank joined along an axis; the other lengths agree.
pub fn join(cx: &mut Cx<'_>, parts: &[Array], axis: usize) -> Result<Array> {
    let Some(first) = parts.first() else { return cx.vector(vec![]) };
    let mut shape: Shape = first.shape().into();
    shape[axis] = parts.iter().map(|p| p.shape()[axis]).sum();
    let n = checked_elements(&shape)?;
    if n == 0 {
        return empty(cx, &shape, first.prototype());
    }
    // A launch asks of each element whose it is: many parts that are there are copied.
    let copied = parts.len() > MANY && parts.iter().all(Array::is_plain) && !cx.sys.records_all();
    if copied {
        return joined(cx, parts, axis);
    }
    if let Some(made) = cx.record_cat(parts, axis, &shape)? {
        return Ok(made);
    }
    if let Some(made) = cx.join_rows(parts, axis)? {
        return Ok(made);
    }
    joined(cx, parts, axis)
}

/// Items of a stretch that is worth its place in a list, and stretches that are, however short.
const LONG: usize = 64;
const FEW: usize = 8;

/// Parts that are pending catenations along the axis as their own parts: what is copied here needs
/// no buffer before.
fn taken_apart(parts: &[Array], axis: usize) -> Vec<Array> {
    let mut out = Vec::with_capacity(parts.len());
    for part in parts {
        match part.pending().and_then(|c| c.node().map(|n| n.clone())) {
            Some(Node::Cat(kinds::Cat { axis: k, args })) if usize::from(k) == axis => {
                out.extend(args)
            }
            _ => out.push(part.clone()),
        }
    }
    out
}

/// The same at once.
pub fn joined(cx: &mut Cx<'_>, parts: &[Array], axis: usize) -> Result<Array> {
    let Some(first) = parts.first() else { return cx.vector(vec![]) };
    let mut shape: Shape = first.shape().into();
    shape[axis] = parts.iter().map(|p| p.shape()[axis]).sum();
    let n = checked_elements(&shape)?;
    let parts = taken_apart(parts, axis);
    cx.force(&parts.iter().collect::<Vec<_>>(), "catenation")?;
    let parts: Vec<Array> = parts.iter().map(Array::settled).collect();
    let outer = elements(&shape[..axis]);
    let filled: Vec<&Array> = parts.iter().filter(|p| !p.is_empty()).collect();
    // Stretches of one type, long or few, are copied as they are. Few integers may be narrower.
    let stretches = outer.saturating_mul(filled.len());
    let is_narrowest = |p: &&Array| !p.dtype().is_integer() || p.dtype() == DType::Bool;
    if stretches <= FEW && filled.iter().all(is_narrowest) || stretches.saturating_mul(LONG) <= n {
        let mut all = Vec::with_capacity(outer * filled.len());
        for o in 0..outer {
            all.extend(filled.iter().filter_map(|p| {
                let (_, own, inner) = around(p.shape(), axis);
                if let Data::Dense(b) = p.data() {
                    Some((&**b, o * own * inner..(o + 1) * own * inner))
                } else {
                    None
                }
            }));
        }
        if all.len() == outer * filled.len()
            && let Some(made) = Buf::stretches(&all, cx.budget())?
        {
            return Ok(Array::dense(shape, Arc::new(made)));
        }
    }
    let all = |what: fn(View) -> bool| {
        filled.iter().all(|p| matches!(p.data(), Data::Dense(b) if what(b.view())))
    };
    if all(|v| matches!(v, View::Char(_))) {
        let mut out = cx.budget().room(n)?;
        each_piece(cx.budget(), &filled, axis, outer, |p, a, b| {
            if let Data::Dense(v) = p.data()
                && let View::Char(v) = v.view()
            {
                out.extend_from_slice(&v[a..b])
            }
            Ok(())
        })?;
        return Array::chars(shape, out, cx.budget());
    }
    if all(|v| !matches!(v, View::Char(_))) && filled.iter().any(|p| p.is_complex()) {
        let mut out = cx.budget().room(n)?;
        each_piece(cx.budget(), &filled, axis, outer, |p, a, b| {
            out.extend((a..b).filter_map(|k| p.complex_at(k)));
            Ok(())
        })?;
        return Array::complexes(shape, out, cx.budget());
    }
    if all(|v| !matches!(v, View::Char(_))) {
        let charge = cx.budget().charge_elements(n, 8)?;
        let out = numbers_joined(cx.budget(), &filled, axis, (outer, n))?;
        std::mem::drop(charge);
        let f32s = all(|v| matches!(v, View::F32(_)));
        let float = all(|v| matches!(v, View::F64(_)));
        return Ok(match (f32s, float) {
            (true, _) => Array::dense(
                shape,
                Arc::new(Buf::f32(out.iter().map(|&x| x as f32).collect(), cx.budget())?),
            ),
            (_, true) => Array::floats(shape, out, cx.budget())?,
            _ => Array::numbers(shape, out, cx.budget())?,
        });
    }
    if shape.len() == 2
        && let Some(made) = tables_joined(cx, &filled, axis)?
    {
        return Ok(made);
    }
    if shape.len() == 1
        && let Some(made) = Array::lists_joined(&filled, cx.budget())?
    {
        return Ok(made);
    }
    let mut out = cx.budget().room(n)?;
    // Texts are cut out of their pieces once, however often they stand there.
    let mut cut = cx.budget().room(filled.len())?;
    for part in &filled {
        cut.push(match super::groups::shared(cx, part)? {
            Some(cut) => cut,
            None => (*part).clone(),
        });
    }
    let cut: Vec<&Array> = cut.iter().collect();
    let mut ticks = cx.budget().ticks();
    each_piece(cx.budget(), &cut, axis, outer, |p, a, b| {
        for k in a..b {
            ticks.spend(TAKEN_OUT)?;
            out.push(p.item(k));
        }
        Ok(())
    })?;
    cx.collect(&shape, out, None)
}

/// Real numbers of stored arrays, `outer` rows of n in all, side by side: those of one array after
/// those of the other, each row at its place. Errors: WS FULL, INTERRUPT.
fn numbers_joined(
    budget: &Budget,
    parts: &[&Array],
    axis: usize,
    (outer, n): (usize, usize),
) -> Result<Vec<f64>> {
    let mut out = budget.filled(0.0, n)?;
    let (row, mut from) = (n / outer.max(1), 0);
    for part in parts {
        budget.check()?;
        let (_, own, inner) = around(part.shape(), axis);
        let width = own * inner;
        let taken;
        let items = match part.floats_there() {
            Some(items) => items,
            None => {
                taken = part.ready_numbers(budget)?;
                &taken
            }
        };
        let rows = out.chunks_exact_mut(row.max(1)).zip(items.chunks_exact(width.max(1)));
        match width {
            1 => rows.for_each(|(row, item)| row[from] = item[0]),
            _ => rows.for_each(|(row, items)| row[from..from + width].copy_from_slice(items)),
        }
        from += width;
    }
    Ok(out)
}

/// Matrices side by side, or tables of as many columns one below the other, as the columns that
/// they have. None: there are many, or none holds arrays.
fn tables_joined(cx: &mut Cx<'_>, parts: &[&Array], axis: usize) -> Result<Option<Array>> {
    /// The most columns of a matrix that is no table.
    const MOST: usize = 8;
    let mut columns = Vec::new();
    if axis == 0 {
        let Some(all) = parts.iter().map(|a| a.columns()).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        for k in 0..all[0].len() {
            let one: Vec<Array> = all.iter().map(|own| own[k].clone()).collect();
            columns.push(joined(cx, &one, 0)?);
        }
        return Array::of_columns(&columns, cx.budget());
    }
    for part in parts {
        let &[n, width] = part.shape() else { return Ok(None) };
        match part.columns() {
            Some(own) => columns.extend_from_slice(own),
            None if width == 1 => columns.push(part.with_shape([n].as_slice(), cx.budget())?),
            None if width <= MOST && part.is_uniform() => {
                for k in 0..width {
                    let column = along(cx, part, 1, &[Some(k)])?;
                    columns.push(column.with_shape([n].as_slice(), cx.budget())?);
                }
            }
            None => return Ok(None),
        }
    }
    Array::of_columns(&columns, cx.budget())
}

/// The runs of each part, in the order of the result. Errors: INTERRUPT.
fn each_piece(
    budget: &Budget,
    parts: &[&Array],
    axis: usize,
    outer: usize,
    mut take: impl FnMut(&Array, usize, usize) -> Result<()>,
) -> Result<()> {
    let mut ticks = budget.ticks();
    for o in 0..outer {
        for p in parts {
            ticks.tick()?;
            let (_, n, inner) = around(p.shape(), axis);
            take(p, o * n * inner, (o + 1) * n * inner)?;
        }
    }
    Ok(())
}

/// The places along an axis that are asked for, in order; None is a fill.
pub fn along(cx: &mut Cx<'_>, a: &Array, axis: usize, picks: &[Option<usize>]) -> Result<Array> {
    if a.frame().is_some() {
        let io = cx.sys.settings.io;
        let places: Option<Vec<f64>> = picks.iter().map(|k| k.map(|k| k as f64 + io)).collect();
        let places = places.ok_or_else(|| untraced("fills stand in cells"))?;
        let mut indices = vec![None; a.rank()];
        indices[axis] = Some(cx.vector(places)?);
        return super::select::bracket(cx, a, &indices);
    }
    let a = cx.ready_outer(a)?;
    let (outer, n, inner) = around(a.shape(), axis);
    let mut shape: Shape = a.shape().into();
    shape[axis] = picks.len();
    let total = checked_elements(&shape)?;
    if let (Data::Dense(items), 1, 1..) = (a.data(), a.rank(), total) {
        let there = picks.iter().map_while(|k| u32::try_from((*k)?).ok());
        let there = cx.budget().each(there)?;
        // Without a fill in their own type.
        if there.len() == total
            && let Some(items) = Buf::picked(items.as_ref(), &there, cx.budget())?
        {
            return Ok(Array::dense(shape, Arc::new(items)));
        }
    }
    let mut places = cx.budget().room(total)?;
    let _held = cx.budget().charge_elements(total, 16)?;
    let fill = if a.is_char() { 32.0 } else { 0.0 };
    let mut ticks = cx.budget().ticks();
    for o in 0..outer {
        for pick in picks {
            ticks.tick()?;
            for i in 0..inner {
                places.push(pick.map_or(Err(fill), |k| Ok((o * n + k) * inner + i)));
            }
        }
    }
    if total == 0 {
        return empty(cx, &shape, a.prototype());
    }
    gather(&a, &shape, &places, cx.budget())
}

/// Major cell k.
pub fn major(cx: &Cx<'_>, a: &Array, k: usize) -> Result<Array> {
    if a.rank() == 0 {
        return Ok(a.clone());
    }
    let inner = elements(&a.shape()[1..]);
    cell(cx, a, &a.shape()[1..], k * inner)
}

/// A contiguous cell from a ravel place. A rank-0 cell of a nested array is enclosed.
pub fn cell(cx: &Cx<'_>, a: &Array, shape: &[usize], from: usize) -> Result<Array> {
    let n = elements(shape);
    if shape.is_empty() {
        return a.item(from).enclosed();
    }
    if n == 0 {
        return empty(cx, shape, a.prototype());
    }
    let places = cx.budget().each((from..from + n).map(Ok))?;
    gather(a, shape, &places, cx.budget())
}

/// `↑Y`: items padded to one shape, as trailing axes. `↑[k]Y`, k no whole number: the new axes
/// stand together at that place among Y's. Simple arrays are unchanged.
pub fn mix(cx: &mut Cx<'_>, y: &Array, axis: Axis<'_>) -> Result<Array> {
    let frame = y.rank();
    let place = axis.map(|k| mix_place(cx, k, frame)).transpose()?;
    let Data::Items(held) = y.data() else { return Ok(y.clone()) };
    if let (None, Some(inside)) = (axis, y.held_inside()) {
        return Ok(inside);
    }
    // The cells of one array are that array again.
    let padded = match held.pieces() {
        Some(pieces) => pieces.padded(y.shape(), cx.budget())?,
        None => None,
    };
    let mixed = match (held.split().or(held.lines()), padded) {
        (Some(rows), _) => rows.node.settled(),
        (None, Some(padded)) => padded,
        (None, None) => {
            let items = match held.is_empty() {
                true => vec![y.prototype()],
                false => y.to_items(cx.budget())?,
            };
            mixed(cx, y.shape(), &items, held.is_empty())?
        }
    };
    let Some(place) = place else { return Ok(mixed) };
    let new = mixed.rank() - frame;
    let to = (0..mixed.rank()).map(|k| match k {
        k if k < place => k,
        k if k < frame => k + new,
        k => k - frame + place,
    });
    let to = cx.vector(to.map(|k| k as f64 + cx.sys.settings.io).collect())?;
    super::shape::transpose_by(cx, &to, &mixed, None)
}

/// The number of Y's axes that stand before the new ones.
fn mix_place(cx: &mut Cx<'_>, k: &Array, frame: usize) -> Result<usize> {
    let &[k] = cx.numbers(k, "an axis")?.as_slice() else {
        return Err(length("↑ takes one axis"));
    };
    let k = k - cx.sys.settings.io;
    if !(-1.0..=frame as f64).contains(&k) {
        return Err(index("there is no place for such an axis"));
    }
    Ok(k.ceil() as usize)
}

/// Items of a frame padded to their common shape; `none`: they only show the shape of an empty
/// result.
pub fn mixed(cx: &mut Cx<'_>, frame: &[usize], items: &[Array], none: bool) -> Result<Array> {
    if let Some(made) = cx.mixed_ahead(frame, items)? {
        return Ok(made);
    }
    cx.force(&items.iter().collect::<Vec<_>>(), "mix")?;
    let r = items.iter().map(Array::rank).max().unwrap_or(0);
    let mut common = vec![0; r];
    for a in items {
        let lead = r - a.rank();
        for (k, c) in common.iter_mut().enumerate() {
            *c = (*c).max(if k < lead { 1 } else { a.shape()[k - lead] });
        }
    }
    let shape: Shape = frame.iter().chain(&common).copied().collect();
    let n = checked_elements(&shape)?;
    if none || n == 0 {
        return empty(cx, &shape, items.first().map_or(Array::num(0.0), Array::prototype));
    }
    let settled: Vec<Array> =
        items.iter().map(|a| if a.is_uniform() { a.settled() } else { a.clone() }).collect();
    if let [length] = common[..]
        && let Some(made) = vectors_mixed(cx, &settled, length)?
    {
        return Ok(Array::dense(shape, Arc::new(made)));
    }
    drop(cx.budget().charge_elements(n, 8)?);
    let budget = cx.budget().clone();
    let places = |a: &Array| padded_places(a, &common, &budget);
    if settled.iter().all(|a| a.is_uniform() && a.is_char()) {
        let mut out = cx.budget().room(n)?;
        for a in &settled {
            let v = a.ready_chars(&budget)?;
            out.extend(places(a)?.into_iter().map(|p| p.map_or(' ', |k| v[k])));
        }
        return Array::chars(shape, out, cx.budget());
    }
    let numeric = settled.iter().all(|a| a.is_uniform() && !a.is_char());
    if numeric && settled.iter().any(Array::is_complex) {
        let mut out = cx.budget().room(n)?;
        for a in &settled {
            let v = a.ready_complexes(&budget)?;
            out.extend(places(a)?.into_iter().map(|p| p.map_or(Complex64::ZERO, |k| v[k])));
        }
        return Array::complexes(shape, out, cx.budget());
    }
    if numeric {
        let mut out = cx.budget().room(n)?;
        for a in &settled {
            let v = a.ready_numbers(&budget)?;
            match a.shape() == common.as_slice() {
                true => out.extend(v),
                false => out.extend(places(a)?.into_iter().map(|p| p.map_or(0.0, |k| v[k]))),
            }
        }
        if settled.iter().all(|a| a.dtype() == DType::F32) {
            return Array::singles(shape, &out, cx.budget());
        }
        return Array::numbers(shape, out, cx.budget());
    }
    let mut out = cx.budget().room(n)?;
    for a in &settled {
        let fill = a.prototype();
        out.extend(places(a)?.into_iter().map(|p| p.map_or_else(|| fill.clone(), |k| a.item(k))));
    }
    cx.collect(&shape, out, None)
}

/// Vectors and scalars as rows of one length, each with fills behind it. None: they are others, or
/// of kinds that have no type in common. Errors: WS FULL, INTERRUPT.
fn vectors_mixed(cx: &Cx<'_>, items: &[Array], length: usize) -> Result<Option<Buf>> {
    let budget = cx.budget();
    let dense = |a: &Array| match a.data() {
        Data::Char(c) => Array::dense([1].as_slice(), Arc::new(Buf::one_char(*c))),
        Data::Num(..) => a.reshaped([1].as_slice()),
        _ => a.clone(),
    };
    let items = budget.each(items.iter().map(dense))?;
    if items.iter().any(|a| storage(a).is_none()) {
        return Ok(None);
    }
    let held = budget.each(items.iter().filter_map(storage))?;
    let Some(first) = held.first().map(|s| s.dtype()) else { return Ok(None) };
    let alike = held.iter().all(|s| s.dtype() == first);
    let real = |s: &&dyn Storage| s.dtype().is_integer() || s.dtype() == DType::F64;
    if first == DType::Complex || !alike && !held.iter().all(real) {
        return Ok(None);
    }
    let fill = match first {
        DType::Char => Buf::chars(budget.filled(' ', length)?, budget)?,
        dtype => Buf::stored(&budget.filled(0.0, length)?, dtype, budget)?,
    };
    let fill: &dyn Storage = &fill;
    let (mut runs, mut ticks) = (budget.room(2 * held.len())?, budget.ticks());
    for held in held {
        ticks.tick()?;
        runs.extend([(held, 0..held.len()), (fill, 0..length - held.len())]);
    }
    Buf::widened(&runs, budget)
}

/// The origin of each item of the padded cell.
fn padded_places(a: &Array, common: &[usize], budget: &Budget) -> Result<Vec<Option<usize>>> {
    let lead = common.len() - a.rank();
    let full: Shape = common
        .iter()
        .enumerate()
        .map(|(k, _)| if k < lead { 1 } else { a.shape()[k - lead] })
        .collect();
    let (mut out, mut ticks) = (budget.room(elements(common))?, budget.ticks());
    let mut place = vec![0; common.len()];
    for _ in 0..elements(common) {
        ticks.tick()?;
        let inside = place.iter().zip(&full).all(|(p, n)| p < n);
        out.push(inside.then(|| place.iter().zip(&full).fold(0, |at, (p, n)| at * n + p)));
        aplomb_values::array::advance(&mut place, common);
    }
    Ok(out)
}

/// `↓[k]Y`: vectors along an axis, enclosed.
pub fn split(cx: &mut Cx<'_>, y: &Array, axis: Axis<'_>) -> Result<Array> {
    if y.rank() == 0 {
        return match axis {
            None => Ok(y.clone()),
            Some(_) => Err(index("a scalar has no axis")),
        };
    }
    let axis = axis_of(cx, axis, y.rank(), y.rank() - 1)?;
    let (outer, n, inner) = around(y.shape(), axis);
    let mut shape: Shape = y.shape().into();
    shape.remove(axis);
    if y.is_uniform() && !y.is_empty() && !shape.is_empty() {
        // The axis goes last, and nothing is taken apart before somebody looks.
        let _held = cx.budget().charge_elements(outer * inner, std::mem::size_of::<Array>())?;
        let last = y.rank() - 1;
        let full: Shape = shape.iter().copied().chain([n]).collect();
        let at =
            (0..y.rank()).map(|k| Some(if k == axis { last } else { k - usize::from(k > axis) }));
        let node =
            if axis == last { y.settled() } else { cx.apply_move(y, Move::axes("⍉", full, at))? };
        return Ok(Array::rows(node, last));
    }
    // Cells of a pending array are computed together.
    let y = match y.split() {
        Some(rows) => Array::rows(cx.ready(&rows.node, "split")?, rows.at),
        None => cx.ready_outer(y)?,
    };
    if let Some(lines) = Array::lines_of(&y, shape.len()).filter(|_| axis == shape.len()) {
        return Ok(lines);
    }
    if outer * inner == 0 {
        let proto = super::shape::fill(cx, &y.prototype(), &[n])?;
        return empty(cx, &shape, proto);
    }
    let mut out = cx.budget().room(outer * inner)?;
    let _held = cx.budget().charge_elements(outer * inner, std::mem::size_of::<Array>())?;
    for o in 0..outer {
        for i in 0..inner {
            let places = cx.budget().each((0..n).map(|k| Ok((o * n + k) * inner + i)))?;
            out.push(if n == 0 {
                empty(cx, &[0], y.prototype())?
            } else {
                gather(&y, &[n], &places, cx.budget())?
            });
        }
    }
    if shape.is_empty() {
        return out.swap_remove(0).enclosed();
    }
    cx.collect(&shape, out, None)
}

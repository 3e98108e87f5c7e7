//! Selection: `[] ⌷ ⊃ ⍸ ∊ ⍳`. Slices by scalars and progressions are moves; the rest gathers on
//! the host.

use super::cells;
use super::of_its_type;
use super::shape::{Axis, reshaped};
use super::straight::{Plane, are_scattered, line, plane};
use crate::eval::cx::Cx;
use crate::eval::lower::places::Chosen;
use crate::functions::amend::picked;
use aplomb_ground::error::{Error, Result, domain, index, length, rank};
use aplomb_ground::limits::{Budget, Ticks};
use aplomb_values::array::{
    Array, DType, Data, Ragged, Shape, View, advance, checked_elements, elements, storage,
};
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::Ix;
use aplomb_values::prim::moves::{Move, gather};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::{Fail, near_integer, place};
use std::sync::Arc;

/// One axis' index: all, or places with the shape they were given in.
pub enum Sel {
    /// Every place, in order.
    All,
    /// Some places.
    At {
        /// The shape in which they were given.
        shape: Shape,
        /// The places, from 0 on.
        places: Vec<usize>,
    },
}

/// Indices of an axis of `n`, ⎕IO included, as places from 0 on; the first that is none is the
/// error.
fn places_on(cx: &Cx<'_>, indices: &[f64], n: usize) -> Result<Vec<usize>> {
    let (io, ct) = (cx.sys.settings.io, cx.sys.settings.ct);
    let (mut places, mut ticks) = (cx.budget().room(indices.len())?, cx.budget().ticks());
    for x in indices {
        ticks.tick()?;
        places.push(place(*x, io, n, ct).map_err(Fail::error)?);
    }
    Ok(places)
}

/// Checked places on one axis.
pub fn select(cx: &mut Cx<'_>, i: Option<&Array>, n: usize) -> Result<Sel> {
    let Some(i) = i else { return Ok(Sel::All) };
    if i.is_empty() {
        return Ok(Sel::At { shape: i.shape().into(), places: vec![] });
    }
    let wanted = cx.numbers(i, "an index")?;
    Ok(Sel::At { shape: i.shape().into(), places: places_on(cx, &wanted, n)? })
}

/// `A[i;j]`
pub fn bracket(cx: &mut Cx<'_>, a: &Array, indices: &[Option<Array>]) -> Result<Array> {
    if let ([Some(i)], false) = (indices, a.rank() != 1 && indices.len() != 1)
        && !i.is_uniform()
        && !i.is_simple()
    {
        return choose(cx, a, i);
    }
    // Index vectors, of which there are none.
    if let ([Some(i)], true) = (indices, a.rank() != 1)
        && i.is_empty()
        && !i.prototype().is_simple_scalar()
    {
        return cells::empty(cx, i.shape(), a.prototype());
    }
    fits_axes(cx, a, indices)?;
    indexed(cx, a, indices)
}

/// One index an axis. Errors: INDEX, where a lone one is beyond the first of several axes; RANK.
pub fn fits_axes(cx: &mut Cx<'_>, a: &Array, indices: &[Option<Array>]) -> Result<()> {
    if indices.len() == a.rank() {
        return Ok(());
    }
    if let ([Some(i)], [n, ..]) = (indices, a.shape()) {
        select(cx, Some(i), *n)?;
    }
    Err(rank(for_axes(indices.len(), a.rank())))
}

/// The sentence on so many indices where there are so many axes.
fn for_axes(indices: usize, axes: usize) -> String {
    let of = |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
    format!("{} for {}", of(indices, "index", "indices"), of(axes, "axis", "axes"))
}

/// One index for each axis. Those that are pending stay so; others are looked at. Straight lines of
/// places are a move.
pub fn indexed(cx: &mut Cx<'_>, a: &Array, indices: &[Option<Array>]) -> Result<Array> {
    let rows = a.split().or(a.lines()).filter(|rows| rows.at == a.rank());
    let cells = rows.map_or(0, |rows| rows.cell().len());
    if cells > 0
        && indices.iter().any(|i| i.as_ref().is_none_or(|i| i.rank() > 0))
        && indices.iter().flatten().all(|i| !i.is_empty() && i.frame().is_none())
    {
        let all: Vec<_> = indices.iter().cloned().chain(std::iter::repeat_n(None, cells)).collect();
        if let Some(made) = cx.on_rows(a, |cx, node| indexed(cx, node, &all))? {
            return Ok(made);
        }
    }
    if let (Some(columns), [rows, wanted]) = (a.columns(), indices)
        && let Some(made) = of_table(cx, columns, rows.as_ref(), wanted.as_ref())?
    {
        return Ok(made);
    }
    if let [Some(i)] = indices
        && let Some(made) = few_of_list(cx, a, i)?
    {
        return Ok(made);
    }
    let (sels, some) = choices(cx, a.shape(), indices)?;
    if let Some(m) = lines_of(a, &some).filter(|m| elements(&m.shape) > 0) {
        return cx.apply_move(a, m);
    }
    if a.frame().is_some() || indices.iter().flatten().any(|i| i.frame().is_some()) {
        return cx.framed_gather(a, &some);
    }
    if let Some(made) = cx.record_gather(a, &some)? {
        return Ok(made);
    }
    let mut all = Vec::with_capacity(sels.len());
    for ((sel, i), &n) in sels.into_iter().zip(indices).zip(a.shape()) {
        all.push(match sel {
            Some(sel) => sel,
            None => select(cx, i.as_ref(), n)?,
        });
    }
    at_sels(cx, a, &all)
}

/// A few items of a list that are there, at places that are stored as whole numbers. None: they are
/// others, or some place is none.
fn few_of_list(cx: &Cx<'_>, a: &Array, i: &Array) -> Result<Option<Array>> {
    let few = i.len() <= cx.hand() && !i.is_empty() && !cx.sys.records_all();
    let (Some(held), Some(view)) = (storage(a).filter(|_| few && a.rank() == 1), i.view_there())
    else {
        return Ok(None);
    };
    let io = cx.sys.settings.io as i64;
    macro_rules! places {
        ($v:expr) => {
            cx.budget().each($v.iter().map(|&x| (i64::from(x) - io) as usize))?
        };
    }
    let places: Vec<usize> = match view {
        View::Bool(v) => places!(v),
        View::I8(v) => places!(v),
        View::I16(v) => places!(v),
        View::I32(v) => places!(v),
        _ => return Ok(None),
    };
    let n = a.len();
    if places.iter().any(|&place| place >= n) {
        return Ok(None);
    }
    let budget = cx.budget();
    let made = of_its_type!(held, budget, |v, _fill| budget.each(places.iter().map(|&k| v[k])));
    Ok(Some(Array::dense(i.shape(), Arc::new(made))))
}

/// Some rows of some columns of a table. None: it is one row, or what is chosen is no table.
fn of_table(
    cx: &mut Cx<'_>,
    columns: &[Array],
    rows: Option<&Array>,
    wanted: Option<&Array>,
) -> Result<Option<Array>> {
    let vector = |i: &Array| i.rank() == 1 && i.frame().is_none();
    if !rows.is_none_or(vector) || !wanted.is_none_or(|i| i.rank() == 0 || vector(i)) {
        return Ok(None);
    }
    let wanted_rank = wanted.map_or(1, Array::rank);
    let wanted = match select(cx, wanted, columns.len())? {
        Sel::All => (0..columns.len()).collect(),
        Sel::At { places, .. } => places,
    };
    let mut made = cx.budget().room(wanted.len())?;
    for at in wanted {
        let column = match rows {
            None => columns[at].clone(),
            Some(rows) => indexed(cx, &columns[at], &[Some(rows.clone())])?,
        };
        if wanted_rank == 0 {
            return Ok(Some(column));
        }
        made.push(cx.ready_outer(&column)?);
    }
    Array::of_columns(&made, cx.budget())
}

/// The choice along each axis, and where that was looked at the places.
pub fn choices(
    cx: &mut Cx<'_>,
    shape: &[usize],
    indices: &[Option<Array>],
) -> Result<(Vec<Option<Sel>>, Vec<Chosen>)> {
    let (mut sels, mut some) =
        (Vec::with_capacity(indices.len()), Vec::with_capacity(indices.len()));
    for (i, &n) in indices.iter().zip(shape) {
        let unknown =
            |i: &&Array| i.pending().is_some() && i.dtype().is_integer() || i.frame().is_some();
        let mut lazy = i.as_ref().filter(unknown);
        if let Some(i) = i
            && lazy.is_none()
            && are_scattered(cx, i, n)?
        {
            lazy = Some(i);
        }
        let sel = if lazy.is_some() { None } else { Some(select(cx, i.as_ref(), n)?) };
        some.push(match (lazy, &sel) {
            (Some(i), _) => match plane(cx, i, n) {
                Some(plane) => Chosen::Line { shape: i.shape().into(), plane },
                None => Chosen::Array(i.clone()),
            },
            (None, Some(sel)) => chosen(i.as_ref(), sel),
            (None, None) => Chosen::All,
        });
        sels.push(sel);
    }
    Ok((sels, some))
}

/// Indices as integers, ⎕IO included: as they are, or what is near to whole numbers. Forces these.
/// Errors: DOMAIN, INDEX beyond all integers.
pub fn whole_places(cx: &mut Cx<'_>, i: &Array) -> Result<Array> {
    let i = if i.is_open() { &cx.ready(i, "index")? } else { i };
    if i.dtype().is_integer() {
        return Ok(i.clone());
    }
    let numbers = cx.integers(i, "an index")?;
    let numbers = cx.budget().each(numbers.into_iter().map(|k| k as f64))?;
    let whole = Array::numbers(i.shape(), numbers, cx.budget())?;
    match whole.dtype().is_integer() {
        true => Ok(whole),
        false => Err(index("no axis is so long")),
    }
}

/// A selection by straight lines alone, as a read.
fn lines_of(a: &Array, chosen: &[Chosen]) -> Option<Move> {
    let (mut shape, mut read) = (Shape::new(), Read::new([]));
    let mut onto = a.is_uniform();
    for (c, &n) in chosen.iter().zip(a.shape()) {
        let own: Shape = c.shape(n);
        read.ix.push(match c {
            Chosen::All => Ix::axis(shape.len()),
            Chosen::Line { plane, .. } => plane.read(|k| shape.len() + k),
            Chosen::Array(_) => return None,
        });
        onto &= match c {
            Chosen::Line { plane, .. } => {
                own.len() < 2
                    && elements(&own) == n
                    && (plane.steps.iter().all(|s| *s != 0) || n == 1)
            }
            _ => true,
        };
        shape.extend(own);
    }
    a.is_uniform().then_some(Move { name: "[]", onto: onto && elements(&shape) > 0, shape, read })
}

fn chosen(i: Option<&Array>, s: &Sel) -> Chosen {
    match (s, i) {
        (Sel::At { shape, places }, Some(i)) => match line(places) {
            Some((first, step)) if shape.len() < 2 => {
                let steps = shape.iter().map(|_| step).collect();
                Chosen::Line { shape: shape.clone(), plane: Plane { first, steps } }
            }
            _ => Chosen::Array(i.clone()),
        },
        _ => Chosen::All,
    }
}

/// The places of a selection in ravel order, and the result's shape.
pub fn places_of(shape: &[usize], sels: &[Sel], budget: &Budget) -> Result<(Shape, Vec<usize>)> {
    let mut out = Shape::new();
    for (k, s) in sels.iter().enumerate() {
        match s {
            Sel::All => out.push(shape[k]),
            Sel::At { shape, .. } => out.extend_from_slice(shape),
        }
    }
    let n = checked_elements(&out)?;
    if let [Sel::At { places, .. }] = sels {
        return Ok((out, budget.each(places.iter().copied())?));
    }
    let counts: Vec<usize> = sels
        .iter()
        .zip(shape)
        .map(|(s, &n)| if let Sel::At { places, .. } = s { places.len() } else { n })
        .collect();
    let strides = aplomb_values::array::strides(shape);
    let mut place = vec![0; sels.len()];
    let (mut all, mut ticks) = (budget.room(n)?, budget.ticks());
    for _ in 0..n {
        ticks.tick()?;
        let at = place.iter().enumerate().map(|(k, &p)| {
            let p = if let Sel::At { places, .. } = &sels[k] { places[p] } else { p };
            p * strides[k]
        });
        all.push(at.sum());
        advance(&mut place, &counts);
    }
    Ok((out, all))
}

/// Cells of a stored array by their places on its first axis, copied whole. None: it is chosen
/// along other axes too, or is not stored so.
fn whole_cells(budget: &Budget, a: &Array, sels: &[Sel]) -> Result<Option<Array>> {
    let [Sel::At { shape, places }, rest @ ..] = sels else { return Ok(None) };
    let held = storage(a).filter(|held| held.dtype() != DType::Complex);
    let all = !rest.is_empty() && rest.iter().all(|sel| matches!(sel, Sel::All));
    let (Some(held), true, true) = (held, all, !places.is_empty() && !a.is_empty()) else {
        return Ok(None);
    };
    let shape: Shape = shape.iter().chain(&a.shape()[1..]).copied().collect();
    let (n, size) = (checked_elements(&shape)?, elements(&a.shape()[1..]));
    let made = of_its_type!(held, budget, |items, _fill| {
        let (mut out, mut ticks) = (budget.room(n)?, budget.ticks());
        for place in places {
            ticks.spend(size)?;
            out.extend_from_slice(&items[place * size..][..size]);
        }
        Ok::<_, Error>(out)
    });
    Ok(Some(Array::dense(shape, Arc::new(made))))
}

fn at_sels(cx: &mut Cx<'_>, a: &Array, sels: &[Sel]) -> Result<Array> {
    let a = cx.ready_outer(a)?;
    if let Some(made) = whole_cells(cx.budget(), &a, sels)? {
        return Ok(made);
    }
    // For each item its place as it was chosen, along an axis and in all, and as it is gathered.
    let each = 2 * size_of::<usize>() + size_of::<std::result::Result<usize, f64>>();
    let bytes: usize = sels
        .iter()
        .zip(a.shape())
        .map(|(s, &n)| if let Sel::At { places, .. } = s { places.len() } else { n })
        .fold(each, |a, n| a.saturating_mul(n));
    let _held = cx.budget().charge(bytes as u64)?;
    let (shape, places) = places_of(a.shape(), sels, cx.budget())?;
    if places.is_empty() {
        return cells::empty(cx, &shape, a.prototype());
    }
    if shape.is_empty() {
        return a.item(places[0]).enclosed();
    }
    let picked = cx.budget().each(places.into_iter().map(Ok))?;
    gather(&a, &shape, &picked, cx.budget())
}

/// `V[⊂i j]`: one index vector per item, paths reach into items.
fn choose(cx: &mut Cx<'_>, a: &Array, i: &Array) -> Result<Array> {
    if let Some(made) = cx.record_picks(a, i)? {
        return Ok(made);
    }
    let a = cx.ready(a, "index")?;
    if a.frame().is_none()
        && let Some(places) = places_by_items(cx, a.shape(), i)?
    {
        return picked(cx, &a, i.shape(), &places);
    }
    let mut out = cx.budget().room(i.len())?;
    for item in i.in_turn() {
        out.push(pick(cx, &path_to(a.rank(), &item)?, &a, None)?);
    }
    if i.rank() == 0 {
        return out.swap_remove(0).enclosed();
    }
    cx.collect(i.shape(), out, Some(a.prototype()))
}

/// The path that an item of a nested index is, into an array of so many axes: its items are steps.
/// Numbers alone are one step of several axes.
pub fn path_to(axes: usize, item: &Array) -> Result<Array> {
    if axes > 1 && item.is_simple() && !item.is_empty() {
        let step = if item.rank() == 0 { item.clone() } else { item.clone().enclosed()? };
        return Ok(step);
    }
    Ok(item.clone())
}

/// The item at one index vector.
fn one_cell(cx: &mut Cx<'_>, a: &Array, at: &Array) -> Result<Array> {
    let place = place_of(cx, a.shape(), at)?;
    if a.frame().is_some() { cx.framed_item(a, place) } else { Ok(a.item(place)) }
}

/// The ravel places that the items of a nested array name, an index vector each. Rows of an array
/// are not taken apart: they are computed together and read as they lie. None: an item is a path.
/// Errors: RANK, INDEX, DOMAIN of the first that is no place.
pub fn places_by_items(cx: &mut Cx<'_>, shape: &[usize], i: &Array) -> Result<Option<Vec<usize>>> {
    let rows = i.split().filter(|s| s.cell() == [shape.len()] && s.node.frame().is_none());
    let mut places = cx.budget().room(i.len())?;
    let mut ticks = cx.budget().ticks();
    if let Some(rows) = rows {
        let (io, ct) = (cx.sys.settings.io, cx.sys.settings.ct);
        let numbers = cx.numbers(&rows.node.clone(), "an index")?;
        for at in numbers.chunks_exact(shape.len().max(1)) {
            ticks.tick()?;
            let mut all = 0;
            for (x, &n) in at.iter().zip(shape) {
                all = all * n + place(*x, io, n, ct).map_err(Fail::error)?;
            }
            places.push(all);
        }
        return Ok(Some(places));
    }
    let items = cx.ready_outer(i)?.to_items(cx.budget())?;
    // A vector is reached into by each number in turn, and nothing reaches nowhere.
    let is_path = |at: &Array| match shape.len() {
        0 => false,
        1 => at.rank() == 1 && at.len() != 1,
        _ => at.rank() == 1 && at.is_empty(),
    };
    if items.iter().any(|at| !at.is_simple() || is_path(at)) {
        return Ok(None);
    }
    for at in &items {
        ticks.tick()?;
        places.push(place_of(cx, shape, at)?);
    }
    Ok(Some(places))
}

/// The ravel place of one index vector. Errors: RANK, INDEX, DOMAIN.
pub fn place_of(cx: &mut Cx<'_>, shape: &[usize], at: &Array) -> Result<usize> {
    if at.rank() > 1 || at.len() != shape.len() {
        return Err(rank(format!("an index of {} numbers for {} axes", at.len(), shape.len())));
    }
    let mut all = 0;
    for (x, &n) in cx.numbers(at, "an index")?.into_iter().zip(shape) {
        all = all * n + place(x, cx.sys.settings.io, n, cx.sys.settings.ct).map_err(Fail::error)?;
    }
    Ok(all)
}

/// The items of a vector of indices; those of every cell, where it is one of a frame.
fn steps_of(cx: &mut Cx<'_>, x: &Array) -> Result<Vec<Array>> {
    match x.frame() {
        Some(_) => (0..x.len()).map(|k| cx.framed_item(x, k)).collect(),
        None => cx.ready_outer(x)?.to_items(cx.budget()),
    }
}

/// `X⊃Y`
pub fn pick(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    if x.rank() > 1 {
        return Err(rank("a path is a vector"));
    }
    let mut at = y.clone();
    if x.frame().is_some() && y.is_uniform() && x.len() == 1 && y.rank() == 1 {
        let step = cx.framed_item(x, 0)?;
        return indexed(cx, y, &[Some(step)]);
    }
    // A path ends where its array does, however long it is: steps are taken from it one by one.
    let path = cx.ready(x, "path")?;
    let steps = if path.rank() == 0 { 1 } else { path.len() };
    for k in 0..steps {
        let step = if path.rank() == 0 { path.disclosed() } else { path.item(k) };
        let held = at.disclosed();
        at = if at.rank() == 0 && !at.is_simple_scalar() && step.is_empty() { held } else { at };
        at = if at.frame().is_some() { at } else { cx.ready_outer(&at)? };
        if step.is_char() && !step.is_empty() {
            return Err(domain("a path holds numbers"));
        }
        at = one_cell(cx, &at, &step)?;
    }
    Ok(at)
}

/// `⊃Y`: the first item; of an empty array its prototype.
pub fn first(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    if y.is_empty() {
        return Ok(y.prototype());
    }
    match y.data() {
        Data::Items(i) => Ok(i.at(0)),
        _ if y.pending().is_some() || y.frame().is_some() => {
            cx.apply_move(y, Move::first(y.shape()))
        }
        _ => Ok(y.item(0)),
    }
}

/// `X⌷[k]Y`: one item of X for each axis named, or for each leading axis; the others are whole.
pub fn squad(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    let indices = squad_indices(cx, x, y, axis)?;
    indexed(cx, y, &indices)
}

/// The index that `X⌷[k]Y` has for each axis; none where the axis is whole.
pub fn squad_indices(
    cx: &mut Cx<'_>,
    x: &Array,
    y: &Array,
    axis: Axis<'_>,
) -> Result<Vec<Option<Array>>> {
    if x.rank() > 1 {
        return Err(rank("the left argument of ⌷ is a vector"));
    }
    let axes = match axis {
        None if x.len() > y.rank() => {
            return Err(length(for_axes(x.len(), y.rank())));
        }
        None => (0..x.len()).collect(),
        Some(k) => super::shape::axes_of(cx, k, y.rank())?,
    };
    if axes.len() != x.len() {
        return Err(length(for_axes(x.len(), axes.len())));
    }
    let mut indices: Vec<Option<Array>> = vec![None; y.rank()];
    for (k, i) in axes.into_iter().zip(steps_of(cx, x)?) {
        indices[k] = Some(i.disclosed());
    }
    Ok(indices)
}

/// The indices of the ones of many booleans: their places in the order of items, and of a matrix
/// the digits of these. None: they are others, or few.
fn ones(cx: &mut Cx<'_>, y: &Array) -> Result<Option<Array>> {
    let many = y.rank() > 0 && y.dtype() == DType::Bool && cx.records(&[y], y.len());
    if !many || y.frame().is_some() {
        return Ok(None);
    }
    let (io, mask) = (cx.sys.settings.io, reshaped(cx, y, &[y.len()])?);
    let vector = y.rank() == 1;
    let all = cx.iota(y.len(), if vector { io } else { 0.0 })?;
    let places = super::repeat::filtered(cx, &mask, &all, 0)?;
    let Some(places) = places.filter(|places| vector || !places.is_empty()) else {
        return Ok(None);
    };
    if vector {
        return Ok(Some(places));
    }
    let extents = cx.vector(cx.budget().each(y.shape().iter().map(|n| *n as f64))?)?;
    let digits = super::numbers::encode(cx, &extents, &places, None)?;
    let digits = cx.map2(Op::Add, &digits, &Array::num(io))?;
    let rows = super::shape::transpose(cx, &digits, None)?;
    Ok(Some(Array::rows(rows, 1)))
}

/// Places that are written between two looks at the interrupt.
const AT_ONCE: usize = 1 << 16;

/// `⍸Y`: the indices of the ones, as often as Y says.
pub fn where_(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    if let Some(made) = ones(cx, y)? {
        return Ok(made);
    }
    let counts = cx.integers(y, "the argument of ⍸")?;
    let io = cx.sys.settings.io;
    let mut total = 0usize;
    for block in counts.chunks(1 << 16) {
        cx.budget().check()?;
        if block.iter().any(|&c| c < 0) {
            return Err(domain("⍸ takes counts of at least 0"));
        }
        total = block.iter().fold(total, |t, &c| t.saturating_add(c as usize));
    }
    let _held = cx.budget().charge_elements(total, 8 * y.rank().max(1))?;
    if y.rank() == 1 {
        let (mut out, mut ticks) = (cx.budget().room(total)?, cx.budget().ticks());
        for (k, &c) in counts.iter().enumerate() {
            // Memory comes as it is first written: many of one place in parts.
            for from in (0..c as usize).step_by(AT_ONCE) {
                let some = AT_ONCE.min(c as usize - from);
                ticks.spend(some)?;
                out.resize(out.len() + some, k as f64 + io);
            }
        }
        return cx.vector(out);
    }
    let r = y.rank();
    if total == 0 || r == 0 {
        let proto = cx.vector(vec![0.0; r])?;
        return cx.collect(&[total], cx.budget().filled(proto.clone(), total)?, Some(proto));
    }
    let mut all = cx.budget().room(total.saturating_mul(r))?;
    let (mut place, mut ticks) = (vec![0; r], cx.budget().ticks());
    for &c in &counts {
        ticks.tick()?;
        for _ in 0..c {
            ticks.tick()?;
            all.extend(place.iter().map(|&p| p as f64 + io));
        }
        advance(&mut place, y.shape());
    }
    Ok(Array::rows(Array::numbers([total, r].as_slice(), all, cx.budget())?, 1))
}

/// `∊Y`: every leaf in one vector.
pub fn enlist(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    if y.is_uniform() {
        return reshaped(cx, y, &[y.len()]);
    }
    if let Some(pieces) = y.pieces() {
        return enlist(cx, pieces.flat(), None);
    }
    if let Some(rows) = y.split() {
        return reshaped(cx, &rows.node, &[rows.node.len()]);
    }
    let y = cx.ready(y, "enlist")?;
    let mut simple = Vec::new();
    flatten(&y, &mut simple, cx.budget(), &mut cx.budget().ticks())?;
    let n = simple.iter().map(Array::len).fold(0, usize::saturating_add);
    let runs: Option<Vec<_>> = simple
        .iter()
        .map(|a| storage(a).filter(|_| a.dtype() != DType::F32).map(|held| (held, 0..a.len())))
        .collect();
    if let Some(runs) = runs
        && let Some(made) = Ragged::of_runs(&runs, cx.budget())?
    {
        return Ok(made.flat().clone());
    }
    let (mut leaves, mut ticks) = (cx.budget().room(n)?, cx.budget().ticks());
    for a in simple {
        ticks.spend(a.len())?;
        leaves.extend(a.in_turn());
    }
    let proto = if n == 0 { deepest(&y) } else { Array::num(0.0) };
    cx.collect(&[n], leaves, Some(proto))
}

/// The simple arrays in an array.
fn flatten(a: &Array, out: &mut Vec<Array>, budget: &Budget, ticks: &mut Ticks) -> Result<()> {
    ticks.tick()?;
    match a.data() {
        Data::Items(i) => i.iter().try_for_each(|a| flatten(&a, out, budget, ticks)),
        _ => {
            budget.widen(out, 1)?;
            out.push(a.clone());
            Ok(())
        }
    }
}

fn deepest(a: &Array) -> Array {
    let p = a.prototype();
    match p.data() {
        Data::Items(_) if p.rank() > 0 => deepest(&p),
        _ if p.rank() > 0 => p.prototype(),
        _ => p,
    }
}

/// `⍳Y`
pub fn iota(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    if y.rank() > 1 {
        return Err(rank("⍳ takes a number or a vector"));
    }
    let shape = super::shape::given_shape(cx, y, "a count for ⍳")?;
    let io = cx.sys.settings.io;
    if shape.len() == 1 {
        return cx.iota(shape[0], io);
    }
    let n = checked_elements(&shape)?;
    let r = shape.len();
    if n == 0 || r == 0 {
        let proto = cx.vector(vec![0.0; r])?;
        return match n {
            0 => cells::empty(cx, &shape, proto),
            _ => proto.enclosed(),
        };
    }
    let mut all = cx.budget().room(n.saturating_mul(r))?;
    let (mut place, mut ticks) = (vec![0; r], cx.budget().ticks());
    for _ in 0..n {
        ticks.tick()?;
        all.extend(place.iter().map(|&p| p as f64 + io));
        advance(&mut place, &shape);
    }
    let full: Shape = shape.iter().copied().chain([r]).collect();
    Ok(Array::rows(Array::numbers(full, all, cx.budget())?, r))
}

/// Longer vectors are no pieces.
const LONG_PIECE: f64 = 65_536.0;

/// `⍳¨Y` of many counts: pieces of one vector. None: some are none, or it is empty.
pub fn iotas(cx: &mut Cx<'_>, y: &Array) -> Result<Option<Array>> {
    let plain = y.is_uniform() && y.frame().is_none() && !y.is_char() && !y.is_complex();
    if !plain || y.rank() == 0 || y.is_empty() || !cx.host.is_on("frames") {
        return Ok(None);
    }
    let counts = cx.numbers(y, "a count for ⍳")?;
    // A long one by itself may stay pending.
    if counts.iter().any(|&n| n > LONG_PIECE) {
        return Ok(None);
    }
    let (mut ends, mut end) = (cx.budget().room(counts.len())?, 0u32);
    for &count in &counts {
        let whole = near_integer(count, cx.sys.settings.ct);
        let more = whole.and_then(|n| u32::try_from(n).ok()).and_then(|n| end.checked_add(n));
        let Some(more) = more else { return Ok(None) };
        end = more;
        ends.push(end);
    }
    let mut all = cx.budget().room(end as usize)?;
    let (io, mut first) = (cx.sys.settings.io, 0);
    for &end in &ends {
        cx.budget().check()?;
        all.extend((0..end - first).map(|k| f64::from(k) + io));
        first = end;
    }
    let flat = cx.vector(all)?;
    Ok(Ragged::new(flat, ends).map(|pieces| pieces.items(y.shape())))
}

//! `@`: some cells of an array become others.
//!
//! The right operand says which: numbers index major cells, nested vectors choose items or reach
//! into them, a function gives a mask of Y's shape. The left operand is what stands there then: a
//! value, or a function of all of them at once.

use super::frames::Fallback;
use super::prim;
use super::products::pervades;
use crate::eval::cx::Cx;
use crate::eval::lower::places::mask_of_places;
use crate::eval::run::{At, Eval};
use crate::eval::scope::Inside;
use crate::eval::value::{Func, Operand};
use crate::functions::amend::{amend, fits, picked};
use crate::functions::select::{Sel, path_to, pick, place_of, places_by_items, select};
use crate::functions::shape::Axis;
use crate::syntax::ast::Guard;
use crate::syntax::resolve::{Do, FExpr, Ins};
use aplomb_ground::error::{Result, domain, index, length, rank, untraced};
use aplomb_values::array::{Array, DType, Shape, elements};
use std::rc::Rc;

/// The places that were chosen, under the shape in which they were.
enum Chosen {
    Places(Shape, Vec<usize>),
    /// Paths into items.
    Paths(Shape, Vec<Array>),
}

/// `f@i` `A@i` `f@g` `A@g`. Errors: RANK, INDEX, LENGTH, DOMAIN.
pub fn at(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    _: Axis<'_>,
) -> Result<Array> {
    let chosen = match &f[1] {
        Operand::A(i) => {
            let io = ev.cx.sys.settings.io;
            if let [n] = y.shape()
                && let Some(mask) = mask_of_places(i, *n, io)
                && let Some(z) = under_mask(ev, &f[0], &mask, x, y)?
            {
                return Ok(z);
            }
            let i = ev.cx.ready(i, "@")?;
            indexed(&mut ev.cx, &i, y)?
        }
        Operand::F(g) => {
            let mask = ev.apply(g, None, y)?;
            if let Some(z) = under_mask(ev, &f[0], &mask, x, y)? {
                return Ok(z);
            }
            masked(&mut ev.cx, &mask, y)?
        }
    };
    replaced(ev, &f[0], chosen, x, y)
}

/// Whether an operand of `@` is a scalar, or works on each item by itself.
fn serves_items(ev: &mut Eval<'_>, f: &Operand) -> Result<bool> {
    match (f, prim(f)) {
        (Operand::A(a), _) => Ok(a.rank() == 0 && a.is_uniform()),
        (_, Some(p)) => Ok(p.scalar(false).is_some()),
        (Operand::F(g), None) => Ok(pervades(f, 1) || is_by_item(ev, g)?),
    }
}

/// Whether `f@g` does to each item, by itself, what it does to it among others.
pub fn goes_by_item(ev: &mut Eval<'_>, f: &Operand, g: &Operand) -> Result<bool> {
    Ok(matches!(g, Operand::F(_)) && serves_items(ev, f)? && serves_items(ev, g)?)
}

/// Whether a dfn works on each item by itself: one expression of scalar primitives, scalars and ⍵.
fn is_by_item(ev: &mut Eval<'_>, f: &Rc<Func>) -> Result<bool> {
    let Func::Dfn(closure) = &**f else { return Ok(false) };
    let [stmt] = closure.ast.dfn(closure.dfn).stmts.as_slice() else { return Ok(false) };
    if stmt.guard != Guard::None {
        return Ok(false);
    }
    let frame = ev.frame_to_read(f, closure, false);
    let resolved = ev.resolved(At { ast: &closure.ast, frame: Some(&frame) }, stmt.phrase);
    frame.leave();
    let scalar = |f: &FExpr, dyadic: bool| match f {
        FExpr::Prim(p) => p.scalar(dyadic).is_some(),
        _ => false,
    };
    let by_item = |step: &Ins| match &step.what {
        Do::Const(a) => a.rank() == 0 && a.is_uniform(),
        Do::Omega => true,
        Do::Monad(f) => scalar(f, false),
        Do::Dyad(f) => scalar(f, true),
        _ => false,
    };
    Ok(resolved?.code.ins.iter().all(by_item))
}

/// A number or a scalar function where a mask holds: a choice in each item by itself, in which the
/// mask is never looked at. None: it is none of these.
fn under_mask(
    ev: &mut Eval<'_>,
    f: &Operand,
    mask: &Array,
    x: Option<&Array>,
    y: &Array,
) -> Result<Option<Array>> {
    let by_item = match f {
        Operand::A(a) => a.rank() == 0 && a.is_uniform() && a.is_char() == y.is_char(),
        Operand::F(_) if y.is_char() || y.is_complex() => false,
        Operand::F(_) => x.is_none() && serves_items(ev, f)?,
    };
    let fits = y.rank() > 0
        && y.is_uniform()
        && mask.is_uniform()
        && mask.dtype() == DType::Bool
        && mask.shape() == y.shape();
    let around = [mask, y].iter().any(|a| a.frame().is_some());
    if x.is_some() || !by_item || !fits || around || !ev.runs_together(y.len()) {
        return Ok(None);
    }
    let (from, lead) = (ev.cx.sys.tape.mark(), y.rank());
    let made = ev.attempt(|ev| {
        let cond = Array::framed(mask.settled(), lead);
        let cells = Array::framed(y.settled(), lead);
        ev.inside(Inside::Frame, |ev| {
            let new = match f {
                Operand::A(a) => a.clone(),
                Operand::F(g) => {
                    let branch = ev.cx.branch(&cond, true)?;
                    ev.inside(branch, |ev| ev.apply(g, None, &cells))?
                }
            };
            ev.cx.either(&cond, &new, &cells)
        })
    })?;
    let Some(z) = made.ok().and_then(|z| z.frame().map(|split| split.node.clone())) else {
        return Ok(None);
    };
    let (f2, mask2, y2) = (f.clone(), mask.clone(), y.clone());
    let again: Fallback = Rc::new(move |ev| {
        let chosen = masked(&mut ev.cx, &mask2, &y2)?;
        replaced(ev, &f2, chosen, None, &y2)
    });
    ev.watch(&z, from, again);
    Ok(Some(z))
}

/// The array with its chosen places replaced.
fn replaced(
    ev: &mut Eval<'_>,
    f: &Operand,
    chosen: Chosen,
    x: Option<&Array>,
    y: &Array,
) -> Result<Array> {
    if let (Some(_), Chosen::Places(shape, places)) = (y.frame(), &chosen) {
        let new = match f {
            Operand::A(a) if x.is_none() => a.clone(),
            Operand::A(_) => return Err(untraced("A@i takes no left argument")),
            Operand::F(g) => {
                let old = ev.cx.framed_picked(y, shape, places)?;
                ev.apply(g, x, &old)?
            }
        };
        return ev.cx.framed_put(y, shape, places, &new);
    }
    let y = ev.cx.ready_outer(y)?;
    let old = match &chosen {
        Chosen::Places(shape, places) => picked(&ev.cx, &y, shape, places)?,
        Chosen::Paths(shape, paths) => {
            let mut items = ev.cx.budget().room(paths.len())?;
            for path in paths {
                items.push(pick(&mut ev.cx, path, &y, None)?.settled());
            }
            ev.cx.collect(shape.as_slice(), items, Some(y.prototype()))?
        }
    };
    let new = match f {
        Operand::A(a) if x.is_none() => a.clone(),
        Operand::A(_) => return Err(aplomb_ground::error::syntax("A@i takes no left argument")),
        Operand::F(g) => ev.apply(g, x, &old)?,
    };
    let new = ev.cx.ready_outer(&new)?;
    match chosen {
        Chosen::Places(shape, places) => amend(&ev.cx, &y, &shape, &places, &new),
        Chosen::Paths(shape, paths) => {
            fits(&new, &shape)?;
            let mut now = y;
            for (k, path) in paths.iter().enumerate() {
                let item = if new.rank() == 0 {
                    new.disclosed()
                } else {
                    new.item(if new.len() == 1 { 0 } else { k })
                };
                let steps = path.to_items(ev.cx.budget())?;
                now = reached(&mut ev.cx, &now, &steps, &item)?;
            }
            Ok(now)
        }
    }
}

fn indexed(cx: &mut Cx<'_>, i: &Array, y: &Array) -> Result<Chosen> {
    if y.rank() == 0 {
        return Err(rank("@ with an index needs an array that has cells"));
    }
    if i.is_simple() {
        let Sel::At { shape, places } = select(cx, Some(i), y.shape()[0])? else {
            return Err(index("@ needs an index"));
        };
        let cell = elements(&y.shape()[1..]);
        let shape: Shape = shape.iter().chain(&y.shape()[1..]).copied().collect();
        let _held = cx.budget().charge_elements(places.len().saturating_mul(cell), 8)?;
        let mut all = cx.budget().room(places.len().saturating_mul(cell))?;
        all.extend(places.iter().flat_map(|p| p * cell..(p + 1) * cell));
        return Ok(Chosen::Places(shape, all));
    }
    match places_by_items(cx, y.shape(), i)? {
        Some(places) => Ok(Chosen::Places(i.shape().into(), places)),
        None => {
            let paths = i.in_turn().map(|item| path_to(y.rank(), &item)).collect::<Result<_>>()?;
            Ok(Chosen::Paths(i.shape().into(), paths))
        }
    }
}

fn masked(cx: &mut Cx<'_>, mask: &Array, y: &Array) -> Result<Chosen> {
    if mask.rank() != y.rank() {
        return Err(rank("the mask of @ needs the rank of Y"));
    }
    if mask.shape() != y.shape() {
        return Err(length("the mask of @ needs the shape of Y"));
    }
    let mut places = Vec::new();
    for (k, bit) in cx.integers(mask, "the mask of @")?.into_iter().enumerate() {
        match bit {
            0 => {}
            1 => places.push(k),
            _ => return Err(domain("the mask of @ holds 0 and 1 only")),
        }
    }
    let shape = if y.rank() == 0 && places.len() == 1 {
        Shape::new()
    } else {
        Shape::from_slice(&[places.len()])
    };
    Ok(Chosen::Places(shape, places))
}

/// The item at the end of a path replaced, and all that holds it made anew.
pub fn reached(cx: &mut Cx<'_>, a: &Array, path: &[Array], item: &Array) -> Result<Array> {
    let Some((step, rest)) = path.split_first() else { return Ok(item.clone()) };
    let a = cx.ready_outer(a)?;
    let (place, new) = reached_below(cx, &a, step, rest, item)?;
    amend(cx, &a, &[], &[place], &new)
}

/// The place that a path's first step leads to in a ready array, and what stands there then, with
/// the item at the end of the rest replaced.
pub fn reached_below(
    cx: &mut Cx<'_>,
    a: &Array,
    step: &Array,
    rest: &[Array],
    item: &Array,
) -> Result<(usize, Array)> {
    let place = place_of(cx, a.shape(), step)?;
    let held = if a.rank() == 0 { a.disclosed() } else { a.item(place) };
    Ok((place, reached(cx, &held, rest, item)?.enclosed()?))
}

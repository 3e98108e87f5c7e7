//! `@`: some cells of an array become others.
//!
//! The right operand says which: numbers index major cells, nested vectors choose items or reach
//! into them, a function gives a mask of Y's shape. The left operand is what stands there then: a
//! value, or a function of all of them at once.

use crate::eval::cx::Cx;
use crate::eval::run::Eval;
use crate::eval::value::Operand;
use crate::functions::amend::{amend, fits, picked};
use crate::functions::select::{Sel, pick, place_of, places_by_items, select};
use crate::functions::shape::Axis;
use aplomb_ground::error::{Result, domain, index, length, rank, untraced};
use aplomb_values::array::{Array, Shape, elements};

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
            let i = ev.cx.ready(i, "@")?;
            indexed(&mut ev.cx, &i, y)?
        }
        Operand::F(g) => {
            let mask = ev.apply(g, None, y)?;
            masked(&mut ev.cx, &mask, y)?
        }
    };
    if let (Some(_), Chosen::Places(shape, places)) = (y.frame(), &chosen) {
        let new = match &f[0] {
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
    let new = match &f[0] {
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
                let steps = path.to_items();
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
        None => Ok(Chosen::Paths(i.shape().into(), i.to_items())),
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
    let place = place_of(cx, a.shape(), step)?;
    let held = if a.rank() == 0 { a.disclosed() } else { a.item(place) };
    let new = reached(cx, &held, rest, item)?;
    amend(cx, &a, &[], &[place], &new.enclosed()?)
}

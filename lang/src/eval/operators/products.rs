//! `∘.f` and `f.g`: broadcasts, a map, a reduction; pairs of cells where that does not do.

use super::{function, scalar_op};
use crate::array::{Array, Shape, checked_elements, elements};
use crate::error::{Result, length, limit, syntax};
use crate::eval::run::Eval;
use crate::eval::value::{Func, Operand};
use crate::prim::moves::Move;
use crate::prim::shape::{Axis, reshaped};
use std::rc::Rc;

pub fn outer(ev: &mut Eval<'_>, f: &Operand, x: Option<&Array>, y: &Array) -> Result<Array> {
    let func = function(f)?;
    let Some(x) = x else { return Err(syntax("∘. needs a left argument")) };
    let shape: Shape = x.shape().iter().chain(y.shape()).copied().collect();
    let n = checked_elements(&shape)?;
    if n == 0 {
        return crate::prim::cells::empty(&ev.cx, &shape, Array::num(0.0));
    }
    if let (Some(op), true) = (scalar_op(f), x.is_uniform() && y.is_uniform()) {
        let (r, s) = (x.rank(), shape.len());
        let a = if x.rank() == 0 {
            x.clone()
        } else {
            ev.cx.apply_move(x, Move::axes("⍴", shape.clone(), (0..r).map(Some)))?
        };
        let b = if y.rank() == 0 {
            y.clone()
        } else {
            ev.cx.apply_move(y, Move::axes("⍴", shape.clone(), (r..s).map(Some)))?
        };
        return ev.cx.map2(op, &a, &b);
    }
    match ev.outer_framed(func, x, y)? {
        Some(z) => Ok(z),
        None => all_pairs(ev, func, x, y),
    }
}

/// Calls the function on pair after pair.
pub fn all_pairs(ev: &mut Eval<'_>, func: &Rc<Func>, x: &Array, y: &Array) -> Result<Array> {
    let shape: Shape = x.shape().iter().chain(y.shape()).copied().collect();
    let n = checked_elements(&shape)?;
    let (x, y) = (ev.cx.ready_outer(x)?, ev.cx.ready_outer(y)?);
    let mut out = ev.cx.budget().room(n)?;
    let _held = ev.cx.budget().charge_elements(n, size_of::<Array>())?;
    let item = |a: &Array, k: usize| if a.rank() == 0 { a.disclosed() } else { a.item(k) };
    let mut ticks = ev.cx.budget().ticks();
    for i in 0..x.len() {
        for j in 0..y.len() {
            ticks.tick()?;
            let z = ev.apply(func, Some(&item(&x, i)), &item(&y, j))?;
            out.push(z);
        }
    }
    super::reduce::finished(ev, &shape, out, Array::num(0.0))
}

pub fn inner(ev: &mut Eval<'_>, f: &[Operand], x: Option<&Array>, y: &Array, _: Axis<'_>) -> Result<Array> {
    function(&f[0])?;
    let g = function(&f[1])?.clone();
    let Some(x) = x else { return Err(syntax("an inner product needs a left argument")) };
    let last = x.shape().last().copied();
    let head = y.shape().first().copied();
    let (a, b) = (last.unwrap_or(1), head.unwrap_or(1));
    if a != b && a != 1 && b != 1 {
        return Err(length(format!(
            "{}.{} needs the last axis of its left argument to match the first axis of its right",
            f[0].text(),
            f[1].text()
        )));
    }
    let k = if a == 1 { b } else { a };
    let (r, s) = (x.rank().max(1) - 1, y.rank().max(1) - 1);
    let outer: Shape = x.shape()[..r].iter().chain(y.shape().get(1..).unwrap_or(&[])).copied().collect();
    if outer.len() + 1 > 15 {
        return Err(limit("the product would have more than 15 axes"));
    }
    checked_elements(&outer)?;
    let slash = crate::prim::table::find('/').ok_or_else(|| crate::error::internal("/ has no row"))?;
    if let (Some(_), Some(op), true) = (scalar_op(&f[0]), scalar_op(&f[1]), x.is_uniform() && y.is_uniform()) {
        let mut full = outer.clone();
        full.push(k);
        checked_elements(&full)?;
        if elements(&full) > 0 || k == 0 {
            let wide = |ev: &mut Eval<'_>, a: &Array, own: usize, at: Vec<Option<usize>>| {
                if a.rank() == 0 || elements(&full) == 0 {
                    return if elements(&full) == 0 {
                        crate::prim::cells::empty(&ev.cx, &full, Array::num(0.0))
                    } else {
                        Ok(a.clone())
                    };
                }
                let _ = own;
                ev.cx.apply_move(a, Move::axes("⍴", full.clone(), at))
            };
            let axis = |n: usize| (n == k || n != 1).then_some(r + s);
            let xs = (0..r).map(Some).chain(std::iter::once(axis(a))).collect();
            let ys = std::iter::once(axis(b)).chain((r..r + s).map(Some)).collect();
            let left = wide(ev, x, a, xs)?;
            let right = wide(ev, y, b, ys)?;
            let pairs = ev.cx.map2(op, &left, &right)?;
            let pairs = if pairs.rank() == 0 { crate::prim::shape::fill(&mut ev.cx, &pairs, &full)? } else { pairs };
            let op = scalar_op(&f[0]).ok_or_else(|| crate::error::internal("a scalar function lost its operation"))?;
            return ev.cx.reduce(op, &pairs, full.len() - 1);
        }
    }
    let x = if x.rank() == 0 { reshaped(&mut ev.cx, x, &[1])? } else { x.clone() };
    let y = if y.rank() == 0 { reshaped(&mut ev.cx, y, &[1])? } else { y.clone() };
    let turned = {
        // The first axis of Y goes last.
        let order: Vec<f64> = std::iter::once(s).chain(0..s).map(|k| k as f64 + ev.cx.sys.io).collect();
        let order = ev.cx.vector(order)?;
        crate::prim::shape::transpose_by(&mut ev.cx, &order, &y, None)?
    };
    let (_, rows) = super::reduce::rows(ev, &x, 1)?;
    let (_, columns) = super::reduce::rows(ev, &turned, 1)?;
    let mut out = ev.cx.budget().room(rows.len() * columns.len())?;
    let _held = ev.cx.budget().charge_elements(rows.len() * columns.len(), std::mem::size_of::<Array>())?;
    for row in &rows {
        for column in &columns {
            let pairs = ev.apply(&g, Some(row), column)?;
            let crate::prim::table::Does::Operator(fold) =
                slash.operator.as_ref().map_or(crate::prim::table::Does::Execute, |m| m.does)
            else {
                continue;
            };
            out.push(fold(ev, &f[..1], None, &pairs, None)?.disclosed());
        }
    }
    super::reduce::finished(ev, &outer, out, Array::num(0.0))
}

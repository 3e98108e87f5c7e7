//! `⍤`: atop with a function, cells with numbers.

use super::{function, scalar_op};
use crate::array::{Array, Shape};
use crate::error::{Result, length, rank as rank_error};
use crate::eval::run::Eval;
use crate::eval::value::{Func, Oper, Operand};
use crate::prim::shape::Axis;
use std::rc::Rc;

pub fn rank(ev: &mut Eval<'_>, f: &[Operand], x: Option<&Array>, y: &Array, _: Axis<'_>) -> Result<Array> {
    let func = function(&f[0])?.clone();
    let k = match &f[1] {
        Operand::F(g) => {
            let mid = ev.apply(g, x, y)?;
            return ev.apply(&func, None, &mid);
        }
        Operand::A(k) => ev.cx.integers(k, "a rank")?,
    };
    let (mono, left, right) = match k[..] {
        [k] => (k, k, k),
        [l, r] => (r, l, r),
        [m, l, r] => (m, l, r),
        _ => return Err(length("⍤ takes one, two or three ranks")),
    };
    let cell = |k: i64, r: usize| if k < 0 { (r as i64 + k).max(0) as usize } else { (k as usize).min(r) };
    match x {
        None => each_cell(ev, &func, y, cell(mono, y.rank())),
        Some(x) => pairs(ev, &func, (x, cell(left, x.rank())), (y, cell(right, y.rank()))),
    }
}

fn each_cell(ev: &mut Eval<'_>, f: &Rc<Func>, y: &Array, cell: usize) -> Result<Array> {
    if cell == y.rank() {
        return ev.apply(f, None, y);
    }
    if let (Func::Op1(Oper::Prim(p), g), 1) = (&**f, cell)
        && matches!(p.glyph, '/' | '⌿')
        && let (Some(op), true) = (scalar_op(g), y.is_uniform())
    {
        return ev.cx.reduce(op, y, y.rank() - 1);
    }
    let (frame, rows) = super::reduce::rows(ev, y, cell)?;
    let mut out = Vec::with_capacity(rows.len());
    for row in &rows {
        out.push(ev.apply(f, None, row)?);
    }
    joined(ev, &frame, out, y)
}

fn joined(ev: &mut Eval<'_>, frame: &[usize], out: Vec<Array>, y: &Array) -> Result<Array> {
    if out.is_empty() {
        return crate::prim::cells::empty(&ev.cx, frame, y.prototype());
    }
    // An enclosed result stays one item of its frame.
    let out: Vec<Array> = out.into_iter().map(|a| a.settled()).collect();
    if out.iter().all(|a| a.rank() == 0) {
        let items = out.into_iter().map(|a| a.disclosed()).collect();
        return super::reduce::finished(ev, frame, items, Array::num(0.0));
    }
    crate::prim::cells::mixed(&mut ev.cx, frame, &out, false)
}

fn pairs(ev: &mut Eval<'_>, f: &Rc<Func>, (x, xr): (&Array, usize), (y, yr): (&Array, usize)) -> Result<Array> {
    let (xf, xs) = super::reduce::rows(ev, x, xr)?;
    let (yf, ys) = super::reduce::rows(ev, y, yr)?;
    let frame: Shape = match (xf.is_empty(), yf.is_empty()) {
        (true, _) => yf,
        (_, true) => xf,
        _ if xf == yf => xf,
        _ if xf.len() != yf.len() => return Err(rank_error("the frames of X and Y differ in rank")),
        _ => return Err(length("the frames of X and Y differ in length")),
    };
    let n = crate::array::elements(&frame);
    let mut out = Vec::with_capacity(n);
    for k in 0..n {
        let pick = |v: &[Array]| if v.len() == 1 { v[0].clone() } else { v[k].clone() };
        out.push(ev.apply(f, Some(&pick(&xs)), &pick(&ys))?);
    }
    joined(ev, &frame, out, y)
}

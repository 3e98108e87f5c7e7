//! Arrays one after another: `X,Y` `X⍪Y`, along an axis or, between two axes, along a new one.

use super::cells;
use super::shape::{Axis, reshaped};
use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, index, length, rank};
use aplomb_values::array::{Array, Shape};
use aplomb_values::prim::moves::Move;

/// `X,Y`: side by side along the last axis, or along `axis`.
pub fn catenate_last(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    catenate(cx, x, y, axis, x.rank().max(y.rank()).max(1) - 1)
}

/// `X⍪Y`: one below the other along the first axis, or along `axis`.
pub fn catenate_first(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    catenate(cx, x, y, axis, 0)
}

fn catenate(
    cx: &mut Cx<'_>,
    x: &Array,
    y: &Array,
    axis: Axis<'_>,
    default: usize,
) -> Result<Array> {
    let r = x.rank().max(y.rank()).max(1);
    let mut at = default;
    let (mut x, mut y) = (x.clone(), y.clone());
    if let Some(k) = axis {
        let k = cx.one_number(k, "an axis")? - cx.sys.settings.io;
        if k.fract() != 0.0 {
            return laminate(cx, &x, &y, k);
        }
        at = k as usize;
        if k < 0.0 || at >= r {
            return Err(rank(format!("there is no such axis: the arguments have {r}")));
        }
    }
    if let Some(made) = ended(cx, &x, &y)? {
        return Ok(made);
    }
    if x.rank() == 0 && y.rank() == 0 {
        (x, y) = (reshaped(cx, &x, &[1])?, reshaped(cx, &y, &[1])?);
    }
    let unit = |cx: &mut Cx<'_>, a: &Array, like: &Array| -> Result<Array> {
        let mut shape: Shape = like.shape().into();
        if a.rank() == 0 {
            shape[at] = 1;
            return cx.apply_move(a, Move::spread(&[], &shape));
        }
        if a.rank() + 1 != like.rank() {
            return Err(rank("the ranks of X and Y differ by more than 1"));
        }
        let mut shape: Shape = a.shape().into();
        shape.insert(at, 1);
        reshaped(cx, a, &shape)
    };
    if x.rank() < y.rank() {
        x = unit(cx, &x, &y)?;
    } else if y.rank() < x.rank() {
        y = unit(cx, &y, &x)?;
    }
    let others = |a: &Array| -> Vec<usize> {
        a.shape().iter().enumerate().filter(|(k, _)| *k != at).map(|(_, &n)| n).collect()
    };
    if others(&x) != others(&y) {
        return Err(length("X and Y differ in length along an axis that is not joined"));
    }
    cells::join(cx, &[x, y], at)
}

/// `V,⊂A` of a long simple vector: its items stay where they are. None: they are others.
fn ended(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Option<Array>> {
    /// Fewer items are soon copied.
    const LONG: usize = 64;
    let simple = x.rank() == 1 && x.is_uniform() && x.frame().is_none() && x.len() >= LONG;
    if !simple || y.rank() != 0 || y.is_uniform() || y.frame().is_some() {
        return Ok(None);
    }
    let front = cx.ready(x, "argument")?;
    let last = cx.ready(y, "argument")?.disclosed();
    Array::ended(&front, last, cx.budget())
}

fn laminate(cx: &mut Cx<'_>, x: &Array, y: &Array, at: f64) -> Result<Array> {
    let like: Shape = if x.rank() >= y.rank() { x.shape().into() } else { y.shape().into() };
    if !(-1.0..=like.len() as f64).contains(&at) {
        return Err(index("there is no place for such an axis"));
    }
    let at = (at.floor() + 1.0) as usize;
    let mut parts = Vec::new();
    for a in [x, y] {
        let a = if a.rank() == 0 && !like.is_empty() {
            cx.apply_move(a, Move::spread(&[], &like))?
        } else {
            a.clone()
        };
        if a.rank() != like.len() {
            return Err(rank("X and Y differ in rank"));
        }
        if a.shape() != like.as_slice() {
            return Err(length("X and Y differ in length"));
        }
        let mut shape = like.clone();
        shape.insert(at, 1);
        parts.push(reshaped(cx, &a, &shape)?);
    }
    cells::join(cx, &parts, at)
}

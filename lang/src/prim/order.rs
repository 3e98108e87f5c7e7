//! Order: `⍋ ⍒`. Stable; numbers exactly, complex ones by real, then imaginary part, before characters; nested item by item, shorter first.

use super::search::{Key, keys};
use super::shape::Axis;
use crate::array::{Array, Complex64, elements};
use crate::error::{Result, nonce, rank};
use crate::eval::cx::Cx;
use std::cmp::Ordering;

/// The total order of arrays.
pub fn compare(a: &Array, b: &Array) -> Ordering {
    if a.is_simple_scalar() && b.is_simple_scalar() {
        return match (a.is_char(), b.is_char()) {
            (false, true) => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, false) => complex(a.complex_at(0).unwrap_or_default(), b.complex_at(0).unwrap_or_default()),
            (true, true) => a.to_chars().cmp(&b.to_chars()),
        };
    }
    for k in 0..a.len().min(b.len()) {
        let (x, y) = (a.item(k), b.item(k));
        let order = if x.is_simple_scalar() && y.is_simple_scalar() || !(a.is_simple_scalar() || b.is_simple_scalar()) {
            compare(&x, &y)
        } else {
            Ordering::Equal
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len()).then(a.rank().cmp(&b.rank())).then_with(|| a.shape().cmp(b.shape()))
}

fn number(x: f64, y: f64) -> Ordering {
    (x + 0.0).total_cmp(&(y + 0.0))
}

/// By real, then by imaginary part.
fn complex(x: Complex64, y: Complex64) -> Ordering {
    number(x.re, y.re).then(number(x.im, y.im))
}

/// Ranks of the major cells in ascending or descending order.
pub fn graded(cx: &mut Cx<'_>, y: &Array, down: bool) -> Result<Vec<usize>> {
    if y.rank() == 0 {
        return Err(rank("a scalar cannot be graded"));
    }
    let y = cx.ready(y, "grade")?;
    let n = y.shape()[0];
    let _held = cx.budget().charge_elements(n, 16)?;
    let mut out: Vec<usize> = (0..n).collect();
    let turn = |o: Ordering| if down { o.reverse() } else { o };
    if y.is_complex() {
        let items = y.to_complexes().unwrap_or_default();
        let m = elements(&y.shape()[1..]);
        let row = |k: usize| &items[k * m..(k + 1) * m];
        let order = |a: usize, b: usize| {
            row(a).iter().zip(row(b)).map(|(x, y)| complex(*x, *y)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
        };
        out.sort_by(|&a, &b| turn(order(a, b)));
        return Ok(out);
    }
    if y.is_uniform() {
        let items: Vec<f64> = if y.is_char() {
            y.to_chars().unwrap_or_default().iter().map(|&c| f64::from(u32::from(c))).collect()
        } else {
            y.to_numbers().unwrap_or_default()
        };
        let m = elements(&y.shape()[1..]);
        if m == 1 {
            out.sort_by(|&a, &b| turn(number(items[a], items[b])));
        } else {
            let row = |k: usize| &items[k * m..(k + 1) * m];
            let order = |a: usize, b: usize| {
                row(a).iter().zip(row(b)).map(|(x, y)| number(*x, *y)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
            };
            out.sort_by(|&a, &b| turn(order(a, b)));
        }
        return Ok(out);
    }
    let cells: Vec<Array> = keys(cx, &y, y.rank() - 1)?
        .into_iter()
        .map(|k| match k {
            Key::Num(x) => Array::num(x),
            Key::Complex(z) => Array::complex(z),
            Key::Char(c) => Array::char(c),
            Key::Cell(a) => a,
        })
        .collect();
    out.sort_by(|&a, &b| turn(compare(&cells[a], &cells[b])));
    Ok(out)
}

fn grade(cx: &mut Cx<'_>, y: &Array, down: bool) -> Result<Array> {
    let io = cx.sys.io;
    let order = graded(cx, y, down)?;
    cx.vector(order.into_iter().map(|k| k as f64 + io).collect())
}

pub fn up(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    grade(cx, y, false)
}

pub fn down(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    grade(cx, y, true)
}

/// `X⍋Y`: characters in the order of X, all others after.
fn collate(cx: &mut Cx<'_>, x: &Array, y: &Array, is_down: bool) -> Result<Array> {
    if x.rank() != 1 {
        return Err(nonce("collation by a table"));
    }
    let io = cx.sys.io;
    let at = super::search::index_of(cx, x, y, None)?;
    let order = graded(cx, &at, is_down)?;
    cx.vector(order.into_iter().map(|k| k as f64 + io).collect())
}

pub fn up_by(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    collate(cx, x, y, false)
}

pub fn down_by(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    collate(cx, x, y, true)
}

//! Places that are a straight line, which is a move, or surely none, which nobody needs to list.

use crate::eval::cx::{Cx, SMALL};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Data, View};
use aplomb_values::dag::{Node, kinds};
use aplomb_values::prim::op::Op;

/// First place and step of a pending vector that is a sum of multiples of one ⍳, all of whose
/// places are there.
pub fn progression(cx: &Cx<'_>, i: &Array, n: usize) -> Option<(i64, i64)> {
    let (first, step) = affine(i, 0)?;
    let (first, last) = (
        first - cx.sys.settings.io,
        first - cx.sys.settings.io + step * (i.len().max(1) - 1) as f64,
    );
    let inside = |x: f64| (0.0..n as f64).contains(&x) && x == x.trunc();
    (i.rank() == 1 && inside(first) && inside(last)).then_some((first as i64, step as i64))
}

/// The first item and the difference of a straight line, looked up in what is recorded.
fn affine(a: &Array, depth: usize) -> Option<(f64, f64)> {
    if let Some(x) = a.number_scalar().filter(|_| a.rank() == 0) {
        return Some((x, 0.0));
    }
    let cell = a.pending().filter(|_| depth < 16)?;
    let node = cell.node()?;
    let whole = |x: f64| x == x.trunc() && x.abs() < 1e15;
    let line = match &*node {
        Node::Iota(kinds::Iota { origin }) => Some((*origin, 1.0)),
        Node::Map(kinds::Map { op: Op::Neg, args, .. }) => {
            affine(&args[0], depth + 1).map(|(a, b)| (-a, -b))
        }
        Node::Map(kinds::Map { op: op @ (Op::Add | Op::Sub | Op::Mul), args, .. }) => {
            let ((a, b), (c, d)) = (affine(&args[0], depth + 1)?, affine(&args[1], depth + 1)?);
            match op {
                Op::Add => Some((a + c, b + d)),
                Op::Sub => Some((a - c, b - d)),
                _ if b == 0.0 => Some((a * c, a * d)),
                _ if d == 0.0 => Some((a * c, b * c)),
                _ => None,
            }
        }
        _ => None,
    };
    line.filter(|(a, b)| whole(*a) && whole(*b))
}

/// Whether whole numbers at hand, ⎕IO included, are all places of an axis of `n`, and no straight
/// line: nobody needs a list of them, they are read where they are used. Few are not asked.
pub fn are_scattered(cx: &Cx<'_>, i: &Array, n: usize) -> Result<bool> {
    fn all<T: Copy + Ord + Into<i64>>(
        items: &[T],
        ends: impl Fn(&[T]) -> (T, T),
        (low, high): (i64, i64),
        budget: &Budget,
    ) -> Result<bool> {
        let number = |x: &T| -> i64 { (*x).into() };
        let (first, step) = (number(&items[0]), number(&items[1]) - number(&items[0]));
        let on_line = |(k, x): (usize, &T)| number(x) == first + step * k as i64;
        if items.iter().enumerate().all(on_line) {
            return Ok(false);
        }
        for some in items.chunks(1 << 14) {
            budget.check()?;
            let (least, most) = ends(some);
            if number(&least) < low || number(&most) > high {
                return Ok(false);
            }
        }
        Ok(true)
    }
    let io = cx.sys.settings.io as i64;
    let Data::Dense(held) = i.data() else { return Ok(false) };
    if i.len() <= SMALL || i.pending().is_some() || !i.dtype().is_integer() {
        return Ok(false);
    }
    /// The least and the greatest, in lanes.
    fn ends<T: Copy + Ord>(some: &[T]) -> (T, T) {
        some.iter().fold((some[0], some[0]), |(a, b), x| (a.min(*x), b.max(*x)))
    }
    // Any machine has an instruction for that of bytes without a sign, and of words with one.
    let turned = |x: i8| x as u8 ^ 0x80;
    let of_bytes = |some: &[i8]| {
        let ends = |(a, b): (u8, u8), x: &i8| (a.min(turned(*x)), b.max(turned(*x)));
        let (least, most) = some.iter().fold((u8::MAX, 0), ends);
        ((least ^ 0x80) as i8, (most ^ 0x80) as i8)
    };
    let axis = (io, io + n as i64 - 1);
    match held.view() {
        View::I8(v) => all(v, of_bytes, axis, cx.budget()),
        View::I16(v) => all(v, ends, axis, cx.budget()),
        View::I32(v) => all(v, ends, axis, cx.budget()),
        _ => Ok(false),
    }
}

/// First and step, if the places are a straight line.
pub fn line(places: &[usize]) -> Option<(i64, i64)> {
    let first = *places.first()? as i64;
    let step = places.get(1).map_or(0, |&p| p as i64 - first);
    places
        .iter()
        .enumerate()
        .all(|(i, &p)| p as i64 == first + step * i as i64)
        .then_some((first, step))
}

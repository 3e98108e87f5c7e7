//! `X⍸Y`: the interval between bounds in which each item lies.

use super::order::compare;
use super::search::cell_arrays;
use super::shape::Axis;
use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, domain, length, rank};
use aplomb_values::array::{Array, DType};
use aplomb_values::prim::op::Op;

/// `X⍸Y`: how many of the ascending major cells of X are at most each cell of Y. Errors: RANK,
/// LENGTH, DOMAIN.
pub fn interval(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    if x.rank() == 0 {
        return Err(rank("the left argument of ⍸ is at least a vector"));
    }
    let x = cx.ready(x, "search")?;
    if let Some(made) = interval_of_few(cx, &x, y)? {
        return Ok(made);
    }
    let y = cx.ready(y, "search")?;
    let cell = x.rank() - 1;
    if y.rank() < cell {
        return Err(rank("Y has fewer axes than the cells of X"));
    }
    if y.shape()[y.rank() - cell..] != x.shape()[1..] {
        return Err(length("the cells of X and Y differ in length"));
    }
    if let Some(made) = interval_of_numbers(cx, &x, &y)? {
        return Ok(made);
    }
    let frame = y.shape()[..y.rank() - cell].to_vec();
    let (bounds, wanted) = (cell_arrays(cx, &x, cell)?, cell_arrays(cx, &y, cell)?);
    if bounds.windows(2).any(|w| compare(&w[0], &w[1]).is_gt()) {
        return Err(domain("the left argument of ⍸ must ascend"));
    }
    let io = cx.sys.settings.io;
    let place = |v: &Array| bounds.partition_point(|b| compare(b, v).is_le()) as f64 + io - 1.0;
    let places = cx.budget().each(wanted.iter().map(place))?;
    Array::numbers(frame.as_slice(), places, cx.budget())
}

/// True of an array of real numbers.
fn is_real(a: &Array) -> bool {
    a.is_uniform() && a.dtype().is_number() && a.dtype() != DType::Complex
}

/// True of numbers in order, none of them NaN.
fn ascends(bounds: &[f64]) -> bool {
    bounds.windows(2).all(|pair| pair[0] <= pair[1]) && bounds.first().is_some_and(|x| !x.is_nan())
}

/// Real numbers among so few bounds that each is compared with all of them: recorded, as the number
/// of bounds less that of those which a number lies before. A NaN lies before none and comes last,
/// as in the order of all numbers. None: there are others, or it is not worth recording.
fn interval_of_few(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Option<Array>> {
    /// The most bounds: a comparison costs less than a step of a search and its copies.
    const FEW: usize = 24;
    let few = x.rank() == 1 && x.len() <= FEW && is_real(x) && is_real(y);
    if !few || !cx.recordable(y) || !cx.records(&[y], y.len()) {
        return Ok(None);
    }
    let bounds = cx.numbers(x, "the left argument of ⍸")?;
    if !ascends(&bounds) {
        return Ok(None);
    }
    let last = bounds.len() as f64 + cx.sys.settings.io - 1.0;
    // The order of numbers knows no tolerance.
    let ct = std::mem::replace(&mut cx.sys.settings.ct, 0.0);
    let before = |cx: &mut Cx<'_>| {
        let mut sum = None;
        for bound in bounds {
            let less = cx.map2(Op::Lt, y, &Array::num(bound))?;
            sum = Some(match sum {
                Some(sum) => cx.map2(Op::Add, &sum, &less)?,
                None => less,
            });
        }
        sum.map(|sum| cx.map2(Op::Sub, &Array::num(last), &sum)).transpose()
    };
    let made = before(cx);
    cx.sys.settings.ct = ct;
    made
}

/// Numbers whose places are looked for side by side: a step of one waits for nothing of another.
const ABREAST: usize = 8;

/// The same for real numbers among the numbers of a vector. Which half a number lies in moves its
/// place by a product, not by a branch, so that all numbers of a group take the same steps. None:
/// there are others, or ones that have no order, or the vector does not ascend.
fn interval_of_numbers(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Option<Array>> {
    if x.rank() != 1 || !is_real(x) || !is_real(y) {
        return Ok(None);
    }
    let (bounds, mut places) =
        (cx.numbers(x, "the left argument of ⍸")?, cx.numbers(y, "the right argument of ⍸")?);
    if !ascends(&bounds) || places.iter().any(|v| v.is_nan()) {
        return Ok(None);
    }
    let before = cx.sys.settings.io - 1.0;
    for stretch in places.chunks_mut(ABREAST << 10) {
        cx.budget().check()?;
        for group in stretch.chunks_mut(ABREAST) {
            let mut wanted = [0.0; ABREAST];
            wanted[..group.len()].copy_from_slice(group);
            let (mut at, mut left) = ([0; ABREAST], bounds.len());
            while left > 0 {
                let half = left.div_ceil(2);
                for (at, v) in at.iter_mut().zip(wanted) {
                    *at += half * usize::from(bounds[*at + half - 1] <= v);
                }
                left -= half;
            }
            for (place, at) in group.iter_mut().zip(at) {
                *place = at as f64 + before;
            }
        }
    }
    Array::numbers(y.shape(), places, cx.budget()).map(Some)
}

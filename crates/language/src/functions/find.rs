//! `⍷`: the places where a pattern begins.
//!
//! | pattern | way |
//! |---|---|
//! | short, in a long vector | comparisons of moved items, recorded |
//! | whole numbers or characters, in a vector | one walk |
//! | any other | place by place |

use super::search::{ct_of, exact, key_equal, keys};
use super::shape::{Axis, take};
use crate::eval::cx::{Cx, SMALL};
use aplomb_ground::error::{Result, length};
use aplomb_values::array::{Array, Shape};
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::Ix;
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;

/// The places where a pattern begins, as 0 and 1, in one pass: where it fails after some items, its
/// longest beginning that also ends there goes on (Knuth, Morris and Pratt 1977).
fn found_at(cx: &mut Cx<'_>, pattern: &[i64], items: &[i64]) -> Result<Array> {
    let mut out = cx.budget().filled(0.0, items.len())?;
    let mut ticks = cx.budget().ticks();
    if pattern.is_empty() {
        out.fill(1.0);
        return cx.vector(out);
    }
    // For each beginning of the pattern: how much of it ends there again.
    let mut again = cx.budget().filled(0usize, pattern.len())?;
    let mut so_far = 0;
    for k in 1..pattern.len() {
        ticks.tick()?;
        while so_far > 0 && pattern[k] != pattern[so_far] {
            so_far = again[so_far - 1];
        }
        so_far += usize::from(pattern[k] == pattern[so_far]);
        again[k] = so_far;
    }
    so_far = 0;
    for (k, item) in items.iter().enumerate() {
        ticks.tick()?;
        while so_far > 0 && *item != pattern[so_far] {
            so_far = again[so_far - 1];
        }
        so_far += usize::from(*item == pattern[so_far]);
        if so_far == pattern.len() {
            out[k + 1 - pattern.len()] = 1.0;
            so_far = again[so_far - 1];
        }
    }
    cx.vector(out)
}

/// Items of a pattern whose comparisons are recorded; a longer one is gone along.
const PATTERN: usize = 16;

/// A short pattern in a long vector of its kind: a comparison for each of its items, moved by its
/// place, all of which must hold. None: others.
fn find_by_steps(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Option<Array>> {
    let plain = |a: &Array| a.is_uniform() && a.frame().is_none() && !a.is_complex();
    let (n, m) = (y.len(), x.len());
    let short = x.rank() < 2 && y.rank() == 1 && (1..=PATTERN).contains(&m) && m <= n;
    if !short || n <= SMALL || !plain(x) || !plain(y) || x.is_char() != y.is_char() {
        return Ok(None);
    }
    let pattern = cx.ready(x, "search")?;
    let mut all: Option<Array> = None;
    for k in 0..m {
        let shape: Shape = [n + 1 - m].as_slice().into();
        let read = Read::new([Ix::axis(0).offset(k as i64)]);
        let moved = cx.apply_move(y, Move { name: "↓", shape, read, onto: m == 1 })?;
        let own = cx.map2(Op::Eq, &moved, &pattern.item(k))?;
        all = Some(match all {
            None => own,
            Some(all) => cx.map2(Op::Lcm, &all, &own)?,
        });
    }
    let Some(all) = all else { return Ok(None) };
    take(cx, &Array::num(n as f64), &all, None).map(Some)
}

/// `X⍷Y`: where X begins in Y.
pub fn find(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    if let Some(made) = find_by_steps(cx, x, y)? {
        return Ok(made);
    }
    let (x, y) = (cx.ready(x, "search")?, cx.ready(y, "search")?);
    if x.rank() < 2
        && y.rank() == 1
        && let (Some(pattern), Some(items)) = (exact(&x, cx.budget())?, exact(&y, cx.budget())?)
    {
        return found_at(cx, &pattern, &items);
    }
    let mut out = cx.budget().filled(0.0, y.len())?;
    if x.rank() > y.rank() || y.is_empty() {
        return Array::numbers(y.shape(), out, cx.budget());
    }
    let lead = y.rank() - x.rank();
    let pattern: Vec<usize> =
        std::iter::repeat_n(1, lead).chain(x.shape().iter().copied()).collect();
    let (have, want) = (keys(cx, &y, 0)?, keys(cx, &x, 0)?);
    let ct = ct_of(cx, &x, &y);
    let strides = aplomb_values::array::strides(y.shape());
    let mut place = vec![0; y.rank()];
    let mut ticks = cx.budget().ticks();
    for (k, o) in out.iter_mut().enumerate() {
        ticks.tick()?;
        if place.iter().zip(&pattern).zip(y.shape()).all(|((p, m), n)| p + m <= *n) {
            let mut inner = vec![0; pattern.len()];
            let mut fits = true;
            for w in &want {
                ticks.tick()?;
                let at = k + inner.iter().zip(&strides).map(|(i, s)| i * s).sum::<usize>();
                aplomb_values::array::advance(&mut inner, &pattern);
                if !key_equal(&have[at], w, ct) {
                    fits = false;
                    break;
                }
            }
            *o = f64::from(u8::from(fits));
        }
        aplomb_values::array::advance(&mut place, y.shape());
    }
    if lead > y.rank() {
        return Err(length("X is larger than Y"));
    }
    Array::numbers(y.shape(), out, cx.budget())
}

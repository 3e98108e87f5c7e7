//! Values as text: `⍕`.

use super::shape::Axis;
use crate::array::{Array, format};
use crate::error::{Result, domain, length};
use crate::eval::cx::Cx;

pub fn format(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    let y = cx.ready(y, "⍕")?;
    if y.is_uniform() && y.is_char() {
        return Ok(y);
    }
    if y.is_empty() && y.rank() > 1 {
        let mut shape: crate::array::Shape = y.shape().into();
        if let Some(last) = shape.last_mut() {
            *last = 0;
        }
        return Array::chars(shape, vec![], cx.budget());
    }
    let grid = format::grid(&y, cx.sys.pp);
    if y.rank() < 2 && grid.len() == 1 {
        return cx.text(&grid[0]);
    }
    let width = grid.iter().map(|r| r.chars().count()).max().unwrap_or(0);
    let mut chars = Vec::with_capacity(width * grid.len());
    for row in &grid {
        let before = chars.len();
        chars.extend(row.chars());
        chars.resize(before + width, ' ');
    }
    let mut shape: crate::array::Shape =
        if y.rank() > 2 && y.is_simple() { y.shape()[..y.rank() - 1].into() } else { [grid.len()].as_slice().into() };
    if y.rank() > 2 && y.is_simple() {
        // Blank lines between planes are for display only.
        let keep = grid.iter().any(|r| r.trim().is_empty());
        if keep {
            chars.clear();
            for row in grid.iter().filter(|r| !r.is_empty()) {
                let before = chars.len();
                chars.extend(row.chars());
                chars.resize(before + width, ' ');
            }
        }
    }
    shape.push(width);
    if crate::array::elements(&shape) != chars.len() {
        return Err(domain("⍕ of this array is not in Aplomb yet"));
    }
    Array::chars(shape, chars, cx.budget())
}

/// `w d⍕Y` and `d⍕Y`.
pub fn format_by(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    let by = cx.integers(x, "the left argument of ⍕")?;
    let numbers = cx.numbers(y, "the right argument of ⍕")?;
    let (w, d) = match by[..] {
        [d] => (0, d),
        [w, d] => (w, d),
        _ => return Err(length("⍕ takes one width and one count of decimals")),
    };
    if w < 0 || d.abs() > 300 || w > 10_000 {
        return Err(domain("this width or count of decimals is beyond what ⍕ takes"));
    }
    let text: Vec<String> = numbers.iter().map(|&v| fixed(v, d)).collect();
    let columns = y.shape().last().copied().unwrap_or(1).max(1);
    let widest = |c: usize| text.iter().skip(c).step_by(columns).map(|t| t.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> =
        (0..columns).map(|c| if w > 0 { w as usize } else { widest(c) + usize::from(c > 0) }).collect();
    let mut out = Vec::new();
    for (k, t) in text.iter().enumerate() {
        let width = widths[k % columns];
        let n = t.chars().count();
        if n > width {
            out.extend(std::iter::repeat_n('*', width));
        } else {
            out.extend(std::iter::repeat_n(' ', width - n));
            out.extend(t.chars());
        }
    }
    let mut shape: crate::array::Shape = y.shape().into();
    shape.pop();
    shape.push(widths.iter().sum());
    if y.is_empty() {
        return cx.text("");
    }
    Array::chars(shape, out, cx.budget())
}

fn fixed(v: f64, d: i64) -> String {
    let text = if d >= 0 {
        let text = format!("{v:.*}", d as usize);
        if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
            text.trim_start_matches('-').to_string()
        } else {
            text
        }
    } else {
        format!("{v:.*E}", (-d - 1).max(0) as usize)
    };
    text.replace('-', "¯")
}

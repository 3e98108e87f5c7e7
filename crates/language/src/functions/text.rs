//! Values as text: `⍕`.

use super::shape::Axis;
use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, domain, length, rank};
use aplomb_values::array::{Array, format};

/// `⍕Y`: the text that Y prints.
pub fn format(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    let y = cx.ready(y, "⍕")?;
    if y.is_uniform() && y.is_char() {
        return Ok(y);
    }
    if y.is_empty() && y.rank() > 1 {
        let mut shape: aplomb_values::array::Shape = y.shape().into();
        if let Some(last) = shape.last_mut() {
            *last = 0;
        }
        return Array::chars(shape, vec![], cx.budget());
    }
    let grid = format::grid(&y, cx.sys.settings.pp, cx.budget())?;
    if y.rank() < 2 && grid.len() == 1 {
        return cx.text(&grid[0]);
    }
    let width = grid.iter().map(|r| r.chars().count()).max().unwrap_or(0);
    let mut chars = cx.budget().room(width.saturating_mul(grid.len()))?;
    for row in &grid {
        let before = chars.len();
        chars.extend(row.chars());
        chars.resize(before + width, ' ');
    }
    let mut shape: aplomb_values::array::Shape = if y.rank() > 2 && y.is_simple() {
        y.shape()[..y.rank() - 1].into()
    } else {
        [grid.len()].as_slice().into()
    };
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
    if aplomb_values::array::elements(&shape) != chars.len() {
        return Err(domain("⍕ of this array is not in Aplomb yet"));
    }
    Array::chars(shape, chars, cx.budget())
}

/// `w d⍕Y` and `d⍕Y`; a pair for each column of the last axis, or one for all. A width of 0 is as
/// wide as the column, with a blank before it. What does not fit is stars. Errors: RANK, LENGTH,
/// DOMAIN.
pub fn format_by(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    if x.rank() > 1 {
        return Err(rank("the left argument of ⍕ is a vector"));
    }
    let by = cx.integers(x, "the left argument of ⍕")?;
    let numbers = cx.numbers(y, "the right argument of ⍕")?;
    let columns = y.last_extent();
    let pair = |c: usize| match by[..] {
        [d] => (0, d),
        [w, d] => (w, d),
        _ => (by[2 * c], by[2 * c + 1]),
    };
    if !matches!(by.len(), 1 | 2) && by.len() != 2 * columns {
        return Err(length(
            "⍕ takes a count of decimals, a width with one, or such a pair for each column",
        ));
    }
    if (0..columns).map(pair).any(|(w, d)| !(0..=10_000).contains(&w) || d.abs() > 300) {
        return Err(domain("this width or count of decimals is beyond what ⍕ takes"));
    }
    let _held = cx.budget().charge_elements(numbers.len(), 48)?;
    let mut ticks = cx.budget().ticks();
    let text = numbers
        .iter()
        .enumerate()
        .map(|(k, &v)| ticks.tick().map(|()| fixed(v, pair(k % columns).1)));
    let text = text.collect::<Result<Vec<String>>>()?;
    let widest = |c: usize| {
        text.iter().skip(c).step_by(columns).map(|t| t.chars().count()).max().unwrap_or(0)
    };
    let width = |c: usize| match pair(c).0 {
        0 => widest(c) + 1,
        w => w as usize,
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut shape: aplomb_values::array::Shape = y.shape().into();
    shape.pop();
    shape.push(widths.iter().sum());
    let mut out = cx.budget().room(aplomb_values::array::checked_elements(&shape)?)?;
    for (k, t) in text.iter().enumerate() {
        ticks.tick()?;
        let (n, width) = (t.chars().count(), widths[k % columns]);
        if n > width {
            out.extend(std::iter::repeat_n('*', width));
        } else {
            out.extend(std::iter::repeat_n(' ', width - n));
            out.extend(t.chars());
        }
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

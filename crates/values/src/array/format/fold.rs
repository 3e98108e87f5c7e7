//! Rows to lines: folding at ⎕PW, leaving out the middle of what is huge.

use super::boxed::{self, Boxes};
use super::grid::{self, Grid};
use super::shape_text;
use crate::array::{Array, elements};
use crate::prim::moves::gather;
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;

/// The way in which values print.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Significant digits (⎕PP).
    pub pp: usize,
    /// Columns of a line (⎕PW).
    pub pw: usize,
    /// Lines before the middle is left out; 0 = all.
    pub lines: usize,
    /// The boxes around nested items.
    pub boxes: Boxes,
    /// The fate of rows that are too wide.
    pub long: Long,
    /// The number of the first place along an axis (⎕IO).
    pub io: usize,
}

/// The fate of rows wider than ⎕PW (`]rows`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Long {
    /// They go on below.
    #[default]
    Fold,
    /// They stay as long as they are.
    Whole,
    /// They end in `…`.
    Cut,
}

/// The text of a ready value, each line ended. Errors: WS FULL, INTERRUPT.
pub fn display(a: &Array, style: &Style, budget: &Budget) -> Result<String> {
    let lines = match (style.boxes, style.long) {
        (Boxes::Off, Long::Fold) => cut(a, style, budget)?,
        _ => shaped(a, style, budget)?,
    };
    let mut out = String::new();
    budget.grow(&mut out, lines.iter().map(|l| l.len() + 1).sum())?;
    for line in lines {
        out.push_str(&line);
        out.push('\n');
    }
    Ok(out)
}

/// As the session's `]box` and `]rows` want it.
fn shaped(a: &Array, style: &Style, budget: &Budget) -> Result<Vec<String>> {
    let pw = if style.long == Long::Fold { style.pw } else { usize::MAX };
    let lines = match boxed::rows(a, style.boxes, style.pp)? {
        Some(rows) => {
            let says =
                |what: String| format!("      … {what} left out; )limits lines 0 prints all");
            let rows = folded(Grid { rows, breaks: vec![] }, pw, budget)?;
            if style.lines > 1 { shortened(rows, style.lines, &says) } else { rows }
        }
        None => cut(a, &Style { pw, ..*style }, budget)?,
    };
    if style.long != Long::Cut {
        return Ok(lines);
    }
    let end = |line: String| match line.chars().count() > style.pw {
        true => line.chars().take(style.pw.saturating_sub(1)).chain(['…']).collect(),
        false => line,
    };
    Ok(lines.into_iter().map(end).collect())
}

fn cut(a: &Array, style: &Style, budget: &Budget) -> Result<Vec<String>> {
    let half = style.lines / 2;
    let rows = if a.rank() < 2 { 1 } else { elements(&a.shape()[..a.rank() - 1]) };
    let most = half.saturating_mul(style.pw);
    let left_out = |what: String| {
        format!(
            "      … {what} left out; shape {}; )limits lines 0 prints all",
            shape_text(a.shape())
        )
    };
    let part = |a: &Array| folded(grid::within(a, style.pp, budget)?, style.pw, budget);
    if half > 0 && a.rank() == 1 && a.len() > most.saturating_mul(2) {
        let n = a.len();
        let mut head = part(&slice(a, 0, most, &[most], budget)?)?;
        let mut tail = part(&slice(a, n - most, most, &[most], budget)?)?;
        head.truncate(half);
        let skip = tail.len().saturating_sub(half);
        head.push(left_out("items".to_string()));
        head.extend(tail.drain(skip..));
        return Ok(head);
    }
    if half > 0 && rows > style.lines && a.rank() >= 2 {
        let width = a.last_extent();
        if width > 0 && a.is_simple() {
            let some = |from: usize| slice(a, from, half * width, &[half, width], budget);
            let mut head = part(&some(0)?)?;
            let tail = part(&some(a.len() - half * width)?)?;
            head.push(left_out(format!("{} rows", rows - 2 * half)));
            head.extend(tail);
            return Ok(shortened(head, style.lines + 1, &left_out));
        }
    }
    let lines = folded(grid::within(a, style.pp, budget)?, style.pw, budget)?;
    Ok(if half > 0 { shortened(lines, style.lines, &left_out) } else { lines })
}

fn shortened(
    mut lines: Vec<String>,
    most: usize,
    left_out: &dyn Fn(String) -> String,
) -> Vec<String> {
    if lines.len() <= most.max(2) + 1 {
        return lines;
    }
    let half = most / 2;
    let tail = lines.split_off(lines.len() - half);
    let n = lines.len() - half;
    lines.truncate(half);
    lines.push(left_out(format!("{n} lines")));
    lines.extend(tail);
    lines
}

fn slice(a: &Array, from: usize, n: usize, shape: &[usize], budget: &Budget) -> Result<Array> {
    let places = budget.each((from..from + n).map(Ok))?;
    gather(a, shape, &places, budget)
}

/// The columns that a row takes on a terminal: what sets colours takes none.
fn seen(row: &str) -> usize {
    let mut pieces = row.split('\u{1b}');
    let first = pieces.next().map_or(0, |piece| piece.chars().count());
    let behind = |piece: &str| piece.split_once('m').map_or(0, |(_, text)| text.chars().count());
    first + pieces.map(behind).sum::<usize>()
}

/// A place to cut a row at, behind a cut at `from`: before what sets a colour, where it lies inside
/// of that.
fn before_colour(row: &[char], from: usize, at: usize) -> usize {
    let open = |begun: Option<usize>, k: usize| match row[k] {
        '\u{1b}' => Some(k),
        'm' => None,
        _ => begun,
    };
    let begun = (from..at.min(row.len())).fold(None, open);
    begun.filter(|k| *k > from).map_or(at, |begun| begun)
}

/// Rows wider than `pw` go on below, indented by six. Errors: WS FULL, INTERRUPT.
fn folded(g: Grid, pw: usize, budget: &Budget) -> Result<Vec<String>> {
    if g.rows.iter().all(|r| seen(r) <= pw) {
        return Ok(g.rows);
    }
    let mut ticks = budget.ticks();
    // As many as there are: half as much again of a wide display is hundreds of megabytes.
    let chars = |row: &String| {
        let own = budget.each(row.chars())?;
        Ok(own)
    };
    let rows = budget.all(g.rows.iter().map(chars))?;
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut cuts = vec![0];
    let mut next = 0;
    while let Some(&from) = cuts.last()
        && width - from > if from == 0 { pw } else { pw.saturating_sub(6).max(1) }
    {
        let room = if from == 0 { pw } else { pw.saturating_sub(6).max(1) };
        // The last break that fits; a blank before it may hang over the edge.
        while g.breaks.get(next).is_some_and(|&b| b <= from + room + 1) {
            next += 1;
        }
        let at =
            next.checked_sub(1).map(|k| g.breaks[k]).filter(|&b| b > from).unwrap_or(from + room);
        let at = match rows.as_slice() {
            [row] => before_colour(row, from, at),
            _ => at,
        };
        ticks.tick()?;
        budget.widen(&mut cuts, 1)?;
        cuts.push(at);
    }
    cuts.push(width);
    let mut out = budget.room((cuts.len() - 1).saturating_mul(rows.len()))?;
    for (k, w) in cuts.windows(2).enumerate() {
        for row in &rows {
            let part: String = row[w[0].min(row.len())..w[1].min(row.len())].iter().collect();
            let part = if k + 2 < cuts.len() && rows.len() == 1 {
                part.trim_end_matches(' ').to_string()
            } else {
                part
            };
            ticks.tick()?;
            out.push(if k == 0 { part } else { format!("      {part}") });
        }
    }
    Ok(out)
}

//! Nested arrays in boxes, as `]box` and `]display` show them.
//!
//! Min: lines between the items of nested arrays. Mid: the same, with marks on the lines. Max:
//! every array in a frame of its own. Marks: → ↓ axes, ⊖ ⌽ empty ones, ~ numbers, + mixed, ∊
//! nested. Namespaces are tables of what is in them.

use super::grid::blanks_before;
use super::layout::{self, Face, Kind, Layout};
use crate::array::Array;
use aplomb_ground::error::Result;

/// The boxes around nested items (`]box`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Boxes {
    /// No boxes.
    #[default]
    Off,
    /// Lines between items.
    Min,
    /// Lines between items, with marks of rank and type.
    Mid,
    /// A frame around each array, with marks of rank and type.
    Max,
}

/// Deeper or larger arrays print without boxes.
const DEEPEST: u32 = 60;
const MOST: u64 = 100_000;

type Block = Vec<Vec<char>>;

/// The rows of a picture in boxes; None where the array prints as it does without. Errors: WS FULL,
/// INTERRUPT.
pub fn rows(a: &Array, boxes: Boxes, pp: usize) -> Result<Option<Vec<String>>> {
    let mut a = &a.settled();
    let opened = if boxes == Boxes::Off { None } else { layout::opened_spaces(a)? };
    a = opened.as_ref().map_or(a, |opened| opened);
    let plain = a.is_simple_scalar() && boxes != Boxes::Max
        || a.depth() > DEEPEST
        || a.nodes().saturating_add(a.len() as u64) > MOST;
    let block = match boxes {
        _ if plain => return Ok(None),
        Boxes::Off => return Ok(None),
        Boxes::Max => framed(&layout::whole(a, pp, true)?),
        _ if a.is_simple() => return Ok(None),
        Boxes::Min => celled(&layout::whole(a, pp, false)?, false),
        Boxes::Mid => celled(&layout::whole(a, pp, true)?, true),
    };
    Ok(Some(block.into_iter().map(|row| row.into_iter().collect()).collect()))
}

/// The block of what prints by itself; nothing of what is not shown.
fn written(face: &Face) -> Block {
    let rows = match face {
        Face::Written(grid) => grid.rows.as_slice(),
        _ => &[],
    };
    padded(rows.iter().map(|r| r.chars().collect()).collect(), 0, 0)
}

/// At least so many rows and columns, all rows equally long.
fn padded(mut b: Block, height: usize, width: usize) -> Block {
    let width = b.iter().map(Vec::len).max().unwrap_or(0).max(width);
    b.iter_mut().for_each(|r| r.resize(width, ' '));
    let height = b.len().max(height);
    b.resize(height, vec![' '; width]);
    b
}

/// A frame with its marks around a block; one left side for each axis but the last.
fn frame(inner: Block, of: &Layout) -> Block {
    let inner = padded(inner, 1, 1);
    let width = inner[0].len();
    let mut sides = of.axes();
    let last = sides.pop().map_or('─', |mark| mark);
    if sides.is_empty() {
        sides.push('│');
    }
    let line = |corner: char, mark: char, end: char| {
        let mut row = vec![corner; sides.len()];
        row.push(mark);
        row.extend(std::iter::repeat_n('─', width - 1));
        row.push(end);
        row
    };
    let mut out = vec![line('┌', last, '┐')];
    for (k, row) in inner.into_iter().enumerate() {
        let mut line = if k == 0 { sides.clone() } else { vec!['│'; sides.len()] };
        line.extend(row);
        line.push('│');
        out.push(line);
    }
    out.push(line('└', of.kind.mark(), '┘'));
    out
}

fn framed(of: &Layout) -> Block {
    if of.is_scalar() {
        let mut rows = written(&of.face);
        rows.insert(0, vec![]);
        rows.push(if of.kind == Kind::Characters { vec!['-'] } else { vec![] });
        return padded(rows, 3, 1);
    }
    let Face::Items(items) = &of.face else { return frame(written(&of.face), of) };
    let (rows, columns) = (of.down.len(), of.across.len());
    let cells: Vec<Block> = items.iter().map(framed).collect();
    let mut inner: Block = Vec::new();
    for r in 0..rows {
        if of.parts(r) {
            inner.push(Vec::new());
        }
        let height = (0..columns).map(|c| cells[r * columns + c].len()).max().unwrap_or(1);
        let from = inner.len();
        inner.resize(from + height, vec![' ']);
        for c in 0..columns {
            let width = (0..rows).map(|r| width(&cells[r * columns + c])).max().unwrap_or(0);
            let cell = padded(cells[r * columns + c].clone(), height, width);
            for (line, part) in inner[from..].iter_mut().zip(cell) {
                line.extend(part);
                line.push(' ');
            }
        }
    }
    frame(inner, of)
}

fn width(b: &Block) -> usize {
    b.first().map_or(0, Vec::len)
}

/// Marks of the axes: down the left, along the top.
fn axes(of: &Layout, marks: bool) -> (char, char) {
    match of.axes().as_slice() {
        _ if !marks => ('│', '─'),
        [] => ('│', '─'),
        [along] => ('│', *along),
        [down, along] => (*down, *along),
        [.., along] => ('⍒', *along),
    }
}

/// Lines between items; a simple array has none of its own. Each plane is a box.
fn celled(of: &Layout, marks: bool) -> Block {
    let Face::Items(items) = &of.face else { return written(&of.face) };
    let (rows, columns) = (of.down.len(), of.across.len());
    let cells: Vec<Block> = items.iter().map(|i| padded(celled(i, marks), 1, 0)).collect();
    let widths: Vec<usize> = (0..columns)
        .map(|c| (0..rows).map(|r| width(&cells[r * columns + c])).max().unwrap_or(0))
        .collect();
    let plane = match of.shape.as_slice() {
        [_, .., rows, _] => (*rows).max(1),
        _ => rows.max(1),
    };
    let mut out = Block::new();
    for from in (0..rows).step_by(plane) {
        // Planes touch; a blank line stands between larger parts.
        out.extend((1..blanks_before(from, &of.shape)).map(|_| Vec::new()));
        let own = from * columns..(from + plane).min(rows) * columns;
        out.extend(table(of, &items[own.clone()], &cells[own], &widths, marks));
    }
    out
}

/// The rows of one plane between lines.
fn table(of: &Layout, items: &[Layout], cells: &[Block], widths: &[usize], marks: bool) -> Block {
    let columns = widths.len();
    let rows = items.len() / columns.max(1);
    let at = |r: usize, c: usize| r * columns + c;
    let heights: Vec<usize> =
        (0..rows).map(|r| (0..columns).map(|c| cells[at(r, c)].len()).max().unwrap_or(1)).collect();
    let (down, along) = axes(of, marks);
    let mut top = vec!['┌'];
    for (c, w) in widths.iter().enumerate() {
        top.extend(std::iter::repeat_n('─', *w));
        top.push(if c + 1 == columns { '┐' } else { '┬' });
    }
    if widths.first().is_some_and(|w| *w > 0) {
        top[1] = along;
    }
    let mut out = vec![top];
    for r in 0..rows {
        let mut lines: Block = vec![vec!['│']; heights[r]];
        let mut below = vec![if r + 1 == rows { '└' } else { '├' }];
        for c in 0..columns {
            let item = &items[at(r, c)];
            let (right, under) = axes(item, marks);
            let cell = padded(cells[at(r, c)].clone(), heights[r], widths[c]);
            let last = lines.len() - 1;
            for (k, (line, part)) in lines.iter_mut().zip(cell).enumerate() {
                line.extend(part);
                line.push(if k == last { right } else { '│' });
            }
            let mut edge = vec!['─'; widths[c]];
            let is_nested = matches!(item.face, Face::Items(_));
            if let (true, false, Some(first)) = (marks, is_nested, edge.first_mut()) {
                *first = item.kind.mark();
            }
            if let Some(end) = edge.last_mut() {
                *end = under;
            }
            below.extend(edge);
            below.push(match (r + 1 == rows, c + 1 == columns) {
                (true, true) => '┘',
                (true, false) => '┴',
                (false, true) => '┤',
                (false, false) => '┼',
            });
        }
        if r == 0
            && let Some(line) = lines.first_mut()
        {
            line[0] = down;
        }
        out.extend(lines);
        out.push(below);
    }
    out
}

//! Nested arrays in boxes, as `]box` and `]display` show them.
//!
//! Min: lines between the items of nested arrays. Mid: the same, with marks on the lines. Max:
//! every array in a frame of its own. Marks: → ↓ axes, ⊖ ⌽ empty ones, ~ numbers, + mixed, ∊
//! nested.

use super::grid;
use crate::array::{Array, Data, elements};

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

/// The rows of a picture in boxes; None where the array prints as it does without.
pub fn rows(a: &Array, boxes: Boxes, pp: usize) -> Option<Vec<String>> {
    let a = &a.settled();
    let plain = a.is_simple_scalar()
        || a.depth() > DEEPEST
        || a.nodes().saturating_add(a.len() as u64) > MOST;
    let block = match boxes {
        _ if plain => return None,
        Boxes::Off => return None,
        Boxes::Max => framed(a, pp),
        _ if a.is_simple() => return None,
        Boxes::Min => celled(a, false, pp),
        Boxes::Mid => celled(a, true, pp),
    };
    Some(block.into_iter().map(|row| row.into_iter().collect()).collect())
}

fn block(rows: Vec<String>) -> Block {
    let rows: Block = rows.into_iter().map(|r| r.chars().collect()).collect();
    padded(rows, 0, 0)
}

/// At least so many rows and columns, all rows equally long.
fn padded(mut b: Block, height: usize, width: usize) -> Block {
    let width = b.iter().map(Vec::len).max().unwrap_or(0).max(width);
    b.iter_mut().for_each(|r| r.resize(width, ' '));
    let height = b.len().max(height);
    b.resize(height, vec![' '; width]);
    b
}

/// With no axis of length 0: what is not there shows as its prototype.
fn opened(a: &Array) -> Array {
    if !a.is_empty() {
        return a.clone();
    }
    let shape: Vec<usize> = a.shape().iter().map(|n| (*n).max(1)).collect();
    let proto = a.prototype();
    let budget = aplomb_ground::limits::Budget::new(u64::MAX);
    let items = vec![proto; elements(&shape).min(1_000)];
    match elements(&shape) {
        n if n > 1_000 => a.clone(),
        _ => Array::collect(shape.as_slice(), items, None, &budget).unwrap_or_else(|_| a.clone()),
    }
}

/// `~` numbers, `─` characters, `+` both.
fn kind(a: &Array) -> char {
    let sample = opened(a);
    match sample.data() {
        Data::Items(items) if sample.is_simple() => {
            let (mut chars, mut numbers) = (false, false);
            items
                .all()
                .iter()
                .for_each(|i| if i.is_char() { chars = true } else { numbers = true });
            match (chars, numbers) {
                (true, true) => '+',
                (true, false) => '─',
                _ => '~',
            }
        }
        Data::Items(_) => '∊',
        _ if sample.is_char() => '─',
        _ => '~',
    }
}

fn axis(n: usize, there: char, empty: char) -> char {
    if n > 0 { there } else { empty }
}

/// A frame with its marks around a block; one left side for each axis but the last.
fn frame(inner: Block, kind: char, shape: &[usize]) -> Block {
    let inner = padded(inner, 1, 1);
    let width = inner[0].len();
    let (last, before) = match shape.split_last() {
        Some((n, before)) => (axis(*n, '→', '⊖'), before),
        None => ('─', shape),
    };
    let sides: Vec<char> = match before {
        [] => vec!['│'],
        all => all.iter().map(|n| axis(*n, '↓', '⌽')).collect(),
    };
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
    out.push(line('└', kind, '┘'));
    out
}

fn framed(a: &Array, pp: usize) -> Block {
    let a = &a.settled();
    if a.is_simple_scalar() {
        let mut rows = block(grid::of(a, pp).rows);
        rows.insert(0, vec![]);
        rows.push(if a.is_char() { vec!['-'] } else { vec![] });
        return padded(rows, 3, 1);
    }
    if a.is_simple() {
        let inner = block(grid::of(&opened(a), pp).rows);
        return frame(inner, kind(a), a.shape());
    }
    let whole = opened(a);
    let (rows, columns) = table_of(&whole);
    let cells: Vec<Block> = whole.to_items().iter().map(|i| framed(i, pp)).collect();
    let mut inner: Block = Vec::new();
    for r in 0..rows {
        if r > 0 && whole.rank() > 2 && r % whole.shape()[whole.rank() - 2] == 0 {
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
    frame(inner, '∊', a.shape())
}

fn width(b: &Block) -> usize {
    b.first().map_or(0, Vec::len)
}

/// Rows and columns of an array laid out as one table.
fn table_of(a: &Array) -> (usize, usize) {
    let columns = a.shape().last().copied().unwrap_or(1);
    (if a.rank() == 0 { 1 } else { elements(&a.shape()[..a.rank() - 1]) }, columns)
}

/// Marks of the axes: down the left, along the top.
fn axes(a: &Array, marks: bool) -> (char, char) {
    match a.shape() {
        _ if !marks => ('│', '─'),
        [] => ('│', '─'),
        [n] => ('│', axis(*n, '→', '⊖')),
        [rows, n] => (axis(*rows, '↓', '⌽'), axis(*n, '→', '⊖')),
        [.., n] => ('⍒', axis(*n, '→', '⊖')),
    }
}

/// Lines between items; a simple array has none of its own.
fn celled(a: &Array, marks: bool, pp: usize) -> Block {
    let a = &a.settled();
    if a.is_simple() {
        let shown = if marks { opened(a) } else { a.clone() };
        return block(grid::of(&shown, pp).rows);
    }
    if a.is_empty() && !marks {
        return vec![Vec::new()];
    }
    let whole = opened(a);
    let (rows, columns) = table_of(&whole);
    let items = whole.to_items();
    let cells: Vec<Block> = items.iter().map(|i| padded(celled(i, marks, pp), 1, 0)).collect();
    let at = |r: usize, c: usize| r * columns + c;
    let heights: Vec<usize> =
        (0..rows).map(|r| (0..columns).map(|c| cells[at(r, c)].len()).max().unwrap_or(1)).collect();
    let widths: Vec<usize> = (0..columns)
        .map(|c| (0..rows).map(|r| width(&cells[at(r, c)])).max().unwrap_or(0))
        .collect();
    let (down, along) = axes(a, marks);
    let mut top = vec!['┌'];
    for (c, w) in widths.iter().enumerate() {
        top.extend(std::iter::repeat_n('─', *w));
        top.push(if c + 1 == columns { '┐' } else { '┬' });
    }
    if top.len() > 2 {
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
            if let (true, false, Some(first)) = (marks, nested(item), edge.first_mut()) {
                *first = kind(item);
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

fn nested(a: &Array) -> bool {
    !a.is_simple()
}

//! Arrays as rows of text: columns justified, nested items as blocks.

use super::{complex, complex_column, is_int, numeral, scaled_column};
use crate::array::{Array, Complex64, Data, elements};
use aplomb_ground::error::{Result, bug};
use aplomb_ground::limits::Budget;

/// Rows, and the character offsets where a fold may cut them.
pub struct Grid {
    pub rows: Vec<String>,
    pub breaks: Vec<usize>,
}

impl Grid {
    /// The texts of each row between its breaks, as wide as their column; the blank that sets
    /// columns apart belongs to none.
    pub fn cells(&self) -> Vec<Vec<String>> {
        let starts: Vec<usize> = [0].into_iter().chain(self.breaks.iter().copied()).collect();
        let cut = |row: &String| -> Vec<String> {
            let chars: Vec<char> = row.chars().collect();
            let end =
                |k: usize| starts.get(k + 1).copied().map_or(chars.len(), |e| e.min(chars.len()));
            let piece =
                |(k, from): (usize, &usize)| chars[(*from).min(end(k))..end(k)].iter().collect();
            starts.iter().enumerate().map(piece).collect()
        };
        let mut rows: Vec<Vec<String>> = self.rows.iter().map(cut).collect();
        for column in 0..self.breaks.len() {
            let gap = |row: &Vec<String>| row[column].len() > 1 && row[column].ends_with(' ');
            if rows.iter().all(gap) {
                for row in &mut rows {
                    row[column].pop();
                }
            }
        }
        rows
    }
}

enum Cell {
    /// Before and from the decimal point.
    Num(String, String),
    Char(char),
    Block(Vec<String>, usize),
}

impl Cell {
    fn width(&self) -> usize {
        match self {
            Cell::Num(a, b) => a.chars().count() + b.chars().count(),
            Cell::Char(_) => 1,
            Cell::Block(_, w) => *w,
        }
    }
}

/// The rows of a small array, whose making asks no budget and cannot be stopped. Errors: INTERNAL.
pub fn of(a: &Array, pp: usize) -> Result<Grid> {
    within(a, pp, &Budget::new(u64::MAX))
}

/// Bytes of texts and their tables that an item of a row needs, and one of a matrix.
const IN_A_ROW: usize = 24;
const IN_A_COLUMN: usize = 160;

/// The rows of a ready array. Errors: WS FULL, INTERRUPT.
pub fn within(a: &Array, pp: usize, budget: &Budget) -> Result<Grid> {
    let a = a.settled();
    if a.pending().is_some() || a.frame().is_some() {
        return Err(bug!("a value is shown that is not there"));
    }
    if let Some(to) = a.to_reference() {
        return Ok(Grid { rows: vec![to.name()], breaks: vec![] });
    }
    if a.is_empty() && a.rank() > 1 {
        // Rows of nothing: as many as anyone may want to see.
        let rows = elements(&a.shape()[..a.rank() - 1]).min(1_000);
        return Ok(Grid { rows: vec![String::new(); rows], breaks: vec![] });
    }
    if a.is_uniform() && a.is_char() {
        let _held = budget.charge_elements(a.len(), 8)?;
        return characters(&a, budget);
    }
    if a.is_uniform() && a.rank() < 2 {
        let _held = budget.charge_elements(a.len(), IN_A_ROW)?;
        return numbers(&a, pp, budget);
    }
    let _held = budget.charge_elements(a.len(), IN_A_COLUMN)?;
    let columns = a.last_extent();
    let rows = if a.rank() == 0 { 1 } else { elements(&a.shape()[..a.rank() - 1]) };
    let laid = (0..columns)
        .map(|c| column(&a, c, columns, rows, pp, budget))
        .collect::<Result<Vec<_>>>()?;
    assemble(&a, laid, rows, budget)
}

fn characters(a: &Array, budget: &Budget) -> Result<Grid> {
    let chars = a.ready_chars(budget)?;
    let width = a.last_extent();
    let shown = |c: char| if (c as u32) < 32 && c != '\n' { ' ' } else { c };
    if a.rank() < 2 {
        // A text may go back to the beginning of its line, and to the next stop, and have colours;
        // in a matrix none of them has a place.
        let (mut row, mut ticks) = (String::new(), budget.ticks());
        budget.grow(&mut row, chars.iter().map(|c| c.len_utf8()).sum())?;
        for (k, c) in chars.iter().enumerate() {
            ticks.tick()?;
            match c {
                '\r' | '\t' => row.push(*c),
                '\u{1b}' if colour(&chars[k..]) => row.push(*c),
                _ => row.push(shown(*c)),
            }
        }
        return Ok(Grid { rows: vec![row], breaks: vec![] });
    }
    let n = elements(&a.shape()[..a.rank() - 1]);
    let row = |r: usize| chars[r * width..(r + 1) * width].iter().map(|&c| shown(c)).collect();
    let rows = budget.each((0..n).map(row))?;
    Ok(Grid { rows: planes(rows, a.shape()), breaks: vec![] })
}

/// Whether a sequence of terminals that sets colours begins here: an escape, `[`, numbers, `m`. No
/// other is printed: those move the cursor, or ask the terminal.
fn colour(chars: &[char]) -> bool {
    let mut rest = chars.iter().skip(1);
    let end = rest.by_ref().skip(1).find(|c| !c.is_ascii_digit() && **c != ';');
    chars.get(1) == Some(&'[') && end == Some(&'m')
}

fn numbers(a: &Array, pp: usize, budget: &Budget) -> Result<Grid> {
    if a.is_complex() {
        return in_a_row(a.ready_complexes(budget)?.into_iter().map(|z| complex(z, pp)), budget);
    }
    let items = match a.data() {
        Data::Dense(b) => b.view().numbers(budget)?,
        _ => a.ready_numbers(budget)?,
    };
    let whole = items.iter().all(|&x| is_int(x));
    in_a_row(items.iter().map(|&x| numeral(x, pp, whole)), budget)
}

fn in_a_row(texts: impl ExactSizeIterator<Item = String>, budget: &Budget) -> Result<Grid> {
    let mut row = String::new();
    budget.grow(&mut row, texts.len().saturating_mul(4))?;
    let mut breaks = budget.room(texts.len())?;
    let (mut at, mut ticks) = (0, budget.ticks());
    for (k, text) in texts.enumerate() {
        ticks.tick()?;
        if row.capacity() - row.len() <= text.len() {
            budget.grow(&mut row, text.len() + 1)?;
        }
        if k > 0 {
            row.push(' ');
            at += 1;
            breaks.push(at);
        }
        at += text.chars().count();
        row.push_str(&text);
    }
    Ok(Grid { rows: vec![row], breaks })
}

struct Column {
    cells: Vec<Cell>,
    width: usize,
    /// Numbers, and no arrays: a blank stands on both sides of the column.
    numeric: bool,
    /// An array with a number beside it: all stands at the right.
    right: bool,
}

fn split(text: String) -> Cell {
    match text.find(['.', 'E', 'J']) {
        Some(at) => Cell::Num(text[..at].into(), text[at..].into()),
        None => Cell::Num(text, String::new()),
    }
}

/// Whether an item has a blank on each side: an array, or a reference.
fn is_block(item: &Array) -> bool {
    !item.is_simple_scalar() || item.to_reference().is_some()
}

fn column(
    a: &Array,
    c: usize,
    columns: usize,
    rows: usize,
    pp: usize,
    budget: &Budget,
) -> Result<Column> {
    let mut ticks = budget.ticks();
    ticks.tick()?;
    let number = |r: usize| match a.data() {
        Data::Items(i) => i.at(r * columns + c).complex_scalar(),
        _ => a.complex_at(r * columns + c),
    };
    let numbers = budget.each((0..rows).map(number))?;
    let real = numbers.iter().flatten().all(|z| z.im == 0.0);
    let whole = real && numbers.iter().flatten().all(|z| is_int(z.re));
    let texts: Vec<Option<String>> = match real || rows < 2 {
        true => {
            let text = |z: Complex64| if real { numeral(z.re, pp, whole) } else { complex(z, pp) };
            budget.each(numbers.iter().map(|z| z.map(text)))?
        }
        false => complex_column(&numbers, pp),
    };
    let any_scaled = real && rows > 1 && texts.iter().flatten().any(|t| t.contains('E'));
    let nested =
        numbers.iter().enumerate().any(|(r, x)| x.is_none() && is_block(&a.item(r * columns + c)));
    let scaled = if any_scaled {
        scaled_column(&budget.each(numbers.iter().map(|z| z.map(|z| z.re)))?, pp)
    } else {
        Vec::new()
    };
    let mut cells = budget.room(rows)?;
    for (r, (x, text)) in numbers.into_iter().zip(texts).enumerate() {
        ticks.tick()?;
        cells.push(match (x, text) {
            (Some(_), Some(_)) if any_scaled => split(scaled[r].clone()),
            (_, Some(text)) => split(text),
            _ => {
                let item = a.item(r * columns + c);
                match item.data() {
                    Data::Char(c) if !nested => Cell::Char(*c),
                    _ => block(&item, pp, budget)?,
                }
            }
        });
    }
    let part = |of: fn(&Cell) -> usize| cells.iter().map(of).max().unwrap_or(0);
    let left = part(|c| if let Cell::Num(a, _) = c { a.chars().count() } else { 0 });
    let right = part(|c| if let Cell::Num(_, b) = c { b.chars().count() } else { 0 });
    let others = part(|c| if let Cell::Num(..) = c { 0 } else { c.width() });
    let any_number = cells.iter().any(|c| matches!(c, Cell::Num(..)));
    // Beside blocks a number has their blanks.
    let blanks = if nested && any_number { 2 } else { 0 };
    let width = (left + right + blanks).max(others);
    for cell in &mut cells {
        if let Cell::Num(a, b) = cell {
            // The decimal point stands in one place.
            let pad = right - b.chars().count() + blanks / 2;
            b.push_str(&" ".repeat(pad));
            let pad = width.saturating_sub(a.chars().count() + b.chars().count());
            a.insert_str(0, &" ".repeat(pad));
        }
    }
    Ok(Column { cells, width, numeric: any_number && !nested, right: any_number })
}

/// A nested item with a blank on either side.
fn block(item: &Array, pp: usize, budget: &Budget) -> Result<Cell> {
    let rows = within(item, pp, budget)?.rows;
    let width = rows.iter().map(|r| r.chars().count()).max().unwrap_or(0);
    budget.has_room((rows.len() as u64).saturating_mul(width as u64 + 2))?;
    let padded = |r: String| format!(" {r}{} ", " ".repeat(width - r.chars().count()));
    Ok(Cell::Block(budget.each(rows.into_iter().map(padded))?, width + 2))
}

fn assemble(a: &Array, columns: Vec<Column>, rows: usize, budget: &Budget) -> Result<Grid> {
    let mut ticks = budget.ticks();
    let mut out: Vec<String> = Vec::new();
    let mut breaks = Vec::new();
    let mut at = 0;
    let gap = |k: usize| k > 0 && { columns[k - 1].numeric || columns[k].numeric };
    for (k, c) in columns.iter().enumerate() {
        at += usize::from(gap(k));
        if k > 0 {
            breaks.push(at);
        }
        at += c.width;
    }
    for r in 0..rows {
        let blanks = blanks_before(r, a.shape());
        out.extend((0..blanks).map(|_| String::new()));
        let height = columns
            .iter()
            .map(|c| if let Cell::Block(b, _) = &c.cells[r] { b.len() } else { 1 })
            .max()
            .unwrap_or(1);
        for h in 0..height.max(1) {
            let mut row = String::new();
            budget.grow(&mut row, at)?;
            for (k, c) in columns.iter().enumerate() {
                if gap(k) {
                    row.push(' ');
                }
                ticks.tick()?;
                let beside = c.width - c.cells[r].width();
                if c.right {
                    row.extend(std::iter::repeat_n(' ', beside));
                }
                let width = match &c.cells[r] {
                    Cell::Num(a, b) if h == 0 => {
                        row.push_str(a);
                        row.push_str(b);
                        c.cells[r].width()
                    }
                    Cell::Char(ch) if h == 0 => {
                        row.push(*ch);
                        1
                    }
                    Cell::Block(lines, w) => match lines.get(h) {
                        Some(line) => {
                            row.push_str(line);
                            *w
                        }
                        None => 0,
                    },
                    _ => 0,
                };
                let behind = if c.right { c.width - beside } else { c.width };
                row.push_str(&" ".repeat(behind - width));
            }
            out.push(row);
        }
    }
    Ok(Grid { rows: out, breaks })
}

/// Blank lines before a row that begins a plane: one for rank 3, two between rank-3 blocks.
pub fn blanks_before(row: usize, shape: &[usize]) -> usize {
    if shape.len() < 3 || row == 0 {
        return 0;
    }
    let mut size = 1;
    let begins = |n: &&usize| {
        size *= (**n).max(1);
        row.is_multiple_of(size)
    };
    shape[1..shape.len() - 1].iter().rev().filter(begins).count()
}

fn planes(rows: Vec<String>, shape: &[usize]) -> Vec<String> {
    let mut out = Vec::with_capacity(rows.len() * 2);
    for (k, row) in rows.into_iter().enumerate() {
        out.extend((0..blanks_before(k, shape)).map(|_| String::new()));
        out.push(row);
    }
    out
}

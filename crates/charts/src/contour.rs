//! Lines of one height through a matrix of heights: marching squares.
//!
//! In: rows, the first on top; an item stands at the middle of its field. Out: lines whose points
//! are joined, at heights that are round numbers. A field with a corner that is no number has none.

use crate::shape::{Mark, range};
use aplomb_ground::chart::Series;
use std::collections::HashMap;

/// Heights that a picture shows, about.
const HEIGHTS: f64 = 8.0;
/// Rows and columns of a field; of more, the means of as many neighbours.
const MOST: usize = 400;
/// Points of all lines: a page of more is heavy. A rougher field is made coarser.
const POINTS: usize = 12_000;

/// An edge between two neighbouring items: its first item by row and column, and whether it goes
/// down.
type Edge = (usize, usize, bool);

/// The lines of all heights, each with how far up it is; and the number of items they are drawn
/// through.
pub fn lines(series: &[Series]) -> (Vec<Mark>, usize) {
    let mut most = MOST;
    loop {
        let field = Field::of(series, most);
        let Some((least, greatest)) = range(field.heights.iter().flatten().copied()) else {
            return (Vec::new(), 0);
        };
        let step = round_step((greatest - least) / HEIGHTS);
        if field.crossings(step) > POINTS && most > 2 {
            most /= 2;
            continue;
        }
        let mut out = Vec::new();
        let mut k = (least / step).ceil();
        while k * step < greatest {
            let part = (k * step - least) / (greatest - least);
            out.extend(field.level(k * step).into_iter().map(|line| Mark::Level(line, part)));
            k += 1.0;
        }
        let finite = field.heights.iter().flatten().filter(|v| v.is_finite());
        return (out, finite.count());
    }
}

/// The extent of a field, across and down; None where no item is a number.
type Covers = (Option<(f64, f64)>, Option<(f64, f64)>);

/// The place of the field: from the middle of its first item to that of its last. Errors: a
/// sentence, for less than two rows and columns.
pub fn field(series: &[Series]) -> Result<Covers, String> {
    let columns = series.iter().map(|s| s.y.len()).min().map_or(0, |n| n);
    if series.len() < 2 || columns < 2 {
        return Err("lines of one height need at least two rows and columns".into());
    }
    let (wide, high) = (columns as f64 - 0.5, series.len() as f64 - 0.5);
    let any = range(series.iter().flat_map(|s| s.y.iter().copied())).is_some();
    Ok(match any {
        true => (Some((0.5, wide)), Some((-high, -0.5))),
        false => (None, None),
    })
}

/// 1, 2 or 5 times a power of ten, not less than `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|n| n * power);
    steps.into_iter().find(|s| *s >= step * (1.0 - 1e-9)).map_or(step, |s| s)
}

/// Heights, and the places of their rows and columns.
struct Field {
    heights: Vec<Vec<f64>>,
    down: Vec<f64>,
    across: Vec<f64>,
}

/// The middles of parts of so many of `n`.
fn middles(n: usize, each: usize) -> Vec<f64> {
    let middle = |from: usize| (from + (from + each).min(n)) as f64 / 2.0;
    (0..n).step_by(each).map(middle).collect()
}

impl Field {
    /// Means of neighbours, so that there are at most so many rows and columns.
    fn of(series: &[Series], most: usize) -> Field {
        let columns = series.iter().map(|s| s.y.len()).min().map_or(0, |n| n);
        let each = |n: usize| n.div_ceil(most).max(1);
        let (down, across) = (each(series.len()), each(columns));
        let mean = |rows: &[Series], from: usize| {
            let to = (from + across).min(columns);
            let all = rows.iter().flat_map(|s| &s.y[from..to]).filter(|v| v.is_finite());
            let (n, sum) = all.fold((0.0, 0.0), |(n, sum), v| (n + 1.0, sum + v));
            sum / n
        };
        let row = |rows: &[Series]| (0..columns).step_by(across).map(|c| mean(rows, c)).collect();
        Field {
            heights: series.chunks(down).map(row).collect(),
            down: middles(series.len(), down),
            across: middles(columns, across),
        }
    }

    /// Edges that lines of heights so far apart cross, each time: the points that they have.
    fn crossings(&self, step: f64) -> usize {
        let between = |a: f64, b: f64| match ((b / step).floor() - (a / step).floor()).abs() {
            n if n.is_finite() => n as usize,
            _ => 0,
        };
        let along = |row: &Vec<f64>| row.windows(2).map(|w| between(w[0], w[1])).sum::<usize>();
        let below = |rows: &[Vec<f64>]| {
            rows[0].iter().zip(&rows[1]).map(|(a, b)| between(*a, *b)).sum::<usize>()
        };
        let along: usize = self.heights.iter().map(along).sum();
        along + self.heights.windows(2).map(below).sum::<usize>()
    }

    fn height(&self, row: usize, column: usize) -> f64 {
        self.heights[row][column]
    }

    /// The place on an edge that has the height.
    fn place(&self, (row, column, down): Edge, height: f64) -> (f64, f64) {
        let (to_row, to_column) = if down { (row + 1, column) } else { (row, column + 1) };
        let (a, b) = (self.height(row, column), self.height(to_row, to_column));
        let part = (height - a) / (b - a);
        let at = |all: &[f64], from: usize, to: usize| all[from] + part * (all[to] - all[from]);
        (at(&self.across, column, to_column), -at(&self.down, row, to_row))
    }

    /// The lines of one height: pieces through fields, joined where they share an edge.
    fn level(&self, height: f64) -> Vec<Vec<(f64, f64)>> {
        let mut pieces: Vec<(Edge, Edge)> = Vec::new();
        for row in 0..self.down.len().saturating_sub(1) {
            for column in 0..self.across.len().saturating_sub(1) {
                self.pieces(row, column, height, &mut pieces);
            }
        }
        let mut at: HashMap<Edge, Vec<usize>> = HashMap::new();
        for (k, piece) in pieces.iter().enumerate() {
            at.entry(piece.0).or_default().push(k);
            at.entry(piece.1).or_default().push(k);
        }
        let mut used: Vec<bool> = pieces.iter().map(|_| false).collect();
        let mut lines = Vec::new();
        // Lines that end at the frame begin there; those that are left are rings.
        let ends = |k: &usize| [pieces[*k].0, pieces[*k].1].iter().any(|e| at[e].len() == 1);
        let (open, closed): (Vec<usize>, Vec<usize>) = (0..pieces.len()).partition(ends);
        for first in open.into_iter().chain(closed) {
            if std::mem::replace(&mut used[first], true) {
                continue;
            }
            let (mut from, mut to) = pieces[first];
            if at[&to].len() == 1 {
                (from, to) = (to, from);
            }
            let mut line = vec![self.place(from, height), self.place(to, height)];
            while let Some(next) = at[&to].iter().find(|k| !used[**k]) {
                used[*next] = true;
                let (a, b) = pieces[*next];
                to = if a == to { b } else { a };
                line.push(self.place(to, height));
            }
            lines.push(line);
        }
        lines
    }

    /// The pieces of a line in the field whose first corner is an item.
    fn pieces(&self, row: usize, column: usize, height: f64, out: &mut Vec<(Edge, Edge)>) {
        let corners =
            [(0, 0), (0, 1), (1, 1), (1, 0)].map(|(r, c)| self.height(row + r, column + c));
        if corners.iter().any(|h| !h.is_finite()) {
            return;
        }
        let (top, right) = ((row, column, false), (row, column + 1, true));
        let (bottom, left) = ((row + 1, column, false), (row, column, true));
        // A height that an item has belongs above, so no line goes through a corner twice.
        let above = corners.map(|h| h >= height);
        let edges = [top, right, bottom, left];
        let crossed: Vec<Edge> =
            (0..4).filter(|k| above[*k] != above[(k + 1) % 4]).map(|k| edges[k]).collect();
        match crossed.as_slice() {
            [a, b] => out.push((*a, *b)),
            [..] if crossed.len() == 4 => {
                // A saddle: the middle says which two corners hang together.
                let middle = corners.iter().sum::<f64>() / 4.0 >= height;
                let pairs = match middle == above[0] {
                    true => [(top, right), (bottom, left)],
                    false => [(left, top), (right, bottom)],
                };
                out.extend(pairs);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[&[f64]]) -> Vec<Vec<(f64, f64)>> {
        let one = |y: &&[f64]| Series { y: y.to_vec(), ..Series::default() };
        let series: Vec<Series> = rows.iter().map(one).collect();
        let line = |mark: Mark| match mark {
            Mark::Level(line, part) => {
                assert!((0.0..=1.0).contains(&part));
                line
            }
            other => panic!("{other:?}"),
        };
        lines(&series).0.into_iter().map(line).collect()
    }

    #[test]
    fn a_slope_has_straight_lines_and_a_hill_rings() {
        let slope = of(&[&[0.0, 8.0], &[0.0, 8.0], &[0.0, 8.0]]);
        assert!(slope.iter().all(|line| line.len() == 3), "{slope:?}");
        assert!(slope.iter().all(|line| line.iter().all(|p| p.0 == line[0].0)), "{slope:?}");
        let hill = of(&[&[0.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 0.0]]);
        let rings = hill.iter().filter(|line| line.first() == line.last()).count();
        assert!(rings > 3 && rings == hill.len() - usize::from(rings < hill.len()), "{hill:?}");
    }

    #[test]
    fn a_saddle_and_what_is_no_number_end_no_line_in_the_air() {
        let saddle = of(&[&[1.0, 0.0], &[0.0, 1.0]]);
        assert!(saddle.iter().all(|line| line.len() == 2), "{saddle:?}");
        assert!(of(&[&[1.0, f64::NAN], &[0.0, 1.0]]).is_empty());
        assert!(of(&[&[2.0, 2.0], &[2.0, 2.0]]).iter().all(|line| line.len() < 3));
        assert!(of(&[]).is_empty());
    }
}

//! The drawn graph as SVG, from the cells of the text picture: the same places, the same wires.
//!
//! Every glyph has its own x, so no font's widths move anything. It brings its own pale ground, so
//! it can be read on a light page and on a dark one, and it needs no style sheet, script or
//! address. A value that branches has a dot where it does; wires that only cross have none.

use crate::graph::Graph;
use crate::list;
use crate::outside;
use crate::sketch::Sketch;
use crate::text::{Canvas, DOWN, FORMS, LEFT, RIGHT, UP, arms, canvas, forms, value};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Pixels of a cell, of a glyph, around the picture.
const WIDE: f64 = 8.5;
const HIGH: f64 = 18.0;
const GLYPH: f64 = 14.0;
const MARGIN: f64 = 12.0;
const FONT: &str = "'APL385 Unicode','DejaVu Sans Mono',FreeMono,monospace";
/// Characters of the text that stands for the picture.
const ALT: usize = 6_000;

/// Fill, line, line's width, corner: in the order of `FORMS`, then `OUTSIDE`.
const LOOKS: &[(&str, &str, f64, f64)] = &[
    ("#e3eefa", "#3f73a8", 1.2, 8.0),
    ("#ffffff", "#8d8d8d", 1.0, 3.0),
    ("#fff0bf", "#a86d00", 2.2, 3.0),
    ("#e4e4e4", "#8d8d8d", 1.0, 3.0),
];
/// The look of work outside of launches, behind those of `FORMS`.
const OUTSIDE: usize = 3;

/// One evaluation's graph.
pub struct Panel<'a> {
    /// Above it; empty for none.
    pub heading: String,
    /// The graph.
    pub graph: Graph<'a>,
    /// Whether repeats and chains are one box each.
    pub folded: bool,
}

struct Page {
    body: String,
    /// Cells so far.
    width: usize,
    height: usize,
}

/// One picture, the panels below each other. Deterministic.
pub fn draw(panels: &[Panel]) -> String {
    let mut page = Page { body: String::new(), width: 0, height: 0 };
    for (k, panel) in panels.iter().enumerate() {
        page.height += usize::from(k > 0);
        if !panel.heading.is_empty() {
            page.line(0, &panel.heading);
        }
        let sketch =
            if panel.folded { Sketch::folded(&panel.graph) } else { Sketch::nodes(&panel.graph) };
        if sketch.texts.is_empty() {
            page.line(0, "a constant: nothing to draw");
            continue;
        }
        match canvas(&sketch) {
            Ok(canvas) => page.canvas(&canvas),
            Err(says) => page.line(0, &says),
        }
        page.legend(&panel.graph);
        sketch.notes.iter().for_each(|note| page.line(0, note));
    }
    let (width, height) =
        (page.width as f64 * WIDE + 2.0 * MARGIN, page.height as f64 * HIGH + 2.0 * MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" \
         role=\"img\"><title>The graph of a line</title>\
         <rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"#fbfbf8\" stroke=\"#d0d0cc\"/>\
         <g transform=\"translate({MARGIN} {MARGIN})\" font-family=\"{FONT}\" \
         font-size=\"{GLYPH}\" fill=\"#1c1c1c\">\n\
         {}</g></svg>\n",
        page.body
    )
}

/// The picture in a page: an image that holds its data, and its text for who does not see it.
/// Notebooks that are not trusted remove inline SVG and keep this.
pub fn image(panels: &[Panel]) -> String {
    let alt: String =
        panels.iter().map(|p| list::list(&p.graph)).collect::<String>().chars().take(ALT).collect();
    let data = STANDARD.encode(draw(panels));
    format!(
        "<img alt=\"{}\" style=\"max-width:100%\" src=\"data:image/svg+xml;base64,{data}\">",
        escaped(&alt).replace('\n', "&#10;")
    )
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // No XML text may hold the others.
            c if c.is_control() && c != '\n' || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}')
            }
            c => out.push(c),
        }
    }
    out
}

impl Page {
    /// Text from a cell on, each word by itself: blanks would count as glyphs or not, as the reader
    /// likes.
    fn text(&mut self, row: usize, column: usize, text: &str) {
        let y = (row as f64 + 0.5) * HIGH + GLYPH * 0.35;
        let chars: Vec<char> = text.chars().collect();
        let mut at = 0;
        for word in chars.split(|c| *c == ' ') {
            if !word.is_empty() {
                let places: Vec<String> = (0..word.len())
                    .map(|k| format!("{}", (column + at + k) as f64 * WIDE))
                    .collect();
                let word: String = word.iter().collect();
                let _ = writeln!(
                    self.body,
                    "<text x=\"{}\" y=\"{y:.1}\">{}</text>",
                    places.join(" "),
                    escaped(&word)
                );
            }
            at += word.len() + 1;
        }
        self.width = self.width.max(column + chars.len());
    }

    /// A line of its own.
    fn line(&mut self, column: usize, text: &str) {
        self.text(self.height, column, text);
        self.height += 1;
    }

    fn canvas(&mut self, canvas: &Canvas) {
        self.wires(canvas);
        for (row, column, text) in &canvas.texts {
            let row = row + self.height;
            let length = text.chars().count();
            // The longest opening that fits: `[[` before `[`.
            let form = (0..FORMS.len()).rev().find(|k| text.starts_with(FORMS[*k].0)).unwrap_or(1);
            let (open, close, _) = FORMS[form];
            self.rect(row, *column, length, form);
            let inner = text.strip_prefix(open).unwrap_or(text);
            let inner = inner.strip_suffix(close).unwrap_or(inner);
            self.text(row, column + open.len(), inner.trim_end());
            self.width = self.width.max(column + length);
        }
        self.height += canvas.height();
    }

    fn rect(&mut self, row: usize, column: usize, length: usize, form: usize) {
        let (fill, line, thick, corner) = LOOKS[form];
        let _ = writeln!(
            self.body,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{HIGH}\" rx=\"{corner}\" \
             fill=\"{fill}\" stroke=\"{line}\" \
             stroke-width=\"{thick}\"/>",
            column as f64 * WIDE,
            row as f64 * HIGH,
            length as f64 * WIDE,
        );
    }

    /// One path a net, and a dot where it branches.
    fn wires(&mut self, canvas: &Canvas) {
        let mut nets: BTreeMap<usize, Net> = BTreeMap::new();
        self.width = self.width.max(canvas.width());
        canvas.each_row(0..canvas.height(), |r, cells| {
            for (x, spot) in cells.iter().enumerate() {
                spot.nets().for_each(|(net, arms)| nets.entry(net).or_default().add(r, x, arms));
            }
        });
        let (left, top) = (
            |half: usize| half as f64 * WIDE / 2.0,
            |half: usize, rows: usize| half as f64 * HIGH / 2.0 + rows as f64 * HIGH,
        );
        for net in nets.values() {
            let mut path = String::new();
            for (x, runs) in &net.down {
                for (from, to) in joined(runs) {
                    let _ = write!(
                        path,
                        "M{} {}V{}",
                        left(*x),
                        top(from, self.height),
                        top(to, self.height)
                    );
                }
            }
            for (y, runs) in &net.across {
                for (from, to) in joined(runs) {
                    let _ = write!(path, "M{} {}H{}", left(from), top(*y, self.height), left(to));
                }
            }
            let _ = writeln!(
                self.body,
                "<path d=\"{path}\" fill=\"none\" stroke=\"#5a5a5a\" stroke-width=\"1.4\" \
                 stroke-linecap=\"square\"/>"
            );
            for (y, x) in &net.dots {
                let (x, y) = (left(*x), top(*y, self.height));
                let _ = writeln!(
                    self.body,
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"2.6\" fill=\"#5a5a5a\"/>"
                );
            }
        }
    }

    /// A sample of each form that is used with its meaning, then the value.
    fn legend(&mut self, graph: &Graph) {
        self.height += 1;
        let mut column = 0;
        for (form, _) in forms(graph).iter().enumerate().filter(|(_, used)| **used) {
            self.rect(self.height, column, 3, form);
            self.text(self.height, column + 4, FORMS[form].2);
            column += 4 + FORMS[form].2.chars().count() + 3;
        }
        self.height += 1;
        self.line(0, &value(graph));
        for label in outside::nodes(graph.trace, graph.segment.id) {
            let wide = label.chars().count() + 2;
            self.rect(self.height, 0, wide, OUTSIDE);
            self.text(self.height, 1, &label);
            self.line(wide + 1, "outside of launches");
        }
    }
}

/// The straight pieces of a net in half cells, by column and by row, and its branches.
#[derive(Default)]
struct Net {
    down: BTreeMap<usize, Vec<(usize, usize)>>,
    across: BTreeMap<usize, Vec<(usize, usize)>>,
    dots: Vec<(usize, usize)>,
}

impl Net {
    fn add(&mut self, row: usize, column: usize, arms: u8) {
        let (y, x) = (2 * row + 1, 2 * column + 1);
        let mut piece = |arm: u8, vertical: bool, from: usize| {
            if arms & arm != 0 {
                let (map, key) = if vertical { (&mut self.down, x) } else { (&mut self.across, y) };
                map.entry(key).or_default().push((from, from + 1));
            }
        };
        piece(UP, true, y - 1);
        piece(DOWN, true, y);
        piece(LEFT, false, x - 1);
        piece(RIGHT, false, x);
        if arms.count_ones() > 2 {
            self.dots.push((y, x));
        }
    }
}

/// Pieces that touch as one; they come in order.
fn joined(pieces: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for (from, to) in pieces {
        match out.last_mut() {
            Some(last) if last.1 == *from => last.1 = *to,
            _ => out.push((*from, *to)),
        }
    }
    out
}

/// A cell of a terminal.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Shown {
    pub sign: char,
    pub colour: &'static str,
    pub reversed: bool,
    pub bold: bool,
    pub underlined: bool,
}

/// The ground of a terminal.
const NIGHT: &str = "#16181d";
/// Frames of the pane that has the keys, as wires.
const DOUBLE: &[(char, u8)] = &[
    ('═', LEFT | RIGHT),
    ('║', UP | DOWN),
    ('╔', DOWN | RIGHT),
    ('╗', DOWN | LEFT),
    ('╚', UP | RIGHT),
    ('╝', UP | LEFT),
    ('┼', UP | DOWN | LEFT | RIGHT),
];

/// A terminal's cells. Lines are paths, so that they meet whatever the font; words are as wide as
/// their cells.
pub(crate) fn screen(rows: &[Vec<Shown>], title: &str) -> String {
    let mut body = String::new();
    let mut lines: BTreeMap<(&str, bool), Net> = BTreeMap::new();
    for (r, row) in rows.iter().enumerate() {
        let mut at = 0;
        for run in row.chunk_by(|a, b| Shown { sign: ' ', ..*a } == Shown { sign: ' ', ..*b }) {
            cells(&mut body, &mut lines, r, at, run);
            at += run.len();
        }
    }
    for ((colour, double), net) in &lines {
        let mut path = String::new();
        for (x, runs) in &net.down {
            joined(runs).iter().for_each(|(a, b)| {
                let _ = write!(
                    path,
                    "M{} {}V{}",
                    *x as f64 * WIDE / 2.0,
                    *a as f64 * HIGH / 2.0,
                    *b as f64 * HIGH / 2.0
                );
            });
        }
        for (y, runs) in &net.across {
            joined(runs).iter().for_each(|(a, b)| {
                let _ = write!(
                    path,
                    "M{} {}H{}",
                    *a as f64 * WIDE / 2.0,
                    *y as f64 * HIGH / 2.0,
                    *b as f64 * WIDE / 2.0
                );
            });
        }
        let thick = if *double { 2.4 } else { 1.2 };
        let _ = writeln!(
            body,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{thick}\"/>"
        );
    }
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let (width, height) =
        (columns as f64 * WIDE + 2.0 * MARGIN, rows.len() as f64 * HIGH + 2.0 * MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" \
         role=\"img\"><title>{}</title><rect width=\"{width}\" height=\"{height}\" rx=\"8\" \
         fill=\"{NIGHT}\"/>\
         <g transform=\"translate({MARGIN} {MARGIN})\" font-family=\"{FONT}\" \
         font-size=\"{GLYPH}\" xml:space=\"preserve\">\n\
         {body}</g></svg>\n",
        escaped(title)
    )
}

/// Cells of one look: their ground, their words, their lines.
fn cells(
    body: &mut String,
    lines: &mut BTreeMap<(&'static str, bool), Net>,
    row: usize,
    at: usize,
    run: &[Shown],
) {
    let Some(look) = run.first().copied() else { return };
    let x = |column: usize| column as f64 * WIDE;
    if look.reversed {
        let (y, width) = (row as f64 * HIGH, x(run.len()));
        let _ = writeln!(
            body,
            "<rect x=\"{}\" y=\"{y}\" width=\"{width}\" height=\"{HIGH}\" fill=\"{}\"/>",
            x(at),
            look.colour
        );
    }
    let fill = if look.reversed { NIGHT } else { look.colour };
    let style = format!(
        "{}{}",
        if look.bold { " font-weight=\"bold\"" } else { "" },
        if look.underlined { " text-decoration=\"underline\"" } else { "" }
    );
    let arms_of = |c: char| DOUBLE.iter().find(|d| d.0 == c).map(|d| d.1).or_else(|| arms(c));
    let mut word = String::new();
    let mut begun = at;
    let y = (row as f64 + 0.5) * HIGH + GLYPH * 0.35;
    let mut end = |word: &mut String, begun: usize| {
        let n = word.chars().count();
        if n > 0 {
            let _ = writeln!(
                body,
                "<text x=\"{}\" y=\"{y:.1}\" fill=\"{fill}\"{style} textLength=\"{}\">{}</text>",
                x(begun),
                x(n),
                escaped(word)
            );
        }
        word.clear();
    };
    for (k, cell) in run.iter().enumerate() {
        match arms_of(cell.sign) {
            Some(arms) => {
                end(&mut word, begun);
                let double = DOUBLE.iter().any(|d| d.0 == cell.sign && d.0 != '┼');
                lines.entry((fill, double)).or_default().add(row, at + k, arms);
            }
            None if cell.sign == ' ' => end(&mut word, begun),
            None => {
                if word.is_empty() {
                    begun = at + k;
                }
                word.push(cell.sign);
            }
        }
    }
    end(&mut word, begun);
}

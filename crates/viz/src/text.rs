//! A graph drawn with characters, so that its edges can be read back exactly.
//!
//! A value leaves its box below; operand k enters at its own column above, left to right. `┼` is
//! only a crossing; a wire that goes four ways is `╋`. `( )` exists before, `[ ]` is computed, `[[
//! ]]` is written to memory; `@k1` is the launch.

use crate::graph::Graph;
use crate::layout::{Boxes, Item, Layout, lay_out};
use crate::outside;
use crate::route::{Net, Piece, route};
use crate::sketch::Sketch;
use aplomb_ground::trace::{Segment, Trace};
use std::collections::BTreeMap;
use std::ops::Range;
use unicode_width::UnicodeWidthStr;

pub(crate) const UP: u8 = 1;
pub(crate) const DOWN: u8 = 2;
pub(crate) const LEFT: u8 = 4;
pub(crate) const RIGHT: u8 = 8;

/// Arms and their characters; ASCII has one for all corners and branches, so only the Unicode form
/// can be read back.
const WIRES: &[(u8, char, char)] = &[
    (UP | DOWN, '│', '|'),
    (LEFT | RIGHT, '─', '-'),
    (UP | RIGHT, '└', '`'),
    (UP | LEFT, '┘', '\''),
    (DOWN | RIGHT, '┌', '.'),
    (DOWN | LEFT, '┐', '.'),
    (UP | DOWN | RIGHT, '├', '}'),
    (UP | DOWN | LEFT, '┤', '{'),
    (DOWN | LEFT | RIGHT, '┬', 'T'),
    (UP | LEFT | RIGHT, '┴', '^'),
    (UP | DOWN | LEFT | RIGHT, '╋', '#'),
];
const CROSSING: (char, char) = ('┼', '+');

/// The arms of a character; None: not a wire. A crossing has none of its own.
pub fn arms(c: char) -> Option<u8> {
    WIRES.iter().find(|w| w.1 == c).map(|w| w.0)
}

/// Up to two nets with their arms: the second only crosses the first. Each is net + 1 above four
/// bits of arms; there are millions of these, so they are small.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spot([u32; 2]);

impl Spot {
    pub fn nets(self) -> impl Iterator<Item = (usize, u8)> {
        self.0.into_iter().filter(|s| *s != 0).map(|s| ((s >> 4) as usize - 1, (s & 15) as u8))
    }

    fn add(&mut self, net: usize, arms: u8) {
        let own = (net as u32 + 1) << 4;
        for slot in &mut self.0 {
            if *slot == 0 || *slot & !15 == own {
                *slot |= own | u32::from(arms);
                return;
            }
        }
    }
}

/// A picture as strokes, before it is characters or lines. A wide picture is mostly blank, a deep
/// one mostly wires that pass: what falls through many rows is one stroke, and rows become cells
/// one at a time.
#[derive(Default)]
pub(crate) struct Canvas {
    rows: Vec<Vec<Mark>>,
    falls: Vec<Fall>,
    /// Row, column, box.
    pub texts: Vec<(usize, usize, String)>,
    /// For each text, which box of the sketch it is.
    pub boxes: Vec<usize>,
}

/// Cells `from` to `to` of a row that a net goes through, alike.
#[derive(Clone, Copy)]
struct Mark {
    from: usize,
    to: usize,
    net: usize,
    arms: u8,
}

/// Rows `from` to `to` of a column through which a net goes down.
#[derive(Clone, Copy)]
struct Fall {
    x: usize,
    from: usize,
    to: usize,
    net: usize,
}

impl Canvas {
    pub fn height(&self) -> usize {
        self.rows.len()
    }

    pub fn width(&self) -> usize {
        let texts = self.texts.iter().map(|t| t.1 + t.2.chars().count()).max().unwrap_or(0);
        let marks = self.rows.iter().flatten().map(|m| m.to).max().unwrap_or(0);
        self.falls.iter().map(|f| f.x + 1).max().unwrap_or(0).max(marks).max(texts)
    }

    /// There are so many rows at least.
    fn reach(&mut self, rows: usize) {
        if self.rows.len() < rows {
            self.rows.resize(rows, Vec::new());
        }
    }

    fn wire(&mut self, row: usize, x: usize, net: usize, arms: u8) {
        self.reach(row + 1);
        self.rows[row].push(Mark { from: x, to: x + 1, net, arms });
    }

    /// A net's track between two columns.
    fn across(&mut self, row: usize, (a, b): (usize, usize), net: usize) {
        self.reach(row + 1);
        self.rows[row].push(Mark { from: a, to: b + 1, net, arms: LEFT | RIGHT });
    }

    fn vertical(&mut self, from: usize, to: usize, x: usize, net: usize) {
        if from < to {
            self.reach(to);
            self.falls.push(Fall { x, from, to, net });
        }
    }

    /// Calls `each` with the cells of each of these rows, as far as they are not blank.
    pub fn each_row(&self, rows: Range<usize>, mut each: impl FnMut(usize, &[Spot])) {
        let rows = rows.start..rows.end.min(self.rows.len());
        let mut falls: Vec<&Fall> =
            self.falls.iter().filter(|f| f.from < rows.end && rows.start < f.to).collect();
        falls.sort_by_key(|f| f.from);
        let (mut falls, mut here): (_, Vec<&Fall>) = (falls.into_iter().peekable(), Vec::new());
        let mut cells: Vec<Spot> = Vec::new();
        for row in rows {
            here.retain(|f| row < f.to);
            while let Some(f) = falls.next_if(|f| f.from <= row) {
                here.push(f);
            }
            cells.clear();
            let end = here
                .iter()
                .map(|f| f.x + 1)
                .chain(self.rows[row].iter().map(|m| m.to))
                .max()
                .unwrap_or(0);
            cells.resize(end, Spot::default());
            here.iter().for_each(|f| cells[f.x].add(f.net, UP | DOWN));
            for m in &self.rows[row] {
                cells[m.from..m.to].iter_mut().for_each(|spot| spot.add(m.net, m.arms));
            }
            each(row, &cells);
        }
    }

    fn print(&self, ascii: bool) -> String {
        let mut out = String::new();
        let mut texts: Vec<Vec<(usize, &str)>> = vec![Vec::new(); self.rows.len()];
        self.texts.iter().for_each(|(row, x, text)| texts[*row].push((*x, text)));
        texts.iter_mut().for_each(|row| row.sort());
        self.each_row(0..self.rows.len(), |row, cells| {
            let begun = out.len();
            let mut at = 0;
            for (x, text) in &texts[row] {
                spell(cells, at..*x, ascii, &mut out);
                out.push_str(text);
                // All APL glyphs are one column wide, so characters are columns.
                at = x + text.chars().count();
            }
            spell(cells, at..cells.len(), ascii, &mut out);
            let end = out[begun..].trim_end_matches(' ').len();
            out.truncate(begun + end);
            out.push('\n');
        });
        out
    }
}

/// These cells as characters; what is beyond the last is blank.
fn spell(cells: &[Spot], range: Range<usize>, ascii: bool, out: &mut String) {
    let end = range.end.min(cells.len());
    let own = cells.get(range.start..end).unwrap_or_default();
    for cell in own {
        out.push(character(*cell, ascii));
    }
    out.extend(std::iter::repeat_n(' ', range.len() - own.len()));
}

pub(crate) fn character(spot: Spot, ascii: bool) -> char {
    let pick = |pair: (char, char)| if ascii { pair.1 } else { pair.0 };
    match spot.0 {
        [0, _] => ' ',
        [_, second] if second != 0 => pick(CROSSING),
        [first, _] => {
            let arms = (first & 15) as u8;
            WIRES.iter().find(|w| w.0 == arms).map_or(' ', |w| pick((w.1, w.2)))
        }
    }
}

/// The picture of a pass with its legend. Deterministic.
pub fn draw(graph: &Graph, ascii: bool) -> String {
    drawn(&Sketch::nodes(graph), graph, ascii)
}

/// The same with repeats and chains as one box each, and what they hold below.
pub fn draw_folded(graph: &Graph, ascii: bool) -> String {
    drawn(&Sketch::folded(graph), graph, ascii)
}

/// The launches of an evaluation.
pub fn draw_launches(trace: &Trace, segment: &Segment, ascii: bool) -> String {
    let sketch = Sketch::launches(trace, segment);
    if sketch.texts.is_empty() { "no launch\n".into() } else { picture(&sketch, ascii) }
}

fn drawn(sketch: &Sketch, graph: &Graph, ascii: bool) -> String {
    if sketch.texts.is_empty() {
        return "a constant: nothing to draw\n".into();
    }
    let mut out = picture(sketch, ascii);
    out += &legend(graph);
    sketch.notes.iter().for_each(|note| out += &format!("{note}\n"));
    out
}

fn picture(sketch: &Sketch, ascii: bool) -> String {
    canvas(sketch).map_or_else(|says| says + "\n", |canvas| canvas.print(ascii))
}

/// Errors: a sentence; it is too large.
pub(crate) fn canvas(sketch: &Sketch) -> Result<Canvas, String> {
    canvas_near(sketch, &[])
}

/// The same where boxes keep the order of their former columns.
pub(crate) fn canvas_near(sketch: &Sketch, former: &[Option<usize>]) -> Result<Canvas, String> {
    let widths = sketch
        .texts
        .iter()
        .zip(&sketch.operands)
        .map(|(t, o)| t.width().max(2 * o.len() + 1))
        .collect();
    let boxes = Boxes { widths, operands: sketch.operands.clone() };
    Ok(paint(&lay_out(&boxes, former)?, &boxes, &sketch.texts))
}

fn paint(layout: &Layout, boxes: &Boxes, texts: &[String]) -> Canvas {
    let mut canvas = Canvas::default();
    let mut row = 0;
    for (r, layer) in layout.layers.iter().enumerate() {
        for item in layer {
            if item.is_box {
                let text = &texts[item.net];
                let blanks = item.width - text.width();
                let padded = pad(text, blanks);
                canvas.texts.push((row, item.x, padded));
                canvas.boxes.push(item.net);
                canvas.reach(row + 1);
            } else {
                canvas.vertical(row, row + 1, item.x, item.net);
            }
        }
        let Some(below) = layout.layers.get(r + 1) else { break };
        // By net, the columns by which the layer below takes it.
        let mut taken: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for b in below {
            if b.is_box {
                let operands = &boxes.operands[b.net];
                for (k, net) in operands.iter().enumerate() {
                    taken.entry(*net).or_default().push(b.port(k, operands.len()));
                }
            } else {
                taken.entry(b.net).or_default().push(b.x);
            }
        }
        let mut net = |item: &Item| {
            Some(Net { id: item.net, from: item.out(), to: taken.remove(&item.net)? })
        };
        let nets: Vec<Net> = layer.iter().filter_map(&mut net).collect();
        let (tracks, pieces) = route(&nets);
        let height = tracks.max(1);
        let top = row + 1;
        let mut parts: BTreeMap<usize, Vec<&Piece>> = BTreeMap::new();
        pieces.iter().for_each(|p| parts.entry(p.net).or_default().push(p));
        for net in &nets {
            let own = parts.remove(&net.id).unwrap_or_default();
            if own.is_empty() {
                canvas.vertical(top, top + height, net.from, net.id);
            }
            for piece in &own {
                let track = top + piece.row;
                // From where it comes: the layer above, or the piece of the same net that ends at
                // this column.
                let begins = own.iter().find(|p| p.to == [piece.from] && p.row != piece.row);
                canvas.vertical(begins.map_or(top, |p| top + p.row + 1), track, piece.from, net.id);
                let ends: Vec<usize> = piece.to.iter().copied().chain([piece.from]).collect();
                let (a, b) = (
                    ends.iter().min().copied().unwrap_or(0),
                    ends.iter().max().copied().unwrap_or(0),
                );
                canvas.wire(track, a, net.id, if a < b { RIGHT } else { 0 });
                if a + 1 < b {
                    canvas.across(track, (a + 1, b - 1), net.id);
                }
                canvas.wire(track, b, net.id, if a < b { LEFT } else { 0 });
                canvas.wire(track, piece.from, net.id, UP);
                piece.to.iter().for_each(|x| canvas.wire(track, *x, net.id, DOWN));
                let goes_on = |x: usize| own.iter().any(|p| p.from == x && p.row != piece.row);
                for &x in piece.to.iter().filter(|x| !goes_on(**x)) {
                    canvas.vertical(track + 1, top + height, x, net.id);
                }
            }
        }
        row = top + height;
    }
    canvas
}

/// A box wider than its text, for its operands' sake: blanks inside the closing brackets.
fn pad(text: &str, blanks: usize) -> String {
    if blanks == 0 {
        return text.into();
    }
    let close = text.chars().rev().take_while(|c| matches!(c, ']' | ')')).count();
    let split = text.chars().count() - close;
    let head: String = text.chars().take(split).collect();
    let tail: String = text.chars().skip(split).collect();
    format!("{head}{}{tail}", " ".repeat(blanks))
}

/// Forms of a box: how it begins and ends, what that means.
pub(crate) const FORMS: &[(&str, &str, &str)] = &[
    ("(", ")", "exists before"),
    ("[", "]", "computed where it is read"),
    ("[[", "]]", "written to memory"),
];

/// Marks of those of `FORMS` that a picture uses.
pub(crate) fn forms(graph: &Graph) -> [bool; 3] {
    [
        graph.nodes.iter().any(|n| n.kind == "input"),
        graph.nodes.iter().any(|n| n.kind != "input" && n.kind != "const" && !graph.is_kept(n.id)),
        !graph.pass.breaks.is_empty(),
    ]
}

/// The meaning of the picture's forms, the ones it used.
fn legend(graph: &Graph) -> String {
    let used = FORMS.iter().zip(forms(graph)).filter(|(_, used)| *used);
    let parts: Vec<String> =
        used.map(|((open, close, says), _)| format!("{open} {close} {says}")).collect();
    let mut out = format!("\n{}\n{}\n", parts.join(" · "), value(graph));
    for label in outside::nodes(graph.trace, graph.segment.id) {
        out += &format!("< {label} > outside of launches\n");
    }
    out
}

/// The nodes that are wanted, and how many launches give them.
pub(crate) fn value(graph: &Graph) -> String {
    let mut roots: Vec<String> = graph.pass.roots.iter().map(|r| name(graph, *r)).take(8).collect();
    if graph.pass.roots.len() > roots.len() {
        roots.push(format!("… {} in all", graph.pass.roots.len()));
    }
    let launches = match graph.launches() {
        0 => "no launch".to_string(),
        1 => "1 launch".into(),
        n => format!("{n} launches"),
    };
    format!("value: {} · {launches}", roots.join(", "))
}

fn name(graph: &Graph, id: u32) -> String {
    match graph.node(id).and_then(|n| n.name.clone()) {
        Some(name) => format!("n{id} {name}"),
        None => format!("n{id}"),
    }
}

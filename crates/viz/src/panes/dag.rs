//! The graph after a pass, drawn on a canvas that scrolls. Keys go along its edges; places stay
//! from pass to pass.

use super::Pane;
use super::list::List;
use super::view::{Ask, Nodes, View};
use crate::sketch::Sketch;
use crate::text::{Canvas, canvas_near, character};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use std::collections::BTreeMap;

#[derive(Default)]
pub struct Dag {
    picture: Option<Picture>,
    /// The choice of `f`; by the graph's size without.
    folded: Option<bool>,
    /// The first row and column in sight.
    top: usize,
    left: usize,
    /// The selection has to come in sight.
    seek: bool,
    list: List,
}

/// A key of a layout: the run, the evaluation, the pass, and whether it is folded.
type Key = (u64, usize, usize, bool);

struct Picture {
    key: Key,
    canvas: Canvas,
    operands: Vec<Vec<usize>>,
    /// Nodes of each box, and where it stands among the canvas' texts.
    ids: Vec<Vec<u32>>,
    text_of: Vec<usize>,
    width: usize,
    /// The reason why nothing is drawn.
    refused: Option<String>,
}

/// Graphs of more nodes are folded until `f`.
const LARGE: usize = 80;
/// Rows and columns that a key shifts.
const STEP: (usize, usize) = (3, 8);

impl Picture {
    fn new(view: &View, key: Key, former: Option<&Picture>) -> Option<Picture> {
        let graph = view.graph()?;
        let sketch = if key.3 { Sketch::folded(&graph) } else { Sketch::nodes(&graph) };
        let columns = former
            .filter(|p| p.key.0 == key.0 && p.key.1 == key.1)
            .map(Picture::columns)
            .unwrap_or_default();
        let stood = |id: &u32| {
            let from = graph.node(*id).map_or(&[][..], |n| &n.from);
            std::iter::once(id).chain(from).find_map(|id| columns.get(id).copied())
        };
        let places: Vec<Option<usize>> =
            sketch.ids.iter().map(|ids| ids.iter().find_map(stood)).collect();
        let (canvas, refused) = match canvas_near(&sketch, &places) {
            Ok(canvas) => (canvas, None),
            Err(says) => (Canvas::default(), Some(says)),
        };
        let mut text_of = vec![0; sketch.texts.len()];
        canvas.boxes.iter().enumerate().for_each(|(k, own)| text_of[*own] = k);
        let width = canvas.width() + 2;
        Some(Picture {
            key,
            canvas,
            operands: sketch.operands,
            ids: sketch.ids,
            text_of,
            width,
            refused,
        })
    }

    fn columns(&self) -> BTreeMap<u32, usize> {
        let of = |(k, ids): (usize, &Vec<u32>)| {
            ids.iter().map(|id| (*id, self.place(k).1)).collect::<Vec<_>>()
        };
        self.ids.iter().enumerate().flat_map(of).collect()
    }

    /// Row, first column and width of a box.
    fn place(&self, own: usize) -> (usize, usize, usize) {
        let text = self.text_of.get(own).and_then(|k| self.canvas.texts.get(*k));
        text.map_or((0, 0, 0), |(row, x, text)| (*row, *x, text.chars().count()))
    }

    fn middle(&self, own: usize) -> (usize, usize) {
        let (row, x, width) = self.place(own);
        (row, x + width / 2)
    }

    /// The box of the selection: its own if it is drawn, else its image.
    fn chosen(&self, view: &View) -> Option<usize> {
        let of =
            |set: &Nodes| self.ids.iter().position(|ids| ids.iter().any(|id| set.contains(id)));
        of(view.selected).or_else(|| of(view.lit))
    }

    fn towards(&self, at: usize, code: KeyCode) -> Option<usize> {
        let (row, x) = self.middle(at);
        let nearest = |boxes: &mut dyn Iterator<Item = usize>| {
            boxes.min_by_key(|k| self.middle(*k).1.abs_diff(x))
        };
        let all = 0..self.ids.len();
        match code {
            KeyCode::Up => nearest(&mut self.operands[at].iter().copied()),
            KeyCode::Down => nearest(&mut all.filter(|k| self.operands[*k].contains(&at))),
            KeyCode::Left | KeyCode::Right => {
                let aside = |k: &usize| {
                    if code == KeyCode::Left {
                        self.middle(*k).1 < x
                    } else {
                        self.middle(*k).1 > x
                    }
                };
                let far =
                    |k: &usize| self.middle(*k).1.abs_diff(x) + 4 * self.middle(*k).0.abs_diff(row);
                all.filter(aside).min_by_key(far)
            }
            _ => None,
        }
    }
}

impl Dag {
    fn is_folded(&self, view: &View) -> bool {
        self.folded.unwrap_or_else(|| {
            view.passes().get(view.pass).is_some_and(|p| p.live as usize > LARGE)
        })
    }

    fn ready(&mut self, view: &View) -> Option<&Picture> {
        let key = (view.run.number, view.story, view.pass, self.is_folded(view));
        if self.picture.as_ref().map(|p| p.key) != Some(key) {
            let before = self.anchor(view);
            self.picture = Picture::new(view, key, self.picture.as_ref());
            // What was looked at stays where it was on the screen.
            if let (Some((row, x)), Some((to_row, to_x))) = (before, self.anchor(view)) {
                self.top = (self.top + to_row).saturating_sub(row);
                self.left = (self.left + to_x).saturating_sub(x);
            } else {
                self.seek = true;
            }
        }
        self.picture.as_ref()
    }

    fn anchor(&self, view: &View) -> Option<(usize, usize)> {
        let p = self.picture.as_ref()?;
        p.chosen(view).map(|k| p.middle(k))
    }

    fn scroll(&mut self, code: KeyCode) {
        match code {
            KeyCode::Up => self.top = self.top.saturating_sub(STEP.0),
            KeyCode::Down => self.top += STEP.0,
            KeyCode::Left => self.left = self.left.saturating_sub(STEP.1),
            _ => self.left += STEP.1,
        }
    }
}

/// Letters as arrows; capital ones scroll.
fn arrow(key: KeyEvent) -> Option<(KeyCode, bool)> {
    let shift = key.modifiers.contains(KeyModifiers::SHIFT);
    Some(match key.code {
        KeyCode::Up | KeyCode::Down | KeyCode::Left | KeyCode::Right => (key.code, shift),
        KeyCode::Char('k') => (KeyCode::Up, false),
        KeyCode::Char('j') => (KeyCode::Down, false),
        KeyCode::Char('h') => (KeyCode::Left, false),
        KeyCode::Char('l') => (KeyCode::Right, false),
        KeyCode::Char('K') | KeyCode::PageUp => (KeyCode::Up, true),
        KeyCode::Char('J') | KeyCode::PageDown => (KeyCode::Down, true),
        KeyCode::Char('H') => (KeyCode::Left, true),
        KeyCode::Char('L') => (KeyCode::Right, true),
        _ => return None,
    })
}

fn select(ids: &[u32]) -> Option<Ask> {
    Some(Ask::Select { story: None, nodes: ids.iter().copied().collect() })
}

impl Pane for Dag {
    fn title(&self, view: &View) -> String {
        let Some(pass) = view.passes().get(view.pass) else { return String::new() };
        let rules = if pass.events.is_empty() {
            String::new()
        } else {
            format!(" · {}", crate::why::count(pass.events.len(), "rule"))
        };
        let folded = if self.is_folded(view) { " · folded (f)" } else { "" };
        let launches = crate::why::count(pass.launches.len(), "launch");
        let of = if view.run.stale { "text before · " } else { "" };
        let last = view.passes().len().max(1) - 1;
        format!(
            "{of}{}/{last} {} · {} nodes · {launches}{rules}{folded}",
            view.pass, pass.name, pass.live
        )
    }

    fn lines(&self, _view: &View, _width: usize) -> Vec<Line<'static>> {
        Vec::new()
    }

    fn list(&mut self) -> &mut List {
        &mut self.list
    }

    fn key(&mut self, key: KeyEvent, view: &View) -> Option<Ask> {
        if key.code == KeyCode::Char('f') && key.modifiers.is_empty() {
            self.folded = Some(!self.is_folded(view));
            return Some(Ask::Nothing);
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return None;
        }
        match arrow(key)? {
            (code, true) => {
                self.scroll(code);
                Some(Ask::Nothing)
            }
            (code, false) => {
                let roots =
                    view.passes().get(view.pass).map(|p| p.roots.clone()).unwrap_or_default();
                self.seek = true;
                let picture = self.ready(view)?;
                let at = match picture.chosen(view) {
                    Some(at) => picture.towards(at, code)?,
                    None => picture
                        .ids
                        .iter()
                        .position(|ids| ids.iter().any(|id| roots.contains(id)))?,
                };
                select(&picture.ids[at])
            }
        }
    }

    fn find(&mut self, words: &str, view: &View, forward: bool) -> Option<Ask> {
        self.seek = true;
        let picture = self.ready(view)?;
        let texts = &picture.canvas.texts;
        let n = texts.len();
        let at = picture.chosen(view).map(|own| picture.text_of[own]);
        let start = at.unwrap_or(if forward { n.max(1) - 1 } else { 0 });
        let mut order =
            (1..=n).map(|d| if forward { (start + d) % n } else { (start + n - d) % n });
        let found = order.find(|k| texts[*k].2.to_lowercase().contains(words))?;
        select(&picture.ids[picture.canvas.boxes[found]])
    }

    fn follow(&mut self, _view: &View) {
        self.seek = true;
    }

    fn draw(&mut self, view: &View, area: Rect, buf: &mut Buffer) {
        if self.ready(view).is_none() {
            buf.set_stringn(
                area.x,
                area.y,
                "nothing was compiled",
                usize::from(area.width),
                Style::new(),
            );
            return;
        }
        let Some(picture) = self.picture.take() else { return };
        if let Some(says) = &picture.refused {
            buf.set_stringn(area.x, area.y, says, usize::from(area.width), Style::new());
        }
        let (height, width) = (usize::from(area.height), usize::from(area.width));
        // Without a selection, what comes first.
        let wanted = picture.chosen(view).or_else(|| picture.canvas.boxes.first().copied());
        if std::mem::take(&mut self.seek)
            && let Some(k) = wanted
        {
            let (row, x, length) = picture.place(k);
            // With a box's room around it.
            if row < self.top || row + 1 > self.top + height {
                self.top = (row + 1).saturating_sub(height / 2);
            }
            if x < self.left || x + length + 2 > self.left + width {
                self.left = (x + length / 2 + 1).saturating_sub(width / 2);
            }
        }
        self.top = self.top.min(picture.canvas.height().saturating_sub(height));
        self.left = self.left.min(picture.width.saturating_sub(width));
        picture.draw(view, (self.top, self.left), area, buf);
        self.picture = Some(picture);
    }
}

impl Picture {
    fn draw(&self, view: &View, (top, left): (usize, usize), area: Rect, buf: &mut Buffer) {
        let look = view.look;
        let is_lit = |own: usize| {
            self.ids.get(own).is_some_and(|ids| ids.iter().any(|id| view.lit.contains(id)))
        };
        let mut put = |row: usize, column: usize, c: char, style: Style| {
            let y = row.checked_sub(top).filter(|y| *y < usize::from(area.height));
            let x = column.checked_sub(left).filter(|x| *x < usize::from(area.width));
            if let (Some(x), Some(y)) = (x, y)
                && let Some(cell) = buf.cell_mut((area.x + x as u16, area.y + y as u16))
            {
                cell.set_char(c).set_style(style);
            }
        };
        // A column of room left of the picture, for the mark of a lit box.
        const ROOM: usize = 1;
        let seen = top..top + usize::from(area.height);
        self.canvas.each_row(seen.clone(), |r, cells| {
            for (x, spot) in cells
                .iter()
                .enumerate()
                .skip(left.saturating_sub(1))
                .take(usize::from(area.width) + 1)
            {
                let lit = spot.nets().any(|net| is_lit(net.0));
                put(
                    r,
                    x + ROOM,
                    character(*spot, look.ascii),
                    if lit { look.wire() } else { look.quiet() },
                );
            }
        });
        for ((row, x, text), own) in self.canvas.texts.iter().zip(&self.canvas.boxes) {
            if !seen.contains(row) {
                continue;
            }
            let lit = is_lit(*own);
            let style = match text {
                _ if lit => look.lit(),
                t if t.starts_with("[[") => look.kept(),
                t if t.starts_with('(') => look.input(),
                _ => Style::new(),
            };
            text.chars().enumerate().for_each(|(k, c)| put(*row, x + ROOM + k, c, style));
            if lit {
                let (open, close) = look.sides();
                let end = x + text.chars().count();
                let sign = |s: &str| s.chars().next().unwrap_or(' ');
                put(*row, end + ROOM, sign(close), look.wire());
                put(*row, *x, sign(open), look.wire());
            }
        }
    }
}

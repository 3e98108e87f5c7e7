//! The program. The cursor selects the innermost node that its place belongs to; what is written
//! runs again.

use super::Pane;
use super::list::List;
use super::view::{Ask, Nodes, View};
use aplomb_ground::trace::NodeRecord;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

#[derive(Default)]
pub struct Source {
    /// The cursor, in code points.
    at: usize,
    typing: bool,
    /// A backtick waits for the key of a glyph.
    tick: bool,
    /// Draws the cursor.
    here: bool,
    list: List,
}

/// The places where lines begin, in code points; one for an empty text.
fn starts(chars: &[char]) -> Vec<usize> {
    let after = chars.iter().enumerate().filter(|(_, c)| **c == '\n').map(|(k, _)| k + 1);
    std::iter::once(0).chain(after).collect()
}

fn line_of(starts: &[usize], at: usize) -> usize {
    starts.partition_point(|s| *s <= at).max(1) - 1
}

/// The end of a line, before its newline.
fn end_of(starts: &[usize], chars: &[char], line: usize) -> usize {
    starts.get(line + 1).map_or(chars.len(), |s| s - 1)
}

/// Before a line's text.
const GUTTER: usize = 4;

impl Source {
    /// Nodes of the innermost expression at the cursor, in this evaluation or the first that has
    /// some.
    fn nodes_here(&self, view: &View) -> Option<Ask> {
        let word = word_at(view.text, self.at);
        let stories =
            std::iter::once(view.story).chain((0..view.run.stories()).filter(|k| *k != view.story));
        for story in stories {
            let there = View { story, ..*view };
            let nodes = innermost(&there, self.at, &word);
            if !nodes.is_empty() {
                return Some(Ask::Select { story: Some(story), nodes });
            }
        }
        let nodes = nearest(view, self.at);
        if !nodes.is_empty() {
            return Some(Ask::Select { story: None, nodes });
        }
        Some(Ask::Select { story: None, nodes: Nodes::new() })
    }

    fn go(&mut self, key: KeyEvent, chars: &[char], typing: bool) -> bool {
        let starts = starts(chars);
        let line = line_of(&starts, self.at);
        let column = self.at - starts[line];
        let to_line = |line: usize| {
            let line = line.min(starts.len() - 1);
            (starts[line] + column).min(end_of(&starts, chars, line))
        };
        let page = self.list.height.max(2) - 1;
        self.at = match key.code {
            KeyCode::Left => self.at.saturating_sub(1),
            KeyCode::Right => (self.at + 1).min(chars.len()),
            KeyCode::Up => {
                if line == 0 {
                    self.at
                } else {
                    to_line(line - 1)
                }
            }
            KeyCode::Down => to_line(line + 1),
            KeyCode::Home => starts[line],
            KeyCode::End => end_of(&starts, chars, line),
            KeyCode::PageUp => to_line(line.saturating_sub(page)),
            KeyCode::PageDown => to_line(line + page),
            KeyCode::Char(c) if !typing => {
                let code = match c {
                    'h' => KeyCode::Left,
                    'l' => KeyCode::Right,
                    'k' => KeyCode::Up,
                    'j' => KeyCode::Down,
                    '0' => KeyCode::Home,
                    '$' => KeyCode::End,
                    'g' => {
                        self.at = 0;
                        return true;
                    }
                    'G' => {
                        self.at = chars.len();
                        return true;
                    }
                    'w' => {
                        self.at = next_word(chars, self.at);
                        return true;
                    }
                    'b' => {
                        self.at = word_before(chars, self.at);
                        return true;
                    }
                    _ => return false,
                };
                return self.go(KeyEvent::new(code, KeyModifiers::NONE), chars, typing);
            }
            _ => return false,
        };
        true
    }

    /// The text after a key, where it changes something.
    fn write(&mut self, key: KeyEvent, chars: &mut Vec<char>, view: &View) -> bool {
        let put = |source: &mut Source, chars: &mut Vec<char>, c: char| {
            chars.insert(source.at, c);
            source.at += 1;
        };
        let ticked = std::mem::take(&mut self.tick);
        match key.code {
            KeyCode::Enter => put(self, chars, '\n'),
            KeyCode::Tab => (0..2).for_each(|_| put(self, chars, ' ')),
            KeyCode::Backspace if self.at > 0 => {
                self.at -= 1;
                chars.remove(self.at);
            }
            KeyCode::Delete if self.at < chars.len() => drop(chars.remove(self.at)),
            KeyCode::Char('`') if !ticked => {
                self.tick = true;
                return false;
            }
            KeyCode::Char(c) => {
                put(self, chars, if ticked { view.menu.glyph(c).unwrap_or(c) } else { c })
            }
            _ => return false,
        }
        true
    }

    /// Text of the program, what is lit marked below it, the error at its place; and the row of the
    /// cursor.
    fn rows(&self, view: &View) -> (Vec<Line<'static>>, usize, usize) {
        let chars: Vec<char> = view.text.chars().collect();
        let starts = starts(&chars);
        let fresh = view.run.text == view.text;
        let lit = if fresh { spans(view) } else { Vec::new() };
        let failure = view.run.failure.as_ref();
        let wrong = failure.filter(|f| fresh && f.source == view.name).and_then(|f| f.span);
        let mut rows = Vec::new();
        let cursor = line_of(&starts, self.at.min(chars.len()));
        let mut cursor_row = 0;
        if let Some(f) = failure.filter(|_| fresh && wrong.is_none()) {
            rows.push(Line::styled(format!("{}: {}", f.name, f.says), view.look.error()));
        }
        for (k, start) in starts.iter().enumerate() {
            let end = end_of(&starts, &chars, k);
            // An empty span, or one at the end of a line, still has a column.
            let cut = |(from, to): (usize, usize)| {
                let (a, b) = (from.clamp(*start, end), to.clamp(*start, end));
                let here = from < to && a < b || from >= *start && from <= end && from == to;
                here.then(|| (a - start, (b - start).max(a - start + 1)))
            };
            let marks: Vec<(usize, usize)> = lit.iter().copied().filter_map(cut).collect();
            let error = wrong.and_then(|(a, b)| cut((a as usize, (b as usize).max(a as usize))));
            if k == cursor {
                cursor_row = rows.len();
            }
            let own = &chars[*start..end];
            let comment = own.iter().position(|c| *c == '⍝').unwrap_or(own.len());
            let style = |column: usize| {
                let inside = |m: &(usize, usize)| m.0 <= column && column < m.1;
                let mut style = if column >= comment { view.look.quiet() } else { Style::new() };
                if marks.iter().any(inside) {
                    style = view.look.underlined();
                }
                if error.iter().any(inside) {
                    style = view.look.error();
                }
                if self.here && k == cursor && column == self.at - start {
                    style = style.add_modifier(Modifier::REVERSED);
                }
                style
            };
            let mark = view.look.mark(!marks.is_empty());
            let mut line =
                Line::from(Span::styled(format!("{:>2}{mark} ", k + 1), view.look.quiet()));
            let mut word = (String::new(), style(0));
            for (column, c) in own.iter().chain([&' ']).enumerate() {
                let now = style(column);
                if now != word.1 {
                    line.push_span(Span::styled(std::mem::take(&mut word.0), word.1));
                    word.1 = now;
                }
                word.0.push(if c.is_control() { '·' } else { *c });
            }
            line.push_span(Span::styled(word.0, word.1));
            rows.push(line);
            if !marks.is_empty() {
                rows.push(below(
                    &marks,
                    view.look.pick("‾", "^"),
                    &kind_here(view),
                    view.look.wire(),
                ));
            }
            if let (Some(at), Some(f)) = (error, failure) {
                rows.push(below(&[at], "^", &format!("{}: {}", f.name, f.says), view.look.error()));
            }
        }
        (rows, cursor_row, GUTTER + self.at.saturating_sub(starts[cursor]))
    }
}

/// The row of marks below a line, and a word behind them.
fn below(marks: &[(usize, usize)], sign: &str, says: &str, style: Style) -> Line<'static> {
    let end = marks.iter().map(|m| m.1).max().unwrap_or(0);
    let column = |c: usize| if marks.iter().any(|m| m.0 <= c && c < m.1) { sign } else { " " };
    let text: String = (0..end).map(column).collect();
    Line::styled(format!("{:GUTTER$}{text} {says}", ""), style)
}

/// Dtype and shape of the selection, where it has one.
fn kind_here(view: &View) -> String {
    let kinds = view.nodes().iter().filter(|n| view.selected.contains(&n.id));
    let mut kinds: Vec<String> = kinds
        .map(|n| {
            format!(
                "{}[{}]",
                n.dtype,
                n.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
            )
        })
        .collect();
    kinds.dedup();
    if kinds.len() == 1 { kinds.remove(0) } else { String::new() }
}

/// The places of what is lit; a selection of one node lights its own only.
fn spans(view: &View) -> Vec<(usize, usize)> {
    let of = |n: &NodeRecord| view.spans(n);
    let chosen: Vec<_> =
        view.nodes().iter().filter(|n| view.selected.contains(&n.id)).flat_map(of).collect();
    if !chosen.is_empty() {
        return chosen;
    }
    view.nodes().iter().filter(|n| view.lit.contains(&n.id)).flat_map(of).collect()
}

/// The name that the cursor is on.
fn word_at(text: &str, at: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_part = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '∆' | '⍙');
    if !chars.get(at).is_some_and(is_part) {
        return String::new();
    }
    let start = at - chars[..at].iter().rev().take_while(|c| is_part(c)).count();
    chars[start..].iter().take_while(|c| is_part(c)).collect()
}

/// The nodes whose place is nearest on the cursor's line.
fn nearest(view: &View, at: usize) -> Nodes {
    let chars: Vec<char> = view.text.chars().collect();
    let starts = starts(&chars);
    let line = line_of(&starts, at);
    let (from, to) = (starts[line], end_of(&starts, &chars, line));
    let mut best = (usize::MAX, Nodes::new());
    for n in view.nodes() {
        for (a, b) in view.spans(n).into_iter().filter(|s| from <= s.0 && s.1 <= to) {
            let far = if at < a { a - at } else { at.saturating_sub(b.max(1) - 1) };
            if far < best.0 {
                best = (far, Nodes::new());
            }
            if far == best.0 {
                best.1.insert(n.id);
            }
        }
    }
    best.1
}

/// The nodes whose place holds the cursor and is the shortest; else those of the name that it is
/// on.
fn innermost(view: &View, at: usize, word: &str) -> Nodes {
    let mut best = (usize::MAX, Nodes::new());
    for n in view.nodes() {
        for (a, b) in view.spans(n) {
            if a <= at && at < b {
                if b - a < best.0 {
                    best = (b - a, Nodes::new());
                }
                if b - a == best.0 {
                    best.1.insert(n.id);
                }
            }
        }
    }
    if best.1.is_empty() {
        let named = view.nodes().iter().filter(|n| n.name.as_deref() == Some(word));
        best.1.extend(named.map(|n| n.id).next_back());
    }
    best.1
}

fn next_word(chars: &[char], at: usize) -> usize {
    let gap =
        chars.iter().skip(at).position(|c| !c.is_alphanumeric()).map_or(chars.len(), |k| at + k);
    let from = gap.max(at + 1);
    chars.iter().skip(from).position(|c| !c.is_whitespace()).map_or(chars.len(), |k| from + k)
}

fn word_before(chars: &[char], at: usize) -> usize {
    let mut at = at.min(chars.len());
    while at > 0 && chars[at - 1].is_whitespace() {
        at -= 1;
    }
    let word = chars[..at].iter().rev().take_while(|c| c.is_alphanumeric()).count();
    at.saturating_sub(word.max(1))
}

impl Pane for Source {
    fn title(&self, view: &View) -> String {
        let state = if self.typing { "writing, Esc ends · " } else { "" };
        let stale = if view.run.text == view.text { "" } else { "changed · " };
        format!("{state}{stale}{}", view.name)
    }

    fn lines(&self, view: &View, _width: usize) -> Vec<Line<'static>> {
        self.rows(view).0
    }

    fn list(&mut self) -> &mut List {
        &mut self.list
    }

    fn is_typing(&self) -> bool {
        self.typing
    }

    fn key(&mut self, key: KeyEvent, view: &View) -> Option<Ask> {
        let mut chars: Vec<char> = view.text.chars().collect();
        self.at = self.at.min(chars.len());
        if !self.typing {
            if matches!(key.code, KeyCode::Char('i' | 'e') | KeyCode::Enter) {
                if view.follows {
                    return Some(Ask::Say("a notebook's cells are written in the notebook"));
                }
                self.typing = true;
                return Some(Ask::Nothing);
            }
            return if self.go(key, &chars, false) { self.nodes_here(view) } else { None };
        }
        if key.code == KeyCode::Esc {
            (self.typing, self.tick) = (false, false);
            return Some(Ask::Run);
        }
        if self.go(key, &chars, true) {
            self.tick = false;
            return Some(Ask::Nothing);
        }
        if self.write(key, &mut chars, view) {
            Some(Ask::Edit(chars.into_iter().collect()))
        } else {
            Some(Ask::Nothing)
        }
    }

    fn find(&mut self, words: &str, view: &View, forward: bool) -> Option<Ask> {
        // Small letters one by one, so that places stay.
        let chars: Vec<char> =
            view.text.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect();
        let words: Vec<char> = words.chars().collect();
        if words.is_empty() || words.len() > chars.len() {
            return None;
        }
        let all: Vec<usize> =
            (0..=chars.len() - words.len()).filter(|k| chars[*k..].starts_with(&words)).collect();
        let next = if forward {
            all.iter().find(|k| **k > self.at).or(all.first())
        } else {
            all.iter().rev().find(|k| **k < self.at).or(all.last())
        };
        self.at = *next?;
        self.nodes_here(view)
    }

    fn follow(&mut self, view: &View) {
        let found = spans(view);
        if let Some((a, _)) =
            found.iter().min().filter(|_| !found.iter().any(|s| s.0 <= self.at && self.at < s.1))
        {
            self.at = *a;
        }
    }

    fn draw(&mut self, view: &View, area: Rect, buf: &mut Buffer) {
        self.at = self.at.min(view.text.chars().count());
        self.here = view.focused;
        let (rows, row, column) = self.rows(view);
        self.list.at = row;
        self.list.sight(column, usize::from(area.width));
        self.list.draw(rows, false, area, buf);
    }
}

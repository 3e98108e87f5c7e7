//! The reasons for what is selected, in the words of `]why`.

use super::Pane;
use super::list::List;
use super::view::View;
use crate::why;
use ratatui::text::Line;

#[derive(Default)]
pub struct Reasons(List);

/// Of more nodes only the first are told.
const MOST: usize = 6;

impl Pane for Reasons {
    fn title(&self, view: &View) -> String {
        match view.selected.len() {
            0 => "the whole line".into(),
            1 => view.selected.iter().map(|n| format!("n{n}")).collect(),
            n => format!("{n} nodes"),
        }
    }

    fn lines(&self, view: &View, width: usize) -> Vec<Line<'static>> {
        let Some((trace, _)) = view.told() else {
            return vec![Line::raw(
                "nothing was compiled: there is no line that gives a value of an array",
            )];
        };
        let width = width.max(16);
        let mut text = String::new();
        let whole = view.launches().iter().find(|k| {
            view.selected.len() > 1 && k.body.iter().copied().eq(view.selected.iter().copied())
        });
        if view.selected.is_empty() {
            text = why::summary(trace, width);
        } else if let Some(k) = whole {
            text = crate::ask::answer(trace, &format!("k{}", k.id), width)
                .unwrap_or_else(Some)
                .unwrap_or_default();
        } else {
            // What was replaced has the same story as what replaced it: one of them tells it.
            for id in view.selected.iter().rev().take(MOST) {
                let told = why::node(trace, &format!("n{id}"), width).unwrap_or_else(|says| says);
                if !text.contains(&told) {
                    text += &told;
                }
            }
            if view.selected.len() > MOST {
                text += &format!("… and {} more nodes\n", view.selected.len() - MOST);
            }
        }
        text.lines().flat_map(|l| cut(l, width)).map(Line::raw).collect()
    }

    fn list(&mut self) -> &mut List {
        &mut self.0
    }

    fn follow(&mut self, _view: &View) {
        self.0.at = 0;
    }
}

/// A line as lines that fit: between words, and inside of one that is too long by itself.
fn cut(line: &str, width: usize) -> Vec<String> {
    let indent = line.chars().take_while(|c| *c == ' ').count();
    let blanks = " ".repeat(indent.min(width / 2));
    let mut out = vec![blanks.clone()];
    let mut column = blanks.len();
    for word in line.split_whitespace() {
        let chars: Vec<char> = word.chars().collect();
        let gap = usize::from(column > blanks.len());
        if gap > 0 && column + gap + chars.len() > width && chars.len() + blanks.len() <= width {
            out.push(blanks.clone());
            column = blanks.len();
        } else if gap > 0 && column < width {
            out.iter_mut().last().into_iter().for_each(|l| l.push(' '));
            column += 1;
        }
        for c in chars {
            if column >= width {
                out.push(blanks.clone());
                column = blanks.len();
            }
            out.iter_mut().last().into_iter().for_each(|l| l.push(c));
            column += 1;
        }
    }
    out
}

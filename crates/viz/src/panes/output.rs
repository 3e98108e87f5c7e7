//! The text that the program printed and showed, the end of it in sight.

use super::Pane;
use super::list::List;
use super::view::View;
use ratatui::text::Line;

#[derive(Default)]
pub struct Output(List);

impl Pane for Output {
    fn lines(&self, view: &View, _width: usize) -> Vec<Line<'static>> {
        let mut lines: Vec<Line> =
            view.run.output.lines().map(|l| Line::raw(l.replace('\t', "    "))).collect();
        if let Some(failure) = &view.run.failure {
            lines.extend(
                failure.report.lines().map(|l| Line::styled(l.to_string(), view.look.error())),
            );
        }
        let held = view
            .run
            .withheld
            .iter()
            .map(|w| format!("not done in this run: {w}; r runs the program in full"));
        lines.extend(held.map(|l| Line::styled(l, view.look.quiet())));
        lines
    }

    fn list(&mut self) -> &mut List {
        &mut self.0
    }

    fn follow(&mut self, _view: &View) {}
}

//! The CUDA text of the selected launch; a line selects the nodes on it.

use super::Pane;
use super::list::List;
use super::view::{Ask, Nodes, View};
use ratatui::text::{Line, Span};

#[derive(Default)]
pub struct Cuda(List);

fn nodes_of(view: &View, line: usize) -> Nodes {
    let cuda = view.launch().and_then(|k| k.cuda.as_ref());
    let on = cuda.iter().flat_map(|c| &c.lines).filter(|l| l.0 as usize == line + 1);
    on.flat_map(|l| l.1.iter().copied()).collect()
}

impl Pane for Cuda {
    fn title(&self, view: &View) -> String {
        let arch = view.told().map_or("", |(t, _)| t.config.arch.as_str());
        view.launch().map_or(String::new(), |k| format!("{arch} · {}", k.name))
    }

    fn lines(&self, view: &View, _width: usize) -> Vec<Line<'static>> {
        let Some(launch) = view.launch() else { return vec![Line::raw("no launch")] };
        let Some(cuda) = &launch.cuda else { return vec![Line::raw("no CUDA for this launch")] };
        let mut lit = vec![false; cuda.text.lines().count() + 1];
        for (line, nodes) in &cuda.lines {
            if let Some(is) = lit.get_mut(*line as usize)
                && nodes.iter().any(|n| view.lit.contains(n))
            {
                *is = true;
            }
        }
        let numbered = cuda.text.lines().enumerate().map(|(k, text)| {
            let lit = lit.get(k + 1).copied().unwrap_or(false);
            let gutter = format!("{:>3}{} ", k + 1, view.look.mark(lit));
            let style = if lit { view.look.underlined() } else { Default::default() };
            Line::from(vec![
                Span::styled(gutter, view.look.quiet()),
                Span::styled(text.replace('\t', "    "), style),
            ])
        });
        numbered.collect()
    }

    fn list(&mut self) -> &mut List {
        &mut self.0
    }

    fn moved(&self, view: &View) -> Option<Ask> {
        let nodes = nodes_of(view, self.0.at);
        Some(if nodes.is_empty() { Ask::Nothing } else { Ask::Select { story: None, nodes } })
    }

    fn follow(&mut self, view: &View) {
        let lines = view.launch().and_then(|k| k.cuda.as_ref()).map_or(&[][..], |c| &c.lines);
        let lit = lines
            .iter()
            .filter(|l| l.1.iter().any(|n| view.lit.contains(n)))
            .map(|l| (l.0 as usize).max(1) - 1);
        let lit: Vec<usize> = lit.collect();
        if let Some(first) = lit.iter().min().filter(|_| !lit.contains(&self.0.at)) {
            self.0.at = *first;
        }
    }
}

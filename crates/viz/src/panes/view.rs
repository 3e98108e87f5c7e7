//! The view that panes see, and the wishes that they have.

use super::look::Look;
use super::menu::Menu;
use super::run::{Row, Run};
use crate::Graph;
use aplomb_ground::protocol::Switches;
use aplomb_ground::trace::{LaunchRecord, NodeRecord, PassRecord, Segment, Trace};
use std::collections::BTreeSet;

/// Nodes, by number.
pub type Nodes = BTreeSet<u32>;

/// The wish of a pane.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// The key did something in the pane alone.
    Nothing,
    /// These nodes, of an evaluation if it is another one.
    Select {
        /// The statement; None: the one that is shown.
        story: Option<usize>,
        /// The nodes.
        nodes: Nodes,
    },
    /// The graph after this pass of the evaluation.
    Pass(usize),
    /// The program is now this.
    Edit(String),
    /// Writing has ended: run what is written.
    Run,
    /// A pass or rule goes on or off.
    Toggle(&'static str),
    /// A pipeline is taken.
    Preset(&'static str),
    /// The run of that row of the ledger again.
    Again(usize),
    /// A line for the user.
    Say(&'static str),
}

/// Everything that may be drawn.
pub struct View<'a> {
    /// The run that is shown.
    pub run: &'a Run,
    /// The evaluation of the run, by number.
    pub story: usize,
    /// The pass, counted within the evaluation.
    pub pass: usize,
    /// The nodes that are lit.
    pub selected: &'a Nodes,
    /// The selection with what it replaced and what replaced it.
    pub lit: &'a Nodes,
    /// The program as it is written now, and its name in spans.
    pub text: &'a str,
    /// The program's name.
    pub name: &'a str,
    /// The switches of the next run.
    pub switches: &'a Switches,
    /// The names that may be offered.
    pub menu: &'a Menu,
    /// The runs so far.
    pub ledger: &'a [Row],
    /// Whether a run is under way.
    pub busy: bool,
    /// The texts are another front end's.
    pub follows: bool,
    /// Colours and marks.
    pub look: Look,
    /// Whether the keys are this pane's.
    pub focused: bool,
}

impl<'a> View<'a> {
    /// The trace and the evaluation in it.
    pub fn told(&self) -> Option<(&'a Trace, &'a Segment)> {
        self.run.story(self.story)
    }

    /// The passes of the evaluation that is shown.
    pub fn passes(&self) -> &'a [PassRecord] {
        self.told()
            .and_then(|(t, s)| t.passes.get(s.passes[0] as usize..s.passes[1] as usize))
            .unwrap_or(&[])
    }

    /// The graph after the pass that is shown.
    pub fn graph(&self) -> Option<Graph<'a>> {
        let (trace, segment) = self.told()?;
        Some(Graph::new(trace, segment, self.passes().get(self.pass)?))
    }

    /// The nodes of the statement that is shown.
    pub fn nodes(&self) -> &'a [NodeRecord] {
        self.told()
            .and_then(|(t, s)| t.nodes.get(s.nodes[0] as usize..s.nodes[1] as usize))
            .unwrap_or(&[])
    }

    /// The launches of the evaluation that is shown.
    pub fn launches(&self) -> &'a [LaunchRecord] {
        self.told()
            .and_then(|(t, s)| t.kernels.get(s.kernels[0] as usize..s.kernels[1] as usize))
            .unwrap_or(&[])
    }

    /// The launch that holds most of the selection, the smallest of several; the first if none
    /// does.
    pub fn launch(&self) -> Option<&'a LaunchRecord> {
        let held = |k: &LaunchRecord| k.body.iter().filter(|n| self.lit.contains(n)).count();
        let best = self
            .launches()
            .iter()
            .max_by_key(|k| (held(k), usize::MAX - k.body.len(), u32::MAX - k.id));
        best.filter(|k| held(k) > 0).or_else(|| self.launches().first())
    }

    /// The program's spans of a node: half open, in code points.
    pub fn spans(&self, node: &NodeRecord) -> Vec<(usize, usize)> {
        let Some((trace, _)) = self.told().filter(|_| !self.run.stale) else { return Vec::new() };
        let own =
            |s: &&[u32; 3]| trace.sources.get(s[0] as usize).is_some_and(|x| x.name == self.name);
        node.span.iter().filter(own).map(|s| (s[1] as usize, s[2] as usize)).collect()
    }
}

/// The selection, what its nodes replaced, and what replaced them: its image in every pass.
pub fn image(nodes: &[NodeRecord], selected: &Nodes) -> Nodes {
    let mut before = selected.clone();
    for n in nodes.iter().rev().filter(|n| !n.from.is_empty()) {
        if before.contains(&n.id) {
            before.extend(n.from.iter().copied());
        }
    }
    let mut after = selected.clone();
    for n in nodes {
        if n.from.iter().any(|f| after.contains(f)) {
            after.insert(n.id);
        }
    }
    before.extend(after);
    before
}

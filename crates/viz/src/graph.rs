//! The nodes of one pass, as pictures need them.

use aplomb_ground::trace::{NodeRecord, PassRecord, Segment, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// One pass of one segment.
pub struct Graph<'a> {
    /// The record that it is of.
    pub trace: &'a Trace,
    /// The pass after which it is shown.
    pub pass: &'a PassRecord,
    /// The evaluation that the pass is of.
    pub segment: &'a Segment,
    /// Live nodes in id order.
    pub nodes: Vec<&'a NodeRecord>,
    place: BTreeMap<u32, usize>,
    launch: BTreeMap<u32, u32>,
    kept: BTreeSet<u32>,
    roots: BTreeSet<u32>,
    /// For each live node, by its place.
    uses: Vec<u32>,
}

/// Why a line has no launch: what its functions did instead, as the evaluator told it.
pub fn nothing(trace: &Trace) -> String {
    let told: Vec<&str> = trace.diagnostics.iter().map(|d| d.text.as_str()).collect();
    match told.split_at_checked(REASONS) {
        _ if told.is_empty() => "its values are single numbers or were ready".into(),
        Some((first, more)) if !more.is_empty() => {
            format!("{}; and {} more", first.join("; "), more.len())
        }
        _ => told.join("; "),
    }
}

/// So many are told.
const REASONS: usize = 4;

/// The pass of a name or number in a segment; the last one without.
pub fn find_pass<'a>(
    trace: &'a Trace,
    segment: usize,
    pass: Option<&str>,
) -> Result<Graph<'a>, String> {
    let segment = trace
        .segments
        .get(segment)
        .ok_or_else(|| format!("nothing was compiled for this line: {}", nothing(trace)))?;
    let passes = &trace.passes[segment.passes[0] as usize..segment.passes[1] as usize];
    let found = match pass {
        None => passes.last(),
        Some(name) => passes
            .iter()
            .find(|p| p.name == name)
            .or_else(|| name.parse::<usize>().ok().and_then(|k| passes.get(k))),
    };
    let names = || passes.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(" ");
    let pass = found.ok_or_else(|| {
        format!("no pass is called {}; there are {}", pass.unwrap_or(""), names())
    })?;
    Ok(Graph::new(trace, segment, pass))
}

/// The heading of an evaluation where a line has several.
pub fn heading(trace: &Trace, segment: usize) -> String {
    let Some(own) = trace.segments.get(segment) else { return String::new() };
    let alike = if own.alike == 0 { String::new() } else { format!(", {} alike", own.times()) };
    format!("evaluation {} of {}, for {}{alike}", segment + 1, trace.segments.len(), own.why)
}

impl<'a> Graph<'a> {
    /// The graph of an evaluation after one of its passes.
    pub fn new(trace: &'a Trace, segment: &'a Segment, pass: &'a PassRecord) -> Graph<'a> {
        let first = segment.nodes[0];
        let all = &trace.nodes[first as usize..segment.nodes[1] as usize];
        let mut live = vec![false; all.len()];
        let index = |id: u32| (id - first) as usize;
        pass.roots.iter().for_each(|r| live[index(*r)] = true);
        for k in (0..all.len()).rev() {
            if live[k] {
                all[k].inputs.iter().for_each(|a| live[index(*a)] = true);
            }
        }
        let nodes: Vec<&NodeRecord> =
            all.iter().zip(&live).filter(|(_, l)| **l).map(|(n, _)| n).collect();
        let place: BTreeMap<u32, usize> =
            nodes.iter().enumerate().map(|(k, n)| (n.id, k)).collect();
        let mut uses = vec![0; nodes.len()];
        let read = nodes.iter().flat_map(|n| &n.inputs).chain(&pass.roots);
        read.filter_map(|a| place.get(a)).for_each(|k| uses[*k] += 1);
        let mut launch = BTreeMap::new();
        for (k, group) in pass.launches.iter().enumerate() {
            launch.extend(group.iter().map(|n| (*n, segment.kernels[0] + k as u32)));
        }
        let kept = pass.breaks.iter().map(|b| b.node).collect();
        let roots = pass.roots.iter().copied().collect();
        Graph { trace, pass, segment, nodes, place, launch, kept, roots, uses }
    }

    /// The node of that id, if it is alive in the graph.
    pub fn node(&self, id: u32) -> Option<&'a NodeRecord> {
        self.place.get(&id).map(|k| self.nodes[*k])
    }

    /// The place of a node among those of the graph.
    pub fn index(&self, id: u32) -> Option<usize> {
        self.place.get(&id).copied()
    }

    /// The number of uses of a node after this pass: operands that are it, of nodes alive, and one
    /// for each value that it is. Every picture, list and sentence that counts uses asks here.
    pub fn uses(&self, id: u32) -> u32 {
        self.index(id).map_or(0, |k| self.uses[k])
    }

    /// Whether a node is written to memory after this pass.
    pub fn is_kept(&self, id: u32) -> bool {
        self.kept.contains(&id)
    }

    /// Whether the node's value was asked for.
    pub fn is_root(&self, id: u32) -> bool {
        self.roots.contains(&id)
    }

    /// The launch that computes a kept node; launches are counted through the evaluations of a
    /// line.
    pub fn launch(&self, id: u32) -> Option<u32> {
        self.launch.get(&id).copied()
    }

    /// The number of launches after the pass.
    pub fn launches(&self) -> usize {
        self.pass.launches.len()
    }

    /// A constant is written inside its user's label.
    pub fn is_inline(&self, id: u32) -> bool {
        self.node(id).is_some_and(|n| n.kind == "const") && !self.is_root(id)
    }

    /// Operands that are drawn as wires.
    pub fn wires(&self, node: &NodeRecord) -> Vec<u32> {
        node.inputs.iter().copied().filter(|a| !self.is_inline(*a)).collect()
    }

    /// The text in a node's box: `n4 d1 0.3×`. Constants stand where their operand does.
    pub fn label(&self, node: &NodeRecord) -> String {
        let constant = |k: usize| {
            let id = node.inputs.get(k).copied().filter(|a| self.is_inline(*a));
            id.and_then(|a| self.node(a)).map_or(String::new(), |c| c.op.clone())
        };
        let what = match (node.kind.as_str(), node.inputs.len()) {
            ("input", _) => return node.name.clone().unwrap_or_else(|| format!("n{}", node.id)),
            // The number behind the glyph is that of the rounds.
            ("loop", _) => node.op.clone(),
            (_, 2) => format!("{}{}{}", constant(0), node.op, constant(1)),
            (_, 1) => format!("{}{}", node.op, constant(0)),
            _ => node.op.clone(),
        };
        let name = node.name.as_ref().map_or(String::new(), |n| format!("{n} "));
        format!("n{} {name}{what}", node.id)
    }
}

//! DOT: the graph for Graphviz.
//!
//! graphviz-rust prints the syntax tree; it does not escape, so every id, label and tooltip is
//! quoted here. No other place knows looks; the legend prints the rows that a picture used.
//! Deterministic.

use crate::Graph;
use crate::figures;
use crate::outside;
use crate::why::count;
use aplomb_ground::error::bytes;
use aplomb_ground::trace::{NodeRecord, Segment, Trace};
use graphviz_rust::dot_structures::{
    Attribute, Edge, EdgeTy, Graph as Dot, GraphAttributes, Id, Node, NodeId, Stmt, Subgraph,
    Vertex,
};
use graphviz_rust::printer::{DotPrinter, PrinterContext};
use std::collections::{BTreeMap, BTreeSet};

struct Look {
    kind: &'static str,
    shape: &'static str,
    legend: &'static str,
}

const LOOKS: &[Look] = &[
    Look { kind: "input", shape: "cylinder", legend: "input: exists before" },
    Look { kind: "const", shape: "plaintext", legend: "constant" },
    Look { kind: "iota", shape: "parallelogram", legend: "iota: indices" },
    Look { kind: "map", shape: "box", legend: "map: element-wise" },
    Look { kind: "transform", shape: "hexagon", legend: "transform: read elsewhere" },
    Look { kind: "reduce", shape: "invtrapezium", legend: "reduce: folds an axis" },
    Look { kind: "scan", shape: "invtrapezium", legend: "scan: keeps what a fold passes" },
    Look { kind: "gather", shape: "house", legend: "gather: reads where indices say" },
    Look { kind: "stencil", shape: "Msquare", legend: "stencil: windows" },
    Look { kind: "inner", shape: "Mdiamond", legend: "inner product" },
    Look { kind: "sort", shape: "trapezium", legend: "sort" },
    Look { kind: "lib", shape: "trapezium", legend: "library" },
    Look { kind: "scatter", shape: "invhouse", legend: "scatter: writes where indices say" },
    Look { kind: "compact", shape: "invhouse", legend: "compact: keeps what a mask says" },
    Look { kind: "segmented", shape: "invtriangle", legend: "segmented: folds runs" },
    Look { kind: "cat", shape: "folder", legend: "cat: side by side" },
    Look { kind: "loop", shape: "doubleoctagon", legend: "loop" },
    Look { kind: "let", shape: "box", legend: "let: a shared term, bound once" },
    Look { kind: "break", shape: "octagon", legend: "break: written to memory" },
    Look { kind: "outside", shape: "box", legend: "grey: outside of launches" },
];

/// The row of what has none of its own.
const MAP: usize = 3;

fn look(kind: &str) -> &'static Look {
    LOOKS.iter().find(|l| l.kind == kind).unwrap_or(&LOOKS[MAP])
}

/// Quotes for DOT: backslash and quote are escaped, a line break is `\n`.
fn quoted(s: &str) -> String {
    format!("\"{}\"", s.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn attribute(key: &str, value: &str) -> Attribute {
    Attribute(Id::Plain(key.into()), Id::Escaped(quoted(value)))
}

fn node(id: &str, attributes: Vec<Attribute>) -> Stmt {
    Stmt::Node(Node { id: NodeId(Id::Escaped(quoted(id)), None), attributes })
}

fn edge(from: &str, to: &str, attributes: Vec<Attribute>) -> Stmt {
    let end = |id: &str| Vertex::N(NodeId(Id::Escaped(quoted(id)), None));
    Stmt::Edge(Edge { ty: EdgeTy::Pair(end(from), end(to)), attributes })
}

fn set(key: &str, value: &str) -> Stmt {
    Stmt::Attribute(attribute(key, value))
}

fn cluster(id: &str, stmts: Vec<Stmt>) -> Stmt {
    Stmt::Subgraph(Subgraph { id: Id::Escaped(quoted(id)), stmts })
}

fn print(stmts: Vec<Stmt>) -> String {
    let dot = Dot::DiGraph { id: Id::Escaped(quoted("aplomb")), strict: false, stmts };
    dot.print(&mut PrinterContext::default()) + "\n"
}

fn defaults() -> Vec<Stmt> {
    let font = || attribute("fontname", "DejaVu Sans Mono");
    vec![
        set("ordering", "in"),
        set("rankdir", "TB"),
        Stmt::GAttribute(GraphAttributes::Node(vec![font()])),
        Stmt::GAttribute(GraphAttributes::Edge(vec![font()])),
    ]
}

/// A pass: nodes, breaks as octagons behind what they keep, launches as clusters, a legend of the
/// shapes used.
pub fn graph(graph: &Graph) -> String {
    graphs(std::slice::from_ref(graph))
}

/// The same of the evaluations of a line: one digraph, for what follows the first in a file no
/// renderer draws. Each is a cluster where there are several; ids count on through a line, so none
/// is there twice.
pub fn graphs(all: &[Graph]) -> String {
    let mut used: BTreeSet<&str> = BTreeSet::new();
    let mut stmts = defaults();
    for graph in all {
        let own = evaluation(graph, &mut used);
        match all.len() {
            1 => stmts.extend(own),
            _ => stmts.push(step(graph.trace, graph.segment, own)),
        }
    }
    if let Some(last) = all.last() {
        for (k, label) in outside::nodes(last.trace, last.segment.id).iter().enumerate() {
            used.insert("outside");
            let look = look("outside");
            let grey = [("shape", look.shape), ("style", "filled"), ("fillcolor", "#e4e4e4")];
            let mut attributes: Vec<_> = grey.map(|(key, value)| attribute(key, value)).into();
            attributes.push(attribute("label", label));
            stmts.push(node(&format!("w{k}"), attributes));
        }
    }
    stmts.push(legend(&used));
    print(stmts)
}

/// The cluster of an evaluation among several.
fn step(trace: &Trace, segment: &Segment, stmts: Vec<Stmt>) -> Stmt {
    let mut body =
        vec![set("label", &crate::heading(trace, segment.id as usize)), set("style", "dotted")];
    body.extend(stmts);
    cluster(&format!("cluster_e{}", segment.id), body)
}

fn evaluation(graph: &Graph, used: &mut BTreeSet<&'static str>) -> Vec<Stmt> {
    let mut stmts = Vec::new();
    // Nodes stand in the launch that keeps them, or in none.
    let mut inside: Vec<Vec<Stmt>> = vec![Vec::new(); graph.launches()];
    let homes = homes(graph);
    for n in &graph.nodes {
        used.insert(look(&n.kind).kind);
        let stmt = node(&format!("n{}", n.id), attributes(graph, n));
        let home = homes.get(&n.id).copied().flatten();
        let own =
            home.and_then(|k| inside.get_mut(k.checked_sub(graph.segment.kernels[0])? as usize));
        match own {
            Some(list) => list.push(stmt),
            None => stmts.push(stmt),
        }
    }
    for b in &graph.pass.breaks {
        used.insert("break");
        let id = format!("b{}", b.node);
        let label = format!("{}\n{}", b.reason, bytes(b.bytes));
        let shape = vec![
            attribute("shape", look("break").shape),
            attribute("label", &label),
            attribute("id", &id),
        ];
        stmts.push(node(&id, shape));
        stmts.push(edge(&format!("n{}", b.node), &id, vec![attribute("arrowhead", "none")]));
    }
    for (k, list) in inside.into_iter().enumerate() {
        let mut body = vec![set("label", &launch_label(graph, k)), set("style", "rounded")];
        body.extend(list);
        stmts.push(cluster(&format!("cluster_k{}_{k}", graph.segment.id), body));
    }
    for n in &graph.nodes {
        for (slot, a) in n.inputs.iter().enumerate() {
            let from = if graph.is_kept(*a) { format!("b{a}") } else { format!("n{a}") };
            let side = match (n.inputs.len(), slot) {
                (2, 0) => vec![attribute("headlabel", "⍺"), attribute("tooltip", "left argument")],
                (2, 1) => vec![attribute("headlabel", "⍵"), attribute("tooltip", "right argument")],
                _ => Vec::new(),
            };
            let mut looks = side;
            if graph.is_kept(*a) {
                looks.push(attribute("penwidth", &width(graph, *a)));
            }
            stmts.push(edge(&from, &format!("n{}", n.id), looks));
        }
    }
    stmts
}

/// Thicker for more bytes: one point a factor of ten beyond a kilobyte.
fn width(graph: &Graph, id: u32) -> String {
    let bytes = graph.pass.breaks.iter().find(|b| b.node == id).map_or(0, |b| b.bytes);
    format!("{:.1}", ((bytes.max(1) as f64).log10() - 2.0).clamp(1.0, 8.0))
}

/// For each node the launch it runs in: its own where it is kept, else that of the kept nodes that
/// need it, if it is one.
fn homes(graph: &Graph) -> BTreeMap<u32, Option<u32>> {
    let mut home: BTreeMap<u32, Option<u32>> = BTreeMap::new();
    // Users have greater ids, so all of them are known by then.
    for n in graph.nodes.iter().rev() {
        let own = match graph.launch(n.id) {
            Some(k) => Some(k),
            None => home.get(&n.id).copied().flatten(),
        };
        if n.kind == "input" {
            home.insert(n.id, None);
            continue;
        }
        home.insert(n.id, own);
        for a in n.inputs.iter().filter(|a| graph.launch(**a).is_none()) {
            let met = home.entry(*a).or_insert(own);
            if *met != own {
                *met = None;
            }
        }
    }
    home
}

fn attributes(graph: &Graph, n: &NodeRecord) -> Vec<Attribute> {
    let shape: Vec<String> = n.shape.iter().map(usize::to_string).collect();
    let name = n.name.as_ref().map_or(String::new(), |x| format!("{x} "));
    let what = if n.kind == "input" { "" } else { &n.op };
    let mut label = format!("n{} {name}{what}\n{}[{}]", n.id, n.dtype, shape.join(" "));
    if let Some(affine) = &n.attr.affine {
        label += &format!("\n{affine}");
    }
    let mut out = vec![
        attribute("shape", look(&n.kind).shape),
        attribute("label", &label),
        attribute("id", &format!("n{}", n.id)),
        attribute("tooltip", &why(graph, n.id)),
    ];
    if let Some([source, start, end]) = n.span.first() {
        out.push(attribute("URL", &format!("src:{source}:{start}-{end}")));
    }
    let uses = graph.uses(n.id);
    if uses > 1 && !n.inputs.is_empty() {
        out.extend(SHARED.iter().map(|(key, value)| attribute(key, value)));
        out.push(attribute("xlabel", &count(uses as usize, "use")));
    }
    out
}

fn why(graph: &Graph, id: u32) -> String {
    let of = graph.trace.decisions.iter().filter(|d| d.node == id).map(|d| d.text.as_str());
    let all: Vec<&str> = of.collect();
    if all.is_empty() { format!("n{id}") } else { all.join("; ") }
}

fn launch_label(graph: &Graph, k: usize) -> String {
    let at = graph.segment.kernels[0] as usize + k;
    let is_last = graph.pass.id + 1 == graph.segment.passes[1];
    match graph.trace.kernels.get(at).filter(|_| is_last) {
        Some(l) => {
            let moved = bytes(figures::moved(l));
            format!(
                "{} · {}×{} · {moved} · {:.0} µs est.",
                l.name, l.launch.grid[0], l.launch.block[0], l.est.us
            )
        }
        None => format!("k{at}"),
    }
}

fn legend(used: &BTreeSet<&str>) -> Stmt {
    let mut body = vec![set("label", "legend"), set("style", "dashed")];
    for l in LOOKS.iter().filter(|l| used.contains(l.kind)) {
        let id = format!("legend_{}", l.kind);
        body.push(node(&id, vec![attribute("shape", l.shape), attribute("label", l.legend)]));
    }
    cluster("cluster_legend", body)
}

/// One node a launch, one a buffer.
pub fn kernels(trace: &Trace) -> String {
    let mut stmts = defaults();
    for b in &trace.buffers {
        let owner = trace.nodes.get(b.node as usize).and_then(|n| n.name.clone());
        let shape: Vec<String> = b.shape.iter().map(usize::to_string).collect();
        let label = format!(
            "{} {}\n{}[{}] {}",
            b.role,
            owner.unwrap_or_default(),
            b.dtype,
            shape.join(" "),
            bytes(b.bytes)
        );
        let look = if b.role == "input" { "cylinder" } else { "octagon" };
        stmts.push(node(
            &format!("b{}", b.id),
            vec![attribute("shape", look), attribute("label", &label)],
        ));
    }
    for k in &trace.kernels {
        let nodes = count(figures::nodes_in(trace, k), "node");
        let label = format!("{}\n{nodes}, {} flops", k.name, k.est.flops);
        stmts.push(node(
            &format!("k{}", k.id),
            vec![attribute("shape", "box"), attribute("label", &label)],
        ));
        k.inputs
            .iter()
            .for_each(|b| stmts.push(edge(&format!("b{b}"), &format!("k{}", k.id), Vec::new())));
        k.out
            .iter()
            .for_each(|b| stmts.push(edge(&format!("k{}", k.id), &format!("b{b}"), Vec::new())));
    }
    print(stmts)
}

/// The shared terms of each evaluation, each bound once, and the values: a box reads the terms that
/// stand in it.
pub fn lets(trace: &Trace) -> String {
    let mut stmts = defaults();
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for segment in &trace.segments {
        let passes = &trace.passes[segment.passes[0] as usize..segment.passes[1] as usize];
        let Some(pass) = passes.iter().find(|p| p.name == "bind") else { continue };
        let graph = Graph::new(trace, segment, pass);
        let term = Terms { graph: &graph, bound: pass.lets.iter().map(|l| l[1]).collect() };
        let mut own = Vec::new();
        for [level, at] in &pass.lets {
            let Some(n) = graph.node(*at) else { continue };
            used.insert("let");
            let text = term.spelled(n, &mut { WRITTEN });
            let uses = count(graph.uses(*at) as usize, "use");
            let label = format!("let {} at level {level}\n{}\n{uses}", named(n), short(&text));
            let mut looks = vec![attribute("shape", look("let").shape), attribute("label", &label)];
            looks.extend([attribute("id", &format!("n{at}")), attribute("tooltip", &text)]);
            looks.extend(SHARED.iter().map(|(key, value)| attribute(key, value)));
            own.push(node(&format!("n{at}"), looks));
            term.wire(&n.inputs, &format!("n{at}"), &mut own, &mut used);
        }
        for (k, root) in pass.roots.iter().enumerate() {
            let text = term.written(*root, &mut { WRITTEN });
            let id = format!("value{}_{k}", segment.id);
            let looks = [
                ("shape", "octagon"),
                ("label", &format!("value\n{}", short(&text))),
                ("tooltip", &text),
            ];
            used.insert("break");
            own.push(node(&id, looks.iter().map(|(key, value)| attribute(key, value)).collect()));
            term.wire(&[*root], &id, &mut own, &mut used);
        }
        match trace.segments.len() {
            1 => stmts.extend(own),
            _ => stmts.push(step(trace, segment, own)),
        }
    }
    stmts.push(legend(&used));
    print(stmts)
}

/// The look of a shared node.
const SHARED: &[(&str, &str)] =
    &[("style", "filled"), ("fillcolor", "#ffd37a"), ("peripheries", "2")];

/// Terms in APL's order of writing, as far as the next bound term.
struct Terms<'a> {
    graph: &'a Graph<'a>,
    bound: BTreeSet<u32>,
}

/// Characters of a term; the rest is left out.
const TERM: usize = 60;

fn short(text: &str) -> String {
    if text.chars().count() <= TERM {
        text.into()
    } else {
        text.chars().take(TERM - 1).chain(['…']).collect()
    }
}

fn named(n: &NodeRecord) -> String {
    n.name.as_ref().map_or_else(|| format!("n{}", n.id), |name| format!("n{} {name}", n.id))
}

/// Nodes of one term that are written out.
const WRITTEN: usize = 400;

impl Terms<'_> {
    /// True where a term ends: at an input, or what has a let.
    fn is_leaf(&self, n: &NodeRecord) -> bool {
        n.kind == "input" || self.bound.contains(&n.id)
    }

    /// `left` is how many nodes are still written out.
    fn written(&self, at: u32, left: &mut usize) -> String {
        let Some(n) = self.graph.node(at) else { return String::new() };
        if self.is_leaf(n) {
            return n.name.clone().unwrap_or_else(|| format!("n{at}"));
        }
        if n.inputs.is_empty() { n.op.clone() } else { format!("({})", self.spelled(n, left)) }
    }

    fn spelled(&self, n: &NodeRecord, left: &mut usize) -> String {
        if *left == 0 {
            return "…".into();
        }
        *left -= 1;
        let args: Vec<String> = n.inputs.iter().map(|a| self.written(*a, left)).collect();
        match args.as_slice() {
            [] => n.op.clone(),
            [x] => format!("{} {x}", n.op),
            args => args.join(&format!(" {} ", n.op)),
        }
    }

    /// The number of times that the term of these operands reads each of its leaves, also where its
    /// text is cut off.
    fn reads(&self, operands: &[u32]) -> BTreeMap<u32, u64> {
        let (mut reads, mut open): (BTreeMap<u32, u64>, BTreeMap<u32, u64>) = Default::default();
        operands.iter().for_each(|a| *open.entry(*a).or_default() += 1);
        // Operands have smaller ids, so what is taken last has been met by all that read it.
        while let Some((at, times)) = open.pop_last() {
            let Some(n) = self.graph.node(at) else { continue };
            if self.is_leaf(n) {
                reads.insert(at, times);
                continue;
            }
            for a in &n.inputs {
                let all = open.entry(*a).or_default();
                *all = all.saturating_add(times);
            }
        }
        reads
    }

    /// One edge a leaf read, with how often where that is not once; inputs appear when they are
    /// first read.
    fn wire(
        &self,
        operands: &[u32],
        to: &str,
        stmts: &mut Vec<Stmt>,
        used: &mut BTreeSet<&'static str>,
    ) {
        for (from, n) in self.reads(operands) {
            if let Some(input) = self.graph.node(from).filter(|x| x.kind == "input") {
                used.insert("input");
                let looks = [
                    ("shape", look("input").shape),
                    ("label", &named(input)),
                    ("id", &format!("n{from}")),
                ];
                stmts.push(node(
                    &format!("n{from}"),
                    looks.iter().map(|(k, v)| attribute(k, v)).collect(),
                ));
            }
            let looks =
                if n > 1 { vec![attribute("label", &format!("×{n}"))] } else { Vec::new() };
            stmts.push(edge(&format!("n{from}"), to, looks));
        }
    }
}

/// One node a buffer, with its life; an edge for each launch that reads one and writes the other.
pub fn buffers(trace: &Trace) -> String {
    let mut stmts = defaults();
    for b in &trace.buffers {
        let name = trace.nodes.get(b.node as usize).map_or(String::new(), named);
        let life = match (b.born, b.dead) {
            (None, Some(last)) => format!("there before, last read by k{last}"),
            (None, None) => "there before".into(),
            (Some(k), None) => format!("written by k{k}, stays"),
            (Some(k), Some(last)) => format!("written by k{k}, last read by k{last}"),
        };
        let shape: Vec<String> = b.shape.iter().map(usize::to_string).collect();
        let label = format!(
            "b{} {} {name}\n{}[{}] {}\n{life}",
            b.id,
            b.role,
            b.dtype,
            shape.join(" "),
            bytes(b.bytes)
        );
        let look = if b.role == "input" { "cylinder" } else { "octagon" };
        stmts.push(node(
            &format!("b{}", b.id),
            vec![attribute("shape", look), attribute("label", &label)],
        ));
    }
    for k in &trace.kernels {
        for (from, to) in k.inputs.iter().flat_map(|a| k.out.iter().map(move |b| (a, b))) {
            let name = vec![attribute("label", &format!("k{}", k.id))];
            stmts.push(edge(&format!("b{from}"), &format!("b{to}"), name));
        }
    }
    print(stmts)
}

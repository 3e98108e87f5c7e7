//! DOT: the graph for Graphviz.
//!
//! Rows: VISUAL §5, G17. graphviz-rust prints the syntax tree; it does not escape, so every id, label and tooltip is
//! quoted here. No other place knows looks; the legend prints the rows that a picture used. Deterministic.

use crate::Graph;
use aplomb_lang::error::bytes;
use aplomb_lang::trace::{NodeRecord, Trace};
use graphviz_rust::dot_structures::{
    Attribute, Edge, EdgeTy, Graph as Dot, GraphAttributes, Id, Node, NodeId, Stmt, Subgraph, Vertex,
};
use graphviz_rust::printer::{DotPrinter, PrinterContext};
use std::collections::BTreeSet;

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
    Look { kind: "break", shape: "octagon", legend: "break: written to memory" },
];

fn look(kind: &str) -> &'static Look {
    LOOKS.iter().find(|l| l.kind == kind).unwrap_or(&LOOKS[3])
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

/// A pass: nodes, breaks as octagons behind what they keep, launches as clusters, a legend of the shapes used.
pub fn graph(graph: &Graph) -> String {
    let mut used: BTreeSet<&str> = BTreeSet::new();
    let mut stmts = defaults();
    // Nodes stand in the launch that keeps them, or in none.
    let mut inside: Vec<Vec<Stmt>> = vec![Vec::new(); graph.launches()];
    for n in &graph.nodes {
        used.insert(look(&n.kind).kind);
        let stmt = node(&format!("n{}", n.id), attributes(graph, n));
        let home = graph.launch(n.id).or_else(|| only_launch(graph, n.id));
        match home.and_then(|k| inside.get_mut(k as usize)) {
            Some(list) => list.push(stmt),
            None => stmts.push(stmt),
        }
    }
    for b in &graph.pass.breaks {
        used.insert("break");
        let id = format!("b{}", b.node);
        let label = format!("{}\n{}", b.reason, bytes(b.bytes));
        let shape = vec![attribute("shape", look("break").shape), attribute("label", &label), attribute("id", &id)];
        stmts.push(node(&id, shape));
        stmts.push(edge(&format!("n{}", b.node), &id, vec![attribute("arrowhead", "none")]));
    }
    for (k, list) in inside.into_iter().enumerate() {
        let mut body = vec![set("label", &launch_label(graph, k)), set("style", "rounded")];
        body.extend(list);
        stmts.push(cluster(&format!("cluster_k{k}"), body));
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
    stmts.push(legend(&used));
    print(stmts)
}

/// Thicker for more bytes: one point a factor of ten beyond a kilobyte.
fn width(graph: &Graph, id: u32) -> String {
    let bytes = graph.pass.breaks.iter().find(|b| b.node == id).map_or(0, |b| b.bytes);
    format!("{:.1}", ((bytes.max(1) as f64).log10() - 2.0).clamp(1.0, 8.0))
}

/// The launch of the kept node that alone needs this one.
fn only_launch(graph: &Graph, id: u32) -> Option<u32> {
    if graph.node(id).is_some_and(|n| n.kind == "input") {
        return None;
    }
    let mut homes = BTreeSet::new();
    let mut stack = vec![id];
    let mut seen = BTreeSet::new();
    while let Some(at) = stack.pop() {
        for user in graph.nodes.iter().filter(|n| n.inputs.contains(&at)) {
            match graph.launch(user.id) {
                Some(k) => drop(homes.insert(k)),
                None if seen.insert(user.id) => stack.push(user.id),
                None => {}
            }
        }
    }
    (homes.len() == 1).then(|| homes.into_iter().next()).flatten()
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
    if n.uses > 1 && !n.inputs.is_empty() {
        out.extend([attribute("style", "filled"), attribute("fillcolor", "#ffd37a"), attribute("peripheries", "2")]);
        out.push(attribute("xlabel", &format!("×{} uses", n.uses)));
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
            let moved = bytes(l.est.r + l.est.w);
            format!("{} · {}×{} · {moved} · {:.0} µs est.", l.name, l.launch.grid[0], l.launch.block[0], l.est.us)
        }
        None => format!("k{k}"),
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
        let label =
            format!("{} {}\n{}[{}] {}", b.role, owner.unwrap_or_default(), b.dtype, shape.join(" "), bytes(b.bytes));
        let look = if b.role == "input" { "cylinder" } else { "octagon" };
        stmts.push(node(&format!("b{}", b.id), vec![attribute("shape", look), attribute("label", &label)]));
    }
    for k in &trace.kernels {
        let label = format!("{}\n{} nodes, {} flops", k.name, k.body.len(), k.est.flops);
        stmts.push(node(&format!("k{}", k.id), vec![attribute("shape", "box"), attribute("label", &label)]));
        k.inputs.iter().for_each(|b| stmts.push(edge(&format!("b{b}"), &format!("k{}", k.id), Vec::new())));
        k.out.iter().for_each(|b| stmts.push(edge(&format!("k{}", k.id), &format!("b{b}"), Vec::new())));
    }
    print(stmts)
}

//! The trace: its schema, its determinism, its decisions; DOT that Graphviz accepts.

use crate::support;
use crate::support::{BLACK_SCHOLES, extras, program, session, told, traced};
use aplomb::commands::pictures::{self, Dot};
use aplomb_ground::error::bytes;
use aplomb_ground::trace::{LaunchRecord, Trace};
use aplomb_viz::svg::Panel;
use aplomb_viz::tables;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};

/// Lines of many shapes over A, B, M.
fn corpus() -> Vec<Trace> {
    let mut s = session();
    let mut all = vec![traced(&mut s, &["A←0.5×⍳6 ⋄ B←7-⍳6 ⋄ M←2 3⍴A", "A B M"])];
    let ones = ["-", "÷", "*", "⍟", "⌊", "|", "○"];
    let twos = ["+", "-", "×", "÷", "⌈", "⌊", "<", "=", "*", "|"];
    let moves = ["⌽", "2⌽", "3↑", "¯8↑", "1↓", ""];
    let folds = ["+/", "⌈/", "×/", ""];
    for one in ones {
        for two in twos {
            let line = format!("{one}20+A{two}B");
            all.push(traced(&mut s, &[&line]));
        }
    }
    for movement in moves {
        for fold in folds {
            for two in ["+", "×", "⌊"] {
                let line = format!("{fold}1+{movement}A{two}B");
                all.push(traced(&mut s, &[&line]));
                let line = format!("(A-⌊/A)÷1+{fold}{movement}|A{two}B");
                if !line.contains("3↑") && !line.contains("8↑") && !line.contains("1↓") {
                    all.push(traced(&mut s, &[&line]));
                }
            }
        }
    }
    for line in [
        "(M-⌊/A)÷2",
        "+/M",
        "+⌿M",
        "+/⍉M",
        "M+.×⍉M",
        "{⍵÷+/⍵}*A",
        "{((+/(⍵-(+/⍵)÷≢⍵)*2)÷≢⍵)*0.5}⍟B",
    ] {
        all.push(traced(&mut s, &[line]));
    }
    let mut lines = BLACK_SCHOLES.to_vec();
    lines.push("call put");
    all.push(traced(&mut s, &lines));
    assert!(all.len() >= 120, "{}", all.len());
    all
}

#[test]
fn every_trace_holds_to_its_schema() {
    let Some(python) = extras("jsonschema") else { return };
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = std::env::temp_dir().join(format!("aplomb-traces-{}.ndjson", std::process::id()));
    let text: Vec<String> =
        corpus().iter().map(|t| serde_json::to_string(t).expect("json")).collect();
    std::fs::write(&file, text.join("\n")).expect("a file");
    let out = Command::new(python)
        .arg(root.join("tools/validate-trace.py"))
        .arg(root.join("crates/ground/trace.schema.json"))
        .arg(&file)
        .output()
        .expect("python");
    let _ = std::fs::remove_file(&file);
    assert!(
        out.status.success(),
        "{}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
}

/// The keys of a value that its schema does not name, by their paths.
fn unnamed(root: &Value, schema: &Value, value: &Value, path: &str, wrong: &mut BTreeSet<String>) {
    if let Some(name) = schema["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
        return unnamed(root, &root["$defs"][name], value, path, wrong);
    }
    // Of several ways null is the other one.
    let ways = schema["anyOf"].as_array().map_or(&[][..], |all| all);
    ways.iter().take(1).for_each(|way| unnamed(root, way, value, path, wrong));
    match value {
        Value::Array(all) => {
            all.iter().for_each(|v| unnamed(root, &schema["items"], v, path, wrong));
        }
        Value::Object(all) if ways.is_empty() => {
            for (key, v) in all {
                let path = format!("{path}.{key}");
                match [&schema["properties"][key], &schema["additionalProperties"]] {
                    [Value::Object(own), _] | [_, Value::Object(own)] => {
                        unnamed(root, &Value::Object(own.clone()), v, &path, wrong);
                    }
                    _ => drop(wrong.insert(path)),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn a_trace_has_no_field_that_its_schema_does_not_name() {
    let schema: Value =
        serde_json::from_str(include_str!("../../crates/ground/trace.schema.json")).expect("JSON");
    let mut wrong = BTreeSet::new();
    let lines = ["x←3000⍴3 1 4 1 5 9 ⋄ _←⎕DR x", "+/∪x"];
    let worked = traced(&mut session(), &lines);
    assert!(worked.diagnostics.iter().any(|d| d.ms.is_some()), "{:?}", worked.diagnostics);
    for trace in corpus().into_iter().chain([worked]) {
        let value = serde_json::to_value(&trace).expect("JSON");
        unnamed(&schema, &schema, &value, "", &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The schema names the forms that there are, and each form has its own name.
#[test]
fn the_schema_names_every_form() {
    use aplomb_plans::kir::Form;
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../crates/ground/trace.schema.json")).expect("JSON");
    let named: Vec<&str> = schema["$defs"]["launch"]["properties"]["form"]["enum"]
        .as_array()
        .expect("names")
        .iter()
        .filter_map(serde_json::Value::as_str)
        .collect();
    let forms: Vec<&str> = aplomb_ground::trace::FORMS.iter().map(|form| form.0).collect();
    assert_eq!(named, forms);
    let some = [(Form::Map, "map"), (Form::Strips, "strips"), (Form::Whole, "whole")];
    assert!(some.iter().all(|(form, name)| form.name() == *name));
    assert_eq!(Form::Whole as usize + 1, forms.len());
}

#[test]
fn a_canonical_trace_is_the_same_on_every_run() {
    let once = || {
        serde_json::to_string(&traced(&mut session(), &["X←⍳5", "+/2×1+X"]).canonical())
            .expect("json")
    };
    assert_eq!(once(), once());
}

#[test]
fn what_is_marked_as_written_has_a_buffer() {
    for trace in corpus() {
        for segment in &trace.segments {
            let last = &trace.passes[segment.passes[1] as usize - 1];
            let marked: BTreeSet<u32> = last.breaks.iter().map(|b| b.node).collect();
            let buffers = &trace.buffers[segment.buffers[0] as usize..segment.buffers[1] as usize];
            let written: BTreeSet<u32> =
                buffers.iter().filter(|b| b.role != "input").map(|b| b.node).collect();
            assert_eq!(marked, written, "{}", trace.statement);
        }
    }
}

/// A search runs few plans thousands of times: each is told once, with how often it ran, and what
/// would take long is told in part.
#[test]
fn equal_evaluations_and_launches_are_told_once() {
    let mut s = session();
    let line = "{s←(3|r)/r←⍳9 ⋄ ⍵+≢⊃⊂s}⍣60⊢1 2";
    let told = traced(&mut s, &[line]);
    let all: u64 = told.segments.iter().map(|s| s.times()).sum();
    assert!(told.segments.len() <= 5 && all >= 120, "{} of {all}", told.segments.len());
    let most = told.segments.iter().map(|s| s.times()).max();
    assert!(most >= Some(60), "{most:?}");
    for k in &told.kernels {
        let own = told.segments.iter().find(|s| (s.kernels[0]..s.kernels[1]).contains(&k.id));
        assert_eq!(own.map(|s| s.alike), Some(k.alike));
        assert_eq!(k.meas.as_ref().map(|m| u64::from(m.n)), Some(k.times()), "{}", k.name);
    }
    let spent = s.spent();
    let launches: u64 = told.kernels.iter().map(|k| k.times()).sum();
    assert_eq!((launches, all), (spent.launches as u64, spent.evaluations as u64));

    // Equal launches of one evaluation are one row of the table, and one sentence.
    let told = traced(&mut s, &["{⍵+⍵[⍋⍵]}⍣30⊢⌽⍳2000"]);
    assert!(told.kernels.len() > 20, "{}", told.kernels.len());
    let table = aplomb_viz::tables::kernels(&told, None).expect("a table");
    assert!(table.lines().count() < 8 && table.contains("k6…k30 ⍵+⍵[⍋⍵] ×25"), "{table}");
    let why = aplomb_viz::why::summary(&told, 80);
    assert!(why.lines().count() < 24 && why.contains(" alike)"), "{why}");
}

#[test]
fn launches_are_named_by_the_source_of_what_they_write() {
    let table = [
        ("P←?50 60⍴0 ⋄ C←?40 60⍴0 ⋄ P+.×⍉C", vec!["P+.×⍉C"]),
        ("{e÷+/e←*⍵-⌈/⍵}?2000⍴0", vec!["⌈/⍵", "+/e←*⍵-⌈/⍵", "e÷+/e←*⍵-⌈/⍵"]),
        ("(+/y)(⌈/y←*0.001×⍳2000)", vec!["(+/y)(⌈/y←*0.001×⍳2000)"]),
        ("avg←+/÷≢ ⋄ avg ⍳3000", vec!["avg ⍳3000"]),
        ("r←3↑⌽+\\⍳3000 ⋄ r", vec!["+\\⍳3000", "r←3↑⌽+\\⍳3000"]),
    ];
    for (line, wanted) in table {
        let told = traced(&mut session(), &[line]);
        let wanted: Vec<String> =
            wanted.iter().enumerate().map(|(k, name)| format!("k{k} {name}")).collect();
        let names: Vec<&str> = told.kernels.iter().map(|k| k.name.as_str()).collect();
        assert_eq!(names, wanted, "{line}");
    }
}

/// `]kernels`: what points ask for, what comes from memory and what goes there are three columns,
/// each launch's own; registers and occupancy are two more where they are known.
#[test]
fn the_table_of_launches_has_requests_bytes_and_occupancy() {
    let lines = ["A←?40 50⍴0 ⋄ ⎕NC'A'", "((+/÷≢)*A)(A+.×⍉A)"];
    let mut told = traced(&mut session(), &lines);
    let cells = |told: &Trace| -> Vec<Vec<String>> {
        let table = tables::kernels(told, None).expect("a table");
        let apart = |l: &str| {
            l.split("  ").map(str::trim).filter(|c| !c.is_empty()).map(str::to_string).collect()
        };
        table.lines().map(apart).collect()
    };
    let rows = cells(&told);
    let plain = ["requests", "from memory", "writes", "sm_90 est", "cpu est", "cpu"];
    assert_eq!(rows[0][..4], ["launch", "kind", "domain", "nodes"]);
    assert_eq!(rows[0][4..], plain);
    assert!(told.kernels.iter().any(|k| k.est.loads > 10 * k.est.r), "a product asks often");
    for (row, k) in rows[1..].iter().zip(&told.kernels) {
        assert_eq!(row[0], k.name);
        assert_eq!(row[4..7], [k.est.loads, k.est.r, k.est.w].map(bytes));
    }
    for k in &mut told.kernels {
        (k.regs, k.occ) = (Some(40 + k.id), Some(0.75));
    }
    let rows = cells(&told);
    assert_eq!(rows[0][8..10], ["regs", "occupancy"]);
    for (row, k) in rows[1..].iter().zip(&told.kernels) {
        assert_eq!(row[8..10], [format!("{}", 40 + k.id), "75 %".into()]);
    }
}

/// A price is the difference of two whole plans: the plan as it is, and the one that is made with
/// the choice reversed.
#[test]
fn nothing_is_called_dearer_that_its_own_figure_says_is_cheaper() {
    for trace in corpus() {
        for d in &trace.decisions {
            let cheaper =
                d.alt.iter().find(|a| a.why_not == "dearer by itself" && a.cost.us < d.cost.us);
            assert!(
                cheaper.is_none(),
                "{}: {} {:?} {:?}",
                trace.statement,
                d.text,
                d.cost,
                cheaper
            );
        }
    }
}

#[test]
fn every_kept_node_reduction_and_shared_term_has_a_decision_with_its_loser() {
    for trace in corpus() {
        let decided: BTreeSet<u32> = trace.decisions.iter().map(|d| d.node).collect();
        for d in &trace.decisions {
            let whole = !d.reason.is_empty()
                && d.reason != "unknown"
                && !d.seed.is_empty()
                && !d.text.is_empty();
            assert!(
                whole && !d.alt.is_empty() && d.alt.iter().all(|a| !a.why_not.is_empty()),
                "{d:?}"
            );
        }
        let last = trace.segments.iter().filter_map(|s| trace.passes.get(s.passes[1] as usize - 1));
        for pass in last {
            for b in &pass.breaks {
                assert!(decided.contains(&b.node), "{}: n{} {}", trace.statement, b.node, b.reason);
            }
        }
        for pass in trace.passes.iter().filter(|p| p.name == "bind") {
            for l in &pass.lets {
                assert!(decided.contains(&l[1]), "{}: shared n{}", trace.statement, l[1]);
            }
        }
    }
}

#[test]
fn every_node_of_a_body_has_a_cuda_line_and_every_line_a_node() {
    for trace in corpus() {
        for k in &trace.kernels {
            let Some(cuda) = &k.cuda else { panic!("{}: no CUDA", trace.statement) };
            let lines: BTreeSet<u32> =
                cuda.lines.iter().flat_map(|l| l.1.iter().copied()).collect();
            for n in &k.body {
                let node = &trace.nodes[*n as usize];
                let silent = node.kind == "const" || node.kind == "transform";
                assert!(
                    silent || lines.contains(n),
                    "{}: n{n} {} has no line\n{}",
                    trace.statement,
                    node.op,
                    cuda.text
                );
            }
        }
    }
}

#[test]
fn graphviz_accepts_every_export_without_a_word() {
    let Some(dot) = program("dot") else { return };
    let mut texts = String::new();
    for (k, trace) in corpus().iter().enumerate() {
        texts += &aplomb_viz::dot::kernels(trace);
        texts += &aplomb_viz::dot::lets(trace);
        texts += &aplomb_viz::dot::buffers(trace);
        for s in 0..trace.segments.len() {
            let passes = trace.segments[s].passes;
            // All passes of some, the last of each.
            for p in (0..passes[1] - passes[0])
                .filter(|p| k % 20 == 0 || *p + 1 == passes[1] - passes[0])
            {
                let graph = aplomb_viz::find_pass(trace, s, Some(&p.to_string())).expect("a pass");
                texts += &aplomb_viz::dot::graph(&graph);
            }
        }
    }
    let mut child = Command::new(dot)
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dot");
    let mut stdin = child.stdin.take().expect("a pipe");
    let feed = std::thread::spawn(move || std::io::Write::write_all(&mut stdin, texts.as_bytes()));
    let out = child.wait_with_output().expect("dot");
    feed.join().expect("a thread").expect("a pipe");
    assert!(
        out.status.success() && out.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    assert!(String::from_utf8_lossy(&out.stdout).matches("<svg").count() >= 120);
}

/// Pairs `"a" -> "b"` of a DOT text.
fn edges(text: &str) -> Vec<(String, String)> {
    let pair = |l: &str| {
        let (from, to) = l.trim().split_once(" -> ")?;
        Some((from.trim_matches('"').to_string(), to.split('"').nth(1)?.to_string()))
    };
    text.lines().filter_map(pair).collect()
}

#[test]
fn a_pass_for_graphviz_has_its_edges_launches_breaks_and_shapes() {
    for trace in corpus().iter().step_by(5) {
        for (s, segment) in trace.segments.iter().enumerate() {
            for p in 0..segment.passes[1] - segment.passes[0] {
                let graph = aplomb_viz::find_pass(trace, s, Some(&p.to_string())).expect("a pass");
                let text = aplomb_viz::dot::graph(&graph);
                let mut found: Vec<(u32, u32)> = Vec::new();
                for (from, to) in edges(&text) {
                    // A kept node hands on through its break, and has one edge to it.
                    if !to.starts_with('b') {
                        found.push((
                            from[1..].parse().expect("an id"),
                            to[1..].parse().expect("an id"),
                        ));
                        assert_eq!(
                            from.starts_with('b'),
                            graph.is_kept(found[found.len() - 1].0),
                            "{text}"
                        );
                    }
                }
                let mut wanted: Vec<(u32, u32)> =
                    graph.nodes.iter().flat_map(|n| n.inputs.iter().map(|a| (*a, n.id))).collect();
                found.sort();
                wanted.sort();
                assert_eq!(found, wanted, "{}\n{text}", trace.statement);
                let clusters = text.matches("subgraph \"cluster_k").count();
                assert_eq!(clusters, graph.launches(), "{text}");
                // What a box says of its uses: the edges that leave it, and the values that it is.
                for n in graph.nodes.iter().filter(|n| !n.inputs.is_empty()) {
                    let leaving = found.iter().filter(|e| e.0 == n.id).count();
                    let uses = leaving + graph.pass.roots.iter().filter(|r| **r == n.id).count();
                    let says = (uses > 1).then(|| format!("{uses} uses"));
                    assert_eq!(
                        attribute(&text, n.id, "xlabel"),
                        says,
                        "{}: n{}\n{text}",
                        trace.statement,
                        n.id
                    );
                }
                let octagons = text.matches("shape=\"octagon\"").count();
                let breaks = graph.pass.breaks.len();
                assert_eq!(octagons, breaks + usize::from(breaks > 0), "{text}");
                let kinds: BTreeSet<&str> = graph.nodes.iter().map(|n| n.kind.as_str()).collect();
                for kind in ["input", "const", "iota", "map", "transform", "reduce"] {
                    assert_eq!(
                        text.contains(&format!("legend_{kind}")),
                        kinds.contains(kind),
                        "{kind} in {text}"
                    );
                }
            }
        }
    }
}

/// The value that a DOT text gives a node under that key.
fn attribute(text: &str, id: u32, key: &str) -> Option<String> {
    let line = text.lines().find(|l| l.trim_start().starts_with(&format!("\"n{id}\"[")))?;
    Some(line.split_once(&format!(" {key}=\""))?.1.split('"').next()?.to_string())
}

#[test]
fn lets_for_graphviz_are_the_terms_that_bind_made() {
    for trace in corpus() {
        let text = aplomb_viz::dot::lets(&trace);
        let lets: Vec<u32> = trace
            .passes
            .iter()
            .filter(|p| p.name == "bind")
            .flat_map(|p| &p.lets)
            .map(|l| l[1])
            .collect();
        assert_eq!(
            text.matches("label=\"let n").count(),
            lets.len(),
            "{}\n{text}",
            trace.statement
        );
        for at in lets {
            let own =
                text.lines().filter(|l| l.trim_start().starts_with(&format!("\"n{at}\" -> ")));
            let times = |l: &str| {
                l.split_once("label=\"×")
                    .map_or(1, |(_, n)| n.split('"').next().unwrap().parse().unwrap())
            };
            let uses: u32 = own.map(times).sum();
            let label = attribute(&text, at, "label").expect("a label");
            assert!(
                label.ends_with(&format!("\\n{uses} uses")),
                "{}: n{at} {label}, {uses} leave\n{text}",
                trace.statement
            );
        }
    }
}

/// A line of several evaluations is one digraph: what follows in a file, no renderer draws.
#[test]
fn a_line_for_graphviz_is_one_digraph_with_all_its_evaluations() {
    let lines = ["a←0.5×⍳3000", "b←a×a", "1+(b>2)/b"];
    let trace = told(&[], &lines);
    assert!(trace.segments.len() > 1, "{}", trace.segments.len());
    for view in [Dot::Pass(None), Dot::Pass(Some("record")), Dot::Launches, Dot::Lets, Dot::Buffers]
    {
        let text = pictures::dot(&trace, view).expect("a picture");
        assert_eq!(text.matches("digraph").count(), 1, "{text}");
        let nodes = text
            .lines()
            .filter(|l| l.trim_start().starts_with('"') && l.contains("\"[") && !l.contains("->"));
        let ids: Vec<&str> = nodes.filter_map(|l| l.split('"').nth(1)).collect();
        let inputs = trace
            .nodes
            .iter()
            .filter(|n| n.kind == "input")
            .map(|n| format!("n{}", n.id))
            .collect::<Vec<_>>();
        let computed = ids.iter().filter(|id| !inputs.iter().any(|n| n == **id));
        let (all, distinct) = (computed.clone().count(), computed.collect::<BTreeSet<_>>().len());
        assert_eq!(all, distinct, "{text}");
        if let Dot::Pass(pass) = view {
            assert_eq!(
                text.matches("subgraph \"cluster_e").count(),
                trace.segments.len(),
                "{text}"
            );
            for s in 0..trace.segments.len() {
                let graph = aplomb_viz::find_pass(&trace, s, pass).expect("a pass");
                assert!(
                    graph.nodes.iter().all(|n| ids.contains(&format!("n{}", n.id).as_str())),
                    "{text}"
                );
            }
        }
    }
}

/// Work of the evaluator has a grey node below the last evaluation, in each kind of picture.
#[test]
fn work_outside_of_launches_stands_in_the_pictures() {
    let trace = told(&[], &["t←20000⍴'the quick brown fox '", "{⍺,≢⍵}⌸' '(≠⊆⊢)t"]);
    let last = trace.segments.len() - 1;
    let graph = |s: usize| aplomb_viz::find_pass(&trace, s, None).expect("a pass");
    let panel = |s: usize| Panel { heading: String::new(), graph: graph(s), folded: true };
    let dot = pictures::dot(&trace, Dot::Pass(None)).expect("a picture");
    let svg = aplomb_viz::svg::draw(&[panel(last)]);
    assert!(svg.contains("{⍺,≢⍵}⌸") && svg.contains("launches"), "{svg}");
    let grey = dot.lines().find(|l| l.contains("{⍺,≢⍵}⌸ at 1:1 · ")).expect(&dot);
    assert!(grey.contains("fillcolor"), "{grey}");
    // Above it nothing is said: the work is of the line.
    assert!(last > 0 && !aplomb_viz::svg::draw(&[panel(0)]).contains("outside"));
    let mut canonical = trace.clone();
    canonical.diagnostics.iter_mut().for_each(|d| d.ms = None);
    let dot = pictures::dot(&canonical, Dot::Pass(None)).expect("a picture");
    assert!(!dot.contains("outside of launches"), "{dot}");
}

/// A gather reads where values say, and no picture claims a place.
#[test]
fn a_gather_says_that_values_tell_its_place() {
    let trace = told(&[], &["a←0.5×⍳3000", "i←?2000⍴3000", "1+a[i]"]);
    let gathers = trace.nodes.iter().filter(|n| n.kind == "gather");
    assert!(gathers.clone().count() > 0);
    for n in gathers {
        assert_eq!(n.attr.affine.as_deref(), Some("(i)→(…)"), "{n:?}");
    }
}

/// Boxes of a picture: node, row, column.
fn places(picture: &str) -> Vec<(u32, usize, usize)> {
    let mut out = Vec::new();
    for (row, line) in picture.lines().take_while(|l| !l.is_empty()).enumerate() {
        let chars: Vec<char> = line.chars().collect();
        for x in 0..chars.len() {
            let digits: String = chars[x + 1..].iter().take_while(|c| c.is_ascii_digit()).collect();
            let opens = x > 0 && matches!(chars[x - 1], '[' | '(');
            if let (true, 'n', Ok(id)) = (opens, chars[x], digits.parse()) {
                out.push((id, row, x));
            }
        }
    }
    out
}

#[test]
fn a_node_keeps_its_place_from_pass_to_pass() {
    let (mut kept, mut all) = (0, 0);
    for trace in corpus() {
        for (s, segment) in trace.segments.iter().enumerate() {
            let count = segment.passes[1] - segment.passes[0];
            let draw = |p: u32| {
                let graph = aplomb_viz::find_pass(&trace, s, Some(&p.to_string())).expect("a pass");
                aplomb_viz::text::draw(&graph, false)
            };
            let pictures: Vec<String> = (0..count).map(draw).collect();
            for p in 1..count as usize {
                let unchanged = !trace.passes[segment.passes[0] as usize + p].changed;
                assert!(
                    !unchanged || pictures[p] == pictures[p - 1],
                    "{}: pass {p}",
                    trace.statement
                );
                let (before, after) = (places(&pictures[p - 1]), places(&pictures[p]));
                let at = |list: &[(u32, usize, usize)], id: u32| {
                    list.iter().find(|b| b.0 == id).map(|b| (b.1, b.2))
                };
                // Of any two that survive: above stays above, left stays left.
                for (k, a) in before.iter().enumerate() {
                    for b in &before[k + 1..] {
                        if let (Some(x), Some(y)) = (at(&after, a.0), at(&after, b.0)) {
                            all += 1;
                            let same_row = a.1 == b.1 && x.0 == y.0;
                            kept += usize::from(if same_row {
                                (a.2 < b.2) == (x.1 < y.1)
                            } else {
                                x.0 <= y.0
                            });
                        }
                    }
                }
            }
        }
    }
    println!("{kept} of {all} pairs keep their order");
    assert!(kept as f64 >= 0.95 * all as f64, "{kept} of {all}");
}

#[test]
fn g4_pictures_of_the_examples_fit_their_widths() {
    let mut s = session();
    let mut lines = BLACK_SCHOLES.to_vec();
    lines.push("call put");
    let trace = traced(&mut s, &lines);
    let size = |picture: &str| {
        let drawn: Vec<&str> = picture.lines().take_while(|l| !l.is_empty()).collect();
        (drawn.iter().map(|l| l.chars().count()).max().unwrap_or(0), drawn.len())
    };
    let graph = aplomb_viz::find_pass(&trace, 0, None).expect("a pass");
    let picture = aplomb_viz::text::draw_folded(&graph, false);
    assert!(
        size(&picture).0 <= 72 && size(&picture).1 <= 45,
        "Black-Scholes: {:?}\n{picture}",
        size(&picture)
    );
    // A weighted sum of fifteen shifted copies.
    let sum = (1..=15).map(|k| format!("(0.{k}×{k}⌽X)")).collect::<Vec<_>>().join("+");
    let trace = traced(&mut s, &["X←0.5×⍳99 ⋄ X", &sum]);
    let graph = aplomb_viz::find_pass(&trace, 0, None).expect("a pass");
    let picture = aplomb_viz::text::draw_folded(&graph, false);
    assert!(size(&picture).0 <= 40, "{:?}\n{picture}", size(&picture));
}

#[test]
fn equal_nodes_have_equal_hashes_and_others_have_not() {
    let hash = |kind: &str, line: &str| {
        let trace = support::told(&[], &["x←⍳2500 ⋄ m←50 50⍴x ⋄ y←1+49|3×⍳50", line]);
        let node = trace.nodes.iter().find(|n| n.kind == kind);
        node.unwrap_or_else(|| panic!("{line}: no {kind}")).h.clone()
    };
    for (kind, line, others) in [
        ("loop", "+/({⍵+2}⍣9)x", ["+/({⍵⌈2}⍣9)x", "+/({⍵+2}⍣8)x"]),
        ("gather", "+/,0.5×m[y;y]", ["+/,0.5×m[y;]", "+/,0.5×m[;y]"]),
        ("transform", "+/3↓x×2", ["+/4↓x×2", "+/⌽x×2"]),
    ] {
        assert_eq!(hash(kind, line), hash(kind, line));
        let mut all = vec![hash(kind, line)];
        all.extend(others.map(|other| hash(kind, other)));
        let n = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), n, "{kind}: {line} {others:?}");
    }
}

#[test]
fn sentences_name_nodes_as_the_trace_numbers_them() {
    // Each guard is an evaluation of its own.
    let trace = support::told(&[], &["x←⍳2000", "{0<+/⍵×2:⌈/⍵÷3 ⋄ 0}x"]);
    assert!(trace.segments.len() > 1);
    let late = trace.segments[1].nodes[0];
    let mut seen = 0;
    for d in trace
        .decisions
        .iter()
        .filter(|d| d.node >= late && matches!(d.what.as_str(), "inline" | "share"))
    {
        seen += 1;
        assert!(d.text.starts_with(&format!("n{} ", d.node)), "{}: {}", d.node, d.text);
    }
    assert!(seen > 0);
    for k in trace.kernels.iter().filter(|k| k.body.iter().all(|n| *n >= late)) {
        let cuda = k.cuda.as_ref().expect("a text");
        for (line, nodes) in &cuda.lines {
            let text = cuda.text.lines().nth(*line as usize - 1).unwrap_or("");
            assert!(
                !text.contains("//") || text.ends_with(&format!("// n{}", nodes[0])),
                "{text} {nodes:?}"
            );
        }
    }
}

/// Bytes of a launch, of a pass, of a line and of `]time` are one number: what comes from memory
/// once and what goes there.
#[test]
fn every_view_of_a_line_tells_the_same_bytes() {
    let moved = |t: &Trace| t.kernels.iter().map(|k| k.est.r + k.est.w).sum::<u64>();
    let mut traces = corpus();
    let lines = [
        ("A←0.5×300 200⍴⍳60000 ⋄ B←0.25×200 250⍴⍳50000", "A+.×B", 8 * (60_000 + 50_000 + 75_000)),
        ("a←0.5×⍳3000 ⋄ i←?2000⍴3000", "a[i]", 8 * 2_000 + 2 * 2_000 + 8 * 2_000),
        ("a←0.5×⍳3000", "(1↓a)+¯1↓a", 8 * (3_000 + 2_999)),
        ("a←0.5×⍳3000", "2×5↑a", 8 * (5 + 5)),
        ("a←0.5×⍳3000", "+/3 3⍴a", 8 * (9 + 3)),
        ("a←0.5×⍳50 ⋄ b←50 60⍴0.5×⍳3000", "a∘.×a", 8 * (50 + 2_500)),
        ("a←0.5×⍳3000 ⋄ m←3000⍴1 0 0", "+/m/a", 8 * 3_000 + 3_000 + 8),
        ("a←⌽0.5×⍳3000", "a⍳2 3 4 5⍴a", 0),
    ];
    for (setup, line, wanted) in lines {
        let mut s = session();
        let names = "a A b B i m"
            .split(' ')
            .filter(|n| setup.contains(&format!("{n}←")))
            .collect::<Vec<_>>()
            .join(" ");
        let trace = traced(&mut s, &[setup, &names, line]);
        if wanted > 0 {
            assert_eq!(moved(&trace), wanted, "{line}: {:?}", trace.kernels);
        }
        // The same line as it runs where nobody looks: `]time`.
        let mut heard = support::Heard::default();
        let code = line.to_string();
        s.handle(
            aplomb_ground::protocol::Request::Execute { code, name: "line".into(), silent: true },
            &mut heard,
        );
        let spent = s.spent();
        if spent.launches > 0 {
            let told = s.trace_of(None).expect("a trace");
            assert_eq!((moved(&told), told.kernels.len()), (spent.bytes, spent.launches), "{line}");
            // One run: its time is the one that is told, and no other was made.
            assert_eq!(told.times["launch_ms"], spent.launch_ms, "{line}");
            assert_eq!(s.trace_of(None).expect("a trace").kernels, told.kernels, "{line}");
        }
        traces.push(trace);
    }
    for trace in traces {
        let last = trace
            .segments
            .iter()
            .map(|s| trace.passes[s.passes[1] as usize - 1].bytes)
            .sum::<u64>();
        assert_eq!(moved(&trace), last, "{}: {:?}", trace.statement, trace.kernels);
        // Where the values of a run were counted that is what is told; before, it is the most.
        let counted = |k: &LaunchRecord| {
            let read = k.meas.as_ref().and_then(|meas| meas.read);
            assert!(read.is_none_or(|read| read <= k.est.r), "{}", trace.statement);
            read.unwrap_or(k.est.r) + k.est.w
        };
        let told: u64 = trace.kernels.iter().map(counted).sum();
        let bytes = aplomb_viz::figures::find("bytes").expect("a figure");
        assert_eq!((bytes.of)(&trace), told, "{}", trace.statement);
        assert!(trace.kernels.iter().all(|k| k.est.loads >= k.est.r), "{}", trace.statement);
    }
}

/// Work outside of launches is told with its own time, which leaves out what ran within; a
/// canonical trace has no time.
#[test]
fn work_outside_of_launches_has_its_place_and_time() {
    let mut s = session();
    let trace = traced(&mut s, &["V←0.5×⍳3000 ⋄ K←3000⍴1 2 3", "(+/V)++/{⎕←≢⍵ ⋄ +/⍵}⌸K"]);
    let told: Vec<_> = trace.diagnostics.iter().filter(|d| d.ms.is_some()).collect();
    let [key] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((key.code.as_str(), key.span.map(|s| s[1])), ("W-interpreted", Some(8)));
    let table = aplomb_viz::tables::kernels(&trace, None).expect("a table");
    let row = table.lines().find(|l| l.starts_with("{⎕←≢⍵ ⋄ +/⍵}⌸ at 1:9 ")).expect("a row");
    assert!(row.contains(" evaluator "), "{table}");
    let why = aplomb_viz::why::summary(&trace, 200);
    assert!(why.starts_with("outside of launches ") && why.contains(": {⎕←≢⍵ ⋄ +/⍵}⌸ at 1:9 "));
    // Of many places the others are one.
    let line = vec!["(+/⎕UCS 2000⍴'a')"; 40].join(",");
    let many = traced(&mut s, &[&line]);
    let told: Vec<_> = many.diagnostics.iter().filter(|d| d.ms.is_some()).collect();
    assert!(told.len() == 17 && told[16].span.is_none(), "{told:?}");
    assert!(told[16].text.starts_with("other places ran in the interpreter"), "{told:?}");
    let canonical = trace.canonical();
    assert!(canonical.diagnostics.iter().all(|d| d.ms.is_none()));
    assert!(!aplomb_viz::why::summary(&canonical, 200).contains("outside of launches"));
}

/// A line of one launch has the nodes of that launch: those that compute, and those that only say
/// where it reads.
#[test]
fn a_lone_launch_has_all_nodes_of_its_line() {
    let setup = "X←0.5×⍳5000 ⋄ M←60 60⍴X ⋄ T←5000⍴'some text '";
    let lines = [
        "+/X×2",
        "+/T=' '",
        "M+.×⍉M",
        "⌽X",
        "+/⌽2×X",
        "(1⌽X)+¯1⌽X",
        "X∘.+⍳3",
        "+/X,⌽X",
        "60 60⍴⌽X×X",
        "+/5000⍴3 1 4",
        "3↑⌽X",
        "+\\X-⌽X",
    ];
    let number = |text: &str, before: &str| -> usize {
        let (left, _) = text.split_once(before).unwrap_or_else(|| panic!("{before}: {text}"));
        let last = left.rsplit(' ').next().expect("a word");
        last.parse().unwrap_or_else(|_| panic!("a number is wanted: {text}"))
    };
    for line in lines {
        let trace = told(&[], &[setup, "X M T", line]);
        assert_eq!(trace.kernels.len(), 1, "{line}");
        let text = aplomb_viz::why::summary(&trace, 200).replace("nodes", "node");
        let head = text.lines().find(|l| l.starts_with("1 launch for ")).expect("a head");
        let own = text.lines().find(|l| l.starts_with("  k0 ")).expect("a launch");
        assert_eq!(number(head, " node, "), number(own, " node in one pass"), "{text}");
    }
}

/// A record has the whole time of its statement, of which compiling and launches are parts.
#[test]
fn a_trace_has_the_time_of_its_statement() {
    let told = traced(&mut session(), &["A←÷⍳40000", "(+/A)÷⌈/*A"]);
    let ms = |name: &str| told.times[name];
    assert!(ms("wall_ms") >= ms("front_ms") + ms("launch_ms"), "{:?}", told.times);
    assert!(!told.canonical().times.contains_key("wall_ms"));
}

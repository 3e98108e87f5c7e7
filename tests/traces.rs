//! The trace: its schema, its determinism, its decisions; DOT that Graphviz accepts.

mod support;

use aplomb_ground::trace::Trace;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use support::{BLACK_SCHOLES, extras, program, session, traced};

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
    for line in ["(M-⌊/A)÷2", "+/M", "+⌿M", "+/⍉M", "M+.×⍉M", "{⍵÷+/⍵}*A", "{((+/(⍵-(+/⍵)÷≢⍵)*2)÷≢⍵)*0.5}⍟B"]
    {
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
    let text: Vec<String> = corpus().iter().map(|t| serde_json::to_string(t).expect("json")).collect();
    std::fs::write(&file, text.join("\n")).expect("a file");
    let out = Command::new(python)
        .arg(root.join("tools/validate-trace.py"))
        .arg(root.join("crates/ground/trace.schema.json"))
        .arg(&file)
        .output()
        .expect("python");
    let _ = std::fs::remove_file(&file);
    assert!(out.status.success(), "{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
}

#[test]
fn a_canonical_trace_is_the_same_on_every_run() {
    let once = || serde_json::to_string(&traced(&mut session(), &["X←⍳5", "+/2×1+X"]).canonical()).expect("json");
    assert_eq!(once(), once());
}

/// Nodes once had the order of their addresses where a line made several at once.
#[test]
fn the_same_program_has_the_same_trace_in_every_process() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let line = "(a b)←↓⍉100 2⍴⍳200 ⋄ c←a×2 ⋄ d←b÷3 ⋄ (+/c-d)(⌈/d)";
    for how in [vec!["trace", "--canon", "-e", line], vec!["trace", "--canon", "examples/hanoi.apl"]] {
        let run = || {
            let out =
                Command::new(env!("CARGO_BIN_EXE_aplomb")).args(&how).current_dir(root).output().expect("the program");
            assert!(out.status.success() && !out.stdout.is_empty(), "{how:?}");
            out.stdout
        };
        let first = run();
        assert!((0..5).all(|_| run() == first), "{how:?}");
    }
}

#[test]
fn what_is_marked_as_written_has_a_buffer() {
    for trace in corpus() {
        for segment in &trace.segments {
            let last = &trace.passes[segment.passes[1] as usize - 1];
            let marked: BTreeSet<u32> = last.breaks.iter().map(|b| b.node).collect();
            let buffers = &trace.buffers[segment.buffers[0] as usize..segment.buffers[1] as usize];
            let written: BTreeSet<u32> = buffers.iter().filter(|b| b.role != "input").map(|b| b.node).collect();
            assert_eq!(marked, written, "{}", trace.statement);
        }
    }
}

#[test]
fn nothing_is_called_dearer_that_its_own_figure_says_is_cheaper() {
    for trace in corpus() {
        for d in &trace.decisions {
            let cheaper = d.alt.iter().find(|a| a.why_not == "dearer" && a.cost.us < d.cost.us);
            assert!(cheaper.is_none(), "{}: {} {:?} {:?}", trace.statement, d.text, d.cost, cheaper);
        }
    }
}

#[test]
fn every_kept_node_reduction_and_shared_term_has_a_decision_with_its_loser() {
    for trace in corpus() {
        let decided: BTreeSet<u32> = trace.decisions.iter().map(|d| d.node).collect();
        for d in &trace.decisions {
            let whole = !d.reason.is_empty() && d.reason != "unknown" && !d.seed.is_empty() && !d.text.is_empty();
            assert!(whole && !d.alt.is_empty() && d.alt.iter().all(|a| !a.why_not.is_empty()), "{d:?}");
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
            let lines: BTreeSet<u32> = cuda.lines.iter().flat_map(|l| l.1.iter().copied()).collect();
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
            for p in (0..passes[1] - passes[0]).filter(|p| k % 20 == 0 || *p + 1 == passes[1] - passes[0]) {
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
    assert!(out.status.success() && out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
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
                        found.push((from[1..].parse().expect("an id"), to[1..].parse().expect("an id")));
                        assert_eq!(from.starts_with('b'), graph.is_kept(found[found.len() - 1].0), "{text}");
                    }
                }
                let mut wanted: Vec<(u32, u32)> =
                    graph.nodes.iter().flat_map(|n| n.inputs.iter().map(|a| (*a, n.id))).collect();
                found.sort();
                wanted.sort();
                assert_eq!(found, wanted, "{}\n{text}", trace.statement);
                let clusters = text.matches("subgraph \"cluster_k").count();
                assert_eq!(clusters, graph.launches(), "{text}");
                let octagons = text.matches("shape=\"octagon\"").count();
                let breaks = graph.pass.breaks.len();
                assert_eq!(octagons, breaks + usize::from(breaks > 0), "{text}");
                let kinds: BTreeSet<&str> = graph.nodes.iter().map(|n| n.kind.as_str()).collect();
                for kind in ["input", "const", "iota", "map", "transform", "reduce"] {
                    assert_eq!(text.contains(&format!("legend_{kind}")), kinds.contains(kind), "{kind} in {text}");
                }
            }
        }
    }
}

#[test]
fn lets_for_graphviz_are_the_terms_that_bind_made() {
    for trace in corpus() {
        let text = aplomb_viz::dot::lets(&trace);
        let lets: usize = trace.passes.iter().filter(|p| p.name == "bind").map(|p| p.lets.len()).sum();
        assert_eq!(text.matches("label=\"let n").count(), lets, "{}\n{text}", trace.statement);
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
                assert!(!unchanged || pictures[p] == pictures[p - 1], "{}: pass {p}", trace.statement);
                let (before, after) = (places(&pictures[p - 1]), places(&pictures[p]));
                let at = |list: &[(u32, usize, usize)], id: u32| list.iter().find(|b| b.0 == id).map(|b| (b.1, b.2));
                // Of any two that survive: above stays above, left stays left.
                for (k, a) in before.iter().enumerate() {
                    for b in &before[k + 1..] {
                        if let (Some(x), Some(y)) = (at(&after, a.0), at(&after, b.0)) {
                            all += 1;
                            let same_row = a.1 == b.1 && x.0 == y.0;
                            kept += usize::from(if same_row { (a.2 < b.2) == (x.1 < y.1) } else { x.0 <= y.0 });
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
    assert!(size(&picture).0 <= 72 && size(&picture).1 <= 45, "Black-Scholes: {:?}\n{picture}", size(&picture));
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
        let trace = support::told(&[], &["x←⍳2500 ⋄ m←50 50⍴x ⋄ y←⌽⍳50", line]);
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
    for d in trace.decisions.iter().filter(|d| d.node >= late && matches!(d.what.as_str(), "inline" | "share")) {
        seen += 1;
        assert!(d.text.starts_with(&format!("n{} ", d.node)), "{}: {}", d.node, d.text);
    }
    assert!(seen > 0);
    for k in trace.kernels.iter().filter(|k| k.body.iter().all(|n| *n >= late)) {
        let cuda = k.cuda.as_ref().expect("a text");
        for (line, nodes) in &cuda.lines {
            let text = cuda.text.lines().nth(*line as usize - 1).unwrap_or("");
            assert!(!text.contains("//") || text.ends_with(&format!("// n{}", nodes[0])), "{text} {nodes:?}");
        }
    }
}

//! The trace: its schema, its determinism, its decisions; DOT that Graphviz accepts.

mod support;

use aplomb_lang::trace::Trace;
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
        .arg(root.join("lang/trace.schema.json"))
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

//! The rules that every trace obeys: reads, breaks, order, pictures. The traces are those of all
//! cases.

use super::page::{self, PAGES, traced};
use crate::spoken;
use aplomb_ground::trace::Trace;
use std::collections::BTreeSet;

/// The traces of all cases that compile.
fn corpus() -> Vec<Trace> {
    let pages: Vec<_> = PAGES.iter().map(|(_, text)| page::read(text)).collect();
    let lines = pages.iter().flat_map(|p| p.cases.iter().map(move |c| p.lines(c)));
    let found: Vec<Trace> =
        lines.filter_map(|l| traced(&l, "").ok()).filter(|t| !t.segments.is_empty()).collect();
    assert!(found.len() >= 100, "{}", found.len());
    found
}

/// ACL-26.
pub fn every_read_tells_where() {
    for trace in corpus() {
        for k in &trace.kernels {
            for r in &k.reads {
                assert!(r.affine.contains('→'), "{}: {r:?}", trace.statement);
                if r.affine.contains('…') || k.domain.contains(&0) {
                    continue;
                }
                // Read back, it is a place of its array; that it is the right one the oracle knows.
                let loops = r.affine.split(")→").next().map_or("", |t| t.trim_matches('('));
                let first = vec![0; loops.split(',').filter(|name| !name.is_empty()).count()];
                let shape = &trace.buffers[r.buf as usize].shape;
                let at = spoken::place(&r.affine, &first);
                let inside = |at: Vec<i64>| {
                    let within = at.iter().zip(shape).all(|(k, n)| (0..*n as i64).contains(k));
                    at.len() == shape.len() && within
                };
                assert!(at.is_none_or(inside), "{}: {r:?}", trace.statement);
                let told = r.oob.is_some();
                let asks = [" mod ", "clamp(", " | "].iter().any(|part| r.affine.contains(part));
                assert_eq!(told, asks, "{}: {r:?}", trace.statement);
            }
        }
    }
}

/// ACL-27.
pub fn every_kind_has_a_legend() {
    let mut kinds = BTreeSet::new();
    for trace in corpus() {
        for s in 0..trace.segments.len() {
            let graph = aplomb_viz::find_pass(&trace, s, None).expect("a pass");
            let text = aplomb_viz::dot::graph(&graph);
            for n in &graph.nodes {
                assert!(
                    text.contains(&format!("legend_{}", n.kind)),
                    "{}: {}",
                    trace.statement,
                    n.kind
                );
                kinds.insert(n.kind.clone());
            }
        }
    }
    for kind in [
        "cat",
        "compact",
        "const",
        "gather",
        "input",
        "iota",
        "loop",
        "map",
        "reduce",
        "scan",
        "transform",
    ] {
        assert!(kinds.contains(kind), "{kind} is in no graph: {kinds:?}");
    }
}

/// ACL-29.
pub fn every_array_between_launches_has_one_break() {
    let mut between = 0;
    for trace in corpus() {
        for segment in &trace.segments {
            let last = &trace.passes[segment.passes[1] as usize - 1];
            for b in &trace.buffers[segment.buffers[0] as usize..segment.buffers[1] as usize] {
                let readers = trace.kernels.iter().filter(|k| k.inputs.contains(&b.id)).count();
                if b.born.is_some() && readers > 0 {
                    between += 1;
                    let breaks: Vec<_> = last.breaks.iter().filter(|x| x.node == b.node).collect();
                    let [one] = breaks.as_slice() else {
                        panic!("{}: n{}: {breaks:?}", trace.statement, b.node)
                    };
                    assert!(
                        !one.reason.is_empty() && one.readers >= 1 && one.bytes == b.bytes,
                        "{one:?} {b:?}"
                    );
                }
            }
        }
        for s in 0..trace.segments.len() {
            let text =
                aplomb_viz::dot::graph(&aplomb_viz::find_pass(&trace, s, None).expect("a pass"));
            let into: Vec<&str> =
                text.lines().filter_map(|l| l.split_once("-> \"b")).map(|l| l.1).collect();
            let distinct: BTreeSet<&&str> = into.iter().collect();
            assert_eq!(into.len(), distinct.len(), "{text}");
        }
    }
    assert!(between >= 12, "{between}");
}

/// ACL-36.
pub fn every_launch_follows_what_it_reads() {
    let mut many = 0;
    for trace in corpus() {
        many += usize::from(trace.kernels.len() > 1);
        for k in &trace.kernels {
            for b in &k.inputs {
                let buffer = &trace.buffers[*b as usize];
                assert!(
                    buffer.born.is_none_or(|born| born < k.id),
                    "{}: k{} reads {buffer:?}",
                    trace.statement,
                    k.id
                );
                assert!(
                    buffer.dead.is_none_or(|dead| dead >= k.id),
                    "{}: k{} reads {buffer:?}",
                    trace.statement,
                    k.id
                );
            }
        }
        assert!(
            trace.nodes.iter().all(|n| n.inputs.iter().all(|a| *a < n.id)),
            "{}",
            trace.statement
        );
    }
    assert!(many >= 12, "{many}");
}

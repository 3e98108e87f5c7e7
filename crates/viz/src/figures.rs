//! FIGURES: what a trace comes to, in numbers. Promises, diffs and gates name a row of it.

use crate::graph::find_pass;
use aplomb_ground::error::bytes;
use aplomb_ground::trace::{BufferRecord, LaunchRecord, NodeRecord, ReadRecord, Segment, Trace};
use std::collections::BTreeSet;

/// A number of a trace. Fewer is better in every row.
pub struct Figure {
    /// The name that `]assert` and `--fail-on` take.
    pub name: &'static str,
    /// A sentence on what is counted.
    pub says: &'static str,
    /// The figure of a trace; less is better.
    pub of: fn(&Trace) -> u64,
    /// The figure as text, with its unit.
    pub show: fn(u64) -> String,
}

/// In the order that tables print.
pub static FIGURES: &[Figure] = &[
    Figure { name: "launches", says: "loops that run", of: launches, show: plain },
    Figure {
        name: "bytes",
        says: "bytes between launches and memory: what a launch reads of an array counts once",
        of: |t| all(t, moved),
        show: bytes,
    },
    Figure {
        name: "flops",
        says: "operations on elements",
        of: |t| all(t, |k| k.est.flops),
        show: plain,
    },
    Figure {
        name: "kept",
        says: "arrays written to memory that are not the value",
        of: kept,
        show: plain,
    },
    Figure { name: "nodes", says: "nodes that compute", of: |t| nodes(t) as u64, show: plain },
    Figure {
        name: "evaluations",
        says: "steps in which the line ran",
        of: evaluations,
        show: plain,
    },
];

/// Launches, those of equal evaluations counted.
pub fn launches(trace: &Trace) -> u64 {
    trace.kernels.iter().map(LaunchRecord::times).sum()
}

/// Evaluations, equal ones counted.
pub fn evaluations(trace: &Trace) -> u64 {
    trace.segments.iter().map(Segment::times).sum()
}

/// Arrays that are written on the way, those of equal evaluations counted.
pub fn kept(trace: &Trace) -> u64 {
    let times = |b: &BufferRecord| {
        let own = |s: &&Segment| (s.buffers[0]..s.buffers[1]).contains(&b.id);
        trace.segments.iter().find(own).map_or(1, Segment::times)
    };
    temporaries(trace).map(times).sum()
}

/// A figure of each launch, summed over all.
fn all(trace: &Trace, of: fn(&LaunchRecord) -> u64) -> u64 {
    let each = trace.kernels.iter().map(|k| of(k).saturating_mul(k.times()));
    each.fold(0, u64::saturating_add)
}

/// Bytes that a launch moves: what it reads from memory and writes to it.
pub fn moved(k: &LaunchRecord) -> u64 {
    read(k).saturating_add(k.est.w)
}

/// The bytes that a launch reads from memory: those that were counted in its run, else the model's.
pub fn read(k: &LaunchRecord) -> u64 {
    counted(k).map_or(k.est.r, |n| n)
}

fn counted(k: &LaunchRecord) -> Option<u64> {
    k.meas.as_ref()?.read
}

/// True where values say which elements a launch reads: what it reads is told by its points, and
/// may be less.
pub fn by_values(k: &LaunchRecord) -> bool {
    let any = |r: &ReadRecord| r.distinct == 0 && r.affine.contains('…');
    k.reads.iter().any(any) && k.est.r > 0 && counted(k).is_none()
}

/// The bytes that a launch reads from memory: `9.0 MB`, `at most 9.0 MB`.
pub fn read_of(k: &LaunchRecord) -> String {
    upto(read(k), by_values(k))
}

/// The bytes that all launches move.
pub fn moved_of(trace: &Trace) -> String {
    upto(all(trace, moved), trace.kernels.iter().any(by_values))
}

fn upto(n: u64, is_most: bool) -> String {
    if is_most { format!("at most {}", bytes(n)) } else { bytes(n) }
}

/// Microseconds in launches, of the run that the trace tells, the least of several; None: it was
/// not run.
pub fn launches_us(trace: &Trace) -> Option<f64> {
    let all: Vec<f64> =
        trace.kernels.iter().filter_map(|k| k.meas.as_ref().map(|m| m.us)).collect();
    let whole = trace.times.get("launch_ms").map(|ms| ms * 1e3);
    (!all.is_empty()).then(|| whole.unwrap_or_else(|| all.iter().sum()))
}

/// The number of runs that a time is the least of, and how far from it half of them are at most;
/// None: it is one run's.
pub fn spread_us(trace: &Trace) -> Option<(usize, f64)> {
    Some((*trace.times.get("runs")? as usize, trace.times.get("spread_ms")? * 1e3))
}

fn plain(n: u64) -> String {
    n.to_string()
}

/// The row of a name. Errors: a sentence with the names there are.
pub fn find(name: &str) -> Result<&'static Figure, String> {
    let names = || FIGURES.iter().map(|f| f.name).collect::<Vec<_>>().join(" ");
    FIGURES
        .iter()
        .find(|f| f.name == name)
        .ok_or_else(|| format!("no figure is called {name}; there are {}", names()))
}

/// Buffers that launches write and that are no value of the line: those between launches, and what
/// a step before the last one gave.
pub fn temporaries(trace: &Trace) -> impl Iterator<Item = &BufferRecord> {
    let last = trace.segments.last().map_or([0, 0], |s| s.buffers);
    let is_value = move |b: &BufferRecord| b.role == "result" && last[0] <= b.id && b.id < last[1];
    trace.buffers.iter().filter(move |b| b.born.is_some() && !is_value(b))
}

/// Nodes alive after the last pass that are neither there before nor constants.
pub fn nodes(trace: &Trace) -> usize {
    let all = trace.segments.iter().enumerate();
    all.map(|(k, s)| nodes_of(trace, k) * s.times() as usize).sum()
}

/// Nodes that run in a launch: what it computes, and what only says where it reads.
pub fn nodes_in(trace: &Trace, k: &LaunchRecord) -> usize {
    let node = |id: u32| trace.nodes.get(id as usize);
    let arrays = k.inputs.iter().filter_map(|b| trace.buffers.get(*b as usize));
    let there: BTreeSet<u32> = arrays.map(|b| b.node).collect();
    let mut all: BTreeSet<u32> = k.body.iter().copied().collect();
    let mut below: Vec<u32> = k.body.clone();
    while let Some(of) = below.pop().and_then(node) {
        for at in of.inputs.iter().filter(|at| !there.contains(at)) {
            let reads = |n: &NodeRecord| matches!(n.kind.as_str(), "transform" | "cat");
            if node(*at).is_some_and(reads) && all.insert(*at) {
                below.push(*at);
            }
        }
    }
    all.into_iter().filter_map(node).filter(|n| computes(n)).count()
}

fn computes(node: &NodeRecord) -> bool {
    node.kind != "const" && node.kind != "input"
}

/// The same, of one evaluation.
pub fn nodes_of(trace: &Trace, segment: usize) -> usize {
    let graph = find_pass(trace, segment, None);
    graph.map_or(0, |g| g.nodes.iter().filter(|n| computes(n)).count())
}

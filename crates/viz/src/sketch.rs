//! The boxes that a picture draws, and the boxes that they read. Of the nodes of a pass, whole or
//! with repeats and chains folded, or of the launches of an evaluation.
//!
//! A repeat is a run of nodes that is the same again and again, each time reading its own earlier
//! part a fixed number of nodes back, or what all of them read (an unrolled loop). A chain is nodes
//! that only hand on. Twins are runs of nodes that differ in what they read alone, as calls of one
//! function do; each is a box of its own.

use crate::figures::moved;
use crate::graph::Graph;
use aplomb_ground::error::bytes;
use aplomb_ground::trace::{NodeRecord, Segment, Trace};
use std::collections::BTreeMap;
use std::ops::Range;

/// Boxes in an order in which operands come first.
#[derive(Default)]
pub struct Sketch {
    pub texts: Vec<String>,
    pub operands: Vec<Vec<usize>>,
    /// The nodes behind each box.
    pub ids: Vec<Vec<u32>>,
    /// Lines below the picture: what stands behind a folded box.
    pub notes: Vec<String>,
}

/// Drawn nodes that are one box.
struct Fold {
    members: Vec<usize>,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Consecutive, one pattern of so many nodes again and again.
    Repeat {
        period: usize,
    },
    Chain,
    /// Consecutive, and elsewhere the same: the first such run, or where that begins.
    Twin {
        of: Option<usize>,
    },
}

/// The nodes that are drawn as boxes, and for each its operands among them.
struct Drawn<'a> {
    nodes: Vec<&'a NodeRecord>,
    operands: Vec<Vec<usize>>,
}

impl<'a> Drawn<'a> {
    fn new(graph: &Graph<'a>) -> Self {
        let nodes: Vec<&NodeRecord> =
            graph.nodes.iter().copied().filter(|n| !graph.is_inline(n.id)).collect();
        let place: BTreeMap<u32, usize> =
            nodes.iter().enumerate().map(|(k, n)| (n.id, k)).collect();
        let operands = nodes
            .iter()
            .map(|n| graph.wires(n).iter().filter_map(|a| place.get(a).copied()).collect());
        Drawn { operands: operands.collect(), nodes }
    }

    /// Whether node `at` is the one `period` before it, a turn later.
    fn repeats(&self, at: usize, period: usize) -> bool {
        let Some(before) = at.checked_sub(period) else { return false };
        let (a, b) = (self.nodes[at], self.nodes[before]);
        let (x, y) = (&self.operands[at], &self.operands[before]);
        let same = |(x, y): (&usize, &usize)| x == y || *x == y + period;
        (&a.kind, &a.op) == (&b.kind, &b.op) && x.len() == y.len() && x.iter().zip(y).all(same)
    }

    /// The number of nodes from `a` on that are those from `b` on, which is later, but for what
    /// they read from outside; not so many that the runs meet.
    fn alike(&self, a: usize, b: usize) -> usize {
        let apart = b - a;
        // What stands for what outside: one thing for one thing.
        let mut outside: BTreeMap<usize, usize> = BTreeMap::new();
        for k in 0..apart.min(self.nodes.len() - b) {
            let (x, y) = (self.nodes[a + k], self.nodes[b + k]);
            let (of_x, of_y) = (&self.operands[a + k], &self.operands[b + k]);
            let mut same = |(i, j): (&usize, &usize)| match *i >= a {
                true => *j == i + apart,
                false => *j < b && *outside.entry(*i).or_insert(*j) == *j,
            };
            let is = (&x.kind, &x.op) == (&y.kind, &y.op) && of_x.len() == of_y.len();
            if !is || !of_x.iter().zip(of_y).all(&mut same) {
                return k;
            }
        }
        apart.min(self.nodes.len() - b)
    }
}

/// A run is compared with so many others.
const TWINS: usize = 64;
/// A pattern of more nodes than this is not looked for.
const LONGEST: usize = 64;
/// Fewer turns, or fewer hidden boxes, are not worth a fold.
const TURNS: usize = 3;
const HIDDEN: usize = 4;
/// Characters of a fold's operations.
const OPS: usize = 12;
/// A repeat that hides so many boxes is a loop.
const LOOP: usize = 40;

impl Sketch {
    /// Every node that a label does not hold.
    pub fn nodes(graph: &Graph) -> Sketch {
        let drawn = Drawn::new(graph);
        let texts = drawn.nodes.iter().map(|n| boxed(graph, n)).collect();
        let ids = drawn.nodes.iter().map(|n| vec![n.id]).collect();
        Sketch { texts, operands: drawn.operands, ids, notes: Vec::new() }
    }

    /// The same with repeats, then chains, as one box each.
    pub fn folded(graph: &Graph) -> Sketch {
        let drawn = Drawn::new(graph);
        let mut folds: Vec<Fold> = Vec::new();
        let mut home: Vec<Option<usize>> = vec![None; drawn.nodes.len()];
        // What hides most first: an unrolled loop, then calls of one function, then what is left.
        let ways: [fn(&Graph, &Drawn, &[Option<usize>]) -> Vec<Fold>; 4] = [
            |_, drawn, home| repeats(drawn, home, LOOP),
            twins,
            |_, drawn, home| repeats(drawn, home, HIDDEN),
            chains,
        ];
        for way in ways {
            let more = way(graph, &drawn, &home);
            for (k, f) in more.iter().enumerate() {
                f.members.iter().for_each(|m| home[*m] = Some(folds.len() + k));
            }
            folds.extend(more);
        }
        let mut out = Sketch::default();
        // A fold stands where its last member does: by then all that it reads has been placed.
        let mut place: Vec<usize> = vec![usize::MAX; drawn.nodes.len()];
        for (k, own) in home.iter().enumerate() {
            let own = own.map(|f| &folds[f]);
            let members: &[usize] = match own {
                Some(f) if f.members.last() != Some(&k) => continue,
                Some(f) => &f.members,
                None => std::slice::from_ref(&k),
            };
            let mut reads: Vec<usize> = Vec::new();
            for m in members {
                for a in drawn.operands[*m]
                    .iter()
                    .map(|a| (a, place[*a]))
                    .filter(|(a, _)| !members.contains(a))
                {
                    // A box of one node reads in operand order, also twice; a fold reads each thing
                    // once.
                    if own.is_none() || !reads.contains(&a.1) {
                        reads.push(a.1);
                    }
                }
            }
            members.iter().for_each(|m| place[*m] = out.texts.len());
            out.operands.push(reads);
            out.ids.push(members.iter().map(|m| drawn.nodes[*m].id).collect());
            match own {
                None => out.texts.push(boxed(graph, drawn.nodes[k])),
                Some(f) => {
                    let (text, note) = f.spelled(graph, &drawn);
                    out.texts.push(text);
                    out.notes.push(note);
                }
            }
        }
        out
    }

    /// The launches of one evaluation and the arrays that exist before it.
    pub fn launches(trace: &Trace, segment: &Segment) -> Sketch {
        let buffers = &trace.buffers[segment.buffers[0] as usize..segment.buffers[1] as usize];
        let mut out = Sketch::default();
        let mut holder: BTreeMap<u32, usize> = BTreeMap::new();
        for b in buffers.iter().filter(|b| b.born.is_none()) {
            let name = trace.nodes.get(b.node as usize).and_then(|n| n.name.clone());
            holder.insert(b.id, out.texts.len());
            out.texts
                .push(format!("(n{} {})", b.node, name.unwrap_or_default()).replace(" )", ")"));
            out.operands.push(Vec::new());
            out.ids.push(vec![b.node]);
        }
        for k in &trace.kernels[segment.kernels[0] as usize..segment.kernels[1] as usize] {
            out.operands.push(k.inputs.iter().filter_map(|b| holder.get(b).copied()).collect());
            let domain: Vec<String> = k.domain.iter().map(usize::to_string).collect();
            out.texts.push(format!(
                "[[k{} {} {}, {}]]",
                k.id,
                k.skeleton,
                domain.join(" "),
                bytes(moved(k))
            ));
            out.ids.push(k.body.clone());
            holder.extend(k.out.iter().map(|b| (*b, out.texts.len() - 1)));
        }
        out
    }
}

fn boxed(graph: &Graph, node: &NodeRecord) -> String {
    let label = graph.label(node);
    let launch = match graph.launch(node.id) {
        Some(k) if graph.launches() > 1 => format!(" @k{k}"),
        _ => String::new(),
    };
    match node.kind.as_str() {
        "input" => format!("({label})"),
        _ if graph.is_kept(node.id) => format!("[[{label}{launch}]]"),
        _ => format!("[{label}]"),
    }
}

/// Repeats, the one that hides most first, until none hides `least` boxes.
fn repeats(drawn: &Drawn, home: &[Option<usize>], least: usize) -> Vec<Fold> {
    let n = drawn.nodes.len();
    let mut taken: Vec<bool> = home.iter().map(Option::is_some).collect();
    let mut out = Vec::new();
    loop {
        // (hidden, first, period, turns)
        let mut best: Option<(usize, usize, usize, usize)> = None;
        for period in 1..=LONGEST.min(n / TURNS) {
            let mut at = period;
            while at < n {
                let begun = at;
                while at < n && !taken[at] && !taken[at - period] && drawn.repeats(at, period) {
                    at += 1;
                }
                let turns = (at - begun) / period + 1;
                let hidden = turns * period - 1;
                if turns >= TURNS && hidden >= least && best.is_none_or(|b| hidden > b.0 + period) {
                    best = Some((hidden, begun - period, period, turns));
                }
                at += 1;
            }
        }
        let Some((_, first, period, turns)) = best else { return out };
        let members: Vec<usize> = (first..first + period * turns).collect();
        members.iter().for_each(|m| taken[*m] = true);
        out.push(Fold { members, kind: Kind::Repeat { period } });
    }
}

/// So few nodes are drawn as they are, though they stand there twice.
const TWIN: usize = 6;
/// Nodes that must be alike before runs are compared.
const SEED: usize = 4;

/// Runs that are the same but for what they read from outside, and of which only the last node is
/// read there.
fn twins(graph: &Graph, drawn: &Drawn, home: &[Option<usize>]) -> Vec<Fold> {
    let n = drawn.nodes.len();
    let mut last_use = vec![0usize; n];
    for (k, operands) in drawn.operands.iter().enumerate() {
        operands.iter().for_each(|a| last_use[*a] = k);
    }
    let mut seeds: BTreeMap<Vec<(&str, &str)>, Vec<usize>> = BTreeMap::new();
    for at in 0..(n + 1).saturating_sub(SEED) {
        let own =
            drawn.nodes[at..at + SEED].iter().map(|n| (n.kind.as_str(), n.op.as_str())).collect();
        seeds.entry(own).or_default().push(at);
    }
    let own = |run: Range<usize>| {
        run.clone().all(|k| home[k].is_none() && drawn.nodes[k].kind != "input")
    };
    let hidden = |k: usize| !graph.is_kept(drawn.nodes[k].id) && !graph.is_root(drawn.nodes[k].id);
    // The longest beginning of what two runs share that only its last node leaves.
    let closed = |a: usize, b: usize, most: usize| {
        let (mut reach, mut best) = ((0, 0), 0);
        for k in 0..most {
            if k > 0 && !(hidden(a + k - 1) && hidden(b + k - 1)) {
                break;
            }
            if reach.0 <= a + k && reach.1 <= b + k {
                best = k + 1;
            }
            reach = (reach.0.max(last_use[a + k]), reach.1.max(last_use[b + k]));
        }
        best
    };
    let mut taken = vec![false; n];
    let mut out = Vec::new();
    for at in 0..n {
        let Some(others) = drawn.nodes.get(at..at + SEED).and_then(|seed| {
            seeds.get(&seed.iter().map(|n| (n.kind.as_str(), n.op.as_str())).collect::<Vec<_>>())
        }) else {
            break;
        };
        if taken[at] || !own(at..at + 1) {
            continue;
        }
        let mut found: Vec<(usize, usize)> = Vec::new();
        for &other in others.iter().filter(|b| **b > at).take(TWINS) {
            let alike = drawn.alike(at, other);
            let length = closed(at, other, alike);
            if length >= TWIN && own(at..at + length) && own(other..other + length) {
                found.push((length, other));
            }
        }
        let Some(&(length, _)) = found.iter().max() else { continue };
        if taken[at..at + length].contains(&true) {
            continue;
        }
        let mut next = at + length;
        let mut runs = vec![at];
        for &(own, other) in &found {
            if own == length && other >= next && !taken[other..other + length].contains(&true) {
                runs.push(other);
                next = other + length;
            }
        }
        for run in runs.iter().filter(|_| runs.len() > 1) {
            taken[*run..run + length].fill(true);
            let of = (*run != at).then_some(at);
            out.push(Fold { members: (*run..run + length).collect(), kind: Kind::Twin { of } });
        }
    }
    out
}

/// Runs of nodes of which each reads only the one before, which nobody else reads.
fn chains(graph: &Graph, drawn: &Drawn, home: &[Option<usize>]) -> Vec<Fold> {
    let mut users = vec![0usize; drawn.nodes.len()];
    drawn.operands.iter().flatten().for_each(|a| users[*a] += 1);
    let is_plain = |k: usize| {
        let n = drawn.nodes[k];
        home[k].is_none()
            && drawn.operands[k].len() == 1
            && !graph.is_kept(n.id)
            && !graph.is_root(n.id)
    };
    let mut next: BTreeMap<usize, usize> = BTreeMap::new();
    for (k, operands) in drawn.operands.iter().enumerate() {
        if let [a] = operands.as_slice()
            && users[*a] == 1
            && is_plain(*a)
            && is_plain(k)
        {
            next.insert(*a, k);
        }
    }
    let inner: std::collections::BTreeSet<usize> = next.values().copied().collect();
    let mut out = Vec::new();
    for first in next.keys().filter(|k| !inner.contains(k)) {
        let mut members = vec![*first];
        while let Some(k) = members.last().and_then(|k| next.get(k)) {
            members.push(*k);
        }
        if members.len() > HIDDEN {
            out.push(Fold { members, kind: Kind::Chain });
        }
    }
    out
}

impl Fold {
    /// The box, and the line that says what is in it.
    fn spelled(&self, graph: &Graph, drawn: &Drawn) -> (String, String) {
        let node = |k: usize| drawn.nodes[self.members[k]];
        let last = self.members.len() - 1;
        let range = format!("n{}…n{}", node(0).id, node(last).id);
        let kept = self.members.iter().any(|m| graph.is_kept(drawn.nodes[*m].id));
        let pattern =
            if let Kind::Repeat { period } = self.kind { period } else { self.members.len() };
        let ops: String = (0..pattern).map(|k| node(k).op.as_str()).collect::<Vec<_>>().join(" ");
        let ops: String = if ops.chars().count() > OPS {
            ops.chars().take(OPS - 1).chain(['…']).collect()
        } else {
            ops
        };
        let times = match self.kind {
            Kind::Repeat { period } => format!(" ×{}", self.members.len() / period),
            _ => String::new(),
        };
        let (open, close) = if kept { ("[[", "]]") } else { ("[", "]") };
        let first: Vec<String> = (0..pattern.min(12)).map(|k| graph.label(node(k))).collect();
        let more = if pattern > 12 { " …" } else { "" };
        let what = match self.kind {
            Kind::Repeat { .. } => "first",
            Kind::Chain => "one after the other",
            Kind::Twin { of: None } => "again below, of",
            Kind::Twin { of: Some(first) } => {
                let note = format!("{range}: as n{}…, of other arguments", drawn.nodes[first].id);
                return (format!("{open}{range} {{{ops}}}{close}"), note);
            }
        };
        (
            format!("{open}{range}{times} {{{ops}}}{close}"),
            format!("{range}{times}: {what} {}{more}", first.join(", ")),
        )
    }
}

//! Wires between two layers: one horizontal track a net, crossings only as `┼`.
//!
//! A net comes down one column and leaves by one or more. Where one net leaves by the column that
//! another comes in by, the other's track must lie above. A cycle of such demands is cut by taking
//! one net through a free column first.
//!
//! Why it ends: the first half of a net that was cut leaves by a column that no other net has, so
//! it demands nobody else's track; the second half comes in by that column, so nobody demands it.
//! Neither is on a cycle again, and each cut takes one net off. Why it is right: a demand stands
//! for each column that two nets share from end to end, a piece lies below all that it demands, and
//! pieces of one row neither meet nor touch; so wires meet only where they cross.

use std::collections::{BTreeMap, BTreeSet};

/// The way of a net through one channel: where it comes from above, where it goes below.
#[derive(Clone, Debug)]
pub struct Net {
    pub id: usize,
    pub from: usize,
    pub to: Vec<usize>,
}

/// A horizontal piece: its net, its row in the channel (from 0), its columns; pieces of a net are
/// joined by its columns.
#[derive(Clone, Debug)]
pub struct Piece {
    pub net: usize,
    pub row: usize,
    pub from: usize,
    pub to: Vec<usize>,
}

/// The rows the channel needs, and the pieces. Nets that go straight down have no piece.
pub fn route(nets: &[Net]) -> (usize, Vec<Piece>) {
    let mut parts: Vec<Net> =
        nets.iter().filter(|n| n.to.len() > 1 || n.to[0] != n.from).cloned().collect();
    let taken: BTreeSet<usize> =
        nets.iter().flat_map(|n| n.to.iter().copied().chain([n.from])).collect();
    let mut free = taken.iter().max().map_or(0, |m| m + 2);
    // Each round cuts one cycle; there are at most as many cuts as nets.
    let (order, demands) = loop {
        let demands = demands(&parts);
        match levels(&demands) {
            Ok(levels) => break (levels, demands),
            Err(stuck) => {
                let far = std::mem::replace(&mut parts[stuck].to, vec![free]);
                let id = parts[stuck].id;
                parts.push(Net { id, from: free, to: far });
                free += 2;
            }
        }
    };
    // Greedy: by level, the first row at or below the demanded one where no other piece is in the
    // way.
    let mut by_level: Vec<usize> = (0..parts.len()).collect();
    by_level.sort_by_key(|k| (order[*k], span(&parts[*k])));
    // In each row the pieces' first columns with their last: they neither meet nor touch.
    let mut rows: Vec<BTreeMap<usize, usize>> = Vec::new();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut placed: Vec<Option<usize>> = vec![None; parts.len()];
    for k in by_level {
        let above = demands[k].iter().filter_map(|j| placed[*j]).max();
        let mut row = above.map_or(0, |r| r + 1);
        let (a, b) = span(&parts[k]);
        while rows
            .get(row)
            .is_some_and(|r| r.range(..=b + 1).next_back().is_some_and(|(_, d)| a <= d + 1))
        {
            row += 1;
        }
        if rows.len() <= row {
            rows.resize(row + 1, BTreeMap::new());
        }
        rows[row].insert(a, b);
        placed[k] = Some(row);
        pieces.push(Piece { net: parts[k].id, row, from: parts[k].from, to: parts[k].to.clone() });
    }
    (rows.len(), pieces)
}

fn span(net: &Net) -> (usize, usize) {
    let ends = || net.to.iter().copied().chain([net.from]);
    (ends().min().unwrap_or(0), ends().max().unwrap_or(0))
}

/// For each part those whose track must lie above: another net's that comes in by a column that it
/// leaves by, and the part of the same net that it goes on from.
fn demands(parts: &[Net]) -> Vec<Vec<usize>> {
    let (mut from, mut to): (BTreeMap<usize, Vec<usize>>, BTreeMap<usize, Vec<usize>>) =
        Default::default();
    for (k, part) in parts.iter().enumerate() {
        from.entry(part.from).or_default().push(k);
        if let [only] = part.to.as_slice() {
            to.entry(*only).or_default().push(k);
        }
    }
    let of = |(k, own): (usize, &Net)| {
        let others =
            own.to.iter().filter_map(|x| from.get(x)).flatten().filter(|j| parts[**j].id != own.id);
        let same = to.get(&own.from).into_iter().flatten().filter(|j| parts[**j].id == own.id);
        let mut all: Vec<usize> = others.chain(same).copied().filter(|j| *j != k).collect();
        all.sort();
        all.dedup();
        all
    };
    parts.iter().enumerate().map(of).collect()
}

/// The depth at which each part must lie; Err: a part on a cycle.
fn levels(demands: &[Vec<usize>]) -> Result<Vec<usize>, usize> {
    let mut level = vec![0usize; demands.len()];
    for _ in 0..=demands.len() {
        let mut changed = None;
        for (k, above) in demands.iter().enumerate() {
            let need = above.iter().map(|j| level[*j] + 1).max().unwrap_or(0);
            if need > level[k] {
                level[k] = need;
                changed = Some(k);
            }
        }
        match changed {
            None => return Ok(level),
            Some(k) if level[k] > demands.len() => return Err(on_cycle(demands, k)),
            Some(_) => {}
        }
    }
    let deepest = (0..demands.len()).max_by_key(|k| level[*k]).unwrap_or(0);
    Err(on_cycle(demands, deepest))
}

/// Following demands from a part that cannot be placed ends on its cycle.
fn on_cycle(demands: &[Vec<usize>], start: usize) -> usize {
    let mut at = start;
    let mut seen = BTreeSet::new();
    while seen.insert(at) {
        // Only parts that are themselves demanded can be on the cycle.
        let above = &demands[at];
        match above.iter().find(|j| reaches(demands, **j, at)).or(above.first()) {
            Some(j) => at = *j,
            None => break,
        }
    }
    at
}

fn reaches(demands: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut stack = vec![from];
    while let Some(k) = stack.pop() {
        if k == to {
            return true;
        }
        if seen.insert(k) {
            stack.extend(&demands[k]);
        }
    }
    false
}

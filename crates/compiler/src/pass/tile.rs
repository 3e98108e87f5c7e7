//! tile: the boxes into which launches are cut, so that a block's shared memory serves what was
//! placed there.
//!
//! Rows: BAS-18, BAS-22, BAS-23, BAR-14. In: what `place` keeps near. Out: for each launch a box of
//! points and a copy of what it reads of each array. The box is searched: of all shapes of as many
//! points whose copies fit a block's memory, the first that moves the fewest bytes a point. Counts
//! are exact for whole boxes.

use super::decide::{About, Choice, Decision, WhyNot};
use super::fault::Fault;
use super::place::SharedReads;
use super::reversal::Reversal;
use super::schedule::Group;
use super::sentences::Says;
use super::work::Work;
use super::{cost, cost::Cost};
use aplomb_ground::error::Result;
use aplomb_plans::plan::Kind;
use aplomb_plans::plan::tiling::{BYTES, STAGED, Span, Tile, Tiling, single};
use aplomb_values::dag::{NodeId, Read};
use smallvec::{SmallVec, smallvec};
use std::collections::{BTreeMap, BTreeSet};

type Load = (NodeId, Read);

/// Memory moves in pieces of so many bytes.
const PIECE: u64 = 64;

/// Rows of a box of two axes; its columns are the rest of its points.
const ROWS: [usize; 5] = [32, 16, 8, 4, 64];

pub fn run(work: &mut Work) -> Result<()> {
    let near = std::mem::take(&mut work.shared_reads);
    for found in searched(work, &near)? {
        if work.options.trace {
            let decision = decided(&found);
            work.decide(decision.of(found.nodes.clone()).or(Reversal::Boxes(found.group)));
        }
        work.tilings.insert(found.group, found.tiling);
        if work.options.has(Fault::ShortHalo) {
            work.tilings.values_mut().for_each(shorten);
        }
    }
    Ok(())
}

/// The points of the box that each launch will be cut into, along each axis of its domain, and the
/// arrays that it copies.
pub fn blocks(work: &mut Work, near: &[SharedReads]) -> Result<BTreeMap<usize, Boxed>> {
    let of = |f: Found| {
        let copied = f.tiling.tiles.iter().flat_map(|t| t.loads.iter().map(|(load, _)| load.0));
        let (copied, block) = (copied.collect(), f.tiling.block.to_vec());
        (f.group, Boxed { block, copied })
    };
    Ok(searched(work, near)?.into_iter().map(of).collect())
}

/// The box of a launch: points along each axis, and the arrays that are copied for it.
pub struct Boxed {
    pub block: Vec<usize>,
    pub copied: BTreeSet<NodeId>,
}

/// The least bytes of shared memory that boxes need for all that a launch would keep near; None:
/// boxes of two axes do not serve it all.
pub fn least(work: &Work, near: &[&SharedReads], group: &Group) -> Option<u64> {
    let domain = &group.domain;
    let mut axes: Vec<usize> = near.iter().flat_map(|n| n.axes.iter().copied()).collect();
    axes.push(domain.len().checked_sub(1)?);
    axes.sort();
    axes.dedup();
    let all = tilings(work, near, &axes, group).filter(|t| t.tiles.len() == near.len());
    if axes.len() > 2 { None } else { all.map(|t| t.bytes() as u64).min() }
}

/// The box of a launch.
struct Found {
    group: usize,
    /// The nodes of the launch.
    nodes: Vec<NodeId>,
    domain: Vec<usize>,
    /// The arrays that it serves; at least one.
    arrays: Vec<NodeId>,
    /// All that were tried, with the bytes that each moves.
    tried: Vec<(Tiling<Load>, u64)>,
    tiling: Tiling<Load>,
    moved: u64,
}

fn searched(work: &mut Work, near: &[SharedReads]) -> Result<Vec<Found>> {
    let schedule = work.schedule()?;
    let mut groups: BTreeMap<usize, Vec<&SharedReads>> = BTreeMap::new();
    for near in near {
        groups.entry(near.group).or_default().push(near);
    }
    let mut out = Vec::new();
    for (group, all) in groups {
        let own = &work.layouts.group(group, &schedule.groups[group]);
        let domain = own.domain.to_vec();
        let Some(last) = domain.len().checked_sub(1) else { continue };
        // Threads follow the last axis; one more may be cut.
        let (mut axes, mut served): (Vec<usize>, Vec<&SharedReads>) = (vec![last], Vec::new());
        for near in all {
            let mut more: Vec<usize> = axes.iter().chain(&near.axes).copied().collect();
            more.sort();
            more.dedup();
            if more.len() <= 2 {
                axes = more;
                served.push(near);
            }
        }
        let mut tried = candidates(work, &served, &axes, own);
        // Of more than fits as much as does.
        while tried.is_empty() && served.len() > 1 {
            served.pop();
            tried = candidates(work, &served, &axes, own);
        }
        // The first of equals.
        let best = |without: Option<usize>| {
            let all = tried.iter().enumerate().filter(|(k, _)| Some(*k) != without);
            all.min_by_key(|(_, (_, moved))| *moved).map(|(k, _)| k)
        };
        let mut chosen = best(None);
        if work.options.reverses(Reversal::Boxes(group)) {
            chosen = best(chosen);
        }
        let arrays: Vec<NodeId> = served.iter().map(|near| near.array).collect();
        let (Some(chosen), false) = (chosen, arrays.is_empty()) else { continue };
        let (tiling, moved) = tried[chosen].clone();
        let nodes = schedule.groups[group].nodes();
        out.push(Found { group, nodes, domain, arrays, tried, tiling, moved });
    }
    Ok(out)
}

fn shorten(tiling: &mut Tiling<Load>) {
    for span in tiling.tiles.iter_mut().flat_map(|t| &mut t.spans) {
        if let Span::Along { apart, .. } = span {
            *apart = apart.saturating_sub(1);
        }
    }
}

/// Every box whose copies fit, and the bytes that one moves.
fn candidates(
    work: &Work,
    served: &[&SharedReads],
    axes: &[usize],
    group: &Group,
) -> Vec<(Tiling<Load>, u64)> {
    let all = tilings(work, served, axes, group);
    let fits = |t: &Tiling<Load>| !t.tiles.is_empty() && t.bytes() <= BYTES;
    let priced = |t: Tiling<Load>| {
        let moved = t.tiles.iter().map(|tile| moved(tile, &t.block)).sum();
        (t, moved)
    };
    all.filter(fits).map(priced).collect()
}

/// Every box, whatever its copies need: of a fold one, with a row for each thread.
fn tilings<'a>(
    work: &'a Work,
    served: &'a [&SharedReads],
    axes: &'a [usize],
    group: &'a Group,
) -> impl Iterator<Item = Tiling<Load>> + 'a {
    let folds = group.kind == Kind::Reduce;
    let points = work.options.preset().points();
    let shapes: Vec<Vec<usize>> = match axes {
        _ if folds => vec![STAGED.into()],
        [_] => vec![vec![points]],
        _ => ROWS.iter().map(|rows| vec![*rows, points / rows]).collect(),
    };
    let domain = &group.domain;
    let lanes = if folds { 0 } else { domain.len() - 1 };
    shapes.into_iter().map(move |shape| {
        let mut block: SmallVec<[usize; 4]> = smallvec![1; domain.len()];
        axes.iter().zip(&shape).for_each(|(axis, n)| block[*axis] = *n);
        let tiles = served.iter().flat_map(|near| tile(work, near, axes, domain)).collect();
        Tiling { block, lanes, tiles }
    })
}

/// The reads of an array that have one form, as one copy. None: fewer than two overlap, and none
/// crosses rows.
fn tile(work: &Work, near: &SharedReads, axes: &[usize], domain: &[usize]) -> Option<Tile<Load>> {
    let shape = work.layouts.shape(&work.dag, near.array);
    let wraps = |j: usize| near.reads.iter().find_map(|r| single(&r.ix[j]).and_then(|s| s.wraps));
    let around: Vec<Option<i64>> = (0..shape.len()).map(wraps).collect();
    let spans = |read: &Read| -> Option<Vec<Span>> {
        let own = read.ix.iter().zip(&around);
        own.map(|(ix, n)| Span::new(ix, *n, domain, &|k| axes.contains(&k))).collect()
    };
    let constant = |s: &Span| if let Span::Along { from, .. } = s { *from } else { 0 };
    let form = |s: &Span| match s {
        Span::Along { axis, by, wraps, .. } => {
            Span::Along { axis: *axis, by: *by, from: 0, apart: 0, wraps: *wraps }
        }
        at => at.clone(),
    };
    let first: Vec<Span> = near.reads.iter().find_map(spans)?.iter().map(form).collect();
    let alike = |read: &Read| {
        let own = spans(read)?;
        let fits = own.iter().map(form).eq(first.iter().cloned());
        fits.then(|| (read.clone(), own.iter().map(constant).collect::<Vec<i64>>()))
    };
    let known: Vec<(Read, Vec<i64>)> = near.reads.iter().filter_map(alike).collect();
    let lowest = |j: usize| known.iter().map(|(_, c)| c[j]).min().unwrap_or(0);
    let apart =
        |j: usize| (known.iter().map(|(_, c)| c[j]).max().unwrap_or(0) - lowest(j)) as usize;
    let mut spans: Vec<Span> = first;
    for (j, span) in spans.iter_mut().enumerate() {
        if let Span::Along { from, apart: most, wraps, .. } = span {
            (*from, *most) = (lowest(j), apart(j));
            if wraps.is_some_and(|n| n as usize != shape[j]) {
                return None;
            }
        }
    }
    let ahead = |c: &[i64]| (0..c.len()).map(|j| c[j] - lowest(j)).collect();
    let loads = known.iter().map(|(read, c)| ((near.array, read.clone()), ahead(c))).collect();
    Some(Tile { spans, pad: 0, size: work.dag.dtype(near.array).size(), loads })
}

/// Bytes that the copy of a box moves: whole pieces of rows.
fn moved(tile: &Tile<Load>, block: &[usize]) -> u64 {
    let extents = tile.extents(block);
    let Some((row, above)) = extents.split_last() else { return 0 };
    let rows: u64 = above.iter().map(|n| *n as u64).product();
    rows.saturating_mul(((row * tile.size) as u64).div_ceil(PIECE)).saturating_mul(PIECE)
}

fn decided(found: &Found) -> Decision {
    let Found { domain, arrays, tried, tiling: best, moved: least, .. } = found;
    let (at, least) = (arrays[0], *least);
    let boxes = best.boxes(domain);
    let cut = |block: &[usize]| block.iter().copied().filter(|n| *n > 1).collect::<Vec<usize>>();
    let says = Says::Boxes {
        block: cut(&best.block),
        boxes,
        served: arrays.clone(),
        moved: least,
        tried: tried.iter().map(|(t, moved)| (cut(&t.block), *moved)).collect(),
    };
    let cost = |moved: u64| Cost {
        flops: 0,
        bytes: moved.saturating_mul(boxes),
        ns: (moved.saturating_mul(boxes) / 8) as f64 * cost::READ_NS,
    };
    let other = tried.iter().filter(|(t, _)| t != best).map(|t| t.1).min();
    let about = About { at, what: "tile", reason: "traffic", row: "BAS-22", switch: "tile" };
    let chosen = Choice { name: "boxes", cost: cost(least) };
    match other {
        Some(moved) => Decision::forced(
            about,
            chosen,
            Choice { name: "other-boxes", cost: cost(moved) },
            WhyNot::Dearer,
            says,
        ),
        None => {
            let points: u64 = best.block.iter().map(|n| *n as u64).product();
            let loads: u64 = best.tiles.iter().map(|t| t.loads.len() as u64 * t.size as u64).sum();
            let direct = Choice { name: "no-boxes", cost: cost(points.saturating_mul(loads)) };
            Decision::forced(about, chosen, direct, WhyNot::Dearer, says)
        }
    }
}

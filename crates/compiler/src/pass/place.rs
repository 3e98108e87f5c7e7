//! place: which reads of a launch meet data again, and what a block of threads keeps near.
//!
//! Rows: BAR-14, BAR-15, BAS-06…09. In: the final schedule. Out: the same, with a decision for each
//! array that a launch reads more than once: by an affine map of lower rank than the loops (reuse
//! of a higher order), at several places that overlap (a stencil), or across its rows (a
//! transpose). Shared memory is what the printed text uses where that is chosen; a CPU has caches.
//! Products and folds of all pairs go through it whatever is said here (`kir::product`). What each
//! choice loads is counted: read for read, by the rule of 2010 (in the block, else from memory) and
//! with a halo.

use super::cost::{Cost, READ_NS};
use super::decide::{About, Choice, Decision, WhyNot};
use super::fault::Fault;
use super::reversal::Reversal;
use super::schedule::{Group, Schedule};
use super::sentences::{Met, Says};
use super::work::Work;
use super::{find, need, sketch, tile};
use aplomb_ground::error::Result;
use aplomb_plans::kir::{self, Form, Space};
use aplomb_plans::plan::tiling::{BYTES, Single, single};
use aplomb_plans::plan::{
    Asking, BufId, Kind, Launch, Load, Plan, Tiles, adjacency, asking, met, product, uses,
};
use aplomb_values::dag::{NodeId, Read};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// More reads of one array than this are no stencil.
const REFS: usize = 128;

/// Threads of a block, and how many of them lie along each of the last two axes.
const BLOCK: i64 = 256;
const TILE: [i64; 2] = [16, 16];
/// An axis shorter than this is read across without much loss.
const ACROSS: usize = 32;
/// Neighbouring threads that read across rows move a sector each.
pub const SECTOR: u64 = 32;

/// Reads of an array that a launch serves from shared memory.
#[derive(Clone, Debug)]
pub struct SharedReads {
    pub group: usize,
    pub array: NodeId,
    pub reads: Vec<Read>,
    /// Axes of the loops along which the reads are apart, or cross; ascending.
    pub axes: Vec<usize>,
}

pub fn run(work: &mut Work) -> Result<()> {
    let schedule = work.schedule()?;
    let (mut near, mut found) = (Vec::new(), Vec::new());
    for (k, group) in schedule.groups.iter().enumerate() {
        let reversed = |array| work.options.reverses(Reversal::Placed { launch: k, array });
        for (array, read) in staged(work, &schedule, group)? {
            let (reads, axes) = (vec![read], vec![0, 1]);
            if !reversed(array) {
                near.push(SharedReads { group: k, array, reads: reads.clone(), axes });
            }
            if work.options.trace {
                found.push((k, array, reads, Meeting::Apiece, None));
            }
        }
        if group.kind != Kind::Map && !work.options.trace {
            continue;
        }
        let (mut reads, mut unknown): (BTreeMap<NodeId, Vec<Read>>, BTreeSet<NodeId>) =
            Default::default();
        for at in group.nodes() {
            if work.dag.domain(at) != &*group.domain {
                continue;
            }
            // Of what is read where values tell, nothing is known.
            for (buffer, read) in find::loads(&work.dag, &schedule.keep, at) {
                if read.is_anywhere() {
                    unknown.insert(buffer);
                    continue;
                }
                let read = work.layouts.seen(k, buffer, read, &group.domain);
                let known = reads.entry(buffer).or_default();
                if known.len() <= REFS && !known.contains(&read) {
                    known.push(read);
                }
            }
        }
        let group = &work.layouts.group(k, group);
        for (array, reads) in reads.into_iter().filter(|(array, _)| !unknown.contains(array)) {
            let Some(meeting) = meeting(work, &reads, group) else { continue };
            let why = stays(work, group, &meeting);
            if let Meeting::Overlap(Overlap { axes, .. }) | Meeting::Across(axes) = &meeting
                && why.is_none() != reversed(array)
            {
                near.push(SharedReads {
                    group: k,
                    array,
                    reads: reads.clone(),
                    axes: axes.clone(),
                });
            }
            if work.options.trace {
                found.push((k, array, reads, meeting, why));
            }
        }
    }
    if work.options.has(Fault::OtherRead) {
        let last = near.iter_mut().filter_map(|n| n.reads.last_mut()?.ix.last_mut());
        last.for_each(|ix| *ix = ix.offset(1));
    }
    // The box of a launch follows from all that it keeps near.
    let boxes: BTreeMap<usize, tile::Boxed> =
        if found.is_empty() { BTreeMap::new() } else { tile::blocks(work, &near)? };
    for (k, array, reads, meeting, why) in found {
        let block = boxes.get(&k).filter(|b| why.is_none() && b.copied.contains(&array));
        let block = block.map(|b| b.block.as_slice());
        let why = why.or_else(|| {
            let all: Vec<&SharedReads> = near.iter().filter(|n| n.group == k).collect();
            let meant = block.is_none() && all.iter().any(|n| n.array == array);
            meant.then(|| unserved(work, &all, &work.layouts.group(k, &schedule.groups[k])))
        });
        let group = &work.layouts.group(k, &schedule.groups[k]);
        // What neither the kind of the launch nor its memory bars.
        let can = match (&why, &meeting) {
            (_, Meeting::Apart(_) | Meeting::Reuse(..)) => false,
            (None | Some(WhyNot::Rule(_) | WhyNot::Caches { .. }), _) => true,
            _ => false,
        };
        let decision = told(work, array, &reads, (group, block), &meeting, why);
        let other = Reversal::Placed { launch: k, array };
        work.decide(if can { decision.or(other) } else { decision });
    }
    work.shared_reads = near;
    Ok(())
}

/// Why an array has no copy in the boxes of its launch, which would keep all of these near.
fn unserved(work: &Work, near: &[&SharedReads], group: &Group) -> WhyNot {
    let have = BYTES as u64;
    match tile::least(work, near, group).filter(|need| *need > have) {
        Some(need) => WhyNot::Limit { name: "smem", need, have },
        None => WhyNot::Illegal("no box of the launch serves its reads"),
    }
}

/// The manner in which the reads of an array meet its elements again.
enum Meeting {
    Overlap(Overlap),
    /// Along these axes, which cross rows.
    Across(Vec<usize>),
    /// By this read along these axes, which do not move it.
    Reuse(Read, Vec<usize>),
    /// Not within a block: they are too far apart (BAR-15).
    Apart(Overlap),
    /// Once, and a row apart for threads that have a row each.
    Apiece,
}

/// Arrays of a fold of rows that no order of its loops reads side by side, with their reads, for
/// pipelines that copy such (BAS-09, BAS-14).
fn staged(work: &Work, schedule: &Schedule, group: &Group) -> Result<Vec<(NodeId, Read)>> {
    let asked = work.options.preset().staged && !work.options.is_off("tile");
    let of_rows = group.kind == Kind::Reduce && group.axis == Some(1) && group.domain.len() == 2;
    if !asked || !of_rows || group.product || group.domain.iter().any(|n| *n < ACROSS) {
        return Ok(Vec::new());
    }
    let (dag, keep) = (&work.dag, &schedule.keep);
    let (_, inside) = need::whole(dag, keep, &group.nodes());
    let read = inside.into_iter().filter(|at| need::is_read(dag, keep, *at));
    let plan = sketch::sketch(dag, keep, &[group], read)?;
    let [launch] = &plan.launches[..] else { return Ok(Vec::new()) };
    let orders = plan.nest(launch).map_or_else(Vec::new, |nest| nest.candidates());
    if orders.iter().any(|order| !order.global.is_empty()) {
        return Ok(Vec::new());
    }
    let staged = orders.iter().flat_map(|order| &order.staged);
    let read = |buf: &BufId| {
        let mut loads = launch.loads.iter().filter(|l| l.buf == *buf);
        let only = loads.next().filter(|_| loads.next().is_none())?;
        Some((plan.buffer(*buf).node, only.read.clone()))
    };
    Ok(staged.filter_map(read).collect())
}

fn meeting(work: &Work, reads: &[Read], group: &Group) -> Option<Meeting> {
    let domain = &group.domain;
    // The threads of a fold follow its results where those lie beside each other.
    let crossing = across(reads, domain).filter(|_| group.kind == Kind::Map);
    // Few reads that cross rows are worth a copy for that.
    let few = |o: &Overlap| o.refs < work.options.preset().overlap() && crossing.is_some();
    if let Some(o) = overlap(reads, domain).filter(|o| !few(o)) {
        return Some(Meeting::Overlap(o));
    }
    if let Some(axes) = crossing {
        return Some(Meeting::Across(axes));
    }
    if !work.options.trace {
        return None;
    }
    if let Some((far, false)) = steps_apart(reads, domain) {
        return Some(Meeting::Apart(far));
    }
    let first = reads.first()?;
    let axes = redundant(first, domain)?;
    (!axes.is_empty() && product(domain) > 1).then(|| Meeting::Reuse(first.clone(), axes))
}

/// Why an array is not kept near; None: it is.
fn stays(work: &Work, group: &Group, meeting: &Meeting) -> Option<WhyNot> {
    let least = work.options.preset().overlap();
    let (refs, axes) = match meeting {
        Meeting::Overlap(o) => (o.refs, o.axes.len()),
        Meeting::Across(axes) => (usize::MAX, axes.len()),
        Meeting::Apiece => return None,
        Meeting::Apart(_) => {
            return Some(WhyNot::Rule("no block holds two of its reads"));
        }
        Meeting::Reuse(..) => {
            // Where the text of the launch serves it otherwise, `of_text` tells.
            return Some(WhyNot::Rule(match group.kind {
                Kind::Reduce => "caches serve it as well",
                _ => "threads that read one element at once are served by one load",
            }));
        }
    };
    match () {
        () if group.kind != Kind::Map => Some(WhyNot::Illegal(
            "only maps keep a box of a read near, a product has tiles of its operands",
        )),
        () if work.options.is_off("tile") => Some(WhyNot::SwitchedOff("tile")),
        () if axes > 2 => Some(WhyNot::Illegal("tiles have two axes at most")),
        () if product(&group.domain) < work.options.preset().fewest() => {
            Some(WhyNot::Rule("caches hold all of so few"))
        }
        () if refs < least => Some(WhyNot::Caches { least }),
        () => None,
    }
}

/// The decision, with what each choice loads. `block` is the launch's box in its text, where it has
/// one.
fn told(
    work: &Work,
    at: NodeId,
    reads: &[Read],
    (group, block): (&Group, Option<&[usize]>),
    meeting: &Meeting,
    why: Option<WhyNot>,
) -> Decision {
    let (domain, size) = (&group.domain, work.dag.dtype(at).size() as u64);
    let points = product(domain);
    let extents = work.layouts.shape(&work.dag, at);
    let asks: Vec<Asking<'_>> = reads.iter().map(|read| (read, &domain[..])).collect();
    // What is left where it is for another reason is so without the pass as well.
    let switch = match &why {
        None | Some(WhyNot::SwitchedOff(_)) => "tile",
        Some(_) => "",
    };
    let about = |reason: &'static str, row: &'static str, switch: &'static str| About {
        at,
        what: "place",
        reason,
        row,
        switch,
    };
    let (met, about, global, shared) = match meeting {
        Meeting::Overlap(o) => {
            let own = block.map(|b| {
                b.iter().enumerate().filter(|x| *x.1 > 1).map(|(k, n)| (k, *n as i64)).collect()
            });
            let cut: Vec<(usize, i64)> = own.unwrap_or_else(|| o.block.clone());
            // A block has no more points than there are.
            let within = |(k, n): &(usize, i64)| (*k, (*n).min(domain[*k] as i64));
            let cut: Vec<(usize, i64)> = cut.iter().map(within).collect();
            let is_all = cut.iter().map(|(_, n)| *n as u64).product::<u64>() == points;
            let (direct, paper, with_halo) = match is_all {
                true => loads_of_all(o, &asks, met(&extents, &asks)),
                false => block_loads(o, &cut),
            };
            let (all_direct, _, all_with_halo) = all_loads(o, &cut, domain);
            let met = Met::Overlap {
                refs: o.refs,
                halo: o.halo.clone(),
                block: cut.iter().map(|c| c.1).collect(),
                loads: [direct, paper, with_halo],
                uses: uses(&extents, &asks),
            };
            let (global, near) = (loading(all_direct, size), loading(all_with_halo, size));
            (met, about("overlap", "BAR-14", switch), global, near)
        }
        Meeting::Apart(o) => {
            let most = o.block.iter().map(|(axis, n)| (n - 1).min(domain[*axis] as i64 - 1));
            let met = Met::Apart { refs: o.refs, halo: o.halo.clone(), most: most.collect() };
            let all = loading(points.saturating_mul(reads.len() as u64), size);
            (met, about("apart", "BAR-15", switch), all, all)
        }
        Meeting::Across(_) => {
            let all = points.saturating_mul(reads.len() as u64);
            (
                Met::Across,
                about("no-coalescing", "BAS-09", switch),
                loading(all, SECTOR),
                loading(all, size),
            )
        }
        Meeting::Apiece => (
            Met::Apiece,
            about("no-coalescing", "BAS-09", switch),
            loading(points, SECTOR),
            loading(points, size),
        ),
        Meeting::Reuse(read, along) => {
            // Along a loop that moves it not, each element is asked for as often as any other.
            let own: [Asking<'_>; 1] = [(read, domain)];
            let (all, once) = (asking(read, domain), met(&extents, &own));
            let moves = |k: &usize| read.ix.iter().any(|ix| ix.mentions(*k));
            let exact = read.tests.is_empty() && !along.iter().any(moves);
            let met = Met::Reuse {
                along: along.clone(),
                loops: domain.len(),
                times: exact.then(|| all / once.max(1)),
                uses: uses(&extents, &own),
                once,
                all,
            };
            (met, about("reuse", "BAS-07", ""), loading(all, size), loading(once, size))
        }
    };
    let (global, shared) =
        (Choice { name: "global", cost: global }, Choice { name: "shared", cost: shared });
    let says = Says::Met(met);
    let told = match why {
        Some(why) => Decision::forced(about, global, shared, why, says),
        None => Decision::forced(about, shared, global, WhyNot::Dearer, says),
    };
    told.of(group.nodes())
}

/// A decision on reuse as the plan has it: the text of a launch may serve an array by copies, by
/// one load for a warp, or by one before its loop. `k` is the launch.
pub fn of_text(plan: &Plan, k: usize, d: Decision) -> Decision {
    let launch = &plan.launches[k];
    let own = |load: &Load| plan.buffer(load.buf).node == d.at();
    let Some(load) = launch.loads.iter().position(own) else { return d };
    let (space, _) = kir::space(plan, launch, load);
    let is_tiled = goes_by_tiles(plan, launch);
    let could = Launch { tiles: other_tiles(plan, launch), ..launch.clone() };
    let other = (goes_by_tiles(plan, &could) != is_tiled).then_some(Reversal::Tiles(k));
    let or = |d: Decision| match other {
        Some(other) => d.or(other),
        None => d,
    };
    if space == Space::Global {
        return or(d);
    }
    let [all, once] = [d.chosen().cost, d.rejected()[0].0.cost];
    let size = plan.buffer(launch.loads[load].buf).dtype.size() as u64;
    let copied = kir::copied(plan, launch, load, kir::size(plan, launch));
    let cost = copied.map_or(once, |n| loading(n, size));
    let switch = if launch.tiles == Tiles::Always { "tile" } else { "" };
    let about = About { at: d.at(), what: "place", reason: "reuse", row: d.row(), switch };
    let chosen = Choice { name: space.name(), cost };
    let over = Choice { name: Space::Global.name(), cost: all };
    let because = match space {
        Space::Constant => WhyNot::Rule("lanes that ask for one element are served by one load"),
        Space::Register if !is_tiled => {
            WhyNot::Rule("what a thread's loop does not move is loaded before it")
        }
        _ => WhyNot::Dearer,
    };
    or(Decision::forced(about, chosen, over, because, d.says().clone()))
}

/// True of a fold that goes by tiles of its operands on a GPU.
fn goes_by_tiles(plan: &Plan, launch: &Launch) -> bool {
    matches!(Form::of(plan, launch), Form::Tiles | Form::Pairs)
}

/// The other way for the tiles of a launch.
pub fn other_tiles(plan: &Plan, launch: &Launch) -> Tiles {
    if goes_by_tiles(plan, launch) { Tiles::Never } else { Tiles::Always }
}

/// The cost of so many loads of so many bytes each.
fn loading(n: u64, size: u64) -> Cost {
    let bytes = n.saturating_mul(size);
    Cost { flops: 0, bytes, ns: bytes as f64 / 8.0 * READ_NS }
}

/// Loop axes, the last among them, by which all reads cross the array's rows: neighbours in the
/// loop are a row apart.
pub fn across(reads: &[Read], domain: &[usize]) -> Option<Vec<usize>> {
    let last = domain.len().checked_sub(1)?;
    let mut axes: Option<Vec<usize>> = None;
    for read in reads {
        let row = read.ix.last()?;
        let other = (0..last).find(|k| row.mentions(*k) && single(row).is_some())?;
        let crosses = !row.mentions(last) && read.ix.iter().any(|ix| ix.mentions(last));
        let long = domain[last] >= ACROSS && domain[other] >= ACROSS;
        let own = (crosses && long).then(|| vec![other, last])?;
        if axes.get_or_insert_with(|| own.clone()) != &own {
            return None;
        }
    }
    axes
}

/// BAS-07: the loops along which an affine read repeats, as many as its rank is short of theirs,
/// where its tests leave more than a point of them. None: not affine.
pub fn redundant(read: &Read, domain: &[usize]) -> Option<Vec<usize>> {
    let loops: Vec<usize> = (0..domain.len()).collect();
    let mut rows = adjacency::rows(&read.ix, domain, &loops)?;
    // An axis that no index mentions has no pivot, either.
    let pivots = adjacency::pivots(&mut rows, domain.len());
    let (held, _) = read.held(domain);
    if held.iter().any(|(lo, hi)| lo >= hi) {
        return Some(Vec::new());
    }
    let long = |k: usize| held[k].1 - held[k].0 > 1;
    Some(loops.into_iter().filter(|k| pivots[*k].is_none() && long(*k)).collect())
}

/// Several reads of one array that meet the same elements.
#[derive(Debug, PartialEq)]
pub struct Overlap {
    pub refs: usize,
    /// The axes of the loops that move them, and by how much they are apart there.
    pub axes: Vec<usize>,
    pub halo: Vec<i64>,
    /// Of each read, in loop steps from the centre.
    moves: Vec<Vec<i64>>,
    /// Loop steps along each axis after which reads meet the same elements again; 0: never.
    around: Vec<i64>,
    /// Axes and extents of a block of 256 threads, as in 2010.
    block: Vec<(usize, i64)>,
}

/// BAR-14: whether the reads differ by distances of whole loop steps that are shorter than a block.
pub fn overlap(reads: &[Read], domain: &[usize]) -> Option<Overlap> {
    steps_apart(reads, domain).filter(|(_, near)| *near).map(|(o, _)| o)
}

/// Reads that differ by whole loop steps, and whether these are shorter than a block.
fn steps_apart(reads: &[Read], domain: &[usize]) -> Option<(Overlap, bool)> {
    let first = reads.first()?;
    if !(2..=REFS).contains(&reads.len())
        || domain.is_empty()
        || reads.iter().any(|r| r.ix.len() != first.ix.len())
    {
        return None;
    }
    let moves: Vec<Vec<i64>> =
        reads.iter().map(|r| steps(first, r, domain)).collect::<Option<_>>()?;
    let span = |k: usize| {
        let all = moves.iter().map(|m| m[k]);
        all.clone().max().unwrap_or(0) - all.min().unwrap_or(0)
    };
    let halo: Vec<i64> = (0..domain.len()).map(span).collect();
    let moved: Vec<usize> = (0..domain.len()).filter(|&k| halo[k] > 0).collect();
    // The axes of a block: the last one, or the last two where both move.
    let tile: Vec<(usize, i64)> = match moved.as_slice() {
        [] => return None,
        [k] => vec![(*k, BLOCK)],
        [.., j, k] => vec![(*j, TILE[0]), (*k, TILE[1])],
    };
    let near = tile.iter().all(|(k, n)| halo[*k] < *n && halo[*k] < domain[*k] as i64);
    let halo = tile.iter().map(|(k, _)| halo[*k]).collect();
    let moves = from_centre(moves, own_place(reads, domain), &moved);
    let around = around(reads, domain);
    Some((Overlap { refs: reads.len(), axes: moved, halo, moves, around, block: tile }, near))
}

/// The steps of each loop after which some read is where it was: those that go around as often as
/// the loop.
fn around(reads: &[Read], domain: &[usize]) -> Vec<i64> {
    let own: Vec<Single> = reads.iter().flat_map(|read| &read.ix).filter_map(single).collect();
    let of = |(axis, extent): (usize, &usize)| {
        let whole = |s: &&Single| s.axis == axis && s.by.abs() == 1;
        let n = *extent as i64;
        if own.iter().filter(whole).any(|s| s.wraps == Some(n)) { n } else { 0 }
    };
    domain.iter().enumerate().map(of).collect()
}

/// The distance of a read ahead of another in loop steps, if it is whole steps.
fn steps(from: &Read, to: &Read, domain: &[usize]) -> Option<Vec<i64>> {
    let mut out = vec![0; domain.len()];
    for (a, b) in from.ix.iter().zip(&to.ix) {
        if a == b {
            continue;
        }
        let (mut x, mut y) = (single(a)?, single(b)?);
        if let Some(n) = x.wraps.or(y.wraps) {
            let extent = *domain.get(x.axis)?;
            (x, y) = (x.around(n, extent)?, y.around(n, extent)?);
        }
        let apart = y.from - x.from;
        if (Single { from: x.from, ..y }) != x || apart % x.by != 0 {
            return None;
        }
        out[x.axis] = apart / x.by;
    }
    Some(out)
}

/// The place of the first read, in loop steps from the loop's own place.
fn own_place(reads: &[Read], domain: &[usize]) -> Vec<i64> {
    let mut out = vec![0; domain.len()];
    let Some(first) = reads.first() else { return out };
    for (j, ix) in first.ix.iter().enumerate() {
        let Some(own) = single(ix).filter(|x| x.axis < out.len() && x.by != 0) else { continue };
        let around = reads.iter().find_map(|r| single(r.ix.get(j)?)?.wraps);
        let near = around.and_then(|n| own.around(n, domain[own.axis])).unwrap_or(own);
        out[own.axis] = near.from.div_euclid(near.by);
    }
    out
}

/// The reads' distances from what a thread of 2010 keeps for its neighbours: what is at the loop's
/// own place, where that is read or lies between the reads, else the middle of them.
fn from_centre(mut moves: Vec<Vec<i64>>, first: Vec<i64>, moved: &[usize]) -> Vec<Vec<i64>> {
    moves.iter_mut().for_each(|m| m.iter_mut().zip(&first).for_each(|(x, own)| *x += own));
    let ends: Vec<(i64, i64)> = moved
        .iter()
        .map(|&k| moves.iter().fold((i64::MAX, i64::MIN), |(a, b), m| (a.min(m[k]), b.max(m[k]))))
        .collect();
    let is_read = moves.iter().any(|m| moved.iter().all(|&k| m[k] == 0));
    let own = is_read || ends.iter().all(|(lo, hi)| *lo < 0 && 0 < *hi);
    for m in &mut moves {
        for (&k, (lo, hi)) in moved.iter().zip(&ends) {
            m[k] -= if own { 0 } else { (lo + hi).div_euclid(2) };
        }
        // Along the others all of them are at one place.
        (0..m.len()).filter(|k| !moved.contains(k)).for_each(|k| m[k] = 0);
    }
    moves
}

/// Elements that one block loads: each read for itself; one each, what lies outside of the block
/// again; once.
fn block_loads(of: &Overlap, block: &[(usize, i64)]) -> (u64, u64, u64) {
    match *block {
        [(axis, n)] if of.around[axis] == 0 || n <= of.around[axis] => line_loads(of, (axis, n)),
        _ => point_loads(of, block),
    }
}

/// The same of any block, point by point.
fn point_loads(of: &Overlap, block: &[(usize, i64)]) -> (u64, u64, u64) {
    let Overlap { moves, around, .. } = of;
    let points: Vec<Vec<i64>> = block.iter().fold(vec![Vec::new()], |all, (_, n)| {
        all.iter()
            .flat_map(|p| (0..*n).map(move |x| p.iter().copied().chain([x]).collect()))
            .collect()
    });
    let (mut outside, mut met) = (0, Vec::with_capacity(points.len() * moves.len()));
    for m in moves {
        // Along an axis that is not cut a block has one place.
        let other = m.iter().enumerate().any(|(k, x)| *x != 0 && block.iter().all(|b| b.0 != k));
        for p in &points {
            let mut place: SmallVec<[i64; 4]> = m.iter().copied().collect();
            for ((k, _), x) in block.iter().zip(p) {
                place[*k] += x;
                place[*k] =
                    if around[*k] > 0 { place[*k].rem_euclid(around[*k]) } else { place[*k] };
            }
            outside += u64::from(other || block.iter().any(|(k, n)| !(0..*n).contains(&place[*k])));
            met.push(place);
        }
    }
    met.sort_unstable();
    met.dedup();
    let own = points.len() as u64;
    (own * moves.len() as u64, own + outside, met.len() as u64)
}

/// The same of a block that is cut along one axis: where 60 reads turn a vector, a block of 256
/// meets 15 000 elements, in 60 stretches.
fn line_loads(of: &Overlap, (axis, n): (usize, i64)) -> (u64, u64, u64) {
    let (moves, round) = (&of.moves, of.around[axis]);
    let (mut outside, mut met) = (0, Vec::new());
    for m in moves {
        let mut line: SmallVec<[i64; 4]> = m.iter().copied().collect();
        let from = std::mem::take(&mut line[axis]);
        let from = if round > 0 { from.rem_euclid(round) } else { from };
        // What goes over the end of an axis that is a ring begins at its front again.
        let over = if round > 0 { (from + n - round).max(0) } else { 0 };
        let stretches = [(from, from + n - over), (0, over)];
        let inside = match line.iter().all(|x| *x == 0) {
            true => stretches.iter().map(|(a, b)| (*b.min(&n) - *a.max(&0)).max(0)).sum(),
            false => 0,
        };
        outside += (n - inside) as u64;
        met.extend(stretches.into_iter().filter(|s| s.0 < s.1).map(|s| (line.clone(), s)));
    }
    met.sort_unstable();
    let (mut distinct, mut last) = (0, None::<(&[i64], i64)>);
    for (line, (from, to)) in &met {
        let seen = last.filter(|known| known.0 == &line[..]).map_or(*from, |known| known.1);
        distinct += (to - from.max(&seen)).max(0) as u64;
        last = Some((line, seen.max(*to)));
    }
    ((n as u64) * moves.len() as u64, n as u64 + outside, distinct)
}

/// The same of a block that is all of a domain, whose edges its reads know: each asks for what its
/// tests leave.
fn loads_of_all(of: &Overlap, asks: &[Asking<'_>], met: u64) -> (u64, u64, u64) {
    let (mut direct, mut outside) = (0, 0);
    for ((read, domain), m) in asks.iter().zip(&of.moves) {
        let stays = |(k, n): (usize, &usize)| match of.around[k] {
            0 => (*n as u64).saturating_sub(m[k].unsigned_abs()),
            _ => *n as u64,
        };
        let (all, inside) = (asking(read, domain), domain.iter().enumerate().map(stays).product());
        direct += all;
        outside += all.saturating_sub(inside);
    }
    let points = asks.first().map_or(0, |(_, domain)| product(domain));
    (direct, points + outside, met)
}

/// The same of all blocks of a domain: those at its ends have fewer points.
fn all_loads(of: &Overlap, block: &[(usize, i64)], domain: &[usize]) -> (u64, u64, u64) {
    let cut = |k: usize| block.iter().any(|(axis, _)| *axis == k);
    let others = (0..domain.len()).filter(|k| !cut(*k));
    let others = others.fold(1u64, |n, k| n.saturating_mul(domain[k] as u64));
    let mut boxes: Vec<(Vec<(usize, i64)>, u64)> = vec![(Vec::new(), others)];
    for &(axis, n) in block {
        let (full, rest) = (domain[axis] as i64 / n, domain[axis] as i64 % n);
        let kinds = [(n, full as u64), (rest, u64::from(rest > 0))];
        let kinds = kinds.into_iter().filter(|(_, count)| *count > 0);
        let longer = |(own, times): (Vec<(usize, i64)>, u64)| {
            kinds.clone().map(move |(n, count)| {
                ([&own[..], &[(axis, n)]].concat(), times.saturating_mul(count))
            })
        };
        boxes = boxes.into_iter().flat_map(longer).collect();
    }
    boxes.iter().fold((0, 0, 0), |sum, (own, times)| {
        let (a, b, c) = block_loads(of, own);
        let more = |sum: u64, n: u64| sum.saturating_add(n.saturating_mul(*times));
        (more(sum.0, a), more(sum.1, b), more(sum.2, c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_values::dag::ix::Ix;

    #[test]
    fn stretches_of_a_line_are_its_points() {
        for (round, n) in [(0, 1), (0, 5), (0, 16), (7, 3), (7, 7), (16, 15)] {
            let moves = (0..24i64).map(|k| vec![k % 3 / 2, k * k * 5 % 23 - 9]).collect();
            let around = vec![0, round];
            let (axes, halo, block) = (vec![1], vec![0, 0], vec![(1, n)]);
            let of = Overlap { refs: 24, axes, halo, moves, around, block };
            assert_eq!(line_loads(&of, (1, n)), point_loads(&of, &of.block), "{round} {n}");
        }
    }

    /// GOLDENS, 4: the forward difference of whole arrays: items in blocks of 256 threads, by the
    /// rule of 2010 one more for each block that has a neighbour behind it.
    #[test]
    fn bar_14_loads_of_a_whole_array() {
        let taps = [at(&[0]), at(&[1])];
        let of = |n: usize| {
            let domain = [n - 1];
            let o = overlap(&taps, &domain).expect("an overlap");
            all_loads(&o, &o.block, &domain)
        };
        for (n, more) in [(255, 0), (256, 0), (257, 0), (258, 1), (512, 1), (513, 1), (514, 2)] {
            let n64 = n as u64;
            assert_eq!(of(n), (2 * (n64 - 1), n64 + more, n64 + more), "{n}");
        }
        assert_eq!(of(65_536), (131_070, 65_791, 65_791));
        // No two of them overlap where there is no second result.
        assert!(overlap(&taps, &[1]).is_none() && overlap(&taps, &[2]).is_some());
        // Rows and columns that 16 does not divide.
        let jacobi = [[-1, 0], [1, 0], [0, -1], [0, 1]].map(|o| at(&o));
        let o = overlap(&jacobi, &[99, 99]).expect("an overlap");
        let (direct, _, halo) = all_loads(&o, &o.block, &[99, 99]);
        let whole = |n: u64, m: u64| n * m + 2 * n + 2 * m;
        let boxes = 36 * whole(16, 16) + 12 * whole(16, 3) + whole(3, 3);
        assert_eq!((direct, halo), (4 * 99 * 99, boxes));
    }

    fn at(offsets: &[i64]) -> Read {
        Read::new(offsets.iter().enumerate().map(|(k, c)| Ix::axis(k).offset(*c)))
    }

    fn loads(reads: &[Read], domain: &[usize]) -> (u64, u64, u64) {
        let o = overlap(reads, domain).expect("an overlap");
        block_loads(&o, &o.block)
    }

    /// Elements that one block loads.
    #[test]
    fn bar_14_loads_of_a_block() {
        let taps = |n: i64| (0..n).map(|k| at(&[k])).collect::<Vec<_>>();
        assert_eq!(loads(&taps(2), &[9_999]), (512, 257, 257));
        assert_eq!(loads(&taps(15), &[9_999]), (3_840, 361, 270));
        assert_eq!(loads(&taps(3), &[9_999]).2, 258);
        assert_eq!(overlap(&taps(15), &[9_999]).map(|o| o.halo), Some(vec![14]));
        let jacobi = [[-1, 0], [1, 0], [0, -1], [0, 1]].map(|o| at(&o));
        assert_eq!(loads(&jacobi, &[99, 99]), (1_024, 320, 320));
        let o = overlap(&jacobi, &[99, 99]).expect("an overlap");
        assert_eq!((o.refs, &o.halo[..]), (4, &[2, 2][..]));
        assert_eq!(block_loads(&o, &[(0, 8), (1, 32)]), (1_024, 336, 336));
        // In any order, as a drop writes it, and around the edges.
        for turn in 0..4 {
            let mut reads = jacobi.clone();
            reads.rotate_left(turn);
            assert_eq!(loads(&reads, &[99, 99]), (1_024, 320, 320));
        }
        assert_eq!(
            loads(&[[0, 1], [2, 1], [1, 0], [1, 2]].map(|o| at(&o)), &[99, 99]),
            (1_024, 320, 320)
        );
        let around =
            |o: [i64; 2]| Read::new((0..2).map(|k| Ix::axis(k).offset(o[k]).modulo(99, &[99, 99])));
        assert_eq!(
            loads(&[[-1, 0], [1, 0], [0, -1], [0, 1]].map(around), &[99, 99]),
            (1_024, 320, 320)
        );
        let life: Vec<Read> = (-1..2).flat_map(|i| (-1..2).map(move |j| at(&[i, j]))).collect();
        assert_eq!(loads(&life, &[99, 99]).2, 324);
        // Planes are apart although a block is cut along two axes.
        let planes = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]].map(|o| at(&o));
        assert_eq!(loads(&planes, &[99, 99, 99]), (1_024, 544, 256 + 256 + 16 + 16));
    }

    #[test]
    fn bar_15_only_reads_that_meet_within_a_block_overlap() {
        for (apart, near) in [(255, true), (256, false)] {
            assert_eq!(overlap(&[at(&[0]), at(&[apart])], &[9_999]).is_some(), near, "{apart}");
        }
        // Halves and strides that never meet.
        assert_eq!(overlap(&[at(&[0]), at(&[50])], &[50]), None);
        let even = |c| Read::new([Ix::axis(0).times(2).offset(c)]);
        assert_eq!(overlap(&[even(0), even(1)], &[99]), None);
        assert!(overlap(&[even(0), even(2)], &[99]).is_some());
        assert_eq!(overlap(&[at(&[0])], &[99]), None);
    }

    /// Redundant loops of matrix-vector and matrix-matrix products, of all pairs, of a transpose.
    #[test]
    fn bas_07_reuse_is_a_rank_below_the_loops() {
        let read = |axes: &[usize]| Read::new(axes.iter().map(|k| Ix::axis(*k)));
        let cases: [(&[usize], &[usize], &[usize]); 7] = [
            (&[0, 1], &[24, 32], &[]),
            (&[1], &[24, 32], &[0]),
            (&[0], &[24, 32], &[1]),
            (&[0, 2], &[8, 9, 10], &[1]),
            (&[2, 1], &[8, 9, 10], &[0]),
            (&[0, 1], &[8, 9, 10], &[2]),
            (&[1, 0], &[24, 32], &[]),
        ];
        for (axes, domain, wanted) in cases {
            assert_eq!(
                redundant(&read(axes), domain),
                Some(wanted.to_vec()),
                "{axes:?} in {domain:?}"
            );
        }
        // Each of three neighbours has the rank of its one loop: what they share is no reuse of a
        // higher order.
        for c in -1..2 {
            assert_eq!(redundant(&at(&[c]), &[9]), Some(vec![]));
        }
        // i+j has rank 1 in two loops; i and i+j together have 2.
        let diagonal = Ix::axis(0).add(&Ix::axis(1));
        assert_eq!(redundant(&Read::new([diagonal.clone()]), &[5, 6]), Some(vec![1]));
        assert_eq!(redundant(&Read::new([Ix::axis(0), diagonal]), &[5, 6]), Some(vec![]));
        assert_eq!(redundant(&Read::new([Ix::axis(0).modulo(3, &[9])]), &[9]), None);
        // A row of a matrix for each of five points, of three, and of one that a test leaves.
        for (hi, wanted) in [(5, vec![0]), (3, vec![0]), (1, vec![])] {
            let test = aplomb_values::dag::Test { ix: Ix::axis(0), lo: 0, hi, fill: 0.0 };
            let read = Read { ix: vec![Ix::constant(2), Ix::axis(1)], tests: vec![test] };
            assert_eq!(redundant(&read, &[5, 6]), Some(wanted), "{hi}");
        }
    }
}

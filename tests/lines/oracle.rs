//! An oracle that counts: on small domains each launch of a plan is walked point by point, and what
//! its trace tells is held against that.
//!
//! Counted, by definition: the elements that all points ask for, where the tests of a read hold
//! (`requests`); the different ones among them (`distinct`), also of all reads of an array together
//! (`est.r`); bytes written; operations; and, warp by warp, the sectors of 32 bytes that lanes meet
//! (`coalesced`: at most twice as many as the elements of the warps would fill). The texts and the
//! matrices of reads are read back, and meet the same elements (ACL-26, BAS-06). Reads by values
//! claim nothing and are not counted; products and boxes read through shared memory.

use crate::grammar::{Grammar, SETUP};
use crate::prices::{told_evaluations, workloads};
use crate::spoken;
use crate::support::{Dice, scaled, session};
use aplomb_compiler::pass::{NoClock, Options, compile};
use aplomb_ground::error::bytes;
use aplomb_ground::trace::{DecisionRecord, LaunchRecord, Trace};
use aplomb_plans::kir;
use aplomb_plans::plan::tiling::{Span, Tiling, single};
use aplomb_plans::plan::{Kind, Launch, Plan, What};
use aplomb_values::dag::{Read, Recorded};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Domains of more points are not walked.
const MOST: usize = 4096;
/// Bytes that memory moves at once.
const SECTOR: u64 = 32;
/// Threads that ask at once.
const WARP: usize = 32;

/// All places of a domain, the last axis fastest.
fn places(extents: &[usize]) -> Vec<Vec<usize>> {
    extents.iter().fold(vec![Vec::new()], |all, n| {
        let longer = |place: &Vec<usize>| {
            (0..*n).map(|k| [&place[..], &[k]].concat()).collect::<Vec<Vec<usize>>>()
        };
        all.iter().flat_map(longer).collect()
    })
}

/// The element that a read meets from a place, by its number in its array; None: a test fails.
fn element(read: &Read, shape: &[usize], place: &[usize]) -> Option<u64> {
    let holds = |t: &aplomb_values::dag::Test| (t.lo..t.hi).contains(&t.ix.at(place));
    if !read.tests.iter().all(holds) {
        return None;
    }
    let at = read.ix.iter().zip(shape).map(|(ix, n)| (ix.at(place), *n as i64));
    Some(at.fold(0, |sum, (k, n)| sum * n + k) as u64)
}

/// The places that lanes of a warp take at once, warp by warp.
fn warps(plan: &Plan, l: &Launch) -> Vec<Vec<Vec<usize>>> {
    let all = places(&l.domain);
    let chunks = |list: Vec<Vec<usize>>| -> Vec<Vec<Vec<usize>>> {
        list.chunks(WARP).map(<[_]>::to_vec).collect()
    };
    let Some(axis) = l.axis.filter(|_| l.kind == Kind::Reduce) else { return chunks(all) };
    // Along the fold, row by row; else results beside each other, a step of the fold at a time.
    let along = kir::Form::of(plan, l).lanes(l) == Some(axis);
    let key = |place: &Vec<usize>| {
        let mut rest = place.clone();
        let own = rest.remove(axis);
        if along { rest } else { vec![own] }
    };
    let mut rows: BTreeMap<Vec<usize>, Vec<Vec<usize>>> = BTreeMap::new();
    all.into_iter().for_each(|place| rows.entry(key(&place)).or_default().push(place));
    rows.into_values().flat_map(chunks).collect()
}

/// Threads that read a box's copy at once and meet in one bank, the most: by where each finds its
/// element in the copy. Words of 4 bytes in 32 banks, items of 8 bytes by half warps.
fn meetings(tiling: &Tiling<u32>, (load, read): (u32, &Read), size: usize) -> u32 {
    let tile = tiling.tiles.iter().find(|t| t.loads.iter().any(|(k, _)| *k == load));
    let tile = tile.expect("a copy of what is shared");
    let (strides, _) = tile.strides(&tiling.block);
    let points = places(&tiling.block);
    let coordinates = |place: &Vec<usize>| -> Vec<i64> {
        let own = read.ix.iter().zip(&tile.spans);
        own.map(|(ix, span)| match span {
            Span::At(_) => 0,
            Span::Along { by, .. } => {
                // From the end that is lowest.
                let axis = single(ix).expect("one axis").axis;
                let (steps, all) = (place[axis] as i64, tiling.block[axis] as i64);
                if *by < 0 { (all - 1 - steps) * -by } else { steps * by }
            }
        })
        .collect()
    };
    let lanes = if size >= 8 { WARP / 2 } else { WARP };
    let mut most = 0;
    for warp in points.chunks(lanes) {
        let mut banks: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for place in warp {
            let at: i64 = coordinates(place).iter().zip(&strides).map(|(k, s)| k * *s as i64).sum();
            let word = if size >= 8 { at as usize } else { at as usize * size / 4 };
            let all = if size >= 8 { 16 } else { 32 };
            banks.entry(word % all).or_default().insert(word);
        }
        most = most.max(banks.values().map(BTreeSet::len).max().unwrap_or(0));
    }
    most as u32
}

/// Bytes of shared memory that each kernel of a text declares, each array aligned for its items.
fn declared(text: &str) -> Vec<u32> {
    let mut all = Vec::new();
    for line in text.lines() {
        if line.contains("__global__") {
            all.push(0u32);
        }
        let Some((_, rest)) = line.split_once("__shared__ ") else { continue };
        let Some((of, rest)) = rest.split_once(' ') else { panic!("{line}") };
        let size = match of {
            "double" | "u64" | "i64" => 8,
            "float" | "u32" | "i32" => 4,
            "u16" | "i16" => 2,
            "u8" | "i8" => 1,
            other => panic!("a type is wanted for {other}: {line}"),
        };
        for one in rest.trim_end_matches(';').split(", ") {
            let parts = one.split('[').skip(1).map(|n| n.trim_end_matches(']'));
            let count: u32 = parts.map(|n| n.parse::<u32>().expect("a number")).product();
            let own = all.last_mut().expect("a kernel");
            *own = own.next_multiple_of(size) + size * count;
        }
    }
    all
}

/// Figures that are told otherwise than they were counted.
struct Differences(Vec<String>);

impl Differences {
    fn hold<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, told: T, counted: T) {
        if told != counted {
            self.0.push(format!("{what}: told {told:?}, counted {counted:?}"));
        }
    }
}

fn launch(plan: &Plan, l: &Launch, told: &LaunchRecord) -> Vec<String> {
    let mut out = Differences(Vec::new());
    let outer = l.outer();
    let mut arrays: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    let mut asked: BTreeMap<u32, u64> = BTreeMap::new();
    let mut whole: BTreeSet<u32> = BTreeSet::new();
    let steps = l.body.iter().map(|s| (s, false)).chain(l.after.iter().map(|s| (s, true)));
    let mut counted: BTreeSet<u32> = BTreeSet::new();
    for (step, after) in steps.clone() {
        if let (Some(load), false) = (step.what.load(), matches!(step.what, What::Load(_))) {
            whole.insert(l.loads[load as usize].buf.0);
        }
        let What::Load(k) = step.what else { continue };
        let (load, extents) = (&l.loads[k as usize], if after { &outer[..] } else { &l.domain });
        let buffer = plan.buffer(load.buf);
        let at = |place: &Vec<usize>| element(&load.read, &buffer.shape, place);
        let met: Vec<u64> = places(extents).iter().filter_map(at).collect();
        let distinct: BTreeSet<u64> = met.iter().copied().collect();
        let read = &told.reads[k as usize];
        // What is told of it, read back, meets the same elements.
        let what = format!("k{} reads {} of b{}", told.id, read.affine, load.buf.0);
        for place in places(extents) {
            let number = |at: Vec<i64>| {
                at.iter().zip(&buffer.shape).fold(0, |sum, (k, n)| sum * *n as i64 + k) as u64
            };
            // Axes that a fold has dropped stand in the text, and move nothing.
            let mut whole = place.clone();
            whole.resize(l.domain.len(), 0);
            let says = spoken::place(&read.affine, &whole).map(number);
            if says != at(&place) {
                out.hold(&format!("{what}, at {place:?} by its text"), says, at(&place));
            }
            let one: Vec<i64> = place.iter().map(|k| *k as i64).chain([1]).collect();
            let row = |row: &Vec<i64>| row.iter().zip(&one).map(|(a, b)| a * b).sum::<i64>();
            let by_matrix: Vec<i64> = read.matrix.iter().map(row).collect();
            let own: Vec<i64> = load.read.ix.iter().map(|ix| ix.at(&place)).collect();
            if !after && !read.matrix.is_empty() && by_matrix != own {
                out.hold(&format!("{what}, at {place:?} by its matrix"), by_matrix, own);
            }
        }
        // A read of one number is asked for once.
        if counted.insert(k) && !load.read.ix.is_empty() {
            out.hold(&format!("{what}, requests"), read.requests, met.len() as u64);
            out.hold(&format!("{what}, distinct"), read.distinct, distinct.len() as u64);
            if read.space == "constant" && !after && matches!(l.kind, Kind::Map | Kind::Reduce) {
                // All lanes of a warp read one element at a time.
                let all = warps(plan, l);
                let most = all
                    .iter()
                    .map(|warp| warp.iter().filter_map(at).collect::<BTreeSet<u64>>().len());
                let most = most.max().unwrap_or(0);
                out.hold(&format!("{what}, elements of a warp"), 1, most.max(1));
            }
            if let ("register", Some(axis)) = (read.space.as_str(), l.axis.filter(|_| !after)) {
                let mut rows: BTreeMap<Vec<usize>, BTreeSet<u64>> = BTreeMap::new();
                for mut place in places(extents) {
                    let met = at(&place);
                    place.remove(axis);
                    rows.entry(place).or_default().extend(met);
                }
                let most = rows.values().map(BTreeSet::len).max().unwrap_or(0);
                out.hold(&format!("{what}, elements of a loop"), 1, most.max(1));
            }
            if let Some(tiling) = l.tiling.as_ref().filter(|_| read.conflicts.is_some()) {
                let most = meetings(tiling, (k, &load.read), buffer.dtype.size());
                out.hold(&format!("{what}, threads in a bank"), read.conflicts, Some(most));
            }
            if read.space != "shared" && !after && matches!(l.kind, Kind::Map | Kind::Reduce) {
                let size = buffer.dtype.size() as u64;
                let (mut sectors, mut least) = (0, 0);
                for warp in warps(plan, l) {
                    let own: BTreeSet<u64> = warp.iter().filter_map(at).collect();
                    let met: BTreeSet<u64> = own.iter().map(|e| e * size / SECTOR).collect();
                    sectors += met.len() as u64;
                    least += (own.len() as u64 * size).div_ceil(SECTOR);
                }
                out.hold(&format!("{what}, coalesced"), read.coalesced, sectors <= 2 * least);
            }
        }
        if counted.contains(&k) && !load.read.ix.is_empty() {
            let (uses, what) = (read.reuse.as_deref().filter(|_| !after), format!("{what}, reuse"));
            let again = met.len() > distinct.len();
            match uses {
                Some("none") => out.hold(&what, false, again),
                Some(says) if says.starts_with("higher-order: ") => {
                    out.hold(&what, !met.is_empty(), again);
                }
                _ => {}
            }
        }
        *asked.entry(load.buf.0).or_default() += met.len() as u64;
        arrays.entry(load.buf.0).or_default().extend(distinct);
    }
    // The factor of reads that overlap is of all of them.
    for read in told.reads.iter().filter(|_| l.after.iter().all(|s| s.what.load().is_none())) {
        let factor = read.reuse.as_deref().and_then(|says| says.strip_prefix("constant: "));
        let met = arrays.get(&read.buf).map_or(0, BTreeSet::len);
        if let (Some(factor), true) = (factor, met > 0) {
            let counted = format!("{:.1}", asked[&read.buf] as f64 / met as f64);
            out.hold(&format!("k{} reads {}, factor", told.id, read.affine), factor, &counted);
        }
    }
    if let Some(told) = &told.block {
        // The box in the middle, point by point.
        let from = l.domain.iter().zip(&told.points).map(|(all, own)| {
            let middle = all / (*own).max(1) / 2 * own;
            middle.min(all.saturating_sub(*own))
        });
        let from: Vec<usize> = from.collect();
        let own = told.points.iter().zip(&l.domain).map(|(own, all)| *own.min(all));
        let own: Vec<usize> = own.collect();
        let mut met: BTreeSet<(u32, u64)> = BTreeSet::new();
        for place in places(&own) {
            let place: Vec<usize> = place.iter().zip(&from).map(|(k, from)| k + from).collect();
            for step in &l.body {
                let What::Load(k) = step.what else { continue };
                let load = &l.loads[k as usize];
                let at = element(&load.read, &plan.buffer(load.buf).shape, &place);
                met.extend(at.map(|at| (load.buf.0, at)));
            }
        }
        out.hold("elements of a block", told.loads, met.len() as u64);
        let boxes = l.domain.iter().zip(&told.points).map(|(all, own)| all.div_ceil(*own));
        out.hold("boxes", told.boxes, boxes.product::<usize>() as u64);
    }
    // Where a text gives a block so many results in a row, its boxes are its blocks.
    let in_a_row = ["map", "threads", "warps", "blocks"].contains(&told.form.as_str());
    if let (Some(block), [one], true) = (&told.block, &told.spread[..], in_a_row) {
        out.hold("boxes of the text", block.boxes, one.points.div_ceil(one.each));
        let results = (0..l.domain.len()).filter(|k| Some(*k) != l.axis).map(|k| block.points[k]);
        let results = results.product::<usize>() as u64;
        out.hold("results of a block", results, one.each.min(one.points));
    }
    let held = l.finish.iter().flat_map(|f| &f.held).copied();
    let masks = l.compaction.iter().map(|c| c.mask);
    whole.extend(held.chain(masks).map(|k| l.loads[k as usize].buf.0));
    let size = |b: u32| plan.buffers[b as usize].dtype.size() as u64;
    if whole.is_empty() {
        let read: u64 = arrays.iter().map(|(b, all)| all.len() as u64 * size(*b)).sum();
        out.hold(&format!("k{}, bytes from memory", told.id), told.est.r, read);
    }
    if let Some(cuda) = &told.cuda {
        let most = declared(&cuda.text).into_iter().max().unwrap_or(0);
        out.hold(&format!("k{}, bytes of shared memory", told.id), told.launch.smem, most);
    }
    let written: u64 =
        l.stores.iter().chain(&l.after_stores).map(|s| plan.buffer(s.buf).bytes()).sum();
    out.hold(&format!("k{}, bytes written", told.id), told.est.w, written);
    let plain = |(s, _): &(&aplomb_plans::plan::Step, bool)| {
        !matches!(s.what, What::Loop { .. } | What::State { .. })
    };
    if l.finish.is_none() && steps.clone().all(|s| plain(&s)) {
        let points = |after: bool| places(if after { &outer } else { &l.domain }).len() as u64;
        // A choice is one, and so is finding a place by a value.
        let is_op = |s: &aplomb_plans::plan::Step| {
            matches!(s.what, What::Op { .. } | What::Select { .. } | What::Gather { .. })
        };
        let ops: u64 = steps.filter(|(s, _)| is_op(s)).map(|(_, after)| points(after)).sum();
        let folded = l.reductions.len() as u64 * points(false);
        out.hold(&format!("k{}, operations", told.id), told.est.flops, ops + folded);
    }
    out.0
}

/// Whether a sentence on boxes or on what a block loads is so of some launch that reads its array:
/// its copies have the bytes that the text declares; of a block that is all of the launch, each
/// read's elements and the different ones are counted.
fn is_so(plan: &Plan, trace: &Trace, d: &DecisionRecord) -> bool {
    let numbers = |says: &str| -> Vec<u64> {
        says.split([' ', ';', '(', ')']).filter_map(|n| n.parse().ok()).collect()
    };
    let of = |l: &Launch, record: &LaunchRecord| {
        let buffer = |b: u32| trace.buffers[b as usize].node == d.node;
        if !record.inputs.iter().any(|b| buffer(*b)) {
            return false;
        }
        if d.what == "tile" {
            let own = format!(" into {} of shared memory", bytes(u64::from(record.launch.smem)));
            return record.form == "boxes" && d.text.contains(&own);
        }
        let (_, says) = d.text.split_once(" a block of ").expect("a block");
        let all = numbers(says);
        let [points, direct] = all[..2] else { return false };
        let near = before(says, " with a halo").and_then(|n| n.parse::<u64>().ok());
        if points != l.domain.iter().product::<usize>() as u64 {
            return points < l.domain.iter().product::<usize>() as u64;
        }
        let (mut asked, mut met) = (0, BTreeSet::new());
        for load in l.loads.iter().filter(|load| buffer(load.buf.0)) {
            let shape = &plan.buffer(load.buf).shape;
            let own: Vec<u64> =
                places(&l.domain).iter().filter_map(|p| element(&load.read, shape, p)).collect();
            asked += own.len() as u64;
            met.extend(own);
        }
        (direct, near) == (asked, Some(met.len() as u64))
    };
    plan.launches.iter().zip(&trace.kernels).any(|(l, record)| of(l, record))
}

/// The number in front of a word of a sentence.
fn before<'a>(says: &'a str, word: &str) -> Option<&'a str> {
    says.split_once(word)?.0.rsplit(' ').next()
}

/// A sentence on how often a node is computed, if its steps do not run so often: each at every
/// point of its loop.
fn computed(plan: &Plan, trace: &Trace, d: &DecisionRecord) -> Option<String> {
    let told: u64 = before(&d.text, " times for ")?.parse().ok()?;
    let mut own = BTreeSet::from([d.node]);
    for n in &trace.nodes {
        if n.from.iter().any(|was| own.contains(was)) {
            own.insert(n.id);
        }
    }
    let of = |steps: &[aplomb_plans::plan::Step], extents: &[usize]| {
        let is = |s: &&aplomb_plans::plan::Step| own.contains(&(s.from.node.index() as u32));
        let ops = steps.iter().filter(is).filter(|s| s.what.operation().is_some()).count();
        (ops * extents.iter().product::<usize>()) as u64
    };
    let runs: u64 =
        plan.launches.iter().map(|l| of(&l.body, &l.domain) + of(&l.after, &l.outer())).sum();
    (runs > 0 && told != runs).then(|| format!("its steps run {runs} times: {}", d.text))
}

/// The launches of a line's plan that were walked, and what is told falsely of them.
fn line(setup: &str, text: &str, options: &Options) -> (usize, Vec<String>) {
    let mut s = session();
    let text = format!("{setup} ⋄ result←{text}");
    s.interp().set_record_all(true);
    let Ok(recorded) = s.graph_of(&text, &["result"]) else { return (0, Vec::new()) };
    graph(&recorded, options)
}

/// The same of a graph.
fn graph(recorded: &Recorded, options: &Options) -> (usize, Vec<String>) {
    let mut options = options.clone();
    options.trace = true;
    let Ok(told) = compile(recorded, &options, &mut NoClock) else { return (0, Vec::new()) };
    let (mut walked, mut wrong) = (0, Vec::new());
    for (l, record) in told.plan.launches.iter().zip(&told.trace.kernels) {
        if l.domain.iter().product::<usize>() <= MOST {
            walked += 1;
            wrong.extend(launch(&told.plan, l, record));
        }
    }
    let boxes = |d: &&DecisionRecord| d.what == "tile" || d.reason == "overlap";
    let false_ones = told.trace.decisions.iter().filter(boxes);
    let false_ones = false_ones.filter(|d| !is_so(&told.plan, &told.trace, d));
    wrong.extend(false_ones.map(|d| format!("no launch is so: {}", d.text)));
    wrong.extend(told.trace.decisions.iter().filter_map(|d| computed(&told.plan, &told.trace, d)));
    // Sentences on how often an element is met speak of one of its array's reads.
    for d in told.trace.decisions.iter().filter(|d| d.reason == "reuse") {
        let average = before(&d.text, " times on average").and_then(|n| n.parse::<f64>().ok());
        let each = before(&d.text, " times; ").and_then(|n| n.parse::<u64>().ok());
        let of = |b: u32| told.trace.buffers[b as usize].node == d.node;
        let mut reads = told.trace.kernels.iter().flat_map(|k| &k.reads).filter(|r| of(r.buf));
        let holds = reads.any(|r| match (average, each) {
            (Some(n), _) => (r.requests as f64 / r.distinct.max(1) as f64 - n).abs() < 0.051,
            (None, Some(n)) => r.requests == n * r.distinct,
            (None, None) => false,
        });
        if !holds {
            wrong.push(format!("no read is so: {}", d.text));
        }
    }
    (walked, wrong)
}

/// The same of all that the examples evaluate, and of the workloads at a size that is walked:
/// equal graphs are walked once.
#[test]
fn what_is_told_of_examples_and_workloads_is_what_an_enumeration_counts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let (mut walked, mut wrong) = (0, Vec::new());
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut look = |id: &str, recorded: &Recorded, options: &Options| {
        let dag = &recorded.dag;
        let node = |at| format!("{:?} {:?}\n", dag.node(at), dag.shape(at));
        let form = |roots| dag.ids().map(node).collect::<String>() + roots;
        if dag.len() <= 300 && known.insert(form(&format!("{:?}", recorded.roots))) {
            let (n, told) = graph(recorded, options);
            walked += n;
            wrong.extend(told.into_iter().map(|says| format!("{id}: {says}")));
        }
    };
    for folder in [root.clone(), root.join("seeds")] {
        let files = std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path());
        let mut programs: Vec<_> =
            files.filter(|p| p.extension().is_some_and(|e| e == "apl")).collect();
        programs.sort();
        for program in programs {
            let id = program.file_stem().and_then(|s| s.to_str()).expect("a name");
            let text = std::fs::read_to_string(&program).expect("a program");
            let all = told_evaluations(&mut session(), &text);
            all.iter().for_each(|(recorded, options)| look(id, recorded, options));
        }
    }
    // A side of a matrix, or all of a vector.
    workloads(40, |id, text, s| {
        if let Ok(recorded) = s.graph_of(text, &["result"]) {
            look(id, &recorded, &Options::default());
        }
    });
    assert!(wrong.is_empty(), "{} of {walked} launches:\n{}", wrong.len(), wrong.join("\n"));
    assert!(walked > 250, "{walked}");
}

#[test]
fn what_is_told_of_launches_is_what_an_enumeration_counts() {
    let shapes = "v←0.5×⍳37 ⋄ w←⌽⍳64 ⋄ m←7 9⍴v ⋄ q←8 33⍴w ⋄ t←3 4 5⍴v ⋄ o←1 31⍴w";
    let lines = [
        "+/v",
        "+/m",
        "+⌿m",
        "+/q",
        "+⌿q",
        "+\\q",
        "⌽v",
        "⍉q",
        "2×⍉m",
        "v∘.+w",
        "+/v∘.×w",
        "q+.×⍉q",
        "m+.×⍉m",
        "(⍉q)+.×⍳8",
        "q+.×⍳33",
        "(1↓v)-¯1↓v",
        "(1⌽q)+(¯1⌽q)+(1⊖q)+¯1⊖q",
        "3↑v",
        "¯40↑v",
        "10↓w",
        "50⍴v",
        "2 0 1⍉t",
        "+/t",
        "+⌿t",
        "+/2⌽t",
        "⌽⍉t",
        "0=2|w",
        "v,w",
        "m,[0]m",
        "+/,q",
        "(⍴q)⍴,⍉q",
        "o+o",
        "+/o",
        "2 3⍴4",
        "(2×v)+1",
        "⌈/v-⌊/v",
        "v[3 1 4 1 5]",
        // Indexes that wrap round, and reads that meet the same from two sides.
        "5 6↑11 7⍴v",
        "(8 9⍴v)[1 3 5;]",
        "(29⍴q)+1⌽29⍴q",
        "(20 3⍴q)+1⌽20 3⍴q",
        "⌈/[0]3 7 9⍴5 6 4↑⌽t",
        "(12 5⍴m)-⌽12 5⍴m",
        "+/¯6 5 4↑3 7 4⍴q",
        "{(+/⍵)÷≢⍵}q",
        "+/w×⌽w",
        "∧/w=w",
        "+/q×q",
        "(⌈/m)-⌊/m",
        "2 2⍴⍳9",
        "+/3 3⍴m",
        "(16⍴1 0)/16↑w",
        "+/8 8⍴w",
        "⍉8 8⍴w",
        "1+⍉40 60⍴w",
        "(1⌽⍤1⊢40 60⍴w)+⍉60 40⍴w",
        "(8 8⍴w)+⍉8 8⍴w",
        "7⌽50⍴v",
        "(10↑w)+10↑1↓w",
        "(10↑w)×(10↑20↓w)-10↑25↓w",
        "(3 4↑q)+3 4↑1 1↓q",
        "(w[2×⍳20])+w[1+2×⍳20]",
        "(w[3×⍳20])+20↑w",
        "{+/⍵}⌺5⊢w",
        "{+/,⍵}⌺3 3⊢q",
        "{+/⍵}⌺7⊢v",
        "(1 1⍉8 8⍴w)+8↑w",
        "(1⌽10↑v)+¯1⌽10↑v",
        "(1(⌽⍠0)w)+¯1(⌽⍠0)w",
        "(2 3⍴v)+1⌽2 3⍴v",
        "(37 41⍴v)+1⌽37 41⍴w",
        "(1⌽⍤1⊢37 41⍴w)+(⍉41 37⍴w)-37 41⍴v",
        "+/9 5 4⍴w",
        "+⌿9 50 6⍴w",
        "2×3 300⍴w",
    ];
    let options = Options::default();
    let mut strict = Options::default();
    strict.take("bar2010").expect("a pipeline");
    let (mut walked, mut wrong) = (0, Vec::new());
    for text in lines {
        for options in [&options, &strict] {
            let (n, told) = line(shapes, text, options);
            walked += n;
            wrong.extend(told.into_iter().map(|says| format!("{text}: {says}")));
        }
    }
    let grammar = Grammar::from_table();
    for seed in 0..scaled(300) {
        let mut dice = Dice(77_000 + seed as u64);
        let depth = 1 + dice.roll(5);
        let (text, _) = grammar.term(&mut dice, depth);
        let (n, told) = line(SETUP, &text, &options);
        walked += n;
        wrong.extend(told.into_iter().map(|says| format!("seed {seed}, {text}: {says}")));
    }
    assert!(wrong.is_empty(), "{} of {walked} launches:\n{}", wrong.len(), wrong.join("\n"));
    assert!(walked > 250, "{walked}");
}

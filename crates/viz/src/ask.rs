//! Questions about a trace and their answers: a launch, a pass, or one of `QUESTIONS`. Each answer
//! names nodes, numbers and the switch that would change it, or says that none does.
//!
//! Nodes are in `why`.

use crate::classes::{classes, source};
use crate::figures::{self, FIGURES, temporaries};
use crate::graph::nothing;
use crate::names::arrays;
use crate::orders::orders;
use crate::promise::{Reason, reasons};
use crate::why::{count, launch, once, sentence, told_of, wrapped};
use aplomb_ground::error::{bytes, time};
use aplomb_ground::trace::{
    DecisionRecord, LaunchRecord, LoopRecord, Segment, Trace, TuningRecord, form_says,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A question of one word.
pub struct Question {
    /// The word that is asked for.
    pub name: &'static str,
    /// A sentence on what is answered.
    pub says: &'static str,
    answer: fn(&Trace) -> Vec<String>,
}

/// In the order that help prints.
pub static QUESTIONS: &[Question] = &[
    Question { name: "launches", says: "why so many launches, and no fewer", answer: launches },
    Question { name: "kept", says: "which arrays are written to memory on the way", answer: kept },
    Question {
        name: "recomputed",
        says: "what is computed more than once",
        answer: |t| told(t, &["cheap-again"]),
    },
    Question {
        name: "shared",
        says: "what was written or used twice and is computed once",
        answer: shared,
    },
    Question {
        name: "fused",
        says: "what has no array of its own",
        answer: |t| {
            told(
                t,
                &[
                    "single-place",
                    "each-element-once",
                    "composes",
                    "epilogue",
                    "same-pass",
                    "same-domain",
                ],
            )
        },
    },
    Question { name: "bytes", says: "where the bytes go", answer: moved },
    Question { name: "evaluations", says: "why the line runs in steps", answer: evaluations },
];

/// The answer, if `word` is a launch, a pass or a question. Errors: no such launch.
pub fn answer(trace: &Trace, word: &str, width: usize) -> Result<Option<String>, String> {
    let lines = match word.strip_prefix('k').and_then(|n| n.parse::<usize>().ok()) {
        Some(k) => one_launch(trace, k)?,
        None => match QUESTIONS.iter().find(|q| q.name == word) {
            Some(q) => (q.answer)(trace),
            None if trace.passes.iter().any(|p| p.name == word) => one_pass(trace, word),
            None => return Ok(None),
        },
    };
    Ok(Some(lines.iter().map(|l| wrapped(l, 2, width) + "\n").collect()))
}

/// Sentences of one kind beyond this many are only counted.
const MOST: usize = 12;

fn listed(trace: &Trace, mut decisions: Vec<&DecisionRecord>) -> Vec<String> {
    // What is only computed where it is read comes last: there is most of it.
    decisions.sort_by_key(|d| d.what == "inline");
    let told = |d: &&DecisionRecord| match d.switch.as_str() {
        "" => format!("{}{}", told_of(d), unswitched(trace)),
        _ => sentence(trace, d),
    };
    let all = once(decisions.iter().map(told));
    let more = all.len().saturating_sub(MOST);
    let mut out: Vec<String> = all.into_iter().take(MOST).collect();
    out.extend((more > 0).then(|| format!("… and {more} more; ]trace save FILE has all")));
    out
}

/// The decisions of these reasons.
fn told(trace: &Trace, reasons: &[&str]) -> Vec<String> {
    let of = |d: &&DecisionRecord| reasons.contains(&d.reason.as_str());
    let found: Vec<&DecisionRecord> = trace.decisions.iter().filter(of).collect();
    if found.is_empty() { vec!["nothing, in this line".into()] } else { listed(trace, found) }
}

/// Behind what no pass decides. Where passes are off, that may be why.
fn unswitched(trace: &Trace) -> &'static str {
    if trace.config.off.is_empty() { " (no switch changes that)" } else { "" }
}

/// A reason with the switch that would change it.
fn with_switch(trace: &Trace, r: &Reason) -> String {
    let says = &r.says;
    match r.switch.as_str() {
        "" => format!("{says}{}", unswitched(trace)),
        name if trace.config.off.iter().any(|off| off == name) => format!("{says} (]on {name})"),
        name => format!("{says} (]off {name})"),
    }
}

fn launches(trace: &Trace) -> Vec<String> {
    if trace.segments.is_empty() {
        return vec![format!("no launch: {}", nothing(trace))];
    }
    let mut out = vec![count(figures::launches(trace) as usize, "launch")];
    out.extend(reasons(trace).iter().take(MOST).map(|r| with_switch(trace, r)));
    if trace.kernels.is_empty() {
        let rules: Vec<&str> = trace.rules.keys().map(String::as_str).collect();
        let by = if rules.is_empty() {
            String::new()
        } else {
            format!(", by {} (]off simplify)", rules.join(" "))
        };
        out[0] += &format!(": the value is one that was there{by}");
    } else if out.len() == 1 {
        out[0] += ": nothing is written on the way (]off fusion would write every node)";
    }
    out
}

fn kept(trace: &Trace) -> Vec<String> {
    let n = temporaries(trace).count();
    if n == 0 {
        return vec![
            "nothing: what launches write is the value (]off fusion would write every node)".into(),
        ];
    }
    let total: u64 = temporaries(trace).map(|b| b.bytes).fold(0, u64::saturating_add);
    let mut out = vec![format!("{}, {}", count(n, "array"), bytes(total))];
    for b in temporaries(trace).take(MOST) {
        let says = reasons(trace).into_iter().find(|r| r.node == b.node);
        let text = says.map_or(String::new(), |r| format!(": {}", with_switch(trace, &r)));
        out.push(format!("n{}, {}{text}", b.node, bytes(b.bytes)));
    }
    out
}

fn shared(trace: &Trace) -> Vec<String> {
    let found: Vec<&DecisionRecord> =
        trace.decisions.iter().filter(|d| d.what == "share").collect();
    let off: Vec<&str> = ["bind", "prune", "cse"]
        .into_iter()
        .filter(|name| trace.config.off.iter().any(|off| off == name))
        .collect();
    match (found.is_empty(), off.as_slice()) {
        (true, []) => vec!["nothing, in this line".into()],
        (true, off) => {
            vec![format!("nothing: {} is off (]on {})", off.join(" and "), off.join(" "))]
        }
        _ => listed(trace, found),
    }
}

fn moved(trace: &Trace) -> Vec<String> {
    let total = FIGURES.iter().find(|f| f.name == "bytes").map_or(0, |f| (f.of)(trace));
    let n = figures::launches(trace) as usize;
    let mut out = vec![format!("{} in {}", figures::moved_of(trace), count(n, "launch"))];
    let mut classes = classes(trace);
    classes.sort_by_key(|c| Reverse(figures::moved(c.first).saturating_mul(c.times)));
    for class in classes.iter().take(MOST) {
        let k = class.first;
        let each = if class.times == 1 { "" } else { " each" };
        out.push(format!(
            "{} {}{}: reads {}, writes {}{each}",
            class.label(),
            source(k),
            class.alike(),
            figures::read_of(k),
            bytes(k.est.w)
        ));
    }
    out.extend((classes.len() > MOST).then(|| format!("… and {} more", classes.len() - MOST)));
    let first = unfused(trace);
    if first > total {
        out.push(format!("without fusion it would be {} (]off fusion)", bytes(first)));
    }
    out
}

/// The bytes that all would move if each node were stored.
fn unfused(trace: &Trace) -> u64 {
    let of = |s: &Segment| {
        let recorded = trace.passes.get(s.passes[0] as usize).filter(|p| p.name == "record");
        recorded.map_or(0, |p| p.bytes).saturating_mul(s.times())
    };
    trace.segments.iter().map(of).fold(0, u64::saturating_add)
}

fn evaluations(trace: &Trace) -> Vec<String> {
    if trace.segments.len() < 2 {
        return vec!["one step: nothing in the line looks at a value before the end".into()];
    }
    let step = |s: &Segment| {
        let n = (s.kernels[1] - s.kernels[0]) as usize;
        let alike = if s.alike == 0 { String::new() } else { format!(", {} alike", s.times()) };
        format!("step {}, for {}: {}{alike}", s.id + 1, s.why, count(n, "launch"))
    };
    let mut out: Vec<String> = trace.segments.iter().take(MOST).map(step).collect();
    let more = trace.segments.len().saturating_sub(MOST);
    out.extend((more > 0).then(|| format!("… and {more} more; ]kernels lists their launches")));
    out.push(
        "what looks at a value, or is not compiled yet, needs it whole (no switch changes that)"
            .into(),
    );
    out
}

fn one_launch(trace: &Trace, k: usize) -> Result<Vec<String>, String> {
    let Some(own) = trace.kernels.get(k) else {
        let n = trace.kernels.len();
        let there = if n == 0 {
            "nothing was launched".into()
        } else {
            format!("there are k0 to k{}", n - 1)
        };
        return Err(format!("no launch is called k{k}; {there}"));
    };
    let mut out = vec![launch(trace, own)];
    out.extend(accesses(trace, own));
    out.extend(spread(own));
    out.extend(taken(own));
    out.extend(untested(own));
    out.extend(served(trace, own));
    out.extend(nest(own));
    out.extend(sizes(own));
    out.extend(orders(trace, own));
    let of = |d: &&DecisionRecord| {
        let holds = |list: &[u32]| list.iter().any(|b| trace.buffers[*b as usize].node == d.node);
        let read = ["place", "tile", "pad"].contains(&d.what.as_str()) && holds(&own.inputs);
        let about = own.body.contains(&d.node) || holds(&own.out) || read;
        about && d.what != "share"
    };
    out.extend(listed(trace, trace.decisions.iter().filter(of).collect()));
    Ok(out)
}

/// The boxes that its blocks take on a GPU, and what they load (ACC-27, BAS-18).
fn taken(k: &LaunchRecord) -> Option<String> {
    let of = k.block.as_ref()?;
    let who = form_says(&k.form);
    let points: Vec<String> = of.points.iter().map(usize::to_string).collect();
    let boxes = match of.boxes {
        1 => "one box".to_string(),
        n => format!("{n} boxes"),
    };
    Some(format!(
        "{who}: {boxes} of {} points, of which one loads {} and has {}",
        points.join("×"),
        count(of.loads as usize, "element"),
        count(of.results as usize, "result"),
    ))
}

/// The points at which its text tests nothing (ACC-25).
fn untested(k: &LaunchRecord) -> Option<String> {
    let by_axis = |sides: Vec<String>| sides.join("×");
    let all = by_axis(k.domain.iter().map(usize::to_string).collect());
    let own = by_axis(k.inside.iter().map(|[lo, hi]| (hi - lo).to_string()).collect());
    (k.regions > 1).then(|| {
        format!(
            "its reads cut it into {} regions; in the largest, {own} of {all} points, none is \
             tested and none wraps",
            k.regions
        )
    })
}

/// So many reads are told.
const READS: usize = 4;

/// The access matrices of what it reads and writes, a column a loop and one more for a constant
/// (BAS-06). None: it has no loop, or values say where for all.
fn accesses(trace: &Trace, k: &LaunchRecord) -> Option<String> {
    let of = |buf: u32, affine: &str, matrix: &[Vec<i64>]| {
        let row = |row: &Vec<i64>| {
            let digits = row.iter().map(|n| n.to_string().replace('-', "¯"));
            digits.collect::<Vec<_>>().join(" ")
        };
        let rows: Vec<String> = matrix.iter().map(row).collect();
        let rows = match &rows[..] {
            [] => String::new(),
            rows => format!(" [{}]", rows.join(" ⋄ ")),
        };
        format!("{} {affine}{rows}", arrays(trace, &[buf]))
    };
    let once = |all: Vec<String>| -> Vec<String> {
        let mut known: Vec<String> = Vec::new();
        all.into_iter().for_each(|one| {
            if !known.contains(&one) {
                known.push(one);
            }
        });
        known
    };
    let reads = once(k.reads.iter().map(|r| of(r.buf, &r.affine, &r.matrix)).collect());
    let writes = once(k.writes.iter().map(|w| of(w.buf, &w.affine, &w.matrix)).collect());
    let is_told = |matrix: &Vec<Vec<i64>>| !matrix.is_empty();
    let told = k.reads.iter().map(|r| &r.matrix).chain(k.writes.iter().map(|w| &w.matrix));
    if k.domain.is_empty() || !told.clone().any(is_told) {
        return None;
    }
    let list = |all: &[String]| {
        let more = all.len().saturating_sub(READS);
        let shown = all[..all.len() - more].join(", ");
        if more == 0 { shown } else { format!("{shown} and {more} more") }
    };
    let reads = if reads.is_empty() { String::new() } else { format!("reads {}; ", list(&reads)) };
    Some(format!("its accesses: {reads}writes {}", list(&writes)))
}

/// The memory that serves its reads, and why that one; of what lies as threads read it nothing.
fn served(trace: &Trace, k: &LaunchRecord) -> Vec<String> {
    let mut met: Vec<(u32, &str)> = Vec::new();
    let mut out = Vec::new();
    for r in k.reads.iter().filter(|r| !(r.space == "global" && r.coalesced)) {
        if !met.contains(&(r.buf, &r.space)) {
            met.push((r.buf, &r.space));
            let banks = match r.conflicts {
                None | Some(1) => String::new(),
                Some(n) => format!("; {n} threads of a warp meet in one bank"),
            };
            let name = arrays(trace, &[r.buf]);
            out.push(format!("{name} {}: {}{banks}", memory(&r.space), r.why));
        }
    }
    out
}

fn memory(space: &str) -> &'static str {
    match space {
        "shared" => "comes from shared memory",
        "constant" => "is as a constant",
        "register" => "is in registers",
        _ => "comes from global memory",
    }
}

/// The loops of its CUDA text, level by level (BAS-22).
fn nest(k: &LaunchRecord) -> Option<String> {
    let of = |level: &str| {
        let own = k.schedule.iter().filter(|l| l.level == level);
        let says = |l: &LoopRecord| match l.step {
            1 => format!("{} over {}", l.axis, l.extent),
            step => format!("{} over {} by {step}", l.axis, l.extent),
        };
        let all: Vec<String> = own.map(says).collect();
        (!all.is_empty()).then(|| all.join(", "))
    };
    let levels = [
        ("blocks", "grid"),
        ("each in steps through shared memory", "block"),
        ("threads", "thread"),
        ("registers", "register"),
    ];
    let told = levels.iter().filter_map(|(name, level)| Some(format!("{name}: {}", of(level)?)));
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("its loops: {}", told.join("; ")))
}

/// The sizes that its tiles could have (BAS-23).
fn sizes(k: &LaunchRecord) -> Option<String> {
    let says = |t: &TuningRecord| {
        let [rows, columns, deep] = t.tile;
        format!("{rows}×{columns}×{deep} with {0}×{0} a thread ({1})", t.own, time(t.us))
    };
    let chosen = k.tuning.iter().find(|t| t.chosen)?;
    let mut out: BTreeMap<&str, usize> = BTreeMap::new();
    let pruned = k.tuning.iter().filter_map(|t| t.status.strip_prefix("pruned:"));
    pruned.for_each(|rule| *out.entry(rule).or_default() += 1);
    let out: Vec<String> = out.iter().map(|(rule, n)| format!("{n} by {rule}")).collect();
    let left = k.tuning.iter().filter(|t| !t.status.starts_with("pruned:"));
    let best = left.clone().min_by(|a, b| a.us.total_cmp(&b.us));
    let best = match best.filter(|b| b.us < chosen.us) {
        Some(best) => format!("; by the model {} is least: ]tune measures", says(best)),
        None => String::new(),
    };
    Some(format!(
        "tiles of {}; of {} sizes {} are worth running, the others are left out, {}{best}",
        says(chosen),
        k.tuning.len(),
        left.count(),
        out.join(", ")
    ))
}

/// The way a GPU's threads share the points of a launch out, and what else its text could have
/// chosen.
fn spread(k: &LaunchRecord) -> Option<String> {
    let widest = k.spread.iter().max_by_key(|s| s.blocks)?;
    let blocks =
        format!("{} of {} threads", count(widest.blocks as usize, "block"), widest.threads);
    if k.spread.len() > 1 {
        return Some(format!(
            "on a GPU {} in order; the widest has {blocks}",
            count(k.spread.len(), "kernel")
        ));
    }
    let points = |n: u64| count(n as usize, "point");
    let results = |n: u64| count(n as usize, "result");
    let own = u64::from(widest.items);
    let what = match (widest.by.as_str(), widest.persistent) {
        ("warp", _) => "a warp takes a result at a time".to_string(),
        ("block", _) => "a block takes a result or a box at a time".into(),
        ("run", _) => format!("a block takes {}", points(widest.each)),
        ("tile", Some(true)) => {
            format!("blocks stay and draw the next of {} tiles by a ticket", widest.points)
        }
        ("tile", _) => {
            let (tiles, own) = (widest.points, points(own));
            format!("blocks draw the next of {tiles} tiles by a ticket, {own} a thread")
        }
        _ if k.form == "threads" => format!("each thread takes {} at a time", results(own)),
        _ => format!("each thread takes {} at a time", points(own)),
    };
    let or = match (widest.choices.split_last(), widest.persistent) {
        (Some((last, before)), stays) if !before.is_empty() => {
            let before: Vec<String> = before.iter().map(u32::to_string).collect();
            let sizes: Vec<String> =
                widest.sizes.iter().filter(|n| **n != widest.threads).map(u32::to_string).collect();
            let blocks = match sizes.join(" or ") {
                none if none.is_empty() => none,
                sizes => format!(", blocks of {sizes} threads"),
            };
            let stays = if stays == Some(false) { ", and blocks that stay" } else { "" };
            format!(" ({} or {last} are possible{blocks}{stays}: ]tune)", before.join(", "))
        }
        _ if widest.items > 1 => " (the order of its folds fixes that)".into(),
        _ => String::new(),
    };
    Some(format!("on a GPU {what}{or}; {blocks}"))
}

/// Passes without a switch.
const NEEDED: &[&str] = &["record", "emit"];

fn one_pass(trace: &Trace, name: &str) -> Vec<String> {
    let mut out = Vec::new();
    for p in trace.passes.iter().filter(|p| p.name == name) {
        let begins = trace.segments.iter().any(|s| s.passes[0] == p.id);
        let before = if begins { None } else { trace.passes.get(p.id as usize - 1) };
        let change = |was: Option<u64>, is: u64, show: fn(u64) -> String| match was {
            Some(was) if was != is => format!("{} before, {} after", show(was), show(is)),
            _ => show(is),
        };
        let launches =
            change(before.map(|b| b.launches.len() as u64), p.launches.len() as u64, |n| {
                n.to_string()
            });
        let moved = change(before.map(|b| b.bytes), p.bytes, bytes);
        let flops = change(before.map(|b| b.flops), p.flops, |n| n.to_string());
        let state = match trace.config.off.iter().any(|off| off == name) {
            true => format!(", switched off (]on {name})"),
            false => String::new(),
        };
        let would = if p.changed && !NEEDED.contains(&name) {
            format!(" (]off {name})")
        } else {
            String::new()
        };
        let rules = if p.events.is_empty() {
            String::new()
        } else {
            format!("; rules {}", crate::tables::events(p))
        };
        out.push(format!(
            "{name}{state}: launches {launches}; moved {moved}; flops {flops}{rules}{would}"
        ));
        out.extend(listed(trace, trace.decisions.iter().filter(|d| d.pass == p.id).collect()));
    }
    out
}

//! The decisions of a trace in sentences.
//!
//! The same lines stand in a pipe, in panes and in a notebook.

use crate::classes::{Class, classes, source};
use crate::figures;
use crate::graph::{Graph, find_pass, nothing};
use crate::names::{arrays, named, short};
use crate::orders::orders;
use crate::outside;
pub use aplomb_ground::error::count;
use aplomb_ground::error::{bytes, time};
use aplomb_ground::trace::{
    Cost, DecisionRecord, LaunchRecord, NodeRecord, PassRecord, PlanCost, Segment, Trace,
};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The whole line: launches, bytes, time, what each launch does and why it is one.
pub fn summary(trace: &Trace, width: usize) -> String {
    let mut out = outside(trace).map_or(String::new(), |s| wrapped(&s, 2, width) + "\n");
    if trace.segments.is_empty() {
        let says = format!("nothing was compiled for this line: {}", nothing(trace));
        return out + &wrapped(&says, 2, width) + "\n";
    }
    let took = figures::launches_us(trace).map_or(String::new(), |us| {
        let loops: f64 = trace.kernels.iter().filter_map(|k| Some(k.meas.as_ref()?.us)).sum();
        let apart = if loops < us { format!(" ({} in loops)", time(loops)) } else { String::new() };
        format!(", {}{apart}", time(us))
    });
    out += &format!(
        "{} for {}, {} moved{took}\n",
        count(figures::launches(trace) as usize, "launch"),
        count(figures::nodes(trace), "node"),
        figures::moved_of(trace)
    );
    if trace.segments.len() > 1 {
        let all = figures::evaluations(trace);
        let steps = format!("forced in {all} steps: {}", steps(trace));
        out += &format!("{}\n", wrapped(&steps, 2, width));
    }
    out += &before_fusion(trace);
    let classes = classes(trace);
    let shown = classes.len().min(LAUNCHES);
    for class in &classes[..shown] {
        out += &format!("  {}\n", wrapped(&launches(trace, class), 5, width));
    }
    // The order of a fold's loops is the whole story of a line that has one (BAS-14).
    if let [Class { first, .. }] = &classes[..]
        && first.axis.is_some()
    {
        for says in orders(trace, first) {
            out += &format!("  {}\n", wrapped(&says, 4, width));
        }
    }
    if shown < classes.len() {
        out += &format!("  … and {} more; ]kernels lists them\n", classes.len() - shown);
    }
    let telling = trace.decisions.iter().filter(|d| is_telling(d));
    for says in once(telling.map(|d| sentence(trace, d))).iter().take(DECISIONS) {
        out += &format!("  {}\n", wrapped(says, 4, width));
    }
    // ]cuda says what has no text.
    for d in trace.diagnostics.iter().filter(|d| d.code != "W-no-cuda") {
        out += &format!("  {}\n", wrapped(&d.text, 4, width));
    }
    out += &format!("  {}\n", wrapped(&hint(trace), 4, width));
    out
}

/// The share of the time that went by outside of launches and of compiling, and where. None:
/// nothing ran there, or the times are not known.
fn outside(trace: &Trace) -> Option<String> {
    let told = outside::places(trace);
    let own: f64 = told.iter().map(|p| p.ms).sum();
    let inside = ["front_ms", "launch_ms"].map(|name| trace.times.get(name).copied());
    let all = own + inside.into_iter().flatten().sum::<f64>();
    let of = |p: &outside::Place| format!("{} {}", p.name, time(p.ms * 1e3));
    let places: Vec<String> = told.iter().take(PLACES).map(of).collect();
    let (own, all) = (time(own * 1e3), time(all * 1e3));
    (!told.is_empty()).then(|| format!("outside of launches {own} of {all}: {}", places.join(", ")))
}

/// So many places are named.
const PLACES: usize = 3;

/// The needs of the values, step by step; what needed them several times in a row is told once,
/// with how often. Of many steps each need is told once.
fn steps(trace: &Trace) -> String {
    let mut runs: Vec<(&str, u64)> = Vec::new();
    for s in &trace.segments {
        match runs.last_mut().filter(|run| run.0 == s.why) {
            Some(run) => run.1 += s.times(),
            None => runs.push((&s.why, s.times())),
        }
    }
    if runs.len() > STEPS {
        let mut needs: Vec<(&str, u64)> = Vec::new();
        for (why, n) in runs {
            match needs.iter_mut().find(|need| need.0 == why) {
                Some(need) => need.1 += n,
                None => needs.push((why, n)),
            }
        }
        runs = needs;
    }
    let told =
        |(why, n): &(&str, u64)| if *n == 1 { why.to_string() } else { format!("{why} ×{n}") };
    runs.iter().map(told).collect::<Vec<_>>().join(", ")
}

/// The delayed arrays that producers fused to: each launch's with the loop that makes it (ACC-13,
/// ACC-15).
pub fn delayed(trace: &Trace, width: usize) -> String {
    let says = |n: &NodeRecord| {
        let made = n.attr.delayed.as_deref().filter(|d| d.contains('→') && n.uses > 0)?;
        Some(format!("{} is {made}", named(n)))
    };
    let all = once(trace.nodes.iter().filter_map(says)).into_iter().take(DECISIONS);
    all.map(|says| format!("  {}\n", wrapped(&says, 4, width))).collect()
}

/// Sentences that differ in the numbers of their nodes and launches alone are told once, with how
/// many there are.
pub(crate) fn once(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut told: Vec<(String, usize)> = Vec::new();
    for says in all {
        match known.entry(form(&says)) {
            Entry::Occupied(at) => told[*at.get()].1 += 1,
            Entry::Vacant(new) => {
                new.insert(told.len());
                told.push((says, 1));
            }
        }
    }
    let with = |(says, n): (String, usize)| match n {
        1 => says,
        n => format!("{says} ({n} alike)"),
    };
    told.into_iter().map(with).collect()
}

/// A sentence without the numbers of its nodes and launches.
fn form(says: &str) -> String {
    let mut out = String::new();
    let (mut before, mut skips) = (' ', false);
    for c in says.chars() {
        skips = c.is_ascii_digit() && (skips || matches!(before, 'n' | 'k'));
        if !skips {
            out.push(c);
        }
        before = c;
    }
    out
}

/// So many are told one by one.
const STEPS: usize = 8;
const LAUNCHES: usize = 12;
const DECISIONS: usize = 12;

/// The story before fusion: what the source shared, what met, and what fusion was worth.
fn before_fusion(trace: &Trace) -> String {
    let of = |name: &'static str| trace.passes.iter().filter(move |p| p.name == name);
    let lets: usize = of("bind").map(|p| p.lets.len()).sum();
    let met = trace.rules.get("cse").copied().unwrap_or(0);
    let of_all = |p: &PassRecord| {
        let own = |s: &&Segment| (s.passes[0]..s.passes[1]).contains(&p.id);
        trace.segments.iter().find(own).map_or(1, Segment::times)
    };
    let (launches, moved) = of("simplify").fold((0, 0u64), |(n, b), p| {
        let times = of_all(p);
        (n + p.launches.len() as u64 * times, b.saturating_add(p.bytes.saturating_mul(times)))
    });
    let mut out = String::new();
    if lets > 0 || met > 0 {
        let lets = (lets > 0).then(|| format!("{} used more than once", count(lets, "term")));
        let twice = |n: u32| format!("{} written twice and merged", count(n as usize, "node"));
        let met = (met > 0).then(|| twice(met));
        let all: Vec<String> = lets.into_iter().chain(met).collect();
        out += &format!("  shared: {}\n", all.join(", "));
    }
    if launches > figures::launches(trace) {
        let launches = count(launches as usize, "launch");
        out += &format!("  before fusion: {launches}, {} moved\n", bytes(moved));
    }
    out
}

/// The decisions that a reader of the whole should see: what is stored or shared although it need
/// not be.
fn is_telling(d: &DecisionRecord) -> bool {
    matches!(
        d.reason.as_str(),
        "work"
            | "may-fail"
            | "checked"
            | "places"
            | "cheap-again"
            | "same-domain"
            | "parts"
            | "boundary"
            | "switched-off"
            | "random-access"
            | "shared"
            | "limit"
            | "settled"
            | "order"
            | "oob-compose"
            | "oob-default-not-identity"
    )
}

/// The work of launches alike, in one line.
fn launches(trace: &Trace, class: &Class<'_>) -> String {
    let id = format!("{} {}{}", class.label(), source(class.first), class.alike());
    let took = if class.times == 1 { "" } else { " in all" };
    let took = class.us.map_or(String::new(), |us| format!(", {}{took}", time(us)));
    work_of(trace, class.first, &id, &took)
}

/// The work of a launch, in one line.
pub(crate) fn launch(trace: &Trace, k: &LaunchRecord) -> String {
    let one = Class {
        first: k,
        ids: vec![k.id],
        times: k.times(),
        us: k.meas.as_ref().map(|meas| meas.us),
    };
    launches(trace, &one)
}

/// Whether the pieces that a launch goes through are scanned, not folded.
fn scans_pieces(trace: &Trace, k: &LaunchRecord) -> bool {
    let own = k.body.iter().filter_map(|n| trace.nodes.get(*n as usize));
    own.into_iter().any(|n| n.kind == "segmented" && n.op.ends_with("\\¨"))
}

fn work_of(trace: &Trace, k: &LaunchRecord, id: &str, took: &str) -> String {
    let list = |ids: &[u32]| arrays(trace, ids);
    let what = match (k.skeleton.as_str(), k.axis) {
        ("reduce", Some(axis)) => format!("folds axis {}", axis + 1),
        ("lib", _) => "runs one function of the library on".into(),
        ("scan", Some(axis)) => format!("scans axis {}", axis + 1),
        ("compact", Some(axis)) => format!("selects along axis {} of", axis + 1),
        ("scatter", _) => "writes by places that are values".into(),
        ("segmented", _) if scans_pieces(trace, k) => "scans pieces of".into(),
        ("segmented", _) => "folds pieces of".into(),
        _ => "maps".into(),
    };
    // A function of whole arrays goes over the longest of them.
    let arguments = k.inputs.iter().filter_map(|b| trace.buffers.get(*b as usize));
    let longest = arguments.max_by_key(|b| b.shape.iter().product::<usize>());
    let domain = match longest.filter(|_| k.skeleton == "lib") {
        Some(argument) => &argument.shape,
        None => &k.domain,
    };
    let domain: Vec<String> = domain.iter().map(usize::to_string).collect();
    let domain = if domain.is_empty() { "a scalar".into() } else { domain.join(" ") };
    let reads = if k.inputs.is_empty() {
        "reads nothing".into()
    } else {
        format!("reads {}", list(&k.inputs))
    };
    let where_ = k.ran.as_ref().map_or(String::new(), |ran| format!("; {}", ran.why));
    format!(
        "{id}: {what} {domain}, {} in one pass: {reads} ({}), writes {} ({}){took}{where_}",
        count(figures::nodes_in(trace, k), "node"),
        figures::read_of(k),
        list(&k.out),
        bytes(k.est.w)
    )
}

/// The sentence of a decision, with the switch that would change it.
pub(crate) fn sentence(trace: &Trace, d: &DecisionRecord) -> String {
    // A pass that its pipeline lacks can only be switched on.
    let config = &trace.config;
    let lacks =
        trace.passes.iter().any(|p| p.name == d.switch) && !config.passes.contains(&d.switch);
    let verb = if config.off.contains(&d.switch) || lacks { "]on" } else { "]off" };
    let switch =
        if d.switch.is_empty() { String::new() } else { format!(" ({verb} {})", d.switch) };
    format!("{}{switch}", told_of(d))
}

/// The words of a decision, with what its other way would make of the whole plan.
pub fn told_of(d: &DecisionRecord) -> String {
    format!("{}{}", d.text, other_way(d).as_deref().map_or("", |says| says))
}

/// The differences of the other way's whole plan from the one that was taken, with the rule that
/// bars it where it takes less time; the rule alone where only the step's own figures say so.
fn other_way(d: &DecisionRecord) -> Option<String> {
    let alt = d.alt.first()?;
    let name = &alt.name;
    let why = alt.why_not.split_once(": ").map_or(alt.why_not.as_str(), |(_, why)| why);
    let Some((own, other)) = d.plan.as_ref().zip(alt.plan.as_ref()) else {
        let (less, of_node) = (alt.cost.us < d.cost.us, matches!(&*d.what, "inline" | "keep"));
        let by_rule = less && of_node && alt.why_not.starts_with("rule: ");
        return by_rule.then(|| format!("; {why}"));
    };
    let ([us, others], _) = times(own, other);
    let is_said = d.text.contains(why);
    let but = if others < us && !is_said { format!(", but {why}") } else { String::new() };
    difference(own, other).map(|by| format!("; with {name} the whole plan takes {by}{but}"))
}

/// `1 launch and 16 kB more, 3 µs less`: another plan beside this one. None: it takes the same.
fn difference(own: &PlanCost, other: &PlanCost) -> Option<String> {
    let ([us, others], on) = times(own, other);
    let (few, many) = (own.launches.min(other.launches), own.launches.max(other.launches));
    let parts = [
        (other.launches.cmp(&own.launches), count((many - few) as usize, "launch")),
        (other.bytes.cmp(&own.bytes), bytes(own.bytes.abs_diff(other.bytes))),
        (others.total_cmp(&us), time((others - us).abs()) + on),
    ];
    let told = |way: Ordering, says: &str| {
        let of = parts.iter().filter(|(own, _)| *own == way).map(|(_, text)| text.as_str());
        let all: Vec<&str> = of.collect();
        let (last, first) = all.split_last()?;
        Some(match first {
            [] => format!("{last} {says}"),
            first => format!("{} and {last} {says}", first.join(", ")),
        })
    };
    let all = [told(Ordering::Greater, "more"), told(Ordering::Less, "less")];
    let all: Vec<String> = all.into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn hint(trace: &Trace) -> String {
    let node = trace.decisions.iter().find(|d| is_telling(d)).or(trace.decisions.last());
    match node {
        Some(d) => format!(
            "]why n{} shows its sums; ]dag draws the graph; ]off fusion runs it unfused",
            d.node
        ),
        None => "]dag draws the graph".into(),
    }
}

/// The width of what no terminal shows.
pub const WIDTH: usize = 80;

/// Breaks a sentence where it would pass `width` columns, two kept free; later lines are indented.
/// A narrow terminal has at least 40.
pub fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let room = width.max(40) - 2;
    let mut out = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let n = word.chars().count();
        if used > 0 && used + 1 + n > room {
            out += &format!("\n{}", " ".repeat(indent));
            used = indent;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out += word;
        used += n;
    }
    out
}

/// One node, by number (`n5` or `5`) or by name. Errors: a sentence with the names there are.
pub fn node(trace: &Trace, which: &str, width: usize) -> Result<String, String> {
    let number = which.strip_prefix('n').unwrap_or(which).parse::<u32>().ok();
    let found = match number {
        Some(id) => trace.nodes.get(id as usize),
        None => trace.nodes.iter().rev().find(|n| n.name.as_deref() == Some(which)),
    };
    let Some(found) = found else {
        let mut names: Vec<&str> = trace.nodes.iter().filter_map(|n| n.name.as_deref()).collect();
        names.dedup();
        let named = if names.is_empty() {
            String::new()
        } else {
            format!("; names are {}", names.join(" "))
        };
        return Err(format!(
            "no node is called {which}; there are n0 to n{}{named}",
            trace.nodes.len().max(1) - 1
        ));
    };
    let found = latest(trace, found);
    let segment =
        trace.segments.iter().position(|s| s.nodes[0] <= found.id && found.id < s.nodes[1]);
    let segment =
        segment.ok_or_else(|| format!("{} is in no evaluation of this trace", named(found)))?;
    let graph = find_pass(trace, segment, None)?;
    let mut out = describe(trace, &graph, found);
    let family: Vec<u32> = family(trace, found);
    for d in trace.decisions.iter().filter(|d| family.contains(&d.node)) {
        out += &format!("  {}\n", wrapped(&sentence(trace, d), 4, width));
        out += &format!("    {}, {}: {}", whose(d), d.chosen, price(&d.cost));
        for alt in &d.alt {
            out += &format!(" · {}: {}, {}", alt.name, price(&alt.cost), alt.why_not);
        }
        out += &format!(" · {}\n", d.seed);
        out +=
            &plans(d).map_or(String::new(), |says| format!("    {}\n", wrapped(&says, 6, width)));
    }
    Ok(out)
}

/// The plan of all with the choice, and with the other one.
fn plans(d: &DecisionRecord) -> Option<String> {
    let (own, alt) = (d.plan.as_ref()?, d.alt.first()?);
    let Some(other) = &alt.plan else {
        // A reason that is a rule says so itself.
        let says = format!("with {} the whole plan costs the same", alt.name);
        return Some(says).filter(|_| !alt.why_not.starts_with("rule: "));
    };
    let ([us, others], on) = times(own, other);
    let told = |p: &PlanCost, took: String| {
        format!("{}, {}, {took}{on}", count(p.launches as usize, "launch"), bytes(p.bytes))
    };
    // Two figures that are rounded to the same are no comparison.
    let took = match time(us) == time(others) && us != others {
        true if others > us => format!("{} more", time(others - us)),
        true => format!("{} less", time(us - others)),
        false => time(others),
    };
    Some(format!("all of it: {} · with {}: {}", told(own, time(us)), alt.name, told(other, took)))
}

/// Microseconds of two plans by which they are compared, and the device where it is not this one:
/// what only a GPU's text does changes its time alone.
fn times(own: &PlanCost, other: &PlanCost) -> ([f64; 2], &'static str) {
    match own.us == other.us && own.gpu_us != other.gpu_us {
        true => ([own.gpu_us, other.gpu_us], " on a GPU"),
        false => ([own.us, other.us], ""),
    }
}

/// The owner of a choice's own figures: they are the step's, unless it was made by whole plans.
fn whose(d: &DecisionRecord) -> &'static str {
    if matches!(&*d.reason, "settled" | "order") { "in all" } else { "by itself" }
}

fn price(c: &Cost) -> String {
    format!("{}, {}", count(c.flops as usize, "operation"), time(c.us))
}

/// The node that stands for this one after all rewrites.
fn latest<'a>(trace: &'a Trace, node: &'a NodeRecord) -> &'a NodeRecord {
    let mut at = node;
    while at.uses == 0 {
        match trace.nodes.iter().find(|n| n.from.contains(&at.id)) {
            Some(next) if next.id != at.id => at = next,
            _ => break,
        }
    }
    at
}

/// The node and all that it replaced.
pub(crate) fn family(trace: &Trace, node: &NodeRecord) -> Vec<u32> {
    let mut all = vec![node.id];
    let mut k = 0;
    while k < all.len() {
        if let Some(n) = trace.nodes.get(all[k] as usize) {
            all.extend(n.from.iter().filter(|f| !all.contains(f)).copied().collect::<Vec<_>>());
        }
        k += 1;
    }
    all
}

fn describe(trace: &Trace, graph: &Graph, node: &NodeRecord) -> String {
    let shape: Vec<String> = node.shape.iter().map(usize::to_string).collect();
    let mut out =
        format!("{}: {} {}[{}]", graph.label(node), node.kind, node.dtype, shape.join(" "));
    if let Some(delayed) = &node.attr.delayed {
        out += &format!(", {delayed}");
    }
    if let Some(affine) = &node.attr.affine {
        out += &format!(", reads {affine}");
    }
    out.push('\n');
    if let Some([source, start, end]) = node.span.first()
        && let Some(text) = trace.sources.get(*source as usize)
    {
        let written: String =
            text.text.chars().skip(*start as usize).take((end - start) as usize).collect();
        let at = outside::at(&text.text, *start as usize);
        out += &format!("  written {written}  ({} at {at})\n", text.name);
    }
    let readers: Vec<String> =
        graph.nodes.iter().filter(|n| n.inputs.contains(&node.id)).map(|n| short(n)).collect();
    let launches: Vec<&str> = trace
        .kernels
        .iter()
        .filter(|k| k.body.contains(&node.id))
        .map(|k| k.name.as_str())
        .collect();
    let used = match readers.is_empty() {
        false => format!("used by {}", readers.join(" ")),
        true if graph.is_root(node.id) => "the value itself".into(),
        true => "no longer there: the plan does without it".into(),
    };
    let ran = if launches.is_empty() {
        String::new()
    } else {
        format!("; computed in {}", launches.join(" and "))
    };
    out + &format!("  {used}{ran}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_differ_in_numbers_of_nodes_are_told_once() {
        let all = ["n3 + is kept, 8 bytes", "n31 + is kept, 8 bytes", "n4 + is kept, 9 bytes"];
        let told = once(all.iter().map(|s| s.to_string()));
        assert_eq!(told, ["n3 + is kept, 8 bytes (2 alike)", "n4 + is kept, 9 bytes"]);
    }

    #[test]
    fn a_sentence_fills_the_width_it_is_given() {
        let text = ["word"; 60].join(" ");
        for width in [10, 40, 80, 133] {
            let lines: Vec<String> = wrapped(&text, 4, width).lines().map(String::from).collect();
            assert!(
                lines.iter().all(|l| l.chars().count() <= width.max(40) - 2),
                "{width}: {lines:?}"
            );
            assert!(lines[0].chars().count() + 5 > width.max(40) - 2, "{width}: {lines:?}");
            assert!(lines[1..].iter().all(|l| l.starts_with("    word")), "{lines:?}");
        }
        assert_eq!(wrapped("one two", 2, 80), "one two");
    }
}

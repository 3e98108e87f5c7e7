//! fuse-producers, embed-consumers, horizontal: what runs together.
//!
//! Rows: ACC-12…17, ACC-20, ACC-30, ACL-17, ACL-39. Each pass allows the scheduler one thing more
//! and records, for every node that lost its buffer, what storing it would have cost, and for every
//! node that keeps one, what computing it in place would have. In: the schedule so far. Out: fewer
//! launches, the same values.

use super::cost::{Cost, LAUNCH_NS};
use super::decide::{About, Choice, Decision, WhyNot, label};
use super::schedule::edit::Change;
use super::schedule::flips::Way;
use super::schedule::policy::Recompute;
use super::schedule::{Evaluated, Schedule, Why};
use super::sentences::Says;
use super::work::Work;
use super::{delayed, find, push_down};
use aplomb_ground::error::{Result, bug};
use aplomb_values::dag::{NodeId, Read};
use std::collections::BTreeSet;

pub fn producers(work: &mut Work) -> Result<()> {
    step(work, "ACC-12", "fuse-producers")?;
    if work.options.trace {
        delayed::count(work)?;
    }
    Ok(())
}

pub fn consumers(work: &mut Work) -> Result<()> {
    step(work, "ACC-16", "embed-consumers")
}

fn step(work: &mut Work, row: &'static str, switch: &'static str) -> Result<()> {
    let Some(change) = work.change()? else { return Ok(()) };
    for at in change.inlined() {
        let decision = inlined(work, &change.after, at, row, switch)?;
        work.decide(decision);
    }
    let uses = work.dag.uses(&work.roots);
    for (at, why) in change.kept() {
        if let Some(decision) = kept(work, at, why, uses[at.index()], switch) {
            work.decide(decision);
        }
    }
    joined(work, &change, switch)
}

pub fn horizontal(work: &mut Work) -> Result<()> {
    let Some(Change { before, after, .. }) = work.change()? else { return Ok(()) };
    let home = before.homes();
    for group in &after.groups {
        let nodes = group.nodes();
        let parts = nodes.iter().filter_map(|n| home.get(n)).collect::<BTreeSet<_>>().len();
        if parts < 2 {
            continue;
        }
        let about = About {
            at: nodes[0],
            what: "horizontal",
            reason: "same-domain",
            row: "ACC-30",
            switch: "horizontal",
        };
        let says = Says::OneDomain { parts };
        let apart = Cost {
            flops: before.facts.flops,
            bytes: before.facts.bytes,
            ns: LAUNCH_NS * parts as f64,
        };
        let one = Cost { flops: after.facts.flops, bytes: after.facts.bytes, ns: LAUNCH_NS };
        let (a, b) = (Choice { name: "merge", cost: one }, Choice { name: "apart", cost: apart });
        work.decide(Decision::forced(about, a, b, WhyNot::Dearer, says).of(nodes));
    }
    Ok(())
}

/// A decision of these passes in the words of the final plan. None: the plan does not bear it out.
pub fn of_plan(
    work: &Work,
    plan: &Schedule,
    at: NodeId,
    uses: &[u32],
    d: &Decision,
) -> Result<Option<Decision>> {
    let home = || plan.groups.iter().find(|g| g.nodes().contains(&at));
    let told = match (d.what(), d.reason()) {
        ("inline", _) if !plan.facts.evaluated.contains_key(&at) => None,
        ("inline", "single-place" | "each-element-once" | "cheap-again") => {
            let row = if d.row() == "ACC-17" { "ACC-12" } else { d.row() };
            Some(inlined(work, plan, at, row, d.switch())?)
        }
        // The first of two passes, which another takes back or has a reason of its own for.
        ("break", _) => match plan.keep.get(&at) {
            Some(Why::Random | Why::NotYet("push-down")) => Some(d.clone()),
            _ => None,
        },
        ("keep", "work" | "shared" | "may-fail" | "places" | "steps") => {
            let why = plan.keep.get(&at).map(|why| in_plan(work, plan, at, why));
            why.and_then(|why| kept(work, at, &why, uses[at.index()], d.switch()))
        }
        ("embed", "epilogue") if !home().is_some_and(|g| g.after.contains(&at)) => None,
        ("embed", "same-pass") => {
            let src = work.dag.node(at).consumes().map(|c| c.0);
            let beside = |g: &&super::schedule::Group| {
                g.reduces.contains(&at) && src.is_some_and(|src| g.body.contains(src))
            };
            home().filter(beside).map(|_| d.clone())
        }
        ("horizontal", _) => {
            let all = |g: &&super::schedule::Group| {
                let nodes = g.nodes();
                d.with().iter().all(|at| nodes.contains(at))
            };
            plan.groups.iter().find(all).map(|_| d.clone())
        }
        // What is written is a pass of its own after all.
        ("push", "composes") if plan.keep.contains_key(&at) => None,
        ("push", "composes") => push_down::composed(work, &plan.keep, at),
        ("push", "grows") => Some(push_down::grow(work, plan, at)),
        _ => Some(d.clone()),
    };
    Ok(told)
}

/// The reason of a buffer with the costs that it has in a plan. A node is judged before those
/// below it, when nobody knows which of them will be written: computing it again computes what is
/// not.
fn in_plan(work: &Work, plan: &Schedule, at: NodeId, why: &Why) -> Why {
    let Why::Work { points, store, .. } = why else { return why.clone() };
    let (n, size) = (work.dag.elements(at), work.dag.dtype(at).size() as u64);
    let body = find::body(&work.dag, &plan.keep, at);
    // It is written once, and read by each of its launches.
    let readers = store.bytes.checked_div(n.saturating_mul(size)).map_or(1, |all| all.max(2) - 1);
    let inline = Cost::compute(points.saturating_sub(n), body.ns, body.flops, body.reads, size)
        .moving(body.bytes.saturating_mul(readers - 1));
    Why::Work { points: *points, inline, store: *store }
}

/// A node that had a buffer and has none any more.
fn inlined(
    work: &Work,
    after: &Schedule,
    at: NodeId,
    row: &'static str,
    switch: &'static str,
) -> Result<Decision> {
    let &Evaluated { places, launches, points, runs, .. } =
        after.facts.evaluated.get(&at).ok_or_else(|| {
            bug!("{} is stored nowhere and computed nowhere", label(&work.dag, at))
        })?;
    let (n, size) = (work.dag.elements(at), work.dag.dtype(at).size() as u64);
    let body = find::body(&work.dag, &after.keep, at);
    let inline = Cost::compute(runs, body.ns, body.flops, body.reads, size)
        .moving(body.bytes.saturating_mul(launches));
    let moved = n.saturating_mul(size).saturating_mul(1 + launches);
    let store = Cost::compute(n, body.ns, body.flops, body.reads, size)
        .plus(Cost::store(n, points, size))
        .moving(body.bytes.saturating_add(moved));
    let reason = match points {
        points if points > n => "cheap-again",
        _ if places <= 1 => "single-place",
        _ => "each-element-once",
    };
    let row = if reason == "cheap-again" { "ACC-17" } else { row };
    let dearer = store.ns >= inline.ns;
    Ok(Decision::forced(
        About { at, what: "inline", reason, row, switch },
        Choice { name: "inline", cost: inline },
        Choice { name: "materialise", cost: store },
        match dearer {
            true => WhyNot::Dearer,
            false if points <= n => WhyNot::Rule("no element of it is wanted twice"),
            false => WhyNot::Rule(again(work, at)),
        },
        Says::Inlined { places, runs },
    ))
}

/// The rule by which a node is computed where it is read, though by itself storing it costs less.
fn again(work: &Work, at: NodeId) -> &'static str {
    match work.policies.recompute() {
        _ if work.policies.flips.has(at, Way::Inline) => "the whole plan takes less so",
        Recompute::Always => "this pipeline computes a producer wherever it is read",
        Recompute::Words => "this pipeline counts the words that move, not the time",
        Recompute::Unshared => "this pipeline stores no more than what the source shares",
        Recompute::Never | Recompute::Light | Recompute::Cost => {
            "several readers compute again what is one cheap operation on at most one array"
        }
    }
}

/// The rule by which a node is stored, though by itself computing it again costs less.
fn once(work: &Work) -> &'static str {
    match work.policies.recompute() {
        Recompute::Light => {
            "several readers compute again only one cheap operation on at most one array"
        }
        _ => "this pipeline computes nothing twice",
    }
}

/// A node that keeps its buffer although the passes so far would allow to do without.
fn kept(work: &Work, at: NodeId, why: &Why, uses: u32, switch: &'static str) -> Option<Decision> {
    let (n, size) = (work.dag.elements(at), work.dag.dtype(at).size() as u64);
    let body = find::body(&work.dag, &Default::default(), at);
    let compute = Cost::compute(n, body.ns, body.flops, body.reads, size);
    let store = compute.plus(Cost::store(n, n, size));
    let about = |reason, row| About { at, what: "keep", reason, row, switch };
    let (about, store, inline, because) = match why {
        Why::Work { inline: more, store, .. } => (
            about("work", if uses > 1 { "ACC-17" } else { "ACL-39" }),
            *store,
            *more,
            if more.ns < store.ns { WhyNot::Rule(once(work)) } else { WhyNot::Dearer },
        ),
        Why::Shared { inline: more, store, .. } => (
            match work.policies.recompute() {
                Recompute::Words => About { switch: "cse", ..about("shared", "ACL-40") },
                // What the source shares is stored whatever is switched; --dup=cost alone asks for
                // less.
                _ => About { switch: "", ..about("shared", "ACC-17") },
            },
            *store,
            *more,
            WhyNot::Dearer,
        ),
        Why::Outside { code, .. } => (
            About {
                switch: "",
                ..about(code, if *code == "oob-compose" { "ACL-38" } else { "ACL-17" })
            },
            store,
            compute,
            WhyNot::Illegal("the rules of 2006; without them a test guards what is read"),
        ),
        Why::MayFail => (
            about("may-fail", "own:may-fail"),
            store,
            compute,
            WhyNot::Illegal(
                "an element that no one reads could fail, and the error must not depend on fusion",
            ),
        ),
        Why::Places(k) => (
            about("places", "own:limit"),
            store,
            compute,
            WhyNot::Limit { name: "places", need: *k as u64, have: 64 },
        ),
        Why::Steps(k) => (
            about("steps", "own:limit"),
            store,
            compute,
            WhyNot::Limit { name: "steps", need: *k as u64, have: Read::HEAVIEST as u64 },
        ),
        Why::Root
        | Why::Consumer
        | Why::NotYet(_)
        | Why::Random
        | Why::Anywhere
        | Why::Flipped
        | Why::Limit { .. } => return None,
    };
    let keep = Choice { name: "materialise", cost: store };
    let inline = Choice { name: "inline", cost: inline };
    Some(Decision::forced(about, keep, inline, because, Says::Kept(why.clone())))
}

/// Reductions that now run in the launch that writes what they read, and epilogues.
fn joined(work: &mut Work, change: &Change, switch: &'static str) -> Result<()> {
    let home = change.before.homes();
    for group in &change.after.groups {
        for &at in &group.after {
            let alone = home.get(&at).is_some_and(|g| change.before.groups[*g].after.is_empty());
            if !alone {
                continue;
            }
            let n = work.dag.elements(at);
            let size = work.dag.dtype(at).size() as u64;
            let about = About { at, what: "embed", reason: "epilogue", row: "ACC-20", switch };
            let here = Cost::compute(n, 0.0, 1, 0, size);
            let other = here.plus(Cost::store(n, n, size));
            let (a, b) =
                (Choice { name: "epilogue", cost: here }, Choice { name: "launch", cost: other });
            work.decide(Decision::forced(about, a, b, WhyNot::Dearer, Says::Epilogue));
        }
        for &at in group.reduces.iter().filter(|_| !group.body.is_empty()) {
            let consumed = work.dag.node(at).consumes();
            let (src, _) =
                consumed.ok_or_else(|| bug!("{} consumes nothing", label(&work.dag, at)))?;
            let n = work.dag.elements(*src);
            let size = work.dag.dtype(*src).size() as u64;
            let about = About { at, what: "embed", reason: "same-pass", row: "ACC-16", switch };
            let other = Cost::store(0, n, size);
            let (a, b) = (
                Choice { name: "join", cost: Cost::default() },
                Choice { name: "launch", cost: other },
            );
            work.decide(Decision::forced(about, a, b, WhyNot::Dearer, Says::SamePass));
        }
    }
    Ok(())
}

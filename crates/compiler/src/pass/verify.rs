//! The verifier: what holds after every pass.
//!
//! Rows: ACC-31. Checked: arguments have smaller ids; arities; a map's arguments have its shape or
//! rank 0; a transform has one Ix a source axis, whose ranges (clipped by tests) lie inside the
//! source; a reduction's shape is its source's without the axis; characters meet only moves, = and
//! ≠. For a plan: values are used after they are made, stages rise along reads, every buffer is
//! written once, and reads stay inside their buffers. For a story: it is one of the final plan.

use super::decide::BY_ITSELF;
use super::lets::{self, Let};
use super::schedule::flips::Flips;
use super::schedule::policy::Policies;
use super::schedule::{Schedule, draft, legal};
use super::work::Work;
use super::{find, price, sketch};
use aplomb_ground::trace::{LaunchRecord, PlanCost, Trace};
use aplomb_plans::plan::tiling::{self, Single, Span, single};
use aplomb_plans::plan::{From, Kind, Launch, Plan, Step, What};
use aplomb_values::dag::{Dag, NodeId, Read};
use std::collections::BTreeSet;

/// The check of all live nodes of a graph. Errors: a sentence on the first that is wrong.
pub fn check(dag: &Dag, roots: &[NodeId]) -> Result<(), String> {
    let live = dag.live(roots);
    dag.ids().filter(|at| live[at.index()]).try_for_each(|at| node(dag, at))
}

fn node(dag: &Dag, at: NodeId) -> Result<(), String> {
    let wrong = |what: String| Err(format!("node {}: {what}", at.index()));
    if let Some(late) = dag.node(at).inputs().iter().find(|a| a.index() >= at.index()) {
        return wrong(format!("reads node {}, which comes later", late.index()));
    }
    dag.node(at).in_dag().check(dag, at).or_else(wrong)
}

/// Whether the schedule is the one that the passes so far ask for, its launches are what devices
/// run, each in one place, after what it reads; whether the edits that lead to it from the schedule
/// that nobody has edited are legal and give it again; and whether lets are in reach of the terms
/// that mention them.
pub(super) fn check_schedule(work: &mut Work) -> Result<(), String> {
    let schedule = work.schedule().map_err(|e| e.to_string())?;
    let (dag, roots, lets) = (&work.dag, &work.roots, &work.lets);
    let fresh = draft(dag, roots, lets, work.policies, &work.stop).map_err(|e| e.to_string())?;
    if *schedule != fresh {
        return Err("the schedule is that of an earlier pass".into());
    }
    let mut home = vec![None; dag.len()];
    for (k, group) in schedule.groups.iter().enumerate() {
        legal::launch(dag, &schedule.keep, group).map_err(|e| format!("k{k}: {}", e.says()))?;
        for at in group.nodes() {
            if home[at.index()].replace(k).is_some() || !schedule.keep.contains_key(&at) {
                return Err(format!("node {} has no launch of its own", at.index()));
            }
        }
    }
    for at in schedule.keep.keys() {
        let own = home[at.index()].ok_or_else(|| format!("node {} is in no launch", at.index()))?;
        for (read, _) in find::kept_reads(dag, &schedule.keep, *at) {
            let theirs = home[read.index()]
                .ok_or_else(|| format!("node {} is read and never made", read.index()))?;
            if theirs > own {
                return Err(format!("k{own} reads node {} before it is written", read.index()));
            }
        }
    }
    let start = Schedule::start(dag, roots);
    let edits = start.difference(dag, &schedule);
    for edit in &edits {
        legal::check(dag, roots, &schedule, edit).map_err(|e| format!("{edit}: {}", e.says()))?;
    }
    let again = start.apply(dag, &edits);
    if (&again.keep, &again.groups) != (&schedule.keep, &schedule.groups) {
        return Err(format!("edits give {:?}, not {:?}", again.groups, schedule.groups));
    }
    check_lets(dag, lets, roots)
}

/// The check of one pass, of what may not hold later: lets are those of the shared terms, each in
/// reach of all uses and behind those that it mentions; copies are of what launches read; what is
/// read anywhere is written; arrays lie as their launches write them; a plan that was settled is
/// not dearer than the one before.
pub(super) fn check_pass(work: &mut Work, pass: &str) -> Result<(), String> {
    match pass {
        "prune" | "float" | "bind" => check_sharing(work),
        "place" => check_near(work),
        "settle" => {
            let schedule = work.schedule().map_err(|e| e.to_string())?;
            work.layouts.check(&schedule)?;
            check_breaks(work, &schedule)?;
            check_settled(work, &schedule)
        }
        _ => Ok(()),
    }
}

fn check_sharing(work: &Work) -> Result<(), String> {
    let (dag, roots) = (&work.dag, &work.roots);
    let mut bound: Vec<NodeId> = work.lets.iter().map(|l| l.node).collect();
    bound.sort();
    if bound != lets::shared(dag, roots) {
        return Err("lets are not those of the shared terms".into());
    }
    let most = (LETS / dag.len().max(1)).min(work.lets.len());
    for (k, l) in work.lets[..most].iter().enumerate() {
        let at = l.node.index();
        if l.at.is_some() && reached(dag, roots, l.at)[at] {
            return Err(format!("a use of node {at} is out of its let's reach"));
        }
        let below = dag.live(&[l.node]);
        let late = |other: &&Let| other.at == l.at && below[other.node.index()];
        if let Some(late) = work.lets[k + 1..].iter().find(late) {
            return Err(format!("the let of node {at} mentions node {}", late.node.index()));
        }
    }
    Ok(())
}

/// The nodes that roots reach without that one.
fn reached(dag: &Dag, roots: &[NodeId], without: Option<NodeId>) -> Vec<bool> {
    let mut met = vec![false; dag.len()];
    roots.iter().for_each(|r| met[r.index()] = true);
    for at in dag.ids().rev().filter(|at| Some(*at) != without) {
        if met[at.index()] {
            dag.node(at).inputs().iter().for_each(|a| met[a.index()] = true);
        }
    }
    met
}

fn check_near(work: &mut Work) -> Result<(), String> {
    let schedule = work.schedule().map_err(|e| e.to_string())?;
    for near in &work.shared_reads {
        let group = schedule.groups.get(near.group).ok_or("a copy for no launch")?;
        let reads: Vec<Read> = group
            .nodes()
            .into_iter()
            .filter(|at| work.dag.domain(*at) == &*group.domain)
            .flat_map(|at| find::loads(&work.dag, &schedule.keep, at))
            .filter(|(array, _)| *array == near.array)
            .map(|(array, read)| work.layouts.seen(near.group, array, read, &group.domain))
            .collect();
        if group.kind == Kind::Map && near.reads.iter().any(|read| !reads.contains(read)) {
            return Err(format!("k{} does not read what it keeps near", near.group));
        }
    }
    Ok(())
}

/// The check that whatever is read at places that values tell is written before.
fn check_breaks(work: &Work, schedule: &Schedule) -> Result<(), String> {
    let live = work.dag.live(&work.roots);
    for at in work.dag.ids().filter(|at| live[at.index()]) {
        for (k, a) in work.dag.node(at).inputs().iter().enumerate() {
            let there = work.dag.node(*a).is_given() || schedule.keep.contains_key(a);
            if work.dag.node(at).reads_anywhere(k) && !there {
                return Err(format!("node {} is read anywhere and not written", a.index()));
            }
        }
    }
    Ok(())
}

/// Choices that `settle` made the other way are worth it, by the model of one device at least.
fn check_settled(work: &Work, schedule: &Schedule) -> Result<(), String> {
    let given = work.options.flips.is_some() || work.options.dice.is_some();
    if given || work.policies.flips.is_empty() {
        return Ok(());
    }
    let before = Policies { flips: Flips::default(), ..work.policies };
    let (dag, roots) = (&work.dag, &work.roots);
    let says = |e: aplomb_ground::error::Error| e.to_string();
    let first = draft(dag, roots, &work.lets, before, &work.stop).map_err(says)?;
    let price = |s: &Schedule| -> Result<PlanCost, String> {
        Ok(price::of(&sketch::whole(dag, roots, s).map_err(says)?))
    };
    let (first, now) = (price(&first)?, price(schedule)?);
    match now.us > first.us && now.gpu_us >= first.gpu_us {
        true => Err(format!("what was settled takes {} µs for {}", now.us, first.us)),
        false => Ok(()),
    }
}

/// So many nodes under so many lets are looked at; a check that takes longer than the passes helps
/// nobody.
const LETS: usize = 1 << 22;

/// De Bruijn range: every use of a bound term lies under the node above which its let stands.
fn check_lets(dag: &Dag, lets: &[Let], roots: &[NodeId]) -> Result<(), String> {
    let live = dag.live(roots);
    let most = LETS / dag.len().max(1);
    for l in lets.iter().filter(|l| live[l.node.index()]).take(most) {
        let Some(above) = l.at else { continue };
        if !dag.live(&[above])[l.node.index()] {
            return Err(format!(
                "the let of node {} stands above node {}, which does not use it",
                l.node.index(),
                above.index()
            ));
        }
    }
    Ok(())
}

/// The check of a finished plan. Errors: a sentence on what is wrong with it.
pub fn check_plan(plan: &Plan) -> Result<(), String> {
    let mut written = vec![0u32; plan.buffers.len()];
    for (k, launch) in plan.launches.iter().enumerate() {
        steps(launch, &launch.body)
            .and_then(|()| steps(launch, &launch.after))
            .and_then(|()| guards(launch))
            .map_err(|e| format!("k{k}: {e}"))?;
        for load in &launch.loads {
            match plan.buffer(load.buf).from {
                From::Launch(j)
                    if plan.launches[j as usize].stage >= launch.stage || j as usize >= k =>
                {
                    return Err(format!("k{k} reads a buffer of k{j}, which is not earlier"));
                }
                _ => {}
            }
        }
        for (steps, extents) in
            [(&launch.body, launch.domain.clone()), (&launch.after, launch.outer())]
        {
            for step in steps.iter() {
                if let Some(l) = step.what.load() {
                    let load = &launch.loads[l as usize];
                    load.read
                        .in_bounds(&plan.buffer(load.buf).shape, &extents)
                        .map_err(|e| format!("k{k}: {e}"))?;
                }
            }
        }
        tiles(launch).map_err(|e| format!("k{k}: {e}"))?;
        launch
            .stores
            .iter()
            .chain(&launch.after_stores)
            .for_each(|s| written[s.buf.0 as usize] += 1);
    }
    for (k, buffer) in plan.buffers.iter().enumerate() {
        let wanted = u32::from(matches!(buffer.from, From::Launch(_)));
        if written[k] != wanted {
            return Err(format!("buffer {k} is written {} times", written[k]));
        }
    }
    Ok(())
}

/// The check of tiles: what a box reads is in its copy, and the copies fit.
fn tiles(launch: &Launch) -> Result<(), String> {
    let Some(tiling) = &launch.tiling else { return Ok(()) };
    if !matches!(launch.kind, Kind::Map | Kind::Reduce)
        || tiling.lanes >= launch.domain.len()
        || tiling.block.len() != launch.domain.len()
        || tiling.block.contains(&0)
    {
        return Err("boxes of another launch".into());
    }
    if tiling.bytes() > tiling::BYTES {
        return Err(format!("a block keeps {} bytes near", tiling.bytes()));
    }
    for (tile, (load, ahead)) in
        tiling.tiles.iter().flat_map(|t| t.loads.iter().map(move |l| (t, l)))
    {
        let own = &launch.loads[*load as usize];
        let same =
            tile.loads.first().is_some_and(|(l, _)| launch.loads[*l as usize].buf == own.buf);
        let held = |j: usize| match (&tile.spans[j], single(&own.read.ix[j])) {
            (Span::At(ix), _) => *ix == own.read.ix[j],
            (Span::Along { axis, by, from, apart, wraps }, Some(s)) => {
                let s = wraps.map_or(Some(s), |n| s.around(n, *launch.domain.get(s.axis)?));
                let near = |s: Single| (s.axis, s.by, s.from) == (*axis, *by, from + ahead[j]);
                s.is_some_and(near) && (0..=*apart as i64).contains(&ahead[j])
            }
            _ => false,
        };
        if !same || tile.spans.len() != own.read.ix.len() || !(0..tile.spans.len()).all(held) {
            return Err(format!("load {load} is not in its copy"));
        }
    }
    Ok(())
}

/// The check of guards: what is only asked for where a test holds says so, since it may fail where
/// it does not.
fn guards(launch: &Launch) -> Result<(), String> {
    let kept =
        launch.stores.iter().map(|s| s.value).chain(launch.reductions.iter().map(|r| r.value));
    let kept: BTreeSet<u32> = kept.collect();
    // By value: whether all its users test; None: it has none.
    let mut asked: Vec<Option<bool>> = launch.body.iter().map(|_| None).collect();
    for user in &launch.body {
        for own in user.what.args() {
            let tests = match user.what {
                What::Guard { value, .. } => value == own,
                What::Part { yes, no, .. } => yes == own && no != own,
                _ => false,
            };
            let all = &mut asked[own as usize];
            *all = Some(tests && *all != Some(false));
        }
    }
    for (k, (step, asked)) in launch.body.iter().zip(asked).enumerate() {
        let works = matches!(step.what, What::Op { .. } | What::Gather { .. });
        if !works || step.from.guard.is_some() || kept.contains(&(k as u32)) {
            continue;
        }
        if asked == Some(true) {
            return Err(format!("step {k} is asked for under tests alone and has no guard"));
        }
    }
    Ok(())
}

/// Whether two plans do the same. What launches are called may differ: names are not part of a
/// plan.
pub fn same_plan(a: &Plan, b: &Plan) -> Result<(), String> {
    let text = |plan: &Plan| {
        let mut plan = plan.clone();
        plan.launches.iter_mut().for_each(|l| l.name.clear());
        format!("{plan:#?}")
    };
    let (a, b) = (text(a), text(b));
    match a.lines().zip(b.lines()).find(|(x, y)| x != y) {
        Some((x, y)) => Err(format!("{} is {}", x.trim(), y.trim())),
        None if a.len() != b.len() => Err("it is longer or shorter".into()),
        None => Ok(()),
    }
}

fn steps(launch: &Launch, steps: &[Step]) -> Result<(), String> {
    for (k, step) in steps.iter().enumerate() {
        let bad = match &step.what {
            What::Op { args, op, .. } => args.len() != op.arity(),
            What::Load(l) => *l as usize >= launch.loads.len(),
            What::Reduced(r) => {
                *r as usize >= launch.reductions.len() + usize::from(launch.finish.is_some())
            }
            What::Gather { load, along, places, .. } => {
                *load as usize >= launch.loads.len() || along.len() != places.len()
            }
            What::Arg(_) => true,
            What::State { of, result } => !matches!(steps.get(*of as usize).map(|s| &s.what),
                Some(What::Loop { body, .. }) if (*result as usize) < body.next.len()),
            what => what.tests().is_some_and(|k| k as usize >= launch.guards.len()),
        };
        let bad = bad || step.what.args().iter().any(|a| *a as usize >= k);
        if bad || step.from.guard.is_some_and(|g| g as usize >= launch.guards.len()) {
            return Err(format!("step {k} is out of order"));
        }
    }
    Ok(())
}
/// A check that the story of an evaluation is one of its final plan: marks are buffers, launches
/// are where sentences say, nothing is called dearer that its figure says is cheaper.
pub fn check_trace(trace: &Trace) -> Result<(), String> {
    let written: BTreeSet<u32> =
        trace.buffers.iter().filter(|b| b.born.is_some()).map(|b| b.node).collect();
    let marked = trace.passes.last().map(|p| p.breaks.iter().map(|b| b.node).collect());
    if marked.is_some_and(|marked: BTreeSet<u32>| marked != written) {
        return Err("nodes are marked as written that have no buffer, or the reverse".into());
    }
    let mut last: Vec<u32> = (0..trace.nodes.len() as u32).collect();
    for n in trace.nodes.iter().rev() {
        n.from.iter().for_each(|was| last[*was as usize] = last[n.id as usize]);
    }
    for d in &trace.decisions {
        let wrong = |what: &str| Err(format!("{what}: {}", d.text));
        let own = [Some(d.node), last.get(d.node as usize).copied()];
        let is_written = own.iter().flatten().any(|at| written.contains(at));
        match (d.what.as_str(), d.chosen.as_str()) {
            ("keep" | "break", "write" | "materialise" | "break") if !is_written => {
                return wrong("not written");
            }
            ("inline", "inline") if is_written => return wrong("written"),
            ("launch", _) => {
                let id = d.text.strip_prefix('k').and_then(|rest| rest.split(' ').next());
                let launch = id.and_then(|id| trace.kernels.get(id.parse::<usize>().ok()?));
                if !launch.is_some_and(|k| k.body.contains(&d.node)) {
                    return wrong("in another launch");
                }
            }
            _ => {}
        }
        if d.alt.iter().any(|alt| alt.why_not == BY_ITSELF && alt.cost.us < d.cost.us) {
            return wrong("not dearer");
        }
    }
    let named = |k: &LaunchRecord| k.name.starts_with(&format!("k{} ", k.id));
    match trace.kernels.iter().find(|k| !named(k)) {
        Some(k) => Err(format!("a launch is called {}", k.name)),
        None => Ok(()),
    }
}

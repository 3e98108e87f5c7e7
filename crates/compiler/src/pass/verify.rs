//! The verifier: what holds after every pass.
//!
//! Rows: ACC-31. Checked: arguments have smaller ids; arities; a map's arguments have its shape or
//! rank 0; a transform has one Ix a source axis, whose ranges (clipped by tests) lie inside the
//! source; a reduction's shape is its source's without the axis; characters meet only moves, = and
//! ≠. For a plan: values are used after they are made, stages rise along reads, every buffer is
//! written once, and reads stay inside their buffers.

use super::find;
use super::lets::Let;
use super::schedule::{Schedule, draft, legal};
use super::work::Work;
use aplomb_plans::plan::tiling::{self, Single, Span, single};
use aplomb_plans::plan::{From, Kind, Launch, Plan, Step, What};
use aplomb_values::array::{DType, elements};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Dag, Lib, Node, NodeId, Read, Whole};
use aplomb_values::prim::op::Op;

pub fn check(dag: &Dag, roots: &[NodeId]) -> Result<(), String> {
    let live = dag.live(roots);
    dag.ids().filter(|at| live[at.index()]).try_for_each(|at| node(dag, at))
}

fn node(dag: &Dag, at: NodeId) -> Result<(), String> {
    let shape = dag.shape(at);
    let wrong = |what: String| Err(format!("node {}: {what}", at.index()));
    if let Some(late) = dag.node(at).inputs().iter().find(|a| a.index() >= at.index()) {
        return wrong(format!("reads node {}, which comes later", late.index()));
    }
    match dag.node(at) {
        Node::Input(_) => Ok(()),
        Node::Const(_) if shape.is_empty() => Ok(()),
        Node::Const(_) => wrong("a constant with axes".into()),
        Node::Iota { .. } if shape.len() == 1 => Ok(()),
        Node::Iota { .. } => wrong("an iota has one axis".into()),
        Node::Map { op, args, .. } => {
            if args.len() != op.arity() {
                return wrong(format!("{} has {} arguments", op.name(), args.len()));
            }
            if let Some(a) =
                args.iter().find(|a| !dag.shape(**a).is_empty() && dag.shape(**a) != shape)
            {
                return wrong(format!(
                    "argument {} has shape {:?}, not {shape:?}",
                    a.index(),
                    dag.shape(*a)
                ));
            }
            let text = args.iter().any(|a| dag.dtype(*a) == DType::Char);
            if text && !matches!(op, Op::Eq | Op::Ne) {
                return wrong(format!("{} of characters", op.name()));
            }
            Ok(())
        }
        Node::Transform { src, read, .. } => {
            in_bounds(read, dag.shape(*src), shape).or_else(wrong)?;
            // A fill may widen the type, a rule may have found a constant of a narrower one.
            if !read.tests.is_empty() || matches!(dag.node(*src), Node::Const(_)) {
                return Ok(());
            }
            if dag.dtype(*src) == dag.dtype(at) {
                Ok(())
            } else {
                wrong("a move that changes the type".into())
            }
        }
        Node::Reduce { axis, src, .. } => {
            let mut from = dag.shape(*src).to_vec();
            if *axis as usize >= from.len() {
                return wrong(format!("axis {axis} of {from:?}"));
            }
            from.remove(*axis as usize);
            if from == shape {
                Ok(())
            } else {
                wrong(format!("reduces to {shape:?}, not {from:?}"))
            }
        }
        Node::Scan { axis, src, .. } => {
            let fits = dag.shape(*src) == shape && (*axis as usize) < shape.len();
            if fits {
                Ok(())
            } else {
                wrong(format!("scans axis {axis} of {:?} to {shape:?}", dag.shape(*src)))
            }
        }
        Node::Select { args } => {
            let conform = args.iter().all(|a| dag.shape(*a).is_empty() || dag.shape(*a) == shape);
            if args.len() == 3 && conform {
                Ok(())
            } else {
                wrong("a select of other than three arrays of its shape".into())
            }
        }
        Node::Cat { axis, args } => {
            let axis = *axis as usize;
            let others = |s: &[usize]| {
                s.iter()
                    .enumerate()
                    .filter(|(k, _)| *k != axis)
                    .map(|(_, n)| *n)
                    .collect::<Vec<_>>()
            };
            let fits = |a: &NodeId| {
                dag.shape(*a).len() == shape.len() && others(dag.shape(*a)) == others(shape)
            };
            if axis >= shape.len() || args.is_empty() || !args.iter().all(fits) {
                return wrong(format!("a cat on axis {axis} of arrays that do not fit {shape:?}"));
            }
            let sum: usize = args.iter().map(|a| dag.shape(*a)[axis]).sum();
            if sum == shape[axis] {
                Ok(())
            } else {
                wrong(format!("a cat of {sum} on an axis of {}", shape[axis]))
            }
        }
        Node::Gather { args, read, along, .. } => {
            let Some((src, places)) = args.split_first() else {
                return wrong("a gather of nothing".into());
            };
            in_bounds(read, dag.shape(*src), shape).or_else(wrong)?;
            let conform = places.iter().all(|a| dag.shape(*a).is_empty() || dag.shape(*a) == shape);
            let axes = along.iter().all(|a| (a.axis as usize) < read.ix.len());
            let counts = places.iter().all(|a| dag.dtype(*a).is_integer());
            let fits = conform && axes && counts && along.len() == places.len();
            if fits {
                Ok(())
            } else {
                wrong("a gather whose places are not integers of its shape".into())
            }
        }
        Node::Loop { args, body, result } => {
            let conform = args.iter().all(|a| dag.shape(*a).is_empty() || dag.shape(*a) == shape);
            let fits =
                conform && body.arguments() == args.len() && (*result as usize) < body.next.len();
            body.verify().or_else(wrong)?;
            if fits { Ok(()) } else { wrong("a loop whose values are not in order".into()) }
        }
        Node::Whole { what, args } => whole(dag, at, what, args).or_else(wrong),
        Node::Compact { axis, args } => {
            let axis = *axis as usize;
            let [mask, src] = args.as_slice() else {
                return wrong("a compact of other than two".into());
            };
            let from = dag.shape(*src);
            let same = from.len() == shape.len()
                && (0..from.len()).all(|k| k == axis || from[k] == shape[k]);
            let fits = same
                && axis < from.len()
                && dag.shape(*mask) == [from[axis]]
                && shape[axis] <= from[axis];
            if fits {
                Ok(())
            } else {
                wrong(format!("a mask of {:?} over axis {axis} of {from:?}", dag.shape(*mask)))
            }
        }
    }
}

fn whole(dag: &Dag, at: NodeId, what: &Whole, args: &[NodeId]) -> Result<(), String> {
    let shape = dag.shape(at);
    let of = |k: usize| args.get(k).map_or(&[][..], |a| dag.shape(*a));
    let fits = match what {
        Whole::Fold { axis, body, given } => {
            let mut left = of(0).to_vec();
            body.verify()?;
            let known = body.arguments() == 2 + given.len() && body.next.len() == 1;
            let axis = *axis as usize;
            args.len() == 1 && known && axis < left.len() && left.remove(axis) > 0 && left == shape
        }
        Whole::Segmented { .. } => {
            args.len() == 2 && shape.len() == 1 && of(0) == [shape[0], 2] && of(1).len() == 1
        }
        Whole::Scatter { read, along, .. } => {
            let places = args.get(2..).unwrap_or_default();
            let conform = places.iter().all(|a| dag.shape(*a).is_empty() || dag.shape(*a) == of(1));
            let axes =
                along.iter().all(|a| read.ix.get(a.axis as usize).is_some_and(Ix::is_constant));
            in_bounds(read, shape, of(1))?;
            of(0) == shape && conform && axes && along.len() == places.len() && !of(1).is_empty()
        }
        Whole::Lib { of: Lib::GradeUp | Lib::GradeDown, .. } => {
            args.len() == 1 && of(0).first() == shape.first()
        }
        Whole::Lib { .. } => args.len() == 2 && of(0).len() == 1 && of(1) == shape,
    };
    if fits {
        Ok(())
    } else {
        Err(format!("a {} whose operands do not fit {shape:?}", what.kind()))
    }
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

/// Whether each Ix stays inside its axis wherever all tests hold.
pub fn in_bounds(read: &Read, from: &[usize], extents: &[usize]) -> Result<(), String> {
    if read.ix.len() != from.len() {
        return Err(format!("{} indices for {} axes", read.ix.len(), from.len()));
    }
    if elements(extents) == 0 {
        return Ok(());
    }
    let (boxed, exact) = read.held(extents);
    if boxed.iter().any(|(lo, hi)| lo >= hi) {
        return Ok(());
    }
    let sides: Vec<usize> = boxed.iter().map(|(lo, hi)| (hi - lo) as usize).collect();
    let shifted: Vec<Ix> =
        boxed.iter().enumerate().map(|(k, (lo, _))| Ix::axis(k).offset(*lo)).collect();
    for (ix, &n) in read.ix.iter().zip(from) {
        let (lo, hi) = ix.substitute(&shifted, &sides).range(&sides);
        // What tests of other forms leave is no box; that is left to the device's own checks.
        let provable = exact && (read.tests.is_empty() || ix.is_affine());
        if provable && (lo < 0 || hi >= n as i64) {
            return Err(format!(
                "reads {lo}…{hi} of an axis of {n} by {}",
                read.text(extents.len())
            ));
        }
    }
    Ok(())
}

pub fn check_plan(plan: &Plan) -> Result<(), String> {
    let mut written = vec![0u32; plan.buffers.len()];
    for (k, launch) in plan.launches.iter().enumerate() {
        steps(launch, &launch.body)
            .and_then(|()| steps(launch, &launch.after))
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
                    in_bounds(&load.read, &plan.buffer(load.buf).shape, &extents)
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

/// What a box reads is in its copy, and the copies fit.
fn tiles(launch: &Launch) -> Result<(), String> {
    let Some(tiling) = &launch.tiling else { return Ok(()) };
    if launch.kind != Kind::Map
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
            What::Guard { tests, .. } | What::Part { tests, .. } => {
                *tests as usize >= launch.guards.len()
            }
            What::Gather { load, along, places, .. } => {
                *load as usize >= launch.loads.len() || along.len() != places.len()
            }
            What::Arg(_) => true,
            What::State { of, result } => !matches!(steps.get(*of as usize).map(|s| &s.what),
                Some(What::Loop { body, .. }) if (*result as usize) < body.next.len()),
            What::Index { .. } | What::Const(_) | What::Select { .. } | What::Loop { .. } => false,
        };
        let bad = bad || step.what.args().iter().any(|a| *a as usize >= k);
        if bad || step.from.guard.is_some_and(|g| g as usize >= launch.guards.len()) {
            return Err(format!("step {k} is out of order"));
        }
    }
    Ok(())
}

//! The trace of a compilation: the work's log in the schema's words.

use super::cost::{self, SM_90};
use super::decide::{Decision, glyph};
use super::hash::Map;
use super::reversal::Reversal;
use super::schedule::{Schedule, Why};
use super::sentences::Final;
use super::work::{Snapshot, Warning, Work};
use super::{Options, PIPELINE, fuse, inverse, phrase, place, price, sizes};
use aplomb_ground::error::Result;
use aplomb_ground::span::{Place, Source};
use aplomb_ground::trace::*;
use aplomb_plans::kir::{Figures, Space};
use aplomb_plans::plan::adjacency::{self, Candidate, Nest};
use aplomb_plans::plan::{Asking, BufId, From, Kind, Launch, Plan, Step, What, product, uses};
use aplomb_plans::{kir, occupancy};
use aplomb_values::array::DType;
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Along, Dag, NodeId, Read, Role};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Blocks that fill the device model: 132 multiprocessors, eight on each.
const FULL: u64 = 132 * 8;

/// The story of a compilation, and the decisions that can be made the other way. Errors:
/// INTERRUPT, INTERNAL ERROR.
pub fn trace(work: &mut Work, plan: &Plan) -> Result<(Trace, Vec<(usize, Reversal)>)> {
    let schedule = work.schedule()?;
    let work = &*work;
    let mut sources: Vec<Arc<Source>> = Vec::new();
    let (hashes, uses) = (content_hashes(&work.dag), work.dag.uses(&work.roots));
    let mut record =
        |at: NodeId| node(work, at, hashes[at.index()], uses[at.index()], &mut sources);
    let nodes: Vec<NodeRecord> = work.dag.ids().map(&mut record).collect();
    let (decisions, reversals) = decisions(work, plan, &schedule)?;
    let mut rules = std::collections::BTreeMap::new();
    work.snapshots
        .iter()
        .flat_map(|s| &s.events)
        .for_each(|e| *rules.entry(e.rule.to_string()).or_insert(0) += 1);
    let passes: Vec<PassRecord> = work
        .snapshots
        .iter()
        .enumerate()
        .map(|(k, s)| pass(work, k, s, k.checked_sub(1).map(|j| &work.snapshots[j])))
        .collect();
    let mut kernels: Vec<LaunchRecord> =
        plan.launches.iter().enumerate().map(|(k, l)| launch(&work.dag, plan, k, l)).collect();
    let mut diagnostics: Vec<Diagnostic> =
        work.warnings.iter().map(|w| warning(w, &mut sources)).collect();
    for (k, record) in kernels.iter_mut().enumerate() {
        match kir::code(plan, &plan.launches[k], k) {
            Ok(code) => tell_text(record, plan, k, &code),
            Err(e) => {
                let text = e.parts().says.clone();
                diagnostics.push(Diagnostic {
                    code: "W-no-cuda".into(),
                    text,
                    ..Diagnostic::default()
                });
            }
        }
    }
    let buffers: Vec<BufferRecord> =
        (0..plan.buffers.len() as u32).map(|k| buffer(plan, BufId(k))).collect();
    let mut trace = Trace {
        schema: SCHEMA.into(),
        version: VERSION.into(),
        producer: env!("CARGO_PKG_VERSION").into(),
        config: config(work.options),
        sources: sources
            .iter()
            .enumerate()
            .map(|(k, s)| SourceText { id: k as u32, name: s.name.clone(), text: s.alone() })
            .collect(),
        rules,
        ..Trace::default()
    };
    trace.segments.push(Segment {
        id: 0,
        why: work.recorded.why.into(),
        nodes: [0, nodes.len() as u32],
        passes: [0, passes.len() as u32],
        decisions: [0, decisions.len() as u32],
        kernels: [0, kernels.len() as u32],
        buffers: [0, buffers.len() as u32],
        alike: 0,
    });
    (trace.nodes, trace.passes, trace.decisions) = (nodes, passes, decisions);
    (trace.kernels, trace.buffers) = (kernels, buffers);
    trace.diagnostics = diagnostics;
    Ok((trace, reversals))
}

/// The options as a trace has them.
pub fn config(options: &Options) -> Config {
    Config {
        preset: options.preset().name.into(),
        passes: options.passes().into_iter().map(Into::into).collect(),
        off: options.off().iter().map(|s| s.to_string()).collect(),
        arch: SM_90.arch.into(),
    }
}

/// The CUDA text of a plan's launch `k`, its loops, how its kernels share their points out, and the
/// sizes that its tiles could have.
pub fn tell_text(record: &mut LaunchRecord, plan: &Plan, k: usize, code: &kir::Code) {
    if let Some(launch) = plan.launches.get(k) {
        record.schedule = kir::schedule(plan, launch, code);
        record.tuning = sizes::of(plan, launch, k, code);
        if let Some(tile) = code.kernels.first().and_then(|k| k.choices.tiles) {
            tell_figures(record, &kir::figures_in(plan, launch, tile));
        }
    }
    record.cuda = Some(kir::cuda(code));
    record.math = code.fast.is_any().then(|| code.fast.math().name().into());
    record.spread = code.spread(FULL);
    if let (Some(launch), [one]) = (plan.launches.get(k), &record.spread[..])
        && kir::Form::of(plan, launch).is_in_a_row()
    {
        record.block = in_a_row(plan, launch, one.each);
    }
    record.launch = code.grid(FULL, code.shared());
    tell_occupancy(record, SM_90.arch);
}

/// The boxes of blocks that take so many results in a row. None: there is no point to take.
fn in_a_row(plan: &Plan, launch: &Launch, each: u64) -> Option<BlockRecord> {
    if launch.domain.contains(&0) {
        return None;
    }
    let points = kir::Form::in_a_row(launch, each)?;
    let block = plan.block(launch, &points)?;
    let along = launch.domain.iter().zip(&points).map(|(all, own)| all.div_ceil(*own) as u64);
    let boxes = along.fold(1, u64::saturating_mul);
    Some(BlockRecord { points, boxes, loads: block.loads, results: block.results })
}

/// The boxes of a launch's blocks, and its time on the model of a GPU (BAS-18).
fn tell_figures(record: &mut LaunchRecord, of: &Figures) {
    record.form = of.form.name().into();
    record.block = of.block.as_ref().map(|(points, block)| BlockRecord {
        points: points.clone(),
        boxes: of.boxes,
        loads: block.loads,
        results: block.results,
    });
    record.est.us = round(of.time());
}

/// The occupancy of a launch on an architecture, by the registers that NVRTC tells, else by the
/// values that are alive at once. None where the architecture has no row (BAS-01).
pub fn tell_occupancy(record: &mut LaunchRecord, arch: &str) {
    let threads = record.launch.block.iter().product();
    // Tiles have their results in registers, which the row of their size counts.
    let of_tiles = record.tuning.iter().find(|row| row.chosen).map(|row| row.guessed);
    let registers = match (record.regs, of_tiles) {
        (Some(told), _) => told,
        (None, Some(guessed)) => guessed,
        (None, None) => occupancy::guessed(record.live_max),
    };
    let on = occupancy::find(arch).filter(|_| threads > 0);
    record.occ = on.map(|m| m.occupancy(threads, registers, record.launch.smem));
    record.fit = on.map(|m| m.bounds(threads, registers, record.launch.smem));
}

fn id(at: NodeId) -> u32 {
    at.index() as u32
}

fn ids(list: &[NodeId]) -> Vec<u32> {
    list.iter().map(|at| id(*at)).collect()
}

fn node(
    work: &Work,
    at: NodeId,
    hash: u64,
    uses: u32,
    sources: &mut Vec<Arc<Source>>,
) -> NodeRecord {
    let (dag, info) = (&work.dag, work.dag.info(at));
    let kind = dag.node(at);
    let span = info.meta.place.as_ref().map(|p| span(p, sources));
    let unsure = info.meta.dtype == DType::I32 && info.meta.range.is_none() && !kind.is_input();
    let dtype = if unsure { "i32?".to_string() } else { info.meta.dtype.name().to_string() };
    NodeRecord {
        id: id(at),
        h: format!("fnv:{hash:016x}"),
        kind: kind.kind().into(),
        op: glyph(dag, at),
        inputs: ids(kind.inputs()),
        dtype,
        shape: info.meta.shape.to_vec(),
        attr: attributes(work, at),
        span: span.into_iter().collect(),
        name: info.name.as_ref().map(|n| n.to_string()),
        from: ids(&info.from),
        born: info.born as u32,
        uses,
    }
}

/// A place as the trace writes it; its source joins the list.
fn span(place: &Place, sources: &mut Vec<Arc<Source>>) -> [u32; 3] {
    let known = sources.iter().position(|s| **s == *place.source);
    let k = known.unwrap_or_else(|| {
        sources.push(place.source.clone());
        sources.len() - 1
    });
    [k as u32, place.span.start, place.span.end]
}

fn warning(w: &Warning, sources: &mut Vec<Arc<Source>>) -> Diagnostic {
    Diagnostic {
        code: w.code.into(),
        span: w.place.as_ref().map(|p| span(p, sources)),
        text: w.text.clone(),
        ms: None,
    }
}

/// For each node FNV-1a over the printed operation and the operands' hashes: equal for equal nodes
/// in every trace.
fn content_hashes(dag: &Dag) -> Vec<u64> {
    let mut hashes: Vec<u64> = Vec::with_capacity(dag.len());
    for n in dag.ids() {
        let mut text = format!(
            "{} {} {:?} {:?}",
            dag.node(n).kind(),
            glyph(dag, n),
            dag.shape(n),
            dag.dtype(n)
        );
        text += &dag.node(n).in_dag().details(dag, n);
        let mut h = 0xcbf2_9ce4_8422_2325u64;
        let operands = dag.node(n).inputs().iter().flat_map(|a| hashes[a.index()].to_le_bytes());
        for byte in text.bytes().chain(operands) {
            h = (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        hashes.push(h);
    }
    hashes
}

fn attributes(work: &Work, at: NodeId) -> Attr {
    let dag = &work.dag;
    let mut attr = Attr { delayed: work.delayed.get(&at).cloned(), ..Attr::default() };
    let (node, rank) = (dag.node(at), dag.shape(at).len());
    attr.axis = node.facts().axis().map(u32::from);
    match node.facts().place() {
        // A place that does not exist is APL's error.
        Some((read, along)) if node.role() == Role::AtPlaces => {
            attr.oob = Some("none".into());
            attr.affine = Some(by_values(read, rank, told(along)));
        }
        Some((read, _)) => {
            attr.oob = read.oob();
            attr.grows = node.inputs().iter().any(|src| dag.elements(*src) < dag.elements(at));
            attr.affine = Some(read.text(rank));
            let source = node.inputs().first().copied();
            attr.inverse =
                source.and_then(|src| inverse::text(read, dag.shape(src), dag.shape(at)));
        }
        None => {}
    }
    attr
}

/// The decisions that the final plan bears out, in its words, and those that can be made the other
/// way. One that says that a node is written, where the plan has no buffer of it, was
/// overtaken by another, and so was one that computes in place what is written after all.
fn decisions(
    work: &Work,
    plan: &Plan,
    schedule: &Schedule,
) -> Result<(Vec<DecisionRecord>, Vec<(usize, Reversal)>)> {
    let written: BTreeSet<NodeId> = plan.buffers.iter().map(|b| b.node).collect();
    let (last, uses) = (successors(&work.dag), work.dag.uses(&work.roots));
    let mut met: BTreeSet<(NodeId, &str, String)> = BTreeSet::new();
    let (mut all, mut reversals) = (Vec::new(), Vec::new());
    let last_plan = Final::new(work, schedule, plan);
    for (pass, d) in &work.decisions {
        let at = last[d.at().index()];
        let is_written = written.contains(&d.at()) || written.contains(&at);
        let holds = match (d.what(), d.chosen().name) {
            ("keep" | "break", "write" | "materialise" | "break") => is_written,
            ("inline" | "keep", "inline") => !is_written,
            _ => true,
        };
        let told = if holds { fuse::of_plan(work, schedule, at, &uses, d)? } else { None };
        let told = told.filter(|d| last_plan.bears(d)).map(|d| last_plan.placed(d));
        if let Some(d) = told {
            let text = last_plan.text(&d)?;
            if met.insert((d.at(), d.what(), text.clone())) {
                let other = price::other(&work.dag, schedule, &last, &d);
                reversals.extend(other.map(|other| (all.len(), other)));
                all.push(decision(all.len(), *pass, &d, text));
            }
        }
    }
    Ok((all, reversals))
}

fn decision(id: usize, pass: usize, d: &Decision, text: String) -> DecisionRecord {
    DecisionRecord {
        id: id as u32,
        pass: pass as u32,
        node: self::id(d.at()),
        what: d.what().into(),
        chosen: d.chosen().name.into(),
        reason: d.reason().into(),
        text,
        cost: cost_of(d.chosen().cost),
        plan: None,
        alt: d
            .rejected()
            .iter()
            .map(|(c, why)| Alternative {
                name: c.name.into(),
                cost: cost_of(c.cost),
                why_not: why.text(),
                plan: None,
            })
            .collect(),
        seed: d.row().into(),
        switch: d.switch().into(),
    }
}

/// For each node the one that rules put in its place at last; itself where none did.
fn successors(dag: &Dag) -> Vec<NodeId> {
    let mut last: Vec<NodeId> = dag.ids().collect();
    let all: Vec<NodeId> = dag.ids().collect();
    for &at in all.iter().rev() {
        dag.info(at).from.iter().for_each(|was| last[was.index()] = last[at.index()]);
    }
    last
}

fn cost_of(c: cost::Cost) -> Cost {
    Cost { flops: c.flops, bytes: c.bytes, us: (c.ns / 10.0).round() / 100.0 }
}

fn pass(work: &Work, k: usize, s: &Snapshot, before: Option<&Snapshot>) -> PassRecord {
    let dag = &work.dag;
    // How many lets stand around each; outer ones come first. A place of a let that is none itself
    // is the outermost.
    let mut levels: Map<NodeId, u32> = Map::default();
    let level = |l: &super::lets::Let| {
        let level = l.at.map_or(0, |outer| 1 + levels.get(&outer).copied().unwrap_or(0));
        levels.entry(l.node).or_insert(level);
        [level, id(l.node)]
    };
    let lets = s.lets.iter().map(level).collect();
    let mut readers: Map<NodeId, u32> = Map::default();
    s.schedule
        .facts
        .reads
        .iter()
        .flatten()
        .for_each(|(at, _)| *readers.entry(*at).or_default() += 1);
    // A reduction that only its own launch's epilogue reads is kept in that launch and has no
    // buffer.
    let is_stored = |at: &NodeId, why: &Why| *why != Why::Consumer || readers.contains_key(at);
    let uses = dag.uses(&s.roots);
    let breaks = s.schedule.keep.iter().filter(|(at, why)| is_stored(at, why)).map(|(at, why)| {
        BreakRecord {
            node: id(*at),
            reason: match again(dag, *at, uses[at.index()]) {
                Some(shared) if *why == Why::Consumer => shared.code(),
                _ => match why {
                    // A pass that is to come is not off.
                    Why::NotYet(pass) if !work.options.is_off(pass) => format!("before:{pass}"),
                    _ => why.code(),
                },
            },
            bytes: dag.elements(*at).saturating_mul(dag.dtype(*at).size() as u64),
            readers: readers.get(at).copied().unwrap_or(0),
        }
    });
    let changed = before.is_none_or(|b| {
        b.roots != s.roots
            || b.lets != s.lets
            || b.schedule.groups != s.schedule.groups
            || !s.events.is_empty()
    });
    PassRecord {
        id: k as u32,
        name: PIPELINE[k].name.into(),
        ms: s.ms,
        changed: changed && !work.options.is_off(PIPELINE[k].name),
        roots: ids(&s.roots),
        lets,
        view: s.view.clone(),
        breaks: breaks.collect(),
        launches: s.schedule.groups.iter().map(|g| ids(&g.nodes())).collect(),
        live: dag.live(&s.roots).iter().filter(|l| **l).count() as u32,
        bytes: s.schedule.facts.bytes,
        flops: s.schedule.facts.flops,
        events: s
            .events
            .iter()
            .map(|e| Event {
                rule: e.rule.into(),
                at: vec![id(e.at)],
                into: Some(id(e.into)),
                pre: e.pre.into(),
                dec: None,
            })
            .collect(),
    }
}

/// The reason for which a fold that is used several times is stored: its uses, and what it costs to
/// fold again for each but the first (ACL-40). None: it is used once.
fn again(dag: &Dag, at: NodeId, uses: u32) -> Option<Why> {
    let more = u64::from(uses).checked_sub(1).filter(|more| *more > 0)?;
    let (points, size) = (product(dag.domain(at)), dag.dtype(at).size() as u64);
    let one = dag.node(at).cost();
    let inline = cost::Cost::compute(points.saturating_mul(more), one.ns, one.flops, 1, size);
    let (elements, uses) = (dag.elements(at), u64::from(uses));
    let store = cost::Cost::store(elements, elements.saturating_mul(uses), size);
    Some(Why::Shared { uses, inline, store })
}

/// A launch's number, and the source of what it writes.
fn name(dag: &Dag, plan: &Plan, k: usize, l: &Launch) -> String {
    let written = l.stores.iter().chain(&l.after_stores).map(|s| plan.buffer(s.buf).node);
    let mut written: Vec<NodeId> = written.collect();
    written.sort();
    let name = match (phrase::name(dag, &written), written.last()) {
        (Some(name), _) => name,
        (None, Some(at)) => phrase::made(dag, *at),
        (None, None) => l.skeleton().into(),
    };
    format!("k{k} {name}")
}

fn launch(dag: &Dag, plan: &Plan, k: usize, l: &Launch) -> LaunchRecord {
    let mut inputs: Vec<u32> = l.loads.iter().map(|x| x.buf.0).collect();
    inputs.sort();
    inputs.dedup();
    let out: Vec<u32> = l.stores.iter().chain(&l.after_stores).map(|s| s.buf.0).collect();
    let traffic = plan.traffic(l);
    let [inner, outer] = l.effort();
    let (flops, ns) = (inner.flops + outer.flops, price::on_cpu(plan, l));
    let (r, w) = (traffic.read, traffic.written);
    let inside = kir::inside(plan, l);
    let mut out = LaunchRecord {
        id: k as u32,
        name: name(dag, plan, k, l),
        skeleton: l.skeleton().into(),
        algo: l.kind.algorithm().into(),
        form: String::new(),
        block: None,
        regions: inside.as_ref().map_or(0, |of| of.regions),
        inside: inside.iter().flat_map(|of| &of.bounds).map(|(lo, hi)| [*lo, *hi]).collect(),
        body: steps_nodes(l),
        inputs,
        out,
        domain: l.domain.to_vec(),
        axis: l.axis.map(|a| a as u32),
        stage: l.stage,
        reads: (0..l.loads.len()).map(|k| read_record(plan, l, k)).collect(),
        writes: writes(l),
        candidates: plan.nest(l).map_or_else(Vec::new, |nest| orders(&nest, kir::lanes(plan, l))),
        schedule: Vec::new(),
        tuning: Vec::new(),
        launch: Grid { smem: l.tiling.as_ref().map_or(0, |t| t.bytes() as u32), ..Grid::default() },
        spread: Vec::new(),
        regs: None,
        spill: None,
        occ: None,
        fit: None,
        est: Estimate { r, w, loads: traffic.loads, flops, us: 0.0, cpu_us: round(ns / 1e3) },
        meas: None,
        cuda: None,
        cpu: Some(aplomb_plans::plan::listing(l)),
        math: None,
        alike: 0,
        live_max: live_max(&l.body).max(live_max(&l.after)),
        ran: None,
    };
    tell_figures(&mut out, &kir::figures(plan, l));
    out
}

fn round(us: f64) -> f64 {
    (us * 100.0).round() / 100.0
}

/// Nodes computed in a launch, kept or not.
fn steps_nodes(l: &Launch) -> Vec<u32> {
    let computed = |s: &&Step| !matches!(s.what, What::Load(_));
    let mut all: Vec<u32> =
        l.body.iter().chain(&l.after).filter(computed).map(|s| id(s.from.node)).collect();
    all.extend(l.nodes.iter().map(|n| id(*n)));
    all.sort();
    all.dedup();
    all
}

/// The meaning of values for a source's axis.
enum Told {
    Nothing,
    /// A distance from the map's place.
    By,
    Whole,
}

fn told(along: &[Along]) -> impl Fn(usize) -> Told {
    move |axis| if along.iter().any(|a| a.axis as usize == axis) { Told::By } else { Told::Nothing }
}

/// A read as `Read::text` tells it, with `…` where values say: `(i)→(…)`.
fn by_values(read: &Read, rank: usize, told: impl Fn(usize) -> Told) -> String {
    let place = |(axis, ix): (usize, &Ix)| match told(axis) {
        Told::Nothing => ix.text(),
        Told::By if !ix.is_constant() || ix.c != 0 => format!("{}+…", ix.text()),
        Told::By | Told::Whole => "…".into(),
    };
    let axes: Vec<_> = (0..rank).map(aplomb_values::dag::ix::axis_name).collect();
    let places: Vec<_> = read.ix.iter().enumerate().map(place).collect();
    format!("({})→({})", axes.join(","), places.join(","))
}

/// The read of a selection's mask: each point looks at its own place along the axis.
fn mask_record(plan: &Plan, l: &Launch, (k, axis): (usize, usize)) -> ReadRecord {
    let read = Read::new([Ix::axis(axis)]);
    let (requests, distinct) = match plan.asked(l, k) {
        (requests, Some(distinct)) => (requests, distinct),
        (requests, None) => (requests, 0),
    };
    ReadRecord {
        buf: l.loads[k].buf.0,
        affine: read.text(l.domain.len()),
        matrix: adjacency::matrix(&read.ix, l.domain.len()).into_iter().flatten().collect(),
        coalesced: axis + 1 == l.domain.len(),
        space: Space::Global.name().into(),
        why: "a selection looks at its mask, place by place".into(),
        requests,
        distinct,
        ..ReadRecord::default()
    }
}

fn read_record(plan: &Plan, l: &Launch, k: usize) -> ReadRecord {
    if let (Some(c), Some(axis)) = (&l.compaction, l.axis)
        && c.mask as usize == k
    {
        return mask_record(plan, l, (k, axis));
    }
    let load = &l.loads[k];
    let gathers = |s: &&Step| matches!(&s.what, What::Gather { load, .. } if *load as usize == k);
    let along = l.body.iter().chain(&l.after).find(gathers).and_then(|s| match &s.what {
        What::Gather { along, .. } => Some(along),
        _ => None,
    });
    let held = l.finish.iter().any(|f| f.held.contains(&(k as u32)));
    let affine = match along {
        // Values say where, on these axes.
        _ if held => by_values(&load.read, l.domain.len(), |_| Told::Whole),
        Some(along) => by_values(&load.read, l.domain.len(), told(along)),
        None => load.read.text(l.domain.len()),
    };
    let known = along.is_none() && !held;
    let (space, why) = kir::space(plan, l, k);
    let near = space == Space::Shared;
    let (requests, distinct) = match plan.asked(l, k) {
        (requests, Some(distinct)) => (requests, distinct),
        (requests, None) => (requests, 0),
    };
    ReadRecord {
        buf: load.buf.0,
        affine,
        matrix: match adjacency::matrix(&load.read.ix, l.domain.len()) {
            Some(rows) if known => rows,
            _ => Vec::new(),
        },
        oob: load.read.oob(),
        reuse: reuse(plan, l, load).filter(|_| known),
        coalesced: known && (near || plan.is_coalesced(l, k)),
        space: space.name().into(),
        why: why.into(),
        conflicts: kir::conflicts(l, k),
        adj: kir::adjacent(plan, l, k).filter(|_| known).map(|adj| {
            let word = |holds: bool| if holds { "ok" } else { "fail" }.to_string();
            AdjacencyRecord { time: word(adj.time), space: word(adj.space) }
        }),
        requests,
        distinct,
    }
}

/// BAS-06: values of the body go to the point's own place, those of folds to that without the
/// folded axis; a selection and operations on whole arrays write where values say.
fn writes(l: &Launch) -> Vec<WriteRecord> {
    let rank = l.domain.len();
    let record = |buf: BufId, axes: &[usize], by_values: bool| {
        let read = Read::new(axes.iter().map(|k| Ix::axis(*k)));
        WriteRecord {
            buf: buf.0,
            affine: match by_values {
                true => self::by_values(&read, rank, |_| Told::Whole),
                false => read.text(rank),
            },
            matrix: match adjacency::matrix(&read.ix, rank) {
                Some(rows) if !by_values => rows,
                _ => Vec::new(),
            },
        }
    };
    let all: Vec<usize> = (0..rank).collect();
    let folded = l.axis.filter(|_| l.kind == Kind::Reduce);
    let left: Vec<usize> = all.iter().copied().filter(|k| Some(*k) != folded).collect();
    let body = l.stores.iter().map(|s| record(s.buf, &all, false));
    let after = l.after_stores.iter().map(|s| record(s.buf, &left, l.kind.is_alone()));
    body.chain(after).collect()
}

/// BAS-13, BAS-14: the orders of the loops; threads of the text are counted along `lanes`.
fn orders(nest: &Nest, lanes: Option<usize>) -> Vec<OrderRecord> {
    let list = |v: &[Vec<i64>]| v.iter().map(|v| adjacency::named(v)).collect();
    let bufs = |v: &[BufId]| v.iter().map(|b| b.0).collect();
    let one = |c: Candidate| OrderRecord {
        time: c.time.as_deref().map(adjacency::named),
        space: c.space.as_deref().map(adjacency::named),
        among: list(&c.among),
        others: list(&c.others),
        global: bufs(&c.global),
        staged: bufs(&c.staged),
        bytes: c.bytes,
        chosen: false,
    };
    let all = nest.candidates();
    let along = |v: &Vec<i64>| v.iter().enumerate().all(|(k, n)| (*n == 1) == (Some(k) == lanes));
    let own = |c: &Candidate| !c.global.is_empty() && c.space.as_ref().is_some_and(along);
    let chosen = all.iter().position(own);
    let mut out: Vec<OrderRecord> = all.into_iter().map(one).collect();
    if let Some(chosen) = chosen {
        out[chosen].chosen = true;
    }
    out
}

/// BAS-07, BAS-08.
fn reuse(plan: &Plan, l: &Launch, load: &aplomb_plans::plan::Load) -> Option<String> {
    let same: Vec<_> =
        l.loads.iter().filter(|x| x.buf == load.buf).map(|x| x.read.clone()).collect();
    if place::overlap(&same, &l.domain).is_some() {
        let asks: Vec<Asking<'_>> = same.iter().map(|read| (read, &l.domain[..])).collect();
        return Some(format!("constant: {:.1}", uses(&plan.buffer(load.buf).shape, &asks)));
    }
    let axes = place::redundant(&load.read, &l.domain)?;
    let names: Vec<String> = axes.iter().map(|k| aplomb_values::dag::ix::axis_name(*k)).collect();
    Some(if names.is_empty() {
        "none".into()
    } else {
        format!("higher-order: {}", names.join(" "))
    })
}

/// The number of values that are alive at once, at most.
pub(super) fn live_max(steps: &[Step]) -> u32 {
    let mut last: Vec<usize> = (0..steps.len()).collect();
    for (k, s) in steps.iter().enumerate() {
        s.what.args().iter().for_each(|a| last[*a as usize] = k);
    }
    let mut ends = vec![0u32; steps.len()];
    last.iter().for_each(|k| ends[*k] += 1);
    let (mut alive, mut most) = (0u32, 0);
    for gone in ends {
        alive += 1;
        most = most.max(alive);
        alive -= gone;
    }
    most
}

fn buffer(plan: &Plan, at: BufId) -> BufferRecord {
    let b = plan.buffer(at);
    let is_root = plan.roots.contains(&at);
    let role = match b.from {
        From::Input(_) => "input",
        From::Launch(_) if is_root => "result",
        From::Launch(_) => "temporary",
    };
    BufferRecord {
        id: at.0,
        node: id(b.node),
        bytes: b.bytes(),
        dtype: b.dtype.name().into(),
        shape: b.shape.to_vec(),
        role: role.into(),
        born: if let From::Launch(k) = b.from { Some(k) } else { None },
        dead: b.last_use,
        own: false,
        h2d: None,
    }
}

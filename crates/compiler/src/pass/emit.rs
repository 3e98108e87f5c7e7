//! emit: the schedule becomes launches with loads, bodies, stores.
//!
//! Rows: ACC-06, ACC-16, ACL-26. In: the final schedule. Out: `Plan`. One walk a launch with an
//! explicit stack; a value is a node seen through a read under a list of tests, so equal ones are
//! one step.

use super::contexts::argument;
use super::decide::{About, Choice, Decision, WhyNot, label};
use super::delayed::{self, Forms};
use super::fault;
use super::formula::Formulas;
use super::hash::Map;
use super::reversal::Reversal;
use super::schedule::legal::Illegal;
use super::schedule::policy::Policy;
use super::schedule::{Group, Keep, Schedule, Why, is_free_root, legal, together};
use super::sentences::{Apart, Says};
use super::work::Work;
use super::{Answer, cost, need, place};
use aplomb_ground::error::{Result, bug};
use aplomb_plans::plan::{
    BufId, Buffer, Compaction, Finish, From, Kind, Launch, Load, Origin, Plan, Reduction, Step,
    Store, Tiles, ValueId, What,
};
use aplomb_values::array::Array;
use aplomb_values::body::Rounds;
use aplomb_values::dag::{Dag, Node, NodeId, Read, kinds};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

#[derive(Clone)]
pub struct Emitted {
    pub plan: Plan,
    pub answers: Vec<Answer>,
}

pub fn run(work: &mut Work) -> Result<()> {
    if work.options.is_off("exp-sharing") {
        super::unshare::run(work)?;
    }
    let schedule = work.schedule()?;
    let mut plan = Plan { math: work.options.math, order: work.options.order, ..Plan::default() };
    let mut buffers: BTreeMap<NodeId, BufId> = BTreeMap::new();
    let live = work.dag.live(&work.roots);
    for at in work.dag.ids().filter(|at| live[at.index()]) {
        if let Some(k) = work.dag.node(at).input() {
            let dtype = work.input(at).map_or(work.dag.dtype(at), Array::dtype);
            let shape = work.dag.shape(at).into();
            buffers.insert(at, BufId(plan.buffers.len() as u32));
            plan.buffers.push(Buffer {
                shape,
                dtype,
                checked: false,
                from: From::Input(k),
                node: at,
                last_use: None,
            });
        }
    }
    for (g, group) in schedule.groups.iter().enumerate() {
        for at in group.nodes().into_iter().filter(|at| schedule.is_stored(*at)) {
            let dtype = work.dag.dtype(at);
            let checked = dtype.is_integer() && work.dag.info(at).meta.range.is_none();
            buffers.insert(at, BufId(plan.buffers.len() as u32));
            let (shape, from) = (work.dag.shape(at).into(), From::Launch(g as u32));
            plan.buffers.push(Buffer { shape, dtype, checked, from, node: at, last_use: None });
        }
    }
    let registers = need::waiting(&work.dag, &schedule.keep, work.dag.ids());
    let mut forms = work.options.trace.then(|| done(&work.dag, &live));
    for (g, group) in schedule.groups.iter().enumerate() {
        let mut told = forms.as_mut().map(|forms| (plan.buffers.as_slice(), forms));
        let launch = launch(&work.dag, &schedule.keep, group, &buffers, &registers, g, &mut told)?;
        plan.launches.push(launch);
    }
    work.layouts.apply(&mut plan);
    let is_tiled = work.options.preset().staged && !work.options.is_off("tile");
    for (g, launch) in plan.launches.iter_mut().enumerate() {
        launch.tiles = if is_tiled { Tiles::Always } else { Tiles::ByModel };
        let tiling = work.tilings.get(&g);
        launch.tiling = tiling.and_then(|of| of.over(|l| place_of(launch, &buffers, l)));
    }
    for g in 0..plan.launches.len() {
        if work.options.reverses(Reversal::Tiles(g)) {
            let other = place::other_tiles(&plan, &plan.launches[g]);
            plan.launches[g].tiles = other;
        }
    }
    if let Some(forms) = forms {
        work.delayed = forms;
    }
    if let Some(fault) = work.options.fault.filter(|f| work.options.has(*f)) {
        fault::in_plan(fault, &mut plan);
    }
    let answers = answers(work, &buffers, &mut plan)?;
    last_uses(&mut plan);
    if work.options.trace {
        explain(work, &schedule)?;
    }
    work.emitted = Some(Emitted { plan, answers });
    Ok(())
}

/// The launch's number of a load.
fn place_of(
    launch: &Launch,
    buffers: &BTreeMap<NodeId, BufId>,
    (at, read): &(NodeId, Read),
) -> Option<u32> {
    let buf = buffers.get(at)?;
    launch.loads.iter().position(|l| l.buf == *buf && l.read == *read).map(|k| k as u32)
}

fn answers(work: &Work, buffers: &BTreeMap<NodeId, BufId>, plan: &mut Plan) -> Result<Vec<Answer>> {
    let mut answers = Vec::new();
    for root in &work.roots {
        let mut at = *root;
        while let (true, [src]) = (is_free_root(&work.dag, at), work.dag.node(at).inputs()) {
            at = *src;
        }
        answers.push(match work.dag.node(at) {
            Node::Const(kinds::Const(p)) => Answer::Scalar(at, p.at_run_time()),
            Node::Input(kinds::Input(k)) => Answer::Input(*k as usize),
            _ => {
                let buf = *buffers.get(&at).ok_or_else(|| bug!("a root has no buffer"))?;
                plan.roots.push(buf);
                Answer::Computed(plan.roots.len() - 1)
            }
        });
    }
    Ok(answers)
}

fn last_uses(plan: &mut Plan) {
    for k in 0..plan.launches.len() {
        let read: Vec<BufId> = plan.launches[k].loads.iter().map(|l| l.buf).collect();
        for buf in read {
            plan.buffers[buf.0 as usize].last_use = Some(k as u32);
        }
    }
    for root in plan.roots.clone() {
        plan.buffers[root.0 as usize].last_use = None;
    }
}

/// One launch: `told` are the buffers and forms of a story.
pub fn launch(
    dag: &Dag,
    keep: &Keep,
    group: &Group,
    buffers: &BTreeMap<NodeId, BufId>,
    registers: &[u32],
    number: usize,
    told: &mut Option<(&[Buffer], &mut BTreeMap<NodeId, String>)>,
) -> Result<Launch> {
    let mut out = Launch {
        stage: group.stage,
        domain: group.domain.clone(),
        kind: group.kind,
        axis: group.axis,
        loads: Vec::new(),
        guards: Vec::new(),
        body: Vec::new(),
        stores: Vec::new(),
        reductions: Vec::new(),
        compaction: None,
        finish: None,
        after: Vec::new(),
        after_stores: Vec::new(),
        tiling: None,
        tiles: Tiles::ByModel,
        nodes: group.nodes(),
        name: format!("k{number} {}", name(dag, group)),
    };
    let mut writer = Writer {
        dag,
        keep,
        group,
        buffers,
        launch: &mut out,
        after: false,
        extents: group.domain.to_vec(),
        values: Map::default(),
        loads: Map::default(),
        reduced: BTreeMap::new(),
        registers,
    };
    let mut body = group.body.clone();
    body.sort();
    for at in body {
        let value = writer.value(at)?;
        writer.launch.stores.push(Store { value, buf: buffers[&at] });
    }
    for &at in &group.reduces {
        let read = Rc::new(Read::identity(writer.extents.len()));
        let (src, _) =
            dag.node(at).consumes().ok_or_else(|| bug!("{} consumes nothing", label(dag, at)))?;
        let one = |w: &mut Writer| w.step_for(*src, read.clone());
        let info = dag.info(at);
        let op = match dag.node(at) {
            Node::Reduce(kinds::Reduce { op, .. }) | Node::Scan(kinds::Scan { op, .. }) => op,
            Node::Compact(kinds::Compact { args, .. }) => {
                let mask = writer.load(args[0], &Read::anywhere(1))?;
                let value = one(&mut writer)?;
                writer.launch.compaction = Some(Compaction { mask, value, node: at });
                writer.launch.after_stores.push(Store { value, buf: buffers[&at] });
                continue;
            }
            Node::Whole(kinds::WholeArrays { what, args }) => {
                let mut finish = Finish {
                    what: what.clone(),
                    held: Default::default(),
                    fed: Default::default(),
                    shape: dag.shape(at).into(),
                    node: at,
                    dtype: info.meta.dtype,
                    site: info.site,
                };
                for (k, a) in args.iter().enumerate() {
                    if k < what.held() {
                        finish.held.push(writer.load(*a, &Read::anywhere(dag.shape(*a).len()))?);
                    } else {
                        finish.fed.push(writer.operand(at, k)?);
                    }
                }
                writer.reduced.insert(at, 0);
                writer.launch.finish = Some(finish);
                continue;
            }
            _ => return Err(bug!("{} is no consumer that a launch ends with", label(dag, at))),
        };
        let value = one(&mut writer)?;
        writer.reduced.insert(at, writer.launch.reductions.len() as u32);
        let reduction =
            Reduction { op: *op, value, node: at, dtype: info.meta.dtype, site: info.site };
        writer.launch.reductions.push(reduction);
    }
    if let Some((buffers, forms)) = told {
        writer.tell_forms(buffers, forms);
    }
    if matches!(group.kind, Kind::Reduce | Kind::Scan | Kind::Whole) {
        writer.after = true;
        writer.extents = writer.launch.outer().to_vec();
        writer.values.clear();
        let mut later = group.nodes();
        later.retain(|at| group.reduces.contains(at) || group.after.contains(at));
        for at in later {
            let value = writer.value(at)?;
            if let Some(&buf) = buffers.get(&at) {
                writer.launch.after_stores.push(Store { value, buf });
            }
        }
        if let Some((buffers, forms)) = told {
            writer.tell_forms(buffers, forms);
        }
    }
    Ok(out)
}

/// The forms of what is no function of anything: arrays that are given, and results of folds and
/// operations on whole arrays.
fn done(dag: &Dag, live: &[bool]) -> BTreeMap<NodeId, String> {
    let all = dag.ids().filter(|at| live[at.index()] && delayed::is_done(dag.node(*at)));
    all.map(|at| (at, "Done".into())).collect()
}

/// The name of a launch: its last named node, else its last operation.
fn name(dag: &Dag, group: &Group) -> String {
    let nodes = group.nodes();
    let named = nodes.iter().rev().find_map(|n| dag.info(*n).name.clone());
    let kind = group
        .reduces
        .iter()
        .find(|_| group.kind == Kind::Whole)
        .map_or(group.kind.name(), |n| dag.node(*n).kind());
    named.map_or(kind.to_string(), |n| n.to_string())
}

struct Writer<'a> {
    dag: &'a Dag,
    keep: &'a Keep,
    group: &'a Group,
    buffers: &'a BTreeMap<NodeId, BufId>,
    launch: &'a mut Launch,
    after: bool,
    extents: Vec<usize>,
    /// A node through a read, in the current list of steps.
    values: Map<(NodeId, Rc<Read>), ValueId>,
    loads: Map<(BufId, Read), u32>,
    reduced: BTreeMap<NodeId, u32>,
    /// By node: how many values its body keeps alive at once; empty where order does not count.
    registers: &'a [u32],
}

/// A step that is still to be done for one value.
enum Task {
    Visit(NodeId, Rc<Read>),
    Build(NodeId, Rc<Read>),
}

impl Writer<'_> {
    /// The value of a node that this launch computes, at the loop's own point.
    fn value(&mut self, at: NodeId) -> Result<ValueId> {
        let read = Rc::new(Read::identity(self.extents.len()));
        self.steps_for(at, read, true)
    }

    /// The value of an operand at the loop's own point.
    fn operand(&mut self, at: NodeId, k: usize) -> Result<ValueId> {
        let read = Rc::new(Read::identity(self.extents.len()));
        let (read, _) = argument(self.dag, at, k, &read, &self.extents);
        self.step_for(self.dag.node(at).inputs()[k], read)
    }

    fn step_for(&mut self, at: NodeId, read: Rc<Read>) -> Result<ValueId> {
        self.steps_for(at, read, false)
    }

    fn steps_for(&mut self, at: NodeId, read: Rc<Read>, own: bool) -> Result<ValueId> {
        let mut tasks = vec![Task::Visit(at, read.clone())];
        while let Some(task) = tasks.pop() {
            let (node, r) = match &task {
                Task::Visit(n, r) | Task::Build(n, r) => (*n, r.clone()),
            };
            if self.values.contains_key(&(node, r.clone())) {
                continue;
            }
            let first = own && node == at && r == read;
            let leaf = match self.dag.node(node) {
                Node::Iota(kinds::Iota { origin }) if first => {
                    Some(What::Index { ix: r.ix[0].clone(), origin: *origin })
                }
                _ if first && !self.reduced.contains_key(&node) => None,
                _ => self.at_hand(node, &r)?,
            };
            if let Some(step) = leaf {
                self.push(node, r, step);
                continue;
            }
            let mut needs: Vec<(NodeId, Rc<Read>)> = self.operands(node, &r);
            match task {
                Task::Visit(..) => {
                    // What needs most values comes first, so that fewest wait (ACL-34).
                    needs.sort_by_key(|(n, _)| std::cmp::Reverse(self.registers.get(n.index())));
                    tasks.push(Task::Build(node, r));
                    tasks.extend(needs.into_iter().rev().map(|(n, r)| Task::Visit(n, r)));
                }
                Task::Build(..) => self.build(node, r, &needs)?,
            }
        }
        self.values.get(&(at, read)).copied().ok_or_else(|| bug!("a value was not built"))
    }

    /// The operands of a node seen through a read.
    fn operands(&self, at: NodeId, read: &Rc<Read>) -> Vec<(NodeId, Rc<Read>)> {
        let node = self.dag.node(at);
        let wanted = |k: &usize| !node.reads_anywhere(*k) && self.part_of(at, *k, read).is_some();
        let all = 0..node.inputs().len();
        all.filter(wanted)
            .map(|k| (node.inputs()[k], argument(self.dag, at, k, read, &self.extents).0))
            .collect()
    }

    /// The tests that say where a cat's k-th argument is wanted, seen through a read; of other
    /// nodes none. None: nowhere.
    fn part_of(&self, at: NodeId, k: usize, read: &Read) -> Option<Vec<aplomb_values::dag::Test>> {
        let parts = matches!(self.dag.node(at), Node::Cat(_));
        let own = self.dag.node(at).read_of(self.dag, at, k).filter(|_| parts);
        let own = own.map_or(Vec::new(), |r| r.0.tests);
        let mut out = Vec::new();
        for mut t in own {
            t.ix = t.ix.substitute(&read.ix, &self.extents);
            let (lo, hi) = t.ix.range(&self.extents);
            if hi < t.lo || lo >= t.hi {
                return None;
            }
            if lo < t.lo || hi >= t.hi {
                out.push(t);
            }
        }
        Some(out)
    }

    /// A leaf, or a kept node: constant, index, reduction of this launch, load.
    fn at_hand(&mut self, at: NodeId, read: &Read) -> Result<Option<What>> {
        if let (true, true, Some(k)) = (self.after, read.is_identity(), self.reduced.get(&at)) {
            return Ok(Some(What::Reduced(*k)));
        }
        Ok(Some(match self.dag.node(at) {
            Node::Const(kinds::Const(p)) => What::Const(p.at_run_time().number()),
            Node::Iota(kinds::Iota { origin }) if !self.keep.contains_key(&at) => {
                What::Index { ix: read.ix[0].clone(), origin: *origin }
            }
            Node::Input(_) => What::Load(self.load(at, read)?),
            _ if self.keep.contains_key(&at) => {
                // A kept node of this very launch at its own point is a value, not a load.
                let here = if self.after { &self.group.after } else { &self.group.body };
                if here.contains(&at) && read.is_identity() {
                    return Ok(None);
                }
                What::Load(self.load(at, read)?)
            }
            _ => return Ok(None),
        }))
    }

    /// The launch's load of a buffer by a read.
    fn load(&mut self, at: NodeId, read: &Read) -> Result<u32> {
        let buf = *self.buffers.get(&at).ok_or_else(|| bug!("a load of what has no buffer"))?;
        let loads = &mut self.launch.loads;
        Ok(*self.loads.entry((buf, read.clone())).or_insert_with(|| {
            loads.push(Load { buf, read: read.clone() });
            loads.len() as u32 - 1
        }))
    }

    fn build(&mut self, at: NodeId, read: Rc<Read>, needs: &[(NodeId, Rc<Read>)]) -> Result<()> {
        let value = |w: &Self, need: &(NodeId, Rc<Read>)| {
            w.values.get(need).copied().ok_or_else(|| bug!("an operand was not built"))
        };
        match self.dag.node(at) {
            Node::Transform(kinds::Transform { src, .. }) => {
                let moved = value(self, &needs[0])?;
                // A load carries its tests, and a transform hands them down; anything else is
                // guarded here.
                let below = self.dag.node(*src);
                let carried =
                    below.is_input() || below.read().is_some() || self.keep.contains_key(src);
                let own = &needs[0].1.tests;
                if own.is_empty() || carried {
                    self.values.insert((at, read), moved);
                } else {
                    let tests = self.guard(&own.clone());
                    self.push(at, read, What::Guard { tests, value: moved });
                }
            }
            Node::Loop(kinds::Loop { body, result, .. }) => {
                let args = needs.iter().map(|n| value(self, n)).collect::<Result<SmallVec<_>>>()?;
                let what = match self.ran(at, &args, body, &read) {
                    Some(of) => What::State { of, result: *result },
                    None => What::Loop { args, body: body.clone(), result: *result },
                };
                self.push(at, read, what);
            }
            Node::Gather(kinds::Gather { args, read: own, along, origin }) => {
                let places = needs.iter().map(|n| value(self, n)).collect::<Result<_>>()?;
                let load = self.load(args[0], &own.after(&read, &self.extents))?;
                self.push(
                    at,
                    read,
                    What::Gather { load, along: along.clone(), places, origin: *origin },
                );
            }
            Node::Cat(kinds::Cat { args, .. }) => {
                let parts: Vec<_> =
                    (0..args.len()).filter_map(|k| self.part_of(at, k, &read)).collect();
                let Some(last) = needs.last() else {
                    // Outside of every part: a test of whoever reads it says what stands there.
                    self.push(at, read, What::Const(0.0));
                    return Ok(());
                };
                let mut whole = value(self, last)?;
                for (need, tests) in needs.iter().zip(parts).rev().skip(1) {
                    let yes = value(self, need)?;
                    let tests = self.guard(&tests);
                    whole = self.step(at, &read, What::Part { tests, yes, no: whole });
                }
                self.values.insert((at, read), whole);
            }
            node => {
                let args = needs.iter().map(|n| value(self, n)).collect::<Result<Vec<_>>>()?;
                let step = node.facts().step(&args);
                let step = step.ok_or_else(|| bug!("{} has no body", label(self.dag, at)))?;
                self.push(at, read, step);
            }
        }
        Ok(())
    }

    /// The step that runs the same recorded loop on the same values and counts in the same places:
    /// this state of it is there. Equal loops of other places in the text are for `cse` to find. It
    /// fails as the first of its states does.
    fn ran(
        &mut self,
        at: NodeId,
        args: &[ValueId],
        body: &Arc<Rounds>,
        read: &Read,
    ) -> Option<ValueId> {
        let guard = (!read.tests.is_empty()).then(|| self.guard(&read.tests.clone()));
        let steps = if self.after { &mut self.launch.after } else { &mut self.launch.body };
        let same = |s: &Step| {
            let What::Loop { args: known, body: rounds, .. } = &s.what else { return false };
            known.as_slice() == args && Arc::ptr_eq(rounds, body) && s.from.guard == guard
        };
        let of = steps.iter().position(same)?;
        let site = self.dag.info(at).site;
        if site < steps[of].from.site {
            (steps[of].from.site, steps[of].from.node) = (site, at);
        }
        Some(of as ValueId)
    }

    /// The forms of the nodes in the current list of steps, but of those that have one. A node that
    /// is computed at several places is told of at its own, else at the first.
    fn tell_forms(&self, buffers: &[Buffer], forms: &mut BTreeMap<NodeId, String>) {
        let here = if self.after { &self.group.after } else { &self.group.body };
        let steps = if self.after { &self.launch.after } else { &self.launch.body };
        let keep = self.keep;
        let mut own: Vec<(NodeId, bool, ValueId)> = self
            .values
            .iter()
            .map(|((at, read), value)| (*at, !read.is_identity(), *value))
            .filter(|(at, ..)| !forms.contains_key(at))
            .filter(|(at, elsewhere, _)| !keep.contains_key(at) || here.contains(at) && !elsewhere)
            .collect();
        own.sort();
        own.dedup_by_key(|(at, ..)| *at);
        let stored = own.iter().filter(|(at, ..)| keep.contains_key(at));
        let stored = stored.map(|(at, _, value)| (*value, *at)).collect();
        let (dag, launch) = (self.dag, &*self.launch);
        let made = Forms::of(Formulas { dag, launch, steps, buffers, stored });
        for (at, _, value) in own {
            let mut text = made.text(value);
            if keep.contains_key(&at) {
                text += &format!(" → {}", made.compute(value, dag.shape(at)).name());
            }
            forms.insert(at, text);
        }
    }

    fn guard(&mut self, tests: &Vec<aplomb_values::dag::Test>) -> u32 {
        let known = self.launch.guards.iter().position(|g| g == tests);
        known.unwrap_or_else(|| {
            self.launch.guards.push(tests.clone());
            self.launch.guards.len() - 1
        }) as u32
    }

    fn push(&mut self, at: NodeId, read: Rc<Read>, what: What) {
        let value = self.step(at, &read, what);
        self.values.insert((at, read), value);
    }

    fn step(&mut self, at: NodeId, read: &Read, what: What) -> ValueId {
        let guard = match &what {
            What::Op { .. } | What::Gather { .. } | What::Loop { .. } if !read.tests.is_empty() => {
                Some(self.guard(&read.tests.clone()))
            }
            _ => None,
        };
        let info = self.dag.info(at);
        let step = Step::new(what, info.meta.dtype, Origin { node: at, site: info.site, guard });
        let steps = if self.after { &mut self.launch.after } else { &mut self.launch.body };
        steps.push(step);
        steps.len() as u32 - 1
    }
}

/// The reason for which a launch is not one with another before it. None: the rule's.
fn apart(
    schedule: &Schedule,
    homes: &Map<NodeId, usize>,
    (k, before): (usize, usize),
    illegal: Option<&Illegal>,
) -> Option<Apart> {
    let needs = || {
        let reads = schedule.facts.reads[k].iter();
        let made = reads.filter_map(|(at, _)| Some((*homes.get(at)?, *at)));
        let (_, at) = made.filter(|(home, _)| *home < k).max()?;
        Some(Apart::Needs(at))
    };
    // A function of whole arrays goes over no domain of its own.
    let whole = [k, before].iter().any(|g| schedule.groups[*g].kind == Kind::Whole);
    match illegal? {
        Illegal::Domain if whole && let Some(needs) = needs() => Some(needs),
        Illegal::Domain => Some(Apart::Domain(before)),
        Illegal::Place => needs(),
        _ => None,
    }
}

/// A decision for each root, each reduction and each launch boundary.
fn explain(work: &mut Work, schedule: &Schedule) -> Result<()> {
    for (at, why) in &schedule.keep {
        let (n, size) = (work.dag.elements(*at), work.dag.dtype(*at).size() as u64);
        let mut store = cost::Cost::store(n, 0, size);
        let asked = work.roots.len() - work.recorded.kept_ns.len();
        let again = work
            .roots
            .iter()
            .rposition(|r| r == at)
            .and_then(|k| k.checked_sub(asked).map(|k| work.recorded.kept_ns[k]));
        // One that somebody asked for, too, is theirs.
        let first = work.roots.iter().position(|r| r == at);
        let is_checked = first.is_some_and(|k| (asked - work.recorded.checked..asked).contains(&k));
        let inline = |cost| Choice { name: "inline", cost };
        let nothing = inline(cost::Cost::default());
        let mut says = Says::Kept(why.clone());
        let (reason, row, over, because) = match why {
            Why::Root if let Some(ns) = again => {
                says = Says::AskedAgain;
                let once_more = cost::Cost { ns, ..cost::Cost::default() };
                let why = "what is asked for twice is stored where that takes less than its work";
                ("keep", "own:keep", inline(once_more), WhyNot::Rule(why))
            }
            Why::Root if is_checked => {
                says = Says::Checked;
                let because = "what comes after it must not be seen if it fails";
                ("checked", "own:may-fail", nothing, WhyNot::Illegal(because))
            }
            Why::Root => {
                ("root", "own:root", nothing, WhyNot::Illegal("nothing else holds its value"))
            }
            Why::Consumer if let Node::Reduce(kinds::Reduce { src, .. }) = work.dag.node(*at) => {
                let (points, step) = (work.dag.elements(*src), work.dag.node(*at).cost());
                // Both fold all; what differs is whether each step waits for the one before.
                store = cost::Cost::compute(points, step.ns, 1, 1, size);
                let in_order = cost::Cost::compute(points, step.ns * 8.0, 1, 1, size);
                let over = Choice { name: "ordered", cost: in_order };
                let because = WhyNot::Rule("each step would wait for the one before");
                ("consumer", "ACL-07", over, because)
            }
            Why::Consumer => {
                let points = aplomb_plans::plan::product(work.dag.domain(*at));
                let because = WhyNot::Illegal("each of its readers would run all of it again");
                ("consumer", "ACC-05", inline(cost::Cost::store(points, 0, size)), because)
            }
            Why::Anywhere => (
                "random-access",
                "ACL-27",
                nothing,
                WhyNot::Illegal("its elements are wanted in an order that is known when it runs"),
            ),
            Why::NotYet(pass) => ("switched-off", "own:launch", nothing, WhyNot::SwitchedOff(pass)),
            Why::Random
            | Why::Work { .. }
            | Why::Shared { .. }
            | Why::MayFail
            | Why::Places(_)
            | Why::Steps(_)
            | Why::Limit { .. }
            | Why::Outside { .. }
            | Why::Flipped => continue,
        };
        let switch = match why {
            Why::NotYet(pass) => pass,
            Why::Root if again.is_some() => "keep",
            _ => "",
        };
        let about = About { at: *at, what: "keep", reason, row, switch };
        let write = Choice { name: "write", cost: store };
        work.decide(Decision::forced(about, write, over, because, says));
    }
    let homes = schedule.homes();
    for (k, group) in schedule.groups.iter().enumerate().skip(1) {
        let nodes = group.nodes();
        // The latest that it could be one with, or that before it.
        let alike = schedule.groups[..k].iter().rposition(|g| g.stage == group.stage);
        let at = match alike {
            Some(at) => at,
            None => k - 1,
        };
        let before = &schedule.groups[at];
        let beside = legal::beside(before, group);
        let apart = apart(schedule, &homes, (k, at), beside.as_ref().err());
        let loss = match beside {
            Ok(()) => together::loss(&work.dag, &schedule.keep, &[before, group])?,
            Err(_) => None,
        };
        let because = match beside {
            Err(illegal) => WhyNot::Illegal(illegal.says()),
            Ok(()) if !work.policies.asks(Policy::Domains) => WhyNot::SwitchedOff("horizontal"),
            Ok(()) => {
                WhyNot::Rule(loss.as_ref().map_or("the two share no buffer", together::Loss::rule))
            }
        };
        let loss = loss.map(|loss| Apart::Loss(at, loss));
        let says = Says::Boundary(match apart.or(loss) {
            Some(why) => why,
            None => Apart::Rule,
        });
        let about = About {
            at: nodes[0],
            what: "launch",
            reason: "boundary",
            row: "own:launch",
            switch: "",
        };
        let own = cost::Cost { ns: cost::LAUNCH_NS, ..Default::default() };
        let (a, b) = (
            Choice { name: "launch", cost: own },
            Choice { name: "join", cost: cost::Cost::default() },
        );
        work.decide(Decision::forced(about, a, b, because, says));
    }
    Ok(())
}

//! The sentences of decisions, made once, from the final plan.
//!
//! Passes keep sites, options and numbers (`Decision`, `Says`); here alone are their words. In: a
//! decision that the final plan bears out. Out: the text that `]why` prints. Launches and buffers
//! are those of the final plan. Bytes are an array's own, or what a launch's text is counted to
//! move: what the other way would move is the difference of two whole plans, which `pass/price.rs`
//! makes and the views tell. What a step takes by itself is called so.

use super::decide::{Choice, Decision, WhyNot, glyph, label};
use super::hash::Map;
use super::schedule::flips::Way;
use super::schedule::together::Loss;
use super::schedule::{Schedule, Why};
use super::work::Work;
use super::{place, strict};
use aplomb_ground::error::{Result, bug, bytes, count, time};
use aplomb_plans::plan::{Plan, product};
use aplomb_values::array::format::short;
use aplomb_values::dag::{Dag, Node, NodeId, ix, kinds};

/// The numbers and nodes that a decision speaks of, beside its site, its choices and their costs.
#[derive(Clone, Debug)]
pub enum Says {
    /// cse: this node was the same.
    WrittenAgain(NodeId),
    /// bind: so many uses have one let.
    BoundOnce(u64),
    /// shape-uses.
    ShapeOnly,
    /// float-lets: out of this node.
    LetOutOf(NodeId),
    /// hoist: it does not depend on the elements of this node.
    Hoisted(NodeId),
    /// hoist: windows that overlap share folds of their parts; steps of the whole folds, and of
    /// those in parts.
    InParts { steps: [u64; 2] },
    /// break-random: this node reads it at random.
    ReadAtRandom(NodeId),
    /// push-down: a transform is a read.
    PartOfReads,
    /// push-down: a transform that grows, over so many reads and operations an element.
    Grows { reads: u64, flops: u64 },
    /// A node without a buffer, computed so often in so many places.
    Inlined { places: usize, runs: u64 },
    /// A node with one.
    Kept(Why),
    /// A root that was computed before and not kept.
    AskedAgain,
    /// A root that nobody asked for: it was written before, and may fail.
    Checked,
    /// horizontal: one launch instead of so many.
    OneDomain { parts: usize },
    /// settle: a value that was asked for, computed again where others read it.
    NotWaitedFor,
    /// embed-consumers: a step behind its fold.
    Epilogue,
    /// embed-consumers: a fold in the launch that writes what it reads.
    SamePass,
    /// A launch is not one with another.
    Boundary(Apart),
    /// place: how the reads of an array meet its elements again.
    Met(Met),
    /// tile: the box, its copies' bytes, what it moves, and all that were tried.
    Boxes {
        block: Vec<usize>,
        boxes: u64,
        /// The arrays that a box copies.
        served: Vec<NodeId>,
        /// Bytes that are copied.
        moved: u64,
        tried: Vec<(Vec<usize>, u64)>,
    },
    /// pad: conflicts of each pad from 0.
    Padded { pad: usize, sums: Vec<usize> },
    /// split: a node that is written for want of something.
    Finished,
    /// split: a launch that others are left out of.
    LeavesOut,
    /// settle: by whole plans; microseconds on a GPU with the choice and without.
    Settled { way: Way, gpu_us: [f64; 2] },
    /// settle: the order of axes of what a launch writes.
    LaidOut(Vec<usize>),
}

/// The reason for which a launch is not one with another before it.
#[derive(Clone, Debug)]
pub enum Apart {
    /// This node is needed, which an earlier launch writes.
    Needs(NodeId),
    /// This launch has another domain.
    Domain(usize),
    /// As one with this launch it would lose something.
    Loss(usize, Loss),
    /// By the rule that the decision names.
    Rule,
}

/// The manner in which the reads of an array meet its elements again, in numbers.
#[derive(Clone, Debug)]
pub enum Met {
    /// Places that overlap: the extents of a block, and what it loads of the array: each read for
    /// itself, by the rule of 2010, with a halo; uses of an element.
    Overlap { refs: usize, halo: Vec<i64>, block: Vec<i64>, loads: [u64; 3], uses: f64 },
    /// Places too far apart for a block, which holds those of at most so much.
    Apart { refs: usize, halo: Vec<i64>, most: Vec<i64> },
    /// Across rows.
    Across,
    /// Along rows, a row a thread.
    Apiece,
    /// Along so many of the loops again: how often each element, if equally; else on average.
    Reuse { along: Vec<usize>, loops: usize, times: Option<u64>, uses: f64, once: u64, all: u64 },
}

/// The number of times that the steps of each node run, each at every point of its loop.
fn runs(plan: &Plan) -> Map<NodeId, u64> {
    let mut often: Map<NodeId, u64> = Map::default();
    for l in &plan.launches {
        for (steps, extents) in [(&l.body, &l.domain[..]), (&l.after, &l.outer()[..])] {
            for s in steps.iter().filter(|s| s.what.operation().is_some()) {
                let runs = often.entry(s.from.node).or_default();
                *runs = runs.saturating_add(product(extents));
            }
        }
    }
    often
}

/// The final plan.
pub struct Final<'a> {
    work: &'a Work<'a>,
    schedule: &'a Schedule,
    plan: &'a Plan,
    /// The launch of each node.
    homes: Map<NodeId, usize>,
    /// The number of times that the steps of each node run.
    runs: Map<NodeId, u64>,
}

impl<'a> Final<'a> {
    pub fn new(work: &'a Work<'a>, schedule: &'a Schedule, plan: &'a Plan) -> Final<'a> {
        Final { work, schedule, plan, homes: schedule.homes(), runs: runs(plan) }
    }

    /// True of a decision whose launches are those of the plan.
    pub fn bears(&self, d: &Decision) -> bool {
        let home = self.homes.get(&d.at());
        match d.says() {
            Says::Boundary(_) | Says::LeavesOut => home.is_some(),
            Says::LaidOut(_) => {
                home.is_some() && d.with().iter().all(|at| self.homes.get(at) == home)
            }
            _ => true,
        }
    }

    /// A decision on where an array is read from, as the text of its launch has it.
    pub fn placed(&self, d: Decision) -> Decision {
        match (d.says(), self.launch(&d)) {
            (Says::Met(Met::Reuse { .. }), Some(k)) => place::of_text(self.plan, k, d),
            _ => d,
        }
    }

    /// The launch of the nodes that a decision is about.
    fn launch(&self, d: &Decision) -> Option<usize> {
        d.with().first().and_then(|at| self.homes.get(at)).copied()
    }

    /// Bytes that a block's copies take, with what pads them.
    fn in_shared(&self, d: &Decision) -> u64 {
        let tiling = self.launch(d).and_then(|k| self.plan.launches.get(k)?.tiling.as_ref());
        tiling.map_or(0, |tiling| tiling.bytes() as u64)
    }

    /// The sentence of a decision. Errors: a bug.
    pub fn text(&self, d: &Decision) -> Result<String> {
        let dag = &self.work.dag;
        let (at, name) = (d.at(), label(dag, d.at()));
        let (n, size) = (dag.elements(at), dag.dtype(at).size() as u64);
        let (chosen, over) = (d.chosen().cost, d.rejected()[0].0.cost);
        Ok(match d.says() {
            Says::WrittenAgain(other) => format!(
                "{name} was written again as n{}: one node now; the source did not name it",
                other.index()
            ),
            Says::BoundOnce(uses) => format!(
                "{name} is used {uses} times where it was recorded and bound once; without its let \
                 each use would evaluate it"
            ),
            Says::ShapeOnly => {
                format!("{name} is asked for its shape, which is known without its values")
            }
            Says::LetOutOf(body) => format!(
                "the let of {name} moves out of {}, whose reader then takes it as it is computed",
                label(dag, *body)
            ),
            Says::Hoisted(user) => format!(
                "{name} does not depend on the element of {}: it is {} once, not {} times",
                label(dag, *user),
                if dag.node(at).consumes().is_some() { "folded" } else { "computed" },
                dag.elements(*user)
            ),
            Says::InParts { steps: [whole, parts] } => format!(
                "{name} folds parts that windows have in common, each once: {parts} elements are \
                 folded in all, not {whole}"
            ),
            Says::ReadAtRandom(by) => {
                let how = match dag.node(*by).consumes() {
                    Some((_, axis)) => format!("along axis {}", axis + 1),
                    None => "at random".into(),
                };
                let (by, much) = (glyph(dag, *by), bytes(n * size));
                format!("{name} is written before {by} reads it {how}: {much}")
            }
            Says::PartOfReads => {
                let read = dag.node(at).read().ok_or_else(|| bug!("{name} has no read"))?;
                let read = read.text(dag.shape(at).len());
                format!("{name} becomes part of the reads below it, {read}")
            }
            Says::Grows { reads, flops } => self.grows(d, *reads, *flops),
            Says::Inlined { places, runs } => {
                inlined(dag, d, *places, self.runs(at).map_or(*runs, |counted| counted))
            }
            Says::Kept(why) => self.kept(d, why),
            Says::AskedAgain => format!(
                "{name} was computed before on the way to another value and is asked for again, so \
                 it is written now: {}; computing it once more takes about {}",
                bytes(n * size),
                time(over.ns / 1e3)
            ),
            Says::Checked => format!(
                "{name} was written before this and may fail, so it is computed here, though \
                 nobody has asked for it: {}",
                bytes(n * size)
            ),
            Says::OneDomain { parts } => {
                let names = names(dag, d.with());
                format!("{names} run over one domain: one launch instead of {parts}")
            }
            Says::NotWaitedFor => format!(
                "{name} is a value that was asked for, so it is written; what else reads it \
                 computes it again, {}, instead of waiting for it in a launch of its own",
                time(chosen.ns / 1e3)
            ),
            Says::Epilogue => {
                let home = self.homes.get(&at);
                let ends = |n: &NodeId| *n != at && dag.node(*n).consumes().is_some();
                let first = dag.ids().find(|n| self.homes.get(n) == home && ends(n));
                match first {
                    Some(first) => format!(
                        "{name} follows {} in the same launch, as an epilogue",
                        label(dag, first)
                    ),
                    None => format!("{name} ends the launch of what it reads, as an epilogue"),
                }
            }
            Says::SamePass => {
                let (of, _) =
                    dag.node(at).consumes().ok_or_else(|| bug!("{name} consumes nothing"))?;
                format!("{name} runs in the pass that writes {}", label(dag, *of))
            }
            Says::Boundary(why) => self.boundary(d, why)?,
            Says::Met(met) => format!("{name} is read {}", self.met(d, met)),
            Says::Boxes { block, boxes, served, moved, tried } => {
                let tried: Vec<String> =
                    tried.iter().map(|(b, n)| format!("{} {}", by(b), bytes(*n))).collect();
                let copied = names(dag, served);
                format!(
                    "the launch is cut into boxes of {} points, {boxes} in all: a box copies \
                     {copied} into {} of shared memory, which moves {}; tried {}",
                    by(block),
                    bytes(self.in_shared(d)),
                    bytes(*moved),
                    tried.join(", ")
                )
            }
            Says::Padded { pad, sums } => {
                let rows = match pad {
                    0 => "are not padded".into(),
                    pad => format!("are longer by {pad}"),
                };
                let table: Vec<String> = sums.iter().map(usize::to_string).collect();
                let banks = sums.len();
                format!(
                    "rows of the copy of {name} {rows}: with 0 to {} more elements, {banks} banks \
                     have conflicts {}",
                    banks - 1,
                    table.join(" ")
                )
            }
            Says::Finished => format!(
                "{name} is finished first: with it the launch would {}",
                needs(&d.rejected()[0].1)
            ),
            Says::LeavesOut => format!(
                "k{} leaves others out with which it would {}",
                self.home(at)?,
                needs(&d.rejected()[0].1)
            ),
            Says::Settled { way, gpu_us } => {
                let says = match way {
                    Way::Store => "is stored",
                    Way::Inline => "is computed where it is read",
                    Way::Together => "is one launch with others",
                    Way::Apart => "is a launch of its own",
                    Way::Used => "is used where its shape is asked for",
                };
                let by = |device: &str, own: f64, other: f64| {
                    format!(
                        "for {device}the whole plan takes {} by the model then, and {} otherwise",
                        time(own),
                        time(other)
                    )
                };
                let why = match gpu_us {
                    _ if chosen.ns <= over.ns => by("", chosen.ns / 1e3, over.ns / 1e3),
                    [own, other] if own <= other => by("on a GPU ", *own, *other),
                    _ => "which paid until other choices followed it".into(),
                };
                format!("{name} {says}, {why}")
            }
            Says::LaidOut(order) => {
                let axes: Vec<String> = order.iter().map(|axis| (axis + 1).to_string()).collect();
                format!(
                    "k{} writes {} with the axes in the order {}, in which it is read: all \
                     launches take {} by the model, not {}",
                    self.home(at)?,
                    names(dag, d.with()),
                    axes.join(" "),
                    time(chosen.ns / 1e3),
                    time(over.ns / 1e3)
                )
            }
        })
    }

    /// The number of times that a node's steps run, each at every point of its loop. None: it has
    /// no step of its own.
    fn runs(&self, at: NodeId) -> Option<u64> {
        self.runs.get(&at).copied().filter(|runs| *runs > 0)
    }

    /// The launch that has a node. Errors: a bug.
    fn home(&self, at: NodeId) -> Result<usize> {
        let home = self.homes.get(&at).copied();
        home.ok_or_else(|| bug!("{} is in no launch", label(&self.work.dag, at)))
    }

    fn grows(&self, d: &Decision, reads: u64, flops: u64) -> String {
        let (dag, at) = (&self.work.dag, d.at());
        let few = dag.elements(dag.node(at).inputs()[0]);
        let many = dag.elements(at);
        let kept = d.chosen().name == "keep";
        let (chosen, over) = (d.chosen().cost, d.rejected()[0].0.cost);
        let (keep, push) = if kept { (chosen, over) } else { (over, chosen) };
        format!(
            "{} makes {many} elements of {few}: {}. Kept, that is {} reads, {} operations and a \
             pass that writes {many}; pushed, {} reads and {} operations: by themselves {} \
             against {}",
            label(dag, at),
            if kept { "what it reads is kept" } else { "it is pushed" },
            few.saturating_mul(reads),
            few.saturating_mul(flops),
            many.saturating_mul(reads),
            many.saturating_mul(flops),
            time(keep.ns / 1e3),
            time(push.ns / 1e3)
        )
    }

    /// The reason of a buffer.
    fn kept(&self, d: &Decision, why: &Why) -> String {
        let (dag, at) = (&self.work.dag, d.at());
        let (n, name) = (dag.elements(at), label(dag, at));
        let (chosen, over) = (d.chosen().cost, d.rejected()[0].0.cost);
        match why {
            Why::Work { points, .. } => format!(
                "{name} has {} and would be computed {points} times, by itself {} more; storing it \
                 takes {}",
                count(n as usize, "element"),
                time(over.ns / 1e3),
                time(chosen.ns / 1e3)
            ),
            Why::Shared { uses, .. } => format!(
                "{name} is used {uses} times, so it is stored, by itself {}; computing it at each \
                 use would take {} more",
                time(chosen.ns / 1e3),
                time(over.ns / 1e3)
            ),
            Why::Outside { fill, .. } => format!(
                "{name} is computed before what lies outside is put around it, {}",
                outside(dag, at, *fill)
            ),
            Why::MayFail => format!(
                "{name} can fail and no reader sees all of it, so all of it is computed first"
            ),
            Why::Places(k) => {
                format!(
                    "{name} would be computed in {}; its text would stand in each",
                    contexts(*k)
                )
            }
            Why::Steps(k) => format!(
                "finding a place of {name} takes {k} steps, for each of the elements that are read \
                 of it"
            ),
            Why::Root => format!(
                "{name} is a value that was asked for, so it is written: {}",
                bytes(n * dag.dtype(at).size() as u64)
            ),
            Why::Consumer if d.row() == "ACL-07" => format!(
                "{name} folds {} elements by a fixed tree in one launch, so its bits depend on the \
                 extent alone",
                product(dag.domain(at))
            ),
            Why::Consumer => {
                format!("{name} needs more of its argument than one place, so its result is stored")
            }
            Why::Random | Why::Anywhere => match taken_whole(dag, at) {
                Some(by) => format!(
                    "{} takes all of {name} at once, so it is written first",
                    label(dag, by)
                ),
                None => format!(
                    "{name} is read at places that only values tell, so all of it is written first"
                ),
            },
            Why::NotYet(pass) => format!("{name} is stored because {pass} is off"),
            Why::Limit { .. } | Why::Flipped => format!("{name} is stored: {}", why.code()),
        }
    }

    fn boundary(&self, d: &Decision, why: &Apart) -> Result<String> {
        let (dag, own) = (&self.work.dag, self.home(d.at())?);
        let extents = |k: usize| match &*self.schedule.groups[k].domain {
            [] => "a single place".to_string(),
            all => by(all),
        };
        let why = match why {
            Apart::Needs(at) => {
                let home = self.home(*at)?;
                format!("it needs {}, which is there when k{home} has ended", label(dag, *at))
            }
            Apart::Domain(k) => format!("it goes over {}, k{k} over {}", extents(own), extents(*k)),
            Apart::Loss(k, loss) => loss.says(*k),
            Apart::Rule => d.rejected()[0].1.says(),
        };
        let nodes = self.schedule.groups[own].nodes();
        let last = label(dag, nodes[nodes.len() - 1]);
        Ok(format!("k{own} {last} is a launch of its own: {why}"))
    }

    /// The words that follow "is read".
    fn met(&self, d: &Decision, met: &Met) -> String {
        let size = self.work.dag.dtype(d.at()).size() as u64;
        let list = |all: &[i64], between: &str| {
            all.iter().map(i64::to_string).collect::<Vec<_>>().join(between)
        };
        let (text, has_choice) = match met {
            Met::Overlap { refs, halo, block, loads: [direct, paper, near], uses } => {
                let points: i64 = block.iter().product();
                let shape = match block.len() {
                    0 | 1 => String::new(),
                    _ => format!(" ({})", list(block, "×")),
                };
                let text = format!(
                    "at {refs} places that overlap, overlap({refs} refs, halo {}): a block of \
                     {points}{shape} loads {direct} of it, {paper} through shared memory by the \
                     rule of 2010, {near} with a halo; factor {uses:.1}",
                    list(halo, " ")
                );
                (text, true)
            }
            Met::Apart { refs, halo, most } => {
                let text = format!(
                    "at {refs} places that are {} apart: within a block they would have to be at \
                     most {} apart, so each is read for itself",
                    list(halo, " "),
                    list(most, " ")
                );
                (text, false)
            }
            Met::Across => {
                let text = format!(
                    "across its rows: neighbouring threads would move a sector of {} bytes for \
                     each element of {size}, no coalescing",
                    super::place::SECTOR
                );
                (text, true)
            }
            Met::Apiece => (
                "along rows, a row a thread: in no order of the loops do neighbouring threads read \
                 neighbours, no coalescing"
                    .into(),
                true,
            ),
            Met::Reuse { along, loops, times, uses, once, all } => {
                let axes: Vec<String> = along.iter().map(|k| ix::axis_name(*k)).collect();
                let times = match times {
                    Some(times) => format!("each element {times} times"),
                    None => format!("each element {uses:.1} times on average"),
                };
                let text = format!(
                    "by a map of rank {} in {loops} loops: reuse of a higher order along {}, \
                     {times}; {} from memory once, {} in all",
                    loops - along.len(),
                    axes.join(" "),
                    bytes(once.saturating_mul(size)),
                    bytes(all.saturating_mul(size))
                );
                (text, false)
            }
        };
        let end = match &d.rejected()[0] {
            _ if d.chosen().name == "constant" => "; threads of a warp read one element".into(),
            _ if d.chosen().name == "register" => "; a thread loads it before its loop".into(),
            (Choice { name: "global", .. }, _) => "; a block keeps it in shared memory".into(),
            _ if !has_choice => String::new(),
            (_, WhyNot::Limit { need, have, .. }) => format!(
                "; with all that the launch would keep near the least box needs {} of shared \
                 memory, {} is the limit",
                bytes(*need),
                bytes(*have)
            ),
            (_, why) => format!("; {}", why.says()),
        };
        text + &end
    }
}

fn inlined(dag: &Dag, d: &Decision, places: usize, runs: u64) -> String {
    let (name, n) = (label(dag, d.at()), dag.elements(d.at()));
    let never = || format!("is never an array of {}", bytes(n * dag.dtype(d.at()).size() as u64));
    match d.reason() {
        "single-place" => format!("{name} is computed where it is read and {}", never()),
        "each-element-once" => format!(
            "{name} is computed in {} that share no element and {}",
            contexts(places),
            never()
        ),
        _ if runs <= n => {
            format!("{name} is computed where it is read, in {}", contexts(places))
        }
        _ => format!(
            "{name} is computed {runs} times for {}, in {}: by itself {}; storing it takes {}",
            count(n as usize, "element"),
            contexts(places),
            time(d.chosen().cost.ns / 1e3),
            time(d.rejected()[0].0.cost.ns / 1e3)
        ),
    }
}

/// The words for a launch that needs too much of a resource.
fn needs(why: &WhyNot) -> String {
    let WhyNot::Limit { name, need, have } = why else { return why.says() };
    let would = match *name {
        "code" => format!("have {need} steps"),
        "parameters" => format!("take {} of parameters", bytes(*need)),
        "registers" => format!("hold {need} registers"),
        _ => format!("read {need} arrays"),
    };
    format!("{would}, and {have} is the limit")
}

/// The words for the fills of the operands that would give this one, which the rules of 2006 miss.
fn outside(dag: &Dag, at: NodeId, fill: Option<f64>) -> String {
    let (Some(fill), Node::Map(kinds::Map { op, .. })) = (fill, dag.node(at)) else {
        return "for what two reads find outside is not what one would".into();
    };
    let exact = match strict::fills(*op, fill) {
        Some((a, b)) if a == b => format!("though {} on its operands would give it", short(a)),
        Some((a, b)) => {
            format!("though {} and {} on its operands would give it", short(a), short(b))
        }
        None => "and nothing on its operands would give it".into(),
    };
    format!("for {} is no identity of {}, {exact}", short(fill), op.glyph())
}

fn names(dag: &Dag, all: &[NodeId]) -> String {
    all.iter().map(|at| label(dag, *at)).collect::<Vec<_>>().join(" and ")
}

/// `16×64`.
fn by(extents: &[usize]) -> String {
    extents.iter().map(usize::to_string).collect::<Vec<_>>().join("×")
}

/// The number of loops that compute a node, in words.
fn contexts(n: usize) -> String {
    if n == 1 { "1 context".into() } else { format!("{n} contexts") }
}

/// The order or the search that takes a node's whole value. None: who reads it first looks places
/// up.
fn taken_whole(dag: &Dag, at: NodeId) -> Option<NodeId> {
    let holds = |by: &NodeId| {
        let node = dag.node(*by);
        node.inputs().iter().enumerate().any(|(k, of)| *of == at && node.reads_anywhere(k))
    };
    dag.ids().find(holds).filter(|by| dag.node(*by).kind() == "lib")
}

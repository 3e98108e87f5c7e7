//! The plan: what a device runs. One plan for all devices.
//!
//! In: scheduled nodes (pass `emit`). A launch is a loop nest over a domain with an optional
//! reduced axis. `body` runs at every point of the domain; `reductions` fold body values along the
//! axis, right-to-left in meaning, by the tree of `prim::reduce` where the operation is
//! associative; `after` runs at every point of the domain without the axis. Values are SSA: a
//! step's arguments are earlier steps of the same list. Everything is an f64 in a step, characters
//! are code points; a step whose dtype is f32 is rounded to f32.

pub mod adjacency;
mod blocks;
mod counted;
pub mod cpu;
pub mod effort;
pub mod layout;
mod math;
mod met;
mod passes;
pub mod product;
pub mod tiling;
mod traffic;
mod warps;

pub use blocks::Block;
pub use counted::Counted;
pub use math::{Math, Order};
pub use met::{Asking, met};
pub use passes::Pass;
pub use traffic::{Traffic, asking, product, uses};
pub use warps::Sectors;

use aplomb_ground::error::{Result, bug};
use aplomb_values::array::{DType, Shape};
use aplomb_values::body::{self, Rounds};
use aplomb_values::dag::{NodeId, Read, Test, Whole};

pub use aplomb_values::body::{ValueId, What};
use aplomb_values::prim::op::Op;
use smallvec::SmallVec;
use std::fmt;
use std::sync::OnceLock;
use tiling::Tiling;

/// A buffer's place in `Plan::buffers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufId(pub u32);

/// An array in memory while a plan runs.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// The extents of its axes.
    pub shape: Shape,
    /// The type that is stored. `checked`: an integer type that values may leave; then the launch
    /// is run again storing f64.
    pub dtype: DType,
    /// Whether values may leave `dtype`.
    pub checked: bool,
    /// The origin of its contents.
    pub from: From,
    /// The node whose value it holds.
    pub node: NodeId,
    /// The last launch that reads it; None: a root, or never read.
    pub last_use: Option<u32>,
}

impl Buffer {
    /// The size of its items; at most what a u64 holds.
    pub fn bytes(&self) -> u64 {
        self.shape.iter().fold(self.dtype.size() as u64, |n, &d| n.saturating_mul(d as u64))
    }
}

/// The origin of a buffer's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The k-th input of the evaluation.
    Input(u32),
    /// The k-th launch of the plan.
    Launch(u32),
}

/// The rule by which a fold whose operands repeat goes by tiles of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tiles {
    /// Only if that takes less by the model.
    #[default]
    ByModel,
    /// Whatever that is worth: the rule of 2008, which knows no caches.
    Always,
    /// Never.
    Never,
}

/// The kind of a launch: what it does with its body's values beside storing them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The values are stored as they are.
    #[default]
    Map,
    /// `reductions` fold the axis; `after` runs over the domain without it.
    Reduce,
    /// `reductions` are scans along the axis; `after` runs over the whole domain.
    Scan,
    /// The cells along the axis where a mask holds are stored.
    Compact,
    /// `finish` makes an array of others; `after` runs over that.
    Whole,
}

impl Kind {
    /// The name in traces.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Map => "map",
            Kind::Reduce => "reduce",
            Kind::Scan => "scan",
            Kind::Compact => "compact",
            Kind::Whole => "whole",
        }
    }

    /// Whether such a consumer has its launch for itself.
    pub fn is_alone(self) -> bool {
        matches!(self, Kind::Compact | Kind::Whole)
    }

    /// The name of the way in which a device goes about it.
    pub fn algorithm(self) -> &'static str {
        match self {
            Kind::Map => "map",
            Kind::Reduce => "tree",
            Kind::Scan => "blocks",
            Kind::Compact => "positions",
            Kind::Whole => "in-order",
        }
    }
}

/// A selection: `value` is stored by the launch's only `after_stores`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compaction {
    /// The load of the mask, one axis long.
    pub mask: u32,
    /// The body's value that is selected from.
    pub value: ValueId,
    /// The node that is the selection.
    pub node: NodeId,
}

/// The operation of a launch on whole arrays, once its body has run.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// The operation on whole arrays.
    pub what: Whole,
    /// Loads of the operands that are held.
    pub held: SmallVec<[u32; 2]>,
    /// Body values that are the others.
    pub fed: SmallVec<[ValueId; 2]>,
    /// The result's, in `after` the reduction 0.
    pub shape: Shape,
    /// The node that is the result.
    pub node: NodeId,
    /// The type in which it is computed.
    pub dtype: DType,
    /// Its place in the order of errors.
    pub site: u32,
}

/// One step of a launch.
pub type Step = body::Step<Origin>;

/// The origin of a launch's step, and the places where it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// The node that the step computes.
    pub node: NodeId,
    /// Orders value errors: the smallest failing site, then the smallest element, is the error.
    pub site: u32,
    /// The tests under which this step is wanted: where one of `Launch::guards[guard]` fails it
    /// gives anything and never fails (E3). Its loads carry the same tests, so nothing outside is
    /// loaded.
    pub guard: Option<u32>,
}

/// One round of a loop or fold as steps of a launch: they fail as the step or node that they belong
/// to.
pub fn round(rounds: &Rounds, from: &Origin) -> Vec<Step> {
    rounds.steps.iter().map(|s| Step::new(s.what.clone(), s.dtype, from.clone())).collect()
}

impl Finish {
    /// Of the steps in it.
    pub fn origin(&self) -> Origin {
        Origin { node: self.node, site: self.site, guard: None }
    }
}

/// A read of a buffer, at each point of a domain.
#[derive(Clone, Debug)]
pub struct Load {
    /// The buffer.
    pub buf: BufId,
    /// The map from the point to the element.
    pub read: Read,
}

/// A fold of a body's value along the launch's axis.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// The associative operation.
    pub op: Op,
    /// The body's value that is folded.
    pub value: ValueId,
    /// The node that is the fold.
    pub node: NodeId,
    /// The type in which it is computed.
    pub dtype: DType,
    /// Its place in the order of errors.
    pub site: u32,
}

/// A value written to a buffer, at the point's own place.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    /// The value.
    pub value: ValueId,
    /// The buffer.
    pub buf: BufId,
}

/// A loop nest: the unit of work of a device.
#[derive(Clone, Debug)]
pub struct Launch {
    /// One more than the latest stage that it waits for.
    pub stage: u32,
    /// The extents of the index space that it runs over.
    pub domain: Shape,
    /// The kind: what it does beside storing.
    pub kind: Kind,
    /// The axis that `reductions` or the selection run along; None for a map.
    pub axis: Option<usize>,
    /// The reads of body and `after`; a step names one by its place here.
    pub loads: Vec<Load>,
    /// Lists of tests over the axes of `body` (or of `after`, for its steps).
    pub guards: Vec<Vec<Test>>,
    /// The steps at each point of the domain, each made of earlier ones.
    pub body: Vec<Step>,
    /// Body values kept, over the domain.
    pub stores: Vec<Store>,
    /// The folds; `after` names one by its place here.
    pub reductions: Vec<Reduction>,
    /// The selection, where it is one.
    pub compaction: Option<Compaction>,
    /// The operation on whole arrays, where it is one.
    pub finish: Option<Finish>,
    /// Its loads are over `outer()`.
    pub after: Vec<Step>,
    /// Values of `after` that are kept, over `outer()`.
    pub after_stores: Vec<Store>,
    /// The copies that a block of threads keeps in its shared memory, each with the loads it
    /// serves.
    pub tiling: Option<Tiling<u32>>,
    /// The rule by which a fold whose operands repeat goes by tiles of them on a GPU.
    pub tiles: Tiles,
    /// Nodes computed here, in id order.
    pub nodes: Vec<NodeId>,
    /// The name, after what it computes.
    pub name: String,
}

impl Launch {
    /// The k-th array that an operation on whole arrays holds. Errors: INTERNAL, where it has none.
    pub fn held(&self, finish: &Finish, k: usize) -> Result<BufId> {
        let load = finish.held.get(k).and_then(|l| self.loads.get(*l as usize));
        load.map(|l| l.buf).ok_or_else(|| bug!("an operation on whole arrays without its operand"))
    }

    /// The shape that `after` runs over.
    pub fn outer(&self) -> Shape {
        if let Some(f) = &self.finish {
            return f.shape.clone();
        }
        let folded = self.axis.filter(|_| self.kind == Kind::Reduce);
        self.domain
            .iter()
            .enumerate()
            .filter(|(k, _)| Some(*k) != folded)
            .map(|(_, &n)| n)
            .collect()
    }

    /// Of all that may fail in it, in no order.
    pub fn sites(&self) -> impl Iterator<Item = u32> {
        let steps = self.body.iter().chain(&self.after).map(|s| s.from.site);
        steps
            .chain(self.reductions.iter().map(|r| r.site))
            .chain(self.finish.iter().map(|f| f.site))
    }

    /// The name of its shape in traces: `map`, `reduce`, or the operation on whole arrays.
    pub fn skeleton(&self) -> &'static str {
        self.finish.as_ref().map_or(self.kind.name(), |f| f.what.kind())
    }
}

/// A root of the evaluation: a buffer, whose contents are the value.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// All arrays: inputs, then what launches write.
    pub buffers: Vec<Buffer>,
    /// Each behind those whose buffers it reads.
    pub launches: Vec<Launch>,
    /// The buffers that are the values that were asked for.
    pub roots: Vec<BufId>,
    /// Of GPU texts.
    pub math: Math,
    /// In which order sums by places may be made.
    pub order: Order,
    /// Microseconds of each launch on the model of a GPU, from when somebody first asked: the plan
    /// of a line that runs again is not looked at again.
    pub gpu_us: Once,
    /// The same on the CPU: nanoseconds of one thread's computing and of its memory.
    pub cpu_ns: Once,
}

impl Plan {
    /// These launches of it, for these roots.
    pub fn part(&self, launches: Vec<Launch>, roots: Vec<BufId>) -> Plan {
        let (math, order) = (self.math, self.order);
        let (buffers, gpu_us, cpu_ns) = (self.buffers.clone(), Once::default(), Once::default());
        Plan { buffers, launches, roots, math, order, gpu_us, cpu_ns }
    }

    /// The buffer of that number, which is this plan's own.
    pub fn buffer(&self, id: BufId) -> &Buffer {
        &self.buffers[id.0 as usize]
    }
}

/// Figures of a plan that are made when somebody first asks. They follow from the plan, so they are
/// no part of what it is.
#[derive(Clone, Default)]
pub struct Once(OnceLock<Vec<f64>>);

impl Once {
    /// The figures; the first time they are made.
    pub fn or_make(&self, make: impl FnOnce() -> Vec<f64>) -> &[f64] {
        self.0.get_or_init(make)
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Once")
    }
}

/// A launch as text for people: its loop, one line a step.
pub fn listing(l: &Launch) -> String {
    let dims: Vec<String> = l.domain.iter().map(usize::to_string).collect();
    let mut out = format!("over [{}]", dims.join(" "));
    if let Some(axis) = l.axis {
        let does = match l.kind {
            Kind::Map | Kind::Reduce => "folding",
            Kind::Scan => "scanning",
            Kind::Compact => "selecting along",
            Kind::Whole => "then all along",
        };
        out += &format!(", {does} axis {}", axis + 1);
    }
    let line = |k: usize, s: &Step, prefix: char| {
        let arg = |a: &ValueId| format!("{prefix}{a}");
        let load = |k: u32| {
            let load = &l.loads[k as usize];
            format!("b{}[{}]", load.buf.0, load.read.text(l.domain.len()))
        };
        let what = s.what.text(&arg, &load);
        format!("\n  {prefix}{k} = {what}    n{}", s.from.node.index())
    };
    l.body.iter().enumerate().for_each(|(k, s)| out += &line(k, s, 'v'));
    l.stores.iter().for_each(|s| out += &format!("\n  b{} = v{}", s.buf.0, s.value));
    for (k, r) in l.reductions.iter().enumerate() {
        let (what, slash) = if l.kind == Kind::Scan { ("scan", '\\') } else { ("reduction", '/') };
        out += &format!(
            "\n  {what} {k} = {}{slash} v{}    n{}",
            r.op.glyph(),
            r.value,
            r.node.index()
        );
    }
    if let Some(c) = &l.compaction {
        let mask = l.loads[c.mask as usize].buf.0;
        out += &format!("\n  v{} where b{mask} holds    n{}", c.value, c.node.index());
    }
    if let Some(f) = &l.finish {
        let held = f.held.iter().map(|k| format!(" b{}", l.loads[*k as usize].buf.0));
        let fed = f.fed.iter().map(|v| format!(" v{v}"));
        let operands: String = held.chain(fed).collect();
        out += &format!("\n  reduction 0 = {} of{operands}    n{}", f.what.glyph(), f.node.index());
    }
    l.after.iter().enumerate().for_each(|(k, s)| out += &line(k, s, 'w'));
    l.after_stores.iter().for_each(|s| out += &format!("\n  b{} = w{}", s.buf.0, s.value));
    out
}

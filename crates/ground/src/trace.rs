//! The record of everything the compiler saw, decided and refused; every front end draws from it.
//!
//! Its schema is `aplomb-trace` 1.1 (`trace.schema.json`). A trace is of one statement: its
//! segments are the evaluations it forced, in order; node, decision, kernel and buffer ids count on
//! through the segments. Items of `kernels` are launches (the key is what users of the field know).
//! Fields are only ever added.

mod forms;
mod lines;
mod passes;
mod reads;
mod shift;

pub use crate::later::Later;
pub use forms::{FORMS, form_says};
pub use lines::LinesOfCode;
pub use reads::{AdjacencyRecord, BlockRecord, OrderRecord, ReadRecord, WriteRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the schema, the first field of every trace.
pub const SCHEMA: &str = "aplomb-trace";
/// The version of the schema.
pub const VERSION: &str = "1.1";

/// The record of one statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Always `SCHEMA`.
    pub schema: String,
    /// The version of the schema that the record follows.
    pub version: String,
    /// The version of Aplomb that wrote it.
    pub producer: String,
    /// Seconds since 1970; absent in canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<u64>,
    /// The pipeline under which the statement was compiled.
    pub config: Config,
    /// Texts that spans point into.
    pub sources: Vec<SourceText>,
    /// The statement's text.
    pub statement: String,
    /// Its place, [source, start, end] in code points; absent where it is no line of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<[u32; 3]>,
    /// Lines of code, the statement's and those of its launches' texts (BAR-22); absent where
    /// nothing was launched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loc: Option<LinesOfCode>,
    /// The statement's evaluations, in order.
    pub segments: Vec<Segment>,
    /// All nodes, those that rules replaced among them.
    pub nodes: Vec<NodeRecord>,
    /// The passes of all segments, in the order in which they ran.
    #[serde(with = "passes")]
    pub passes: Vec<PassRecord>,
    /// Choices, with what lost.
    pub decisions: Vec<DecisionRecord>,
    /// Launches, in the order in which they run.
    pub kernels: Vec<LaunchRecord>,
    /// Arrays in memory: inputs, temporaries, results.
    pub buffers: Vec<BufferRecord>,
    /// Warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of times that each rule fired.
    pub rules: BTreeMap<String, u32>,
    /// `front_ms`, `launch_ms`, of the run that is told; where several were compared, how many
    /// `runs`, whose least is told, and how far from it half of them are at most (`spread_ms`); on
    /// a GPU `nvrtc_ms`, how many kernels were `compiled` or found (`memory_hits`, `disk_hits`),
    /// and bytes moved (`up_bytes`, `down_bytes`; `kept_bytes` were there); `used_bytes`, of the
    /// session's arrays when the value was there, and `wall_ms`, from the statement's beginning to
    /// then. Empty in canonical form.
    pub times: BTreeMap<String, f64>,
    /// The value, told by its hash; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultRecord>,
}

/// The way in which a statement was compiled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The pipeline's name; `all` unless another was asked for.
    #[serde(default)]
    pub preset: String,
    /// The passes that ran.
    pub passes: Vec<String>,
    /// Names of passes and rules that were off.
    pub off: Vec<String>,
    /// The device model of the estimates, `sm_90`.
    pub arch: String,
}

impl Config {
    /// Whether it is that pipeline (empty: `all`) without these passes and nothing else: a program
    /// may switch by itself.
    pub fn is(&self, preset: &str, off: &[String]) -> bool {
        let same = |a: &[String], b: &[String]| a.iter().all(|name| b.contains(name));
        let preset = if preset.is_empty() { "all" } else { preset };
        self.preset == preset && same(&self.off, off) && same(off, &self.off)
    }
}

/// A text that spans point into.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceText {
    /// The first number of a span in it.
    pub id: u32,
    /// The name that messages use.
    pub name: String,
    /// All of it.
    pub text: String,
}

/// One evaluation of the statement: half-open id ranges into the lists below.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Its place among the segments.
    pub id: u32,
    /// The reason why values were needed: `display`, `guard` …
    pub why: String,
    /// Its nodes.
    pub nodes: [u32; 2],
    /// Its passes.
    pub passes: [u32; 2],
    /// Its decisions.
    pub decisions: [u32; 2],
    /// Its launches.
    pub kernels: [u32; 2],
    /// Its buffers.
    pub buffers: [u32; 2],
    /// Equal evaluations that it stands for beside itself: of one plan, at the same places.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub alike: u32,
}

impl Segment {
    /// The number of evaluations that it stands for.
    pub fn times(&self) -> u64 {
        1 + u64::from(self.alike)
    }
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// A node of the graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeRecord {
    /// Its place among the nodes.
    pub id: u32,
    /// Content hash: equal for equal nodes in any trace.
    pub h: String,
    /// input, const, iota, map, transform, reduce.
    pub kind: String,
    /// The glyph for people: `+`, `⌽`, a constant's text; empty for an input.
    pub op: String,
    /// Operands in order.
    #[serde(rename = "in")]
    pub inputs: Vec<u32>,
    /// `i32?` = i32 if every value fits.
    pub dtype: String,
    /// Extents of its axes; empty for a scalar.
    pub shape: Vec<usize>,
    /// Properties that only some kinds of nodes have.
    pub attr: Attr,
    /// [source, start, end] in code points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub span: Vec<[u32; 3]>,
    /// The name that its value has in the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Nodes this one replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<u32>,
    /// Index into `passes` of the pass that made it.
    pub born: u32,
    /// The number of uses after the last pass: operands that are it, of nodes alive, and once for
    /// each value that it is. 0: it is there no more.
    pub uses: u32,
}

/// Properties of a node that only some kinds have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Attr {
    /// none (null), wrap, clamp, default(fill): how a read leaves its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oob: Option<String>,
    /// A transform whose result has more elements than its source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grows: bool,
    /// A transform's map, `(i)→(4-i)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affine: Option<String>,
    /// The same the other way, from a place of the source to those of the result: `(i)→(4-i)`;
    /// absent where no axis by itself tells it (ACL-28).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inverse: Option<String>,
    /// Done, Yield, Step with its functions (ACC-13).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed: Option<String>,
    /// A reduction's axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<u32>,
}

/// The state after a pass. As JSON only what the pass changed is written (`passes`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassRecord {
    /// Its place among the passes of the trace.
    pub id: u32,
    /// The pass's name in the pipeline.
    pub name: String,
    /// Milliseconds that it took; 0 in canonical form.
    pub ms: f64,
    /// Whether nodes, kept nodes or launches differ from those before it.
    pub changed: bool,
    /// The nodes whose values were asked for.
    pub roots: Vec<u32>,
    /// Sharing made visible: [level, node]; level 0 is the outermost let.
    pub lets: Vec<[u32; 2]>,
    /// A textual view of the graph where the pass has one (prune, float, bind).
    pub view: Option<String>,
    /// Kept nodes after this pass.
    pub breaks: Vec<BreakRecord>,
    /// Launches after this pass: for each, the nodes it computes.
    pub launches: Vec<Vec<u32>>,
    /// Live nodes, bytes that the launches move (as `Estimate`'s `r` and `w`), flops, after this
    /// pass.
    pub live: u32,
    /// Bytes that the launches move.
    pub bytes: u64,
    /// Floating-point operations of all launches.
    pub flops: u64,
    /// Rules that fired, in order.
    pub events: Vec<Event>,
}

/// A kept node: a break between it and its users, or a root.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BreakRecord {
    /// The kept node.
    pub node: u32,
    /// root, consumer, work, may-fail, off:fuse-producers; of a pass in between
    /// before:fuse-producers, which is to come …
    pub reason: String,
    /// The size of its buffer in bytes.
    pub bytes: u64,
    /// Launches that read it.
    pub readers: u32,
}

/// One firing of a rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// The rule's name.
    pub rule: String,
    /// The nodes that it looked at; the first is what it replaced.
    pub at: Vec<u32>,
    /// The node that took its place.
    pub into: Option<u32>,
    /// The reason for which the rule holds, in words.
    pub pre: String,
    /// The decision behind it, where there is one.
    pub dec: Option<u32>,
}

/// The cost of one way, as the model sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Floating-point operations.
    pub flops: u64,
    /// Bytes that are read and written.
    pub bytes: u64,
    /// Microseconds.
    pub us: f64,
}

/// One choice of the compiler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DecisionRecord {
    /// Its place among the decisions.
    pub id: u32,
    /// Index into `passes`.
    pub pass: u32,
    /// The node that it is about.
    pub node: u32,
    /// share, break, push, keep, inline, split, horizontal …
    pub what: String,
    /// The name of the way that was taken.
    pub chosen: String,
    /// The reason in a word, as in `limit:inputs(17>16)`.
    pub reason: String,
    /// The sentence: `]why` prints it with the difference of the plans below.
    pub text: String,
    /// The cost of the way that was taken, for what it is about alone.
    pub cost: Cost,
    /// The whole evaluation's plan with it; null where nobody asked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanCost>,
    /// The ways that lost.
    pub alt: Vec<Alternative>,
    /// A row id or `own:RULE` of GLOSSARY.md.
    pub seed: String,
    /// The switch that would change it.
    pub switch: String,
}

/// A way that lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Alternative {
    /// The name of the way.
    pub name: String,
    /// Its cost.
    pub cost: Cost,
    /// The reason in a word for which it lost.
    pub why_not: String,
    /// The plan that was made with it instead; null where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanCost>,
}

/// A whole plan in figures, by the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanCost {
    /// Its launches.
    pub launches: u32,
    /// Bytes that they move.
    pub bytes: u64,
    /// Floating-point operations.
    pub flops: u64,
    /// Microseconds on this CPU's model.
    pub us: f64,
    /// Microseconds on the model of a GPU, by the forms of its launches.
    #[serde(default)]
    pub gpu_us: f64,
}

/// A launch: the unit of work of a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// Its place among the launches.
    pub id: u32,
    /// Its number, and the source of what it writes: `k2 P+.×⍉C`.
    pub name: String,
    /// map, reduce.
    pub skeleton: String,
    /// The way in which a device goes about it: `map`, `tree`, `blocks`, `positions`, `in-order`.
    pub algo: String,
    /// Who takes its points on a GPU: `map`, `boxes`, `tiles`, `pairs`, `all`, `threads`, `warps`,
    /// `blocks`, `parts`, `strips`, `staged`, `scan`, `compact`, `thread-segments`,
    /// `warp-segments`, `merged-segments`, `whole` (ACC-27).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub form: String,
    /// The box of points that a block takes at a time; null where no box holds them, or values say
    /// where they read (BAS-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockRecord>,
    /// The boxes into which tests and wraps of its reads cut its points; 0: its CUDA text knows no
    /// such boxes, and tests each read (ACC-25).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub regions: u32,
    /// The bounds of the largest of them, where the text tests and wraps nothing: from and to by
    /// axis.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<[i64; 2]>,
    /// Nodes computed here.
    pub body: Vec<u32>,
    /// Buffers read and written.
    #[serde(rename = "in")]
    pub inputs: Vec<u32>,
    /// Buffers that it writes.
    pub out: Vec<u32>,
    /// Extents of the index space that it runs over.
    pub domain: Vec<usize>,
    /// The axis that is folded or scanned.
    pub axis: Option<u32>,
    /// The order of launches: one more than the latest launch that it waits for.
    pub stage: u32,
    /// Its reads, one for each array and map.
    pub reads: Vec<ReadRecord>,
    /// The writes of a launch, one for each array (BAS-06).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<WriteRecord>,
    /// The orders of its loops by which threads beside each other meet elements beside each other,
    /// that of most bytes first (BAS-13). One whose `global` is empty: there is none, and what has
    /// no reuse is to be copied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<OrderRecord>,
    /// The loops of its CUDA text, the outermost first; empty where no axis tells them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<LoopRecord>,
    /// The sizes that its tiles could have, each with its figures and what became of it (BAS-23);
    /// empty where there is no such choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tuning: Vec<TuningRecord>,
    /// The grid that its CUDA text is for.
    pub launch: Grid,
    /// Its kernels in order: who takes the points. Empty where there is no CUDA text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spread: Vec<SpreadRecord>,
    /// Launches of equal evaluations that it stands for beside itself; estimates are of one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub alike: u32,
    /// Registers of a thread, as NVRTC tells; null where it was not asked.
    pub regs: Option<u32>,
    /// Bytes that a thread spills; null where NVRTC was not asked.
    pub spill: Option<u32>,
    /// The part of a multiprocessor's threads that fit at once; null where it is not known.
    pub occ: Option<f64>,
    /// The blocks that warps, blocks, registers and shared memory each leave room for at once: the
    /// least is how many there are. Absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<[u32; 4]>,
    /// The model's estimates.
    pub est: Estimate,
    /// Null when it was not run. Of equal evaluations, of all.
    pub meas: Option<Measured>,
    /// The CUDA text; null where there is none.
    pub cuda: Option<Cuda>,
    /// The steps that ran on the CPU, as text.
    pub cpu: Option<String>,
    /// The math of the CUDA text, where not with the CPU's bits: `fast`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub math: Option<String>,
    /// Greatest number of values alive at once in the body.
    pub live_max: u32,
    /// The device that ran it, where there was a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<Ran>,
}

impl LaunchRecord {
    /// The number of launches that it stands for.
    pub fn times(&self) -> u64 {
        1 + u64::from(self.alike)
    }
}

/// The device that ran a launch, and why that one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// cpu, cuda.
    pub device: String,
    /// A sentence.
    pub why: String,
    /// Blocks of the largest slice, slices, bytes of shared memory a block; 0 on the CPU.
    pub grid: u32,
    /// Parts into which the launch was cut.
    pub slices: u32,
    /// Bytes of shared memory that a block has.
    pub shared: u32,
    /// The call of a library that stood for the text; what the library takes is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
}

/// One loop of a launch's CUDA text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoopRecord {
    /// The axis of the launch's domain that it goes along, `i`.
    pub axis: String,
    /// The places that it goes over; of an inner loop those of a step of the outer one.
    pub extent: u64,
    /// The places that it takes at a time.
    pub step: u64,
    /// Who shares its steps out: `grid` (blocks), `block` (one after the other, through shared
    /// memory), `thread` (threads of a block, or a thread alone where it folds), `register`.
    pub level: String,
    /// `point`, or `fold`.
    pub role: String,
}

/// One size of a product's tiles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TuningRecord {
    /// Results along both axes, and places of the folded one that are in shared memory at once.
    pub tile: [u32; 3],
    /// A thread has so many results along each axis.
    pub own: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread, as NVRTC tells; null where it was not asked.
    pub regs: Option<u32>,
    /// Bytes of shared memory of a block.
    pub smem: u32,
    /// Items that all blocks load from memory.
    pub loads: u64,
    /// The part of a multiprocessor's threads that are there at once.
    pub occ: f64,
    /// Microseconds by the model.
    pub us: f64,
    /// Milliseconds of its fastest run on the device; null where `]tune` did not run it.
    #[serde(default)]
    pub ms: Option<f64>,
    /// `model`, `timed`, or the first rule that leaves it out: `pruned:divide`, `pruned:smem`,
    /// `pruned:traffic`, `pruned:regs`, `pruned:occupancy`.
    pub status: String,
    /// Whether the launch's text has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chosen: bool,
    /// The CUDA text of it, for who asks a compiler for registers; made when it is asked for.
    #[serde(skip)]
    pub text: Later,
    /// Registers by the model, for who asks the rules again.
    #[serde(skip)]
    pub guessed: u32,
}

fn is_none(n: &u64) -> bool {
    *n == 0
}

/// The grid of a CUDA text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// Blocks along each axis.
    pub grid: [u64; 3],
    /// Threads of a block along each axis.
    pub block: [u32; 3],
    /// Bytes of shared memory that a block takes.
    pub smem: u32,
}

/// The way in which one kernel of a launch shares its points out, and what its text could have
/// chosen instead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpreadRecord {
    /// Who takes a point: thread, warp, block, tile (a block, in the order of a ticket), run (a
    /// block so many in a row).
    pub by: String,
    /// Of a block.
    pub threads: u32,
    /// Points that a thread takes at a time.
    pub items: u32,
    /// Points that are shared out, in the unit of `by`.
    pub points: u64,
    /// Points that a block takes at a time.
    pub each: u64,
    /// ⌈points ÷ each⌉; where it is `bounded` no more than fill the device, which then take several
    /// times.
    pub blocks: u32,
    /// Whether the number of blocks is bounded by the device.
    pub bounded: bool,
    /// The values that `items` may have without another bit in a value; empty where the shape fixes
    /// it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<u32>,
    /// The values that `threads` may have; empty where the shape fixes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<u32>,
    /// Whether blocks stay and draw tiles (ACC-26); absent where they may not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistent: Option<bool>,
}

/// The model's figures of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Bytes from memory and to it: the distinct elements of each buffer once, of reads by values
    /// at most so many.
    pub r: u64,
    /// Bytes that it writes.
    pub w: u64,
    /// Bytes that all points load, each load for itself: what caches and shared memory serve is
    /// among them.
    #[serde(default)]
    pub loads: u64,
    /// Floating-point operations.
    pub flops: u64,
    /// On the device model of `config.arch`, and on this CPU's model.
    pub us: f64,
    /// Microseconds on this CPU's model.
    pub cpu_us: f64,
}

/// The time that a launch took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Microseconds in all.
    pub us: f64,
    /// The number of times that it ran: one more where an integer result did not fit its type.
    pub n: u32,
    /// The clock: `events` of the device, or `monotonic` of the host.
    pub clock: String,
    /// Threads of the CPU that took part.
    pub threads: u32,
    /// Bytes that it read from memory, where values say which and those were at hand to be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
}

/// The CUDA text of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cuda {
    /// The text, without the prelude.
    pub text: String,
    /// [line from 1, nodes on it].
    pub lines: Vec<(u32, Vec<u32>)>,
    /// The number parameters and what this launch passes for them.
    #[serde(default)]
    pub numbers: Vec<(String, f64)>,
}

/// An array in memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BufferRecord {
    /// Its place among the buffers.
    pub id: u32,
    /// The node whose value it holds.
    pub node: u32,
    /// Its size.
    pub bytes: u64,
    /// Its element type.
    pub dtype: String,
    /// Its extents.
    pub shape: Vec<usize>,
    /// input, temporary, result.
    pub role: String,
    /// Launch that writes it; null for an input.
    pub born: Option<u32>,
    /// Last launch that reads it; null when it outlives the evaluation.
    pub dead: Option<u32>,
    /// An input that an earlier evaluation of the statement made; absent where none did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// The copy to a GPU in the run that is told; absent where there was none (ACC-03).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub h2d: Option<SentRecord>,
}

/// An array's way from the host to a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SentRecord {
    /// The launch that waited for it.
    pub k: u32,
    /// Its size.
    pub bytes: u64,
    /// The time, in microseconds, by the host's clock.
    pub us: f64,
}

/// A warning, or a note on a line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// A name for programs, `W-no-cuda`.
    pub code: String,
    /// The place: source, first code point, the one behind the last.
    pub span: Option<[u32; 3]>,
    /// A sentence for people.
    pub text: String,
    /// The milliseconds of work outside of launches that it tells of; absent where it tells of
    /// none, and in canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
}

/// The value of a statement, without its items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResultRecord {
    /// A hash of dtype class, shape and values.
    pub sha: String,
    /// Its extents.
    pub shape: Vec<usize>,
    /// Its element type.
    pub dtype: String,
}

impl Trace {
    /// Of a statement for which nothing was compiled.
    pub fn of(statement: &str) -> Trace {
        Trace {
            schema: SCHEMA.into(),
            version: VERSION.into(),
            producer: env!("CARGO_PKG_VERSION").into(),
            config: Config { arch: "sm_90".into(), ..Config::default() },
            statement: statement.into(),
            ..Trace::default()
        }
    }

    /// Without times and measurements: byte-identical on every run.
    pub fn canonical(mut self) -> Trace {
        self.created = None;
        self.times.clear();
        self.passes.iter_mut().for_each(|p| p.ms = 0.0);
        self.diagnostics.iter_mut().for_each(|d| d.ms = None);
        for k in &mut self.kernels {
            (k.meas, k.ran, k.regs, k.spill) = (None, None, None, None);
            (k.occ, k.fit) = (None, None);
            for row in &mut k.tuning {
                if row.ms.take().is_some() {
                    row.status = "model".into();
                }
            }
        }
        // Whether an array is a statement's own is known by where it lies.
        self.buffers.iter_mut().for_each(|b| (b.h2d, b.own) = (None, false));
        self
    }

    /// Appends another evaluation of the same statement; its ids are shifted behind these.
    pub fn append(&mut self, mut other: Trace) {
        let (n, p, d) =
            (self.nodes.len() as u32, self.passes.len() as u32, self.decisions.len() as u32);
        let (k, b, s) =
            (self.kernels.len() as u32, self.buffers.len() as u32, self.segments.len() as u32);
        let mut sources = Vec::new();
        for source in &other.sources {
            let known = self
                .sources
                .iter()
                .position(|x| (&x.name, &x.text) == (&source.name, &source.text));
            sources.push(known.unwrap_or_else(|| {
                self.sources.push(SourceText { id: self.sources.len() as u32, ..source.clone() });
                self.sources.len() - 1
            }) as u32);
        }
        // Borrowed from the nodes as they are, before their own ids move.
        let own = std::mem::take(&mut other.nodes);
        let shift = shift::Shift::new(&own, shift::By { nodes: n, launches: k, buffers: b });
        shift.sentences(&mut other);
        let delayed: Vec<Option<String>> =
            own.iter().map(|x| x.attr.delayed.as_ref().map(|text| shift.text(text))).collect();
        other.nodes = own;
        other.nodes.iter_mut().zip(delayed).for_each(|(x, text)| x.attr.delayed = text);
        let up = |ids: &mut Vec<u32>, by: u32| ids.iter_mut().for_each(|id| *id += by);
        for x in &mut other.nodes {
            x.id += n;
            x.born += p;
            up(&mut x.inputs, n);
            up(&mut x.from, n);
            x.span.iter_mut().for_each(|span| span[0] = sources[span[0] as usize]);
        }
        for x in &mut other.passes {
            x.id += p;
            up(&mut x.roots, n);
            x.lets.iter_mut().for_each(|l| l[1] += n);
            x.breaks.iter_mut().for_each(|b| b.node += n);
            x.launches.iter_mut().for_each(|l| up(l, n));
            for e in &mut x.events {
                up(&mut e.at, n);
                e.into = e.into.map(|i| i + n);
                e.dec = e.dec.map(|i| i + d);
            }
        }
        for x in &mut other.decisions {
            (x.id, x.pass, x.node) = (x.id + d, x.pass + p, x.node + n);
        }
        for x in &mut other.kernels {
            x.id += k;
            up(&mut x.body, n);
            up(&mut x.inputs, b);
            up(&mut x.out, b);
            x.reads.iter_mut().for_each(|r| r.buf += b);
            x.writes.iter_mut().for_each(|w| w.buf += b);
            for order in &mut x.candidates {
                up(&mut order.global, b);
                up(&mut order.staged, b);
            }
            if let Some(cuda) = &mut x.cuda {
                cuda.lines.iter_mut().for_each(|(_, nodes)| up(nodes, n));
            }
        }
        for x in &mut other.buffers {
            (x.id, x.node) = (x.id + b, x.node + n);
            x.born = x.born.map(|i| i + k);
            x.h2d = x.h2d.map(|sent| SentRecord { k: sent.k + k, ..sent });
            x.dead = x.dead.map(|i| i + k);
        }
        for x in &mut other.segments {
            x.id += s;
            for (range, by) in [
                (&mut x.nodes, n),
                (&mut x.passes, p),
                (&mut x.decisions, d),
                (&mut x.kernels, k),
                (&mut x.buffers, b),
            ] {
                range.iter_mut().for_each(|i| *i += by);
            }
        }
        self.nodes.append(&mut other.nodes);
        self.passes.append(&mut other.passes);
        self.decisions.append(&mut other.decisions);
        self.kernels.append(&mut other.kernels);
        self.buffers.append(&mut other.buffers);
        self.segments.append(&mut other.segments);
        self.diagnostics.append(&mut other.diagnostics);
        for (rule, count) in other.rules {
            *self.rules.entry(rule).or_default() += count;
        }
        for (what, ms) in other.times {
            *self.times.entry(what).or_default() += ms;
        }
    }
}

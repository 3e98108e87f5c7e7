//! Kir: thread-level structured code for one launch, the form between plan and CUDA text.
//!
//! Rows: ACC-06, ACC-16, BAR-11. Start at `Kernel`, then `lower`. A statement carries the node it
//! computes, so a printed line knows its nodes. Always: a variable is declared once before it is
//! used (held by `check`); sizes, strides and constants are parameters, so the text does not depend
//! on them.

mod check;
mod choice;
mod compact;
mod fast;
mod figures;
mod fold;
mod form;
mod free;
mod helpers_c;
mod index;
mod invariant;
mod lower;
mod nest;
mod ops;
mod packed;
mod parts;
mod persistent;
mod places;
mod print;
mod product;
mod regions;
mod scan;
mod scatter;
mod serial;
mod serial_whole;
mod sizes;
mod sort;
mod space;
mod staged;
mod tidy;
mod tiled;
mod vector;
mod whole;
mod wide;

pub use choice::{Choices, Tuning};
pub use fast::{Fast, math};
pub use figures::{Figures, LAUNCH_US, figures, figures_in};
pub use form::Form;
pub use free::any_extents;
pub use nest::schedule;
pub use product::{copied, size, sized, tiles};
pub use regions::{Inside, inside};
pub use serial::in_order;
pub use sizes::{Copied, Row, Rule, Sized, TileSize, rows, settle};
pub use space::{Space, adjacent, conflicts, lanes, space};

use crate::plan::{BufId, Launch, Plan};
use aplomb_ground::error::{Result, internal};
use aplomb_ground::trace::Cuda;
use aplomb_values::array::DType;
use aplomb_values::dag::NodeId;
use std::sync::LazyLock;

/// The type of a variable or parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A `double`.
    F64,
    /// A `float`.
    F32,
    /// A signed integer of 64 bits.
    I64,
    /// An unsigned integer of 64 bits.
    U64,
    /// An unsigned integer of 32 bits.
    U32,
    /// A byte; booleans are bytes.
    U8,
    /// A signed integer of 8 bits.
    I8,
    /// A signed integer of 16 bits.
    I16,
    /// A signed integer of 32 bits, and a character's code point.
    I32,
}

impl Type {
    /// The name in CUDA, those of the prelude among them.
    pub fn cuda(self) -> &'static str {
        match self {
            Type::F64 => "double",
            Type::F32 => "float",
            Type::I64 => "i64",
            Type::U64 => "u64",
            Type::U32 => "u32",
            Type::U8 => "u8",
            Type::I8 => "i8",
            Type::I16 => "i16",
            Type::I32 => "i32",
        }
    }

    /// Bytes of an item.
    pub fn bytes(self) -> u32 {
        match self {
            Type::F64 | Type::I64 | Type::U64 => 8,
            Type::F32 | Type::U32 | Type::I32 => 4,
            Type::I16 => 2,
            Type::U8 | Type::I8 => 1,
        }
    }
}

/// A parameter: a buffer or a number. `value` is what this launch passes for a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The name in the text.
    pub name: String,
    /// The kind, and what is passed.
    pub what: ParamKind,
}

/// The kinds of parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    /// An array that is read: its item type, and the number of the buffer.
    In(Type, u32),
    /// An array that is written: its item type, and the number of the buffer.
    Out(Type, u32),
    /// Device memory of the launcher: `err` (the failure and the stores that did not fit), what
    /// `Kernel::scratch` knows, or what the launch's `scratch` names.
    Scratch(Type),
    /// A number: its type, and what this launch passes.
    Number(Type, f64),
    /// Known at launch: `lo` and `n`, the points of this slice; `first` and `parts`, its place
    /// among all blocks.
    Launch(Type),
}

/// Of every block, but of maps that a tuner set otherwise.
pub const THREADS: u32 = 256;

/// The way in which a launch's points are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// A thread a point, with the grid's stride.
    Threads,
    /// A warp a point.
    Warps,
    /// A block a point.
    Blocks,
    /// A block a tile, in the order of a ticket. Tiles are the points.
    Tiles,
    /// A block a run of so many consecutive points, and each block only one.
    Runs(u32),
}

/// An expression is C++ text over declared names: only `lower` and `ops` write it, `check` reads
/// its names.
pub type Expr = String;

/// The statements of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// A declaration with its value.
    Let {
        /// The variable.
        name: String,
        /// Its type.
        of: Type,
        /// Its value.
        is: Expr,
        /// The node that the value is of.
        node: Option<NodeId>,
    },
    /// A new value for a variable.
    Set {
        /// The variable.
        name: String,
        /// The value.
        is: Expr,
        /// The node that the value is of.
        node: Option<NodeId>,
    },
    /// An item stored in an array.
    Store {
        /// The array.
        to: String,
        /// The place in it.
        at: Expr,
        /// The value.
        is: Expr,
        /// The node that the value is of.
        node: Option<NodeId>,
    },
    /// A call for its effect, a barrier, a return.
    Do(Expr),
    /// An array that the threads of a block share.
    Shared {
        /// The array.
        name: String,
        /// Its item type.
        of: Type,
        /// The number of items.
        count: u32,
    },
    /// Vectors of four f32.
    SharedFours {
        /// The array.
        name: String,
        /// The number of vectors.
        count: u32,
    },
    /// A thread's own array, aligned for vectors of 16 bytes.
    Local {
        /// The array.
        name: String,
        /// Its item type.
        of: Type,
        /// The number of items.
        count: u32,
    },
    /// Statements under a condition.
    If(Expr, Vec<Stmt>),
    /// `for (u64 NAME = FROM; NAME < TO; NAME += STEP)`
    For {
        /// The counter.
        name: String,
        /// The first value.
        from: Expr,
        /// The bound, which is not reached.
        to: Expr,
        /// The step.
        step: Expr,
        /// The statements of a turn.
        body: Vec<Stmt>,
    },
    /// `for (u64 NAME = NEXT; NAME < TO; NAME = NEXT)`
    Each {
        /// The counter.
        name: String,
        /// The next value, also the first.
        next: Expr,
        /// The bound, which is not reached.
        to: Expr,
        /// The statements of a turn.
        body: Vec<Stmt>,
    },
    /// `for (u32 NAME = 0; NAME < COUNT; NAME++)`, of which the compiler writes so many out.
    Unrolled {
        /// The counter.
        name: String,
        /// The number of turns.
        count: u32,
        /// The number of turns that the compiler writes out.
        out: u32,
        /// The statements of a turn.
        body: Vec<Stmt>,
    },
    /// `for (u32 NAME = FROM; NAME > 0; NAME >>= 1)`
    Halve {
        /// The counter.
        name: String,
        /// The first value.
        from: u32,
        /// The statements of a turn.
        body: Vec<Stmt>,
    },
    /// `for (i64 NAME = FROM; NAME < TO; NAME += STEP)`, of programs in C.
    Span {
        /// The counter.
        name: String,
        /// The first value.
        from: Expr,
        /// The bound, which is not reached.
        to: Expr,
        /// The step.
        step: Expr,
        /// The statements of a turn.
        body: Vec<Stmt>,
    },
    /// The turns of the loops below, so many in each other, know nothing of each other: threads
    /// may share them out. Of programs in C.
    Parallel {
        /// The points that they compute in all.
        points: Expr,
        /// The number of loops.
        loops: u32,
    },
    /// The loop below stays a loop: unrolled it would take registers for nothing.
    Roll,
    /// A remark on its own line.
    Note(String),
}

/// One of a launch's kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The name, `k0`.
    pub name: String,
    /// The parameters, in the order in which they are passed.
    pub params: Vec<Param>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// Threads of a block.
    pub threads: u32,
    /// The way in which points are shared out.
    pub spread: Spread,
    /// Points that a thread takes at a time.
    pub items: u32,
    /// The settings that a tuner may choose instead.
    pub choices: Choices,
    /// All points, of which a slice takes `lo` to `lo + n`.
    pub points: u64,
    /// Partial results that each block or tile leaves to others.
    pub partials: u32,
    /// Scratch whose bytes are all set to that one before this kernel runs.
    pub clears: Vec<(String, u8)>,
}

/// Device memory that a launch's kernels share.
#[derive(Clone, Debug, PartialEq)]
pub struct Scratch {
    /// The name by which kernels ask for it.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// A launch as code: its kernels, in the order in which they run.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// The kernels, in the order in which they run.
    pub kernels: Vec<Kernel>,
    /// The memory that they share.
    pub scratch: Vec<Scratch>,
    /// The failing sites in evaluation order: the texts hold places in this list.
    pub sites: Vec<u32>,
    /// Results that some value may not fit: bit k of the second error word is the k-th store's.
    pub checked: Vec<BufId>,
    /// The parts that are computed otherwise than on the CPU (`--math fast`).
    pub fast: Fast,
    /// Sums are added as threads come (`--reduce any`).
    pub unordered: bool,
    /// The counts that its places have room for.
    pub bounds: Vec<Bound>,
}

/// A count of elements or places, and the number that it must stay below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The count, as it is in this launch.
    pub count: u64,
    /// The least one that is too large.
    pub below: u64,
}

impl Kernel {
    /// Points that a block takes at a time; a slice begins at a multiple of it.
    pub fn per_block(&self) -> u64 {
        match self.spread {
            Spread::Threads => u64::from(self.threads) * u64::from(self.items),
            Spread::Warps => u64::from(self.threads) / 32,
            Spread::Blocks | Spread::Tiles => 1,
            Spread::Runs(points) => u64::from(points),
        }
    }

    /// The blocks for so many points; `full` of them fill the device.
    pub fn blocks(&self, points: u64, full: u64) -> u32 {
        let all = points.div_ceil(self.per_block().max(1));
        let most = if matches!(self.spread, Spread::Runs(_)) { (1 << 31) - 1 } else { full };
        all.min(most) as u32
    }

    /// Bytes of a scratch buffer in a launch of so many blocks, and whether it begins as zeros.
    pub fn scratch(&self, name: &str, blocks: u64) -> (u64, bool) {
        let folds = u64::from(self.partials);
        match name {
            "part" => (8 * folds * blocks, false),
            "told" => (16 * folds * self.points, true),
            "partials" => (8 * folds * self.points, false),
            "strips" => (8 * folds * self.points * u64::from(THREADS), false),
            "tickets" => (4 * self.points, true),
            "status" => (8 * self.points, true),
            _ => (8, true),
        }
    }
}

/// The launch's kernels, checked. Errors: NONCE for an operation without CUDA text.
pub fn code(plan: &Plan, launch: &Launch, number: usize) -> Result<Code> {
    tuned(plan, launch, number, Tuning::default())
}

/// The same with a tuner's choices.
pub fn tuned(plan: &Plan, launch: &Launch, number: usize, tuning: Tuning) -> Result<Code> {
    let mut code = lower::lower(plan, launch, number, tuning)?;
    let several = code.kernels.len() > 1;
    let is_fast = code.fast.is_any();
    for kernel in &mut code.kernels {
        if is_fast {
            fast::mark(&mut kernel.body);
        }
        tidy::drop_unused(&mut kernel.body);
        tidy::drop_parameters(kernel, several);
        check::check(kernel).map_err(|e| internal(format!("the code of {}: {e}", kernel.name)))?;
    }
    Ok(code)
}

/// The CUDA of a launch with its line map; the prelude stands in front of `program`.
pub fn cuda(code: &Code) -> Cuda {
    print::print(&code.kernels)
}

/// A kernel's text as caches know it: named `k`, without the marks of nodes. Equal texts are equal
/// programs.
pub fn canonical(kernel: &Kernel) -> String {
    print::canonical(kernel)
}

/// Threads of a block of a canonical text. None: the text says none, so it is no canonical one.
pub fn threads(text: &str) -> Option<u32> {
    text.split(print::BOUNDS).nth(1)?.split(')').next()?.parse().ok()
}

/// A canonical text with a name.
pub fn named(text: &str, name: &str) -> String {
    text.replacen(print::NAME, &format!(" {name}("), 1)
}

/// The lines of a launch as a program in C (`in_order`), each with the node that it computes.
pub fn lines(kernel: &Kernel) -> Vec<(String, Option<u32>)> {
    print::lines(kernel)
}

/// The functions in C that a text calls, and those that these call.
pub fn c_helpers(text: &str) -> String {
    helpers_c::called_in(text)
}

/// The names of all functions in C that texts may call.
pub fn c_names() -> Vec<String> {
    helpers_c::names()
}

/// A whole program of canonical texts, named `k0`, `k1` and so on, and the line on which each
/// begins.
pub fn assemble(texts: &[&str]) -> (String, Vec<u32>) {
    let (mut out, mut lines) = (helpers(texts), Vec::new());
    for (k, text) in texts.iter().enumerate() {
        out.push('\n');
        lines.push(out.matches('\n').count() as u32 + 1);
        out += &named(text, &format!("k{k}"));
    }
    (out, lines)
}

/// A whole program NVRTC compiles: prelude and kernels.
pub fn program(kernels: &[Cuda]) -> String {
    let texts: Vec<&str> = kernels.iter().map(|c| c.text.as_str()).collect();
    format!("{}\n{}", helpers(&texts), texts.join("\n"))
}

/// The prelude, and what else the texts call.
pub fn helpers(texts: &[&str]) -> String {
    let wanted = LIBRARY.iter().filter(|(name, _)| texts.iter().any(|t| t.contains(name)));
    wanted.fold(PRELUDE.to_string(), |all, (_, text)| all + text)
}

/// Helpers of some shapes, by how their names begin.
const LIBRARY: &[(&str, &str)] = &[
    ("copy_async", include_str!("copies.cu")),
    ("radix_", include_str!("sort.cu")),
    ("tally_", include_str!("scatter.cu")),
    ("gamma_", include_str!("gamma.cu")),
    ("circle_", include_str!("circle.cu")),
    ("single_", include_str!("single.cu")),
    ("// Fast math.", include_str!("fast.cu")),
];

/// A canonical text that fails where a matrix that a library multiplies has items whose products
/// may overflow.
const RANGE: &str = include_str!("range.cu");

/// The same of f32, whose items go up to 2*51.
static RANGE_F32: LazyLock<String> = LazyLock::new(|| {
    let text = RANGE.replace("const double*", "const float*").replace("0x1p499", "0x1p51f");
    text.replace("2*499", "2*51")
});

/// The text that looks at operands of that type.
pub fn range(dtype: DType) -> &'static str {
    if dtype == DType::F32 { &RANGE_F32 } else { RANGE }
}

/// Items up to 2*499, or 2*51, and sums of so many products: none overflows.
pub const RANGE_DEEP: u64 = 1 << 24;

/// Helpers that every program starts with.
pub const PRELUDE: &str = concat!(include_str!("prelude.cu"), include_str!("tiles.cu"));

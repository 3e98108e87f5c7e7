//! Kir: thread-level structured code for one launch, the form between plan and CUDA text.
//!
//! Rows: ACC-06, ACC-16, BAR-11; CUDA §2. Start at `Kernel`, then `lower`. A statement carries the node it computes, so a
//! printed line knows its nodes. Always: a variable is declared once before it is used (held by `check`); sizes, strides
//! and constants are parameters, so the text does not depend on them.

mod check;
mod compact;
mod fold;
mod index;
mod lower;
mod ops;
mod packed;
mod parts;
mod places;
mod print;
mod scan;
mod tidy;
mod tiled;
mod vector;
mod whole;

use crate::dag::NodeId;
use crate::error::{Result, internal};
use crate::plan::{BufId, Launch, Plan};
use crate::trace::Cuda;

/// What a variable or parameter holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    F64,
    F32,
    I64,
    U64,
    U32,
    U8,
    I8,
    I16,
    I32,
}

impl Type {
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
}

/// A parameter: a buffer or a number. `value` is what this launch passes for a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: String,
    pub what: ParamKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    In(Type, u32),
    Out(Type, u32),
    /// Device memory of the launcher (`Kernel::scratch`), and `err`, the failure and the stores that did not fit.
    Scratch(Type),
    Number(Type, f64),
    /// Known at launch: `lo` and `n`, the points of this slice; `first` and `parts`, its place among all blocks.
    Launch(Type),
}

/// Of every block.
pub const THREADS: u32 = 256;

/// How a launch's points are shared out.
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
}

/// An expression is C++ text over declared names: only `lower` and `ops` write it, `check` reads its names.
pub type Expr = String;

#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// A declaration with its value.
    Let {
        name: String,
        of: Type,
        is: Expr,
        node: Option<NodeId>,
    },
    Set {
        name: String,
        is: Expr,
        node: Option<NodeId>,
    },
    Store {
        to: String,
        at: Expr,
        is: Expr,
        node: Option<NodeId>,
    },
    /// A call for its effect, a barrier, a return.
    Do(Expr),
    Shared {
        name: String,
        of: Type,
        count: u32,
    },
    /// A thread's own array, aligned for vectors of 16 bytes.
    Local {
        name: String,
        of: Type,
        count: u32,
    },
    If(Expr, Vec<Stmt>),
    /// `for (u64 NAME = FROM; NAME < TO; NAME += STEP)`
    For {
        name: String,
        from: Expr,
        to: Expr,
        step: Expr,
        body: Vec<Stmt>,
    },
    /// `for (u64 NAME = NEXT; NAME < TO; NAME = NEXT)`
    Each {
        name: String,
        next: Expr,
        to: Expr,
        body: Vec<Stmt>,
    },
    /// `for (u32 NAME = 0; NAME < COUNT; NAME++)`, of which the compiler writes so many out.
    Unrolled {
        name: String,
        count: u32,
        out: u32,
        body: Vec<Stmt>,
    },
    /// `for (u32 NAME = FROM; NAME > 0; NAME >>= 1)`
    Halve {
        name: String,
        from: u32,
        body: Vec<Stmt>,
    },
    /// The loop below stays a loop: unrolled it would take registers for nothing.
    Roll,
    /// A remark on its own line.
    Note(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    pub name: String,
    pub params: Vec<Param>,
    pub body: Vec<Stmt>,
    pub threads: u32,
    pub spread: Spread,
    /// Points that a thread takes at a time.
    pub items: u32,
    /// All points, of which a slice takes `lo` to `lo + n`.
    pub points: u64,
    /// Partial results that each block or tile leaves to others.
    pub partials: u32,
    /// The failing sites in evaluation order: the text holds places in this list.
    pub sites: Vec<u32>,
    /// Results that some value may not fit: bit k of the second error word is the k-th store's.
    pub checked: Vec<BufId>,
}

/// What a tuner may set of a text. Values do not depend on it, but for the order of sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Points that a thread takes at a time, a power of two up to 16. None: as `vector` says.
    pub items: Option<u32>,
}

impl Kernel {
    /// Points that a block takes at a time; a slice begins at a multiple of it.
    pub fn per_block(&self) -> u64 {
        match self.spread {
            Spread::Threads => u64::from(THREADS) * u64::from(self.items),
            Spread::Warps => u64::from(THREADS) / 32,
            Spread::Blocks | Spread::Tiles => 1,
        }
    }

    /// Bytes of a scratch buffer in a launch of so many blocks, and whether it begins as zeros.
    pub fn scratch(&self, name: &str, blocks: u64) -> (u64, bool) {
        let folds = u64::from(self.partials);
        match name {
            "part" => (8 * folds * blocks, false),
            "totals" | "prefixes" => (8 * folds * self.points, false),
            "flags" => (4 * folds * self.points, true),
            "partials" => (8 * folds * self.points, false),
            "strips" => (8 * folds * self.points * u64::from(THREADS), false),
            "tickets" => (4 * self.points, true),
            "status" => (8 * self.points, true),
            _ => (8, true),
        }
    }
}

/// The launch's kernel, checked. Errors: NONCE for an operation without CUDA text.
pub fn kernel(plan: &Plan, launch: &Launch, number: usize) -> Result<Kernel> {
    tuned(plan, launch, number, Tuning::default())
}

/// The same with a tuner's choices.
pub fn tuned(plan: &Plan, launch: &Launch, number: usize, tuning: Tuning) -> Result<Kernel> {
    let mut kernel = lower::lower(plan, launch, number, tuning)?;
    tidy::drop_unused(&mut kernel.body);
    tidy::drop_parameters(&mut kernel);
    check::check(&kernel).map_err(|e| internal(format!("the code of k{number}: {e}")))?;
    Ok(kernel)
}

/// The CUDA of every launch of a plan, each with its line map; the prelude stands in front of `program`.
pub fn cuda(plan: &Plan) -> Vec<Result<Cuda>> {
    let one = |(k, launch): (usize, &Launch)| kernel(plan, launch, k).map(|kernel| print::print(&kernel));
    plan.launches.iter().enumerate().map(one).collect()
}

/// A kernel's text as caches know it: named `k`, without the marks of nodes. Equal texts are equal programs.
pub fn canonical(kernel: &Kernel) -> String {
    print::canonical(kernel)
}

/// A whole program of canonical texts, named `k0`, `k1` and so on, and the line on which each begins.
pub fn assemble(texts: &[&str]) -> (String, Vec<u32>) {
    let (mut out, mut lines) = (PRELUDE.to_string(), Vec::new());
    for (k, text) in texts.iter().enumerate() {
        out.push('\n');
        lines.push(out.matches('\n').count() as u32 + 1);
        out += &text.replacen(print::NAME, &format!(" k{k}("), 1);
    }
    (out, lines)
}

/// A whole program NVRTC compiles: prelude and kernels.
pub fn program(kernels: &[Cuda]) -> String {
    let texts: Vec<&str> = kernels.iter().map(|c| c.text.as_str()).collect();
    format!("{}\n{}", PRELUDE, texts.join("\n"))
}

/// Helpers that every program starts with.
pub const PRELUDE: &str = concat!(include_str!("prelude.cu"), include_str!("tiles.cu"));

#[cfg(test)]
mod tests;

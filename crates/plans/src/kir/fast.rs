//! `--math fast`: what of a launch's text is computed otherwise, and how far its results may be
//! from the CPU's.
//!
//! In: a plan that asks for it. Out: a text with a line that says so, by which `math` knows how a
//! text is to be compiled; a launch in which nothing is made fast keeps the strict text. Always:
//! what fails on the CPU fails here, and the other way round the CPU has the last word, as with any
//! failure; what is beyond f32 is a failure, never ∞.

use super::lower::Lowering;
use super::ops::{self, Speed};
use super::{Expr, Stmt};
use crate::plan::{Launch, Math, Step, ValueId, What};
use aplomb_values::array::DType;
use aplomb_values::body::Rounds;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::single::{has_own, has_room};

/// The remark that a fast text begins with.
const MARK: &str = "Fast math.";

/// The parts of a launch's text that are made fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fast {
    /// Functions of f64 are CUDA's own.
    pub double: bool,
    /// So are those of f32, and what is beside an f32 array is f32.
    pub single: bool,
    /// `×` and a `+` after it are rounded once.
    pub once: bool,
    /// So many products are added in f32.
    pub sums: Option<u64>,
}

impl Fast {
    /// Whether anything is computed otherwise than on the CPU.
    pub fn is_any(&self) -> bool {
        *self != Fast::default()
    }

    /// The math that the text is of.
    pub fn math(&self) -> Math {
        if self.is_any() { Math::Fast } else { Math::Strict }
    }

    /// A sentence on what was made fast, and what that costs.
    pub fn says(&self) -> String {
        let sums = self.sums.map(|n| {
            let (most, mostly) = (n as f64 / 16_777_216.0, (n as f64).sqrt() / 16_777_216.0);
            format!(
                "sums of {n} products are made in f32, apart by up to {} of the sum of the \
                 products' sizes, mostly by {}",
                exponent(most),
                exponent(mostly)
            )
        });
        let functions =
            [(self.single, "functions of f32 up to 4"), (self.double, "functions of f64 up to 2")];
        let functions = functions
            .iter()
            .filter(|f| f.0)
            .map(|f| format!("{} units in the last place apart", f.1));
        let once = self.once.then(|| {
            "× and + are rounded once, so what cancels may leave the rest of ×".to_string()
        });
        let all: Vec<String> = sums.into_iter().chain(functions).chain(once).collect();
        format!("fast math: {}", all.join("; "))
    }
}

/// Two digits, as APL writes them.
fn exponent(x: f64) -> String {
    format!("{x:.1e}").replace('e', "E").replace('-', "¯")
}

/// The arithmetic in which a text, or a program of texts, is to be compiled.
pub fn math(text: &str) -> Math {
    if text.contains(&format!("// {MARK}\n")) { Math::Fast } else { Math::Strict }
}

/// The line that says so.
pub(super) fn mark(body: &mut Vec<Stmt>) {
    body.insert(0, Stmt::Note(MARK.into()));
}

/// Whether some `×` is followed by a `+`.
fn is_once(launch: &Launch) -> bool {
    let steps = || launch.body.iter().chain(&launch.after);
    let rounds =
        |r: &Rounds, wanted: fn(Op) -> bool| r.work().filter_map(What::operation).any(wanted);
    let has = |wanted: fn(Op) -> bool| {
        steps().any(|s| match &s.what {
            What::Op { op, .. } => wanted(*op) && !s.dtype.is_integer(),
            What::Loop { body, .. } => rounds(body, wanted),
            _ => false,
        })
    };
    let sums = launch.reductions.iter().any(|r| r.op == Op::Add && !r.dtype.is_integer());
    has(Op::multiplies) && (sums || has(|op| matches!(op, Op::Add | Op::Sub)))
}

/// The facts about a launch's text before it is lowered.
pub(super) fn begun(math: Math, launch: &Launch) -> Fast {
    Fast { once: math == Math::Fast && is_once(launch), ..Fast::default() }
}

impl Lowering<'_> {
    pub(super) fn is_fast(&self) -> bool {
        self.plan.math == Math::Fast
    }

    /// Whose function a step gets; noted where that makes a difference.
    pub(super) fn speed(&mut self, op: Op, step: &Step, args: &[ValueId], steps: &[Step]) -> Speed {
        if !self.is_fast() {
            let known = |a: &ValueId| steps.get(*a as usize);
            let own = op == Op::Pow || has_own(op);
            let fits = |s: &Step| if own { has_room_for(s) } else { is_single(s) };
            let short = step.dtype == DType::F32
                && ops::has_short(op)
                && args.iter().all(|a| known(a).is_some_and(fits));
            return if short { Speed::Short } else { Speed::Ours };
        }
        let single = step.dtype == DType::F32
            && ops::has_single(op)
            && args.iter().all(|a| steps.get(*a as usize).is_some_and(|s| fits(op, s)));
        let widens = |a: &ValueId| steps.get(*a as usize).is_some_and(|s| !is_float(s));
        self.fast.single |= single && (ops::is_single(op) || args.iter().any(widens));
        self.fast.double |= !single && ops::is_double(op);
        if single { Speed::Single } else { Speed::Double }
    }
}

/// Whether an operand is a number of f32.
fn is_single(step: &Step) -> bool {
    match step.what {
        What::Const(x) => f64::from(x as f32) == x,
        _ => matches!(step.dtype, DType::F32 | DType::Bool | DType::I8 | DType::I16),
    }
}

/// Whether f32 has room for an operand.
fn has_room_for(step: &Step) -> bool {
    match step.what {
        What::Const(x) => has_room(x),
        _ => step.dtype == DType::F32 || step.dtype.is_integer(),
    }
}

/// An operand that f32 holds: exactly where a function would make its rounding larger.
fn fits(op: Op, step: &Step) -> bool {
    match step.what {
        What::Const(x) if matches!(op, Op::Pow | Op::Log) => f64::from(x as f32) == x,
        What::Const(x) => {
            x == 0.0 || (f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX)).contains(&x.abs())
        }
        _ => matches!(step.dtype, DType::F32 | DType::Bool | DType::I8 | DType::I16),
    }
}

/// Whether a step's variable is a float.
fn is_float(step: &Step) -> bool {
    step.dtype == DType::F32 && !matches!(step.what, What::Const(_))
}

/// An operand as f32.
pub(super) fn narrowed(text: Expr, step: &Step) -> Expr {
    if is_float(step) { text } else { format!("(float){text}") }
}

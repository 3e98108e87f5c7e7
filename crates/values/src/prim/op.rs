//! Scalar operations: what stands in a body. One row per operation says what it gives, when it can
//! fail, what it costs and what it means, on reals, on complex numbers and as CUDA text; functions
//! of more than a line are in `scalar`, and so are the fast rules (`scalar::rules`) of those that
//! have one.
//!
//! A glyph's monadic and dyadic scalar functions are two operations. `Circle(k)` is `k○` with a
//! known k.

use crate::array::DType;
use crate::prim::scalar::complex::{self, gauss};
use crate::prim::scalar::{Fail, gamma, slow};
use num_complex::Complex64;
use std::f64::consts::PI;

/// The scalar operations. X and Y are the arguments of one with two, Y of one with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// A real number itself; made where a pending value may turn out to be complex.
    Conj,
    /// `-Y`: 0 minus Y.
    Neg,
    /// `×Y`: ¯1, 0 or 1; of a complex Y its direction.
    Sign,
    /// `÷Y`: 1 divided by Y.
    Recip,
    /// `*Y`: e to the power Y.
    Exp,
    /// `⍟Y`: the natural logarithm.
    Ln,
    /// `⌊Y`: the greatest whole number that is not above Y, within ⎕CT.
    Floor,
    /// `⌈Y`: the least whole number that is not below Y, within ⎕CT.
    Ceil,
    /// `|Y`: the magnitude.
    Abs,
    /// `!Y`: the factorial, Γ(Y+1).
    Fact,
    /// `○Y`: π times Y.
    Pi,
    /// `~Y`: 1 for 0, 0 for 1.
    Not,
    /// `Y*0.5`: the square root.
    Sqrt,
    /// `k○Y` for k in ¯12…12.
    Circle(i8),
    /// `X+Y`.
    Add,
    /// `X-Y`.
    Sub,
    /// `X×Y`.
    Mul,
    /// `X×Y` that only the sum `+/` of it takes, and takes unrounded (`prim::reduce`): the products
    /// of `X+.×Y`. By itself it is `X×Y`.
    Dot,
    /// The same where X and Y are matrices, whose sums take them in order.
    Mac,
    /// `X÷Y`; `0÷0` is 1.
    Div,
    /// `X*Y`: X to the power Y.
    Pow,
    /// `X⍟Y`: the logarithm of Y to base X.
    Log,
    /// `X!Y`.
    Binomial,
    /// `X⌈Y`: the greater.
    Max,
    /// `X⌊Y`: the lesser.
    Min,
    /// `X|Y`: Y modulo X.
    Residue,
    /// `X∧Y`: the least common multiple; of booleans, and.
    Lcm,
    /// `X∨Y`: the greatest common divisor; of booleans, or.
    Gcd,
    /// `X⍲Y`: not and.
    Nand,
    /// `X⍱Y`: not or.
    Nor,
    /// `X=Y`, within ⎕CT.
    Eq,
    /// `X≠Y`, beyond ⎕CT.
    Ne,
    /// `X<Y`, and not equal within ⎕CT.
    Lt,
    /// `X≤Y`, or equal within ⎕CT.
    Le,
    /// `X≥Y`, or equal within ⎕CT.
    Ge,
    /// `X>Y`, and not equal within ⎕CT.
    Gt,
    /// `X○Y` with X an array.
    CircleBy,
}

/// The kind of number that an operation gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// Integers from integers (interval by `Op::range`), else the arguments' float.
    Arith,
    /// 0 or 1.
    Bool,
    /// A float whatever comes in.
    Float,
    /// An integer that may leave i32: ⌊ ⌈ of floats.
    Whole,
}

/// The arguments on which an operation, or a node, can fail; the later the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fails {
    /// On none.
    Never,
    /// Only by a result that is no finite number.
    Overflow,
    /// Only by a result that is not real, which is no error: where nobody reads it nothing is
    /// missed.
    Complex,
    /// On some values: 1÷0, ⍟0, ~2. Evaluated on the whole domain (E1).
    Hard,
}

/// The facts that are known of an operation's arguments and result.
#[derive(Clone, Copy, Debug)]
pub struct On {
    /// All arguments are booleans.
    pub bools: bool,
    /// The result is an integer of a known interval.
    pub ranged: bool,
    /// The right argument is one number, and not 0.
    pub nonzero: bool,
}

/// A row of the table of operations.
pub struct Row {
    /// The operation.
    pub op: Op,
    /// The name in graphs and traces, `add`.
    pub name: &'static str,
    /// The glyph that people write.
    pub glyph: &'static str,
    /// The number of its arguments, 1 or 2.
    pub arity: u8,
    /// The kind of its result.
    pub gives: Gives,
    /// The finite arguments on which it fails.
    pub fails: Fails,
    /// ∞ and NaN in an argument show in the result, so a test of them may wait.
    pub keeps: bool,
    /// Uses ⎕CT unless both sides compare exactly.
    pub tolerant: bool,
    /// Nanoseconds for one f64 element in L1 (the CPU model's figures; the ones marked est. there
    /// are estimates).
    pub ns: f64,
    /// Its CUDA text: `{x}` `{y}` are operands, `{ct}` ⎕CT, `{bad}` where a failure goes. Empty:
    /// the texts of its family stand in `kir::ops`.
    pub cuda: &'static str,
    /// Its meaning, of ⎕CT, X and Y, where the fast rule (`scalar::rules`) suspects something or
    /// there is none.
    pub real: fn(f64, f64, f64) -> Result<f64, Fail>,
    /// Its meaning on complex numbers.
    pub complex: fn(f64, Complex64, Complex64) -> Result<Complex64, Fail>,
}

// The columns of the table below.
#[allow(clippy::too_many_arguments)]
const fn row(
    op: Op,
    name: &'static str,
    glyph: &'static str,
    arity: u8,
    gives: Gives,
    fails: Fails,
    keeps: bool,
    tolerant: bool,
    ns: f64,
    cuda: &'static str,
    real: fn(f64, f64, f64) -> Result<f64, Fail>,
    complex: fn(f64, Complex64, Complex64) -> Result<Complex64, Fail>,
) -> Row {
    Row { op, name, glyph, arity, gives, fails, keeps, tolerant, ns, cuda, real, complex }
}

use Fails::{Complex, Hard, Never, Overflow};
use Gives::{Arith, Bool, Float, Whole};

/// The table twice from one text: as a list, and as a `match`, so that an operation without a row
/// does not compile.
macro_rules! operations {
    ($([$($any:tt)+] $($columns:expr),+;)+) => {
        /// Every operation. `Circle` stands once, for its family.
        pub static OPS: &[Row] = &[$(row($($columns),+)),+];

        impl Op {
            /// The operation's row of the table.
            pub fn row(self) -> &'static Row {
                match self {
                    $(Op::$($any)+ => const { &row($($columns),+) },)+
                }
            }
        }
    };
}

operations! {
    [Conj] Op::Conj, "conj", "+", 1, Arith, Never, true, false, 0.12,
        "{x}",
        slow::sure,
        |_, x, _| Ok(x.conj());
    [Neg] Op::Neg, "neg", "-", 1, Arith, Never, true, false, 0.12,
        "0.0 - {x}",
        slow::sure,
        |_, x, _| Ok(-x);
    [Sign] Op::Sign, "sign", "×", 1, Whole, Never, false, false, 0.15,
        "({x} > 0.0) - ({x} < 0.0)",
        slow::sure,
        |_, x, _| Ok(x.unscale(complex::magnitude(x)));
    [Recip] Op::Recip, "recip", "÷", 1, Float, Hard, false, false, 0.31,
        "divide(1.0, {x}, {bad})",
        |_, x, _| slow::divide(1.0, x),
        |_, x, _| complex::divide(complex::ONE, x);
    [Exp] Op::Exp, "exp", "*", 1, Float, Overflow, false, false, 0.84,
        "power_of_e({x})",
        slow::sure,
        |_, x, _| Ok(complex::exp(x));
    [Ln] Op::Ln, "ln", "⍟", 1, Float, Hard, true, false, 1.31,
        "logarithm({x}, {bad})",
        |_, x, _| slow::ln(x),
        |_, x, _| complex::ln(x);
    [Floor] Op::Floor, "floor", "⌊", 1, Whole, Never, true, true, 0.25,
        "floor_near({x}, {ct})",
        slow::sure,
        |ct, x, _| Ok(gauss::floor(x, ct));
    [Ceil] Op::Ceil, "ceil", "⌈", 1, Whole, Never, true, true, 0.25,
        "0.0 - floor_near(0.0 - {x}, {ct})",
        slow::sure,
        |ct, x, _| Ok(-gauss::floor(-x, ct));
    [Abs] Op::Abs, "abs", "|", 1, Arith, Never, true, false, 0.12,
        "fabs({x})",
        slow::sure,
        |_, x, _| Ok(complex::magnitude(x).into());
    [Fact] Op::Fact, "fact", "!", 1, Float, Hard, false, false, 20.0,
        "gamma_factorial({x}, {bad})",
        |_, x, _| gamma::factorial(x),
        |_, x, _| Ok(complex::factorial(x));
    [Pi] Op::Pi, "pi", "○", 1, Float, Overflow, true, false, 0.12,
        "3.14159265358979312 * {x}",
        slow::sure,
        |_, x, _| Ok(x.scale(PI));
    [Not] Op::Not, "not", "~", 1, Bool, Hard, false, true, 0.12,
        "1.0 - bit({x}, {ct}, {bad})",
        |ct, x, _| slow::not(ct, x),
        |ct, x, _| complex::not(ct, x);
    [Sqrt] Op::Sqrt, "sqrt", "*0.5", 1, Float, Complex, true, false, 0.54,
        "root({x}, {bad})",
        |_, x, _| slow::root(x),
        |_, x, _| Ok(complex::sqrt(x));
    [Circle(_)] Op::Circle(0), "circle", "○", 1, Float, Hard, false, false, 0.79,
        "",
        slow::sure,
        complex::of_family;
    [Add] Op::Add, "add", "+", 2, Arith, Overflow, true, false, 0.12,
        "{x} + {y}",
        slow::sure,
        |_, x, y| Ok(x + y);
    [Sub] Op::Sub, "sub", "-", 2, Arith, Overflow, true, false, 0.12,
        "{x} - {y}",
        slow::sure,
        |_, x, y| Ok(x - y);
    [Mul] Op::Mul, "mul", "×", 2, Arith, Overflow, true, false, 0.12,
        "{x} * {y}",
        slow::sure,
        |_, x, y| Ok(x * y);
    [Dot] Op::Dot, "dot", "×", 2, Arith, Overflow, true, false, 0.12,
        "{x} * {y}",
        slow::sure,
        |_, x, y| Ok(x * y);
    [Mac] Op::Mac, "mac", "×", 2, Arith, Overflow, true, false, 0.12,
        "{x} * {y}",
        slow::sure,
        |_, x, y| Ok(x * y);
    [Div] Op::Div, "div", "÷", 2, Float, Hard, false, false, 0.31,
        "divide({x}, {y}, {bad})",
        |_, x, y| slow::divide(x, y),
        |_, x, y| complex::divide(x, y);
    [Pow] Op::Pow, "pow", "*", 2, Float, Hard, false, false, 2.2,
        "power({x}, {y}, {bad})",
        |_, x, y| slow::pow(x, y),
        |_, x, y| complex::pow(x, y);
    [Log] Op::Log, "log", "⍟", 2, Float, Hard, false, false, 3.0,
        "divide(logarithm({y}, {bad}), logarithm({x}, {bad}), {bad})",
        |_, x, y| slow::log(x, y),
        |_, x, y| complex::log(x, y);
    [Binomial] Op::Binomial, "binomial", "!", 2, Float, Hard, false, false, 40.0,
        "gamma_binomial({x}, {y}, {bad})",
        |_, x, y| gamma::binomial(x, y),
        |_, x, y| Ok(complex::binomial(x, y));
    [Max] Op::Max, "max", "⌈", 2, Arith, Never, false, false, 0.12,
        "({x} > {y} ? {x} : {y})",
        slow::sure,
        complex::unordered;
    [Min] Op::Min, "min", "⌊", 2, Arith, Never, false, false, 0.12,
        "({x} < {y} ? {x} : {y})",
        slow::sure,
        complex::unordered;
    [Residue] Op::Residue, "residue", "|", 2, Arith, Never, false, true, 0.9,
        "residue({x}, {y}, {ct})",
        |_, x, y| Ok(slow::residue(x, y)),
        |ct, x, y| Ok(gauss::residue(x, y, ct));
    [Lcm] Op::Lcm, "lcm", "∧", 2, Arith, Hard, false, true, 0.2,
        "made(common_multiple({x}, {y}, {ct}), {x}, {y}, {bad})",
        |ct, x, y| Ok(slow::lcm(ct, x, y)),
        |ct, x, y| gauss::lcm(x, y, ct);
    [Gcd] Op::Gcd, "gcd", "∨", 2, Arith, Hard, false, true, 0.2,
        "common_divisor({x}, {y}, {ct})",
        |ct, x, y| Ok(slow::gcd(ct, x, y)),
        |ct, x, y| gauss::gcd(x, y, ct);
    [Nand] Op::Nand, "nand", "⍲", 2, Bool, Hard, false, true, 0.2,
        "1.0 - bit({x}, {ct}, {bad}) * bit({y}, {ct}, {bad})",
        slow::nand,
        complex::nand;
    [Nor] Op::Nor, "nor", "⍱", 2, Bool, Hard, false, true, 0.2,
        "1.0 - fmax(bit({x}, {ct}, {bad}), bit({y}, {ct}, {bad}))",
        slow::nor,
        complex::nor;
    [Eq] Op::Eq, "eq", "=", 2, Bool, Never, false, true, 0.25,
        "(near({x}, {y}, {ct}) ? 1.0 : 0.0)",
        slow::sure,
        |ct, x, y| Ok(complex::truth(complex::same(x, y, ct)));
    [Ne] Op::Ne, "ne", "≠", 2, Bool, Never, false, true, 0.25,
        "(near({x}, {y}, {ct}) ? 0.0 : 1.0)",
        slow::sure,
        |ct, x, y| Ok(complex::truth(!complex::same(x, y, ct)));
    [Lt] Op::Lt, "lt", "<", 2, Bool, Never, false, true, 0.25,
        "({x} < {y} && !near({x}, {y}, {ct}) ? 1.0 : 0.0)",
        slow::sure,
        complex::unordered;
    [Le] Op::Le, "le", "≤", 2, Bool, Never, false, true, 0.25,
        "({x} < {y} || near({x}, {y}, {ct}) ? 1.0 : 0.0)",
        slow::sure,
        complex::unordered;
    [Ge] Op::Ge, "ge", "≥", 2, Bool, Never, false, true, 0.25,
        "({x} > {y} || near({x}, {y}, {ct}) ? 1.0 : 0.0)",
        slow::sure,
        complex::unordered;
    [Gt] Op::Gt, "gt", ">", 2, Bool, Never, false, true, 0.25,
        "({x} > {y} && !near({x}, {y}, {ct}) ? 1.0 : 0.0)",
        slow::sure,
        complex::unordered;
    [CircleBy] Op::CircleBy, "circle-by", "○", 2, Float, Hard, false, true, 10.0,
        "circle_by({x}, {y}, {ct}, {bad})",
        slow::circle_by,
        complex::circle_by;
}

impl Op {
    /// The ⎕CT that an operation carries: 0 where it takes no notice of it, so that equal
    /// operations are equal.
    pub fn tolerance(self, ct: f64) -> f64 {
        if self.row().tolerant { ct } else { 0.0 }
    }

    /// The number of its arguments, 1 or 2.
    pub fn arity(self) -> usize {
        self.row().arity as usize
    }

    /// When it can fail on such arguments.
    pub fn fails_on(self, on: On) -> Fails {
        match self.row().fails {
            Fails::Hard if on.bools && self.takes_booleans() => Fails::Never,
            Fails::Hard if on.nonzero && self == Op::Div => Fails::Overflow,
            Fails::Overflow if on.ranged => Fails::Never,
            as_ever => as_ever,
        }
    }

    /// All booleans have a result, though not all numbers have.
    fn takes_booleans(self) -> bool {
        matches!(
            self,
            Op::Not | Op::Nand | Op::Nor | Op::Lcm | Op::Gcd | Op::Fact | Op::Pow | Op::Binomial
        )
    }

    /// Characters are equal or not, and nothing else.
    pub fn takes_characters(self) -> bool {
        matches!(self, Op::Eq | Op::Ne)
    }

    /// As printed in traces: `add`, `circle-1` for `¯1○`.
    pub fn name(self) -> String {
        match self {
            Op::Circle(k) => format!("circle{k}"),
            op => op.row().name.into(),
        }
    }

    /// The glyph as people write it, `¯1○` for a circle function.
    pub fn glyph(self) -> String {
        match self {
            Op::Circle(k) if k < 0 => format!("¯{}○", -k),
            Op::Circle(k) => format!("{k}○"),
            op => op.row().glyph.into(),
        }
    }

    /// Some real arguments have a complex result.
    pub fn may_leave_reals(self) -> bool {
        matches!(self, Op::Ln | Op::Sqrt | Op::Pow | Op::Log | Op::CircleBy)
            || matches!(self, Op::Circle(0 | 8 | -1 | -2 | -4 | -6 | -7 | -8 | -11 | -12))
    }

    /// Fails on what is not real: there is no order.
    pub fn needs_order(self) -> bool {
        matches!(self, Op::Lt | Op::Le | Op::Ge | Op::Gt | Op::Max | Op::Min)
    }

    /// Associative and commutative in the table's sense, so that a reduction may take a tree.
    pub fn is_associative(self) -> bool {
        matches!(self, Op::Add | Op::Mul | Op::Max | Op::Min | Op::Lcm | Op::Gcd)
    }

    /// Gives the same with its arguments exchanged.
    pub fn is_commutative(self) -> bool {
        use Op::{Add, Eq, Gcd, Lcm, Max, Min, Ne};
        self.multiplies() || matches!(self, Add | Max | Min | Gcd | Lcm | Eq | Ne)
    }

    /// True of `X×Y`, whether it is rounded or not.
    pub fn multiplies(self) -> bool {
        self == Op::Mul || self.is_unrounded()
    }

    /// True of products that their sum takes unrounded.
    pub fn is_unrounded(self) -> bool {
        matches!(self, Op::Dot | Op::Mac)
    }

    /// The value of `f/` of an empty axis.
    pub fn identity(self) -> Option<f64> {
        Some(match self {
            Op::Add | Op::Sub | Op::Gcd | Op::Lt | Op::Gt | Op::Ne | Op::Residue => 0.0,
            Op::Mul | Op::Div | Op::Pow | Op::Binomial | Op::Lcm | Op::Eq | Op::Le | Op::Ge => 1.0,
            Op::Max => f64::MIN,
            Op::Min => f64::MAX,
            _ => return None,
        })
    }

    /// The dtype of the result and, for integers, the interval it lies in. An integer result whose
    /// interval leaves i32 is stored as i32 if all values fit, else as f64: `I32` here.
    pub fn result(self, args: &[(DType, Option<(f64, f64)>)]) -> (DType, Option<(f64, f64)>) {
        let float =
            if args.iter().any(|a| a.0 == DType::F32) && args.iter().all(|a| a.0 != DType::F64) {
                DType::F32
            } else {
                DType::F64
            };
        let whole = args.iter().all(|a| a.0.is_integer());
        match self.row().gives {
            Bool => (DType::Bool, Some((0.0, 1.0))),
            Float => (float, None),
            Whole if self == Op::Sign => (DType::I8, Some((-1.0, 1.0))),
            Whole | Arith if whole => {
                let range = self.range(args);
                match range.and_then(|(lo, hi)| DType::of_range(lo, hi)) {
                    Some(dtype) => (dtype, range),
                    None => (DType::I32, None),
                }
            }
            Whole => (if float == DType::F32 { DType::F32 } else { DType::I32 }, None),
            Arith => (float, None),
        }
    }

    fn range(self, args: &[(DType, Option<(f64, f64)>)]) -> Option<(f64, f64)> {
        // An i32 without an interval may turn out to be beyond i32: it says nothing.
        let known =
            |a: &(DType, Option<(f64, f64)>)| a.1.or(a.0.range().filter(|_| a.0 != DType::I32));
        let mut ranges = args.iter().map(known);
        let (alo, ahi) = ranges.next()??;
        let b = ranges.next();
        let pair = |f: fn(f64, f64) -> f64| {
            let (blo, bhi) = b??;
            let all = [f(alo, blo), f(alo, bhi), f(ahi, blo), f(ahi, bhi)];
            Some((
                all.into_iter().fold(f64::INFINITY, f64::min),
                all.into_iter().fold(f64::NEG_INFINITY, f64::max),
            ))
        };
        match self {
            Op::Neg => Some((-ahi, -alo)),
            Op::Abs => {
                let most = alo.abs().max(ahi.abs());
                Some((if alo <= 0.0 && ahi >= 0.0 { 0.0 } else { alo.abs().min(ahi.abs()) }, most))
            }
            Op::Conj | Op::Floor | Op::Ceil => Some((alo, ahi)),
            Op::Add => pair(|x, y| x + y),
            Op::Sub => pair(|x, y| x - y),
            Op::Mul | Op::Dot | Op::Mac => pair(|x, y| x * y),
            Op::Max => pair(f64::max),
            Op::Min => pair(f64::min),
            // 0|Y is Y; else the sign is X's, and of whole numbers X itself is never reached.
            Op::Residue => {
                let (blo, bhi) = b??;
                let (lo, hi) = ((alo + 1.0).min(0.0), (ahi - 1.0).max(0.0));
                if alo <= 0.0 && ahi >= 0.0 {
                    Some((lo.min(blo), hi.max(bhi)))
                } else {
                    Some((lo, hi))
                }
            }
            Op::Lcm | Op::Gcd => match (alo >= 0.0 && ahi <= 1.0, b?) {
                (true, Some((lo, hi))) if lo >= 0.0 && hi <= 1.0 => Some((0.0, 1.0)),
                _ => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_its_own_row() {
        for (k, row) in OPS.iter().enumerate() {
            assert_eq!((row.op.row().op, row.op.row().name), (row.op, row.name));
            assert!(OPS[..k].iter().all(|r| r.name != row.name));
        }
    }

    #[test]
    fn every_operation_has_its_meanings_and_its_text() {
        let pairs = [(0.0, 0.0), (0.5, -2.0), (3.0, 2.0), (1e300, 1e300), (f64::NAN, 1.0)];
        for row in OPS {
            let family = matches!(row.op, Op::Circle(_));
            assert_eq!(row.cuda.is_empty(), family, "{}", row.name);
            for (x, y) in pairs {
                let real = crate::prim::scalar::eval(row.op, 1e-14, x, y);
                let (x, y) = (Complex64::new(x, 1.0), Complex64::new(y, -1.0));
                let beyond = complex::eval(row.op, 1e-14, x, y);
                assert!(!matches!(real, Err(Fail::Bug(_))), "{} {x} {y}", row.name);
                assert!(!matches!(beyond, Err(Fail::Bug(_))), "{} {x} {y}", row.name);
            }
        }
    }

    /// An operation that is not tolerant loses ⎕CT when it is recorded.
    #[test]
    fn what_asks_for_ct_is_tolerant() {
        for row in OPS.iter().filter(|row| !row.cuda.is_empty()) {
            assert_eq!(row.cuda.contains("{ct}"), row.tolerant, "{}", row.name);
        }
    }

    #[test]
    fn booleans_have_a_result_where_the_rows_say_so() {
        for row in OPS.iter().filter(|r| r.fails == Fails::Hard && r.op != Op::CircleBy) {
            let pairs = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)];
            let all =
                pairs.iter().all(|(x, y)| crate::prim::scalar::eval(row.op, 1e-14, *x, *y).is_ok());
            let circle = row.op == Op::Circle(0);
            assert_eq!(all && !circle, row.op.takes_booleans(), "{}", row.name);
        }
    }

    #[test]
    fn integers_stay_integers_while_their_interval_fits() {
        let i8s = (DType::I8, None);
        assert_eq!(Op::Add.result(&[i8s, i8s]), (DType::I16, Some((-256.0, 254.0))));
        assert_eq!(Op::Mul.result(&[(DType::I32, None), i8s]), (DType::I32, None));
        assert_eq!(Op::Div.result(&[i8s, i8s]).0, DType::F64);
        assert_eq!(Op::Add.result(&[(DType::F32, None), i8s]).0, DType::F32);
        assert_eq!(Op::Add.result(&[(DType::F32, None), (DType::F64, None)]).0, DType::F64);
    }
}

//! The CUDA text of every scalar operation: that of its row, or another where more is known of the
//! operands. `{x}` `{y}` are operands, `{ct}` ⎕CT, `{bad}` where a failure goes.
//!
//! What a text calls stands in the prelude and is the meaning of `prim::scalar`, operation for
//! operation, so that devices agree in every bit; only functions of a system's own library (`¯5○`,
//! `4○`, `!` between whole numbers …) may differ in the last.

use aplomb_values::prim::op::Op;

/// `k○`: the texts of a family. All other operations have theirs in their row.
const CIRCLES: &[(Op, &str)] = &[
    (Op::Circle(0), "root((1.0 - {x}) * (1.0 + {x}), {bad})"),
    (Op::Circle(1), "sine({x}, 0)"),
    (Op::Circle(2), "sine({x}, 1)"),
    (Op::Circle(3), "tangent({x}, {bad})"),
    (Op::Circle(4), "made(hypot({x}, 1.0), {x}, 0.0, {bad})"),
    (Op::Circle(5), "circle_sinh({x}, {bad})"),
    (Op::Circle(6), "circle_cosh({x}, {bad})"),
    (Op::Circle(7), "circle_tanh({x})"),
    (Op::Circle(9), "{x}"),
    (Op::Circle(10), "fabs({x})"),
    (Op::Circle(11), "0.0"),
    (Op::Circle(12), "({x} < 0.0 ? 3.14159265358979312 : 0.0)"),
    (Op::Circle(-1), "circle_asin({x}, {bad})"),
    (Op::Circle(-2), "circle_acos({x}, {bad})"),
    (Op::Circle(-3), "circle_atan({x})"),
    (Op::Circle(-5), "asinh({x})"),
    (Op::Circle(-6), "made(acosh({x}), {x}, 0.0, {bad})"),
    (Op::Circle(-7), "made(atanh({x}), 0.0, 0.0, {bad})"),
    (Op::Circle(-9), "{x}"),
    (Op::Circle(-10), "{x}"),
    (Op::Circle(-4), "circle_by(-4.0, {x}, 0.0, {bad})"),
    (Op::Circle(8), "circle_by(8.0, {x}, 0.0, {bad})"),
    (Op::Circle(-8), "circle_by(-8.0, {x}, 0.0, {bad})"),
    (Op::Circle(-11), "circle_by(-11.0, {x}, 0.0, {bad})"),
    (Op::Circle(-12), "circle_by(-12.0, {x}, 0.0, {bad})"),
];

/// `--math fast`: CUDA's own functions. Those that are not here are CUDA's own anyway, or as exact
/// as they are fast.
const FAST: &[(Op, &str)] = &[
    (Op::Exp, "quick_exp({x})"),
    (Op::Ln, "quick_log({x}, {bad})"),
    (Op::Circle(1), "quick_sin({x})"),
    (Op::Circle(2), "quick_cos({x})"),
    (Op::Circle(3), "quick_tan({x}, {bad})"),
    (Op::Circle(5), "made(sinh({x}), {x}, 0.0, {bad})"),
    (Op::Circle(6), "made(cosh({x}), {x}, 0.0, {bad})"),
    (Op::Circle(7), "tanh({x})"),
    (Op::Circle(-1), "made(asin({x}), 0.0, 0.0, {bad})"),
    (Op::Circle(-2), "made(acos({x}), 0.0, 0.0, {bad})"),
    (Op::Circle(-3), "atan({x})"),
    (Op::Log, "divide(quick_log({y}, {bad}), quick_log({x}, {bad}), {bad})"),
];

/// The same where the result is f32, and so are the operands.
const SINGLE: &[(Op, &str)] = &[
    (Op::Exp, "quick_expf({x})"),
    (Op::Ln, "quick_logf({x}, {bad})"),
    (Op::Circle(1), "quick_sinf({x})"),
    (Op::Circle(2), "quick_cosf({x})"),
    (Op::Circle(3), "quick_tanf({x}, {bad})"),
    (Op::Sqrt, "quick_sqrtf({x}, {bad})"),
    (Op::Recip, "quick_divf(1.0f, {x}, {bad})"),
    (Op::Add, "{x} + {y}"),
    (Op::Sub, "{x} - {y}"),
    (Op::Mul, "{x} * {y}"),
    (Op::Dot, "{x} * {y}"),
    (Op::Mac, "{x} * {y}"),
    (Op::Div, "quick_divf({x}, {y}, {bad})"),
    (Op::Max, "({x} > {y} ? {x} : {y})"),
    (Op::Min, "({x} < {y} ? {x} : {y})"),
    (Op::Pow, "quick_powf({x}, {y}, {bad})"),
    (Op::Log, "quick_divf(quick_logf({y}, {bad}), quick_logf({x}, {bad}), {bad})"),
];

/// The CPU's meaning of a result of f32 (`prim::scalar::single`), of operands that f32 holds; those
/// of a power are f64.
const SHORT: &[(Op, &str)] = &[
    (Op::Exp, "single_exp({x})"),
    (Op::Ln, "single_log({x}, {bad})"),
    (Op::Circle(1), "single_sine({x}, 0)"),
    (Op::Circle(2), "single_sine({x}, 1)"),
    (Op::Circle(3), "single_tan({x}, {bad})"),
    (Op::Sqrt, "single_root({x}, {bad})"),
    (Op::Recip, "single_divide(1.0f, {x}, {bad})"),
    (Op::Neg, "0.0f - {x}"),
    (Op::Abs, "fabsf({x})"),
    (Op::Add, "{x} + {y}"),
    (Op::Sub, "{x} - {y}"),
    (Op::Mul, "{x} * {y}"),
    (Op::Dot, "{x} * {y}"),
    (Op::Mac, "{x} * {y}"),
    (Op::Div, "single_divide({x}, {y}, {bad})"),
    (Op::Max, "({x} > {y} ? {x} : {y})"),
    (Op::Min, "({x} < {y} ? {x} : {y})"),
    (Op::Pow, "single_power({x}, {y}, {bad})"),
    (Op::Log, "single_divide(single_log({y}, {bad}), single_log({x}, {bad}), {bad})"),
];

/// Without tolerance.
const EXACTLY: &[(Op, &str)] = &[
    (Op::Floor, "floor({x})"),
    (Op::Ceil, "0.0 - floor(0.0 - {x})"),
    (Op::Eq, "({x} == {y} ? 1.0 : 0.0)"),
    (Op::Ne, "({x} != {y} ? 1.0 : 0.0)"),
    (Op::Lt, "({x} < {y} ? 1.0 : 0.0)"),
    (Op::Le, "({x} <= {y} ? 1.0 : 0.0)"),
    (Op::Ge, "({x} >= {y} ? 1.0 : 0.0)"),
    (Op::Gt, "({x} > {y} ? 1.0 : 0.0)"),
];

/// The texts where both sides are booleans.
const LOGIC: &[(Op, &str)] = &[
    (Op::Not, "1.0 - {x}"),
    (Op::Lcm, "{x} * {y}"),
    (Op::Gcd, "({x} > {y} ? {x} : {y})"),
    (Op::Nand, "1.0 - {x} * {y}"),
    (Op::Nor, "({x} > {y} ? 1.0 - {x} : 1.0 - {y})"),
];

/// A fold's step over partial results. Those from `Lcm` on are logic: on booleans only.
const FOLDS: &[(Op, &str)] = &[
    (Op::Add, "{x} + {y}"),
    (Op::Mul, "{x} * {y}"),
    (Op::Max, "most({x}, {y})"),
    (Op::Min, "least({x}, {y})"),
    (Op::Lcm, "{x} * {y}"),
    (Op::Gcd, "most({x}, {y})"),
    (Op::Ne, "({x} != {y} ? 1.0 : 0.0)"),
    (Op::Eq, "({x} == {y} ? 1.0 : 0.0)"),
];

fn find(table: &[(Op, &'static str)], op: Op) -> Option<&'static str> {
    table.iter().find(|t| t.0 == op).map(|t| t.1)
}

/// The one of an operation's texts that is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Comparison without tolerance.
    pub exact: bool,
    /// Operands are 0 or 1.
    pub logic: bool,
    pub speed: Speed,
}

/// Whose function it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speed {
    /// The CPU's.
    #[default]
    Ours,
    /// CUDA's, of f64.
    Double,
    /// CUDA's, of f32.
    Single,
    /// The CPU's, of f32 in f32.
    Short,
}

impl Speed {
    /// The rows that come before all others.
    fn rows(self) -> &'static [(Op, &'static str)] {
        match self {
            Speed::Ours => &[],
            Speed::Double => FAST,
            Speed::Single => SINGLE,
            Speed::Short => SHORT,
        }
    }
}

/// Whether CUDA's function of f32 is another one than ours.
pub fn is_single(op: Op) -> bool {
    find(SINGLE, op).is_some_and(|text| text.contains("quick_"))
}

/// Whether CUDA's function of f64 is another one than ours.
pub fn is_double(op: Op) -> bool {
    find(FAST, op).is_some()
}

/// Whether a result of f32 is made in f32 where both operands are.
pub fn has_short(op: Op) -> bool {
    find(SHORT, op).is_some()
}

/// Whether there is a row for operands of f32.
pub fn has_single(op: Op) -> bool {
    find(SINGLE, op).is_some()
}

/// The expression, or None where there is none yet.
pub fn text(op: Op, x: &str, y: &str, ct: &str, bad: &str, form: Wanted) -> Option<String> {
    let logical = find(LOGIC, op).filter(|_| form.logic);
    let exact = find(EXACTLY, op).filter(|_| form.exact);
    let own = || Some(op.row().cuda).filter(|text| !text.is_empty());
    let plain = || find(CIRCLES, op).or_else(own);
    let form = find(form.speed.rows(), op).or(exact).or(logical).or_else(plain)?;
    Some(form.replace("{x}", x).replace("{y}", y).replace("{ct}", ct).replace("{bad}", bad))
}

/// A reduction's step over partial results.
pub fn fold(op: Op, x: &str, y: &str) -> Option<String> {
    find(FOLDS, op).map(|form| form.replace("{x}", x).replace("{y}", y))
}

/// Whether the step stands for booleans alone.
pub fn is_logic(op: Op) -> bool {
    matches!(op, Op::Lcm | Op::Gcd | Op::Ne | Op::Eq)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_values::prim::op::OPS;

    #[test]
    fn each_operation_has_a_text() {
        let circles = (-12..=12).map(Op::Circle);
        let all = OPS.iter().map(|row| row.op).chain(circles);
        let has = |op: &Op| find(CIRCLES, *op).is_some() || !op.row().cuda.is_empty();
        let without: Vec<String> = all.filter(|op| !has(op)).map(Op::name).collect();
        assert!(without.is_empty(), "no CUDA text: {without:?}");
    }
}

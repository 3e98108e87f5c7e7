//! The CUDA text of every scalar operation: `{x}` `{y}` are operands, `{ct}` ⎕CT, `{bad}` where a failure goes.

use crate::prim::op::Op;

/// An operation without a row here has no CUDA text yet: `kernel` says so by name.
const TEXTS: &[(Op, &str)] = &[
    (Op::Conj, "{x}"),
    (Op::Neg, "0.0 - {x}"),
    (Op::Sign, "({x} > 0.0) - ({x} < 0.0)"),
    (Op::Recip, "divide(1.0, {x}, {bad})"),
    (Op::Exp, "exp({x})"),
    (Op::Ln, "logarithm({x}, {bad})"),
    (Op::Floor, "floor_near({x}, {ct})"),
    (Op::Ceil, "-floor_near(-{x}, {ct})"),
    (Op::Abs, "fabs({x})"),
    (Op::Pi, "3.14159265358979312 * {x}"),
    (Op::Not, "complement({x}, {ct}, {bad})"),
    (Op::Sqrt, "root({x}, {bad})"),
    (Op::Circle(0), "root(1.0 - {x} * {x}, {bad})"),
    (Op::Circle(1), "sin({x})"),
    (Op::Circle(2), "cos({x})"),
    (Op::Circle(3), "made(tan({x}), {x}, 0.0, {bad})"),
    (Op::Circle(4), "sqrt(1.0 + {x} * {x})"),
    (Op::Circle(5), "made(sinh({x}), {x}, 0.0, {bad})"),
    (Op::Circle(6), "made(cosh({x}), {x}, 0.0, {bad})"),
    (Op::Circle(7), "tanh({x})"),
    (Op::Circle(-1), "made(asin({x}), 0.0, 0.0, {bad})"),
    (Op::Circle(-2), "made(acos({x}), 0.0, 0.0, {bad})"),
    (Op::Circle(-3), "atan({x})"),
    (Op::Circle(-5), "asinh({x})"),
    (Op::Circle(-6), "made(acosh({x}), 0.0, 0.0, {bad})"),
    (Op::Circle(-7), "made(atanh({x}), 0.0, 0.0, {bad})"),
    (Op::Add, "{x} + {y}"),
    (Op::Sub, "{x} - {y}"),
    (Op::Mul, "{x} * {y}"),
    (Op::Div, "divide({x}, {y}, {bad})"),
    (Op::Pow, "power({x}, {y}, {bad})"),
    (Op::Log, "divide(logarithm({y}, {bad}), logarithm({x}, {bad}), {bad})"),
    (Op::Max, "{x} > {y} ? {x} : {y}"),
    (Op::Min, "{x} < {y} ? {x} : {y}"),
    (Op::Residue, "residue({x}, {y}, {ct})"),
    (Op::Eq, "near({x}, {y}, {ct}) ? 1.0 : 0.0"),
    (Op::Ne, "near({x}, {y}, {ct}) ? 0.0 : 1.0"),
    (Op::Lt, "{x} < {y} && !near({x}, {y}, {ct}) ? 1.0 : 0.0"),
    (Op::Le, "{x} < {y} || near({x}, {y}, {ct}) ? 1.0 : 0.0"),
    (Op::Ge, "{x} > {y} || near({x}, {y}, {ct}) ? 1.0 : 0.0"),
    (Op::Gt, "{x} > {y} && !near({x}, {y}, {ct}) ? 1.0 : 0.0"),
];

/// The operations that are logic when both sides are booleans, and need a loop otherwise.
const LOGIC: &[(Op, &str)] = &[
    (Op::Lcm, "{x} * {y}"),
    (Op::Gcd, "{x} > {y} ? {x} : {y}"),
    (Op::Nand, "1.0 - {x} * {y}"),
    (Op::Nor, "{x} > {y} ? 1.0 - {x} : 1.0 - {y}"),
];

/// The expression, or None where there is none yet. `exact`: comparison without tolerance; `logic`: operands are 0 or 1.
pub fn text(op: Op, x: &str, y: &str, ct: &str, bad: &str, exact: bool, logic: bool) -> Option<String> {
    let exactly = match op {
        Op::Eq => Some("{x} == {y} ? 1.0 : 0.0"),
        Op::Ne => Some("{x} != {y} ? 1.0 : 0.0"),
        Op::Lt => Some("{x} < {y} ? 1.0 : 0.0"),
        Op::Le => Some("{x} <= {y} ? 1.0 : 0.0"),
        Op::Ge => Some("{x} >= {y} ? 1.0 : 0.0"),
        Op::Gt => Some("{x} > {y} ? 1.0 : 0.0"),
        _ => None,
    };
    let find = |table: &[(Op, &'static str)]| table.iter().find(|t| t.0 == op).map(|t| t.1);
    let form = exactly.filter(|_| exact).or_else(|| find(LOGIC).filter(|_| logic)).or_else(|| find(TEXTS))?;
    Some(form.replace("{x}", x).replace("{y}", y).replace("{ct}", ct).replace("{bad}", bad))
}

/// A reduction's step over partial results.
pub fn fold(op: Op, x: &str, y: &str) -> Option<String> {
    let form = match op {
        Op::Add => "{x} + {y}",
        Op::Mul | Op::Lcm => "{x} * {y}",
        Op::Max | Op::Gcd => "{x} > {y} ? {x} : {y}",
        Op::Min => "{x} < {y} ? {x} : {y}",
        _ => return None,
    };
    Some(form.replace("{x}", x).replace("{y}", y))
}

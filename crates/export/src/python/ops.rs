//! Scalar operations in Python: a row for each that the array API can say.

use super::value::{Kind, Value};
use super::writer::{Refused, Writer};
use crate::fit;
use aplomb_values::array::DType;
use aplomb_values::prim::op::Op;

/// The kind of operands that an operation takes.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    /// Floats.
    Numbers,
    /// Truth values.
    Bits,
    /// Either, both of one kind.
    Alike,
}
use Takes::{Alike, Bits, Numbers};

/// The text of an operation on operands `{x}` and `{y}` (a lone one is `{y}`), `{ct}` its
/// tolerance; the operands that it takes; whether it gives truth values. None: the array API has
/// no such function.
fn row(
    op: Op,
    on_bits: bool,
    whole: bool,
    exact: bool,
    sure: bool,
) -> Option<(&'static str, Takes, bool)> {
    let float = |text| Some((text, Numbers, false));
    let truth = |text| Some((text, if on_bits { Numbers } else { Alike }, true));
    match (op, exact) {
        (Op::Conj | Op::Circle(9 | -9 | -10), _) => Some(("{y}", Alike, false)),
        (Op::Neg, _) => float("-{y}"),
        (Op::Sign, _) => float("xp.sign({y:})"),
        (Op::Recip, _) => float("1.0 / {y}"),
        (Op::Exp, _) => float("xp.exp({y:})"),
        (Op::Ln, _) => float("xp.log({y:})"),
        (Op::Floor, true) => float("xp.floor({y:})"),
        (Op::Floor, false) => float("_floor(xp, {y:}, {ct})"),
        (Op::Ceil, true) => float("xp.ceil({y:})"),
        (Op::Ceil, false) => float("-_floor(xp, -{y}, {ct})"),
        (Op::Abs | Op::Circle(10), _) => float("xp.abs({y:})"),
        (Op::Pi, _) => float("xp.pi * {y}"),
        (Op::Not, _) => Some(("~{y}", Bits, true)),
        (Op::Sqrt, _) => float("xp.sqrt({y:})"),
        (Op::Circle(0), _) => float("xp.sqrt((1.0 - {y}) * (1.0 + {y}))"),
        (Op::Circle(1), _) => float("xp.sin({y:})"),
        (Op::Circle(2), _) => float("xp.cos({y:})"),
        (Op::Circle(3), _) => float("xp.tan({y:})"),
        (Op::Circle(4), _) => float("xp.sqrt(1.0 + {y} * {y})"),
        (Op::Circle(5), _) => float("xp.sinh({y:})"),
        (Op::Circle(6), _) => float("xp.cosh({y:})"),
        (Op::Circle(7), _) => float("xp.tanh({y:})"),
        (Op::Circle(-1), _) => float("xp.asin({y:})"),
        (Op::Circle(-2), _) => float("xp.acos({y:})"),
        (Op::Circle(-3), _) => float("xp.atan({y:})"),
        (Op::Circle(-5), _) => float("xp.asinh({y:})"),
        (Op::Circle(-6), _) => float("xp.acosh({y:})"),
        (Op::Circle(-7), _) => float("xp.atanh({y:})"),
        (Op::Add, _) => float("{x} + {y}"),
        (Op::Sub, _) => float("{x} - {y}"),
        (Op::Mul | Op::Dot | Op::Mac, _) => float("{x} * {y}"),
        (Op::Div, _) if sure => float("{x} / {y}"),
        (Op::Div, _) => float("_divide(xp, {x:}, {y:})"),
        (Op::Pow, _) => float("{x} ** {y}"),
        (Op::Log, _) => float("_divide(xp, xp.log({y:}), xp.log({x:}))"),
        (Op::Max, _) if on_bits => Some(("{x} | {y}", Bits, true)),
        (Op::Min, _) if on_bits => Some(("{x} & {y}", Bits, true)),
        (Op::Max, _) => float("xp.maximum({x:}, {y:})"),
        (Op::Min, _) => float("xp.minimum({x:}, {y:})"),
        (Op::Residue, _) => float("_residue(xp, {x:}, {y:}, {ct})"),
        (Op::Lcm, _) if on_bits => Some(("{x} & {y}", Bits, true)),
        (Op::Gcd, _) if on_bits => Some(("{x} | {y}", Bits, true)),
        (Op::Lcm, _) if whole => float("_lcm(xp, {x:}, {y:})"),
        (Op::Gcd, _) if whole => float("_gcd(xp, {x:}, {y:})"),
        (Op::Nand, _) => Some(("~({x} & {y})", Bits, true)),
        (Op::Nor, _) => Some(("~({x} | {y})", Bits, true)),
        (Op::Eq, _) if on_bits => Some(("{x} == {y}", Bits, true)),
        (Op::Ne, _) if on_bits => Some(("{x} != {y}", Bits, true)),
        (Op::Eq, true) => truth("{x} == {y}"),
        (Op::Ne, true) => truth("{x} != {y}"),
        (Op::Lt, true) => truth("{x} < {y}"),
        (Op::Le, true) => truth("{x} <= {y}"),
        (Op::Ge, true) => truth("{x} >= {y}"),
        (Op::Gt, true) => truth("{x} > {y}"),
        (Op::Eq, false) => truth("_equal(xp, {x:}, {y:}, {ct})"),
        (Op::Ne, false) => truth("~_equal(xp, {x:}, {y:}, {ct})"),
        (Op::Lt, false) => truth("({x} < {y}) & ~_equal(xp, {x:}, {y:}, {ct})"),
        (Op::Le, false) => truth("({x} < {y}) | _equal(xp, {x:}, {y:}, {ct})"),
        (Op::Ge, false) => truth("({x} > {y}) | _equal(xp, {x:}, {y:}, {ct})"),
        (Op::Gt, false) => truth("({x} > {y}) & ~_equal(xp, {x:}, {y:}, {ct})"),
        _ => None,
    }
}

/// The value of an operation whose result has that type.
pub fn value(
    w: &mut Writer,
    op: Op,
    ct: f64,
    operands: &[(Value, DType)],
    dtype: DType,
) -> Result<Value, Refused> {
    let bits = operands.iter().all(|(_, d)| *d == DType::Bool);
    let whole = operands.iter().all(|(v, d)| d.is_integer() || v.is_whole());
    let zero = operands.iter().any(|(v, _)| v.literal() == Some(0.0));
    let tests = operands.len() == 2 && op.row().gives == aplomb_values::prim::op::Gives::Bool;
    let exact = ct == 0.0 || whole || tests && zero;
    let last = operands.last().and_then(|(v, _)| v.literal());
    let sure = last.is_some_and(|y| y != 0.0);
    if op == Op::Pow && last == Some(0.5) {
        return value(w, Op::Sqrt, 0.0, &operands[..1], dtype);
    }
    let (text, takes, truth) = row(op, bits, whole, exact, sure)
        .ok_or_else(|| Refused::new(format!("the array API has no {}", op.glyph())))?;
    let kind = match takes {
        Bits => Kind::Bool,
        Alike if operands.iter().all(|(v, _)| v.kind == Kind::Bool) => Kind::Bool,
        Alike | Numbers => {
            let narrow = |(v, d): &(Value, DType)| {
                v.kind == Kind::F32 || v.literal().is_some() && *d != DType::F64
            };
            let compared = truth && operands.iter().all(|(v, _)| v.kind == Kind::F32);
            let f32s = dtype == DType::F32 && operands.iter().all(narrow) || compared;
            if f32s { Kind::F32 } else { Kind::F64 }
        }
    };
    let mut given: Vec<Value> = operands.iter().map(|(v, _)| v.to(kind)).collect();
    // A function of the array API takes an array, and so does an operator that has one.
    if given.iter().all(|v| v.literal().is_some()) {
        given[0] = given[0].as_array(kind);
    }
    if op == Op::Div && !sure {
        given[1] = given[1].as_array(kind);
    }
    let mut out = text.replace("{ct}", &fit::number(ct));
    let last = given.len() - 1;
    for (operand, mark) in [(0, "x"), (last, "y")] {
        let (between, inside) = (format!("{{{mark}}}"), format!("{{{mark}:}}"));
        // What stands twice in a text is computed once.
        let times = out.matches(&between).count() + out.matches(&inside).count();
        if times > 1 && fit::width(&given[operand].text) > 24 {
            let name = w.local("t", &given[operand].text);
            given[operand] = Value::atom(name, given[operand].kind);
        }
        let own = &given[operand];
        out = out.replace(&between, &own.guarded()).replace(&inside, &own.text);
    }
    let kind = if truth { Kind::Bool } else { kind };
    let made = match text {
        "{y}" => given[last].clone(),
        _ => Value::expression(out, kind),
    };
    Ok(if dtype == DType::F32 && made.kind == Kind::F64 { made.to(Kind::F32) } else { made })
}

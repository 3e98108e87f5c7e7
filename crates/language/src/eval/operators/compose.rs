//! `⍨ ∘ ⍥ ⍛`: who gets which argument.

use super::function;
use crate::eval::run::Eval;
use crate::eval::value::Operand;
use crate::functions::shape::Axis;
use aplomb_ground::error::{Result, syntax};
use aplomb_values::array::Array;

/// `f⍨`: the arguments change places; `A⍨` gives A.
pub fn commute(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    _: Axis<'_>,
) -> Result<Array> {
    match &f[0] {
        Operand::A(a) => Ok(a.clone()),
        Operand::F(f) => ev.apply(f, Some(y), x.unwrap_or(y)),
    }
}

/// `f∘g`, `A∘g`, `f∘A`
pub fn beside(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    _: Axis<'_>,
) -> Result<Array> {
    match (&f[0], &f[1], x) {
        (Operand::F(f), Operand::F(g), x) => {
            let right = ev.apply(g, None, y)?;
            ev.apply(f, x, &right)
        }
        (Operand::A(_), Operand::A(_), _) => Err(syntax("∘ needs a function")),
        (Operand::A(a), Operand::F(g), None) => ev.apply(g, Some(a), y),
        (Operand::F(f), Operand::A(a), None) => ev.apply(f, Some(y), a),
        _ => Err(syntax("a function with a bound argument takes one argument")),
    }
}

/// `f⍥g`: f of what g makes of each argument.
pub fn over(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    _: Axis<'_>,
) -> Result<Array> {
    let (f, g) = (function(&f[0])?, function(&f[1])?);
    let right = ev.apply(g, None, y)?;
    match x {
        None => ev.apply(f, None, &right),
        Some(x) => {
            let left = ev.apply(g, None, x)?;
            ev.apply(f, Some(&left), &right)
        }
    }
}

/// `f⍛g`: g of what f makes of X, and Y.
pub fn behind(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    _: Axis<'_>,
) -> Result<Array> {
    match (&f[0], &f[1]) {
        (Operand::F(f), Operand::F(g)) => {
            let left = ev.apply(f, None, x.unwrap_or(y))?;
            ev.apply(g, Some(&left), y)
        }
        (Operand::A(a), Operand::F(g)) if x.is_none() => ev.apply(g, Some(a), y),
        (Operand::F(f), Operand::A(a)) if x.is_none() => {
            let left = ev.apply(f, None, y)?;
            let _ = left;
            Err(syntax(format!(
                "⍛ needs a function on its right, not {}",
                aplomb_values::array::format::shape_text(a.shape())
            )))
        }
        _ => Err(syntax("⍛ needs functions")),
    }
}

//! The scan of a line by a body that shifts ⍵ and holds it between bounds, `0⌈⍺+⍵`: such maps
//! compose.
//!
//! What the items so far make of a value on their right is `high⌊low⌈value+shift`, and what one
//! item more makes of it is that after another such map, which is one again: the shifts add up, and
//! the bounds of the inner one go through the outer. So a prefix takes one step. The sums are
//! bracketed from the left, as those of `affine` are.

use super::What;
use super::prefixes::Prefixes;
use crate::prim::op::Op;
use crate::prim::scalar::eval;

/// A map of numbers: the shift, and between which bounds its results are.
#[derive(Clone, Copy)]
struct Clamp {
    shift: f64,
    low: f64,
    high: f64,
}

impl Clamp {
    const SAME: Clamp = Clamp { shift: 0.0, low: f64::NEG_INFINITY, high: f64::INFINITY };

    fn of(self, x: f64) -> f64 {
        (x + self.shift).max(self.low).min(self.high)
    }

    /// The map that first does what another does.
    fn after(self, first: Clamp) -> Clamp {
        let (low, high) = (self.of(first.low), self.of(first.high));
        Clamp { shift: self.shift + first.shift, low, high }
    }

    /// The same map followed by one that keeps the order of numbers.
    fn bounds(self, by: f64, then: impl Fn(f64) -> f64) -> Clamp {
        Clamp { shift: self.shift + by, low: then(self.low), high: then(self.high) }
    }
}

/// A value of the body for one ⍺: a number, or what becomes of ⍵.
#[derive(Clone, Copy)]
enum Value {
    Number(f64),
    Map(Clamp),
}

impl Prefixes<'_> {
    /// The scan by composed maps. None: the body is no such map, or some number is not finite, or
    /// one is ¯0, whose sign the order of steps decides.
    pub fn clamped<E>(
        &self,
        items: &[f64],
        out: &mut [f64],
        mut tick: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<()>, E> {
        let (mut sum, mut values) = (Clamp::SAME, Vec::new());
        for (k, (&x, out)) in items.iter().zip(out).enumerate() {
            tick(k)?;
            *out = sum.of(x);
            let Some(next) = self.clamp(x, &mut values) else { return Ok(None) };
            sum = sum.after(next);
            let odd = x.to_bits() == (-0.0f64).to_bits();
            if odd || !(x.is_finite() && out.is_finite() && sum.shift.is_finite()) {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// The map of ⍵ that the body is with an item on its left. None: it is no such map.
    fn clamp(&self, item: f64, values: &mut Vec<Value>) -> Option<Clamp> {
        values.clear();
        for step in &self.body.steps {
            let at = |v: &u32| values[*v as usize];
            let made = match &step.what {
                What::Arg(0) => Value::Number(item),
                What::Arg(1) => Value::Map(Clamp::SAME),
                What::Arg(k) => Value::Number(*self.given.get(*k as usize - 2)?),
                What::Const(x) => Value::Number(*x),
                What::Select { cond, yes, no } => match at(cond) {
                    Value::Number(0.0) => at(no),
                    Value::Number(_) => at(yes),
                    Value::Map(_) => return None,
                },
                What::Op { op, ct, args } => match (args.first().map(at)?, args.get(1).map(at)) {
                    (Value::Number(x), None) => Value::Number(eval(*op, *ct, x, 0.0).ok()?),
                    (Value::Number(x), Some(Value::Number(y))) => {
                        Value::Number(eval(*op, *ct, x, y).ok()?)
                    }
                    (Value::Map(map), None) if *op == Op::Conj => Value::Map(map),
                    (Value::Map(map), Some(Value::Number(x))) if *op == Op::Sub => {
                        Value::Map(map.bounds(-x, |of| of - x))
                    }
                    (Value::Map(map), Some(Value::Number(x)))
                    | (Value::Number(x), Some(Value::Map(map))) => Value::Map(match op {
                        Op::Add => map.bounds(x, |of| of + x),
                        Op::Max => map.bounds(0.0, |of| of.max(x)),
                        Op::Min => map.bounds(0.0, |of| of.min(x)),
                        _ => return None,
                    }),
                    _ => return None,
                },
                _ => return None,
            };
            values.push(made);
        }
        match values.get(self.body.next[0] as usize)? {
            Value::Map(map) => Some(*map),
            Value::Number(_) => None,
        }
    }
}

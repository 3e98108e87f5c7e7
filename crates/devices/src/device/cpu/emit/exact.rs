//! Operations beside a known number, as fewer and exact steps.
//!
//! | operation | steps | why it is the same |
//! |---|---|---|
//! | `x<n` and its kin, under ⎕CT | one comparison, of `x=n` two | what equals n lies between two floats |
//! | `⌊x`, x a whole number | none | |
//! | `⌊x÷n`, `⌈x÷n` of whole numbers, n ≥ 1 | a product by the reciprocal, a floor | `whole_quotient` |
//! | `n\|x` of whole numbers, n ≥ 1 | the same, and one step back | `modulo` |
//!
//! A rule that takes any two operands (`scalar::rules`) needs up to twelve steps for these, and a
//! division takes as long as ten of them. What is whole is known by the intervals of the tape.

use super::builder::Builder;
use super::record::{Val, is_comparison};
use super::tape::{Bin, Cmp, Id, Kind};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar;

/// The size below which a number times a reciprocal is off by less than ½ of a whole one.
const NEAR: i64 = 1 << 50;

impl Builder {
    /// An operation of which an operand is a known number, or whose value is known. None: it has no
    /// shorter steps.
    pub fn beside_number(&mut self, op: Op, x: Val, y: Val, ct: f64) -> Option<Id> {
        match (op, x, y) {
            (Op::Floor | Op::Ceil, Val::Of(id), _) if self.kind(id) == Kind::F64 => {
                if self.whole_span(id).is_some() {
                    return Some(id);
                }
                let (of, by) = self.quotient(id)?;
                self.whole_quotient(of, by, ct, op == Op::Ceil)
            }
            (Op::Residue, Val::Number(by), Val::Of(of)) => self.modulo(by, of),
            (_, Val::Of(of), Val::Number(number)) => self.compared_with(op, of, number, ct),
            (_, Val::Number(number), Val::Of(of)) => {
                self.compared_with(mirrored(op), of, number, ct)
            }
            _ => None,
        }
    }

    /// A comparison of floats with a number under ⎕CT.
    fn compared_with(&mut self, op: Op, x: Id, number: f64, ct: f64) -> Option<Id> {
        if !is_comparison(op) || ct <= 0.0 || !number.is_finite() {
            return None;
        }
        if matches!(self.kind(x), Kind::Mask | Kind::Int) && number.trunc() == number {
            return None;
        }
        let (least, most) = equal_to(number, ct);
        let [least, most] = [least, most].map(|end| self.f64(end));
        let x = self.turned(x, Kind::F64);
        Some(match op {
            Op::Lt => self.cmp(Cmp::Lt, x, least),
            Op::Ge => self.cmp(Cmp::Le, least, x),
            Op::Gt => self.cmp(Cmp::Lt, most, x),
            Op::Le => self.cmp(Cmp::Le, x, most),
            _ => {
                let (above, below) = (self.cmp(Cmp::Le, least, x), self.cmp(Cmp::Le, x, most));
                let equal = self.both(above, below);
                if op == Op::Eq { equal } else { self.not(equal) }
            }
        })
    }

    /// `⌊a÷n` of whole numbers; `⌈a÷n` is `-⌊(-a)÷n`. A quotient that is none is at least 1÷n from
    /// the next whole number, which is beyond ⎕CT where ct×|a|⌈n is small, so the floor is the true
    /// quotient's. That of (a+½)÷n is the same, since a whole a reaches no multiple of n by ½; and
    /// it is at least ½÷n from any whole number, more than product and reciprocal are rounded by.
    fn whole_quotient(&mut self, a: Id, n: f64, ct: f64, up: bool) -> Option<Id> {
        let (low, high) = self.whole_span(a)?;
        let (whole, size) = (n as i64, low.abs().max(high.abs()));
        if !(1..NEAR).contains(&whole) || whole as f64 != n || size >= NEAR {
            return None;
        }
        if (ct + f64::EPSILON * 4.0) * (size.max(whole) as f64 + 1.0) > 0.25 {
            return None;
        }
        let (low, high, part) = if up { (-high, -low, -1.0 / n) } else { (low, high, 1.0 / n) };
        let [part, half, zero] = [part, 0.5 / n, 0.0].map(|number| self.f64(number));
        let quotient = self.fma(a, part, half);
        let span = (low.div_euclid(whole), high.div_euclid(whole));
        let quotient = self.floor_within(quotient, span);
        Some(if up { self.bin(Bin::Sub, zero, quotient) } else { quotient })
    }

    /// Whole numbers modulo one of 1 and more. A product with the reciprocal is off by less than
    /// 1 of a quotient, so its floor is the quotient's or one beside it; what is left of the
    /// number is exact, and one step brings it back between 0 and the modulus.
    fn modulo(&mut self, by: f64, of: Id) -> Option<Id> {
        let (low, high) = self.whole_span(of)?;
        let whole = by as i32;
        if whole < 1 || f64::from(whole) != by || low <= -NEAR || high >= NEAR {
            return None;
        }
        let x = self.turned(of, Kind::F64);
        let [one, less, zero, part] = [by, -by, 0.0, 1.0 / by].map(|number| self.f64(number));
        let quotient = self.bin(Bin::Mul, x, part);
        let quotient = self.floor(quotient);
        let rest = self.fma(quotient, less, x);
        let up = self.bin(Bin::Add, rest, one);
        let down = self.bin(Bin::Add, rest, less);
        let (low, high) = (self.cmp(Cmp::Lt, rest, zero), self.cmp(Cmp::Le, one, rest));
        let rest = self.blend(low, up, rest);
        let rest = self.blend(high, down, rest);
        Some(self.whole(rest, (0, i64::from(whole) - 1)))
    }
}

/// The comparison that holds of y and x where this one does of x and y.
fn mirrored(op: Op) -> Op {
    match op {
        Op::Lt => Op::Gt,
        Op::Gt => Op::Lt,
        Op::Le => Op::Ge,
        Op::Ge => Op::Le,
        _ => op,
    }
}

/// The least and the greatest float that equal a number under a tolerance. They stand around it
/// without a gap: the difference grows by a unit from one float to the next, the bound by ⎕CT of
/// one at most.
fn equal_to(number: f64, ct: f64) -> (f64, f64) {
    (last_equal(number, ct, -1), last_equal(number, ct, 1))
}

/// The last float in a direction that equals a number: found by steps that double, then halve.
fn last_equal(number: f64, ct: f64, way: i64) -> f64 {
    // Floats in their order; adding 0 makes -0 one of them.
    let at = |key: i64| f64::from_bits((key ^ ((key >> 63) & i64::MAX)) as u64);
    let bits = (number + 0.0).to_bits() as i64;
    let from = bits ^ ((bits >> 63) & i64::MAX);
    let equal = |steps: i64| scalar::eval(Op::Eq, ct, at(from + way * steps), number) == Ok(1.0);
    let mut beyond = 1;
    while equal(beyond) {
        beyond *= 2;
    }
    let mut within = beyond / 2;
    while beyond - within > 1 {
        let middle = within + (beyond - within) / 2;
        if equal(middle) { within = middle } else { beyond = middle }
    }
    at(from + way * within)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ends of what equals a number, and what lies around them, are as the comparison has it.
    #[test]
    fn the_ends_of_what_equals_a_number_are_the_comparison_s() {
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            seed >> 11
        };
        let named = [0.0, -0.0, 1.0, 0.5, 2.0, -1.0, 1e300, -1e-300, f64::MIN_POSITIVE, f64::MAX];
        let drawn: Vec<f64> = (0..300)
            .map(|_| (random() as f64 - 4.5e15) * 2f64.powi((random() % 600) as i32 - 300))
            .collect();
        for number in named.into_iter().chain(drawn) {
            for ct in [1e-14, 1e-9, 2f64.powi(-32), 1e-16] {
                let (least, most) = equal_to(number, ct);
                let same = |x: f64| scalar::eval(Op::Eq, ct, x, number) == Ok(1.0);
                assert!(same(least) && same(most), "{number:e} {ct:e}");
                assert!(!same(least.next_down()) && !same(most.next_up()), "{number:e} {ct:e}");
                for _ in 0..20 {
                    let part = random() as f64 / (1_u64 << 53) as f64;
                    let x = number * (1.0 + ct * (part * 4.0 - 2.0));
                    assert_eq!(same(x), least <= x && x <= most, "{x:e} {number:e} {ct:e}");
                }
            }
        }
    }
}

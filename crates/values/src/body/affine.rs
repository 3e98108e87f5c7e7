//! The scan of a line by a body that is `p+q×⍵` for each ⍺: such maps compose.
//!
//! What the items so far make of a value on their right is `a+b×value`, and one item more makes it
//! `(a+b×p)+(b×q)×value`. So a prefix takes one step. The sums are bracketed from the left, as a
//! running sum is, and not from the right: whole numbers are the same, others may differ in the
//! last bits, as they do in `+\`.

use super::What;
use super::prefixes::{LANES, Prefixes, Strip, operate};
use crate::prim::op::Op;

/// Numbers up to here: no sum or product of a step comes near the greatest one.
const MOST: f64 = 1e30;
/// A factor below this adds no bit to a sum that is no smaller than `SUM`.
const FACTOR: f64 = 1e-150;
const SUM: f64 = 1e-100;
/// The calls of the definition stay below this.
const GROWTH: f64 = 1e200;

impl Prefixes<'_> {
    /// The scan by composed maps. None: the body is no such map, or numbers grow too large or too
    /// small for it to be told from the definition.
    pub fn affine<E>(
        &self,
        items: &[f64],
        out: &mut [f64],
        mut tick: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<()>, E> {
        let Some(depends) = self.maps_right() else { return Ok(None) };
        // Behind the last number every prefix ends with zeros, which may make 0 of each other: then
        // it has the value of the one that ends with the first of them, however large the factors.
        let end = items.iter().rposition(|x| x.to_bits() != 0).map_or(0, |k| k + 1);
        if items.len() > end + 1 && self.keeps_zero(&depends) {
            let (some, rest) = out.split_at_mut(end + 1);
            let done = self.composed(&depends, &items[..=end], some, &mut tick)?;
            rest.fill(some[end]);
            return Ok(done);
        }
        self.composed(&depends, items, out, &mut tick)
    }

    /// Whether the body makes 0 of 0 and 0, bit by bit.
    fn keeps_zero(&self, depends: &[bool]) -> bool {
        let (mut sums, mut factors) = self.begun();
        (sums[1], factors[1]) = ([0.0; LANES], [1.0; LANES]);
        let next = self.body.next[0] as usize;
        let fits = self.lines(depends, &mut sums, &mut factors, 1);
        fits && sums[next][0].to_bits() == 0 && factors[next][0].is_finite()
    }

    /// A strip for each value: the numbers, with those that are given, and the factors of ⍵.
    fn begun(&self) -> (Vec<Strip>, Vec<Strip>) {
        let width = self.body.steps.len().max(2 + self.given.len());
        let mut sums: Vec<Strip> = (0..width).map(|_| [0.0; LANES]).collect();
        let factors = sums.clone();
        for (strip, x) in sums[2..].iter_mut().zip(self.given) {
            *strip = [*x; LANES];
        }
        (sums, factors)
    }

    fn composed<E>(
        &self,
        depends: &[bool],
        items: &[f64],
        out: &mut [f64],
        tick: &mut dyn FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<()>, E> {
        let (mut sums, mut factors) = self.begun();
        let (mut a, mut b, mut growth) = (0.0f64, 1.0f64, 1.0f64);
        let parts = items.chunks(LANES).zip(out.chunks_mut(LANES));
        for (block, (part, out)) in parts.enumerate() {
            tick(block * LANES)?;
            sums[0][..part.len()].copy_from_slice(part);
            (sums[1], factors[1]) = ([0.0; LANES], [1.0; LANES]);
            let fits = self.lines(depends, &mut sums, &mut factors, part.len());
            let next = self.body.next[0] as usize;
            let (p, q) = (&sums[next], &factors[next]);
            let fine = fits
                && part.iter().zip(out).zip(p.iter().zip(q)).all(|((x, out), (p, q))| {
                    let made = a + b * *x;
                    growth = growth.max(1.0) * q.abs();
                    let small = x.abs() <= MOST && p.abs() <= MOST && q.abs() <= MOST;
                    (*out, a, b) = (made, a + b * p, b * q);
                    if b.abs() < FACTOR && a.abs() >= SUM {
                        b = 0.0;
                    }
                    let known = b == 0.0 && (*q == 0.0 || a.abs() >= SUM) || b.abs() >= FACTOR;
                    small && known && growth <= GROWTH && made.is_finite() && b.abs() <= GROWTH
                });
            if !fine {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// For each value whether it depends on ⍵, where all that do are sums of a number and a
    /// multiple of it. None: some are others.
    fn maps_right(&self) -> Option<Vec<bool>> {
        let mut depends: Vec<bool> = Vec::new();
        for step in &self.body.steps {
            let on = |v: &u32| depends[*v as usize];
            depends.push(match &step.what {
                What::Arg(k) => *k == 1,
                What::Const(_) => false,
                What::Select { cond, yes, no } if !on(cond) => on(yes) || on(no),
                What::Op { args, .. } if !args.iter().any(on) => false,
                What::Op { op: Op::Add | Op::Sub, args, .. } if args.len() == 2 => true,
                What::Op { op: Op::Neg | Op::Conj, .. } => true,
                What::Op { op: Op::Mul, args, .. } if !args.iter().all(on) => true,
                What::Op { op: Op::Div, args, .. } if !on(&args[1]) => true,
                _ => return None,
            });
        }
        depends.get(self.body.next[0] as usize).is_some_and(|on| *on).then_some(depends)
    }

    /// All values of some items: the numbers, and the factors of ⍵. False: one of them fails.
    fn lines(&self, depends: &[bool], sums: &mut [Strip], factors: &mut [Strip], n: usize) -> bool {
        type Pair<'a> = (&'a Strip, &'a Strip);
        for (k, step) in self.body.steps.iter().enumerate() {
            let (known, rest) = sums.split_at_mut(k);
            let (by, own) = factors.split_at_mut(k);
            let at = |v: u32| -> Pair<'_> { (&known[v as usize], &by[v as usize]) };
            let (p, q) = (&mut rest[0], &mut own[0]);
            match &step.what {
                What::Arg(_) => {}
                What::Const(x) => *p = [*x; LANES],
                What::Select { cond, yes, no } => {
                    let (cond, yes, no) = (at(*cond).0, at(*yes), at(*no));
                    let way = |l: usize| if cond[l] != 0.0 { yes } else { no };
                    *p = std::array::from_fn(|l| way(l).0[l]);
                    *q = std::array::from_fn(|l| way(l).1[l]);
                }
                What::Op { op, ct, args } if !depends[k] => {
                    let (x, y) = (at(args[0]).0, at(args[args.len() - 1]).0);
                    if operate(*op, *ct, (x, y), p, 0..n).is_err() {
                        return false;
                    }
                }
                What::Op { op, args, .. } => {
                    let (x, y) = (at(args[0]), at(args[args.len() - 1]));
                    let both = |f: fn(f64, f64) -> f64, x: &Strip, y: &Strip| -> Strip {
                        std::array::from_fn(|l| f(x[l], y[l]))
                    };
                    let mul = |x: f64, y: f64| x * y;
                    (*p, *q) = match op {
                        Op::Add => {
                            let add = |x: f64, y: f64| x + y;
                            (both(add, x.0, y.0), both(add, x.1, y.1))
                        }
                        Op::Sub => {
                            let sub = |x: f64, y: f64| x - y;
                            (both(sub, x.0, y.0), both(sub, x.1, y.1))
                        }
                        Op::Neg => (x.0.map(|x| -x), x.1.map(|x| -x)),
                        Op::Mul if depends[args[0] as usize] => {
                            (both(mul, x.0, y.0), both(mul, x.1, y.0))
                        }
                        Op::Mul => (both(mul, x.0, y.0), both(mul, x.0, y.1)),
                        Op::Div if y.0[..n].iter().all(|y| *y != 0.0) => {
                            let over = |x: f64, y: f64| x / y;
                            (both(over, x.0, y.0), both(over, x.1, y.0))
                        }
                        Op::Conj => (*x.0, *x.1),
                        _ => return false,
                    };
                }
                _ => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::DType;
    use crate::body::{Rounds, Step};

    /// `⍺+g×⍵`, or `⍺-g×⍵`.
    fn body(op: Op) -> Rounds {
        let float = |what| Step::new(what, DType::F64, ());
        let steps = vec![
            float(What::Arg(0)),
            float(What::Arg(1)),
            float(What::Arg(2)),
            float(What::op(Op::Mul, 0.0, [2, 1])),
            float(What::op(op, 0.0, [0, 3])),
        ];
        Rounds { count: 1, until: None, steps, next: vec![4] }
    }

    #[test]
    fn maps_that_compose_are_the_definition() {
        for op in [Op::Add, Op::Sub] {
            for (given, whole) in [(1.0, true), (-1.0, true), (0.5, false), (0.999, false)] {
                let body = body(op);
                let items: Vec<f64> = (0..3_000).map(|k| f64::from(k * 37 % 101 - 50)).collect();
                let given = [given];
                let prefixes = Prefixes::new(&body, &given);
                let (mut ran, mut wanted) = (items.clone(), vec![0.0; items.len()]);
                let done = prefixes.affine(&items, &mut ran, |_| Ok::<_, ()>(()));
                assert_eq!(done, Ok(Some(())), "{op:?} {given:?}");
                prefixes.folded(&items, &mut wanted, |_| Ok::<_, ()>(())).expect("a value");
                for (x, y) in ran.iter().zip(&wanted) {
                    let near = (x - y).abs() <= 1e-12 * y.abs().max(1.0);
                    assert!(if whole { x == y } else { near }, "{x} {y}");
                }
            }
        }
    }

    #[test]
    fn zeros_at_the_end_ask_for_no_factor() {
        let mut items = vec![0.0; 5_000];
        (items[0], items[2]) = (1.0, 3.0);
        for (op, given) in [(Op::Add, 1.5), (Op::Sub, 3.0), (Op::Add, 0.5)] {
            let (body, given) = (body(op), [given]);
            let prefixes = Prefixes::new(&body, &given);
            let (mut ran, mut wanted) = (items.clone(), vec![0.0; items.len()]);
            let done = prefixes.affine(&items, &mut ran, |_| Ok::<_, ()>(()));
            assert_eq!(done, Ok(Some(())), "{op:?} {given:?}");
            prefixes.folded(&items, &mut wanted, |_| Ok::<_, ()>(())).expect("a value");
            assert_eq!(ran, wanted, "{op:?} {given:?}");
        }
    }

    #[test]
    fn what_grows_or_is_no_such_map_is_left_to_the_definition() {
        let items: Vec<f64> = (0..2_000).map(f64::from).collect();
        let tried = |body: &Rounds, given: f64, items: &[f64]| {
            let mut ran = items.to_vec();
            Prefixes::new(body, &[given]).affine(items, &mut ran, |_| Ok::<_, ()>(()))
        };
        assert_eq!(tried(&body(Op::Add), 2.0, &items), Ok(None));
        assert_eq!(tried(&body(Op::Add), 1.0, &[1.0, f64::INFINITY, 2.0]), Ok(None));
        assert_eq!(tried(&body(Op::Add), 1.0, &[1.0, f64::NAN, 2.0]), Ok(None));
        // Nothing but zeros stand before what would lose its bits.
        let mut zeros = vec![0.0; 1_200];
        zeros.push(5.0);
        assert_eq!(tried(&body(Op::Add), 0.5, &zeros), Ok(None));
        assert_eq!(tried(&body(Op::Max), 1.0, &items), Ok(None));
    }
}

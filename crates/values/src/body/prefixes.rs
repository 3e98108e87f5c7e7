//! The scan of a line by the body of a fold: each prefix folded from the right, as its definition
//! says.
//!
//! A fold's body says what one call does to an item and to what stands on its right. Where items
//! and results are few values (booleans, small codes), a call with an item on its left is a map of
//! those values, and maps compose: one step an item, whatever the function. Else each prefix is
//! folded by itself, `LANES` of them side by side: n²÷2 calls, and each is a few operations on
//! vectors of numbers.

use super::{Rounds, What};
use crate::prim::op::Op;
use crate::prim::scalar::lane::Lane;
use crate::prim::scalar::rules::{Rule, Visit, visit};
use crate::prim::scalar::{Fail, eval};

/// Prefixes that are folded side by side.
pub const LANES: usize = 128;

/// Values between which a function that gives no others is a table.
const FEW: usize = 16;

pub(super) type Strip = [f64; LANES];

/// A scan with what stays the same in all calls.
pub struct Prefixes<'a> {
    pub(super) body: &'a Rounds,
    pub(super) given: &'a [f64],
}

/// A choice of ⍺ or ⍵ by an order of their keys.
#[derive(Clone, Copy)]
struct Prefers {
    op: Op,
    ct: f64,
    /// The value that is the key of the argument `of`, which stands left in the comparison.
    key: u32,
    of: u32,
    /// ⍵ is taken where the comparison holds; else where it does not.
    right_if: bool,
}

impl Prefers {
    /// Whether ⍵ is taken, by the key of ⍺ and that of ⍵.
    fn takes_right(self, left: f64, right: f64) -> bool {
        let (x, y) = if self.of == 0 { (left, right) } else { (right, left) };
        let holds = match self.op {
            Op::Lt => x < y,
            Op::Le => x <= y,
            Op::Ge => x >= y,
            _ => x > y,
        };
        holds == self.right_if
    }
}

/// The reason why a scan has no result here: from this prefix on some call fails, or somebody wants
/// it to end.
#[derive(Debug, PartialEq)]
pub enum Ends<E> {
    /// The first prefix of which some call fails.
    Fails(usize),
    /// The error by which somebody ended it.
    Stopped(E),
}

impl<'a> Prefixes<'a> {
    /// `body` takes an item, what stands on its right, and the numbers `given`.
    pub fn new(body: &'a Rounds, given: &'a [f64]) -> Prefixes<'a> {
        Prefixes { body, given }
    }

    /// One call. None: it fails.
    fn call(&self, values: &mut Vec<f64>, item: f64, right: f64) -> Option<f64> {
        values.clear();
        values.extend([item, right]);
        values.extend_from_slice(self.given);
        let mut fine = true;
        self.body.steps_into(values, &mut |_| fine = false);
        values.get(self.body.next[0] as usize).copied().filter(|_| fine)
    }

    /// The scan by composed maps, in place. None, and nothing changed: there are more than `FEW`
    /// values, or a call of two of them fails.
    ///
    /// Always: `before[v]` is what the items so far make of the value v on their right, which is
    /// the fold of a prefix that ends in v. The next item a makes `a f v` of v first, so the map of
    /// one item more is `before` after that one, and no rounding can differ: each entry is the
    /// value of the calls that the definition makes.
    pub fn mapped<E>(
        &self,
        items: &mut [f64],
        mut tick: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<()>, E> {
        let mut known: Vec<f64> = Vec::new();
        let place = |known: &[f64], x: f64| known.iter().position(|k| k.to_bits() == x.to_bits());
        for &x in items.iter() {
            if place(&known, x).is_none() {
                known.push(x);
            }
            if known.len() > FEW {
                return Ok(None);
            }
        }
        // Every item with every value there is, until they give no new one.
        let lefts = known.len();
        let mut table: Vec<Vec<usize>> = vec![Vec::new(); lefts];
        let mut values = Vec::new();
        let mut right = 0;
        while right < known.len() {
            for left in 0..lefts {
                let Some(z) = self.call(&mut values, known[left], known[right]) else {
                    return Ok(None);
                };
                table[left].push(match place(&known, z) {
                    Some(at) => at,
                    None => {
                        known.push(z);
                        known.len() - 1
                    }
                });
            }
            if known.len() > FEW {
                return Ok(None);
            }
            right += 1;
        }
        let mut before: [u8; FEW] = std::array::from_fn(|v| v as u8);
        let mut last = 0;
        for (k, item) in items.iter_mut().enumerate() {
            tick(k)?;
            let Some(at) = place(&known[..lefts], *item) else { return Ok(None) };
            if k > 0 {
                let first: &[usize] = &table[last];
                before = std::array::from_fn(|v| first.get(v).map_or(0, |w| before[*w]));
            }
            *item = known[before[at] as usize];
            last = at;
        }
        Ok(Some(()))
    }

    /// The scan by one call an item, in place, of a function that is associative by its text. None,
    /// and nothing changed: nothing says that it is, or a call fails.
    ///
    /// Why it is right: (1) a choice of ⍺ or ⍵ by a test of one of them alone. By ⍵: `a f b f c` is
    /// c, b or a, the last whose test says itself, however it is bracketed; by ⍺ it is the first.
    /// Its values are items, so no rounding can differ. (2) `m|⍺+⍵` and `m|⍺×⍵` of whole numbers
    /// so small that sums and products are exact: both bracketings are the one remainder. (3) a
    /// choice of ⍺ or ⍵ by which of the two has the greater key (`{(|⍺)>|⍵:⍺ ⋄ ⍵}`), where keys
    /// that differ differ by more than the tolerance: keys are in order then, and both bracketings
    /// give the item with the greatest or the least, of equal ones the first or the last.
    pub fn running<E>(
        &self,
        items: &mut [f64],
        mut tick: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<()>, E> {
        if let Some(prefers) = self.prefers() {
            let Some(keys) = self.keys(prefers, items) else { return Ok(None) };
            let mut best = 0;
            for k in 1..items.len() {
                tick(k)?;
                if prefers.takes_right(keys[best], keys[k]) {
                    best = k;
                }
                items[k] = items[best];
            }
            return Ok(Some(()));
        }
        if !self.chooses() && !self.is_remainder(items) {
            return Ok(None);
        }
        let before = items.to_vec();
        let mut values = Vec::new();
        for k in 1..items.len() {
            tick(k)?;
            let Some(z) = self.call(&mut values, items[k - 1], items[k]) else {
                items.copy_from_slice(&before);
                return Ok(None);
            };
            items[k] = z;
        }
        Ok(Some(()))
    }

    fn what(&self, value: u32) -> Option<&What> {
        self.body.steps.get(value as usize).map(|step| &step.what)
    }

    /// The argument that a value is, if it is one: 0 is ⍺, 1 is ⍵.
    fn argument(&self, value: u32) -> Option<u32> {
        match self.what(value) {
            Some(What::Arg(k)) if *k < 2 => Some(*k),
            _ => None,
        }
    }

    /// Whether the value is ⍺ or ⍵, by a test of one of them.
    fn chooses(&self) -> bool {
        let Some(What::Select { cond, yes, no }) = self.what(self.body.next[0]) else {
            return false;
        };
        let both = (self.argument(*yes), self.argument(*no));
        if !matches!(both, (Some(0), Some(1)) | (Some(1), Some(0))) {
            return false;
        }
        let (mut seen, mut waiting) = ([false; 2], vec![*cond]);
        while let Some(value) = waiting.pop() {
            match self.argument(value) {
                Some(k) => seen[k as usize] = true,
                None => waiting.extend(self.what(value).iter().flat_map(|what| what.args())),
            }
        }
        seen != [true, true]
    }

    /// The order of keys by which the value is ⍺ or ⍵, if it is one of them by such an order.
    fn prefers(&self) -> Option<Prefers> {
        let Some(What::Select { cond, yes, no }) = self.what(self.body.next[0]) else {
            return None;
        };
        let right_if = match (self.argument(*yes), self.argument(*no)) {
            (Some(0), Some(1)) => false,
            (Some(1), Some(0)) => true,
            _ => return None,
        };
        let Some(What::Op { op, ct, args }) = self.what(*cond) else { return None };
        let is_order = matches!(op, Op::Lt | Op::Le | Op::Ge | Op::Gt);
        let (&[left, right], true) = (&args[..], is_order) else { return None };
        let of = [0, 1].into_iter().find(|own| self.is_twin(left, right, *own))?;
        Some(Prefers { op: *op, ct: *ct, key: left, of, right_if })
    }

    /// Whether two values are one function, the first of the argument `own` alone, the second of
    /// the other one.
    fn is_twin(&self, left: u32, right: u32, own: u32) -> bool {
        match (self.what(left), self.what(right)) {
            (Some(What::Arg(a)), Some(What::Arg(b))) if *a < 2 || *b < 2 => {
                *a == own && *b == 1 - own
            }
            (Some(What::Arg(a)), Some(What::Arg(b))) => a == b,
            (Some(What::Const(a)), Some(What::Const(b))) => a.to_bits() == b.to_bits(),
            (
                Some(What::Op { op: f, ct: a, args: xs }),
                Some(What::Op { op: g, ct: b, args: ys }),
            ) => {
                let each = |(x, y): (&u32, &u32)| self.is_twin(*x, *y, own);
                f == g && a == b && xs.len() == ys.len() && xs.iter().zip(ys).all(each)
            }
            _ => false,
        }
    }

    /// The key of each item. None: one has none, or two differ by less than the tolerance.
    fn keys(&self, by: Prefers, items: &[f64]) -> Option<Vec<f64>> {
        let mut values = Vec::new();
        let itself = self.argument(by.key) == Some(by.of);
        let key = |x: f64| match itself {
            true => Some(x),
            false => self.call(&mut values, x, x).map(|_| values[by.key as usize]),
        };
        let keys: Vec<f64> = items.iter().copied().map(key).collect::<Option<_>>()?;
        if keys.iter().any(|x| x.is_nan()) {
            return None;
        }
        let most = keys.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        if keys.iter().all(|x| *x == x.trunc()) && most * by.ct < 0.5 {
            return Some(keys);
        }
        let mut sorted = keys.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let near = |a: f64, b: f64| a != b && eval(Op::Eq, by.ct, a, b) != Ok(0.0);
        (!sorted.windows(2).any(|pair| near(pair[0], pair[1]))).then_some(keys)
    }

    /// Whether the value is `m|⍺+⍵` or `m|⍺×⍵`, and exact on these items.
    fn is_remainder(&self, items: &[f64]) -> bool {
        let whole = |x: f64, most: f64| x == x.trunc() && x.abs() <= most;
        let Some(What::Op { op: Op::Residue, args, .. }) = self.what(self.body.next[0]) else {
            return false;
        };
        let [m, of] = args[..] else { return false };
        let modulus = match self.what(m) {
            Some(What::Const(x)) => *x,
            Some(What::Arg(k)) if *k >= 2 => self.given[*k as usize - 2],
            _ => return false,
        };
        let Some(What::Op { op: Op::Add | Op::Mul, args, .. }) = self.what(of) else {
            return false;
        };
        let both: Vec<_> = args.iter().map(|v| self.argument(*v)).collect();
        matches!(both[..], [Some(0), Some(1)] | [Some(1), Some(0)])
            && whole(modulus, f64::from(1 << 20))
            && modulus > 0.0
            && items.iter().all(|x| whole(*x, f64::from(1 << 30)))
    }

    /// The scan with each prefix folded by itself. `tick` is told how many calls were made since.
    pub fn folded<E>(
        &self,
        items: &[f64],
        out: &mut [f64],
        mut tick: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), Ends<E>> {
        let arguments = 2 + self.given.len();
        let mut values: Vec<Strip> = vec![[0.0; LANES]; self.body.steps.len().max(arguments)];
        for (strip, x) in values[2..].iter_mut().zip(self.given) {
            *strip = [*x; LANES];
        }
        for first in (0..items.len()).step_by(LANES) {
            let n = LANES.min(items.len() - first);
            let mut sum = [0.0; LANES];
            sum[..n].copy_from_slice(&items[first..first + n]);
            // The item j stands left of the prefixes that end behind it.
            for j in (0..first + n - 1).rev() {
                let from = (j + 1).saturating_sub(first);
                tick(n - from).map_err(Ends::Stopped)?;
                values[0] = [items[j]; LANES];
                values[1] = sum;
                self.strips(&mut values, from, n).map_err(|_| Ends::Fails(first))?;
                let next = &values[self.body.next[0] as usize];
                sum[from..n].copy_from_slice(&next[from..n]);
            }
            out[first..first + n].copy_from_slice(&sum[..n]);
        }
        Ok(())
    }

    /// All steps on the lanes from `from` to `to`. Errors: one of them fails.
    fn strips(&self, values: &mut [Strip], from: usize, to: usize) -> Result<(), Fail> {
        for (k, step) in self.body.steps.iter().enumerate() {
            let (known, rest) = values.split_at_mut(k);
            let at = |v: u32| &known[v as usize];
            match &step.what {
                What::Arg(_) => {}
                What::Const(x) => rest[0] = [*x; LANES],
                What::Select { cond, yes, no } => {
                    let (cond, yes, no) = (at(*cond), at(*yes), at(*no));
                    rest[0] = std::array::from_fn(|l| if cond[l] != 0.0 { yes[l] } else { no[l] });
                }
                What::Op { op, ct, args } => {
                    let (x, y) = (at(args[0]), args.get(1).map_or(at(args[0]), |v| at(*v)));
                    operate(*op, *ct, (x, y), &mut rest[0], from..to)?;
                }
                _ => return Err(Fail::Bug("an instruction of launches stands in a fold")),
            }
        }
        Ok(())
    }
}

/// One operation on strips.
struct Lanes<'a> {
    x: &'a Strip,
    y: &'a Strip,
    ct: f64,
    out: &'a mut Strip,
}

impl Visit for Lanes<'_> {
    type Out = bool;

    /// Whether some lane is suspect, or may have left the finite numbers.
    #[inline(always)]
    fn rule<R: Rule>(self) -> bool {
        let mut odd = false;
        for l in 0..LANES {
            let (z, suspect) = R::lanes::<f64>(self.x[l], self.y[l], self.ct);
            self.out[l] = z;
            odd |= <f64 as Lane>::any(suspect) | !z.is_finite();
        }
        odd
    }
}

/// The fast part on all lanes; where one of them is not plain, those that count take the one
/// meaning.
pub(super) fn operate(
    op: Op,
    ct: f64,
    (x, y): (&Strip, &Strip),
    out: &mut Strip,
    lanes: std::ops::Range<usize>,
) -> Result<(), Fail> {
    let plain = visit(op, ct, Lanes { x, y, ct, out }) == Some(false);
    if !plain {
        for l in lanes {
            out[l] = eval(op, ct, x[l], y[l])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::DType;
    use crate::body::Step;

    /// `⍺+0.5×⍵`, or `⍺-⍵` limited to 3 values by 3|.
    fn body(op: Op) -> Rounds {
        let float = |what| Step::new(what, DType::F64, ());
        let steps = vec![
            float(What::Arg(0)),
            float(What::Arg(1)),
            float(What::Arg(2)),
            float(What::op(op, 0.0, [2, 1])),
            float(What::op(Op::Add, 0.0, [0, 3])),
        ];
        Rounds { count: 1, until: None, steps, next: vec![4] }
    }

    fn by_definition(body: &Rounds, given: &[f64], items: &[f64]) -> Vec<f64> {
        let prefixes = Prefixes::new(body, given);
        let mut values = Vec::new();
        let one = |k: usize| {
            let start = items[k];
            (0..k)
                .rev()
                .fold(start, |sum, j| prefixes.call(&mut values, items[j], sum).expect("a value"))
        };
        (0..items.len()).map(one).collect()
    }

    #[test]
    fn prefixes_side_by_side_are_the_definition_bit_for_bit() {
        for n in [1, 2, 127, 128, 129, 700] {
            let items: Vec<f64> = (0..n).map(|k| ((k * 37) % 101) as f64 * 0.37).collect();
            let (body, mut out) = (body(Op::Mul), vec![0.0; n]);
            let done = Prefixes::new(&body, &[0.5]).folded(&items, &mut out, |_| Ok::<_, ()>(()));
            assert_eq!(done, Ok(()));
            assert_eq!(out, by_definition(&body, &[0.5], &items), "{n}");
        }
    }

    #[test]
    fn a_choice_by_keys_is_running_and_the_definition() {
        let float = |what| Step::new(what, DType::F64, ());
        let near = [1.0, 1.0 + 1e-15, 2.0];
        for (k, op) in [Op::Lt, Op::Le, Op::Ge, Op::Gt].into_iter().enumerate() {
            for turned in [false, true] {
                let (x, y) = if turned { (3, 2) } else { (2, 3) };
                let (yes, no) = if k % 2 == 0 { (0, 1) } else { (1, 0) };
                let steps = vec![
                    float(What::Arg(0)),
                    float(What::Arg(1)),
                    float(What::op(Op::Abs, 0.0, [0])),
                    float(What::op(Op::Abs, 0.0, [1])),
                    float(What::op(op, 1e-14, [x, y])),
                    float(What::Select { cond: 4, yes, no }),
                ];
                let body = Rounds { count: 1, until: None, steps, next: vec![5] };
                let prefixes = Prefixes::new(&body, &[]);
                let mut items: Vec<f64> =
                    (0..300).map(|k| f64::from((k * 37) % 19 - 9) * 0.5).collect();
                let wanted = by_definition(&body, &[], &items);
                let done = prefixes.running(&mut items, |_| Ok::<_, ()>(()));
                assert_eq!((done, items), (Ok(Some(())), wanted), "{op:?} {turned}");
                // What a tolerance makes equal is in no order.
                let mut items = near.to_vec();
                assert_eq!(prefixes.running(&mut items, |_| Ok::<_, ()>(())), Ok(None));
                assert_eq!(items, near);
            }
        }
    }

    #[test]
    fn few_values_are_maps() {
        let body = body(Op::Max);
        let mut items: Vec<f64> = (0..500).map(|k| f64::from(k * k % 3 == 0)).collect();
        let wanted = by_definition(&body, &[-1.0], &items);
        let prefixes = Prefixes::new(&body, &[-1.0]);
        // Sums grow: no table.
        let own = items.clone();
        assert_eq!(prefixes.mapped(&mut items, |_| Ok::<_, ()>(())), Ok(None));
        assert_eq!(items, own);
        let mut out = vec![0.0; 500];
        assert_eq!(prefixes.folded(&items, &mut out, |_| Ok::<_, ()>(())), Ok(()));
        assert_eq!(out, wanted);
        let less = Rounds::once(Op::Lt, 0.0, DType::Bool);
        let wanted = by_definition(&less, &[], &items);
        let mapped = Prefixes::new(&less, &[]).mapped(&mut items, |_| Ok::<_, ()>(()));
        assert_eq!((mapped, items), (Ok(Some(())), wanted));
    }

    #[test]
    fn what_is_associative_by_its_text_runs() {
        let float = |what| Step::new(what, DType::F64, ());
        let arguments = [float(What::Arg(0)), float(What::Arg(1)), float(What::Arg(2))];
        let chosen = |by: u32, yes: u32, no: u32| {
            let test = What::op(Op::Gt, 0.0, [by, 2]);
            let more = [float(test), float(What::Select { cond: 3, yes, no })];
            Rounds { count: 1, until: None, steps: [&arguments[..], &more].concat(), next: vec![4] }
        };
        let rest = |op: Op| {
            let more =
                [float(What::op(op, 0.0, [1, 0])), float(What::op(Op::Residue, 0.0, [2, 3]))];
            Rounds { count: 1, until: None, steps: [&arguments[..], &more].concat(), next: vec![4] }
        };
        let bodies =
            [chosen(1, 0, 1), chosen(1, 1, 0), chosen(0, 0, 1), rest(Op::Add), rest(Op::Mul)];
        for body in &bodies {
            let items: Vec<f64> = (0..400).map(|k| f64::from(k * 37 % 101)).collect();
            let mut ran = items.clone();
            let done = Prefixes::new(body, &[50.0]).running(&mut ran, |_| Ok::<_, ()>(()));
            assert_eq!((done, ran), (Ok(Some(())), by_definition(body, &[50.0], &items)));
        }
        // By a test of both that is no order, or of numbers that are not whole: nothing says so.
        let mut both = chosen(1, 0, 1);
        both.steps[3] = float(What::op(Op::Eq, 0.0, [1, 0]));
        for (body, item) in [(&both, 1.0), (&bodies[3], 0.5)] {
            let mut items = vec![item; 9];
            let done = Prefixes::new(body, &[50.0]).running(&mut items, |_| Ok::<_, ()>(()));
            assert_eq!((done, items), (Ok(None), vec![item; 9]));
        }
    }

    #[test]
    fn a_failing_call_is_told_with_its_prefixes() {
        let divide = Rounds::once(Op::Div, 0.0, DType::F64);
        let mut items = vec![1.0; 300];
        items[200] = 0.0;
        let mut out = vec![0.0; 300];
        let ends = Prefixes::new(&divide, &[]).folded(&items, &mut out, |_| Ok::<_, ()>(()));
        assert_eq!(ends, Err(Ends::Fails(128)));
        let stopped = Prefixes::new(&divide, &[]).folded(&[1.0; 9], &mut out, |_| Err(7));
        assert_eq!(stopped, Err(Ends::Stopped(7)));
    }
}

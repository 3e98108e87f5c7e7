//! `+/V<⍵` and `+/⍵↑V` where V is the same in all cells: what each cell asks of V's order, or of
//! its beginning.
//!
//! Cell by cell that is the vector's length times the number of cells. Items below a number are
//! counted in a sorted V (or in a table of whole numbers), each by a search: a comparison holds for
//! V's least items up to some place, or from some place on, also within ⎕CT. Folds of beginnings
//! and of ends that no order can change are running values; others read V where it lies.

use super::joins::{Asked, MANY, behind, compares, cuts, fold_behind};
use super::{Cells, Flat};
use crate::eval::cx::Cx;
use crate::functions::shape::reverse_last;
use crate::functions::{order, select};
use crate::syntax::resolve::{FExpr, Ins};
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, DType};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::{reduce, scalar};
use std::ops::Range;

/// Whole numbers up to which sums are exact in any order.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The most items that are compared with each number: that is a launch.
const FEW: usize = 32;

/// The number of items of a vector that are less than any whole number.
enum Below {
    /// Counts by number, from the least on.
    Table { least: f64, counts: Vec<u32> },
    /// The items in order.
    Sorted(Vec<f64>),
}

impl Flat<'_, '_> {
    /// A comparison of one vector with a number of each cell and the count behind it, or the
    /// beginning of a vector and the fold behind it. None: they are something else.
    pub(super) fn ordered(
        &mut self,
        f: &FExpr,
        (x, y): (&Cells, &Cells),
        ins: &[Ins],
    ) -> Result<Option<(Cells, usize)>> {
        let made = match (compares(f), cuts(f), x, y) {
            (Some(op), _, Cells::Same(v), keys @ Cells::Each(..)) => {
                self.counted(op, true, v, keys, ins)?
            }
            (Some(op), _, keys @ Cells::Each(..), Cells::Same(v)) => {
                self.counted(op, false, v, keys, ins)?
            }
            (_, Some(front), counts @ Cells::Each(..), Cells::Same(v)) => {
                let Some(op) = fold_behind(ins) else { return Ok(None) };
                self.beginnings(op, front, v, counts)?
            }
            _ => None,
        };
        Ok(made.map(|made| (self.each_of(made), 1)))
    }

    /// Real numbers at hand, no NaN among them, of a vector. None: it is no such vector.
    fn reals(&mut self, a: &Array) -> Result<Option<(Array, Vec<f64>)>> {
        if a.rank() != 1 || !a.is_uniform() || a.is_char() || a.frame().is_some() {
            return Ok(None);
        }
        if a.dtype() == DType::F32 {
            return Ok(None);
        }
        let found = self.ev.cx.reals(a, "argument")?;
        Ok(found.filter(|(_, numbers)| !numbers.iter().any(|x| x.is_nan())))
    }

    /// `+/V<⍵`, `∨/V<⍵`; `left`: V stands left.
    fn counted(
        &mut self,
        op: Op,
        left: bool,
        v: &Array,
        keys: &Cells,
        ins: &[Ins],
    ) -> Result<Option<Array>> {
        let Some((asked @ (Asked::Count | Asked::Any), 1)) = behind(ins) else { return Ok(None) };
        let keys = self.array(keys)?;
        if v.len().saturating_mul(keys.len()) < MANY || v.len() <= FEW {
            return Ok(None);
        }
        let (Some((v, numbers)), Some((keys, wanted))) = (self.reals(v)?, self.reals(&keys)?)
        else {
            return Ok(None);
        };
        let (n, ct) = (numbers.len(), self.ev.cx.sys.settings.ct);
        let whole = v.dtype().is_integer() && keys.dtype().is_integer();
        let below = match whole.then(|| self.table(&numbers)).transpose()?.flatten() {
            Some(table) => table,
            None => Below::Sorted(self.sorted(&v)?),
        };
        // The least items are those for which `<` holds with V left, and `>` with V right.
        let from_least = matches!(op, Op::Lt | Op::Le) == left;
        let holds = |item: f64, key: f64| match left {
            true => scalar::eval(op, ct, item, key) == Ok(1.0),
            false => scalar::eval(op, ct, key, item) == Ok(1.0),
        };
        let budget = self.ev.cx.budget();
        let (mut out, mut ticks) = (budget.room(wanted.len())?, budget.ticks());
        for key in wanted {
            ticks.tick()?;
            let least = match &below {
                Below::Sorted(items) => {
                    items.partition_point(|item| holds(*item, key) == from_least)
                }
                Below::Table { least, counts } => {
                    // Items equal to the key are among the least ones where these hold for them,
                    // or where the greater ones do not.
                    let next = key + f64::from(u8::from(holds(key, key) == from_least)) - least;
                    counts[next.clamp(0.0, (counts.len() - 1) as f64) as usize] as usize
                }
            };
            let count = if from_least { least } else { n - least };
            out.push(match asked {
                Asked::Any => f64::from(u8::from(count > 0)),
                _ => count as f64,
            });
        }
        Array::numbers([out.len()].as_slice(), out, self.ev.cx.budget()).map(Some)
    }

    /// A table of the numbers of items below each whole number. None: they lie too far apart.
    fn table(&mut self, items: &[f64]) -> Result<Option<Below>> {
        let (least, most) =
            items.iter().fold((f64::MAX, f64::MIN), |(a, b), &x| (a.min(x), b.max(x)));
        let size = most - least + 2.0;
        if !(2.0..=(4 * items.len()) as f64).contains(&size) {
            return Ok(None);
        }
        let mut counts: Vec<u32> = self.ev.cx.budget().filled(0, size as usize)?;
        let mut ticks = self.ev.cx.budget().ticks();
        for x in items {
            ticks.tick()?;
            counts[(x - least) as usize + 1] += 1;
        }
        let mut sum = 0;
        for count in &mut counts {
            sum += *count;
            *count = sum;
        }
        Ok(Some(Below::Table { least, counts }))
    }

    /// The items of a vector in order.
    fn sorted(&mut self, v: &Array) -> Result<Vec<f64>> {
        let cx = &mut self.ev.cx;
        let places = order::graded_places(cx, v, false)?;
        let sorted = select::bracket(cx, v, &[Some(places)])?;
        let sorted = cx.ready(&sorted, "argument")?;
        sorted.ready_numbers(cx.budget())
    }

    /// `f/⍵↑V`, `f/⍵↓V`. None: V is filled, or a fold fails.
    fn beginnings(
        &mut self,
        op: Op,
        front: bool,
        v: &Array,
        counts: &Cells,
    ) -> Result<Option<Array>> {
        let counts = self.array(counts)?;
        if v.len().saturating_mul(counts.len()) < MANY || !counts.dtype().is_integer() {
            return Ok(None);
        }
        if let Some(made) = self.running(op, front, v, &counts)? {
            return Ok(Some(made));
        }
        let (Some((v, items)), Some((_, counts))) = (self.reals(v)?, self.reals(&counts)?) else {
            return Ok(None);
        };
        let n = items.len();
        if front && counts.iter().any(|k| k.abs() > n as f64) {
            return Ok(None);
        }
        let part = |k: f64| -> Range<usize> {
            let size = (k.abs() as usize).min(n);
            match (front, k < 0.0) {
                (true, false) => 0..size,
                (true, true) => n - size..n,
                (false, false) => size..n,
                (false, true) => 0..n - size,
            }
        };
        let ct = self.ev.cx.sys.settings.ct;
        let budget = self.ev.cx.budget();
        let (mut out, mut ticks) = (budget.room(counts.len())?, budget.ticks());
        let mut known = match counts.iter().all(|k| part(*k).start == 0) {
            true => reduce::Beginnings::new(op, ct, &items, v.dtype()),
            false => None,
        };
        for k in counts {
            let part = part(k);
            let value = match &mut known {
                Some(known) => known.fold(part.end, &mut ticks)?,
                None => {
                    ticks.spend(1 + part.len())?;
                    reduce::fold(op, ct, &items[part], true, v.dtype()).ok()
                }
            };
            match value {
                Some(value) if value.is_finite() => out.push(value),
                _ => return Ok(None),
            }
        }
        Array::numbers([out.len()].as_slice(), out, self.ev.cx.budget()).map(Some)
    }

    /// The same of folds that no order changes: values of a scan, or of one from the end on. None:
    /// they are others, or some cell has nothing to fold.
    fn running(&mut self, op: Op, front: bool, v: &Array, counts: &Array) -> Result<Option<Array>> {
        let n = v.len() as f64;
        let any_order = match op {
            Op::Add if v.dtype().is_integer() => {
                let (lo, hi) = self.ev.cx.span(v)?;
                n * lo.abs().max(hi.abs()) < EXACT
            }
            Op::Max | Op::Min if v.dtype().is_integer() => true,
            Op::Max | Op::Min => match self.reals(v)? {
                Some((_, items)) => {
                    items.iter().all(|x| x.is_finite() && (*x != 0.0 || x.is_sign_positive()))
                }
                None => false,
            },
            Op::Gcd | Op::Lcm => v.dtype() == DType::Bool,
            _ => false,
        };
        if v.rank() != 1 || v.is_char() || v.frame().is_some() || !any_order {
            return Ok(None);
        }
        let (least, most) = self.ev.cx.span(counts)?;
        if front && (least < 1.0 || most > n) || !front && (least < 0.0 || most >= n) {
            return Ok(None);
        }
        let cx = &mut self.ev.cx;
        let scan = |cx: &mut Cx<'_>, v: &Array| match cx.scan(op, v, 0)? {
            Some(made) => Ok(made),
            None => cx.ready(v, "scan").and_then(|v| cx.scan_host(op, &v, 0)),
        };
        let made = match front {
            true => scan(cx, v)?,
            false => {
                let turned = reverse_last(cx, v, None)?;
                let made = scan(cx, &turned)?;
                reverse_last(cx, &made, None)?
            }
        };
        let before = Array::num(if front { 1.0 } else { 0.0 } - cx.sys.settings.io);
        let index = match before.number_scalar() {
            Some(0.0) => counts.clone(),
            _ => cx.map2(Op::Sub, counts, &before)?,
        };
        select::bracket(cx, &made, &[Some(index)]).map(Some)
    }
}

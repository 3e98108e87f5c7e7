//! Scans that take one step an item though their function is not associative.
//!
//! A prefix is folded from the right, so `f\` of n items is n²÷2 calls by its definition. Two kinds
//! of functions need n: those that give 0 or 1, because what stands before an item is a map of 0
//! and 1, and maps compose; and ÷, whose prefix is a product over a product. (`-` is an alternating
//! sum, see `reduce::scan`.) None: by the definition.

use crate::eval::cx::Cx;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, DType, around};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::eval;

/// Items between two looks at the interrupt.
const STRETCH: usize = 1 << 16;
/// Prefixes of ÷ that stay within 2*±this have no step that overflows, or loses bits below the
/// smallest number.
const MOST: i64 = 500;

/// Whether every result is 0 or 1.
fn decides(op: Op) -> bool {
    matches!(op, Op::Lt | Op::Le | Op::Eq | Op::Ge | Op::Gt | Op::Ne | Op::Nand | Op::Nor)
}

impl Cx<'_> {
    /// The scan of ready real numbers along an axis.
    pub fn scan_by_steps(&mut self, op: Op, y: &Array, axis: usize) -> Result<Option<Array>> {
        if y.is_char() || y.is_complex() || !decides(op) && (op != Op::Div || !self.folds(op)) {
            return Ok(None);
        }
        let Some(mut items) = y.to_numbers(self.budget())? else { return Ok(None) };
        let _held = self.budget().charge_elements(items.len(), 8)?;
        let (outer, n, inner) = around(y.shape(), axis);
        for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
            let mut line = Line { items: &mut items, first: o * n * inner + i, step: inner, n };
            let done = match op {
                Op::Div => self.quotients(&mut line)?,
                op => self.maps(op, &mut line)?,
            };
            if !done {
                return Ok(None);
            }
        }
        let bools = decides(op) && y.dtype() == DType::Bool;
        self.stored(op, y.shape().into(), items, if bools { DType::Bool } else { DType::F64 })
            .map(Some)
    }

    fn looked(&self, k: usize) -> Result<()> {
        if k.is_multiple_of(STRETCH) { self.host.interrupt().check() } else { Ok(()) }
    }

    /// `before` is what the items before do to a 0 and to a 1 on their right.
    fn maps(&mut self, op: Op, line: &mut Line<'_>) -> Result<bool> {
        let ct = self.sys.settings.ct;
        // Of 0 and 1 all four results are known at once.
        let table = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]
            .map(|(x, y)| eval(op, ct, x, y).is_ok_and(|z| z == 1.0));
        let f = |x: f64, y: f64| match (x == 0.0 || x == 1.0, y == 0.0 || y == 1.0) {
            (true, true) => Ok(table[usize::from(x == 1.0) * 2 + usize::from(y == 1.0)]),
            _ => eval(op, ct, x, y).map(|z| z == 1.0),
        };
        let mut before = [false, true];
        let mut last = line.get(0);
        for k in 1..line.n {
            self.looked(k)?;
            let item = line.get(k);
            let (Ok(end), Ok(zero), Ok(one)) = (f(last, item), f(last, 0.0), f(last, 1.0)) else {
                return Ok(false);
            };
            line.put(k, f64::from(u8::from(before[usize::from(end)])));
            before = [zero, one].map(|b| before[usize::from(b)]);
            last = item;
        }
        Ok(true)
    }

    /// The items at even places over those at odd ones, their exponents apart.
    fn quotients(&mut self, line: &mut Line<'_>) -> Result<bool> {
        let mut parts = [(1.0, 0), (1.0, 0)];
        for k in 0..line.n {
            self.looked(k)?;
            let x = line.get(k);
            if !x.is_normal() {
                return Ok(false);
            }
            let (part, exponent) = &mut parts[k % 2];
            let (m, e) = split(x);
            *part *= m;
            *exponent += e;
            if part.abs() >= 2.0 {
                *part *= 0.5;
                *exponent += 1;
            }
            let [(over, up), (under, down)] = parts;
            let scale = up - down;
            if scale.abs() > MOST {
                return Ok(false);
            }
            line.put(k, over / under * 2f64.powi(scale as i32));
        }
        Ok(true)
    }
}

/// A normal number as a fraction of 1 to 2, with its sign, and a power of 2.
fn split(x: f64) -> (f64, i64) {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i64 - 1023;
    (f64::from_bits(bits & !(0x7ff << 52) | 1023 << 52), exponent)
}

/// The items along an axis, at one place of the others.
struct Line<'a> {
    items: &'a mut [f64],
    first: usize,
    step: usize,
    n: usize,
}

impl Line<'_> {
    fn get(&self, k: usize) -> f64 {
        self.items[self.first + k * self.step]
    }

    fn put(&mut self, k: usize, x: f64) {
        self.items[self.first + k * self.step] = x;
    }
}

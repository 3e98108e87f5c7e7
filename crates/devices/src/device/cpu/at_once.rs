//! Arithmetic of a few numbers in the types that they are stored in, for the evaluator's eager
//! path: as `apply`, without f64 between.
//!
//! | operands | in | what leaves it |
//! |---|---|---|
//! | whole numbers | 64 bits, a few hundred at a time | a result beyond 32 bits |
//! | f32, and numbers that are one beside f32 | 32 bits: of `+ - × ÷` that is the f64 operation, rounded | a result that is not finite |
//!
//! What leaves its type is for the caller to compute in another.

use super::isa::{Isa, Work};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Buf, DType, View};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::single::has_room;

/// Whole numbers that are widened together.
const PART: usize = 256;

/// The greatest whole number that stands beside f32 as one of them.
const NARROW: f64 = 32_767.0;

/// An operand: one number for all places, or an item for each.
#[derive(Clone, Copy)]
pub enum Few<'a> {
    /// A number.
    One(f64),
    /// So many items.
    Many(View<'a>),
}

impl Few<'_> {
    fn is(&self, kind: impl Fn(DType) -> bool, one: impl Fn(f64) -> bool) -> bool {
        match self {
            Few::One(x) => one(*x),
            Few::Many(items) => kind(items.dtype()),
        }
    }
}

/// The n results of a function of two operands, whole numbers in the narrowest type that holds
/// them. None: it is another function, these are others, or some result leaves their type. Errors:
/// WS FULL.
pub fn at_once(isa: Isa, op: Op, args: [Few; 2], n: usize, budget: &Budget) -> Result<Option<Buf>> {
    let fits = |few: &Few| !matches!(few, Few::Many(items) if items.len() != n);
    let number = |x: f64| x.fract() == 0.0 && x.abs() <= f64::from(i32::MAX);
    let whole = |few: &Few| few.is(DType::is_integer, number);
    // A whole number beside f32 is not rounded, and a wide one widens the result.
    let near = |x: f64| if x.fract() == 0.0 { x.abs() <= NARROW } else { has_room(x) };
    let short = |few: &Few| few.is(|dtype| dtype == DType::F32, near);
    let arithmetic = matches!(op, Op::Add | Op::Sub | Op::Mul);
    if !args.iter().all(fits) {
        return Ok(None);
    }
    if args.iter().all(whole) && (arithmetic || matches!(op, Op::Max | Op::Min)) {
        let mut out = budget.filled(0, n)?;
        let (lo, hi) = isa.run(Whole { op, args, out: &mut out });
        let Some(dtype) = DType::of_range(lo as f64, hi as f64) else { return Ok(None) };
        let items = out.iter();
        return Ok(Some(match dtype {
            DType::Bool => Buf::bools(budget.each(items.map(|&x| x as u8))?, budget)?,
            DType::I8 => Buf::i8(budget.each(items.map(|&x| x as i8))?, budget)?,
            DType::I16 => Buf::i16(budget.each(items.map(|&x| x as i16))?, budget)?,
            _ => Buf::i32(out, budget)?,
        }));
    }
    if args.iter().all(short) && (arithmetic || op == Op::Div) {
        let mut out = budget.filled(0.0, n)?;
        let sure = isa.run(Short { op, args, out: &mut out });
        return if sure { Buf::f32(out, budget).map(Some) } else { Ok(None) };
    }
    Ok(None)
}

/// Whole numbers; the least and the greatest result, and 0.
struct Whole<'a> {
    op: Op,
    args: [Few<'a>; 2],
    out: &'a mut [i32],
}

impl Work for Whole<'_> {
    type Out = (i64, i64);

    #[inline(always)]
    fn run(self) -> (i64, i64) {
        match self.op {
            Op::Add => self.all(|x, y| x + y),
            Op::Sub => self.all(|x, y| x - y),
            Op::Mul => self.all(|x, y| x * y),
            Op::Max => self.all(|x, y| x.max(y)),
            _ => self.all(|x, y| x.min(y)),
        }
    }
}

impl Whole<'_> {
    #[inline(always)]
    fn all(self, op: impl Fn(i64, i64) -> i64) -> (i64, i64) {
        let (mut x, mut y) = ([0; PART], [0; PART]);
        let (mut lo, mut hi) = (0, 0);
        for (k, out) in self.out.chunks_mut(PART).enumerate() {
            let (x, y) = (&mut x[..out.len()], &mut y[..out.len()]);
            widened(self.args[0], k, x);
            widened(self.args[1], k, y);
            for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
                let value = op(i64::from(*x), i64::from(*y));
                (lo, hi) = (lo.min(value), hi.max(value));
                *out = value as i32;
            }
        }
        (lo, hi)
    }
}

/// The k-th part of an operand; one number stands there since the first.
#[inline(always)]
fn widened(from: Few, k: usize, to: &mut [i32]) {
    macro_rules! part {
        ($items:expr) => {
            to.iter_mut().zip(&$items[k * PART..]).for_each(|(to, x)| *to = i32::from(*x))
        };
    }
    match from {
        Few::One(x) if k == 0 => to.fill(x as i32),
        Few::Many(View::Bool(items)) => part!(items),
        Few::Many(View::I8(items)) => part!(items),
        Few::Many(View::I16(items)) => part!(items),
        Few::Many(View::I32(items)) => part!(items),
        _ => {}
    }
}

/// Floats of 32 bits; whether all results are finite.
struct Short<'a> {
    op: Op,
    args: [Few<'a>; 2],
    out: &'a mut [f32],
}

impl Work for Short<'_> {
    type Out = bool;

    #[inline(always)]
    fn run(self) -> bool {
        match self.op {
            Op::Add => self.all(|x, y| x + y),
            Op::Sub => self.all(|x, y| x - y),
            Op::Mul => self.all(|x, y| x * y),
            _ => self.all(|x, y| x / y),
        }
    }
}

impl Short<'_> {
    #[inline(always)]
    fn all(self, op: impl Fn(f32, f32) -> f32) -> bool {
        let out = self.out;
        match self.args {
            [Few::Many(View::F32(x)), Few::Many(View::F32(y))] => {
                out.iter_mut().zip(x).zip(y).for_each(|((out, x), y)| *out = op(*x, *y));
            }
            [Few::Many(View::F32(x)), Few::One(y)] => {
                out.iter_mut().zip(x).for_each(|(out, x)| *out = op(*x, y as f32));
            }
            [Few::One(x), Few::Many(View::F32(y))] => {
                out.iter_mut().zip(y).for_each(|(out, y)| *out = op(x as f32, *y));
            }
            _ => return false,
        }
        out.iter().fold(true, |all, x| all & x.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Dice;
    use super::*;
    use aplomb_values::array::Storage;
    use aplomb_values::prim::scalar::eval_as;

    const OPS: [Op; 6] = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max, Op::Min];

    fn items(dice: &mut Dice, dtype: DType, n: usize) -> Vec<f64> {
        let (lo, hi) = dtype.range().unwrap_or((-9.0, 9.0));
        let one = |dice: &mut Dice| lo + dice.roll(1 << 20) as f64 / (1 << 20) as f64 * (hi - lo);
        let whole = |x: f64| if dtype.is_integer() { x.round() } else { f64::from(x as f32) };
        (0..n).map(|_| whole(one(dice))).collect()
    }

    #[test]
    fn what_is_told_is_what_the_operations_mean() {
        use DType::F32;
        const TYPES: [DType; 5] = [DType::Bool, DType::I8, DType::I16, DType::I32, F32];
        let budget = Budget::new(1 << 20);
        let (mut dice, mut told) = (Dice(3), 0);
        for isa in Isa::available() {
            for which in 0..OPS.len() * TYPES.len() * TYPES.len() {
                let (op, types) = (OPS[which % OPS.len()], which / OPS.len());
                let (a, b) = (TYPES[types % TYPES.len()], TYPES[types / TYPES.len()]);
                for n in [1, 7, PART, 3 * PART + 5] {
                    let own = [a, b].map(|dtype| items(&mut dice, dtype, n));
                    let held = [0, 1].map(|k| Buf::uncounted(&own[k], [a, b][k]));
                    let mut few = |k: usize| match dice.roll(3) {
                        0 => Few::One(own[k][0]),
                        _ => Few::Many(held[k].view()),
                    };
                    let args = [few(0), few(1)];
                    let Some(made) = at_once(isa, op, args, n, &budget).unwrap() else { continue };
                    let dtype_made = made.view().dtype();
                    let made = made.view().numbers(&budget).unwrap();
                    told += 1;
                    for k in 0..n {
                        let item = |j: usize| match args[j] {
                            Few::One(x) => x,
                            Few::Many(_) => own[j][k],
                        };
                        let single = [a, b].contains(&F32);
                        let dtype = if single { F32 } else { DType::F64 };
                        let want = eval_as(dtype, op, 0.0, item(0), item(1)).unwrap();
                        assert_eq!(made[k], want, "{op:?} {a:?} {b:?} {n}");
                    }
                    let narrowest = DType::of_numbers(&made);
                    let own = if dtype_made == F32 { F32 } else { narrowest };
                    assert_eq!(dtype_made, own, "{op:?} {a:?} {b:?} {n}");
                }
            }
        }
        assert!(told > 300, "{told}");
    }
}

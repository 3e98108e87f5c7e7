//! One operation on a few numbers in the types that they are stored in, for the evaluator's eager
//! path.
//!
//! | operation | in | what leaves it |
//! |---|---|---|
//! | arithmetic of whole numbers | 64 bits, a few hundred at a time | a result beyond 32 bits |
//! | arithmetic of f32, and numbers that are one beside f32 | 32 bits: of `+ - × ÷` that is the f64 operation, rounded | a result that is not finite |
//! | any other, of any types | f64, a few hundred at a time, by `apply` | what that calls suspect; a whole number beyond 32 bits |
//!
//! What leaves its type is for the caller to compute in another.

use super::apply::apply;
use super::isa::{Isa, Work};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Buf, DType, View, whole};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::Src;
use aplomb_values::prim::scalar::single::has_room;
use std::ops::Range;

/// Numbers that are widened together, and of so many in all.
const PART: usize = 256;
const LONG: usize = 1024;

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
    let whole_too = arithmetic || matches!(op, Op::Max | Op::Min | Op::Residue);
    if !args.iter().all(fits) {
        return Ok(None);
    }
    if args.iter().all(whole) && whole_too {
        let mut out = budget.filled(0, n)?;
        let (lo, hi) = isa.run(Whole { op, args, out: &mut out });
        return narrowed(out, (lo as f64, hi as f64), budget);
    }
    if args.iter().all(short) && (arithmetic || op == Op::Div) {
        let mut out = budget.filled(0.0, n)?;
        let sure = isa.run(Short { op, args, out: &mut out });
        return if sure { Buf::f32(out, budget).map(Some) } else { Ok(None) };
    }
    Ok(None)
}

/// Whole numbers in the narrowest type that holds those between two ends. None: there is none.
/// Errors: WS FULL.
fn narrowed(items: Vec<i32>, (lo, hi): (f64, f64), budget: &Budget) -> Result<Option<Buf>> {
    let Some(dtype) = DType::of_range(lo, hi) else { return Ok(None) };
    let each = items.iter();
    Ok(Some(match dtype {
        DType::Bool => Buf::bools(budget.each(each.map(|&x| x as u8))?, budget)?,
        DType::I8 => Buf::i8(budget.each(each.map(|&x| x as i8))?, budget)?,
        DType::I16 => Buf::i16(budget.each(each.map(|&x| x as i16))?, budget)?,
        _ => Buf::i32(items, budget)?,
    }))
}

/// The n results of any operation, of one operand or two, as results of that type, whole numbers in
/// the narrowest that holds them: `apply` on a part after the other, each of which is an f64 while
/// it is in the first cache. None: an operand is no such, or some result is suspect. Errors: WS
/// FULL.
pub fn by_parts(
    isa: Isa,
    op: (Op, DType),
    ct: f64,
    args: [Few; 2],
    n: usize,
    budget: &Budget,
) -> Result<Option<Buf>> {
    match n {
        0..=LONG => parts::<PART>(isa, op, ct, args, n, budget),
        _ => parts::<LONG>(isa, op, ct, args, n, budget),
    }
}

/// The same, so many at a time.
fn parts<const STEP: usize>(
    isa: Isa,
    (op, dtype): (Op, DType),
    ct: f64,
    args: [Few; 2],
    n: usize,
    budget: &Budget,
) -> Result<Option<Buf>> {
    enum To {
        Truths(Vec<u8>),
        Whole(Vec<i32>, (i32, i32)),
        Short(Vec<f32>),
        Long(Vec<f64>),
    }
    let real = |few: &Few| match few {
        Few::One(_) => true,
        Few::Many(items) => {
            items.len() == n && !matches!(items.dtype(), DType::Complex | DType::Char)
        }
    };
    if !args.iter().all(real) {
        return Ok(None);
    }
    let mut to = match dtype {
        DType::Bool => To::Truths(budget.filled(0, n)?),
        DType::F32 => To::Short(budget.filled(0.0, n)?),
        DType::F64 => To::Long(budget.filled(0.0, n)?),
        dtype if dtype.is_integer() => To::Whole(budget.filled(0, n)?, (0, 0)),
        _ => return Ok(None),
    };
    let (mut x, mut y, mut made) = ([0.0; STEP], [0.0; STEP], [0.0; STEP]);
    for first in (0..n).step_by(STEP) {
        let own = first..(first + STEP).min(n);
        let (a, b) = (part(isa, args[0], &own, &mut x), part(isa, args[1], &own, &mut y));
        let results = match &mut to {
            To::Long(out) => {
                if !apply(isa, (op, dtype), ct, a, b, &mut out[own]) {
                    return Ok(None);
                }
                continue;
            }
            _ => &mut made[..own.len()],
        };
        if !apply(isa, (op, dtype), ct, a, b, results) {
            return Ok(None);
        }
        let sure = match &mut to {
            To::Truths(out) => isa.run(Narrow { from: results, to: &mut out[own] }),
            To::Short(out) => isa.run(Rounded { from: results, to: &mut out[own] }),
            To::Whole(out, (lo, hi)) => {
                let ends = isa.run(Cut { from: results, to: &mut out[own] });
                ends.is_some_and(|(least, most)| {
                    (*lo, *hi) = (least.min(*lo), most.max(*hi));
                    true
                })
            }
            To::Long(_) => true,
        };
        if !sure {
            return Ok(None);
        }
    }
    match to {
        To::Truths(out) => Buf::bools(out, budget).map(Some),
        To::Short(out) => Buf::f32(out, budget).map(Some),
        To::Long(out) => Buf::f64(out, budget).map(Some),
        To::Whole(out, (lo, hi)) => narrowed(out, (lo.into(), hi.into()), budget),
    }
}

/// A part of an operand as f64: where it lies, or in the room for it.
fn part<'a>(isa: Isa, few: Few<'a>, at: &Range<usize>, room: &'a mut [f64]) -> Src<'a> {
    match few {
        Few::One(x) => Src::One(x),
        Few::Many(View::F64(items)) => Src::Many(&items[at.clone()]),
        Few::Many(items) => {
            let room = &mut room[..at.len()];
            isa.run(Widen { from: items, first: at.start, to: room });
            Src::Many(room)
        }
    }
}

/// Items of any real type from one on, as f64.
struct Widen<'a> {
    from: View<'a>,
    first: usize,
    to: &'a mut [f64],
}

impl Work for Widen<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        macro_rules! each {
            ($items:expr) => {
                self.to
                    .iter_mut()
                    .zip(&$items[self.first..])
                    .for_each(|(to, x)| *to = f64::from(*x))
            };
        }
        match self.from {
            View::Bool(items) => each!(items),
            View::I8(items) => each!(items),
            View::I16(items) => each!(items),
            View::I32(items) => each!(items),
            View::F32(items) => each!(items),
            View::F64(items) => each!(items),
            View::Complex(_) | View::Char(_) => {}
        }
    }
}

/// Truths as bytes; true.
struct Narrow<'a> {
    from: &'a [f64],
    to: &'a mut [u8],
}

impl Work for Narrow<'_> {
    type Out = bool;

    #[inline(always)]
    fn run(self) -> bool {
        self.to.iter_mut().zip(self.from).for_each(|(to, x)| *to = u8::from(*x != 0.0));
        true
    }
}

/// Numbers rounded to f32; whether f32 has room for all.
struct Rounded<'a> {
    from: &'a [f64],
    to: &'a mut [f32],
}

impl Work for Rounded<'_> {
    type Out = bool;

    #[inline(always)]
    fn run(self) -> bool {
        self.to.iter_mut().zip(self.from).for_each(|(to, x)| *to = *x as f32);
        self.to.iter().fold(true, |all, x| all & x.is_finite())
    }
}

/// Whole numbers as such of 32 bits; the least and the greatest of all, and 0. None: 32 bits do not
/// hold one.
struct Cut<'a> {
    from: &'a [f64],
    to: &'a mut [i32],
}

impl Work for Cut<'_> {
    type Out = Option<(i32, i32)>;

    #[inline(always)]
    fn run(self) -> Option<(i32, i32)> {
        let most = f64::from(i32::MAX);
        if !self.from.iter().fold(true, |all, x| all & (x.abs() <= most)) {
            return None;
        }
        self.to.iter_mut().zip(self.from).for_each(|(to, x)| *to = whole(*x));
        let lo = self.to.iter().fold(0, |lo, x| lo.min(*x));
        let hi = self.to.iter().fold(0, |hi, x| hi.max(*x));
        Some((lo, hi))
    }
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
            Op::Add => self.all(wide(|x, y| x + y)),
            Op::Sub => self.all(wide(|x, y| x - y)),
            Op::Mul => self.all(wide(|x, y| x * y)),
            Op::Max => self.all(wide(i64::max)),
            Op::Residue => self.all(residue),
            _ => self.all(wide(i64::min)),
        }
    }
}

impl Whole<'_> {
    #[inline(always)]
    fn all(self, op: impl Fn(i32, i32) -> i64) -> (i64, i64) {
        let (mut x, mut y) = ([0; PART], [0; PART]);
        let (mut lo, mut hi) = (0, 0);
        for (k, out) in self.out.chunks_mut(PART).enumerate() {
            let (x, y) = (&mut x[..out.len()], &mut y[..out.len()]);
            widened(self.args[0], k, x);
            widened(self.args[1], k, y);
            for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
                let value = op(*x, *y);
                (lo, hi) = (lo.min(value), hi.max(value));
                *out = value as i32;
            }
        }
        (lo, hi)
    }
}

/// An operation of 64 bits on numbers of 32, whose result no sum and no product leaves.
#[inline(always)]
fn wide(op: impl Fn(i64, i64) -> i64) -> impl Fn(i32, i32) -> i64 {
    move |x, y| op(i64::from(x), i64::from(y))
}

/// `x|y` as `y-x×⌊y÷x`, in f64: of 32 bits the quotient is never rounded to a whole number that it
/// is not, since it is at least `÷x` from one, which is more than half of its last bit.
#[inline(always)]
fn residue(x: i32, y: i32) -> i64 {
    let (m, of) = (f64::from(x), f64::from(y));
    let times = if x == 0 { 0.0 } else { (of / m).floor() };
    i64::from(whole(of - m * times))
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
    use aplomb_values::prim::op;
    use aplomb_values::prim::scalar::eval_as;

    const OPS: [Op; 7] = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max, Op::Min, Op::Residue];

    fn items(dice: &mut Dice, dtype: DType, n: usize) -> Vec<f64> {
        let (lo, hi) = dtype.range().unwrap_or((-9.0, 9.0));
        let one = |dice: &mut Dice| lo + dice.roll(1 << 20) as f64 / (1 << 20) as f64 * (hi - lo);
        let whole = |x: f64| if dtype.is_integer() { x.round() + 0.0 } else { f64::from(x as f32) };
        (0..n).map(|_| whole(one(dice))).collect()
    }

    /// Any operation of items of any types, as `by_parts` takes them.
    #[test]
    fn parts_are_what_the_operations_mean() {
        use DType::{Bool, F32, F64, I8, I16, I32};
        const TYPES: [DType; 6] = [Bool, I8, I16, I32, F32, F64];
        let budget = Budget::new(1 << 20);
        let (mut dice, mut told) = (Dice(5), 0);
        for isa in Isa::available() {
            for op in op::OPS.iter().map(|row| row.op) {
                for types in 0..TYPES.len() * TYPES.len() {
                    let (a, b) = (TYPES[types % TYPES.len()], TYPES[types / TYPES.len()]);
                    let n = [1, 9, PART, 2 * PART + 5, LONG + 7][dice.roll(5)];
                    let own = [a, b].map(|dtype| items(&mut dice, dtype, n));
                    let held = [0, 1].map(|k| Buf::uncounted(&own[k], [a, b][k]));
                    let alone = dice.roll(3);
                    let few = |k: usize| match alone == k {
                        true => Few::One(own[k][0]),
                        false => Few::Many(held[k].view()),
                    };
                    let (args, ct) = ([few(0), few(1)], 1e-14);
                    let facts = [a, b].map(|dtype| (dtype, None));
                    let dtype = op.result(&facts[..op.arity()]).0;
                    let ct = if [a, b].contains(&F32) { 0.0 } else { ct };
                    let Some(made) = by_parts(isa, (op, dtype), ct, args, n, &budget).unwrap()
                    else {
                        continue;
                    };
                    let made = made.view().numbers(&budget).unwrap();
                    told += 1;
                    for k in 0..n {
                        let item = |j: usize| match args[j] {
                            Few::One(x) => x,
                            Few::Many(_) => own[j][k],
                        };
                        let want = eval_as(dtype, op, ct, item(0), item(1)).unwrap();
                        // Among whole numbers there is one 0.
                        let own = |x: f64| if dtype.is_integer() { x + 0.0 } else { x };
                        let (got, want) = (own(made[k]).to_bits(), own(want).to_bits());
                        assert_eq!(got, want, "{op:?} {a:?} {b:?} {n}");
                    }
                }
            }
        }
        assert!(told > 1000, "{told}");
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

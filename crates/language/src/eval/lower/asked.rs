//! Questions about a few items at hand: comparisons of whole numbers or characters, and functions
//! of booleans, each in the type that the items have.
//!
//! The long way takes every item as an f64, asks the host for the values and stores them as bytes.
//! A comparison of whole numbers of 32 bits needs none of that: no two of them are equal within the
//! largest ⎕CT, which is 2*¯32, so it is exact.

use crate::eval::cx::{AT_HAND, Cx};
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, Buf, DType, Data, Shape, View};
use aplomb_values::prim::op::Op;
use std::sync::Arc;

/// One item for all, or one for each.
#[derive(Clone, Copy)]
enum Few<'a, T> {
    One(T),
    Many(&'a [T]),
}

/// Writes the answer for each pair of items.
fn each<T: Copy>(x: Few<'_, T>, y: Few<'_, T>, out: &mut [u8], ask: impl Fn(T, T) -> bool) {
    let pairs = out.iter_mut();
    match (x, y) {
        (Few::Many(x), Few::Many(y)) => {
            pairs.zip(x.iter().zip(y)).for_each(|(out, (x, y))| *out = u8::from(ask(*x, *y)));
        }
        (Few::Many(x), Few::One(y)) => {
            pairs.zip(x).for_each(|(out, x)| *out = u8::from(ask(*x, y)));
        }
        (Few::One(x), Few::Many(y)) => {
            pairs.zip(y).for_each(|(out, y)| *out = u8::from(ask(x, *y)));
        }
        (Few::One(x), Few::One(y)) => pairs.for_each(|out| *out = u8::from(ask(x, y))),
    }
}

/// Writes the answers of a comparison. False: it is none.
fn compared<T: Copy + PartialOrd>(op: Op, x: Few<'_, T>, y: Few<'_, T>, out: &mut [u8]) -> bool {
    match op {
        Op::Eq => each(x, y, out, |x, y| x == y),
        Op::Ne => each(x, y, out, |x, y| x != y),
        Op::Lt => each(x, y, out, |x, y| x < y),
        Op::Le => each(x, y, out, |x, y| x <= y),
        Op::Gt => each(x, y, out, |x, y| x > y),
        Op::Ge => each(x, y, out, |x, y| x >= y),
        _ => return false,
    }
    true
}

/// Writes the values of a function of booleans. False: it is none.
fn of_truths(op: Op, x: Few<'_, u8>, y: Few<'_, u8>, out: &mut [u8]) -> bool {
    match op {
        Op::Lcm | Op::Min | Op::Mul => each(x, y, out, |x, y| x & y != 0),
        Op::Gcd | Op::Max => each(x, y, out, |x, y| x | y != 0),
        Op::Nand => each(x, y, out, |x, y| x & y == 0),
        Op::Nor => each(x, y, out, |x, y| x | y == 0),
        Op::Not => each(x, y, out, |x, _| x == 0),
        _ => return compared(op, x, y, out),
    }
    true
}

/// A number as an item of a type. None: the type has none such.
fn one<'a, T: TryFrom<i64>>(x: f64) -> Option<Few<'a, T>> {
    let whole = x as i64;
    (whole as f64 == x).then(|| T::try_from(whole).ok()).flatten().map(Few::One)
}

/// The items of an array, or None: it is a number.
fn items(a: &Array) -> Option<View<'_>> {
    a.view_there().filter(|view| (1..=AT_HAND).contains(&view.len()))
}

/// Writes what an operation gives for a few items. False: it is no question, or the items are of
/// two types, or of no such.
fn answered(op: Op, x: &Array, y: &Array, out: &mut [u8]) -> bool {
    macro_rules! in_type {
        ($by:ident $(, $view:ident $t:ty)*) => {
            match (items(x), items(y), x.data(), y.data()) {
                $(
                    (Some(View::$view(x)), Some(View::$view(y)), ..) => {
                        $by(op, Few::Many(x), Few::Many(y), out)
                    }
                    (Some(View::$view(x)), None, _, Data::Num(y, _)) => {
                        one::<$t>(*y).is_some_and(|y| $by(op, Few::Many(x), y, out))
                    }
                    (None, Some(View::$view(y)), Data::Num(x, _), _) => {
                        one::<$t>(*x).is_some_and(|x| $by(op, x, Few::Many(y), out))
                    }
                )*
                _ => false,
            }
        };
    }
    match (items(x), items(y), x.data(), y.data()) {
        (Some(View::Char(x)), Some(View::Char(y)), ..) if matches!(op, Op::Eq | Op::Ne) => {
            compared(op, Few::Many(x), Few::Many(y), out)
        }
        (Some(View::Char(x)), None, _, Data::Char(y)) if matches!(op, Op::Eq | Op::Ne) => {
            compared(op, Few::Many(x), Few::One(*y), out)
        }
        (None, Some(View::Char(y)), Data::Char(x), _) if matches!(op, Op::Eq | Op::Ne) => {
            compared(op, Few::One(*x), Few::Many(y), out)
        }
        (Some(View::Bool(_)), ..) | (_, Some(View::Bool(_)), ..) => {
            let truth = |a: &Array| !matches!(a.data(), Data::Num(x, _) if *x != 0.0 && *x != 1.0);
            truth(x) && truth(y) && in_type!(of_truths, Bool u8)
        }
        _ => in_type!(compared, I8 i8, I16 i16, I32 i32),
    }
}

impl Cx<'_> {
    /// The answers to a question about a few items at hand. None: it is for the long way. Errors:
    /// WS FULL.
    pub(super) fn answers(&mut self, op: Op, x: &Array, y: &Array) -> Result<Option<Array>> {
        let truths = [x, y].iter().any(|a| a.dtype() == DType::Bool && a.rank() > 0);
        let is_question = match op {
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => true,
            Op::Not | Op::Nand | Op::Nor | Op::Lcm | Op::Gcd => truths,
            Op::Min | Op::Max | Op::Mul => truths,
            _ => false,
        };
        if !is_question {
            return Ok(None);
        }
        let of = if x.rank() == 0 { y } else { x };
        let fits = x.rank() == 0 || y.rank() == 0 || x.shape() == y.shape();
        if !fits || !(1..=self.hand()).contains(&of.len()) || self.sys.records_all() {
            return Ok(None);
        }
        let mut out = self.budget().filled(0u8, of.len())?;
        if !answered(op, x, y, &mut out) {
            return Ok(None);
        }
        let made = Buf::bools(out, self.budget())?;
        Ok(Some(Array::dense(Shape::from_slice(of.shape()), Arc::new(made))))
    }
}

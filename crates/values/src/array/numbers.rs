//! The items of a buffer as numbers of 64 bits: many at a time, by a loop for each type.

use super::blocks::BLOCK;
use super::storage::{View, real};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use std::ops::Range;

/// A loop over the items of a view, each as `View::number` gives it.
macro_rules! by_type {
    ($view:expr, $items:ident, $number:ident => $do:expr) => {{
        macro_rules! of {
            ($v:expr, $one:expr) => {{
                let ($items, $number) = ($v, $one);
                $do
            }};
        }
        match $view {
            View::Bool(v) => of!(v, |x: u8| f64::from(x)),
            View::I8(v) => of!(v, |x: i8| f64::from(x)),
            View::I16(v) => of!(v, |x: i16| f64::from(x)),
            View::I32(v) => of!(v, |x: i32| f64::from(x)),
            View::F32(v) => of!(v, |x: f32| f64::from(x)),
            View::F64(v) => of!(v, |x: f64| x),
            View::Complex(v) => of!(v, real),
            View::Char(v) => of!(v, |x: char| f64::from(u32::from(x))),
        }
    }};
}

impl View<'_> {
    /// Whether every item is the first one, bit by bit.
    pub fn repeats_one(&self) -> bool {
        fn all<T: Copy>(items: &[T], same: impl Fn(T, T) -> bool) -> bool {
            let of = |first: &T| items.iter().all(|x| same(*x, *first));
            items.first().is_none_or(of)
        }
        match self {
            View::Bool(v) => all(v, |x, y| x == y),
            View::I8(v) => all(v, |x, y| x == y),
            View::I16(v) => all(v, |x, y| x == y),
            View::I32(v) => all(v, |x, y| x == y),
            View::F32(v) => all(v, |x, y| x.to_bits() == y.to_bits()),
            View::F64(v) => all(v, |x, y| x.to_bits() == y.to_bits()),
            View::Complex(v) => {
                all(v, |x, y| x.re.to_bits() == y.re.to_bits() && x.im.to_bits() == y.im.to_bits())
            }
            View::Char(v) => all(v, |x, y| x == y),
        }
    }

    /// All items as `number` gives them. Errors: WS FULL, INTERRUPT.
    pub fn numbers(&self, budget: &Budget) -> Result<Vec<f64>> {
        let mut out = budget.room(self.len())?;
        for from in (0..self.len()).step_by(BLOCK) {
            budget.check()?;
            self.numbers_to(from..self.len().min(from + BLOCK), &mut out);
        }
        Ok(out)
    }

    /// The items one after the other, as `number` gives them: nothing holds them all.
    pub fn each(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        (0..self.len()).map(|k| self.number(k))
    }

    /// Some of the items behind those of a vector, which has room for them.
    pub fn numbers_to(&self, range: Range<usize>, out: &mut Vec<f64>) {
        by_type!(*self, items, number => out.extend(items[range].iter().map(|&x| number(x))))
    }

    /// The items at these places behind those of a vector, which has room for them. None: a place
    /// is none, or not there.
    pub fn numbers_at(
        &self,
        places: impl Iterator<Item = Option<usize>>,
        out: &mut Vec<f64>,
    ) -> Option<()> {
        by_type!(*self, items, number => {
            for at in places {
                out.push(number(*items.get(at?)?));
            }
        });
        Some(())
    }
}

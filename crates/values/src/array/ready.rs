//! Items of arrays that their caller has looked at, a kind that is known and values that are there.
//! Where they are not, a caller is wrong, and that is loud; `to_chars` and its kin are for those
//! who ask. And arrays so small that no budget counts them.

use super::{Array, Buf, DType, Shape};
use aplomb_ground::bug;
use aplomb_ground::error::{Error, Result};
use aplomb_ground::limits::Budget;
use num_complex::Complex64;
use std::sync::Arc;

impl Array {
    /// All items of a ready array of characters. Errors: INTERNAL, WS FULL, INTERRUPT.
    pub fn ready_chars(&self, budget: &Budget) -> Result<Vec<char>> {
        self.to_chars(budget)?.ok_or_else(|| self.is_not("characters"))
    }

    /// All items of a ready array of real numbers. Errors: INTERNAL, WS FULL, INTERRUPT.
    pub fn ready_numbers(&self, budget: &Budget) -> Result<Vec<f64>> {
        self.to_numbers(budget)?.ok_or_else(|| self.is_not("real numbers"))
    }

    /// All items of a ready array of numbers. Errors: INTERNAL, WS FULL, INTERRUPT.
    pub fn ready_complexes(&self, budget: &Budget) -> Result<Vec<Complex64>> {
        self.to_complexes(budget)?.ok_or_else(|| self.is_not("numbers"))
    }

    /// The text of a ready character vector or scalar. Errors: INTERNAL, WS FULL, INTERRUPT.
    pub fn ready_text(&self, budget: &Budget) -> Result<String> {
        self.to_text(budget)?.ok_or_else(|| self.is_not("text"))
    }

    /// The number of a ready scalar, for who cannot fail, such as a comparison of a sort. As loud
    /// as an index where there is none.
    pub fn ready_complex(&self) -> Complex64 {
        self.complex_scalar().as_slice()[0]
    }

    /// The error of an array that is not what its caller took it for.
    fn is_not(&self, kind: &str) -> Error {
        let pending = if self.pending().is_some() { "pending " } else { "" };
        bug!("{pending}{} of shape {:?} taken for {kind}", self.dtype().name(), self.shape())
    }

    /// The number of major cells: the extent of the first axis, 1 for a scalar.
    pub fn first_extent(&self) -> usize {
        self.shape().first().copied().unwrap_or(1)
    }

    /// The length of a row: the extent of the last axis, 1 for a scalar.
    pub fn last_extent(&self) -> usize {
        self.shape().last().copied().unwrap_or(1)
    }

    /// A vector of a few numbers in their narrowest storage, as a program's text has them.
    pub fn few_numbers(items: &[f64]) -> Array {
        let shape = Shape::from_slice(&[items.len()]);
        Array::dense(shape, Arc::new(Buf::uncounted(items, DType::of_numbers(items))))
    }

    /// A vector of a few characters, as a program's text has them.
    pub fn few_chars(items: Vec<char>) -> Array {
        Array::dense([items.len()].as_slice(), Arc::new(Buf::uncounted_chars(items)))
    }
}

/// A number so large that its sum with one of 51 bits is an integer: what is behind the point is
/// rounded, and the lowest bits of the sum are those of the integer.
pub(super) const SHIFT: f64 = 6_755_399_441_055_744.0;

impl DType {
    /// The narrowest storage of whole numbers between `lo` and `hi`: an integer that leaves i32 is
    /// an f64.
    pub fn holding(lo: f64, hi: f64) -> DType {
        DType::of_range(lo, hi).unwrap_or(DType::F64)
    }

    /// The narrowest storage that holds all of these numbers: of integers that of 32 bits at most.
    pub fn of_numbers(items: &[f64]) -> DType {
        // Lanes that know nothing of each other, so that a few instructions take several numbers.
        const LANES: usize = 8;
        let (mut lo, mut hi, mut whole) = ([0.0; LANES], [0.0; LANES], [true; LANES]);
        let (chunks, rest) = items.as_chunks::<LANES>();
        let mut look = |k: usize, x: f64| {
            // Beyond the shift it is no integer of 32 bits, whatever it is.
            whole[k] &= (x + SHIFT) - SHIFT == x;
            lo[k] = if x < lo[k] { x } else { lo[k] };
            hi[k] = if x > hi[k] { x } else { hi[k] };
        };
        for chunk in chunks {
            (0..LANES).for_each(|k| look(k, chunk[k]));
        }
        rest.iter().for_each(|&x| look(0, x));
        match whole.iter().all(|&w| w) {
            true => DType::holding(
                lo.iter().copied().fold(0.0, f64::min),
                hi.iter().copied().fold(0.0, f64::max),
            ),
            false => DType::F64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_ground::limits::Budget;
    use std::panic::catch_unwind;

    #[test]
    fn what_is_not_there_is_loud() {
        for wrong in [
            (|| Array::num(1.0).ready_chars(&Budget::new(9)).map(|_| ())) as fn() -> Result<()>,
            || Array::char('a').ready_numbers(&Budget::new(9)).map(|_| ()),
            || Array::complex(Complex64::I).ready_numbers(&Budget::new(9)).map(|_| ()),
            || Array::char('a').ready_complexes(&Budget::new(9)).map(|_| ()),
            || {
                Array::char('a').ready_complex();
                Ok(())
            },
        ] {
            assert!(!matches!(catch_unwind(wrong), Ok(Ok(()))));
        }
    }

    #[test]
    fn a_few_numbers_are_stored_as_many_are() {
        let all: [&[f64]; 8] = [
            &[],
            &[0.0, 1.0],
            &[-3.0],
            &[300.0, 7.0],
            &[7e4],
            &[2147483648.0],
            &[0.5],
            &[f64::NAN],
        ];
        for items in all {
            let many =
                Array::numbers([items.len()].as_slice(), items.to_vec(), &Budget::new(1 << 20));
            let (few, many) = (Array::few_numbers(items), many.expect("room"));
            assert_eq!((few.dtype(), few.shape()), (many.dtype(), many.shape()), "{items:?}");
        }
    }
}

//! Complex items. What is real is stored as real: only an array with some item that is not has the
//! dtype `Complex`.

use super::blocks::copied;
use super::items::all_of;
use super::{Array, Buf, Data, Shape, View};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use num_complex::Complex64;
use std::sync::Arc;

impl Array {
    /// A scalar; a real one where the imaginary part is 0.
    pub fn complex(z: Complex64) -> Self {
        if z.im == 0.0 {
            Array::num(z.re)
        } else {
            Array { shape: Shape::new(), data: Data::Complex(z) }
        }
    }

    /// Numbers; real ones in their narrowest storage if all of them are real. Errors: WS FULL.
    pub fn complexes(
        shape: impl Into<Shape>,
        items: Vec<Complex64>,
        budget: &Budget,
    ) -> Result<Self> {
        let shape = shape.into();
        if shape.is_empty() {
            return Ok(Array::complex(items[0]));
        }
        if items.iter().all(|z| z.im == 0.0) {
            let _held = budget.charge_elements(items.len(), 8)?;
            return Array::numbers(shape, items.into_iter().map(|z| z.re).collect(), budget);
        }
        Ok(Array::dense(shape, Arc::new(Buf::complexes(items, budget)?)))
    }

    /// Some number in it is not real, as far as it is known without forcing. Never of nested
    /// arrays.
    pub fn is_complex(&self) -> bool {
        self.dtype() == super::DType::Complex
    }

    /// It, or the node it is a cell of, is pending and may turn out to be complex.
    pub fn is_open(&self) -> bool {
        let node = self.frame().map_or(self, |split| &split.node);
        node.pending().is_some_and(|cell| cell.is_open())
    }

    /// Item `at` as a number, real or not. None for a character and for an array.
    pub fn complex_at(&self, at: usize) -> Option<Complex64> {
        match &self.data {
            Data::Num(x, _) => Some((*x).into()),
            Data::Complex(z) => Some(*z),
            Data::Char(_) | Data::Ref(_) => None,
            Data::Dense(b) => match b.view() {
                View::Complex(v) => v.get(at).copied(),
                View::Char(_) => None,
                view => Some(view.number(at).into()),
            },
            Data::Items(i) => i.at(at).complex_scalar(),
            Data::Framed(_) => None,
            Data::Lazy(cell) => cell.forced().and_then(|a| a.complex_at(at)),
        }
    }

    /// The number of a simple scalar, real or not.
    pub fn complex_scalar(&self) -> Option<Complex64> {
        if self.is_simple_scalar() { self.complex_at(0) } else { None }
    }

    /// All items as numbers, real or not; None if one is no number. Errors: WS FULL, INTERRUPT.
    pub fn to_complexes(&self, budget: &Budget) -> Result<Option<Vec<Complex64>>> {
        match &self.data {
            Data::Dense(b) => match b.view() {
                View::Complex(v) => copied(v, budget).map(Some),
                View::Char(v) => Ok(v.is_empty().then(Vec::new)),
                view => all_of(view.len(), budget, |k| Some(view.number(k).into())),
            },
            Data::Lazy(cell) => cell.forced().map_or(Ok(None), |a| a.to_complexes(budget)),
            Data::Framed(_) | Data::Ref(_) => Ok(None),
            Data::Num(_, _) | Data::Complex(_) | Data::Char(_) | Data::Items(_) => {
                all_of(self.len(), budget, |k| self.complex_at(k))
            }
        }
    }
}

//! Stretches of buffers: what is cut off a vector that others hold, too, without a copy.

use super::{Array, Data, Storage, View, elements};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// A stretch of a buffer, which lives as long as this.
struct Part {
    of: Arc<dyn Storage>,
    range: Range<usize>,
}

/// A stretch holds on to all of the buffer that it is of: to so many times its own length at most.
pub(super) const HOLDS: usize = 8;

impl Storage for Part {
    fn view(&self) -> View<'_> {
        let range = self.range.clone();
        match self.of.view() {
            View::Bool(v) => View::Bool(&v[range]),
            View::I8(v) => View::I8(&v[range]),
            View::I16(v) => View::I16(&v[range]),
            View::I32(v) => View::I32(&v[range]),
            View::F32(v) => View::F32(&v[range]),
            View::F64(v) => View::F64(&v[range]),
            View::Complex(v) => View::Complex(&v[range]),
            View::Char(v) => View::Char(&v[range]),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn dtype(&self) -> super::DType {
        self.of.dtype()
    }

    fn len(&self) -> usize {
        self.range.len()
    }
}

impl Array {
    /// The buffer that the items are in, whole, and their places there.
    fn buffer_of(&self) -> Option<(&Arc<dyn Storage>, Range<usize>)> {
        let Data::Dense(held) = &self.data else { return None };
        Some(match held.as_any().downcast_ref::<Part>() {
            Some(part) => (&part.of, part.range.clone()),
            None => (held, 0..held.len()),
        })
    }

    /// The items of this array that another one shows, which is it or a stretch of it.
    pub(super) fn buffer_part(&self, other: &Array) -> Option<Range<usize>> {
        let ((all, own), (of, part)) = (self.buffer_of()?, other.buffer_of()?);
        let same = std::ptr::eq(Arc::as_ptr(all).cast::<u8>(), Arc::as_ptr(of).cast::<u8>());
        let within = own.start <= part.start && part.end <= own.end;
        (same && within).then(|| part.start - own.start..part.end - own.start)
    }

    /// Some of the first cells of an array in one buffer of real numbers or characters, as a
    /// stretch of that, which copies nothing. None: it would be empty or all, hold on to far more
    /// than it shows, or the buffer is elsewhere.
    pub fn buffer_stretch(&self, cells: Range<usize>) -> Option<Array> {
        let (of, own) = self.buffer_of()?;
        let size = elements(self.shape.get(1..)?);
        let range = cells.start.checked_mul(size)?..cells.end.checked_mul(size)?;
        let range = own.start + range.start..own.start + range.end;
        let all = of.len();
        let short = range.len().saturating_mul(HOLDS) < all;
        let same = range.len() == self.len();
        if range.is_empty() || short || same || range.end > all || !of.can_be_cut() {
            return None;
        }
        // Complex numbers may all be real then, which is another type.
        if of.dtype() == super::DType::Complex {
            return None;
        }
        let mut shape = self.shape.clone();
        shape[0] = cells.len();
        let part = Part { of: of.clone(), range };
        Some(Array { shape, data: Data::Dense(Arc::new(part)) })
    }
}

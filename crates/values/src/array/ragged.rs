//! One flat vector cut into vectors of many lengths: words of a text, parts, groups.
//!
//! A nested vector whose items are such pieces holds no item of its own before somebody looks at
//! one.

use super::split::cut;
use super::{Array, Buf, DType, Data, Storage, elements};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use std::ops::Range;
use std::sync::Arc;

/// A flat vector and where its pieces end.
#[derive(Clone)]
pub struct Ragged {
    flat: Array,
    ends: Arc<[u32]>,
}

/// The storage of an array that has one; of others None.
pub fn storage(a: &Array) -> Option<&dyn Storage> {
    match a.data() {
        Data::Dense(b) => Some(&**b),
        _ => None,
    }
}

impl Ragged {
    /// The pieces that end at these places, in ascending order, of a ready vector of real numbers
    /// or characters. None: there is no piece, or the array is no such vector.
    pub fn new(flat: Array, ends: Vec<u32>) -> Option<Ragged> {
        let kind = matches!(flat.dtype(), DType::Complex | DType::Nested);
        let fits = ends.last().is_some_and(|&end| end as usize == flat.len());
        let ready = storage(&flat).is_some() && flat.rank() == 1;
        (fits && ready && !kind).then(|| Ragged { flat, ends: ends.into() })
    }

    /// The pieces of a ready vector that lie in these ranges, which ascend. None as for `new`.
    /// Errors: WS FULL.
    pub fn of(y: &Array, parts: &[Range<usize>], budget: &Budget) -> Result<Option<Ragged>> {
        let Some(held) = storage(y).filter(|_| y.rank() == 1 && u32::try_from(y.len()).is_ok())
        else {
            return Ok(None);
        };
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Ok(None) };
        let mut ends = budget.room(parts.len())?;
        let mut end = 0;
        ends.extend(parts.iter().map(|part| {
            end += part.len() as u32;
            end
        }));
        let whole = first.start == 0 && last.end == y.len() && end as usize == y.len();
        let flat = match whole {
            true => y.clone(),
            false => {
                let mut runs: Vec<(&dyn Storage, Range<usize>)> = budget.room(parts.len())?;
                runs.extend(parts.iter().map(|part| (held, part.clone())));
                match Buf::stretches(&runs, budget)? {
                    Some(made) => Array::dense([end as usize].as_slice(), Arc::new(made)),
                    None => return Ok(None),
                }
            }
        };
        Ok(Ragged::new(flat, ends))
    }

    /// All pieces one behind the other.
    pub fn flat(&self) -> &Array {
        &self.flat
    }

    /// The end of each piece.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// The number of pieces.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The places of the k-th piece.
    pub fn range(&self, k: usize) -> Range<usize> {
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        start as usize..self.ends[k] as usize
    }

    /// The k-th piece as a vector.
    pub fn item(&self, k: usize) -> Array {
        let range = self.range(k);
        match storage(&self.flat) {
            Some(b) => Array::dense(
                [range.len()].as_slice(),
                Arc::new(cut(b.view(), b.dtype(), range.start, range.len())),
            ),
            None => self.flat.clone(),
        }
    }

    /// As the items of a nested array of that shape, which has as many.
    pub fn items(self, shape: &[usize]) -> Array {
        debug_assert_eq!(elements(shape), self.count());
        Array::ragged(shape, self)
    }
}

//! Items put into an array: in its own buffer if nobody else holds it, else in one copy.
//!
//! Always: the array that others hold is never changed; a number that its storage cannot hold
//! widens the copy.

use super::{Array, Buf, DType, Data, Shape, Storage, View};
use aplomb_ground::error::{Error, Result};
use aplomb_ground::limits::Budget;
use std::sync::Arc;

/// An array while its items change.
pub struct Changing {
    shape: Shape,
    items: Kept,
}

enum Kept {
    Typed(Buf),
    Loose(Vec<Array>),
}

impl Changing {
    /// Copies only if somebody else holds the buffer. Errors: WS FULL, with the array as it was.
    pub fn of(a: Array, budget: &Budget) -> Result<Changing, (Array, Error)> {
        let (shape, data) = (Shape::from_slice(a.shape()), a.settled().into_data());
        drop(a);
        let items = match data {
            Data::Dense(storage) => match Buf::unique(storage) {
                Ok(buf) => Kept::Typed(buf),
                Err(shared) => match Buf::copied(&*shared, budget) {
                    Ok(buf) => Kept::Typed(buf),
                    Err(e) => return Err((Array::dense(shape, shared), e)),
                },
            },
            Data::Items(items) => {
                let whole = Array { shape: shape.clone(), data: Data::Items(items) };
                match whole.to_items(budget) {
                    Ok(items) => Kept::Loose(items),
                    Err(e) => return Err((whole, e)),
                }
            }
            data => Kept::Loose(vec![Array { shape: Shape::new(), data }]),
        };
        Ok(Changing { shape, items })
    }

    /// Item `at` as it stands in a strand.
    pub fn item(&self, at: usize) -> Array {
        match &self.items {
            Kept::Typed(buf) => buf.item(at),
            Kept::Loose(items) => items[at].clone(),
        }
    }

    /// Errors: WS FULL, where the storage must widen.
    pub fn put(&mut self, at: usize, item: &Array, budget: &Budget) -> Result<()> {
        if let Kept::Typed(buf) = &mut self.items {
            let done = match &item.data {
                Data::Num(x) => buf.put_number(at, *x, budget)?,
                Data::Complex(z) => buf.put_complex(at, *z, budget)?,
                Data::Char(c) => buf.put_char(at, *c),
                _ => false,
            };
            if done {
                return Ok(());
            }
            let mut loose = budget.room(buf.items_held())?;
            loose.extend((0..buf.items_held()).map(|k| buf.item(k)));
            self.items = Kept::Loose(loose);
        }
        if let Kept::Loose(items) = &mut self.items {
            items[at] = item.settled();
        }
        Ok(())
    }

    /// The items of a simple scalar or vector behind those of a vector. False, and nothing changed:
    /// the two do not fit in one buffer of items. Errors: WS FULL, with nothing changed.
    pub fn append(&mut self, v: &Array, budget: &Budget) -> Result<bool> {
        let Kept::Typed(buf) = &mut self.items else { return Ok(false) };
        let n = v.len();
        if self.shape.len() != 1 || v.rank() > 1 {
            return Ok(false);
        }
        let done = match v.data() {
            Data::Num(x) => buf.append(View::F64(&[*x]), budget)?,
            Data::Char(c) => buf.append(View::Char(&[*c]), budget)?,
            Data::Dense(storage) => buf.append(storage.view(), budget)?,
            _ => false,
        };
        if done {
            self.shape[0] += n;
        }
        Ok(done)
    }

    /// Errors: WS FULL, LIMIT (depth).
    pub fn finish(self, proto: Array, budget: &Budget) -> Result<Array> {
        match self.items {
            Kept::Typed(buf) => match buf.view() {
                // The last item that was not real may be gone.
                View::Complex(v) => Array::complexes(self.shape, v.to_vec(), budget),
                _ => Ok(Array::dense(self.shape, Arc::new(buf))),
            },
            Kept::Loose(items) => Array::collect(self.shape, items, Some(proto), budget),
        }
    }
}

/// The storage that holds both what is there and one number more.
pub(super) fn wide_enough(now: DType, x: f64) -> Option<DType> {
    let own = match now {
        DType::F64 => return Some(DType::F64),
        // What is put into f32 is rounded to it.
        DType::F32 => return Some(DType::F32),
        now => now.range()?,
    };
    let whole = x == x.trunc();
    Some(if whole { DType::holding(own.0.min(x), own.1.max(x)) } else { DType::F64 })
}

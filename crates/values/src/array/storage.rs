//! Buffers: typed slices behind `Storage`. The device's pool makes its own; `Buf` is the safe one
//! over `Vec`.

use super::DType;
use aplomb_ground::limits::{Budget, Charge};
use num_complex::Complex64;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Read-only items of one buffer. Booleans are bytes 0 and 1.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    Bool(&'a [u8]),
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    F32(&'a [f32]),
    F64(&'a [f64]),
    Complex(&'a [Complex64]),
    Char(&'a [char]),
}

fn real(z: Complex64) -> f64 {
    if z.im == 0.0 { z.re } else { f64::NAN }
}

impl View<'_> {
    /// Item `at` as a real number; a character's code point, NaN for a number that is not real.
    pub fn number(&self, at: usize) -> f64 {
        match self {
            View::Bool(v) => f64::from(v[at]),
            View::I8(v) => f64::from(v[at]),
            View::I16(v) => f64::from(v[at]),
            View::I32(v) => f64::from(v[at]),
            View::F32(v) => f64::from(v[at]),
            View::F64(v) => v[at],
            View::Complex(v) => real(v[at]),
            View::Char(v) => f64::from(u32::from(v[at])),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            View::Bool(v) => v.len(),
            View::I8(v) => v.len(),
            View::I16(v) => v.len(),
            View::I32(v) => v.len(),
            View::F32(v) => v.len(),
            View::F64(v) => v.len(),
            View::Complex(v) => v.len(),
            View::Char(v) => v.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All items as `number` gives them.
    pub fn numbers(&self) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.len());
        self.numbers_to(&mut out);
        out
    }

    /// The same where there is room. Errors: WS FULL.
    pub fn numbers_within(&self, budget: &Budget) -> aplomb_ground::error::Result<Vec<f64>> {
        let mut out = budget.room(self.len())?;
        self.numbers_to(&mut out);
        Ok(out)
    }

    fn numbers_to(&self, out: &mut Vec<f64>) {
        match self {
            View::Bool(v) => out.extend(v.iter().map(|&x| f64::from(x))),
            View::I8(v) => out.extend(v.iter().map(|&x| f64::from(x))),
            View::I16(v) => out.extend(v.iter().map(|&x| f64::from(x))),
            View::I32(v) => out.extend(v.iter().map(|&x| f64::from(x))),
            View::F32(v) => out.extend(v.iter().map(|&x| f64::from(x))),
            View::F64(v) => out.extend_from_slice(v),
            View::Complex(v) => out.extend(v.iter().map(|&z| real(z))),
            View::Char(v) => out.extend(v.iter().map(|&x| f64::from(u32::from(x)))),
        }
    }
}

/// Errors: WS FULL.
fn copied<T: Copy>(items: &[T], budget: &Budget) -> aplomb_ground::error::Result<Vec<T>> {
    let mut out = budget.room(items.len())?;
    out.extend_from_slice(items);
    Ok(out)
}

/// Stretches of buffers that `of` knows. Errors: WS FULL.
fn one_kind<'a, T: Copy + 'a>(
    all: &[(&'a dyn Storage, Range<usize>)],
    budget: &Budget,
    of: impl Fn(View<'a>) -> &'a [T],
) -> aplomb_ground::error::Result<Vec<T>> {
    let mut out = budget.room(all.iter().map(|(_, r)| r.len()).sum())?;
    all.iter()
        .for_each(|(s, r)| out.extend_from_slice(of(s.view()).get(r.clone()).unwrap_or_default()));
    Ok(out)
}

/// A buffer of one dtype, shared between values and never written while shared.
pub trait Storage: Send + Sync {
    fn view(&self) -> View<'_>;
    /// For the device that made it to find its own buffers again.
    fn as_any(&self) -> &dyn Any;

    fn dtype(&self) -> DType {
        match self.view() {
            View::Bool(_) => DType::Bool,
            View::I8(_) => DType::I8,
            View::I16(_) => DType::I16,
            View::I32(_) => DType::I32,
            View::F32(_) => DType::F32,
            View::F64(_) => DType::F64,
            View::Complex(_) => DType::Complex,
            View::Char(_) => DType::Char,
        }
    }

    fn len(&self) -> usize {
        self.view().len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A buffer in ordinary memory, which alone can be changed in place.
    fn as_buf(&mut self) -> Option<&mut Buf> {
        None
    }
}

/// A buffer in ordinary memory with its charge against the budget.
pub struct Buf {
    items: Vecs,
    _charge: Option<Charge>,
}

enum Vecs {
    Bool(Vec<u8>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Complex(Vec<Complex64>),
    Char(Vec<char>),
}

impl Buf {
    /// Integers in their narrowest storage, everything else as f64. Errors: WS FULL.
    pub fn numbers(items: Vec<f64>, budget: &Budget) -> aplomb_ground::error::Result<Buf> {
        let (mut lo, mut hi, mut whole) = (f64::INFINITY, f64::NEG_INFINITY, true);
        for &x in &items {
            whole &= x == x.trunc();
            lo = if x < lo { x } else { lo };
            hi = if x > hi { x } else { hi };
        }
        if items.is_empty() {
            (lo, hi) = (0.0, 0.0);
        }
        match DType::of_range(lo, hi).filter(|_| whole) {
            Some(dtype) => Buf::stored(&items, dtype, budget),
            None => Buf::f64(items, budget),
        }
    }

    /// The items converted to `dtype`, which must hold them. Errors: WS FULL.
    pub fn stored(
        items: &[f64],
        dtype: DType,
        budget: &Budget,
    ) -> aplomb_ground::error::Result<Buf> {
        let charge = budget.charge_elements(items.len(), dtype.size())?;
        Ok(Buf { _charge: Some(charge), ..Buf::uncounted(items, dtype) })
    }

    /// The same where a whole that is counted already is taken apart, or a few fills are made.
    pub fn uncounted(items: &[f64], dtype: DType) -> Buf {
        let items = match dtype {
            DType::Bool => Vecs::Bool(items.iter().map(|&x| x as u8).collect()),
            DType::I8 => Vecs::I8(items.iter().map(|&x| x as i8).collect()),
            DType::I16 => Vecs::I16(items.iter().map(|&x| x as i16).collect()),
            DType::I32 => Vecs::I32(items.iter().map(|&x| x as i32).collect()),
            DType::F32 => Vecs::F32(items.iter().map(|&x| x as f32).collect()),
            DType::Char => Vecs::Char(
                items.iter().map(|&x| char::from_u32(x as u32).unwrap_or('\u{fffd}')).collect(),
            ),
            DType::Complex => Vecs::Complex(items.iter().map(|&x| x.into()).collect()),
            DType::F64 | DType::Nested => Vecs::F64(items.to_vec()),
        };
        Buf { items, _charge: None }
    }

    /// Characters, as `uncounted`.
    pub fn uncounted_chars(items: Vec<char>) -> Buf {
        Buf { items: Vecs::Char(items), _charge: None }
    }

    pub fn f64(items: Vec<f64>, budget: &Budget) -> aplomb_ground::error::Result<Buf> {
        let charge = budget.charge_elements(items.len(), 8)?;
        Ok(Buf { items: Vecs::F64(items), _charge: Some(charge) })
    }

    pub fn f32(items: Vec<f32>, budget: &Budget) -> aplomb_ground::error::Result<Buf> {
        let charge = budget.charge_elements(items.len(), 4)?;
        Ok(Buf { items: Vecs::F32(items), _charge: Some(charge) })
    }

    /// As they are. Arrays are made of them by `Array::complexes`, which takes reals for what they
    /// are.
    pub fn complexes(items: Vec<Complex64>, budget: &Budget) -> aplomb_ground::error::Result<Buf> {
        let charge = budget.charge_elements(items.len(), 16)?;
        Ok(Buf { items: Vecs::Complex(items), _charge: Some(charge) })
    }

    pub fn one_complex(z: Complex64) -> Buf {
        Buf { items: Vecs::Complex(vec![z]), _charge: None }
    }

    pub fn bools(items: Vec<u8>, budget: &Budget) -> aplomb_ground::error::Result<Buf> {
        let charge = budget.charge_elements(items.len(), 1)?;
        Ok(Buf { items: Vecs::Bool(items), _charge: Some(charge) })
    }

    pub fn chars(items: Vec<char>, budget: &Budget) -> aplomb_ground::error::Result<Buf> {
        let charge = budget.charge_elements(items.len(), 4)?;
        Ok(Buf { items: Vecs::Char(items), _charge: Some(charge) })
    }

    /// One number: too small to count.
    pub fn one_number(x: f64) -> Buf {
        let items = match super::narrowest(x) {
            DType::Bool => Vecs::Bool(vec![x as u8]),
            DType::I8 => Vecs::I8(vec![x as i8]),
            DType::I16 => Vecs::I16(vec![x as i16]),
            DType::I32 => Vecs::I32(vec![x as i32]),
            _ => Vecs::F64(vec![x]),
        };
        Buf { items, _charge: None }
    }

    /// A buffer that nobody else holds, taken out of its value.
    pub fn unique(storage: Arc<dyn Storage>) -> Result<Buf, Arc<dyn Storage>> {
        let mut storage = storage;
        let alone = Arc::get_mut(&mut storage).and_then(Storage::as_buf);
        match alone {
            Some(buf) => {
                Ok(std::mem::replace(buf, Buf { items: Vecs::Bool(Vec::new()), _charge: None }))
            }
            None => Err(storage),
        }
    }

    /// A copy in ordinary memory. Errors: WS FULL.
    pub fn copied(storage: &dyn Storage, budget: &Budget) -> aplomb_ground::error::Result<Buf> {
        let items = match storage.view() {
            View::Bool(v) => Vecs::Bool(copied(v, budget)?),
            View::I8(v) => Vecs::I8(copied(v, budget)?),
            View::I16(v) => Vecs::I16(copied(v, budget)?),
            View::I32(v) => Vecs::I32(copied(v, budget)?),
            View::F32(v) => Vecs::F32(copied(v, budget)?),
            View::F64(v) => Vecs::F64(copied(v, budget)?),
            View::Complex(v) => Vecs::Complex(copied(v, budget)?),
            View::Char(v) => Vecs::Char(copied(v, budget)?),
        };
        let charge = budget.charge_elements(storage.len(), storage.dtype().size())?;
        Ok(Buf { items, _charge: Some(charge) })
    }

    /// Stretches of buffers one after another, if all are of one integer type. Errors: WS FULL.
    pub fn stretches(
        all: &[(&dyn Storage, Range<usize>)],
        budget: &Budget,
    ) -> aplomb_ground::error::Result<Option<Buf>> {
        let dtype = all.first().map_or(DType::F64, |(s, _)| s.dtype());
        if !dtype.is_integer() || all.iter().any(|(s, _)| s.dtype() != dtype) {
            return Ok(None);
        }
        let n = all.iter().map(|(_, r)| r.len()).sum();
        let items = match dtype {
            DType::Bool => {
                Vecs::Bool(one_kind(all, budget, |v| if let View::Bool(v) = v { v } else { &[] })?)
            }
            DType::I8 => {
                Vecs::I8(one_kind(all, budget, |v| if let View::I8(v) = v { v } else { &[] })?)
            }
            DType::I16 => {
                Vecs::I16(one_kind(all, budget, |v| if let View::I16(v) = v { v } else { &[] })?)
            }
            DType::I32 => {
                Vecs::I32(one_kind(all, budget, |v| if let View::I32(v) = v { v } else { &[] })?)
            }
            _ => return Ok(None),
        };
        let charge = budget.charge_elements(n, dtype.size())?;
        Ok(Some(Buf { items, _charge: Some(charge) }))
    }

    pub fn items_held(&self) -> usize {
        self.view().len()
    }

    pub fn item(&self, at: usize) -> super::Array {
        match self.view() {
            View::Char(v) => super::Array::char(v[at]),
            View::Complex(v) => super::Array::complex(v[at]),
            view => super::Array::num(view.number(at)),
        }
    }

    /// False: these are characters. Widens the storage where it must. Errors: WS FULL.
    pub fn put_number(
        &mut self,
        at: usize,
        x: f64,
        budget: &Budget,
    ) -> aplomb_ground::error::Result<bool> {
        if let Vecs::Complex(v) = &mut self.items {
            v[at] = x.into();
            return Ok(true);
        }
        let now = self.dtype();
        let Some(wanted) = super::change::wide_enough(now, x) else { return Ok(false) };
        if wanted != now {
            let numbers = self.view().numbers_within(budget)?;
            *self = Buf::stored(&numbers, wanted, budget)?;
        }
        match &mut self.items {
            Vecs::Bool(v) => v[at] = x as u8,
            Vecs::I8(v) => v[at] = x as i8,
            Vecs::I16(v) => v[at] = x as i16,
            Vecs::I32(v) => v[at] = x as i32,
            Vecs::F32(v) => v[at] = x as f32,
            Vecs::F64(v) => v[at] = x,
            Vecs::Complex(_) | Vecs::Char(_) => return Ok(false),
        }
        Ok(true)
    }

    /// False: these are characters. Errors: WS FULL.
    pub fn put_complex(
        &mut self,
        at: usize,
        z: Complex64,
        budget: &Budget,
    ) -> aplomb_ground::error::Result<bool> {
        if !self.dtype().is_number() {
            return Ok(false);
        }
        if self.dtype() != DType::Complex {
            let numbers = self.view().numbers_within(budget)?;
            *self = Buf::stored(&numbers, DType::Complex, budget)?;
        }
        if let Vecs::Complex(v) = &mut self.items {
            v[at] = z;
        }
        Ok(true)
    }

    /// False: these are numbers.
    pub fn put_char(&mut self, at: usize, c: char) -> bool {
        match &mut self.items {
            Vecs::Char(v) => v[at] = c,
            _ => return false,
        }
        true
    }

    pub fn one_char(c: char) -> Buf {
        Buf { items: Vecs::Char(vec![c]), _charge: None }
    }
}

impl Storage for Buf {
    fn view(&self) -> View<'_> {
        match &self.items {
            Vecs::Bool(v) => View::Bool(v),
            Vecs::I8(v) => View::I8(v),
            Vecs::I16(v) => View::I16(v),
            Vecs::I32(v) => View::I32(v),
            Vecs::F32(v) => View::F32(v),
            Vecs::F64(v) => View::F64(v),
            Vecs::Complex(v) => View::Complex(v),
            Vecs::Char(v) => View::Char(v),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_buf(&mut self) -> Option<&mut Buf> {
        Some(self)
    }
}

//! Buffers: typed slices behind `Storage`. The device's pool makes its own; `Buf` is the safe one
//! over `Vec`.

use super::DType;
use super::blocks::{AtOnce, BLOCK, COPIED, Line, Taking, copied, extend, grow, of_points};
use super::ready::SHIFT;
use aplomb_ground::limits::{Budget, Charge};
use num_complex::Complex64;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Read-only items of one buffer. Booleans are bytes 0 and 1.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// Booleans, a byte each.
    Bool(&'a [u8]),
    /// Integers of 8 bits.
    I8(&'a [i8]),
    /// Integers of 16 bits.
    I16(&'a [i16]),
    /// Integers of 32 bits.
    I32(&'a [i32]),
    /// Floats of 32 bits.
    F32(&'a [f32]),
    /// Floats of 64 bits.
    F64(&'a [f64]),
    /// Complex numbers.
    Complex(&'a [Complex64]),
    /// Characters.
    Char(&'a [char]),
}

/// A number that is real; NaN for another.
pub(super) fn real(z: Complex64) -> f64 {
    if z.im == 0.0 { z.re } else { f64::NAN }
}

impl View<'_> {
    /// The type of the items.
    pub fn dtype(&self) -> DType {
        match self {
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

    /// The number of items.
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

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The views of buffers that come again and again: pieces alternate between two.
#[derive(Default)]
struct Views<'a> {
    known: [Option<(*const u8, View<'a>)>; 2],
    next: usize,
}

impl<'a> Views<'a> {
    fn of(&mut self, held: &'a dyn Storage) -> View<'a> {
        let at = std::ptr::from_ref(held).cast::<u8>();
        let known = self.known.iter().flatten().find(|(own, _)| *own == at);
        if let Some((_, view)) = known {
            return *view;
        }
        let view = held.view();
        self.known[self.next] = Some((at, view));
        self.next = 1 - self.next;
        view
    }
}

/// Stretches of buffers that `of` knows. Errors: WS FULL.
fn one_kind<'a, T: Copy + 'a>(
    all: &[(&'a dyn Storage, Range<usize>)],
    budget: &Budget,
    of: impl Fn(View<'a>) -> &'a [T],
) -> aplomb_ground::error::Result<Vec<T>> {
    let mut out = budget.room(all.iter().map(|(_, r)| r.len()).sum())?;
    let (mut ticks, mut views) = (budget.ticks(), Views::default());
    for (s, r) in all {
        ticks.spend(1 + r.len() / COPIED)?;
        let items = &of(views.of(*s))[r.clone()];
        match items.len() <= BLOCK {
            true => out.extend_from_slice(items),
            false => extend(&mut out, items, budget)?,
        }
    }
    Ok(out)
}

/// A buffer of one dtype, shared between values and never written while shared.
pub trait Storage: Send + Sync {
    /// The items.
    fn view(&self) -> View<'_>;
    /// For the device that made it to find its own buffers again.
    fn as_any(&self) -> &dyn Any;

    /// The type of the items.
    fn dtype(&self) -> DType {
        self.view().dtype()
    }

    /// The number of items.
    fn len(&self) -> usize {
        self.view().len()
    }

    /// Whether there is no item.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it lies here, where a stretch of it is as good as a copy.
    fn can_be_cut(&self) -> bool {
        true
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

/// The integer that a number is, one of 32 bits: a number so much larger has it in its lowest bits.
/// (A cast looks for what does not fit, one number after the other.)
#[inline]
pub fn whole(x: f64) -> i32 {
    let low = (x + SHIFT).to_bits() as i32;
    debug_assert_eq!(f64::from(low), x, "no integer of 32 bits");
    low
}

/// Numbers in a type that holds them.
fn converted<B: Taking>(items: &[f64], dtype: DType, by: &B) -> Result<Vecs, B::Error> {
    let items = items.iter();
    Ok(match dtype {
        DType::Bool => Vecs::Bool(by.taken(items.map(|&x| whole(x) as u8))?),
        DType::I8 => Vecs::I8(by.taken(items.map(|&x| whole(x) as i8))?),
        DType::I16 => Vecs::I16(by.taken(items.map(|&x| whole(x) as i16))?),
        DType::I32 => Vecs::I32(by.taken(items.map(|&x| whole(x)))?),
        DType::F32 => Vecs::F32(by.taken(items.map(|&x| x as f32))?),
        // A number that is no code point can be seen as one.
        DType::Char => Vecs::Char(by.taken(
            items.map(|&x| char::from_u32(x as u32).unwrap_or(char::REPLACEMENT_CHARACTER)),
        )?),
        DType::Complex => Vecs::Complex(by.taken(items.map(|&x| x.into()))?),
        DType::F64 | DType::Nested => Vecs::F64(by.taken(items.copied())?),
    })
}

/// A buffer of the items of a vector, as they are, for each type. Errors: WS FULL.
macro_rules! counted {
    ($($(#[$says:meta])* $name:ident: $of:ident($item:ty),)*) => {
        impl Buf {
            $(
                $(#[$says])*
                pub fn $name(
                    items: Vec<$item>,
                    budget: &Budget,
                ) -> aplomb_ground::error::Result<Buf> {
                    let charge = budget.charge_elements(items.len(), size_of::<$item>())?;
                    Ok(Buf { items: Vecs::$of(items), _charge: Some(charge) })
                }
            )*
        }
    };
}

counted! {
    /// Booleans, each 0 or 1. Errors: WS FULL.
    bools: Bool(u8),
    /// Integers of 8 bits. Errors: WS FULL.
    i8: I8(i8),
    /// Integers of 16 bits. Errors: WS FULL.
    i16: I16(i16),
    /// Integers of 32 bits. Errors: WS FULL.
    i32: I32(i32),
    /// Floats of 32 bits. Errors: WS FULL.
    f32: F32(f32),
    /// Floats of 64 bits. Errors: WS FULL.
    f64: F64(f64),
    /// Complex numbers. Arrays are made of them by `Array::complexes`, which takes reals for what
    /// they are. Errors: WS FULL.
    complexes: Complex(Complex64),
    /// Characters. Errors: WS FULL.
    chars: Char(char),
}

impl Buf {
    /// Integers in their narrowest storage, everything else as f64. Errors: WS FULL.
    pub fn numbers(items: Vec<f64>, budget: &Budget) -> aplomb_ground::error::Result<Buf> {
        let mut wide = DType::Bool;
        for block in items.chunks(BLOCK) {
            budget.check()?;
            wide = wide.max(DType::of_numbers(block));
            if wide == DType::F64 {
                break;
            }
        }
        match wide {
            DType::F64 => Buf::f64(items, budget),
            dtype => Buf::stored(&items, dtype, budget),
        }
    }

    /// The items converted to `dtype`, which must hold them. Errors: WS FULL.
    pub fn stored(
        items: &[f64],
        dtype: DType,
        budget: &Budget,
    ) -> aplomb_ground::error::Result<Buf> {
        let charge = budget.charge_elements(items.len(), dtype.size())?;
        Ok(Buf { items: converted(items, dtype, budget)?, _charge: Some(charge) })
    }

    /// Whole numbers of which none is beyond a known one, in the narrowest storage for that.
    /// Errors: WS FULL, INTERRUPT.
    pub fn up_to(items: Vec<u32>, most: u32, budget: &Budget) -> aplomb_ground::error::Result<Buf> {
        debug_assert!(items.iter().all(|&x| x <= most), "a number is beyond the greatest");
        let dtype = DType::holding(0.0, f64::from(most));
        let charge = budget.charge_elements(items.len(), dtype.size())?;
        let items = items.into_iter();
        let items = match dtype {
            DType::Bool => Vecs::Bool(budget.each(items.map(|x| x as u8))?),
            DType::I8 => Vecs::I8(budget.each(items.map(|x| x as i8))?),
            DType::I16 => Vecs::I16(budget.each(items.map(|x| x as i16))?),
            DType::I32 => Vecs::I32(budget.each(items.map(|x| x as i32))?),
            _ => Vecs::F64(budget.each(items.map(f64::from))?),
        };
        Ok(Buf { items, _charge: Some(charge) })
    }

    /// As `stored`, where a whole that is counted already is taken apart, or a few fills are made.
    pub fn uncounted(items: &[f64], dtype: DType) -> Buf {
        let Ok(items) = converted(items, dtype, &AtOnce);
        Buf { items, _charge: None }
    }

    /// A piece of a buffer, as `uncounted`: the whole is charged, and its pieces are looked at one
    /// by one.
    pub fn part(whole: View<'_>, range: Range<usize>) -> Buf {
        fn own<T: Copy>(whole: &[T], range: Range<usize>) -> Vec<T> {
            whole[range].to_vec()
        }
        let items = match whole {
            View::Bool(v) => Vecs::Bool(own(v, range)),
            View::I8(v) => Vecs::I8(own(v, range)),
            View::I16(v) => Vecs::I16(own(v, range)),
            View::I32(v) => Vecs::I32(own(v, range)),
            View::F32(v) => Vecs::F32(own(v, range)),
            View::F64(v) => Vecs::F64(own(v, range)),
            View::Complex(v) => Vecs::Complex(own(v, range)),
            View::Char(v) => Vecs::Char(own(v, range)),
        };
        Buf { items, _charge: None }
    }

    /// Complex numbers, as `uncounted`; some is not real.
    pub fn uncounted_complexes(items: Vec<Complex64>) -> Buf {
        Buf { items: Vecs::Complex(items), _charge: None }
    }

    /// Characters, as `uncounted`.
    pub fn uncounted_chars(items: Vec<char>) -> Buf {
        Buf { items: Vecs::Char(items), _charge: None }
    }

    /// One complex number; so small that no budget counts it.
    pub fn one_complex(z: Complex64) -> Buf {
        Buf { items: Vecs::Complex(vec![z]), _charge: None }
    }

    /// The code points of characters, in the narrowest storage. Errors: WS FULL, INTERRUPT.
    pub fn points(chars: &[char], budget: &Budget) -> aplomb_ground::error::Result<Buf> {
        let mut most = '\0';
        for block in chars.chunks(BLOCK) {
            budget.check()?;
            most = block.iter().fold(most, |most, &c| most.max(c));
        }
        let dtype = DType::holding(0.0, f64::from(u32::from(most)));
        let items = match dtype {
            DType::Bool => Vecs::Bool(budget.each(chars.iter().map(|&c| c as u8))?),
            DType::I8 => Vecs::I8(budget.each(chars.iter().map(|&c| c as i8))?),
            DType::I16 => Vecs::I16(budget.each(chars.iter().map(|&c| c as u32 as i16))?),
            _ => Vecs::I32(budget.each(chars.iter().map(|&c| c as i32))?),
        };
        let charge = budget.charge_elements(chars.len(), dtype.size())?;
        Ok(Buf { items, _charge: Some(charge) })
    }

    /// The characters with these code points. None: some number is none, or not exactly. Errors:
    /// WS FULL, INTERRUPT.
    pub fn of_points(view: View<'_>, budget: &Budget) -> aplomb_ground::error::Result<Option<Buf>> {
        // A number below 0 becomes one that is no code point.
        let chars = match view {
            View::Bool(v) => of_points(v, budget, u32::from)?,
            View::I8(v) => of_points(v, budget, |x| x as u32)?,
            View::I16(v) => of_points(v, budget, |x| x as u32)?,
            View::I32(v) => of_points(v, budget, |x| x as u32)?,
            View::F32(_) | View::F64(_) | View::Complex(_) | View::Char(_) => None,
        };
        chars.map(|chars| Buf::chars(chars, budget)).transpose()
    }

    /// One number: too small to count.
    pub fn one_number(x: f64, digits: super::Digits) -> Buf {
        let items = match super::narrowest(x) {
            _ if digits == super::Digits::Single => Vecs::F32(vec![x as f32]),
            DType::Bool => Vecs::Bool(vec![x as u8]),
            DType::I8 => Vecs::I8(vec![x as i8]),
            DType::I16 => Vecs::I16(vec![x as i16]),
            DType::I32 => Vecs::I32(vec![x as i32]),
            _ => Vecs::F64(vec![x]),
        };
        Buf { items, _charge: None }
    }

    /// The items, if they are floats of 64 bits. Their number is what was charged.
    pub(super) fn floats(&mut self) -> Option<&mut Vec<f64>> {
        match &mut self.items {
            Vecs::F64(items) => Some(items),
            _ => None,
        }
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

    /// Stretches of buffers one after another, if all are of one type, and that no complex one.
    /// Errors: WS FULL.
    pub fn stretches(
        all: &[(&dyn Storage, Range<usize>)],
        budget: &Budget,
    ) -> aplomb_ground::error::Result<Option<Buf>> {
        let (dtype, mut views) =
            (all.first().map_or(DType::F64, |(s, _)| s.dtype()), Views::default());
        if dtype == DType::Complex || all.iter().any(|(s, _)| views.of(*s).dtype() != dtype) {
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
            DType::F32 => {
                Vecs::F32(one_kind(all, budget, |v| if let View::F32(v) = v { v } else { &[] })?)
            }
            DType::F64 => {
                Vecs::F64(one_kind(all, budget, |v| if let View::F64(v) = v { v } else { &[] })?)
            }
            DType::Char => {
                Vecs::Char(one_kind(all, budget, |v| if let View::Char(v) = v { v } else { &[] })?)
            }
            DType::Complex | DType::Nested => return Ok(None),
        };
        let charge = budget.charge_elements(n, dtype.size())?;
        Ok(Some(Buf { items, _charge: Some(charge) }))
    }

    /// A stretch of a buffer between fills of 0 or blank: `step` is 1, or ¯1 from its end. None: it
    /// is complex. Errors: WS FULL.
    pub fn between(
        storage: &dyn Storage,
        (stretch, step): (Range<usize>, i64),
        (before, after): (usize, usize),
        budget: &Budget,
    ) -> aplomb_ground::error::Result<Option<Buf>> {
        let n = before.saturating_add(stretch.len()).saturating_add(after);
        let line = Line { stretch, step, before, n };
        let items = match storage.view() {
            View::Bool(v) => Vecs::Bool(line.of(v, 0, budget)?),
            View::I8(v) => Vecs::I8(line.of(v, 0, budget)?),
            View::I16(v) => Vecs::I16(line.of(v, 0, budget)?),
            View::I32(v) => Vecs::I32(line.of(v, 0, budget)?),
            View::F32(v) => Vecs::F32(line.of(v, 0.0, budget)?),
            View::F64(v) => Vecs::F64(line.of(v, 0.0, budget)?),
            View::Char(v) => Vecs::Char(line.of(v, ' ', budget)?),
            View::Complex(_) => return Ok(None),
        };
        let charge = budget.charge_elements(n, storage.dtype().size())?;
        Ok(Some(Buf { items, _charge: Some(charge) }))
    }

    /// The same of stretches of real numbers of several types, in one that holds all; the type of
    /// one without items does not count. Errors: WS FULL.
    pub fn widened(
        all: &[(&dyn Storage, Range<usize>)],
        budget: &Budget,
    ) -> aplomb_ground::error::Result<Option<Buf>> {
        let (mut views, is_char) = (Views::default(), |d: DType| d == DType::Char);
        // The types of those that hold something, and whether some are characters, some none.
        let (mut first, mut wide, mut alike, mut real) = (None, DType::Bool, true, true);
        let (mut chars, mut others) = (false, false);
        let mut ticks = budget.ticks();
        for (s, r) in all {
            ticks.tick()?;
            let own = views.of(*s).dtype();
            (chars, others) = (chars | is_char(own), others | !is_char(own));
            if !r.is_empty() {
                alike &= *first.get_or_insert(own) == own;
                real &= own.is_integer() || own == DType::F64;
                wide = wide.max(own);
            }
        }
        let Some(first) = first else { return Buf::stretches(all, budget) };
        if chars && others {
            return Ok(None);
        }
        if alike {
            let mut views = Views::default();
            if all.iter().all(|(s, _)| views.of(*s).dtype() == first) {
                return Buf::stretches(all, budget);
            }
            let same = budget.each(all.iter().filter(|(s, _)| s.dtype() == first).cloned())?;
            return Buf::stretches(&same, budget);
        }
        if !real {
            return Ok(None);
        }
        let mut numbers = budget.room(all.iter().map(|(_, r)| r.len()).sum())?;
        let mut ticks = budget.ticks();
        for (s, r) in all {
            ticks.spend(1 + r.len() / COPIED)?;
            let view = s.view();
            numbers.extend(r.clone().map(|k| view.number(k)));
        }
        Buf::stored(&numbers, wide, budget).map(Some)
    }

    /// The items at these places, unless they are complex. Errors: WS FULL.
    pub fn picked(
        storage: &dyn Storage,
        places: &[u32],
        budget: &Budget,
    ) -> aplomb_ground::error::Result<Option<Buf>> {
        fn taken<T: Copy>(
            items: &[T],
            places: &[u32],
            budget: &Budget,
        ) -> aplomb_ground::error::Result<Vec<T>> {
            let out = budget.each(places.iter().map(|&k| items[k as usize]))?;
            Ok(out)
        }
        let items = match storage.view() {
            View::Bool(v) => Vecs::Bool(taken(v, places, budget)?),
            View::I8(v) => Vecs::I8(taken(v, places, budget)?),
            View::I16(v) => Vecs::I16(taken(v, places, budget)?),
            View::I32(v) => Vecs::I32(taken(v, places, budget)?),
            View::F32(v) => Vecs::F32(taken(v, places, budget)?),
            View::F64(v) => Vecs::F64(taken(v, places, budget)?),
            View::Char(v) => Vecs::Char(taken(v, places, budget)?),
            View::Complex(_) => return Ok(None),
        };
        let charge = budget.charge_elements(places.len(), storage.dtype().size())?;
        Ok(Some(Buf { items, _charge: Some(charge) }))
    }

    /// The items of ranges, which are so many in all, unless they are complex. Errors: WS FULL.
    pub fn ranges(
        storage: &dyn Storage,
        n: usize,
        ranges: impl Iterator<Item = Range<usize>>,
        budget: &Budget,
    ) -> aplomb_ground::error::Result<Option<Buf>> {
        fn taken<T: Copy>(
            items: &[T],
            n: usize,
            ranges: impl Iterator<Item = Range<usize>>,
            budget: &Budget,
        ) -> aplomb_ground::error::Result<Vec<T>> {
            let mut out = budget.room(n)?;
            let mut ticks = budget.ticks();
            for range in ranges {
                ticks.spend(1 + range.len() / COPIED)?;
                out.extend_from_slice(&items[range]);
            }
            Ok(out)
        }
        let items = match storage.view() {
            View::Bool(v) => Vecs::Bool(taken(v, n, ranges, budget)?),
            View::I8(v) => Vecs::I8(taken(v, n, ranges, budget)?),
            View::I16(v) => Vecs::I16(taken(v, n, ranges, budget)?),
            View::I32(v) => Vecs::I32(taken(v, n, ranges, budget)?),
            View::F32(v) => Vecs::F32(taken(v, n, ranges, budget)?),
            View::F64(v) => Vecs::F64(taken(v, n, ranges, budget)?),
            View::Char(v) => Vecs::Char(taken(v, n, ranges, budget)?),
            View::Complex(_) => return Ok(None),
        };
        let charge = budget.charge_elements(n, storage.dtype().size())?;
        Ok(Some(Buf { items, _charge: Some(charge) }))
    }

    /// The number of items.
    pub fn items_held(&self) -> usize {
        self.view().len()
    }

    /// One item as a scalar.
    pub fn item(&self, at: usize) -> super::Array {
        match self.view() {
            View::Char(v) => super::Array::char(v[at]),
            View::Complex(v) => super::Array::complex(v[at]),
            View::F32(v) => super::Array::single(v[at]),
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
            let numbers = self.view().numbers(budget)?;
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
            let numbers = self.view().numbers(budget)?;
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

    /// Items of one kind, or the one that there is, at places, one after the other. The storage
    /// widens where it must. False, and nothing changed: they are of another kind. Errors: WS FULL,
    /// with nothing changed.
    pub fn put_all(
        &mut self,
        places: &[usize],
        (items, first): (View<'_>, usize),
        budget: &Budget,
    ) -> aplomb_ground::error::Result<bool> {
        fn put<T: Copy>(own: &mut [T], places: &[usize], n: usize, item: impl Fn(usize) -> T) {
            match n {
                1 => {
                    let one = item(0);
                    places.iter().for_each(|&p| own[p] = one);
                }
                _ => places.iter().enumerate().for_each(|(k, &p)| own[p] = item(k)),
            }
        }
        let n = items.len();
        if let (Vecs::Char(own), View::Char(new)) = (&mut self.items, items) {
            put(own, places, n, |k| new[if n == 1 { 0 } else { first + k }]);
            return Ok(true);
        }
        if !self.holds(items, budget)? {
            return Ok(false);
        }
        let new = |k| items.number(if n == 1 { 0 } else { first + k });
        match &mut self.items {
            Vecs::Bool(v) => put(v, places, n, |k| new(k) as u8),
            Vecs::I8(v) => put(v, places, n, |k| new(k) as i8),
            Vecs::I16(v) => put(v, places, n, |k| new(k) as i16),
            Vecs::I32(v) => put(v, places, n, |k| new(k) as i32),
            Vecs::F64(v) => put(v, places, n, new),
            Vecs::F32(_) | Vecs::Complex(_) | Vecs::Char(_) => return Ok(false),
        }
        Ok(true)
    }

    /// Widens the storage until it holds real numbers. False, and nothing changed: these are of
    /// another kind. Errors: WS FULL, with nothing changed.
    fn holds(&mut self, items: View<'_>, budget: &Budget) -> aplomb_ground::error::Result<bool> {
        let own = self.dtype();
        if !Buf::can_append(own, items) || own == DType::Char {
            return Ok(false);
        }
        let wide = |wanted: Option<DType>, k| super::change::wide_enough(wanted?, items.number(k));
        let Some(wanted) = (0..items.len()).fold(Some(own), wide) else { return Ok(false) };
        if wanted != own {
            let numbers = self.view().numbers(budget)?;
            *self = Buf::stored(&numbers, wanted, budget)?;
        }
        Ok(true)
    }

    /// Whether `append` takes these items behind items of that type.
    pub fn can_append(own: DType, items: View<'_>) -> bool {
        let is_real = |d: DType| d.is_number() && d != DType::Complex && d != DType::F32;
        match items {
            View::Char(_) => own == DType::Char,
            View::Complex(_) => own == DType::Complex,
            View::F32(_) => false,
            _ => is_real(own) || own == DType::Complex,
        }
    }

    /// Puts the items of a buffer of numbers, or of characters, behind those of this one, which
    /// widens where it must. Room is taken by half as much again, so that appends one by one move
    /// each item a few times only. False, and nothing changed: the two are of different kinds.
    /// Errors: WS FULL, with nothing changed.
    pub fn append(
        &mut self,
        items: View<'_>,
        budget: &Budget,
    ) -> aplomb_ground::error::Result<bool> {
        if let (Vecs::Char(own), View::Char(more)) = (&mut self.items, items) {
            grow(own, more.iter().copied(), more.len(), &mut self._charge, budget)?;
            return Ok(true);
        }
        if let Vecs::Complex(own) = &mut self.items {
            if !Buf::can_append(DType::Complex, items) {
                return Ok(false);
            }
            let more = (0..items.len()).map(|k| match items {
                View::Complex(all) => all[k],
                _ => items.number(k).into(),
            });
            grow(own, more, items.len(), &mut self._charge, budget)?;
            return Ok(true);
        }
        if !self.holds(items, budget)? {
            return Ok(false);
        }
        let more: &dyn Fn(usize) -> f64 = &|k| items.number(k);
        let (n, charge) = (items.len(), &mut self._charge);
        let numbers = (0..n).map(more);
        match &mut self.items {
            Vecs::Bool(v) => grow(v, numbers.map(|x| x as u8), n, charge, budget)?,
            Vecs::I8(v) => grow(v, numbers.map(|x| x as i8), n, charge, budget)?,
            Vecs::I16(v) => grow(v, numbers.map(|x| x as i16), n, charge, budget)?,
            Vecs::I32(v) => grow(v, numbers.map(|x| x as i32), n, charge, budget)?,
            Vecs::F64(v) => grow(v, numbers, n, charge, budget)?,
            Vecs::F32(_) | Vecs::Complex(_) | Vecs::Char(_) => return Ok(false),
        }
        Ok(true)
    }

    /// One character; so small that no budget counts it.
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

//! Items of a .npy file that are no plain numbers: texts, times, and the fields of records.
//!
//! In: the bytes of all items, as many for each. Out: a vector of them as an array; one character
//! each is characters, more are texts.

use super::dated;
use super::npy::{Kind, decode, kind, narrowed};
use aplomb_ground::error::{Result, domain};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Buf, Complex64};
use npyz::{Endianness, Field, TypeChar, TypeStr};
use std::sync::Arc;

/// Items of one type that lie `step` bytes apart, the first at `from`.
pub struct Strided<'a> {
    pub bytes: &'a [u8],
    pub from: usize,
    pub step: usize,
    pub count: usize,
}

impl Strided<'_> {
    fn each(&self, size: usize) -> impl Iterator<Item = &[u8]> {
        (0..self.count).map(move |k| {
            let at = self.from + k * self.step;
            self.bytes.get(at..at + size).map_or(&[][..], |item| item)
        })
    }

    /// The items as an array of a shape of so many. Errors: DOMAIN with the type, or the place of
    /// an item that has no value here; WS FULL.
    pub fn array(&self, of: &TypeStr, shape: &[usize], budget: &Budget) -> Result<Array> {
        let size = of.num_bytes().ok_or_else(|| unread(of))?;
        let swap = of.endianness() == Endianness::Big;
        match of.type_char() {
            TypeChar::UnicodeStr => {
                let text = |item: &[u8]| wide(item, swap);
                self.texts(size, size / 4, shape, text, budget)
            }
            TypeChar::ByteStr => self.texts(size, size, shape, narrow, budget),
            TypeChar::DateTime | TypeChar::TimeDelta => self.times(of, swap, shape, budget),
            _ => self.numbers(of, size, swap, shape, budget),
        }
    }

    fn numbers(
        &self,
        of: &TypeStr,
        size: usize,
        swap: bool,
        shape: &[usize],
        budget: &Budget,
    ) -> Result<Array> {
        let (kind, _) = kind(of).ok_or_else(|| unread(of))?;
        let part = if kind == Kind::Complex { size / 2 } else { size };
        let parts = self.count * (size / part.max(1));
        let mut items = budget.room(parts)?;
        let _charge = budget.charge_elements(parts, 8)?;
        let mut item = Vec::new();
        let mut ticks = budget.ticks();
        for bytes in self.each(size) {
            ticks.tick()?;
            item.clear();
            item.extend_from_slice(bytes);
            if swap {
                item.chunks_exact_mut(part).for_each(<[u8]>::reverse);
            }
            decode(&item, kind, part, &mut items).map_err(domain)?;
        }
        if kind == Kind::Complex {
            let pairs = items.chunks_exact(2).map(|z| Complex64::new(z[0], z[1] + 0.0)).collect();
            return Array::complexes(shape, pairs, budget);
        }
        let buffer = Buf::stored(&items, narrowed(kind, size, &items), budget)?;
        Ok(Array::dense(shape, Arc::new(buffer)))
    }

    fn texts(
        &self,
        size: usize,
        most: usize,
        shape: &[usize],
        read: impl Fn(&[u8]) -> Option<String>,
        budget: &Budget,
    ) -> Result<Array> {
        let _charge = budget.charge_elements(self.count, size_of::<Array>())?;
        let mut texts = budget.room(self.count)?;
        let mut ticks = budget.ticks();
        for (k, item) in self.each(size).enumerate() {
            ticks.tick()?;
            let wrong = || domain(format!("item {} of {} is no text", k + 1, self.count));
            texts.push(read(item).ok_or_else(wrong)?);
        }
        // As many characters as items, each of one: a text by itself, or a table of characters.
        if most == 1 && !shape.is_empty() {
            let mut chars = budget.room(texts.len())?;
            // One that is empty is a blank, as a shorter text has blanks behind it.
            chars.extend(texts.iter().map(|t: &String| t.chars().next().map_or(' ', |c| c)));
            return Array::chars(shape, chars, budget);
        }
        if let ([], [text]) = (shape, texts.as_slice()) {
            return Array::text(text, budget);
        }
        let items = texts.iter().map(|text| Array::text(text, budget));
        let items = items.collect::<Result<Vec<_>>>()?;
        let proto = if items.is_empty() { Some(Array::text("", budget)?) } else { None };
        Ok(Array::items(shape, items, proto))
    }

    fn times(&self, of: &TypeStr, swap: bool, shape: &[usize], budget: &Budget) -> Result<Array> {
        let unit = of.time_units().ok_or_else(|| unread(of))?;
        let moment = of.type_char() == TypeChar::DateTime;
        let mut items = budget.room(self.count)?;
        let mut ticks = budget.ticks();
        for (k, bytes) in self.each(8).enumerate() {
            ticks.tick()?;
            let mut item = [0; 8];
            item[..bytes.len()].copy_from_slice(bytes);
            if swap {
                item.reverse();
            }
            let found = dated::read(i64::from_le_bytes(item), unit, moment);
            let none = || domain(format!("item {} of {} has no seconds", k + 1, self.count));
            items.push(found.ok_or_else(none)?);
        }
        Array::numbers(shape, items, budget)
    }
}

fn unread(of: &TypeStr) -> aplomb_ground::error::Error {
    domain(format!("{of} is in it, which is not read"))
}

/// Text of four bytes a character, ended by zeros.
fn wide(item: &[u8], swap: bool) -> Option<String> {
    let mut out = String::new();
    for c in item.chunks_exact(4) {
        let four = [c[0], c[1], c[2], c[3]];
        let number = if swap { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) };
        out.push(char::from_u32(number)?);
    }
    out.truncate(out.trim_end_matches('\0').len());
    Some(out)
}

/// Bytes as text: UTF-8, else a character each.
fn narrow(item: &[u8]) -> Option<String> {
    let end = item.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
    let item = &item[..end];
    Some(match std::str::from_utf8(item) {
        Ok(text) => text.into(),
        Err(_) => item.iter().map(|b| char::from(*b)).collect(),
    })
}

/// Bytes of an item of a type; None: it has no fixed size.
pub fn size(of: &npyz::DType) -> Option<usize> {
    match of {
        npyz::DType::Plain(plain) => plain.num_bytes(),
        npyz::DType::Array(n, inner) => size(inner)?.checked_mul(usize::try_from(*n).ok()?),
        npyz::DType::Record(fields) => {
            fields.iter().try_fold(0_usize, |sum, field| sum.checked_add(size(&field.dtype)?))
        }
    }
}

/// The columns of records: a name and an array for each field; what fills gaps is left out.
/// Errors: DOMAIN for a field of a type that is not read, with its name.
pub fn columns(
    fields: &[Field],
    bytes: &[u8],
    shape: &[usize],
    budget: &Budget,
) -> Result<Vec<(String, Array)>> {
    let unread = |field: &Field| domain(format!("the field {} is of a type not read", field.name));
    let step = size(&npyz::DType::Record(fields.to_vec()));
    let step = step.ok_or_else(|| domain("the records in it have no size"))?;
    let count = aplomb_values::array::checked_elements(shape)?;
    let (mut from, mut out) = (0, Vec::new());
    for field in fields {
        let long = size(&field.dtype).ok_or_else(|| unread(field))?;
        match &field.dtype {
            npyz::DType::Plain(plain) if plain.type_char() == TypeChar::RawData => {}
            npyz::DType::Plain(plain) => {
                let items = Strided { bytes, from, step, count };
                let named = |e: aplomb_ground::error::Error| {
                    domain(format!("field {}: {}", field.name, e.parts().says))
                };
                out.push((field.name.clone(), items.array(plain, shape, budget).map_err(named)?));
            }
            _ => return Err(unread(field)),
        }
        from += long;
    }
    Ok(out)
}

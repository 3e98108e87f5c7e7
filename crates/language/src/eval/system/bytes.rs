//! Arrays as bytes and back: what X⎕DR does, and files that are tied.
//!
//! A type is its number in ⎕DR: bits for an item, but for the last digit. Numbers lie with the low
//! byte first, bits with the high one first.

use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, domain, length};
use aplomb_values::array::{Array, Buf, Complex64, DType};
use std::sync::Arc;

/// The kinds of items.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Item {
    Bit,
    Char(usize),
    Whole(usize),
    Single,
    Float,
    Complex,
}

/// A type of items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Type(Item);

impl Type {
    /// The type of a number. Errors: DOMAIN.
    pub fn of(code: i64) -> Result<Type> {
        Ok(Type(match code {
            11 => Item::Bit,
            80 | 82 => Item::Char(1),
            160 => Item::Char(2),
            320 => Item::Char(4),
            83 => Item::Whole(1),
            163 => Item::Whole(2),
            323 => Item::Whole(4),
            325 => Item::Single,
            645 => Item::Float,
            1289 => Item::Complex,
            _ => {
                let e = domain(format!("items of type {code} have no bytes"));
                return Err(e.hint("types are 11 80 160 320 83 163 323 325 645 1289"));
            }
        }))
    }

    /// The bits of an item.
    pub fn bits(self) -> usize {
        match self.0 {
            Item::Bit => 1,
            Item::Char(n) | Item::Whole(n) => 8 * n,
            Item::Single => 32,
            Item::Float => 64,
            Item::Complex => 128,
        }
    }

    /// An array's items as bytes, row by row. Errors: DOMAIN for an item that is none of the type,
    /// LENGTH for bits that fill no byte, WS FULL.
    pub fn bytes(self, cx: &mut Cx<'_>, a: &Array) -> Result<Vec<u8>> {
        let a = cx.ready(a, "bytes")?;
        if !(a.len() * self.bits()).is_multiple_of(8) {
            return Err(length(format!("{} bits fill no whole bytes", a.len())));
        }
        let room = a.len().saturating_mul(self.bits()) / 8;
        let _held = cx.budget().charge(room as u64)?;
        let mut out = cx.budget().room(room)?;
        let other = || domain("not all items are of that type");
        if let Item::Char(n) = self.0 {
            let chars = a
                .to_chars(cx.budget())?
                .filter(|_| a.is_char() || a.is_empty())
                .ok_or_else(other)?;
            for c in chars {
                let code = u32::from(c).to_le_bytes();
                if code[n..].iter().any(|b| *b != 0) {
                    return Err(other());
                }
                out.extend(&code[..n]);
            }
            return Ok(out);
        }
        if a.is_char() && !a.is_empty() || !a.is_uniform() {
            return Err(other());
        }
        if self.0 == Item::Complex {
            for z in a.to_complexes(cx.budget())?.ok_or_else(other)? {
                out.extend(z.re.to_le_bytes());
                out.extend(z.im.to_le_bytes());
            }
            return Ok(out);
        }
        let numbers = cx.numbers(&a, "items that become bytes")?;
        let whole = |x: f64, low: f64, high: f64| {
            if x == x.trunc() && (low..=high).contains(&x) { Ok(x as i64) } else { Err(other()) }
        };
        match self.0 {
            Item::Bit => {
                for eight in numbers.chunks(8) {
                    let bit = |byte: u8, x: &f64| Ok(byte << 1 | whole(*x, 0.0, 1.0)? as u8);
                    out.push(eight.iter().try_fold(0, bit)?);
                }
            }
            Item::Single => numbers.iter().for_each(|x| out.extend((*x as f32).to_le_bytes())),
            Item::Whole(n) => {
                let high = 2f64.powi(8 * n as i32 - 1);
                for x in numbers {
                    // A byte may be given without its sign.
                    let most = if n == 1 { 255.0 } else { high - 1.0 };
                    out.extend(&whole(x, -high, most)?.to_le_bytes()[..n]);
                }
            }
            _ => numbers.iter().for_each(|x| out.extend(x.to_le_bytes())),
        }
        Ok(out)
    }

    /// The vector of items that bytes are; what is left over at their end is dropped. Errors: WS
    /// FULL, DOMAIN for what is no character.
    pub fn items(self, cx: &Cx<'_>, bytes: &[u8]) -> Result<Array> {
        let n = bytes.len() * 8 / self.bits();
        let _held = cx.budget().charge_elements(n, 16)?;
        let each = bytes.chunks_exact((self.bits() / 8).max(1));
        let wide = |part: &[u8]| part.iter().rev().fold(0u64, |x, b| x << 8 | u64::from(*b));
        let shape = [n];
        let numbers: Vec<f64> = match self.0 {
            Item::Char(_) => {
                let one = |part: &[u8]| u32::try_from(wide(part)).ok().and_then(char::from_u32);
                let text: Option<String> = each.map(one).collect();
                return cx.text(&text.ok_or_else(|| domain("not all of these are characters"))?);
            }
            Item::Complex => {
                let half = |part: &[u8]| f64::from_bits(wide(part));
                let one = |part: &[u8]| Complex64::new(half(&part[..8]), half(&part[8..]));
                let all = cx.budget().each(each.map(one))?;
                return Array::complexes(shape.as_slice(), all, cx.budget());
            }
            Item::Bit => {
                let bit = |b: &u8| (0..8).rev().map(|k| f64::from(b >> k & 1)).collect::<Vec<_>>();
                cx.budget().each(bytes.iter().flat_map(bit))?
            }
            Item::Single => {
                cx.budget().each(each.map(|part| f64::from(f32::from_bits(wide(part) as u32))))?
            }
            Item::Float => cx.budget().each(each.map(|part| f64::from_bits(wide(part))))?,
            Item::Whole(n) => {
                let shift = 64 - 8 * n as u32;
                let whole = |part: &[u8]| (((wide(part) << shift) as i64) >> shift) as f64;
                cx.budget().each(each.map(whole))?
            }
        };
        let dtype = match self.0 {
            Item::Bit => DType::Bool,
            Item::Whole(1) => DType::I8,
            Item::Whole(2) => DType::I16,
            Item::Whole(_) => DType::I32,
            Item::Single => DType::F32,
            _ => DType::F64,
        };
        Ok(Array::dense(shape.as_slice(), Arc::new(Buf::stored(&numbers, dtype, cx.budget())?)))
    }
}

/// `X⎕DR Y`: the bits of Y as items of type X; the last axis has as many as there are. Errors:
/// LENGTH, DOMAIN.
pub fn reinterpreted(cx: &mut Cx<'_>, to: i64, from: i64, y: &Array) -> Result<Array> {
    let (to, from) = (Type::of(to)?, Type::of(from)?);
    let bits = y.shape().last().map_or(1, |n| *n) * from.bits();
    if !bits.is_multiple_of(to.bits()) || !bits.is_multiple_of(8) {
        return Err(length(format!("{bits} bits are no whole items of that type")));
    }
    let bytes = from.bytes(cx, y)?;
    let flat = to.items(cx, &bytes)?;
    let mut shape: Vec<usize> = y.shape().to_vec();
    shape.pop();
    shape.push(bits / to.bits());
    flat.with_shape(shape.as_slice(), cx.budget())
}

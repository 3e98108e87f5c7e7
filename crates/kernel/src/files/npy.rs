//! .npy: one array of numbers.
//!
//! | in the file | becomes |
//! |---|---|
//! | `<f8 <f4 <i4 <i2 i1`, C order | the same type, read straight into a buffer of the pool |
//! | other byte or Fortran order | the same values, through f64 |
//! | `i8 u8 u4 u2 u1` | bool where all are 0 or 1 (unsigned), else i16, i32 or f64; beyond 2*53 an error |
//! | bool | bool |
//! | `f2` | f32 |
//! | `c16 c8` | complex, or f64 where every item is real |
//! | `U S` | texts; characters where each has one |
//! | `M8 m8` | seconds, since 1970 or of a duration |
//! | records | a namespace with an array for each field |
//!
//! Written is what NumPy would take for such numbers: whole ones as int64, whatever room they have
//! here; f32 and f64 as they are; texts as wide as the longest. A type that is named holds each
//! number exactly, or nothing is written; `M8` takes seconds since 1970.

use super::items::{Strided, columns, size};
use super::npz::is_npz;
use super::passing::Passing;
use super::{failed, is_special, malformed, open, read_file, write_with};
use aplomb_devices::pool::Pool;
use aplomb_ground::error::{Error, Result, domain};
use aplomb_ground::limits::{Budget, Interrupt};
use aplomb_language::eval::host::Arrays;
use aplomb_values::array::{Array, Buf, Complex64, DType, Data, Storage, View, checked_elements};
use npyz::{Endianness, NpyHeader, Order, TypeChar, TypeStr, WriterBuilder};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;

const READABLE: &str =
    "f8 f4 f2 c16 c8 i1 i2 i4 i8 u1 u2 u4 u8 bool U S M8 m8 and records of these can be read";
/// Bytes converted at a time.
const PIECE: usize = 1 << 18;

/// Item type and what becomes of it.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Keep(DType),
    Signed,
    Unsigned,
    /// Floats of 16 bits.
    Half,
    /// Pairs of floats.
    Complex,
}

/// The kind of a type of numbers, and the bytes of an item.
pub fn kind(of: &TypeStr) -> Option<(Kind, usize)> {
    let size = of.size_field() as usize;
    let kind = match (of.type_char(), size) {
        (TypeChar::Float, 8) => Kind::Keep(DType::F64),
        (TypeChar::Float, 4) => Kind::Keep(DType::F32),
        (TypeChar::Float, 2) => Kind::Half,
        (TypeChar::Int, 1) => Kind::Keep(DType::I8),
        (TypeChar::Int, 2) => Kind::Keep(DType::I16),
        (TypeChar::Int, 4) => Kind::Keep(DType::I32),
        (TypeChar::Int, 8) => Kind::Signed,
        (TypeChar::Uint, 1 | 2 | 4 | 8) => Kind::Unsigned,
        (TypeChar::Complex, 8 | 16) => Kind::Complex,
        (TypeChar::Bool, _) => Kind::Keep(DType::Bool),
        _ => return None,
    };
    Some((kind, if kind == Kind::Keep(DType::Bool) { 1 } else { size }))
}

/// Errors: FILE NAME, FILE ACCESS; DOMAIN for what is no .npy that is read; WS FULL before it is
/// read.
pub fn read_npy(path: &Path, pool: &Pool, budget: &Budget) -> Result<Arrays> {
    let (long, file): (u64, Box<dyn Read>) = match is_special(path) {
        true => (0, Box::new(std::io::Cursor::new(read_file(path, budget)?))),
        false => {
            let file = open(path)?;
            let long = file.metadata().map_or(0, |m| m.len());
            (long, Box::new(Passing::new(file, budget.bytes(long))))
        }
    };
    let mut from = BufReader::with_capacity(1 << 16, file);
    if from.fill_buf().is_ok_and(|begin| begin.starts_with(b"PK\x03\x04")) {
        drop(from);
        return super::read_npz(path, pool, budget).map(Arrays::Named);
    }
    array_of(from, long, path, pool, budget)
}

/// The array of a file that is open, `long` bytes where that is known. Errors: as of `read_npy`.
pub fn array_of(
    mut from: impl BufRead,
    long: u64,
    path: &Path,
    pool: &Pool,
    budget: &Budget,
) -> Result<Arrays> {
    let header = NpyHeader::from_reader(&mut from).map_err(|_| {
        malformed(
            path,
            "this is no .npy file: it should begin with \\x93NUMPY, a version and a header",
        )
    })?;
    let plain = match header.dtype() {
        npyz::DType::Plain(plain) if kind(&plain).is_some() => plain,
        other => return other_items(&other, &header, from, long, path, budget),
    };
    let (kind, size) =
        kind(&plain).ok_or_else(|| malformed(path, format!("{plain} is in it; {READABLE}")))?;
    let shape = shape_of(&header);
    let count = checked_elements(&shape)?;
    let need = (count as u64).saturating_mul(size as u64);
    if long > 0 && need > long {
        return Err(malformed(
            path,
            format!("{need} bytes of items are announced, the file has {long} in all"),
        ));
    }
    // A complex item is read as its two parts.
    let (parts, size) = if kind == Kind::Complex { (2 * count, size / 2) } else { (count, size) };
    let swap = size > 1 && plain.endianness() == Endianness::Big;
    let ordered = header.order() == Order::C || shape.len() < 2;
    let short = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            malformed(path, format!("the file ends before its {count} items"))
        }
        _ => failed(path, &e),
    };
    if let (Kind::Keep(dtype), true, false) =
        (kind, ordered && cfg!(target_endian = "little"), swap)
    {
        let mut buffer = pool.buffer(dtype, count, budget)?;
        if let Some(bytes) = buffer.bytes_mut() {
            for piece in bytes.chunks_mut(PIECE) {
                budget.check()?;
                from.read_exact(piece).map_err(short)?;
            }
            return Ok(Arrays::One(Array::dense(shape.as_slice(), Arc::new(buffer))));
        }
    }
    let mut items = budget.room(parts)?;
    let _charge = budget.charge_elements(parts, 8)?;
    let mut piece = vec![0u8; PIECE];
    while items.len() < parts {
        budget.check()?;
        let n = (PIECE / size).min(parts - items.len());
        let bytes = &mut piece[..n * size];
        from.read_exact(bytes).map_err(short)?;
        if swap {
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        decode(bytes, kind, size, &mut items).map_err(|says| malformed(path, says))?;
    }
    if kind == Kind::Complex {
        let mut items: Vec<_> =
            items.chunks_exact(2).map(|z| Complex64::new(z[0], z[1] + 0.0)).collect();
        if !ordered {
            items = from_fortran(&items, &shape);
        }
        return Array::complexes(shape.as_slice(), items, budget).map(Arrays::One);
    }
    if !ordered {
        items = from_fortran(&items, &shape);
    }
    let buffer = Buf::stored(&items, narrowed(kind, size, &items), budget)?;
    Ok(Arrays::One(Array::dense(shape.as_slice(), Arc::new(buffer))))
}

/// An extent that no machine has is one that no budget has.
fn shape_of(header: &NpyHeader) -> Vec<usize> {
    header.shape().iter().map(|&n| usize::try_from(n).unwrap_or(usize::MAX)).collect()
}

/// Texts, times and records. Errors: as of `read_npy`.
fn other_items(
    of: &npyz::DType,
    header: &NpyHeader,
    mut from: impl Read,
    long: u64,
    path: &Path,
    budget: &Budget,
) -> Result<Arrays> {
    let told = |e: Error| match e.kind() {
        aplomb_ground::error::Kind::Domain => malformed(path, &e.parts().says),
        _ => e,
    };
    let unread = || malformed(path, format!("{} is in it; {READABLE}", of.descr()));
    let shape = shape_of(header);
    let (count, step) = (checked_elements(&shape)?, size(of).ok_or_else(unread)?);
    if header.order() != Order::C && shape.len() > 1 {
        return Err(malformed(path, "texts, times or records in Fortran order are in it"));
    }
    let need = (count as u64).saturating_mul(step as u64);
    if long > 0 && need > long {
        let says = format!("{need} bytes of items are announced, the file has {long} in all");
        return Err(malformed(path, says));
    }
    let mut bytes = budget.room(count.saturating_mul(step))?;
    let _charge = budget.charge(need)?;
    from.by_ref().take(need).read_to_end(&mut bytes).map_err(|e| failed(path, &e))?;
    if (bytes.len() as u64) < need {
        return Err(malformed(path, format!("the file ends before its {count} items")));
    }
    match of {
        npyz::DType::Plain(plain) => {
            let items = Strided { bytes: &bytes, from: 0, step, count };
            items.array(plain, &shape, budget).map(Arrays::One).map_err(told)
        }
        npyz::DType::Record(fields) => {
            columns(fields, &bytes, &shape, budget).map(Arrays::Named).map_err(told)
        }
        npyz::DType::Array(..) => Err(unread()),
    }
}

/// The file's items, little-endian, as numbers.
pub fn decode(bytes: &[u8], kind: Kind, size: usize, out: &mut Vec<f64>) -> Result<(), String> {
    let whole = |bytes: &[u8]| {
        let mut item = [0u8; 8];
        item[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(item)
    };
    let each = bytes.chunks_exact(size).map(whole);
    match kind {
        Kind::Keep(DType::Bool) => out.extend(each.map(|b| f64::from(u8::from(b != 0)))),
        Kind::Complex if size == 4 => out.extend(each.map(|b| f64::from(f32::from_bits(b as u32)))),
        Kind::Half => out.extend(each.map(|b| half(b as u16))),
        Kind::Keep(DType::F64) | Kind::Complex => out.extend(each.map(f64::from_bits)),
        Kind::Keep(DType::F32) => out.extend(each.map(|b| f64::from(f32::from_bits(b as u32)))),
        Kind::Keep(_) => {
            out.extend(each.map(|b| (((b << (64 - 8 * size)) as i64) >> (64 - 8 * size)) as f64))
        }
        Kind::Signed => {
            for b in each {
                let x = b as i64;
                exact(x.unsigned_abs()).map_err(|_| too_large(x, out.len()))?;
                out.push(x as f64);
            }
        }
        Kind::Unsigned => {
            for x in each {
                exact(x).map_err(|_| too_large(x, out.len()))?;
                out.push(x as f64);
            }
        }
    }
    Ok(())
}

/// The value of a float of 16 bits: a sign, five bits of exponent, ten of fraction.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

fn exact(x: u64) -> Result<(), ()> {
    if x <= 1 << 53 { Ok(()) } else { Err(()) }
}

fn too_large(x: impl std::fmt::Display, before: usize) -> String {
    let place = before + 1;
    format!(
        "item {place} is {x}, and a number holds integers to 2*53 exactly; convert it to f8 first"
    )
}

/// The storage type of a file's element type.
pub fn narrowed(kind: Kind, size: usize, items: &[f64]) -> DType {
    let (lo, hi) = items.iter().fold((0.0f64, 0.0f64), |(lo, hi), &x| (lo.min(x), hi.max(x)));
    match (kind, DType::of_range(lo, hi)) {
        (Kind::Keep(dtype), _) => dtype,
        (Kind::Half, _) => DType::F32,
        (Kind::Unsigned, Some(DType::Bool)) => DType::Bool,
        (Kind::Unsigned, Some(_)) if size == 1 => DType::I16,
        (_, Some(_)) => DType::I32,
        (_, None) => DType::F64,
    }
}

/// Column-major items in row-major order.
fn from_fortran<T: Copy>(items: &[T], shape: &[usize]) -> Vec<T> {
    let mut strides = vec![1usize; shape.len()];
    for k in 1..shape.len() {
        strides[k] = strides[k - 1] * shape[k - 1];
    }
    let mut place = vec![0usize; shape.len()];
    let mut out = Vec::with_capacity(items.len());
    let mut at = 0;
    while out.len() < items.len() {
        out.push(items[at]);
        for k in (0..shape.len()).rev() {
            place[k] += 1;
            at += strides[k];
            if place[k] < shape[k] {
                break;
            }
            at -= strides[k] * shape[k];
            place[k] = 0;
        }
    }
    out
}

/// The item types that can be written, in NumPy's words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NpyType {
    /// Truth.
    Bool,
    /// Whole numbers of so many bytes.
    Int(u32),
    /// The same without a sign.
    Uint(u32),
    /// Floats of 16 bits.
    F2,
    /// Floats of 32 bits.
    F4,
    /// Floats of 64 bits.
    F8,
    /// Complex: two of 64 bits.
    C16,
    /// Moments in a unit, of so many to the second.
    Moment(&'static str, f64),
}

/// A type, its short name and its long one.
const TYPES: &[(NpyType, &str, &str)] = &[
    (NpyType::Bool, "b1", "bool"),
    (NpyType::Int(1), "i1", "int8"),
    (NpyType::Int(2), "i2", "int16"),
    (NpyType::Int(4), "i4", "int32"),
    (NpyType::Int(8), "i8", "int64"),
    (NpyType::Uint(1), "u1", "uint8"),
    (NpyType::Uint(2), "u2", "uint16"),
    (NpyType::Uint(4), "u4", "uint32"),
    (NpyType::Uint(8), "u8", "uint64"),
    (NpyType::F2, "f2", "float16"),
    (NpyType::F4, "f4", "float32"),
    (NpyType::F8, "f8", "float64"),
    (NpyType::C16, "c16", "complex128"),
    (NpyType::Moment("D", 1.0 / 86_400.0), "M8[D]", "datetime64[D]"),
    (NpyType::Moment("s", 1.0), "M8[s]", "datetime64[s]"),
    (NpyType::Moment("ms", 1e3), "M8[ms]", "datetime64[ms]"),
    (NpyType::Moment("us", 1e6), "M8[us]", "datetime64[us]"),
    (NpyType::Moment("ns", 1e9), "M8[ns]", "datetime64[ns]"),
];

impl NpyType {
    /// Errors: a sentence with the names there are.
    pub fn parse(name: &str) -> Result<NpyType, String> {
        let found = TYPES.iter().find(|t| t.1 == name || t.2 == name);
        let all = || TYPES.iter().map(|t| t.1).collect::<Vec<_>>().join(" ");
        found
            .map(|t| t.0)
            .ok_or_else(|| format!("'{name}' is no type of numbers in a file; there are {}", all()))
    }

    /// NumPy's word for it.
    pub fn name(self) -> &'static str {
        TYPES.iter().find(|t| t.0 == self).map_or("", |t| t.2)
    }

    /// The type that NumPy would take for numbers that are stored so.
    fn of(view: &View<'_>) -> Option<NpyType> {
        Some(match view {
            View::Bool(_) | View::I8(_) | View::I16(_) | View::I32(_) => NpyType::Int(8),
            View::F32(_) => NpyType::F4,
            View::F64(_) => NpyType::F8,
            View::Complex(_) => NpyType::C16,
            View::Char(_) => return None,
        })
    }

    /// As `of`, of an array; None: it has no numbers.
    pub fn of_array(array: &Array) -> Option<NpyType> {
        match array.data() {
            Data::Dense(buffer) => NpyType::of(&buffer.view()),
            Data::Num(x, digits) => NpyType::of(&Buf::one_number(*x, *digits).view()),
            Data::Complex(_) => Some(NpyType::C16),
            _ => None,
        }
    }

    /// Errors: DOMAIN with the first number that it does not hold.
    pub fn hold(self, numbers: &[f64]) -> Result<()> {
        let Some(at) = numbers.iter().position(|x| !self.holds(*x)) else { return Ok(()) };
        let (place, all, name) = (at + 1, numbers.len(), self.name());
        Err(domain(format!("item {place} of {all}, {}, is no {name}", numbers[at])))
    }

    /// Whether it holds the number as it is. Floats of 32 bits round, as everywhere.
    fn holds(self, x: f64) -> bool {
        let whole = |least: f64, below: f64| x.fract() == 0.0 && least <= x && x < below;
        match self {
            NpyType::Bool => x == 0.0 || x == 1.0,
            NpyType::Int(size) => {
                let below = 2f64.powi(8 * size as i32 - 1);
                whole(-below, below)
            }
            NpyType::Uint(size) => whole(0.0, 2f64.powi(8 * size as i32)),
            NpyType::F2 | NpyType::F4 | NpyType::F8 | NpyType::C16 => true,
            // To the nearest unit, of which a moment has less than 2*63.
            NpyType::Moment(_, rate) => x.is_nan() || (x * rate).abs() < 2f64.powi(63),
        }
    }
}

/// Writes an array, or several by name into a .npz file. `named`: the type of its numbers, or of a
/// .npz file whether it is `stored` or `deflated`. Errors: as of `put_array`; FILE ACCESS.
pub fn write_npy(
    path: &Path,
    arrays: &Arrays,
    named: Option<&str>,
    budget: &Budget,
    stop: &Interrupt,
) -> Result<()> {
    match (arrays, is_npz(path)) {
        (Arrays::One(array), false) => {
            let named = named.map(|name| NpyType::parse(name).map_err(domain)).transpose()?;
            let long = (array.len() as u64).saturating_mul(size_of::<f64>() as u64);
            put_array(array, named, budget, |write| write_with(path, (stop, long), write))
        }
        (Arrays::Named(arrays), true) => {
            let deflated = match named {
                None | Some("stored") => false,
                Some("deflated") => true,
                Some(other) => {
                    let says = format!("a .npz file is 'stored' or 'deflated', and no '{other}'");
                    return Err(domain(says));
                }
            };
            super::write_npz(path, arrays, deflated, budget, stop)
        }
        (Arrays::One(_), true) => {
            let says = "a .npz file holds arrays by name: those of a namespace";
            Err(malformed(path, says).hint("(x:⍳3 ⋄ y:'ab')⎕NPY'a.npz'"))
        }
        (Arrays::Named(_), false) => {
            let says = "a .npy file holds one array, and these have names";
            Err(malformed(path, says).hint("a name that ends in .npz takes them"))
        }
    }
}

/// The bytes of a .npy file, into what a caller of its second argument opens.
type Write1<'a> = dyn Fn(&mut dyn Write) -> std::io::Result<()> + 'a;

/// Items in C order, in the type that is named, else in the one NumPy would take. Errors: DOMAIN
/// for nested arrays that are no texts, and numbers that the type does not hold; WS FULL; what
/// `to` gives.
pub fn put_array(
    array: &Array,
    named: Option<NpyType>,
    budget: &Budget,
    to: impl FnOnce(&Write1<'_>) -> Result<()>,
) -> Result<()> {
    let array = array.settled();
    let shape: Vec<u64> = array.shape().iter().map(|&n| n as u64).collect();
    let one;
    let view = match array.data() {
        Data::Dense(buffer) => buffer.view(),
        Data::Num(x, digits) => {
            one = Buf::one_number(*x, *digits);
            one.view()
        }
        Data::Complex(z) => {
            one = Buf::one_complex(*z);
            one.view()
        }
        Data::Char(c) => return put_texts(&[c.to_string()], &shape, named, to),
        Data::Items(_) => {
            let says = "a .npy file holds numbers, or texts, and not both";
            return put_texts(&texts(&array, says, budget)?, &shape, named, to);
        }
        Data::Ref(_) | Data::Lazy(_) | Data::Framed(_) => {
            return Err(domain("a .npy file holds numbers and texts only"));
        }
    };
    let Some(own) = NpyType::of(&view) else {
        let chars: Vec<String> =
            array.ready_chars(budget)?.into_iter().map(|c| c.to_string()).collect();
        return put_texts(&chars, &shape, named, to);
    };
    match (named.map_or(own, |named| named), view) {
        (NpyType::C16, View::Complex(v)) => to(&|out| put(out, &shape, v.iter().copied())),
        (to, View::Complex(_)) => {
            Err(domain(format!("complex numbers do not fit into {}", to.name())))
        }
        // The items as they are: no copy is made.
        (NpyType::F8, View::F64(v)) => to(&|out| put(out, &shape, v.iter().copied())),
        (NpyType::F4, View::F32(v)) => to(&|out| put(out, &shape, v.iter().copied())),
        (wanted, view) => {
            let numbers = view.numbers(budget)?;
            let _charge = budget.charge_elements(numbers.len(), size_of::<f64>())?;
            wanted.hold(&numbers)?;
            to(&|out| put_as(out, &shape, wanted, &numbers))
        }
    }
}

/// The texts of an array whose items are all texts. Errors: DOMAIN, in the words `else_says`.
pub fn texts(array: &Array, else_says: &str, budget: &Budget) -> Result<Vec<String>> {
    let text = |item: Array| item.to_text(budget)?.ok_or_else(|| domain(else_says));
    budget.all(array.in_turn().map(|item| text(item.disclosed())))
}

/// Bytes of the header before its text: magic, version, and the length in two.
const BEFORE: usize = 10;

/// Texts of four bytes a character, as wide as the longest.
fn put_texts(
    texts: &[String],
    shape: &[u64],
    named: Option<NpyType>,
    to: impl FnOnce(&Write1<'_>) -> Result<()>,
) -> Result<()> {
    if let Some(named) = named {
        return Err(domain(format!("text is no {}", named.name())));
    }
    let wide = texts.iter().map(|text| text.chars().count()).max().map_or(1, |n| n.max(1));
    let header = header(&format!("<U{wide}"), shape);
    to(&|out| {
        out.write_all(&header)?;
        for text in texts {
            let chars = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(wide);
            chars.map(u32::to_le_bytes).try_for_each(|c| out.write_all(&c))?;
        }
        Ok(())
    })
}

/// The header of items of a type in C order.
fn header(descr: &str, shape: &[u64]) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut text = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}",
        shape.trim_end()
    );
    while !(BEFORE + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((text.len() as u16).to_le_bytes());
    out.extend(text.bytes());
    out
}

/// Moments, and floats of 16 bits, which have no type here.
fn put_bytes<const N: usize>(
    out: &mut dyn Write,
    descr: &str,
    shape: &[u64],
    items: impl Iterator<Item = [u8; N]>,
) -> std::io::Result<()> {
    out.write_all(&header(descr, shape))?;
    items.into_iter().try_for_each(|item| out.write_all(&item))
}

/// The float of 16 bits that is the nearest, even where two are.
pub fn halved(x: f64) -> u16 {
    let sign = if x.is_sign_negative() { 1 << 15 } else { 0 };
    let size = x.abs();
    let bits = match size {
        _ if x.is_nan() => 0x7e00,
        _ if size >= 65_520.0 => 0x7c00,
        // A power of two is one step of the exponent; smaller ones share the last.
        _ => {
            let exponent = (size.log2().floor() as i32).clamp(-14, 15);
            let steps = (size * 2f64.powi(10 - exponent)).round_ties_even() as u32;
            ((exponent + 14) as u32 * 1_024 + steps).min(0x7c00) as u16
        }
    };
    sign | bits
}

fn put_as(out: &mut dyn Write, shape: &[u64], to: NpyType, v: &[f64]) -> std::io::Result<()> {
    let each = v.iter().copied();
    match to {
        NpyType::Bool => put(out, shape, each.map(|x| x != 0.0)),
        NpyType::Int(1) => put(out, shape, each.map(|x| x as i8)),
        NpyType::Int(2) => put(out, shape, each.map(|x| x as i16)),
        NpyType::Int(4) => put(out, shape, each.map(|x| x as i32)),
        NpyType::Int(_) => put(out, shape, each.map(|x| x as i64)),
        NpyType::Uint(1) => put(out, shape, each.map(|x| x as u8)),
        NpyType::Uint(2) => put(out, shape, each.map(|x| x as u16)),
        NpyType::Uint(4) => put(out, shape, each.map(|x| x as u32)),
        NpyType::Uint(_) => put(out, shape, each.map(|x| x as u64)),
        NpyType::F2 => put_bytes(out, "<f2", shape, each.map(|x| halved(x).to_le_bytes())),
        NpyType::F4 => put(out, shape, each.map(|x| x as f32)),
        NpyType::F8 => put(out, shape, each),
        NpyType::C16 => put(out, shape, each.map(|x| Complex64::new(x, 0.0))),
        NpyType::Moment(unit, rate) => {
            let moment = |x: f64| if x.is_nan() { i64::MIN } else { (x * rate).round() as i64 };
            let items = each.map(|x| moment(x).to_le_bytes());
            put_bytes(out, &format!("<M8[{unit}]"), shape, items)
        }
    }
}

fn put<T: npyz::AutoSerialize>(
    out: &mut dyn Write,
    shape: &[u64],
    items: impl Iterator<Item = T>,
) -> std::io::Result<()> {
    let mut writer =
        npyz::WriteOptions::new().default_dtype().shape(shape).writer(out).begin_nd()?;
    writer.extend(items)?;
    writer.finish()
}

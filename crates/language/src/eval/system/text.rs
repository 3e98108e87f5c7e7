//! Text and storage: ⎕UCS ⎕C ⎕VFI ⎕DR ⎕AS.

use super::{Args, Row, bytes, function, mapping, misused, pure};
use crate::eval::cx::Cx;
use crate::eval::run::Eval;
use aplomb_ground::error::{Result, domain, rank, syntax};
use aplomb_values::array::{Array, Buf, DType, Data, Storage, View, storage};
use std::sync::Arc;

pub static ROWS: &[Row] = &[
    mapping(
        "UCS",
        "Characters to code points and back; 'UTF-8'⎕UCS Y, and UTF-16 and UTF-32, to code units \
         and back.",
        ("'UTF-8'⎕UCS'é'", "195 169"),
        ucs,
    ),
    mapping(
        "C",
        "Folds case; 1⎕C maps to upper, ¯1⎕C to lower case.",
        ("1⎕C'shout'", "SHOUT"),
        case,
    ),
    pure(
        "VFI",
        "Which words of a text are numbers, and the numbers; X are the separators.",
        ("⎕VFI'12 3.5 x'", " 1 1 0  12 3.5 0 "),
        verify,
    ),
    function(
        "DR",
        "How an array is stored: 11 bool, 83 163 323 ints, 325 f32, 645 f64, 1289 complex, 80 160 \
         320 text, 326 nested. X⎕DR Y: the bits of Y as items of the type X.",
        ("⎕DR 1 2 3 ⋄ 11⎕DR'a'", "83\n0 1 1 0 0 0 0 1"),
        representation,
    ),
    function(
        "AS",
        "X is 'f32' 'f64' 'i32' 'i16' 'i8' or 'bool': Y stored so.",
        ("⎕DR'f32'⎕AS 0.5 1", "325"),
        convert,
    ),
];

fn ucs(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let y = a.y;
    if let Some(x) = a.x {
        return encoded(ev, x, y).map(Some);
    }
    if y.is_uniform() && y.is_char() {
        return codes(&ev.cx, y).map(Some);
    }
    if !y.is_simple() {
        return pervade(&ev.cx, y, &|cx, leaf| match leaf.is_char() {
            true => codes(cx, leaf),
            false => points(cx, leaf),
        })
        .map(Some);
    }
    match !y.is_empty() && y.item(0).is_char() {
        true => codes(&ev.cx, y).map(Some),
        false => points(&ev.cx, y).map(Some),
    }
}

/// Characters to code points. Errors: DOMAIN, where some are none.
fn codes(cx: &Cx<'_>, y: &Array) -> Result<Array> {
    if let Some(View::Char(chars)) = storage(y).filter(|_| y.rank() > 0).map(Storage::view) {
        return Ok(Array::dense(y.shape(), Arc::new(Buf::points(chars, cx.budget())?)));
    }
    let other = || domain("⎕UCS takes characters or code points");
    let chars = y.to_chars(cx.budget())?.ok_or_else(other)?;
    if let (&[c], 0) = (chars.as_slice(), y.rank()) {
        return Ok(Array::num(f64::from(u32::from(c))));
    }
    Ok(Array::dense(y.shape(), Arc::new(Buf::points(&chars, cx.budget())?)))
}

/// Code points to characters.
fn points(cx: &Cx<'_>, y: &Array) -> Result<Array> {
    if let Some(held) = storage(y).filter(|_| y.rank() > 0)
        && let Some(chars) = Buf::of_points(held.view(), cx.budget())?
    {
        return Ok(Array::dense(y.shape(), Arc::new(chars)));
    }
    let _held = cx.budget().charge_elements(y.len(), size_of::<f64>() + size_of::<char>())?;
    let codes =
        y.to_numbers(cx.budget())?.ok_or_else(|| domain("⎕UCS takes characters or code points"))?;
    let one = |x: f64| {
        let k = u32::try_from(cx.integer(x, "a code point")?).ok().and_then(char::from_u32);
        k.ok_or_else(|| {
            domain(format!(
                "no character has the code point {}",
                aplomb_values::array::format::number(x)
            ))
        })
    };
    let chars = cx.budget().all(codes.into_iter().map(one))?;
    Array::chars(y.shape(), chars, cx.budget())
}

/// Each simple array inside.
fn pervade(
    cx: &Cx<'_>,
    a: &Array,
    leaf: &dyn Fn(&Cx<'_>, &Array) -> Result<Array>,
) -> Result<Array> {
    if let Some(pieces) = a.pieces() {
        let flat = pervade(cx, pieces.flat(), leaf)?;
        if let Some(made) = pieces.with(flat) {
            return Ok(made.items(a.shape()));
        }
    }
    match a.data() {
        Data::Items(i) => {
            let items = cx.budget().all(i.iter().map(|a| pervade(cx, &a, leaf)));
            let proto = if i.is_empty() { i.proto.clone() } else { None };
            cx.collect(a.shape(), items?, proto)
        }
        _ => leaf(cx, a),
    }
}

fn encoded(ev: &mut Eval<'_>, x: &Array, y: &Array) -> Result<Array> {
    let name = x.word().ok_or_else(|| domain("an encoding is text"))?.to_uppercase();
    if y.rank() > 1 {
        return Err(rank("⎕UCS encodes a vector"));
    }
    if y.is_char() || y.is_simple() && !y.is_empty() && y.item(0).is_char() {
        let text = y.to_text(ev.cx.budget())?.ok_or_else(|| domain("⎕UCS encodes text"))?;
        let units: Vec<f64> = match name.as_str() {
            "UTF-8" => ev.cx.budget().each(text.bytes().map(f64::from))?,
            "UTF-16" => ev.cx.budget().each(text.encode_utf16().map(f64::from))?,
            "UTF-32" => ev.cx.budget().each(text.chars().map(|c| f64::from(u32::from(c))))?,
            _ => return Err(misused("UCS", "'UTF-8' 'UTF-16' or 'UTF-32' on its left")),
        };
        return ev.cx.vector(units);
    }
    let units = ev.cx.integers(y, "a code unit")?;
    let wrong = || domain(format!("these numbers are no {name}"));
    let narrow = |most: i64| units.iter().all(|k| (0..=most).contains(k));
    let text = match name.as_str() {
        "UTF-8" if narrow(255) => {
            let bytes = ev.cx.budget().each(units.iter().map(|k| *k as u8))?;
            String::from_utf8(bytes).map_err(|_| wrong())?
        }
        "UTF-16" if narrow(65_535) => {
            String::from_utf16(&ev.cx.budget().each(units.iter().map(|k| *k as u16))?)
                .map_err(|_| wrong())?
        }
        "UTF-32" => {
            let one = |k: &i64| u32::try_from(*k).ok().and_then(char::from_u32);
            units.iter().map(one).collect::<Option<String>>().ok_or_else(wrong)?
        }
        "UTF-8" | "UTF-16" => return Err(wrong()),
        _ => return Err(misused("UCS", "'UTF-8' 'UTF-16' or 'UTF-32' on its left")),
    };
    ev.cx.text(&text)
}

/// One character to one: a mapping to several leaves the character as it is.
pub fn mapped(c: char, upper: bool) -> char {
    fn single(c: char, mut many: impl Iterator<Item = char>) -> char {
        match (many.next(), many.next()) {
            (Some(one), None) => one,
            _ => c,
        }
    }
    match (c.is_ascii(), upper) {
        (true, true) => c.to_ascii_uppercase(),
        (true, false) => c.to_ascii_lowercase(),
        (false, true) => single(c, c.to_uppercase()),
        (false, false) => single(c, c.to_lowercase()),
    }
}

/// Unicode's simple case folding: what differs in case alone becomes equal. That is the lower case
/// of the upper case (ς and σ, ſ and s), but for what CaseFolding.txt lists otherwise.
pub fn folded(c: char) -> char {
    match c {
        // A lower case without a fold of its own, three that are spelled in two ways, and Cherokee,
        // which folds to capitals.
        'ı' => c,
        '\u{1fd3}' => '\u{390}',
        '\u{1fe3}' => '\u{3b0}',
        'ﬅ' => 'ﬆ',
        '\u{13a0}'..='\u{13f5}' => c,
        '\u{13f8}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}' => mapped(c, true),
        c => mapped(mapped(c, true), false),
    }
}

/// The case of a character as ⎕C gives it: 1 is upper, ¯1 lower, any other folded.
pub fn case_of(c: char, to: i8) -> char {
    match to {
        1 => mapped(c, true),
        -1 => mapped(c, false),
        _ => folded(c),
    }
}

fn case(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let map: fn(char) -> char = match a.x {
        None => folded,
        Some(x) => match ev.cx.one_integer(x, "the left argument of ⎕C")? {
            1 => |c| case_of(c, 1),
            -1 => |c| case_of(c, -1),
            -3 => folded,
            _ => return Err(domain("the left argument of ⎕C is 1, ¯1 or ¯3")),
        },
    };
    cased(&ev.cx, a.y, map).map(Some)
}

/// `819⌶`: upper or lower case.
pub fn mapped_case(cx: &Cx<'_>, y: &Array, upper: bool) -> Result<Array> {
    cased(cx, y, if upper { |c| mapped(c, true) } else { |c| mapped(c, false) })
}

/// Each character by itself, those of ASCII by a table.
fn cased(cx: &Cx<'_>, y: &Array, map: fn(char) -> char) -> Result<Array> {
    let ascii: [char; 128] = std::array::from_fn(|k| map(char::from(k as u8)));
    let map = |c: char| if c.is_ascii() { ascii[c as usize] } else { map(c) };
    let leaf = |cx: &Cx<'_>, a: &Array| match a.is_char() {
        true => {
            let mut chars = a.ready_chars(cx.budget())?;
            for stretch in chars.chunks_mut(1 << 16) {
                cx.budget().check()?;
                stretch.iter_mut().for_each(|c| *c = map(*c));
            }
            Array::chars(a.shape(), chars, cx.budget())
        }
        false => Ok(a.clone()),
    };
    pervade(cx, y, &leaf)
}

/// A number as APL writes it; `-` is no part of one.
pub fn number(word: &str) -> Option<f64> {
    match crate::syntax::token::lex(word).as_slice() {
        [token] if token.span.len() == word.chars().count() => match token.kind {
            crate::syntax::token::Kind::Number(x) => Some(x),
            _ => None,
        },
        _ => None,
    }
}

fn verify(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let wrong = || domain("⎕VFI takes text");
    let text =
        a.y.to_text(ev.cx.budget())?
            .filter(|_| a.y.is_char() || a.y.is_empty())
            .ok_or_else(wrong)?;
    let budget = ev.cx.budget().clone();
    let words: Vec<&str> = match a.x {
        None => budget.each(text.split(' ').filter(|w| !w.is_empty()))?,
        Some(_) if text.is_empty() => Vec::new(),
        Some(x) => {
            let separators = x.word().ok_or_else(wrong)?;
            budget.each(text.split(|c| separators.contains(c)).map(str::trim))?
        }
    };
    let value = |w: &&str| if w.is_empty() { Some(0.0) } else { number(w) };
    let found: Vec<Option<f64>> = budget.each(words.iter().map(value))?;
    let valid = budget.each(found.iter().map(|x| f64::from(u8::from(x.is_some()))))?;
    let (valid, values) =
        (ev.cx.vector(valid)?, budget.each(found.iter().map(|x| x.unwrap_or(0.0)))?);
    let values = ev.cx.vector(values)?;
    ev.cx.collect(&[2], vec![valid, values], None).map(Some)
}

fn representation(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let own = code(&ev.cx, a.y)?;
    match a.x {
        None => Ok(Some(Array::num(own))),
        Some(x) => {
            let to = ev.cx.one_integer(x, "the type that ⎕DR makes")?;
            bytes::reinterpreted(&mut ev.cx, to, own as i64, a.y).map(Some)
        }
    }
}

/// The number of the type of an array.
pub fn code(cx: &Cx<'_>, y: &Array) -> Result<f64> {
    Ok(match y.dtype() {
        DType::Char => {
            match y.ready_chars(cx.budget())?.into_iter().map(u32::from).max().unwrap_or(0) {
                0..256 => 80.0,
                256..65_536 => 160.0,
                _ => 320.0,
            }
        }
        DType::Bool if y.is_empty() => 83.0,
        DType::Bool => 11.0,
        DType::I8 => 83.0,
        DType::I16 => 163.0,
        DType::I32 => 323.0,
        DType::F32 => 325.0,
        // A number alone that was made under ⎕FR←325 is of the digits that it has.
        DType::F64 => match y.number_scalar().filter(|_| y.rank() == 0) {
            Some(x) if cx.sys.settings.single && f64::from(x as f32) == x => 325.0,
            _ => 645.0,
        },
        DType::Complex => 1289.0,
        DType::Nested => 326.0,
    })
}

fn convert(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let to = a.left("the type")?.word();
    let y = a.y;
    let all = [DType::Bool, DType::I8, DType::I16, DType::I32, DType::F32, DType::F64];
    let dtype = all.into_iter().find(|d| to.as_deref() == Some(d.name()));
    let dtype =
        dtype.ok_or_else(|| domain("⎕AS converts to 'f32' 'f64' 'i32' 'i16' 'i8' 'bool'"))?;
    let items = ev.cx.numbers(y, "the argument of ⎕AS")?;
    let outside = |x: &f64| match dtype.range() {
        Some((lo, hi)) => *x != x.trunc() || *x < lo || *x > hi,
        None => dtype == DType::F32 && x.is_finite() && !(*x as f32).is_finite(),
    };
    if items.iter().any(outside) {
        return Err(domain(format!("not all of these numbers are of type {}", dtype.name())));
    }
    if y.rank() == 0 {
        let x = items.first().copied().ok_or_else(|| syntax("⎕AS needs a value"))?;
        return Ok(Some(match dtype {
            DType::F32 => Array::single(x as f32),
            _ => Array::num(x),
        }));
    }
    Ok(Some(Array::dense(y.shape(), Arc::new(Buf::stored(&items, dtype, ev.cx.budget())?))))
}

//! ⎕JSON: JSON text to arrays and back.
//!
//! An object is a namespace, or by an option a matrix of two columns, names and values; both are
//! written as objects. A name that is none in APL is spelled with its code points, `⍙a⍙32⍙b`.
//! `true`, `false` and `null` are enclosed texts, as in Dyalog.

mod json5;

use super::variables::{is_null, null};
use super::{Args, Row, misused, optional, texts};
use crate::eval::cx::Cx;
use crate::eval::run::Eval;
use crate::eval::space::Space;
use crate::eval::value::Value;
use crate::syntax::token::{is_name_part, is_name_start};
use aplomb_ground::error::{Error, Result, domain, limit, nonce};
use aplomb_ground::limits::{Budget, Rounds, Ticks};
use aplomb_values::array::{Array, Data, MOST_DEPTH};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;

pub static ROWS: &[Row] = &[optional(
    "JSON",
    "JSON text to an array; 1⎕JSON an array to text. An object is a namespace, by ⍠'Objects' \
     'Matrix' a matrix of names and values; ⍠'Format' 'M' gives rows.",
    ("⎕JSON'[1,[2,3]]' ⋄ 1⎕JSON(1 2)'ab'", "1  2 3 \n[[1,2],\"ab\"]"),
    &["Format", "Compact", "Null", "HighRank", "Charset", "Dialect", "Objects"],
    json,
)];

/// A text as JSON has it: the order of names is kept, and names that come twice.
enum Json {
    /// true, false, null
    Raw(&'static str),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// The values of a text that are read, then made arrays: how many of twice as many are done. What
/// is read asks for its room.
struct Told {
    way: Rounds,
    done: Cell<u64>,
    budget: Budget,
    ticks: RefCell<Ticks>,
    /// The error that ended it, where the text is not to blame: the reader of JSON has no word for
    /// it.
    stopped: RefCell<Option<Error>>,
}

/// Bytes of a text that is over before somebody looks.
const SHORT: usize = 1 << 20;

impl Told {
    fn of(text: &str, budget: &Budget) -> Told {
        let values = if text.len() < SHORT { 0 } else { values(text) };
        Told {
            way: budget.rounds(2 * values),
            done: Cell::new(0),
            budget: budget.clone(),
            ticks: RefCell::new(budget.ticks()),
            stopped: RefCell::new(None),
        }
    }

    /// A value more. Errors: INTERRUPT.
    fn tick(&self) -> Result<()> {
        self.done.set(self.done.get() + 1);
        self.way.done(self.done.get());
        self.ticks.borrow_mut().tick()
    }

    /// Something made for the reader, which knows no other errors than its own.
    fn or_stop<T, E: de::Error>(&self, made: Result<T>) -> Result<T, E> {
        made.map_err(|e| {
            self.stopped.replace(Some(e));
            E::custom("stopped")
        })
    }

    fn push<T, E: de::Error>(&self, out: &mut Vec<T>, item: T) -> Result<(), E> {
        self.or_stop(self.budget.widen(out, 1))?;
        out.push(item);
        Ok(())
    }
}

/// The values of a text of JSON, without what is empty: one behind each comma and bracket.
fn values(text: &str) -> u64 {
    let (mut n, mut quoted, mut escaped) = (1, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b',' | b'[' | b'{' if !quoted => n += 1,
            _ => {}
        }
    }
    n
}

#[derive(Clone, Copy)]
struct Reader<'a>(&'a Told);

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, v: bool) -> Result<Json, E> {
        Ok(Json::Raw(if v { "true" } else { "false" }))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Raw("null"))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Json, E> {
        Ok(Json::Number(v as f64))
    }

    fn visit_u64<E>(self, v: u64) -> Result<Json, E> {
        Ok(Json::Number(v as f64))
    }

    fn visit_f64<E>(self, v: f64) -> Result<Json, E> {
        Ok(Json::Number(v))
    }

    fn visit_str<E>(self, v: &str) -> Result<Json, E> {
        Ok(Json::Text(v.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut out = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            self.0.push(&mut out, item)?;
        }
        Ok(Json::List(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut out = Vec::new();
        while let Some(member) = members.next_entry_seed(PhantomData::<String>, self)? {
            self.0.push(&mut out, member)?;
        }
        Ok(Json::Object(out))
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Json, D::Error> {
        self.0.or_stop(self.0.tick())?;
        from.deserialize_any(self)
    }
}

/// Errors: DOMAIN, with the place; INTERRUPT.
fn parsed(text: &str, told: &Told) -> Result<Json> {
    let mut from = serde_json::Deserializer::from_str(text);
    let read = Reader(told).deserialize(&mut from);
    let read = read.and_then(|json| from.end().map(|()| json));
    read.map_err(|e| match told.stopped.take() {
        Some(stopped) => stopped,
        None => wrong(text, &e),
    })
}

fn json(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let rows = a.options.word("Format", &["D", "M"])? == "M";
    let five = a.options.word("Dialect", &["JSON", "JSON5"])? == "JSON5";
    let nulls = match a.options.get("Null") {
        Some(v) if v.to_reference().is_some_and(is_null) => true,
        Some(v) if v.word().as_deref() != Some("null") => {
            return Err(domain("option 'Null' is 'null' or ⎕NULL"));
        }
        _ => false,
    };
    let export = match a.x {
        Some(x) => match ev.cx.one_integer(x, "the left argument of ⎕JSON")? {
            0 => false,
            1 => true,
            _ => return Err(misused("JSON", "0 (read) or 1 (write) on its left")),
        },
        None => !a.y.is_char(),
    };
    if export {
        let style = Style {
            indent: !a.options.flag("Compact", true)?,
            ascii: a.options.word("Charset", &["Unicode", "ASCII"])? == "ASCII",
            split: a.options.word("HighRank", &["Error", "Split"])? == "Split",
            budget: ev.cx.budget().clone(),
            ticks: RefCell::new(ev.cx.budget().ticks()),
            way: ev.cx.budget().rounds(a.y.shape().first().map_or(0, |n| *n as u64)),
        };
        if rows {
            return Err(nonce("writing JSON from rows (⍠'Format' 'M')"));
        }
        let mut out = String::new();
        let plain = plain(ev, a.y, 0)?;
        write(&plain, &style, 0, &mut out)?;
        return ev.cx.text(&out).map(Some);
    }
    let text = texts(a.y, "the argument of ⎕JSON", ev.cx.budget())?;
    let text = ev.cx.budget().joined(&text, "\n")?;
    let _held = ev.cx.budget().charge(text.len() as u64 * 4)?;
    let text = if five { json5::plain(&text) } else { text };
    let told = Told::of(&text, ev.cx.budget());
    let read = parsed(&text, &told)?;
    let matrix = a.options.word("Objects", &["Namespace", "Matrix"])? == "Matrix";
    let form = Form { matrix, nulls, told: &told };
    let made = if rows { table(&ev.cx, read)? } else { value(ev, read, form)? };
    Ok(Some(made))
}

fn wrong(text: &str, e: &serde_json::Error) -> Error {
    let says = e.to_string();
    let says = says.split(" at line ").next().unwrap_or("");
    let line = text.lines().nth(e.line().saturating_sub(1)).unwrap_or("");
    let near: String = line.chars().skip(e.column().saturating_sub(12)).take(24).collect();
    domain(format!("this is no JSON: {says} at line {}, column {}", e.line(), e.column()))
        .hint(format!("near {near}"))
}

fn raw(cx: &Cx<'_>, word: &str) -> Result<Array> {
    Ok(Array::items([].as_slice(), vec![cx.text(word)?], None))
}

/// The form of values that are read.
#[derive(Clone, Copy)]
struct Form<'a> {
    /// An object is a matrix of names and values.
    matrix: bool,
    /// null is ⎕NULL.
    nulls: bool,
    told: &'a Told,
}

/// An object: a namespace, or a matrix of names and values.
fn object(ev: &mut Eval<'_>, members: Vec<(String, Json)>, form: Form<'_>) -> Result<Array> {
    if form.matrix {
        let n = members.len();
        let mut cells = ev.cx.budget().room(2 * n)?;
        for (name, v) in members {
            cells.push(ev.cx.text(&name)?);
            cells.push(value(ev, v, form)?);
        }
        let proto = if n == 0 { Some(ev.cx.text("")?) } else { None };
        return Ok(Array::items([n, 2].as_slice(), cells, proto));
    }
    let space = ev.st.new_space("[JSON object]");
    for (name, v) in members {
        let v = value(ev, v, form)?;
        let sym = ev.st.symbols.intern(&spelled(&name));
        ev.set_member(&space.value(), sym, Value::Array(v))?;
    }
    Ok(space.value())
}

/// A name as APL can have it: what it may not hold stands as a number between two ⍙.
pub(super) fn spelled(name: &str) -> String {
    let fits = name.starts_with(is_name_start) && name.chars().all(is_name_part);
    if fits && !name.contains('⍙') {
        return name.into();
    }
    let one = |c: char| match is_name_part(c) && c != '⍙' {
        true => c.to_string(),
        false => format!("⍙{}⍙", u32::from(c)),
    };
    std::iter::once("⍙".to_string()).chain(name.chars().map(one)).collect()
}

/// The name that was spelled so.
pub(super) fn unspelled(name: &str) -> String {
    let Some(rest) = name.strip_prefix('⍙') else { return name.into() };
    let part = |(k, text): (usize, &str)| match k % 2 {
        0 => text.to_string(),
        _ => text.parse().ok().and_then(char::from_u32).map_or(text.into(), String::from),
    };
    rest.split('⍙').enumerate().map(part).collect()
}

/// The array with each namespace as a matrix of its arrays' names and values.
fn plain(ev: &mut Eval<'_>, a: &Array, depth: usize) -> Result<Array> {
    if depth > MOST_DEPTH as usize {
        return Err(limit("this nests deeper than JSON is written"));
    }
    if let Some(space) = Space::of(a) {
        let mut members: Vec<(String, Array)> = Vec::new();
        for (sym, v) in ev.st.members(&space) {
            match v {
                Value::Array(a) => members.push((unspelled(&ev.st.symbols.name(sym)), a)),
                _ => return Err(domain("a function cannot be written as JSON")),
            }
        }
        members.sort_by(|x, y| x.0.cmp(&y.0));
        let mut cells = ev.cx.budget().room(2 * members.len())?;
        for (name, a) in &members {
            let a = ev.cx.ready(a, "⎕JSON")?;
            cells.push(ev.cx.text(name)?);
            cells.push(plain(ev, &a, depth + 1)?);
        }
        let proto = ev.cx.text("")?;
        return Ok(Array::items([members.len(), 2].as_slice(), cells, Some(proto)));
    }
    let Data::Items(held) = a.data() else { return Ok(a.clone()) };
    if held.split().is_some() || held.pieces().is_some() || a.is_empty() {
        return Ok(a.clone());
    }
    let budget = ev.cx.budget().clone();
    let items = budget.all(held.iter().map(|item| plain(ev, &item, depth + 1)))?;
    Ok(Array::items(a.shape(), items, None))
}

fn value(ev: &mut Eval<'_>, json: Json, form: Form<'_>) -> Result<Array> {
    form.told.tick()?;
    match json {
        Json::Raw("null") if form.nulls => Ok(null()),
        Json::Raw(word) => raw(&ev.cx, word),
        Json::Number(x) => Ok(Array::num(x)),
        Json::Text(t) => ev.cx.text(&t),
        Json::List(items) => {
            let budget = ev.cx.budget().clone();
            let items = budget.all(items.into_iter().map(|v| value(ev, v, form)))?;
            ev.cx.collect(&[items.len()], items, None)
        }
        Json::Object(members) => object(ev, members, form),
    }
}

/// Depth, name, value, type of each part.
fn table(cx: &Cx<'_>, json: Json) -> Result<Array> {
    let mut cells = Vec::new();
    rows(cx, json, 0, "", &mut cells)?;
    Ok(Array::items([cells.len() / 4, 4].as_slice(), cells, None))
}

fn rows(cx: &Cx<'_>, json: Json, depth: usize, name: &str, cells: &mut Vec<Array>) -> Result<()> {
    let (shown, kind) = match &json {
        Json::Object(_) => (cx.text("")?, 1.0),
        Json::List(_) => (cx.text("")?, 2.0),
        Json::Number(x) => (Array::num(*x), 3.0),
        Json::Text(t) => (cx.text(t)?, 4.0),
        Json::Raw("null") => (raw(cx, "null")?, 5.0),
        Json::Raw(word) => (raw(cx, word)?, 6.0),
    };
    cx.budget().widen(cells, 4)?;
    cells.extend([Array::num(depth as f64), cx.text(name)?, shown, Array::num(kind)]);
    match json {
        Json::List(items) => items.into_iter().try_for_each(|v| rows(cx, v, depth + 1, "", cells)),
        Json::Object(members) => {
            members.into_iter().try_for_each(|(n, v)| rows(cx, v, depth + 1, &n, cells))
        }
        _ => Ok(()),
    }
}

struct Style {
    indent: bool,
    ascii: bool,
    split: bool,
    budget: Budget,
    ticks: RefCell<Ticks>,
    /// Of the items of the outermost list.
    way: Rounds,
}

fn newline(style: &Style, depth: usize, out: &mut String) {
    if style.indent {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    }
}

fn write_text(text: &str, style: &Style, out: &mut String) -> Result<()> {
    out.push('"');
    for c in text.chars() {
        if out.capacity() - out.len() < WORD {
            style.budget.grow(out, WORD)?;
        }
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 32 => out.push_str(&format!("\\u{:04X}", c as u32)),
            c if style.ascii && !c.is_ascii() => {
                c.encode_utf16(&mut [0; 2])
                    .iter()
                    .for_each(|u| out.push_str(&format!("\\u{u:04X}")));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    Ok(())
}

/// As short as it can be read back.
pub fn number(x: f64) -> String {
    match x {
        x if x == x.trunc() && x.abs() < 1e16 => format!("{}", x as i64),
        x => format!("{x:?}").replace('e', "E"),
    }
}

/// `[` items `]`, each by `each`.
fn listed(
    n: usize,
    brackets: [char; 2],
    style: &Style,
    depth: usize,
    out: &mut String,
    mut each: impl FnMut(usize, &mut String) -> Result<()>,
) -> Result<()> {
    out.push(brackets[0]);
    for k in 0..n {
        if k > 0 {
            out.push(',');
        }
        if depth == 0 {
            style.way.done(k as u64);
        }
        newline(style, depth + 1, out);
        each(k, out)?;
    }
    if n > 0 {
        newline(style, depth, out);
    }
    out.push(brackets[1]);
    Ok(())
}

/// Bytes that a number takes at most, with what stands beside it.
const WORD: usize = 64;

fn write(a: &Array, style: &Style, depth: usize, out: &mut String) -> Result<()> {
    if depth > MOST_DEPTH as usize {
        return Err(limit("this nests deeper than JSON is written"));
    }
    style.ticks.borrow_mut().tick()?;
    if out.capacity() - out.len() < WORD {
        style.budget.grow(out, WORD)?;
    }
    if a.to_reference().is_some_and(is_null) {
        out.push_str("null");
        return Ok(());
    }
    if let Data::Items(held) = a.data()
        && a.rank() == 0
    {
        // An enclosed text stands for itself: true, null.
        let inner = held.at(0);
        return match inner.to_text(&style.budget)?.filter(|_| inner.is_char()) {
            Some(text) => {
                style.budget.grow(out, text.len() + WORD)?;
                out.push_str(&text);
                Ok(())
            }
            None => write(&inner, style, depth, out),
        };
    }
    if a.is_uniform() && a.is_char() && a.rank() < 2 {
        return write_text(&a.ready_text(&style.budget)?, style, out);
    }
    match a.shape() {
        [] => {
            let x = a.number_scalar().filter(|x| x.is_finite());
            out.push_str(&number(x.ok_or_else(|| domain("JSON has no such number"))?));
            Ok(())
        }
        &[n] => listed(n, ['[', ']'], style, depth, out, |k, out| {
            write(&a.item(k), style, depth + 1, out)
        }),
        &[n, 2] if (0..n).all(|k| is_name(&a.item(2 * k))) && !a.is_uniform() => {
            listed(n, ['{', '}'], style, depth, out, |k, out| {
                write_text(&a.item(2 * k).ready_text(&style.budget)?, style, out)?;
                out.push_str(if style.indent { ": " } else { ":" });
                write(&a.item(2 * k + 1), style, depth + 1, out)
            })
        }
        &[n, ..] if style.split => {
            let cell = a.shape()[1..].to_vec();
            let size = aplomb_values::array::elements(&cell);
            listed(n, ['[', ']'], style, depth, out, |k, out| {
                let part = Array::items(
                    cell.as_slice(),
                    (k * size..(k + 1) * size).map(|k| a.item(k)).collect(),
                    None,
                );
                write(&simplified(part, &style.budget)?, style, depth + 1, out)
            })
        }
        _ => Err(domain("JSON has no arrays of more than one axis")
            .hint("1(⎕JSON⍠'HighRank' 'Split')Y, or ↓Y")),
    }
}

/// Characters as text.
fn simplified(a: Array, budget: &Budget) -> Result<Array> {
    match a.to_chars(budget)?.filter(|c| !c.is_empty()) {
        Some(chars) => Array::chars(a.shape(), chars, budget),
        None => Ok(a),
    }
}

fn is_name(a: &Array) -> bool {
    a.rank() < 2 && a.is_uniform() && a.is_char()
}

//! A column of an Arrow stream as an array: its items, one batch after another.

use super::super::dated;
use super::super::npy::{Kind, narrowed};
use aplomb_ground::error::{Error, Result, domain};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Buf, DType, checked_elements};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use arrow_select::take::take;
use npyz::TimeUnits;
use std::collections::HashSet;
use std::sync::Arc;

/// Structs within structs.
const DEEPEST: usize = 32;
/// Bytes that an item has, beside a text's characters.
const MOST_OF_AN_ITEM: u64 = 16;

/// The meaning of a column's items.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    /// Numbers of a kind, of so many bytes.
    Numbers(Kind, usize),
    /// Seconds; whether since 1970.
    Times(TimeUnits, bool),
    Texts,
}

/// A column, and what is read of it.
pub struct Column {
    name: String,
    /// The way to it: a number for each struct that it is in, and its own.
    way: Vec<usize>,
    /// Extents of an item.
    extents: Vec<usize>,
    of: Of,
    rows: usize,
    numbers: Vec<f64>,
    texts: Vec<Array>,
}

fn times(unit: TimeUnit) -> TimeUnits {
    match unit {
        TimeUnit::Second => TimeUnits::Second,
        TimeUnit::Millisecond => TimeUnits::Millisecond,
        TimeUnit::Microsecond => TimeUnits::Microsecond,
        TimeUnit::Nanosecond => TimeUnits::Nanosecond,
    }
}

/// The meaning of the items of a type; None: they are not read.
fn of(data: &DataType) -> Option<Of> {
    Some(match data {
        DataType::Boolean => Of::Numbers(Kind::Keep(DType::Bool), 1),
        DataType::Int8 => Of::Numbers(Kind::Keep(DType::I8), 1),
        DataType::Int16 => Of::Numbers(Kind::Keep(DType::I16), 2),
        DataType::Int32 => Of::Numbers(Kind::Keep(DType::I32), 4),
        DataType::Int64 => Of::Numbers(Kind::Signed, 8),
        DataType::UInt8 => Of::Numbers(Kind::Unsigned, 1),
        DataType::UInt16 => Of::Numbers(Kind::Unsigned, 2),
        DataType::UInt32 => Of::Numbers(Kind::Unsigned, 4),
        DataType::UInt64 => Of::Numbers(Kind::Unsigned, 8),
        DataType::Float16 => Of::Numbers(Kind::Half, 2),
        DataType::Float32 => Of::Numbers(Kind::Keep(DType::F32), 4),
        DataType::Float64 => Of::Numbers(Kind::Keep(DType::F64), 8),
        DataType::Date32 => Of::Times(TimeUnits::Day, true),
        DataType::Date64 => Of::Times(TimeUnits::Millisecond, true),
        DataType::Timestamp(unit, _) => Of::Times(times(*unit), true),
        DataType::Time32(unit) | DataType::Time64(unit) | DataType::Duration(unit) => {
            Of::Times(times(*unit), false)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Of::Texts,
        DataType::Dictionary(_, values) => of(values)?,
        _ => return None,
    })
}

impl Column {
    /// The columns of a schema. Errors: DOMAIN for a type that is not read, and for two of a name.
    pub fn of(schema: &Schema) -> Result<Vec<Column>> {
        let mut out = Vec::new();
        fields(schema.fields(), "", &mut Vec::new(), &mut out)?;
        let mut seen = HashSet::new();
        match out.iter().find(|column| !seen.insert(column.name.as_str())) {
            Some(twice) => Err(domain(format!("two columns in it are called {}", twice.name))),
            None => Ok(out),
        }
    }

    /// The items of one batch more. Errors: DOMAIN, with the place; WS FULL; INTERRUPT.
    pub fn read(&mut self, batch: &RecordBatch, budget: &Budget) -> Result<()> {
        let mut array = batch.columns().get(self.way[0]).cloned();
        for step in &self.way[1..] {
            let outer = array.ok_or_else(|| domain("a column is not there"))?;
            self.is_whole(&outer, 1)?;
            array = outer.as_struct().columns().get(*step).cloned();
        }
        let mut array = array.ok_or_else(|| domain("a column is not there"))?;
        let rows = array.len();
        let mut each = 1;
        for extent in &self.extents {
            self.is_whole(&array, each)?;
            each *= extent;
            array = array.as_fixed_size_list().values().clone();
        }
        self.is_whole(&array, each)?;
        if let Some(coded) = array.as_any_dictionary_opt() {
            budget.has_room((array.len() as u64).saturating_mul(MOST_OF_AN_ITEM))?;
            array = take(coded.values(), coded.keys(), None).map_err(super::stream::broken)?;
        }
        let before = self.numbers.len();
        let done = match self.of {
            Of::Texts => read_texts(&array, &mut self.texts, budget),
            of => read_numbers(&array, of, &mut self.numbers, budget),
        };
        done.map_err(|wrong| match wrong {
            Wrong::Item(says) => self.refuses((self.numbers.len() - before) / each.max(1), says),
            Wrong::Other(e) => e,
        })?;
        self.rows += rows;
        Ok(())
    }

    /// Errors: DOMAIN, where an item is not there; `each`: items of a row.
    fn is_whole(&self, array: &ArrayRef, each: usize) -> Result<()> {
        let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) else {
            return Ok(());
        };
        let at = nulls.iter().position(|there| !there).ok_or_else(|| domain("nulls"))?;
        let says = "there is no item (null), and an array has one at each place";
        Err(self.refuses(at / each.max(1), says))
    }

    fn refuses(&self, row: usize, says: impl std::fmt::Display) -> Error {
        domain(format!("column {}, row {}: {says}", self.name, self.rows + row + 1))
    }

    /// The column with its name. Errors: WS FULL.
    pub fn array(self, budget: &Budget) -> Result<(String, Array)> {
        let shape: Vec<usize> = std::iter::once(self.rows).chain(self.extents).collect();
        checked_elements(&shape)?;
        let array = match self.of {
            Of::Texts => {
                let proto = self.texts.is_empty().then(|| Array::text("", budget)).transpose()?;
                Array::items(shape.as_slice(), self.texts, proto)
            }
            Of::Times(..) => Array::numbers(shape.as_slice(), self.numbers, budget)?,
            Of::Numbers(kind, size) => {
                let dtype = narrowed(kind, size, &self.numbers);
                let buffer = Buf::stored(&self.numbers, dtype, budget)?;
                Array::dense(shape.as_slice(), Arc::new(buffer))
            }
        };
        Ok((self.name, array))
    }
}

/// The columns of some fields, those of structs within them.
fn fields(fields: &Fields, outer: &str, way: &mut Vec<usize>, out: &mut Vec<Column>) -> Result<()> {
    if way.len() > DEEPEST {
        return Err(domain(format!("structs lie more than {DEEPEST} deep in it")));
    }
    for (k, field) in fields.iter().enumerate() {
        let name = format!("{outer}{}", field.name());
        way.push(k);
        match field.data_type() {
            DataType::Struct(inner) => self::fields(inner, &format!("{name}."), way, out)?,
            _ => out.push(column(field, name, way.clone())?),
        }
        way.pop();
    }
    Ok(())
}

/// The column of a field that is no struct. Errors: DOMAIN for a type that is not read.
fn column(field: &Field, name: String, way: Vec<usize>) -> Result<Column> {
    let (mut data, mut extents) = (field.data_type(), Vec::new());
    while let DataType::FixedSizeList(item, extent) = data {
        extents.push(usize::try_from(*extent).map_err(|_| domain("a list of less than nothing"))?);
        data = item.data_type();
    }
    let unread = || {
        let says = "read are numbers, bool, texts, times, lists of one length and structs of them";
        domain(format!("column {name} is of the type {}; {says}", field.data_type()))
    };
    let of = of(data).ok_or_else(unread)?;
    checked_elements(&extents)?;
    Ok(Column { name, way, extents, of, rows: 0, numbers: Vec::new(), texts: Vec::new() })
}

/// The reason why a column is not read on.
enum Wrong {
    /// The item behind those that were read.
    Item(String),
    Other(Error),
}

impl From<Error> for Wrong {
    fn from(e: Error) -> Wrong {
        Wrong::Other(e)
    }
}

/// Items as they come, in the order of an array.
fn all<T>(
    items: impl ExactSizeIterator<Item = T>,
    read: impl Fn(T) -> Result<f64, String>,
    out: &mut Vec<f64>,
    budget: &Budget,
) -> Result<(), Wrong> {
    budget.has_room((items.len() as u64).saturating_mul(size_of::<f64>() as u64))?;
    out.reserve(items.len());
    let mut ticks = budget.ticks();
    for item in items {
        ticks.tick()?;
        out.push(read(item).map_err(Wrong::Item)?);
    }
    Ok(())
}

/// The items of an array of numbers as they are kept here.
fn each<T>(array: &ArrayRef) -> impl ExactSizeIterator<Item = T::Native>
where
    T: ArrowPrimitiveType,
{
    array.as_primitive::<T>().values().iter().copied()
}

/// A whole number that is one here.
fn exact<N: Into<i128>>(x: N) -> Result<f64, String> {
    let x: i128 = x.into();
    match x.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS {
        true => Ok(x as f64),
        false => Err(format!("{x}, and a number holds integers to 2*53 exactly")),
    }
}

fn read_numbers(
    array: &ArrayRef,
    of: Of,
    out: &mut Vec<f64>,
    budget: &Budget,
) -> Result<(), Wrong> {
    macro_rules! as_they_are {
        ($type:ty) => {
            all(each::<$type>(array), |x| Ok(f64::from(x)), out, budget)
        };
    }
    macro_rules! counts {
        ($type:ty) => {
            match of {
                Of::Times(unit, moment) => {
                    let none = || "there are no seconds in months".to_string();
                    let read = |x| dated::read(i64::from(x), unit, moment).ok_or_else(none);
                    all(each::<$type>(array), read, out, budget)
                }
                _ => all(each::<$type>(array), exact, out, budget),
            }
        };
    }
    match array.data_type() {
        DataType::Boolean => {
            let truths = array.as_boolean().values();
            let each = (0..truths.len()).map(|k| truths.value(k));
            all(each, |x| Ok(f64::from(u8::from(x))), out, budget)
        }
        DataType::Int8 => as_they_are!(Int8Type),
        DataType::Int16 => as_they_are!(Int16Type),
        DataType::Int32 => as_they_are!(Int32Type),
        DataType::UInt8 => as_they_are!(UInt8Type),
        DataType::UInt16 => as_they_are!(UInt16Type),
        DataType::UInt32 => as_they_are!(UInt32Type),
        DataType::Float16 => as_they_are!(Float16Type),
        DataType::Float32 => as_they_are!(Float32Type),
        DataType::Float64 => as_they_are!(Float64Type),
        DataType::Int64 => counts!(Int64Type),
        DataType::UInt64 => all(each::<UInt64Type>(array), exact, out, budget),
        DataType::Date32 => counts!(Date32Type),
        DataType::Date64 => counts!(Date64Type),
        DataType::Time32(TimeUnit::Second) => counts!(Time32SecondType),
        DataType::Time32(_) => counts!(Time32MillisecondType),
        DataType::Time64(TimeUnit::Microsecond) => counts!(Time64MicrosecondType),
        DataType::Time64(_) => counts!(Time64NanosecondType),
        DataType::Timestamp(TimeUnit::Second, _) => counts!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => counts!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => counts!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => counts!(TimestampNanosecondType),
        DataType::Duration(TimeUnit::Second) => counts!(DurationSecondType),
        DataType::Duration(TimeUnit::Millisecond) => counts!(DurationMillisecondType),
        DataType::Duration(TimeUnit::Microsecond) => counts!(DurationMicrosecondType),
        DataType::Duration(TimeUnit::Nanosecond) => counts!(DurationNanosecondType),
        other => Err(Wrong::Item(format!("items of the type {other}"))),
    }
}

fn read_texts(array: &ArrayRef, out: &mut Vec<Array>, budget: &Budget) -> Result<(), Wrong> {
    budget.has_room((array.len() as u64).saturating_mul(size_of::<Array>() as u64))?;
    out.reserve(array.len());
    match array.data_type() {
        DataType::Utf8 => texts(array.as_string::<i32>().iter(), out, budget),
        DataType::LargeUtf8 => texts(array.as_string::<i64>().iter(), out, budget),
        DataType::Utf8View => texts(array.as_string_view().iter(), out, budget),
        other => Err(Wrong::Item(format!("items of the type {other}"))),
    }
}

/// Texts, of which each is there.
fn texts<'a>(
    each: impl Iterator<Item = Option<&'a str>>,
    out: &mut Vec<Array>,
    budget: &Budget,
) -> Result<(), Wrong> {
    let mut ticks = budget.ticks();
    for text in each {
        ticks.tick()?;
        let text = text.ok_or_else(|| Wrong::Item("there is no text".into()))?;
        out.push(Array::text(text, budget)?);
    }
    Ok(())
}

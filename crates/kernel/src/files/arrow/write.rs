//! Arrays as columns of an Arrow file, or of a stream where the name ends in `.arrows`.
//!
//! Whole numbers are int64, f32 and f64 as they are; texts utf8, a character one of them; rows of a
//! matrix lists of one length. A type that is named for a column holds each number exactly, or
//! nothing is written: `n:i4 when:M8[ms]`. `lz4` packs.

use super::super::npy::{NpyType, halved, texts};
use super::super::{malformed, write_with};
use aplomb_ground::error::{Error, Kind, Result, domain, length};
use aplomb_ground::limits::{Budget, Interrupt, UNKNOWN};
use aplomb_language::eval::host::Arrays;
use aplomb_values::array::{Array, Data};
use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use arrow_array::{self as arrow, ArrayRef, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, Field, Schema};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Rows of a batch: between two of them the interrupt is looked at.
const BATCH: usize = 1 << 20;
/// The word that packs.
const PACKED: &str = "lz4";

/// The types that are named for columns, and whether batches are packed.
#[derive(Default)]
struct How {
    named: Vec<(String, NpyType)>,
    packed: bool,
}

impl How {
    fn parse(text: &str) -> Result<How> {
        let mut how = How::default();
        for word in text.split_whitespace() {
            match word.rsplit_once(':') {
                Some((name, of)) => {
                    let of = NpyType::parse(of).map_err(domain)?;
                    how.named.push((name.into(), of));
                }
                None if word == PACKED => how.packed = true,
                None => {
                    let says = format!("'{word}' is no 'column:type', nor '{PACKED}'");
                    return Err(domain(says).hint("'n:i4 when:M8[ms] lz4'"));
                }
            }
        }
        Ok(how)
    }
}

/// Writes arrays by their names, all of as many rows. Errors: DOMAIN for what no column holds, with
/// its name; LENGTH; FILE ACCESS; WS FULL; INTERRUPT.
pub fn write_arrow(
    path: &Path,
    arrays: &Arrays,
    how: Option<&str>,
    budget: &Budget,
    stop: &Interrupt,
) -> Result<()> {
    let Arrays::Named(arrays) = arrays else {
        let says = "an Arrow file holds columns by name: the arrays of a namespace";
        return Err(malformed(path, says).hint("(x:⍳3 ⋄ y:'ab' 'c' 'd')⎕ARROW'a.arrow'"));
    };
    let how = How::parse(how.map_or("", |how| how))?;
    if let Some((name, _)) = how.named.iter().find(|n| arrays.iter().all(|(own, _)| *own != n.0)) {
        return Err(domain(format!("there is no column {name} to have a type")));
    }
    let (mut fields, mut columns, mut held) = (Vec::new(), Vec::new(), Vec::new());
    for (name, array) in arrays {
        held.push(budget.charge_elements(array.len(), size_of::<f64>())?);
        let of = how.named.iter().find(|n| n.0 == *name).map(|n| n.1);
        let column = column(array, of, budget).map_err(|e| named(name, &e))?;
        fields.push(Field::new(name, column.data_type().clone(), false));
        columns.push(column);
    }
    let rows = columns.first().map_or(0, |column| column.len());
    if let Some(k) = columns.iter().position(|column| column.len() != rows) {
        let (name, long) = (&arrays[k].0, columns[k].len());
        let says = format!("column {name} has {long} rows, and {} has {rows}", arrays[0].0);
        return Err(length(says));
    }
    let schema = Arc::new(Schema::new(fields));
    let options = arrow::RecordBatchOptions::new().with_row_count(Some(rows));
    let all = RecordBatch::try_new_with_options(schema.clone(), columns, &options);
    let all = all.map_err(|e| malformed(path, e))?;
    // Packed, nobody knows how long it will be.
    let long = if how.packed { UNKNOWN } else { all.get_array_memory_size() as u64 };
    let done = write_with(path, (stop, long), |out| {
        put(out, path, &all, how.packed, stop).map_err(|e| match e {
            ArrowError::IoError(_, e) => e,
            other => std::io::Error::other(other),
        })
    });
    stop.check()?;
    done
}

/// The ending of a name tells a stream from a file.
fn is_stream(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("arrows"))
}

fn put(
    out: &mut dyn Write,
    path: &Path,
    all: &RecordBatch,
    packed: bool,
    stop: &Interrupt,
) -> Result<(), ArrowError> {
    let packing = packed.then_some(CompressionType::LZ4_FRAME);
    let options = IpcWriteOptions::default().try_with_compression(packing)?;
    let batches = (0..all.num_rows()).step_by(BATCH).map_while(|from| {
        let rows = BATCH.min(all.num_rows() - from);
        (!stop.is_set()).then(|| all.slice(from, rows))
    });
    match is_stream(path) {
        true => {
            let mut to = StreamWriter::try_new_with_options(out, &all.schema(), options)?;
            batches.into_iter().try_for_each(|batch| to.write(&batch))?;
            to.finish()
        }
        false => {
            let mut to = FileWriter::try_new_with_options(out, &all.schema(), options)?;
            batches.into_iter().try_for_each(|batch| to.write(&batch))?;
            to.finish()
        }
    }
}

fn named(name: &str, e: &Error) -> Error {
    Error::new(e.kind(), format!("column {name}: {}", e.parts().says))
}

/// An array as a column, a row for each of its first axis.
fn column(array: &Array, of: Option<NpyType>, budget: &Budget) -> Result<ArrayRef> {
    let array = array.settled();
    let Some((rows, extents)) = array.shape().split_first() else {
        return Err(Error::new(Kind::Rank, "a column has rows, and this is one item"));
    };
    if let (Data::Items(_), _) | (_, true) = (array.data(), array.is_char()) {
        if let Some(of) = of {
            return Err(domain(format!("text is no {}", of.name())));
        }
        let texts = match array.is_char() {
            true => rows_of(&array, budget)?,
            false => {
                listed(texts(&array, "a column holds numbers, or texts, and not both", budget)?)
            }
        };
        return match array.is_char() || extents.is_empty() {
            true => Ok(texts),
            false => lists(texts, *rows, extents),
        };
    }
    let numbers = array.to_numbers(budget)?;
    let numbers = numbers.ok_or_else(|| domain("a column holds real numbers and texts only"))?;
    let own = NpyType::of_array(&array).ok_or_else(|| domain("a column holds no such items"))?;
    let of = of.map_or(own, |of| of);
    of.hold(&numbers)?;
    lists(items(&numbers, of)?, *rows, extents)
}

/// The rows of characters, each a text; of a vector its characters.
fn rows_of(array: &Array, budget: &Budget) -> Result<ArrayRef> {
    let chars = array.ready_chars(budget)?;
    let each = array.shape()[1..].iter().product::<usize>();
    let texts = match each {
        0 => (0..array.shape()[0]).map(|_| String::new()).collect(),
        each => chars.chunks(each).map(|row| row.iter().collect()).collect(),
    };
    Ok(listed(texts))
}

fn listed(texts: Vec<String>) -> ArrayRef {
    Arc::new(arrow::StringArray::from(texts))
}

/// Items as rows of lists, the last axis innermost.
fn lists(items: ArrayRef, rows: usize, extents: &[usize]) -> Result<ArrayRef> {
    let mut made = items;
    for (k, extent) in extents.iter().enumerate().rev() {
        let long = i32::try_from(*extent).map_err(|_| domain("a row has too many items"))?;
        let count = rows * extents[..k].iter().product::<usize>();
        let field = Arc::new(Field::new("item", made.data_type().clone(), false));
        let list = arrow::FixedSizeListArray::try_new_with_length(field, long, made, None, count);
        made = Arc::new(list.map_err(|e| domain(e.to_string()))?);
    }
    Ok(made)
}

/// Numbers in a type that holds them.
fn items(v: &[f64], of: NpyType) -> Result<ArrayRef> {
    type Half = <Float16Type as ArrowPrimitiveType>::Native;
    fn made<T>(v: &[f64], to: impl Fn(f64) -> T::Native) -> ArrayRef
    where
        T: ArrowPrimitiveType,
    {
        Arc::new(arrow::PrimitiveArray::<T>::from_iter_values(v.iter().map(|x| to(*x))))
    }
    use arrow_array::types as t;
    Ok(match of {
        NpyType::Bool => {
            Arc::new(v.iter().map(|x| Some(*x != 0.0)).collect::<arrow::BooleanArray>())
        }
        NpyType::Int(1) => made::<t::Int8Type>(v, |x| x as i8),
        NpyType::Int(2) => made::<t::Int16Type>(v, |x| x as i16),
        NpyType::Int(4) => made::<t::Int32Type>(v, |x| x as i32),
        NpyType::Int(_) => made::<t::Int64Type>(v, |x| x as i64),
        NpyType::Uint(1) => made::<t::UInt8Type>(v, |x| x as u8),
        NpyType::Uint(2) => made::<t::UInt16Type>(v, |x| x as u16),
        NpyType::Uint(4) => made::<t::UInt32Type>(v, |x| x as u32),
        NpyType::Uint(_) => made::<t::UInt64Type>(v, |x| x as u64),
        NpyType::F2 => made::<Float16Type>(v, |x| Half::from_bits(halved(x))),
        NpyType::F4 => made::<t::Float32Type>(v, |x| x as f32),
        NpyType::F8 => made::<t::Float64Type>(v, |x| x),
        NpyType::C16 => return Err(domain("a column holds no complex numbers")),
        NpyType::Moment(unit, rate) => {
            if v.iter().any(|x| x.is_nan()) {
                return Err(domain("a moment that is none (NaN) would be a null"));
            }
            let count = move |x: f64| (x * rate).round() as i64;
            if unit == "D" && v.iter().any(|x| i32::try_from(count(*x)).is_err()) {
                return Err(domain("a day is further from 1970 than a column holds"));
            }
            match unit {
                "D" => made::<t::Date32Type>(v, |x| count(x) as i32),
                "s" => made::<t::TimestampSecondType>(v, count),
                "ms" => made::<t::TimestampMillisecondType>(v, count),
                "us" => made::<t::TimestampMicrosecondType>(v, count),
                _ => made::<t::TimestampNanosecondType>(v, count),
            }
        }
    })
}

//! CSV into columns. One pass over records; a number is read from the field's bytes as they stand.

use super::{malformed, read_file};
use aplomb_lang::error::Result;
use aplomb_lang::eval::host::{CsvColumn, CsvField, CsvOptions, CsvTable, CsvType};
use aplomb_lang::limits::Budget;
use std::path::Path;

/// Errors: FILE NAME, FILE ACCESS; DOMAIN with file, line and what was expected; WS FULL.
pub fn read_csv(path: &Path, options: &CsvOptions, budget: &Budget) -> Result<CsvTable> {
    let bytes = read_file(path, budget)?;
    // Columns take about as much as the text.
    let _charge = budget.charge(2 * bytes.len() as u64)?;
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let separator = u8::try_from(options.separator).ok().filter(u8::is_ascii);
    let separator = separator.ok_or_else(|| malformed(path, "the separator must be an ASCII character"))?;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(separator).from_reader(text);
    let mut table = CsvTable { header: Vec::new(), rows: 0, columns: Vec::new() };
    let mut record = csv::ByteRecord::new();
    let mut first = true;
    while reader.read_byte_record(&mut record).map_err(|e| malformed(path, explain(text, &e)))? {
        let line = line_of(text, record.position());
        if first {
            let types = types(options, record.len()).map_err(|says| malformed(path, says))?;
            table.columns = types.into_iter().map(empty).collect();
        }
        if first && options.header {
            let names: Result<_, String> = record.iter().map(|f| utf8(f).map(str::to_owned)).collect();
            table.header = names.map_err(|says| malformed(path, format!("line {line}: {says}")))?;
        } else {
            table.rows += 1;
            for (k, (field, column)) in record.iter().zip(&mut table.columns).enumerate() {
                let wrong = |says| malformed(path, format!("line {line}, column {}: {says}", k + 1));
                push(column, field).map_err(wrong)?;
            }
        }
        first = false;
    }
    match open_quote(text) {
        Some(line) => Err(malformed(path, format!("line {line}: a quote is opened here and never closed"))),
        None => Ok(table),
    }
}

/// The line of a quote that is still open at the end: a doubled quote closes and opens again, so quotes alternate.
fn open_quote(text: &[u8]) -> Option<usize> {
    let mut open = None;
    let mut line = 1;
    for &b in text {
        match (b, open) {
            (b'"', None) => open = Some(line),
            (b'"', Some(_)) => open = None,
            (b'\n', _) => line += 1,
            _ => {}
        }
    }
    open
}

/// The reader's position of a record stands before the rest of the line end above it, and before empty lines.
fn line_of(text: &[u8], position: Option<&csv::Position>) -> u64 {
    let Some(position) = position else { return 0 };
    let rest = text.get(position.byte() as usize..).unwrap_or(&[]);
    let ends = rest.iter().take_while(|b| b"\r\n".contains(b));
    position.line() + ends.filter(|&&b| b == b'\n').count() as u64
}

fn explain(text: &[u8], e: &csv::Error) -> String {
    match e.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = line_of(text, pos.as_ref());
            format!("line {line}: {expected_len} fields were expected, {len} found")
        }
        _ => e.to_string(),
    }
}

/// One type for each of `n` columns.
fn types(options: &CsvOptions, n: usize) -> Result<Vec<CsvType>, String> {
    match options.types.as_slice() {
        [] => Ok(vec![CsvType::Text; n]),
        [one] => Ok(vec![*one; n]),
        all if all.len() == n => Ok(all.to_vec()),
        all => Err(format!("{} column types were given, the file has {n} columns", all.len())),
    }
}

fn empty(of: CsvType) -> CsvColumn {
    match of {
        CsvType::Text => CsvColumn::Text(Vec::new()),
        CsvType::Number => CsvColumn::Numbers(Vec::new()),
        CsvType::Either => CsvColumn::Mixed(Vec::new()),
    }
}

fn utf8(field: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(field).map_err(|_| "UTF-8 text was expected".into())
}

fn push(column: &mut CsvColumn, field: &[u8]) -> Result<(), String> {
    match column {
        CsvColumn::Text(items) => items.push(utf8(field)?.to_owned()),
        CsvColumn::Numbers(items) => {
            let text = utf8(field)?.trim();
            items.push(number(text).ok_or_else(|| format!("a number was expected, '{}' is there", cut(text)))?);
        }
        CsvColumn::Mixed(items) => {
            let text = utf8(field)?;
            let looks = text.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-.¯".contains(c));
            let item = number(text.trim()).filter(|_| looks).map(CsvField::Number);
            items.push(item.unwrap_or_else(|| CsvField::Text(text.to_owned())));
        }
    }
    Ok(())
}

/// As other programs write numbers, and with APL's high minus.
fn number(text: &str) -> Option<f64> {
    if text.contains('¯') { text.replace('¯', "-").parse().ok() } else { text.parse().ok() }
}

/// Enough of a field to find it by.
fn cut(text: &str) -> String {
    let mut short: String = text.chars().take(24).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

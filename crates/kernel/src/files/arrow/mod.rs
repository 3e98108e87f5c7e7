//! Arrow IPC: columns by name, in a file (`.arrow`, `.feather`) or a stream (`.arrows`). A file has
//! a footer that says where its messages lie; in a stream they follow each other.
//!
//! | column | becomes |
//! |---|---|
//! | int8 to int32, float32, float64, bool | the same type |
//! | int64, unsigned | i32 or f64; beyond 2*53 an error with the place |
//! | float16 | f32 |
//! | utf8, also large, as views or by a dictionary | a text an item |
//! | date, timestamp, time, duration | seconds: since 1970, of the day, or so many |
//! | lists of one length | one axis more |
//! | struct | a column for each of its fields, `outer.field` |
//!
//! An item that is not there (null) is refused with its place. The rest is named and refused.

mod columns;
mod stream;
mod write;

pub use write::write_arrow;

use super::{malformed, read_file};
use aplomb_ground::error::{Kind, Result};
use aplomb_ground::limits::Budget;
use aplomb_language::eval::host::Arrays;
use aplomb_values::array::Array;
use arrow_buffer::Buffer;
use arrow_ipc::Block;
use arrow_ipc::reader::FileDecoder;
use columns::Column;
use std::path::Path;
use std::sync::Arc;
use stream::{Message, Messages};

/// All columns with their names, in the order of the file. Errors: FILE NAME, FILE ACCESS; DOMAIN
/// with the column and what is wrong; WS FULL.
pub fn read_arrow(path: &Path, budget: &Budget) -> Result<Arrays> {
    let bytes = read_file(path, budget)?;
    let _charge = budget.charge(bytes.len() as u64)?;
    columns(bytes, budget).map(Arrays::Named).map_err(|e| match e.kind() {
        Kind::Domain => malformed(path, &e.parts().says),
        _ => e,
    })
}

fn columns(bytes: Vec<u8>, budget: &Budget) -> Result<Vec<(String, Array)>> {
    let Messages { schema, version, each } = stream::messages(&bytes)?;
    let mut columns = Column::of(&schema)?;
    let all = Buffer::from_vec(bytes);
    let way = budget.bytes(all.len() as u64);
    let mut decoder = FileDecoder::new(Arc::new(schema), version);
    for Message { from, body, to, is_dictionary, unpacked } in each {
        budget.check()?;
        way.done(from as u64);
        // Decompressed it stands beside the file until its columns are read.
        let _charge = budget.charge(unpacked)?;
        let own = all.slice_with_length(from, to - from);
        let header = i32::try_from(body - from).map_err(stream::broken)?;
        let block = Block::new(0, header, (to - body) as i64);
        if is_dictionary {
            decoder.read_dictionary(&block, &own).map_err(stream::broken)?;
            continue;
        }
        let batch = decoder.read_record_batch(&block, &own).map_err(stream::broken)?;
        let batch = batch.ok_or_else(|| stream::broken("a batch of it is none"))?;
        columns.iter_mut().try_for_each(|column| column.read(&batch, budget))?;
    }
    columns.into_iter().map(|column| column.array(budget)).collect()
}

#[cfg(test)]
mod tests;

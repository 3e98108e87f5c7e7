//! The messages of an Arrow stream, and whether each says of itself what can be: its places lie
//! within it. The crate that decodes them takes that for granted.

use aplomb_ground::error::{Error, Result, domain};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{
    CompressionType, Footer, MessageHeader, MetadataVersion, RecordBatch, root_as_footer,
};
use arrow_ipc::{Schema as Announced, root_as_message};
use arrow_schema::{DataType, Field, Schema};
use std::collections::HashMap;
use std::sync::Arc;

/// The mark at both ends of a file.
const MARK: &[u8] = b"ARROW1";
/// The word that opens a message.
const OPENS: [u8; 4] = [0xff; 4];
/// Buffers of texts that a column of views may have in a batch.
const MOST_VIEWS: usize = 1 << 20;

/// The announced columns, and the messages that hold their items.
pub struct Messages {
    pub schema: Schema,
    pub version: MetadataVersion,
    pub each: Vec<Message>,
}

/// A message of a stream.
pub struct Message {
    /// The places of its first byte, of its body, and of the byte behind it.
    pub from: usize,
    pub body: usize,
    pub to: usize,
    pub is_dictionary: bool,
    /// Bytes of its buffers where they are packed.
    pub unpacked: u64,
}

/// The error of bytes that are no Arrow.
pub fn broken(says: impl std::fmt::Display) -> Error {
    let says = says.to_string();
    domain(format!("this is no Arrow file or stream: {}", says.trim_end()))
}

/// The messages that a file's footer names, or those of a stream in order. Errors: DOMAIN.
pub fn messages(bytes: &[u8]) -> Result<Messages> {
    if bytes.starts_with(MARK) {
        return of_file(bytes);
    }
    let (header, mut at) = header(bytes, 0)?.ok_or_else(|| broken("there is nothing in it"))?;
    let schema = header.header_as_schema().ok_or_else(|| broken("it begins without a schema"))?;
    let (types, version) = (Types::of(schema)?, header.version());
    at += size(&header)?;
    let mut each = Vec::new();
    while let Some(message) = next(bytes, at, &types)? {
        at = message.to;
        each.push(message);
    }
    Ok(Messages { schema: types.schema, version, each })
}

fn of_file(bytes: &[u8]) -> Result<Messages> {
    let marked = bytes.strip_suffix(MARK).and_then(|rest| rest.split_last_chunk());
    let (rest, long) = marked.ok_or_else(|| broken("a file ends with ARROW1, as it begins"))?;
    let before = rest.len().checked_sub(u32::from_le_bytes(*long) as usize);
    let before = before.ok_or_else(|| broken("its footer is longer than the file"))?;
    let (bytes, footer) = rest.split_at(before);
    let footer: Footer<'_> = root_as_footer(footer).map_err(broken)?;
    let schema = footer.schema().ok_or_else(|| broken("no schema is in it"))?;
    let blocks = footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten();
    let types = Types::of(schema)?;
    let each = blocks.map(|block| {
        let at = usize::try_from(block.offset()).map_err(broken)?;
        next(bytes, at, &types)?.ok_or_else(|| broken("a block of it is empty"))
    });
    let each = each.collect::<Result<_>>()?;
    Ok(Messages { schema: types.schema, version: footer.version(), each })
}

/// The types of columns, and of dictionaries by their numbers.
struct Types {
    schema: Schema,
    dictionaries: HashMap<i64, DataType>,
}

impl Types {
    fn of(announced: Announced<'_>) -> Result<Types> {
        if !announced.endianness().equals_to_target_endianness() {
            return Err(broken("its numbers have their bytes in the other order"));
        }
        let schema = try_fb_to_schema(announced).map_err(broken)?;
        let mut dictionaries = HashMap::new();
        for (own, field) in announced.fields().iter().flatten().zip(schema.fields()) {
            coded(own, field.data_type(), &mut dictionaries);
        }
        Ok(Types { schema, dictionaries })
    }
}

/// Notes the dictionaries of a field and of those within it.
fn coded(own: arrow_ipc::Field<'_>, data: &DataType, out: &mut HashMap<i64, DataType>) {
    let within: &[Arc<Field>] = match data {
        DataType::Struct(fields) => fields,
        DataType::FixedSizeList(item, _) => std::slice::from_ref(item),
        DataType::Dictionary(_, values) => {
            out.extend(own.dictionary().map(|of| (of.id(), (**values).clone())));
            &[]
        }
        _ => &[],
    };
    for (own, field) in own.children().iter().flatten().zip(within) {
        coded(own, field.data_type(), out);
    }
}

/// The bytes of an item in each buffer of a column: whole ones must fit, for who reads offsets and
/// codes. 1 where any number of bytes is right. None: a type that is not read.
fn widths(
    data: &DataType,
    views: &mut impl Iterator<Item = i64>,
    out: &mut Vec<u64>,
) -> Option<()> {
    out.push(1);
    match data {
        DataType::Struct(fields) => {
            return fields.iter().try_for_each(|field| widths(field.data_type(), views, out));
        }
        DataType::FixedSizeList(item, _) => return widths(item.data_type(), views, out),
        DataType::Utf8 => out.extend([4, 1]),
        DataType::LargeUtf8 => out.extend([8, 1]),
        DataType::Utf8View => {
            out.push(16);
            let more = views.next().and_then(|n| usize::try_from(n).ok())?;
            out.extend(std::iter::repeat_n(1, more.min(MOST_VIEWS)));
        }
        DataType::Dictionary(codes, _) => out.push(codes.primitive_width()? as u64),
        DataType::Boolean => out.push(1),
        other => out.push(other.primitive_width()? as u64),
    }
    Some(())
}

fn word(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// The header of the message that begins at a place, and where its body begins; None: the stream
/// ends there.
fn header(bytes: &[u8], from: usize) -> Result<Option<(arrow_ipc::Message<'_>, usize)>> {
    let ends = || broken("it ends within a message");
    if from == bytes.len() {
        return Ok(None);
    }
    // Streams of old have no word before the length.
    let opens = word(bytes, from).ok_or_else(ends)? == OPENS;
    let at = from + if opens { OPENS.len() } else { 0 };
    let long = u32::from_le_bytes(word(bytes, at).ok_or_else(ends)?) as usize;
    let (at, body) = (at + OPENS.len(), at + OPENS.len() + long);
    match long {
        0 => Ok(None),
        _ => {
            let own = bytes.get(at..body).ok_or_else(ends)?;
            Ok(Some((root_as_message(own).map_err(broken)?, body)))
        }
    }
}

fn size(header: &arrow_ipc::Message<'_>) -> Result<usize> {
    usize::try_from(header.bodyLength()).map_err(broken)
}

/// The message that begins at a place, with items; None: the stream ends there.
fn next(bytes: &[u8], from: usize, types: &Types) -> Result<Option<Message>> {
    let Some((header, body)) = header(bytes, from)? else { return Ok(None) };
    let to = body.checked_add(size(&header)?).filter(|to| *to <= bytes.len());
    let to = to.ok_or_else(|| broken("it ends within a message"))?;
    let is_dictionary = header.header_type() == MessageHeader::DictionaryBatch;
    let dictionary = header.header_as_dictionary_batch();
    let own = match &dictionary {
        Some(of) => of.data(),
        None => header.header_as_record_batch(),
    };
    let own = own.ok_or_else(|| broken("a message of it holds no items"))?;
    let mut each = Vec::new();
    let mut views = own.variadicBufferCounts().into_iter().flatten();
    let known = match &dictionary {
        Some(of) => {
            let values = types.dictionaries.get(&of.id());
            values.and_then(|values| widths(values, &mut views, &mut each))
        }
        None => {
            let mut fields = types.schema.fields().iter();
            fields.try_for_each(|field| widths(field.data_type(), &mut views, &mut each))
        }
    };
    // A type that is not read is refused by its column, in better words.
    let each = if known.is_some() { each } else { Vec::new() };
    let unpacked = batch(&own, &bytes[body..to], &each)?;
    Ok(Some(Message { from, body, to, is_dictionary, unpacked }))
}

/// The bytes that a batch has when it is unpacked. Errors: DOMAIN, where a place lies outside.
fn batch(of: &RecordBatch<'_>, body: &[u8], widths: &[u64]) -> Result<u64> {
    let wrong = |what: &str| broken(format!("a batch whose {what} cannot be"));
    if of.length() < 0 {
        return Err(wrong("length"));
    }
    if of.compression().is_some_and(|how| how.codec() != CompressionType::LZ4_FRAME) {
        return Err(domain("its batches are packed, and not by lz4, which alone is read"));
    }
    for node in of.nodes().iter().flatten() {
        if node.null_count() < 0 || node.length() < node.null_count() {
            return Err(wrong("count of items"));
        }
    }
    let whole = |long: u64, width: u64| match long % width {
        0 => Ok(()),
        _ => Err(wrong("buffers' lengths")),
    };
    let mut unpacked = 0u64;
    let widths = widths.iter().chain(std::iter::repeat(&1));
    for (buffer, width) in of.buffers().iter().flatten().zip(widths) {
        let place =
            usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let held = place.and_then(|(from, long)| body.get(from..from.checked_add(long)?));
        let held = held.ok_or_else(|| wrong("buffers' places"))?;
        if of.compression().is_none() || held.is_empty() {
            whole(held.len() as u64, *width)?;
            continue;
        }
        let told = held.first_chunk().map(|long| i64::from_le_bytes(*long));
        // What did not get smaller is there as it was, and says -1.
        let told = told.filter(|told| *told >= -1).ok_or_else(|| wrong("packed lengths"))?;
        whole(if told < 0 { held.len() as u64 - 8 } else { told as u64 }, *width)?;
        unpacked = unpacked.saturating_add(told.max(0) as u64);
    }
    Ok(unpacked)
}

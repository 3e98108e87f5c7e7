//! .npz: a zip of .npy files, each an array by its name; stored as they are, or deflated.

use super::npy::{array_of, put_array};
use super::passing::Passing;
use super::{failed, is_special, malformed, open, read_file, write_file};
use aplomb_devices::pool::Pool;
use aplomb_ground::error::{Error, Result};
use aplomb_ground::limits::{Budget, Interrupt, UNKNOWN};
use aplomb_language::eval::host::Arrays;
use aplomb_values::array::Array;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Arrays that a file may have.
const MOST: usize = 10_000;

/// Whether a name is that of such a file.
pub fn is_npz(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("npz"))
}

/// All arrays with their names, in the order of the file. Errors: FILE NAME, FILE ACCESS; DOMAIN
/// with the member that cannot be read; WS FULL.
pub fn read_npz(path: &Path, pool: &Pool, budget: &Budget) -> Result<Vec<(String, Array)>> {
    match is_special(path) {
        true => members(Cursor::new(read_file(path, budget)?), path, pool, budget),
        false => {
            let file = open(path)?;
            let way = budget.bytes(file.metadata().map_or(UNKNOWN, |m| m.len()));
            members(BufReader::new(Passing::new(file, way)), path, pool, budget)
        }
    }
}

fn wrong(path: &Path, e: ZipError) -> Error {
    match e {
        ZipError::Io(e) => failed(path, &e),
        e => malformed(path, format!("this is no .npz file: {e}")),
    }
}

fn members(
    from: impl Read + Seek,
    path: &Path,
    pool: &Pool,
    budget: &Budget,
) -> Result<Vec<(String, Array)>> {
    let mut archive = ZipArchive::new(from).map_err(|e| wrong(path, e))?;
    if archive.len() > MOST {
        let says = format!("{} arrays are in it, and {MOST} are read", archive.len());
        return Err(malformed(path, says));
    }
    let mut out = Vec::new();
    for k in 0..archive.len() {
        budget.check()?;
        let member = archive.by_index(k).map_err(|e| wrong(path, e))?;
        let name = member.name().map_err(|e| wrong(path, e))?.into_owned();
        let Some(short) = name.strip_suffix(".npy") else {
            return Err(malformed(path, format!("{name} in it is no .npy file")));
        };
        let (short, long) = (short.to_string(), member.size());
        let place = path.join(&name);
        match array_of(BufReader::new(member), long, &place, pool, budget)? {
            Arrays::One(array) => out.push((short, array)),
            Arrays::Named(columns) => {
                let each = columns.into_iter().map(|(field, a)| (format!("{short}.{field}"), a));
                out.extend(each);
            }
        }
    }
    Ok(out)
}

/// Writes arrays by their names. Errors: as of `put_array`, with the name; FILE ACCESS; WS FULL.
pub fn write_npz(
    path: &Path,
    arrays: &[(String, Array)],
    deflated: bool,
    budget: &Budget,
    stop: &Interrupt,
) -> Result<()> {
    let method = if deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut held = Vec::new();
    let items = |all: &[(String, Array)]| all.iter().map(|(_, a)| a.len() as u64).sum::<u64>();
    let way = stop.rounds(items(arrays));
    for (k, (name, array)) in arrays.iter().enumerate() {
        stop.check()?;
        way.done(items(&arrays[..k]));
        let bytes = array.len() as u64 * 8;
        held.push(budget.charge(bytes)?);
        let large = bytes > u64::from(u32::MAX) / 2;
        let options = SimpleFileOptions::default().compression_method(method).large_file(large);
        zip.start_file(format!("{name}.npy"), options).map_err(|e| wrong(path, e))?;
        put_array(array, None, budget, |write| write(&mut zip).map_err(|e| failed(path, &e)))
            .map_err(|e| named(name, e))?;
    }
    drop(way);
    let bytes = zip.finish().map_err(|e| wrong(path, e))?.into_inner();
    write_file(path, &bytes, stop)
}

fn named(name: &str, e: Error) -> Error {
    Error::new(e.kind(), format!("{name}: {}", e.parts().says))
}

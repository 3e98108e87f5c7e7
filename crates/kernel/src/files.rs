//! Files: plain bytes, arrays of NumPy and of Arrow, pictures. Every error names the file, and in a
//! table the line, and what was expected.
//!
//! A file is written beside its name first and renamed, so a reader never sees half of it.

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(not(feature = "arrow"))]
#[path = "files/arrow_absent.rs"]
mod arrow;
mod aside;
mod dated;
mod errands;
mod items;
mod npy;
mod npz;
mod passing;
mod picture;
mod special;

pub use arrow::{read_arrow, write_arrow};
pub use aside::Aside;
pub use errands::{Bounds, effect, run as run_errand};
pub use npy::{read_npy, write_npy};
pub use npz::{read_npz, write_npz};
pub use picture::{png, read_picture};

use aplomb_devices::pool::Pool;
use aplomb_ground::error::{Error, Kind, Result, ws_full};
use aplomb_ground::limits::{Budget, Interrupt};
use aplomb_ground::protocol::Completion;
use aplomb_language::eval::host::{Arrays, Format};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};

/// The files that a program may touch.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reach {
    /// Every file.
    #[default]
    All,
    /// Those in a folder and below, links followed.
    In(PathBuf),
    /// No file.
    None,
}

impl Reach {
    /// `none`, or a folder. Errors: there is no such folder.
    pub fn parse(text: &str) -> Result<Reach, String> {
        if text == "none" {
            return Ok(Reach::None);
        }
        let folder = fs::canonicalize(text).map_err(|e| format!("--files {text}: {e}"))?;
        if folder.is_dir() {
            Ok(Reach::In(folder))
        } else {
            Err(format!("--files {text}: this is no folder"))
        }
    }

    /// Errors: FILE ACCESS ERROR where the file is out of reach.
    pub fn check(&self, path: &Path) -> Result<()> {
        let refused =
            |says: String| Err(Error::new(Kind::FileAccess, format!("{}: {says}", named(path))));
        let folder = match self {
            Reach::All => return Ok(()),
            Reach::None => return refused("files are off (--files none)".into()),
            Reach::In(folder) => folder,
        };
        // What is not there yet is where its folder is; a link that leads nowhere is not followed
        // to be made.
        let place = fs::canonicalize(path).ok().or_else(|| {
            let above =
                path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let is_link = fs::symlink_metadata(path).is_ok();
            fs::canonicalize(above).ok().filter(|_| !is_link && path.file_name().is_some())
        });
        match place {
            Some(place) if place.starts_with(folder) => Ok(()),
            _ => refused(format!("outside {} (--files)", folder.display())),
        }
    }
}

/// Names that are offered at most.
const MOST_NAMES: usize = 200;

/// Files and folders whose names begin with a path, in order; hidden ones where a dot is typed.
/// None for what cannot be looked at.
pub fn beginning(path: &str, reach: &Reach) -> Vec<Completion> {
    let (folder, begin) = path.rfind('/').map_or(("", path), |at| path.split_at(at + 1));
    let place = Path::new(if folder.is_empty() { "." } else { folder });
    let Some(entries) = reach.check(place).ok().and_then(|()| fs::read_dir(place).ok()) else {
        return Vec::new();
    };
    let mut found: Vec<String> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let is_meant = name.starts_with(begin)
                && (!name.starts_with('.') || begin.starts_with('.'))
                && !name.contains(['\'', '"', '\n']);
            // A link to a folder is one.
            let end = if entry.path().is_dir() { "/" } else { "" };
            is_meant.then(|| format!("{folder}{name}{end}"))
        })
        .collect();
    found.sort_unstable();
    found.truncate(MOST_NAMES);
    let one = |text| Completion { text, kind: "file", says: String::new() };
    found.into_iter().map(one).collect()
}

/// A path as errors name it: of a text that was taken for one its beginning.
fn named(path: &Path) -> String {
    const MOST: usize = 160;
    let name = path.display().to_string();
    let line = name.split('\n').next().map_or("", |line| line);
    match name.chars().count() > MOST || line.len() < name.len() {
        true => format!("{}…", line.chars().take(MOST / 2).collect::<String>()),
        false => name,
    }
}

/// An io error as APL has it: no such file is FILE NAME ERROR, anything else FILE ACCESS ERROR.
pub fn failed(path: &Path, e: &std::io::Error) -> Error {
    let (kind, says) = match e.kind() {
        ErrorKind::NotFound => (Kind::FileName, missing(path)),
        ErrorKind::PermissionDenied => (Kind::FileAccess, "permission denied".into()),
        ErrorKind::IsADirectory => (Kind::FileName, "this is a folder".into()),
        _ => (Kind::FileAccess, e.to_string()),
    };
    Error::new(kind, format!("{}: {says}", named(path)))
}

/// The thing that is not there: the file, or its folder.
fn missing(path: &Path) -> String {
    match path.parent().filter(|p| !p.as_os_str().is_empty() && !p.exists()) {
        Some(folder) => format!("there is no folder {}", named(folder)),
        None => "there is no such file".into(),
    }
}

/// The error of a file that does not hold what it should.
pub(crate) fn malformed(path: &Path, says: impl std::fmt::Display) -> Error {
    Error::new(Kind::Domain, format!("{}: {says}", named(path)))
}

pub(crate) fn open(path: &Path) -> Result<fs::File> {
    let file = fs::File::open(path).map_err(|e| failed(path, &e))?;
    let about = file.metadata().map_err(|e| failed(path, &e))?;
    if about.is_dir() {
        return Err(Error::new(Kind::FileName, format!("{}: this is a folder", named(path))));
    }
    Ok(file)
}

/// Bytes of a file between two looks at the interrupt.
const PIECE: u64 = 1 << 24;

/// All bytes. Errors: FILE NAME, FILE ACCESS, INTERRUPT; WS FULL before a file is read that does
/// not fit.
pub fn read_file(path: &Path, budget: &Budget) -> Result<Vec<u8>> {
    if is_special(path) {
        return special::read(path, budget);
    }
    let mut file = open(path)?;
    let long = file.metadata().map_or(0, |m| m.len());
    let way = budget.bytes(long);
    let most = budget.free();
    let mut bytes = budget.room(usize::try_from(long).unwrap_or(usize::MAX))?;
    // What the system makes up as it is read has no length.
    loop {
        budget.check()?;
        way.done(bytes.len() as u64);
        let left = most.saturating_add(1).saturating_sub(bytes.len() as u64).min(PIECE);
        match Read::by_ref(&mut file)
            .take(left)
            .read_to_end(&mut bytes)
            .map_err(|e| failed(path, &e))?
        {
            _ if bytes.len() as u64 > most => return Err(ws_full(bytes.len() as u64, most)),
            0 => return Ok(bytes),
            _ => {}
        }
    }
}

/// The arrays of a file. Errors: as those of its format have them.
pub fn read_arrays(format: Format, path: &Path, pool: &Pool, budget: &Budget) -> Result<Arrays> {
    match format {
        Format::NumPy => read_npy(path, pool, budget),
        Format::Arrow => read_arrow(path, budget),
    }
}

/// Writes arrays; `how`: in the words of the format. Errors: as those of the format have them.
pub fn write_arrays(
    format: Format,
    path: &Path,
    arrays: &Arrays,
    how: Option<&str>,
    budget: &Budget,
    stop: &Interrupt,
) -> Result<()> {
    match format {
        Format::NumPy => write_npy(path, arrays, how, budget, stop),
        Format::Arrow => write_arrow(path, arrays, how, budget, stop),
    }
}

/// A pipe, a device, a terminal.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// Errors: FILE NAME, FILE ACCESS.
pub fn delete(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|e| failed(path, &e))
}

/// Errors: FILE NAME, FILE ACCESS, INTERRUPT.
pub fn write_file(path: &Path, bytes: &[u8], stop: &Interrupt) -> Result<()> {
    let pieces = || bytes.chunks(PIECE as usize);
    write_with(path, (stop, bytes.len() as u64), |out| pieces().try_for_each(|p| out.write_all(p)))
}

/// Behind what the file holds, which is the same file then. Errors: as `write_file`.
pub fn append_file(path: &Path, bytes: &[u8], stop: &Interrupt) -> Result<()> {
    let Some(old) = fs::metadata(path).ok().filter(|old| old.is_file()) else {
        return write_file(path, bytes, stop);
    };
    may_change(path, &old)?;
    let done = fs::OpenOptions::new().append(true).open(path).and_then(|mut file| {
        // What was written of it goes again, where it is not all.
        file.write_all(bytes).inspect_err(|_| drop(file.set_len(old.len())))
    });
    done.map_err(|e| failed(path, &e))
}

/// Errors: FILE ACCESS for a file that is there to be read, also where the folder would let it be
/// replaced.
fn may_change(path: &Path, old: &fs::Metadata) -> Result<()> {
    let opens = fs::OpenOptions::new().write(true).open(path);
    let refused = opens.as_ref().is_err_and(|e| e.kind() == ErrorKind::PermissionDenied);
    match refused || old.permissions().readonly() {
        true => Err(Error::new(
            Kind::FileAccess,
            format!("{}: this file may be read only", named(path)),
        )
        .hint("chmod u+w lets it be written")),
        false => Ok(()),
    }
}

/// Writes beside the name and renames; mode and owner stay, the owner where the system lets them.
/// What is no ordinary file (a pipe, a device) is written directly. `long`: the bytes there will
/// be; `UNKNOWN` where nobody knows. Errors: FILE NAME, FILE ACCESS, INTERRUPT.
pub(crate) fn write_with(
    path: &Path,
    (stop, long): (&Interrupt, u64),
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<()> {
    let failed = |e: std::io::Error| failed(path, &e);
    if is_special(path) {
        return special::write(path, stop, write);
    }
    let old = fs::metadata(path).ok().filter(fs::Metadata::is_file);
    if let Some(old) = &old {
        may_change(path, old)?;
    }
    // A link stays a link: what it points to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let beside = beside(&target).ok_or_else(|| malformed(path, "this is no file name"))?;
    let done = (|| {
        let file = fs::OpenOptions::new().write(true).create_new(true).open(&beside)?;
        let file = passing::Passing::new(file, stop.bytes(long)).stopped_by(stop);
        let mut out = std::io::BufWriter::with_capacity(1 << 18, file);
        write(&mut out)?;
        out.flush()?;
        if let Some(old) = &old {
            let _ = chown(&beside, Some(old.uid()), Some(old.gid()));
            fs::set_permissions(&beside, old.permissions())?;
        }
        fs::rename(&beside, &target)
    })();
    done.map_err(|e| {
        let _ = fs::remove_file(&beside);
        match stop.check() {
            Err(stopped) => stopped,
            Ok(()) => failed(e),
        }
    })
}

fn beside(path: &Path) -> Option<PathBuf> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name()?.to_string_lossy();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    Some(path.with_file_name(format!(".{name}.{}-{number}.part", std::process::id())))
}

#[cfg(test)]
mod tests;

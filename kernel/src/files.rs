//! Files: plain bytes and .npy. Every error names the file, and in a table the line, and what was expected.
//!
//! A file is written beside its name first and renamed, so a reader never sees half of it.

mod aside;
mod npy;

pub use aside::Aside;
pub use npy::{read_npy, write_npy};

use aplomb_lang::error::{Error, Kind, Result, ws_full};
use aplomb_lang::limits::Budget;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The files that a program may touch.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reach {
    #[default]
    All,
    /// Those in a folder and below, links followed.
    In(PathBuf),
    None,
}

impl Reach {
    /// `none`, or a folder. Errors: there is no such folder.
    pub fn parse(text: &str) -> Result<Reach, String> {
        if text == "none" {
            return Ok(Reach::None);
        }
        let folder = fs::canonicalize(text).map_err(|e| format!("--files {text}: {e}"))?;
        if folder.is_dir() { Ok(Reach::In(folder)) } else { Err(format!("--files {text}: this is no folder")) }
    }

    /// Errors: FILE ACCESS ERROR where the file is out of reach.
    pub fn check(&self, path: &Path) -> Result<()> {
        let refused = |says: String| Err(Error::new(Kind::FileAccess, format!("{}: {says}", path.display())));
        let folder = match self {
            Reach::All => return Ok(()),
            Reach::None => return refused("files are off (--files none)".into()),
            Reach::In(folder) => folder,
        };
        // What is not there yet is where its folder is; a link that leads nowhere is not followed to be made.
        let place = fs::canonicalize(path).ok().or_else(|| {
            let above = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let is_link = fs::symlink_metadata(path).is_ok();
            fs::canonicalize(above).ok().filter(|_| !is_link && path.file_name().is_some())
        });
        match place {
            Some(place) if place.starts_with(folder) => Ok(()),
            _ => refused(format!("outside {} (--files)", folder.display())),
        }
    }
}

/// An io error as APL has it: no such file is FILE NAME ERROR, anything else FILE ACCESS ERROR.
pub(crate) fn failed(path: &Path, e: &std::io::Error) -> Error {
    let (kind, says) = match e.kind() {
        ErrorKind::NotFound => (Kind::FileName, "there is no such file".into()),
        ErrorKind::PermissionDenied => (Kind::FileAccess, "permission denied".into()),
        ErrorKind::IsADirectory => (Kind::FileName, "this is a folder".into()),
        _ => (Kind::FileAccess, e.to_string()),
    };
    Error::new(kind, format!("{}: {says}", path.display()))
}

/// What a file holds is not what it should.
pub(crate) fn malformed(path: &Path, says: impl std::fmt::Display) -> Error {
    Error::new(Kind::Domain, format!("{}: {says}", path.display()))
}

pub(crate) fn open(path: &Path) -> Result<fs::File> {
    let file = fs::File::open(path).map_err(|e| failed(path, &e))?;
    let about = file.metadata().map_err(|e| failed(path, &e))?;
    if about.is_dir() {
        return Err(Error::new(Kind::FileName, format!("{}: this is a folder", path.display())));
    }
    Ok(file)
}

/// All bytes. Errors: FILE NAME, FILE ACCESS; WS FULL before a file is read that does not fit.
pub fn read_file(path: &Path, budget: &Budget) -> Result<Vec<u8>> {
    let mut file = open(path)?;
    let long = file.metadata().map_or(0, |m| m.len());
    let most = budget.free();
    if long > most {
        return Err(ws_full(long, most));
    }
    let mut bytes = Vec::with_capacity(long as usize);
    // A device has no length and may never end.
    Read::by_ref(&mut file).take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| failed(path, &e))?;
    if bytes.len() as u64 > most { Err(ws_full(bytes.len() as u64, most)) } else { Ok(bytes) }
}

/// Errors: FILE NAME, FILE ACCESS.
pub fn delete(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|e| failed(path, &e))
}

pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, |out| out.write_all(bytes))
}

/// Writes beside the name and renames. What is no ordinary file (a pipe, a device) is written directly.
pub(crate) fn write_with(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let failed = |e: std::io::Error| failed(path, &e);
    let old = fs::metadata(path).ok();
    if let Some(old) = &old
        && !old.is_file()
    {
        let mut out = fs::OpenOptions::new().write(true).open(path).map_err(failed)?;
        return write(&mut out).map_err(failed);
    }
    // A link stays a link: what it points to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let beside = beside(&target).ok_or_else(|| malformed(path, "this is no file name"))?;
    let done = (|| {
        let file = fs::OpenOptions::new().write(true).create_new(true).open(&beside)?;
        let mut out = std::io::BufWriter::with_capacity(1 << 18, file);
        write(&mut out)?;
        out.flush()?;
        if let Some(old) = &old {
            fs::set_permissions(&beside, old.permissions())?;
        }
        fs::rename(&beside, &target)
    })();
    done.map_err(|e| {
        let _ = fs::remove_file(&beside);
        failed(e)
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

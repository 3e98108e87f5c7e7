//! Compiled programs and what was tuned, on disk, under `$XDG_CACHE_HOME/aplomb/cuda`.
//!
//! Row: ACL-42. An entry is a file: magic, key, log, binary, each with its length, and the SHA-256
//! of all of it. Always: an entry that is not whole, or is of another key, is as none; a file
//! appears by a rename, so that processes never see half of one; folder 0700, files 0600. A disk
//! that is full or not ours to write costs nothing but the entry: the caller tells it once.

use sha2::{Digest, Sha256};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

const MAGIC: &[u8; 8] = b"APLOMBK1";
const SUM: usize = 32;
/// All entries together; the oldest go first.
const MOST: u64 = 256 << 20;

/// The facts that a program depends on beside its text.
#[derive(Clone, Debug)]
pub struct Key {
    /// The end of the file's name.
    pub kind: &'static str,
    /// Ours, NVRTC's version, architecture, options.
    pub made_by: String,
    pub text: String,
}

impl Key {
    fn whole(&self) -> String {
        format!("{}\n{}", self.made_by, self.text)
    }

    pub fn file(&self) -> String {
        let hash = Sha256::digest(self.whole());
        let digits: String = hash.iter().take(16).map(|b| format!("{b:02x}")).collect();
        format!("{digits}.{}", self.kind)
    }
}

/// SHA-256 of what is added.
#[derive(Default)]
pub struct Sum(Sha256);

impl Sum {
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn end(self) -> [u8; SUM] {
        self.0.finalize().into()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub log: String,
    pub binary: Vec<u8>,
}

/// The finding where an entry is looked for.
#[derive(Debug, PartialEq)]
pub enum Lookup {
    None,
    /// A file that is not whole, or of another key.
    Damaged,
    Whole(Entry),
}

pub struct Disk {
    folder: Option<PathBuf>,
    most: u64,
}

/// Names of files that are being written, apart from those of other processes and threads.
static WRITTEN: AtomicU32 = AtomicU32::new(0);

impl Disk {
    /// The user's cache; none where there is no home.
    pub fn of_user() -> Disk {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let base = set("XDG_CACHE_HOME")
            .filter(|p| p.is_absolute())
            .or_else(|| set("HOME").map(|h| h.join(".cache")));
        Disk { folder: base.map(|b| b.join("aplomb").join("cuda")), most: MOST }
    }

    #[cfg(test)]
    fn at(folder: &Path, most: u64) -> Disk {
        Disk { folder: Some(folder.into()), most }
    }

    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The entry of a key, if it is whole.
    pub fn get(&self, key: &Key) -> Option<Entry> {
        if let Lookup::Whole(entry) = self.lookup(key) { Some(entry) } else { None }
    }

    /// The same, where it matters whether one was there.
    pub fn lookup(&self, key: &Key) -> Lookup {
        let bytes = self.folder.as_ref().and_then(|f| fs::read(f.join(key.file())).ok());
        bytes.map_or(Lookup::None, |bytes| {
            read(&bytes, &key.whole()).map_or(Lookup::Damaged, Lookup::Whole)
        })
    }

    /// Errors: why nothing was kept.
    pub fn put(&self, key: &Key, entry: &Entry) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let passing = folder.join(format!("{}.{}.{number}.new", key.file(), std::process::id()));
        let written = write(&passing, &encode(&key.whole(), entry))
            .and_then(|()| fs::rename(&passing, folder.join(key.file())));
        if written.is_err() {
            let _ = fs::remove_file(&passing);
        }
        written?;
        self.keep_within(folder);
        Ok(())
    }

    /// An entry that turned out to be useless.
    pub fn drop(&self, key: &Key) {
        if let Some(folder) = &self.folder {
            let _ = fs::remove_file(folder.join(key.file()));
        }
    }

    /// All entries of a kind. How many there were.
    pub fn drop_all(&self, kind: &str) -> usize {
        let all = self.folder.iter().flat_map(fs::read_dir).flatten().flatten().map(|e| e.path());
        let of_kind = all.filter(|p| p.extension().is_some_and(|e| e == kind));
        of_kind.filter(|p| fs::remove_file(p).is_ok()).count()
    }

    fn keep_within(&self, folder: &Path) {
        let mut all: Vec<(SystemTime, u64, PathBuf)> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|e| {
                e.metadata().ok().and_then(|m| Some((m.modified().ok()?, m.len(), e.path())))
            })
            .collect();
        let mut bytes: u64 = all.iter().map(|e| e.1).sum();
        all.sort();
        for (_, len, path) in all {
            if bytes <= self.most {
                break;
            }
            // Another process may have been faster.
            let _ = fs::remove_file(path);
            bytes = bytes.saturating_sub(len);
        }
    }
}

fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    to.write_all(bytes)?;
    // Not synced: a half file has no right checksum, and a lost one is compiled again.
    to.flush()
}

fn encode(key: &str, entry: &Entry) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for part in [key.as_bytes(), entry.log.as_bytes(), &entry.binary] {
        out.extend((part.len() as u64).to_le_bytes());
        out.extend(part);
    }
    let sum = Sha256::digest(&out);
    out.extend(sum);
    out
}

fn read(bytes: &[u8], key: &str) -> Option<Entry> {
    let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(SUM)?)?;
    if Sha256::digest(body).as_slice() != sum {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC.as_slice())?;
    let mut part = || {
        let (len, after) = rest.split_at_checked(8)?;
        let len = usize::try_from(u64::from_le_bytes(len.try_into().ok()?)).ok()?;
        let (part, after) = after.split_at_checked(len)?;
        rest = after;
        Some(part)
    };
    let (own, log, binary) = (part()?, part()?, part()?);
    let whole = own == key.as_bytes() && rest.is_empty();
    whole.then(|| Entry { log: String::from_utf8_lossy(log).into_owned(), binary: binary.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn folder(name: &str) -> PathBuf {
        let at = std::env::temp_dir().join(format!("aplomb-cache-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&at);
        at
    }

    fn entry(k: u8) -> (Key, Entry) {
        let key = Key {
            kind: "kernel",
            made_by: "0.1.0 nvrtc 13.0 sm_90".into(),
            text: format!("kernel {k}"),
        };
        (key, Entry { log: "Used 24 registers".into(), binary: vec![k; 200 + usize::from(k)] })
    }

    #[test]
    fn what_was_put_comes_back_and_nobody_else_may_read_it() {
        let at = folder("back");
        let disk = Disk::at(&at, MOST);
        let (key, kept) = entry(7);
        assert_eq!(disk.get(&key), None);
        disk.put(&key, &kept).unwrap();
        assert_eq!(disk.get(&key), Some(kept));
        let other = Key { made_by: "0.1.0 nvrtc 13.0 sm_100".into(), ..key.clone() };
        assert_eq!(disk.get(&other), None);
        let mode = |p: &Path| fs::metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&at), mode(&at.join(key.file()))), (0o700, 0o600));
        disk.drop(&key);
        assert_eq!(disk.lookup(&key), Lookup::None);
        // Those of one kind; and what is there but no entry.
        let other = Key { kind: "tuning", ..key.clone() };
        [&key, &other].iter().for_each(|k| disk.put(k, &entry(7).1).unwrap());
        assert_eq!((disk.drop_all("tuning"), disk.drop_all("tuning")), (1, 0));
        fs::write(at.join(key.file()), "half of it").unwrap();
        assert_eq!((disk.lookup(&key), disk.lookup(&other)), (Lookup::Damaged, Lookup::None));
        fs::remove_dir_all(&at).unwrap();
    }

    /// Every byte flipped, every truncation, of 20 entries.
    #[test]
    fn a_damaged_entry_is_as_none() {
        let mut variants = 0;
        for k in 0..20 {
            let (key, kept) = entry(k);
            let whole = encode(&key.whole(), &kept);
            assert_eq!(read(&whole, &key.whole()), Some(kept.clone()));
            for at in 0..whole.len() {
                let mut bad = whole.clone();
                bad[at] ^= 1 << (at % 8);
                assert_eq!(read(&bad, &key.whole()), None, "byte {at}");
                assert_eq!(read(&whole[..at], &key.whole()), None, "cut at {at}");
                variants += 2;
            }
            // Another key's entry under this name.
            assert_eq!(read(&whole, &entry(k + 1).0.whole()), None);
        }
        assert!(variants > 10_000, "{variants}");
    }

    #[test]
    fn the_oldest_go_where_there_is_a_limit() {
        let at = folder("limit");
        let disk = Disk::at(&at, 1500);
        (0..12).for_each(|k| disk.put(&entry(k).0, &entry(k).1).unwrap());
        let bytes: u64 =
            fs::read_dir(&at).unwrap().flatten().map(|e| e.metadata().unwrap().len()).sum();
        assert!(bytes <= 1500 && bytes > 300, "{bytes}");
        fs::remove_dir_all(&at).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_is_an_error_and_no_entry() {
        let at = folder("file");
        fs::write(&at, "in the way").unwrap();
        let disk = Disk::at(&at.join("cuda"), MOST);
        let (key, kept) = entry(1);
        assert!(disk.put(&key, &kept).is_err());
        assert_eq!(disk.get(&key), None);
        fs::remove_file(&at).unwrap();
    }

    #[test]
    fn many_writers_of_the_same_keys_leave_whole_entries() {
        let at = folder("many");
        std::thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    let disk = Disk::at(&at, MOST);
                    for round in 0..60 {
                        let (key, kept) = entry(round % 10);
                        disk.put(&key, &kept).unwrap();
                        assert_eq!(disk.get(&key), Some(kept));
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(&at).unwrap().count(), 10);
        fs::remove_dir_all(&at).unwrap();
    }
}

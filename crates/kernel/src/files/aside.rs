//! The files of a run without effects: what it writes lies in a folder of its own, and is gone with
//! it.

use super::failed;
use aplomb_ground::error::Result;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf, absolute};
use std::sync::atomic::{AtomicU64, Ordering};

/// The name at which nothing is ever written.
const AWAY: &str = "gone";

/// Names as the run would have left them. Cleared when it is dropped.
#[derive(Default)]
pub struct Aside {
    folder: Option<PathBuf>,
    /// The place of each instead; none where one was deleted.
    files: BTreeMap<PathBuf, PathBuf>,
    made: usize,
}

impl Aside {
    /// The path at which a file is read.
    pub fn place(&self, path: &Path) -> PathBuf {
        let known = absolute(path).ok().and_then(|whole| self.files.get(&whole));
        known.map_or(path, PathBuf::as_path).to_path_buf()
    }

    /// The path at which a file is written instead. Errors: it could not be written under its name.
    pub fn target(&mut self, path: &Path) -> Result<PathBuf> {
        let refused = |kind: ErrorKind| failed(path, &Error::from(kind));
        let whole = absolute(path).map_err(|e| failed(path, &e))?;
        if whole.is_dir() {
            return Err(refused(ErrorKind::IsADirectory));
        }
        if !whole.parent().is_some_and(Path::is_dir) {
            return Err(refused(ErrorKind::NotFound));
        }
        self.put(path, whole)
    }

    /// The file is gone for this run. Errors: it is not there.
    pub fn delete(&mut self, path: &Path) -> Result<()> {
        let there = self.place(path);
        fs::metadata(&there).map_err(|e| failed(path, &e))?;
        let whole = absolute(path).map_err(|e| failed(path, &e))?;
        // Nothing is ever written at a new place.
        let gone = self.put(path, whole.clone())?.with_file_name(AWAY);
        self.files.insert(whole, gone);
        Ok(())
    }

    fn put(&mut self, path: &Path, whole: PathBuf) -> Result<PathBuf> {
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => self.folder.insert(own_folder().map_err(|e| failed(path, &e))?).clone(),
        };
        let known = self.files.get(&whole).filter(|p| !p.ends_with(AWAY)).cloned();
        self.made += usize::from(known.is_none());
        // The end of a name says how a file is written.
        let name = whole.file_name().map_or("".into(), |name| name.to_string_lossy());
        let at = known.unwrap_or_else(|| folder.join(format!("{} {name}", self.made)));
        self.files.insert(whole, at.clone());
        Ok(at)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Made here, and open to nobody else.
fn own_folder() -> std::io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut last = Error::from(ErrorKind::AlreadyExists);
    for _ in 0..100 {
        let name =
            format!("aplomb-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(e) => last = e,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_the_file_stays() {
        let name = std::env::temp_dir().join(format!("aplomb-aside-test-{}", std::process::id()));
        fs::write(&name, "old").unwrap();
        let mut aside = Aside::default();
        assert_eq!(aside.place(&name), name);
        let target = aside.target(&name).unwrap();
        fs::write(&target, "new").unwrap();
        assert_eq!(fs::read_to_string(aside.place(&name)).unwrap(), "new");
        assert_eq!(aside.target(&name).unwrap(), target, "one place a name");
        aside.delete(&name).unwrap();
        assert!(!aside.place(&name).exists() && aside.delete(&name).is_err());
        fs::write(aside.target(&name).unwrap(), "again").unwrap();
        assert_eq!(fs::read_to_string(aside.place(&name)).unwrap(), "again");
        drop(aside);
        assert!(!target.exists());
        assert_eq!(fs::read_to_string(&name).unwrap(), "old");
        fs::remove_file(&name).unwrap();
    }

    #[test]
    fn what_could_not_be_written_is_refused() {
        let mut aside = Aside::default();
        let says = |r: Result<PathBuf>| r.unwrap_err().parts().says.clone();
        assert!(says(aside.target(Path::new("/no/such/folder/x"))).contains("no folder /no/such"));
        assert!(says(aside.target(&std::env::temp_dir())).contains("folder"));
        assert!(aside.delete(Path::new("/no/such/file")).is_err());
    }
}

//! The file of lines typed before. A history that cannot be kept is no error.

use super::Reader;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads what there is; where lines will be kept.
pub fn load(reader: &mut Reader) -> Option<PathBuf> {
    let path = crate::front::state("history")?;
    let _ = reader.load_history(&path);
    Some(path)
}

/// Appends the new lines. The editor makes the file readable by its owner only.
pub fn save(reader: &mut Reader, path: &Path) {
    if let Some(folder) = path.parent() {
        let _ = fs::create_dir_all(folder);
    }
    let _ = reader.append_history(path);
}

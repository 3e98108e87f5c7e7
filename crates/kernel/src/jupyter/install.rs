//! The files by which Jupyter finds this program: the kernelspec, and beside it what the lab loads
//! (`lab`) and what nbconvert takes for paper (`paper`). Each folder is written aside and renamed,
//! so that nobody reads half.
//!
//! No Python is needed.

use super::{lab, paper};
use serde_json::json;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder's name, which front ends know the kernel by.
pub const NAME: &str = "aplomb";

const LOGOS: &[(&str, &[u8])] = &[
    ("logo-32x32.png", include_bytes!("logo/logo-32x32.png")),
    ("logo-64x64.png", include_bytes!("logo/logo-64x64.png")),
    ("logo-svg.svg", include_bytes!("logo/logo-svg.svg")),
];

/// For whom.
#[derive(Clone, Debug)]
pub enum Place {
    /// The user's own folder of kernels.
    User,
    /// The virtual or conda environment that is active.
    Environment,
    /// The folder of kernels below this one.
    Prefix(PathBuf),
}

impl Place {
    /// Jupyter's folder of data there. Errors: a sentence; there is no home, no environment.
    fn data(&self) -> Result<PathBuf, String> {
        let variable = |name: &str| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let data = match self {
            Place::User => match (variable("JUPYTER_DATA_DIR"), variable("HOME")) {
                (Some(data), _) => data,
                (None, Some(home)) if cfg!(target_os = "macos") => home.join("Library/Jupyter"),
                (None, Some(home)) => home.join(".local/share/jupyter"),
                (None, None) => return Err("HOME is not set; --prefix DIR says where".into()),
            },
            Place::Environment => variable("VIRTUAL_ENV")
                .or_else(|| variable("CONDA_PREFIX"))
                .ok_or("no environment is active: VIRTUAL_ENV and CONDA_PREFIX are not set")?
                .join("share/jupyter"),
            Place::Prefix(prefix) => prefix.join("share/jupyter"),
        };
        std::path::absolute(data).map_err(|e| e.to_string())
    }
}

/// A file of a folder that is written: its path there, and what it holds.
pub type Written = (&'static str, Vec<u8>);

/// Writes the kernelspec of this program and what it brings to JupyterLab and nbconvert; the
/// kernelspec's folder.
/// `options` are Aplomb's own, which the kernel is to start with. Errors: a sentence.
pub fn install(place: &Place, options: &[String]) -> Result<PathBuf, String> {
    let data = place.data()?;
    put(&data.join("labextensions").join(NAME), &lab::files())?;
    let templates = data.join("nbconvert/templates").join(NAME);
    put(&templates, &paper::files(&templates))?;
    let target = data.join("kernels").join(NAME);
    put(&target, &kernelspec(options)?)?;
    Ok(target)
}

fn kernelspec(options: &[String]) -> Result<Vec<Written>, String> {
    let program = env::current_exe().map_err(|e| format!("where this program is: {e}"))?;
    let program = program.to_str().ok_or("the program's path is not UTF-8")?;
    let own = options.iter().map(String::as_str);
    let argv: Vec<&str> = [program]
        .into_iter()
        .chain(own)
        .chain(["kernel", "start", "-f", "{connection_file}"])
        .collect();
    let spec = json!({
        "argv": argv,
        "display_name": "APL (Aplomb)",
        "language": "apl",
        "interrupt_mode": "message",
        "env": {},
        "metadata": { "debugger": false },
    });
    let logos = LOGOS.iter().map(|(name, bytes)| (*name, bytes.to_vec()));
    Ok(logos.chain([("kernel.json", format!("{spec:#}\n").into_bytes())]).collect())
}

/// A folder of these files and no others. Errors: a sentence; what was there stays.
fn put(target: &Path, files: &[Written]) -> Result<(), String> {
    let says = |at: &Path, e: std::io::Error| format!("{}: {e}", at.display());
    let aside = target.with_file_name(format!(".{NAME}-{}", std::process::id()));
    let write = |(name, bytes): &Written| {
        let at = aside.join(name);
        let folder = at.parent().unwrap_or(&aside);
        fs::create_dir_all(folder).and_then(|()| fs::write(&at, bytes)).map_err(|e| says(&at, e))
    };
    let done = files
        .iter()
        .try_for_each(write)
        .and_then(|()| replace(&aside, target).map_err(|e| says(target, e)));
    if done.is_err() {
        let _ = fs::remove_dir_all(&aside);
    }
    done
}

fn replace(new: &Path, target: &Path) -> std::io::Result<()> {
    let old = new.with_extension("old");
    match fs::rename(target, &old) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    fs::rename(new, target)?;
    let _ = fs::remove_dir_all(&old);
    Ok(())
}

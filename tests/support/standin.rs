//! CUDA's libraries as `tests/cusim` stands in for them: built once, found first by the tests that
//! ask for them.

#![allow(dead_code)]

use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const CHILD: &str = "APLOMB_ON_STANDIN";

/// The variable for the folder in which the look-alike of NVRTC keeps what it compiled. Aplomb's
/// own caches are empty in each test: they are what is tested.
pub const KEPT: &str = "CUSIM_KEPT";

fn folder_of_libraries() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join("cusim")
}

pub fn kept() -> PathBuf {
    folder_of_libraries().join("kept")
}

/// The name that the harness knows a test by: `tests/gpu/cuda.rs` is the module `cuda` of the
/// program `gpu`.
fn whole(name: &str, file: &str) -> String {
    let below = file.split('/').skip(2).collect::<Vec<_>>().join("::");
    let module = below.trim_end_matches(".rs").trim_end_matches("::mod");
    if module == "main" { name.into() } else { format!("{module}::{name}") }
}

/// The folder of the look-alikes. None: there is no g++, and the test says so.
pub fn libraries() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        crate::support::program("g++")?;
        let (root, out) = (Path::new(env!("CARGO_MANIFEST_DIR")), folder_of_libraries());
        std::fs::create_dir_all(&out).expect("a folder");
        // Test binaries run at the same time: one builds, the others wait.
        let lock = std::fs::File::create(out.join("lock")).expect("a lock");
        lock.lock().expect("the lock");
        let built = Command::new("sh")
            .arg(root.join("tests/cusim/build.sh"))
            .arg(&out)
            .output()
            .expect("a shell");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Some(out)
    };
    BUILT.get_or_init(build).as_deref()
}

/// A command that finds them, with a cache of its own.
pub fn on_standin(program: &Path, cache: &Path) -> Option<Command> {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", libraries()?).env("XDG_CACHE_HOME", cache).env(KEPT, kept());
    Some(command)
}

/// An empty folder that is gone at the end.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Runs the rest of the test `name` in a process that has the look-alikes: true there. Here the
/// other process is waited for; without g++ nothing runs. `with` is set for it. Its caller's file
/// is the module that the test stands in.
#[track_caller]
pub fn is_child(name: &str, with: &[(&str, &str)]) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let Some(libraries) = libraries().and_then(Path::to_str) else { return false };
    let all: Vec<_> =
        [("LD_LIBRARY_PATH", libraries)].into_iter().chain(with.iter().copied()).collect();
    is_child_with(name, &all)
}

/// The same under each of the stand-in's schedules; they share what is compiled.
#[track_caller]
pub fn is_child_under_all_schedules(name: &str) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let Some(libraries) = libraries().and_then(Path::to_str) else { return false };
    let cache = folder();
    for schedule in ["random", "starved", "serial"] {
        spawn(name, &[("LD_LIBRARY_PATH", libraries), ("CUSIM_SCHEDULE", schedule)], cache.path());
    }
    false
}

/// The same with nothing but `with`.
#[track_caller]
pub fn is_child_with(name: &str, with: &[(&str, &str)]) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    spawn(name, with, folder().path());
    false
}

#[track_caller]
fn spawn(name: &str, with: &[(&str, &str)], cache: &Path) {
    let name = &whole(name, Location::caller().file());
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", name, "--include-ignored", "--nocapture", "--test-threads=1"]);
    command
        .env(CHILD, "1")
        .env("XDG_CACHE_HOME", cache)
        .env(KEPT, kept())
        .envs(with.iter().copied());
    let done = command.output().expect("a process");
    let said =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    println!("{said}");
    assert!(
        done.status.success() && said.contains("1 passed"),
        "{name} failed in its own process: {with:?}"
    );
}

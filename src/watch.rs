//! `aplomb --watch FILE`: the program again, in a process of its own, whenever its file is saved.
//! Ctrl-C ends it.

use crate::front::{FAILED, USAGE, say};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Between two looks at the file.
const LOOK: Duration = Duration::from_millis(100);

/// The marks of a file that change when it is saved, in place or by a rename.
fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let about = std::fs::metadata(file).ok()?;
    Some((about.modified().ok()?, about.len()))
}

/// The exit code where there is nothing to watch; else it does not return.
pub fn run(words: &[String], file: &Path) -> i32 {
    let Some(mut seen) = stamp(file) else {
        say(&format!("aplomb: no such file: {}\n", file.display()));
        return USAGE;
    };
    // The first is Aplomb's, since it stands before the file; a later one is the program's.
    let own = words.iter().position(|w| w == "--watch");
    let rest = words.iter().enumerate().skip(1).filter(|(k, _)| Some(*k) != own).map(|(_, w)| w);
    let rest: Vec<&String> = rest.collect();
    loop {
        let ran =
            std::env::current_exe().and_then(|program| Command::new(program).args(&rest).status());
        if let Err(e) = ran {
            say(&format!("aplomb: {e}\n"));
            return FAILED;
        }
        seen = saved(file, seen);
        say(&format!("aplomb: {} was saved\n", file.display()));
    }
}

/// Waits until the file is another one than `seen`, and has stayed so for a moment: editors write
/// in steps.
fn saved(file: &Path, seen: (SystemTime, u64)) -> (SystemTime, u64) {
    let mut last = seen;
    loop {
        std::thread::sleep(LOOK);
        match stamp(file) {
            Some(now) if now != seen && now == last => return now,
            Some(now) => last = now,
            None => {}
        }
    }
}

//! Errands of the system for programs: facts of files, folders, the environment, commands.

use super::{Reach, failed};
use aplomb_ground::error::{Error, Kind, Result, domain, ws_full};
use aplomb_ground::limits::{Budget, Interrupt};
use aplomb_language::eval::host::{Answer, Errand, Facts};
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The bounds of an errand.
pub struct Bounds<'a> {
    /// The files that programs may touch.
    pub reach: &'a Reach,
    /// Whether programs may run commands.
    pub runs: bool,
    /// The memory that is left.
    pub budget: &'a Budget,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

/// The paths that an errand touches.
fn paths(errand: &Errand) -> Vec<&str> {
    match errand {
        Errand::List(path) if path.is_empty() => vec!["."],
        Errand::Facts(path)
        | Errand::List(path)
        | Errand::MakeFolder(path)
        | Errand::DeleteAll(path)
        | Errand::Part(path, ..)
        | Errand::Patch(path, ..)
        | Errand::Resize(path, _)
        | Errand::Absolute(path) => vec![path],
        Errand::Move(from, to) | Errand::Copy(from, to) => vec![from, to],
        Errand::Environment(_) | Errand::Run(_) => Vec::new(),
    }
}

/// The change that an errand makes, in words; None: nothing.
pub fn effect(errand: &Errand) -> Option<String> {
    match errand {
        Errand::MakeFolder(path) => Some(format!("make the folder {path}")),
        Errand::DeleteAll(path) => Some(format!("delete {path} and all in it")),
        Errand::Move(from, to) => Some(format!("move {from} to {to}")),
        Errand::Copy(from, to) => Some(format!("copy {from} to {to}")),
        Errand::Run(command) => Some(format!("run {command}")),
        Errand::Patch(path, ..) | Errand::Resize(path, _) => Some(format!("write {path}")),
        _ => None,
    }
}

/// Does an errand. Errors: FILE NAME, FILE ACCESS, DOMAIN for a command that is not allowed,
/// INTERRUPT, WS FULL.
pub fn run(errand: &Errand, bounds: &Bounds<'_>) -> Result<Answer> {
    for path in paths(errand) {
        // A folder that is made may have none above it yet.
        let mut place = Path::new(path);
        while matches!(errand, Errand::MakeFolder(_)) && !place.exists() {
            match place.parent().filter(|above| !above.as_os_str().is_empty()) {
                Some(above) => place = above,
                None => place = Path::new("."),
            }
        }
        bounds.reach.check(place)?;
    }
    let wrong = |path: &str| {
        let path = path.to_string();
        move |e: std::io::Error| failed(Path::new(&path), &e)
    };
    match errand {
        Errand::Facts(path) => facts(path).map(Answer::Facts),
        Errand::List(path) => {
            let place = if path.is_empty() { "." } else { path };
            let mut names = Vec::new();
            for entry in fs::read_dir(place).map_err(wrong(place))? {
                bounds.interrupt.check()?;
                let name = entry.map_err(wrong(place))?.file_name();
                names.push(name.to_string_lossy().into_owned());
            }
            names.sort_unstable();
            Ok(Answer::Names(names))
        }
        Errand::MakeFolder(path) => {
            fs::create_dir_all(path).map(|()| Answer::Done).map_err(wrong(path))
        }
        Errand::DeleteAll(path) => {
            let is_folder = fs::symlink_metadata(path).map_err(wrong(path))?.is_dir();
            let done = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            done.map(|()| Answer::Done).map_err(wrong(path))
        }
        Errand::Move(from, to) => fs::rename(from, to).map(|()| Answer::Done).map_err(wrong(from)),
        Errand::Copy(from, to) => fs::copy(from, to).map(|_| Answer::Done).map_err(wrong(from)),
        Errand::Absolute(path) => {
            let whole = fs::canonicalize(path).or_else(|_| std::path::absolute(path));
            whole.map(|p| Answer::Text(p.to_string_lossy().into_owned())).map_err(wrong(path))
        }
        Errand::Environment(name) => Ok(match std::env::var_os(name) {
            Some(value) => Answer::Text(value.to_string_lossy().into_owned()),
            None => Answer::Nothing,
        }),
        Errand::Run(_) if !bounds.runs => {
            Err(domain("programs may run no commands").hint("aplomb --allow-run FILE lets them"))
        }
        Errand::Run(command) => shell(command, bounds),
        Errand::Part(path, at, n) => {
            let mut file = fs::File::open(path).map_err(wrong(path))?;
            file.seek(SeekFrom::Start(*at)).map_err(wrong(path))?;
            let mut bytes = Vec::new();
            file.take(*n).read_to_end(&mut bytes).map_err(wrong(path))?;
            Ok(Answer::Bytes(bytes))
        }
        Errand::Patch(path, at, bytes) => {
            let mut file = fs::File::options().write(true).open(path).map_err(wrong(path))?;
            let done = file.seek(SeekFrom::Start(*at)).and_then(|_| file.write_all(bytes));
            done.map(|()| Answer::Done).map_err(wrong(path))
        }
        Errand::Resize(path, n) => {
            let file = fs::File::options().write(true).open(path).map_err(wrong(path))?;
            file.set_len(*n).map(|()| Answer::Done).map_err(wrong(path))
        }
    }
}

fn facts(path: &str) -> Result<Facts> {
    let about = fs::symlink_metadata(path).map_err(|e| failed(Path::new(path), &e))?;
    let file = about.file_type();
    let kind = match () {
        () if file.is_dir() => 1,
        () if file.is_file() => 2,
        () if file.is_char_device() => 3,
        () if file.is_symlink() => 4,
        () if file.is_block_device() => 5,
        () if file.is_fifo() => 6,
        () if file.is_socket() => 7,
        () => 0,
    };
    let changed =
        about.mtime().saturating_mul(1_000).saturating_add(about.mtime_nsec() / 1_000_000);
    Ok(Facts { kind, size: about.len(), changed, is_link: file.is_symlink() })
}

/// Between two looks at the interrupt while a command runs.
const WAIT: Duration = Duration::from_millis(5);

/// The output of a command; its errors go where the program's go. Errors: DOMAIN with its exit
/// code.
fn shell(command: &str, bounds: &Bounds<'_>) -> Result<Answer> {
    let wrong = |e: std::io::Error| Error::new(Kind::Domain, format!("{command}: {e}"));
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(wrong)?;
    let out = child.stdout.take();
    let most = bounds.budget.free();
    // Read beside, so that a command that prints much and one that waits can both be stopped.
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read =
            out.map_or(Ok(0), |out| out.take(most.saturating_add(1)).read_to_end(&mut bytes));
        read.map(|_| bytes)
    });
    let status = loop {
        if let Err(stopped) = bounds.interrupt.check() {
            let _ = child.kill();
            let _ = child.wait();
            return Err(stopped);
        }
        let is_read = reader.is_finished();
        match child.try_wait().map_err(wrong)? {
            Some(status) if is_read => break status,
            _ => std::thread::sleep(WAIT),
        }
    };
    let bytes = reader.join().map_err(|_| domain(format!("{command}: what it printed is lost")))?;
    let bytes = bytes.map_err(wrong)?;
    if bytes.len() as u64 > most {
        return Err(ws_full(bytes.len() as u64, most));
    }
    match status.success() {
        true => Ok(Answer::Text(String::from_utf8_lossy(&bytes).into_owned())),
        false => Err(domain(format!("{command}: {status}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(errand: Errand, reach: &Reach, runs: bool) -> Result<Answer> {
        let (budget, interrupt) = (Budget::new(1 << 30), Interrupt::default());
        run(&errand, &Bounds { reach, runs, budget: &budget, interrupt: &interrupt })
    }

    #[test]
    fn folders_are_made_listed_moved_and_deleted() {
        let place = std::env::temp_dir().join(format!("aplomb-errands-{}", std::process::id()));
        let at = |name: &str| place.join(name).to_string_lossy().into_owned();
        let all = |e| done(e, &Reach::All, false).unwrap();
        all(Errand::MakeFolder(at("a/b")));
        fs::write(at("a/x"), "12345").unwrap();
        assert_eq!(all(Errand::List(at("a"))), Answer::Names(vec!["b".into(), "x".into()]));
        let Answer::Facts(of) = all(Errand::Facts(at("a/x"))) else { panic!("no facts") };
        assert_eq!((of.kind, of.size), (2, 5));
        all(Errand::Copy(at("a/x"), at("a/y")));
        all(Errand::Move(at("a/y"), at("a/b/z")));
        assert_eq!(all(Errand::List(at("a/b"))), Answer::Names(vec!["z".into()]));
        let inside = Reach::In(fs::canonicalize(at("a")).unwrap());
        assert!(done(Errand::List(at("")), &inside, false).is_err());
        assert!(done(Errand::MakeFolder(at("c/d")), &inside, false).is_err());
        assert!(done(Errand::MakeFolder(at("a/c/d")), &inside, false).is_ok());
        all(Errand::DeleteAll(at("")));
        assert!(!place.exists());
    }

    #[test]
    fn a_command_runs_only_where_it_is_allowed() {
        let one = |runs| done(Errand::Run("echo one; echo two".into()), &Reach::All, runs);
        assert!(one(false).is_err_and(|e| e.parts().says.contains("may run no commands")));
        assert_eq!(one(true).unwrap(), Answer::Text("one\ntwo\n".into()));
        let failed = done(Errand::Run("exit 3".into()), &Reach::All, true);
        assert!(failed.is_err_and(|e| e.parts().says.contains('3')));
    }
}

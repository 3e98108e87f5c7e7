//! `aplomb export` as a process: what is written, and what is said where nothing can be.

use assert_cmd::Command;
use std::fs;
use std::path::Path;

/// Runs `aplomb export --python` in a folder: exit code, standard output, standard error.
fn export(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("aplomb").unwrap();
    let out =
        command.current_dir(folder).args(["export", "--python"]).args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "⎕←'not shown'\nf←{⍺+⍵}\ng←{0<⍵[1]:1 ⋄ ⍵}\nx←3\n";
    fs::write(folder.path().join("p-q.apl"), text).unwrap();
    fs::write(folder.path().join("bad.apl"), "x←1 2+1 2 3\n").unwrap();
    folder
}

#[test]
fn a_module_is_printed_or_written_whole() {
    let folder = folder();
    let (code, printed, said) = export(folder.path(), &["p-q.apl", "f", "f64[n] f64[n]"]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert!(
        printed.starts_with("\"\"\"Functions of p-q.apl") && printed.contains("def f(xp, a, b)")
    );
    assert!(!printed.contains("not shown"));
    let words = ["p-q.apl", "-o", "a/b", "f", "f64[n] f64[n]"];
    let (code, said, _) = export(folder.path(), &words);
    assert_eq!((code, said.as_str()), (0, "a/b/p_q.py\n"));
    assert_eq!(fs::read_to_string(folder.path().join("a/b/p_q.py")).unwrap(), printed);
    assert_eq!(fs::read_dir(folder.path().join("a/b")).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_is_said_and_nothing_is_written() {
    let folder = folder();
    fs::write(folder.path().join("file"), "").unwrap();
    for (words, code, says) in [
        (&["none.apl", "f", "f64"][..], 2, "no such file: none.apl"),
        (&["p-q.apl", "f"], 2, "f needs a declaration behind it"),
        (&["p-q.apl", "f", "f65[n]"], 2, "f65 is no type"),
        (&["p-q.apl"], 2, "required"),
        (&["bad.apl", "f", "f64"], 1, "LENGTH ERROR"),
        (&["p-q.apl", "h", "f64"], 1, "there is no function h"),
        (&["p-q.apl", "x", "f64"], 1, "x is no function"),
        (&["p-q.apl", "f", "f64[n] f64[m]"], 1, "LENGTH ERROR"),
        (&["p-q.apl", "g", "f64[n]"], 1, "g cannot be exported: what it does hangs on values"),
        (&["p-q.apl", "-o", "file/in", "f", "f64 f64"], 1, "file/in/p_q.py: "),
    ] {
        let (found, printed, said) = export(folder.path(), words);
        assert!(said.contains(says), "{words:?}: {said}");
        assert_eq!((found, printed.as_str()), (code, ""), "{words:?}: {said}");
    }
    let (code, _, said) = export(folder.path(), &["p-q.apl", "-o", "out", "g", "f64[n]"]);
    assert!(code == 1 && !folder.path().join("out").exists(), "{said}");
    // The place in the program is told.
    assert!(said.contains("p-q.apl:3"), "{said}");
}

#[test]
fn a_language_is_needed() {
    let folder = folder();
    let mut command = Command::cargo_bin("aplomb").unwrap();
    let words = ["export", "p-q.apl", "f", "f64 f64"];
    let out = command.current_dir(folder.path()).args(words).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8(out.stderr).unwrap().contains("--python"));
}

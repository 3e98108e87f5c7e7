//! Workspaces in files, and what programs ask of the system around them.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const APLOMB: &str = env!("CARGO_BIN_EXE_aplomb");

/// Standard output, standard error, exit code of the program in a folder with lines from a pipe.
fn ran(folder: &Path, options: &[&str], typed: &str) -> (String, String, i32) {
    let mut child = Command::new(APLOMB)
        .args(options)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("aplomb");
    child.stdin.take().expect("input").write_all(typed.as_bytes()).expect("typed");
    let out = child.wait_with_output().expect("its end");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (text(out.stdout), text(out.stderr), out.status.code().unwrap_or(-1))
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn what_was_saved_is_there_after_a_load() {
    let here = folder();
    let first = "x←1 2 3\nf←{⍵+≢x}\nn←(a:5 ⋄ b:'two')\ns←⊃'f32'⎕AS÷⍳3\n⎕IO←0\n)save prices\n";
    let (out, err, code) = ran(here.path(), &[], first);
    assert_eq!((out.as_str(), err.as_str(), code), ("prices.apw saved\n", "", 0));
    let again =
        ")load prices\n)wsid\nf 10\nn.b\n⎕DR s\n⍳2\n)clear\n⍳2\n)copy prices f x\nf 1\n⎕NC'n'\n";
    let (out, _, code) = ran(here.path(), &[], again);
    let wanted = "prices.apw loaded\nprices.apw\n13\ntwo\n325\n0 1\n1 2\n4\n0\n";
    assert_eq!((out.as_str(), code), (wanted, 0));
}

#[test]
fn another_workspace_is_replaced_only_when_that_is_asked() {
    let here = folder();
    ran(here.path(), &[], "x←1\n)save a\n");
    let (_, err, code) = ran(here.path(), &[], "x←2\n)save a\n");
    assert!(err.contains("FILE NAME ERROR") && err.contains("-force"), "{err}");
    assert_eq!(code, 1);
    assert_eq!(ran(here.path(), &[], ")load a\nx\n").0, "a.apw loaded\n1\n");
    ran(here.path(), &[], "x←2\n)save a -force\nx←3\n)save\n");
    assert_eq!(ran(here.path(), &[], ")load a\nx\n").0, "a.apw loaded\n3\n");
    let names: Vec<_> = fs::read_dir(here.path()).expect("names").collect();
    assert_eq!(names.len(), 1, "nothing is left beside it");
}

#[test]
fn a_workspace_cut_anywhere_leaves_the_one_that_is_there() {
    let here = folder();
    ran(here.path(), &[], "x←1 2 3 ⋄ f←{⍵+1}\n)save a\n");
    let whole = fs::read(here.path().join("a.apw")).expect("a workspace");
    for n in (0..whole.len()).step_by(7) {
        fs::write(here.path().join("cut.apw"), &whole[..n]).expect("a part");
        let (out, err, _) = ran(here.path(), &[], "kept←7\n)load cut\nkept\n)copy cut\nkept\n");
        assert_eq!(out, "7\n7\n", "cut at {n}");
        assert_eq!(err.matches("DOMAIN ERROR").count(), 2, "cut at {n}: {err}");
    }
}

#[test]
fn a_program_comes_from_standard_input() {
    let here = folder();
    let (out, _, code) =
        ran(here.path(), &["run", "-", "one", "--two"], "⎕←≢⎕ARG\n⎕←⎕SCRIPT\n{⎕OFF 3}0\n");
    assert_eq!((out.as_str(), code), ("2\n-\n", 3));
}

#[test]
fn a_program_leaves_from_anywhere() {
    let here = folder();
    for (line, code) in [
        ("{⎕OFF}0", 0),
        ("f←{⍵=0:⎕OFF 4 ⋄ ∇⍵-1} ⋄ f 5", 4),
        ("{0::⎕OFF 5 ⋄ ÷⍵}0", 5),
        ("∇r←g x\n⎕OFF 6\n∇\ng 1", 6),
        ("{⎕OFF 7}¨⍳3", 7),
    ] {
        assert_eq!(
            ran(here.path(), &[], &format!("{line}\n⎕←'later'\n")),
            (String::new(), String::new(), code),
            "{line}"
        );
    }
}

#[test]
fn the_system_is_asked_and_commands_run_only_where_they_may() {
    let here = folder();
    let typed = "2⎕MKDIR'a/b'\n_←'x'⎕NPUT'a/f.txt'\n0(⎕NINFO⍠1)'a/*'\n\
                 1⎕NINFO'a'\n3⎕NDELETE'a'\n⎕NEXISTS'a'\n";
    let (out, err, _) = ran(here.path(), &[], typed);
    assert_eq!(out, "1\n a/b  a/f.txt \n1\n0\n", "{err}");
    let (out, err, code) = ran(here.path(), &[], "⎕SH'echo one; echo two'\n");
    assert!(out.is_empty() && err.contains("--allow-run") && code == 1, "{out} {err}");
    let (out, _, _) = ran(here.path(), &["--allow-run"], "⎕SH'echo one; echo two'\n");
    assert_eq!(out, " one  two \n");
    let (out, err, code) = ran(here.path(), &["--files", "none"], "⎕MKDIR'a'\n⎕NINFO'a'\n");
    assert!(out.is_empty() && code == 1, "{out}");
    assert_eq!(err.matches("FILE ACCESS ERROR").count(), 2, "{err}");
}

#[test]
fn a_folder_is_a_namespace_of_its_files() {
    let here = folder();
    let at = |name: &str, text: &str| fs::write(here.path().join(name), text).expect("a file");
    fs::create_dir_all(here.path().join("lib/deep")).expect("folders");
    at("lib/mean.aplf", "r←mean x\nr←(+/x)÷≢x\n");
    at("lib/double.aplf", "double←{⍵×2}\n");
    at("lib/table.apla", "(1 2 ⋄ 3 4)\n");
    at("lib/more.apl", "k←10\nadd←{⍵+k}\n");
    at("lib/notes.txt", "no source\n");
    at("lib/deep/inner.apl", "up←⎕IMPORT'../more.apl'\nf←{up.add ⍵}\n");
    at(
        "main.apl",
        "l←⎕IMPORT'lib'\nl.mean 1 2 6\nl.double 4\nl.table\nl.more.add 1\nl.deep.inner.f 5\n\
        l.more.k←100\nl.deep.inner.f 5\nl.⎕NL ¯9\n",
    );
    let (out, err, _) = ran(here.path(), &["main.apl"], "");
    assert_eq!(out, "3\n8\n 1 2  3 4 \n11\n15\n105\n deep  more \n", "{err}");
    at("one.apl", "⎕IMPORT'two.apl'\n");
    at("two.apl", "⎕IMPORT'one.apl'\n");
    let (_, err, code) = ran(here.path(), &[], "⎕IMPORT'one.apl'\n");
    assert!(err.contains("one.apl → two.apl → one.apl") && code == 1, "{err}");
}

#[test]
fn a_script_loads_what_lies_beside_it() {
    let here = folder();
    fs::create_dir_all(here.path().join("lib")).expect("a folder");
    let at = |name: &str, text: &str| fs::write(here.path().join(name), text).expect("a file");
    at("lib/main.apl", "]load other.apl\nf 1\n");
    at("lib/other.apl", "]load third.apl\nf←{k+⍵}\n");
    at("lib/third.apl", "k←10\n");
    assert_eq!(ran(here.path(), &["lib/main.apl"], "").0, "11\n");
    at("self.apl", "]load self.apl\n");
    let (_, err, code) = ran(here.path(), &["self.apl"], "");
    assert!(err.contains("LIMIT ERROR") && code == 1, "{err}");
}

#[test]
fn check_tells_what_never_runs_and_what_nobody_sets() {
    let here = folder();
    let text = "f←{\n  ⍵+1\n  ⍵+2\n}\nf zz\n";
    fs::write(here.path().join("p.apl"), text).expect("a program");
    let (out, err, code) = ran(here.path(), &["check", "p.apl"], "");
    assert_eq!((out.as_str(), code), ("", 0));
    let wanted = "p.apl:3:3: this never runs: the statement before it ends the dfn\n\
                  p.apl:5:3: nobody sets zz\n";
    assert_eq!(err, wanted);
}

/// ⎕LX runs where a workspace is loaded; `)pcopy` leaves what is there.
#[test]
fn a_loaded_workspace_runs_its_latent_expression_and_copies_may_be_careful() {
    let here = folder();
    let saved = "x←1\ny←2\n⎕LX←'''loaded as '',⎕WSID'\n)save b\n";
    assert_eq!(ran(here.path(), &[], saved).2, 0);
    assert_eq!(ran(here.path(), &[], ")load b\n").0, "b.apw loaded\nloaded as b.apw\n");
    let careful = "x←9\n)pcopy b\nx y\n)copy b\nx y\n)lib\n";
    assert_eq!(ran(here.path(), &[], careful).0, "9 2\n1 2\nb\n");
}

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

/// Runs `aplomb export` in a folder: exit code, standard output, standard error.
fn written(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("aplomb").unwrap();
    let out = command.current_dir(folder).arg("export").args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

/// The names of the files of a folder.
fn names(folder: &Path) -> Vec<String> {
    let all = fs::read_dir(folder).unwrap().flatten();
    let mut all: Vec<String> = all.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    all.sort();
    all
}

#[test]
fn c_and_cuda_are_files_of_a_folder() {
    let folder = folder();
    let words = ["p-q.apl", "-o", "a/b", "f", "f64[n] f64[n]"];
    let (code, said, _) = written(folder.path(), &[&["--c"][..], &words].concat());
    assert_eq!((code, said.as_str()), (0, "a/b/p_q.h\na/b/p_q.c\n"));
    assert_eq!(names(&folder.path().join("a/b")), ["p_q.c", "p_q.h"]);
    let text = fs::read_to_string(folder.path().join("a/b/p_q.c")).unwrap();
    // The source, its place and what may fail stand in the text.
    assert!(text.contains("// “f←{⍺+⍵}”") && text.contains("p-q.apl"), "{text}");
    let words = ["p-q.apl", "-o", "cuda", "f", "f64[n] f64[n]"];
    let (code, said, _) = written(folder.path(), &words);
    assert!(code == 0 && said.starts_with("cuda/p_q.cuh\ncuda/p_q.cu\ncuda/CMakeLists.txt\n"));
    let text = fs::read_to_string(folder.path().join("cuda/p_q.cuh")).unwrap();
    let declared = "void f(const gpu_double_array& a, const gpu_double_array& b, \
                    gpu_double_array_view result, cudaStream_t stream = 0);";
    assert!(text.contains(declared), "{text}");
}

#[test]
fn files_that_cannot_be_written_leave_what_was_there() {
    let folder = folder();
    let words = ["--c", "p-q.apl", "-o", "out", "f", "f64[n] f64[n]"];
    assert_eq!(written(folder.path(), &words).0, 0);
    let out = folder.path().join("out");
    fs::write(out.join("p_q.h"), "mine").unwrap();
    // The second file cannot be: a folder stands there.
    fs::remove_file(out.join("p_q.c")).unwrap();
    fs::create_dir(out.join("p_q.c")).unwrap();
    fs::write(out.join("p_q.c/full"), "").unwrap();
    let (code, said, error) = written(folder.path(), &words);
    assert!(code == 1 && said.is_empty() && error.contains("out/p_q.c: "), "{said}{error}");
    assert_eq!(fs::read_to_string(out.join("p_q.h")).unwrap(), "mine");
    assert_eq!(names(&out), ["p_q.c", "p_q.h"]);
    for (words, says) in [
        (&["--c", "p-q.apl", "-o", "new", "g", "f64[n]"][..], "g cannot be exported"),
        (&["p-q.apl", "-o", "new", "h", "f64[n]"], "there is no function h"),
        (&["--c", "bad.apl", "-o", "new", "f", "f64"], "LENGTH ERROR"),
        (&["p-q.apl", "-o", "p-q.apl/in", "f", "f64 f64"], "p-q.apl/in/p_q.cuh: "),
    ] {
        let (code, said, error) = written(folder.path(), words);
        assert!(code == 1 && said.is_empty() && error.contains(says), "{words:?}: {error}");
        assert!(!folder.path().join("new").exists(), "{words:?}");
    }
}

#[test]
fn a_folder_is_needed_for_files() {
    let folder = folder();
    for words in [&["p-q.apl", "f", "f64 f64"][..], &["--c", "p-q.apl", "f", "f64 f64"]] {
        let (code, _, error) = written(folder.path(), words);
        assert!(code == 2 && error.contains("-o says which folder"), "{error}");
    }
    let both = ["--c", "--python", "p-q.apl", "f", "f64"];
    assert_eq!(written(folder.path(), &both).0, 2);
}

/// The head of the only function that C was written for.
fn head(folder: &Path, name: &str, takes: &str) -> String {
    let (code, said, error) = written(folder, &["--c", "-o", "out", "e.apl", name, takes]);
    assert_eq!(code, 0, "{takes}: {said}{error}");
    let text = fs::read_to_string(folder.join("out/e.h")).unwrap();
    let all = text.lines().filter(|l| l.starts_with("//   ") && !l.contains("result"));
    let all = all.map(|l| l.trim_start_matches("//   ").trim_end());
    all.collect::<Vec<_>>().join(", ")
}

#[test]
fn an_example_call_tells_types_ranks_and_free_extents() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "add←{⍺+⍵}\nmm←+.×\nturned←{⍵+⍉⍵}\nwindow←{⍺+.×3↑⍵}\nof3←{(a b c)←⍵ ⋄ a+b×c}\n\
                pair←{(x y)←⍵ ⋄ x+y}\nv←1.5×⍳4\n";
    fs::write(folder.path().join("e.apl"), text).unwrap();
    for (name, takes, wanted) in [
        ("add", "1.5 2 add 3 4.5", "a: double [n], b: double [n]"),
        ("add", "1.5 add 2 3⍴⍳6", "a: double, b: int32_t [n][m]"),
        ("add", "1 0 1 add v[⍳3]", "a: uint8_t [n], b: double [n]"),
        ("add", "1 add ('f32'⎕AS v)", "a: int32_t, b: float [n]"),
        ("add", "⍬ add ⍬", "a: double [n], b: double [n]"),
        ("add", "(,1.5) add v", "a: double [1], b: double [n]"),
        ("add", "(2 2⍴v) add 2 2⍴v", "a: double [n][m], b: double [n][m]"),
        ("add", "3 ⊢ 2 add v", "a: int32_t, b: double [n]"),
        ("mm", "(2 2⍴v) mm 2 2⍴v", "a: double [n][m], b: double [m][k_]"),
        ("turned", "turned 2 2⍴v", "a: double [n][n]"),
        ("window", "(3⍴0.5) window v", "a: double [3], b: double [n]"),
        ("of3", "of3 1.5 2 3", "a: double [3]"),
        ("pair", "pair (1.5 2) (3 4)", "a: double [n], b: int32_t [n]"),
    ] {
        assert_eq!(head(folder.path(), name, takes), wanted, "{takes}");
    }
    for (name, takes, code, says, place) in [
        ("add", "3+4", 2, "3+4”: 3 is no type; an example would call add", ""),
        ("add", "⊢add", 1, "the example does not call add", "export:1:1"),
        ("add", "'abc' add 1", 1, "does not take characters", "export:1:1"),
        ("add", "0J1 add 1", 1, "does not take numbers that are not real", "export:1:1"),
        ("add", "1 2 add 3 4 5", 1, "LENGTH ERROR", "e.apl:1:"),
        ("add", "(1÷0) add 3", 1, "DOMAIN ERROR", "export:1:3"),
        ("add", "1 add)", 1, "SYNTAX ERROR", "export:1:6"),
        ("v", "v 3", 1, "v is no function", "export:1:1"),
        ("nix", "nix 3", 1, "there is no function nix", "export:1:1"),
    ] {
        let words = ["--c", "-o", "none", "e.apl", name, takes];
        let (found, said, error) = written(folder.path(), &words);
        assert!(found == code && said.is_empty(), "{takes}: {found} {said}{error}");
        assert!(error.contains(says) && error.contains(place), "{takes}: {error}");
        assert!(!folder.path().join("none").exists(), "{takes}");
    }
    for words in [&["--python"][..], &["-o", "cuda"]] {
        let all = [words, &["e.apl", "add", "1.5 add v"]].concat();
        assert_eq!(written(folder.path(), &all).0, 0, "{words:?}");
    }
}

#[test]
fn a_refusal_names_line_and_column() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "f←{\n  x←⍵+1\n  x⊣⎕←2\n}\ng←{⍵+?10}\nh←{(⍵>0)/⍵}\nk←{⍵*÷(≢⍵)*0.5}\n";
    fs::write(folder.path().join("p.apl"), text).unwrap();
    for (name, place) in
        [("f", "p.apl:3:5"), ("g", "p.apl:5:6"), ("h", "p.apl:6:9"), ("k", "p.apl:7:3")]
    {
        for words in [&["--python"][..], &["--c", "-o", "c"], &["-o", "cuda"]] {
            let all = [words, &["p.apl", name, "f64[n]"]].concat();
            let (code, _, error) = written(folder.path(), &all);
            assert!(code == 1 && error.contains(place), "{name}: {error}");
        }
    }
}

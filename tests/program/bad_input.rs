//! The examples with files that are missing or broken, and with folders that cannot be written: an
//! error that names the file, and nothing half written.

use assert_cmd::Command;
use std::fs;
use std::path::Path;

/// A folder with the examples and their data.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for part in ["examples", "examples/data", "examples/pictures", "examples/seeds"] {
        fs::create_dir_all(folder.path().join(part)).unwrap();
        for file in fs::read_dir(root.join(part)).unwrap().flatten().filter(|f| f.path().is_file())
        {
            fs::copy(file.path(), folder.path().join(part).join(file.file_name())).unwrap();
        }
    }
    folder
}

/// Runs an example there: exit code and standard error.
fn run(folder: &Path, words: &[&str]) -> (i32, String) {
    let mut command = Command::cargo_bin("aplomb").unwrap();
    let out = command.current_dir(folder).arg("run").args(words).output().unwrap();
    (out.status.code().unwrap(), String::from_utf8(out.stderr).unwrap())
}

/// An example, a file of it, what stands in the file (None: it is missing), and what is said.
const CASES: &[(&str, &str, Option<&[u8]>, &str)] = &[
    ("blackscholes", "options.csv", None, "there is no such file"),
    ("blackscholes", "options.csv", Some(b""), "a header row was expected, nothing is there"),
    ("blackscholes", "options.csv", Some(b"a,b,c\n1,2,3\n4\n"), "line 3: 3 fields were expected"),
    ("blackscholes", "options.csv", Some(b"a,b,c\n1,x,3\n"), "line 2, column 2: a number was"),
    ("blackscholes", "options.csv", Some(b"\x80\x81\x82"), "is no UTF-8 text"),
    ("blackscholes", "spot.npy", None, "there is no such file"),
    ("blackscholes", "spot.npy", Some(b"hello\n"), "this is no .npy file"),
    ("weather", "weather.csv", None, "there is no such file"),
    ("weather", "weather.csv", Some(b"a;b;c;d\n"), "4 column types were given"),
    ("words", "alice.txt", None, "there is no such file"),
    ("words", "alice.txt", Some(b"\x80\x81\x82"), "is no UTF-8 text"),
    ("justify", "alice.txt", None, "there is no such file"),
];

#[test]
fn a_missing_or_broken_file_of_an_example_is_named() {
    for (example, file, holds, says) in CASES {
        let folder = folder();
        let path = folder.path().join("examples/data").join(file);
        match holds {
            Some(bytes) => fs::write(&path, bytes).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let (code, said) = run(folder.path(), &[&format!("examples/{example}.apl")]);
        assert_eq!(code, 1, "{example} {file}: {said}");
        assert!(said.contains(file) && said.contains(says), "{example} {file}: {said}");
        assert!(!said.contains("INTERNAL"), "{said}");
    }
}

/// A file that ends before its items do.
#[test]
fn a_file_that_is_cut_says_what_it_announced() {
    let folder = folder();
    let path = folder.path().join("examples/data/spot.npy");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..200]).unwrap();
    let (code, said) = run(folder.path(), &["examples/blackscholes.apl"]);
    assert!(code == 1 && said.contains("spot.npy: 800000 bytes of items are announced"), "{said}");
}

#[test]
fn a_picture_that_cannot_be_written_says_where() {
    let folder = folder();
    for picture in ["corners", "motion", "smoke"] {
        let file = format!("examples/pictures/{picture}.apl");
        let (code, said) = run(folder.path(), &[&file, "not/there"]);
        assert!(code == 1 && said.contains("there is no folder not/there"), "{said}");
        assert!(!folder.path().join("not").exists());
    }
    // The program that a picture is of.
    fs::remove_file(folder.path().join("examples/seeds/acl-corners.apl")).unwrap();
    let (code, said) = run(folder.path(), &["examples/pictures/corners.apl", "."]);
    assert!(code == 1 && said.contains("acl-corners.apl: there is no such file"), "{said}");
    assert!(!folder.path().join("corners.png").exists());
}

//! A reproducer builds and runs by itself: here with g++, over the stand-in for CUDA's libraries.

#[path = "support/standin.rs"]
mod standin;
mod support;

use std::path::Path;
use std::process::Command;

const CASES: &[(&str, &str)] = &[
    ("k0", "2×1+⌽⍳300"),
    ("k0", "+/(*0.001×⍳700)×⌽0.5×⍳700"),
    ("k1", "V÷+/V←0.25×⍳90"),
    ("k0", "+/3 40⍴⍳50"),
    ("k0", "1↓'abcdef'=⌽'fedcba'"),
    ("k1", "⍋3000⍴3 1 2"),
    ("k0", "{x←⍵ ⋄ x[1+3|⍳1500]+←⍳1500 ⋄ x}⍳1500"),
];

/// Runs the program that a launch became.
fn ran(dir: &Path, launch: &str) -> (Option<i32>, String) {
    let libraries = standin::libraries().expect("the stand-in");
    let (source, program) = (dir.join(format!("{launch}.cu")), dir.join("program"));
    let built = Command::new("g++")
        .args(["-x", "c++", "-std=c++17", "-w", "-include", "device.h", "-I"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/repro"))
        .arg(&source)
        .args(["-x", "none", "-o"])
        .arg(&program)
        .arg(libraries.join("libcuda.so.1"))
        .arg(libraries.join("libnvrtc.so.13"))
        .output()
        .expect("g++");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let done = Command::new(&program).env("LD_LIBRARY_PATH", libraries).output().expect("the program");
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    (done.status.code(), said)
}

fn written(dir: &Path, launch: &str, line: &str) {
    let made = Command::new(env!("CARGO_BIN_EXE_aplomb"))
        .args(["repro", launch, "-e", line, "-o"])
        .arg(dir)
        .output()
        .expect("aplomb");
    assert!(made.status.success(), "{line}: {}", String::from_utf8_lossy(&made.stderr));
}

#[test]
fn a_reproducer_gives_what_the_cpu_gives() {
    if standin::libraries().is_none() {
        return;
    }
    for (launch, line) in CASES {
        let dir = standin::folder();
        written(dir.path(), launch, line);
        assert_eq!(ran(dir.path(), launch), (Some(0), "as the CPU\n".into()), "{line}");
    }
}

#[test]
fn it_notices_another_value() {
    if standin::libraries().is_none() {
        return;
    }
    let dir = standin::folder();
    written(dir.path(), "k0", "2×1+⌽⍳300");
    let file = dir.path().join("k0.cu");
    let text = std::fs::read_to_string(&file).expect("a program");
    let changed = text.replacen(" * ", " + ", 1).replacen("v1 = ", "v1 = 1.0 + ", 1);
    std::fs::write(&file, changed).expect("written");
    let (code, said) = ran(dir.path(), "k0");
    assert!(code == Some(1) && said.contains("r0[0] is") && said.contains("NOT as the CPU"), "{said}");
}

#[test]
fn a_launch_that_is_not_there_is_a_sentence() {
    let dir = standin::folder();
    let made = Command::new(env!("CARGO_BIN_EXE_aplomb"))
        .args(["repro", "k7", "-e", "2×1+⍳300", "-o"])
        .arg(dir.path())
        .output()
        .expect("aplomb");
    assert_eq!(made.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&made.stderr).contains("the line has 1 launches"), "{made:?}");
}

//! The walls of the house, held as a test: who may name what, and how long a file may be.

use std::fs;
use std::path::{Path, PathBuf};

fn rust_files(dir: &str) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut stack = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(dir)];
    while let Some(at) = stack.pop() {
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                stack.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    assert!(!out.is_empty(), "no Rust files in {dir}");
    out.sort();
    out
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

const ALL: &[&str] = &["lang/src", "kernel/src", "viz/src", "src"];

#[test]
fn no_file_is_over_800_lines_and_each_says_what_it_is() {
    for path in ALL.iter().chain(&["tests", "lang/tests", "viz/tests", "kernel/benches"]).flat_map(|d| rust_files(d)) {
        let text = text(&path);
        assert!(text.lines().count() <= 800, "{}: {} lines", path.display(), text.lines().count());
        assert!(text.starts_with("//!"), "{} does not open with //!", path.display());
    }
}

/// Words that only one place may use.
const WALLS: &[(&str, &[&str])] = &[
    ("rustyline::", &["src/repl"]),
    ("graphviz_rust::", &["viz/src"]),
    ("ratatui::", &["viz/src/panes"]),
    ("crossterm::", &["viz/src/panes"]),
    ("ariadne::", &["lang/src/report.rs"]),
    ("chumsky::", &["lang/src/syntax"]),
    ("aplomb_kernel::", &["src"]),
    ("aplomb_viz::", &["src"]),
    ("std::arch", &["kernel/src/device"]),
    ("libc::", &["kernel/src"]),
    ("npyz::", &["kernel/src/files"]),
    ("zmq::", &["kernel/src/jupyter/sockets.rs"]),
    ("std::net", &["kernel/src/jupyter"]),
    ("jupyter_protocol::", &["kernel/src/jupyter"]),
    ("hmac::", &["kernel/src/jupyter/wire.rs"]),
    ("sha2::", &["kernel/src/jupyter/wire.rs", "kernel/src/device/cuda/cache.rs"]),
    ("cudarc::", &["kernel/src/device/cuda"]),
    ("chrono::", &["kernel/src/jupyter/wire.rs"]),
    ("base64::", &["viz/src/svg.rs"]),
    ("num_complex::", &["lang/src/array", "lang/src/prim"]),
    ("::regex::", &["lang/src/eval/system"]),
];

#[test]
fn each_library_is_named_in_its_room_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for path in ALL.iter().flat_map(|d| rust_files(d)) {
        let text = text(&path);
        for (word, homes) in WALLS {
            let home = homes.iter().any(|h| path.starts_with(root.join(h)));
            assert!(home || !text.contains(word), "{} names {word}", path.display());
        }
    }
}

#[test]
fn lang_has_no_effects_and_only_kernel_is_unsafe() {
    for path in rust_files("lang/src").into_iter().filter(|p| !is_test(p)) {
        let text = text(&path);
        for word in ["std::fs", "std::thread", "std::env", "std::time", "std::net", "std::process"] {
            assert!(!text.contains(word), "{} uses {word}", path.display());
        }
    }
    for root in ["lang/src/lib.rs", "viz/src/lib.rs", "src/lib.rs"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
        assert!(text(&path).contains("#![forbid(unsafe_code)]"), "{root}");
    }
}

fn is_test(path: &Path) -> bool {
    path.components().any(|c| c.as_os_str() == "tests") || path.ends_with("tests.rs")
}

/// Code before a file's tests.
fn shipped(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

#[test]
fn nothing_shipped_may_panic_on_purpose() {
    for path in ["lang/src", "kernel/src", "viz/src", "src"].iter().flat_map(|d| rust_files(d)) {
        if is_test(&path) {
            continue;
        }
        let text = text(&path);
        for word in [".unwrap()", ".expect(", "panic!(", "todo!(", "unimplemented!(", "dbg!(", "TODO", "FIXME"] {
            let found = shipped(&text).lines().find(|l| l.contains(word) && !l.trim_start().starts_with("//"));
            assert!(found.is_none(), "{}: {word} in {found:?}", path.display());
        }
    }
}

#[test]
fn every_unsafe_block_says_why_it_is_safe() {
    let mut count = 0;
    for path in rust_files("kernel/src").into_iter().filter(|p| !is_test(p)) {
        let text = text(&path);
        let lines: Vec<&str> = text.lines().collect();
        for (k, line) in lines.iter().enumerate() {
            if line.contains("unsafe {") && !line.trim_start().starts_with("//") {
                count += 1;
                let near = lines[k.saturating_sub(8)..=k].join("\n");
                // A whole file may say it in its head; a function that is unsafe itself passes its contract on.
                let head = text.lines().take_while(|l| l.starts_with("//!")).any(|l| l.contains("SAFETY"));
                let passed = lines[k.saturating_sub(3)..k].iter().any(|l| l.contains("unsafe fn"));
                let said = near.contains("SAFETY") || head || passed;
                assert!(said, "{}:{}: {line}", path.display(), k + 1);
            }
        }
    }
    assert!(count > 0);
}

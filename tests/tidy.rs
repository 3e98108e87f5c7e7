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

/// The crates, from the ground up, and those of ours that each may name. Cargo keeps them apart;
/// this keeps the list. No test of a crate but those of `devices` and `kernel` needs a room above
/// it.
const ROOMS: &[(&str, &[&str])] = &[
    ("ground", &[]),
    ("values", &["ground"]),
    ("plans", &["ground", "values"]),
    ("compiler", &["ground", "values", "plans"]),
    ("language", &["ground", "values"]),
    ("devices", &["ground", "values", "plans"]),
    ("kernel", &["ground", "values", "plans", "compiler", "language", "devices"]),
    ("viz", &["ground"]),
];

/// Rooms that do no IO, read no clock, start no thread and ask no environment.
const PURE: &[&str] = &["ground", "values", "plans", "compiler", "language"];

/// The sources of all rooms and of the program.
fn all() -> Vec<PathBuf> {
    let rooms = ROOMS.iter().flat_map(|(room, _)| rust_files(&format!("crates/{room}/src")));
    rooms.chain(rust_files("src")).collect()
}

#[test]
fn rooms_name_those_below_them_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let mut found: Vec<String> = fs::read_dir(&root)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into())
        .collect();
    let mut told: Vec<String> = ROOMS.iter().map(|r| r.0.to_string()).collect();
    found.sort();
    told.sort();
    assert_eq!(found, told, "the folders of crates/ are ROOMS");
    for (room, below) in ROOMS {
        let manifest = text(&root.join(room).join("Cargo.toml"));
        let shipped = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        for (other, _) in ROOMS.iter().filter(|r| r.0 != *room) {
            let names = shipped.contains(&format!("aplomb-{other}.workspace"));
            assert_eq!(names, below.contains(other), "{room} and {other}");
        }
    }
}

#[test]
fn no_file_is_over_800_lines_and_each_says_what_it_is() {
    for path in all().into_iter().chain(
        ["tests", "crates/language/tests", "crates/viz/tests", "crates/kernel/benches"]
            .iter()
            .flat_map(|d| rust_files(d)),
    ) {
        let text = text(&path);
        assert!(text.lines().count() <= 800, "{}: {} lines", path.display(), text.lines().count());
        assert!(text.starts_with("//!"), "{} does not open with //!", path.display());
    }
}

/// Longer lines do not stand beside a picture, a diff or another file. A table in a comment has
/// the lines that it has.
#[test]
fn no_line_is_over_100_characters() {
    let tests = ["tests", "crates/viz/tests", "crates/kernel/benches"].map(rust_files);
    let mut wide = Vec::new();
    for path in all().into_iter().chain(tests.into_iter().flatten()) {
        for (at, line) in text(&path).lines().enumerate() {
            if line.chars().count() > 100 && !line.trim_start().starts_with("//! |") {
                wide.push(format!("{}:{}", path.display(), at + 1));
            }
        }
    }
    assert!(wide.is_empty(), "{wide:#?}");
}

/// Tests are few programs of many modules, for each program is linked with all of Aplomb. A file
/// that no `mod` names is compiled by nobody.
#[test]
fn each_file_of_tests_is_a_module_of_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mains: Vec<PathBuf> =
        rust_files("tests").into_iter().filter(|p| p.ends_with("main.rs")).collect();
    let programs: String = mains.iter().map(|p| text(p)).collect();
    for path in rust_files("tests")
        .iter()
        .filter(|p| !p.ends_with("main.rs") && **p != root.join("tidy.rs"))
    {
        let (folder, name) = (
            path.parent().unwrap_or(&root),
            path.file_stem().unwrap_or_default().to_string_lossy(),
        );
        let named =
            |text: &str, line: &str| text.lines().any(|l| l.trim_start_matches("pub ") == line);
        let shared = folder.file_name().unwrap_or_default().to_string_lossy();
        let found = match (
            folder.join("main.rs").exists(),
            folder.join("mod.rs").exists(),
            name.as_ref(),
        ) {
            (true, ..) => named(&text(&folder.join("main.rs")), &format!("mod {name};")),
            (_, _, "mod") => named(&programs, &format!("mod {shared};")),
            (_, true, _) if named(&text(&folder.join("mod.rs")), &format!("mod {name};")) => true,
            _ => named(&programs, &format!("#[path = \"../{shared}/{name}.rs\"]")),
        };
        assert!(found, "{}: no program has it as a module", path.display());
    }
    assert!(mains.len() <= 6, "each program is linked with all of Aplomb: {mains:?}");
}

/// Words that only one place may use.
const WALLS: &[(&str, &[&str])] = &[
    ("rustyline::", &["src/repl"]),
    ("graphviz_rust::", &["crates/viz/src"]),
    ("ratatui::", &["crates/viz/src/panes"]),
    ("crossterm::", &["crates/viz/src/panes"]),
    ("ariadne::", &["crates/ground/src/report.rs"]),
    ("chumsky::", &["crates/language/src/syntax"]),
    ("aplomb_kernel::", &["src"]),
    ("aplomb_viz::", &["src"]),
    ("std::arch", &["crates/devices/src/device"]),
    ("libc::", &["crates/kernel/src", "crates/devices/src"]),
    ("npyz::", &["crates/kernel/src/files"]),
    ("zmq::", &["crates/kernel/src/jupyter/sockets.rs"]),
    ("std::net", &["crates/kernel/src/jupyter"]),
    ("jupyter_protocol::", &["crates/kernel/src/jupyter"]),
    ("hmac::", &["crates/kernel/src/jupyter/wire.rs"]),
    ("sha2::", &["crates/kernel/src/jupyter/wire.rs", "crates/devices/src/device/cuda/cache.rs"]),
    ("cudarc::", &["crates/devices/src/device/cuda"]),
    ("chrono::", &["crates/kernel/src/jupyter/wire.rs"]),
    ("base64::", &["crates/viz/src/svg.rs"]),
    ("num_complex::", &["crates/values/src"]),
    ("::regex::", &["crates/language/src/eval/system"]),
    // When an operation can fail, and what it costs, is said once; all others ask the node.
    ("fails_on(", &["crates/values/src/dag", "crates/values/src/body", "crates/values/src/prim"]),
    ("row().ns", &["crates/values/src/body"]),
];

#[test]
fn each_library_is_named_in_its_room_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for path in all() {
        let text = text(&path);
        for (word, homes) in WALLS {
            let home = homes.iter().any(|h| path.starts_with(root.join(h)));
            assert!(home || !text.contains(word), "{} names {word}", path.display());
        }
    }
}

/// Files that may see the number of a scalar without a note for the plan cache: they run, fill,
/// show or compare graphs. The cache itself looks into `Dag` by `is_const` and `number` only.
const AT_RUN_TIME: &[&str] = &[
    "crates/compiler/src/pass/cache.rs",
    "crates/compiler/src/pass/emit.rs",
    "crates/values/src/dag/graph.rs",
    "crates/values/src/dag/kinds/constant.rs",
];

#[test]
fn no_pass_decides_by_a_number_that_the_next_line_may_change() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for path in all() {
        let may = AT_RUN_TIME.iter().any(|f| path == root.join(f));
        assert!(
            may || !text(&path).contains("at_run_time"),
            "{} looks at a scalar",
            path.display()
        );
    }
}

/// The kinds of nodes, each with the files that name it: its own, the recorder that makes it, what
/// turns it into launches, rules that rewrite it. All others ask a node what is so (`Kind`,
/// `InDag`). The numbers only fall.
const KINDS: &[(&str, usize)] = &[
    ("Input", 8),
    ("Const", 2),
    ("Iota", 5),
    ("Map", 14),
    ("Transform", 19),
    ("Reduce", 8),
    ("Scan", 5),
    ("Select", 7),
    ("Cat", 7),
    ("Gather", 7),
    ("Loop", 4),
    ("Compact", 5),
    ("Whole", 4),
];

/// Whether a text names a kind: `Node::Map`, not `Node::MapOf`.
fn names_kind(text: &str, kind: &str) -> bool {
    let follows = |c: char| !c.is_alphanumeric() && c != '_';
    text.split(&format!("Node::{kind}")).skip(1).any(|rest| rest.starts_with(follows))
}

#[test]
fn a_node_is_asked_and_its_kind_is_not_told_apart() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = text(&root.join("crates/values/src/dag/kinds/mod.rs"));
    let listed: Vec<&str> = list
        .split("\nkinds! {")
        .nth(1)
        .and_then(|rest| rest.split("\n}").next())
        .unwrap_or_default()
        .lines()
        .filter_map(|l| l.trim().split_once('('))
        .filter(|(name, _)| !name.starts_with('/'))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(listed, KINDS.iter().map(|k| k.0).collect::<Vec<_>>(), "the list is KINDS");
    let texts: Vec<(PathBuf, String)> = all().into_iter().map(|p| (p.clone(), text(&p))).collect();
    let files = |kind: &str| texts.iter().filter(|(_, text)| names_kind(text, kind)).count();
    let found: Vec<(&str, usize)> = listed.iter().map(|kind| (*kind, files(kind))).collect();
    assert_eq!(found, KINDS, "more: ask the node; fewer: lower the number");
    // A `match` without a wildcard names every kind, and would need a line for a new one.
    for (path, text) in &texts {
        let knows_all = listed.iter().all(|kind| names_kind(text, kind));
        assert!(!knows_all, "{} knows all kinds", path.display());
    }
}

#[test]
fn pure_rooms_have_no_effects_and_only_kernel_and_devices_are_unsafe() {
    let pure = PURE.iter().flat_map(|room| rust_files(&format!("crates/{room}/src")));
    for path in pure.filter(|p| !is_test(p)) {
        let text = text(&path);
        for word in ["std::fs", "std::thread", "std::env", "std::time", "std::net", "std::process"]
        {
            assert!(!text.contains(word), "{} uses {word}", path.display());
        }
    }
    let safe = PURE.iter().chain(&["viz"]).map(|room| format!("crates/{room}/src/lib.rs"));
    for root in safe.chain(["src/lib.rs".to_string()]) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&root);
        assert!(text(&path).contains("#![forbid(unsafe_code)]"), "{root}");
    }
}

/// By its place in the workspace: the folders above may have any name.
fn is_test(path: &Path) -> bool {
    let path = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path);
    path.components().any(|c| c.as_os_str() == "tests") || path.ends_with("tests.rs")
}

/// Code before a file's tests.
fn shipped(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

#[test]
fn nothing_shipped_may_panic_on_purpose() {
    for path in all() {
        if is_test(&path) {
            continue;
        }
        let text = text(&path);
        for word in [
            ".unwrap()",
            ".expect(",
            "panic!(",
            "todo!(",
            "unimplemented!(",
            "dbg!(",
            "TODO",
            "FIXME",
        ] {
            let found = shipped(&text)
                .lines()
                .find(|l| l.contains(word) && !l.trim_start().starts_with("//"));
            assert!(found.is_none(), "{}: {word} in {found:?}", path.display());
        }
    }
}

/// Calls that put a default where a value is missing, by crate. Where a value cannot be missing
/// they hide a defect, so the numbers only fall: what must hold and does not is `bug!`. Who removes
/// one writes the lower number.
const DEFAULTS: &[(&str, usize)] = &[
    ("ground", 11),
    ("values", 55),
    ("plans", 8),
    ("compiler", 34),
    ("language", 109),
    ("devices", 53),
    ("kernel", 61),
    ("viz", 71),
    ("src", 61),
];

const DEFAULTING: &[&str] =
    &[".unwrap_or(", ".unwrap_or_default()", ".unwrap_or_else(", "else { continue }"];

#[test]
fn no_default_is_added_where_none_was() {
    let count = |path: &PathBuf| {
        let text = text(path);
        // A file's own tests are a block at its end; a mark of a single item is not where they
        // begin.
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(&text);
        let lines = code.lines().map(str::trim).filter(|l| !l.starts_with("//"));
        let code = lines.collect::<Vec<_>>().join(" ");
        DEFAULTING.iter().map(|call| code.matches(call).count()).sum::<usize>()
    };
    let of = |folder: String| {
        rust_files(&folder).iter().filter(|p| !is_test(p)).map(count).sum::<usize>()
    };
    let rooms = ROOMS.iter().map(|(room, _)| (*room, of(format!("crates/{room}/src"))));
    let found: Vec<(&str, usize)> = rooms.chain([("src", of("src".into()))]).collect();
    assert_eq!(
        found, DEFAULTS,
        "more: can the value be missing? else `bug!`; fewer: lower the number in DEFAULTS"
    );
}

#[test]
fn every_unsafe_block_says_why_it_is_safe() {
    let mut count = 0;
    let rooms = ["crates/kernel/src", "crates/devices/src"];
    for path in rooms.iter().flat_map(|d| rust_files(d)).filter(|p| !is_test(p)) {
        let text = text(&path);
        let lines: Vec<&str> = text.lines().collect();
        for (k, line) in lines.iter().enumerate() {
            if line.contains("unsafe {") && !line.trim_start().starts_with("//") {
                count += 1;
                let near = lines[k.saturating_sub(8)..=k].join("\n");
                // A whole file may say it in its head; a function that is unsafe itself passes its
                // contract on.
                let head =
                    text.lines().take_while(|l| l.starts_with("//!")).any(|l| l.contains("SAFETY"));
                let passed = lines[k.saturating_sub(8)..k].iter().any(|l| l.contains("unsafe fn"));
                let said = near.contains("SAFETY") || head || passed;
                assert!(said, "{}:{}: {line}", path.display(), k + 1);
            }
        }
    }
    assert!(count > 0);
}

//! The walls of the house, held as a test: who may name what, how long a file may be, and that its
//! guides name what exists.

use std::collections::{BTreeMap, BTreeSet, HashSet};
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
    ("charts", &["ground"]),
    ("export", &["ground", "values", "plans"]),
    (
        "kernel",
        &["charts", "export", "ground", "values", "plans", "compiler", "language", "devices"],
    ),
    ("viz", &["ground"]),
];

/// Rooms that do no IO, read no clock, start no thread and ask no environment.
const PURE: &[&str] = &["ground", "values", "plans", "compiler", "language", "charts", "export"];

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

/// Longer lines do not stand beside a picture or a diff. A table in a comment may have them.
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

/// The lint that asks a sentence of every public item. The words of the command line are exempt: a
/// comment there is a line of `--help`.
#[test]
fn every_public_item_has_a_sentence() {
    let libs = ROOMS.iter().map(|(room, _)| format!("crates/{room}/src/lib.rs"));
    for lib in libs.chain(["src/lib.rs".into()]) {
        let text = text(&Path::new(env!("CARGO_MANIFEST_DIR")).join(&lib));
        assert!(text.contains("#![warn(missing_docs)]"), "{lib}");
    }
    let exempt = all().into_iter().filter(|p| text(p).contains("allow(missing_docs)"));
    assert_eq!(exempt.map(|p| module(&p).pop()).collect::<Vec<_>>(), [Some("src".to_string())]);
}

/// The lines of a text that open a comment of documentation, by number, without their mark.
fn openings(text: &str) -> Vec<(usize, &str)> {
    let doc = |l: &&str| l.starts_with("///") || l.starts_with("//!");
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let opens = |k: &usize| doc(&lines[*k]) && !k.checked_sub(1).is_some_and(|b| doc(&lines[b]));
    (0..lines.len()).filter(opens).map(|k| (k + 1, lines[k][3..].trim_start())).collect()
}

/// A first sentence names the thing by a noun: "The ranges that a block loads", not "What a block
/// loads".
#[test]
fn no_sentence_of_an_item_begins_with_a_question() {
    const QUESTIONS: &[&str] = &["What", "How", "Which", "Where"];
    let mut found = Vec::new();
    for path in all().into_iter().chain(["tests", "crates"].iter().flat_map(|d| rust_files(d))) {
        let text = text(&path);
        let asks = |(_, line): &(usize, &str)| {
            QUESTIONS.contains(&line.split(|c: char| !c.is_alphabetic()).next().unwrap_or(line))
        };
        let wrong = openings(&text).into_iter().filter(asks);
        found.extend(wrong.map(|(at, line)| format!("{}:{at}: {line}", path.display())));
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// The pages that a line cites: by their files' names, and by a word in capitals before a section.
fn cited(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let bare = |w: &str| w.trim_matches(|c: char| !c.is_alphanumeric()).to_string();
    let is_page = |w: &str| w.len() > 2 && w.chars().all(|c| c.is_ascii_uppercase());
    let before_section = words
        .windows(2)
        .filter(|w| w[1].starts_with('§'))
        .map(|w| bare(w[0]))
        .filter(|w| is_page(w))
        .map(|w| format!("docs/{w}.md"));
    let named = words.iter().flat_map(|w| w.split(['(', ')', '`', '[', ']', '"', ':']));
    let named = named.map(|w| w.trim_end_matches(['.', ',', ';'])).filter(|w| w.ends_with(".md"));
    before_section.chain(named.map(String::from)).collect()
}

#[test]
fn a_comment_cites_only_pages_that_exist() {
    let mut gone = Vec::new();
    for path in all().into_iter().chain(["tests", "crates"].iter().flat_map(|d| rust_files(d))) {
        for (at, line) in text(&path).lines().enumerate() {
            let line = line.trim_start();
            let is_there = |page: &String| {
                page.contains('*') || path.ancestors().any(|folder| folder.join(page).exists())
            };
            let pages = if line.starts_with("//") { cited(line) } else { Vec::new() };
            let wrong = pages.into_iter().filter(|page| !is_there(page));
            gone.extend(wrong.map(|page| format!("{}:{}: {page}", path.display(), at + 1)));
        }
    }
    assert!(gone.is_empty(), "{gone:#?}");
}

#[test]
fn a_cited_page_that_is_gone_and_a_question_are_seen() {
    let line = "// Rows: GONE §5; `GLOSSARY.md`, (docs/GONE.md). CUDA 12.8 and a § are none.";
    assert_eq!(cited(line), ["docs/GONE.md", "GLOSSARY.md", "docs/GONE.md"]);
    let text = "//! A head.\n//! How it goes on.\nfn f() {}\n/// What it is.\nfn g() {}\n";
    assert_eq!(openings(text), [(1, "A head."), (4, "What it is.")]);
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
    ("arrow_array::", &["crates/kernel/src/files/arrow"]),
    ("arrow_ipc::", &["crates/kernel/src/files/arrow"]),
    ("arrow_schema::", &["crates/kernel/src/files/arrow"]),
    ("image::", &["crates/kernel/src/files/picture.rs"]),
    ("zmq::", &["crates/kernel/src/jupyter/sockets.rs"]),
    ("std::net", &["crates/kernel/src/jupyter"]),
    ("jupyter_protocol::", &["crates/kernel/src/jupyter"]),
    ("hmac::", &["crates/kernel/src/jupyter/wire.rs"]),
    ("sha2::", &["crates/kernel/src/jupyter/wire.rs", "crates/devices/src/device/cuda/cache.rs"]),
    ("cudarc::", &["crates/devices/src/device/cuda"]),
    ("chrono::", &["crates/kernel/src/jupyter/wire.rs"]),
    ("plotters", &["crates/charts/src"]),
    ("resvg::", &["crates/charts/src"]),
    ("lsp_", &["src/lsp"]),
    ("zip::", &["crates/kernel/src/files"]),
    ("png::", &["crates/charts/src", "crates/kernel/src/files/picture.rs"]),
    ("base64::", &["crates/viz/src/svg.rs", "crates/charts/src", "crates/kernel/src", "src"]),
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
    "crates/export/src/python/nodes.rs",
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
    ("Input", 9),
    ("Const", 3),
    ("Iota", 6),
    ("Map", 16),
    ("Transform", 21),
    ("Reduce", 10),
    ("Scan", 6),
    ("Select", 7),
    ("Cat", 8),
    ("Gather", 7),
    ("Loop", 5),
    ("Compact", 5),
    ("Whole", 6),
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

/// Code before a file's own tests, a block at its end; a mark of a single item is not where they
/// begin.
fn before_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text)
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
    ("ground", 10),
    ("values", 35),
    ("plans", 10),
    ("compiler", 35),
    ("language", 58),
    ("devices", 47),
    ("charts", 0),
    ("export", 0),
    ("kernel", 59),
    ("viz", 68),
    ("src", 56),
];

const DEFAULTING: &[&str] =
    &[".unwrap_or(", ".unwrap_or_default()", ".unwrap_or_else(", "else { continue }"];

/// A count over the code of each crate, without tests and comments.
fn counted(count: impl Fn(&str) -> usize) -> Vec<(&'static str, usize)> {
    let of = |folder: String| {
        let files = rust_files(&folder);
        let code = files.iter().filter(|p| !is_test(p)).map(|path| {
            let text = text(path);
            let lines = before_tests(&text).lines().map(str::trim).filter(|l| !l.starts_with("//"));
            count(&lines.collect::<Vec<_>>().join(" "))
        });
        code.sum::<usize>()
    };
    let rooms = ROOMS.iter().map(|(room, _)| (*room, of(format!("crates/{room}/src"))));
    rooms.chain([("src", of("src".into()))]).collect()
}

/// Vectors that are made with a size and ask nobody, by crate. A size that data decide must be
/// asked of the budget (`room`, `filled`, `has_room`), or the machine ends the program; those that
/// are left have the size of a text of the program, of a rank, or of a plan. The numbers only fall.
/// What has no name to find, a `collect` that data size, is found by the allocator of
/// tests/lines/asked.rs.
const SIZED: &[(&str, usize)] = &[
    ("ground", 4),
    ("values", 52),
    ("plans", 11),
    ("compiler", 45),
    ("language", 117),
    ("devices", 27),
    ("charts", 8),
    ("export", 4),
    ("kernel", 31),
    ("viz", 36),
    ("src", 15),
];

/// The places where a vector of some size is made: `with_capacity`, `resize`, `repeat`, and `vec!`
/// of a length that is no literal.
fn sized(code: &str) -> usize {
    let calls = ["with_capacity(", ".resize(", ".repeat(", ".to_vec()", ".reserve("];
    let lists = code.match_indices("vec![").filter(|(at, open)| {
        let inside = code[at + open.len()..].split(']').next().unwrap_or_default();
        let length = inside.rsplit_once("; ").map(|(_, length)| length);
        length.is_some_and(|n| !n.starts_with(|c: char| c.is_ascii_digit() || c.is_uppercase()))
    });
    calls.iter().map(|call| code.matches(call).count()).sum::<usize>() + lists.count()
}

#[test]
fn no_vector_that_data_size_is_made_without_asking() {
    assert_eq!(
        counted(sized),
        SIZED,
        "more: ask the budget (`room`, `filled`); fewer: lower the number in SIZED"
    );
    assert_eq!(sized("vec![0; n] vec![0; 4] vec![1, 2] a.resize(n, 0)"), 2);
}

#[test]
fn no_default_is_added_where_none_was() {
    let found = counted(|code| DEFAULTING.iter().map(|call| code.matches(call).count()).sum());
    assert_eq!(
        found, DEFAULTS,
        "more: can the value be missing? else `bug!`; fewer: lower the number in DEFAULTS"
    );
}

/// Rooms whose files stand on each other in one direction. In the others files name each other in
/// a ring: in `values` an array may be a cell of the graph and a node holds arrays, which is its
/// nature; the rest is not parted yet. A room that has no ring any more comes here.
const NO_CIRCLE: &[&str] = &["devices"];

/// A path from a file to what it names: `super::walk::Piece`.
struct Named {
    path: Vec<String>,
    by: By,
}

/// The way in which it is named. A `use` brings the name to the files below as well; a `pub use`
/// says what leaves a folder and is no need of the file itself.
#[derive(PartialEq)]
enum By {
    Code,
    Use,
    PubUse,
}

/// The paths of a `use`, one for each name that it brings.
fn leaves(before: &[String], tree: &str, out: &mut Vec<Vec<String>>) {
    let (path, group) = match tree.split_once('{') {
        Some((path, group)) => (path, group.strip_suffix('}')),
        None => (tree, None),
    };
    let path = path.split(" as ").next().unwrap_or(path);
    let own = path.split("::").map(str::trim).filter(|s| !s.is_empty()).map(String::from);
    let here: Vec<String> = before.iter().cloned().chain(own).collect();
    let Some(group) = group else { return out.push(here) };
    let (mut depth, mut from) = (0, 0);
    for (at, c) in group.char_indices().chain([(group.len(), ',')]) {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            let part = group[from..at].trim();
            if !part.is_empty() {
                leaves(&here, part, out);
            }
            from = at + 1;
        }
    }
}

/// All that a file names by a path, its tests left out. Inside a block `mod x { … }` the file
/// itself is `super`.
fn named(code: &str) -> Vec<Named> {
    let (mut text, mut block) = (String::new(), None);
    for line in code.lines().filter(|l| !l.trim_start().starts_with("//")) {
        let indent = line.len() - line.trim_start().len();
        if block == Some(indent) && line.trim() == "}" {
            block = None;
        }
        text += &if block.is_some() { line.replacen("super::", "self::", 1) } else { line.into() };
        text += "\n";
        let opened = line.trim_start().trim_start_matches("pub ").starts_with("mod ");
        if block.is_none() && opened && line.ends_with('{') {
            block = Some(indent);
        }
    }
    let mut out = Vec::new();
    for statement in text.split_inclusive(';') {
        let start = statement.find("use ").filter(|at| {
            statement[..*at].lines().last().is_none_or(|l| {
                l.trim().is_empty() || l.trim() == "pub" || l.trim().starts_with("pub(")
            })
        });
        let Some(at) = start else {
            let word = |c: char| !(c.is_alphanumeric() || c == '_' || c == ':');
            let words = statement.split(word).filter(|w| w.contains("::"));
            let path = |w: &str| w.split("::").map(String::from).collect();
            out.extend(words.map(|w| Named { path: path(w), by: By::Code }));
            continue;
        };
        let opens = statement[..at].lines().last().is_some_and(|l| l.trim().starts_with("pub"));
        let (mut all, tree) = (Vec::new(), statement[at + 4..].trim_end_matches(';'));
        leaves(&[], &tree.replace('\n', " "), &mut all);
        let by = || if opens { By::PubUse } else { By::Use };
        out.extend(all.into_iter().map(|path| Named { path, by: by() }));
    }
    out
}

/// A room's files by their modules' paths, each with what it names.
type Files = BTreeMap<Vec<String>, Vec<Named>>;

/// The file that a path from `here` leads to, through what others bring; None: another crate's.
fn home(files: &Files, here: &[String], path: &[String], deep: u32) -> Option<Vec<String>> {
    let mut at = here.to_vec();
    let (mut found, mut rest) = (false, path);
    while let [first, more @ ..] = rest {
        match first.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => drop(at.pop()),
            _ => {
                at.push(first.clone());
                if !files.contains_key(&at) {
                    at.pop();
                    break;
                }
            }
        }
        (found, rest) = (true, more);
    }
    let name = rest.first();
    let mut brought = files.get(&at)?.iter().filter(|n| n.by != By::Code && deep > 0);
    let further =
        brought.find(|n| n.path.last() == name).and_then(|n| home(files, &at, &n.path, deep - 1));
    found.then(|| further.unwrap_or(at))
}

/// Files that reach themselves by what they name, in groups that reach each other.
fn circles(files: &Files) -> Vec<Vec<String>> {
    let edges = |from: &Vec<String>| -> BTreeSet<Vec<String>> {
        let own = files[from].iter().filter(|n| n.by != By::PubUse);
        own.filter_map(|n| home(files, from, &n.path, 4)).filter(|to| to != from).collect()
    };
    let edges: BTreeMap<_, _> = files.keys().map(|f| (f, edges(f))).collect();
    let reach = |from: &Vec<String>| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(at) = open.pop() {
            open.extend(edges[&at].iter().filter(|to| seen.insert((*to).clone())).cloned());
        }
        seen
    };
    let reached: BTreeMap<_, _> = files.keys().map(|f| (f, reach(f))).collect();
    let ring = |f: &Vec<String>| -> Vec<String> {
        let both = reached[f].iter().filter(|g| reached[g].contains(f));
        both.map(|g| g.join("::")).collect()
    };
    let all: BTreeSet<_> = files.keys().map(ring).filter(|r| !r.is_empty()).collect();
    all.into_iter().collect()
}

/// `src/device/cpu/walk.rs` is `device::cpu::walk`, a `mod.rs` its folder, `lib.rs` the root.
fn module(path: &Path) -> Vec<String> {
    let parts = path.with_extension("");
    let parts = parts.components().map(|c| c.as_os_str().to_string_lossy().into_owned());
    parts.filter(|p| p != "mod" && p != "lib").collect()
}

#[test]
fn no_circle_of_files_inside_a_room() {
    let mut without = Vec::new();
    for (room, _) in ROOMS {
        let folder = format!("crates/{room}/src");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(&folder);
        let own = rust_files(&folder).into_iter().filter(|p| !is_test(p));
        let own = own.map(|p| (module(p.strip_prefix(&root).unwrap_or(&p)), text(&p)));
        let files: Files = own.map(|(m, text)| (m, named(before_tests(&text)))).collect();
        let found = circles(&files);
        assert!(found.is_empty() || !NO_CIRCLE.contains(room), "{room}: {found:#?}");
        if found.is_empty() {
            without.push(*room);
        }
    }
    assert_eq!(without, NO_CIRCLE, "rooms without a circle of files");
}

#[test]
fn a_planted_circle_is_found_through_what_a_folder_opens() {
    let file = |module: &str, code: &str| {
        (module.split("::").map(String::from).collect::<Vec<_>>(), named(code))
    };
    let all = |walk: &str| -> Files {
        let cpu = "mod launch;\nmod walk;\npub use launch::{Done, run as start};\n";
        let launch = "use super::walk::{self, Piece};\nfn run() { walk::all(); }\n";
        [file("cpu", cpu), file("cpu::launch", launch), file("cpu::walk", walk)].into()
    };
    assert!(circles(&all("use std::fmt;\nmod inner {\n    use super::*;\n}\n")).is_empty());
    for ring in ["use super::{Done, other};\n", "fn f() { super::launch::run() }\n"] {
        assert_eq!(circles(&all(ring)), [["cpu::launch", "cpu::walk"]], "{ring}");
    }
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

/// The pages that lead a reader through the house, beside that of each room.
const GUIDES: &[&str] =
    &["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/CHOICES.md", "src/README.md", "tests/README.md"];

/// The names that a file of Rust declares: items by their keyword, public fields, variants by their
/// place at the beginning of a line.
fn declared(text: &str) -> HashSet<String> {
    const KEYWORDS: &[&str] =
        &["fn", "struct", "enum", "trait", "type", "static", "const", "mod", "macro_rules"];
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = HashSet::new();
    for line in text.lines().map(str::trim).filter(|l| !l.starts_with("//")) {
        let words: Vec<&str> = line.split(|c| !is_part(c)).filter(|w| !w.is_empty()).collect();
        let items = words.windows(2).filter(|w| KEYWORDS.contains(&w[0])).map(|w| w[1]);
        let field = line.strip_prefix("pub ").and_then(|l| l.split_once(": ")).map(|l| l.0);
        let is_variant = line.starts_with(char::is_uppercase)
            && words.first().is_some_and(|w| line[w.len()..].starts_with([',', '(', ' ']));
        let variant = words.first().copied().filter(|_| is_variant);
        found.extend(items.chain(field).chain(variant).map(String::from));
    }
    found
}

/// The code spans of a page, those of its fenced and indented blocks left out.
fn spans(page: &str) -> Vec<String> {
    let outside = page.split("\n```").step_by(2).collect::<String>();
    let prose = |p: &&str| !p.trim_start_matches('\n').starts_with("    ");
    let paragraphs = outside.split("\n\n").filter(prose);
    paragraphs.flat_map(|p| p.split('`').skip(1).step_by(2).map(|s| s.replace('\n', " "))).collect()
}

/// Whether what a page calls so exists: a path from the page, its sources or the root; an item of a
/// module or type; a type or table. None: it is no such name.
fn exists(span: &str, page: &Path, sources: &[(PathBuf, HashSet<String>)]) -> Option<bool> {
    const ENDINGS: &[&str] = &[".rs", ".md", ".cu", ".cc", ".json", ".sh", ".py", ".apl"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made_of = |more: &str| span.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
    let is_relative = span.starts_with(|c: char| c.is_ascii_lowercase() || c == '.')
        && !span.starts_with("target/");
    if made_of("_-./*")
        && is_relative
        && (span.contains('/') || ENDINGS.iter().any(|e| span.ends_with(e)))
    {
        let place = span.split('*').next().unwrap_or(span);
        let own = page.parent().unwrap_or(root);
        let homes = [own.to_path_buf(), own.join("src"), root.to_path_buf()];
        return Some(homes.iter().any(|h| h.join(place).exists()));
    }
    if !made_of("_:") || span.is_empty() {
        return None;
    }
    if let Some((path, name)) = span.rsplit_once("::") {
        let home = path.rsplit("::").next().unwrap_or(path);
        let is_home = |file: &Path, names: &HashSet<String>| {
            let named = |p: Option<&std::ffi::OsStr>| p.is_some_and(|p| p == home);
            let folder = file.parent().and_then(Path::file_name);
            let room = home.strip_prefix("aplomb_").map(|room| format!("crates/{room}/src/lib.rs"));
            let has_parts = || text(file).contains(&format!("impl {home} {{"));
            named(file.file_stem())
                || named(folder)
                || names.contains(home)
                || room.is_some_and(|lib| file.ends_with(lib))
                || home.starts_with(char::is_uppercase) && has_parts()
                || text(file).contains(&format!("impl {home}<"))
        };
        return Some(
            sources.iter().any(|(file, names)| names.contains(name) && is_home(file, names)),
        );
    }
    let is_type = span.starts_with(char::is_uppercase) && span.contains(char::is_lowercase);
    let is_table = span.len() > 3 && span.chars().all(|c| c.is_ascii_uppercase());
    (is_type || is_table).then(|| sources.iter().any(|(_, names)| names.contains(span)))
}

/// The names on a page that are not there.
fn missing(page: &Path, text: &str, sources: &[(PathBuf, HashSet<String>)]) -> Vec<String> {
    spans(text).into_iter().filter(|s| exists(s, page, sources) == Some(false)).collect()
}

fn sources() -> Vec<(PathBuf, HashSet<String>)> {
    let files = all().into_iter().chain(rust_files("tests"));
    files.map(|p| (p.clone(), declared(&text(&p)))).collect()
}

#[test]
fn each_room_has_its_page_and_guides_name_only_what_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rooms = ROOMS.iter().map(|(room, _)| format!("crates/{room}/README.md"));
    let sources = sources();
    let mut wrong = Vec::new();
    for page in rooms.chain(GUIDES.iter().map(|p| p.to_string())) {
        let text = text(&root.join(&page));
        assert!(text.starts_with("# "), "{page} is missing, or has no title");
        let gone = missing(&root.join(&page), &text, &sources);
        wrong.extend(gone.iter().map(|name| format!("{page}: {name} is not there")));
        let wide = text.lines().filter(|l| l.chars().count() > 100 && !l.starts_with('|'));
        wrong.extend(wide.map(|l| format!("{page}: over 100 characters: {l}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let length = text(&root.join("ARCHITECTURE.md")).lines().count();
    assert!(length <= 200, "the guide is read from top to bottom: {length} lines");
}

#[test]
fn a_guide_that_names_what_is_gone_is_seen() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let told = "`src/cli.rs` `cli::main` `Interp::execute` `Op::Recip` `Session` `PRIMS`\n\n\
                `src/gone.rs` `cli::gone` `Interp::gone` `Op::Gone` `Nobody` `GONE`\n\n\
                `+/B/A` `a word` `lower`\n\n\
                \x20   `gone.rs`\n\n```\n`gone.rs`\n```\n";
    let wanted = ["src/gone.rs", "cli::gone", "Interp::gone", "Op::Gone", "Nobody", "GONE"];
    assert_eq!(missing(&page, told, &sources()), wanted);
}

//! Order comes from the text of a program, never from a hash or an address: not what is found in
//! which order, not what is told.
//!
//! A lint reads the rooms that decide and tell: what is kept under hashes is looked up there, not
//! gone through, but where the order is lost again. A program's story is the same to the byte in
//! five processes, by one thread and by two.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The rooms whose order shows.
const ROOMS: [&str; 7] = ["ground", "values", "plans", "compiler", "language", "viz", "export"];

/// Tables that are gone through all the same: file, name, and where the order is lost.
const LOST: &[(&str, &str, &str)] = &[
    ("compiler/src/pass/cache.rs", "entries", "the least of ages, of which no two are equal"),
    ("compiler/src/pass/emit.rs", "loads", "a launch's list, which has the name of a table"),
    ("compiler/src/pass/need.rs", "seen", "sorted in the next line"),
    ("export/src/python/writer.rs", "leaves", "whether there is any"),
    ("language/src/syntax/lint.rs", "used", "warnings are sorted by their place"),
];

const TABLES: [&str; 4] = ["HashMap", "HashSet", "Map", "Set"];
const WALKS: [&str; 8] =
    ["iter", "iter_mut", "keys", "values", "values_mut", "into_iter", "into_keys", "drain"];

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => files(&path, out),
            false => out.extend(Some(path).filter(|p| p.extension().is_some_and(|e| e == "rs"))),
        }
    }
}

fn last_word(text: &str) -> &str {
    let is_of = |c: char| c.is_ascii_alphanumeric() || c == '_';
    &text[text.trim_end_matches(is_of).len()..]
}

/// The names that a line gives to tables under hashes: `seen: &mut HashSet<u32>`, `let seen =
/// Set::default()`.
fn tables(line: &str) -> BTreeSet<&str> {
    let mut out = BTreeSet::new();
    for table in TABLES {
        for (at, _) in line.match_indices(table) {
            let (before, after) = (&line[..at], &line[at + table.len()..]);
            let is_whole = !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let before = before.trim_end_matches("std::collections::").trim_end_matches("hash::");
            let before = before.trim_end_matches("RefCell<").trim_end_matches("Rc<");
            let before = before.trim_end_matches("&mut ").trim_end_matches('&').trim_end();
            let name = match before.chars().last() {
                Some(':') if after.starts_with('<') => last_word(before.trim_end_matches(':')),
                Some('=') if after.starts_with("::") => {
                    last_word(before[..before.len() - 1].trim_end())
                }
                _ => continue,
            };
            if is_whole && !name.is_empty() {
                out.insert(name);
            }
        }
    }
    out
}

/// Whether a line goes through what is called so.
fn walks(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let own = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        if before.ends_with(own) || after.starts_with(own) {
            return false;
        }
        let after = after.strip_prefix(".borrow()").unwrap_or(after);
        let call = after.strip_prefix('.').and_then(|rest| rest.split_once('('));
        let by_call = call.is_some_and(|(method, _)| WALKS.contains(&method));
        let subject = before.trim_end_matches("self.").trim_end_matches("&mut ");
        let by_for = subject.trim_end_matches('&').ends_with(" in ")
            && line.trim_start().starts_with("for ")
            && after.trim_start().starts_with('{');
        by_call || by_for
    })
}

fn gone_through(text: &str) -> BTreeSet<String> {
    let own = text.split("#[cfg(test)]\nmod").next().unwrap_or(text);
    let has = ["HashMap", "HashSet", "hash::Map", "hash::Set", "hash::{"];
    if !has.iter().any(|word| own.contains(word)) {
        return BTreeSet::new();
    }
    let named: BTreeSet<&str> = own.lines().flat_map(tables).collect();
    let through = |name: &&&str| own.lines().any(|line| walks(line, name));
    named.iter().filter(through).map(|name| name.to_string()).collect()
}

#[test]
fn no_order_comes_from_a_hash() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let mut all = Vec::new();
    ROOMS.iter().for_each(|room| files(&crates.join(room).join("src"), &mut all));
    let mut found: BTreeSet<(String, String)> = BTreeSet::new();
    for path in all {
        let text = std::fs::read_to_string(&path).expect("a file");
        let file = path.strip_prefix(&crates).expect("a room").display().to_string();
        found.extend(gone_through(&text).into_iter().map(|name| (file.clone(), name)));
    }
    let known: BTreeSet<(String, String)> =
        LOST.iter().map(|(file, name, _)| (file.to_string(), name.to_string())).collect();
    let (new, gone) = (found.difference(&known), known.difference(&found));
    let (new, gone): (Vec<_>, Vec<_>) = (new.collect(), gone.collect());
    assert!(new.is_empty(), "gone through in the order of a hash: {new:?}");
    assert!(gone.is_empty(), "no longer gone through, so they leave LOST: {gone:?}");
}

#[test]
fn a_walk_through_a_table_is_seen() {
    let head = "use std::collections::HashMap;\n";
    for (body, seen) in [
        ("fn f(x: &HashMap<u32, u32>) { x.keys().max(); }", true),
        ("let mut x = HashMap::new();\nfor (k, v) in &x {", true),
        ("struct S { x: RefCell<HashSet<u32>> }\nself.x.borrow().iter()", true),
        ("fn f(x: &HashMap<u32, u32>) { x.get(&1); x.len(); }", false),
        ("fn f(x: &HashMap<u32, u32>, ax: &[u32]) { ax.iter(); }", false),
        ("fn f(x: &BTreeMap<u32, u32>) { x.iter(); }", false),
    ] {
        assert_eq!(!gone_through(&format!("{head}{body}")).is_empty(), seen, "{body}");
    }
}

/// An address is looked up and compared for equality, no more.
#[test]
fn no_order_comes_from_an_address() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let mut all = Vec::new();
    ROOMS.iter().for_each(|room| files(&crates.join(room).join("src"), &mut all));
    for path in all {
        let text = std::fs::read_to_string(&path).expect("a file");
        for (k, line) in text.lines().enumerate().filter(|(_, l)| l.contains("as_ptr(")) {
            let ordered = ["sort", "cmp(", "BTree", "min_by", "max_by"];
            let by = ordered.iter().find(|word| line.contains(**word));
            assert!(by.is_none(), "{}:{}: {line}", path.display(), k + 1);
        }
    }
}

/// In five processes, and by other numbers of threads, what is told is the same to the byte.
#[test]
fn a_story_is_the_same_in_every_process_and_by_any_number_of_threads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let line = "(a b)←↓⍉100 2⍴⍳200 ⋄ c←a×2 ⋄ d←b÷3 ⋄ (+/c-d)(⌈/d)(+\\c)(c∘.×d)(d+.×c)";
    // Nodes once had the order of their addresses where a line made several at once.
    let asked: [&[&str]; 4] =
        [&["-e", line], &["examples/hanoi.apl"], &["examples/fft.apl"], &["examples/life.apl"]];
    for words in asked {
        let run = |threads: &str| {
            let out = Command::new(env!("CARGO_BIN_EXE_aplomb"))
                .args(["trace", "--canon", "--threads", threads])
                .args(words)
                .current_dir(root)
                .output()
                .expect("the program");
            assert!(out.status.success() && !out.stdout.is_empty(), "{words:?}");
            out.stdout
        };
        let first = run("2");
        for threads in ["1", "2", "1", "2"] {
            assert!(run(threads) == first, "{words:?} by {threads}");
        }
    }
}

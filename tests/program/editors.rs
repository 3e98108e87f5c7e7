//! The tables that editors read are the program's. `UPDATE=1` writes `editors/vscode/table.json`;
//! the grammar is written by hand, and its lists are those of the tables.

use crate::support;
use aplomb_language::syntax::words::WORDS;
use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeSet;

const GRAMMAR: &str = include_str!("../../editors/vscode/syntaxes/aplomb.tmLanguage.json");
const PACKAGE: &str = include_str!("../../editors/vscode/package.json");

/// The rows that `aplomb prims --json` prints.
fn table() -> Vec<Value> {
    let mut command = Command::cargo_bin("aplomb").unwrap();
    let out = command.args(["prims", "--json"]).output().unwrap();
    serde_json::from_slice(&out.stdout).unwrap()
}

/// The glyphs of a kind.
fn glyphs(kind: &str) -> Vec<char> {
    let rows = table();
    let of = rows.iter().filter(|row| row["kind"] == kind);
    of.map(|row| row["glyph"].as_str().unwrap().chars().next().unwrap()).collect()
}

/// The pattern whose scope begins so.
fn pattern(scope: &str) -> String {
    let grammar: Value = serde_json::from_str(GRAMMAR).unwrap();
    let rows = grammar["repository"]["code"]["patterns"].as_array().unwrap();
    let named = |row: &&Value| row["name"].as_str().is_some_and(|name| name.starts_with(scope));
    rows.iter().find(named).unwrap()["match"].as_str().unwrap().to_string()
}

#[test]
fn the_table_of_editors_is_that_of_the_program() {
    let rows: Vec<String> = table().iter().map(Value::to_string).collect();
    support::same_as("editors/vscode/table.json", &format!("[\n{}\n]\n", rows.join(",\n")));
}

#[test]
fn the_grammar_has_each_glyph_in_its_class() {
    for (kind, scope) in
        [("function", "keyword.operator.function"), ("operator", "keyword.operator.operator")]
    {
        // An arrow has a colour of its own.
        let mut wanted = glyphs(kind);
        wanted.retain(|c| *c != '→');
        let class = pattern(scope);
        let inner = class.strip_prefix('[').and_then(|c| c.strip_suffix(']')).unwrap();
        let mut escaped = false;
        let has: Vec<char> = inner
            .chars()
            .filter(|c| {
                escaped = *c == '\\' && !escaped;
                !escaped
            })
            .collect();
        assert_eq!(has, wanted, "{scope}");
    }
}

#[test]
fn the_grammar_has_every_control_word() {
    let pattern = pattern("keyword.control");
    let list = pattern.split_once("(?i:").and_then(|(_, rest)| rest.split_once(')')).unwrap().0;
    let has: BTreeSet<&str> = list.split('|').collect();
    let wanted: BTreeSet<&str> = WORDS.iter().map(|(word, _)| *word).collect();
    assert_eq!(has, wanted);
    // The first that matches counts, so none stands before a longer one that it begins.
    let words: Vec<&str> = list.split('|').collect();
    for (k, word) in words.iter().enumerate() {
        assert!(!words[k + 1..].iter().any(|later| later.starts_with(word)), "{word}");
    }
}

/// Words that a double click takes end at a glyph.
#[test]
fn each_glyph_separates_words() {
    let package: Value = serde_json::from_str(PACKAGE).unwrap();
    let own = &package["contributes"]["configurationDefaults"]["[apl]"];
    let separators = own["editor.wordSeparators"].as_str().unwrap();
    for glyph in [glyphs("function"), glyphs("operator"), glyphs("argument")].concat() {
        assert!(separators.contains(glyph), "{glyph}");
    }
}

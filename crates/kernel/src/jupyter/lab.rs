//! The extension that JupyterLab and Notebook 7 load beside the kernel: keys, bar, editor mode,
//! font, live views and tables that sort.
//!
//! A prebuilt extension: plain files that the lab reads as they are, so neither Node nor Python
//! builds anything. The script is written by hand in parts, which see each other in one function;
//! glyphs and switches are those of the tables.

use super::install::Written;
use crate::glyphs;
use aplomb_compiler::pass::{switch_says, switches};
use aplomb_language::syntax::words::WORDS;
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The parts of the script, each of which may name what stands before it.
const PARTS: &[&str] = &[
    include_str!("lab/scope.js"),
    include_str!("lab/keys.js"),
    include_str!("lab/mode.js"),
    include_str!("lab/bar.js"),
    include_str!("lab/tables.js"),
    include_str!("lab/graph.js"),
    include_str!("lab/reasons.js"),
    include_str!("lab/link.js"),
    include_str!("lab/trace.js"),
    include_str!("lab/plugins.js"),
];

/// The extension's folder.
pub fn files() -> Vec<Written> {
    let script = format!("(() => {{\n'use strict';\n\n{}}})();\n", PARTS.join("\n"));
    let fixed = vec![
        ("static/remoteEntry.js", script.into_bytes()),
        ("static/table.json", table().to_string().into_bytes()),
        ("static/looks.css", include_bytes!("lab/looks.css").to_vec()),
        ("static/aplomb-mono.woff2", include_bytes!("lab/aplomb-mono.woff2").to_vec()),
        ("static/OFL.txt", include_bytes!("lab/OFL.txt").to_vec()),
        ("schemas/aplomb/keys.json", include_bytes!("lab/keys.json").to_vec()),
    ];
    // Servers let browsers keep these files for a year, so what the lab asks for has another
    // address when one of them is another.
    let mut hash = DefaultHasher::new();
    fixed.hash(&mut hash);
    let package = format!("{:#}\n", package(hash.finish()));
    fixed.into_iter().chain([("package.json", package.into_bytes())]).collect()
}

fn package(version: u64) -> Value {
    json!({
        "name": super::install::NAME,
        "version": env!("CARGO_PKG_VERSION"),
        "description": "APL (Aplomb): keys, language bar, editor mode, font, live views",
        "license": "MIT OR Apache-2.0",
        "jupyterlab": {
            "extension": true,
            "schemaDir": "schemas",
            "_build": {
                "load": format!("static/remoteEntry.js?v={version:016x}"),
                "extension": "./extension",
            },
        },
    })
}

/// The tables that the script reads.
fn table() -> Value {
    let switches = switches().into_iter().map(|s| json!({ "name": s, "says": switch_says(s) }));
    let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
    json!({ "glyphs": glyphs::all(), "switches": switches.collect::<Vec<_>>(), "words": words })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lab's loader looks for these words; a part that is not in the list is loaded by nobody.
    #[test]
    fn the_script_has_all_parts_and_the_lab_finds_it() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/jupyter/lab");
        let parts = std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path());
        let parts: Vec<_> = parts.filter(|p| p.extension().is_some_and(|e| e == "js")).collect();
        assert_eq!(parts.len(), PARTS.len());
        let files = files();
        let find = |name: &str| &files.iter().find(|f| f.0 == name).expect("a file").1;
        let package: Value = serde_json::from_slice(find("package.json")).expect("JSON");
        let load = package["jupyterlab"]["_build"]["load"].as_str().expect("a path");
        let script = String::from_utf8(find(load.split('?').next().expect("a path")).clone());
        let script = script.expect("UTF-8");
        assert!(script.contains("window._JUPYTERLAB.aplomb = {"));
        let schema: Value = serde_json::from_slice(find("schemas/aplomb/keys.json")).expect("JSON");
        assert_eq!(
            (&package["jupyterlab"]["schemaDir"], &schema["properties"]["prefix"]["default"]),
            (&"schemas".into(), &"`".into())
        );
        for (name, _) in files.iter().filter(|f| f.0.starts_with("static/")) {
            let name = name.trim_start_matches("static/");
            let named = script.contains(&format!("file('{name}')"))
                || include_str!("lab/looks.css").contains(name);
            assert!(named || name == "OFL.txt" || name == "remoteEntry.js", "{name}");
        }
    }

    #[test]
    fn its_table_has_every_key_of_the_prompt() {
        let table = table();
        let glyphs = table["glyphs"].as_array().expect("a list");
        for (key, glyph) in aplomb_language::table::keys() {
            let row = glyphs.iter().find(|g| g["glyph"] == glyph.to_string()).expect("a row");
            assert_eq!(row["key"], key.to_string());
            assert!(row["names"].as_array().is_some_and(|n| !n.is_empty()) && row["kind"] != "");
        }
    }
}

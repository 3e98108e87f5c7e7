//! Notebooks in the manner of tutorials (`tests/books`): each runs in a kernel of its own, in an
//! empty folder, and every cell says what its file holds. `UPDATE=1` writes what the kernel says.

use crate::running::Running;
use aplomb_kernel::jupyter::client::Answer;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The collection may grow, not shrink.
const LEAST: usize = 10;

fn books() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/books");
    let entries = fs::read_dir(folder).expect("tests/books");
    let mut found: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    found.retain(|p| p.extension().is_some_and(|e| e == "ipynb"));
    found.sort();
    found
}

/// A text as notebooks keep it: its lines, each with its end.
fn lines(text: &Value) -> Vec<&str> {
    text.as_str().expect("text").split_inclusive('\n').collect()
}

/// The text of a cell.
fn source(cell: &Value) -> String {
    match &cell["source"] {
        Value::Array(lines) => lines.iter().map(|l| l.as_str().expect("text")).collect(),
        whole => whole.as_str().expect("text").to_string(),
    }
}

/// The outputs of an answer, as notebooks keep them; of pictures and tables the plain text alone.
fn outputs(answer: &Answer) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for message in &answer.heard {
        let content = Value::Object(message.content.clone());
        let kind = message.kind.as_str();
        match kind {
            "stream" => {
                let text = lines(&content["text"]);
                let name = &content["name"];
                match kept.last_mut() {
                    Some(last) if last["output_type"] == kind && last["name"] == *name => {
                        let before = last["text"].as_array_mut().expect("lines");
                        before.extend(text.into_iter().map(Value::from));
                    }
                    _ => kept.push(json!({ "output_type": kind, "name": name, "text": text })),
                }
            }
            "execute_result" | "display_data" => {
                let plain = lines(&content["data"]["text/plain"]);
                let mut output = json!({
                    "output_type": kind, "data": { "text/plain": plain }, "metadata": {}
                });
                if kind == "execute_result" {
                    output["execution_count"] = answer.reply["execution_count"].clone();
                }
                kept.push(output);
            }
            "error" => kept.push(json!({
                "output_type": kind,
                "ename": content["ename"],
                "evalue": content["evalue"],
                "traceback": content["traceback"],
            })),
            _ => {}
        }
    }
    kept
}

/// Runs a book; what differs from its file. The book then holds what the kernel said.
fn differences(book: &mut Value) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = Running::start_by(|program, file| {
        let mut command = Command::new(program);
        command.args(["kernel", "start", "-f", file]).current_dir(folder.path());
        command
    });
    let mut wrong = Vec::new();
    for cell in book["cells"].as_array_mut().expect("cells") {
        if cell["cell_type"] != "code" {
            continue;
        }
        let answer = kernel.run(&source(cell));
        let said = Value::from(outputs(&answer));
        if said != cell["outputs"] {
            let (source, held) = (source(cell), &cell["outputs"]);
            wrong.push(format!("{source}\n  file:   {held}\n  kernel: {said}"));
        }
        cell["outputs"] = said;
        cell["execution_count"] = answer.reply["execution_count"].clone();
    }
    wrong
}

#[test]
fn every_book_says_what_its_file_holds() {
    let books = books();
    let mut wrong = Vec::new();
    for path in &books {
        let text = fs::read_to_string(path).expect("a book");
        let mut book: Value = serde_json::from_str(&text).expect("JSON");
        let differing = differences(&mut book);
        if !differing.is_empty() && std::env::var_os("UPDATE").is_some() {
            let text = serde_json::to_string_pretty(&book).expect("JSON") + "\n";
            fs::write(path, text).expect("a book");
            continue;
        }
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        wrong.extend(differing.iter().map(|d| format!("{name}: {d}")));
    }
    assert!(wrong.is_empty(), "{}\nUPDATE=1 rewrites the books", wrong.join("\n"));
    assert!(books.len() >= LEAST, "{} books are left of {LEAST}", books.len());
}

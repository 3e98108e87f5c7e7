//! `aplomb lsp` as an editor speaks to it: messages with a head, over the process's own streams.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

struct Editor {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    asked: u64,
}

const FILE: &str = "file:///tmp/a.apl";

impl Editor {
    fn start(words: &[&str]) -> Editor {
        let mut command = Command::new(env!("CARGO_BIN_EXE_aplomb"));
        command.arg("lsp").args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("aplomb");
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (to, from) = (to.expect("a pipe"), BufReader::new(from.expect("a pipe")));
        let mut editor = Editor { child, to, from, asked: 0 };
        let able = editor.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(able["capabilities"]["hoverProvider"], true);
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: Value) {
        let body = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("a pipe");
        self.to.flush().expect("a pipe");
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.from.read_line(&mut line).expect("a line");
            match line.trim().split_once(": ") {
                Some(("Content-Length", n)) => length = n.parse().expect("a number"),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.from.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// Bytes as they are.
    fn raw(&mut self, bytes: &[u8]) {
        self.to.write_all(bytes).expect("a pipe");
        self.to.flush().expect("a pipe");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.read();
            if message["id"] == id {
                return match message.get("error") {
                    Some(error) => error.clone(),
                    None => message["result"].clone(),
                };
            }
        }
    }

    /// Opens the text; what is wrong with it.
    fn open(&mut self, text: &str) -> Value {
        let document = json!({ "uri": FILE, "languageId": "apl", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        let told = self.read();
        assert_eq!(told["method"], "textDocument/publishDiagnostics");
        told["params"]["diagnostics"].clone()
    }

    fn at(&mut self, what: &str, line: u32, character: u32) -> Value {
        let position = json!({ "line": line, "character": character });
        let place = json!({ "textDocument": { "uri": FILE }, "position": position });
        self.ask(&format!("textDocument/{what}"), place)
    }

    fn leave(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        assert!(self.child.wait().expect("an end").success());
    }
}

const TEXT: &str = "⍝ The mean.\navg←{(+/⍵)÷≢⍵}\nx←2×⍳5000\navg x\n";

#[test]
fn what_is_wrong_is_told_as_one_types() {
    let mut editor = Editor::start(&[]);
    assert_eq!(editor.open(TEXT), json!([]));
    let change = json!({ "textDocument": { "uri": FILE, "version": 2 },
        "contentChanges": [{ "text": "'😀'\nx←(1 2\n" }] });
    editor.tell("textDocument/didChange", change);
    let wrong = editor.read()["params"]["diagnostics"].clone();
    assert_eq!(wrong[0]["range"]["start"], json!({ "line": 1, "character": 2 }), "{wrong}");
    assert!(wrong[0]["message"].as_str().is_some_and(|m| m.starts_with("SYNTAX ERROR")));
    editor.leave();
}

#[test]
fn hover_definition_and_completion_know_the_text_and_the_tables() {
    let mut editor = Editor::start(&[]);
    editor.open(TEXT);
    let hover = |told: Value| told["contents"]["value"].as_str().map(String::from);
    let own = hover(editor.at("hover", 3, 1)).expect("a page");
    assert!(own.contains("⍝ The mean.\navg←{(+/⍵)÷≢⍵}"), "{own}");
    let glyph = hover(editor.at("hover", 2, 4)).expect("a page");
    assert!(glyph.contains("iota"), "{glyph}");
    assert_eq!(hover(editor.at("hover", 90, 0)), None);
    let places = editor.at("definition", 3, 1);
    assert_eq!(places[0]["range"]["start"], json!({ "line": 1, "character": 0 }));
    editor.open("avg←1\n`r\nav");
    let first = |told: Value| told["items"][0]["textEdit"].clone();
    let key = first(editor.at("completion", 1, 2));
    assert_eq!((&key["newText"], &key["range"]["start"]["character"]), (&json!("⍴"), &json!(0)));
    assert_eq!(first(editor.at("completion", 2, 2))["newText"], "avg");
    editor.leave();
}

#[test]
fn a_text_runs_where_that_is_asked_for_and_without_effects() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("made");
    let text = format!("{TEXT}'x'⎕NPUT'{}'\n", file.display());
    for (words, known) in [(&[][..], false), (&["--run"][..], true)] {
        let mut editor = Editor::start(words);
        editor.open(&text);
        let told = editor.at("hover", 2, 0)["contents"]["value"].to_string();
        assert_eq!(told.contains("5000 "), known, "{told}");
        editor.leave();
        assert!(!file.exists());
    }
}

#[test]
fn an_odd_editor_ends_nothing() {
    let mut editor = Editor::start(&[]);
    for odd in [json!(null), json!(7), json!({ "textDocument": 3 }), json!([])] {
        assert_eq!(editor.ask("textDocument/hover", odd.clone()), Value::Null);
        editor.tell("textDocument/didSave", odd);
    }
    assert_eq!(editor.ask("textDocument/rename", json!({}))["code"], -32_601);
    editor.leave();
}

/// Bytes that are no message are answered as JSON-RPC says, and the next one is read.
#[test]
fn a_message_that_is_none_ends_nothing() {
    let mut editor = Editor::start(&[]);
    let framed = |body: &[u8]| {
        let head = format!("Content-Length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    };
    let odd: [(Vec<u8>, i32, Value); 11] = [
        (framed(b"{\"a\":"), -32_700, Value::Null),
        (framed(b""), -32_700, Value::Null),
        (framed(b"\xff\xfe"), -32_700, Value::Null),
        (framed(b"5"), -32_600, Value::Null),
        (framed(b"[{}]"), -32_600, Value::Null),
        (framed(b"{\"jsonrpc\":\"2.0\",\"id\":5}"), -32_600, json!(5)),
        (framed(b"{\"id\":0.5,\"method\":\"x\"}"), -32_600, json!(0.5)),
        (framed(b"{\"id\":{},\"method\":\"x\"}"), -32_600, Value::Null),
        (b"Foo: bar\r\n\r\n".to_vec(), -32_700, Value::Null),
        (b"Content-Length: -5\r\n\r\n".to_vec(), -32_700, Value::Null),
        (b"Content-Length: 99999999999999999999999\r\n\r\n".to_vec(), -32_700, Value::Null),
    ];
    for (bytes, code, id) in odd {
        editor.raw(&bytes);
        let said = editor.read();
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        assert_eq!((&said["error"]["code"], &said["id"]), (&json!(code), &id), "{shown}: {said}");
    }
    // One of more than 64 MB is passed over; in parts, as the memory of all tests here is one.
    editor.raw(b"Content-Length: 67108865\r\n\r\n ");
    for _ in 0..64 {
        editor.raw(&[b' '; 1 << 20]);
    }
    assert_eq!(editor.read()["error"]["code"], -32_700);
    // A length that is none: its message is passed over with it.
    editor.raw(b"Content-Length: x\r\n\r\n{\"jsonrpc\":\"2.0\"}");
    assert_eq!(editor.read()["error"]["code"], -32_700);
    assert_eq!(editor.open("x←1"), json!([]));
    editor.leave();
}

/// A length that nothing can have took the process with it.
#[test]
fn a_message_of_any_length_is_refused_at_once() {
    let mut editor = Editor::start(&[]);
    editor.raw(b"Content-Length: 9999999999999999999\r\n\r\n");
    assert_eq!(editor.read()["error"]["code"], -32_700);
    drop(editor.to);
    assert!(editor.child.wait().expect("an end").code().is_some());
}

/// Names have their shapes whether or not a launch computed them, and those of before a text was
/// stopped too.
#[test]
fn small_arrays_have_shapes_as_well() {
    for (text, shapes) in [
        ("x←2 3⍴⍳6\nz←x+1\nf←{+/⍵}\ny←f x\n", &[(0, "2 3 "), (1, "2 3 "), (3, "2 ")][..]),
        ("x←2 3⍴⍳6\nz←÷0\n", &[(0, "2 3 ")]),
        ("x←2 3⍴⍳6\ny←{∇⍵}1\n", &[(0, "2 3 ")]),
    ] {
        let mut editor = Editor::start(&["--run"]);
        editor.open(text);
        for (line, shape) in shapes {
            let told = editor.at("hover", *line, 0)["contents"]["value"].to_string();
            assert!(told.contains(&format!("⍝ {shape}")), "{text} line {line}: {told}");
        }
        editor.leave();
    }
}

/// A phrase that can never run is wrong before it runs.
#[test]
fn a_phrase_without_its_right_argument_is_told() {
    let mut editor = Editor::start(&[]);
    let wrong = editor.open("x←3\ny←1÷\n");
    assert_eq!(wrong[0]["range"]["start"], json!({ "line": 1, "character": 3 }), "{wrong}");
    assert_eq!(wrong[0]["message"], "SYNTAX ERROR: ÷ has no right argument");
    editor.leave();
}

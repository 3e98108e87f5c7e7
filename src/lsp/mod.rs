//! `aplomb lsp`: the language for editors, by the Language Server Protocol over standard input and
//! output. Syntax errors as one types, help under the mouse, completion as at the prompt, where a
//! name gets its value.
//!
//! Nothing of a text runs, unless `--run` was said: then a text that is opened or saved runs
//! without effects, for two seconds at most, and what its statements gave is known to hover.

mod text;
mod wire;

use crate::front::{FAILED, Settings, on_session};
use aplomb_ground::protocol::{Completion, Event, Request, Sink};
use aplomb_ground::span::{Source, Span};
use aplomb_kernel::session::Session;
use lsp_server::{Connection, Message, Notification, RequestId, Response};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Diagnostic, DiagnosticSeverity,
    Position, TextEdit,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use text::Document;

/// Seconds that a text may run.
const SECONDS: f64 = 2.0;
/// A request that nobody knows, in the protocol's numbers.
const UNKNOWN: i32 = -32_601;

/// Serves until the editor leaves; the exit code.
pub fn run(settings: Settings, runs: bool) -> i32 {
    on_session(settings, move |session| {
        let (connection, writer) = wire::connect();
        let mut server = Server { session, open: HashMap::new(), runs };
        match server.serve(&connection) {
            Ok(()) => {
                drop(connection);
                writer.join().map_or(FAILED, |()| 0)
            }
            Err(says) => {
                eprintln!("aplomb lsp: {says}");
                FAILED
            }
        }
    })
}

/// An open document, and what is known of its names.
struct Open {
    document: Document,
    /// Shape and dtype of what a run gave each name.
    shapes: HashMap<String, String>,
}

struct Server<'a> {
    session: &'a mut Session,
    open: HashMap<String, Open>,
    runs: bool,
}

/// Keeps what a session says.
#[derive(Default)]
struct Heard(Vec<Event>);

impl Sink for Heard {
    fn event(&mut self, event: Event) {
        self.0.push(event);
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

impl Server<'_> {
    fn ask(&mut self, request: Request) -> Vec<Event> {
        let mut heard = Heard::default();
        self.session.handle(request, &mut heard);
        heard.0
    }

    /// Errors: a sentence; the editor speaks another protocol.
    fn serve(&mut self, connection: &Connection) -> Result<(), String> {
        // 1: a document is sent whole at each change.
        let able = json!({
            "textDocumentSync": { "openClose": true, "change": 1, "save": {} },
            "hoverProvider": true,
            "definitionProvider": true,
            "completionProvider": { "triggerCharacters": ["`", "⎕", "]", ":"] },
        });
        connection.initialize(able).map_err(|e| e.to_string())?;
        for message in &connection.receiver {
            match message {
                Message::Request(request) => {
                    if connection.handle_shutdown(&request).map_err(|e| e.to_string())? {
                        return Ok(());
                    }
                    let answer = self.answer(&request.method, &request.params);
                    let reply = reply(request.id, &request.method, answer);
                    connection.sender.send(reply.into()).map_err(|e| e.to_string())?;
                }
                Message::Notification(told) => {
                    for said in self.hear(&told.method, &told.params) {
                        connection.sender.send(said.into()).map_err(|e| e.to_string())?;
                    }
                }
                Message::Response(_) => {}
            }
        }
        Ok(())
    }

    /// The answer to a request; None: it is not known.
    fn answer(&mut self, method: &str, params: &Value) -> Option<Value> {
        let uri = uri_of(params);
        let position = serde_json::from_value::<Position>(params["position"].clone()).ok();
        let known = matches!(
            method,
            "textDocument/hover" | "textDocument/definition" | "textDocument/completion"
        );
        if !known {
            return None;
        }
        let at = self.open.get(&uri).zip(position).map(|(open, p)| open.document.at(p));
        let Some(at) = at else { return Some(Value::Null) };
        Some(match method {
            "textDocument/hover" => self.hover(&uri, at),
            "textDocument/definition" => self.definition(&uri, at),
            _ => self.completion(&uri, at),
        })
    }

    /// A notification, and what is said to it: what is wrong with a document that changed.
    fn hear(&mut self, method: &str, params: &Value) -> Vec<Notification> {
        let uri = uri_of(params);
        let text = match method {
            "textDocument/didOpen" => params["textDocument"]["text"].as_str(),
            "textDocument/didChange" => {
                let changes = params["contentChanges"].as_array();
                changes.and_then(|all| all.last()).and_then(|last| last["text"].as_str())
            }
            "textDocument/didSave" => {
                self.learn(&uri);
                return Vec::new();
            }
            "textDocument/didClose" => {
                self.open.remove(&uri);
                return vec![wrong(&uri, Vec::new())];
            }
            _ => return Vec::new(),
        };
        let Some(text) = text else { return Vec::new() };
        let document = Document::new(text.into());
        let shapes = self.open.remove(&uri).map_or(HashMap::new(), |open| open.shapes);
        self.open.insert(uri.clone(), Open { document, shapes });
        if method == "textDocument/didOpen" {
            self.learn(&uri);
        }
        vec![wrong(&uri, self.diagnostics(&uri))]
    }

    fn diagnostics(&mut self, uri: &str) -> Vec<Diagnostic> {
        let Some(open) = self.open.get(uri) else { return Vec::new() };
        let source = Source::new("text", open.document.text.as_str());
        let one = |error: &aplomb_ground::error::Error| {
            let parts = error.parts();
            let span = parts.place.as_ref().map_or(Span::new(0, 0), |p| p.span);
            let hint = parts.hint.as_ref().map_or(String::new(), |hint| format!("\n{hint}"));
            Diagnostic {
                range: open.document.range(span),
                severity: Some(DiagnosticSeverity::ERROR),
                source: Some("aplomb".into()),
                message: format!("{}: {}{hint}", error.name(), parts.says),
                ..Diagnostic::default()
            }
        };
        self.session.check(&source).iter().map(one).collect()
    }

    /// Runs a document without effects, where that is wanted, for the shapes of its names.
    fn learn(&mut self, uri: &str) {
        let Some(open) = self.open.get(uri).filter(|_| self.runs) else { return };
        let code = open.document.text.clone();
        let limits = &mut self.session.core().limits;
        let before = std::mem::replace(&mut limits.seconds, SECONDS);
        let name = "text".to_string();
        let mut heard = Heard::default();
        let arrays = self.session.names_after(&code, &name, &mut heard);
        self.session.core().limits.seconds = before;
        // Names inside of functions are known to their nodes alone.
        let mut shapes = HashMap::new();
        for event in heard.0 {
            let nodes = match &event {
                Event::Trace(trace) => trace.nodes.as_slice(),
                _ => &[],
            };
            for (node, name) in nodes.iter().filter_map(|node| Some((node, node.name.as_ref()?))) {
                let shape: Vec<String> = node.shape.iter().map(|n| n.to_string()).collect();
                let shape = if shape.is_empty() { "scalar".into() } else { shape.join(" ") };
                shapes.insert(name.clone(), format!("{shape} {}", node.dtype));
            }
        }
        let bare = |says: String| says.trim_end_matches(", pending").to_string();
        shapes.extend(arrays.into_iter().map(|(name, says)| (name, bare(says))));
        if let Some(open) = self.open.get_mut(uri) {
            open.shapes = shapes;
        }
    }

    /// Of a name its definition, with the comment above it and its shape where a run gave one; of
    /// all else the page of help.
    fn hover(&mut self, uri: &str, at: usize) -> Value {
        let Some(open) = self.open.get(uri) else { return Value::Null };
        let name = open.document.name(at).map(String::from);
        let first = name.as_ref().and_then(|n| open.document.definitions(n).first().copied());
        let shape = name.as_ref().and_then(|name| open.shapes.get(name));
        let told = match first {
            Some(span) => {
                let shape = shape.map_or(String::new(), |shape| format!("\n⍝ {shape}"));
                Some(format!("```apl\n{}{shape}\n```", open.document.told(span)))
            }
            None => {
                let code = open.document.text.clone();
                let events = self.ask(Request::Inspect { code, cursor: at });
                let page = |event| match event {
                    Event::Inspection(text) => text,
                    _ => None,
                };
                events.into_iter().find_map(page).map(|page| format!("```text\n{page}\n```"))
            }
        };
        told.map_or(
            Value::Null,
            |value| json!({ "contents": { "kind": "markdown", "value": value } }),
        )
    }

    fn definition(&self, uri: &str, at: usize) -> Value {
        let Some(open) = self.open.get(uri) else { return Value::Null };
        let spans = open.document.name(at).map(|name| open.document.definitions(name));
        let place = |span| json!({ "uri": uri, "range": open.document.range(span) });
        spans.into_iter().flatten().map(place).collect()
    }

    /// As the prompt completes, and the names of the document.
    fn completion(&mut self, uri: &str, at: usize) -> Value {
        let Some(open) = self.open.get(uri) else { return Value::Null };
        let code = open.document.text.clone();
        let own = open.document.name(at).map(String::from);
        let events = self.ask(Request::Complete { code, cursor: at });
        let Some(open) = self.open.get(uri) else { return Value::Null };
        let mut found = Vec::new();
        for event in events {
            if let Event::Completions { start, end, items } = event {
                let span = Span::new(start as u32, end as u32);
                found.extend(items.into_iter().map(|item| (span, item)));
            }
        }
        if let Some(begun) = own {
            let names = open.document.names().into_iter().filter(|n| n.starts_with(&begun));
            let span = Span::new((at - begun.chars().count().min(at)) as u32, at as u32);
            let item = |name: &str| Completion {
                text: name.into(),
                kind: "variable",
                says: open.shapes.get(name).map_or(String::new(), String::clone),
            };
            // Before what the tables have: it is written here.
            let own = names.filter(|n| **n != *begun).map(|name| (span, item(name)));
            found.splice(0..0, own.collect::<Vec<_>>());
        }
        let item = |(k, (span, item)): (usize, (Span, Completion))| CompletionItem {
            // What was typed, by a key or a name, is no part of a glyph.
            filter_text: Some(
                open.document.text.chars().skip(span.start as usize).take(span.len()).collect(),
            ),
            label: item.text.clone(),
            kind: Some(kind_of(item.kind)),
            detail: Some(item.says).filter(|says| !says.is_empty()),
            sort_text: Some(format!("{k:04}")),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit {
                range: open.document.range(span),
                new_text: item.text,
            })),
            ..CompletionItem::default()
        };
        let items: Vec<CompletionItem> = found.into_iter().enumerate().map(item).collect();
        json!({ "isIncomplete": true, "items": items })
    }
}

fn kind_of(kind: &str) -> CompletionItemKind {
    match kind {
        "function" => CompletionItemKind::FUNCTION,
        "operator" => CompletionItemKind::OPERATOR,
        "variable" | "argument" => CompletionItemKind::VARIABLE,
        "system" | "command" => CompletionItemKind::KEYWORD,
        "file" => CompletionItemKind::FILE,
        "idiom" => CompletionItemKind::SNIPPET,
        _ => CompletionItemKind::TEXT,
    }
}

/// The document that a message is about; empty where it names none.
fn uri_of(params: &Value) -> String {
    params["textDocument"]["uri"].as_str().map_or(String::new(), String::from)
}

/// The notification of the errors of a document.
fn wrong(uri: &str, diagnostics: Vec<Diagnostic>) -> Notification {
    let params = json!({ "uri": uri, "diagnostics": diagnostics });
    Notification::new("textDocument/publishDiagnostics".into(), params)
}

fn reply(id: RequestId, method: &str, answer: Option<Value>) -> Response {
    match answer {
        Some(value) => Response::new_ok(id, value),
        None => Response::new_err(id, UNKNOWN, format!("{method} is not answered here")),
    }
}

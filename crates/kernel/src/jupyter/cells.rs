//! `execute_request`: a cell through the session, what it says to all clients, its questions to the
//! one that sent it.

use super::debug::Variable;
use super::interrupts::Interrupts;
use super::iopub::{Publisher, Stream};
use super::mime;
use super::requests::{flag, text};
use super::shell::Kernel;
use super::sockets::{Door, Heard};
use super::wire::{Message, Wire};
use crate::session::{Session, failure, kind_of};
use aplomb_ground::protocol::{Event, Failure, Request, Sink, Status, TEXT};
use aplomb_values::array::Array;
use aplomb_values::array::format;
use jupyter_protocol::{
    ClearOutput, DisplayData, ErrorOutput, ExecuteInput, ExecuteReply, ExecuteResult,
    ExpressionResult, InputRequest, Media, ReplyError, ReplyStatus, Transient, UpdateDisplayData,
};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Milliseconds between looks at the interrupt while someone types.
const LOOK: u32 = 20;

/// Hears the session while a cell runs.
struct Cell<'a> {
    message: &'a Message,
    wire: &'a Wire,
    iopub: &'a Publisher,
    stdin: &'a Door,
    interrupts: &'a Interrupts,
    count: usize,
    silent: bool,
    may_ask: bool,
    failure: Option<Failure>,
    exit: Option<i32>,
    shown: String,
}

impl Sink for Cell<'_> {
    fn event(&mut self, event: Event) {
        let parent = &self.message.header;
        match event {
            Event::Status(Status::Busy) => self.interrupts.again(),
            Event::Stream(text) => self.iopub.print(parent, Stream::Out, &text),
            Event::Aside(text) => self.iopub.print(parent, Stream::Err, &text),
            Event::Notice(text) => self.iopub.print(parent, Stream::Out, &format!("{text}\n")),
            Event::Clear => self.iopub.publish(parent, ClearOutput { wait: true }),
            Event::Named { id, page, again } => {
                let (data, metadata) = (mime::media(page), Map::new());
                let transient = Transient { display_id: Some(id) };
                match again {
                    true => {
                        let update = UpdateDisplayData { data, metadata, transient };
                        self.iopub.publish(parent, update);
                    }
                    false => {
                        let transient = Some(transient);
                        self.iopub.publish(parent, DisplayData { data, metadata, transient });
                    }
                }
            }
            Event::Display(bundle) if bundle.len() > 1 || !is_empty(bundle.get(TEXT)) => {
                let data = mime::media(bundle);
                self.iopub
                    .publish(parent, DisplayData { data, metadata: Map::new(), transient: None });
            }
            Event::Result(bundle) if !self.silent => {
                self.shown.push_str(bundle.get(TEXT).map_or("", String::as_str));
                let data = mime::media(bundle);
                // None would be null, which clients refuse.
                let transient = Some(Transient::default());
                let execution_count = self.count.into();
                self.iopub.publish(
                    parent,
                    ExecuteResult { execution_count, data, metadata: Map::new(), transient },
                );
            }
            Event::Error(failure) => {
                let ReplyError { ename, evalue, traceback } = told(&failure);
                self.iopub.publish(parent, ErrorOutput { ename, evalue, traceback });
                self.failure = Some(failure);
            }
            Event::Exit(code) => self.exit = Some(code),
            _ => {}
        }
    }

    /// A line from the client that sent the cell. None: it has nobody to ask, or the cell was
    /// interrupted. ⍞'s prompt is printed already; the client would show it twice.
    fn input(&mut self, _prompt: &str) -> Option<String> {
        if !self.may_ask {
            return None;
        }
        // Answers to questions that were given up.
        while self.stdin.pending().is_some() {}
        self.iopub.flushed();
        let ask = InputRequest { prompt: String::new(), password: false };
        let frames = self.wire.compose(
            &self.message.identities,
            "input_request",
            &self.message.header,
            &ask.into(),
        );
        self.stdin.send(frames);
        while !self.interrupts.wanted() {
            match self.stdin.receive(Some(LOOK)) {
                Heard::Frames(frames) => match self.wire.accept(&frames) {
                    Some(reply) if reply.kind == "input_reply" => {
                        return Some(text(&reply.content, "value").into());
                    }
                    _ => {}
                },
                Heard::Nothing => {}
                Heard::Over => return None,
            }
        }
        None
    }

    fn rich(&self) -> bool {
        true
    }
}

fn is_empty(text: Option<&String>) -> bool {
    text.is_some_and(|t| t.is_empty())
}

/// Colours of a report that a page would show as they are, on any ground, and those of the page's
/// theme in their place.
const PAGED: &[(&str, &str)] = &[
    ("\x1b[38;5;249m", "\x1b[0m"),
    ("\x1b[38;5;246m", "\x1b[90m"),
    ("\x1b[38;5;240m", "\x1b[90m"),
    ("\x1b[38;5;115m", "\x1b[32m"),
];

/// The report as a terminal shows it, a line each: pages show its colours.
/// A text whose colours are said where they change, and not for each character.
fn merged(text: &str) -> String {
    let (mut out, mut said, mut wanted) = (String::new(), "0", "0");
    let mut pieces = text.split("\x1b[");
    out.push_str(pieces.next().map_or("", |first| first));
    for piece in pieces {
        let Some((code, text)) = piece.split_once('m') else {
            out.push_str(piece);
            return out;
        };
        wanted = code;
        if !text.is_empty() && wanted != said {
            out.push_str(&format!("\x1b[{wanted}m"));
            said = wanted;
        }
        out.push_str(text);
    }
    if wanted != said {
        out.push_str(&format!("\x1b[{wanted}m"));
    }
    out
}

fn told(failure: &Failure) -> ReplyError {
    let paged =
        PAGED.iter().fold(failure.coloured.clone(), |text, (from, to)| text.replace(from, to));
    ReplyError {
        ename: failure.name.clone(),
        evalue: failure.says.clone(),
        traceback: paged.lines().map(merged).collect(),
    }
}

impl Kernel {
    pub fn execute(&mut self, message: &Message) -> ExecuteReply {
        let content = &message.content;
        let code = text(content, "code").to_string();
        let silent = flag(content, "silent", false);
        let counts = !silent && flag(content, "store_history", true);
        self.interrupts.begin();
        if counts {
            self.count += 1;
            self.history.add(self.count, &code);
        }
        let count = self.count;
        if !silent {
            let input = ExecuteInput { code: code.clone(), execution_count: count.into() };
            self.iopub.publish(&message.header, input);
        }
        let mut cell = Cell {
            message,
            wire: &self.wire,
            iopub: &self.iopub,
            stdin: &self.stdin,
            interrupts: &self.interrupts,
            count,
            silent,
            may_ask: flag(content, "allow_stdin", false),
            failure: None,
            exit: None,
            shown: String::new(),
        };
        self.progress.begin(&message.header, cell.may_ask && !silent);
        let name = if counts { format!("cell {count}") } else { "cell".into() };
        self.session.handle(Request::Execute { code, name: name.clone(), silent }, &mut cell);
        let (failure, exit, shown) = (cell.failure, cell.exit, cell.shown);
        self.progress.end(&self.iopub);
        self.variables.set(variables(&mut self.session));
        if !silent {
            self.tell_cell(message, &name, failure.as_ref());
        }
        if counts {
            self.history.output(&shown);
        }
        self.exit = self.exit.or(exit);
        let expressions = match (&failure, content.get("user_expressions")) {
            (None, Some(Value::Object(wanted))) => wanted
                .iter()
                .map(|(name, expr)| (name.clone(), value_of(&mut self.session, expr)))
                .collect(),
            _ => HashMap::new(),
        };
        self.interrupts.end();
        if failure.is_some() && flag(content, "stop_on_error", true) {
            self.abort_waiting();
        }
        ExecuteReply {
            status: if failure.is_some() { ReplyStatus::Error } else { ReplyStatus::Ok },
            execution_count: count.into(),
            payload: Vec::new(),
            user_expressions: Some(expressions),
            error: failure.as_ref().map(|f| Box::new(told(f))),
        }
    }
}

/// The names of the workspace.
fn variables(session: &mut Session) -> Vec<Variable> {
    let names = session.interp().names().into_iter();
    names.map(|n| Variable { name: n.name, says: n.says, kind: kind_of(n.class) }).collect()
}

/// One of `user_expressions`: its text, or its error. The workspace is left alone.
fn value_of(session: &mut Session, expr: &Value) -> ExpressionResult {
    session.core().begin();
    let value = session.value_of(expr.as_str().unwrap_or(""));
    let style = session.style();
    let shown = |a: Array| format::display(&a, &style, &session.core().budget);
    let text = value.and_then(|value| value.map(shown).transpose());
    session.core().end();
    match text {
        Ok(text) => {
            let data =
                text.map_or(Media::default(), |text| mime::plain(text.trim_end_matches('\n')));
            ExpressionResult::Ok { data, metadata: Map::new() }
        }
        Err(error) => {
            let ReplyError { ename, evalue, traceback } =
                told(&failure(&session.core().settle(error)));
            ExpressionResult::Error { ename, evalue, traceback }
        }
    }
}

//! Requests that read and do not run: a function and a route each. Clients leave fields out, so
//! each has a default, and none stays unanswered.
//!
//! Positions are code points, as in the session's protocol.

use super::interrupts::Interrupts;
use super::mime;
use super::shell::Kernel;
use super::wire::{Message, PROTOCOL};
use aplomb_ground::error::Kind;
use aplomb_ground::protocol::{Completeness, Event, MimeBundle, Request, Sink, Status, TEXT};
use jupyter_protocol::{
    CompleteReply, HelpLink, InspectReply, IsCompleteReply, JupyterMessageContent, KernelInfoReply,
    LanguageInfo, ReplyStatus, ShutdownReply, UnknownMessage,
};
use serde_json::{Map, Value, json};

pub type Handler = fn(&mut Kernel, &Message) -> Option<JupyterMessageContent>;

/// Requests of the shell socket.
pub const ROUTES: &[(&str, Handler)] = &[
    ("execute_request", |kernel, message| Some(kernel.execute(message).into())),
    ("kernel_info_request", |_, _| Some(kernel_info())),
    ("complete_request", |kernel, message| Some(complete(kernel, message).into())),
    ("inspect_request", |kernel, message| Some(inspect(kernel, message).into())),
    ("is_complete_request", |kernel, message| Some(is_complete(kernel, message).into())),
    ("history_request", |kernel, message| Some(kernel.history.answer(&message.content).into())),
    ("comm_info_request", |kernel, message| Some(kernel.comms.answer(&message.content).into())),
    ("debug_request", |kernel, message| Some(kernel.variables.answer(&message.content))),
    ("comm_open", |kernel, message| kernel.comm_open(message)),
    ("comm_msg", |kernel, message| kernel.comm_message(message)),
    ("comm_close", |kernel, message| kernel.comm_close(message)),
    ("shutdown_request", |kernel, message| {
        kernel.exit = Some(0);
        Some(shutdown(message))
    }),
];

pub fn text<'a>(content: &'a Map<String, Value>, name: &str) -> &'a str {
    content.get(name).and_then(Value::as_str).unwrap_or("")
}

pub fn flag(content: &Map<String, Value>, name: &str, default: bool) -> bool {
    content.get(name).and_then(Value::as_bool).unwrap_or(default)
}

/// Pages on the language, for a menu.
const HELP: &[(&str, &str)] = &[
    ("APL Wiki", "https://aplwiki.com/"),
    ("APLcart: phrases", "https://aplcart.info/"),
    ("Dyalog APL: language", "https://docs.dyalog.com/latest/language-reference-guide/"),
];

fn link((text, url): &(&str, &str)) -> HelpLink {
    HelpLink { text: text.to_string(), url: url.to_string() }
}

pub fn kernel_info() -> JupyterMessageContent {
    let version = env!("CARGO_PKG_VERSION").to_string();
    let language_info = LanguageInfo {
        name: "apl".into(),
        version: version.clone(),
        mimetype: Some("text/apl".into()),
        file_extension: Some(".apl".into()),
        pygments_lexer: Some("apl".into()),
        codemirror_mode: None,
        nbconvert_exporter: None,
    };
    let banner =
        format!("Aplomb {version}: an APL that shows its work. ]help lists commands and topics.");
    let reply = KernelInfoReply {
        status: ReplyStatus::Ok,
        protocol_version: PROTOCOL.into(),
        implementation: "aplomb".into(),
        implementation_version: version,
        language_info,
        banner,
        help_links: HELP.iter().map(link).collect(),
        debugger: false,
        error: None,
    };
    // A front end that has no mode of that name takes the one of the type: a name alone would be
    // the only thing it tries.
    let Ok(mut content) = serde_json::to_value(reply) else {
        return error("kernel_info_request", Kind::Internal.name(), "the reply is no JSON".into());
    };
    content["language_info"]["codemirror_mode"] = json!({ "name": "aplomb", "mime": "text/apl" });
    JupyterMessageContent::UnknownMessage(UnknownMessage {
        msg_type: "kernel_info_reply".into(),
        content,
    })
}

pub fn shutdown(message: &Message) -> JupyterMessageContent {
    ShutdownReply { restart: flag(&message.content, "restart", false), ..Default::default() }.into()
}

/// A request without a route: an error, so that nobody waits. Other messages have no answer.
pub fn unknown(kind: &str) -> Option<JupyterMessageContent> {
    kind.ends_with("_request")
        .then(|| error(kind, Kind::Nonce.name(), format!("{kind} is not answered here")))
}

/// A defect ended this request.
pub fn failed(kind: &str) -> Option<JupyterMessageContent> {
    Some(error(kind, Kind::Internal.name(), "a defect of Aplomb ended this request".into()))
}

fn error(kind: &str, ename: &str, evalue: String) -> JupyterMessageContent {
    let msg_type = format!("{}_reply", kind.strip_suffix("_request").unwrap_or(kind));
    let content =
        json!({ "status": "error", "ename": ename, "evalue": evalue, "traceback": [evalue] });
    JupyterMessageContent::UnknownMessage(UnknownMessage { msg_type, content })
}

/// Keeps what a session says to one request.
pub struct Heard<'a> {
    pub events: Vec<Event>,
    interrupts: &'a Interrupts,
}

impl Heard<'_> {
    /// Nothing yet.
    pub fn new(interrupts: &Interrupts) -> Heard<'_> {
        Heard { events: Vec::new(), interrupts }
    }
}

impl Sink for Heard<'_> {
    fn event(&mut self, event: Event) {
        if event == Event::Status(Status::Busy) {
            self.interrupts.again();
        }
        self.events.push(event);
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

pub fn ask(kernel: &mut Kernel, request: Request) -> Vec<Event> {
    let mut heard = Heard::new(&kernel.interrupts);
    kernel.session.handle(request, &mut heard);
    heard.events
}

/// Code and cursor; a cursor beyond the code is at its end.
fn place(message: &Message) -> (String, usize) {
    let code = text(&message.content, "code").to_string();
    let length = code.chars().count();
    let cursor = message
        .content
        .get("cursor_pos")
        .and_then(Value::as_u64)
        .map_or(length, |c| c.min(length as u64) as usize);
    (code, cursor)
}

fn complete(kernel: &mut Kernel, message: &Message) -> CompleteReply {
    let (code, cursor) = place(message);
    let mut reply =
        CompleteReply { cursor_start: cursor, cursor_end: cursor, ..Default::default() };
    for event in ask(kernel, Request::Complete { code, cursor }) {
        let Event::Completions { start, end, items } = event else { continue };
        if items.is_empty() {
            continue;
        }
        (reply.cursor_start, reply.cursor_end) = (start, end);
        // What JupyterLab shows beside each.
        let labels = items.iter().map(|i| {
            json!({ "start": start, "end": end, "text": i.text, "type": i.kind,
                "signature": i.says })
        });
        reply.metadata.insert("_jupyter_types_experimental".into(), labels.collect());
        reply.matches = items.into_iter().map(|i| i.text).collect();
    }
    reply
}

fn inspect(kernel: &mut Kernel, message: &Message) -> InspectReply {
    let (code, cursor) = place(message);
    let found =
        ask(kernel, Request::Inspect { code, cursor }).into_iter().find_map(|event| match event {
            Event::Inspection(text) => text,
            _ => None,
        });
    let Some(text) = found else { return InspectReply::default() };
    InspectReply {
        found: true,
        data: mime::media(MimeBundle::from([(TEXT.to_string(), text)])),
        ..Default::default()
    }
}

fn is_complete(kernel: &mut Kernel, message: &Message) -> IsCompleteReply {
    let code = text(&message.content, "code").to_string();
    let found =
        ask(kernel, Request::IsComplete { code }).into_iter().find_map(|event| match event {
            Event::IsComplete(how) => Some(how),
            _ => None,
        });
    match found {
        Some(Completeness::Complete) => IsCompleteReply::complete(),
        Some(Completeness::More) => IsCompleteReply::incomplete("  ".into()),
        Some(Completeness::Never) => IsCompleteReply::invalid(),
        None => IsCompleteReply::unknown(),
    }
}

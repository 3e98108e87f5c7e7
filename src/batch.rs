//! `aplomb eval --batch`: one JSON request a line, one answer a line, a fresh workspace each.
//!
//! Always: every line is answered before the next is read, also one that is no request. Never: an
//! end because of one.

use crate::front::{Settings, on_session, plain, print};
use crate::script::Pieces;
use aplomb_ground::protocol::{Event, Failure, Request, Sink};
use aplomb_kernel::session::Session;
use serde_json::{Value, json};
use std::io::BufRead;

/// Bytes of display after which the rest is left out.
const MOST: usize = 1 << 20;

#[derive(Default)]
struct Heard {
    display: String,
    error: Option<Failure>,
    over: bool,
}

impl Sink for Heard {
    fn event(&mut self, event: Event) {
        match event {
            Event::Stream(text) => self.show(&text),
            Event::Aside(text) => crate::front::say(&text),
            Event::Notice(text) => eprintln!("aplomb: {text}"),
            Event::Result(bundle) | Event::Display(bundle) | Event::Named { page: bundle, .. } => {
                self.show(&plain(&bundle));
            }
            Event::Error(failure) => self.error = Some(failure),
            Event::Exit(_) => self.over = true,
            _ => {}
        }
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

impl Heard {
    fn show(&mut self, text: &str) {
        let room = MOST.saturating_sub(self.display.len());
        if text.len() <= room {
            self.display.push_str(text);
        } else if room > 0 {
            let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            self.display.push_str(&text[..end]);
            self.display.push_str("\n… the rest is left out\n");
        }
    }
}

/// A request may take so many seconds unless `--limit seconds=N` says otherwise.
const SECONDS: f64 = 5.0;

pub fn run(mut settings: Settings) -> i32 {
    if settings.limits.seconds == 0.0 {
        settings.limits.seconds = SECONDS;
    }
    on_session(settings.clone(), move |session| {
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            match input.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return 0,
                Ok(_) if line.trim_ascii().is_empty() => continue,
                Ok(_) => print(&format!("{}\n", answer(session, &settings, &line))),
            }
        }
    })
}

fn answer(session: &mut Session, settings: &Settings, line: &[u8]) -> Value {
    let (id, lines) = match request(line) {
        Ok(found) => found,
        Err((id, says)) => {
            let error = json!({ "kind": "SYNTAX ERROR", "span": null, "says": says });
            return json!({ "id": id, "ok": false, "display": "", "error": error });
        }
    };
    fresh(session, settings);
    let mut heard = Heard::default();
    let mut pieces = Pieces::default();
    let mut waiting = lines.iter();
    loop {
        let next = waiting.next();
        let ready = match next {
            Some(line) => pieces.line(line),
            None => pieces.rest(),
        };
        if let Some((code, name)) = ready {
            session.handle(Request::Execute { code, name, silent: false }, &mut heard);
        }
        if next.is_none() || heard.error.is_some() || heard.over {
            break;
        }
    }
    if heard.error.is_none() && !heard.over {
        session.finish(&mut heard);
    }
    let error = heard
        .error
        .map(|e| json!({ "kind": e.name, "span": e.span.map(|(a, b)| [a, b]), "says": e.says }));
    json!({ "id": id, "ok": error.is_none(), "display": heard.display, "error": error })
}

/// Names, switches and limits as at the start; device and threads stay.
fn fresh(session: &mut Session, settings: &Settings) {
    session.handle(Request::Restart, &mut Heard::default());
    *session.options() = Default::default();
    *session.interp().view() = Default::default();
    session.core().set_tracing(false);
    session.core().limits = settings.limits.clone();
    settings.prepare(session);
}

/// The id and the lines. Errors: the id, if there was one, and what is wrong.
fn request(line: &[u8]) -> Result<(Value, Vec<String>), (Value, String)> {
    let value: Value =
        serde_json::from_slice(line).map_err(|e| (Value::Null, format!("this is no JSON: {e}")))?;
    let id = value.get("id").cloned().unwrap_or(Value::Null);
    let lines = value.get("lines").and_then(Value::as_array);
    let lines = lines.and_then(|all| {
        all.iter().map(|l| l.as_str().map(String::from)).collect::<Option<Vec<_>>>()
    });
    match lines {
        Some(lines) => Ok((id, lines)),
        None => Err((id, "a request is {\"id\":…,\"lines\":[\"text\",…]}".into())),
    }
}

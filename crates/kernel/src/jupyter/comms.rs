//! Comms: who looks on, and what they are told. One target, `aplomb.trace`: a message for every
//! cell that ran.
//!
//! Looking changes nothing: a cell runs as it would, what it compiles is told, and a cell that
//! compiled nothing is told as `]why` would, within a second. A client that is heard of no more is
//! closed; one that lives opens again. What another target opens is closed at once.

use super::requests::{Heard, ask, text};
use super::shell::Kernel;
use super::wire::Message;
use aplomb_ground::protocol::{Event, Failure, Request, Switches};
use aplomb_ground::trace::Trace;
use jupyter_protocol::{
    CommClose, CommId, CommInfo, CommInfoReply, CommMsg, JupyterMessageContent,
};
use serde_json::{Map, Value, json};

/// The name of the one comm target.
pub const TARGET: &str = "aplomb.trace";

/// Comms that may be open.
const MOST: usize = 16;
/// Stories told to a client that says nothing.
const UNHEARD: u32 = 64;
/// Bytes of JSON in one message.
const LARGEST: usize = 24 << 20;
/// Seconds that telling a cell of small values may take.
const WAIT: f64 = 1.0;

#[derive(Default)]
pub struct Comms(Vec<Comm>);

struct Comm {
    id: String,
    unheard: u32,
}

impl Comms {
    /// To `comm_info_request`.
    pub fn answer(&self, content: &Map<String, Value>) -> CommInfoReply {
        let wanted = content.get("target_name").and_then(Value::as_str).is_none_or(|t| t == TARGET);
        let row = |c: &Comm| (CommId(c.id.clone()), CommInfo { target_name: TARGET.into() });
        CommInfoReply {
            comms: self.0.iter().filter(|_| wanted).map(row).collect(),
            ..Default::default()
        }
    }

    fn find(&mut self, id: &str) -> Option<&mut Comm> {
        self.0.iter_mut().find(|c| c.id == id)
    }
}

/// The traces that are told of one text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Story {
    /// The name by which spans call the text.
    pub name: String,
    /// The text, where no cell of this moment has it.
    pub code: Option<String>,
    pub switches: Switches,
    pub traces: Vec<Trace>,
    pub failure: Option<Failure>,
}

impl Story {
    /// As `comm_msg` has it. Traces beyond the largest message are left out, and counted.
    pub fn json(&self) -> Map<String, Value> {
        let (mut traces, mut bytes, mut left_out) = (Vec::new(), 0, 0);
        for trace in &self.traces {
            match serde_json::to_string(trace) {
                Ok(text) if bytes + text.len() <= LARGEST => {
                    bytes += text.len();
                    traces.extend(serde_json::from_str::<Value>(&text).ok());
                }
                _ => left_out += 1,
            }
        }
        let failure = self.failure.as_ref().map(|f| {
            json!({ "name": f.name, "number": f.number, "says": f.says, "span": f.span,
                "source": f.source,
                    "report": f.report })
        });
        let Switches { preset, off } = &self.switches;
        let told = json!({ "name": self.name, "code": self.code, "preset": preset, "off": off,
            "traces": traces,
                           "left_out": left_out, "failure": failure });
        match told {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// The story that a client makes of it; what it cannot read is left out.
    pub fn read(data: &Value) -> Story {
        let own = |v: &Value, name: &str| v[name].as_str().unwrap_or("").to_string();
        let traces = data["traces"].as_array().into_iter().flatten();
        let failure = data["failure"].as_object().map(|_| {
            let f = &data["failure"];
            let report = own(f, "report");
            Failure {
                name: own(f, "name"),
                number: f["number"].as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
                says: own(f, "says"),
                span: serde_json::from_value(f["span"].clone()).ok(),
                source: own(f, "source"),
                coloured: report.clone(),
                report,
            }
        });
        Story {
            name: own(data, "name"),
            code: data["code"].as_str().map(String::from),
            switches: switches_of(data),
            traces: traces.filter_map(|t| serde_json::from_value(t.clone()).ok()).collect(),
            failure,
        }
    }
}

fn switches_of(data: &Value) -> Switches {
    let off = data["off"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|v| Some(v.as_str()?.to_string()))
        .collect();
    Switches { preset: data["preset"].as_str().unwrap_or("").to_string(), off }
}

/// Those that the traces were made under; else those of the session.
fn switches_in(traces: &[Trace]) -> Option<Switches> {
    let config = &traces.first()?.config;
    let preset = if config.preset == "all" { String::new() } else { config.preset.clone() };
    Some(Switches { preset, off: config.off.clone() })
}

/// The traces among events, and the failure.
fn heard(events: Vec<Event>) -> (Vec<Trace>, Option<Failure>) {
    let (mut traces, mut failure) = (Vec::new(), None);
    for event in events {
        match event {
            Event::Trace(trace) => traces.push(*trace),
            Event::Error(f) => failure = Some(f),
            _ => {}
        }
    }
    (traces, failure)
}

type Answer = Option<JupyterMessageContent>;

impl Kernel {
    pub fn comm_open(&mut self, message: &Message) -> Answer {
        let id = text(&message.content, "comm_id").to_string();
        if text(&message.content, "target_name") != TARGET || self.comms.0.len() >= MOST {
            let close = CommClose { comm_id: CommId(id), data: Map::new() };
            self.iopub.publish(&message.header, close);
            return None;
        }
        if self.comms.find(&id).is_none() {
            self.comms.0.push(Comm { id: id.clone(), unheard: 0 });
            self.session.core().set_followed(true);
        }
        let data = message.content.get("data").cloned().unwrap_or_default();
        // Who asks later wants no answer to a question that it did not ask.
        if data["quiet"] != true {
            let last = self.story_again(None).unwrap_or_default();
            self.publish(message, &id, last.json());
        }
        None
    }

    pub fn comm_message(&mut self, message: &Message) -> Answer {
        let id = text(&message.content, "comm_id").to_string();
        let comm = self.comms.find(&id)?;
        comm.unheard = 0;
        let data = message.content.get("data").cloned().unwrap_or_default();
        if data.get("off").is_some() || data.get("preset").is_some() {
            let switches = Some(switches_of(&data));
            let mut told = match data["source"].as_str() {
                None => self.story_again(switches).map_or(Story::default(), |s| s).json(),
                Some(source) => {
                    let said = data["statement"].as_str().map_or("", |said| said);
                    match self.story_of(source, said, switches) {
                        Some(story) => story.json(),
                        None => {
                            let mut none = Story::default().json();
                            let says = format!("{source} ran too long ago: run it again");
                            none.insert("gone".into(), says.into());
                            none
                        }
                    }
                }
            };
            // The asker's own number, by which it knows its answer.
            if let Some(question) = data.get("question") {
                told.insert("question".into(), question.clone());
            }
            self.publish(message, &id, told);
        }
        None
    }

    pub fn comm_close(&mut self, message: &Message) -> Answer {
        let id = text(&message.content, "comm_id");
        self.forget(|c| c.id == id);
        None
    }

    fn forget(&mut self, which: impl Fn(&Comm) -> bool) {
        let was = self.comms.0.len();
        self.comms.0.retain(|c| !which(c));
        if self.comms.0.is_empty() && was > 0 {
            self.session.core().set_followed(false);
        }
    }

    fn publish(&self, message: &Message, id: &str, data: Map<String, Value>) {
        self.iopub.publish(&message.header, CommMsg { comm_id: CommId(id.into()), data });
    }

    /// The last line that gave a value, once more.
    fn story_again(&mut self, switches: Option<Switches>) -> Option<Story> {
        let (name, code) = self.session.last_source()?;
        self.interrupts.begin();
        let (traces, failure) = heard(ask(self, Request::Again { switches: switches.clone() }));
        self.interrupts.end();
        let switches = switches_in(&traces).or(switches).unwrap_or_default();
        Some(Story { name, code: Some(code), switches, traces, failure })
    }

    /// A line of a cell that ran before, once more. None: it is not kept any more.
    fn story_of(&mut self, source: &str, said: &str, switches: Option<Switches>) -> Option<Story> {
        self.interrupts.begin();
        let mut events = Heard::new(&self.interrupts);
        let kept = self.session.story_of(source, said, switches.as_ref(), &mut events);
        let (traces, failure) = heard(events.events);
        self.interrupts.end();
        let switches = switches_in(&traces).or(switches).map_or(Switches::default(), |s| s);
        kept.then(|| Story { name: source.into(), code: None, switches, traces, failure })
    }

    /// Tells whoever looks on what a cell came to.
    pub fn tell_cell(&mut self, message: &Message, name: &str, failure: Option<&Failure>) {
        if self.comms.0.is_empty() {
            return;
        }
        let mut traces = self.session.core().take_stories();
        traces.retain(|t| !t.segments.is_empty());
        let own = self.session.last_source().is_some_and(|(last, _)| last == name);
        if traces.is_empty() && failure.is_none() && own && !self.interrupts.wanted() {
            let seconds = std::mem::replace(&mut self.session.core().limits.seconds, WAIT);
            traces = heard(ask(self, Request::Again { switches: None })).0;
            self.session.core().limits.seconds = seconds;
        }
        let switches = switches_in(&traces).unwrap_or_default();
        let data =
            Story { name: name.into(), code: None, switches, traces, failure: failure.cloned() }
                .json();
        for k in 0..self.comms.0.len() {
            self.comms.0[k].unheard += 1;
            self.publish(message, &self.comms.0[k].id, data.clone());
        }
        for gone in self.comms.0.iter().filter(|c| c.unheard > UNHEARD) {
            let close = CommClose { comm_id: CommId(gone.id.clone()), data: Map::new() };
            self.iopub.publish(&message.header, close);
        }
        self.forget(|c| c.unheard > UNHEARD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_is_read_as_it_was_told() {
        let failure = Failure {
            name: "DOMAIN ERROR".into(),
            number: 11,
            says: "no".into(),
            span: Some((1, 2)),
            source: "cell 1".into(),
            report: "r".into(),
            coloured: "r".into(),
        };
        let switches = Switches { preset: "acc2013".into(), off: vec!["cse".into()] };
        let whole = Story {
            name: "cell 1".into(),
            code: Some("÷0".into()),
            switches,
            traces: vec![Trace::of("÷0")],
            failure: Some(failure),
        };
        assert_eq!(Story::read(&Value::Object(whole.json())), whole);
        assert_eq!(Story::read(&Value::Object(Story::default().json())), Story::default());
        for odd in
            [json!(7), json!({ "traces": [1, {}, "x"], "failure": { "span": "x" }, "off": [3] })]
        {
            assert_eq!(Story::read(&odd).traces.len(), 0);
        }
    }
}

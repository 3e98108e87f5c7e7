//! Looks on at a running kernel: what its cells come to, as a session's events.
//! `aplomb tui --existing` is a client of it.
//!
//! Asks for traces by the comm `aplomb.trace` and for nothing that changes the kernel. Knows that
//! the kernel is gone by the heartbeat, and that another has taken its place by the session in its
//! messages.

use super::client::{Channel, Client};
use super::comms::{Story, TARGET};
use super::wire::Message;
use aplomb_ground::protocol::{
    self, Event, Failure, Gone, MimeBundle, Request, Status, Switches, TEXT,
};
use jupyter_protocol::{ConnectionInfo, Transport};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Between two beats.
const BEAT: Duration = Duration::from_secs(1);
/// Beats without an answer: the kernel is gone.
const LOST: u32 = 3;
/// After so many stories the kernel hears that somebody is here.
const TOLD: u32 = 16;

/// A client that looks on at somebody else's kernel.
pub struct Follower {
    client: Client,
    comm: String,
    /// The kernel has answered this comm.
    is_open: bool,
    /// The kernel's session, by its messages.
    kernel: Value,
    /// The request of the cell that runs, its number and text, and how it failed.
    cell: Option<(Value, Option<Failure>)>,
    events: VecDeque<Event>,
    beat: Instant,
    unanswered: u32,
    told: u32,
    /// Beats since the comm was asked for.
    waited: u32,
    link: String,
}

impl Follower {
    /// Errors: a sentence; no kernel answers, it does not know the key, or it is no kernel of
    /// Aplomb.
    pub fn open(info: &ConnectionInfo, wait: Duration) -> Result<Follower, String> {
        let address = info.shell_url();
        let nobody =
            || format!("no kernel answers at {address}: it has ended, or the file is an old one");
        if info.transport == Transport::TCP
            && TcpStream::connect((info.ip.as_str(), info.shell_port)).is_err()
        {
            return Err(nobody());
        }
        let client = Client::connect(info)?;
        client.raw(Channel::Heartbeat, vec![b"beat".to_vec()]);
        client.raw_receive(Channel::Heartbeat, wait).ok_or_else(nobody)?;
        let kernel = greet(&client, wait)?;
        let mut follower = Follower {
            client,
            comm: String::new(),
            is_open: false,
            kernel,
            cell: None,
            events: VecDeque::new(),
            beat: Instant::now(),
            unanswered: 0,
            told: 0,
            waited: 0,
            link: String::new(),
        };
        follower.begin();
        Ok(follower)
    }

    fn begin(&mut self) {
        self.comm = uuid::Uuid::new_v4().to_string();
        (self.is_open, self.told, self.waited) = (false, 0, 0);
        self.knock();
        self.say("waiting for the kernel: a cell runs");
    }

    fn knock(&self) {
        let open = json!({ "comm_id": self.comm, "target_name": TARGET, "data": {} });
        self.client.send(Channel::Shell, "comm_open", &open);
    }

    fn say(&mut self, link: &str) {
        if self.link != link {
            self.link = link.into();
            self.events.push_back(Event::Link(link.into()));
        }
    }

    fn tell(&self, data: Value) {
        self.client.send(
            Channel::Shell,
            "comm_msg",
            &json!({ "comm_id": self.comm, "data": data }),
        );
    }

    /// A look for messages that have come, and for whether the kernel still lives.
    fn listen(&mut self) {
        while self.client.raw_receive(Channel::Heartbeat, Duration::ZERO).is_some() {
            if std::mem::take(&mut self.unanswered) >= LOST {
                self.begin();
            }
        }
        if self.beat.elapsed() >= BEAT {
            self.beat = Instant::now();
            self.client.raw(Channel::Heartbeat, vec![b"beat".to_vec()]);
            self.unanswered = self.unanswered.saturating_add(1);
            self.waited = self.waited.saturating_add(1);
            // A kernel that has just begun may have answered before the subscription had arrived.
            if !self.is_open && self.waited.is_power_of_two() {
                self.knock();
            }
            if self.unanswered == LOST {
                self.abandon();
                self.say("the kernel is gone; waiting for it to come again");
            }
        }
        // Replies to what is sent here say nothing; they only have to be taken.
        for channel in [Channel::Shell, Channel::Control] {
            while self.client.raw_receive(channel, Duration::ZERO).is_some() {}
        }
        while let Some(frames) = self.client.raw_receive(Channel::Iopub, Duration::ZERO) {
            if let Some(message) = self.client.parse(&frames) {
                self.hear(&message);
            }
        }
    }

    /// The cell that ran will never end.
    fn abandon(&mut self) {
        if self.cell.take().is_some() {
            self.events.push_back(Event::Error(Failure {
                name: "INTERRUPT".into(),
                number: 1003,
                says: "the kernel ended while this ran".into(),
                span: None,
                source: String::new(),
                report: "the kernel ended while this ran\n".into(),
                coloured: "the kernel ended while this ran\n".into(),
            }));
            self.events.push_back(Event::Status(Status::Idle));
        }
    }

    fn hear(&mut self, message: &Message) {
        let session = session_of(message);
        if session != self.kernel {
            self.kernel = session;
            self.abandon();
            self.begin();
        }
        let content = Value::Object(message.content.clone());
        let text = |v: &Value| v.as_str().unwrap_or("").to_string();
        let of_cell =
            self.cell.as_ref().is_some_and(|(parent, _)| message.parent["msg_id"] == *parent);
        match message.kind.as_str() {
            "execute_input" => {
                self.abandon();
                self.cell = Some((message.parent["msg_id"].clone(), None));
                let name = content["execution_count"]
                    .as_u64()
                    .map_or("cell".into(), |n| format!("cell {n}"));
                self.events.push_back(Event::Begun {
                    name,
                    code: text(&content["code"]),
                    switches: Switches::default(),
                });
            }
            "stream" if of_cell => self.events.push_back(Event::Stream(text(&content["text"]))),
            "execute_result" if of_cell => self.events.push_back(Event::Result(plain(&content))),
            "display_data" | "update_display_data" if of_cell => {
                self.events.push_back(Event::Display(plain(&content)));
            }
            "error" => {
                if let Some((_, failure)) = self.cell.as_mut().filter(|_| of_cell) {
                    let lines = content["traceback"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_str);
                    let report: String = lines.map(|l| format!("{l}\n")).collect();
                    let (name, says) = (text(&content["ename"]), text(&content["evalue"]));
                    let coloured = report.clone();
                    *failure = Some(Failure {
                        name,
                        number: 0,
                        says,
                        span: None,
                        source: String::new(),
                        report,
                        coloured,
                    });
                }
            }
            "comm_msg" if content["comm_id"] == self.comm.as_str() => self.read(&content["data"]),
            "comm_close" if content["comm_id"] == self.comm.as_str() => match self.is_open {
                true => self.begin(),
                false => self.say("this kernel tells nobody its traces"),
            },
            "status" if of_cell && content["execution_state"] == "idle" => {
                let failure = self.cell.take().and_then(|(_, failure)| failure);
                self.events.extend(failure.map(Event::Error));
                self.events.push_back(Event::Status(Status::Idle));
            }
            "shutdown_reply" => {
                self.abandon();
                self.say("the kernel has ended; waiting for it to come again");
            }
            _ => {}
        }
    }

    /// A story: of the cell that runs, or, with its own text, of one before.
    fn read(&mut self, data: &Value) {
        self.is_open = true;
        self.say("");
        self.told += 1;
        if self.told.is_multiple_of(TOLD) {
            self.tell(json!({ "heard": self.told }));
        }
        let story = Story::read(data);
        let left_out = data["left_out"].as_u64().unwrap_or(0);
        let Story { name, code, switches, traces, failure } = story;
        let is_whole = code.is_some();
        if name.is_empty() || is_whole == self.cell.is_some() {
            return;
        }
        self.events.push_back(Event::Begun { name, code: code.unwrap_or_default(), switches });
        self.events.extend(traces.into_iter().map(|t| Event::Trace(Box::new(t))));
        if left_out > 0 {
            self.events
                .push_back(Event::Stream(format!("{left_out} stories are too long to be sent\n")));
        }
        match &mut self.cell {
            Some((_, known)) => *known = failure.or(known.take()),
            None => {
                self.events.extend(failure.map(Event::Error));
                self.events.push_back(Event::Status(Status::Idle));
            }
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.client.send(
            Channel::Shell,
            "comm_close",
            &json!({ "comm_id": self.comm, "data": {} }),
        );
    }
}

/// Waits until the kernel answers and what it publishes arrives here; its session. Control answers
/// while a cell runs.
fn greet(client: &Client, wait: Duration) -> Result<Value, String> {
    let begun = Instant::now();
    while begun.elapsed() < wait {
        let id = client.send(Channel::Control, "kernel_info_request", &json!({}));
        let Some(info) = client.reply(Channel::Control, &id, wait.saturating_sub(begun.elapsed()))
        else {
            break;
        };
        let implementation = info["implementation"].as_str().unwrap_or("unnamed");
        if implementation != "aplomb" {
            return Err(format!(
                "the kernel there is {implementation}, not Aplomb: only Aplomb tells its traces"
            ));
        }
        // A subscription takes a moment to arrive.
        if let Some(message) = client.receive(Channel::Iopub, Duration::from_millis(100)) {
            return Ok(session_of(&message));
        }
    }
    Err("the kernel there does not answer: the key of the file is not its key".into())
}

fn session_of(message: &Message) -> Value {
    serde_json::from_slice::<Value>(&message.header).map_or(Value::Null, |h| h["session"].clone())
}

fn plain(content: &Value) -> MimeBundle {
    [(TEXT.to_string(), content["data"][TEXT].as_str().unwrap_or("").to_string())].into()
}

/// It is told of, and asks for no more than the last line under other switches.
impl protocol::Client for Follower {
    fn send(&mut self, request: Request) {
        if let Request::Again { switches: Some(Switches { preset, off }) } = request {
            self.tell(json!({ "preset": preset, "off": off }));
        }
    }

    fn recv(&mut self) -> Option<Event> {
        loop {
            if let Ok(Some(event)) = self.poll() {
                return Some(event);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn poll(&mut self) -> Result<Option<Event>, Gone> {
        if self.events.is_empty() {
            self.listen();
        }
        Ok(self.events.pop_front())
    }

    fn answer(&mut self, _line: Option<String>) {}
}

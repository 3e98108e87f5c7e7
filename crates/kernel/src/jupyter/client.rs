//! A client of a running kernel, here or elsewhere: what tests, the benchmark and other front ends
//! speak through.

use super::sockets::{self, Connected, Door, Heard};
use super::wire::{Frame, Message, Wire};
use jupyter_protocol::ConnectionInfo;
use serde_json::{Value, json};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The five sockets of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Requests, answered one after another.
    Shell,
    /// Requests that are answered while a cell runs.
    Control,
    /// Questions of the program to the user.
    Stdin,
    /// Messages that everybody hears.
    Iopub,
    /// Echoes, which say that the kernel lives.
    Heartbeat,
}

/// A front end's end of the five sockets.
pub struct Client {
    doors: Connected,
    wire: Wire,
}

/// The outcome of a request: its reply, and what all clients heard between busy and idle.
#[derive(Debug)]
pub struct Answer {
    /// The answer.
    pub reply: Value,
    /// The messages of the request on iopub, in order.
    pub heard: Vec<Message>,
}

impl Answer {
    /// The contents of the messages of a kind, in order.
    pub fn all(&self, kind: &str) -> Vec<Value> {
        let own = self.heard.iter().filter(|m| m.kind == kind);
        own.map(|m| Value::Object(m.content.clone())).collect()
    }

    /// The answer's `status`: `ok`, `error`, `aborted`.
    pub fn status(&self) -> &str {
        self.reply["status"].as_str().unwrap_or("")
    }
}

impl Message {
    /// Whether this answers the message of that id.
    pub fn answers(&self, id: &str) -> bool {
        self.parent["msg_id"] == id
    }
}

impl Client {
    /// Errors: a sentence. That no kernel is there yet is none.
    pub fn connect(info: &ConnectionInfo) -> Result<Client, String> {
        Ok(Client { doors: sockets::connect(info)?, wire: Wire::new(&info.key) })
    }

    /// The same as soon as a kernel listens: a client that comes earlier tries again after 100 ms
    /// only. Errors: none listened in time.
    pub fn connect_when_open(info: &ConnectionInfo, wait: Duration) -> Result<Client, String> {
        let begun = Instant::now();
        // The socket that is bound last.
        while TcpStream::connect((info.ip.as_str(), info.iopub_port)).is_err() {
            if begun.elapsed() > wait {
                return Err("no kernel listens there".into());
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        Client::connect(info)
    }

    fn door(&self, channel: Channel) -> &Door {
        match channel {
            Channel::Shell => &self.doors.shell,
            Channel::Control => &self.doors.control,
            Channel::Stdin => &self.doors.stdin,
            Channel::Iopub => &self.doors.iopub,
            Channel::Heartbeat => &self.doors.heartbeat,
        }
    }

    /// The frames of a message, signed, and its id.
    pub fn frames(&self, kind: &str, content: &Value) -> (Vec<Frame>, String) {
        let frames = self.wire.frames(&[], kind, b"", content.to_string().into_bytes());
        let header: Value =
            frames.get(2).and_then(|h| serde_json::from_slice(h).ok()).unwrap_or_default();
        (frames, header["msg_id"].as_str().unwrap_or("").to_string())
    }

    /// Sends a message; its id.
    pub fn send(&self, channel: Channel, kind: &str, content: &Value) -> String {
        let (frames, id) = self.frames(kind, content);
        self.raw(channel, frames);
        id
    }

    /// Sends frames as they are.
    pub fn raw(&self, channel: Channel, frames: Vec<Frame>) {
        self.door(channel).send(frames);
    }

    /// The next frames, as they are.
    pub fn raw_receive(&self, channel: Channel, wait: Duration) -> Option<Vec<Frame>> {
        match self
            .door(channel)
            .receive(Some(u32::try_from(wait.as_millis()).unwrap_or(u32::MAX >> 1)))
        {
            Heard::Frames(frames) => Some(frames),
            _ => None,
        }
    }

    /// Frames as a message, if they are one and signed with the key.
    pub fn parse(&self, frames: &[Frame]) -> Option<Message> {
        self.wire.parse(frames).ok()
    }

    /// The next message that is one.
    pub fn receive(&self, channel: Channel, wait: Duration) -> Option<Message> {
        let begun = Instant::now();
        loop {
            let left = wait.checked_sub(begun.elapsed())?;
            let frames = self.raw_receive(channel, left)?;
            if let Some(message) = self.parse(&frames) {
                return Some(message);
            }
        }
    }

    /// Sends a request and waits for its reply on the same channel.
    pub fn ask(
        &self,
        channel: Channel,
        kind: &str,
        content: &Value,
        wait: Duration,
    ) -> Option<Value> {
        let id = self.send(channel, kind, content);
        self.reply(channel, &id, wait)
    }

    /// The answer to the request of that id, waited for so long. None: it did not come.
    pub fn reply(&self, channel: Channel, id: &str, wait: Duration) -> Option<Value> {
        let begun = Instant::now();
        loop {
            let message = self.receive(channel, wait.checked_sub(begun.elapsed())?)?;
            if message.answers(id) {
                return Some(Value::Object(message.content));
            }
        }
    }

    /// Asks until a kernel answers and what it publishes arrives here.
    pub fn wait_until_ready(&self, wait: Duration) -> Option<Value> {
        let begun = Instant::now();
        let step = Duration::from_millis(100);
        while begun.elapsed() < wait {
            let info =
                self.ask(Channel::Shell, "kernel_info_request", &json!({}), step.max(wait / 10));
            // A subscription takes a moment to arrive.
            if info.is_some() && self.receive(Channel::Iopub, step).is_some() {
                while self.receive(Channel::Iopub, step / 2).is_some() {}
                return info;
            }
        }
        None
    }

    /// The messages that all clients hear of a request, to its idle.
    pub fn heard(&self, id: &str, wait: Duration) -> Option<Vec<Message>> {
        let begun = Instant::now();
        let mut heard = Vec::new();
        loop {
            let message = self.receive(Channel::Iopub, wait.checked_sub(begun.elapsed())?)?;
            if !message.answers(id) {
                continue;
            }
            let idle = message.kind == "status"
                && message.content.get("execution_state") == Some(&json!("idle"));
            heard.push(message);
            if idle {
                return Some(heard);
            }
        }
    }

    /// Runs a cell to its reply and idle. None: it took longer.
    pub fn execute(&self, code: &str, wait: Duration) -> Option<Answer> {
        self.execute_with(&json!({ "code": code }), wait)
    }

    /// The same with the request's whole content.
    pub fn execute_with(&self, content: &Value, wait: Duration) -> Option<Answer> {
        let id = self.send(Channel::Shell, "execute_request", content);
        let reply = self.reply(Channel::Shell, &id, wait)?;
        Some(Answer { reply, heard: self.heard(&id, wait)? })
    }
}

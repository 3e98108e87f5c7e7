//! Messages as frames: signed, verified, parsed. Pure functions of bytes; nothing here can fail but
//! by refusing.
//!
//! `identities… <IDS|MSG> signature header parent metadata content [buffers…]`; the signature is
//! the HMAC-SHA256 of the four JSON frames. Always: a signature is compared in constant time and
//! taken once; a reply's parent is the request's header, byte for byte.

use aplomb_ground::error::Kind;
use chrono::{DateTime, Utc};
use hmac::{Hmac, Mac};
use jupyter_protocol::JupyterMessageContent;
use serde_json::{Map, Value, json};
use sha2::Sha256;
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The bytes of one part of a message.
pub type Frame = Vec<u8>;

const DELIMITER: &[u8] = b"<IDS|MSG>";
/// Signatures that are remembered.
const REMEMBERED: usize = 1 << 16;
/// The protocol that our headers claim.
pub const PROTOCOL: &str = "5.4";

/// A message that came in.
#[derive(Clone, Debug)]
pub struct Message {
    /// The way back, for ROUTER sockets.
    pub identities: Vec<Frame>,
    /// The kind, `execute_request`.
    pub kind: String,
    /// As it was received: the parent of every answer.
    pub header: Frame,
    /// The header that this answers, as its sender says.
    pub parent: Value,
    /// The content, as it came.
    pub content: Map<String, Value>,
}

/// The reasons for which frames are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No part says where the addresses end.
    NoDelimiter,
    /// Parts are missing.
    TooShort,
    /// The signature is of another key or text.
    BadSignature,
    /// The signature came before.
    Replayed,
    /// The part of this name is no JSON object.
    NotJson(&'static str),
    /// The header names no kind.
    NoKind,
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::NoDelimiter => write!(out, "no <IDS|MSG>"),
            Refused::TooShort => write!(out, "fewer than five frames behind <IDS|MSG>"),
            Refused::BadSignature => {
                write!(out, "the signature is not that of the connection file's key")
            }
            Refused::Replayed => write!(out, "the same message came before"),
            Refused::NotJson(part) => write!(out, "the {part} is no JSON object"),
            Refused::NoKind => write!(out, "the header has no msg_type"),
        }
    }
}

#[derive(Default)]
struct Seen {
    known: HashSet<[u8; 32]>,
    order: VecDeque<[u8; 32]>,
}

impl Seen {
    /// False: it was there.
    fn add(&mut self, signature: [u8; 32]) -> bool {
        let new = self.known.insert(signature);
        if new {
            self.order.push_back(signature);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        new
    }
}

/// One end of a connection: the key, what it has seen, and who it is.
pub struct Wire {
    /// None: messages are not signed.
    key: Option<Hmac<Sha256>>,
    session: String,
    sent: AtomicU64,
    seen: Mutex<Seen>,
    refused: AtomicU64,
}

impl Wire {
    /// An empty key: nothing is signed and nothing verified.
    pub fn new(key: &str) -> Wire {
        // HMAC takes keys of every length.
        let key = Some(key)
            .filter(|k| !k.is_empty())
            .and_then(|k| Hmac::new_from_slice(k.as_bytes()).ok());
        let session = uuid::Uuid::new_v4().to_string();
        Wire {
            key,
            session,
            sent: AtomicU64::new(0),
            seen: Mutex::default(),
            refused: AtomicU64::new(0),
        }
    }

    fn mac(&self, parts: &[Frame]) -> Option<Hmac<Sha256>> {
        let mut mac = self.key.clone()?;
        parts.iter().for_each(|p| mac.update(p));
        Some(mac)
    }

    /// Errors: why these frames are dropped.
    pub fn parse(&self, frames: &[Frame]) -> Result<Message, Refused> {
        let at = frames.iter().position(|f| f == DELIMITER).ok_or(Refused::NoDelimiter)?;
        let [signature, header, parent, metadata, content, ..] = &frames[at + 1..] else {
            return Err(Refused::TooShort);
        };
        if let Some(mac) = self.mac(&frames[at + 2..at + 6]) {
            let claimed = unhex(signature).ok_or(Refused::BadSignature)?;
            mac.verify_slice(&claimed).map_err(|_| Refused::BadSignature)?;
            if !self.seen.lock().unwrap_or_else(PoisonError::into_inner).add(claimed) {
                return Err(Refused::Replayed);
            }
        }
        let object = |bytes: &Frame, part| match serde_json::from_slice(bytes) {
            Ok(Value::Object(map)) => Ok(map),
            _ => Err(Refused::NotJson(part)),
        };
        let fields = object(header, "header")?;
        object(metadata, "metadata")?;
        let kind = fields.get("msg_type").and_then(Value::as_str).ok_or(Refused::NoKind)?;
        Ok(Message {
            identities: frames[..at].to_vec(),
            kind: kind.into(),
            header: header.clone(),
            parent: Value::Object(object(parent, "parent header")?),
            content: object(content, "content")?,
        })
    }

    /// The message, or a line on standard error: for the first few, then for every doubling of
    /// their number.
    pub fn accept(&self, frames: &[Frame]) -> Option<Message> {
        self.parse(frames)
            .inspect_err(|why| {
                let n = self.refused.fetch_add(1, Ordering::Relaxed) + 1;
                if n <= 4 || n.is_power_of_two() {
                    super::log(format_args!("message {n} dropped: {why}"));
                }
            })
            .ok()
    }

    /// The frames of a message of ours. `parent`: the header it answers; empty for none.
    pub fn compose(
        &self,
        identities: &[Frame],
        kind: &str,
        parent: &[u8],
        content: &JupyterMessageContent,
    ) -> Vec<Frame> {
        let content = serde_json::to_vec(content).unwrap_or_else(|e| {
            // Whoever waits learns that a reply was lost, and why.
            let evalue = format!("a {kind} is no JSON: {e}");
            let told = json!({ "status": "error", "ename": Kind::Internal.name(), "evalue": evalue,
                "traceback": [] });
            told.to_string().into_bytes()
        });
        self.frames(identities, kind, parent, content)
    }

    /// The same of JSON text.
    pub fn frames(
        &self,
        identities: &[Frame],
        kind: &str,
        parent: &[u8],
        content: Frame,
    ) -> Vec<Frame> {
        let parent = if parent.is_empty() { b"{}" } else { parent };
        let mut frames = identities.to_vec();
        let body = [self.header(kind), parent.to_vec(), b"{}".to_vec(), content];
        let signature =
            self.mac(&body).map_or(String::new(), |mac| hex(&mac.finalize().into_bytes()));
        frames.extend([DELIMITER.to_vec(), signature.into_bytes()]);
        frames.extend(body);
        frames
    }

    fn header(&self, kind: &str) -> Frame {
        let n = self.sent.fetch_add(1, Ordering::Relaxed);
        let header = json!({
            "msg_id": format!("{}_{n}", self.session),
            "session": self.session,
            "username": "aplomb",
            // Clients keep a date with more than six decimals as text.
            "date": DateTime::<Utc>::from(SystemTime::now())
                .format("%Y-%m-%dT%H:%M:%S%.6fZ")
                .to_string(),
            "msg_type": kind,
            "version": PROTOCOL,
        });
        header.to_string().into_bytes()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// 64 hexadecimal digits as bytes.
fn unhex(text: &[u8]) -> Option<[u8; 32]> {
    let mut out = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in out.iter_mut().zip(text.chunks_exact(2)) {
        let digit = |c: u8| char::from(c).to_digit(16).filter(|_| !c.is_ascii_uppercase());
        *byte = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(wire: &Wire) -> Vec<Frame> {
        wire.frames(&[b"me".to_vec()], "kernel_info_request", b"", b"{\"a\":1}".to_vec())
    }

    #[test]
    fn what_is_composed_can_be_read_once() {
        let (sender, wire) = (Wire::new("key"), Wire::new("key"));
        let frames = sample(&sender);
        let message = wire.parse(&frames).expect("our own");
        assert_eq!((message.kind.as_str(), message.identities.len()), ("kernel_info_request", 1));
        assert_eq!(message.content["a"], 1);
        assert_eq!(wire.parse(&frames).err(), Some(Refused::Replayed));
        assert!(Wire::new("").parse(&frames).is_ok(), "no key: nothing is verified");
    }

    #[test]
    fn every_flipped_byte_behind_the_delimiter_is_refused() {
        let (sender, wire) = (Wire::new("key"), Wire::new("key"));
        let frames = sample(&sender);
        for k in 2..frames.len() {
            for at in 0..frames[k].len() {
                let mut bent = frames.clone();
                bent[k][at] ^= 1;
                assert_eq!(
                    wire.parse(&bent).err(),
                    Some(Refused::BadSignature),
                    "frame {k}, byte {at}"
                );
            }
        }
        assert!(wire.parse(&frames).is_ok());
    }

    #[test]
    fn broken_frames_are_refused_in_words() {
        let wire = Wire::new("");
        let body = |header: &str, content: &str| -> Vec<Frame> {
            ["<IDS|MSG>", "", header, "{}", "{}", content]
                .iter()
                .map(|f| f.as_bytes().to_vec())
                .collect()
        };
        let deep = "[".repeat(1 << 20);
        let cases = [
            (vec![], Refused::NoDelimiter),
            (vec![b"<IDS|MSG>".to_vec()], Refused::TooShort),
            (body("{}", "{}")[..5].to_vec(), Refused::TooShort),
            (body("{}", "{}"), Refused::NoKind),
            (body("[]", "{}"), Refused::NotJson("header")),
            (body("{\"msg_type\":\"x\"}", "[1]"), Refused::NotJson("content")),
            (body("{\"msg_type\":\"x\"}", &deep), Refused::NotJson("content")),
            (body("{\"msg_type\":\"x\"}", "\u{0}"), Refused::NotJson("content")),
        ];
        for (frames, why) in cases {
            assert_eq!(wire.parse(&frames).err(), Some(why));
        }
    }

    #[test]
    fn old_signatures_make_room() {
        let mut seen = Seen::default();
        let signature = |k: usize| std::array::from_fn(|b| (k >> (8 * (b % 8))) as u8);
        assert!((0..REMEMBERED + 10).all(|k| seen.add(signature(k))));
        assert!(!seen.add(signature(REMEMBERED)) && seen.add(signature(0)));
        assert_eq!((seen.known.len(), seen.order.len()), (REMEMBERED, REMEMBERED));
    }
}

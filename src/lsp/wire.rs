//! The wire of `aplomb lsp`: messages with a head, over standard input and output. What is no
//! message is answered, told on standard error and left behind; the next one is read.

use lsp_server::{Connection, Message};
use serde_json::{Value, json};
use std::io::{BufRead, Read, Write};
use std::thread::{JoinHandle, spawn};

/// The longest message that is read, in bytes.
const LONGEST: u64 = 1 << 26;
/// The longest line of a head.
const HEAD: u64 = 1 << 16;
/// The protocol's numbers of what is no JSON, and of JSON that is no message.
const NO_JSON: i32 = -32_700;
const NO_MESSAGE: i32 = -32_600;

/// The server's end of the streams, and the thread that writes until it is dropped.
pub fn connect() -> (Connection, JoinHandle<()>) {
    let (server, Connection { sender, receiver }) = Connection::memory();
    let writer = spawn(move || {
        for message in receiver {
            if message.write(&mut std::io::stdout().lock()).is_err() {
                return;
            }
        }
    });
    spawn(move || {
        let mut reader = Reader { from: std::io::stdin().lock(), rest: 0 };
        while let Some(message) = reader.next() {
            let message = match message {
                Ok(message) => message,
                Err(wrong) => {
                    wrong.tell();
                    continue;
                }
            };
            let leaves = matches!(&message, Message::Notification(n) if n.method == "exit");
            if sender.send(message).is_err() || leaves {
                return;
            }
        }
    });
    (server, writer)
}

/// A reason why bytes are no message, and to whom the answer goes.
#[derive(Debug, PartialEq)]
struct Wrong {
    id: Value,
    code: i32,
    says: String,
}

impl Wrong {
    fn json(says: String) -> Wrong {
        Wrong { id: Value::Null, code: NO_JSON, says }
    }

    fn tell(&self) {
        let Wrong { id, code, says } = self;
        eprintln!("aplomb lsp: {says}");
        let error = json!({ "code": code, "message": says });
        let body = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
        // Nobody hears it where the editor is gone.
        let text = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let mut to = std::io::stdout().lock();
        let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
    }
}

struct Reader<R> {
    from: R,
    /// Bytes of a message that was too long to be read.
    rest: u64,
}

impl<R: BufRead> Reader<R> {
    /// The next message, or why it is none; None: the editor left.
    fn next(&mut self) -> Option<Result<Message, Wrong>> {
        std::io::copy(&mut self.from.by_ref().take(self.rest), &mut std::io::sink()).ok()?;
        self.rest = 0;
        let length = match self.head()? {
            Ok(length) if length > LONGEST => {
                self.rest = length;
                let says = format!("a message of {length} bytes; {LONGEST} are the most");
                return Some(Err(Wrong::json(says)));
            }
            Ok(length) => length,
            Err(says) => return Some(Err(Wrong::json(says))),
        };
        let mut body = Vec::new();
        self.from.by_ref().take(length).read_to_end(&mut body).ok()?;
        (body.len() as u64 == length).then(|| message(&body))
    }

    /// The length that a head tells; empty lines before it are none of it.
    fn head(&mut self) -> Option<Result<u64, String>> {
        const NAME: &str = "content-length:";
        let mut begun = false;
        let mut length = Err("a message without a Content-Length".to_string());
        loop {
            let mut line = Vec::new();
            self.from.by_ref().take(HEAD).read_until(b'\n', &mut line).ok()?;
            if line.is_empty() {
                return None;
            }
            let line = String::from_utf8_lossy(&line).trim().to_ascii_lowercase();
            match line.rfind(NAME).map(|at| line[at + NAME.len()..].trim()) {
                // Behind a message whose own length was not known.
                Some(number) => {
                    let says = || format!("Content-Length: {number} is no number of bytes");
                    length = number.parse().map_err(|_| says());
                }
                None if line.is_empty() && begun => break,
                None => {}
            }
            begun |= !line.is_empty();
        }
        Some(length)
    }
}

fn message(body: &[u8]) -> Result<Message, Wrong> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|e| Wrong::json(format!("a message that is no JSON: {e}")))?;
    let id = value.get("id").cloned();
    match serde_json::from_value(value) {
        // A request whose id is none that this server knows.
        Ok(Message::Notification(_)) if id.is_some() => {}
        Ok(message) => return Ok(message),
        Err(_) => {}
    }
    Err(Wrong {
        id: id.filter(|id| id.is_number() || id.is_string()).map_or(Value::Null, |id| id),
        code: NO_MESSAGE,
        says: "a message that is no request, response or notification".into(),
    })
}

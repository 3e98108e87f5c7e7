//! The messages that all clients hear. Any thread may speak; each message leaves whole, in the
//! order of the lock.
//!
//! Printed text is joined: it leaves after 50 ms, at 64 KiB, or before any other message, so that a
//! loop of a hundred thousand lines is a few messages.

use super::sockets::Teller;
use super::wire::{Frame, Wire};
use jupyter_protocol::{ExecutionState, JupyterMessageContent, Status, StreamContent};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_millis(50);
const MUCH: usize = 64 << 10;

/// The two ways out of a program for text.
#[derive(Clone, Copy, PartialEq)]
pub enum Stream {
    Out,
    Err,
}

struct Printed {
    to: Stream,
    text: String,
    parent: Frame,
    since: Instant,
}

struct Inner {
    door: Option<Teller>,
    printed: Option<Printed>,
}

pub struct Publisher {
    wire: Arc<Wire>,
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl Publisher {
    pub fn new(wire: Arc<Wire>, door: Teller) -> Publisher {
        Publisher {
            wire,
            inner: Mutex::new(Inner { door: Some(door), printed: None }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn publish(&self, parent: &[u8], content: impl Into<JupyterMessageContent>) {
        let mut inner = self.lock();
        self.flush(&mut inner);
        self.send(&mut inner, parent, &content.into());
    }

    pub fn status(&self, parent: &[u8], execution_state: ExecutionState) {
        self.publish(parent, Status { execution_state });
    }

    /// Text of the program that runs for `parent`.
    pub fn print(&self, parent: &[u8], to: Stream, text: &str) {
        let mut inner = self.lock();
        if inner.printed.as_ref().is_some_and(|p| p.parent != parent || p.to != to) {
            self.flush(&mut inner);
        }
        let printed = inner.printed.get_or_insert_with(|| {
            self.changed.notify_one();
            Printed { to, text: String::new(), parent: parent.to_vec(), since: Instant::now() }
        });
        printed.text.push_str(text);
        if printed.text.len() >= MUCH {
            self.flush(&mut inner);
        }
    }

    /// Sends what is printed now.
    pub fn flushed(&self) {
        self.flush(&mut self.lock());
    }

    fn flush(&self, inner: &mut Inner) {
        if let Some(printed) = inner.printed.take() {
            // So that what waits for a client is bounded by its number of messages.
            let mut rest = printed.text.as_str();
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.floor_char_boundary(MUCH));
                let content = match printed.to {
                    Stream::Out => StreamContent::stdout(now),
                    Stream::Err => StreamContent::stderr(now),
                };
                self.send(inner, &printed.parent, &content.into());
                rest = later;
            }
        }
    }

    fn send(&self, inner: &mut Inner, parent: &[u8], content: &JupyterMessageContent) {
        if let Some(door) = &mut inner.door {
            let kind = content.message_type();
            door.send(self.wire.compose(&[kind.as_bytes().to_vec()], kind, parent, content));
        }
    }

    /// Sends text whose time has come, until the publisher is closed.
    pub fn keep_flushing(&self) {
        let mut inner = self.lock();
        while inner.door.is_some() {
            let waited = inner.printed.as_ref().map(|p| p.since.elapsed());
            inner = match waited {
                None => self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner),
                Some(waited) if waited >= PATIENCE => {
                    self.flush(&mut inner);
                    inner
                }
                Some(waited) => match self.changed.wait_timeout(inner, PATIENCE - waited) {
                    Ok((inner, _)) => inner,
                    Err(broken) => broken.into_inner().0,
                },
            };
        }
    }

    /// The last text leaves, then nothing more.
    pub fn close(&self) {
        let mut inner = self.lock();
        self.flush(&mut inner);
        inner.door = None;
        self.changed.notify_one();
    }
}

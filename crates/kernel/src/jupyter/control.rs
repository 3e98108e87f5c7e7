//! The answers while a cell runs: interrupt and shutdown on the control socket, the heartbeat, and
//! whether the server is still there.

use super::debug::Variables;
use super::interrupts::Interrupts;
use super::iopub::Publisher;
use super::requests;
use super::sockets::{Door, Heard};
use super::wire::{Message, Wire};
use jupyter_protocol::{ExecutionState, InterruptReply, JupyterMessageContent};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

pub struct Control {
    pub door: Door,
    pub wire: Arc<Wire>,
    pub iopub: Arc<Publisher>,
    pub interrupts: Interrupts,
    pub variables: Arc<Variables>,
    /// The way by which an exit code ends the process.
    pub end: Sender<i32>,
}

type Handler = fn(&Control, &Message) -> JupyterMessageContent;

/// Requests of this socket. It never evaluates.
const ROUTES: &[(&str, Handler)] = &[
    ("kernel_info_request", |_, _| requests::kernel_info()),
    ("interrupt_request", interrupt),
    ("shutdown_request", shutdown),
    ("debug_request", |control, message| control.variables.answer(&message.content)),
];

fn interrupt(control: &Control, _message: &Message) -> JupyterMessageContent {
    control.interrupts.request();
    InterruptReply::new().into()
}

fn shutdown(control: &Control, message: &Message) -> JupyterMessageContent {
    control.interrupts.finish();
    requests::shutdown(message)
}

impl Control {
    /// Until the sockets are closed.
    pub fn run(self) {
        loop {
            match self.door.receive(None) {
                Heard::Frames(frames) => {
                    if let Some(message) = self.wire.accept(&frames) {
                        self.serve(&message);
                    }
                }
                Heard::Nothing => {}
                Heard::Over => return,
            }
        }
    }

    fn serve(&self, message: &Message) {
        let handler =
            ROUTES.iter().find(|(kind, _)| *kind == message.kind).map(|(_, handler)| handler);
        // First what stops a cell: to tell all clients may take as long as one of them reads.
        let answered = catch_unwind(AssertUnwindSafe(|| match handler {
            Some(handler) => Some(handler(self, message)),
            None => requests::unknown(&message.kind),
        }));
        let reply = answered.unwrap_or_else(|_| requests::failed(&message.kind));
        self.iopub.status(&message.header, ExecutionState::Busy);
        if let Some(reply) = &reply {
            let frames = self.wire.compose(
                &message.identities,
                reply.message_type(),
                &message.header,
                reply,
            );
            self.door.send(frames);
        }
        let ends = matches!(reply, Some(JupyterMessageContent::ShutdownReply(_)));
        if let Some(reply) = reply.filter(|_| ends) {
            self.iopub.publish(&message.header, reply);
        }
        self.iopub.status(&message.header, ExecutionState::Idle);
        if ends {
            let _ = self.end.send(0);
        }
    }
}

/// Gives every client its frames back. A REP socket would fall out of step on garbage.
pub fn heartbeat(door: Door) {
    loop {
        match door.receive(None) {
            Heard::Frames(frames) => door.send(frames),
            Heard::Nothing => {}
            Heard::Over => return,
        }
    }
}

/// The server says who it is by `JPY_PARENT_PID`; when another process takes its place as our
/// parent, it is gone.
pub fn watch_parent(end: Sender<i32>) {
    if std::env::var_os("JPY_PARENT_PID").is_none() {
        return;
    }
    let parent = std::os::unix::process::parent_id();
    while std::os::unix::process::parent_id() == parent {
        std::thread::sleep(Duration::from_secs(1));
    }
    super::log(format_args!("the server is gone"));
    let _ = end.send(0);
}

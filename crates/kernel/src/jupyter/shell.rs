//! The evaluator's thread: it owns the session, takes requests in order and answers each.
//!
//! Always: busy and idle around every message, also one that panics; after an error the cells that
//! have come already are aborted, and none that come later.

use super::comms::Comms;
use super::debug::Variables;
use super::history::History;
use super::interrupts::Interrupts;
use super::iopub::Publisher;
use super::progress::Progress;
use super::requests::{self, ROUTES};
use super::sockets::{Door, Heard};
use super::wire::{Message, Wire};
use crate::session::Session;
use jupyter_protocol::{ExecuteReply, ExecutionState, JupyterMessageContent, ReplyStatus};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The parts of a kernel that other threads have, too.
pub struct Shared {
    pub wire: Arc<Wire>,
    pub iopub: Arc<Publisher>,
    pub interrupts: Interrupts,
    pub progress: Arc<Progress>,
    pub variables: Arc<Variables>,
}

pub struct Kernel {
    pub session: Session,
    pub shell: Door,
    pub stdin: Door,
    pub wire: Arc<Wire>,
    pub iopub: Arc<Publisher>,
    pub interrupts: Interrupts,
    pub progress: Arc<Progress>,
    pub variables: Arc<Variables>,
    pub history: History,
    pub comms: Comms,
    /// The number of the last cell.
    pub count: usize,
    /// The process ends with this code.
    pub exit: Option<i32>,
    waiting: VecDeque<Waiting>,
}

/// Messages that are taken at once to abort the cells among them: a flood is no reason to answer
/// nobody.
const MOST_WAITING: usize = 100_000;

struct Waiting {
    message: Message,
    aborted: bool,
}

impl Kernel {
    pub fn new(session: Session, doors: (Door, Door), shared: Shared, history: History) -> Kernel {
        let ((shell, stdin), comms) = (doors, Comms::default());
        let Shared { wire, iopub, interrupts, progress, variables } = shared;
        let waiting = VecDeque::new();
        let mut session = session;
        session.core().remembers = true;
        Kernel {
            session,
            shell,
            stdin,
            wire,
            iopub,
            interrupts,
            progress,
            variables,
            history,
            comms,
            count: 0,
            exit: None,
            waiting,
        }
    }

    /// Until a request ends the process, whose exit code it gives, or the sockets are closed.
    pub fn run(&mut self) -> Option<i32> {
        while self.exit.is_none() && !self.interrupts.is_over() {
            let next = match self.waiting.pop_front() {
                Some(next) => next,
                None => match self.shell.receive(None) {
                    Heard::Frames(frames) => match self.wire.accept(&frames) {
                        Some(message) => Waiting { message, aborted: false },
                        None => continue,
                    },
                    Heard::Nothing => continue,
                    Heard::Over => return None,
                },
            };
            self.serve(&next);
        }
        self.exit
    }

    fn serve(&mut self, next: &Waiting) {
        let message = &next.message;
        self.iopub.status(&message.header, ExecutionState::Busy);
        let handler =
            ROUTES.iter().find(|(kind, _)| *kind == message.kind).map(|(_, handler)| handler);
        let reply = if next.aborted {
            Some(self.aborted().into())
        } else {
            let answered = catch_unwind(AssertUnwindSafe(|| match handler {
                Some(handler) => handler(self, message),
                None => requests::unknown(&message.kind),
            }));
            self.interrupts.end();
            answered.unwrap_or_else(|_| requests::failed(&message.kind))
        };
        if let Some(reply) = reply {
            self.reply(message, &reply);
        }
        self.iopub.status(&message.header, ExecutionState::Idle);
    }

    fn reply(&self, message: &Message, reply: &JupyterMessageContent) {
        self.shell.send(self.wire.compose(
            &message.identities,
            reply.message_type(),
            &message.header,
            reply,
        ));
    }

    fn aborted(&self) -> ExecuteReply {
        ExecuteReply {
            status: ReplyStatus::Aborted,
            execution_count: self.count.into(),
            user_expressions: Some(Default::default()),
            ..Default::default()
        }
    }

    /// Cells that have come already do not run. Called before the error is answered: a cell that
    /// its sender sends when it knows of the error is none of them.
    pub fn abort_waiting(&mut self) {
        for _ in 0..MOST_WAITING {
            let Some(frames) = self.shell.pending() else { break };
            if let Some(message) = self.wire.accept(&frames) {
                self.waiting.push_back(Waiting { message, aborted: false });
            }
        }
        for waiting in &mut self.waiting {
            waiting.aborted |= waiting.message.kind == "execute_request";
        }
    }
}

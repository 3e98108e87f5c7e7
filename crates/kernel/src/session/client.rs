//! A session on its own thread, with a stack for deep recursion, behind two channels.

use super::{Commands, Session};
use aplomb_ground::limits::{Interrupt, Limits};
use aplomb_ground::protocol::{Client, Event, Gone, Request, Sink};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread;
use std::time::Duration;

/// Bytes of stack: 10 000 dfn calls deep.
pub const STACK: usize = 256 << 20;

/// The front end's end of a session thread.
pub struct Worker {
    requests: Sender<Request>,
    events: Receiver<Event>,
    answers: Sender<Option<String>>,
    interrupt: Interrupt,
}

struct Out {
    events: Sender<Event>,
    answers: Receiver<Option<String>>,
}

impl Sink for Out {
    fn event(&mut self, event: Event) {
        // A front end that is gone hears nothing; the session ends with its channel.
        let _ = self.events.send(event);
    }

    fn input(&mut self, prompt: &str) -> Option<String> {
        self.events.send(Event::Input(prompt.into())).ok()?;
        self.answers.recv().ok().flatten()
    }
}

/// The time without a request after which the session rests: a script's next line is there at once.
const IDLE: Duration = Duration::from_millis(50);

/// The next request; None: nobody can send one any more. While none comes the session makes memory
/// ready, in steps that are so short that a request waits for none.
fn next(inbox: &Receiver<Request>, session: &Session) -> Option<Request> {
    let mut patience = IDLE;
    loop {
        match inbox.recv_timeout(patience) {
            Ok(request) => return Some(request),
            Err(RecvTimeoutError::Timeout) if session.rest() => patience = Duration::ZERO,
            Err(RecvTimeoutError::Timeout) => return inbox.recv().ok(),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

impl Worker {
    /// Starts the thread. `commands` is made there, since a session does not move. Errors: no
    /// thread can be had.
    pub fn start(
        commands: impl FnOnce() -> Rc<dyn Commands> + Send + 'static,
        limits: Limits,
        threads: usize,
        prepare: impl FnOnce(&mut Session) + Send + 'static,
    ) -> std::io::Result<Worker> {
        let (requests, inbox) = channel::<Request>();
        let (outbox, events) = channel();
        let (answers, typed) = channel();
        let (tell, told) = channel();
        thread::Builder::new().name("session".into()).stack_size(STACK).spawn(move || {
            let mut session = Session::new(commands(), limits, threads);
            prepare(&mut session);
            let _ = tell.send(session.interrupt());
            let mut out = Out { events: outbox, answers: typed };
            while let Some(request) = next(&inbox, &session) {
                session.handle(request, &mut out);
                if session.exit().is_some() {
                    return;
                }
            }
        })?;
        let interrupt = told.recv().map_err(std::io::Error::other)?;
        Ok(Worker { requests, events, answers, interrupt })
    }

    /// The next event that comes within a time; None: none came. Errors: the session is gone.
    pub fn wait(&mut self, most: Duration) -> Result<Option<Event>, Gone> {
        match self.events.recv_timeout(most) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Gone),
        }
    }

    /// The flag that stops the request under way.
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }
}

impl Client for Worker {
    fn send(&mut self, request: Request) {
        let _ = self.requests.send(request);
    }

    fn recv(&mut self) -> Option<Event> {
        self.events.recv().ok()
    }

    fn poll(&mut self) -> Result<Option<Event>, Gone> {
        match self.events.try_recv() {
            Ok(event) => Ok(Some(event)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Gone),
        }
    }

    fn answer(&mut self, line: Option<String>) {
        let _ = self.answers.send(line);
    }
}

//! The notebook: a session behind Jupyter's five sockets.
//!
//! Threads: the evaluator owns the session, shell and stdin (`shell`, `cells`, `requests`);
//! `control` answers while a cell runs; the heartbeat echoes; `iopub` is spoken to by all. Bytes
//! become messages in `wire`, sockets are `sockets`'s alone. Always: whatever arrives, the kernel
//! lives; every message that is taken is followed by idle. Never: two threads in a session; an
//! answer without its request's header.

mod cells;
pub mod client;
mod comms;
mod connection;
mod control;
mod debug;
mod follow;
mod history;
pub mod install;
mod interrupts;
mod iopub;
mod lab;
mod mime;
mod paper;
mod progress;
mod requests;
mod shell;
mod sockets;
pub mod wire;

pub use comms::TARGET;
pub use connection::{Allow, find, fresh, read, write};
pub use follow::Follower;
pub use interrupts::Interrupts;
pub use jupyter_protocol::ConnectionInfo;

use crate::session::{STACK, Session};
use control::{Control, heartbeat, watch_parent};
use debug::Variables;
use history::History;
use iopub::Publisher;
use jupyter_protocol::ExecutionState;
use progress::Progress;
use shell::{Kernel, Shared};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use wire::Wire;

/// The time that the threads may take to end, so that the last messages leave.
const ENDING: Duration = Duration::from_millis(1_500);

/// Serves until a shutdown, `)off`, or the end of the server; the exit code. `session` is made on
/// the evaluator's thread, once the sockets are bound. `history` is the file where cells are kept
/// for later processes. `ready` gets the handle by which a signal
/// interrupts. Errors: a sentence; an address or a thread cannot be had.
pub fn serve(
    info: &ConnectionInfo,
    session: impl FnOnce() -> Session + Send + 'static,
    history: Option<PathBuf>,
    ready: impl FnOnce(Interrupts),
) -> Result<i32, String> {
    let sockets::Bound { shell, stdin, control, heartbeat: echo, iopub, closer } =
        sockets::bind(info)?;
    let wire = Arc::new(Wire::new(&info.key));
    let iopub = Arc::new(Publisher::new(wire.clone(), iopub));
    let interrupts = Interrupts::default();
    ready(interrupts.clone());
    iopub.status(b"", ExecutionState::Starting);
    let (end, ended) = channel();
    let watched = end.clone();
    start("parent", 0, move || watch_parent(watched))?;
    start("heartbeat", 0, move || heartbeat(echo))?;
    let flushing = iopub.clone();
    start("iopub", 0, move || flushing.keep_flushing())?;
    let (progress, variables) = (Arc::new(Progress::default()), Arc::new(Variables::default()));
    let (watched, told, running) = (progress.clone(), iopub.clone(), interrupts.clone());
    start("progress", 0, move || watched.watch(&told, &running))?;
    let (wire_, iopub_, interrupts_, end_) =
        (wire.clone(), iopub.clone(), interrupts.clone(), end.clone());
    let listed = variables.clone();
    start("control", 0, move || {
        let (door, wire, iopub, interrupts) = (control, wire_, iopub_, interrupts_);
        Control { door, wire, iopub, interrupts, variables: listed, end: end_ }.run();
    })?;
    let (published, own) = (iopub.clone(), interrupts.clone());
    start("session", STACK, move || {
        let session = session();
        own.attach(session.interrupt());
        let shared = Shared { wire, iopub: published, interrupts: own, progress, variables };
        let mut kernel = Kernel::new(session, (shell, stdin), shared, History::at(history));
        let code = catch_unwind(AssertUnwindSafe(|| kernel.run())).unwrap_or(Some(1));
        drop(kernel);
        if let Some(code) = code {
            let _ = end.send(code);
        }
    })?;
    // All senders are gone only if every thread broke.
    let code = ended.recv().unwrap_or(1);
    interrupts.finish();
    iopub.close();
    let (closed, all_closed) = channel();
    start("closing", 0, move || {
        closer.close();
        let _ = closed.send(());
    })?;
    // A cell that cannot be stopped in time ends with the process.
    let _ = all_closed.recv_timeout(ENDING);
    Ok(code)
}

/// A line for whoever reads the server's output. Nobody may: its terminal can be gone, which must
/// end no thread.
fn log(what: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "aplomb kernel: {what}");
}

fn start(name: &str, stack: usize, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let builder = thread::Builder::new().name(name.into());
    let builder = if stack > 0 { builder.stack_size(stack) } else { builder };
    builder.spawn(work).map(|_| ()).map_err(|e| format!("no thread can be had: {e}"))
}

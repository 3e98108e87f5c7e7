//! The five sockets. The only file that names ZeroMQ: the rest sees `Door`s that give and take
//! frames.
//!
//! Always: no message over 64 MiB is taken, so a frame's claim costs nothing; who reads loses
//! nothing of what is told to all (a lost `idle` stops a client for ever), and who does not read
//! has no endless queue; a closed context wakes whoever waits.

use super::wire::Frame;
use jupyter_protocol::ConnectionInfo;
use std::time::{Duration, Instant};
use zmq::{Context, Error, POLLIN, Socket, SocketType};

/// Bytes of the largest message that is taken.
const LARGEST: i64 = 64 << 20;
/// Milliseconds that unsent messages may keep a closed socket.
const LINGER: i32 = 1_000;

/// One socket.
pub struct Door(Socket);

/// The socket by which all clients are told.
///
/// A client that is slow makes the kernel wait; one that has read nothing for `PATIENCE` loses what
/// it does not take, until it reads again. So what waits for it is bounded, and no other client
/// loses anything.
pub struct Teller {
    socket: Socket,
    /// A client does not read: nobody waits for it.
    stuck: bool,
    sent: u64,
}

/// Messages that wait for a client that does not read; printed text is joined to 64 KiB in each.
const UNREAD: i32 = 1_000;
/// The time that a client may take until it reads again.
const PATIENCE: Duration = Duration::from_secs(3);
/// Between two looks whether it does.
const GLANCE: Duration = Duration::from_millis(2);

impl Teller {
    fn new(socket: Socket) -> zmq::Result<Teller> {
        socket.set_sndhwm(UNREAD)?;
        let mut teller = Teller { socket, stuck: false, sent: 0 };
        teller.keep(true)?;
        Ok(teller)
    }

    /// Whether a message that a client has no room for is refused, not dropped.
    fn keep(&mut self, keep: bool) -> zmq::Result<()> {
        let wanted = std::ffi::c_int::from(keep);
        // SAFETY: the socket is alive as long as it is borrowed here; the option is an int, and
        // ZeroMQ copies it before it returns. The crate has no safe name for it.
        let rc = unsafe {
            zmq_sys::zmq_setsockopt(
                self.socket.as_mut_ptr(),
                zmq_sys::ZMQ_XPUB_NODROP as std::ffi::c_int,
                std::ptr::from_ref(&wanted).cast(),
                size_of::<std::ffi::c_int>(),
            )
        };
        if rc == 0 { Ok(()) } else { Err(Error::EINVAL) }
    }

    /// To all clients. One that does not read is waited for, once.
    pub fn send(&mut self, frames: Vec<Frame>) {
        self.sent += 1;
        // What clients subscribe to is of no interest, and would pile up.
        while self.sent.is_multiple_of(64) && self.socket.recv_bytes(zmq::DONTWAIT).is_ok() {}
        let begun = Instant::now();
        loop {
            match self.socket.send_multipart(&frames, zmq::DONTWAIT) {
                Err(Error::EAGAIN) if !self.stuck && begun.elapsed() < PATIENCE => {
                    std::thread::sleep(GLANCE);
                }
                Err(Error::EINTR) => {}
                Err(Error::EAGAIN) => {
                    self.stuck = true;
                    let _ = self.keep(false);
                    let _ = self.socket.send_multipart(&frames, zmq::DONTWAIT);
                    let _ = self.keep(true);
                    return;
                }
                _ => {
                    self.stuck = false;
                    return;
                }
            }
        }
    }
}

/// The outcome of waiting.
pub enum Heard {
    Frames(Vec<Frame>),
    /// The time ran out.
    Nothing,
    /// The context is closed: nothing will come.
    Over,
}

impl Door {
    /// Waits for a message; None: as long as it takes.
    pub fn receive(&self, milliseconds: Option<u32>) -> Heard {
        loop {
            match self.0.poll(POLLIN, milliseconds.map_or(-1, i64::from)) {
                Ok(0) => return Heard::Nothing,
                Ok(_) => match self.0.recv_multipart(zmq::DONTWAIT) {
                    Ok(frames) => return Heard::Frames(frames),
                    Err(Error::EAGAIN | Error::EINTR) => {}
                    Err(_) => return Heard::Over,
                },
                Err(Error::EINTR) => {}
                Err(_) => return Heard::Over,
            }
        }
    }

    /// The frames that have come already, without waiting.
    pub fn pending(&self) -> Option<Vec<Frame>> {
        match self.receive(Some(0)) {
            Heard::Frames(frames) => Some(frames),
            _ => None,
        }
    }

    /// To a client that is gone, or a context that is closed: nothing happens.
    pub fn send(&self, frames: Vec<Frame>) {
        let _ = self.0.send_multipart(frames, 0);
    }
}

/// A kernel's side, bound.
pub struct Bound {
    pub shell: Door,
    pub stdin: Door,
    pub control: Door,
    pub heartbeat: Door,
    pub iopub: Teller,
    pub closer: Closer,
}

/// Closes all sockets of one side: whoever waits at one gets `Over`.
pub struct Closer(Context);

impl Closer {
    /// Returns when every socket is dropped and what they had to send is sent.
    pub fn close(mut self) {
        let _ = self.0.destroy();
    }
}

fn door(context: &Context, kind: SocketType) -> zmq::Result<Socket> {
    let socket = context.socket(kind)?;
    // What a client subscribes to, of a kernel that is gone, is nothing to wait for.
    socket.set_linger(if kind == SocketType::SUB { 0 } else { LINGER })?;
    socket.set_maxmsgsize(LARGEST)?;
    socket.set_sndhwm(0)?;
    if kind == SocketType::ROUTER {
        socket.set_router_handover(true)?;
    }
    Ok(socket)
}

/// Messages of one client that wait at the kernel. *stdin* is read only while a cell asks, for one
/// line.
const WAITING: i32 = 1_000;
const WAITING_LINES: i32 = 8;

/// Errors: a sentence with the address that cannot be had.
pub fn bind(info: &ConnectionInfo) -> Result<Bound, String> {
    let context = Context::new();
    let teller = |address: String| {
        let socket = door(&context, SocketType::XPUB);
        let teller = socket.and_then(Teller::new);
        let teller = teller.map_err(|e| format!("no socket can be had: {e}"))?;
        teller.socket.bind(&address).map_err(|e| format!("{address}: {e}"))?;
        Ok::<Teller, String>(teller)
    };
    let open = |kind, address: String| {
        let most = if address == info.stdin_url() { WAITING_LINES } else { WAITING };
        let socket = door(&context, kind).and_then(|s| s.set_rcvhwm(most).map(|()| s));
        let socket = socket.map_err(|e| format!("no socket can be had: {e}"))?;
        socket.bind(&address).map_err(|e| format!("{address}: {e}"))?;
        Ok::<Door, String>(Door(socket))
    };
    Ok(Bound {
        shell: open(SocketType::ROUTER, info.shell_url())?,
        stdin: open(SocketType::ROUTER, info.stdin_url())?,
        control: open(SocketType::ROUTER, info.control_url())?,
        heartbeat: open(SocketType::ROUTER, info.hb_url())?,
        iopub: teller(info.iopub_url())?,
        closer: Closer(context),
    })
}

/// A client's side, connected.
pub struct Connected {
    pub shell: Door,
    pub stdin: Door,
    pub control: Door,
    pub heartbeat: Door,
    pub iopub: Door,
}

/// Errors: a sentence. That nobody answers is no error here.
pub fn connect(info: &ConnectionInfo) -> Result<Connected, String> {
    let context = Context::new();
    // One identity for shell and stdin, or questions for a line find nobody.
    let identity = uuid::Uuid::new_v4().to_string();
    let open = |kind, address: String| {
        let socket = door(&context, kind).map_err(|e| format!("no socket can be had: {e}"))?;
        let ready = match kind {
            SocketType::SUB => socket.set_rcvhwm(0).and_then(|()| socket.set_subscribe(b"")),
            _ => socket.set_identity(identity.as_bytes()),
        };
        ready.and_then(|()| socket.connect(&address)).map_err(|e| format!("{address}: {e}"))?;
        Ok::<Door, String>(Door(socket))
    };
    Ok(Connected {
        shell: open(SocketType::DEALER, info.shell_url())?,
        stdin: open(SocketType::DEALER, info.stdin_url())?,
        control: open(SocketType::DEALER, info.control_url())?,
        // A REQ would wait for ever for the answer of a kernel that is gone.
        heartbeat: open(SocketType::DEALER, info.hb_url())?,
        iopub: open(SocketType::SUB, info.iopub_url())?,
    })
}

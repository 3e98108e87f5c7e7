//! Pipes and devices: what has no length and may keep its reader waiting. Nobody waits inside the
//! system: the interrupt is looked at.

use super::failed;
use aplomb_ground::error::{Result, interrupt, ws_full};
use aplomb_ground::limits::{Budget, Interrupt};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// Between two looks at what is not ready.
const WAIT: Duration = Duration::from_millis(5);
/// Bytes read at a time.
const PIECE: usize = 1 << 16;

/// All bytes until the other side closes. A pipe with a name waits for somebody who writes. Errors:
/// FILE ACCESS, INTERRUPT, WS FULL: a device may never end.
pub fn read(path: &Path, budget: &Budget) -> Result<Vec<u8>> {
    let says = |e: std::io::Error| failed(path, &e);
    let mut from =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(says)?;
    let is_pipe = from.metadata().is_ok_and(|about| about.file_type().is_fifo());
    // A pipe between programs is a link to nowhere: its writer is there, or was.
    let mut begun = !is_pipe || !fs::canonicalize(path).is_ok_and(|place| place.exists());
    let (mut out, mut piece) = (Vec::new(), vec![0; PIECE]);
    loop {
        budget.check()?;
        match from.read(&mut piece) {
            Ok(0) if begun => return Ok(out),
            Ok(0) => sleep(WAIT),
            Ok(n) => {
                begun = true;
                let need = (out.len() + n) as u64;
                if need > budget.free() || out.try_reserve(n).is_err() {
                    return Err(ws_full(need, budget.free()));
                }
                out.extend_from_slice(&piece[..n]);
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                begun = true;
                sleep(WAIT);
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(says(e)),
        }
    }
}

/// Writes to whom reads there. Errors: FILE ACCESS, INTERRUPT.
pub fn write(
    path: &Path,
    stop: &Interrupt,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<()> {
    let to = loop {
        stop.check()?;
        match OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path) {
            // Nobody reads yet.
            Err(e) if e.raw_os_error() == Some(libc::ENXIO) => sleep(WAIT),
            opened => break opened.map_err(|e| failed(path, &e))?,
        }
    };
    let done = write(&mut Patient { to, stop });
    if done.is_err() && stop.is_set() {
        return Err(interrupt());
    }
    done.map_err(|e| failed(path, &e))
}

/// Waits where the reader is slow.
struct Patient<'a> {
    to: File,
    stop: &'a Interrupt,
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        loop {
            match self.to.write(bytes) {
                Err(e) if e.kind() == ErrorKind::WouldBlock && !self.stop.is_set() => sleep(WAIT),
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

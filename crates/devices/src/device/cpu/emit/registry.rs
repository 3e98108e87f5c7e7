//! The loops of a device: each tape that has been met, and its code.
//!
//! A tape is compiled when the launch is long enough to pay for it at once, or when it has been met
//! before.

use super::super::isa::Isa;
use super::builder::Builder;
use super::code::code;
use super::pages::Pages;
use super::tape::{Act, Tape};
use crate::pool::lock;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Work below this runs before a tape would be written.
const SHORT_NS: f64 = 4_000.0;
/// Work from which a loop is compiled before it has run once.
const LONG_NS: f64 = 150_000.0;
/// Codes that are kept.
const KEPT: usize = 1024;

/// An emitted loop.
pub struct Loop {
    pub pages: Pages,
    /// Elements of a round.
    pub lanes: usize,
    /// Elements may be made twice, if none of their results is read: they are stored, and no store
    /// is one of whole lines.
    pub again: bool,
    /// The tape, which may be several of the one that was asked for (`beside`).
    pub tape: Tape,
}

/// The state of a tape.
enum Known {
    /// It has been asked for once.
    Seen,
    Code(Arc<Loop>),
    /// It has no code.
    None,
}

/// When loops are emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In launches for which it pays.
    Paying,
    /// In all launches that have lanes: for tests.
    Always,
    Never,
}

impl When {
    /// `APLOMB_EMIT=always|never`, for tests.
    pub fn chosen() -> When {
        match std::env::var("APLOMB_EMIT").as_deref() {
            Ok("always") => When::Always,
            Ok("never") => When::Never,
            _ => When::Paying,
        }
    }
}

/// All loops of a device.
pub struct Registry {
    codes: Mutex<HashMap<Tape, Known>>,
    /// Tapes that were met and not compiled, ever.
    waiting: AtomicUsize,
    when: When,
    /// Bytes of a register of the machine; None: nothing is emitted for it.
    register: Option<usize>,
}

impl Registry {
    /// The loops of a machine: none where it has not their instructions.
    pub fn new(isa: Isa, when: When) -> Registry {
        let register = match isa {
            _ if !cfg!(target_arch = "x86_64") => None,
            Isa::Avx512 => Some(64),
            Isa::Avx2 => Some(32),
            Isa::Portable => None,
        };
        Registry { codes: Mutex::default(), waiting: AtomicUsize::new(0), when, register }
    }

    /// An empty tape for the machine's registers; None: nothing is emitted.
    pub fn tape(&self) -> Option<Builder> {
        self.register.map(Builder::new)
    }

    /// Work of so many nanoseconds is worth a tape; true: and a loop though it is met for the first
    /// time.
    pub fn pays(&self, ns: f64) -> Option<bool> {
        let always = self.when == When::Always;
        let some =
            self.register.is_some() && self.when != When::Never && (always || ns >= SHORT_NS);
        some.then_some(always || ns >= LONG_NS)
    }

    /// The number of times that a tape was met and left for its next time.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    fn codes(&self) -> MutexGuard<'_, HashMap<Tape, Known>> {
        lock(&self.codes)
    }

    /// The loop of a tape; None: it has none, or not yet.
    pub fn code(&self, tape: Tape, ready: bool) -> Option<Arc<Loop>> {
        let mut codes = self.codes();
        match codes.get(&tape) {
            Some(Known::Code(code)) => return Some(code.clone()),
            Some(Known::None) => return None,
            Some(Known::Seen) => {}
            None if ready => {}
            None => {
                codes.insert(tape, Known::Seen);
                self.waiting.fetch_add(1, Ordering::Relaxed);
                return None;
            }
        }
        // Any may be made again.
        if codes.len() >= KEPT {
            codes.clear();
        }
        let own = tape.later().beside();
        let pages = code(&own).ok().and_then(|bytes| Pages::new(&bytes));
        let stored = |act: &Act| matches!(act, Act::Make(_) | Act::Suspect(_) | Act::Store(..));
        let again = own.acts.iter().all(stored) && own.outs.iter().all(|out| !out.stream);
        let lanes = own.lanes.count;
        let code = pages.map(|pages| Arc::new(Loop { pages, lanes, again, tape: own }));
        let known = match &code {
            Some(code) => Known::Code(code.clone()),
            None => Known::None,
        };
        codes.insert(tape, known);
        code
    }
}

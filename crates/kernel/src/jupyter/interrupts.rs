//! Who may stop the cell that runs: the control thread and the signal thread, never one that waits.

use aplomb_ground::limits::{Gone, Interrupt};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by all threads. An interrupt of an idle kernel does nothing.
#[derive(Clone, Default)]
pub struct Interrupts(Arc<State>);

#[derive(Default)]
struct State {
    session: OnceLock<Interrupt>,
    busy: AtomicBool,
    wanted: AtomicBool,
    over: AtomicBool,
}

impl Interrupts {
    /// The session's own flag, once there is a session.
    pub(super) fn attach(&self, interrupt: Interrupt) {
        let _ = self.0.session.set(interrupt);
    }

    /// Stops what runs.
    pub fn request(&self) {
        if self.0.busy.load(Ordering::SeqCst) {
            self.0.wanted.store(true, Ordering::SeqCst);
            self.0.session.get().inspect(|flag| flag.set());
        }
    }

    /// Stops what runs, and nothing waiting begins.
    pub(super) fn finish(&self) {
        self.0.over.store(true, Ordering::SeqCst);
        self.request();
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.over.load(Ordering::SeqCst)
    }

    /// A cell begins.
    pub(super) fn begin(&self) {
        self.0.wanted.store(false, Ordering::SeqCst);
        self.0.busy.store(true, Ordering::SeqCst);
    }

    /// The way of the loop that runs.
    pub(super) fn way(&self) -> Option<Gone> {
        self.0.session.get()?.way()
    }

    /// The session has cleared its flag; what was wanted since `begin` still is.
    pub(super) fn again(&self) {
        if self.0.wanted.load(Ordering::SeqCst) {
            self.0.session.get().inspect(|flag| flag.set());
        }
    }

    pub(super) fn wanted(&self) -> bool {
        self.0.wanted.load(Ordering::SeqCst)
    }

    pub(super) fn end(&self) {
        self.0.busy.store(false, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_runs_is_stopped_and_no_early_request_is_lost() {
        let (interrupts, flag) = (Interrupts::default(), Interrupt::default());
        interrupts.attach(flag.clone());
        interrupts.request();
        assert!(!flag.is_set());
        interrupts.begin();
        interrupts.request();
        flag.clear();
        interrupts.again();
        assert!(flag.is_set());
        interrupts.end();
        interrupts.begin();
        assert!(!interrupts.wanted());
    }
}

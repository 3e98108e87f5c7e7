//! A thread that sets the interrupt when a request has used its time (`--limit seconds=N`).
//!
//! Started by the first deadline. A launch under way looks at the interrupt only, so a clock that the evaluator reads
//! would not stop it.

use aplomb_lang::limits::Interrupt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Instant;

#[derive(Default)]
struct State {
    deadline: Option<Instant>,
    fired: bool,
    gone: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
pub struct Watchdog {
    shared: Arc<Shared>,
    runs: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    fn watch(&self, interrupt: &Interrupt) {
        let mut state = self.lock();
        while !state.gone {
            let now = Instant::now();
            state = match state.deadline {
                Some(at) if at <= now => {
                    (state.deadline, state.fired) = (None, true);
                    interrupt.set();
                    state
                }
                Some(at) => match self.changed.wait_timeout(state, at - now) {
                    Ok((state, _)) => state,
                    Err(broken) => broken.into_inner().0,
                },
                None => self.changed.wait(state).unwrap_or_else(|broken| broken.into_inner()),
            };
        }
    }
}

impl Watchdog {
    /// From now on the interrupt is set at `deadline`; None: never. Without a thread there is no limit.
    pub fn arm(&mut self, deadline: Option<Instant>, interrupt: &Interrupt) {
        if deadline.is_none() && !self.runs {
            return;
        }
        let mut state = self.shared.lock();
        (state.deadline, state.fired) = (deadline, false);
        drop(state);
        if self.runs {
            self.shared.changed.notify_one();
        } else {
            let (shared, interrupt) = (self.shared.clone(), interrupt.clone());
            let watcher = thread::Builder::new().name("deadline".into());
            self.runs = watcher.spawn(move || shared.watch(&interrupt)).is_ok();
        }
    }

    /// Whether the last deadline came.
    pub fn fired(&self) -> bool {
        self.shared.lock().fired
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.lock().gone = true;
        self.shared.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_deadline_sets_the_interrupt_and_one_taken_back_does_not() {
        let interrupt = Interrupt::default();
        let mut dog = Watchdog::default();
        let now = Instant::now();
        dog.arm(Some(now + Duration::from_secs(60)), &interrupt);
        dog.arm(None, &interrupt);
        assert!(!dog.fired() && !interrupt.is_set());
        dog.arm(Some(now), &interrupt);
        while !interrupt.is_set() {
            thread::yield_now();
        }
        assert!(dog.fired());
    }
}

//! A thread that looks after a request: it sets the interrupt when the time is used up
//! (`--limit seconds=N`), and when the process is larger than its arrays may be.
//!
//! Started by the first request. A launch under way looks at the interrupt only, so a clock that
//! the evaluator reads would not stop it. The budget counts arrays; what is made beside them
//! (texts, tables, small items) shows in the size of the process alone, so that is looked at while
//! a request runs. Between requests the thread sleeps.

use aplomb_devices::memory;
use aplomb_ground::limits::Interrupt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at the size of the process.
const LOOK: Duration = Duration::from_millis(50);

/// Looks without a request before the thread sleeps: lines that follow each other wake nobody.
const QUIET: u32 = 10;

/// The bounds at which a request is stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    pub deadline: Option<Instant>,
    /// Bytes that arrays may take.
    pub bytes: u64,
}

/// The reasons for which a request was stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fired {
    Time,
    /// Bytes that the process had taken.
    Memory(u64),
}

#[derive(Default)]
struct State {
    /// Of the request under way.
    bounds: Option<Bounds>,
    fired: Option<Fired>,
    asleep: bool,
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

/// Bytes of a process whose arrays may take so many: the pool keeps some that are free, and a
/// little is never counted.
fn most(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / 5).saturating_add(256 << 20)
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    fn watch(&self, interrupt: &Interrupt) {
        let empty = memory::resident().unwrap_or(0);
        let mut quiet = 0;
        let mut state = self.lock();
        while !state.gone {
            let now = Instant::now();
            let mut wait = Some(LOOK);
            match state.bounds {
                Some(Bounds { deadline: Some(at), .. }) if at <= now => {
                    (state.bounds, state.fired) = (None, Some(Fired::Time));
                    interrupt.set();
                }
                Some(bounds) => {
                    quiet = 0;
                    let taken = memory::resident().map_or(0, |bytes| bytes.saturating_sub(empty));
                    if taken > most(bounds.bytes)
                        && memory::trimmed().saturating_sub(empty) > most(bounds.bytes)
                    {
                        (state.bounds, state.fired) = (None, Some(Fired::Memory(taken)));
                        interrupt.set();
                    }
                    wait = Some(bounds.deadline.map_or(LOOK, |at| LOOK.min(at - now)));
                }
                None if quiet < QUIET => quiet += 1,
                None => wait = None,
            }
            state.asleep = wait.is_none();
            state = match wait {
                Some(wait) => match self.changed.wait_timeout(state, wait) {
                    Ok((state, _)) => state,
                    Err(broken) => broken.into_inner().0,
                },
                None => self.changed.wait(state).unwrap_or_else(|broken| broken.into_inner()),
            };
        }
    }
}

impl Watchdog {
    /// From now on the interrupt is set where a bound is passed; None: the request is over. Without
    /// a thread there is no limit.
    pub fn arm(&mut self, bounds: Option<Bounds>, interrupt: &Interrupt) {
        if bounds.is_none() && !self.runs {
            return;
        }
        let mut state = self.shared.lock();
        (state.bounds, state.fired) = (bounds, None);
        let wakes = bounds.is_some_and(|b| b.deadline.is_some() || state.asleep);
        drop(state);
        if self.runs {
            if wakes {
                self.shared.changed.notify_one();
            }
        } else {
            let (shared, interrupt) = (self.shared.clone(), interrupt.clone());
            let watcher = thread::Builder::new().name("watchdog".into());
            self.runs = watcher.spawn(move || shared.watch(&interrupt)).is_ok();
        }
    }

    /// The reason that stopped the request under way.
    pub fn fired(&self) -> Option<Fired> {
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

    #[test]
    fn a_deadline_sets_the_interrupt_and_one_taken_back_does_not() {
        let interrupt = Interrupt::default();
        let mut dog = Watchdog::default();
        let now = Instant::now();
        let bounds = |seconds| {
            Some(Bounds { deadline: Some(now + Duration::from_secs(seconds)), bytes: u64::MAX })
        };
        dog.arm(bounds(60), &interrupt);
        dog.arm(None, &interrupt);
        assert!(dog.fired().is_none() && !interrupt.is_set());
        dog.arm(bounds(0), &interrupt);
        while !interrupt.is_set() {
            thread::yield_now();
        }
        assert_eq!(dog.fired(), Some(Fired::Time));
    }
}

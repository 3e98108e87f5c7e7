//! The thread pool: N−1 workers and the caller share out numbered units by a ticket.
//!
//! A hand-off costs 60 ns while workers spin, 7–25 µs after they parked. A worker that comes late
//! does not enter, so the caller never waits for one that only wakes up. A panic in a unit ends the
//! run as an error, never as a hang.
//!
//! Why it ends and is right: a ticket counts up, so each unit is drawn once, and each thread stops
//! at the first number that is no unit. The caller draws too, so all units run even if no worker
//! comes. A worker enters under the lock while the job stands there, and the caller takes the job
//! away under the same lock before it waits; so it waits for those inside alone, and none enters
//! later.

use crate::pool::lock;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// About 50 µs.
const SPINS: u32 = 20_000;

/// Does a unit, by a worker; false: those that are left need not run.
type Work = dyn Fn(usize, usize) -> bool + Sync;

/// A unit panicked.
#[derive(Debug, PartialEq, Eq)]
pub struct Panicked;

struct Job {
    work: *const Work,
    units: usize,
}

// SAFETY: the pointee is Sync, and `run` returns only when no worker is inside.
unsafe impl Send for Job {}

#[derive(Default)]
struct State {
    job: Option<Job>,
    stop: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    epoch: AtomicU64,
    ticket: AtomicUsize,
    inside: AtomicUsize,
    panicked: AtomicBool,
}

impl Shared {
    /// No code panics while it holds the lock, so a poisoned one is still whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn serve(&self, work: &(dyn Fn(usize, usize) -> bool + Sync), units: usize, worker: usize) {
        loop {
            let unit = self.ticket.fetch_add(1, Ordering::Relaxed);
            if unit >= units {
                return;
            }
            match catch_unwind(AssertUnwindSafe(|| work(unit, worker))) {
                Ok(true) => continue,
                Ok(false) => {}
                Err(_) => self.panicked.store(true, Ordering::Relaxed),
            }
            self.ticket.store(usize::MAX / 2, Ordering::Relaxed);
        }
    }

    fn worker(&self, me: usize) {
        let mut seen = 0;
        loop {
            let mut spins = 0;
            while self.epoch.load(Ordering::Acquire) == seen && spins < SPINS {
                std::hint::spin_loop();
                spins += 1;
            }
            let mut state = self.lock();
            while !state.stop && self.epoch.load(Ordering::Acquire) == seen {
                state = self.wake.wait(state).unwrap_or_else(|e| e.into_inner());
            }
            if state.stop {
                return;
            }
            seen = self.epoch.load(Ordering::Acquire);
            let Some((work, units)) = state.job.as_ref().map(|j| (j.work, j.units)) else {
                continue;
            };
            self.inside.fetch_add(1, Ordering::AcqRel);
            drop(state);
            // SAFETY: `inside` was raised under the lock while the job stood there; `run` waits for
            // it to fall.
            self.serve(unsafe { &*work }, units, me);
            self.inside.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

pub struct Threads {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl Threads {
    /// `count` threads in all, the caller included. Those that cannot be started are done without.
    /// The first worker makes something ready before it waits for work.
    pub fn new(count: usize, ready: fn()) -> Threads {
        let shared = Arc::new(Shared::default());
        let start = |me: usize| {
            let shared = shared.clone();
            std::thread::Builder::new()
                .name(format!("aplomb-{me}"))
                .spawn(move || {
                    if me == 1 {
                        ready();
                    }
                    shared.worker(me)
                })
                .ok()
        };
        let workers = (1..count.max(1)).map_while(start).collect();
        Threads { shared, workers }
    }

    pub fn count(&self) -> usize {
        self.workers.len() + 1
    }

    /// Runs `work(unit, worker)` for every unit, or until it is false; worker 0 is the caller.
    /// Alone if `together` is false.
    pub fn run(
        &mut self,
        units: usize,
        together: bool,
        work: &(dyn Fn(usize, usize) -> bool + Sync),
    ) -> Result<(), Panicked> {
        let shared = &self.shared;
        shared.panicked.store(false, Ordering::Relaxed);
        shared.ticket.store(0, Ordering::Release);
        if together && units > 1 && !self.workers.is_empty() {
            // SAFETY: only the lifetime is changed; the job is taken back below before `work` can
            // end.
            let work = unsafe {
                std::mem::transmute::<&(dyn Fn(usize, usize) -> bool + Sync), &'static Work>(work)
            };
            let mut state = shared.lock();
            state.job = Some(Job { work, units });
            // Under the lock: a worker about to sleep has not looked yet, or is asleep and woken
            // below.
            shared.epoch.fetch_add(1, Ordering::Release);
            drop(state);
            shared.wake.notify_all();
        }
        shared.serve(work, units, 0);
        shared.lock().job = None;
        let mut spins = 0;
        while shared.inside.load(Ordering::Acquire) > 0 {
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        if shared.panicked.load(Ordering::Relaxed) { Err(Panicked) } else { Ok(()) }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.wake.notify_all();
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_runs_once() {
        let mut threads = Threads::new(3, || ());
        for units in [0, 1, 2, 100] {
            let runs: Vec<AtomicUsize> = (0..units).map(|_| AtomicUsize::new(0)).collect();
            for _ in 0..50 {
                threads
                    .run(units, true, &|unit, _| {
                        runs[unit].fetch_add(1, Ordering::Relaxed) < usize::MAX
                    })
                    .unwrap();
            }
            assert!(runs.iter().all(|r| r.load(Ordering::Relaxed) == 50));
        }
    }

    #[test]
    fn a_panic_is_an_error_and_the_pool_lives_on() {
        let mut threads = Threads::new(2, || ());
        let bad = |unit: usize, _: usize| {
            assert!(unit != 5, "expected by the test");
            true
        };
        assert_eq!(threads.run(10, true, &bad), Err(Panicked));
        assert_eq!(threads.run(10, true, &|_, _| true), Ok(()));
    }

    #[test]
    fn units_that_are_left_do_not_run() {
        let (mut threads, runs) = (Threads::new(3, || ()), AtomicUsize::new(0));
        let work = |unit: usize, _: usize| {
            runs.fetch_add(1, Ordering::Relaxed);
            unit < 100
        };
        assert_eq!(threads.run(1 << 40, true, &work), Ok(()));
        assert!((100..1_000).contains(&runs.into_inner()));
    }
}

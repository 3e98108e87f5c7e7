//! Ctrl-C and requests to end, received on a thread of their own.

use aplomb_ground::limits::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

/// A file that grows beyond what the shell permits is an error where it is written, and nothing
/// half-written stays.
pub fn file_limit_is_an_error() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Calls `each` for the signals named. Where none can be received the system's own meaning stays.
fn receive(which: &[i32], mut each: impl FnMut(i32) + Send + 'static) {
    if let Ok(mut signals) = Signals::new(which) {
        let _ = thread::Builder::new()
            .name("signals".into())
            .spawn(move || signals.forever().for_each(&mut each));
    }
}

/// Ctrl-C calls `interrupt`, and ends nothing.
pub fn interrupts(mut interrupt: impl FnMut() + Send + 'static) {
    receive(&[SIGINT], move |_| interrupt());
}

/// Ctrl-C interrupts; a second one within a second ends the program.
pub fn interrupt_twice_ends(interrupt: Interrupt) {
    let mut last: Option<Instant> = None;
    interrupts(move || {
        if last.is_some_and(|t| t.elapsed() < Duration::from_secs(1)) {
            std::process::exit(crate::front::INTERRUPTED);
        }
        last = Some(Instant::now());
        interrupt.set();
    });
}

/// Ctrl-C interrupts; SIGTERM, SIGHUP and SIGQUIT end the program after `restore`.
pub fn interrupt_keeps(interrupt: Interrupt, restore: impl Fn() + Send + 'static) {
    receive(&[SIGINT, SIGTERM, SIGHUP, SIGQUIT], move |signal| {
        if signal == SIGINT {
            interrupt.set();
        } else {
            restore();
            std::process::exit(128 + signal);
        }
    });
}

//! The time of passes alone, without what debug builds check between them: what the front end of a
//! program takes that people run.

use aplomb_compiler::pass::{Observer, Options, compile};
use aplomb_values::dag::Recorded;
use std::time::Instant;

struct Passes {
    begun: Instant,
    ms: f64,
}

impl Observer for Passes {
    fn begin(&mut self, _pass: &'static str) {
        self.begun = Instant::now();
    }

    fn end(&mut self, _pass: &'static str) -> f64 {
        let ms = self.begun.elapsed().as_secs_f64() * 1e3;
        self.ms += ms;
        ms
    }
}

/// The least milliseconds of some compilations.
pub fn least(recorded: &Recorded, times: usize) -> f64 {
    let once = |_| {
        let mut passes = Passes { begun: Instant::now(), ms: 0.0 };
        compile(recorded, &Options::default(), &mut passes).expect("a plan");
        passes.ms
    };
    (0..times).map(once).fold(f64::MAX, f64::min)
}

//! Shared by whole-program tests: a session in process, arrays as numbers, a small generator.

#![allow(dead_code)]

use aplomb_kernel::session::{Commands, Session};
use aplomb_lang::array::{Array, Data};
use aplomb_lang::error::Error;
use aplomb_lang::limits::Limits;
use aplomb_lang::protocol::{Completion, Event, Sink};
use std::rc::Rc;

pub struct NoCommands;

impl Commands for NoCommands {
    fn run(&self, _line: &str, _session: &mut Session, _sink: &mut dyn Sink) -> Result<(), Error> {
        Ok(())
    }

    fn complete(&self, _start: &str) -> Vec<Completion> {
        Vec::new()
    }

    fn help(&self, _topic: &str) -> Option<String> {
        None
    }
}

pub fn session() -> Session {
    let limits = Limits { bytes: 1 << 31, ..Limits::default() };
    Session::new(Rc::new(NoCommands), limits, 2)
}

/// Everything a request says.
#[derive(Default)]
pub struct Heard(pub Vec<Event>);

impl Sink for Heard {
    fn event(&mut self, event: Event) {
        self.0.push(event);
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

/// Shape and bits of a value, ¯0 as 0, items of nested arrays in order.
pub fn bits(value: &Array) -> (Vec<usize>, Vec<u64>) {
    let mut out = Vec::new();
    collect(&value.settled(), &mut out);
    (value.shape().to_vec(), out)
}

fn collect(a: &Array, out: &mut Vec<u64>) {
    match a.data() {
        Data::Num(x) => out.push((x + 0.0).to_bits()),
        Data::Char(c) => out.push(u64::from(u32::from(*c)) | 1 << 63),
        Data::Dense(b) => out.extend(b.view().numbers().iter().map(|x| (x + 0.0).to_bits())),
        Data::Items(items) => items.items.iter().for_each(|i| collect(&i.settled(), out)),
        Data::Lazy(_) => out.push(u64::MAX),
    }
}

/// A generator with a known sequence.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }
}

/// How many times the push counts; `APLOMB_TEST_SCALE=100` is nightly.
pub fn scaled(count: usize) -> usize {
    let scale = std::env::var("APLOMB_TEST_SCALE").ok().and_then(|s| s.parse::<f64>().ok()).unwrap_or(1.0);
    (count as f64 * scale) as usize
}

//! The clock of the passes, and the record of a value.

use aplomb_lang::array::{Array, Data};
use aplomb_lang::pass::Observer;
use aplomb_lang::trace::ResultRecord;
use std::time::Instant;

/// The compiler has no clock of its own.
#[derive(Default)]
pub struct Clock(Option<Instant>);

impl Observer for Clock {
    fn begin(&mut self, _pass: &'static str) {
        self.0 = Some(Instant::now());
    }

    fn end(&mut self, _pass: &'static str) -> f64 {
        self.0.map_or(0.0, |begun| begun.elapsed().as_secs_f64() * 1e3)
    }
}

/// Shape, dtype and a hash of the values (FNV-1a over shape and each number's bits, ¯0 as 0).
pub fn result_of(value: &Array) -> ResultRecord {
    let mut h = 0xcbf2_9ce4_8422_2325u64;
    let mut stack = vec![value.settled()];
    while let Some(a) = stack.pop() {
        a.shape().iter().for_each(|d| mix(&mut h, *d as u64));
        match a.data() {
            Data::Num(x) => mix(&mut h, (x + 0.0).to_bits()),
            Data::Char(c) => mix(&mut h, u64::from(u32::from(*c))),
            Data::Dense(b) => {
                let view = b.view();
                (0..view.len()).for_each(|k| mix(&mut h, (view.number(k) + 0.0).to_bits()));
            }
            Data::Items(items) => stack.extend(items.items.iter().rev().map(Array::settled)),
            Data::Lazy(_) => {}
        }
    }
    ResultRecord {
        sha: format!("fnv:{h:016x}"),
        shape: value.shape().to_vec(),
        dtype: value.settled().dtype().name().into(),
    }
}

fn mix(h: &mut u64, word: u64) {
    *h = (*h ^ word).wrapping_mul(0x0100_0000_01b3);
    *h ^= *h >> 29;
}

//! The clock of the passes, and the record of a value.

use aplomb_compiler::pass::Observer;
use aplomb_devices::device::{Compiling, LaunchStats};
use aplomb_ground::error::bytes;
use aplomb_ground::limits::Interrupt;
use aplomb_ground::trace::{Diagnostic, Measured, Ran, ResultRecord, SentRecord, Trace};
use aplomb_plans::plan::{BufId, From, Plan};
use aplomb_values::array::{Array, Data, View};
use std::time::Instant;

/// The compiler has neither a clock of its own nor the session's interrupt.
pub struct Clock {
    begun: Option<Instant>,
    interrupt: Interrupt,
}

impl Clock {
    pub fn new(interrupt: &Interrupt) -> Clock {
        Clock { begun: None, interrupt: interrupt.clone() }
    }
}

impl Observer for Clock {
    fn begin(&mut self, _pass: &'static str) {
        self.begun = Some(Instant::now());
    }

    fn end(&mut self, _pass: &'static str) -> f64 {
        self.begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64() * 1e3)
    }

    fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }
}

/// The launches that ran together from one on: what only they need is told as written, and was
/// never whole.
fn together(trace: &Trace, first: &LaunchStats) -> Option<Diagnostic> {
    let of = first.together?;
    let own = trace.kernels.get(first.launch..first.launch + of.launches)?;
    let names: Vec<String> = own.iter().map(|k| format!("k{}", k.id)).collect();
    let spans = |n: &u32| trace.nodes.get(*n as usize)?.span.first().copied();
    let span = own.iter().find_map(|k| k.body.iter().rev().find_map(spans));
    let text = format!(
        "{} went through the same rows together, some at a time: {} of what only they need \
         stayed in the cache and were never whole in memory (]off abreast)",
        names.join(" "),
        bytes(of.near),
    );
    Some(Diagnostic { code: "W-abreast".into(), span, text, ms: None })
}

/// Adds to a trace where each launch ran, why there, and what it took.
pub fn tell_device(trace: &mut Trace, stats: &[LaunchStats], spent: &Compiling) {
    for s in stats {
        // A trace that nobody asked for has no launches.
        let Some(kernel) = trace.kernels.get_mut(s.launch) else { continue };
        for sent in &s.sent {
            let us = (sent.micros * 10.0).round() / 10.0;
            if let Some(buffer) = trace.buffers.get_mut(sent.buf as usize) {
                buffer.h2d = Some(SentRecord { k: kernel.id, bytes: sent.bytes, us });
            }
        }
        let us = (s.micros * 10.0).round() / 10.0;
        kernel.meas = Some(Measured {
            us,
            n: s.runs,
            clock: s.clock.into(),
            threads: s.threads as u32,
            read: None,
        });
        if s.gpu.is_none() && s.why.is_empty() {
            continue;
        }
        kernel.ran = Some(Ran {
            device: if s.gpu.is_some() { "cuda" } else { "cpu" }.into(),
            why: s.why.clone(),
            grid: s.gpu.map_or(0, |g| g.grid),
            slices: s.gpu.map_or(0, |g| g.slices),
            shared: s.gpu.map_or(0, |g| g.shared),
            library: s.gpu.and_then(|g| g.library).map(String::from),
        });
        if let Some(gpu) = s.gpu.as_ref().filter(|g| g.library.is_none()) {
            (kernel.regs, kernel.spill) =
                (Some(gpu.registers).filter(|n| *n > 0), Some(gpu.spills));
            kernel.occ = Some(f64::from(gpu.occupancy));
        }
    }
    let together = stats.iter().filter_map(|s| together(trace, s)).collect::<Vec<_>>();
    trace.diagnostics.extend(together);
    if stats.iter().any(|s| s.gpu.is_some()) {
        let made = [
            ("nvrtc_ms", spent.nvrtc_ms),
            ("compiled", f64::from(spent.compiled)),
            ("memory_hits", f64::from(spent.memory_hits)),
            ("disk_hits", f64::from(spent.disk_hits)),
            ("up_bytes", spent.up as f64),
            ("down_bytes", spent.down as f64),
            ("kept_bytes", spent.kept as f64),
            ("up_ms", spent.up_ms),
            ("down_ms", spent.down_ms),
            ("lowered", f64::from(spent.lowered)),
        ];
        trace.times.extend(made.map(|(k, v)| (k.to_string(), v)));
    }
}

/// Adds what launches read where values say: their different elements, counted by the values of
/// the run where those are arrays that the evaluation began with.
pub fn tell_counted(trace: &mut Trace, plan: &Plan, inputs: &[Array]) {
    let held = |buf: BufId, at: usize| -> Option<f64> {
        let From::Input(k) = plan.buffer(buf).from else { return None };
        // Of a story that is over only types are left.
        inputs.get(k as usize)?.settled().number_at(at)
    };
    let ran = plan.launches.iter().zip(&mut trace.kernels).filter(|(_, k)| k.meas.is_some());
    let counted = ran.filter_map(|(l, kernel)| Some((kernel, plan.counted(l, &held)?)));
    for (kernel, counted) in counted {
        kernel.meas.iter_mut().for_each(|meas| meas.read = Some(counted.read));
        for (load, distinct) in counted.loads {
            kernel.reads.get_mut(load).into_iter().for_each(|read| read.distinct = distinct);
        }
    }
}

/// Shape, dtype and a hash of the values.
pub fn result_of(value: &Array) -> ResultRecord {
    let mut sum = Sum::default();
    sum.add(value);
    ResultRecord {
        sha: format!("fnv:{:016x}", sum.0),
        shape: value.shape().to_vec(),
        dtype: value.settled().dtype().name().into(),
    }
}

/// A hash of values: FNV-1a over each one's shape and the bits of its numbers, ¯0 as 0.
pub struct Sum(pub u64);

impl Default for Sum {
    fn default() -> Sum {
        Sum(0xcbf2_9ce4_8422_2325)
    }
}

impl Sum {
    pub fn add(&mut self, value: &Array) {
        let h = &mut self.0;
        let mut stack = vec![value.settled()];
        while let Some(a) = stack.pop() {
            a.shape().iter().for_each(|d| mix(h, *d as u64));
            match a.data() {
                Data::Num(x, _) => mix(h, (x + 0.0).to_bits()),
                Data::Complex(z) => {
                    [z.re, z.im].into_iter().for_each(|x| mix(h, (x + 0.0).to_bits()))
                }
                Data::Char(c) => mix(h, u64::from(u32::from(*c))),
                Data::Dense(b) => {
                    let mut number = |x: f64| mix(h, (x + 0.0).to_bits());
                    match b.view() {
                        View::Complex(v) => v.iter().flat_map(|z| [z.re, z.im]).for_each(number),
                        view => (0..view.len()).for_each(|k| number(view.number(k))),
                    }
                }
                Data::Items(items) => stack.extend(items.iter().rev().map(|a| a.settled())),
                Data::Ref(_) | Data::Lazy(_) | Data::Framed(_) => {}
            }
        }
    }
}

fn mix(h: &mut u64, word: u64) {
    *h = (*h ^ word).wrapping_mul(0x0100_0000_01b3);
    *h ^= *h >> 29;
}

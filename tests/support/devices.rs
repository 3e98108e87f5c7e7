//! A session on the CPU and one on the GPU, and what they give, compared.

#![allow(dead_code)]

use crate::support::{Heard, bits, session};
use aplomb_devices::device::{Compiling, Wanted};
use aplomb_ground::protocol::{Event, Request};
use aplomb_kernel::session::Session;

/// A session after `lines`, everything recorded from then on.
pub fn prepared(wanted: Wanted, lines: &[&str]) -> Session {
    let mut s = session();
    s.core().devices().want(wanted);
    for line in lines {
        execute(&mut s, line);
    }
    s.interp().set_record_all(true);
    s
}

/// The line for its names; it must not fail.
fn execute(s: &mut Session, line: &str) {
    let mut heard = Heard::default();
    s.handle(
        Request::Execute { code: line.into(), name: "setup".into(), silent: true },
        &mut heard,
    );
    let failed = heard.0.iter().find(|e| matches!(e, Event::Error(_)));
    assert!(failed.is_none(), "{line}: {failed:?}");
}

/// A session on each device, and how what they gave compares.
pub struct Both {
    pub cpu: Session,
    pub gpu: Session,
    pub tally: Tally,
}

impl Both {
    pub fn after(lines: &[&str]) -> Both {
        let (cpu, gpu) = (prepared(Wanted::Cpu, lines), prepared(Wanted::Cuda, lines));
        Both { cpu, gpu, tally: Tally::default() }
    }

    /// Both run the line for its names, recorded as all lines are.
    pub fn set(&mut self, line: &str) {
        for s in [&mut self.cpu, &mut self.gpu] {
            execute(s, line);
            s.interp().set_record_all(true);
        }
    }

    /// The same, but what is small is there at once.
    pub fn set_at_once(&mut self, line: &str) {
        for s in [&mut self.cpu, &mut self.gpu] {
            s.interp().set_record_all(false);
            execute(s, line);
            s.interp().set_record_all(true);
        }
    }

    /// The lines as one evaluation on the GPU.
    pub fn together(&mut self, lines: &[String]) {
        self.tally.compare(&mut self.cpu, &mut self.gpu, lines);
        nothing_refused(&mut self.gpu);
    }

    /// Each line by itself, or they would be one launch.
    pub fn each(&mut self, lines: &[impl AsRef<str>]) {
        lines.iter().for_each(|line| {
            self.tally.compare(&mut self.cpu, &mut self.gpu, &[line.as_ref().to_string()])
        });
        nothing_refused(&mut self.gpu);
    }

    /// The tally of what was compared and compiled, for who reads the test's output.
    pub fn told(&mut self) -> (&Tally, Compiling) {
        let compiled = self.gpu.core().devices().compiling();
        println!("{:?} {compiled:?}", self.tally);
        (&self.tally, compiled)
    }

    /// So many lines had the same bits.
    pub fn all_equal(&mut self, lines: usize) {
        let (tally, compiled) = self.told();
        assert_eq!((tally.lines, tally.bits_differ), (lines, 0), "{tally:?} {compiled:?}");
    }
}

pub type Value = (Vec<usize>, Vec<u64>);

/// The value of a line, or the error's name and place.
pub fn outcome(s: &mut Session, line: &str) -> Result<Value, String> {
    match s.value_of(line) {
        Ok(Some(a)) => Ok(bits(&a)),
        Ok(None) => Err("no value".into()),
        Err(e) => Err(format!("{} at {:?}", e.name(), e.parts().place.as_ref().map(|p| p.span))),
    }
}

/// Equal bits, or so near that the order of a sum explains it.
pub fn near(x: u64, y: u64) -> bool {
    let (a, b) = (f64::from_bits(x), f64::from_bits(y));
    x == y || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-6)
}

/// The work of the devices, counted.
#[derive(Debug, Default)]
pub struct Tally {
    pub lines: usize,
    pub items: usize,
    pub bits_differ: usize,
}

impl Tally {
    /// The lines as one evaluation on the GPU against their values one by one on the CPU.
    pub fn compare(&mut self, cpu: &mut Session, gpu: &mut Session, lines: &[String]) {
        let wanted: Vec<(&String, Value)> =
            lines.iter().filter_map(|l| outcome(cpu, l).ok().map(|v| (l, v))).collect();
        if wanted.is_empty() {
            return;
        }
        // Two at least, or there is no strand.
        let all: Vec<String> = wanted
            .iter()
            .map(|(l, _)| format!("({l})"))
            .chain(["(0)".into(), "(0)".into()])
            .collect();
        let (_, found) = outcome(gpu, &all.join("")).unwrap_or_else(|e| panic!("{e}: {all:?}"));
        let mut rest = found.as_slice();
        for (line, (_, items)) in &wanted {
            let (own, after) = rest.split_at(items.len().min(rest.len()));
            rest = after;
            let equal =
                own.len() == items.len() && own.iter().zip(items).all(|(a, b)| near(*a, *b));
            let numbers = |v: &[u64]| v.iter().map(|x| f64::from_bits(*x)).collect::<Vec<_>>();
            assert!(equal, "{line}\nGPU {:?}\nCPU {:?}", numbers(own), numbers(items));
            self.lines += 1;
            self.items += items.len();
            let differ = own.iter().zip(items).filter(|(a, b)| a != b).count();
            // Only sums have another order, and functions of the system's library other bits.
            let may = line.contains(|c| "/⌿\\⍀.!○".contains(c));
            assert!(may || differ == 0, "{line}: {differ} differ");
            self.bits_differ += differ;
        }
        assert_eq!(rest, [0, 0]);
    }
}

/// Nothing was refused: what the GPU was given, it ran.
pub fn nothing_refused(gpu: &mut Session) {
    let notices = gpu.core().devices().take_notices();
    assert!(notices.is_empty(), "{notices:?}");
}

/// The devices on which the launches of a line ran.
pub fn ran_on(s: &mut Session, line: &str) -> Vec<(String, String)> {
    let trace = s.trace_of(Some(line)).expect("a trace");
    trace.kernels.into_iter().filter_map(|k| k.ran).map(|r| (r.device, r.why)).collect()
}

/// Every launch of a line ran on the GPU.
pub fn all_there(gpu: &mut Session, line: &str) {
    let ran = ran_on(gpu, line);
    assert!(!ran.is_empty() && ran.iter().all(|r| r.0 == "cuda"), "{line}: {ran:?}");
}

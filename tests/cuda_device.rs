//! The CUDA device gives what the CPU gives. Without a GPU it runs on the stand-in for CUDA's libraries, `tests/cusim`.
//!
//! Batches: the lines of one are one evaluation, so one program. Values are the same bits, but for sums, whose order
//! differs, and for functions of the system's library.

#[path = "support/grammar.rs"]
mod grammar;
#[path = "support/standin.rs"]
mod standin;
mod support;

use aplomb_kernel::device::Wanted;
use aplomb_kernel::session::Session;
use aplomb_lang::protocol::{Event, Request};
use grammar::{Grammar, SETUP};
use support::{Dice, Heard, bits, scaled, session};

/// A session after `lines`, everything recorded from then on.
fn prepared(wanted: Wanted, lines: &[&str]) -> Session {
    let mut s = session();
    s.core().devices().want(wanted);
    for line in lines {
        let mut heard = Heard::default();
        s.handle(Request::Execute { code: (*line).into(), name: "setup".into(), silent: true }, &mut heard);
        let failed = heard.0.iter().find(|e| matches!(e, Event::Error(_)));
        assert!(failed.is_none(), "{line}: {failed:?}");
    }
    s.interp().set_record_all(true);
    s
}

type Value = (Vec<usize>, Vec<u64>);

/// The value of a line, or the error's name and place.
fn outcome(s: &mut Session, line: &str) -> Result<Value, String> {
    match s.value_of(line) {
        Ok(Some(a)) => Ok(bits(&a)),
        Ok(None) => Err("no value".into()),
        Err(e) => Err(format!("{} at {:?}", e.name(), e.parts().place.as_ref().map(|p| p.span))),
    }
}

/// Equal bits, or so near that the order of a sum explains it.
fn near(x: u64, y: u64) -> bool {
    let (a, b) = (f64::from_bits(x), f64::from_bits(y));
    x == y || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-6)
}

/// What the devices did, counted.
#[derive(Debug, Default)]
struct Tally {
    lines: usize,
    items: usize,
    bits_differ: usize,
}

impl Tally {
    /// The lines as one evaluation on the GPU against their values one by one on the CPU.
    fn compare(&mut self, cpu: &mut Session, gpu: &mut Session, lines: &[String]) {
        let wanted: Vec<(&String, Value)> =
            lines.iter().filter_map(|l| outcome(cpu, l).ok().map(|v| (l, v))).collect();
        if wanted.is_empty() {
            return;
        }
        // Two at least, or there is no strand.
        let all: Vec<String> = wanted.iter().map(|(l, _)| format!("({l})")).chain(["(0)".into(), "(0)".into()]).collect();
        let (_, found) = outcome(gpu, &all.join("")).unwrap_or_else(|e| panic!("{e}: {all:?}"));
        let mut rest = found.as_slice();
        for (line, (_, items)) in &wanted {
            let (own, after) = rest.split_at(items.len().min(rest.len()));
            rest = after;
            let equal = own.len() == items.len() && own.iter().zip(items).all(|(a, b)| near(*a, *b));
            let numbers = |v: &[u64]| v.iter().map(|x| f64::from_bits(*x)).collect::<Vec<_>>();
            assert!(equal, "{line}\nGPU {:?}\nCPU {:?}", numbers(own), numbers(items));
            self.lines += 1;
            self.items += items.len();
            self.bits_differ += own.iter().zip(items).filter(|(a, b)| a != b).count();
        }
        assert_eq!(rest, [0, 0]);
    }
}

/// Nothing was refused: what the GPU was given, it ran.
fn nothing_refused(gpu: &mut Session) {
    let notices = gpu.core().devices().take_notices();
    assert!(notices.is_empty(), "{notices:?}");
}

#[test]
fn random_expressions_have_the_same_values() {
    if !standin::is_child("random_expressions_have_the_same_values", &[]) {
        return;
    }
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, &[SETUP]), prepared(Wanted::Cuda, &[SETUP]));
    let grammar = Grammar::from_table();
    let mut tally = Tally::default();
    let count = scaled(300);
    for first in (0..count).step_by(20) {
        let lines: Vec<String> = (first..first + 20)
            .map(|k| {
                let mut dice = Dice(600_000_000 + k as u64);
                let depth = 1 + dice.roll(5);
                grammar.term(&mut dice, depth).0
            })
            .filter(|l| !l.contains('C'))
            .collect();
        tally.compare(&mut cpu, &mut gpu, &lines);
        nothing_refused(&mut gpu);
    }
    let compiled = gpu.core().devices().compiling();
    println!("{tally:?} {compiled:?}");
    assert!(tally.lines * 10 > count * 7 && compiled.compiled as usize > count / 2, "{tally:?}");
    assert!(tally.bits_differ * 50 <= tally.items, "{tally:?}");
}

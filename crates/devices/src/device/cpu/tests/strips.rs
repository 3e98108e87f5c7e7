//! Launches that go row by row: strip by strip they give what they give one after the other.

use super::*;
use crate::device::cpu::strips::{Sizes, group};

/// The kind of a chain's second read of what its first launch makes.
#[derive(Clone, Copy, PartialEq)]
enum Reads {
    /// Its own row.
    Own,
    /// The row behind it, or 0.
    Next,
}

/// `e÷⍤1 0⊢+/e←f X-⍤1 0⊢⌈/X` over a matrix: three launches, of which the second stores and folds.
fn chain([rows, n]: [usize; 2], dtype: DType, (f, wild): (Op, bool), reads: Reads) -> Made {
    let mut dice = Dice((rows * n) as u64);
    let mut made = Made::new();
    let items = match wild {
        true => dice.numbers(rows * n, dtype == DType::F64),
        false => (0..rows * n).map(|_| (dice.roll(999) as f64 - 400.0) / 64.0).collect(),
    };
    let items = items.iter().map(|x| if dtype == DType::F32 { f64::from(*x as f32) } else { *x });
    let x = made.input(&[rows, n], items.collect(), dtype);
    let whole = || Read::identity(2);
    let mut of_row = Read::new([Ix::axis(0)]);
    if reads == Reads::Next {
        let next = Ix { c: 1, ..Ix::axis(0) };
        of_row = Read::new([next.clone()]);
        of_row.tests.push(Test { ix: next, lo: 0, hi: rows as i64 - 1, fill: 0.0 });
    }
    let fold = |op, value, site| Reduction { op, value, node: node(), dtype, site };
    let single = |mut step: Step| {
        step.dtype = dtype;
        step
    };

    let mut first = launch(&[rows, n]);
    (first.axis, first.kind) = (Some(1), aplomb_plans::plan::Kind::Reduce);
    first.loads.push(Load { buf: x, read: whole() });
    first.body.push(step(What::Load(0), dtype, 0));
    first.reductions.push(fold(Op::Max, 0, 1));
    first.after.push(step(What::Reduced(0), dtype, 0));
    let m = made.buffer(&[rows], dtype, From::Launch(0));
    first.after_stores.push(Store { value: 0, buf: m });
    made.plan.launches.push(first);

    let mut second = launch(&[rows, n]);
    (second.axis, second.kind) = (Some(1), aplomb_plans::plan::Kind::Reduce);
    second.loads.push(Load { buf: x, read: whole() });
    second.loads.push(Load { buf: m, read: of_row });
    second.body.push(step(What::Load(0), dtype, 0));
    second.body.push(step(What::Load(1), dtype, 0));
    second.body.push(single(op(Op::Sub, &[0, 1], 2)));
    second.body.push(single(op(f, &[2], 3)));
    let e = made.buffer(&[rows, n], dtype, From::Launch(1));
    second.stores.push(Store { value: 3, buf: e });
    second.reductions.push(fold(Op::Add, 3, 4));
    second.after.push(step(What::Reduced(0), dtype, 0));
    let s = made.buffer(&[rows], dtype, From::Launch(1));
    second.after_stores.push(Store { value: 0, buf: s });
    made.plan.launches.push(second);

    let mut third = launch(&[rows, n]);
    third.loads.push(Load { buf: e, read: whole() });
    third.loads.push(Load { buf: s, read: Read::new([Ix::axis(0)]) });
    third.body.push(step(What::Load(0), dtype, 0));
    third.body.push(step(What::Load(1), dtype, 0));
    third.body.push(single(op(Op::Div, &[0, 1], 5)));
    let out = made.output(&[rows, n], dtype);
    third.stores.push(Store { value: 2, buf: out });
    made.plan.launches.push(third);
    for (buf, last) in [(x, 1), (m, 1), (e, 2), (s, 2)] {
        made.plan.buffers[buf.0 as usize].last_use = Some(last);
    }
    made
}

/// A device that takes so many bytes to a strip, whatever there is.
fn with_strips(tier: Tier, threads: usize, strip: usize) -> Cpu {
    let mut cpu = on(tier, threads);
    cpu.sizes = Sizes { strip, least: 0 };
    cpu
}

#[test]
fn strips_give_what_launches_give_one_after_the_other() {
    let (mut values, mut faults) = (0, 0);
    for domain in [[40, 16], [7, 512], [300, 5], [3, 3000], [64, 64], [9, 1]] {
        for dtype in [DType::F64, DType::F32] {
            // Of ÷ some rows have a 0, and an overflow shows in what is summed.
            for f in [(Op::Exp, false), (Op::Abs, true), (Op::Recip, true), (Op::Exp, true)] {
                let made = chain(domain, dtype, f, Reads::Own);
                for tier in tiers() {
                    let mut whole = on(tier, 1);
                    whole.sizes.least = usize::MAX;
                    let wanted = made.run_on(&mut whole);
                    for (threads, strip) in [(1, 1), (1, 4_000), (3, 1_000), (2, 1 << 20)] {
                        let mut cpu = with_strips(tier, threads, strip);
                        assert_eq!(group(&cpu, &made.plan, 0), Some(0..3));
                        let got = made.run_on(&mut cpu);
                        let says = format!("{domain:?} {dtype:?} {f:?} {tier:?} {threads} {strip}");
                        match (&wanted, &got) {
                            (Ok(wanted), Ok(got)) => {
                                let all = wanted.iter().flatten().zip(got.iter().flatten());
                                all.for_each(|(w, g)| assert!(same(*w, *g), "{says}: {w} {g}"));
                                assert_eq!(cpu.stats().len(), 3, "{says}");
                                values += 1;
                            }
                            (Err(DeviceError::Fault(w)), Err(DeviceError::Fault(g))) => {
                                assert_eq!((w.site, w.index), (g.site, g.index), "{says}");
                                faults += 1;
                            }
                            _ => panic!("{says}: {} {}", wanted.is_ok(), got.is_ok()),
                        }
                    }
                }
            }
        }
    }
    assert!(values > 50 && faults > 50, "{values} values, {faults} faults");
}

#[test]
fn what_reads_another_row_begins_anew() {
    let made = chain([40, 16], DType::F64, (Op::Abs, false), Reads::Next);
    let cpu = with_strips((Isa::best(), When::Always), 2, 100);
    assert_eq!(group(&cpu, &made.plan, 0), None);
    assert_eq!(group(&cpu, &made.plan, 1), Some(1..3));
}

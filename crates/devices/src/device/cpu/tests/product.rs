//! Products by blocks against folds one by one: the same bits and the same failures.

use super::*;
use crate::device::cpu::product::factors;
use aplomb_plans::plan::Kind;

/// The ways an operand lies in memory: as it is read, turned, or a part of something larger, from
/// the end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lies {
    Plain,
    Turned,
    Cut,
}

struct Case {
    rows: usize,
    columns: usize,
    deep: usize,
    lies: [Lies; 2],
    dtype: DType,
    /// Both operands are computed: negated.
    computed: bool,
    pair: (Op, Op),
}

const SUM: (Op, Op) = (Op::Add, Op::Mul);
/// The same, unrounded and in order.
const MAC: (Op, Op) = (Op::Add, Op::Mac);

/// The items of an operand of lines × deep, its buffer's shape and items, and its read.
fn operand(case: &Case, of: usize, items: &[f64]) -> (Vec<usize>, Vec<f64>, Read) {
    let lines = [case.rows, case.columns][of];
    let deep = case.deep;
    let (line, fold) = (Ix::axis(of), Ix::axis(2));
    // The right operand is plain when its lines lie side by side.
    let across = (of == 1) != (case.lies[of] == Lies::Turned);
    let extra = if case.lies[of] == Lies::Cut { 2 } else { 0 };
    let shape =
        if across { vec![deep + extra, lines + extra] } else { vec![lines + extra, deep + extra] };
    let mut all = vec![99.0; shape[0] * shape[1]];
    for l in 0..lines {
        for k in 0..deep {
            // A cut one is read from its end along the fold.
            let place = if extra > 0 { deep - k } else { k };
            let at =
                if across { place * shape[1] + l + extra } else { (l + extra) * shape[1] + place };
            all[at] = items[l * deep + k];
        }
    }
    let place = if extra > 0 { Ix::constant(deep as i64).plus(&fold, -1) } else { fold };
    let line = line.offset(extra as i64);
    let ix = if across { vec![place, line] } else { vec![line, place] };
    (shape, all, Read { ix, tests: Vec::new() })
}

fn made(case: &Case, x: &[f64], y: &[f64]) -> Made {
    let mut made = Made::new();
    let mut l = launch(&[case.rows, case.columns, case.deep]);
    (l.axis, l.kind) = (Some(2), Kind::Reduce);
    for (of, items) in [x, y].into_iter().enumerate() {
        let (shape, items, read) = operand(case, of, items);
        // A matrix by itself is one buffer.
        let buf = match l.loads.first() {
            Some(Load { buf, .. }) if std::ptr::eq(x, y) => *buf,
            _ => made.input(&shape, items, case.dtype),
        };
        l.loads.push(Load { buf, read });
    }
    let wide = if case.dtype == DType::F32 { DType::F32 } else { DType::F64 };
    let typed = |s: Step| Step { dtype: wide, ..s };
    l.body = vec![step(What::Load(0), case.dtype, 0), step(What::Load(1), case.dtype, 0)];
    let mut factors = [0, 1];
    if case.computed {
        l.body.extend([typed(op(Op::Neg, &[0], 1)), typed(op(Op::Neg, &[1], 2))]);
        factors = [2, 3];
    }
    l.body.push(typed(op(case.pair.1, &factors, 3)));
    let value = l.body.len() as u32 - 1;
    l.reductions.push(Reduction { op: case.pair.0, value, node: node(), dtype: wide, site: 4 });
    l.after = vec![
        step(What::Reduced(0), wide, 0),
        step(What::Const(1.0), DType::F64, 0),
        op(Op::Add, &[0, 1], 5),
    ];
    let outer = [case.rows, case.columns];
    l.after_stores.push(Store { value: 2, buf: made.output(&outer, DType::F64) });
    l.after_stores.push(Store { value: 0, buf: made.output(&outer, wide) });
    made.plan.launches.push(l);
    made
}

/// The stated meaning: each result, or the first failure and its site.
fn meaning(case: &Case, x: &[f64], y: &[f64]) -> Result<Vec<f64>, (u64, Fail, u32)> {
    let narrow = case.dtype == DType::F32;
    let round = |x: f64| if narrow { f64::from(x as f32) } else { x };
    let mut out = Vec::new();
    let mut failed: Option<(u64, Fail, u32)> = None;
    let mut note = |index: usize, fail: Fail, site: u32| {
        if failed.is_none_or(|f| (site, index as u64) < (f.2, f.0)) {
            failed = Some((index as u64, fail, site));
        }
    };
    for i in 0..case.rows {
        for j in 0..case.columns {
            let (x, y) = (&x[i * case.deep..][..case.deep], &y[j * case.deep..][..case.deep]);
            if case.pair.1.is_unrounded() {
                let pair = |k: usize| (x[k], y[k]);
                let sum = reduce::dot(case.pair.1, pair, case.deep, case.dtype);
                out.push(round(sum.unwrap_or_else(|(k, fail)| {
                    let result = i * case.columns + j;
                    match k {
                        Some(k) => note(result * case.deep + k, fail, 3),
                        None => note(result, fail, 4),
                    }
                    0.0
                })));
                continue;
            }
            let products: Vec<f64> = (0..case.deep)
                .map(|k| {
                    eval_as(case.dtype, case.pair.1, 0.0, x[k], y[k]).unwrap_or_else(|fail| {
                        note((i * case.columns + j) * case.deep + k, fail, 3);
                        0.0
                    })
                })
                .collect();
            match reduce::fold(case.pair.0, 0.0, &products, true, case.dtype) {
                Ok(sum) => out.push(round(sum)),
                Err(fail) => {
                    note(i * case.columns + j, fail, 4);
                    out.push(0.0);
                }
            }
        }
    }
    failed.map_or(Ok(out), Err)
}

fn check(case: &Case, x: &[f64], y: &[f64], threads: &[usize]) {
    let made = made(case, x, y);
    let wanted = meaning(case, x, y);
    let says = || {
        format!(
            "{}×{}×{} {:?} {:?} {:?}",
            case.rows, case.columns, case.deep, case.lies, case.dtype, case.pair
        )
    };
    for tier in tiers() {
        for &threads in threads {
            match (made.run(tier, threads), &wanted) {
                (Ok(got), Ok(wanted)) => {
                    assert!(
                        got[1].iter().zip(wanted).all(|(a, b)| same(*a, *b)),
                        "{} {tier:?} {threads}",
                        says()
                    );
                    assert!(
                        got[0].iter().zip(wanted).all(|(a, b)| same(*a, b + 1.0)),
                        "{} {tier:?}",
                        says()
                    );
                }
                (Err(DeviceError::Fault(f)), Err(wanted)) => {
                    assert_eq!((f.index, f.fail, f.site), *wanted, "{}", says())
                }
                (got, wanted) => panic!(
                    "{}: {:?} for {:?}",
                    says(),
                    got.map(|_| ()),
                    wanted.as_ref().map(|_| ())
                ),
            }
        }
    }
}

fn items(dice: &mut Dice, n: usize, dtype: DType) -> Vec<f64> {
    let one = |d: &mut Dice| match dtype {
        DType::Bool => d.roll(2) as f64,
        DType::I8 => d.roll(256) as f64 - 128.0,
        DType::I16 | DType::I32 => d.roll(60_000) as f64 - 30_000.0,
        DType::F32 => f64::from((d.unit() * 4.0 - 2.0) as f32),
        _ if d.roll(9) == 0 => -0.0,
        _ => (d.unit() - 0.5) * 3.0,
    };
    (0..n).map(|_| one(dice)).collect()
}

const PLAIN: [Lies; 2] = [Lies::Plain, Lies::Plain];

#[test]
fn products_are_the_stated_sums_at_sizes_around_tiles() {
    let mut dice = Dice(5);
    let deeps = [1, 2, 3, 7, 8, 9, 63, 64, 65, 129, 500, 2047, 2048, 2049, 2113];
    for (k, deep) in deeps.into_iter().enumerate() {
        let sizes = [(4, 4), (4, 6), (5, 7), (33, 49), (9, 13), (8, 16), (16, 32)];
        for ((rows, columns), pair) in sizes.into_iter().flat_map(|n| [(n, SUM), (n, MAC)]) {
            let lies = [
                [Lies::Plain, Lies::Turned, Lies::Cut][k % 3],
                [Lies::Plain, Lies::Turned, Lies::Cut][k / 3 % 3],
            ];
            let case =
                Case { rows, columns, deep, lies, dtype: DType::F64, computed: k % 4 == 3, pair };
            let (x, y) = (
                items(&mut dice, rows * deep, DType::F64),
                items(&mut dice, columns * deep, DType::F64),
            );
            assert_eq!(
                factors(&made(&case, &x, &y).plan.launches[0], Isa::best()).is_some(),
                deep >= 8 && pair == SUM
            );
            check(&case, &x, &y, &[1, 2, 3, 8]);
        }
    }
}

/// `A+.×⍉A` and `(⍉A)+.×A`: what lies below the diagonal is what lies above it.
#[test]
fn a_matrix_by_itself_is_the_stated_sums() {
    let mut dice = Dice(11);
    for (n, deep) in [(4, 70), (5, 9), (13, 2113), (31, 64), (49, 200), (100, 33)] {
        for lies in [[Lies::Plain, Lies::Turned], [Lies::Turned, Lies::Plain]] {
            for (pair, dtype) in [
                (SUM, DType::F64),
                (SUM, DType::F32),
                (SUM, DType::I8),
                (MAC, DType::F64),
                (MAC, DType::F32),
                (MAC, DType::I8),
                ((Op::Add, Op::Eq), DType::I8),
                ((Op::Max, Op::Add), DType::F64),
                ((Op::Min, Op::Max), DType::F64),
            ] {
                let case = Case { rows: n, columns: n, deep, lies, dtype, computed: false, pair };
                let x = items(&mut dice, n * deep, dtype);
                check(&case, &x, &x, &[1, 3]);
                let mut odd = x.clone();
                odd[deep + 3] = if dtype == DType::I8 { 7.0 } else { f64::INFINITY };
                check(&case, &odd, &odd, &[2]);
            }
        }
    }
}

#[test]
fn every_type_and_every_way_to_lie_is_packed() {
    let mut dice = Dice(6);
    let types = [DType::Bool, DType::I8, DType::I16, DType::I32, DType::F32, DType::F64];
    for (dtype, pair) in types.into_iter().flat_map(|dtype| [(dtype, SUM), (dtype, MAC)]) {
        for left in [Lies::Plain, Lies::Turned, Lies::Cut] {
            for right in [Lies::Plain, Lies::Turned, Lies::Cut] {
                for computed in [false, true] {
                    let case = Case {
                        rows: 11,
                        columns: 53,
                        deep: 131,
                        lies: [left, right],
                        dtype,
                        computed,
                        pair,
                    };
                    let (x, y) =
                        (items(&mut dice, 11 * 131, dtype), items(&mut dice, 53 * 131, dtype));
                    check(&case, &x, &y, &[1, 2]);
                }
            }
        }
    }
}

#[test]
fn long_folds_are_chained_block_by_block() {
    let mut dice = Dice(7);
    let deeps = [65_535, 65_536, 65_537, 140_000];
    for (deep, pair) in deeps.into_iter().flat_map(|deep| [(deep, SUM), (deep, MAC)]) {
        let case = Case {
            rows: 4,
            columns: 7,
            deep,
            lies: PLAIN,
            dtype: DType::F64,
            computed: false,
            pair,
        };
        let (x, y) =
            (items(&mut dice, 4 * deep, DType::F64), items(&mut dice, 7 * deep, DType::F64));
        check(&case, &x, &y, &[1, 3]);
    }
}

#[test]
fn what_is_not_finite_is_the_fold_s() {
    let mut dice = Dice(8);
    for (at, with) in [(700, f64::INFINITY), (701, f64::NAN), (3, 1e308), (1299, f64::NEG_INFINITY)]
    {
        let types = [(DType::F64, SUM), (DType::F32, SUM), (DType::F64, MAC), (DType::F32, MAC)];
        for (dtype, pair) in types {
            let case = Case {
                rows: 10,
                columns: 12,
                deep: 130,
                lies: PLAIN,
                dtype,
                computed: false,
                pair,
            };
            let with = if dtype == DType::F32 && with == 1e308 { 3e38 } else { with };
            let (mut x, mut y) = (items(&mut dice, 1300, dtype), items(&mut dice, 1560, dtype));
            x[at] = with;
            // Overflows in the product of one place, or in the sum.
            y[130 * 5 + at % 130] = 4.0;
            if dtype == DType::F64 {
                check(&case, &x, &y, &[1, 2]);
            }
            y[130 * 5 + at % 130] = 0.25;
            check(&case, &x, &y, &[1, 2]);
        }
    }
}

#[test]
fn an_interrupt_or_no_room_to_pack_change_no_bit() {
    let mut dice = Dice(9);
    for pair in [SUM, MAC] {
        let case = Case {
            rows: 200,
            columns: 210,
            deep: 250,
            lies: PLAIN,
            dtype: DType::I8,
            computed: false,
            pair,
        };
        let (x, y) = (items(&mut dice, 50_000, DType::I8), items(&mut dice, 52_500, DType::I8));
        let mut made = made(&case, &x, &y);
        let wanted = made.run((Isa::best(), When::Always), 2).unwrap();
        let stop = Interrupt::default();
        stop.set();
        let ctx = RunCtx {
            interrupt: &stop,
            budget: &made.budget,
            timed: false,
            libraries: false,
            abreast: true,
        };
        let ran = Cpu::with(Isa::best(), 2).run(&Rc::new(made.plan.clone()), &made.inputs, &ctx);
        assert!(matches!(ran, Err(DeviceError::Interrupted)));
        // Three arrays of 42 000 f64 fit (512 KiB each), both operands as f64 beside them do not.
        made.budget = Budget::new(1_700_000);
        assert_eq!(made.run((Isa::best(), When::Always), 2).unwrap(), wanted);
    }
}

#[test]
fn other_pairs_are_the_stated_folds() {
    let mut dice = Dice(10);
    let bools = [(Op::Gcd, Op::Lcm), (Op::Lcm, Op::Gcd), (Op::Add, Op::Lcm)];
    let all = [
        (Op::Add, Op::Eq),
        (Op::Add, Op::Ne),
        (Op::Max, Op::Add),
        (Op::Min, Op::Add),
        (Op::Max, Op::Mul),
    ];
    let last = [(Op::Min, Op::Mul), (Op::Max, Op::Min), (Op::Mul, Op::Add)];
    for pair in bools.into_iter().chain(all).chain(last) {
        for dtype in [DType::Bool, DType::I8, DType::I32] {
            for deep in [9, 65, 200] {
                let case =
                    Case { rows: 9, columns: 13, deep, lies: PLAIN, dtype, computed: false, pair };
                let few = |x: f64| if dtype == DType::I32 { x % 7.0 + 0.0 } else { x };
                let mut some = |n: usize| -> Vec<f64> {
                    items(&mut dice, n, dtype).into_iter().map(few).collect()
                };
                let (x, y) = (some(9 * deep), some(13 * deep));
                let blocked = factors(&made(&case, &x, &y).plan.launches[0], Isa::best()).is_some();
                let known = if bools.contains(&pair) {
                    dtype == DType::Bool
                } else {
                    !last[1..].contains(&pair)
                };
                assert_eq!(blocked, known, "{pair:?} {dtype:?}");
                check(&case, &x, &y, &[1, 2]);
            }
        }
    }
}

#[test]
fn infinity_that_a_fold_would_hide_is_not_blocked() {
    let case = Case {
        rows: 5,
        columns: 5,
        deep: 20,
        lies: PLAIN,
        dtype: DType::F64,
        computed: false,
        pair: (Op::Min, Op::Add),
    };
    let (mut x, mut y) = (vec![1.0; 100], vec![2.0; 100]);
    assert!(factors(&made(&case, &x, &y).plan.launches[0], Isa::best()).is_none());
    (x[45], y[5]) = (f64::MAX, f64::MAX);
    check(&case, &x, &y, &[1]);
}

//! Scans of every type, at sizes around blocks, against `prim::scan`.

use super::*;
use aplomb_values::prim::scan;

/// A launch that scans the last axis of items of a type, stored as another.
fn plan(op: Op, domain: &[usize], items: &[f64], types: (DType, DType)) -> Made {
    let mut made = Made::new();
    let buf = made.input(domain, items.to_vec(), types.0);
    let mut l = launch(domain);
    l.kind = aplomb_plans::plan::Kind::Scan;
    l.axis = Some(domain.len() - 1);
    l.loads.push(Load { buf, read: Read::identity(domain.len()) });
    l.body = vec![step(What::Load(0), types.0, 0)];
    let (value, dtype) = (0, types.1);
    l.reductions.push(Reduction { op, value, node: node(), dtype, site: 3 });
    l.after.push(step(What::Reduced(0), dtype, 3));
    let to = made.output(domain, dtype);
    made.plan.buffers[to.0 as usize].checked = dtype.is_integer();
    l.after_stores.push(Store { value: 0, buf: to });
    made.plan.launches.push(l);
    made
}

#[test]
fn scans_of_every_type_are_the_running_folds_on_every_tier_and_thread_count() {
    use DType::*;
    let mut dice = Dice(19);
    let domains: [&[usize]; 7] =
        [&[1], &[3, 1], &[3, 1000], &[9000, 2], &[16_384], &[2, 16_385], &[50_001]];
    for domain in domains {
        for (from, to) in
            [(Bool, I8), (Bool, I32), (I8, I16), (I8, I32), (I16, I32), (I32, I32), (I32, F64)]
        {
            let n = elements(domain);
            let most = if from == Bool { 2 } else { 100 };
            let wide = if from == I32 { 1000.0 } else { 1.0 };
            let one = |dice: &mut Dice| match from {
                Bool => dice.roll(most) as f64,
                _ => (dice.roll(most) as f64 - 40.0) * wide,
            };
            let items: Vec<f64> = (0..n).map(|_| one(&mut dice)).collect();
            let truths: &[Op] = if from == Bool { &[Op::Ne, Op::Lcm, Op::Gcd] } else { &[] };
            for op in [Op::Add, Op::Max, Op::Min].iter().chain(truths) {
                let mut wanted = items.clone();
                scan::along(*op, &mut wanted, domain, domain.len() - 1, &mut |_, _| {});
                for tier in tiers() {
                    for threads in [1, 3] {
                        let got = plan(*op, domain, &items, (from, to)).run(tier, threads);
                        let same = got.unwrap()[0] == wanted;
                        assert!(same, "{op:?} of {domain:?}, {from:?} to {to:?} on {tier:?}");
                    }
                }
            }
        }
    }
}

/// Sums that an f64 does not hold exactly depend on their order, which is the stated one.
#[test]
fn sums_beyond_what_is_exact_keep_their_order() {
    let n = 40_000;
    let mut dice = Dice(23);
    let items: Vec<f64> = (0..n).map(|_| (dice.roll(2000) as f64 - 900.0) * 1e6 + 1.0).collect();
    let mut wanted = items.clone();
    scan::along(Op::Add, &mut wanted, &[n], 0, &mut |_, _| {});
    let got =
        plan(Op::Add, &[n], &items, (DType::I32, DType::I32)).run((Isa::best(), When::Never), 2);
    assert_eq!(got.unwrap()[0], wanted);
}

/// Floats of both types, some of them none, read in order or made by the body: the bits and the
/// first failure of `prim::scan`, whose result is rounded to the type.
#[test]
fn scans_of_floats_are_the_running_folds_on_every_tier_and_thread_count() {
    let mut dice = Dice(29);
    let domains: [&[usize]; 9] = [
        &[1],
        &[3, 1],
        &[11, 1000],
        &[9000, 2],
        &[4096],
        &[2, 4097],
        &[3, 40_000],
        &[70_001],
        &[40, 5, 3],
    ];
    for (round, domain) in domains.iter().cycle().take(54).enumerate() {
        let n = elements(domain);
        let dtype = [DType::F64, DType::F32][round % 2];
        let op = [Op::Add, Op::Mul, Op::Max, Op::Min][dice.roll(4)];
        let wild = dice.roll(3);
        let special = |dice: &mut Dice| match (wild, dice.roll(5000)) {
            (1, 0) => f64::INFINITY,
            (1, 1) => f64::NAN,
            (2, 0) => {
                if dtype == DType::F32 {
                    3e38
                } else {
                    1.7e308
                }
            }
            _ => f64::from((dice.roll(4000) as f32 - 1800.0) / 1024.0),
        };
        let items: Vec<f64> = (0..n).map(|_| special(&mut dice)).collect();
        let axis = domain.len() - 1;
        let mut made = plan(op, domain, &items, (dtype, dtype));
        let body = dice.roll(2) == 0;
        if body {
            let launch = &mut made.plan.launches[0];
            launch.body.push(Step { dtype, ..super::op(Op::Neg, &[0], 1) });
            launch.reductions[0].value = 1;
        }
        let mut wanted: Vec<f64> = items
            .iter()
            .map(|x| if body { eval(Op::Neg, CT, *x, 0.0).unwrap() } else { *x })
            .collect();
        let mut failed: Option<(usize, Fail)> = None;
        let note = |at: usize, fail: Fail, failed: &mut Option<(usize, Fail)>| {
            if failed.is_none_or(|(first, _)| at < first) {
                *failed = Some((at, fail));
            }
        };
        scan::along(op, &mut wanted, domain, axis, &mut |at, fail| note(at, fail, &mut failed));
        if dtype == DType::F32 {
            for (at, x) in wanted.iter_mut().enumerate() {
                match aplomb_values::prim::scalar::single::rounded(Ok(*x)) {
                    Ok(short) => *x = short,
                    Err(fail) => note(at, fail, &mut failed),
                }
            }
        }
        for tier in tiers() {
            for threads in [1, 3] {
                let got = made.run(tier, threads);
                let what = format!("{op:?} of {domain:?}, {dtype:?}, {body} {wild} on {tier:?}");
                match (failed, got) {
                    (None, Ok(got)) => {
                        let other = wanted.iter().zip(&got[0]).position(|(a, b)| !same(*a, *b));
                        assert_eq!(other, None, "{what}");
                    }
                    (Some((at, fail)), Err(DeviceError::Fault(fault))) => {
                        assert_eq!((fault.index, fault.fail), (at as u64, fail), "{what}");
                    }
                    (wanted, got) => panic!("{what}: {wanted:?}, {:?}", got.map(|_| ())),
                }
            }
        }
    }
}

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

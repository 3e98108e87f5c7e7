//! Launches that go row by row together: the results, and the failure, of one after the other.

use super::*;
use aplomb_plans::plan::Kind;

/// The k-th of three launches on rows of n, whose arrays are these: rows by their exponentials'
/// sums, as three launches say it; sums are doubled, so that something follows the fold.
fn third(k: usize, [rows, n]: [usize; 2], dtype: DType, all: [BufId; 5]) -> Launch {
    let [a, most, e, sum, out] = all;
    let (row, point) = (Read::new([Ix::axis(0)]), Read::identity(2));
    let mut l = launch(&[rows, n]);
    let mut ops = Vec::new();
    let fold = |l: &mut Launch, op: Op, value: u32, site: u32| {
        (l.axis, l.kind) = (Some(1), Kind::Reduce);
        l.reductions.push(Reduction { op, value, node: node(), dtype, site });
        l.after.push(step(What::Reduced(0), dtype, 0));
    };
    match k {
        0 => {
            l.loads.push(Load { buf: a, read: point });
            l.body.push(step(What::Load(0), dtype, 0));
            fold(&mut l, Op::Max, 0, 1);
            l.after_stores.push(Store { value: 0, buf: most });
        }
        1 => {
            l.loads = vec![Load { buf: a, read: point }, Load { buf: most, read: row }];
            ops = vec![op(Op::Sub, &[0, 1], 2), op(Op::Exp, &[2], 3)];
            l.stores.push(Store { value: 3, buf: e });
            fold(&mut l, Op::Add, 3, 4);
            l.after.push(Step { dtype, ..op(Op::Add, &[0, 0], 5) });
            l.after_stores.push(Store { value: 1, buf: sum });
        }
        _ => {
            l.loads = vec![Load { buf: e, read: point }, Load { buf: sum, read: row }];
            ops = vec![op(Op::Div, &[0, 1], 6)];
            l.stores.push(Store { value: 2, buf: out });
        }
    }
    if k > 0 {
        l.body = vec![step(What::Load(0), dtype, 0), step(What::Load(1), dtype, 0)];
    }
    l.body.extend(ops.into_iter().map(|own| Step { dtype, ..own }));
    l
}

/// Arrays of a plan of these launches; `kept`: all that they store are results.
fn together(domain: [usize; 2], items: &[f64], dtype: DType, kept: bool) -> Made {
    let mut made = Made::new();
    let a = made.input(&domain, items.to_vec(), dtype);
    let mut stored = |shape: &[usize], launch: u32, last: u32| {
        let id = made.buffer(shape, dtype, From::Launch(launch));
        match kept {
            true => made.plan.roots.push(id),
            false => made.plan.buffers[id.0 as usize].last_use = Some(last),
        }
        id
    };
    let most = stored(&domain[..1], 0, 1);
    let e = stored(&domain, 1, 2);
    let sum = stored(&domain[..1], 1, 2);
    let out = made.buffer(&domain, dtype, From::Launch(2));
    made.plan.roots.push(out);
    made.plan.launches = (0..3).map(|k| third(k, domain, dtype, [a, most, e, sum, out])).collect();
    made
}

/// The same launches one by one: all that they store, or the first failure.
fn apart(
    domain: [usize; 2],
    items: &[f64],
    dtype: DType,
    tier: Tier,
) -> Result<Vec<Vec<f64>>, DeviceError> {
    let mut known: Vec<Option<Vec<f64>>> = vec![Some(items.to_vec()), None, None, None, None];
    for (k, stores) in [&[1][..], &[2, 3], &[4]].into_iter().enumerate() {
        let mut made = Made::new();
        let shape = |k: usize| if k % 2 == 1 { &domain[..1] } else { &domain[..] };
        let all = std::array::from_fn(|own| match &known[own] {
            Some(items) => made.input(shape(own), items.clone(), dtype),
            None if stores.contains(&own) => made.output(shape(own), dtype),
            None => made.buffer(shape(own), dtype, From::Launch(9)),
        });
        made.plan.launches.push(third(k, domain, dtype, all));
        let out = made.run(tier, 1)?;
        stores.iter().zip(out).for_each(|(own, items)| known[*own] = Some(items));
    }
    Ok(known.into_iter().skip(1).flatten().collect())
}

#[test]
fn launches_on_the_same_rows_give_what_they_give_one_by_one() {
    let mut dice = Dice(11);
    for domain in [[17, 5], [200, 16], [33, 700], [64, 1500], [19, 5000], [4099, 3]] {
        for (dtype, wild) in [(DType::F64, false), (DType::F32, false), (DType::F64, true)] {
            let mut items = dice.numbers(domain[0] * domain[1], false);
            if wild {
                let at = dice.roll(items.len());
                items[at] = [f64::INFINITY, f64::NAN, 1e308][dice.roll(3)];
            }
            for tier in tiers() {
                let want = apart(domain, &items, dtype, tier);
                for (threads, kept) in [(1, true), (2, false), (3, true), (3, false)] {
                    let got = together(domain, &items, dtype, kept).run(tier, threads);
                    let told = format!("{domain:?} {dtype:?} {tier:?} {threads} {kept}");
                    match (&want, got) {
                        (Err(DeviceError::Fault(want)), Err(DeviceError::Fault(got))) => {
                            let place = |f: &crate::device::Fault| (f.site, f.index, f.fail);
                            assert_eq!(place(want), place(&got), "{told}");
                        }
                        (Ok(want), Ok(got)) => {
                            let want = if kept { &want[..] } else { &want[3..] };
                            assert_eq!(want.len(), got.len());
                            for (want, got) in want.iter().zip(&got) {
                                assert!(want.iter().zip(got).all(|(x, y)| same(*x, *y)), "{told}");
                            }
                        }
                        (want, got) => panic!("{told}: {want:?} {:?}", got.map(|_| ())),
                    }
                }
            }
        }
    }
}

#[test]
fn what_only_launches_on_the_same_rows_need_is_never_whole() {
    let domain = [4096, 512];
    let bytes = (domain[0] * domain[1] * 8) as u64;
    let mut made = together(domain, &vec![0.5; domain[0] * domain[1]], DType::F64, false);
    // The result fits, and no second array of that size; the input is there already.
    made.budget = Budget::new(bytes * 3 / 2);
    assert!(made.run((Isa::best(), When::Always), 2).is_ok());
    let mut kept = together(domain, &vec![0.5; domain[0] * domain[1]], DType::F64, true);
    kept.budget = Budget::new(bytes * 3 / 2);
    assert!(matches!(kept.run((Isa::best(), When::Always), 2), Err(DeviceError::Oom(_))));
}

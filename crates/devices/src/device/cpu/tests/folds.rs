//! Folds of every type, along every axis, of operands that lie in order and across it, against
//! `prim::reduce`.

use super::*;
use aplomb_values::prim::scalar::single::rounded;

/// The items of a type, its ends among them.
fn items(dice: &mut Dice, dtype: DType, n: usize, wild: bool) -> Vec<f64> {
    let one = |dice: &mut Dice| match dtype.range() {
        Some((0.0, 1.0)) => dice.roll(2) as f64,
        Some((least, most)) => match dice.roll(20) {
            0 => least,
            1 => most,
            _ => dice.roll(200) as f64 - 90.0,
        },
        None => (dice.roll(1_000) as f64 - 400.0) / 7.0,
    };
    match dtype {
        DType::F64 if wild => dice.numbers(n, true),
        DType::F32 => (0..n).map(|_| f64::from(one(dice) as f32)).collect(),
        _ => (0..n).map(|_| one(dice)).collect(),
    }
}

/// The fold of each line along an axis; NaN where the item has no value.
fn wanted(
    (op, dtype): (Op, DType),
    values: &[f64],
    domain: &[usize],
    axis: usize,
) -> Vec<Result<f64, Fail>> {
    let inner: usize = domain[axis + 1..].iter().product();
    let (extent, last) = (domain[axis], axis + 1 == domain.len());
    let line = |k: usize| {
        let base = k / inner * extent * inner + k % inner;
        let items: Vec<f64> = (0..extent).map(|j| values[base + j * inner]).collect();
        let value = reduce::fold(op, 0.0, &items, last, dtype);
        if dtype == DType::F32 { rounded(value) } else { value }
    };
    (0..values.len() / extent).map(line).collect()
}

#[test]
fn folds_of_every_type_and_order_are_the_stated_tree_on_every_tier_and_thread_count() {
    use DType::*;
    let mut dice = Dice(29);
    let domains: [&[usize]; 12] = [
        &[1, 1],
        &[3, 70],
        &[70, 3],
        &[100, 130],
        &[17, 1000],
        &[1030, 16],
        &[2, 65_600],
        &[2_000, 40],
        &[2, 30, 257],
        &[3, 64, 65],
        &[600, 2],
        &[1, 70_000],
    ];
    for domain in domains {
        let (rank, n) = (domain.len(), elements(domain));
        for dtype in [Bool, I8, I16, I32, F32, F64] {
            for way in 0..4 {
                // In order; the last two axes exchanged; compared; compared and exchanged.
                let (across, compared) = (way % 2 == 1, way > 1);
                let held = items(&mut dice, dtype, n, way == 0 && n < 5_000);
                let mut shape = domain.to_vec();
                let mut read = Read::identity(rank);
                if across {
                    shape.swap(rank - 2, rank - 1);
                    read.ix.swap(rank - 2, rank - 1);
                }
                let (cols, rows) = (domain[rank - 1], domain[rank - 2]);
                let seen: Vec<f64> = (0..n)
                    .map(|k| {
                        let (a, i, j) = (k / (rows * cols), k / cols % rows, k % cols);
                        held[if across { a * rows * cols + j * rows + i } else { k }]
                    })
                    .collect();
                let values: Vec<f64> = match compared {
                    true => seen.iter().map(|x| f64::from(u8::from(*x > 0.0))).collect(),
                    false => seen,
                };
                let truths: &[Op] =
                    if compared || dtype == Bool { &[Op::Gcd, Op::Lcm, Op::Mul] } else { &[] };
                for op in [Op::Add, Op::Max, Op::Min].iter().chain(truths) {
                    for axis in 0..rank {
                        let mut made = Made::new();
                        let buf = made.input(&shape, held.clone(), dtype);
                        let mut l = launch(domain);
                        (l.axis, l.kind) = (Some(axis), aplomb_plans::plan::Kind::Reduce);
                        let outer = l.outer();
                        l.loads.push(Load { buf, read: read.clone() });
                        l.body = vec![step(What::Load(0), dtype, 0)];
                        let mut value = 0;
                        if compared {
                            l.body.push(step(What::Const(0.0), F64, 0));
                            let mut test = self::op(Op::Gt, &[0, 1], 1);
                            test.dtype = Bool;
                            l.body.push(test);
                            value = 2;
                        }
                        let site = 3;
                        let to = if dtype == F32 && !compared { F32 } else { F64 };
                        l.reductions.push(Reduction {
                            op: *op,
                            value,
                            node: node(),
                            dtype: to,
                            site,
                        });
                        l.after = vec![step(What::Reduced(0), to, 0)];
                        l.after_stores.push(Store { value: 0, buf: made.output(&outer, F64) });
                        made.plan.launches.push(l);
                        let wanted = wanted((*op, to), &values, domain, axis);
                        for tier in tiers() {
                            {
                                let threads = 1 + 2 * (way % 2);
                                let say = format!(
                                    "{op:?} of {domain:?} along {axis}, {dtype:?}, {way}, {tier:?}"
                                );
                                match made.run(tier, threads) {
                                    Ok(got) => {
                                        for (wanted, got) in wanted.iter().zip(&got[0]) {
                                            let wanted = wanted.expect(&say);
                                            assert!(same(wanted, *got), "{say}: {wanted} {got}");
                                        }
                                    }
                                    Err(_) => assert!(wanted.iter().any(Result::is_err), "{say}"),
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// `(⍉A)+.×V` and `+/⍉A`: lines that lie side by side, at counts around four times 64 and around
/// blocks, items around registers.
#[test]
fn sums_of_lines_that_lie_across_are_the_stated_tree() {
    let mut dice = Dice(29);
    let block = reduce::BLOCK;
    for (deep, n) in [
        (2, 16),
        (63, 17),
        (64, 40),
        (65, 31),
        (255, 33),
        (256, 16),
        (257, 1030),
        (700, 100),
        (block, 16),
        (block + 3, 19),
    ] {
        for factors in [0, 1, 2] {
            let items: Vec<f64> = (0..deep * n)
                .map(|_| if dice.roll(9) == 0 { -0.0 } else { dice.unit() - 0.4 })
                .collect();
            let by: Vec<f64> = (0..deep).map(|_| dice.unit() - 0.6).collect();
            let mut made = Made::new();
            let mut l = launch(&[n, deep]);
            (l.axis, l.kind) = (Some(1), aplomb_plans::plan::Kind::Reduce);
            let across = Read::new([Ix::axis(1), Ix::axis(0)]);
            let buf = made.input(&[deep, n], items.clone(), DType::F64);
            let mut loads = vec![Load { buf, read: across }];
            if factors > 0 {
                let buf = made.input(&[deep], by.clone(), DType::F64);
                loads.push(Load { buf, read: Read::new([Ix::axis(1)]) });
            }
            // The factor may come first.
            if factors == 2 {
                loads.reverse();
            }
            for k in 0..loads.len() as u32 {
                l.body.push(step(What::Load(k), DType::F64, 0));
            }
            l.loads = loads;
            if factors > 0 {
                l.body.push(Step { dtype: DType::F64, ..op(Op::Mul, &[0, 1], 1) });
            }
            let value = l.body.len() as u32 - 1;
            let (op, dtype) = (Op::Add, DType::F64);
            l.reductions.push(Reduction { op, value, node: node(), dtype, site: 2 });
            l.after = vec![step(What::Reduced(0), DType::F64, 0)];
            l.after_stores.push(Store { value: 0, buf: made.output(&[n], DType::F64) });
            made.plan.launches.push(l);
            let result = |j: usize| {
                let factor = |k: usize| if factors > 0 { by[k] } else { 1.0 };
                let line: Vec<f64> = (0..deep).map(|k| items[k * n + j] * factor(k)).collect();
                reduce::fold(Op::Add, 0.0, &line, true, DType::F64).unwrap()
            };
            let wanted: Vec<f64> = (0..n).map(result).collect();
            for tier in tiers() {
                for threads in [1, 3] {
                    let got = made.run(tier, threads).unwrap();
                    let fine = got[0].iter().zip(&wanted).all(|(a, b)| same(*a, *b));
                    assert!(fine, "{deep} × {n}, {factors} {tier:?} {threads}");
                }
            }
        }
    }
}

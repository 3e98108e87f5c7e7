//! Folds of computed rows, and small products: each tier against `prim::reduce`.

use super::*;
use aplomb_values::prim::scalar::single::rounded;

/// `fold of A×V+W` along the last axis of a matrix, where V changes along it and W does not; A may
/// lie across.
fn of_rows(domain: [usize; 2], dtypes: [DType; 3], ops: &[Op], (wild, across): (bool, bool)) {
    let mut dice = Dice(domain[1] as u64);
    let [rows, n] = domain;
    let mut made = Made::new();
    let mut l = launch(&domain);
    (l.axis, l.kind) = (Some(1), aplomb_plans::plan::Kind::Reduce);
    let narrow = dtypes[0] == DType::F32;
    let mut items = |len: usize, dtype: DType| -> Vec<f64> {
        let one = |d: &mut Dice| match dtype {
            DType::F64 if wild => d.numbers(1, true)[0],
            DType::F32 => f64::from((d.roll(999) as f32 - 400.0) / 7.0),
            DType::F64 => (d.roll(999) as f64 - 400.0) / 7.0,
            DType::Bool => d.roll(2) as f64,
            _ => d.roll(200) as f64 - 90.0,
        };
        (0..len).map(|_| one(&mut dice)).collect()
    };
    let held = [items(rows * n, dtypes[0]), items(n, dtypes[1]), items(rows, dtypes[2])];
    let turned = [n, rows];
    let shapes: [&[usize]; 3] = [if across { &turned } else { &domain }, &[n], &[rows]];
    let first = if across { Read::new([Ix::axis(1), Ix::axis(0)]) } else { Read::identity(2) };
    let reads = [first, Read::new([Ix::axis(1)]), Read::new([Ix::axis(0)])];
    for (k, read) in reads.into_iter().enumerate() {
        let buf = made.input(shapes[k], held[k].clone(), dtypes[k]);
        l.loads.push(Load { buf, read });
        l.body.push(step(What::Load(k as u32), dtypes[k], 0));
    }
    l.body.push(op(Op::Mul, &[0, 1], 1));
    l.body.push(op(Op::Add, &[3, 2], 2));
    let to = if narrow { DType::F32 } else { DType::F64 };
    l.body.iter_mut().skip(3).for_each(|step| step.dtype = to);
    for (k, op) in ops.iter().enumerate() {
        let site = 3 + k as u32;
        l.reductions.push(Reduction { op: *op, value: 4, node: node(), dtype: to, site });
        l.after.push(step(What::Reduced(k as u32), to, 0));
        let buf = made.output(&[rows], DType::F64);
        l.after_stores.push(Store { value: k as u32, buf });
    }
    made.plan.launches.push(l);
    let two =
        |o: Op, x: f64, y: f64| if narrow { eval_as(to, o, CT, x, y) } else { eval(o, CT, x, y) };
    let value = |k: usize| {
        let at = if across { k % n * rows + k / n } else { k };
        let product = two(Op::Mul, held[0][at], held[1][k % n])?;
        two(Op::Add, product, held[2][k / n])
    };
    let values: Result<Vec<f64>, Fail> = (0..rows * n).map(value).collect();
    let wanted = values.map(|values| {
        let fold = |op: &Op| {
            let row = |r: usize| {
                let sum = reduce::fold(*op, 0.0, &values[r * n..(r + 1) * n], true, to);
                if narrow { rounded(sum) } else { sum }
            };
            (0..rows).map(row).collect::<Result<Vec<f64>, Fail>>()
        };
        ops.iter().map(fold).collect::<Result<Vec<_>, Fail>>()
    });
    for tier in tiers() {
        for threads in [1, 3] {
            let say = format!("{ops:?} of {dtypes:?} {domain:?}, {tier:?}, {threads}");
            match (&wanted, made.run(tier, threads)) {
                (Ok(Ok(wanted)), Ok(got)) => {
                    for (wanted, got) in wanted.iter().flatten().zip(got.iter().flatten()) {
                        assert!(same(*wanted, *got), "{say}: {wanted} {got}");
                    }
                }
                (Ok(Err(_)) | Err(_), Err(DeviceError::Fault(_))) => {}
                (wanted, got) => panic!("{say}: {wanted:?} {:?}", got.map(|_| ())),
            }
        }
    }
}

#[test]
fn folds_of_computed_rows_are_the_stated_tree_on_every_tier() {
    use DType::*;
    let all = [Op::Add, Op::Max, Op::Min, Op::Mul];
    for domain in [
        [1, 64],
        [3, 65],
        [3, 1100],
        [5, 71],
        [4, 1000],
        [2, 1024],
        [3, 1029],
        [1, 4100],
        [1, 65_536],
        [2, 65_601],
        [1, 140_001],
    ] {
        of_rows(domain, [F64, F64, F64], &all[..1], (false, false));
        of_rows(domain, [F64, F64, I32], &all[..3], (false, false));
        of_rows(domain, [I8, F64, I16], &all[1..3], (false, false));
        of_rows(domain, [F32, F32, F32], &all[..3], (false, false));
    }
    for domain in [[40, 3], [300, 130], [1030, 65], [256, 70]] {
        of_rows(domain, [F64, F64, F64], &all[..3], (false, true));
        of_rows(domain, [I8, F64, I16], &all[..1], (false, true));
        of_rows(domain, [F32, F32, F32], &all[..2], (false, true));
    }
    // Products of numbers near 1, and numbers that fail or are ∞ somewhere.
    for seed in 0..40 {
        of_rows([3, 64 + seed], [F64, F64, F64], &all[..3], (true, seed % 2 == 1));
        of_rows([2, 70 + seed], [Bool, Bool, Bool], &all, (false, false));
    }
}

/// Products of all shapes, of operands in order and across, some of which overflow.
#[test]
fn small_products_are_folds_on_every_tier() {
    let mut dice = Dice(7);
    let shapes: [[usize; 4]; 9] = [
        [5, 4, 4, 4],
        [1, 1, 4, 2],
        [300, 4, 4, 4],
        [7, 3, 9, 3],
        [2, 5, 13, 16],
        [3, 2, 8, 8],
        [1, 700, 6, 5],
        [2, 3, 7, 6],
        [4, 1, 31, 11],
    ];
    for [batches, rows, columns, deep] in shapes {
        for way in 0..4 {
            let mut made = Made::new();
            let mut l = launch(&[batches, rows, columns, deep]);
            (l.axis, l.kind) = (Some(3), aplomb_plans::plan::Kind::Reduce);
            // The second operand is one for all, or its own in each batch.
            let own = if way % 2 == 0 { batches } else { 1 };
            let mut left = dice.numbers(batches * rows * deep, false);
            let right = dice.numbers(own * deep * columns, false);
            if way == 3 {
                left[0] = 1e308;
            }
            let a = made.input(&[batches, rows, deep], left.clone(), DType::F64);
            let b = made.input(&[own, deep, columns], right.clone(), DType::F64);
            let first = if own == 1 { Ix::constant(0) } else { Ix::axis(0) };
            l.loads.push(Load { buf: a, read: Read::new([Ix::axis(0), Ix::axis(1), Ix::axis(3)]) });
            l.loads.push(Load { buf: b, read: Read::new([first, Ix::axis(3), Ix::axis(2)]) });
            l.body = vec![step(What::Load(0), DType::F64, 0), step(What::Load(1), DType::F64, 0)];
            l.body.push(op(Op::Mul, if way == 2 { &[1, 0] } else { &[0, 1] }, 1));
            let (dtype, site) = (DType::F64, 2);
            l.reductions.push(Reduction { op: Op::Add, value: 2, node: node(), dtype, site });
            l.after = vec![step(What::Reduced(0), dtype, 0)];
            let buf = made.output(&[batches, rows, columns], dtype);
            l.after_stores.push(Store { value: 0, buf });
            made.plan.launches.push(l);
            let one = |k: usize| {
                let (batch, row, column) = (k / columns / rows, k / columns % rows, k % columns);
                let items: Result<Vec<f64>, Fail> = (0..deep)
                    .map(|d| {
                        let x = left[(batch * rows + row) * deep + d];
                        let y = right[(batch % own * deep + d) * columns + column];
                        eval(Op::Mul, CT, x, y)
                    })
                    .collect();
                reduce::fold(Op::Add, 0.0, &items?, true, dtype)
            };
            let wanted: Result<Vec<f64>, Fail> = (0..batches * rows * columns).map(one).collect();
            for tier in tiers() {
                let say = format!("{batches} {rows} {columns} {deep}, {way}, {tier:?}");
                match (&wanted, made.run(tier, 1 + way)) {
                    (Ok(wanted), Ok(got)) => {
                        let odd = wanted.iter().zip(&got[0]).position(|(a, b)| !same(*a, *b));
                        assert_eq!(odd, None, "{say}");
                    }
                    (Err(_), Err(DeviceError::Fault(_))) => {}
                    (_, got) => panic!("{say}: {:?}", got.map(|_| ())),
                }
            }
        }
    }
}

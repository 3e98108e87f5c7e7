//! Loops with and without an end of their own: each tier against element after element.

use super::*;
use aplomb_values::body::Rounds;

/// A loop's body: so many arguments, then operations.
fn rounds(args: u32, ops: &[(Op, &[u32])], next: &[u32], count: u32) -> Rounds {
    use aplomb_values::body::Step;
    let arg = |k| Step::new(What::Arg(k), DType::F64, ());
    let mut steps: Vec<Step> = (0..args).map(arg).collect();
    for (op, args) in ops {
        steps.push(Step::new(What::op(*op, CT, args.iter().copied()), DType::F64, ()));
    }
    Rounds { count, until: None, steps, next: next.to_vec() }
}

/// An exact operation of a body.
fn exact(op: Op, args: [u32; 2], dtype: DType) -> aplomb_values::body::Step {
    aplomb_values::body::Step::new(What::op(op, 0.0, args), dtype, ())
}

/// Runs a loop on vectors of numbers, on all tiers: all its states.
fn check(body: &Rounds, args: &[Vec<f64>]) {
    let n = args[0].len();
    let mut made = Made::new();
    let mut l = launch(&[n]);
    for (k, arg) in args.iter().enumerate() {
        let buf = made.input(&[n], arg.clone(), DType::F64);
        l.loads.push(Load { buf, read: Read::identity(1) });
        l.body.push(step(What::Load(k as u32), DType::F64, 0));
    }
    let of = args.len() as u32;
    let all = (0..of).collect();
    let what = What::Loop { args: all, body: Arc::new(body.clone()), result: 0 };
    l.body.push(step(what, DType::F64, 1));
    for state in 1..body.next.len() as u8 {
        l.body.push(step(What::State { of, result: state }, DType::F64, 1));
    }
    for state in 0..body.next.len() as u32 {
        let buf = made.output(&[n], DType::F64);
        l.stores.push(Store { value: of + state, buf });
    }
    made.plan.launches.push(l);
    let mut failed = None;
    let wanted: Vec<Vec<f64>> = (0..n)
        .map(|k| {
            let own: Vec<f64> = args.iter().map(|arg| arg[k]).collect();
            body.run(&own, &mut |fail| failed = failed.or(Some((k as u64, fail))))
        })
        .collect();
    for tier in tiers() {
        for threads in [1, 2] {
            match (failed, made.run(tier, threads)) {
                (None, Ok(got)) => {
                    for (state, got) in got.iter().enumerate() {
                        for k in 0..n {
                            let (wanted, got) = (wanted[k][state], got[k]);
                            assert!(same(wanted, got), "{tier:?} {state} {k}: {wanted} {got}");
                        }
                    }
                }
                (Some((k, fail)), Err(DeviceError::Fault(f))) => {
                    assert_eq!((f.index, f.fail), (k, fail), "{tier:?}");
                }
                (failed, got) => panic!("{tier:?}: {failed:?} {:?}", got.map(|_| ())),
            }
        }
    }
}

#[test]
fn rounds_in_registers_are_rounds_of_each_element() {
    let mut dice = Dice(5);
    for n in [1, 7, 8, 9, 63, 200, 1025, 5000] {
        let mut unit = || -> Vec<f64> { (0..n).map(|_| dice.roll(4000) as f64 / 1000.0).collect() };
        let (x, y, z) = (unit(), unit(), unit());
        for count in [1, 7, 8, 9, 30, 41] {
            // x←x+z÷… and y; two that change places; one that another becomes.
            check(
                &rounds(2, &[(Op::Mul, &[0, 1]), (Op::Add, &[0, 2])], &[3], count.min(9)),
                &[x.iter().map(|x| x / 4.0).collect(), y.iter().map(|y| y / 4.0).collect()],
            );
            check(
                &rounds(3, &[(Op::Min, &[0, 2])], &[1, 3], count),
                &[x.clone(), y.clone(), z.clone()],
            );
            check(&rounds(2, &[(Op::Max, &[0, 1])], &[1, 0], count), &[x.clone(), y.clone()]);
            check(
                &rounds(3, &[(Op::Sub, &[0, 1])], &[1, 2, 3], count),
                &[x.clone(), y.clone(), z.clone()],
            );
        }
    }
}

/// Bodies of every length, so that all numbers of copies side by side occur, with states that
/// others become and arrays that no round changes.
#[test]
fn rounds_of_every_length_are_rounds_of_each_element() {
    let mut dice = Dice(9);
    for len in (1..=14).chain([20, 40]) {
        for (n, args, states) in [(1025, 2, 1), (600, 3, 2), (1100, 4, 2), (300, 5, 3)] {
            let mut ops: Vec<(Op, Vec<u32>)> = Vec::new();
            for k in 0..len {
                let op = [Op::Sub, Op::Mul, Op::Min, Op::Max, Op::Max][dice.roll(5)];
                let mut of = || dice.roll(args + k) as u32;
                // Products that stay small.
                ops.push(match op {
                    Op::Mul => (op, vec![of(), (args - 1) as u32]),
                    op => (op, vec![of(), of()]),
                });
            }
            let next = (0..states).map(|k| match dice.roll(3) {
                0 => dice.roll(args) as u32,
                _ => (args + len - 1 - (k as usize).min(len - 1)) as u32,
            });
            let next: Vec<u32> = next.collect();
            let ops: Vec<(Op, &[u32])> = ops.iter().map(|(op, of)| (*op, of.as_slice())).collect();
            let count = [5, 16, 33, 100][dice.roll(4)];
            let mut unit =
                || -> Vec<f64> { (0..n).map(|_| dice.roll(2000) as f64 / 4000.0 - 0.25).collect() };
            let given: Vec<Vec<f64>> = (0..args).map(|_| unit()).collect();
            check(&rounds(args as u32, &ops, &next, count), &given);
        }
    }
}

#[test]
fn a_loop_with_an_end_stops_each_element_at_its_own() {
    let mut dice = Dice(6);
    for n in [1, 5, 8, 100, 1030, 3000] {
        let mut of = |most: usize| -> Vec<f64> { (0..n).map(|_| dice.roll(most) as f64).collect() };
        // Euclid: (a b) becomes (b (b|a)), until b is 0 then.
        let mut body = rounds(3, &[], &[1, 3], 1_000);
        body.steps.push(exact(Op::Residue, [1, 0], DType::F64));
        body.steps.push(exact(Op::Eq, [3, 2], DType::Bool));
        body.until = Some(4);
        let (a, b) = (of(1 << 20), of(1 << 10).iter().map(|b| b + 1.0).collect());
        check(&body, &[a, b, vec![0.0; n]]);
        // A count up to a number of its own; for some it does not come within the rounds.
        let mut body = rounds(3, &[], &[3], 50);
        body.steps.push(exact(Op::Add, [0, 2], DType::F64));
        body.steps.push(exact(Op::Ge, [3, 1], DType::Bool));
        body.until = Some(4);
        check(&body, &[vec![0.0; n], of(40), vec![1.0; n]]);
        check(&body, &[vec![0.0; n], of(60), vec![1.0; n]]);
        // Behind its end an element may overflow, and nobody hears of it.
        let mut body = rounds(2, &[(Op::Mul, &[0, 0])], &[2], 40);
        body.steps.push(exact(Op::Ge, [2, 1], DType::Bool));
        body.until = Some(3);
        let big = (0..n).map(|k| if k % 2 == 0 { 1e3 } else { 1e200 }).collect();
        check(&body, &[of(50).iter().map(|x| x + 2.0).collect(), big]);
    }
}

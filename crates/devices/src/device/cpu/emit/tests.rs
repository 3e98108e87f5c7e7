//! Emitted loops against the machine of chunks: the same bits, the same failures, for every type
//! of items, and a loop wherever one is meant to be.

use super::super::tests::{Dice, Made, launch, op, step};
use super::super::{Cpu, Isa};
use super::When;
use super::builder::Builder;
use super::code::code;
use super::record::{How, Val};
use super::tape::{Kind, Out};
use crate::device::DeviceError;
use aplomb_plans::plan::{Load, Store, What};
use aplomb_values::array::DType;
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Read, Test};
use aplomb_values::prim::op::{Gives, Op};
use aplomb_values::prim::scalar;

const TYPES: [DType; 6] = [DType::Bool, DType::I8, DType::I16, DType::I32, DType::F32, DType::F64];

/// Items of a type, its ends among them.
fn items(dice: &mut Dice, dtype: DType, n: usize) -> Vec<f64> {
    let one = |dice: &mut Dice| match (dtype, dtype.range()) {
        (DType::Bool, _) => dice.roll(2) as f64,
        (_, Some((least, most))) => match dice.roll(40) {
            0 => least,
            1 => most,
            2 => 0.0,
            k => (dice.roll(200) as f64 - 90.0) * if k < 10 { 1.0 } else { (most / 200.0).floor() },
        },
        _ => f64::from((dice.roll(4000) as f32 - 1500.0) / 16.0),
    };
    (0..n).map(|_| one(dice)).collect()
}

/// The type of a result, as a compiler that knows no intervals has it.
fn result(op: Op, args: &[DType]) -> DType {
    let all = |f: fn(&DType) -> bool| args.iter().all(f);
    match op.row().gives {
        Gives::Bool => DType::Bool,
        Gives::Whole if all(|t| t.is_integer()) => args[0],
        Gives::Arith if all(|t| t.is_integer()) => DType::I32,
        _ if all(|t| *t != DType::F64) && args.contains(&DType::F32) => DType::F32,
        _ => DType::F64,
    }
}

const OPS: [Op; 31] = [
    Op::Neg,
    Op::Sign,
    Op::Recip,
    Op::Exp,
    Op::Ln,
    Op::Floor,
    Op::Ceil,
    Op::Abs,
    Op::Pi,
    Op::Not,
    Op::Sqrt,
    Op::Circle(1),
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Div,
    Op::Max,
    Op::Min,
    Op::Residue,
    Op::Lcm,
    Op::Gcd,
    Op::Nand,
    Op::Nor,
    Op::Eq,
    Op::Ne,
    Op::Lt,
    Op::Le,
    Op::Ge,
    Op::Gt,
    Op::Circle(2),
    Op::Pow,
];

/// Operations on truths alone.
fn of_truths(op: Op) -> bool {
    matches!(op, Op::Not | Op::Lcm | Op::Gcd | Op::Nand | Op::Nor)
}

/// A random launch over inputs of all types, read in order, shifted, turned and with fills, and
/// stored as all types.
fn random(dice: &mut Dice) -> Made {
    let n = [1, 7, 63, 64, 65, 1000, 1023, 1025, 5000, 70_000][dice.roll(10)];
    let mut made = Made::new();
    let mut l = launch(&[n]);
    let cut = dice.roll(n) as i64;
    l.guards.push(vec![Test { ix: Ix::axis(0), lo: cut / 2, hi: cut, fill: 0.0 }]);
    let mut types = Vec::new();
    let inputs = 1 + dice.roll(3);
    for k in 0..inputs as u32 {
        let dtype = TYPES[dice.roll(TYPES.len())];
        let held = items(dice, dtype, n);
        let buf = made.input(&[n], held, dtype);
        let read = match dice.roll(4) {
            0 => {
                let ix = Ix::axis(0).plus(&Ix::constant(1), dice.roll(40) as i64 - 20);
                let test = Test { ix: ix.clone(), lo: 0, hi: n as i64, fill: 0.0 };
                Read { tests: vec![test], ..Read::new([ix]) }
            }
            1 => {
                let back = Ix::constant(n as i64 - 1).plus(&Ix::axis(0), -1);
                Read::new([back])
            }
            _ => Read::identity(1),
        };
        l.loads.push(Load { buf, read });
        l.body.push(step(What::Load(k), dtype, 0));
        types.push(dtype);
    }
    for x in [0.0, 1.0, 3.0, -2.5] {
        l.body.push(step(What::Const(x), DType::F64, 0));
        types.push(if x == -2.5 { DType::F64 } else { DType::I8 });
    }
    for site in 1..2 + dice.roll(8) as u32 {
        let o = OPS[dice.roll(OPS.len())];
        let pick = |dice: &mut Dice| loop {
            let k = dice.roll(types.len());
            if !of_truths(o) || types[k] == DType::Bool || k < 2 && types[k].is_integer() {
                return k as u32;
            }
            if !types.contains(&DType::Bool) {
                return 0;
            }
        };
        let args: Vec<u32> = (0..o.arity()).map(|_| pick(dice)).collect();
        let of: Vec<DType> = args.iter().map(|a| types[*a as usize]).collect();
        let dtype = result(o, &of);
        let mut one = op(o, &args, site);
        if dice.roll(3) == 0
            && let What::Op { ct, .. } = &mut one.what
        {
            *ct = 0.0;
        }
        one.dtype = dtype;
        l.body.push(one);
        types.push(dtype);
        if dice.roll(4) == 0 {
            let [yes, no] = [0; 2].map(|_| dice.roll(types.len()) as u32);
            let both = [yes, no].map(|v| types[v as usize]);
            let (what, dtype) = match dice.roll(2) {
                0 => (What::Guard { tests: 0, value: yes }, both[0]),
                _ if both[0] == both[1] => (What::Part { tests: 0, yes, no }, both[0]),
                _ => (What::Part { tests: 0, yes, no }, DType::F64),
            };
            l.body.push(step(what, dtype, site));
            types.push(dtype);
        }
        if dice.roll(4) == 0 {
            let [cond, yes, no] = [0; 3].map(|_| dice.roll(types.len()) as u32);
            let both = [yes, no].map(|v| types[v as usize]);
            let dtype = if both[0] == both[1] { both[0] } else { DType::F64 };
            l.body.push(step(What::Select { cond, yes, no }, dtype, site));
            types.push(dtype);
        }
    }
    let last = types.len() as u32 - 1;
    for value in [last, dice.roll(types.len()) as u32] {
        let own = types[value as usize];
        let dtype = match own {
            DType::Bool => [DType::Bool, DType::I8, DType::F64][dice.roll(3)],
            own if own.is_integer() => {
                [DType::I8, DType::I16, DType::I32, DType::F64][dice.roll(4)]
            }
            own => own,
        };
        let buf = made.output(&[n], dtype);
        made.plan.buffers[buf.0 as usize].checked = dtype.is_integer() && own != dtype;
        if own == DType::I32 && dtype == DType::I32 {
            made.plan.buffers[buf.0 as usize].checked = true;
        }
        l.stores.push(Store { value, buf });
    }
    made.plan.launches.push(l);
    made
}

#[test]
fn an_emitted_loop_has_the_bits_and_the_failures_of_the_machine() {
    let mut dice = Dice(41);
    let mut machine = Cpu::emitting(Isa::best(), 1, When::Never);
    let mut emitting: Vec<Cpu> = Isa::available()
        .filter(|isa| *isa != Isa::Portable)
        .map(|isa| Cpu::emitting(isa, 2, When::Always))
        .collect();
    if emitting.is_empty() {
        return;
    }
    let mut fine = 0;
    for round in 0..6000 {
        let made = random(&mut dice);
        let own = round % emitting.len();
        let (wanted, got) = (made.run_on(&mut machine), made.run_on(&mut emitting[own]));
        match (wanted, got) {
            (Ok(wanted), Ok(got)) => {
                fine += 1;
                for (wanted, got) in wanted.iter().zip(&got) {
                    let other = wanted.iter().zip(got).position(|(a, b)| {
                        // Whole numbers know no ¯0.
                        a.to_bits() != b.to_bits() && a != b && !(a.is_nan() && b.is_nan())
                    });
                    let at = other.unwrap_or(0);
                    let body = &made.plan.launches[0].body;
                    let pair = (wanted.get(at), got.get(at));
                    assert!(other.is_none(), "{round}: {at} of {pair:?} in {body:#?}");
                }
            }
            (Err(DeviceError::Fault(a)), Err(DeviceError::Fault(b))) => {
                assert_eq!((a.site, a.index, a.fail), (b.site, b.index, b.fail), "{round}");
            }
            (a, b) => panic!("{round}: {:?} and {:?}", a.map(|_| ()), b.map(|_| ())),
        }
    }
    assert!(fine > 1500, "only {fine} gave values");
}

/// Whole numbers modulo a number, at multiples of it, beside them, and at the ends of their type.
#[test]
fn a_modulus_that_is_known_has_the_bits_of_the_meaning() {
    let (mut machine, mut emitting) =
        (Cpu::emitting(Isa::best(), 1, When::Never), Cpu::emitting(Isa::best(), 1, When::Always));
    for by in [1.0, 2.0, 3.0, 7.0, 10.0, 255.0, 65_537.0, 1e9, f64::from(i32::MAX)] {
        for dtype in [DType::I8, DType::I16, DType::I32] {
            let (least, most) = dtype.range().unwrap();
            let about = |k: f64| (-2..3).map(move |d| k * by + f64::from(d));
            let some = [-9e6, -1000.0, -77.0, -3.0, -1.0, 0.0, 1.0, 5.0, 333.0, 214e6, 2e9 / by];
            let held: Vec<f64> = some
                .into_iter()
                .flat_map(|k| about(k.trunc()))
                .chain([least, least + 1.0, most - 1.0, most])
                .filter(|x| (least..=most).contains(x))
                .collect();
            let mut made = Made::new();
            let n = held.len();
            let mut l = launch(&[n]);
            let buf = made.input(&[n], held.clone(), dtype);
            l.loads.push(Load { buf, read: Read::identity(1) });
            l.body.extend([
                step(What::Load(0), dtype, 0),
                step(What::Const(by), DType::I32, 0),
                op(Op::Residue, &[1, 0], 1),
            ]);
            l.body[2].dtype = DType::I32;
            l.stores.push(Store { value: 2, buf: made.output(&[n], DType::I32) });
            made.plan.launches.push(l);
            let wanted: [Vec<f64>; 1] = [held.iter().map(|x| x.rem_euclid(by)).collect()];
            assert_eq!(made.run_on(&mut machine).unwrap(), wanted, "{by}");
            assert_eq!(made.run_on(&mut emitting).unwrap(), wanted, "{by} {dtype:?}");
        }
    }
}

/// Quotients of whole numbers by a number, rounded down and up, at multiples of it and beside them,
/// of what is whole by computing, too.
#[test]
fn a_whole_quotient_by_a_known_number_has_the_bits_of_the_meaning() {
    let (mut machine, mut emitting) =
        (Cpu::emitting(Isa::best(), 1, When::Never), Cpu::emitting(Isa::best(), 1, When::Always));
    for by in [1.0, 2.0, 3.0, 7.0, 60.0, 365.0, 146_097.0, 1e9, 1e12, 2.5] {
        for (round, ct) in [(Op::Floor, 1e-14), (Op::Ceil, 1e-14), (Op::Floor, 0.0)] {
            let about = |k: f64| (-2..3).map(move |d| (k * by).trunc() + f64::from(d));
            let some = [-9e6, -1000.0, -77.0, -1.0, 0.0, 1.0, 5.0, 333.0, 214e6, 2e9 / by];
            let held: Vec<f64> =
                some.into_iter().flat_map(|k| about(k.trunc())).filter(|x| x.abs() < 2e9).collect();
            let mut made = Made::new();
            let n = held.len();
            let mut l = launch(&[n]);
            let buf = made.input(&[n], held.clone(), DType::I32);
            l.loads.push(Load { buf, read: Read::identity(1) });
            l.body.extend([
                step(What::Load(0), DType::I32, 0),
                step(What::Const(1e9), DType::I32, 0),
                op(Op::Add, &[0, 1], 1),
                step(What::Const(by), DType::F64, 0),
                op(Op::Div, &[2, 3], 2),
                op(round, &[4], 3),
            ]);
            for step in &mut l.body {
                if let What::Op { ct: own, .. } = &mut step.what {
                    *own = ct;
                }
            }
            l.stores.push(Store { value: 5, buf: made.output(&[n], DType::F64) });
            made.plan.launches.push(l);
            let whole = |x: f64| (x + 1e9) / by;
            let rounded = |x: f64| scalar::eval(round, ct, whole(x), 0.0).unwrap();
            let wanted: [Vec<f64>; 1] = [held.iter().map(|x| rounded(*x)).collect()];
            assert_eq!(made.run_on(&mut machine).unwrap(), wanted, "{by}");
            assert_eq!(made.run_on(&mut emitting).unwrap(), wanted, "{by} {round:?} {ct}");
        }
    }
}

/// Elements of a round of the loop that an operation on two types is; 0: it has no code.
fn lanes(register: usize, op: Op, types: [DType; 2], to: DType) -> usize {
    let mut tape = Builder::new(register);
    let [x, y] = types.map(|dtype| {
        let slot = tape.input(dtype);
        Val::Of(tape.element(slot, super::tape::kind_of(dtype).unwrap()))
    });
    let how = How { ct: 0.0, round: to == DType::F32, whole: to.is_integer() };
    let value = tape.op(op, x, y, how).unwrap();
    let slot = tape.output(Out { dtype: to, stream: false });
    let kind = super::tape::kind_of(to).unwrap();
    let id = tape.value(value, kind);
    tape.store(slot, id);
    let (tape, _) = tape.finish();
    code(&tape).map_or(0, |_| tape.lanes.count)
}

#[test]
fn lanes_are_as_narrow_as_the_widest_value() {
    use DType::*;
    for (op, types, to, wanted) in [
        (Op::Lcm, [Bool, Bool], Bool, 64),
        (Op::Ne, [Bool, Bool], Bool, 64),
        (Op::Add, [Bool, Bool], I8, 64),
        (Op::Max, [I8, I8], I8, 64),
        (Op::Gt, [I8, I8], Bool, 64),
        (Op::Add, [I8, I8], I16, 32),
        (Op::Mul, [I8, Bool], I8, 32),
        (Op::Min, [I16, I8], I16, 32),
        (Op::Add, [I16, I16], I32, 16),
        (Op::Sub, [I32, I32], I32, 16),
        (Op::Eq, [Char, Char], Bool, 16),
        (Op::Mul, [F32, F32], F32, 16),
        (Op::Lt, [F32, I8], Bool, 16),
        (Op::Mul, [I32, I32], I32, 8),
        (Op::Add, [F64, I8], F64, 8),
        (Op::Div, [I8, I8], F64, 8),
    ] {
        for (register, wanted) in [(64, wanted), (32, wanted / 2)] {
            assert_eq!(lanes(register, op, types, to), wanted, "{op:?} of {types:?}");
        }
    }
}

/// More values alive than registers: some are kept aside, others read again.
#[test]
fn more_values_than_registers_keep_their_bits() {
    let n = 1003;
    for count in [20, 40, 90] {
        let mut made = Made::new();
        let mut l = launch(&[n]);
        let mut dice = Dice(count as u64);
        for k in 0..count as u32 {
            let held = items(&mut dice, DType::F64, n);
            let buf = made.input(&[n], held, DType::F64);
            l.loads.push(Load { buf, read: Read::identity(1) });
            l.body.push(step(What::Load(k), DType::F64, 0));
        }
        // All products first, then a use of each from the last to the first, and again.
        for k in 0..count as u32 {
            l.body.push(op(Op::Mul, &[k, (k + 1) % count as u32], 1));
        }
        for k in 0..count as u32 {
            l.body.push(op(Op::Lt, &[k, 2 * count as u32 - 1 - k], 2));
        }
        let mut sum = count as u32;
        for k in (count as u32..3 * count as u32).rev() {
            l.body.push(op(Op::Add, &[sum, k], 3));
            sum = l.body.len() as u32 - 1;
        }
        l.stores.push(Store { value: sum, buf: made.output(&[n], DType::F64) });
        made.plan.launches.push(l);
        let by = |when| made.run_on(&mut Cpu::emitting(Isa::best(), 1, when)).unwrap();
        assert_eq!(by(When::Never), by(When::Always), "{count}");
    }
}

/// A tape that is asked for once is not compiled, one that comes again is; equal tapes are one.
#[test]
fn a_loop_is_made_when_it_comes_again() {
    let registry = super::registry::Registry::new(Isa::best(), When::Paying);
    let tape = |x: f64| {
        let mut tape = registry.tape().unwrap();
        let slot = tape.input(DType::F64);
        let (a, b) = (tape.element(slot, Kind::F64), tape.f64(x));
        let sum = tape.bin(super::tape::Bin::Add, a, b);
        let out = tape.output(Out { dtype: DType::F64, stream: false });
        tape.store(out, sum);
        tape.finish()
    };
    let (one, other) = (tape(1.0), tape(2.5));
    assert_eq!(one.0, other.0);
    assert_ne!(one.1, other.1);
    assert!(registry.code(one.0.clone(), false).is_none());
    let first = registry.code(other.0, false);
    let again = registry.code(one.0, false);
    assert!(first.zip(again).is_some_and(|(a, b)| std::sync::Arc::ptr_eq(&a, &b)));
}

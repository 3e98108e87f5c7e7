//! Code for functions in registers, against what it is a copy of.

use super::compile;
use crate::device::cpu::isa::Isa;
use aplomb_values::array::View;
use aplomb_values::prim::op::{OPS, Op};
use aplomb_values::prim::short;
use aplomb_values::registers::{Arg, Do, Function, List, Request, State};

pub const NUMBERS: [f64; 28] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    0.1,
    0.5,
    -0.5,
    1.0 + 1e-15,
    3.0,
    -2.5,
    9.007_199_254_740_993e15,
    3.0 + 5e-14,
    65_521.0,
    4_294_967_295.0,
    4_294_967_296.0,
    4_294_967_297.0,
    2_147_483_647.0,
    -4_294_967_297.0,
    f64::MAX,
    -0.3,
    -7.0,
    123_456.7,
    1e6 + 0.5,
    f64::MIN_POSITIVE,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

const fn register(k: u16) -> Arg {
    Arg::Register(k)
}

/// The step that is left, the registers, fixed places and turns after steps ran from the first on.
fn run(
    steps: &[Do],
    registers: &[f64],
    fixed: &[f64],
    lists: &mut [List<'_>],
    (ct, jumps): (f64, u64),
) -> Option<(usize, Vec<f64>, Vec<f64>, u64)> {
    let function =
        Function { steps: steps.to_vec(), registers: registers.len(), lists: 0, kept: 0 };
    let (mut registers, mut fixed) = (registers.to_vec(), fixed.to_vec());
    let functions = [function];
    let request = Request { functions: &functions, fixed: fixed.len(), lists, ct, io: 1.0 };
    let code = compile(Isa::best(), &request)?;
    assert!(code.fits(&request));
    let (registers_now, fixed_now) = (&mut registers[..], &mut fixed[..]);
    let mut state = State {
        registers: registers_now,
        fixed: fixed_now,
        lists,
        jumps,
        turns: 0,
        looks: 0,
        is_short: false,
        depth: 9,
        more: &mut || None,
    };
    let to = code.run(0, &mut state);
    let turns = state.turns;
    Some((to, registers, fixed, turns))
}

#[test]
fn each_form_is_the_short_way_of_its_operation() {
    if Isa::best() < Isa::Avx2 {
        return;
    }
    let ops = OPS.iter().map(|row| row.op).filter(|op| *op != Op::CircleBy);
    for (op, ct) in ops.flat_map(|op| [0.0, 1e-14, 1e-9].map(|ct| (op, ct))) {
        let step = match op.arity() {
            1 => Do::One { op, into: 2, y: register(1) },
            _ => Do::Two { op, into: 2, x: register(0), y: register(1) },
        };
        let function = Function { steps: vec![step], registers: 3, lists: 0, kept: 0 };
        let functions = [function];
        let request = Request { functions: &functions, fixed: 0, lists: &[], ct, io: 1.0 };
        let code = compile(Isa::best(), &request).expect("it has code");
        for (x, y) in NUMBERS.iter().flat_map(|x| NUMBERS.iter().map(move |y| (*x, *y))) {
            let wanted = match op.arity() {
                1 => short::one(op, ct, y),
                _ => short::two(op, ct, x, y),
            };
            let (at, z) = match wanted {
                Some(z) => (1, z),
                None => (0, 7.0),
            };
            let mut now = [x, y, 7.0];
            let (registers, fixed, lists) = (&mut now[..], &mut [][..], &mut [][..]);
            let mut state = State {
                registers,
                fixed,
                lists,
                jumps: 0,
                turns: 0,
                looks: 0,
                is_short: false,
                depth: 9,
                more: &mut || None,
            };
            assert_eq!(code.run(0, &mut state), at, "{x} {op:?} {y}, ⎕CT {ct}");
            assert_eq!(now[2].to_bits(), z.to_bits(), "{x} {op:?} {y}, ⎕CT {ct}");
            assert_eq!((now[0].to_bits(), now[1].to_bits()), (x.to_bits(), y.to_bits()));
        }
    }
}

#[test]
fn loops_read_change_and_grow_lists_and_leave_where_they_must() {
    if Isa::best() < Isa::Avx2 {
        return;
    }
    // For each of some numbers: `sum+←item ⋄ counts[item]+←1 ⋄ all,←sum`
    let (sum, next, item) = (0, 1, 2);
    let steps = [
        Do::Next { of: 0, next, slot: item, done: 5 },
        Do::Two { op: Op::Add, into: 0, x: Arg::Fixed(sum), y: Arg::Fixed(item) },
        Do::Set { slot: sum, y: register(0) },
        Do::SetItem { of: 1, at: Arg::Fixed(item), op: Some(Op::Add), y: Arg::Fixed(3) },
        Do::Append { of: 2, y: register(0) },
        Do::Leave(9),
        Do::Jump(0),
    ];
    let mut steps = steps.to_vec();
    steps.swap(5, 6);
    if let Do::Next { done, .. } = &mut steps[0] {
        *done = 6;
    }
    let items: Vec<i16> = (0..1000).map(|k| k % 4 + 1).collect();
    let go = |room: usize, jumps: u64| {
        let (mut counts, mut all) = (vec![0.0; 3], Vec::with_capacity(room));
        let mut lists = [
            List::Shared(View::I16(&items), None),
            List::Own(&mut counts, None),
            List::Own(&mut all, None),
        ];
        let fixed = [0.0, 0.0, 0.0, 1.0];
        let (to, _, fixed, turns) =
            run(&steps, &[0.0; 2], &fixed, &mut lists, (1e-14, jumps)).expect("it has code");
        (to, fixed[0], fixed[1], turns, counts, all)
    };
    // No fourth count: the fourth item is left to the machine, before it is counted.
    let (to, sum, next, turns, counts, all) = go(1000, 1000);
    assert_eq!((to, sum, next, turns), (3, 10.0, 4.0, 3));
    assert_eq!((counts, all), (vec![1.0; 3], vec![1.0, 3.0, 6.0]));
    // No room for another item, no jump left.
    let (to, .., all) = go(2, 1000);
    assert_eq!((to, all.len()), (4, 2));
    let (to, sum, .., turns, _, all) = go(1000, 1);
    assert_eq!((to, sum, turns, all.len()), (5, 3.0, 1, 2));
}

#[test]
fn calls_stand_in_each_other_and_are_left_from_their_beginning() {
    if Isa::best() < Isa::Avx2 {
        return;
    }
    // {⍵≤1:⍵ ⋄ (∇⍵-1)+∇⍵-2}
    let (one, two) = (Arg::Fixed(0), Arg::Fixed(1));
    let steps = vec![
        Do::Two { op: Op::Le, into: 2, x: register(0), y: one },
        Do::Unless { y: register(2), then: 3 },
        Do::Give(register(0)),
        Do::Two { op: Op::Sub, into: 3, x: register(0), y: two },
        Do::Call { of: 0, into: 4, x: None, y: register(3) },
        Do::Two { op: Op::Sub, into: 5, x: register(0), y: one },
        Do::Call { of: 0, into: 6, x: None, y: register(5) },
        Do::Two { op: Op::Add, into: 7, x: register(6), y: register(4) },
        Do::Give(register(7)),
    ];
    let functions = [Function { steps, registers: 8, lists: 0, kept: 0 }];
    let request = Request { functions: &functions, fixed: 2, lists: &[], ct: 1e-14, io: 1.0 };
    let code = compile(Isa::best(), &request).expect("it has code");
    let run = |depth: usize, room: usize, looks: u64| {
        let (mut registers, mut fixed, mut left) = (vec![7.0; room], [1.0, 2.0], looks);
        registers[0] = 20.0;
        let mut more = || {
            left = left.checked_sub(1)?;
            Some(100)
        };
        let mut state = State {
            registers: &mut registers,
            fixed: &mut fixed,
            lists: &mut [],
            jumps: 100,
            turns: 0,
            looks: 0,
            is_short: false,
            depth,
            more: &mut more,
        };
        let to = code.run(0, &mut state);
        let (calls, is_short) = (100 + 101 * state.looks - state.jumps, state.is_short);
        (to, registers[7], calls, is_short)
    };
    assert_eq!(run(100, 400, 1_000), (8, 6_765.0, 21_890, false));
    // Too deep, too little room, and stopped: that call is the machine's, and no other is counted.
    assert_eq!(run(8, 400, 1_000), (4, 7.0, 0, false));
    assert_eq!(run(100, 100, 1_000), (4, 7.0, 0, true));
    assert_eq!(run(100, 400, 100), (6, 7.0, 8_361, false));
}

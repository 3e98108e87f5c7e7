//! Turns that go four at a time, against the same turns one by one.
//!
//! With a single jump left the code takes no four turns at once; so each loop runs twice, with all
//! jumps and with one after the other, and all that it leaves must be the same bit for bit.

use super::super::compile;
use super::super::tests::NUMBERS;
use super::ways::{Way, packs};
use crate::device::cpu::isa::Isa;
use aplomb_values::array::View;
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, Do, Function, List, Request, State};

const CT: f64 = 1e-14;
/// The slots of a loop's item, its next one and what it folds, and of a number.
const ITEM: u16 = 0;
const NEXT: u16 = 1;
const SUM: u16 = 2;
const K: u16 = 3;

fn fixed(k: u16) -> Arg {
    Arg::Fixed(k)
}

fn register(k: u16) -> Arg {
    Arg::Register(k)
}

/// The lists of a loop: what it goes over, two others, two that grow, and one that changes.
#[derive(Clone)]
struct Lists {
    over: Vec<i32>,
    floats: Vec<f64>,
    whole: Vec<i16>,
    grown: [Vec<f64>; 2],
    table: Vec<f64>,
}

impl Lists {
    const FLOATS: u16 = 1;
    const WHOLE: u16 = 2;
    const GROWN: u16 = 3;
    const TABLE: u16 = 5;

    fn seen(&mut self) -> Vec<List<'_>> {
        let [a, b] = &mut self.grown;
        vec![
            List::Shared(View::I32(&self.over), None),
            List::Shared(View::F64(&self.floats), None),
            List::Shared(View::I16(&self.whole), None),
            List::Own(a, None),
            List::Own(b, None),
            List::Own(&mut self.table, Some(4)),
        ]
    }

    fn bits(&self) -> Vec<u64> {
        let all = self.grown.iter().chain([&self.table]).flatten();
        all.map(|x| x.to_bits()).collect()
    }
}

/// A loop over the first list with a body, whose jumps are steps of the body, and that may leave.
fn of_body(body: &[Do]) -> Vec<Do> {
    let end = body.len() as u32 + 2;
    let mut steps = vec![Do::Next { of: 0, next: NEXT, slot: ITEM, done: end }];
    steps.extend(body.iter().map(|step| match *step {
        Do::Jump(to) => Do::Jump(if to == u32::MAX { end } else { to }),
        Do::Unless { y, then } => Do::Unless { y, then: if then == u32::MAX { end } else { then } },
        step => step,
    }));
    steps.extend([Do::Jump(0), Do::Leave(9)]);
    steps
}

/// A function of these steps, of whose registers so many are read when it has been left.
fn alone(steps: &[Do], kept: usize) -> Function {
    Function { steps: steps.to_vec(), registers: 24, lists: 0, kept }
}

/// The step, the names and the lists that a loop leaves, with all jumps at hand, or one by one.
fn run(steps: &[Do], start: [f64; 5], lists: &Lists, at_once: bool) -> (usize, Vec<u64>, Vec<u64>) {
    let mut lists = lists.clone();
    let (mut registers, mut names) = ([0.0; 24], start);
    let functions = [alone(steps, 0)];
    let (mut at, mut left) = (0, 2 * lists.over.len());
    loop {
        let mut seen = lists.seen();
        let request = Request { functions: &functions, fixed: 5, lists: &seen, ct: CT, io: 1.0 };
        let code = compile(Isa::best(), &request).expect("it has code");
        let mut state = State {
            registers: &mut registers,
            fixed: &mut names,
            lists: &mut seen,
            jumps: if at_once { 1 << 20 } else { 1 },
            turns: 0,
            looks: 0,
            is_short: false,
            depth: 9,
            more: &mut || None,
        };
        at = code.run(at, &mut state);
        let jumps = state.jumps;
        if at_once || jumps > 0 || left == 0 {
            break;
        }
        left -= 1;
    }
    // A jump that is left with none at hand is no step of another kind.
    (at, names.iter().map(|x| x.to_bits()).collect(), lists.bits())
}

fn lists(floats: &[f64], n: usize) -> Lists {
    Lists {
        over: (1..=n as i32).collect(),
        floats: floats.iter().copied().cycle().take(n).collect(),
        whole: (0..n).map(|k| (k * 7 % 23) as i16 - 5).collect(),
        grown: [Vec::with_capacity(2 * n), Vec::with_capacity(2 * n)],
        table: vec![0.5; 4 * n.max(1)],
    }
}

/// Holds that both ways leave the same; `packed`: four turns go at once at all.
fn same(name: &str, body: &[Do], packed: bool) {
    if Isa::best() < Isa::Avx2 {
        return;
    }
    let steps = of_body(body);
    let plain = [0.25, 3.0, -7.5, 12.0, 1e6, 2.5, 0.0, 100.0, -0.125, 8.0];
    let mut tenths = [0.0; 10];
    tenths.iter_mut().zip(1..).for_each(|(x, k)| *x = 0.1 * f64::from(k));
    for floats in [&plain[..], &tenths, &NUMBERS] {
        for n in [0, 1, 3, 4, 5, 8, 37, 203] {
            let mut all = lists(floats, n);
            if n >= 8 {
                let seen = all.seen();
                let found = packs(&alone(&steps, 0), &seen, (CT, 1.0));
                assert_eq!(!found.is_empty(), packed, "{name}: {found:?}");
            }
            for start in [0.0, -0.0, 2.5, 1e300] {
                let names = [0.0, 0.0, start, 3.0, 1.0];
                let (a, b) = (run(&steps, names, &all, true), run(&steps, names, &all, false));
                assert_eq!(a, b, "{name}, {n} of {floats:?}, from {start}");
            }
        }
    }
}

/// An item of a list at the loop's own.
fn item(into: u16, of: u16) -> Do {
    Do::Item { into, of, at: fixed(ITEM) }
}

#[test]
fn what_is_folded_is_folded_in_turn() {
    for op in [Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min] {
        for of in [Lists::FLOATS, Lists::WHOLE] {
            let fold = [
                Do::Two { op, into: 2, x: fixed(SUM), y: register(1) },
                Do::Set { slot: SUM, y: register(2) },
            ];
            same("a fold", &[&[item(1, of)], &fold[..]].concat(), true);
            let running = [Do::Append { of: Lists::GROWN, y: fixed(SUM) }];
            same("a running fold", &[&[item(1, of)], &fold[..], &running].concat(), true);
            let some = [
                item(1, of),
                Do::Two { op: Op::Gt, into: 3, x: register(1), y: fixed(K) },
                Do::Unless { y: register(3), then: 6 },
            ];
            same("a fold of some", &[&some[..], &fold].concat(), true);
            let both = [
                Do::Jump(9),
                Do::Two { op, into: 4, x: fixed(SUM), y: fixed(K) },
                Do::Set { slot: SUM, y: register(4) },
            ];
            let some = [some[0], some[1], Do::Unless { y: register(3), then: 7 }];
            same("two folds", &[&some[..], &fold, &both].concat(), true);
        }
    }
}

#[test]
fn operations_are_those_of_one_lane() {
    let two = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Div,
        Op::Eq,
        Op::Ne,
        Op::Lt,
        Op::Le,
        Op::Ge,
        Op::Gt,
        Op::Max,
        Op::Min,
        Op::Residue,
        Op::Lcm,
        Op::Gcd,
        Op::Pow,
    ];
    for op in two {
        for (x, y) in
            [(register(1), register(2)), (register(2), register(1)), (fixed(K), register(1))]
        {
            let step = Do::Two { op, into: 3, x, y };
            let append = Do::Append { of: Lists::GROWN, y: register(3) };
            let body = [item(1, Lists::FLOATS), item(2, Lists::WHOLE), step, append];
            same(&format!("{op:?}"), &body, true);
        }
    }
    for op in [Op::Neg, Op::Abs, Op::Not, Op::Floor, Op::Ceil] {
        let step = Do::One { op, into: 3, y: register(1) };
        let body = [item(1, Lists::FLOATS), step, Do::Append { of: Lists::GROWN, y: register(3) }];
        same(&format!("{op:?}"), &body, true);
    }
}

#[test]
fn lanes_go_their_ways_and_meet() {
    let less = Do::Two { op: Op::Lt, into: 2, x: register(1), y: fixed(K) };
    // `:If x<k ⋄ a,←x ⋄ :Else ⋄ a,←k ⋄ b,←x ⋄ :EndIf ⋄ name←x`
    let body = [
        item(1, Lists::FLOATS),
        less,
        Do::Unless { y: register(2), then: 6 },
        Do::Append { of: Lists::GROWN, y: register(1) },
        Do::Jump(8),
        Do::Append { of: Lists::GROWN, y: fixed(K) },
        Do::Append { of: Lists::GROWN + 1, y: register(1) },
        Do::Set { slot: 4, y: register(1) },
    ];
    same("an else", &body, true);
    // `:If x<k ⋄ :Continue ⋄ :EndIf ⋄ name←x ⋄ a,←name`
    let body = [
        item(1, Lists::WHOLE),
        less,
        Do::Unless { y: register(2), then: 5 },
        Do::Jump(0),
        Do::Set { slot: 4, y: register(1) },
        Do::Append { of: Lists::GROWN, y: fixed(4) },
    ];
    same("a turn that ends early", &body, true);
    // `:If x<k ⋄ :Leave ⋄ :EndIf ⋄ a,←x`
    let body = [
        item(1, Lists::WHOLE),
        less,
        Do::Unless { y: register(2), then: 5 },
        Do::Jump(u32::MAX),
        Do::Append { of: Lists::GROWN, y: register(1) },
    ];
    same("a loop that is left", &body, true);
    // `:If x>sum ⋄ sum←x ⋄ name←item ⋄ :EndIf`
    let body = [
        item(1, Lists::FLOATS),
        Do::Two { op: Op::Gt, into: 2, x: register(1), y: fixed(SUM) },
        Do::Unless { y: register(2), then: 6 },
        Do::Set { slot: SUM, y: register(1) },
        Do::Set { slot: 4, y: fixed(ITEM) },
    ];
    same("the greatest and its place", &body, true);
    // Each turn reads what the one before gave.
    let body = [
        Do::Two { op: Op::Mul, into: 1, x: fixed(SUM), y: fixed(K) },
        Do::Two { op: Op::Sub, into: 2, x: register(1), y: fixed(ITEM) },
        Do::Set { slot: SUM, y: register(2) },
    ];
    same("a chain", &body, false);
}

#[test]
fn items_are_set_where_no_other_turn_reads() {
    let set = |at: Arg, op: Option<Op>, y: Arg| Do::SetItem { of: Lists::TABLE, at, op, y };
    // Places that come again, and some that are outside.
    let place = [
        item(1, Lists::WHOLE),
        Do::Two { op: Op::Max, into: 2, x: register(1), y: fixed(4) },
        item(3, Lists::FLOATS),
    ];
    for (name, step) in [
        ("items", set(register(2), None, register(3))),
        ("sums", set(register(2), Some(Op::Add), register(3))),
        ("differences", set(register(2), Some(Op::Sub), register(3))),
        ("some outside", set(register(1), None, register(3))),
        ("side by side", set(fixed(ITEM), None, register(3))),
        ("sums side by side", set(fixed(ITEM), Some(Op::Add), register(3))),
    ] {
        same(name, &[&place[..], &[step]].concat(), true);
        let some = [
            Do::Two { op: Op::Gt, into: 4, x: register(3), y: fixed(K) },
            Do::Unless { y: register(4), then: 7 },
            step,
        ];
        same(name, &[&place[..], &some].concat(), true);
    }
    // `t[c]←t[c]+x` is a sum; `t[i]←t[i-1]+x` is a chain, `t[i]←t[i]+x` none.
    let sum = |from: Arg, to: Arg| {
        [
            Do::Item { into: 5, of: Lists::TABLE, at: from },
            Do::Two { op: Op::Add, into: 6, x: register(5), y: register(3) },
            set(to, None, register(6)),
        ]
    };
    same("sums by items", &[&place[..], &sum(register(2), register(2))].concat(), true);
    same("sums side by side", &[&place[..], &sum(fixed(ITEM), fixed(ITEM))].concat(), true);
    let before = [Do::Two { op: Op::Sub, into: 7, x: fixed(ITEM), y: fixed(4) }];
    let chain = sum(register(7), fixed(ITEM));
    same("a chain of items", &[&place[..], &before, &chain].concat(), true);
    // A matrix, by rows and columns.
    let known = |row: Arg, column: Arg| {
        [
            item(3, Lists::FLOATS),
            Do::Place { into: 1, of: Lists::TABLE, row, column },
            Do::Known { into: 2, of: Lists::TABLE, at: 1 },
            Do::Two { op: Op::Add, into: 4, x: register(2), y: register(3) },
            Do::Copy { into: 5, y: row },
            Do::Place { into: 6, of: Lists::TABLE, row: register(5), column },
            Do::SetKnown { of: Lists::TABLE, at: 6, op: None, y: register(4) },
        ]
    };
    same("a column", &known(fixed(ITEM), fixed(K)), true);
    same("a row", &known(fixed(4), fixed(ITEM)), true);
    same("one item", &known(fixed(4), fixed(K)), true);
    // Places of numbers in a list, and counts.
    let found = [
        item(1, Lists::WHOLE),
        Do::Find { into: 2, of: Lists::WHOLE, y: register(1) },
        Do::Tally { into: 3, of: Lists::TABLE },
        Do::Columns { into: 4, of: Lists::TABLE },
        Do::Two { op: Op::Add, into: 5, x: register(3), y: register(4) },
        Do::Two { op: Op::Sub, into: 6, x: register(5), y: register(2) },
        Do::Append { of: Lists::GROWN, y: register(6) },
    ];
    same("places", &found, true);
}

#[test]
fn what_is_packed_says_how() {
    let body = [
        Do::Copy { into: 1, y: fixed(ITEM) },
        item(2, Lists::FLOATS),
        Do::Copy { into: 3, y: fixed(SUM) },
        Do::Two { op: Op::Add, into: 4, x: register(3), y: register(2) },
        Do::Set { slot: SUM, y: register(4) },
    ];
    let mut all = lists(&[0.5], 40);
    let found = packs(&alone(&of_body(&body), 0), &all.seen(), (CT, 1.0));
    let y = register(2);
    let fold = Way::Fold { op: Op::Add, slot: SUM, y, again: false, running: false };
    assert_eq!(found[0].ways, [Way::Done, Way::Each, Way::Done, fold, Way::Done]);
    assert!(found[0].counted);
    // Registers of turns that go in lanes are nobody's.
    for (kept, packed) in [(1, true), (2, false)] {
        let found = packs(&alone(&of_body(&body), kept), &all.seen(), (CT, 1.0));
        assert_eq!(!found.is_empty(), packed, "{kept}");
    }
}

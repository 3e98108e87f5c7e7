//! A drawn graph read back has no false and no missing edge, and its operands in order.

mod common;

use aplomb_viz::{find_pass, text};

fn check(operands: &[Vec<u32>], what: &str) {
    let trace = common::trace(operands);
    let graph = find_pass(&trace, 0, None).expect("a pass");
    let picture = text::draw(&graph, false);
    let read = common::read_back(&picture);
    for (k, wanted) in operands.iter().enumerate() {
        assert_eq!(read.get(&(k as u32)), Some(wanted), "{what}: node {k} in\n{picture}");
    }
}

#[test]
fn small_graphs_are_read_back() {
    check(&[vec![], vec![0]], "a chain");
    check(&[vec![], vec![0, 0]], "x÷x");
    check(&[vec![], vec![], vec![0, 1], vec![1, 0], vec![2, 3]], "a cross");
    check(&[vec![], vec![0], vec![1], vec![2, 0], vec![3, 0]], "a long wire");
}

#[test]
fn random_graphs_are_read_back() {
    let mut state = 1u64;
    let mut roll = |n: u32| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % n
    };
    for seed in 0..1_000 {
        let n = 2 + roll(if seed % 10 == 0 { 98 } else { 30 });
        let near = 1 + roll(n);
        let operands: Vec<Vec<u32>> = (0..n)
            .map(|k| {
                let count = if k == 0 || roll(4) == 0 { 0 } else { 1 + roll(2) };
                (0..count).map(|_| k - 1 - roll(near.min(k))).collect()
            })
            .collect();
        check(&operands, &format!("seed {seed}"));
    }
}

//! Folds of repeats and chains, layout of large graphs, places that stay from pass to pass.

mod common;

use aplomb_ground::trace::Trace;
use aplomb_viz::{find_pass, text};

/// `z←c+z×z` unrolled: an input, then a product and a sum a turn, kept apart by their operations.
fn unrolled(turns: u32) -> Trace {
    let mut operands = vec![vec![], vec![]];
    for k in 0..turns {
        let z = if k == 0 { 1 } else { 2 * k + 1 };
        operands.push(vec![z, z]);
        operands.push(vec![0, 2 * k + 2]);
    }
    let mut trace = common::trace(&operands);
    for (k, node) in trace.nodes.iter_mut().enumerate().skip(2) {
        node.op = if k % 2 == 0 { "×" } else { "+" }.into();
    }
    trace
}

fn boxes(picture: &str) -> usize {
    let drawn: Vec<&str> = picture.lines().take_while(|l| !l.is_empty()).collect();
    drawn.iter().map(|l| l.matches(['(', '[']).count() - l.matches("[[").count()).sum()
}

#[test]
fn an_unrolled_loop_is_one_box() {
    for turns in [5, 255, 1250] {
        let trace = unrolled(turns);
        let graph = find_pass(&trace, 0, None).expect("a pass");
        let picture = text::draw_folded(&graph, false);
        assert!(boxes(&picture) <= 6, "{turns} turns:\n{picture}");
        assert!(picture.contains(&format!("×{turns} ")), "{turns} turns:\n{picture}");
        assert!(picture.contains("{× +}") || picture.contains("{+ ×}"), "{picture}");
    }
}

#[test]
fn a_chain_is_one_box_and_what_stands_around_it_is_read_back() {
    // n0 → 20 monadic nodes → n21 reads the end and n0.
    let mut operands: Vec<Vec<u32>> = vec![vec![]];
    operands.extend((0..20).map(|k| vec![k]));
    operands.push(vec![20, 0]);
    let mut trace = common::trace(&operands);
    // Unlike operations, so that it is no repeat.
    let ops = ["⍟", "*", "-", "|", "⌈", "⌊", "○", "!", "×", "÷", "~"];
    trace
        .nodes
        .iter_mut()
        .enumerate()
        .skip(1)
        .take(20)
        .for_each(|(k, n)| n.op = ops[(k * k) % 11].into());
    let graph = find_pass(&trace, 0, None).expect("a pass");
    let picture = text::draw_folded(&graph, false);
    assert!(boxes(&picture) < 8, "{picture}");
    assert_eq!(
        common::read_back(&picture).get(&21).map(|o| o.last() == Some(&0)),
        Some(true),
        "{picture}"
    );
}

#[test]
fn what_does_not_repeat_is_drawn_as_it_is() {
    let trace = common::trace(&[vec![], vec![0, 0], vec![1], vec![2, 0], vec![3]]);
    let graph = find_pass(&trace, 0, None).expect("a pass");
    assert_eq!(text::draw(&graph, false), text::draw_folded(&graph, false));
}

/// Nodes that read some of the thirty before them.
fn long(n: u32) -> Trace {
    let mut state = 7u64;
    let mut roll = |n: u32| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % n
    };
    let reads = |k: u32, roll: &mut dyn FnMut(u32) -> u32| {
        let count = if k == 0 { 0 } else { 1 + roll(2) };
        (0..count).map(|_| k - 1 - roll(6.min(k))).collect()
    };
    common::trace(&(0..n).map(|k| reads(k, &mut roll)).collect::<Vec<Vec<u32>>>())
}

#[test]
fn pictures_of_large_graphs_are_drawn() {
    for n in [100, 1_000, 10_000] {
        let trace = long(n);
        let graph = find_pass(&trace, 0, None).expect("a pass");
        let begun = std::time::Instant::now();
        let picture = text::draw(&graph, false);
        let wide = picture.lines().map(|l| l.chars().count()).max();
        println!(
            "{n} nodes: {:?}, {} lines, {wide:?} columns",
            begun.elapsed(),
            picture.lines().count()
        );
        assert!(picture.contains(&format!("n{}", n - 1)));
        let begun = std::time::Instant::now();
        text::draw_folded(&graph, false);
        println!("{n} nodes folded: {:?}", begun.elapsed());
    }
}

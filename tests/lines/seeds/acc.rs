//! Accelerate: McDonell, Chakravarty, Keller, Lippmeier, ICFP 2013.

use super::bar::failures;
use super::page::{self, agreed, prepared, row, traced, value};
use super::passes;
use crate::support::{BLACK_SCHOLES, bits, session};
use aplomb::commands::Table;
use aplomb_ground::limits::Limits;
use aplomb_kernel::session::Session;
use std::rc::Rc;

/// A body that needs an array of an extent that values tell runs cell by cell, and says so; where
/// it is promised to be a scalar of its loop, that is an error, with the operand's place.
#[test]
fn acc_01_operands_are_scalar_bodies_or_say_why_not() {
    row("ACC-01");
    let mut s = Session::new(Rc::new(Table::default()), Limits::default(), 2);
    assert!(failures(&mut s, "v←0.5×⍳9 ⋄ n←⍳5 ⋄ v n").is_empty());
    for promise in ["fused", "no-break"] {
        for kept in ["{⍵×2+⍵}¨v", "{(+/⍵)÷≢⍵}⍤1⊢3 3⍴v"] {
            let failed = failures(&mut s, &format!("]assert {promise}: {kept}"));
            assert!(failed.is_empty(), "{promise} {kept}: {failed:?}");
        }
        for needs in ["{⍳⍵}¨n", "{⌽⍳⍵}¨n", "{⍵⍴7}¨n"] {
            let line = format!("]assert {promise}: {needs}");
            let failed = failures(&mut s, &line);
            let [f] = failed.as_slice() else { panic!("{line}: {failed:?}") };
            assert!(f.says.contains("does not hold") && f.says.contains("because"), "{}", f.says);
            let (from, to) = f.span.expect("a place");
            let operand: String =
                line.chars().skip(from as usize).take((to - from) as usize).collect();
            assert!(needs.contains(&operand) && !operand.is_empty(), "{operand}: {}", f.report);
            assert!(f.report.contains("runs cell by cell"), "{}", f.report);
        }
    }
}

#[test]
fn acc_02_a_fold_takes_the_last_axis_of_any_rank() {
    row("ACC-02");
    for rank in 1..=15 {
        let setup = format!("R←(⌽{rank}⍴2 1)⍴0.5×⍳256");
        let trace = agreed(&[&setup, "R", "+/R"], &[]);
        assert_eq!(trace.result.expect("a value").shape.len(), rank - 1);
        assert_eq!(trace.kernels.len(), 1, "rank {rank}");
    }
}

#[test]
fn acc_04_producers() {
    row("ACC-04");
}

#[test]
fn acc_05_consumers() {
    row("ACC-05");
}

#[test]
fn acc_06_each_launch_has_a_skeleton() {
    row("ACC-06");
}

#[test]
fn acc_10_the_sharing_that_was_written() {
    row("ACC-10");
}

/// Names and levels of functions leave nothing in the graph: bodies that differ in them are one
/// plan and one text.
#[test]
fn acc_11_a_body_does_not_know_its_names() {
    let bodies = [
        "{⍵×2+⍵}¨A",
        "{x←⍵ ⋄ x×2+x}¨A",
        "{⍵ {⍺×⍵} 2+⍵}¨A",
        "{y←⍵ ⋄ {y×⍵} 2+y}¨A",
        "{⍵ {⍵×⍺}⍨ 2+⍵}¨A",
        "A{⍺×⍵}¨2+A",
    ];
    let setup = ["A←0.5×⍳9", "A"];
    let told: Vec<_> = bodies
        .iter()
        .map(|line| agreed(&[&setup[..], &[line]].concat(), &[]))
        .map(|t| {
            (
                t.kernels.len(),
                t.kernels[0].cuda.as_ref().map(|c| c.text.clone()),
                t.result.map(|r| r.sha),
            )
        })
        .collect();
    assert_eq!(told[0].0, 1);
    for (line, one) in bodies.iter().zip(&told) {
        assert_eq!(one, &told[0], "{line}");
    }
}

#[test]
fn acc_12_two_phases_of_fusion() {
    row("ACC-12");
}

#[test]
fn acc_13_done_yield_step() {
    row("ACC-13");
}

#[test]
fn acc_14_producers_meet_producers() {
    row("ACC-14");
}

#[test]
fn acc_15_the_least_general_loop() {
    row("ACC-15");
}

#[test]
fn acc_16_linear_indices_where_nothing_moves() {
    row("ACC-16");
    // No point's place or value takes a division: what is left of / and % is of the four items that
    // a thread has at once, unrolled, and of a thread's own number.
    let setup = ["A←0.5×⍳9000 ⋄ B←⌽A ⋄ N←90 100⍴A", "A B N"];
    for line in ["+/A×B", "1+N×N", "+/,N×N"] {
        let trace = traced(&[&setup[..], &[line]].concat(), "").expect(line);
        let [launch] = trace.kernels.as_slice() else { panic!("{line}") };
        let text = &launch.cuda.as_ref().expect("a text").text;
        let own = text.lines().map(|l| l.split("//").next().unwrap_or(l));
        let divides = |l: &&str| l.contains(" / ") || l.contains(" % ");
        for statement in own.filter(divides) {
            let known = ["= at + e /", "threadIdx.x %", "[threadIdx.x /", "u64 whole ="];
            assert!(known.iter().any(|k| statement.contains(k)), "{line}: {statement}");
        }
    }
}

#[test]
fn acc_17_work_is_not_done_twice() {
    row("ACC-17");
}

#[test]
fn acc_18_a_length_is_no_use() {
    row("ACC-18");
}

#[test]
fn acc_19_a_let_floats_out_of_an_argument() {
    row("ACC-19");
}

#[test]
fn acc_20_what_follows_a_fold_joins_it() {
    row("ACC-20");
}

#[test]
fn acc_21_filters() {
    row("ACC-21");
}

#[test]
fn acc_22_rounds_are_a_loop_in_the_launch() {
    row("ACC-22");
    // Steps of 64 by 64 points, and how many never leave; GOLDENS 5.
    let lines = [
        "cx←64 64⍴¯2+3×(0,⍳63)÷63 ⋄ cy←⍉64 64⍴¯1.5+3×(0,⍳63)÷63 ⋄ z←64 64⍴0",
        "cx cy z",
        "step←{(x y n)←⍵ ⋄ in←4≥(x×x)+y×y ⋄ a←cx+(x×x)-y×y ⋄ b←cy+2×x×y ⋄ p←(in×a)+x×~in ⋄ \
         q←(in×b)+y×~in
         p q(n+4≥(p×p)+q×q)}",
        "{(+/,⍵),+/,255=⍵}3⊃step⍣255⊢z z z",
    ];
    let wanted = Ok((vec![2], [184_006.0, 672.0].map(f64::to_bits).to_vec()));
    assert_eq!(value(&lines, "", false), wanted);
    assert_eq!(value(&lines, "", true), wanted);
}

#[test]
fn acc_23_every_choice_has_its_costs() {
    row("ACC-23");
}

#[test]
fn acc_28_an_ordered_fold_says_so() {
    row("ACC-28");
}

#[test]
fn acc_29_an_expression_is_compiled_once() {
    let mut s = prepared(&["V←0.5×⍳15000 ⋄ W←⌽V", "V W", "k←÷8"], "", false).expect("arrays");
    let mut looked = |line: &str| {
        let was = s.core().plans().tally();
        page::run(&mut s, line).expect("a value");
        let now = s.core().plans().tally();
        (now.hits - was.hits, now.misses - was.misses)
    };
    assert_eq!(looked("+/V×k-W"), (0, 1));
    assert_eq!(looked("+/V×k-W"), (1, 0));
    assert_eq!(looked("k←÷3 ⋄ +/W×k-V"), (1, 0));
}

#[test]
fn acc_30_a_pair_is_one_launch_with_two_results() {
    row("ACC-30");
    let told = |options: &str| {
        let (data, rest) = BLACK_SCHOLES.split_first().expect("lines");
        let lines = [&[*data, "S X T"], rest, &["call put"]].concat();
        traced(&lines, options).unwrap_or_else(|e| panic!("{e}"))
    };
    let (pair, apart) = (told(""), told("--off horizontal"));
    assert_eq!((pair.kernels.len(), pair.kernels[0].out.len()), (1, 2));
    assert_eq!(apart.kernels.len(), 2);
    // As a graph it has 66 operations; GOLDENS 2.1.
    assert_eq!(pair.kernels[0].est.flops, 66_000);
    assert_eq!(pair.result, apart.result);
}

/// Ten thousand nodes are a second's work of the passes, in any build; ten times as many are far
/// from a hundred times the work, as they would be where each looks at all.
#[test]
fn acc_32_ten_thousand_nodes_are_compiled_in_a_second() {
    let front = |rounds: usize, times: usize| {
        let mut s = session();
        s.core().limits.pending = usize::MAX;
        page::run(&mut s, "A←0.5×⍳2000 ⋄ A").expect("an array");
        let text = format!("r←A\n{}", "r←0.25+0.75×r\n".repeat(rounds));
        let graph = s.graph_of(&text, &["r"]).expect("a graph");
        assert!(graph.dag.len() >= 2 * rounds, "{}", graph.dag.len());
        let value = s.values_of(&text, &["r"]).expect("a value");
        assert_eq!(bits(&value[0]).0, [2000]);
        passes::least(&graph, times)
    };
    let all = front(5_000, 1);
    assert!(all < 1_000.0, "{all} ms");
    let few = front(500, 3);
    assert!(all < 60.0 * few, "{all} ms of ten thousand nodes, {few} ms of a thousand");
}

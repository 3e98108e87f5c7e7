//! Other ways: a choice that can be reversed is told with the plan that the reversed one makes, so
//! that what is dearer is dearer by two whole plans; and a story takes no more room than there is.

use crate::prices::told;
use crate::support::{session, traced};
use aplomb_compiler::pass::{NoClock, Options, compile, price};
use aplomb_ground::trace::{DecisionRecord, PlanCost, Trace};
use std::collections::BTreeSet;

/// A line that needs a choice: what makes its data, the line, the choice as `what reason chosen`,
/// and the most arrays that its launches read.
struct Case {
    data: &'static str,
    line: &'static str,
    choice: &'static str,
    inputs: usize,
    /// The figures of which the other way has more, of launches, bytes, operations, and time on
    /// each device.
    more: &'static [&'static str],
}

const fn case(
    data: &'static str,
    line: &'static str,
    choice: &'static str,
    more: &'static [&'static str],
) -> Case {
    Case { data, line, choice, inputs: 64, more }
}

const CASES: &[Case] = &[
    case("v←0.001×⍳3000 ⋄ _←⎕DR v", "{(⌽⍵)+⍵×⍵}*v", "share shared-in-source let", &["flops"]),
    case("v←0.001×⍳3000 ⋄ _←⎕DR v", "(1+*v)×⌽*v", "share written-twice merge", &["flops"]),
    case("v←0.001×⍳3000 ⋄ w←÷⍳700 ⋄ _←⎕DR¨v w", "{⍵÷+/v}¨w", "hoist hoisted outside", &["flops"]),
    case("x←÷⍳40 ⋄ _←⎕DR x", "y←1+x×2 ⋄ y(⌽y)", "share asked-for compute-again", &["launches"]),
    case("v←÷⍳3000 ⋄ _←⎕DR v", "{(+/⍵)÷≢⍵}*v", "shape shape-only drop", &["us"]),
    case("a←320 320⍴÷⍳997 ⋄ b←⍉a ⋄ _←⎕DR¨a b", "a+.×b", "place reuse shared", &["gpu_us"]),
    case("m←300 500⍴÷⍳997 ⋄ _←⎕DR m", "0+⍉m×m", "place no-coalescing shared", &["gpu_us"]),
    case("v←100000⍴÷⍳997 ⋄ _←⎕DR v", "15+/v", "tile traffic boxes", &["gpu_us"]),
    case("m←'f32'⎕AS 512 512⍴÷⍳997 ⋄ _←⎕DR m", "0+⍉m", "pad conflicts pad", &["gpu_us"]),
    case(
        "a←300 400⍴÷2+⍳997 ⋄ _←⎕DR a",
        "{(1⊖⍵)+(¯1⊖⍵)×(1⌽⍵)-(¯1⌽⍵)÷2+2⌽⍵}⍉(a×a)+a*3",
        "place order as-read",
        &["us"],
    ),
    Case {
        inputs: 3,
        ..case("(a b c d e)←3000⍴¨÷1+⍳5 ⋄ _←⎕DR¨a b c d e", "a+b×c-d÷e", "split limit finish", &[])
    },
];

fn traces(case: &Case) -> Vec<Trace> {
    let mut s = session();
    s.core().limits.launch.inputs = case.inputs;
    told(&mut s, case.data);
    told(&mut s, case.line)
}

fn figures(p: &PlanCost) -> [(&'static str, f64); 5] {
    [
        ("launches", p.launches.into()),
        ("bytes", p.bytes as f64),
        ("flops", p.flops as f64),
        ("us", p.us),
        ("gpu_us", p.gpu_us),
    ]
}

/// Whether a decision's alternative says of its plan what the figures of the plan say.
fn is_true(d: &DecisionRecord, own: &PlanCost, other: &PlanCost) -> bool {
    let more = match own.us == other.us {
        true => other.gpu_us >= own.gpu_us,
        false => other.us > own.us,
    };
    match &*d.alt[0].why_not {
        "dearer" => more,
        why => why.contains(": ") || why.starts_with("limit:") && !why.contains("the same"),
    }
}

#[test]
fn every_kind_of_choice_is_priced_by_the_plan_of_its_other_way() {
    for case in CASES {
        let all = traces(case);
        let decisions = || all.iter().flat_map(|t| &t.decisions);
        let is =
            |d: &&DecisionRecord| format!("{} {} {}", d.what, d.reason, d.chosen) == case.choice;
        let known: BTreeSet<String> =
            decisions().map(|d| format!("{} {} {}", d.what, d.reason, d.chosen)).collect();
        let Some(d) = decisions().find(is) else { panic!("{}: {known:#?}", case.line) };
        let (Some(own), Some(other)) = (&d.plan, &d.alt[0].plan) else {
            panic!("{}: {d:?}", case.line);
        };
        let more = figures(other).into_iter().zip(figures(own)).filter(|(a, b)| a.1 > b.1);
        let more: Vec<&str> = more.map(|(a, _)| a.0).collect();
        assert!(case.more.iter().all(|m| more.contains(m)), "{}: {own:?} {other:?}", case.line);
        assert!(is_true(d, own, other), "{}: {d:?}", case.line);
        println!("{} | {} | {own:?} | {other:?} | {}", case.line, case.choice, d.alt[0].why_not);
    }
}

/// The other way of a term that is bound is the plan of the graph in which it stands twice, unless
/// equal nodes meet again: the tree, where the term is the only one.
#[test]
fn a_term_without_its_let_is_planned_as_it_would_be_written() {
    let mut s = session();
    told(&mut s, "v←0.001×⍳3000 ⋄ _←⎕DR v");
    let all = told(&mut s, "result←{(⌽⍵)+⍵×⍵}*v ⋄ 1⊣⎕DR result");
    let d = all.iter().flat_map(|t| &t.decisions).find(|d| d.reason == "shared-in-source");
    let other = d.and_then(|d| d.alt[0].plan.clone()).expect("a plan");
    let recorded = s.graph_of("result←(⌽*v)+(*v)×*v", &["result"]).expect("a graph");
    let mut options = Options::default();
    for name in ["cse", "settle"] {
        options.switch(name, false).expect("a switch");
    }
    let apart = compile(&recorded, &options, &mut NoClock).expect("a plan");
    assert_eq!(other, price(&apart.plan));
}

/// A story of hundreds of small plans takes no more room than that of a large one: so many
/// evaluations are told, and so many plans of other ways made.
#[test]
fn a_story_of_many_small_plans_is_told_in_part() {
    let all = told(&mut session(), "{(⍵>⌊/⍵)/⍵}⍣600⊢⌽⍳700");
    let says = |t: &&Trace, code: &str| t.diagnostics.iter().any(|d| d.code == code);
    let long = all.iter().find(|t| says(t, "W-long")).expect("one that is told in part");
    assert!(says(&long, "W-unpriced"), "{:?}", long.diagnostics);
    // A plan of nothing takes the room of 64 nodes, and telling it that of four.
    assert!(long.segments.len() <= 28_000 / (4 * 64), "{} evaluations", long.segments.len());
    assert!(long.segments.len() > 20, "{} evaluations", long.segments.len());
    let priced = long.decisions.iter().filter(|d| d.plan.is_some()).count();
    assert!((50..1000).contains(&priced), "{priced} priced");
}

/// A story of many plans says that it is told in part; its launches are those with most to do.
#[test]
fn a_story_that_takes_long_is_told_in_part() {
    // Each length is a plan of its own.
    let told = traced(&mut session(), &["{(⍵>⌊/⍵)/⍵}⍣600⊢⌽⍳700"]);
    let evaluations: u64 = told.segments.iter().map(|s| s.times()).sum();
    let says = told.diagnostics.iter().find(|d| d.code == "W-long").expect("it says so");
    assert!(
        says.text.starts_with(&format!("told in part: {evaluations} of ")),
        "{}, {evaluations}",
        says.text
    );
    assert!(told.nodes.len() < 20_000, "{}", told.nodes.len());
    let least = told.kernels.iter().filter_map(|k| k.domain.first()).min();
    assert!(least.is_some_and(|n| *n > 100), "{least:?}");
}

#[test]
fn alternatives_are_priced_by_whole_plans() {
    let mut s = session();
    s.core().set_priced(true);
    let lines = [
        "{(+/⍵)(⌈/⍵)}*0.001×⍳2000",
        "⊃⌽{⍵÷+/⍵}*0.001×⍳2000",
        "+/(⍳50)∘.×*0.01×⍳40",
        "{(⌽⍵)+⍵×⍵}⍟1+⍳3000",
        "+/3×⌽⍳4000",
        "{⍵+.×⍉⍵}*0.01×40 50⍴⍳2000",
    ];
    let (mut priced, mut cheaper) = (0, 0);
    for line in lines {
        let told = traced(&mut s, &[line]);
        for d in told.decisions.iter().filter(|d| d.plan.is_some()) {
            let own = d.plan.as_ref().expect("a plan");
            assert_eq!(own.launches as usize, told.kernels.len(), "{line}: {}", d.text);
            let moved: u64 = told.kernels.iter().map(|k| k.est.r + k.est.w).sum();
            assert_eq!(own.bytes, moved, "{line}: {}", d.text);
            let us: f64 = told.kernels.iter().map(|k| k.est.cpu_us).sum();
            assert!((own.us - us).abs() < 0.1, "{line}: {} against {us}", own.us);
            let Some(other) = &d.alt[0].plan else { continue };
            priced += 1;
            assert_ne!(own, other, "{line}: {}", d.text);
            match d.alt[0].why_not.as_str() {
                "dearer" => assert!(other.us >= own.us, "{line}: {}", d.text),
                barred => {
                    cheaper += usize::from(other.us < own.us);
                    assert!(barred.contains(": ") || other.us >= own.us, "{line}: {barred}");
                }
            }
        }
    }
    assert!(priced > 12, "{priced} priced, {cheaper} cheaper");
}

/// Launches that a GPU saves one by one are not paid for by the CPU: the plan that is settled on is
/// no dearer there than the first was.
#[test]
fn a_settled_plan_is_held_against_all_before_it() {
    let mut s = session();
    let recorded = s.graph_of("result←{⍵⌈1⌽⍵}⍣5⊢0.5×⍳1000000", &["result"]).expect("a graph");
    let planned = |settles: bool| {
        let mut options = Options::default();
        options.switch("settle", settles).expect("a switch");
        price(&compile(&recorded, &options, &mut NoClock).expect("a plan").plan)
    };
    let (own, without) = (planned(true), planned(false));
    assert!(own.launches < without.launches, "{own:?} {without:?}");
    assert!(own.us < 0.9 * without.us && own.gpu_us < 0.5 * without.gpu_us, "{own:?} {without:?}");
}

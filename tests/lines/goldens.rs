//! Launch counts of worked examples, and values from docs/GOLDENS.md.

use crate::support;
use crate::support::{BLACK_SCHOLES, bits, session, told as told_how, traced};
use aplomb_compiler::pass::switches;
use aplomb_ground::trace::{Cuda, Trace};

const SETUP: &str = "A←0.5×⍳9 ⋄ B←9-⍳9 ⋄ X←÷⍳9 ⋄ M←3 3⍴A";

/// The inputs are values before the line runs.
fn on_inputs(line: &str, off: &[&str]) -> usize {
    let mut s = session();
    off.iter().for_each(|name| s.options().switch(name, false).expect("a switch"));
    traced(&mut s, &[SETUP, "A B X M", line]).kernels.len()
}

#[test]
fn maps_sums_and_reads_are_one_launch() {
    assert_eq!(on_inputs("2×X+1", &[]), 1);
    assert_eq!(on_inputs("+/A×B", &[]), 1);
    assert_eq!(on_inputs("1+⌽A", &[]), 1);
    assert_eq!(on_inputs("⌽⌽A", &[]), 0);
    assert_eq!(on_inputs("A+.×B", &[]), 1);
    assert_eq!(on_inputs("(+/÷≢)A", &[]), 1);
    assert_eq!(on_inputs("1+⍉M", &[]), 1);
    assert_eq!(on_inputs("2+3", &[]), 0);
}

#[test]
fn operands_run_once_for_all_cells() {
    assert_eq!(on_inputs("{⍵×2}¨A", &[]), 1);
    assert_eq!(on_inputs("A{⍺+2×⍵}¨B", &[]), 1);
    assert_eq!(on_inputs("(+/÷≢)⍤1⊢M", &[]), 1);
    assert_eq!(on_inputs("{⌽⍵÷2}⍤1⊢M", &[]), 1);
    assert_eq!(on_inputs("A∘.{⍺×⍵+1}B", &[]), 1);
    assert_eq!(on_inputs("+/+/¨↓M", &[]), on_inputs("+/+/M", &[]));
    assert_eq!(on_inputs("↑{⍵×1 2 3}¨A", &[]), 1);
    // Row by row a mean of squares about the mean: sum, then map and sum.
    assert_eq!(on_inputs("{(+/(⍵-(+/⍵)÷≢⍵)*2)÷≢⍵}⍤1⊢M", &[]), 2);
    // A guard that each cell decides is a select; one on the shape is decided once.
    assert_eq!(on_inputs("{⍵>2:⍵ ⋄ -⍵}¨A", &[]), 1);
    assert_eq!(on_inputs("{⍵≤0:0 ⋄ ⍵>9:1 ⋄ ÷⍵}¨A", &[]), 1);
    // Rounds of scalar functions are a loop in one launch; what looks at more than its place is a
    // launch a round.
    assert_eq!(on_inputs("{0.5×⍵+2÷⍵}⍣20⊢A", &[]), 1);
    assert_eq!(on_inputs("{⍵-+/⍵}⍣3⊢A", &[]), on_inputs("{⍵-+/⍵}⍣3⊢A", &["loops"]));
    // A last call of itself is a loop that each cell ends; other recursion goes cell by cell.
    assert_eq!(on_inputs("{⍵≤1:⍵ ⋄ ∇⍵-1}¨A", &[]), 1);
    assert_eq!(on_inputs("{⍵≤1:⍵ ⋄ 1+∇⍵-1}¨A", &[]), on_inputs("{⍵≤1:⍵ ⋄ 1+∇⍵-1}¨A", &["frames"]));
}

#[test]
fn lazy_items_make_life_one_launch_a_generation() {
    const LIFE: &str = "life←{⊃1 ⍵∨.∧3 4=+/,¯1 0 1∘.⊖¯1 0 1∘.⌽⊂⍵} ⋄ G←6 7⍴0 1 0 0 1";
    let generations = |n: usize| {
        let mut s = session();
        traced(&mut s, &[LIFE, "G", &format!("life⍣{n}⊢G")]).kernels.len()
    };
    assert_eq!([1, 2, 3, 10].map(generations), [1, 2, 3, 10]);
}

#[test]
fn fusion_off_writes_every_node() {
    assert_eq!(on_inputs("2×X+1", &["fusion"]), 2);
    assert_eq!(on_inputs("+/A×B", &["fusion"]), 2);
}

fn black_scholes(off: &[&str]) -> Trace {
    let mut s = session();
    off.iter().for_each(|name| s.options().switch(name, false).expect("a switch"));
    let mut lines = vec!["+/⍳3"];
    lines.extend(BLACK_SCHOLES);
    lines.push("call put");
    traced(&mut s, &lines)
}

#[test]
fn call_and_put_are_one_launch_with_two_outputs() {
    let fused = black_scholes(&[]);
    assert_eq!(fused.kernels.len(), 1);
    assert_eq!(fused.kernels[0].out.len(), 2);
    let unfused = black_scholes(&["fusion"]);
    assert!(unfused.kernels.len() >= 10, "{}", unfused.kernels.len());
    let sha = |t: &Trace| t.result.as_ref().map(|r| r.sha.clone());
    assert_eq!(sha(&fused), sha(&unfused));
}

#[test]
fn sharing_written_twice_or_named_gives_one_plan_and_the_trace_tells_which() {
    let mut s = session();
    let named = traced(&mut s, &[SETUP, "A", "{y←*A ⋄ y×y+1}0"]);
    let twice = traced(&mut s, &["(*A)×(*A)+1"]);
    // The text but for the nodes' numbers.
    let lines = |c: &Cuda| {
        c.text
            .lines()
            .map(|l| l.split("  // n").next().unwrap_or(l).to_string())
            .collect::<Vec<_>>()
    };
    let plan = |t: &Trace| t.kernels.iter().map(|k| k.cuda.as_ref().map(lines)).collect::<Vec<_>>();
    assert_eq!(plan(&named), plan(&twice));
    let lets = |t: &Trace| t.passes.iter().find(|p| p.name == "bind").map(|p| p.lets.len());
    assert_eq!((lets(&named), lets(&twice)), (Some(1), Some(0)));
    assert_eq!(named.rules.get("cse"), None);
    assert_eq!(twice.rules.get("cse"), Some(&1));
}

#[test]
fn black_scholes_gives_the_published_prices() {
    let mut s = session();
    for line in BLACK_SCHOLES.iter().map(|l| {
        l.replace("5+0.025×⍳1000", "100 20")
            .replace("1+0.099×⌽⍳1000", "100 35")
            .replace("0.25+0.00975×⍳1000", "1 2.5")
    }) {
        s.value_of("0").expect("a session");
        let mut heard = support::Heard::default();
        s.handle(
            aplomb_ground::protocol::Request::Execute {
                code: line,
                name: "line".into(),
                silent: true,
            },
            &mut heard,
        );
    }
    let value = s.value_of("call,put").expect("prices").expect("a value");
    let got: Vec<f64> = bits(&value).1.into_iter().map(f64::from_bits).collect();
    let wanted = [12.821584654, 0.867373410697, 10.8414519847, 14.1604032682];
    for (g, w) in got.iter().zip(wanted) {
        assert!((g - w).abs() <= 1e-9 * w, "{got:?}");
    }
    // The same N stands in both, so they differ by S - e.
    for (k, w) in [1.98013266932f64, -13.2930298575].into_iter().enumerate() {
        assert!((got[k] - got[k + 2] - w).abs() <= 1e-9 * w.abs(), "{got:?}");
    }
}

/// Who asks once pays for no store, who asks again for one, and then it is there.
#[test]
fn a_value_that_is_asked_for_again_is_stored() {
    let asked = |lines: &[&str], off: &[&str]| {
        let mut s = session();
        off.iter().for_each(|name| s.options().switch(name, false).expect("a switch"));
        let t = traced(&mut s, &[&["+/⍳3", "B←*-*-*-0.001×⍳3000"], lines].concat());
        let nodes = t.nodes.iter().filter(|n| n.op == "*").count();
        (
            nodes,
            t.kernels.len(),
            t.kernels[0].out.len(),
            t.decisions.iter().any(|d| d.switch == "keep"),
        )
    };
    assert_eq!(asked(&["+/B"], &[]), (3, 1, 1, false));
    assert_eq!(asked(&["+/B", "⌈/B"], &[]), (3, 1, 2, true));
    assert_eq!(asked(&["+/B", "⌈/B", "⌊/B"], &[]), (0, 1, 1, false));
    assert_eq!(asked(&["+/B", "⌈/B", "⌊/B"], &["keep"]), (3, 1, 1, false));
    // Of what only a part is looked at no more is computed.
    assert_eq!(asked(&["5↑B", "4↑B", "+/3↑B"], &[]), (3, 1, 1, false));
    // What may fail is computed whole in any case.
    assert_eq!(asked(&["C←1○B", "5↑C", "4↑C"], &[]), (3, 2, 1, true));
    assert_eq!(asked(&["C←1○B", "5↑C", "4↑C", "3↑C"], &[]), (0, 1, 1, false));
    // What is as cheap as reading it is computed again.
    let cheap = on_inputs("{z←2×⍵ ⋄ 0>+/z:0 ⋄ 0>⌈/z:1 ⋄ ⌊/z}3000⍴A", &[]);
    assert_eq!(cheap, on_inputs("{z←2×⍵ ⋄ 0>+/z:0 ⋄ 0>⌈/z:1 ⋄ ⌊/z}3000⍴A", &["keep"]));
}

/// A loop that looks at each turn's value computes each once.
#[test]
fn a_loop_that_looks_at_its_values_does_the_work_of_its_turns() {
    let flops = |turns: usize| {
        let mut s = session();
        let line = format!("{{⍵{{⍺=0:0 ⋄ 9<⌈/⍵:0 ⋄ (⍺-1)∇1+1○⍵}}2○⍳3000}}{turns}");
        let t = traced(&mut s, &["+/⍳3", &line]);
        t.segments.iter().map(|s| t.passes[s.passes[1] as usize - 1].flops).sum::<u64>()
    };
    let (ten, forty) = (flops(10), flops(40));
    assert!(forty < 5 * ten, "{ten} {forty}");
    // Line by line as well; there the turn before is what is stored, for the line may fail.
    let line_by_line = |turns: usize| {
        let mut s = session();
        traced(&mut s, &[&["X←2○⍳3000"], vec!["⌈/X←1+1○X"; turns].as_slice()].concat()).nodes.len()
    };
    assert!(line_by_line(40) <= line_by_line(4));
}

/// A line whose launches, bytes or work change when the switch is off, while its value does not;
/// and how both are run.
const WITNESSES: &[(&str, &str, &[&str])] = &[
    // These show only while cse does not find the sharing again.
    ("bind", "{y←*A ⋄ y×y+1}0", &["off=cse"]),
    ("prune", "{y←*A ⋄ y×y+1}0", &["off=cse"]),
    ("simplify", "⌽⌽A", &[]),
    ("shape-uses", "{(≢⍵)+(≢⍵)×⌽⍵}*A∘.+A", &[]),
    ("float-lets", "⌽y×⌽y⊣y←1+A", &[]),
    // Where embed-consumers does not take its breaks back.
    ("break-random", "+/A×B", &["passes=acl2006"]),
    ("push-down", "1+⌽2×A", &[]),
    ("cse", "(*A)×(*A)+1", &[]),
    ("fuse-producers", "1+2×A", &[]),
    ("embed-consumers", "+/A×B", &[]),
    ("horizontal", "(+/A×2)(⌈/A×3)", &[]),
    ("hoist", "{(+/A)+⍵}¨20⍴B", &[]),
    ("split", "A+B+X", &["inputs=2"]),
    ("recompute", "{(+/⍵)-⌽⍵}1+A", &[]),
    ("epilogue", "2×+/M", &[]),
    ("outputs", "{⍵(1+⍵)}*A", &[]),
    ("exp-sharing", "y×y+1⊣y←*A", &[]),
    ("frames", "+/{⍵+⍵×2}¨A", &[]),
    // Unrolled, it is more than may be pending.
    ("loops", "{0.5×⍵+2÷⍵}⍣2000⊢A", &[]),
    ("keep", "{s←2○1○⍵ ⋄ 0>+/s:0 ⋄ 0>⌈/s:1 ⋄ ⌊/s}3000⍴A", &[]),
    ("numbers", "+/{⍵≤1:⍵ ⋄ 2|⍵:1+∇⍵-1 ⋄ 2+∇⍵÷2}¨⍳4000", &[]),
    ("groups", "(7|⍳≢A){+/⍵}⌸A", &[]),
    ("fusion", "+/1+2×A", &[]),
    ("sharing", "{y←*A ⋄ y×y+1}0", &[]),
];

#[test]
fn acc_33_every_switch_has_a_witness() {
    let run = |line: &str, how: &[&str]| {
        let t = told_how(how, &[SETUP, "A B X M", line]);
        let last: Vec<_> = t.segments.iter().map(|s| &t.passes[s.passes[1] as usize - 1]).collect();
        let cost: (usize, u64, u64) = (
            t.kernels.len(),
            last.iter().map(|p| p.bytes).sum(),
            last.iter().map(|p| p.flops).sum(),
        );
        (cost, t.result.map(|r| r.sha))
    };
    for (switch, line, how) in WITNESSES {
        let (on, value) = run(line, how);
        let off = format!("off={switch}");
        let how: Vec<&str> = how.iter().copied().chain([off.as_str()]).collect();
        let (cost, same) = run(line, &how);
        assert_ne!(on, cost, "{switch} changes nothing of {line}");
        assert_eq!(value, same, "{switch} changes the value of {line}");
    }
    // `float` moves lets, `place` `tile` `pad` say what a block keeps near, which no launch counts;
    // nor the order of axes in which `settle` lays arrays out (tests/lines/prices.rs has its
    // lines); `cublas`, `tuning` and `abreast` are a device's (tests/gpu/cuda_blas.rs,
    // cuda_tune.rs, and below); every other switch has its line.
    let without: Vec<&str> =
        switches().into_iter().filter(|name| !WITNESSES.iter().any(|w| w.0 == *name)).collect();
    let own = ["float", "settle", "place", "tile", "pad", "cublas", "tuning", "abreast"];
    // Two are names for one of these.
    assert_eq!(without, [&own[..], &["shared-mem", "tune"]].concat());
}

/// Launches on the same rows run together, some rows at a time; the story says of which of what
/// they store nothing was ever whole. Orders of sums and all else stay as they are.
#[test]
fn launches_on_the_same_rows_run_together_and_say_so() {
    let setup = "S←300 300⍴(⍳90000)÷7E4";
    let lines = [
        ("{e←*⍵-⍤1 0⊢⌈/⍵ ⋄ e÷⍤1 0⊢+/e}S", Some("k1 k2 k3")),
        ("{e←*⍵-⍤1 0⊢⌈/⍵ ⋄ e÷⍤1 0⊢+/e}100↑S", None),
        // What is read is not in its reader's row, or is a result as well.
        ("{e←*⍵ ⋄ e÷⍤1⊢+⌿e}S", None),
        ("{e←*⍵ ⋄ (e÷⍤1 0⊢+/e)e}S", None),
    ];
    for (line, names) in lines {
        let [on, off] = [&[][..], &["off=abreast"]].map(|how| told_how(how, &[setup, line]));
        let said = |t: &Trace| t.diagnostics.iter().find(|d| d.code == "W-abreast").cloned();
        let text = said(&on).map(|d| d.text);
        match names {
            Some(names) => {
                let text = text.expect("a sentence");
                assert!(text.starts_with(&format!("{names} went")), "{text}");
                assert!(text.contains("720 kB"), "{text}");
            }
            None => assert_eq!(text, None, "{line}"),
        }
        assert!(said(&off).is_none() && on.result.is_some());
        assert_eq!(on.result.map(|r| r.sha), off.result.map(|r| r.sha), "{line}");
    }
}

/// The blocks of docs of questions: typed lines that are no question, the question, the answer.
fn questions() -> Vec<(Vec<String>, String, String)> {
    let page = include_str!("../goldens/why.md");
    let blocks = page.split("```apl\n").skip(1).filter_map(|b| b.split_once("```").map(|b| b.0));
    let parts = blocks.map(|b| {
        let (before, asked) = b.split_once("      ]why ").expect("a question");
        let (question, answer) = asked.split_once('\n').expect("an answer");
        let typed =
            |l: &str| l.strip_prefix("      ").filter(|l| !l.starts_with(' ')).map(String::from);
        (before.lines().filter_map(typed).collect(), question.to_string(), answer.to_string())
    });
    parts.collect()
}

/// The last line's trace after all lines, `]off` and what is switched beside it included.
fn told(lines: &[String], also: Option<(&str, bool)>) -> Trace {
    let mut s = session();
    if let Some((name, on)) = also.filter(|a| !a.1) {
        s.options().switch(name, on).expect("a switch");
    }
    for line in lines {
        match line.strip_prefix("]off ") {
            Some(name) => s.options().switch(name, false).expect("a switch"),
            None => {
                let request = aplomb_ground::protocol::Request::Execute {
                    code: line.clone(),
                    name: "line".into(),
                    silent: true,
                };
                s.handle(request, &mut support::Heard::default());
            }
        }
    }
    if let Some((name, on)) = also {
        s.options().switch(name, on).expect("a switch");
    }
    s.trace_of(None).expect("a trace")
}

#[test]
fn each_answer_names_a_switch_that_changes_it() {
    let all = questions();
    assert!(all.len() >= 30, "{}", all.len());
    // Numbers, kept nodes, launches and what was decided, without the numbers of nodes.
    let story = |t: &Trace| {
        let kernels: Vec<_> =
            t.kernels.iter().map(|k| (k.est.r, k.est.w, k.est.flops, k.domain.clone())).collect();
        let mut decided: Vec<_> = t
            .decisions
            .iter()
            .map(|d| (d.reason.clone(), d.chosen.clone(), d.what.clone()))
            .collect();
        decided.sort();
        (kernels, decided)
    };
    let mut named = 0;
    for (lines, question, answer) in &all {
        let base = story(&told(lines, None));
        let joined = answer.split_whitespace().collect::<Vec<_>>().join(" ");
        for (mark, on) in [("]off ", false), ("]on ", true)] {
            for rest in joined.split(mark).skip(1) {
                let name: String =
                    rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
                let other = story(&told(lines, Some((&name, on))));
                assert_ne!(base, other, "{lines:?} ]why {question}: {mark}{name} changes nothing");
                named += 1;
            }
        }
        let honest = ["]off ", "]on ", "no switch", "ERROR", "nothing", "no launch"]
            .iter()
            .any(|w| joined.contains(w));
        assert!(honest, "{lines:?} ]why {question} names no switch:\n{answer}");
    }
    assert!(named >= 30, "{named}");
}

//! The CUDA device gives what the CPU gives. Without a GPU it runs on the stand-in for CUDA's
//! libraries, `tests/cusim`.
//!
//! Batches: the lines of one are one evaluation, so one program. Values are the same bits, but for
//! sums, whose order differs, and for functions of the system's library.

use crate::devices::{Both, near, nothing_refused, outcome, prepared};
use crate::grammar::{Grammar, SETUP};
use crate::support::{Dice, Heard, bits, one_in, scaled};
use crate::{devices, standin};
use aplomb_devices::device::Wanted;
use aplomb_ground::protocol::Request;
use aplomb_kernel::session::Session;
use aplomb_plans::kir::Tuning;

#[test]
fn random_expressions_have_the_same_values() {
    if !standin::is_child("random_expressions_have_the_same_values", &[]) {
        return;
    }
    let mut both = Both::after(&[SETUP]);
    let grammar = Grammar::from_table();
    let count = scaled(160).max(20);
    for first in (0..count).step_by(20) {
        let lines: Vec<String> = (first..first + 20)
            .map(|k| {
                let mut dice = Dice(600_000_000 + k as u64);
                let depth = 1 + dice.roll(5);
                grammar.term(&mut dice, depth).0
            })
            .filter(|l| !l.contains('C'))
            .collect();
        both.together(&lines);
    }
    let (tally, compiled) = both.told();
    assert!(tally.lines * 10 > count * 7 && compiled.compiled as usize > count / 2, "{tally:?}");
    assert!(tally.bits_differ * 50 <= tally.items, "{tally:?}");
}

/// The cases of the source publications' rows, each value.
#[test]
fn the_cases_of_the_rows_have_the_same_values() {
    if !standin::is_child("the_cases_of_the_rows_have_the_same_values", &[]) {
        return;
    }
    let pages = [
        include_str!("../lines/seeds/acl-reads.txt"),
        include_str!("../lines/seeds/acl-breaks.txt"),
        include_str!("../lines/seeds/acc.txt"),
        include_str!("../lines/seeds/bar.txt"),
    ];
    let mut both = Both::after(&[]);
    let mut values = 0;
    for text in pages {
        let (mut setup, mut case, mut cases) = (Vec::new(), Vec::new(), Vec::new());
        let mut in_rows = false;
        for line in text.lines().chain([""]) {
            in_rows |= line.starts_with("# ");
            match line.strip_prefix("      ") {
                Some(typed) if in_rows => case.push(typed),
                Some(typed) => setup.push(typed),
                None if !case.is_empty() => cases.push(std::mem::take(&mut case)),
                None => {}
            }
        }
        for case in cases.into_iter().step_by(one_in(2)) {
            let (last, before) = case.split_last().expect("a line");
            let mut given = [&mut both.cpu, &mut both.gpu].map(|s| {
                s.restart();
                for line in setup.iter().chain(before) {
                    let code = line.to_string();
                    s.handle(
                        Request::Execute { code, name: "line".into(), silent: true },
                        &mut Heard::default(),
                    );
                }
                s.interp().set_record_all(true);
                outcome(s, last)
            });
            let (found, wanted) = (given[1].clone(), &mut given[0]);
            match (&found, wanted) {
                (Ok(a), Ok(b)) => {
                    let equal = a.0 == b.0
                        && a.1.len() == b.1.len()
                        && a.1.iter().zip(&b.1).all(|(x, y)| near(*x, *y));
                    assert!(equal, "{case:?}: {a:?} for {b:?}");
                    values += 1;
                }
                (a, b) => assert_eq!(a, b, "{case:?}"),
            }
            nothing_refused(&mut both.gpu);
        }
    }
    println!("{values} values, {:?}", both.gpu.core().devices().compiling());
    assert!(values > 90, "{values}");
}

/// Lines at sizes around the edges of blocks, warps and grids.
const EDGES: &[&str] = &[
    "+/V",
    "⌈/V",
    "+\\V",
    "2×V+1",
    "1↓V",
    "⌽V",
    "+/V×⌽V",
    "(V>3)/V",
    "+/⊃V∘.+2↑V",
    "+⌿V∘.×1 2 3",
    "+/V∘.×1 2 3",
    "V[⌽⍋V]",
    "3↑⍋V",
    "(⍒V)[2]",
    "{⊃⍋⍵}⍤1⊢3 1100⍴V,9",
    "{2↑⍵[⍒⍵]}⍤1⊢3 40⍴V,9",
    "(⍋⍤1)3 40⍴V,9",
    "{⍵[⍒⍵]}⍤1⊢2 1100⍴V,9",
    "(+/÷≢)V",
    "+/3 40⍴V,9",
    "(+/÷⌈/)⍤1⊢3 1100⍴V,9",
    "⌈\\-V",
    "≠\\V>2",
    "2×+\\3 2100⍴V,9",
    "⌈\\2 40⍴V,9",
    "+⍀V∘.×1 2 3",
    "(V>3)⌿V∘.×1 2 3",
    "(V>3)/2 1∘.×V",
    "(+\\V)(⌊\\V)",
    "(V>3)+V=⌽V",
    "+/2 1100⍴V,9",
    "{0.5×⍵+2÷⍵}⍣≡¨1+V",
    "+/{2⊃{(a n)←⍵ ⋄ (a÷2)(n+1)}⍣{0.1>⊃⍺}⊢⍵ 0}¨V",
    "(0.1×V)∨0.3-⌽0.0001×V",
    "(0.1×V)∧0.0125×1+⌽V",
];

/// Around a vector, a warp, what a block takes of single points, of vectors, of partial results and
/// of a tile.
const SIZES: [usize; 16] =
    [0, 1, 2, 3, 31, 33, 255, 257, 511, 513, 1023, 1025, 2047, 2049, 4096, 4099];

#[test]
fn sizes_around_blocks_and_warps_have_the_same_values() {
    if !standin::is_child_under_all_schedules("sizes_around_blocks_and_warps_have_the_same_values")
    {
        return;
    }
    let mut both = Both::after(&[]);
    for n in SIZES {
        both.set(&format!("V←0.25×7|3×⍳{n}"));
        both.each(EDGES);
    }
    let (tally, compiled) = both.told();
    // No text depends on a size: all sizes run what the first ones compiled.
    assert!(
        tally.lines >= SIZES.len() * EDGES.len() - 32
            && compiled.memory_hits > compiled.compiled * 3,
        "{tally:?} {compiled:?}"
    );
    assert_eq!(tally.bits_differ, 0, "sums of quarters are exact");
}

/// Stencils and transposes, which blocks compute from copies in shared memory.
fn boxed_lines() -> Vec<String> {
    let sum = |of: &dyn Fn(i32) -> String| {
        (-3..=3).map(|k| format!("({})", of(k))).collect::<Vec<_>>().join("+")
    };
    let number = |k: i32| k.to_string().replace('-', "¯");
    vec![
        sum(&|k| format!("{}⌽V", number(k))),
        sum(&|k| format!("{}({}(⌽⍠0)V)", if k == 2 { "3×" } else { "" }, number(k))),
        sum(&|k| format!("¯{}↓{}↓V", 3 - k, 3 + k)),
        sum(&|k| format!("⌽¯{}↓{}↓V", 3 - k, 3 + k)),
        sum(&|k| format!("{}⊖M", number(k))),
        sum(&|k| format!("{}⌽M", number(k))),
        sum(&|k| format!("{}(⊖⍠2)M", number(k))),
        "⊃1 M∨.∧3 4=+/,¯1 0 1∘.⊖¯1 0 1∘.⌽⊂M".into(),
        "+/,(1⌽⍉M)∨⍉1⊖M".into(),
        "1+⍉M".into(),
        "⌽⍉M".into(),
        "0.5×⍉⊖M".into(),
        "(⍉M)+2⌽⍉M".into(),
        "(⍉M)÷1+⍉2⌽M".into(),
        "1 3 2⍉A".into(),
        "1+3 2 1⍉A".into(),
        format!("{}+⍉M", sum(&|k| format!("⍉{}⌽M", number(k)))),
    ]
}

#[test]
fn boxes_of_shared_memory_have_the_same_values() {
    if !standin::is_child_under_all_schedules("boxes_of_shared_memory_have_the_same_values") {
        return;
    }
    let mut both = Both::after(&[]);
    let mut tiled = 0;
    let types = ["0.25×", "(0 0.5)[1]+", "'f32'⎕AS 0.5×", "2<"];
    for (k, (n, rows, columns)) in [
        (1024, 32, 32),
        (1025, 33, 40),
        (1029, 1, 1025),
        (2048, 70, 33),
        (2051, 128, 9),
        (3075, 64, 65),
    ]
    .iter()
    .enumerate()
    {
        let of = types[k % types.len()];
        both.set_at_once(&format!(
            "V←{of}7|3×⍳{n} ⋄ M←{of}7|(⍳{rows})∘.×⍳{columns} ⋄ \
             A←{of}5|(⍳2)∘.+(⍳{rows})∘.×⍳{columns} ⋄ s←+/∊V M A"
        ));
        for line in boxed_lines() {
            both.each(&[&line]);
            both.gpu.core().set_tracing(true);
            let trace = both.gpu.trace_of(Some(&line)).expect("a trace");
            tiled += usize::from(trace.kernels.iter().any(|k| k.launch.smem > 0));
            both.gpu.core().set_tracing(false);
        }
    }
    let (tally, _) = both.told();
    assert!(tally.lines >= 6 * boxed_lines().len() - 2 && tiled >= 60, "{tally:?} {tiled}");
    assert_eq!(tally.bits_differ, 0);
}

/// Maps and folds of every type of item, and what goes through tiles.
const TUNED: &[&str] = &[
    "V+2×⌽V",
    "T-1",
    "S+S",
    "I×2",
    "B∧~⌽B",
    "V+S",
    "B+I",
    "S>V",
    "Q[;1]+Q[;2]×Q[;4]",
    "+/V×V",
    "⌈/I",
    "≠/B",
    "(+/V)(⌈/S)(⌊/I)",
    "⌈/K[;1]-K[;2]",
    "+/3 1500⍴V",
    "+/V∘.×1 2 3",
    "+\\V",
    "⌈\\3 1100⍴I",
    "+\\5 60⍴S",
    "(+\\V)(⌈\\S)",
    "∨\\B",
    "B/V",
    "B/S",
];

/// The same values for whatever a tuner chooses, and for every type of item.
#[test]
fn the_points_of_a_thread_change_no_value() {
    if !standin::is_child("the_points_of_a_thread_change_no_value", &[]) {
        return;
    }
    let setup = "V←0.25×7|3×⍳5003 ⋄ T←100|⍳5003 ⋄ S←3×⍳5003 ⋄ I←99991×⍳5003 ⋄ B←V>0.75 ⋄ Q←1200 \
                 4⍴V ⋄ K←2100 2⍴I";
    let mut both = Both::after(&[setup]);
    for items in [1, 2, 4, 8, 16] {
        let device = both.gpu.core().devices().find().expect("the stand-in");
        device.set(Some(Tuning { items: Some(items), ..Tuning::default() }));
        both.each(TUNED);
    }
    both.all_equal(5 * TUNED.len());
    // Others than the first do not find everything compiled.
    let compiled = both.gpu.core().devices().compiling();
    assert!(compiled.compiled as usize > 3 * TUNED.len(), "{compiled:?}");
}

/// Tiles, and folds of few long lines.
const LONG: &[&str] = &[
    "+\\V",
    "(V>0.5)/V",
    "⌈\\3 40000⍴V",
    "(+\\V)(⌊\\V)",
    "+/3 40000⍴V",
    "+/1+16384↑V",
    "+/2 16385⍴V",
    "2×(⌈/÷1++/)2 33000⍴V",
    "+⌿V∘.×1 2 3",
    "⌈⌿1100 257⍴V",
    "+⌿1025 300⍴V",
    "(⌈⌿÷1++⌿)1500 5⍴V",
    "+/[2]2 1500 3⍴V",
    "+⌿1 1⍉1200 1200⍴V",
    "(+⌿M)(⌈⌿M)",
];

/// A look-back beyond its first window of 32 tiles, in one line and in lines of several.
#[test]
fn long_ways_look_back_far() {
    if !standin::is_child_under_all_schedules("long_ways_look_back_far") {
        return;
    }
    let setup = "V←0.25×7|3×⍳145003 ⋄ M←5000 7⍴V";
    let mut both = Both::after(&[setup]);
    both.each(LONG);
    both.all_equal(LONG.len());
}

/// `--reduce repeatable`: whichever tile comes first, what is joined with what is the same. Beyond
/// 1 024 tiles a chain of links is followed.
#[test]
fn a_scan_has_the_same_bits_in_every_schedule() {
    if !standin::is_child_under_all_schedules("a_scan_has_the_same_bits_in_every_schedule") {
        return;
    }
    let mut both = Both::after(&["V←0.1×7|3×⍳282003"]);
    both.gpu
        .core()
        .devices()
        .find()
        .expect("the stand-in")
        .set(Some(Tuning { items: Some(1), ..Tuning::default() }));
    let lines = ["+\\V", "+\\2 9000⍴V"];
    both.each(&lines);
    assert_eq!(both.told().0.lines, lines.len());
    let found: Vec<_> =
        lines.iter().map(|line| devices::outcome(&mut both.gpu, line).expect("sums").1).collect();
    let folder = std::env::var_os("XDG_CACHE_HOME").expect("a folder that the schedules share");
    let before = std::path::Path::new(&folder).join("bits.json");
    match std::fs::read(&before) {
        Ok(text) => assert!(
            serde_json::from_slice::<Vec<Vec<u64>>>(&text).expect("bits") == found,
            "other bits"
        ),
        Err(_) => {
            std::fs::write(&before, serde_json::to_vec(&found).expect("bits")).expect("a file")
        }
    }
}

#[test]
fn an_integer_result_that_does_not_fit_is_made_again_as_f64() {
    if !standin::is_child("an_integer_result_that_does_not_fit_is_made_again_as_f64", &[]) {
        return;
    }
    let mut both = Both::after(&[]);
    let lines = [
        "I←2*20+⍳11",
        "I×I",
        "⌊0.5+I×1E4",
        "1+I×I",
        "+\\I×I",
        "×/I",
        "(⌊I×1E5),3",
        "(I×I)-I×I",
        "⌈I÷1E3",
    ];
    both.set(lines[0]);
    both.together(&lines[1..].iter().map(|l| l.to_string()).collect::<Vec<_>>());
    both.all_equal(lines.len() - 1);
    both.gpu.core().set_tracing(true);
    let trace = both.gpu.trace_of(Some("⌊0.5+I×1E4")).expect("a trace");
    assert_eq!(trace.kernels[0].meas.as_ref().map(|m| m.n), Some(2), "{:?}", trace.kernels[0].meas);
    nothing_refused(&mut both.gpu);
}

/// Failures in kernels: the same error at the same place as on the CPU, and the next line works.
const FAILING: &[&str] = &[
    "÷V",
    "1÷V-3",
    "⍟V-4",
    "V÷V-V",
    "¯1*0.5×V",
    "V*-V-V",
    "(V-5)*0.5",
    "0⍟V",
    "+/÷V",
    "×/V*V*V",
    "~V",
    "V∧~1+V",
    "!-V",
    "(÷V)+⍟V",
    "5↑÷V",
    "{÷⍵}¨V",
    "+\\÷V",
    "(V>2)/÷V",
    "V[V]",
    "V[9+V]",
    "M[1+V;1]",
    "*V×1000",
    "¯7○V",
    "0○V",
    "¯1○V",
    "{⍵>3:⍵ ⋄ ÷⍵}¨V",
    "+/1E308×V",
    "⌈/V÷0",
    "1+⌽÷V",
    "M÷0 1⌽M-M",
    "⍟⍟V",
    "(⍟V)+÷V",
    "V|÷V",
    "¯6○V",
    "V○V",
    "1↓÷V",
    "+⌿÷M",
    "⌈\\÷V",
    "3⍟¯1+V",
    "2*1E3×V",
    "V-÷V-2",
    "÷M[1 2;1+V>9]",
    "(1+÷V)×2",
    "÷⌽V",
    "⍉÷M",
    "÷V,V",
    "÷0⍪V",
    "+/⍟V",
    "(÷V)[2 3]",
    "{⍵÷V[1]}V",
];

#[test]
fn a_failure_in_a_kernel_is_told_as_the_cpu_tells_it() {
    if !standin::is_child("a_failure_in_a_kernel_is_told_as_the_cpu_tells_it", &[]) {
        return;
    }
    let setup = "V←0 1 2 3 4 5 6 7 ⋄ M←2 4⍴V";
    let mut both = Both::after(&[setup]);
    let mut errors = 0;
    for line in FAILING {
        let says = |s: &mut Session| match s.value_of(line) {
            Err(e) => {
                Err((e.name(), e.parts().says.clone(), e.parts().place.as_ref().map(|p| p.span)))
            }
            Ok(a) => Ok(a.as_ref().map(bits)),
        };
        let (found, wanted) = (says(&mut both.gpu), says(&mut both.cpu));
        assert_eq!(found, wanted, "{line}");
        errors += usize::from(found.is_err());
        assert_eq!(
            outcome(&mut both.gpu, "+/2×V"),
            Ok((vec![], vec![56f64.to_bits()])),
            "after {line}"
        );
        nothing_refused(&mut both.gpu);
    }
    println!("{errors} errors of {}", FAILING.len());
    assert!(errors >= 30, "{errors} of {}", FAILING.len());
}

/// Without being asked for, the GPU gets what it is thought to be faster at, once compiling pays; a
/// trace says why.
#[test]
fn small_problems_stay_on_the_cpu_and_the_trace_says_why() {
    if !standin::is_child("small_problems_stay_on_the_cpu_and_the_trace_says_why", &[]) {
        return;
    }
    let mut s = prepared(Wanted::Auto, &["V←0.5×⍳900", "W←?400000⍴0"]);
    let told = |s: &mut Session, line: &str| {
        let trace = s.trace_of(Some(line)).expect("a trace");
        let kernel = trace.kernels.into_iter().next().expect("a launch");
        (kernel.ran.map(|r| (r.device, r.why)), trace.times)
    };
    // Too small for anybody to look for a GPU.
    assert_eq!(told(&mut s, "+/V×2").0, None);
    // Large enough to look, and to move more than it takes.
    let (ran, _) = told(&mut s, "0.5+W");
    let (device, why) = ran.expect("a choice");
    assert!(
        device == "cpu" && why.contains("on the CPU, ") && why.contains("to move 3.2 MB"),
        "{why}"
    );
    // Much work on little data: first the CPU, until it has lost what compiling takes.
    let heavy = "+/{1+0.5×⍵+2÷⍵}⍣400⊢V";
    let mut whys = Vec::new();
    let ran_there = (0..400).find(|_| {
        let (device, why) = told(&mut s, heavy).0.expect("a choice");
        whys.push(why);
        device == "cuda"
    });
    let first = whys.first().expect("a reason");
    assert!(
        first.contains("compiling takes") && ran_there.is_some_and(|k| k > 0),
        "{ran_there:?} {first}"
    );
    assert!(whys.last().is_some_and(|w| w.starts_with("on the GPU: estimated")), "{whys:?}");
    nothing_refused(&mut s);
}

/// A launch without a text runs on the CPU between launches of the GPU.
#[test]
fn what_has_no_text_is_placed_on_the_cpu_with_its_reason() {
    if !standin::is_child("what_has_no_text_is_placed_on_the_cpu_with_its_reason", &[]) {
        return;
    }
    let setup = "V←0.5×⍳40";
    let mut both = Both::after(&[setup]);
    let line = "2×(∨/V)+⌽V";
    assert_eq!(outcome(&mut both.gpu, line), outcome(&mut both.cpu, line));
    let trace = both.gpu.trace_of(Some(line)).expect("a trace");
    let ran: Vec<(String, String)> =
        trace.kernels.iter().filter_map(|k| k.ran.clone()).map(|r| (r.device, r.why)).collect();
    let on = |device: &str| ran.iter().filter(|r| r.0 == device).count();
    assert!(on("cpu") == 1 && on("cuda") >= 1, "{ran:?}");
    let why = &ran.iter().find(|r| r.0 == "cpu").expect("one").1;
    assert!(why.contains("there is no CUDA text") && why.contains('∨'), "{why}");
    nothing_refused(&mut both.gpu);
}

/// ACL-42: other sizes, constants and sessions run what was compiled; NVRTC's time is told apart.
#[test]
fn acl_42_a_second_run_compiles_nothing() {
    if !standin::is_child("acl_42_a_second_run_compiles_nothing", &[]) {
        return;
    }
    let mut s = prepared(Wanted::Cuda, &["V←0.5×⍳40 ⋄ W←0.25×⍳901"]);
    let times = |s: &mut Session, line: &str| s.trace_of(Some(line)).expect("a trace").times;
    let first = times(&mut s, "+/2×V+1");
    assert!(first["compiled"] == 1.0 && first["nvrtc_ms"] > 0.0, "{first:?}");
    for line in ["+/2×V+1", "+/7×W+3", "+/0.5×W+0.25"] {
        let again = times(&mut s, line);
        let made = (again["compiled"], again["memory_hits"], again["nvrtc_ms"]);
        assert_eq!(made, (0.0, 1.0, 0.0), "{line}");
    }
    // Another session of this machine.
    let mut other = prepared(Wanted::Cuda, &["V←0.5×⍳40"]);
    let later = times(&mut other, "+/3×V+2");
    assert_eq!(
        (later["compiled"], later["disk_hits"], later["nvrtc_ms"]),
        (0.0, 1.0, 0.0),
        "{later:?}"
    );
}

/// An interrupt ends a long evaluation, names stay, the next line runs.
#[test]
fn an_interrupt_ends_a_long_evaluation() {
    if !standin::is_child("an_interrupt_ends_a_long_evaluation", &[]) {
        return;
    }
    let mut s = prepared(Wanted::Cuda, &["V←0.5×⍳40"]);
    let interrupt = s.interrupt();
    let soon = std::thread::spawn(move || {
        for _ in 0..200 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            interrupt.set();
        }
    });
    let begun = std::time::Instant::now();
    let done = s.value_of("+/{1+0.5×⍵+2÷⍵}⍣300⊢⍳3000000");
    let took = begun.elapsed();
    assert_eq!(done.err().map(|e| e.name()), Some("INTERRUPT".into()));
    println!("{took:?}");
    soon.join().expect("a thread");
    s.interrupt().clear();
    assert_eq!(outcome(&mut s, "+/V"), Ok((vec![], vec![410f64.to_bits()])));
    assert!(took.as_secs() < 60, "{took:?}");
}

/// ACL-41: what a loop does not hold any more is used again.
#[test]
fn acl_41_a_loop_takes_no_more_memory() {
    if !standin::is_child("acl_41_a_loop_takes_no_more_memory", &[]) {
        return;
    }
    let mut s = prepared(Wanted::Cuda, &["V←0.5×⍳900"]);
    let mut free = std::collections::BTreeSet::new();
    for k in 0..1000 {
        outcome(&mut s, &format!("(+/V×{k})÷V+{k}")).expect("a value");
        if k >= 2 {
            let facts = s.core().devices().find().expect("the stand-in").facts();
            let memory = facts.into_iter().find(|f| f.0 == "memory").expect("a row").1;
            free.insert(memory.split(", ").nth(1).expect("free bytes").to_string());
        }
    }
    assert_eq!(free.len(), 1, "the driver is asked for no more after the second: {free:?}");
}

/// ACC-03: an array goes to the device once; a trace has an event for each that went, with its
/// bytes and the launch that waited for it, and says how much went in all.
#[test]
fn acc_03_an_array_is_uploaded_once() {
    if !standin::is_child("acc_03_an_array_is_uploaded_once", &[]) {
        return;
    }
    let arrays = ["V←0.5×⍳900", "W←0.25×⍳800", "U←0.5×⍳700", "P←0.5×⍳600", "Q←0.5×⍳500"];
    let mut s = prepared(Wanted::Cuda, &arrays);
    let moved = |s: &mut Session, line: &str| {
        let times = s.trace_of(Some(line)).expect("a trace").times;
        (times["up_bytes"], times["kept_bytes"])
    };
    assert_eq!(moved(&mut s, "+/V×2").0, 7200.0);
    // Arrays of a strand are as many uploads; what is asked for tells each byte once.
    let (up, kept) = moved(&mut s, "(+/W)(+/U)(+/V)");
    assert_eq!((up, kept), (6400.0 + 5600.0, 7200.0));
    let (up, kept) = moved(&mut s, "⌈/V-3");
    assert!(up < 7200.0 && kept == 7200.0, "{up} {kept}");
    // An event for each array that went, none for what was there.
    let sent = |trace: &aplomb_ground::trace::Trace| -> Vec<(String, u64)> {
        let event = |b: &aplomb_ground::trace::BufferRecord| {
            let at = b.h2d?;
            assert!(trace.kernels[at.k as usize].inputs.contains(&b.id) && at.us > 0.0, "{b:?}");
            Some((trace.nodes[b.node as usize].name.clone()?, at.bytes))
        };
        let mut all: Vec<(String, u64)> = trace.buffers.iter().filter_map(event).collect();
        all.sort();
        all
    };
    let mut trace = s.trace_of(Some("(+/P)(⌈/Q)(+/V)")).expect("a trace");
    assert_eq!(sent(&trace), [("P".into(), 4800), ("Q".into(), 4000)]);
    let table = aplomb_viz::tables::memory(&trace);
    let says = |part: &str| table.contains(part);
    assert!(says("; went to the GPU: ") && says("P for k") && says(", 4.8 kB"), "{table}");
    let again = s.trace_of(Some("(+/P)(⌈/Q)(+/V)")).expect("a trace");
    assert_eq!(sent(&again), []);
    // Appended to another evaluation it speaks of the same launch.
    let (launches, buffers) = (trace.kernels.len() as u32, trace.buffers.len());
    trace.append(trace.clone());
    let first = trace.buffers.iter().position(|b| b.h2d.is_some()).expect("one that went");
    let [own, theirs] = [first, buffers + first].map(|k| trace.buffers[k].h2d.map(|at| at.k));
    assert_eq!(theirs, own.map(|k| k + launches));
}

/// BAR-07: the device finishes a fold: one launch, and only the result and the error words come
/// back.
#[test]
fn bar_07_the_device_finishes_a_fold() {
    if !standin::is_child("bar_07_the_device_finishes_a_fold", &[]) {
        return;
    }
    let mut s = prepared(Wanted::Cuda, &["V←0.5×⍳900"]);
    let trace = s.trace_of(Some("+/{⍵×0.5+⍵}⍳50000")).expect("a trace");
    let ran = trace.kernels[0].ran.as_ref().expect("a place");
    assert!(trace.kernels.len() == 1 && ran.device == "cuda" && ran.grid > 40, "{ran:?}");
    assert_eq!(trace.times["down_bytes"], 8.0 + 16.0);
}

/// BAR-21: two results of one launch, and the loop's condition is the only test of n.
#[test]
fn bar_21_one_launch_has_two_results_and_no_bounds_check() {
    if !standin::is_child("bar_21_one_launch_has_two_results_and_no_bounds_check", &[]) {
        return;
    }
    let mut s = prepared(Wanted::Cuda, &["V←0.5×⍳900"]);
    let both = s.trace_of(Some("(⌊/V)(⌈/V)")).expect("a trace");
    assert_eq!(both.kernels.len(), 1);
    let map = s.trace_of(Some("2×V+1")).expect("a trace");
    let text = &map.kernels[0].cuda.as_ref().expect("a text").text;
    assert!(!text.contains("if") && text.matches("lo + n").count() == 1, "{text}");
    for line in ["+\\V", "(3 300⍴V)+.×300 3⍴V", "⍋V"] {
        outcome(&mut s, line).expect("a value");
    }
    nothing_refused(&mut s);
}

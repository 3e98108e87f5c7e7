//! The plan cache: what finds its plan again, what does not, and that errors name the line that
//! failed.
//!
//! Every hit is compiled again and compared in debug builds; here it is counted, and values are
//! checked.

use crate::support::{Heard, bits, session, told};
use aplomb_ground::protocol::{Event, Failure, Request};
use aplomb_kernel::session::Session;

const SETUP: &str = "V←0.5×⍳15000 ⋄ W←⌽V ⋄ I←⍳15000 ⋄ V W I";

fn run(s: &mut Session, code: &str) -> Vec<Failure> {
    let mut heard = Heard::default();
    s.handle(Request::Execute { code: code.into(), name: "text".into(), silent: true }, &mut heard);
    heard
        .0
        .into_iter()
        .filter_map(|e| if let Event::Error(f) = e { Some(f) } else { None })
        .collect()
}

fn prepared() -> Session {
    let mut s = session();
    assert!(run(&mut s, SETUP).is_empty());
    s
}

/// The number of evaluations of a text that found their plan, and of those that did not.
fn looked(s: &mut Session, code: &str) -> (u64, u64) {
    let was = s.core().plans().tally();
    assert!(run(s, code).is_empty(), "{code}");
    let now = s.core().plans().tally();
    (now.hits - was.hits, now.misses - was.misses)
}

const KNOWN: (u64, u64) = (1, 0);
const NEW: (u64, u64) = (0, 1);

#[test]
fn an_unchanged_line_needs_no_pass() {
    let mut s = prepared();
    assert_eq!(looked(&mut s, "+/V×2.5-W"), NEW);
    assert_eq!(looked(&mut s, "+/V×2.5-W"), KNOWN);
    // Other text, names and buffers; the same graph.
    assert_eq!(looked(&mut s, "  +/ W × 2.5 - V ⍝ the other way"), KNOWN);
    assert_eq!(looked(&mut s, "W←V×3 ⋄ W"), NEW);
    assert_eq!(looked(&mut s, "Z←+/W×2.5-V ⋄ Z"), KNOWN);
    assert_eq!(s.core().spent.known, 1);
}

/// A loop in which an extent changes stops compiling, and compiles again where it rests.
#[test]
fn a_graph_that_is_another_each_turn_is_not_compiled_for_ever() {
    const MOST: u64 = 60;
    let mut s = prepared();
    assert!(run(&mut s, "t←17500⍴'the quick fox ' ⋄ v←1+17500⍴V").is_empty());
    for step in ["∨/'the'⍷i↑t", "+/÷i↑v", "⌈/(-i)↑v", "+/i↓v"] {
        let turns = format!("z←{step} ⋄ w←⎕DL 0×z");
        let text = format!(":For i :In (8200+⍳600),600⍴8500 ⋄ {turns} ⋄ :EndFor");
        let (hits, misses) = looked(&mut s, &text);
        assert!(misses <= MOST && hits > 400, "{step}: {hits} hits, {misses} misses");
        let [last, alone] = ["z", &format!("i←8500 ⋄ {step}")].map(|code| s.value_of(code));
        assert_eq!(bits(&last.unwrap().unwrap()), bits(&alone.unwrap().unwrap()), "{step}");
    }
}

#[test]
fn computed_scalars_and_literals_that_no_rule_asks_about_are_parameters() {
    let mut s = prepared();
    assert_eq!(looked(&mut s, "k←÷8 ⋄ (k+1)+V×k"), NEW);
    for k in ["÷3", "2.75", "+/0.5 0.25", "*1"] {
        assert_eq!(looked(&mut s, &format!("k←{k} ⋄ R←(k+1)+V×k ⋄ R")), KNOWN);
        let (known, wanted) = (s.value_of("R[⍳900]"), s.value_of("k←k ⋄ (k+1)+k×V[⍳900]"));
        assert_eq!(bits(&known.unwrap().unwrap()), bits(&wanted.unwrap().unwrap()));
    }
    assert_eq!(looked(&mut s, "0.125+V×9.5"), KNOWN);
    // A sum that was computed on the device is a scalar like any other.
    assert_eq!(looked(&mut s, "m←+/÷V ⋄ m ⋄ m+V×m÷2"), (1, 1));
}

#[test]
fn sizes_types_operations_and_rules_make_another_plan() {
    let mut s = prepared();
    assert_eq!(looked(&mut s, "1.5+V*2"), NEW);
    // *2 is ×, *3 is not.
    assert_eq!(looked(&mut s, "1.5+V*3"), NEW);
    assert_eq!(looked(&mut s, "1.5+V*2"), KNOWN);
    assert_eq!(looked(&mut s, "1.5+V*4"), KNOWN);
    assert_eq!(looked(&mut s, "1.5-V*2"), NEW);
    assert_eq!(looked(&mut s, "1.5+(1↓V)*2"), NEW);
    assert_eq!(looked(&mut s, "1.5+(2↓V)*2"), NEW);
    assert_eq!(looked(&mut s, "1.5+I*2"), NEW);
    assert_eq!(looked(&mut s, "1.5+(V)*2"), KNOWN);
    assert_eq!(looked(&mut s, "V=2.5"), NEW);
    assert_eq!(looked(&mut s, "⎕CT←0 ⋄ V=2.5"), NEW);
    assert_eq!(looked(&mut s, "⎕CT←1E¯14 ⋄ V=2.5"), KNOWN);
}

#[test]
fn equal_scalars_are_one_node_only_where_they_are_equal() {
    let mut s = prepared();
    assert_eq!(looked(&mut s, "a←b←2.5 ⋄ R←(V×a)-W×b ⋄ R"), NEW);
    assert_eq!(looked(&mut s, "a←2.5 ⋄ b←3.5 ⋄ R←(V×a)-W×b ⋄ R"), NEW);
    let wanted = s.value_of("(2.5×V[⍳900])-3.5×W[⍳900]").unwrap().unwrap();
    assert_eq!(bits(&s.value_of("R[⍳900]").unwrap().unwrap()), bits(&wanted));
    assert_eq!(looked(&mut s, "a←b←7.5 ⋄ R←(V×a)-W×b ⋄ R"), KNOWN);
}

#[test]
fn switches_traces_and_a_clear_workspace_leave_no_stale_plan() {
    let mut s = prepared();
    let line = "+/V×2.5-W";
    assert_eq!(looked(&mut s, line), NEW);
    s.options().switch("fusion", false).unwrap();
    assert_eq!(looked(&mut s, line), NEW);
    assert!(s.core().spent.launches > 1);
    s.options().switch("fusion", true).unwrap();
    assert_eq!(looked(&mut s, line), KNOWN);
    assert_eq!(s.core().spent.launches, 1);
    // The story is told by the passes themselves.
    assert!(s.trace_of(Some(line)).unwrap().passes.len() > 5);
    assert_eq!(looked(&mut s, line), KNOWN);
    s.options().switch("bind", false).unwrap();
    assert_eq!(looked(&mut s, line), (0, 0));
    s.options().switch("bind", true).unwrap();
    s.restart();
    assert_eq!(s.core().plans().tally().plans, 0);
    run(&mut s, SETUP);
    assert_eq!(looked(&mut s, line), NEW);
}

#[test]
fn a_known_plan_fails_at_the_place_that_failed() {
    let mut s = prepared();
    assert!(run(&mut s, "Z←V ⋄ Z[3]←0 ⋄ Z").is_empty());
    let text = "1.5+÷V ⍝ good\n\n    1.5+÷Z";
    let failed = run(&mut s, text);
    let [f] = failed.as_slice() else { panic!("{failed:?}") };
    let at = text.chars().position(|c| c == 'Z').unwrap() as u32;
    assert_eq!((s.core().plans().tally().hits, f.name.as_str()), (1, "DOMAIN ERROR"));
    assert!(f.span.is_some_and(|(start, end)| start >= at - 1 && end <= at + 1), "{f:?}");
    assert!(f.report.contains("element 3"), "{}", f.report);
    // The same plan, elsewhere, by another name, where another element fails first.
    assert!(run(&mut s, "Y←V ⋄ Y[1400]←0 ⋄ Y").is_empty());
    let was = s.core().plans().tally();
    let failed = run(&mut s, "1.5+÷Y");
    let now = s.core().plans().tally();
    assert!(now.hits > was.hits && now.misses == was.misses, "{was:?} {now:?}");
    assert_eq!(failed[0].span, Some((4, 5)));
    assert!(
        failed[0].report.contains("element 1400") && failed[0].report.contains("1.5+÷Y"),
        "{}",
        failed[0].report
    );
}

#[test]
fn the_cache_is_bounded_and_keeps_what_was_used_last() {
    let mut s = prepared();
    assert_eq!(looked(&mut s, "2.5×V"), NEW);
    for n in 1_100..1_800 {
        assert_eq!(looked(&mut s, &format!("0.5+⍳{n}")), NEW);
        if n % 100 == 0 {
            assert_eq!(looked(&mut s, "2.5×V"), KNOWN);
        }
    }
    let tally = s.core().plans().tally();
    assert!(tally.plans <= 512 && tally.bytes <= 32 << 20, "{tally:?}");
    assert_eq!(looked(&mut s, "0.5+⍳1100"), NEW);
    assert_eq!(looked(&mut s, "0.5+⍳1799"), KNOWN);
}

/// A generation's reads at its own place and around it multiplied without end once.
#[test]
fn many_generations_are_planned_in_no_time() {
    let text = |n: usize| {
        let step = "s←r+(1⌽r)+¯1⌽r ⋄ s←s+(1⊖s)+¯1⊖s ⋄ r←(s=3)∨r∧s=4\n";
        format!("r←100 150⍴2>3|⍳15000\n{}", step.repeat(n))
    };
    let mut s = session();
    let lazy = s.values_of(&text(200), &["r"]).unwrap();
    assert!((200..=401).contains(&s.core().spent.launches), "{:?}", s.core().spent);
    let mut forced = session();
    let stepped = text(200).replace('\n', " ⋄ x←r[1;1]\n");
    let eager = forced.values_of(&stepped, &["r"]).unwrap();
    assert_eq!(bits(&lazy[0]), bits(&eager[0]));
}

#[test]
fn numbers_at_the_places_of_their_own_order_are_sorted_without_places() {
    let mut s = prepared();
    for line in ["V[⍋V]", "V[⍒V]", "{⍵[⍋⍵]}I", "I[⍒I]", "{⍵[⍋⍵]}⍤1⊢100 15⍴V"]
    {
        assert!(run(&mut s, &format!("R←{line} ⋄ R")).is_empty(), "{line}");
        assert_eq!(s.core().spent.launches, 1, "{line}");
    }
    // A grade that something else reads stays one, and its places are gone to.
    for line in ["{g←⍋⍵ ⋄ g,⍵[g]}V", "W[⍋V]", "V[2↓⍋V]", "V[⍋⍋V]"] {
        let whole = s.value_of(line).unwrap().unwrap();
        let parts = line.replace("⍋", "{x←⍋⍵ ⋄ _←⍴⎕←⊃x ⋄ x}");
        let parts = s.value_of(&parts).unwrap().unwrap();
        assert_eq!(bits(&whole), bits(&parts), "{line}");
    }
    // What is equal stays in the order of its places, so ¯0 and 0 are where the grade puts them.
    assert!(run(&mut s, "Z←15000⍴0 1,(-0×2÷3),¯1 ⋄ P←⍋Z").is_empty());
    let (one, two) = (s.value_of("Z[⍋Z]"), s.value_of("Z[P]"));
    assert_eq!(bits(&one.unwrap().unwrap()), bits(&two.unwrap().unwrap()));
}

/// A launch of a grade or a sort makes the neighbours that are read of it alone.
#[test]
fn only_what_is_read_of_an_order_is_looked_for() {
    for (line, written) in [
        ("⊃⍋W", 1),
        ("3↑⍒W", 3),
        ("(⍋V)[750]", 1),
        ("V[(⍋V)[750]]", 1),
        ("{⊃⍋⍵}⍤1⊢200 75⍴W", 200),
        ("{3↑⍋⍵}⍤1⊢200 75⍴W", 600),
        ("{⊃⌽⍒⍵}⍤1⊢200 75⍴W", 200),
        ("{2↑⍵[⍋⍵]}⍤1⊢200 75⍴W", 400),
        // All of it is read, or more than some of it.
        ("⌽⍋W", 15000),
        ("{10↑⍋⍵}⍤1⊢200 75⍴W", 15000),
    ] {
        let told = told(&[], &[SETUP, line]);
        let order = told.kernels.iter().find(|k| k.skeleton == "lib").unwrap();
        let [write] = &order.writes[..] else { panic!("{line}: one array of places") };
        let made: usize = told.buffers[write.buf as usize].shape.iter().product();
        assert_eq!(made, written, "{line}");
    }
}

#[test]
fn a_loop_whose_array_grows_by_an_item_it_looked_at_compiles_no_plan_for_every_length() {
    let mut s = prepared();
    for (line, value) in [
        ("{1=⊃⌽⍵:⍵ ⋄ ∇⍵,¯1+⊃⌽⍵}2000", "⌽⍳2000"),
        ("{⍵,1+⊃⌽⍵}⍣2000⊢,1", "⍳2001"),
        ("{⍵,⍨2+⊃¯1⌽1⌽⍵}⍣2000⊢,1", "⌽¯1+2×⍳2001"),
    ] {
        let (_, misses) = looked(&mut s, &format!("r←{line} ⋄ r≡{value}"));
        assert!(misses < 10, "{line}: {misses} plans");
        let same = s.value_of(&format!("r≡{value}")).unwrap().unwrap();
        assert_eq!(same.number_scalar(), Some(1.0), "{line}");
    }
}

/// Lines whose launches hold numbers that lie in memory: shared ones, exponents, divisors, results
/// of launches before them; and one of each kind of launch.
const AGAIN: &[&str] = &[
    "V×15000⍴K",
    "V*15000⍴K",
    "V÷⌈/V",
    "(+/V×W)÷≢V",
    "+/V×15000⍴K",
    "+/V<15000⍴K×700",
    "⌊V÷15000⍴N",
    "(15000⍴N)|I",
    "+\\V×15000⍴K",
    "(∨\\B)∧⌽∨\\⌽B",
    "(+\\B)×⌽+\\⌽B",
    "(V>⌈/W÷2)/V",
    "V[⍋W]",
    "{⍵+(15000⍴K)×⍵}⍣3⊢V",
    "7○V÷15000⍴K×400",
    "+/30 50⍴V",
    "⌈⌿300 50⍴V×15000⍴K",
    "(30 50⍴V)+.×50 4⍴W",
    "(300 5⍴V)+.×5 4⍴W",
    "2/2⌿30 50⍴V",
    "V×1,(14998⍴N,2),1",
    "⍉(9⍴2)⊤I",
    "V×(I>15000⍴N×100)+15000⍴K",
];

#[test]
fn a_line_that_runs_again_is_as_if_it_had_never_run() {
    let given = |turn: usize| {
        let (step, every) = (turn as f64 + 0.5, turn + 2);
        format!(
            "V←{step}×⍳15000 ⋄ W←⌽V-{turn} ⋄ I←{turn}⌽⍳15000 ⋄ K←,{turn}+0.25 ⋄ N←,{every} ⋄ \
             B←0={every}00|⍳15000 ⋄ V W I K N B"
        )
    };
    let mut old = prepared();
    for turn in [0, 1, 1, 2, 3, 0] {
        let mut new = prepared();
        for s in [&mut old, &mut new] {
            assert!(run(s, &given(turn)).is_empty());
        }
        for line in AGAIN {
            let values = [&mut old, &mut new].map(|s| s.value_of(line).unwrap().unwrap());
            assert_eq!(bits(&values[0]), bits(&values[1]), "{line}, turn {turn}");
        }
    }
}

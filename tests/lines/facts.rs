//! Facts: what a sentence tells is so in the final plan, and the switch that it names changes it.

use crate::support::{told, traced};
use aplomb_ground::trace::{DecisionRecord, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// Data, and lines that take all sorts of choices on them.
pub const LINES: &[(&str, &str)] = &[
    ("x←0.5×⍳100000 ⋄ z←*-x×x", "(+/z)÷⌈/z"),
    ("a←3000⍴3.5 1 2", "+/1+a[⍋a]"),
    ("M←400 500⍴÷⍳997 ⋄ v←÷⍳500", "+/M+.×v"),
    ("M←400 500⍴÷⍳997 ⋄ v←÷⍳400", "(⍉M)+.×v"),
    ("M←640 80⍴÷⍳997 ⋄ N←80 480⍴÷⍳991", "M+.×N"),
    ("A←÷⍳2000", "(1↓A)-¯1↓A"),
    ("A←200 300⍴÷⍳997", "(1⌽A)+(¯1⌽A)+(1⊖A)+¯1⊖A"),
    ("A←200 300⍴÷⍳997", "{+/,⍵}⌺3 3⊢A"),
    ("A←5000⍴÷⍳997 ⋄ B←A>0.01", "(+/B/A)÷+/B"),
    ("A←300 400⍴÷⍳997 ⋄ e←*A-[1]⌈/A", "e÷[1]+/e"),
    ("A←÷⍳3000", "+\\A×2"),
    ("A←÷⍳3000 ⋄ I←3000-⍳500", "1+A[I]×2"),
    ("x←÷⍳1000 ⋄ y←÷⍳1200", "+/|x∘.-y"),
    ("A←÷⍳1000", "{(+/A)+⍵}¨A"),
    ("A←÷⍳40 ⋄ B←÷⍳1000", "{+/⍵+A}¨B"),
    ("A←10 10⍴÷⍳100", "1+100 100⍴A×2"),
    ("A←100 100⍴÷⍳997 ⋄ B←100 100⍴÷⍳991", "300 300⍴A+B×⍟A"),
    ("A←1+÷⍳4000", "(⍟A)-+/⍟A"),
    ("A←1+÷⍳4000", "⌈/(⍟A)-+/⍟A"),
    ("A←250 260⍴÷⍳997", "1+⍉A"),
    ("A←÷⍳2000", "(⌽A)+⌽1+⌽A"),
    ("A←÷⍳2000", "(1+A)×(1+A)÷2+A"),
    ("A←÷⍳4000", "{(+/⍵)÷≢⍵}2×⌽A"),
];

/// A line's choices, by what each is about: its node by its meaning, its kind and its reason.
fn choices(trace: &Trace) -> BTreeSet<(String, String, String, String)> {
    let meant = |d: &DecisionRecord| trace.nodes[d.node as usize].h.clone();
    let one = |d: &DecisionRecord| (meant(d), d.what.clone(), d.chosen.clone(), d.reason.clone());
    trace.decisions.iter().map(one).collect()
}

#[test]
fn a_switch_that_a_sentence_names_changes_what_it_tells() {
    let (mut looked, mut wrong) = (0, Vec::new());
    for (data, line) in LINES {
        let trace = told(&[], &[data, line]);
        let mut without: BTreeMap<&str, BTreeSet<_>> = BTreeMap::new();
        for d in trace.decisions.iter().filter(|d| !d.switch.is_empty()) {
            looked += 1;
            let off = || choices(&told(&[&format!("off={}", d.switch)], &[data, line]));
            let own = without.entry(d.switch.as_str()).or_insert_with(off);
            let meant = trace.nodes[d.node as usize].h.clone();
            if own.contains(&(meant, d.what.clone(), d.chosen.clone(), d.reason.clone())) {
                wrong.push(format!("{line}: --off {} and still: {}", d.switch, d.text));
            }
        }
    }
    assert!(looked > 80, "{looked} looked at");
    assert!(wrong.is_empty(), "{} of {looked}: {wrong:#?}", wrong.len());
}

#[test]
fn what_is_pushed_or_kept_near_is_so_in_the_plan() {
    for (data, line) in LINES {
        let trace = told(&[], &[data, line]);
        let written: BTreeSet<u32> =
            trace.buffers.iter().filter(|b| b.role != "input").map(|b| b.node).collect();
        for d in &trace.decisions {
            let is_written = written.contains(&d.node);
            // One that grows is about what it reads.
            if d.chosen == "push" && d.reason != "grows" || d.chosen == "inline" {
                assert!(!is_written, "{line}: {}", d.text);
            }
            if d.what != "place" || d.reason != "reuse" {
                continue;
            }
            // Where the array is read from is where the reads say.
            let of = |buf: u32| trace.buffers[buf as usize].node == d.node;
            let reads = trace.kernels.iter().flat_map(|k| &k.reads).filter(|r| of(r.buf));
            let spaces: BTreeSet<&str> = reads.map(|r| r.space.as_str()).collect();
            assert!(spaces.contains(d.chosen.as_str()), "{line}: {} from {spaces:?}", d.text);
        }
    }
}

/// A node is judged before those below it are: what it takes to compute it again is what is not
/// written, and not all that it was made of.
#[test]
fn what_computing_again_takes_is_told_by_what_the_plan_writes() {
    let mut s = crate::support::session();
    let step = "y←0.5×y+1⌽y";
    let data = "y←200000⍴÷⍳997 ⋄ _←⎕DR y";
    let lines = [data, step, step, step, step, step, step, "+/y"];
    let trace = traced(&mut s, &lines);
    let again = trace.decisions.iter().filter(|d| d.what == "keep" && d.reason == "work");
    let costs: BTreeSet<u64> = again.map(|d| d.alt[0].cost.flops).collect();
    assert_eq!(costs, BTreeSet::from([400_000]), "{:#?}", trace.decisions);
}

/// Values that are asked for together, of which one reads another.
const TOGETHER: [&str; 5] = ["y(⌽y)", "(⌽y)y", "y(3⌽y)(⌽y)", "y(y-⌽y)", "(y-1⌽y)y(y×¯1⌽y)"];

/// A small value that is asked for and read elsewhere is no launch behind its own: it is computed
/// again there. A large one is read.
#[test]
fn a_small_value_that_is_asked_for_is_not_waited_for() {
    for (items, launches) in [(2, 1), (40, 1), (100_000, 2)] {
        for line in TOGETHER {
            let data = format!("x←÷⍳{items} ⋄ _←⎕DR x");
            let lines = [data.as_str(), "y←1+x×2", line];
            let trace = told(&[], &lines);
            assert_eq!(trace.kernels.len(), launches, "{items}, {line}");
            let off = told(&["off=settle"], &lines);
            assert_eq!(trace.result, off.result, "{items}, {line}");
        }
    }
}

/// Items that are assigned are told by the place where that is written.
#[test]
fn assigned_items_are_named_by_their_assignment() {
    let data = "d←40000⍴⍳365 ⋄ x←÷⍳40000 ⋄ _←⎕DR¨d x";
    let trace = told(&[], &[data, "{s←365⍴0 ⋄ s[d]+←x ⋄ s}⍬"]);
    let k = trace.kernels.last().expect("a launch");
    assert!(k.name.contains("[d]+←x"), "{}", k.name);
}

/// The form of a product is the one that takes less: a smaller one is never told to take much
/// longer than a larger one. From some tiles on each is told with its sizes and loops.
#[test]
fn a_product_goes_by_tiles_as_soon_as_that_takes_less() {
    let sides = [32, 64, 96, 128, 160, 192, 256, 320, 384, 512];
    let of = |n: usize| {
        let data = format!("A←{n} {n}⍴÷⍳997 ⋄ B←{n} {n}⍴÷⍳991 ⋄ _←⎕DR¨A B");
        told(&[], &[&data, "A+.×B"]).kernels.remove(0)
    };
    let all: Vec<_> = sides.into_iter().map(of).collect();
    for pair in all.windows(2) {
        let [small, large] = pair else { panic!("two of them") };
        assert!(small.est.us <= 1.3 * large.est.us, "{:?} {:?}", small.est, large.est);
    }
    for k in all.iter().filter(|k| k.domain[0] > 128) {
        assert_eq!(k.form, "tiles", "{:?}", k.domain);
        assert!(k.tuning.len() >= 20 && k.schedule.len() == 8 && k.launch.smem > 0);
        assert!(k.cuda.as_ref().is_some_and(|text| text.text.contains("__shared__")));
        assert!(k.reads.iter().all(|r| r.space == "shared"), "{:?}", k.reads);
    }
}

/// BAS-13, BAS-22: no order of the loops of a product coalesces, so by the rule of 2008 it is
/// tiled whatever its size is.
#[test]
fn bas_22_the_papers_product_is_tiled() {
    for shapes in [[24, 32, 20], [2, 7, 3], [33, 5, 64], [7, 2, 13], [64, 64, 64]] {
        let [rows, deep, columns] = shapes;
        let data = format!("A←{rows} {deep}⍴÷⍳997 ⋄ B←{deep} {columns}⍴÷⍳991 ⋄ _←⎕DR¨A B");
        let lines = [data.as_str(), "A+.×B"];
        let trace = told(&["passes=bas2008"], &lines);
        let k = &trace.kernels[0];
        if k.skeleton == "reduce" {
            assert_eq!(k.form, "tiles", "{shapes:?}");
            assert!(k.candidates.is_empty() && k.reads.iter().all(|r| r.space == "shared"));
            let off = told(&["passes=bas2008", "off=tile"], &lines);
            assert_ne!(off.kernels[0].form, "tiles", "{shapes:?}");
        }
        assert_eq!(trace.result, told(&[], &lines).result, "{shapes:?}");
    }
}

/// Work of the interpreter at a place of which launches computed a part names them, and of no other
/// place.
#[test]
fn work_of_the_interpreter_names_the_launches_of_its_place() {
    let data = "x←0.5×7|⍳5000 ⋄ k←5000⍴3 1 4 1 5 9 2 6 ⋄ t←5000⍴'abc de '";
    let rows = [
        ("+/{+/⍵}¨(x<2)⊂x", "{+/⍵}¨", true),
        ("+/,{+/⍵}⌸k", "{+/⍵}⌸", true),
        ("+/{+/⍳⍵}¨k", "{+/⍳⍵}¨", true),
        ("≢' '(≠⊆⊢)t", "(≠⊆⊢)", true),
        ("+/x×≢∪k", "∪", false),
        ("+/,{≢⍵}⌸k", "{≢⍵}⌸", false),
    ];
    for (line, place, launched) in rows {
        let t = traced(&mut crate::support::session(), &[data, "x k t", line]);
        let of =
            |d: &&aplomb_ground::trace::Diagnostic| d.text.starts_with(&format!("{place} ran"));
        let told = t.diagnostics.iter().find(of);
        let told = told.unwrap_or_else(|| panic!("{line}: {:?}", t.diagnostics));
        assert!(told.text.contains(" ran in the interpreter"), "{}", told.text);
        let named = told.text.split_once(" of it: ").map(|(_, all)| all);
        assert_eq!(named.is_some(), launched, "{line}: {}", told.text);
        for name in named.unwrap_or("").split(' ').filter(|n| !n.is_empty()) {
            assert!(t.kernels.iter().any(|k| format!("k{}", k.id) == name), "{line}: {name}");
        }
    }
}

/// The host's work for a launch that cannot: each of its rows names the place, what there was
/// to do, and why; of a launch that gave up, that launch too.
#[test]
fn work_of_the_host_is_told_of_complex_numbers_and_of_loops_that_go_on() {
    let data = "c←1J1×⍳4000 ⋄ v←⍳2000 ⋄ n←1100⍴⍳3 ⋄ ≢c v n";
    let complex = "a launch has real numbers";
    let rows: &[(&str, &[(&str, usize, &str)])] = &[
        ("+/c", &[("+/", 4000, complex)]),
        ("≢c×c", &[("×", 4000, complex)]),
        ("≢⌽c", &[("⌽", 4000, complex)]),
        ("+/,c∘.×2 3", &[("+/", 8000, complex)]),
        ("+/|c", &[("|", 4000, complex)]),
        ("≢2500↑c", &[("↑", 2500, complex)]),
        ("+/3↑c", &[("↑", 3, complex), ("+/", 3, complex)]),
        ("+/(¯5+v)*0.5", &[("+/(¯5+v)*0.5", 2000, complex)]),
        ("q←¯8○v ⋄ ≢q", &[("○", 2000, complex)]),
        (
            "{⍵+1}⍣{⍺≥70000}¨n",
            &[("{⍵+1}⍣{⍺≥70000}¨n", 1100, "its loop goes on where a launch must end")],
        ),
    ];
    for (line, wanted) in rows {
        let t = traced(&mut crate::support::session(), &[data, line]);
        let own = t.diagnostics.iter().filter(|d| d.code == "W-interpreted");
        let told: Vec<&str> = own.map(|d| d.text.as_str()).collect();
        let says = wanted.iter().map(|(place, elements, why)| {
            format!("{place} ran in the interpreter: {elements} elements; {why}")
        });
        let says: Vec<String> = says.collect();
        assert_eq!(told.len(), says.len(), "{line}: {told:?}");
        for (told, says) in told.iter().zip(&says) {
            let rest = told.strip_prefix(says.as_str());
            let rest = rest.unwrap_or_else(|| panic!("{line}: {told} for {says}"));
            // A launch that gave up had begun, and is named.
            let gave_up =
                t.diagnostics.iter().any(|d| matches!(&*d.code, "W-complex" | "W-rounds"));
            assert_eq!(rest.contains("; the launch of it: k0"), gave_up, "{line}: {told}");
        }
        assert!(t.diagnostics.iter().all(|d| d.code != "W-interpreted" || d.ms.is_some()));
    }
}

/// A node is told to be the value where it is one; after a pass in between, nothing is told to be
/// off that is still to come; what would be computed twice is stored by the row that says so.
#[test]
fn what_is_told_of_a_node_is_so_in_its_pass() {
    for (data, line) in LINES {
        let t = told(&[], &[data, line]);
        let last = t.passes.last().expect("a pass");
        for node in &t.nodes {
            let says = aplomb_viz::why::node(&t, &format!("n{}", node.id), 9_999).expect("a node");
            if says.contains("  the value itself") {
                let id = says.split([' ', ':']).next().and_then(|n| n[1..].parse::<u32>().ok());
                assert!(id.is_some_and(|id| last.roots.contains(&id)), "{line}: {says}");
            }
        }
        for b in t.passes.iter().flat_map(|p| &p.breaks) {
            let off = b.reason.strip_prefix("off:").unwrap_or("");
            assert!(!t.config.passes.iter().any(|p| p == off), "{line}: {b:?}");
        }
        for d in t.decisions.iter().filter(|d| d.what == "keep" && d.reason == "work") {
            assert!(["ACC-17", "ACL-39"].contains(&d.seed.as_str()), "{line}: {d:?}");
        }
    }
}

/// Axes are counted from 1 wherever they are told: in the sentences and in the code of the CPU.
#[test]
fn axes_are_counted_from_one() {
    for (line, says, code) in [
        ("+⌿M", "folds axis 1 ", "folding axis 1"),
        ("+/M", "folds axis 2 ", "folding axis 2"),
        ("+⍀M", "scans axis 1 ", "scanning axis 1"),
        ("M[;I]", "maps ", "axis 2 by 1×"),
        ("M[I;]", "maps ", "axis 1 by 1×"),
    ] {
        let data = "M←300 400⍴0.5×⍳120000 ⋄ I←2000⍴7 1 30";
        let t = told(&[], &[data, "M I", line]);
        let summary = aplomb_viz::why::summary(&t, 999);
        assert!(summary.contains(says), "{line}: {summary}");
        let last = t.kernels.last().expect("a launch");
        let listing = last.cpu.as_deref().expect("its code");
        assert!(listing.contains(code), "{line}: {listing}");
    }
}

/// A function of each of many items that runs for all of them at once says so.
#[test]
fn items_that_go_together_are_told_so() {
    let data = "B←100000⍴1,9⍴0 ⋄ x←0.001×⍳100000 ⋄ W←B⊂x ⋄ G←(0=3|⍳10000)/W";
    for (line, why) in [
        ("(+/÷≢)¨B⊂x", "its items are taken together, a step of the function at a time"),
        ("{(+/⍵)÷≢⍵}¨W", "its items are taken together"),
    ] {
        let t = told(&[], &[data, "B x W G", line]);
        let says: Vec<&str> = t.diagnostics.iter().map(|d| d.text.as_str()).collect();
        assert!(says.iter().any(|text| text.contains(why)), "{line}: {says:?}");
        assert!(says.iter().all(|text| !text.contains("one by one")), "{line}: {says:?}");
    }
}

/// A power by a number that is known is estimated as what it runs as: a square as a product, in a
/// loop too.
#[test]
fn a_power_by_a_known_number_is_estimated_as_its_products() {
    let data = "x←100000⍴0.5÷1+⍳997";
    let us = |line: &str| {
        let t = told(&[], &[data, "x", line]);
        t.kernels.iter().map(|k| k.est.cpu_us).sum::<f64>()
    };
    for (power, products, most) in [
        ("{⍵-⍵*2}⍣40⊢x", "{⍵-⍵×⍵}⍣40⊢x", 1.01),
        ("{⍵-⍵*3}⍣40⊢x", "{⍵-⍵×⍵×⍵}⍣40⊢x", 1.01),
        ("1-x*2", "1-x×x", 1.01),
        ("1-x*3", "1-x×x×x", 1.3),
        ("1-x*¯1", "1-÷x", 1.5),
    ] {
        let (own, other) = (us(power), us(products));
        assert!(own <= most * other && own >= other / most, "{power} {own} µs, {other}");
    }
    assert!(us("{⍵-⍵*2.5}⍣40⊢x") > 4.0 * us("{⍵-⍵*2}⍣40⊢x"));
}

/// A value that was written on an earlier line and may fail is computed before anything that
/// follows is seen, and told so: nobody asked for it.
#[test]
fn what_may_fail_and_was_written_before_is_told_so() {
    let data = "x←÷⍳5000 ⋄ _←⎕DR x";
    for (before, line, checked) in [
        ("y←⍟x-0.0001", "+/x*2", true),
        ("y←x-0.0001", "+/x*2", false),
        ("y←⍟x-0.0001", "+/y", false),
    ] {
        let t = traced(&mut crate::support::session(), &[data, before, line]);
        let of = |reason: &str| t.decisions.iter().filter(|d| d.reason == reason).count();
        assert_eq!(of("checked"), usize::from(checked), "{line}: {:#?}", t.decisions);
        assert_eq!(of("root"), 1, "{line}: {:#?}", t.decisions);
        let says = aplomb_viz::why::summary(&t, 999);
        assert_eq!(says.contains("may fail, so it is computed here"), checked, "{says}");
    }
}

/// A launch has one occupancy: that of the size of its tiles, where it has some.
#[test]
fn a_launch_has_the_occupancy_of_its_tiles() {
    for n in [136, 160, 200, 512, 1000] {
        let data = format!("M←{n} {n}⍴÷⍳997 ⋄ N←{n} {n}⍴÷⍳991 ⋄ _←⎕DR¨M N");
        let t = told(&[], &[&data, "M+.×N"]);
        let k = &t.kernels[0];
        let row = k.tuning.iter().find(|row| row.chosen).expect("the size of its text");
        assert_eq!(k.occ, Some(row.occ), "{n}: {:?}", k.fit);
    }
}

/// The reason of what is written first is how it is read: an order or a search takes all of it, a
/// gather some places that values tell.
#[test]
fn what_is_written_first_says_who_reads_it_so() {
    let (all, some) = ("takes all of", "at places that only values tell");
    for (line, says, not) in [
        ("1+⍋2×⍳5000", all, some),
        ("1+(2×⍳5000)⍳3+⍳4000", all, some),
        ("1+(2×⍳5000)[5000⍴3 1 4]", some, all),
    ] {
        let t = traced(&mut crate::support::session(), &[line]);
        let texts: Vec<&str> = t.decisions.iter().map(|d| d.text.as_str()).collect();
        assert!(texts.iter().any(|text| text.contains(says)), "{line}: {texts:#?}");
        assert!(!texts.iter().any(|text| text.contains(not)), "{line}: {texts:#?}");
    }
}

//! Accelerator: Tarditi, Puri, Oglesby, ASPLOS 2006.

use super::page::{self, agreed, prepared, row, traced, value};
use super::{corpus, made, passes};
use crate::support::{Dice, bits, breaks, scaled, told};
use aplomb_ground::trace::Trace;
use aplomb_kernel::session::Session;
use aplomb_language::table::{Does, Meaning, prims};
use aplomb_values::prim::op::{OPS, Op};
use std::collections::BTreeSet;

/// Lines owned, as the page's functions take them.
fn all<'a>(setup: &'a [String], line: &'a str) -> Vec<&'a str> {
    setup.iter().map(String::as_str).chain([line]).collect()
}

#[test]
fn acl_01_an_array_is_a_value() {
    row("ACL-01");
}

#[test]
fn acl_03_functions_take_any_rank() {
    let lines =
        ["1+R", "R×R-1", "⌽R", "⊖R", "⍉R", "1⌽1+R", "+/R", "⌈⌿R", "+/⌽2×R", "1+⍉R", "(⍉R)-⌽⍉R"];
    for rank in 0..=6 {
        for k in 0..scaled(3) {
            let mut dice = Dice((rank * 100 + k) as u64);
            let shape: String = (0..rank).map(|_| format!("{} ", dice.roll(4))).collect();
            let setup = [format!("R←(1↓0 {shape})⍴0.5×⍳99"), "R".into()];
            for line in lines {
                let trace = agreed(&all(&setup, line), &["--off push-down"]);
                assert!(trace.kernels.len() <= 1, "rank {rank}: {line}");
            }
        }
    }
}

#[test]
fn acl_04_each_primitive_has_a_class_and_a_node() {
    let out = assert_cmd::Command::cargo_bin("aplomb")
        .expect("the program")
        .args(["prims", "--json"])
        .output();
    let text = out.expect("rows").stdout;
    let json: serde_json::Value = serde_json::from_slice(&text).expect("json");
    let meanings: Vec<&serde_json::Value> = json
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|p| p["meanings"].as_array())
        .flatten()
        .collect();
    // What looks at values, at nested items or at texts becomes no node: these and no others.
    let none: BTreeSet<(&str, &str)> = meanings
        .iter()
        .filter(|m| m["node"].is_null())
        .filter_map(|m| Some((m["name"].as_str()?, m["use"].as_str()?)))
        .collect();
    let known = [
        ("unique mask", "monadic"),
        ("unique", "monadic"),
        ("interval index", "dyadic"),
        ("find", "dyadic"),
        ("grade up", "dyadic"),
        ("grade down", "dyadic"),
        ("expand", "dyadic"),
        ("expand first", "dyadic"),
        ("tally", "monadic"),
        ("depth", "monadic"),
        ("match", "dyadic"),
        ("not match", "dyadic"),
        ("enclose", "monadic"),
        ("partitioned enclose", "dyadic"),
        ("nest", "monadic"),
        ("partition", "dyadic"),
        ("enlist", "monadic"),
        ("first", "monadic"),
        ("pick", "dyadic"),
        ("materialise", "monadic"),
        ("format", "monadic"),
        ("format", "dyadic"),
        ("execute", "monadic"),
        ("matrix inverse", "monadic"),
        ("matrix divide", "dyadic"),
        ("at", "operator"),
        ("variant", "operator"),
        ("i-beam", "operator"),
    ];
    assert_eq!(none, BTreeSet::from(known));
    for m in &meanings {
        assert!(m["class"].is_string() && m.get("node").is_some(), "{m}");
    }
    // Of those that have one, these lines are recorded as it: a list of up to 16 would be compared.
    for (line, kind) in [
        ("⍳9", "iota"),
        ("A⍳B", "lib"),
        ("A∊B", "lib"),
        ("A~B", "lib"),
        ("A∪B", "lib"),
        ("A∩B", "lib"),
        ("⍋A", "lib"),
        ("⍒A", "lib"),
        ("⍸A>3", "compact"),
        ("(A>3)/B", "compact"),
        ("A[B]", "gather"),
        ("1+A,B", "cat"),
        ("⌽A", "transform"),
        ("+/A", "reduce"),
        ("+\\A", "scan"),
        ("+/¨(1=2|⍳≢B)⊂B", "segmented"),
        ("{+/,⍵}⌺3⊢A", "transform"),
        ("{⍵÷2}⍣3⊢A", "loop"),
        ("{1+⍵×2}¨A", "map"),
    ] {
        let trace = traced(&["A←21-⍳20 ⋄ B←1+20|7×⍳20", "A B", line], "").expect(line);
        assert!(trace.nodes.iter().any(|n| n.uses > 0 && n.kind == kind), "{line}: {kind}");
    }
    let classes: BTreeSet<&str> = meanings.iter().filter_map(|m| m["class"].as_str()).collect();
    for class in [
        "construction",
        "conversion",
        "element-wise",
        "reduction",
        "transformation",
        "linear algebra",
    ] {
        assert!(classes.contains(class), "{class} is no class of {classes:?}");
    }
    let node =
        |name: &str| meanings.iter().find(|m| m["name"] == name).map(|m| (&m["class"], &m["node"]));
    for (name, class, kind) in [
        ("add", "element-wise", "map"),
        ("reverse", "transformation", "transform"),
        ("reduce", "reduction", "reduce"),
        ("index generator", "construction", "iota"),
    ] {
        let is = node(name).unwrap_or_else(|| panic!("no meaning is called {name}"));
        assert_eq!((is.0.as_str(), is.1.as_str()), (Some(class), Some(kind)), "{name}");
    }
}

#[test]
fn acl_05_element_wise_functions_of_every_type_and_extension() {
    row("ACL-05");
    // Values in every function's domain or in its refusal: both ways of computing must agree.
    let data = "b←1 0 1 1 ⋄ i←3 ¯2 7 1 ⋄ f←0.5 2.25 ¯1.5 3 ⋄ c←'abca' ⋄ m←2 4⍴0.5×⍳8 ⋄ n←2 4⍴⍳8";
    let scalar =
        |m: &Option<Meaning>| m.as_ref().is_some_and(|m| matches!(m.does, Does::Scalar(_)));
    let setup = [data, "b i f c m n"];
    for p in prims().filter(|p| scalar(&p.dyadic)) {
        let pairs = [
            ("b", "b"),
            ("i", "i"),
            ("f", "i"),
            ("i", "f"),
            ("c", "c"),
            ("2", "f"),
            ("m", "n"),
            ("m", "0.5"),
        ];
        for (x, y) in pairs {
            same(&setup, &format!("{x}{}{y}", p.glyph));
        }
    }
    for p in prims().filter(|p| scalar(&p.monadic)) {
        for y in ["b", "i", "f", "m", "n"] {
            same(&setup, &format!("{}{y}", p.glyph));
        }
    }
}

/// Value or error, at once and recorded.
fn same(setup: &[&str], line: &str) {
    let lines = [setup, &[line]].concat();
    assert_eq!(value(&lines, "", true), value(&lines, "", false), "{line}");
}

#[test]
fn acl_06_reductions_along_every_axis() {
    row("ACL-06");
}

#[test]
fn acl_07_a_reduction_ends_on_the_device() {
    row("ACL-07");
}

#[test]
fn acl_08_a_section_is_a_read() {
    row("ACL-08");
}

#[test]
fn acl_09_shifts_in_three_modes() {
    row("ACL-09");
}

#[test]
fn acl_10_rotations() {
    row("ACL-10");
}

#[test]
fn acl_11_a_tile_reads_with_a_remainder() {
    row("ACL-11");
}

#[test]
fn acl_12_cyclic_padding() {
    row("ACL-12");
}

#[test]
fn acl_13_padding_with_a_value() {
    row("ACL-13");
}

#[test]
fn acl_14_transposing() {
    row("ACL-14");
}

#[test]
fn acl_15_axes_come_and_go_without_a_copy() {
    row("ACL-15");
}

#[test]
fn acl_16_the_mode_of_a_read_is_told() {
    row("ACL-16");
}

#[test]
fn acl_17_reads_go_through_functions() {
    row("ACL-17");
}

/// By every function of the table and every shift: what wraps or is clamped at the ends is what its
/// arguments are so, in one launch, also by the rules of 2006.
#[test]
fn acl_17_wrap_and_clamp_distribute_over_every_function() {
    let data = "x←2+7⍴5 1 4 2 0 3 ⋄ y←1+7⍴2 5 0 3 1 ⋄ b←7⍴1 1 0 ⋄ c←7⍴0 1";
    let mut looked = 0;
    for row in OPS {
        let (x, y) = match row.glyph {
            "⍲" | "⍱" | "~" => ("b", "c"),
            _ => ("x", "y"),
        };
        let of = |left: &str, right: &str| match (row.op, row.arity) {
            (Op::Sqrt, _) => format!("({right})*0.5"),
            (_, 1) => format!("{} {right}", row.glyph),
            _ => format!("({left}){}{right}", row.glyph),
        };
        for mode in ["wrap", "clamp"] {
            for shift in ["1", "¯3", "9"] {
                let moved = |of: &str| format!("{shift}(⌽⍠'{mode}'){of}");
                let (whole, parts) = (moved(&of(x, y)), of(&moved(x), &moved(y)));
                let told = |how: &[&str], line: &str| told(how, &[data, "x y b c", line]);
                let sha = |t: &Trace| t.result.as_ref().map(|r| r.sha.clone());
                let want = told(&[], &parts);
                for how in [&[][..], &["strict"]] {
                    let t = told(how, &whole);
                    // What may fail for an item that is not read is no question of this rule.
                    let apart = breaks(&t);
                    assert!(apart.iter().all(|why| why == "may-fail"), "{whole} {how:?}");
                    assert_eq!(t.kernels.len(), 1 + apart.len(), "{whole} {how:?}");
                    assert_eq!(sha(&t), sha(&want), "{whole} {how:?}");
                    looked += 1;
                }
            }
        }
    }
    assert!(looked >= 12 * 30, "{looked}");
}

#[test]
fn acl_19_a_gather_fuses() {
    row("ACL-19");
}

#[test]
fn acl_20_indices_are_no_array() {
    row("ACL-20");
    let mut s = prepared(&[], "", false).expect("a session");
    let was = s.core().budget.used();
    page::run(&mut s, "+/⍳1000000000").expect("a sum");
    assert_eq!(s.core().spent.launches, 1);
    // That one megabyte is enough for a program is shown where it has a process of its own: what a
    // process takes is counted in all its threads (`tests/program/bounded.rs`).
    assert!(s.core().budget.used() < was + (1 << 20));
}

#[test]
fn acl_22_no_noun_of_a_device_is_in_the_language() {
    let nouns = ["block", "grid", "warp", "thread", "shared memory", "GPU", "CUDA"];
    for p in prims() {
        for m in [&p.monadic, &p.dyadic, &p.operator].into_iter().flatten() {
            let said = format!("{} {} {}", m.name, m.help, p.names.join(" "));
            let words: Vec<&str> = said.split(|c: char| !c.is_alphanumeric()).collect();
            let found =
                nouns.iter().find(|n| words.contains(n) || n.contains(' ') && said.contains(**n));
            assert!(found.is_none(), "{}: {found:?} in {said}", p.glyph);
        }
    }
}

#[test]
fn acl_23_what_was_read_does_not_change_with_its_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.npy").display().to_string();
    let mut s = prepared(
        &[&format!("(0.5×⍳2000)⎕NPY'{file}'"), &format!("x←⎕NPY'{file}' ⋄ y←1+x")],
        "",
        false,
    )
    .expect("an array");
    page::run(&mut s, &format!("(2000⍴9)⎕NPY'{file}' 1")).expect("another");
    let is =
        |s: &mut Session, line: &str| bits(&s.value_of(line).expect("a value").expect("an array"));
    assert_eq!(is(&mut s, "x"), is(&mut s, "0.5×⍳2000"));
    assert_eq!(is(&mut s, "y"), is(&mut s, "1+0.5×⍳2000"));
}

#[test]
fn acl_24_nothing_runs_before_it_is_looked_at() {
    row("ACL-24");
    let mut s = prepared(&["X←0.5×⍳10000", "+/X", "X"], "", false).expect("an array");
    page::run(&mut s, "Y←2×X+1").expect("a name");
    assert_eq!(s.core().spent.launches, 0);
    page::run(&mut s, "Y").expect("a value");
    assert_eq!(s.core().spent.launches, 1);
    page::run(&mut s, "Y").expect("a value");
    assert_eq!(s.core().spent.launches, 0);
}

#[test]
fn acl_25_what_has_no_name_left_is_freed() {
    let mut s = prepared(&["1"], "", false).expect("a session");
    // The command's part is the program's: it asks for this.
    let run = |s: &mut Session, line: &str| match line.strip_prefix(")erase ") {
        Some(name) => assert!(s.interp().erase(name), "{name}"),
        None => page::run(s, line).expect("a line"),
    };
    // What the last two lines forced is kept to tell their story.
    let used = |s: &mut Session| {
        ["1+0.5×⍳2000", "2+0.5×⍳2000"].iter().for_each(|line| page::run(s, line).expect("a line"));
        s.core().budget.used()
    };
    let empty = used(&mut s);
    for frees in ["⎕EX'X'", ")erase X", "X←0", "X←1+X ⋄ X←0"] {
        run(&mut s, "X←0.5×⍳1000000 ⋄ X");
        assert!(used(&mut s) >= empty + 8_000_000, "{frees}");
        run(&mut s, frees);
        assert!(used(&mut s) < empty + 100_000, "{frees} frees nothing");
    }
    page::run(&mut s, "{x←0.5×⍳1000000 ⋄ y←⌽x ⋄ ⊃x+y}0").expect("a scope");
    assert!(used(&mut s) < empty + 100_000);
    // The traces tell it.
    s.core().set_told(true);
    let mut told = |lines: &[&str]| -> f64 {
        lines.iter().for_each(|line| run(&mut s, line));
        let stories = s.core().take_stories();
        stories.last().and_then(|t| t.times.get("used_bytes").copied()).expect("its bytes")
    };
    for frees in ["⎕EX'X'", ")erase X"] {
        let with = told(&["X←0.5×⍳1000000 ⋄ X", "+/X"]);
        let without = told(&[frees, "+/0.5×⍳2000", "+/0.5×⍳3000", "+/0.5×⍳4000"]);
        assert!(with >= without + 8_000_000.0, "{frees}: {with} {without}");
    }
}

#[test]
fn acl_26_each_read_tells_where() {
    row("ACL-26");
    corpus::every_read_tells_where();
}

#[test]
fn acl_27_a_picture_has_a_shape_for_each_kind() {
    row("ACL-27");
    corpus::every_kind_has_a_legend();
}

#[test]
fn acl_28_a_map_is_inverted() {
    row("ACL-28");
}

#[test]
fn acl_29_each_array_between_launches_has_one_break() {
    corpus::every_array_between_launches_has_one_break();
}

#[test]
fn acl_30_break_everywhere_in_two_passes_and_in_ours() {
    row("ACL-30");
}

#[test]
fn acl_31_two_hundred_nodes_over_fifteen_arrays_are_one_launch() {
    for k in 0..scaled(40) {
        let mut dice = Dice(31_000 + k as u64);
        let (arrays, steps) = (1 + dice.roll(15), 1 + dice.roll(100));
        let (setup, line) = (made::arrays(arrays), made::straight(&mut dice, arrays, steps));
        let lines = all(&setup, &line);
        let trace = traced(&lines, "").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(trace.kernels.len(), 1, "{line}");
        assert_eq!(value(&lines, "", true), value(&lines, "", false), "{line}");
    }
}

#[test]
fn acl_32_breaks_before_what_is_not_element_wise() {
    row("ACL-32");
}

type Sum = fn(&[String]) -> String;
/// A limit of inputs, and launches for 10 20 … 80 arrays.
type Table = [(usize, [usize; 8]); 3];

#[test]
fn acl_33_a_sum_of_many_arrays_is_split_by_limits() {
    // Chains of 10 20 … 80 arrays; GOLDENS 1.2.
    let wanted = [
        (8, [2, 3, 5, 6, 7, 9, 10, 12]),
        (16, [1, 2, 2, 3, 4, 4, 5, 6]),
        (32, [1, 1, 1, 2, 2, 2, 3, 3]),
    ];
    let halved = [
        (8, [2, 4, 5, 8, 9, 9, 15, 17]),
        (16, [1, 2, 2, 4, 4, 5, 8, 8]),
        (32, [1, 1, 1, 2, 2, 2, 4, 4]),
    ];
    let sums: [(Sum, Table); 2] = [(made::chain, wanted), (made::halves, halved)];
    for (sum, table) in sums {
        for (limit, launches) in table {
            for (k, wanted) in launches.into_iter().enumerate() {
                let n = 10 * (k + 1);
                let (setup, terms) =
                    (made::arrays(n), (0..n).map(|k| format!("A{k}")).collect::<Vec<_>>());
                let line = sum(&terms);
                // Small launches of one stage would merge again, where what they read fits.
                let options = format!("--limit inputs={limit} --off horizontal");
                let trace = traced(&all(&setup, &line), &options).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(trace.kernels.len(), wanted, "{n} arrays, {limit} inputs: {line}");
                let reasons: Vec<&str> = trace
                    .passes
                    .last()
                    .into_iter()
                    .flat_map(|p| &p.breaks)
                    .map(|b| b.reason.as_str())
                    .collect();
                let said = reasons
                    .iter()
                    .any(|r| r.starts_with("limit:inputs(") && r.ends_with(&format!(">{limit})")));
                assert!(said || wanted == 1, "{reasons:?}");
            }
        }
    }
    let (setup, terms) = (made::arrays(40), (0..40).map(|k| format!("A{k}")).collect::<Vec<_>>());
    let line = made::chain(&terms);
    let lines = all(&setup, &line);
    assert_eq!(value(&lines, "--limit inputs=16", true), value(&lines, "", false));
    // Inputs are a set.
    let terms: Vec<String> = (0..40).map(|k| format!("A{}", k % 10)).collect();
    let line = made::chain(&terms);
    assert_eq!(traced(&all(&setup, &line), "--limit inputs=16").expect("a trace").kernels.len(), 1);
}

#[test]
fn acl_34_few_values_are_alive_at_once() {
    let setup = made::arrays(6);
    for k in 0..scaled(200) {
        let mut dice = Dice(34_000 + k as u64);
        let leaves = 2 + dice.roll(5);
        let (line, least) = made::tree(&mut dice, leaves);
        let trace = traced(&all(&setup, &line), "").unwrap_or_else(|e| panic!("{e}"));
        let [launch] = trace.kernels.as_slice() else { panic!("{line}") };
        assert!(
            launch.live_max <= least + 1,
            "{line}: {} alive, {least} would do",
            launch.live_max
        );
    }
}

#[test]
fn acl_35_siblings_share_a_launch() {
    row("ACL-35");
}

#[test]
fn acl_36_launches_follow_what_they_read() {
    corpus::every_launch_follows_what_it_reads();
}

#[test]
fn acl_37_two_passes_of_breaks() {
    row("ACL-37");
}

#[test]
fn acl_38_chains_of_reads_are_one_read() {
    row("ACL-38");
}

#[test]
fn acl_39_what_grows_stays_above_what_is_dear() {
    row("ACL-39");
}

#[test]
fn acl_40_computed_once_where_that_is_cheaper() {
    row("ACL-40");
}

/// After its second turn a loop asks the system for no block any more, however often it turns.
#[test]
fn acl_41_a_thousand_turns_ask_for_no_more_than_two() {
    let mut s = prepared(&["V←0.5×⍳131064", "V"], "", false).expect("arrays");
    let mut asked = Vec::new();
    for k in 1..=1000 {
        page::run(&mut s, &format!("s←(+/(+\\V×{k})÷0.25+⌽⌈\\V-{k}) ⋄ s")).expect("a turn");
        asked.push(s.core().devices().cpu.pool().fresh());
    }
    assert!(asked[1] > 0 && asked[1] == asked[999], "{asked:?}");
}

/// A loop of a thousand turns takes no more at once than one of twenty, and that is a tenth more
/// than what its plan has alive, at most, where arrays are large beside a wave of what a scan is
/// of. The view over time tells what that is. A thousand turns ask the system for
/// no more blocks than twenty do.
#[test]
fn acl_41_a_long_loop_takes_no_more_than_a_short_one() {
    let turn = |k: &str| format!("+/(+\\V×{k})÷0.25+⌽⌈\\V-{k}");
    // With what a buffer has to spare, a class of the pool.
    for (n, turns) in [(131_064, [20, 200]), (4_194_296, [2, 4])] {
        let setup = format!("V←0.5×⍳{n}");
        let mut s = prepared(&[&setup, "V"], "", false).expect("arrays");
        let told = traced(&[&setup, "V", &turn("3")], "").expect("a trace");
        let during = |k: u32| {
            let here = |b: &&aplomb_ground::trace::BufferRecord| {
                b.born.is_some_and(|born| born <= k) && b.dead.is_none_or(|dead| k <= dead)
            };
            told.buffers.iter().filter(here).map(|b| b.bytes).sum::<u64>()
        };
        let least = told.kernels.iter().map(|k| during(k.id)).max().expect("a launch");
        assert!(least >= 2 * 8 * n as u64, "{least}");
        let view = aplomb_viz::tables::memory(&told);
        assert!(view.lines().count() == told.kernels.len() + 2, "{view}");
        let bytes = aplomb_ground::error::bytes;
        let (most, given) = (bytes(least), bytes(8 * n as u64));
        let says = format!("at most {most}; one array that was there before: {given}");
        assert!(view.contains(&says), "{view}");
        // Each turn looks at its value, so the next begins when it has ended.
        let mut most = |turns: usize| {
            let look = format!(":If 0<{}\ns←s+1\n:EndIf", turn("k"));
            let text = format!("s←0\n:For k :In ⍳{turns}\n{look}\n:EndFor\ns");
            // What the last two lines forced is kept to tell their story.
            for line in ["1+0.5×⍳2000", "2+0.5×⍳2000"] {
                page::run(&mut s, line).expect("a line");
            }
            let budget = s.core().budget.clone();
            let before = budget.used();
            budget.high();
            assert_eq!(page::run(&mut s, &text), Ok(()));
            let most = budget.high();
            (most - before, s.core().devices().cpu.pool().fresh())
        };
        let ((few, fresh), (many, later)) = (most(turns[0]), most(turns[1]));
        assert!(later - fresh <= fresh, "blocks that the system gave: {fresh}, {later}");
        // A short array is one wave, which each of the two scans has.
        let wave = if n < 1 << 20 { 2 * 8 * n as u64 } else { 0 };
        let all = least..=least + least / 10 + wave;
        assert!(all.contains(&few) && all.contains(&many), "{few} and {many} of {least}");
        assert!(many <= few + few / 10, "{few} and {many}");
    }
}

/// Chains of launches run one after the other: what is alive at once is what one of them needs, and
/// a value that nobody needs any more goes before others begin.
#[test]
fn acl_41_chains_run_one_after_the_other() {
    let n = 131_064;
    let most = |line: &str| {
        let told = traced(&[line], "").expect("a trace");
        let here = |k: u32, b: &aplomb_ground::trace::BufferRecord| {
            b.born.is_some_and(|born| born <= k) && b.dead.is_none_or(|dead| k <= dead)
        };
        let alive =
            |k: u32| told.buffers.iter().filter(|b| here(k, b)).map(|b| b.bytes).sum::<u64>();
        for (k, launch) in told.kernels.iter().enumerate() {
            let born = |b: &u32| told.buffers[*b as usize].born;
            assert!(launch.inputs.iter().all(|b| born(b).is_none_or(|born| born < k as u32)));
        }
        (told.kernels.iter().map(|k| alive(k.id)).max().expect("a launch"), told.kernels.len())
    };
    let size = 8 * n as u64;
    // No two read one array, which would be reason enough for one launch.
    let chain = |k: usize| format!("(+/⌽+\\⌽+\\{k}.5×⍳{n})");
    let all = (2..22).map(chain).collect::<Vec<_>>().join(",");
    let (most_of_one, launches) = most(&chain(2));
    assert_eq!((most_of_one, launches), (2 * size, 3));
    let (most_of_all, launches) = most(&all);
    assert!(launches >= 60 && most_of_all <= 2 * size + size / 100, "{launches}: {most_of_all}");
    // A tree of scans of differences, whose eight leaves would all be there by stages: a part is
    // done, and waits as one array, before the next begins.
    let mut parts: Vec<String> = (2..10).map(|k| format!("(+\\{k}.5×⍳{n})")).collect();
    while parts.len() > 1 {
        parts = parts.chunks(2).map(|two| format!("(+\\{}-⌽{})", two[0], two[1])).collect();
    }
    let (tree, launches) = most(&format!("+/{}", parts[0]));
    assert!(launches == 16 && tree <= 5 * size + size / 100, "{launches}: {tree}");
}

/// Waves of scans and selections give what whole arrays give, at the ends of waves too: in long
/// rows, in short ones, by two scans at once, with a result beside them, of whole numbers and
/// truths, and where an item fails or does not fit.
#[test]
fn acl_41_waves_give_what_whole_arrays_give() {
    let mut s = prepared(&["n←1300007", "n"], "", false).expect("a session");
    let rows = [
        ("+\\0.5×⍳n", "0.25×(⍳n)×1+⍳n"),
        ("{(+\\⍵)-⌈\\⍵+0.25}0.5×⍳n", "(0.25×(⍳n)×1+⍳n)-0.25+0.5×⍳n"),
        ("+\\2 650003⍴0.5×1+0×⍳1300006", "2 650003⍴0.5×1+650003|¯1+⍳1300006"),
        ("+\\4001 325⍴0.5+0×⍳1300325", "4001 325⍴0.5×1+325|¯1+⍳1300325"),
        ("+⍀650003 2⍴0.5+0×⍳1300006", "⍉2 650003⍴0.5×1+650003|¯1+⍳1300006"),
        ("+\\3×n⍴1", "3×⍳n"),
        ("+\\90000×n⍴1", "90000×⍳n"),
        ("∨\\1000000=⍳n", "1000000≤⍳n"),
        ("≠\\0=2|⍳n", "0 1 1 0[1+4|¯1+⍳n]"),
        ("(1000<⍳n)/0.5×⍳n", "0.5×1000↓⍳n"),
        ("(0=7|⍳n)/1+⍳n", "1+7×⍳⌊n÷7"),
        ("(0≠7|⍳n)/90000×⍳n", "90000×{(0≠7|⍵)/⍵}⍳n"),
    ];
    for (line, wanted) in rows {
        let same = s.value_of(&format!("({line})≡{wanted}")).expect(line).expect("a value");
        assert_eq!(bits(&same), bits(&s.value_of("1≡1").expect("1").expect("a value")), "{line}");
    }
    for line in ["+\\÷700000-⍳n", "(0=3|⍳n)/÷700000-⍳n"] {
        assert!(s.value_of(line).is_err(), "{line}");
    }
}

#[test]
fn acl_43_front_end_and_launches_are_timed_apart() {
    let line = format!("+/{}B", "A+0.5×".repeat(50));
    let setup = ["A←0.5×⍳20000 ⋄ B←⌽A", "A B"];
    let trace = traced(&[&setup[..], &[line.as_str()]].concat(), "").expect("a trace");
    assert!(trace.times["front_ms"] > 0.0 && trace.times["launch_ms"] > 0.0, "{:?}", trace.times);
    assert!(trace.nodes.iter().filter(|n| n.kind == "map").count() >= 100);
    // By the passes alone in any build; in one without the checks between them by the clock of the
    // session, which looks for a known plan, too.
    let mut s = prepared(&setup, "", false).expect("arrays");
    let graph = s.graph_of(&format!("r←{line}"), &["r"]).expect("a graph");
    let passes = passes::least(&graph, 20);
    assert!(passes > 0.0 && passes <= 1.0, "{passes} ms");
    let front = || {
        let mut s = prepared(&setup, "", false).expect("arrays");
        page::run(&mut s, &line).expect("a sum");
        s.core().spent.front_ms
    };
    let least = (0..20).map(|_| front()).fold(f64::MAX, f64::min);
    assert!(least > 0.0 && (cfg!(debug_assertions) || least <= 1.0), "{least} ms");
}

#[test]
fn acl_45_every_operator_takes_functions_of_ones_own() {
    row("ACL-45");
}

//! Rows of the four systems whose whole check is said of a trace or of a CUDA text; each test has
//! the name of its row.

use crate::support::{session, told, traced};
use aplomb_ground::trace::{DecisionRecord, LaunchRecord, Trace};
use std::path::Path;

const ARRAYS: &str = "M←300 200⍴0.5×⍳60000 ⋄ v←0.5×⍳200 ⋄ w←0.5×⍳300 ⋄ x←0.5×⍳9000 ⋄ y←⌽x";

fn on(how: &[&str], line: &str) -> Trace {
    told(how, &[ARRAYS, "M v w x y", line])
}

fn last(t: &Trace) -> &LaunchRecord {
    t.kernels.last().expect("a launch")
}

fn text(t: &Trace) -> &str {
    last(t).cuda.as_ref().map(|c| c.text.as_str()).expect("a text")
}

fn sha(t: &Trace) -> Option<&str> {
    t.result.as_ref().map(|r| r.sha.as_str())
}

/// BAS-06: the domain of every launch, and of every read and write an access matrix: a row for each
/// axis of the array, a column for each loop, and a constant.
#[test]
fn bas_06_every_affine_read_has_its_matrix() {
    for line in ["M+.×v", "(⍉M)+.×w", "M+.×⍉M", "+⌿M", "2×1 ¯3↓M", "x∘.+v", "+/|x∘.-y", "⍉M"]
    {
        let t = on(&[], line);
        for k in &t.kernels {
            assert!(!k.domain.is_empty() && !k.reads.is_empty(), "{line}: {k:?}");
            for r in &k.reads {
                let rank = t.buffers[r.buf as usize].shape.len();
                assert_eq!(r.matrix.len(), rank, "{line}: {r:?}");
                assert!(r.matrix.iter().all(|row| row.len() == k.domain.len() + 1), "{r:?}");
            }
            let written: Vec<u32> = k.writes.iter().map(|w| w.buf).collect();
            assert_eq!(written, k.out, "{line}");
            for w in &k.writes {
                let rank = t.buffers[w.buf as usize].shape.len();
                assert_eq!(w.matrix.len(), rank, "{line}: {w:?}");
                assert!(w.matrix.iter().all(|row| row.len() == k.domain.len() + 1), "{w:?}");
            }
        }
    }
    // A fold of the second axis leaves the first; a selection writes where its mask says.
    let writes = |line: &str| last(&on(&[], line)).writes.clone();
    let folded = writes("+/M");
    assert_eq!((&folded[0].affine[..], &folded[0].matrix), ("(i,j)→(i)", &vec![vec![1, 0, 0]]));
    let both = writes("⍉M");
    assert_eq!(both[0].matrix, [[1, 0, 0], [0, 1, 0]]);
    let some = writes("(x>2000)/x");
    assert_eq!((&some[0].affine[..], some[0].matrix.is_empty()), ("(i)→(…)", true));
}

/// BAS-08: neighbours that overlap; of three points each element is read three times.
#[test]
fn bas_08_a_stencil_of_three_points_has_factor_three() {
    let t = on(&[], "(2↓x)+(1↓¯1↓x)+¯2↓x");
    assert_eq!(last(&t).reads.len(), 3);
    assert!(last(&t).reads.iter().all(|r| r.reuse.as_deref() == Some("constant: 3.0")), "{t:?}");
}

/// BAS-11, BAS-12: neighbours of the matrix are met at one time and by neighbouring threads, or one
/// after the other by a thread, or a row apart.
#[test]
fn bas_11_bas_12_reads_tell_how_neighbours_are_met() {
    let adj = |setup: &str, line: &str| {
        let t = told(&[], &[setup, "M v w", line]);
        let of = |r: &aplomb_ground::trace::ReadRecord| {
            r.adj.as_ref().map(|a| format!("{} {}", a.time, a.space))
        };
        let at = |name: &str| {
            let named = |r: &&aplomb_ground::trace::ReadRecord| {
                let node = &t.nodes[t.buffers[r.buf as usize].node as usize];
                node.name.as_deref() == Some(name)
            };
            last(&t).reads.iter().find(named).and_then(of)
        };
        (last(&t).form.clone(), at("M"), at("v"))
    };
    let (ok, none) = (Some("ok ok".to_string()), None);
    let setup = "M←300 200⍴0.5×⍳60000 ⋄ v←0.5×⍳200 ⋄ w←0.5×⍳300";
    assert_eq!(adj(setup, "M+.×v"), ("warps".into(), ok.clone(), none.clone()));
    assert_eq!(adj(setup, "(⍉M)+.×w").1, ok);
    assert_eq!(adj(setup, "1+M").1, ok);
    // A thread goes along its row by itself.
    let few = "M←4000 9⍴0.5×⍳36000 ⋄ v←0.5×⍳9 ⋄ w←0.5×⍳9";
    let wanted = Some("fail fail".to_string());
    assert_eq!(adj(few, "+/M"), ("threads".into(), wanted, none));
    // Neighbouring threads are a row apart; so few columns are turned in no tile.
    assert_eq!(adj(few, "1+⍉M").1, Some("ok fail".into()));
}

/// BAS-14: the paper's worked results, as `explain --why k0` tells them.
#[test]
fn bas_14_the_worked_results_are_told() {
    let setup = "A←?24 32⍴0 ⋄ v←?32⍴0 ⋄ w←?24⍴0";
    let why = |line: &str| {
        let t = told(&[], &[setup, "A v w", line]);
        aplomb_viz::ask::answer(&t, "k0", 9_999).ok().flatten().expect("an answer")
    };
    let mv = why("A+.×v");
    let none = "neighbours of A are met by no neighbouring threads in any order of the loops";
    assert!(mv.contains(none) && mv.contains("would want a copy"), "{mv}");
    assert!(mv.contains("here threads share a row and meet them, so nothing is copied"), "{mv}");
    let tmv = why("(⍉A)+.×w");
    let one = "threads along i, step by step along j meet neighbours of A";
    assert!(tmv.contains(one) && !tmv.contains("across"), "{tmv}");
}

/// BAS-09, BAS-14: the paper's worked example by the paper's pipeline. Of mv the matrix is staged,
/// since no order of the loops coalesces it, in rows that Algorithm 2 makes longer by one; its
/// vector is one word for a warp. Of tmv the matrix is read from global memory, coalesced.
#[test]
fn bas_09_the_papers_pipeline_stages_what_cannot_be_coalesced() {
    let how = ["passes=bas2008"];
    let space = |t: &Trace, name: &str| {
        let of = |b: u32| t.nodes[t.buffers[b as usize].node as usize].name.as_deref();
        let read = last(t).reads.iter().find(|r| of(r.buf) == Some(name)).expect(name);
        (read.space.clone(), read.coalesced, read.why.clone(), read.conflicts)
    };
    for line in ["M+.×v", "+/M", "⌈/2×M"] {
        let t = on(&how, line);
        assert_eq!((t.kernels.len(), last(&t).form.as_str()), (1, "staged"), "{line}");
        let (own, _, why, conflicts) = space(&t, "M");
        assert_eq!((own.as_str(), conflicts), ("shared", Some(1)), "{line}");
        assert!(why.contains("no order of the loops reads neighbours side by side"), "{why}");
        let places = t.decisions.iter().filter(|d| d.what == "place" && d.chosen == "shared");
        let places: Vec<&DecisionRecord> = places.collect();
        assert_eq!((places.len(), places[0].seed.as_str()), (1, "BAS-09"), "{line}");
        assert!(places[0].text.contains("no coalescing"), "{}", places[0].text);
        // 256 rows of 16 places, each longer by one.
        assert!(text(&t).contains("near0[4352]"), "{line}: {}", text(&t));
        assert!(t.decisions.iter().any(|d| d.what == "pad" && d.text.contains("longer by 1")));
        assert_eq!(last(&t).launch.smem, 8 * 4352, "{line}");
        assert_eq!(sha(&t), sha(&on(&[], line)), "{line}");
        let not = on(&["passes=bas2008", "off=tile"], line);
        assert_ne!(last(&not).form, "staged", "{line}");
    }
    assert_eq!(space(&on(&how, "M+.×v"), "v").0, "constant");
    let unpadded = on(&["passes=bas2008", "off=pad"], "M+.×v");
    assert!(space(&unpadded, "M").3 > Some(8), "rows of 16 doubles meet in one bank");
    for line in ["(⍉M)+.×w", "+⌿M"] {
        let t = on(&how, line);
        let (own, coalesced, _, _) = space(&t, "M");
        assert_eq!((own.as_str(), coalesced), ("global", true), "{line}");
    }
    // Ours lets the threads of a warp share a row, and copies nothing.
    assert_eq!(last(&on(&[], "M+.×v")).form, "warps");
}

/// BAS-17: what a block copies it copies in the order of the array, thread beside thread.
#[test]
fn bas_17_copies_go_by_the_threads_of_a_block() {
    let life = "⊃+/,¯1 0 1∘.⊖¯1 0 1∘.⌽⊂M";
    for line in [life, "1+⍉M", "+/|x∘.-y", "P+.×⍉P"] {
        let setup = format!("{ARRAYS} ⋄ P←0.001×999 500⍴⍳499500");
        let t = told(&[], &[&setup, "M x y P", line]);
        let text = text(&t);
        assert!(text.contains("__shared__") && text.contains("__syncthreads()"), "{line}: {text}");
        assert!(!last(&t).spread.is_empty(), "{line}");
        // From a thread's own number, by the threads of a block or at its own place.
        let turns = text.contains("e = threadIdx.x; e <") && text.contains("e += 256");
        let own = text.contains("threadIdx.x]") || text.contains("+ threadIdx.x");
        assert!(turns || own, "{line}: {text}");
        assert!(!text.contains("threadIdx.x * chunk"), "{line}: {text}");
    }
}

/// BAS-26: the paper's programs are timed, and beside cuBLAS where a GPU is.
#[test]
fn bas_26_the_papers_programs_are_workloads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| std::fs::read_to_string(root.join(file)).expect(file);
    let (seeds, works) = (read("benches/seeds.json"), read("benches/workloads.json"));
    for program in ["bas-mv", "bas-tmv", "bas-mvt", "bas-mm"] {
        assert!(seeds.contains(&format!("\"{program}\"")), "{program}");
    }
    for id in ["gemv", "tmv", "gemm"] {
        assert!(works.contains(&format!("\"id\": \"{id}\"")), "{id}");
    }
    assert!(read("benches/gpu/ref.py").to_lowercase().contains("cublas"));
}

/// BAS-27, BAR-19: every kernel says how many threads a block has, and a map's may be others.
#[test]
fn bas_27_bar_19_blocks_have_bounds_and_maps_a_choice_of_them() {
    for line in ["1+x", "+/x", "+\\x", "M+.×⍉M", "(x>2000)/x", "x[⍋x]", "+/|x∘.-y"] {
        for k in &on(&[], line).kernels {
            let text = &k.cuda.as_ref().expect("a text").text;
            let (kernels, bounds) =
                (text.matches("__global__").count(), text.matches("__launch_bounds__(").count());
            assert!(kernels > 0 && kernels == bounds, "{line}: {text}");
            assert!(k.spread.iter().all(|s| text.contains(&format!("bounds__({})", s.threads))));
        }
    }
    assert_eq!(last(&on(&[], "1+x")).spread[0].sizes, [128, 256, 512]);
}

/// BAR-15: reads that are a block apart share nothing, one place nearer they do; the threshold is
/// said.
#[test]
fn bar_15_the_threshold_of_overlap_is_a_block() {
    for apart in [1, 254, 255, 256, 257] {
        let line = format!("({apart}↓x)-¯{apart}↓x");
        let t = on(&["passes=bar2010"], &line);
        let near = last(&t).reads.iter().filter(|r| r.space == "shared").count();
        assert_eq!(near, if apart < 256 { 2 } else { 0 }, "{apart}");
        let says: Vec<_> = t.decisions.iter().filter(|d| d.what == "place").collect();
        assert_eq!(says.len(), 1, "{apart}: {says:?}");
        if apart < 256 {
            assert_eq!((says[0].seed.as_str(), says[0].chosen.as_str()), ("BAR-14", "shared"));
            assert!(says[0].text.contains(&format!("halo {apart}")), "{}", says[0].text);
        } else {
            let threshold =
                format!("{apart} apart: within a block they would have to be at most 255");
            assert_eq!((says[0].seed.as_str(), says[0].chosen.as_str()), ("BAR-15", "global"));
            assert!(says[0].text.contains(&threshold), "{}", says[0].text);
        }
        assert_eq!(sha(&t), sha(&on(&[], &line)), "{apart}");
    }
    // Halves of an array never meet: nothing is said.
    let halves = on(&["passes=bar2010"], "(4500↑x)-4500↓x");
    assert!(last(&halves).reads.iter().all(|r| r.space == "global"));
}

/// The statements of a text's branch of that condition, with one point a thread where it has a
/// second loop.
fn branch<'a>(text: &'a str, condition: &str) -> &'a str {
    let from = text.find(condition).unwrap_or_else(|| panic!("{condition}: {text}"));
    let rest = &text[from + condition.len()..];
    let indent = text[..from].rsplit('\n').next().map_or(0, str::len);
    let end = rest.find(&format!("\n{}}}", " ".repeat(indent))).expect("its end");
    &rest[..end]
}

/// ACC-25: the inside of a stencil tests nothing and wraps nothing; one test a point says whether
/// it is there. The domain of a matrix is nine regions, of a vector three.
#[test]
fn acc_25_the_inside_of_a_stencil_tests_nothing() {
    let rows = [
        ("0.25×(1(⊖⍠0)M)+(¯1(⊖⍠0)M)+(1(⌽⍠0)M)+¯1(⌽⍠0)M", 9, vec![[1, 299], [1, 199]]),
        ("0.25×(1⊖M)+(¯1⊖M)+(1⌽M)+¯1⌽M", 9, vec![[1, 299], [1, 199]]),
        ("(1(⌽⍠'clamp')x)+¯1(⌽⍠'clamp')x", 3, vec![[1, 8999]]),
        ("(2⌽x)-¯3⌽x", 3, vec![[3, 8998]]),
    ];
    for (line, regions, inside) in rows {
        let t = on(&[], line);
        let k = last(&t);
        assert_eq!((k.regions, &k.inside), (regions, &inside), "{line}: {}", text(&t));
        let (inner, border) =
            (branch(text(&t), "if (inner != 0) {"), branch(text(&t), "if (inner == 0) {"));
        for asks in [" ? ", "div_floor", "clamp("] {
            assert!(!inner.contains(asks), "{line} {asks}: {inner}");
        }
        assert!(
            [" ? ", "div_floor", "clamp("].iter().any(|asks| border.contains(asks)),
            "{border}"
        );
        // A point's loads are as many there as elsewhere.
        let loads = |part: &str| part.matches("a0[").count();
        assert_eq!(loads(inner), loads(border), "{line}: {}", text(&t));
    }
    // Boxes: a block asks once for all of its box.
    let t = on(&[], "⊃+/,¯1 0 1∘.(⊖⍠0)¯1 0 1∘.(⌽⍠0)⊂M");
    if last(&t).form == "boxes" {
        let (head, each) = text(&t).split_once("u64 p = threadIdx.x").expect("points");
        assert!(head.contains("u32 inner = z0 >= 1"), "{head}");
        assert!(!each.contains("u32 inner"), "{each}");
    }
    let why = aplomb_viz::ask::answer(&on(&[], rows_of_why()), "k0", 9_999);
    let why = why.ok().flatten().expect("an answer");
    assert!(why.contains("9 regions") && why.contains("298×198 of 300×200"), "{why}");
    // One read that leaves its array is one test anyway.
    assert_eq!((last(&on(&[], "1+2⌽x")).regions, last(&on(&[], "1+x")).regions), (0, 0));
}

fn rows_of_why() -> &'static str {
    "0.25×(1⊖M)+(¯1⊖M)+(1⌽M)+¯1⌽M"
}

/// ACL-17: one test guards the whole sum, with the fill outside and none on the leaves; by the
/// rules of 2006 there is one test an element where the paper has one.
#[test]
fn acl_17_one_test_guards_the_whole_sum() {
    let t = on(&[], "2(⌽⍠7)x+y");
    assert_eq!(t.kernels.len(), 1);
    let (inner, border) =
        (branch(text(&t), "if (inner != 0) {"), branch(text(&t), "if (inner == 0) {"));
    assert!(text(&t).contains("u32 inner = x0 < c"), "{}", text(&t));
    assert!(!inner.contains(" ? ") && inner.matches("[").count() == 3, "{inner}");
    // Beyond the end there is the fill and nothing else.
    assert!(!border.contains(" ? ") && border.matches("[").count() == 1, "{border}");
    let strict = on(&["strict"], "2(⌽⍠7)x+y");
    assert_eq!(strict.kernels.len(), 2);
    let points = text(&strict).rsplit("for (u64 i").next().expect("a loop");
    assert_eq!(points.matches(" ? ").count(), 1, "{points}");
    // 0 is the identity of +, so it distributes: one test for both leaves.
    let t = on(&["strict"], "2(⌽⍠0)x+y");
    assert_eq!(t.kernels.len(), 1);
    let points = text(&t).rsplit("for (u64 i").next().expect("a loop");
    assert_eq!(points.matches("u32 inner = ").count(), 1, "{points}");
    assert!(!branch(points, "if (inner != 0) {").contains(" ? "), "{points}");
    for line in ["2(⌽⍠7)x+y", "2(⌽⍠0)x+y"] {
        assert_eq!(sha(&on(&[], line)), sha(&on(&["strict"], line)), "{line}");
    }
}

/// The definitions of a program of `examples/seeds`.
fn program(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/seeds/{name}.apl"));
    let whole = std::fs::read_to_string(path).expect(name);
    let own = whole.split("\n⍝ Check").next().expect("definitions");
    own.lines().skip(1).collect::<Vec<_>>().join("\n")
}

/// ACC-01, BAR-12: the papers' programs as the papers' pipelines compile them. A call of
/// Black-Scholes is one kernel: its named terms are scalars of one function. All pairs of bodies
/// are folds of tuples in one kernel that writes no array of all pairs.
#[test]
fn acc_01_bar_12_the_papers_programs_are_one_kernel() {
    let data = "g←{(997|1103×⍳⍵)÷997} ⋄ (S X T)←(90+20×g 2000)(80+40×⌽g 2000)(0.1+g 2000)";
    for name in ["bar-blackscholes", "acc-blackscholes"] {
        let line = if name.starts_with("bar") { "call S X T" } else { "⊃options S X T" };
        let run = |how: &[&str]| told(how, &[&program(name), data, "S X T", line]);
        for preset in ["passes=acc2013", "passes=bar2010"] {
            let t = run(&[preset]);
            assert_eq!(t.kernels.len(), 1, "{name} {preset}");
            assert_eq!(sha(&t), sha(&run(&[])), "{name} {preset}");
        }
    }
    let bodies = "B←↓⍉300 4⍴{(997|1103×⍳⍵)÷997}1200";
    let run = |how: &[&str]| told(how, &[&program("acc-nbody"), bodies, "B", "0.05 nbody B"]);
    let t = run(&["passes=acc2013"]);
    assert_eq!((t.kernels.len(), last(&t).out.len()), (1, 3));
    assert!(t.buffers.iter().all(|b| b.bytes <= 8 * 300 * 4), "{:?}", t.buffers);
    assert_eq!(sha(&t), sha(&run(&[])));
    // Two arrays that are no fold of one function stay two kernels.
    assert_eq!(on(&["passes=acc2013"], "{(+/⍵)(+/2×⍵)}x").kernels.len(), 2);
}

#[test]
fn acl_18_products_keep_their_blocks() {
    let setup = "M←0.01×40 60⍴⍳2400 ⋄ N←0.01×60 40⍴⍳2400 ⋄ P←1-N";
    for (line, wanted) in
        [("(M+.×N)(M+.×P)", 2), ("(M+.×N)(+/[2]M×[2]2)", 2), ("1+M+.×N", 1), ("(+/M)(⌈/M)", 1)]
    {
        let t = told(&[], &[setup, "M N P", line]);
        assert_eq!(t.kernels.len(), wanted, "{line}");
        assert_eq!(sha(&t), sha(&told(&["off=fusion"], &[setup, "M N P", line])), "{line}");
    }
    // A product is one launch in tiles of shared memory; an outer product is a map.
    let t = told(&[], &["A←0.001×999 500⍴⍳499500 ⋄ B←⍉A", "A B", "A+.×B"]);
    let text = &t.kernels[0].cuda.as_ref().expect("a text").text;
    assert_eq!((t.kernels.len(), t.kernels[0].form.as_str()), (1, "tiles"));
    assert!(text.contains("__shared__") && text.contains("__syncthreads()"), "{text}");
    let outer = told(&[], &["v←0.5×⍳300", "v", "v∘.×v"]);
    assert_eq!((outer.kernels.len(), outer.kernels[0].form.as_str()), (1, "map"));
}

/// ACL-18, ACC-30: launches of one domain that read one array stay two where one of their folds
/// would lose its form; where both have the same, they are one. `mvt` of 2008 reads its matrix once
/// a product: side by side by its columns, by warps along its rows.
#[test]
fn acl_18_launches_that_would_lose_their_form_stay_apart() {
    let setup = "M←0.001×500 500⍴⍳250000 ⋄ v←0.5×⍳500 ⋄ w←⌽v";
    let run = |how: &[&str], line: &str| told(how, &[setup, "M v w", line]);
    let forms = |t: &Trace| t.kernels.iter().map(|k| k.form.clone()).collect::<Vec<_>>();
    for line in ["(M+.×v)((⍉M)+.×w)", "(M+.×v)-(⍉M)+.×w"] {
        let t = run(&[], line);
        let mut own = forms(&t);
        own.sort();
        own.retain(|form| form != "map");
        assert_eq!(own, ["strips", "warps"], "{line}");
        let boundary = t.decisions.iter().filter(|d| d.what == "launch").collect::<Vec<_>>();
        let says = boundary.iter().find(|d| d.text.contains("would have the form"));
        let says = says.unwrap_or_else(|| panic!("{line}: {boundary:?}"));
        assert_eq!(says.alt[0].why_not, "rule: one of the two would lose its form");
        for how in [&["off=horizontal"][..], &["off=fusion"], &["passes=bas2008"]] {
            assert_eq!(sha(&run(how, line)), sha(&t), "{line} {how:?}");
        }
    }
    assert_eq!(forms(&run(&[], "(M+.×v)(M+.×w)")), ["warps"]);
    assert_eq!(forms(&run(&[], "(+/M)(⌈/M)")), ["warps"]);
    assert_eq!(forms(&run(&[], "((⍉M)+.×v)((⍉M)+.×w)")), ["strips"]);
}

/// Launches of equal source have the line behind their name.
#[test]
fn launches_of_equal_source_are_told_apart_by_their_lines() {
    let t = traced(&mut session(), &["x←0.5×⍳3000\nx←+\\x\nx←+\\x\nx←+\\x\nx"]);
    let names: Vec<&str> = t.kernels.iter().map(|k| k.name.as_str()).collect();
    let scans: Vec<&&str> = names.iter().filter(|n| n.contains("+\\x")).collect();
    assert_eq!(scans.len(), 3, "{names:?}");
    for (name, line) in scans.iter().zip(["2", "3", "4"]) {
        assert!(name.ends_with(&format!(":{line}")), "{names:?}");
    }
}

/// A launch whose copies would need more shared memory than a block has: as many arrays as fit are
/// copied, and the rest say why they are not.
#[test]
fn copies_over_the_limit_of_shared_memory_are_left_out_with_a_reason() {
    let (names, line) = wide();
    let setup = names.iter().enumerate().map(|(k, n)| format!("{n}←0.5×{k}+⍳9999"));
    let setup = setup.collect::<Vec<_>>().join(" ⋄ ");
    let t = told(&[], &[&setup, &names.join(" "), &line]);
    assert_eq!((t.kernels.len(), last(&t).form.as_str()), (1, "boxes"));
    let near = last(&t).reads.iter().filter(|r| r.space == "shared").count();
    assert!(near > 0 && near < last(&t).reads.len(), "{near}");
    assert!(last(&t).launch.smem <= 48 << 10, "{:?}", last(&t).launch);
    let places: Vec<&DecisionRecord> = t.decisions.iter().filter(|d| d.what == "place").collect();
    let (kept, left): (Vec<&DecisionRecord>, Vec<&DecisionRecord>) =
        places.iter().partition(|d| d.chosen == "shared");
    assert_eq!((kept.len() + left.len(), left.is_empty()), (names.len(), false));
    for d in left {
        assert!(d.alt[0].why_not.starts_with("limit:smem("), "{d:?}");
        assert!(d.text.contains("is the limit"), "{}", d.text);
    }
}

/// Arrays each of which is read at six places 51 apart.
fn wide() -> (Vec<&'static str>, String) {
    let names = vec!["a", "b", "c", "d", "e", "f"];
    let taps = |name: &str| {
        let tap = |k: usize| format!("({}↓¯{}↓{name})", 51 * k, 51 * (5 - k));
        (0..6).map(tap).collect::<Vec<_>>().join("+")
    };
    let line = names.iter().map(|n| taps(n)).collect::<Vec<_>>().join("+");
    (names, line)
}

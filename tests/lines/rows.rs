//! Rows of the four systems whose whole check is said of a trace or of a CUDA text; each test has
//! the name of its row.

use crate::support::{session, told, traced};
use aplomb_ground::trace::{DecisionRecord, LaunchRecord, Trace};
use std::collections::BTreeSet;
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
    // The references of the paper's programs, by hand: a column a loop, the last a constant.
    let matrices = |line: &str| {
        let t = on(&[], line);
        let name = |b: u32| t.nodes[t.buffers[b as usize].node as usize].name.clone();
        let mut all: Vec<(String, String)> = last(&t)
            .reads
            .iter()
            .map(|r| (name(r.buf).expect("a name"), format!("{:?}", r.matrix)))
            .collect();
        all.sort();
        all.dedup();
        all.iter().map(|(name, rows)| format!("{name} {rows}")).collect::<Vec<_>>()
    };
    for (line, wanted) in [
        ("M+.×v", &["M [[1, 0, 0], [0, 1, 0]]", "v [[0, 1, 0]]"][..]),
        ("(⍉M)+.×w", &["M [[0, 1, 0], [1, 0, 0]]", "w [[0, 1, 0]]"]),
        ("M+.×⍉M", &["M [[0, 1, 0, 0], [0, 0, 1, 0]]", "M [[1, 0, 0, 0], [0, 0, 1, 0]]"]),
        ("⍉M", &["M [[0, 1, 0], [1, 0, 0]]"]),
        ("x∘.+v", &["v [[0, 1, 0]]", "x [[1, 0, 0]]"]),
        ("(2↓x)-¯2↓x", &["x [[1, 0]]", "x [[1, 2]]"]),
        ("2×1 ¯3↓M", &["M [[1, 0, 1], [0, 1, 0]]"]),
    ] {
        assert_eq!(matrices(line), wanted, "{line}");
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
    // By the program, as a reader of the paper asks it.
    let explained = |line: &str| {
        let mut program = assert_cmd::Command::cargo_bin("aplomb").expect("the program");
        let out = program.args(["explain", "-e", line]).output().expect("a story");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mv = explained("A←?24 32⍴0 ⋄ v←?32⍴0 ⋄ A+.×v");
    assert!(mv.contains(none) && mv.contains("would want a copy"), "{mv}");
    let tmv = explained("A←?24 32⍴0 ⋄ w←?24⍴0 ⋄ (⍉A)+.×w");
    assert!(tmv.contains(one), "{tmv}");
}

/// BAS-21: the tile of a transpose by Algorithm 2. A block reads 32 by 32 items of which neighbours
/// lie a row apart, and writes them side by side: strides of 32 and of 1. The trace has the sum for
/// each of 32 pads, and the text rows of 33.
#[test]
fn bas_21_the_trace_has_a_sum_for_each_pad() {
    let setup = "F←'f32'⎕AS 0.5×300 200⍴⍳60000";
    let t = told(&[], &[setup, "F", "2×⍉F"]);
    let pads: Vec<&DecisionRecord> = t.decisions.iter().filter(|d| d.what == "pad").collect();
    let [pad] = pads.as_slice() else { panic!("{pads:?}") };
    assert_eq!((pad.seed.as_str(), pad.chosen.as_str()), ("BAS-21", "pad"));
    let (says, sums) = pad.text.rsplit_once("conflicts ").expect("the sums");
    assert!(says.contains("are longer by 1") && says.contains("32 banks"), "{says}");
    let sums: Vec<u32> = sums.split(' ').map(|n| n.parse().expect("a number")).collect();
    // GOLDENS 3.4: 33, then U + 1.
    let t15 = [1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1];
    let u = t15.iter().chain(&[16]).chain(&t15).map(|n| n + 1);
    assert_eq!(sums, std::iter::once(33).chain(u).collect::<Vec<u32>>());
    assert!(text(&t).contains("[32][33]"), "{}", text(&t));
    assert!(text(&t).contains("__shared__ float near0[1056]"), "{}", text(&t));
    assert_eq!(last(&t).reads[0].conflicts, Some(1));
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

/// The ways in which a block copies a part of an array, by its form: the loop, or the place that a
/// thread takes, and what it stores.
const COPIES: &[(&str, &str, &str)] = &[
    ("boxes", "for (u64 e = threadIdx.x; e < ", "near0"),
    ("staged", "for (u64 e = threadIdx.x; e < ", "near0"),
    ("tiles", "e0 = threadIdx.x + s * 256", "q0["),
    ("pairs", "= (i32)(k + threadIdx.x)", "q0[threadIdx.x] = "),
];

/// BAS-17: what a block copies it copies in the order of the array, thread beside thread and all
/// threads at a time, in each form that copies.
#[test]
fn bas_17_copies_go_by_the_threads_of_a_block() {
    let life = "⊃+/,¯1 0 1∘.⊖¯1 0 1∘.⌽⊂M";
    let lines: &[(&str, &[&str], &str)] = &[
        (life, &[], "boxes"),
        ("1+⍉M", &[], "boxes"),
        ("15+/x", &[], "boxes"),
        ("P+.×⍉P", &[], "tiles"),
        ("+/|x∘.-y", &[], "pairs"),
        ("M+.×v", &["passes=bas2008"], "staged"),
        ("+/M", &["passes=bas2008"], "staged"),
    ];
    let mut seen = BTreeSet::new();
    for (line, how, form) in lines {
        let setup = format!("{ARRAYS} ⋄ P←0.001×999 500⍴⍳499500");
        let t = told(how, &[&setup, "M v x y P", line]);
        assert_eq!(last(&t).form, *form, "{line}");
        seen.insert(*form);
        let text = text(&t);
        let (_, turn, stored) = COPIES.iter().find(|row| row.0 == *form).expect("a row");
        let (_, body) = text.split_once(turn).unwrap_or_else(|| panic!("{line}: {turn} in {text}"));
        let (copy, _) = body.split_once("__syncthreads()").expect("a barrier behind the copy");
        assert!(copy.contains(stored), "{line}: {copy}");
        if turn.starts_with("for") {
            assert!(copy.lines().next().is_some_and(|l| l.contains("; e += 256)")), "{copy}");
        }
        assert!(!text.contains("threadIdx.x * chunk"), "{line}: {text}");
    }
    assert_eq!(seen, COPIES.iter().map(|row| row.0).collect());
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
    let works: serde_json::Value = serde_json::from_str(&works).expect("the table");
    let formulas = read("benches/formulas.py");
    for id in ["gemv", "tmv", "mvt", "gemm"] {
        let rows = works["workloads"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["id"] == id).expect(id);
        assert!(row["gpu"].as_array().is_some_and(|sizes| !sizes.is_empty()), "{id}");
        // What the arrays of CuPy, whose products are cuBLAS', are multiplied by.
        let (_, own) = formulas.split_once(&format!("def {id}(")).expect(id);
        assert!(own.lines().nth(1).is_some_and(|line| line.contains(" @ ")), "{id}");
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
    assert_eq!((last(&t).form.as_str(), last(&t).regions), ("boxes", 9));
    let (head, each) = text(&t).split_once("u64 p = threadIdx.x").expect("points");
    assert!(head.contains("u32 inner = z0 >= 1"), "{head}");
    assert!(!each.contains("u32 inner"), "{each}");
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
    let rows = [
        ("bar-blackscholes", "call S X T", "passes=acc2013"),
        ("bar-blackscholes", "call S X T", "passes=bar2010"),
        ("acc-blackscholes", "⊃options S X T", "passes=acc2013"),
        ("acc-blackscholes", "⊃options S X T", "passes=bar2010"),
        // The paper's own: calls and puts, an array of pairs.
        ("acc-blackscholes", "options S X T", "passes=acc2013"),
    ];
    for (name, line, preset) in rows {
        let run = |how: &[&str]| told(how, &[&program(name), data, "S X T", line]);
        let t = run(&[preset]);
        assert_eq!(t.kernels.len(), 1, "{name} {line} {preset}");
        let results = if line.starts_with("options") { 2 } else { 1 };
        assert_eq!((last(&t).out.len(), last(&t).inputs.len()), (results, 3), "{line} {preset}");
        // Nothing but arguments and results is an array.
        assert_eq!(t.buffers.len(), 3 + results, "{line} {preset}: {:?}", t.buffers);
        assert_eq!(sha(&t), sha(&run(&[])), "{name} {preset}");
        assert_eq!(sha(&t), sha(&run(&["off=fusion"])), "{name} {preset}");
    }
    let bodies = "B←↓⍉300 4⍴{(997|1103×⍳⍵)÷997}1200";
    let run = |how: &[&str]| told(how, &[&program("acc-nbody"), bodies, "B", "0.05 nbody B"]);
    let t = run(&["passes=acc2013"]);
    assert_eq!((t.kernels.len(), last(&t).out.len()), (1, 3));
    assert!(t.buffers.iter().all(|b| b.bytes <= 8 * 300 * 4), "{:?}", t.buffers);
    assert_eq!(sha(&t), sha(&run(&[])));
    // Two arrays that are no function of one tuple stay two kernels, and so does what is shared
    // with an array that is no result.
    assert_eq!(on(&["passes=acc2013"], "{(+/⍵)(+/2×⍵)}x").kernels.len(), 2);
    assert_eq!(on(&["passes=acc2013"], "{(1+⍵)(2×⍵)}x").kernels.len(), 2);
    assert_eq!(on(&["passes=acc2013"], "{y←*⍵÷9000 ⋄ (1+y)(2×y)}x").kernels.len(), 1);
    assert!(on(&["passes=acc2013"], "{y←*⍵÷9000 ⋄ (1+y)(⌽+\\2×y)}x").kernels.len() > 2);
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
    // ACL-45: so is one of functions that say what they are.
    let own = told(&[], &["A←0.001×999 500⍴⍳499500 ⋄ B←⍉A", "A B", "A{⍺+⍵}.{⍺×⍵}B"]);
    assert_eq!((self::text(&own), sha(&own)), (text.as_str(), sha(&t)));
    let outer = told(&[], &["v←0.5×⍳300", "v", "v∘.×v"]);
    assert_eq!((outer.kernels.len(), outer.kernels[0].form.as_str()), (1, "map"));
}

/// ACL-35: folds of what takes nothing to compute again are one launch with several results, as
/// those of an array are; scans of it leave arrays that would wait for each other, and stay apart.
#[test]
fn acl_35_folds_of_places_share_a_launch() {
    let setup = "n←100000 ⋄ x←⍳n ⋄ y←⌽⍳n ⋄ z←300 400⍴⍳n ⋄ w←0.5×⍳n";
    let lines = [
        ("(+/x)(⌈/x)", 1),
        ("(+/y)(⌈/y)", 1),
        ("(+/z)(⌈/z)", 1),
        ("(+⌿z)(⌈⌿z)", 1),
        ("(+/x)(⌈/x)(⌊/x)", 1),
        ("(+/x)(⌈/w)", 1),
        ("(+/⌽+\\2.5×x)(+/⌽+\\3.5×x)", 4),
    ];
    for (line, wanted) in lines {
        let t = told(&[], &[&format!("{setup} ⋄ {line}")]);
        assert_eq!(t.kernels.len(), wanted, "{line}");
        assert_eq!(sha(&t), sha(&told(&["off=fusion"], &[&format!("{setup} ⋄ {line}")])), "{line}");
    }
    let apart = told(&["off=horizontal"], &[&format!("{setup} ⋄ (+/x)(⌈/x)")]);
    assert_eq!(apart.kernels.len(), 2);
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

/// BAS-02: neighbouring threads take neighbouring elements; no thread goes along a stretch of its
/// own, but where rows are so short that a warp's rows lie in the lines of a cache that it meets
/// one after the other.
#[test]
fn bas_02_no_thread_has_a_stretch_of_its_own_but_a_short_row() {
    let shapes = ["7 9", "300 200", "700 9", "700 16", "700 17", "9 4000", "40 3000"];
    let (mut short, mut all) = (0, 0);
    for shape in shapes {
        let setup = format!("N←{shape}⍴0.5×⍳97 ⋄ r←0.5×⍳¯1↑⍴N ⋄ c←0.5×⍳1↑⍴N");
        for line in ["+/N", "+⌿N", "N+.×r", "(⍉N)+.×c", "1+N", "⍉N", "+\\N", "⌈/2×N", "N+.×⍉N"]
        {
            let t = told(&[], &[&setup, "N r c", line]);
            for (k, r) in t.kernels.iter().flat_map(|k| k.reads.iter().map(move |r| (k, r))) {
                all += 1;
                if r.adj.as_ref().is_some_and(|adj| adj.time == "fail") {
                    let row = k.axis.map(|axis| k.domain[axis as usize]);
                    assert_eq!(k.form, "threads", "{shape} {line}");
                    assert!(row.is_some_and(|n| n <= 16), "{shape} {line}: {row:?}");
                    short += 1;
                }
            }
        }
    }
    assert!(short > 0 && all > 60, "{short} of {all}");
}

/// BAS-07: both operands of a product are met again, along a loop that moves them not, and those of
/// a sum never.
#[test]
fn bas_07_both_operands_of_a_product_have_reuse_and_those_of_a_sum_none() {
    let setup = "A←0.5×24 32⍴⍳768 ⋄ B←0.5×32 20⍴⍳640 ⋄ C←⌽A";
    let of = |line: &str| {
        let t = told(&[], &[setup, "A B C", line]);
        let mut all: Vec<(String, String)> = last(&t)
            .reads
            .iter()
            .map(|r| {
                let node = &t.nodes[t.buffers[r.buf as usize].node as usize];
                (node.name.clone().unwrap_or_default(), r.reuse.clone().unwrap_or_default())
            })
            .collect();
        all.sort();
        let places = t.decisions.iter().filter(|d| d.what == "place" && d.seed == "BAS-07");
        (all, places.count())
    };
    let names =
        |list: [(&str, &str); 2]| list.map(|(a, b)| (a.to_string(), b.to_string())).to_vec();
    let product = of("A+.×B");
    assert_eq!(product.0, names([("A", "higher-order: j"), ("B", "higher-order: i")]));
    assert_eq!(product.1, 2);
    assert_eq!(of("A+C"), (names([("A", "none"), ("C", "none")]), 0));
}

/// BAS-15: fifteen weights that do not move with threads are parameters, which lie in constant
/// memory, or one word for a warp; none is a break.
#[test]
fn bas_15_the_fifteen_weights_of_an_average_are_constants() {
    let data = "g←{(997|1103×⍳⍵)÷997} ⋄ x←g 5000";
    let t = told(&[], &[&program("bar-wmavg"), data, "x spencer", "spencer wmavg x"]);
    let large = t.kernels.iter().filter(|k| k.domain.iter().product::<usize>() > 1000);
    assert_eq!(large.count(), 1, "{:?}", t.kernels.iter().map(|k| &k.name).collect::<Vec<_>>());
    assert!(t.passes.last().expect("a pass").breaks.iter().all(|b| b.reason == "root"), "{t:?}");
    let text = text(&t);
    let parameters = (0..64).take_while(|k| text.contains(&format!("double p{k}"))).count();
    let constant = last(&t).reads.iter().filter(|r| r.space == "constant").count();
    // Fifteen weights that mirror each other are eight numbers.
    assert_eq!((parameters, constant), (8, 0), "{text}");
    assert_eq!(last(&t).inputs.len(), 1, "no array of weights is read: {:?}", t.buffers);
}

/// ACL-18: products of all sizes, those that no tile divides too, are those of their definition.
#[test]
fn acl_18_products_of_any_size_have_the_values_of_their_definition() {
    let sizes = ["1 1 1", "3 5 7", "64 64 64", "63 65 67", "129 17 128", "1 300 1", "70 1 90"];
    for size in sizes {
        let setup = format!("(a b c)←{size} ⋄ P←(a b)⍴0.25×97|⍳a×b ⋄ Q←(b c)⍴0.5×89|⍳b×c");
        // Of one matrix with itself, computed or not, half is computed and half is the same.
        let own = ["P+.×⍉P", "(1+P)+.×⍉1+P", "(⌊P)+.=⍉⌊P", "(⌈Q)⌊.+⍉⌈Q", "P+.-⍉P"];
        for line in ["P+.×Q", "P⌈.+Q", "(9↑,P)∘.-,Q", "P∨.=Q"].iter().chain(&own) {
            let run = |how: &[&str]| told(how, &[&setup, "P Q", line]);
            let t = run(&[]);
            assert!(t.kernels.len() <= 1, "{size} {line}");
            for how in [&["off=fusion"][..], &["off=place"], &["passes=bas2008"]] {
                assert_eq!(sha(&run(how)), sha(&t), "{size} {line} {how:?}");
            }
        }
    }
}

/// ACC-24: the paper's program at its size: three sums of one pass over all pairs, in boxes that
/// shared memory serves.
#[test]
fn acc_24_the_papers_bodies_go_through_shared_memory() {
    let bodies = "B←↓⍉32768 4⍴{(997|1103×⍳⍵)÷997}131072";
    let t = told(&[], &[&program("acc-nbody"), bodies, "B", "0.05 nbody B"]);
    let pairs: Vec<&LaunchRecord> = t.kernels.iter().filter(|k| k.domain.len() == 2).collect();
    assert_eq!(pairs.len(), 1, "{:?}", t.kernels.iter().map(|k| &k.name).collect::<Vec<_>>());
    let (k, n) = (pairs[0], 32_768u64);
    assert_eq!((k.form.as_str(), k.out.len()), ("pairs", 3));
    let text = k.cuda.as_ref().map(|c| c.text.as_str()).expect("a text");
    assert!(text.contains("__shared__") && text.contains("__syncthreads()"), "{text}");
    // A box of 256 by 256 loads 256 of each array and each thread's own: n²÷256, not n².
    let of = k.block.as_ref().expect("a box");
    assert_eq!((&of.points[..], of.boxes), (&[256, 256][..], n * n / 65_536));
    assert!(of.loads <= 2 * k.inputs.len() as u64 * 256, "{of:?}");
    assert!(t.buffers.iter().all(|b| b.bytes <= 8 * n), "{:?}", t.buffers);
}

/// A plan is priced as it will be: of one matrix with itself, computed where it is read, half is
/// computed, whatever the order of its steps; and what is light is computed again only where its
/// place takes no division.
#[test]
fn what_is_made_of_its_place_is_priced_as_it_is_written() {
    let forms = |line: &str| {
        let t = on(&[], line);
        let kept = t.buffers.iter().filter(|b| b.role == "temporary").count();
        (t.kernels.len(), kept)
    };
    assert_eq!(forms("{(+/⍵)÷⌈/⍵}0.5×⍳9000"), (1, 0));
    assert_eq!(forms("{⍵-(+/⍵)÷≢⍵}0.5×⍳9000").1, 1);
    assert_eq!(forms("{(9000⍴⍵)+⌽9000⍴⍵}0.5×⍳7000").1, 1);
    let computed = on(&[], "{⍵+.×⍉⍵}300 300⍴0.5×⍳90000");
    let there = told(&[], &["A←300 300⍴0.5×⍳90000", "A", "A+.×⍉A"]);
    let us = |t: &Trace| t.kernels.iter().map(|k| k.est.cpu_us).sum::<f64>();
    assert!(us(&computed) < 1.5 * us(&there), "{} and {}", us(&computed), us(&there));
    assert_eq!(sha(&computed), sha(&there));
}

/// A common term is no reason to write it: two folds of what nobody stores are one pass over it.
#[test]
fn two_folds_of_one_term_do_not_write_it() {
    for term in ["*⍵÷9000", "2×⍵", "÷1+⍵"] {
        let line = format!("{{y←{term} ⋄ (+/y)(⌈/y)}}⍳9000");
        let t = on(&[], &line);
        let temporaries = t.buffers.iter().filter(|b| b.role == "temporary").count();
        assert_eq!((t.kernels.len(), last(&t).out.len(), temporaries), (1, 2, 0), "{line}");
        assert!(t.buffers.iter().all(|b| b.bytes <= 8), "{line}: {:?}", t.buffers);
        assert_eq!(sha(&t), sha(&on(&["off=fusion"], &line)), "{line}");
    }
}

/// Reads whose shapes boxes and tiles do not divide, of no element and of one: right values, and a
/// reason where a size is left out.
#[test]
fn shapes_that_do_not_divide_have_right_values_and_a_reason() {
    let setup = "P←0.5×997 61⍴⍳997 ⋄ Q←0.25×61 89⍴⍳991";
    let t = told(&[], &[setup, "P Q", "P+.×Q"]);
    let (k, tiles) = (last(&t), "tiles");
    assert_eq!((t.kernels.len(), k.form.as_str()), (1, tiles));
    // Sizes that threads do not share out evenly say so; the others say the rule or are worth it.
    let by = |rule: &str| k.tuning.iter().filter(|row| row.status == rule).count();
    assert!(by("pruned:divide") > 0 && by("model") > 0, "{:?}", k.tuning);
    let known = ["model", "pruned:divide", "pruned:smem", "pruned:traffic"];
    let known = [&known[..], &["pruned:regs", "pruned:occupancy"]].concat();
    assert!(k.tuning.iter().all(|row| known.contains(&row.status.as_str())), "{:?}", k.tuning);
    let says = aplomb_viz::ask::answer(&t, "k0", 9_999).ok().flatten().expect("an answer");
    assert!(says.contains("are left out") && says.contains(" by divide"), "{says}");
    assert_eq!(sha(&t), sha(&told(&["off=fusion"], &[setup, "P Q", "P+.×Q"])));
    // Boxes at the ends of their domain, and extents of 0 and 1, to rank 6.
    for (shape, line) in [
        ("37 41", "1+⍉N"),
        ("37 41", "⊃+/,¯1 0 1∘.⊖¯1 0 1∘.⌽⊂N"),
        ("0 41", "1+⍉N"),
        ("1 41", "⊃+/,¯1 0 1∘.⊖¯1 0 1∘.⌽⊂N"),
        ("1 1", "N+.×⍉N"),
        ("0 7", "N+.×⍉N"),
        ("7 0", "N+.×⍉N"),
        ("3 1 5 2 7 11", "2×⍉N"),
        ("3 0 5 2 7 11", "+/2×⍉N"),
        ("2 3 1 37 1 41", "(1⌽N)+(¯1⌽N)+1⌽[5]N"),
    ] {
        let setup = format!("N←{shape}⍴0.5×⍳97");
        let run = |how: &[&str]| told(how, &[&setup, "N", line]);
        let whole = run(&[]);
        for how in [&["passes=bar2010"][..], &["passes=bas2008"], &["off=fusion"], &["off=place"]] {
            assert_eq!(sha(&run(how)), sha(&whole), "{shape} {line} {how:?}");
        }
    }
}

/// BAR-14: by the paper's pipeline the copy is worth it whatever the size, wherever the halo fits
/// the block and the array: one load a thread, and one more for the neighbour of the last.
#[test]
fn bar_14_the_papers_block_copies_arrays_of_any_size() {
    for n in [3, 5, 255, 256, 257, 258, 65_536] {
        let setup = format!("b←0.5×⍳{n}");
        let run = |how: &[&str]| told(how, &[&setup, "b", "(1↓b)-¯1↓b"]);
        let t = run(&["passes=bar2010"]);
        let near = last(&t).reads.iter().filter(|r| r.space == "shared").count();
        assert_eq!((t.kernels.len(), near), (1, 2), "{n}");
        let text = text(&t);
        assert!(text.contains("near0[257]") && text.contains("__syncthreads()"), "{n}: {text}");
        assert_eq!(text.matches("a0[").count(), 1, "{n}: {text}");
        assert_eq!(sha(&t), sha(&run(&[])), "{n}");
    }
}

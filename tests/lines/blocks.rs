//! Blocks of threads and memory: the elements of a block, counted by the model and
//! one by one; the memory that serves a read, and the text that shows it; who takes a launch's
//! points.

use crate::goldens_page;
use crate::support::{Heard, session, told};
use aplomb_compiler::pass::{NoClock, Options, compile};
use aplomb_ground::protocol::Request;
use aplomb_ground::trace::{LaunchRecord, ReadRecord, Trace};
use aplomb_plans::plan::{Plan, What};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The plan of a line over arrays that are there.
fn plan(line: &str) -> Rc<Plan> {
    let mut s = session();
    for code in [goldens_page::arrays(), "x y A B v G"] {
        let (code, name) = (code.into(), "text".into());
        s.handle(Request::Execute { code, name, silent: true }, &mut Heard::default());
    }
    let graph = s.graph_of(&format!("result←{line}"), &["result"]).expect(line);
    compile(&graph, &Options::default(), &mut NoClock).expect(line).plan
}

/// The different elements that the points of a box read, one by one.
fn met(plan: &Plan, from: &[usize], block: &[usize]) -> u64 {
    let l = plan.launches.last().expect("a launch");
    let mut arrays: BTreeMap<u32, BTreeSet<Vec<i64>>> = BTreeMap::new();
    let points: usize = block.iter().product();
    for point in 0..points {
        let (mut rest, mut place) = (point, from.to_vec());
        for (k, n) in block.iter().enumerate().rev() {
            (place[k], rest) = (from[k] + rest % n, rest / n);
        }
        for step in &l.body {
            let What::Load(k) = step.what else { continue };
            let load = &l.loads[k as usize];
            if load.read.tests.iter().all(|t| (t.lo..t.hi).contains(&t.ix.at(&place))) {
                let at = load.read.ix.iter().map(|ix| ix.at(&place)).collect();
                arrays.entry(load.buf.0).or_default().insert(at);
            }
        }
    }
    arrays.values().map(|all| all.len() as u64).sum()
}

/// GOLDENS 3.5: loads and stores of one tile, as docs/GOLDENS.md has them. A part of a fold reads
/// what it has so far; a fold of all pairs has it in registers.
#[test]
fn bas_18_the_model_counts_what_ten_kernels_load() {
    let rows = goldens_page::table("| line | first point | points |");
    assert_eq!(rows.len(), 10);
    let mut wrong = Vec::new();
    for row in rows {
        let [line, from, block, loads, results] = &row[..] else { panic!("{row:?}") };
        let numbers = |text: &String| -> Vec<usize> {
            text.split(' ').map(|n| n.parse().expect("a number")).collect()
        };
        let (from, block) = (numbers(from), numbers(block));
        let (loads, results) = (numbers(loads)[0] as u64, numbers(results)[0] as u64);
        let plan = plan(&goldens_page::line(line));
        let launch = plan.launches.last().expect("a launch");
        let told = plan.block_at(launch, &from, &block).expect(line);
        let sums = launch.axis.is_some() && !line.contains("∘.");
        let own = if sums { told.results } else { 0 };
        if (told.loads + own, told.results) != (loads, results)
            || told.loads != met(&plan, &from, &block)
        {
            wrong.push(format!("{line}: {told:?}, one by one {}", met(&plan, &from, &block)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn last(t: &Trace) -> &LaunchRecord {
    t.kernels.last().expect("a launch")
}

/// The read of an array that has a name.
fn read<'a>(t: &'a Trace, name: &str) -> &'a ReadRecord {
    let of = |r: &&ReadRecord| {
        let node = &t.nodes[t.buffers[r.buf as usize].node as usize];
        node.name.as_deref() == Some(name)
    };
    last(t).reads.iter().find(of).unwrap_or_else(|| panic!("no read of {name}"))
}

fn text(t: &Trace) -> &str {
    last(t).cuda.as_ref().map(|c| c.text.as_str()).expect("a text")
}

/// The text before and inside of the innermost loop over `j`.
fn around_loop(text: &str) -> (&str, &str) {
    let at = text.find("for (u64 j").expect("a loop");
    text.split_at(at)
}

/// BAS-09, BAS-15, BAS-16: of each read one class, with its reason, as the text has it.
#[test]
fn bas_15_bas_16_reads_have_a_class_of_memory_and_a_reason() {
    let setup = "M←300 200⍴0.5×⍳60000 ⋄ u←0.5×⍳300 ⋄ v←0.5×⍳200 ⋄ x←0.5×⍳9000 ⋄ y←⌽x ⋄ \
                 N←200 300⍴0.5×⍳60000";
    let of = |line: &str| told(&[], &[setup, "M N u v x y", line]);
    // A row's own factor does not move with the fold: it is loaded before the loop.
    let t = of("+/u×[1]M");
    assert_eq!((read(&t, "u").space.as_str(), last(&t).form.as_str()), ("register", "warps"));
    let u = read(&t, "u").buf;
    let place = last(&t).inputs.iter().position(|b| *b == u).expect("an input");
    let (before, inside) = around_loop(text(&t));
    let load = format!("a{place}[");
    assert!(before.contains(&load) && !inside.contains(&load), "{}", text(&t));
    assert!(read(&t, "u").why.contains("loaded before"), "{}", read(&t, "u").why);
    // A thread a result: all of a warp read one item of the vector.
    let t = of("(⍉M)+.×u");
    assert_eq!(read(&t, "u").space, "constant", "{}", last(&t).form);
    assert!(read(&t, "u").why.contains("one element"), "{}", read(&t, "u").why);
    // mv and tmv of the paper: the matrix in order, by rows and by results.
    for line in ["M+.×v", "(⍉M)+.×u"] {
        let t = of(line);
        let m = read(&t, "M");
        assert_eq!((m.space.as_str(), m.coalesced), ("global", true), "{line}");
        assert!(m.why.contains("neighbours in memory"), "{}", m.why);
    }
    // Operands of a product are copied tile by tile; of all pairs a thread keeps its own.
    let t = told(&[], &["P←0.001×999 500⍴⍳499500 ⋄ Q←⍉P", "P Q", "P+.×Q"]);
    assert!(last(&t).reads.iter().all(|r| r.space == "shared"), "{:?}", last(&t).reads);
    let t = of("+/|x∘.-y");
    assert_eq!(
        (read(&t, "x").space.as_str(), read(&t, "y").space.as_str()),
        ("register", "shared")
    );
    // Numbers of the source are parameters, which lie in constant memory; so are weights that fit.
    let t = of("(0.25×1↓x)+0.75×¯1↓x");
    assert!(text(&t).contains("double p0, ") && text(&t).contains("double p1, "), "{}", text(&t));
    assert!(t.passes.last().expect("a pass").breaks.iter().all(|b| b.reason == "root"));
    // Every class says why, and `]why` tells it.
    let t = of("+/u×[1]M");
    let says = aplomb_viz::ask::answer(&t, &format!("k{}", last(&t).id), 9_999);
    let says = says.ok().flatten().expect("an answer");
    assert!(says.contains("u is in registers: it does not move"), "{says}");
    assert!(says.contains("a warp takes a row"), "{says}");
}

/// ACC-24: all pairs go through shared memory at every size, and with several folds; the boxes load
/// n²÷256 elements and each thread's own.
#[test]
fn acc_24_all_pairs_are_copied_block_by_block() {
    for n in [8192u64, 32_768] {
        let setup = format!("x←0.5×⍳{n} ⋄ y←⌽x");
        let line = "d←x∘.-x ⋄ e←y∘.-y ⋄ r←1+(d×d)+e×e ⋄ (+/d÷r)(+/e÷r)";
        let t = told(&[], &[&setup, "x y", line]);
        for k in &t.kernels {
            assert_eq!(k.form, "pairs", "{n}: {}", k.name);
            let text = k.cuda.as_ref().map(|c| c.text.clone()).expect("a text");
            assert!(text.contains("__shared__") && text.contains("__syncthreads()"), "{text}");
            let of = k.block.as_ref().expect("a box");
            assert_eq!((&of.points[..], of.boxes), (&[256, 256][..], n * n / 65_536));
            let arrays = k.inputs.len() as u64;
            assert!(of.loads <= 2 * arrays * 256, "{of:?}");
        }
    }
}

/// ACC-27: folds of rows by the class of their length, each of which the trace names.
#[test]
fn acc_27_folds_are_shared_out_by_the_length_of_rows() {
    let rows = [
        ("4000 9", "+/M", "threads", "A thread a result."),
        ("4000 200", "+/M", "warps", "A warp a row."),
        ("1500 3000", "+/M", "blocks", "A block a row."),
        ("9 40000", "+/M", "parts", "A block a part of a row."),
        ("40000 9", "+⌿M", "strips", "A block a part of a strip of lines."),
        ("9 70000", "+⌿M", "threads", "A thread a result."),
        ("1 70000", "+/,M", "all", "The last block folds all blocks' results."),
    ];
    for (shape, line, form, note) in rows {
        let t = told(&[], &[&format!("M←{shape}⍴0.5×⍳×/{shape}"), "M", line]);
        assert_eq!(last(&t).form, form, "{shape} {line}");
        assert!(text(&t).contains(note), "{shape} {line}:\n{}", text(&t));
    }
}

/// ACC-05: scans of segments are one launch, a thread's where they are short and a warp's where
/// they are long, whatever lies between them; each is the scan of its part.
#[test]
fn acc_05_scans_of_segments_are_one_launch() {
    let classes = [
        ("6", "thread-segments", "A thread a segment."),
        ("16", "thread-segments", "A thread a segment."),
        ("18", "warp-segments", "A warp a segment."),
        ("9000", "warp-segments", "A warp a segment."),
    ];
    for (long, form, note) in classes {
        let setup = format!("x←0.5×17|⍳40000 ⋄ B←0=(3+⍳≢x)|⍨{long} ⋄ B[1]←1 ⋄ G←~B");
        let sums = "(+\\x)-(B/¯1↓0,+\\x)[+\\B]";
        for (line, wanted) in [
            ("+\\¨B⊂x".to_string(), format!("B⊂{sums}")),
            ("+\\¨B⊂2×x".to_string(), format!("B⊂2×{sums}")),
            ("+\\¨G⊆x".to_string(), "{(+\\⍵)-0}¨G⊆x".to_string()),
        ] {
            let t = told(&[], &[&setup, "B x G", &line]);
            assert_eq!((t.kernels.len(), last(&t).form.as_str()), (1, form), "{long} {line}");
            assert!(text(&t).contains(note), "{long} {line}: {}", text(&t));
            let sha = |line: &str| told(&[], &[&setup, "B x G", line]).result.expect("a value").sha;
            assert_eq!(sha(&format!("({line})≡{wanted}")), sha("1≡1"), "{long} {line}");
        }
    }
}

/// ACC-27: segments of the lengths that rows of the paper's fourteen matrices have, a hundredth as
/// many: equal, spread around the mean, few long ones among many short. The sums are those that
/// running sums differ by. By the mean length a thread takes a segment, or a warp, or threads share
/// a merge.
#[test]
fn acc_27_fourteen_distributions_of_row_lengths() {
    let equal = |mean: usize, _: usize| mean;
    let spread = |mean: usize, k: usize| 1 + (k * 1103 + 7) % (2 * mean - 1);
    let skewed = |mean: usize, k: usize| if k % 50 == 7 { 30 * mean } else { 1 + k % mean };
    type Lengths = fn(usize, usize) -> usize;
    let matrices: [(&str, usize, usize, Lengths); 14] = [
        ("dense", 20, 2000, equal),
        ("protein", 364, 119, spread),
        ("spheres", 833, 72, spread),
        ("cantilever", 625, 64, spread),
        ("wind", 2179, 53, spread),
        ("harbour", 468, 50, skewed),
        ("qcd", 492, 39, equal),
        ("ship", 1409, 55, spread),
        ("economics", 2065, 6, spread),
        ("epidemiology", 5258, 4, equal),
        ("accelerator", 1212, 22, spread),
        ("circuit", 1710, 6, skewed),
        ("webbase", 10_000, 3, skewed),
        ("LP", 43, 2633, skewed),
    ];
    let mut variants = BTreeSet::new();
    for (name, rows, mean, length) in matrices {
        let lengths: Vec<usize> = (0..rows).map(|k| length(mean, k)).collect();
        let all: usize = lengths.iter().sum();
        let list = lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
        let setup = format!("B←1@(1++\\0,¯1↓{list})⊢{all}⍴0 ⋄ x←0.5×17|⍳{all}");
        let t = told(&[], &[&setup, "B x", "+/¨B⊂x"]);
        let (wanted, note) = match all / rows {
            ..=4 => ("thread-segments", "A thread a segment."),
            64.. => ("warp-segments", "A warp a segment."),
            _ => ("merged-segments", "A thread so many steps of a merge"),
        };
        assert_eq!((t.kernels.len(), last(&t).form.as_str()), (1, wanted), "{name}");
        assert!(text(&t).contains(note), "{name}: {}", text(&t));
        variants.insert(wanted);
        let check = "(+/¨B⊂x)≡e-¯1↓0,e←(1⌽B)/+\\x";
        let one = told(&[], &[&setup, "B x", check]).result.expect("a value").sha;
        assert_eq!(one, told(&[], &["1≡1"]).result.expect("a value").sha, "{name}");
    }
    assert_eq!(variants.len(), 3);
}

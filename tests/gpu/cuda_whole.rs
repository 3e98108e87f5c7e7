//! Launches of several kernels on the stand-in: assignments by places, grades and searches, at the
//! edges of their tiles.

use crate::devices::{Both, Tally, all_there, nothing_refused, outcome};
use crate::support::{session, traced};
use crate::{devices, standin};
use aplomb_kernel::session::Session;
use aplomb_plans::plan::Order;

/// The text of a line's last launch, and how many kernels it is.
fn last_text(s: &mut Session, line: &str) -> (String, usize) {
    let trace = traced(s, &[line]);
    let text = trace.kernels.last().and_then(|k| k.cuda.clone()).expect("a text").text;
    let kernels = text.matches("__global__").count();
    (text, kernels)
}

#[test]
fn the_texts_have_their_shape_and_know_no_sizes() {
    let mut s = session();
    traced(
        &mut s,
        &[
            "V←0.5×⍳3000 ⋄ A←600 12⍴V ⋄ B←⍉A ⋄ P←1+700|⍳3000 ⋄ Z←900⍴0.5 ⋄ K←900⍴7 ⋄ C←700 15⍴V ⋄ \
             D←15 640⍴V ⋄ Q←1+700|⍳5000 ⋄ W←0.5×⍳5000",
            "V A B P Z K C D Q W",
        ],
    );
    // A tile of both operands, the product between the barriers, what follows before the only
    // store.
    let (text, kernels) = last_text(&mut s, "1+0⌈A+.×B");
    let barriers: Vec<usize> = text.match_indices("__syncthreads").map(|m| m.0).collect();
    assert_eq!((kernels, text.matches("__shared__").count(), barriers.len()), (1, 2, 2), "{text}");
    let product = text.find("u0[a] * w0[b]").expect("a product");
    assert!(
        barriers[0] < product && product < barriers[1] && text.matches("r0[").count() == 1,
        "{text}"
    );
    // Keys, counts, places, a pass a digit, the result; few are one block's.
    for (line, wanted) in [
        ("⍋V", 8 + 4),
        ("⍋3000⍴'abc'", 3 + 4),
        ("⍒3000⍴1 2 3", 1 + 4),
        ("⍋900⍴V", 3),
        ("V⍳V×2", 8 + 4),
    ] {
        let (text, kernels) = last_text(&mut s, line);
        assert_eq!(kernels, wanted, "{line}: {text}");
    }
    // Two kernels where order is told by a number or does not matter, a sort where it does.
    for (line, wanted) in [
        ("{x←⍵ ⋄ x[P]←V ⋄ x}Z", 2),
        ("{x←⍵ ⋄ x[P]+←P ⋄ x}K", 2),
        ("{x←⍵ ⋄ x[P]+←V ⋄ x}Z", 2 + 2 + 2),
    ] {
        let (text, kernels) = last_text(&mut s, line);
        assert_eq!(kernels, wanted, "{line}: {text}");
    }
    for (one, two) in
        [("⍋V", "⍋W"), ("A+.×B", "C+.×D"), ("{x←⍵ ⋄ x[P]←V ⋄ x}Z", "{x←⍵ ⋄ x[Q]←W ⋄ x}Z")]
    {
        // But for the launch's number and the marks of nodes.
        let bare = |text: String| -> Vec<String> {
            let text = text.replace(" k1", " k0");
            text.lines().map(|l| l.split("  // n").next().unwrap_or_default().to_string()).collect()
        };
        assert_eq!(bare(last_text(&mut s, one).0), bare(last_text(&mut s, two).0), "{one}");
    }
}

/// Sizes around warps, blocks, one block's sort, tiles of both widths of keys, and several tiles.
const SIZES: &[usize] = &[1, 2, 33, 257, 2047, 2048, 2049, 3073, 6147];

const SORTS: &[&str] = &[
    "⍋F",
    "⍒F",
    "⍋I",
    "⍒I",
    "⍋S",
    "⍒S",
    "⍋T",
    "⍒T",
    "⍋B",
    "⍒B",
    "⍋C",
    "⍒C",
    "⍋G",
    "F[⍋F]",
    "F[⍒F]",
    "I[⍋I]",
    "2×⍋F",
    "F⍳G",
    "G∊F",
    "I⍳I,7",
    "T∊S",
    "C⍳'aß∊z'",
    "3+F⍳F×1+1E¯15",
];

#[test]
fn orders_and_places_are_the_same() {
    if !standin::is_child_under_all_schedules("orders_and_places_are_the_same") {
        return;
    }
    let mut both = Both::after(&[]);
    for n in SIZES {
        both.set(&format!("N←{n} ⋄ F←0.25×¯40+97|13×⍳N ⋄ G←(N⍴0 ¯1 1)×1E3*¯50+101|7×⍳N"));
        both.set(
            "I←1000003×¯40+97|13×⍳N ⋄ S←300×¯40+97|13×⍳N ⋄ T←¯40+97|13×⍳N ⋄ B←2|⌊F ⋄ \
                  C←'aß∊z⍋x'[1+6|⍳N]",
        );
        both.each(SORTS);
    }
    both.all_equal(SIZES.len() * SORTS.len());
    let compiled = both.gpu.core().devices().compiling();
    assert!(compiled.memory_hits > compiled.compiled * 3, "{compiled:?}");
    SORTS.iter().for_each(|line| all_there(&mut both.gpu, line));
}

/// Changes of items at places P of an array, by all sorts of values.
const CHANGES: &[&str] = &[
    "{x←⍵ ⋄ x[P]←W ⋄ x}Z",
    "{x←⍵ ⋄ x[P]←2×W ⋄ 1+x}Z",
    "{x←⍵ ⋄ x[P]+←W ⋄ x}Z",
    "{x←⍵ ⋄ x[P]+←1 ⋄ x}K",
    "{x←⍵ ⋄ x[P]+←U ⋄ x}K",
    "{x←⍵ ⋄ x[P]-←U ⋄ 2×x}K",
    "{x←⍵ ⋄ x[P]⌈←U ⋄ x}K",
    "{x←⍵ ⋄ x[P]⌊←U ⋄ x}K",
    "{x←⍵ ⋄ x[P]×←W ⋄ x}Z",
    "{x←⍵ ⋄ x[P]÷←1+W*2 ⋄ x}Z",
    "{x←⍵ ⋄ x[P]⌈←W ⋄ x}Z",
    "{x←⍵ ⋄ x[P]∨←2|U ⋄ x}2|K",
    "{x←⍵ ⋄ x[P]∧←2|U ⋄ x}2|K",
    "{x←⍵ ⋄ x[P]|←1+U ⋄ x}K",
    "{x←⍵ ⋄ x[2 1;P]←2 0∘.×W ⋄ x}2 1∘.×Z",
    "{x←⍵ ⋄ x[2 1;P]+←2 0∘.×W ⋄ x}2 1∘.×Z",
];

#[test]
fn items_changed_by_places_are_the_same() {
    if !standin::is_child_under_all_schedules("items_changed_by_places_are_the_same") {
        return;
    }
    let mut both = Both::after(&[]);
    for (n, places) in
        [(1, 1), (3, 2), (257, 9), (2049, 2048), (2049, 2049), (4100, 700), (900, 3000)]
    {
        both.set(&format!(
            "N←{n} ⋄ L←{places} ⋄ P←1+L|⌊(⍳N)×⍳N ⋄ W←0.1×¯40+97|13×⍳N ⋄ U←¯40+97|13×⍳N"
        ));
        both.set("Z←0.3×⍳L ⋄ K←100000×¯3+7|⍳L");
        both.each(CHANGES);
    }
    both.all_equal(7 * CHANGES.len());
    CHANGES.iter().for_each(|line| all_there(&mut both.gpu, line));
}

/// `--reduce any`: sums of what is no integer are added as threads come, and the trace says so.
#[test]
fn sums_in_any_order_are_as_near_as_their_rounding() {
    if !standin::is_child_under_all_schedules("sums_in_any_order_are_as_near_as_their_rounding") {
        return;
    }
    let mut both =
        Both::after(&["P←1+700|⌊(⍳4100)×⍳4100 ⋄ W←0.1×1+97|13×⍳4100 ⋄ Z←(3⍴0),0.3×⍳697 ⋄ K←700⍴5"]);
    both.gpu.options().order = Order::Any;
    let lines = [
        "{x←⍵ ⋄ x[P]+←W ⋄ x}Z",
        "{x←⍵ ⋄ x[P]-←W ⋄ x}Z",
        "{x←⍵ ⋄ x[P]+←'f32'⎕AS W ⋄ x}Z",
        "{x←⍵ ⋄ x[P]+←÷W-W ⋄ x}Z",
    ];
    // The tally takes other bits where it sees a fold.
    both.each(&lines.map(|line| format!("({line}),+/⍬")));
    assert_eq!(both.told().0.lines, 3, "the last one fails");
    let (text, kernels) = last_text(&mut both.gpu, lines[0]);
    assert!(text.contains("atomicAdd(sums + goes, (double)(") && kernels == 2, "{kernels}: {text}");
    let why = |s: &mut Session| devices::ran_on(s, lines[0]).pop().map(|r| r.1).unwrap_or_default();
    assert!(
        why(&mut both.gpu)
            .ends_with("added as threads come, so their last bits differ from run to run")
    );
    // Integers are exact in any order, and other operations have one.
    for line in ["{x←⍵ ⋄ x[P]+←P ⋄ x}K", "{x←⍵ ⋄ x[P]×←W ⋄ x}Z"] {
        assert!(!last_text(&mut both.gpu, line).0.contains("threads come"), "{line}");
    }
}

/// Lines that fail, or are beyond what atomics leave exact: the CPU says what it is.
const BEYOND: &[&str] = &[
    "{x←⍵ ⋄ x[P]÷←U-U ⋄ x}K",
    "{x←⍵ ⋄ x[P]+←(U+2*30)×U+2*30 ⋄ x}K",
    "{x←⍵ ⋄ x[P]←÷U-3 ⋄ x}Z",
    "{x←⍵ ⋄ x[P]×←1E300 ⋄ x}Z",
    "÷3-⍋U",
    "+/¨1 1 0 2 2 2 0 3 3⊆÷U-3",
    "+/¨1 1 0 2 2 2 0 3 3⊆÷U-2.5",
    "⍟U⍳U",
];

#[test]
fn failures_in_several_kernels_are_told_as_the_cpu_tells_them() {
    if !standin::is_child("failures_in_several_kernels_are_told_as_the_cpu_tells_them", &[]) {
        return;
    }
    let setup = "P←9⍴1 2 3 ⋄ U←⍳9 ⋄ K←⍳3 ⋄ Z←0.5×K";
    let mut both = Both::after(&[setup]);
    let mut errors = 0;
    for line in BEYOND {
        let (found, wanted) = (outcome(&mut both.gpu, line), outcome(&mut both.cpu, line));
        assert_eq!(found, wanted, "{line}");
        errors += usize::from(found.is_err());
        nothing_refused(&mut both.gpu);
    }
    assert_eq!(errors, 5, "{errors}");
}

/// Products and folds of all pairs, of an R×K matrix A, a K×C matrix B and vectors.
const PRODUCTS: &[&str] = &[
    "A+.×B",
    "A⌊.+B",
    "(⍉C)+.×⍉D",
    "1+0⌈(2×A)+.×B-0.25",
    "A+.×B÷4",
    "+/|P∘.-Q",
    "⌈⌿Q∘.×P",
    "{+/(Q∘.-⍵)÷1+(Q∘.-⍵)*2}P",
];

#[test]
fn products_and_all_pairs_have_the_same_values() {
    if !standin::is_child_under_all_schedules("products_and_all_pairs_have_the_same_values") {
        return;
    }
    let mut both = Both::after(&[]);
    for (r, c, k) in [(512, 256, 16), (513, 255, 17), (449, 257, 8)] {
        both.set(&format!("A←0.25×¯9+{r} {k}⍴⍳17 ⋄ B←0.5×¯9+{k} {c}⍴⍳19 ⋄ C←⍉A ⋄ D←⍉B"));
        both.set(&format!("P←0.25×⍳{} ⋄ Q←0.5×⍳{}", 8191 + k, 250 + k));
        both.each(PRODUCTS);
    }
    assert_eq!(both.told().0.lines, 3 * PRODUCTS.len());
    for line in PRODUCTS {
        let (text, _) = last_text(&mut both.gpu, line);
        assert!(text.contains("A block ") && text.contains("__shared__"), "{line}: {text}");
    }
}

/// `!` on whole numbers gives the same bits; elsewhere it calls pow and exp, the system's.
const GAMMAS: &[(&str, bool)] = &[
    ("!¯1+⍳171", true),
    ("(¯20+⍳41)∘.!¯20+⍳41", true),
    ("5!0.37×⍳90", true),
    ("!¯30.33+0.35×⍳560", false),
    ("(0.3+⍳40)∘.!0.55×⍳60", false),
    ("(0.3+50×⍳9)∘.!0.1+90×⍳9", false),
    ("(0.4-150×⍳3)∘.!0.3-140×⍳3", false),
    ("(0 1 2 3 5 7 9 10 12∘.○0.1×⍳9),4○0.19×⍳9", true),
    ("(¯1 ¯2 ¯3 ¯10∘.○¯0.9+0.19×⍳9),¯4○1.5×⍳4", true),
    ("¯5 ¯7∘.○¯0.9+0.19×⍳9", false),
    ("(6×⍳2)○⍤0⊢1 2", true),
];

#[test]
fn factorials_and_circles_have_the_same_values() {
    if !standin::is_child("factorials_and_circles_have_the_same_values", &[]) {
        return;
    }
    let mut both = Both::after(&[]);
    for (line, exact) in GAMMAS {
        both.tally = Tally::default();
        both.each(&[line]);
        let (tally, _) = both.told();
        assert!(tally.lines == 1 && (!exact || tally.bits_differ == 0), "{line} {tally:?}");
        all_there(&mut both.gpu, line);
    }
}

#[test]
fn segments_have_the_same_values() {
    if !standin::is_child_under_all_schedules("segments_have_the_same_values") {
        return;
    }
    let mut both = Both::after(&[]);
    let lines = [
        "∊+/¨B⊂V",
        "∊⌈/¨B⊂2×V",
        "∊+/¨G⊆V",
        "1+∊⌊/¨B⊂V-0.5",
        "∊+\\¨B⊂V",
        "∊⌈\\¨B⊂2×V",
        "∊+\\¨G⊆V-0.25",
        "∊≠\\¨B⊂V>2",
        "∊+\\¨G⊆÷V-1E6",
    ];
    for (n, by) in [(1, 1), (31, 4), (257, 9), (1025, 40), (3000, 333)] {
        both.set(&format!(
            "V←0.25×¯40+97|13×⍳{n} ⋄ B←1=⍳{n} ⋄ B[1+{by}×¯1+⍳⌈{n}÷{by}]←1 ⋄ \
                           G←(0≠7|⍳{n})×⌈(⍳{n})÷{by}"
        ));
        both.each(&lines);
    }
    // One long segment among short ones, behind them and before them, and ends at which the
    // shares of threads end, too.
    for lengths in ["(60⍴5),900", "900,60⍴5", "(30⍴7),600,30⍴7", "64⍴15", "40⍴8"] {
        both.set(&format!(
            "L←{lengths} ⋄ V←0.25×¯40+97|13×⍳+/L ⋄ B←1@(1++\\0,¯1↓L)⊢(≢V)⍴0 ⋄ \
             G←(0≠7|⍳≢V)×+\\B"
        ));
        both.each(&lines);
    }
    both.all_equal(10 * lines.len());
    lines.iter().for_each(|line| all_there(&mut both.gpu, line));
}

/// BAS-09: rows of which blocks copy parts, as the pipeline of 2008 has them: at ends of blocks and
/// of parts, of several types, with results beside them and behind them.
#[test]
fn staged_rows_have_the_same_values() {
    if !standin::is_child_under_all_schedules("staged_rows_have_the_same_values") {
        return;
    }
    let mut both = Both::after(&[]);
    for s in [&mut both.cpu, &mut both.gpu] {
        s.options().take("bas2008").expect("a pipeline");
    }
    let lines = ["M+.×v", "+/M", "1+⌈/2×M", "+/S", "⌊/J", "(+/M)-⌈/M"];
    for (rows, long) in [(32, 32), (33, 47), (256, 48), (257, 100), (600, 33)] {
        both.set_at_once(&format!(
            "M←{rows} {long}⍴0.25×¯40+97|13×⍳{rows}×{long} ⋄ v←0.5×⍳{long} ⋄ \
             S←'f32'⎕AS M ⋄ J←⌊M"
        ));
        both.each(&lines);
    }
    both.all_equal(5 * lines.len());
    lines.iter().for_each(|line| all_there(&mut both.gpu, line));
    let told = both.gpu.trace_of(Some("M+.×v")).expect("a trace");
    assert_eq!(told.kernels.last().map(|k| k.form.as_str()), Some("staged"));
}

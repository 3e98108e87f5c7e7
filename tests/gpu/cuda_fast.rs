//! `--math fast`: the texts, what they take, and how far their values are from the CPU's.

use crate::devices::{all_there, nothing_refused, outcome, prepared};
use crate::support::traced;
use crate::{nvrtc, standin};
use aplomb_devices::device::Wanted;
use aplomb_devices::device::cuda::{cubin, measured};
use aplomb_ground::trace::LaunchRecord;
use aplomb_kernel::session::Session;
use aplomb_plans::kir;
use aplomb_plans::plan::Math;

fn fast(mut s: Session) -> Session {
    s.options().math = Math::Fast;
    s
}

/// Vectors of f32 and f64, and matrices of f32, of which those named W make tiles of 128.
const SETUP: &[&str] = &[
    "A←'f32'⎕AS 0.0153+0.02×⍳3000 ⋄ D←0.0153+0.02×⍳3000 ⋄ B←⌽A",
    "M←'f32'⎕AS 300 40⍴0.125×¯8+17|⍳12000 ⋄ N←'f32'⎕AS 40 600⍴0.25×¯9+19|⍳24000",
    "V←'f32'⎕AS 1300 40⍴0.125×¯8+17|⍳52000 ⋄ W←'f32'⎕AS 40 1300⍴0.25×¯9+19|⍳52000",
    "A D B M N V W",
];

/// The last launch of a line.
fn last(s: &mut Session, line: &str) -> LaunchRecord {
    let trace = traced(s, &[line]);
    let is_told = |code: &str| code == "W-at-once";
    assert!(trace.diagnostics.iter().all(|d| is_told(&d.code)), "{line}: {:?}", trace.diagnostics);
    trace.kernels.into_iter().next_back().unwrap_or_else(|| panic!("{line}: no launch"))
}

fn text(launch: &LaunchRecord) -> &str {
    launch.cuda.as_ref().map_or("", |c| c.text.as_str())
}

/// The texts of goldens/fast.md; UPDATE=1 writes them.
#[test]
fn the_texts_are_those_of_the_page() {
    let mut s = fast(prepared(Wanted::Cpu, SETUP));
    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/goldens/fast.md");
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let mut made = String::new();
    for part in page.split_inclusive("```\n") {
        match part.strip_prefix("      ").and_then(|p| p.split_once('\n')) {
            Some((line, _)) => made += &format!("      {line}\n{}```\n", text(&last(&mut s, line))),
            None => made += part,
        }
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PAGE, &made).expect("the page");
    }
    assert!(made == page, "{made}");
}

/// A launch in which nothing is made fast keeps its text, and strict texts know nothing of the
/// other.
#[test]
fn what_gains_nothing_keeps_its_text() {
    let (mut strict, mut quick) =
        (prepared(Wanted::Cpu, SETUP), fast(prepared(Wanted::Cpu, SETUP)));
    for line in ["A+B", "⌽D", "A>B", "⌈/D", "+/A", "+\\D", "A[⍋A]", "A*1E¯50"] {
        let (one, other) = (last(&mut strict, line), last(&mut quick, line));
        assert_eq!((text(&one), &one.math), (text(&other), &None), "{line}");
        assert_eq!(other.math, None, "{line}");
    }
    for (line, piece) in [
        ("*A", "quick_expf(v0)"),
        ("*D", "quick_exp(v0)"),
        ("1E50⍟A", "quick_log("),
        ("0.1⍟A", "quick_divf(quick_logf(v0, "),
        ("2⍟A", "quick_divf(quick_logf(v0, "),
        ("1+A", "(float)p0 + v0"),
        ("A÷7", "quick_divf(v0, (float)p0"),
        ("A*1.5", "quick_powf(v0, (float)p0"),
        ("1+A÷1E50", "divide(v0, p0"),
        ("1+2×A", "(float)p0"),
        ("1+2×D", "// Fast math."),
        ("M+.×N", "float t0["),
        ("V+.×W", "float t0[64]"),
        ("M⌈.+N", "double t0["),
    ] {
        let (one, other) = (last(&mut strict, line), last(&mut quick, line));
        let is_fast = !line.contains("⌈.");
        assert!(!is_fast || text(&other).contains(piece), "{line}: {}", text(&other));
        assert_eq!(
            (one.math.as_deref(), other.math.as_deref()),
            (None, is_fast.then_some("fast")),
            "{line}"
        );
        assert!(!text(&one).contains("quick_") && kir::math(text(&one)) == Math::Strict, "{line}");
    }
}

/// Values as numbers.
fn numbers(s: &mut Session, line: &str) -> (Vec<usize>, Vec<f64>) {
    let (shape, items) = outcome(s, line).unwrap_or_else(|e| panic!("{line}: {e}"));
    (shape, items.into_iter().map(f64::from_bits).collect())
}

/// The distance of two numbers where neighbours among f32, or f64, are 1 apart.
fn units(a: f64, b: f64, digits: i32) -> f64 {
    let exponent = a.abs().max(b.abs()).max(1e-37).log2().floor() as i32;
    (a - b).abs() / 2f64.powi(exponent - digits)
}

/// Lines, and the bits behind the point of their results.
const FUNCTIONS: &[(&str, i32)] = &[
    ("*A÷16", 23),
    ("⍟A", 23),
    ("1○A", 23),
    ("2○A", 23),
    ("3○A", 23),
    ("1○A×1E6", 23),
    ("A*0.5", 23),
    ("A*1.5", 23),
    ("(-⌊A)*3", 23),
    ("A*¯2", 23),
    ("A*0.1", 23),
    ("2⍟A", 23),
    ("A⍟B", 23),
    ("÷A", 23),
    ("B÷A", 23),
    ("A÷1E¯3", 23),
    ("*-D÷9", 52),
    ("⍟D", 52),
    ("1○D", 52),
    ("2○D×1E6", 52),
    ("3○D", 52),
    ("3⍟D", 52),
];

#[test]
fn functions_are_within_four_units_of_the_cpus() {
    if !standin::is_child("functions_are_within_four_units_of_the_cpus", &[]) {
        return;
    }
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, SETUP), fast(prepared(Wanted::Cuda, SETUP)));
    let mut other = 0;
    for (line, digits) in FUNCTIONS {
        let (found, wanted) = (numbers(&mut gpu, line), numbers(&mut cpu, line));
        assert_eq!(found.0, wanted.0, "{line}");
        let apart =
            found.1.iter().zip(&wanted.1).map(|(a, b)| units(*a, *b, *digits)).fold(0.0, f64::max);
        assert!(apart <= 4.0, "{line}: {apart} units");
        other += usize::from(found.1 != wanted.1);
        all_there(&mut gpu, line);
    }
    nothing_refused(&mut gpu);
    // These are other functions than the CPU's.
    assert!(other > 5, "{other}");
}

/// Lines that fail, or would if sums of f32 did not go on where they are too large: the CPU says
/// what it is.
const EDGES: &[&str] = &[
    "⍟0⌈A-0.25",
    "⍟-D",
    "(A-A)÷A-A",
    "÷A-A",
    "÷⌊A",
    "*2×A",
    "A×3E38",
    "(A-A)*-A",
    "(-A)*0.5",
    "(-A)*1.5",
    "A÷1E¯50",
    "(A-A)÷1E¯50",
    "1E¯50×A×1E30",
    "3○A-A",
    "¯1○A",
    "(M×1E20)+.×N×1E20",
    "(V×1E20)+.×W×1E20",
    "P+.×Q",
    "(0×P)+.×Q",
];

#[test]
fn errors_and_special_values_are_those_of_the_cpu() {
    if !standin::is_child("errors_and_special_values_are_those_of_the_cpu", &[]) {
        return;
    }
    // Products of 3E38 that cancel: their sums are beyond f32 on the way.
    let more = "P←'f32'⎕AS 600 8⍴3E38 3E38 ¯3E38 ¯3E38 ⋄ Q←'f32'⎕AS 8 600⍴1";
    let lines: Vec<&str> = SETUP.iter().copied().chain([more, "P Q"]).collect();
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, &lines), fast(prepared(Wanted::Cuda, &lines)));
    let mut errors = 0;
    for line in EDGES {
        match (outcome(&mut gpu, line), outcome(&mut cpu, line)) {
            (Ok(a), Ok(b)) => {
                let near =
                    |(x, y): (&u64, &u64)| units(f64::from_bits(*x), f64::from_bits(*y), 23) <= 4.0;
                assert!(
                    a.0 == b.0 && a.1.len() == b.1.len() && a.1.iter().zip(&b.1).all(near),
                    "{line}"
                );
            }
            (a, b) => {
                assert_eq!(a, b, "{line}");
                errors += 1;
            }
        }
        nothing_refused(&mut gpu);
    }
    assert!(errors >= 9 && errors < EDGES.len() - 5, "{errors}");
}

/// Of an R×K matrix A and a K×C matrix B of f32, around an edge of 128, 64 or 32 results and of 16
/// places; what a tile's thread keeps.
const PRODUCTS: &[(&str, [usize; 3], &str)] = &[
    ("1+0⌈(2×A)+.×B-0.3", [129, 6017, 17], "t0[64]"),
    ("(⍉C)+.×⍉D", [259, 3969, 8], "t0[64]"),
    ("A+.×B", [131, 1000, 15], "float t0["),
    ("(⍉C)+.×⍉D", [63, 2049, 33], "float t0["),
    ("A+.×B", [1, 300, 17], ""),
];

#[test]
fn products_are_as_near_as_is_said() {
    if !standin::is_child_under_all_schedules("products_are_as_near_as_is_said") {
        return;
    }
    let (mut cpu, mut gpu) = (fast(prepared(Wanted::Cpu, &[])), fast(prepared(Wanted::Cuda, &[])));
    gpu.options().switch("cublas", false).expect("a switch");
    // Dear ones once: of the first line's text they differ in how a tile is fetched, where no
    // thread waits for another.
    let dear = std::env::var("CUSIM_SCHEDULE").is_ok_and(|schedule| schedule == "random");
    for (line, [r, c, k], tile) in PRODUCTS.iter().filter(|p| dear || p.1[0] != 259) {
        let (a, b) =
            (format!("0.1×¯9+{r} {k}⍴17|⍳{}", r * k), format!("0.3×¯9+{k} {c}⍴19|3×⍳{}", k * c));
        let set = format!("A←'f32'⎕AS {a} ⋄ B←'f32'⎕AS {b} ⋄ C←'f32'⎕AS ⍉{a} ⋄ D←'f32'⎕AS ⍉{b}");
        for s in [&mut cpu, &mut gpu] {
            // All are computed; shown they would take gigabytes.
            traced(s, &[&set, "(A≡A)(B≡B)(C≡C)(D≡D)"]);
            s.interp().set_record_all(true);
        }
        let launch = last(&mut cpu, line);
        assert!(text(&launch).contains(tile), "{r} {c} {k}: {}", text(&launch));
        // A thread has as many sums as the size that was chosen says.
        if let Some(size) = launch.tuning.iter().find(|size| size.chosen) {
            let sums = format!("float t0[{}]", size.own.pow(2));
            assert!(text(&launch).contains(&sums), "{r} {c} {k}: {}", text(&launch));
        }
        let (found, wanted) = (numbers(&mut gpu, line), numbers(&mut cpu, line));
        assert_eq!(found.0, wanted.0, "{line}");
        let (far, size) = far(&found.1, &wanted.1);
        let most = 1e-5 * (*k as f64).sqrt() * size;
        assert!(far <= most, "{line}, {r} {c} {k}: {far} apart, {most} at most");
        nothing_refused(&mut gpu);
    }
}

/// The greatest difference, and the greatest of the second list.
fn far(found: &[f64], wanted: &[f64]) -> (f64, f64) {
    let most =
        |all: &mut dyn Iterator<Item = f64>| all.fold(0.0, |most, x| f64::max(most, x.abs()));
    (most(&mut found.iter().zip(wanted).map(|(a, b)| a - b)), most(&mut wanted.iter().copied()))
}

/// One process and one cache on the disk: each math finds its own binaries and its own bits.
#[test]
fn caches_keep_the_two_apart() {
    if !standin::is_child("caches_keep_the_two_apart", &[]) {
        return;
    }
    const LINE: &str = "0.1+0.3×D×D";
    let mut cpu = prepared(Wanted::Cpu, SETUP);
    let mut first = fast(prepared(Wanted::Cuda, SETUP));
    let wanted = outcome(&mut cpu, LINE).expect("numbers");
    let quick = outcome(&mut first, LINE).expect("numbers");
    assert!(quick.1 != wanted.1, "× and + are rounded once");
    let made = |s: &mut Session| {
        let c = s.core().devices().compiling();
        (c.compiled, c.disk_hits)
    };
    let mut second = prepared(Wanted::Cuda, SETUP);
    for math in [Math::Strict, Math::Fast, Math::Strict] {
        second.options().math = math;
        let own = if math == Math::Fast { &quick } else { &wanted };
        assert!(outcome(&mut second, LINE).as_ref() == Ok(own), "{math:?}");
    }
    // What the other session compiled was there: only the strict text was new.
    assert!(made(&mut first).0 > 0 && made(&mut second).1 > 0, "{:?}", made(&mut second));
    let before = made(&mut first);
    first.options().math = Math::Strict;
    assert!(outcome(&mut first, LINE).as_ref() == Ok(&wanted));
    assert_eq!(made(&mut first), (before.0, before.1 + 1));
    nothing_refused(&mut second);
}

#[test]
fn cublas_multiplies_f32_where_its_sums_may_be() {
    if !standin::is_child("cublas_multiplies_f32_where_its_sums_may_be", &[]) {
        return;
    }
    let lines = [
        "A←'f32'⎕AS 150 560⍴0.1×17|3×⍳2100 ⋄ B←'f32'⎕AS 560 160⍴0.3×11|7×⍳2240 ⋄ C←'f32'⎕AS 560 \
         150⍴0.7×13|5×⍳2100",
        "A B C",
    ];
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, &lines), fast(prepared(Wanted::Cuda, &lines)));
    for line in ["A+.×B", "(⍉C)+.×B", "(130 555↑A)+.×5 7↓B"] {
        let (found, wanted) = (numbers(&mut gpu, line), numbers(&mut cpu, line));
        let (far, size) = far(&found.1, &wanted.1);
        assert!(
            found.0 == wanted.0 && far <= 1e-5 * 560f64.sqrt() * size,
            "{line}: {far} of {size}"
        );
        let ran = last(&mut gpu, line).ran.expect("it ran");
        assert_eq!(ran.library.as_deref(), Some("cublasSgemm"), "{line}: {}", ran.why);
        assert!(ran.why.contains("; fast math: sums of "), "{}", ran.why);
    }
    // Strict math adds in f64.
    gpu.options().math = Math::Strict;
    let ran = last(&mut gpu, "A+.×B").ran.expect("it ran");
    assert!(
        ran.library.is_none() && ran.why.contains("it adds f32 in f32, we in f64"),
        "{}",
        ran.why
    );
    // Beyond 2*51 our text multiplies, and what it cannot the CPU does.
    for (more, fails) in [("A←A×1E16", false), ("A←A×1E20 ⋄ B←B×1E20", true)] {
        let lines = [lines[0], more, "A B"];
        let mut own = [Wanted::Cpu, Wanted::Cuda].map(|w| fast(prepared(w, &lines)));
        assert_eq!(own.each_mut().map(|s| outcome(s, "A+.×B").is_err()), [fails; 2], "{more}");
        if !fails {
            let ran = last(&mut own[1], "A+.×B").ran.expect("it ran");
            let says = ran.why.contains("of f32 beyond 2*51, may overflow")
                && ran.why.contains("; fast math: ");
            assert!(ran.library.is_none() && says, "{}", ran.why);
        }
    }
    nothing_refused(&mut gpu);
}

/// Lines, and the registers that their texts may take on sm_80 and sm_90; the others take more.
const BUDGETS: &[(&str, u32)] = &[
    ("2×*A", 40),
    ("1+⍟A", 40),
    ("1○A", 48),
    ("A*1.5", 48),
    ("A⍟B", 40),
    ("2×*D", 40),
    ("1+⍟D", 40),
    ("1○D", 48),
    ("A+2.5×B", 40),
    ("V+.×W", 128),
    ("0⌈V+.×2×W", 128),
    ("M+.×N", 128),
];

#[test]
fn the_fast_texts_compile_within_their_budgets() {
    if !nvrtc::is_child("the_fast_texts_compile_within_their_budgets") {
        return;
    }
    let mut s = fast(prepared(Wanted::Cpu, SETUP));
    let launches: Vec<LaunchRecord> = BUDGETS.iter().map(|(line, _)| last(&mut s, line)).collect();
    for arch in ["sm_75", "sm_80", "sm_90", "sm_100"] {
        for ((line, most), launch) in BUDGETS.iter().zip(&launches) {
            let program = kir::program(std::slice::from_ref(launch.cuda.as_ref().expect("a text")));
            assert_eq!(kir::math(&program), Math::Fast, "{line}");
            let all = measured(&program, arch).unwrap_or_else(|e| panic!("{arch}: {line}: {e}"));
            let more = if matches!(arch, "sm_80" | "sm_90") { 0 } else { 48 };
            for (_, usage) in all {
                println!("{arch} {:3} {:5} {line}", usage.registers, usage.shared);
                let fits = usage.registers <= most + more && usage.shared <= 48 << 10;
                assert!(usage.spills == 0 && fits, "{arch}: {line}: {usage:?}");
            }
        }
    }
}

/// The instructions that the multiplications of a tile are made of.
#[test]
fn a_tile_of_128_is_multiplications_and_wide_loads() {
    let Some(nvdisasm) = nvrtc::nvdisasm() else { return };
    if !nvrtc::is_child("a_tile_of_128_is_multiplications_and_wide_loads") {
        return;
    }
    let mut s = fast(prepared(Wanted::Cpu, SETUP));
    let launch = last(&mut s, "V+.×W");
    let program = kir::program(std::slice::from_ref(launch.cuda.as_ref().expect("a text")));
    for arch in ["sm_80", "sm_90", "sm_100"] {
        let made = cubin(&program, arch).unwrap_or_else(|e| panic!("{arch}: {e}"));
        let kernels = nvrtc::instructions(&nvdisasm, &made);
        let [(_, code)] = kernels.as_slice() else { panic!("{arch}: {} kernels", kernels.len()) };
        let is = |what: &'static str| move |i: &String| i.starts_with(what);
        let first = code.iter().position(is("FFMA")).expect("a multiplication");
        let last = code.iter().rposition(is("FFMA")).expect("a multiplication");
        let count = |what| code[first..=last].iter().filter(|i| is(what)(i)).count();
        let share = count("FFMA") as f64 / (last + 1 - first) as f64;
        let wide = code.iter().filter(|i| *i == "LDS.128").count();
        println!(
            "{arch}: {} multiplications, {:.1} % of the loop, {wide} wide loads",
            count("FFMA"),
            100.0 * share
        );
        assert!(count("FFMA") == 1024 && wide == 64 && share >= 0.85, "{arch}: {share}, {wide}");
        let others = code
            .iter()
            .filter(|i| ["LDL", "STL", "F2F", "DFMA", "DADD"].iter().any(|o| i.starts_with(o)));
        assert_eq!(others.count(), 0, "{arch}");
    }
}

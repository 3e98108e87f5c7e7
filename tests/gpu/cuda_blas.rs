//! Products that cuBLAS does: the values are the CPU's, and whatever is wrong with the library, our
//! text does them. On the stand-in, whose libcublas looks at its arguments and adds in an order of
//! its own.

use crate::devices::{near, nothing_refused, outcome, prepared};
use crate::standin;
use aplomb_devices::device::Wanted;
use aplomb_ground::trace::Ran;
use aplomb_kernel::session::Session;

/// Matrices in memory, of fractions, so that they are f64; C and D lie the other way round.
const SETUP: &[&str] = &[
    "A←150 140⍴0.5×17|3×⍳2100",
    "B←140 160⍴0.25×11|7×⍳2240",
    "C←140 150⍴0.5×13|5×⍳2100",
    "D←160 140⍴0.25×19|4×⍳2240",
    "A B C D",
];

/// And so many of a line's launches are cuBLAS's.
const LINES: &[(&str, usize)] = &[
    ("A+.×B", 1),
    ("(⍉C)+.×B", 1),
    ("A+.×⍉D", 1),
    ("(⍉C)+.×⍉D", 1),
    ("A+.×⍉A", 1),
    ("(130 135↑A)+.×5 7↓B", 1),
    ("(⍉5 6↓C)+.×⍉130 ¯135↑D", 1),
    ("(A+.×B)+.×D", 2),
    // The sum is not all, or the operands are no matrices in memory.
    ("1+A+.×B", 0),
    ("A⌈.+B", 0),
    ("(⌽A)+.×B", 0),
    ("(100 90↑A)+.×90 80↑B", 0),
];

fn same(cpu: &mut Session, gpu: &mut Session, line: &str) {
    match (outcome(gpu, line), outcome(cpu, line)) {
        (Ok(a), Ok(b)) => {
            let equal = a.0 == b.0
                && a.1.len() == b.1.len()
                && a.1.iter().zip(&b.1).all(|(x, y)| near(*x, *y));
            assert!(equal, "{line}: other values");
        }
        (a, b) => assert_eq!(a, b, "{line}"),
    }
}

fn ran(s: &mut Session, line: &str) -> Vec<Ran> {
    s.trace_of(Some(line)).expect("a trace").kernels.into_iter().filter_map(|k| k.ran).collect()
}

fn by_library(ran: &[Ran]) -> usize {
    ran.iter().filter(|r| r.library.as_deref() == Some("cublasDgemm")).count()
}

#[test]
fn products_by_cublas_have_the_same_values() {
    if !standin::is_child_under_all_schedules("products_by_cublas_have_the_same_values") {
        return;
    }
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, SETUP), prepared(Wanted::Cuda, SETUP));
    for (line, count) in LINES {
        same(&mut cpu, &mut gpu, line);
        let ran = ran(&mut gpu, line);
        assert_eq!(by_library(&ran), *count, "{line}: {ran:?}");
        assert!(ran.iter().all(|r| r.device == "cuda"), "{line}: {ran:?}");
        for r in ran.iter().filter(|r| r.library.is_some()) {
            assert!(
                r.why.contains("cuBLAS multiplies: estimated ") && r.why.contains(" by our text"),
                "{}",
                r.why
            );
        }
        nothing_refused(&mut gpu);
    }
    let facts = gpu.core().devices().find().expect("a device").facts();
    let says = facts.into_iter().find(|f| f.0 == "cuBLAS").map(|f| f.1);
    assert_eq!(says.as_deref(), Some("13.0, for products of f64, of f32 in fast math"));
}

/// A product that could overflow says by our text what the CPU says: an error, or numbers.
#[test]
fn what_may_overflow_is_not_left_to_cublas() {
    if !standin::is_child("what_may_overflow_is_not_left_to_cublas", &[]) {
        return;
    }
    for (large, fine) in [("1E150", true), ("1E151", true), ("1E308", false)] {
        // In a corner, and in the last line of what is read of the right one.
        for (name, at) in [("A", "1;1"), ("B", "140;160")] {
            let set = format!("{name}[{at}]←{large}");
            let lines: Vec<&str> =
                SETUP.iter().copied().chain([set.as_str(), "A[1;1]+B[1;1]"]).collect();
            let (mut cpu, mut gpu) =
                (prepared(Wanted::Cpu, &lines), prepared(Wanted::Cuda, &lines));
            let line = if fine { "A+.×B" } else { "(9×A)+.×B" };
            same(&mut cpu, &mut gpu, line);
            if fine {
                let ran = ran(&mut gpu, line);
                let small = large == "1E150";
                assert_eq!(by_library(&ran), usize::from(small), "{set}: {ran:?}");
                assert_eq!(
                    ran[0].why.contains("items beyond 2*499 may overflow"),
                    !small,
                    "{set}: {ran:?}"
                );
            }
            nothing_refused(&mut gpu);
        }
    }
    // Products that overflow, both ways round: the sum is no number, or it would be one if nothing
    // were rounded between.
    for items in ["1E200", "1E155×(140⍴1 ¯1)"] {
        let right = format!("B[;1]←{items}");
        let lines: Vec<&str> =
            SETUP.iter().copied().chain(["A[1;]←1E155", right.as_str(), "A B"]).collect();
        let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, &lines), prepared(Wanted::Cuda, &lines));
        same(&mut cpu, &mut gpu, "A+.×B");
        assert!(outcome(&mut gpu, "A+.×B").is_err(), "{items}");
    }
}

/// The line's value, its text run by us, and why.
fn by_our_text(off: bool) -> String {
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, SETUP), prepared(Wanted::Cuda, SETUP));
    if off {
        gpu.options().switch("cublas", false).expect("a switch");
    }
    let ran = ran(&mut gpu, "A+.×B");
    assert_eq!((ran.len(), by_library(&ran), ran[0].device.as_str()), (1, 0, "cuda"), "{ran:?}");
    let why = ran[0].why.clone();
    same(&mut cpu, &mut gpu, "A+.×B");
    assert_eq!(by_library(&self::ran(&mut gpu, "A+.×B")), 0);
    why
}

#[test]
fn the_switch_leaves_products_to_our_text() {
    if !standin::is_child("the_switch_leaves_products_to_our_text", &[]) {
        return;
    }
    let why = by_our_text(true);
    assert!(why.contains("our text, not cuBLAS, multiplies (it is off): estimated "), "{why}");
}

#[test]
fn without_the_library_our_text_multiplies() {
    let Some(alone) = standin::libraries().map(|l| l.join("alone")) else { return };
    let with = [("LD_LIBRARY_PATH", alone.to_str().expect("a path"))];
    if !standin::is_child_with("without_the_library_our_text_multiplies", &with) {
        return;
    }
    let why = by_our_text(false);
    assert!(why.contains("our text, not cuBLAS, multiplies (it was not found)"), "{why}");
}

/// Making its handle, giving it the stream, multiplying: each may fail.
#[test]
fn a_failing_library_is_left_alone() {
    const NAME: &str = "a_failing_library_is_left_alone";
    let call = std::env::var("CUSIM_FAIL_CUBLAS").unwrap_or_default();
    if call.is_empty() {
        for call in ["1", "2", "3"] {
            standin::is_child(NAME, &[("CUSIM_FAIL_CUBLAS", call)]);
        }
        return;
    }
    let why = by_our_text(false);
    let says = if call == "3" {
        "it failed: CUBLAS_STATUS_EXECUTION_FAILED"
    } else {
        "it does not start: CUBLAS_STATUS_"
    };
    assert!(why.contains("cuBLAS multiplies: estimated ") && why.contains("; but "), "{why}");
    assert!(why.contains(says) && why.ends_with(", so our text did"), "{why}");
}

//! Runs that are repeated on the GPU: nothing is lowered twice, several kernels become a graph,
//! times are the device's. On the stand-in for CUDA's libraries.

use crate::devices::{Both, all_there, nothing_refused, outcome, prepared};
use crate::standin;
use aplomb_devices::device::{Compiling, Wanted};
use aplomb_kernel::session::Session;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

fn spent(s: &mut Session) -> Compiling {
    s.core().devices().compiling()
}

/// The line's value is the CPU's; what the GPU did for it.
fn same(both: &mut Both, line: &str) -> Compiling {
    let before = spent(&mut both.gpu);
    assert_eq!(outcome(&mut both.gpu, line), outcome(&mut both.cpu, line), "{line}");
    nothing_refused(&mut both.gpu);
    spent(&mut both.gpu).since(&before)
}

#[test]
fn a_known_plan_is_not_lowered_again() {
    if !standin::is_child("a_known_plan_is_not_lowered_again", &[]) {
        return;
    }
    let setup = "V←0.25×⍳3000 ⋄ I←2*20+⍳11 ⋄ V";
    let mut both = Both::after(&[setup]);
    // One launch, several of several kernels, and results that do not fit, which later launches
    // read.
    for line in ["+/V×V", "V[⍋V×¯1]", "(+\\V)÷⌈/V", "+/I×I", "+/2×⌽+\\I×I", "+\\2×⌽+\\I×I"]
    {
        let first = same(&mut both, line);
        let found = first.compiled + first.disk_hits + first.memory_hits;
        assert!(first.lowered > 0 && found > 0, "{line}: {first:?}");
        for _ in 0..3 {
            let again = same(&mut both, line);
            assert_eq!((again.lowered, again.compiled), (0, 0), "{line}: {again:?}");
            assert!(again.memory_hits > 0, "{line}: {again:?}");
        }
        all_there(&mut both.gpu, line);
    }
    // Another scalar is another plan with the same text.
    let other = same(&mut both, "+/I×J-J←3");
    let another = same(&mut both, "+/I×J-J←4");
    assert!(other.lowered > 0 && another.compiled == 0, "{other:?} {another:?}");
}

/// Of three kernels or more, with a root that later launches read, scratch that is cleared, and
/// several roots.
const SEVERAL: &[&str] = &["X[⍋X×¯1]", "{x←⍵ ⋄ x[P]+←X ⋄ x}X", "(S÷⌈/S),⌽S←+\\X[⍋X]", "(⍋X)(⌈/X)"];

#[test]
fn several_kernels_become_a_graph() {
    if !standin::is_child_under_all_schedules("several_kernels_become_a_graph") {
        return;
    }
    let setup = "P←1+900|7×⍳900 ⋄ X←0.25×101|13×⍳900";
    let mut both = Both::after(&[setup]);
    for line in SEVERAL {
        let graphs: Vec<u32> = (0..5).map(|_| same(&mut both, line).graphs).collect();
        assert_eq!(graphs, [0, 1, 1, 1, 1], "{line}");
        // Other values in other places, and what another run gave.
        for other in ["X←0.5×103|11×⍳900", "X←0.25×101|13×⍳900", "X←(1⌽X)[⍋X×¯1]"]
        {
            both.set_at_once(other);
            let (first, second) = (same(&mut both, line), same(&mut both, line));
            assert_eq!((first.graphs, second.graphs), (1, 1), "{line} after {other}");
            assert!(first.up > 0 && second.up == 0, "{line} after {other}: {first:?} {second:?}");
        }
    }
}

#[test]
fn what_a_graph_cannot_be_is_launched() {
    if !standin::is_child("what_a_graph_cannot_be_is_launched", &[]) {
        return;
    }
    let setup = "V←0.25×⍳3000 ⋄ I←500×3000|7×⍳3000";
    let mut both = Both::after(&[setup]);
    // One kernel; results that do not fit, which a later launch reads or nobody; elements that
    // fail.
    for line in ["2×V", "⍋I×I", "(⍋I)(I×I)", "÷V[⍋V]-V[7]"] {
        for _ in 0..5 {
            assert_eq!(same(&mut both, line).graphs, 0, "{line}");
        }
    }
    // Each launch by itself has a time.
    let line = "V[⍋V×¯1]";
    for _ in 0..3 {
        same(&mut both, line);
    }
    all_there(&mut both.gpu, line);
    both.gpu.core().set_tracing(true);
    assert_eq!(same(&mut both, line).graphs, 0);
    both.gpu.core().set_tracing(false);
    assert_eq!(same(&mut both, line).graphs, 1);
}

#[test]
fn a_graph_is_one_launch_of_the_driver() {
    let Some(_) = standin::libraries() else { return };
    let (cache, counts) = (standin::folder(), standin::folder());
    let counted = |lines: usize| {
        let file = counts.path().join(lines.to_string());
        let mut command =
            standin::on_standin(Path::new(env!("CARGO_BIN_EXE_aplomb")), cache.path())
                .expect("g++");
        command
            .args(["--device", "cuda"])
            .env("CUSIM_COUNT", &file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("aplomb");
        // Looked at, so that it is there from the first line on.
        let script = "X←0.5×3000|7×⍳3000\n≢⍕X\n".to_string() + &"3↑X[⍋X×¯1]\n".repeat(lines);
        child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("written");
        assert!(child.wait_with_output().expect("an end").status.success());
        let said = std::fs::read_to_string(&file).expect("counts");
        let numbers: Vec<u64> = said.split_whitespace().filter_map(|w| w.parse().ok()).collect();
        (numbers[0], numbers[1])
    };
    let (one, six) = (counted(1), counted(6));
    assert!(one.0 >= 3 && one.1 == 0, "{one:?}");
    assert_eq!(six, (one.0, 5));
}

#[test]
fn times_are_the_devices() {
    if !standin::is_child("times_are_the_devices", &[]) {
        return;
    }
    let mut gpu = prepared(Wanted::Cuda, &["V←0.25×⍳3000", "T←30 100⍴V"]);
    let trace = gpu.trace_of(Some("(+\\V)÷⌈/V")).expect("a trace");
    assert!(!trace.kernels.is_empty());
    for kernel in &trace.kernels {
        let meas = kernel.meas.as_ref().expect("it ran");
        assert!(meas.clock == "events" && meas.us > 0.0, "{meas:?}");
    }
    assert!(trace.times["up_ms"] >= 0.0 && trace.times["down_ms"] > 0.0, "{:?}", trace.times);
    gpu.core().devices().want(Wanted::Cpu);
    let trace = gpu.trace_of(Some("(+\\V)÷⌈/V")).expect("a trace");
    assert!(trace.kernels.iter().all(|k| k.meas.as_ref().is_some_and(|m| m.clock == "monotonic")));
}

//! What runs again on the GPU: nothing is lowered twice, times are the device's. On the stand-in for CUDA's libraries.

#[path = "support/devices.rs"]
mod devices;
#[path = "support/standin.rs"]
mod standin;
mod support;

use aplomb_kernel::device::{Compiling, Wanted};
use aplomb_kernel::session::Session;
use devices::{all_there, nothing_refused, outcome, prepared};

fn spent(s: &mut Session) -> Compiling {
    s.core().devices().compiling()
}

/// The line's value is the CPU's; what the GPU did for it.
fn same(cpu: &mut Session, gpu: &mut Session, line: &str) -> Compiling {
    let before = spent(gpu);
    assert_eq!(outcome(gpu, line), outcome(cpu, line), "{line}");
    nothing_refused(gpu);
    spent(gpu).since(&before)
}

#[test]
fn a_known_plan_is_not_lowered_again() {
    if !standin::is_child("a_known_plan_is_not_lowered_again", &[]) {
        return;
    }
    let setup = "V←0.25×⍳3000 ⋄ I←2*20+⍳11";
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, &[setup]), prepared(Wanted::Cuda, &[setup]));
    // One launch, several of several kernels, and results that do not fit, which later launches read.
    for line in ["+/V×V", "V[⍋V×¯1]", "(+\\V)÷⌈/V", "+/I×I", "+/2×⌽+\\I×I", "+\\2×⌽+\\I×I"] {
        let first = same(&mut cpu, &mut gpu, line);
        assert!(first.lowered > 0 && first.compiled + first.disk_hits > 0, "{line}: {first:?}");
        for _ in 0..3 {
            let again = same(&mut cpu, &mut gpu, line);
            assert_eq!((again.lowered, again.compiled), (0, 0), "{line}: {again:?}");
            assert!(again.memory_hits > 0, "{line}: {again:?}");
        }
        all_there(&mut gpu, line);
    }
    // Another scalar is another plan with the same text.
    let other = same(&mut cpu, &mut gpu, "+/I×J-J←3");
    let another = same(&mut cpu, &mut gpu, "+/I×J-J←4");
    assert!(other.lowered > 0 && another.compiled == 0, "{other:?} {another:?}");
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

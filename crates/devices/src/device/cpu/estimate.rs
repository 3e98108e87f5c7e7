//! The time that launches are thought to take on this machine: who chooses a device asks, and
//! `aplomb bench` holds it beside what they take. The model is that of `plans` (`plan/cpu.rs`).

use super::Isa;
use aplomb_plans::plan::Plan;
use aplomb_plans::plan::cpu::{Machine, Time};

/// Microseconds of a plan's launches on so many threads. Whoever runs a plan may ask each time: its
/// launches are looked at once.
pub fn estimate(plan: &Plan, threads: usize) -> f64 {
    let machine = match Isa::chosen() {
        Isa::Avx512 => Machine::REFERENCE,
        Isa::Avx2 => Machine::AVX2,
        Isa::Portable => Machine::PORTABLE,
    };
    let of = |time: Time| [time.computing, time.moving];
    let made = || plan.launches.iter().flat_map(|l| of(machine.time(plan, l))).collect();
    let all = plan.cpu_ns.or_make(made).chunks_exact(2);
    all.map(|ns| Time { computing: ns[0], moving: ns[1] }.on(threads)).sum::<f64>() / 1e3
}

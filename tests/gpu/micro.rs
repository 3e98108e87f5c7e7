//! The texts of `aplomb microbench`: NVRTC takes them, and on the stand-in, whose times mean
//! nothing, their threads stay within their data.

use crate::devices::{nothing_refused, prepared};
use crate::{nvrtc, standin};
use aplomb_devices::device::Wanted;
use aplomb_devices::device::cuda::measured;
use aplomb_ground::limits::Interrupt;
use aplomb_plans::kir;
use aplomb_plans::micro::{Amount, GLOBAL, Point, SHARED};

/// BAS-02, BAS-03, BAS-04: both texts compile for the oldest architecture and for the one of the
/// budgets, and hold nothing back from registers.
#[test]
fn bas_02_bas_03_bas_04_the_texts_compile() {
    if !nvrtc::is_child("bas_02_bas_03_bas_04_the_texts_compile") {
        return;
    }
    for text in [GLOBAL, SHARED] {
        for arch in ["sm_75", "sm_90"] {
            let all = measured(&kir::named(text, "k"), arch).expect("a cubin");
            let [(name, usage)] = &all[..] else { panic!("{arch}: {all:?}") };
            assert!(name == "k" && usage.registers <= 64 && usage.spills == 0, "{arch}: {usage:?}");
        }
    }
}

/// BAS-02: that turns are at least three times as fast as stretches is a GPU's to show (an H100:
/// 2.9 times, docs/PERFORMANCE.md). Here both run, at every way in which threads may lie, and no
/// thread reads what is not its block's.
#[test]
fn bas_02_bas_03_bas_04_threads_stay_within_their_data() {
    if !standin::is_child("bas_02_bas_03_bas_04_threads_stay_within_their_data", &[]) {
        return;
    }
    let mut s = prepared(Wanted::Cuda, &["V←0.5×⍳900"]);
    let points = [
        Point::Layout { items: 2048, is_block: true },
        Point::Layout { items: 2048, is_block: false },
        Point::Stride { stride: 1, threads: 32 },
        Point::Stride { stride: 16, threads: 128 },
        Point::Stride { stride: 64, threads: 32 },
        Point::Banks { stride: 0 },
        Point::Banks { stride: 17 },
        Point::Banks { stride: 32 },
    ];
    let amount = Amount { bytes: 256 << 10, runs: 1, rounds: 4, blocks: 1 };
    let gpu = s.core().devices().find().expect("the stand-in");
    let found = gpu.microbench(&points, amount, &Interrupt::default()).expect("figures");
    let found = found.expect("nobody interrupts");
    assert_eq!(found.len(), points.len());
    assert!(found.iter().all(|x| x.is_finite() && *x > 0.0), "{found:?}");
    // A region that the data do not hold is refused, not read beyond its end.
    let long = [Point::Stride { stride: 64, threads: 512 }];
    let refused = gpu.microbench(&long, amount, &Interrupt::default());
    assert!(refused.is_err_and(|says| says.contains("longer than the data")));
    nothing_refused(&mut s);
}

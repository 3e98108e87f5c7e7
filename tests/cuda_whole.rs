//! Launches of several kernels on the stand-in: assignments by places, grades and searches, at the edges of their tiles.

#[path = "support/devices.rs"]
mod devices;
#[path = "support/standin.rs"]
mod standin;
mod support;

use aplomb_kernel::device::Wanted;
use aplomb_kernel::session::Session;
use aplomb_lang::protocol::{Event, Request};
use devices::{Tally, all_there, nothing_refused, outcome, prepared};
use support::Heard;

/// Both run the line; it must not fail.
fn set(both: [&mut Session; 2], line: &str) {
    for s in both {
        let mut heard = Heard::default();
        s.handle(Request::Execute { code: line.into(), name: "setup".into(), silent: true }, &mut heard);
        let failed = heard.0.iter().find(|e| matches!(e, Event::Error(_)));
        assert!(failed.is_none(), "{line}: {failed:?}");
        s.interp().set_record_all(true);
    }
}

/// Sizes around warps, blocks, one block's sort, tiles of both widths of keys, and several tiles.
const SIZES: &[usize] = &[1, 2, 3, 31, 33, 255, 257, 2047, 2048, 2049, 3071, 3072, 3073, 4097, 6147];

const SORTS: &[&str] = &[
    "⍋F", "⍒F", "⍋I", "⍒I", "⍋S", "⍒S", "⍋T", "⍒T", "⍋B", "⍒B", "⍋C", "⍒C", "⍋G", "F[⍋F]", "2×⍋F", "F⍳G", "G∊F", "I⍳I,7", "T∊S", "C⍳'aß∊z'", "3+F⍳F×1+1E¯15",
];

#[test]
fn orders_and_places_are_the_same() {
    if !standin::is_child_under_all_schedules("orders_and_places_are_the_same") {
        return;
    }
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, &[]), prepared(Wanted::Cuda, &[]));
    let mut tally = Tally::default();
    for n in SIZES {
        set([&mut cpu, &mut gpu], &format!("N←{n} ⋄ F←0.25×¯40+97|13×⍳N ⋄ G←(N⍴0 ¯1 1)×1E3*¯50+101|7×⍳N"));
        set([&mut cpu, &mut gpu], "I←1000003×¯40+97|13×⍳N ⋄ S←300×¯40+97|13×⍳N ⋄ T←¯40+97|13×⍳N ⋄ B←2|⌊F ⋄ C←'aß∊z⍋x'[1+6|⍳N]");
        SORTS.iter().for_each(|line| tally.compare(&mut cpu, &mut gpu, &[line.to_string()]));
        nothing_refused(&mut gpu);
    }
    let compiled = gpu.core().devices().compiling();
    println!("{tally:?} {compiled:?}");
    assert_eq!((tally.lines, tally.bits_differ), (SIZES.len() * SORTS.len(), 0));
    assert!(compiled.memory_hits > compiled.compiled * 3, "{compiled:?}");
    SORTS.iter().for_each(|line| all_there(&mut gpu, line));
}

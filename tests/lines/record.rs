//! The room of a run's record, counted: blocks of memory and bytes, an evaluation and a launch.
//!
//! A run with nothing kept is the same but for the record, so the difference is the record's. Times
//! are `aplomb bench trace`'s to tell.

use crate::asked::Looking;
use crate::support::{Heard, session, session_on};
use aplomb_ground::protocol::Request;
use aplomb_ground::trace::{LaunchRecord, Trace};
use aplomb_kernel::session::{Mode, Session};

/// Blocks and bytes that a line takes in one way, its plans known; launches and evaluations.
fn taken(s: &mut Session, text: &str, mode: Mode) -> ([i64; 2], [i64; 2]) {
    let plain = s.core().mode();
    s.core().set_mode(mode);
    let looking = Looking::begin();
    let before = [looking.blocks(), looking.allocated()];
    s.values_of(text, &["r"]).unwrap_or_else(|e| panic!("{text}: {e}"));
    let after = [looking.blocks(), looking.allocated()];
    s.core().set_mode(plain);
    let spent = s.core().spent;
    assert_eq!(spent.known, spent.evaluations, "{text}: a plan is not known");
    let did = [spent.evaluations, spent.launches].map(|n| n as i64);
    ([0, 1].map(|k| (after[k] - before[k]) as i64), did)
}

/// The record of an evaluation is its graph, which is there anyway, and some figures: few blocks,
/// and a fixed size a launch, however many items the launch has.
#[test]
fn a_record_takes_a_few_blocks_an_evaluation_and_a_fixed_size_a_launch() {
    let lines = ["r←+/÷⍳100000", "r←+/÷⍳2000", "r←{⍵+⍵[⍋⍵]}⍣30⊢⌽⍳2000", "r←{(⍵>⌊/⍵)/⍵}⍣20⊢⌽⍳2000"];
    let mut all = Vec::new();
    for text in lines {
        let mut s = session_on(1);
        let plain = s.core().mode();
        let alone = Mode { forgetting: true, ..plain };
        let story = Mode { tracing: true, ..plain };
        // Once each: plans are made, tables grow.
        for mode in [alone, plain, story, alone, plain, story] {
            s.core().set_mode(mode);
            s.values_of(text, &["r"]).unwrap_or_else(|e| panic!("{text}: {e}"));
        }
        s.core().set_mode(plain);
        let (without, did) = taken(&mut s, text, alone);
        for (way, mode, blocks, bytes) in
            [("record", plain, [1, 0], [64, 256]), ("story", story, [5, 0], [2048, 256])]
        {
            let (with, same) = taken(&mut s, text, mode);
            assert_eq!(did, same, "{text}");
            let more = [0, 1].map(|k| with[k] - without[k]);
            all.push(format!("{text}, {way}: {more:?} of {did:?} evaluations and launches"));
            let most = |each: [i64; 2]| each[0] * did[0] + each[1] * did[1];
            let most = [most(blocks), most(bytes)];
            assert!((0..2).all(|k| more[k] <= most[k]), "{more:?} of {most:?}: {all:#?}");
        }
    }
    println!("{all:#?}");
}

/// A small line has no launch of its own: the run in which all of it is recorded is made once, and
/// each view tells of that.
#[test]
fn the_views_of_a_small_line_tell_of_one_run() {
    let mut s = session();
    let (code, name) = ("+/3×⍳9".into(), "line".into());
    s.handle(Request::Execute { code, name, silent: false }, &mut Heard::default());
    let took = |trace: &Trace| -> Vec<f64> {
        let of = |k: &LaunchRecord| k.meas.as_ref().map(|meas| meas.us);
        trace.kernels.iter().filter_map(of).collect()
    };
    let first = s.trace_of(None).expect("a trace");
    assert_eq!(took(&first).len(), 1);
    s.core().set_priced(true);
    let priced = s.trace_of(None).expect("a trace");
    s.core().set_priced(false);
    for again in [&priced, &s.trace_of(None).expect("a trace")] {
        assert_eq!((took(again), &again.times), (took(&first), &first.times));
    }
    // Under another switch it is another run.
    s.options().switch("fusion", false).expect("a switch");
    assert_eq!(took(&s.trace_of(None).expect("a trace")).len(), 2);
}

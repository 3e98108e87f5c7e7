//! Large results stay on a GPU until somebody looks at them. On the stand-in for CUDA's libraries.

use crate::devices::{Both, nothing_refused, outcome};
use crate::standin;
use aplomb_devices::device::Compiling;
use aplomb_kernel::session::Session;

/// Bytes of a vector that the lines name.
const BYTES: u64 = 8 * 20_000;

fn moved(s: &mut Session) -> Compiling {
    s.core().devices().compiling()
}

/// The moves while a line runs.
fn moves(both: &mut Both, line: &str) -> Compiling {
    let before = moved(&mut both.gpu);
    both.set(line);
    moved(&mut both.gpu).since(&before)
}

fn same(both: &mut Both, line: &str) {
    let wanted = outcome(&mut both.cpu, line);
    assert!(wanted.is_ok(), "{line}: {wanted:?}");
    assert_eq!(outcome(&mut both.gpu, line), wanted, "{line}");
}

#[test]
fn values_go_from_line_to_line_without_coming_home() {
    if !standin::is_child("values_go_from_line_to_line_without_coming_home", &[]) {
        return;
    }
    let mut both = Both::after(&["V←0.5×97|31×⍳20000 ⋄ V"]);
    // Down come a number and the launches' words.
    assert!(moves(&mut both, "⌈/W←2×V").down < 200);
    for line in ["⌈/W-V", "5↑⌽W", "⌈/X←W⌊50", "⌊/X+W"] {
        let went = moves(&mut both, line);
        assert!(went.up == 0 && went.down < 200 && went.kept > 0, "{line}: {went:?}");
    }
    // Whoever looks has it brought, once.
    let looked = moves(&mut both, "≢∪W");
    assert!(looked.up == 0 && (BYTES..BYTES + 200).contains(&looked.down), "{looked:?}");
    assert_eq!(moves(&mut both, "≢⍕W").down, 0);
    // What a recalled value was made of may change meanwhile.
    moves(&mut both, "⌈/Y←0.25×V");
    moves(&mut both, "V[3]←1000");
    moves(&mut both, "⌈/V");
    ["Y", "V", "X", "W"].iter().for_each(|name| same(&mut both, name));
    nothing_refused(&mut both.gpu);
}

/// The work behind a recalled value is bounded: now and then one comes home.
#[test]
fn a_long_chain_comes_home_now_and_then() {
    if !standin::is_child("a_long_chain_comes_home_now_and_then", &[]) {
        return;
    }
    let mut both = Both::after(&["X←0.5×97|31×⍳20000 ⋄ X"]);
    // At a place that is run again a value is stored at once: each line is another text.
    let homes = |both: &mut Both, links: usize| {
        let link = |k: usize| format!("⌈/X←1+1○X ⍝ {k}");
        (0..links).filter(|k| moves(both, &link(*k)).down > BYTES).count()
    };
    assert_eq!(homes(&mut both, 50), 2);
    assert!(moves(&mut both, "≢∪X").down > BYTES);
    same(&mut both, "X");
    nothing_refused(&mut both.gpu);
}

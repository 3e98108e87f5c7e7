//! Random and mangled lines through a whole session: a value or an APL error, never a panic.

use crate::support::{Dice, Heard, scaled, session};
use aplomb_ground::error::Kind;
use aplomb_ground::protocol::{Event, Request, Sink};
use aplomb_language::table::prims;

/// Lines that work, to be mangled.
const SEEDS: &[&str] = &[
    "x←3 1 4 1 5 ⋄ (+/÷≢)x",
    "{⍵≤1:1 ⋄ ⍵×∇⍵-1}5",
    "2 3⍴⍳6",
    "(⍋x)⌷x←3 1 2",
    "A←3 3⍴⍳9 ⋄ A+.×⍉A",
    "+/1+⌽⍳2000",
    "'abc'⍳'cab'",
    "(a b)←1 2 ⋄ a+b",
    "x[2]←9",
    "1 0 1/⍳3",
    "f←{⍺←1 ⋄ ⍺+⍵} ⋄ 2 f 3",
    "∘.×⍨⍳4",
    "⊃⌈/1 2 3",
    "¯2↑⍳5 ⍝ tail",
    "⎕IO←0 ⋄ ⍳3",
];

/// The lines of the conformance cases, but for those that wait, or touch files.
fn conformance() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("cases").map(|e| e.expect("a file").path()).collect();
    paths.sort();
    let texts = paths.iter().map(|p| std::fs::read_to_string(p).expect("cases"));
    let lines = texts.flat_map(|t| {
        t.lines().filter_map(|l| l.strip_prefix("      ").map(String::from)).collect::<Vec<_>>()
    });
    let outside = ["⎕N", "⎕DL", "⎕SH", "⎕OFF", "⎕CSV", "⎕FIX", "⎕CMD", "⍞", "]", ")"];
    lines.filter(|l| !outside.iter().any(|w| l.contains(w) || l.starts_with(w))).collect()
}

#[test]
fn no_line_brings_the_session_down() {
    let mut glyphs: Vec<String> = prims().map(|p| p.glyph.to_string()).collect();
    glyphs.extend(
        "0 1 2 ¯1 .5 1E3 x y ⍺ ⍵ ∇ ( ) [ ] { } ; : ⋄ ← ' ⎕IO ⎕ ⍬ ' \u{0} é"
            .split(' ')
            .map(String::from),
    );
    let seeds: Vec<String> = SEEDS.iter().map(|s| s.to_string()).chain(conformance()).collect();
    assert!(seeds.len() > 1_000);
    let mut s = session();
    s.core().limits.seconds = 1.0;
    s.core().limits.depth = 200;
    s.core().limits.bytes = 1 << 24;
    let mut heard = Heard::default();
    for k in 0..scaled(20_000) {
        let mut dice = Dice(k as u64);
        let line = if k % 3 < 2 {
            let mut chars: Vec<char> = dice.pick(&seeds).chars().collect();
            for _ in 0..1 + dice.roll(4) {
                let at = dice.roll(chars.len());
                match dice.roll(3) {
                    0 if chars.len() > 1 => drop(chars.remove(at)),
                    1 => chars.swap(at, 0),
                    _ => chars.splice(at..at, dice.pick(&glyphs).chars()).for_each(drop),
                }
            }
            chars.into_iter().collect()
        } else {
            (0..1 + dice.roll(12)).map(|_| dice.pick(&glyphs).as_str()).collect::<String>()
        };
        heard.0.clear();
        s.handle(
            Request::Execute { code: line.clone(), name: "line".into(), silent: true },
            &mut heard,
        );
        for event in &heard.0 {
            if let Event::Error(f) = event {
                assert_ne!(f.number, Kind::Internal.number(), "seed {k}: {line}\n{}", f.report);
                assert!(
                    f.span.is_some() || f.name == "INTERRUPT",
                    "seed {k}: {line} has no place: {}",
                    f.report
                );
            }
        }
        // One odd name must not change the rest.
        if k % 64 == 0 {
            s.interp().clear();
        }
    }
    heard.0.clear();
    s.handle(
        Request::Execute { code: "2+3".into(), name: "line".into(), silent: false },
        &mut heard,
    );
    assert!(heard.0.iter().any(|e| matches!(e, Event::Result(b) if b["text/plain"] == "5\n")));
}

#[test]
fn an_array_beyond_the_budget_is_ws_full_and_nothing_is_lost() {
    let mut s = session();
    s.core().limits.bytes = 1 << 26;
    let mut run = |code: &str| {
        let mut heard = Heard::default();
        let began = std::time::Instant::now();
        s.handle(
            Request::Execute { code: code.into(), name: "line".into(), silent: false },
            &mut heard,
        );
        let shown = heard.0.into_iter().find_map(|e| match e {
            Event::Error(f) => Some(f.name),
            Event::Result(b) => Some(b["text/plain"].clone()),
            _ => None,
        });
        (shown.unwrap_or_default(), began.elapsed())
    };
    run("keep←42");
    for bomb in ["1+⍳1E9", "1E5 1E5⍴1", "∘.×⍨⍳1E5", "⌽⍳1E10", "(⍳1E6)∘.+⍳1E6"]
    {
        let (name, _) = run(bomb);
        assert_eq!(name, "WS FULL", "{bomb}");
    }
    assert_eq!(run("keep").0, "42\n");
    assert_eq!(run("+/⍳1E6").0, "5.000005E11\n");
}

/// Panics when the n-th text is printed.
struct Breaks(u32);

impl Sink for Breaks {
    fn event(&mut self, event: Event) {
        if let Event::Stream(_) = event {
            self.0 = self.0.saturating_sub(1);
            assert!(self.0 != 0, "planted");
        }
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

#[test]
fn a_defect_leaves_names_and_modes_as_they_were() {
    let mut s = session();
    let run =
        |code: &str| Request::Execute { code: code.into(), name: "line".into(), silent: false };
    let told = |code: &str| Request::Trace {
        code: code.into(),
        name: "line".into(),
        switches: None,
        effects: false,
    };
    s.handle(run("a←5 6 ⋄ b←1"), &mut Heard::default());
    let broken = [
        run("⎕←b⊣a[1]←99"),
        run("b←2\n⎕←b⊣a←99\nb←3"),
        told("a←99\n⎕IO←0\n⎕←a"),
        told("{⎕IO←0 ⋄ ⎕←⍵}¨⍳3⊣a←99"),
        run("]time a←⎕←99"),
    ];
    for request in broken {
        s.handle(request, &mut Breaks(1));
        assert!(!s.core().mode().holding && !s.core().is_tracing());
        let mut heard = Heard::default();
        s.handle(run("a,⎕IO"), &mut heard);
        assert!(
            heard.0.iter().any(|e| matches!(e, Event::Result(b) if b["text/plain"] == "5 6 1\n")),
            "{:?}",
            heard.0
        );
    }
    let mut heard = Heard::default();
    s.handle(run("b"), &mut heard);
    assert!(heard.0.iter().any(|e| matches!(e, Event::Result(b) if b["text/plain"] == "2\n")));
}

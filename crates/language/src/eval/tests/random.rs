//! Hostile lines: glyphs of the table, names, numbers and brackets at random never panic.

use super::{run_in, with_stack};
use crate::eval::Interp;
use crate::testing::Host;
use aplomb_ground::limits::{Budget, Limits};

/// The number of lines. Whoever wants more multiplies here.
const LINES: u64 = 20_000;

struct Bits(u64);

impl Bits {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n as u64) as usize
    }
}

fn line(bits: &mut Bits, glyphs: &[String]) -> String {
    const WORDS: &[&str] = &[
        "1",
        "0",
        "¯1",
        "2 3",
        "1 2 3",
        "'a'",
        "'abc'",
        "⍬",
        "''",
        "x",
        "y",
        "m",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ";",
        "⋄",
        ":",
        "⍵",
        "⍺",
        "←",
        "2.5",
        "(⍳4)",
        "(2 3⍴⍳6)",
        "(1 2)'ab'",
        "{⍵}",
        "{⍺+⍵}",
        "x[1]",
        "⎕IO",
        "1E300",
        "f",
        "(+/)",
        "(⊂1 2)",
        "@1 2",
        "@(⊂1 2)",
        "⌺3",
        "⌺2 3",
        "⌺(2 2⍴2 3 1 2)",
        "⍣¯1⊢",
        "⍠0",
        "⍠'clamp'",
        "[1]",
        "[1.5]",
        "[2 1]",
        "{≢⍵}⌸",
        "{⍺ ⍵}⌸",
        "0J1",
        "(1J2 3)",
    ];
    // Control words, namespaces, operators as values; no loop that may be without end.
    const MORE: &[&str] = &[
        ":If 1\n",
        ":If x\n",
        "\n:ElseIf 0\n",
        "\n:Else\n",
        "\n:EndIf",
        ":For i :In x\n",
        "\n:EndFor",
        ":Select x\n",
        ":Case 1\n",
        "\n:End",
        ":Trap 0\n",
        "\n:EndTrap",
        ":With n\n",
        "\n:EndWith",
        ":Leave\n",
        ":Return",
        ":Namespace q\n",
        "\n:EndNamespace",
        "\n∇r←t v\nr←v\n∇\n",
        "\n",
        "n",
        "n.a",
        "n.self.b",
        "n.f ",
        "(n n)",
        "(n n).f",
        "(n n).a",
        "n.(a+b)",
        "n.(a b)",
        "n.{⍵}",
        "n.⎕IO",
        "n.⎕NC",
        "n⍎",
        "(a:1 ⋄ b:2)",
        "()",
        "(⎕NS⍬)",
        "#",
        "##",
        "⎕THIS",
        "each",
        "inv",
        "slash",
        "swap",
        "(¨)",
        "(/)",
        "(⍎'+')",
        "(⍎'¨')",
        "(⍣2)",
        "(@1)",
        "⎕TRAP←0 'E' '1'",
        "(2↑n.a)←",
        "(,m)[1]←",
        "(2⊃x)[1]←",
        "[⊂2 1]",
        "[⊂⍬]",
    ];
    let n = 1 + bits.below(9);
    let more = bits.below(3) == 0;
    let mut out = String::new();
    for _ in 0..n {
        let word = match bits.below(2) {
            0 => glyphs[bits.below(glyphs.len())].as_str(),
            _ if more && bits.below(3) > 0 => MORE[bits.below(MORE.len())],
            _ => WORDS[bits.below(WORDS.len())],
        };
        out.push_str(word);
        if bits.below(3) == 0 {
            out.push(' ');
        }
    }
    out
}

fn lines(from: u64, n: u64) {
    let glyphs: Vec<String> =
        crate::table::prims().map(|p| p.glyph.to_string()).filter(|g| g != "⍣").collect();
    let mut wrong = Vec::new();
    for k in from..from + n {
        let mut bits = Bits(k.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let text = line(&mut bits, &glyphs);
        let eager = answer(&text, k, false);
        let recorded = answer(&text, k, true);
        // What overflows in a live name fails later, when it is needed.
        let postponed = eager == "DOMAIN ERROR\n" && recorded.is_empty();
        if eager != recorded && !postponed {
            wrong.push(format!("seed {k}: {text}\n  {eager:?}\n  {recorded:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} depend on recording\n{}",
        wrong.len(),
        wrong[..wrong.len().min(25)].join("\n")
    );
}

fn answer(text: &str, k: u64, record_all: bool) -> String {
    let mut interp = Interp::new();
    interp.set_record_all(record_all);
    let limits = Limits { depth: 50, ..Limits::default() };
    let mut host = Host { budget: Budget::new(1 << 24), limits, ..Host::default() };
    run_in(&mut interp, &mut host, "x←3 1 2 ⋄ y←1 0 1 ⋄ m←2 2⍴⍳4 ⋄ f←+/÷≢");
    let spaces = "n←(a:1 2 ⋄ b:2) ⋄ n.f←{⍵+1} ⋄ n.self←n ⋄ each←¨ ⋄ inv←⍣¯1 ⋄ slash←/ ⋄ swap←⍨";
    run_in(&mut interp, &mut host, spaces);
    let whole = || {
        let mut printed = run_in(&mut interp, &mut host, text);
        // What the line left open fails at the end of the program.
        if let Err(e) = interp.finish(&mut host) {
            printed.push_str(&format!("{}\n", e.name()));
        }
        printed
    };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(whole)) {
        Ok(printed) => {
            assert!(!printed.contains("INTERNAL ERROR"), "seed {k}: {text}\n{printed}");
            printed
        }
        Err(_) => panic!("seed {k} panics: {text}"),
    }
}

#[test]
fn random_lines_never_panic_and_do_not_depend_on_recording() {
    with_stack(|| lines(1, LINES));
}

#[test]
fn hostile_texts_are_answered_fast() {
    with_stack(|| {
        let deep =
            |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
        for text in [
            deep("(", ")", 512),
            deep("{", "}", 300),
            "-".repeat(50_000) + "1",
            "1+".repeat(40_000) + "1",
            "1 ".repeat(90_000),
        ] {
            let out = super::run(&text, false);
            assert!(!out.contains("INTERNAL"), "{out}");
        }
        assert_eq!(super::run(&deep("(", ")", 513), false), "LIMIT ERROR");
        let t = std::time::Instant::now();
        assert_eq!(super::run(&"(".repeat(1_000_000), false), "LIMIT ERROR");
        assert!(t.elapsed().as_millis() < 2_000);
    });
}

//! `frames.txt`: what operators give with operands of many kinds, the same whichever way it is run:
//! all cells at once, one by one, everything recorded, with a switch off. Errors are planted in the
//! first cell, one in the middle and the last.

use crate::support::{Dice, Heard, deep_bits, one_in, scaled, session};
use aplomb_ground::protocol::{Event, Request};
use aplomb_kernel::session::Session;
use aplomb_language::table::prims;
use std::path::Path;

const PAGE: &str = include_str!("frames.txt");
/// Around the least number of cells that are run at once, and of elements that are recorded.
const SIZES: [usize; 6] = [15, 16, 17, 1_000, 1_023, 1_025];
/// The largest, for what is not quadratic on the slow way.
const LARGE: usize = 65_536;
/// Sizes of random lines, around the same thresholds.
const RANDOM_SIZES: [usize; 5] = [15, 17, 100, 1_000, 1_025];
/// A page that lost most of its lines would test little.
const LEAST: usize = 60;

/// The lines that make the data, and the lines that are run, each with what is said of it.
fn page() -> (Vec<&'static str>, Vec<(&'static str, Option<&'static str>)>) {
    let typed = |block: &'static str| -> Vec<&str> {
        block.lines().filter_map(|l| l.strip_prefix("      ")).collect()
    };
    let mut blocks = PAGE.split("\n\n").map(typed).filter(|lines| !lines.is_empty());
    let setup = blocks.next().expect("the data");
    let said =
        |line: &'static str| line.split_once(" ⍝ ").map_or((line, None), |(l, s)| (l, Some(s)));
    (setup, blocks.flatten().map(said).collect())
}

pub fn execute(s: &mut Session, line: &str) -> Vec<Event> {
    let mut heard = Heard::default();
    let request = Request::Execute { code: line.into(), name: "line".into(), silent: true };
    s.handle(request, &mut heard);
    heard.0
}

/// A file of ∞, NaN and ¯0 among numbers, `n` of them.
pub fn special(n: usize) -> std::path::PathBuf {
    let file = std::env::temp_dir().join(format!("aplomb-frames-{}-{n}.npy", std::process::id()));
    let some = [f64::INFINITY, 2.5, f64::NAN, -0.0, 1.0, f64::NEG_INFINITY, -3.0];
    let head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n},), }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let padded = format!("{head:<117}\n");
    bytes.extend((padded.len() as u16).to_le_bytes());
    bytes.extend(padded.as_bytes());
    (0..n).for_each(|k| bytes.extend(some[k % some.len()].to_le_bytes()));
    std::fs::write(&file, bytes).expect("a file");
    file
}

fn prepared(n: usize, bad: usize, file: &Path, all: bool, off: Option<&str>) -> Session {
    let mut s = session();
    s.value_of("1").expect("a session");
    let (setup, _) = page();
    let data = [format!("n←{n} ⋄ bad←{bad}"), format!("S←⎕NPY'{}'", file.display())];
    for line in data.iter().map(String::as_str).chain(setup) {
        let failed = execute(&mut s, line).into_iter().any(|e| matches!(e, Event::Error(_)));
        assert!(!failed, "{line}");
    }
    s.interp().set_record_all(all);
    if let Some(name) = off {
        s.options().switch(name, false).expect("a switch");
    }
    s
}

/// The value's shape and bits, or the error's name and sentence.
fn outcome(s: &mut Session, line: &str) -> Result<(Vec<usize>, Vec<u64>), String> {
    match s.value_of(line) {
        Ok(value) => Ok(deep_bits(&value.expect(line))),
        Err(e) => Err(format!("{}: {}", e.name(), e.parts().says)),
    }
}

/// Every `step`-th line, the same in all ways.
fn compare(n: usize, bad: usize, ways: &[(&str, bool, Option<&str>)], step: usize) {
    let file = special(n);
    let mut plain = prepared(n, bad, &file, false, None);
    let mut others: Vec<_> =
        ways.iter().map(|w| (w.0, prepared(n, bad, &file, w.1, w.2))).collect();
    let mut wrong = Vec::new();
    for (line, _) in page().1.into_iter().step_by(step) {
        let wanted = outcome(&mut plain, line);
        for (way, s) in &mut others {
            let got = outcome(s, line);
            if got != wanted {
                let short =
                    |o: &Result<_, String>| format!("{o:?}").chars().take(300).collect::<String>();
                wrong.push(format!("{line} [{way}]\n   {}\n   {}", short(&got), short(&wanted)));
            }
        }
    }
    let _ = std::fs::remove_file(file);
    assert!(wrong.is_empty(), "n={n}, bad={bad}: {} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn cells_at_once_are_the_cells_one_by_one() {
    assert!(page().1.len() >= LEAST);
    let ways = [
        ("one by one", false, Some("frames")),
        ("recorded", true, None),
        ("no loops", false, Some("loops")),
        ("no fusion", false, Some("fusion")),
        ("no keep", false, Some("keep")),
    ];
    for n in SIZES {
        for bad in [1, n / 2, n] {
            compare(n, bad, if bad == 1 { &ways } else { &ways[..2] }, 1);
        }
    }
}

#[test]
fn many_cells_too() {
    // One by one such a line takes a tenth of a second.
    compare(LARGE, LARGE / 2, &[("one by one", false, Some("frames"))], one_in(4));
}

#[test]
fn what_is_of_equal_cells_is_not_interpreted() {
    let n = 9_001;
    let file = special(n);
    let mut s = prepared(n, 0, &file, false, None);
    s.core().set_followed(true);
    let mut found = Vec::new();
    for (line, said) in page().1 {
        execute(&mut s, &format!("z←{line}"));
        let stories = s.core().take_stories();
        let told = stories.iter().flat_map(|t| &t.diagnostics).any(|d| d.code == "W-untraced");
        if told != said.is_some() {
            found.push(format!("{line}: {told}"));
        }
    }
    let _ = std::fs::remove_file(file);
    assert!(found.is_empty(), "{} are not as marked\n{}", found.len(), found.join("\n"));
}

/// Random operands: every primitive of the table under every operator, guards that part the cells,
/// calls that are the last and that are not.
struct Bodies {
    one: Vec<char>,
    two: Vec<char>,
}

impl Bodies {
    fn from_table() -> Bodies {
        // ⍎ runs whatever a text says, ? draws; ! of what is large is no number.
        let fits = |glyph: &char| !"⍎?!".contains(*glyph);
        Bodies {
            one: prims().filter(|p| p.monadic.is_some()).map(|p| p.glyph).filter(fits).collect(),
            two: prims().filter(|p| p.dyadic.is_some()).map(|p| p.glyph).filter(fits).collect(),
        }
    }

    fn term(&self, dice: &mut Dice, depth: usize, alpha: bool) -> String {
        if depth == 0 {
            return match dice.roll(9) {
                0 => "2".into(),
                1 => "'o'".into(),
                2 => "1 0 2".into(),
                3 => "0.5".into(),
                4 if alpha => "⍺".into(),
                _ => "⍵".into(),
            };
        }
        let y = self.term(dice, depth - 1, alpha);
        match dice.roll(17) {
            14 => format!("({y}[{}])", dice.pick(&["1", "2", "2 1"])),
            15 => format!("({{x←{y} ⋄ x[{}]}}⍵)", 1 + dice.roll(2)),
            16 => format!("({{x←⍵ ⋄ x[1]←{y} ⋄ x}}⍵)"),
            0..=3 => format!("({}{y})", dice.pick(&self.one)),
            4 => format!("({}/{y})", dice.pick(&["+", "×", "⌈", "⌊", "-", "∨", ","])),
            5 => format!("({}\\{y})", dice.pick(&["+", "⌈", "-"])),
            6 => format!("(({y}={y})/⍵)"),
            7 => format!("({y}[⍋{y}])"),
            8 => format!("(⍵{{⍵,⍺}}{y})"),
            9 => format!("({}¨{y})", dice.pick(&self.one)),
            _ => {
                let few = dice.roll(depth);
                let x = self.term(dice, few, alpha);
                format!("({x}{}{y})", dice.pick(&self.two))
            }
        }
    }

    fn body(&self, dice: &mut Dice, alpha: bool) -> String {
        let depth = 1 + dice.roll(3);
        let value = self.term(dice, depth, alpha);
        let few = dice.roll(2);
        let other = self.term(dice, few, alpha);
        match dice.roll(10) {
            0 => format!("{{1<≢⍵:{value} ⋄ {other}}}"),
            1 => format!("{{2>⌈/,⍵:{value} ⋄ {other}}}"),
            2 => format!("{{0=≢⍵:{other} ⋄ 1<≢⍵:∇1↓⍵ ⋄ {value}}}"),
            3 => format!("{{1≥≢⍵:{other} ⋄ (⊃⍵),∇1↓⍵}}"),
            4 => format!("{{a←{value} ⋄ a≡⍵:{other} ⋄ a}}"),
            5 => format!("{{a←{other} ⋄ f←{{⍵,a}} ⋄ f {value}}}"),
            6 => format!("{{⍺←2 ⋄ {value}}}"),
            7 => format!("({}{})", dice.pick(&self.one), dice.pick(&self.one)),
            _ => format!("{{{value}}}"),
        }
    }

    fn line(&self, dice: &mut Dice) -> String {
        let data = [
            "V",
            "F",
            "R",
            "W",
            "(↓K)",
            "(V,¨F)",
            "(R,W)",
            "B",
            "(4⌽R)",
            "t",
            "(⊂⍤1⊢K)",
            "S",
            "D",
            "Z",
        ];
        let (x, y) = (*dice.pick(&data), *dice.pick(&data));
        let one = self.body(dice, false);
        match dice.roll(22) {
            // Folds of functions of one's own and scans are quadratic, or nest: few items.
            13 => format!("{}/20↑{y}", self.body(dice, true)),
            14 => format!("{}\\20↑{y}", self.body(dice, true)),
            15 => format!("3{}/{}", self.body(dice, true), dice.pick(&["V", "F", "B", "S"])),
            16 => format!("(3↑⍉K)+.{}3↑K", self.body(dice, true)),
            17 => format!("(5↑V){}.+5↑F", self.body(dice, true)),
            18 => format!("{one}⍣2¨{y}"),
            19 => format!("{one}⌺2 3⊢9↑K"),
            20 => format!("{x}({}⍥{one})¨{x}", self.body(dice, true)),
            21 => format!("{x}({}⍤0 1)K", self.body(dice, true)),
            0..=4 => format!("{one}¨{y}"),
            5 | 6 => format!("{one}⍤1⊢{}", dice.pick(&["K", "X", "(K÷2)"])),
            7 | 8 => format!("{x}{}¨{x}", self.body(dice, true)),
            9 => format!("V{}⌸{}", self.body(dice, true), dice.pick(&["F", "V", "t"])),
            10 => format!("{one}⌺3⊢V"),
            11 => format!("{one}@{{⍵>3}}{}", dice.pick(&["V", "F"])),
            _ => format!("(20↑V)∘.{}20↑F", self.body(dice, true)),
        }
    }
}

/// A line's outcome as far as it must not depend on how it ran.
pub fn kind(s: &mut Session, line: &str) -> Result<(Vec<usize>, Vec<u64>), String> {
    match s.value_of(line) {
        Ok(value) => Ok(deep_bits(&value.expect(line))),
        Err(e) => {
            assert_ne!(e.name(), "INTERNAL ERROR", "{line}: {e}");
            Err(e.name())
        }
    }
}

#[test]
fn random_operands_are_the_same_at_once_and_one_by_one() {
    let bodies = Bodies::from_table();
    let mut wrong = Vec::new();
    let (lines, mut values) = (scaled(4_000), 0);
    for (k, n) in RANDOM_SIZES.into_iter().enumerate() {
        let file = special(n);
        let prepared = |off: Option<&str>| {
            let mut s = session();
            s.value_of("1").expect("a session");
            execute(&mut s, &format!("n←{n}"));
            execute(&mut s, &format!("S←⎕NPY'{}'", file.display()));
            for line in [
                "V←7|3+⍳n",
                "F←0.25×13|5×⍳n",
                "B←0=3|⍳n",
                "K←((⌈n÷3),3)⍴7|5×⍳n",
                "t←n⍴'the quick brown fox jumps over the lazy dog '",
                "X←((⌈n÷4),4)⍴t",
                "W←' '(≠⊆⊢)t",
                "R←(n⍴1 0 0 1 0)⊂V",
                "D←n⍴'ops' (1 2) 5∘,¨(⊂'hr' 3)(⊂4 5)",
                "Z←(n⍴1 0 2 0 0)⊂V",
            ] {
                execute(&mut s, line);
            }
            if let Some(name) = off {
                s.options().switch(name, false).expect("a switch");
            }
            s
        };
        let (mut at_once, mut one_by_one) = (prepared(None), prepared(Some("frames")));
        let _ = std::fs::remove_file(&file);
        let sizes = RANDOM_SIZES.len();
        for seed in 0..(lines / sizes) as u64 {
            let line = bodies.line(&mut Dice(seed * sizes as u64 + k as u64));
            let (a, b) = (kind(&mut at_once, &line), kind(&mut one_by_one, &line));
            values += usize::from(b.is_ok());
            if a != b {
                let short =
                    |o: &Result<_, String>| format!("{o:?}").chars().take(200).collect::<String>();
                wrong.push(format!("n={n}: {line}\n   {}\n   {}", short(&a), short(&b)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(values * 3 > lines, "{values} of {lines} have a value");
}

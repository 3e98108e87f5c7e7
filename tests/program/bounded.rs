//! Random well-formed lines under a bound on memory and on time: each is answered, and the process
//! never takes more than the bound and a little.

use crate::support::{Dice, scaled};
use aplomb_language::table::{Does, Prim, prims};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Bytes that arrays may take, and what all else may beside them.
const BYTES: u64 = 400_000_000;
const BESIDE: u64 = 64 << 20;
/// Seconds that a line may take.
const SECONDS: f64 = 0.5;

/// Small values and large ones, and those whose size is told to functions.
const VALUES: &[&str] = &[
    "0",
    "1",
    "2",
    "¯1",
    "3",
    "7",
    "10",
    "100",
    "1000",
    "65536",
    "1E5",
    "1E6",
    "1E7",
    "1E8",
    "1E9",
    "0.5",
    "¯2.5",
    "1E300",
    "2 3",
    "3 4 5",
    "1000 1000",
    "0 5",
    "1E5 1E5",
    "2 2 2",
    "1J1",
    "'a'",
    "'abc'",
    "'the quick brown'",
    "⍬",
    "''",
    "(⍳5)",
    "(⍳100)",
    "(⍳1E6)",
    "(1E7⍴0 1)",
    "(3 4⍴⍳12)",
    "(1000 1000⍴⍳7)",
    "('ab' 'c' 'def')",
    "(⍳1E8)",
    "((⍳3)(⍳4))",
    "(1E5⍴⊂⍳3)",
    "(1E6⍴'abc ')",
    "(' '(≠⊆⊢)1E6⍴'abc de ')",
];

struct Lines {
    one: Vec<char>,
    two: Vec<char>,
    scalar: Vec<char>,
}

impl Lines {
    fn from_table() -> Lines {
        let of = |which: &dyn Fn(&Prim) -> bool| {
            prims().filter(|p| which(p)).map(|p| p.glyph).collect::<Vec<char>>()
        };
        let calls = |m: &Option<aplomb_language::table::Meaning>| {
            m.as_ref().is_some_and(|m| !matches!(m.does, Does::Operator(_)))
        };
        Lines {
            // A text that is run may ask, or leave.
            one: of(&|p| calls(&p.monadic) && p.glyph != '⍎'),
            two: of(&|p| calls(&p.dyadic)),
            scalar: of(&|p| p.dyadic.as_ref().is_some_and(|m| matches!(m.does, Does::Scalar(_)))),
        }
    }

    fn term(&self, dice: &mut Dice, depth: usize) -> String {
        if depth == 0 {
            return dice.pick(VALUES).to_string();
        }
        let y = self.term(dice, depth - 1);
        let below = dice.roll(depth);
        match dice.roll(16) {
            0..=3 => format!("({}{y})", dice.pick(&self.one)),
            4..=8 => format!("({}{}{y})", self.term(dice, below), dice.pick(&self.two)),
            9 => format!("({}{}{y})", dice.pick(&self.scalar), dice.pick(&["/", "⌿"])),
            10 => format!("({}{}{y})", dice.pick(&self.scalar), dice.pick(&["\\", "⍀"])),
            11 => format!("({}¨{y})", self.body(dice, depth - 1)),
            12 => format!("({}⍤{}⊢{y})", self.body(dice, depth - 1), dice.pick(&["0", "1", "2"])),
            13 => {
                let x = self.term(dice, 0);
                let two = dice.pick(&self.two);
                let f = match dice.roll(7) {
                    0 => format!("∘.{}", dice.pick(&self.scalar)),
                    1 => "+.×".into(),
                    2 => "∨.∧".into(),
                    3 => "⌊.+".into(),
                    4 => format!("{two}¨"),
                    5 => format!("{two}⍨"),
                    _ => format!("{two}⍤1"),
                };
                format!("({x}{f}{y})")
            }
            14 => {
                let f = dice.pick(&["⊂", "≢", "+/", "{⍺(≢⍵)}", "{+/⍵}", "{⍵}"]);
                let by = dice.pick(&[
                    "⌸", "⌺3", "⌺3 3", "@1", "@(2 3)", "@{⍵=1}", "⍣3", "⍣1000", "⍣1E9", "⍣≡",
                ]);
                format!("({f}{by}{y})")
            }
            _ => format!("({y}[{}])", self.term(dice, below)),
        }
    }

    fn body(&self, dice: &mut Dice, depth: usize) -> String {
        if dice.roll(2) == 0 {
            return dice.pick(&self.one).to_string();
        }
        let t = self.term(dice, depth.min(1));
        let (one, two) = (dice.pick(&self.one), dice.pick(&self.two));
        match dice.roll(10) {
            0 => format!("{{⍵{two}{t}}}"),
            1 => format!("{{{t}{two}⍵}}"),
            2 => format!("{{{one}⍵}}"),
            3 => format!("{{1<≢⍵:∇1↓⍵ ⋄ {t}}}"),
            4 => format!("{{⍵>{t}:{t} ⋄ ∇⍵+1}}"),
            5 => "{⍵,⍵}".into(),
            6 => "{∇⍵}".into(),
            7 => "{⍵∇⍵}".into(),
            8 => "{(⊂⍵)⍵}".into(),
            _ => "{⍺∇⍵,⍵}".into(),
        }
    }
}

/// The beginning of the sequence; `APLOMB_TEST_SEED` gives another one.
fn seed() -> u64 {
    let given = std::env::var("APLOMB_TEST_SEED").ok();
    given.map_or(17, |text| text.parse().expect("a seed"))
}

fn started() -> Child {
    Command::new(env!("CARGO_BIN_EXE_aplomb"))
        .args(["--limit", &format!("bytes={BYTES}"), "--limit", &format!("seconds={SECONDS}")])
        .args(["--files", "none"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program")
}

/// The most bytes that a process has had since it was last asked.
#[cfg(target_os = "linux")]
fn peak(child: &Child) -> u64 {
    let folder = format!("/proc/{}", child.id());
    let text = std::fs::read_to_string(format!("{folder}/status")).expect("the process");
    let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:")).expect("a peak");
    let _ = std::fs::write(format!("{folder}/clear_refs"), "5");
    1024 * line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number")
}

#[cfg(not(target_os = "linux"))]
fn peak(_: &Child) -> u64 {
    0
}

#[test]
fn every_line_is_answered_within_its_bounds() {
    let (lines, mut dice) = (Lines::from_table(), Dice(seed()));
    let mut child = started();
    let mut to = child.stdin.take().expect("a pipe");
    let from = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let (hears, heard) = mpsc::channel();
    std::thread::spawn(move || from.map_while(Result::ok).all(|l| hears.send(l).is_ok()));
    let (mut wrong, mut lates) = (Vec::new(), 0);
    let known = [
        "⎕←≢,⌊/({⍵,⍵}¨1E6⍴'abc ')",
        "⎕←≢,{(⊂⍵)⍵}¨' '(≠⊆⊢)1E7⍴'abc de '",
        "⎕←≢({⊂⍵}¨x),⍳9⊣x←' '(≠⊆⊢)1E7⍴'abc de '",
    ];
    for k in 0..scaled(250) {
        let line = match known.get(k) {
            Some(line) => line.to_string(),
            None => {
                let depth = 1 + dice.roll(4);
                format!("⎕←≢,{}", lines.term(&mut dice, depth))
            }
        };
        let begun = Instant::now();
        writeln!(to, "{line}\n⎕←'#',⍕{k}").expect("the program reads");
        let mark = format!("#{k}");
        loop {
            match heard.recv_timeout(Duration::from_secs_f64(40.0 * SECONDS)) {
                Ok(l) if l == mark => break,
                Ok(_) => {}
                Err(why) => {
                    let _ = child.kill();
                    panic!("no answer ({why}) to {line}");
                }
            }
        }
        if begun.elapsed() > Duration::from_secs_f64(4.0 * SECONDS) {
            lates += 1;
            eprintln!("{:?}: {line}", begun.elapsed());
        }
        let most = peak(&child);
        if most > BYTES + BESIDE {
            wrong.push(format!("{} MB: {line}", most / 1_000_000));
        }
    }
    drop(to);
    assert!(child.wait().expect("an end").code().is_some_and(|code| code < 128));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A machine may be busy now and then, but not at many lines.
    assert!(lates < 5, "{lates} lines took four times as long as they may");
}

/// ACL-20: a device that may hold one megabyte is enough for the sum of a thousand million indices.
#[test]
fn acl_20_indices_are_no_array_in_one_megabyte() {
    let mut aplomb = Command::new(env!("CARGO_BIN_EXE_aplomb"));
    aplomb.args(["--limit", "bytes=1048576", "eval", "+/⍳1000000000"]);
    let told = aplomb.output().expect("the program runs");
    assert_eq!(String::from_utf8_lossy(&told.stdout).trim(), "5.000000005E17");
    assert!(told.status.success());
}

//! Random expressions: reference = fused CPU = each switch off = evaluated at once. Bit for bit,
//! errors too.
//!
//! The scalar functions come from `PRIMS`. A failure prints the line, its seed and what each side
//! gave; shrink it by hand to a case of its own.

use crate::grammar::{Grammar, SETUP};
use crate::support;
use crate::support::{Dice, bits, scaled, session};
use aplomb_compiler::pass::{Options, PRESETS, switches};
use aplomb_ground::error::{Error, Kind};
use aplomb_ground::span::Source;
use aplomb_kernel::session::Session;
use aplomb_language::eval::Interp;
use aplomb_language::testing;
use aplomb_values::array::Array;

/// An overflow in an element that no one reads is not looked for (only what is hard to compute is
/// computed whole, E1); the oracle computes everything. So where it finds one, the line says
/// nothing.
const OVERFLOW: &str = "beyond the largest number";

pub type Outcome = Result<(Vec<usize>, Vec<u64>), String>;

/// An error as far as it must not depend on how the line ran: its kind and where it was written. A
/// defect is no outcome, even one that both sides have.
pub fn outcome(value: Result<Option<Array>, Error>) -> Outcome {
    if let Err(e) = &value {
        let line = e.parts().place.as_ref().map(|p| p.source.text.to_string());
        assert_ne!(e.kind(), Kind::Internal, "{e}: {line:?}");
    }
    match value {
        Ok(Some(a)) => Ok(bits(&a)),
        Ok(None) => Err("no value".into()),
        Err(e) if e.parts().says.contains(OVERFLOW) => Err(OVERFLOW.into()),
        Err(e) => {
            Err(format!("{} at {:?}", e.kind().name(), e.parts().place.as_ref().map(|p| p.span)))
        }
    }
}

/// A reference's workspace: everything is recorded, and computed one element at a time.
pub struct Oracle {
    interp: Interp,
    host: testing::Host,
}

impl Oracle {
    fn new() -> Oracle {
        Oracle::on(SETUP)
    }

    pub fn on(setup: &str) -> Oracle {
        let mut oracle = Oracle { interp: Interp::new(), host: testing::Host::default() };
        oracle.interp.execute(&Source::new("setup", setup), &mut oracle.host).expect("setup");
        oracle.interp.set_record_all(true);
        oracle
    }

    /// Shapes and bits at all depths, or the name of the error. None: nothing can be said, for an
    /// element overflows that nobody may read.
    pub fn kind(&mut self, line: &str) -> Option<Outcome> {
        let value = self.interp.eval_value(&Source::new("line", line), &mut self.host);
        let value = match value {
            Ok(Some(a)) => self.interp.ready(&a, "display", &mut self.host),
            Ok(None) => return Some(Err("no value".into())),
            Err(e) => Err(e),
        };
        match value {
            Ok(a) => Some(Ok(support::deep_bits(&a))),
            Err(e) if e.parts().says.contains(OVERFLOW) => None,
            Err(e) => Some(Err(e.name())),
        }
    }

    pub fn value(&mut self, line: &str) -> Outcome {
        let source = Source::new("line", line);
        let value = self.interp.eval_value(&source, &mut self.host);
        outcome(match value {
            Ok(Some(a)) => self.interp.ready(&a, "display", &mut self.host).map(Some),
            other => other,
        })
    }
}

fn prepared(recording: bool, off: Option<&str>) -> Session {
    prepared_on(SETUP, recording, off)
}

pub fn prepared_on(setup: &str, recording: bool, off: Option<&str>) -> Session {
    let mut s = session();
    s.value_of("1").expect("a session");
    s.interp().set_record_all(false);
    execute(&mut s, setup);
    s.interp().set_record_all(recording);
    if let Some(name) = off {
        s.options().switch(name, false).expect("a switch");
    }
    s
}

/// Runs a line for its names. Whether it failed.
fn execute(s: &mut Session, line: &str) -> bool {
    let mut heard = support::Heard::default();
    let code = line.to_string();
    s.handle(
        aplomb_ground::protocol::Request::Execute { code, name: "line".into(), silent: true },
        &mut heard,
    );
    heard.0.iter().any(|e| match e {
        aplomb_ground::protocol::Event::Error(f) => {
            assert_ne!(f.number, Kind::Internal.number(), "{line}\n{}", f.report);
            true
        }
        _ => false,
    })
}

/// A line under way: it is told if its check ends in a panic.
struct Told<'a>(&'a str);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the line was {}", self.0);
        }
    }
}

fn compare(count: usize, seed: u64, other: &mut dyn FnMut(&str) -> Outcome, what: &str) {
    compare_on(SETUP, |_| true, count, seed, other, what);
}

fn compare_on(
    setup: &str,
    fits: fn(&str) -> bool,
    count: usize,
    seed: u64,
    other: &mut dyn FnMut(&str) -> Outcome,
    what: &str,
) {
    let grammar = Grammar::from_table();
    let mut oracle = Oracle::on(setup);
    let (mut values, mut errors, mut overflows, mut left_out) = (0, 0, 0, 0);
    for k in 0..count {
        let mut dice = Dice(seed + k as u64);
        let depth = 1 + dice.roll(5);
        let (line, _) = grammar.term(&mut dice, depth);
        if !fits(&line) {
            left_out += 1;
            continue;
        }
        let _told = Told(&line);
        let wanted = oracle.value(&line);
        if wanted.as_ref().is_err_and(|e| e == OVERFLOW) {
            overflows += 1;
            continue;
        }
        let got = other(&line);
        // What is complex fails at once, what overflows when it is computed: only one of them may
        // be first.
        if wanted.is_err() && got.as_ref().is_err_and(|e| e == OVERFLOW) {
            overflows += 1;
            continue;
        }
        assert_eq!(got, wanted, "{what}, seed {}: {setup} ⋄ {line}", seed + k as u64);
        if wanted.is_ok() { values += 1 } else { errors += 1 }
    }
    let count = count - left_out;
    // A generator that only fails, or never fails, would test little.
    let fair = values * 2 > count && errors * 100 > count && overflows * 20 < count;
    assert!(fair, "{values} values, {errors} errors, {overflows} overflows of {count}");
}

#[test]
fn the_cpu_gives_what_the_reference_gives() {
    let mut fused = prepared(true, None);
    compare(scaled(20_000), 1, &mut |line| outcome(fused.value_of(line)), "fused");
}

#[test]
fn evaluating_at_once_gives_the_same() {
    let mut eager = prepared(false, None);
    compare(scaled(5_000), 7_000_000, &mut |line| outcome(eager.value_of(line)), "at once");
}

/// Numbers that wait one by one are added one by one, each sum rounded; a vector of them is rounded
/// once. So what takes items apart is left out.
#[test]
fn floats_of_32_bits_are_the_same_recorded_or_not() {
    let setup = format!("⎕FR←325 ⋄ {SETUP}");
    let (mut fused, mut eager) =
        (prepared_on(&setup, true, None), prepared_on(&setup, false, None));
    let mut both = |line: &str| {
        let (one, other) = (outcome(fused.value_of(line)), outcome(eager.value_of(line)));
        if one.as_ref().err().or(other.as_ref().err()).is_none_or(|e| e != OVERFLOW) {
            assert_eq!(one, other, "{line}");
        }
        one
    };
    let whole = |line: &str| !line.contains('¨');
    compare_on(&setup, whole, scaled(5_000), 9_100_000, &mut both, "⎕FR←325");
}

#[test]
fn no_switch_changes_a_value() {
    for (k, name) in switches().into_iter().enumerate() {
        let mut off = prepared(true, Some(name));
        compare(
            scaled(1_000),
            1_000_000 * (k as u64 + 1),
            &mut |line| outcome(off.value_of(line)),
            name,
        );
    }
}

/// Pipelines and rules of the literature, and a limit that cuts most launches.
#[test]
fn no_pipeline_changes_a_value() {
    let strict = |o: &mut Options| o.strict = true;
    let by_cost = |o: &mut Options| o.dup_by_cost = true;
    let mut ways: Vec<(String, Box<dyn Fn(&mut Session)>)> = Vec::new();
    for preset in PRESETS.iter().map(|p| p.name) {
        ways.push((
            preset.into(),
            Box::new(move |s| s.options().take(preset).expect("a pipeline")),
        ));
    }
    ways.push(("--strict-2006".into(), Box::new(move |s| strict(s.options()))));
    ways.push(("--dup=cost".into(), Box::new(move |s| by_cost(s.options()))));
    for limit in [("inputs", 2.0), ("code", 5.0), ("parameters", 512.0), ("registers", 24.0)] {
        let set = move |s: &mut Session| s.core().limits.set(limit.0, limit.1).expect("a limit");
        ways.push((format!("--limit {}={}", limit.0, limit.1), Box::new(set)));
    }
    for (k, (name, choose)) in ways.into_iter().enumerate() {
        let mut s = prepared(true, None);
        choose(&mut s);
        compare(
            scaled(1_000),
            50_000_000 + 1_000_000 * k as u64,
            &mut |line| outcome(s.value_of(line)),
            &name,
        );
    }
}

/// Dice decide what is stored, what runs together and in which order of axes arrays lie: all that
/// is a matter of cost.
#[test]
fn no_choice_changes_a_value() {
    let mut s = prepared(true, None);
    let mut seed = 0;
    let mut other = |line: &str| {
        seed += 1;
        s.options().dice = Some(seed);
        outcome(s.value_of(line))
    };
    compare(scaled(8_000), 170_000_000, &mut other, "by dice");
}

/// Three sets of data of the same shapes and types; scalars by name, so that the same line speaks
/// of all.
const DATA: [&str; 3] = [
    "p←2 ⋄ q←0.5 ⋄ u←¯1.5 ⋄ w←3",
    "p←7 ⋄ q←0.25 ⋄ u←0.5 ⋄ w←2 ⋄ A←1.5 2 ¯6 0.25 8 0.5 ⋄ B←⌽1+⍳6 ⋄ P←⌽P+0.25 ⋄ L←~L ⋄ M←M×¯0.5 ⋄ \
     N←~N",
    "p←7 ⋄ q←1.75 ⋄ u←1.75 ⋄ w←7 ⋄ A←0 0.5 2.5 0 ¯1 3 ⋄ B←3+⍳6 ⋄ P←P÷3 ⋄ L←6⍴1 0 ⋄ M←⌽M ⋄ N←⊖N",
];

#[test]
fn a_known_plan_gives_what_the_reference_gives_on_other_data() {
    let grammar = Grammar { scalars: ["p", "q", "u", "w"], ..Grammar::from_table() };
    let setups = DATA.map(|d| format!("{SETUP} ⋄ {d}"));
    let mut oracles = setups.each_ref().map(|setup| Oracle::on(setup));
    let mut s = prepared(true, None);
    let (mut values, mut errors, batch) = (0, 0, 200);
    for first in (0..scaled(4_000)).step_by(batch) {
        for (setup, oracle) in setups.iter().zip(&mut oracles) {
            s.interp().set_record_all(false);
            s.value_of("0").expect("a session");
            let request = aplomb_ground::protocol::Request::Execute {
                code: setup.clone(),
                name: "setup".into(),
                silent: true,
            };
            s.handle(request, &mut support::Heard::default());
            s.interp().set_record_all(true);
            for k in first..first + batch {
                let mut dice = Dice(400_000_000 + k as u64);
                let depth = 1 + dice.roll(5);
                let (line, _) = grammar.term(&mut dice, depth);
                let (wanted, got) = (oracle.value(&line), outcome(s.value_of(&line)));
                if [&wanted, &got].iter().any(|o| o.as_ref().is_err_and(|e| e == OVERFLOW)) {
                    continue;
                }
                assert_eq!(got, wanted, "seed {}: {setup} ⋄ {line}", 400_000_000 + k);
                if wanted.is_ok() { values += 1 } else { errors += 1 }
            }
        }
    }
    let tally = s.core().plans().tally();
    assert!(values > errors && errors * 100 > values, "{values} values, {errors} errors");
    assert!(tally.hits > tally.misses / 2, "{tally:?}");
}

/// A body over ⍵ (and ⍺), of the shapes that cells have: closed-over names, folds, frames in
/// frames, guards that refuse.
fn body(dice: &mut Dice, depth: usize, left: bool) -> String {
    if depth == 0 {
        let leaves =
            ["⍵", "⍵", "⍵", "2", "B", "(+/⍵)", "(≢⍵)", "A", if left { "⍺" } else { "0.5" }];
        return dice.pick(&leaves).to_string();
    }
    let x = body(dice, depth - 1, left);
    match dice.roll(17) {
        0..=4 => {
            let op = ["+", "-", "×", "÷", "⌈", "=", "*", "|"][dice.roll(8)];
            format!("({x}{op}{})", body(dice, depth - 1, left))
        }
        5 => format!("({}{x})", ["-", "⌽", "÷", "⍟", "⌊", ","][dice.roll(6)]),
        6 => format!("(+/{x})"),
        7 => format!("(2↑{x})"),
        8 => format!("({{⍵×2}}¨{x})"),
        9 => format!("({x}{{⍺+⍵×B[2]}}¨{x})"),
        10 => format!("(+\\{x})"),
        11 => format!("({x},{})", body(dice, depth - 1, left)),
        // A way that is not taken does not fail.
        12 => format!("({{⍵>1:⍵ ⋄ {}}}¨{x})", ["-⍵", "÷⍵", "⍵*0.5", "⍟⍵", "3 ⋄ 4"][dice.roll(5)]),
        13 => format!("({{1<+/⍵:{} ⋄ ⍵}}{x})", body(dice, depth - 1, false)),
        // Loops with an end of their own, and what an inner frame closes over.
        14 => format!("({{⍵÷2}}⍣{{2>⌈/|,⍺}}{x})"),
        15 => format!("({{c←+/,⍵ ⋄ +/{{c{}⍵}}¨⍳3}}{x})", ["+", "×", "⊣"][dice.roll(3)]),
        _ => format!("({{0=≢⍴⍵:⍵ ⋄ ⌈/⍵}}{x})"),
    }
}

#[test]
fn a_frame_of_cells_gives_what_its_cells_give() {
    let mut framed = prepared(true, None);
    let mut cells = prepared(false, Some("frames"));
    let (mut values, mut errors) = (0, 0);
    for k in 0..scaled(4_000) {
        let mut dice = Dice(90_000_000 + k as u64);
        let depth = 1 + dice.roll(3);
        let line = match dice.roll(5) {
            0 => format!("{{{}}}¨A", body(&mut dice, depth, false)),
            1 => format!("P{{{}}}¨B", body(&mut dice, depth, true)),
            2 => format!("{{{}}}⍤1⊢M", body(&mut dice, depth, false)),
            3 => format!("(⍳3){{{}}}⍤0 1⊢3 6⍴A", body(&mut dice, depth, true)),
            _ => format!("(⍳3)∘.{{{}}}B", body(&mut dice, depth, true)),
        };
        let line = if dice.roll(2) == 0 { format!("↑{line}") } else { format!("⌽{line}") };
        let wanted = outcome(cells.value_of(&line));
        if wanted.as_ref().is_err_and(|e| e == OVERFLOW) {
            continue;
        }
        assert_eq!(
            outcome(framed.value_of(&line)),
            wanted,
            "seed {}: {SETUP} ⋄ {line}",
            90_000_000 + k
        );
        if wanted.is_ok() { values += 1 } else { errors += 1 }
    }
    assert!(values > errors && errors * 100 > values, "{values} values, {errors} errors");
}

/// ∞, NaN and ¯0 come from files alone, and stay as they are: through guards, loops, folds and
/// frames, recorded or not.
#[test]
fn what_only_files_bring_is_the_same_recorded_or_not() {
    let file = std::env::temp_dir().join(format!("aplomb-special-{}.npy", std::process::id()));
    let numbers = [f64::INFINITY, f64::NAN, -0.0, 1.5, f64::NEG_INFINITY, 2.5];
    let mut head = "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }".to_string();
    head += &" ".repeat(117 - head.len());
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(head.bytes().chain(*b"\n"));
    bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    std::fs::write(&file, bytes).expect("a file");
    let setup = SETUP.replace("A←¯3 1 4 1.5 9 2.5", &format!("A←⎕NPY'{}'", file.display()));
    assert_ne!(setup, SETUP);
    let setup = format!("{setup} ⋄ M←2 3⍴A");
    let mut plain = prepared_on(&setup, false, Some("frames"));
    plain.options().switch("loops", false).expect("a switch");
    let mut fused = prepared_on(&setup, true, None);
    let _ = std::fs::remove_file(&file);
    let grammar = Grammar::from_table();
    // Which NaN it is, is nobody's business.
    let told = |s: &mut Session, line: &str| {
        let nan = |x: u64| if f64::from_bits(x).is_nan() { f64::NAN.to_bits() } else { x };
        outcome(s.value_of(line))
            .map(|(shape, bits)| (shape, bits.into_iter().map(nan).collect::<Vec<_>>()))
    };
    let (mut values, mut errors, mut special) = (0, 0, 0);
    for k in 0..scaled(4_000) {
        let mut dice = Dice(700_000_000 + k as u64);
        let depth = 1 + dice.roll(4);
        let line = match dice.roll(4) {
            0 => format!("{{{}}}¨A", body(&mut dice, depth.min(3), false)),
            1 => format!("{{{}}}⍤1⊢M", body(&mut dice, depth.min(3), false)),
            _ => grammar.term(&mut dice, depth).0,
        };
        // A loop until something is small does not end where nothing is.
        if ["⍣{", "⍣=", "⍣≡"].iter().any(|until| line.contains(until)) {
            continue;
        }
        let wanted = told(&mut plain, &line);
        let got = told(&mut fused, &line);
        if [&wanted, &got].iter().any(|o| o.as_ref().is_err_and(|e| e == OVERFLOW)) {
            continue;
        }
        assert_eq!(got, wanted, "seed {}: {line}", 700_000_000 + k);
        match wanted {
            Ok((_, bits)) if bits.iter().any(|x| !f64::from_bits(*x).is_finite()) => special += 1,
            Ok(_) => values += 1,
            Err(_) => errors += 1,
        }
    }
    assert!(
        special * 10 > values && values > 0 && errors > 0,
        "{special} special, {values} values, {errors} errors"
    );
}

/// X in each place where an index may stand.
const DOORS: &[&str] = &[
    "V[⌊X]",
    "V[⌊3⍴X]",
    "V[1 2,⌊X]",
    "M[⌊2⍴X;1]",
    "M[1;⌊2⍴X]",
    "(⊂⌊X)⌷V",
    "(⌊X)⌷V",
    "(⌊X)⊃V",
    "+/V[⌊20⍴X]",
    "{V[⌊⍵]}¨20⍴X",
    "{⍵⌷V}¨⌊20⍴X",
    "{x←V ⋄ x[⌊3⍴⍵]←9 ⋄ x}X",
    "{x←V ⋄ x[⌊3⍴⍵]+←9 ⋄ x}X",
    "{(⍵⌷x)←9⊣x←V ⋄ x}⌊X",
    "-@(⌊X)⊢V",
];

/// A place that is none is one error, on the host, in a launch and in the oracle: a whole number is
/// INDEX ERROR, anything else, and what is too large to count with, DOMAIN ERROR.
#[test]
fn a_place_that_is_none_is_one_error_everywhere() {
    let setup = "S←,⎕CSV('1,-inf' 'nan,inf')'N' 2 ⋄ V←⍳6 ⋄ M←2 3⍴⍳6";
    let mut oracle = Oracle::on(setup);
    let mut sessions = [true, false].map(|recording| prepared_on(setup, recording, None));
    let values = [
        ("S[2]", "DOMAIN"),
        ("S[3]", "DOMAIN"),
        ("S[4]", "DOMAIN"),
        ("1E300", "DOMAIN"),
        ("¯1E16", "DOMAIN"),
    ];
    let whole =
        [("9", "INDEX"), ("0", "INDEX"), ("¯3", "INDEX"), ("1E15", "INDEX"), ("4E9", "INDEX")];
    for (value, kind) in values.into_iter().chain(whole) {
        for door in DOORS {
            let line = door.replace('X', value);
            let own = oracle.value(&line);
            for told in
                std::iter::once(own).chain(sessions.iter_mut().map(|s| outcome(s.value_of(&line))))
            {
                assert!(told.as_ref().is_err_and(|e| e.starts_with(kind)), "{line}: {told:?}");
            }
        }
    }
}

/// More pending scalars than are let pile up, with what fails among them; and more parts than a
/// catenation of a launch has.
const PILES: &[&str] = &[
    "+/(⍳1100)⌷¨⊂0.5×⍳1100",
    "+/{⍺+⍵}\\(⍳1030)⌷¨⊂0.5×⍳1030",
    "+/{÷⍵-500}¨(⍳1100)⌷¨⊂0.5×⍳1100",
    "{÷⍵-500.25}¨(⍳1100)⌷¨⊂0.5×⍳1100",
    "+/{|¯1*⍵}¨(⍳1100)⌷¨⊂0.5×⍳1100",
    "5↑{1E300×⍵*200}¨(⍳1100)⌷¨⊂0.5×⍳1100",
    "⊃{⍺+⍵}/(⍳2100)⌷¨⊂÷⍳2100",
    "⊃{⍺,⍵}/40⍴⊂⍳2000",
    "⊃{⍺,⍵}/40⍴(⍳1500)(0.5×⍳1500)(1=2|⍳1500)",
    "⊃{⍺⍪⍵}/40⍴⊂50 30⍴⍳1500",
    "⊃{⍺,⍵}/40⍴⊂500 3⍴⍳1500",
    "{x←⊃{⍺,⍵}/16⍴⊂⍳⍵ ⋄ (x,⍵),x}1200",
];

#[test]
fn what_piles_up_is_equal() {
    all_equal("A←1", PILES);
}

/// Lines that once differed, shrunk.
const FOUND: &[&str] = &[
    // Folds whose results the type of the items has no room for.
    "∧/2000⍴7 11 13 17 19",
    "∨/2000⍴6 9",
    "2↑⌈/¨1024⍴⍬(300 4)",
    "2↑⌊/¨1024⍴⍬(0 1)",
    "2↑+/¨1024⍴⍬(300 4)",
    "⌈/⌈2 3⍴×/(⍳6)*B",
    "(⌊(×/A)*⌊B)|-×⌈/A",
    "2⌽(5↑1⌽(⍳6)○⍳6)*×/,⍉N",
    "¯7↑⌽⌈⍳6",
    "⌽⌽⍳6",
    "⌊⍳6",
    "(⌽(1↓5↑+⌿N)⍟3)",
    "(,(1⌽÷N)+×M○N)",
    "{+/(1<⍵)/⍵}(4 3 2.5 2.2 2 1.9⍟1 2 1 2 1 4)|14.5",
    "((¯7↑((×⌿B)<(C×P)))≠(⌈/((3○(⍳6))*(-0.5))))",
];

/// Each line gives, recorded and at once, what the reference gives.
pub fn all_equal(setup: &str, lines: &[&str]) {
    let mut oracle = Oracle::on(setup);
    let mut sessions =
        [true, false].map(|recording| (recording, prepared_on(setup, recording, None)));
    for line in lines {
        let wanted = oracle.value(line);
        for (recording, s) in &mut sessions {
            assert_eq!(outcome(s.value_of(line)), wanted, "recorded {recording}: {line}");
        }
    }
}

#[test]
fn what_once_differed_is_equal() {
    all_equal(SETUP, FOUND);
}

/// Lines on cells that once differed from the same cell by cell, shrunk.
const ON_CELLS: &[&str] = &[
    // More rounds than a launch takes, before a fold of rows.
    "-/{{⍵+1}⍣{66000<⍺}⍵}¨16⍴1 2 3",
    "{+/{⍵+1}⍣{66000<⊃⍺}⍵}¨↓20 2⍴1 2 3",
    // A round that changes the shape of a cell.
    "{{+/⍵}⍣3⊢⍵}¨↓20 2⍴⍳40",
    "{{⊃⍵}⍣{1}⍵}¨↓20 2⍴⍳40",
    "({+/⍵}⍣{1})⍤1⊢20 2⍴⍳40",
    "{V←⍵ ⋄ +/{V}⍣{1}⊢1 2}¨⍳20",
    "{{5}⍣{1}⍵}¨↓20 2⍴⍳40",
    "{{⌈/⍵}⍣{⍺≡⍵}⍵}¨↓20 2⍴⍳40",
    // Numbers that a cell draws by several `?`, and what is drawn behind them.
    "{⎕RL←7 ⋄ {1≥((?0)*2)+(?0)*2}¨⍳2000}0",
    "{⎕RL←7 ⋄ z←{(?6)+10×?4}¨⍳2000 ⋄ z,?1000000}0",
    "{⎕RL←7 ⋄ z←{(?0),?2⍴6}¨⍳300 ⋄ z,⊂?1000000}0",
    "{⎕RL←7 ⋄ z←{⍵×?10}¨⍳300 ⋄ y←{(?5)-?5}¨⍳300 ⋄ z y(?1000000)}0",
    // A few rounds of what gives cells of other shapes.
    "({⌽(∨\\⍵≠' ')/⍵}⍣2)¨300⍴'  ab ' 'c  ' '   d'",
    "({⍵,≢⍵}⍣3)¨⍳¨⍳30",
    "2({⍺,⍵}⍣2)¨⍳¨300⍴⍳4",
    "({⍵,≢⍵}⍣0)¨⍳¨⍳30",
    // What a round computes and does not use may fail.
    "{{z←1÷⍵-5 ⋄ ⍵+1}⍣3⊢⍵}¨⍳20",
    "{{(1÷⍵-5)⊢⍵+1}⍣{⍺>9}⍵}¨⍳20",
    "{{⍵+1}⍣{z←1÷⍵-5 ⋄ ⍺>9}⍵}¨⍳20",
    "{{(a b)←⍵(1÷⍵-5) ⋄ a+1}⍣3⊢⍵}¨⍳20",
    "{+/{z←~⍵ ⋄ 5⌊+/1 10}⍣5⊢⍵}¨16⍴0.5×⍳9",
    "+/{z←1÷⍵-5 ⋄ ⍵+1}⍣3⍳2000",
    "{x←{1÷⍵-5}⍣3⊢⍵ ⋄ 3}¨⍳20",
    // A cell that an inner frame closes over.
    "{V←⍵ ⋄ +/{V+⍵}¨⍳20}¨⍳20",
    "{V←⍵ ⋄ +/{V+⍵}¨⍳18}¨⍳20",
    "{V←⍵ ⋄ +/({V+⍵}⍤0)⍳20}¨⍳20",
    "{V←⍵ ⋄ +/,(⍳20)∘.{V+⍺×⍵}⍳3}¨⍳20",
    "{V←⍵ ⋄ +/{V{⍺+⍵}⍣{⍺>V+30}1}¨⍳20}¨⍳20",
    "{V←⍵ ⋄ +/{V≡⍵}¨⍳20}¨⍳20",
    "{V←⍵ ⋄ +/{V⊣⍵}¨⍳20}¨⍳20",
    "{+/V∘+¨⍳20⊣V←⍵}¨⍳20",
    // A frame of its own under the guard of another.
    "{{1<+/⍵:+/{⍵>1:⍵ ⋄ ⍵*0.5}¨⍳30 ⋄ ⍵}0.3×⍵}¨⍳20",
];

#[test]
fn what_once_differed_on_cells_is_equal() {
    let (mut framed, mut cells) = (prepared(false, None), prepared(false, Some("frames")));
    for line in ON_CELLS {
        assert_eq!(outcome(framed.value_of(line)), outcome(cells.value_of(line)), "{line}");
    }
}

/// Questions about a named value, one after the other.
const QUESTIONS: &[&str] = &[
    "Z",
    "+/,Z",
    "⌈/,Z",
    "5↑,Z",
    "4↑,Z×2",
    "⌽Z",
    "Z>3",
    "(,Z)[1]",
    "≢Z",
    "(+/,Z)÷≢,Z",
    "Z×Z",
    "{⍵÷2}⍣3⊢Z",
    "(+/,Z)-⌊/,Z",
];

/// A value that is asked for again is stored, and whatever way it came, answers and errors are the
/// same.
#[test]
fn what_is_asked_for_again_is_the_same() {
    let grammar = Grammar::from_table();
    let (mut oracle, mut kept, mut off) =
        (Oracle::new(), prepared(true, None), prepared(true, Some("keep")));
    kept.interp().set_keep_all(true);
    let assign = |s: &mut Session, line: &str| {
        let failed = execute(s, line);
        s.interp().set_record_all(true);
        failed
    };
    let (mut values, mut errors) = (0, 0);
    for k in 0..scaled(1500) {
        let seed = 70_000_000 + k as u64;
        let mut dice = Dice(seed);
        let depth = 1 + dice.roll(4);
        let (y, _) = grammar.term(&mut dice, depth);
        let lines = [format!("Y←{y}"), "Z←Y+0.5".to_string(), "Z←1-Z".to_string()];
        for line in &lines[..1 + dice.roll(3)] {
            let name = &line[..1];
            // What may fail is looked at when its statement ends.
            let failed = assign(&mut kept, line);
            assert_eq!(assign(&mut off, line), failed, "seed {seed}: {line}");
            if failed {
                break;
            }
            oracle
                .interp
                .execute(&Source::new("line", line.as_str()), &mut oracle.host)
                .expect("a value");
            for _ in 0..3 {
                let asked = QUESTIONS[dice.roll(QUESTIONS.len())].replace('Z', name);
                let wanted = oracle.value(&asked);
                if wanted.as_ref().is_err_and(|e| e == OVERFLOW) {
                    continue;
                }
                assert_eq!(
                    outcome(kept.value_of(&asked)),
                    wanted,
                    "seed {seed}: {SETUP} ⋄ {line} ⋄ {asked}"
                );
                assert_eq!(
                    outcome(off.value_of(&asked)),
                    wanted,
                    "off, seed {seed}: {SETUP} ⋄ {line} ⋄ {asked}"
                );
                if wanted.is_ok() { values += 1 } else { errors += 1 }
            }
        }
    }
    assert!(values > 3 * errors && errors * 300 > values, "{values} values, {errors} errors");
}

/// Lines that a switch once broke, and the switch.
const BROKEN: &[(&str, &str)] = &[
    ("exp-sharing", "((A⌊÷B)>B)⍪{⍵[⍒⍵]}{(⊃⌽{(1+⊃⍵)(+/⍵)}⍣{3<⊃⍺}⊢1,⍵)÷⍵}¨P"),
    // Numbers that are pending one by one were folded from the right for each prefix.
    ("frames", "-\\-÷⌈\\{+/{⍵÷2 3}⍣2⊢⍵ 1}¨B"),
];

/// Lines that once had one outcome when they were recorded, and another one when they were not.
const AT_ONCE: &[&str] = &[
    // The right argument fails first, and the left one is used by nobody.
    "(÷N)⊢⍟N",
    "(÷N){⍵}⍟N",
    "(⍟N)⌈.⊢⍉3↑⍤1⊢⍟N",
    // Whole but for ⎕CT.
    "(-÷/1+2*-51+⍳2)○0.5",
    // The failure stands inside of the braces.
    "{⍺>⍵}/⍟M",
];

#[test]
fn lines_that_were_not_the_same_at_once_are() {
    for line in AT_ONCE {
        let wanted = outcome(prepared(false, None).value_of(line));
        assert_eq!(Oracle::new().value(line), wanted, "{line}");
        assert_eq!(outcome(prepared(true, None).value_of(line)), wanted, "{line}");
    }
}

#[test]
fn lines_that_a_switch_broke_have_their_values() {
    for (switch, line) in BROKEN {
        let wanted = Oracle::new().value(line);
        assert!(wanted.is_ok(), "{line}");
        assert_eq!(
            outcome(prepared(true, Some(switch)).value_of(line)),
            wanted,
            "--off {switch}: {line}"
        );
    }
}

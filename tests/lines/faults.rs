//! ACC-31: defects planted in passes are caught, by the verifier or by the comparison with the
//! reference.

use crate::support;
use crate::support::{bits, session};
use aplomb_compiler::pass::Fault;
use aplomb_ground::error::{Error, Kind};
use aplomb_ground::protocol::Request;
use aplomb_ground::span::Source;
use aplomb_language::eval::Interp;
use aplomb_language::testing;
use aplomb_values::array::Array;

const SETUP: &str = "A←¯3 1 4 1.5 9 2.5 ⋄ B←1+⍳6 ⋄ P←0.5 2 1.25 3 0.75 8 ⋄ M←3 3⍴1.5 ¯2 3 4 0.25 6";

/// Small programs that between them use what every pass does.
const LINES: &[&str] = &[
    "A-B×2",
    "-A",
    "+/A÷B",
    "7↑÷B",
    "2↓÷A-1",
    "1+2↓A",
    "(A+B)×A-B",
    "+/⌽1+¯8↑A",
    "{(+/⍵)-+⌿⍵}*M",
    "(+⌿M)+⍤1⊢*M",
    "{(+⌿⍵)(+/⍵)⍵}*M",
    "(1↓A+P)(2↓A×P)",
    "A++/B",
    "B-+/A",
    "A+B+P+(⌽A)+⌽B",
    "⍉M-⍉M",
    "{⍵÷+/⍵}⍤1⊢*M",
    "{⍵+(1⌽⍵)+(2⌽⍵)+(3⌽⍵)+(4⌽⍵)+5⌽⍵}*1100⍴A",
    "1+⍉*40 33⍴A",
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Caught {
    Verifier,
    Comparison,
}

fn outcome(value: Result<Option<Array>, Error>) -> Result<(Vec<usize>, Vec<u64>), Kind> {
    match value {
        Ok(Some(a)) => Ok(bits(&a)),
        Ok(None) => Err(Kind::Value),
        Err(e) => Err(e.kind()),
    }
}

/// The way a defect is noticed by these lines, if it is.
fn caught(fault: Option<Fault>, off: &[&str], inputs: usize) -> Option<Caught> {
    let mut interp = Interp::new();
    let mut host = testing::Host::default();
    interp.execute(&Source::new("setup", SETUP), &mut host).expect("setup");
    interp.set_record_all(true);
    let mut s = session();
    s.value_of("1").expect("a session");
    let request = Request::Execute { code: SETUP.into(), name: "setup".into(), silent: true };
    s.handle(request, &mut support::Heard::default());
    s.interp().set_record_all(true);
    off.iter().for_each(|name| s.options().switch(name, false).expect("a switch"));
    s.core().limits.launch.inputs = inputs;
    s.options().fault = fault;
    let mut found = None;
    for line in LINES {
        let source = Source::new("line", *line);
        let wanted = match interp.eval_value(&source, &mut host) {
            Ok(Some(a)) => outcome(interp.ready(&a, "display", &mut host).map(Some)),
            other => outcome(other),
        };
        let got = outcome(s.value_of(line));
        match got {
            Err(Kind::Internal) => return Some(Caught::Verifier),
            got if got != wanted => {
                println!("{fault:?}: {line}");
                found = Some(Caught::Comparison);
            }
            _ => {}
        }
    }
    found
}

#[test]
fn acc_31_planted_faults_are_caught() {
    // Without a defect nothing is found, so what is found is the defect.
    assert_eq!(caught(None, &[], 64), None);
    assert_eq!(caught(None, &["hoist"], 2), None);
    let by_verifier = [
        Fault::PartOfWhatFails,
        Fault::DropTests,
        Fault::OffByOne,
        Fault::OtherAxis,
        Fault::OtherDomain,
        Fault::LateWrite,
        Fault::ShortHalo,
        Fault::LongRows,
        Fault::NextStep,
    ];
    for fault in Fault::ALL {
        let off: &[&str] = if fault == Fault::FoldTheFrame { &["hoist"] } else { &[] };
        let inputs = if fault == Fault::LateWrite { 2 } else { 64 };
        let wanted =
            if by_verifier.contains(&fault) { Caught::Verifier } else { Caught::Comparison };
        assert_eq!(caught(Some(fault), off, inputs), Some(wanted), "{fault:?}");
    }
}

//! ACC-31: a defect planted in each pass is caught by the verifier.

use crate::support;
use crate::support::{bits, session};
use aplomb_compiler::pass::{Fault, PIPELINE};
use aplomb_ground::error::{Error, Kind};
use aplomb_ground::protocol::Request;
use aplomb_ground::span::Source;
use aplomb_language::eval::Interp;
use aplomb_language::testing;
use aplomb_values::array::Array;
use std::collections::BTreeSet;

const SETUP: &str = "A←¯3 1 4 1.5 9 2.5 ⋄ B←1+⍳6 ⋄ P←0.5 2 1.25 3 0.75 8 ⋄ M←3 3⍴1.5 ¯2 3 4 0.25 6 \
                     ⋄ L←300 400⍴÷2+⍳997 ⋄ _←⎕DR L";

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
    "{y←⍵×2 ⋄ z←y+1 ⋄ (z×y)-z÷y+3}A",
    "{y←⍵+2 ⋄ (≢y)+⌽y}A",
    "(B×2)[⍋A-1]",
];

/// Larger ones, for defects that no small plan shows: of a plan that is worth trying others, and of
/// arrays that are written as they are read.
const LARGE: &[(Fault, &str)] = &[
    (Fault::Dearer, "{B←(⍵×⍵)-⍵÷3 ⋄ B+(1⌽B)+(2⌽B)+3⌽B}5000000⍴A"),
    (Fault::OtherLayout, "{B←⍉(⍵×⍵)+⍵*3 ⋄ (1⊖B)+(¯1⊖B)×(1⌽B)-(¯1⌽B)÷2+2⌽B}L"),
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
    let large = LARGE.iter().filter(|(of, _)| fault.is_none_or(|fault| fault == *of));
    for line in LINES.iter().chain(large.map(|(_, line)| line)) {
        let source = Source::new("line", *line);
        let wanted = match interp.eval_value(&source, &mut host) {
            Ok(Some(a)) => outcome(interp.ready(&a, "display", &mut host).map(Some)),
            other => outcome(other),
        };
        let got = outcome(s.value_of(line));
        match got {
            Err(Kind::Internal) => {
                println!("{fault:?}: {line}");
                return Some(Caught::Verifier);
            }
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
    // Each pass has one.
    let passes: Vec<&str> = PIPELINE.iter().map(|p| p.name).collect();
    let spoilt: BTreeSet<&str> = Fault::ALL.iter().map(|fault| fault.pass()).collect();
    assert_eq!(passes.iter().copied().collect::<BTreeSet<_>>(), spoilt);
    for fault in Fault::ALL {
        let off: &[&str] = if fault == Fault::FoldTheFrame { &["hoist"] } else { &[] };
        let inputs = if fault == Fault::LateWrite { 2 } else { 64 };
        assert_eq!(caught(Some(fault), off, inputs), Some(Caught::Verifier), "{fault:?}");
    }
}

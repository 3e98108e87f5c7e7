//! Values that leave the reals only when they are computed: a pending root is told as real numbers
//! until then, so whoever asks what its values are has to ask again once they are there.
//!
//! Six of them are computed at once, two thousand wait: every row of PRIMS answers both alike.

use crate::support::session;
use aplomb_ground::error::Kind;
use aplomb_kernel::session::Session;
use aplomb_language::table::{Does, Meaning, prims};

/// Roots, and roots that stand for whole numbers: none grows beyond all bounds.
const VALUES: [&str; 2] = ["(Y*0.5)", "(⌊Y*0.5)"];

/// With one argument; `f` is the function and W the values.
const MONADIC: [&str; 6] = ["fW", "f¨W", "f⍤0⊢W", "{f⍵}¨W", "+/⊃f¨W", "f/W"];

/// With two, whose outcome does not hang on how many there are.
const DYADIC: [&str; 9] = [
    "W f 1",
    "1 f W",
    "W f¨⊂1 2 3",
    "(⊂1 2 3)f¨W",
    "1 f¨W",
    "W f⍤0⊢1",
    "{⍵ f 1}¨W",
    "1 f\\W",
    "(⌽W)f W",
];

/// The outcome of a line as far as it may not hang on how many values there are.
fn outcome(s: &mut Session, line: &str) -> &'static str {
    match s.value_of(line) {
        Ok(_) => "a value",
        Err(e) => {
            assert_ne!(e.kind(), Kind::Internal, "{line}: {e}");
            e.kind().name()
        }
    }
}

#[test]
fn what_waits_and_is_complex_is_told_like_what_is_there() {
    let sessions = [6, 2000].map(|n| {
        let mut s = session();
        s.value_of("0").expect("a session");
        let request = aplomb_ground::protocol::Request::Execute {
            code: format!("Y←{n}⍴1 ¯1"),
            name: "setup".into(),
            silent: true,
        };
        s.handle(request, &mut crate::support::Heard::default());
        s
    });
    let [mut few, mut many] = sessions;
    let calls = |m: &Option<Meaning>| {
        m.as_ref().is_some_and(|m| !matches!(m.does, Does::Operator(_) | Does::Execute))
    };
    let (mut differ, mut count) = (Vec::new(), 0);
    for p in prims() {
        let forms = [(&p.monadic, &MONADIC[..]), (&p.dyadic, &DYADIC[..])];
        for form in forms.iter().filter(|(m, _)| calls(m)).flat_map(|(_, forms)| forms.iter()) {
            for values in VALUES {
                let line = form.replace('f', &p.glyph.to_string()).replace('W', values);
                let (one, other) = (outcome(&mut few, &line), outcome(&mut many, &line));
                count += 1;
                if one != other {
                    differ.push(format!("{line}: {one} of 6, {other} of 2000"));
                }
            }
        }
    }
    assert!(differ.is_empty(), "{} of {count}\n{}", differ.len(), differ.join("\n"));
}

//! Lines and what they print.

mod axes;
mod cases;
mod complex;
mod functions;
mod inverses;
mod operators;
mod order;
mod random;
mod traps;

use super::Interp;
use crate::reference::Host;
use crate::span::Source;

/// What a text prints; an error prints its kind and ends it.
pub fn run_in(interp: &mut Interp, host: &mut Host, text: &str) -> String {
    host.printed.clear();
    let source = Source::new("test", text);
    if let Err(e) = interp.execute(&source, host) {
        host.printed.push_str(&format!("{}\n", e.name()));
    }
    host.printed.clone()
}

pub fn run(text: &str, record_all: bool) -> String {
    let mut interp = Interp::new();
    interp.set_record_all(record_all);
    let printed = run_in(&mut interp, &mut Host::default(), text);
    printed.strip_suffix('\n').unwrap_or(&printed).to_string()
}

/// Lines and what they print, each run eagerly and with everything recorded.
pub fn check(cases: &'static [(&'static str, &'static str)]) {
    let wrong = with_stack(move || {
        let mut wrong = Vec::new();
        for (text, printed) in cases {
            for all in [false, true] {
                let got = run(text, all);
                if got != *printed {
                    wrong.push(format!("{text}   [recorded: {all}]\n   got  {got:?}\n   want {printed:?}"));
                }
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// Deep recursion needs the stack that a session has.
pub fn with_stack<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(256 << 20).spawn(f).unwrap().join().unwrap()
}

#[test]
fn every_example_in_the_table_prints_what_it_says() {
    let mut wrong = Vec::new();
    for p in crate::prim::table::prims() {
        for m in [&p.monadic, &p.dyadic, &p.operator].into_iter().flatten() {
            for all in [false, true] {
                let got = run(m.example.0, all);
                if got != m.example.1 {
                    wrong.push(format!("{} → {got:?}, not {:?} ({all})", m.example.0, m.example.1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_system_name_does_what_its_example_says() {
    let mut wrong = Vec::new();
    for row in crate::eval::system::rows() {
        assert!(row.help.ends_with('.'), "{}", row.name);
        for all in [false, true] {
            let got = run(row.example.0, all);
            if got != row.example.1 {
                wrong.push(format!("⎕{}: {} → {got:?}, not {:?} ({all})", row.name, row.example.0, row.example.1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_that_dyalog_has_say_so_and_others_are_no_syntax() {
    for (line, says) in
        [("⎕NS''", "NONCE ERROR"), ("⎕XML''", "NONCE ERROR"), ("⎕NOSUCH", "SYNTAX ERROR"), ("⎕TS←1", "SYNTAX ERROR")]
    {
        assert_eq!(run(line, false), says, "{line}");
    }
}

#[test]
fn what_is_typed_is_text_behind_its_prompt_or_a_value() {
    let (mut interp, mut host) = (Interp::new(), Host::default());
    host.typed.extend(["Ann", "", "1 2+1 2 3", "2×3", "no"].map(String::from));
    assert_eq!(run_in(&mut interp, &mut host, "⍞←'name? ' ⋄ r←⍞ ⋄ r"), "name? name? Ann\n");
    let asked = run_in(&mut interp, &mut host, "1+⎕");
    assert!(asked.contains("LENGTH ERROR") && asked.ends_with("⎕:\n7\n"), "{asked}");
    assert_eq!(run_in(&mut interp, &mut host, "⍴⍞"), "2\n");
    assert_eq!(run_in(&mut interp, &mut host, "⍞"), "VALUE ERROR\n");
}

#[test]
fn system_variables_that_a_dfn_sets_are_its_own() {
    assert_eq!(run("{⎕IO←0 ⋄ ⎕DIV←1 ⋄ (⍳2),÷⍵}0 ⋄ ⎕IO ⎕DIV", false), "0 1 0\n1 0");
    assert_eq!(run("{⎕PP←3 ⋄ 0::⎕PP ⋄ ÷0}0 ⋄ ⎕PP", false), "3\n10");
}

#[test]
fn entry_keys_are_one_glyph_each() {
    let mut seen = std::collections::HashMap::new();
    let keys = crate::prim::table::prims().filter_map(|p| p.key.map(|k| (k, p.glyph)));
    for (k, g) in keys.chain(crate::prim::table::OTHER_KEYS.iter().map(|(g, k, _)| (*k, *g))) {
        assert!(seen.insert(k, g).is_none(), "{k} gives {g} and {:?}", seen[&k]);
    }
}

#[test]
fn a_failed_statement_leaves_everything_as_it_was() {
    let (mut interp, mut host) = (Interp::new(), Host::default());
    run_in(&mut interp, &mut host, "x←1 2 3");
    assert_eq!(run_in(&mut interp, &mut host, "÷0⊣⎕IO←0⊣x[1]←9"), "DOMAIN ERROR\n");
    assert_eq!(run_in(&mut interp, &mut host, "x ⋄ ⎕IO"), "1 2 3\n1\n");
}

#[test]
fn two_pending_values_show_through_one_evaluation() {
    let (mut interp, mut host) = (Interp::new(), Host::default());
    run_in(&mut interp, &mut host, "x←⍳5000 ⋄ a←x+1 ⋄ b←x×2");
    assert_eq!(host.forces, 0);
    assert_eq!(run_in(&mut interp, &mut host, "(+/a)(+/b)"), "12507500 25005000\n");
    assert_eq!(host.forces, 1);
}

#[test]
fn what_may_fail_fails_though_nobody_looks() {
    let (mut interp, mut host) = (Interp::new(), Host::default());
    run_in(&mut interp, &mut host, "V←¯1+⍳5000");
    assert_eq!(run_in(&mut interp, &mut host, "{x←÷⍵ ⋄ 5}V"), "5\nDOMAIN ERROR\n".trim_start_matches("5\n"));
    assert_eq!(run_in(&mut interp, &mut host, "{0::'caught' ⋄ x←÷⍵ ⋄ 5}V"), "caught\n");
}

#[test]
fn a_dfn_over_a_pending_value_is_one_evaluation() {
    let (mut interp, mut host) = (Interp::new(), Host::default());
    run_in(&mut interp, &mut host, "r←(1↓X)÷¯1↓X←1+5000⍴⍳7 ⋄ vol←{((+/(⍵-(+/⍵)÷≢⍵)*2)÷≢⍵)*0.5}");
    assert_eq!(host.forces, 0);
    assert_eq!(run_in(&mut interp, &mut host, "vol ⍟r"), "0.5723851843\n");
    assert_eq!(host.forces, 1);
}

#[test]
fn recursion_is_deep_and_tail_calls_are_free() {
    with_stack(|| {
        let t = std::time::Instant::now();
        assert_eq!(run("{⍵≤1:⍵ ⋄ (∇⍵-1)+∇⍵-2}20", false), "6765");
        assert_eq!(run("{⍵=0:0 ⋄ 1+∇⍵-1}9000", false), "9000");
        assert_eq!(run("{⍵=0:'done' ⋄ ∇⍵-1}100000", false), "done");
        assert_eq!(run("{1+∇⍵}1", false), "LIMIT ERROR");
        assert!(t.elapsed().as_secs() < 20);
    });
}

//! Lines and what they print.

mod complex;
mod definitions;
mod help;
mod laws;
mod panics;
mod random;

use super::Interp;
use crate::testing::Host;
use aplomb_ground::span::Source;

/// The output of a text; an error prints its kind and ends it.
pub fn run_in(interp: &mut Interp, host: &mut Host, text: &str) -> String {
    host.printed.clear();
    let source = Source::new("test", text);
    if let Err(e) = interp.execute(&source, host) {
        host.printed.push_str(&format!("{}\n", e.name()));
    }
    host.printed.clone()
}

/// The same in a workspace of its own, without the last line end.
pub fn run(text: &str, record_all: bool) -> String {
    let mut interp = Interp::new();
    interp.set_record_all(record_all);
    let printed = run_in(&mut interp, &mut Host::default(), text);
    printed.strip_suffix('\n').unwrap_or(&printed).to_string()
}

/// The cases of a file in `text/`: the line where one begins, what is typed, what is printed. A
/// case opens with the lines that are typed, each after six blanks; what follows is printed. A
/// blank line before the next case, a line `⍝ …` or the end of the file closes it.
fn cases(text: &str) -> Vec<(usize, String, String)> {
    let typed = |l: &str| l.strip_prefix("      ").is_some_and(|rest| !rest.is_empty());
    let lines: Vec<&str> = text.lines().collect();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < lines.len() {
        let first = at;
        let input: Vec<&str> =
            lines[at..].iter().take_while(|l| typed(l)).map(|l| &l[6..]).collect();
        at += input.len();
        let printed = at;
        let next = |at: usize| lines.get(at + 1).is_none_or(|l| typed(l) || l.starts_with("⍝ "));
        while at < lines.len() && !(lines[at].is_empty() && next(at)) {
            at += 1;
        }
        if input.is_empty() {
            assert!(lines[first..at].iter().all(|l| l.starts_with("⍝ ")), "line {first}");
        } else {
            found.push((first + 1, input.join("\n"), lines[printed..at].join("\n")));
        }
        at += 1;
    }
    found
}

#[test]
fn each_case_prints_what_its_file_says_recorded_or_not() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/eval/tests/text");
    let (wrong, count) = with_stack(move || {
        let (mut wrong, mut count) = (Vec::new(), 0);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().to_string();
            for (line, text, printed) in cases(&std::fs::read_to_string(&path).unwrap()) {
                count += 1;
                for all in [false, true] {
                    let got = run(&text, all);
                    if got != printed {
                        wrong.push(format!(
                            "{name}:{line} {text}   [recorded: {all}]\n   got  {got:?}\n   want \
                             {printed:?}"
                        ));
                    }
                }
            }
        }
        (wrong, count)
    });
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 1_350, "{count} cases are left");
}

#[test]
fn no_rows_print_an_empty_line() {
    assert_eq!([run("2 0⍴0", false), run("2 0⍴0", true)], ["\n", "\n"]);
}

/// Deep recursion needs the stack that a session has.
pub fn with_stack<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(256 << 20).spawn(f).unwrap().join().unwrap()
}

#[test]
fn every_system_name_does_what_its_example_says() {
    let mut wrong = Vec::new();
    for row in crate::eval::system::rows() {
        assert!(row.help.ends_with('.'), "{}", row.name);
        for all in [false, true] {
            let got = run(row.example.0, all);
            if got != row.example.1 {
                wrong.push(format!(
                    "⎕{}: {} → {got:?}, not {:?} ({all})",
                    row.name, row.example.0, row.example.1
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_that_dyalog_has_say_so_and_others_are_no_syntax() {
    for (line, says) in [
        ("⎕NA''", "NONCE ERROR"),
        ("⎕WC''", "NONCE ERROR"),
        ("⎕NOSUCH", "SYNTAX ERROR"),
        ("⎕TS←1", "SYNTAX ERROR"),
    ] {
        assert_eq!(run(line, false), says, "{line}");
    }
}

#[test]
fn what_is_typed_is_text_behind_its_prompt_or_a_value() {
    let (mut interp, mut host) = (Interp::new(), Host::default());
    host.typed.extend(["Ann", "", "1 2+1 2 3", "2×3", "no"].map(String::from));
    assert_eq!(run_in(&mut interp, &mut host, "⍞←'name? ' ⋄ r←⍞ ⋄ r"), "name? name? Ann\n");
    let asked = run_in(&mut interp, &mut host, "1+⎕");
    assert!(asked.contains("LENGTH ERROR") && asked.ends_with("\n7\n"), "{asked}");
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
    for (k, g) in crate::table::keys() {
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

/// Each turn has another length, for which a launch would be compiled.
#[test]
fn loops_that_take_from_a_long_array_and_append_to_it_evaluate_little() {
    for turn in [
        "x←⊃q ⋄ q←1↓q ⋄ q,←x,x+1",
        "x←⊃⌽q ⋄ q←1↓q ⋄ q←q,x,x+1",
        "q←¯1↓q ⋄ q,←1",
        "q,←1+⊃⌽0,q",
        "q,←~i∊q",
    ] {
        let (mut interp, mut host) = (Interp::new(), Host::default());
        let text = format!("q←1500⍴3 1 4\n:For i :In ⍳900\n{turn}\n:EndFor\n≢q");
        let printed = run_in(&mut interp, &mut host, &text);
        assert!(printed.trim().parse::<usize>().is_ok_and(|n| n >= 1_499), "{turn}: {printed}");
        assert!(host.forces < 9, "{turn}: {} evaluations in 900 turns", host.forces);
    }
}

#[test]
fn what_may_fail_fails_though_nobody_looks() {
    let (mut interp, mut host) = (Interp::new(), Host::default());
    run_in(&mut interp, &mut host, "V←¯1+⍳5000");
    assert_eq!(
        run_in(&mut interp, &mut host, "{x←÷⍵ ⋄ 5}V"),
        "5\nDOMAIN ERROR\n".trim_start_matches("5\n")
    );
    assert_eq!(run_in(&mut interp, &mut host, "{0::'caught' ⋄ x←÷⍵ ⋄ 5}V"), "caught\n");
}

#[test]
fn a_dfn_over_a_pending_value_is_one_evaluation() {
    let (mut interp, mut host) = (Interp::new(), Host::default());
    run_in(&mut interp, &mut host, "r←(1↓X)÷¯1↓X←1+50000⍴⍳7 ⋄ vol←{((+/(⍵-(+/⍵)÷≢⍵)*2)÷≢⍵)*0.5}");
    assert_eq!(host.forces, 0);
    assert_eq!(run_in(&mut interp, &mut host, "vol ⍟r"), "0.5723912785\n");
    assert_eq!(host.forces, 1);
}

#[test]
fn tail_calls_are_free_below_error_guards() {
    with_stack(|| {
        assert_eq!(run("{0::'no' ⋄ {⍵=0:'ok' ⋄ ∇⍵-1}100000}1", false), "ok");
        assert_eq!(run("{0::'no' ⋄ ⍵=0:'ok' ⋄ ∇⍵-1}100000", false), "ok");
        assert_eq!(run("{0::⍵ ⋄ ⍵=0:÷0 ⋄ ∇⍵-1}100000", false), "0");
        assert_eq!(run("{11::⍵ ⋄ ⍵=0:⎕SIGNAL 5 ⋄ 5::∇⍵ ⋄ ∇⍵-1}0", false), "LENGTH ERROR");
        // The guards of a call that never ends take memory, which ends.
        let (mut interp, mut host) = (Interp::new(), Host::default());
        host.budget = aplomb_ground::limits::Budget::new(1 << 20);
        assert_eq!(run_in(&mut interp, &mut host, "{5::'no' ⋄ ∇⍵}1"), "WS FULL\n");
        assert_eq!(run_in(&mut interp, &mut host, "{0::'yes' ⋄ ÷⍵}0"), "yes\n");
    });
}

#[test]
fn guarded_calls_let_their_names_go() {
    for line in [
        "{a←⍵⍴0.5 ⋄ g←{a} ⋄ 0::1 ⋄ ⊃g 0}",
        "{a←⍵⍴0.5 ⋄ g←{a} ⋄ 0::⊃g 0 ⋄ h←g ⋄ ÷0}",
        "{a←⍵⍴0.5 ⋄ 5::1 ⋄ g←{a} ⋄ ÷0}",
    ] {
        let (mut interp, mut host) = (Interp::new(), Host::default());
        host.budget = aplomb_ground::limits::Budget::new(1 << 20);
        run_in(&mut interp, &mut host, &format!("f←{line}"));
        for _ in 0..100 {
            let said = run_in(&mut interp, &mut host, "{0::⎕EM ⎕EN ⋄ ⊢f ⍵}5000");
            assert!(["1\n", "0.5\n", "DOMAIN ERROR\n"].contains(&said.as_str()), "{line} {said}");
        }
        assert!(host.budget.used() < 1 << 17, "{line} {}", host.budget.used());
    }
}

#[test]
fn a_guard_goes_back_to_its_own_line() {
    for (line, says) in [
        ("{x←1 ⋄ 0::x ⋄ x←2 ⋄ ÷0}0", "1"),
        ("{0::⎕NC'x' ⋄ x←2 ⋄ ÷0}0", "0"),
        ("{x←1 ⋄ 0::x ⋄ x+←1 ⋄ ÷0}0", "1"),
        ("{x←1 2 3 ⋄ 0::x ⋄ x[2]←9 ⋄ ÷0}0", "1 2 3"),
        ("{x←1 ⋄ 11::x ⋄ x←2 ⋄ 5::x ⋄ x←3 ⋄ ÷0}0", "1"),
        ("{x←1 ⋄ 11::x ⋄ x←2 ⋄ 5::x ⋄ x←3 ⋄ 1 2+1 2 3}0", "2"),
        ("{⎕IO←0 ⋄ 0::⍳3 ⋄ ⎕IO←1 ⋄ ÷0}0 ⋄ ⎕IO", "0 1 2\n1"),
        ("{0::⍳3 ⋄ ⎕IO←0 ⋄ ÷0}0 ⋄ ⎕IO", "1 2 3\n1"),
        ("{x←⍵ ⋄ 0::x ⋄ ⍵=0:÷0 ⋄ x←9 ⋄ ∇⍵-1}3", "0"),
        ("{x←1 ⋄ {0::x ⋄ x+←1 ⋄ ÷0}0}0", "2"),
        ("{⍺←1 ⋄ 0::⍺ ⋄ ÷0}0", "1"),
        ("{0::⎕DMX.EM ⋄ ÷0}0 ⋄ ⎕DMX.EM", "DOMAIN ERROR\n"),
        ("{0::{⎕DMX.EM}0 ⋄ ÷0}0", "DOMAIN ERROR"),
    ] {
        assert_eq!(run(line, false), says, "{line}");
        assert_eq!(run(line, true), says, "{line}");
    }
}

#[test]
fn off_leaves_whatever_waits_for_a_value() {
    for line in [
        "f←{_←⎕OFF 2 ⋄ 3} ⋄ f 0",
        "{⎕OFF 2}¨1 2 3",
        "{⎕OFF 2}¨⍳50",
        "x←1+{⎕OFF 2}0",
        "{0::5 ⋄ ⎕OFF 2}0",
        "⍎'⎕OFF 2'",
    ] {
        let (mut interp, mut host) = (Interp::new(), Host::default());
        assert_eq!(
            run_in(&mut interp, &mut host, &format!("a←1 ⋄ {line} ⋄ 'still here'")),
            "",
            "{line}"
        );
        assert_eq!(interp.exit(), Some(2), "{line}");
    }
}

#[test]
fn nothing_is_seen_after_a_failure() {
    // In front of each effect stands a line that fails on one of many items.
    for effect in [
        "5",
        "⎕←5",
        "⍞←5",
        "⎕←+",
        "a←⍞",
        "a←⎕",
        "⎕OFF 3",
        "'x'⎕NPUT'f.txt'",
        "{0::'caught' ⋄ ⍵+1}0",
        "1 2+1 2 3",
    ] {
        for first in ["z←1÷y", "z←{a←÷⍵ ⋄ a+1}y", "z←1÷y ⋄ z←3", "z←{÷⍵}¨y"]
        {
            for n in ["3", "3000"] {
                let (mut interp, mut host) = (Interp::new(), Host::default());
                host.typed.push_back("7".into());
                let text = format!("y←{n}⍴1 1 0 ⋄ {first} ⋄ {effect}");
                assert_eq!(run_in(&mut interp, &mut host, &text), "DOMAIN ERROR\n", "{text}");
                assert!(
                    host.files.is_empty() && host.typed.len() == 1 && interp.exit().is_none(),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn what_does_not_fit_at_once_is_looked_at_one_by_one() {
    let names: String = (0..30).map(|k| format!("t{k}←÷x+{k} ⋄ ")).collect();
    for (x, says) in [("2", "shown\n"), ("¯7", "DOMAIN ERROR\n")] {
        let (mut interp, mut host) = (Interp::new(), Host::default());
        host.budget = aplomb_ground::limits::Budget::new(1 << 22);
        assert_eq!(run_in(&mut interp, &mut host, &format!("x←50000⍴{x} ⋄ {names}'shown'")), says);
    }
}

#[test]
fn a_program_ends_with_what_it_left_open() {
    let (mut interp, mut host) = (Interp::new(), Host::default());
    assert_eq!(run_in(&mut interp, &mut host, "y←30000⍴1 1 0 ⋄ z←1÷1+y"), "");
    assert_eq!((interp.finish(&mut host).is_ok(), host.forces), (true, 1));
    assert_eq!(run_in(&mut interp, &mut host, "z←1÷y"), "");
    let e = interp.finish(&mut host).unwrap_err();
    assert_eq!(e.parts().place.as_ref().map(|p| p.text()), Some("÷".into()));
    // It was told, once.
    assert_eq!(run_in(&mut interp, &mut host, "5"), "5\n");
}

#[test]
fn the_names_of_arguments_tell_what_they_are() {
    for (line, says) in [
        ("{0=⎕NC'⍺':'mo' ⋄ 'dy'}5", "mo"),
        ("1{0=⎕NC'⍺':'mo' ⋄ 'dy'}5", "dy"),
        ("{⍺←1 ⋄ ⎕NC'⍺'}5", "2"),
        ("{⍺←- ⋄ ⎕NC'⍺'}5", "3"),
        ("{⎕NC'⍵'}5", "2"),
        ("+{⍺⍺ ⎕NC'⍺⍺'}5", "3"),
        ("1{⍺⍺+⎕NC'⍺⍺'}5", "3"),
        ("+{⍵⍵ ⍺⍺ ⎕NC'⍵⍵'}-⊢5", "¯3"),
        ("{⎕NC'⍺⍺' '⍵⍵' '⍺' '⍵'}5", "0 0 0 2.1"),
        ("1{{⎕NC'⍺'}⍵}5", "0"),
    ] {
        assert_eq!(run(line, false), says, "{line}");
    }
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

#[test]
fn what_is_absent_says_so_by_name() {
    let mut interp = Interp::new();
    let mut says = |line: &str| {
        let source = Source::new("test", line);
        interp.execute(&source, &mut Host::default()).err().map(|e| e.parts().says.clone())
    };
    for (line, word) in [
        (":If 1", ":If"),
        ("∇r←f x", "∇"),
        ("3⌶5", "3⌶"),
        ("→5", "→"),
        (":Class x", ":Class"),
        ("⎕NA 1", "⎕NA"),
        ("1⍟2", "base 1"),
    ] {
        assert!(says(line).is_some_and(|s| s.contains(word)), "{line}");
    }
}

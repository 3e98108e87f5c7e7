//! Conformance: `tests/conformance/*.txt`, sessions whose expected displays come from Dyalog APL,
//! not from this program.
//!
//! A case opens with input lines (six blanks, then something else), all of one fresh session. What
//! follows is all that it prints; an error ends it, as its kind alone on the last line. A blank
//! line before the next input, a line `⍝ …` or the end of the file closes the case. Blanks at the
//! end of a line and blank lines at the end of a display do not count.

use aplomb::commands::Table;
use aplomb_ground::limits::Limits;
use aplomb_ground::protocol::{Completeness, Event, Request, Sink};
use aplomb_kernel::session::{STACK, Session};
use aplomb_language::syntax;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

const PROMPT: &str = "      ";

/// The collection may grow, not shrink.
const LEAST: usize = 7_600;

struct Case {
    line: usize,
    input: Vec<String>,
    display: Vec<String>,
}

fn typed(line: &str) -> Option<&str> {
    line.strip_prefix(PROMPT).filter(|rest| !rest.is_empty() && !rest.starts_with(' '))
}

/// The cases of a file. Errors: lines that belong to none.
fn cases(text: &str) -> (Vec<Case>, Vec<usize>) {
    let lines: Vec<&str> = text.lines().collect();
    let (mut found, mut stray, mut at) = (Vec::new(), Vec::new(), 0);
    let closes = |at: usize| {
        let next = lines.get(at + 1);
        lines[at].trim().is_empty()
            && next.is_none_or(|l| typed(l).is_some() || l.starts_with("⍝ "))
    };
    while at < lines.len() {
        let line = at + 1;
        let input: Vec<String> =
            lines[at..].iter().map_while(|l| typed(l)).map(String::from).collect();
        at += input.len();
        if input.is_empty() {
            if !lines[at].trim().is_empty() && !lines[at].starts_with("⍝ ") {
                stray.push(line);
            }
            at += 1;
            continue;
        }
        let first = at;
        while at < lines.len() && !closes(at) {
            at += 1;
        }
        found.push(Case { line, input, display: trimmed(&lines[first..at]) });
    }
    (found, stray)
}

fn trimmed(lines: &[&str]) -> Vec<String> {
    let kept = lines.iter().rposition(|l| !l.trim().is_empty()).map_or(0, |last| last + 1);
    lines[..kept].iter().map(|l| l.trim_end().to_string()).collect()
}

#[derive(Default)]
struct Heard {
    display: String,
    failed: bool,
    says: String,
}

impl Sink for Heard {
    fn event(&mut self, event: Event) {
        match event {
            Event::Stream(text) => self.display += &text,
            Event::Result(bundle) | Event::Display(bundle) => {
                self.display += &bundle["text/plain"];
                self.end_line();
            }
            Event::Error(failure) => {
                self.end_line();
                self.display += &failure.name;
                self.says = failure.says;
                self.failed = true;
            }
            _ => {}
        }
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

impl Heard {
    fn end_line(&mut self) {
        if !self.display.is_empty() && !self.display.ends_with('\n') {
            self.display.push('\n');
        }
    }
}

/// Pieces run as they become complete, what stays open at the end too, until the first error.
fn run(input: &[String]) -> Heard {
    let mut session = Session::new(Rc::new(Table::default()), Limits::default(), 2);
    let (mut heard, mut open) = (Heard::default(), String::new());
    for (k, line) in input.iter().enumerate() {
        if !open.is_empty() {
            open.push('\n');
        }
        open += line;
        let is_last = k + 1 == input.len();
        if !is_last && syntax::completeness(&open) == Completeness::More {
            continue;
        }
        let request = Request::Execute {
            code: std::mem::take(&mut open),
            name: format!("line {}", k + 1),
            silent: false,
        };
        session.handle(request, &mut heard);
        if heard.failed {
            break;
        }
    }
    heard
}

fn files() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let mut found: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    found.retain(|p| p.extension().is_some_and(|e| e == "txt"));
    found.sort();
    found
}

/// The number of cases, and what is wrong with them.
fn checked() -> (usize, Vec<String>) {
    let (mut count, mut wrong) = (0, Vec::new());
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !text.starts_with("⍝ ") || !text.contains("Dyalog") {
            wrong.push(format!(
                "{name}:1: the first line must say where the expected displays come from"
            ));
        }
        let (cases, stray) = cases(&text);
        wrong.extend(stray.iter().map(|line| format!("{name}:{line}: belongs to no case")));
        count += cases.len();
        for case in cases {
            let heard = run(&case.input);
            let got = trimmed(&heard.display.lines().collect::<Vec<_>>());
            if got != case.display {
                let block = |lines: &[String]| {
                    lines.iter().map(|l| format!("\n    │{l}")).collect::<String>()
                };
                let (input, expected, got) =
                    (block(&case.input), block(&case.display), block(&got));
                let says = if heard.says.is_empty() {
                    String::new()
                } else {
                    format!("  ({})", heard.says)
                };
                wrong.push(format!(
                    "{name}:{}:{input}\n  expected:{expected}\n  got:{got}{says}",
                    case.line
                ));
            }
        }
    }
    (count, wrong)
}

#[test]
fn sessions_display_what_dyalog_displays() {
    let run = std::thread::Builder::new().stack_size(STACK).spawn(checked).unwrap();
    let (count, wrong) = run.join().unwrap();
    println!("{count} cases, {} differ", wrong.len());
    assert!(wrong.is_empty(), "{} of {count} cases differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= LEAST, "{count} cases are left of {LEAST}");
}

#[test]
fn the_format_is_read_as_described() {
    let text = "⍝ Dyalog\n\n      x←1\n      x\n1\n\n\n2\n      3\n\n      ⍴5\n\n⍝ more\nstray\n";
    let (cases, stray) = cases(text);
    let seen: Vec<_> =
        cases.iter().map(|c| (c.line, c.input.join("|"), c.display.join("|"))).collect();
    let wanted = [(3, "x←1|x".into(), "1|||2|      3".into()), (11, "⍴5".into(), String::new())];
    assert_eq!(seen, wanted);
    assert_eq!(stray, [14]);
}

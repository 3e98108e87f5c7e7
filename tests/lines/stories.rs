//! Stories: `tests/sessions/*.md`, `tests/goldens/*.md`, README.md and ARCHITECTURE.md. A block
//! ```` ```apl ```` is a session; typed lines stand behind six blanks, what the program printed
//! below. `launches=N` and `breaks=N` are held against the trace of the block's last value.
//! `UPDATE=1` writes what the program prints now.

use crate::support::{differs, rewritten};
use aplomb::commands::Table;
use aplomb_ground::limits::Limits;
use aplomb_ground::protocol::{Completeness, Event, Request, Sink};
use aplomb_kernel::session::{STACK, Session};
use aplomb_language::syntax;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

const PROMPT: &str = "      ";

#[derive(Default)]
struct Heard(String);

impl Sink for Heard {
    fn event(&mut self, event: Event) {
        match event {
            Event::Stream(text) | Event::Aside(text) => self.0 += &text,
            Event::Result(bundle) | Event::Display(bundle) | Event::Named { page: bundle, .. } => {
                self.0 += &bundle["text/plain"]
            }
            Event::Error(failure) => self.0 += &format!("{}\n", failure.report),
            _ => {}
        }
        if !self.0.is_empty() && !self.0.ends_with('\n') {
            self.0.push('\n');
        }
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

/// Runs a block; what it should look like, and which of its claims do not hold.
fn run(block: &str, options: &str) -> (String, Vec<String>) {
    let mut session = Session::new(Rc::new(Table::default()), Limits::default(), 2);
    let (mut out, mut open, mut count, mut open_at) = (String::new(), String::new(), 0, 0);
    let mut lines = block.lines().peekable();
    while let Some(line) = lines.next() {
        // What stands here and was not printed is dropped.
        let Some(typed) = line.strip_prefix(PROMPT) else { continue };
        out += &format!("{line}\n");
        count += 1;
        if open.is_empty() {
            open_at = count;
        } else {
            open.push('\n');
        }
        open += typed;
        let is_command = typed.starts_with([')', ']']) && open == typed;
        if !is_command && syntax::completeness(&open) == Completeness::More {
            continue;
        }
        let mut heard = Heard::default();
        let request = Request::Execute {
            code: std::mem::take(&mut open),
            name: format!("line {open_at}"),
            silent: false,
        };
        session.handle(request, &mut heard);
        // Printed lines may begin with six blanks too: a picture, a folded row of numbers.
        let is_typed = |l: &str| l.strip_prefix(PROMPT).is_some_and(|rest| !rest.starts_with(' '));
        let mut was = Vec::new();
        while let Some(old) =
            lines.next_if(|l| !is_typed(l) || heard.0.lines().any(|printed| printed == *l))
        {
            was.push(old);
        }
        // What a page says with dots is said as it stands, where it fits.
        let now: Vec<&str> = heard.0.lines().collect();
        let said = if differs(&was, &now).is_none() { was } else { rewritten(&was, &now) };
        said.iter().for_each(|line| out += &format!("{line}\n"));
    }
    let claims = options.split_whitespace().filter_map(|o| o.split_once('='));
    let broken = claims.filter_map(|(name, wanted)| {
        let trace = session.trace_of(None).map_err(|e| e.to_string());
        let found = trace.map(|trace| match name {
            "launches" => trace.kernels.len(),
            // Kept nodes that are no value of the line.
            _ => {
                let last = trace
                    .segments
                    .iter()
                    .filter_map(|s| trace.passes[..s.passes[1] as usize].last());
                last.flat_map(|p| p.breaks.iter().filter(|b| !p.roots.contains(&b.node))).count()
            }
        });
        let held = found.as_ref().is_ok_and(|n| n.to_string() == wanted);
        (!held).then(|| format!("{name}={wanted} was asked, {found:?} found"))
    });
    let broken = broken.collect();
    (out, broken)
}

/// The page with every block as it is now, and the claims that do not hold.
fn page(text: &str) -> (String, Vec<String>) {
    let (mut out, mut broken) = (String::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        let Some(options) = line.strip_prefix("```apl") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
        let (now, wrong) = run(&block.join("\n"), options);
        out += &format!("{now}```\n");
        broken.extend(wrong.into_iter().map(|w| format!("{line}: {w}")));
    }
    (out, broken)
}

fn pages() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folders = ["tests/sessions", "tests/goldens"].map(|f| fs::read_dir(root.join(f)).unwrap());
    let mut found: Vec<PathBuf> =
        folders.into_iter().flatten().map(|e| e.unwrap().path()).collect();
    found.retain(|p| p.extension().is_some_and(|e| e == "md"));
    found.extend(["README.md", "ARCHITECTURE.md"].map(|page| root.join(page)));
    found.sort();
    found
}

fn told() -> Vec<String> {
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        let (now, broken) = page(&text);
        wrong.extend(broken.into_iter().map(|b| format!("{}: {b}", path.display())));
        if update {
            fs::write(&path, now).unwrap();
        } else if let Some((k, (was, is))) =
            text.lines().zip(now.lines()).enumerate().find(|(_, (a, b))| a != b)
        {
            wrong.push(format!(
                "{}:{}:\n  the page says     {was}\n  the program says  {is}",
                path.display(),
                k + 1
            ));
        } else if text.lines().count() != now.lines().count() {
            wrong.push(format!(
                "{}: {} lines, now {}",
                path.display(),
                text.lines().count(),
                now.lines().count()
            ));
        }
    }
    wrong
}

#[test]
fn every_story_is_told_as_it_happens() {
    let run = std::thread::Builder::new().stack_size(STACK).spawn(told).unwrap();
    let wrong = run.join().unwrap();
    assert!(wrong.is_empty(), "{}\nUPDATE=1 rewrites the pages", wrong.join("\n"));
}

#[test]
fn pages_that_are_written_again_keep_their_dots() {
    let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
    let check = |was, now, wanted| {
        assert_eq!(rewritten(&lines(was), &lines(now)), lines(wanted), "{was:?} {now:?}")
    };
    check("a took ⋯ ms\nb", "a took 5 ms\nc", "a took ⋯ ms\nc");
    check("first\n⋯\nlast", "other\nx\ny\nlast", "other\n⋯\nlast");
    check("first\n⋯\nlast", "first\nx\nnew last", "first\n⋯\nnew last");
    check("a ⋯\nb ⋯\nc", "b 2\nc\nd", "b ⋯\nc\nd");
    check("a\nb", "", "");
    check("", "a\nb", "a\nb");
    check("⋯", "a\nb", "⋯");
}

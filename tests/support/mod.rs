//! Shared by whole-program tests: a session in process, arrays as numbers, a small generator.

#![allow(dead_code)]

use aplomb_ground::error::Error;
use aplomb_ground::limits::Limits;
use aplomb_ground::protocol::{Completion, Event, Sink};
use aplomb_kernel::session::{Commands, Session};
use aplomb_values::array::{Array, Data, View};
use std::path::Path;
use std::rc::Rc;

pub struct NoCommands;

impl Commands for NoCommands {
    fn run(&self, _line: &str, _session: &mut Session, _sink: &mut dyn Sink) -> Result<(), Error> {
        Ok(())
    }

    fn complete(&self, _start: &str) -> Vec<Completion> {
        Vec::new()
    }

    fn help(&self, _topic: &str) -> Option<String> {
        None
    }
}

pub fn session() -> Session {
    session_on(2)
}

/// A session on so many threads. On one, all work is done by the thread that asks, so what that
/// thread takes can be counted; on more, who takes which part of a launch is chance.
pub fn session_on(threads: usize) -> Session {
    let limits = Limits { bytes: 1 << 31, ..Limits::default() };
    Session::new(Rc::new(NoCommands), limits, threads)
}

/// Everything a request says.
#[derive(Default)]
pub struct Heard(pub Vec<Event>);

impl Sink for Heard {
    fn event(&mut self, event: Event) {
        self.0.push(event);
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

/// Shape and bits of a value, ¯0 as 0, items of nested arrays in order.
pub fn bits(value: &Array) -> (Vec<usize>, Vec<u64>) {
    let mut out = Vec::new();
    collect(&value.settled(), &mut out);
    (value.shape().to_vec(), out)
}

fn collect(a: &Array, out: &mut Vec<u64>) {
    match a.data() {
        Data::Num(x, _) => out.push((x + 0.0).to_bits()),
        Data::Complex(z) => out.extend([z.re, z.im].map(|x| (x + 0.0).to_bits())),
        Data::Char(c) => out.push(u64::from(u32::from(*c)) | 1 << 63),
        Data::Dense(b) => match b.view() {
            View::Complex(v) => {
                out.extend(v.iter().flat_map(|z| [z.re, z.im]).map(|x| (x + 0.0).to_bits()))
            }
            view => out.extend(view.each().map(|x| (x + 0.0).to_bits())),
        },
        Data::Items(items) => items.iter().for_each(|i| collect(&i.settled(), out)),
        Data::Ref(_) | Data::Lazy(_) | Data::Framed(_) => out.push(u64::MAX),
    }
}

/// The same, and the shapes of its items at all depths.
pub fn deep_bits(value: &Array) -> (Vec<usize>, Vec<u64>) {
    fn shapes(a: &Array, out: &mut Vec<usize>) {
        out.push(a.rank());
        out.extend(a.shape());
        if let Data::Items(items) = a.data() {
            // A simple scalar is its value, whether it stands in a box or beside others.
            let boxed = items.iter().filter(|item| item.rank() > 0 || !item.is_uniform());
            boxed.for_each(|item| shapes(&item, out));
        }
    }
    let (mut all, bits) = (Vec::new(), bits(value).1);
    shapes(&value.settled(), &mut all);
    (all, bits)
}

/// A generator with a known sequence.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }
}

/// The number of times to try, given that of a push; `APLOMB_TEST_SCALE=100` is nightly.
pub fn scaled(count: usize) -> usize {
    let scale =
        std::env::var("APLOMB_TEST_SCALE").ok().and_then(|s| s.parse::<f64>().ok()).unwrap_or(1.0);
    (count as f64 * scale) as usize
}

/// The step by which a push goes through cases, all of which are tried nightly.
pub fn one_in(step: usize) -> usize {
    if scaled(100) >= 1000 { 1 } else { step }
}

/// The folder of `tools/extras`.
fn extras_dir() -> std::path::PathBuf {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::env::var_os("APLOMB_EXTRAS_DIR").map_or(root.join("target/extras"), Into::into)
}

/// The Python of `tools/extras`. Absent: the test says so and is skipped, unless
/// `APLOMB_EXTRAS=require`.
pub fn extras(what: &str) -> Option<std::path::PathBuf> {
    let python = extras_dir().join("venv/bin/python");
    found(python.exists().then_some(python), what)
}

/// A program of the path.
pub fn program(name: &str) -> Option<std::path::PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found_at = std::env::split_paths(&paths).map(|p| p.join(name)).find(|p| p.exists());
    // What `tools/extras` could not bring here is nobody's failure.
    let without = std::fs::read_to_string(extras_dir().join("without")).unwrap_or_default();
    if found_at.is_none() && without.lines().any(|line| line == name) {
        println!("skipped: {name} cannot be had on this machine");
        return None;
    }
    found(found_at, name)
}

/// A thing of `tools/extras`, or a line about its absence.
pub fn found<T>(thing: Option<T>, what: &str) -> Option<T> {
    if thing.is_none() {
        assert!(
            std::env::var_os("APLOMB_EXTRAS").is_none_or(|v| v != "require"),
            "needs {what}: run tools/extras"
        );
        println!("skipped: needs {what} (tools/extras)");
    }
    thing
}

/// Runs lines and gives the trace of the last value.
pub fn traced(session: &mut Session, lines: &[&str]) -> aplomb_ground::trace::Trace {
    session.core().set_tracing(true);
    for line in lines {
        let mut heard = Heard::default();
        let request = aplomb_ground::protocol::Request::Execute {
            code: (*line).into(),
            name: "line".into(),
            silent: true,
        };
        session.handle(request, &mut heard);
        let failed = heard.0.iter().find(|e| matches!(e, Event::Error(_)));
        assert!(failed.is_none(), "{line}: {failed:?}");
    }
    let traces = session.core().take_traces();
    session.core().set_tracing(false);
    traces.into_iter().next_back().expect("a value")
}

/// Black-Scholes by the polynomial of degree five: `call` and `put` pending.
pub const BLACK_SCHOLES: &[&str] = &[
    "S←5+0.025×⍳1000 ⋄ X←1+0.099×⌽⍳1000 ⋄ T←0.25+0.00975×⍳1000",
    "cnd←{k←÷1+0.2316419×|⍵
     poly←k×0.31938153+k×¯0.356563782+k×1.781477937+k×¯1.821255978+k×1.330274429
     tail←0.3989422804014327×poly×*¯0.5×⍵×⍵
     tail+(⍵>0)×1-2×tail}",
    "(r v)←0.02 0.3 ⋄ root←v×T*0.5 ⋄ d1←((⍟S÷X)+T×r+0.5×v*2)÷root ⋄ d2←d1-root ⋄ paid←X×*-r×T",
    "call←(S×cnd d1)-paid×cnd d2 ⋄ put←(paid×1-cnd d2)-S×1-cnd d1",
];

/// The number of the first wanted line that is not met. `⋯` at the end of a wanted line: any rest
/// of it; inside: anything between; alone on a line: any lines.
pub fn differs(wanted: &[&str], found: &[&str]) -> Option<usize> {
    let Some((first, rest)) = wanted.split_first() else { return (!found.is_empty()).then_some(0) };
    if *first == "⋯" {
        return if (0..=found.len()).any(|k| differs(rest, &found[k..]).is_none()) {
            None
        } else {
            Some(0)
        };
    }
    let met = found.first().is_some_and(|line| fits(first, line));
    if met { differs(rest, &found[1..]).map(|k| k + 1) } else { Some(0) }
}

/// Whether a line is what is wanted, `⋯` standing for anything.
fn fits(wanted: &str, line: &str) -> bool {
    let Some((start, rest)) = wanted.split_once('⋯') else { return wanted == line };
    let Some(left) = line.strip_prefix(start) else { return false };
    rest.is_empty() || left.char_indices().any(|(k, _)| fits(rest, &left[k..])) || fits(rest, "")
}

/// The text of a page once the program prints `now`: lines that still hold stay as they are, with
/// their `⋯`; the others are the program's. The cheapest alignment: a line put in another's place,
/// dropped or added costs one, a line that a lone `⋯` stands for next to nothing.
pub fn rewritten<'a>(was: &[&'a str], now: &[&'a str]) -> Vec<&'a str> {
    const LINE: u32 = 1_000;
    let (rows, columns) = (was.len() + 1, now.len() + 1);
    let mut cost = vec![u32::MAX; rows * columns];
    let at = |i: usize, j: usize| i * columns + j;
    // From the end, so that the way can be walked from the beginning.
    let ways = |cost: &[u32], i: usize, j: usize| -> Vec<(u32, usize, usize, Option<&'a str>)> {
        let mut ways = Vec::new();
        let mut to = |price: u32, di: usize, dj: usize, line: Option<&'a str>| {
            ways.push((cost[at(i + di, j + dj)].saturating_add(price), di, dj, line));
        };
        if i < was.len() && was[i] == "⋯" {
            to(0, 1, 0, Some(was[i]));
            if j < now.len() {
                to(1, 0, 1, None);
            }
            return ways;
        }
        if i < was.len() && j < now.len() {
            let same = fits(was[i], now[j]);
            to(if same { 0 } else { LINE }, 1, 1, Some(if same { was[i] } else { now[j] }));
        }
        if i < was.len() {
            to(LINE, 1, 0, None);
        }
        if j < now.len() {
            to(LINE, 0, 1, Some(now[j]));
        }
        ways
    };
    cost[at(was.len(), now.len())] = 0;
    for i in (0..rows).rev() {
        for j in (0..columns).rev() {
            if let Some(least) = ways(&cost, i, j).iter().map(|w| w.0).min() {
                cost[at(i, j)] = least.min(cost[at(i, j)]);
            }
        }
    }
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while (i, j) != (was.len(), now.len()) {
        let Some((_, di, dj, line)) = ways(&cost, i, j).into_iter().min_by_key(|w| w.0) else {
            break;
        };
        out.extend(line);
        (i, j) = (i + di, j + dj);
    }
    out
}

/// The trace of the last line, compiled as `how` says: `passes=acl2006`, `off=cse`, `strict`,
/// `dup`, `inputs=16`.
pub fn told(how: &[&str], lines: &[&str]) -> aplomb_ground::trace::Trace {
    let mut s = session();
    for word in how {
        match word.split_once('=').unwrap_or((word, "")) {
            ("passes", name) => s.options().take(name).expect("a pipeline"),
            ("off", name) => s.options().switch(name, false).expect("a switch"),
            ("strict", _) => s.options().strict = true,
            ("dup", _) => s.options().dup_by_cost = true,
            ("inputs", n) => s.core().limits.launch.inputs = n.parse().expect("a number"),
            other => panic!("{other:?}"),
        }
    }
    traced(&mut s, lines)
}

/// The reasons of what is kept at the end, but for values and folds, in the order of nodes.
pub fn breaks(trace: &aplomb_ground::trace::Trace) -> Vec<String> {
    let last = trace.passes.last().map_or(&[][..], |p| p.breaks.as_slice());
    last.iter()
        .filter(|b| !matches!(b.reason.as_str(), "root" | "consumer"))
        .map(|b| b.reason.clone())
        .collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file that `UPDATE=1` writes is as it was.
pub fn same_as(file: &str, text: &str) {
    let path = root().join(file);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(known == text, "{file} differs; UPDATE=1 writes it. Now:\n{text}");
}

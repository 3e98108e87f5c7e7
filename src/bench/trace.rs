//! `aplomb bench trace`: what the story of a compilation costs beside compiling, and how long it
//! is; and what the record of a run costs beside the run.
//!
//! The graphs of `bench frontend`. For each: the passes alone; the passes with their story kept, as
//! every front end runs them that may be asked; what telling it costs whoever asks; and the trace
//! as JSON. Then lines whose plans are known, in turns: with nothing kept, with the record that
//! every run has, and with a story, as panes and notebooks that follow keep it.

use super::frontend::{SHAPES, SIZES, cpu_ms, prepare};
use crate::args::BenchArgs;
use aplomb_compiler::pass::{Log, NoClock, Observer, Options, Timed, compile};
use aplomb_kernel::session::{Mode, Session};
use serde_json::json;
use std::time::Instant;

/// One size of one shape: milliseconds of this thread, the least seen.
struct Row {
    nodes: usize,
    passes: usize,
    plain: f64,
    kept: f64,
    told: f64,
    bytes: usize,
}

impl Row {
    fn each(&self) -> f64 {
        self.bytes as f64 / (self.nodes * self.passes).max(1) as f64
    }
}

pub fn run(session: &mut Session, args: &BenchArgs) -> Result<String, String> {
    prepare(session);
    let seconds = args.seconds() / (SHAPES.len() * SIZES.len()) as f64;
    let mut out = String::new();
    if !args.json {
        let head =
            ["nodes", "passes ms", "kept ms", "more", "telling ms", "JSON bytes", "node, pass"];
        out += &format!("{:8}{}\n", "", head.map(|h| format!("{h:>12}")).concat());
    }
    for shape in SHAPES {
        for n in SIZES {
            let row = measured(session, &(shape.text)(n), seconds)?;
            let (more, each) = (100.0 * (row.kept / row.plain - 1.0), row.each());
            out += &match args.json {
                true => format!(
                    "{}\n",
                    json!({
                        "workload": "trace", "shape": shape.name, "nodes": row.nodes,
                        "passes": row.passes,
                        "plain_ms": row.plain, "kept_ms": row.kept, "told_ms": row.told,
                        "bytes": row.bytes, "bytes_each": each,
                    })
                ),
                false => format!(
                    "{:8}{:>12}{:>12.4}{:>12.4}{:>11.1}%{:>12.4}{:>12}{:>12.1}\n",
                    shape.name, row.nodes, row.plain, row.kept, more, row.told, row.bytes, each
                ),
            };
        }
    }
    out += if args.json { "" } else { "\n" };
    if !args.json {
        let head = ["launches", "alone µs", "record µs", "more", "story µs", "more"];
        out += &format!("{:24}{}\n", "", head.map(|h| format!("{h:>11}")).concat());
    }
    for (line, text) in RUNS {
        let (launches, us) = ran(session, text, args.seconds() / RUNS.len() as f64)?;
        let more = |k: usize| 100.0 * (us[k] / us[0] - 1.0);
        out += &match args.json {
            true => format!(
                "{}\n",
                json!({
                    "workload": "record", "line": line, "launches": launches, "alone_us": us[0],
                    "record_us": us[1], "story_us": us[2],
                })
            ),
            false => format!(
                "{line:24}{launches:>11}{:>11.1}{:>11.1}{:>10.1}%{:>11.1}{:>10.1}%\n",
                us[0],
                us[1],
                more(1),
                us[2],
                more(2)
            ),
        };
    }
    Ok(out)
}

/// Lines of about a hundred microseconds and of some: one launch, launches of one evaluation, and
/// evaluations of a few.
const RUNS: &[(&str, &str)] = &[
    ("a sum of reciprocals", "r←+/÷⍳100000"),
    ("a launch of 2 000 items", "r←+/÷⍳2000"),
    ("30 launches", "r←{⍵+⍵[⍋⍵]}⍣30⊢⌽⍳2000"),
    ("20 selections", "r←{(⍵>⌊/⍵)/⍵}⍣20⊢⌽⍳2000"),
];

/// Launches of a line, and the least microseconds of its runs in each way.
fn ran(session: &mut Session, text: &str, seconds: f64) -> Result<(usize, [f64; 3]), String> {
    let plain = session.core().mode();
    let ways = [
        Mode { forgetting: true, tracing: false, ..plain },
        Mode { forgetting: false, tracing: false, ..plain },
        Mode { forgetting: false, tracing: true, ..plain },
    ];
    let (mut us, mut launches, mut rounds) = ([f64::MAX; 3], 0, 0);
    let begun = Instant::now();
    while rounds < 5 || begun.elapsed().as_secs_f64() < seconds {
        for k in 0..ways.len() {
            // Each way comes first as often as the others.
            let k = (k + rounds) % ways.len();
            session.core().set_mode(ways[k]);
            let start = Instant::now();
            let values = session.values_of(text, &["r"]);
            us[k] = us[k].min(start.elapsed().as_secs_f64() * 1e6);
            launches = session.core().spent.launches;
            session.core().set_mode(plain);
            values.map_err(|e| e.to_string())?;
        }
        rounds += 1;
    }
    Ok((launches, us))
}

fn measured(session: &mut Session, text: &str, seconds: f64) -> Result<Row, String> {
    let recorded = session.graph_of(text, &["r"]).map_err(|e| e.to_string())?;
    let options = Options::default();
    let mut row =
        Row { nodes: 0, passes: 0, plain: f64::MAX, kept: f64::MAX, told: f64::MAX, bytes: 0 };
    let begun = Instant::now();
    let mut rounds = 0;
    while rounds < 3 || begun.elapsed().as_secs_f64() < seconds {
        rounds += 1;
        let start = cpu_ms();
        compile(&recorded, &options, &mut NoClock).map_err(|e| e.to_string())?;
        row.plain = row.plain.min(cpu_ms() - start);
        let start = cpu_ms();
        let mut timed = Timed { clock: &mut Wall::default(), ms: Vec::new() };
        let planned = compile(&recorded, &options, &mut timed).map_err(|e| e.to_string())?;
        let log = Log::new(&recorded, &options, timed.ms);
        drop(planned);
        row.kept = row.kept.min(cpu_ms() - start);
        let start = cpu_ms();
        let (told, _) = log.tell(&mut NoClock, None).map_err(|e| e.to_string())?;
        row.told = row.told.min(cpu_ms() - start);
        if row.bytes == 0 {
            (row.nodes, row.passes) = (told.nodes.len(), told.passes.len());
            row.bytes = serde_json::to_string(&told).map_err(|e| e.to_string())?.len();
        }
    }
    Ok(row)
}

/// The clock that sessions have.
#[derive(Default)]
struct Wall(Option<Instant>);

impl Observer for Wall {
    fn begin(&mut self, _pass: &'static str) {
        self.0 = Some(Instant::now());
    }

    fn end(&mut self, _pass: &'static str) -> f64 {
        self.0.map_or(0.0, |begun| begun.elapsed().as_secs_f64() * 1e3)
    }
}

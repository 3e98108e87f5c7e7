//! `aplomb bench frontend`: what a line costs before the first element is computed.
//!
//! Graphs of three shapes grow tenfold; for each size the least time of reading and recording the
//! text, of each pass, of the whole way to a plan, and of finding the plan again in the cache.

use crate::args::BenchArgs;
use aplomb_compiler::pass::{NoClock, Observer, Options, PIPELINE, PlanCache, compile};
use aplomb_ground::protocol::Request;
use aplomb_kernel::session::Session;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use std::time::Instant;

const DATA: &str = "A←0.5×⍳2000 ⋄ B←⌽A ⋄ L←40 50⍴2>3|⍳2000";
pub(super) const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];

pub(super) struct Shape {
    pub(super) name: &'static str,
    /// A text of about so many nodes, which leaves its result in `r`.
    pub(super) text: fn(usize) -> String,
}

pub(super) const SHAPES: &[Shape] = &[
    Shape { name: "chain", text: |n| format!("r←{}A", "0.25+0.75×".repeat(n / 4)) },
    Shape {
        name: "shared",
        text: |n| {
            let terms: Vec<String> = (0..n.div_ceil(4)).map(|k| format!("(s⌈t×{k}.5)")).collect();
            format!("s←A-B ⋄ t←A⌊B ⋄ r←{}", terms.join("+"))
        },
    },
    Shape {
        name: "life",
        text: |n| {
            let step = "s←r+(1⌽r)+¯1⌽r ⋄ s←s+(1⊖s)+¯1⊖s ⋄ r←(s=3)∨r∧s=4\n";
            format!("r←L\n{}", step.repeat(n.div_ceil(15)))
        },
    },
];

/// One size of one shape; times are the least seen, in milliseconds of this thread.
struct Row {
    nodes: usize,
    launches: usize,
    record: f64,
    passes: Vec<f64>,
    hit: f64,
}

impl Row {
    fn total(&self) -> f64 {
        self.record + self.passes.iter().sum::<f64>()
    }
}

/// The data of all shapes, and graphs of any length.
pub(super) fn prepare(session: &mut Session) {
    let mut heard = crate::front::Printer::default();
    session.handle(
        Request::Execute { code: DATA.into(), name: "data".into(), silent: true },
        &mut heard,
    );
    session.core().limits.pending = usize::MAX;
}

pub fn run(session: &mut Session, args: &BenchArgs) -> Result<String, String> {
    prepare(session);
    let mut out = String::new();
    for shape in SHAPES {
        let seconds = args.seconds() / (SHAPES.len() * SIZES.len()) as f64;
        let rows = SIZES
            .iter()
            .map(|n| measured(session, &(shape.text)(*n), seconds))
            .collect::<Result<Vec<_>, _>>()?;
        out += &if args.json { json_lines(shape.name, &rows) } else { table(shape.name, &rows) };
    }
    Ok(out)
}

fn measured(session: &mut Session, text: &str, seconds: f64) -> Result<Row, String> {
    let mut row = Row {
        nodes: 0,
        launches: 0,
        record: f64::MAX,
        passes: vec![f64::MAX; PIPELINE.len()],
        hit: f64::MAX,
    };
    let begun = Instant::now();
    let mut rounds = 0;
    while rounds < 3 || begun.elapsed().as_secs_f64() < seconds {
        rounds += 1;
        let start = cpu_ms();
        let recorded = session.graph_of(text, &["r"]).map_err(|e| e.to_string())?;
        row.record = row.record.min(cpu_ms() - start);
        row.nodes = recorded.dag.len();
        let mut times = Times::default();
        let compiled =
            compile(&recorded, &Options::default(), &mut times).map_err(|e| e.to_string())?;
        row.launches = compiled.plan.launches.len();
        row.passes.iter_mut().zip(&times.ms).for_each(|(least, ms)| *least = least.min(*ms));
        let mut plans = PlanCache::default();
        plans.plan(&recorded, &Options::default(), &mut NoClock).map_err(|e| e.to_string())?;
        let start = cpu_ms();
        plans.plan(&recorded, &Options::default(), &mut NoClock).map_err(|e| e.to_string())?;
        row.hit = row.hit.min(cpu_ms() - start);
    }
    Ok(row)
}

/// The time that this thread has computed, in milliseconds: other programs on the machine do not
/// count.
pub(super) fn cpu_ms() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}

/// Each pass's milliseconds in the order of the pipeline.
#[derive(Default)]
struct Times {
    begun: f64,
    ms: Vec<f64>,
}

impl Observer for Times {
    fn begin(&mut self, _pass: &'static str) {
        self.begun = cpu_ms();
    }

    fn end(&mut self, _pass: &'static str) -> f64 {
        let ms = cpu_ms() - self.begun;
        self.ms.push(ms);
        ms
    }
}

/// A line a stage, a column a size; the last column is the last size against the one before.
fn table(name: &str, rows: &[Row]) -> String {
    let mut out = String::new();
    let mut line = |label: &str, cells: Vec<String>| {
        let cells: String = cells.iter().map(|c| format!("{c:>11}")).collect();
        out += &format!("{label:18}{cells}\n");
    };
    line(
        &format!("{name}, nodes"),
        rows.iter().map(|r| r.nodes.to_string()).chain(["growth".into()]).collect(),
    );
    line("launches", rows.iter().map(|r| r.launches.to_string()).collect());
    let mut times = |label: &str, of: &dyn Fn(&Row) -> f64| {
        let ms: Vec<f64> = rows.iter().map(of).collect();
        let growth = ms.windows(2).last().map_or(f64::NAN, |w| w[1] / w[0]);
        line(
            label,
            ms.iter().map(|ms| format!("{ms:.4}")).chain([format!("{growth:.1}×")]).collect(),
        );
    };
    times("parse and record", &|r| r.record);
    for (k, pass) in PIPELINE.iter().enumerate() {
        times(pass.name, &|r| r.passes[k]);
    }
    times("all, ms", &Row::total);
    times("plan known, ms", &|r| r.hit);
    out + "\n"
}

fn json_lines(name: &str, rows: &[Row]) -> String {
    let row = |r: &Row| -> Value {
        let passes = PIPELINE.iter().zip(&r.passes).map(|(p, ms)| (p.name.to_string(), json!(ms)));
        json!({
            "workload": "frontend", "shape": name, "nodes": r.nodes, "launches": r.launches,
            "record_ms": r.record,
            "passes_ms": Value::Object(passes.collect()), "total_ms": r.total(), "hit_ms": r.hit,
        })
    };
    rows.iter().map(|r| format!("{}\n", row(r))).collect()
}

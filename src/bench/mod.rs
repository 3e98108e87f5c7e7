//! `aplomb bench`: a workload timed, alone or in turns with the peers of `benches/peers`.

mod frontend;
mod layout;
mod trace;

use crate::cli::BenchArgs;
use crate::front::{FAILED, Settings, USAGE, on_session, print};
use crate::notebook;
use aplomb_kernel::session::Session;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

struct Workload {
    name: &'static str,
    /// Makes the data from `n`.
    data: &'static str,
    /// Functions, and a statement that leaves its results pending under the names of `results`.
    text: &'static str,
    results: &'static [&'static str],
}

/// European options by the polynomial with five coefficients: call and put, as the peers compute them.
const WORKLOADS: &[Workload] = &[Workload {
    name: "blackscholes",
    data: "⎕RL←20061 ⋄ S←5+25×?n⍴0 ⋄ X←1+99×?n⍴0 ⋄ T←0.25+9.75×?n⍴0 ⋄ n←+/S,X,T",
    text: "r←0.02 ⋄ v←0.3
cnd←{k←÷1+0.2316419×|⍵
 c←0.39894228040143267794×(*¯0.5×⍵×⍵)×k×0.31938153+k×¯0.356563782+k×1.781477937+k×¯1.821255978+k×1.330274429
 |(⍵>0)-c}
q←v×T*0.5 ⋄ d←((⍟S÷X)+T×r+v×v÷2)÷q
a←cnd d ⋄ b←cnd d-q ⋄ e←X×*-r×T
call←(S×a)-e×b ⋄ put←(e×1-b)-S×1-a",
    results: &["call", "put"],
}];

const PEERS: &[&str] = &["numpy", "numexpr", "jax", "numba"];

#[derive(Default)]
struct Times {
    first: f64,
    ms: Vec<f64>,
}

impl Times {
    fn least(&self) -> f64 {
        self.ms.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn median(&self) -> f64 {
        let mut sorted = self.ms.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

pub fn run(settings: Settings, args: BenchArgs) -> i32 {
    let own: &[(&str, fn(&mut Session, &BenchArgs) -> Result<String, String>)] =
        &[("frontend", frontend::run), ("trace", trace::run), ("layout", layout::run)];
    if let Some((_, run)) = own.iter().find(|(name, _)| *name == args.name) {
        let run = *run;
        return on_session(settings, move |session| told(run(session, &args)));
    }
    if args.name == "tui" {
        return crate::panes::bench::run(settings, &args);
    }
    if args.name == "jupyter" {
        return notebook::bench(&args);
    }
    let Some(work) = WORKLOADS.iter().find(|w| w.name == args.name) else {
        let names: Vec<&str> =
            WORKLOADS.iter().map(|w| w.name).chain(["frontend", "trace", "layout", "jupyter", "tui"]).collect();
        eprintln!("aplomb: no workload is called {}; there are {}", args.name, names.join(" "));
        return USAGE;
    };
    let threads = settings.threads;
    on_session(settings, move |session| told(timed(session, work, &args, threads)))
}

fn told(done: Result<String, String>) -> i32 {
    match done {
        Ok(text) => {
            print(&text);
            0
        }
        Err(says) => {
            eprintln!("aplomb: {says}");
            FAILED
        }
    }
}

fn timed(session: &mut Session, work: &Workload, args: &BenchArgs, threads: usize) -> Result<String, String> {
    let mut heard = crate::front::Printer::default();
    let data = format!("n←{} ⋄ {}", args.n, work.data);
    let request = aplomb_lang::protocol::Request::Execute { code: data, name: "data".into(), silent: true };
    session.handle(request, &mut heard);
    if heard.code() != 0 {
        return Err("the data could not be made".into());
    }
    let mut ours = Times::default();
    let rounds = if args.peers.is_some() { 5 } else { 1 };
    let mut peers: Vec<Value> = Vec::new();
    for _ in 0..rounds {
        measure(session, work, args.seconds / rounds as f64, &mut ours)?;
        if let Some(venv) = &args.peers {
            peers.extend(peer_lines(venv, work.name, args, threads, args.seconds / rounds as f64)?);
        }
    }
    let round = |x: f64| (x * 1e4).round() / 1e4;
    let mut rows = vec![json!({
        "workload": work.name, "n": args.n, "dtype": "f64", "peer": "aplomb", "threads": threads,
        "ms_min": round(ours.least()), "ms_median": round(ours.median()), "ms_first": round(ours.first),
        "reps": ours.ms.len(), "launches": session.core().spent.launches,
    })];
    rows.extend(PEERS.iter().filter_map(|name| best(&peers, name, ours.least())));
    let line = |row: &Value| if args.json { format!("{row}\n") } else { table_line(row) };
    Ok(rows.iter().map(line).collect())
}

fn measure(session: &mut Session, work: &Workload, seconds: f64, times: &mut Times) -> Result<(), String> {
    let end = Instant::now();
    let mut count = 0;
    while count < 3 || end.elapsed().as_secs_f64() < seconds {
        let begun = Instant::now();
        let values = session.values_of(work.text, work.results).map_err(|e| e.to_string())?;
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        if values.len() != work.results.len() {
            return Err("the workload gave no result".into());
        }
        if times.first == 0.0 {
            times.first = ms
        } else {
            times.ms.push(ms)
        }
        count += 1;
    }
    Ok(())
}

/// One round of the peers' own script, which prints a JSON object a line.
fn peer_lines(venv: &Path, name: &str, args: &BenchArgs, threads: usize, seconds: f64) -> Result<Vec<Value>, String> {
    let script = Path::new("benches/peers/peers.py");
    if !script.exists() {
        return Err(format!("no such file: {}; --peers runs in a checkout of Aplomb", script.display()));
    }
    let done = Command::new("python3")
        .arg(script)
        .args(["--workload", name, "--dtype", "f64", "--peer", &PEERS.join(","), "--no-check"])
        .args(["--n", &args.n.to_string(), "--threads", &threads.to_string(), "--seconds", &seconds.to_string()])
        .arg("--venv")
        .arg(venv)
        .output()
        .map_err(|e| format!("python3: {e}"))?;
    let text = String::from_utf8_lossy(&done.stdout);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// A peer's best round, with the ratio to ours; above 1 we are faster.
fn best(lines: &[Value], name: &str, ours: f64) -> Option<Value> {
    let own = lines.iter().filter(|l| l["peer"] == name);
    let mut row = own.min_by(|a, b| time(a).total_cmp(&time(b)))?.clone();
    row["ratio"] = json!((time(&row) / ours * 100.0).round() / 100.0);
    Some(row)
}

fn time(row: &Value) -> f64 {
    row["ms_min"].as_f64().unwrap_or(f64::INFINITY)
}

fn table_line(row: &Value) -> String {
    let text = |key: &str| row[key].as_str().map_or_else(|| row[key].to_string(), String::from);
    if let Some(error) = row["error"].as_str() {
        return format!("{:9}{error}\n", text("peer"));
    }
    let ratio = row["ratio"].as_f64().map_or(String::new(), |r| format!("   {r} × ours"));
    format!(
        "{:9}{} n={} threads={}: least {} ms, median {} ms, first {} ms{ratio}\n",
        text("peer"),
        text("workload"),
        text("n"),
        text("threads"),
        text("ms_min"),
        text("ms_median"),
        text("ms_first")
    )
}

//! `aplomb bench stops`: how soon lines that take long hear of an interrupt.

use super::timed::Heard;
use crate::args::BenchArgs;
use aplomb_ground::protocol::Request;
use aplomb_kernel::session::Session;
use serde_json::json;
use std::thread;
use std::time::{Duration, Instant};

const PAGE: &str = include_str!("../../benches/stops.txt");
/// Milliseconds from the start of a line to the interrupt; with `--small` the first alone.
const MOMENTS: [u64; 3] = [20, 70, 150];
/// Milliseconds from the interrupt to the prompt.
const GOAL: f64 = 100.0;

/// The lines of a block.
fn lines(block: &str) -> impl Iterator<Item = &str> {
    block.lines().filter_map(|line| line.strip_prefix("      "))
}

/// Runs a line; the first line of its error.
fn execute(session: &mut Session, line: &str) -> Option<String> {
    let mut heard = Heard::default();
    let code = line.to_string();
    session.handle(Request::Execute { code, name: "stop".into(), silent: false }, &mut heard);
    heard.0
}

/// Milliseconds from an interrupt to the end of a line; or why it was over before.
fn after(session: &mut Session, line: &str, moment: u64) -> Result<f64, String> {
    let interrupt = session.interrupt();
    let begun = Instant::now();
    let waiter = thread::spawn(move || {
        thread::sleep(Duration::from_millis(moment));
        interrupt.set();
        Instant::now()
    });
    let error = execute(session, line);
    let ended = Instant::now();
    let early = ended - begun < Duration::from_millis(moment);
    let asked = waiter.join().map_err(|_| "the clock broke")?;
    session.interrupt().clear();
    match early {
        true => Err(error.map_or("over".into(), |e| e)),
        false => Ok(ended.saturating_duration_since(asked).as_secs_f64() * 1e3),
    }
}

/// A row a line, the slowest last. Errors: the common lines'.
pub fn run(session: &mut Session, args: &BenchArgs) -> Result<String, String> {
    let mut blocks = PAGE.split("\n\n").filter(|block| lines(block).next().is_some());
    for line in blocks.next().into_iter().flat_map(lines) {
        if let Some(error) = execute(session, line) {
            return Err(format!("{line}: {error}"));
        }
    }
    let moments = &MOMENTS[..if args.small { 1 } else { MOMENTS.len() }];
    let mut rows = Vec::new();
    for line in blocks.flat_map(lines) {
        let mut most = Err("over".to_string());
        for moment in moments {
            most = match (most, after(session, line, *moment)) {
                (Ok(most), Ok(ms)) => Ok(ms.max(most)),
                (Ok(ms), Err(_)) | (Err(_), Ok(ms)) => Ok(ms),
                (Err(_), Err(early)) => Err(early),
            };
        }
        rows.push((most, line));
    }
    let key = |most: &Result<f64, String>| most.as_ref().map_or(0.0, |ms| *ms);
    rows.sort_by(|a, b| key(&a.0).total_cmp(&key(&b.0)));
    let row = |(most, line): &(Result<f64, String>, &str)| match (args.json, most) {
        (true, most) => {
            json!({ "workload": "stops", "line": line, "ms": most.as_ref().ok() }).to_string()
        }
        (false, Ok(ms)) => format!("{ms:9.2} ms  {line}"),
        (false, Err(early)) => format!("{:>12}  {line}  ({early})", "-"),
    };
    let mut out: String = rows.iter().map(|r| row(r) + "\n").collect();
    if !args.json {
        let late = rows.iter().filter(|r| key(&r.0) > GOAL).count();
        let heard = rows.iter().filter(|r| r.0.is_ok()).count();
        out += &format!("{heard} of {} lines stopped, {late} after {GOAL} ms\n", rows.len());
    }
    Ok(out)
}

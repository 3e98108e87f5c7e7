//! `aplomb bench tui`: from a key to the bytes of the frame that shows it, on a program of 500 nodes.

use super::look;
use crate::cli::BenchArgs;
use crate::front::{FAILED, Settings, print};
use aplomb_kernel::session::Worker;
use aplomb_lang::protocol::Switches;
use aplomb_viz::panes::{App, Start};
use serde_json::json;
use std::rc::Rc;
use std::time::Instant;

/// Nodes that compute.
const NODES: usize = 500;
/// The panes' design size.
const SIZE: (u16, u16) = (160, 50);
/// Twenty keys: along edges, pass by pass, pane by pane, a search, a screen and back.
const KEYS: &str = "kkhl[[]]<Tab>jj<Tab>jk<BackTab>n2k1";
/// Rounds of them, unfolded and folded.
const ROUNDS: usize = 10;

/// Values that read two earlier ones each, so that wires cross and repeats are few.
fn program() -> String {
    let mut text = String::from("a0←⍳1000\na1←a0+1\n");
    for k in 2..NODES / 2 {
        let glyph = ['+', '-', '⌈', '⌊'][k * 7 % 4];
        text += &format!("a{k}←(a{}÷{}){glyph}a{}\n", k - 1, k % 11 + 2, k - 1 - k * k % 9.min(k));
    }
    text + &format!("+/a{}\n", NODES / 2 - 1)
}

pub fn run(settings: Settings, args: &BenchArgs) -> i32 {
    match timed(settings, args.json) {
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

fn timed(settings: Settings, as_json: bool) -> Result<String, String> {
    let commands = settings.commands();
    let look = look(settings.ascii);
    let own = settings.clone();
    let worker = Worker::start(move || Rc::new(commands), settings.limits, settings.threads, move |s| own.prepare(s));
    let worker = worker.map_err(|e| e.to_string())?;
    let interrupt = worker.interrupt();
    let begun = Instant::now();
    let start =
        Start { text: program(), name: "bench".into(), switches: Switches::default(), look, ..Start::default() };
    let mut app = App::new(worker, interrupt, start);
    app.settle();
    if let Some(failure) = app.failure() {
        return Err(failure.report.clone());
    }
    let opened = begun.elapsed().as_secs_f64() * 1e3;
    // A search to go on with, and the folded picture first.
    let mut keys = format!("/a1<Enter>f{}", KEYS.repeat(ROUNDS));
    keys += &format!("f{}", KEYS.repeat(ROUNDS));
    let mut ms: Vec<f64> =
        app.frames(&keys, SIZE.0, SIZE.1).map_err(|e| e.to_string())?.iter().map(|d| d.as_secs_f64() * 1e3).collect();
    ms.sort_by(f64::total_cmp);
    let at = |share: f64| ms.get(((ms.len() as f64 * share) as usize).min(ms.len().max(1) - 1)).copied().unwrap_or(0.0);
    let (p50, p99, max) = (at(0.5), at(0.99), at(1.0));
    let round = |x: f64| (x * 100.0).round() / 100.0;
    if as_json {
        let row = json!({ "workload": "tui", "nodes": NODES, "keys": ms.len(), "p50_ms": round(p50), "p99_ms": round(p99),
                          "max_ms": round(max), "open_ms": round(opened) });
        return Ok(format!("{row}\n"));
    }
    Ok(format!(
        "tui  {NODES} nodes, {} keys: key to frame p50 {p50:.2} ms, p99 {p99:.2} ms, most {max:.2} ms; opened in {opened:.0} ms\n",
        ms.len()
    ))
}

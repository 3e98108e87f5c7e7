//! `aplomb bench tui`: from a key to the bytes of the frame that shows it, on a program of 500
//! nodes; and from a switch to the trace that it brings.

use super::look;
use crate::args::BenchArgs;
use crate::front::{FAILED, Settings, print};
use aplomb_kernel::session::Worker;
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

/// Runs the benchmark and prints its table; the exit code.
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

/// Forty nodes over a million numbers: a fold of a chain.
fn chain() -> String {
    let steps: String = (0..38)
        .map(|k| format!("x←{}{}x\n", [7, 3, 5][k % 3], ['⌈', '+', '⌊', '-'][k % 4]))
        .collect();
    format!("x←0.5×⍳1000000\n{steps}+/x\n")
}

fn opened(settings: Settings, text: String) -> Result<App<Worker>, String> {
    let commands = settings.commands();
    let look = look(settings.ascii);
    let own = settings.clone();
    let worker = Worker::start(
        move || Rc::new(commands),
        settings.limits,
        settings.threads,
        move |s| own.prepare(s),
    );
    let worker = worker.map_err(|e| e.to_string())?;
    let interrupt = worker.interrupt();
    let mut app = App::new(
        worker,
        interrupt,
        super::menu(),
        Start { text, name: "bench".into(), look, ..Start::default() },
    );
    app.settle();
    app.failure().map_or(Ok(()), |f| Err(f.report.clone()))?;
    Ok(app)
}

/// Milliseconds from taking a switch to the frame with the new trace, and whether all results were
/// equal. `fusion` is the last of the switches.
fn switched(settings: Settings) -> Result<(Vec<f64>, bool), String> {
    let mut app = opened(settings, chain())?;
    app.frames("3G", SIZE.0, SIZE.1).map_err(|e| e.to_string())?;
    let mut ms = Vec::new();
    for _ in 0..2 * ROUNDS {
        let begun = Instant::now();
        app.press("<Enter>");
        app.settle();
        app.frames("", SIZE.0, SIZE.1).map_err(|e| e.to_string())?;
        ms.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let text = app.text(SIZE.0, SIZE.1);
    let equal = text.matches("equal ✓").count() + text.matches("equal ok").count();
    Ok((ms, equal == 2 && !text.contains("differs")))
}

fn timed(settings: Settings, as_json: bool) -> Result<String, String> {
    let (mut switches, equal) = switched(settings.clone())?;
    if !equal {
        return Err("a switch changed the result".into());
    }
    let begun = Instant::now();
    let mut app = opened(settings, program())?;
    let opened = begun.elapsed().as_secs_f64() * 1e3;
    // A search to go on with, and the folded picture first.
    let mut keys = format!("/a1<Enter>f{}", KEYS.repeat(ROUNDS));
    keys += &format!("f{}", KEYS.repeat(ROUNDS));
    let frames = app.frames(&keys, SIZE.0, SIZE.1).map_err(|e| e.to_string())?;
    let mut ms: Vec<f64> = frames.iter().map(|d| d.as_secs_f64() * 1e3).collect();
    ms.sort_by(f64::total_cmp);
    switches.sort_by(f64::total_cmp);
    let at = |ms: &[f64], share: f64| {
        ms.get(((ms.len() as f64 * share) as usize).min(ms.len().max(1) - 1))
            .copied()
            .unwrap_or(0.0)
    };
    let (p50, p99, max) = (at(&ms, 0.5), at(&ms, 0.99), at(&ms, 1.0));
    let (switch, slow) = (at(&switches, 0.5), at(&switches, 1.0));
    let round = |x: f64| (x * 100.0).round() / 100.0;
    if as_json {
        let row = json!({ "workload": "tui", "nodes": NODES, "keys": ms.len(),
            "p50_ms": round(p50), "p99_ms": round(p99),
                          "max_ms": round(max), "open_ms": round(opened),
                          "switch_p50_ms": round(switch),
                          "switch_max_ms": round(slow) });
        return Ok(format!("{row}\n"));
    }
    Ok(format!(
        "tui  {NODES} nodes, {} keys: key to frame p50 {p50:.2} ms, p99 {p99:.2} ms, most {max:.2} \
         ms; opened in {opened:.0} ms\n\
         tui  a switch over 40 nodes of a million numbers: new trace on the screen p50 {switch:.0} \
         ms, most {slow:.0} ms; results equal\n",
        ms.len()
    ))
}

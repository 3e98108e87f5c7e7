//! `aplomb bench layout`: how long a picture of a large graph takes, from the nodes of a pass to
//! characters.
//!
//! A deep graph and a broad one of `bench frontend`, after the last pass; each folded too, as a
//! first look is. Layers times width is what a picture costs: a graph that is both deep and broad
//! has wires in every layer, and is measured up to a thousand nodes.

use super::frontend::{SHAPES, SIZES, cpu_ms, prepare};
use crate::args::BenchArgs;
use aplomb_compiler::pass::{NoClock, Options, compile};
use aplomb_kernel::session::Session;
use aplomb_viz::find_pass;
use aplomb_viz::text::{draw, draw_folded};
use serde_json::json;
use std::time::Instant;

pub fn run(session: &mut Session, args: &BenchArgs) -> Result<String, String> {
    prepare(session);
    let seconds = args.seconds() / (SHAPES.len() * SIZES.len()) as f64;
    let mut out = String::new();
    if !args.json {
        let head = ["nodes", "picture ms", "folded ms", "lines", "columns"];
        out += &format!("{:8}{}\n", "", head.map(|h| format!("{h:>12}")).concat());
    }
    for shape in SHAPES {
        for n in SIZES.into_iter().filter(|n| shape.name != "shared" || *n <= 1_000) {
            let recorded = session.graph_of(&(shape.text)(n), &["r"]).map_err(|e| e.to_string())?;
            let mut traced = Options::default();
            traced.trace = true;
            let trace = compile(&recorded, &traced, &mut NoClock).map_err(|e| e.to_string())?.trace;
            let graph = find_pass(&trace, 0, None)?;
            let (whole, text) = least(seconds / 2.0, || draw(&graph, false));
            let (folded, _) = least(seconds / 2.0, || draw_folded(&graph, false));
            let lines = text.lines().count();
            let columns = text.lines().map(|l| l.chars().count()).max().unwrap_or(0);
            out += &match args.json {
                true => format!(
                    "{}\n",
                    json!({
                        "workload": "layout", "shape": shape.name, "nodes": graph.nodes.len(),
                        "picture_ms": whole,
                        "folded_ms": folded, "lines": lines, "columns": columns,
                    })
                ),
                false => format!(
                    "{:8}{:>12}{whole:>12.3}{folded:>12.3}{lines:>12}{columns:>12}\n",
                    shape.name,
                    graph.nodes.len()
                ),
            };
        }
    }
    Ok(out)
}

/// The least milliseconds of this thread that a picture took, and the picture.
fn least(seconds: f64, draw: impl Fn() -> String) -> (f64, String) {
    let (mut ms, mut text) = (f64::MAX, String::new());
    let begun = Instant::now();
    let mut rounds = 0;
    while rounds < 2 || begun.elapsed().as_secs_f64() < seconds {
        rounds += 1;
        let start = cpu_ms();
        text = draw();
        ms = ms.min(cpu_ms() - start);
    }
    (ms, text)
}

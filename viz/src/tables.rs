//! Tables of a trace: launches, passes. Numbers right, words left, as wide as they need to be.

use crate::why::count;
use aplomb_lang::error::{bytes, time};
use aplomb_lang::trace::Trace;

/// Rows of cells as lines; `left` says which columns are words.
pub(crate) fn grid(rows: &[Vec<String>], left: &[usize]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(c, s)| {
            let blanks = " ".repeat(widths[c] - s.chars().count());
            if left.contains(&c) { format!("{s}{blanks}") } else { format!("{blanks}{s}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    rows.iter().map(|r| line(r) + "\n").collect()
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| s.to_string()).collect()
}

/// A row a launch: name, skeleton, domain, nodes, bytes, operations, estimates, time.
pub fn kernels(trace: &Trace) -> String {
    if trace.kernels.is_empty() {
        return "no launch\n".into();
    }
    let head = ["launch", "kind", "domain", "nodes", "reads", "writes", "sm_90 est", "cpu est", "cpu"];
    let mut rows = vec![words(&head)];
    for k in &trace.kernels {
        let domain: Vec<String> = k.domain.iter().map(usize::to_string).collect();
        let ran = k.meas.as_ref().map_or("not run".into(), |m| time(m.us));
        let computed = k.body.iter().filter_map(|n| trace.nodes.get(*n as usize));
        rows.push(vec![
            k.name.clone(),
            k.skeleton.clone(),
            if domain.is_empty() { "scalar".into() } else { domain.join(" ") },
            computed.filter(|n| n.kind != "const" && n.kind != "input").count().to_string(),
            bytes(k.est.r),
            bytes(k.est.w),
            time(k.est.us),
            time(k.est.cpu_us),
            ran,
        ]);
    }
    grid(&rows, &[0, 1, 2])
}

/// A row a pass: nodes, lets, breaks, launches, bytes; then the views that passes left.
pub fn passes(trace: &Trace, width: usize) -> String {
    let mut out = String::new();
    for segment in &trace.segments {
        if trace.segments.len() > 1 {
            out += &format!("evaluation {} ({})\n", segment.id + 1, segment.why);
        }
        let list = &trace.passes[segment.passes[0] as usize..segment.passes[1] as usize];
        let mut rows = vec![words(&["", "pass", "nodes", "lets", "kept", "launches", "moved", "flops", "ms", "what"])];
        let mut quiet = 0;
        for (k, p) in list.iter().enumerate() {
            if !p.changed {
                quiet += 1;
                continue;
            }
            let mut rules: Vec<(&str, usize)> = Vec::new();
            for e in &p.events {
                match rules.iter_mut().find(|r| r.0 == e.rule) {
                    Some(r) => r.1 += 1,
                    None => rules.push((&e.rule, 1)),
                }
            }
            let what: Vec<String> = rules.iter().map(|(r, n)| format!("{r}:{n}")).collect();
            rows.push(vec![
                k.to_string(),
                p.name.clone(),
                p.live.to_string(),
                p.lets.len().to_string(),
                p.breaks.len().to_string(),
                p.launches.len().to_string(),
                bytes(p.bytes),
                p.flops.to_string(),
                format!("{:.2}", p.ms),
                what.join(" "),
            ]);
        }
        out += &grid(&rows, &[1, 9]);
        if quiet > 0 {
            out += &format!("{} unchanged\n", count(quiet, "pass").replace("passs", "passes"));
        }
        for p in list.iter().filter(|p| p.view.is_some()) {
            out += &format!("\n{}\n", p.name);
            for line in p.view.iter().flat_map(|v| v.lines()) {
                out += &format!("  {}\n", crate::why::wrapped(line, 4, width));
            }
        }
    }
    out
}

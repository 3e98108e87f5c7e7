//! Tables of a trace: launches, passes. Numbers right, words left, as wide as they need to be.

use crate::classes::{Class, classes, source};
use crate::figures;
use crate::outside;
use aplomb_ground::error::{bytes, time};
use aplomb_ground::trace::{BufferRecord, LaunchRecord, PassRecord, Segment, Trace};

/// The characters of the longest bar.
const BAR: u64 = 24;

/// Rows of cells as lines; `left` says which columns are words.
pub fn grid(rows: &[Vec<String>], left: &[usize]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| {
        rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0)
    };
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

/// A row a launch: name, skeleton, domain, nodes, bytes, operations, estimates, time; then a row
/// for each place where the evaluator worked itself. `which`: only this one (`k0`). Errors: there
/// is none.
pub fn kernels(trace: &Trace, which: Option<&str>) -> Result<String, String> {
    known(trace, which)?;
    let outside = if which.is_none() { outside::places(trace) } else { Vec::new() };
    if trace.kernels.is_empty() && outside.is_empty() {
        return Ok("no launch\n".into());
    }
    let gpu = |k: &LaunchRecord| k.ran.as_ref().is_some_and(|r| r.device == "cuda");
    let took = if trace.kernels.iter().any(gpu) { "took" } else { "cpu" };
    let head =
        ["launch", "kind", "domain", "nodes", "requests", "from memory", "writes", "sm_90 est"];
    // What NVRTC tells has columns where it is there.
    let measured = trace.kernels.iter().any(|k| k.regs.is_some());
    let head: Vec<&str> = head
        .into_iter()
        .chain(measured.then_some(["regs", "occupancy"]).into_iter().flatten())
        .chain(["cpu est", took])
        .collect();
    let mut rows = vec![words(&head)];
    for class in chosen(trace, which) {
        let k = class.first;
        let domain: Vec<String> = k.domain.iter().map(usize::to_string).collect();
        let place = if took == "cpu" {
            ""
        } else if gpu(k) {
            " gpu"
        } else {
            " cpu"
        };
        let ran = class.us.map_or("not run".into(), |us| time(us / class.times as f64) + place);
        let times = if class.times == 1 { String::new() } else { format!(" ×{}", class.times) };
        let mut row = vec![
            format!("{} {}{times}", class.label(), source(k)),
            k.skeleton.clone(),
            if domain.is_empty() { "scalar".into() } else { domain.join(" ") },
            figures::nodes_in(trace, k).to_string(),
            bytes(k.est.loads),
            format!("{}{}", if figures::by_values(k) { "≤ " } else { "" }, bytes(figures::read(k))),
            bytes(k.est.w),
            time(k.est.us),
        ];
        if measured {
            row.push(k.regs.map_or(String::new(), |n| n.to_string()));
            row.push(k.occ.map_or(String::new(), |o| format!("{:.0} %", o * 100.0)));
        }
        row.extend([time(k.est.cpu_us), ran]);
        rows.push(row);
    }
    for place in outside {
        let mut row = vec![place.name, "evaluator".into()];
        row.resize(head.len() - 1, String::new());
        row.push(time(place.ms * 1e3));
        rows.push(row);
    }
    Ok(grid(&rows, &[0, 1, 2]))
}

/// A row a launch, in order: the buffers that begin with it, the bytes that results and buffers
/// between launches take while it runs, and those that nobody reads after it.
pub fn memory(trace: &Trace) -> String {
    if trace.kernels.is_empty() {
        return "no launch\n".into();
    }
    let name =
        |b: &BufferRecord| match trace.nodes.get(b.node as usize).and_then(|n| n.name.as_ref()) {
            Some(name) => name.clone(),
            None => format!("n{}", b.node),
        };
    let here = |k: u32, b: &BufferRecord| {
        b.born.is_some_and(|born| born <= k) && b.dead.is_none_or(|dead| k <= dead)
    };
    let during = |k: u32| trace.buffers.iter().filter(move |b| here(k, b));
    let alive = |k: u32| during(k).map(|b| b.bytes).sum::<u64>();
    let most = trace.kernels.iter().fold(0, |most, k| alive(k.id).max(most));
    let mut rows = vec![words(&["launch", "begin", "bytes", "", "end"])];
    for k in &trace.kernels {
        let list = |is: &dyn Fn(&BufferRecord) -> bool| {
            during(k.id).filter(|b| is(b)).map(name).collect::<Vec<_>>().join(" ")
        };
        let bar = (0..(alive(k.id) * BAR).div_ceil(most.max(1))).map(|_| '#').collect();
        rows.push(vec![
            format!("k{} {}", k.id, source(k)),
            list(&|b| b.born == Some(k.id)),
            bytes(alive(k.id)),
            bar,
            list(&|b| b.dead == Some(k.id)),
        ]);
    }
    let given = trace.buffers.iter().filter(|b| b.born.is_none() && !b.own);
    let before = match given.fold((0, 0), |(n, size), b| (n + 1, size + b.bytes)) {
        (0, _) => String::new(),
        (1, size) => format!("; one array that was there before: {}", bytes(size)),
        (n, size) => format!("; {n} arrays that were there before: {}", bytes(size)),
    };
    let sent = |b: &BufferRecord| {
        b.h2d.map(|at| format!("{} for k{}, {}", name(b), at.k, bytes(at.bytes)))
    };
    let sent: Vec<String> = trace.buffers.iter().filter_map(sent).collect();
    let sent = match sent.is_empty() {
        true => String::new(),
        false => format!("; went to the GPU: {}", sent.join("; ")),
    };
    let rows = grid(&rows, &[0, 1, 3, 4]);
    format!("{rows}at most {}{before}{sent}\n", bytes(most))
}

/// The rules of a pass with how often each fired.
pub(crate) fn events(p: &PassRecord) -> String {
    let mut rules: Vec<(&str, usize)> = Vec::new();
    for e in &p.events {
        match rules.iter_mut().find(|r| r.0 == e.rule) {
            Some(r) => r.1 += 1,
            None => rules.push((&e.rule, 1)),
        }
    }
    rules.iter().map(|(r, n)| format!("{r}:{n}")).collect::<Vec<_>>().join(" ")
}

/// The passes of an evaluation, headed where there are several evaluations.
fn headed<'a>(trace: &'a Trace, segment: &Segment) -> (String, &'a [PassRecord]) {
    let head = match trace.segments.len() {
        1 => String::new(),
        _ => format!("evaluation {} ({})\n", segment.id + 1, segment.why),
    };
    (head, &trace.passes[segment.passes[0] as usize..segment.passes[1] as usize])
}

/// The head and a row for each of these passes.
fn pass_grid(list: &[PassRecord], shown: &[usize]) -> String {
    let mut rows = vec![words(&[
        "", "pass", "nodes", "lets", "kept", "launches", "moved", "flops", "ms", "rules",
    ])];
    for (k, p) in shown.iter().filter_map(|k| Some((k, list.get(*k)?))) {
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
            events(p),
        ]);
    }
    grid(&rows, &[1, 9])
}

/// The same for panes: the head, and the rows.
pub(crate) fn pass_rows(list: &[PassRecord], shown: &[usize]) -> (String, Vec<String>) {
    let text = pass_grid(list, shown);
    let mut lines = text.lines().map(String::from);
    (lines.next().unwrap_or_default(), lines.collect())
}

/// A row a pass: nodes, lets, kept nodes, launches, bytes, operations, time, rules. Passes that
/// changed nothing are only named, unless all are wanted.
pub fn passes(trace: &Trace, all: bool, width: usize) -> String {
    if trace.segments.is_empty() {
        return "nothing was compiled for this line\n".into();
    }
    let mut out = String::new();
    for segment in &trace.segments {
        let (head, list) = headed(trace, segment);
        out += &head;
        let shown: Vec<usize> = (0..list.len()).filter(|k| all || list[*k].changed).collect();
        out += &pass_grid(list, &shown);
        let quiet: Vec<&str> =
            list.iter().filter(|p| !all && !p.changed).map(|p| p.name.as_str()).collect();
        if !quiet.is_empty() {
            let line = format!("{} unchanged: {}", quiet.len(), quiet.join(" "));
            out += &format!("{}\n", crate::why::wrapped(&line, 2, width));
        }
    }
    out
}

/// The same, then the views that passes left.
pub fn story(trace: &Trace, width: usize) -> String {
    let mut out = passes(trace, false, width);
    for segment in &trace.segments {
        let (head, list) = headed(trace, segment);
        let seen: Vec<&PassRecord> = list.iter().filter(|p| p.view.is_some()).collect();
        if !seen.is_empty() && !head.is_empty() {
            out += &format!("\n{head}");
        }
        for p in seen {
            out += &format!("\n{}\n", p.name);
            for line in p.view.iter().flat_map(|v| v.lines()) {
                out += &format!("  {}\n", crate::why::wrapped(line, 4, width));
            }
        }
    }
    out
}

/// A row an evaluation: what needed it, and what it came to.
pub fn evaluations(trace: &Trace) -> String {
    if trace.segments.is_empty() {
        return "nothing was compiled for this line\n".into();
    }
    let mut rows = vec![words(&["", "for", "nodes", "launches", "moved", "cpu"])];
    for s in &trace.segments {
        let kernels = &trace.kernels[s.kernels[0] as usize..s.kernels[1] as usize];
        let moved = kernels.iter().map(figures::moved).fold(0, u64::saturating_add);
        let ran: Option<f64> = kernels.iter().map(|k| k.meas.as_ref().map(|m| m.us)).sum();
        let times = if s.alike == 0 { String::new() } else { format!(" ×{}", s.times()) };
        rows.push(vec![
            (s.id + 1).to_string(),
            format!("{}{times}", s.why),
            figures::nodes_of(trace, s.id as usize).to_string(),
            kernels.len().to_string(),
            bytes(moved),
            ran.map_or("not run".into(), time),
        ]);
    }
    grid(&rows, &[1])
}

/// The scalar code that each launch runs at every point of its domain, of launches alike once.
/// `which`: only this one (`k0`). Errors: there is none.
pub fn bodies(trace: &Trace, which: Option<&str>) -> Result<String, String> {
    known(trace, which)?;
    let body = |class: &Class<'_>| {
        let k = class.first;
        let text = k.cpu.as_deref().unwrap_or("no listing");
        let (label, source) = (class.label(), source(k));
        format!("{label} {source}{}, {}: {text}\n", class.alike(), k.skeleton)
    };
    let all: Vec<String> = chosen(trace, which).iter().map(body).collect();
    Ok(if all.is_empty() { "no launch\n".into() } else { all.join("\n") })
}

/// Errors: no launch is called so.
fn known(trace: &Trace, which: Option<&str>) -> Result<(), String> {
    let own = |which: &&str| !trace.kernels.iter().any(|k| *which == format!("k{}", k.id));
    let Some(which) = which.filter(own) else { return Ok(()) };
    let names: Vec<String> = trace.kernels.iter().map(|k| format!("k{}", k.id)).collect();
    Err(format!("no launch is called {which}; there are {}", names.join(" ")))
}

/// The class of that launch; all without.
fn chosen<'a>(trace: &'a Trace, which: Option<&str>) -> Vec<Class<'a>> {
    let own = |class: &Class<'_>| {
        which.is_none_or(|which| class.ids.iter().any(|id| which == format!("k{id}")))
    };
    classes(trace).into_iter().filter(own).collect()
}

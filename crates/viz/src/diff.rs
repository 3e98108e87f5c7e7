//! Two traces side by side, or two passes of one: figures, what is written to memory, nodes,
//! decisions.
//!
//! Nodes are matched by content hash, so runs, switches and versions compare. Deterministic.

use crate::figures::{FIGURES, Figure, launches_us, spread_us, temporaries};
use crate::graph::{Graph, find_pass};
use crate::tables::grid;
use crate::why::{sentence, wrapped};
use aplomb_ground::error::{bytes, time};
use aplomb_ground::span::first_line;
use aplomb_ground::trace::{NodeRecord, Trace};
use std::collections::BTreeMap;

/// The whole comparison. `width` is that of the terminal.
pub fn traces(a: &Trace, b: &Trace, width: usize) -> String {
    let mut rows: Vec<Row> =
        FIGURES.iter().map(|f| Row::new(f.name, (f.of)(a), (f.of)(b), f.show)).collect();
    if let (Some(x), Some(y)) = (launches_us(a), launches_us(b)) {
        let row = Row::new("time", x.max(0.0) as u64, y.max(0.0) as u64, |us| time(us as f64));
        // Of two single runs the first is the cold one: their difference says nothing.
        let [before, after, change] = row.cells;
        let change = if compares(a, b) { change } else { String::new() };
        rows.push(Row { cells: [before, after, change], ..row });
    }
    let mut out = format!("before  {}\nafter   {}\n", title(a), title(b));
    out += table(&rows).trim_end();
    // Behind the last row, which is the time's.
    out += &noise(a, b).map_or("\n".into(), |says| format!("   {says}\n"));
    if let (Some(x), Some(y)) = (&a.result, &b.result) {
        out += if x == y { "the value is the same\n" } else { "THE VALUE IS ANOTHER\n" };
    }
    let kept = |t: &Trace| {
        tally(temporaries(t).filter_map(|b| Some((node(t, b.node)?.h.clone(), stored(t, b.node)))))
    };
    out += &sections(
        &kept(a),
        &kept(b),
        ["written to memory no more", "written to memory now"],
        width,
    );
    let live = |t: &Trace| {
        let graphs = (0..t.segments.len()).filter_map(|s| find_pass(t, s, None).ok());
        let nodes = graphs
            .flat_map(|g| drawn(&g).map(|n| (n.h.clone(), spelled(&g, n))).collect::<Vec<_>>());
        tally(nodes)
    };
    out += &sections(&live(a), &live(b), ["nodes gone", "nodes new"], width);
    let decided = |t: &Trace| {
        tally(t.decisions.iter().filter_map(|d| {
            let key = format!("{} {} {} {}", node(t, d.node)?.h, d.what, d.reason, d.chosen);
            Some((key, sentence(t, d)))
        }))
    };
    out + &sections(&decided(a), &decided(b), ["decided no more", "decided now"], width)
}

/// Whether both sides tell the least of several runs.
fn compares(a: &Trace, b: &Trace) -> bool {
    spread_us(a).is_some() && spread_us(b).is_some()
}

/// The words for two times that are as near to each other as runs of one side are.
fn noise(a: &Trace, b: &Trace) -> Option<String> {
    if !compares(a, b) {
        return launches_us(a).and(launches_us(b)).map(|_| "single runs, not compared".into());
    }
    let apart = (launches_us(a)? - launches_us(b)?).abs();
    let ((n, x), (m, y)) = (spread_us(a)?, spread_us(b)?);
    let says = || {
        format!(
            "no difference measured: half of {} runs of each are up to {} apart",
            n.min(m),
            time(x.max(y))
        )
    };
    (apart <= x.max(y)).then(says)
}

/// Two passes of the first evaluation. Errors: no such pass, nothing compiled.
pub fn passes(trace: &Trace, from: &str, to: &str, width: usize) -> Result<String, String> {
    let (a, b) = (find_pass(trace, 0, Some(from))?, find_pass(trace, 0, Some(to))?);
    let kept = |g: &Graph| g.pass.breaks.iter().filter(|b| !g.is_root(b.node)).count() as u64;
    let rows = [
        Row::new("launches", a.launches() as u64, b.launches() as u64, |n| n.to_string()),
        Row::new("bytes", a.pass.bytes, b.pass.bytes, bytes),
        Row::new("flops", a.pass.flops, b.pass.flops, |n| n.to_string()),
        Row::new("kept", kept(&a), kept(&b), |n| n.to_string()),
        Row::new("nodes", a.nodes.len() as u64, b.nodes.len() as u64, |n| n.to_string()),
    ];
    let mut out =
        format!("before  after {}\nafter   after {}\n{}", a.pass.name, b.pass.name, table(&rows));
    // In one trace a number is a node, so names need no hash.
    let key = |id: u32| format!("{id:010}");
    let breaks = |g: &Graph| {
        let of = |b: &aplomb_ground::trace::BreakRecord| {
            let name = g.node(b.node).map_or_else(String::new, |n| spelled(g, n));
            (key(b.node), format!("{name} ({}): {}", bytes(b.bytes), b.reason))
        };
        tally(g.pass.breaks.iter().filter(|b| !g.is_root(b.node)).map(of))
    };
    out += &sections(
        &breaks(&a),
        &breaks(&b),
        ["written to memory no more", "written to memory now"],
        width,
    );
    let live = |g: &Graph| tally(drawn(g).map(|n| (key(n.id), spelled(g, n))));
    out += &sections(&live(&a), &live(&b), ["nodes gone", "nodes new"], width);
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    let between = trace.passes.iter().filter(|p| a.pass.id < p.id && p.id <= b.pass.id);
    between.flat_map(|p| &p.events).for_each(|e| *rules.entry(&e.rule).or_default() += 1);
    if !rules.is_empty() {
        let rules: Vec<String> = rules.iter().map(|(r, n)| format!("{r}:{n}")).collect();
        out += &format!("rules  {}\n", wrapped(&rules.join(" "), 7, width));
    }
    Ok(out)
}

/// The figures among `named` that grew, in words.
pub fn worse(a: &Trace, b: &Trace, named: &[&Figure]) -> Vec<String> {
    let grew = named.iter().filter(|f| (f.of)(b) > (f.of)(a));
    grew.map(|f| format!("{} grew from {} to {}", f.name, (f.show)((f.of)(a)), (f.show)((f.of)(b))))
        .collect()
}

struct Row {
    name: &'static str,
    cells: [String; 3],
}

impl Row {
    fn new(name: &'static str, a: u64, b: u64, show: fn(u64) -> String) -> Row {
        let change = match a.cmp(&b) {
            std::cmp::Ordering::Less => format!("+{}", show(b - a)),
            std::cmp::Ordering::Equal => "=".into(),
            std::cmp::Ordering::Greater => format!("-{}", show(a - b)),
        };
        Row { name, cells: [show(a), show(b), change] }
    }
}

fn table(rows: &[Row]) -> String {
    // As wide as most times are, so that a column keeps its width when the same is measured again.
    let head = ["", "   before", "    after", "   change"].map(String::from).to_vec();
    let body = rows
        .iter()
        .map(|r| std::iter::once(r.name.to_string()).chain(r.cells.iter().cloned()).collect());
    grid(&std::iter::once(head).chain(body).collect::<Vec<Vec<String>>>(), &[0])
}

/// The statement, and what was off.
fn title(t: &Trace) -> String {
    let line: String = first_line(&t.statement).chars().take(60).collect();
    let more = if line.len() < t.statement.trim().len() { " …" } else { "" };
    let off = if t.config.off.is_empty() {
        String::new()
    } else {
        format!("   (off: {})", t.config.off.join(" "))
    };
    format!("{line}{more}{off}")
}

fn node(t: &Trace, id: u32) -> Option<&NodeRecord> {
    t.nodes.get(id as usize)
}

/// Nodes that are not written inside another's label.
fn drawn<'a>(g: &'a Graph<'_>) -> impl Iterator<Item = &'a NodeRecord> {
    g.nodes.iter().copied().filter(|n| !g.is_inline(n.id))
}

fn spelled(g: &Graph, n: &NodeRecord) -> String {
    let shape: Vec<String> = n.shape.iter().map(usize::to_string).collect();
    format!("{} {}[{}]", g.label(n), n.dtype, shape.join(" "))
}

fn stored(t: &Trace, id: u32) -> String {
    let Some(n) = node(t, id) else { return String::new() };
    let of = |p: &aplomb_ground::trace::PassRecord| p.breaks.iter().find(|b| b.node == id).cloned();
    let found = t
        .segments
        .iter()
        .filter_map(|s| of(t.passes.get((s.passes[1] as usize).checked_sub(1)?)?))
        .next();
    let why = found.map_or(String::new(), |b| format!(" ({}): {}", bytes(b.bytes), b.reason));
    let name = n.name.as_ref().map_or(String::new(), |x| format!("{x} "));
    format!("n{id} {name}{}{why}", n.op)
}

/// The count of each thing, and its spelling.
type Tally = BTreeMap<String, (usize, String)>;

fn tally(things: impl IntoIterator<Item = (String, String)>) -> Tally {
    let mut out = Tally::new();
    for (key, text) in things {
        out.entry(key).or_insert((0, text)).0 += 1;
    }
    out
}

/// So many lines a section.
const LINES: usize = 12;

fn sections(a: &Tally, b: &Tally, heads: [&str; 2], width: usize) -> String {
    let mut out = String::new();
    for (from, than, head) in [(a, b, heads[0]), (b, a, heads[1])] {
        let mut lines: Vec<&str> = Vec::new();
        for (key, (n, text)) in from {
            let more = n.saturating_sub(than.get(key).map_or(0, |t| t.0));
            lines.extend(std::iter::repeat_n(text.as_str(), more));
        }
        if lines.is_empty() {
            continue;
        }
        // In the order of the graph: by node number, as each text begins with it.
        lines.sort_by_key(|l| {
            let digits =
                l.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit);
            digits.collect::<String>().parse::<u64>().unwrap_or(u64::MAX)
        });
        out += &format!("{head}\n");
        lines.iter().take(LINES).for_each(|l| out += &format!("  {}\n", wrapped(l, 4, width)));
        if lines.len() > LINES {
            out += &format!("  … and {} more\n", lines.len() - LINES);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_ground::trace::{LaunchRecord, Measured};

    fn ran(least: f64, spread: f64) -> Trace {
        let meas = Some(Measured { us: least * 1e3, n: 1, ..Measured::default() });
        let times = [("launch_ms", least), ("spread_ms", spread), ("runs", 7.0)];
        Trace {
            kernels: vec![LaunchRecord { meas, ..LaunchRecord::default() }],
            times: times.map(|(key, value)| (key.to_string(), value)).into(),
            ..Trace::of("x")
        }
    }

    #[test]
    fn times_nearer_than_their_runs_are_no_difference() {
        let says = traces(&ran(2.0, 0.5), &ran(2.4, 0.1), 80);
        assert!(
            says.contains("no difference measured: half of 7 runs of each are up to 500 µs apart"),
            "{says}"
        );
        let says = traces(&ran(2.0, 0.1), &ran(2.4, 0.1), 80);
        assert!(!says.contains("no difference") && says.contains("+400 µs"), "{says}");
        // One run has no spread, and nothing is claimed of it.
        let once =
            |least| Trace { times: [("launch_ms".to_string(), least)].into(), ..ran(least, 0.0) };
        assert!(!traces(&once(2.0), &once(2.1), 80).contains("measured"));
    }
}

//! Sentences in C: the remarks above a launch, and what the codes of a function mean.

use crate::{Function, Home, Planned};
use aplomb_ground::trace::{DecisionRecord, NodeRecord, Trace};
use aplomb_plans::plan::{Launch, Plan, What};
use std::collections::BTreeMap;

/// Passes that decide for a GPU alone.
const DEVICE: &[&str] = &["place", "tile", "pad"];

/// Stands where remarks on launch `k` come.
pub fn mark(k: usize) -> String {
    format!("@{k}@\n")
}

/// A function's source as remarks. A remark that ended in `\` would go on.
pub fn source(home: &Home) -> String {
    let lines: Vec<&str> = home.text.lines().collect();
    let shown = format!("{}←{}", home.name, lines.join("\n//     "));
    format!("// “{shown}”\n")
}

/// The remarks on a function's launches and failures, at the first of its sizes.
pub struct Notes<'a> {
    planned: &'a Planned,
    from: &'a str,
    sizes: String,
    sites: Vec<u32>,
}

impl Notes<'_> {
    /// Of a function in a file.
    pub fn new<'a>(function: &Function<Planned>, planned: &'a Planned, from: &'a str) -> Notes<'a> {
        let free = function.takes.free();
        let samples = function.takes.samples();
        let sizes = samples.iter().take(1).flat_map(|sizes| free.iter().zip(sizes));
        let sizes: Vec<String> = sizes.map(|(l, n)| format!("{l}={n}")).collect();
        let mut sites: Vec<u32> = planned.plan.launches.iter().flat_map(|l| l.sites()).collect();
        sites.sort_unstable();
        sites.dedup();
        Notes { planned, from, sizes: sizes.join(", "), sites }
    }

    /// A text with remarks where their marks were.
    pub fn put(&self, text: &str) -> String {
        let mut out = text.to_string();
        for (k, launch) in self.planned.plan.launches.iter().enumerate() {
            out = out.replace(&mark(k), &self.launch(k, launch));
        }
        out
    }

    fn launch(&self, k: usize, launch: &Launch) -> String {
        let Planned { trace, .. } = self.planned;
        let mut out = format!("\n  // Launch k{k}: {}\n", launch.name);
        let nodes: Vec<u32> = launch.nodes.iter().map(|n| n.index() as u32).collect();
        for node in nodes.iter().filter_map(|n| trace.nodes.get(*n as usize)) {
            let place = written(trace, node).map(|(text, line)| format!(" “{text}”, line {line}"));
            let place: String = place.into_iter().collect();
            out += &format!("  //   n{} {}{place}\n", node.id, shown(&node.op));
        }
        let pass = |k: u32| trace.passes.get(k as usize).map_or("", |p| p.name.as_str());
        let own = |d: &&DecisionRecord| nodes.contains(&d.node) && !DEVICE.contains(&pass(d.pass));
        let decisions: Vec<&DecisionRecord> = trace.decisions.iter().filter(own).collect();
        if !decisions.is_empty() {
            let at = if self.sizes.is_empty() { "" } else { " at " };
            out += &format!("  // Decided{at}{}:\n", self.sizes);
        }
        for decision in decisions {
            out += &format!("  //   {}\n", shown(&decision.text));
        }
        out
    }

    /// The function that tells codes: `fails` says of a place in the order of errors whether it
    /// can, `more` are codes of a language's own.
    pub fn says(&self, name: &str, fails: &dyn Fn(usize) -> bool, more: &[(&str, &str)]) -> String {
        let nodes = sites(&self.planned.plan);
        let mut out = format!("const char *{name}_says(int code) {{\n  switch (code) {{\n");
        let mut case = |code: String, text: &str| {
            out += &format!("    case {code}: return \"{}\";\n", quoted(text));
        };
        case("0".into(), "done");
        case("APLOMB_EXTENTS".into(), "an extent for which the function is not");
        case("APLOMB_WORK".into(), "no memory to work in");
        more.iter().for_each(|(code, text)| case(code.to_string(), text));
        for (k, site) in self.sites.iter().enumerate().filter(|(k, _)| fails(*k)) {
            let trace = &self.planned.trace;
            let node = nodes.get(site).and_then(|n| trace.nodes.get(*n as usize));
            let op: String = node.iter().map(|n| n.op.as_str()).collect();
            let place = node.and_then(|n| written(trace, n));
            let place = place.map(|(text, line)| format!(", “{text}” in line {line}"));
            let place: String = place.into_iter().collect();
            let from = self.from;
            case(
                format!("APLOMB_VALUE + {k}"),
                &format!(
                    "DOMAIN ERROR: {op} has no real result, or one beyond 1.8E308{place} of {from}"
                ),
            );
        }
        out + "    default: return \"no code of this function\"; } }\n"
    }
}

/// The node of each place in the order of errors.
fn sites(plan: &Plan) -> BTreeMap<u32, u32> {
    let mut out = BTreeMap::new();
    for launch in &plan.launches {
        for step in launch.body.iter().chain(&launch.after) {
            if !matches!(step.what, What::Const(_) | What::Reduced(_)) {
                out.insert(step.from.site, step.from.node.index() as u32);
            }
        }
        for r in &launch.reductions {
            out.insert(r.site, r.node.index() as u32);
        }
        if let Some(f) = &launch.finish {
            out.insert(f.site, f.node.index() as u32);
        }
    }
    out
}

/// The text behind a node, in one line, and the number of its line.
fn written(trace: &Trace, node: &NodeRecord) -> Option<(String, usize)> {
    let [source, start, end] = *node.span.first()?;
    let source = trace.sources.iter().find(|s| s.id == source)?;
    let before = source.text.chars().take(start as usize).filter(|c| *c == '\n').count();
    let own = source.text.chars().skip(start as usize).take((end - start) as usize);
    Some((shown(&own.collect::<String>()), before + 1))
}

fn shown(text: &str) -> String {
    let one = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // A `\` at the end of a remark would go on in the next line.
    if one.ends_with('\\') { one + " " } else { one }
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('?', "\\?")
}

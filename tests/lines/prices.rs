//! Prices: no choice of the planner makes a plan much slower than the other way would, by the
//! model of the CPU and by that of a GPU.
//!
//! Over what all examples evaluate, statement by statement, and the lines of
//! `benches/workloads.json` at their small sizes. Each decision that the planner can make the other
//! way has both plans in its trace; the one that was made may take at most half as long again,
//! unless the other is barred: by a law of the language, a limit, or a switch. What is known to be
//! worse stands in `KNOWN`, which may only get shorter.

use crate::support::{Heard, session};
use aplomb_compiler::pass::{NoClock, Options, PIPELINE, SWITCHES, compile};
use aplomb_ground::protocol::Request;
use aplomb_ground::trace::{DecisionRecord, LaunchRecord, Trace};
use aplomb_kernel::session::Session;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A plan may take so many times the other one's time.
const MOST: f64 = 1.5;

/// Microseconds of a plan that never leaves the CPU.
const ASK_US: f64 = 40.0;

/// A program or workload, the kind of decision there that costs more than the other way, and why.
const KNOWN: &[(&str, &str, &str)] = &[
    (
        "fft",
        "keep work",
        "a sum of 8 elements is stored, since many read it: what several readers may compute \
         again is one operation on one array, however small that is",
    ),
    (
        "life",
        "launch boundary",
        "folds of 2304 elements share no buffer, and are more than a launch is taken to outweigh",
    ),
];

/// Whether nobody may choose the other way.
fn is_barred(d: &DecisionRecord) -> bool {
    ["illegal:", "limit:", "off:"].iter().any(|bar| d.alt[0].why_not.starts_with(bar))
}

/// The decisions that were looked at, and those slower than they need to be: place and kind, and a
/// sentence.
#[derive(Default)]
struct Found {
    priced: usize,
    barred: usize,
    slower: BTreeMap<(String, String), String>,
}

impl Found {
    fn look(&mut self, name: &str, traces: &[Trace]) {
        for trace in traces {
            for d in &trace.decisions {
                let Some((own, other)) = d.plan.as_ref().zip(d.alt[0].plan.as_ref()) else {
                    continue;
                };
                self.priced += 1;
                let mut by = vec![("", own.us, other.us)];
                // What takes less on the CPU does not ask whether there is a GPU.
                let asks = own.us.min(other.us) >= ASK_US;
                by.extend(asks.then_some((" on a GPU", own.gpu_us, other.gpu_us)));
                for (device, us, others) in by.into_iter().filter(|(_, a, b)| *a > MOST * b) {
                    if is_barred(d) {
                        self.barred += 1;
                        continue;
                    }
                    let says = format!(
                        "{}: {us} µs in {} launches, {others} µs in {} the other way ({}): {}",
                        trace.statement.lines().next().unwrap_or(""),
                        own.launches,
                        other.launches,
                        d.alt[0].why_not,
                        d.text
                    );
                    let kind = format!("{} {}{device}", d.what, d.reason);
                    self.slower.insert((name.into(), kind), says);
                }
            }
        }
    }

    /// Holds what was found against `KNOWN`, for the names that this test looks at.
    fn hold(&self, mine: impl Fn(&str) -> bool, least: usize) {
        println!("{} priced, {} barred", self.priced, self.barred);
        assert!(self.priced > least, "{}", self.priced);
        let known: BTreeSet<(String, String)> = KNOWN
            .iter()
            .filter(|(name, _, _)| mine(name))
            .map(|(name, what, _)| (name.to_string(), what.to_string()))
            .collect();
        let new: Vec<String> = self
            .slower
            .iter()
            .filter(|(at, _)| !known.contains(at))
            .map(|((name, what), says)| format!("{name}, {what}: {says}"))
            .collect();
        assert!(new.is_empty(), "{} of {}:\n{}", new.len(), self.priced, new.join("\n"));
        let gone: Vec<_> = known.iter().filter(|at| !self.slower.contains_key(at)).collect();
        assert!(gone.is_empty(), "no longer slower, so they leave KNOWN: {gone:?}");
    }
}

/// Searches: each of their thousands of evaluations has its own prices.
const SLOW: &[&str] = &["queens"];

/// The traces of a text, with prices.
fn told(s: &mut Session, text: &str) -> Vec<Trace> {
    s.core().set_told(true);
    let (code, name) = (text.into(), "text".into());
    s.handle(Request::Execute { code, name, silent: true }, &mut Heard::default());
    s.core().take_stories()
}

/// The programs of a folder; names have the folder in front.
fn look(folder: &str, least: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(folder);
    let files = std::fs::read_dir(root).expect("a folder").flatten().map(|e| e.path());
    let mut programs: Vec<_> =
        files.filter(|p| p.extension().is_some_and(|e| e == "apl")).collect();
    programs.sort();
    let mut found = Found::default();
    for program in programs {
        let name = program.file_stem().and_then(|s| s.to_str()).expect("a name");
        if SLOW.contains(&name) {
            continue;
        }
        let text = std::fs::read_to_string(&program).expect("a program");
        found.look(&format!("{folder}{name}"), &told(&mut session(), &text));
    }
    let own = |name: &str| !name.starts_with("bench:") && name.contains('/') != folder.is_empty();
    found.hold(own, least);
}

#[test]
fn no_choice_in_an_example_is_much_slower_than_the_other_way() {
    look("", 2400);
}

#[test]
fn no_choice_in_a_program_of_a_paper_is_much_slower_than_the_other_way() {
    look("seeds/", 500);
}

/// Arrays of a workload at a size, as `aplomb bench` makes them.
fn making(kinds: &Value, data: &Value, dtype: &str, n: usize) -> String {
    let mut lines = String::from("⎕RL←20061");
    for (name, spec) in data.as_object().expect("arrays") {
        let kind = &kinds[spec[0].as_str().expect("a kind")];
        let extent = |part: &Value| {
            let part = part.as_i64().expect("a part");
            let count = part.unsigned_abs() as usize;
            if part < 0 { count } else { (n / count).max(1) }
        };
        let shape: Vec<usize> = spec[1].as_array().expect("parts").iter().map(extent).collect();
        let random = format!("?{}⍴0", shape.iter().product::<usize>());
        let dtype = spec[2].as_str().unwrap_or(dtype);
        let number = |x: f64| x.to_string().replace('-', "¯");
        let (block, first) = match kind["share"].as_f64() {
            Some(share) => (format!("{share}>{random}"), kind["first"] == true),
            None => {
                let from = kind["from"].as_f64().expect("a number");
                let part = kind["part_of_n"].as_u64().unwrap_or(1) as usize;
                let to = kind["to"].as_f64().unwrap_or((n / part).max(1) as f64);
                let whole = if dtype.starts_with('f') { "" } else { "⌊" };
                (format!("{whole}{}+{}×{random}", number(from), number(to - from)), false)
            }
        };
        let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
        lines += &format!(" ⋄ {name}←{}⍴'{dtype}'⎕AS {block}", shape.join(" "));
        if first {
            lines += &format!(" ⋄ {name}[1]←1");
        }
        lines += &format!(" ⋄ _←⎕DR {name}");
    }
    lines
}

/// The lines of `benches/workloads.json` at their small sizes, each in a session that has its data:
/// name, text, the switches that are off.
fn workloads(mut look: impl FnMut(&str, &str, &mut Session)) {
    let table: Value = serde_json::from_str(include_str!("../../benches/workloads.json"))
        .expect("the table of workloads");
    let rows = table["workloads"].as_array().expect("rows");
    for row in rows {
        let base = rows.iter().find(|r| row["like"].is_string() && r["id"] == row["like"]);
        let field = |name: &str| match (&row[name], base) {
            (Value::Null, Some(base)) => &base[name],
            (own, _) => own,
        };
        let id = format!("bench:{}", row["id"].as_str().expect("a name"));
        let parts = field("apl").as_array().expect("texts").iter();
        let text: String = parts.map(|part| part.as_str().expect("a text")).collect();
        for point in field("small").as_array().expect("sizes") {
            let mut s = session();
            for name in row["off"].as_array().into_iter().flatten() {
                s.options().switch(name.as_str().expect("a switch"), false).expect("a switch");
            }
            let (dtype, n) = (point[0].as_str().expect("a type"), point[1].as_u64());
            let n = n.expect("a size") as usize;
            told(&mut s, &making(&table["kinds"], field("data"), dtype, n));
            look(&id, &format!("result←{}", text.replace('$', "")), &mut s);
        }
    }
}

#[test]
fn no_choice_in_a_workload_is_much_slower_than_the_other_way() {
    let mut found = Found::default();
    workloads(|id, text, s| {
        let traces = told(s, &format!("{text} ⋄ 1⊣⎕DR result"));
        assert!(!traces.is_empty(), "{id}: {text}");
        found.look(id, &traces);
    });
    found.hold(|name| name.starts_with("bench:"), 500);
}

/// A workload and a pass or rule without which its plan takes less than two thirds of the time, by
/// the model of the CPU or of a GPU, and why.
const WITHOUT: &[(&str, &str, &str)] = &[];

/// Every pass and rule at once: without one of them no workload's plan takes much less time, on the
/// CPU or on a GPU, by the model.
#[test]
fn no_pass_makes_a_workload_much_slower() {
    let names: Vec<&str> =
        PIPELINE.iter().map(|p| p.name).chain(SWITCHES.iter().map(|s| s.name)).collect();
    let (mut found, mut compared) = (BTreeMap::new(), 0);
    workloads(|id, text, s| {
        let Ok(recorded) = s.graph_of(text, &["result"]) else { return };
        let us = |options: &Options| -> Option<[f64; 2]> {
            let told = compile(&recorded, options, &mut NoClock).ok()?.trace;
            let sum = |of: fn(&LaunchRecord) -> f64| told.kernels.iter().map(of).sum::<f64>();
            Some([sum(|k| k.est.cpu_us), sum(|k| k.est.us)])
        };
        let mut own = Options::default();
        own.trace = true;
        let with = us(&own).expect("a plan");
        for name in &names {
            let mut options = own.clone();
            if options.switch(name, false).is_err() {
                continue;
            }
            let Some(without) = us(&options) else { continue };
            compared += 1;
            for (device, (with, without)) in ["CPU", "GPU"].iter().zip(with.iter().zip(without)) {
                if *with > MOST * without {
                    let says = format!("{with:.1} µs on a {device}, {without:.1} without");
                    found.insert((id.to_string(), name.to_string()), says);
                }
            }
        }
    });
    assert!(compared > 1000, "{compared}");
    let known: BTreeSet<(String, String)> =
        WITHOUT.iter().map(|(id, name, _)| (id.to_string(), name.to_string())).collect();
    let new: Vec<_> = found.iter().filter(|(at, _)| !known.contains(at)).collect();
    assert!(new.is_empty(), "{} of {compared}:\n{new:#?}", new.len());
    let gone: Vec<_> = known.iter().filter(|at| !found.contains_key(at)).collect();
    assert!(gone.is_empty(), "no longer slower, so they leave WITHOUT: {gone:?}");
}

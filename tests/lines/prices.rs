//! Prices: no choice of the planner makes a plan much slower than the other way would, by the
//! model of the CPU and by that of a GPU.
//!
//! Over what all examples evaluate, statement by statement, and the lines of
//! `benches/workloads.json` at their small sizes. Each decision that the planner can make the other
//! way has both plans in its trace; the one that was made may take at most half as long again,
//! unless the other is barred: by a law of the language, a limit, or a switch. What a trace calls
//! dearer has both plans, and every kind of choice has them somewhere. What a sentence of the same
//! stories says to be written has a buffer. The evaluations of the same programs, and of the
//! papers' at middling sizes, are planned without each pass and rule as well.

use crate::figures;
use crate::support::{Heard, session};
use aplomb_compiler::pass::{NoClock, Options, PIPELINE, SWITCHES, compile, price};
use aplomb_ground::error::Kind;
use aplomb_ground::protocol::Request;
use aplomb_ground::trace::{DecisionRecord, PlanCost, Trace};
use aplomb_kernel::session::Session;
use aplomb_plans::plan::Plan;
use aplomb_plans::plan::cpu::ASK_US;
use aplomb_values::dag::Recorded;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

/// A plan may take so many times the other one's time.
const MOST: f64 = 1.5;

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
    misjudged: Vec<String>,
    /// Kinds of choices that have whole plans of both ways, and that lack them.
    with_plans: BTreeSet<String>,
    without: BTreeSet<String>,
}

impl Found {
    fn look(&mut self, name: &str, traces: &[Trace]) {
        for trace in traces {
            for d in &trace.decisions {
                let kind = format!("{} {}", d.what, d.reason);
                match d.alt[0].why_not.as_str() {
                    _ if d.plan.is_some() => self.with_plans.insert(kind),
                    "dearer by itself" => self.without.insert(kind),
                    // The word is for two whole plans.
                    why => why == "dearer" && self.without.insert(d.text.clone()),
                };
                let Some((own, other)) = d.plan.as_ref().zip(d.alt[0].plan.as_ref()) else {
                    continue;
                };
                self.priced += 1;
                // What `settle` compares is the plan that there will be, but for the order of axes
                // in which arrays lie.
                if d.reason == "settled" && (d.cost.us - own.us).abs() > 0.1 * own.us {
                    self.misjudged
                        .push(format!("{name}: {} µs of {}: {}", d.cost.us, own.us, d.text));
                }
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

    /// Nothing is slower than it needs to be, of so many at least.
    fn hold(&self, least: usize) {
        println!("{} priced, {} barred", self.priced, self.barred);
        assert!(self.misjudged.is_empty(), "{:#?}", self.misjudged);
        assert!(self.priced > least, "{}", self.priced);
        let slower = self.slower.iter();
        let slower = slower.map(|((name, what), says)| format!("{name}, {what}: {says}"));
        let slower: Vec<String> = slower.collect();
        assert!(slower.is_empty(), "{} of {}:\n{}", slower.len(), self.priced, slower.join("\n"));
    }
}

/// The traces of a text, with prices.
pub fn told(s: &mut Session, text: &str) -> Vec<Trace> {
    s.core().set_told(true);
    let (code, name) = (text.into(), "text".into());
    s.handle(Request::Execute { code, name, silent: true }, &mut Heard::default());
    s.core().take_stories()
}

/// Sentences of a program that say that a node is written, each held to a buffer of the final plan;
/// how many there are.
fn written(program: &str, traces: &[Trace]) -> usize {
    let mut sentences = 0;
    for trace in traces {
        let written: BTreeSet<u32> =
            trace.buffers.iter().filter(|b| b.role != "input").map(|b| b.node).collect();
        let mut next: BTreeMap<u32, u32> = BTreeMap::new();
        for n in &trace.nodes {
            for was in &n.from {
                next.entry(*was).or_insert(n.id);
            }
        }
        let says =
            |d: &&DecisionRecord| d.text.contains("is written") || d.text.contains("is stored");
        for d in trace.decisions.iter().filter(says) {
            sentences += 1;
            let mut at = Some(d.node);
            while at.is_some_and(|at| !written.contains(&at)) {
                at = at.and_then(|at| next.get(&at).copied());
            }
            assert!(at.is_some(), "{program}: {}", d.text);
        }
    }
    sentences
}

/// The programs of a folder; names have the folder in front. `least`: so many decisions are priced,
/// and so many sentences say what is written; `least_told`: so many say why, and so many have bytes
/// beside another plan's.
fn look(folder: &str, least: [usize; 2], least_told: [usize; 2]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(folder);
    let files = std::fs::read_dir(root).expect("a folder").flatten().map(|e| e.path());
    let mut programs: Vec<_> =
        files.filter(|p| p.extension().is_some_and(|e| e == "apl")).collect();
    programs.sort();
    let (mut found, mut sentences, mut bytes) = (Found::default(), 0, figures::Found::default());
    for program in programs {
        let name = program.file_stem().and_then(|s| s.to_str()).expect("a name");
        let text = std::fs::read_to_string(&program).expect("a program");
        let traces = told(&mut session(), &text);
        found.look(&format!("{folder}{name}"), &traces);
        sentences += written(name, &traces);
        bytes.look(name, &traces);
    }
    bytes.hold(least_told);
    // Some of a kind may be left out for want of room; of so many programs' never all.
    let never: Vec<_> = found.without.difference(&found.with_plans).collect();
    assert!(!folder.is_empty() || never.is_empty(), "of none both plans: {never:#?}");
    println!("{sentences} sentences");
    assert!(sentences > least[1], "{sentences}");
    found.hold(least[0]);
}

#[test]
fn no_choice_in_an_example_is_slow_and_what_is_said_to_be_written_is() {
    look("", [2500, 500], [30_000, 2000]);
}

#[test]
fn no_choice_in_a_program_of_a_paper_is_slow_and_what_is_said_to_be_written_is() {
    look("seeds/", [500, 100], [12_000, 800]);
}

/// Items of an array that differ.
const BLOCK: usize = 100_000;

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
        // A plan does not know that a long array repeats.
        let random = format!("?{}⍴0", shape.iter().product::<usize>().min(BLOCK));
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

/// The lines of `benches/workloads.json` at their small sizes, or at `most`, each in a session that
/// has its data: name, text.
pub fn workloads(most: usize, look: impl FnMut(&str, &str, &mut Session)) {
    workloads_of("small", most, look);
}

/// The same at the sizes that a column of the table has.
fn workloads_of(sizes: &str, most: usize, mut look: impl FnMut(&str, &str, &mut Session)) {
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
        for point in field(sizes).as_array().expect("sizes") {
            let mut s = session();
            for name in row["off"].as_array().into_iter().flatten() {
                s.options().switch(name.as_str().expect("a switch"), false).expect("a switch");
            }
            let (dtype, n) = (point[0].as_str().expect("a type"), point[1].as_u64());
            let n = most.min(n.expect("a size") as usize);
            told(&mut s, &making(&table["kinds"], field("data"), dtype, n));
            look(&id, &format!("result←{}", text.replace('$', "")), &mut s);
        }
    }
}

#[test]
fn no_choice_in_a_workload_is_much_slower_than_the_other_way() {
    let mut found = Found::default();
    workloads(usize::MAX, |id, text, s| {
        let traces = told(s, &format!("{text} ⋄ 1⊣⎕DR result"));
        assert!(!traces.is_empty(), "{id}: {text}");
        found.look(id, &traces);
    });
    found.hold(500);
}

/// A program or workload and a pass or rule without which its plan takes less than two thirds of
/// the time, by the model of the CPU or of a GPU, and why.
const WITHOUT: &[(&str, &str, &str)] = &[];

/// Evaluations that are planned again without each switch: those of a program that have most to do.
const LARGEST: usize = 3;

/// Evaluations planned again without each pass and rule.
#[derive(Default)]
struct Switched {
    compared: usize,
    slower: BTreeMap<(String, String), String>,
}

impl Switched {
    fn look(&mut self, id: &str, recorded: &Recorded, own: &Options) {
        // None: without sharing it is a tree beyond the limit.
        let planned = |options: &Options| -> Option<PlanCost> {
            let mut options = options.clone();
            options.trace = false;
            match compile(recorded, &options, &mut NoClock) {
                Ok(compiled) => Some(price(&compiled.plan)),
                Err(e) if e.kind() == Kind::Limit => None,
                Err(e) => panic!("{id}: {e}"),
            }
        };
        let with = planned(own).expect("a plan");
        let names = PIPELINE.iter().map(|p| p.name).chain(SWITCHES.iter().map(|s| s.name));
        for name in names {
            let mut options = own.clone();
            if options.switch(name, false).is_err() {
                continue;
            }
            let Some(without) = planned(&options) else { continue };
            self.compared += 1;
            let mut by = vec![("CPU", with.us, without.us)];
            // What takes less on the CPU does not ask whether there is a GPU.
            let asks = with.us.min(without.us) >= ASK_US;
            by.extend(asks.then_some(("GPU", with.gpu_us, without.gpu_us)));
            for (device, with, without) in by {
                if with > MOST * without {
                    let says = format!("{with:.1} µs on a {device}, {without:.1} without");
                    self.slower.insert((id.to_string(), name.to_string()), says);
                }
            }
        }
    }

    fn hold(&self, mine: impl Fn(&str) -> bool, least: usize) {
        println!("{} compared", self.compared);
        assert!(self.compared > least, "{}", self.compared);
        let known: BTreeSet<(String, String)> = WITHOUT
            .iter()
            .filter(|(id, ..)| mine(id))
            .map(|(id, name, _)| (id.to_string(), name.to_string()))
            .collect();
        let new: Vec<_> = self.slower.iter().filter(|(at, _)| !known.contains(at)).collect();
        assert!(new.is_empty(), "{} of {}:\n{new:#?}", new.len(), self.compared);
        let gone: Vec<_> = known.iter().filter(|at| !self.slower.contains_key(at)).collect();
        assert!(gone.is_empty(), "no longer slower, so they leave WITHOUT: {gone:?}");
    }
}

/// Every pass and rule at once: without one of them no workload's plan takes much less time, on the
/// CPU or on a GPU, by the model, at the sizes at which it is timed.
#[test]
fn no_pass_makes_a_workload_much_slower() {
    let mut found = Switched::default();
    workloads_of("cpu", usize::MAX, |id, text, s| {
        if let Ok(recorded) = s.graph_of(text, &["result"]) {
            found.look(id, &recorded, &Options::default());
        }
    });
    found.hold(|id| id.starts_with("bench:"), 1500);
}

/// The evaluations of a text.
pub fn evaluations(s: &mut Session, text: &str) -> Vec<(Rc<Recorded>, Options)> {
    s.core().set_followed(true);
    run_for_evaluations(s, text)
}

/// The same where everything is recorded, as a story has it.
pub fn told_evaluations(s: &mut Session, text: &str) -> Vec<(Rc<Recorded>, Options)> {
    s.core().set_tracing(true);
    run_for_evaluations(s, text)
}

fn run_for_evaluations(s: &mut Session, text: &str) -> Vec<(Rc<Recorded>, Options)> {
    let (code, name) = (text.into(), "text".into());
    s.handle(Request::Execute { code, name, silent: true }, &mut Heard::default());
    s.core().take_evaluations()
}

/// The evaluations of a text that have most to do, planned without each switch.
fn without_each(s: &mut Session, id: &str, text: &str, found: &mut Switched) {
    let mut all: Vec<(f64, Rc<Recorded>, Options)> = Vec::new();
    for (recorded, options) in evaluations(s, text) {
        if let Ok(compiled) = compile(&recorded, &options, &mut NoClock) {
            let us = price(&compiled.plan).us;
            let known = |(own, graph, _): &(f64, Rc<Recorded>, Options)| {
                *own == us && graph.dag.len() == recorded.dag.len()
            };
            if !all.iter().any(known) {
                all.push((us, recorded, options));
            }
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.iter().take(LARGEST).for_each(|(_, recorded, own)| found.look(id, recorded, own));
}

/// The same of what the examples evaluate.
#[test]
fn no_pass_makes_an_example_much_slower() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = std::fs::read_dir(root).expect("a folder").flatten().map(|e| e.path());
    let mut programs: Vec<_> =
        files.filter(|p| p.extension().is_some_and(|e| e == "apl")).collect();
    programs.sort();
    let mut found = Switched::default();
    for program in programs {
        let name = program.file_stem().and_then(|s| s.to_str()).expect("a name");
        let text = std::fs::read_to_string(&program).expect("a program");
        without_each(&mut session(), name, &text, &mut found);
    }
    found.hold(|id| !id.starts_with("bench:") && !id.starts_with("seeds/"), 300);
}

/// The numbers that are sizes in the small data of `benches/seeds.json`, and middling ones: a plan
/// is worth more than its launches, and is still made soon.
const MIDDLING: &[(&str, &str)] =
    &[("50", "384"), ("60", "400"), ("500", "20000"), ("5000", "120000")];

/// A text with middling sizes.
fn middling(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || ".¯E".contains(c);
    let mut out = String::new();
    let mut number = String::new();
    for c in text.chars().chain(['\n']) {
        if is_part(c) {
            number.push(c);
            continue;
        }
        let larger = MIDDLING.iter().find(|(small, _)| *small == number);
        out += larger.map_or(number.as_str(), |(_, size)| size);
        number.clear();
        out.push(c);
    }
    out
}

/// The same of the programs of the papers, at middling sizes.
#[test]
fn no_pass_makes_a_program_of_a_paper_much_slower() {
    let table: Value =
        serde_json::from_str(include_str!("../../benches/seeds.json")).expect("the table");
    let text = |of: &Value| of.as_str().expect("a text").to_string();
    let made: Vec<String> = table["made"].as_array().expect("texts").iter().map(text).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/seeds");
    let mut found = Switched::default();
    for program in table["programs"].as_array().expect("programs") {
        let id = text(&program["id"]);
        let own = std::fs::read_to_string(folder.join(format!("{id}.apl"))).expect("a program");
        let (own, _) = own.split_once("\n⍝ Check").expect("a check");
        let mut s = session();
        told(&mut s, own.split_once('\n').expect("lines").1);
        told(&mut s, &made.join(" ⋄ "));
        told(&mut s, &middling(&text(&program["small"])));
        let first = text(&program["results"][0].as_str().map_or("r".into(), Value::from));
        let line = format!("{} ⋄ 1⊣⎕DR {first}", text(&program["run"]));
        without_each(&mut s, &format!("seeds/{id}"), &line, &mut found);
    }
    found.hold(|id| id.starts_with("seeds/"), 200);
}

/// A sum of many shifts of an array is one launch, as it is written: of a text whose steps follow
/// each other few values wait for others, so no register is short. To plan it takes as much longer
/// as it is longer, or a little more.
#[test]
fn a_long_sum_of_shifts_is_planned_as_it_is_written() {
    let line = |n: usize| format!("x←0.5×⍳10000 ⋄ result←+/⊃+/(¯1+⍳{n})⌽¨⊂x");
    let planned = |n: usize| {
        let recorded = session().graph_of(&line(n), &["result"]).expect("a graph");
        let mut options = Options::default();
        options.trace = true;
        let begun = std::time::Instant::now();
        let compiled = compile(&recorded, &options, &mut NoClock).expect("a plan");
        let took = begun.elapsed().as_secs_f64();
        let split = compiled.trace.decisions.iter().find(|d| d.what == "split");
        assert!(split.is_none(), "{n}: {split:?}");
        assert_eq!(compiled.plan.launches.len(), 2, "{n}");
        took
    };
    let least = |n: usize| (0..3).map(|_| planned(n)).fold(f64::MAX, f64::min);
    let (few, many) = (least(50), least(400));
    assert!(many < 32.0 * few, "{many} s of 400 shifts, {few} s of 50");
}

/// The maps of a plan whose arrays later loops read in another order of axes than they lie in.
fn crossed(plan: &Plan) -> Vec<usize> {
    let crosses = |k: &usize| plan.may_turn(*k) && plan.wanted_order(*k).is_some();
    (0..plan.launches.len()).filter(crosses).collect()
}

/// Arrays that many loops read across are written across: their loads are pieces of rows. The text
/// turns A, and whoever reads B would go from row to row.
#[test]
fn what_is_read_across_is_written_across() {
    let lines = [
        "B←⍉(A×A)+A*3 ⋄ result←(1⊖B)+(¯1⊖B)×(1⌽B)-(¯1⌽B)÷2+2⌽B",
        "B←2 3 1⍉(C×C)+C*3 ⋄ result←(1⊖B)+(¯1⊖B)×(1⌽B)-(¯1⌽B)÷2+2⌽B",
    ];
    for line in lines {
        let mut s = session();
        told(&mut s, "A←300 400⍴÷2+⍳997 ⋄ C←30 40 100⍴÷2+⍳997 ⋄ _←⎕DR¨A C");
        let recorded = s.graph_of(line, &["result"]).expect("a graph");
        let plan = |off: bool| {
            let mut options = Options::default();
            options.switch("settle", !off).expect("a switch");
            compile(&recorded, &options, &mut NoClock).expect("a plan").plan
        };
        let (own, without) = (plan(false), plan(true));
        assert_eq!(crossed(&own), [] as [usize; 0], "{line}");
        assert!(!crossed(&without).is_empty(), "{line}");
        assert!(price(&own).us < price(&without).us, "{line}");
    }
}

//! `aplomb bench seeds`: the programs of the four papers, by our pipeline, by the paper's, and by
//! the paper's without each of its switches.
//!
//! In: `examples/seeds/`, all above a program's check, and `benches/seeds.json`, which has sizes
//! and what was published. Out: a JSON object a program, or a table in Markdown a paper, as
//! docs/SEEDS.md keeps them. Every way must give the bits of the first.

use super::switches::Case;
use super::timed::{Stop, execute, figure};
use super::{Named, failed, one_by_one};
use crate::args::BenchArgs;
use crate::front::{Settings, USAGE, on_session, print};
use aplomb_devices::device::Wanted;
use aplomb_ground::error::{bytes, time};
use aplomb_ground::limits::Interrupt;
use aplomb_ground::trace::Trace;
use aplomb_kernel::session::{Session, result_of};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Instant;

const TABLE: &str = include_str!("../../benches/seeds.json");
/// A way that takes longer than that is told to.
const DEADLINE: f64 = 120.0;

macro_rules! texts {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../examples/seeds/", $name, ".apl")))),*]
    };
}

/// The programs, in the papers' order.
const TEXTS: &[(&str, &str)] = texts!(
    "acl-sum" "acl-matvec" "acl-matmul" "acl-life" "acl-demosaic" "acl-convolve" "acl-rotate"
    "acl-corners" "acl-motion" "acl-stereo"
    "bas-mv" "bas-tmv" "bas-mvt" "bas-mm" "bas-micro"
    "acc-blackscholes" "acc-canny" "acc-dot" "acc-fluid" "acc-mandelbrot" "acc-nbody" "acc-radix"
    "acc-smvm"
    "bar-saxpy" "bar-sdot" "bar-blackscholes" "bar-rmse" "bar-fwddiff" "bar-wmavg" "bar-jacobi"
);

#[derive(Deserialize)]
pub struct Table {
    /// Functions that make data.
    made: Vec<String>,
    papers: Vec<Paper>,
    programs: Vec<Program>,
}

#[derive(Deserialize)]
struct Paper {
    /// The beginning of the names of its programs.
    key: String,
    name: String,
    preset: String,
    switches: Vec<String>,
}

/// A program with its data. One that has several of them tells them apart by `case`.
#[derive(Deserialize)]
struct Program {
    id: String,
    case: Option<String>,
    size: String,
    data: String,
    small: String,
    run: String,
    #[serde(default = "first")]
    results: Vec<String>,
    published: String,
    /// The switch whose absence was measured, and how many times longer it took then.
    off: Option<String>,
    ratio: Option<f64>,
}

fn first() -> Vec<String> {
    vec!["r".into()]
}

/// A pipeline without one of its switches.
struct Way<'a> {
    preset: &'a str,
    off: Option<&'a str>,
}

impl Way<'_> {
    fn is(&self, preset: &str, off: Option<&str>) -> bool {
        (self.preset, self.off) == (preset, off)
    }
}

/// The figures of one way.
struct Measured {
    launches: usize,
    bytes: u64,
    /// Terms that the source names and uses several times, and nodes that were written twice.
    shared: u64,
    /// Microseconds of the runs.
    times: Vec<f64>,
    value: String,
}

impl Named for &Program {
    fn name(&self) -> Map<String, Value> {
        let fields = [("id", json!(self.id)), ("case", json!(self.case))];
        fields.map(|(key, value)| (key.to_string(), value)).into_iter().collect()
    }
}

impl Program {
    fn names(&self) -> Vec<&str> {
        self.results.iter().map(String::as_str).collect()
    }

    /// Errors: no such file is built in.
    fn definitions(&self) -> Result<&'static str, Stop> {
        let text = TEXTS.iter().find(|t| t.0 == self.id).map(|t| t.1);
        // The first line is the system's.
        let above = text.and_then(|t| Some(t.split_once("\n⍝ Check")?.0.split_once('\n')?.1));
        above.ok_or_else(|| Stop::Failed(format!("{} has no check", self.id)))
    }
}

impl Table {
    /// Errors: the file is no such table.
    pub fn read() -> Result<Table, String> {
        serde_json::from_str(TABLE).map_err(|e| format!("benches/seeds.json: {e}"))
    }

    /// The programs as cases of other tables: those that are asked for. Errors: no such file is
    /// built in.
    pub fn cases(self, args: &BenchArgs) -> Result<Vec<Case>, String> {
        let made = self.made.join(" ⋄ ");
        let chosen = |p: &Program| args.only.is_empty() || args.only.contains(&p.id);
        let case = |p: Program| -> Result<Case, String> {
            let definitions = match p.definitions() {
                Ok(text) => text.to_string(),
                Err(Stop::Failed(says)) => return Err(says),
                Err(Stop::Interrupted) => return Err("interrupted".into()),
            };
            let data = if args.small { p.small } else { p.data };
            Ok(Case {
                name: match &p.case {
                    Some(case) => format!("{} {case}", p.id),
                    None => p.id.clone(),
                },
                making: vec![definitions, made.clone(), data],
                text: p.run,
                results: p.results,
                off: Vec::new(),
            })
        };
        self.programs.into_iter().filter(|p| chosen(p)).map(case).collect()
    }

    fn paper(&self, program: &Program) -> Result<&Paper, Stop> {
        let found = self.papers.iter().find(|p| program.id.starts_with(&p.key));
        found.ok_or_else(|| Stop::Failed(format!("{} is of no paper", program.id)))
    }
}

impl Paper {
    /// Ours, the paper's, and what was measured without: each once.
    fn ways<'a>(&'a self, program: &'a Program) -> Vec<Way<'a>> {
        let own = self.switches.iter().map(|s| (self.preset.as_str(), Some(s.as_str())));
        let measured = program.off.iter().map(|s| ("all", Some(s.as_str())));
        let whole = [("all", None), (self.preset.as_str(), None)];
        let ways = whole.into_iter().chain(own).chain(measured);
        ways.map(|(preset, off)| Way { preset, off }).collect()
    }
}

pub fn run(settings: Settings, args: BenchArgs) -> i32 {
    let table = match Table::read() {
        Ok(table) => table,
        Err(says) => return failed(&says),
    };
    let known = |name: &String| table.programs.iter().any(|p| p.id == *name);
    if let Some(unknown) = args.only.iter().find(|name| !known(name)) {
        let names: Vec<&str> = TEXTS.iter().map(|t| t.0).collect();
        eprintln!("aplomb: no program is called {unknown}; there are {}", names.join(" "));
        return USAGE;
    }
    on_session(settings, move |session| {
        if session.core().devices().wanted() != Wanted::Cuda {
            session.core().devices().want(Wanted::Cpu);
        }
        session.core().limits.seconds = DEADLINE;
        let chosen = |p: &&Program| args.only.is_empty() || args.only.contains(&p.id);
        let programs: Vec<&Program> = table.programs.iter().filter(chosen).collect();
        let interrupt = session.interrupt();
        let mut bench = Bench { session, interrupt, table: &table, args: &args };
        let mut paper = "";
        let show = |program: &&Program, told: &Value| {
            let own = table.paper(program).ok().filter(|_| !args.json);
            let Some(own) = own else { return print(&format!("{told}\n")) };
            if own.key != paper {
                paper = &own.key;
                print(&head(own));
            }
            print(&line(own, told));
        };
        one_by_one(&programs, |program| bench.row(program), show)
    })
}

struct Bench<'a> {
    session: &'a mut Session,
    interrupt: Interrupt,
    table: &'a Table,
    args: &'a BenchArgs,
}

impl Bench<'_> {
    fn row(&mut self, program: &&Program) -> Result<Value, Stop> {
        let paper = self.table.paper(program)?;
        self.session.restart();
        let data = if self.args.small { &program.small } else { &program.data };
        for text in [program.definitions()?, &self.table.made.join(" ⋄ "), data] {
            execute(self.session, &self.interrupt, text.to_string())?;
        }
        let ways = paper.ways(program);
        let found = self.in_turns(program, &ways)?;
        let value = found.iter().find_map(|f| Some(f.as_ref().ok()?.value.clone()));
        let told = |(way, found): (&Way<'_>, &Result<Measured, String>)| match found {
            Ok(found) => figures(way, found, value.as_ref() == Some(&found.value)),
            Err(says) => json!({ "preset": way.preset, "off": way.off,
                "error": says.lines().next() }),
        };
        let all: Vec<Value> = ways.iter().zip(&found).map(told).collect();
        let ways: Vec<(Way<'_>, Value)> = ways.into_iter().zip(all).collect();
        let mut row = program.name();
        let mut say = |key: &str, value: Value| row.insert(key.into(), value);
        say("paper", json!(paper.name));
        say("size", json!(if self.args.small { data } else { &program.size }));
        say("device", json!(self.session.core().device_name()));
        say("published", json!(program.published));
        say("off", json!(program.off));
        say("ratio", json!(program.ratio));
        for preset in ["all", &paper.preset] {
            let us =
                |off: Option<&str>| ways.iter().find(|w| w.0.is(preset, off))?.1["us"].as_f64();
            let ratio = program.off.as_deref().and_then(|off| Some(us(Some(off))? / us(None)?));
            let key = if preset == "all" { "ours" } else { "by_its_pipeline" };
            say(key, ratio.map_or(Value::Null, figure));
        }
        say("ways", ways.into_iter().map(|w| w.1).collect());
        Ok(Value::Object(row))
    }

    /// Every way once, told, and then all of them in turns: whoever comes first touches memory for
    /// the first time and finds caches as others left them, so that a time of its own for each way
    /// would be one of its place in the list. What is refused once is not asked again.
    fn in_turns(
        &mut self,
        program: &Program,
        ways: &[Way<'_>],
    ) -> Result<Vec<Result<Measured, String>>, Stop> {
        let mut found = Vec::new();
        for way in ways {
            found.push(match self.by(way, |bench| bench.told(program)) {
                Ok(first) => Ok(first),
                Err(Stop::Failed(says)) => Err(says),
                Err(stop) => return Err(stop),
            });
        }
        let seconds = self.args.seconds();
        for turn in 0.. {
            let mut left = false;
            let all = ways.iter().zip(&mut found);
            for (way, of) in all.filter_map(|(way, of)| Some((way, of.as_mut().ok()?))) {
                if turn == 0 || of.times.iter().sum::<f64>() < 1e6 * seconds {
                    of.times.push(self.by(way, |bench| bench.once(program))?);
                    left = true;
                }
            }
            if !left {
                break;
            }
        }
        Ok(found)
    }

    /// Work by the pipeline of a way. Errors: that, and no such pipeline or switch.
    fn by<T>(
        &mut self,
        way: &Way<'_>,
        work: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let before = self.session.options().clone();
        let taken = self.session.options().take(way.preset);
        let options = self.session.options();
        let switched =
            taken.and_then(|()| way.off.map_or(Ok(()), |off| options.switch(off, false)));
        let done = switched.map_err(Stop::Failed).and_then(|()| work(self));
        *self.session.options() = before;
        self.session.core().set_followed(false);
        done
    }

    /// A run whose launches, bytes and terms are told; its time is not.
    fn told(&mut self, program: &Program) -> Result<Measured, Stop> {
        self.session.core().set_followed(true);
        let values = self.session.values_of(&program.run, &program.names())?;
        let value = values.iter().map(|v| result_of(v).sha).collect::<Vec<_>>().join(" ");
        let spent = self.session.core().spent;
        let shared = self.session.core().take_stories().iter().map(shared).sum();
        let (launches, bytes) = (spent.launches, spent.bytes);
        Ok(Measured { launches, bytes, shared, times: Vec::new(), value })
    }

    /// Microseconds from text to result.
    fn once(&mut self, program: &Program) -> Result<f64, Stop> {
        let begun = Instant::now();
        drop(self.session.values_of(&program.run, &program.names())?);
        Ok(begun.elapsed().as_secs_f64() * 1e6)
    }
}

fn shared(trace: &Trace) -> u64 {
    let lets = trace.passes.iter().filter(|p| p.name == "bind").map(|p| p.lets.len() as u64);
    lets.sum::<u64>() + trace.rules.get("cse").copied().map_or(0, u64::from)
}

fn figures(way: &Way<'_>, found: &Measured, is_first: bool) -> Value {
    let least = found.times.iter().copied().reduce(f64::min);
    json!({
        "preset": way.preset, "off": way.off, "launches": found.launches, "bytes": found.bytes,
        "shared": found.shared, "us": least.map(figure), "runs": found.times.len(),
        "same": is_first,
    })
}

/// The head of a paper's table.
fn head(paper: &Paper) -> String {
    let without = paper.switches.iter().map(|s| format!("without {s}"));
    let ways = ["ours".to_string(), paper.preset.clone()].into_iter().chain(without);
    let columns: Vec<String> =
        ["program", "size"].map(String::from).into_iter().chain(ways).collect();
    let last = ["published", "ratio", "by ours", "by its"].join(" | ");
    let rule = "---|".repeat(columns.len() + 4);
    format!("\n### {}\n\n| {} | {last} |\n|{rule}\n", paper.name, columns.join(" | "))
}

/// A program's line: each way's launches, bytes, shared nodes, time.
fn line(paper: &Paper, row: &Value) -> String {
    let text = |key: &str| row[key].as_str().map_or(String::new(), String::from);
    let name = if row["case"].is_string() {
        format!("{} {}", text("id"), text("case"))
    } else {
        text("id")
    };
    let mut cells = vec![name, text("size")];
    let whole = [("all", None), (paper.preset.as_str(), None)];
    let own = paper.switches.iter().map(|s| (paper.preset.as_str(), Some(s.as_str())));
    for (preset, off) in whole.into_iter().chain(own) {
        let mut ways = row["ways"].as_array().into_iter().flatten();
        let is_it = |w: &&Value| w["preset"] == preset && w["off"].as_str() == off;
        let way = ways.find(is_it);
        cells.push(way.map_or_else(|| text("error"), cell));
    }
    cells.push(text("published"));
    cells.extend(
        ["ratio", "ours", "by_its_pipeline"]
            .map(|key| row[key].as_f64().map_or("–".into(), |x| format!("{x:.2}"))),
    );
    format!("| {} |\n", cells.join(" | "))
}

fn cell(way: &Value) -> String {
    if let Some(says) = way["error"].as_str() {
        return says.split(':').take(1).collect();
    }
    let number = |key: &str| way[key].as_u64().map_or("–".into(), |n| n.to_string());
    let moved = way["bytes"].as_u64().map_or("–".into(), bytes);
    let took = way["us"].as_f64().map_or("–".into(), time);
    let other = if way["same"] == false { " another value" } else { "" };
    format!("{} · {moved} · {} · {took}{other}", number("launches"), number("shared"))
}

/// Programs whose text is built in, and those of the table.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_program_that_is_built_in() {
        let table = Table::read().expect("a table");
        let mut named: Vec<&str> = table.programs.iter().map(|p| p.id.as_str()).collect();
        named.dedup();
        assert_eq!(named, TEXTS.iter().map(|t| t.0).collect::<Vec<_>>());
        for program in &table.programs {
            assert!(
                program.definitions().is_ok() && table.paper(program).is_ok(),
                "{}",
                program.id
            );
        }
    }
}

//! `aplomb bench`: workloads of one table, timed alone or in turns with the peers of
//! `benches/peers`; and what the program's own parts cost.

mod families;
mod frontend;
mod layout;
mod peers;
mod seeds;
mod spellings;
mod stops;
mod switches;
mod table;
#[cfg(test)]
mod tests;
mod timed;
mod trace;
mod work;

use crate::args::BenchArgs;
use crate::front::{FAILED, INTERRUPTED, Settings, USAGE, on_session, print};
use crate::notebook;
use aplomb_devices::device::Wanted;
use aplomb_kernel::session::Session;
use peers::Peers;
use serde_json::{Map, Value, json};
use std::io::{IsTerminal, Write};
use timed::{Bench, Stop};
use work::{GROUPS, Job, Rates, Table, Work};

type Run = fn(Settings, BenchArgs) -> i32;

/// Of the options of a bench that times itself.
const TIMED: &[&str] = &["--seconds", "--small", "--json"];

/// Benches that are no workloads: name, sentence, the options that they take, and what runs them.
const OWN: &[(&str, &str, &[&str], Run)] = &[
    (
        "seeds",
        "the programs of the four papers, by our pipeline and by theirs",
        &["--seconds", "--small", "--only", "--json"],
        seeds::run,
    ),
    (
        "frontend",
        "reading, recording and each pass, for graphs of 10 to 10 000 nodes",
        TIMED,
        |s, a| alone(s, a, frontend::run),
    ),
    ("trace", "what keeping and telling a trace costs", TIMED, |s, a| alone(s, a, trace::run)),
    (
        "spellings",
        "natural spellings against the best ones",
        &["--seconds", "--small", "--json", "--pairs"],
        |s, a| alone(s, a, spellings::run),
    ),
    ("families", "programs of n parts and of ten times as many", TIMED, |s, a| {
        alone(s, a, families::run)
    }),
    (
        "switches",
        "what each pass, rule and setting is worth",
        &["--seconds", "--small", "--only", "--json"],
        |s, a| alone(s, a, switches::run),
    ),
    ("stops", "how soon lines hear of an interrupt", &["--small", "--json"], |s, a| {
        alone(s, a, stops::run)
    }),
    ("layout", "pictures of large graphs", TIMED, |s, a| alone(s, a, layout::run)),
    ("jupyter", "the notebook: start, cells, interrupts", TIMED, |_, a| notebook::bench(&a)),
    ("tui", "the panes: from keys to frames", &["--json"], |s, a| crate::panes::bench::run(s, &a)),
];

/// True of a bench that runs no session of ours, so that what every form takes changes nothing.
pub fn is_apart(name: &str) -> bool {
    matches!(name, "list" | "jupyter")
}

/// An option that was given and that this bench does not take.
fn unused(args: &BenchArgs) -> Option<&'static str> {
    let is_group = GROUPS.iter().any(|g| g.0 == args.what());
    let takes = |option: &str| match OWN.iter().find(|own| own.0 == args.what()) {
        Some((_, _, takes, _)) => takes.contains(&option),
        None => match option {
            "--only" => is_group,
            "--pairs" => false,
            _ => args.what() != "list",
        },
    };
    args.given().into_iter().find(|option| !takes(option))
}

fn alone(
    settings: Settings,
    args: BenchArgs,
    run: fn(&mut Session, &BenchArgs) -> Result<String, String>,
) -> i32 {
    on_session(settings, move |session| match run(session, &args) {
        Ok(text) => {
            print(&text);
            0
        }
        Err(says) => failed(&says),
    })
}

fn failed(says: &str) -> i32 {
    eprintln!("aplomb: {says}");
    FAILED
}

pub fn run(settings: Settings, args: BenchArgs) -> i32 {
    if let Some(option) = unused(&args) {
        eprintln!("aplomb: {option} changes nothing in bench {}", args.what());
        return USAGE;
    }
    if let Some((_, _, _, run)) = OWN.iter().find(|own| own.0 == args.what()) {
        return run(settings, args);
    }
    let (table, works) = match Table::read() {
        Ok(read) => read,
        Err(says) => return failed(&says),
    };
    let own: Vec<(&str, &str)> = OWN.iter().map(|o| (o.0, o.1)).collect();
    let is_known =
        GROUPS.iter().any(|g| g.0 == args.what()) || works.iter().any(|w| w.id == args.what());
    if args.what() == "list" {
        print(&table::list(&works, &own));
        return 0;
    }
    if !is_known {
        eprint!(
            "aplomb: no workload is called {}; there are\n\n{}",
            args.what(),
            table::list(&works, &own)
        );
        return USAGE;
    }
    let gpu = settings.device == Wanted::Cuda;
    if gpu && args.peers.is_some() {
        eprintln!(
            "aplomb: --peers are timed on the CPU; benches/gpu/run.sh compares with peers on a GPU"
        );
        return USAGE;
    }
    let threads = settings.threads;
    on_session(settings, move |session| workloads(session, table, &works, &args, threads))
}

fn workloads(
    session: &mut Session,
    table: Table,
    works: &[Work],
    args: &BenchArgs,
    threads: usize,
) -> i32 {
    let gpu = session.core().devices().wanted() == Wanted::Cuda;
    let jobs = match work::chosen(works, args, gpu, session.core().limits.bytes) {
        Ok(jobs) => jobs,
        Err(says) => {
            eprintln!("aplomb: {says}");
            return USAGE;
        }
    };
    if let (true, Err(says)) = (gpu, session.core().devices().find().map(|_| ())) {
        return failed(&format!("no GPU: {says}"));
    }
    if gpu {
        // Launches are timed one by one where somebody follows.
        session.core().set_followed(true);
    } else {
        session.core().devices().want(Wanted::Cpu);
    }
    let peers = match args.peers.as_ref().map(|venv| Peers::start(venv, threads)).transpose() {
        Ok(peers) => peers,
        Err(says) => return failed(&says),
    };
    let device = session.core().device_name();
    let rates = match gpu {
        true => table
            .rates
            .iter()
            .find(|(name, _)| device.contains(name.as_str()))
            .map(|(_, rates)| rates.clone()),
        false => Some(Rates::from([("bytes".into(), timed::copy_rate(threads))])),
    };
    let columns = table::Columns::new(&jobs, gpu, peers.is_some());
    if !args.json {
        print(&said(&device, gpu, rates.as_ref()));
        print(&columns.head());
    }
    let rates = rates.unwrap_or_default();
    let interrupt = session.interrupt();
    let mut bench =
        Bench { session, interrupt, table, threads, seconds: args.seconds(), gpu, rates, peers };
    let mut summary = table::Summary::default();
    let show = |_: &Job, row: &Value| {
        summary.add(row);
        print(&if args.json { format!("{row}\n") } else { columns.row(row) });
    };
    let code = one_by_one(&jobs, |job| bench.row(job), show);
    if !args.json {
        print(&summary.told());
    }
    code
}

/// The conditions that the figures stand on.
fn said(device: &str, gpu: bool, rates: Option<&Rates>) -> String {
    let rate = rates
        .and_then(|r| r.get("bytes"))
        .map_or("not known".to_string(), |r| format!("{:.1} GB/s", r / 1e9));
    match gpu {
        true => format!(
            "{device}; times are those of the launches, end: all of a run; floor: memory at \
             {rate}\n"
        ),
        false => {
            format!(
                "{device}; times are those of whole runs; floor: copying at {rate}; ×: a peer's \
                 least ÷ ours\n"
            )
        }
    }
}

/// The subject of a row.
trait Named {
    /// The fields that stand in it also where there are no figures.
    fn name(&self) -> Map<String, Value>;
}

impl Named for Job {
    fn name(&self) -> Map<String, Value> {
        let fields =
            [("id", json!(self.work.id)), ("n", json!(self.n)), ("dtype", json!(self.dtype))];
        fields.map(|(key, value)| (key.to_string(), value)).into_iter().collect()
    }
}

/// A line as soon as it is known. Ctrl-C ends it and leaves what was printed.
fn one_by_one<T: Named>(
    jobs: &[T],
    mut row: impl FnMut(&T) -> Result<Value, Stop>,
    mut show: impl FnMut(&T, &Value),
) -> i32 {
    let mut code = 0;
    for (k, job) in jobs.iter().enumerate() {
        let mut name = job.name();
        let words: Vec<String> = name.values().filter(|v| !v.is_null()).map(table::text).collect();
        progress(&format!("{}, {} of {}", words.join(" "), k + 1, jobs.len()));
        let row = row(job);
        progress("");
        match row {
            Ok(row) => show(job, &row),
            Err(Stop::Interrupted) => return INTERRUPTED,
            Err(Stop::Failed(says)) => {
                name.insert("error".into(), json!(says));
                show(job, &Value::Object(name));
                code = FAILED;
            }
        }
    }
    code
}

/// One line on a terminal, which the next replaces.
fn progress(says: &str) {
    let mut err = std::io::stderr();
    if err.is_terminal() {
        let _ = write!(err, "\r\x1b[K{says}");
        let _ = err.flush();
    }
}

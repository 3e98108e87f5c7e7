//! `aplomb bench switches`: what each pass, rule and setting is worth.
//!
//! Every workload and every program of the four papers runs as usual and without each switch. Where
//! that makes another plan, four figures tell what the switch is worth, each as the plan without it
//! over the plan with it: bytes that the launches move, counted; their time by the model of a CPU
//! and by that of a GPU; and the time of a run here, the least of runs in turns. The table has a
//! line a switch, with the geometric means, how many workloads are slower and faster without it,
//! and the one that is slowest; below it stands what would be better without, and what the model
//! of the CPU prices otherwise than the clock.

use super::seeds;
use super::table::mean;
use super::timed::{Stop, execute};
use super::work::{self, Job, Table};
use crate::args::BenchArgs;
use aplomb_compiler::pass::{DEVICES, switches};
use aplomb_devices::device::Wanted;
use aplomb_kernel::session::Session;
use serde_json::json;
use std::time::Instant;

/// A run without a switch counts as faster, or slower, from so far on.
const APART: f64 = 1.25;
/// A model is wrong about a switch where it says another ratio than the clock, by so much.
const MISPRICED: f64 = 2.0;
/// A run of fewer microseconds tells nothing of a model.
const SHORT_US: f64 = 200.0;
/// A plan without one is better by the model, or by what is counted, from so far on.
const BETTER: f64 = 0.95;
/// Turns of a pair.
const TURNS: usize = 3;

/// A plan in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Figures {
    launches: u64,
    bytes: u64,
    cpu_us: f64,
    gpu_us: f64,
}

/// A statement that runs with a switch and without it: a workload with its data, or a program of a
/// paper.
pub struct Case {
    /// The name in the table.
    pub name: String,
    /// Texts that make the data.
    pub making: Vec<String>,
    /// The statement.
    pub text: String,
    /// The names of its results.
    pub results: Vec<String>,
    /// The switches that are always off for it.
    pub off: Vec<String>,
}

impl Case {
    fn of(job: &Job, table: &Table) -> Case {
        Case {
            name: format!("{} {} {}", job.work.id, job.dtype, job.n),
            making: vec![job.making(table, 0)],
            text: job.text(0),
            results: job.results(),
            off: job.work.off.clone(),
        }
    }
}

/// A workload without a switch.
struct Pair {
    job: String,
    switch: &'static str,
    with: Figures,
    without: Figures,
    /// Least microseconds of a run, with and without.
    us: [f64; 2],
}

impl Pair {
    /// Bytes, the models' times and the time here, without over with.
    fn ratios(&self) -> [f64; 4] {
        let (a, b) = (&self.without, &self.with);
        // What runs in no launch has no figures.
        let launched = a.launches > 0 && b.launches > 0;
        let over = |a: f64, b: f64| if launched && b > 0.0 { a / b } else { 1.0 };
        [
            over(a.bytes as f64, b.bytes as f64),
            over(a.cpu_us, b.cpu_us),
            over(a.gpu_us, b.gpu_us),
            self.us[1] / self.us[0].max(1e-3),
        ]
    }

    fn told(&self) -> String {
        let of = |f: &Figures, us: f64| {
            json!({
                "launches": f.launches, "bytes": f.bytes, "cpu_us": f.cpu_us, "gpu_us": f.gpu_us,
                "us": us,
            })
        };
        let row = json!({
            "workload": "switches", "id": self.job, "switch": self.switch,
            "with": of(&self.with, self.us[0]), "without": of(&self.without, self.us[1]),
        });
        format!("{row}\n")
    }
}

/// The table, or a line of JSON a pair.
pub fn run(session: &mut Session, args: &BenchArgs) -> Result<String, String> {
    let (table, works) = Table::read()?;
    let all = BenchArgs { name: Some("all".into()), workload: None, ..args.clone() };
    let of_papers = seeds::Table::read()?.cases(args)?;
    // Names that are programs' alone ask for no workload.
    let own = |name: &String| works.iter().any(|work| work.id == *name);
    let only: Vec<String> = all.only.iter().filter(|name| own(name)).cloned().collect();
    let jobs = match !all.only.is_empty() && only.is_empty() && !of_papers.is_empty() {
        true => Vec::new(),
        false => {
            let all = BenchArgs { only, ..all };
            work::chosen(&works, &all, false, session.core().limits.bytes)?
        }
    };
    session.core().devices().want(Wanted::Cpu);
    let mut pairs = Vec::new();
    let cases = jobs.iter().map(|job| Case::of(job, &table)).chain(of_papers);
    for case in cases {
        match compared(session, &case, args.seconds()) {
            Ok(more) => pairs.extend(more),
            Err(Stop::Interrupted) => return Err("interrupted".into()),
            Err(Stop::Failed(says)) => return Err(format!("{}: {says}", case.name)),
        }
        session.restart();
    }
    Ok(match args.json {
        true => pairs.iter().map(Pair::told).collect(),
        false => format!("{}\n{}{}", lines(&pairs), better(&pairs), mispriced(&pairs)),
    })
}

/// The switches without which a workload has another plan.
fn compared(session: &mut Session, job: &Case, seconds: f64) -> Result<Vec<Pair>, Stop> {
    let interrupt = session.interrupt();
    for text in &job.making {
        execute(session, &interrupt, text.clone())?;
    }
    let usual = session.options().clone();
    for name in &job.off {
        let _ = session.options().switch(name, false);
    }
    let own = session.options().clone();
    let with = figures(session, job)?;
    let of_device = |name: &str| DEVICES.iter().any(|d| d.name == name);
    let mut out = Vec::new();
    for switch in switches().into_iter().filter(|name| !of_device(name)) {
        interrupt.check()?;
        let mut other = own.clone();
        if own.is_off(switch) || other.switch(switch, false).is_err() {
            continue;
        }
        *session.options() = other.clone();
        // What the limits refuse has no figures.
        if let Ok(without) = figures(session, job)
            && without != with
        {
            let us = in_turns(session, job, [&own, &other], seconds)?;
            out.push(Pair { job: job.name.clone(), switch, with, without, us });
        }
        *session.options() = own.clone();
    }
    *session.options() = usual;
    Ok(out)
}

/// The launches of a run, by their records.
fn figures(session: &mut Session, job: &Case) -> Result<Figures, Stop> {
    session.core().set_followed(true);
    let ran = once(session, job);
    let stories = session.core().take_stories();
    session.core().set_followed(false);
    ran?;
    let mut out = Figures::default();
    for k in stories.iter().flat_map(|t| &t.kernels) {
        let times = k.times();
        out.launches += times;
        out.bytes += times * (k.est.r + k.est.w);
        out.cpu_us += times as f64 * k.est.cpu_us;
        out.gpu_us += times as f64 * k.est.us;
    }
    Ok(out)
}

/// Microseconds from text to result.
fn once(session: &mut Session, job: &Case) -> Result<f64, Stop> {
    let names: Vec<&str> = job.results.iter().map(String::as_str).collect();
    let begun = Instant::now();
    session.values_of(&job.text, &names)?;
    Ok(begun.elapsed().as_secs_f64() * 1e6)
}

/// The least of runs in turns; the first turn compiles and does not count.
fn in_turns(
    session: &mut Session,
    job: &Case,
    ways: [&aplomb_compiler::pass::Options; 2],
    seconds: f64,
) -> Result<[f64; 2], Stop> {
    let mut least = [f64::MAX; 2];
    let begun = Instant::now();
    let mut turn = 0;
    while turn <= TURNS || begun.elapsed().as_secs_f64() < seconds {
        for (least, options) in least.iter_mut().zip(ways) {
            *session.options() = options.clone();
            let us = once(session, job)?;
            if turn > 0 {
                *least = least.min(us);
            }
        }
        turn += 1;
    }
    Ok(least)
}

/// A line a switch, that of most first.
fn lines(pairs: &[Pair]) -> String {
    let mut out = format!(
        "{:<15}{:>6}{:>9}{:>9}{:>9}{:>9}{:>8}{:>8}  {}\n",
        "without", "plans", "bytes", "CPU", "GPU", "time", "slower", "faster", "most"
    );
    let mut rows: Vec<(f64, String)> = Vec::new();
    let of = |switch: &str| -> Option<(Vec<&Pair>, &Pair)> {
        let own: Vec<&Pair> = pairs.iter().filter(|p| p.switch == switch).collect();
        let most = *own.iter().max_by(|a, b| a.ratios()[3].total_cmp(&b.ratios()[3]))?;
        Some((own, most))
    };
    for (switch, (own, most)) in switches().into_iter().filter_map(|s| Some((s, of(s)?))) {
        let means: Vec<f64> =
            (0..4).map(|k| mean(own.iter().map(|p| p.ratios()[k]).filter(|x| *x > 0.0))).collect();
        let cells: String = means.iter().map(|x| format!("{x:>8.2}×")).collect();
        let slower = own.iter().filter(|p| p.ratios()[3] >= APART).count();
        let faster = own.iter().filter(|p| p.ratios()[3] * APART <= 1.0).count();
        let most = format!("{} {:.1}×", most.job, most.ratios()[3]);
        let line = format!("{switch:<15}{:>6}{cells}{slower:>8}{faster:>8}  {most}\n", own.len());
        rows.push((means[3], line));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    rows.into_iter().for_each(|(_, line)| out += &line);
    out
}

/// The pairs that are better without: faster here, or by what is counted or a model and no slower.
fn better(pairs: &[Pair]) -> String {
    let mut out = String::new();
    for p in pairs {
        let [bytes, cpu, gpu, time] = p.ratios();
        let told = [bytes, cpu, gpu].iter().any(|x| *x < BETTER);
        if time * APART <= 1.0 || told && time < 1.0 / BETTER {
            out += &format!(
                "better without {}: {}: bytes {bytes:.2}×, CPU {cpu:.2}×, GPU {gpu:.2}×, time \
                 {time:.2}×\n",
                p.switch, p.job
            );
        }
    }
    if out.is_empty() { "nothing is better without a switch\n".into() } else { out }
}

/// The pairs of which the model of the CPU tells another ratio than the clock.
fn mispriced(pairs: &[Pair]) -> String {
    let mut out = String::new();
    for p in pairs.iter().filter(|p| p.us[0].max(p.us[1]) >= SHORT_US) {
        let [_, cpu, _, time] = p.ratios();
        if (time / cpu).max(cpu / time) >= MISPRICED {
            out += &format!(
                "mispriced: {} without {}: {cpu:.2}× by the model, {time:.2}× by the clock\n",
                p.job, p.switch
            );
        }
    }
    out
}

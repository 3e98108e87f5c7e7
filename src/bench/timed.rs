//! One workload timed, alone or in turns with peers: a row as JSON. `benches/README.md` says what
//! its fields mean.

use super::peers::{Compared, Peers};
use super::work::{Job, Rates, Table};
use aplomb_devices::device::Wanted;
use aplomb_ground::error::Kind;
use aplomb_ground::limits::Interrupt;
use aplomb_ground::protocol::{Event, Request, Sink};
use aplomb_ground::span::first_line;
use aplomb_ground::trace::Trace;
use aplomb_kernel::session::{Mode, Session};
use aplomb_plans::plan::Math;
use serde_json::{Map, Value, json};
use std::time::Instant;

/// Turns that we and the peers take.
const ROUNDS: usize = 5;
/// Less than that is held in caches, so memory is no floor for it.
const IN_CACHE: f64 = 64e6;
/// Operations for a byte from which computing takes longer than moving on a CPU.
const DENSE: f64 = 4.0;

/// The reasons for which there is no row.
pub enum Stop {
    Interrupted,
    Failed(String),
}

impl From<aplomb_ground::error::Error> for Stop {
    fn from(e: aplomb_ground::error::Error) -> Stop {
        if e.kind() == Kind::Interrupt { Stop::Interrupted } else { Stop::Failed(e.to_string()) }
    }
}

/// The parts that all rows of a run have in common.
pub struct Bench<'a> {
    pub session: &'a mut Session,
    pub interrupt: Interrupt,
    pub table: Table,
    pub threads: usize,
    pub seconds: f64,
    pub gpu: bool,
    /// The least times that bytes and operations take; none where that is not known.
    pub rates: Rates,
    pub peers: Option<Peers>,
}

/// Listens to lines whose output nobody wants: the first error.
#[derive(Default)]
pub(super) struct Heard(pub Option<String>);

impl Sink for Heard {
    fn event(&mut self, event: Event) {
        if let Event::Error(failure) = event {
            self.0.get_or_insert(first_line(&failure.report).to_string());
        }
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

/// The times of the runs, in microseconds; of the first all of it.
#[derive(Default)]
struct Runs {
    first: Option<f64>,
    /// Compiling's part of it.
    front: f64,
    /// The second run's: it finds its plan, but data as far from the processor as the first.
    second: Option<f64>,
    /// From text to result.
    whole: Vec<f64>,
    launches: Vec<f64>,
    /// The CPU's launches as they were estimated.
    estimated: f64,
    count: usize,
    /// The last run's traces, on a GPU.
    traces: Vec<Trace>,
}

/// Runs what makes data; nothing of it is shown or kept.
pub fn execute(session: &mut Session, interrupt: &Interrupt, code: String) -> Result<(), Stop> {
    // A request forgets what came before it.
    interrupt.check()?;
    let mut heard = Heard::default();
    session.handle(Request::Execute { code, name: "data".into(), silent: true }, &mut heard);
    session.core().take_traces();
    interrupt.check()?;
    heard.0.map_or(Ok(()), |says| Err(Stop::Failed(says)))
}

impl Bench<'_> {
    pub fn row(&mut self, job: &Job) -> Result<Value, Stop> {
        let options = self.session.options().clone();
        for name in &job.work.off {
            let _ = self.session.options().switch(name, false);
        }
        if let Some(math) = job.work.math.as_deref().and_then(Math::named) {
            self.session.options().math = math;
        }
        let mode = self.session.core().mode();
        self.session.core().set_mode(Mode { estimating: !self.gpu, ..mode });
        let row = self.timed(job);
        self.session.core().set_mode(mode);
        *self.session.options() = options;
        self.session.restart();
        row
    }

    fn timed(&mut self, job: &Job) -> Result<Value, Stop> {
        let copies = if self.gpu { job.copies() } else { 1 };
        for copy in 0..copies {
            self.execute(job.making(&self.table, copy))?;
        }
        // As at a prompt, where some time passes between two lines.
        while self.session.rest() {}
        let mut runs = Runs::default();
        let mut compared = None;
        for _ in 0..ROUNDS {
            self.round(job, copies, &mut runs)?;
            self.peers_turn(job, &mut compared)?;
            self.interrupt.check()?;
        }
        let mut row = self.told(job, &runs);
        if let Some(compared) = compared {
            row.insert("peers".into(), compared.told(least(&runs.whole)));
        }
        Ok(Value::Object(row))
    }

    fn peers_turn(&mut self, job: &Job, compared: &mut Option<Compared>) -> Result<(), Stop> {
        let begun = match (&self.peers, &compared) {
            (Some(peers), None) => Some((peers.folder()?, peers.begin(job))),
            _ => None,
        };
        if let Some((folder, fresh)) = begun {
            self.execute(job.saving(&folder))?;
            self.execute(job.saving_results(&folder))?;
            *compared = Some(fresh);
        }
        match (self.peers.as_mut(), compared) {
            (Some(peers), Some(compared)) => peers.round(compared, self.seconds / ROUNDS as f64),
            _ => Ok(()),
        }
    }

    fn execute(&mut self, code: String) -> Result<(), Stop> {
        execute(self.session, &self.interrupt, code)
    }

    fn round(&mut self, job: &Job, copies: usize, runs: &mut Runs) -> Result<(), Stop> {
        let names = job.results();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let texts: Vec<String> = (0..copies).map(|copy| job.text(copy)).collect();
        let begun = Instant::now();
        // On a GPU all copies of the data go up before a run counts.
        let warm = if runs.first.is_some() { 0 } else { copies + 1 };
        for (count, text) in texts.iter().cycle().enumerate() {
            if count > warm && begun.elapsed().as_secs_f64() > self.seconds / ROUNDS as f64 {
                break;
            }
            let start = Instant::now();
            let values = self.session.values_of(text, &names)?;
            let found = values.len();
            drop(values);
            let us = start.elapsed().as_secs_f64() * 1e6;
            if found != names.len() {
                return Err(Stop::Failed("it gave no result".into()));
            }
            let spent = self.session.core().spent;
            let traces = if self.gpu { self.session.core().take_stories() } else { Vec::new() };
            match runs.first {
                None => (runs.first, runs.front) = (Some(us), spent.front_ms * 1e3),
                Some(_) => _ = runs.second.get_or_insert(us),
            }
            if count >= warm {
                let kernels = traces.iter().flat_map(|t| &t.kernels);
                let on_gpu: f64 = kernels.filter_map(|k| k.meas.as_ref()).map(|m| m.us).sum();
                runs.whole.push(us);
                runs.launches.push(if self.gpu { on_gpu } else { spent.launch_ms * 1e3 });
                runs.estimated = spent.estimated_ms * 1e3;
                (runs.count, runs.traces) = (spent.launches, traces);
            }
        }
        Ok(())
    }

    fn told(&mut self, job: &Job, runs: &Runs) -> Map<String, Value> {
        let (bytes, flops) = (job.bytes(), job.flops());
        let elsewhere = if self.gpu { elsewhere(&runs.traces) } else { Vec::new() };
        // A part of the work is no figure for it.
        let counted = if self.gpu { &runs.launches } else { &runs.whole };
        let none = Vec::new();
        let counted = if elsewhere.is_empty() { counted } else { &none };
        let us = median(counted);
        let mut row = Map::new();
        let mut say = |key: &str, value: Value| row.insert(key.into(), value);
        say("id", json!(job.work.id));
        say("n", json!(job.n));
        say("dtype", json!(job.dtype));
        say("threads", json!(self.threads));
        say("device", json!(if self.gpu { "cuda" } else { "cpu" }));
        say("us", figure(us));
        say("least_us", figure(least(counted)));
        let apart: Vec<f64> = counted.iter().map(|x| (x - us).abs()).collect();
        say("mad_us", figure(median(&apart)));
        say("runs", json!(runs.whole.len()));
        let clock = runs
            .traces
            .iter()
            .flat_map(|t| &t.kernels)
            .find_map(|k| Some(k.meas.as_ref()?.clock.clone()));
        say("clock", json!(clock.unwrap_or_else(|| "monotonic".into())));
        let launches = least(&runs.launches);
        say("launch_us", figure(median(&runs.launches)));
        let estimated = if self.gpu { f64::NAN } else { runs.estimated };
        say("est_us", figure(estimated));
        say("est", figure(estimated / launches));
        say("end_us", figure(median(&runs.whole)));
        say("first_ms", figure(runs.first.unwrap_or(f64::NAN) / 1e3));
        say("first_front_us", figure(runs.front));
        say("second_ms", runs.second.map_or(Value::Null, |us| figure(us / 1e3)));
        say("kernels", json!(runs.count));
        let floor = self.floor(job, bytes, flops);
        say("bytes", json!(bytes));
        say("flops", json!(flops));
        say("gb_s", figure(bytes / us / 1e3));
        say("gflop_s", figure(if flops > 0.0 { flops / us / 1e3 } else { f64::NAN }));
        say("floor_us", figure(floor));
        say("pct", figure(100.0 * floor / us));
        if self.gpu {
            let kernels = || runs.traces.iter().flat_map(|t| &t.kernels);
            let moved =
                |key: &str| -> f64 { runs.traces.iter().filter_map(|t| t.times.get(key)).sum() };
            say("regs", json!(kernels().filter_map(|k| k.regs).max()));
            say("spill", json!(kernels().filter_map(|k| k.spill).max()));
            say("up_bytes", json!(moved("up_bytes")));
            say("down_bytes", json!(moved("down_bytes")));
            say("elsewhere", json!(elsewhere));
        }
        let notices = self.session.core().devices().take_notices();
        let notes: Vec<&String> = job.note.iter().chain(&notices).collect();
        say("notes", json!(notes));
        row
    }

    /// Microseconds that it takes at least; NaN where that is not known.
    fn floor(&self, job: &Job, bytes: f64, flops: f64) -> f64 {
        let took = |amount: f64, rate: &str| {
            self.rates.get(rate).map(|per_second| amount / per_second * 1e6)
        };
        if self.gpu {
            let operations = took(flops, &job.dtype).or_else(|| took(flops, "f32"));
            return took(bytes, "bytes").map_or(f64::NAN, |us| us.max(operations.unwrap_or(0.0)));
        }
        let in_memory = bytes >= IN_CACHE && flops < DENSE * bytes;
        took(bytes, "bytes").filter(|_| in_memory).unwrap_or(f64::NAN)
    }
}

/// Why launches did not run on the GPU.
fn elsewhere(traces: &[Trace]) -> Vec<String> {
    let kernels = traces.iter().flat_map(|t| &t.kernels);
    let others = kernels.filter(|k| k.ran.as_ref().is_none_or(|r| r.device != Wanted::Cuda.name()));
    let why = |k: &aplomb_ground::trace::LaunchRecord| match &k.ran {
        Some(ran) => format!("{} on the {}: {}", k.skeleton, ran.device, ran.why),
        None => format!("{} on the cpu", k.skeleton),
    };
    let mut all: Vec<String> = others.map(why).collect();
    all.dedup();
    if traces.iter().all(|t| t.kernels.is_empty()) {
        all.push("nothing was launched: small arrays are computed at once".into());
    }
    all
}

pub fn least(of: &[f64]) -> f64 {
    of.iter().copied().reduce(f64::min).unwrap_or(f64::NAN)
}

pub fn median(of: &[f64]) -> f64 {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Five digits; null for what is not known.
pub fn figure(x: f64) -> Value {
    let digits = 10f64.powf(4.0 - x.abs().log10().floor());
    let rounded = if x == 0.0 || !digits.is_finite() { x } else { (x * digits).round() / digits };
    if rounded.is_finite() { json!(rounded) } else { Value::Null }
}

/// Bytes a second that copying between arrays beyond the caches reaches, each read and written byte
/// counted.
pub fn copy_rate(threads: usize) -> f64 {
    const EACH: usize = 1 << 24;
    let threads = threads.clamp(1, 16);
    let mut pairs: Vec<(Vec<f64>, Vec<f64>)> =
        (0..threads).map(|_| (vec![1.0; EACH], vec![0.0; EACH])).collect();
    let mut seconds = f64::INFINITY;
    for _ in 0..5 {
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for (from, to) in &mut pairs {
                scope.spawn(|| to.copy_from_slice(from));
            }
        });
        seconds = seconds.min(begun.elapsed().as_secs_f64());
    }
    // What was copied is looked at, so that copying is no work that could be left out.
    let seen: f64 = pairs.iter().filter_map(|(_, to)| to.last()).sum();
    2.0 * 8.0 * EACH as f64 * seen.min(threads as f64) / seconds
}

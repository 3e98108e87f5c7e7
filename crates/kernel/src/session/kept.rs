//! The record of what a statement compiled and ran, kept to be told when somebody asks.
//!
//! An evaluation keeps its graph and switches (`Log`), what was measured and warned of; the trace
//! is made of them by `tell`. A graph's arrays are let go with its statement.

use super::compare::{Again, Side};
use super::naming;
use super::record::{Clock, tell_counted, tell_device};
use aplomb_compiler::pass::{Log, Prices, let_go, tell_text, tell_times};
use aplomb_devices::device::{Compiling, LaunchStats};
use aplomb_ground::error::{Error, OnHost, bytes, count};
use aplomb_ground::limits::Interrupt;
use aplomb_ground::span::first_line;
use aplomb_ground::span::{Place, Span};
use aplomb_ground::trace::{
    Config, Diagnostic, LaunchRecord, NodeRecord, ResultRecord, SourceText, Trace,
};
use aplomb_language::eval::cx::{AT_HAND, SMALL};
use aplomb_language::eval::host::Much;
use aplomb_language::eval::work::Reason;
use aplomb_plans::kir;
use aplomb_plans::plan::From;
use aplomb_values::array::Array;
use aplomb_values::dag::Recorded;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// A warning of the evaluator.
#[derive(Clone)]
pub struct Warning {
    pub code: &'static str,
    /// None: the places beyond those that are told.
    pub place: Option<Place>,
    pub text: String,
    /// The milliseconds of work that it tells of.
    pub ms: Option<f64>,
}

impl Warning {
    /// The code of a text that was long to make.
    const TEXT: &str = "W-display";

    /// Whether it tells of work that gave a value, not of a text of one.
    pub fn is_work(&self) -> bool {
        self.ms.is_some() && self.code != Warning::TEXT
    }

    /// Adds that a text of a statement's value was made; of several at a place, the time of all.
    pub fn of_text(all: &mut Vec<Warning>, place: &Place, length: usize, own: f64) {
        let known =
            all.iter_mut().find(|w| w.code == Warning::TEXT && w.place.as_ref() == Some(place));
        match known.and_then(|w| w.ms.as_mut()) {
            Some(ms) => *ms += own,
            None => {
                let text = format!("the text that is shown has {}", bytes(length as u64));
                let place = Some(place.clone());
                all.push(Warning { code: Warning::TEXT, place, text, ms: Some(own) });
            }
        }
    }
}

/// The work that the evaluator did at a place without a node; without a place, at all others.
pub struct Interpreted {
    place: Option<Place>,
    times: usize,
    elements: usize,
    /// Calls of functions and turns of loops.
    calls: usize,
    /// The part of the world outside that it used.
    world: Option<&'static str>,
    /// The reason why it was no launch, the first time.
    why: String,
    /// Milliseconds.
    own: f64,
}

/// So many places are told.
const PLACES: usize = 16;

impl Interpreted {
    /// Whether more than the world outside had to do with it: a file that is deleted is no work to
    /// tell, and cannot be deleted again.
    pub fn is_work(&self) -> bool {
        self.elements > 0 || self.calls > 0
    }

    pub fn add(all: &mut Vec<Interpreted>, place: &Place, (much, why): (Much, &Reason), own: f64) {
        let (elements, calls, world) = match much {
            Much::Elements(n) => (n, 0, None),
            Much::Calls(n) => (0, n, None),
            Much::World(what) => (0, 0, Some(what)),
        };
        let at = |place: Option<&Place>| all.iter().position(|i| i.place.as_ref() == place);
        let known = at(Some(place)).or_else(|| at(None));
        let Some(known) = known else {
            let place = (all.len() < PLACES).then(|| place.clone());
            let why = why.to_string();
            return all.push(Interpreted { place, times: 1, elements, calls, world, why, own });
        };
        let known = &mut all[known];
        known.times += 1;
        known.elements = known.elements.saturating_add(elements);
        known.calls = known.calls.saturating_add(calls);
        known.world = known.world.or(world);
        known.own += own;
    }

    pub fn warning(&self) -> Warning {
        let short = |p: &Place| first_line(&p.text()).chars().take(40).collect();
        let what = self.place.as_ref().map_or("other places".to_string(), short);
        let (times, all) = match self.times {
            1 => (String::new(), ""),
            n => (format!(", called {n} times"), " in all"),
        };
        let elements = count(self.elements, "element");
        let much = match (self.elements, self.calls, self.world) {
            (0, 0, Some(world)) => format!("it uses {world}"),
            (_, 0, _) => format!("{elements}{all}"),
            (0, calls, _) => format!("{calls} calls and turns of loops{all}"),
            (_, calls, _) => format!("{elements}, {calls} calls and turns of loops{all}"),
        };
        let why = match self.place {
            Some(_) => format!("; {}", self.why),
            None => String::new(),
        };
        let text = format!("{what} ran in the interpreter{times}: {much}{why}");
        let ms = Some(self.own);
        Warning { code: "W-interpreted", place: self.place.clone(), text, ms }
    }
}

/// The device's account of an evaluation's launches.
#[derive(Default)]
pub struct Ran {
    pub stats: Vec<LaunchStats>,
    pub compiling: Compiling,
}

/// The record of an evaluation's run. Whoever tells of times tells it, until somebody wants another
/// run.
#[derive(Default)]
pub struct Run {
    /// The time of each pass; none where the plan was known.
    pub ms: Vec<f64>,
    /// Equal for evaluations of one plan.
    pub number: Option<u64>,
    pub front_ms: f64,
    pub launch_ms: f64,
    pub ran: Ran,
    /// The reason why its values are the host's after all.
    pub on_host: Option<OnHost>,
    /// The addresses of the items that it made, and that the evaluator had made since the run
    /// before it: what reads them reads the statement's own.
    pub made: Vec<usize>,
    /// The launches of its plan.
    pub launches: usize,
    /// Their work by the model, in nanoseconds; 0 where no story is kept.
    pub work_ns: f64,
}

/// An evaluation that a line forced: its graph, and its run; None where launches' own times are not
/// known.
#[derive(Clone)]
pub struct Forced {
    pub recorded: Rc<Recorded>,
    pub run: Option<Rc<Run>>,
    /// The arrays that it starts from are there, so it can run again.
    pub is_whole: bool,
}

/// Bytes of arrays that stay for a story though other statements follow: copying them, should one
/// of those change them, takes as long as starting a launch.
const STAYS: usize = 1 << 16;

impl Forced {
    pub fn new(recorded: Rc<Recorded>) -> Forced {
        Forced { recorded, run: None, is_whole: true }
    }

    /// Other statements follow: arrays that they may change are let go, or each change would copy
    /// all of one.
    pub fn let_go(&mut self) {
        let bytes = |a: &Array| a.len().saturating_mul(a.dtype().size());
        if self.recorded.inputs.iter().map(bytes).fold(0, usize::saturating_add) > STAYS {
            let_go(&mut self.recorded);
            self.is_whole = false;
        }
    }
}

/// A statement that has a story, in figures.
pub struct Story {
    /// The first line and the last that it stands on, from 1.
    pub lines: [usize; 2],
    /// Its text.
    pub text: String,
    /// The launches that it took.
    pub launches: usize,
    /// Their milliseconds.
    pub launch_ms: f64,
    /// Milliseconds of work outside of launches.
    pub outside_ms: f64,
    /// The work of its launches by the model: the same in every run.
    pub work_ns: f64,
    /// The switches it was compiled under; None: nothing was compiled.
    pub config: Option<Config>,
    /// Lines of which it computed something: others than its own where it used what they name.
    pub computes: BTreeSet<usize>,
}

/// An evaluation, with those of one plan at the same places: they are told once.
pub struct Part {
    pub log: Log,
    /// The record of each; at least one.
    pub runs: Vec<Rc<Run>>,
    pub warnings: Vec<Warning>,
    /// By input, whether the statement made it.
    pub own: Vec<bool>,
    /// Whether its decisions are told with the plans of their other ways.
    pub priced: bool,
    /// True where all was recorded, though it be small.
    pub whole: bool,
    /// The lines of the statements that wrote what it computes: a function's text may stand on
    /// others.
    pub lines: BTreeSet<usize>,
    /// Ends a story that takes long to tell.
    pub interrupt: Interrupt,
}

/// One statement.
#[derive(Default)]
pub struct Kept {
    /// The statement's text, where that is not what stands at its place.
    text: Option<String>,
    /// Its place in the text that ran.
    place: Option<Place>,
    pub parts: Vec<Part>,
    /// The evaluations that it forced.
    pub evaluations: usize,
    /// For each plan its parts.
    of: BTreeMap<u64, Vec<usize>>,
    /// The part that the last evaluation joined.
    latest: usize,
    /// The warnings that belong to no evaluation.
    pub warnings: Vec<Warning>,
    pub result: Option<ResultRecord>,
    /// Bytes of the session's arrays when that was there (ACL-25).
    pub used: Option<u64>,
    /// Milliseconds from the statement's beginning to its value.
    pub wall_ms: Option<f64>,
    nodes: usize,
    left_out: usize,
}

/// Nodes of different evaluations that a statement's story keeps.
const LONGEST: usize = 1 << 17;
/// The room of a story, about three quarters of a second's, and what of it evaluations may take to
/// be told: what they leave is for the plans of other ways. A lone evaluation is told, however
/// long.
const ROOM: usize = 48_000;
const TOLD: usize = 28_000;

/// Runs of one plan, and of all plans, that are looked through for what they made.
const LAST: usize = 4;
const LOOKED: usize = 256;

impl Kept {
    pub fn of(statement: &str) -> Kept {
        Kept { text: Some(statement.into()), ..Kept::default() }
    }

    /// The test whether the items at an address were made before one of its evaluations, of those
    /// that are looked through. One that is let go and taken again for another array is the
    /// statement's own still.
    pub fn made(&self, place: usize) -> bool {
        let last = self.parts.iter().rev().flat_map(|part| part.runs.iter().rev().take(LAST));
        last.take(LOOKED).any(|run| run.made.contains(&place))
    }

    /// Has its decisions told with the plans of their other ways, or not.
    pub fn set_priced(&mut self, priced: bool) {
        self.parts.iter_mut().for_each(|part| part.priced = priced);
    }

    /// Makes it that of the statement at a place, or of none.
    pub fn name(&mut self, place: Option<&Place>) {
        (self.text, self.place) = (None, place.cloned());
    }

    /// Whether there is nothing to tell of the statement.
    pub fn is_blank(&self) -> bool {
        let told = self.result.is_some() || self.used.is_some();
        self.evaluations == 0 && self.parts.is_empty() && self.warnings.is_empty() && !told
    }

    /// True where something worked: launches, or the evaluator itself.
    pub fn is_work(&self) -> bool {
        !self.parts.is_empty() || self.warnings.iter().any(Warning::is_work)
    }

    /// Whether there is a statement that it tells of.
    pub fn is_some(&self) -> bool {
        self.text.as_ref().is_some_and(|text| !text.is_empty())
            || self.place.as_ref().is_some_and(|place| !place.span.is_empty())
    }

    /// The statement's place in its text.
    pub fn span(&self) -> Option<Span> {
        self.place.as_ref().map(|place| place.span)
    }

    /// Its inputs get the names that its text has for the arrays that names hold now.
    pub fn name_inputs(&mut self, held: &dyn Fn() -> Vec<(Rc<str>, Array)>) {
        if !self.parts.is_empty() {
            let statement = self.statement();
            naming::name_inputs(&mut self.parts, &statement, &held());
        }
    }

    /// Whether it is of the statement at a place.
    pub fn is_at(&self, place: &Place) -> bool {
        self.place.as_ref() == Some(place)
    }

    /// The statement's text.
    pub fn statement(&self) -> String {
        match (&self.text, &self.place) {
            (Some(text), _) => text.clone(),
            (None, Some(place)) => place.text(),
            (None, None) => String::new(),
        }
    }

    /// The work of its launches by the model, in nanoseconds.
    pub fn work_ns(&self) -> f64 {
        self.parts.iter().map(Part::work_ns).sum()
    }

    /// The figures by which a reader chooses one of many.
    pub fn story(&self) -> Story {
        let runs = || self.parts.iter().flat_map(|part| &part.runs);
        Story {
            lines: self.place.as_ref().map_or([1, 1], Place::lines),
            text: self.statement(),
            launches: runs().map(|run| run.launches).sum(),
            launch_ms: runs().map(|run| run.launch_ms).sum(),
            outside_ms: self.warnings.iter().filter_map(|w| w.ms).sum(),
            work_ns: self.work_ns(),
            config: self.parts.first().map(|part| part.log.config()),
            computes: self.computes(),
        }
    }

    /// Lines of the statement's own source of which its evaluations computed something.
    fn computes(&self) -> BTreeSet<usize> {
        let Some(own) = &self.place else { return BTreeSet::new() };
        let graphs = self.parts.iter().map(|part| &part.log.recorded().dag);
        let places = graphs.flat_map(|dag| {
            dag.ids().filter(|at| !dag.node(*at).is_given()).map(|at| &dag.info(at).meta.place)
        });
        let text = &own.source.text;
        let here = places.flatten().filter(|p| Arc::ptr_eq(&p.source.text, text));
        let starts: BTreeSet<u32> = here.map(|place| place.span.start).collect();
        let breaks = text.chars().enumerate().filter(|(_, c)| *c == '\n');
        let (mut breaks, mut line) = (breaks.map(|(at, _)| at as u32).peekable(), 1);
        let line_of = |start: u32| {
            while breaks.next_if(|at| *at < start).is_some() {
                line += 1;
            }
            line
        };
        let by = self.parts.iter().flat_map(|part| &part.lines).copied();
        starts.into_iter().map(line_of).chain(by).collect()
    }

    /// Beyond what a story holds, evaluations are only counted.
    pub fn push(&mut self, mut part: Part) {
        self.evaluations += 1;
        let number = part.runs.last().and_then(|run| run.number);
        let alike = number.and_then(|number| {
            let known = self.of.get(&number)?.iter().copied();
            known.rev().find(|k| self.parts[*k].is_like(&part))
        });
        if let Some(known) = alike {
            self.latest = known;
            let new = |w: &Warning| self.parts[known].warnings.iter().all(|k| k.text != w.text);
            part.warnings.retain(new);
            self.parts[known].warnings.append(&mut part.warnings);
            return self.parts[known].runs.append(&mut part.runs);
        }
        self.latest = self.parts.len();
        if self.nodes >= LONGEST {
            self.left_out += 1;
            return;
        }
        self.nodes += part.log.nodes();
        number.into_iter().for_each(|n| self.of.entry(n).or_default().push(self.latest));
        self.parts.push(part);
    }

    /// The last evaluation is no part of the story, if there are more than these.
    pub fn forget_after(&mut self, evaluations: usize) {
        if self.evaluations <= evaluations {
            return;
        }
        self.evaluations = evaluations;
        let Some(part) = self.parts.get_mut(self.latest) else {
            self.left_out -= 1;
            return;
        };
        part.runs.pop();
        // One that stands alone joined last, so it is the last.
        if part.runs.is_empty() {
            self.nodes -= part.log.nodes();
            self.parts.pop();
            self.of.values_mut().for_each(|all| all.retain(|k| *k != self.latest));
        }
    }

    /// The statement is over: arrays that only its story would hold are let go.
    pub fn let_go(&mut self) {
        self.parts.iter_mut().for_each(|p| p.log.let_go());
    }

    /// The trace. Of what would take longer than a second those evaluations are told that have
    /// most to do. What it takes is counted and never timed, so a program has one story.
    pub fn tell(&self) -> Trace {
        let told = self.told();
        let spent: usize = told.iter().map(|part| part.log.room()).sum();
        let mut prices = Prices::of(ROOM.saturating_sub(spent));
        let mut parts = told.iter().map(|part| part.tell(&mut prices));
        let statement = self.statement();
        let mut trace = parts.next().unwrap_or_else(|| Trace::of(&statement));
        trace.statement = statement;
        parts.for_each(|part| trace.append(part));
        trace.diagnostics.extend(at_once(&trace).filter(|_| told.iter().all(|part| part.whole)));
        if prices.missing > 0 {
            let text = format!(
                "{} have no price: to plan their other ways, too, would take longer than a second",
                count(prices.missing, "decision")
            );
            trace.diagnostics.push(Diagnostic {
                code: "W-unpriced".into(),
                text,
                ..Diagnostic::default()
            });
        }
        trace.segments.iter_mut().enumerate().for_each(|(k, s)| s.id = k as u32);
        tell_apart(&mut trace);
        trace.count_lines();
        trace.place = self.place.as_ref().map(|place| span(place, &mut trace.sources));
        for w in &self.warnings {
            let told = warning(w, &mut trace.sources);
            trace.diagnostics.push(told);
        }
        tell_beside(&mut trace);
        trace.result.clone_from(&self.result);
        let used = self.used.map(|bytes| ("used_bytes".to_string(), bytes as f64));
        trace.times.extend(used);
        trace.times.extend(self.wall_ms.map(|ms| ("wall_ms".to_string(), ms)));
        let in_story: usize = told.iter().map(|part| part.runs.len()).sum();
        let all = self.parts.iter().map(|part| part.runs.len()).sum::<usize>() + self.left_out;
        if in_story < all {
            let text = format!(
                "told in part: {in_story} of {all} evaluations, those with most to do; all would \
                 take longer than a second"
            );
            trace.diagnostics.push(Diagnostic {
                code: "W-long".into(),
                text,
                ..Diagnostic::default()
            });
        }
        trace
    }

    /// The parts that are told, in their order.
    fn told(&self) -> Vec<&Part> {
        let mut by_work: Vec<usize> = (0..self.parts.len()).collect();
        if self.parts.iter().map(|part| part.log.room()).sum::<usize>() > TOLD {
            let work: Vec<f64> = self.parts.iter().map(Part::work_ns).collect();
            by_work.sort_by(|a, b| work[*b].total_cmp(&work[*a]));
            let mut room = 0;
            by_work.retain(|k| {
                let first = room == 0;
                room += self.parts[*k].log.room();
                first || room <= TOLD
            });
            by_work.sort();
        }
        by_work.into_iter().map(|k| &self.parts[k]).collect()
    }

    /// A side of a comparison.
    pub fn side(&self) -> Side {
        let again = |part: &&Part| {
            let (recorded, options) = part.log.evaluation();
            Again { recorded, options }
        };
        Side { trace: self.tell(), evaluations: self.told().iter().map(again).collect() }
    }
}

impl Part {
    /// The work of its launches by the model, in nanoseconds.
    fn work_ns(&self) -> f64 {
        self.runs.iter().map(|run| run.work_ns).sum()
    }

    /// Whether another of the same plan has its nodes at the same places.
    fn is_like(&self, other: &Part) -> bool {
        let (a, b) = (self.log.recorded(), other.log.recorded());
        let same = |x: &Option<Place>, y: &Option<Place>| match (x, y) {
            (Some(x), Some(y)) => x.span == y.span && Arc::ptr_eq(&x.source.text, &y.source.text),
            (x, y) => x.is_none() && y.is_none(),
        };
        let info = |at| (a.dag.info(at), b.dag.info(at));
        let mut nodes = a.dag.ids().map(info);
        let last = |part: &Part| part.runs.last().and_then(|run| run.on_host);
        a.why == b.why
            && last(self) == last(other)
            && nodes.all(|(x, y)| x.name == y.name && same(&x.meta.place, &y.meta.place))
    }

    fn tell(&self, prices: &mut Prices) -> Trace {
        let prices = self.priced.then_some(prices);
        let (mut trace, plan) = match self.log.tell(&mut Clock::new(&self.interrupt), prices) {
            Ok(told) => told,
            Err(e) => return untold(&e),
        };
        let Some((run, others)) = self.runs.split_first() else { return trace };
        tell_device(&mut trace, &run.ran.stats, &run.ran.compiling);
        for (buffer, told) in plan.buffers.iter().zip(&mut trace.buffers) {
            let own = |k: u32| self.own.get(k as usize) == Some(&true);
            told.own = matches!(buffer.from, From::Input(k) if own(k));
        }
        tell_counted(&mut trace, &plan, &self.log.recorded().inputs);
        let again = run.on_host.map(|why| match why {
            OnHost::Complex => (
                "W-complex",
                "a result of these launches is no real number: the operations ran again one by \
                 one, as complex \
                 numbers, on the host",
            ),
            OnHost::Unending => (
                "W-rounds",
                "a loop of these launches takes more rounds than a launch may: the operations ran \
                 again one by one \
                 on the host, where they can be stopped",
            ),
        });
        if let Some((code, text)) = again {
            let (code, text) = (code.into(), text.into());
            trace.diagnostics.push(Diagnostic { code, text, ..Diagnostic::default() });
        }
        // The text that ran is another one where a tuner chose it.
        let chosen = run.ran.stats.iter().filter_map(|s| Some((s.launch, s.gpu?.tuning?)));
        for (k, tuning) in chosen {
            if let (Some(launch), Some(kernel)) = (plan.launches.get(k), trace.kernels.get_mut(k))
                && let Ok(code) = kir::tuned(&plan, launch, k, tuning)
            {
                tell_text(kernel, &plan, k, &code);
            }
        }
        for stat in &run.ran.stats {
            if let Some(kernel) = trace.kernels.get_mut(stat.launch) {
                tell_times(kernel, &stat.timed);
            }
        }
        let warnings: Vec<_> =
            self.warnings.iter().map(|w| warning(w, &mut trace.sources)).collect();
        trace.diagnostics.splice(0..0, warnings);
        for stat in others.iter().flat_map(|run| &run.ran.stats) {
            if let Some(meas) = trace.kernels.get_mut(stat.launch).and_then(|k| k.meas.as_mut()) {
                meas.us = ((meas.us + stat.micros) * 10.0).round() / 10.0;
                meas.n += stat.runs;
            }
        }
        let alike = others.len() as u32;
        trace.segments.iter_mut().for_each(|s| s.alike = alike);
        trace.kernels.iter_mut().for_each(|k| k.alike = alike);
        let sum = |of: fn(&Run) -> f64| self.runs.iter().map(|run| of(run)).sum::<f64>();
        trace.times.insert("front_ms".into(), sum(|run| run.front_ms));
        trace.times.insert("launch_ms".into(), sum(|run| run.launch_ms));
        trace
    }
}

/// The trace in the place of a story that cannot be told: what compiled once compiles again, so it
/// is a defect.
fn untold(e: &Error) -> Trace {
    let text = format!("this evaluation cannot be told: {}", e.parts().says);
    let diagnostics = vec![Diagnostic { code: "W-untold".into(), text, ..Diagnostic::default() }];
    Trace { diagnostics, ..Trace::of("") }
}

/// Launches of one source text on several lines get their lines: `k3 P+.×Q:12`.
fn tell_apart(trace: &mut Trace) {
    let line = |trace: &Trace, k: usize| -> Option<(u32, usize)> {
        let launch = &trace.kernels[k];
        let of = launch.out.last().and_then(|b| trace.buffers.get(*b as usize))?;
        let [source, start, _] = *trace.nodes.get(of.node as usize)?.span.first()?;
        let text = &trace.sources.iter().find(|s| s.id == source)?.text;
        let before = text.chars().take(start as usize);
        Some((source, 1 + before.filter(|c| *c == '\n').count()))
    };
    let mut of: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (k, launch) in trace.kernels.iter().enumerate() {
        if let Some((_, text)) = launch.name.split_once(' ') {
            of.entry(text.into()).or_default().push(k);
        }
    }
    for alike in of.into_values().filter(|all| all.len() > 1) {
        let lines: Vec<_> = alike.iter().map(|k| line(trace, *k)).collect();
        if lines.iter().all(|l| *l == lines[0]) {
            continue;
        }
        for (k, line) in alike.iter().zip(lines) {
            line.into_iter().for_each(|(_, n)| trace.kernels[*k].name += &format!(":{n}"));
        }
    }
}

/// The launches that a run makes only while somebody looks on: of so few elements, made of as few,
/// all is computed where it stands.
fn at_once(trace: &Trace) -> Option<Diagnostic> {
    let size = |n: &NodeRecord| n.shape.iter().product::<usize>();
    let mut small: Vec<bool> = Vec::new();
    for n in &trace.nodes {
        let most = match n.kind.as_str() {
            "input" | "const" | "map" | "reduce" | "transform" | "gather" | "cat" => AT_HAND,
            _ => SMALL,
        };
        let all = |of: &u32| {
            let few = trace.nodes.get(*of as usize).is_some_and(|of| size(of) <= most);
            few && small.get(*of as usize).is_some_and(|small| *small)
        };
        small.push(size(n) <= most && n.inputs.iter().all(all));
    }
    let is_small = |n: &u32| small.get(*n as usize).is_some_and(|small| *small);
    let of = |k: &&LaunchRecord| k.body.iter().all(is_small);
    let own: Vec<u32> = trace.kernels.iter().filter(of).map(|k| k.id).collect();
    let names = || {
        let named: Vec<String> = own.iter().take(NAMED).map(|k| format!("k{k}")).collect();
        let more = own.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", named.join(" "))
    };
    let which = match own.len() {
        0 => return None,
        n if n == trace.kernels.len() => "no launch of this".into(),
        _ => format!("no launches of {}", names()),
    };
    let text = format!(
        "a run that nobody looks at makes {which}: functions of items, folds, moves and places \
         of at most {AT_HAND} elements, and all else of at most {SMALL}, are computed where they \
         stand"
    );
    let place = |k: &LaunchRecord| {
        let spans = |n: &u32| trace.nodes.get(*n as usize)?.span.first().copied();
        k.body.iter().rev().find_map(spans)
    };
    let span = trace.kernels.iter().filter(of).find_map(place);
    Some(Diagnostic { code: "W-at-once".into(), span, text, ms: None })
}

/// The launches that are named.
const NAMED: usize = 4;

/// So many launches are named beside the interpreter's work.
const BESIDE: usize = 3;

/// Work of the interpreter at a place of which launches computed a part names those.
fn tell_beside(trace: &mut Trace) {
    let Trace { diagnostics, kernels, nodes, .. } = trace;
    let within = |node: &u32, [source, start, end]: [u32; 3]| {
        let inside = |s: &[u32; 3]| s[0] == source && start <= s[1] && s[2] <= end;
        nodes.get(*node as usize).is_some_and(|n| n.span.iter().any(inside))
    };
    for d in diagnostics.iter_mut().filter(|d| d.code == "W-interpreted") {
        let own = kernels
            .iter()
            .filter(|k| d.span.is_some_and(|span| k.body.iter().any(|node| within(node, span))));
        let all: Vec<String> = own.map(|k| format!("k{}", k.id)).collect();
        let named = all[..all.len().min(BESIDE)].join(" ");
        d.text += &match all.len() {
            0 => String::new(),
            1 => format!("; the launch of it: {named}"),
            n if n > BESIDE => format!("; launches of it: {named} and {} more", n - BESIDE),
            _ => format!("; launches of it: {named}"),
        };
    }
}

/// A warning as the trace has it: its place among the sources.
fn warning(w: &Warning, sources: &mut Vec<SourceText>) -> Diagnostic {
    let Warning { code, place, text, ms } = w;
    let span = place.as_ref().map(|place| span(place, sources));
    Diagnostic { code: (*code).into(), span, text: text.clone(), ms: *ms }
}

/// A place as the trace has it; its text joins the sources.
fn span(place: &Place, sources: &mut Vec<SourceText>) -> [u32; 3] {
    let (name, alone) = (&place.source.name, place.source.alone());
    let known = sources.iter().position(|s| s.name == *name && s.text == alone);
    let source = known.unwrap_or_else(|| {
        sources.push(SourceText { id: sources.len() as u32, name: name.clone(), text: alone });
        sources.len() - 1
    });
    [source as u32, place.span.start, place.span.end]
}

/// Stories of statements, told and gone.
pub fn told(kept: Vec<Kept>) -> Vec<Trace> {
    kept.iter().map(Kept::tell).collect()
}

//! The clock of a run by source line.
//!
//! The evaluator says which statement begins and when functions are called and left; the world says
//! what an evaluation took. Time that goes by is the host's, of the statement that began last,
//! without what evaluations took meanwhile. An evaluation's launches are told at the lines where
//! what they compute was written, compiling and waiting at that of its root. So what lines have
//! together is the wall time, but for what lies before the first statement and behind the last,
//! which is told beside them.

use super::kept::Run;
use aplomb_ground::profile::{Line, OUTSIDE, Profile, SCHEMA, Stack};
use aplomb_ground::span::Place;
use aplomb_plans::plan::{Launch, Plan};
use aplomb_values::dag::{NodeId, Recorded};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

/// The version of the schema.
const VERSION: &str = "1.1";
/// Calls that a path holds; deeper ones are told at its end.
const DEEPEST: usize = 48;

/// A call path's last line, and the time that was spent there.
struct At {
    /// The path of the caller; the first has none.
    above: usize,
    line: usize,
    host_ms: f64,
    /// Compiling, launches, waiting.
    evaluated: [f64; 3],
}

/// The run so far.
pub struct Recorder {
    begun: Instant,
    /// The time up to which all is told.
    since: Instant,
    lines: Vec<Line>,
    /// Lines by source and number. A source is known by its text's address, which it keeps alive.
    known: BTreeMap<(usize, usize), usize>,
    sources: Vec<Source>,
    paths: Vec<At>,
    below: BTreeMap<(usize, usize), usize>,
    /// The path of the statement that began last.
    now: usize,
    /// The paths of those that wait for what they called, the innermost last.
    callers: Vec<usize>,
}

/// A text in lines.
struct Source {
    text: Arc<str>,
    name: String,
    /// The code points before each line, and the line.
    lines: Vec<(u32, String)>,
}

impl Recorder {
    /// A run that begins.
    pub fn new() -> Recorder {
        let now = Instant::now();
        let root = At { above: 0, line: usize::MAX, host_ms: 0.0, evaluated: [0.0; 3] };
        Recorder {
            begun: now,
            since: now,
            lines: Vec::new(),
            known: BTreeMap::new(),
            sources: Vec::new(),
            paths: vec![root],
            below: BTreeMap::new(),
            now: 0,
            callers: Vec::new(),
        }
    }

    /// A statement begins.
    pub fn begins(&mut self, place: &Place) {
        let line = self.line(place);
        self.lines[line].calls += 1;
        self.stands_at(line);
    }

    /// A command begins; the statement that it may run counts as a call.
    pub fn commands(&mut self, place: &Place) {
        let line = self.line(place);
        self.stands_at(line);
    }

    fn stands_at(&mut self, line: usize) {
        self.passed();
        // The statement before it stood beside it, not around it.
        self.now = match self.callers.last() {
            Some(_) if self.callers.len() > DEEPEST => return,
            Some(caller) => self.path(*caller, line),
            None => self.path(0, line),
        };
    }

    /// A function is called.
    pub fn calls(&mut self) {
        self.callers.push(self.now);
    }

    /// It is left.
    pub fn returns(&mut self) {
        self.passed();
        if let Some(caller) = self.callers.pop() {
            self.now = caller;
        }
    }

    /// An evaluation ran; its time is none of the host's.
    pub fn ran(&mut self, recorded: &Recorded, plan: &Plan, run: &Run) {
        let evaluated = run.front_ms + run.launch_ms;
        self.passed();
        let inside: f64 = run.ran.stats.iter().map(|s| s.micros / 1e3).sum();
        let inside = inside.min(run.launch_ms);
        let path = &mut self.paths[self.now];
        path.host_ms -= evaluated;
        let times = [run.front_ms, inside, run.launch_ms - inside];
        path.evaluated.iter_mut().zip(times).for_each(|(sum, ms)| *sum += ms);
        let here = path.line;
        if let Some(line) = self.lines.get_mut(here) {
            line.host_ms -= evaluated;
        }
        let root = recorded.roots.last().and_then(|r| recorded.dag.info(*r).meta.place.clone());
        let root = root.map_or(here, |place| self.line(&place));
        if let Some(line) = self.lines.get_mut(root) {
            line.compile_ms += run.front_ms;
            line.wait_ms += run.launch_ms - inside;
        }
        for (k, launch) in plan.launches.iter().enumerate() {
            let at = written(recorded, launch).map_or(root, |place| self.line(&place));
            let us: f64 = run.ran.stats.iter().filter(|s| s.launch == k).map(|s| s.micros).sum();
            let traffic = plan.traffic(launch);
            if let Some(line) = self.lines.get_mut(at) {
                line.launches += 1;
                line.launch_ms += us / 1e3;
                line.bytes += traffic.read.saturating_add(traffic.written);
            }
        }
    }

    /// The run is over.
    pub fn told(mut self) -> Profile {
        self.passed();
        let wall_ms = self.begun.elapsed().as_secs_f64() * 1e3;
        let mut stacks = Vec::new();
        for (k, at) in self.paths.iter().enumerate().skip(1) {
            let path = self.names(k);
            let own = [("", at.host_ms)];
            let parts = ["compiling", "launches", "waiting"].into_iter().zip(at.evaluated);
            for (what, ms) in own.into_iter().chain(parts).filter(|(_, ms)| *ms > 0.0) {
                let mut path = path.clone();
                path.extend(Some(what.to_string()).filter(|what| !what.is_empty()));
                stacks.push(Stack { path, ms: told_ms(ms) });
            }
        }
        let mut lines = self.lines;
        for line in &mut lines {
            line.host_ms = line.host_ms.max(0.0);
            line.share = told_ms(line.total_ms() / wall_ms.max(1e-9));
            for ms in
                [&mut line.host_ms, &mut line.compile_ms, &mut line.launch_ms, &mut line.wait_ms]
            {
                *ms = told_ms(*ms);
            }
        }
        lines.sort_by(|a, b| b.total_ms().total_cmp(&a.total_ms()));
        let outside_ms = told_ms(self.paths[0].host_ms.max(0.0));
        stacks.push(Stack { path: vec![OUTSIDE.into()], ms: outside_ms });
        Profile {
            schema: SCHEMA.into(),
            version: VERSION.into(),
            wall_ms: told_ms(wall_ms),
            outside_ms,
            lines,
            stacks,
        }
    }

    /// The time since something was told is the host's, where it is now.
    fn passed(&mut self) {
        let now = Instant::now();
        let ms = (now - self.since).as_secs_f64() * 1e3;
        self.since = now;
        let path = &mut self.paths[self.now];
        path.host_ms += ms;
        let line = path.line;
        if let Some(line) = self.lines.get_mut(line) {
            line.host_ms += ms;
        }
    }

    fn path(&mut self, above: usize, line: usize) -> usize {
        let paths = &mut self.paths;
        *self.below.entry((above, line)).or_insert_with(|| {
            paths.push(At { above, line, host_ms: 0.0, evaluated: [0.0; 3] });
            paths.len() - 1
        })
    }

    fn names(&self, mut at: usize) -> Vec<String> {
        let mut path = Vec::new();
        while at != 0 {
            path.push(self.lines[self.paths[at].line].at.clone());
            at = self.paths[at].above;
        }
        path.reverse();
        path
    }

    /// The line of a place, known or new.
    fn line(&mut self, place: &Place) -> usize {
        let own = |s: &Source| Arc::ptr_eq(&s.text, &place.source.text);
        let source = match self.sources.iter().position(own) {
            Some(known) => known,
            None => {
                self.sources.push(Source::of(place));
                self.sources.len() - 1
            }
        };
        let Source { name, lines: texts, .. } = &self.sources[source];
        let number = texts.partition_point(|(start, _)| *start <= place.span.start);
        let lines = &mut self.lines;
        *self.known.entry((source, number)).or_insert_with(|| {
            // The first begins at 0, so one begins before every place.
            let text = texts[number - 1].1.clone();
            lines.push(Line { at: format!("{name}:{number}"), text, ..Line::default() });
            lines.len() - 1
        })
    }
}

impl Source {
    fn of(place: &Place) -> Source {
        let text = place.source.text.clone();
        let mut start = 0;
        let line = |line: &str| {
            let own = start;
            start += line.chars().count() as u32 + 1;
            (own, line.trim().to_string())
        };
        let lines = text.split('\n').map(line).collect();
        Source { lines, name: place.source.name.clone(), text }
    }
}

/// The place where the last was written of what a launch computes. What rules made has its place in
/// the order of errors from what it was made of.
fn written(recorded: &Recorded, launch: &Launch) -> Option<Place> {
    let dag = &recorded.dag;
    let sites: BTreeSet<u32> = launch.sites().collect();
    // Leaves have no place in that order.
    let computes = |at: &NodeId| !dag.node(*at).inputs().is_empty();
    let by_site = dag.ids().filter(|at| computes(at) && sites.contains(&dag.info(*at).site));
    let own = launch.nodes.iter().copied().filter(|node| node.index() < dag.len());
    let last = by_site.max_by_key(|at| dag.info(*at).site).or_else(|| own.max())?;
    dag.info(last).meta.place.clone()
}

/// Microseconds are as much as anybody reads.
fn told_ms(ms: f64) -> f64 {
    (ms * 1e3).round() / 1e3
}

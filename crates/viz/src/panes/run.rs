//! Runs of the program: what one came to, and the ledger that compares them.

use super::Pane;
use super::list::List;
use super::look::Look;
use super::view::{Ask, View};
use crate::figures::FIGURES;
use aplomb_ground::error::{bytes, time};
use aplomb_ground::protocol::{Failure, Switches};
use aplomb_ground::span::first_line;
use aplomb_ground::trace::{ResultRecord, Segment, Trace};
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::Line;

/// The state in which the panes open.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The program.
    pub text: String,
    /// The name by which spans and messages call the text.
    pub name: String,
    /// The pipeline, and what is off in it.
    pub switches: Switches,
    /// Colours and marks.
    pub look: Look,
    /// Whether the first run may write files.
    pub effects: bool,
    /// Texts come from another front end: they are shown, and nothing is written here.
    pub follows: bool,
}

/// One run: its traces, what it printed, how it failed.
#[derive(Default)]
pub struct Run {
    /// Counts runs, so that pictures know theirs.
    pub number: u64,
    /// The name by which spans and messages call the text.
    pub name: String,
    pub text: String,
    pub switches: Switches,
    /// Whether its files were written.
    pub effects: bool,
    pub traces: Vec<Trace>,
    pub output: String,
    pub failure: Option<Failure>,
    /// Effects that were left out: `write prices.csv`.
    pub withheld: Vec<String>,
    /// The traces are those of the text before, since this one gave none.
    pub stale: bool,
    /// Trace and segment of each evaluation.
    pub(super) stories: Vec<(usize, usize)>,
}

impl Run {
    /// After the last event.
    pub fn close(&mut self) {
        let of =
            |(k, t): (usize, &Trace)| (0..t.segments.len()).map(|s| (k, s)).collect::<Vec<_>>();
        self.stories =
            self.traces.iter().enumerate().filter(|(_, t)| is_whole(t)).flat_map(of).collect();
    }

    pub fn stories(&self) -> usize {
        self.stories.len()
    }

    pub fn story(&self, k: usize) -> Option<(&Trace, &Segment)> {
        let (trace, segment) = self.stories.get(k)?;
        let trace = self.traces.get(*trace)?;
        Some((trace, trace.segments.get(*segment)?))
    }

    /// Whether a trace was made under the switches of this run: its program may switch by itself.
    pub(super) fn owns(&self, trace: &Trace) -> bool {
        trace.config.is(&self.switches.preset, &self.switches.off)
    }

    /// The evaluation to begin with: the largest of the statement whose launches have most to do by
    /// the model, of those that were compiled under this run's switches; the later of equals.
    pub fn best(&self) -> usize {
        let work = |s: &&(usize, usize)| -> f64 {
            let trace = self.traces.get(s.0);
            trace.map_or(0.0, |t| t.kernels.iter().map(|k| k.est.cpu_us * k.times() as f64).sum())
        };
        let owns = |s: &&(usize, usize)| self.traces.get(s.0).is_some_and(|t| self.owns(t));
        let most = |a: &&(usize, usize), b: &&(usize, usize)| work(a).total_cmp(&work(b));
        let own = self.stories.iter().filter(owns).max_by(most);
        let of = own.or(self.stories.iter().max_by(most)).map(|s| s.0);
        let own = self.stories.iter().enumerate().filter(|(_, s)| Some(s.0) == of);
        own.max_by_key(|(k, _)| self.story(*k).map(|(_, s)| s.nodes[1] - s.nodes[0]))
            .map_or(0, |(k, _)| k)
    }

    /// The row of this run in the table: what ran under other switches than the row names is not
    /// counted in it.
    pub fn row(&self) -> Row {
        let any = self.traces.iter().any(|t| self.owns(t));
        let counted = || self.traces.iter().filter(move |t| !any || self.owns(t));
        let sum = |name: &str| {
            let figure = FIGURES.iter().find(|f| f.name == name);
            figure.map_or(0, |f| counted().map(f.of).fold(0, u64::saturating_add))
        };
        let ran = |t: &Trace| {
            t.kernels.iter().filter_map(|k| k.meas.as_ref()).fold(0.0, |us, m| us + m.us)
        };
        Row {
            number: self.number,
            name: self.name.clone(),
            text: self.text.clone(),
            switches: self.switches.clone(),
            launches: sum("launches"),
            bytes: sum("bytes"),
            us: counted().map(ran).fold(0.0, |all, us| all + us),
            effects: self.effects,
            withholds: !self.withheld.is_empty(),
            failed: self.failure.as_ref().map(|f| f.name.clone()),
            results: self.traces.iter().map(|t| t.result.clone()).collect(),
        }
    }
}

/// Whether the ranges and references of a trace lie inside of it: one may come from another
/// process.
fn is_whole(t: &Trace) -> bool {
    let range = |r: [u32; 2], n: usize| r[0] <= r[1] && r[1] as usize <= n;
    let nodes = t.nodes.len() as u32;
    let known = |ids: &[u32]| ids.iter().all(|id| *id < nodes);
    t.segments.iter().all(|s| {
        let inside = |ids: &[u32]| ids.iter().all(|id| s.nodes[0] <= *id && *id < s.nodes[1]);
        range(s.nodes, t.nodes.len())
            && range(s.passes, t.passes.len())
            && range(s.decisions, t.decisions.len())
            && range(s.kernels, t.kernels.len())
            && range(s.buffers, t.buffers.len())
            && t.passes[s.passes[0] as usize..s.passes[1] as usize].iter().all(|p| inside(&p.roots))
            && t.nodes[s.nodes[0] as usize..s.nodes[1] as usize]
                .iter()
                .all(|n| inside(&n.inputs) && n.inputs.iter().all(|a| *a < n.id))
    }) && t.nodes.iter().enumerate().all(|(k, n)| n.id as usize == k)
        && t.decisions.iter().all(|d| d.node < nodes && (d.pass as usize) < t.passes.len())
        && t.buffers.iter().enumerate().all(|(k, b)| b.node < nodes && b.id as usize == k)
        && t.kernels.iter().all(|k| {
            known(&k.body) && k.out.iter().chain(&k.inputs).all(|b| (*b as usize) < t.buffers.len())
        })
}

/// A line of the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Of the run.
    pub number: u64,
    /// The name of the run in the ledger.
    pub name: String,
    /// The program that ran.
    pub text: String,
    /// The switches under which it ran.
    pub switches: Switches,
    /// Launches of all its evaluations.
    pub launches: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Measured, all launches.
    pub us: f64,
    /// Its files and commands were done: other runs leave them out.
    pub effects: bool,
    /// It left some out.
    pub withholds: bool,
    /// The error that ended it, if one did.
    pub failed: Option<String>,
    /// The values of its statements, by their hashes.
    pub results: Vec<Option<ResultRecord>>,
}

impl Row {
    /// The run that its values are held against: the first of the same text. What a program writes
    /// it may read when it runs again, so where one does, only runs that left it out are compared,
    /// and with those since it was done last.
    fn compared<'a>(&'a self, all: &'a [Row]) -> &'a Row {
        let alike = |r: &&Row| (&r.name, &r.text) == (&self.name, &self.text);
        let own = || all.iter().filter(alike);
        let writes = own().any(|r| r.withholds);
        let done = own().filter(|r| r.effects && r.number < self.number).map(|r| r.number).max();
        let since = |r: &&Row| !self.effects && !r.effects && Some(r.number) > done;
        own().find(|r| !writes || since(r)).unwrap_or(self)
    }
}

/// `acc2013 without cse`; `all` where nothing was chosen.
pub fn spelled(switches: &Switches) -> String {
    let preset = if switches.preset.is_empty() { "all" } else { &switches.preset };
    if switches.off.is_empty() {
        preset.into()
    } else {
        format!("{preset} without {}", switches.off.join(" "))
    }
}

#[derive(Default)]
pub struct Ledger(List);

/// The rows as they stand: another front end's cells are many, so the last comes first.
fn order(view: &View) -> impl Iterator<Item = usize> {
    let (n, back) = (view.ledger.len(), view.follows);
    (0..n).map(move |k| if back { n - 1 - k } else { k })
}

impl Pane for Ledger {
    fn title(&self, view: &View) -> String {
        // The graph beside it is one statement's.
        match view.run.traces.len() {
            _ if view.busy => "running …".into(),
            0 | 1 => String::new(),
            n => format!("all {n} statements together"),
        }
    }

    fn lines(&self, view: &View, _width: usize) -> Vec<Line<'static>> {
        if view.ledger.is_empty() {
            return vec![Line::raw(if view.follows {
                "no cell has run yet"
            } else {
                "no run yet"
            })];
        }
        let mut head =
            ["", "launches", "moved", "took", "result", "pipeline"].map(String::from).to_vec();
        head.extend(view.follows.then(|| "text".into()));
        let row = |row: &Row| {
            let first = row.compared(view.ledger);
            let same = row.results == first.results && row.failed == first.failed;
            let result = match &row.failed {
                Some(name) if same => format!("{name} {}", view.look.pick("✓", "ok")),
                Some(name) => name.clone(),
                None if same => format!("equal {}", view.look.pick("✓", "ok")),
                None => view.look.pick("differs ✗", "differs!").into(),
            };
            let here = if view.follows {
                row.number == view.run.number
            } else {
                &row.switches == view.switches
            };
            let mark = view.look.mark(here);
            let cells =
                [mark.into(), row.launches.to_string(), bytes(row.bytes), time(row.us), result];
            let text = format!("{}  {}", row.name, first_line(&row.text));
            cells
                .into_iter()
                .chain([spelled(&row.switches)])
                .chain(view.follows.then_some(text))
                .collect()
        };
        let rows: Vec<Vec<String>> =
            std::iter::once(head).chain(order(view).map(|k| row(&view.ledger[k]))).collect();
        let text = crate::tables::grid(&rows, &[0, 4, 5, 6]);
        text.lines().map(|l| Line::raw(l.to_string())).collect()
    }

    fn list(&mut self) -> &mut List {
        &mut self.0
    }

    fn key(&mut self, key: KeyEvent, view: &View) -> Option<Ask> {
        if matches!(key.code, KeyCode::Enter | KeyCode::Char(' ')) {
            return self.0.at.checked_sub(1).and_then(|at| order(view).nth(at)).map(Ask::Again);
        }
        self.0.key(key, view.ledger.len() + 1).then_some(Ask::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u64, effects: bool, sum: &str) -> Row {
        let (sha, shape, dtype) = (sum.into(), Vec::new(), "f64".into());
        Row {
            number,
            name: "p".into(),
            text: "n".into(),
            switches: Switches { preset: "all".into(), off: Vec::new() },
            launches: 1,
            bytes: 8,
            us: 1.0,
            effects,
            withholds: !effects,
            failed: None,
            results: vec![Some(ResultRecord { sha, shape, dtype })],
        }
    }

    #[test]
    fn a_program_that_reads_what_it_wrote_is_compared_from_one_state() {
        let all = [row(1, true, "a"), row(2, false, "b"), row(3, false, "b"), row(4, true, "b")];
        let later = [row(5, false, "c"), row(6, false, "d")];
        let all: Vec<Row> = all.into_iter().chain(later).collect();
        let of: Vec<u64> = all.iter().map(|r| r.compared(&all).number).collect();
        assert_eq!(of, [1, 2, 2, 4, 5, 5]);
        // One that writes nothing has one state.
        let plain: Vec<Row> = all.into_iter().map(|r| Row { withholds: false, ..r }).collect();
        assert!(plain.iter().all(|r| r.compared(&plain).number == 1));
    }
}

//! Two stories side by side, of runs that took turns: what is cold for one is not left to the
//! other.
//!
//! Each side runs so often that the spread of its runs is known; the least is its time.

use super::about::computed;
use super::kept::Run;
use super::world::World;
use super::{Last, Session};
use aplomb_compiler::pass::Options;
use aplomb_ground::error::{Error, domain, value};
use aplomb_ground::protocol::Sink;
use aplomb_ground::trace::{Segment, Trace};
use aplomb_values::dag::Recorded;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// So many runs of each side are made, and none begins later than that.
const ROUNDS: usize = 7;
const LONG: Duration = Duration::from_millis(700);

/// An evaluation that a story tells, to be run again.
pub(super) struct Again {
    pub recorded: Rc<Recorded>,
    pub options: Options,
}

/// A statement that ran, and what it takes to run its evaluations again.
pub struct Side {
    pub(super) trace: Trace,
    pub(super) evaluations: Vec<Again>,
}

impl Session {
    /// Two stories to compare: the last line under the switches it ran with and under those of now,
    /// where these differ; otherwise the last two lines, each under its own. Errors: there are not
    /// so many lines.
    pub fn traces_to_compare(&mut self) -> Result<[Trace; 2], Error> {
        let now = self.core.options().clone();
        let changed = self.last.as_ref().is_some_and(|l| l.options.off() != now.off());
        let (Some(last), earlier) = (self.last.take(), self.earlier.take()) else {
            return self.trace_last().map(|t| [t.clone(), t]);
        };
        let sides = match &earlier {
            _ if changed => Ok([(&last, &last.options), (&last, &now)]),
            Some(line) => Ok([(line, &line.options), (&last, &last.options)]),
            None => Err(value("one line has given a value, and no switch was changed since")
                .hint("]off fusion, then ]diff")),
        };
        let pair = sides.and_then(|sides| self.telling(|session| session.told_in_turn(sides)));
        (self.last, self.earlier) = (Some(last), earlier);
        pair
    }

    /// The stories of a text under the switches of now and with more of them off. The text runs
    /// once, as a statement of the session; what is compared runs apart. Without a text it is the
    /// last line. Errors: DOMAIN for a switch that is none; of the text.
    pub fn traces_without(
        &mut self,
        text: Option<&str>,
        off: &[&str],
        sink: &mut dyn Sink,
    ) -> Result<[Trace; 2], Error> {
        let now = self.core.options().clone();
        let mut without = now.clone();
        off.iter().try_for_each(|name| without.switch(name, false)).map_err(domain)?;
        if let Some(text) = text {
            self.core.begin();
            self.run_as(self.source_of(text), true, sink, computed)?;
        }
        let Some(last) = self.last.take() else {
            return self.trace_last().map(|t| [t.clone(), t]);
        };
        let sides = [(&last, &now), (&last, &without)];
        let pair = self.telling(|session| session.told_in_turn(sides));
        self.last = Some(last);
        pair
    }

    fn told_in_turn(&mut self, sides: [(&Last, &Options); 2]) -> Result<[Trace; 2], Error> {
        // A line that forced nothing is told by running it whole, effects aside: once is enough.
        if sides.iter().any(|(line, _)| line.forced.is_empty() || !line.is_whole()) {
            let mut told = |(line, options): (&Last, &Options)| {
                self.take_options(options);
                self.trace_line(line)
            };
            return Ok([told(sides[0])?, told(sides[1])?]);
        }
        let mut told = |(line, options): (&Last, &Options)| {
            self.take_options(options);
            self.story_forced(line, false).map(|told| told.0.side())
        };
        let sides = [told(sides[0])?, told(sides[1])?];
        Ok(self.compared(sides))
    }

    /// The stories of two statements whose evaluations have run in turn.
    pub fn compared(&mut self, sides: [Side; 2]) -> [Trace; 2] {
        let [a, b] = sides;
        let mut pair = [a.trace, b.trace];
        self.run_in_turn(&mut pair, &[a.evaluations, b.evaluations]);
        pair
    }

    /// Runs the evaluations of both sides in turn and tells the least of their times. What fails,
    /// or leaves the device, has no time to compare.
    fn run_in_turn(&mut self, pair: &mut [Trace; 2], sides: &[Vec<Again>; 2]) {
        let (mut runs, begun): ([Vec<Vec<Rc<Run>>>; 2], _) = (Default::default(), Instant::now());
        for _ in 0..ROUNDS {
            for (side, runs) in sides.iter().zip(&mut runs) {
                let mut run = |again: &Again| {
                    self.take_options(&again.options);
                    World::new(&mut self.core, None, true).timed(&again.recorded)
                };
                let once: Option<Vec<_>> = side.iter().map(&mut run).collect();
                let Some(once) = once else { return };
                runs.push(once);
            }
            if begun.elapsed() > LONG {
                break;
            }
        }
        pair.iter_mut().zip(&runs).for_each(|(trace, runs)| tell_runs(trace, runs));
    }

    fn take_options(&mut self, options: &Options) {
        *self.core.options() = options.clone();
        self.core.options().trace = true;
    }
}

/// The least time of each launch and of all, and how far from it half of the runs are: one run that
/// the machine disturbed says nothing.
fn tell_runs(trace: &mut Trace, runs: &[Vec<Rc<Run>>]) {
    let all_ms = |(run, of): (&Rc<Run>, &Segment)| run.launch_ms * of.times() as f64;
    let mut all: Vec<f64> =
        runs.iter().map(|once| once.iter().zip(&trace.segments).map(all_ms).sum()).collect();
    all.sort_by(f64::total_cmp);
    let (Some(&least), Some(&half)) = (all.first(), all.get(all.len() / 2)) else { return };
    for (e, segment) in trace.segments.iter().enumerate() {
        let first = segment.kernels[0] as usize;
        let times = segment.times() as f64;
        for stat in runs.iter().filter_map(|once| once.get(e)).flat_map(|run| &run.ran.stats) {
            let Some(meas) =
                trace.kernels.get_mut(first + stat.launch).and_then(|k| k.meas.as_mut())
            else {
                continue;
            };
            meas.us = meas.us.min((stat.micros * times * 10.0).round() / 10.0);
        }
    }
    let told = [("launch_ms", least), ("spread_ms", half - least), ("runs", runs.len() as f64)];
    trace.times.extend(told.map(|(key, value)| (key.to_string(), value)));
}

//! The search for the fastest of a launch's texts: measured when somebody asks, kept for later
//! evaluations and programs.
//!
//! Rows: BAR-06, ACC-26. A choice is known by the canonical text of the launch as it comes, the
//! class of its size (log₂ of the points) and the device. In: a launch that has run. Out: the same
//! values in the same place, and a choice. Always: a text is kept only if every byte that it wrote
//! is the first text's; whatever goes wrong leaves the launch untuned and its values as they are.
//! Never: measuring where nobody asked.

use super::choice::Choice;
use super::held::Run;
use super::stop::Stop;
use super::text::{Lowered, Ready, lower};
use crate::device::{OnGpu, Trial, Tune};
use aplomb_plans::kir::{self, Tuning};
use aplomb_plans::occupancy;
use aplomb_plans::plan::BufId;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

/// Runs of a text, of which the fastest counts.
const RUNS: usize = 3;
/// A candidate that was compiled.
struct Candidate {
    tuning: Tuning,
    text: Rc<Lowered>,
    ready: Vec<Rc<Ready>>,
    told: OnGpu,
}

/// Why each is not worth running. The first, the launch as it comes, always is.
fn pruned(all: &[OnGpu]) -> Vec<Option<String>> {
    let whole = all.iter().filter(|g| g.spills == 0);
    let best = whole.map(|g| g.occupancy).fold(0.0, f32::max);
    let percent = |x: f32| format!("{:.0} %", x * 100.0);
    let why = |(k, g): (usize, &OnGpu)| match g {
        _ if k == 0 => None,
        g if g.spills > 0 => Some(format!("not run: {} bytes of registers spill", g.spills)),
        g if g.occupancy < best / 2.0 => {
            let (own, best) = (percent(g.occupancy), percent(best));
            Some(format!("not run: {own} of the threads are resident, {best} of another's"))
        }
        _ => None,
    };
    all.iter().enumerate().map(why).collect()
}

impl Run<'_> {
    /// Launch `k` has run by `plain`, and its results are in `held`: tries its other texts, where
    /// that is asked for.
    pub(super) fn tune(&mut self, k: usize, plain: &Rc<Lowered>) -> Result<(), Stop> {
        let launch = &self.plan.launches[k];
        if self.cuda.tune != Tune::Measure || !self.cuda.known.choices.is_new(plain, launch) {
            return Ok(());
        }
        if plain.code.candidates().len() < 2 {
            self.untuned(k, "nothing to choose: its order or its shape fixes the text");
            return Ok(());
        }
        // What failed already is told after the run.
        let words = self.read_words(k + 1)?;
        self.look_at(&words)?;
        let launch = &self.plan.launches[k];
        let results: Vec<BufId> =
            launch.stores.iter().chain(&launch.after_stores).map(|s| s.buf).collect();
        let own: Vec<_> = results.iter().map(|b| (*b, self.held[b.0 as usize].clone())).collect();
        let begun = self.cuda.trials.len();
        let raced = self.race(k, plain, &results);
        for (at, held) in own {
            self.held[at.0 as usize] = held;
        }
        let Err(stop) = raced else { return Ok(self.cuda.memory.fill(&self.words.clone(), 0xff)?) };
        self.cuda.trials.truncate(begun);
        let says = match &stop {
            Stop::Cpu(says) => says.clone(),
            Stop::Lost(name) => format!("the GPU is lost: {name}"),
            Stop::Memory => "the GPU's memory is too small for a second result".into(),
            _ => "interrupted".into(),
        };
        self.untuned(k, &format!("not tuned: {says}"));
        match stop {
            Stop::Cpu(_) | Stop::Memory => Ok(self.cuda.memory.fill(&self.words.clone(), 0xff)?),
            stop => Err(stop),
        }
    }

    /// Launch `k` has no choice, for this reason.
    pub(super) fn untuned(&mut self, k: usize, says: &str) {
        if self.cuda.tune == Tune::Measure {
            let name = self.plan.launches[k].name.clone();
            self.cuda.trials.push(Trial { launch: k, name, says: says.into(), ..Trial::default() });
        }
    }

    /// Every text of launch `k` in turn; the fastest of those that give the same is kept.
    fn race(&mut self, k: usize, plain: &Rc<Lowered>, results: &[BufId]) -> Result<(), Stop> {
        let wanted = self.digests(results)?;
        let mut all = Vec::new();
        let (candidates, left_out) = self.worth(k, plain.code.candidates());
        for (n, tuning) in candidates.into_iter().enumerate() {
            let text = if n == 0 {
                plain.clone()
            } else {
                lower(&self.plan, k, tuning).map_err(Stop::Cpu)?
            };
            let ready = self.functions(&text)?;
            let told = self.prepare(k, &text, &ready)?.on_gpu()?;
            all.push(Candidate { tuning, text, ready, told });
        }
        let name = self.plan.launches[k].name.clone();
        let (mut ran, mut trials) = (Vec::new(), Vec::new());
        let told: Vec<OnGpu> = all.iter().map(|c| c.told).collect();
        for (c, why) in all.into_iter().zip(pruned(&told)) {
            let (registers, spills, occupancy) =
                (c.told.registers, c.told.spills, c.told.occupancy);
            let (name, candidate) = (name.clone(), Some(c.tuning));
            let mut trial = Trial {
                launch: k,
                name,
                candidate,
                registers,
                spills,
                occupancy,
                ..Trial::default()
            };
            match why {
                Some(why) => trial.says = why,
                None => {
                    let us = self.least(k, &c)?;
                    trial.us = Some(us);
                    let words = self.read_words(k + 1)?;
                    let same = self.look_at(&words).is_ok() && self.digests(results)? == wanted;
                    if same {
                        ran.push((c.tuning, us));
                    } else {
                        trial.says = "other values: a defect, it is not used".into();
                        self.cuda.memory.fill(&self.words.clone(), 0xff)?;
                    }
                }
            }
            trials.push(trial);
        }
        trials.extend(left_out.map(|says| Trial { launch: k, name, says, ..Trial::default() }));
        let choice =
            Choice::of(&ran).ok_or_else(|| Stop::Cpu("no text gives the values twice".into()))?;
        trials.iter_mut().for_each(|t| t.chosen = t.candidate == Some(choice.tuning));
        self.cuda.trials.append(&mut trials);
        let launch = &self.plan.launches[k];
        self.cuda.known.choices.put(plain, launch, choice);
        Ok(())
    }

    /// The candidates that are worth compiling, the first among them, and a sentence on the others:
    /// of sizes of tiles the model leaves most out (BAS-23).
    fn worth(&self, k: usize, all: Vec<Tuning>) -> (Vec<Tuning>, Option<String>) {
        let arch = &self.cuda.driver.facts().arch;
        let sized = kir::sized(&self.plan, &self.plan.launches[k]);
        let Some((sized, on)) = sized.zip(occupancy::find(arch)) else { return (all, None) };
        let rows = kir::rows(&sized, on);
        let rule = |t: &Tuning| rows.iter().find(|r| Some(r.size) == t.tile)?.pruned;
        let own = all.first().copied();
        let (worth, out): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|t| rule(t).is_none() || Some(*t) == own);
        let mut by: BTreeMap<&str, usize> = BTreeMap::new();
        out.iter().filter_map(rule).for_each(|rule| *by.entry(rule.name()).or_default() += 1);
        let by: Vec<String> = by.iter().map(|(rule, n)| format!("{n} by {rule}")).collect();
        let says = format!("not compiled: {} sizes of tiles, {}", out.len(), by.join(", "));
        (worth, (!out.is_empty()).then_some(says))
    }

    /// The fastest of several runs of a text, µs.
    fn least(&mut self, k: usize, c: &Candidate) -> Result<f64, Stop> {
        let mut least = f64::INFINITY;
        for _ in 0..RUNS {
            let prepared = self.prepare(k, &c.text, &c.ready)?;
            let begun = Instant::now();
            let took = self.hand_over(prepared)?;
            least = least.min(took.unwrap_or_else(|| begun.elapsed().as_secs_f64() * 1e6));
        }
        Ok(least)
    }

    /// A hash of every byte of these buffers.
    fn digests(&mut self, of: &[BufId]) -> Result<Vec<[u8; 32]>, Stop> {
        of.iter()
            .map(|at| {
                let Some(copy) = self.held[at.0 as usize].copy.clone() else {
                    return Err(Stop::Cpu("a result is not there".into()));
                };
                Ok(self.cuda.memory.digest(&copy, self.ctx.interrupt)?)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_06_what_spills_or_fills_half_as_much_is_not_run() {
        let like = |spills: u32, occupancy: f32| OnGpu { spills, occupancy, ..OnGpu::default() };
        let why = pruned(&[
            like(8, 0.25),
            like(16, 1.0),
            like(0, 0.5),
            like(0, 0.24),
            like(0, 0.75),
            like(0, 0.375),
        ]);
        let says: Vec<&str> = why.iter().map(|w| w.as_deref().unwrap_or("runs")).collect();
        let few = "not run: 24 % of the threads are resident, 75 % of another's";
        assert_eq!(
            says,
            ["runs", "not run: 16 bytes of registers spill", "runs", few, "runs", "runs"]
        );
    }
}

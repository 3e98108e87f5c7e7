//! Which of a launch's texts is fastest: measured when somebody asks, kept for later evaluations
//! and programs.
//!
//! Rows: BAR-06, ACC-26; CUDA §4, §6. A choice is known by the canonical text of the launch as it
//! comes, the class of its size (log₂ of the points) and the device. In: a launch that has run.
//! Out: the same values in the same place, and a choice. Always: a text is kept only if every byte
//! that it wrote is the first text's; whatever goes wrong leaves the launch untuned and its values
//! as they are. Never: measuring where nobody asked.

use super::Stop;
use super::cache::{Disk, Entry, Key, Look};
use super::kernels::Ready;
use super::known::{Lowered, lower};
use super::run::Run;
use crate::device::{OnGpu, Trial, Tune};
use aplomb_ground::error::time;
use aplomb_plans::kir::Tuning;
use aplomb_plans::plan::{BufId, Launch};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::Instant;

/// Runs of a text, of which the fastest counts.
const RUNS: usize = 3;
/// Choices that a process remembers, and those that it knows not to be there.
const MOST: usize = 4096;
/// The name of files of choices.
const KIND: &str = "tuning";

/// The fastest text, and the one that it was measured against: the launch as it comes, or the next
/// best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    pub tuning: Tuning,
    pub us: f64,
    pub other: Option<(Tuning, f64)>,
}

impl Choice {
    /// `2 points a thread: tuned, 12.1 µs against 14.0 µs of 1 point a thread`.
    pub fn sentence(&self) -> String {
        let against = self.other.map_or(String::new(), |(other, us)| {
            format!(" against {} of {}", time(us), other.says())
        });
        format!("{}: tuned, {}{against}", self.tuning.says(), time(self.us))
    }

    /// Of the texts that ran, `as it comes` first; at least one.
    fn of(ran: &[(Tuning, f64)]) -> Option<Choice> {
        let least =
            |list: &[(Tuning, f64)]| list.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
        let first = *ran.first()?;
        let (tuning, us) = least(ran)?;
        let others: Vec<_> = ran.iter().copied().filter(|r| r.0 != tuning).collect();
        let other = if tuning == first.0 { least(&others) } else { Some(first) };
        Some(Choice { tuning, us, other })
    }

    fn encode(&self) -> String {
        let one = |(t, us): (Tuning, f64)| {
            format!("{} {} {} {us:.3}", t.items.unwrap_or(0), u8::from(t.persistent), t.threads)
        };
        let other = self.other.map_or(String::new(), |o| format!(" {}", one(o)));
        one((self.tuning, self.us)) + &other
    }

    fn decode(text: &str) -> Option<Choice> {
        let words: Vec<&str> = text.split(' ').collect();
        let one = |w: &[&str]| {
            let (items, threads, us): (u32, u32, f64) =
                (w[0].parse().ok()?, w[2].parse().ok()?, w[3].parse().ok()?);
            let persistent = [("0", false), ("1", true)].into_iter().find(|p| p.0 == w[1])?.1;
            let sane = items.is_power_of_two() && items <= 16 && us.is_finite() && us >= 0.0;
            sane.then_some((Tuning { items: Some(items), persistent, threads }, us))
        };
        let other = match words.len() {
            4 => None,
            8 => Some(one(&words[4..])?),
            _ => return None,
        };
        let (tuning, us) = one(&words[..4])?;
        Some(Choice { tuning, us, other })
    }
}

/// The choices of this device.
pub struct Choices {
    disk: Disk,
    made_by: String,
    known: HashMap<String, Option<Choice>>,
    /// Those that were measured since `begin`: a launch that runs again and again is measured once.
    measured: HashSet<String>,
    /// The sentences that the user should hear.
    pub notices: Vec<String>,
}

impl Choices {
    pub fn new(disk: Disk, made_by: &str) -> Choices {
        let (known, measured) = (HashMap::new(), HashSet::new());
        Choices { disk, made_by: made_by.into(), known, measured, notices: Vec::new() }
    }

    /// Everything may be measured again.
    pub fn begin(&mut self) {
        self.measured.clear();
    }

    /// Whether a launch is met for the first time since `begin`.
    fn is_new(&mut self, plain: &Lowered, launch: &Launch) -> bool {
        let file = self.key(plain, launch).file();
        self.measured.insert(file)
    }

    /// `plain`: the launch as it comes.
    fn key(&self, plain: &Lowered, launch: &Launch) -> Key {
        let points = launch.domain.iter().fold(1u64, |all, n| all.saturating_mul(*n as u64));
        let (made_by, class) = (self.made_by.clone(), points.max(1).ilog2());
        Key { kind: KIND, made_by, text: format!("class {class}\n{}", plain.texts.join("\n")) }
    }

    /// What was found for a launch; a record that is damaged, or names no text of it, is as none.
    pub fn get(&mut self, plain: &Lowered, launch: &Launch) -> Option<Choice> {
        let key = self.key(plain, launch);
        let file = key.file();
        if let Some(known) = self.known.get(&file) {
            return *known;
        }
        let found = match self.disk.look(&key) {
            Look::None => None,
            Look::Damaged => {
                self.damaged(&file);
                None
            }
            Look::Whole(entry) => {
                let choice = Choice::decode(&entry.log)
                    .filter(|c| plain.code.candidates().contains(&c.tuning));
                if choice.is_none() {
                    self.damaged(&file);
                }
                choice
            }
        };
        self.remember(file, found);
        found
    }

    fn damaged(&mut self, file: &str) {
        self.notices
            .push(format!("what was tuned is not used: {file} is damaged; ]tune makes it again"));
    }

    fn remember(&mut self, file: String, choice: Option<Choice>) {
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(file, choice);
    }

    fn put(&mut self, plain: &Lowered, launch: &Launch, choice: Choice) {
        let key = self.key(plain, launch);
        self.remember(key.file(), Some(choice));
        if let Err(e) = self.disk.put(&key, &Entry { log: choice.encode(), binary: Vec::new() }) {
            let folder = self.disk.folder().map(|f| f.display().to_string()).unwrap_or_default();
            self.notices.push(format!("what was tuned is not kept: {folder}: {e}"));
        }
    }

    /// All choices go, those on the disk too. How many there were.
    pub fn forget(&mut self) -> usize {
        let here = self.count();
        self.known.clear();
        self.disk.drop_all(KIND).max(here)
    }

    /// Choices that this process has met.
    pub fn count(&self) -> usize {
        self.known.values().flatten().count()
    }
}

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
        for (n, tuning) in plain.code.candidates().into_iter().enumerate() {
            let text = if n == 0 {
                plain.clone()
            } else {
                lower(&self.plan, k, tuning).map_err(Stop::Cpu)?
            };
            let ready = self.functions(&text)?;
            let told = self.prepare(k, &text, &ready)?.told()?;
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
        let choice =
            Choice::of(&ran).ok_or_else(|| Stop::Cpu("no text gives the values twice".into()))?;
        trials.iter_mut().for_each(|t| t.chosen = t.candidate == Some(choice.tuning));
        self.cuda.trials.append(&mut trials);
        let launch = &self.plan.launches[k];
        self.cuda.known.choices.put(plain, launch, choice);
        Ok(())
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

    fn items(n: u32) -> Tuning {
        Tuning { items: Some(n), ..Tuning::default() }
    }

    #[test]
    fn the_fastest_is_chosen_and_told_against_what_was_there() {
        let faster = Choice::of(&[(items(1), 14.0), (items(2), 12.06), (items(4), 13.0)]).unwrap();
        assert_eq!(
            faster.sentence(),
            "2 points a thread: tuned, 12 µs against 14 µs of 1 point a thread"
        );
        let stays = Choice::of(&[(items(1), 10.0), (items(2), 12.0), (items(4), 11.0)]).unwrap();
        assert_eq!((stays.tuning, stays.other), (items(1), Some((items(4), 11.0))));
        // Equal ones change nothing.
        assert_eq!(Choice::of(&[(items(4), 7.0), (items(1), 7.0)]).unwrap().tuning, items(4));
        assert_eq!(
            Choice::of(&[(items(4), 7.0)]).unwrap().sentence(),
            "4 points a thread: tuned, 7 µs"
        );
        assert_eq!(Choice::of(&[]), None);
    }

    #[test]
    fn a_choice_is_read_as_it_was_written_and_nothing_else_is_one() {
        let stay = Tuning { persistent: true, threads: 128, ..items(1) };
        for choice in [
            Choice { tuning: stay, us: 12.5, other: Some((items(8), 14.25)) },
            Choice { tuning: items(16), us: 0.0, other: None },
        ] {
            assert_eq!(Choice::decode(&choice.encode()), Some(choice));
        }
        for text in [
            "",
            "2 0 256",
            "3 0 256 1.5",
            "2 2 256 1.5",
            "2 0 256 inf",
            "2 0 256 -1",
            "32 0 256 1",
            "2 0 256 1 x 0 256 1",
            "2 0 256 1 4 0 256 1 ",
            "0 0 256 1",
            "2 0 x 1",
        ] {
            assert_eq!(Choice::decode(text), None, "{text}");
        }
    }

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

//! The means of a session beside its names: devices, plans, limits, files; and the stories so far.

use super::kept::{Forced, Interpreted, Kept, Run, Warning};
use super::mode::{Mode, Spent};
use super::profile::Recorder;
use super::registers::Registers;
use super::stories::Sought;
use super::watchdog::{Bounds, Fired, Watchdog};
use crate::files::{Aside, Reach};
use aplomb_compiler::pass::{Options, PlanCache};
use aplomb_devices::device::{Device, Devices};
use aplomb_ground::error::{Error, Kind, limit, outgrown};
use aplomb_ground::limits::{Budget, Interrupt, Limits};
use aplomb_ground::span::Place;
use aplomb_language::eval::Interp;
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The means of a session beside its names.
pub struct Core {
    /// The bounds of the session.
    pub limits: Limits,
    /// The memory that arrays may take.
    pub budget: Budget,
    /// The request to stop, for whatever is under way.
    pub interrupt: Interrupt,
    pub(super) device: Devices,
    pub(super) options: Options,
    pub(super) plans: PlanCache,
    pub(super) registers: Registers,
    /// The files that programs may touch.
    pub reach: Reach,
    /// True where programs may run commands of the system.
    pub runs: bool,
    /// The table of commands.
    pub(super) commands: Option<Rc<dyn super::Commands>>,
    /// The file of the workspace, once it was saved or loaded.
    pub workspace: Option<String>,
    pub(super) mode: Mode,
    /// The files that were written meanwhile.
    pub(super) aside: Aside,
    /// True where older lines are kept to be told again: views of them may be open for long.
    pub remembers: bool,
    /// True where numbers are drawn from one seed, the same in every run.
    pub repeats: bool,
    /// True where the text of pictures has colours: a terminal shows it.
    pub coloured: bool,
    /// True where pictures are wanted beside their text.
    pub pictures: bool,
    /// The names of pages that were shown.
    pub(super) shown: HashSet<String>,
    /// One a statement that gave a value.
    pub(super) kept: Vec<Kept>,
    /// The one of them whose arrays are there still.
    pub(super) held: usize,
    /// The statement whose arrays stay though others have more to do.
    pub(super) sought: Option<Sought>,
    /// The story of the statement under way.
    pub(super) current: Kept,
    /// The warnings of the evaluator since the last evaluation.
    pub(super) warnings: Vec<Warning>,
    /// The work that it did itself in this statement.
    pub(super) interpreted: Vec<Interpreted>,
    /// The addresses of the items that it made so, since the last evaluation.
    pub(super) made: Vec<usize>,
    /// Milliseconds of all such work.
    pub(super) outside_ms: f64,
    /// The text of the last statement that had work done, or else that gave a value.
    pub said: String,
    /// The evaluations that the statement under way has forced, to tell its story later.
    pub(super) forced: Vec<Forced>,
    /// The statement under way, as long as it had no work done and the story is still of an earlier
    /// one, which had.
    pub(super) idle: Option<Place>,
    /// The statements that began while all of them are told: the last cell that was written before
    /// each, and its line.
    pub(super) begins: Vec<(u64, usize)>,
    /// The record of the last run of launches.
    pub(super) ran: Option<Rc<Run>>,
    /// Milliseconds that launches took since `begin`, and how many.
    pub spent: Spent,
    /// The cost of the text's statements before that.
    pub(super) sum: Spent,
    /// The clock of a run by source line, where somebody asked for one.
    pub(super) profile: Option<Recorder>,
    pub(super) born: Instant,
    /// The request under way began, and what those before it took.
    pub(super) begun: Option<Instant>,
    pub(super) computed: Duration,
    /// The statement under way began.
    pub(super) since: Option<Instant>,
    pub(super) watchdog: Watchdog,
}

impl Core {
    /// A device with so many threads, no switch off, no record.
    pub fn new(limits: Limits, threads: usize) -> Core {
        let interrupt = Interrupt::default();
        let budget = Budget::stopped_by(limits.bytes, interrupt.clone());
        let device = Devices::new(threads);
        device.cpu.pool().serve(&budget);
        Core {
            budget,
            limits,
            interrupt,
            device,
            options: Options::default(),
            plans: PlanCache::default(),
            registers: Registers::default(),
            reach: Reach::All,
            commands: None,
            runs: false,
            workspace: None,
            mode: Mode::default(),
            aside: Aside::default(),
            remembers: false,
            repeats: false,
            coloured: false,
            pictures: false,
            shown: HashSet::new(),
            kept: Vec::new(),
            held: 0,
            sought: None,
            current: Kept::default(),
            warnings: Vec::new(),
            interpreted: Vec::new(),
            made: Vec::new(),
            outside_ms: 0.0,
            said: String::new(),
            forced: Vec::new(),
            idle: None,
            begins: Vec::new(),
            ran: None,
            spent: Spent::default(),
            sum: Spent::default(),
            profile: None,
            born: Instant::now(),
            begun: None,
            computed: Duration::ZERO,
            since: None,
            watchdog: Watchdog::default(),
        }
    }

    /// A request begins.
    pub fn begin(&mut self) {
        self.spent = Spent::default();
        self.begun = Some(Instant::now());
        self.current = Kept::default();
        self.budget.set_most(self.limits.bytes);
        self.interrupt.bound(self.budget.beside(), self.limits.bytes);
        let seconds = Some(self.limits.seconds).filter(|s| *s > 0.0);
        let deadline = seconds.map(|s| Instant::now() + Duration::from_secs_f64(s.min(1e9)));
        self.watchdog.arm(Some(Bounds { deadline, bytes: self.limits.bytes }), &self.interrupt);
    }

    /// The request is over: its time no longer runs.
    pub fn end(&mut self) {
        self.aside = Aside::default();
        if let Some(begun) = self.begun.take() {
            self.computed += begun.elapsed();
        }
        self.interrupt.unbound();
        self.watchdog.arm(None, &self.interrupt);
        aplomb_devices::memory::give_back();
    }

    /// An interrupt that came from the watchdog is LIMIT ERROR or WS FULL.
    pub fn settle(&self, error: Error) -> Error {
        let fired = Some(())
            .filter(|()| error.kind() == Kind::Interrupt)
            .and_then(|()| self.watchdog.fired());
        let settled = match fired {
            None => return error,
            Some(Fired::Time) => limit(format!("this took longer than {} s", self.limits.seconds))
                .hint("--limit seconds=N changes it"),
            Some(Fired::Memory(taken)) => outgrown(taken, self.limits.bytes),
        };
        match &error.parts().place {
            Some(place) => settled.at(place),
            None => settled,
        }
    }

    /// The pipeline and its switches.
    pub fn options(&mut self) -> &mut Options {
        &mut self.options
    }

    /// The plans of earlier evaluations.
    pub fn plans(&mut self) -> &mut PlanCache {
        &mut self.plans
    }

    /// The devices.
    pub fn devices(&mut self) -> &mut Devices {
        &mut self.device
    }

    /// The name of the device that runs what is large enough.
    pub fn device_name(&self) -> String {
        self.device.name()
    }

    /// The way in which requests run now.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Runs what comes in that way.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
        self.options.trace = mode.tracing;
    }

    /// True where stories are kept.
    pub fn is_tracing(&self) -> bool {
        self.mode.tracing
    }

    /// Records and tells everything from now on, or nothing.
    pub fn set_tracing(&mut self, on: bool) {
        self.set_mode(Mode { tracing: on, whole: on, ..self.mode });
    }

    /// Records and tells everything from now on, also of statements that give no value; `priced`:
    /// with the plans that decisions the other way would make.
    pub fn set_told(&mut self, priced: bool) {
        let pricing = priced || self.mode.pricing;
        self.begins.clear();
        self.set_mode(Mode { tracing: true, whole: true, each: true, pricing, ..self.mode });
    }

    /// The lines of the statements that wrote these cells.
    pub(super) fn wrote(&self, written: &[u64]) -> BTreeSet<usize> {
        let by = |cell: &u64| {
            let begun = self.begins.partition_point(|(before, _)| before < cell);
            Some(self.begins.get(begun.checked_sub(1)?)?.1)
        };
        written.iter().filter_map(by).collect()
    }

    /// Decisions are told with the plans of their other ways from now on, or no more.
    pub fn set_priced(&mut self, on: bool) {
        self.set_mode(Mode { pricing: on, ..self.mode });
    }

    /// Tells what is compiled anyway from now on; small arrays still run at once, so that looking
    /// costs little.
    pub fn set_followed(&mut self, on: bool) {
        self.set_mode(Mode { tracing: on, whole: false, ..self.mode });
    }

    /// The last story's inputs get the names that hold them.
    pub fn name_inputs(&mut self, interp: &Interp) {
        if let Some(kept) = self.kept.last_mut() {
            kept.name_inputs(&|| interp.arrays());
        }
    }

    /// The warnings of the last statement, where no story has them yet. One that gave no value has
    /// a story only when it is closed, which takes them from here.
    pub fn warned(&mut self) -> Vec<Warning> {
        let mut all = std::mem::take(&mut self.warnings);
        all.extend(self.interpreted.drain(..).map(|i| i.warning()));
        if self.current.is_some() {
            self.warnings.clone_from(&all);
        }
        all
    }

    /// The evaluations of the last statement.
    pub fn take_forced(&mut self) -> Vec<Forced> {
        std::mem::take(&mut self.forced)
    }
}

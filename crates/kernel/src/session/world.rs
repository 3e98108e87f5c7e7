//! The world of the evaluator: device, files, output; and the record of what was forced.

mod effects;

use super::core::Core;
use super::failed;
use super::kept::{Forced, Interpreted, Kept, Part, Ran, Run, Warning};
use super::mode::Spent;
use super::naming;
use super::profile::Recorder;
use super::record::Clock;
use super::shown;
use crate::files;
use aplomb_compiler::pass::{Compiled, Log, Timed};
use aplomb_devices::device::cpu::at_once::{Few, at_once, by_parts};
use aplomb_devices::device::cpu::{Cpu, apply, registers::compile};
use aplomb_devices::device::{Device, DeviceError, RunCtx, Tune};
use aplomb_ground::chart::Chart;
use aplomb_ground::error::{Error, Result, internal};
use aplomb_ground::limits::{Budget, Interrupt, Limits};
use aplomb_ground::protocol::{Event, Sink};
use aplomb_ground::span::Place;
use aplomb_ground::trace::Trace;
use aplomb_language::eval::Interp;
use aplomb_language::eval::cx::View;
use aplomb_language::eval::host::{Answer, Arrays, Errand, Format, Host, Much, Now, Page};
use aplomb_language::eval::work::Reason;
use aplomb_plans::plan::Launch;
use aplomb_values::array::format::{self, Style};
use aplomb_values::array::{Array, DType, elements, storage};
use aplomb_values::dag::{Lib, Recorded};
use aplomb_values::prim::draws::Draws;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::Src;
use aplomb_values::registers::{Code, Request};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// One request's view of the core.
pub struct World<'a> {
    pub(super) core: &'a mut Core,
    pub(super) sink: Option<&'a mut dyn Sink>,
    silent: bool,
    /// A statement has begun: what is in the core before that is another text's.
    begun: bool,
    gave: bool,
    dry: bool,
    /// Values that the program printed and that a page shows.
    pages: usize,
}

impl<'a> World<'a> {
    pub fn new(core: &'a mut Core, sink: Option<&'a mut dyn Sink>, silent: bool) -> World<'a> {
        World { core, sink, silent, begun: false, gave: false, dry: false, pages: 0 }
    }

    pub(super) fn is_rich(&self) -> bool {
        self.sink.as_ref().is_some_and(|sink| sink.rich())
    }

    /// Evaluations are kept for `take_forced` and fail.
    pub fn dry(self) -> World<'a> {
        World { dry: true, ..self }
    }

    /// True of a text that is one to tell: it gave a value, or had work done for a name.
    pub fn has_story(&mut self) -> bool {
        self.core.idle = None;
        let worked = self.worked();
        if worked {
            self.keep_said();
        }
        self.gave || worked
    }

    /// True once the statement that the story is of had work done.
    fn worked(&self) -> bool {
        let Core { forced, interpreted, .. } = &*self.core;
        self.begun && (!forced.is_empty() || interpreted.iter().any(Interpreted::is_work))
    }

    /// True where the story is that of the statement under way. Where it is still that of an
    /// earlier one, it ends here if there is `work` to tell, or each statement is told.
    fn is_told(&mut self, work: bool) -> bool {
        if (work || self.core.mode.tracing)
            && let Some(place) = self.core.idle.take()
        {
            self.begin(&place);
        }
        self.core.idle.is_none()
    }

    /// A statement's story begins, and nothing is in it yet.
    fn begin(&mut self, place: &Place) {
        self.core.close_current();
        self.core.forced.clear();
        self.core.warnings.clear();
        self.core.interpreted.clear();
        self.core.made.clear();
        self.core.current.name(Some(place));
    }

    /// Keeps the text of the statement that the story is of; one that gave its value to somebody
    /// who looks on was kept then.
    fn keep_said(&mut self) {
        if self.core.current.is_some() {
            self.core.said = self.core.current.statement();
        }
    }

    /// A statement's story begins.
    pub fn start(&mut self, statement: &str) {
        self.core.current = Kept::of(statement);
        self.core.warnings.clear();
        self.core.interpreted.clear();
        self.core.made.clear();
    }

    /// Sets the warnings of the line whose story this is, as when it ran.
    pub fn warn_again(&mut self, warnings: &[Warning]) {
        self.core.warnings = warnings.to_vec();
    }

    /// The story of the statement under way, named by what holds its inputs; where that had no work
    /// done, of the last that had.
    pub fn take_trace(&mut self, interp: &Interp) -> Trace {
        self.take_story(interp).tell()
    }

    /// The same, not told yet.
    pub fn take_story(&mut self, interp: &Interp) -> Kept {
        let mut current = std::mem::take(&mut self.core.current);
        // What was said of no evaluation; a story that is over has it.
        if current.is_some() || self.core.kept.is_empty() {
            current.warnings.append(&mut self.core.warned());
        }
        if !current.is_work() {
            let kept = &mut self.core.kept;
            let last = kept.iter().rposition(Kept::is_work).or(kept.len().checked_sub(1));
            current = last.map_or(current, |last| kept.remove(last));
        }
        current.name_inputs(&|| interp.arrays());
        current
    }

    /// The roots' values, and what the device tells of them.
    fn run(&mut self, recorded: &Recorded, compiled: &Compiled) -> (Result<Vec<Array>>, Ran) {
        let core = &mut *self.core;
        if compiled.plan.launches.is_empty() {
            return (Ok(Vec::new()), Ran::default());
        }
        let begun = Instant::now();
        let libraries = !core.options.is_off("cublas");
        core.device.set_tune(match core.options.is_off("tuning") {
            true => Tune::Off,
            false if core.mode.measuring => Tune::Measure,
            false => Tune::Known,
        });
        let ctx = RunCtx {
            interrupt: &core.interrupt,
            budget: &core.budget,
            timed: core.mode.tracing || core.mode.measuring,
            libraries,
            abreast: !core.options.is_off("abreast"),
        };
        let known = core.device.compiling();
        let outcome = core.device.run(&compiled.plan, &recorded.inputs, &ctx);
        core.spent.launch_ms += begun.elapsed().as_secs_f64() * 1e3;
        if core.mode.estimating {
            core.spent.estimated_ms += core.device.estimate(&compiled.plan) / 1e3;
        }
        core.spent.launches += compiled.plan.launches.len();
        core.spent.bytes = core.spent.bytes.saturating_add(compiled.moved);
        core.spent.is_most |= compiled.plan.is_bounded();
        let told = || Ran {
            stats: core.device.stats().to_vec(),
            compiling: core.device.compiling().since(&known),
        };
        // A GPU's own times are those of runs that wait for each launch.
        let whole = ctx.timed || core.device.stats().iter().all(|s| s.gpu.is_none());
        let ran = if whole && !core.mode.forgetting { told() } else { Ran::default() };
        // Where nobody listens they wait for the next line.
        if let Some(sink) = &mut self.sink {
            core.device
                .take_notices()
                .into_iter()
                .for_each(|notice| sink.event(Event::Notice(notice)));
        }
        (outcome.map_err(|e| failed::error_of(e, recorded)), ran)
    }
}

/// An array's items where they lie, or its number.
fn few(a: &Array) -> Option<Few<'_>> {
    match storage(a) {
        Some(held) => Some(Few::Many(held.view())),
        None => a.number_scalar().map(Few::One),
    }
}

/// Values between two evaluations of which it is known that the evaluator made them, at most.
const MADE: usize = 256;

/// The statements that are known by what they wrote, at most.
const MOST_BEGINS: usize = 1 << 16;

/// The work of a launch by the model.
fn work_ns(launch: &Launch) -> f64 {
    launch.effort().iter().map(|effort| effort.ns).sum()
}

impl World<'_> {
    /// A step of a library function on the CPU, its threads and its memory.
    fn step<T>(
        &mut self,
        work: impl FnOnce(&mut Cpu, &RunCtx) -> std::result::Result<T, DeviceError>,
    ) -> Result<T> {
        let Core { device, interrupt, budget, .. } = &mut *self.core;
        let ctx = RunCtx { interrupt, budget, timed: false, libraries: true, abreast: true };
        work(&mut device.cpu, &ctx).map_err(failed::of_step)
    }

    /// Compiles and runs one recorded evaluation, and keeps its story where stories are kept.
    /// Without `runs` it is only compiled, and there are no values.
    pub fn tell(&mut self, recorded: &Rc<Recorded>, runs: bool) -> Result<Vec<Array>> {
        let begun = Instant::now();
        let core = &mut *self.core;
        let known = core.plans.tally().hits;
        core.options.limits = core.limits.launch;
        // What passes note is noted when somebody asks.
        core.options.trace = false;
        let mut clock = Timed { clock: &mut Clock::new(&core.interrupt), ms: Vec::new() };
        let planned = core.plans.plan(recorded, &core.options, &mut clock);
        core.options.trace = core.mode.tracing;
        let compiled = planned?;
        let ms = clock.ms;
        core.spent.known += (core.plans.tally().hits - known) as usize;
        let front_ms = begun.elapsed().as_secs_f64() * 1e3;
        core.spent.front_ms += front_ms;
        core.spent.evaluations += 1;
        let launched = core.spent.launch_ms;
        let (values, ran) =
            if runs { self.run(recorded, &compiled) } else { (Ok(Vec::new()), Ran::default()) };
        let core = &mut *self.core;
        let launch_ms = core.spent.launch_ms - launched;
        let on_host = values.as_ref().err().and_then(Error::on_host);
        let is_told = ran.stats.len() == compiled.plan.launches.len();
        let launches = &compiled.plan.launches;
        let work_ns = if core.mode.tracing { launches.iter().map(work_ns).sum() } else { 0.0 };
        let launches = launches.len();
        let number = compiled.number;
        let by_it = values.iter().flatten().filter_map(naming::items);
        let made = core.made.drain(..).chain(by_it).collect();
        let run = Run { ms, number, front_ms, launch_ms, ran, on_host, made, launches, work_ns };
        let run = Rc::new(run);
        if let Some(profile) = &mut core.profile {
            profile.ran(recorded, &compiled.plan, &run);
        }
        core.ran = (runs && (is_told || values.is_err())).then(|| run.clone());
        if core.mode.tracing {
            self.note(recorded, run);
        }
        let values = values?;
        if !runs {
            return Ok(values);
        }
        compiled.values(&recorded.inputs, &values)
    }

    /// A part of the story under way: an evaluation and the record of its run.
    pub fn note(&mut self, recorded: &Rc<Recorded>, run: Rc<Run>) {
        let core = &mut *self.core;
        core.options.limits = core.limits.launch;
        let made = |place| run.made.contains(&place) || core.current.made(place);
        let own = |a: &Array| naming::items(a).is_some_and(made);
        let own = recorded.inputs.iter().map(own).collect();
        core.current.push(Part {
            own,
            log: Log::new(recorded, &core.options, run.ms.clone()),
            runs: vec![run],
            warnings: std::mem::take(&mut core.warnings),
            priced: core.mode.pricing,
            whole: core.mode.whole,
            lines: core.wrote(&recorded.written),
            interrupt: core.interrupt.clone(),
        });
    }

    /// Runs an evaluation for the record of it alone. None: it fails.
    pub fn timed(&mut self, recorded: &Rc<Recorded>) -> Option<Rc<Run>> {
        self.tell(recorded, true).ok()?;
        self.core.current = Kept::default();
        self.core.ran.take()
    }
}

impl Host for World<'_> {
    fn force(&mut self, recorded: Recorded) -> Result<Vec<Array>> {
        self.is_told(true);
        let recorded = Rc::new(recorded);
        let forgets = self.core.mode.forgetting;
        if !forgets {
            self.core.forced.push(Forced::new(recorded.clone()));
        }
        if self.dry {
            return Err(internal("nothing is computed here"));
        }
        let told = self.core.current.evaluations;
        let done = self.tell(&recorded, true);
        if let Some(last) = self.core.forced.last_mut() {
            last.run = self.core.ran.take();
        }
        if done.is_err() && !recorded.kept_ns.is_empty() && !forgets {
            // The roots are evaluated alone next: that is the story.
            self.core.forced.pop();
            self.core.current.forget_after(told);
        }
        done
    }

    fn plans_made(&self) -> u64 {
        self.core.plans.tally().misses
    }

    fn apply(&self, op: (Op, DType), ct: f64, x: Src, y: Src, out: &mut [f64]) -> bool {
        apply::apply(self.core.device.cpu.isa(), op, ct, x, y, out)
    }

    fn typed(&self, op: Op, x: &Array, y: &Array) -> Result<Option<Array>> {
        let (Some(a), Some(b)) = (few(x), few(y)) else { return Ok(None) };
        let of = if x.rank() == 0 { y } else { x };
        let isa = self.core.device.cpu.isa();
        let made = at_once(isa, op, [a, b], of.len(), &self.core.budget)?;
        Ok(made.map(|made| Array::dense(of.shape(), Arc::new(made))))
    }

    fn by_parts(
        &self,
        op: (Op, DType),
        ct: f64,
        x: &Array,
        y: Option<&Array>,
    ) -> Result<Option<Array>> {
        let of = if x.rank() > 0 { x } else { y.map_or(x, |y| y) };
        let (isa, n, budget) = (self.core.device.cpu.isa(), of.len(), &self.core.budget);
        let (Some(a), Some(b)) = (few(x), y.map_or(Some(Few::One(0.0)), few)) else {
            return Ok(None);
        };
        let made = by_parts(isa, op, ct, [a, b], n, budget)?;
        Ok(made.map(|made| Array::dense(of.shape(), Arc::new(made))))
    }

    fn fold(&self, op: (Op, DType), rows: &[f64], size: usize, out: &mut [f64]) -> bool {
        apply::fold(self.core.device.cpu.isa(), op, rows, size, out)
    }

    fn dot(&self, op: (Op, DType), of: (Src, Src), size: usize, out: &mut [f64]) -> bool {
        apply::dot(self.core.device.cpu.isa(), op, of, size, out)
    }

    fn drawn(&mut self, draws: &Draws, shape: &[usize]) -> Result<Array> {
        let made = self.step(|cpu, ctx| cpu.drawn(draws, elements(shape), ctx))?;
        Ok(Array::dense(shape, Arc::new(made)))
    }

    fn ordered(&mut self, items: &Array, of: Lib, origin: f64) -> Result<Option<Array>> {
        let Some(held) = storage(items) else { return Ok(None) };
        let made = self.step(|cpu, ctx| cpu.ordered(held.view(), (of, origin), ctx))?;
        Ok(made.map(|made| Array::dense(items.shape(), Arc::new(made))))
    }

    fn grouped(&mut self, items: &Array, of: &[u32], ends: &[u32]) -> Result<Option<Array>> {
        let Some(held) = storage(items) else { return Ok(None) };
        let made = self.step(|cpu, ctx| cpu.grouped(held.view(), of, ends, ctx))?;
        Ok(made.map(|made| Array::dense(items.shape(), Arc::new(made))))
    }

    fn keyed(&mut self, op: Op, items: &Array, of: (&[u32], usize)) -> Result<Option<Vec<f64>>> {
        let Some(held) = storage(items) else { return Ok(None) };
        self.step(|cpu, ctx| cpu.keyed(op, held.view(), of, ctx))
    }

    fn compiled(&self, request: &Request<'_, '_>) -> Code {
        compile(self.core.device.cpu.isa(), request)
    }

    fn is_on(&self, switch: &str) -> bool {
        !self.core.options.is_off(switch)
    }

    fn warn(&mut self, code: &'static str, place: &Place, text: String) {
        let told = self.is_told(false);
        let known = &mut self.core.warnings;
        if told && known.len() < 16 && known.iter().all(|w| w.text != text) {
            known.push(Warning { code, place: Some(place.clone()), text, ms: None });
        }
    }

    fn interpreted(&mut self, place: &Place, much: Much, why: &Reason, own: f64) {
        self.core.outside_ms += own;
        if self.is_told(!matches!(much, Much::World(_))) {
            Interpreted::add(&mut self.core.interpreted, place, (much, why), own);
        }
    }

    fn made(&mut self, value: &Array) {
        // One that somebody else holds, too, may be an argument's.
        let new = naming::items(value).filter(|_| naming::is_alone(value));
        if self.core.made.len() < MADE {
            self.core.made.extend(new);
        }
    }

    fn worded(&mut self, place: &Place, bytes: usize, own: f64) {
        self.core.outside_ms += own;
        self.core.spent.display_ms += own;
        if self.is_told(false) {
            Warning::of_text(&mut self.core.warnings, place, bytes, own);
        }
    }

    fn follows(&self) -> bool {
        self.core.profile.is_some()
    }

    fn begins(&mut self, place: &Place) {
        self.core.profile.iter_mut().for_each(|p| p.begins(place));
    }

    fn calls(&mut self) {
        self.core.profile.iter_mut().for_each(Recorder::calls);
    }

    fn returns(&mut self) {
        self.core.profile.iter_mut().for_each(Recorder::returns);
    }

    fn untold(&self) -> f64 {
        let Core { born, outside_ms, spent, .. } = &*self.core;
        born.elapsed().as_secs_f64() * 1e3 - outside_ms - spent.front_ms - spent.launch_ms
    }

    fn limits(&self) -> &Limits {
        &self.core.limits
    }

    fn budget(&self) -> &Budget {
        &self.core.budget
    }

    fn interrupt(&self) -> &Interrupt {
        &self.core.interrupt
    }

    fn read_file(&mut self, path: &str) -> Result<Vec<u8>> {
        self.core.reach.check(Path::new(path))?;
        files::read_file(&self.source(path), &self.core.budget)
    }

    fn write_file(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        if self.says_aside(path, bytes)? {
            return Ok(());
        }
        files::write_file(&self.target(path)?, bytes, &self.core.interrupt)
    }

    fn append_file(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        if self.says_aside(path, bytes)? {
            return Ok(());
        }
        if self.has_effects() {
            self.core.reach.check(Path::new(path))?;
            return files::append_file(Path::new(path), bytes, &self.core.interrupt);
        }
        let mut all = if self.exists(path) { self.read_file(path)? } else { Vec::new() };
        all.extend_from_slice(bytes);
        self.write_file(path, &all)
    }

    fn read_arrays(&mut self, format: Format, path: &str) -> Result<Arrays> {
        self.core.reach.check(Path::new(path))?;
        let pool = self.core.device.cpu.pool();
        files::read_arrays(format, &self.source(path), pool, &self.core.budget)
    }

    fn write_arrays(
        &mut self,
        format: Format,
        path: &str,
        arrays: &Arrays,
        how: Option<&str>,
    ) -> Result<()> {
        let target = self.target(path)?;
        let Core { budget, interrupt, .. } = &*self.core;
        files::write_arrays(format, &target, arrays, how, budget, interrupt)
    }

    fn read_picture(&mut self, path: &str) -> Result<Array> {
        self.core.reach.check(Path::new(path))?;
        files::read_picture(&self.source(path), &self.core.budget)
    }

    fn write_picture(&mut self, path: &str, array: &Array) -> Result<()> {
        let bytes = files::png(array, &self.core.budget)?;
        self.write_file(path, &bytes)
    }

    fn setting(&mut self, command: &str, view: &mut View) -> Result<Option<String>> {
        self.core.commands.clone().map_or(Ok(None), |commands| commands.setting(command, view))
    }

    fn exists(&mut self, path: &str) -> bool {
        self.core.reach.check(Path::new(path)).is_ok() && self.source(path).exists()
    }

    fn delete(&mut self, path: &str) -> Result<()> {
        self.core.reach.check(Path::new(path))?;
        if self.has_effects() {
            return files::delete(Path::new(path));
        }
        self.withhold(format!("delete {path}"));
        self.core.aside.delete(Path::new(path))
    }

    fn errand(&mut self, errand: &Errand) -> Result<Answer> {
        if let Some(what) = files::effect(errand).filter(|_| !self.has_effects()) {
            self.withhold(what);
            return Ok(Answer::Done);
        }
        let Core { reach, runs, budget, interrupt, .. } = &*self.core;
        files::run_errand(errand, &files::Bounds { reach, runs: *runs, budget, interrupt })
    }

    fn now(&mut self) -> Now {
        crate::clock::now()
    }

    fn spent(&mut self) -> (f64, f64) {
        let ms = |since: &Instant| since.elapsed().as_secs_f64() * 1e3;
        (
            self.core.computed.as_secs_f64() * 1e3 + self.core.begun.as_ref().map_or(0.0, ms),
            ms(&self.core.born),
        )
    }

    fn sleep(&mut self, seconds: f64) -> Result<f64> {
        let begun = Instant::now();
        let wanted = Duration::from_secs_f64(seconds);
        // A line that is only traced again does not wait.
        while self.has_effects() && begun.elapsed() < wanted {
            self.core.interrupt.check()?;
            std::thread::sleep(
                (wanted - begun.elapsed().min(wanted)).min(Duration::from_millis(10)),
            );
        }
        self.core.interrupt.check()?;
        Ok(begun.elapsed().as_secs_f64())
    }

    fn read_line(&mut self, prompt: &str) -> Option<String> {
        let asked = Instant::now();
        let line = self.sink.as_mut().and_then(|sink| sink.input(prompt));
        // Waiting for keys is no computing.
        if let Some(begun) = &mut self.core.begun {
            *begun += asked.elapsed();
        }
        line
    }

    fn statement(&mut self, place: &Place, written: u64) {
        if self.core.mode.each && self.core.begins.len() < MOST_BEGINS {
            self.core.begins.push((written, place.lines()[0]));
        }
        if self.worked() {
            let is_first = self.core.idle.replace(place.clone()).is_none();
            // Where each statement is told, those of the one with most to do stay.
            if is_first && !self.core.mode.each {
                self.core.forced.iter_mut().for_each(Forced::let_go);
                self.core.current.let_go();
            }
        } else {
            self.core.idle = None;
            self.begin(place);
        }
        self.begun = true;
        self.core.sum = self.core.sum.and(&self.core.spent);
        self.core.spent = Spent::default();
        self.core.since = self.core.mode.tracing.then(Instant::now);
    }

    fn ends(&mut self, place: &Place, held: &dyn Fn() -> Vec<(Rc<str>, Array)>) {
        let Core { current, kept, mode, .. } = &mut *self.core;
        if mode.tracing {
            let told = kept.last_mut().into_iter().chain([current]);
            told.filter(|k| k.is_at(place)).for_each(|k| k.name_inputs(held));
        }
    }

    fn show(&mut self, value: &Array, text: &str, style: &Style) {
        self.gave = true;
        self.is_told(false);
        self.keep_said();
        if self.core.mode.tracing {
            self.core.current.result = Some(super::record::result_of(value));
            self.core.current.used = Some(self.core.budget.used());
            let wall = self.core.since.map(|since| since.elapsed().as_secs_f64() * 1e3);
            self.core.current.wall_ms = wall;
            let mut told = std::mem::take(&mut self.core.current);
            told.warnings.extend(self.core.warnings.iter().cloned());
            told.warnings.extend(self.core.interpreted.iter().map(Interpreted::warning));
            self.core.keep(told);
        }
        if let (Some(sink), false) = (&mut self.sink, self.silent) {
            let page = sink.rich().then(|| format::page(value, style));
            sink.event(Event::Result(shown::paged(text, page.flatten())));
        }
    }

    fn print(&mut self, value: &Array, text: &str, style: &Style) {
        self.gave = true;
        if self.core.idle.is_none() {
            self.keep_said();
        }
        let may = self.is_rich() && self.pages < shown::MOST_PAGES;
        match may.then(|| format::printed(value, style)).flatten() {
            Some(page) => {
                self.pages += 1;
                self.displayed(shown::paged(text, Some(page)));
            }
            None => self.output(text),
        }
    }

    fn display(&mut self, page: &Page) -> Result<()> {
        self.show_page(page)
    }

    fn plot(&mut self, chart: &Chart, columns: usize, file: Option<&str>) -> Result<String> {
        self.draw(chart, columns, file)
    }

    fn output(&mut self, text: &str) {
        if let Some(sink) = &mut self.sink {
            sink.event(Event::Stream(text.into()));
        }
    }

    fn prompt(&mut self, text: &str) {
        if let Some(sink) = &mut self.sink {
            sink.prompt(text);
        }
    }

    fn entropy(&mut self) -> u64 {
        if self.core.repeats {
            return 1;
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(1, |d| d.as_nanos() as u64 ^ u64::from(std::process::id()) << 32)
    }
}

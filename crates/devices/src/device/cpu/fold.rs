//! Reductions along one axis, in the order that `prim::reduce` states.
//!
//! | axis | item | strategy |
//! |---|---|---|
//! | last, extent ≤ 1 024 | a row | as many rows to a chunk as fit, the tree of each from L1 |
//! | last, longer | a block of 65 536, or 4 096 where f32 are added | chunks into 64 partials in registers, products that are taken unrounded into 16 |
//! | other | 256 places of a tile of up to 4 096 columns | rows added into the tile |
//! | last, of products of matrices | see `outer` | |
//! | last, of another function of all pairs | see `product` | |
//! | last, of few products of two operands | see `batch` | |
//! | last, of operands that lie across it | see `turned` | |
//! | any, of whole numbers in memory and of emitted truths | see `typed` | |
//! | any, not associative | a tile of columns, or a row | from the end, one element at a time |
//!
//! An item whose result shows ∞ or NaN is folded again with the scalar meaning. Not here: several
//! short rows to one register; of folds of several orders the body runs once for each order.

use super::batch::Batch;
use super::chunk::{CHUNK, Env, Frame};
use super::convert::Sink;
use super::cut::{ALONE_NS, CT, Cut, Dot, Fold, Item};
use super::emit;
use super::isa::Isa;
use super::kept::Made;
use super::loops::{Dots, Trees, trees, trees_of_singles};
use super::map::Outputs;
use super::outer;
use super::product::Packed;
use super::program::{Input, Work, lower};
use super::rounded::singles_of;
use super::share::{Tally, share, unit};
use super::turned::Turned;
use super::typed::Typed;
use super::{Cpu, DeviceError, Fault, RunCtx};
use crate::pool::PoolBuffer;
use aplomb_plans::plan::{Launch, Reduction, ValueId, What};
use aplomb_values::array::{DType, Storage, View};
use aplomb_values::body::finite::hides;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::{LANES, chain, halve, is_single};
use aplomb_values::prim::scalar::Fail;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub struct Finals {
    /// One buffer a reduction, of floats unless it is a search's, over the domain without the axis.
    pub values: Vec<PoolBuffer>,
    pub tally: Tally,
}

/// The results of a launch's body, before what follows.
pub enum Results {
    Finals(Finals),
    /// All of the launch's, in its outputs: the tallies of the body and of what follows.
    Stored(Tally, Tally),
}

pub fn run(
    cpu: &mut Cpu,
    launch: &Launch,
    inputs: &dyn Fn() -> Result<Vec<Input>, DeviceError>,
    outputs: &Outputs,
    ctx: &RunCtx,
) -> Result<Finals, DeviceError> {
    let Some(axis) = launch.axis.filter(|axis| *axis < launch.domain.len()) else {
        return Err(DeviceError::Broken("a launch reduces an axis that it has not".into()));
    };
    let mut values: Vec<Option<PoolBuffer>> = launch.reductions.iter().map(|_| None).collect();
    let mut tally = Tally::default();
    for (k, of) in launch.passes().into_iter().enumerate() {
        let cut = Cut::new(&launch.domain, axis, of.block);
        let pass = Pass { launch, cut, number: k + 1, folds: of.folds };
        tally.add(&pass.run(cpu, inputs()?, outputs, &mut values, ctx)?);
    }
    Ok(Finals { values: values.into_iter().flatten().collect(), tally })
}

pub(super) struct Pass<'a> {
    pub launch: &'a Launch,
    pub cut: Cut,
    /// From 1 on.
    pub number: usize,
    /// The launch's reductions that are meant, by number.
    pub folds: Vec<usize>,
}

/// A pass that is ready to run at any of its items.
pub(super) struct Ready {
    made: Rc<Made>,
    /// The results that no further item changes.
    ends: Option<Vec<f64>>,
    known: AtomicBool,
}

/// Facts of a pass's items that all threads know beside `Env`.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    typed: Option<&'a Typed>,
    ends: Option<&'a [f64]>,
    known: &'a AtomicBool,
}

impl Ready {
    pub fn known(&self) -> Known<'_> {
        let Ready { made, ends, known } = self;
        Known { typed: made.typed.as_ref(), ends: ends.as_deref(), known }
    }
}

impl<'a> Pass<'a> {
    fn run(
        &self,
        cpu: &mut Cpu,
        inputs: Vec<Input>,
        outputs: &Outputs,
        values: &mut [Option<PoolBuffer>],
        ctx: &RunCtx,
    ) -> Result<Tally, DeviceError> {
        let (launch, cut) = (self.launch, self.cut);
        let fits = self.number == 1 && launch.stores.is_empty() && launch.is_in_order();
        if let ([k], true) = (&*self.folds, fits)
            && let Some((done, mut tally)) = outer::run(cpu, launch, &inputs, ctx)?
        {
            let of = &launch.reductions[*k];
            values[*k] = Some(self.rounded(cpu, of, done, &mut tally.fault, ctx)?);
            return Ok(tally);
        }
        let mut parts = self.parts(cpu, ctx)?;
        let (folds, work) = self.folds(cpu, &mut parts, outputs);
        let keep = work.keep.clone();
        // So short a sum fills no tile, whose steps are many products long.
        let mut done = None;
        if let (Some(batch), [fold]) = (Batch::of(launch, &inputs), &*folds) {
            done = batch.run(cpu, fold, ctx)?;
        }
        let packed = match (&done, self.number == 1) {
            (None, true) => Packed::of(cpu, launch, &inputs, ctx)?,
            _ => None,
        };
        if let (None, None, Some(way)) = (&packed, &done, Turned::of(launch, &inputs)) {
            done = way.run(cpu, &inputs, (&folds, keep), cut.block, ctx)?;
        }
        let mut tally = match done {
            Some(tally) => tally,
            None => self.straight(cpu, &folds, work, inputs, packed, outputs, ctx)?,
        };
        drop(folds);
        for (&k, part) in self.folds.iter().zip(parts) {
            let reduction = &launch.reductions[k];
            let done = if cut.blocks == 1 {
                Ok(part)
            } else {
                self.join(cpu, reduction, &part, &mut tally.fault, ctx)
            };
            values[k] = Some(self.rounded(cpu, reduction, done?, &mut tally.fault, ctx)?);
        }
        Ok(tally)
    }

    /// Room for the partial results of each fold.
    pub fn parts(&self, cpu: &Cpu, ctx: &RunCtx) -> Result<Vec<PoolBuffer>, DeviceError> {
        let n = self.cut.outer * self.cut.blocks * self.cut.inner;
        let make = |_| cpu.pool.buffer(DType::F64, n, ctx.budget).map_err(DeviceError::Oom);
        self.folds.iter().map(make).collect()
    }

    /// The folds, with the room for their partial results, and the work that makes their values.
    pub fn folds(
        &self,
        cpu: &Cpu,
        parts: &mut [PoolBuffer],
        outputs: &Outputs,
    ) -> (Vec<Fold<'a>>, Work<'a>) {
        let launch = self.launch;
        let of = |k: &usize| &launch.reductions[*k];
        let stored: Vec<Option<*const f32>> =
            self.folds.iter().map(of).map(|r| self.stored(r, outputs)).collect();
        // A fold that hides ∞ must not get one.
        let kept = self.folds.iter().map(of).zip(&stored).filter(|(_, stored)| stored.is_none());
        let mut keep: Vec<_> = kept.map(|(r, _)| (r.value, hides(r.op))).collect();
        let (mut folds, mut kept) = (Vec::new(), 0);
        for ((r, part), stored) in self.folds.iter().map(of).zip(parts).zip(stored) {
            folds.push(Fold { kept, stored, ..self.fold(cpu, r, part, &mut keep) });
            kept += usize::from(stored.is_none());
        }
        let work = Work {
            isa: cpu.isa,
            domain: &launch.domain,
            steps: &launch.body,
            guards: &launch.guards,
            loads: &[],
            // Body stores happen once.
            stores: if self.number == 1 { outputs.for_work() } else { Vec::new() },
            keep,
            reduced: Vec::new(),
        };
        (folds, work)
    }

    /// Results in their own type.
    fn rounded(
        &self,
        cpu: &mut Cpu,
        of: &Reduction,
        done: PoolBuffer,
        fault: &mut Option<Fault>,
        ctx: &RunCtx,
    ) -> Result<PoolBuffer, DeviceError> {
        match of.dtype {
            DType::F32 => singles_of(cpu, of, &done, fault, ctx),
            _ => Ok(done),
        }
    }

    /// The body at every place in the domain's order, and its values into partial results.
    #[allow(clippy::too_many_arguments)]
    fn straight(
        &self,
        cpu: &mut Cpu,
        folds: &[Fold],
        work: Work,
        inputs: Vec<Input>,
        packed: Option<Packed>,
        outputs: &Outputs,
        ctx: &RunCtx,
    ) -> Result<Tally, DeviceError> {
        let (launch, cut) = (self.launch, self.cut);
        let total: usize = launch.domain.iter().product();
        let mut sinks = outputs.sinks.clone();
        for sink in &mut sinks {
            // What is read again stays near.
            sink.stream &= !folds.iter().any(|f| f.stored == Some(sink.at.cast_const().cast()));
        }
        let ready = self.ready(cpu, folds, (work, inputs), packed.is_none(), &sinks);
        let (env, program) = (self.env(&ready, cpu.isa, &sinks, ctx), &ready.made.program);
        let known = ready.known();
        let items = cut.items();
        let each = (cut.block.min(cut.extent) * cut.tile).max(1);
        let together = (program.ns + 0.1 * folds.len() as f64) * total as f64 > ALONE_NS;
        let group = (unit(cpu, total, together) / each).max(1);
        match (&packed, folds) {
            (Some(packed), [fold]) => {
                share(cpu, &env, packed.units(), together, ctx, &|frame, unit| {
                    let mut again = |item: usize| self.group(frame, &env, folds, item..item + 1);
                    // SAFETY: `out` holds a partial for each item.
                    unsafe { packed.unit(unit, fold.out, &mut again) }
                })
            }
            _ => share(cpu, &env, items.div_ceil(group), together, ctx, &|frame, unit| {
                let range = unit * group..((unit + 1) * group).min(items);
                self.items(known, (frame, &env), folds, range);
            }),
        }
    }

    /// The pass, ready to run; not `typed`: something else takes its values.
    pub fn ready(
        &self,
        cpu: &Cpu,
        folds: &[Fold],
        (work, inputs): (Work, Vec<Input>),
        typed: bool,
        sinks: &[Sink],
    ) -> Ready {
        let (launch, cut, registry) = (self.launch, self.cut, &cpu.loops);
        let (steps, domain) = (&launch.body, &launch.domain);
        let make = |work, inputs| {
            let program = lower(work, inputs);
            let typed = match typed {
                true => Typed::of((launch, cut), folds, &program, registry),
                false => None,
            };
            let emitted = match &typed {
                None => emit::parts(registry, &program, steps, sinks, (domain, false)),
                Some(_) => None,
            };
            Made { program, emitted, typed, row: usize::MAX, strides: None }
        };
        let made = cpu.kept.made(registry, self.number, (work, inputs), sinks, make);
        let ends =
            made.typed.as_ref().and_then(|own| own.ends((launch, cut), folds, &made.program));
        Ready { made, ends, known: AtomicBool::new(false) }
    }

    /// The data that the threads of a pass share, with the sinks that they fill.
    pub fn env<'b>(&self, ready: &'b Ready, isa: Isa, sinks: &'b [Sink], ctx: &'b RunCtx) -> Env<'b>
    where
        'a: 'b,
    {
        let Made { program, emitted, .. } = &*ready.made;
        Env::new(isa, program, &self.launch.body, sinks, ctx.interrupt).with(emitted)
    }

    /// Some items by one thread.
    pub fn items(
        &self,
        Known { typed, ends, known }: Known<'_>,
        (frame, env): (&mut Frame, &Env),
        folds: &[Fold],
        items: std::ops::Range<usize>,
    ) {
        let cut = self.cut;
        let Some(typed) = typed else { return self.group(frame, env, folds, items) };
        let bunch = typed.bunch(cut);
        for k in items.clone().step_by(bunch) {
            let own = k..(k + bunch).min(items.end);
            let ends = ends.map(|ends| folds.iter().zip(ends));
            // SAFETY: the partial is this item's.
            let part = |fold: &Fold| unsafe { fold.out.add(cut.item(k).to) };
            if let (true, Some(ends)) = (known.load(Relaxed), ends.clone()) {
                // SAFETY: the same.
                ends.for_each(|(fold, end)| unsafe { *part(fold) = *end });
                continue;
            }
            if !typed.items(env.isa, cut, folds, (frame, env), own.clone()) {
                own.for_each(|k| self.group(frame, env, folds, k..k + 1));
            }
            // SAFETY: it was just written.
            let is_end = |(fold, end): (&Fold, &f64)| unsafe { *part(fold) == *end };
            if ends.is_some_and(|mut ends| ends.all(is_end)) {
                known.store(true, Relaxed);
            }
        }
    }

    /// A reduction, ready to run; what it needs besides its value is kept behind all values.
    fn fold<'b>(
        &self,
        cpu: &Cpu,
        of: &'b Reduction,
        part: &mut PoolBuffer,
        keep: &mut Vec<(ValueId, bool)>,
    ) -> Fold<'b> {
        let bools = self.launch.body[of.value as usize].dtype == DType::Bool;
        let plain = matches!(of.op, Op::Add | Op::Mul | Op::Max | Op::Min);
        let end = (plain || (bools && matches!(of.op, Op::Lcm | Op::Gcd)))
            .then(|| trees(cpu.isa, of.op))
            .flatten();
        let fast = match is_single(of.op, of.dtype) {
            true => trees_of_singles(cpu.isa, of.op),
            false => end,
        };
        let dot = Dot::of(cpu.isa, of, &self.launch.body, keep);
        let out = part.as_mut_ptr().cast();
        Fold { of, fast, end, dot, kept: 0, stored: None, out }
    }

    /// The values of a fold where they are stored, if they are f32 and added in f32.
    fn stored(&self, of: &Reduction, outputs: &Outputs) -> Option<*const f32> {
        let launch = self.launch;
        let fits = self.number == 1 && self.cut.last && is_single(of.op, of.dtype);
        let at = launch.stores.iter().position(|store| store.value == of.value)?;
        let sink = outputs.sinks.get(at).filter(|sink| fits && sink.dtype == DType::F32)?;
        (launch.body[of.value as usize].dtype == DType::F32).then_some(sink.at.cast_const().cast())
    }

    fn group(&self, frame: &mut Frame, env: &Env, folds: &[Fold], items: std::ops::Range<usize>) {
        let cut = self.cut;
        let ordered = folds.first().is_some_and(|f| !f.of.op.is_associative());
        if cut.last && !ordered && cut.extent <= CHUNK && cut.blocks == 1 {
            return self.short_rows(frame, env, folds, items);
        }
        let mut items = items;
        while let Some(k) = items.next().filter(|_| !env.stop.is_set()) {
            let item = cut.item(k);
            match () {
                () if ordered => self.backwards(frame, env, folds, item),
                () if cut.last => {
                    let some = self.blocks_in_order(frame, env, folds, k..items.end);
                    match some.checked_sub(1) {
                        Some(more) => items.start += more,
                        None => self.long_row(frame, env, folds, item),
                    }
                }
                () => self.columns(frame, env, folds, item),
            }
        }
    }

    /// Whole blocks of a row whose products are taken in order, as many as a chunk holds, side by
    /// side, so that none waits for its own last step. How many these are; 0: none, or some result
    /// is not finite.
    fn blocks_in_order(
        &self,
        frame: &mut Frame,
        env: &Env,
        folds: &[Fold],
        items: std::ops::Range<usize>,
    ) -> usize {
        let (cut, first) = (self.cut, items.start);
        let whole = cut.extent / cut.block - first % cut.blocks;
        let some = whole.min(items.len()).min(CHUNK / cut.block);
        let plain = |f: &Fold| f.partials() == 1 && f.fast.is_some();
        if some < 2 || !folds.iter().all(plain) {
            return 0;
        }
        let item = cut.item(first);
        frame.run(env, item.base + item.first, some * cut.block);
        let fine = folds.iter().all(|fold| {
            let Some((loops, [x, y])) = fold.factors(frame, env) else { return false };
            // SAFETY: the chunk holds so many blocks; the partials are these items'.
            unsafe { loops.sums_in_order(fold.out.add(item.to), (x, y), some, cut.block) }
        });
        if fine { some } else { 0 }
    }

    /// Whole rows of at most a chunk: items are rows.
    fn short_rows(
        &self,
        frame: &mut Frame,
        env: &Env,
        folds: &[Fold],
        items: std::ops::Range<usize>,
    ) {
        let extent = self.cut.extent;
        let most = CHUNK / extent;
        let mut row = items.start;
        if let [fold] = folds
            && self.singles(env, fold, items.clone())
        {
            return;
        }
        // A step of a fold may take a microsecond. What is left out nobody looks at.
        while row < items.end && !env.stop.is_set() {
            let rows = most.min(items.end - row);
            frame.run(env, row * extent, rows * extent);
            let fast = |f: &Fold| match (f.fast, f.factors(frame, env)) {
                (Some(_), Some(of)) => self.rows_of_products(f, of, row, rows),
                (Some(fast), None) => match f.stored {
                    // SAFETY: these rows were just stored; the partials are these items'.
                    Some(at) => unsafe {
                        (fast.short)(f.out.add(row), at.add(row * extent), rows, extent)
                    },
                    None => self.rows(frame.kept(env, f.kept), fast, f, row, rows),
                },
                (None, _) => true,
            };
            if !folds.iter().all(fast) {
                // What overflowed may lie below the fold.
                frame.run_with(env, row * extent, rows * extent, true);
                self.rows_with_care(frame, env, folds, row, rows);
            } else if folds.iter().any(|f| f.fast.is_none()) {
                self.rows_with_care(frame, env, folds, row, rows);
            }
            row += rows;
        }
    }

    /// Short rows of f32 that lie one behind the other, of which nothing else is wanted: folded
    /// where they lie, and not as f64 that a chunk holds. False: they are something else, or some
    /// result is not finite.
    fn singles(&self, env: &Env, fold: &Fold, rows: std::ops::Range<usize>) -> bool {
        let (extent, step) = (self.cut.extent, &self.launch.body[fold.of.value as usize]);
        let (What::Load(k), None) = (&step.what, step.from.guard) else { return false };
        let k = *k as usize;
        let source = env.program.inputs[k].straight_in(env.source(k), rows.end * extent);
        let (Some(fast), Some(source)) = (fold.fast, source) else { return false };
        let singles = source.dtype == DType::F32 && fold.of.dtype == DType::F32;
        if !singles || extent >= LANES || !self.launch.stores.is_empty() {
            return false;
        }
        // SAFETY: the source holds all of the rows; the partials are these items'.
        unsafe {
            let at = source.at.cast::<f32>().add(rows.start * extent);
            (fast.short)(fold.out.add(rows.start), at, rows.len(), extent)
        }
    }

    /// Short rows of one fold, by its loop; false: some result is not finite.
    fn rows(&self, values: *const f64, fast: Trees, fold: &Fold, row: usize, rows: usize) -> bool {
        // SAFETY: the chunk holds rows × extent values; the partials are these items'.
        unsafe { (fast.rows)(fold.out.add(row), values, rows, self.cut.extent) }
    }

    /// The same of products that are not rounded before.
    fn rows_of_products(
        &self,
        fold: &Fold,
        (loops, of): (Dots, [*const f64; 2]),
        row: usize,
        rows: usize,
    ) -> bool {
        let extent = self.cut.extent;
        let Some(end) = fold.end else { return false };
        if fold.partials() == 1 {
            // SAFETY: the chunk holds rows × extent values; the partials are these items'.
            return unsafe { loops.sums_in_order(fold.out.add(row), (of[0], of[1]), rows, extent) };
        }
        (0..rows).all(|r| {
            // SAFETY: the chunk holds rows × extent values; the partials are these items'.
            unsafe {
                let [x, y] = of.map(|own| own.add(r * extent));
                loops.sum(end, &mut *fold.out.add(row + r), (x, y), extent)
            }
        })
    }

    fn rows_with_care(
        &self,
        frame: &mut Frame,
        env: &Env,
        folds: &[Fold],
        row: usize,
        rows: usize,
    ) {
        let extent = self.cut.extent;
        for fold in folds {
            let values = fold.values(frame, env, row * extent, rows * extent);
            let factors = fold.factors(frame, env);
            for r in 0..rows {
                // SAFETY: the chunk holds rows × extent values; the partial is this item's.
                unsafe {
                    let items = std::slice::from_raw_parts(values.add(r * extent), extent);
                    let mut ends = None;
                    let (mut part, lanes) = ([0.0; LANES], fold.partials());
                    let long = items.len().min(lanes);
                    part[..long].copy_from_slice(&items[..long]);
                    for (j, &item) in items.iter().enumerate().skip(lanes) {
                        let at = r * extent + j;
                        let pair = factors.map(|(_, [x, y])| (*x.add(at), *y.add(at)));
                        let sum = &mut part[j % lanes];
                        *sum = fold.next(item, pair, *sum, (row + r, &mut frame.fault));
                    }
                    let join = |x, y| Ok(fold.join(x, y, row + r, &mut ends));
                    let Ok(()) = halve::<_, Infallible>(&mut part[..long], join);
                    let sum = part[0];
                    if let Some(fault) = ends {
                        fault.keep_least(&mut frame.fault);
                    }
                    *fold.out.add(row + r) = sum;
                }
            }
        }
    }

    /// One block of a row longer than a chunk.
    fn long_row(&self, frame: &mut Frame, env: &Env, folds: &[Fold], item: Item) {
        let mut careful = false;
        loop {
            let mut part = vec![[0.0; LANES]; folds.len()];
            let mut at = 0;
            while at < item.places && !env.stop.is_set() {
                let n = CHUNK.min(item.places - at);
                frame.run_with(env, item.base + item.first + at, n, careful);
                for (k, fold) in folds.iter().enumerate() {
                    if fold.stored.is_some() && !careful {
                        continue;
                    }
                    let values = fold.values(frame, env, item.base + item.first + at, n);
                    let factors = fold.factors(frame, env);
                    let fast = fold.fast.filter(|_| !careful && (at > 0 || n >= LANES));
                    let (own, fresh, lanes) = (part[k].as_mut_ptr(), at == 0, fold.partials());
                    // SAFETY: the chunk holds n values, the first one of a block at least 64.
                    match (fast, factors) {
                        (Some(_), Some((l, [x, y]))) if lanes == 1 => unsafe {
                            if fresh {
                                *own = -0.0;
                            }
                            (l.in_order)(own, x, y, (1, n), n)
                        },
                        (Some(_), Some((l, [x, y]))) => unsafe { (l.gather)(own, x, y, n, fresh) },
                        // SAFETY: as above.
                        (Some(l), None) => unsafe { (l.gather)(own, values, n, fresh) },
                        (None, _) => {
                            for j in 0..n {
                                let (x, sum) = (unsafe { *values.add(j) }, part[k][j % lanes]);
                                // SAFETY: the chunk holds n of each.
                                let pair =
                                    factors.map(|(_, [x, y])| unsafe { (*x.add(j), *y.add(j)) });
                                let sum = match at + j < lanes {
                                    true => x,
                                    false => {
                                        let to = (item.result, &mut frame.fault);
                                        fold.next(x, pair, sum, to)
                                    }
                                };
                                part[k][j % lanes] = sum;
                            }
                        }
                    }
                }
                at += n;
            }
            let mut again = false;
            for (k, fold) in folds.iter().enumerate() {
                let held = &mut part[k][..fold.partials().min(item.places)];
                let first = item.base + item.first;
                let result = match fold.end.filter(|_| !careful) {
                    Some(_) if let (Some(at), Some(fast)) = (fold.stored, fold.fast) => {
                        let mut one = 0.0;
                        // SAFETY: the block's values were just stored.
                        unsafe { (fast.short)(&mut one, at.add(first), 1, item.places) };
                        one
                    }
                    // What is not finite is folded again with care.
                    // SAFETY: so many partials.
                    Some(l) => unsafe {
                        let mut one = 0.0;
                        (l.rows)(&mut one, held.as_ptr(), 1, held.len());
                        one
                    },
                    None => {
                        let with_care = |x, y| Ok(fold.join(x, y, item.result, &mut frame.fault));
                        let Ok(()) = halve::<_, Infallible>(held, with_care);
                        held[0]
                    }
                };
                again |= !result.is_finite();
                // SAFETY: this item's partial.
                unsafe { *fold.out.add(item.to) = result };
            }
            if careful || !again {
                return;
            }
            careful = true;
        }
    }

    /// A block of rows added into a tile of columns.
    fn columns(&self, frame: &mut Frame, env: &Env, folds: &[Fold], item: Item) {
        let (inner, most) = (self.cut.inner, self.cut.rows());
        let width = item.columns;
        let mut careful = false;
        loop {
            let mut at = 0;
            while at < item.places {
                let rows = most.min(item.places - at);
                for first in (0..width).step_by(CHUNK) {
                    let columns = CHUNK.min(width - first);
                    let n = if rows == 1 { columns } else { rows * inner };
                    let start = item.base + (item.first + at) * inner + first;
                    frame.run_with(env, start, n, careful);
                    for fold in folds {
                        let loops = fold.fast.filter(|_| !careful);
                        let values = frame.kept(env, fold.kept);
                        for r in 0..rows {
                            // SAFETY: the chunk holds the rows' values; the partials are this
                            // item's.
                            unsafe {
                                let sums = fold.out.add(item.to + first);
                                let row = values.add(r * inner);
                                match loops {
                                    _ if at + r == 0 => {
                                        std::ptr::copy_nonoverlapping(row, sums, columns)
                                    }
                                    Some(l) => drop((l.both)(sums, sums, row, CT, columns)),
                                    None => {
                                        let own = &mut frame.fault;
                                        for j in 0..columns {
                                            let (x, y) = (*sums.add(j), *row.add(j));
                                            let at = item.result + first + j;
                                            *sums.add(j) = fold.step(x, y, at, own);
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                at += rows;
            }
            // SAFETY: this item's partials.
            let fine = |f: &Fold| {
                f.fast.is_none() || unsafe { (env.plain.all_finite)(f.out.add(item.to), width) }
            };
            if careful || folds.iter().all(fine) {
                return;
            }
            careful = true;
        }
    }

    /// Right to left, for operations that are not associative.
    fn backwards(&self, frame: &mut Frame, env: &Env, folds: &[Fold], item: Item) {
        let (inner, most) = (self.cut.inner, self.cut.rows());
        let mut end = item.places;
        while end > 0 {
            // Whole chunks from the start on, so the last one is the short one.
            let first = (end - 1) / most * most;
            let rows = end - first;
            frame.run(
                env,
                item.base + first * inner,
                if rows == 1 { item.columns } else { rows * inner },
            );
            for fold in folds {
                let values = frame.kept(env, fold.kept);
                for r in (0..rows).rev() {
                    for j in 0..item.columns {
                        // SAFETY: the chunk holds the rows' values; the partials are this item's.
                        unsafe {
                            let (sum, x) = (fold.out.add(item.to + j), *values.add(r * inner + j));
                            let fresh = first + r + 1 == item.places;
                            *sum = if fresh {
                                x
                            } else {
                                fold.step(x, *sum, item.result + j, &mut frame.fault)
                            };
                        }
                    }
                }
            }
            end = first;
        }
    }

    /// The blocks of each result, left to right; of no blocks the identity.
    fn join(
        &self,
        cpu: &Cpu,
        of: &Reduction,
        part: &PoolBuffer,
        fault: &mut Option<Fault>,
        ctx: &RunCtx,
    ) -> Result<PoolBuffer, DeviceError> {
        let Cut { outer, blocks, inner, .. } = self.cut;
        let mut out =
            cpu.pool.buffer(DType::F64, outer * inner, ctx.budget).map_err(DeviceError::Oom)?;
        let View::F64(part) = part.view() else {
            return Err(DeviceError::Broken("the parts of a fold are no floats".into()));
        };
        let out_at = out.as_mut_ptr().cast();
        let fold =
            Fold { of, fast: None, end: None, dot: None, kept: 0, stored: None, out: out_at };
        for at in 0..outer * inner {
            let (a, b) = (at / inner, at % inner);
            let items = (0..blocks).map(|k| part[(a * blocks + k) * inner + b]);
            let Ok(sum) = chain::<_, Infallible>(items, |x, y| Ok(fold.join(x, y, at, fault)));
            let sum = sum.or_else(|| of.op.identity()).unwrap_or_else(|| {
                fold.fault(
                    at,
                    Fail::Domain("this function has no identity for an empty axis"),
                    fault,
                );
                0.0
            });
            // SAFETY: at < outer × inner.
            unsafe { *fold.out.add(at) = sum };
        }
        Ok(out)
    }
}

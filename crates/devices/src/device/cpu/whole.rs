//! Consumers of whole arrays (`dag::Whole`): the body runs as a map into f64 buffers, then the
//! operation on all of them.
//!
//! | what | shared out by |
//! |---|---|
//! | ordered fold | lines |
//! | segments, folded or scanned | segments; a fold of `+ × ⌈ ⌊` by the loop of a row |
//! | scatter | see there |
//! | library | see there; rows in order: `rows` |
//!
//! Not here: body and operation in one pass over memory.

use super::convert::{Sink, Source, converts};
use super::fold::Finals;
use super::loops::{Trees, trees};
use super::map::{Outputs, body_into};
use super::ordered::Places;
use super::program::{Input, one};
use super::share::{Tally, each_unit};
use super::{Cpu, DeviceError, Fault, Held, Isa, RunCtx, library, lookup, rows, scatter};
use crate::pool::{PoolBuffer, lock};
use aplomb_plans::plan::{Finish, Launch, Plan, ValueId, What};
use aplomb_values::array::{DType, around, elements};
use aplomb_values::dag::Whole;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::{self, is_single};
use aplomb_values::prim::scalar::Fail;
use aplomb_values::prim::scalar::single::rounded;
use aplomb_values::prim::scan;
use aplomb_values::prim::whole::{Given, Line, segment, segments};
use std::sync::Mutex;

/// Elements below which a hand-off is not worth it, and results to a unit.
const ALONE: usize = 16_384;
const UNIT: usize = 256;

pub fn run(
    cpu: &mut Cpu,
    plan: &Plan,
    launch: &Launch,
    held: &[Option<Held>],
    inputs: Vec<Input>,
    outputs: &Outputs,
    ctx: &RunCtx,
) -> Result<Finals, DeviceError> {
    let broken = |what: &str| DeviceError::Broken(format!("an operation on whole arrays {what}"));
    let finish = launch.finish.as_ref().ok_or_else(|| broken("is missing"))?;
    let make = |cpu: &Cpu, n| cpu.pool.buffer(DType::F64, n, ctx.budget).map_err(DeviceError::Oom);
    let mut operands: Vec<Operand> = Vec::new();
    for &load in &finish.held {
        let buf = launch.loads.get(load as usize).ok_or_else(|| broken("has no operand"))?.buf;
        let Some(Some(from)) = held.get(buf.0 as usize) else {
            return Err(broken("is there before its operand"));
        };
        let shape = plan.buffer(buf).shape.to_vec();
        operands.push(Operand { source: from.source(), shape, own: None });
    }
    if let Some(finals) = tallied(cpu, launch, finish, (&inputs, &mut operands), ctx)? {
        return Ok(finals);
    }
    let mut tally = Tally::default();
    if !finish.fed.is_empty() {
        let mut more = Vec::with_capacity(finish.fed.len());
        // The places tell the domain's shape, so the values of a scatter need not.
        let spread = matches!(finish.what, Whole::Scatter { .. }) && finish.fed.len() > 1;
        for (k, &value) in finish.fed.iter().enumerate() {
            if let (true, Some(x)) = (spread && k == 0, uniform(launch, &inputs, value)) {
                let mut buffer = make(cpu, 1)?;
                // SAFETY: it holds one.
                unsafe { *buffer.as_mut_ptr().cast::<f64>() = x };
                operands.push(Operand::made(buffer, 1, Vec::new()));
                continue;
            }
            let mut buffer = make(cpu, elements(&launch.domain))?;
            more.push((value, Sink::own(&mut buffer)));
            let shape = launch.domain.to_vec();
            operands.push(Operand::made(buffer, elements(&launch.domain), shape));
        }
        (tally, _) = body_into(cpu, launch, inputs, outputs, &more, ctx)?;
    }
    let typed = match found(cpu, finish, &operands, ctx)? {
        None => placed(cpu, launch, finish, &operands, ctx)?,
        found => found,
    };
    if let Some((values, threads)) = typed {
        tally.threads = threads.max(tally.threads);
        return Ok(Finals { values: vec![values], tally });
    }
    let mut result = make(cpu, elements(&finish.shape))?;
    let to = result.as_mut_ptr().cast::<f64>();
    if let (Whole::Lib { of, origin, rows: true, first, .. }, [operand], [.., own]) =
        (&finish.what, &*operands, &finish.shape[..])
    {
        let row = operand.shape.last().map_or(1, |n| *n);
        let wanted = *first..first + own;
        // SAFETY: the result holds as many of each row of its operand as are wanted.
        let ran = unsafe { rows::run(cpu, ctx, (*of, *origin), (operand.source, row), wanted, to) };
        tally.threads = ran?.max(tally.threads);
        return Ok(Finals { values: vec![result], tally });
    }
    for operand in &mut operands {
        operand.become_numbers(cpu, ctx)?;
    }
    let given: Vec<Given> = operands.iter().map(Operand::given).collect();
    let whole = Parts { finish, given: &given, to, first: Mutex::default() };
    tally.threads = whole.run(cpu, ctx)?.max(tally.threads);
    if finish.dtype == DType::F32 {
        // What follows in the launch reads them as they would be stored.
        (0..elements(&finish.shape)).for_each(|k| whole.round(k));
    }
    if let Some(fault) = whole.first.into_inner().unwrap_or_else(|e| e.into_inner()) {
        fault.keep_least(&mut tally.fault);
    }
    Ok(Finals { values: vec![result], tally })
}

/// The place of numbers that threads write, each its own.
struct Numbers(*mut f64);

// SAFETY: see above.
unsafe impl Sync for Numbers {}

impl Numbers {
    fn at(&self, k: usize) -> *mut f64 {
        self.0.wrapping_add(k)
    }
}

/// An operand: its items as they lie in memory, which are f64 once somebody wants numbers.
struct Operand {
    source: Source,
    shape: Vec<usize>,
    /// The memory of the source, where it was made here.
    own: Option<PoolBuffer>,
}

// SAFETY: nobody writes it while the launch runs.
unsafe impl Sync for Operand {}

impl Operand {
    /// Of so many f64.
    fn made(buffer: PoolBuffer, len: usize, shape: Vec<usize>) -> Operand {
        let source = Source { at: buffer.as_ptr(), dtype: DType::F64, len };
        Operand { source, shape, own: Some(buffer) }
    }

    /// Copies items of another type.
    fn become_numbers(&mut self, cpu: &mut Cpu, ctx: &RunCtx) -> Result<(), DeviceError> {
        let n = self.source.len;
        if self.source.dtype == DType::F64 {
            return Ok(());
        }
        let mut buffer = cpu.pool.buffer(DType::F64, n, ctx.budget).map_err(DeviceError::Oom)?;
        let (load, to) = (converts(cpu.isa).load, Numbers(buffer.as_mut_ptr().cast()));
        let from = &*self;
        each_unit(&mut cpu.threads, n.div_ceil(ALONE), n > ALONE, ctx, &|k, _| {
            let (first, end) = (k * ALONE, ((k + 1) * ALONE).min(n));
            // SAFETY: the source and the buffer hold n, and units are disjoint.
            unsafe { load(from.source, first as i64, 1, end - first, to.at(first)) }
        })?;
        self.source = Source { at: buffer.as_ptr(), dtype: DType::F64, len: n };
        self.own = Some(buffer);
        Ok(())
    }

    /// Of f64 that are there as long as this is.
    fn given(&self) -> Given<'_> {
        // SAFETY: the source holds so many of that type.
        let items =
            unsafe { std::slice::from_raw_parts(self.source.at.cast::<f64>(), self.source.len) };
        Given { items, shape: &self.shape }
    }
}

/// The results of a search, a grade or a sort of operands as they lie in memory, in a type of their
/// own. None: it takes numbers, or it is something else.
fn found(
    cpu: &mut Cpu,
    finish: &Finish,
    operands: &[Operand],
    ctx: &RunCtx,
) -> Result<Option<(PoolBuffer, usize)>, DeviceError> {
    let Whole::Lib { of, origin, ct, rows: false, first, .. } = finish.what else {
        return Ok(None);
    };
    let n = elements(&finish.shape);
    match operands {
        [all] if elements(&all.shape) == all.source.len && all.shape.len() == 1 => {
            library::by_keys(cpu, ctx, (of, origin), all.source, first..first + n)
        }
        [have, want] if want.source.len == n => {
            let (have, want) = (have.source, want.source);
            let (places, room) = Places::new(cpu, ctx, (of, origin), (have.len, n))?;
            // SAFETY: there is room for n, as many as are looked up, each once.
            let put = |from: usize, firsts: &[usize]| unsafe { places.put(from, firsts) };
            let ran = lookup::narrow(cpu, ctx, (have, want), ct, &put).transpose()?;
            Ok(ran.map(|threads| (room, threads)))
        }
        _ => Ok(None),
    }
}

/// `x[I]←v` of a vector, in the type that its items have where they lie. None: it is something
/// else, or some place is none.
fn placed(
    cpu: &mut Cpu,
    launch: &Launch,
    finish: &Finish,
    operands: &[Operand],
    ctx: &RunCtx,
) -> Result<Option<(PoolBuffer, usize)>, DeviceError> {
    let Whole::Scatter { origin, combine: None, .. } = &finish.what else {
        return Ok(None);
    };
    let ([base, values, places], [_, by]) = (operands, finish.fed.as_slice()) else {
        return Ok(None);
    };
    let (n, dtype) = (base.source.len, base.source.dtype);
    let whole = launch.body.get(*by as usize).is_some_and(|step| step.dtype.is_integer());
    let typed = dtype == finish.dtype && !matches!(dtype, DType::Char | DType::Complex);
    if !typed || !whole || !is_vector(finish) || n != elements(&finish.shape) {
        return Ok(None);
    }
    scatter::typed(cpu, ctx, base.source, (values.given().items, places.given().items), *origin)
}

/// True of an assignment to a vector by places in it.
fn is_vector(finish: &Finish) -> bool {
    let Whole::Scatter { read, along, .. } = &finish.what else { return false };
    matches!((along.as_slice(), read.ix.as_slice()), ([a], [ix])
        if a.times == 1 && read.tests.is_empty() && ix.is_constant() && ix.c == 0)
}

/// `x[I]+←n` of a vector and one number, by counting places that lie in memory as whole numbers.
/// None: it is something else, or some place is none.
fn tallied(
    cpu: &mut Cpu,
    launch: &Launch,
    finish: &Finish,
    (inputs, operands): (&[Input], &mut [Operand]),
    ctx: &RunCtx,
) -> Result<Option<Finals>, DeviceError> {
    let Whole::Scatter { origin, combine, .. } = &finish.what else { return Ok(None) };
    let (&[value, places], [base]) = (finish.fed.as_slice(), operands) else { return Ok(None) };
    let step = launch.body.get(places as usize);
    let (Some(What::Load(k)), Some(each)) = (step.map(|s| &s.what), uniform(launch, inputs, value))
    else {
        return Ok(None);
    };
    let n = elements(&launch.domain);
    let simple = is_vector(finish) && launch.stores.is_empty();
    let Some(input) = inputs.get(*k as usize).filter(|_| simple) else { return Ok(None) };
    let typed = matches!(input.source.dtype, DType::I8 | DType::I16 | DType::I32);
    if !typed || input.flat != Some(0) || input.source.len != n || base.source.len > n {
        return Ok(None);
    }
    base.become_numbers(cpu, ctx)?;
    let given = base.given().items;
    if !scatter::is_counted(*combine, n, given, each) {
        return Ok(None);
    }
    let Some((counts, threads)) =
        scatter::tally(cpu, ctx, input.source, *origin as i64, given.len())?
    else {
        return Ok(None);
    };
    let mut result =
        cpu.pool.buffer(DType::F64, given.len(), ctx.budget).map_err(DeviceError::Oom)?;
    let to = result.as_mut_ptr().cast::<f64>();
    for (k, (x, count)) in given.iter().zip(counts).enumerate() {
        // SAFETY: the result holds as many.
        unsafe { *to.add(k) = if count > 0 { x + count as f64 * each } else { *x } };
    }
    Ok(Some(Finals { values: vec![result], tally: Tally { threads, ..Tally::default() } }))
}

/// A value that is plainly the same everywhere, which a scatter need not have written out.
fn uniform(launch: &Launch, inputs: &[Input], value: ValueId) -> Option<f64> {
    match launch.body.get(value as usize)?.what {
        What::Const(x) => Some(x),
        What::Load(k) => {
            inputs.get(k as usize).and_then(|input| one(input.source, input.walk.constant()?))
        }
        _ => None,
    }
}

/// The fold of a row of numbers, by a loop.
struct Row(Trees);

impl Row {
    /// None: the operation has no such loop, or adds f32, whose order is another.
    fn of(isa: Isa, op: Op, dtype: DType) -> Option<Row> {
        let folds = matches!(op, Op::Add | Op::Mul | Op::Max | Op::Min) && !is_single(op, dtype);
        trees(isa, op).filter(|_| folds).map(Row)
    }

    /// None: there are no numbers, or more than a block, or the result is not finite.
    fn fold(&self, items: &[f64]) -> Option<f64> {
        let n = items.len();
        if !(1..=reduce::BLOCK).contains(&n) {
            return None;
        }
        let mut value = 0.0;
        // SAFETY: so many numbers, and one result.
        unsafe { (self.0.rows)(&mut value, items.as_ptr(), 1, n) }.then_some(value)
    }
}

struct Parts<'a> {
    finish: &'a Finish,
    given: &'a [Given<'a>],
    to: *mut f64,
    first: Mutex<Option<Fault>>,
}

// SAFETY: units write disjoint places.
unsafe impl Sync for Parts<'_> {}

impl Parts<'_> {
    fn fail(&self, index: usize, fail: Fail) {
        let mut first = lock(&self.first);
        let Finish { site, node, .. } = *self.finish;
        Fault { site, index: index as u64, fail, node }.keep_least(&mut first);
    }

    /// The fold of the k-th segment.
    fn fold(&self, op: Op, items: &[f64], k: usize) -> f64 {
        reduce::fold(op, 0.0, items, true, self.finish.dtype).unwrap_or_else(|fail| {
            self.fail(k, fail);
            0.0
        })
    }

    /// The k-th result as f32 has it.
    fn round(&self, k: usize) {
        // SAFETY: the result holds it, and nobody writes it any more.
        let x = unsafe { &mut *self.to.add(k) };
        match rounded(Ok(*x)) {
            Ok(single) => *x = single,
            Err(fail) => {
                self.fail(k, fail);
                *x = 0.0;
            }
        }
    }

    /// On how many threads.
    fn run(&self, cpu: &mut Cpu, ctx: &RunCtx) -> Result<usize, DeviceError> {
        let (given, shape) = (self.given, &self.finish.shape);
        let n = elements(shape);
        // SAFETY: the result holds n, and each is written by one unit alone.
        let put = |k: usize, x: f64| unsafe { *self.to.add(k) = x };
        match &self.finish.what {
            Whole::Fold { axis, body, given: numbers } => {
                let (_, extent, inner) = around(given[0].shape, *axis as usize);
                self.each(cpu, ctx, n, n * extent, &|range| {
                    let mut line = Line::new(body, numbers);
                    for k in range {
                        let first = k / inner * extent * inner + k % inner;
                        put(
                            k,
                            line.fold(&given[0].items[first..], extent, inner, &mut |fail| {
                                self.fail(k, fail)
                            }),
                        );
                    }
                })
            }
            Whole::Segmented { op, scan: true } => {
                let (count, items) = (given[0].items.len() / 2, given[1].items);
                // What is in no segment is 0.
                let mut end = 0;
                for (from, to) in segments(given[0].items).chain([(n, n)]) {
                    (end..from).for_each(|k| put(k, 0.0));
                    end = to;
                }
                self.each(cpu, ctx, count, n, &|range| {
                    for k in range {
                        let (from, to) = segment(given[0].items, k);
                        // SAFETY: segments are disjoint, and the result is as long as the items.
                        let own =
                            unsafe { std::slice::from_raw_parts_mut(self.to.add(from), to - from) };
                        own.copy_from_slice(&items[from..to]);
                        let mut fail = |k, fail| self.fail(from + k, fail);
                        scan::along(*op, own, &[to - from], 0, &mut fail);
                    }
                })
            }
            Whole::Segmented { op, scan: false } => {
                let row = Row::of(cpu.isa, *op, self.finish.dtype);
                self.each(cpu, ctx, n, given[1].items.len(), &|range| {
                    for k in range {
                        let (from, to) = segment(given[0].items, k);
                        let items = &given[1].items[from..to];
                        match row.as_ref().and_then(|row| row.fold(items)) {
                            Some(value) => put(k, value),
                            None => put(k, self.fold(*op, items, k)),
                        }
                    }
                })
            }
            what @ Whole::Scatter { .. } => {
                given[0].items.iter().enumerate().for_each(|(k, x)| put(k, *x));
                let fail = |k, fail| self.fail(k, fail);
                scatter::Into { what, fed: &given[1..], shape, to: self.to, fail: &fail }
                    .run(cpu, ctx)
            }
            Whole::Lib { of, origin, ct, first, .. } => {
                let own = |k, x| put(k, if of.is_sort() { x } else { x + origin });
                library::run(cpu, ctx, *of, *ct, given, *first..first + n, &own)
            }
        }
    }

    /// Ranges of results, so that each is some work; `size` is how much there is in all.
    fn each(
        &self,
        cpu: &mut Cpu,
        ctx: &RunCtx,
        n: usize,
        size: usize,
        work: &(dyn Fn(std::ops::Range<usize>) + Sync),
    ) -> Result<usize, DeviceError> {
        let unit = UNIT.min(n.div_ceil(cpu.threads.count() * 4)).max(1);
        each_unit(&mut cpu.threads, n.div_ceil(unit), size > ALONE, ctx, &|k, _| {
            work(k * unit..((k + 1) * unit).min(n))
        })
    }
}

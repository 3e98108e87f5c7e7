//! Folds along the last axis whose operands lie across it: `(⍉A)+.×V`, `⌈/⍉A-B`.
//!
//! | operand | strategy |
//! |---|---|
//! | items of the axis before lie side by side | rows of that axis into as many rows of partials as a fold has (`Fold::partials`); by one emitted loop, where the body is one, which computes and adds |
//! | they are only read, and multiplied by a number each row | four such rows at a time (`lines`) |
//!
//! The order is that of `prim::reduce`: element i of a block goes into partial i mod 64, or 16, or
//! into the only one, and partials are halved. Which elements one partial gets, and in which order,
//! does not hang on when the partials of another result get theirs. So a block of partials is kept
//! for each of several results side by side, the body runs over the domain with its last two axes
//! exchanged, and memory is read along its rows; the bits are those of `fold`. What fails, or shows
//! ∞ or NaN, is left to `fold`, which counts places in the launch's own domain.

use super::chunk::{CHUNK, Env};
use super::cut::{ALONE_NS, CT, Fold};
use super::emit::{self, Bin, Kind};
use super::lines::Lines;
use super::program::{Input, Work, lower};
use super::share::{Tally, share};
use super::typed::{lanes_of, nothing};
use super::walk::Walk;
use super::{Cpu, DeviceError, RunCtx};
use aplomb_plans::plan::{Launch, Load, ValueId};
use aplomb_values::dag::ix::linear;
use aplomb_values::prim::reduce::{LANES, halve};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Results side by side in an item: 64 rows of partials of so many stay in the second cache.
const WIDE: usize = 1024;
/// Results for which the axes are worth exchanging, and that an item has at least where there are
/// too few items for all threads.
const FEW: usize = 16;
/// Steps along the axis that are far: lines of the cache that are hardly used.
const FAR: u64 = 8;

/// A launch with the last two axes of its body exchanged.
pub struct Turned {
    launch: Launch,
    outer: usize,
    extent: usize,
    inner: usize,
}

impl Turned {
    /// None: the operands do not lie across the axis, or are few.
    pub fn of(launch: &Launch, inputs: &[Input]) -> Option<Turned> {
        let rank = launch.domain.len();
        let &[.., inner, extent] = launch.domain.as_slice() else { return None };
        if inner < FEW || extent < 2 {
            return None;
        }
        // What is taken in order has no lanes but its results.
        let in_order = launch.is_in_order();
        let mut across = usize::from(in_order);
        for (load, input) in launch.loads.iter().zip(inputs) {
            if load.read.is_anywhere() {
                continue;
            }
            let at = linear(&load.read.ix, &input.shape, &launch.domain);
            let step = |axis| at.coefficient(axis).unsigned_abs();
            match (step(rank - 2), step(rank - 1)) {
                _ if !at.is_affine() => return None,
                (1, along) if along >= FAR => across += 1,
                (beside, 1) if beside >= FAR && !in_order => return None,
                _ => {}
            }
        }
        let outer = launch.domain[..rank - 2].iter().product();
        let launch = if across > 0 { launch.across()? } else { return None };
        Some(Turned { launch, outer, extent, inner })
    }

    /// The partial results, those of blocks of so many elements one behind the other for each
    /// result. None: something failed or is not finite.
    pub fn run(
        &self,
        cpu: &mut Cpu,
        inputs: &[Input],
        (folds, keep): (&[Fold], Vec<(ValueId, bool)>),
        block: usize,
        ctx: &RunCtx,
    ) -> Result<Option<Tally>, DeviceError> {
        let Turned { launch, outer, extent, inner } = self;
        let (extent, inner) = (*extent, *inner);
        let fast: Option<Vec<_>> = folds.iter().map(|f| f.fast.zip(f.end)).collect();
        let Some(fast) = fast else { return Ok(None) };
        let rows = folds.first().map_or(LANES, Fold::partials);
        if folds.iter().any(|fold| fold.partials() != rows) {
            return Ok(None);
        }
        let own = |(input, load): (&Input, &Load)| {
            let walk = match load.read.is_anywhere() {
                true => Walk::clone(&input.walk),
                false => Walk::of_read(&load.read, &input.shape, &launch.domain),
            };
            Input { flat: walk.flat(), walk: Arc::new(walk), ..input.clone() }
        };
        let inputs: Vec<Input> = inputs.iter().zip(&launch.loads).map(own).collect();
        let ways: Option<Vec<(Bin, Kind)>> = folds.iter().map(lanes_of).collect();
        let lines = ways.as_ref().and_then(|_| Lines::of(launch, &inputs));
        let (isa, domain, steps, guards) = (cpu.isa, &launch.domain, &launch.body, &launch.guards);
        let (stores, reduced) = (Vec::new(), Vec::new());
        let program =
            lower(Work { isa, domain, steps, guards, loads: &[], stores, keep, reduced }, inputs);
        let emitted = emit::parts(&cpu.loops, &program, steps, &[], (domain, false));
        let laid = ways.as_ref().filter(|ways| ways.iter().all(|way| way.1 == Kind::F64)).and_then(
            |ways| {
                let ops: Vec<Bin> = ways.iter().map(|way| way.0).collect();
                emit::rows(&cpu.loops, &program, steps, domain, &ops)
            },
        );
        let env = Env::new(isa, &program, steps, &[], ctx.interrupt).with(&emitted);
        let total = outer * extent * inner;
        let together = (program.ns + 0.1 * folds.len() as f64) * total as f64 > ALONE_NS;
        let blocks = extent.div_ceil(block);
        let mut wide = inner.min(WIDE);
        while together
            && wide >= 2 * FEW
            && outer * blocks * inner.div_ceil(wide) < 4 * cpu.threads.count()
        {
            wide = (wide / 2).next_multiple_of(FEW);
        }
        let tiles = inner.div_ceil(wide);
        let fine = AtomicBool::new(true);
        let tally = share(cpu, &env, outer * blocks * tiles, together, ctx, &|frame, unit| {
            let (tile, unit) = (unit % tiles, unit / tiles);
            let (part, base) = (unit % blocks, unit / blocks);
            let (column, first) = (tile * wide, part * block);
            let columns = wide.min(inner - column);
            let places = block.min(extent - first);
            let lanes = rows.min(places);
            let size = lanes * columns;
            let Ok(mut sums) = ctx.budget.filled(0.0, folds.len() * size) else {
                return fine.store(false, Ordering::Relaxed);
            };
            // Several rows of a chunk onto one row of sums: what is laid has a row for each.
            let chained = lanes == 1 && tiles == 1 && inner <= CHUNK / 4;
            // Whole rows of the domain lie one behind the other.
            let alike = !chained && laid.as_ref().is_some_and(|laid| !laid.numbers.is_empty());
            let most = if tiles == 1 && !alike { (CHUNK / inner).max(1) } else { 1 };
            let begun = laid.is_some() && !chained || lines.is_some();
            for (k, way) in ways.iter().flatten().enumerate().filter(|_| begun) {
                sums[k * size..][..size].fill(nothing(way.0));
            }
            let mut at = 0;
            while let Some(lines) = lines.as_ref().filter(|_| at < places) {
                if ctx.interrupt.is_set() {
                    return;
                }
                let end = (at + lines.most()).min(places);
                let own = &mut sums[..lines.partials.min(end - at) * columns];
                lines.add(isa, (first + at, first + end), column, own);
                at = end;
            }
            while at < places && fine.load(Ordering::Relaxed) && !ctx.interrupt.is_set() {
                let lane = at % lanes;
                let rows = most.min(places - at);
                // Of one row of partials each row is the next one's sum.
                let some = if lanes == 1 { rows } else { rows.min(lanes - lane) };
                let n = some * columns;
                let start = (base * extent + first + at) * inner + column;
                let to = sums.as_mut_ptr();
                // SAFETY: there are rows of partials from this one on.
                let to = (0..folds.len()).map(|k| unsafe { to.add(k * size + lane * columns) });
                if let Some(laid) = laid.as_ref().filter(|_| !chained) {
                    if !frame.laid(&env, laid, (start, n), to) {
                        return fine.store(false, Ordering::Relaxed);
                    }
                    at += some;
                    continue;
                }
                frame.run(&env, start, n);
                for (k, ((l, _), fold)) in fast.iter().zip(folds).enumerate() {
                    let values = frame.kept(&env, k);
                    let factors = fold.factors(frame, &env);
                    // SAFETY: the chunk holds n values, and there are rows of partials from this
                    // one on.
                    unsafe {
                        let sums = sums.as_mut_ptr().add(k * size + lane * columns);
                        let each = if lanes == 1 { columns } else { n };
                        for from in (0..n).step_by(each) {
                            if at + from / columns < lanes {
                                std::ptr::copy_nonoverlapping(values, sums, each);
                            } else if let Some((loops, [x, y])) = factors {
                                (loops.onto)(sums, x.add(from), y.add(from), each);
                            } else {
                                (l.both)(sums, sums, values.add(from), CT, each);
                            }
                        }
                    }
                }
                at += some;
            }
            for (k, ((_, l), fold)) in fast.iter().zip(folds).enumerate() {
                let sums = &mut sums[k * size..][..size];
                let at = sums.as_mut_ptr();
                let mut rows: [usize; LANES] = std::array::from_fn(|row| row * columns);
                let Ok(()) = halve::<_, Infallible>(&mut rows[..lanes], |x, y| {
                    // SAFETY: x and y are where rows of as many columns begin.
                    unsafe { (l.both)(at.add(x), at.add(x), at.add(y), CT, columns) };
                    Ok(x)
                });
                for (j, sum) in sums[..columns].iter().enumerate() {
                    if !sum.is_finite() {
                        fine.store(false, Ordering::Relaxed);
                    }
                    // SAFETY: a partial of a result that nobody else has.
                    unsafe { *fold.out.add((base * inner + column + j) * blocks + part) = *sum };
                }
            }
        })?;
        let fine = fine.into_inner() && tally.fault.is_none();
        Ok(fine.then_some(tally))
    }
}

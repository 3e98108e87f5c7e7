//! Folds whose values come in their own type: whole numbers as they lie in memory, truths as an
//! emitted loop makes them.
//!
//! | values | strategy |
//! |---|---|
//! | an input of whole numbers, read in order | folded where it lies, nothing is copied |
//! | truths of a body that is one emitted loop, along rows | counted by the loop |
//! | anything else of such a body along longer rows, of `+ × ⌈ ⌊` | into partial results by the loop, in registers |
//! | the same along rows of 64 or more whose reads are straight (`strides`) | a row at a time, found by a step; the ends of eight rows are folded side by side |
//!
//! `narrow` has the loops. 400 rows of 400 by a vector take 43 µs on one thread, and took 78 when a
//! chunk had several rows. Shorter rows stay with `fold`, which takes a row a lane. An item that
//! holds something suspect is folded again as any other.

use super::Isa;
use super::chunk::{CHUNK, Env, Frame};
use super::cut::{Cut, Fold, Item};
use super::emit::{self, Bin, Counter, Kind, PARTIALS, Partials, Summer};
use super::narrow::{Rows, Way, narrow};
use super::program::Program;
use super::strides::Strides;
use aplomb_plans::plan::{Launch, Step, What};
use aplomb_values::array::DType;
use aplomb_values::body::operations_fail;
use aplomb_values::prim::op::{Fails, Op};
use aplomb_values::prim::reduce::DOTS;
use std::iter::repeat_n;
use std::ops::Range;

/// Rows whose ends are folded side by side, at most.
const BUNCH: usize = 8;
/// Rows shorter than this are no run that pays.
const SHORT: usize = 64;

/// The values of the folds of a pass, in their own type.
pub enum Typed {
    /// An input each, by its number, from an item on.
    Inputs(Vec<(Way, usize, usize)>),
    /// Truths that an emitted loop counts.
    Truths(Vec<Way>, Counter),
    /// Numbers that an emitted loop folds, in lanes of a kind; where its rows lie, if that is
    /// straight.
    Sums(Vec<(Bin, Kind)>, Summer, Option<Strides>),
}

/// A fold as lanes have it: f32 is added in f32, and whatever else is the same in both.
pub fn lanes_of(fold: &Fold) -> Option<(Bin, Kind)> {
    let op = match fold.of.op {
        Op::Add => Bin::Add,
        Op::Mul => Bin::Mul,
        Op::Max => Bin::Max,
        Op::Min => Bin::Min,
        _ => return None,
    };
    let short = fold.of.dtype == DType::F32 && op != Bin::Mul;
    (fold.fast.is_some() && fold.end.is_some())
        .then_some((op, if short { Kind::F32 } else { Kind::F64 }))
}

/// A partial result into which nothing was folded, which any number changes to itself.
pub fn nothing(op: Bin) -> f64 {
    match op {
        Bin::Mul => 1.0,
        Bin::Max => f64::NEG_INFINITY,
        Bin::Min => f64::INFINITY,
        _ => -0.0,
    }
}

fn empty((op, kind): (Bin, Kind)) -> Partials {
    let none = nothing(op);
    let half = u64::from((none as f32).to_bits());
    Partials([if kind == Kind::F32 { f64::from_bits(half << 32 | half) } else { none }; PARTIALS])
}

/// The first partial results of some rows, one row behind the other.
fn near<T: Copy, const N: usize>(rows: &[Partials], places: usize, to: &mut [T; N]) {
    assert!((1..=PARTIALS).contains(&places) && size_of::<T>() <= size_of::<f64>());
    for (to, own) in to.chunks_exact_mut(places).zip(rows) {
        // SAFETY: a row has memory for so many, which were written as numbers of that type.
        to.copy_from_slice(unsafe { std::slice::from_raw_parts(own.0.as_ptr().cast(), places) });
    }
}

impl Typed {
    /// None: they have none, or their rows are short.
    pub fn of(
        (launch, cut): (&Launch, Cut),
        folds: &[Fold],
        program: &Program,
        loops: &emit::Registry,
    ) -> Option<Typed> {
        let runs = if cut.last { cut.extent } else { cut.inner };
        if runs < SHORT || !launch.stores.is_empty() {
            return None;
        }
        let step = |fold: &Fold| &launch.body[fold.of.value as usize];
        let input = |fold: &Fold| {
            let What::Load(k) = step(fold).what else { return None };
            let input = program.inputs.get(k as usize)?;
            let first = usize::try_from(input.flat?).ok()?;
            let last = first.checked_add(launch.domain.iter().product())?;
            let way = Way::of(fold.of.op, input.source.dtype)?;
            (last <= input.source.len).then_some((way, k as usize, first))
        };
        if let Some(all) = folds.iter().map(input).collect() {
            return Some(Typed::Inputs(all));
        }
        if !cut.last {
            return None;
        }
        let way = |fold: &Fold| match step(fold).dtype {
            DType::Bool => Way::of(fold.of.op, DType::Bool),
            _ => None,
        };
        if let Some(ways) = folds.iter().map(way).collect::<Option<Vec<_>>>()
            && let Some(counter) = emit::truths(loops, program, &launch.body, &launch.domain)
        {
            return Some(Typed::Truths(ways, counter));
        }
        // Shorter rows go several to a chunk, unless each is found at once.
        if cut.extent < CHUNK && !Strides::fit((&launch.loads, &launch.domain), program) {
            return None;
        }
        let ways = folds.iter().map(lanes_of).collect::<Option<Vec<_>>>()?;
        let partials = folds.first()?.partials();
        if partials == 1 || folds.iter().any(|fold| fold.partials() != partials) {
            return None;
        }
        let summer = emit::sums(loops, program, &launch.body, &launch.domain, &ways, partials)?;
        let strides = Strides::of((&launch.loads, &launch.domain), program, &summer.segment);
        (cut.extent >= CHUNK || strides.is_some()).then_some(Typed::Sums(ways, summer, strides))
    }

    /// The result of each fold that no other item changes once one has it: that of `∧/` is 0, that
    /// of `∨/` is 1. None: some fold is no fold of truths, there are several rows, or an item that
    /// nobody looked at could have failed.
    pub fn ends(
        &self,
        (launch, cut): (&Launch, Cut),
        folds: &[Fold],
        program: &Program,
    ) -> Option<Vec<f64>> {
        let ways: Vec<Way> = match self {
            Typed::Inputs(all) => {
                let truths = |k: usize| program.inputs[k].source.dtype == DType::Bool;
                all.iter().map(|(way, k, _)| truths(*k).then_some(*way)).collect::<Option<_>>()?
            }
            Typed::Truths(ways, _) => ways.clone(),
            Typed::Sums(..) => return None,
        };
        let plain = |step: &Step| {
            step.what.operation().is_some()
                || matches!(step.what, What::Load(_) | What::Const(_) | What::Select { .. })
        };
        let sure = launch.body.iter().all(plain) && operations_fail(&launch.body) == Fails::Never;
        let alone = cut.outer * cut.inner == 1 && cut.blocks > 1;
        if !alone || !sure || folds.len() != ways.len() {
            return None;
        }
        ways.into_iter().map(Way::end).collect()
    }

    /// Items that are best taken together: the ends of rows are folded side by side.
    pub fn bunch(&self, cut: Cut) -> usize {
        match self {
            Typed::Sums(_, _, Some(_)) if cut.blocks == 1 => BUNCH,
            _ => 1,
        }
    }

    /// The partial results of some items, of one bunch; false: something is suspect.
    pub fn items(
        &self,
        isa: Isa,
        cut: Cut,
        folds: &[Fold],
        (frame, env): (&mut Frame, &Env),
        items: Range<usize>,
    ) -> bool {
        let loops = narrow(isa);
        let item = cut.item(items.start);
        match self {
            Typed::Inputs(all) => {
                for (fold, (way, input, first)) in folds.iter().zip(all) {
                    let Item { places, columns, .. } = item;
                    let source = env.source(*input);
                    let at = first + item.base + item.first * cut.inner;
                    // SAFETY: the domain lies in the source from `first` on; the partials are this
                    // item's.
                    unsafe {
                        let at = source.at.add(at * source.dtype.size());
                        let out = fold.out.add(item.to);
                        if cut.last {
                            *out = (loops.across)(*way, source.dtype, at, places);
                        } else {
                            let rows = Rows { at, pitch: cut.inner, rows: places, columns };
                            (loops.down)(*way, source.dtype, rows, out);
                        }
                    }
                }
                true
            }
            Typed::Truths(ways, Counter { segment, goals, stride }) => {
                let mut counts = Vec::new();
                let mut at = 0;
                while at < item.places {
                    let n = (*stride).min(item.places - at);
                    let range = (item.base + item.first + at, n);
                    if !frame.counted(env, segment, range, &mut counts) {
                        return false;
                    }
                    for ((fold, way), goal) in folds.iter().zip(ways).zip(goals) {
                        let sum = way.of_truths(counts[*goal], n);
                        // SAFETY: the partial is this item's.
                        unsafe {
                            let out = fold.out.add(item.to);
                            *out = if at == 0 { sum } else { way.join(*out, sum) };
                        }
                    }
                    at += n;
                }
                true
            }
            Typed::Sums(ways, Summer { segment, stride }, strides) => {
                let mut sums = std::mem::take(&mut frame.partials);
                sums.clear();
                let count = items.len();
                sums.extend(ways.iter().flat_map(|way| repeat_n(empty(*way), count)));
                let mut row = |(r, item): (usize, Item)| match strides {
                    Some(strides) => {
                        let range = (item.base / cut.extent, item.first, item.places);
                        let sums = (&mut sums[r..], count);
                        frame.row_folded(env, (segment, strides), range, sums)
                    }
                    None => (0..item.places).step_by(*stride).all(|at| {
                        let n = (*stride).min(item.places - at);
                        frame.folded(env, segment, (item.base + item.first + at, n), &mut sums)
                    }),
                };
                let first = cut.item(items.start);
                let all = items.map(|k| cut.item(k)).enumerate().all(&mut row);
                let fine = |(fold, (sums, (_, kind))): (&Fold, (&[Partials], &(Bin, Kind)))| {
                    let Some(end) = fold.end else { return false };
                    let lanes = fold.partials();
                    let places = lanes.min(first.places);
                    // SAFETY: so many partials of each; the results are these items'.
                    unsafe {
                        let out = fold.out.add(first.to);
                        if *kind == Kind::F32 {
                            let mut rows = [0.0_f32; BUNCH * PARTIALS];
                            near(sums, places, &mut rows);
                            return (end.short)(out, rows.as_ptr(), count, places);
                        }
                        if lanes == PARTIALS {
                            return (end.rows)(out, sums.as_ptr().cast(), count, places);
                        }
                        let mut rows = [0.0; BUNCH * DOTS];
                        near(sums, places, &mut rows);
                        (end.rows)(out, rows.as_ptr(), count, places)
                    }
                };
                let all = all && folds.iter().zip(sums.chunks(count).zip(ways)).all(fine);
                frame.partials = sums;
                all
            }
        }
    }
}

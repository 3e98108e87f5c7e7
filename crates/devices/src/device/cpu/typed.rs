//! Folds whose values come in their own type: whole numbers as they lie in memory, truths as an
//! emitted loop makes them.
//!
//! | values | strategy |
//! |---|---|
//! | an input of whole numbers, read in order | folded where it lies, nothing is copied |
//! | truths of a body that is one emitted loop, along rows | counted by the loop |
//!
//! `narrow` has the loops. Short rows stay with `fold`, which takes a row a lane. An item in which
//! something is suspect is folded again as any other.

use super::Isa;
use super::chunk::{Env, Frame};
use super::convert::Source;
use super::cut::{Cut, Fold, Item};
use super::emit::{self, Counter};
use super::narrow::{Rows, Way, narrow};
use super::program::{Input, Program};
use aplomb_plans::plan::{Launch, What};
use aplomb_values::array::DType;

/// Rows shorter than this are no run that pays.
const SHORT: usize = 64;

/// The values of the folds of a pass, in their own type.
pub enum Typed {
    /// An input each, from an item on.
    Inputs(Vec<(Way, Source, usize)>),
    /// Truths that an emitted loop counts.
    Truths(Vec<Way>, Counter),
}

// SAFETY: sources are not written while a launch runs.
unsafe impl Sync for Typed {}

impl Typed {
    /// None: they have none, or their rows are short.
    pub fn of(
        (launch, cut): (&Launch, Cut),
        folds: &[Fold],
        inputs: &[Input],
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
            let input = inputs.get(k as usize)?;
            let first = usize::try_from(input.flat?).ok()?;
            let last = first.checked_add(launch.domain.iter().product())?;
            let way = Way::of(fold.of.op, input.source.dtype)?;
            (last <= input.source.len).then_some((way, input.source, first))
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
        let ways = folds.iter().map(way).collect::<Option<Vec<_>>>()?;
        let counter = emit::truths(loops, program, &launch.body, &launch.domain)?;
        Some(Typed::Truths(ways, counter))
    }

    /// The partial results of an item; false: something is suspect.
    pub fn item(
        &self,
        isa: Isa,
        cut: Cut,
        folds: &[Fold],
        (frame, env): (&mut Frame, &Env),
        item: Item,
    ) -> bool {
        let loops = narrow(isa);
        match self {
            Typed::Inputs(all) => {
                for (fold, (way, source, first)) in folds.iter().zip(all) {
                    let Item { places, columns, .. } = item;
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
        }
    }
}

//! Sums of lines that lie side by side in memory, each times a factor of its own: `(⍉A)+.×V`,
//! `+/⍉A`.
//!
//! | lines | strategy | measured |
//! |---|---|---|
//! | those that go into one row of partials, 64 or 16 lines from each other | four at a time into registers | 4000 × 4000: 4.9 ms, one at a time 8.6 |
//!
//! A row of partials is read and written once for four lines instead of once for each: it lies in
//! the second cache, and would take longer than the lines do. A partial gets its lines in their
//! order, so the bits are those of `fold`.

use super::convert::Source;
use super::isa::{Isa, by_isa};
use super::lanes::Wide;
#[cfg(target_arch = "x86_64")]
use super::lanes::{V4, V8};
use super::program::Input;
use super::strides::Straight;
use aplomb_plans::plan::{Launch, Step, What};
use aplomb_values::array::DType;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::{LANES, partials};

/// Lines of one row of partials that are taken together.
const TOGETHER: usize = 4;

/// The reads of such a launch: of a line's items, and of its factor.
pub struct Lines {
    items: Items,
    factor: Option<Items>,
    /// Products are taken unrounded.
    fused: bool,
    /// Rows of partials.
    pub partials: usize,
}

/// The items of lines of f64.
struct Items {
    source: Source,
    read: Straight,
}

// SAFETY: they are read only, and nobody writes their sources while a launch runs.
unsafe impl Sync for Items {}

impl Items {
    /// The read of a load over lines × items, whose items are so far apart; all of it inside.
    fn of(launch: &Launch, inputs: &[Input], load: u32, step: i64) -> Option<Items> {
        let source = inputs.get(load as usize)?.source;
        let read = Straight::of((&launch.loads, &launch.domain), inputs, load)
            .filter(|read| read.step == step)?;
        (launch.domain.len() == 2 && source.dtype == DType::F64).then_some(Items { source, read })
    }

    fn line(&self, line: usize) -> *const f64 {
        self.read.at(self.source, line, 0).cast()
    }
}

impl Lines {
    /// None: the launch, whose last axis is the one that lies side by side, is no such sum.
    pub fn of(launch: &Launch, inputs: &[Input]) -> Option<Lines> {
        let [sum] = launch.reductions.as_slice() else { return None };
        let plain = |step: &Step| step.from.guard.is_none() && step.dtype == DType::F64;
        if sum.op != Op::Add || sum.dtype != DType::F64 || !launch.body.iter().all(plain) {
            return None;
        }
        let straight = |load, step| Items::of(launch, inputs, load, step);
        match launch.body.as_slice() {
            [Step { what: What::Load(x), .. }] => {
                Some(Lines { items: straight(*x, 1)?, factor: None, fused: false, partials: LANES })
            }
            [
                Step { what: What::Load(x), .. },
                Step { what: What::Load(y), .. },
                Step { what: What::Op { op, args, .. }, .. },
            ] if op.multiplies() && sum.value == 2 && args.iter().sum::<u32>() == 1 => {
                let (items, factor) = match straight(*x, 1) {
                    Some(items) => (items, straight(*y, 0)?),
                    None => (straight(*y, 1)?, straight(*x, 0)?),
                };
                let (fused, partials) = (op.is_unrounded(), partials(*op));
                Some(Lines { items, factor: Some(factor), fused, partials })
            }
            _ => None,
        }
    }

    /// Adds the items from `column` on of lines `first` to `end`-1 to rows of partials of so many,
    /// the k-th line to row k mod `partials`; `first` is a multiple of as many lines from where
    /// these begin.
    pub fn add(&self, isa: Isa, (first, end): (usize, usize), column: usize, sums: &mut [f64]) {
        let columns = sums.len() / self.partials.min(end - first);
        for (row, sums) in sums.chunks_exact_mut(columns).enumerate() {
            let mut lines = [(std::ptr::null(), 0.0); TOGETHER];
            let own = (first + row..end).step_by(self.partials);
            for (line, k) in lines.iter_mut().zip(own.clone()) {
                // SAFETY: the factor of a line is inside of its source.
                let factor = self.factor.as_ref().map_or(1.0, |f| unsafe { *f.line(k) });
                *line = (self.items.line(k).wrapping_add(column), factor);
            }
            // SAFETY: lines are inside of their source, `columns` items from the column on.
            unsafe {
                let add = adds(isa)[usize::from(self.fused)];
                add(sums, &lines[..own.len().min(TOGETHER)])
            }
        }
    }

    /// Lines that `add` takes at a time.
    pub fn most(&self) -> usize {
        self.partials * TOGETHER
    }
}

/// Lines and their factors into a row of sums. Safety: lines have as many items as the row.
type Adds = unsafe fn(sums: &mut [f64], lines: &[(*const f64, f64)]);

#[inline(always)]
unsafe fn add<L: Wide, const FUSED: bool>(sums: &mut [f64], lines: &[(*const f64, f64)]) {
    #[inline(always)]
    fn take<L: Wide, const FUSED: bool>(sum: L, item: L, factor: L) -> L {
        if FUSED { item.fma(factor, sum) } else { sum.add(item.mul(factor)) }
    }
    let (n, at) = (sums.len(), sums.as_mut_ptr());
    // SAFETY: the caller's; the places are below n.
    unsafe {
        let mut k = 0;
        while k + 2 * L::N <= n {
            let (mut x, mut y) = (L::load(at.add(k)), L::load(at.add(k + L::N)));
            for &(line, factor) in lines {
                let factor = L::splat(factor);
                x = take::<L, FUSED>(x, L::load(line.add(k)), factor);
                y = take::<L, FUSED>(y, L::load(line.add(k + L::N)), factor);
            }
            x.store(at.add(k));
            y.store(at.add(k + L::N));
            k += 2 * L::N;
        }
        for k in k..n {
            for &(line, factor) in lines {
                *at.add(k) = take::<f64, FUSED>(*at.add(k), *line.add(k), factor);
            }
        }
    }
}

macro_rules! instances {
    ($name:ident, $lane:ty $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn add<const FUSED: bool>(sums: &mut [f64], lines: &[(*const f64, f64)]) {
                unsafe { super::add::<$lane, FUSED>(sums, lines) }
            }

            pub const ALL: [Adds; 2] = [add::<false>, add::<true>];
        }
    };
}

by_isa!(
    instances of lanes,
    /// The loops of an instruction set: of products that are rounded, and of others.
    adds,
    [Adds; 2]
);

//! The figures of a launch on a GPU, by its form: the boxes that blocks take, what they load, and
//! the time by the model.
//!
//! Rows: BAS-18, BAS-19, BAS-20. A launch takes as long as what bounds it: memory, which carries
//! each element once; the second cache, which gives every block its own, and a sector for each
//! element that neighbouring threads do not read beside each other; the first cache, which gives a
//! warp a line at a time, and shared memory, which lies in it, by turns where threads of a warp
//! meet in a bank; operations. Tiles of a product have a model of their own (`sizes`). A device
//! that fewer blocks than it has multiprocessors cannot fill works at that part of its rates.

use super::form::Form;
use super::sizes::ARCH;
use super::space::{conflicts, served};
use super::{TileSize, product, sizes, whole};
use crate::occupancy::{self, BYTES_PER_US, CACHE_PER_US, CYCLE_NS, FLOPS_PER_US, PROCESSORS};
use crate::plan::tiling::Tiling;
use crate::plan::{Block, Kind, Launch, Load, Plan, Sectors, What};
use aplomb_values::dag::ix::{Atom, Ix};
use aplomb_values::dag::{Read, Whole};

/// Threads of a warp.
const WARP: u64 = 32;
/// Bytes of a line of the first cache.
const LINE: u64 = 128;
/// Warps of which the sectors are counted: an estimate is made for each plan that is priced.
const LOOKED: u64 = 8;

/// The figures of one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Who takes its points.
    pub form: Form,
    /// The points of a box that a block takes at a time, by axis, and what they load and have as
    /// results; None where no box holds them or values say where.
    pub block: Option<(Vec<usize>, Block)>,
    /// The boxes that cover the launch.
    pub boxes: u64,
    /// Kernels that it takes.
    pub kernels: f64,
    /// Microseconds of the launch, without the starts of its kernels.
    pub us: f64,
}

impl Figures {
    /// Microseconds with the starts.
    pub fn time(&self) -> f64 {
        self.us + LAUNCH_US * self.kernels
    }
}

/// Microseconds to start a kernel.
pub const LAUNCH_US: f64 = 5.0;
/// One step of a thread that waits for its own memory (an estimate).
const ALONE_US: f64 = 0.05;

/// The figures of a launch whose text nobody tuned.
pub fn figures(plan: &Plan, launch: &Launch) -> Figures {
    figures_in(plan, launch, product::size(plan, launch))
}

/// The figures of a launch whose text has tiles of a size.
pub fn figures_in(plan: &Plan, launch: &Launch, tile: TileSize) -> Figures {
    let form = Form::of(plan, launch);
    let extents = form.block(launch, tile);
    let along = |block: &[usize], folded: bool| {
        let axes = launch.domain.iter().zip(block).enumerate();
        let own = axes.filter(|(axis, _)| folded || Some(*axis) != launch.axis);
        own.fold(1u64, |n, (_, (all, own))| n.saturating_mul(all.div_ceil((*own).max(1)) as u64))
    };
    let (boxes, blocks) = match &extents {
        Some(block) => {
            (along(block, true), along(block, matches!(form, Form::Parts | Form::Strips)))
        }
        None => {
            let points = crate::plan::product(&launch.domain);
            let blocks = points.div_ceil(u64::from(super::THREADS));
            (blocks, blocks)
        }
    };
    let block = extents.and_then(|extents| {
        let of = match form {
            Form::Tiles | Form::Pairs => plan.block_of_copies(launch, &extents)?,
            _ => plan.block(launch, &extents)?,
        };
        Some((extents, of))
    });
    let (traffic, [inner, after]) = (plan.traffic(launch), launch.effort());
    let memory = traffic.read.saturating_add(traffic.written) as f64 / BYTES_PER_US;
    let own = block.as_ref().map_or(0, |(_, of)| of.bytes.saturating_mul(boxes));
    let cache = own.max(traffic.read).saturating_add(traffic.written) as f64 / CACHE_PER_US;
    let flops = inner.flops.saturating_add(after.flops) as f64 / FLOPS_PER_US;
    let (apart, turns) = lanes(plan, launch);
    let cache = cache + apart as f64 / CACHE_PER_US;
    let shared = turns as f64 * CYCLE_NS / 1e3 / f64::from(PROCESSORS);
    let filled = (blocks as f64 / f64::from(PROCESSORS)).clamp(1.0 / f64::from(PROCESSORS), 1.0);
    let us = match (form, by_tiles(plan, launch, tile)) {
        (Form::Tiles, Some(us)) => us.max(memory),
        _ => memory.max(cache).max(shared).max(flops) / filled,
    };
    let (kernels, again) = passes(launch);
    let us = us + again * crate::plan::product(&launch.domain) as f64 / BYTES_PER_US;
    Figures { form, block, boxes, kernels, us: us.max(alone(plan, launch, kernels)) }
}

/// Microseconds of a thread that goes through a line by itself.
fn alone(plan: &Plan, launch: &Launch, kernels: f64) -> f64 {
    match (launch.kind, launch.axis) {
        // In a scan if many lines lie side by side.
        (Kind::Scan, Some(axis)) if axis + 1 == launch.domain.len() => 0.0,
        // A thread has one of many segments, or a few steps of their merge.
        (Kind::Whole, _) if whole::form(plan, launch).is_some() => 0.0,
        (Kind::Scan | Kind::Whole, Some(axis)) if kernels == 1.0 => {
            ALONE_US * launch.domain[axis] as f64
        }
        _ => 0.0,
    }
}

/// Kernels of a launch, and bytes that they move for a point of its domain beside what it reads and
/// stores: keys and items, twice a digit; winners and sums where they lie, a sector each.
fn passes(launch: &Launch) -> (f64, f64) {
    let few = crate::plan::product(&launch.domain) <= 2048;
    match launch.finish.as_ref().map(|f| &f.what) {
        Some(Whole::Lib { .. }) if few => (3.0, 24.0),
        Some(Whole::Lib { .. }) => (12.0, 200.0),
        Some(Whole::Scatter { .. }) => (2.0, 64.0),
        _ => (1.0, 0.0),
    }
}

/// Bytes of the sectors that warps meet by loads whose neighbours lie apart, and the turns that
/// warps take at the first cache and at copies in shared memory.
fn lanes(plan: &Plan, launch: &Launch) -> (u64, u64) {
    let warps = crate::plan::product(&launch.domain).div_ceil(WARP);
    let (mut apart, mut turns) = (0u64, 0u64);
    let loads = launch.body.iter().filter_map(|s| match s.what {
        What::Load(load) => Some(load as usize),
        _ => None,
    });
    let mut known: Vec<(usize, Read, Sectors)> = Vec::new();
    if let Some(tiling) = &launch.tiling {
        turns = tiling.boxes(&launch.domain).saturating_mul(copying(tiling));
    }
    for load in loads {
        if let Some(n) = conflicts(launch, load) {
            let size = plan.buffer(launch.loads[load].buf).dtype.size();
            let parts = if launch.tiling.is_some() { words(size) } else { 1 };
            turns = turns.saturating_add(warps.saturating_mul(u64::from(n) * parts));
        } else if served(plan, launch, load).is_none() {
            let Load { buf, read } = &launch.loads[load];
            let way = way(read);
            let alike =
                known.iter().find(|(of, own, _)| launch.loads[*of].buf == *buf && *own == way);
            let (met, first) = match alike {
                Some((first, _, met)) => (*met, *first),
                None => {
                    let met = plan.sectors(launch, load, LOOKED);
                    known.push((load, way, met));
                    (met, load)
                }
            };
            let shifted = !plan.is_whole_lines(&launch.loads[first], read);
            turns = turns.saturating_add(met.lines(shifted));
            if met.sectors > 2 * met.least {
                apart = apart.saturating_add(met.bytes());
            }
        }
    }
    (apart, turns)
}

/// Turns of a warp at items of that size in shared memory: those of 8 bytes go by half warps.
fn words(size: usize) -> u64 {
    if size > 4 { 2 } else { 1 }
}

/// Turns of a block's warps that make its copies: they load lines and write them where they go.
fn copying(tiling: &Tiling<u32>) -> u64 {
    let own = tiling.tiles.iter().map(|tile| {
        let items: u64 = tile.extents(&tiling.block).iter().map(|n| *n as u64).product();
        let lines = 1 + WARP * tile.size as u64 / LINE;
        items.div_ceil(WARP).saturating_mul(lines + words(tile.size))
    });
    own.fold(0, u64::saturating_add)
}

/// A read without its constants: windows and shifts of an array meet it alike, wherever they begin.
fn way(read: &Read) -> Read {
    fn of(ix: &Ix) -> Ix {
        let term = |(k, atom): &(i64, Atom)| {
            let atom = match atom {
                Atom::Axis(axis) => Atom::Axis(*axis),
                Atom::Div(x, by) => Atom::Div(Box::new(of(x)), *by),
                Atom::Mod(x, by) => Atom::Mod(Box::new(of(x)), *by),
                Atom::Clamp(x, lo, hi) => Atom::Clamp(Box::new(of(x)), *lo, *hi),
            };
            (*k, atom)
        };
        Ix { c: 0, terms: ix.terms.iter().map(term).collect() }
    }
    Read::new(read.ix.iter().map(of))
}

/// The time of a product in tiles of a size, by the model of sizes.
fn by_tiles(plan: &Plan, launch: &Launch, tile: TileSize) -> Option<f64> {
    let (of, on) = (product::sized(plan, launch)?, occupancy::find(ARCH)?);
    Some(sizes::time(&of, tile, on))
}

//! The memory that serves a launch's reads, read by read, and the reason.
//!
//! Rows: BAS-09, BAS-15, BAS-16. The classes are the paper's: *shared* is what a block copies;
//! *register* is what does not move with a thread's loop, so that it is loaded once before it;
//! *constant* is what does not move with neighbouring threads: all lanes of a warp read one word,
//! which one load serves; the rest is read from *global* memory as it lies.

use super::form::Form;
use super::product::Tiled;
use crate::micro;
use crate::plan::adjacency::Adjacent;
use crate::plan::tiling::Tile;
use crate::plan::{Launch, Plan, Step, What};
use aplomb_values::dag::ix::Ix;

/// Lanes of a warp.
const WARP: usize = 32;
/// Words that shared memory gives at once.
const BANKS: usize = 32;
/// Bytes of an array that a cache for one word at a time may hold.
const CONSTANT: u64 = 64 << 10;

/// The memory that serves a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// A thread's own.
    Register,
    /// One word for all lanes.
    Constant,
    /// A block's copy.
    Shared,
    /// The array itself.
    Global,
}

impl Space {
    /// The word for it in traces.
    pub fn name(self) -> &'static str {
        match self {
            Space::Register => "register",
            Space::Constant => "constant",
            Space::Shared => "shared",
            Space::Global => "global",
        }
    }
}

/// The memory that serves one of a launch's reads, and why that one.
pub fn space(plan: &Plan, launch: &Launch, load: usize) -> (Space, &'static str) {
    match served(plan, launch, load) {
        Some(told) => told,
        None if plan.is_coalesced(launch, load) => {
            (Space::Global, "neighbouring threads read neighbours in memory")
        }
        None => (Space::Global, "neighbouring threads read elements that lie apart"),
    }
}

/// The same, but of an array that threads read where it lies nothing is said of how.
pub(super) fn served(plan: &Plan, launch: &Launch, load: usize) -> Option<(Space, &'static str)> {
    let own = |s: &&Step| s.what.load() == Some(load as u32);
    let held = launch.finish.iter().any(|f| f.held.contains(&(load as u32)));
    let in_body = launch.body.iter().find(own);
    let after = launch.after.iter().find(own);
    if held {
        return Some((Space::Global, "an operation on whole arrays reads it as it wants"));
    }
    if in_body.or(after).is_some_and(|s| matches!(s.what, What::Gather { .. })) {
        return Some((Space::Global, "values say where"));
    }
    let form = Form::of(plan, launch);
    if near(launch, load).is_some() {
        let why = match form {
            Form::Staged => {
                "no order of the loops reads neighbours side by side: a block copies it"
            }
            _ => "a block copies its box of it",
        };
        return Some((Space::Shared, why));
    }
    if let (Some(tiled), Some(_)) = (Tiled::of(launch), in_body) {
        match (tiled.side(launch, load), tiled.column) {
            (Some(_), Some(_)) => {
                return Some((Space::Shared, "a block copies a tile of the operand"));
            }
            (Some(false), None) => {
                return Some((Space::Shared, "a block copies 256 places of it"));
            }
            (Some(true), None) | (None, _) => (),
        }
    }
    let of = &launch.loads[load];
    let outer = launch.outer();
    let domain = if in_body.is_some() { &launch.domain[..] } else { &outer[..] };
    let moves = |axis: usize| {
        let asks = |ix: &Ix| ix.mentions(axis);
        domain[axis] > 1
            && (of.read.ix.iter().any(asks) || of.read.tests.iter().any(|t| asks(&t.ix)))
    };
    let loops = form.loops(launch).filter(|_| in_body.is_some());
    if loops.is_some_and(|axis| !moves(axis)) && (0..domain.len()).any(moves) {
        let why = "it does not move with the loop of a thread: loaded before it";
        return Some((Space::Register, why));
    }
    let lanes = match in_body {
        Some(_) => form.lanes(launch),
        None => domain.len().checked_sub(1),
    };
    // Points of a map follow each other from row to row, so a warp may have the end of one and the
    // beginning of the next.
    let in_rows = launch.axis.is_some() || lanes.is_none_or(|axis| domain[axis] % WARP == 0);
    let one = lanes.is_none_or(|axis| domain[axis] >= WARP && !moves(axis)) && in_rows
        || !(0..domain.len()).any(moves);
    if one && plan.buffer(of.buf).bytes() <= CONSTANT {
        let why = "all threads of a warp read one element: one load serves them";
        return Some((Space::Constant, why));
    }
    None
}

/// The axis that neighbouring threads of a launch's text follow. None: no axis tells them.
pub fn lanes(plan: &Plan, launch: &Launch) -> Option<usize> {
    Form::of(plan, launch).lanes(launch)
}

/// The way in which a read meets neighbours of its array, in the order of the launch's form.
pub fn adjacent(plan: &Plan, launch: &Launch, load: usize) -> Option<Adjacent> {
    let form = Form::of(plan, launch);
    plan.adjacent(launch, load, (form.lanes(launch), form.loops(launch)))
}

/// Threads of a warp that meet in one bank where a block's copy serves a read (BAS-19). None: no
/// copy does.
pub fn conflicts(launch: &Launch, load: usize) -> Option<u32> {
    if let (Some(tile), Some(tiling)) = (near(launch, load), launch.tiling.as_ref()) {
        return Some(tile.meetings(&tiling.block, tiling.lanes));
    }
    let tiled = Tiled::of(launch)?;
    let stride = match (tiled.side(launch, load)?, tiled.column) {
        // Threads go along a tile's rows and columns.
        (_, Some(_)) => 1,
        // All of them are at one place.
        (false, None) => 0,
        (true, None) => return None,
    };
    Some(micro::conflicts(stride, BANKS) as u32)
}

/// The box's copy that serves a read.
fn near(launch: &Launch, load: usize) -> Option<&Tile<u32>> {
    let of = &launch.loads[load];
    let same = |k: &u32| {
        launch.loads.get(*k as usize).is_some_and(|x| x.buf == of.buf && x.read == of.read)
    };
    let mut tiles = launch.tiling.iter().flat_map(|t| &t.tiles);
    tiles.find(|t| t.loads.iter().any(|(k, _)| same(k)))
}

//! The form of a launch on a GPU: who takes which of its points.
//!
//! Rows: ACC-06, ACC-27. This is the one place where it is decided. The lowering writes the text of
//! a form; what a trace tells of lanes, loops, copies and blocks, and what an estimate takes a
//! launch to cost, begins with the same answer.

use super::{THREADS, TileSize, parts, product, whole};
use crate::plan::{Kind, Launch, Plan, product as count};
use aplomb_ground::trace::FORMS;

/// Rows of so few elements are a thread's, of so many a warp's, of more a block's.
pub(super) const FEW: usize = 16;
pub(super) const MANY: usize = 1024;
/// Rows that a block of warps takes at a time.
const WARPS: usize = THREADS as usize / 32;

/// Who takes the points of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A thread a point.
    Map,
    /// A block a box of points, which copies what the box reads.
    Boxes,
    /// A block a tile of results, and copies of both operands of a product.
    Tiles,
    /// A block 256 rows, and copies of 256 places, of a fold of all pairs.
    Pairs,
    /// All threads one result: the last block folds what the others leave.
    All,
    /// A thread a result.
    Threads,
    /// A warp a row.
    Warps,
    /// A block a row.
    Blocks,
    /// A block a part of a row: rows are long, and few.
    Parts,
    /// A block a part of lines that lie side by side.
    Strips,
    /// A thread a row, of which its block copies parts.
    Staged,
    /// A scan, as long as its lines want it.
    Scan,
    /// The places that a mask keeps.
    Compact,
    /// A thread a segment.
    ThreadSegments,
    /// A warp a segment.
    WarpSegments,
    /// A thread as many elements and ends of segments as any other.
    MergedSegments,
    /// Another operation on whole arrays: kernels of its own.
    Whole,
}

impl Form {
    /// The form of a launch.
    pub fn of(plan: &Plan, launch: &Launch) -> Form {
        let results = count(&launch.outer());
        let Some(axis) = launch.axis else {
            return if launch.tiling.is_some() { Form::Boxes } else { Form::Map };
        };
        let (is_last, length) = (axis + 1 == launch.domain.len(), launch.domain[axis]);
        match launch.kind {
            Kind::Whole => return whole::form(plan, launch).unwrap_or(Form::Whole),
            Kind::Scan => return Form::Scan,
            Kind::Compact => return Form::Compact,
            Kind::Reduce if launch.tiling.is_some() => return Form::Staged,
            Kind::Map | Kind::Reduce => (),
        }
        if let Some(tiled) = product::Tiled::of(launch) {
            return if tiled.column.is_some() { Form::Tiles } else { Form::Pairs };
        }
        let few = parts::are_few(&launch.domain, axis, results);
        match () {
            () if results == 1 => Form::All,
            () if parts::crosses(plan, launch) => match parts::are_in_parts(results) {
                true => Form::Strips,
                false => Form::Threads,
            },
            () if few && is_last => Form::Parts,
            () if few => Form::Strips,
            () if is_last && length > MANY => Form::Blocks,
            () if is_last && length > FEW => Form::Warps,
            () => Form::Threads,
        }
    }

    /// The word for it in traces: forms stand in `FORMS` in the order of this type.
    pub fn name(self) -> &'static str {
        FORMS[self as usize].0
    }

    /// The axis along which neighbouring threads are neighbours; None: there is one point.
    pub fn lanes(self, launch: &Launch) -> Option<usize> {
        let last = launch.domain.len().checked_sub(1)?;
        let across = matches!(self, Form::Threads | Form::Strips | Form::Pairs | Form::Staged);
        Some(if across && launch.axis == Some(last) && last > 0 { last - 1 } else { last })
    }

    /// The axis that a thread goes along by itself, while all else of its place stays.
    pub fn loops(self, launch: &Launch) -> Option<usize> {
        let own = matches!(
            self,
            Form::Tiles
                | Form::Pairs
                | Form::Threads
                | Form::Warps
                | Form::Blocks
                | Form::Parts
                | Form::Strips
                | Form::Staged
        );
        launch.axis.filter(|_| own)
    }

    /// The points that a block takes at a time, by axis of the domain. None: no box holds them.
    pub fn block(self, launch: &Launch, size: TileSize) -> Option<Vec<usize>> {
        let domain = &launch.domain;
        let threads = THREADS as usize;
        let ones = || -> Vec<usize> { domain.iter().map(|_| 1).collect() };
        let side_by_side = |n: usize| side_by_side(launch, n);
        let along = |block: Vec<usize>, most: usize| along(launch, block, most);
        Some(match self {
            Form::Map => side_by_side(threads),
            Form::Boxes | Form::Staged => launch.tiling.as_ref()?.block.iter().copied().collect(),
            Form::Tiles => {
                let tiled = product::Tiled::of(launch)?;
                let mut block = ones();
                block[tiled.row] = size.rows as usize;
                block[tiled.column?] = size.columns as usize;
                block[tiled.folded] = size.deep as usize;
                block.iter_mut().zip(domain).for_each(|(own, all)| *own = (*own).min(*all));
                block
            }
            Form::Pairs => along(side_by_side(threads), threads),
            Form::Threads => along(side_by_side(threads), usize::MAX),
            Form::Warps => along(side_by_side(WARPS), usize::MAX),
            Form::Blocks => along(side_by_side(1), usize::MAX),
            Form::Parts => along(side_by_side(1), parts::PART as usize),
            Form::Strips => {
                let block = side_by_side(threads);
                let width = block.iter().product::<usize>().max(1);
                along(block, (parts::PART as usize / width).max(1))
            }
            Form::All | Form::Scan | Form::Compact | Form::Whole => return None,
            Form::ThreadSegments | Form::WarpSegments | Form::MergedSegments => return None,
        })
    }

    /// Whether a block takes results as they lie in a row, as many as its text says.
    pub fn is_in_a_row(self) -> bool {
        matches!(self, Form::Map | Form::Threads | Form::Warps | Form::Blocks)
    }

    /// The points of so many results in a row. None: these are no box, but the end of one line and
    /// the beginning of another.
    pub fn in_a_row(launch: &Launch, each: u64) -> Option<Vec<usize>> {
        let each = each.min(count(&launch.outer())).max(1) as usize;
        let block = side_by_side(launch, each);
        let held = |n: &usize| *n == each;
        block.iter().try_fold(1usize, |n, own| n.checked_mul(*own)).filter(held)?;
        // Where lines stand above each other, each is cut into equal parts.
        let results = (0..block.len()).filter(|axis| Some(*axis) != launch.axis);
        let mut long = results.filter(|axis| launch.domain[*axis] > 1);
        let is_first = |axis: &usize| block[*axis] > 1;
        let even = |axis: usize| launch.domain[axis].is_multiple_of(block[axis]);
        let fits = match (long.next(), long.find(is_first)) {
            (Some(first), Some(cut)) => is_first(&first) || even(cut),
            _ => true,
        };
        fits.then(|| along(launch, block, usize::MAX))
    }
}

/// The box of so many results beside each other: the last axes first, without the one that is
/// folded.
fn side_by_side(launch: &Launch, mut rest: usize) -> Vec<usize> {
    let domain = &launch.domain;
    let mut block: Vec<usize> = domain.iter().map(|_| 1).collect();
    for axis in (0..domain.len()).rev().filter(|axis| Some(*axis) != launch.axis) {
        block[axis] = domain[axis].clamp(1, rest.max(1));
        rest /= block[axis];
    }
    block
}

/// A box with so many places of the folded axis.
fn along(launch: &Launch, mut block: Vec<usize>, most: usize) -> Vec<usize> {
    let domain = &launch.domain;
    launch.axis.into_iter().for_each(|axis| block[axis] = domain[axis].clamp(1, most));
    block
}
